"""Standard errors and intervals for sampled rows, or clusters of rows, in fixed groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple

import polars as pl

from frame_pr.frames.arguments import refuse_options
from frame_pr.frames.columns import refuse_repeats, refuse_several
from frame_pr.frames.kinds import Frame, collected
from frame_pr.inputs.policies import DRAWN_ROWS, SAMPLED_CLUSTERS, SAMPLED_ROWS, Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import OutputFrame, Rows, rows_of
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.metric import Aggregate, Aggregates, Counts
from frame_pr.metrics.names import COLUMNS as BLOCKS
from frame_pr.metrics.names import metric
from frame_pr.metrics.rates import RATES, RowShare
from frame_pr.ranking.blocks import blocks_of
from frame_pr.statistics.bounds import BoundsName
from frame_pr.statistics.unit_values import group_means

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

    @property
    def by_class(self) -> bool:
        """Return whether the D of the positives sum to 0, and those of the negatives too."""
        return self.of_ranking is not None and self.of_ranking(pl.col(self.name)).by_class


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

    @property
    def key_columns(self) -> list[str]:
        """Return the columns that tell the rows of `estimates` apart: the keys, and `m`, the place of the metric."""
        return [*self.keys.values(), "m"]

    def restored(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the keys in place of `group`."""
        return collected(self.output.restored(table.lazy()), "auto")

    def estimates(self, groups: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return a row per key and metric: `key_columns`, `Estimates`, `groups` and `undefined`.

        `groups`: how many groups have a value; `undefined`: how many have none. The argument is the result of
        `estimates_of_groups`.
        """
        groups = estimates_of_groups(self.rows, self.metrics, self.undefined) if groups is None else groups
        has_value = pl.col("value").is_not_null()
        table = self.restored(groups)
        if self.averaged:
            table = self._means(table)
        else:
            table = table.with_columns(groups=has_value.cast(pl.Int64), undefined=(~has_value).cast(pl.Int64))
        if self.clustered:
            errors = cluster_errors(self.clusters(groups), self.key_columns)
            table = table.drop("error", "df", "units", "sources").join(
                errors, on=self.key_columns, how="left", nulls_equal=True
            )
            table = table.with_columns(error=pl.when(has_value).then(pl.col("error") / pl.col("groups")))
        return table

    def _means(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return means over the groups that share the keys, with their standard errors."""
        table = table.with_columns(
            square=pl.col("error") ** 2, df=pl.when(pl.col("value").is_not_null()).then(pl.col("df"))
        )
        means = group_means(table, self.key_columns, ["value", "square", "df", "units"], len(self.metrics))
        # A mean has an error only if each of its values has one.
        n, has_error = pl.col("defined_value"), pl.col("defined_square") == pl.col("defined_value")
        df = (pl.col("mean_df") * pl.col("defined_df")).round().fill_null(0).cast(pl.Int64)
        return means.select(
            *self.key_columns,
            value="mean_value",
            error=pl.when(has_error).then((pl.col("mean_square") / n).sqrt()),
            df=df,
            sources=df + 1,
            units=(pl.col("mean_units") * pl.col("groups")).round().fill_null(0).cast(pl.Int64),
            positives=pl.lit(None, dtype=pl.Int64),
            groups=n,
            undefined="undefined_value",
        )

    def clusters(self, groups: pl.DataFrame) -> pl.DataFrame:
        """Return the `key_columns`, `cluster`, and what `cluster_errors` reads.

        `groups`: the result of `estimates_of_groups`.
        """
        sums = sums_of_clusters(self.rows, self.metrics, groups)
        alone = (pl.len().over("group", "m") == 1) & pl.col("D").is_not_null()
        table = self.restored(sums.with_columns(alone=alone))
        if not self.averaged:
            return table
        flags = pl.col("alone", "has_positive", "has_negative").any()
        return table.group_by(*self.key_columns, "cluster").agg(pl.col("D").sum(), flags)


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
        refuse_policies(request, list(named.values()), clusters=cluster is not None or request.each_row)
    if cluster is not None:
        refuse_cluster(cluster, request)
        request = replace(request, cluster=cluster)
    rows, output = rows_of(frame, request)
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
    roles = {"truth": [request.truth], "score": request.scores, "by": request.keys, "cluster": [cluster]}
    refuse_repeats((role, _column_name(column)) for role, columns in roles.items() for column in columns)


def _column_name(column: Column) -> Any:
    """Return the name of a column; an expression that is more than a column stays as it is."""
    return column.meta.output_name() if isinstance(column, pl.Expr) and column.meta.is_column() else column


def estimates_of_groups(rows: Rows, targets: Sequence[RowMetric], undefined: float | None) -> pl.DataFrame:
    """Return a row per group and metric: `group`, `m` (the place of the metric) and `Estimates`."""
    thresholds = [target.threshold for target in targets if target.threshold is not None]
    counts = [f"{count}@{threshold}" for threshold in thresholds for count in ("tp", "k")]
    errors = [target.of_ranking and target.of_ranking(pl.col(target.name)) for target in targets]
    helpers: dict[str, Aggregate] = {name: part for error in errors if error for name, part in error.aggregates.items()}
    names = list(dict.fromkeys([*(target.name for target in targets), *counts]))
    plan = plan_for(rows, names, undefined, others=helpers)
    table = collected(finalize(aggregate(rows, plan), ["group", "rows", "positives", *helpers], plan), "auto")
    parts = []
    for m, (target, row_error) in enumerate(zip(targets, errors, strict=True)):
        value = pl.col(target.name)
        if row_error is not None:
            n = pl.min_horizontal(BLOCKS.positives, _NEGATIVES)
            error = pl.when(n > 1).then(row_error.error)
        else:
            at, share = target.threshold, target.row_share
            assert share is not None
            tp, k = (pl.lit(0) if at is None else pl.col(f"{count}@{at}") for count in ("tp", "k"))
            n = share.n(Counts(tp, k, BLOCKS.positives, BLOCKS.rows))
            error = pl.when(n > 0).then(_share_error(share, value, n))
        part = {"value": value, "error": pl.when(value.is_not_null()).then(error)}
        parts.append(
            table.select(
                "group",
                m=pl.lit(m, dtype=pl.Int32),
                **{name: number.cast(pl.Float64) for name, number in part.items()},
                df=n.cast(pl.Int64) - 1,
                sources=n.cast(pl.Int64),
                units=BLOCKS.rows.cast(pl.Int64),
                positives=BLOCKS.positives.cast(pl.Int64),
            )
        )
    return pl.concat(parts)


def sums_of_clusters(rows: Rows, targets: Sequence[RowMetric], groups: pl.DataFrame) -> pl.DataFrame:
    """Return a row per group, metric and cluster: the sum of its D.

    The sum is null if the metric has no value. `has_positive` and `has_negative`: whether the cluster has a row of each
    label; for a share, whether it has a row of the whole.
    """
    truth, code = pl.col("truth"), ["group", "cluster"]
    table = collected(rows.frame.filter(~pl.col("dropped")) if rows.key.drops else rows.frame, "auto")
    blocks = None
    if any(target.of_ranking for target in targets):
        # Only a block of dropped rows weighs nothing.
        blocks = collected(blocks_of(rows), "auto").filter(pl.col("size") > 0)
        blocks = blocks.with_columns(score="threshold", dropped=False)
    parts = []
    for m, target in enumerate(targets):
        values, value = groups.filter(m=m).select("group", "value"), pl.col("value")
        if target.of_ranking is not None and blocks is not None:
            error, block = target.of_ranking(value), rows.key.block_of_row()
            of_blocks = blocks.join(values, on="group", how="left")
            of_blocks = of_blocks.select(block=block, hit=error.positive, miss=error.negative)
            influence = pl.when(truth).then("hit").otherwise("miss").sum()
            labels = {"has_positive": truth.any(), "has_negative": (~truth).any()}
            of_rows = table.with_columns(block=block).join(of_blocks, on="block", how="left")
            sums = of_rows.group_by(code).agg(D=influence, **labels)
            sums = sums.join(values, on="group", how="left")
        else:
            reached, share = pl.lit(True), target.row_share
            assert share is not None
            if target.threshold is not None:
                reached = rows.key.score_reaches(code_reached(target.threshold.threshold, rows.key)).fill_null(False)
            part, whole = share.part(truth, reached).sum(), share.whole(truth, reached).sum()
            sums = table.group_by(code).agg(part=part, whole=whole)
            influence = (pl.col("part") - value * pl.col("whole")) / pl.col("whole").sum().over("group")
            sums = sums.join(values, on="group", how="left").with_columns(
                D=influence, has_positive=pl.col("whole") > 0, has_negative=pl.col("whole") > 0
            )
        influence = pl.when(value.is_not_null()).then(pl.col("D").cast(pl.Float64))
        sums = sums.with_columns(D=influence, m=pl.lit(m, dtype=pl.Int32))
        parts.append(sums.select(*code, "m", "D", "has_positive", "has_negative"))
    return pl.concat(parts)


def cluster_errors(clusters: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the errors of sums, and the numbers of clusters: of all, `units`, and of the rarer label, `sources`.

    In a group with a single cluster, marked `alone`, the D add up to 0 whatever the error is. So the mean has no error.
    """
    n = pl.len().cast(pl.Int64)
    squares = pl.when((n > 1) & ~pl.col("alone").any()).then((pl.col("D") ** 2).sum())
    sources = pl.min_horizontal(pl.col("has_positive").sum(), pl.col("has_negative").sum()).cast(pl.Int64)
    return clusters.group_by(keys).agg(error=(squares * n / (n - 1)).sqrt(), df=n - 1, units=n, sources=sources)
