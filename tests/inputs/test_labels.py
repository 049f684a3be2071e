"""Which labels a column has: those of its rows, and those that it declares."""

import datetime as dt
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

COUNTS = ["k", "tp", "fp", "fn", "tn"]
FRAUD = ["fraud", "ok", "fraud", "ok"]
FLAGS = [True, False, True, True]  # of the positives, one is found; 3 are predicted
FLAGGED = (3, 2, 1, 0, 1)


def collected(result):
    return result.collect() if isinstance(result, pl.LazyFrame) else result


def table(truth, predicted, positive, **given):
    data = pl.DataFrame({"y": truth, "p": predicted})
    return (
        fp.confusion(data, "y", prediction="p", positive=positive, **given, rates="all")
        .select(COUNTS)
        .row(0)
    )


@pytest.mark.parametrize(
    "predicted", [FLAGS, [1, 0, 1, 1], [1.0, 0.0, 1.0, 1.0]], ids=["Boolean", "0/1", "float"]
)
@pytest.mark.parametrize(
    ("truth", "positive"),
    [(FRAUD, "fraud"), ([True, False, True, False], True), ([False, True, False, True], False)],
    ids=["text", "Boolean", "negated"],
)
def test_a_flag_says_predicted_positive(truth, positive, predicted):
    assert table(truth, predicted, positive) == FLAGGED


@pytest.mark.parametrize(
    ("truth", "positive"), [([2, 1, 2, 1], 2), ([0, 1, 0, 1], 0), ([-1.0, 1.0, -1.0, 1.0], -1)]
)
def test_a_flag_beside_numbers(truth, positive):
    assert table(truth, FLAGS, positive) == FLAGGED
    # Numbers beside numbers are labels.
    assert table(truth, truth, positive) == (2, 2, 0, 0, 2)


def test_flags_beside_categories():
    for dtype in (pl.Categorical, pl.Enum(["ok", "fraud"])):
        assert table(pl.Series(FRAUD, dtype=dtype), FLAGS, "fraud") == FLAGGED
        assert table(pl.Series(FRAUD, dtype=dtype), FRAUD, "fraud") == (2, 2, 0, 0, 2)
        assert table(FRAUD, pl.Series(FRAUD, dtype=dtype), "fraud") == (2, 2, 0, 0, 2)


def test_predictions_that_share_a_label_that_no_row_has():
    assert table(FRAUD, ["ok"] * 4, "fraud") == (0, 0, 0, 2, 2)
    assert table([0, 0], [1, 1], 1) == (2, 0, 2, 0, 0)
    assert table([1.0, 1.0], [0, 0], 1) == (0, 0, 0, 2, 0)
    truth = pl.Series(["ham", "ham"], dtype=pl.Enum(["ham", "spam"]))
    assert table(truth, ["spam", "spam"], "spam") == (2, 0, 2, 0, 0)
    nothing = pl.Series([], dtype=pl.String)
    assert table(nothing, nothing, "spam") == (0, 0, 0, 0, 0)


DAY, NEXT = dt.date(2020, 1, 1), dt.date(2020, 1, 2)


@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        (pl.Series(["ham", "ham"], dtype=pl.Enum(["ham", "spam"])), "spam"),
        (pl.Series([False, False]), True),
        (pl.Series([True, True]), False),
        (pl.Series([0, 0]), 1),
        (pl.Series([1.0, 1.0]), 0),
        (pl.Series([0, 0], dtype=pl.UInt8), True),
        (pd.Categorical(["ham", "ham"], categories=["ham", "spam"]), "spam"),
        (pd.Categorical([1, 1], categories=[1, 2]), 2),
        (pd.Categorical([0, 0], categories=[0, 2]), 2),
        (pd.Categorical([0.5, 0.5], categories=[0.5, 1.5]), 1.5),
        (pd.Categorical([False, False], categories=[False, True]), True),
        (pd.Categorical([DAY, DAY], categories=[DAY, NEXT]), NEXT),
    ],
)
def test_a_declared_label_that_no_row_has(truth, positive):
    frame = pd.DataFrame if isinstance(truth, pd.Categorical) else pl.DataFrame
    data = frame({"y": truth, "s": [1.0, 2.0]})
    for given in [data, data.lazy()] if frame is pl.DataFrame else [data]:
        result = fp.evaluate(given, ["positives", "average_precision"], "y", "s", positive=positive)
        result = pl.from_pandas(result) if frame is pd.DataFrame else result.lazy().collect()
        assert result.row(0) == (0, None)


@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        (pl.Series(["ham", "ham"]), "spam"),
        (pl.Series(["ham", "ham"], dtype=pl.Categorical), "spam"),
        (pl.Series(["ham", "ham"], dtype=pl.Enum(["ham", "spam"])), "Spam"),
        (pl.Series([2, 2]), 1),
        (pl.Series([0, 0]), 2),
        (pl.Series([0.0, 2.0]), 1),
        (pd.Categorical(["ham", "ham"], categories=["ham", "spam"]), "Spam"),
        (pd.Categorical([1, 1], categories=[1, 2]), 3),
    ],
)
def test_a_label_that_the_truth_does_not_have(truth, positive):
    frame = pd.DataFrame if isinstance(truth, pd.Categorical) else pl.DataFrame
    data = frame({"y": truth, "s": [1.0, 2.0]})
    for given in [data, data.lazy()] if frame is pl.DataFrame else [data]:
        with pytest.raises(Exception, match=f"column 'y' has no {positive!r}, it"):
            collected(fp.average_precision(given, "y", "s", positive=positive))


@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        (pl.Series([True, False]), 1),
        (pl.Series([True, False]), np.True_),
        (pl.Series([1, 2], dtype=pl.UInt8), True),
        (pl.Series([1, 2], dtype=pl.UInt8), np.int64(1)),
        (pl.Series([1, 2]), 1.0),
        (pl.Series([0.1, 0.2], dtype=pl.Float32), 0.1),
        (pl.Series([2**53 + 1, 2**53]), 2**53 + 1),
        (pl.Series(["1.50", "2"]).cast(pl.Decimal(10, 2)), 1.5),
        (pl.Series([DAY, NEXT]), dt.datetime(2020, 1, 1)),
        (pl.Series([DAY, NEXT]).cast(pl.Datetime), DAY),
        (pl.Series([b"a", b"b"]), b"a"),
        (pl.Series([["a"], ["b"]]), ["a"]),
    ],
)
def test_a_label_of_another_type_that_is_the_same(truth, positive):
    # The first of two, and ranked second.
    assert (
        fp.average_precision(
            pl.DataFrame({"y": truth, "s": [1.0, 2.0]}), "y", "s", positive=positive
        ).item()
        == 0.5
    )


def test_a_text_is_no_label_of_booleans_to_an_expression():
    data = pl.DataFrame({"g": [1, 1], "y": [True, False], "t": ["true", "false"], "s": [1.0, 2.0]})
    for positive, column in (("true", "y"), (True, "t")):
        with pytest.raises(ValueError, match="cannot be a value of"):
            data.select(pl.col("s").pr.average_precision(column, positive=positive))
        with pytest.raises(ValueError, match="cannot be a value of"):
            data.group_by("g").agg(pl.col("s").pr.average_precision(column, positive=positive))
    assert (
        data.group_by("g")
        .agg(pl.col("s").pr.average_precision("t", positive="true"))["average_precision"]
        .item()
        == 0.5
    )


def test_a_tie_break_that_is_not_a_number_is_missing():
    # A NaN is what a null is: last. Of the three, 2.0 comes first, a positive; the other two are
    # equal.
    data = pl.DataFrame({"y": [0, 1, 1], "s": [1.0, 1.0, 1.0], "t": [float("nan"), 2.0, None]})
    for frame in (data, data.lazy(), data.with_columns(pl.col("t").fill_nan(None))):
        result = fp.average_precision(frame, "y", "s", tie_break="t").lazy().collect()
        assert result.item() == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("dtype", [pl.Enum(["ham", "spam"]), pl.Categorical, pl.String], ids=str)
def test_no_rows_have_any_label(dtype):
    frame = pl.DataFrame(schema={"q": pl.Int64, "y": dtype, "s": pl.Int8})
    for data in (frame, frame.to_pandas(), frame.to_pandas(use_pyarrow_extension_array=True)):
        assert fp.average_precision(data, "y", "s", by="q", positive="spam").shape == (0, 2)


@pytest.mark.parametrize(("labels", "is_told"), [([0, 2], True), ([1, 2], True), ([-1, 1], False)])
def test_two_grades_are_told_of_gains(labels, is_told):
    frame = pl.DataFrame({"grade": labels, "s": [1.0, 2.0]})
    with pytest.raises(ValueError, match="name its positive label, positive=") as raised:
        fp.ndcg(frame, "grade", "s")
    assert ("; grades go to gain=, and a comparison makes labels" in str(raised.value)) is is_told
    if is_told:
        # The advice is followed: the gains are labels[1] and labels[0] or less, best first.
        truth = pl.col("grade") >= labels[1]
        assert fp.ndcg(frame, truth, "s", gain="grade").item() == 1


def test_a_day_without_the_positive_label():
    day = pl.DataFrame({"y": ["no", "no"], "p": ["no", "yes"]})
    advice = "or if rows may lack it, use an Enum (in pandas a categorical) of all labels"
    with pytest.raises(ValueError, match=re.escape(advice)):
        fp.confusion(day, "y", prediction="p", positive="yes")
    labels = ["no", "yes"]
    frames = [
        day.cast(pl.Enum(labels)),
        day.to_pandas().astype(pd.CategoricalDtype(labels)),
        day.cast(pl.Enum(labels)).lazy(),
    ]
    for frame in frames:
        counts = fp.confusion(frame, "y", prediction="p", positive="yes")
        counts = counts.collect() if isinstance(counts, pl.LazyFrame) else counts
        assert counts[["tp", "fp", "fn", "tn"]].to_numpy().tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_rows_without_a_label_may_lack_all_else(missing, make):
    columns = {
        "y": [0.0, 0.0, 1.0, 1.0, missing],
        "p": [0.0, 1.0, 1.0, 0.0, missing],
        "s": [0.2, 0.3, 0.4, 0.5, missing],
        "w": [1.0, 2.0, 1.0, 1.0, missing],
    }
    frame = make(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64), strict=False))

    def read(result):
        if isinstance(result, pl.LazyFrame):
            return result.collect()
        return pl.from_pandas(result) if isinstance(result, pd.DataFrame) else result

    matrix = read(frame.pr.confusion_matrix("y", "p", unjudged="drop"))
    assert matrix["rows"].to_list() == [1, 1, 1, 1]
    counts = read(frame.pr.confusion("y", prediction="p", unjudged="drop"))
    assert counts.select("tp", "fp", "fn", "tn").row(0) == (1, 1, 1, 1)
    # Both positives are on top.
    for options in ({}, {"weight": "w"}):
        ap = frame.pr.average_precision("y", "s", unjudged="drop", **options)
        assert read(ap).item() == 1
    with pytest.raises(ValueError, match="column 's' has 1 missing of 5 values"):
        read(frame.pr.average_precision("y", "s", unjudged="negative"))
