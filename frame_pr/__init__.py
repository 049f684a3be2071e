"""Precision-recall metrics per group, on polars and pandas frames: functions, and the same as a `.pr` namespace.

Functions of a frame, each also a method of `.pr`, as in `run.pr.evaluate(...)`:

- Any metrics, and reports: evaluate, with_metrics, report, format_table
- Confidence intervals and tests: intervals, compare, average_curve
- Average precision: average_precision, interpolated_average_precision, average_precision_at_k
- Metrics at a cutoff, threshold or recall: precision_at_k, recall_at_k, f_beta, confusion, confusion_matrix,
  gains_table
- Other ranking metrics: roc_auc, ndcg
- Curves and plots: curve, with_curve, plot, plot_intervals, plot_comparison, plot_gains, plot_scores, plot_confusion
- Out-of-core and mergeable computation: tally
- Reshape lists and class columns: explode_lists, unpivot_classes
- Search runs and relevance judgments: join_judgments

Names of metrics: metrics. Files: read_trec_run and read_trec_qrels. Frames larger than memory:
partitioned. Types: Options (options), PR and ExprPR (the namespaces). Spark and Dask: import
frame_pr.spark or frame_pr.dask. show_versions prints the versions. help(frame_pr.evaluate) has the
arguments and examples of a function.
"""

from typing import TYPE_CHECKING, Any

from frame_pr.accessors import FUNCTIONS, load, missing_name, register
from frame_pr.accessors import PR as PR
from frame_pr.accessors import partitioned as partitioned
from frame_pr.expressions.namespace import ExprPR as ExprPR
from frame_pr.frames.environment import installed_version
from frame_pr.frames.environment import show_versions as show_versions
from frame_pr.frames.messages import DataWarning as DataWarning
from frame_pr.functions.confusion import confusion as confusion
from frame_pr.functions.confusion import confusion_matrix as confusion_matrix
from frame_pr.functions.curves import curve as curve
from frame_pr.functions.curves import gains_table as gains_table
from frame_pr.functions.curves import with_curve as with_curve
from frame_pr.functions.evaluation import evaluate as evaluate
from frame_pr.functions.evaluation import with_metrics as with_metrics
from frame_pr.functions.metric_list import metrics as metrics
from frame_pr.functions.single_metrics import average_precision as average_precision
from frame_pr.functions.single_metrics import average_precision_at_k as average_precision_at_k
from frame_pr.functions.single_metrics import f_beta as f_beta
from frame_pr.functions.single_metrics import (
    interpolated_average_precision as interpolated_average_precision,
)
from frame_pr.functions.single_metrics import ndcg as ndcg
from frame_pr.functions.single_metrics import precision_at_k as precision_at_k
from frame_pr.functions.single_metrics import recall_at_k as recall_at_k
from frame_pr.functions.single_metrics import roc_auc as roc_auc
from frame_pr.functions.tallies import tally as tally
from frame_pr.inputs.options import TREC_EVAL as TREC_EVAL
from frame_pr.inputs.options import Options as Options

if (
    TYPE_CHECKING
):  # `__getattr__` imports these on first use: with them, the import takes twice as long.
    from frame_pr.plotting.confusion_plots import plot_confusion as plot_confusion
    from frame_pr.plotting.curve_plots import plot as plot
    from frame_pr.plotting.interval_plots import plot_comparison as plot_comparison
    from frame_pr.plotting.interval_plots import plot_intervals as plot_intervals
    from frame_pr.plotting.score_plots import plot_gains as plot_gains
    from frame_pr.plotting.score_plots import plot_scores as plot_scores
    from frame_pr.statistics.average_curves import average_curve as average_curve
    from frame_pr.statistics.comparisons import compare as compare
    from frame_pr.statistics.intervals import intervals as intervals
    from frame_pr.statistics.reports import format_table as format_table
    from frame_pr.statistics.reports import report as report
    from frame_pr.tables.classes import unpivot_classes as unpivot_classes
    from frame_pr.tables.judgments import join_judgments as join_judgments
    from frame_pr.tables.lists import explode_lists as explode_lists
    from frame_pr.tables.trec import read_trec_qrels as read_trec_qrels
    from frame_pr.tables.trec import read_trec_run as read_trec_run
else:
    __all__ = ["PR", "TREC_EVAL", "DataWarning", "ExprPR", "Options", *sorted(FUNCTIONS)]

    def __dir__():
        return __all__


__version__: str


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        globals()[name] = load(name)
        return globals()[name]
    if name == "__version__":  # Reading the metadata of the installation takes 4 ms.
        return installed_version("frame_pr")
    raise AttributeError(missing_name("module 'frame_pr' has no attribute", name))


register()
