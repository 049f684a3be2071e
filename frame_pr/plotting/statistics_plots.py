"""Plots of confidence intervals, and of the differences of two systems for each group."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, flag, public, real, text, whole
from frame_pr.frames.columns import by_name, listed
from frame_pr.frames.kinds import Frame, kind_of, read_stream
from frame_pr.frames.messages import did_you_mean, nearest, shown, warn
from frame_pr.frames.messages import pluralize as count_of
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.metrics.completion import MetricName
from frame_pr.metrics.names import is_metric
from frame_pr.plotting.curve_data import number_rows
from frame_pr.plotting.legends import SHARED, draw_legend
from frame_pr.plotting.styles import (
    LABEL_LENGTH,
    canvas,
    check_axes,
    escape,
    grey,
    in_legend,
    ink,
    letters_along,
    metric_title,
    need_matplotlib,
    palette,
    set_titles,
    shorten,
    style,
    value_text,
)
from frame_pr.statistics.comparisons import compare
from frame_pr.statistics.intervals import share_of
from frame_pr.statistics.unit_values import COLUMNS, unit_values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 0.28
"""Inches of a line of `plot_intervals`."""
_BARS = 4000
"""Most differences that are drawn; of more, every second or third, and so on."""
_NAMED = 30
"""Most differences that have a name each."""
_OFFSET = 0.25
"""Distance between the intervals of two systems, in lines."""


@public()
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | None = None,
    overall: float | None = None,
    sort: bool = True,
    max_groups: int = 60,
    ax: Axes | None = None,
) -> Axes:
    """Draw a dot and its confidence interval for each group (forest plot), from the result of `intervals`.

    Also of figures without intervals, such as `evaluate` gave: dots of two systems are then joined by a line.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `intervals` gave, with keys; or what `evaluate` gave, whose keys stand before its metrics. Never changed.
    metric : str, optional
        Which metric, where the frame has several; of a frame of figures, its column.
    overall : float, optional
        A value to draw as a line, such as that of all rows. Without it, the mean of the values that are drawn.
    sort : bool
        The largest value on top, of several systems their mean; else in the order of the frame.
    max_groups : int
        How many rows the picture may hold.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.

    Returns
    -------
    matplotlib Axes
        With a dot, and where there are bounds a whisker, for each row, of each `system` in a colour; beside its name
        the number of units, of figures that of `positives`, if they are there.

    Raises
    ------
    ValueError, TypeError
        The frame is not what `intervals` gave, has several metrics and none is named, or too many rows.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    intervals, plot_comparison

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"q": [1, 1, 1, 1, 2, 2, 2, 2], "truth": [1, 0, 1, 0, 1, 1, 0, 0], "score": range(8)})
    >>> table = fp.intervals(run, "average_precision", "truth", "score", by="q")
    >>> ax = fp.plot_intervals(table, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1  (4)', '2  (4)']
    """
    need_matplotlib()
    name = None if metric is None else text("metric", metric)
    line = None if overall is None else float(real("overall", overall))
    largest_first, most = flag("sort", sort), whole("max_groups", max_groups, least=1)
    check_axes(ax)
    table, keys, drawn = _read(frame, name)
    has_systems = len(keys) > 1 and "system" in keys
    systems = table["system"].unique(maintain_order=True).to_list() if has_systems else []
    rows = [key for key in keys if not systems or key != "system"]
    table = table.with_columns(mean=pl.col("value").mean().over(number_rows(table, rows)[1]))
    if largest_first:
        table = table.sort("mean", descending=True, nulls_last=True, maintain_order=True)
    places, number = number_rows(table, rows)
    if len(places) > most:
        many = count_of(len(places), "row", "rows")
        raise ValueError(f"{many} are too many to read: filter them, or max_groups={len(places)}")
    _warn_of_scale(table, line)
    table = table.with_columns(place=len(places) - 1 - number)
    with canvas(ax, figsize=(6.4, 1.2 + _HEIGHT * len(places)), layout="constrained") as target:
        units = table.unique("place", maintain_order=True)["units"].to_list()
        write_names(target, [", ".join(map(value_text, row)) for row in places.rows()], units, own_figure=ax is None)
        _dots(target, table, systems)
        _draw_overall(target, table["value"].mean(), line)
        target.margins(y=min(0.1, 0.6 / max(1, len(places))))
        set_titles(target, drawn, "")
        if systems:
            draw_legend(target, own_figure=ax is None)
    return target


def _warn_of_scale(table: pl.DataFrame, overall: float | None) -> None:
    """Warn of a value on another scale than the values, such as percent."""
    low, high = table.select(low=pl.col("value").min(), high=pl.col("value").max()).row(0)
    if overall is None or low is None:
        return
    # The value of all rows may lie outside the values of the groups, but not on a tenth or ten times their scale.
    if low >= 0 and high <= 1:
        is_other_scale = not 0 <= overall <= 1
    else:
        is_other_scale = abs(overall) > 10 * max(abs(low), abs(high)) or low > 10 * abs(overall)
    if is_other_scale:
        warn(
            f"overall: {overall:g} lies outside the values, which go from {low:g} to {high:g}; "
            "give the value of the same metric on the same scale"
        )


def _draw_overall(ax: Axes, mean: Any, overall: float | None) -> None:
    value = mean if overall is None else overall
    if not isinstance(value, float):
        return
    ax.axvline(value, color=grey(ax, 0.4), linestyle=":", linewidth=1, zorder=1)
    label = f"{'mean' if overall is None else 'overall'} {value:.2f}"
    above: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (0, 3), "textcoords": "offset points"}
    ax.annotate(label, (value, 1), ha="center", va="bottom", color=grey(ax, 0.4), **above)


def _dots(ax: Axes, table: pl.DataFrame, systems: list[Any]) -> None:
    """Draw a dot for each row, with its interval; of several systems in a colour each, else joined by a line."""
    spans = table.group_by("place").agg(low=pl.col("value").min(), high=pl.col("value").max())
    spans = spans.drop_nulls().sort("place")
    joined = bool(systems) and table["low"].null_count() == table.height
    if joined:
        ax.hlines(spans["place"], spans["low"], spans["high"], color=grey(ax, 0.7), linewidth=2, zorder=1)
    for number, system in enumerate(systems or [None]):
        rows = table.filter(pl.col("system").eq_missing(pl.lit(system))) if systems else table
        rows = rows.select("place", pl.col("value", "low", "high").fill_null(float("nan")))
        offset = 0.0 if joined or not systems else _OFFSET * ((len(systems) - 1) / 2 - number)
        places = [place + offset for place in rows["place"]]
        colour = style(ax, number, None)["color"]
        ax.hlines(places, rows["low"].to_list(), rows["high"].to_list(), color=colour, linewidth=1.5)
        label = in_legend(escape(shorten(value_text(system)))) if systems else ""
        ax.plot(rows["value"].to_list(), places, "o", markersize=5, color=colour, label=label)


def write_names(ax: Axes, names: Sequence[str], units: Sequence[int | None], *, own_figure: bool) -> None:
    """Write the names of the rows with their units; in axes of the caller, as much as fits."""
    box = ax.get_window_extent()
    room = LABEL_LENGTH if own_figure else max(6, letters_along(ax, 0.35 * box.width))
    counts = ["" if n is None else f"  ({n:,})" for n in units]
    if max(len(name + count) for name, count in zip(names, counts, strict=True)) > room and not own_figure:
        counts = [""] * len(names)
    labels = [escape(shorten(name, room)) + count for name, count in zip(names, counts, strict=True)]
    # A line is as high as two letters are wide.
    every = 1 if own_figure else ceil(2 * len(names) / max(1, letters_along(ax, box.height)))
    ax.set_yticks(range(len(names) - 1, -1, -every), labels[::every])


@public()
def plot_comparison(
    frame: Frame,
    /,
    metric: MetricName,
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    baseline: str | None = None,
    confidence: float = 0.95,
    positive: object = None,
    undefined: float | None = None,
    ax: Axes | None = None,
    **policies: Unpack[Policies],
) -> Axes:
    """Draw the difference of two systems per group, the largest first, with the mean and its confidence interval.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; or, without `truth` and `score`, a frame of figures (see `compare`). Never changed.
    metric : str
        The name of a metric; of a frame of figures, its column.
    truth : str or polars expression, optional
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : two names or polars expressions, optional
        The systems, each a column of scores; higher ranks earlier, unless `ascending`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    baseline : str, optional
        The system that the other is compared with: the first one, unless said.
    confidence : float
        Confidence level of the interval, strictly between 0 and 1.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Which of them goes with
        which metric: the page of the docs on policies.

    Returns
    -------
    matplotlib Axes
        A bar for each group that both have a value of, with its name if there are up to 30; wins, ties and losses in
        the legend.

    Raises
    ------
    ValueError, TypeError
        There are not two systems; what `compare` raises.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    compare, plot_intervals

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> figures = pl.DataFrame(
    ...     {"q": [1, 2, 3] * 2, "system": ["a"] * 3 + ["b"] * 3, "ap": [0.1, 0.2, 0.3, 0.4, 0.1, 0.3]}
    ... )
    >>> ax = fp.plot_comparison(figures, "ap", by="q", ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['mean difference 0.07 (-0.45 to 0.58)', 'b better: 1', 'b worse: 1, tied: 1']
    """
    need_matplotlib()
    check_axes(ax)
    name, frame = text("metric", metric), read_stream(frame)
    share_of(confidence)
    if by is None:
        raise ValueError("by: plot_comparison draws a difference for each group; name the grouping columns, by=...")
    if score is not None and len(names := listed("score", score)) > 2:
        raise ValueError(
            f"score: plot_comparison draws two systems, got {len(names)}; name two, such as "
            f"score=[{', '.join(map(shown, names[:2]))}]"
        )
    options: dict[str, Any] = {"positive": positive, "undefined": filling("undefined", undefined), **policies}
    if truth is not None and score is not None:
        ranked = unit_values_of(frame, name, truth, score, by, positive, options["undefined"], policies)
        if len(ranked.systems) > 1:
            # From here on a frame of metrics, which is compared and drawn: the rows are ranked once.
            of_groups: Any = ranked.table.collect()
            frame, truth, score, options = of_groups, None, None, {}
            by = [key for key in ranked.keys if key != "system"]
            baseline = ranked.systems[0] if baseline is None and len(ranked.systems) == 2 else baseline
    comparison = compare(frame, name, truth, score, by=by, baseline=baseline, confidence=confidence, **options)
    (row, *others) = kind_of(comparison).read(list(kind_of(comparison).columns)).collect().iter_rows(named=True)
    if others:
        raise ValueError(
            "plot_comparison draws two systems, and the frame has more: give two, such as score=[...] of two names, or "
            "filter the column system"
        )
    positive, undefined = (options.pop(argument, None) for argument in ("positive", "undefined"))
    rest: Any = options
    metrics = unit_values_of(frame, name, truth, score, by, positive, undefined, rest, system=True)
    keys = {f"key {i}": by_name(key) for i, key in enumerate(metrics.keys) if key != "system"}
    old, new = (
        metrics.table.filter(pl.col("system") == row[side]).select(**keys, **{side: by_name(name)})
        for side in ("baseline", "system")
    )
    difference = pl.col("system") - pl.col("baseline")
    pairs = old.join(new, on=list(keys), nulls_equal=True).select(*keys, difference=difference)
    differences = pairs.drop_nulls("difference").sort("difference", descending=True, maintain_order=True).collect()
    height = 1.6 + _HEIGHT * differences.height if differences.height <= _NAMED else 4.0
    with canvas(ax, figsize=(6.4, height), layout="constrained") as target:
        _draw_differences(target, differences, row, name, own_figure=ax is None)
    return target


def _draw_differences(ax: Axes, pairs: pl.DataFrame, row: dict[str, Any], metric: str, *, own_figure: bool) -> None:
    """Draw the differences as bars, named if they are few, and their mean with its interval from a row of `compare`."""
    room = min(LABEL_LENGTH, max(12, letters_along(ax, ax.get_window_extent().height)))
    system, baseline = (escape(shorten(str(row[side]), room)) for side in ("system", "baseline"))
    differences, named = pairs["difference"], pairs.height <= _NAMED
    colours = dict(zip(("better", "worse"), palette(ax)[:2], strict=True))
    counts = {"better": row["wins"], "worse": row["losses"]}
    sides = {"better": differences.clip(lower_bound=0), "worse": differences.clip(upper_bound=0)}
    for side, colour in colours.items():
        look: dict[str, Any] = {"color": colour, "label": f"{system} {side}: {counts[side]:,}"}
        if side == "worse" and row["ties"]:
            look["label"] += f", tied: {row['ties']:,}"
        if named:
            ax.barh(range(pairs.height - 1, -1, -1), sides[side].to_list(), height=0.7, **look)
        else:
            # One outline: a bar for each of ten thousand would take matplotlib most of a minute.
            every = -(-differences.len() // _BARS) or 1
            edges = [*(place + 0.5 for place in range(0, differences.len(), every)), differences.len() + 0.5]
            ax.stairs(sides[side].gather_every(every), edges, fill=True, **look)
    along, span, line = ("x", ax.axvspan, ax.axvline) if named else ("y", ax.axhspan, ax.axhline)
    if row["difference"] is not None:
        label = f"mean difference {row['difference']:.2f}"
        if row["low"] is not None:
            span(row["low"], row["high"], color=grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
            label += f" ({row['low']:.2f} to {row['high']:.2f})"
        line(row["difference"], color=grey(ax, 0.3), linewidth=1.5, linestyle="--", label=label).set_gid(SHARED)
    line(0, color=ink(ax), linewidth=0.8)
    if named:
        names = [", ".join(map(value_text, key)) for key in pairs.drop("difference").rows()]
        write_names(ax, names, [None] * len(names), own_figure=own_figure)
        ax.margins(y=min(0.1, 0.6 / max(1, len(names))))
    groups = count_of(differences.len(), "group", "groups")
    title = f"{escape(metric_title(metric))}: {system} less {baseline}"
    set_titles(ax, *((title, "") if along == "x" else (f"{groups}, the largest difference first", title)))
    draw_legend(ax, own_figure=own_figure, above=True)


def _read(frame: Any, metric: str | None) -> tuple[pl.DataFrame, list[str], str]:
    """Read the rows of a metric, the names of the keys, and the name of the metric."""
    kind = kind_of(frame)
    if metric is not None and "metric" not in kind.columns and metric in kind.columns:
        return _read_figures(kind, metric)
    missing = [name for name in COLUMNS if name not in kind.columns]
    if missing:
        raise ValueError(
            f"plot_intervals draws a frame that intervals gave, and this one has no column {missing[0]!r}; "
            "for a frame of evaluate, name a column of it: metric=..."
        )
    keys = kind.columns[: kind.columns.index("metric")]
    if not keys:
        raise ValueError("plot_intervals draws a row for each group: intervals(..., by=...), without mean_over")
    names = [str(key) for key in keys]
    table = kind.read([*keys, *COLUMNS]).select(map(by_name, [*names, *COLUMNS])).collect()
    metrics = table["metric"].unique(maintain_order=True).to_list()
    if metric is None and len(metrics) > 1:
        raise ValueError(f"the frame has {len(metrics)} metrics: name one, metric={metrics[0]!r}")
    if metric is not None and metric not in metrics:
        near = nearest(metric, metrics)
        hint = did_you_mean(near) if near else f"it has {', '.join(metrics)}"
        raise ValueError(f"metric={shown(metric)} is not in the frame; {hint}")
    selected = metric if metric is not None else metrics[0] if metrics else ""
    return table.filter(pl.col("metric") == selected), names, escape(metric_title(selected))


def _read_figures(kind: Any, metric: str) -> tuple[pl.DataFrame, list[str], str]:
    """Read a frame of metrics, which has no bounds; the columns before the first metric are keys."""
    names = list(map(str, kind.columns))
    keys = names[: next(i for i, name in enumerate(names) if name == metric or is_metric(name))]
    if not keys:
        raise ValueError("plot_intervals draws a row for each group: evaluate(..., by=...), without mean_over")
    units = ["positives"] if "positives" in names else []
    table = kind.read([*keys, metric, *units]).select(map(by_name, [*keys, metric, *units])).collect()
    if not table[metric].dtype.is_numeric():
        raise TypeError(f"metric={shown(metric)} is a column of {table[metric].dtype}: figures are numbers")
    none = pl.lit(None, pl.Float64)
    number = by_name(units[0]) if units else pl.lit(None, pl.Int64)
    value = by_name(metric).cast(pl.Float64).fill_nan(None)
    table = table.select(*map(by_name, keys), value=value, low=none, high=none, units=number)
    return table, keys, escape(metric_title(metric))
