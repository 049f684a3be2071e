"""Wrong calls of functions, on columns that are right: each with its error, or with the right numbers."""

import numpy as np
import polars as pl
import pytest
from call_cases import Case, assert_end, run

CASES = [
    Case(
        lambda: run.pr.average_precision(pl.col("rel").head(1), "s"),
        ValueError,
        "truth: this expression gives 1 value for 5 rows, not one value for",
    ),
    Case(
        lambda: pl.DataFrame({"^s$": [0.1, 0.9], "rel": [1, 0], "s": [0.9, 0.1]}).pr.average_precision("rel", "^s$"),
        None,
        [(0.5,)],
    ),
    Case(lambda: pl.DataFrame({"^s$": [0.1, 0.9], "rel": [1, 0]}).pr.average_precision("rel", "^s$"), None, [(0.5,)]),
    Case(
        lambda: pl.DataFrame({"rel": [1] * 100, "s": range(100)}).pr.evaluate(
            "k@recall=0.5" + "0" * 35 + "1", "rel", "s"
        ),
        None,
        [(51,)],
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", descending=False),
        TypeError,
        "unexpected keyword argument 'descending'; ascending=True ranks lower scores first",
    ),
    Case(lambda: run.pr.precision_at_k("rel", "s", k=b"5"), TypeError, "k takes a number, or several; got b'5'"),
    Case(lambda: run.pr.precision_at_k("rel", "s", k={1: "x"}), TypeError, "k takes a number, or several; got a dict"),
    Case(
        lambda: run.pr.f_beta("rel", "s", threshold=b"5"),
        TypeError,
        "threshold takes a number, or several; got b'5'",
    ),
    Case(lambda: run.rename({"s": "^.*$"}).pr.average_precision("rel", "^.*$"), None, [(0.7,)]),
    Case(
        lambda: run.pr.average_precision("rel", pl.col("s").filter(pl.col("rel") > 0)),
        ValueError,
        "score: this expression gives 3 values for 5 rows, not one value for",
    ),
    Case(
        lambda: run.pr.with_metrics("average_precision", "rel", "s", prefix=None),
        TypeError,
        "prefix must be text, got None",
    ),
    Case(
        lambda: run.pr.with_curve("rel", "s", prefix=np.int64(1)),
        TypeError,
        f"prefix must be text, got {np.int64(1)!r}",
    ),
    Case(lambda: run.pr.curve("rel", "s", rates=None), TypeError, "rates takes names of metrics; got None"),
    Case(lambda: run.pr.curve("rel", "s", rates=["f1", "f1"]), ValueError, "rates has 'f1' twice"),
    Case(lambda: run.pr.curve("rel", "s", rates=[["f1"]]), TypeError, "rates takes names of metrics; got ['f1']"),
    Case(
        lambda: run.pr.interpolated_average_precision("rel", "s", points=np.array([11, 101])),
        TypeError,
        "points must be 11 or 101, or None, got a numpy ndarray",
    ),
    Case(lambda: run.pr.precision_at_k("rel", "s", np.array(2)), None, [(0.5,)]),
    Case(lambda: run.pr.f_beta("rel", "s", threshold=np.array(0.5)), None, [(0.75,)]),
    Case(lambda: run.pr.evaluate("precision@recall=1e-9999", "rel", "s"), None, [(1.0,)]),
    Case(
        lambda: run.pr.evaluate("precision@" + "9" * 5000, "rel", "s"),
        ValueError,
        "no metric is named 'precision@99999999999999999999' and so on: 5010",
    ),
    Case(
        lambda: run.pr.evaluate(run, "rel", "s"),
        TypeError,
        "metrics takes names of metrics; got a polars DataFrame",
    ),
    Case(
        lambda: run.pr.evaluate(b"average_precision", "rel", "s"),
        TypeError,
        "metrics takes names of metrics; got b'average_precision'",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", metrics="x"),
        TypeError,
        "unexpected keyword argument 'metrics'; evaluate takes names of metrics",
    ),
    Case(
        lambda: run.pr.curve("rel", "s", zero_division=0),
        TypeError,
        "unexpected keyword argument 'zero_division'; what has no value stays null",
    ),
    Case(
        lambda: run.pr.average_precision("rel", "s", lower_is_better=True),
        TypeError,
        "unexpected keyword argument 'lower_is_better'; ascending=True ranks lower",
    ),
    Case(lambda: run.pr.f_beta("rel", "s", beta=1e-5), None, [(pytest.approx(1), 0.9)]),
    Case(
        lambda: run.pr.average_precision("rel", True),
        TypeError,
        "score takes the name of a column, or several; got True",
    ),
    Case(
        lambda: run.pr.average_precision("rel", b"s"),
        TypeError,
        "score takes the name of a column, or several; got b's'",
    ),
    Case(
        lambda: run.pr.average_precision(pl.when(pl.col("rel") > 0), "s"),
        TypeError,
        "truth takes the name of one column; got a polars When: finish it with",
    ),
    Case(
        lambda: run.pr.average_precision((c for c in ["rel"]), "s"),
        TypeError,
        "truth takes the name of one column; got a generator",
    ),
    Case(
        lambda: run.pr.average_precision("REL", "s"),
        ValueError,
        "truth: no column 'REL' in the frame; did you mean 'rel'?",
    ),
    Case(
        lambda: run.pr.average_precision(pl.col("rell") > 0, "s"),
        ValueError,
        "truth: no column 'rell' in the frame; did you mean 'rel'?",
    ),
    Case(
        lambda: run.pr.confusion("rel", "s"),
        ValueError,
        "confusion takes one of threshold=, k=, prediction=; got none",
    ),
    Case(
        lambda: run.pr.confusion("rel", "s", threshold=0.5, k=2),
        ValueError,
        "confusion takes one of threshold=, k=, prediction=; got threshold=0.5",
    ),
    Case(
        lambda: run.pr.f_beta("rel", "s", threshold=0.5, k=2),
        ValueError,
        "f_beta takes at most one of threshold=, k=; got threshold=0.5 and k=2",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)
