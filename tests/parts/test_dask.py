"""What is Dask's own: pandas under it, and workers that die."""

import itertools
import os
import signal
from datetime import date, time, timedelta
from decimal import Decimal
from time import sleep

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from compare import assert_same
from engines import DATA, METRICS

import frame_pr as fp

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
        unread.pr.evaluate(
            ["rows", "average_precision"], "relevant", "score", by="query", mean_over="query"
        ),
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


def test_missing_scores_and_truths_are_missing():
    # Dask's own reading of object columns and NaN: a missing value of any kind is one for the
    # options.
    for missing in (np.nan, None, pd.NA):
        data = pd.DataFrame(
            {"query": [1, 1, 1, 2], "relevant": [1, 0, 1, 1], "score": [3, 2, missing, 1]}
        )
        data["score"] = data["score"].astype("Float64" if missing is pd.NA else "float64")
        frame = frame_of(data, 2)
        with pytest.raises(ValueError, match=r"score column 'score' has 1 missing of \d values"):
            frame.pr.average_precision("relevant", "score", by="query").compute()
        result = frame.pr.average_precision(
            "relevant", "score", by="query", unscored="unretrieved"
        ).compute()
        # One of the two positives is found, first: (1/1) / 2.
        assert sorted(result["average_precision"]) == [0.5, 1.0]


def test_large_keys_of_known_totals_meet_those_of_the_rows():
    # With a null among them, numpy's floats would hold 2^63 - 1 and -2^62 - 1 as other numbers.
    keys = [2**63 - 1, None, -(2**62) - 1]
    data = pl.DataFrame({"q": keys, "y": [1, 0, 1], "s": [3, 2, 1]}).to_pandas(
        use_pyarrow_extension_array=True
    )
    totals = pl.DataFrame({"q": [*keys, 5], "total": [2, 1, 4, 3]})
    result = (
        frame_of(data, 2)
        .pr.evaluate("recall@1", "y", "s", by="q", total_positives=totals)
        .compute()
    )
    assert dict(pl.from_pandas(result).rows()) == {keys[0]: 0.5, None: 0.0, keys[2]: 0.25, 5: 0.0}


# Dask 2026.8 reads files by what pandas 3.1 calls deprecated.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")
def test_a_part_that_is_not_of_the_type_dask_says(tmp_path):
    # numpy's int64 and bool cannot be missing: a file with nulls comes as float64, or object, where
    # Dask says int64.
    for name, query in (("a", [1, 2, 2]), ("b", [1, None, 2])):
        data = {"query": query, "relevant": [True, False, True], "score": [3.0, 2.0, 1.0]}
        pl.DataFrame(data).write_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(
        TypeError, match=r"column 'query' is int64 to Dask, and float64 in .* nan, which int64"
    ):
        dd.read_parquet(tmp_path).pr.evaluate("rows", "relevant", "score", by="query").compute()
    frame = dd.read_parquet(tmp_path, dtype_backend="pyarrow")
    result = pl.from_pandas(frame.pr.evaluate("rows", "relevant", "score", by="query").compute())
    assert result.sort("query").rows() == [(None, 1), (1, 2), (2, 3)]


def test_an_object_column_is_refused():
    with dask.config.set({"dataframe.convert-string": False}):
        frame = frame_of(
            pd.DataFrame({"query": pd.Series(["a", 1], dtype=object), "r": [0, 1], "s": [1, 2]})
        )
        with pytest.raises(
            TypeError, match="column 'query' is object in Dask, which may hold anything"
        ):
            frame.pr.average_precision("r", "s", by="query")


def parts(*frames):
    """A Dask frame of these parts, which announces the types of the first."""
    return dd.from_map(lambda i: frames[i], range(len(frames)), meta=frames[0].iloc[:0])


def rows_of(**columns):
    return pd.DataFrame({"t": [True, False], "s": [0.1, 0.2]} | columns)


def counts(frame, key="q"):
    """How many rows the groups of a key have."""
    result = frame.pr.evaluate("rows", "t", "s", by=key)
    computed = result.compute()
    assert computed.dtypes.astype(str).equals(result._meta.dtypes.astype(str))
    keys = [
        "None" if pd.api.types.is_scalar(key) and pd.isna(key) else str(key)
        for key in computed[key]
    ]
    assert len(set(keys)) == len(keys), f"one key, several groups: {keys}"
    return dict(zip(keys, computed["rows"].tolist(), strict=True))


@pytest.mark.parametrize(
    "values", [[1, 2, 1, None], [True, False, True, None], ["a", "b", "a", None]], ids=str
)
def test_dictionaries(values):
    code = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.array(values).type))
    frame = parts(*(rows_of(q=pd.array(values[i : i + 2], dtype=code)) for i in (0, 2)))
    assert counts(frame) == {str(values[0]): 2, str(values[1]): 1, "None": 1}
    assert sorted(frame.pr.with_metrics("rows", "t", "s", by="q").compute()["rows"]) == [1, 1, 2, 2]


# pandas 2.2 says so where Dask puts parts together.
@pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "values", [["a", "b", "b", "c"], [1, 2, 2, 3], [None, None, "a", None]], ids=str
)
def test_categories_that_differ_from_part_to_part(values, known):
    frame = parts(*(rows_of(q=pd.Categorical(values[i : i + 2])) for i in (0, 2)))
    frame = frame if known else frame.assign(q=frame["q"].cat.as_unknown())
    assert sum(counts(frame).values()) == 4
    assert frame.pr.with_metrics("rows", "t", "s", by="q").compute()["q"].dtype == "category"


@pytest.mark.parametrize(
    "values",
    [[[1], [1], [2], None], [{"a": 1, "b": "x"}] * 2 + [{"a": 2, "b": None}, None]],
    ids=str,
)
def test_nested_keys(values):
    keys = pd.array(values, dtype=pd.ArrowDtype(pa.array(values).type))
    frame = frame_of(pd.DataFrame({"q": keys, "t": [1, 0, 1, 0], "s": [4.0, 3, 2, 1]}))
    assert sorted(frame.pr.evaluate("rows", "t", "s", by="q").compute()["rows"]) == [1, 1, 2]


EQUAL_KEYS = {
    "integer": [3, 3, 4],
    "large": pl.Series([2**63, 2**63, 1], dtype=pl.UInt64),
    "zero": [0.0, -0.0, 1.0],
    "text": ["a", "a", "ä"],
    "binary": [b"a", b"a", b"\xff"],
    "flag": [True, True, False],
    "date": [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 2)],
    "time": [time(1, 2), time(1, 2), time(2, 1)],
    "duration": [timedelta(1), timedelta(1), timedelta(2)],
    "decimal": [Decimal("1.50"), Decimal("1.5"), Decimal("2.50")],
    "list": [[1, 2], [1, 2], [2, 1]],
    "struct": [{"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {"a": 1, "b": None}],
}


@pytest.mark.parametrize("keys", EQUAL_KEYS.values(), ids=EQUAL_KEYS)
def test_workers_with_other_versions_of_polars(monkeypatch, keys):
    # polars promises equal hashes within one version only: here, each call of it has another one.
    own, version = pl.Expr.hash, itertools.count()
    monkeypatch.setattr(pl.Expr, "hash", lambda self, *seeds: own(self, next(version)))
    rows = pl.DataFrame({"q": pl.Series(keys), "t": [1, 0, 1], "s": [3.0, 2.0, 1.0]})
    rows = pl.concat([rows] * 20)
    frame = frame_of(rows.to_pandas(use_pyarrow_extension_array=True), parts=20)
    result = frame.pr.evaluate("rows", "t", "s", by="q").compute()
    assert sorted(result["rows"]) == [20, 40]


def test_names_that_occur_twice():
    rows = rows_of(q=[1, 2])
    rows.insert(3, "s", [2.0, 1.0], allow_duplicates=True)
    for by in ("q", None):
        with pytest.raises(ValueError, match="the frame has several columns named 's': rename"):
            frame_of(rows, 1).pr.average_precision("t", "s", by=by)
    # A name that the call does not use may occur twice.
    assert frame_of(rows, 1).pr.evaluate("rows", "t", "q").compute()["rows"].tolist() == [2]


# Nothing is cut to the type that Dask announces.
CUT = {
    "score": ("s", [3, 2], [0.25, 0.75]),
    "score of more digits": ("s", np.array([0.5, 0.25], "float32"), [0.1, 0.2]),
    "score beyond 2**53": ("s", [0.5, 0.25], [2**53 + 1, 1]),
    "truth": ("t", [True, False], [2, 0]),
    "wide key": ("q", np.array([44, 44], "int8"), [300, 44]),
    "key as text": ("q", [1, 2], ["1", "2"]),
    "times": (
        "q",
        pd.to_datetime(["2024-01-01"] * 2).as_unit("s"),
        pd.to_datetime(["2024-01-01 00:00:00.5"] * 2),
    ),
}


@pytest.mark.parametrize(("column", "first", "second"), CUT.values(), ids=list(CUT))
def test_values_that_the_announced_type_cannot_hold(column, first, second):
    frame = parts(*(rows_of(**{"q": [1, 1], column: values}) for values in (first, second)))
    for by in ("q", None)[: 2 if column != "q" else 1]:
        with pytest.raises(
            TypeError,
            match=rf"column '{column}' is .* to Dask, and .* in a part, with values such as",
        ):
            frame.pr.evaluate("average_precision", "t", "s", by=by).compute()


def test_numbers_as_names():
    rows = DATA.select("query", "relevant", "score").to_pandas().set_axis([0, 1, 2], axis=1)
    for by in (0, None):
        result = frame_of(rows).pr.evaluate(["rows", "average_precision"], 1, 2, by=by).compute()
        expected = rows.pr.evaluate(["rows", "average_precision"], 1, 2, by=by)
        result = (
            result.astype(expected.dtypes.to_dict())
            .sort_values(list(result.columns))
            .reset_index(drop=True)
        )
        pd.testing.assert_frame_equal(result, expected)


def test_thresholds_of_decimals():
    decimal = pd.ArrowDtype(pa.decimal128(5, 1))
    scores = pd.array([Decimal("1.5"), Decimal("1.0"), Decimal("0.5")], dtype=decimal)
    frame = frame_of(pd.DataFrame({"q": [1, 1, 2], "t": [True, False, True], "s": scores}), 2)
    result = frame.pr.evaluate("threshold@max_f1", "t", "s", by="q").compute()
    assert result["threshold@max_f1"].dtype == decimal
    assert sorted(result["threshold@max_f1"]) == [Decimal("0.5"), Decimal("1.5")]


@pytest.mark.parametrize("largest", [2**53 + 1, 2**63 - 1])
def test_whole_numbers_next_to_a_missing_one_are_no_floats(largest):
    # One system has no threshold at which it costs less than none, the other has its largest score.
    frame = parts(pd.DataFrame({"q": [1, 1], "y": [0, 1], "a": [5, 5], "b": [0, largest]}))
    for by in (None, "q"):
        result = fp.evaluate(frame, "threshold@min_cost1", "y", ["a", "b"], by=by).compute()
        assert result["threshold@min_cost1"].tolist() == [pd.NA, largest]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.xdist_group("dask-cluster")
def test_a_lost_worker_changes_nothing(dask_cluster):
    def slow(part):
        sleep(0.1)
        return part

    with distributed.Client(dask_cluster) as client:
        frame = frame_of(DATA.to_pandas(), 12)
        frame = frame.map_partitions(slow, meta=frame._meta)
        processes = client.run(os.getpid)
        running = client.compute(frame.pr.evaluate(METRICS, "relevant", "score", by="query"))
        while not any(client.has_what().values()):
            sleep(0.01)
        worker, process = processes.popitem()
        os.kill(process, signal.SIGKILL)
        assert not running.done()
        result = running.result(timeout=60)
        assert worker not in client.scheduler_info()["workers"]
    assert_same(
        pl.from_pandas(result).sort("query"),
        DATA.pr.evaluate(METRICS, "relevant", "score", by="query"),
    )
