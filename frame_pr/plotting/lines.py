"""Curves, rectangles, bands, contours and baselines, drawn into one matplotlib Axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.metrics.rates import rate_of
from frame_pr.plotting import curve_frames, thinning
from frame_pr.plotting.colours import DASHED, grey
from frame_pr.plotting.curve_frames import Average, DrawnCurve
from frame_pr.plotting.options import SPREADS, PlotOptions
from frame_pr.plotting.room import BASELINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAINT = 0.3
_COARSE = thinning.STRIPS // 4
"""Strips of an area, of which nobody sees the single steps: so that files are small."""
_FILL = 0.25
ISO_F = "_iso_f"
"""Label of the contours."""
EDGES = 100
"""Rectangles and points that can be told apart."""
_FEW = 20
"""Thresholds that are shown as points."""
_BANDS = 2
"""Bands that can be told apart; of more, the edges are drawn."""
_BASELINES = 3
"""Baselines that can be told apart; of more, their range is drawn."""
_MANY = 1000
"""Ranks from which on their axis is logarithmic."""
_SMALL = 1.7
"""Inches of an axes with few ticks."""


def title_of(figure: str) -> str:
    """What an axis is called."""
    return "Share of the rows" if figure == "share" else "Threshold" if figure == "threshold" else rate_of(figure).title


def prepare(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve | Average]) -> None:
    """Limits, with room for a line along the edges, and ticks; for all axes that share theirs with these."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    box = ax.get_window_extent()
    few = min(box.width, box.height) / ax.figure.dpi < _SMALL
    limits = {"x": options.x_limits, "y": options.y_limits}
    for axis, (low, high) in limits.items():
        if low is not None:
            ax.set(**{f"{axis}lim": (low, high)})
    # No list of ticks: the caller may look closer.
    for name, one in (("x", ax.xaxis), ("y", ax.yaxis)):
        one.set_major_locator(MaxNLocator(3 if few else 6, steps=[1, 2, 5, 10]))
        if few and limits[name][1] == 1.02:
            one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if options.x == "k":
        ranks = [each.blocks["k"].max() for each in curves if isinstance(each, DrawnCurve) and each.blocks.height]
        ranks += [each.strips["recall"].max() for each in curves if isinstance(each, Average)]
        if any(isinstance(rank, (int, float)) and rank >= _MANY for rank in ranks):
            ax.set_xscale("log")


def finish(ax: Axes, options: PlotOptions) -> None:
    """Limits that what is drawn decides."""
    if options.is_unbounded:
        ax.autoscale(axis="y")
        ax.set_ylim(bottom=0)


def curves_in(ax: Axes) -> int:
    """How many curves are there already: the next one takes the next colour."""
    named = [line for line in ax.get_lines() if line.get_gid() is None and line.get_label() != BASELINE]
    return len([line for line in named if not str(line.get_label()).startswith("_")])


def draw_curve(ax: Axes, curve: DrawnCurve, label: str, options: PlotOptions, line: dict[str, Any]) -> None:
    """All of one curve but the texts."""
    blocks = curve.blocks
    if not curve.drawn:
        ax.plot([], [], label=label, **line)
        return
    if blocks.height <= (EDGES if options.rectangles and options.points != 101 else _FEW):
        line = {"marker": "o", "markersize": 4, **line}
    if not options.is_pr:
        _draw_line(ax, blocks, options, {**line, "label": label})
        return
    if options.k is not None:
        _draw_steps(ax, blocks, "precision", {**line, **_faint(line), "label": "_rest"})
        blocks = curve_frames.first_k(curve, options.k)
    if options.rectangles:
        steps = thinning.rectangles(blocks, options.height, _COARSE, thinning.STRIPS)
        _draw_rectangles(ax, steps, line["color"], edges=options.points != 101)
    if options.interpolated:
        _shade_between(ax, blocks, line["color"])
        _draw_steps(ax, blocks, options.height, {**line, "marker": "", "linestyle": DASHED, "label": "_envelope"})
        explain(ax, "interpolated", linestyle=DASHED)
        if options.points is not None:
            levels, envelope = curve_frames.recall_levels(curve, options.points)
            shape = "s" if options.points == 11 else "."
            dots(ax, levels, envelope, line["color"], shape, "_levels")
            explain(ax, f"{options.points} levels of recall", linestyle="", marker=shape)
    _draw_steps(ax, blocks, "precision", {**line, "label": label})


def explain(ax: Axes, label: str, **look: Any) -> None:
    """A line of the legend, once, for what curves have in common."""
    if label not in ax.get_legend_handles_labels()[1]:
        ax.plot([], [], **{"color": grey(ax, 0.5), "linewidth": 1, "label": label, **look})[0].set_gid("explained")


def draw_average(
    ax: Axes, average: Average, label: str, options: PlotOptions, line: dict[str, Any], averages: int
) -> None:
    """The mean of many groups' curves, and how these spread; one of so many averages."""
    if not average.strips.height:
        ax.plot([], [], label=label, **line)
        return
    if not options.is_pr:
        # At ranks, which are points.
        line = {"drawstyle": "default", **line}
    if options.spread == "groups":
        _draw_groups(ax, average, line)
    elif options.spread is not None:
        low, high, _ = SPREADS[options.spread]
        band = average.strips.filter(pl.col(low).is_not_null())
        if averages > _BANDS:
            for edge in (low, high):
                _draw_steps(ax, band, edge, {**line, "marker": "", "linewidth": 0.6, "alpha": 0.6, "label": "_edge"})
        elif band.height:
            _fill_steps(ax, band, low, high, line["color"], steps=options.is_pr)
    if options.spread is not None:
        words, thin = SPREADS[options.spread][2], averages > _BANDS or options.spread == "groups"
        explain(ax, words, **({"linewidth": 0.7} if thin else {"linewidth": 6, "alpha": _FILL}))
    _draw_steps(ax, average.strips, "precision", {**line, "label": label})


def draw_baselines(ax: Axes, shares: Sequence[tuple[float | None, Any]]) -> None:
    """The precision of a random ranking: a faint line for every prevalence, grey if there is but one."""
    different: dict[float, tuple[float, Any]] = {}
    for share, colour in shares:
        if share:
            _, other = different.setdefault(round(share, 2), (share, colour))
            if other != colour:  # that of a group, whose systems have a colour each
                different[round(share, 2)] = (share, grey(ax, 0.5))
    before: list[Any] = [line.get_ydata() for line in ax.get_lines() if line.get_label() == f"_{BASELINE}"]
    if different:
        explain(ax, BASELINE, linestyle=":")
    if len(different) > _BASELINES:
        heights = [share for share, _ in different.values()]
        ax.axhspan(min(heights), max(heights), color=grey(ax, 0.5), alpha=0.2, linewidth=0, zorder=0.5)
        return
    for share, colour in different.values():
        if any(abs(heights[0] - share) < 0.005 for heights in before):
            continue
        colour = colour if before or len(different) > 1 else grey(ax, 0.5)
        ax.axhline(share, color=colour, linestyle=":", linewidth=1, zorder=1, label=f"_{BASELINE}")


def draw_chance(ax: Axes, options: PlotOptions, curves: Sequence[DrawnCurve]) -> None:
    """What a random ranking has, and where gains are drawn, a perfect one."""
    look: dict[str, Any] = {"color": grey(ax, 0.5), "linewidth": 1, "zorder": 1, "label": f"_{BASELINE}"}
    if all(line.get_label() != look["label"] for line in ax.get_lines()):
        if options.is_unbounded:
            ax.axhline(1, linestyle=":", **look)
        else:
            ax.plot([0, 1], [0, 1], linestyle=":", **look)
    if options.is_gain:
        for share in {curve.prevalence for curve in curves if curve.prevalence}:
            ax.plot([0, share, 1], [0, 1, 1], linestyle="--", **look)
        explain(ax, "perfect ranking", linestyle="--")


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
                f"F{options.beta} = {f:g}" if f == max(options.iso_f) else f"{f:g}",
                (1.02, contours[-1][-1][1]),
                xytext=(3, 0),
                textcoords="offset points",
                verticalalignment="center",
                fontsize="small",
                color=grey(ax, 0.35),
                annotation_clip=False,
            ).set_gid(ISO_F)
    ax.add_collection(
        LineCollection(contours, colors=grey(ax, 0.6), linewidths=0.7, zorder=0.5, label=ISO_F), autolim=False
    )


def dots(ax: Axes, x: Sequence[float], y: Sequence[float], colour: Any, shape: str, label: str) -> Any:
    """Points that stand out from the curve."""
    size = 8 if shape == "." else 6
    return ax.plot(
        x, y, shape, color=colour, markersize=size, markeredgecolor=ax.get_facecolor(), zorder=3, label=label
    )[0]


def say(ax: Axes, sentence: str) -> None:
    """In the middle of what would be empty."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35))


def _faint(line: dict[str, Any]) -> dict[str, Any]:
    alpha = line.get("alpha")
    return {"alpha": _FAINT * (1 if alpha is None else alpha)}


def _draw_steps(ax: Axes, blocks: pl.DataFrame, height: str, line: dict[str, Any]) -> None:
    """Each threshold's precision back to the recall before it, which is how the area under the curve is summed."""
    steps = line.get("drawstyle") != "default"
    recall, (precision,) = _vertices(blocks, height, start=steps)
    # The left end of the first step is no threshold: it gets no marker.
    ax.plot(recall, precision, **{"drawstyle": "steps-pre", "markevery": slice(int(steps), None), **line})


def _draw_line(ax: Axes, blocks: pl.DataFrame, options: PlotOptions, line: dict[str, Any]) -> None:
    """From threshold to threshold: straight, but where a figure holds up to the next one.

    The ROC curve, and gains, begin where nothing is predicted; the former ends where all is.
    """
    shown = thinning.thinned(blocks.filter(pl.col("y").is_not_null()), x="x", y="y", logarithmic=options.x == "k")
    x, y = shown["x"].to_list(), shown["y"].to_list()
    if options.is_roc or options.is_gain:
        x, y = [0.0, *x], [0.0, *y]
        line = {"markevery": slice(1, None), **line}
    if options.is_gain:
        import numpy as np

        tenths = [i / 10 for i in range(1, 11)]
        dots(ax, tenths, np.interp(tenths, x, y).tolist(), line["color"], ".", "_tenths")
        explain(ax, "tenths of the rows", linestyle="", marker=".")
    if options.is_roc:
        x, y = [*x, 1.0], [*y, 1.0]
    ax.plot(x, y, **{"drawstyle": "steps-post" if options.x == "threshold" else "default", **line})


def _draw_groups(ax: Axes, average: Average, line: dict[str, Any]) -> None:
    from matplotlib.collections import LineCollection

    width = average.strips.height
    heights = average.members.to_numpy().reshape(-1, width)
    recall = average.strips["recall"].to_numpy()
    import numpy as np

    x = np.column_stack([np.concatenate([[0.0], recall[:-1]]), recall]).ravel()
    if line.get("drawstyle") == "default":
        steps = [np.column_stack([recall, one]) for one in heights]
    else:
        steps = [np.column_stack([x, np.repeat(one, 2)]) for one in heights]
    ax.add_collection(
        LineCollection(steps, colors=[line["color"]], linewidths=0.6, alpha=0.25, zorder=1, label="_groups"),
        autolim=False,
    )


def _shade_between(ax: Axes, blocks: pl.DataFrame, colour: Any) -> None:
    _fill_steps(ax, blocks, "precision", "interpolated_precision", colour)


def _fill_steps(ax: Axes, blocks: pl.DataFrame, low: str, high: str, colour: Any, steps: bool = True) -> None:
    recall, heights = _vertices(thinning.thinned(blocks, _COARSE, thinning.STRIPS), low, high, start=steps)
    ax.fill_between(
        recall, heights[0], heights[1], step="pre" if steps else None, color=colour, alpha=_FILL, linewidth=0
    )


def _vertices(blocks: pl.DataFrame, *heights: str, start: bool = True) -> tuple[Any, list[Any]]:
    shown = thinning.thinned(blocks)
    if start:
        shown = pl.concat([shown.head(1).with_columns(recall=pl.lit(0.0)), shown])
    return shown["recall"].to_numpy(), [shown[height].to_numpy() for height in heights]


def _draw_rectangles(ax: Axes, steps: pl.DataFrame, colour: Any, edges: bool) -> None:
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    left, right, height = (steps[name].to_numpy() for name in ("left", "right", "height"))
    zero = np.zeros_like(height)
    corners: Any
    if steps.height <= EDGES and edges:
        corners = np.stack([left, zero, left, height, right, height, right, zero], axis=1).reshape(-1, 4, 2)
        edge: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.6}
    else:
        # Edges would paint narrow rectangles over, and antialiasing show the seams: one outline of all.
        top = np.stack([left, height, right, height], axis=1).reshape(-1, 2)
        corners, edge = [np.concatenate([[[left[0], 0.0]], top, [[right[-1], 0.0]]])], {"linewidth": 0}
    ax.add_collection(
        PolyCollection(corners, facecolor=to_rgba(colour, _FILL), label="_rectangles", **edge), autolim=False
    )
