"""Where curves go: one axes, or small multiples; and how many are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import text, whole
from frame_pr.frames.wording import kind_of_value, shown
from frame_pr.plotting import curve_frames, texts
from frame_pr.plotting import lines as artists
from frame_pr.plotting.curve_frames import Average, Curves, DrawnCurve
from frame_pr.plotting.options import (
    PlotOptions,
    keys_of,
    options_of,
    refuse_with_average,
    refuse_with_axes,
    yes_or_key_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LEGEND = 2.0
"""Inches of one more column of a legend beside the axes."""
_LEGEND_ROW = 0.2
"""Inches of one more row of the legend above all panels."""
_IN_PANEL = 10
"""Curves that can be told apart in a small panel."""


class PlotTarget(NamedTuple):
    """Where the curves go."""

    ax: Axes | None
    facet: bool | str | Sequence[str]
    average: bool | str | Sequence[str]
    label: str | None
    max_groups: int | None


def need_matplotlib() -> None:
    """Say how to install it, before anything is computed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "frame-pr[plot]"') from error


def check_axes(ax: Any) -> None:
    """Where to draw, if it is said."""
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, got {kind_of_value(ax)}")


def checked(given: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[PlotOptions, PlotTarget]:
    """The arguments of `plot` or `plot_curve`, by their names, if they make sense."""
    need_matplotlib()
    options, target = options_of(given, line), PlotTarget(**{name: given[name] for name in PlotTarget._fields})
    check_axes(target.ax)
    facet, average = (yes_or_key_names(name, given[name]) for name in ("facet", "average"))
    target = target._replace(facet=facet, average=average)
    _check_label(target)
    if target.facet and target.ax is not None:
        raise ValueError("facet= draws a figure of its own: leave out ax=, or facet=")
    if target.facet and target.average:
        raise ValueError("facet= draws every group and average= their mean: leave out one of the two")
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


def draw(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: PlotOptions, target: PlotTarget) -> Axes | Figure:
    """Draw the frame that `curve` gave."""
    curves = curve_frames.curves_of(frame, options.x, options.y)
    if options.k is not None and not curves.table["k"].dtype.is_integer():
        raise ValueError("k= cuts at a rank, and the rows of this curve are weighted and have none: leave out k=")
    keys = curves.keys.columns
    over, panels = keys_of("average", target.average, keys), keys_of("facet", target.facet, keys)
    lines = [key for key in keys if key not in (*over, *panels)]
    _refuse_too_many(curves.keys, lines, panels, target)
    drawn: Sequence[DrawnCurve | Average]
    if over:
        drawn = curve_frames.averages_of(curves, over, options.height)
    else:
        _refuse_unreached(curves, options)
        drawn = own = curve_frames.drawn_curves(curves, options.metrics)
        if panels:
            return _facets(own, panels, lines, options)
    if target.label is not None and len(drawn) != 1:
        raise ValueError(f"label= names one curve, and there are {len(drawn)}: leave it out")
    if target.ax is None:
        import matplotlib.pyplot as plt

        wider = max(0, texts.legend_columns(len(drawn)) - 1)
        width, height = plt.rcParams["figure.figsize"]
        # The layout that knows of square axes.
        ax = plt.figure(figsize=(width + _LEGEND * wider, height), layout="compressed").subplots()
    else:
        ax = target.ax
    names = [_name(each.key, lines) if target.label is None else target.label for each in drawn]
    first = artists.curves_in(ax)
    artists.prepare(ax, ticks=6)
    ax.set(xlabel=artists.title_of(options.x), ylabel=artists.title_of(options.y))
    colours = _panel(ax, drawn, names, range(first, first + len(drawn)), options)
    texts.lay_out(ax)
    texts.draw_texts(ax, drawn, options, colours)
    texts.draw_legend(ax, plain(", ".join(lines)), options)
    return ax


def _refuse_too_many(keys: pl.DataFrame, lines: Sequence[str], panels: Sequence[str], target: PlotTarget) -> None:
    n_lines, n_panels = (keys[[*names]].n_unique() if names else 1 for names in (lines, panels))
    most = target.max_groups or (48 if panels else 10)
    ways = "choose groups with a filter"
    if n_panels > most:
        raise ValueError(f"facet= gives {n_panels} panels, more than max_groups={most}: {ways}, or raise max_groups=")
    if panels and n_lines > _IN_PANEL:
        raise ValueError(
            f"{n_lines} curves in one panel are more than can be told apart ({_IN_PANEL}): {ways}, or facet by more "
            "keys"
        )
    if not panels and n_lines > most:
        other = "" if not keys.columns else "facet=True draws small multiples, average=True their mean; or "
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


def _name(key: dict[str, Any], names: Sequence[str]) -> str:
    # A zero-width space: matplotlib leaves labels that begin with an underscore out of legends.
    name = plain(", ".join(str(key[name]) for name in names))
    return f"\u200b{name}" if name.startswith("_") else name


def plain(name: str) -> str:
    """A name of the caller's data, of which matplotlib would make mathematics between two dollars."""
    return name.replace("$", r"\$")


def _panel(
    ax: Axes,
    drawn: Sequence[DrawnCurve | Average],
    names: Sequence[str],
    numbers: Sequence[int],
    options: PlotOptions,
    label_iso_f: bool = True,
) -> list[Any]:
    """All but the texts, which need to know where the rest is; gives the colours."""
    artists.square(ax)
    styles = [artists.style(number, options) for number in numbers]
    if options.baseline and options.is_roc:
        artists.draw_diagonal(ax)
    elif options.baseline and options.y == "precision":
        shares = [(each.prevalence, line["color"]) for each, line in zip(drawn, styles, strict=True)]
        artists.draw_baselines(ax, shares)
    artists.draw_iso_f(ax, options, label_iso_f)
    for each, name, line in zip(drawn, names, styles, strict=True):
        if isinstance(each, Average):
            artists.draw_average(ax, each, name, options, line)
        else:
            artists.draw_curve(ax, each, name, options, line)
    return [line["color"] for line in styles]


def _facets(curves: Sequence[DrawnCurve], panels: Sequence[str], lines: Sequence[str], options: PlotOptions) -> Figure:
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(_name(curve.key, lines) for curve in curves))
    inside: dict[str, list[DrawnCurve]] = {}
    for curve in curves:
        title = plain(", ".join(f"{key} {curve.key[key]}" for key in panels))
        inside.setdefault(title, []).append(curve)
    inside = inside or {"no rows": []}
    rows, columns = _grid(len(inside))
    width = 1.7 * columns + 0.4
    more = (len(names) if lines else 0) // artists.shared_columns(width, names if lines else [])
    figure = plt.figure(figsize=(width, 1.8 * rows + 0.7 + _LEGEND_ROW * more), layout="compressed")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    artists.prepare(grid.flat[0], ticks=3)  # once: each time, matplotlib goes through all axes that share theirs
    colours = []
    for i, (title, members) in enumerate(inside.items()):
        numbers = [names.index(_name(curve.key, lines)) for curve in members]
        last = i % columns == columns - 1 or i == len(inside) - 1
        bare = replace(options, counts=False)
        colours.append(_panel(grid.flat[i], members, [""] * len(members), numbers, bare, label_iso_f=last))
        artists.shrink(grid.flat[i], f"{title} ({artists.positives_of(members)})" if members else title)
        grid.flat[i].tick_params(labelbottom=i + columns >= len(inside))
    for ax in grid.flat[len(inside) :]:
        ax.set_axis_off()
    figure.supxlabel(artists.title_of(options.x), fontsize="medium")
    figure.supylabel(artists.title_of(options.y), fontsize="medium")
    styles = [artists.style(number, options) for number in range(len(names))] if lines else []
    artists.draw_shared_legend(figure, names, styles, options)
    texts.lay_out(grid.flat[0])
    for ax, members, chosen in zip(grid.flat, inside.values(), colours, strict=False):
        texts.draw_texts(ax, members, options, chosen, written=False)
        texts.move_legend(ax, options)
    return figure


def _grid(panels: int) -> tuple[int, int]:
    """Rows and columns: few cells left empty, not far from square."""
    least = ceil(sqrt(panels))
    columns = min(range(least, min(panels, least + 2) + 1), key=lambda n: (-panels % n, n), default=1)
    return ceil(panels / columns), columns
