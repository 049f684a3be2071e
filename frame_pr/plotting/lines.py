"""Curves, rectangles, contours and legends, drawn into one matplotlib Axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.plotting import curve_frames, thinning
from frame_pr.plotting.curve_frames import Average, DrawnCurve
from frame_pr.plotting.options import PlotOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours without the yellow, which fades on white; dark and light in turn, and different strokes,
# so that curves can be told apart in grey too. No two of the first 70 have both in common.
_COLOURS = ("#0072B2", "#E69F00", "#000000", "#CC79A7", "#009E73", "#56B4E9", "#D55E00")
_DASHED = (0, (4, 1.5))
_DOTTED = (0, (1, 1))
_STROKES = ("-", "-", _DASHED, _DASHED, "-.", _DOTTED, "-", _DASHED, _DOTTED, "-")
_FAINT = 0.3
_COARSE = thinning.STRIPS // 4
"""Strips of an area, of which nobody sees the single steps: so that files are small."""
_ROWS_IN_PANEL = 4  # of a legend, beyond which it hides the curves
_FILL = 0.25
BASELINE = "prevalence"
"""Label of the precision of a random ranking."""
ISO_F = "_iso_f"
"""Label of the contours."""
EDGES = 100
"""Rectangles and points that can be told apart."""
BACKGROUND = (BASELINE, f"_{BASELINE}")
"""Labels of lines that a text may cross."""
SPREAD = "middle half of the groups"
"""Label of the band around an average."""


def title_of(figure: str) -> str:
    """What an axis is called."""
    titles = {"fpr": "False positive rate", "fnr": "False negative rate", "fdr": "False discovery rate", "npv": "NPV"}
    return titles.get(figure, figure.capitalize())


def prepare(ax: Axes, ticks: int) -> None:
    """From 0 to 1, with room for a line along the edges; for all axes that share theirs with these."""
    places = [i / (ticks - 1) for i in range(ticks)]
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=places, yticks=places)


def square(ax: Axes) -> None:
    """As wide as high."""
    ax.set_box_aspect(1)
    ax.apply_aspect()  # before texts and the legend look for room


def curves_in(ax: Axes) -> int:
    """How many labelled curves are there already: the next one takes the next colour."""
    labels = [str(line.get_label()) for line in ax.get_lines()]
    return len([label for label in labels if not label.startswith("_") and label != BASELINE])


def style(number: int, options: PlotOptions) -> dict[str, Any]:
    """Colour and stroke of the curve of this number; what the caller or a style sheet set comes first."""
    import matplotlib
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle == matplotlib.rcParamsDefault["axes.prop_cycle"]:
        chosen: dict[str, Any] = {
            "color": _COLOURS[number % len(_COLOURS)],
            "linestyle": _STROKES[number % len(_STROKES)],
        }
    else:
        properties = list(cycle)
        chosen = {"color": f"C{number}", **properties[number % len(properties)]}
    return {**chosen, **normalize_kwargs(dict(options.line), Line2D)}


def draw_curve(ax: Axes, curve: DrawnCurve, name: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """All of one curve but the texts."""
    blocks, numbers, decimals = curve.blocks, curve.numbers, options.decimals
    count = [positives_of([curve])] if options.counts else []
    texts = []
    if options.area is not None:
        title, metric = options.area
        texts = [f"{title} undefined" if numbers[metric] is None else f"{title} = {numbers[metric]:.{decimals}f}"]
    if not curve.positives or (options.is_roc and numbers["roc_auc"] is None):
        ax.plot([], [], label=_label(name, *texts, *count), **line)
        return
    if not options.is_pr:
        _draw_line(ax, blocks, options, {**line, "label": _label(name, *texts, *count)})
        return
    if options.rectangles and blocks.height <= EDGES:
        line = {"marker": "o", "markersize": 4, **line}
    if options.k is not None:
        _draw_steps(ax, blocks, "precision", {**line, **_faint(line), "label": "_rest"})
        blocks = curve_frames.first_k(curve, options.k)
    if options.rectangles:
        _draw_rectangles(ax, thinning.rectangles(blocks, options.height, _COARSE, thinning.STRIPS), line["color"])
    if options.interpolated:
        _shade_between(ax, blocks, line["color"])
        _draw_steps(ax, blocks, options.height, {**line, "marker": "", "linestyle": _DASHED, "label": "_envelope"})
        if options.points is not None:
            levels, envelope = curve_frames.recall_levels(curve, options.points)
            dots(ax, levels, envelope, line["color"], "s" if options.points == 11 else ".", "_levels")
        kind = "interpolated" if options.points is None else f"{options.points}-point"
        texts.append(f"{kind} {numbers[options.interpolated_average_precision]:.{decimals}f}")
    _draw_steps(ax, blocks, "precision", {**line, "label": _label(name, *texts, *count)})


def draw_average(ax: Axes, average: Average, name: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """The mean of many groups' curves, and the range of the middle half of them."""
    count = f"{average.groups:,} groups"
    if average.without_positives:
        count += f", {average.without_positives:,} undefined"
    kind = "mean interpolated AP" if options.interpolated else "mean AP"
    if average.mean is None:
        ax.plot([], [], label=_label(name, f"{kind} undefined", count), **line)
        return
    _fill_steps(ax, average.strips, "lower_quartile", "upper_quartile", line["color"])
    if SPREAD not in ax.get_legend_handles_labels()[1]:
        ax.fill_between([], [], [], color="0.5", alpha=_FILL, linewidth=0, label=SPREAD)
    label = _label(name, f"{kind} = {average.mean:.{options.decimals}f}", count)
    _draw_steps(ax, average.strips, "precision", {**line, "label": label})


def draw_baselines(ax: Axes, shares: Sequence[tuple[float | None, Any]]) -> None:
    """The precision of a random ranking: a faint line for every prevalence, grey if there is but one."""
    different = {round(share, 2): (share, colour) for share, colour in shares if share}
    for share, colour in different.values():
        colour = "0.5" if len(different) == 1 else colour
        ax.axhline(share, color=colour, linestyle=":", linewidth=1, zorder=1, label=f"_{BASELINE}")
    if different and all(line.get_label() != BASELINE for line in ax.get_lines()):
        ax.plot([], [], color="0.5", linestyle=":", linewidth=1, label=BASELINE)  # one entry of the legend for all


def draw_diagonal(ax: Axes) -> None:
    """The ROC curve of a random ranking."""
    if all(line.get_label() != f"_{BASELINE}" for line in ax.get_lines()):
        ax.plot([0, 1], [0, 1], color="0.5", linestyle=":", linewidth=1, zorder=1, label=f"_{BASELINE}")


def draw_iso_f(ax: Axes, options: PlotOptions, labelled: bool = True) -> None:
    """Where F is the same: precision = F r / ((1 + b^2) r - b^2 F)."""
    from matplotlib.collections import LineCollection

    if not options.iso_f:
        return
    square, contours = float(options.beta) ** 2, []
    for f in options.iso_f:
        start = square * f / (1 + square - f)  # the recall at which precision 1 gives this F
        recall = [start + (1 - start) * (i / 200) ** 2 for i in range(201)]
        contours.append([(r, f * r / ((1 + square) * r - square * f)) for r in recall])
        if labelled:
            ax.annotate(
                f"$F_{{{options.beta}}}$ = {f:g}" if f == max(options.iso_f) else f"{f:g}",
                (1.02, contours[-1][-1][1]),
                xytext=(3, 0),
                textcoords="offset points",
                verticalalignment="center",
                fontsize="small",
                color="0.35",
                annotation_clip=False,
            )
    ax.add_collection(LineCollection(contours, colors="0.6", linewidths=0.7, zorder=0.5, label=ISO_F), autolim=False)


def positives_of(curves: Sequence[DrawnCurve]) -> str:
    """`P = 120`, of curves that share it."""
    counts = {curve.positives for curve in curves}
    return "P = " + " or ".join(f"{n:,}" if isinstance(n, int) else f"{n:,.6g}" for n in sorted(counts))


def shrink(ax: Axes, title: str) -> None:
    """One of many small axes: smaller letters, and only numbers in the legend."""
    ax.set_title(title, fontsize="small")
    ax.tick_params(labelsize="small")
    handles, labels = ax.get_legend_handles_labels()
    shown = [i for i, label in enumerate(labels) if label != BASELINE]
    small: dict[str, Any] = {
        "fontsize": "x-small",
        "edgecolor": "none",
        "handlelength": 1.2,
        "borderaxespad": 0.2,
        "borderpad": 0,
    }
    named = [labels[i] for i in shown]
    if len(named) > _ROWS_IN_PANEL:
        named = [label.removeprefix("AP = ") for label in named]
        small |= {"ncols": 2, "columnspacing": 0.6, "handlelength": 0.9, "handletextpad": 0.4}
    legend = ax.legend([handles[i] for i in shown], named, loc="lower left", **small)
    legend.set_in_layout(False)


def shared_columns(width: float, names: Sequence[str]) -> int:
    """How many entries of the legend above all panels stand side by side, in a figure of so many inches."""
    longest = max(map(len, [*names, BASELINE]))
    return max(1, min(int(width / (0.55 + 0.075 * longest)), len(names) + 1))


def draw_shared_legend(
    figure: Figure, names: Sequence[str], styles: Sequence[dict[str, Any]], options: PlotOptions
) -> None:
    """Above all panels: the names of the curves, if there are several in each."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **style, label=name) for name, style in zip(names, styles, strict=False)]
    if options.baseline and options.y == "precision":
        handles.append(Line2D([], [], color="0.5", linestyle=":", linewidth=1, label=BASELINE))
    if handles:
        columns = shared_columns(figure.get_figwidth(), names)
        figure.legend(handles=handles, loc="outside upper center", fontsize="small", frameon=False, ncols=columns)


def dots(ax: Axes, x: Sequence[float], y: Sequence[float], colour: Any, shape: str, label: str) -> None:
    """Points that stand out from the curve."""
    size = 8 if shape == "." else 6
    ax.plot(x, y, shape, color=colour, markersize=size, markeredgecolor="white", zorder=3, label=label)


def _label(name: str, *numbers: str) -> str:
    return f"{name} ({', '.join(numbers)})" if name else ", ".join(numbers)


def _faint(line: dict[str, Any]) -> dict[str, Any]:
    alpha = line.get("alpha")
    return {"alpha": _FAINT * (1 if alpha is None else alpha)}


def _draw_steps(ax: Axes, blocks: pl.DataFrame, height: str, line: dict[str, Any]) -> None:
    """Each threshold's precision back to the recall before it, which is how the area under the curve is summed."""
    recall, (precision,) = _vertices(blocks, height)
    # The left end of the first step is no threshold: it gets no marker.
    ax.plot(recall, precision, drawstyle="steps-pre", **{"markevery": slice(1, None), **line})


def _draw_line(ax: Axes, blocks: pl.DataFrame, options: PlotOptions, line: dict[str, Any]) -> None:
    """Straight from threshold to threshold. The ROC curve begins where nothing is predicted, and ends where all is."""
    shown = thinning.thinned(blocks, x="x", y="y")
    x, y = shown["x"].to_list(), shown["y"].to_list()
    if options.is_roc:
        x, y = [0.0, *x, 1.0], [0.0, *y, 1.0]
    ax.plot(x, y, **line)


def _shade_between(ax: Axes, blocks: pl.DataFrame, colour: Any) -> None:
    _fill_steps(ax, blocks, "precision", "interpolated_precision", colour)


def _fill_steps(ax: Axes, blocks: pl.DataFrame, low: str, high: str, colour: Any) -> None:
    recall, heights = _vertices(thinning.thinned(blocks, _COARSE, thinning.STRIPS), low, high)
    ax.fill_between(recall, heights[0], heights[1], step="pre", color=colour, alpha=_FILL, linewidth=0)


def _vertices(blocks: pl.DataFrame, *heights: str) -> tuple[Any, list[Any]]:
    shown = thinning.thinned(blocks)
    start = shown.head(1).with_columns(recall=pl.lit(0.0))
    shown = pl.concat([start, shown])
    return shown["recall"].to_numpy(), [shown[height].to_numpy() for height in heights]


def _draw_rectangles(ax: Axes, steps: pl.DataFrame, colour: Any) -> None:
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    left, right, height = (steps[name].to_numpy() for name in ("left", "right", "height"))
    zero = np.zeros_like(height)
    corners: Any
    if steps.height <= EDGES:
        corners = np.stack([left, zero, left, height, right, height, right, zero], axis=1).reshape(-1, 4, 2)
        edges: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.6}
    else:
        # Edges would paint narrow rectangles over, and antialiasing show the seams: one outline of all.
        top = np.stack([left, height, right, height], axis=1).reshape(-1, 2)
        corners, edges = [np.concatenate([[[left[0], 0.0]], top, [[right[-1], 0.0]]])], {"linewidth": 0}
    ax.add_collection(
        PolyCollection(corners, facecolor=to_rgba(colour, _FILL), label="_rectangles", **edges), autolim=False
    )
