"""The legend of an axes, of a panel, and of all panels: where it covers nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from frame_pr.plotting.lines import ISO_F
from frame_pr.plotting.options import PlotOptions
from frame_pr.plotting.room import BASELINE, Box, crowd_of, extent, lay_out, near
from frame_pr.plotting.texts import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_Place = Literal[
    "lower left",
    "upper right",
    "lower right",
    "center left",
    "center right",
    "lower center",
    "upper center",
    "upper left",
    "center",
]
# The best first: below curves that are good, above those that are not, or that are filled.
_BELOW: tuple[_Place, ...] = get_args(_Place)
_ABOVE: tuple[_Place, ...] = ("upper right", "upper center", *_BELOW)
_ROWS_INSIDE = 4
"""Of the legend of a panel, beyond which it hides the curves."""
_ACROSS = 4
"""Entries side by side in the legend above a panel."""
ROW = 0.13
"""Inches of a row of it."""
_LETTERS = 52
"""Of a line of the legend."""
_SHORT = 22
"""Letters of a name in a small legend."""
_KEPT = 0.6
"""Of an axes of the caller, if a legend is to stand beside it."""


def draw_legend(ax: Axes, title: str, options: PlotOptions, own: bool) -> bool:
    """Inside where it covers nothing, smaller if need be, else beside the axes; and whether it took room for that.

    A figure of its `own` becomes wider instead.
    """
    from matplotlib import rcParams, rcParamsDefault

    handles, labels = ax.get_legend_handles_labels()
    if not labels or not options.legend:
        return False
    order = sorted(range(len(labels)), key=lambda i: (labels[i] == BASELINE, handles[i].get_gid() == "explained"))
    wrapped = [textwrap.fill(labels[i], _LETTERS) for i in order]
    settings: dict[str, Any] = {"handles": [handles[i] for i in order], "labels": wrapped}
    if title:
        settings["title"] = title
    small = {"fontsize": "small", "title_fontsize": "small", "handlelength": 1.7}
    if rcParams["legend.fontsize"] == rcParamsDefault["legend.fontsize"]:
        settings |= small
    if rcParams["legend.loc"] != "best":
        ax.legend(**settings)
        return False
    # Not matplotlib's "best": it looks at every vertex at every drawing, and overlooks texts.
    places = _ABOVE if options.rectangles else _BELOW
    last = len(labels) - sum(label == BASELINE for label in labels)
    bare: dict[str, Any] = {
        "handles": settings["handles"][:last],
        "labels": [short(labels[i], _SHORT) for i in order[:last]],
    }
    if title and options.area is not None:
        bare["title"] = f"{title}, {options.area[0]}"
    looks = [settings, settings | _size("x-small"), settings | _size("xx-small") | bare]
    looks.append(looks[-1] | {"ncols": 2, "columnspacing": 0.8})
    crowd = crowd_of(ax)
    for look in looks[: 1 if own else None]:
        legend = ax.legend(loc="lower left", **look)
        found = _free(ax, legend, places, crowd)
        if found is not None or _hopeless(ax, legend):
            break
    if found is None:
        figure = ax.figure.canvas.figure
        if own:
            _widen(ax, settings)
            return False
        may = len(figure.axes) == 1 or figure.get_layout_engine() is None
        if may and any(_beside(ax, look) for look in looks[1:3]):
            return True
        legend = _cut(ax, looks[-1] | {"labels": [short(labels[i], _SHORT // 2) for i in order[:last]]})
        legend.set_loc(min(places, key=_covered(ax, legend, crowd_of(ax))))
        legend.set_in_layout(False)
        return True
    legend.set_loc(found)
    # It lies on the axes, which no layout shall make smaller for it.
    legend.set_in_layout(False)
    return False


def _hopeless(ax: Axes, legend: Any) -> bool:
    """Whether it is too high for the axes also in two columns of the smallest letters."""
    size, axes = extent(legend), extent(ax)
    return (size.high - size.low) * 0.35 > axes.high - axes.low


def _cut(ax: Axes, settings: dict[str, Any]) -> Any:
    """What is inside the axes of a legend that has no room at all, and how many entries are left out."""
    legend, axes = ax.legend(loc="lower left", **settings), extent(ax)
    size, entries = extent(legend), len(settings["labels"])
    if size.right > axes.right:
        settings = settings | {"ncols": 1}
        legend = ax.legend(loc="lower left", **settings)
        size = extent(legend)
    share = (axes.high - axes.low) / (size.high - size.low)
    if share < 1:
        kept = max(1, int(entries * share) - 2)
        settings = settings | {"handles": settings["handles"][:kept], "labels": settings["labels"][:kept]}
        legend = ax.legend(loc="lower left", **settings | {"title": f"{kept} of {entries}"})
    return legend


def _size(name: str) -> dict[str, Any]:
    return {"fontsize": name, "title_fontsize": name, "handlelength": 1.2, "labelspacing": 0.3, "borderpad": 0.3}


def _widen(ax: Axes, settings: Mapping[str, Any]) -> None:
    """Put it right of the axes of our own figure, in columns that are not higher."""
    figure, axes = ax.figure.canvas.figure, extent(ax)
    legend, columns = ax.legend(**settings, **_right(ax)), 1
    while extent(legend).high - extent(legend).low > axes.high - axes.low:
        columns += 1
        legend = ax.legend(**settings, **_right(ax), ncols=columns, columnspacing=1)
    around = ax.get_tightbbox()
    width = extent(legend).right - (0 if around is None else around.x0)
    figure.set_figwidth(max(figure.get_figwidth(), width / figure.dpi + 0.2))
    lay_out(ax)


def _right(ax: Axes) -> dict[str, Any]:
    from matplotlib.transforms import ScaledTranslation

    ends = [extent(text).right - extent(ax).right for text in ax.texts if text.get_gid() == ISO_F]
    inches = ScaledTranslation(max(ends, default=0) / ax.figure.dpi + 0.08, 0, ax.figure.dpi_scale_trans)
    return {
        "loc": "upper left",
        "bbox_to_anchor": (1, 1),
        "bbox_transform": ax.transAxes + inches,
        "borderaxespad": 0,
    }


def _beside(ax: Axes, settings: Mapping[str, Any]) -> bool:
    """Beside the axes of the caller, or below it, in room of its own; and whether it keeps most of its size."""
    from matplotlib.transforms import ScaledTranslation

    figure, slot = ax.figure.canvas.figure, ax.get_position(original=True)
    old = ax.get_legend()
    if old is not None:
        old.remove()
    _put(ax, slot)
    lay_out(ax)
    before = extent(ax)
    below_label = ax.transAxes + ScaledTranslation(0, -40 / 72, figure.dpi_scale_trans)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below_label}
    wide = before.right - before.left > before.high - before.low
    for way in [_right(ax), below] if wide else [below, _right(ax)]:
        legend = ax.legend(**settings, **way)
        size = extent(legend)
        if way is below:
            columns = int((before.right - before.left) // (size.right - size.left))
        else:
            columns = -int(-(size.high - size.low) // (before.high - before.low))
        if columns > 1:
            legend = ax.legend(**settings, **way, ncols=columns, columnspacing=1)
        size = extent(legend)
        wanted, there = (
            (size.high - size.low, before.high - before.low)
            if way is below
            else (size.right - size.left, before.right - before.left)
        )
        if wanted > (1 - _KEPT) * there:
            legend.remove()
            continue
        if figure.get_layout_engine() is None:
            # No layout makes room: this axes does, in its own place.
            place = slot.transformed(figure.transSubfigure)
            over = 0.0 if way is below else max(0.0, size.right - place.x1)
            under = max(0.0, 2 - size.low) if way is below else 0.0
            kept = (slot.width - over / figure.bbox.width, slot.height - under / figure.bbox.height)
            _put(ax, (slot.x0, slot.y1 - kept[1], *kept))
        lay_out(ax)
        after = extent(ax)
        shares = (
            (after.right - after.left) / (before.right - before.left),
            (after.high - after.low) / (before.high - before.low),
        )
        if min(shares) >= _KEPT and extent(legend).within(extent(figure)):
            return True
        legend.remove()
        _put(ax, slot)
        lay_out(ax)
    return False


def _put(ax: Axes, place: Any) -> None:
    if ax.figure.canvas.figure.get_layout_engine() is None:
        ax.set_position(place, which="active")
        ax.set_in_layout(True)  # for a tight_layout() that may come


def _covered(ax: Axes, legend: Any, crowd: Any) -> Any:
    """A function that tells how much the legend covers at a place."""
    axes, size = extent(ax), extent(legend)
    texts = [extent(text) for text in ax.texts]
    margin, air = size.left - axes.left, near(ax)
    width, height = size.right - size.left, size.high - size.low
    right, upper = axes.right - margin - width, axes.high - margin - height
    left = {"left": size.left, "center": (size.left + right) / 2, "right": right}
    low = {"lower": size.low, "center": (size.low + upper) / 2, "upper": upper}

    def covered(place: _Place) -> int:
        vertical, _, horizontal = place.partition(" ")
        x, y = left[horizontal or "center"], low[vertical]
        box = Box(x, y, x + width, y + height).wider(air)
        return int(crowd(box) + 50 * sum(box.overlaps(text) for text in texts))

    return covered


def _free(ax: Axes, legend: Any, places: Sequence[_Place], crowd: Any) -> _Place | None:
    """The first place where it covers nothing."""
    if not extent(legend).within(extent(ax)):
        return None
    covered = _covered(ax, legend, crowd)
    return next((place for place in places if not covered(place)), None)


def rows_above(curves: int, options: PlotOptions) -> list[int]:
    """Rows of legends that stand above their panels, to be tried in turn; 0: inside, where they may hide a curve."""
    marks = len(options.max_f) + len(options.recalls) + len(options.thresholds)
    if marks:
        return [curves * marks]
    rows = -(-curves // _across(options))
    return [rows] if curves > _ROWS_INSIDE else [0, rows]


def _across(options: PlotOptions) -> int:
    return 1 if options.interpolated else _ACROSS


def _bare(label: str) -> str:
    """The figure alone, where it is said elsewhere what it is."""
    return label.rpartition(" = ")[2] if " = " in label else "-"


def draw_panel_legends(panels: Sequence[Axes], rows: int, options: PlotOptions) -> bool:
    """Above each panel, or inside: all in the same corner, but where that would cover a curve; and whether some do."""
    small: dict[str, Any] = {"fontsize": "x-small", "edgecolor": "none", "borderaxespad": 0.2, "borderpad": 0}
    small |= {"handlelength": 1.2, "framealpha": 0.8}
    found = []
    for ax in panels:
        handles, labels = ax.get_legend_handles_labels()
        shown = [i for i, handle in enumerate(handles) if handle.get_gid() != "explained"]
        if not shown:
            continue
        named, look = [labels[i] for i in shown], dict(small)
        if rows:
            across = _across(options) if rows < len(shown) else 1
            named = [_bare(label) for label in named] if across > 1 else named
            look |= {"ncols": across, "columnspacing": 0.6, "handlelength": 0.9, "handletextpad": 0.4}
            look |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "labelspacing": 0.2, "frameon": False}
        else:
            look |= {"loc": "lower left"}
        legend = ax.legend([handles[i] for i in shown], named, **look)
        if extent(legend).right - extent(legend).left > extent(ax).right - extent(ax).left:
            legend = ax.legend([handles[i] for i in shown], named, **look | {"fontsize": "xx-small"})
        legend.set_in_layout(False)
        if not rows:
            found.append((legend, _covered(ax, legend, crowd_of(ax))))
    if found:
        places = _ABOVE if options.rectangles else _BELOW
        costs = [[covered(place) for place in places] for _, covered in found]
        best = sorted(range(len(places)), key=lambda i: sum(cost[i] for cost in costs))
        for (legend, _), cost in zip(found, costs, strict=True):
            free = [i for i in best if not cost[i]]
            legend.set_loc(places[free[0] if free else min(best, key=lambda i: cost[i])])
        return any(min(cost) for cost in costs)
    return False


def draw_shared_legend(figure: Figure | SubFigure, handles: Sequence[Any]) -> Any:
    """Above all panels, in as many columns as fit."""
    settings: dict[str, Any] = {
        "handles": handles,
        "loc": "outside upper center",
        "fontsize": "small",
        "frameon": False,
        "columnspacing": 1.2,
    }
    most = len(handles)
    while True:
        legend = figure.legend(ncols=most, **settings)
        size = legend.get_window_extent()
        share = size.width / figure.bbox.width
        if most == 1 or share <= 0.97:
            return legend
        legend.remove()
        most = max(1, min(most - 1, int(most / share)))
