"""Legends in figures of all sizes: measured from the rendered boxes."""

from functools import cache
from itertools import combinations, product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import labels, lay_out, numbers, set_sizes

import frame_pr as fp
from frame_pr.plotting.legends import pixels_along

SIZES = ((3, 2), (3.4, 2.4), (3, 3), (3.5, 2.6), (4, 3))
LAYOUTS = ("constrained", "compressed", "tight", None)
SYSTEMS = (1, 2, 3, 5)
MARKS = ("max_f1", None)
STYLES = ("default", "ggplot", "dark_background", "seaborn-v0_8")
FAST = [((3, 2), 5, "max_f1", "constrained"), ((3.4, 2.4), 3, "max_f1", "constrained"), ((4, 3), 2, None, None)]


@cache
def run(groups: int, systems: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    truth, n = rng.random(2_000) < 0.2, 2_000
    scores = {f"s{i}": truth * (0.7 + 0.3 * i) + rng.normal(size=n) for i in range(systems)}
    return pl.DataFrame({"g": rng.integers(0, groups, n), "t": truth} | scores)


def size(ax: Any, place: Any = lay_out) -> tuple[float, float]:
    """Width and height of the axes as drawn, in inches."""
    place(ax.figure)
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def faults(
    inches: tuple[float, float], systems: int, mark: str | None, layout: Any, style: str = "default", dpi: int = 100
) -> list[str]:
    """What is wrong with the plot in axes of the caller."""
    with plt.style.context(style):
        return _faults_in_style(inches, systems, mark, layout, dpi)


def _faults_in_style(inches: tuple[float, float], systems: int, mark: str | None, layout: Any, dpi: int) -> list[str]:
    empty = plt.subplots(figsize=inches, layout=layout, dpi=dpi)[1]
    ax = plt.subplots(figsize=inches, layout=layout, dpi=dpi)[1]
    names = [f"s{i}" for i in range(systems)]
    fp.plot(run(1, systems), "t", names, mark=mark, ax=ax)
    # The same titles and ticks, without what is drawn.
    empty.set(xlabel="Recall", ylabel="Precision", xlim=ax.get_xlim(), ylim=ax.get_ylim())
    for axis, other in ((empty.xaxis, ax.xaxis), (empty.yaxis, ax.yaxis)):
        axis.set_major_locator(type(other.get_major_locator())(3, steps=[1, 2, 5, 10]))
    (width, height), wanted = size(ax), size(empty, set_sizes)
    legend, box = ax.get_legend(), ax.get_legend().get_window_extent()
    axes, figure = ax.get_window_extent(), ax.figure.bbox
    checks = {
        f"axes of {width:.2f} x {height:.2f} in, not {wanted[0]:.2f} x {wanted[1]:.2f}": (
            width < 0.95 * wanted[0] or height < 0.95 * wanted[1]
        ),
        "the legend leaves the figure": not (
            figure.x0 <= box.x0 and box.x1 <= figure.x1 and figure.y0 <= box.y0 and box.y1 <= figure.y1
        ),
        "the legend leaves the axes": box.width > axes.width or box.height > axes.height,
        "letters of less than 5 points": min(text.get_fontsize() for text in legend.get_texts()) < 5,
        "an entry is missing": len(legend.get_texts()) != systems * (2 if mark else 1) + 1,
        "a text stands in the axes": bool(ax.texts),
    }
    plt.close("all")
    return [fault for fault, is_fault in checks.items() if is_fault]


@pytest.mark.parametrize("case", FAST, ids=str)
def test_axes_of_the_caller_keep_their_size(case: tuple[Any, ...]) -> None:
    assert faults(*case) == []


@pytest.mark.parametrize("style", [STYLES[1]])
def test_axes_of_the_caller_keep_their_size_in_other_styles(style: str) -> None:
    assert faults(*FAST[1], style=style, dpi=200) == []


def sweep(style: str, dpi: int) -> list[Any]:
    """Cases for a style and a resolution."""
    k = dpi // 100
    return [
        (inches, systems, MARKS[(j + k) % 2], LAYOUTS[(i + 2 * j + k) % 4])
        for (i, inches), (j, systems) in product(enumerate(SIZES), enumerate(SYSTEMS))
        if STYLES[(i + j) % 4] == style
    ]


def assert_pairwise(cases: list[tuple[Any, ...]]) -> None:
    """Any two values of two parameters meet in a case."""
    for one, other in combinations(zip(*cases, strict=True), 2):
        assert {*zip(one, other, strict=True)} == {*product(one, other)}


def test_the_sweep_covers_all_pairs_of_values() -> None:
    cases = [(*case, style, dpi) for style, dpi in product(STYLES, (100, 200)) for case in sweep(style, dpi)]
    assert [len({*values}) for values in zip(*cases, strict=True)] == [5, 4, 2, 4, 4, 2]
    assert_pairwise(cases)
    assert_pairwise([case[:3] for case in SWEEP])
    assert_pairwise([case[1:] for case in SWEEP if case[1]])


@pytest.mark.slow
@pytest.mark.parametrize("dpi", [100, 200])
@pytest.mark.parametrize("style", STYLES)
def test_axes_of_the_caller_keep_their_size_in_all_layouts(style: str, dpi: int) -> None:
    # All sizes and systems at both resolutions, each in one style and one layout, with or without a mark. Any two
    # values of two of these six parameters meet, which the test above checks. There are 32 times as many combinations.
    found = {case: faults(*case, style=style, dpi=dpi) for case in sweep(style, dpi)}
    assert {case: names for case, names in found.items() if names} == {}


ROWS = run(6, 2).with_columns(pl.format("group {}", "g").alias("g")).rename({"s0": "a rather long system name"})
SCORES = ["a rather long system name", "s1"]
MATRIX = ROWS.with_columns(g=pl.col("g") + " of a long name").with_columns(p=pl.col("g").shift(1).fill_null("group 0"))
PLOTS: dict[str, Any] = {
    "plot": lambda ax: fp.plot(ROWS, "t", SCORES, mark="max_f1", ax=ax),
    "scores": lambda ax: fp.plot_scores(ROWS, "t", "s1", threshold=1, ax=ax),
    "intervals": lambda ax: fp.plot_intervals(fp.intervals(ROWS, "roc_auc", "t", SCORES, by="g"), ax=ax),
    "comparison": lambda ax: fp.plot_comparison(ROWS, "average_precision", "t", SCORES, by="g", ax=ax),
    "trend": lambda ax: fp.plot_trend(fp.intervals(ROWS, "roc_auc", "t", SCORES, by="g"), ax=ax),
    "differences": lambda ax: fp.plot_differences(
        fp.compare(ROWS, "roc_auc", "t", "s1", between="g", baseline="group 0"), ax=ax
    ),
    "slopes": lambda ax: fp.plot_slopes(fp.evaluate(ROWS, "roc_auc", "t", SCORES, by="g"), metric="roc_auc", ax=ax),
    "gains": lambda ax: fp.plot_gains(fp.gains_table(ROWS, "t", "s1"), ax=ax),
    "confusion": lambda ax: fp.plot_confusion(fp.confusion_matrix(MATRIX, "g", "p"), ax=ax),
}


def texts_of(ax: Any) -> list[Any]:
    """The texts that are seen, after a layout."""
    texts = [ax.xaxis.label, ax.yaxis.label, *ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
        texts += [label for label, place in ticks if low - 1e-9 <= place <= high + 1e-9]
    return [text for text in texts if text.get_text()]


# Every plot in every style, each in one size and one layout: any two values meet. Without `make test`, every second
# plot once, in the smallest size.
INCHES = [(3, 2), (4, 3), None]
SWEEP = [
    (name, inches, style, ("constrained", "tight")[(j // 2 + i // 3) % 2] if inches else None)
    for (i, name), (j, style) in product(enumerate(PLOTS), enumerate(STYLES))
    for inches in [INCHES[(i + j) % 3]]
]
FIRST = [(INCHES[0], style) for style in STYLES[:3]]
SEEN = [
    case if case[1:3] in FIRST and case[0] in [*PLOTS][::2] else pytest.param(*case, marks=pytest.mark.slow)
    for case in SWEEP
]


@pytest.mark.parametrize(("name", "inches", "style", "layout"), SEEN)
def test_no_text_is_cut_or_overlaps_and_axes_keep_their_size(name: str, inches: Any, style: str, layout: Any) -> None:
    with plt.style.context(style):
        _check_texts_and_axes(name, inches, layout)


def _check_texts_and_axes(name: str, inches: Any, layout: Any) -> None:
    ax = PLOTS[name](plt.subplots(figsize=inches, layout=layout)[1] if inches else None)
    width, height = size(ax)
    texts, figure = texts_of(ax), ax.figure.bbox.padded(1)
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    assert [text for text, box in boxes if figure.count_contains(box.corners()) < 4] == []
    assert [(a, b) for (a, box), (b, other) in combinations(boxes, 2) if box.overlaps(other)] == []
    if inches:
        empty = plt.subplots(figsize=inches, layout=layout)[1]
        empty.set(xlabel="x", ylabel="y" * bool(ax.get_ylabel()))
        empty.set_box_aspect(1 if name == "confusion" else None)
        wanted = size(empty)
        assert width > 0.8 * wanted[0]
        assert height > 0.8 * wanted[1]
    plt.close("all")


@pytest.mark.slow
def test_a_grid_of_small_axes_is_not_laid_out_by_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    figure, grid = plt.subplots(2, 3, figsize=(6, 4), layout="constrained")
    engine = figure.get_layout_engine()
    assert engine is not None
    runs: list[int] = []
    monkeypatch.setattr(engine, "execute", lambda figure: runs.append(1))
    for ax in grid.flat:
        fp.plot(run(1, 2), "t", ["s0", "s1"], mark="max_f1", ax=ax)
    assert not runs
    monkeypatch.undo()
    for ax in grid.flat:
        assert min(size(ax)) > 1
        legend = ax.get_legend()
        assert legend.get_window_extent().width <= ax.get_window_extent().width
        assert min(text.get_fontsize() for text in legend.get_texts()) > 5
        assert len(legend.get_texts()) == 5


@pytest.mark.slow
@pytest.mark.parametrize("groups", [10, 40])
def test_a_long_legend_widens_our_own_figure(groups: int) -> None:
    ax = run(groups, 1).pr.plot("t", "s0", by="g", max_groups=40, mark="max_f1")
    lay_out(ax.figure)
    legend, inner, outer = ax.get_legend().get_window_extent(), ax.get_window_extent(), ax.figure.bbox
    assert len(labels(ax)) == 2 * groups + 1
    assert not legend.overlaps(inner)
    assert outer.x0 <= legend.x0 < legend.x1 <= outer.x1
    assert outer.y0 <= legend.y0 < legend.y1 <= outer.y1
    few = run(1, 1).pr.plot("t", "s0")
    assert size(ax)[0] == pytest.approx(size(few)[0], rel=0.05)


@pytest.mark.parametrize("figsize", [(4, 3), None])
@pytest.mark.parametrize("options", [{"average": True, "x": "k"}, {"x": "threshold"}], ids=str)
def test_the_legend_covers_no_curve_where_the_data_set_the_limits(options: Any, figsize: Any) -> None:
    ax = None if figsize is None else plt.subplots(figsize=figsize)[1]
    ax = run(20, 2).pr.plot(
        "t", ["s0", "s1"], by="g" if "average" in options else None, y=["precision", "recall"], ax=ax, **options
    )
    lay_out(ax.figure)
    legend = ax.get_legend().get_window_extent()
    curves = [line for line in ax.get_lines() if line.get_label() == "_curve"]
    assert len(curves) == 4
    for line in curves:
        assert legend.count_contains(pixels_along(line.get_transform().transform_path(line.get_path()))) == 0
    plt.close("all")


def test_every_line_has_an_entry() -> None:
    for options in ({}, {"x": "fpr", "y": "recall"}, {"x": "share", "y": "lift"}, {"mark": "max_f1", "recall": 0.5}):
        ax = plt.subplots(figsize=(3, 2))[1]
        fp.plot(run(1, 3), "t", ["s0", "s1", "s2"], ax=ax, **options)
        shown = {(line.get_linestyle(), line.get_marker()) for line in ax.get_legend().get_lines()}
        drawn = {(line.get_linestyle(), line.get_marker()) for line in ax.get_lines() if line.get_label() != "_below"}
        assert drawn == shown
    plt.close("all")


@pytest.mark.slow
def test_panels_have_their_numbers_in_one_place() -> None:
    for options in ({}, {"mark": "max_f1"}):
        figure = run(6, 3).pr.plot("t", ["s0", "s1", "s2"], by="g", facet=True, **options)
        lay_out(figure)
        for ax in figure.axes:
            box, title = (part.get_window_extent() for part in (ax, ax.title))
            boxes = [text.get_window_extent() for text in numbers(ax)]
            assert len(boxes) == 3
            assert not any(one.overlaps(other) for one, other in combinations([*boxes, title], 2))
            for one in boxes:
                assert box.x0 <= one.x0 < one.x1 <= box.x1 + 0.05 * box.width
                assert box.y1 - 1 <= one.y0 < one.y1 <= title.y0 + 1
            assert min(box.width, box.height) > 1.3 * figure.dpi
    plt.close("all")


def test_a_shared_legend_stays_within_the_figure() -> None:
    figure = run(3, 8).pr.plot("t", [f"s{i}" for i in range(8)], by="g", facet=True)
    lay_out(figure)
    (legend,) = figure.legends
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert [text.get_text() for text in legend.get_texts()] == [*(f"s{i}" for i in range(8)), "prevalence"]


def test_a_legend_of_the_caller_stays() -> None:
    figure = plt.figure(figsize=(5, 4))
    legend = figure.legend(handles=[plt.Line2D([], [])], labels=["mine"])
    run(6, 3).pr.plot("t", ["s0", "s1", "s2"], by="g", facet=True, figure=figure)
    assert legend in figure.legends


@pytest.mark.slow
@pytest.mark.parametrize("length", [2_000, 20_000])
def test_long_names_are_cut(length: int) -> None:
    keys, names = ["x" * length, "y" * length], {"t": [1, 0, 1, 0] * 2, "s": [0.9, 0.8, 0.7, 0.6] * 2}
    rows = pl.DataFrame({"q": [keys[0]] * 4 + [keys[1]] * 4} | names)
    shortened = f"{'x' * 24}…{'x' * 23}"
    ax = fp.plot(rows, "t", "s", by="q")
    assert labels(ax)[0].replace("\n", " ") == f"{shortened} (AP = 0.83)"
    lay_out(ax.figure)
    figure = fp.plot(rows, "t", "s", by="q", facet=True)
    assert max(len(panel.get_title()) for panel in figure.axes) < 100
    assert len(labels(fp.plot(rows, "t", "s", by="q", label="z" * length, average=True))[0]) < 200
    dots = fp.plot_intervals(fp.evaluate(rows, "roc_auc", "t", "s", by="q"), metric="roc_auc")
    assert max(len(tick.get_text()) for tick in dots.get_yticklabels()) <= 60
    matrix = fp.plot_confusion(fp.confusion_matrix(rows.with_columns(p=pl.col("q").reverse()), "q", "p"))
    assert max(len(tick.get_text()) for tick in matrix.get_yticklabels()) <= 41
    plt.close("all")
