"""Wrong calls that ended in the words of another library: kinds 17 to 42."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from defect_frames import Case, S, assert_end, lazy, parts, pdf, run

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
CASES = [
    Case(
        17, lambda: run.rename({"q": "*"}).pr.average_precision("rel", "s", by="*"), None, [("a", 1.0), ("b", 7 / 12)]
    ),
    Case(17, lambda: run.rename({"s": "^.*$"}).pr.average_precision("rel", "^.*$"), None, [(0.7,)]),
    Case(17, lambda: run.rename({"s": "^s$"}).to_pandas().pr.average_precision("rel", "^s$"), None, [(0.7,)]),
    Case(
        18,
        lambda: run.rename({"q": ""}).to_pandas().pr.average_precision("rel", "s", by=""),
        None,
        [("a", 1.0), ("b", 7 / 12)],
    ),
    Case(
        19,
        lambda: pdf.rename(columns={"q": 0, "lab": "0"}).pr.average_precision("rel", "s", by=[0, "0"]),
        ValueError,
        "the frame has 2 columns named 0 and '0': rename them before the call",
    ),
    Case(
        20,
        lambda: pdf.pr.average_precision("rel", [["s"]]),
        TypeError,
        "score takes the name of a column, or several; got [['s']]",
    ),
    Case(
        20,
        lambda: fp.join_judgments(run, run, on=[["q"]]),
        TypeError,
        "on takes the name of a column, or several; got [['q']]",
    ),
    Case(
        21,
        lambda: lazy.pr.average_precision("rel", pl.col("s").filter(pl.col("rel") > 0)).collect(),
        ValueError,
        "score: this expression gives 3 values for 5 rows, not one value for",
    ),
    Case(
        21,
        lambda: run.pr.average_precision("rel", pl.col("s").filter(pl.col("rel") > 0)),
        ValueError,
        "score: this expression gives 3 values for 5 rows, not one value for",
    ),
    Case(
        22,
        lambda: run.pr.average_precision("rel", pl.col("lab").cast(pl.Int64)),
        ValueError,
        "score: this expression cannot be computed: conversion from `str` to",
    ),
    Case(
        23,
        lambda: pl.DataFrame(
            {"rel": [1, 0], "s": [2.0, 1.0], "o": pl.Series([object(), object()], dtype=pl.Object)}
        ).pr.average_precision("rel", "s", by="o"),
        TypeError,
        "by column 'o' is Object: make text or numbers of it before the call",
    ),
    Case(
        23,
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
        23,
        lambda: fp.join_judgments(
            *[pl.LazyFrame({n: [2, 1], "o": pl.Series([object(), object()], dtype=pl.Object)}) for n in "sr"], on="o"
        ).collect(),
        TypeError,
        "on: column 'o' is Object: make text or numbers of it before the call",
    ),
    Case(
        24,
        lambda: pdf.assign(
            q=pd.array([decimal.Decimal(1)] * 5, dtype=pd.ArrowDtype(pa.decimal256(50, 2)))
        ).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' is decimal256(50, 2)[pyarrow], which polars does not have:",
    ),
    Case(
        25,
        lambda: pdf.assign(q=pd.Series([10**30] * 5, dtype=object)).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' (object) holds whole numbers of more than 64 bits: convert",
    ),
    Case(
        26,
        lambda: run.with_columns(s=pl.Series([2**127 + 5] * 5, dtype=pl.UInt128)).pr.average_precision("rel", "s"),
        ValueError,
        "score column 's' (UInt128) has values of more than 63 bits: cast it to",
    ),
    Case(
        27,
        lambda: run.with_columns(t=pl.Series([datetime.timedelta(1)] * 5)).pr.average_precision("t", "s", positive="a"),
        TypeError,
        "positive='a' cannot be a value of column 't', which is",
    ),
    Case(
        27,
        lambda: run.with_columns(t=pl.concat_list("rel")).pr.average_precision("t", "s", positive="a"),
        TypeError,
        "positive='a' cannot be a value of column 't', which is List(Int64):",
    ),
    Case(
        28,
        lambda: run.with_columns(q=pl.concat_list("q")).pr.average_precision(
            "rel", "s", by="q", positives=pl.DataFrame({"q": [1], "n": [3]})
        ),
        TypeError,
        "column 'q' is List(String) in the frame and Int64 in the positives",
    ),
    Case(
        28,
        lambda: run.cast({"q": pl.Categorical}).pr.average_precision(
            "rel", "s", by="q", positives=pl.DataFrame({"q": [1], "n": [3]})
        ),
        ValueError,
        "positives gives no total for 2 of ",
    ),
    Case(
        29,
        lambda: run.pr.with_metrics("average_precision", "rel", "s", prefix=None),
        TypeError,
        "prefix must be text, got None",
    ),
    Case(
        29,
        lambda: run.pr.with_curve("rel", "s", prefix=np.int64(1)),
        TypeError,
        f"prefix must be text, got {np.int64(1)!r}",
    ),
    Case(30, lambda: run.pr.curve("rel", "s", figures=None), TypeError, "figures takes names of figures; got None"),
    Case(30, lambda: run.pr.curve("rel", "s", figures=["f1", "f1"]), ValueError, "figures has 'f1' twice"),
    Case(
        30, lambda: run.pr.curve("rel", "s", figures=[["f1"]]), TypeError, "figures takes names of figures; got ['f1']"
    ),
    Case(
        31,
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor=["hits"]),
        ValueError,
        "divisor must be 'min', 'positives' or 'hits', got ['hits']",
    ),
    Case(
        31, lambda: run.select(S.figure("rel", ["f1"], k=2)), TypeError, "a rate is asked for by its name, got ['f1']"
    ),
    Case(
        31,
        lambda: run.pr.interpolated_average_precision("rel", "s", points=np.array([11, 101])),
        ValueError,
        "points must be 11 or 101, or None, got a numpy ndarray",
    ),
    Case(
        31,
        lambda: run.pr.average_precision("rel", "s", ties=np.array(["order", "expected"])),
        ValueError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(
        31,
        lambda: run.pr.average_precision("rel", "s", ties=pl.col("q")),
        ValueError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(32, lambda: run.pr.precision_at_k("rel", "s", np.array(2)), None, [(0.5,)]),
    Case(32, lambda: run.pr.f_beta("rel", "s", threshold=np.array(0.5)), None, [(0.75,)]),
    Case(
        33,
        lambda: run.pr.average_precision("rel", "s", ties=pd.NA),
        ValueError,
        "ties must be 'threshold', 'expected', 'optimistic', 'pessimistic' or",
    ),
    Case(
        33,
        lambda: run.pr.evaluate("average_precision", "rel", "s", by="q", mean_over=pl.col("q")),
        TypeError,
        "mean_over takes names of columns of by, or True; got a polars expr",
    ),
    Case(
        33,
        lambda: fp.join_judgments(run, run, on=pd.NA),
        TypeError,
        "on takes the name of a column, or several; got a pandas NAType",
    ),
    Case(34, lambda: run.pr.k_at_recall("rel", "s", 1e-39), None, [(1,)]),
    Case(34, lambda: run.pr.evaluate("precision@recall=1e-9999", "rel", "s"), None, [(1.0,)]),
    Case(34, lambda: run.select(S.k_at_recall("rel", 5e-324)), None, [(1,)]),
    Case(
        35,
        lambda: run.pr.average_precision("rel", "s", undefined=10**400),
        TypeError,
        "undefined must be a number, or None for null, got a whole number of",
    ),
    Case(
        35,
        lambda: fp.plot(run, "rel", "s", k=10**400),
        ValueError,
        "k must be below 2**62, got a whole number of more than 40 digits",
    ),
    Case(35, lambda: run.select(S.f_beta("rel", threshold=10**400)), None, [(0.0,)]),
    Case(
        35,
        lambda: fp.partitioned(run, memory_budget=10**400),
        ValueError,
        "memory_budget must be a size such as '4GiB' or '500MB', or a number of",
    ),
    Case(
        35,
        lambda: run.pr.evaluate("precision@" + "9" * 5000, "rel", "s"),
        ValueError,
        "no metric is named 'precision@99999999999999999999' and so on: 5010",
    ),
    Case(
        36,
        lambda: fp.partitioned(run, memory_budget="1..5GB"),
        ValueError,
        "memory_budget must be a size such as '4GiB' or '500MB', or a number of",
    ),
    Case(
        37,
        lambda: fp.partitioned(run, partitions=2, directory=5, progress=False).average_precision("rel", "s", by="q"),
        TypeError,
        "directory must be text or a path, got 5",
    ),
    Case(38, lambda: parts.average_precision([], "s"), TypeError, "truth takes the name of one column; got a list"),
    Case(
        38,
        lambda: fp.partitioned(run.rename({"q": "frame_pr part"}), partitions=2, progress=False).average_precision(
            "rel", "s", by="frame_pr part"
        ),
        None,
        [("a", 1.0), ("b", 7 / 12)],
    ),
    Case(
        41,
        lambda: run.pr.evaluate(run, "rel", "s"),
        TypeError,
        "metrics takes names of metrics; got a polars DataFrame",
    ),
    Case(
        41,
        lambda: run.pr.evaluate(b"average_precision", "rel", "s"),
        TypeError,
        "metrics takes names of metrics; got b'average_precision'",
    ),
    Case(
        42,
        lambda: run.pr.average_precision("rel", "s", metrics="x"),
        TypeError,
        "unexpected keyword argument 'metrics'; evaluate takes names of metrics",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.kind}-{i}" for i, case in enumerate(CASES)])
def test_raw_errors(case):
    assert_end(case)
