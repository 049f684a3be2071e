"""The tables of docs/choosing-a-metric.md, on data in which the answer is known.

Each statement of the columns "sensitive to" and "does not tell" is a change of the data that
changes the metric, or does not.
"""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import frame_pr  # noqa: F401, the import makes `.pr` known to polars


def ranking(labels: list[int]) -> pl.DataFrame:
    """Rows from the best score to the worst."""
    return pl.DataFrame({"y": labels, "s": range(len(labels), 0, -1)})


def value(frame: pl.DataFrame, metric: str, **options) -> float:
    return frame.pr.evaluate(metric, "y", "s", **options).item()


def swapped(labels: list[int], rank: int) -> list[int]:
    """The ranking with the rows at `rank` and `rank` + 1 in the other order."""
    other = labels.copy()
    other[rank - 1], other[rank] = labels[rank], labels[rank - 1]
    return other


LABELS = [1, 0] + [1, 0, 0, 0] * 2 + [0] * 8 + [1, 0]
"""Four positives among 20 rows, at ranks 1, 3, 7 and 19."""


class TestWholeRanking:
    def test_average_precision_weighs_the_top_and_roc_auc_all_pairs_equally(self):
        base, top, bottom = (ranking(x) for x in (LABELS, swapped(LABELS, 1), swapped(LABELS, 19)))
        # Each swap puts one of 4 * 16 pairs in the wrong order.
        for changed in (top, bottom):
            assert_allclose(value(base, "roc_auc") - value(changed, "roc_auc"), 1 / 64)
        # Rank 1 to 2 costs (1 - 1/2) / 4, rank 19 to 20 costs (4/19 - 4/20) / 4.
        ap = value(base, "average_precision")
        assert_allclose(ap - value(top, "average_precision"), 1 / 8)
        assert_allclose(ap - value(bottom, "average_precision"), (4 / 19 - 4 / 20) / 4)

    def test_rarer_positives_change_average_precision_and_its_relatives_and_not_roc_auc(self):
        # Each negative four times. Precision at the positives: 1, 2/6, 3/19, 4/64.
        rare = ranking(LABELS).with_columns(n=pl.when(pl.col("y") == 1).then(1).otherwise(4))
        assert_allclose(value(rare, "roc_auc", count="n"), value(rare, "roc_auc"))
        rare_ap = (1 + 2 / 6 + 3 / 19 + 4 / (4 + 15 * 4)) / 4
        assert_allclose(value(rare, "average_precision", count="n"), rare_ap)
        assert_allclose(value(rare, "average_precision_lift", count="n"), rare_ap / (4 / 68))
        for metric in (
            "average_precision",
            "average_precision_lift",
            "normalized_average_precision",
        ):
            assert abs(value(rare, metric, count="n") - value(rare, metric)) > 0.01

    def test_partial_roc_auc_looks_at_few_false_positives_only(self):
        # Up to a false positive rate of 1/16, which is one negative.
        base, top, bottom = (ranking(x) for x in (LABELS, swapped(LABELS, 1), swapped(LABELS, 19)))
        partial = "roc_auc@fpr=0.0625"
        assert_allclose(value(base, partial), value(bottom, partial))
        assert value(base, partial) - value(top, partial) > 0.1

    def test_maximum_informedness_is_one_threshold(self):
        # The largest gap is at rank 7: 3/4 - 4/16. The order above and below does not change it.
        for labels in (LABELS, swapped(LABELS, 1), swapped(LABELS, 19)):
            assert_allclose(value(ranking(labels), "max_informedness"), 3 / 4 - 4 / 16)


class TestFirstRows:
    def test_order_within_the_first_rows_changes_neither_precision_nor_recall(self):
        for metric in ("precision@10", "recall@10", "recall@10/min", "success@5"):
            assert value(ranking(LABELS), metric) == value(ranking(swapped(LABELS, 1)), metric)

    def test_few_or_many_positives_limit_precision_and_recall(self):
        few, many = ranking([1] * 4 + [0] * 16), ranking([1] * 12 + [0] * 8)
        assert value(few, "precision@10") == 4 / 10
        assert_allclose(value(many, "recall@10"), 10 / 12)
        assert value(many, "recall@10/min") == value(few, "recall@10/min") == 1

    def test_reciprocal_rank_halves_from_rank_1_to_2_and_ignores_later_positives(self):
        assert value(ranking([1, 0, 0]), "reciprocal_rank") == 1
        assert value(ranking([0, 1, 0]), "reciprocal_rank") == 1 / 2
        assert value(ranking([0, 1, 1]), "reciprocal_rank") == 1 / 2
        assert value(ranking([0, 1, 1]), "success@2") == 1

    def test_ndcg_of_equal_grades_is_1_in_any_order_and_depends_on_the_gain(self):
        graded = ranking([1, 1, 1]).with_columns(equal=2, grade=pl.Series([1, 3, 2]))
        assert value(graded, "ndcg@10", gain="equal") == 1
        linear = value(graded, "ndcg@10", gain="grade")
        assert linear > value(graded, "ndcg@10", gain=2 ** pl.col("grade") - 1)

    def test_divisor_of_average_precision_at_10_and_positives_after_rank_10(self):
        # Ten positives; the first 10 ranks have those at 1, 3 and 7.
        labels = LABELS[:10] + [1] * 7
        later = labels + [0] * 3 + [1]
        sum_of_precisions = 1 + 2 / 3 + 3 / 7
        for divisor, number in (("", 10), ("/positives", 10), ("/hits", 3)):
            metric = f"average_precision@10{divisor}"
            assert_allclose(value(ranking(labels), metric), sum_of_precisions / number)
        assert_allclose(value(ranking(later), "average_precision@10"), sum_of_precisions / 10)

    def test_percentages_depend_on_the_size_of_the_group(self):
        # 10 % are two of 20 rows and four of 40.
        assert value(ranking(LABELS), "recall@10%") == 1 / 4
        assert value(ranking(LABELS + [0] * 20), "recall@10%") == 2 / 4


class TestThreshold:
    def test_other_scale_of_the_scores_changes_metrics_at_a_threshold_only(self):
        base = ranking(LABELS)
        shifted = base.with_columns(pl.col("s") + 5)
        assert value(base, "precision@threshold=14") != value(shifted, "precision@threshold=14")
        for metric in ("average_precision", "roc_auc", "precision@10"):
            assert value(base, metric) == value(shifted, metric)

    def test_f1_does_not_depend_on_true_negatives_and_mcc_does(self):
        base, longer = (
            ranking(LABELS),
            ranking(LABELS).vstack(pl.DataFrame({"y": [0] * 100, "s": [-1] * 100})),
        )
        assert value(base, "f1@threshold=14") == value(longer, "f1@threshold=14")
        assert value(base, "mcc@threshold=14") != value(longer, "mcc@threshold=14")

    def test_reached_precision_is_optimistic_on_the_same_rows(self):
        # Scores without information: on other rows, the precision is the prevalence.
        rng = np.random.default_rng(0)
        labels, scores = rng.random(12_000) < 0.5, rng.normal(size=12_000)
        frame = pl.DataFrame({"g": np.repeat(np.arange(200), 60), "y": labels, "s": scores})
        same, other = frame[::2], frame[1::2]

        goal = same.pr.evaluate("threshold@precision=0.7", "y", "s", by="g")
        call = {"truth": "y", "score": "s", "by": "g", "threshold": goal}
        reached = same.pr.confusion(**call).drop_nulls("threshold")
        applied = other.pr.confusion(**call).drop_nulls("threshold")
        assert reached["precision"].min() >= 0.7
        assert_allclose(applied["tp"].sum() / (applied["tp"] + applied["fp"]).sum(), 0.5, atol=0.05)

    def test_ratio_of_costs_moves_the_cheapest_threshold(self):
        frame = ranking([1, 0, 1, 0, 0, 1, 0, 0, 0, 0])
        # fp + R fn after ranks 1, 3 and 6: 2 R, 1 + R and 3.
        assert value(frame, "threshold@min_cost1") in (10, 8)
        assert_allclose(value(frame, "min_cost1"), 2 / 10)
        assert value(frame, "threshold@min_cost10") == 5
        assert_allclose(value(frame, "min_cost10"), 3 / 10)

    def test_net_benefit_of_a_useful_decision_exceeds_treating_all_and_nobody(self):
        frame = pl.DataFrame({"y": [1, 1, 0, 0, 0], "s": [0.9, 0.8, 0.3, 0.2, 0.1]})
        # Two hits, no false alarm: 2/5. Treating all: (2 - 3 * 0.5 / 0.5) / 5. Nobody: 0.
        assert_allclose(value(frame, "net_benefit@threshold=0.5"), 2 / 5)
        everybody = frame.with_columns(s=pl.lit(0.9))
        assert_allclose(value(everybody, "net_benefit@threshold=0.5"), -1 / 5)

    def test_accuracy_of_never_predicting_a_rare_class_is_high(self):
        rare = ranking([0] * 99 + [1])
        assert value(rare, "accuracy@threshold=101") == 0.99
        assert value(rare, "balanced_accuracy@threshold=101") == 0.5
        assert value(rare, "recall@threshold=101") == 0


def test_each_group_counts_the_same_in_a_mean_and_by_its_size_in_other_statistics():
    # ROC AUC 1 with 2 rows and 1 pair, and 1/2 with 4 rows, 2 positives and 4 pairs.
    users = pl.DataFrame(
        {
            "user": [1, 1, 2, 2, 2, 2],
            "y": [1, 0, 1, 0, 0, 1],
            "s": [9, 1, 8, 7, 6, 5],
        }
    )
    statistics = ["mean", "by_rows", "weighted", "by_pairs", "median", "min", "range", "ratio"]
    means = users.pr.evaluate({"x": "roc_auc"}, "y", "s", mean_over="user", statistics=statistics)
    expected = [3 / 4, 4 / 6, 2 / 3, 3 / 5, 3 / 4, 1 / 2, 1 / 2, 1 / 2]
    assert_allclose(means.drop("groups", "undefined").row(0), expected)
    # All rows as one ranking: the positives at 9, 8 and 5 rank above 3, 3 and 1 negatives.
    assert_allclose(value(users, "roc_auc"), 7 / 9)
    # A user without positives has no value, and is counted.
    alone = users.vstack(pl.DataFrame({"user": [3], "y": [0], "s": [4]}))
    without = alone.pr.evaluate("roc_auc", "y", "s", mean_over="user")
    assert without.row(0, named=True) == {"groups": 3, "undefined": 1, "mean_roc_auc": 0.75}


class TestProbabilities:
    def test_mean_score_equals_the_prevalence_though_no_score_is_calibrated(self):
        # Half of the rows are positive, and the mean score is 1/2, in the wrong order.
        frame = pl.DataFrame({"y": [1, 1, 0, 0], "s": [0.1, 0.1, 0.9, 0.9]})
        assert value(frame, "mean_score") == value(frame, "prevalence") == 0.5
        assert_allclose(value(frame, "brier_score"), 0.81)
        assert_allclose(value(frame, "mean_score@50%"), 0.9)
        assert value(frame, "precision@50%") == 0

    def test_log_loss_punishes_a_confident_error_more_than_the_brier_score(self):
        # The squared error grows from 0.81 to 0.998, the logarithm from 2.3 to 6.9.
        timid, bold = (pl.DataFrame({"y": [1], "s": [s]}) for s in (0.1, 0.001))
        assert_allclose(value(timid, "log_loss"), -np.log(0.1))
        assert_allclose(value(bold, "log_loss"), -np.log(0.001))
        assert value(bold, "brier_score") / value(timid, "brier_score") < 1.3

    def test_scores_beyond_0_and_1_have_no_brier_score(self):
        with pytest.raises(ValueError, match="probabilit"):
            value(ranking([1, 0]), "brier_score")
