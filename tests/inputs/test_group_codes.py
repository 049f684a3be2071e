import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import polars as pl
import pytest
from compare import assert_same, near
from names import CALL_CASES, CALLS, call

from frame_pr.inputs import keys as keys_module
from frame_pr.inputs.keys import coding

DAY = datetime(2024, 2, 28, 12, 30)
KEYS = [
    pl.Series(["", "a", "ab", "b", "é", "\N{SNOWMAN}"]),
    pl.Series(["z", "a", "m"], dtype=pl.Categorical),
    # Sorted as the categories stand.
    pl.Series(["low", "mid", "high"], dtype=pl.Enum(["low", "mid", "high"])),
    pl.Series([False, True]),
    pl.Series([-(2**7), -1, 0, 2**7 - 1], dtype=pl.Int8),
    pl.Series([-(2**31), 0, 2**31 - 1], dtype=pl.Int32),
    pl.Series([0, 1, 2**32 - 1], dtype=pl.UInt32),
    pl.Series([-3, 0, 10**9], dtype=pl.Int64),
    # Around what fits beside a score in one sort key, and the ends of the range.
    pl.Series([-(2**60), 1 - 2**60, 2 - 2**60, 0, 2**60 - 1, 2**60, 2**60 + 1], dtype=pl.Int64),
    pl.Series([-(2**63), 1 - 2**63, -1, 0, 2**63 - 2, 2**63 - 1], dtype=pl.Int64),
    pl.Series([0, 2**60 - 1, 2**60, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1], dtype=pl.UInt64),
    pl.Series([-(2**100), 0, 2**100], dtype=pl.Int128),
    pl.Series([-math.inf, -1.5, 0.0, 1e-300, 1.5, math.inf, math.nan]),
    pl.Series([-1.5, 0.1, 3e38, math.nan], dtype=pl.Float32),
    pl.Series([Decimal("-1.50"), Decimal("0.00"), Decimal("12345678901234567.89")], dtype=pl.Decimal(20, 2)),
    pl.Series([date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]),
    pl.Series([datetime(1900, 1, 1), DAY, DAY + timedelta(microseconds=1)], dtype=pl.Datetime("us")),
    pl.Series([datetime(1900, 1, 1), DAY], dtype=pl.Datetime("ms")),
    # Nanoseconds since 1970 are more than 60 bits from the year 2006 on.
    pl.Series([datetime(1700, 1, 1), datetime(1970, 1, 1), DAY], dtype=pl.Datetime("ns")),
    pl.Series([DAY.replace(tzinfo=UTC), DAY.replace(year=2025, tzinfo=UTC)], dtype=pl.Datetime("us", "Asia/Tokyo")),
    pl.Series([timedelta(days=-1), timedelta(0), timedelta(microseconds=1)]),
    pl.Series([time(0), time(12, 30), time(23, 59, 59, 999999)]),
    pl.Series([b"", b"\x00", b"\xff"]),
    pl.Series([[1], [1, 2], []], dtype=pl.List(pl.Int64)).sort(),
    pl.Series([{"x": 1, "y": "a"}, {"x": 1, "y": "b"}, {"x": 2, "y": "a"}]),
]
IDS = [f"{series.dtype} {series[0]}"[:40] for series in KEYS]


def rows_of(keys: pl.Series, shuffle: bool = True) -> tuple[pl.DataFrame, list]:
    """A frame of groups whose AP is 1, 1/2, 1/3, ...: the hit of the i-th group stands at rank i."""
    place = pl.Series([i for i in range(len(keys)) for _ in range(i + 2)])
    rank = [rank for i in range(len(keys)) for rank in range(i + 2)]
    data = pl.DataFrame({"key": keys.gather(place), "rank": rank, "place": place}).select(
        "key", relevant=pl.col("rank") == pl.col("place"), score=-pl.col("rank")
    )
    data = data.sample(fraction=1, shuffle=True, seed=4) if shuffle else data
    return data, [near(1 / (i + 1)) for i in range(len(keys))]


def with_null(keys: pl.Series) -> pl.Series:
    """Null is a group of its own, and the first, as polars sorts."""
    return pl.concat([pl.Series([None], dtype=keys.dtype), keys])


NAMED = list(zip(IDS, KEYS, strict=True))
WITH_NULL = [(f"{name} and null", with_null(keys)) for name, keys in NAMED]


# With null, every key on all engines, and without on two. `make check` has one engine of each.
CASES = [*((*key, "in-memory") for key in NAMED), *((*key, "eager, large") for key in WITH_NULL)]
SELDOM = [*((*key, "eager, large") for key in NAMED)]
SELDOM += [(*key, engine) for key in WITH_NULL for engine in ("in-memory", "eager", "streaming")]


@pytest.mark.parametrize(
    ("keys", "engine"),
    [
        *(pytest.param(keys, engine, id=f"{name}-{engine}") for name, keys, engine in CASES),
        *(pytest.param(keys, engine, id=f"{name}-{engine}", marks=pytest.mark.slow) for name, keys, engine in SELDOM),
    ],
)
def test_keys_of_every_dtype(keys, engine, monkeypatch):
    data, ap = rows_of(keys)
    eager = engine.startswith("eager")
    frame = data if eager else data.lazy()
    if engine == "eager, large":
        monkeypatch.setattr(keys_module, "SMALL", 0)

    def done(result):
        return result if eager else result.collect(engine=engine)

    result = done(frame.pr.average_precision("relevant", "score", by="key"))
    assert result["key"].dtype == keys.dtype
    if keys.dtype == pl.Categorical:  # sorted by its text, or as the categories came: polars decides
        assert result["key"].equals(result["key"].sort())
        expected = dict(zip(keys.to_list(), ap, strict=True))
        assert dict(result.rows()) == expected
        return
    assert_same(result.select("key"), keys.alias("key").to_frame())
    assert result["average_precision"].to_list() == ap

    two = done(frame.with_columns(other=pl.lit("x")).pr.average_precision("relevant", "score", by=["other", "key"]))
    assert two.columns == ["other", "key", "average_precision"]
    assert_same(two.drop("other"), result)
    beside = done(frame.pr.with_metrics("average_precision", "relevant", "score", by="key"))
    assert_same(beside.select(data.columns), data)
    by_key = dict(zip(map(str, result["key"].to_list()), ap, strict=True))
    assert beside["average_precision"].to_list() == [by_key[str(key)] for key in data["key"].to_list()]
    curve = done(frame.pr.with_curve("relevant", "score", by="key"))
    assert_same(curve.select(data.columns), data)
    assert curve["k"].to_list() == [1 - score for score in data["score"].to_list()]


@pytest.mark.parametrize("engine", ["eager", "in-memory", "streaming"])
def test_two_keys_with_nulls_in_each(engine):
    keys = pl.DataFrame(
        {"a": [None, None, "x", "x", "y"], "b": [None, 1, None, 2**60, -(2**60)]}, schema_overrides={"b": pl.Int64}
    )
    data, ap = rows_of(pl.Series(range(5)))
    data = data.join(keys.with_row_index("key").cast({"key": pl.Int64}), on="key").drop("key")
    frame = data if engine == "eager" else data.lazy()
    result = frame.pr.average_precision("relevant", "score", by=["a", "b"])
    result = result if engine == "eager" else result.collect(engine=engine)
    assert result.drop("average_precision").equals(keys)
    assert result["average_precision"].to_list() == ap


@pytest.mark.parametrize("given", [{"ties": "order"}, {"tie_break": "score"}, {"weight": "one"}], ids=str)
@pytest.mark.parametrize("last", [2**28 - 2, 2**28 - 1, 2**28])
def test_keys_around_what_fits_beside_a_tie_in_one_sort_key(given, last):
    data, ap = rows_of(pl.Series([0, last]))
    data = data.with_columns(one=1, two="score")
    for frame in (data, data.lazy()):
        result = frame.pr.average_precision("relevant", "score", by="key", **given).lazy().collect()
        assert result.rows() == [(0, ap[0]), (last, ap[1])]
        # Two scores are twice as many groups.
        result = frame.pr.average_precision("relevant", ["score", "two"], by="key", **given).lazy().collect()
        assert result["key"].to_list() == [0, 0, last, last]
        assert result["average_precision"].to_list() == [ap[0], ap[0], ap[1], ap[1]]


@pytest.mark.parametrize("by", ["key", ["key", "other"]])
def test_the_two_zeros_and_the_nans_are_one_key_each(by):
    # As in a group_by of polars.
    key = [0.0, -0.0, math.nan, -math.nan]
    data = pl.DataFrame({"key": key, "other": 1, "relevant": [1, 0, 0, 1], "score": [1, 2, 2, 1]})
    for frame in (data, data.lazy()):
        result = frame.pr.evaluate(["rows", "average_precision"], "relevant", "score", by=by).lazy().collect()
        assert result.select("rows", "average_precision").rows() == [(2, 0.5), (2, 0.5)]


@pytest.mark.parametrize("key", [[math.nan], [1.0, math.nan, math.nan], [-1.0, 2.0, math.nan]])
def test_a_nan_is_found_in_sorted_keys(key):
    data = pl.DataFrame({"key": key, "relevant": [True] * len(key), "score": key}).sort("key").with_columns(score=1)
    known = data.select("key", n=3).unique().sort("key")
    for frame in (data, data.lazy()):
        result = frame.pr.evaluate("positives", "relevant", "score", by="key", total_positives=known).lazy().collect()
        assert_same(result, known.rename({"n": "positives"}), dtypes=False)


def test_keys_stay_apart_from_the_neighbours_scores():
    # Scores at the ends of their range beside keys that follow one another.
    big = [math.inf, 1e308, -1e308, -math.inf]
    data = pl.DataFrame({"key": [i for i in range(4) for _ in big], "score": big * 4, "relevant": [1, 0, 0, 0] * 4})
    assert data.pr.average_precision("relevant", "score", by="key")["average_precision"].to_list() == [1.0] * 4
    for low, high, dtype in [(-(2**63), 2**63 - 1, pl.Int64), (0, 2**64 - 1, pl.UInt64)]:
        scores = pl.Series("score", [high, high - 1, low + 1, low] * 4, dtype=dtype)
        result = data.with_columns(scores).pr.curve("relevant", "score", by="key")
        assert result["threshold"].to_list() == scores.to_list()
        assert result["k"].to_list() == [1, 2, 3, 4] * 4


def test_thousands_of_groups_of_one_row():
    data = pl.DataFrame({"key": range(5000, 0, -1), "relevant": [i % 2 for i in range(5000)], "score": [0.5] * 5000})
    result = data.pr.evaluate(["average_precision", "rows"], "relevant", "score", by="key")
    assert result["key"].to_list() == list(range(1, 5001))
    # The keys count down: key 1 is the last row, a hit.
    assert result["average_precision"].to_list() == [1.0 if key % 2 else None for key in range(1, 5001)]
    assert result["rows"].to_list() == [1] * 5000


@pytest.mark.parametrize(("function", "given"), CALL_CASES)
def test_keys_come_first_and_sorted_for_every_function(function, given):
    keys = [("b", 2), ("b", None), ("a", 1), (None, 1), ("a", 3)]
    data = pl.DataFrame(
        [(*keys[i % 5], i % 3 == 0, i % 4 == 0, float(i % 7)) for i in range(60)],
        schema=["p", "q", "relevant", "predicted", "score"],
        orient="row",
    )
    result = call(data, function, by=["q", "p"], **given)
    if function.startswith("with_"):
        assert_same(result.select(data.columns), data, dtypes=False)
        return
    assert result.columns[:2] == ["q", "p"]
    found = result.select("q", "p").unique(maintain_order=True).rows()
    assert found == [(None, "b"), (1, None), (1, "a"), (2, "b"), (3, "a")]


@pytest.mark.slow
def test_adding_a_group_changes_no_other():
    keys = pl.Series(["c", "a", None, "d"])
    data, _ = rows_of(keys)
    more = pl.concat([data, pl.DataFrame({"key": ["b"] * 3, "relevant": [True] * 3, "score": [9, 9, 0]})])
    for function, given in CALLS:
        if "prediction" in given or function.startswith("with_"):
            continue
        # Adjusted p-values depend on the number of tests, and so on other groups.
        small, large = (
            call(frame, function, by="key", **given).drop("p_adjusted", strict=False) for frame in (data, more)
        )
        assert_same(large.filter(pl.col("key").ne_missing("b")), small)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    ("function", "given"),
    [
        ("average_precision", {"by": "key"}),
        ("average_precision", {"by": ["key", "other"]}),
        ("average_precision", {"by": "number"}),
        ("average_precision", {"by": "key", "score": ["score", "other"]}),
        ("evaluate", {"metrics": ["rows", "average_precision"], "by": ["key", "other"], "mean_over": "key"}),
        ("confusion", {"by": "key", "threshold": 0.5}),
        ("with_metrics", {"metrics": "rows", "by": "key"}),
        ("with_curve", {"by": "key"}),
    ],
)
def test_the_source_is_read_once(function, given, engine):
    # Groups that are numbered, and rows that are carried, come out of the same reading: a source may cost much, or
    # differ from one reading to the next.
    reads = []

    def seen(data: pl.DataFrame) -> pl.DataFrame:
        reads.append(data.height)
        return data

    data, _ = rows_of(pl.Series(["a", "b", "c"]))
    data = data.with_columns(other=pl.lit(1), number=pl.col("key").replace_strict({"a": 1, "b": 2, "c": 3}))
    source = data.lazy().map_batches(seen, schema=data.schema)
    result = call(source, function, **given).collect(engine=engine)
    assert result.equals(call(data, function, **given))
    assert len(reads) == 1


@pytest.mark.parametrize("dtype", [pl.Int16, pl.Int32, pl.UInt32, pl.Int64], ids=str)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_several_keys_at_the_ends_of_their_range(dtype, count):
    low, high = (pl.select(end).item() for end in (dtype.min(), dtype.max()))
    ends = pl.DataFrame({"key0": [low, low + 1, 0, 1, high - 1, high]}, schema={"key0": dtype}).unique()
    keys = ends
    for i in range(1, count):
        keys = keys.join(ends.rename({"key0": f"key{i}"}), how="cross")
    keys = keys.sort(keys.columns)
    data = keys.with_columns(relevant=pl.lit(1), score=pl.lit(1))
    for frame in (data, data.lazy()):
        result = frame.pr.evaluate("rows", "relevant", "score", by=keys.columns).lazy().collect()
        assert result.equals(keys.with_columns(rows=pl.lit(1, dtype=pl.Int64)))


@pytest.mark.parametrize("given", [{"weight": "one"}, {"tie_break": "one"}, {"ties": "order"}])
@pytest.mark.parametrize("dtype", [pl.Int64, pl.String])
def test_many_groups_beside_ties_or_weights(given, dtype):
    # As many as they are, or as far apart, there is no room for them in the sort key.
    for keys in (range(10_000), [0, 1, 2**28 - 2, 2**28, 2**40, 2**60]):
        data = pl.DataFrame({"key": keys, "relevant": 1, "score": 1, "one": 1}).cast({"key": dtype})
        for frame in (data, data.lazy()):
            result = frame.pr.average_precision("relevant", "score", by="key", **given).lazy().collect()
            assert result.equals(data.select("key", average_precision=pl.lit(1.0)).sort("key"))


@pytest.mark.parametrize(("dtype", "lowest"), [(pl.Int64, -(2**29)), (pl.UInt64, 0)])
def test_keys_beside_the_ends_of_the_range_that_is_guessed(dtype, lowest):
    # On a LazyFrame each of two keys has 2**30 digits, the first of them for null: one value too many is the next null.
    first = [0, 0, 0, 0, 1, 1, 1]
    second = [None, lowest, lowest + 2**30 - 2, lowest + 2**30 - 1, None, lowest, lowest + 2**30]
    keys = pl.DataFrame({"a": first, "b": second}, schema={"a": dtype, "b": dtype})
    data = keys.with_columns(relevant=1, score=1)
    result = data.lazy().pr.evaluate("rows", "relevant", "score", by=["a", "b"]).collect()
    assert result.equals(keys.with_columns(rows=pl.lit(1, dtype=pl.Int64)))


def test_a_narrow_key_next_to_a_key_beyond_the_range_that_is_guessed():
    # Both groups are numbered, as 2**40 is no digit. Read as digits, these numbers are no Int8.
    data = pl.DataFrame({"a": [2**40, None], "b": [1, 1], "relevant": 1, "score": 1}, schema_overrides={"b": pl.Int8})
    result = data.lazy().pr.evaluate("rows", "relevant", "score", by=["a", "b"]).collect(engine="streaming")
    assert result.rows() == [(None, 1, 1), (2**40, 1, 1)]


@pytest.mark.parametrize("height", [3, 10**6, None])
def test_no_more_groups_than_the_sort_key_holds(height):
    keys = pl.LazyFrame({"key": ["c", "a", "b"]})
    coder = coding(keys, ["key"], limit=3, height=height, in_order=True)
    assert coder.rows.collect()["group"].to_list() == [2, 0, 1]
    with pytest.raises(ValueError, match="3 distinct keys: with these arguments 2 is the most"):
        coding(keys, ["key"], limit=2, height=height, in_order=True).rows.collect()


@pytest.mark.parametrize("alike", [False, True])
def test_hashes_of_keys_in_large_frames(alike, monkeypatch):
    # Keys whose hashes are alike are still told apart, and so are those that differ in one column, or in their order.
    first, second = ["a", "b", "ab", "", "a", None, None], ["b", "a", "", "ab", None, "a", None]
    keys = pl.DataFrame({"first": first, "second": second})
    data = keys.with_columns(relevant=True, score=1).sample(1000, with_replacement=True, seed=1)
    expected = data.pr.evaluate("rows", "relevant", "score", by=["first", "second"])
    assert expected.select("first", "second").equals(keys.sort("first", "second"))
    monkeypatch.setattr(keys_module, "SMALL", 0)
    if alike:
        monkeypatch.setattr(pl.Expr, "hash", lambda key: pl.int_range(pl.len()) * 0)
    result = data.pr.evaluate("rows", "relevant", "score", by=["first", "second"])
    assert result.equals(expected)


@pytest.mark.parametrize(
    "values",
    [
        ["b", None, "a", "", "b"],
        pl.Series(["b", None, "a", "c", "b"], dtype=pl.Categorical),
        [2.5, float("nan"), None, 0.0, float("nan")],
        [0.0, -0.0, 1.0, -0.0, 1.0],
        pl.Series([2**63, 0, None, 2**64 - 1, 0], dtype=pl.UInt64),
        [b"b", b"", None, b"", b"b"],
        [[1], [], None, [1], []],
    ],
    ids=["text", "categories", "nan", "zeros", "far integers", "bytes", "lists"],
)
def test_runs_of_rows_with_equal_keys(values, monkeypatch):
    # A key stands in two runs, and a run begins where only one of two keys changes.
    keys = pl.DataFrame({"key": pl.Series(values), "other": ["x", "x", "y", "y", None]})
    keys = pl.concat([keys, keys.reverse()]).select(pl.all().repeat_by(3).explode(empty_as_null=False))
    data = keys.with_columns(relevant=pl.int_range(30) % 7 < 3, score=pl.int_range(30) * 11 % 13)
    for by in ("key", ["key", "other"], ["other", "key"]):
        expected = data.pr.average_precision("relevant", "score", by=by)
        appended = data.pr.with_metrics("average_precision", "relevant", "score", by=by)
        with monkeypatch.context() as patch:
            patch.setattr(keys_module, "SMALL", 20)
            assert data.pr.average_precision("relevant", "score", by=by).equals(expected)
            assert data.pr.with_metrics("average_precision", "relevant", "score", by=by).equals(appended)
