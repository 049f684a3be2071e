"""Precision-recall metrics per group, on polars and pandas frames: functions, and the same as a `.pr` namespace."""

from typing import TYPE_CHECKING, Any

from frame_pr.accessors import FUNCTIONS, PR, load, methods_by_subject, missing_name, partitioned, register
from frame_pr.expressions.namespace import ExprPR
from frame_pr.frames.environment import installed_version, show_versions
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
from frame_pr.inputs.policies import TREC_EVAL, Policies

if TYPE_CHECKING:  # `__getattr__` imports these on first use: with them, the import takes twice as long.
    from frame_pr.plotting.confusion_plots import plot_confusion
    from frame_pr.plotting.curve_plots import plot
    from frame_pr.plotting.interval_plots import plot_comparison, plot_intervals
    from frame_pr.plotting.score_plots import plot_gains, plot_scores
    from frame_pr.statistics.average_curves import average_curve
    from frame_pr.statistics.comparisons import compare
    from frame_pr.statistics.intervals import intervals
    from frame_pr.statistics.reports import format_table, report
    from frame_pr.tables.classes import unpivot_classes
    from frame_pr.tables.judgments import join_judgments
    from frame_pr.tables.lists import explode_lists
    from frame_pr.tables.trec import read_trec_qrels, read_trec_run

__all__ = [
    "PR",
    "TREC_EVAL",
    "DataWarning",
    "ExprPR",
    "Policies",
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


# What help(frame_pr) begins with.
__doc__ = f"""{__doc__}

Functions of a frame, each also a method of `.pr`, as in `run.pr.evaluate(...)`:

{methods_by_subject()}

Names of metrics: metrics. Files: read_trec_run and read_trec_qrels. Frames larger than memory: partitioned. Types:
Policies (options), PR and ExprPR (the namespaces). Spark and Dask: import frame_pr.spark or
frame_pr.dask. show_versions prints the versions. help(frame_pr.evaluate) has the arguments and examples of a function.
"""
__version__: str


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        globals()[name] = load(name)
        return globals()[name]
    if name == "__version__":  # Reading the metadata of the installation takes 4 ms.
        return installed_version("frame_pr")
    raise AttributeError(missing_name("module 'frame_pr' has no attribute", name))


def __dir__() -> list[str]:
    return __all__


register()
