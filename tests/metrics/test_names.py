import re

import polars as pl
import pytest
from samples import TEN

from frame_pr.metrics.names import metric


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
    offered = re.search(r"(?:the nearest names are|names look like) ([^(]*?)(?: \(.*)?$", message)[1].split(", ")
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
        ("threshold", "threshold@max_f1"),
        ("row", "rows"),
        ("positive", "positives"),
        ("tie", "ties"),
        ("lifts", "lift"),
        ("precisoin", "precision@10"),
    ],
)
def test_the_nearest_names(name, meant):
    with pytest.raises(
        ValueError, match=rf"no metric is named '{name}'; the nearest names are (.*, )?{meant}(,|$| \()"
    ):
        metric(name)


@pytest.mark.parametrize(("name", "figure"), [("recall", "recall"), ("Precision", "precision"), ("f", "f1")])
def test_a_figure_without_a_cut(name, figure):
    offered = f"{figure}@10, {figure}@threshold=0.5, {figure}@recall=0.8"
    with pytest.raises(
        ValueError, match=f"no metric is named '{name}'; it needs a cut, the nearest names are {offered}$"
    ):
        metric(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mrr", "reciprocal_rank (of each group: mean_over= averages it)"),
        ("map", "average_precision (of each group: mean_over= averages them)"),
        ("auc", "roc_auc, average_precision (under the ROC curve, or under the precision-recall curve)"),
        ("auroc", "roc_auc"),
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
        ("gini", "roc_auc (it is 2 * roc_auc - 1)"),
        ("ks", "max_informedness"),
        ("Success@1", "success@1"),
        ("ap@0.5", "average_precision, average_precision@10"),
        ("p@0.5", "precision@10, precision@threshold=0.5, precision@recall=0.8"),
    ],
)
def test_names_of_other_tools(name, meant):
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; the nearest names are {re.escape(meant)}$"):
        metric(name)


@pytest.mark.parametrize("name", ["infap", "err@20", "logloss"])
def test_a_metric_that_is_not_here(name):
    # Nothing is near to these: an offer would be a guess.
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; names look like average_precision, "):
        metric(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("precision@0", "k must be a whole number of at least 1, got 0"),
        ("average_precision@0", "k must be a whole number of at least 1, got 0"),
        ("precision@1.5", "k must be a whole number of at least 1, got 1.5: at a score it is precision@threshold=1.5"),
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
