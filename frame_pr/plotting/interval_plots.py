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

_ROW = 2.0
"""The height of a row in em."""
_MOST_ROWS, _NAMED = 60, 30
"""The most rows of a plot, and the most bars that have names."""
_MOST_LINES, _BANDED_LINES = 10, 3
"""The most lines over time, and the most lines with bands."""
_MARKED, _MOST_POINTS = 60, 600
"""The most points of a line that have markers, and of all lines of an axes, if they are several."""
_OFFSET = 0.5
"""Height of the intervals of all systems of a group, in rows."""
_GAP, _MOST_GAPS = 1.9, 0.1
"""Times are missing where a step is so many times the median, unless that is so for a larger share of the steps."""
_BARS = 4000
"""The most differences in a plot. Of more differences, every second or third is drawn, and so on."""
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
        line each. Default: the key column of dates, datetimes or periods, if there is one.
    facet : str, optional
        A key column whose values have a panel each. The frame then has one metric, or `metric=`
        names one.
    colors : dict, optional
        Colours by the name of a system or group, and over time by the name of a line.
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
        keys = {key: column for key, column in keys.items() if key != facet}
    if along is None:
        return _draw_dots(keys, panels, style)
    return _draw_trends(keys, along, panels, style)


class _Panel(NamedTuple):
    """A metric, or the part of it in the panel of a group."""

    metric: str
    title: str
    """The name of the group, or ""."""
    table: pl.DataFrame


def _with_times(frame: Any) -> Any:
    """Return a frame of pandas with the starts of its periods, which have a place on an axis of times."""
    dtypes: Any = getattr(frame, "dtypes", None)
    if not hasattr(dtypes, "items"):
        return frame
    for name, dtype in dtypes.items():
        if str(dtype).startswith("period["):
            frame = frame.assign(**{name: frame[name].dt.to_timestamp()})
    return frame


def _check_key(argument: str, key: Any, keys: Mapping[str, str]) -> str:
    """Validate the name of a key."""
    name = check_text(argument, key)
    if name not in keys:
        raise ValueError(
            f"{argument}: {shown(name)} is no key of the frame, which has {', '.join(keys)}"
        )
    return name


def _key_along(x: str | None, keys: Mapping[str, str], table: pl.DataFrame) -> str | None:
    """Return the key along the x axis: the caller's, or the only key of dates or datetimes."""
    if x is not None:
        return _check_key("x", x, keys)
    times = [key for key, column in keys.items() if table[column].dtype in _DATES]
    return times[0] if len(times) == 1 else None


def _facets(
    facet: str, keys: Mapping[str, str], panels: Sequence[_Panel], style: Style
) -> list[_Panel]:
    """Return a panel for each value of a key."""
    if len(panels) > 1:
        raise ValueError(
            f"facet= draws one metric, and the frame has {len(panels)}: name one, "
            f"metric={panels[0].metric!r}"
        )
    if len(keys) == 1:
        raise ValueError(f"facet: {facet!r} is the only key of the frame, so panels would be empty")
    (panel,) = panels
    groups = panel.table.partition_by(keys[facet], maintain_order=True, as_dict=True)
    return [_Panel(panel.metric, style.join(key), table) for key, table in groups.items()]


def _title(metric: str, table: pl.DataFrame, style: Style, *, bounds: bool = True) -> str:
    """Return the title of an axis: the metric, and whether the axes show its intervals."""
    if not bounds or table["low"].null_count() == table.height:
        return style.title(metric)
    return f"{style.title(metric)}\n({_interval_label(table, style)})"


def _interval_label(table: pl.DataFrame, style: Style) -> str:
    """Return the label of the intervals, with their level if the frame has it."""
    level: Any = table["level"].max() if "level" in table.columns else None
    text = None if level is None else f"{100 * level:g} % interval"
    return style.label("confidence interval", text)


def _in_order(table: pl.DataFrame, columns: Sequence[str], value: str) -> pl.DataFrame:
    """Sort rows by their only key if it is a time or an ordered category; otherwise the largest value comes first."""
    key = table[columns[0]]
    is_ordered = key.dtype.is_temporal() or key.dtype == pl.Enum
    if key.dtype == pl.String:
        is_ordered = bool(key.str.contains(r"^\d{4}-\d{2}").all())
    if len(columns) == 1 and is_ordered:
        return table.sort(columns[0], nulls_last=True, maintain_order=True)
    return table.sort(value, descending=True, nulls_last=True, maintain_order=True)


def _name_rows(ax: Axes, labels: Sequence[str], style: Style, *, height: float = 1.0) -> None:
    """Write the names of rows from the top: a new figure gets their height, the caller's axes those that fit.

    `height`: of a row, in rows of a plot with one system.
    """
    figure = draw.figure_of(ax)
    room = 0.4 * figure.bbox.width
    if style.axes:
        room = 0.5 * ax.get_window_extent().width
    labels = [draw.fit(ax, label, room, "small") for label in labels]
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    places = range(len(labels) - 1, -1, -1)
    every = 1
    if style.axes:
        ax.set_yticks(places, labels, fontsize="small")
        line_height = 1.05 * draw.em() * figure.dpi * lines
        every = math.ceil(len(labels) * line_height / draw.laid_out(ax, style).height)
    else:
        ems = 8 + len(labels) * max(_ROW * height, 1.15 * lines)
        figure.set_figheight(max(ems, 12) * draw.em())
    ax.set_yticks(places[::every], labels[::every], fontsize="small")
    ax.set_ylim(-0.7, len(labels) - 0.3)


def _check_rows(n: int, noun: str) -> None:
    """Refuse more rows than a plot has room for."""
    if n > _MOST_ROWS:
        raise ValueError(f"{n} {noun} are more than {_MOST_ROWS} rows: filter them")


def _draw_dots(keys: Mapping[str, str], panels: Sequence[_Panel], style: Style) -> Any:
    """Draw a dot for each group, and a panel for each metric."""
    import numpy as np

    key_of = dict(keys)
    system = key_of.pop("system", None) if len(keys) > 1 else None
    rows = list(key_of.values())
    whole = pl.concat([panel.table for panel in panels])
    groups = _rows_of_groups(whole, key_of)
    _check_rows(groups.height, "groups")
    systems = [None] if system is None else whole[system].unique(maintain_order=True).to_list()
    names = [name for key in groups.select(rows).rows() for name in key]
    style.check_colors(names if system is None else systems)
    labels = _row_labels(groups, key_of, style, numbered=len(panels) == 1)
    title = style.join(key_of) + " (n)" * labels[0].endswith(")") if labels else ""
    has_mean = len(panels) == 1 and groups.height > 1 and _SLICE not in key_of
    has_mean = has_mean and list(key_of) != ["system"]
    height = max(1.0, 0.6 * len(systems))

    def draw_panel(ax: Axes, panel: _Panel) -> None:
        table = panel.table.join(groups.select(*rows, "y"), on=rows, nulls_equal=True)
        parts = {name: _of_system(table, system, name) for name in systems}
        _draw_systems(ax, parts, rows, style, has_mean=has_mean)
        ax.set_xlabel(_title(panel.metric, panel.table, style))
        if panel.title:
            draw.title_panel(ax, style, panel.title)

    if len(panels) == 1:
        with draw.axes_of(style, draw.figure_size()) as ax:
            draw_panel(ax, panels[0])
            _fewer_ticks(ax, 6)
            ax.set_ylabel(title)
            _name_rows(ax, labels, style, height=height)
            draw.draw_legend([ax], style, most_inside=0)
        return ax
    high = 3 + _ROW * height * len(labels)
    with draw.panels_of(style, len(panels), 11, high, shared="y") as axes:
        for ax, panel in zip(axes, panels, strict=True):
            draw_panel(ax, panel)
            _fewer_ticks(ax, 3)
            _name_rows(ax, labels if ax is axes[0] or style.axes else [""] * len(labels), style)
        axes[0].set_ylabel(title)
        draw.draw_legend(axes, style)
    return np.array(axes, dtype=object)


def _rows_of_groups(table: pl.DataFrame, key_of: Mapping[str, str]) -> pl.DataFrame:
    """Return a row for each group, with its place `y` from the bottom. Blocks of slices have a row for their name."""
    rows = list(key_of.values())
    groups = table.group_by(rows, maintain_order=True).agg(
        pl.col("value").mean(), pl.col("n").first()
    )
    if _SLICE not in key_of:
        groups = _in_order(groups, rows, "value").with_row_index("place")
    else:
        # The total comes first, and has no name of a block.
        block = pl.col(key_of[_SLICE]).rle_id()
        groups = groups.with_row_index("place").with_columns(place=pl.col("place") + block)
    last = groups["place"].max() or 0
    return groups.with_columns(y=pl.lit(last) - pl.col("place").cast(pl.Float64))


def _row_labels(
    groups: pl.DataFrame, key_of: Mapping[str, str], style: Style, *, numbered: bool
) -> list[str]:
    """Return the labels of all rows from the top: the names of groups with their n, and the names of blocks."""
    named = [column for key, column in key_of.items() if key != _SLICE or len(key_of) == 1]
    labels = dict[int, str]()
    for place, n, *key in groups.select("place", "n", *named).rows():
        label = style.join(key)
        labels[place] = f"{label} ({n:,.0f})" if numbered and n is not None else label
    if _SLICE in key_of:
        firsts = groups.group_by(key_of[_SLICE], maintain_order=True).agg(pl.col("place").min())
        labels |= {place - 1: f"{style.label(name)}:" for name, place in firsts.rows() if place}
    return [labels[place] for place in sorted(labels)]


def _of_system(table: pl.DataFrame, system: str | None, name: Any) -> pl.DataFrame:
    """Return the rows of a system; without systems, all rows."""
    if system is None:
        return table
    return table.filter(pl.col(system).eq_missing(pl.lit(name)))


def _draw_systems(
    ax: Axes,
    systems: Mapping[Any, pl.DataFrame],
    keys: Sequence[str],
    style: Style,
    *,
    has_mean: bool,
) -> None:
    """Draw the dots and intervals of a metric, and the mean of each system."""
    several = len(systems) > 1
    whole = pl.concat(systems.values())
    has_bounds = whole["low"].null_count() < whole.height
    if several and not has_bounds:
        value = pl.col("value")
        spans = whole.group_by("y").agg(low=value.min(), high=value.max()).drop_nulls()
        ax.hlines(*spans.select("y", "low", "high"), color=draw.grey(ax, 0.75), zorder=1)
    for number, (name, table) in enumerate(systems.items()):
        label = style.label(name) if several else "_value"
        colour = style.color_of([name] if several else [], number)
        offset = _OFFSET * (0.5 - (number + 0.5) / len(systems)) if has_bounds else 0.0
        mean: Any = table["value"].mean()
        if has_mean and mean is not None:
            text = f"{style.label('mean')} {draw.number_text(mean)}"
            line: dict[str, Any] = {"linestyle": ":", "linewidth": 1, "zorder": 1}
            line |= {"color": colour, "label": "_mean"}
            if several:
                label = f"{label} ({text})"
            else:
                line |= {"color": draw.grey(ax, 0.4), "label": text}
            ax.axvline(mean, gid=draw.SHARED, **line)
        colours = [colour] * table.height
        if not several:
            colours = [style.color_of(key, number) for key in table.select(keys).rows()]
        y, value, low, high = _numbers(table, pl.col("y") + offset, "value")
        ax.hlines(y, low, high, colors=colours, linewidth=1.5)
        _draw_points(ax, value, y, colours, label)


def _draw_points(ax: Axes, x: Any, y: Any, colours: Sequence[Any], label: str) -> None:
    """Draw dots, those of a colour together."""
    for colour in dict.fromkeys(colours):
        places = [i for i, other in enumerate(colours) if other == colour]
        ax.plot(x[places], y[places], "o", markersize=5, color=colour, label=label)


def _numbers(table: pl.DataFrame, y: pl.Expr, value: str) -> Any:
    """Return y, the values and their bounds as arrays, with NaN for nulls."""
    return table.select(y, pl.col(value, "low", "high").fill_null(float("nan"))).to_numpy().T


def _draw_trends(
    keys: Mapping[str, str], along: str, panels: Sequence[_Panel], style: Style
) -> Any:
    """Draw a line for each value of the other keys, and a panel for each metric, one below the other."""
    import numpy as np

    others = {key: column for key, column in keys.items() if key != along}
    title = style.label(along)
    legend_title = style.join(key for key in others if key != "system")
    if len(panels) == 1:
        with draw.axes_of(style, draw.figure_size()) as ax:
            has_bounds = _draw_trend(ax, panels[0].table, keys[along], others, style)
            metric_title = _title(panels[0].metric, panels[0].table, style, bounds=has_bounds)
            ax.set(xlabel=title, ylabel=metric_title)
            draw.draw_legend([ax], style, legend_title, most_inside=0)
        return ax
    is_faceted = bool(panels[0].title)
    width = 11 if is_faceted else 1000
    shared = "xy" if is_faceted else "x"
    with draw.panels_of(style, len(panels), width, 16, shared=shared) as axes:
        for ax, panel in zip(axes, panels, strict=True):
            has_bounds = _draw_trend(ax, panel.table, keys[along], others, style)
            metric_title = _title(panel.metric, panel.table, style, bounds=has_bounds)
            if is_faceted:
                draw.title_panel(ax, style, panel.title)
            else:
                ax.set_ylabel(metric_title)
        if is_faceted:
            draw.title_panels(axes, style, title, metric_title)
        else:
            axes[-1].set_xlabel(title)
        draw.draw_legend(axes, style, legend_title)
    return np.array(axes, dtype=object)


def _draw_trend(
    ax: Axes, table: pl.DataFrame, along: str, others: Mapping[str, str], style: Style
) -> bool:
    """Draw a line for each value of the other keys, and return whether they have bands."""
    import numpy as np

    table = table.with_columns(x=_set_x_axis(ax, table[along], style))
    step = _usual_step(table["x"])
    lines: dict[Any, pl.DataFrame] = {(): table}
    if others:
        lines = table.partition_by(list(others.values()), maintain_order=True, as_dict=True)
    names = style.join(others)
    if len(lines) > _MOST_LINES:
        raise ValueError(
            f"{len(lines)} lines in one axes are more than {_MOST_LINES}: filter the groups, or "
            f"facet= draws a panel for each value of {names}"
        )
    if len(lines) > 1 and table.height > _MOST_POINTS:
        raise ValueError(
            f"{len(lines)} lines of {table.height:,} points are more than {_MOST_POINTS}: take longer "
            f"periods, or facet= draws a panel for each value of {names}"
        )
    style.check_colors([value for key in lines for value in key])
    many = max(rows.height for rows in lines.values()) > _MARKED
    has_bands = len(lines) <= (1 if many else _BANDED_LINES)
    for number, (key, of_line) in enumerate(lines.items()):
        rows = of_line.sort(along, nulls_last=True, maintain_order=True)
        _, value, low, high = _numbers(rows, pl.lit(0.0), "value")
        x = rows["x"].to_numpy()
        breaks = _breaks(rows["x"], step)
        x = np.insert(x, breaks, x[breaks])
        value, low, high = (np.insert(bound, breaks, np.nan) for bound in (value, low, high))
        line: dict[str, Any] = {"color": style.color_of(key, number), "linewidth": 1.5}
        line["linestyle"] = draw.DASHES[number % len(draw.DASHES) if len(lines) > 2 else 0]
        if many:
            line |= {"linewidth": 1, "linestyle": "-"}
        else:
            line |= {"marker": "o", "markersize": 4}
        ax.plot(x, value, label=style.join(key) or "_value", **line)
        if has_bands:
            ax.fill_between(x, low, high, color=line["color"], alpha=0.15, linewidth=0)
    return has_bands


def _set_x_axis(ax: Axes, values: pl.Series, style: Style) -> pl.Series:
    """Set the ticks of the x axis, and return the place of each value: a number, a time, or that of its name."""
    width = ax.get_window_extent().width
    if values.dtype in _DATES:
        from matplotlib import dates

        toolbox: Any = dates
        ems = width / ax.figure.dpi / draw.em()
        locator = toolbox.AutoDateLocator(maxticks=max(3, int(ems / 6)))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(toolbox.ConciseDateFormatter(locator))
        return values if values.dtype == pl.Date else values.dt.replace_time_zone(None)
    if values.dtype.is_numeric():
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=values.dtype.is_integer()))
        return values
    names = [
        draw.shorten(style.label(value), 16) for value in values.unique().sort(nulls_last=True)
    ]
    widest = max((draw.text_width(ax, f"{name}  ") for name in names), default=1.0)
    every = math.ceil(len(names) * widest / width)
    ax.set_xticks(range(0, len(names), every), names[::every])
    return (values.rank("dense") - 1).fill_null(len(names) - 1)


def _usual_step(x: pl.Series) -> Any:
    """Return the usual step from one place to the next, or None if there is none."""
    steps = x.unique().sort().diff().drop_nulls()
    if steps.dtype.is_temporal():
        steps = steps.cast(pl.Int64)
    usual: Any = steps.median()
    if usual is None:
        return None
    gaps = int((steps > _GAP * usual).sum())
    return usual if gaps <= max(1, _MOST_GAPS * len(steps)) else None


def _breaks(x: pl.Series, step: Any) -> Any:
    """Return the places in front of which a line has a gap, because times are missing."""
    steps = x.diff()
    if steps.dtype.is_temporal():
        steps = steps.cast(pl.Int64)
    return [] if step is None else (steps > _GAP * step).arg_true().to_list()


def _fewer_ticks(ax: Axes, most: int) -> None:
    """Leave room between the numbers of an axis."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(most))


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
        The plot. With "intervals", a dot is filled if its adjusted p-value is below 0.05; in a frame
        without p-values, if its interval does not contain 0.

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

    def names(self, style: Style) -> list[str]:
        """Return the names of the groups."""
        return [style.join(key) for key in self.table.select(self.key_columns).rows()]


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
            f"plot_comparison draws two systems by groups, and the frame has {len(systems)} systems; "
            "filter it, or draw the result of compare, which has all pairs"
        )
    rows = list(key_of.values())
    sides = [
        _of_system(table, system, of_side).select(*rows, by_name("value").alias(side))
        for of_side, side in zip(systems, ("old", "new"), strict=True)
    ]
    both = sides[0].join(sides[1], on=rows, nulls_equal=True, maintain_order="left")
    both = both.drop_nulls(["old", "new"]).with_columns(difference=pl.col("new") - pl.col("old"))
    return _Pairs(name, list(key_of), systems, both)


def _side_colours(style: Style) -> list[Any]:
    """Return the colours of better and of worse."""
    return [style.color_of([side], number) for number, side in enumerate(_SIDES)]


def _counts(pairs: _Pairs, style: Style) -> list[str]:
    """Return how many groups are better and worse for the second system, as texts."""
    difference = pairs.table["difference"]
    name = style.label(pairs.systems[1])
    better = int((difference > 0).sum())
    worse = int((difference < 0).sum())
    texts = [
        f"{name} {style.label('better')}: {better:,}",
        f"{name} {style.label('worse')}: {worse:,}",
    ]
    if equal := len(difference) - better - worse:
        texts[1] += f", {style.label('equal')}: {equal:,}"
    return texts


def _draw_differences(pairs: _Pairs, style: Style) -> Axes:
    """Draw the differences as bars, named if they are few, and their mean with its interval."""
    pairs = pairs._replace(table=_in_order(pairs.table, pairs.key_columns, "difference"))
    difference = pairs.table["difference"]
    n = len(difference)
    named = n <= _NAMED
    sides = (difference.clip(lower_bound=0), difference.clip(upper_bound=0))
    old, new = map(style.label, pairs.systems)
    title = f"{style.title(pairs.metric)}: {new} - {old}"
    keys = style.join(pairs.keys)
    with draw.axes_of(style, draw.figure_size()) as ax:
        for side, colour, label in zip(
            sides, _side_colours(style), _counts(pairs, style), strict=True
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
        if named:
            ax.set(xlabel=draw.wrap(title), ylabel=keys)
            _name_rows(ax, pairs.names(style), style)
        else:
            along = f"{n:,} values of {keys}, the largest difference first"
            ax.set(xlabel=along, ylabel=draw.wrap(title))
        draw.draw_legend([ax], style, most_inside=0)
    return ax


def _draw_mean(ax: Axes, pairs: _Pairs, *, along_x: bool) -> None:
    """Draw the mean difference and its confidence interval, which `compare` computes, and a line at 0."""
    draw_line = ax.axvline if along_x else ax.axhline
    draw_span = ax.axvspan if along_x else ax.axhspan
    sides = [
        pairs.table.select(*pairs.key_columns, value=side, system=pl.lit(side))
        for side in ("old", "new")
    ]
    compared = compare(pl.concat(sides), "value", mean_over=pairs.key_columns, baseline="old")
    difference, low, high = compared.select("difference", "low", "high").row(0)
    label = f"mean difference {draw.number_text(difference)}"
    if low is not None:
        label += f" (95 % interval {draw.number_text(low)} to {draw.number_text(high)})"
        draw_span(low, high, color=draw.grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
    line: dict[str, Any] = {"linewidth": 1.5, "linestyle": "--", "gid": draw.SHARED}
    draw_line(difference, color=draw.grey(ax, 0.3), label=label, **line)
    draw_line(0, color=draw.grey(ax, 0.1), linewidth=0.8)


def _draw_intervals(frame: Any, metric: str | None, style: Style) -> Axes:
    """Draw differences from a baseline with their confidence intervals, from the result of `compare`."""
    result, name = _read_comparison(frame, metric)
    key_of = {**result.keys, "system": "system"}
    key_of = {key: column for key, column in key_of.items() if result.table[column].n_unique() > 1}
    key_of = key_of or {"system": "system"}
    table = _in_order(result.table, list(key_of.values()), "difference")
    _check_rows(table.height, "differences")
    labels = [style.join(key) for key in table.select(key_of.values()).rows()]
    baselines = list(map(style.label, table["baseline"]))
    title = f"{style.title(name)}: difference"
    if len(set(baselines)) > 1:
        labels = [f"{label} - {old}" for label, old in zip(labels, baselines, strict=True)]
    elif baselines:
        title = f"{title} from {baselines[0]}"
    is_clear, words = _clear(table)
    with draw.axes_of(style, draw.figure_size()) as ax:
        colour = _side_colours(style)[0]
        ax.axvline(0, color=draw.grey(ax, 0.1), linewidth=0.8, zorder=1)
        rows = pl.int_range(table.height - 1, -1, -1).cast(pl.Float64)
        numbers = _numbers(table, rows, "difference")
        for (y, value, low, high), clear in zip(numbers.T, is_clear, strict=True):
            ax.hlines(y, low, high, color=colour, linewidth=1.5)
            face: Any = colour if clear else ax.get_facecolor()
            dot: dict[str, Any] = {"markersize": 6, "color": colour, "markerfacecolor": face}
            ax.plot([value], [y], "o", label=style.label(words[not clear]), **dot)
        # The column `system` may hold groups of another name, such as countries.
        keys = style.join(key for key in key_of if key != "system")
        ax.set(xlabel=f"{draw.wrap(title)}\n({_interval_label(result.table, style)})", ylabel=keys)
        _fewer_ticks(ax, 6)
        _name_rows(ax, labels, style)
        draw.draw_legend([ax], style, most_inside=0)
    return ax


def _clear(table: pl.DataFrame) -> tuple[list[bool], tuple[str, str]]:
    """Return which differences are significant, and what this means, and the opposite, in the legend."""
    for column, name in (("p_adjusted", "adjusted p"), ("p_value", "p")):
        if column in table.columns and table[column].null_count() < table.height:
            clear = (table[column] < _SIGNIFICANT).fill_null(value=False).to_list()
            return clear, (f"{name} < {_SIGNIFICANT}", f"{name} ≥ {_SIGNIFICANT}")
    outside = (pl.col("low") > 0) | (pl.col("high") < 0)
    clear = table.select(outside.fill_null(value=False)).to_series().to_list()
    return clear, ("interval without 0", "interval contains 0")


def _read_comparison(frame: Any, metric: str | None) -> tuple[Result, str]:
    """Read a result of `compare`, and the name of its metric."""
    columns = ("metric", "baseline", "system", "difference", "low", "high")
    optional = ("level", "p_adjusted", "p_value")
    result = read_result(
        frame,
        dict.fromkeys(columns, "compare gives it") | dict.fromkeys(optional, ""),
        "kind='intervals' draws a frame that compare gave",
    )
    metrics = result.table["metric"].unique(maintain_order=True).to_list()
    if metric is None and len(metrics) > 1:
        raise ValueError(f"the frame has {len(metrics)} metrics: name one, metric={metrics[0]!r}")
    name = next(iter(metrics), "") if metric is None else check_text("metric", metric)
    if name not in metrics:
        raise ValueError(f"metric: {shown(name)} is not in the frame; it has {', '.join(metrics)}")
    of_metric = result.table.filter(by_name("metric").eq_missing(pl.lit(name)))
    return Result(result.keys, of_metric), name


def _draw_slopes(pairs: _Pairs, style: Style) -> Axes:
    """Draw a line for each group, from its value for the first system to its value for the second."""
    table = pairs.table
    _check_rows(table.height, "groups")
    width, height = draw.figure_size()
    height = max(height, (8 + 1.3 * table.height) * draw.em())
    with draw.axes_of(style, (min(width, height), height)) as ax:
        better, worse = _side_colours(style)
        for old, new in table.select("old", "new").rows():
            colour = better if new > old else worse
            colour = draw.grey(ax, 0.5) if new == old else colour
            line: dict[str, Any] = {"markersize": 4, "linewidth": 1.2, "color": colour}
            ax.plot([0, 1], [old, new], "o-", label="_slope", **line)
        for label, colour in zip(_counts(pairs, style), (better, worse), strict=True):
            ax.plot([], [], color=colour, label=label)
        ax.set_xlim(-0.1, 1.1)
        systems = [
            draw.fit(ax, style.label(system), 12 * draw.em() * ax.figure.dpi)
            for system in pairs.systems
        ]
        ax.set_xticks([0, 1], systems)
        ax.set_ylabel(style.title(pairs.metric))
        draw.draw_legend([ax], style, most_inside=0)
        _name_slopes(ax, pairs, style)
    return ax


def _name_slopes(ax: Axes, pairs: _Pairs, style: Style) -> None:
    """Write the names of the groups at the right, apart from each other, if there is room."""
    figure = draw.figure_of(ax)
    figure.draw_without_rendering()
    pixels = 1.15 * draw.em() * figure.dpi
    low, high = ax.get_ylim()
    step = (high - low) * pixels / ax.get_window_extent().height
    heights = pairs.table["new"].to_list()
    if not 0 < len(heights) * step <= high - low:
        return
    places = _apart(heights, step, high - step / 2)
    # The x axis ends at 1.1 and begins at -0.1, so the right ends of the slopes are at 11/12.
    leader: dict[str, Any] = {"color": draw.grey(ax, 0.7), "linewidth": 0.6, "label": "_leader"}
    leader |= {"transform": ax.get_yaxis_transform(), "clip_on": False, "zorder": 1}
    for name, height, place in zip(pairs.names(style), heights, places, strict=True):
        text = draw.shorten(name, 24)
        ax.plot([0.93, 0.99], [height, place], scalex=False, scaley=False, **leader)
        ax.text(1.0, place, text, va="center", fontsize="small", transform=ax.get_yaxis_transform())


def _apart(heights: Sequence[float], step: float, ceiling: float) -> list[float]:
    """Return places near these heights that are at least a step apart and not above the ceiling."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = list(heights)
    floor = -math.inf
    for i in order:
        places[i] = max(heights[i], floor)
        floor = places[i] + step
    for i in reversed(order):
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - step
    return places
