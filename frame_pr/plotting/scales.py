"""Scales, limits and ticks of the axes of curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from frame_pr.plotting.axis_quantities import axis_quantity
from frame_pr.plotting.curve_artists import named_curves
from frame_pr.plotting.curve_data import Average, DrawnCurve
from frame_pr.plotting.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOGARITHMIC = 1000
"""Ranks from which on their axis is logarithmic."""
_RARE, _LOW = 0.01, 0.1
"""A prevalence and an average precision below which curves lie on the floor of a linear axis."""
_LOGIT_TICKS = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
_SMALL = 1.7
"""Inches of axes with few ticks."""


def set_axes(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve | Average]) -> None:
    """Set scales, limits with room for a line along the edges, and ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    box = ax.get_window_extent()
    few = min(box.width, box.height) / ax.figure.dpi < _SMALL
    for name, quantity in (("x", options.x), ("y", options.ys[0])):
        axis = ax.xaxis if name == "x" else ax.yaxis
        unit_range, scale = axis_quantity(quantity).unit_range, scale_of(name, options, curves)
        if scale is not None:
            ax.set(**{f"{name}scale": scale})
        if axis.get_scale() != "linear":
            if unit_range:
                ax.set(**{f"{name}lim": _limits(name, axis.get_scale(), curves)})
            if axis.get_scale() == "logit":
                axis.set_major_locator(FixedLocator(_LOGIT_TICKS))
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axis.set_minor_locator(NullLocator())
            continue
        if unit_range:
            ax.set(**{f"{name}lim": (-0.02, 1.02)})
        # No list of ticks: the caller may zoom in.
        axis.set_major_locator(MaxNLocator(3 if few else 6, steps=[1, 2, 5, 10]))
        if few and unit_range:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def scale_of(name: str, options: PlotOptions, curves: Sequence[DrawnCurve | Average]) -> str | None:
    """The scale of an axis: that of the caller, or a logarithmic one for many ranks and for rare positives."""
    asked = options.scales[name == "y"]
    if asked is not None:
        return asked
    if name == "x" and options.x == "k":
        last = [(curve.strips["recall"] if isinstance(curve, Average) else curve.blocks["k"]).max() for curve in curves]
        many = any(isinstance(rank, (int, float)) and rank >= _LOGARITHMIC for rank in last)
        return "log" if many else None
    if name == "y" and options.is_pr and not (options.rectangles or options.interpolated):
        areas = [curve.mean if isinstance(curve, Average) else curve.numbers[options.areas[0]] for curve in curves]
        defined = [area for area in areas if area is not None]
        rare = all((curve.numbers["prevalence"] or 0) < _RARE for curve in curves)
        return "log" if rare and defined and max(defined) < _LOW else None
    return None


def _limits(name: str, scale: str, curves: Sequence[DrawnCurve | Average]) -> tuple[float, float]:
    """The range of what is above 0; on a logit scale, of what is below 1, too."""
    values = [
        (curve.strips[{"x": "recall", "y": "precision"}[name]] if isinstance(curve, Average) else curve.blocks[name])
        for curve in curves
    ]
    floor, ceiling = 1.0, 0.0
    for series in values:
        inside = series.cast(pl.Float64).filter((series > 0) & (series < 1))
        if inside.len():
            floor, ceiling = min(floor, float(inside.min())), max(ceiling, float(inside.max()))  # type: ignore[arg-type]
    low = 10 ** math.floor(math.log10(0.9 * min(floor, 0.1)))
    if scale == "log":
        return low, 1.1
    return low, 1 - 10 ** math.floor(math.log10(max(1e-9, min(1 - ceiling, 0.1))))


def fit_heights(ax: Axes, options: PlotOptions) -> None:
    """Limits of a y axis without an upper end: those of the curves, whatever lines of reference do."""
    if options.scales[1] not in (None, "linear"):
        return
    tops = [line.get_ydata() for line in named_curves(ax)]
    top = max((float(y[y == y].max()) for y in tops if len(y) and (y == y).any()), default=1.0) or 1.0
    below = axis_quantity(options.ys[0]).at is not None
    ax.set_ylim(-0.1 * top if below else 0, 1.05 * top)
