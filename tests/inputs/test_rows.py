from datetime import date
from decimal import Decimal
from functools import cache

import polars as pl
import polars.selectors as cs
import pytest
from compare import assert_same, near
from names import CALL_IDS, CALLS, GOOD, call

import frame_pr as fp

# a: (1/1 + 2/3) / 2; b: 1/2
AP = [("a", near(5 / 6)), ("b", near(1 / 2))]


def ap(data, truth="relevant", score="score", **given):
    return fp.average_precision(data, truth, score, **{"by": "query"} | given).rows()


@pytest.mark.parametrize(
    "dtype",
    [
        pl.Boolean,
        pl.Int8,
        pl.UInt8,
        pl.Int32,
        pl.UInt32,
        pl.Int64,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
        pl.Decimal(5, 2),
    ],
    ids=str,
)
def test_truth_of_any_numeric_dtype(dtype):
    assert ap(GOOD.cast({"relevant": dtype})) == AP


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["yes", "no"], "yes"),
        ([2, 1], 2),
        ([-1, 1], -1),
        ([0.5, 1.5], 0.5),
        ([False, True], False),
        ([date(2024, 1, 1), date(2024, 1, 2)], date(2024, 1, 1)),
        # The label, and not the truth of it, is what counts.
        ([0, 1], 0),
    ],
)
def test_labels(labels, positive):
    data = GOOD.with_columns(
        relevant=pl.Series([labels[0] if one else labels[1] for one in GOOD["relevant"]])
    )
    assert ap(data, positive=positive) == AP


@pytest.mark.parametrize(
    "dtype", [pl.Categorical, pl.Enum(["yes", "no", "maybe"])], ids=["Categorical", "Enum"]
)
def test_labels_of_categories(dtype):
    assert ap(GOOD.cast({"label": dtype}), truth="label", positive="yes") == AP


def test_more_than_two_labels():
    # One against the rest, as one asks class by class.
    data = GOOD.with_columns(label=pl.Series(["yes", "no", "yes", "maybe", "yes"]))
    assert ap(data, truth="label", positive="yes") == AP


@pytest.mark.parametrize(
    "dtype",
    [
        pl.Int8,
        pl.Int16,
        pl.Int32,
        pl.Int64,
        pl.UInt8,
        pl.UInt32,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
        pl.Decimal(10, 3),
    ],
    ids=str,
)
def test_scores_of_any_numeric_dtype(dtype):
    data = GOOD.with_columns(score=pl.Series([9, 8, 7, 6, 5])).cast({"score": dtype})
    assert ap(data) == AP


def test_128_bit_scores():
    data = GOOD.with_columns(score=pl.Series([9, 8, 7, 6, 5], dtype=pl.Int128))
    assert data.pr.average_precision("relevant", "score", by="query").rows() == AP


def test_decimal_scores_are_compared_as_written():
    # These two are one and the same float.
    scores = [Decimal("0.1000000000000000001"), Decimal("0.1000000000000000000")]
    assert float(scores[0]) == float(scores[1])
    for truth, expected in (([1, 0], 1.0), ([0, 1], 0.5)):
        data = pl.DataFrame(
            {"relevant": truth, "score": scores}, schema_overrides={"score": pl.Decimal(20, 19)}
        )
        assert fp.average_precision(data, "relevant", "score").item() == expected


def test_large_whole_scores_are_compared_exactly():
    data = pl.DataFrame({"relevant": [0, 1], "score": [2**53, 2**53 + 1]})
    assert fp.average_precision(data, "relevant", "score").item() == 1.0


def test_without_by_there_is_one_row():
    # By score: 1, 0, 1, 0, 1: (1 + 2/3 + 3/5) / 3
    for by in (None, []):
        assert ap(GOOD, by=by) == [(near(34 / 45),)]


def test_one_key_in_a_list_or_by_itself():
    assert ap(GOOD, by=["query"]) == AP
    assert ap(GOOD, by=("query",)) == AP


@pytest.mark.parametrize("lazy", [False, True])
def test_expressions_and_selectors(lazy):
    frame = GOOD.lazy() if lazy else GOOD

    def rows(truth="relevant", score="score", by="query"):
        result = fp.average_precision(frame, truth, score, by=by).lazy().collect()
        return result.columns[0], result.rows()

    assert rows(truth=pl.col("relevant")) == ("query", AP)
    assert rows(truth=pl.col("label") == "yes") == ("query", AP)
    assert rows(truth=cs.starts_with("relev")) == ("query", AP)
    assert rows(score=pl.col("score") * 2 - 1) == ("query", AP)
    assert rows(score=-pl.col("score")) == (
        "query",
        [("a", near(5 / 6)), ("b", 1.0)],
    )  # backwards: 1, 0, 1 and 1, 0
    assert rows(by=pl.col("query")) == ("query", AP)
    assert rows(by=pl.col("query").str.to_uppercase()) == (
        "query",
        [(q.upper(), value) for q, value in AP],
    )
    assert rows(by=pl.col("query").alias("q")) == ("q", AP)
    assert rows(by=cs.by_name("query")) == ("query", AP)


def test_a_selector_of_several_keys():
    data = GOOD.with_columns(user=pl.lit("u"))
    result = data.pr.average_precision("relevant", "score", by=cs.by_name("query", "user"))
    assert result.rows() == [(q, "u", value) for q, value in AP]
    mixed = data.pr.average_precision("relevant", "score", by=["user", cs.by_name("query")])
    assert mixed.columns == ["user", "query", "average_precision"]


@pytest.mark.parametrize("lazy", [False, True])
def test_several_columns_of_one_expression(lazy):
    data = GOOD.with_columns(user=pl.lit("U"), other=-pl.col("score"))
    frame = data.lazy() if lazy else data

    def rows(score="score", by="query"):
        return fp.average_precision(frame, "relevant", score, by=by).lazy().collect().rows()

    upper = [(q.upper(), "U", value) for q, value in AP]
    assert rows(by=pl.col("query", "user").str.to_uppercase()) == upper
    # Backwards, a has 1, 0, 1 and b has 1, 0; twice backwards they are what they were.
    expected = [
        ("a", "score", near(5 / 6)),
        ("a", "other", AP[0][1]),
        ("b", "score", 1.0),
        ("b", "other", AP[1][1]),
    ]
    several = [-pl.col("score", "other"), -cs.by_name("score", "other"), -pl.col("^(score|other)$")]
    for scores in (*several, [-pl.col("score"), -pl.col("other")]):
        assert rows(score=scores) == expected
    assert rows(score=[pl.col("score")]) == [(q, "score", value) for q, value in AP]


@pytest.mark.parametrize("lazy", [False, True])
def test_an_aggregation_is_no_column(lazy):
    frame = GOOD.lazy() if lazy else GOOD
    score = pl.col("score")
    good = {"truth": "relevant", "score": "score", "by": "query"}
    for argument, column in {
        "truth": pl.col("relevant").max(),
        "score": score.max() * 2,
        "by": pl.col("query").first(),
        "weight": score.sum(),
        "total_positives": pl.col("relevant").sum(),
    }.items():
        with pytest.raises(
            ValueError,
            match=f"^{argument}: this expression gives one value for all rows: leave out",
        ):
            fp.average_precision(frame, **good | {argument: column})
    with pytest.raises(ValueError, match=r"^score: this expression gives one value for all rows"):
        fp.average_precision(frame, **good | {"score": cs.by_name("score").max()})
    # Of rows, of groups, or of no column at all: each is a column.
    for column in (
        score - score.mean(),
        score / score.max().over("query"),
        score.rank(),
        score.fill_null(score.min()),
    ):
        assert fp.average_precision(frame, **good | {"score": column}).lazy().collect().rows() == AP
    flat = fp.average_precision(frame, **good | {"score": pl.lit(1).cast(pl.Int8)}).lazy().collect()
    assert flat.equals(
        fp.evaluate(GOOD, "prevalence", **good).rename({"prevalence": "average_precision"})
    )


def test_an_expression_that_cannot_be_computed():
    data = pl.DataFrame({"y": [1, 0, 1], "s": ["3", "x", "1"], "q": [1, 2, 2], "v": [3, 2, 1]})
    good = {"truth": "y", "score": "v", "by": "q"}
    for argument in ("score", "truth", "by", "weight", "tie_break", "total_positives"):
        with pytest.raises(
            ValueError, match=f"^{argument}: this expression cannot be computed: conversion from"
        ) as error:
            fp.average_precision(data, **good | {argument: pl.col("s").cast(pl.Int64)})
        assert len(str(error.value).partition("\n\n")[0]) < 400
    beside = fp.with_metrics(data, "average_precision", "y", pl.col("v") + 1, by=pl.col("q") % 2)
    assert beside["average_precision"].to_list() == [1.0, 0.5, 0.5]


def test_other_columns_may_be_anything():
    # Only the named columns are read: another may be missing values, or named like what the library
    # uses inside.
    data = GOOD.with_columns(
        group=pl.lit(None),
        truth=pl.lit("x"),
        key=pl.lit("y"),
        by0=pl.lit(1),
        row=pl.lit(2),
        block=pl.lit(3),
    )
    assert ap(data) == AP
    beside = fp.with_metrics(data, "average_precision", "relevant", "score", by="query")
    assert beside.columns == [*data.columns, "average_precision"]
    assert_same(beside.drop("average_precision"), data, dtypes=False)


@pytest.mark.parametrize(
    "name", ["group", "truth", "score", "key", "by0", "row", "block", "0", "tp", "k", "positives"]
)
def test_columns_named_like_the_inner_ones(name):
    expected = [q_and_ap[1] for q_and_ap in AP]
    for role in ("query", "relevant", "score"):
        columns = {"query": "q", "relevant": "y", "score": "s"} | {role: name}
        data = GOOD.select("query", "relevant", "score").rename(columns)
        given = (columns["relevant"], columns["score"])
        result = fp.average_precision(data, *given, by=columns["query"])
        assert result.columns == [columns["query"], "average_precision"]
        assert result["average_precision"].to_list() == expected
        beside = fp.with_metrics(
            data, "average_precision", *given, by=columns["query"], prefix="new "
        )
        assert beside["new average_precision"].to_list() == [expected[0]] * 3 + [expected[1]] * 2


@cache
def full_results():
    """The results of the calls: every kind of frame has these columns and types."""
    return [call(GOOD, function, by="query", **given) for function, given in CALLS]


# So few rows have no standard error.
@pytest.mark.filterwarnings("ignore:.* have no bounds")
def test_an_empty_frame_gives_an_empty_result():
    empty = GOOD.clear()
    for (function, given), name, full in zip(CALLS, CALL_IDS, full_results(), strict=True):
        result = call(empty, function, by="query", **given)
        assert result.columns == full.columns, name
        assert result.height == 0, name
        assert result.schema == full.schema, name
        without_by = call(empty, function, **given)
        of_rows = function in ("curve", "with_curve", "with_metrics", "tally")
        rows = given.get("bins", 1)
        assert without_by.height == (0 if of_rows else rows), name
    names = ["rows", "positives", "average_precision", "precision@10", "recall@10", "max_f1"]
    one = fp.evaluate(empty, names, "relevant", "score")
    assert one.row(0) == (0, 0, None, 0.0, None, None)  # ten misses of ten, and nothing to recall
    positive = fp.average_precision(empty, "label", "score", positive="yes")
    assert positive.columns == ["average_precision"]


@pytest.mark.parametrize("ranked", [False, True])
def test_without_by_every_system_has_a_row(ranked):
    names = ["rows", "positives", "precision@10" if ranked else "tp@threshold=0"]
    data = pl.DataFrame(
        {"y": [1], "s": [2.0], "t": [None]},
        schema={"y": pl.Int64, "s": pl.Float64, "t": pl.Float64},
    )
    result = fp.evaluate(data, names, "y", ["s", "t"], unscored="drop")
    # A row is dropped where any system leaves it unscored: all are measured on the same rows.
    assert result.rows() == [("s", 0, 0, 0), ("t", 0, 0, 0)]
    result = fp.evaluate(data, names, "y", ["s", "t"], unscored="unretrieved")
    assert result.rows() == [("s", 1, 1, 0.1 if ranked else 1), ("t", 1, 1, 0)]
    result = fp.evaluate(data.clear(), names, "y", ["s", "t"])
    assert result.rows() == [("s", 0, 0, 0), ("t", 0, 0, 0)]


@pytest.mark.parametrize("height", [100, 10_000])
@pytest.mark.parametrize("order", ["mixed", "sorted", "sorted last half", "sorted middle"])
def test_keys_that_are_no_integers_group_as_their_numbers_do(height, order):
    i = pl.int_range(height)
    numbered = pl.select(
        a=i * 7 % 5, b=pl.when(i % 9 > 0).then(i % 4), relevant=i % 3 == 0, score=i * 31 % 97
    )
    half = height // 2
    first, last = numbered.head(half), numbered.tail(half)
    other = numbered.head(1).with_columns(a=pl.lit(9, dtype=pl.Int64))
    orders = {
        "mixed": numbered,
        "sorted": numbered.sort("a", "b"),
        "sorted last half": pl.concat([first, last.sort("a", "b")]),
        # The only row of a group comes after all runs.
        "sorted middle": pl.concat([first.sort("a", "b"), last.sort("a", "b"), other]),
    }
    numbered = orders[order]
    texts = {key: pl.format("key {}", key) for key in ("a", "b")}
    for keys in (["a", "b"], ["b"]):
        call = {"truth": "relevant", "score": "score", "by": keys}
        found = fp.average_precision(numbered.with_columns(**texts), **call)
        expected = fp.average_precision(numbered, **call)
        assert found.rows() == expected.with_columns(**{key: texts[key] for key in keys}).rows()
