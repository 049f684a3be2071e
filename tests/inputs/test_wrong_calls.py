"""Wrong calls of functions, by options and columns: each with its error, or with the right numbers."""

import datetime

import numpy as np
import polars as pl
import pytest
from call_cases import Case, assert_end, run

import frame_pr as fp

CASES = [
    Case(
        lambda: run.pr.average_precision(["pred", "rel"], "s", by="q"),
        TypeError,
        "truth takes the name of one column; got a list",
    ),
    Case(
        lambda: pl.DataFrame({"rel": [1, 0], "s": [1, 1], "d": ["a", "b"]}).pr.average_precision(
            "rel", "s", tie_break="d", descending="ascending"
        ),
        TypeError,
        "unexpected keyword argument 'descending'; ascending=True ranks lower scores first",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", by="lab", undefined=True),
        TypeError,
        "undefined must be a number, or None for null, got True",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", by=pl.all()).height,
        ValueError,
        "column 'rel' is given twice, to by= and to truth=: give another column for one of them",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", by=["rel", "s"]),
        ValueError,
        "column 'rel' is given twice, to by= and to truth=: give another column for one of them",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", positive=datetime.date(1970, 1, 2)),
        TypeError,
        "positive=1970-01-02 cannot be a value of column 'rel',",
    ),
    Case(
        lambda: pl.DataFrame({"t": [{"a": 1}, {"a": 0}], "s": [2, 1]}).pr.average_precision("t", "s", positive=1),
        TypeError,
        "positive=1 cannot be a value of column 't', which is Struct({'a':",
    ),
    Case(
        lambda: run.pr.confusion("rel", prediction="pred", tie_break="lab").width,
        ValueError,
        "tie_break=: confusion does not take it with prediction=; predicted classes have no ranking",
    ),
    Case(lambda: run.rename({"q": "*"}).pr.average_precision("rel", "s", by="*"), None, [("a", 1.0), ("b", 7 / 12)]),
    Case(
        lambda: run.pr.average_precision("rel", pl.col("lab").cast(pl.Int64)),
        ValueError,
        "score: this expression cannot be computed: conversion from `str` to",
    ),
    Case(
        lambda: pl.DataFrame(
            {"rel": [1, 0], "s": [2.0, 1.0], "o": pl.Series([object(), object()], dtype=pl.Object)}
        ).pr.average_precision("rel", "s", by="o"),
        TypeError,
        "by column 'o' is Object: make text or numbers of it before the call",
    ),
    Case(
        lambda: run.with_columns(s=pl.Series([2**127 + 5] * 5, dtype=pl.UInt128)).pr.average_precision("rel", "s"),
        ValueError,
        "score column 's' (UInt128) has values of more than 63 bits: cast it to",
    ),
    Case(
        lambda: run.with_columns(t=pl.Series([datetime.timedelta(1)] * 5)).pr.average_precision("t", "s", positive="a"),
        TypeError,
        "positive='a' cannot be a value of column 't', which is",
    ),
    Case(
        lambda: run.with_columns(t=pl.concat_list("rel")).pr.average_precision("t", "s", positive="a"),
        TypeError,
        "positive='a' cannot be a value of column 't', which is List(Int64):",
    ),
    Case(
        lambda: run.with_columns(q=pl.concat_list("q")).pr.average_precision(
            "rel", "s", by="q", total_positives=pl.DataFrame({"q": [1], "n": [3]})
        ),
        TypeError,
        "column 'q' is List(String) in the frame and Int64 in the total_positives",
    ),
    Case(
        lambda: run.cast({"q": pl.Categorical}).pr.average_precision(
            "rel", "s", by="q", total_positives=pl.DataFrame({"q": [1], "n": [3]})
        ),
        ValueError,
        "total_positives gives no total for 2 of ",
    ),
    Case(
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor=["hits"]),
        TypeError,
        "divisor must be 'min', 'positives' or 'hits', got ['hits']",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", ties=np.array(["order", "expected"])),
        TypeError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", ties=pl.col("q")),
        TypeError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(
        lambda: run.pr.evaluate("average_precision", "rel", "s", by="q", mean_over=pl.col("q")),
        TypeError,
        "mean_over takes names of columns of by, or True; got a polars expr",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", undefined=10**400),
        TypeError,
        "undefined must be a number, or None for null, got a whole number of",
    ),
    Case(
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor="hits", ties="expected"),
        ValueError,
        "average_precision@2/hits has no closed form in expectation:",
    ),
    Case(
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor="hits", ties="optimistic"),
        ValueError,
        "average_precision@2/hits is not best with positives first:",
    ),
    Case(
        lambda: run.pr.curve("rel", "s", undefined=0.0),
        TypeError,
        "unexpected keyword argument 'undefined'; what has no value stays null",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", sample_weights="w"),
        TypeError,
        "unexpected keyword argument 'sample_weights'; did you mean weight=?",
    ),
    Case(
        lambda: run.pr.report("rel", "s", weight="w"),
        ValueError,
        "weight=: report does not take it; a report has metrics at ranks",
    ),
    Case(
        lambda: run.pr.confusion("rel", "s", k=2, weight="w"),
        ValueError,
        "weight=: confusion does not take it with k=; weighted rows have no rank",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", by="q", total_positives=pl.DataFrame({"q": [1, 2], "n": [3, 3]})),
        ValueError,
        "total_positives gives no total for 2 of ",
    ),
    Case(
        lambda: run.pr.average_precision(
            "rel", "s", by="q", total_positives=pl.DataFrame({"q": ["a", "b"], "n": [-1, 2]})
        ),
        ValueError,
        "total_positives column 'n' holds -1: a total is not negative",
    ),
    Case(
        lambda: run.pr.average_precision(
            "rel", "s", by="q", total_positives=pl.DataFrame({"Q": ["a", "b"], "n": [3, 3]})
        ),
        ValueError,
        "total_positives: no column 'q' in the total_positives frame; did you mean 'Q'?",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)


def test_texts_are_cut():
    for wrong in ("x" * 10_000, "x" * 10_000 + "'"):
        with pytest.raises(ValueError, match=r"truth: no column 'x{40}'\.\.\. in the frame") as error:
            run.pr.average_precision(wrong, "s")
        assert len(str(error.value)) < 400


def test_columns_of_spark():
    functions = pytest.importorskip("pyspark.sql.connect.functions")
    column = functions.col("rel")
    for argument in ("truth", "score", "by", "weight"):
        good = {"truth": "rel", "score": "s"} | {argument: column}
        with pytest.raises(TypeError, match=f"{argument} takes .*; got a Spark Column: withColumn gives it a name"):
            fp.average_precision(run, **good)


def test_the_number_of_groups_in_a_sentence():
    with pytest.raises(ValueError, match=r"\(1 such group\)"):
        run.with_columns(n=1).pr.average_precision("rel", "s", by="q", total_positives="n")
