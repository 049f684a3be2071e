"""Names, numbers, operating points and threshold labels: what is written of curves, and where it covers nothing."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from frame_pr.plotting import curve_frames
from frame_pr.plotting.axes_and_names import in_legend, plain
from frame_pr.plotting.colours import grey, ink
from frame_pr.plotting.curve_frames import FIGURE, Average, DrawnCurve, Point
from frame_pr.plotting.lines import EDGES, dots, explain, title_of
from frame_pr.plotting.options import X_ONLY, PlotOptions
from frame_pr.plotting.room import BASELINE, Box, crowd_of, extent, near

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Note(NamedTuple):
    """What shall stand beside a point."""

    point: Point
    text: str
    colour: Any
    mark: Any
    """The line that the point is, or None."""


# Right (1) or left (-1) of the point, above (1) or below (-1) it, and how far, in heights of a letter.
_SIDES = [
    (h, v, far)
    for far in (0.6, 1.5, 2.2, 3.0, 4.0, 5.0, 6.5, 8.0)
    for h, v in ((1, 1), (-1, -1), (1, 0), (0, 1), (-1, 0), (0, -1), (1, -1), (-1, 1))
]
_PARTS = 20
"""Of a line to a text, to see what it crosses."""
_LED = 1.5
"""Heights of a letter from which on a line leads from a text to its point."""
_SMALL = 1.7
"""Inches of an axes in which notes of marks would cover too much."""
_FOREIGN = 6
"""What it costs, in sides, to stand nearer to the point of another curve."""
_CROSSED = len(_SIDES)
"""The same, for a line that runs through another text: what can stand in the legend goes there instead."""
_LABEL = 20
"""Letters of a label beside an axis."""
_HORIZONTAL = {1: "left", 0: "center", -1: "right"}
_VERTICAL = {1: "bottom", 0: "center", -1: "top"}


def name_of(key: dict[str, Any], names: Sequence[str]) -> str:
    """The values of these keys."""
    # A zero-width space: matplotlib leaves labels that begin with an underscore out of legends.
    return in_legend(plain(", ".join(title_of(key[name]) if name == FIGURE else _value(key[name]) for name in names)))


def titles_of(options: PlotOptions) -> tuple[str, str]:
    """What the axes are called, along, with the label that is positive, if the caller said it; and up."""
    along, up = title_of(options.x), title_of(options.y) if len(options.figures) == 1 else "Figure"
    if options.positive is not None and options.x not in X_ONLY:
        along = f"{along} (positive: {fitted(plain(options.positive), _LABEL)})"
    return along, up


def _value(value: Any) -> str:
    """A key as people write it."""
    if value is None:
        return "(null)"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())
    return str(value)


def number(value: float, decimals: int) -> str:
    """In so many decimals, or in two digits where these would be zeros."""
    text = f"{value:.{decimals}f}"
    return f"{value:.2g}" if value and not float(text) else text


def figures_in_label(each: DrawnCurve | Average, options: PlotOptions) -> list[str]:
    """The areas of a curve, or the mean of those of an average."""
    if options.area is None:
        return []
    if isinstance(each, Average):
        kind = "mean interpolated AP" if options.interpolated else "mean AP"
        return [f"{kind} undefined" if each.mean is None else f"{kind} = {number(each.mean, options.decimals)}"]
    title, metric = options.area
    area = each.numbers[metric]
    if area is None:
        return [f"{title} undefined"]
    texts = [f"{title} = {number(area, options.decimals)}"]
    if options.interpolated:
        kind = "interpolated" if options.points is None else f"{options.points}-point"
        texts.append(f"{kind} {number(each.numbers[options.interpolated_average_precision], options.decimals)}")
    return texts


def count_of(members: Sequence[DrawnCurve | Average]) -> str:
    """`P = 120`, or a range; of averages, how many groups they have."""
    counts = sorted({each.groups if isinstance(each, Average) else each.positives for each in members})
    text = " to ".join(_count(n) for n in ([counts[0], counts[-1]] if len(counts) > 1 else counts))
    if not isinstance(members[0], Average):
        return f"P = {text}"
    undefined = max(each.without_positives for each in members if isinstance(each, Average))
    return f"{text} groups" + (f", {undefined:,} undefined" if undefined else "")


def _count(positives: Any) -> str:
    if positives == math.floor(positives):
        return f"{positives:,.0f}"
    return f"{positives:,.1f}" if positives >= 1 else f"{positives:.2g}"


def labelled(name: str, *numbers: str) -> str:
    """The name of a curve, and its numbers."""
    numbers = tuple(one for one in numbers if one)
    if not numbers:
        return name
    return f"{name} ({', '.join(numbers)})" if name else ", ".join(numbers)


def short(label: str, letters: int) -> str:
    """Of a label its name, cut in the middle, and its figures, without their title and without counts."""
    if label.startswith("max F"):
        return label.removeprefix("max ")
    found = re.fullmatch(r"(?s)(.*?) ?\(?(?:mean |interpolated )*\S+ = ([\d.e-]+.*?)\)?", label)
    name, numbers = (found[1], found[2]) if found else (label, "")
    return f"{fitted(name, letters)} {re.sub(r', (P = [^)]*|[^a-z]* groups.*)$', '', numbers)}".strip()


def fitted(text: str, letters: int) -> str:
    """Cut in the middle, to so many letters; a dollar stays one."""
    whole = text.replace(r"\$", "$")
    if len(whole) <= letters:
        return text
    half = (letters - 1) // 2
    return plain(f"{whole[: letters - 1 - half]}…{whole[-half:]}")


def draw_marks(
    ax: Axes, drawn: Sequence[DrawnCurve | Average], options: PlotOptions, colours: Sequence[Any]
) -> list[Note]:
    """Mark operating points and thresholds; gives what shall be written beside them."""
    notes: list[Note] = []
    curves = [(each, colour) for each, colour in zip(drawn, colours, strict=True) if isinstance(each, DrawnCurve)]
    told = set()
    for curve, colour in curves:
        for point, shape, text in operating_points(curve, options):
            mark = dots(ax, [point.x], [point.y], colour, shape, "_mark")
            mark.set_gid("mark")
            if options.x == "threshold":
                # One line across all figures that are drawn, with their values on it.
                if (place := (point.x, text)) not in told:
                    told.add(place)
                    ax.axvline(point.x, color=grey(ax, 0.5), linewidth=0.8, zorder=1, label=f"_{BASELINE}")
                    explain(ax, in_words(text), linestyle="-", linewidth=0.8)
                text = number(point.y, options.decimals)
                if FIGURE in curve.key:
                    text = f"{title_of(curve.key[FIGURE])} {text}"
            notes.append(Note(point, text, colour, mark))
    for curve, colour in curves:
        if options.threshold_labels and curve.drawn:
            points = curve_frames.spaced(curve, options.threshold_labels)
            if not (options.rectangles and curve.blocks.height <= EDGES):  # which shows all thresholds
                dots(ax, [p.x for p in points], [p.y for p in points], colour, ".", "_thresholds")
            notes += [Note(point, _threshold(curve, point), colour, None) for point in points]
    return notes


def in_words(text: str) -> str:
    """An operating point in one line."""
    return text.replace("\nthreshold", " at")


def operating_points(curve: DrawnCurve, options: PlotOptions) -> list[tuple[Point, str, str]]:
    """Where, the shape of the marker, and the text."""
    if not curve.drawn:
        return []
    marks = []
    for threshold in options.thresholds:
        marks.append((curve_frames.at_threshold(curve, threshold), "o", f"threshold {threshold:g}"))
    for recall in options.recalls:
        point = curve.point(f"threshold@{recall}")
        text = f"recall {float(recall.recall):g}"
        marks.append((point, "s", f"{text}\nthreshold {_threshold(curve, point)}" if point else ""))
    for beta in options.max_f:
        point, f = curve.point(f"threshold@max_f{beta}"), curve.numbers[f"max_f{beta}"]
        text = f"max F{beta} {number(f or 0, options.decimals)}"
        marks.append((point, "D", f"{text}\nthreshold {_threshold(curve, point)}" if point else ""))
    return [(point, shape, text) for point, shape, text in marks if point is not None and point.drawn]


def _threshold(curve: DrawnCurve, point: Point) -> str:
    """In three digits, or as many as make it the same point when it is typed in; cut to what lets the point in."""
    exact, cut = Decimal(repr(point.threshold)), ROUND_CEILING if curve.ascending else ROUND_FLOOR
    for digits in range(3, 18):
        near = (Context(digits, rounding).plus(exact) for rounding in (ROUND_HALF_EVEN, cut))
        for text in (f"{one:.{digits}g}" for one in near):
            if curve_frames.at_threshold(curve, float(text)) == point:
                return _trimmed(text)
    return f"{point.threshold:.17g}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def write_notes(ax: Axes, notes: Sequence[Note], legend: Any = None) -> None:
    """Put each text on that side of its point where it covers no line, no point and none of the texts before it.

    What finds no room, with a legend where it is, stands in that.
    """
    from matplotlib.patheffects import withStroke

    halo = withStroke(linewidth=2, foreground=ax.get_facecolor())  # contours and baselines may run behind a text
    to_pixels = ax.figure.dpi / 72
    for text in [text for text in ax.texts if text.get_gid() == "note"]:
        text.remove()
    sample = ax.text(0, 0, "threshold", fontsize="small")
    letter = float(sample.get_fontsize()) * to_pixels
    crowd, axes = crowd_of(ax), extent(ax)
    small = min(axes.right - axes.left, axes.high - axes.low) < _SMALL * ax.figure.dpi
    taken = [] if legend is None else [extent(legend)]
    leaders: list[Any] = []
    points = [ax.transData.transform((note.point.x, note.point.y)) for note in notes]

    for note, place in zip(notes, points, strict=True):
        sample.set_text(note.text)
        size = sample.get_window_extent()
        best, least = None, math.inf
        for rank, side in enumerate([] if small and note.mark is not None else _SIDES):
            box = _beside(place, (size.width, size.height), side, letter)
            if rank >= least or not box.within(axes) or any(box.overlaps(other) for other in taken):
                continue
            if crowd(box.wider(near(ax) / 2)):
                continue
            line = _leader(place, box) if side[2] >= _LED else []
            crosses = any(not _gap(*one) for one in [*product(taken, line), *((box, point) for point in leaders)])
            if crosses and note.mark is not None:
                continue
            cost = rank + _CROSSED * crosses + _FOREIGN * any(_gap(box, other) < _gap(box, place) for other in points)
            if cost < least:
                best, least = (side, box), cost
        if best is None:
            if note.mark is not None:
                note.mark.set_label(in_words(note.text))
            continue
        if note.mark is not None:
            note.mark.set_label("_mark")
        (h, v, far), box = best
        taken.append(box)
        leaders += _leader(place, box) if far >= _LED else []
        leader = {"arrowstyle": "-", "color": note.colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 3}
        written = ax.annotate(
            note.text,
            (note.point.x, note.point.y),
            xytext=(h * far * letter / to_pixels, v * far * letter / to_pixels),
            textcoords="offset points",
            horizontalalignment=_HORIZONTAL[h],
            verticalalignment=_VERTICAL[v],
            fontsize="small",
            color=ink(ax),
            path_effects=[halo],
            arrowprops=leader if far >= _LED else None,
        )
        written.set_gid("note")
        written.set_in_layout(False)
    sample.remove()


def _beside(point: Any, size: tuple[float, float], side: tuple[int, int, float], letter: float) -> Box:
    (x, y), (width, height), (h, v, far) = point, size, side
    left, low = x + h * far * letter - width * (1 - h) / 2, y + v * far * letter - height * (1 - v) / 2
    return Box(left, low, left + width, low + height)


def _leader(point: Any, box: Box) -> list[tuple[float, float]]:
    """Along the line from a point to the middle of a text."""
    (x, y), to = point, ((box.left + box.right) / 2, (box.low + box.high) / 2)
    return [(x + share * (to[0] - x), y + share * (to[1] - y)) for share in (i / _PARTS for i in range(_PARTS))]


def _gap(box: Box, point: Any) -> float:
    """From a point to a box."""
    x, y = point
    return math.hypot(max(box.left - x, 0, x - box.right), max(box.low - y, 0, y - box.high))
