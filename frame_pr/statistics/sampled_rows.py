"""Standard errors and intervals for sampled rows, or clusters of rows, in fixed groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import refuse_options
from frame_pr.frames.columns import refuse_clash, refuse_several, stacked
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import sorted_by
from frame_pr.inputs.policies import DEFAULT_TIES, DRAWN_ROWS, SAMPLED_CLUSTERS, SAMPLED_ROWS, Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import OutputFrame, Rows, rows_of
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates, Metric
from frame_pr.metrics.names import COLUMNS as BLOCKS
from frame_pr.metrics.names import metric
from frame_pr.metrics.rates import RATES, Counts, RowShare
from frame_pr.ranking.blocks import blocks_of
from frame_pr.statistics.bounds import around, auc_bounds, proportion_bounds, share_bounds
from frame_pr.statistics.unit_values import COLUMNS, interval_row

_NEGATIVES = BLOCKS.rows - BLOCKS.positives
RankingBounds: TypeAlias = Callable[[pl.Expr, pl.Expr, pl.Expr, pl.Expr, pl.Expr, float], dict[str, pl.Expr]]


class RowError(NamedTuple):
    """The standard error of a metric over sampled rows, as sums over blocks, and the influence D of a row.

    D is the derivative of the metric by the weight of the row: its influence function. The D of all rows sum to 0, and
    the sum of their squares is about the variance of the metric.
    """

    aggregates: Aggregates
    error: pl.Expr
    """A formula of the facts of the group and of the aggregates."""
    positive: pl.Expr
    """The D of a row, from its label, its block and the facts of the group."""
    negative: pl.Expr
    by_class: bool = False
    """Whether the D of the positives sum to 0, and those of the negatives too."""


def _average_precision(value: pl.Expr) -> RowError:
    """Return the standard error of average precision. A positive that is not retrieved has D = -A / P.

    More weight for a positive changes its own term, and the precision at its step and at all later ones; more weight
    for a negative changes only the latter.
    """
    lacking = BLOCKS.tp / BLOCKS.k - 1 + pl.col("later_misses")
    later_hits, retrieved_hits = pl.col("later_hits"), BLOCKS.number("retrieved_hits")
    unretrieved = BLOCKS.positives - retrieved_hits
    # Relative to 1 - A, which for good rankings is as small as the other terms.
    lacks = 1 - value
    squares = BLOCKS.number("gain_squares") + 2 * lacks * BLOCKS.number("gains") + lacks**2 * retrieved_hits
    squares += unretrieved * value**2 + BLOCKS.number("loss_squares")
    return RowError(
        {
            "gain_squares": Aggregate(BLOCKS.hits * lacking**2),
            "gains": Aggregate(BLOCKS.hits * lacking),
            "retrieved_hits": Aggregate(pl.when("retrieved").then(BLOCKS.hits)),
            "loss_squares": Aggregate(pl.col("misses") * later_hits**2),
        },
        _spread(squares, pl.min_horizontal(BLOCKS.positives, _NEGATIVES)).sqrt() / BLOCKS.positives,
        (lacking.fill_null(-1.0) + lacks) / BLOCKS.positives,
        -later_hits / BLOCKS.positives,
    )


def _roc_auc(value: pl.Expr) -> RowError:
    """Return the standard error of ROC AUC.

    Its variance is that of DeLong, DeLong and Clarke-Pearson (1988): of the shares of negatives above each positive,
    and of positives below each negative. Rows that are not retrieved are the last block.
    """
    tp, k = BLOCKS.tp.fill_null(BLOCKS.positives), BLOCKS.k.fill_null(BLOCKS.rows)
    misses, above = BLOCKS.size - BLOCKS.hits, tp - BLOCKS.hits
    of_hit = (k - tp - misses / 2) / _NEGATIVES
    of_miss, of_earlier = 1 - (above + BLOCKS.hits / 2) / BLOCKS.positives, 1 - above / BLOCKS.positives
    lacks = 1 - value
    earlier = pl.col("misses") - misses
    of_positives = BLOCKS.number("negatives_above_squares") - BLOCKS.positives * lacks**2
    of_negatives = BLOCKS.number("positives_below_squares") - _NEGATIVES * lacks**2
    # In floats, because Int64 does not hold the square of every count.
    p, n = BLOCKS.positives.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    variance = _spread(of_positives, p) / p**2 + _spread(of_negatives, n) / n**2
    return RowError(
        {
            "negatives_above_squares": Aggregate(BLOCKS.hits * of_hit**2),
            "positives_below_squares": Aggregate(misses * of_miss**2 + earlier * of_earlier**2),
        },
        variance.sqrt(),
        (lacks - of_hit) / BLOCKS.positives,
        (lacks - of_miss) / _NEGATIVES,
        by_class=True,
    )


def _spread(squares: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Correct a sum of squares of n numbers that sum to 0 for the size of the sample; null below two."""
    return pl.when(n > 1).then(squares.clip(lower_bound=0.0) * n / (n - 1))


ROW_ERRORS: Mapping[str, Callable[[pl.Expr], RowError]] = {"average_precision": _average_precision, "roc_auc": _roc_auc}
"""The standard errors of metrics of a whole ranking. The df is one less than the smaller number of the two labels."""
RANKING_BOUNDS: Mapping[str, RankingBounds] = {"roc_auc": auc_bounds}
"""The metrics whose bounds are not those of other shares, from value, error, df, positives and negatives."""


def proportion(share: RowShare, value: pl.Expr) -> pl.Expr:
    """Return the share of rows J for a rate that is J, or 2 J / (1 + J)."""
    return value / (2 - value) if share.harmonic else value


def _proportion_error(share: RowShare, value: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Return the standard error of a rate of n rows; see `proportion`."""
    part = proportion(share, value)
    error = (part * (1 - part) / n).sqrt()
    return error * 2 / (1 + part) ** 2 if share.harmonic else error


class RowMetric(NamedTuple):
    """A metric with a standard error over rows: a metric of the whole ranking, or a share at a threshold."""

    name: str
    of_ranking: Callable[[pl.Expr], RowError] | None
    row_share: RowShare | None = None
    threshold: Threshold | None = None
    ranking_bounds: RankingBounds | None = None


class SampledRows(NamedTuple, Generic[Frame]):
    """The rows of a call, checked for standard errors, and the output in the caller's kind of frame."""

    rows: Rows
    output: OutputFrame[Frame]
    metrics: Sequence[RowMetric]
    undefined: float | None
    keys: Mapping[str, str]
    """The keys of the result, and their columns in the tables below."""
    averaged: bool
    """Whether values are means over the groups that share the keys."""
    clustered: bool

    @property
    def single(self) -> bool:
        """Return whether each value is that of one group with independent rows."""
        return not (self.averaged or self.clustered)

    def errors(self) -> pl.LazyFrame:
        """Return the keys, `n` (rows or clusters), and `value 0`, `error 0`, `df 0`, `groups 0`, `undefined 0`, ..."""
        groups = values_and_errors(self.rows, self.metrics, self.undefined)
        table, keys = self.output.restored(groups), list(self.keys.values())
        names = [metric.name for metric in self.metrics]
        table = (
            mean_values(table, keys, names, _errors_of_means(names)) if self.averaged else group_values(table, names)
        )
        if not self.clustered:
            return table
        errors, places = _cluster_errors(self.clusters(groups), keys, self.metrics), range(len(names))
        table = table.join(errors, on=keys, how="left", nulls_equal=True) if keys else table.join(errors, how="cross")
        return table.with_columns(
            pl.col("clusters").alias("n"),
            *((pl.col(f"sum {i}") / pl.col(f"groups {i}")).alias(f"error {i}") for i in places),
            *((pl.col("clusters") - 1).alias(f"df {i}") for i in places),
        )

    def clusters(self, groups: pl.LazyFrame | None = None) -> pl.LazyFrame:
        """Return the keys, `cluster`, the sum of the D of its rows for each metric, and `alone 0`, ...

        `groups`: the result of `values_and_errors`. See `_cluster_errors`.
        """
        groups = values_and_errors(self.rows, self.metrics, self.undefined) if groups is None else groups
        sums = sums_of_clusters(self.rows, self.metrics, groups).with_columns(alone=pl.len().over("group") == 1)
        places = range(len(self.metrics))
        alone = ((pl.col("alone") & pl.col(f"D {i}").is_not_null()).any().alias(f"alone {i}") for i in places)
        by_cluster = self.output.restored(sums).group_by(*self.keys.values(), "cluster")
        return by_cluster.agg(*(pl.col(f"D {i}").sum() for i in places), *alone)


def sampled_rows(
    frame: Frame,
    request: Request,
    names: Sequence[str],
    undefined: float | None,
    keys_left: Callable[[Sequence[str]], list[str]] | None = None,
    cluster: Column | None = None,
    *,
    draws_again: bool = False,
) -> SampledRows[Frame]:
    """Validate a frame whose rows, or clusters of rows, are the sample.

    `keys_left`: for means, returns the keys that are not averaged over. `draws_again`: whether rows are drawn again,
    instead of a closed form.
    """
    if draws_again:
        metrics = [RowMetric(name, None) for name in names]
        refuse_options("a bootstrap", request.policies, DRAWN_ROWS)
    else:
        metrics = [of_rows(name) for name in names]
        refuse_policies(request, names, clusters=cluster is not None)
    if cluster is not None:
        refuse_cluster(cluster, request)
        request = replace(request, cluster=cluster)
    rows, output = rows_of(frame, request, carry=False)
    left = output.keys if keys_left is None else keys_left(output.keys)
    keys = {key: output.key_columns[key] for key in left}
    return SampledRows(rows, output, metrics, undefined, keys, keys_left is not None, cluster is not None)


def intervals_of_rows(sampled: SampledRows[Any], confidence: float) -> pl.LazyFrame:
    """Compute what `intervals` returns for sampled rows."""
    lines = []
    for i, target in enumerate(sampled.metrics):
        value = pl.col(f"value {i}")
        bounds = bounds_of(i, target, value, confidence, simple=sampled.single)
        error, undefined = pl.col(f"error {i}"), pl.col(f"undefined {i}")
        lines.append(interval_row(target.name, value, bounds, error, pl.col("n"), undefined))
    return lines_by_keys(sampled, sampled.errors(), lines, in_order=sampled.single)


def lines_by_keys(
    sampled: SampledRows[Any], table: pl.LazyFrame, lines: Sequence[Mapping[str, pl.Expr]], *, in_order: bool
) -> pl.LazyFrame:
    """Return the keys of each row of a table with these lines, stacked; `in_order`: whether keys are sorted."""
    keys = [pl.col(column).alias(key) for key, column in sampled.keys.items()]
    refuse_clash(sampled.keys, COLUMNS)
    if keys and not in_order:
        table = table.sort(sorted_by([*sampled.keys], sampled.output.systems, [*sampled.keys.values()]))
    return stacked(table, keys, lines)


def row_metric(name: str) -> RowMetric | None:
    """Return the metric of this name; None if it has no standard error over rows."""
    head, cutoff = name.partition("@")[0], metric(name).cutoff
    row_share = RATES[head].row_share if head in RATES else None
    if row_share is not None and (cutoff is None or isinstance(cutoff, Threshold)):
        return RowMetric(name, None, row_share, cutoff)
    if name not in ROW_ERRORS:
        return None
    return RowMetric(name, ROW_ERRORS[name], ranking_bounds=RANKING_BOUNDS.get(name))


def of_rows(name: str) -> RowMetric:
    """Return the metric of this name; raise if it has no standard error over rows."""
    if target := row_metric(name):
        return target
    shares = [rate for rate, record in RATES.items() if record.row_share is not None]
    at_thresholds = ", ".join(rate for rate in shares if not RATES[rate].of_group)
    totals = [rate for rate in shares if RATES[rate].of_group]
    raise ValueError(
        f"{name} has no closed form where rows are sampled: {', '.join(ROW_ERRORS)} and {', '.join(totals)} have one, "
        f"and {at_thresholds} at a threshold; method='bootstrap' gives an interval for every metric"
    )


def refuse_policies(request: Request, names: Sequence[str], *, clusters: bool) -> None:
    """Raise for options under which rows are not independent and equally likely."""
    refusals = (*SAMPLED_ROWS, *SAMPLED_CLUSTERS) if clusters else SAMPLED_ROWS
    refuse_options("a standard error", request.policies, refusals)
    if "total_positives" in request.totals and any(name != "average_precision" for name in names):
        raise ValueError(
            "total_positives=: where rows are sampled, only average_precision has a standard error with it; put "
            "missing rows in, with a null score and unscored='unretrieved'"
        )


def refuse_cluster(cluster: Column, request: Request) -> None:
    """Raise if the cluster column is also the label, a score or a key."""
    refuse_several("cluster", cluster)
    roles = {"the label": [request.truth], "the score": request.scores, "a key of by": request.keys}
    for role, columns in roles.items():
        if _column_name(cluster) in [name for name in map(_column_name, columns) if name is not None]:
            raise ValueError(
                f"cluster: {shown(_column_name(cluster))} is {role}; name the column that rows were drawn by, such as "
                "a user or an image"
            )


def _column_name(column: Column) -> Any:
    """Return the name of a column; None for an expression that is more than a column."""
    if not isinstance(column, pl.Expr):
        return column
    return column.meta.output_name() if column.meta.is_column() else None


def values_and_errors(
    rows: Rows, targets: Sequence[RowMetric], undefined: float | None, names: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return `group`, `n` (rows), the metrics, and for each target its error and degrees of freedom.

    These are `error 0`, `df 0`, and so on. `names`: further metrics, without errors.
    """
    counts = [
        f"{count}@{target.threshold}" for target in targets for count in ("tp", "k") if target.threshold is not None
    ]
    plan = plan_for(rows, list(dict.fromkeys([*(target.name for target in targets), *counts, *names])), undefined)
    others: dict[str, pl.Expr] = {"n": BLOCKS.rows}
    aggregates = dict(plan.aggregates)
    for i, target in enumerate(targets):
        if target.of_ranking is not None:
            row_error = target.of_ranking(plan.metrics[target.name].value)
            aggregates |= row_error.aggregates
            fewer = pl.min_horizontal(BLOCKS.positives, BLOCKS.rows - BLOCKS.positives)
            others |= {f"error {i}": pl.when(fewer > 1).then(row_error.error), f"df {i}": fewer - 1}
            others |= {f"positives {i}": BLOCKS.positives}
        elif target.row_share is not None:
            at = target.threshold
            tp, k = (pl.lit(0) if at is None else plan.metrics[f"{count}@{at}"].value for count in ("tp", "k"))
            n = target.row_share.n(Counts(tp, k, BLOCKS.positives, BLOCKS.rows))
            error = _proportion_error(target.row_share, plan.metrics[target.name].value, n)
            others |= {f"error {i}": pl.when(n > 0).then(error), f"df {i}": n - 1}
    metrics = {name: Metric("count", value, {DEFAULT_TIES: {}}) for name, value in others.items()}
    facts = [fact for fact in FACTS if fact in plan.facts or fact in ("positives", "rows")]
    plan = plan._replace(metrics={**plan.metrics, **metrics}, aggregates=aggregates, facts=facts)
    return finalize(aggregate(rows, plan), ["group"], plan)


def group_values(table: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Add the columns of `mean_values`, for each group separately."""
    columns: dict[str, pl.Expr] = {}
    for i, value in enumerate(map(pl.col, names)):
        defined = value.is_not_null().cast(pl.Int64)
        columns |= {f"value {i}": value, f"groups {i}": defined, f"undefined {i}": 1 - defined}
    return table.with_columns(**columns)


def mean_values(
    table: pl.LazyFrame, keys: Sequence[str], names: Sequence[str], others: Sequence[pl.Expr] = ()
) -> pl.LazyFrame:
    """Average metrics over the groups that share the keys, and compute other aggregates."""
    parts: dict[str, pl.Expr] = {}
    for i, value in enumerate(map(pl.col, names)):
        parts |= {f"value {i}": value.mean(), f"groups {i}": value.count(), f"undefined {i}": value.null_count()}
    return table.group_by(keys).agg(*others, **parts) if keys else table.select(*others, **parts)


def _errors_of_means(names: Sequence[str]) -> list[pl.Expr]:
    """Return expressions for the errors of means, and for the sums of `df` and `n`."""
    parts = [pl.col("n").sum().alias("n")]
    for i, name in enumerate(names):
        value, error = pl.col(name), pl.col(f"error {i}")
        # A mean has an error only if each of its values has one.
        of_all = pl.when(error.is_not_null().sum() == value.count()).then((error**2).sum().sqrt() / value.count())
        parts += [of_all.alias(f"error {i}"), pl.col(f"df {i}").filter(value.is_not_null()).sum().alias(f"df {i}")]
    return parts


def bounds_of(
    i: int, target: RowMetric, value: pl.Expr, confidence: float, *, simple: bool = True
) -> dict[str, pl.Expr]:
    """Return `low` and `high` of a metric, from its value, error and df. `simple`: one group without clusters."""
    error, df = pl.col(f"error {i}"), pl.col(f"df {i}")
    if simple and target.row_share is not None:
        bounds = proportion_bounds(proportion(target.row_share, value), df + 1, confidence)
        if target.row_share.harmonic:
            bounds = {name: 2 * bound / (1 + bound) for name, bound in bounds.items()}
        bounds = around(value, **bounds)
    elif simple and target.ranking_bounds is not None:
        positives = pl.col(f"positives {i}")
        bounds = target.ranking_bounds(value, error, df, positives, pl.col("n") - positives, confidence)
    else:
        bounds = share_bounds(value, error, df, confidence)
    defined = value.is_not_null() & (pl.col("n") > 1)
    return {name: pl.when(defined).then(bound) for name, bound in bounds.items()}


def sums_of_clusters(rows: Rows, targets: Sequence[RowMetric], groups: pl.LazyFrame) -> pl.LazyFrame:
    """Return `group`, `cluster`, `positive` (the label of its first row), and the sum of D for each metric.

    The sum is null if the metric has no value.
    """
    truth, parts = pl.col("truth"), {}
    table = rows.frame.filter(~pl.col("dropped")) if rows.key.drops else rows.frame
    blocks = blocks_of(rows).join(groups.select("group", *(target.name for target in targets)), on="group", how="left")
    sides: dict[str, pl.Expr] = {}
    for i, target in enumerate(targets):
        if target.of_ranking is not None:
            error = target.of_ranking(pl.col(target.name))
            sides |= {f"positive {i}": error.positive, f"negative {i}": error.negative}
            parts[f"D {i}"] = pl.when(truth).then(f"positive {i}").otherwise(f"negative {i}")
        elif target.row_share is not None:
            reached = pl.lit(True)
            if target.threshold is not None:
                reached = rows.key.score_reaches(code_reached(target.threshold.threshold, rows.key)).fill_null(False)
            parts[f"part {i}"] = target.row_share.part(truth, reached)
            parts[f"whole {i}"] = target.row_share.whole(truth, reached)
    if sides:
        block = rows.key.block_of_row().alias("block")
        # Only a block of dropped rows weighs nothing.
        blocks = blocks.filter(pl.col("size") > 0).with_columns(score="threshold", dropped=False)
        table = table.with_columns(block).join(blocks.select(block, **sides), on="block", how="left")
    sums = table.group_by("group", "cluster").agg(
        truth.first().alias("positive"), *(expression.sum().alias(name) for name, expression in parts.items())
    )
    sums = sums.join(groups.select("group", *(target.name for target in targets)), on="group", how="left")
    influences = {}
    for i, target in enumerate(targets):
        influence = pl.col(f"D {i}")
        if target.row_share is not None:
            part, whole = pl.col(f"part {i}"), pl.col(f"whole {i}")
            influence = (part - pl.col(target.name) * whole) / whole.sum().over("group")
        influences[f"D {i}"] = pl.when(pl.col(target.name).is_not_null()).then(influence)
    return sums.select("group", "cluster", "positive", **influences)


def _cluster_errors(clusters: pl.LazyFrame, keys: Sequence[str], targets: Sequence[RowMetric]) -> pl.LazyFrame:
    """Return the errors of sums, and the number of clusters.

    In a group with a single cluster, marked `alone`, the D add up to 0 whatever the error is. So the mean has no error.
    """
    n = pl.len().cast(pl.Int64)
    parts = [n.alias("clusters")]
    for i in range(len(targets)):
        squares = pl.when((n > 1) & ~pl.col(f"alone {i}").any()).then((pl.col(f"D {i}") ** 2).sum())
        parts.append((squares * n / (n - 1)).sqrt().alias(f"sum {i}"))
    return clusters.group_by(keys).agg(parts) if keys else clusters.select(parts)
