"""Curves that lie on each other."""

import numpy as np
import polars as pl
import pytest
from pictures import axes, curves, random_run

import frame_pr as fp

TRUTH = [1] * 6 + [0, 1] * 3 + [0] * 8
SAME = [20 - i for i in range(6)]


def hidden(ax):
    return [line for line in ax.get_lines() if line.get_label() == "_below"]


def tail(*ranks: int) -> list[int]:
    """Scores of the last fourteen rows, in another order."""
    return [14 - rank for rank in ranks]


# The first six rows are positives in each system, which gives precision 1 up to recall 6/9; the rest is ordered anew.
RUN = pl.DataFrame(
    {
        "truth": TRUTH,
        "a": SAME + tail(*range(14)),
        "b": SAME + tail(*reversed(range(14))),
        "c": SAME + tail(*range(7, 14), *range(7)),
    }
)


def test_what_is_hidden_is_wider_and_below():
    ax = fp.plot(RUN, "truth", ["a", "b"], ax=axes())
    (below,) = hidden(ax)
    first, last = curves(ax)
    assert below.get_color() == first.get_color()
    assert below.get_linewidth() > last.get_linewidth()
    assert below.get_zorder() < first.get_zorder()
    x, y = below.get_data()
    # To within two pixels of some 300. At recall 6/9, both fall.
    assert (np.nanmin(x), np.nanmax(x)) == pytest.approx((0, 6 / 9), abs=0.01)
    assert y[x < 6 / 9 - 0.01] == pytest.approx(1, abs=0.01)


def test_of_three_curves_each_is_seen():
    ax = fp.plot(RUN, "truth", ["a", "b", "c"], ax=axes())
    widths = {line.get_color(): (line.get_linewidth(), -line.get_zorder()) for line in hidden(ax)}
    a, b, _ = (line.get_color() for line in curves(ax))
    assert widths[a] > widths[b]


def test_a_second_call_on_the_axes():
    ax = fp.plot(RUN, "truth", "a", ax=axes())
    assert not hidden(ax)
    fp.plot(RUN, "truth", "b", ax=ax)
    assert [line.get_color() for line in hidden(ax)] == [curves(ax)[0].get_color()]
    fp.plot(RUN, "truth", "c", ax=ax)
    assert {line.get_color() for line in hidden(ax)} == {line.get_color() for line in curves(ax)[:2]}


def test_crossings_are_not_hidden():
    run = random_run(rows=2000).with_columns(other=-pl.col("score"))
    assert not hidden(fp.plot(run, "relevant", ["score", "other"], ax=axes()))


def test_in_panels():
    figure = fp.plot(RUN.with_columns(g=1), "truth", ["a", "b"], by="g", facet=True)
    assert len(hidden(figure.axes[0])) == 1
