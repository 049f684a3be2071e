"""Plots of score distributions and of gains tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from frame_pr.frames.arguments import check_choice, check_float, check_whole
from frame_pr.frames.messages import warn
from frame_pr.functions.curves import curve
from frame_pr.inputs.options import Column, Columns, LabelOptions, options_in
from frame_pr.plotting import draw
from frame_pr.plotting.draw import GREY, REFERENCE, Style
from frame_pr.plotting.results import Result, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 10_000
_BINS = {4: "quartile", 5: "quintile", 10: "decile", 100: "percentile"}
_OUTLYING = 0.005
_FAR = 20
"""The axis leaves out scores at the ends, if without this share of rows the range is this many
times smaller.
"""


def draw_scores(
    frame: Any,
    truth: Column,
    score: Columns,
    by: Columns | None,
    positive: object,
    threshold: float | None,
    bins: int,
    options: Mapping[str, Any],
) -> Any:
    """Draw what `plot_scores` returns."""
    row_options = cast(LabelOptions, options_in(options))
    style = Style.of(
        options,
        panels=by is not None or not isinstance(score, str),
    )
    style.check_colors(("positives", "negatives"))
    n_bins = check_whole("bins", bins, least=1, most=_MOST_BINS)
    cutoff = None if threshold is None else check_float("threshold", threshold)
    frame = curve(
        frame,
        truth,
        score,
        by=by,
        positive=positive,
        rates="fpr",
        **row_options,
    )
    columns = dict.fromkeys(("threshold", "k", "tp", "precision", "recall", "fpr"), "a curve")
    result = read_result(frame, columns, "plot_scores draws scores")
    _warn_of_threshold(result.table["threshold"], cutoff)
    histograms = partial(
        _draw_histograms,
        style=style,
        n_bins=n_bins,
        threshold=cutoff,
        ascending=bool(row_options.get("ascending")),
    )
    x_title = style.label(score if isinstance(score, str) else "Score")
    titles = (x_title, draw.wrap(style.label("Share of the rows with this label"), 20))
    shared = "y" if "system" in result.keys else "xy"
    return _draw_groups(result, style, titles, histograms, shared)


def _draw_groups(
    result: Result,
    style: Style,
    titles: tuple[str, str],
    draw_group: Callable[..., str],
    shared: str = "xy",
) -> Any:
    """Draw the only group into one axes, or a panel for each group.

    `draw_group` returns numbers for the title.
    """
    groups = result.groups() or [((), result.table)]
    n = len(groups)
    many = n > 1
    with draw.axes_of(style, n, (12, 7), ratio=0.7, shared=shared, linked=shared) as axes:
        for ax, (key, table) in zip(axes, groups, strict=True):
            numbers = draw_group(ax, table, in_panel=many)
            if many:
                draw.title_panel(ax, style, style.join(key), *numbers.split("\n"))
        draw.title_panels(axes, style, *titles)
        draw.draw_legend(axes, style, most_inside=0)
    return draw.one_or_all(axes)


def _warn_of_threshold(scores: pl.Series, threshold: float | None) -> None:
    """Warn if the threshold has another scale than the scores."""
    low: Any = scores.min()
    high: Any = scores.max()
    if None not in (threshold, low) and not low <= threshold <= high:
        warn(
            f"threshold: {threshold:g} lies outside the scores, which go from {low:g} to {high:g}; "
            "give a threshold on the scale of the scores"
        )


def _draw_histograms(
    ax: Axes,
    table: pl.DataFrame,
    style: Style,
    n_bins: int,
    threshold: float | None,
    *,
    ascending: bool,
    in_panel: bool,
) -> str:
    """Draw the histograms of positives and negatives, and return numbers for a title."""
    import numpy as np

    table = table.sort("k").filter(pl.col("threshold").cast(pl.Float64).is_finite())
    if not table.height:
        draw.write_reason(ax, "no rows")
        return ""
    scores = table["threshold"].cast(pl.Float64).to_numpy()
    tp = table["tp"].to_numpy()
    k = table["k"].to_numpy()
    edges, scale = _edges(scores, k, n_bins)
    if scale == "log":
        # Panels that share an axis have one scale.
        ax.set_xscale(scale)
    hidden = k[-1]
    for name, total, number in (("positives", tp, 1), ("negatives", k - tp, 0)):
        label = style.label(name)
        if not in_panel:
            label = f"{label} ({draw.count_text(total[-1])})"
        counts = np.histogram(scores, edges, weights=np.diff(total, prepend=0))[0]
        hidden -= counts.sum()
        heights = counts / (total[-1] or 1)
        colour = style.color_of([name], number)
        ax.stairs(
            heights,
            edges,
            fill=True,
            facecolor=(colour, 0.25),
            edgecolor=colour,
            linewidth=1.5,
            label=label,
            zorder=1 + 0.5 * number,
        )
    if hidden > 1e-9 * k[-1] and not in_panel:
        text = f"{style.label('rows beyond the axis')}: {draw.count_text(hidden)}"
        draw.add_entry(ax, text, linestyle="")
    numbers = ""
    if threshold is not None:
        sign = -1 if ascending else 1
        reached = int((sign * scores >= sign * threshold).sum())
        numbers = _at_threshold(table, reached)
        label = f"{style.label('threshold')} {threshold:g}"
        if not in_panel:
            label = f"{label}: {numbers}"
        ax.axvline(threshold, color=GREY, linewidth=1, label=label, gid=draw.SHARED)
    return f"P = {draw.count_text(tp[-1])}, N = {draw.count_text(k[-1])}\n{numbers}"


def _at_threshold(table: pl.DataFrame, reached: int) -> str:
    """Return precision, recall and false positive rate of the rows that a threshold selects."""
    if not reached:
        return "selects no row"
    rates = table.select("precision", "recall", "fpr").row(reached - 1)
    return "precision {}, recall {}, FPR {}".format(*map(draw.share_text, rates))


def _edges(
    scores: Any,
    k: Any,
    bins: int,
) -> tuple[Any, str]:
    """Return the edges of bins and the scale of their axis.

    Bins are equally wide, or of amounts with a long tail, on a logarithmic axis. `scores`: in the
    order of the ranking. `k`: how many rows have a score up to there.
    """
    import numpy as np

    low, high = sorted(map(float, scores[[0, -1]]))
    # The range without the outermost rows, and the median.
    places = np.searchsorted(k, k[-1] * np.array([_OUTLYING, 0.5, 1 - _OUTLYING]))
    first, median, last = np.sort(scores[places])
    if low > 0 and high > 1 and last > _FAR * median:
        return np.geomspace(low, high, bins + 1), "log"
    if first < last and high - low > _FAR * (last - first):
        margin = 0.5 * (last - first)
        low = max(low, first - margin)
        high = min(high, last + margin)
    if low == high:
        wide = max(0.5, abs(low) * 1e-6)
        low -= wide
        high += wide
    # The difference of two scores near 1e308 would overflow.
    shares = np.arange(bins + 1) / bins
    return np.unique(low * (1 - shares) + high * shares), "linear"


def draw_gains(frame: Any, y: str, options: Mapping[str, Any]) -> Any:
    """Draw what `plot_gains` returns."""
    style = Style.of(options, panels=True)
    style.check_colors(("bin", "cumulative"))
    name = check_choice("y", y, ("recall", "precision", "lift"))
    columns = dict.fromkeys(
        ("share", name, f"bin_{name}", "precision"),
        "gains_table gives it",
    )
    result = read_result(frame, columns, "plot_gains draws a frame that gains_table gave")
    titles = "Share of the rows, the highest scores first", style.title(name)
    return _draw_groups(result, style, titles, partial(_draw_bins, name=name, style=style))


def _draw_bins(
    ax: Axes,
    table: pl.DataFrame,
    name: str,
    style: Style,
    *,
    in_panel: bool,
) -> str:
    """Draw the bars of the bins, the cumulative line, and a random ranking."""
    from matplotlib.ticker import PercentFormatter

    share, cumulative, of_bin = (
        table.sort("share")[column].cast(pl.Float64).fill_null(float("nan")).to_list()
        for column in ("share", name, f"bin_{name}")
    )
    bins = len(share)
    word = _BINS.get(bins, "bin")
    ax.bar(
        [end - 1 / bins for end in share],
        of_bin,
        0.92 / bins,
        align="edge",
        alpha=0.35,
        color=style.color_of(["bin"], 0),
        label=style.label("bin", f"in this {word}"),
    )
    start = [0.0] if name == "recall" else []
    ax.plot(
        [*start, *share],
        [*start, *cumulative],
        "o-",
        markersize=4,
        color=style.color_of(["cumulative"], 3),
        label=style.label("cumulative", f"up to this {word} (cumulative)"),
    )
    reference: draw.Properties = REFERENCE | {"zorder": 1, "gid": draw.SHARED}
    if name == "recall":
        ax.plot([0, 1], [0, 1], label="random ranking (cumulative)", **reference)
    elif cumulative:
        label = "prevalence" if name == "precision" else "random ranking"
        ax.axhline(cumulative[-1], label=label, **reference)
    ax.margins(x=0.01)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    if name != "lift":
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    return ""
