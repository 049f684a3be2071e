"""Wrong calls that gave a number and no error: kinds 1 to 16."""

import datetime

import polars as pl
import pytest
from defect_frames import Case, S, assert_end, parts, run

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
CASES = [
    Case(
        1,
        lambda: run.select(pl.col("s").mean().pr.average_precision("rel")),
        ValueError,
        "score 's' gives 1 value for 5 rows: leave out the aggregation, or end",
    ),
    Case(
        1,
        lambda: run.select(pl.lit(1).pr.average_precision("rel")),
        ValueError,
        "score 'literal' gives 1 value for 5 rows: leave out the aggregation, or",
    ),
    Case(
        2,
        lambda: run.select(S.average_precision(pl.col("rel").head(1))),
        ValueError,
        "truth 'rel' gives 1 value for 5 rows: it must give one for every row",
    ),
    Case(
        2,
        lambda: run.pr.average_precision(pl.col("rel").head(1), "s"),
        ValueError,
        "truth: this expression gives 1 value for 5 rows, not one value for",
    ),
    Case(
        3,
        lambda: pl.DataFrame({"^s$": [0.1, 0.9], "rel": [1, 0], "s": [0.9, 0.1]}).pr.average_precision("rel", "^s$"),
        None,
        [(0.5,)],
    ),
    Case(
        3, lambda: pl.DataFrame({"^s$": [0.1, 0.9], "rel": [1, 0]}).pr.average_precision("rel", "^s$"), None, [(0.5,)]
    ),
    Case(
        4,
        lambda: parts.average_precision(["pred", "rel"], "s", by="q"),
        TypeError,
        "truth takes the name of one column; got a list",
    ),
    Case(
        4,
        lambda: run.pr.average_precision(["pred", "rel"], "s", by="q"),
        TypeError,
        "truth takes the name of one column; got a list",
    ),
    Case(
        5,
        lambda: pl.DataFrame({"rel": [1] * 100, "s": range(100)}).pr.evaluate(
            "k@recall=0.5" + "0" * 35 + "1", "rel", "s"
        ),
        None,
        [(51,)],
    ),
    Case(
        6,
        lambda: pl.DataFrame({"rel": [1, 0], "s": [1, 1], "d": ["a", "b"]}).pr.average_precision(
            "rel", "s", tie_break="d", descending="ascending"
        ),
        TypeError,
        "unexpected keyword argument 'descending'; say ascending=True where a",
    ),
    Case(
        7,
        lambda: run.pr.average_precision("rel", "s", descending=False),
        TypeError,
        "unexpected keyword argument 'descending'; say ascending=True where a",
    ),
    Case(8, lambda: run.pr.precision_at_k("rel", "s", k=b"5"), TypeError, "k takes a number, or several; got b'5'"),
    Case(
        8, lambda: run.pr.precision_at_k("rel", "s", k={1: "x"}), TypeError, "k takes a number, or several; got a dict"
    ),
    Case(
        8,
        lambda: run.pr.f_beta("rel", "s", threshold=b"5"),
        TypeError,
        "threshold takes a number, or several; got b'5'",
    ),
    Case(
        9,
        lambda: run.pr.average_precision("rel", "s", by="lab", undefined=True),
        TypeError,
        "undefined must be a number, or None for null, got True",
    ),
    Case(
        10,
        lambda: run.pr.average_precision("rel", "s", by=pl.all()).height,
        ValueError,
        "column 'rel' is given twice: by, truth and score are all different columns",
    ),
    Case(
        10,
        lambda: run.pr.average_precision("rel", "s", by=["rel", "s"]),
        ValueError,
        "column 'rel' is given twice: by, truth and score are all different columns",
    ),
    Case(
        11,
        lambda: run.pr.average_precision("rel", "s", positive=datetime.date(1970, 1, 2)),
        TypeError,
        "positive=datetime.date(1970, 1, 2) cannot be a value of column 'rel',",
    ),
    Case(
        11,
        lambda: pl.DataFrame({"t": [{"a": 1}, {"a": 0}], "s": [2, 1]}).pr.average_precision("t", "s", positive=1),
        TypeError,
        "positive=1 cannot be a value of column 't', which is Struct({'a':",
    ),
    Case(
        12,
        lambda: (
            fp.plot(run, "rel", "s", rectangles="no", baseline="off", label=[0]).get_legend().get_texts()[0].get_text()
        ),
        TypeError,
        "rectangles must be True or False, got 'no'",
    ),
    Case(
        13,
        lambda: (
            fp.plot(run, "rel", "s", by="q", facet=True, label="mine").axes[0].get_legend().get_texts()[0].get_text()
        ),
        ValueError,
        "label= names one curve, and facet= draws several: leave it out",
    ),
    Case(
        13,
        lambda: fp.plot(run, "rel", "s", beta=2),
        ValueError,
        "beta= is that of the contours: give iso_f=, too; mark='max_f2' marks",
    ),
    Case(
        14,
        lambda: run.pr.confusion("rel", prediction="pred", tie_break="lab").width,
        ValueError,
        "tie_break=: confusion does not take it with prediction=; predicted classes have no ranking",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.kind}-{i}" for i, case in enumerate(CASES)])
def test_silence(case):
    assert_end(case)
