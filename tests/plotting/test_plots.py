import random
import subprocess
import sys
from itertools import product
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from pictures import TEXTBOOK, axes, curves, labels, line, random_run, rectangle_area, render

import frame_pr as fp

# The curve


def test_vertices_are_the_curve_frame_and_the_left_end_of_its_first_step() -> None:
    run = random_run()
    ax = fp.plot(run, "relevant", "score", by="query", ax=axes())
    parts = fp.curve(run, "relevant", "score", by="query").partition_by("query", maintain_order=True)
    for drawn, part in zip(curves(ax), parts, strict=True):
        np.testing.assert_array_equal(drawn.get_xydata()[1:], part.select("recall", "precision").to_numpy())
        assert tuple(drawn.get_xydata()[0]) == (0, part["precision"][0])
        assert drawn.get_drawstyle() == "steps-pre"


def test_textbook_points_and_no_invented_one() -> None:
    ax = fp.plot(TEXTBOOK, "relevant", "score", rectangles=True, ax=axes())
    (drawn,) = curves(ax)
    precision = [1, 1, 2 / 3, 3 / 4, 3 / 5, 2 / 3, 4 / 7, 1 / 2, 4 / 9, 1 / 2]
    np.testing.assert_allclose(drawn.get_ydata()[1:], precision, rtol=1e-15)
    # A marker at every threshold, none at the left end of the first step.
    assert drawn.get_marker() == "o"
    assert drawn.get_markevery() == slice(1, None)


def test_axes_of_our_own_are_square_and_those_of_the_caller_as_they_were() -> None:
    assert fp.plot(TEXTBOOK, "relevant", "score").get_box_aspect() == 1
    assert fp.plot(TEXTBOOK, "relevant", "score", ax=axes()).get_box_aspect() is None
    figure = fp.plot(random_run(), "relevant", "score", by="query", facet=True)
    assert {ax.get_box_aspect() for ax in figure.axes} == {1}


def test_axes_are_from_0_to_1_with_the_prevalence() -> None:
    ax = fp.plot(TEXTBOOK, "relevant", "score", ax=axes())
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xlim()[0] == pytest.approx(0, abs=0.03)
    assert ax.get_xlim()[1] == pytest.approx(1, abs=0.03)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Precision")
    assert set(line(ax, "_prevalence").get_ydata()) == {0.5}
    bare = fp.plot(TEXTBOOK, "relevant", "score", baseline=False, ax=axes())
    assert labels(bare) == ["score (AP = 0.78, P = 5)"]


@pytest.mark.parametrize("kind", ["eager", "lazy", "pandas"])
def test_all_kinds_of_frame_draw_the_same(kind: str) -> None:
    run = random_run()
    frame: Any = {"eager": run, "lazy": run.lazy(), "pandas": run.to_pandas()}[kind]
    expected = fp.plot(run, "relevant", "score", by="query", ax=axes())
    curve = frame.pr.curve("relevant", "score", by="query")
    assert type(curve) is type(frame)
    for ax in (frame.pr.plot("relevant", "score", by="query", ax=axes()), fp.plot(curve, ax=axes())):
        assert labels(ax) == labels(expected)
        for drawn, wanted in zip(curves(ax), curves(expected), strict=True):
            np.testing.assert_array_equal(drawn.get_xydata(), wanted.get_xydata())


def test_policies_reach_the_curve_and_other_keywords_the_lines() -> None:
    run = pl.DataFrame({"relevant": [1, 0, 1], "score": [0.5, 0.5, 0.1], "w": [1, 3, 1]})
    ax = fp.plot(run, "relevant", "score", weight="w", linewidth=3, ls="--", ax=axes())
    # By weight: precision 1/4 at recall 1/2, then 2/5 at recall 1.
    assert labels(ax)[0] == f"score (AP = {(1 / 4 + 2 / 5) / 2:.2f}, P = 2)"
    (drawn,) = curves(ax)
    assert (drawn.get_linewidth(), drawn.get_linestyle()) == (3, "--")
    optimistic = fp.plot(run, "relevant", "score", ties="optimistic", ax=axes())
    assert labels(optimistic)[0] == f"score (AP = {(1 + 2 / 3) / 2:.2f}, P = 2)"


def test_reordered_curve_frame_is_drawn_in_order() -> None:
    curve = fp.curve(TEXTBOOK, "relevant", "score")
    ax = fp.plot(curve.reverse(), ax=axes())
    np.testing.assert_array_equal(curves(ax)[0].get_xdata()[1:], curve["recall"])


# Areas and numbers


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("interpolated", [False, True])
def test_area_of_the_rectangles_is_average_precision(seed: int, interpolated: bool) -> None:
    run = random_run(seed=seed)
    metric = "interpolated_average_precision" if interpolated else "average_precision"
    ax = fp.plot(run, "relevant", "score", rectangles=True, interpolated=interpolated, ax=axes())
    assert rectangle_area(ax) == pytest.approx(fp.evaluate(run, metric, "relevant", "score").item(), abs=1e-12)


def test_area_up_to_a_cut_off_is_average_precision_at_k_of_all_positives() -> None:
    run = random_run()
    for k in (1, 7, 50, 399, 5000):
        ax = fp.plot(run, "relevant", "score", rectangles=True, k=k, ax=axes())
        metric = f"average_precision@{k}/positives"
        assert rectangle_area(ax) == pytest.approx(fp.evaluate(run, metric, "relevant", "score").item(), abs=1e-12)


def test_labels_are_the_numbers_of_evaluate() -> None:
    run = random_run()
    wanted = ["average_precision", "interpolated_average_precision", "positives"]
    wanted += [f"interpolated_average_precision_{n}" for n in (11, 101)] + [f"average_precision@{k}" for k in (3, 20)]
    rows = fp.evaluate(run, wanted, "relevant", "score", by="query").rows(named=True)
    ap = "AP = {average_precision:.6f}"
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, ap),
        ({"interpolated": True}, f"{ap}, interpolated {{interpolated_average_precision:.6f}}"),
        ({"points": 11}, f"{ap}, 11-point {{interpolated_average_precision_11:.6f}}"),
        ({"points": 101}, f"{ap}, 101-point {{interpolated_average_precision_101:.6f}}"),
        ({"k": 3}, "AP@3 = {average_precision@3:.6f}"),
        ({"k": 20}, "AP@20 = {average_precision@20:.6f}"),
    ]
    for options, numbers in cases:
        ax = fp.plot(run, "relevant", "score", by="query", decimals=6, **options)
        for row in rows:
            assert f"{{query}} ({numbers}, P = {{positives}})".format(**row) in labels(ax)


def test_cut_off_emphasises_what_is_left_of_it() -> None:
    ax = fp.plot(TEXTBOOK, "relevant", "score", k=4, ax=axes())
    assert labels(ax)[0] == "score (AP@4 = 0.69, P = 5)"  # (1 + 1 + 3/4) / min(4, 5)
    assert curves(ax)[0].get_xdata().max() == 0.6
    rest = line(ax, "_rest")
    assert rest.get_xdata().max() == 1
    assert rest.get_alpha() < 1


def test_sampled_levels_use_whole_numbers() -> None:
    # Ten positives first: recall i/10 is reached at rank i, although 3/10 < np.linspace(0, 1, 11)[3].
    run = pl.DataFrame({"relevant": [1] * 3 + [0] + [1] * 7, "score": range(11, 0, -1)})
    ax = fp.plot(run, "relevant", "score", points=11, ax=axes())
    np.testing.assert_allclose(line(ax, "_levels").get_ydata(), [1] * 4 + [10 / 11] * 7)


# Operating points


def test_operating_points_stand_where_evaluate_finds_them() -> None:
    run = random_run()
    asked: Any = {"threshold": 0.75, "recall": [0.5, 0.9], "mark": ["max_f1", "max_f0.5"]}
    ax = fp.plot(run, "relevant", "score", **asked, ax=Figure(figsize=(6, 6)).subplots())
    marks = [tuple(dot.get_xydata()[0]) for dot in ax.get_lines() if dot.get_gid() == "mark"]
    numbers = fp.evaluate(run, ["threshold@max_f1", "threshold@max_f0.5", "max_f1"], "relevant", "score").row(0)
    cuts = ["threshold=0.75", "recall=0.5", "recall=0.9", *(f"threshold={t}" for t in numbers[:2])]
    wanted = [fp.evaluate(run, [f"recall@{cut}", f"precision@{cut}"], "relevant", "score").row(0) for cut in cuts]
    np.testing.assert_allclose(marks, wanted, rtol=1e-15)
    texts = [label for label in labels(ax) if label.startswith(("threshold", "recall", "max"))]
    assert texts[0] == "threshold 0.75"
    assert texts[1].startswith("recall 0.5 (threshold ")
    assert texts[3] == f"max F1 = {numbers[2]:.2f} at {numbers[0]:.3g}"


def test_threshold_labels_are_thresholds_of_the_curve() -> None:
    run = random_run()
    ax = fp.plot(run, "relevant", "score", threshold_labels=6, ax=axes())
    shown = [float(text.get_text()) for text in ax.texts]
    assert 3 <= len(shown) <= 6
    assert set(shown) <= set(run["score"])
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_iso_f_contours_have_that_f(beta: float) -> None:
    ax = fp.plot(TEXTBOOK, "relevant", "score", iso_f=(0.3, 0.6), beta=beta, ax=axes())
    (contours,) = [artist for artist in ax.collections if artist.get_label() == "_iso_f"]
    for f, path in zip((0.3, 0.6), contours.get_paths(), strict=True):
        recall, precision = path.vertices.T
        np.testing.assert_allclose((1 + beta**2) * precision * recall / (beta**2 * precision + recall), f)
        assert precision.max() == pytest.approx(1)
        assert recall.max() == 1


def test_style_sheets_choose_colours_and_global_state_stays() -> None:
    before = dict(matplotlib.rcParams)
    fp.plot(TEXTBOOK, "relevant", "score", rectangles=True, iso_f=True, mark="max_f1", ax=axes())
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == []  # the figure is the caller's
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["#123456"])}):
        assert curves(fp.plot(TEXTBOOK, "relevant", "score", ax=axes()))[0].get_color() == "#123456"


def test_single_step_and_empty_frame() -> None:
    ax = fp.plot(pl.DataFrame({"relevant": [1], "score": [0.5]}), "relevant", "score", rectangles=True, ax=axes())
    assert curves(ax)[0].get_xydata().tolist() == [[0, 1], [1, 1]]
    empty = TEXTBOOK.clear()
    ax = fp.plot(empty, "relevant", "score", iso_f=True, ax=axes())
    assert labels(ax) == ["score (AP undefined, P = 0)"]
    empty = empty.with_columns(query=pl.lit(1))
    for options in ({"ax": axes()}, {"facet": True}, {"average": True}):
        drawn = fp.plot(empty, "relevant", "score", by="query", **options)
        render(drawn.figure)


# Errors


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"points": 10}, ValueError, "points must be 11 or 101"),
        ({"k": 0}, ValueError, "k must be a whole number of at least 1"),
        ({"k": 3, "interpolated": True}, ValueError, "leave out interpolated="),
        ({"k": 3, "weight": "score"}, ValueError, "weighted rows have no rank"),
        ({"threshold": "high"}, TypeError, "threshold must be a number"),
        ({"threshold": 7}, ValueError, "threshold=7 lies above every score"),
        ({"recall": 1.5}, ValueError, "recall must lie between 0 and 1"),
        ({"mark": "f1"}, ValueError, "such as 'max_f1'"),
        ({"iso_f": [0.5, 2]}, ValueError, "iso_f takes values of F between 0 and 1"),
        ({"beta": -1}, ValueError, "beta must be a positive number"),
        ({"threshold_labels": 2.5}, TypeError, "threshold_labels must be a whole number"),
        ({"decimals": -1}, ValueError, "decimals must be a whole number"),
        ({"rectangle": True}, TypeError, "did you mean rectangles="),
        ({"colour_map": 1}, TypeError, "properties of matplotlib's Line2D"),
        ({"ax": "left"}, TypeError, "ax must be a matplotlib Axes"),
        ({"facet": True, "by": "query", "ax": Figure().subplots()}, ValueError, "leave out ax="),
        ({"facet": True}, ValueError, "facet=True needs groups"),
        ({"facet": "fold", "by": "query"}, ValueError, "not one of the keys: query"),
        ({"average": True, "facet": True, "by": "query"}, ValueError, "leave out one of the two"),
        ({"average": True, "by": "query", "rectangles": True}, ValueError, "leave out rectangles="),
        ({"label": "x", "by": "query"}, ValueError, "label= names one curve, and there are 3"),
        ({"max_groups": 0}, ValueError, "max_groups must be"),
        ({"by": "query", "max_groups": 2}, ValueError, "facet=True draws small multiples, average=True"),
        ({"by": "query", "facet": True, "max_groups": 2}, ValueError, "facet= gives 3 panels"),
        ({"by": "nothing"}, ValueError, "no column 'nothing'"),
    ],
)
def test_errors_name_the_argument(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fp.plot(random_run(), "relevant", "score", **options)
    assert plt.get_fignums() == []


def test_bad_options_are_found_before_anything_is_computed() -> None:
    with pytest.raises(ValueError, match="points must be"):
        fp.plot(pl.LazyFrame({"relevant": ["broken"]}), "relevant", "no such column", points=3)


def test_other_frames_are_refused() -> None:
    weighted = fp.curve(TEXTBOOK.with_columns(w=0.5), "relevant", "score", weight="w")
    with pytest.raises(ValueError, match="the rows of this curve are weighted"):
        fp.plot(weighted, k=3)
    with pytest.raises(ValueError, match=r"no column 'threshold'.*call plot\(frame, truth, score\)"):
        fp.plot(TEXTBOOK)
    with pytest.raises(TypeError, match="got a dict"):
        fp.plot({"threshold": [1]})  # type: ignore[arg-type]


def test_matplotlib_is_imported_in_the_call_and_its_absence_explained() -> None:
    script = (
        "import sys, polars as pl, frame_pr as fp\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "fp.plot(pl.DataFrame({'t': [1], 's': [1]}), 't', 's')\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", timeout=60)
    assert ran.stderr.splitlines()[-1] == 'ImportError: plots need matplotlib: pip install "frame-pr[plot]"'


def test_new_figures_are_left_to_the_caller_to_show() -> None:
    ax = fp.plot(TEXTBOOK, "relevant", "score")
    assert plt.gcf() is ax.figure
    render(ax.figure)


def test_a_long_legend_widens_our_own_figure() -> None:
    ax = fp.plot(random_run(groups=10, rows=2000), "relevant", "score", by="query")
    render(ax.figure)
    legend, inner, outer = ax.get_legend().get_window_extent(), ax.get_window_extent(), ax.figure.bbox
    assert not legend.overlaps(inner)
    assert outer.x0 <= legend.x0 < legend.x1 <= outer.x1
    assert outer.y0 <= legend.y0 < legend.y1 <= outer.y1
    few = fp.plot(random_run(groups=1), "relevant", "score")
    render(few.figure)
    assert inner.width == pytest.approx(few.get_window_extent().width, rel=0.02)


def test_a_curve_of_few_points_is_not_drawn():
    data = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [5, 4, 3, 2, 1]})
    with pytest.raises(ValueError, match=r"rows of the curve are missing: plot_curve draws all .*, without points="):
        fp.plot(fp.curve(data, "relevant", "score", points=2), ax=Figure().subplots())


@pytest.mark.parametrize("categories", [["small", "medium", "large"], [30, 10, 20], [0.5, 0.25, 2.5]], ids=str)
def test_groups_are_drawn_in_the_order_of_pandas_categories(categories: list[Any]) -> None:
    rows = random.Random(1).sample([*product(categories, "ba", [0, 1, 1])], 6 * len(categories))
    run = pd.DataFrame(rows, columns=["size", "half", "y"]).astype({"size": pd.CategoricalDtype(categories)})
    run["s"], names = np.arange(len(run)) / 10, list(map(str, categories))
    ax = fp.plot(run, "y", "s", by="size", ax=Figure().subplots())
    assert [text.get_text().split(" (")[0] for text in ax.get_legend().get_texts()][:3] == names
    panels = fp.plot(run, "y", "s", by="size", facet="size", figure=Figure()).axes
    assert [panel.get_label() for panel in panels if panel.get_label()] == names
    # The second key is in its own order within each category, and values stay with their groups.
    ax = fp.plot(run, "y", "s", by=["size", "half"], ax=Figure().subplots(), decimals=3)
    values = fp.average_precision(run, "y", "s", by=["size", "half"])["average_precision"]
    keys = [f"{size}, {half}" for size in names for half in "ab"]
    entries = [text.get_text().partition(", P")[0].removesuffix(")") for text in ax.get_legend().get_texts()]
    assert entries[: len(keys)] == [f"{key} (AP = {value:.3f}" for key, value in zip(keys, values, strict=True)]
