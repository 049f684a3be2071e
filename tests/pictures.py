"""Draws the kinds of plots that people make, and lists what a reader would call broken.

Usage: python tests/pictures.py [directory] [part of a name]. With a directory, it also saves the
pictures; with a part of a name, it draws only pictures with such a name.

A fault is a text that is cut or overlaps another one, a legend that covers data, a title or axes,
axes that are squeezed, or a warning about the layout.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.transforms import Bbox

import frame_pr as fp

# Lines that a legend may cover, because they go through all of the axes.
BACKGROUND = {"_baseline", "_guide", "_mean", "_leader"}
_LEAST_WIDTH = 1.0
"""The least width of axes in inches."""
_TOUCH = 1.5
"""Texts whose boxes share at most so many pixels only touch."""


def faults(figure: Any) -> list[str]:
    """Return the faults of a figure."""
    figure.canvas.draw()
    texts = list(_texts(figure))
    found = [f"cut: {text!r}" for text, box in texts if _is_outside(box, figure.bbox)]
    for (one, box), (other, place) in combinations(texts, 2):
        width = min(box.x1, place.x1) - max(box.x0, place.x0)
        height = min(box.y1, place.y1) - max(box.y0, place.y0)
        if width > _TOUCH and height > _TOUCH:
            found.append(f"{one!r} overlaps {other!r}")
    for ax in figure.axes:
        if ax.get_legend():
            found += _covered(ax.get_legend(), figure.axes)
        width = ax.get_window_extent().width / figure.dpi
        is_bar = ax.get_label() == "<colorbar>"
        if width < min(_LEAST_WIDTH, 0.15 * figure.get_figwidth()) and not is_bar:
            found.append(f"axes {width:.2f} inches wide")
    for legend in figure.legends:
        found += _covered(legend, figure.axes)
        box = legend.get_window_extent()
        for ax in figure.axes:
            if ax.get_window_extent().overlaps(box) or ax.title.get_window_extent().overlaps(box):
                found.append(f"the legend covers axes or their title {ax.get_title()!r}")
    return found


def _texts(figure: Any) -> Iterator[tuple[str, Bbox]]:
    """Yield the visible texts of a drawn figure, and their boxes in pixels."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:  # such ticks are not drawn
                    tick.label1.set_visible(False)
    for text in figure.findobj(mpl.text.Text):
        box = text.get_window_extent()
        if text.get_visible() and text.get_text().strip() and box.width > 0:
            yield text.get_text(), box


def _is_outside(box: Bbox, figure: Bbox) -> bool:
    return box.x0 < -1 or box.y0 < -1 or box.x1 > figure.x1 + 1 or box.y1 > figure.y1 + 1


def _covered(legend: Any, axes: Any) -> Iterator[str]:
    """Yield what a legend covers."""
    frame = legend.get_frame().get_window_extent()
    inner = Bbox([[frame.x0 + 2, frame.y0 + 2], [frame.x1 - 2, frame.y1 - 2]])
    for ax in axes:
        box = Bbox.intersection(inner, ax.get_window_extent())
        if box is None:
            continue
        for artist in ax.get_children():
            if any(path.intersects_bbox(box, filled=False) for path in _paths(artist, ax)):
                yield f"the legend covers {artist.get_label() or type(artist).__name__!r}"


def _paths(artist: Any, ax: Any) -> Iterator[mpl.path.Path]:
    """Yield the outlines of data in pixels."""
    if isinstance(artist, mpl.lines.Line2D) and artist.get_label() not in BACKGROUND:
        x = np.asarray(artist.get_xdata(orig=False), float)
        y = np.asarray(artist.get_ydata(orig=False), float)
        if artist.get_drawstyle() != "default":
            x, y = STEP_LOOKUP_MAP[artist.get_drawstyle()](x, y)
        vertices = artist.get_transform().transform(np.column_stack([x, y]))
        if len(vertices) == 1:
            vertices = vertices + np.array([[0, 0], [1, 1]])
        if np.isfinite(vertices).all(axis=1).any():
            yield mpl.path.Path(vertices)
    elif isinstance(artist, mpl.collections.LineCollection):
        for path in artist.get_paths():
            yield artist.get_transform().transform_path(path)
    elif (
        isinstance(artist, mpl.patches.Rectangle | mpl.patches.StepPatch) and artist is not ax.patch
    ):
        yield artist.get_transform().transform_path(artist.get_path())


# The rows

RNG = np.random.default_rng(5)
NAMES = [
    *("Austria", "Belgium", "Denmark", "Germany", "France", "Poland", "Spain"),
    "United Kingdom of Great Britain",
]
SYSTEMS = ["logistic", "tree", "forest", "boosting", "nearest neighbours"]


def _rows(n: int = 6000, rate: float = 0.15) -> pl.DataFrame:
    """Rows of five systems, eight countries, two sizes, 200 queries, 400 days and ten classes."""
    truth = RNG.random(n) < rate
    country = RNG.integers(8, size=n)
    columns: dict[str, Any] = {"truth": truth, "country": np.array(NAMES)[country]}
    for strength, name in zip((2.4, 1.0, 1.8, 2.2, 1.4), SYSTEMS, strict=True):
        columns[name] = 1 / (1 + np.exp(1 - strength * truth - RNG.normal(size=n)))
    columns |= {"big": RNG.random(n) < 0.5, "query": np.arange(n) % 200}
    columns |= {"class": RNG.integers(10, size=n), "day": np.arange(n) % 400}
    frame = pl.DataFrame(columns).with_columns(
        day=pl.date(2025, 1, 1) + pl.duration(days=pl.col("day")),
        segment=pl.col("class") % 3,
        fold=pl.col("query") % 5,
        rounded=pl.col("tree").round(1),
        amount=pl.Series(RNG.lognormal(4, 2, n)),
        guess=pl.when(pl.col("truth")).then("class").otherwise(pl.col("day") % 10),
    )
    return frame.with_columns(month=pl.col("day").dt.truncate("1mo"))


RUN = _rows()
RARE = _rows(40_000, 0.002)
THREE = SYSTEMS[:3]
FEW = RUN.filter(pl.col("country").is_in(NAMES[:3]))
FEW_LONG = RUN.filter(pl.col("country").is_in(NAMES[5:]))
WITHOUT = RUN.with_columns(truth=pl.col("truth") & ~pl.col("country").is_in(NAMES[5:7]))
TEN = pl.DataFrame({"relevant": [1, 1, 0, 1, 0, 1, 0, 0, 0, 1], "score": range(10, 0, -1)})
Draw = Callable[..., Any]


def _intervals(metrics: Any, score: Any, by: Any, frame: pl.DataFrame = RUN) -> Any:
    return frame.pr.intervals(metrics, "truth", score, by=by)


def _plot(score: Any, frame: pl.DataFrame = RUN, **options: Any) -> Draw:
    return partial(fp.plot, frame, "truth", score, **options)


def _forest(*arguments: Any, **options: Any) -> Draw:
    return lambda **to: fp.plot_intervals(_intervals(*arguments), **options, **to)


def _values(score: Any, by: Any, metric: Any = "roc_auc", frame: pl.DataFrame = RUN) -> Any:
    return frame.pr.evaluate(metric, "truth", score, by=by)


ROC = {"x": "fpr", "y": "recall"}
DET = {"x": "fpr", "y": "fnr"}
THRESHOLD: dict[str, Any] = {"x": "threshold"}
BENEFIT = {"x": "threshold", "y": "net_benefit"}
CURVES: dict[str, Draw] = {
    "explained": partial(fp.plot, TEN, "relevant", "score", rectangles=True),
    "one": _plot("forest"),
    "three": _plot(THREE),
    "five": _plot(SYSTEMS),
    "three groups": _plot("tree", FEW, by="country"),
    "eight groups": _plot("tree", by="country"),
    "ten groups": _plot("tree", by="class"),
    "two keys": _plot("tree", FEW, by=["country", "big"]),
    "systems and groups": _plot(THREE[:2], FEW, by="country"),
    "long systems and groups": _plot(THREE[:2], FEW_LONG, by="country"),
    "highlight": _plot("tree", by="query", highlight=2),
    "mean": _plot(THREE[:2], mean_over="query"),
    "mean of groups": _plot("tree", FEW, by="country", mean_over="query"),
    "folds": _plot(THREE, mean_over="fold"),
    "mean by rank": _plot(THREE, mean_over="query", x="k", y="recall"),
    "interval": _plot(THREE[:1], interval=True),
    "rare": _plot(THREE, RARE),
    "weights": _plot(THREE, weight="amount"),
    "without positives": _plot("tree", WITHOUT, by="country"),
    "interpolated": _plot("tree", interpolated=True),
    "marks": _plot("tree", mark=["max_f1", "recall=0.8", 0.5]),
    "marks of systems": _plot(THREE, mark="max_f1"),
    "ROC": _plot(THREE, **ROC),
    "ROC of eight groups": _plot("tree", by="country", **ROC),
    "DET": _plot(THREE, **DET),
    "gain curve": _plot(THREE, x="share", y="recall"),
    "lift": _plot(THREE, x="share", y="lift"),
    "thresholds": _plot("tree", y=["precision", "recall", "f1"], mark="max_f1", **THRESHOLD),
    "precision of groups": _plot("tree", FEW, by="country", y="precision", **THRESHOLD),
    "benefit": _plot(["logistic", "rounded"], mark=0.2, **BENEFIT),
    "cost": _plot(THREE, x="threshold", y="cost10"),
    "ranks": _plot("tree", x="k", y=["precision", "recall"]),
}
PANELS: dict[str, Draw] = {
    "two panels": _plot(
        "tree", FEW.filter(pl.col("country") != NAMES[0]), by="country", facet=True
    ),
    "three panels with a long name": _plot("tree", FEW_LONG, by="country", facet=True),
    "eight panels": _plot("tree", by="country", facet=True),
    "eight panels of systems": _plot(THREE, by="country", facet=True),
    "panels of two keys": _plot("tree", by=["country", "big"], facet=True),
    "panels of systems": _plot(SYSTEMS, facet=True),
    "panels interpolated": _plot("tree", FEW_LONG, by="country", facet=True, interpolated=True),
    "panels with marks": _plot("tree", by="country", facet=True, mark="max_f1"),
    "panels without positives": _plot("tree", WITHOUT, by="country", facet=True),
    "panels of ROC": _plot(THREE[:2], by="country", facet=True, **ROC),
    "forty panels": _plot("tree", RUN.filter(pl.col("query") < 40), by="query", facet=True),
    "panels of means": _plot("tree", FEW, by="country", mean_over="query", facet=True),
    "panels of thresholds": _plot("tree", FEW, by="country", facet=True, **THRESHOLD),
}
INTERVALS: dict[str, Draw] = {
    "forest": _forest("average_precision", "tree", "country"),
    "forest of systems": _forest("average_precision", SYSTEMS, "fold"),
    "forest of two systems": _forest("average_precision", THREE[:2], "country"),
    "forest of metrics": _forest(["average_precision", "roc_auc"], "tree", "country"),
    "forest of metrics and systems": _forest(["average_precision", "roc_auc"], THREE, "country"),
    "forest without intervals": lambda **to: fp.plot_intervals(
        _values(THREE[:2], "country", ["average_precision", "roc_auc", "max_f1"]), **to
    ),
    "forest of 30 groups": _forest(
        "average_precision", "tree", "query", RUN.filter(pl.col("query") < 30)
    ),
    "forest in panels": _forest("roc_auc", "tree", ["country", "segment"], facet="segment"),
    "only systems": _forest("average_precision", SYSTEMS, None),
    "months": _forest("average_precision", "tree", "month"),
    "months of systems": _forest("average_precision", THREE, "month"),
    "months of metrics": _forest(["average_precision", "roc_auc"], "tree", "month"),
    "months of eight groups": _forest("roc_auc", "tree", ["country", "month"]),
    "months in panels": _forest("roc_auc", "tree", ["country", "month"], facet="country"),
    "missing months": _forest(
        "roc_auc", "tree", "month", RUN.filter(~pl.col("month").dt.month().is_in([4, 5, 6]))
    ),
    "days": _forest("roc_auc", "tree", "day"),
    "periods": lambda **to: fp.plot_intervals(_periods(), **to),
    "names along x": _forest("roc_auc", THREE, "country", x="country"),
}
OTHERS: dict[str, Draw] = {
    "compared": lambda **to: fp.plot_comparison(
        RUN.pr.compare("average_precision", "truth", THREE, mean_over="query"), **to
    ),
    "compared between": lambda **to: fp.plot_comparison(
        RUN.pr.compare(
            "roc_auc", "truth", "tree", between="country", baseline=NAMES[0], details=True
        ),
        **to,
    ),
    "five compared": lambda **to: fp.plot_comparison(
        RUN.pr.compare("average_precision", "truth", SYSTEMS, mean_over="query"), **to
    ),
    "differences": lambda **to: fp.plot_comparison(_values(THREE[:2], "country"), **to),
    "many differences": lambda **to: fp.plot_comparison(_values(THREE[:2], "query"), **to),
    "scores": lambda **to: fp.plot_scores(RUN, "truth", "forest", threshold=0.7, **to),
    "rare scores": lambda **to: fp.plot_scores(RARE, "truth", "forest", threshold=0.9, **to),
    "amounts": lambda **to: fp.plot_scores(RUN, "truth", "amount", **to),
    "scores of systems": lambda **to: fp.plot_scores(RUN, "truth", SYSTEMS, threshold=0.7, **to),
    "gains": lambda **to: fp.plot_gains(RUN.pr.gains_table("truth", "tree"), **to),
    "lift by decile": lambda **to: fp.plot_gains(
        RUN.pr.gains_table("truth", "tree"), y="lift", **to
    ),
    "gains of systems": lambda **to: fp.plot_gains(RUN.pr.gains_table("truth", THREE[:2]), **to),
    "confusion": lambda **to: fp.plot_confusion(
        RUN.pr.confusion("truth", "forest", threshold=0.7), **to
    ),
    "ten classes": lambda **to: fp.plot_confusion(RUN.pr.confusion_matrix("class", "guess"), **to),
    "named classes": lambda **to: fp.plot_confusion(
        RUN.with_columns(other=pl.col("country").shift(1, fill_value="Spain")).pr.confusion_matrix(
            "country", "other"
        ),
        **to,
    ),
    "thirty classes": lambda **to: fp.plot_confusion(
        RUN.with_columns(a=pl.col("query") % 30, b=pl.col("query") // 2 % 30).pr.confusion_matrix(
            "a", "b"
        ),
        **to,
    ),
    "confusion of groups": lambda **to: fp.plot_confusion(
        RUN.pr.confusion("truth", "forest", threshold=0.7, by="country"), **to
    ),
}


def _periods() -> Any:
    frame = RUN.to_pandas()
    frame["month"] = pd.to_datetime(frame["day"]).dt.to_period("M")
    return frame.pr.intervals("roc_auc", "truth", "tree", by="month")


# Where they are drawn

DEFAULT: dict[str, Any] = {}
COLUMN = {"figure.figsize": (3.15, 2.6), "font.size": 8}
SLIDE = {"figure.figsize": (13.33, 7.5), "font.size": 20}
IN_PRINT = [
    *("three", "eight groups", "eight panels", "forest of two systems", "differences", "months"),
    *("gains", "scores", "confusion", "many differences", "marks", "five compared"),
]
LOW = (6.0, 4.0)
CONSTRAINED = {"layout": "constrained"}
IN_SMALL_AXES = [
    *("three", "eight groups", "ROC of eight groups", "ten groups", "two keys"),
    *("systems and groups", "long systems and groups", "forest", "forest of two systems"),
    *("months of systems", "months of eight groups", "differences", "many differences"),
    *("compared", "five compared", "gains", "scores", "confusion"),
]
DARK = ["three", "eight panels", "forest", "months", "confusion", "scores"]


def _dashboard(*names: str, size: tuple[float, float] = (9, 7), **layout: Any) -> Callable[[], Any]:
    """Draw four plots into one figure."""

    def draw() -> Any:
        figure, grid = plt.subplots(2, 2, figsize=size, **layout)
        for ax, name in zip(grid.flat, names, strict=True):
            ALL[name](ax=ax)
        if not layout:
            figure.tight_layout()
        return grid

    return draw


def _grid(name: str, rows: int, columns: int) -> Callable[[], Any]:
    """Draw panels into the caller's axes."""

    def draw() -> Any:
        _, grid = plt.subplots(
            rows, columns, figsize=(3 * columns, 3.4 * rows), layout="constrained", squeeze=False
        )
        ALL[name](ax=grid)
        return grid

    return draw


def _axes(name: str, width: float, height: float) -> Callable[[], Any]:
    """Draw into one axes of the caller."""

    def draw() -> Any:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        ALL[name](ax=ax)
        return ax

    return draw


ALL = CURVES | PANELS | INTERVALS | OTHERS
PLACES: dict[str, Callable[[], Any]] = {
    "dashboard": _dashboard("three", "ROC", "confusion", "scores", layout="constrained"),
    "dashboard of eight groups": _dashboard(
        "eight groups", "forest", "gains", "differences", layout="constrained"
    ),
    "dashboard, tight": _dashboard("eight groups", "forest", "gains", "differences"),
    "dashboard of comparisons": _dashboard(
        "compared", "months", "many differences", "benefit", layout="constrained"
    ),
    "low dashboard": _dashboard(
        "eight groups", "ROC of eight groups", "forest", "differences", size=LOW, **CONSTRAINED
    ),
    "low dashboard, tight": _dashboard(
        "eight groups", "ROC of eight groups", "forest", "differences", size=LOW
    ),
    "low dashboard of trends": _dashboard(
        *("months", "months of systems", "months of eight groups", "many differences"),
        size=LOW,
        **CONSTRAINED,
    ),
    "low dashboard of scores": _dashboard(
        "gains", "scores", "confusion", "compared", size=LOW, **CONSTRAINED
    ),
    "low dashboard of classes": _dashboard(
        "forest of two systems", "two keys", "three", "named classes", size=LOW, **CONSTRAINED
    ),
    "low dashboard of bands": _dashboard(
        "marks", "systems and groups", "interval", "highlight", size=LOW, **CONSTRAINED
    ),
    "own grid": _grid("three panels with a long name", 1, 3),
    "own grid of systems": _grid("eight panels of systems", 2, 4),
    **{f"own small axes of {name}": _axes(name, 3.15, 2.4) for name in IN_SMALL_AXES},
    "own small confusion": _axes("named classes", 3.5, 2.6),
    "own wide forest": _axes("forest", 8, 3),
}


def pictures() -> Iterator[tuple[str, Mapping[str, Any], Callable[[], Any]]]:
    """Yield the name of each picture, its rcParams, and what draws it."""
    for name, draw in ALL.items():
        yield name, DEFAULT, draw
    for name in IN_PRINT:
        yield f"{name}, column", COLUMN, ALL[name]
        yield f"{name}, slide", SLIDE, ALL[name]
    for name in DARK:
        yield f"{name}, dark", plt.style.library["dark_background"], ALL[name]
    for name, draw in PLACES.items():
        yield name, COLUMN if "small" in name else DEFAULT, draw


def main(directory: Path | None, only: str = "") -> int:
    """Draw all pictures, print their faults, and return how many pictures have some."""
    drawn = 0
    broken = 0
    for name, style, draw in pictures():
        if only not in name:
            continue
        with mpl.rc_context(style):
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("error", "ax: |.*layout|.*Locator")
                    axes = draw()
                    figure = np.ravel(axes)[0].get_figure(root=True)
                    found = faults(figure)
            except Exception as error:  # one picture that fails is a fault of this picture
                print(f"{name}: {type(error).__name__}: {error}")
                drawn += 1
                broken += 1
                continue
            if directory is not None:
                figure.savefig(directory / f"{drawn:03} {name}.png", dpi=60)
            plt.close("all")
        drawn += 1
        broken += bool(found)
        for fault in found[:6]:
            print(f"{name}: {fault}")
    print(f"{drawn} pictures, {broken} with faults")
    return broken


if __name__ == "__main__":
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    sys.exit(min(1, main(folder, *sys.argv[2:])))
