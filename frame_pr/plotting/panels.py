"""Where curves go: one axes, or panels; how many are too many; and what is refused before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import text, whole
from frame_pr.frames.wording import kind_of_value, shown
from frame_pr.plotting import curve_frames, legends
from frame_pr.plotting import lines as artists
from frame_pr.plotting.axes_and_names import check_axes, in_legend, need_matplotlib
from frame_pr.plotting.contents import draw_content, explain_looks, labels_of, looks_of
from frame_pr.plotting.curve_frames import FIGURE, Average, Curves, DrawnCurve
from frame_pr.plotting.facets import draw_facets
from frame_pr.plotting.highlights import draw_others, highlighted
from frame_pr.plotting.options import (
    PlotOptions,
    keys_of,
    options_of,
    refuse_with_average,
    refuse_with_axes,
    yes_or_key_names,
)
from frame_pr.plotting.overlaps import CURVE, show_hidden
from frame_pr.plotting.rank_averages import averages_at_ranks
from frame_pr.plotting.room import lay_out
from frame_pr.plotting.texts import draw_marks, name_of, titles_of, write_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


_IN_AXES = 10
"""Curves that can be told apart."""
_BEHIND = 200
"""Curves of which some are named."""
_IN_PANEL = 10
"""Curves that can be told apart in a small panel."""


class PlotTarget(NamedTuple):
    """Where the curves go."""

    ax: Axes | None
    facet: bool | str | Sequence[str]
    average: bool | str | Sequence[str]
    label: str | None
    max_groups: int | None
    figure: Figure | SubFigure | None


def checked(given: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[PlotOptions, PlotTarget]:
    """The arguments of `plot` or `plot_curve`, by their names, if they make sense."""
    need_matplotlib()
    options, target = options_of(given, line), PlotTarget(**{name: given[name] for name in PlotTarget._fields})
    check_axes(target.ax)
    facet, average = (yes_or_key_names(name, given[name]) for name in ("facet", "average"))
    target = target._replace(facet=facet, average=average)
    _check_label(target)
    _check_figure(target)
    if target.facet and target.ax is not None:
        raise ValueError("facet= draws a figure of its own: leave out ax=, or facet=")
    if target.facet is True and target.average:
        raise ValueError(
            "facet=True draws every group and average= their mean: leave out one of the two, or name the keys of both"
        )
    for name in ("facet", "average"):
        if options.highlight is not None and getattr(target, name):
            raise ValueError(f"highlight= names some of many curves in one axes: leave it out, or {name}=")
    refuse_with_axes(options, bool(target.average))
    if target.average:
        refuse_with_average(options)
    if target.max_groups is not None:
        target = target._replace(max_groups=whole("max_groups", target.max_groups, least=1))
    return options, target


def refuse_other_keys(target: PlotTarget, keys: Sequence[str]) -> None:
    """What is drawn apart, or averaged over, are keys: told before the curve is computed."""
    for name in ("facet", "average"):
        keys_of(name, getattr(target, name), keys)


def _check_figure(target: PlotTarget) -> None:
    """What panels are drawn in, if it is said."""
    from matplotlib.figure import Figure, SubFigure

    if target.figure is None:
        return
    if not isinstance(target.figure, (Figure, SubFigure)):
        raise TypeError(f"figure must be a matplotlib Figure or SubFigure, got {kind_of_value(target.figure)}")
    if not target.facet:
        raise ValueError("figure= is where facet= draws its panels: give ax=, or facet=")


def _check_label(target: PlotTarget) -> None:
    """A label is text, and where it is mathematics, such as matplotlib can draw."""
    from matplotlib.cbook import is_math_text
    from matplotlib.mathtext import MathTextParser

    if target.label is None:
        return
    label = text("label", target.label)
    if target.facet:
        raise ValueError("label= names one curve, and facet= draws several: leave it out")
    if is_math_text(label):
        try:
            MathTextParser("path").parse(label)
        except ValueError:
            raise ValueError(
                f"label is no mathematics that matplotlib can draw: {shown(label)}; a dollar is \\$"
            ) from None


def draw(
    frame: Any,
    options: PlotOptions,
    target: PlotTarget,
    totals: Any = None,
) -> Axes | Figure | SubFigure:
    """Draw the frame that `curve` gave; `totals`: of all groups, what `evaluate` gives for `curve_frames.TOTALS`."""
    curves = curve_frames.curves_of(frame, options.x, options.figures)
    if totals is not None:
        curves = curve_frames.with_unretrieved(curves, totals)
    if options.k is not None and not curves.table["k"].dtype.is_integer():
        raise ValueError("k= cuts at a rank, and the rows of this curve are weighted and have none: leave out k=")
    keys = curves.keys.columns
    over, panels = keys_of("average", target.average, keys), keys_of("facet", target.facet, keys)
    for key in panels:
        if key in over:
            raise ValueError(f"facet= and average= both name {key!r}: a panel shows a group, or its mean")
    lines = [key for key in keys if key not in (*over, *panels)]
    _refuse_too_many(curves.keys, lines, panels, target, options)
    drawn: Sequence[DrawnCurve | Average]
    if over and options.x == "k":
        drawn = averages_at_ranks(curves, over, options.figures)
    elif over:
        drawn = curve_frames.averages_of(curves, over, options.height)
    else:
        _refuse_unreached(curves, options)
        drawn = curve_frames.drawn_curves(curves, options.metrics, options.figures)
    # A key that has one value tells no curves apart.
    lines = [key for key in lines if curves.keys[key].n_unique() > 1] or lines
    if len(options.figures) > 1:
        lines.append(FIGURE)
    if panels:
        return draw_facets(drawn, panels, lines, options, target.figure)
    if target.label is not None and len(drawn) != 1:
        raise ValueError(f"label= names one curve, and there are {len(drawn)}: leave it out")
    drawn, others = highlighted(drawn, lines, options)
    if others and len(drawn) > (target.max_groups or _IN_AXES):
        raise ValueError(f"highlight= names {len(drawn)} curves, more than can be told apart ({_IN_AXES}): name fewer")
    own = target.ax is None
    if target.ax is None:
        import matplotlib.pyplot as plt

        # The layout that knows of square axes.
        ax = plt.figure(layout="compressed").subplots()
        if options.is_square:
            ax.set_box_aspect(1)
    else:
        ax = target.ax
    names = [name_of(each.key, lines) if target.label is None else in_legend(target.label) for each in drawn]
    looks = looks_of(ax, [each.key for each in drawn], lines, options, artists.curves_in(ax))
    artists.prepare(ax, options, drawn)
    ax.set(**dict(zip(("xlabel", "ylabel"), titles_of(options), strict=True)))
    labels, title = labels_of(ax, drawn, names, lines, options)
    if looks and looks[0].group is not None:
        explain_looks(ax, drawn, looks, lines, options)
        labels, title = [CURVE] * len(drawn), ""
    draw_others(ax, others, options)
    draw_content(ax, drawn, labels, looks, options)
    artists.finish(ax, options)
    lay_out(ax)
    show_hidden(ax)
    notes = draw_marks(ax, drawn, options, [look.line["color"] for look in looks])
    write_notes(ax, notes)
    if legends.draw_legend(ax, title, options, own) and notes:
        # It took room from the axes, or from the notes, which have to find theirs again.
        write_notes(ax, notes, ax.get_legend())
        legends.draw_legend(ax, title, options, own)
    return ax


def _refuse_too_many(
    keys: pl.DataFrame, lines: Sequence[str], panels: Sequence[str], target: PlotTarget, options: PlotOptions
) -> None:
    n_lines, n_panels = (keys[[*names]].n_unique() if names else 1 for names in (lines, panels))
    n_lines *= len(options.figures)
    most = target.max_groups or (48 if panels else _IN_AXES if options.highlight is None else _BEHIND)
    ways = "choose groups with a filter"
    if n_panels > most:
        raise ValueError(f"facet= gives {n_panels} panels, more than max_groups={most}: {ways}, or raise max_groups=")
    if panels and n_lines > _IN_PANEL:
        raise ValueError(
            f"{n_lines} curves in one panel are more than can be told apart ({_IN_PANEL}): {ways}, or facet by more "
            "keys"
        )
    if not panels and n_lines > most:
        ways_on = (
            "facet=True draws small multiples, average=True their mean, highlight=3 names the best and the worst; or "
        )
        other = ways_on if keys.columns else ""
        raise ValueError(
            f"{n_lines} curves are more than can be told apart in one axes ({most}): {other}{ways}, or raise "
            "max_groups="
        )


def _refuse_unreached(curves: Curves, options: PlotOptions) -> None:
    thresholds = curves.table["threshold"]
    best: Any = thresholds.min() if curves.ascending else thresholds.max()
    where = "below every score (the lowest" if curves.ascending else "above every score (the highest"
    for threshold in options.thresholds:
        if best is not None and (threshold < best if curves.ascending else threshold > best):
            raise ValueError(f"threshold={threshold:g} lies {where} is {best:g}): no row is predicted positive there")
