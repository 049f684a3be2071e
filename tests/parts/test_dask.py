"""What is Dask's own: pandas under it, and workers that die."""

import os
import signal
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from compare import assert_same
from engines import DATA, METRICS
from names import NAMES

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pytest.importorskip("frame_pr.dask", exc_type=ImportError)


@pytest.fixture(autouse=True)
def _synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def frame_of(data, parts=3):
    return dd.from_pandas(data, npartitions=parts)


def test_nothing_runs_before_compute():
    def read(part):
        raise RuntimeError("the rows were read")

    frame = frame_of(DATA.to_pandas())
    unread = frame.map_partitions(read, meta=frame._meta)
    for result in (
        unread.pr.evaluate(["rows", "average_precision"], "relevant", "score", by="query", mean_over="query"),
        unread.pr.with_metrics("average_precision", "relevant", "score", by="query"),
    ):
        with pytest.raises(RuntimeError, match="the rows were read"):
            result.compute()


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow"], ids=str)
def test_every_kind_of_pandas_columns(backend):
    data = DATA.select("query", "relevant", "score", "text", "time", "model").to_pandas()
    data = data if backend is None else data.convert_dtypes(dtype_backend=backend)
    for by in ("query", "text", "time", ["model", "text"]):
        result = frame_of(data).pr.evaluate(METRICS, "relevant", "score", by=by)
        computed = result.compute()
        assert computed.dtypes.equals(result._meta.dtypes)
        expected = DATA.pr.evaluate(METRICS, "relevant", "score", by=by)
        assert_same(pl.from_pandas(computed).sort(by), expected, dtypes=False)


@pytest.mark.parametrize("by", ["query", None], ids=str)
def test_a_declared_label_that_does_not_occur(by):
    data = DATA.select("query", "score").to_pandas()
    frame = frame_of(data.assign(y=pd.Categorical(["ham"] * len(data), categories=["ham", "spam"])))
    result = frame.pr.evaluate(["positives", "average_precision"], "y", "score", by=by, positive="spam").compute()
    assert result["positives"].eq(0).all()
    assert result["average_precision"].isna().all()
    if by is None:
        with pytest.raises(ValueError, match="truth column 'y' has no 'eggs', it holds 'ham'"):
            frame.pr.evaluate("rows", "y", "score", positive="eggs").compute()


def test_missing_scores_and_truths_are_missing():
    # Dask's own reading of object columns and NaN: a missing value of any kind is one for the policies.
    for missing in (np.nan, None, pd.NA):
        data = pd.DataFrame({"query": [1, 1, 1, 2], "relevant": [1, 0, 1, 1], "score": [3, 2, missing, 1]})
        data["score"] = data["score"].astype("Float64" if missing is pd.NA else "float64")
        frame = frame_of(data, 2)
        with pytest.raises(ValueError, match=r"score column 'score' has 1 missing of \d values"):
            frame.pr.average_precision("relevant", "score", by="query").compute()
        result = frame.pr.average_precision("relevant", "score", by="query", unscored="unretrieved").compute()
        # One of the two positives is found, first: (1/1) / 2.
        assert sorted(result["average_precision"]) == [0.5, 1.0]


def test_missing_keys_are_a_group():
    data = DATA.with_columns(key=pl.when(pl.col("query") % 3 > 0).then("query")).select("key", "relevant", "score")
    for key in (pl.Int64, pl.Float64, pl.String):
        typed = data.with_columns(pl.col("key").cast(key))
        frame = frame_of(typed.to_pandas(use_pyarrow_extension_array=True), 4)
        computed = pl.from_pandas(frame.pr.evaluate(NAMES[:6], "relevant", "score", by="key").compute())
        assert_same(computed.sort("key"), typed.pr.evaluate(NAMES[:6], "relevant", "score", by="key"))


# Dask 2026.8 reads files by what pandas 3.1 calls deprecated.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")
def test_a_part_that_is_not_of_the_type_dask_says(tmp_path):
    # numpy's int64 and bool cannot be missing: a file with nulls comes as float64, or object, where Dask says int64.
    for name, query in (("a", [1, 2, 2]), ("b", [1, None, 2])):
        data = {"query": query, "relevant": [True, False, True], "score": [3.0, 2.0, 1.0]}
        pl.DataFrame(data).write_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(TypeError, match="column 'query' is int64 to Dask, which cannot be missing, and 1 of 3 values"):
        dd.read_parquet(tmp_path).pr.evaluate("rows", "relevant", "score", by="query").compute()
    frame = dd.read_parquet(tmp_path, dtype_backend="pyarrow")
    result = pl.from_pandas(frame.pr.evaluate("rows", "relevant", "score", by="query").compute())
    assert result.sort("query").rows() == [(None, 1), (1, 2), (2, 3)]


def test_an_object_column_is_refused():
    with dask.config.set({"dataframe.convert-string": False}):
        frame = frame_of(pd.DataFrame({"query": pd.Series(["a", 1], dtype=object), "r": [0, 1], "s": [1, 2]}))
        with pytest.raises(TypeError, match="column 'query' is object in Dask, which does not say what it holds"):
            frame.pr.average_precision("r", "s", by="query")


def test_categories_that_differ_from_part_to_part():
    frame = frame_of(DATA.to_pandas().sort_values("text", ignore_index=True)).astype({"text": "category"})
    result = frame.pr.evaluate(METRICS, "relevant", "score", by="text").compute()
    expected = DATA.pr.evaluate(METRICS, "relevant", "score", by="text")
    assert_same(pl.from_pandas(result.astype({"text": "string[pyarrow]"})).sort("text"), expected)


def test_metrics_beside_the_rows_keep_the_index():
    data = DATA.to_pandas().set_index("row")
    result = frame_of(data).pr.with_metrics(METRICS, "relevant", "score", by="query").compute()
    assert result.index.name == "row"
    pd.testing.assert_frame_equal(result[data.columns].sort_index(), frame_of(data).compute())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.xdist_group("dask-cluster")
def test_a_lost_worker_changes_nothing(dask_cluster):
    def slow(part):
        time.sleep(0.1)
        return part

    with distributed.Client(dask_cluster) as client:
        frame = frame_of(DATA.to_pandas(), 12)
        frame = frame.map_partitions(slow, meta=frame._meta)
        processes = client.run(os.getpid)
        running = client.compute(frame.pr.evaluate(METRICS, "relevant", "score", by="query"))
        while not any(client.has_what().values()):
            time.sleep(0.01)
        worker, process = processes.popitem()
        os.kill(process, signal.SIGKILL)
        assert not running.done()
        result = running.result(timeout=60)
        assert worker not in client.scheduler_info()["workers"]
    assert_same(pl.from_pandas(result).sort("query"), DATA.pr.evaluate(METRICS, "relevant", "score", by="query"))
