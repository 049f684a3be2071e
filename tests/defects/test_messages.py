"""Messages that were of no help: kinds 66 to 87."""

import pathlib

import pandas as pd
import polars as pl
import pytest
from defect_frames import Case, S, assert_end, pdf, run

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
CASES = [
    Case(
        66,
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor="hits", ties="expected"),
        ValueError,
        "average_precision@2/hits has no closed form in expectation:",
    ),
    Case(
        66,
        lambda: run.pr.average_precision_at_k("rel", "s", 2, divisor="hits", ties="optimistic"),
        ValueError,
        "average_precision@2/hits is not best with positives first:",
    ),
    Case(
        67,
        lambda: run.pr.curve("rel", "s", zero_division=0),
        TypeError,
        "unexpected keyword argument 'zero_division'; what has no value stays null",
    ),
    Case(
        67,
        lambda: run.pr.curve("rel", "s", undefined=0.0),
        TypeError,
        "unexpected keyword argument 'undefined'; what has no value stays null",
    ),
    Case(
        68,
        lambda: run.pr.average_precision("rel", "s", sample_weights="w"),
        TypeError,
        "unexpected keyword argument 'sample_weights'; did you mean weight=?",
    ),
    Case(
        68,
        lambda: run.pr.average_precision("rel", "s", lower_is_better=True),
        TypeError,
        "unexpected keyword argument 'lower_is_better'; say ascending=True where",
    ),
    Case(
        68,
        lambda: fp.plot(run, "rel", "s", pos_label=1),
        TypeError,
        "plot has no argument 'pos_label'; did you mean positive=?",
    ),
    Case(
        69,
        lambda: run.pr.report("rel", "s", weight="w"),
        ValueError,
        "weight=: report does not take it; a report has metrics at ranks",
    ),
    Case(
        69,
        lambda: run.pr.confusion("rel", "s", k=2, weight="w"),
        ValueError,
        "weight=: confusion does not take it with k=; weighted rows have no rank",
    ),
    Case(70, lambda: run.pr.f_beta("rel", "s", beta=1e-5), None, [(pytest.approx(1), 0.9)]),
    Case(70, lambda: run.select(S.f_beta("rel", 1e16)), None, [(1.0,)]),
    Case(
        71,
        lambda: run.pr.average_precision("rel", True),
        TypeError,
        "score takes the name of a column, or several; got True",
    ),
    Case(
        71,
        lambda: run.pr.average_precision("rel", b"s"),
        TypeError,
        "score takes the name of a column, or several; got b's'",
    ),
    Case(
        71,
        lambda: run.pr.average_precision(pl.when(pl.col("rel") > 0), "s"),
        TypeError,
        "truth takes the name of one column; got a polars When: finish it with",
    ),
    Case(
        71,
        lambda: run.pr.average_precision((c for c in ["rel"]), "s"),
        TypeError,
        "truth takes the name of one column; got a generator",
    ),
    Case(
        72,
        lambda: pdf.rename(columns={"rel": ("a", "b")}).pr.average_precision(("a", "b"), "s"),
        ValueError,
        "truth: column ('a', 'b') is a tuple: rename it before the call",
    ),
    Case(
        72,
        lambda: pdf.rename(columns={"s": ("a", "b")}).pr.average_precision("rel", ("a", "b")),
        ValueError,
        "score: column ('a', 'b') is a tuple: rename it before the call",
    ),
    Case(
        73,
        lambda: pdf.assign(q=pd.arrays.SparseArray([1.0, 0, 1, 0, 1])).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' is Sparse[float64, nan]: convert it, .sparse.to_dense()",
    ),
    Case(
        73,
        lambda: pdf.assign(q=pd.date_range("2020", periods=5, tz="+05:30")).pr.average_precision("rel", "s", by="q"),
        TypeError,
        f"column 'q' ({pd.date_range('2020', periods=5, tz='+05:30').dtype}) has a time zone of a fixed",
    ),
    Case(
        73,
        lambda: pdf.assign(q=pd.Series([pathlib.Path("a")] * 5, dtype=object)).pr.average_precision("rel", "s", by="q"),
        TypeError,
        "column 'q' (object) holds values of the type PosixPath: make text of",
    ),
    Case(
        74,
        lambda: pdf.assign(t=pd.period_range("2020", periods=5)).pr.average_precision("t", "s"),
        TypeError,
        "column 't' is period[D], neither boolean nor 0/1: name its positive",
    ),
    Case(
        74,
        lambda: pdf.pr.average_precision("lab", "s"),
        TypeError,
        f"column 'lab' is {pdf['lab'].dtype}, neither boolean nor 0/1: name its positive label,",
    ),
    Case(
        75,
        lambda: run.pr.average_precision("rel", "s", by="q", positives=pl.DataFrame({"q": [1, 2], "n": [3, 3]})),
        ValueError,
        "positives gives no total for 2 of ",
    ),
    Case(
        75,
        lambda: run.pr.average_precision("rel", "s", by="q", positives=pd.Series([2, 2], index=["a", "b"])),
        TypeError,
        "positives takes a column, or a frame of the by columns and one more;",
    ),
    Case(
        75,
        lambda: run.pr.average_precision("rel", "s", by="q", positives=pl.DataFrame({"q": ["a", "b"], "n": [-1, 2]})),
        ValueError,
        "positives column 'n' holds -1: a total is not negative",
    ),
    Case(
        76,
        lambda: fp.partitioned(
            pl.DataFrame({"q": [1, 2, 3, 4], "rel": 1, "s": [1.0, 2, None, None]}), partitions=4, progress=False
        ).average_precision("rel", "s", by="q"),
        ValueError,
        "score column 's' has 1 missing of 1 value: unscored='unretrieved'",
    ),
    Case(
        78,
        lambda: run.pr.average_precision("REL", "s"),
        ValueError,
        "truth: no column 'REL' in the frame; did you mean 'rel'?",
    ),
    Case(
        78,
        lambda: run.pr.average_precision("rel", "s", by="q", positives=pl.DataFrame({"Q": ["a", "b"], "n": [3, 3]})),
        ValueError,
        "positives: no column 'q' in the positives frame; did you mean 'Q'?",
    ),
    Case(
        79,
        lambda: run.pr.average_precision(pl.col("rell") > 0, "s"),
        ValueError,
        "truth: no column 'rell' in the frame; did you mean 'rel' or 'pred'?",
    ),
    Case(
        83,
        lambda: run.pr.confusion("rel", "s"),
        ValueError,
        "confusion takes one of threshold=, k=, prediction=; got none",
    ),
    Case(
        83,
        lambda: run.pr.confusion("rel", "s", threshold=0.5, k=2),
        ValueError,
        "confusion takes one of threshold=, k=, prediction=; got threshold=0.5",
    ),
    Case(
        83,
        lambda: run.pr.f_beta("rel", "s", threshold=0.5, k=2),
        ValueError,
        "f_beta takes at most one of threshold=, k=; got threshold=0.5 and k=2",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.kind}-{i}" for i, case in enumerate(CASES)])
def test_messages(case):
    assert_end(case)
