"""Numbers of plots are those of `evaluate`, from rows and from a curve."""

from typing import Any

import polars as pl
import pytest
from pictures import axes, curves, labels, random_run

import frame_pr as fp
from frame_pr.inputs.policies import Policies
from frame_pr.inputs.request import request_of
from frame_pr.plotting.curve_data import (
    DrawnCurve,
    best_point,
    drawn_curves,
    point_at_recall,
    rank_curves,
    read_curves,
    recall_levels,
    threshold_text,
)
from frame_pr.plotting.options import PlotOptions

POLICIES = Policies.__annotations__
BEST = ("max_f1", "max_f0.5", "max_precision", "max_mcc", "max_balanced_accuracy", "min_cost2", "min_cost0.5")
OPTIONS = {
    "area": PlotOptions(),
    "envelope": PlotOptions(interpolated=True),
    "11 points": PlotOptions(interpolated=True, points=11),
    "101 points": PlotOptions(interpolated=True, points=101),
    "ROC": PlotOptions(x="fpr", ys=("recall",)),
    "k = 7": PlotOptions(k=7),
    "k = 50": PlotOptions(k=50),
}


def drawn(curve: pl.DataFrame, options: PlotOptions | None = None) -> list[DrawnCurve]:
    options = options or PlotOptions()
    return drawn_curves(read_curves(curve, options), options)


def awkward_run() -> pl.DataFrame:
    """Query 1 has no positives; the key has the name of a column of blocks."""
    row = pl.int_range(pl.len())
    return random_run().select(
        pl.col("query").alias("group"),
        pl.col("relevant") & (pl.col("query") != 1),
        "score",
        some=pl.when(row % 7 > 0).then("score"),
        whole=row % 4,
        float=(row % 5) / 7,
        tenth=0.1,
        id=row,
    )


CALLS: list[dict[str, Any]] = [
    {},
    {"weight": "whole"},
    {"weight": "float"},
    {"weight": "tenth"},
    {"tie_break": "id"},
    {"score": "some", "unscored": "unretrieved"},
]


@pytest.mark.parametrize("call", CALLS[::2], ids=str)
@pytest.mark.parametrize("name", OPTIONS)
def test_areas_of_a_reordered_curve_are_those_of_evaluate(call: dict[str, Any], name: str) -> None:
    options = OPTIONS[name]
    if options.k and "weight" in call:
        pytest.skip("weighted rows have no ranks")
    run, call = awkward_run(), {"truth": "relevant", "score": "score", "by": "group", **call}
    curve = fp.curve(run, **call).sample(fraction=1, shuffle=True, seed=0)
    if call.get("tie_break"):
        curve = fp.curve(run, **call)  # equal ranks do not exist, but equal thresholds do
    names = ["positives", "prevalence", *options.areas]
    wanted = fp.evaluate(run, names, **call).rows_by_key("group", named=True, unique=True)
    request = request_of("relevant", call["score"], "group", None, {k: v for k, v in call.items() if k in POLICIES})
    for drawn_twice in (drawn(curve, options), drawn_curves(rank_curves(run, request, options), options)):
        assert {each.key["group"] for each in drawn_twice} == set(wanted)
        for each in drawn_twice:
            row = wanted[each.key["group"]]
            assert {metric: each.numbers[metric] for metric in names} == {
                metric: pytest.approx(row[metric], rel=1e-12) for metric in names
            }


@pytest.mark.parametrize("name", [name for name, options in OPTIONS.items() if options.k is None])
def test_areas_of_a_plot_are_those_of_evaluate(name: str) -> None:
    """Groups of which nothing is retrieved, known totals of more groups, ties and known shares of positives."""
    options, run = OPTIONS[name], awkward_run().with_columns(some=pl.when(pl.col("group") > 0).then("some"))
    more = pl.DataFrame({"group": [0, 1, 2, 3, 9], "positives": [300, 300, 300, 0, 3]})
    calls: list[dict[str, Any]] = [
        {"unscored": "unretrieved"},
        {"unscored": "drop"},
        {"unscored": "unretrieved", "total_positives": more},
        {"unscored": "drop", "ties": "pessimistic"},
        {"unscored": "drop", "prevalence": 0.01},
    ]
    names = ["positives", "prevalence", *options.areas]
    for policies in calls:
        wanted = fp.evaluate(run, names, "relevant", "some", by="group", **policies)
        request = request_of("relevant", "some", "group", None, policies)  # type: ignore[arg-type]
        curves = rank_curves(run, request, options)
        assert curves.keys["group"].to_list() == wanted["group"].to_list()
        for metric in names:
            assert curves.numbers[metric].to_list() == pytest.approx(wanted[metric].to_list(), rel=1e-12), policies
        thresholds = fp.curve(run, "relevant", "some", by="group", **policies)["threshold"]
        assert curves.table["threshold"].to_list() == thresholds.to_list()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_marks_are_those_of_evaluate(call: dict[str, Any]) -> None:
    run, call = awkward_run(), {"truth": "relevant", "score": "score", "by": "group", **call}
    names = [at + name for name in BEST for at in ("", "threshold@")]
    names += [f"threshold@recall={recall}" for recall in (0, 0.3, 1)]
    wanted = fp.evaluate(run, names, **call).rows_by_key("group", named=True, unique=True)
    for each in drawn(fp.curve(run, **call)):
        row = wanted[each.key["group"]]
        for name in BEST:
            best = best_point(each, name)
            assert (best and best[0].threshold) == row[f"threshold@{name}"], name
            if best:  # else, to predict nothing is best
                assert best[1] == pytest.approx(row[name], rel=1e-12), name
        for recall in (0, 0.3, 1):
            point = point_at_recall(each, recall) if each.numbers["positives"] else None
            assert (point and point.threshold) == row[f"threshold@recall={recall}"], recall


def test_best_point_among_equal_scores_is_the_row_that_has_it() -> None:
    # One score for all: the best F is at the third row, where both positives are found.
    run = pl.DataFrame({"relevant": [1, 0, 1, 0], "score": 1, "id": [4, 3, 2, 1]})
    (curve,) = drawn(fp.curve(run, "relevant", "score", tie_break="id"))
    best = best_point(curve, "max_f1")
    assert best is not None
    assert best[0] == (2, 1, 1.0, 2 / 3)


@pytest.mark.parametrize("weight", [None, "tenth"])
def test_recall_levels_are_interpolated_precisions(weight: str | None) -> None:
    run = awkward_run().filter(group=0)
    names = [f"interpolated_precision@recall={i / 10}" for i in range(11)]
    wanted = fp.evaluate(run, names, "relevant", "score", weight=weight).row(0)
    (curve,) = drawn(fp.curve(run, "relevant", "score", weight=weight))
    recalls, heights = recall_levels(curve, 11)
    assert recalls == [i / 10 for i in range(11)]
    assert heights == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("weight", [0.1])
def test_equal_weights_reach_recalls_as_rows_do(weight: float) -> None:
    for positives in range(10, 200, 10):
        run = pl.DataFrame({"relevant": [1] * positives, "score": range(positives)}).with_columns(weight=weight)
        (curve,) = drawn(fp.curve(run, "relevant", "score", weight="weight"))
        points = [point_at_recall(curve, i / 10) for i in range(11)]
        assert [point and point.threshold for point in points] == [
            positives - max(1, i * positives // 10) for i in range(11)
        ]


def test_a_group_of_which_nothing_was_retrieved_counts() -> None:
    # Query b has a positive that was not retrieved: its AP is 0, and the mean of 1 and 0 is 1/2.
    run = pl.DataFrame({"q": ["a", "a", "b"], "t": [1, 0, 1], "s": [2.0, 1.0, None]})
    call: dict[str, Any] = {"by": "q", "unscored": "unretrieved"}
    mean = fp.evaluate(run, "average_precision", "t", "s", mean_over="q", **call)["mean_average_precision"].item()
    ax = fp.plot(run, "t", "s", average=True, ax=axes(), **call)
    assert mean == 0.5
    assert labels(ax)[0] == "s (mean AP = 0.50, 2 groups)"
    x, y = curves(ax)[0].get_xydata().T
    assert float(((x[1:] - x[:-1]) * y[1:]).sum()) == pytest.approx(mean, abs=1e-12)
    each = fp.plot(run, "t", "s", ax=axes(), **call)
    assert labels(each)[:2] == ["a (AP = 1.00)", "b (AP = 0.00)"]
    at_ranks = fp.plot(run, "t", "s", average=True, x="k", y="recall", ax=axes(), **call)
    assert labels(at_ranks)[0] == "s (2 groups)"
    assert at_ranks.get_lines()[-1].get_ydata().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize(
    "dtype", [pl.Float64, pl.Float32, pl.Int64, pl.Decimal(20, 9)], ids=["Float64", "Float32", "Int64", "Decimal"]
)
def test_a_threshold_that_is_typed_in_selects_the_same_rows(dtype: Any, ascending: bool) -> None:
    scale = 10**6 if dtype == pl.Int64 else 1
    scores = random_run().select("relevant", score=((0.9999 + pl.int_range(pl.len()) * 1e-5) * scale).cast(dtype))
    (curve,) = drawn(fp.curve(scores, "relevant", "score", ascending=ascending))
    for recall in (0.1, 0.5, 0.9, 1):
        point = point_at_recall(curve, recall)
        assert point is not None
        text = threshold_text(curve, point)
        k = fp.confusion(scores, "relevant", "score", threshold=float(text), ascending=ascending)["k"].item()
        assert k == curve.blocks["k"][point.row]
        assert len(text) < 12
