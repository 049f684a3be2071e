"""Plots of score distributions and of gains tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import one_of, public, real, whole
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.frames.messages import pluralize, warn
from frame_pr.functions.curves import curve
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.plotting.appearance import (
    Appearance,
    ColourArguments,
    appearance_of,
    canvas,
    escape,
    grey,
    letters_along,
    palette,
    set_titles,
    share_text,
    split_policies,
    text_colour,
)
from frame_pr.plotting.curve_artists import write_reason
from frame_pr.plotting.curve_data import read_curves
from frame_pr.plotting.facets import draw_panels
from frame_pr.plotting.legends import draw_legend
from frame_pr.plotting.options import PlotOptions, axis_quantity
from frame_pr.plotting.results import read_result, split_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HUES = {"positives": 1, "negatives": 0}
"""The two histograms, with the numbers of their colours."""
_GAINS = ("bin", "cumulative")
"""The two parts of a gains chart: bars and a line."""
_MOST_BINS = 10_000
_OUTLYING, _FAR = 0.005, 20
"""The axis leaves out scores at the ends, if without this share of rows the range is this many times smaller."""


class ScoresArguments(ColourArguments, Policies, total=False):
    """The keyword arguments of `plot_scores`."""


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
    """Draw histograms of the scores of positives and of negatives. The shares of each histogram sum to 1.

    Several scores and groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows. The frame is not changed. The curve of a LazyFrame is collected.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores give one panel each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    threshold : float, optional
        Draw a line at this score. The legend then has the shares of positives and of negatives at or above it.
    bins : int
        Number of bins of equal width, from the lowest to the highest score. The axis leaves out scores far from all
        others, and the legend has their number.
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
    colors : dict, optional
        Colours by name: of "positives" and "negatives". Names that the plot does not have are ignored, unless it has
        none of them.
    legend : bool
        Whether to draw the legend. Default True.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    matplotlib Axes
        The shares of positives and of negatives in each bin. Rows without a score do not count. With several scores or
        groups, the result is the Figure, and the labels of its axes are their names.

    Raises
    ------
    ValueError, TypeError
        An argument is wrong, there are too many panels, or a column is missing, of the wrong type, named twice, or has
        missing values.
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
    arguments, policies = split_policies(options)
    appearance = appearance_of(arguments, decimals=0, has_values=False)
    n_bins = whole("bins", bins, least=1, most=_MOST_BINS)
    line = None if threshold is None else float(real("threshold", threshold))
    curves = read_curves(curve(frame, truth, score, by=by, positive=positive, **policies), PlotOptions())
    keys, names = curves.keys.rows(named=True), list(curves.keys.columns)
    appearance.check_names([value for key in keys for value in key.values()] or _HUES, _HUES)
    steps = (
        (count - count.shift(1, fill_value=0)).over("group")
        for count in (pl.col("tp"), (pl.col("k") - pl.col("tp")).alias("fp"))
    )
    counts = curves.table.select("group", pl.col("threshold").cast(pl.Float64), *steps)
    counts = counts.filter(pl.col("threshold").is_finite())
    _warn_of_threshold(counts["threshold"], line)
    tables = [counts.filter(group=place) for place in range(len(keys))]
    ascending = bool(policies.get("ascending"))
    histograms = partial(_draw_histograms, n_bins=n_bins, threshold=line, appearance=appearance, ascending=ascending)
    title = appearance.label_of(score) if isinstance(score, str) else "Score"
    if len(keys) > 1:

        def draw_panel(ax: Axes, table: pl.DataFrame) -> str:
            texts = histograms(ax, table, numbers=False)
            return ", ".join(f"{name} = {text}" for name, text in zip(("P", "N"), texts, strict=False))

        share, titles = "system" not in names, (title, "Share of the rows")
        return draw_panels(keys, names, tables, appearance, (2.6, 2.0), draw_panel, titles, sharex=share)
    with canvas(appearance, figsize=(6.4, 4.0), layout="constrained") as target:
        set_titles(target, title, "Share of the rows")
        histograms(target, tables[0])
        draw_legend(target, appearance, above=True)
    return target


def _warn_of_threshold(scores: pl.Series, threshold: float | None) -> None:
    """Warn if the threshold has another scale than the scores."""
    low: Any = scores.min()
    high: Any = scores.max()
    if threshold is not None and low is not None and not low <= threshold <= high:
        warn(
            f"threshold: {threshold:g} lies outside the scores, which go from {low:g} to {high:g}; "
            "give a threshold on the scale of the scores"
        )


def _draw_histograms(
    ax: Axes,
    table: pl.DataFrame,
    n_bins: int,
    threshold: float | None,
    appearance: Appearance,
    *,
    ascending: bool,
    numbers: bool = True,
) -> list[str]:
    """Draw two histograms, and return the numbers of positives and of negatives."""
    import numpy as np

    if not table.height:
        write_reason(ax, "no rows")
        return []
    scores = table["threshold"].to_numpy()
    low, high, beyond = _range_of(table, float(scores.min()), float(scores.max()))
    edges, texts = _edges(low, high, n_bins), []
    for (name, number), column in zip(_HUES.items(), ("tp", "fp"), strict=True):
        colour = appearance.colors.get(name, palette(ax)[number])
        counts = table[column].to_numpy()
        total = counts.sum()
        text = f"{total:,.0f}"
        if threshold is not None and total:
            reached = scores <= threshold if ascending else scores >= threshold
            share = share_text(counts[reached].sum() / total, appearance.decimals)
            text += f", {share} predicted" if numbers else f" ({share})"
        texts.append(text)
        label = f"{appearance.display(name)} ({text})" if numbers else appearance.display(name)
        if not total:
            ax.plot([], [], color=colour, label=f"{label}: none" if numbers else label)
            continue
        heights = np.histogram(scores, edges, weights=counts)[0] / total
        zorder = 1 if column == "fp" else 1.5
        ax.stairs(heights, edges, color=colour, linewidth=1.5, label=label, zorder=zorder)
        ax.stairs(heights, edges, color=colour, alpha=0.25, fill=True, linewidth=0, zorder=zorder)
    if threshold is not None:
        label = f"{appearance.display('threshold')} {threshold:g}"
        ax.axvline(threshold, color=grey(ax, 0.3), linewidth=1, label=label)
    if beyond and numbers:
        count = pluralize(round(beyond), "row", "rows")
        ax.plot([], [], linestyle="", label=f"{appearance.display('beyond the axis')}: {count}")
    ax.set_ylim(bottom=0)
    return texts


def _range_of(table: pl.DataFrame, low: float, high: float) -> tuple[float, float, float]:
    """Return the range of the axis without outliers, and the number of rows beyond it."""
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
    """Return the edges of bins of equal width. There are fewer bins if rounding makes edges equal."""
    import numpy as np

    if low == high:
        wide = max(0.5, abs(low) * 1e-6)
        low, high = low - wide, high + wide
    # The difference of two scores near 1e308 would overflow.
    shares = np.arange(n_bins + 1) / n_bins
    edges = np.unique(low * (1 - shares) + high * shares)
    edges[[0, -1]] = low, high
    return edges


@public()
def plot_gains(
    frame: Frame, /, *, y: Literal["recall", "precision", "lift"] = "recall", **options: Unpack[ColourArguments]
) -> Axes | Any:
    """Draw a gains table as a chart: a bar for each bin of rows, and a line for all rows up to each bin.

    Several systems and groups give one panel each.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `gains_table`. The frame is not changed.
    y : "recall", "precision" or "lift"
        The quantity of bars and line: the share of the positives that the rows contain (capture rate), the share of
        positives among the rows, or the ratio of that share to the prevalence. The dotted line is a random ranking.
    labels : dict, optional
        Labels by name: of systems, groups, key columns, metrics and words of the legend, such as `{'s1': 'Baseline',
        'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups, in the order of the plot; all others follow. "value": the largest value first.
        "frame": as in the frame. Default: "frame".
    decimals : int, optional
        Number of decimals in the legend, and of percentages. Default 2.
    max_groups : int, optional
        Maximum number of groups in the plot. Default: 48 panels.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        The figure to draw in, instead of `ax`.
    colors : dict, optional
        Colours by name: of "bin" and "cumulative". Names that the plot does not have are ignored, unless it has none of
        them.
    legend : bool
        Whether to draw the legend. Default True.

    Returns
    -------
    matplotlib Axes
        With several systems or groups, the result is the Figure, and the labels of its axes are their names.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `gains_table`, an argument is wrong, or there are too many panels.
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
    appearance = appearance_of(options, has_values=False)
    name = one_of("y", y, ("recall", "precision", "lift"))
    needed = list(dict.fromkeys(["share", name, f"bin_{name}", "precision"]))
    table, names = read_result(kind_of(frame), "share", needed, "plot_gains draws a frame that gains_table gave")
    keys, tables = split_groups(table, names)
    appearance.check_names([value for key in keys for value in key.values()] or _GAINS, _GAINS)
    draw_panel = partial(_draw_gains, name=name, appearance=appearance)
    titles = ("Share of the rows", escape(appearance.display(name, axis_quantity(name).title)))
    if len(keys) > 1:
        return draw_panels(keys, names, tables, appearance, (2.6, 2.0), draw_panel, titles, sharex=True, sharey=True)
    with canvas(appearance, figsize=(6.4, 4.0), layout="constrained") as target:
        set_titles(target, *titles)
        draw_panel(target, tables[0])
        draw_legend(target, appearance, above=True)
    return target


def _draw_gains(ax: Axes, table: pl.DataFrame, name: str, appearance: Appearance) -> None:
    """Draw the bars of the bins, the cumulative line, and a random ranking."""
    from matplotlib.ticker import PercentFormatter

    share, cumulative, of_bin = (
        table[column].fill_null(float("nan")).to_list() for column in ("share", name, f"bin_{name}")
    )
    width = share[0] if share else 1.0
    bars, line = (appearance.colors.get(part, palette(ax)[number]) for part, number in zip(_GAINS, (5, 0), strict=True))
    middles = [end - width / 2 for end in share]
    heights = ax.bar(middles, of_bin, 0.9 * width, color=bars, label=appearance.display("bin", "rows of the bin"))
    word = appearance.display("cumulative", "all rows up to there")
    ax.plot(share, cumulative, "o-", markersize=4, color=line, label=word)
    chance: dict[str, Any] = {"color": grey(ax, 0.5), "linewidth": 1, "label": appearance.display("random ranking")}
    if name == "recall":
        ax.plot([0, 1], [0, 1], ":", **chance)
    elif table.height:
        ax.axhline(1 if name == "lift" else table["precision"][-1], linestyle=":", **chance)
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlim(0, 1)
    if letters_along(ax, ax.get_window_extent().width * 0.9 * width) >= appearance.decimals + 3:
        texts = ["" if height != height else f"{height:.{appearance.decimals}f}" for height in of_bin]
        ax.bar_label(heights, texts, fontsize="small", padding=1, color=text_colour(ax))
