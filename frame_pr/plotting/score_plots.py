"""The scores of positives and of negatives, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public, real, whole
from frame_pr.frames.kinds import Frame
from frame_pr.functions.curves import curve
from frame_pr.inputs.policies import REFUSED, Column, Policies
from frame_pr.plotting.axes_and_names import check_axes, need_matplotlib, new_axes
from frame_pr.plotting.colours import grey, palette
from frame_pr.plotting.curve_frames import curves_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 10_000


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
    """How the scores of positives and of negatives lie: two histograms in equal bins, each of area 1 in shares.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed. Of a LazyFrame, the curve is collected.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression
        Higher ranks earlier, unless `ascending`.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    threshold : float, optional
        A line, and in the legend the share of positives and of negatives that are predicted positive there.
    bins : int
        Of equal width, from the lowest to the highest score.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

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
    many = whole("bins", bins, least=1)
    if many > _MOST:
        raise ValueError(f"bins must be at most {_MOST}, got {many}")
    line = None if threshold is None else float(real("threshold", threshold))
    import numpy as np

    given: dict[str, Any] = {"positive": positive, **policies}
    curves = curves_of(curve(frame, truth, score, **given))
    ax = new_axes(ax)
    table = curves.table.select(
        pl.col("threshold").cast(pl.Float64),
        *(pl.col(name) - pl.col(name).shift(1, fill_value=0) for name in ("tp", "fp")),
    ).filter(pl.col("threshold").is_finite())
    ax.set(xlabel=score if isinstance(score, str) else "Score", ylabel="Share of the rows")
    if not table.height:
        ax.text(0.5, 0.5, "no rows", transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))
        return ax
    scores = table["threshold"].to_numpy()
    edges = np.histogram_bin_edges(scores, many)
    blue, orange = palette(ax)[:2]
    for column, name, colour in (("fp", "negatives", blue), ("tp", "positives", orange)):
        counts = table[column].to_numpy()
        total = counts.sum()
        label = f"{name} ({total:,.0f}"
        if line is not None and total:
            reached = scores <= line if policies.get("ascending") else scores >= line
            label += f", {counts[reached].sum() / total:.0%} predicted"
        heights = np.histogram(scores, edges, weights=counts)[0] / (total or 1)
        ax.stairs(heights, edges, color=colour, linewidth=1.5, label=f"{label})")
        ax.stairs(heights, edges, color=colour, alpha=0.25, fill=True, linewidth=0)
    if line is not None:
        ax.axvline(line, color=grey(ax, 0.3), linewidth=1, label=f"threshold {line:g}")
    ax.set_ylim(bottom=0)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: ("positives" not in labels[i], "negatives" not in labels[i]))
    legend = {"handles": [handles[i] for i in order], "labels": [labels[i] for i in order]}
    # Above the histograms, which leave no place free.
    ax.legend(**legend, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small")
    return ax
