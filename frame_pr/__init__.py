"""Ranking and classification metrics for polars and pandas DataFrames, computed per group.

Functions of a frame, each also a method of `.pr`, as in `run.pr.evaluate(...)`:

- Any metrics, and reports: evaluate, with_metrics, report, format_table
- Confidence intervals and tests: intervals, compare, average_curve
- Average precision: average_precision, interpolated_average_precision, average_precision_at_k
- Metrics at a cutoff, threshold or recall: precision_at_k, recall_at_k, f_beta, confusion,
  confusion_matrix, gains_table
- Other ranking metrics: roc_auc, ndcg
- Curves and plots: curve, with_curve, plot, plot_intervals, plot_comparison, plot_gains,
  plot_scores, plot_confusion
- Out-of-core and mergeable computation: tally
- Reshape lists and class columns: explode_lists, unpivot_classes
- Search runs and relevance judgments: join_judgments

Names of metrics: metrics. Files: read_trec_run and read_trec_qrels. Frames larger than memory:
partitioned. Types: Options (options), PR and ExprPR (the namespaces). Spark and Dask: import
frame_pr.spark or frame_pr.dask. show_versions prints the versions. help(frame_pr.evaluate) has the
arguments and examples of a function.
"""

from frame_pr.accessors import PR
from frame_pr.expressions.namespace import ExprPR
from frame_pr.frames.environment import show_versions
from frame_pr.frames.messages import DataWarning
from frame_pr.functions.confusion import confusion, confusion_matrix
from frame_pr.functions.curves import curve, gains_table, with_curve
from frame_pr.functions.evaluation import evaluate, with_metrics
from frame_pr.functions.metric_list import metrics
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
from frame_pr.inputs.options import TREC_EVAL, Options
from frame_pr.parts.partitioned import partitioned
from frame_pr.plotting.plots import (
    plot,
    plot_comparison,
    plot_confusion,
    plot_gains,
    plot_intervals,
    plot_scores,
)
from frame_pr.registration import register
from frame_pr.statistics.average_curves import average_curve
from frame_pr.statistics.comparisons import compare
from frame_pr.statistics.format_tables import format_table
from frame_pr.statistics.intervals import intervals
from frame_pr.statistics.reports import report
from frame_pr.tables.classes import unpivot_classes
from frame_pr.tables.judgments import join_judgments
from frame_pr.tables.lists import explode_lists
from frame_pr.tables.trec import read_trec_qrels, read_trec_run

__version__ = "0.1.0"
__all__ = [
    "PR",
    "TREC_EVAL",
    "DataWarning",
    "ExprPR",
    "Options",
    "average_curve",
    "average_precision",
    "average_precision_at_k",
    "compare",
    "confusion",
    "confusion_matrix",
    "curve",
    "evaluate",
    "explode_lists",
    "f_beta",
    "format_table",
    "gains_table",
    "interpolated_average_precision",
    "intervals",
    "join_judgments",
    "metrics",
    "ndcg",
    "partitioned",
    "plot",
    "plot_comparison",
    "plot_confusion",
    "plot_gains",
    "plot_intervals",
    "plot_scores",
    "precision_at_k",
    "read_trec_qrels",
    "read_trec_run",
    "recall_at_k",
    "report",
    "roc_auc",
    "show_versions",
    "tally",
    "unpivot_classes",
    "with_curve",
    "with_metrics",
]

register()
