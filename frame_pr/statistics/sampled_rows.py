"""Sampled rows, or clusters of rows: metrics, their standard errors, and influences of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias

import polars as pl

from frame_pr.frames.arguments import refuse_options
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import warn
from frame_pr.inputs.options import DRAWN_ROWS, EACH_ROW, SAMPLED_CLUSTERS, SAMPLED_ROWS
from frame_pr.inputs.results import OutputFrame
from frame_pr.inputs.rows import Rows, rows_of
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.score_means import epsilon_of
from frame_pr.ranking.blocks import blocks_of
from frame_pr.ranking.sort import PackedRows, sorted_rows
from frame_pr.ranking.sort_keys import key_of
from frame_pr.ranking.threshold_codes import code_reached
from frame_pr.statistics.bounds import BoundsName
from frame_pr.statistics.influences import (
    BLOCK_COLUMNS,
    RowMetric,
    drawn_metric,
    of_rows,
    row_metric,
)
from frame_pr.statistics.units import (
    WEIGHTS,
    Evaluation,
    UnitValues,
    draws_groups,
    error_of_fixed_mean,
    left_out,
    means_over,
    unit_values_of,
    with_cluster_errors,
)


@dataclass(eq=False, repr=False)
class SampledRows(Generic[Frame]):
    """The rows of a call, checked for standard errors, and its output."""

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
    def names(self) -> list[str]:
        """Return the names of the metrics."""
        return [metric.name for metric in self.metrics]

    @property
    def bounds(self) -> list[BoundsName]:
        """Return which bounds each metric has: of one group, of a mean, or of clusters."""
        if self.averaged:
            return [metric.bounds_of_means for metric in self.metrics]
        if self.clustered:
            return [
                metric.bounds if metric.by_class else metric.bounds_of_means
                for metric in self.metrics
            ]
        return [metric.bounds for metric in self.metrics]

    @property
    def key_columns(self) -> list[str]:
        """Return the columns that tell the rows of `estimates` apart: the keys and `m`."""
        return [*self.keys.values(), "m"]

    @cached_property
    def _ranked(self) -> PackedRows | None:
        """Return the rows in order, if a metric is of the ranking."""
        if all(target.whole is not None for target in self.metrics):
            return None
        return sorted_rows(self.rows)

    @cached_property
    def _values(self) -> pl.DataFrame:
        """Return the metrics of each group, its `positives` and its `rows`."""
        names = list(dict.fromkeys(self.names))
        plan = plan_for(self.rows, names, self.undefined, totals=True)
        # Not metrics: a group without values has rows.
        sums = aggregate(self.rows, plan, self._ranked)
        return collected(finalize(sums, ["group", "positives", "rows"], plan), "auto")

    def sizes(self) -> pl.DataFrame:
        """Return the numbers of `positives` and of rows, `units`, by `group` and metric `m`."""
        metrics = pl.DataFrame({"m": range(len(self.metrics))}, schema={"m": pl.Int32})
        groups = self._values.select("group", "positives", units="rows")
        return groups.join(metrics, how="cross")

    def clusters(self) -> pl.DataFrame:
        """Return the keys and the `cluster` of each cluster of each group."""
        return self.restored(counted_rows(self.rows).select("group", "cluster").unique())

    def _values_of(self, target: RowMetric) -> pl.DataFrame:
        """Return the `value` of a metric for each group, with its `positives` and `rows`."""
        value = pl.col(target.name).cast(pl.Float64)
        return self._values.select("group", "positives", "rows", value=value)

    @property
    def _thresholds(self) -> dict[str, Threshold]:
        """Return the thresholds of the metrics by their names."""
        return {
            str(target.threshold): target.threshold for target in self.metrics if target.threshold
        }

    def _rows(self) -> pl.DataFrame:
        """Return the rows that count, with the `epsilon` of their scores.

        Columns named after the thresholds of the metrics say whether a row reaches them.
        """
        key = key_of(self.rows)
        columns = {"epsilon": epsilon_of(key.dtype)}
        for name, cutoff in self._thresholds.items():
            is_reached = key.score_reaches(code_reached(cutoff.threshold, key))
            columns[name] = is_reached.fill_null(False)
        return counted_rows(self.rows).with_columns(**columns)

    def _steps(self) -> pl.DataFrame:
        """Return lines of each step: its positives, its negatives, and those after the step above.

        A line stands for `count` rows.
        """
        columns = (*BLOCK_COLUMNS, "misses", "positives")
        blocks = collected(blocks_of(self.rows, columns, steps=True, ranked=self._ranked), "auto")
        hits = pl.col("hits")
        misses = pl.col("size") - hits
        tp_above = pl.col("tp").fill_null(pl.col("positives")) - hits
        lines = [
            blocks.with_columns(truth=pl.lit(True), count=hits),
            blocks.with_columns(truth=pl.lit(False), count=misses),
            blocks.with_columns(
                truth=pl.lit(False),
                count=pl.col("misses") - misses,
                tp=tp_above,
                hits=pl.lit(0, pl.Int64),
            ),
        ]
        counted = pl.concat(lines).filter(pl.col("count") > 0)
        return counted.select("group", "truth", "count", *BLOCK_COLUMNS)

    def _with_influence(self, lines: pl.DataFrame, target: RowMetric) -> pl.DataFrame:
        """Return the lines with D, null if the metric has no value, and the labels they tell of.

        The rows of the whole of a share tell of both labels. Where each class is a sample of its
        own, D has the correction `(n / (n - 1))^(1/2)` for the n rows of the class.
        """
        assert target.influence is not None
        # The mean of infinite scores has no error.
        has_value = pl.col("value").is_finite()
        influence: pl.Expr = pl.when(has_value).then(target.influence)
        has_positive = pl.col("truth")
        has_negative = ~has_positive
        if target.whole is not None:
            has_positive = has_negative = target.whole > 0
        if target.by_class and not self.clustered:
            positives = pl.col("positives")
            n = pl.when("truth").then(positives).otherwise(pl.col("rows") - positives)
            influence = influence * (n / (n - 1)).sqrt()
        lines = lines.join(self._values_of(target), on="group", how="left")
        return lines.with_columns(D=influence, has_positive=has_positive, has_negative=has_negative)

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Return `Estimates` for each `group` and each place `m` of a metric."""
        rows = self._rows()
        cells = rows.group_by("group", "truth", *self._thresholds).agg(pl.col("count").sum())
        steps = cells if self._ranked is None else self._steps()
        parts = []
        for m, target in enumerate(self.metrics):
            lines = steps if target.whole is None else cells
            errors = self._errors(rows if target.of_scores else lines, target)
            parts.append(errors.with_columns(m=pl.lit(m, pl.Int32)))
        return pl.concat(parts)

    def _errors(self, lines: pl.DataFrame, target: RowMetric) -> pl.DataFrame:
        """Return the standard errors of a metric: the root of the sum of the squared D of rows."""
        count = pl.col("count")
        sums = (
            self._with_influence(lines, target)
            .group_by("group")
            .agg(
                squares=(pl.col("D") ** 2 * count).sum(),
                whole=count.filter("has_positive").sum(),
                hits=count.filter("truth").sum(),
            )
        )
        table = self._values_of(target).join(sums, on="group", how="left")
        table = table.with_columns(pl.col("squares", "whole", "hits").fill_null(0))

        negatives = pl.col("rows") - pl.col("positives")
        variance = pl.col("squares")
        n = pl.col("whole")
        if target.whole is None:
            n = pl.min_horizontal("positives", negatives)
        if target.whole is None and not target.by_class:
            # Positives that only the totals know are not retrieved.
            missing = pl.col("positives") - pl.col("hits")
            of_missing = missing * (pl.col("value") / pl.col("positives")) ** 2
            variance = (variance + of_missing) * n / (n - 1)
        if target.of_scores:
            variance = variance * n / (n - 1)
        is_share = target.whole is not None and not target.of_scores
        has_error = pl.col("value").is_finite() & (n > (0 if is_share else 1))
        return table.select(
            "group",
            "value",
            error=pl.when(has_error).then(variance.sqrt()),
            df=(n - 1).cast(pl.Float64),
            units=pl.col("rows").cast(pl.Int64),
            positives=pl.col("positives").cast(pl.Int64),
            negatives=negatives.cast(pl.Int64),
        )

    def restored(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the keys in place of `group`."""
        return collected(self.output.restored(table.lazy()), "auto")

    def estimates(self) -> pl.DataFrame:
        """Return a row per key and metric: `key_columns`, `Estimates`, `groups` and `undefined`.

        The column `groups` says how many groups have a value, and `undefined` how many have none.
        """
        has_value = pl.col("value").is_not_null()
        table = means_over(
            self.restored(self.groups),
            self.key_columns,
            len(self.metrics),
            error=error_of_fixed_mean("value", "error"),
            df=pl.col("df").filter(has_value).sum(),
            units=pl.col("units").sum(),
            positives=pl.col("positives").sum(),
            negatives=pl.col("negatives").sum(),
        )
        if not self.clustered:
            return table
        return with_cluster_errors(table, self.influences(), self.key_columns)

    def influences(self) -> pl.DataFrame:
        """Return by how much the value of its key would change without each cluster, D.

        `positives` and `negatives`: which share of the rows of each label the cluster has; for a
        share, of the rows of its whole. `alone`: whether it is the only cluster of a group.
        """
        of_groups = self.influences_of_groups()
        if not self.averaged:
            return self.restored(of_groups)
        keys = self.key_columns
        table = self.restored(of_groups.with_columns(number="group"))
        groups = pl.col("number").n_unique().over(keys)
        table = table.with_columns(D=pl.col("D") / groups)
        clusters = table.group_by(*keys, "cluster")
        return clusters.agg(pl.col("D", *WEIGHTS).sum(), pl.col("alone").any())

    def influences_of_groups(self) -> pl.DataFrame:
        """Return D for each `cluster` of each `group`; see `influences`.

        If each row is a cluster, D is the influence of the row, without the weights.
        """
        table = self._lines_of_clusters()
        parts = []
        for m, target in enumerate(self.metrics):
            lines = self._with_influence(table, target).drop_nulls("D")
            if self.rows.request.each_row:
                part = lines.select("group", "cluster", "D")
            else:
                part = _clusters_of(lines)
            parts.append(part.with_columns(m=pl.lit(m, pl.Int32)))
        return pl.concat(parts)

    def _lines_of_clusters(self) -> pl.DataFrame:
        """Return the rows that count with the columns of their block and of thresholds."""
        table = self._rows()
        if self._ranked is None:
            return table
        columns = (*BLOCK_COLUMNS, "threshold")
        blocks = collected(blocks_of(self.rows, columns, ranked=self._ranked), "auto")
        block = key_of(self.rows).block_of_row().alias("block")
        # Only a block of dropped rows weighs nothing.
        blocks = blocks.remove(size=0).with_columns(score="threshold", dropped=False)
        blocks = blocks.select(block, *BLOCK_COLUMNS)
        return table.with_columns(block).join(blocks, on="block", how="left")


def _clusters_of(lines: pl.DataFrame) -> pl.DataFrame:
    """Return D of each cluster, its shares of the rows of each label, and `alone`."""
    count = pl.col("count")
    sums = lines.group_by("group", "cluster").agg(
        (pl.col("D") * count).sum(),
        positives=count.filter("has_positive").sum(),
        negatives=count.filter("has_negative").sum(),
    )
    counts = pl.col(*WEIGHTS)
    shares = counts / counts.sum().over("group")
    sums = sums.with_columns(shares, alone=pl.len().over("group") == 1)
    return sums.with_columns(D=left_out(*WEIGHTS))


_FEW_POSITIVES = 10


def warn_of_skew(sampled: SampledRows[Any], table: pl.DataFrame) -> None:
    """Warn of a mean like log loss with fewer than 10 rows, or clusters, of a label."""
    skewed = [m for m, target in enumerate(sampled.metrics) if target.is_skewed]
    fewest = pl.min_horizontal(WEIGHTS)
    has_bounds = pl.col("low").is_not_null()
    few = table.filter(pl.col("m").is_in(skewed), has_bounds, fewest < _FEW_POSITIVES)
    if few.height:
        name = sampled.metrics[few["m"][0]].name
        warn(
            f"{name}: a few rows of the rarer label make most of it, and with 5 of them 95 % "
            "intervals have a coverage of 89 to 91 %"
        )


def warn_of_bias(sampled: SampledRows[Any], table: pl.DataFrame) -> None:
    """Warn if the mean of average precision over fixed groups has a bias of half its error.

    Of P positives, average precision A is too large by about 0.7 (1 - A) / P, as simulated for
    normal scores. A mean over many groups has the same bias, and a small standard error.
    """
    places = [m for m, name in enumerate(sampled.names) if name == "average_precision"]
    if not (sampled.averaged and places):
        return
    is_biased = pl.col("m").is_in(places)
    groups = sampled.restored(sampled.groups).filter(is_biased).drop_nulls("value")
    bias = 0.7 * (1 - pl.col("value")) / pl.col("positives")
    means = groups.group_by(sampled.key_columns).agg(bias=bias.mean())
    table = table.join(means, on=sampled.key_columns, nulls_equal=True)
    biased = table.filter(pl.col("bias") > pl.col("error") / 2).sort("bias", descending=True)
    if biased.height:
        bias, n = biased.select("bias", "groups").row(0)
        warn(
            f"average_precision of few positives is too large, here by about {bias:.2g}, and the "
            f"standard error of a mean over {n} groups does not show it: the interval is about "
            "samples of this size"
        )


Sample: TypeAlias = UnitValues[Frame] | SampledRows[Frame]


def sampled_units(frame: Frame, what: Evaluation) -> UnitValues[Frame] | None:
    """Return the sampled units, such as queries, or clusters of them; None if rows were drawn."""
    is_of_groups = draws_groups(what)
    columns = [column for column in what.columns if not isinstance(column, pl.Expr)]
    averaged = [column for column in what.over if column in columns]
    kind_of(frame).refuse_missing(averaged, "mean_over")
    if not is_of_groups:
        return None
    units = unit_values_of(frame, what)
    if units is None and what.sampled == "groups":
        raise ValueError(
            "cluster=: groups of mean_over= have rows of several clusters, so clusters of rows "
            "were drawn; leave out sampled='groups'"
        )
    return units


def by_method(
    what: Evaluation, method: Literal["closed", "bootstrap"] | None
) -> list[tuple[bool, list[str]]]:
    """Return the new names of metrics with closed forms, and of those whose rows are drawn again.

    Without a method, metrics have their closed form if the options allow it.
    """
    names = what.named
    if method is not None:
        return [(method == "bootstrap", list(names))]
    labels: dict[bool, list[str]] = {False: [], True: []}
    for label, name in names.items():
        target = row_metric(name)
        is_drawn = target is None
        if target is not None:
            try:
                _refuse_options_of_closed_forms(what, [target])
            except ValueError:
                is_drawn = True
        labels[is_drawn].append(label)
    return [part for part in labels.items() if part[1]]


def sampled_rows(
    frame: Frame, what: Evaluation, *, draws_again: bool = False, each_row: bool = False
) -> SampledRows[Frame]:
    """Validate a frame whose rows, or clusters of rows, are the sample.

    `draws_again`: whether rows are drawn again, instead of a closed form. `each_row`: whether each
    row is a cluster of its own.
    """
    clustered = what.cluster is not None
    named = what.named
    request = replace(what.request(), each_row=each_row)
    if draws_again:
        metrics = [drawn_metric(name) for name in named.values()]
        refusals = (*DRAWN_ROWS, *EACH_ROW) if each_row else DRAWN_ROWS
        refuse_options("a bootstrap", what.options, refusals)
    else:
        metrics = [of_rows(name) for name in named.values()]
        _refuse_options_of_closed_forms(what, metrics)
        if each_row:
            refuse_options("a standard error", what.options, EACH_ROW)
    rows, output = rows_of(frame, request)
    keys = {key: output.key_columns[key] for key in what.keys_left(output.keys)}
    return SampledRows(rows, output, metrics, what.undefined, keys, what.averages, clustered)


def _refuse_options_of_closed_forms(what: Evaluation, metrics: Sequence[RowMetric]) -> None:
    """Refuse the options with which metrics have no standard error."""
    clustered = what.cluster is not None
    refusals = (*SAMPLED_ROWS, *SAMPLED_CLUSTERS) if clustered else SAMPLED_ROWS
    refuse_options("a standard error", what.options, refusals)
    names = {target.name for target in metrics}
    if what.options.get("total_positives") is not None and names != {"average_precision"}:
        raise ValueError(
            "total_positives=: where rows are sampled, only average_precision has a standard error "
            "with it; put missing rows in, with a null score and unscored='unretrieved'"
        )


def counted_rows(rows: Rows) -> pl.DataFrame:
    """Return the rows that count, with `count`."""
    counted = rows.frame.filter(~pl.col("dropped")) if rows.drops else rows.frame
    table = collected(counted, "auto")
    return table if rows.has_counts else table.with_columns(count=pl.lit(1, pl.Int64))
