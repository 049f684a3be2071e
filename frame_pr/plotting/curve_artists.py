"""Draw the artists of a plot of curves: lines, areas, bands, contours, baselines and marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.plotting import curve_data
from frame_pr.plotting.appearance import DASHED, grey
from frame_pr.plotting.curve_data import Y_KEY, Average, DrawnCurve
from frame_pr.plotting.legends import (
    BASELINE,
    CONTOURS,
    GROUPS,
    GUIDE,
    MARK,
    SHARED,
    explain_marks,
    is_baseline,
    number_text,
    with_numbers,
)
from frame_pr.plotting.options import SPREADS, AxisQuantity, PlotOptions, axis_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE = "_curve"
"""Label of curves that the legend explains by colour and line style."""
EDGES = 100
"""The most rectangles with edges."""
_STEPS = 2048
"""Steps of an area from which narrow steps are merged, because matplotlib draws all corners of areas."""
_LONG = 2**14
"""Points from which a line is drawn without the points that no pixel shows."""
_CELLS = 2**13
"""Cells of the x axis. Within each of them, a long line keeps its ends and its extremes."""
_FAINT, _FILL = 0.3, 0.25
"""Opacity of the curve after rank k, and of areas."""
_MARKED = 20
"""The most thresholds that have points."""
_BANDS = 2
"""The most averages with bands. More averages have lines at the edges of the bands."""
_BENDS = 400
"""Points of a curve that bends between few thresholds."""
_BASELINES = 3
"""The most baselines with lines. More baselines are drawn as a band."""


class CurveStyle(NamedTuple):
    """The line properties of a curve, and what its colour and its line style show."""

    line: dict[str, Any]
    hue: str
    """The system or group that the colour shows."""
    group: str | None
    """The group that the line style shows, if colours show systems."""


def named_curves(ax: Axes) -> list[Any]:
    """Return the curves of the axes, without entries of the legend and additional lines."""
    return [
        line
        for line in ax.get_lines()
        if line.get_gid() is None
        and (line.get_label() == CURVE or not str(line.get_label()).startswith(("_", BASELINE)))
    ]


def draw_content(
    ax: Axes,
    curves: Sequence[DrawnCurve],
    labels: Sequence[str],
    styles: Sequence[CurveStyle],
    options: PlotOptions,
    others: Sequence[DrawnCurve] = (),
    mark_names: Sequence[str] | None = None,
    label_marks: bool = True,
) -> None:
    """Draw curves with their marks, the baseline and contours."""
    before = named_curves(ax)
    _draw_iso_f(ax, options)
    guides: dict[str, tuple[float, Any]] = {}
    shares: list[tuple[float | None, Any]] = []
    marks = explain_marks(curves, mark_names, options)
    for curve, label, style, of_curve in zip(curves, labels, styles, marks, strict=True):
        if isinstance(curve, Average):
            _draw_average(ax, curve, label, options, style.line, len(curves))
        else:
            draw_curve(ax, curve, label, options, style.line)
        colour = style.line["color"]
        shares.append((curve.numbers["prevalence"], colour))
        for mark, text in of_curve:
            point = mark.point
            draw_points(ax, [point.x], [point.y], colour, mark.shape, text if label_marks else "_mark").set_gid(MARK)
            place, other = guides.get(mark.text, (point.x, colour))
            guides[mark.text] = place, colour if other == colour else grey(ax, 0.6)
    for place, colour in guides.values() if options.x == "threshold" else ():
        ax.axvline(place, color=colour, linewidth=0.8, zorder=1, label=GUIDE)
    if options.baseline:
        if len(options.ys) == 1 and (references := axis_quantity(options.ys[0]).references):
            _draw_references(ax, shares, references)
        elif options.has_chance_line:
            _draw_chance(ax, options, curves)
        elif options.ys == ("precision",):
            shares += [(curve.numbers["prevalence"], grey(ax, 0.7)) for curve in others]
            _draw_baselines(ax, shares, options.decimals if label_marks else None, as_band=bool(others))
    if not before and not any(curve.has_points for curve in curves):
        rows = any(curve.blocks.height for curve in curves)
        positives = any(curve.numbers["positives"] for curve in curves)
        write_reason(ax, "no positives" if rows and not positives else "nothing retrieved" if positives else "no rows")


def draw_curve(ax: Axes, curve: DrawnCurve, label: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """Draw a curve, with its area, envelope and levels."""
    blocks = curve.blocks
    if not curve.has_points:
        ax.plot([], [], label=label, **line)
        return
    if blocks.height <= (EDGES if options.rectangles and options.points != 101 else _MARKED):
        line = {"marker": "o", "markersize": 4, **line}
    if not options.is_pr:
        _draw_line(ax, blocks, curve.key.get(Y_KEY, options.ys[0]), options, {**line, "label": label})
        return
    height = "interpolated_precision" if options.interpolated else "precision"
    if options.k is not None:
        alpha = _FAINT * (1 if line.get("alpha") is None else line["alpha"])
        _draw_steps(ax, blocks, "precision", {**line, "alpha": alpha, "label": "_rest"})
        blocks = curve_data.first_k(blocks, options.k)
    if options.rectangles:
        _draw_rectangles(ax, curve_data.steps_of(blocks, height, most=_STEPS), line["color"], options.points != 101)
    if options.interpolated:
        _fill_steps(ax, blocks, "precision", height, line["color"])
        _draw_steps(ax, blocks, height, {**line, "marker": "", "linestyle": DASHED, "label": "_envelope"})
        add_entry(ax, "interpolated", linestyle=DASHED)
        if options.points is not None:
            levels, envelope = curve_data.recall_levels(curve, options.points)
            shape = "s" if options.points == 11 else "."
            draw_points(ax, levels, envelope, line["color"], shape, "_levels")
            add_entry(ax, f"{options.points} levels of recall", linestyle="", marker=shape)
    _draw_steps(ax, blocks, "precision", {**line, "label": label})


def add_entry(ax: Axes, label: str, **properties: Any) -> None:
    """Add an entry to the legend, once, for a line or area that several curves have."""
    if label not in ax.get_legend_handles_labels()[1]:
        ax.plot([], [], **{"color": grey(ax, 0.5), "linewidth": 1, "label": label, "gid": SHARED, **properties})


def _draw_average(
    ax: Axes, average: Average, label: str, options: PlotOptions, line: dict[str, Any], averages: int
) -> None:
    """Draw the mean curve of many groups, and its spread. `averages` is the number of means in the axes."""
    if not average.has_points:
        ax.plot([], [], label=label, **line)
        return
    if not options.is_pr:
        # Values at ranks are points, not steps.
        line = {"drawstyle": "default", **line}
    if options.spread is not None:
        low, high, words = SPREADS[options.spread]
        has_lines = averages > _BANDS or options.spread == "groups"
        if options.spread == "groups":
            _draw_groups(ax, average, line)
        elif (band := average.blocks.drop_nulls([low, high])).height:
            for edge in (low, high) if has_lines else ():
                _draw_steps(ax, band, edge, {**line, "marker": "", "linewidth": 0.6, "alpha": 0.6, "label": "_edge"})
            if not has_lines:
                _fill_steps(ax, band, low, high, line["color"], steps=options.is_pr)
        add_entry(ax, words, **({"linewidth": 0.7} if has_lines else {"linewidth": 6, "alpha": _FILL}))
    _draw_steps(ax, average.blocks, "precision", {**line, "label": label})


def _draw_baselines(
    ax: Axes, shares: Sequence[tuple[float | None, Any]], decimals: int | None, *, as_band: bool
) -> None:
    """Draw the prevalences, which are the mean precision of random rankings: as dotted lines, or many as a band.

    `decimals`: of the values in the legend. None: the legend has no values.
    """
    colours: dict[float, tuple[float, Any]] = {}
    for share, colour in shares:
        if share:
            _, other = colours.setdefault(round(share, 2), (share, colour))
            if other != colour:  # several systems with the prevalence of one group
                colours[round(share, 2)] = (share, grey(ax, 0.5))
    lines: list[Any] = [line for line in ax.get_lines() if line.get_label() == f"_{BASELINE}"]
    bands = [patch.get_extents() for patch in ax.patches if patch.get_label() == f"_{BASELINE}"]
    before = [line.get_ydata()[0] for line in lines]
    heights = [share for share, _ in colours.values()]
    every = [*heights, *before, *(y for band in bands for y in band.transformed(ax.transData.inverted()).intervaly)]
    if not every:
        return
    is_band = len(colours) > (1 if as_band else _BASELINES)
    properties: dict[str, Any] = {"color": grey(ax, 0.5), "alpha": 0.2} if is_band else {"linestyle": ":"}
    for line in ax.get_lines():
        if line.get_gid() == SHARED and is_baseline(line.get_label()):
            line.remove()
    values = dict.fromkeys(number_text(height, decimals or 0) for height in (min(every), max(every)))
    label = BASELINE if decimals is None else with_numbers(BASELINE, " to ".join(values))
    add_entry(ax, label, **properties | {"linewidth": 6 if is_band else 1})
    if is_band:
        ax.axhspan(min(heights), max(heights), linewidth=0, zorder=0.5, label=f"_{BASELINE}", **properties)
        return
    for share, colour in colours.values():
        if any(abs(height - share) < 0.005 for height in before):
            continue
        colour = colour if before or len(colours) > 1 else grey(ax, 0.5)
        ax.axhline(share, color=colour, linestyle=":", linewidth=1, zorder=1, label=f"_{BASELINE}")


def _draw_references(
    ax: Axes, shares: Sequence[tuple[float | None, Any]], references: Mapping[str, Callable[[float, Any], Any]]
) -> None:
    """Draw the lines of reference of a quantity: of one prevalence in grey, of several in the colours of curves."""
    import numpy as np

    lines = {round(share, 2): (share, colour) for share, colour in shares if share}
    t = np.append(np.linspace(0, 0.95, 200), np.linspace(0.951, 0.999, 100))
    for stroke, (name, height) in zip((":", "--"), references.items(), strict=False):
        for share, colour in lines.values():
            colour = grey(ax, 0.5) if len(lines) == 1 else colour
            line: dict[str, Any] = {"color": colour, "linestyle": stroke, "linewidth": 1, "zorder": 1}
            heights = height(share, t)
            if np.ptp(heights) == 0:
                ax.axhline(heights[0], label=f"_{BASELINE}", **line)
            else:
                ax.plot(t, heights, label=f"_{BASELINE}", scalex=False, scaley=False, **line)
        if lines:
            add_entry(ax, name, linestyle=stroke)


def _draw_chance(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve]) -> None:
    """Draw the line of a random ranking, and for gains that of a perfect ranking."""
    import numpy as np

    properties: dict[str, Any] = {"color": grey(ax, 0.5), "linewidth": 1, "zorder": 1, "label": f"_{BASELINE}"}
    if all(line.get_label() != properties["label"] for line in ax.get_lines()):
        # The line bends unless both scales are linear.
        x = np.array([0, 1]) if {*options.scales} <= {None, "linear"} else np.geomspace(1e-9, 1 - 1e-9, 500)
        ax.plot(x, 1 - x if options.is_det else x, linestyle=":", **properties)
    add_entry(ax, with_numbers("random ranking", "AUC = 0.5" if options.is_roc else ""), linestyle=":")
    if options.is_gain:
        for share in {curve.numbers["prevalence"] for curve in curves if curve.numbers["prevalence"]}:
            ax.plot([0, share, 1], [0, 1, 1], linestyle="--", **properties)
        add_entry(ax, "perfect ranking", linestyle="--")


def _draw_iso_f(ax: Axes, options: PlotOptions) -> None:
    """Draw contours of equal F: precision = F r / ((1 + b^2) r - b^2 F)."""
    from matplotlib.collections import LineCollection

    if not options.iso_f:
        return
    square, contours = float(options.beta) ** 2, []
    for f in options.iso_f:
        start = square * f / (1 + square - f)  # the recall at which precision 1 gives this F
        recall = [start + (1 - start) * (i / 200) ** 2 for i in range(201)]
        contours.append([(r, f * r / ((1 + square) * r - square * f)) for r in recall])
        text = f"F{options.beta} = {f:g}" if f == max(options.iso_f) else f"{f:g}"
        properties: dict[str, Any] = {"fontsize": "x-small", "color": grey(ax, 0.35), "ha": "right", "va": "center"}
        ax.text(1.0, contours[-1][-1][1], text, zorder=0.6, path_effects=[halo(ax)], **properties).set_gid(CONTOURS)
    ax.add_collection(
        LineCollection(contours, colors=grey(ax, 0.6), linewidths=0.7, zorder=0.5, label=CONTOURS), autolim=False
    )


def halo(ax: Axes) -> Any:
    """Return an outline in the colour of the background, for text on lines."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=2, foreground=ax.get_facecolor())


def draw_points(ax: Axes, x: Sequence[float], y: Sequence[float], colour: Any, shape: str, label: str) -> Any:
    """Draw points with an edge in the colour of the background."""
    size = 8 if shape == "." else 6
    return ax.plot(
        x, y, shape, color=colour, markersize=size, markeredgecolor=ax.get_facecolor(), zorder=3, label=label
    )[0]


def write_reason(ax: Axes, sentence: str) -> None:
    """Write the reason into the middle of axes without curves."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))


def _draw_steps(ax: Axes, blocks: pl.DataFrame, height: str, line: dict[str, Any]) -> None:
    """Draw the steps of a curve: each precision holds from the previous recall, as in the sum of the area."""
    steps = line.get("drawstyle") != "default"
    recall, precision = _visible(blocks["recall"].to_numpy(), blocks[height].to_numpy())
    if steps and blocks.height:
        recall, precision = _from_zero(recall, precision)
    # The left end of the first step is no threshold, so it has no marker.
    ax.plot(recall, precision, **{"drawstyle": "steps-pre", "markevery": slice(int(steps), None), **line})


def _visible(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the points of a line without those that no pixel shows, because matplotlib would visit all of them.

    Of successive points in one of 8192 cells of the axis, the first, the last, the lowest and the highest remain. Cells
    also end at evenly and at logarithmically spaced ranks, so that a reader may zoom in or change the scale.
    """
    import numpy as np

    n = len(x)
    if n <= _LONG:
        return x, y
    low, high = x.min(), x.max()
    cells = ((x - low) * (_CELLS / (high - low or 1.0))).astype(np.int32)
    ranks = np.concatenate([np.arange(0, n, n // _CELLS), np.geomspace(1, n - 1, 2000).astype(np.int64)])
    starts = np.unique(np.concatenate([np.flatnonzero(cells[1:] != cells[:-1]) + 1, ranks]))
    sizes = np.diff(starts, append=n)
    lowest, highest = (np.repeat(extreme.reduceat(y, starts), sizes) for extreme in (np.minimum, np.maximum))
    keeps = (y == lowest) | (y == highest)
    keeps[1:] &= y[1:] != y[:-1]
    keeps[starts] = keeps[starts - 1] = True  # The first cell starts at 0, so this keeps the last point, too.
    return x[keeps], y[keeps]


def _draw_line(ax: Axes, blocks: pl.DataFrame, name: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """Draw a curve of other axes than precision against recall: straight lines, or steps against the threshold.

    The ROC curve and gains begin where nothing is predicted; the ROC curve ends where all rows are.
    """
    import numpy as np

    quantity = axis_quantity(name)
    if quantity.at is not None:
        ax.plot(*_between_thresholds(blocks, quantity), **line)
        return
    points = blocks.select("x", "y").drop_nulls().cast(pl.Float64)
    x, y = _visible(points["x"].to_numpy(), points["y"].to_numpy())
    if options.is_roc or options.is_gain:
        x, y = np.append(0.0, x), np.append(0.0, y)
        line = {"markevery": slice(1, None), **line}
    if options.is_gain:
        tenths = [i / 10 for i in range(1, 11)]
        draw_points(ax, tenths, np.interp(tenths, x, y).tolist(), line["color"], ".", "_tenths")
        add_entry(ax, "tenths of the rows", linestyle="", marker=".")
    if options.is_roc:
        x, y = np.append(x, 1.0), np.append(y, 1.0)
    ax.plot(x, y, **{"drawstyle": "steps-post" if options.x == "threshold" else "default", **line})


def _between_thresholds(blocks: pl.DataFrame, quantity: AxisQuantity) -> Any:
    """Return thresholds from 0 to the highest score, and a quantity that depends on the threshold itself."""
    import numpy as np

    columns = ("threshold", "tp", "k", "positives", "rows")
    scores, tp, k, positives, rows = blocks.select(columns).cast(pl.Float64).to_numpy().T[:, ::-1]
    each = max(2, _BENDS // max(1, len(scores)))
    lower = np.append(0.0, scores[:-1])[:, None]
    # The counts of a score hold down to the next lower score.
    t = lower + (scores[:, None] - lower) * np.linspace(1e-9, 1, each)
    counts = (values[:, None] for values in (tp, k - tp, positives, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        at: Any = quantity.at
        heights = at(*counts, t)
    return t.ravel(), np.where(np.isfinite(heights), heights, np.nan).ravel()


def _draw_groups(ax: Axes, average: Average, line: dict[str, Any]) -> None:
    """Draw the curves of the single groups behind their average."""
    import numpy as np
    from matplotlib.collections import LineCollection

    recall = average.blocks["recall"].to_numpy()
    heights = average.members.to_numpy().reshape(-1, len(recall))
    if line.get("drawstyle") != "default":
        recall, heights = np.append(0.0, np.repeat(recall, 2))[:-1], np.repeat(heights, 2, axis=1)
    steps = [np.column_stack([recall, height]) for height in heights]
    ax.add_collection(
        LineCollection(steps, colors=[line["color"]], linewidths=0.6, alpha=0.25, zorder=1, label=GROUPS), autolim=False
    )


def _fill_steps(ax: Axes, blocks: pl.DataFrame, low: str, high: str, colour: Any, steps: bool = True) -> None:
    """Fill the area between two heights."""
    areas = curve_data.steps_of(blocks, low, high, most=_STEPS) if steps else blocks
    recall, *heights = (areas[name].to_numpy() for name in ("recall", low, high))
    if steps:
        recall, *heights = _from_zero(recall, *heights)
    properties: dict[str, Any] = {"color": colour, "alpha": _FILL, "linewidth": 0}
    ax.fill_between(recall, heights[0], heights[1], step="pre" if steps else None, **properties)


def _from_zero(recall: Any, *heights: Any) -> list[Any]:
    """Add the left end of the first step, which is at recall 0."""
    import numpy as np

    return [np.append(0.0, recall), *(np.append(height[:1], height) for height in heights)]


def _draw_rectangles(ax: Axes, steps: pl.DataFrame, colour: Any, edges: bool) -> None:
    """Fill the area under the steps, with an edge around each step if there are few."""
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    right, height = steps.to_numpy().T
    left, zero = np.append(0.0, right)[:-1], np.zeros_like(height)
    corners: Any
    if steps.height <= EDGES and edges:
        corners = np.stack([left, zero, left, height, right, height, right, zero], axis=1).reshape(-1, 4, 2)
        edge: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.6}
    else:
        # Edges would cover narrow rectangles, and antialiasing would show seams. So there is one outline around all.
        top = np.stack([left, height, right, height], axis=1).reshape(-1, 2)
        corners, edge = [np.concatenate([[[0.0, 0.0]], top, [[right[-1], 0.0]]])], {"linewidth": 0}
    ax.add_collection(
        PolyCollection(corners, facecolor=to_rgba(colour, _FILL), label="_rectangles", **edge), autolim=False
    )
