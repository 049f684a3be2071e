"""`plot_intervals`, dots or trends, and `plot_comparison`, differences of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import check_choice
from frame_pr.plotting import draw
from frame_pr.plotting.draw import GREY, REFERENCE, Style
from frame_pr.plotting.results import (
    Keys,
    Result,
    columns_of,
    only_metric,
    read_metrics,
    read_result,
    tables_by_metric,
)
from frame_pr.statistics.comparisons import compare
from frame_pr.statistics.format_tables import P_VALUES, SIGNIFICANT

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
_SLICE = "slice"
"""The key column of slices."""


def draw_intervals(
    frame: Any,
    metric: str | Sequence[str] | None,
    x: str | None,
    facet: str | None,
    options: Mapping[str, Any],
) -> Any:
    """Draw what `plot_intervals` returns."""
    style = Style.of(options, panels=True)
    keys, values = read_metrics(
        _with_times(frame), metric, "plot_intervals draws a frame that intervals or evaluate gave"
    )
    panels = [_Panel(name, "", table) for name, table in values.items()]
    if facet is not None:
        panels = _facets(check_choice("facet", facet, [*keys]), keys, values, style)
        keys = _without(keys, facet)
    table = panels[0].table
    times = [key for key, column in keys.items() if table[column].dtype in _DATES]
    if x is not None:
        times = [check_choice("x", x, [*keys])]
    if len(times) == 1:
        axes = _draw_trends(keys, times[0], panels, style)
    else:
        axes = _draw_dots(keys, panels, style)
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


def _facets(
    facet: str,
    keys: Keys,
    values: Mapping[str, pl.DataFrame],
    style: Style,
) -> list[_Panel]:
    """Return a panel for each value of a key."""
    if len(keys) == 1:
        raise ValueError(
            f"facet: {facet!r} is the only key of the frame, so no key is left to draw"
        )
    metric, table = only_metric(None, values)
    groups = Result({facet: keys[facet]}, table).groups()
    return [_Panel(metric, style.join(key), rows) for key, rows in groups]


def _series(keys: Keys, table: pl.DataFrame) -> dict[Any, pl.DataFrame]:
    """Return the rows of each dot or line of a group, by the values of its keys, or of all."""
    if not keys:
        return {("value",): table}
    return dict(Result(keys, table).groups())


def _title(
    metric: str,
    table: pl.DataFrame,
    style: Style,
) -> str:
    """Return the title of an axis: the metric, and the level of its intervals."""
    if not table["low"].count():
        return metric
    text = None
    if "level" in table.columns and table["level"].count():
        level: Any = table["level"].max()
        text = f"{100 * level:g} % interval"
    return f"{metric}\n({style.label('confidence interval', text)})"


def _in_order(
    table: pl.DataFrame,
    columns: Sequence[str],
    value: str,
) -> pl.DataFrame:
    """Sort rows by a key of times or ordered categories, or the largest value first.

    `y` is their place from the bottom.
    """
    key = table[columns[0]]
    is_ordered = key.dtype.is_temporal() or key.dtype == pl.Enum
    if key.dtype == pl.String:
        # Months and days as text.
        is_ordered = bool(key.str.contains(r"^\d{4}-\d{2}").all())
    by = value
    if is_ordered and len(columns) == 1:
        by = key.name
    table = table.sort(by, descending=by == value, nulls_last=True, maintain_order=True)
    return table.with_columns(y=pl.int_range(pl.len() - 1, -1, -1).cast(float))


def _name_rows(
    axes: Sequence[Axes],
    labels: Sequence[str],
    style: Style,
    height: float,
) -> None:
    """Write the names of rows: a new figure gets their height, other axes those that fit.

    `height`: of a row in em.
    """
    n = len(labels)
    figure = draw.figure_of(axes[0])
    size: Any = "small"
    every = 1
    if style.axes:
        ((_, room),) = draw.lasting_sizes(axes[:1], style)
        size, every = draw.line_size(figure, room / (n + 0.4))
        # With their names, axes keep their width.
        box: Any = axes[0].get_tightbbox()
        names = [draw.shorten_to(axes[0], label, 0.27 * box.width, size) for label in labels]
    else:
        names = [draw.fit(axes[0], label, 0.4 * figure.bbox.width) for label in labels]
        lines = 1 + max((name.count("\n") for name in names), default=0)
        ems = max(12, 8 + n * max(height, 1.15 * lines))
        place: Any = axes[0].get_subplotspec()
        figure.set_figheight(ems * draw.em() * place.get_gridspec().nrows)
    for ax in axes:
        ax.set_yticks(range(n - 1, -1, -every), names[::every], fontsize=size)
        ax.set_ylim(-0.7, n - 0.3)


def _finish_rows(
    axes: Sequence[Axes],
    labels: Sequence[str],
    style: Style,
    height: float = _ROW,
) -> None:
    """Write the names of rows of a height in em, and draw the legend."""
    _name_rows(axes, labels, style, height)
    draw.draw_legend(axes, style, most_inside=0, most_below=0.36)
    if style.axes:
        # The legend has a part of their height.
        _name_rows(axes, labels, style, height)


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
    others = _without(keys, "system")
    # Systems without groups have a row each.
    key_of = others or keys
    has_groups = bool(others)
    system = {key: keys[key] for key in keys if key == "system"}
    whole = pl.concat([panel.table for panel in panels])
    series = list(_series(system, whole))
    style.check_colors(chain(*series))
    is_single = len(panels) == 1
    several = has_groups and len(series) > 1
    groups, labels = _rows_of_groups(whole, key_of, style, numbered=is_single)
    has_mean = is_single and has_groups and groups.height > 1 and _SLICE not in key_of
    with draw.axes_of(style, len(panels), (11, 1), shared="y") as axes:
        for ax, panel in zip(axes, panels, strict=True):
            table = panel.table.join(groups, on=list(key_of.values()), nulls_equal=True)
            has_bounds = table["low"].count() > 0
            if several and not has_bounds:
                _join_values(ax, table)
            for key, rows in _series(system, table).items():
                number = series.index(key) * several
                colour = style.color_of(key, number)
                label = style.join(key) if several else "_value"
                if has_mean and rows["value"].count():
                    label = _draw_average(ax, rows, label, colour, style)
                offset = several * has_bounds * _OFFSET * (0.5 - (number + 0.5) / len(series))
                dots = rows.with_columns(pl.col("y") + offset)
                _draw_whiskers(ax, dots, "value", color=colour, label=label, markersize=5)
            ax.set_xlabel(_title(style.title(panel.metric), panel.table, style))
            draw.fewer_ticks(ax.xaxis, 6 if is_single else 3)
            draw.title_panel(ax, style, panel.title)
        is_numbered = is_single and whole["n"].count() > 0
        axes[0].set_ylabel(style.join(key_of) + " (n)" * is_numbered)
        _finish_rows(axes, labels, style, _ROW * max(1, 0.6 * has_groups * len(series)))
    return axes


def _rows_of_groups(
    table: pl.DataFrame,
    key_of: Keys,
    style: Style,
    *,
    numbered: bool,
) -> tuple[pl.DataFrame, list[str]]:
    """Return the groups with their place `y` from the bottom, and the names of rows from the top.

    Blocks of slices have a row for their name.
    """
    rows = list(key_of.values())
    groups = table.group_by(rows, maintain_order=True).agg(pl.mean("value"), pl.first("n"))
    _check_rows(groups.height, "groups")
    if _SLICE not in key_of:
        groups = _in_order(groups, rows, "value")
    block = None
    labels: list[str] = []
    places = []
    for row in groups.rows(named=True):
        if _SLICE in key_of and row[key_of[_SLICE]] != block:
            block = row[key_of[_SLICE]]
            # The total comes first, and has no name of a block.
            labels += [f"{style.label(block)}:"] * bool(labels)
        label = style.join(row[column] for column in _without(key_of, _SLICE).values())
        places.append(len(labels))
        labels.append(f"{label} ({row['n']:,.0f})" if numbered and row["n"] else label)
    y = len(labels) - 1.0 - pl.Series(places, dtype=pl.Float64)
    return groups.select(*rows, y=y), labels


def _join_values(ax: Axes, table: pl.DataFrame) -> None:
    """Draw a line from the smallest to the largest value of each row."""
    ends = table.group_by("y").agg(low=pl.min("value"), high=pl.max("value")).drop_nulls()
    ax.hlines(*ends.to_numpy().T, color=GREY, alpha=0.4, zorder=1)


def _draw_average(
    ax: Axes,
    rows: pl.DataFrame,
    label: str,
    colour: Any,
    style: Style,
) -> str:
    """Draw the mean of some values, and return the label of their dots."""
    mean: Any = rows["value"].mean()
    text = f"{style.label('mean')} {draw.number_text(mean)}"
    if label == "_value":
        ax.axvline(mean, label=text, zorder=1, gid=draw.SHARED, **REFERENCE)
        return label
    ax.axvline(mean, label="_mean", zorder=1, **REFERENCE | {"color": colour})
    return f"{label} ({text})"


def _draw_whiskers(ax: Axes, rows: pl.DataFrame, value: str, **dots: Any) -> None:
    """Draw dots at the values, and a line from the lower to the upper bound."""
    numbers = rows.select("y", pl.col(value, "low", "high").fill_null(float("nan")))
    y, values, low, high = numbers.to_numpy().T
    ax.hlines(y, low, high, color=dots["color"], linewidth=1.5)
    ax.plot(values, y, "o", **dots)


def _draw_trends(
    keys: Keys,
    along: str,
    panels: Sequence[_Panel],
    style: Style,
) -> list[Axes]:
    """Draw a line for each value of the other keys, and a panel for each metric."""
    others = _without(keys, along)
    series = list(_series(others, pl.concat([panel.table for panel in panels])))
    style.check_colors(chain(*series))
    is_faceted = bool(panels[0].title)
    shared = "xy" if is_faceted else "x"
    with draw.axes_of(
        style,
        len(panels),
        (11, 16),
        columns=draw.IN_A_ROW if is_faceted else 1,
        shared=shared,
        linked=shared,
    ) as axes:
        title = ""
        for ax, panel in zip(axes, panels, strict=True):
            title = style.title(panel.metric)
            if _draw_trend(ax, panel.table, keys[along], others, series, style):
                title = _title(title, panel.table, style)
            draw.title_panel(ax, style, panel.title)
            ax.set_ylabel(title * (not is_faceted))
        axes[-1].set_xlabel(style.label(along) * (not is_faceted))
        if is_faceted:
            draw.title_panels(axes, style, style.label(along), title)
        names = style.join(_without(others, "system"))
        draw.draw_legend(axes, style, names, most_inside=0)
    return axes


def _draw_trend(
    ax: Axes,
    table: pl.DataFrame,
    along: str,
    others: Keys,
    series: Sequence[Any],
    style: Style,
) -> bool:
    """Draw a line for each value of the other keys, and return whether they have bands."""
    table = table.with_columns(x=_set_x_axis(ax, table[along], style)).sort(
        "x", maintain_order=True
    )
    lines = _series(others, table)
    if len(lines) > _MOST_LINES or (len(lines) > 1 and table.height > _MOST_POINTS):
        raise ValueError(
            f"{len(lines)} lines of {table.height:,} points are more than {_MOST_LINES} lines or "
            f"{_MOST_POINTS} points: filter the groups, take longer periods, or facet= draws a "
            f"panel for each value of {style.join(others)}"
        )
    step = _longest_step(table["x"])
    many = max(rows.height for rows in lines.values()) > _MARKED
    has_bands = len(lines) <= _BANDED_LINES and not many
    # Markers on many lines would hide which one crosses which.
    size = 4 if len(lines) <= _BANDED_LINES else 2
    for key, of_line in lines.items():
        rows = _with_gaps(of_line, step)
        number = series.index(key)
        colour = style.color_of(key, number)
        label = style.join(key) if others else "_value"
        ax.plot(
            rows["x"],
            rows["value"],
            label=label,
            color=colour,
            linestyle=draw.DASHES[number * (len(series) > 2) % len(draw.DASHES)],
            linewidth=1.5 - 0.5 * many,
            marker="o" * (not many),
            markersize=size,
        )
        if has_bands:
            low, high = rows.select(pl.col("low", "high").fill_null(float("nan")))
            ax.fill_between(rows["x"], low, high, color=colour, alpha=0.15, linewidth=0)
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
        locator = toolbox.AutoDateLocator(minticks=2, maxticks=max(5, int(ems / 6)))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(toolbox.ConciseDateFormatter(locator))
        return values if values.dtype == pl.Date else values.dt.replace_time_zone(None)
    if values.dtype.is_numeric():
        draw.fewer_ticks(ax.xaxis, int(ems / 5), integer=values.dtype.is_integer())
        return values
    names = [
        draw.shorten(style.label(value), 16) for value in values.unique().sort(nulls_last=True)
    ]
    every = math.ceil(len(names) * (max(map(len, names)) + 2) * 0.6 / ems)
    ax.set_xticks(range(0, len(names), every), names[::every])
    return (values.rank("dense") - 1).fill_null(len(names) - 1)


def _longest_step(x: pl.Series) -> Any:
    """Return the longest step between two places without a gap, or None if gaps are usual."""
    steps = x.unique().sort().diff().drop_nulls()
    usual: Any = steps.median()
    if usual is None or (steps > usual * _GAP).sum() > max(1, _MOST_GAPS * len(steps)):
        return None
    return usual * _GAP


def _with_gaps(rows: pl.DataFrame, step: Any) -> pl.DataFrame:
    """Return the rows of a line with one without a value after each longer step."""
    if step is None:
        return rows
    late = rows.filter(pl.col("x").diff() > step).select("x")
    return pl.concat([late, rows], how="diagonal").sort("x", maintain_order=True)


def draw_comparison(frame: Any, metric: str | None, options: Mapping[str, Any]) -> Axes:
    """Draw what `plot_comparison` returns."""
    style = Style.of(options)
    style.check_colors(_SIDES)
    if "difference" in columns_of(frame):
        return _draw_compared(frame, metric, style)
    return _draw_differences(frame, metric, style)


def _draw_differences(
    frame: Any,
    metric: str | None,
    style: Style,
) -> Axes:
    """Draw the differences of two systems as bars, named if they are few, and their mean."""
    keys, values = read_metrics(
        frame, metric, "plot_comparison draws a frame that compare, evaluate or intervals gave"
    )
    name, table = only_metric(metric, values)
    key_of = _without(keys, "system")
    systems = []
    if "system" in keys:
        systems = table[keys["system"]].unique(maintain_order=True).to_list()
    if len(systems) != 2 or not key_of:
        raise ValueError(
            f"plot_comparison draws two systems by groups, and the frame has {len(systems)} "
            "systems; filter it, or draw the result of compare, which has all pairs"
        )
    rows = list(key_of.values())
    table = table.pivot(keys["system"], index=rows, values="value")
    table = table.select(*rows, old=pl.nth(-2), new=pl.nth(-1)).drop_nulls(["old", "new"])
    table = table.with_columns(difference=pl.col("new") - pl.col("old"))
    table = _in_order(table, rows, "difference")
    old, new = map(style.label, systems)
    with draw.axes_of(style) as (ax,):
        _draw_bars(ax, table, new, style)
        if table.height:
            _draw_mean(ax, table, rows)
        groups = style.join(key_of)
        if table.height > _NAMED:
            groups = f"{table.height:,} values of {groups},\nthe largest difference first"
        ax.set(xlabel=draw.wrap(f"{style.title(name)}: {new} - {old}"), ylabel=groups)
        if table.height <= _NAMED:
            _finish_rows([ax], list(map(style.join, table.select(rows).rows())), style)
        else:
            ax.set_yticks([])
            draw.draw_legend([ax], style, most_inside=0)
    return ax


def _draw_bars(
    ax: Axes,
    table: pl.DataFrame,
    new: str,
    style: Style,
) -> None:
    """Draw a bar for each difference, or one outline of many."""
    n = table.height
    every = -(-n // _BARS)
    counts: list[Any] = []
    clips = {"lower_bound": 0}, {"upper_bound": 0}
    for word, clip in zip(_SIDES, clips, strict=True):
        colour = style.color_of([word], len(counts))
        side = table["difference"].clip(**clip)
        counts.append((side != 0).sum())
        label = f"{new} {style.label(word)}: {counts[-1]:,}"
        if n <= _NAMED:
            ax.barh(table["y"], side, height=0.7, color=colour, label=label)
        else:
            # One outline, because matplotlib would need most of a minute for ten thousand bars.
            edges = [n - 0.5, *(place - 0.5 for place in range(n - every, 0, -every)), -0.5]
            ax.stairs(
                side.gather_every(every),
                edges,
                orientation="horizontal",
                fill=True,
                color=colour,
                label=label,
            )
    if equal := n - sum(counts):
        draw.add_entry(ax, f"{style.label('equal')}: {equal:,}", linestyle="")


def _draw_mean(ax: Axes, table: pl.DataFrame, rows: Sequence[str]) -> None:
    """Draw the mean difference with its confidence interval, and a line at 0."""
    values = table.unpivot(["old", "new"], index=rows, variable_name="system")
    compared = compare(values, "value", mean_over=rows, baseline="old")
    difference, low, high = compared.select("difference", "low", "high").row(0)
    label = f"mean difference {draw.number_text(difference)}"
    if low is not None:
        bounds = f"{draw.number_text(low)} to {draw.number_text(high)}"
        label += f" (95 % interval {bounds})"
        ax.axvspan(
            low,
            high,
            color=GREY,
            alpha=0.2,
            linewidth=0,
            zorder=0.5,
        )
    ax.axvline(
        difference,
        color=GREY,
        label=label,
        linewidth=1.5,
        linestyle="--",
        gid=draw.SHARED,
    )
    ax.axvline(0, color=GREY, linewidth=0.8)


def _draw_compared(
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
    title = f"{style.title(name)}: difference"
    if "baseline" in table.columns:
        baselines = list(map(style.label, table["baseline"]))
        if len(set(baselines)) == 1:
            title = f"{title} from {baselines[0]}"
        else:
            labels = [f"{label} - {old}" for label, old in zip(labels, baselines, strict=True)]
    significant, words = _significance(table)
    colour = style.color_of(_SIDES[:1], 0)
    with draw.axes_of(style) as (ax,):
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
        faces = (colour, ax.get_facecolor())
        for word, is_filled, face in zip(words, (significant, ~significant), faces, strict=True):
            dots = table.filter(is_filled)
            if dots.height:
                _draw_whiskers(
                    ax,
                    dots,
                    "difference",
                    color=colour,
                    markerfacecolor=face,
                    label=style.label(word),
                    markersize=6,
                )
        ax.set_xlabel(_title(draw.wrap(title), table, style))
        # The column `system` may hold groups of another name, such as countries.
        ax.set_ylabel(style.join(_without(key_of, "system")))
        draw.fewer_ticks(ax.xaxis, 6)
        _finish_rows([ax], labels, style)
    return ax


def _keys_of_rows(result: Result) -> Keys:
    """Return the columns that tell the differences apart; the last one if there is one only."""
    key_of = {**result.keys}
    if "system" in result.table.columns:
        key_of["system"] = "system"
    several = {key: name for key, name in key_of.items() if result.table[name].n_unique() > 1}
    return several or dict(list(key_of.items())[-1:])


def _significance(table: pl.DataFrame) -> tuple[pl.Series, tuple[str, str]]:
    """Return which differences are significant, and the words for both kinds.

    The adjusted p-value decides if the frame has it, else the p-value, else the interval.
    """
    significant = (table["low"] > 0) | (table["high"] < 0)
    words = ("interval without 0", "interval contains 0")
    for column, name in P_VALUES.items():
        if column in table.columns and table[column].count():
            significant = table[column] < SIGNIFICANT
            words = (f"{name} < {SIGNIFICANT}", f"{name} ≥ {SIGNIFICANT}")
            break
    return significant.fill_null(value=False), words


def _read_comparison(frame: Any, metric: str | None) -> tuple[Result, str]:
    """Read a result of `compare`, and the name of its metric.

    Infinite bounds of one-sided intervals become finite.
    """
    # compare leaves out what its call fixes.
    required = dict.fromkeys(("metric", "difference", "low", "high"), "compare gives it")
    optional = dict.fromkeys(("baseline", "system", "p_adjusted", "p_value", "level"), "")
    result = read_result(
        frame,
        required | optional,
        "plot_comparison draws a frame that compare gave",
    )
    name, table = only_metric(metric, tables_by_metric(result.table) or {"": result.table})
    numbers = table.unpivot(["low", "high", "difference"])["value"]
    finite = numbers.filter(numbers.is_finite())
    if len(finite):
        least: Any = finite.min()
        largest: Any = finite.max()
        margin = (largest - least) / 4
        bounds = pl.col("low", "high").clip(least - margin, largest + margin)
        table = table.with_columns(bounds)
    return Result(result.keys, table), name
