"""Draw the artists of a plot of curves, and set scales and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.plotting import draw
from frame_pr.plotting.curve_data import (
    BENEFITS,
    Curve,
    CurveOptions,
    cells,
    has_unit_range,
    quantity_title,
)
from frame_pr.plotting.draw import GREY, REFERENCE, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 20
"""The most thresholds that have points."""
_EDGES = 100
"""The most rectangles with edges."""
_FILLED = 2**10
"""The cells of fills, which keep one point each."""
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
_ENDS: Mapping[tuple[str, tuple[str, ...]], Any] = {
    ("fpr", ("recall",)): ([(0, 0)], [(1, 1)]),
    ("share", ("recall",)): ([(0, 0)], [(1, 1)]),
    ("fpr", ("fnr",)): ([(0, 1)], [(1, 0)]),
}
"""The ends of curves whose random ranking is the line between them: no row, and all rows, predicted
positive.
"""


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
    """What the positives of a group are: rows, or a sum of weights; "" if their number means
    nothing.
    """
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
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
    others: Sequence[Curve] = (),
) -> None:
    """Draw curves with their bands, baselines and marks. `others`: thin grey curves behind them."""
    options = chart.options
    _set_axes(ax, curves, chart)
    # Many lines on each other would be as dark as the baseline.
    grey = {"color": GREY, "alpha": max(0.12, 0.4 / (1 + len(others) / 40)), "linewidth": 0.6}
    _draw_behind(ax, others, options, {**grey, "label": "_other"})
    if others:
        draw.add_entry(ax, f"{len(others)} others", **grey)
    for drawn in curves:
        if options.rectangles or options.envelope:
            _draw_areas(ax, drawn, options)
        thin = {**drawn.line, "linewidth": 0.7, "alpha": 0.5, "label": "_member"}
        _draw_behind(ax, drawn.curve.members, options, thin)
        line = {"gid": draw.CURVE, **drawn.line, "label": drawn.label}
        draw_line(ax, drawn.curve, options, line)
    if len(curves) <= _BANDED_CURVES:
        _draw_bands(ax, curves, chart)
    if options.envelope:
        draw.add_entry(
            ax,
            "interpolated",
            color=GREY,
            linestyle="--",
            linewidth=1,
        )
    if options.baseline and len(options.ys) == 1:
        shown = [drawn.curve for drawn in curves]
        _draw_baselines(ax, [*shown, *others], chart)
    _draw_marks(ax, curves, chart)
    if len(curves) == 1 and not options.interpolated:
        _explain_area(ax, curves[0].curve, chart)
    if not curves:
        draw.write_reason(ax, "no positives")


def _draw_behind(
    ax: Axes,
    curves: Sequence[Curve],
    options: CurveOptions,
    line: draw.Properties,
) -> None:
    """Draw thin curves behind the others."""
    for curve in curves:
        draw_line(ax, curve, options, {**line, "zorder": 1.5})


def draw_line(
    ax: Axes,
    curve: Curve,
    options: CurveOptions,
    line: draw.Properties,
) -> None:
    """Draw the line of a curve: steps, where a value holds between two thresholds."""
    import numpy as np

    points = curve.points
    if not points.height:
        return
    before, after = _ENDS.get(options.axes, ([], []))
    drawstyle = "default"
    if options.is_pr:
        # A threshold adds the recall up to its own, as in the sum of the area.
        before = [(0.0, points["y"][0])]
        drawstyle = "steps-pre"
    elif options.x == "threshold" and options.ys[0] not in BENEFITS:
        drawstyle = "steps-post"
    if points.height <= _POINTS and line.get("gid") == draw.CURVE:
        line = {"marker": "o", "markersize": 4, **line}
    xy = np.vstack([*before, points.select("x", "y").to_numpy(), *after])
    thresholds = slice(len(before), len(before) + points.height)
    line = {"drawstyle": drawstyle, "markevery": thresholds, **line}
    ax.plot(*xy.T, **line)


def _draw_areas(
    ax: Axes,
    drawn: Drawn,
    options: CurveOptions,
) -> None:
    """Fill the rectangles under a curve, and what its envelope adds."""
    import numpy as np

    points = drawn.curve.points
    if points.height > _FILLED:
        # Fills keep the last point of each cell.
        starts = cells(points["x"], _FILLED)
        points = points[np.append(starts[1:], points.height) - 1]
    points = pl.concat([points.head(1).with_columns(x=0.0), points])
    edges = points["x"].to_numpy()
    top = raw = points["y"].to_numpy()
    colour = drawn.colour
    if options.interpolated:
        top = points["envelope"].to_numpy()
        step: draw.Properties = {"drawstyle": "steps-pre", "linestyle": "--", "linewidth": 1}
        ax.plot(
            edges,
            top,
            color=colour,
            label="_envelope",
            **step,
        )
        ax.fill_between(
            edges,
            raw,
            top,
            step="pre",
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    if options.rectangles:
        ax.fill_between(
            edges,
            top,
            step="pre",
            color=colour,
            alpha=0.25,
            linewidth=0,
        )
        # The last point at each recall is at the right end of a rectangle.
        last = np.flatnonzero(np.diff(edges, append=2) > 0)
        if len(last) <= _EDGES:
            ax.vlines(
                edges[last],
                0,
                top[last],
                color=colour,
                linewidth=0.8,
                alpha=0.6,
            )


def _explain_area(
    ax: Axes,
    curve: Curve,
    chart: Chart,
) -> None:
    """Write tp / k into each of few rectangles, and their sum above the axes."""
    positives = curve.positives or 1
    left = 0.0
    terms = []
    for added, tp, k in curve.steps:
        height = f"{tp}/{k}"
        middle = left + added / positives / 2
        ax.text(
            middle,
            tp / k / 2,
            height,
            ha="center",
            va="center",
            fontsize="small",
        )
        left += added / positives
        terms.append(height if added == 1 else f"{added}·{height}")
    if terms and not chart.in_panel and not ax.get_title():
        area = draw.number_text(curve.area or 0, 3)
        draw.title_panel(
            ax,
            chart.style,
            f"({' + '.join(terms)}) / {positives:g} = {area}",
        )


def _draw_bands(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Draw the confidence intervals of curves, and say in the legend what they are."""
    options = chart.options
    # The mean at a recall is that of the heights up to it.
    step: Any = "pre" if options.is_pr and options.mean_over else None
    banded = [drawn for drawn in curves if drawn.curve.band is not None]
    for drawn in banded:
        band: Any = drawn.curve.band
        x, low, high = band.to_numpy().T
        ax.fill_between(
            x,
            low,
            high,
            step=step,
            color=drawn.colour,
            alpha=0.2,
            linewidth=0,
        )
    if not banded:
        return
    label = chart.style.label("confidence interval", "95 % interval")
    about = "of the mean"
    if not options.mean_over:
        sizes = {drawn.curve.rows or 0 for drawn in banded}
        about = f"bootstrap, n = {draw.count_text(sizes.pop())}" if len(sizes) == 1 else "bootstrap"
    where = quantity_title(options.x).lower()
    text = f"{label} at each {where} ({about})"
    draw.add_entry(
        ax,
        text,
        color=GREY,
        linewidth=6,
        alpha=0.2,
    )


def _draw_baselines(
    ax: Axes,
    curves: Sequence[Curve],
    chart: Chart,
) -> None:
    """Draw the values of a random ranking, and of alerts on all rows and on none."""
    options = chart.options
    y = options.ys[0]
    shares = _prevalences(curves)
    if not shares:
        return
    entries = {chart.style.label("random ranking") + " (AUC = 0.5)" * options.is_roc: REFERENCE}
    if options.axes in _ENDS:
        # Many points, so that the line is right on other scales.
        x = [i / 200 for i in range(201)]
        _draw_reference(ax, x, x[::-1] if options.is_det else x)
    elif y == "lift":
        ax.axhline(1, label="_baseline", zorder=1, **REFERENCE)
    elif y == "precision":
        entries = _draw_prevalences(ax, shares, chart)
    elif options.x == "threshold" and (y.startswith("cost") or y in BENEFITS):
        x = [i / 300 for i in range(298)]
        entries = {}
        for stroke, name, selected in ((":", "alert on all rows", 1), ("--", "alert on none", 0)):
            line = REFERENCE | {"linestyle": stroke}
            for share in shares:
                costs = [_cost_of_alerts(y, t, share, selected) for t in x]
                _draw_reference(ax, x, costs, stroke)
            entries[chart.style.label(name)] = line
    else:
        return
    for label, line in entries.items():
        draw.add_entry(ax, label, **line)


def _prevalences(curves: Sequence[Curve]) -> list[float]:
    """Return the prevalences of the curves; those that look the same are one."""
    shares = [curve.positives / curve.rows for curve in curves if curve.positives and curve.rows]
    return sorted({round(share, 2) or share: share for share in shares}.values())


def _draw_reference(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    stroke: str = ":",
) -> None:
    """Draw a thin grey line that the legend does not name."""
    line: draw.Properties = REFERENCE | {"linestyle": stroke}
    ax.plot(
        x,
        y,
        zorder=1,
        label="_baseline",
        **line,
    )


def _cost_of_alerts(
    y: str,
    threshold: float,
    share: float,
    selected: int,
) -> float:
    """Return the cost or the net benefit of a row if all rows, or none, are predicted positive."""
    if y not in BENEFITS:
        missed = float(y.removeprefix("cost"))
        return 1 - share if selected else missed * share
    benefit = share - (1 - share) * threshold / (1 - threshold)
    return selected * (benefit if y == "net_benefit" else benefit / share)


def _draw_prevalences(
    ax: Axes,
    shares: Sequence[float],
    chart: Chart,
) -> draw.Properties:
    """Draw the precision of a random ranking: a line for each prevalence, or a band around many.

    Return the entry of the legend.
    """
    label = chart.style.label("prevalence")
    if not chart.in_panel:
        ends = dict.fromkeys(map(draw.number_text, (shares[0], shares[-1])))
        label = f"{label} ({' to '.join(ends)})"
    if len(shares) > _BASELINES:
        band: draw.Properties = {"color": GREY, "alpha": 0.2}
        ax.axhspan(
            shares[0],
            shares[-1],
            linewidth=0,
            zorder=0.5,
            **band,
        )
        return {label: {**band, "linewidth": 6}}
    for share in shares:
        ax.axhline(share, label="_baseline", zorder=1, **REFERENCE)
    return {label: REFERENCE}


def _draw_marks(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Draw the marked points, and the thresholds of a few next to them."""
    by_threshold = chart.options.x == "threshold"
    one = len(curves) == 1 and not chart.in_panel
    marks = [(drawn, mark) for drawn in curves for mark in drawn.curve.marks]
    texts = set()
    for drawn, mark in marks:
        shape: draw.Properties = {
            "marker": _MARKERS[mark.number % len(_MARKERS)],
            "zorder": 4,
        }
        shape |= {"linestyle": "", "markersize": 7, "markeredgecolor": ax.get_facecolor()}
        ax.plot(
            [mark.x],
            [mark.y],
            label="_mark",
            gid="mark",
            color=drawn.colour,
            **shape,
        )
        if not by_threshold and not chart.in_panel and len(marks) <= _NAMED_MARKS:
            ax.annotate(
                mark.threshold,
                (mark.x, mark.y),
                (0.6, 0.3 + 1.1 * (mark.number % 3)),
                textcoords="offset fontsize",
                fontsize="small",
            )
        text = f"{mark.text}{mark.value}" if one or by_threshold else mark.text
        if text not in texts:
            draw.add_entry(
                ax,
                text,
                color=drawn.colour if one else GREY,
                **shape,
            )
            if by_threshold:
                ax.axvline(
                    mark.x,
                    color=GREY,
                    linewidth=0.8,
                    zorder=1,
                    label="_guide",
                )
        texts.add(text)


def _set_axes(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Set scales, and limits with room for a line along the edges. A reader may change them."""
    from matplotlib.ticker import StrMethodFormatter

    options = chart.options
    axes: tuple[Any, Any] = (ax.xaxis, ax.yaxis)
    for axis, scale, names in zip(
        axes,
        chart.scales,
        ([options.x], options.ys),
        strict=True,
    ):
        if scale == "det":
            _set_deviates(ax, axis)
            continue
        ax.set(**{f"{axis.axis_name}scale": scale})
        if scale == "log" and options.x == "k":
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        elif scale == "linear" and all(map(has_unit_range, names)):
            # The limits stay automatic, so that another scale finds its own.
            is_x = axis is ax.xaxis
            ax.update_datalim(
                [(0, 0), (1, 1)],
                updatex=is_x,
                updatey=not is_x,
            )
            margins: draw.Properties = {axis.axis_name: 0.02}
            ax.margins(**margins)
            draw.fewer_ticks(axis, 3 if chart.in_panel else 6)
    if options.ys[0] in BENEFITS:
        # At high thresholds, alerts on all rows have benefits far below 0.
        tops: list[Any] = [drawn.curve.points["y"].max() or 0.0 for drawn in curves]
        top = max([*tops, 0.0]) or 1.0
        ax.set_ylim(-0.15 * top, 1.08 * top)


def _set_deviates(ax: Axes, axis: Any) -> None:
    """Show a rate on the axis of its normal deviates, as DET curves do."""
    from statistics import NormalDist

    import numpy as np
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    normal = NormalDist()
    deviates = np.vectorize(normal.inv_cdf, otypes=[float])
    rates = np.vectorize(normal.cdf, otypes=[float])

    def deviate(rate: Any) -> Any:
        return deviates(np.clip(rate, _SMALLEST_RATE, 1 - _SMALLEST_RATE))

    set_scale = getattr(ax, f"set_{axis.axis_name}scale")
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
