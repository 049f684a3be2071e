"""Curves that lie on each other: what a later one hides of an earlier one is drawn wider, below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_pr.plotting.room import BASELINE, along, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE = "_curve"
"""Label of curves that the legend does not name one by one."""
_BELOW = "_below"
_SHORT = 0.08
"""Of the axes' width: curves that lie on each other for less cross, or meet at an end."""
_WIDER = 2
"""Points by which the lower line is seen on both sides, together."""
_MOST = 7
"""Curves beyond which they hide each other everywhere."""
_ROW = 1 << 20


def show_hidden(ax: Axes) -> None:
    """Below each curve, those before it that it hides for some way along the axis."""
    import numpy as np

    for line in [line for line in ax.get_lines() if line.get_label() == _BELOW]:
        line.remove()
    curves = [
        line
        for line in ax.get_lines()
        if line.get_gid() is None
        and (line.get_label() == CURVE or not str(line.get_label()).startswith(("_", BASELINE)))
    ]
    if not 1 < len(curves) <= _MOST:
        return
    axes, cell = extent(ax), ax.figure.dpi / 100
    later = np.empty(0, np.int64)
    around = np.add.outer([-_ROW, 0, _ROW], [-1, 0, 1]).ravel()
    for number, line in enumerate(reversed(curves)):
        points = along(ax, line, every=1)
        cells = np.floor(points / cell).astype(np.int64) @ [_ROW, 1]
        above = np.searchsorted(later, cells, side="right") - np.searchsorted(later, cells)
        later = np.sort(np.concatenate([later, np.unique(np.add.outer(np.unique(cells), around))]))
        for layers in range(1, int(above.max(initial=0)) + 1):
            ends = np.flatnonzero(np.diff(above >= layers, prepend=False, append=False))
            stretches = [points[start:end] for start, end in ends.reshape(-1, 2)]
            # Along the axis only: at the left edge of most pictures, steps up and down lie on each other.
            long = [one for one in stretches if np.ptp(one[:, 0]) >= _SHORT * (axes.right - axes.left)]
            if not long:
                break
            # Not a number ends a stretch.
            parts = [np.vstack([ax.transData.inverted().transform(one), [[np.nan, np.nan]]]) for one in long]
            (below,) = ax.plot(*np.concatenate(parts).T, color=line.get_color(), alpha=line.get_alpha(), label=_BELOW)
            below.set(linewidth=line.get_linewidth() + _WIDER * layers, zorder=line.get_zorder() - 0.01 * number)
            below.set(solid_capstyle="butt", solid_joinstyle="miter")
