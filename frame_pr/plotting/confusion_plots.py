"""Plots of confusion matrices."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public_result
from frame_pr.frames.columns import by_name
from frame_pr.frames.dispatch import find_kind
from frame_pr.frames.kinds import Frame
from frame_pr.metrics.metric import ratio
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style, StyleArguments
from frame_pr.plotting.results import Result, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAIRS = ("tp", "fn", "fp", "tn")
_EXPECTATION = "plot_confusion draws a frame that confusion_matrix or confusion gave"
_NAME, _PANEL_NAME = 24, 12
"""The most letters of the name of a class, and in panels."""
_MOST_NAMES = 40
"""The most classes with texts in the cells."""


@public_result(options=StyleArguments)
def plot_confusion(frame: Frame, /, **options: Unpack[StyleArguments]) -> Axes | Any:
    r"""Draw a confusion matrix as a heat map, from the result of `confusion_matrix` or of `confusion`.

    Rows are labels and columns are predictions. Positives come first, so the matrix is the mirror
    image of that of scikit-learn. Several groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `confusion_matrix`, or of `confusion` at one cutoff. The frame is not changed.
    labels : dict, optional
        Labels by name: of classes, such as `{"positive": "fraud", "negative": "other"}`, of systems
        and groups.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        The colour of a cell is its share of the rows with this label. Its text is the count and
        this share. With several groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, or an argument is wrong.
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
    style = Style.of(options, panels=True)
    import numpy as np

    result = _cells(frame)
    classes = result.table["truth"].unique(maintain_order=True).to_list()
    groups = [(key, _square(table, classes)) for key, table in result.groups()]
    n = len(classes)
    longest = max((len(style.label(name)) for name in classes), default=0)
    if len(groups) == 1:
        side = min(max(2.2, 0.62 * n), 10) + 0.07 * min(longest, _NAME)
        with draw.axes_of(style, (side + 1.0, side + 0.8)) as ax:
            _draw_cells(ax, groups[0][1], classes, style, _NAME)
            ax.set(xlabel="Prediction", ylabel="Label")
        return ax
    side = min(max(1.9, 0.5 * n + 0.6), 6) + 0.07 * min(longest, _PANEL_NAME)
    with draw.panels_of(style, len(groups), (side, side + 0.2)) as axes:
        for ax, (key, table) in zip(axes, groups, strict=True):
            _draw_cells(ax, table, classes, style, _PANEL_NAME)
            ax.set_title(draw.shorten(style.join(key), 28), fontsize="small")
        draw.title_figure(axes, style, "Prediction", "Label")
    return np.array(axes, dtype=object)


def _cells(frame: Any) -> Result:
    """Read a row for each pair of classes: `truth`, `prediction` and `rows`."""
    kind = find_kind(frame)
    names = [] if kind is None else list(map(str, kind.columns))
    if "truth" in names or not set(_PAIRS) <= set(names):
        advice = (
            "give the rows of confusion_matrix, before a pivot, or tp, fp, fn and tn of confusion"
        )
        return read_result(
            frame, dict.fromkeys(("truth", "prediction", "rows"), advice), _EXPECTATION
        )
    counts = read_result(
        frame, dict.fromkeys(_PAIRS, "confusion gives it"), _EXPECTATION, first=("threshold", "k")
    )
    keys = counts.key_columns
    if any(table.height != 1 for _, table in counts.groups()):
        raise ValueError(
            f"{_EXPECTATION} at one cutoff of each group, and there are several; filter the frame"
        )
    cells = zip(_PAIRS, product(("positive", "negative"), repeat=2), strict=True)
    tables = [
        counts.table.select(
            *keys, truth=pl.lit(truth), prediction=pl.lit(prediction), rows=by_name(count)
        )
        for count, (truth, prediction) in cells
    ]
    return Result(counts.keys, pl.concat(tables, how="vertical_relaxed"))


def _square(table: pl.DataFrame, classes: Sequence[Any]) -> pl.DataFrame:
    """Return the cells of a group row by row, with their shares of the rows with this label."""
    grid = pl.DataFrame(
        list(product(classes, repeat=2)), schema=["truth", "prediction"], orient="row"
    )
    grid = grid.cast({name: table.schema[name] for name in grid.columns})
    cells = grid.join(
        table, on=["truth", "prediction"], how="left", nulls_equal=True, maintain_order="left"
    )
    if table.height != grid.height or cells["rows"].null_count():
        raise ValueError(
            f"{_EXPECTATION}, which has a row for each pair of classes; give the whole frame"
        )
    return cells.with_columns(share=ratio(pl.col("rows"), pl.col("rows").sum().over("truth")))


def _draw_cells(
    ax: Axes, cells: pl.DataFrame, classes: Sequence[Any], style: Style, letters: int
) -> None:
    """Draw the cells of a group."""
    n = len(classes)
    room = _letters(ax, n)
    names = [draw.shorten(style.label(name), letters) for name in classes]
    across = [textwrap.fill(name, max(6, room), break_long_words=False) for name in names]
    fits = max(len(line) for name in across for line in name.split("\n")) <= room
    image = ax.imshow(
        cells["share"].fill_null(0).to_numpy().reshape(n, n),
        "Blues_r" if draw.is_dark(ax) else "Blues",
        vmin=0,
        vmax=1,
    )
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xticks(range(n), across if fits else names, rotation=0 if fits else 90, fontsize="small")
    ax.set_yticks(range(n), names, fontsize="small")
    if n > _MOST_NAMES:
        return
    texts, size = _texts(cells, room, keep_zeros=n <= 2)
    for place, (text, share) in enumerate(zip(texts, cells["share"], strict=True)):
        colour = draw.text_on(image.cmap(share or 0.0))
        ax.text(place % n, place // n, text, ha="center", va="center", color=colour, fontsize=size)


def _letters(ax: Axes, n: int) -> int:
    """Return how many small letters fit into a cell."""
    box = ax.get_window_extent()
    return int(min(box.width, box.height) / ax.figure.dpi / n / 0.08)


def _texts(cells: pl.DataFrame, letters: int, *, keep_zeros: bool) -> tuple[list[str], str]:
    """Return the texts of cells, counts with shares or shares only, and their size: what fits first."""
    rows = cells["rows"].to_list()
    shares = [
        draw.share_text(share) if count or keep_zeros else ""
        for count, share in zip(rows, cells["share"], strict=True)
    ]
    whole = [
        f"{draw.count_text(count)}\n{share}".strip()
        for count, share in zip(rows, shares, strict=True)
    ]
    for texts in (whole, shares):
        longest = max(len(line) for text in texts for line in text.split("\n"))
        for size, factor in (("small", 1.0), ("x-small", 1.2), ("xx-small", 1.4)):
            if longest <= letters * factor:
                return texts, size
    return shares, "xx-small"
