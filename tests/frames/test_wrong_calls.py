"""Wrong calls of functions, on frames of several kinds: each with its error, or with the right numbers."""

import decimal
import pathlib

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from call_cases import Case, assert_end, lazy, pdf, run

CASES = [
    Case(lambda: run.rename({"s": "^s$"}).to_pandas().pr.average_precision("rel", "^s$"), None, [(0.7,)]),
    Case(
        lambda: run.rename({"q": ""}).to_pandas().pr.average_precision("rel", "s", by=""),
        None,
        [("a", 1.0), ("b", 7 / 12)],
    ),
    Case(
        lambda: pdf.rename(columns={"q": 0, "lab": "0"}).pr.average_precision("rel", "s", by=[0, "0"]),
        ValueError,
        "the frame has 2 columns named 0 and '0': rename them before the call",
    ),
    Case(
        lambda: pdf.pr.average_precision("rel", [["s"]]),
        TypeError,
        "score takes the name of a column, or several; got [['s']]",
    ),
    Case(
        lambda: lazy.pr.average_precision("rel", pl.col("s").filter(pl.col("rel") > 0)).collect(),
        ValueError,
        "score: this expression gives 3 values for 5 rows, not one value for",
    ),
    Case(
        lambda: (
            pl.DataFrame({"rel": [1, 0], "s": [2.0, 1.0], "o": pl.Series([object(), object()], dtype=pl.Object)})
            .lazy()
            .pr.with_metrics("average_precision", "rel", "s")
            .collect()
        ),
        TypeError,
        "column 'o' is Object, which no LazyFrame can carry along: drop it, or",
    ),
    Case(
        lambda: pdf.assign(
            q=pd.array([decimal.Decimal(1)] * 5, dtype=pd.ArrowDtype(pa.decimal256(50, 2)))
        ).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' is decimal256(50, 2)[pyarrow], which polars does not have:",
    ),
    Case(
        lambda: pdf.assign(q=pd.Series([10**30] * 5, dtype=object)).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' (object) holds whole numbers of more than 64 bits: convert",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", ties=pd.NA),
        TypeError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(
        lambda: pdf.rename(columns={"rel": ("a", "b")}).pr.average_precision(("a", "b"), "s"),
        ValueError,
        "truth: column ('a', 'b') is a tuple: rename it before the call",
    ),
    Case(
        lambda: pdf.rename(columns={"s": ("a", "b")}).pr.average_precision("rel", ("a", "b")),
        ValueError,
        "score: column ('a', 'b') is a tuple: rename it before the call",
    ),
    Case(
        lambda: pdf.assign(q=pd.arrays.SparseArray([1.0, 0, 1, 0, 1])).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' is Sparse[float64, nan]: convert it, .sparse.to_dense()",
    ),
    Case(
        lambda: pdf.assign(q=pd.date_range("2020", periods=5, tz="+05:30")).pr.average_precision("rel", "s", by="q"),
        TypeError,
        f"column 'q' ({pd.date_range('2020', periods=5, tz='+05:30').dtype}) has a time zone of a fixed",
    ),
    Case(
        lambda: pdf.assign(q=pd.Series([pathlib.Path("a")] * 5, dtype=object)).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' (object) holds values of the type PosixPath: make text of",
    ),
    Case(
        lambda: pdf.assign(t=pd.period_range("2020", periods=5)).pr.average_precision("t", "s"),
        TypeError,
        "column 't' is period[D], neither boolean nor 0/1: name its positive",
    ),
    Case(
        lambda: pdf.pr.average_precision("lab", "s"),
        TypeError,
        f"column 'lab' is {pdf['lab'].dtype}, neither boolean nor 0/1: name its positive label,",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", by="q", total_positives=pd.Series([2, 2], index=["a", "b"])),
        TypeError,
        "total_positives takes a column, or a frame of the by columns and one more;",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)
