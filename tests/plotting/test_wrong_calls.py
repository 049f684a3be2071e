"""Wrong calls of plots: each with its error, or with the right numbers."""

import pytest
from call_cases import Case, assert_end, run

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
]


@pytest.mark.parametrize("case", CASES, ids=map(str, range(len(CASES))))
def test_wrong_calls(case):
    assert_end(case)
