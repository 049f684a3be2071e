"""Find the marked points of a curve, and write thresholds along it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.metrics.rates import Counts, rate_of
from frame_pr.plotting.appearance import metric_title, text_colour
from frame_pr.plotting.curve_artists import EDGES, draw_points, halo
from frame_pr.plotting.curve_data import ROUNDING, Y_KEY, DrawnCurve
from frame_pr.plotting.legends import number_text
from frame_pr.plotting.options import PlotOptions, axis_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Point(NamedTuple):
    """A point of a curve."""

    row: int
    threshold: Any
    x: float
    y: float


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
    if not curve.drawn:
        return []
    marks: list[tuple[Point | None, str, str]] = []
    for threshold in options.thresholds:
        marks.append((point_at_threshold(curve, threshold), "o", f"{options.display('threshold')} {threshold:g}"))
    for recall in options.recalls:
        point = point_at_recall(curve, float(recall.text))
        if point is not None:
            threshold_word = options.display("threshold")
            text = (
                f"{options.display('recall')} {float(recall.text):g} ({threshold_word} {threshold_text(curve, point)})"
            )
            marks.append((point, "s", text))
    for name in options.best:
        if (best := best_point(curve, name)) is not None:
            point, value = best
            text = f"{options.display(name, best_title(name))} = {number_text(value, options.decimals)}"
            marks.append((point, "D", f"{text} at {threshold_text(curve, point)}"))
    y = curve.key.get(Y_KEY, options.ys[0])
    best_of_y = [f"{side}_{y}" for side in ("max", "min")]
    says_height = tuple(f"{options.display(name, best_title(name))} " for name in best_of_y)
    title = options.display(y, axis_quantity(y).title.partition(",")[0])
    return [
        Mark(
            point,
            shape,
            text,
            # On other axes, the text has the value of y, too.
            ""
            if options.is_pr or text.startswith(says_height)
            else f"{title} = {number_text(point.y, options.decimals)}",
        )
        for point, shape, text in marks
        if point is not None and None not in (point.x, point.y)
    ]


def best_title(name: str) -> str:
    """Return the name of a best value in the legend, such as `max F1`."""
    title = metric_title(name)
    return title[0].lower() + title[1:]


def explain_marks(
    drawn: Sequence[DrawnCurve], names: Sequence[str] | None, options: PlotOptions
) -> list[list[tuple[Mark, str]]]:
    """Return the marks of each curve with their entries in the legend. All quantities at a threshold share one entry.

    `names`: of the curves, if the legend explains colours and line styles separately.
    """
    marks = [marks_of(curve, options) for curve in drawn]
    if len(options.ys) == 1:
        return [
            [(mark, f"{name}: {mark.label}" if name else mark.label) for mark in of_curve]
            for of_curve, name in zip(marks, names or [""] * len(drawn), strict=True)
        ]
    heights: dict[tuple[Any, ...], list[str]] = {}
    keys = [tuple(str(value) for key, value in curve.key.items() if key != Y_KEY) for curve in drawn]
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


def point_at_threshold(curve: DrawnCurve, threshold: float) -> Point | None:
    """Return the last point of the curve at or above this threshold."""
    thresholds = curve.blocks["threshold"]
    reached = int((thresholds <= threshold if curve.ascending else thresholds >= threshold).sum())
    return _point(curve.blocks, reached - 1) if reached else None


def point_at_recall(curve: DrawnCurve, recall: float) -> Point | None:
    """Return the first point of the curve with at least this recall."""
    if not curve.blocks["tp"].dtype.is_integer():
        recall *= 1 - ROUNDING
    reached = (curve.blocks["recall"] >= recall).arg_max()
    if reached is None or not curve.blocks["recall"][reached] >= recall:
        return None
    return _point(curve.blocks, reached)


def best_point(curve: DrawnCurve, name: str) -> tuple[Point, float] | None:
    """Return the first point at which a metric such as `max_f1` is best, and its value."""
    side, _, rate = name.partition("_")
    positives, rows = pl.col("positives"), pl.col("rows")
    counts = Counts(pl.col("tp"), pl.col("k"), positives, rows)
    nothing = Counts(positives * 0, positives * 0, positives, rows)
    record = rate_of(rate)
    values, order, of_nothing = (
        curve.blocks.select(pl.when(positives > 0).then(expression)).to_series()
        for expression in (
            record.formula(counts),
            (record.best_by or record.formula)(counts),
            (record.best_by or record.formula)(nothing),
        )
    )
    row = order.arg_max() if side == "max" else order.arg_min()
    # If predicting nothing is best, no threshold is.
    if row is None or (order[row] < (of_nothing[row] or 0) if side == "max" else order[row] >= of_nothing[row]):
        return None
    return _point(curve.blocks, row), values[row]


def spaced_points(curve: DrawnCurve, n: int) -> list[Point]:
    """Return at most n steps, evenly spaced in recall."""
    steps = curve.blocks.with_row_index("row").filter(pl.col("recall_step") > 0)
    wanted = pl.Series([(i + 0.5) / n for i in range(n)])
    places = steps["recall"].search_sorted(wanted, side="left").clip(0, steps.height - 1).unique(maintain_order=True)
    return [_point(curve.blocks, steps["row"][place]) for place in places]


def _point(blocks: pl.DataFrame, row: int) -> Point:
    return Point(row, *blocks.select("threshold", "x", "y").row(row))


def threshold_text(curve: DrawnCurve, point: Point) -> str:
    """Return the shortest number of at least three digits that selects the same rows as a threshold."""
    thresholds = curve.blocks["threshold"]
    later = thresholds[point.row :].filter(thresholds[point.row :] != point.threshold)
    sign = -1 if curve.ascending else 1
    exact = point.threshold if isinstance(point.threshold, Decimal) else Decimal(repr(point.threshold))
    read: Any = Decimal if isinstance(point.threshold, Decimal) else float
    if thresholds.dtype == pl.Float32:
        import numpy as np

        read = np.float32  # a threshold is rounded to the type of the scores
    for digits in range(3, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR):
            # Round towards the rows that follow, so that the row of this threshold is selected.
            number = Context(digits, rounding).plus(sign * exact) * sign
            text = f"{number:.{digits}g}"
            typed = read(text)
            reaches = sign * typed <= sign * point.threshold
            if reaches and (not len(later) or sign * typed > sign * later[0]):
                return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return str(point.threshold)


def write_thresholds(ax: Axes, drawn: Sequence[DrawnCurve], options: PlotOptions) -> None:
    """Write thresholds along the curves. A threshold that would overlap another one is left out."""
    boxes: list[Any] = []
    for curve in drawn:
        if not options.threshold_labels or not curve.drawn:
            continue
        points = spaced_points(curve, options.threshold_labels)
        if not (options.rectangles and curve.blocks.height <= EDGES):  # then all thresholds have points
            x, y = ([getattr(point, axis) for point in points] for axis in "xy")
            draw_points(ax, x, y, text_colour(ax), ".", "_thresholds").set_markersize(5)
        for point in points:
            right, up = ax.transAxes.inverted().transform(ax.transData.transform((point.x, point.y)))
            # At the edges, the text is written towards the middle, because the layout keeps no room for it outside.
            side, level = -1 if right > 0.85 else 1, -1 if up > 0.9 else 1
            text = ax.annotate(
                threshold_text(curve, point),
                (point.x, point.y),
                xytext=(4 * side, 4 * level),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="bottom" if level > 0 else "top",
                fontsize="small",
                color=text_colour(ax),
                path_effects=[halo(ax)],
            )
            text.set_in_layout(False)
            box = text.get_window_extent()
            if any(box.overlaps(other) for other in boxes):
                text.remove()
            else:
                boxes.append(box)
