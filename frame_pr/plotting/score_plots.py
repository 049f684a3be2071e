"""Plots of score distributions and of gains tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import one_of, public, real, whole
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import warn
from frame_pr.functions.curves import curve
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.plotting.results import Result, read_result
from frame_pr.plotting.style import (
    SHARED,
    Style,
    StyleArguments,
    axes_of,
    count_text,
    draw_figure_legend,
    draw_legend,
    figure_width,
    grey,
    palette,
    panels_of,
    share_text,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 10_000
_OUTLYING, _FAR = 0.005, 20
"""The axis leaves out scores at the ends, if without this share of rows the range is this many times smaller."""


class ScoresArguments(StyleArguments, Policies, total=False):
    """More arguments of `plot_scores`."""


@public(REFUSED["plot_scores"])
def plot_scores(
    frame: Frame,
    /,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    threshold: float | None = None,
    bins: int = 40,
    **options: Unpack[ScoresArguments],
) -> Axes | Any:
    """Draw histograms of the scores of positives and of negatives: how well a score separates them.

    The shares of each histogram sum to 1. Several scores and groups give one panel each, with one y axis.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Several scores give one panel each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Each group has its own panel.
    positive : optional
        The positive label of `truth`.
    threshold : float, optional
        Draw a line at this score. The legend, or the title of a panel, then has the share of positives (recall) and of
        negatives (false positive rate) that are predicted positive.
    bins : int
        Number of bins of equal width. Default 40. The axis leaves out a few scores far from all others.
    colors : dict, optional
        Colours of "positives" and "negatives".
    labels : dict, optional
        Labels by name: of systems, groups, key columns, "positives" and "negatives".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.
    **options
        Options for ties, weights and missing values: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    matplotlib Axes
        With several scores or groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        An argument is wrong, or a column is missing, of the wrong type, or has missing values.
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
    ['positives (3, 67% predicted positive)', 'negatives (2, 0% predicted positive)', 'threshold 0.75']
    """
    policies: Any = {name: value for name, value in options.items() if name in Policies.__annotations__}
    style = Style.of(options, panels=by is not None or not isinstance(score, str))
    style.check_colors(("positives", "negatives"))
    n_bins = whole("bins", bins, least=1, most=_MOST_BINS)
    cutoff = None if threshold is None else float(real("threshold", threshold))
    frame = curve(frame, truth, score, by=by, positive=positive, rates="fpr", **policies)
    columns = dict.fromkeys(("threshold", "k", "tp", "recall", "fpr"), "a curve")
    result = read_result(frame, columns, "plot_scores draws scores")
    _warn_of_threshold(result.table["threshold"], cutoff)
    histograms = _Histograms(style, n_bins, cutoff, ascending=bool(policies.get("ascending")))
    title = style.label(score) if isinstance(score, str) else "Score"
    if not result.keys or len(result.groups()) == 1:
        with axes_of(style, (figure_width(), 4.0)) as ax:
            histograms.draw(ax, result.groups()[0][1])
            ax.set(xlabel=title, ylabel="Share of the rows with this label", ylim=(0, None))
            draw_legend(ax, style)
        return ax
    shared = "system" not in result.keys
    return _draw_panels(result, style, (title, "Share of the rows with this label"), histograms.panel, sharex=shared)


def _draw_panels(result: Result, style: Style, titles: tuple[str, str], draw: Any, *, sharex: bool) -> Any:
    """Draw a panel for each group: `draw` takes its axes and its table, and returns numbers for the title."""
    import numpy as np

    groups = result.groups()
    with panels_of(style, len(groups), (2.4, 2.2), shared="xy" if sharex else "y") as axes:
        for ax, (key, table) in zip(axes, groups, strict=True):
            numbers = draw(ax, table)
            ax.set_title("\n".join(filter(None, [shorten(style.join(key), 24), numbers])), fontsize="small")
        axes[0].set_ylim(bottom=0)
        if style.ax is None:
            figure = axes[0].figure
            figure.supxlabel(titles[0], fontsize="medium")
            figure.supylabel(titles[1], fontsize="medium")
        draw_figure_legend(axes, style)
    return np.array(axes, dtype=object)


def _warn_of_threshold(scores: pl.Series, threshold: float | None) -> None:
    """Warn if the threshold has another scale than the scores."""
    low: Any = scores.min()
    high: Any = scores.max()
    if threshold is not None and low is not None and not low <= threshold <= high:
        warn(
            f"threshold: {threshold:g} lies outside the scores, which go from {low:g} to {high:g}; "
            "give a threshold on the scale of the scores"
        )


class _Histograms:
    """Two histograms with the same bins."""

    def __init__(self, style: Style, bins: int, threshold: float | None, *, ascending: bool) -> None:
        self.style, self.bins, self.threshold, self.ascending = style, bins, threshold, ascending

    def panel(self, ax: Axes, table: pl.DataFrame) -> str:
        """Draw a panel, and return its numbers."""
        counts = self.draw(ax, table, numbers=False)
        if not counts:
            return ""
        rows = count_text(table["k"].max())  # type: ignore[arg-type]
        (positives, recall), (_, fpr) = (text.split("|") for text in counts.values())
        return f"P = {positives}, N = {rows}" + (f"\nrecall {recall}, FPR {fpr}" if recall or fpr else "")

    def draw(self, ax: Axes, table: pl.DataFrame, *, numbers: bool = True) -> dict[str, str]:
        """Draw both histograms, and return texts for each: the number of rows, and the share predicted positive."""
        import numpy as np

        table = table.sort("k").filter(pl.col("threshold").cast(pl.Float64).is_finite())
        if not table.height:
            ax.text(0.5, 0.5, "no rows", transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))
            return {}
        scores = table["threshold"].cast(pl.Float64).to_numpy()
        tp, k = (table[name].to_numpy() for name in ("tp", "k"))
        edges, hidden = _edges(scores, np.diff(k, prepend=0), self.bins)
        texts = {}
        for name, total, number in (("positives", tp, 1), ("negatives", k - tp, 0)):
            colour, counts = self.style.colors.get(name, palette(ax)[number]), np.diff(total, prepend=0)
            share = ""
            if self.threshold is not None and total[-1]:
                reached = int((scores <= self.threshold if self.ascending else scores >= self.threshold).sum())
                share = share_text(table["recall" if number else "fpr"][reached - 1] if reached else 0.0)
            count = count_text(total[-1])
            texts[name] = f"{count}|{share}"
            text = f"{count}, {share} predicted positive" if share else count
            label = f"{self.style.label(name)} ({text})" if numbers else self.style.label(name)
            heights = np.histogram(scores, edges, weights=counts)[0] / (total[-1] or 1)
            ax.stairs(heights, edges, color=colour, linewidth=1.5, label=label, zorder=1 + 0.5 * number)
            ax.stairs(heights, edges, color=colour, alpha=0.25, fill=True, linewidth=0, zorder=1 + 0.5 * number)
        if self.threshold is not None:
            line = ax.axvline(self.threshold, color=grey(ax, 0.3), linewidth=1, label=f"threshold {self.threshold:g}")
            line.set_gid(SHARED)
        if hidden and numbers:
            ax.plot([], [], linestyle="", label=f"rows beyond the axis: {count_text(hidden)}", gid=SHARED)
        return texts


def _edges(scores: Any, counts: Any, bins: int) -> tuple[Any, float]:
    """Return the edges of bins of equal width, and how many rows lie beyond the axis."""
    import numpy as np

    order = np.argsort(scores, kind="stable")
    ordered, below = scores[order], np.cumsum(counts[order]) / counts.sum()
    low, high = float(ordered[0]), float(ordered[-1])
    first = float(ordered[np.searchsorted(below, _OUTLYING)])
    last = float(ordered[min(len(below) - 1, np.searchsorted(below, 1 - _OUTLYING))])
    if first < last and high - low > _FAR * (last - first):
        margin = 0.5 * (last - first)
        low, high = max(low, first - margin), min(high, last + margin)
    if low == high:
        wide = max(0.5, abs(low) * 1e-6)
        low, high = low - wide, high + wide
    # The difference of two scores near 1e308 would overflow.
    shares = np.arange(bins + 1) / bins
    edges = np.unique(low * (1 - shares) + high * shares)
    return edges, float(counts[(scores < low) | (scores > high)].sum())


@public()
def plot_gains(
    frame: Frame, /, *, y: Literal["recall", "precision", "lift"] = "recall", **options: Unpack[StyleArguments]
) -> Axes | Any:
    """Draw a gains table: a bar for each decile of rows, and a line for all rows up to there.

    Several systems and groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `gains_table`. The frame is not changed.
    y : "recall", "precision" or "lift"
        The share of the positives that the rows contain (capture rate), the share of positives among the rows, or the
        ratio of that share to the prevalence. The dotted line is a random ranking.
    colors : dict, optional
        Colours of "bin" and "cumulative".
    labels : dict, optional
        Labels by name: of systems, groups, key columns, "bin" and "cumulative".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each panel. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With several systems or groups, a numpy array with the axes of each panel.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `gains_table`, or an argument is wrong.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    gains_table, plot

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame(
    ...     {"fraud": [1, 1, 0, 1, 0, 0, 0, 0], "score": [9, 8, 7, 6, 5, 4, 3, 2]}
    ... )
    >>> ax = fp.plot_gains(
    ...     fp.gains_table(run, "fraud", "score", bins=4), ax=Figure().subplots()
    ... )
    >>> [f"{bar.get_height():.2f}" for bar in ax.patches]  # 2, 1, 0 and 0 of 3
    ['0.67', '0.33', '0.00', '0.00']
    """
    style = Style.of(options, panels=True)
    style.check_colors(("bin", "cumulative"))
    name = one_of("y", y, ("recall", "precision", "lift"))
    columns = dict.fromkeys(("share", name, f"bin_{name}", "precision"), "gains_table gives it")
    result = read_result(frame, columns, "plot_gains draws a frame that gains_table gave")
    titles = ("Share of the rows, the highest scores first", style.title(name))

    def draw(ax: Axes, table: pl.DataFrame) -> str:
        _draw_gains(ax, table.sort("share"), name, style)
        return ""

    if not result.keys or len(result.groups()) == 1:
        with axes_of(style, (figure_width(), 4.0)) as ax:
            draw(ax, result.groups()[0][1])
            ax.set(xlabel=titles[0], ylabel=titles[1], ylim=(0, None))
            draw_legend(ax, style)
        return ax
    return _draw_panels(result, style, titles, draw, sharex=True)


def _draw_gains(ax: Axes, table: pl.DataFrame, name: str, style: Style) -> None:
    """Draw the bars of the bins, the cumulative line, and a random ranking."""
    from matplotlib.ticker import PercentFormatter

    share, cumulative, of_bin = (
        table[column].cast(pl.Float64).fill_null(float("nan")).to_list() for column in ("share", name, f"bin_{name}")
    )
    bins, colours = len(share), palette(ax)
    word = {10: "decile", 4: "quartile", 5: "quintile", 100: "percentile"}.get(bins, "bin")
    labels = {"bin": f"in this {word}", "cumulative": f"up to this {word} (cumulative)"}
    labels = {part: style.label(part, label) for part, label in labels.items()}
    left: Sequence[float] = [end - 1 / bins for end in share]
    bar: dict[str, Any] = {"align": "edge", "color": style.colors.get("bin", colours[0]), "alpha": 0.35}
    ax.bar(left, of_bin, 0.92 / bins, label=labels["bin"], **bar)
    line: dict[str, Any] = {"color": style.colors.get("cumulative", colours[3 % len(colours)])}
    start = [0.0] if name == "recall" else []
    ax.plot([*start, *share], [*start, *cumulative], "o-", markersize=4, label=labels["cumulative"], **line)
    reference: dict[str, Any] = {"color": grey(ax, 0.5), "linestyle": ":", "linewidth": 1, "zorder": 1, "gid": SHARED}
    if name == "recall":
        ax.plot([0, 1], [0, 1], label="random ranking (cumulative)", **reference)
    elif cumulative:
        ax.axhline(cumulative[-1], label="prevalence" if name == "precision" else "random ranking", **reference)
    ax.set_xlim(-0.01, 1.01)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    if name != "lift":
        ax.yaxis.set_major_formatter(PercentFormatter(1))
