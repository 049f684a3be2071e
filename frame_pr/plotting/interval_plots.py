"""`plot_intervals`, dots or trends with confidence intervals, and `plot_comparison`, differences of two systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_text, public_result
from frame_pr.frames.columns import by_name
from frame_pr.frames.dispatch import find_kind
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style, StyleArguments
from frame_pr.plotting.results import Result, read_metrics, read_result
from frame_pr.statistics.comparisons import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _LINE = 0.28, 0.21
"""Inches of a row of groups, and of the name of a slope."""
_MOST_ROWS, _NAMED = 60, 30
"""The most rows of a plot, and the most bars that have names."""
_MOST_LINES, _BANDED_LINES = 10, 3
"""The most lines over time, and the most lines with bands."""
_MARKED = 60
"""The most points of a line that have markers."""
_OFFSET = 0.5
"""Height of the intervals of all systems of a group, in rows."""
_BARS = 4000
"""The most differences in a plot. Of more differences, every second or third is drawn, and so on."""
_DATES = (pl.Date, pl.Datetime)
_SIDES = ("better", "worse")
_CLEAR = ("interval without 0", "interval contains 0")


@public_result(options=StyleArguments)
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | Sequence[str] | None = None,
    x: str | None = None,
    **options: Unpack[StyleArguments],
) -> Axes | Any:
    """Draw the confidence intervals of groups, the result of `intervals`: a forest plot, or a trend over time.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `intervals`, or of `evaluate` by groups, which has no intervals. The frame is
        not changed.
    metric : str or list of str, optional
        The metrics to draw, one panel each. Default: all metrics of the frame.
    x : str, optional
        The key column along the x axis, such as a week. The values of the other keys then have one
        line each. Default: the key column of dates or datetimes, if there is one.
    colors : dict, optional
        Colours by the name of a system, and over time by the name of a line.
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics, and of "confidence interval",
        such as `{"confidence interval": "90 % interval"}`.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each metric. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With several metrics, a numpy array with the axes of each of them. The dotted line of each
        system is the mean of its dots. The number after the name of a group is that of the rows or
        groups behind its value.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `intervals` or `evaluate`, has no key column, or has too many
        groups.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    intervals, evaluate, plot_comparison

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame(
    ...     {
    ...         "q": [1, 1, 1, 1, 2, 2, 2, 2],
    ...         "truth": [1, 0, 1, 0, 1, 1, 0, 0],
    ...         "score": range(8),
    ...     }
    ... )
    >>> table = fp.intervals(run, "average_precision", "truth", "score", by="q")
    >>> ax = fp.plot_intervals(table, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1 (4)', '2 (4)']
    """
    style = Style.of(options, panels=True)
    keys, values = read_metrics(
        frame, metric, "plot_intervals draws a frame that intervals or evaluate gave"
    )
    along = _key_along(None if x is None else check_text("x", x), keys, values[next(iter(values))])
    return (
        _draw_dots(keys, values, style)
        if along is None
        else _draw_trends(keys, along, values, style)
    )


def _key_along(x: str | None, keys: Mapping[str, str], table: pl.DataFrame) -> str | None:
    """Return the key along the x axis: the caller's, or the only key of dates or datetimes."""
    if x is not None and x not in keys:
        raise ValueError(f"x: {shown(x)} is no key of the frame, which has {', '.join(keys)}")
    times = [key for key, column in keys.items() if table[column].dtype in _DATES]
    return times[0] if x is None and len(times) == 1 else x


def _title(ax: Axes, metric: str, table: pl.DataFrame, style: Style) -> str:
    """Return the title of an axis: the metric, and whether the axes show its intervals."""
    has_bounds = bool(ax.collections) and table["low"].null_count() < table.height
    return style.title(metric) + (f"\n({_interval_label(table, style)})" if has_bounds else "")


def _interval_label(table: pl.DataFrame, style: Style) -> str:
    """Return the label of the intervals, with their level if the frame has it."""
    level: Any = table["level"].max() if "level" in table.columns else None
    return style.label(
        "confidence interval", None if level is None else f"{100 * level:g} % interval"
    )


def _in_order(table: pl.DataFrame, columns: Sequence[str], value: str) -> pl.DataFrame:
    """Sort rows by their only key if it is a time or an ordered category; otherwise the largest value comes first."""
    if len(columns) == 1 and (
        table[columns[0]].dtype.is_temporal() or table[columns[0]].dtype == pl.Enum
    ):
        return table.sort(columns[0], nulls_last=True, maintain_order=True)
    return table.sort(value, descending=True, nulls_last=True, maintain_order=True)


def _name_rows(ax: Axes, labels: Sequence[str], style: Style) -> None:
    """Write the names of rows from the top, as many as there is room for."""
    every = (
        1
        if not style.axes
        else math.ceil(len(labels) / max(1, draw.letters_along(ax, vertical=True)))
    )
    ax.set_yticks(range(len(labels) - 1, -1, -max(1, every)), labels[:: max(1, every)])
    ax.set_ylim(-0.7, len(labels) - 0.3)


def _check_rows(n: int, noun: str) -> None:
    """Refuse more rows than a plot has room for."""
    if n > _MOST_ROWS:
        raise ValueError(f"{n} {noun} are more than {_MOST_ROWS} rows: filter them")


def _draw_dots(keys: Mapping[str, str], values: dict[str, pl.DataFrame], style: Style) -> Any:
    """Draw a dot for each group, and a panel for each metric."""
    import numpy as np

    key_of = dict(keys)
    system = key_of.pop("system", None) if len(keys) > 1 else None
    rows, first = list(key_of.values()), next(iter(values.values()))
    groups = first.group_by(rows, maintain_order=True).agg(
        pl.col("value").mean(), pl.col("n").first()
    )
    groups = _in_order(groups, rows, "value").with_row_index("row")
    _check_rows(groups.height, "groups")
    systems = [] if system is None else first[system].unique(maintain_order=True).to_list()
    style.check_colors([*systems] or ["value"])
    tables = {
        metric: [
            (name, of.join(groups.select(*rows, "row"), on=rows, nulls_equal=True))
            for name, of in parts
        ]
        for metric, parts in (
            (metric, _split(table, system, systems)) for metric, table in values.items()
        )
    }
    counts = groups["n"].to_list() if len(values) == 1 else [None]
    has_counts = any(count is not None for count in counts)
    labels = [draw.shorten(style.join(key)) for key in groups.select(rows).rows()]
    if has_counts:
        labels = [f"{label} ({count:,.0f})" for label, count in zip(labels, counts, strict=True)]
    title = style.join(key_of) + " (n)" * has_counts
    height = 1.1 + _ROW * groups.height * max(1, 0.6 * len(systems))
    if len(values) == 1:
        with draw.axes_of(style, (draw.figure_width(), height)) as ax:
            ((metric, parts),) = tables.items()
            _draw_systems(ax, parts, groups.height, style, has_mean=groups.height > 1)
            _name_rows(ax, labels, style)
            ax.set(xlabel=_title(ax, metric, first, style), ylabel=title)
            draw.draw_legend(ax, style)
        return ax
    with draw.panels_of(style, len(values), (2.9, height), shared="y") as axes:
        for ax, (metric, parts) in zip(axes, tables.items(), strict=True):
            _draw_systems(ax, parts, groups.height, style, has_mean=False)
            ax.set_xlabel(_title(ax, metric, values[metric], style))
            _name_rows(ax, labels, style)
        axes[0].set_ylabel(title)
        draw.draw_figure_legend(axes, style)
    return np.array(axes, dtype=object)


def _split(
    table: pl.DataFrame, system: str | None, systems: Sequence[Any]
) -> list[tuple[Any, pl.DataFrame]]:
    """Return the name and the rows of each system; without systems, all rows."""
    if system is None:
        return [(None, table)]
    return [(name, table.filter(pl.col(system).eq_missing(pl.lit(name)))) for name in systems]


def _draw_systems(
    ax: Axes, systems: Sequence[tuple[Any, pl.DataFrame]], n: int, style: Style, *, has_mean: bool
) -> None:
    """Draw the dots and intervals of a metric, and the mean of each system."""
    several = len(systems) > 1
    whole = pl.concat([table for _, table in systems])
    has_bounds = whole["low"].null_count() < whole.height
    if several and not has_bounds:
        spans = (
            whole.group_by("row")
            .agg(low=pl.col("value").min(), high=pl.col("value").max())
            .drop_nulls()
        )
        ax.hlines(
            n - 1 - spans["row"].cast(int),
            *spans.select("low", "high"),
            color=draw.grey(ax, 0.75),
            zorder=1,
        )
    for number, (name, table) in enumerate(systems):
        label = style.label(name) if several else "_value"
        color = style.color_of([name if several else "value"], ax, number)
        offset = _OFFSET * (0.5 - (number + 0.5) / len(systems)) if has_bounds else 0.0
        mean = table["value"].mean()
        if has_mean and isinstance(mean, float):
            text = f"mean {draw.number_text(mean)}"
            line: dict[str, Any] = {"color": color if several else draw.grey(ax, 0.4)}
            line["label"] = "_mean" if several else text
            ax.axvline(mean, linestyle=":", linewidth=1, zorder=1, gid=draw.SHARED, **line)
            label = f"{label} ({text})" if several else label
        y, value, low, high = _numbers(
            table, n - 1 - pl.col("row").cast(pl.Float64) + offset, "value"
        )
        ax.hlines(y, low, high, color=color, linewidth=1.5)
        ax.plot(value, y, "o", markersize=5, color=color, label=label)


def _numbers(table: pl.DataFrame, y: pl.Expr, value: str) -> Any:
    """Return y, the values and their bounds as arrays, with NaN for nulls."""
    return table.select(y, pl.col(value, "low", "high").fill_null(float("nan"))).to_numpy().T


def _draw_trends(
    keys: Mapping[str, str], along: str, values: dict[str, pl.DataFrame], style: Style
) -> Any:
    """Draw a line for each value of the other keys, and a panel for each metric, one below the other."""
    import numpy as np

    others = [column for key, column in keys.items() if key != along]
    title, legend_title = (
        style.label(along),
        style.join(key for key in keys if key not in (along, "system")),
    )
    if len(values) == 1:
        with draw.axes_of(style, (draw.figure_width(), 4.0)) as ax:
            ((metric, table),) = values.items()
            _draw_trend(ax, table, keys[along], others, style)
            ax.set(xlabel=title, ylabel=_title(ax, metric, table, style))
            draw.draw_legend(ax, style, legend_title)
        return ax
    with draw.panels_of(style, len(values), (draw.figure_width(), 2.4), 1, shared="x") as axes:
        for ax, (metric, table) in zip(axes, values.items(), strict=True):
            _draw_trend(ax, table, keys[along], others, style)
            ax.set_ylabel(_title(ax, metric, table, style))
        axes[-1].set_xlabel(title)
        if others:
            draw.draw_figure_legend(axes, style, legend_title)
    return np.array(axes, dtype=object)


def _draw_trend(
    ax: Axes, table: pl.DataFrame, along: str, others: Sequence[str], style: Style
) -> None:
    """Draw a line for each value of the other keys, with bands if they are few."""
    lines = (
        list(table.partition_by(others, maintain_order=True, as_dict=True).items())
        if others
        else [((), table)]
    )
    if len(lines) > _MOST_LINES:
        raise ValueError(
            f"{len(lines)} lines in one axes are more than {_MOST_LINES}: filter the groups"
        )
    style.check_colors([value for key, _ in lines for value in key] or ["value"])
    places = _set_x_axis(ax, table[along].unique().sort(nulls_last=True), style)
    for number, (key, of_line) in enumerate(lines):
        rows = of_line.sort(along, nulls_last=True, maintain_order=True)
        colour = style.color_of(key, ax, number)
        x = [places[value] for value in rows[along]]
        _, value, low, high = _numbers(rows, pl.lit(0.0), "value")
        many = rows.height > _MARKED
        line: dict[str, Any] = {
            "color": colour,
            "linestyle": draw.DASHES[number // len(draw.palette(ax))],
        }
        line |= {"marker": "" if many else "o", "markersize": 4, "linewidth": 1 if many else 1.5}
        ax.plot(x, value, label=style.join(key) or "_value", **line)
        # The bands of several lines of many points would hide the lines.
        if len(lines) <= (1 if many else _BANDED_LINES):
            ax.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        elif not many:
            ax.vlines(x, low, high, color=colour, linewidth=0.8, alpha=0.6)


def _set_x_axis(ax: Axes, values: pl.Series, style: Style) -> dict[Any, Any]:
    """Set the ticks of the x axis, and return the places of the values: numbers, dates or a place for each name."""
    if values.dtype in _DATES:
        from matplotlib import dates

        toolbox: Any = dates
        locator = toolbox.AutoDateLocator(maxticks=max(3, draw.letters_along(ax) // 9))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(toolbox.ConciseDateFormatter(locator))
    elif values.dtype.is_numeric():
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=values.dtype.is_integer()))
    else:
        names = [draw.shorten(style.label(value), 16) for value in values]
        every = math.ceil(
            len(names) * (max(map(len, names), default=0) + 2) / max(1, draw.letters_along(ax))
        )
        ax.set_xticks(range(0, len(names), every), names[::every])
        return {value: place for place, value in enumerate(values)}
    return {value: value for value in values}


@public_result(options=StyleArguments)
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
        For "intervals" the result of `compare`. For "differences" and "slopes" that of `evaluate`
        or `intervals` for two systems by groups. The frame is not changed.
    kind : "intervals", "differences" or "slopes", optional
        "intervals": a dot and a whisker for each difference. "differences": a bar for each group,
        and the mean difference with its confidence interval from `compare`. "slopes": a line for
        each group from its value for one system to its value for the other. Default: "intervals"
        for a result of `compare`, else "differences".
    metric : str, optional
        The metric to draw, if the frame has several.
    colors : dict, optional
        Colours of "better" and "worse".
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics, and of "confidence interval",
        such as `{"confidence interval": "90 % interval"}`.
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
        The frame is no result of these functions, has not two systems by groups, or has several
        metrics and `metric` is missing.
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
    check_choice("kind", kind, ("intervals", "differences", "slopes", None))
    if kind == "intervals" or (kind is None and is_comparison):
        return _draw_intervals(frame, metric, style)
    if is_comparison:
        raise ValueError(
            f"kind={shown(kind)} draws the values of groups: give the result of evaluate for two systems"
        )
    pairs = _pairs(frame, metric)
    return _draw_slopes(pairs, style) if kind == "slopes" else _draw_differences(pairs, style)


class _Pairs(NamedTuple):
    """The values of two systems for the groups that have both."""

    metric: str
    keys: Sequence[str]
    systems: Sequence[Any]
    table: pl.DataFrame
    """The keys as `key_columns`, and `old, new` and `difference`."""

    @property
    def key_columns(self) -> list[str]:
        """Return the columns of the keys."""
        return self.table.columns[:-3]


def _pairs(frame: Any, metric: str | None) -> _Pairs:
    """Read the values of two systems by groups."""
    keys, values = read_metrics(
        frame, metric, "plot_comparison draws a frame that compare, evaluate or intervals gave"
    )
    (name, table), *others = values.items()
    if others:
        raise ValueError(f"the frame has {len(values)} metrics: name one, metric={name!r}")
    key_of = dict(keys)
    system = key_of.pop("system", None)
    systems = [] if system is None else table[system].unique(maintain_order=True).to_list()
    if len(systems) != 2 or not key_of:
        raise ValueError(
            f"plot_comparison draws two systems by groups, and the frame has {len(systems)} systems"
        )
    rows = list(key_of.values())
    (_, old), (_, new) = _split(table, system, systems)
    old, new = (
        of.select(*rows, by_name("value").alias(side)) for of, side in ((old, "old"), (new, "new"))
    )
    both = old.join(new, on=rows, nulls_equal=True, maintain_order="left").drop_nulls(
        ["old", "new"]
    )
    return _Pairs(
        name, list(key_of), systems, both.with_columns(difference=pl.col("new") - pl.col("old"))
    )


def _side_colours(ax: Axes, style: Style) -> list[Any]:
    """Return the colours of better and of worse."""
    return [style.color_of([side], ax, number) for number, side in enumerate(_SIDES)]


def _counts(pairs: _Pairs, style: Style) -> tuple[str, str]:
    """Return how many groups are better and worse for the second system, as texts."""
    difference, name = pairs.table["difference"], style.label(pairs.systems[1])
    better, worse, equal = (
        int(count.sum()) for count in (difference > 0, difference < 0, difference == 0)
    )
    ties = f", equal: {equal:,}" if equal else ""
    return (
        f"{name} {style.label('better')}: {better:,}",
        f"{name} {style.label('worse')}: {worse:,}{ties}",
    )


def _draw_differences(pairs: _Pairs, style: Style) -> Axes:
    """Draw the differences as bars, named if they are few, and their mean with its interval."""
    table = _in_order(pairs.table, pairs.key_columns, "difference")
    n, named = table.height, table.height <= _NAMED
    with draw.axes_of(style, (draw.figure_width(), 1.6 + _ROW * n if named else 4.0)) as ax:
        sides = table["difference"].clip(lower_bound=0), table["difference"].clip(upper_bound=0)
        for side, colour, label in zip(
            sides, _side_colours(ax, style), _counts(pairs, style), strict=True
        ):
            if named:
                ax.barh(range(n - 1, -1, -1), side.to_list(), height=0.7, color=colour, label=label)
            else:
                # One outline, because matplotlib would need most of a minute for ten thousand bars.
                every = -(-n // _BARS)
                edges = [*(place + 0.5 for place in range(0, n, every)), n + 0.5]
                ax.stairs(side.gather_every(every), edges, fill=True, color=colour, label=label)
        if n:
            _draw_mean(ax, pairs, along_x=named)
        old, new = map(style.label, pairs.systems)
        title, keys = f"{style.title(pairs.metric)}: {new} - {old}", style.join(pairs.keys)
        if named:
            _name_rows(
                ax,
                [draw.shorten(style.join(key)) for key in table.select(pairs.key_columns).rows()],
                style,
            )
            ax.set(xlabel=draw.wrap(title), ylabel=keys)
        else:
            ax.set(
                xlabel=f"{n:,} values of {keys}, the largest difference first",
                ylabel=draw.wrap(title),
            )
        draw.draw_legend_above(ax, style)
    return ax


def _draw_mean(ax: Axes, pairs: _Pairs, *, along_x: bool) -> None:
    """Draw the mean difference and its confidence interval, which `compare` computes, and a line at 0."""
    line, span = (ax.axvline, ax.axvspan) if along_x else (ax.axhline, ax.axhspan)
    old, new = (
        pairs.table.select(*pairs.key_columns, value=side, system=pl.lit(side))
        for side in ("old", "new")
    )
    compared = compare(pl.concat([old, new]), "value", mean_over=pairs.key_columns, baseline="old")
    row = compared.select("difference", "low", "high").row(0)
    difference, low, high = (None if number is None else draw.number_text(number) for number in row)
    label = f"mean difference {difference}"
    if low is not None:
        label += f" (95 % interval {low} to {high})"
        span(row[1], row[2], color=draw.grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
    line(
        row[0],
        color=draw.grey(ax, 0.3),
        linewidth=1.5,
        linestyle="--",
        label=label,
        gid=draw.SHARED,
    )
    line(0, color=draw.grey(ax, 0.1), linewidth=0.8)


def _draw_intervals(frame: Any, metric: str | None, style: Style) -> Axes:
    """Draw differences from a baseline with their confidence intervals, from the result of `compare`."""
    result, name = _read_comparison(frame, metric)
    table, baselines = result.table, result.table["baseline"].unique(maintain_order=True).to_list()
    key_of = {**result.keys, "system": "system"}
    key_of = {key: column for key, column in key_of.items() if table[column].n_unique() > 1} or {
        "system": "system"
    }
    table = _in_order(table, list(key_of.values()), "difference")
    _check_rows(table.height, "differences")
    labels = [style.join(key) for key in table.select(key_of.values()).rows()]
    title = f"{style.title(name)}: difference from {style.label(baselines[0])}"
    if len(baselines) > 1:
        labels = [
            f"{label} - {style.label(old)}"
            for label, old in zip(labels, table["baseline"], strict=True)
        ]
        title = f"{style.title(name)}: difference"
    with draw.axes_of(style, (draw.figure_width(), 1.2 + _ROW * table.height)) as ax:
        colour = _side_colours(ax, style)[0]
        ax.axvline(0, color=draw.grey(ax, 0.1), linewidth=0.8, zorder=1)
        rows = pl.int_range(table.height - 1, -1, -1).cast(pl.Float64)
        for y, value, low, high in _numbers(table, rows, "difference").T:
            is_clear = low > 0 or high < 0
            ax.hlines(y, low, high, color=colour, linewidth=1.5)
            face: Any = colour if is_clear else ax.get_facecolor()
            ax.plot(
                [value],
                [y],
                "o",
                markersize=6,
                color=colour,
                markerfacecolor=face,
                label=_CLEAR[not is_clear],
            )
        _name_rows(ax, [draw.shorten(label) for label in labels], style)
        interval = _interval_label(result.table, style)
        # The column `system` may hold groups of another name, such as countries.
        ax.set(
            xlabel=draw.wrap(title) + f"\n({interval})",
            ylabel=style.join(key for key in key_of if key != "system"),
        )
        if {*_CLEAR} <= {line.get_label() for line in ax.get_lines()}:
            draw.draw_legend_above(ax, style)
    return ax


def _read_comparison(frame: Any, metric: str | None) -> tuple[Result, str]:
    """Read a result of `compare`, and the name of its metric."""
    columns = dict.fromkeys(
        ("metric", "baseline", "system", "difference", "low", "high"), "compare gives it"
    )
    result = read_result(frame, columns, "kind='intervals' draws a frame that compare gave")
    metrics = result.table["metric"].unique(maintain_order=True).to_list()
    if metric is None and len(metrics) > 1:
        raise ValueError(f"the frame has {len(metrics)} metrics: name one, metric={metrics[0]!r}")
    name = next(iter(metrics), "") if metric is None else check_text("metric", metric)
    if name not in metrics:
        raise ValueError(f"metric: {shown(name)} is not in the frame; it has {', '.join(metrics)}")
    return Result(
        result.keys, result.table.filter(by_name("metric").eq_missing(pl.lit(name)))
    ), name


def _draw_slopes(pairs: _Pairs, style: Style) -> Axes:
    """Draw a line for each group, from its value for the first system to its value for the second."""
    table = pairs.table
    _check_rows(table.height, "groups")
    with draw.axes_of(style, (4.8, max(4.8, 1.2 + _LINE * table.height))) as ax:
        better, worse = _side_colours(ax, style)
        for old, new in table.select("old", "new").rows():
            colour = better if new > old else worse if new < old else draw.grey(ax, 0.5)
            ax.plot(
                [0, 1], [old, new], "o-", markersize=4, linewidth=1.2, color=colour, label="_slope"
            )
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
    leader: dict[str, Any] = {
        "color": draw.grey(ax, 0.7),
        "linewidth": 0.6,
        "zorder": 1,
        "label": "_leader",
    }
    for name, height, place in zip(names, heights, places, strict=True):
        ax.text(1.06, place, name, va="center", fontsize="small")
        ax.plot([1.01, 1.05], [height, place], scalex=False, scaley=False, **leader)
