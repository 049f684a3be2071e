"""Plots of a metric by group, and of a metric over time, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public, real, text
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import warn
from frame_pr.plotting.appearance import (
    LABEL_LENGTH,
    Appearance,
    ColourArguments,
    appearance_of,
    canvas,
    escape,
    grey,
    in_legend,
    letters_along,
    line_properties,
    open_figure,
    set_titles,
    shorten,
    system_numbers,
    value_text,
)
from frame_pr.plotting.legends import draw_legend
from frame_pr.plotting.results import Values, metrics_of, number_rows, read_values, time_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 0.28
"""Inches of a line of `plot_intervals`."""
MOST_ROWS = 60
"""The most rows of a plot, unless `max_groups` allows more."""
_MOST_LINES = 10
_PREVALENCE = "prevalence"
_NARROW = 30
"""Axes of the caller that are narrower than this number of letters have no title for the names of rows."""
_OFFSET = 0.25
"""Distance between the intervals of two systems, in lines."""


@public()
def plot_intervals(
    frame: Frame,
    /,
    *,
    metric: str | None = None,
    overall: float | None = None,
    x: str | None = None,
    **options: Unpack[ColourArguments],
) -> Axes | Any:
    """Draw a dot and its confidence interval for each group (forest plot), from the result of `intervals`.

    It also draws metrics without intervals, such as those of `evaluate`. A line then joins the dots of the systems.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        The result of `intervals` or of `evaluate` by groups. The frame is not changed.
    metric : str, optional
        The metric to draw. It is needed if the frame has several, and for the result of `evaluate`.
    overall : float, optional
        A value to draw as a line, such as the value of all rows. Default: the mean of the values in the plot.
    x : str, optional
        A key column along the x axis, such as a week: a line for each value of the other keys. Default: a key of dates.
    labels : dict, optional
        Labels by name: of systems, groups, key columns, metrics and words of the legend, such as `{'s1': 'Baseline',
        'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups, in the order of the plot; all others follow. "value": the largest value first.
        "frame": as in the frame. Default: "value".
    decimals : int, optional
        Number of decimals in the legend, and of percentages. Default 2.
    max_groups : int, optional
        Maximum number of groups in the plot. Default: 60 rows.
    ax : matplotlib Axes, optional
        The axes to draw in. Default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        The figure to draw in, instead of `ax`.
    colors : dict, optional
        Colours by name: of systems. Names that the plot does not have are ignored, unless it has none of them.
    legend : bool
        Whether to draw the legend. Default True.

    Returns
    -------
    matplotlib Axes
        A dot for each row, and a whisker if it has bounds, in the colour of its `system`. The number after its name is
        the number of units, for the result of `evaluate` that of `positives`, if the frame has them.

    Raises
    ------
    ValueError, TypeError
        The frame is no result of `intervals` or `evaluate`, has too many rows, or has several metrics and `metric` is
        missing.
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
    ['1  (4)', '2  (4)']
    """
    line = None if overall is None else float(real("overall", overall))
    appearance = appearance_of(options)
    along = time_key(frame) if x is None else text("x", x)
    if along is not None:
        return _trend(frame, metric, along, appearance)
    values = read_values(frame, metric, appearance)
    table, keys = values.table, values.keys
    has_systems = len(keys) > 1 and "system" in keys
    systems = table["system"].unique(maintain_order=True).to_list() if has_systems else []
    rows = [key for key in keys if not systems or key != "system"]
    if appearance.order in (None, "value"):
        mean = pl.col("value").mean().over(map(by_name, rows))
        table = table.sort(mean, descending=True, nulls_last=True, maintain_order=True)
    groups, number = number_rows(table, rows)
    named = groups.rows(named=True)
    appearance.check_names([*systems, *(value for key in named for value in key.values())], systems)
    appearance.check_number(len(named), "rows", MOST_ROWS)
    _warn_of_scale(table, line)
    systems, order = appearance.in_order(systems), pl.Series(appearance.places(named), dtype=pl.Int64)
    groups, table = groups[order], table.with_columns(place=len(named) - 1 - order.arg_sort().gather(number))
    if isinstance(appearance.order, tuple):
        table = table.sort("place", descending=True, maintain_order=True)
    value = table["value"].mean() if line is None else line
    with canvas(appearance, figsize=(6.4, 1.2 + HEIGHT * len(named)), layout="constrained") as target:
        units = table.unique("place", maintain_order=True)["units"].to_list()
        title = write_names(target, appearance.names_of(groups), rows, appearance, units, values.unit)
        _draw_dots(target, table, systems, appearance)
        _draw_overall(target, value, "mean" if line is None else "overall", appearance)
        set_titles(target, values.title, title)
        draw_legend(target, appearance)
    return target


def _warn_of_scale(table: pl.DataFrame, overall: float | None) -> None:
    """Warn if `overall` has another scale than the values, such as percent."""
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


def _draw_overall(ax: Axes, value: Any, name: str, appearance: Appearance) -> None:
    """Draw a line at the value of all groups, with its name above the axes."""
    if not isinstance(value, float):
        return
    ax.axvline(value, color=grey(ax, 0.4), linestyle=":", linewidth=1, zorder=1)
    label = f"{appearance.display(name)} {value:.{appearance.decimals}f}"
    above: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (0, 3), "textcoords": "offset points"}
    ax.annotate(label, (value, 1), ha="center", va="bottom", color=grey(ax, 0.4), **above)


def _draw_dots(ax: Axes, table: pl.DataFrame, systems: list[Any], appearance: Appearance) -> None:
    """Draw a dot with its interval for each row, and lines that join systems without intervals."""
    joined = bool(systems) and table["low"].null_count() == table.height
    if joined:
        spans = table.group_by("place").agg(low=pl.col("value").min(), high=pl.col("value").max())
        spans = spans.drop_nulls().sort("place")
        ax.hlines(spans["place"], spans["low"], spans["high"], color=grey(ax, 0.7), linewidth=2, zorder=1)
    of_systems = _split_systems(table, systems, _colours_of(ax, systems, appearance), appearance)
    for number, (rows, colour, label) in enumerate(of_systems):
        offset = 0.0 if joined or not systems else _OFFSET * ((len(systems) - 1) / 2 - number)
        places, value, low, high = rows.select("place", "value", "low", "high").to_numpy().T
        ax.hlines(places + offset, low, high, color=colour, linewidth=1.5)
        ax.plot(value, places + offset, "o", markersize=5, color=colour, label=label)


def _split_systems(
    table: pl.DataFrame, systems: Sequence[Any], colours: Sequence[Any], appearance: Appearance
) -> Iterator[tuple[pl.DataFrame, Any, str]]:
    """Yield the rows of each system with NaN for missing numbers, its colour and its label."""
    table = table.with_columns(pl.col("value", "low", "high").fill_null(float("nan")))
    for system, colour in zip(systems or [None], colours, strict=True):
        rows = table.filter(pl.col("system").eq_missing(pl.lit(system))) if systems else table
        yield rows, colour, in_legend(appearance.label_of(system)) if systems else ""


def _colours_of(ax: Axes, systems: Sequence[Any], appearance: Appearance) -> list[Any]:
    """Return a colour for each system, or the first colour. A system has the colour of other plots."""
    names = [value_text(system) for system in systems]
    colours = [line_properties(ax, number, None)["color"] for number in (system_numbers(names) if systems else [0])]
    return [appearance.colors.get(name, colour) for name, colour in zip(names or [""], colours, strict=True)]


def write_names(
    ax: Axes,
    names: Sequence[str],
    keys: Sequence[str],
    appearance: Appearance,
    units: Sequence[int | None] = (),
    unit: str = "",
) -> str:
    """Write the names of the rows and their numbers, as much as fits; return a title that explains both.

    `unit`: what `units` are the numbers of.
    """
    box = ax.get_window_extent()
    room = LABEL_LENGTH if appearance.in_new_figure else max(6, letters_along(ax, 0.35 * box.width))
    counts = ["" if n is None else f"  ({n:,})" for n in units or [None] * len(names)]
    longest = max(len(name + count) for name, count in zip(names, counts, strict=True))
    if longest > room and not appearance.in_new_figure:
        counts = [""] * len(names)
    labels = [escape(shorten(name, room)) + count for name, count in zip(names, counts, strict=True)]
    # A line is as high as two letters are wide.
    every = 1 if appearance.in_new_figure else ceil(2 * len(names) / max(1, letters_along(ax, box.height)))
    ax.set_yticks(range(len(names) - 1, -1, -every), labels[::every])
    ax.margins(y=min(0.1, 0.6 / max(1, len(names))))
    if not appearance.in_new_figure and letters_along(ax, box.width) < _NARROW:
        return ""
    title = ", ".join(map(appearance.label_of, keys))
    return f"{title} ({unit})" if any(counts) else title


def _trend(frame: Any, metric: str | None, x: str, appearance: Appearance) -> Any:
    """Draw a metric over time with its confidence interval, and the prevalence below it."""
    metrics = metrics_of(frame)
    others = [name for name in metrics if name != _PREVALENCE]
    names = [next(iter(others or metrics), "") if metric is None else metric]
    if appearance.ax is None and _PREVALENCE in metrics and _PREVALENCE not in names:
        names.append(_PREVALENCE)
    tables = [read_values(frame, name, appearance) for name in names]
    keys = [key for key in tables[0].keys if key != "system"]
    if keys != [x]:
        raise ValueError(f"plot_intervals draws one key, such as a week, along the axis, and the frame has {len(keys)}")
    systems = tables[0].table["system"].unique(maintain_order=True).to_list() if "system" in tables[0].keys else []
    appearance.check_number(len(systems), "systems", _MOST_LINES)
    appearance.check_names(systems or [_PREVALENCE], systems)
    systems = appearance.in_order(systems)
    if len(tables) == 1:
        with canvas(appearance, figsize=(6.4, 4.0), layout="constrained") as target:
            if appearance.ax is None:
                target.set_label(names[0])
            _draw_trend(target, tables[0], keys[0], systems, appearance)
        return target
    with open_figure(appearance.figure, figsize=(6.4, 5.0), layout="constrained") as figure:
        grid = figure.subplots(2, sharex=True, height_ratios=[3, 1])
        for ax, table, name in zip(grid, tables, names, strict=True):
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_label(name)
            _draw_trend(ax, table, keys[0], systems, appearance, is_first=ax is grid[0])
        grid[0].set_xlabel("")
    return figure


def _draw_trend(
    ax: Axes, values: Values, key: str, systems: Sequence[Any], appearance: Appearance, is_first: bool = True
) -> None:
    """Draw a line for each system, and a band if it has bounds."""
    table = values.table
    shared = table.select(pl.struct(key, "value").n_unique() == pl.col(key).n_unique()).item() and not is_first
    if shared:  # all systems rank the same rows, so they have one prevalence
        table, systems = table.unique(key, maintain_order=True), []
    table = table.sort(key, nulls_last=True, maintain_order=True)
    along = table[key].unique(maintain_order=True)
    is_category = not (along.dtype.is_numeric() or along.dtype.is_temporal())
    places = dict(zip(along.to_list(), range(along.len()) if is_category else along.to_list(), strict=True))
    colours = [grey(ax, 0.4)] if shared else _colours_of(ax, systems, appearance)
    for rows, colour, label in _split_systems(table, systems, colours, appearance):
        x = [places[value] for value in rows[key]]
        value, low, high = rows.select("value", "low", "high").to_numpy().T
        ax.plot(x, value, "o-", markersize=4, color=colour, label=label)
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    ticks = letters_along(ax, ax.get_window_extent().width) // 8
    if is_category:
        every = ceil(along.len() / max(2, ticks))
        names = [appearance.label_of(name, 12) for name in along]
        ax.set_xticks(range(0, len(names), every), names[::every])
    elif along.dtype.is_temporal():
        from matplotlib import dates

        date_ticks: Any = dates
        locator = date_ticks.AutoDateLocator(maxticks=max(3, ticks))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(date_ticks.ConciseDateFormatter(locator))
    else:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=along.dtype.is_integer()))
    set_titles(ax, escape(appearance.display(key)), values.title)
    if is_first:
        draw_legend(ax, appearance)
