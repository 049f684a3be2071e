"""Draw small multiples: a panel for each group, and a legend for all panels."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.plotting.appearance import PANELS, Appearance, grey, letter_scale, open_figure, shorten, value_text
from frame_pr.plotting.curve_artists import CurveStyle, draw_content, write_reason
from frame_pr.plotting.curve_data import DrawnCurve
from frame_pr.plotting.draw import fit_heights, set_axes, show_hidden, styles_of
from frame_pr.plotting.legends import BASELINE, SHARED, area_texts, axis_titles, count_text, marks_of, name_of
from frame_pr.plotting.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_LEAST, _MOST, _ROW_OF_PANELS = 1.7, 3.4, 6.0
"""Inches of the narrowest and the widest panel and of a row of panels, with letters of 10 points."""
_TITLE_LETTERS, _NUMBER_LETTERS = 14, 17
"""Letters per inch of a title, and of the numbers below it."""
_LINE, _ROW = 0.15, 0.13
"""Height in inches of a line of a title, and of a line of numbers above a panel."""
_KEY = 0.07
"""Length of the piece of a line before the numbers of its curve, as a share of the panel."""
NUMBERS = "numbers"
"""gid of the numbers above a panel."""
_MARGIN_LETTERS = 18
"""The most letters of the name of a row, in the margin."""
_GRID = 48
"""The most cells of a grid of two keys."""


def draw_facets(
    curves: Sequence[DrawnCurve], names: Sequence[str], lines: Sequence[str], options: PlotOptions
) -> Figure | SubFigure:
    """Draw the curves in a panel for each group of the keys `names`. Two keys make rows and columns."""
    members: dict[tuple[Any, ...], list[DrawnCurve]] = {}
    for curve in curves:
        members.setdefault(panel_key(curve.key, names), []).append(curve)
    keys = [of_panel[0].key for of_panel in members.values()]
    cells, scale, shared = _cells(keys, names, options), letter_scale(), {"sharex": True, "sharey": True}
    rows, columns = _shape(cells)
    width = min(_MOST, max(_LEAST, _ROW_OF_PANELS / columns))
    size: dict[str, Any] = {"figsize": (scale * (width * columns + 0.4), scale * ((width + 0.1) * rows + 0.4))}
    panels = _open_panels(keys, names, cells, options, axis_titles(options), shared, layout="compressed", **size)
    with panels as (figure, axes, titles):
        set_axes(axes[0], options, curves)  # once, because matplotlib visits all axes that share the axis
        styles = styles_of(axes[0], [curve.key for of_panel in members.values() for curve in of_panel], lines, options)
        if not members:
            write_reason(axes[0], "no rows")
        of_panels = iter(styles)
        width = (figure.bbox.width / figure.dpi / scale - 0.4) / columns
        letters = int(_TITLE_LETTERS * width)
        title_lines, number_rows = 1, 0
        for ax, (row, column), name, of_panel in zip(axes, cells, titles, members.values(), strict=False):
            panel_styles = [next(of_panels) for _ in of_panel]
            ax.spines[:].set_in_layout(False)
            ax.set_box_aspect(1 if options.is_square else None)
            labels = [_numbers(curve, options) for curve in of_panel]
            draw_content(ax, of_panel, labels, panel_styles, options, label_marks=False)
            lowest = (row + 1, column) not in cells
            ax.tick_params(labelsize="small", labelbottom=lowest, bottom=lowest, left=column == 0)
            above = _write_numbers(ax, labels, panel_styles, int(_NUMBER_LETTERS * width))
            title = [*textwrap.wrap(name, max(8, letters))[:2], count_text(of_panel)]
            if len(" ".join(title)) + 2 <= letters:
                title = [f"{title[0]} ({title[1]})" if len(title) > 1 else title[0]]
            # With a fixed height, matplotlib does not look for tick labels in the place of the title, which takes long.
            ax.set_title("\n".join(title), fontsize="small", y=1.0, pad=5 + 72 * _ROW * scale * above)
            title_lines, number_rows = max(title_lines, len(title)), max(number_rows, above)
        fit_heights(axes[0], options)
        height = scale * rows * ((title_lines - 1) * _LINE + number_rows * _ROW)
        if options.legend and (handles := _shared_handles(axes, styles, options)):
            height += _draw_shared_legend(figure, handles).get_window_extent().height / figure.dpi
        if options.figure is None:
            figure.set_figheight(figure.get_figheight() + height)
        for ax in axes:
            show_hidden(ax)
    return figure  # type: ignore[no-any-return]


def draw_panels(
    keys: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    tables: Sequence[pl.DataFrame],
    options: Appearance,
    size: tuple[float, float],
    draw_panel: Callable[[Axes, pl.DataFrame], str | None],
    titles: tuple[str, str],
    **shared: bool,
) -> Figure | SubFigure:
    """Draw a panel of this size in inches for each group. `draw_panel` may return a line below its title."""
    if options.ax is not None:
        raise ValueError(f"ax: {len(keys)} groups need a panel each; leave out ax=, or give figure=")
    options.check_number(len(keys), "panels of by=", PANELS)
    places = options.places(keys)
    keys = [keys[place] for place in places]
    cells = _cells(keys, names, options)
    rows, columns = _shape(cells)
    figsize = (size[0] * columns + 0.4, size[1] * rows + 0.4)
    panels = _open_panels(keys, names, cells, options, titles, shared, layout="constrained", figsize=figsize)
    with panels as (figure, axes, panel_names):
        handles: dict[str, Any] = {}
        for ax, place, title in zip(axes, places, panel_names, strict=True):
            ax.set_title(f"{title}\n{draw_panel(ax, tables[place]) or ''}".strip(), fontsize="small")
            ax.tick_params(labelsize="small")
            handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        if options.legend and handles:
            _draw_shared_legend(figure, list(handles.values()))
    return figure  # type: ignore[no-any-return]


@contextmanager
def _open_panels(
    keys: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    cells: Sequence[tuple[int, int]],
    options: Appearance,
    titles: tuple[str, str],
    shared: Mapping[str, bool],
    **settings: Any,
) -> Iterator[tuple[Any, list[Axes], list[str]]]:
    """Yield a figure, the axes of each group, and the names above them."""
    with open_figure(options.figure, **settings) as figure:
        if options.figure is None:
            figure._ipython_display_ = partial(_close_in_notebook, figure)
        grid = figure.subplots(*_shape(cells), squeeze=False, **shared)
        for ax in grid.flat:
            ax.set_axis_off()
        panels = [grid[cell] for cell in cells] or [grid[0, 0]]
        for ax in panels:
            ax.set_axis_on()
            ax.spines[["top", "right"]].set_visible(False)
        for ax, key in zip(panels, keys, strict=False):
            ax.set_label(", ".join(panel_key(key, names)))
        yield figure, panels, _panel_names(keys, cells, grid, names, options)
        figure.supxlabel(titles[0], fontsize="medium")
        figure.supylabel(titles[1], fontsize="medium")


def _close_in_notebook(figure: Figure) -> None:
    """Close a figure in pyplot when a notebook displays it. Otherwise the notebook would display it twice."""
    import matplotlib
    import matplotlib.pyplot as plt

    if "inline" in matplotlib.get_backend():
        plt.close(figure)
    raise NotImplementedError  # IPython goes on and shows the picture


def _cells(keys: Sequence[Mapping[str, Any]], names: Sequence[str], options: Appearance) -> list[tuple[int, int]]:
    """Return the row and column of each panel: by the values of two keys, or in reading order."""
    if _is_grid(keys, names):
        of_panels = [panel_key(key, names) for key in keys]
        down, right = (list(dict.fromkeys(values)) for values in zip(*of_panels, strict=True))
        return [(down.index(a), right.index(b)) for a, b in of_panels]
    columns = columns_of(len(keys), options.figure)
    return [divmod(i, columns) for i in range(len(keys))]


def _is_grid(keys: Sequence[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Return whether two keys, with several values each, leave few cells empty."""
    if len(names) != 2:
        return False
    down, right = (len({value_text(key[name]) for key in keys}) for name in names)
    return down * right <= max(_GRID, len(keys)) and min(down, right) > 1


def _shape(cells: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the numbers of rows and of columns."""
    rows, columns = zip((0, 0), *cells, strict=True)
    return max(rows) + 1, max(columns) + 1


def columns_of(panels: int, target: Figure | SubFigure | None = None) -> int:
    """Return the number of columns: few empty cells, or the largest panels if the caller gives the figure."""
    if target is not None:
        width, height = target.bbox.width, target.bbox.height
        return max(range(1, max(1, panels) + 1), key=lambda n: min(width / n, height / ceil(panels / n)))
    least = max(1, ceil(sqrt(panels)))
    return min(range(least, min(panels, least + 2) + 1), key=lambda n: (-panels % n, n), default=1)


def panel_key(key: Mapping[str, Any], panels: Sequence[str]) -> tuple[str, ...]:
    """Return the values of the keys of a panel, as texts."""
    return tuple(value_text(key[name]) for name in panels)


def _panel_names(
    keys: Sequence[Mapping[str, Any]],
    cells: Sequence[tuple[int, int]],
    grid: Any,
    panels: Sequence[str],
    options: Appearance,
) -> list[str]:
    """Return the names above the panels. In a grid of two keys, write the first key to the right of the rows."""
    titles = [options.label_of(panel) for panel in panels]
    if not _is_grid(keys, panels):
        names = [name_of(key, panels, options.labels) for key in keys]
        return [f"{', '.join(titles)}: {name}" if i == 0 else name for i, name in enumerate(names)]
    top = {column: row for row, column in sorted(cells, reverse=True)}
    end = dict(sorted(cells))
    names = []
    for (row, column), key in zip(cells, keys, strict=True):
        if column == end[row]:
            name = shorten(name_of(key, panels[:1], options.labels), _MARGIN_LETTERS)
            name = f"{titles[0]}: " * (row == 0) + name
            settings: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": "small"}
            grid[row, column].annotate(name, (1, 0.5), xytext=(4, 0), rotation=270, va="center", **settings)
        name = f"{titles[1]}: " * (column == min(top)) + name_of(key, panels[1:], options.labels)
        names.append(name * (row == top[column]))
    return names


def _numbers(curve: DrawnCurve, options: PlotOptions) -> str:
    """Return the numbers of a curve, with one line for each mark."""
    areas = ", ".join(area_texts(curve, options)).replace(" undefined", " -").replace(" = ", " ")
    marks = [mark.label.removeprefix("max ").replace(" = ", " ") for mark in marks_of(curve, options)]
    first = ", ".join(text for text in (areas, *marks[:1]) if text)
    return "\n".join([first, *marks[1:]])


def _write_numbers(ax: Axes, labels: Sequence[str], styles: Sequence[CurveStyle], letters: int) -> int:
    """Write the numbers of all curves between the panel and its title; return how many lines they need.

    `letters`: how many letters fit in a line. Texts and pieces of lines need a third of the time of a legend.
    """
    from matplotlib.transforms import offset_copy

    if not any(labels):
        return 0
    lines = [label.count("\n") + 1 for label in labels]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(labels), letters // (longest + 4)))
    if columns > 1:
        lines = [max(lines)] * len(labels)
    tops = list(accumulate(lines[::columns], initial=0))
    height, size = 72 * _ROW * letter_scale(), "x-small" if longest < letters else "xx-small"
    figure: Any = ax.figure
    for i, (label, style) in enumerate(zip(labels, styles, strict=True)):
        row, column = divmod(i, columns)
        left, top = column / columns, height * (tops[-1] - tops[row])
        place = offset_copy(ax.transAxes, figure, 0, top - 0.42 * height, "points")
        line = {**style.line, "marker": "", "clip_on": False, "label": "_key", "transform": place}
        ax.plot([left, left + _KEY], [1, 1], scalex=False, scaley=False, **line)
        above = offset_copy(ax.transAxes, figure, 0, top, "points")
        text = ax.text(left + 1.3 * _KEY, 1, label, transform=above, va="top", fontsize=size)
        text.set(in_layout=False, gid=NUMBERS)
    return tops[-1]


def _shared_handles(axes: Sequence[Axes], styles: Sequence[CurveStyle], options: PlotOptions) -> list[Any]:
    """Return the entries of the shared legend. A baseline alone needs no legend."""
    from matplotlib.lines import Line2D

    hues = {style.hue: style.line for style in styles}
    groups = {style.group: style.line.get("linestyle") for style in styles if style.group is not None}
    if groups:
        handles = [Line2D([], [], color=line["color"], label=hue) for hue, line in hues.items()]
        colour = grey(axes[0], 0.4)
        handles += [Line2D([], [], color=colour, linestyle=stroke, label=group) for group, stroke in groups.items()]
    else:
        handles = [Line2D([], [], **line, label=hue) for hue, line in hues.items() if hue]
    shared = {str(line.get_label()): line for ax in axes for line in ax.get_lines() if line.get_gid() == SHARED}
    names = sorted(shared, key=lambda name: name == BASELINE)
    if not handles and names == [BASELINE]:
        return []
    for name in names:
        shared[name].set_label(options.display(name))
    return handles + [shared[name] for name in names]


def _draw_shared_legend(figure: Figure | SubFigure, handles: Sequence[Any]) -> Any:
    """Draw the legend above all panels, in as many columns as fit."""
    columns = len(handles)
    settings: dict[str, Any] = {"fontsize": "small", "frameon": False, "columnspacing": 1.2}
    while True:
        legend = figure.legend(handles=handles, loc="outside upper center", ncols=columns, **settings)
        share = legend.get_window_extent().width / figure.bbox.width
        if columns == 1 or share <= 0.97:
            return legend
        legend.remove()
        columns = max(1, min(columns - 1, int(columns / share)))
