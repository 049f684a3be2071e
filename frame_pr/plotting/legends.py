"""Write names, numbers, titles of axes, marks and legends, and find places for legends and texts."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from frame_pr.plotting.appearance import Appearance, escape, in_legend, metric_title, shorten, value_text
from frame_pr.plotting.curve_data import (
    Y_KEY,
    Average,
    DrawnCurve,
    Point,
    best_point,
    point_at_recall,
    point_at_threshold,
    threshold_text,
)
from frame_pr.plotting.options import X_ONLY, PlotOptions, axis_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINE = "prevalence"
"""Label of the line at the precision of a random ranking."""
GUIDE = "_guide"
"""Label of the lines from a marked point to the axis."""
SHARED = "shared"
"""gid of entries of the legend that concern several curves."""
CONTOURS, GROUPS = BEHIND = ("_iso_f", "_groups")
"""Labels of contours and of the curves of single groups, which a legend may cover."""
MARK = "mark"
"""gid of marked points."""
_ROUNDING = 1e-9
"""Distance from 1 below which a number is shown as 1."""
_LETTERS = 52
"""The most letters of a line of the legend."""
_POSITIVE_LETTERS = 20
"""The most letters of the positive label in the title of an axis."""
_PLACES = (
    "lower left",
    "upper right",
    "lower right",
    "center left",
    "center right",
    "lower center",
    "upper center",
    "upper left",
    "center",
)


def name_of(key: Mapping[str, Any], names: Sequence[str], labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the values of these keys, as the legend has them."""
    values = []
    for name in names:
        value = str(key[name]) if name == Y_KEY else value_text(key[name])
        values.append(labels.get(value, axis_quantity(value).title if name == Y_KEY else value))
    text = ", ".join(values)
    return in_legend(text if text in labels.values() else escape(shorten(text)))


def axis_titles(options: PlotOptions) -> tuple[str, str]:
    """Return the titles of both axes. The title of x has the positive label, if the caller named one."""
    x = options.display(options.x, axis_quantity(options.x).title)
    y = options.display(options.ys[0], axis_quantity(options.ys[0]).title) if len(options.ys) == 1 else "Value"
    if options.positive is not None and options.x not in X_ONLY:
        x = f"{x} (positive: {escape(shorten(options.positive, _POSITIVE_LETTERS))})"
    return x, y


def number_text(value: float, decimals: int) -> str:
    """Format a number with this number of decimals, or with more if it would wrongly be 0 or 1."""
    text = f"{value:.{decimals}f}"
    if value < 1 - _ROUNDING and float(text) == 1:
        return f"{value:.{-math.floor(math.log10(1 - value))}f}"
    return f"{value:.2g}" if value and not float(text) else text


def area_texts(curve: DrawnCurve, options: PlotOptions) -> list[str]:
    """Return the areas of a curve, such as `AP = 0.78`."""
    if not options.areas:
        return []
    numbers: list[Any] = [curve.numbers.get(area) for area in options.areas]
    first, *envelope = numbers
    if isinstance(curve, Average):
        kinds = ["mean", *["interpolated"] * options.interpolated]
        return [_equation(" ".join([*map(options.display, kinds), options.area_title]), first, options)]
    texts = [_equation(options.area_title, first, options)]
    if first is not None and envelope:
        title = options.display("interpolated") if options.points is None else f"{options.points}-point"
        texts.append(f"{title} {number_text(envelope[0], options.decimals)}")
    return texts


def _equation(title: str, value: float | None, options: PlotOptions) -> str:
    """Return an area with its title."""
    return f"{title} undefined" if value is None else f"{title} = {number_text(value, options.decimals)}"


def count_text(curves: Sequence[DrawnCurve]) -> str:
    """Return the number of positives, such as `P = 120`, or its range, and for averages the number of groups."""
    if averages := [curve for curve in curves if isinstance(curve, Average)]:
        counts = [average.groups for average in averages]
        undefined = max(average.without_positives for average in averages)
        text = " to ".join(f"{n:,}" for n in dict.fromkeys((min(counts), max(counts))))
        return f"{text} groups" + (f", {undefined:,} undefined" if undefined else "")
    positives = [curve.numbers["positives"] for curve in curves]
    return f"P = {' to '.join(_positives_text(n) for n in dict.fromkeys((min(positives), max(positives))))}"


def _positives_text(positives: float) -> str:
    """Format a number of positives, which may be a sum of weights."""
    if positives == math.floor(positives):
        return f"{positives:,.0f}"
    return f"{positives:,.1f}" if positives >= 1 else f"{positives:.2g}"


def is_baseline(label: Any) -> bool:
    """Return whether an entry of the legend is the prevalence, with or without its value."""
    return str(label).partition(" (")[0] == BASELINE


def with_numbers(name: str, *numbers: str) -> str:
    """Return a name with its numbers in brackets."""
    text = ", ".join(number for number in numbers if number)
    return f"{name} ({text})" if name and text else name or text


def labels_of(
    curves: Sequence[DrawnCurve], names: Sequence[str], keys: Sequence[str], options: PlotOptions, shares_axes: bool
) -> tuple[list[str], str]:
    """Return the labels of the curves, and the title of the legend with the numbers that all curves share."""
    counts = [count_text([curve]) for curve in curves]
    title = escape(shorten(", ".join(options.display(key) for key in keys if key != Y_KEY)))
    in_title = len(set(counts)) == 1 and len(curves) > 1 and not shares_axes
    labels = [
        with_numbers(name, *area_texts(curve, options), "" if in_title else count)
        for curve, name, count in zip(curves, names, counts, strict=True)
    ]
    return labels, with_numbers(title, counts[0]) if in_title else title


class Mark(NamedTuple):
    """A marked point of a curve, and its text in the legend."""

    point: Point
    shape: str
    text: str
    height: str
    """The value of y at the point, unless the text or the axis has it."""

    @property
    def label(self) -> str:
        """The text, with the value of y."""
        return f"{self.height}, {self.text}" if self.height else self.text


def marks_of(curve: DrawnCurve, options: PlotOptions) -> list[Mark]:
    """Return the marked points of a curve. Points without a value on both axes are left out."""
    if not curve.has_points:
        return []
    word = options.display("threshold")
    points: list[tuple[Point | None, str, str]] = [
        (point_at_threshold(curve, threshold), "o", f"{word} {threshold:g}") for threshold in options.thresholds
    ]
    for recall in (float(recall.text) for recall in options.recalls):
        if (point := point_at_recall(curve, recall)) is not None:
            text = f"{options.display('recall')} {recall:g} ({word} {threshold_text(curve, point)})"
            points.append((point, "s", text))
    for name in options.best:
        if (best := best_point(curve, name)) is not None:
            value = number_text(best[1], options.decimals)
            points.append((best[0], "D", f"{_best_title(name, options)} = {value} at {threshold_text(curve, best[0])}"))
    y = curve.key.get(Y_KEY, options.ys[0])
    title = options.display(y, axis_quantity(y).title.partition(",")[0])
    best_of_y = tuple(f"{_best_title(f'{side}_{y}', options)} " for side in ("max", "min"))
    marks = []
    for point, shape, text in points:
        if point is not None and None not in (point.x, point.y):
            # On other axes, the text has the value of y, too.
            has_height = not options.is_pr and not text.startswith(best_of_y)
            height = f"{title} = {number_text(point.y, options.decimals)}" if has_height else ""
            marks.append(Mark(point, shape, text, height))
    return marks


def _best_title(name: str, options: PlotOptions) -> str:
    """Return the name of a best value in the legend, such as `max F1`."""
    title = metric_title(name)
    return options.display(name, title[0].lower() + title[1:])


def explain_marks(
    curves: Sequence[DrawnCurve], names: Sequence[str] | None, options: PlotOptions
) -> list[list[tuple[Mark, str]]]:
    """Return the marks of each curve with their entries in the legend. All quantities at a threshold share one entry.

    `names`: of the curves, if the legend explains colours and line styles separately.
    """
    marks = [marks_of(curve, options) for curve in curves]
    if len(options.ys) == 1:
        return [
            [(mark, f"{name}: {mark.label}" if name else mark.label) for mark in of_curve]
            for of_curve, name in zip(marks, names or [""] * len(curves), strict=True)
        ]
    heights: dict[tuple[Any, ...], list[str]] = {}
    keys = [tuple(str(value) for key, value in curve.key.items() if key != Y_KEY) for curve in curves]
    for key, of_curve in zip(keys, marks, strict=True):
        for mark in of_curve:
            heights.setdefault((*key, mark.text), []).extend(filter(None, [mark.height]))
    explained: list[list[tuple[Mark, str]]] = []
    for key, of_curve in zip(keys, marks, strict=True):
        entries = []
        for mark in of_curve:
            values = heights.pop((*key, mark.text), None)
            text = "_mark" if values is None else ", ".join([mark.text, *values])
            entries.append((mark, f"{', '.join(key)}: {text}" if any(key) and values is not None else text))
        explained.append(entries)
    return explained


def draw_legend(
    ax: Axes, appearance: Appearance, title: str = "", *, keep_below: bool = False, above: bool = False
) -> None:
    """Draw the legend inside the axes if it fits there, else to the right of the axes.

    A new figure becomes wider for it. The caller's axes keep their size: there the legend stays inside as long as it is
    not larger than the axes, in smaller letters if necessary. `keep_below`: do not cover what is below the
    curves; `above`: in a new figure, draw the legend above the axes.
    """
    from matplotlib import rcParams, rcParamsDefault

    handles, labels = ax.get_legend_handles_labels()
    if not labels or not appearance.legend:
        return
    # Entries that concern several curves come last. Bars are a container, which has no gid.
    are_shared = [getattr(handle, "get_gid", lambda: None)() == SHARED for handle in handles]
    order = sorted(range(len(labels)), key=lambda i: (is_baseline(labels[i]), are_shared[i]))
    settings: dict[str, Any] = {
        "handles": [handles[i] for i in order],
        "labels": [_fill(_translate(labels[i], appearance) if are_shared[i] else labels[i]) for i in order],
        "title": title or None,
    }
    if rcParams["legend.fontsize"] == rcParamsDefault["legend.fontsize"]:
        settings |= {"fontsize": "small", "title_fontsize": "small", "handlelength": 1.7}
    if above and appearance.in_new_figure:
        settings |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
    if rcParams["legend.loc"] != "best" or "loc" in settings:
        ax.legend(**settings)
        return
    tight = {"handlelength": 1.2, "labelspacing": 0.25, "borderpad": 0.3, "handletextpad": 0.5}
    small = settings | tight | {"fontsize": "x-small", "title_fontsize": "x-small"}
    tiny = small | {"fontsize": "xx-small", "title_fontsize": "xx-small", "borderaxespad": 0.1}
    tiny |= {"labelspacing": 0.1, "borderpad": 0.2}
    sizes = [settings, small, tiny, tiny | {"ncols": 2, "columnspacing": 0.8}]
    sizes = sizes[:1] if appearance.in_new_figure else sizes
    points = _points_of(ax)
    fitting: tuple[dict[str, Any], Any, int] | None = None
    for size in sizes:
        legend = ax.legend(loc="lower left", **size)
        covered = _covered(ax, legend, points)
        if not covered:
            continue
        place = min(covered, key=lambda name: (covered[name], keep_below and "upper" not in name))
        if fitting is None or covered[place] < fitting[2] / 2:
            fitting = (size, place, covered[place])
        if not covered[place]:
            break
    if fitting is not None and not (appearance.in_new_figure and fitting[2]):
        legend = ax.legend(loc=fitting[1], **fitting[0])
        legend.set_in_layout(False)
        return
    _put_right(ax, sizes[-1], appearance)


def _translate(label: str, appearance: Appearance) -> str:
    """Replace the words before the numbers by the label that the caller gives them."""
    word, bracket, numbers = label.partition(" (")
    return appearance.display(word) + bracket + numbers


def _fill(label: str) -> str:
    """Break a long label into lines, but not at an equals sign."""
    return textwrap.fill(label.replace(" = ", "\u00a0=\u00a0"), _LETTERS).replace("\u00a0=\u00a0", " = ")


def _put_right(ax: Axes, settings: dict[str, Any], appearance: Appearance) -> None:
    """Put the legend to the right of the axes, in as many columns as its height needs."""
    figure = ax.figure.canvas.figure
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0, "columnspacing": 1}
    legend = ax.legend(**settings | place)
    room = max(ax.get_window_extent().height, 0.75 * figure.bbox.height)
    columns = math.ceil(legend.get_window_extent().height / room)
    if columns > 1:
        legend = ax.legend(**settings | place | {"ncols": columns})
    if appearance.in_new_figure:
        width = legend.get_window_extent().width / figure.dpi
        height = ax.get_window_extent().height / figure.dpi
        figure.set_figwidth(max(figure.get_figwidth(), (height if ax.get_box_aspect() else 0.8 * 6.4) + width + 1.2))
    else:
        # A layout engine would make the axes smaller.
        legend.set_in_layout(figure.get_layout_engine() is None)


def _points_of(ax: Axes) -> Any:
    """Return pixels along all curves, histograms, whiskers and texts of the axes, which a legend should not cover."""
    import numpy as np
    from matplotlib.collections import LineCollection

    ax.autoscale_view()  # matplotlib sets the limits only when it draws
    artists: list[Any] = [*ax.get_lines(), *ax.patches]
    lines = [
        pixels_along(artist.get_transform().transform_path(artist.get_path()))
        for artist in artists
        if artist.get_label() not in (f"_{BASELINE}", GUIDE)
    ]
    for whiskers in ax.collections:
        if isinstance(whiskers, LineCollection) and whiskers.get_label() not in BEHIND:
            paths = whiskers.get_paths()
            lines += [pixels_along(whiskers.get_transform().transform_path(path)) for path in paths]
    boxes = [text.get_window_extent() for text in ax.texts]
    corners = [box.corners() for box in boxes] + [[((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)] for box in boxes]
    return np.concatenate([np.empty((0, 2)), *corners, *lines])


def _covered(ax: Axes, legend: Any, points: Any) -> dict[str, int]:
    """Return how many points a legend, now at the lower left, would cover at each place; {} if it is too large."""
    axes, box = ax.get_window_extent(), legend.get_window_extent()
    margin = box.x0 - axes.x0
    right, upper = axes.x1 - margin - box.width, axes.y1 - margin - box.height
    if right < box.x0 or upper < box.y0:
        return {}
    x_of = {"left": box.x0, "center": (box.x0 + right) / 2, "right": right}
    y_of = {"lower": box.y0, "center": (box.y0 + upper) / 2, "upper": upper}
    air = ax.figure.dpi * 4 / 72
    covered = {}
    for place in _PLACES:
        vertical, _, horizontal = place.partition(" ")
        x, y = x_of[horizontal or "center"] - air, y_of[vertical] - air
        inside = (points > (x, y)) & (points < (x + box.width + 2 * air, y + box.height + 2 * air))
        covered[place] = int(inside.all(axis=1).sum())
    return covered


def spread_texts(heights: Sequence[float], low: float, high: float, lines: int) -> list[float]:
    """Return places for texts near these heights, of which `lines` fit between `low` and `high`, without overlap."""
    step = (high - low) / lines
    places, floor, ceiling = list(heights), low, high - step / 2
    upwards = sorted(range(len(heights)), key=heights.__getitem__)
    for i in upwards:
        places[i] = max(heights[i], floor)
        floor = places[i] + step
    for i in reversed(upwards):
        places[i] = ceiling = min(places[i], ceiling)
        ceiling -= step
    return places


def pixels_along(path: Any, every: float = 3) -> Any:
    """Return pixels along a path, at most `every` apart."""
    import numpy as np

    path = path.cleaned(remove_nans=True, simplify=True)
    corners = path.vertices[path.codes != path.STOP]
    if len(corners) < 2:
        return corners
    offsets = np.diff(corners, axis=0)
    parts = np.ceil(np.abs(offsets).max(axis=1) / every).clip(1, 5000).astype(np.int64)
    part = np.arange(parts.sum()) - np.repeat(parts.cumsum() - parts, parts)
    between = np.repeat(offsets / parts[:, None], parts, axis=0) * part[:, None]
    return np.concatenate([np.repeat(corners[:-1], parts, axis=0) + between, corners[-1:]])
