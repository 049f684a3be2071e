"""`plot_intervals`, dots or trends, and `plot_comparison`, differences of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import polars as pl

from frame_pr.frames.arguments import check_text, public_result
from frame_pr.frames.dispatch import find_kind
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.plotting import draw
from frame_pr.plotting.draw import GREY, REFERENCE, Style, StyleArguments
from frame_pr.plotting.results import (
    Keys,
    Result,
    only_metric,
    read_metrics,
    read_result,
    tables_by_metric,
)
from frame_pr.statistics.comparisons import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 2.0
"""The height of a row in em."""
_MOST_ROWS = 60
_NAMED = 30
"""The most rows of a plot, and the most bars that have names."""
_MOST_LINES = 10
_BANDED_LINES = 3
"""The most lines over time, and the most lines with bands."""
_MARKED = 60
_MOST_POINTS = 600
"""The most points of a line that have markers, and of all lines of an axes, if they are several."""
_OFFSET = 0.5
"""Height of the intervals of all systems of a group, in rows."""
_GAP = 1.9
_MOST_GAPS = 0.1
"""Times are missing where a step is so many times the median, unless that is so for a larger share
of the steps.
"""
_BARS = 4000
"""The most differences in a plot.

Of more differences, every second or third is drawn, and so on.
"""
_DATES = (pl.Date, pl.Datetime)
_SIDES = ("better", "worse")
_SIGNIFICANT = 0.05
"""Differences with a p-value below it are filled dots."""
_SLICE = "slice"
"""The key column of slices."""


@public_result(options=StyleArguments)
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | Sequence[str] | None = None,
    x: str | None = None,
    facet: str | None = None,
    **options: Unpack[StyleArguments],
) -> Axes | Any:
    """Draw the confidence intervals of groups: a forest plot, or a trend over time.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `intervals`, or of `evaluate` by groups, which has no intervals. The frame is
        not changed.
    metric : str or list of str, optional
        The metrics to draw, one panel each. Default: all metrics of the frame.
    x : str, optional
        The key column along the x axis, such as a week. The values of the other keys then have one
        line each. Default: the key column of dates, datetimes or periods, if there is one.
    facet : str, optional
        A key column whose values have a panel each. The frame then has one metric, or `metric=`
        names one.
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
        With several metrics or `facet`, a numpy array with the axes of each panel. The dotted line
        of each system is the mean of its dots. The number after the name of a group is that of the
        rows or groups behind its value. Slices are blocks with the name of the slice. Over time, a
        line has a gap where times are missing; up to three lines have bands, if they have at most
        60 points.

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
        _with_times(frame), metric, "plot_intervals draws a frame that intervals or evaluate gave"
    )
    along = _key_along(x, keys, next(iter(values.values())))
    panels = [_Panel(name, "", table) for name, table in values.items()]
    if facet is not None:
        panels = _facets(_check_key("facet", facet, keys), keys, panels, style)
        keys = _without(keys, facet)
    if along is None:
        axes = _draw_dots(keys, panels, style)
    else:
        axes = _draw_trends(keys, along, panels, style)
    return draw.one_or_all(axes, several=facet is not None)


def _without(keys: Keys, left_out: str) -> Keys:
    """Return the other keys."""
    return {key: column for key, column in keys.items() if key != left_out}


class _Panel(NamedTuple):
    """A metric, or the part of it in the panel of a group."""

    metric: str
    title: str
    """The name of the group, or ""."""
    table: pl.DataFrame


def _with_times(frame: Any) -> Any:
    """Return a frame of pandas with the starts of its periods."""
    if not hasattr(frame, "assign"):
        return frame
    dtypes = frame.dtypes.items()
    periods = [name for name, dtype in dtypes if str(dtype).startswith("period[")]
    return frame.assign(**{name: frame[name].dt.to_timestamp() for name in periods})


def _check_key(
    argument: str,
    key: Any,
    keys: Keys,
) -> str:
    """Validate the name of a key."""
    name = check_text(argument, key)
    if name not in keys:
        there = ", ".join(keys)
        raise ValueError(f"{argument}: {shown(name)} is no key of the frame, which has {there}")
    return name


def _key_along(
    x: str | None,
    keys: Keys,
    table: pl.DataFrame,
) -> str | None:
    """Return the key along the x axis: the caller's, or the only key of dates or datetimes."""
    if x is not None:
        return _check_key("x", x, keys)
    times = [key for key, column in keys.items() if table[column].dtype in _DATES]
    return times[0] if len(times) == 1 else None


def _facets(
    facet: str,
    keys: Keys,
    panels: Sequence[_Panel],
    style: Style,
) -> list[_Panel]:
    """Return a panel for each value of a key."""
    panel, *others = panels
    if others:
        raise ValueError(
            f"facet= draws one metric, and the frame has several: name one, metric={panel.metric!r}"
        )
    if len(keys) == 1:
        raise ValueError(
            f"facet: {facet!r} is the only key of the frame, so no key is left to draw"
        )
    groups = panel.table.partition_by(keys[facet], maintain_order=True, as_dict=True)
    return [_Panel(panel.metric, style.join(key), table) for key, table in groups.items()]


def _title(
    metric: str,
    table: pl.DataFrame,
    style: Style,
) -> str:
    """Return the title of an axis: the metric, and the level of its intervals."""
    title = style.title(metric)
    if not table["low"].count():
        return title
    level: Any = table["level"].max()
    text = f"{100 * level:g} % interval" if level else None
    return f"{title}\n({style.label('confidence interval', text)})"


def _in_order(
    table: pl.DataFrame,
    columns: Sequence[str],
    value: str,
) -> pl.DataFrame:
    """Sort rows by a key of times or ordered categories, or the largest value first."""
    key = table[columns[0]]
    is_ordered = key.dtype.is_temporal() or key.dtype == pl.Enum
    if key.dtype == pl.String:
        # Months and days as text.
        is_ordered = bool(key.str.contains(r"^\d{4}-\d{2}").all())
    if len(columns) == 1 and is_ordered:
        return table.sort(columns, nulls_last=True, maintain_order=True)
    return table.sort(value, descending=True, nulls_last=True, maintain_order=True)


def _name_rows(
    ax: Axes,
    labels: Sequence[str],
    style: Style,
    height: float = _ROW,
) -> None:
    """Write the names of rows: a new figure gets their height, other axes those that fit.

    `height`: of a row in em.
    """
    figure = draw.figure_of(ax)
    room = 0.4 * figure.bbox.width
    if style.axes:
        room = 0.5 * ax.get_window_extent().width
    labels = [draw.fit(ax, label, room) for label in labels]
    lines = 1 + max((label.count("\n") for label in labels), default=0)
    places = range(len(labels) - 1, -1, -1)
    ax.set_yticks(places, labels, fontsize="small")
    ax.set_ylim(-0.7, len(labels) - 0.3)
    if style.axes:
        figure.draw_without_rendering()
        line_height = 1.05 * draw.em() * figure.dpi * lines
        every = math.ceil(len(labels) * line_height / ax.get_window_extent().height)
        ax.set_yticks(places[::every], labels[::every], fontsize="small")
    else:
        ems = max(12, 8 + len(labels) * max(height, 1.15 * lines))
        place: Any = ax.get_subplotspec()
        figure.set_figheight(ems * draw.em() * place.get_gridspec().nrows)


def _check_rows(n: int, noun: str) -> None:
    """Refuse more rows than a plot has room for."""
    if n > _MOST_ROWS:
        raise ValueError(f"{n} {noun} are more than {_MOST_ROWS} rows: filter them")


def _draw_dots(
    keys: Keys,
    panels: Sequence[_Panel],
    style: Style,
) -> list[Axes]:
    """Draw a dot for each group, and a panel for each metric."""
    # Systems without groups have a row each.
    key_of = _without(keys, "system") or keys
    is_apart = key_of is not keys
    rows = list(key_of.values())
    whole = pl.concat([panel.table for panel in panels])
    groups = _rows_of_groups(whole, key_of)
    _check_rows(groups.height, "groups")
    system = keys.get("system")
    systems = ["value"] if system is None else whole[system].unique(maintain_order=True).to_list()
    style.check_colors(systems)
    is_single = len(panels) == 1
    labels = _row_labels(groups, key_of, style, numbered=is_single)
    title = style.join(key_of) + " (n)" * (is_single and groups["n"].count() > 0)
    has_mean = is_single and is_apart and groups.height > 1 and _SLICE not in key_of
    height = _ROW * max(1, 0.6 * is_apart * len(systems))
    with draw.axes_of(style, len(panels), (11, 1), shared="y") as axes:
        for ax, panel in zip(axes, panels, strict=True):
            table = panel.table.join(groups.select(*rows, "y"), on=rows, nulls_equal=True)
            _draw_systems(
                ax,
                table,
                system,
                systems,
                style,
                apart=is_apart,
                mean=has_mean,
            )
            ax.set_xlabel(_title(panel.metric, panel.table, style))
            draw.fewer_ticks(ax.xaxis, 6 if is_single else 3)
            draw.title_panel(ax, style, panel.title)
            _name_rows(ax, labels, style, height)
        axes[0].set_ylabel(title)
        draw.draw_legend(axes, style, most_inside=0)
    return axes


def _rows_of_groups(table: pl.DataFrame, key_of: Keys) -> pl.DataFrame:
    """Return a row for each group, with its place `y` from the bottom.

    Blocks of slices have a row for their name.
    """
    rows = list(key_of.values())
    groups = table.group_by(rows, maintain_order=True)
    table = groups.agg(pl.mean("value"), pl.first("n"))
    if _SLICE in key_of:
        # The total comes first, and has no name of a block.
        block = pl.col(key_of[_SLICE]).rle_id()
        table = table.with_row_index("place").with_columns(place=pl.col("place") + block)
    else:
        table = _in_order(table, rows, "value").with_row_index("place")
    return table.with_columns(y=pl.col("place").max() - pl.col("place").cast(pl.Float64))


def _row_labels(
    groups: pl.DataFrame,
    key_of: Keys,
    style: Style,
    *,
    numbered: bool,
) -> list[str]:
    """Return the names of groups with their n, and the names of blocks, from the top."""
    labels = {}
    for row in groups.rows(named=True):
        label = style.join(row[column] for column in _without(key_of, _SLICE).values())
        place = row["place"]
        labels[place] = f"{label} ({row['n']:,.0f})" if numbered and row["n"] else label
        if _SLICE in key_of and place:
            labels.setdefault(place - 1, f"{style.label(row[key_of[_SLICE]])}:")
    return [labels[place] for place in sorted(labels)]


def _of_system(
    table: pl.DataFrame,
    system: str | None,
    name: Any,
) -> pl.DataFrame:
    """Return the rows of a system; without systems, all rows."""
    return table if system is None else table.filter(pl.col(system).eq_missing(pl.lit(name)))


def _draw_systems(
    ax: Axes,
    table: pl.DataFrame,
    system: str | None,
    systems: Sequence[Any],
    style: Style,
    *,
    apart: bool,
    mean: bool,
) -> None:
    """Draw the dots and intervals of a metric.

    `apart`: whether systems are beside each other in a row.
    """
    several = apart and len(systems) > 1
    has_bounds = table["low"].count() > 0
    if several and not has_bounds:
        ends = table.group_by("y").agg(low=pl.min("value"), high=pl.max("value")).drop_nulls()
        ax.hlines(
            ends["y"],
            ends["low"],
            ends["high"],
            color=GREY,
            alpha=0.4,
            zorder=1,
        )
    for number, name in enumerate(systems):
        rows = _of_system(table, system, name)
        colour = style.color_of([name], number * apart)
        label = style.label(name) if several else "_value"
        average: Any = rows["value"].mean()
        if mean and average is not None:
            text = f"{style.label('mean')} {draw.number_text(average)}"
            line: draw.Properties = REFERENCE | {"zorder": 1, "gid": draw.SHARED}
            if several:
                label = f"{label} ({text})"
                text = "_mean"
                line["color"] = colour
            ax.axvline(average, label=text, **line)
        if several and has_bounds:
            offset = _OFFSET * (0.5 - (number + 0.5) / len(systems))
            rows = rows.with_columns(pl.col("y") + offset)
        _draw_whiskers(
            ax,
            rows,
            "value",
            color=colour,
            label=label,
            markersize=5,
        )


def _draw_whiskers(ax: Axes, rows: pl.DataFrame, value: str, **dots: Any) -> None:
    """Draw dots at the values, and a line from the lower to the upper bound."""
    numbers = rows.select("y", pl.col(value, "low", "high").fill_null(float("nan")))
    y, values, low, high = numbers.to_numpy().T
    ax.hlines(
        y,
        low,
        high,
        color=dots["color"],
        linewidth=1.5,
    )
    ax.plot(values, y, "o", **dots)


def _draw_trends(
    keys: Keys,
    along: str,
    panels: Sequence[_Panel],
    style: Style,
) -> list[Axes]:
    """Draw a line for each value of the other keys, and a panel for each metric."""
    others = _without(keys, along)
    is_faceted = bool(panels[0].title)
    shared = "x"
    columns = 1
    if is_faceted:
        shared = "xy"
        columns = draw.IN_A_ROW
    with draw.axes_of(
        style,
        len(panels),
        (11, 16),
        columns=columns,
        shared=shared,
        linked=shared,
    ) as axes:
        title = ""
        for ax, panel in zip(axes, panels, strict=True):
            title = style.title(panel.metric)
            if _draw_trend(
                ax,
                panel.table,
                keys[along],
                others,
                style,
            ):
                title = _title(panel.metric, panel.table, style)
            draw.title_panel(ax, style, panel.title)
            ax.set_ylabel(title)
        axes[-1].set_xlabel(style.label(along))
        if is_faceted:
            for ax in axes:
                ax.set(xlabel="", ylabel="")
            draw.title_panels(axes, style, style.label(along), title)
        names = style.join(_without(others, "system"))
        draw.draw_legend(axes, style, names, most_inside=0)
    return axes


def _draw_trend(
    ax: Axes,
    table: pl.DataFrame,
    along: str,
    others: Keys,
    style: Style,
) -> bool:
    """Draw a line for each value of the other keys, and return whether they have bands."""
    table = table.with_columns(x=_set_x_axis(ax, table[along], style))
    lines: dict[Any, pl.DataFrame] = {(): table}
    if others:
        lines = table.partition_by(list(others.values()), maintain_order=True, as_dict=True)
    if len(lines) > _MOST_LINES or (len(lines) > 1 and table.height > _MOST_POINTS):
        raise ValueError(
            f"{len(lines)} lines of {table.height:,} points are more than {_MOST_LINES} lines or "
            f"{_MOST_POINTS} points: filter the groups, take longer periods, or facet= draws a "
            f"panel for each value of {style.join(others)}"
        )
    style.check_colors([value for key in lines for value in key])
    step = _usual_step(table["x"])
    many = max(rows.height for rows in lines.values()) > _MARKED
    has_bands = len(lines) <= _BANDED_LINES and not many
    properties: draw.Properties = {"linewidth": 1}
    if not many:
        # Markers on many lines would hide which one crosses which.
        size = 4 if len(lines) <= _BANDED_LINES else 2
        properties = {"marker": "o", "markersize": size, "linewidth": 1.5}
    for number, (key, of_line) in enumerate(lines.items()):
        rows = _with_gaps(of_line.sort("x", maintain_order=True), step)
        colour = style.color_of(key, number)
        dash = draw.DASHES[number * (len(lines) > 2) % len(draw.DASHES)]
        label = style.join(key) or "_value"
        ax.plot(
            rows["x"],
            rows["value"],
            label=label,
            color=colour,
            linestyle=dash,
            **properties,
        )
        if has_bands:
            low, high = rows.select(pl.col("low", "high").fill_null(float("nan")))
            ax.fill_between(
                rows["x"],
                low,
                high,
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
    return has_bands


def _set_x_axis(
    ax: Axes,
    values: pl.Series,
    style: Style,
) -> pl.Series:
    """Set the ticks of the x axis, and return the place of each value."""
    ems = ax.get_window_extent().width / draw.figure_of(ax).dpi / draw.em()
    if values.dtype in _DATES:
        from matplotlib import dates

        toolbox: Any = dates
        locator = toolbox.AutoDateLocator(maxticks=max(3, int(ems / 6)))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(toolbox.ConciseDateFormatter(locator))
        return values if values.dtype == pl.Date else values.dt.replace_time_zone(None)
    if values.dtype.is_numeric():
        draw.fewer_ticks(ax.xaxis, max(3, int(ems / 5)), integer=values.dtype.is_integer())
        return values
    names = [
        draw.shorten(style.label(value), 16) for value in values.unique().sort(nulls_last=True)
    ]
    every = math.ceil(len(names) * (max(map(len, names)) + 2) * 0.6 / ems)
    ax.set_xticks(range(0, len(names), every), names[::every])
    return (values.rank("dense") - 1).fill_null(len(names) - 1)


def _usual_step(x: pl.Series) -> Any:
    """Return the usual step from one place to the next, or None if there is none."""
    steps = x.unique().sort().diff().drop_nulls()
    usual: Any = steps.median()
    if usual is None or (steps > usual * _GAP).sum() > max(1, _MOST_GAPS * len(steps)):
        return None
    return usual


def _with_gaps(rows: pl.DataFrame, step: Any) -> pl.DataFrame:
    """Return the rows of a line with one without a value where times are missing."""
    if step is None:
        return rows
    late = rows.filter(pl.col("x").diff() > step * _GAP).select("x")
    return pl.concat([late, rows], how="diagonal").sort("x", maintain_order=True)


@public_result(options=StyleArguments)
def plot_comparison(
    frame: Frame, /, *, metric: str | None = None, **options: Unpack[StyleArguments]
) -> Axes:
    """Draw a comparison of systems: intervals of differences, or the difference of each group.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `compare`: a dot and a whisker for each difference. Or that of `evaluate` or
        `intervals` for two systems by groups: a bar for each group, and the mean difference with
        its confidence interval from `compare`. The frame is not changed.
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
        The plot. A dot is filled if its adjusted p-value is below 0.05; in a frame without
        p-values, if its interval does not contain 0. One-sided intervals reach the edge.

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
    >>> ax = fp.plot_comparison(table, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['new better: 1', 'new worse: 1']
    """
    style = Style.of(options)
    style.check_colors(_SIDES)
    kind = find_kind(frame)
    if kind is not None and "difference" in map(str, kind.columns):
        return _draw_intervals(frame, metric, style)
    return _draw_differences(_pairs(frame, metric), style)


class _Pairs(NamedTuple):
    """The values of two systems for the groups that have both, the largest difference first."""

    metric: str
    keys: Keys
    systems: Sequence[Any]
    table: pl.DataFrame
    """The key columns, and `old, new` and `difference`."""


def _pairs(frame: Any, metric: str | None) -> _Pairs:
    """Read the values of two systems by groups."""
    keys, values = read_metrics(
        frame, metric, "plot_comparison draws a frame that compare, evaluate or intervals gave"
    )
    name, table = only_metric(metric, values)
    key_of = _without(keys, "system")
    system = keys.get("system")
    systems = [] if system is None else table[system].unique(maintain_order=True).to_list()
    if len(systems) != 2 or not key_of:
        raise ValueError(
            f"plot_comparison draws two systems by groups, and the frame has {len(systems)} "
            "systems; filter it, or draw the result of compare, which has all pairs"
        )
    rows = list(key_of.values())
    old, new = (_of_system(table, system, side) for side in systems)
    both = old.join(
        new,
        on=rows,
        nulls_equal=True,
        maintain_order="left",
        suffix="_new",
    )
    both = both.select(*rows, old="value", new="value_new")
    both = both.with_columns(difference=pl.col("new") - pl.col("old")).drop_nulls("difference")
    return _Pairs(name, key_of, systems, _in_order(both, rows, "difference"))


def _side_colours(style: Style) -> list[Any]:
    """Return the colours of better and of worse."""
    return [style.color_of([side], number) for number, side in enumerate(_SIDES)]


def _draw_differences(pairs: _Pairs, style: Style) -> Axes:
    """Draw the differences as bars, named if they are few, and their mean with its interval."""
    difference = pairs.table["difference"]
    n = len(difference)
    named = n <= _NAMED
    old, new = map(style.label, pairs.systems)
    keys = style.join(pairs.keys)
    sides = {"better": difference.clip(lower_bound=0), "worse": difference.clip(upper_bound=0)}
    counts = []
    with draw.axes_of(style) as (ax,):
        for (word, side), colour in zip(sides.items(), _side_colours(style), strict=True):
            counts.append((side != 0).sum())
            bars: draw.Properties = {
                "color": colour,
                "label": f"{new} {style.label(word)}: {counts[-1]:,}",
            }
            if named:
                ax.barh(range(n - 1, -1, -1), side.to_list(), height=0.7, **bars)
            else:
                # One outline, because matplotlib would need most of a minute for ten thousand bars.
                every = -(-n // _BARS)
                edges = [*(place + 0.5 for place in range(0, n, every)), n + 0.5]
                ax.stairs(side.gather_every(every), edges, fill=True, **bars)
        if equal := n - sum(counts):
            draw.add_entry(ax, f"{style.label('equal')}: {equal:,}", linestyle="")
        if n:
            _draw_mean(ax, pairs, along_x=named)
        title = draw.wrap(f"{style.title(pairs.metric)}: {new} - {old}")
        if named:
            ax.set(xlabel=title, ylabel=keys)
            names = pairs.table.select(pairs.keys.values()).rows()
            _name_rows(ax, list(map(style.join, names)), style)
        else:
            along = f"{n:,} values of {keys}, the largest difference first"
            width = ax.get_window_extent().width
            ax.set(xlabel=draw.fit(ax, along, width, "medium"), ylabel=title)
        draw.draw_legend([ax], style, most_inside=0)
    return ax


def _draw_mean(
    ax: Axes,
    pairs: _Pairs,
    *,
    along_x: bool,
) -> None:
    """Draw the mean difference with its confidence interval, and a line at 0."""
    draw_line = ax.axvline if along_x else ax.axhline
    draw_span = ax.axvspan if along_x else ax.axhspan
    rows = list(pairs.keys.values())
    table = pairs.table.unpivot(["old", "new"], index=rows, variable_name="system")
    compared = compare(table, "value", mean_over=rows, baseline="old")
    difference, low, high = compared.select("difference", "low", "high").row(0)
    label = f"mean difference {draw.number_text(difference)}"
    if low is not None:
        label += f" (95 % interval {draw.number_text(low)} to {draw.number_text(high)})"
        draw_span(
            low,
            high,
            color=GREY,
            alpha=0.2,
            linewidth=0,
            zorder=0.5,
        )
    line: draw.Properties = {"linewidth": 1.5, "linestyle": "--", "gid": draw.SHARED}
    draw_line(difference, color=GREY, label=label, **line)
    draw_line(0, color=GREY, linewidth=0.8)


def _draw_intervals(
    frame: Any,
    metric: str | None,
    style: Style,
) -> Axes:
    """Draw differences with their confidence intervals, the result of `compare`."""
    result, name = _read_comparison(frame, metric)
    key_of = _keys_of_rows(result)
    table = _in_order(result.table, list(key_of.values()), "difference")
    _check_rows(table.height, "differences")
    labels = list(map(style.join, table.select(key_of.values()).rows()))
    baselines: list[str] = []
    if "baseline" in table.columns:
        baselines = list(map(style.label, table["baseline"]))
    title = f"{style.title(name)}: difference"
    if len(set(baselines)) > 1:
        labels = [f"{label} - {old}" for label, old in zip(labels, baselines, strict=True)]
    elif baselines:
        title = f"{title} from {baselines[0]}"
    clear, words = _clear(table)
    table = table.with_columns(y=pl.int_range(pl.len() - 1, -1, -1).cast(float))
    with draw.axes_of(style) as (ax,):
        colour = _side_colours(style)[0]
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
        faces = (colour, ax.get_facecolor())
        parts = (table.filter(clear), table.filter(~clear))
        for word, part, face in zip(words, parts, faces, strict=True):
            if part.height:
                dots: draw.Properties = {"label": style.label(word), "markersize": 6}
                _draw_whiskers(
                    ax,
                    part,
                    "difference",
                    color=colour,
                    markerfacecolor=face,
                    **dots,
                )
        # The column `system` may hold groups of another name, such as countries.
        interval = style.label("confidence interval")
        ax.set_xlabel(f"{draw.wrap(title)}\n({interval})")
        ax.set_ylabel(style.join(_without(key_of, "system")))
        draw.fewer_ticks(ax.xaxis, 6)
        _name_rows(ax, labels, style)
        draw.draw_legend([ax], style, most_inside=0)
    return ax


def _keys_of_rows(result: Result) -> Keys:
    """Return the columns that tell the differences apart; the last one if there is one only."""
    key_of = {**result.keys}
    if "system" in result.table.columns:
        key_of["system"] = "system"
    several = {key: name for key, name in key_of.items() if result.table[name].n_unique() > 1}
    return several or dict(list(key_of.items())[-1:])


def _clear(table: pl.DataFrame) -> tuple[pl.Series, tuple[str, str]]:
    """Return which differences are significant, and the words for both kinds."""
    for column, name in (("p_adjusted", "adjusted p"), ("p_value", "p")):
        if column in table.columns and table[column].count():
            clear = table[column] < _SIGNIFICANT
            words = (f"{name} < {_SIGNIFICANT}", f"{name} ≥ {_SIGNIFICANT}")
            break
    else:
        clear = (table["low"] > 0) | (table["high"] < 0)
        words = ("interval without 0", "interval contains 0")
    return clear.fill_null(value=False), words


def _read_comparison(frame: Any, metric: str | None) -> tuple[Result, str]:
    """Read a result of `compare`, and the name of its metric.

    Infinite bounds of one-sided intervals become finite.
    """
    import numpy as np

    # compare leaves out what its call fixes.
    required = dict.fromkeys(("metric", "difference", "low", "high"), "compare gives it")
    optional = dict.fromkeys(("baseline", "system", "p_adjusted", "p_value"), "")
    result = read_result(
        frame,
        required | optional,
        "plot_comparison draws a frame that compare gave",
    )
    name, table = only_metric(metric, tables_by_metric(result.table) or {"": result.table})
    numbers = table.select("low", "high", "difference").to_numpy()
    finite = numbers[np.isfinite(numbers)]
    if finite.size:
        margin = np.ptp(finite) / 4
        bounds = pl.col("low", "high").clip(finite.min() - margin, finite.max() + margin)
        table = table.with_columns(bounds)
    return Result(result.keys, table), name
