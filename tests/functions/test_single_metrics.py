"""The functions of one metric each: they have the values of the names of `evaluate`."""

import pytest
from samples import TEN

import frame_pr as fp

CALLS = [
    ("average_precision", {}, ["average_precision"]),
    ("interpolated_average_precision", {}, ["interpolated_average_precision"]),
    ("interpolated_average_precision", {"points": 11}, ["interpolated_average_precision_11"]),
    ("average_precision_at_k", {"k": 3}, ["average_precision@3"]),
    (
        "average_precision_at_k",
        {"k": [2, "30%"], "divisor": "hits"},
        [f"average_precision@{k}/hits" for k in (2, "30%")],
    ),
    ("precision_at_k", {"k": [1, "0.5%"]}, ["precision@1", "precision@0.5%"]),
    ("recall_at_k", {"k": 4}, ["recall@4"]),
    ("f_beta", {}, ["max_f1", "threshold@max_f1"]),
    ("f_beta", {"k": "20%", "beta": 2}, ["f2@20%"]),
    ("f_beta", {"threshold": 3}, ["f1@threshold=3"]),
    ("roc_auc", {}, ["roc_auc"]),
    ("ndcg", {}, ["ndcg"]),
    ("ndcg", {"k": [2, "50%"]}, ["ndcg@2", "ndcg@50%"]),
]


@pytest.mark.parametrize(("function", "options", "names"), CALLS)
def test_a_function_is_a_name_of_evaluate(function, options, names):
    result = getattr(fp, function)(TEN, "relevant", "score", **options)
    assert result.equals(fp.evaluate(TEN, names, "relevant", "score"))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("r_precision", "evaluate('r_precision', ...)"),
        ("reciprocal_rank", "evaluate('reciprocal_rank', ...)"),
        ("success_at_k", "evaluate('success@10', ...)"),
        ("precision_at_recall", "evaluate('precision@recall=0.8', ...)"),
        ("k_at_recall", "evaluate('k@recall=0.8', ...)"),
        ("recall_at_precision", "evaluate('recall@precision=0.9', ...)"),
        ("threshold_at_precision", "evaluate('threshold@precision=0.9', ...)"),
        ("mean_average_precision", "evaluate('average_precision', ...)"),
        ("auc", "evaluate('roc_auc', ...)"),
        ("ci", "intervals(...)"),
        ("significance", "compare(...)"),
        ("plot_roc", "plot(..., x='fpr', y='recall')"),
        ("metrics", "frame_pr.metrics(...)"),
    ],
)
def test_names_that_are_no_functions(name, call):
    with pytest.raises(AttributeError) as method:
        getattr(TEN.pr, name)
    assert call in str(method.value)
    assert "\n" not in str(method.value)
