"""Evaluate a frame in parts: run the functions on each part and combine the results.

The functions of backends are here.
"""

from frame_pr.functions.evaluation import evaluate, with_metrics
from frame_pr.functions.single_metrics import (
    average_precision,
    average_precision_at_k,
    f_beta,
    interpolated_average_precision,
    ndcg,
    precision_at_k,
    recall_at_k,
    roc_auc,
)
from frame_pr.functions.tallies import tally
from frame_pr.statistics.reports import report

__all__ = [
    "average_precision",
    "average_precision_at_k",
    "evaluate",
    "f_beta",
    "interpolated_average_precision",
    "ndcg",
    "precision_at_k",
    "recall_at_k",
    "report",
    "roc_auc",
    "tally",
    "with_metrics",
]
