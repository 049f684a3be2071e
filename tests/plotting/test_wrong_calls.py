"""Wrong calls of plots: each with its error, or with the right numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from call_cases import Case, assert_end, pdf, run

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
CASES = [
    Case(
        lambda: (
            fp.plot(run, "rel", "s", rectangles="no", baseline="off", label=[0]).get_legend().get_texts()[0].get_text()
        ),
        TypeError,
        "rectangles must be True or False, got 'no'",
    ),
    Case(
        lambda: (
            fp.plot(run, "rel", "s", by="q", facet=True, label="mine").axes[0].get_legend().get_texts()[0].get_text()
        ),
        ValueError,
        "label= names one curve, and facet= draws several: leave it out",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", beta=2),
        ValueError,
        "beta= is that of the contours: give iso_f=, too; mark='max_f2' marks",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", k=10**400),
        ValueError,
        "k must be below 2**62, got a whole number of more than 40 digits",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", pos_label=1),
        TypeError,
        "plot has no argument 'pos_label'; did you mean positive=?",
    ),
    Case(
        lambda: fp.plot(run.with_columns(q=pl.Series(["$^$", "$^$", "b", "b", "b"])), "rel", "s", by="q"),
        None,
        None,
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", label="$^$"),
        ValueError,
        "label is no mathematics that matplotlib can draw: '$^$'; a dollar is \\$",
    ),
    Case(lambda: fp.plot(run.rename({"q": "$^$"}), "rel", "s", by="$^$"), None, None),
    Case(
        lambda: fp.plot(run, "rel", "s", thresholds=0.5),
        TypeError,
        "plot has no argument 'thresholds'; did you mean threshold=?",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", lines=2),
        TypeError,
        "plot has no argument 'lines'; further keywords are properties of",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", recalls=0.5),
        TypeError,
        "plot has no argument 'recalls'; did you mean recall=?",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", alpha="x"),
        TypeError,
        "alpha='x' is no value of this property of matplotlib's lines: alpha",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", linewidth=[1]),
        TypeError,
        "linewidth=[1] is no value of this property of matplotlib's lines:",
    ),
    Case(lambda: fp.plot(run, "rel", "s", lw=None), None, None),
    Case(
        lambda: fp.plot(run, "rel", "s", color="x"),
        ValueError,
        "color='x' is no value of this property of matplotlib's lines: 'x' is",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", linewidth="x"),
        ValueError,
        "linewidth='x' is no value of this property of matplotlib's lines: could",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", zorder="x").figure.canvas.draw(),
        TypeError,
        "zorder='x' is no value of this property of matplotlib's lines: zorder",
    ),
    Case(
        lambda: fp.plot(
            pl.DataFrame(
                {"p": [0, 1] * 60, "l": [i // 10 for i in range(120)], "rel": [0, 1, 1, 0] * 30, "s": range(120)}
            ),
            "rel",
            "s",
            by=["p", "l"],
            facet="p",
            max_groups=99,
        ),
        ValueError,
        "12 curves in one panel are more than can be told apart (10): choose",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", mark="max_f1.1.1"),
        ValueError,
        "mark must be the name of a best point, such as 'max_f1', 'max_mcc' or 'min_cost10',",
    ),
    Case(
        lambda: fp.plot(run, "rel", "s", mark="max_f."),
        ValueError,
        "mark must be the name of a best point, such as 'max_f1', 'max_mcc' or 'min_cost10',",
    ),
    Case(lambda: fp.plot(run, "rel", "s", threshold_labels=np.int64(3)), None, None),
    Case(
        lambda: fp.plot(run, "rel", "s", by="q", max_groups=True),
        TypeError,
        "max_groups must be a whole number of at least 1, got True",
    ),
    Case(lambda: fp.partitioned(run, partitions=np.int64(3)), None, None),
    Case(lambda: run.pr.average_precision("rel", "s", undefined=np.int64(0)), None, [(0.7,)]),
    Case(
        lambda: fp.plot(run, "rel", "s", by="q", facet=pl.col("q")),
        TypeError,
        "facet takes True, or names of columns of by; got a polars expression",
    ),
    Case(lambda: fp.plot(run, "rel", "s", by="q", average=np.array(["q", "q"])), ValueError, "average has 'q' twice"),
    Case(
        lambda: fp.plot(run, "rel", "s", by="q", facet="Q"),
        ValueError,
        "facet names 'Q', which is not one of the keys: q; did you mean 'q'?",
    ),
    Case(
        lambda: fp.plot_curve(run.pr.curve("rel", "s").cast({"k": pl.String})),
        TypeError,
        "column 'k' is String: plot_curve draws a frame as curve gave it",
    ),
    Case(
        lambda: fp.plot_curve(run.pr.curve("rel", "s").cast({"precision": pl.String})),
        TypeError,
        "column 'precision' is String: plot_curve draws a frame as curve gave it",
    ),
    Case(
        lambda: fp.plot_curve(run.pr.curve("rel", "s").with_columns(k=pl.lit(None, dtype=pl.Int64)), mark="max_f1"),
        ValueError,
        "column 'k' has 5 missing: plot_curve draws a frame as curve gave it",
    ),
    Case(lambda: fp.plot(run.with_columns(q=pl.concat_list("q")), "rel", "s", by="q"), None, None),
    Case(lambda: fp.plot(pdf.assign(q=pd.interval_range(0, 5)), "rel", "s", by="q"), None, None),
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)
