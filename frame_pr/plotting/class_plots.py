"""Histograms of the scores of positives and of negatives, and a confusion matrix as a heat map."""

from __future__ import annotations

import textwrap
from math import ceil
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public, real, whole
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.frames.messages import pluralize, warn
from frame_pr.functions.curves import curve
from frame_pr.inputs.policies import REFUSED, Column, Policies
from frame_pr.inputs.request import request_of
from frame_pr.plotting.curve_data import read_curves
from frame_pr.plotting.legends import draw_legend
from frame_pr.plotting.options import PlotOptions
from frame_pr.plotting.styles import (
    MIDDLE,
    canvas,
    check_axes,
    escape,
    grey,
    letters_along,
    need_matplotlib,
    palette,
    set_titles,
    shine,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 10_000
_OUTLYING, _FAR = 0.005, 20
"""If the scores are so many times as wide as without this share at either end, the axis leaves out what is beyond."""
_COLUMNS = ("truth", "prediction", "rows", "of_truth")
_COUNTS = ("tp", "fp", "fn", "tn")
_NAME_LETTERS = 40
"""Letters of the name of a class."""
_LINE_LETTERS = 20
"""Letters of a line of such a name."""


@public(REFUSED["plot_scores"])
def plot_scores(
    frame: Frame,
    /,
    truth: Column,
    score: Column,
    *,
    positive: object = None,
    threshold: float | None = None,
    bins: int = 40,
    ax: Axes | None = None,
    **policies: Unpack[Policies],
) -> Axes:
    """Draw histograms of the scores of positives and of negatives, in equal bins, each as shares that sum to 1.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed. Of a LazyFrame, the curve is collected.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression
        Higher ranks earlier, unless `ascending`.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    threshold : float, optional
        A line, and in the legend the share of positives and of negatives that are predicted positive there.
    bins : int
        Of equal width, from the lowest to the highest score.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    matplotlib Axes
        Shares of positives and of negatives in each bin, of the rows that have a score.

    Raises
    ------
    ValueError, TypeError
        An argument is wrong; a column is missing, given twice, of the wrong type, or has missing values.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    plot, plot_confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot_scores(run, "relevant", "score", threshold=0.75, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positives (3, 67% predicted)', 'negatives (2, 0% predicted)', 'threshold 0.75']
    """
    need_matplotlib()
    check_axes(ax)
    n_bins = whole("bins", bins, least=1, most=_MOST_BINS)
    line = None if threshold is None else float(real("threshold", threshold))
    _refuse_groups(truth, score, positive, policies)
    curves = read_curves(curve(frame, truth, score, positive=positive, **policies), PlotOptions())
    _refuse_several(curves.keys.height)  # of a selector, the frame says how many columns it selects
    table = curves.table.select(
        pl.col("threshold").cast(pl.Float64),
        *(pl.col(name) - pl.col(name).shift(1, fill_value=0) for name in ("tp", "fp")),
    ).filter(pl.col("threshold").is_finite())
    with canvas(ax, figsize=(6.4, 4.0), layout="constrained") as target:
        set_titles(target, escape(shorten(score)) if isinstance(score, str) else "Score", "Share of the rows")
        _draw_histograms(target, table, n_bins, line, ascending=bool(policies.get("ascending")), own_figure=ax is None)
    return target


def _refuse_groups(truth: Column, score: Any, positive: object, policies: Any) -> None:
    """Refuse `by=` and several scores: the plot shows one set of scores."""
    if policies.get("by") is not None:
        raise TypeError("by: plot_scores draws the scores of all rows; filter one group, or call it for each group")
    request = request_of(truth, score, None, positive, policies)
    _refuse_several(len(request.scores))


def _refuse_several(number: int) -> None:
    if number > 1:
        raise ValueError(f"score: plot_scores draws one column of scores, got {number}; call it for each column")


def _draw_histograms(
    ax: Axes, table: pl.DataFrame, n_bins: int, threshold: float | None, *, ascending: bool, own_figure: bool
) -> None:
    import numpy as np

    if not table.height:
        ax.text(0.5, 0.5, "no rows", transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))
        return
    scores = table["threshold"].to_numpy()
    low, high = float(scores.min()), float(scores.max())
    if threshold is not None and not low <= threshold <= high:
        warn(
            f"threshold: {threshold:g} lies outside the scores, which go from {low:g} to {high:g}; "
            "give a threshold on the scale of the scores"
        )
    low, high, beyond = _range_of(table, low, high)
    edges = _edges(low, high, n_bins)
    blue, orange = palette(ax)[:2]
    for column, name, colour in (("tp", "positives", orange), ("fp", "negatives", blue)):
        counts = table[column].to_numpy()
        total = counts.sum()
        label = f"{name} ({total:,.0f}"
        if threshold is not None and total:
            reached = scores <= threshold if ascending else scores >= threshold
            label += f", {_share_text(counts[reached].sum() / total)} predicted"
        if not total:
            ax.plot([], [], color=colour, label=f"{label}): none")
            continue
        heights = np.histogram(scores, edges, weights=counts)[0] / total
        zorder = 1 if column == "fp" else 1.5
        ax.stairs(heights, edges, color=colour, linewidth=1.5, label=f"{label})", zorder=zorder)
        ax.stairs(heights, edges, color=colour, alpha=0.25, fill=True, linewidth=0, zorder=zorder)
    if threshold is not None:
        ax.axvline(threshold, color=grey(ax, 0.3), linewidth=1, label=f"threshold {threshold:g}")
    if beyond:
        ax.plot([], [], linestyle="", label=f"beyond the axis: {pluralize(round(beyond), 'row', 'rows')}")
    ax.set_ylim(bottom=0)
    draw_legend(ax, own_figure=own_figure, above=True)


def _range_of(table: pl.DataFrame, low: float, high: float) -> tuple[float, float, float]:
    """The range of the axis, and how many rows lie beyond: outliers would put all other scores into one bin."""
    rows = table.with_columns(n=pl.col("tp") + pl.col("fp")).sort("threshold")
    below = rows["n"].cum_sum() / rows["n"].sum()
    inner = rows.filter((below >= _OUTLYING) & (below - rows["n"] / rows["n"].sum() <= 1 - _OUTLYING))["threshold"]
    first, last = (float(inner[0]), float(inner[-1])) if inner.len() else (low, high)
    if not first < last or (high - low) <= _FAR * (last - first):
        return low, high, 0
    margin = 0.5 * (last - first)
    first, last = max(low, first - margin), min(high, last + margin)
    return first, last, float(rows.filter(~pl.col("threshold").is_between(first, last))["n"].sum())


def _edges(low: float, high: float, n_bins: int) -> Any:
    """The edges of bins of equal width; fewer bins if rounding would make edges equal."""
    import numpy as np

    if low == high:
        wide = max(0.5, abs(low) * 1e-6)
        low, high = low - wide, high + wide
    # A share of both ends: the difference of scores near 1e308 would overflow.
    shares = np.arange(n_bins + 1) / n_bins
    edges = np.unique(low * (1 - shares) + high * shares)
    edges[[0, -1]] = low, high
    return edges


@public()
def plot_confusion(frame: Frame, /, *, ax: Axes | None = None) -> Axes:
    r"""Draw a heat map of the result of `confusion_matrix` or of a row of `confusion`: a row for each label.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `confusion_matrix` gave, of one group; or one row of `confusion`, of which positives come first.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.

    Returns
    -------
    matplotlib Axes
        Dark where many of a truth are predicted so, with the counts and the shares of their truth as far as they fit.

    Raises
    ------
    ValueError, TypeError
        The frame is neither of these, or has several groups.
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
    names = ["(null)" if label is None else str(label) for label in classes]
    side, letters = min(max(2.0, 0.62 * len(names)), 12), min(max(map(len, names), default=0), _LINE_LETTERS)
    with canvas(ax, figsize=(side + 0.8 + 0.09 * letters, side + 0.8 + 0.09 * letters), layout="constrained") as target:
        _draw_cells(target, table, names, own_figure=ax is None)
    return target


def _draw_cells(ax: Axes, table: pl.DataFrame, names: list[str], own_figure: bool) -> None:
    shares = table["of_truth"].to_numpy().reshape(len(names), -1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    ax.set(xlabel="Prediction", ylabel="Truth", xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.apply_aspect()
    # A layout engine moves axes of the caller when it draws: by a fifth at most.
    cell = ax.get_window_extent().width / len(names) * (1 if ax.figure.get_layout_engine() is None else 0.8)
    room = min(_LINE_LETTERS, max(5, letters_along(ax, 0.25 * cell * len(names))))
    names = [shorten(name, _NAME_LETTERS if own_figure else room) for name in names]
    names = [escape(textwrap.fill(name, _LINE_LETTERS)) for name in names]
    widths, heights = zip(*(_text_size(ax, name, "small") for name in names), strict=True)
    every = range(0, len(names), ceil(max(heights) / cell))
    ax.set_xticks(every, [names[i] for i in every], rotation=90 if max(widths) > 0.95 * cell else 0, fontsize="small")
    ax.set_yticks(every, [names[i] for i in every], fontsize="small")
    if own_figure:
        ax.figure.draw_without_rendering()  # type: ignore[union-attr]
        cell = ax.get_window_extent().width / len(names)
    texts, size = _fitting_texts(ax, table, 0.92 * cell, keep_zeros=len(names) <= 2)
    for i, (share, text) in enumerate(zip(table["of_truth"], texts, strict=True)):
        background = "white" if share is None else image.cmap(share)
        colour = "black" if shine(background) > MIDDLE else "white"
        place = i % len(names), i // len(names)
        ax.text(*place, text, ha="center", va="center", color=colour, fontsize=size)


def _fitting_texts(ax: Axes, table: pl.DataFrame, cell: float, *, keep_zeros: bool) -> tuple[list[str], str]:
    """Counts with shares, short counts with shares, or shares: the first that fit, in the largest letters."""
    rows, shares = table["rows"].to_list(), [_share_text(share) for share in table["of_truth"]]
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
    """Width and height of a text in pixels."""
    artist = ax.text(0, 0, text, fontsize=size)
    box = artist.get_window_extent()
    artist.remove()
    return box.width, box.height


def _share_text(share: float | None) -> str:
    """A share in percent; 0 % and 100 % mean none and all."""
    if share is None:
        return ""
    for decimals in (0, 1):
        text = f"{share:.{decimals}%}"
        if share in (0, 1) or float(text[:-1]) not in (0, 100):
            return text
    return "<0.1%" if share < 0.5 else ">99.9%"


def short_count(count: float) -> str:
    """A count in three digits, such as 12.6k."""
    units = iter("kMGTPE")
    unit = ""
    while count >= 999.5:
        count, unit = count / 1000, next(units)
    return f"{count:.3g}{unit}"


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
