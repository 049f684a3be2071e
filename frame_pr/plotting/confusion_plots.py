"""Plots of confusion matrices."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.kinds import Frame
from frame_pr.plotting.appearance import (
    MIDDLE,
    Appearance,
    CommonArguments,
    appearance_of,
    canvas,
    escape,
    letters_along,
    luminance,
    share_text,
    shorten,
    value_text,
)
from frame_pr.plotting.facets import draw_panels
from frame_pr.plotting.results import read_cells, split_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME_LETTERS = 40
"""The most letters of the name of a class."""
_PANEL_LETTERS = 12
"""The most letters of such a name in panels of a new figure."""
_LINE_LETTERS = 20
"""The most letters of a line of such a name."""


@public()
def plot_confusion(frame: Frame, /, **options: Unpack[CommonArguments]) -> Axes | Any:
    r"""Draw a heat map of the result of `confusion_matrix` or of `confusion`: a row for each label.

    Several groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `confusion_matrix`, or of `confusion` at one cutoff. The frame is not changed.
    labels : dict, optional
        Labels by name: of systems, groups, key columns, metrics and words of the legend, such as `{'s1': 'Baseline',
        'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups, in the order of the plot; all others follow. "value": the largest value first.
        "frame": as in the frame. Default: "frame".
    decimals : int, optional
        Number of decimals in the legend, and of percentages. Default 0.
    max_groups : int, optional
        Maximum number of groups in the plot. Default: 48 panels.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        The figure to draw in, instead of `ax`.

    Returns
    -------
    matplotlib Axes
        The colour of a cell is its share of the rows with this label. Its text is the count and this share, as far as
        they fit. With several groups, the result is the Figure, and the labels of its axes are the names of the groups.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, an argument is wrong, or there are too many panels.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    confusion_matrix, confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> images = pl.DataFrame(
    ...     {"shown": ["cat", "dog", "dog"], "predicted": ["cat", "cat", "dog"]}
    ... )
    >>> ax = fp.plot_confusion(
    ...     fp.confusion_matrix(images, "shown", "predicted"), ax=Figure().subplots()
    ... )
    >>> [text.get_text() for text in ax.texts]
    ['1\n100%', '0\n0%', '1\n50%', '1\n50%']
    """
    appearance = appearance_of(options, decimals=0, has_values=False)
    table, names = read_cells(frame)
    keys, tables = split_groups(table, names)
    classes = table["truth"].unique(maintain_order=True).to_list()
    appearance.check_names([*classes, *(value for key in keys for value in key.values())])
    classes = appearance.in_order(classes)
    tables = [_in_class_order(cells, classes) for cells in tables]
    longest = max((len(appearance.display(value_text(name))) for name in classes), default=0)
    if len(keys) == 1:
        side = min(max(2.0, 0.62 * len(classes)), 12)
        side += 0.8 + 0.09 * min(longest, _LINE_LETTERS)
        with canvas(appearance, figsize=(side, side), layout="constrained") as target:
            _draw_cells(target, tables[0], classes, appearance, in_new_figure=appearance.in_new_figure)
        return target

    def draw_panel(ax: Axes, cells: pl.DataFrame) -> None:
        _draw_cells(ax, cells, classes, appearance, in_new_figure=False, room=letters)
        ax.set(xlabel="", ylabel="")

    letters = None if appearance.figure is not None else min(longest, _PANEL_LETTERS)
    panel = min(max(1.9, 0.5 * len(classes) + 0.7), 6) + 0.09 * (letters or 0)
    return draw_panels(keys, names, tables, appearance, (panel, panel), draw_panel, ("Prediction", "Truth"))


def _in_class_order(table: pl.DataFrame, classes: Sequence[Any]) -> pl.DataFrame:
    """Return the cells of a group, row by row. Each pair of classes must have one."""
    rank = {value_text(name): place for place, name in enumerate(classes)}
    cells = [[rank[value_text(name)] for name in table[side]] for side in ("truth", "prediction")]
    places = [down * len(classes) + across for down, across in zip(*cells, strict=True)]
    if sorted(places) != list(range(len(classes) ** 2)):
        raise ValueError(
            "plot_confusion draws a row for each pair of classes, as confusion_matrix gave it, and a group has "
            f"{table.height}, not {len(classes) ** 2}; give the whole frame"
        )
    return table[[places.index(place) for place in range(len(places))]]


def _draw_cells(
    ax: Axes,
    table: pl.DataFrame,
    classes: Sequence[Any],
    appearance: Appearance,
    in_new_figure: bool,
    room: int | None = None,
) -> None:
    """Draw the cells of a group, row by row. `room`: the most letters of the name of a class; None: as many as fit."""
    names = [appearance.display(value_text(name)) for name in classes]
    shares = table["of_truth"].to_numpy().reshape(len(names), -1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    ax.set(xlabel="Prediction", ylabel="Truth", xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.apply_aspect()
    # A layout engine moves axes of the caller when it draws: by a fifth at most.
    cell = ax.get_window_extent().width / len(names) * (1 if ax.figure.get_layout_engine() is None else 0.8)
    room = room or min(_LINE_LETTERS, max(4, letters_along(ax, 0.25 * cell * len(names))))
    names = [shorten(name, _NAME_LETTERS if in_new_figure else room) for name in names]
    names = [escape(textwrap.fill(name, _LINE_LETTERS)) for name in names]
    widths, heights = zip(*(_text_size(ax, name, "small") for name in names), strict=True)
    every = range(0, len(names), ceil(max(heights) / cell))
    ax.set_xticks(every, [names[i] for i in every], rotation=90 if max(widths) > 0.95 * cell else 0, fontsize="small")
    ax.set_yticks(every, [names[i] for i in every], fontsize="small")
    if in_new_figure:
        ax.figure.draw_without_rendering()  # type: ignore[union-attr]
        cell = ax.get_window_extent().width / len(names)
    texts, size = _fitting_texts(ax, table, 0.92 * cell, appearance.decimals, keep_zeros=len(names) <= 2)
    for i, (share, text) in enumerate(zip(table["of_truth"], texts, strict=True)):
        background = "white" if share is None else image.cmap(share)
        colour = "black" if luminance(background) > MIDDLE else "white"
        place = i % len(names), i // len(names)
        ax.text(*place, text, ha="center", va="center", color=colour, fontsize=size)


def _fitting_texts(
    ax: Axes, table: pl.DataFrame, cell: float, decimals: int, *, keep_zeros: bool
) -> tuple[list[str], str]:
    """Return the texts of cells: counts with shares, short counts with shares, or shares, whichever fit first."""
    rows, shares = table["rows"].to_list(), [share_text(share, decimals) for share in table["of_truth"]]
    shares = [share if n or keep_zeros else "" for n, share in zip(rows, shares, strict=True)]
    whole_counts = [f"{n:,}" if isinstance(n, int) else f"{n:,.1f}" for n in rows]
    for counts in (whole_counts, [short_count(n) for n in rows], None):
        texts = shares if counts is None else [f"{n}\n{s}".strip() for n, s in zip(counts, shares, strict=True)]
        longest = max(
            ("\n".join([line] * (text.count("\n") + 1)) for text in texts for line in text.split("\n")), key=len
        )
        for size in ("small", "x-small", "xx-small"):
            if max(_text_size(ax, longest, size)) <= cell:
                return texts, size
    return [""] * len(rows), "small"


def _text_size(ax: Axes, text: str, size: str) -> tuple[float, float]:
    """Return the width and height of a text in pixels."""
    artist = ax.text(0, 0, text, fontsize=size)
    box = artist.get_window_extent()
    artist.remove()
    return box.width, box.height


def short_count(count: float) -> str:
    """Format a count with three digits, such as 12.6k."""
    units = iter("kMGTPE")
    unit = ""
    while count >= 999.5:
        count, unit = count / 1000, next(units)
    return f"{count:.3g}{unit}"
