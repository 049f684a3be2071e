"""Draw the artists of a plot of curves: lines, areas, bands, baselines and marks, and set scales and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.metrics.metric import Counts
from frame_pr.metrics.rates import rate_of
from frame_pr.plotting import draw
from frame_pr.plotting.curve_data import (
    BENEFITS,
    Curve,
    CurveOptions,
    benefit,
    has_unit_range,
    quantity_title,
)
from frame_pr.plotting.draw import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 20
"""The most thresholds that have points."""
_EDGES = 100
"""The most rectangles with edges."""
_LONG = 2**14
_CELLS = 2**12
"""Points from which a line is drawn without the points that no pixel shows, and the cells that keep some."""
_MARKERS = "Ds^ov*pX"
_BANDED_CURVES = 4
"""The most mean curves with bands."""
_BASELINES = 4
"""The most baselines with lines. More baselines are a band."""
_NAMED_MARKS = 4
"""The most marks with their threshold next to them."""
_RARE = 0.01
_LOW = 0.1
"""Below this prevalence and these areas, the axis of precision is logarithmic."""
_MANY_RANKS = 1000
"""Ranks from which their axis is logarithmic."""
_SMALLEST_RATE = 1e-7
"""The smallest rate on an axis of normal deviates."""
_DET_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
_ENDS: Mapping[tuple[str, tuple[str, ...]], tuple[Any, Any]] = {
    ("fpr", ("recall",)): ((0, 0), (1, 1)),
    ("share", ("recall",)): ((0, 0), (1, 1)),
    ("fpr", ("fnr",)): ((0, 1), (1, 0)),
}
"""The ends of curves whose random ranking is the line between them: no row, and all rows, predicted positive."""


class Chart(NamedTuple):
    """What all curves of a plot have in common."""

    options: CurveOptions
    style: Style
    line: Mapping[str, Any]
    """The caller's properties of lines."""
    positive: str
    """The positive label, if the caller gave it."""
    scales: tuple[str, str]
    """The scales of both axes; "det" is that of normal deviates."""
    noun: str = "positives"
    """What the positives of a group are: rows, or a sum of weights; "" if their number means nothing."""
    in_panel: bool = False


class Drawn(NamedTuple):
    """A curve as it is drawn."""

    curve: Curve
    label: str
    line: Mapping[str, Any]
    """The properties of its line."""

    @property
    def colour(self) -> Any:
        """Return the colour of the curve and of all that belongs to it."""
        return self.line["color"]


def draw_curves(
    ax: Axes, curves: Sequence[Drawn], chart: Chart, others: Sequence[Curve] = ()
) -> None:
    """Draw curves with their bands, baselines and marks. `others`: thin grey curves behind them."""
    options = chart.options
    style = chart.style
    _set_axes(ax, curves, chart)
    behind = {"color": draw.grey(ax, 0.75), "linewidth": 0.6}
    for other in others:
        draw_line(ax, other, options, {**behind, "zorder": 1.5, "label": "_other"})
    for drawn in curves:
        if options.rectangles or (options.interpolated and not options.mean_over):
            _draw_areas(ax, drawn, options)
        line = {"gid": draw.CURVE, **drawn.line, "label": drawn.label}
        draw_line(ax, drawn.curve, options, line)
    if others:
        draw.add_entry(ax, f"{len(others)} {style.label('others')}", **behind)
    if len(curves) <= _BANDED_CURVES:
        _draw_bands(ax, curves, chart)
    if options.interpolated and not options.mean_over:
        dashed = {"color": draw.grey(ax, 0.5), "linestyle": "--", "linewidth": 1}
        draw.add_entry(ax, style.label("interpolated"), **dashed)
    if options.baseline and len(options.ys) == 1:
        _draw_baselines(ax, curves, others, chart)
    _draw_marks(ax, curves, chart)
    if len(curves) == 1 and not options.interpolated:
        _explain_area(ax, curves[0].curve, chart)
    if not curves:
        draw.write_reason(ax, "no positives")


def draw_line(ax: Axes, curve: Curve, options: CurveOptions, line: dict[str, Any]) -> None:
    """Draw the line of a curve: steps, where a value holds between two thresholds."""
    import numpy as np

    points = curve.points.select(pl.col("x", "y").cast(pl.Float64)).drop_nulls()
    if not points.height:
        return
    start, end = _ENDS.get(options.axes, (None, None))
    drawstyle = "default"
    if options.is_pr:
        # A threshold adds the recall up to its own, as in the sum of the area. Misses above the
        # first hit add none.
        if points["x"][-1] > 0:
            points = points.filter(pl.col("x") > 0)
        start = (0.0, points["y"][0])
        drawstyle = "steps-pre"
    elif options.x == "threshold" and options.ys[0] not in BENEFITS:
        drawstyle = "steps-post"
    if points.height <= _POINTS and line.get("gid") == draw.CURVE:
        line = {"marker": "o", "markersize": 4, **line}
    xy = _visible(*points.to_numpy().T)
    thresholds = slice(0, len(xy))
    if start is not None:
        xy = np.vstack([start, xy])
        thresholds = slice(1, len(xy))
    if end is not None:
        xy = np.vstack([xy, end])
    ax.plot(*xy.T, **{"drawstyle": drawstyle, "markevery": thresholds, **line})


def _visible(x: Any, y: Any) -> Any:
    """Return the points of a line, of a long one four in each of 4096 cells: matplotlib would visit all points.

    They are the first, the lowest, the highest and the last, and a cell is narrower than a pixel.
    Cells also end at logarithmically spaced places, so that a reader may change the scale.
    """
    import numpy as np

    rising = 1 if x[-1] >= x[0] else -1
    if len(x) <= _LONG or (np.diff(x) * rising < 0).any():
        return np.column_stack([x, y])
    starts = _cells(rising * x)
    last = np.append(starts[1:], len(x)) - 1
    extremes = [np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)]
    heights = np.column_stack([y[starts], *extremes, y[last]])
    places = np.column_stack([x[starts], x[starts], x[starts], x[last]])
    return np.column_stack([places.ravel(), heights.ravel()])


def _cells(x: Any) -> Any:
    """Return the places in sorted numbers where cells of the axis begin."""
    import numpy as np

    even = np.searchsorted(x, np.linspace(x[0], x[-1], _CELLS), side="right")
    growing = np.geomspace(1, len(x), _CELLS).astype(np.int64)
    starts = np.unique(np.concatenate([[0], even, growing]))
    return starts[starts < len(x)]


def _draw_areas(ax: Axes, drawn: Drawn, options: CurveOptions) -> None:
    """Fill the rectangles under a curve, and what its envelope adds."""
    import numpy as np

    points = drawn.curve.points.filter(pl.col("x") > 0)
    if points.height > _LONG:
        # Fills keep the last point of each cell.
        starts = _cells(points["x"].to_numpy())
        points = points[np.append(starts[1:], points.height) - 1]
    edges = np.append(0.0, points["x"].to_numpy())
    raw = np.append(points["y"][:1], points["y"])
    top = raw
    fill: dict[str, Any] = {"step": "pre", "color": drawn.colour, "linewidth": 0}
    if options.interpolated:
        top = np.append(points["envelope"][:1], points["envelope"])
        line: dict[str, Any] = {"linestyle": "--", "linewidth": 1, "label": "_envelope"}
        ax.plot(edges, top, drawstyle="steps-pre", color=drawn.colour, **line)
        ax.fill_between(edges, raw, top, alpha=0.15, **fill)
    if options.rectangles:
        ax.fill_between(edges, top, alpha=0.25, **fill)
        # The last point at each recall is at the right end of a rectangle.
        last = np.flatnonzero(np.diff(edges, append=2) > 0)
        if len(last) <= _EDGES:
            heights = top[np.append(1, last[1:])]
            ax.vlines(edges[last], 0, heights, color=drawn.colour, linewidth=0.8, alpha=0.6)


def _explain_area(ax: Axes, curve: Curve, chart: Chart) -> None:
    """Write tp / k into each of few rectangles, and above the axes the sum that is the average precision."""
    left = 0.0
    terms = []
    positives = curve.positives or 1
    for added, tp, k in curve.steps:
        height = f"{tp}/{k}"
        middle = left + added / positives / 2
        ax.text(middle, tp / k / 2, height, ha="center", va="center", fontsize="small")
        left += added / positives
        terms.append(height if added == 1 else f"{added}·{height}")
    if terms and not chart.in_panel and not ax.get_title():
        area = draw.number_text(curve.area or 0, 3)
        title = f"({' + '.join(terms)}) / {positives:g} = {area}"
        draw.title_panel(ax, chart.style, title)


def _draw_bands(ax: Axes, curves: Sequence[Drawn], chart: Chart) -> None:
    """Draw the confidence intervals of mean curves, or of single curves, and say in the legend what they are."""
    options = chart.options
    # The mean at a recall is that of the heights up to it.
    step: Any = "pre" if options.is_pr and options.mean_over else None
    texts = dict[str, None]()
    for drawn in curves:
        curve = drawn.curve
        if curve.band is not None:
            x, low, high = curve.band.drop_nulls().cast(pl.Float64).to_numpy().T
            ax.fill_between(x, low, high, step=step, color=drawn.colour, alpha=0.2, linewidth=0)
            size = "" if curve.rows is None else f", n = {draw.count_text(curve.rows)}"
            texts[f"bootstrap{size}" if options.interval else "of the mean"] = None
    where = chart.style.label(options.x, quantity_title(options.x)).lower()
    for text in texts:
        label = chart.style.label("confidence interval", f"95 % interval at each {where}")
        entry = {"color": draw.grey(ax, 0.5), "linewidth": 6, "alpha": 0.2}
        draw.add_entry(ax, f"{label} ({text})", **entry)


def _draw_baselines(
    ax: Axes, curves: Sequence[Drawn], others: Sequence[Curve], chart: Chart
) -> None:
    """Draw the values of a random ranking, and of alerts on all rows and on none."""
    options = chart.options
    style = chart.style
    y = options.ys[0]
    line: dict[str, Any] = {"color": draw.grey(ax, 0.5), "linestyle": ":", "linewidth": 1}
    every_curve = [*(drawn.curve for drawn in curves), *others]
    # Prevalences that look the same are one line.
    sizes = {
        round(curve.positives / curve.rows, 2) or curve.positives / curve.rows: curve
        for curve in every_curve
        if curve.positives and curve.rows
    }
    if not sizes:
        return
    if options.axes in _ENDS:
        # Many points, so that the line is right on other scales.
        x = [i / 200 for i in range(201)]
        ax.plot(x, x[::-1] if options.is_det else x, label="_baseline", zorder=1, **line)
        label = style.label("random ranking") + " (AUC = 0.5)" * options.is_roc
        draw.add_entry(ax, label, **line)
    elif y in ("precision", "lift"):
        _draw_random_values(ax, sizes, line, chart)
    elif options.x == "threshold" and (y.startswith("cost") or y in BENEFITS):
        for stroke, name, share in ((":", "alert on all rows", 1.0), ("--", "alert on none", 0.0)):
            line["linestyle"] = stroke
            for curve in sizes.values():
                points = _alerts(y, share, curve)
                ax.plot(points["x"], points["y"], label="_baseline", zorder=1, **line)
            draw.add_entry(ax, style.label(name), **line)


def _alerts(y: str, share: float, curve: Curve) -> pl.DataFrame:
    """Return thresholds and the cost or the net benefit of alerts on this share of the rows."""
    positives = pl.lit(float(curve.positives or 0))
    rows = pl.lit(float(curve.rows or 0))
    counts = Counts(positives * share, rows * share, positives, rows)
    x = pl.col("x")
    value = benefit(y, counts, x) if y in BENEFITS else rate_of(y).formula(counts)
    return pl.DataFrame({"x": [i / 300 for i in range(298)]}).with_columns(y=value)


def _draw_random_values(
    ax: Axes, sizes: Mapping[float, Curve], line: dict[str, Any], chart: Chart
) -> None:
    """Draw the precision or the lift of a random ranking: a line for each value, or a band around many."""
    values = [1.0]
    label = chart.style.label("random ranking")
    if chart.options.ys == ["precision"]:
        values = sorted((curve.positives or 0) / (curve.rows or 1) for curve in sizes.values())
        label = chart.style.label("prevalence")
        ends = dict.fromkeys(map(draw.number_text, (values[0], values[-1])))
        if not chart.in_panel:
            label = f"{label} ({' to '.join(ends)})"
    if len(values) > _BASELINES:
        line = {"color": line["color"], "alpha": 0.2}
        ax.axhspan(values[0], values[-1], linewidth=0, zorder=0.5, **line)
        line["linewidth"] = 6
    else:
        for value in values:
            ax.axhline(value, label="_baseline", zorder=1, **line)
    draw.add_entry(ax, label, **line)


def _draw_marks(ax: Axes, curves: Sequence[Drawn], chart: Chart) -> None:
    """Draw the marked points, each mark with its own shape, and the thresholds of a few next to them."""
    options = chart.options
    one = len(curves) == 1 and len(options.ys) == 1 and not chart.in_panel
    few = sum(len(drawn.curve.marks) for drawn in curves) <= _NAMED_MARKS and not chart.in_panel
    explained = set()
    for drawn in curves:
        for mark in drawn.curve.marks:
            shape: dict[str, Any] = {"marker": _MARKERS[mark.number % len(_MARKERS)], "zorder": 4}
            shape |= {"linestyle": "", "markersize": 7, "markeredgecolor": ax.get_facecolor()}
            ax.plot([mark.x], [mark.y], label="_mark", gid="mark", color=drawn.colour, **shape)
            if few and options.x != "threshold":
                shift = (0.6, 0.3 + 1.1 * (mark.number % 3))
                at: dict[str, Any] = {
                    "xytext": shift,
                    "textcoords": "offset fontsize",
                    "fontsize": "small",
                }
                ax.annotate(mark.threshold, (mark.x, mark.y), **at)
            text = f"{mark.text}{mark.value}" if one or options.x == "threshold" else mark.text
            if text not in explained:
                color = drawn.colour if one else draw.grey(ax, 0.35)
                draw.add_entry(ax, text, color=color, **shape)
                if options.x == "threshold":
                    guide: dict[str, Any] = {"linewidth": 0.8, "zorder": 1, "label": "_guide"}
                    ax.axvline(mark.x, color=draw.grey(ax, 0.5), **guide)
            explained.add(text)


def _set_axes(ax: Axes, curves: Sequence[Drawn], chart: Chart) -> None:
    """Set scales, and limits with room for a line along the edges. A reader may change them."""
    from matplotlib.ticker import StrMethodFormatter

    options = chart.options
    axes: tuple[Any, Any] = (ax.xaxis, ax.yaxis)
    for axis, scale, names in zip(axes, chart.scales, ([options.x], options.ys), strict=True):
        if scale == "det":
            _set_deviates(ax, axis)
            continue
        ax.set(**{f"{axis.axis_name}scale": scale})
        if scale == "log" and options.x == "k":
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        elif scale == "linear" and all(map(has_unit_range, names)):
            # The limits stay automatic, so that another scale finds its own.
            is_x = axis is ax.xaxis
            ax.update_datalim([(0, 0), (1, 1)], updatex=is_x, updatey=not is_x)
            margins: dict[str, Any] = {axis.axis_name: 0.02}
            ax.margins(**margins)
            draw.fewer_ticks(axis, 3 if chart.in_panel else 6)
    if options.ys[0] in BENEFITS:
        # At high thresholds, alerts on all rows have benefits far below 0.
        tops: list[Any] = [drawn.curve.points["y"].max() or 0.0 for drawn in curves]
        top = max([*tops, 0.0]) or 1.0
        ax.set_ylim(-0.15 * top, 1.08 * top)


def _set_deviates(ax: Axes, axis: Any) -> None:
    """Show a rate on the axis of its normal deviates, as DET curves do."""
    import numpy as np
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    normal = NormalDist()
    deviates = np.vectorize(normal.inv_cdf, otypes=[float])
    rates = np.vectorize(normal.cdf, otypes=[float])

    def deviate(rate: Any) -> Any:
        return deviates(np.clip(rate, _SMALLEST_RATE, 1 - _SMALLEST_RATE))

    set_scale = {"x": ax.set_xscale, "y": ax.set_yscale}[axis.axis_name]
    set_scale("function", functions=(deviate, rates))
    ax.set(**{f"{axis.axis_name}lim": (_DET_TICKS[0], _DET_TICKS[-1])})
    axis.set_major_locator(FixedLocator(_DET_TICKS))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FixedFormatter([f"{100 * tick:g} %" for tick in _DET_TICKS]))


def scales_of(curves: Sequence[Curve], options: CurveOptions) -> tuple[str, str]:
    """Return the scales of both axes.

    That of ranks is logarithmic if they are many or have means, of which the first ten are of most
    interest, and that of precision for rare positives, which a line would hide.
    """
    if options.is_det:
        return "det", "det"
    last: list[Any] = [curve.points["x"].max() or 0 for curve in curves]
    scales = {False: "linear", True: "log"}
    is_many = bool(options.mean_over) or max(last, default=0) > _MANY_RANKS
    is_rare = bool(curves) and all(map(_is_rare, curves))
    return scales[options.x == "k" and is_many], scales[options.is_pr and is_rare]


def _is_rare(curve: Curve) -> bool:
    """Return whether precision is so low that a line would hide it."""
    if not curve.positives or not curve.rows or curve.area is None:
        return False
    return curve.positives < _RARE * curve.rows and curve.area < _LOW
