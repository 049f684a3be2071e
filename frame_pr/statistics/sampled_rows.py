"""Standard errors and intervals for sampled rows, or clusters of rows, in fixed groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, NamedTuple

import polars as pl

from frame_pr.frames.arguments import refuse_options
from frame_pr.frames.columns import map_whole, refuse_several, stacked
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.inputs.policies import DRAWN_ROWS, SAMPLED_CLUSTERS, SAMPLED_ROWS, Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import OutputFrame, Rows, rows_of
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates
from frame_pr.metrics.names import COLUMNS as BLOCKS
from frame_pr.metrics.names import metric
from frame_pr.metrics.rates import RATES, Counts, RowShare
from frame_pr.ranking.blocks import blocks_of
from frame_pr.statistics.bounds import BoundsName, with_bounds
from frame_pr.statistics.unit_values import group_means, interval_columns

_NEGATIVES = BLOCKS.rows - BLOCKS.positives


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


def _share_error(share: RowShare, value: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Return the standard error of a share J of n rows, or of 2 J / (1 + J)."""
    part = value / (2 - value) if share.harmonic else value
    error = (part * (1 - part) / n).sqrt()
    return error * 2 / (1 + part) ** 2 if share.harmonic else error


class RowMetric(NamedTuple):
    """A metric with a standard error over rows: a metric of the whole ranking, or a share at a threshold."""

    name: str
    of_ranking: Callable[[pl.Expr], RowError] | None = None
    row_share: RowShare | None = None
    threshold: Threshold | None = None

    @property
    def bounds(self) -> BoundsName:
        """Return which bounds a value has that is of one group with independent rows."""
        if self.row_share is not None:
            return "f1" if self.row_share.harmonic else "proportion"
        return "roc_auc" if self.name == "roc_auc" else "share"


class SampledRows(NamedTuple, Generic[Frame]):
    """The rows of a call, checked for standard errors, and the output in the caller's kind of frame."""

    rows: Rows
    output: OutputFrame[Frame]
    metrics: Sequence[RowMetric]
    labels: Sequence[str]
    """The caller's names of the metrics."""
    undefined: float | None
    keys: Mapping[str, str]
    """The keys of the result, and their columns in the tables below."""
    averaged: bool
    """Whether values are means over the groups that share the keys."""
    clustered: bool

    @property
    def bounds(self) -> list[BoundsName]:
        """Return which bounds each metric has: those of one group, or those of a mean or of clusters."""
        return ["share" if self.averaged or self.clustered else metric.bounds for metric in self.metrics]

    def estimates(self) -> pl.LazyFrame:
        """Return a row per key and metric: the keys, `m` (the place of the metric), `Estimates`, `groups`, `undefined`.

        `groups`: how many groups have a value; `undefined`: how many have none.
        """
        groups = values_and_errors(self.rows, self.metrics, self.undefined)
        keys, places = list(self.keys.values()), range(len(self.metrics))
        table = self.output.restored(groups)
        if self.averaged:
            table = self._means(table)
        units, df = pl.col("rows"), {i: pl.col(f"df {i}") for i in places}
        if self.clustered:
            errors = _cluster_errors(self.clusters(groups), keys, self.metrics)
            table = (
                table.join(errors, on=keys, how="left", nulls_equal=True) if keys else table.join(errors, how="cross")
            )
            table = table.with_columns((pl.col(f"sum {i}") / pl.col(f"groups {i}")).alias(f"error {i}") for i in places)
            units = pl.col("clusters")
            df = dict.fromkeys(places, units - 1)
        lines = [
            {
                "m": pl.lit(i, dtype=pl.Int32),
                "value": pl.col(f"value {i}").cast(pl.Float64),
                "error": pl.when(pl.col(f"value {i}").is_not_null()).then(f"error {i}").cast(pl.Float64),
                "df": df[i].cast(pl.Int64),
                "units": units.cast(pl.Int64),
                "positives": pl.col("positives").cast(pl.Int64),
                "groups": pl.col(f"groups {i}").cast(pl.Int64),
                "undefined": pl.col(f"undefined {i}").cast(pl.Int64),
            }
            for i in places
        ]
        return stacked(table, [pl.col(key) for key in keys], lines)

    def _means(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return means over the groups that share the keys, with their standard errors."""
        parts, places, keys = [pl.col("rows")], range(len(self.metrics)), list(self.keys.values())
        for i in places:
            value = pl.col(f"value {i}")
            parts += [value, (pl.col(f"error {i}") ** 2).alias(f"square {i}")]
            parts.append(pl.when(value.is_not_null()).then(f"df {i}").alias(f"df {i}"))
        means = group_means(table.select(*keys, *parts), keys, [part.meta.output_name() for part in parts])
        columns = {"rows": (pl.col("mean_rows") * pl.col("groups")).round().cast(pl.Int64)}
        for i in places:
            n = pl.col(f"defined_value {i}")
            # A mean has an error only if each of its values has one.
            error = pl.when(pl.col(f"defined_square {i}") == n).then((pl.col(f"mean_square {i}") / n).sqrt())
            df = (pl.col(f"mean_df {i}") * pl.col(f"defined_df {i}")).round().fill_null(0)
            columns |= {f"value {i}": pl.col(f"mean_value {i}"), f"error {i}": error, f"df {i}": df}
            columns |= {f"groups {i}": n, f"undefined {i}": pl.col(f"undefined_value {i}")}
        return means.select(*keys, positives=pl.lit(None, dtype=pl.Int64), **columns)

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

    def bounded(self, confidence: float) -> pl.LazyFrame:
        """Return the estimates with `low` and `high`."""
        table = self.estimates()
        schema = {**table.collect_schema(), "low": pl.Float64(), "high": pl.Float64()}
        return map_whole(table, partial(with_bounds, kinds=self.bounds, confidence=confidence), schema)

    def result(self, table: pl.LazyFrame) -> Frame:
        """Return what `intervals` returns, from a row per key and metric with `low` and `high`."""
        table = interval_columns(table, self.keys, self.output.systems, self.labels)
        return self.output.give(table, list(self.keys))


def sampled_rows(
    frame: Frame,
    request: Request,
    named: Mapping[str, str],
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
        metrics = [RowMetric(name) for name in named.values()]
        refuse_options("a bootstrap", request.policies, DRAWN_ROWS)
    else:
        metrics = [of_rows(name) for name in named.values()]
        refuse_policies(request, list(named.values()), clusters=cluster is not None)
    if cluster is not None:
        refuse_cluster(cluster, request)
        request = replace(request, cluster=cluster)
    rows, output = rows_of(frame, request, carry=False)
    left = output.keys if keys_left is None else keys_left(output.keys)
    keys = {key: output.key_columns[key] for key in left}
    averaged, clustered = keys_left is not None, cluster is not None
    return SampledRows(rows, output, metrics, list(named), undefined, keys, averaged, clustered)


def row_metric(name: str) -> RowMetric | None:
    """Return the metric of this name; None if it has no standard error over rows."""
    head, cutoff = name.partition("@")[0], metric(name).cutoff
    row_share = RATES[head].row_share if head in RATES else None
    if row_share is not None and (cutoff is None or isinstance(cutoff, Threshold)):
        return RowMetric(name, None, row_share, cutoff)
    if name not in ROW_ERRORS:
        return None
    return RowMetric(name, ROW_ERRORS[name])


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


def values_and_errors(rows: Rows, targets: Sequence[RowMetric], undefined: float | None) -> pl.LazyFrame:
    """Return a row per group: `group`, `rows`, `positives`, the metrics, and numbers of the i-th metric.

    These are `value i`, `error i`, `df i`, and `groups i` and `undefined i`, of which one is 1 and the other 0.
    """
    counts = [
        f"{count}@{target.threshold}" for target in targets for count in ("tp", "k") if target.threshold is not None
    ]
    plan = plan_for(rows, list(dict.fromkeys([*(target.name for target in targets), *counts])), undefined)
    helpers: dict[str, Aggregate] = {}
    columns: dict[str, pl.Expr] = {}
    for i, target in enumerate(targets):
        value = pl.col(target.name)
        defined = value.is_not_null().cast(pl.Int64)
        columns |= {f"value {i}": value, f"groups {i}": defined, f"undefined {i}": 1 - defined}
        if target.of_ranking is not None:
            row_error = target.of_ranking(value)
            helpers |= row_error.aggregates
            fewer = pl.min_horizontal(BLOCKS.positives, _NEGATIVES)
            columns |= {f"error {i}": pl.when(fewer > 1).then(row_error.error), f"df {i}": fewer - 1}
        elif target.row_share is not None:
            at = target.threshold
            tp, k = (pl.lit(0) if at is None else pl.col(f"{count}@{at}") for count in ("tp", "k"))
            n = target.row_share.n(Counts(tp, k, BLOCKS.positives, BLOCKS.rows))
            columns |= {f"error {i}": pl.when(n > 0).then(_share_error(target.row_share, value, n)), f"df {i}": n - 1}
    facts = [fact for fact in FACTS if fact in plan.facts or fact in ("positives", "rows")]
    plan = plan._replace(aggregates={**plan.aggregates, **helpers}, facts=facts)
    table = finalize(aggregate(rows, plan), ["group", "rows", "positives", *helpers], plan)
    return table.with_columns(**columns).drop(*helpers)


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
