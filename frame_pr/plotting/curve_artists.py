"""Draw the artists of a plot of curves, and set scales and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.plotting import draw
from frame_pr.plotting.curve_data import (
    BENEFITS,
    Chart,
    Curve,
    cells,
    has_unit_range,
    quantity_title,
)
from frame_pr.plotting.draw import GREY, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 20
"""The most thresholds that have points."""
_ENVELOPE = {"linestyle": "--", "linewidth": 1}
_EDGES = 100
"""The most rectangles with edges."""
_FILLED = 2**10
"""The cells of fills, which keep one point each."""
_BAND = {"color": GREY, "linewidth": 6, "alpha": 0.2}
"""The entry of a band in the legend."""
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
    scales: tuple[str, str],
    others: Sequence[Curve] = (),
) -> None:
    """Draw curves with their bands, baselines and marks.

    `scales`: those of both axes; "det" is that of normal deviates. `others`: thin grey curves
    behind the others.
    """
    _set_axes(ax, curves, chart, scales)
    # Many lines on each other would be as dark as the baseline.
    alpha = max(0.12, 0.4 / (1 + len(others) / 40))
    grey = {"color": GREY, "alpha": alpha, "linewidth": 0.6, "zorder": 1.5}
    for curve in others:
        draw_line(ax, curve, chart, {**grey, "label": "_other"})
    if others:
        draw.add_entry(ax, f"{len(others)} others", **grey)
    for drawn in curves:
        _draw_areas(ax, drawn, chart)
        thin = {"linewidth": 0.7, "alpha": 0.5, "zorder": 1.5, "label": "_member"}
        for member in drawn.curve.members:
            draw_line(ax, member, chart, {**drawn.line, **thin})
        line = {"gid": draw.CURVE, **drawn.line, "label": drawn.label}
        draw_line(ax, drawn.curve, chart, line)
    if len(curves) <= _BANDED_CURVES:
        _draw_bands(ax, curves, chart)
    if chart.envelope:
        draw.add_entry(ax, "interpolated", color=GREY, **_ENVELOPE)
    if chart.baseline and len(chart.ys) == 1:
        shown = [drawn.curve for drawn in curves]
        _draw_baselines(ax, [*shown, *others], chart)
    _draw_marks(ax, curves, chart)
    if len(curves) == 1 and not chart.interpolated:
        _explain_area(ax, curves[0].curve, chart)
    if not curves:
        draw.write_reason(ax, "no positives")


def draw_line(
    ax: Axes,
    curve: Curve,
    chart: Chart,
    line: draw.Properties,
) -> None:
    """Draw the line of a curve: steps, where a value holds between two thresholds."""
    import numpy as np

    points = curve.points
    if not points.height:
        return
    before = chart.kind.start
    drawstyle = "default"
    if chart.is_pr:
        # A threshold adds the recall up to its own, as in the sum of the area.
        before = [(0.0, points["y"][0])]
        drawstyle = "steps-pre"
    elif chart.x == "threshold" and chart.ys[0] not in BENEFITS:
        drawstyle = "steps-post"
    if points.height <= _POINTS and line.get("gid") == draw.CURVE:
        line = {"marker": "o", "markersize": 4, **line}
    xy = np.vstack([*before, points.select("x", "y").to_numpy(), *chart.kind.end])
    thresholds = slice(len(before), len(before) + points.height)
    line = {"drawstyle": drawstyle, "markevery": thresholds, **line}
    ax.plot(*xy.T, **line)


def _draw_areas(
    ax: Axes,
    drawn: Drawn,
    chart: Chart,
) -> None:
    """Fill the rectangles under a curve, and what its envelope adds."""
    import numpy as np

    if not (chart.rectangles or chart.envelope):
        return
    points = drawn.curve.points
    if points.height > _FILLED:
        # Fills keep the last point of each cell.
        starts = cells(points["x"], _FILLED)
        points = points[np.append(starts[1:], points.height) - 1]
    points = pl.concat([points.head(1).with_columns(x=0.0), points])
    edges = points["x"].to_numpy()
    top = points["y"].to_numpy()
    colour = drawn.colour
    fill: draw.Properties = {"step": "pre", "color": colour, "linewidth": 0}
    if chart.interpolated:
        raw = top
        top = points["envelope"].to_numpy()
        ax.fill_between(edges, raw, top, alpha=0.15, **fill)
        line: draw.Properties = {
            "drawstyle": "steps-pre",
            "color": colour,
            "label": "_envelope",
            **_ENVELOPE,
        }
        ax.plot(edges, top, **line)
    if chart.rectangles:
        ax.fill_between(edges, top, alpha=0.25, **fill)
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
    terms = []
    for added, tp, k in curve.steps:
        height = f"{tp}/{k}"
        ax.text(
            (tp - added / 2) / positives,
            tp / k / 2,
            height,
            ha="center",
            va="center",
            fontsize="small",
        )
        terms.append(height if added == 1 else f"{added}·{height}")
    if terms and not chart.facet and not ax.get_title():
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
    # The mean at a recall is that of the heights up to it.
    step: Any = "pre" if chart.is_pr and chart.mean_over else None
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
    sizes = {drawn.curve.rows or 0 for drawn in banded}
    about = "bootstrap"
    if chart.mean_over:
        about = "of the mean"
    elif len(sizes) == 1:
        about = f"bootstrap, n = {draw.count_text(sizes.pop())}"
    text = f"{label} at each {quantity_title(chart.x).lower()} ({about})"
    draw.add_entry(ax, text, **_BAND)


def _draw_baselines(
    ax: Axes,
    curves: Sequence[Curve],
    chart: Chart,
) -> None:
    """Draw the values of a random ranking, and of alerts on all rows and on none."""
    y = chart.ys[0]
    shares = _prevalences(curves)
    if not shares:
        return
    entries = {chart.style.label("random ranking") + " (AUC = 0.5)" * chart.is_roc: REFERENCE}
    if chart.kind.start:
        # Many points, so that the line is right on other scales.
        x = [i / 200 for i in range(201)]
        _draw_reference(ax, x, x[::-1] if chart.is_det else x, REFERENCE)
    elif y == "lift":
        ax.axhline(1, label="_baseline", zorder=1, **REFERENCE)
    elif y == "precision":
        entries = _draw_prevalences(ax, shares, chart)
    elif chart.x == "threshold" and (y.startswith("cost") or y in BENEFITS):
        x = [i / 300 for i in range(298)]
        entries = {}
        for stroke, name, selected in ((":", "alert on all rows", 1), ("--", "alert on none", 0)):
            line = REFERENCE | {"linestyle": stroke}
            for share in shares:
                costs = [_cost_of_alerts(y, t, share, selected) for t in x]
                _draw_reference(ax, x, costs, line)
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
    line: draw.Properties,
) -> None:
    """Draw a thin grey line that the legend does not name."""
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
    if not chart.facet:
        ends = dict.fromkeys(map(draw.number_text, (shares[0], shares[-1])))
        label = f"{label} ({' to '.join(ends)})"
    if len(shares) > _BASELINES:
        ax.axhspan(
            shares[0],
            shares[-1],
            color=GREY,
            alpha=0.2,
            linewidth=0,
            zorder=0.5,
        )
        return {label: _BAND}
    for share in shares:
        ax.axhline(share, label="_baseline", zorder=1, **REFERENCE)
    return {label: REFERENCE}


def _draw_marks(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Draw the marked points, and the thresholds of a few next to them."""
    by_threshold = chart.x == "threshold"
    one = len(curves) == 1 and not chart.facet
    marks = [(drawn.colour, mark) for drawn in curves for mark in drawn.curve.marks]
    texts = set()
    for colour, mark in marks:
        shape: draw.Properties = {"marker": _MARKERS[mark.number % len(_MARKERS)], "zorder": 4}
        shape |= {"linestyle": "", "markersize": 7, "markeredgecolor": ax.get_facecolor()}
        ax.plot(
            [mark.x],
            [mark.y],
            label="_mark",
            gid="mark",
            color=colour,
            **shape,
        )
        if not by_threshold and not chart.facet and len(marks) <= _NAMED_MARKS:
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
                color=colour if one else GREY,
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
    scales: tuple[str, str],
) -> None:
    """Set scales, and limits with room for a line along the edges. A reader may change them."""
    from matplotlib.ticker import StrMethodFormatter

    axes: Any = ((ax.xaxis, scales[0], chart.x), (ax.yaxis, scales[1], chart.ys[0]))
    for axis, scale, quantity in axes:
        if scale == "det":
            _set_deviates(ax, axis)
            continue
        ax.set(**{f"{axis.axis_name}scale": scale})
        if scale == "log" and chart.x == "k":
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        elif scale == "linear" and has_unit_range(quantity):
            # The limits stay automatic, so that another scale finds its own.
            is_x = axis is ax.xaxis
            ax.update_datalim(
                [(0, 0), (1, 1)],
                updatex=is_x,
                updatey=not is_x,
            )
            margins: draw.Properties = {axis.axis_name: 0.02}
            ax.margins(**margins)
            draw.fewer_ticks(axis, 3 if chart.facet else 6)
    if chart.ys[0] in BENEFITS:
        # At high thresholds, alerts on all rows have benefits far below 0.
        tops: list[Any] = [drawn.curve.points["y"].max() for drawn in curves]
        top = max([0.0, *filter(None, tops)]) or 1.0
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


def scales_of(curves: Sequence[Curve], chart: Chart) -> tuple[str, str]:
    """Return the scales of both axes.

    That of ranks is logarithmic if they are many or have means, of which the first ten are of most
    interest, and that of precision for rare positives, which a line would hide.
    """
    if chart.is_det:
        return "det", "det"
    scale_x = "linear"
    scale_y = "linear"
    last: list[Any] = [curve.points["x"].max() or 0 for curve in curves]
    if chart.x == "k" and (chart.mean_over or max(last, default=0) > _MANY_RANKS):
        scale_x = "log"
    if chart.is_pr and curves and all(map(_is_rare, curves)):
        scale_y = "log"
    return scale_x, scale_y


def _is_rare(curve: Curve) -> bool:
    """Return whether precision is so low that a line would hide it."""
    if not curve.positives or not curve.rows or curve.area is None:
        return False
    return curve.positives < _RARE * curve.rows and curve.area < _LOW
