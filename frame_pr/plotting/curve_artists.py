"""Draw the artists of a plot of curves: lines, areas, bands, baselines and marks, and set scales and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.metrics.metric import Counts
from frame_pr.metrics.rates import rate_of
from frame_pr.plotting import draw
from frame_pr.plotting.curve_data import BENEFITS, Curve, CurveOptions, benefit, has_unit_range
from frame_pr.plotting.draw import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 20
"""The most thresholds that have points."""
_EDGES = 100
"""The most rectangles with edges."""
_LONG, _CELLS = 2**14, 2**12
"""Points from which a line is drawn without the points that no pixel shows, and the cells that keep some."""
_MARKERS = "Ds^ov*pX"
_BANDED_CURVES = 4
"""The most mean curves with bands."""
_BASELINES = 4
"""The most baselines with lines. More baselines are a band."""
_RARE, _LOW = 0.01, 0.1
"""Below this prevalence and these areas, the axis of precision is logarithmic."""
_MANY_RANKS = 1000
"""Ranks from which their axis is logarithmic."""


class Chart(NamedTuple):
    """What all curves of a plot have in common."""

    options: CurveOptions
    style: Style
    line: Mapping[str, Any]
    """The caller's properties of lines."""
    positive: str
    """The positive label, if the caller gave it."""
    scales: tuple[str, str]


def draw_curves(
    ax: Axes,
    curves: Sequence[Curve],
    labels: Sequence[str],
    lines: Sequence[Mapping[str, Any]],
    chart: Chart,
    others: Sequence[Curve] = (),
    *,
    in_panel: bool = False,
) -> None:
    """Draw curves with their baselines and marks. `others`: thin grey curves behind them."""
    options = chart.options
    _set_axes(ax, curves, chart, ticks=3 if in_panel else 6)
    for curve in others:
        _draw_line(
            ax,
            curve,
            options,
            {"color": draw.grey(ax, 0.75), "linewidth": 0.6, "zorder": 1.5, "label": "_other"},
        )
    for curve, label, line in zip(curves, labels, lines, strict=True):
        if curve.groups is not None and len(curves) <= _BANDED_CURVES:
            x, low, high = curve.points.select("x", "low", "high").drop_nulls().to_numpy().T
            step: Any = "pre" if options.is_pr else None
            ax.fill_between(x, low, high, step=step, color=line["color"], alpha=0.2, linewidth=0)
        elif options.is_pr:
            _draw_areas(ax, curve, options, line["color"])
        _draw_line(ax, curve, options, {"gid": draw.CURVE, **line, "label": label})
    if others:
        draw.add_entry(ax, f"{len(others)} others", color=draw.grey(ax, 0.75), linewidth=0.6)
    if curves and curves[0].groups is not None and len(curves) <= _BANDED_CURVES:
        draw.add_entry(
            ax, "95 % confidence interval", color=draw.grey(ax, 0.5), linewidth=6, alpha=0.2
        )
    if options.interpolated and any(curve.envelope_area for curve in curves):
        draw.add_entry(ax, "interpolated", color=draw.grey(ax, 0.5), linestyle="--", linewidth=1)
    if options.baseline:
        _draw_baselines(
            ax, [*curves, *others], [*(line["color"] for line in lines)], options, in_panel=in_panel
        )
    _draw_marks(ax, curves, labels, lines, options, in_panel=in_panel)
    if not curves:
        draw.write_reason(ax, "no positives")


def _draw_line(ax: Axes, curve: Curve, options: CurveOptions, line: dict[str, Any]) -> None:
    """Draw the line of a curve: steps, where a value holds between two thresholds."""
    points = curve.points.drop_nulls(["x", "y"])
    x, y = (points[axis].cast(pl.Float64).to_numpy() for axis in "xy")
    if not len(x):
        return
    if len(x) <= _POINTS and line.get("gid") == draw.CURVE:
        line = {"marker": "o", "markersize": 4, **line}
    x, y, drawstyle, start = _ends(*_visible(x, y), curve, options)
    ax.plot(x, y, **{"drawstyle": drawstyle, "markevery": slice(start, start + len(x)), **line})


def _ends(x: Any, y: Any, curve: Curve, options: CurveOptions) -> tuple[Any, Any, str, int]:
    """Return the points with the ends of the curve, the style of its steps, and the number of the first threshold."""
    import numpy as np

    if options.x == "recall" and options.ys == ("precision",):
        # A threshold adds the recall up to its own, as in the sum of the area. Misses above the
        # first hit add none.
        reached = x > 0
        x, y = (x[reached], y[reached]) if reached.any() else (x, y)
        return np.append(0.0, x), np.append(y[0], y), "steps-pre", 1
    if options.x == "threshold":
        return x, y, "steps-post", 0
    if options.x == "k" or curve.positives is None or curve.rows is None:
        return x, y, "default", 0
    nothing, everything = (
        [value_at(name, curve, share) for name in (options.x, options.ys[0])]
        for share in (0.0, 1.0)
    )
    if len(options.ys) > 1 or None in nothing or None in everything:
        return x, y, "default", 0
    return (
        np.hstack([nothing[0], x, everything[0]]),
        np.hstack([nothing[1], y, everything[1]]),
        "default",
        1,
    )


def value_at(name: str, curve: Curve, share: float, thresholds: Any = None) -> Any:
    """Return a rate if this share of the rows is predicted positive: no row (0), or all rows (1).

    `thresholds`: at which, for a net benefit.
    """
    positives, rows = (pl.lit(float(size or 0)) for size in (curve.positives, curve.rows))
    counts = Counts(positives * share, rows * share, positives, rows)
    if name == "share":
        return share
    if thresholds is not None:
        return (
            pl.select(benefit(name, counts, pl.lit(pl.Series(thresholds)))).to_series().to_numpy()
        )
    return pl.select(rate_of(name).formula(counts)).item()


def _visible(x: Any, y: Any) -> tuple[Any, Any]:
    """Return a long line with four points in each of 4096 cells of the axis: matplotlib would visit all points.

    They are the first, the lowest, the highest and the last, and a cell is narrower than a pixel.
    Cells also end at logarithmically spaced places, so that a reader may change the scale.
    """
    import numpy as np

    n, rising = len(x), 1 if len(x) and x[-1] >= x[0] else -1
    if n <= _LONG or (np.diff(x) * rising < 0).any():
        return x, y
    ends = np.searchsorted(
        rising * x, np.linspace(rising * x[0], rising * x[-1], _CELLS), side="right"
    )
    ends = np.unique(np.concatenate([ends, np.geomspace(1, n, _CELLS).astype(np.int64), [n]]))
    starts = np.append(0, ends[:-1])
    lowest, highest = (extreme.reduceat(y, starts) for extreme in (np.minimum, np.maximum))
    first, last = x[starts], x[ends - 1]
    points = (
        np.stack([first, first, first, last]),
        np.stack([y[starts], lowest, highest, y[ends - 1]]),
    )
    return points[0].T.ravel(), points[1].T.ravel()


def _draw_areas(ax: Axes, curve: Curve, options: CurveOptions, colour: Any) -> None:
    """Fill the rectangles under a curve, and what its envelope adds."""
    import numpy as np

    if not (options.rectangles or options.interpolated):
        return
    points = curve.points.filter(pl.col("x") > 0)
    x, y = points["x"].to_numpy(), points["y"].to_numpy()
    envelope = points["envelope"].to_numpy() if options.interpolated else y
    edges = np.append(0.0, x)
    fill: dict[str, Any] = {"step": "pre", "color": colour, "linewidth": 0}
    if options.rectangles:
        ax.fill_between(edges, np.append(envelope[:1], envelope), alpha=0.25, **fill)
        if np.count_nonzero(np.diff(edges)) <= _EDGES:
            last = np.flatnonzero(np.diff(np.append(edges, 2)) > 0)
            ax.vlines(
                edges[last][1:], 0, envelope[last[1:] - 1], color=colour, linewidth=0.8, alpha=0.6
            )
    if options.interpolated:
        ax.fill_between(
            edges, np.append(y[:1], y), np.append(envelope[:1], envelope), alpha=0.15, **fill
        )
        line: dict[str, Any] = {
            "linestyle": "--",
            "linewidth": 1,
            "color": colour,
            "label": "_envelope",
        }
        ax.plot(edges, np.append(envelope[:1], envelope), drawstyle="steps-pre", **line)


def _draw_baselines(
    ax: Axes,
    curves: Sequence[Curve],
    colours: Sequence[Any],
    options: CurveOptions,
    *,
    in_panel: bool,
) -> None:
    """Draw the values of a random ranking, and of alerts on all rows and on none."""
    import numpy as np

    curves = [curve for curve in curves if curve.positives and curve.rows]
    y = options.ys[0]
    line: dict[str, Any] = {"color": draw.grey(ax, 0.5), "linestyle": ":", "linewidth": 1}
    unlisted: dict[str, Any] = {"label": "_baseline", "zorder": 1}
    if not curves or len(options.ys) > 1:
        return
    if y in ("precision", "lift"):
        _draw_random_values(ax, curves, colours, options, in_panel=in_panel)
    elif options.axes in (("fpr", ("recall",)), ("share", ("recall",)), ("fpr", ("fnr",))):
        x = np.linspace(0, 1, 200)
        ax.plot(x, 1 - x if y == "fnr" else x, **line | unlisted)
        draw.add_entry(ax, "random ranking" + " (AUC = 0.5)" * options.is_roc, **line)
    elif options.x == "threshold" and (y.startswith("cost") or y in BENEFITS):
        shares = {
            round(curve.positives / curve.rows, 3): curve
            for curve in curves
            if curve.positives and curve.rows
        }
        x = np.linspace(0, 0.99, 300)
        for stroke, name, share in ((":", "alert on all rows", 1.0), ("--", "alert on none", 0.0)):
            line["linestyle"] = stroke
            for curve in shares.values():
                heights = value_at(y, curve, share, x if y in BENEFITS else None)
                ax.plot(x, heights, **line | unlisted) if np.ndim(heights) else ax.axhline(
                    heights, **line | unlisted
                )
            draw.add_entry(ax, name, **line)


def _draw_random_values(
    ax: Axes,
    curves: Sequence[Curve],
    colours: Sequence[Any],
    options: CurveOptions,
    *,
    in_panel: bool,
) -> None:
    """Draw the precision or the lift of a random ranking: a line for each value, or a band around many."""
    grey, values = draw.grey(ax, 0.5), dict[float, Any]()
    for curve, colour in zip(curves, [*colours, *[grey] * len(curves)], strict=False):
        height = value_at(options.ys[0], curve, 1.0)
        near = next((value for value in values if abs(value - height) <= 0.005), height)
        values[near] = grey if near in values else colour
    texts = dict.fromkeys(draw.number_text(value) for value in (min(values), max(values)))
    label = "prevalence" if options.ys == ("precision",) else "random ranking"
    if label == "prevalence" and not in_panel:
        label += f" ({' to '.join(texts)})"
    if len(values) > _BASELINES:
        ax.axhspan(min(values), max(values), color=grey, alpha=0.2, linewidth=0, zorder=0.5)
        draw.add_entry(ax, label, color=grey, alpha=0.2, linewidth=6)
        return
    line: dict[str, Any] = {"linestyle": ":", "linewidth": 1}
    for value, colour in values.items():
        ax.axhline(
            value, color=colour if len(values) > 1 else grey, label="_baseline", zorder=1, **line
        )
    draw.add_entry(ax, label, color=grey, **line)


def _draw_marks(
    ax: Axes,
    curves: Sequence[Curve],
    labels: Sequence[str],
    lines: Sequence[Mapping[str, Any]],
    options: CurveOptions,
    *,
    in_panel: bool,
) -> None:
    """Draw the marked points, each mark with its own shape."""
    explained: set[str] = set()
    for curve, label, line in zip(curves, labels, lines, strict=True):
        for mark in curve.marks:
            text = mark.text.partition(" = ")[0].partition(" at ")[0] if in_panel else mark.text
            if len(curves) > 1 and not in_panel and len(options.ys) == 1:
                text = f"{label.partition(' (')[0]}: {text}"
            shape: dict[str, Any] = {
                "marker": _MARKERS[mark.number % len(_MARKERS)],
                "linestyle": "",
                "markersize": 7,
            }
            shape |= {"color": line["color"], "markeredgecolor": ax.get_facecolor(), "zorder": 4}
            ax.plot([mark.x], [mark.y], label="_mark", gid="mark", **shape)
            if text not in explained:
                shared = in_panel or len(options.ys) > 1
                draw.add_entry(
                    ax, text, **shape | {"color": draw.grey(ax, 0.35) if shared else line["color"]}
                )
                if options.x == "threshold":
                    ax.axvline(
                        mark.x, color=draw.grey(ax, 0.5), linewidth=0.8, zorder=1, label="_guide"
                    )
            explained.add(text)


def _set_axes(ax: Axes, curves: Sequence[Curve], chart: Chart, ticks: int) -> None:
    """Set scales, and limits with room for a line along the edges."""
    from matplotlib.ticker import MaxNLocator

    options = chart.options
    ax.set(xscale=chart.scales[0], yscale=chart.scales[1])
    if options.ys[0] in BENEFITS:
        # At high thresholds, alerts on all rows have benefits far below 0.
        top: Any = max((curve.points["y"].max() or 0 for curve in curves), default=1)
        ax.set_ylim(-0.15 * top, 1.08 * top)
    for scale, set_limits, axis, names in (
        (chart.scales[0], ax.set_xlim, ax.xaxis, [options.x]),
        (chart.scales[1], ax.set_ylim, ax.yaxis, options.ys),
    ):
        if scale == "linear" and all(map(has_unit_range, names)):
            set_limits(-0.02, 1.02)
            axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 5, 10]))


def scales_of(curves: Sequence[Curve], options: CurveOptions) -> tuple[str, str]:
    """Return the scales of both axes: logarithmic for many ranks, and for rare positives that a line would hide."""
    ranks: list[Any] = [curve.points["x"].max() for curve in curves] if options.x == "k" else []
    many_ranks = max((rank or 0 for rank in ranks), default=0) > _MANY_RANKS
    rare = options.is_pr and all(
        curve.positives
        and curve.rows
        and curve.positives < _RARE * curve.rows
        and (curve.area or 0) < _LOW
        for curve in curves
    )
    return "log" if many_ranks else "linear", "log" if rare and curves else "linear"
