"""Small multiples: a panel for each group, what they share above them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from frame_pr.plotting import legends
from frame_pr.plotting import lines as artists
from frame_pr.plotting.axes_and_names import plain
from frame_pr.plotting.colours import grey
from frame_pr.plotting.contents import Look, draw_content, looks_of
from frame_pr.plotting.curve_frames import Average, DrawnCurve
from frame_pr.plotting.options import PlotOptions
from frame_pr.plotting.overlaps import show_hidden
from frame_pr.plotting.room import BASELINE, lay_out
from frame_pr.plotting.texts import (
    count_of,
    draw_marks,
    figures_in_label,
    fitted,
    in_words,
    labelled,
    name_of,
    number,
    operating_points,
    titles_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_WIDTH, _HEIGHT = 1.7, 1.8
"""Inches of a panel, with letters of 10 points."""
_ROOM = 0.88
"""Of the width of a panel, for its title."""
_LINE = 0.15
"""Inches of a line of small letters."""
_ROW_LETTERS = 18
"""Of the name of a row, beside it."""
_CONTOUR = 50
"""Points that the names of contours take beside a panel."""
_GRID = 48
"""Panels that rows and columns of two keys may make."""


def draw_facets(
    drawn: Sequence[DrawnCurve | Average],
    panels: Sequence[str],
    lines: Sequence[str],
    options: PlotOptions,
    target: Figure | SubFigure | None,
) -> Figure | SubFigure:
    """A panel for each group of the keys `panels`; two keys make rows and columns."""
    from matplotlib import rcParams
    from matplotlib.lines import Line2D

    inside: dict[tuple[Any, ...], list[int]] = {}
    for i, each in enumerate(drawn):
        inside.setdefault(tuple(each.key[key] for key in panels), []).append(i)
    cells = _cells(list(inside), target)
    rows, columns = (max(numbers, default=0) + 1 for numbers in (zip(*cells, strict=True) if cells else ((), ())))
    most = max(map(len, inside.values()), default=0)
    scale = rcParams["font.size"] / 10
    figure = target or _new_figure(rows, columns, scale)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    artists.prepare(grid[0, 0], options, drawn)  # once: each time, matplotlib goes through all axes that share theirs
    looks = looks_of(grid[0, 0], [each.key for each in drawn], lines, options)
    for ax in grid.flat:
        if options.is_square:
            ax.set_box_aspect(1)
        ax.set_axis_off()
    used: list[tuple[Axes, list[int]]] = []
    for (row, column), (_, members) in zip(cells, inside.items(), strict=True):
        ax, own = grid[row, column], [drawn[i] for i in members]
        ax.set_axis_on()
        labels = [_label(each, options) for each in own]
        ends = row == 0 and (row, column + 1) not in cells
        draw_content(ax, own, labels, [looks[i] for i in members], options, label_iso_f=ends)
        last = (row + 1, column) not in cells
        ax.tick_params(labelsize="small", labelbottom=last, bottom=last, left=column == 0)
        used.append((ax, members))
    if not used:
        grid[0, 0].set_axis_on()
        artists.say(grid[0, 0], "no rows")
    if _is_grid(list(inside)):
        names = _write_margins(dict(zip(cells, inside, strict=True)), grid, panels, options)
    else:
        names = [name_of(dict(zip(panels, key, strict=True)), panels) for key in inside]
        names[:1] = [f"{plain(', '.join(panels))}: {name}" for name in names[:1]]
    counts = [count_of([drawn[i] for i in members]) for members in inside.values()]
    room = _ROOM * (_WIDTH * scale * figure.dpi if target is None else figure.bbox.width / columns)
    artists.finish(grid[0, 0], options)
    along, up = titles_of(options)
    figure.supxlabel(along, fontsize="medium")
    figure.supylabel(up, fontsize="medium")
    whole, axes = grid[0, 0].figure.canvas.figure, [ax for ax, _ in used]
    told = figures_in_label(drawn[0], options) if drawn else []
    what = [text.removesuffix(" undefined").partition(" = ")[0] for text in told[:1]]
    high, handles = whole.get_figheight(), _shared_handles(grid[0, 0], axes, looks)
    legend = None
    for above in legends.rows_above(most, options):
        lines_of_titles = _write_titles(axes, names, counts, above * scale, room)
        more = scale * rows * ((lines_of_titles - 1) * _LINE + above * legends.ROW)
        if options.legend and handles:
            if legend is not None:
                legend.remove()
            bare = [Line2D([], [], linestyle="", label=f"figures: {one}") for one in what if 0 < above < most]
            legend = legends.draw_shared_legend(figure, [*handles, *bare])
            more += legend.get_window_extent().height / figure.dpi
        if target is None:
            whole.set_figheight(high + more)
        lay_out(grid[0, 0])
        if not options.legend or not legends.draw_panel_legends(axes, above, options):
            break
    for ax, members in used:
        show_hidden(ax)
        draw_marks(ax, [drawn[i] for i in members], options, [looks[i].line["color"] for i in members])
    return figure


def _new_figure(rows: int, columns: int, scale: float) -> Figure:
    import matplotlib.pyplot as plt

    size = (scale * (_WIDTH * columns + 0.4), scale * (_HEIGHT * rows + 0.4))
    return plt.figure(figsize=size, layout="compressed")


def _cells(keys: Sequence[tuple[Any, ...]], target: Figure | SubFigure | None) -> list[tuple[int, int]]:
    """Row and column of each panel: by the values of two keys, else in reading order."""
    if _is_grid(keys):
        down, along = ([*dict.fromkeys(key[i] for key in keys)] for i in (0, 1))
        return [(down.index(a), along.index(b)) for a, b in keys]
    columns = _columns(len(keys), target)
    return [divmod(i, columns) for i in range(len(keys))]


def _is_grid(keys: Sequence[tuple[Any, ...]]) -> bool:
    """Whether there are two keys, of several values each, that leave not too many holes."""
    if not keys or len(keys[0]) != 2:
        return False
    down, along = (len({key[i] for key in keys}) for i in (0, 1))
    return down * along <= max(_GRID, len(keys)) and min(down, along) > 1


def _write_margins(
    keys: dict[tuple[int, int], tuple[Any, ...]], grid: Any, panels: Sequence[str], options: PlotOptions
) -> list[str]:
    """The first key at the right of the rows; gives what stands above the panels: the second, on top of the columns."""
    named = {
        cell: [name_of({name: one}, [name]) for name, one in zip(panels, key, strict=True)]
        for cell, key in keys.items()
    }
    top = {column: min(row for row, other in keys if other == column) for _, column in keys}
    end = {row: max(column for other, column in keys if other == row) for row, _ in keys}
    for row, column in end.items():
        name = f"{plain(panels[0])}: " * (row == 0) + fitted(named[row, column][0], _ROW_LETTERS)
        # Beside the names of contours, which the first row has.
        away = _CONTOUR if options.iso_f and row == 0 else 4
        look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": "small"}
        grid[row, column].annotate(name, (1, 0.5), xytext=(away, 0), rotation=270, va="center", **look)
    first = min(top)
    return [
        (f"{plain(panels[1])}: " * (column == first) + named[row, column][1]) * (row == top[column])
        for row, column in keys
    ]


def _columns(panels: int, target: Figure | SubFigure | None) -> int:
    """Few cells left empty, not far from square; in a figure of the caller, the largest panels."""
    if target is not None:
        wide, high = target.bbox.width, target.bbox.height
        return max(range(1, max(1, panels) + 1), key=lambda n: min(wide / n, high / ceil(panels / n)))
    least = max(1, ceil(sqrt(panels)))
    return min(range(least, min(panels, least + 2) + 1), key=lambda n: (-panels % n, n), default=1)


def _label(each: DrawnCurve | Average, options: PlotOptions) -> str:
    """Numbers of a curve, and its operating points, each in a line."""
    numbers = ", ".join(figures_in_label(each, options))
    if isinstance(each, Average):
        return numbers
    marks = [in_words(text).removeprefix("max ") for _, _, text in operating_points(each, options)]
    if options.x == "threshold":
        values = [number(point.y, options.decimals) for point, _, _ in operating_points(each, options)]
        marks = [f"{value} at {text.rpartition(' ')[2]}" for value, text in zip(values, marks, strict=True)]
    first = ", ".join(one for one in (numbers.replace(" = ", " ") if marks else numbers, *marks[:1]) if one)
    return "\n".join([first, *marks[1:]])


def _write_titles(
    panels: Sequence[Axes], names: Sequence[str], counts: Sequence[str], above: float, room: float
) -> int:
    """Each within so many pixels, in as many lines as it needs up to three; how many the longest has."""
    most = 1
    for ax, name, count in zip(panels, names, counts, strict=True):
        title = ax.set_title(labelled(name, count), fontsize="small", pad=4 + 72 * legends.ROW * above)
        width = title.get_window_extent().width
        if width > room:
            letters = max(8, int(len(title.get_text()) * room / width) - 1)
            lines = textwrap.wrap(fitted(name, 2 * letters - 2), letters)[:2]
            title.set_text("\n".join([*lines, count]))
            most = max(most, len(lines) + 1)
    return most


def _shared_handles(ax: Axes, panels: Sequence[Axes], looks: Sequence[Look]) -> list[Any]:
    """What colours and strokes tell, if there are several, and what else panels explain, but for the baseline alone."""
    from matplotlib.lines import Line2D

    hues = {look.hue: look.line for look in looks}
    groups = {look.group: look.line.get("linestyle") for look in looks if look.group is not None}
    handles = [Line2D([], [], **line, label=hue) for hue, line in hues.items() if hue]
    if groups:
        handles = [Line2D([], [], color=line["color"], label=hue) for hue, line in hues.items()]
        handles += [Line2D([], [], color=grey(ax, 0.4), linestyle=stroke, label=of) for of, stroke in groups.items()]
    told: dict[str, Any] = {}
    for panel in panels:
        told |= {str(line.get_label()): line for line in panel.get_lines() if line.get_gid() == "explained"}
    names = sorted(told, key=lambda name: name == BASELINE)
    return [] if not handles and names == [BASELINE] else handles + [told[name] for name in names]
