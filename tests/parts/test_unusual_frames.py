"""Unusual frames on disk and on Dask: dtypes that differ between partitions, rows that change, names and keys."""

from decimal import Decimal
from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frame_pr as fp

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pytest.importorskip("frame_pr.dask", exc_type=ImportError)

# Names that are ours somewhere inside, that Dask's shuffle takes, or that polars reads as patterns.
NAMES = ["frame_pr part", "frame_pr range", "frame_pr key 0", "0", "range", "hash", "_partitions", "^s.*$", "*"]


@pytest.fixture(autouse=True)
def _synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def parts(*frames):
    """A Dask frame of these parts, which announces the types of the first."""
    return dd.from_map(lambda i: frames[i], range(len(frames)), meta=frames[0].iloc[:0])


def computed(result):
    """What Dask computes, which has the types that it announced."""
    frame = result.compute()
    assert frame.dtypes.astype(str).equals(result._meta.dtypes.astype(str))
    return frame


def counts(frame, key="q"):
    """How many rows the groups of a key have."""
    result = computed(frame.pr.evaluate("rows", "t", "s", by=key))
    keys = [None if one is pd.NA or one != one else one for one in result[key].tolist()]
    assert len(set(map(str, keys))) == len(keys), f"one key, several groups: {keys}"
    return {str(key): rows for key, rows in zip(keys, result["rows"].tolist(), strict=True)}


def rows_of(**columns):
    return pd.DataFrame({"t": [True, False], "s": [0.1, 0.2]} | columns)


# equal keys of Dask are one group ----------------------------------------------------------------------------------


def test_booleans_beside_null():
    keys = pd.array([True, None, False] * 2, dtype="bool[pyarrow]")
    rows = pd.DataFrame({"q": keys, "t": [True, False] * 3, "s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    frame = dd.from_pandas(rows, npartitions=3)
    assert counts(frame) == {"True": 2, "False": 2, "None": 2}
    mean = computed(frame.pr.evaluate("average_precision", "t", "s", by="q", mean_over="q"))
    plain = rows.pr.evaluate("average_precision", "t", "s", by="q", mean_over="q")
    assert mean.to_numpy().tolist() == plain.to_numpy().tolist()
    beside = computed(frame.pr.with_metrics("rows", "t", "s", by="q"))
    assert beside["rows"].tolist() == [2] * 6


@pytest.mark.parametrize("values", [[1, 2, 1, None], [True, False, True, None], ["a", "b", "a", None]], ids=str)
def test_dictionaries(values):
    code = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.array(values).type))
    frame = parts(*(rows_of(q=pd.array(values[i : i + 2], dtype=code)) for i in (0, 2)))
    assert counts(frame) == {str(values[0]): 2, str(values[1]): 1, "None": 1}
    beside = computed(frame.pr.with_metrics("rows", "t", "s", by="q"))
    assert sorted(beside["rows"]) == [1, 1, 2, 2]


def test_categories_of_times_in_several_units():
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    frame = parts(*(rows_of(q=pd.Categorical(days.as_unit(unit))) for unit in ("ns", "s")))
    assert counts(frame) == {"2024-01-01 00:00:00": 2, "2024-01-02 00:00:00": 2}


# pandas 2.2 says so where Dask puts parts together.
@pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "values",
    [["a", "b", "b", "c"], [1, 2, 2, 3], [True, False, True, None], [1.5, None, None, 1.5], [None, None, "a", None]],
    ids=str,
)
def test_categories_that_differ_from_part_to_part_stay_categories(values, known):
    frame = parts(*(rows_of(q=pd.Categorical(values[i : i + 2])) for i in (0, 2)))
    frame = frame if known else frame.assign(q=frame["q"].cat.as_unknown())
    assert sum(counts(frame).values()) == 4
    beside = computed(frame.pr.with_metrics("rows", "t", "s", by="q"))
    assert beside["q"].dtype == "category"


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pa.list_(pa.int64()), [[1], [1], [2], None]),
        (pa.list_(pa.int64()), [[None], [None], [2, None], None]),
        (pa.struct([("a", pa.int64()), ("b", pa.string())]), [{"a": 1, "b": "x"}] * 2 + [{"a": 2, "b": None}, None]),
    ],
    ids=str,
)
def test_nested_keys(dtype, values):
    keys = pd.array(values, dtype=pd.ArrowDtype(dtype))
    frame = dd.from_pandas(pd.DataFrame({"q": keys, "t": [1, 0, 1, 0], "s": [4.0, 3, 2, 1]}), npartitions=3)
    assert sorted(computed(frame.pr.evaluate("rows", "t", "s", by="q"))["rows"]) == [1, 1, 2]


# nothing is cut to the type that Dask announces --------------------------------------------------------------------

CUT = {
    "score": ("s", [3, 2], [0.25, 0.75]),
    "score of more digits": ("s", np.array([0.5, 0.25], "float32"), [0.1, 0.2]),
    "score beyond 2**53": ("s", [0.5, 0.25], [2**53 + 1, 1]),
    "weight": ("w", [1, 2], [0.5, 0.25]),
    "truth": ("t", [True, False], [2, 0]),
    "half a truth": ("t", [1, 0], [0.5, 0]),
    "truth as text": ("t", [True, False], ["False", "True"]),
    "key": ("q", [1, 1], [1, 1.5]),
    "wide key": ("q", np.array([44, 44], "int8"), [300, 44]),
    "key as text": ("q", [1, 2], ["1", "2"]),
    "text as key": ("q", ["1", "2"], [1, 2]),
    "times": ("q", pd.to_datetime(["2024-01-01"] * 2).as_unit("s"), pd.to_datetime(["2024-01-01 00:00:00.5"] * 2)),
}


@pytest.mark.parametrize("by", ["q", None], ids=str)
@pytest.mark.parametrize(("column", "first", "second"), CUT.values(), ids=list(CUT))
def test_values_that_are_none_of_the_type(column, first, second, by):
    frame = parts(*(rows_of(**{"q": [1, 1], "w": [1, 2], column: values}) for values in (first, second)))
    if by is None and column == "q":
        result = frame.pr.with_metrics("rows", "t", "s")
    else:
        with pytest.raises(TypeError, match=rf"column '{column}' is .* to Dask, and .* in a part, with values such as"):
            computed(frame.pr.evaluate("average_precision", "t", "s", by=by) if column != "w" else weighted(frame, by))
        return
    with pytest.raises(TypeError, match=r"column 'q' is .* to Dask, and .* in a part, with values such as"):
        computed(result)


def weighted(frame, by):
    return frame.pr.evaluate("rows", "t", "s", by=by, weight="w")


def test_values_that_another_type_holds_are_taken():
    frame = parts(rows_of(w=[1, 2]), rows_of(t=[1, 0], w=[3.0, 4.0]))
    assert computed(weighted(frame, None))["rows"].tolist() == [10]


# a frame that changes ----------------------------------------------------------------------------------------------

CHANGED = "the frame gave other rows when it was read again.*: persist the frame before the call"


def test_a_dask_frame_that_gives_other_rows_when_read_again():
    reads = count()

    def part(i):
        hits = 1 if next(reads) < 4 else 10  # two parts: read for a sample, for the counts, for the sums
        return pd.DataFrame({"t": [j < hits for j in range(20)], "s": [-j / 20 - i / 40 for j in range(20)]})

    meta = pd.DataFrame({"t": pd.Series(dtype=bool), "s": pd.Series(dtype=float)})
    frame = dd.from_map(part, range(2), meta=meta)
    with pytest.raises(ValueError, match=CHANGED):
        frame.pr.evaluate(["average_precision", "recall@10"], "t", "s")


@pytest.mark.parametrize("score", ["s", ["s", "other"]], ids=str)
@pytest.mark.parametrize("changing", ["t", "s", "rows", "weights"])
@pytest.mark.parametrize("metric", ["average_precision", "interpolated_average_precision"])
def test_whatever_changes(metric, changing, score):
    random = np.random.default_rng(0)

    def part(i):
        height = 30 + (int(random.integers(1, 9)) if changing == "rows" else 0)
        drawn = {name: np.random.default_rng(i).random(height) for name in ("t", "s", "other", "w")}
        drawn |= {changing[0]: random.random(height)} if changing != "rows" else {}
        return pd.DataFrame(drawn).assign(t=drawn["t"] < 0.4)

    frame = dd.from_map(part, range(3), meta=part(0).iloc[:0])
    with pytest.raises(ValueError, match=CHANGED):
        frame.pr.evaluate(metric, "t", score, unscored="drop", **({"weight": "w"} if changing == "weights" else {}))


def test_systems_of_a_frame_that_changes_on_a_disk():
    random = np.random.default_rng(0)

    def drawn(rows):
        return rows.with_columns(t=pl.Series(random.random(rows.height) < 0.5))

    rows = pl.LazyFrame({"t": [True] * 90, "s": range(90), "other": range(90)}).map_batches(drawn)
    with pytest.raises(ValueError, match=CHANGED):
        fp.partitioned(rows, partitions=3, progress=False).evaluate("average_precision", "t", ["s", "other"])


# decimals ----------------------------------------------------------------------------------------------------------


def test_thresholds_of_decimals_on_dask():
    decimal = pd.ArrowDtype(pa.decimal128(5, 1))
    scores = pd.array([Decimal("1.5"), Decimal("1.0"), Decimal("0.5")], dtype=decimal)
    rows = pd.DataFrame({"q": [1, 1, 2], "t": [True, False, True], "s": scores})
    frame = dd.from_pandas(rows, npartitions=2)
    for by, thresholds in ((None, [Decimal("0.5")]), ("q", [Decimal("0.5"), Decimal("1.5")])):
        result = computed(frame.pr.evaluate("threshold@max_f1", "t", "s", by=by))
        assert result["threshold@max_f1"].dtype == decimal
        assert sorted(result["threshold@max_f1"]) == thresholds
    # (1.5 + 0.5) / 2
    mean = computed(frame.pr.evaluate("threshold@max_f1", "t", "s", by="q", mean_over="q"))
    assert mean["mean_threshold@max_f1"].tolist() == [1.0]
    assert len(computed(frame.pr.report("t", "s", by="q", mean_over="q"))) == 1


@pytest.mark.parametrize("role", ["q", "t", "s"])
def test_decimals_of_256_bits(role):
    values = pd.array([Decimal(1), Decimal(0)], dtype=pd.ArrowDtype(pa.decimal256(50, 1)))
    rows = rows_of(q=[1, 2]).assign(**{role: values})
    for frame in (rows, dd.from_pandas(rows, npartitions=1)):
        with pytest.raises(TypeError, match=f"column '{role}' is decimal256.*: cast it to decimal128"):
            frame.pr.evaluate("rows", "t", "s", by="q")


@pytest.mark.xdist_group("dask-cluster")
def test_dictionaries_and_categories_pass_through_a_cluster(dask_cluster):
    code = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    frames = [rows_of(q=pd.Categorical(["a", last]), d=pd.array(["x", last], dtype=code)) for last in ("b", "c")]
    with distributed.Client(dask_cluster):
        for key in ("q", "d"):
            assert sorted(counts(parts(*frames), key).values()) == [1, 1, 2]
            assert sorted(computed(parts(*frames).pr.with_metrics("rows", "t", "s", by=key))["rows"]) == [1, 1, 2, 2]


# names -------------------------------------------------------------------------------------------------------------

RUN = pl.DataFrame({"q": [1, 1, 2, 2], "t": [1, 0, 0, 1], "s": [4.0, 3, 2, 1], "w": [1.0, 2, 3, 4], "P": [9] * 4})
FIGURES = ["rows", "positives", "average_precision"]


def asked(at, total, by):
    given = {"truth": at["t"], "score": at["s"], "by": at["q"] if by else None}
    return given | ({"total_positives": at["P"]} if total else {"weight": at["w"]})


# Every name has every role once, beside other such names, and beside columns of other values that have the names of the
# roles: a name that is mixed up fails wherever the others stand. A weight and a total go ways of their own.
@pytest.mark.parametrize(("total", "by"), [(False, True), (True, False)], ids=["weight-groups", "total-one group"])
@pytest.mark.parametrize("first", range(len(NAMES)), ids=NAMES.__getitem__)
def test_no_name_of_ours_meets_one_of_the_callers(first, total, by):
    expected = sorted(RUN.pr.evaluate(FIGURES, **asked({name: name for name in RUN.columns}, total, by)).rows())
    at = {role: NAMES[(first + place) % len(NAMES)] for place, role in enumerate(RUN.columns)}
    named, given = RUN.rename(at).hstack(RUN.reverse()), asked(at, total, by)
    assert sorted(fp.partitioned(named, partitions=2, progress=False).evaluate(FIGURES, **given).rows()) == expected
    result = dd.from_pandas(named.to_pandas(), npartitions=2).pr.evaluate(FIGURES, **given)
    assert sorted(computed(result).itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize("name", [*NAMES, 0, 7])
def test_unused_columns_of_any_name(name):
    rows = RUN.to_pandas().rename(columns={"P": name})
    beside = computed(dd.from_pandas(rows, npartitions=2).pr.with_metrics("rows", "t", "s", by="q"))
    pd.testing.assert_frame_equal(beside[list(rows.columns)].sort_index(), rows, check_names=False)


@pytest.mark.parametrize("by", [True, False])
def test_numbers_as_names_on_dask(by):
    rows = RUN.select("q", "t", "s").to_pandas().set_axis([0, 1, 2], axis=1)
    result = computed(dd.from_pandas(rows, npartitions=2).pr.evaluate(FIGURES, 1, 2, by=0 if by else None))
    expected = rows.pr.evaluate(FIGURES, 1, 2, by=0 if by else None)
    assert list(result.columns) == list(expected.columns)
    assert sorted(result.to_numpy().tolist()) == expected.to_numpy().tolist()


def test_a_key_in_the_index_of_dask():
    frame = dd.from_pandas(RUN.to_pandas().set_index("q"), npartitions=2)
    with pytest.raises(ValueError, match=r"'q' is the index of the frame: reset_index\(\) makes a column of it"):
        frame.pr.evaluate("rows", "t", "s", by="q")


# a label that is nowhere -------------------------------------------------------------------------------------------

LABELLED = RUN.with_columns(t=pl.when(pl.col("t") > 0).then(pl.lit("yes")).otherwise(pl.lit("no")))


@pytest.mark.parametrize("by", ["q", None], ids=str)
@pytest.mark.parametrize("partitions", [1, 2])
def test_a_label_that_no_part_on_a_disk_has(partitions, by):
    run = fp.partitioned(LABELLED, partitions=partitions, progress=False)
    with pytest.raises(ValueError, match="truth column 't' has no 'typo', it holds 'no', 'yes'"):
        run.average_precision("t", "s", by=by, positive="typo")
    assert run.average_precision("t", "s", by=by, positive="yes").height == (2 if by else 1)


def test_a_label_that_no_part_of_dask_has():
    frame = dd.from_pandas(LABELLED.to_pandas(), npartitions=2)
    with pytest.raises(ValueError, match="truth column 't' has no 'typo', it holds 'no', 'yes'"):
        frame.pr.average_precision("t", "s", positive="typo")


# messages ----------------------------------------------------------------------------------------------------------


def test_counts_of_a_part_say_so():
    missing = RUN.with_columns(s=pl.when(pl.col("s") > 2).then("s"))
    match = r"score column 's' has \d missing of \d values.* \(in the part of the frame where it was found\)"
    frame = dd.from_pandas(missing.to_pandas(), npartitions=2)
    for by in ("q", None):
        with pytest.raises(ValueError, match=match):
            fp.partitioned(missing, partitions=2, progress=False).average_precision("t", "s", by=by)
        with pytest.raises(ValueError, match=match):
            frame.pr.average_precision("t", "s", by=by).compute()


def test_a_total_that_is_a_frame_of_the_engine():
    frame = dd.from_pandas(RUN.to_pandas(), npartitions=2)
    with pytest.raises(
        TypeError, match=r"total_positives takes a frame that is sent to every part.*: give its \.compute\(\)"
    ):
        frame.pr.average_precision("t", "s", by="q", total_positives=frame)


@pytest.mark.parametrize("largest", [2**53 + 1, 2**63 - 1])
@pytest.mark.parametrize("by", [None, "q"])
def test_whole_numbers_beside_a_missing_one_are_no_floats(largest, by):
    # One system has no threshold at which it costs less than none, the other has its largest score.
    frame = pd.DataFrame({"q": [1, 1], "y": [0, 1], "a": [5, 5], "b": [0, largest]})
    result = computed(fp.dask.evaluate(parts(frame), "threshold@min_cost1", "y", ["a", "b"], by=by))
    assert result["threshold@min_cost1"].tolist() == [pd.NA, largest]
