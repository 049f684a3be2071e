"""A slope chart of two systems over groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from frame_pr.frames.arguments import public, text
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame
from frame_pr.plotting.appearance import Appearance, AxesArguments, appearance_of
from frame_pr.plotting.comparison_plots import SIDES
from frame_pr.plotting.legends import draw_legend
from frame_pr.plotting.statistics_plots import MOST_ROWS, places_of, read_values
from frame_pr.plotting.styles import (
    canvas,
    escape,
    grey,
    letters_along,
    need_matplotlib,
    palette,
    set_titles,
    shorten,
    value_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@public()
def plot_slopes(frame: Frame, /, *, metric: str | None = None, **options: Unpack[AxesArguments]) -> Axes:
    """Draw a slope chart: a line for each group, from its value for one system to its value for the other.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What `evaluate` or `intervals` gave for two systems by groups. Never changed.
    metric : str, optional
        Which metric, where the frame has several; of `evaluate`, its column.
    labels : dict, optional
        What to write in place of names: of systems, groups, key columns, metrics and words of the legend, such as
        `{'s1': 'Baseline', 'recall': 'Sensitivity'}`.
    order : list, "value" or "frame"; optional
        Names of systems and groups in their order; others follow. Or "value", the largest first, or "frame", the order
        of the frame. Default: "frame".
    decimals : int, optional
        Decimals of the numbers in the legend, and of percentages. Default 2.
    max_groups : int, optional
        How many groups the plot may hold. Default: 60 lines.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure.
    colors : dict, optional
        Colours by name: of "better" and "worse". A dict may have other names, too, but one of its names must be in the
        plot.
    legend : bool
        Whether to draw the legend. Default True.

    Returns
    -------
    matplotlib Axes
        A line for each group that both systems have a value of, in the colour of better or worse, with its name at the
        right where the names have room.

    Raises
    ------
    ValueError, TypeError
        The frame has no groups, or not two systems, several metrics and none is named, or too many groups.
    ImportError
        matplotlib is not installed.

    See Also
    --------
    evaluate, plot_comparison

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> table = pl.DataFrame(
    ...     {"q": [1, 1, 2, 2], "system": ["old", "new"] * 2, "roc_auc": [0.6, 0.8, 0.7, 0.5]}
    ... )
    >>> ax = fp.plot_slopes(table, metric="roc_auc", ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['new better: 1', 'new worse: 1']
    """
    need_matplotlib()
    look = Appearance(**appearance_of(options))
    table, keys, title = read_values(frame, None if metric is None else text("metric", metric), look)
    systems = table["system"].unique(maintain_order=True).to_list() if "system" in keys else []
    if len(systems) != 2 or len(keys) < 2:
        raise ValueError(f"plot_slopes draws two systems by groups, and the frame has {len(systems)} systems")
    groups = [key for key in keys if key != "system"]
    named = places_of(table, groups)
    look.check_names([*systems, *(value for key in named for value in key.values())], SIDES)
    old, new = (systems[place] for place in look.places([{"system": system} for system in systems]))
    pairs = (
        table.filter(pl.col("system") == old)
        .join(table.filter(pl.col("system") == new), on=groups, nulls_equal=True, maintain_order="left")
        .select(*map(by_name, groups), old="value", new="value_right")
        .drop_nulls(["old", "new"])
    )
    look.check_number(pairs.height, "groups", MOST_ROWS)
    with canvas(look.ax, figsize=(4.8, 4.8), layout="constrained") as target:
        _draw_slopes(target, pairs, groups, look)
        sides = [escape(shorten(look.display(value_text(system)), 24)) for system in (old, new)]
        target.set_xticks([0, 1], sides)
        set_titles(target, "", title)
        if look.legend:
            _explain_slopes(target, pairs, sides[1], look)
            draw_legend(target, own_figure=look.ax is None, above=True)
    return target


def _side_colours(ax: Axes, look: Appearance) -> list[Any]:
    return [look.colors.get(side, colour) for side, colour in zip(SIDES, palette(ax), strict=False)]


def _draw_slopes(ax: Axes, pairs: pl.DataFrame, groups: Sequence[str], look: Appearance) -> None:
    better, worse = _side_colours(ax, look)
    names = [
        ", ".join(look.display(value_text(value)) for value in row) for row in pairs.select(map(by_name, groups)).rows()
    ]
    box = ax.get_window_extent()
    names = [shorten(name, max(4, letters_along(ax, 0.3 * box.width))) for name in names]
    for old, new in pairs.select("old", "new").rows():
        colour = better if new > old else worse if new < old else grey(ax, 0.5)
        ax.plot([0, 1], [old, new], "o-", markersize=4, linewidth=1.2, color=colour, label="_slope")
    # A line of text is as high as two letters are wide.
    lines = letters_along(ax, box.height) // 2
    written = pairs.height and pairs.height <= lines
    ax.set_xlim(-0.1, 1.1)
    if not written:
        return
    longest = max(map(len, names))
    ax.set_xlim(-0.1, 1.05 + 1.2 * longest / max(1, letters_along(ax, box.width) - longest))
    low, high = ax.get_ylim()
    step, heights = (high - low) / lines, pairs["new"].to_list()
    place = low
    places = {}
    for i in sorted(range(len(heights)), key=heights.__getitem__):
        place = places[i] = max(heights[i], place)
        place += step
    beyond = max(0.0, max(places.values()) + step / 2 - high)
    ceiling = high - step / 2
    for i in sorted(places, key=lambda i: -places[i]) if beyond else ():
        places[i] = ceiling = min(places[i], ceiling)
        ceiling -= step
    for i, name in enumerate(names):
        ax.annotate(
            escape(name), (1, heights[i]), (1.05, places[i]), va="center", fontsize="small", annotation_clip=False
        )


def _explain_slopes(ax: Axes, pairs: pl.DataFrame, system: str, look: Appearance) -> None:
    better, worse = _side_colours(ax, look)
    difference = pairs.select(pl.col("new") - pl.col("old")).to_series()
    for side, colour, number in (("better", better, (difference > 0).sum()), ("worse", worse, (difference < 0).sum())):
        ax.plot([], [], color=colour, label=f"{system} {side}: {number:,}")
    if ties := (difference == 0).sum():
        ax.plot([], [], color=grey(ax, 0.5), label=f"tied: {ties:,}")
