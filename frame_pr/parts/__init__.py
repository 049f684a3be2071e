"""Evaluate a frame in parts: run the functions on each part and combine the results.

The functions of backends are here.
"""

from frame_pr.functions.cutoff_metrics import (
    f_beta,
    k_at_recall,
    precision_at_k,
    precision_at_recall,
    r_precision,
    recall_at_k,
)
from frame_pr.functions.evaluation import evaluate, with_metrics
from frame_pr.functions.rankings import (
    average_precision,
    average_precision_at_k,
    interpolated_average_precision,
    ndcg,
    reciprocal_rank,
    roc_auc,
    success_at_k,
)
from frame_pr.functions.tallies import tally
from frame_pr.statistics.reports import report

__all__ = [
    "average_precision",
    "average_precision_at_k",
    "evaluate",
    "f_beta",
    "interpolated_average_precision",
    "k_at_recall",
    "ndcg",
    "precision_at_k",
    "precision_at_recall",
    "r_precision",
    "recall_at_k",
    "reciprocal_rank",
    "report",
    "roc_auc",
    "success_at_k",
    "tally",
    "with_metrics",
]
