"""A confusion matrix as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.plotting.styles import MIDDLE, canvas, check_axes, escape, need_matplotlib, shine, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("truth", "prediction", "rows", "of_truth")
_COUNTS = ("tp", "fp", "fn", "tn")
_NUMBERED = 20
"""Most classes whose cells have numbers."""
_NAME_LETTERS = 40
"""Letters of the name of a class."""


@public()
def plot_confusion(frame: Frame, /, *, ax: Axes | None = None) -> Axes:
    r"""A heat map of what `confusion_matrix` gave, or of a row of `confusion`: a row for each truth, and its shares.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `confusion_matrix` gave, of one group; or one row of `confusion`, of which positives come first.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.

    Returns
    -------
    matplotlib Axes
        Dark where many of a truth are predicted so; up to 20 classes, the counts, and the share of their truth.

    Raises
    ------
    ValueError, TypeError
        The frame is neither of these, or has several groups.
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> images = pl.DataFrame({"shown": ["cat", "dog", "dog"], "predicted": ["cat", "cat", "dog"]})
    >>> ax = fp.plot_confusion(fp.confusion_matrix(images, "shown", "predicted"), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1\n100%', '0\n0%', '1\n50%', '1\n50%']
    """
    need_matplotlib()
    check_axes(ax)
    table = _cells(frame)
    classes = table["truth"].unique(maintain_order=True).to_list()
    if table.height != len(classes) ** 2:
        raise ValueError(
            "plot_confusion draws one group: a row for each pair of classes, as confusion_matrix gave it; filter it"
        )
    width = min(1.5 + 0.55 * len(classes), 12)
    with canvas(ax, figsize=(width + 0.5, width), layout="constrained") as target:
        _draw_cells(target, table, classes)
    return target


def _draw_cells(ax: Axes, table: pl.DataFrame, classes: list[Any]) -> None:
    shares = table["of_truth"].to_numpy().reshape(len(classes), -1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = ["(null)" if label is None else str(label) for label in classes]
    names = [escape(shorten(name, _NAME_LETTERS)) for name in names]
    ticks: Any = range(len(classes))
    long = max(map(len, names), default=0) > 8
    ax.set_xticks(ticks, names, rotation=45 if long else 0, ha="right" if long else "center", rotation_mode="anchor")
    ax.set_yticks(ticks, names)
    ax.set(xlabel="Prediction", ylabel="Truth")
    ax.tick_params(length=0)
    if len(classes) > _NUMBERED:
        return
    size = "small" if len(classes) <= 6 else "x-small"
    for i, (rows, share) in enumerate(table.select("rows", "of_truth").iter_rows()):
        count = f"{rows:,}" if isinstance(rows, int) else f"{rows:,.1f}"
        text = count if share is None or (not rows and len(classes) > 2) else f"{count}\n{share:.0%}"
        background = "white" if share is None else image.cmap(share)
        colour = "black" if shine(background) > MIDDLE else "white"
        ax.text(i % len(classes), i // len(classes), text, ha="center", va="center", color=colour, fontsize=size)


def _cells(frame: Any) -> pl.DataFrame:
    """A row for each pair of classes: `_COLUMNS`."""
    kind = kind_of(frame)
    if all(name in kind.columns for name in _COLUMNS):
        return kind.read([*_COLUMNS]).select(map(by_name, _COLUMNS)).collect()
    if any(name not in kind.columns for name in _COUNTS):
        lacks = next(name for name in _COLUMNS if name not in kind.columns)
        raise ValueError(
            "plot_confusion draws a frame that confusion_matrix or confusion gave, and this one has no column "
            f"{lacks!r} "
            "(of confusion_matrix), nor all of tp, fp, fn and tn (of confusion); give a matrix as rows, before a pivot"
        )
    counts = kind.read([*_COUNTS]).select(map(by_name, _COUNTS)).collect()
    if counts.height != 1:
        raise ValueError(f"plot_confusion draws one row of confusion, and there are {counts.height}: filter them")
    tp, fp, fn, tn = counts.row(0)
    cells = {"truth": ["positive"] * 2 + ["negative"] * 2, "prediction": ["positive", "negative"] * 2}
    return pl.DataFrame(cells | {"rows": [tp, fn, fp, tn]}).with_columns(
        of_truth=pl.when(pl.col("rows").sum().over("truth") > 0).then(
            pl.col("rows") / pl.col("rows").sum().over("truth")
        )
    )
