"""Wrong calls of readers, of frames in parts and of engines: kinds 15, 16, 39, 40, 77 and 81 to 85."""

import gzip

import polars as pl
import pytest
from defect_frames import S, parts, run

import frame_pr as fp


def test_a_directory(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"a directory is no file, give one of those in it"):
        fp.read_trec_run(tmp_path)


def test_bytes_are_a_path(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 2 a\n")
    assert fp.read_trec_run(bytes(path)).rows() == [("q1", "d1", 1, 2.0, "a")]
    with pytest.raises(FileNotFoundError):
        fp.read_trec_run(b"q1 Q0 d1 1 2 a\n")


@pytest.mark.parametrize("path", [5, [b"a.run"], None])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match="path must be text or a path, got "):
        fp.read_trec_run(path)


def test_an_archive_that_ends_too_early(tmp_path):
    path = tmp_path / "r.gz"
    path.write_bytes(gzip.compress(b"q1 Q0 d1 1 1 t\n" * 500)[:-9])
    with pytest.raises(ValueError, match=r"r\.gz is compressed, and damaged or cut off"):
        fp.read_trec_run(path)


def test_another_encoding(tmp_path):
    path = tmp_path / "r"
    path.write_bytes("q1 Q0 d1 1 2 a\nq1 Q0 dé 1 2 a\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"r, line 2: this is not UTF-8, convert the file, such as by iconv"):
        fp.read_trec_run(path)


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


def test_a_missing_column_of_an_expression():
    # The one error that cannot be ours: polars looks for it before any function is called.
    with pytest.raises(Exception, match=r"rell"):
        run.select(S.average_precision("rell"))


def test_texts_are_cut():
    for wrong in ("x" * 10_000, "x" * 10_000 + "'"):
        with pytest.raises(ValueError, match=r"truth: no column 'x{40}'\.\.\. in the frame") as error:
            run.pr.average_precision(wrong, "s")
        assert len(str(error.value)) < 400


def test_one_and_many():
    with pytest.raises(ValueError, match=r"\(1 such group\)"):
        run.with_columns(n=1).pr.average_precision("rel", "s", by="q", positives="n")
    with pytest.raises(ValueError, match=r"in the run, 1 value of \(q\) stands in more than one row"):
        fp.join_judgments(run.head(2), run.select("q"), on="q")


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


def test_columns_of_spark():
    functions = pytest.importorskip("pyspark.sql.connect.functions")
    column = functions.col("rel")
    for argument in ("truth", "score", "by", "weight"):
        good = {"truth": "rel", "score": "s"} | {argument: column}
        with pytest.raises(TypeError, match=f"{argument} takes .*; got a Spark Column: withColumn gives it a name"):
            fp.average_precision(run, **good)
