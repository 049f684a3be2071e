import re

import polars as pl
import pytest
from samples import TEN

from frame_pr.frames.words import WORDS
from frame_pr.metrics.names import meant_names, metric


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
NO_NAMES += ["f1@threshold=1..2", "max_f1@10", "threshold@max_f1@3", "interpolated_average_precision_10", "f_1@3"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_no_metric(name):
    with pytest.raises(ValueError, match=f"^no metric is named {re.escape(repr(name))}; "):
        TEN.pr.evaluate(["average_precision", name], "relevant", "score")


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
        ("precision@k=5", ["precision@5"]),
        ("recall_at_precision", ["recall@precision=0.9"]),
        ("best_f1", ["max_f1"]),
        ("optimal_threshold", ["threshold@max_f1"]),
        ("average_precision@7/min", ["average_precision@7"]),
        ("score", []),
        ("label", []),
        ("query", []),
    ],
)
def test_what_a_name_of_another_tool_means(name, meant):
    assert meant_names(name) == meant
    with pytest.raises(
        ValueError, match=re.escape(" or ".join(map(repr, meant)) or "; names look like average_precision")
    ):
        metric(name)


def test_several_unknown_names_are_a_list_to_paste():
    meant = re.escape("did you mean ['average_precision', 'ndcg@10', 'precision@10', 'reciprocal_rank', 'rows']?")
    with pytest.raises(ValueError, match=f"^no metrics are named 'MAP', 'nDCG@10', 'P@10', 'mrr'; {meant}$"):
        TEN.pr.evaluate(["MAP", "nDCG@10", "P@10", "mrr", "rows"], "relevant", "score")


@pytest.mark.parametrize(
    ("name", "answer"), [("gini", "2 * roc_auc - 1"), ("logloss", "scikit-learn"), ("roc_curve", "curve(")]
)
def test_a_metric_that_is_not_offered(name, answer):
    with pytest.raises(ValueError, match=f"no metric is named '{name}'; .*{re.escape(answer)}"):
        metric(name)


@pytest.mark.parametrize("arguments", [("relevant", "score", ["rows"]), ("relevant", "score", "average_precision")])
def test_columns_in_the_place_of_metrics(arguments):
    with pytest.raises(ValueError, match=r"^the metrics come first, then truth and score; got metrics='relevant'$"):
        TEN.pr.evaluate(*arguments)


def test_every_word_for_a_metric_means_one():
    for answer, words in WORDS.items():
        if not (answer.endswith("=") or "(" in answer or " " in answer):
            for word in words.split():
                assert meant_names(word) or word in ("depth", "percent", "population", "cutoff"), word


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
