"""Operating points, threshold labels and the legend: each where it covers least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from frame_pr.plotting import curve_frames
from frame_pr.plotting.curve_frames import Average, DrawnCurve, Point
from frame_pr.plotting.lines import BACKGROUND, BASELINE, EDGES, ISO_F, SPREAD, dots
from frame_pr.plotting.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend


class _Box(NamedTuple):
    """Pixels."""

    left: float
    low: float
    right: float
    high: float

    def overlaps(self, other: _Box) -> bool:
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high

    def within(self, other: _Box) -> bool:
        return (
            self.left >= other.left and self.right <= other.right and self.low >= other.low and self.high <= other.high
        )


# Right (1) or left (-1) of the point, above (1) or below (-1) it, and how far, in heights of a letter.
_SIDES = [
    (h, v, far)
    for far in (0.6, 1.5, 3.0, 5.0)
    for h, v in ((1, 1), (-1, -1), (1, 0), (0, 1), (-1, 0), (0, -1), (1, -1), (-1, 1))
]
_Place = Literal[
    "lower left", "upper right", "lower right", "center left", "center right", "lower center", "upper center"
]
# Of the legend, the best first: below curves that are good, above those that are not, or that are filled.
_BELOW: tuple[_Place, ...] = get_args(_Place)
_ABOVE: tuple[_Place, ...] = ("upper right", "upper center", *_BELOW)
_LONG = 6  # entries of a legend that would hide the curves
_HIGH = 20  # entries of one beside them, in a column
_HORIZONTAL = {1: "left", 0: "center", -1: "right"}
_VERTICAL = {1: "bottom", 0: "center", -1: "top"}


def draw_texts(
    ax: Axes,
    drawn: Sequence[DrawnCurve | Average],
    options: PlotOptions,
    colours: Sequence[Any],
    *,
    written: bool = True,
) -> None:
    """Mark operating points and thresholds, and write beside them what they are, if they shall be `written`."""
    wanted: list[tuple[Point, str, Any]] = []
    curves = [(each, colour) for each, colour in zip(drawn, colours, strict=True) if isinstance(each, DrawnCurve)]
    for curve, colour in curves:
        for point, shape, text in _operating_points(curve, options):
            dots(ax, [point.x], [point.y], colour, shape, "_mark")
            wanted.append((point, text, colour))
    for curve, colour in curves:
        if options.threshold_labels and curve.positives:
            points = curve_frames.spaced(curve, options.threshold_labels)
            if not (options.rectangles and curve.blocks.height <= EDGES):  # which shows all thresholds
                dots(ax, [p.x for p in points], [p.y for p in points], colour, ".", "_thresholds")
            wanted += [(point, _threshold(curve, point), colour) for point in points]
    if wanted and written:
        _write(ax, wanted)


def _operating_points(curve: DrawnCurve, options: PlotOptions) -> list[tuple[Point, str, str]]:
    """Where, the shape of the marker, and the text."""
    if not curve.positives:
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
        text = f"max $F_{{{beta}}}$ {f:.{options.decimals}f}"
        marks.append((point, "D", f"{text}\nthreshold {_threshold(curve, point)}" if point else ""))
    return [(point, shape, text) for point, shape, text in marks if point is not None]


def _threshold(curve: DrawnCurve, point: Point) -> str:
    """In three digits, or as many as make it the same point when it is typed in."""
    for digits in range(3, 18):
        text = f"{point.threshold:.{digits}g}"
        if curve_frames.at_threshold(curve, float(text)) == point:
            break
    return text


def lay_out(ax: Axes) -> None:
    """Give the axes the size that they will have, where the figure's layout decides it: texts look for room in it."""
    figure = ax.figure.canvas.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def legend_columns(entries: int) -> int:
    """Of a legend beside the axes, so that it is not higher than these."""
    return -(-entries // _HIGH)


def draw_legend(ax: Axes, title: str, options: PlotOptions) -> None:
    """Inside, or beside the axes when it is long."""
    from matplotlib import rcParams, rcParamsDefault

    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        ax.set_title("no rows")
        return
    last = [SPREAD, BASELINE]
    order = sorted(range(len(labels)), key=lambda i: last.index(labels[i]) if labels[i] in last else -1)
    settings: dict[str, Any] = {"handles": [handles[i] for i in order], "labels": [labels[i] for i in order]}
    if title:
        settings["title"] = title
    if rcParams["legend.fontsize"] == rcParamsDefault["legend.fontsize"]:
        settings |= {"fontsize": "small", "title_fontsize": "small", "handlelength": 1.7}
    if len(labels) > _LONG:
        ax.legend(**{**settings, **_outside(ax, len(labels))})
    elif rcParams["legend.loc"] != "best":
        ax.legend(**settings)
    else:
        legend = ax.legend(loc="lower left", **settings)
        if legend.get_window_extent().width > ax.get_window_extent().width:
            legend = ax.legend(loc="lower left", **settings | {"fontsize": "xx-small", "title_fontsize": "xx-small"})
        # It lies on the axes, which no layout shall make smaller for it.
        legend.set_in_layout(False)
        move_legend(ax, options)


def move_legend(ax: Axes, options: PlotOptions) -> None:
    """From the lower left to where it covers least."""
    # Not matplotlib's "best": it looks at every vertex at every drawing, and overlooks texts.
    legend = ax.get_legend()
    if legend is not None:
        legend.set_loc(_roomiest(ax, legend, _ABOVE if options.rectangles else _BELOW))


def _outside(ax: Axes, entries: int) -> dict[str, Any]:
    """Beside the axes, or below them in a figure that is not wide."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.figure.bbox
    if figure.width > 1.2 * figure.height:
        beyond_iso_f = 1.14 if any(artist.get_label() == ISO_F for artist in ax.collections) else 1.02
        return {"loc": "upper left", "bbox_to_anchor": (beyond_iso_f, 1), "ncols": legend_columns(entries)}
    below_label = ax.transAxes + ScaledTranslation(0, -40 / 72, ax.figure.dpi_scale_trans)
    tight = {"columnspacing": 1, "handletextpad": 0.5, "handlelength": 1.2}
    return {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below_label, "ncols": 2, **tight}


def _roomiest(ax: Axes, legend: Legend, places: Sequence[_Place]) -> _Place:
    crowd, axes, size = _crowd(_drawn(ax)), ax.get_window_extent(), legend.get_window_extent()
    texts = [_Box(*text.get_window_extent().extents) for text in ax.texts]
    margin, near = size.x0 - axes.x0, ax.figure.dpi / 18  # 4 points: a line, and a little air
    right, upper = axes.x1 - margin - size.width, axes.y1 - margin - size.height
    left = {"left": size.x0, "center": (size.x0 + right) / 2, "right": right}
    low = {"lower": size.y0, "center": (size.y0 + upper) / 2, "upper": upper}

    def covered(place: _Place) -> int:
        vertical, horizontal = place.split()
        x, y = left[horizontal], low[vertical]
        box = _Box(x - near, y - near, x + size.width + near, y + size.height + near)
        return crowd(box) + 50 * sum(box.overlaps(text) for text in texts)

    return min(places, key=covered)


def _drawn(ax: Axes) -> tuple[Any, Any]:
    """Points along all curves, in pixels: x and y."""
    import numpy as np

    curves = [_along(line.get_path().vertices) for line in ax.get_lines() if line.get_label() not in BACKGROUND]
    x, y = ax.transData.transform(np.concatenate([np.empty((0, 2)), *curves])).T.copy()
    return x, y


def _crowd(drawn: tuple[Any, Any]) -> Callable[[_Box], int]:
    """How many of the points lie within a box, from sums over all pixels below and to the left of each."""
    import numpy as np

    x, y = (np.floor(pixels).astype(np.int64) for pixels in drawn)
    if not len(x):
        return lambda box: 0
    left, low = x.min(), y.min()
    counts = np.zeros((x.max() - left + 2, y.max() - low + 2), np.int64)
    np.add.at(counts, (x - left + 1, y - low + 1), 1)
    sums = counts.cumsum(0).cumsum(1)

    def inside(box: _Box) -> int:
        x0, x1 = (int(np.clip(edge - left, 0, sums.shape[0] - 1)) for edge in (box.left, box.right))
        y0, y1 = (int(np.clip(edge - low, 0, sums.shape[1] - 1)) for edge in (box.low, box.high))
        return int(sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0])

    return inside


def _write(ax: Axes, wanted: Sequence[tuple[Point, str, Any]]) -> None:
    """Put each text on that side of its point where it overlaps least with lines, points and the texts before it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke

    halo = withStroke(linewidth=2, foreground=ax.get_facecolor())  # contours and baselines may run behind a text
    to_pixels = ax.figure.dpi / 72
    letter = FontProperties(size="small").get_size_in_points() * to_pixels
    crowd, axes = _crowd(_drawn(ax)), _Box(*ax.get_window_extent().extents)
    taken: list[_Box] = []

    for point, text, colour in wanted:
        # An estimate: the true width is known only once the figure is laid out.
        lines = text.replace("$F_{", "F").replace("}$", "").split("\n")
        size = max(map(len, lines)) * 0.64 * letter, len(lines) * 1.2 * letter
        boxes = [_beside(ax.transData.transform((point.x, point.y)), size, side, letter) for side in _SIDES]
        costs = [
            0.1 * rank + crowd(box) + 50 * sum(box.overlaps(other) for other in taken) + 200 * (not box.within(axes))
            for rank, box in enumerate(boxes)
        ]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        h, v, far = _SIDES[best]
        ax.annotate(
            text,
            (point.x, point.y),
            xytext=(h * far * letter / to_pixels, v * far * letter / to_pixels),
            textcoords="offset points",
            horizontalalignment=_HORIZONTAL[h],
            verticalalignment=_VERTICAL[v],
            fontsize="small",
            color=colour,
            path_effects=[halo],
        ).set_in_layout(False)


def _beside(point: Any, size: tuple[float, float], side: tuple[int, int, float], letter: float) -> _Box:
    (x, y), (width, height), (h, v, far) = point, size, side
    left, low = x + h * far * letter - width * (1 - h) / 2, y + v * far * letter - height * (1 - v) / 2
    return _Box(left, low, left + width, low + height)


def _along(vertices: Any) -> Any:
    """Points along the steps through these vertices, near enough to one another for a text to meet one."""
    import numpy as np

    x, y = vertices[:: 1 + len(vertices) // 2000].T
    corners = np.column_stack([np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]])
    way = np.linspace(0, 1, 30)[:, None, None]
    return (corners[:-1] * (1 - way) + corners[1:] * way).reshape(-1, 2)
