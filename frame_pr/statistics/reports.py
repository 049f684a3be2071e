"""A report: the metrics that a review of a ranking or a classifier starts with, in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, public
from frame_pr.frames.columns import by_name, refuse_clash
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import means_asked, metrics_of
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.means import Statistic
from frame_pr.metrics.names import metric, request_for
from frame_pr.metrics.numbers import each
from frame_pr.statistics.intervals import of_means, share_of
from frame_pr.statistics.sampled_rows import bounds_of, refuse_policies, row_metric, values_and_errors
from frame_pr.statistics.unit_values import UnitValues, keys_left, refuse_engine, unit_values_of


@public(REFUSED["report"])
def report(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    k: int | Sequence[int] = (1, 5, 10),
    threshold: float | Sequence[float] | None = None,
    confidence: float | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    statistics: Statistic | str | Sequence[Statistic | str] = "mean",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Summarise a ranking in the usual metrics, one row per group, the most important metrics first.

    `evaluate` gives any other choice of metrics.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int
        Cut-off ranks for precision, recall and average precision.
    threshold : float or list of float, optional
        Adds the figures of the confusion table at this threshold, or at each of these.
    confidence : float, optional
        Adds `low_...` and `high_...` behind each share, the bounds that `intervals` gives with this confidence: with
        `mean_over` of the means of all, else of those that have them where rows are sampled.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns. True: all columns but
        `system`.
    statistics : str or list of str
        Statistics over the groups that `mean_over` names: "mean", "median", "std" (of a sample), "min", "max",
        quantiles such as "q25", "range" (max - min), "ratio" (min / max), means weighted by the positives of the group
        ("weighted"), by its rows ("by_rows") or by its pairs of a positive and a negative ("by_pairs"), and "defined"
        (the number of groups that have a value).
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `rows, positives, prevalence, ties` (rows that share their score with another),
        `average_precision, interpolated_average_precision, average_precision_lift` (average precision over prevalence),
        `r_precision`, `precision@k, recall@k, average_precision@k` for each k, `max_f1, threshold@max_f1`, and with a
        threshold the figures there, such as `precision@threshold=0.5`.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> table = fp.report(run, "relevant", "score", k=2, by="query")
    >>> table.select("query", "positives", "average_precision", "precision@2", "max_f1")
    shape: (2, 5)
    ┌───────┬───────────┬───────────────────┬─────────────┬────────┐
    │ query ┆ positives ┆ average_precision ┆ precision@2 ┆ max_f1 │
    │ ---   ┆ ---       ┆ ---               ┆ ---         ┆ ---    │
    │ str   ┆ i64       ┆ f64               ┆ f64         ┆ f64    │
    ╞═══════╪═══════════╪═══════════════════╪═════════════╪════════╡
    │ ink   ┆ 2         ┆ 0.833333          ┆ 0.5         ┆ 0.8    │
    │ tea   ┆ 2         ┆ 0.583333          ┆ 0.5         ┆ 0.8    │
    └───────┴───────────┴───────────────────┴─────────────┴────────┘
    """
    ranks = [Rank.of(rank) for rank in each("k", k)]
    names = ["rows", "positives", "prevalence", "ties"]
    names += ["average_precision", "interpolated_average_precision", "average_precision_lift", "r_precision"]
    names += [f"{rate}@{rank}" for rate in ("precision", "recall", "average_precision") for rank in ranks]
    names += ["max_f1", "threshold@max_f1"]
    if threshold is not None:
        cuts = [Threshold.of(cut) for cut in each("threshold", threshold)]
        names += [f"{rate}@{cut}" for cut in cuts for rate in rates.CONFUSION_AT_CUTOFF]
    means = means_asked(mean_over, statistics)
    if confidence is None:
        return metrics_of(frame, names, truth, score, policies, by, positive, undefined, means)
    if means is not None and list(means.statistics) != ["mean"]:
        raise ValueError("confidence= is of the mean over groups: leave out statistics=, or confidence=")
    share, filled = share_of(confidence), filling("undefined", undefined)
    refuse_engine(frame)
    if mean_over is not None:
        unit_values = unit_values_of(frame, names, truth, score, by, positive, filled, policies)
        keys = keys_left(unit_values.keys, mean_over)
        table = _side_by_side(of_means(unit_values, keys, share), keys, unit_values)
        return unit_values.give(table.sort(unit_values.in_order(keys)) if keys else table, keys)
    request = request_of(truth, score, by, positive, policies)
    targets = [target for name in names if (target := row_metric(name))]
    refuse_policies(request, [target.name for target in targets], clusters=False)
    rows, output = rows_of(frame, request_for(names, request))
    table = values_and_errors(rows, targets, filled, names)
    bounds = {
        f"{side}_{target.name}": bound
        for i, target in enumerate(targets)
        for side, bound in bounds_of(i, target, pl.col(target.name), share).items()
    }
    columns = [
        column for name in names for column in (name, f"low_{name}", f"high_{name}") if column in (*names, *bounds)
    ]
    return output.result(table.with_columns(**bounds), columns)


def _side_by_side(table: pl.LazyFrame, keys: Sequence[str], unit_values: UnitValues[Any]) -> pl.LazyFrame:
    """Pivot a row for each metric into the columns that `evaluate` returns for means, with their bounds."""

    def of(name: str, column: str) -> pl.Expr:
        return pl.col(column).filter(pl.col("metric") == name).first()

    first = unit_values.metrics[0]
    columns = {"groups": of(first, "units") + of(first, "undefined")}
    for name in unit_values.metrics:
        columns[f"mean_{name}"] = of(name, "value")
        if metric(name).kind == "share":
            columns |= {f"{side}_{name}": of(name, side) for side in ("low", "high")}
    columns |= {f"undefined_{name}": of(name, "undefined") for name in unit_values.undefinable}
    refuse_clash(keys, columns)
    return table.group_by(map(by_name, keys)).agg(**columns) if keys else table.select(**columns)
