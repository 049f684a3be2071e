import re

import polars as pl
import pytest
from samples import TEN

from frame_pr.frames.words import METRICS
from frame_pr.metrics.names import example_names, meant_names, metric


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


NO_NAMES = [
    "",
    " ",
    "precision",
    "precision@",
    "precision@ 10",
    "precision@k",
    "precision@threshold",
    "max_f",
    "qqqqqqqq",
]
NO_NAMES += [
    "f1@threshold=nan",
    "f..@3",
    "precision@٣",
    "recall@10/positives",
    "rows@10",
    "@",
    "rows\n",
    "Precision@10",
]
NO_NAMES += [
    "f1@threshold=1..2",
    "max_f1@10",
    "threshold@max_f1@3",
    "interpolated_average_precision_10",
    "f_1@3",
]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("average_precison", ["average_precision"]),
        ("precison@7", ["precision@7"]),
        ("precision_at_5", ["precision@5"]),
        ("recall @ 5", ["recall@5"]),
        ("AP@5", ["average_precision@5"]),
        ("auc", ["roc_auc", "average_precision"]),
        ("tpr@5", ["recall@5"]),
        ("F1-score@5", ["f1@5"]),
        ("f@5", ["f1@5"]),
        ("MCC@threshold=0.5", ["mcc@threshold=0.5"]),
        ("mean average precision", ["average_precision"]),
        ("nDCG@10", ["ndcg@10"]),
        ("hit_rate_at_k", ["success@10"]),
        ("P_10", ["precision@10"]),
        ("ndcg_cut.10", ["ndcg@10"]),
        ("iprec_at_recall_0.10", ["interpolated_precision@recall=0.10"]),
        ("11pt_avg", ["interpolated_average_precision_11"]),
        ("fpr@tpr=0.95", ["fpr@recall=0.95"]),
        ("FPR95", ["fpr@recall=0.95"]),
        ("roc_auc@0.1", ["roc_auc@fpr=0.1"]),
        ("rbp0.95@10", ["rbp0.95"]),
        ("precision@top10%", ["precision@10%"]),
        ("inverse_precision@4", ["npv@4"]),
        ("inverse_recall@4", ["specificity@4"]),
        ("alert_rate@threshold=0.5", ["selection_rate@threshold=0.5"]),
        ("brier", ["brier_score"]),
        ("logloss", ["log_loss"]),
        ("max_recall@precision=0.9", ["recall@precision=0.9"]),
        ("min_fpr@recall=0.9", ["fpr@recall=0.9"]),
        ("precision@maxf1", ["precision@max_f1"]),
        ("max_f1@recal=0.5", ["max_f1@recall=0.5"]),
        ("precision@k=5", ["precision@5"]),
        ("recall_at_precision", ["recall@precision=0.9"]),
        ("best_f1", ["max_f1"]),
        ("optimal_threshold", ["threshold@max_f1"]),
        ("threshold@min_cost", ["threshold@min_cost10"]),
        ("threshold@maxf1", ["threshold@max_f1"]),
        ("average_precision@7/min", ["average_precision@7"]),
        ("npv@0.25", ["npv@threshold=0.25", "npv@recall=0.25"]),
        ("npv@2.5", ["npv@threshold=2.5"]),
        ("max_mcc@2.5", ["max_mcc"]),
        ("kappa@threshold", ["kappa@threshold=0.5"]),
        ("score", []),
        ("label", []),
        ("query", []),
    ],
)
def test_what_a_name_of_another_tool_means(name, meant):
    assert meant_names(name) == meant
    with pytest.raises(
        ValueError,
        match=re.escape(" or ".join(map(repr, meant)) or "; names look like average_precision"),
    ):
        metric(name)


def test_every_word_for_a_metric_means_one():
    for words in METRICS.values():
        for word in words.split():
            assert meant_names(word), word


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("false_omission_rate@4", "it is 1 - npv at the same cutoff"),
        ("plr@threshold=0.5", "it is recall / fpr at the same cutoff"),
        ("fowlkes_mallows@4", "it is the root of precision * recall at the same cutoff"),
        ("gini", "it is 2 * roc_auc - 1"),
        ("ece", "gains_table(...) has the mean score next to the precision of each bin"),
        ("precision_score", "confusion(..., prediction=...) does that"),
        ("demographic_parity", "such as selection_rate@10 or selection_rate@threshold=0.5"),
        ("k@min_cost", "it needs a cutoff, such as k@10 or k@threshold=0.5"),
        ("topk_precision", "names look like average_precision"),
    ],
)
def test_what_is_said_about_a_name_that_is_none(name, hint):
    with pytest.raises(
        ValueError, match=re.escape(f"no metric is named {name!r}; ") + ".*" + re.escape(hint)
    ):
        metric(name)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["auroc", "rows", "auprc"], "did you mean ['roc_auc', 'rows', 'average_precision']?"),
        (["err", "err@10", "rows"], "no metrics are named 'err', 'err@10'; 'err': ir_measures"),
        (["ppv@5", "recall"], "did you mean ['precision@5', 'recall@10']?"),
        (["auroc", "gini"], "'auroc': did you mean 'roc_auc'?; 'gini': it is 2 * roc_auc - 1"),
        (["qqqqqqqq", "xxxxxxxx"], "frame_pr.metrics() lists all names"),
    ],
)
def test_a_hint_for_several_names_has_no_unknown_name(names, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        TEN.pr.evaluate(names, "relevant", "score")


WORDS = [word for words in METRICS.values() for word in words.split()]


@pytest.mark.parametrize("cutoff", ["", "@3", "_at_k", "@threshold=0.5", "@recall=0.8", "@0.5"])
def test_every_suggestion_is_a_name(cutoff):
    rows = TEN.with_columns(score=pl.col("score") / 100)
    for word in WORDS:
        meant = [name for other in meant_names(word + cutoff) for name in example_names(other)]
        if meant:
            rows.pr.evaluate(list(dict.fromkeys(meant)), "relevant", "score")
