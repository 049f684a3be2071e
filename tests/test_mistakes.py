"""What a newcomer gets wrong: the error says what was found, and what to do next."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

RUN = pl.DataFrame(
    {
        "query": ["a", "a", "b", "b"],
        "relevant": [1, 0, 0, 1],
        "score": [0.9, 0.8, 0.7, 0.6],
        "predicted": [1, 1, 0, 0],
    }
)


def test_a_score_of_truth_values():
    with pytest.raises(TypeError, match=r"is Boolean: it must be numeric, .*confusion\(truth, prediction=\.\.\.\)"):
        RUN.pr.average_precision("relevant", pl.col("predicted") == 1)


def test_a_score_for_each_class():
    # What predict_proba gives: a pair for each row.
    for dtype in (pl.List(pl.Float64), pl.Array(pl.Float64, 2)):
        with pytest.raises(TypeError, match=r"must be numeric, .* such as the probability of the positive class$"):
            RUN.with_columns(score=pl.lit([0.1, 0.9], dtype)).pr.average_precision("relevant", "score")


def test_a_score_of_a_type_that_polars_does_not_have():
    frame = pd.DataFrame({"relevant": [1, 0], "score": [1j, 2j]})
    with pytest.raises(TypeError, match="column 'score' is complex128, which polars does not have: convert it"):
        frame.pr.average_precision("relevant", "score")


def test_a_name_where_an_expression_belongs():
    with pytest.raises(TypeError, match=r"ExprPR takes a polars expression, such as pl.col\('score'\); got 'score'"):
        fp.ExprPR("score")


def test_a_frame_without_columns():
    with pytest.raises(ValueError, match=r"no column 'relevant' in the frame; columns: none$"):
        pl.DataFrame().pr.average_precision("relevant", "score")


@pytest.mark.parametrize(
    ("word", "ours"), [("group", "by"), ("keys", "by"), ("over", "by"), ("tie", "ties"), ("weigth", "weight")]
)
def test_arguments_by_another_name(word, ours):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{word}'; did you mean {ours}=\?"):
        RUN.pr.average_precision("relevant", "score", **{word: "query"})


def test_a_truth_without_any_value():
    with pytest.raises(TypeError, match="column 'relevant' is Null, it has no values to tell its type by: cast it"):
        pl.DataFrame({"relevant": [], "score": []}).pr.average_precision("relevant", "score")


def test_names_as_numpy_has_them():
    assert RUN.pr.average_precision(np.str_("relevant"), np.str_("score"), by=[np.str_("query")]).rows() == [
        ("a", 1.0),
        ("b", 0.5),
    ]


@pytest.mark.parametrize(
    "frame", ["relevant", RUN["relevant"], RUN.to_dict(), [1, 0, 1]], ids=lambda frame: type(frame).__name__
)
def test_something_else_than_a_frame(frame):
    message = "the frame comes first, then the names of its columns: .* got a .*; polars.DataFrame.* makes one of"
    with pytest.raises(TypeError, match=message):
        fp.average_precision(frame, "relevant", "score")


def test_truth_and_score_swapped():
    with pytest.raises(ValueError, match=r"truth column 'score' is neither .*; truth comes first, then score$"):
        RUN.pr.average_precision("score", "relevant")
    with pytest.raises(
        ValueError, match=r"prediction column 'score' is neither .*; probabilities are a score, with thr"
    ):
        RUN.pr.confusion("relevant", prediction="score")


def test_columns_before_metrics():
    with pytest.raises(ValueError, match="the metrics come first, then truth and score; got metrics='relevant'"):
        RUN.pr.evaluate("relevant", "score", "average_precision")
    with pytest.raises(ValueError, match="the metrics come first"):
        RUN.pr.with_metrics("relevant", "score", "average_precision")


def test_pandas_column_of_nothing_but_none():
    frame = pd.DataFrame({"query": [None, None], "relevant": [1, 0], "score": [2, 1], "none": [None, None]})
    with pytest.raises(
        TypeError, match=r"score column 'none' is object: .*; it has no values, cast it before the call"
    ):
        frame.pr.average_precision("relevant", "none")
    with pytest.raises(TypeError, match="column 'none' is Null, it has no values to tell its type by"):
        frame.pr.average_precision("none", "score")
    result = frame.pr.average_precision("relevant", "score", by="query")
    assert result["query"].tolist() == [None]
    assert result["average_precision"].tolist() == [1.0]


def test_totals_that_are_too_small_or_absent_count_groups():
    # Query "a" has three positives in three blocks, "b" one.
    run = pl.DataFrame({"query": ["a", "a", "a", "b"], "relevant": [1, 1, 1, 1], "score": [4, 3, 2, 1], "found": 0})
    with pytest.raises(
        ValueError, match=r"total_positives gives a total of 0 for a .* \(2 such groups\): it counts those in"
    ):
        run.pr.average_precision("relevant", "score", by="query", total_positives="found")
    totals = pl.DataFrame({"query": ["b"], "found": [1]})
    with pytest.raises(ValueError, match="total_positives gives no total for 1 of 2 groups"):
        run.pr.average_precision("relevant", "score", by="query", total_positives=totals)


@pytest.mark.parametrize("total", [5, {"a": 1}, [1, 2]])
def test_a_total_that_is_neither_a_column_nor_a_frame(total):
    with pytest.raises(TypeError, match=r"total_positives takes a column, or a frame .*: a number that holds for"):
        RUN.pr.average_precision("relevant", "score", by="query", total_positives=total)
    assert RUN.pr.evaluate("positives", "relevant", "score", total_positives=pl.lit(5)).item() == 5


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("map", "evaluate('average_precision', ...) computes it"),
        ("precision", "evaluate('precision@10', ...) computes it"),
    ],
)
def test_a_method_that_is_not_there(name, hint):
    with pytest.raises(AttributeError, match=f".pr has no '{name}'; {re.escape(hint)}"):
        getattr(RUN.pr, name)
    assert not hasattr(RUN.pr, name)
