"""Goals within limits, and rates at their thresholds: against all thresholds, one by one."""

import numpy as np
import polars as pl
import pytest

import frame_pr as fp


def scores_and_labels(seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 40, 200) / 40
    return score, (rng.random(200) < score * 0.6).astype(int)


def table_of_thresholds(score, truth):
    """(threshold, precision, recall, F1) of each threshold, the highest one first."""
    rows = []
    for threshold in np.unique(score)[::-1]:
        chosen = score >= threshold
        tp = int(truth[chosen].sum())
        rows.append(
            (threshold, tp / chosen.sum(), tp / truth.sum(), 2 * tp / (chosen.sum() + truth.sum()))
        )
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_the_loops_that_people_write(seed):
    score, truth = scores_and_labels(seed)
    rows = table_of_thresholds(score, truth)
    data = pl.DataFrame({"y": truth, "s": score})

    # The best F1 with a recall of at least 0.6, and where.
    f1, threshold, precision = max(
        ((f1, threshold, precision) for threshold, precision, recall, f1 in rows if recall >= 0.6),
        key=lambda row: row[0],
    )
    names = ["max_f1@recall=0.6", "threshold@max_f1@recall=0.6", "precision@max_f1@recall=0.6"]
    assert data.pr.evaluate(names, "y", "s").row(0) == pytest.approx((f1, threshold, precision))

    # The highest precision with a recall of at least 0.8, and where.
    precision, threshold = max(
        ((precision, threshold) for threshold, precision, recall, _ in rows if recall >= 0.8),
    )
    names = [f"{head}max_precision@recall=0.8" for head in ("", "threshold@")]
    assert data.pr.evaluate(names, "y", "s").row(0) == pytest.approx((precision, threshold))
    interpolated = data.pr.evaluate("interpolated_precision@recall=0.8", "y", "s").item()
    assert interpolated == pytest.approx(precision)

    # The share of selected rows at the threshold of the best F1.
    best = max(f1 for *_, f1 in rows)
    first = next(threshold for threshold, *_, f1 in rows if f1 == best)
    rate = data.pr.evaluate("selection_rate@max_f1", "y", "s").item()
    assert rate == pytest.approx((score >= first).mean())


def test_weights_count_as_rows():
    score, truth = scores_and_labels(9)
    data = pl.DataFrame({"y": truth, "s": score, "w": [1, 2, 0, 3] * 50})
    rows = data.select(pl.col("y", "s").repeat_by("w")).explode("y", "s").drop_nulls()
    names = ["k@max_f1", "precision@max_mcc", "max_f1@precision=0.5", "recall@min_cost5"]
    weighted = data.pr.evaluate(names, "y", "s", weight="w")
    assert weighted.row(0) == pytest.approx(rows.pr.evaluate(names, "y", "s").row(0))
    halves = data.with_columns(pl.col("w") / 2).pr.evaluate(names, "y", "s", weight="w")
    assert halves.row(0) == pytest.approx((weighted.row(0)[0] / 2, *weighted.row(0)[1:]))


def test_parts_and_expressions_have_the_same_values():
    score, truth = scores_and_labels(4)
    data = pl.DataFrame({"q": [1, 2] * 100, "y": truth, "s": score})
    names = [
        "tp@max_f1",
        "threshold@max_mcc@recall=0.5",
        "recall@max_accuracy",
        "fpr@threshold@20%",
    ]
    expected = data.pr.evaluate(names, "y", "s", by="q")
    parts = fp.partitioned(data, partitions=3, progress=False)
    assert parts.evaluate(names, "y", "s", by="q").sort("q").rows() == expected.rows()
    # Without keys, the parts are ranges of scores.
    whole = data.pr.evaluate(names, "y", "s")
    assert parts.evaluate(names, "y", "s").rows() == whole.rows()
    metrics = pl.col("s").pr.metric(names, "y")
    grouped = data.group_by("q", maintain_order=True).agg(metrics).unnest("metrics")
    assert grouped.rows() == expected.rows()


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
def test_rates_at_a_goal_have_no_bounds(ties):
    data = pl.DataFrame({"y": [1, 0], "s": [1, 1]})
    with pytest.raises(ValueError, match="precision@max_f1 "):
        data.pr.evaluate("precision@max_f1", "y", "s", ties=ties)


@pytest.mark.parametrize("limit", ["", "@recall=0", "@recall=0.5", "@npv=0.5"])
def test_a_group_without_negatives_has_no_best_kappa(limit):
    # Kappa is 0/0 at every threshold, so no threshold is the best one, and nothing is counted.
    frame = pl.DataFrame({"truth": [1, 1, 1], "score": [0.3, 0.2, 0.1]})
    goal = f"max_kappa{limit}"
    names = [goal, f"threshold@{goal}", f"k@{goal}", f"precision@{goal}"]
    result = frame.pr.evaluate(names, "truth", "score")
    assert result.row(0) == (None, None, None, None)
