import re

import polars as pl
import pytest
from samples import TEN

from frame_pr.metrics.names import is_metric, metric
from frame_pr.metrics.rates import RATES
from frame_pr.metrics.synonyms import METRIC_SYNONYMS, NOT_OFFERED


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("f1@3", "f1.0@3"),
        ("max_f0.5", "max_f.5"),
        ("precision@recall=0.8", "precision@recall=.8"),
        ("recall@threshold=5", "recall@threshold=5.0"),
        ("recall@threshold=5", "recall@threshold=+5"),
        ("recall@threshold=5", "recall@threshold=50e-1"),
        ("recall@threshold=-5", "recall@threshold=-5.0"),
        ("recall@threshold=inf", "recall@threshold=+inf"),
    ],
)
def test_ways_to_write_a_number(name, same_as):
    result = TEN.pr.evaluate([name, same_as], "relevant", "score")
    # The column is named as it was asked for.
    assert result.columns == [name, same_as]
    assert result[name].item() == result[same_as].item()


NO_NAMES = ["", " ", "average_precison", "Average_Precision", "average precision", "AP", "map", "mAP", "nDCG@10"]
NO_NAMES += ["precision", "precision@", "precision@ 10", "precision@k", "precision@threshold", "precision@threshold="]
NO_NAMES += ["precison@10", "F1@10", "f1_score", "f1", "f@10", "max_f", "max_f1@10", "threshold@max_f1@3"]
NO_NAMES += ["precision@recall=", "precision@recall=.", "precision@recall=1..2", "precision@recall=high"]
NO_NAMES += ["f1@threshold=1..2", "f1@threshold=nan", "f..@3", "max_f.", "precision@٣", "recall@10/positives"]
NO_NAMES += [
    "average_precision@10/min",
    "interpolated_average_precision_10",
    "rows@10",
    "auc",
    "qqqqqqqq",
    "@",
    "rows\n",
]


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize("lazy", [False, True])
def test_no_metric(name, lazy):
    frame = TEN.lazy() if lazy else TEN
    with pytest.raises(ValueError, match="no metric is named") as error:
        frame.pr.evaluate(["average_precision", name], "relevant", "score")
    message = str(error.value)
    assert repr(name) in message
    offered = re.search(r"(?:the nearest names are|names look like|such as) ([^(]*?)(?: \(.*)?$", message)[1]
    offered = re.split(", | or ", offered)
    # What is offered can be asked for.
    assert TEN.pr.evaluate(offered, "relevant", "score").columns == offered


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("average_precison", "average_precision"),
        ("Average_Precision", "average_precision"),
        ("precison@7", "precision@7"),
        ("average_precision_at_7", "average_precision@7"),
        ("precision_at_5", "precision@5"),
        ("recall @ 5", "recall@5"),
        ("AP@5", "average_precision@5"),
        ("map", "average_precision"),
        ("mean_average_precision@5", "average_precision@5"),
        ("auc", "average_precision"),
        ("auprc", "average_precision"),
        ("pr_auc", "average_precision"),
        ("p@5", "precision@5"),
        ("ppv@5", "precision@5"),
        ("r@5", "recall@5"),
        ("sensitivity@5", "recall@5"),
        ("tpr@5", "recall@5"),
        ("tnr@5", "specificity@5"),
        ("f@5", "f1@5"),
        ("f1_score@5", "f1@5"),
        ("f_score@5", "f1@5"),
        ("recal@threshold=0.25", "recall@threshold=0.25"),
        ("r_precison", "r_precision"),
        ("interpolated_average_precision_10", "interpolated_average_precision"),
        ("F1@10", "f1@10"),
        ("prevalance", "prevalence"),
        ("MCC@threshold=0.5", "mcc@threshold=0.5"),
        ("max_F1", "max_f1"),
        ("f_beta@5", "f1@5"),
        ("fbeta@5", "f1@5"),
        ("support", "positives"),
        ("interpolated_average_precison", "interpolated_average_precision"),
        ("interpolated_average_precison_11", "interpolated_average_precision_11"),
        ("interpolated_precison@recall=0.4", "interpolated_precision@recall=0.4"),
        ("treshold@recall=0.4", "threshold@recall=0.4"),
        ("threshold", "threshold@recall=0.8"),
        ("row", "rows"),
        ("positive", "positives"),
        ("tied_row", "tied_rows"),
        ("lifts@3", "lift@3"),
        ("precisoin", "precision@10"),
        # A divisor that the metric lacks keeps the caller's cutoff.
        ("average_precision@7/min", "average_precision@7"),
        ("recall@7/hits", "recall@7/min"),
        ("ndcg_at_k", "ndcg@10"),
        ("hit_rate_at_k", "success@10"),
    ],
)
def test_the_nearest_names(name, meant):
    with pytest.raises(
        ValueError, match=rf"no metric is named '{name}'; the nearest names are (.*, )?{meant}(,|$| \()"
    ):
        metric(name)


@pytest.mark.parametrize(
    ("name", "rate"),
    [("recall", "recall"), ("Precision", "precision"), ("f", "f1"), ("f2", "f2"), ("f0.5", "f0.5"), ("tpr", "recall")],
)
def test_a_rate_without_a_cutoff(name, rate):
    offered = f"{rate}@10 or {rate}@threshold=0.5"
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; it needs a cutoff, such as {offered}$"):
        metric(name)


def test_lift_without_a_cutoff_names_the_metric_that_had_its_name():
    with pytest.raises(
        ValueError, match=r"such as lift@10 .*average precision over prevalence is average_precision_lift"
    ):
        metric("lift")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mrr", "reciprocal_rank (of each group: mean_over= averages it)"),
        ("map", "average_precision (of each group: mean_over= averages them)"),
        ("auc", "roc_auc, average_precision (under the ROC curve, or under the precision-recall curve)"),
        ("auroc", "roc_auc"),
        ("GAUC", "roc_auc (weighted by the rows of each group: mean_over= with statistics='by_rows')"),
        ("median_rank", "first_rank (over groups: mean_over= with statistics='median')"),
        ("hit_rate@5", "success@5"),
        ("hr@10", "success@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("P@10", "precision@10"),
        ("P_10", "precision@10"),
        ("recall_100", "recall@100"),
        ("success_5", "success@5"),
        ("recip_rank", "reciprocal_rank"),
        ("Rprec", "r_precision"),
        ("11pt_avg", "interpolated_average_precision_11"),
        ("iprec_at_recall_0.10", "interpolated_precision@recall=0.10"),
        ("map_cut_10", "average_precision@10 (over P, as trec_eval has it: average_precision@K/positives)"),
        ("ks", "max_informedness"),
        ("Success@1", "success@1"),
        ("p@0.5", "precision@threshold=0.5, precision@recall=0.5"),
        ("sensitivity@5", "recall@5"),
        ("TPR@threshold=0.5", "recall@threshold=0.5"),
        ("positive_predictive_value@5", "precision@5"),
        ("true positive rate@5", "recall@5"),
        ("fallout@5", "fpr@5"),
        ("fall-out@5", "fpr@5"),
        ("miss_rate@5", "fnr@5"),
        ("matthews@5", "mcc@5"),
        ("base_rate", "prevalence"),
        ("best_f1", "max_f1"),
        ("f0.5_max", "max_f0.5"),
        ("optimal_threshold", "threshold@max_f1"),
        ("threshold@precision=90%", "threshold@precision=0.9"),
        ("recall@fpr=1%", "recall@fpr=0.01"),
        ("recall@0.5%fpr", "recall@fpr=0.005"),
        ("TPR@1%FPR", "recall@fpr=0.01"),
        ("fpr@tpr=0.95", "fpr@recall=0.95"),
        ("FPR@95", "fpr@recall=0.95"),
        ("recall@tnr=0.9", "recall@specificity=0.9"),
        ("precision@k=5", "precision@5"),
        ("precision@50 %", "precision@50%"),
        ("iprec@0.1", "interpolated_precision@recall=0.1"),
        ("top_k_accuracy@5", "success@5 (of groups with one relevant item each)"),
        ("top_1_accuracy", "success@1 (of groups with one relevant item each)"),
        ("pauc", "roc_auc (up to a false positive rate: roc_auc@fpr=0.1)"),
        ("pauc@fpr=0.05", "roc_auc@fpr=0.05 (up to a false positive rate: roc_auc@fpr=0.1)"),
        ("threshold@f1", "threshold@max_f1"),
        ("max_precision@recall=0.5", "interpolated_precision@recall=0.5"),
        ("f2_score@7", "f2@7"),
        ("sensitivty@5", "recall@5"),
    ],
)
def test_names_of_other_tools(name, meant):
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; the nearest names are {re.escape(meant)}$"):
        metric(name)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("infAP", "ir_measures has infAP"),
        ("infNDCG", "ir_measures has infAP"),
        ("err@20", "ir_measures has ERR"),
        ("logloss", "scikit-learn has sklearn.metrics.log_loss"),
        ("brier", "scikit-learn has sklearn.metrics.brier_score_loss"),
        ("gini", "it is 2 * roc_auc - 1"),
        ("max_recall", "threshold@recall=1, threshold@specificity=1 and threshold@npv=1 are the thresholds"),
        ("prg_auc", "pyprg has it; normalized_average_precision is 0 for a random ranking"),
        ("det", "curve(...) has its points, and plot(...) draws it"),
        ("jaccard@10", "it is f1 / (2 - f1) at the same cutoff"),
    ],
)
def test_a_metric_that_is_not_offered(name, instead):
    with pytest.raises(ValueError, match=rf"no metric is named '{name}'; it is not offered: .*; {re.escape(instead)}$"):
        metric(name)


@pytest.mark.parametrize("name", ["score", "rel", "label", "query"])
def test_a_column_is_near_to_no_metric(name):
    # Nothing is near to these: an offer would be a guess.
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; names look like average_precision, "):
        metric(name)


@pytest.mark.parametrize("name", ["mAP@0.5", "AP@0.5:0.95", "map50", "ap75"])
def test_overlaps_of_boxes(name):
    with pytest.raises(ValueError, match=r"overlaps \(IoU\) belong to the matching of boxes"):
        metric(name)


def test_several_names_in_one_text():
    with pytest.raises(ValueError, match=re.escape("several metrics are a list: ['average_precision', 'recall@5']")):
        metric("AP, tpr@5")


def test_columns_in_the_place_of_metrics():
    with pytest.raises(ValueError, match="metrics come before truth and score; got metrics='relevant' and"):
        TEN.pr.evaluate("relevant", "score", "average_precision")


def test_suggestions_are_at_most_two_and_valid():
    heads = [name for rate in RATES.values() for name in rate.synonyms]
    heads += [name for names in METRIC_SYNONYMS.values() for name in names]
    for head in heads:
        texts = (head, f"{head}@7", f"{head}@threshold=0.25", f"{head}@recall=0.3")
        for name in (text for text in texts if not is_metric(text)):
            with pytest.raises(ValueError, match="no metric is named") as error:
                metric(name)
            offered = re.search(r"(?:the nearest names are|such as) (.*?)(?: \(.*)?$", str(error.value))
            if offered:
                names = re.split(", | or ", offered[1])
                assert len(names) <= 2
                assert all(map(is_metric, names))


def test_no_word_means_two_things():
    words = [word for rate in RATES.values() for word in rate.synonyms]
    assert len(words) == len(set(words))
    assert not {*words, *RATES} & NOT_OFFERED.keys()
    assert not {word for names in METRIC_SYNONYMS.values() for word in names} & NOT_OFFERED.keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("precision@0", "k must be a whole number of at least 1, got 0"),
        ("average_precision@0", "k must be a whole number of at least 1, got 0"),
        (
            "precision@1.5",
            "k must be a whole number of at least 1, got 1.5: at a score or a rate it is precision@threshold=1.5",
        ),
        ("precision@-3", "k must be a whole number of at least 1, got -3"),
        ("precision@1e2", "k must be a whole number of at least 1, got 1e2"),
        ("precision@recall=1.01", "recall must lie between 0 and 1, got 1.01"),
        ("threshold@recall=-0.1", "recall must lie between 0 and 1, got -0.1"),
        ("k@recall=inf", "recall must lie between 0 and 1, got inf"),
        ("f0@3", "beta must be a positive number, got 0"),
        ("max_f0.0", "beta must be a positive number, got 0.0"),
    ],
)
def test_a_number_that_cannot_be(name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TEN.pr.evaluate(name, "relevant", "score")


@pytest.mark.parametrize("name", [3, None, pl.col("average_precision"), ["rows"]])
def test_a_metric_is_a_text(name):
    with pytest.raises(TypeError, match="metrics takes names of metrics; got"):
        TEN.pr.evaluate([name], "relevant", "score")


def test_a_metric_twice():
    with pytest.raises(ValueError, match="metric 'rows' is asked for twice"):
        TEN.pr.evaluate(["rows", "positives", "rows"], "relevant", "score")
