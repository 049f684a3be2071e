"""Plots of differences between two systems, as bars and slopes, and of the result of `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import polars as pl

from frame_pr.frames.arguments import one_of, public, text
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.plotting.appearance import (
    LABEL_LENGTH,
    Appearance,
    ColourArguments,
    appearance_of,
    canvas,
    escape,
    grey,
    letters_along,
    palette,
    set_titles,
    shorten,
    text_colour,
)
from frame_pr.plotting.legends import SHARED, draw_legend, spread_texts
from frame_pr.plotting.results import metrics_of, pairs_of, read_differences, read_values
from frame_pr.plotting.statistics_plots import HEIGHT, MOST_ROWS, write_names
from frame_pr.statistics.comparisons import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS = 4000
"""The most differences in a plot. Of more differences, every second or third is drawn, and so on."""
_NAMED = 30
"""The most differences that have names."""
SIDES = ("better", "worse")
"""Groups in which the system has the larger value, and groups in which it has the smaller value."""


@public()
def plot_comparison(
    frame: Frame,
    /,
    *,
    kind: Literal["intervals", "differences", "slopes"] | None = None,
    metric: str | None = None,
    **options: Unpack[ColourArguments],
) -> Axes:
    """Draw a comparison of systems: intervals of differences, differences by group, or slopes between two systems.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `compare` ("intervals"), or of `evaluate` for two systems by groups. The frame is not changed.
    kind : "intervals", "differences" or "slopes", optional
        A dot and a whisker for each difference of `compare`, a bar for the difference of each group, or a line for each
        group from one system to the other. Default: "intervals" for a result of `compare`, else "differences".
    metric : str, optional
        The metric to draw, if the frame has several.
    labels : dict, optional
        Labels by name: of systems, groups, key columns, metrics and words of the legend.
    colors : dict, optional
        Colours of "better" and "worse".
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        The plot.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, or has several metrics and `metric` is missing.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    compare, evaluate, plot_intervals

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> table = pl.DataFrame(
    ...     {"q": [1, 1, 2, 2], "system": ["old", "new"] * 2, "roc_auc": [0.6, 0.8, 0.7, 0.5]}
    ... )
    >>> ax = fp.plot_comparison(table, kind="slopes", ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['new better: 1', 'new worse: 1']
    """
    appearance = appearance_of(options)
    is_comparison = "difference" in kind_of(frame).columns
    kind = kind or ("intervals" if is_comparison else "differences")
    if one_of("kind", kind, ("intervals", "differences", "slopes")) == "intervals":
        return _interval_plot(frame, metric, appearance)
    if metric is None:
        names = metrics_of(frame)
        metric = names[0] if len(names) == 1 and "metric" not in kind_of(frame).columns else None
    return (_slope_plot if kind == "slopes" else _difference_plot)(frame, metric, appearance)


def _difference_plot(frame: Any, metric: str | None, appearance: Appearance) -> Axes:
    """Draw the difference between two systems for each group, the mean difference and its confidence interval."""
    values = read_values(frame, metric, appearance)
    groups = [key for key in values.keys if key != "system"]
    if "system" not in values.keys or not groups:
        raise ValueError("frame: differences need two systems by groups; call evaluate with by= and two scores")
    name = text("metric", metric) if metric else metrics_of(frame)[0]
    table = values.table.select(*map(by_name, values.keys), by_name("value").alias(name))
    comparison = compare(table, name, by=groups, baseline=table["system"][0])
    row, *others = comparison.rows(named=True)
    if others:
        raise ValueError("plot_comparison draws two systems, and the frame has more: filter the column system")
    pairs = pairs_of(table.lazy(), groups, name, (row["baseline"], row["system"]))
    pairs = pairs.with_columns(difference=pl.col("new") - pl.col("old")).drop("old", "new")
    keys = pairs.drop("difference").rows(named=True)
    appearance.check_names([value for key in keys for value in key.values()], SIDES)
    appearance.check_number(len(keys), "groups", None)
    if appearance.order in (None, "value"):
        pairs = pairs.sort("difference", descending=True, maintain_order=True)
    else:
        pairs = pairs[appearance.places(keys)]
    height = 1.6 + HEIGHT * pairs.height if pairs.height <= _NAMED else 4.0
    with canvas(appearance, figsize=(6.4, height), layout="constrained") as target:
        _draw_differences(target, pairs, groups, row, name, appearance)
    return target


def _draw_differences(
    ax: Axes, pairs: pl.DataFrame, keys: Sequence[str], row: dict[str, Any], metric: str, appearance: Appearance
) -> None:
    """Draw the differences as bars, named if they are few, and their mean with its interval from a row of `compare`."""
    room = min(LABEL_LENGTH, max(12, letters_along(ax, ax.get_window_extent().height)))
    system, baseline = (appearance.label_of(str(row[side]), room) for side in ("system", "baseline"))
    digits, n = appearance.decimals, pairs.height
    differences, named = pairs["difference"], n <= _NAMED
    tied = f", {appearance.display('tied')}: {row['equal']:,}" if row["equal"] else ""
    sides = (differences.clip(lower_bound=0), row["wins"], ""), (differences.clip(upper_bound=0), row["losses"], tied)
    for side, colour, (heights, count, more) in zip(SIDES, _side_colours(ax, appearance), sides, strict=True):
        bar: dict[str, Any] = {"color": colour, "label": f"{system} {appearance.display(side)}: {count:,}{more}"}
        if named:
            ax.barh(range(n - 1, -1, -1), heights.to_list(), height=0.7, **bar)
        else:
            # One outline, because matplotlib would need most of a minute for ten thousand bars.
            every = -(-n // _BARS)
            edges = [*(place + 0.5 for place in range(0, n, every)), n + 0.5]
            ax.stairs(heights.gather_every(every), edges, fill=True, **bar)
    span, line = (ax.axvspan, ax.axvline) if named else (ax.axhspan, ax.axhline)
    if row["difference"] is not None:
        label = f"{appearance.display('mean difference')} {row['difference']:.{digits}f}"
        if row["low"] is not None:
            span(row["low"], row["high"], color=grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
            label += f" ({row['low']:.{digits}f} to {row['high']:.{digits}f})"
        line(row["difference"], color=grey(ax, 0.3), linewidth=1.5, linestyle="--", label=label).set_gid(SHARED)
    line(0, color=text_colour(ax), linewidth=0.8)
    title = f"{appearance.title_of(metric)}: {system} minus {baseline}"
    if named:
        set_titles(ax, title, write_names(ax, appearance.names_of(pairs.drop("difference")), keys, appearance))
    else:
        set_titles(ax, f"{n} groups, the largest difference first", title)
    draw_legend(ax, appearance, above=True)


def _interval_plot(frame: Any, metric: str | None, appearance: Appearance) -> Axes:
    """Draw differences from a baseline with their confidence intervals, from the result of `compare`."""
    table, names, title = read_differences(frame, metric, appearance)
    keys = table.select(map(by_name, names)).rows(named=True)
    appearance.check_names([value for key in keys for value in key.values()], SIDES)
    appearance.check_number(len(keys), "rows", MOST_ROWS)
    if appearance.order in (None, "value"):
        table = table.sort("difference", descending=True, nulls_last=True, maintain_order=True)
    else:
        table = table[appearance.places(keys)]
    with canvas(appearance, figsize=(6.4, 1.2 + HEIGHT * len(keys)), layout="constrained") as target:
        y_title = write_names(target, appearance.names_of(table.select(map(by_name, names))), names, appearance)
        better, worse = _side_colours(target, appearance)
        target.axvline(0, color=text_colour(target), linewidth=0.8, zorder=1)
        rows = table.select("difference", pl.col("low", "high").fill_null(float("nan"))).rows()
        for place, (difference, low, high) in zip(reversed(range(len(rows))), rows, strict=True):
            if difference is not None:
                colour = better if difference >= 0 else worse
                target.hlines(place, low, high, color=colour, linewidth=1.5)
                # The interval of a hollow dot contains 0.
                face = colour if low > 0 or high < 0 else target.get_facecolor()
                target.plot([difference], [place], "o", markersize=6, color=colour, markerfacecolor=face)
        set_titles(target, title, y_title)
    return target


def _slope_plot(frame: Any, metric: str | None, appearance: Appearance) -> Axes:
    """Draw a line for each group, from its value for one system to its value for the other."""
    table, keys, title, _ = read_values(frame, metric, appearance)
    systems = table["system"].unique(maintain_order=True).to_list() if "system" in keys else []
    if len(systems) != 2 or len(keys) < 2:
        raise ValueError(f"kind='slopes' draws two systems by groups, and the frame has {len(systems)} systems")
    groups = [key for key in keys if key != "system"]
    names = table.select(map(by_name, groups)).rows()
    appearance.check_names([*systems, *(value for row in names for value in row)], SIDES)
    old, new = appearance.in_order(systems)
    pairs = pairs_of(table.lazy(), groups, "value", (old, new))
    appearance.check_number(pairs.height, "groups", MOST_ROWS)
    with canvas(appearance, figsize=(4.8, 4.8), layout="constrained") as target:
        system = appearance.label_of(new, 24)
        _draw_slopes(target, pairs, system, appearance)
        target.set_xticks([0, 1], [appearance.label_of(old, 24), system])
        set_titles(target, "", title)
        draw_legend(target, appearance, above=True)
    return target


def _side_colours(ax: Axes, appearance: Appearance) -> list[Any]:
    """Return the colours of better and of worse."""
    return [appearance.colors.get(side, colour) for side, colour in zip(SIDES, palette(ax), strict=False)]


def _draw_slopes(ax: Axes, pairs: pl.DataFrame, system: str, appearance: Appearance) -> None:
    """Draw a line for each group, and write its name at the right, if there is room. `system`: the second system."""
    better, worse = _side_colours(ax, appearance)
    box, tied = ax.get_window_extent(), grey(ax, 0.5)
    differences = pairs["new"] - pairs["old"]
    for old, new in pairs.select("old", "new").rows():
        colour = better if new > old else worse if new < old else tied
        ax.plot([0, 1], [old, new], "o-", markersize=4, linewidth=1.2, color=colour, label="_slope")
    counts = {"better": (differences > 0).sum(), "worse": (differences < 0).sum()}
    for (side, number), colour in zip(counts.items(), (better, worse), strict=True):
        ax.plot([], [], color=colour, label=f"{system} {appearance.display(side)}: {number:,}")
    if ties := (differences == 0).sum():
        ax.plot([], [], color=tied, label=f"{appearance.display('tied')}: {ties:,}")
    # A line of text is as high as two letters are wide.
    lines = letters_along(ax, box.height) // 2
    ax.set_xlim(-0.1, 1.1)
    if not 0 < pairs.height <= lines:
        return
    room = max(4, letters_along(ax, 0.3 * box.width))
    names = [shorten(name, room) for name in appearance.names_of(pairs.drop("old", "new"))]
    longest = max(map(len, names))
    ax.set_xlim(-0.1, 1.05 + 1.2 * longest / max(1, letters_along(ax, box.width) - longest))
    heights = pairs["new"].to_list()
    leader: dict[str, Any] = {"color": grey(ax, 0.7), "linewidth": 0.6, "zorder": 1}
    for name, height, place in zip(names, heights, spread_texts(heights, *ax.get_ylim(), lines), strict=True):
        ax.text(1.05, place, escape(name), va="center", fontsize="small", clip_on=False)
        ax.plot([1.01, 1.045], [height, place], label="_leader", scalex=False, scaley=False, **leader)
