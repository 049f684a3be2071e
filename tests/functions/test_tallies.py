"""Rows that stand for many: their figures are those of the rows, to the last bit."""

import pandas as pd
import polars as pl
import pytest
from compare import assert_same
from names import NAMES
from polars.testing import assert_frame_equal

import frame_pr as fp
from frame_pr.metrics.names import metric

# Two groups; twice a hit and a miss of one score, a row without a score and one without a truth.
ROWS = {
    "q": ["b", "b", "a", "a", "a", "a", "a", "a"],
    "y": [1, 0, 1, 1, 0, 0, 1, None],
    "s": [0.5, 0.7, 0.5, 0.5, 0.5, 0.5, None, 0.9],
}
MISSING = {"unscored": "unretrieved", "unjudged": "negative"}


def test_rows_that_are_alike_are_one():
    data = pl.DataFrame(ROWS)
    frame = data
    found = frame.pr.tally("y", "s", by="q", **MISSING).select("q", "y", "s", "count")
    expected = [
        ("a", None, 0.9, 1),
        ("a", 0, 0.5, 2),
        ("a", 1, 0.5, 2),
        ("a", 1, None, 1),
        ("b", 0, 0.7, 1),
    ]
    assert sorted(found.rows(), key=str) == sorted([*expected, ("b", 1, 0.5, 1)], key=str)
    assert found["q"].to_list() == sorted(found["q"].to_list())


def test_a_lazy_tally_is_lazy_and_tells_its_types():
    data = pl.DataFrame(ROWS).with_columns(pl.col("s").cast(pl.Float32), pl.col("y").cast(pl.Int8))
    lazy = data.lazy().pr.tally("y", "s", by="q", **MISSING)
    assert dict(lazy.collect_schema()) == {
        "q": pl.String,
        "y": pl.Int8,
        "s": pl.Float32,
        "count": pl.Int64,
    }
    assert lazy.collect().equals(data.pr.tally("y", "s", by="q", **MISSING))


def test_a_count_repeats_a_row():
    # Ranked 1, 1, 0, 1: AP (1 + 1 + 3/4) / 3, two of the first three rows of one score.
    data = pl.DataFrame({"y": [1, 0, 1, 1], "s": [3.0, 2.0, 1.0, 9.0], "n": [2, 1, 1, 0]})
    names = ["rows", "positives", "tied_rows", "average_precision", "precision@3", "k@recall=1"]
    found = data.pr.evaluate(names, "y", "s", count="n")
    assert found.row(0) == (4, 3, 2, (1 + 1 + 3 / 4) / 3, 2 / 3, 4)


@pytest.mark.parametrize("function", ["curve", "report", "confusion", "with_metrics"])
def test_the_other_functions_take_counts(function):
    data = pl.DataFrame({"y": [1, 0, 1, 1], "s": [3.0, 2.0, 1.0, 1.0], "n": [2, 1, 1, 3]})
    rows = data.select(pl.all().repeat_by("n").explode(empty_as_null=True)).drop("n")
    given = {"threshold": 2} if function == "confusion" else {}
    if function == "with_metrics":
        given["metrics"] = ["average_precision", "recall@2"]
    found = getattr(data.pr, function)(truth="y", score="s", count="n", **given)
    expected = getattr(rows.pr, function)(truth="y", score="s", **given)
    if function == "with_metrics":
        found = found.drop("n").unique()
        expected = expected.unique()
        assert_frame_equal(found, expected, check_row_order=False, check_exact=True)
    else:
        assert_frame_equal(found, expected, check_exact=True)


def test_large_counts_of_fractional_weights():
    # The unit in which weights are added up has to leave room for all rows that are counted.
    data = pl.DataFrame(
        {"y": [1, 0, 1], "s": [3.0, 2.0, 1.0], "w": [0.1, 0.7, 0.3], "n": [1, 10**15, 2 * 10**15]}
    )
    found = fp.evaluate(data, ["average_precision", "rows"], "y", "s", weight="w", count="n")
    # Beside .7e15 negatives and .6e15 positives behind them, the first is nothing.
    assert found.row(0) == pytest.approx((0.6 / 1.3, 1.3e15))


def test_predictions_are_counted():
    data = pl.DataFrame({"y": [1, 0, 1], "p": [1, 1, 0], "n": [5, 2, 0]})
    found = fp.confusion(data, "y", prediction="p", count="n", rates="all")
    assert found.select("k", "tp", "fp", "fn").row(0) == (7, 5, 2, 0)


def test_rows_of_no_count_are_not_there():
    data = pl.DataFrame({"q": [1, 1, 2], "y": [1, 0, 1], "s": [1.0, 2.0, 3.0], "n": [3, 1, 0]})
    found = fp.average_precision(data, "y", "s", by="q", count="n")
    assert found.rows() == [(1, 3 / 4)]  # a miss, then three tied hits
    assert fp.tally(data, "y", "s", by="q", count="n")["q"].to_list() == [1, 1]
    # Beside the rows they stay.
    assert fp.with_metrics(data, "rows", "y", "s", by="q", count="n")["rows"].to_list() == [4, 4, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ties": "order"},
            "ties='order': a ranking does not take it with count=; a row with a count=",
        ),
        ({"tie_break": "n"}, "tie_break=: a ranking does not take it with count=; a row"),
    ],
)
def test_rows_that_stand_for_several_have_no_order(given, message):
    data = pl.DataFrame({"y": [1, 0], "s": [1.0, 2.0], "n": [1, 1]})
    with pytest.raises(ValueError, match=message):
        fp.average_precision(data, "y", "s", count="n", **given)
    with pytest.raises(ValueError, match="tally does not take it"):
        fp.tally(data, "y", "s", **given)


def test_a_column_that_plays_two_parts_stands_once():
    data = pl.DataFrame({"grade": [1, 0, 1], "s": [2.0, 1.0, 2.0]})
    assert fp.tally(data, "grade", "s", gain="grade").rows() == [(0, 1.0, 1), (1, 2.0, 2)]
    assert (
        fp.ndcg(
            fp.tally(data, "grade", "s", gain="grade"), "grade", "s", gain="grade", count="count"
        ).item()
        == 1
    )
    with pytest.raises(ValueError, match="two columns of the tally would be named 'grade'"):
        fp.tally(data, pl.col("grade") > 0, "s", gain="grade")
    with pytest.raises(ValueError, match="column 'count' is named like the one that tally adds"):
        fp.tally(data.rename({"s": "count"}), "grade", "count")


def test_keys_and_truths_have_the_types_they_had_on_pandas():
    data = pd.DataFrame(
        {"q": pd.Categorical(["b", "a", "b"], ["b", "a"]), "y": ["x", "z", "x"], "s": [1, 2, 1]}
    )
    found = data.pr.tally("y", "s", by="q", positive="x")
    assert list(found["q"]) == ["b", "a"]
    assert list(found["count"]) == [2, 1]
    assert dict(found.dtypes.drop("count")) == dict(data.dtypes)


def test_bins_of_about_equal_mass():
    # Scores 0 to 9, and 9 four times more: bins of 14 / 3 rows begin with rows 1, 6 and 11: five 9s
    # first.
    data = pl.DataFrame({"y": [1, 0] * 7, "s": [*range(10), 9, 9, 9, 9]})
    found = fp.tally(data, "y", "s", bins=3)
    assert found.group_by("s").agg(pl.col("count").sum()).sort("s").rows() == [
        (0, 4),
        (4, 5),
        (9, 5),
    ]
    assert found["count"].sum() == 14
    # A small score is best: the five 9s begin with row 10, in the second third; the worst one is
    # the largest.
    found = fp.tally(data, "y", "s", bins=3, ascending=True)
    assert found.group_by("s").agg(pl.col("count").sum()).sort("s").rows() == [(4, 5), (9, 9)]


def test_bins_of_each_group():
    data = pl.DataFrame({"q": [1, 1, 2, 2], "y": [1, 0, 0, 1], "s": [0.1, 0.2, 0.8, None]})
    found = data.pr.tally("y", "s", by="q", bins=1, unscored="unretrieved")
    assert found.select("q", "y", "s", "count").sort("q", "y").rows() == [
        *[(1, 0, 0.1, 1), (1, 1, 0.1, 1)],
        *[(2, 0, 0.8, 1), (2, 1, None, 1)],
    ]


@pytest.mark.parametrize(
    ("dtype", "scores", "ascending", "labels"),
    [
        # .7 is the float of this type that is nearest to .7, and so is reached by it.
        (pl.Float32, [0.7, 0.69, 0.2, 0.1], False, [0.7, 0.2, 0.2, float("-inf")]),
        (pl.Float64, [0.7, 0.71, 0.2, 0.1], True, [0.7, float("inf"), 0.2, 0.2]),
        # No whole number lies between .2 and .7: what reaches either is 1 or more.
        (pl.Int64, [1, 5], False, [1, 1]),
        (pl.Int8, [-128, 0], True, [0, 0]),
        (pl.Decimal(5, 1), ["0.7", "0.6"], False, [0.7, 0.2]),
    ],
)
def test_edges(dtype, scores, ascending, labels):
    data = pl.DataFrame({"s": pl.Series(scores).cast(dtype), "y": 1, "place": range(len(scores))})
    found = fp.tally(data, "y", "s", by="place", bins=[0.7, 0.2], ascending=ascending)
    assert found["s"].dtype == dtype
    assert found["s"].cast(pl.Float64).to_list() == pytest.approx(labels)


# Not between the bounds: how many rows share a score; and what lies at a threshold, but on the edge
# of a bin.
BRACKETED = [
    name for name in NAMES if "optimistic" in metric(name).aggregates and name != "tied_rows"
]
BRACKETED = [
    name for name in BRACKETED if "threshold=" not in name and not name.startswith("threshold@")
]
# What takes equal scores whole, and then has a value that no order of them has.


def test_thresholds_on_the_edges_of_bins_are_exact():
    data = pl.DataFrame({"y": [1, 0, 1, 1, 0], "s": [0.9, 0.8, 0.5, 0.4, 0.1]})
    tally = fp.tally(data, "y", "s", bins=[0, 0.4, 0.8])
    names = ["tp@threshold=0.8", "mcc@threshold=0.4", "precision@threshold=0"]
    assert fp.evaluate(tally, names, "y", "s", count="count").equals(
        fp.evaluate(data, names, "y", "s")
    )


def test_groups_that_only_their_totals_tell_of():
    data = pl.DataFrame(
        {"c": ["cat", "cat", "dog"], "t": [1, 0, 1], "s": [0.9, 0.8, 0.7], "n": [2, 1, 0]}
    )
    known = pl.DataFrame({"c": ["cat", "dog", "owl"], "P": [4, 3, 3]})
    # Of cat two of four hits stand first, both of one score: 2 / 4 at a precision of 1. Dog has no
    # row, owl never had.
    found = fp.evaluate(
        data, "average_precision", "t", "s", by="c", total_positives=known, count="n"
    )
    assert found.rows() == [("cat", 0.5), ("dog", 0.0), ("owl", 0.0)]


SHARES = pl.DataFrame({"y": [1, 0, 1, 0], "s": [0.9, 0.5, 0.6, 0.1]})


@pytest.mark.parametrize(
    ("frame", "bins"),
    [
        (SHARES, [0, 50, 100]),
        (SHARES, [1, 2, 3]),
        (SHARES, [-2, 0.1]),  # all reach both
        (SHARES.with_columns(pl.col("s") * 100), [0, 0.5, 1]),
        (SHARES.with_columns((pl.col("s") * 100).cast(pl.Int64)), [0, 1]),
    ],
)
def test_edges_that_part_no_scores(frame, bins):
    with pytest.warns(
        fp.DataWarning, match="bins: all scores of column 's' fall into one bin"
    ) as told:
        fp.tally(frame, "y", "s", bins=bins)
    assert len(told) == 1


def test_parts_of_a_frame_may_have_one_bin():
    by_group = SHARES.with_columns(q=pl.Series([1, 2, 1, 2]))
    parts = fp.partitioned(by_group, partitions=2, progress=False)
    assert parts.tally("y", "s", by="q", bins=[0.0, 0.55, 0.6]).height == 2


def test_an_integer_below_all_edges_is_an_error_of_one_sentence():
    run = pl.DataFrame({"y": [0, 1], "s": [1, -5]})
    message = (
        r"^score column 's' holds -5, worse than all edges of bins=, and no Int64 is infinite: "
        r"add an edge that all scores reach$"
    )
    for frame in (run, run.lazy()):
        with pytest.raises(ValueError, match=message):
            fp.tally(frame, "y", "s", bins=[0, 1]).lazy().collect()


def test_a_missing_second_score():
    nan = float("nan")
    rows = pl.DataFrame(
        {"y": [1, 0, 1, 0, 1], "s": [0.5, 0.5, 0.5, 0.5, 0.9], "t": [0.1, nan, None, nan, 0.1]}
    )
    keeps = {"unscored": "unretrieved"}
    counts = rows.pr.tally("y", ["s", "t"], **keeps)
    # NaN and null are one missing score: (1, 0.5, null) once, (0, 0.5, null) twice.
    assert sorted(counts.rows(), key=str) == [
        (0, 0.5, None, 2),
        (1, 0.5, 0.1, 1),
        (1, 0.5, None, 1),
        (1, 0.9, 0.1, 1),
    ]
    call = {"truth": "y", "score": ["s", "t"], **keeps}
    names = ["average_precision", "roc_auc", "rows"]
    assert_same(counts.pr.evaluate(names, **call, count="count"), rows.pr.evaluate(names, **call))
    for bins in (2, [0.3, 0.6, 0.05, 0.0]):
        binned = rows.pr.tally("y", ["s", "t"], bins=bins, **keeps)
        assert binned.filter(pl.col("t").is_null())["count"].sum() == 3
