"""Plots of confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.metrics.metric import ratio
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style
from frame_pr.plotting.results import Result, columns_of, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAIRS = ("tp", "fn", "fp", "tn")
_CUTOFFS = ("threshold", "k")
_EXPECTATION = "plot_confusion draws a frame that confusion_matrix or confusion gave"
_CELLS = pl.DataFrame(
    {
        "variable": _PAIRS,
        "truth": ["positive", "positive", "negative", "negative"],
        "prediction": ["positive", "negative", "positive", "negative"],
    }
)
_NAME = 24
"""The most letters of the name of a class."""
_NAMES = 0.3
"""The share of the width of a figure, or of the caller's axes, that names may take."""
_SMALL = 0.83
"""The size of the texts in cells, in em."""
_CELL = 4.5
"""The width of a cell in em, if the figure has room."""


def draw_confusion(frame: Any, options: Mapping[str, Any]) -> Any:
    """Draw what `plot_confusion` returns."""
    style = Style.of(options, panels=True)
    result, cutoff = _cells(frame)
    classes = result.table["truth"].unique(maintain_order=True)
    if classes.is_empty():
        raise ValueError(f"{_EXPECTATION}, and this one has no rows")
    groups = {key: _square(table, classes) for key, table in result.groups()}
    names = [draw.shorten(style.label(name), _NAME) for name in classes]
    prediction = style.label("Prediction")
    if cutoff:
        prediction = f"{prediction}\n({cutoff})"
    size = (7 + 3 * len(names), 5)
    with draw.axes_of(style, len(groups), size, ratio=0.8, shared="") as axes:
        if len(groups) == 1 and not style.axes:
            _fit_figure(axes[0], names)
        for ax, (key, cells) in zip(axes, groups.items(), strict=True):
            _draw_cells(ax, cells, len(names))
            if len(groups) > 1:
                draw.title_panel(ax, style, style.join(key))
        draw.title_panels(axes, style, prediction, style.label("Label"))
        _write_cells(axes, list(groups.values()), names, style)
    return draw.one_or_all(axes)


def _fit_figure(ax: Axes, names: Sequence[str]) -> None:
    """Make a new figure no wider than its cells and the names of the classes need."""
    cell_width = _CELL * max(2, len(names))
    name_width = 0.5 * max(map(len, names))
    figure = draw.figure_of(ax)
    side = min(figure.get_figwidth(), (cell_width + name_width + 4) * draw.em())
    figure.set_size_inches(side, 1.05 * side)


def _cells(frame: Any) -> tuple[Result, str]:
    """Return the rows of each pair of classes, and the cutoff of a result of `confusion`."""
    names = columns_of(frame)
    if "truth" in names or not set(_PAIRS) <= {*names}:
        advice = (
            "give the rows of confusion_matrix, before a pivot, or tp, fp, fn and tn of confusion"
        )
        columns = dict.fromkeys(("truth", "prediction", "rows"), advice)
        return read_result(frame, columns, _EXPECTATION), ""
    columns = dict.fromkeys(_PAIRS, "confusion gives it") | dict.fromkeys(_CUTOFFS, "")
    keys, counts = read_result(frame, columns, _EXPECTATION)
    is_single = counts.height == 1
    if keys:
        is_single = not counts.select(keys.values()).is_duplicated().any()
    if not is_single:
        raise ValueError(
            f"{_EXPECTATION} at one cutoff of each group, and there are several; filter the frame"
        )
    cells = counts.unpivot([*_PAIRS], index=list(keys.values()), value_name="rows")
    cells = cells.join(_CELLS, on="variable", maintain_order="left")
    return Result(keys, cells), _cutoff(counts)


def _cutoff(counts: pl.DataFrame) -> str:
    """Return the threshold if all groups have the same, else `k` if all have the same, else ""."""
    for name in _CUTOFFS:
        if name in counts.columns:
            values = counts[name].unique()
            if len(values) == 1 and values[0] is not None:
                return f"{name} {draw.threshold_text(values[0])}"
    return ""


def _square(table: pl.DataFrame, classes: pl.Series) -> pl.DataFrame:
    """Return the cells of a group row by row, with their shares of the rows with this label."""
    truth = pl.DataFrame({"truth": classes})
    prediction = pl.DataFrame({"prediction": classes.cast(table["prediction"].dtype)})
    cells = truth.join(prediction, how="cross", maintain_order="left_right").join(
        table,
        on=["truth", "prediction"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    if table.height != len(classes) ** 2 or cells["rows"].null_count():
        raise ValueError(
            f"{_EXPECTATION}, which has a row for each pair of classes; give the whole frame"
        )
    return cells.with_columns(share=ratio(pl.col("rows"), pl.col("rows").sum().over("truth")))


def _draw_cells(ax: Axes, cells: pl.DataFrame, n: int) -> None:
    """Draw the colours of the cells of a group with so many classes."""
    shares = cells["share"].fill_null(0).to_numpy().reshape(n, n)
    colours = "Blues_r" if draw.text_on(ax.get_facecolor()) == "white" else "Blues"
    ax.imshow(shares, colours, vmin=0, vmax=1)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _name_classes(
    ax: Axes,
    names: Sequence[str],
    cell: float,
    style: Style,
) -> None:
    """Write the names of classes at cells of so many pixels, broken or turned, if they fit."""
    figure = draw.figure_of(ax)
    width = figure.bbox.width
    if style.axes:
        width *= ax.get_position(original=True).width
    size, every = draw.line_size(figure, cell)
    names = [draw.shorten_to(ax, name, _NAMES * width, size) for name in names]
    across = [draw.fit(ax, name, cell, size) for name in names]
    turn = 0
    is_broken = any(text.split() != name.split() for text, name in zip(across, names, strict=True))
    if is_broken or max(draw.text_width(ax, name, size) for name in across) > cell:
        across = names
        turn = 90
    places = range(0, len(names), every)
    ax.set_xticks(places, across[::every], rotation=turn, fontsize=size)
    ax.set_yticks(places, names[::every], fontsize=size)


def _write_cells(
    axes: Sequence[Axes],
    groups: Sequence[pl.DataFrame],
    names: Sequence[str],
    style: Style,
) -> None:
    """Write counts and shares into the cells, shares only, or in place of them a colour bar."""
    from matplotlib.ticker import PercentFormatter

    n = len(names)
    cell = 0.0
    # The names take some of the room of the cells.
    for part in (0.6, 1.0):
        cell = part * min(map(min, draw.lasting_sizes(axes, style))) / n
        for ax in axes:
            _name_classes(ax, names, cell, style)
    texts: Sequence[str] = []
    for ax, cells in zip(axes, groups, strict=True):
        (image,) = ax.images
        texts, size = _texts(ax, cells, cell, keep_zeros=n <= 2)
        for place, (text, share) in enumerate(zip(texts, cells["share"], strict=False)):
            ax.text(
                place % n,
                place // n,
                text,
                color=draw.text_on(image.cmap(share or 0.0)),
                fontsize=size,
                ha="center",
                va="center",
                in_layout=False,
            )
    if not texts:
        draw.figure_of(axes[0]).colorbar(
            axes[-1].images[0],
            ax=axes if len(axes) > 1 else axes[0],
            label=draw.wrap(style.label("Share of the rows with this label"), 20),
            format=PercentFormatter(1),
            shrink=0.7,
        )


def _texts(
    ax: Axes,
    cells: pl.DataFrame,
    cell: float,
    *,
    keep_zeros: bool,
) -> tuple[Sequence[str], float]:
    """Return the texts of cells and their size: counts with shares, or shares only, if they fit."""
    rows = cells["rows"]
    shares = [
        draw.share_text(share) * bool(count or keep_zeros)
        for count, share in zip(rows, cells["share"], strict=True)
    ]
    counts = map(draw.count_text, rows)
    both = [f"{count}\n{share}".strip() for count, share in zip(counts, shares, strict=True)]
    bare = [share.removesuffix(" %") for share in shares]
    font = 72 * draw.em()
    for texts in (both, shares, bare):
        longest = max("\n".join(texts).split("\n"), key=len)
        height = (
            1.35 * max(text.count("\n") + 1 for text in texts) * draw.em() * draw.figure_of(ax).dpi
        )
        size = font * cell / max(height, draw.text_width(ax, f"{longest} "))
        if size >= draw.least_size():
            if texts is bare:
                ax.set_xlabel(f"{ax.get_xlabel()}\n(cells: % of the label)".strip())
            return texts, min(_SMALL * font, size)
    return [], font
