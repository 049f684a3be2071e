"""Draw a plot of curves: the axes, curves, areas, bands, contours, baselines and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.messages import did_you_mean, examples, nearest, shown
from frame_pr.plotting import curve_data
from frame_pr.plotting.curve_data import Y_KEY, Average, Curves, DrawnCurve
from frame_pr.plotting.legends import (
    BASELINE,
    GUIDE,
    MARK,
    SHARED,
    area_texts,
    axis_titles,
    count_text,
    draw_legend,
    is_baseline,
    labels_of,
    marks_of,
    name_of,
    number_text,
    pixels_along,
    with_numbers,
)
from frame_pr.plotting.options import SPREADS, PlotOptions, axis_quantity, keys_of
from frame_pr.plotting.styles import (
    DASHED,
    canvas,
    escape,
    grey,
    in_legend,
    ink,
    numbers_in_order,
    shorten,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

CURVE = "_curve"
"""Label of curves that the legend explains by colour and by stroke."""
ISO_F = "_iso_f"
"""Label of the contours."""
EDGES = 100
"""Most rectangles that have an edge."""
_STEPS = 2048
"""Steps of an area from which on narrow steps are merged: unlike lines, matplotlib draws all corners of areas."""
_FAINT, _FILL = 0.3, 0.25
"""Opacity of what is behind rank k, and of areas."""
_MARKED = 20
"""Most thresholds that are shown as points."""
_BANDS = 2
"""Most averages with a band; of more, the edges are drawn."""
_BASELINES = 3
"""Most baselines with a line each; of more, their range is drawn."""
_LOGARITHMIC = 1000
"""Ranks from which on their axis is logarithmic."""
_SMALL = 1.7
"""Inches of axes with few ticks."""
_IN_AXES, _BEHIND, _IN_PANEL, _PANELS = 10, 200, 10, 48
"""Most curves in one axes, also with `highlight=`; most curves in a panel, and most panels."""
_HIDDEN = 7
"""Most curves of which hidden parts are drawn wider."""
_LEGEND_SYSTEMS = 3
"""Most systems whose numbers stand in one line of the legend."""


class Look(NamedTuple):
    """How a curve is drawn."""

    line: dict[str, Any]
    hue: str
    """What its colour stands for."""
    group: str | None
    """What its stroke stands for, where systems have groups."""


def draw(curves: Curves, options: PlotOptions) -> Axes | Figure | SubFigure:
    """Draw the curves, into axes or panels."""
    if options.k is not None and not curves.table["k"].dtype.is_integer():
        raise ValueError("k= cuts at a rank, and the rows of this curve are weighted and have none: leave out k=")
    lines, panels, over = layout_of(curves.keys, options)
    refuse_thresholds(options, curves.table["threshold"], ascending=curves.ascending)
    drawn: Sequence[DrawnCurve | Average]
    drawn = curve_data.averages_of(curves, over, options) if over else curve_data.drawn_curves(curves, options)
    # A key of one value tells no curves apart.
    lines = [key for key in lines if curves.keys[key].n_unique() > 1] or lines
    if len(options.ys) > 1:
        lines.append(Y_KEY)
    _refuse_unused_colors(drawn, lines, options)
    if panels:
        from frame_pr.plotting.facets import draw_facets

        return draw_facets(drawn, panels, lines, options)
    drawn, others = _split_highlighted(drawn, lines, options)
    with canvas(options.ax, layout="compressed") as ax:
        _draw_axes(ax, drawn, others, lines, options)
    return ax


def _draw_axes(
    ax: Axes,
    drawn: Sequence[DrawnCurve | Average],
    others: Sequence[DrawnCurve],
    keys: Sequence[str],
    options: PlotOptions,
) -> None:
    """Draw everything into one axes."""
    own_figure, before = options.ax is None, _curves_in(ax)
    if own_figure and options.is_square:
        ax.set_box_aspect(1)
    # A curve of no group and no system has the name of its scores.
    label = options.label and in_legend(shorten(options.label, 2 * 60))
    names = [label or name_of(curve.key, keys) or in_legend(escape(shorten(options.score))) for curve in drawn]
    looks = looks_of(ax, [curve.key for curve in drawn], keys, options, before)
    set_axes(ax, options, drawn)
    ax.set(**dict(zip(("xlabel", "ylabel"), axis_titles(options), strict=True)))
    labels, title = labels_of(ax, drawn, names, keys, options, shares_axes=bool(before))
    by_stroke = bool(looks) and looks[0].group is not None
    if by_stroke:
        _explain_looks(ax, drawn, looks, keys, options)
        labels, title = [CURVE] * len(drawn), ""
    _draw_others(ax, others, options)
    draw_content(ax, drawn, labels, looks, options, others, names if by_stroke else None)
    if options.is_unbounded:
        ax.autoscale(axis="y")
        ax.set_ylim(bottom=0)
    ax.apply_aspect()
    show_hidden(ax)
    _write_thresholds(ax, drawn, options)
    if options.legend:
        draw_legend(ax, title, own_figure=own_figure, keep_below=options.rectangles)


def layout_of(keys: pl.DataFrame, options: PlotOptions) -> tuple[list[str], list[str], list[str]]:
    """The keys that tell lines apart, those of panels, and those averaged over; too many curves raise an error."""
    over, panels = keys_of("average", options.average, keys.columns), keys_of("facet", options.facet, keys.columns)
    for key in panels:
        if key in over:
            raise ValueError(f"facet= and average= both name {key!r}: a panel shows a group, or its mean")
    lines = [key for key in keys.columns if key not in (*over, *panels)]
    n_lines, n_panels = (keys[names].n_unique() if names else 1 for names in (lines, panels))
    n_lines *= len(options.ys)
    if options.label is not None and n_lines != 1:
        raise ValueError(f"label= names one curve, and there are {n_lines}: leave it out")
    most = options.max_groups or (_PANELS if panels else _IN_AXES if options.highlight is None else _BEHIND)
    ways = "choose groups with a filter"
    if n_panels > most:
        raise ValueError(f"facet= gives {n_panels} panels, more than max_groups={most}: {ways}, or raise max_groups=")
    if panels and n_lines > _IN_PANEL:
        raise ValueError(
            f"{n_lines} curves in one panel are more than can be told apart ({_IN_PANEL}): {ways}, or facet by more "
            "keys"
        )
    if not panels and n_lines > most:
        alternatives = (
            "facet=True draws small multiples, average=True their mean, highlight=3 names the best and the worst; or "
        )
        raise ValueError(
            f"{n_lines} curves are more than can be told apart in one axes ({most}): "
            f"{alternatives if keys.columns else ''}{ways}, or raise max_groups="
        )
    return lines, panels, over


def refuse_thresholds(options: PlotOptions, scores: pl.Series, *, ascending: bool) -> None:
    """A threshold that no score reaches is an error."""
    best: Any = scores.min() if ascending else scores.max()
    where = "below every score (the lowest" if ascending else "above every score (the highest"
    for threshold in options.thresholds:
        if best is not None and (threshold < best if ascending else threshold > best):
            raise ValueError(f"threshold={threshold:g} lies {where} is {best:g}): no row is predicted positive there")


def _refuse_unused_colors(drawn: Sequence[DrawnCurve | Average], keys: Sequence[str], options: PlotOptions) -> None:
    names = {written(name_of(curve.key, part)) for curve in drawn for part in (keys, *([key] for key in keys))}
    if options.colors and drawn and not names.intersection(options.colors):
        raise ValueError(
            f"colors names no curve of this plot: it has {examples(sorted(names - {''})) or 'one, without a name'}; "
            "color= sets the colour of all curves"
        )


def written(name: str) -> str:
    """The name that a caller knows, from a name in the legend."""
    return name.removeprefix("\u200b").replace(r"\$", "$")


def looks_of(
    ax: Axes, keys: Sequence[dict[str, Any]], lines: Sequence[str], options: PlotOptions, first: int = 0
) -> list[Look]:
    """Colours by system, or by quantity, and strokes by group; without either, colours by group."""
    hues = [name for name in ("system", Y_KEY) if name in lines][:1]
    groups = [name for name in lines if name not in hues]
    hue, group = ([name_of(key, names) for key in keys] for names in (hues, groups))
    both = len(set(hue)) > 1 and len(set(group)) > 1
    if not both:
        hue = [name_of(key, lines) for key in keys]
    return [
        Look(
            style(ax, first + number, stroke if both else None, options.colors.get(written(name)), options.line),
            name,
            of if both else None,
        )
        for name, of, number, stroke in zip(hue, group, numbers_in_order(hue), numbers_in_order(group), strict=True)
    ]


def _explain_looks(
    ax: Axes, drawn: Sequence[DrawnCurve | Average], looks: Sequence[Look], keys: Sequence[str], options: PlotOptions
) -> None:
    """Add two parts to the legend: what colours mean, and what strokes mean, with the numbers of each group."""
    colours = {look.hue: look.line["color"] for look in looks}
    strokes = {look.group: look.line.get("linestyle") for look in looks}
    for name, colour in colours.items():
        ax.plot([], [], color=colour, label=name)
    has_areas = bool(options.areas) and len(colours) <= _LEGEND_SYSTEMS
    names = escape(shorten(", ".join(key for key in keys if key not in ("system", Y_KEY))))
    kind = "mean " * isinstance(drawn[0], Average) + options.area_title if has_areas else ""
    ax.plot([], [], linestyle="", label=with_numbers(names, kind))[0].set_gid("strokes")
    for group, stroke in strokes.items():
        members = [curve for curve, look in zip(drawn, looks, strict=True) if look.group == group]
        areas = [area_texts(curve, options)[0].rpartition(" = ")[2] for curve in members] if has_areas else []
        areas = ["-" if "undefined" in area else area for area in areas]
        label = with_numbers(f"{group}  {', '.join(areas)}".rstrip(), count_text(members))
        ax.plot([], [], color=grey(ax, 0.4), linestyle=stroke, label=label)[0].set_gid("strokes")


def _split_highlighted(
    drawn: Sequence[DrawnCurve | Average], keys: Sequence[str], options: PlotOptions
) -> tuple[list[DrawnCurve | Average], list[DrawnCurve]]:
    """The curves that have a colour and a name, in the order of `highlight=` or of their areas, and the others."""
    wanted = options.highlight
    if wanted is None:
        return list(drawn), []
    curves = [curve for curve in drawn if isinstance(curve, DrawnCurve)]
    names = [written(name_of(curve.key, keys)) for curve in curves]
    if isinstance(wanted, int):
        if not options.areas:
            raise ValueError(
                f"highlight={wanted} takes the best and the worst by the area under them, and of these axes there is "
                "none: give names"
            )
        areas = [curve.numbers[options.areas[0]] for curve in curves]
        ranked = sorted((i for i, area in enumerate(areas) if area is not None), key=lambda i: -areas[i])
        places = [*ranked[:wanted], *ranked[max(wanted, len(ranked) - wanted) :]]
    else:
        for name in wanted:
            if name not in names:
                near = nearest(name, names)
                hint = did_you_mean(near) if near else f"there are {', '.join(names)}"[:200]
                raise ValueError(f"highlight: {shown(name)} is none of the curves; {hint}")
        places = [names.index(name) for name in wanted]
    others = [curve for i, curve in enumerate(curves) if i not in places]
    if others and len(places) > (options.max_groups or _IN_AXES):
        raise ValueError(f"highlight= names {len(places)} curves, more than can be told apart ({_IN_AXES}): name fewer")
    return [curves[i] for i in places], others


def _draw_others(ax: Axes, others: Sequence[DrawnCurve], options: PlotOptions) -> None:
    """Draw the curves that have no name, thin and grey, behind the others."""
    if not others:
        return
    bare = replace(options, rectangles=False, interpolated=False, points=None, k=None)
    look = {"color": grey(ax, 0.7), "linewidth": 0.6, "zorder": 1.5}
    for curve in others:
        draw_curve(ax, curve, "_other", bare, {**look, "marker": ""})
    explain(ax, f"{len(others)} other{'s' * (len(others) > 1)}", **look)


def draw_content(
    ax: Axes,
    drawn: Sequence[DrawnCurve | Average],
    labels: Sequence[str],
    looks: Sequence[Look],
    options: PlotOptions,
    others: Sequence[DrawnCurve] = (),
    mark_names: Sequence[str] | None = None,
    label_marks: bool = True,
) -> None:
    """Draw curves with their marks, the baseline and contours."""
    before = _curves_in(ax)
    curves = [curve for curve in drawn if isinstance(curve, DrawnCurve)]
    if options.baseline and options.has_chance_line:
        draw_chance(ax, options, curves)
    elif options.baseline and options.ys == ("precision",):
        shares = [(curve.numbers["prevalence"], look.line["color"]) for curve, look in zip(drawn, looks, strict=True)]
        shares += [(curve.numbers["prevalence"], grey(ax, 0.7)) for curve in others]
        draw_baselines(ax, shares, options.decimals if label_marks else None, as_band=bool(others))
    draw_iso_f(ax, options)
    for i, (curve, label, look) in enumerate(zip(drawn, labels, looks, strict=True)):
        if isinstance(curve, Average):
            draw_average(ax, curve, label, options, look.line, len(drawn))
            continue
        draw_curve(ax, curve, label, options, look.line)
        for point, shape, text in marks_of(curve, options):
            text = f"{mark_names[i]}: {text}" if mark_names else text
            dots(ax, [point.x], [point.y], look.line["color"], shape, text if label_marks else "_mark").set_gid(MARK)
            if options.x == "threshold":
                colour = look.line["color"] if len(options.ys) == 1 else grey(ax, 0.6)
                ax.axvline(point.x, color=colour, linewidth=0.8, zorder=1, label=GUIDE)
    if not before and not any(curve.drawn for curve in drawn):
        rows = any(curve.blocks.height for curve in curves)
        positives = any(curve.numbers["positives"] for curve in drawn)
        say(ax, "no positives" if rows and not positives else "nothing retrieved" if positives else "no rows")


def set_axes(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve | Average]) -> None:
    """Set limits, with room for a line along the edges, and ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    box = ax.get_window_extent()
    few = min(box.width, box.height) / ax.figure.dpi < _SMALL
    for name, quantity in (("x", options.x), ("y", options.ys[0])):
        axis = ax.xaxis if name == "x" else ax.yaxis
        unit_range = axis_quantity(quantity).unit_range
        if unit_range:
            ax.set(**{f"{name}lim": (-0.02, 1.02)})
        # No list of ticks: the caller may zoom in.
        axis.set_major_locator(MaxNLocator(3 if few else 6, steps=[1, 2, 5, 10]))
        if few and unit_range:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if options.x == "k":
        last = [(curve.strips["recall"] if isinstance(curve, Average) else curve.blocks["k"]).max() for curve in curves]
        if any(isinstance(rank, (int, float)) and rank >= _LOGARITHMIC for rank in last):
            ax.set_xscale("log")


def _curves_in(ax: Axes) -> int:
    """How many curves the axes have: the next curve takes the next colour."""
    return len(_named_curves(ax))


def _named_curves(ax: Axes) -> list[Any]:
    return [
        line
        for line in ax.get_lines()
        if line.get_gid() is None
        and (line.get_label() == CURVE or not str(line.get_label()).startswith(("_", BASELINE)))
    ]


def draw_curve(ax: Axes, curve: DrawnCurve, label: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """Draw a curve, with its area, envelope and levels."""
    blocks = curve.blocks
    if not curve.drawn:
        ax.plot([], [], label=label, **line)
        return
    if blocks.height <= (EDGES if options.rectangles and options.points != 101 else _MARKED):
        line = {"marker": "o", "markersize": 4, **line}
    if not options.is_pr:
        _draw_line(ax, blocks, options, {**line, "label": label})
        return
    height = "interpolated_precision" if options.interpolated else "precision"
    if options.k is not None:
        alpha = _FAINT * (1 if line.get("alpha") is None else line["alpha"])
        _draw_steps(ax, blocks, "precision", {**line, "alpha": alpha, "label": "_rest"})
        blocks = curve_data.first_k(blocks, options.k)
    if options.rectangles:
        _draw_rectangles(ax, curve_data.steps_of(blocks, height, most=_STEPS), line["color"], options.points != 101)
    if options.interpolated:
        _fill_steps(ax, blocks, "precision", height, line["color"])
        _draw_steps(ax, blocks, height, {**line, "marker": "", "linestyle": DASHED, "label": "_envelope"})
        explain(ax, "interpolated", linestyle=DASHED)
        if options.points is not None:
            levels, envelope = curve_data.recall_levels(curve, options.points)
            shape = "s" if options.points == 11 else "."
            dots(ax, levels, envelope, line["color"], shape, "_levels")
            explain(ax, f"{options.points} levels of recall", linestyle="", marker=shape)
    _draw_steps(ax, blocks, "precision", {**line, "label": label})


def explain(ax: Axes, label: str, **look: Any) -> None:
    """Add an entry to the legend, once, for what curves have in common."""
    if label not in ax.get_legend_handles_labels()[1]:
        ax.plot([], [], **{"color": grey(ax, 0.5), "linewidth": 1, "label": label, "gid": SHARED, **look})


def draw_average(
    ax: Axes, average: Average, label: str, options: PlotOptions, line: dict[str, Any], averages: int
) -> None:
    """Draw the mean of the curves of many groups, and their spread; `averages`: how many there are."""
    if not average.drawn:
        ax.plot([], [], label=label, **line)
        return
    if not options.is_pr:
        # At ranks, which are points.
        line = {"drawstyle": "default", **line}
    if options.spread == "groups":
        _draw_groups(ax, average, line)
    elif options.spread is not None:
        low, high, _ = SPREADS[options.spread]
        band = average.strips.filter(pl.col(low).is_not_null())
        if averages > _BANDS:
            for edge in (low, high):
                _draw_steps(ax, band, edge, {**line, "marker": "", "linewidth": 0.6, "alpha": 0.6, "label": "_edge"})
        elif band.height:
            _fill_steps(ax, band, low, high, line["color"], steps=options.is_pr)
    if options.spread is not None:
        words, thin = SPREADS[options.spread][2], averages > _BANDS or options.spread == "groups"
        explain(ax, words, **({"linewidth": 0.7} if thin else {"linewidth": 6, "alpha": _FILL}))
    _draw_steps(ax, average.strips, "precision", {**line, "label": label})


def draw_baselines(
    ax: Axes, shares: Sequence[tuple[float | None, Any]], decimals: int | None, *, as_band: bool
) -> None:
    """Draw the prevalence, the mean precision of random rankings: a dotted line each, or a grey band for many.

    `decimals`: those of the values in the legend, None for no values.
    """
    colours: dict[float, tuple[float, Any]] = {}
    for share, colour in shares:
        if share:
            _, other = colours.setdefault(round(share, 2), (share, colour))
            if other != colour:  # the prevalence of a group, whose systems have a colour each
                colours[round(share, 2)] = (share, grey(ax, 0.5))
    lines: list[Any] = [line for line in ax.get_lines() if line.get_label() == f"_{BASELINE}"]
    bands = [patch.get_extents() for patch in ax.patches if patch.get_label() == f"_{BASELINE}"]
    before = [line.get_ydata()[0] for line in lines]
    heights = [share for share, _ in colours.values()]
    every = [*heights, *before, *(y for band in bands for y in band.transformed(ax.transData.inverted()).intervaly)]
    if not every:
        return
    is_band = len(colours) > (1 if as_band else _BASELINES)
    look: dict[str, Any] = {"color": grey(ax, 0.5), "alpha": 0.2} if is_band else {"linestyle": ":"}
    for line in ax.get_lines():
        if line.get_gid() == SHARED and is_baseline(line.get_label()):
            line.remove()
    values = dict.fromkeys(number_text(height, decimals or 0) for height in (min(every), max(every)))
    label = BASELINE if decimals is None else with_numbers(BASELINE, " to ".join(values))
    explain(ax, label, **look | {"linewidth": 6 if is_band else 1})
    if is_band:
        ax.axhspan(min(heights), max(heights), linewidth=0, zorder=0.5, label=f"_{BASELINE}", **look)
        return
    for share, colour in colours.values():
        if any(abs(height - share) < 0.005 for height in before):
            continue
        colour = colour if before or len(colours) > 1 else grey(ax, 0.5)
        ax.axhline(share, color=colour, linestyle=":", linewidth=1, zorder=1, label=f"_{BASELINE}")


def draw_chance(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve]) -> None:
    """Draw a random ranking, and for gains a perfect ranking."""
    look: dict[str, Any] = {"color": grey(ax, 0.5), "linewidth": 1, "zorder": 1, "label": f"_{BASELINE}"}
    if all(line.get_label() != look["label"] for line in ax.get_lines()):
        if options.is_unbounded:
            ax.axhline(1, linestyle=":", **look)
        else:
            ax.plot([0, 1], [0, 1], linestyle=":", **look)
    explain(ax, with_numbers("random ranking", "AUC = 0.5" if options.is_roc else ""), linestyle=":")
    if options.is_gain:
        for share in {curve.numbers["prevalence"] for curve in curves if curve.numbers["prevalence"]}:
            ax.plot([0, share, 1], [0, 1, 1], linestyle="--", **look)
        explain(ax, "perfect ranking", linestyle="--")


def draw_iso_f(ax: Axes, options: PlotOptions) -> None:
    """Draw contours of equal F: precision = F r / ((1 + b^2) r - b^2 F)."""
    from matplotlib.collections import LineCollection

    if not options.iso_f:
        return
    square, contours = float(options.beta) ** 2, []
    for f in options.iso_f:
        start = square * f / (1 + square - f)  # the recall at which precision 1 gives this F
        recall = [start + (1 - start) * (i / 200) ** 2 for i in range(201)]
        contours.append([(r, f * r / ((1 + square) * r - square * f)) for r in recall])
        text = f"F{options.beta} = {f:g}" if f == max(options.iso_f) else f"{f:g}"
        look: dict[str, Any] = {"fontsize": "x-small", "color": grey(ax, 0.35), "ha": "right", "va": "center"}
        ax.text(1.0, contours[-1][-1][1], text, zorder=0.6, path_effects=[_halo(ax)], **look).set_gid(ISO_F)
    ax.add_collection(
        LineCollection(contours, colors=grey(ax, 0.6), linewidths=0.7, zorder=0.5, label=ISO_F), autolim=False
    )


def _halo(ax: Axes) -> Any:
    """The background around letters, where lines run behind them."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=2, foreground=ax.get_facecolor())


def _write_thresholds(ax: Axes, drawn: Sequence[DrawnCurve | Average], options: PlotOptions) -> None:
    """Write thresholds along the curves, but not over each other."""
    boxes: list[Any] = []
    for curve in drawn:
        if not options.threshold_labels or isinstance(curve, Average) or not curve.drawn:
            continue
        points = curve_data.spaced_points(curve, options.threshold_labels)
        if not (options.rectangles and curve.blocks.height <= EDGES):  # there, all thresholds are points
            dots(ax, [p.x for p in points], [p.y for p in points], ink(ax), ".", "_thresholds").set_markersize(5)
        for point in points:
            right, up = ax.transAxes.inverted().transform(ax.transData.transform((point.x, point.y)))
            # At the edges of the axes, towards their middle: no room is kept outside.
            side, level = -1 if right > 0.85 else 1, -1 if up > 0.9 else 1
            text = ax.annotate(
                curve_data.threshold_text(curve, point),
                (point.x, point.y),
                xytext=(4 * side, 4 * level),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="bottom" if level > 0 else "top",
                fontsize="small",
                color=ink(ax),
                path_effects=[_halo(ax)],
            )
            text.set_in_layout(False)
            box = text.get_window_extent()
            if any(box.overlaps(other) for other in boxes):
                text.remove()
            else:
                boxes.append(box)


def show_hidden(ax: Axes) -> None:
    """Draw a curve wider, and below, where a later curve lies on it for some way along the axis."""
    import numpy as np

    for line in [line for line in ax.get_lines() if line.get_label() == "_below"]:
        line.remove()
    curves = _named_curves(ax)
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
            # Along the axis only: at the left edge of most plots, steps up and down lie on each other.
            stretches = [stretch for stretch in stretches if np.ptp(stretch[:, 0]) >= shortest]
            if not stretches:
                break
            # Not a number ends a stretch.
            gap = [[np.nan, np.nan]]
            parts = [np.vstack([ax.transData.inverted().transform(stretch), gap]) for stretch in stretches]
            (below,) = ax.plot(*np.concatenate(parts).T, color=line.get_color(), alpha=line.get_alpha(), label="_below")
            below.set(linewidth=line.get_linewidth() + 2 * layers, zorder=line.get_zorder() - 0.01 * number)
            below.set(solid_capstyle="butt", solid_joinstyle="miter")


def dots(ax: Axes, x: Sequence[float], y: Sequence[float], colour: Any, shape: str, label: str) -> Any:
    """Draw points that stand out from the curve."""
    size = 8 if shape == "." else 6
    return ax.plot(
        x, y, shape, color=colour, markersize=size, markeredgecolor=ax.get_facecolor(), zorder=3, label=label
    )[0]


def say(ax: Axes, sentence: str) -> None:
    """Write a sentence in the middle of axes that would be empty."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))


def _draw_steps(ax: Axes, blocks: pl.DataFrame, height: str, line: dict[str, Any]) -> None:
    """Draw each precision back to the recall before it, as the area under the curve is summed."""
    steps = line.get("drawstyle") != "default"
    recall, precision = blocks["recall"].to_numpy(), blocks[height].to_numpy()
    if steps and blocks.height:
        recall, precision = _from_zero(recall, precision)
    # The left end of the first step is no threshold: it gets no marker.
    ax.plot(recall, precision, **{"drawstyle": "steps-pre", "markevery": slice(int(steps), None), **line})


def _draw_line(ax: Axes, blocks: pl.DataFrame, options: PlotOptions, line: dict[str, Any]) -> None:
    """Draw straight lines between thresholds, and steps against the threshold itself.

    The ROC curve and gains begin where nothing is predicted; the ROC curve ends where all rows are.
    """
    import numpy as np

    x, y = blocks.filter(pl.col("y").is_not_null()).select("x", "y").cast(pl.Float64).to_numpy().T
    if options.is_roc or options.is_gain:
        x, y = np.append(0.0, x), np.append(0.0, y)
        line = {"markevery": slice(1, None), **line}
    if options.is_gain:
        tenths = [i / 10 for i in range(1, 11)]
        dots(ax, tenths, np.interp(tenths, x, y).tolist(), line["color"], ".", "_tenths")
        explain(ax, "tenths of the rows", linestyle="", marker=".")
    if options.is_roc:
        x, y = np.append(x, 1.0), np.append(y, 1.0)
    ax.plot(x, y, **{"drawstyle": "steps-post" if options.x == "threshold" else "default", **line})


def _draw_groups(ax: Axes, average: Average, line: dict[str, Any]) -> None:
    from matplotlib.collections import LineCollection

    width = average.strips.height
    heights = average.members.to_numpy().reshape(-1, width)
    recall = average.strips["recall"].to_numpy()
    import numpy as np

    x = np.column_stack([np.concatenate([[0.0], recall[:-1]]), recall]).ravel()
    if line.get("drawstyle") == "default":
        steps = [np.column_stack([recall, member]) for member in heights]
    else:
        steps = [np.column_stack([x, np.repeat(member, 2)]) for member in heights]
    ax.add_collection(
        LineCollection(steps, colors=[line["color"]], linewidths=0.6, alpha=0.25, zorder=1, label="_groups"),
        autolim=False,
    )


def _fill_steps(ax: Axes, blocks: pl.DataFrame, low: str, high: str, colour: Any, steps: bool = True) -> None:
    """Fill the area between two heights."""
    areas = curve_data.steps_of(blocks, low, high, most=_STEPS) if steps else blocks
    recall, *heights = (areas[name].to_numpy() for name in ("recall", low, high))
    if steps:
        recall, *heights = _from_zero(recall, *heights)
    look: dict[str, Any] = {"color": colour, "alpha": _FILL, "linewidth": 0}
    ax.fill_between(recall, heights[0], heights[1], step="pre" if steps else None, **look)


def _from_zero(recall: Any, *heights: Any) -> list[Any]:
    """Add the left end of the first step, which is at recall 0."""
    import numpy as np

    return [np.append(0.0, recall), *(np.append(height[:1], height) for height in heights)]


def _draw_rectangles(ax: Axes, steps: pl.DataFrame, colour: Any, edges: bool) -> None:
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    right, height = steps.to_numpy().T
    left, zero = np.append(0.0, right)[:-1], np.zeros_like(height)
    corners: Any
    if steps.height <= EDGES and edges:
        corners = np.stack([left, zero, left, height, right, height, right, zero], axis=1).reshape(-1, 4, 2)
        edge: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.6}
    else:
        # Edges would paint narrow rectangles over, and antialiasing show the seams: one outline of all.
        top = np.stack([left, height, right, height], axis=1).reshape(-1, 2)
        corners, edge = [np.concatenate([[[0.0, 0.0]], top, [[right[-1], 0.0]]])], {"linewidth": 0}
    ax.add_collection(
        PolyCollection(corners, facecolor=to_rgba(colour, _FILL), label="_rectangles", **edge), autolim=False
    )
