"""What frames in parts refuse, with the functions that they have."""

import re
import tomllib
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import polars as pl
import pytest

import frame_pr as fp

run = pl.DataFrame({"q": ["a", "a", "b"], "rel": [1, 0, 1], "s": [0.9, 0.8, 0.7]})
parts = fp.partitioned(run, partitions=2, progress=False)


def test_frames_in_parts_name_what_they_have():
    for method in ("curve", "confusion", "with_curve"):
        with pytest.raises(
            TypeError, match=r"a partitioned frame has evaluate, report, tally and the functions of single metrics"
        ):
            getattr(parts, method)("rel", **({"threshold": 0.5} if method == "confusion" else {}), score="s")
    assert repr(parts) == ".pr of a partitioned frame, with evaluate, report, tally and the functions of single metrics"
    with pytest.raises(TypeError, match=r"got 'run\.parquet': give pl\.scan_parquet"):
        fp.partitioned("run.parquet")
    with pytest.raises(TypeError, match="a pandas frame is in memory already"):
        fp.partitioned(run.to_pandas())


def test_an_older_pyspark_is_named(monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.delattr(sql.DataFrame, "toArrow")  # as in 3.5
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    floor = project["optional-dependencies"]["spark"][0].partition(">=")[2]
    spec = find_spec("frame_pr.parts.spark_frame")
    with pytest.raises(ImportError, match=rf"needs pyspark {re.escape(floor)} or later, this is \d.*\.toPandas\(\)"):
        spec.loader.exec_module(module_from_spec(spec))


def test_dask():
    dask = pytest.importorskip("dask.dataframe")
    ours = pytest.importorskip("frame_pr.dask")
    frame = dask.from_pandas(run.to_pandas(), npartitions=2)
    with pytest.raises(ValueError, match=r"by: 'q' is the index of the frame: reset_index\(\) makes a column of it"):
        ours.average_precision(frame.set_index("q"), "rel", "s", by="q")
    with pytest.raises(TypeError, match=r"give the frame itself, and the grouping columns as by=\[\.\.\.\]"):
        ours.average_precision(frame.groupby("q"), "rel", "s")
    with pytest.raises(TypeError, match="score takes names of columns where the frame is in parts, got a polars"):
        ours.average_precision(frame, "rel", pl.col("s"))
