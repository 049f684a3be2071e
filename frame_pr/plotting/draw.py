"""Draw curves into one axes: their styles, labels and legend, and the scales, limits and ticks of the axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.plotting.appearance import (
    canvas,
    escape,
    grey,
    in_legend,
    letters_along,
    line_properties,
    numbers_in_order,
    shorten,
    system_numbers,
    text_colour,
    unescape,
)
from frame_pr.plotting.curve_artists import (
    CURVE,
    EDGES,
    CurveStyle,
    add_entry,
    draw_content,
    draw_curve,
    draw_points,
    halo,
    named_curves,
)
from frame_pr.plotting.curve_data import Y_KEY, Average, DrawnCurve, spaced_points, threshold_text
from frame_pr.plotting.legends import (
    area_texts,
    axis_titles,
    count_text,
    draw_legend,
    labels_of,
    name_of,
    pixels_along,
    with_numbers,
)
from frame_pr.plotting.options import PlotOptions, axis_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IN_AXES = 10
"""The most curves in one axes."""
_LEGEND_SYSTEMS = 3
"""The most systems whose numbers share a line of the legend."""
_LOGARITHMIC = 1000
"""Ranks from which their axis is logarithmic."""
_RARE, _LOW = 0.01, 0.1
"""Below this prevalence and this average precision, the axis of precision is logarithmic."""
_SMALL = 1.7
"""Axes smaller than this, in inches, have few ticks."""
_HIDDEN = 7
"""The most curves whose hidden parts are drawn wider."""


def draw_axes(curves: Sequence[DrawnCurve], keys: Sequence[str], options: PlotOptions) -> Axes:
    """Draw all curves into one axes."""
    from matplotlib import rcParams

    curves, others = _split_highlighted(curves, keys, options)
    width, height = rcParams["figure.figsize"]
    # A new figure is no wider than square axes need.
    figsize = (min(width, 1.02 * height) if options.is_square else width, height)
    with canvas(options, layout="compressed", figsize=figsize) as ax:
        before = len(named_curves(ax))
        if options.ax is None and options.is_square:
            ax.set_box_aspect(1)
        # A curve without group and system has the name of its scores.
        score_name = in_legend(options.label_of(options.score))
        label = options.label and in_legend(shorten(options.label, 2 * 60))
        names = [label or name_of(curve.key, keys, options.labels) or score_name for curve in curves]
        styles = styles_of(ax, [curve.key for curve in curves], keys, options, before)
        set_axes(ax, options, curves)
        ax.set(**dict(zip(("xlabel", "ylabel"), axis_titles(options), strict=True)))
        labels, title = labels_of(curves, names, keys, options, shares_axes=bool(before))
        by_stroke = bool(styles) and styles[0].group is not None
        if by_stroke:
            _explain_styles(ax, curves, styles, keys, options)
            labels, title = [CURVE] * len(curves), ""
        _draw_others(ax, others, options)
        draw_content(ax, curves, labels, styles, options, others, names if by_stroke else None)
        fit_heights(ax, options)
        show_hidden(ax)
        _write_thresholds(ax, curves, options)
        draw_legend(ax, options, title, keep_below=options.rectangles)
    return ax


def styles_of(
    ax: Axes, keys: Sequence[dict[str, Any]], lines: Sequence[str], options: PlotOptions, first: int = 0
) -> list[CurveStyle]:
    """Return the style of each curve: colours for systems and line styles for groups, or colours for groups."""
    hues = [name for name in ("system", Y_KEY) if name in lines][:1]
    groups = [name for name in lines if name not in hues]
    has_strokes = all(len({name_of(key, names) for key in keys}) > 1 for names in (hues, groups))
    coloured = hues if has_strokes else lines
    hue, group = ([name_of(key, names) for key in keys] for names in (coloured, groups))
    if not lines:
        hue = [options.score or options.label or name for name in hue]
    # A system keeps its colour from plot to plot, also if it is the only one.
    if hues == ["system"] or not lines:
        numbers = system_numbers(hue, first)
    else:
        numbers = [first + number for number in numbers_in_order(hue)]
    strokes = numbers_in_order(group) if has_strokes else [None] * len(keys)
    return [
        CurveStyle(
            line_properties(ax, number, stroke, options.colors.get(unescape(name)), options.line),
            name_of(key, coloured, options.labels),
            name_of(key, groups, options.labels) if has_strokes else None,
        )
        for key, name, number, stroke in zip(keys, hue, numbers, strokes, strict=True)
    ]


def _explain_styles(
    ax: Axes, curves: Sequence[DrawnCurve], styles: Sequence[CurveStyle], keys: Sequence[str], options: PlotOptions
) -> None:
    """Add entries for colours, and entries for line styles with the numbers of each group."""
    colours = {style.hue: style.line["color"] for style in styles}
    strokes = {style.group: style.line.get("linestyle") for style in styles}
    for name, colour in colours.items():
        ax.plot([], [], color=colour, label=name)
    has_areas = bool(options.areas) and len(colours) <= _LEGEND_SYSTEMS
    names = escape(shorten(", ".join(options.display(key) for key in keys if key not in ("system", Y_KEY))))
    kind = "mean " * isinstance(curves[0], Average) + options.area_title if has_areas else ""
    counts = {count_text([curve]) for curve in curves}
    shared = counts.pop() if len(counts) == 1 else ""
    ax.plot([], [], linestyle="", label=with_numbers(names, kind, shared))[0].set_gid("strokes")
    for group, stroke in strokes.items():
        members = [curve for curve, style in zip(curves, styles, strict=True) if style.group == group]
        areas = [area_texts(curve, options)[0].rpartition(" = ")[2] for curve in members] if has_areas else []
        areas = ["-" if "undefined" in area else area for area in areas]
        label = with_numbers(f"{group}  {', '.join(areas)}".rstrip(), "" if shared else count_text(members))
        ax.plot([], [], color=grey(ax, 0.4), linestyle=stroke, label=label)[0].set_gid("strokes")


def _split_highlighted(
    curves: Sequence[DrawnCurve], keys: Sequence[str], options: PlotOptions
) -> tuple[list[DrawnCurve], list[DrawnCurve]]:
    """Return the highlighted curves, in the order of `highlight=` or of their areas, and the other curves."""
    highlight = options.highlight
    if highlight is None:
        return list(curves), []
    names = [unescape(name_of(curve.key, keys)) for curve in curves]
    if isinstance(highlight, int):
        if not options.areas:
            raise ValueError(
                f"highlight={highlight} chooses the best and the worst curves by their area, and on these axes curves "
                "have no area: give names"
            )
        areas = [curve.numbers[options.areas[0]] for curve in curves]
        ranked = sorted((i for i, area in enumerate(areas) if area is not None), key=lambda i: -areas[i])
        places = [*ranked[:highlight], *ranked[max(highlight, len(ranked) - highlight) :]]
    else:
        for name in highlight:
            if name not in names:
                near = nearest(name, names)
                hint = did_you_mean(near) if near else f"there are {', '.join(names)}"[:200]
                raise ValueError(f"highlight: {shown(name)} is none of the curves; {hint}")
        places = [names.index(name) for name in highlight]
    others = [curve for i, curve in enumerate(curves) if i not in places]
    if others and len(places) > (options.max_groups or IN_AXES):
        raise ValueError(f"highlight= names {len(places)} curves, more than can be told apart ({IN_AXES}): name fewer")
    return [curves[i] for i in places], others


def _draw_others(ax: Axes, others: Sequence[DrawnCurve], options: PlotOptions) -> None:
    """Draw the curves that are not highlighted, thin and grey, behind the others."""
    if not others:
        return
    bare = replace(options, rectangles=False, interpolated=False, points=None, k=None)
    properties = {"color": grey(ax, 0.7), "linewidth": 0.6, "zorder": 1.5}
    for curve in others:
        draw_curve(ax, curve, "_other", bare, {**properties, "marker": ""})
    add_entry(ax, f"{len(others)} {options.display('others' if len(others) > 1 else 'other')}", **properties)


def show_hidden(ax: Axes) -> None:
    """Draw an earlier curve wider, below the later one, where the later one hides it along the axis."""
    import numpy as np

    ax.apply_aspect()
    ax.autoscale_view()  # matplotlib sets the limits only when it draws
    for line in [line for line in ax.get_lines() if line.get_label() == "_below"]:
        line.remove()
    curves = named_curves(ax)
    if not 1 < len(curves) <= _HIDDEN:
        return
    row, cell = 1 << 20, ax.figure.dpi / 100
    shortest = 0.08 * ax.get_window_extent().width
    later = np.empty(0, np.int64)
    around = np.add.outer([-row, 0, row], [-1, 0, 1]).ravel()
    for number, line in enumerate(reversed(curves)):
        points = pixels_along(line.get_transform().transform_path(line.get_path()), every=1)
        cells = np.floor(points / cell).astype(np.int64) @ [row, 1]
        above = np.searchsorted(later, cells, side="right") - np.searchsorted(later, cells)
        later = np.sort(np.concatenate([later, np.unique(np.add.outer(np.unique(cells), around))]))
        for layers in range(1, int(above.max(initial=0)) + 1):
            ends = np.flatnonzero(np.diff(above >= layers, prepend=False, append=False))
            stretches = [points[start:end] for start, end in ends.reshape(-1, 2)]
            # Only along the axis: at the left edge of most plots, vertical steps hide each other.
            stretches = [stretch for stretch in stretches if np.ptp(stretch[:, 0]) >= shortest]
            if not stretches:
                break
            # NaN separates the stretches.
            gap = [[np.nan, np.nan]]
            parts = [np.vstack([ax.transData.inverted().transform(stretch), gap]) for stretch in stretches]
            (below,) = ax.plot(*np.concatenate(parts).T, color=line.get_color(), alpha=line.get_alpha(), label="_below")
            below.set(linewidth=line.get_linewidth() + 2 * layers, zorder=line.get_zorder() - 0.01 * number)
            below.set(solid_capstyle="butt", solid_joinstyle="miter")


def _write_thresholds(ax: Axes, curves: Sequence[DrawnCurve], options: PlotOptions) -> None:
    """Write thresholds along the curves. A threshold that would overlap another one is left out."""
    boxes: list[Any] = []
    settings: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small", "path_effects": [halo(ax)]}
    for curve in curves:
        if not options.threshold_labels or not curve.has_points:
            continue
        points = spaced_points(curve, options.threshold_labels)
        if not (options.rectangles and curve.blocks.height <= EDGES):  # then all thresholds have points
            x, y = ([getattr(point, axis) for point in points] for axis in "xy")
            draw_points(ax, x, y, text_colour(ax), ".", "_thresholds").set_markersize(5)
        for point in points:
            right, up = ax.transAxes.inverted().transform(ax.transData.transform((point.x, point.y)))
            # At the edges, the text is written towards the middle, because the layout keeps no room for it outside.
            side, level = -1 if right > 0.85 else 1, -1 if up > 0.9 else 1
            text = ax.annotate(
                threshold_text(curve, point), (point.x, point.y), xytext=(4 * side, 4 * level), **settings
            )
            text.set(in_layout=False, color=text_colour(ax))
            text.set(ha="left" if side > 0 else "right", va="bottom" if level > 0 else "top")
            box = text.get_window_extent()
            if any(box.overlaps(other) for other in boxes):
                text.remove()
            else:
                boxes.append(box)


def set_axes(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve]) -> None:
    """Set scales, limits with room for a line along the edges, and ticks."""
    from matplotlib.ticker import LogitLocator, MaxNLocator, NullLocator

    box = ax.get_window_extent()
    few = min(box.width, box.height) / ax.figure.dpi < _SMALL
    ax.set(**{f"{name}scale": scale for name in "xy" if (scale := scale_of(name, options, curves)) is not None})
    for name, axis, quantity in (("x", ax.xaxis, options.x), ("y", ax.yaxis, options.ys[0])):
        unit_range = axis_quantity(quantity).unit_range
        if axis.get_scale() != "linear":
            if unit_range:
                ax.set(**{f"{name}lim": _limits(name, {"x": ax.get_xscale(), "y": ax.get_yscale()}, curves)})
            if axis.get_scale() == "logit":
                # A label has up to six letters, and is as high as two are wide.
                ticks = letters_along(ax, box.width) // 7 if name == "x" else letters_along(ax, box.height) // 3
                axis.set_major_locator(LogitLocator(nbins=max(2, ticks)))
                axis.set_major_formatter("{x:g}")
                axis.set_minor_locator(NullLocator())
            continue
        if unit_range:
            ax.set(**{f"{name}lim": (-0.02, 1.02)})
        # A list of ticks would not follow if the caller zooms in.
        axis.set_major_locator(MaxNLocator(3 if few else 6, steps=[1, 2, 5, 10]))
        if few and unit_range:
            axis.set_major_formatter("{x:g}")


def scale_of(name: str, options: PlotOptions, curves: Sequence[DrawnCurve]) -> str | None:
    """Return the scale of an axis: as the caller says, or logarithmic for many ranks and for rare positives."""
    requested = options.scales[name == "y"]
    if requested is not None:
        return requested
    if name == "x" and options.x == "k":
        return "log" if any((curve.blocks["x"] >= _LOGARITHMIC).any() for curve in curves) else None
    if name == "y" and options.is_pr and not (options.rectangles or options.interpolated):
        areas = [curve.numbers[options.areas[0]] for curve in curves]
        defined = [area for area in areas if area is not None]
        rare = all((curve.numbers["prevalence"] or 0) < _RARE for curve in curves)
        return "log" if rare and defined and max(defined) < _LOW else None
    return None


def _limits(name: str, scales: Mapping[str, str], curves: Sequence[DrawnCurve]) -> tuple[float, float]:
    """Return the range of the points that both scales can show: above 0, and on a logit scale below 1."""
    shown_points = pl.concat([curve.blocks.select(pl.col("x", "y").cast(pl.Float64)) for curve in curves]).filter(
        pl.lit(True),
        *(pl.col(axis) > 0 for axis, scale in scales.items() if scale != "linear"),
        *(pl.col(axis) < 1 for axis, scale in scales.items() if scale == "logit"),
    )
    least: Any = shown_points[name].min()
    most: Any = shown_points[name].max()
    low = 10 ** math.floor(math.log10(min(0.1, 0.9 * (least or 1))))
    if scales[name] == "log":
        return low, 1.1
    return low, 0.5 if (most or 0) <= 0.5 else 1 - 10 ** math.floor(math.log10(max(1e-9, min(1 - most, 0.1))))


def fit_heights(ax: Axes, options: PlotOptions) -> None:
    """Fit the y axis of an unbounded quantity to the curves, and not to the lines of reference."""
    quantity = axis_quantity(options.ys[0])
    if len(options.ys) > 1 or quantity.unit_range or options.scales[1] not in (None, "linear"):
        return
    heights = [line.get_ydata() for line in named_curves(ax)]
    top = max((float(y[y == y].max()) for y in heights if (y == y).any()), default=1.0) or 1.0
    ax.set_ylim(0 if quantity.at is None else -0.1 * top, 1.05 * top)
