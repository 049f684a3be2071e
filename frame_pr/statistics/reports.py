"""The usual metrics of a ranking or a classifier in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import polars as pl

from frame_pr.frames.arguments import check_flag, public
from frame_pr.frames.columns import by_name, refuse_clash, stacked
from frame_pr.frames.dispatch import find_kind, kind_of, read_stream
from frame_pr.frames.kinds import Frame, FrameKind, lazily
from frame_pr.functions.evaluation import evaluate
from frame_pr.functions.slices import on_slices
from frame_pr.inputs.options import REFUSED, Column, Columns, ReportOptions, options_in
from frame_pr.inputs.request import request_of
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.numbers import each
from frame_pr.statistics.influences import row_metric
from frame_pr.statistics.intervals import intervals

_BOUNDS = ("low", "high")


@public(REFUSED["report"], options=ReportOptions)
@lazily
def report(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    k: int | Sequence[int] = 10,
    threshold: float | Sequence[float] | None = None,
    confidence: float | None = None,
    wide: bool = False,
    mean_over: bool | str | Sequence[str] | None = None,
    by: Columns | None = None,
    slices: Sequence[Column | Sequence[Column]] | None = None,
    **options: Unpack[ReportOptions],
) -> Frame:
    """Summarise a ranking in the usual metrics, one row per group and metric.

    The metrics are average precision, ROC AUC, nDCG, precision and recall at k, the best F1 and its
    threshold. `evaluate` computes other metrics.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    k : int or list of int
        Cutoffs of nDCG, precision and recall.
    threshold : float or list of float, optional
        Adds the metrics of the confusion matrix at this threshold, or at each of these.
    confidence : float, optional
        Adds the bounds of `intervals` at this confidence level. With `mean_over` all metrics have
        bounds, and otherwise those with a closed form for rows: the long form has only these rows.
        `intervals` has the bootstrap of others.
    wide : bool
        Whether each metric is a column, in one row per group.
    mean_over : True, str or list of str, optional
        Columns over whose groups the metrics are averaged, such as queries. True: all columns of
        `by`. They need not be in `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    slices : list of columns, or of lists of columns; optional
        Columns whose values are slices of the rows: the result has all rows first, then each value
        of each slice, with the key columns `slice` and `slice_value`.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, the numbers of `rows` and `positives` of the group (Int64), or with `mean_over`
        the number of `groups`; then `metric` (its name) and `value` (Float64). With `confidence`,
        the keys, `metric`, `value`, `low` and `high`. With `wide`, the keys, these numbers and a
        column for each metric, and with `confidence` `low_` and `high_` columns after those that
        have bounds. A frame of a distributed engine, such as Spark, has a wide report, without
        `confidence`.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or
        has missing values.

    See Also
    --------
    evaluate, intervals, compare, format_table

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> relevant = [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": ["ink"] * 3 + ["tea"] * 3, "relevant": relevant})
    >>> run = run.with_columns(score=pl.Series([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]))
    >>> fp.report(run, "relevant", "score", k=2)
    shape: (7, 4)
    ┌──────┬───────────┬───────────────────┬──────────┐
    │ rows ┆ positives ┆ metric            ┆ value    │
    │ ---  ┆ ---       ┆ ---               ┆ ---      │
    │ i64  ┆ i64       ┆ str               ┆ f64      │
    ╞══════╪═══════════╪═══════════════════╪══════════╡
    │ 6    ┆ 4         ┆ average_precision ┆ 0.733333 │
    │ 6    ┆ 4         ┆ roc_auc           ┆ 0.375    │
    │ 6    ┆ 4         ┆ ndcg@2            ┆ 0.613147 │
    │ 6    ┆ 4         ┆ precision@2       ┆ 0.5      │
    │ 6    ┆ 4         ┆ recall@2          ┆ 0.25     │
    │ 6    ┆ 4         ┆ max_f1            ┆ 0.8      │
    │ 6    ┆ 4         ┆ threshold@max_f1  ┆ 0.4      │
    └──────┴───────────┴───────────────────┴──────────┘
    >>> wide = fp.report(run, "relevant", "score", k=2, by="query", wide=True)
    >>> wide.select("query", "rows", "average_precision", "roc_auc").rows()
    [('ink', 3, 0.8333333333333333, 0.5), ('tea', 3, 0.5833333333333333, 0.0)]
    """
    if slices is not None:
        call = {"k": k, "threshold": threshold, "confidence": confidence, "wide": wide}
        request = request_of(truth, score, by, options.get("positive"), options_in(options))
        of_slice = partial(report, truth=truth, score=score, mean_over=mean_over, **call, **options)
        in_slices: Frame = on_slices(
            frame,
            request,
            slices,
            lambda rows, part: of_slice(rows, by=list(part.keys) or None),
            value="slice_value",
        )
        return in_slices
    names = _metrics_of_report(k, threshold)
    arguments: Any = {"by": by, "mean_over": mean_over, **options}
    bounded: list[str] = []
    bounds: Any = None
    if confidence is not None:
        frame = read_stream(frame)  # A stream can be read once.
        of_bounds = dict(arguments)
        bounded = names
        if mean_over is None:
            bounded = list(filter(row_metric, names))
            of_bounds.pop("gain", None)  # Metrics with a closed form have no gains.
        bounds = intervals(frame, bounded, truth, score, confidence=confidence, **of_bounds)
    counts = ["rows", "positives"] if mean_over is None else []
    result = evaluate(frame, [*counts, *names], truth, score, **arguments)
    # A frame of a distributed engine has no rows to rearrange.
    if find_kind(result) is None or (check_flag("wide", wide) and bounds is None):
        return result
    prefix = ""
    if mean_over is not None:
        counts = ["groups"]
        prefix = "mean_"
    table, kind, keys = _long(result, bounds, counts, names, prefix)
    if wide:
        table = _wide(table, [*map(str, keys), *counts], names, bounded, prefix)
    elif bounds is not None:
        table = table.filter(pl.col("metric").is_in(bounded)).drop(counts)
    whole: Frame = kind.give(table, keys)
    return whole


def _metrics_of_report(k: Any, threshold: Any) -> list[str]:
    """Return the names of the metrics of a report."""
    ranks = [Rank.of(rank) for rank in each("k", k)]
    at_ranks = [f"{name}@{rank}" for name in ("ndcg", "precision", "recall") for rank in ranks]
    names = ["average_precision", "roc_auc", *at_ranks, "max_f1", "threshold@max_f1"]
    if threshold is not None:
        thresholds = [Threshold.of(value) for value in each("threshold", threshold)]
        names += [f"{rate}@{cutoff}" for cutoff in thresholds for rate in rates.CONFUSION_AT_CUTOFF]
    return names


def _long(
    result: Any, bounds: Any, counts: Sequence[str], names: Sequence[str], prefix: str
) -> tuple[pl.LazyFrame, FrameKind[Any], list[Any]]:
    """Return a row per group and metric, its kind of frame, and the keys."""
    kind = kind_of(result)
    keys = kind.columns[: kind.columns.index(counts[0])]
    columns = list(map(str, keys))
    refuse_clash(columns, ("metric", "value", *_BOUNDS))
    kind, others = kind.with_keys(keys, [] if bounds is None else [kind_of(bounds)])
    values = [
        {"metric": pl.lit(name), "value": by_name(prefix + name).cast(pl.Float64)} for name in names
    ]
    table = stacked(kind.read(kind.columns), list(map(by_name, [*columns, *counts])), values)
    for other in others:
        of_metrics = other.read(other.columns).select(*map(by_name, columns), "metric", *_BOUNDS)
        on = [*columns, "metric"]
        table = table.join(of_metrics, on=on, how="left", nulls_equal=True, maintain_order="left")
    return table, kind, keys


def _wide(
    table: pl.LazyFrame,
    index: Sequence[str],
    names: Sequence[str],
    bounded: Sequence[str],
    prefix: str,
) -> pl.LazyFrame:
    """Return one row per group of a long report, with columns for each metric and its bounds."""
    columns = {}
    for name in names:
        of_metric = pl.col("metric") == name
        columns[prefix + name] = pl.col("value").filter(of_metric).first()
        if name in bounded:
            for bound in _BOUNDS:
                columns[f"{bound}_{name}"] = pl.col(bound).filter(of_metric).first()
    return table.group_by(map(by_name, index), maintain_order=True).agg(**columns)
