"""The metrics on Dask: a shuffle by group, then the plain functions on each partition.

Importing this module gives Dask's DataFrame a `.pr`. The functions here are those of `frame_pr`, with the same
arguments; a Dask frame goes in and a Dask frame comes out, not computed yet where there is a `by`. Counts are Int64,
which can be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from frame_pr.accessors import PR
from frame_pr.functions import at_rank, at_recall, evaluation, rankings, tallies
from frame_pr.functions import average_precision as ap
from frame_pr.functions import f_beta as f
from frame_pr.parts.dask import DaskFrame
from frame_pr.statistics import reports

try:
    from dask.dataframe import DataFrame
    from dask.dataframe.extensions import register_dataframe_accessor
except ImportError as error:
    raise ImportError('frame_pr.dask needs dask: pip install "frame-pr[dask]"') from error

P = ParamSpec("P")


def on_dask(function: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[DataFrame, P], DataFrame]:
    """One of our functions, on Dask frames."""

    @wraps(function)
    def on_frame(frame: DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> DataFrame:
        return function(DaskFrame(frame), *args, **kwargs)

    return on_frame


average_precision = on_dask(ap.average_precision)
interpolated_average_precision = on_dask(ap.interpolated_average_precision)
average_precision_at_k = on_dask(ap.average_precision_at_k)
precision_at_k = on_dask(at_rank.precision_at_k)
recall_at_k = on_dask(at_rank.recall_at_k)
r_precision = on_dask(at_rank.r_precision)
precision_at_recall = on_dask(at_recall.precision_at_recall)
k_at_recall = on_dask(at_recall.k_at_recall)
f_beta = on_dask(f.f_beta)
roc_auc = on_dask(rankings.roc_auc)
reciprocal_rank = on_dask(rankings.reciprocal_rank)
success_at_k = on_dask(rankings.success_at_k)
ndcg = on_dask(rankings.ndcg)
evaluate = on_dask(evaluation.evaluate)
with_metrics = on_dask(evaluation.with_metrics)
report = on_dask(reports.report)
tally = on_dask(tallies.tally)


@register_dataframe_accessor("pr")  # type: ignore[untyped-decorator]
def _pr(frame: DataFrame) -> PR[Any]:
    return PR(DaskFrame(frame))
