"""Many curves, of which some are named: the others are thin and grey behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from frame_pr.frames.wording import did_you_mean, nearest, shown
from frame_pr.plotting.axes_and_names import written
from frame_pr.plotting.colours import grey
from frame_pr.plotting.curve_frames import Average, DrawnCurve
from frame_pr.plotting.lines import draw_curve, explain
from frame_pr.plotting.options import PlotOptions
from frame_pr.plotting.texts import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THIN = 0.6


def highlighted(
    drawn: Sequence[DrawnCurve | Average], lines: Sequence[str], options: PlotOptions
) -> tuple[list[DrawnCurve | Average], list[DrawnCurve]]:
    """Those that have a colour and a name, the best or the first that was asked for first; and the others."""
    wanted = options.highlight
    if wanted is None:
        return list(drawn), []
    curves = [each for each in drawn if isinstance(each, DrawnCurve)]
    names = [written(name_of(curve.key, lines)) for curve in curves]
    if isinstance(wanted, int):
        if options.area is None:
            raise ValueError(
                f"highlight={wanted} takes the best and the worst by the area under them, and of these axes there is "
                "none: give names"
            )
        metric = options.area[1]
        ranked = sorted(
            (i for i, curve in enumerate(curves) if curve.numbers[metric] is not None),
            key=lambda i: curves[i].numbers[metric],
            reverse=True,
        )
        chosen = [*ranked[:wanted], *ranked[max(wanted, len(ranked) - wanted) :]]
    else:
        for name in wanted:
            if name not in names:
                near = nearest(name, names)
                hint = did_you_mean(near) if near else f"there are {', '.join(names)}"[:200]
                raise ValueError(f"highlight: {shown(name)} is none of the curves; {hint}")
        chosen = [names.index(name) for name in wanted]
    return [curves[i] for i in chosen], [curve for i, curve in enumerate(curves) if i not in chosen]


def draw_others(ax: Axes, others: Sequence[DrawnCurve], options: PlotOptions) -> None:
    """Behind all that has a name."""
    if not others:
        return
    plain = replace(options, rectangles=False, interpolated=False, points=None, k=None)
    look = {"color": grey(ax, 0.7), "linewidth": _THIN, "zorder": 1.5}
    for each in others:
        draw_curve(ax, each, "_other", plain, {**look, "marker": ""})
    explain(ax, f"{len(others)} other{'s' * (len(others) > 1)}", **look)
