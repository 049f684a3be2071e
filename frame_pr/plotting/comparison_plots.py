"""`plot_comparison`: intervals of differences, differences by group, and slopes between two systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import polars as pl

from frame_pr.frames.arguments import one_of, public
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, find_kind
from frame_pr.frames.messages import shown
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style, StyleArguments
from frame_pr.plotting.interval_plots import MOST_ROWS, ROW
from frame_pr.plotting.results import Result, read_metrics, read_result
from frame_pr.statistics.comparisons import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS = 4000
"""The most differences in a plot. Of more differences, every second or third is drawn, and so on."""
_LINE = 0.21
"""Inches of the name of a slope."""
_NAMED = 30
"""The most differences that have names."""
_SIDES = ("better", "worse")
_CLEAR = ("interval without 0", "interval contains 0")


@public()
def plot_comparison(
    frame: Frame,
    /,
    *,
    kind: Literal["intervals", "differences", "slopes"] | None = None,
    metric: str | None = None,
    **options: Unpack[StyleArguments],
) -> Axes:
    """Draw a comparison: intervals of differences, the difference of each group, or slopes between two systems.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        For "intervals" the result of `compare`. For "differences" and "slopes" that of `evaluate` or `intervals` for
        two systems by groups. The frame is not changed.
    kind : "intervals", "differences" or "slopes", optional
        "intervals": a dot and a whisker for each difference. "differences": a bar for each group, and the mean
        difference with its confidence interval from `compare`. "slopes": a line for each group from its value for one
        system to its value for the other. Default: "intervals" for a result of `compare`, else "differences".
    metric : str, optional
        The metric to draw, if the frame has several.
    colors : dict, optional
        Colours of "better" and "worse".
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        The plot. With "intervals", a dot is hollow if its interval contains 0.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of these functions, has not two systems by groups, or has several metrics and `metric` is
        missing.
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
    style = Style.of(options)
    style.check_colors(_SIDES)
    frame_kind = find_kind(frame)
    is_comparison = frame_kind is not None and "difference" in map(str, frame_kind.columns)
    kind = kind or ("intervals" if is_comparison else "differences")
    if one_of("kind", kind, ("intervals", "differences", "slopes")) == "intervals":
        return _draw_intervals(frame, metric, style)
    if is_comparison:
        raise ValueError(
            f"kind={shown(kind)} draws the values of groups: give the result of evaluate, by= and two scores"
        )
    pairs = _pairs(frame, metric)
    return _draw_differences(pairs, style) if kind == "differences" else _draw_slopes(pairs, style)


class _Pairs(NamedTuple):
    """The values of two systems for the groups that have both."""

    metric: str
    keys: list[str]
    systems: tuple[Any, Any]
    table: pl.DataFrame
    """The keys as `key 0` and so on, and `old, new` and `difference`."""

    @property
    def key_columns(self) -> list[str]:
        """Return the columns of the keys."""
        return [name for name in self.table.columns if name.startswith("key ")]


def _pairs(frame: Any, metric: str | None) -> _Pairs:
    """Read the values of two systems by groups."""
    keys, values = read_metrics(frame, metric, "plot_comparison")
    if len(values) > 1:
        raise ValueError(f"the frame has {len(values)} metrics: name one, metric={values[0].metric!r}")
    table = values[0].table
    place = keys.index("system") if "system" in keys else -1
    systems = table[f"key {place}"].unique(maintain_order=True).to_list() if place >= 0 else []
    if len(systems) != 2 or len(keys) < 2:
        raise ValueError(f"plot_comparison draws two systems by groups, and the frame has {len(systems)} systems")
    groups = [f"key {i}" for i in range(len(keys)) if i != place]
    old, new = (
        table.filter(pl.col(f"key {place}") == system).select(*groups, pl.col("value").alias(side))
        for system, side in zip(systems, ("old", "new"), strict=True)
    )
    both = old.join(new, on=groups, nulls_equal=True, maintain_order="left").drop_nulls(["old", "new"])
    names = [key for key in keys if key != "system"]
    return _Pairs(
        values[0].metric, names, (systems[0], systems[1]), both.with_columns(difference=pl.col("new") - pl.col("old"))
    )


def _mean_difference(pairs: _Pairs) -> dict[str, Any]:
    """Return the row of `compare` for these groups."""
    sides = {"old": pairs.systems[0], "new": pairs.systems[1]}
    tables = [
        pairs.table.select(*pairs.key_columns, system=pl.lit(str(system)), value=side) for side, system in sides.items()
    ]
    frame = pl.concat(tables)
    compared = compare(frame, "value", by=pairs.key_columns, baseline=str(pairs.systems[0]))
    return compared.row(0, named=True)


def _is_ordered(table: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Return whether the only key is a time or an ordered category, whose order a plot keeps."""
    return len(columns) == 1 and (table[columns[0]].dtype.is_temporal() or table[columns[0]].dtype == pl.Enum)


def _side_colours(ax: Axes, style: Style) -> list[Any]:
    """Return the colours of better and of worse."""
    return [style.colors.get(side, colour) for side, colour in zip(_SIDES, draw.palette(ax), strict=False)]


def _counts(pairs: _Pairs, style: Style) -> tuple[str, str]:
    """Return how many groups are better and worse for the second system, as texts."""
    difference, name = pairs.table["difference"], style.label(pairs.systems[1])
    better, worse = (f"{name} {style.label(side)}" for side in _SIDES)
    ties = int((difference == 0).sum())
    return f"{better}: {(difference > 0).sum():,}", f"{worse}: {(difference < 0).sum():,}" + (
        f", equal: {ties:,}" if ties else ""
    )


def _draw_differences(pairs: _Pairs, style: Style) -> Axes:
    """Draw the differences as bars, named if they are few, and their mean with its interval."""
    table = pairs.table
    if _is_ordered(table, pairs.key_columns):
        table = table.sort(pairs.key_columns[0])
    else:
        table = table.sort("difference", descending=True, maintain_order=True)
    n, named = table.height, table.height <= _NAMED
    with draw.axes_of(style, (draw.figure_width(), 1.6 + ROW * n if named else 4.0)) as ax:
        heights = table["difference"]
        sides = heights.clip(lower_bound=0), heights.clip(upper_bound=0)
        for side, colour, label in zip(sides, _side_colours(ax, style), _counts(pairs, style), strict=True):
            if named:
                ax.barh(range(n - 1, -1, -1), side.to_list(), height=0.7, color=colour, label=label)
            else:
                # One outline, because matplotlib would need most of a minute for ten thousand bars.
                every = -(-n // _BARS)
                edges = [*(place + 0.5 for place in range(0, n, every)), n + 0.5]
                ax.stairs(side.gather_every(every), edges, fill=True, color=colour, label=label)
        _draw_mean(ax, pairs, style, along_x=named)
        title = draw.wrap(
            f"{style.title(pairs.metric)}: {style.label(pairs.systems[1])} - {style.label(pairs.systems[0])}"
        )
        if named:
            _name_rows(ax, table.select(pairs.key_columns).rows(), pairs.keys, style)
            ax.set_xlabel(title)
        else:
            name = style.join(pairs.keys)
            ax.set(xlabel=f"{n:,} values of {name}, the largest difference first", ylabel=title)
        draw.draw_legend_above(ax, style)
    return ax


def _draw_mean(ax: Axes, pairs: _Pairs, style: Style, *, along_x: bool) -> None:
    """Draw the mean difference and its confidence interval, which `compare` computes, and a line at 0."""
    line, span = (ax.axvline, ax.axvspan) if along_x else (ax.axhline, ax.axhspan)
    if pairs.table.height:
        row = _mean_difference(pairs)
        label = f"mean difference {draw.number_text(row['difference'])}"
        if row["low"] is not None:
            label += f" (95 % interval {draw.number_text(row['low'])} to {draw.number_text(row['high'])})"
            span(row["low"], row["high"], color=draw.grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
        line(
            row["difference"],
            color=draw.grey(ax, 0.3),
            linewidth=1.5,
            linestyle="--",
            label=label,
            gid=draw.SHARED,
        )
    line(0, color=draw.grey(ax, 0.1), linewidth=0.8)


def _name_rows(ax: Axes, names: Sequence[Sequence[Any]], keys: Sequence[str], style: Style) -> None:
    """Write the names of rows from the top, as many as there is room for."""
    labels = [draw.shorten(style.join(name)) for name in names]
    every = 1 if style.ax is None else max(1, math.ceil(len(labels) / max(1, draw.letters_along(ax, vertical=True))))
    ax.set_yticks(range(len(labels) - 1, -1, -every), labels[::every])
    ax.set_ylim(-0.7, len(labels) - 0.3)
    ax.set_ylabel(style.join(keys))


def _draw_intervals(frame: Any, metric: str | None, style: Style) -> Axes:
    """Draw differences from a baseline with their confidence intervals, from the result of `compare`."""
    result, name, confidence = _read_comparison(frame, metric)
    table, other = result.table, "group" if "group" in result.table.columns else "system"
    columns = [*result.key_columns, other]
    names = [*result.keys, other]
    baselines = table["baseline"].unique(maintain_order=True).to_list()
    if len(baselines) > 1:
        columns.append("baseline")
    several = [i for i, column in enumerate(columns) if table[column].n_unique() > 1] or [len(result.keys)]
    columns, names = [columns[i] for i in several], [names[i] for i in several if i < len(names)]
    if table.height > MOST_ROWS:
        raise ValueError(f"{table.height} differences are more than {MOST_ROWS} rows: filter them")
    if _is_ordered(table, columns):
        table = table.sort(columns[0])
    else:
        table = table.sort("difference", descending=True, nulls_last=True, maintain_order=True)
    level = "" if confidence is None else f"{100 * confidence:g} % "
    first = "the rest" if baselines == [None] else style.label(baselines[0]) if len(baselines) == 1 else ""
    title = f"{style.title(name)}: " + (f"difference from {first}" if first else "difference")
    with draw.axes_of(style, (draw.figure_width(), 1.2 + ROW * table.height)) as ax:
        colour = _side_colours(ax, style)[0]
        ax.axvline(0, color=draw.grey(ax, 0.1), linewidth=0.8, zorder=1)
        rows = table.select("difference", pl.col("low", "high").fill_null(float("nan"))).rows()
        for place, (difference, low, high) in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
            if difference is not None:
                is_clear = low > 0 or high < 0
                ax.hlines(place, low, high, color=colour, linewidth=1.5)
                face = colour if is_clear else ax.get_facecolor()
                label = _CLEAR[not is_clear]
                ax.plot([difference], [place], "o", markersize=6, color=colour, markerfacecolor=face, label=label)
        texts = [_row_name(key, columns, style) for key in table.select(columns).rows()]
        _name_rows(ax, [(text,) for text in texts], names, style)
        ax.set_xlabel(draw.wrap(f"{title} ({level}confidence interval)", max(16, int(0.7 * draw.letters_along(ax)))))
        if len({line.get_label() for line in ax.get_lines()} & set(_CLEAR)) > 1:
            draw.draw_legend_above(ax, style)
    return ax


def _row_name(key: Sequence[Any], columns: Sequence[str], style: Style) -> str:
    """Return the name of a difference: its keys, and `new - old` if baselines differ."""
    if columns[-1] != "baseline":
        return style.join(key)
    *keys, system, baseline = key
    return ", ".join([*map(style.label, keys), f"{style.label(system)} - {style.label(baseline)}"])


def _read_comparison(frame: Any, metric: str | None) -> tuple[Result, str, float | None]:
    """Read a result of `compare`, the name of its metric, and the confidence level if it has it."""
    columns = dict.fromkeys(
        ("metric", "baseline", "difference", "low", "high"), "for values of groups, call plot_intervals"
    )
    columns |= dict.fromkeys(("system", "group", "confidence"), "")
    result = read_result(frame, columns, "kind='intervals' draws a frame that compare gave")
    metrics = result.table["metric"].unique(maintain_order=True).to_list()
    if metric is None and len(metrics) > 1:
        raise ValueError(f"the frame has {len(metrics)} metrics: name one, metric={metrics[0]!r}")
    name = metric or next(iter(metrics), "")
    if name not in metrics:
        raise ValueError(f"metric: {shown(name)} is not in the frame; it has {', '.join(metrics)}")
    table = result.table.filter(by_name("metric") == name)
    confidence = table["confidence"][0] if "confidence" in table.columns and table.height else None
    return Result(result.keys, table), name, confidence


def _draw_slopes(pairs: _Pairs, style: Style) -> Axes:
    """Draw a line for each group, from its value for the first system to its value for the second."""
    table = pairs.table
    if table.height > MOST_ROWS:
        raise ValueError(f"{table.height} groups are more than {MOST_ROWS} lines: filter them")
    with draw.axes_of(style, (4.8, max(4.8, 1.2 + _LINE * table.height))) as ax:
        better, worse = _side_colours(ax, style)
        for old, new in table.select("old", "new").rows():
            colour = better if new > old else worse if new < old else draw.grey(ax, 0.5)
            ax.plot([0, 1], [old, new], "o-", markersize=4, linewidth=1.2, color=colour, label="_slope")
        for label, colour in zip(_counts(pairs, style), (better, worse), strict=True):
            ax.plot([], [], color=colour, label=label)
        ax.set_xlim(-0.1, 1.1)
        ax.set_xticks([0, 1], [draw.shorten(style.label(system), 24) for system in pairs.systems])
        ax.set_ylabel(style.title(pairs.metric))
        _name_slopes(ax, table, pairs.key_columns, style)
        draw.draw_legend_above(ax, style)
    return ax


def _name_slopes(ax: Axes, table: pl.DataFrame, keys: Sequence[str], style: Style) -> None:
    """Write the names of the groups at the right, apart from each other, if there is room."""
    lines = draw.letters_along(ax, vertical=True)
    if not 0 < table.height <= lines:
        return
    names = [style.join(key) for key in table.select(keys).rows()]
    room = max(8, draw.letters_along(ax) // 2)
    names = [draw.shorten(name, room) for name in names]
    longest = max(map(len, names))
    ax.set_xlim(-0.1, 1.08 + 1.1 * longest / max(1, draw.letters_along(ax) - longest))
    low, high = ax.get_ylim()
    order = table["new"].arg_sort().to_list()
    step = (high - low) / lines
    heights = table["new"].to_list()
    places, floor = list(heights), low
    for i in order:
        places[i] = max(heights[i], floor)
        floor = places[i] + step
    ceiling = high - step / 2
    for i in reversed(order):
        places[i] = ceiling = min(places[i], ceiling)
        ceiling -= step
    leader: dict[str, Any] = {"color": draw.grey(ax, 0.7), "linewidth": 0.6, "zorder": 1, "label": "_leader"}
    for name, height, place in zip(names, heights, places, strict=True):
        ax.text(1.06, place, name, va="center", fontsize="small")
        ax.plot([1.01, 1.05], [height, place], scalex=False, scaley=False, **leader)
