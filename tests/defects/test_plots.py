"""Wrong calls of plots: kinds 53 to 65."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from defect_frames import Case, assert_end, pdf, run

import frame_pr as fp

pytest.importorskip("matplotlib").use("agg")
CASES = [
    Case(
        53,
        lambda: fp.plot(run.with_columns(q=pl.Series(["$^$", "$^$", "b", "b", "b"])), "rel", "s", by="q"),
        None,
        None,
    ),
    Case(
        53,
        lambda: fp.plot(run, "rel", "s", label="$^$"),
        ValueError,
        "label is no mathematics that matplotlib can draw: '$^$'; a dollar is \\$",
    ),
    Case(53, lambda: fp.plot(run.rename({"q": "$^$"}), "rel", "s", by="$^$"), None, None),
    Case(
        56,
        lambda: fp.plot(run, "rel", "s", thresholds=0.5),
        TypeError,
        "plot has no argument 'thresholds'; did you mean threshold=?",
    ),
    Case(
        56,
        lambda: fp.plot(run, "rel", "s", lines=2),
        TypeError,
        "plot has no argument 'lines'; further keywords are properties of",
    ),
    Case(
        56,
        lambda: fp.plot(run, "rel", "s", recalls=0.5),
        TypeError,
        "plot has no argument 'recalls'; did you mean recall=?",
    ),
    Case(
        57,
        lambda: fp.plot(run, "rel", "s", alpha="x"),
        TypeError,
        "alpha='x' is no value of this property of matplotlib's lines: alpha",
    ),
    Case(
        57,
        lambda: fp.plot(run, "rel", "s", linewidth=[1]),
        TypeError,
        "linewidth=[1] is no value of this property of matplotlib's lines:",
    ),
    Case(57, lambda: fp.plot(run, "rel", "s", lw=None), None, None),
    Case(
        58,
        lambda: fp.plot(run, "rel", "s", color="x"),
        ValueError,
        "color='x' is no value of this property of matplotlib's lines: 'x' is",
    ),
    Case(
        58,
        lambda: fp.plot(run, "rel", "s", linewidth="x"),
        ValueError,
        "linewidth='x' is no value of this property of matplotlib's lines: could",
    ),
    Case(
        58,
        lambda: fp.plot(run, "rel", "s", zorder="x").figure.canvas.draw(),
        TypeError,
        "zorder='x' is no value of this property of matplotlib's lines: zorder",
    ),
    Case(
        59,
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
        60,
        lambda: fp.plot(run, "rel", "s", mark="max_f1.1.1"),
        ValueError,
        "mark must be the name of a best point, such as 'max_f1' or 'max_f0.5',",
    ),
    Case(
        60,
        lambda: fp.plot(run, "rel", "s", mark="max_f."),
        ValueError,
        "mark must be the name of a best point, such as 'max_f1' or 'max_f0.5',",
    ),
    Case(61, lambda: fp.plot(run, "rel", "s", threshold_labels=np.int64(3)), None, None),
    Case(
        61,
        lambda: fp.plot(run, "rel", "s", by="q", max_groups=True),
        TypeError,
        "max_groups must be a whole number of at least 1, got True",
    ),
    Case(61, lambda: fp.partitioned(run, partitions=np.int64(3)), None, None),
    Case(61, lambda: run.pr.average_precision("rel", "s", undefined=np.int64(0)), None, [(0.7,)]),
    Case(
        62,
        lambda: fp.plot(run, "rel", "s", by="q", facet=pl.col("q")),
        TypeError,
        "facet takes True, or names of columns of by; got a polars expression",
    ),
    Case(
        62, lambda: fp.plot(run, "rel", "s", by="q", average=np.array(["q", "q"])), ValueError, "average has 'q' twice"
    ),
    Case(
        63,
        lambda: fp.plot(run, "rel", "s", by="q", facet="Q"),
        ValueError,
        "facet names 'Q', which is not one of the keys: q; did you mean 'q'?",
    ),
    Case(
        64,
        lambda: fp.plot_curve(run.pr.curve("rel", "s").cast({"k": pl.String})),
        TypeError,
        "column 'k' is String: plot_curve draws a frame as curve gave it",
    ),
    Case(
        64,
        lambda: fp.plot_curve(run.pr.curve("rel", "s").cast({"precision": pl.String})),
        TypeError,
        "column 'precision' is String: plot_curve draws a frame as curve gave it",
    ),
    Case(
        64,
        lambda: fp.plot_curve(run.pr.curve("rel", "s").with_columns(k=pl.lit(None, dtype=pl.Int64)), mark="max_f1"),
        ValueError,
        "column 'k' has 5 missing: plot_curve draws a frame as curve gave it",
    ),
    Case(65, lambda: fp.plot(run.with_columns(q=pl.concat_list("q")), "rel", "s", by="q"), None, None),
    Case(65, lambda: fp.plot(pdf.assign(q=pd.interval_range(0, 5)), "rel", "s", by="q"), None, None),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.kind}-{i}" for i, case in enumerate(CASES)])
def test_plots(case):
    assert_end(case)
