"""What plots take from the frame of a curve is what `evaluate` finds in the rows."""

from typing import Any

import polars as pl
import pytest
from pictures import random_run

import frame_pr as fp
from frame_pr.plotting import curve_frames

METRICS = ["positives", "prevalence", "average_precision", "interpolated_average_precision"]
METRICS += [f"interpolated_average_precision_{points}" for points in (11, 101)]
RANKS = ["average_precision@7", "average_precision@50"]
BESTS = ["max_f1", "max_f0.5"]
THRESHOLDS = ["threshold@max_f1", "threshold@max_f0.5", *(f"threshold@recall={r}" for r in (0, 0.3, 1))]


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


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weight": "whole"},
        {"weight": "float"},
        {"weight": "tenth"},
        {"tie_break": "id"},
        {"score": "some", "unscored": "unretrieved"},
    ],
    ids=str,
)
def test_numbers_of_a_reordered_curve_are_those_of_evaluate(given: dict[str, Any]) -> None:
    run, call = awkward_run(), {"truth": "relevant", "score": "score", "by": "group", **given}
    names = [*METRICS, *BESTS, *THRESHOLDS, *([] if "weight" in given else RANKS)]
    curve = fp.curve(run, **call)
    curves = curve_frames.curves_of(curve.sample(fraction=1, shuffle=True, seed=0))
    evaluated = fp.evaluate(run, names, **call).rows_by_key("group", named=True, unique=True)
    drawn = curve_frames.drawn_curves(curves, names)
    assert {each.key["group"] for each in drawn} == set(evaluated)
    for each in drawn:
        wanted = evaluated[each.key["group"]]
        for name in names:
            if name in THRESHOLDS:
                point = each.point(name)
                assert (point and point.threshold) == wanted[name], name
            elif wanted[name] is None:
                assert each.numbers[name] is None, name
            else:
                assert each.numbers[name] == pytest.approx(wanted[name], rel=1e-12), name


def test_best_point_among_equal_scores_is_the_row_that_has_it() -> None:
    # One score for all: the best F is at the third row, where both positives are found.
    run = pl.DataFrame({"relevant": [1, 0, 1, 0], "score": 1, "id": [4, 3, 2, 1]})
    curves = curve_frames.curves_of(fp.curve(run, "relevant", "score", tie_break="id"))
    (drawn,) = curve_frames.drawn_curves(curves, ["threshold@max_f1"])
    assert drawn.point("threshold@max_f1") == curve_frames.Point(1, 1.0, 2 / 3)


@pytest.mark.parametrize("weight", [None, "tenth"])
def test_recall_levels_are_interpolated_precisions(weight: str | None) -> None:
    run = awkward_run().filter(group=0)
    names = [f"interpolated_precision@recall={i / 10}" for i in range(11)]
    wanted = fp.evaluate(run, names, "relevant", "score", weight=weight).row(0)
    curves = curve_frames.curves_of(fp.curve(run, "relevant", "score", weight=weight))
    (drawn,) = curve_frames.drawn_curves(curves, ["positives"])
    recalls, heights = curve_frames.recall_levels(drawn, 11)
    assert recalls == [i / 10 for i in range(11)]
    assert heights == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("weight", [0.1, 0.3, 1 / 7])
def test_equal_weights_reach_recalls_as_rows_do(weight: float) -> None:
    names = ["interpolated_average_precision_11", *(f"threshold@recall={i / 10}" for i in range(11))]
    for positives in range(10, 200, 10):
        run = pl.DataFrame({"relevant": [1] * positives, "score": range(positives)}).with_columns(weight=weight)
        curves = curve_frames.curves_of(fp.curve(run, "relevant", "score", weight="weight"))
        (drawn,) = curve_frames.drawn_curves(curves, names)
        assert drawn.numbers[names[0]] == pytest.approx(1, rel=1e-12)
        found = [point.threshold for name in names[1:] if (point := drawn.point(name))]
        assert found == [positives - max(1, i * positives // 10) for i in range(11)]
