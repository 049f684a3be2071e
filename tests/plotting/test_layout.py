"""No text is cut, nothing is covered, and three plots look as they did."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from drawn import TEXTBOOK, rows
from pictures import faults

from frame_pr.plotting.draw import COLOURS, luminance

RUN = rows(1200).with_columns(group=pl.col("query") % 8)
NAMES = [
    "Austria",
    "Belgium",
    "Bosnia and Herzegovina",
    "Croatia",
    "Denmark",
    "Estonia",
    "France",
    "United Kingdom",
]
LONG = RUN.with_columns(
    country=pl.col("group").replace_strict(dict(enumerate(NAMES)))
).with_columns(guess="country")
SYSTEMS = ["good", "poor"]
DATED = RUN.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("query")))
PLOTS: dict[str, Callable[..., Any]] = {
    "systems": lambda **to: RUN.pr.plot("truth", SYSTEMS, mark="max_f1", **to),
    "groups": lambda **to: LONG.pr.plot("truth", "good", by="country", **to),
    "roc": lambda **to: RUN.pr.plot("truth", SYSTEMS, x="fpr", y="recall", **to),
    "thresholds": lambda **to: RUN.pr.plot(
        "truth", "good", x="threshold", y=["precision", "recall", "f1"], **to
    ),
    "mean": lambda **to: RUN.pr.plot("truth", SYSTEMS, mean_over="query", **to),
    "scores": lambda **to: RUN.pr.plot_scores("truth", "good", threshold=0.7, **to),
    "gains": lambda **to: RUN.pr.gains_table("truth", "good").pr.plot_gains(**to),
    "confusion": lambda **to: RUN.pr.confusion("truth", "good", threshold=0.7).pr.plot_confusion(
        **to
    ),
    "classes": lambda **to: LONG.pr.confusion_matrix("country", "guess").pr.plot_confusion(**to),
    "intervals": lambda **to: LONG.pr.intervals(
        "roc_auc", "truth", SYSTEMS, by="country"
    ).pr.plot_intervals(**to),
    "trend": lambda **to: DATED.pr.intervals(
        "roc_auc", "truth", SYSTEMS, by="day"
    ).pr.plot_intervals(**to),
    "comparison": lambda **to: RUN.pr.compare(
        "roc_auc", "truth", SYSTEMS, mean_over="query"
    ).pr.plot_comparison(**to),
    "differences": lambda **to: LONG.pr.roc_auc("truth", SYSTEMS, by="country").pr.plot_comparison(
        **to
    ),
}
PANELS: dict[str, Callable[..., Any]] = {
    "facets": lambda: LONG.pr.plot("truth", SYSTEMS, by="country", facet=True),
    "marks": lambda: LONG.pr.plot("truth", "good", by="country", facet=True, mark="max_f1"),
    "scores": lambda: LONG.pr.plot_scores("truth", "good", by="country", threshold=0.7),
    "gains": lambda: LONG.pr.gains_table("truth", SYSTEMS, by="country").pr.plot_gains(y="lift"),
    "confusion": lambda: LONG.pr.confusion(
        "truth", "good", threshold=0.7, by="country"
    ).pr.plot_confusion(),
    "metrics": lambda: LONG.pr.evaluate(
        ["roc_auc", "max_f1"], "truth", SYSTEMS, by="country"
    ).pr.plot_intervals(),
}


@pytest.mark.parametrize("name", PLOTS)
def test_texts_of_default_plots(name: str) -> None:
    assert faults(PLOTS[name]().figure) == []


@pytest.mark.parametrize("name", PANELS)
def test_texts_of_panels(name: str) -> None:
    assert faults(PANELS[name]()[0].figure) == []


@pytest.mark.parametrize("size", [(3.15, 2.8), (4, 4), (8, 3)], ids=str)
@pytest.mark.parametrize("name", sorted(PLOTS))
def test_texts_in_axes_of_the_caller(name: str, size: tuple[float, float]) -> None:
    with mpl.rc_context({"font.size": 8}):
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        PLOTS[name](ax=ax)
        assert faults(figure) == []


LOW = {
    "groups": ["groups", "intervals", "differences", "trend"],
    "others": ["gains", "scores", "classes", "comparison"],
}


@pytest.mark.parametrize("layout", ["constrained", "tight"])
@pytest.mark.parametrize("names", LOW.values(), ids=list(LOW))
def test_texts_in_a_low_dashboard(names: list[str], layout: Any) -> None:
    figure, grid = plt.subplots(2, 2, figsize=(6, 4), layout=layout)
    for ax, name in zip(grid.flat, names, strict=True):
        PLOTS[name](ax=ax)
    assert faults(figure) == []


def test_a_legend_takes_no_room_of_other_axes() -> None:
    places = []
    for legend in (True, False):
        figure, (ax, other) = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
        PLOTS["groups"](ax=ax, legend=legend)
        figure.draw_without_rendering()
        places.append(other.get_position().bounds)
    assert places[0] == pytest.approx(places[1], abs=0.01)


def test_axes_without_their_legend_have_all_of_their_place() -> None:
    figure, ax = plt.subplots(figsize=(4, 3), layout="tight")
    PLOTS["groups"](ax=ax)
    figure.draw_without_rendering()
    height = ax.get_position().height
    ax.get_legend().remove()
    figure.draw_without_rendering()
    assert ax.get_position().height > height + 0.1


def test_twins_stay_on_their_axes() -> None:
    figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    before = ax.twinx()
    PLOTS["groups"](ax=ax)
    after = ax.twiny()
    figure.draw_without_rendering()
    bounds = ax.get_position().bounds
    assert before.get_position().bounds == after.get_position().bounds == bounds


def test_a_figure_with_a_legend_below_can_be_pickled() -> None:
    figure, ax = plt.subplots(figsize=(4, 3))
    PLOTS["groups"](ax=ax)
    copy = pickle.loads(pickle.dumps(figure))
    assert len(copy.axes[0].get_legend().get_texts()) == 9


@pytest.mark.parametrize("options", [{}, {"bbox_inches": "tight", "dpi": 50}], ids=str)
def test_a_legend_below_stays_below_the_title_of_the_axis(options: dict[str, Any]) -> None:
    """Saving with a tight box draws with other pixels."""
    figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    PLOTS["groups"](ax=ax)
    boxes = []

    def keep(event: Any) -> None:
        parts = (ax.get_legend(), ax.xaxis.label)
        boxes[:] = [part.get_window_extent(event.renderer) for part in parts]

    figure.canvas.mpl_connect("draw_event", keep)
    figure.savefig(BytesIO(), **options)
    legend, title = boxes
    assert -2 < title.y0 - legend.y1 < 6


def test_no_room_for_a_legend() -> None:
    figure, ax = plt.subplots(figsize=(1.6, 1.2), layout="constrained")
    with pytest.warns(UserWarning, match="ax: a legend of 9 entries has no room in axes of") as log:
        PLOTS["groups"](ax=ax)
    assert ax.get_legend() is None
    (advice,) = [str(w.message) for w in log if "figure.legend(" in str(w.message)]
    assert advice.endswith(
        "figure.legend(*ax.get_legend_handles_labels(), loc='outside right upper')"
    )
    drawn = figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper")
    assert len(drawn.get_texts()) == 9


def test_colours_have_contrast_and_differ() -> None:
    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    palette = (*COLOURS, "black")
    assert [colour for colour in palette if contrast(colour, "white") < 3] == []
    for kind in (np.eye(3), PROTAN, DEUTAN):
        colours = [lab(colour, kind) for colour in palette]
        distances = {
            (one, other): float(np.linalg.norm(colours[one] - colours[other]))
            for one, other in combinations(range(7), 2)
        }
        assert min(distances.values()) > 20, min(distances, key=distances.__getitem__)


# Machado, Oliveira and Fernandes (2009), severity 1.
PROTAN = np.array(
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]
)
DEUTAN = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)


def lab(colour: str, kind: Any) -> Any:
    """Return a colour in CIE Lab as somebody with this kind of vision sees it."""
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.clip(
        kind @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1
    )
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
    )
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


PICTURES = {
    "textbook": lambda: TEXTBOOK.pr.plot("relevant", "score", rectangles=True),
    "facets": PANELS["facets"],
    "intervals": PLOTS["intervals"],
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """After a deliberate change, copy the new picture from the folder of the test."""
    from matplotlib.testing.compare import compare_images

    constraints = request.config.rootpath.joinpath("constraints.txt").read_text(encoding="utf-8")
    if f"matplotlib=={mpl.__version__}\n" not in constraints:
        pytest.skip("another matplotlib has other margins")
    kept, drawn = Path(__file__).with_name("pictures") / f"{name}.png", tmp_path / f"{name}.png"
    np.ravel(PICTURES[name]())[0].figure.savefig(drawn, dpi=60)
    assert compare_images(str(kept), str(drawn), tol=8) is None
