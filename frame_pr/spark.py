"""The metrics on Spark: a shuffle by group, then the plain functions on each partition.

Importing this module gives `pyspark.sql.DataFrame`, Classic and Connect, a `.pr`. The functions here are those of
`frame_pr`, with the same arguments; a Spark frame goes in and a Spark frame comes out, lazy where there is a `by`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from frame_pr.accessors import PR
from frame_pr.functions import at_rank, at_recall, evaluation, rankings, tallies
from frame_pr.functions import average_precision as ap
from frame_pr.functions import f_beta as f
from frame_pr.parts.spark import SparkFrame
from frame_pr.statistics import reports

try:
    from pyspark.sql import DataFrame
except ImportError as error:
    raise ImportError('frame_pr.spark needs pyspark and pyarrow: pip install "frame-pr[spark]"') from error

P = ParamSpec("P")


def on_spark(function: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[DataFrame, P], DataFrame]:
    """One of our functions, on Spark frames."""

    @wraps(function)
    def on_frame(frame: DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> DataFrame:
        result: DataFrame = function(SparkFrame(frame), *args, **kwargs)
        return result

    return on_frame


average_precision = on_spark(ap.average_precision)
interpolated_average_precision = on_spark(ap.interpolated_average_precision)
average_precision_at_k = on_spark(ap.average_precision_at_k)
precision_at_k = on_spark(at_rank.precision_at_k)
recall_at_k = on_spark(at_rank.recall_at_k)
r_precision = on_spark(at_rank.r_precision)
precision_at_recall = on_spark(at_recall.precision_at_recall)
k_at_recall = on_spark(at_recall.k_at_recall)
f_beta = on_spark(f.f_beta)
roc_auc = on_spark(rankings.roc_auc)
reciprocal_rank = on_spark(rankings.reciprocal_rank)
success_at_k = on_spark(rankings.success_at_k)
ndcg = on_spark(rankings.ndcg)
evaluate = on_spark(evaluation.evaluate)
with_metrics = on_spark(evaluation.with_metrics)
report = on_spark(reports.report)
tally = on_spark(tallies.tally)


def _pr(frame: DataFrame) -> PR[Any]:
    return PR(SparkFrame(frame))


DataFrame.pr = property(_pr)  # type: ignore[attr-defined]
