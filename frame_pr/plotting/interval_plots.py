"""`plot_intervals`: metrics of groups as dots with their confidence intervals, or over time as lines with bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public, text
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style, StyleArguments
from frame_pr.plotting.results import MetricValues, read_metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.28
"""Inches of a row of a plot of groups."""
MOST_ROWS = 60
_MOST_LINES, _BANDS = 10, 3
"""The most lines over time, and the most lines with bands."""
_MARKED = 60
"""The most points of a line that have markers."""
_OFFSET = 0.5
"""Height of the intervals of all systems of a group, in rows."""


@public()
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | Sequence[str] | None = None,
    x: str | None = None,
    **options: Unpack[StyleArguments],
) -> Axes | Any:
    """Draw metrics of groups with their confidence intervals: a dot for each group (forest plot), or a trend over time.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `intervals`, or of `evaluate` by groups, which has no intervals. The frame is not changed.
    metric : str or list of str, optional
        The metrics to draw, one panel each. Default: all metrics of the frame.
    x : str, optional
        The key column along the x axis, such as a week. The values of the other keys then have one line each. Default:
        the key column of dates or times, if there is one.
    colors : dict, optional
        Colours by the name of a system, and over time by the name of a line.
    labels : dict, optional
        Labels by name: of systems, groups, key columns and metrics.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in, or one for each metric. Default: a new figure.

    Returns
    -------
    matplotlib Axes
        With several metrics, a numpy array with the axes of each of them. The dotted line of each system is the mean of
        its dots. The number after the name of a group is that of the rows or groups behind its value.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `intervals` or `evaluate`, has no key column, or has too many groups.
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
    keys, values = read_metrics(frame, metric, "plot_intervals")
    along = _key_along(None if x is None else text("x", x), keys, values[0].table)
    return _draw_dots(keys, values, style) if along is None else _draw_trends(keys, along, values, style)


def _key_along(x: str | None, keys: Sequence[str], table: pl.DataFrame) -> int | None:
    """Return the number of the key along the x axis: the caller's, or the only key of dates or times."""
    if x is not None:
        if x not in keys:
            raise ValueError(f"x: {shown(x)} is no key of the frame, which has {', '.join(keys)}")
        return list(keys).index(x)
    times = [i for i in range(len(keys)) if table[f"key {i}"].dtype.is_temporal()]
    return times[0] if len(times) == 1 else None


def interval_title(values: MetricValues, style: Style, prefix: str = "") -> str:
    """Return the title of an axis: the metric, and the confidence level of its bounds."""
    title = style.title(values.metric) + prefix
    if values.table["low"].null_count() == values.table.height:
        return title
    level = "" if values.confidence is None else f"{100 * values.confidence:g} % "
    return f"{title} ({level}confidence interval)"


def _draw_dots(keys: Sequence[str], values: Sequence[MetricValues], style: Style) -> Any:
    """Draw a dot for each group, and a panel for each metric."""
    import numpy as np

    system = list(keys).index("system") if "system" in keys and len(keys) > 1 else None
    rows = [f"key {i}" for i in range(len(keys)) if i != system]
    names = [key for i, key in enumerate(keys) if i != system]
    places = _rows_in_order(values[0].table, rows)
    if places.height > MOST_ROWS:
        raise ValueError(f"{places.height} groups are more than {MOST_ROWS} rows: filter them")
    systems = [] if system is None else values[0].table[f"key {system}"].unique(maintain_order=True).to_list()
    style.check_colors([*systems] or ["value"])
    count = len(values)
    height = 1.1 + ROW * places.height * max(1, 0.6 * len(systems))
    if count == 1:
        with draw.axes_of(style if style.ax is None else _single(style), (draw.figure_width(), height)) as ax:
            _draw_panel(ax, values[0], rows, places, system, systems, style)
            title = draw.wrap(interval_title(values[0], style), max(16, int(0.7 * draw.letters_along(ax))))
            ax.set(xlabel=title, ylabel=_name_rows(ax, places, rows, names, style))
            draw.draw_legend(ax, style)
        return ax
    with draw.panels_of(style, count, (2.9, height), shared="y") as axes:
        for ax, metric in zip(axes, values, strict=True):
            _draw_panel(ax, metric, rows, places, system, systems, style, has_mean=False)
            ax.set_xlabel(interval_title(metric, style).replace(" (", "\n("))
        axes[0].set_ylabel(_name_rows(axes[0], places.with_columns(n=None), rows, names, style))
        draw.draw_figure_legend(axes, style)
    return np.array(axes, dtype=object)


def _single(style: Style) -> Style:
    """Return the style with the caller's single axes, which may be in an array."""
    import numpy as np

    return Style(style.colors, style.labels, style.legend, np.ravel(style.ax)[0])


def _rows_in_order(table: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    """Return the groups with `n` and `place`, from the bottom: the largest value first, or the order of a key.

    Times and ordered categories keep their order.
    """
    groups = table.group_by(rows, maintain_order=True).agg(pl.col("value").mean(), pl.col("n").first())
    ordered = len(rows) == 1 and (groups[rows[0]].dtype.is_temporal() or groups[rows[0]].dtype == pl.Enum)
    if ordered:
        groups = groups.sort(rows[0], nulls_last=True)
    else:
        groups = groups.sort("value", descending=True, nulls_last=True, maintain_order=True)
    return groups.with_columns(place=pl.int_range(groups.height - 1, -1, -1, dtype=pl.Int64))


def _name_rows(ax: Axes, places: pl.DataFrame, rows: Sequence[str], names: Sequence[str], style: Style) -> str:
    """Write the names of the rows, as many as there is room for; return the title of the axis."""
    counts = ["" if n is None else f" ({n:,.0f})" for n in places["n"]]
    texts = [draw.shorten(style.join(key)) for key in places.select(rows).rows()]
    labels = [text + count for text, count in zip(texts, counts, strict=True)]
    every = 1 if style.ax is None else max(1, math.ceil(len(labels) / max(1, draw.letters_along(ax, vertical=True))))
    ax.set_yticks(places["place"].to_list()[::every], labels[::every])
    ax.set_ylim(-0.6, len(labels) - 0.4)
    return style.join(names) + (" (n)" if any(counts) else "")


def _draw_panel(
    ax: Axes,
    values: MetricValues,
    rows: Sequence[str],
    places: pl.DataFrame,
    system: int | None,
    systems: Sequence[Any],
    style: Style,
    *,
    has_mean: bool = True,
) -> None:
    """Draw the dots and intervals of a metric."""
    table = values.table.join(places.select(*rows, "place"), on=rows, how="left", nulls_equal=True)
    has_bounds = table["low"].null_count() < table.height
    if systems and not has_bounds:
        spans = table.group_by("place").agg(low=pl.col("value").min(), high=pl.col("value").max()).drop_nulls()
        ax.hlines(spans["place"], spans["low"], spans["high"], color=draw.grey(ax, 0.75), linewidth=2, zorder=1)
    for number, name in enumerate(systems or [None]):
        of_system = table.filter(pl.col(f"key {system}").eq_missing(pl.lit(name))) if systems else table
        of_system = of_system.with_columns(pl.col("value", "low", "high").fill_null(float("nan")))
        colour = style.colors.get(
            draw.value_text(name if systems else "value"), draw.palette(ax)[number % len(draw.palette(ax))]
        )
        offset = _OFFSET * (0.5 - (number + 0.5) / len(systems)) if systems and has_bounds else 0.0
        y, value, low, high = of_system.select(pl.col("place") + offset, "value", "low", "high").to_numpy().T
        ax.hlines(y, low, high, color=colour, linewidth=1.5)
        label = style.label(name) if systems else "_value"
        mean = of_system["value"].drop_nans().mean()
        if has_mean and isinstance(mean, float) and places.height > 1:
            text = f"mean {draw.number_text(mean)}"
            label = f"{label} ({text})" if systems else label
            line = ax.axvline(
                mean, color=colour if systems else draw.grey(ax, 0.4), linestyle=":", linewidth=1, zorder=1
            )
            line.set(label="_mean" if systems else text, gid=draw.SHARED)
        ax.plot(value, y, "o", markersize=5, color=colour, label=label)


def _draw_trends(keys: Sequence[str], along: int, values: Sequence[MetricValues], style: Style) -> Any:
    """Draw a line for each value of the other keys, and a panel for each metric, one below the other."""
    import numpy as np

    others = [f"key {i}" for i in range(len(keys)) if i != along]
    title = style.label(keys[along])
    legend_title = ", ".join(style.label(key) for i, key in enumerate(keys) if i != along and key != "system")
    if len(values) == 1:
        with draw.axes_of(style if style.ax is None else _single(style), (draw.figure_width(), 4.0)) as ax:
            _draw_trend(ax, values[0], f"key {along}", others, style)
            ax.set(xlabel=title, ylabel=interval_title(values[0], style).replace(" (", "\n("))
            draw.draw_legend(ax, style, legend_title)
        return ax
    with draw.panels_of(style, len(values), (draw.figure_width(), 2.4), 1, shared="x") as axes:
        for ax, metric in zip(axes, values, strict=True):
            _draw_trend(ax, metric, f"key {along}", others, style)
            ax.set_ylabel(interval_title(metric, style).replace(" (", "\n("))
        axes[-1].set_xlabel(title)
        if others:
            draw.draw_figure_legend(axes, style, legend_title)
    return np.array(axes, dtype=object)


def _draw_trend(ax: Axes, values: MetricValues, along: str, others: Sequence[str], style: Style) -> None:
    """Draw a line for each value of the other keys, with bands if they are few."""
    table = values.table.sort(along, nulls_last=True, maintain_order=True)
    lines = list(table.partition_by(others, maintain_order=True, as_dict=True).items()) if others else [((), table)]
    if others:
        lines = [
            (key, lines_of)
            for key in values.table.select(others).unique(maintain_order=True).rows()
            for name, lines_of in lines
            if name == key
        ]
    if len(lines) > _MOST_LINES:
        raise ValueError(f"{len(lines)} lines in one axes are more than {_MOST_LINES}: filter the groups")
    style.check_colors([value for key, _ in lines for value in key] or ["value"])
    places = _set_x_axis(ax, table[along].unique(maintain_order=True), style)
    colours = draw.palette(ax)
    for number, (key, rows) in enumerate(lines):
        wanted = [style.colors[text] for text in map(draw.value_text, key) if text in style.colors]
        colour = wanted[0] if wanted else colours[number % len(colours)]
        x = [places[value] for value in rows[along]]
        value, low, high = rows.select(pl.col("value", "low", "high").fill_null(float("nan"))).to_numpy().T
        many = rows.height > _MARKED
        line: dict[str, Any] = {"color": colour, "linestyle": draw.DASHES[number // len(colours)]}
        line |= {"marker": "" if many else "o", "markersize": 4, "linewidth": 1 if many else 1.5}
        ax.plot(x, value, label=style.join(key) or "_value", **line)
        # The bands of several lines of many points would hide the lines.
        if len(lines) <= (1 if many else _BANDS):
            ax.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        elif not many:
            ax.vlines(x, low, high, color=colour, linewidth=0.8, alpha=0.6)


def _set_x_axis(ax: Axes, values: pl.Series, style: Style) -> dict[Any, Any]:
    """Set the ticks of the x axis, and return the places of the values: numbers, dates or a place for each name."""
    if values.dtype.is_temporal():
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
        every = math.ceil(len(names) * (max(map(len, names), default=0) + 2) / max(1, draw.letters_along(ax)))
        ax.set_xticks(range(0, len(names), every), names[::every])
        return {value: place for place, value in enumerate(values)}
    return {value: value for value in values}
