"""Precision-recall metrics per group, on polars and pandas frames: functions, and the same as a `.pr` namespace."""

from frame_pr.accessors import PR, register
from frame_pr.averages import average_precision, average_precision_at_k, interpolated_average_precision
from frame_pr.confusions import confusion
from frame_pr.curves import curve, with_curve
from frame_pr.cuts import f_beta, k_at_recall, precision_at_k, precision_at_recall, r_precision, recall_at_k
from frame_pr.evaluation import evaluate, with_metrics
from frame_pr.expressions import ExprPR
from frame_pr.inputs import Policies
from frame_pr.judgments import join_judgments
from frame_pr.partitions import partitioned
from frame_pr.plots import plot, plot_curve
from frame_pr.reports import report
from frame_pr.trec import read_trec_qrels, read_trec_run

__all__ = [
    "PR",
    "ExprPR",
    "Policies",
    "average_precision",
    "average_precision_at_k",
    "confusion",
    "curve",
    "evaluate",
    "f_beta",
    "interpolated_average_precision",
    "join_judgments",
    "k_at_recall",
    "partitioned",
    "plot",
    "plot_curve",
    "precision_at_k",
    "precision_at_recall",
    "r_precision",
    "read_trec_qrels",
    "read_trec_run",
    "recall_at_k",
    "report",
    "with_curve",
    "with_metrics",
]

register()
