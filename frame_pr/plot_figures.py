"""Where curves go: one axes, or small multiples; and how many are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr import plot_artists, plot_data, plot_texts
from frame_pr.plot_data import Average, Group
from frame_pr.plot_options import Look, keys_of, refuse_with_average

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Place(NamedTuple):
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


def checked(place: Place, look: Look) -> Place:
    """The same, if it makes sense."""
    from matplotlib.axes import Axes

    if place.ax is not None and not isinstance(place.ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, got a {type(place.ax).__name__}")
    if place.facet and place.ax is not None:
        raise ValueError("facet= draws a figure of its own: leave out ax=, or facet=")
    if place.facet and place.average:
        raise ValueError("facet= draws every group and average= their mean: leave out one of the two")
    if place.average:
        refuse_with_average(look)
    if place.max_groups is not None and (not isinstance(place.max_groups, int) or place.max_groups < 1):
        raise ValueError(f"max_groups must be a whole number of at least 1, got {place.max_groups!r}")
    return place


def draw(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, look: Look, place: Place) -> Axes | Figure:
    """Draw the frame that `curve` gave."""
    table, keys = plot_data.table_of(frame)
    over, panels = keys_of("average", place.average, keys), keys_of("facet", place.facet, keys)
    lines = [key for key in keys if key not in (*over, *panels)]
    _refuse_too_many(table, keys, lines, panels, place)
    drawn: Sequence[Group | Average]
    if over:
        drawn = plot_data.averages_of(table, keys, over, look.height)
    else:
        groups = plot_data.groups_of(table, keys)
        drawn = groups
        _refuse_unreached(groups, look)
        if panels:
            return _facets(groups, panels, lines, look)
    if place.label is not None and len(drawn) != 1:
        raise ValueError(f"label= names one curve, and there are {len(drawn)}: leave it out")
    if place.ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="compressed").subplots()  # the layout that knows of square axes
    else:
        ax = place.ax
    names = [_name(group.key, lines) if place.label is None else place.label for group in drawn]
    first = plot_artists.curves_in(ax)
    colours = _panel(ax, drawn, names, range(first, first + len(drawn)), look)
    plot_texts.lay_out(ax)
    plot_texts.draw_texts(ax, drawn, look, colours)
    plot_texts.draw_legend(ax, ", ".join(lines), look)
    return ax


def _refuse_too_many(
    table: pl.DataFrame, keys: Sequence[str], lines: Sequence[str], panels: Sequence[str], place: Place
) -> None:
    n_lines, n_panels = (table.select(names).n_unique() if names else 1 for names in (lines, panels))
    most = place.max_groups or (48 if panels else 10)
    ways = "choose groups with a filter"
    if n_panels > most:
        raise ValueError(f"facet= gives {n_panels} panels, more than max_groups={most}: {ways}, or raise max_groups=")
    if n_lines > (10 if panels else most):
        other = "" if panels or not keys else "facet=True draws small multiples, average=True their mean; or "
        raise ValueError(
            f"{n_lines} curves are more than can be told apart in one axes ({most}): {other}{ways}, or raise "
            "max_groups="
        )


def _refuse_unreached(groups: Sequence[Group], look: Look) -> None:
    highest = [group.blocks["threshold"][0] for group in groups if group.blocks.height]
    for threshold in look.thresholds:
        if highest and threshold > max(highest):
            raise ValueError(
                f"threshold={threshold:g} lies above every score (the highest is {max(highest):g}): "
                "no row is predicted positive there"
            )


def _name(key: dict[str, Any], names: Sequence[str]) -> str:
    return ", ".join(str(key[name]) for name in names)


def _panel(
    ax: Axes,
    drawn: Sequence[Group | Average],
    names: Sequence[str],
    numbers: Sequence[int],
    look: Look,
    label_iso_f: bool = True,
) -> list[Any]:
    """All but the texts, which need to know where the rest is; gives the colours."""
    plot_artists.prepare(ax)
    styles = [plot_artists.style(number, look) for number in numbers]
    if look.baseline:
        shares = [(each.prevalence, line["color"]) for each, line in zip(drawn, styles, strict=True)]
        plot_artists.draw_baselines(ax, shares)
    plot_artists.draw_iso_f(ax, look, label_iso_f)
    for each, name, line in zip(drawn, names, styles, strict=True):
        if isinstance(each, Average):
            plot_artists.draw_average(ax, each, name, look, line)
        else:
            plot_artists.draw_group(ax, each, name, look, line)
    return [line["color"] for line in styles]


def _facets(groups: Sequence[Group], panels: Sequence[str], lines: Sequence[str], look: Look) -> Figure:
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(_name(group.key, lines) for group in groups))
    inside: dict[str, list[Group]] = {}
    for group in groups:
        title = ", ".join(f"{key} {group.key[key]}" for key in panels)
        inside.setdefault(title, []).append(group)
    inside = inside or {"no rows": []}
    rows, columns = _grid(len(inside))
    figure = plt.figure(figsize=(1.7 * columns + 0.4, 1.8 * rows + 0.7), layout="compressed")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = []
    for i, (title, members) in enumerate(inside.items()):
        numbers = [names.index(_name(group.key, lines)) for group in members]
        last = i % columns == columns - 1 or i == len(inside) - 1
        bare = replace(look, counts=False)
        colours.append(_panel(grid.flat[i], members, [""] * len(members), numbers, bare, label_iso_f=last))
        plot_artists.shrink(grid.flat[i], f"{title} ({plot_artists.positives_of(members)})" if members else title)
        grid.flat[i].tick_params(labelbottom=i + columns >= len(inside))
    for ax in grid.flat[len(inside) :]:
        ax.set_axis_off()
    figure.supxlabel("Recall", fontsize="medium")
    figure.supylabel("Precision", fontsize="medium")
    styles = [plot_artists.style(number, look) for number in range(len(names))] if lines else []
    plot_artists.draw_shared_legend(figure, names, styles, look)
    plot_texts.lay_out(grid.flat[0])
    for ax, members, chosen in zip(grid.flat, inside.values(), colours, strict=False):
        plot_texts.draw_texts(ax, members, look, chosen)
        plot_texts.move_legend(ax, look)
    return figure


def _grid(panels: int) -> tuple[int, int]:
    """Rows and columns: few cells left empty, not far from square."""
    least = ceil(sqrt(panels))
    columns = min(range(least, min(panels, least + 2) + 1), key=lambda n: (-panels % n, n), default=1)
    return ceil(panels / columns), columns
