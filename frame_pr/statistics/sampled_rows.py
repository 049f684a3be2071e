"""Sampled rows, or clusters of rows: metrics, their standard errors, and influences of clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import polars as pl

from frame_pr.frames.arguments import refuse_options
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import collected
from frame_pr.frames.messages import warn
from frame_pr.inputs.options import DRAWN_ROWS, EACH_ROW, SAMPLED_CLUSTERS, SAMPLED_ROWS
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
    of_rows,
)
from frame_pr.statistics.units import (
    WEIGHTS,
    Evaluation,
    Sampled,
    UnitValues,
    draws_groups,
    error_of_fixed_mean,
    left_out,
    means_over,
    places,
    unit_values_of,
)

Method: TypeAlias = Literal["closed", "bootstrap"]
"""How an interval or a test is computed."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledRows(Sampled):
    """The rows of a call, checked for standard errors."""

    rows: Rows
    metrics: Sequence[RowMetric]
    places: Sequence[int]
    """The places of the metrics in the call."""
    unit_columns = ()

    @property
    def names(self) -> list[str]:
        """Return the names of the metrics."""
        return [metric.name for metric in self.metrics]

    @property
    def place(self) -> pl.Expr:
        """Return the place in the call of the metric at the place `m`."""
        return pl.lit(pl.Series(self.places, dtype=pl.Int32)).gather("m")

    @property
    def bounds(self) -> list[BoundsName]:
        """Return which bounds each metric has: of one group, of a mean, or of clusters."""
        if self.what.averages:
            return [metric.bounds_of_means for metric in self.metrics]
        return [
            metric.bounds if metric.by_class or not self.clustered else metric.bounds_of_means
            for metric in self.metrics
        ]

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
        plan = plan_for(self.rows, names, self.what.undefined, totals=True)
        # Not metrics: a group without values has rows.
        sums = aggregate(self.rows, plan, self._ranked)
        table = finalize(sums, ["group", "positives", "rows"], plan)
        return collected(table, self.rows.height)

    @cached_property
    def table(self) -> pl.DataFrame:
        """Return the keys, `m`, and the numbers of `positives` and of rows, `units`."""
        groups = self._values.select("group", "positives", units="rows")
        return self.restored(groups.join(places(len(self.metrics)), how="cross"))

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

        A line stands for `count` rows. Of 1,000,000 rows with 1 % positives, standard errors by
        these lines take a quarter of the time of those by rows; with 50 % positives, 60 %.
        """
        blocks = self._blocks("misses", "positives", steps=True)
        hits = pl.col("hits")
        misses = pl.col("size") - hits
        tp_above = pl.col("tp").fill_null(pl.col("positives")) - hits
        lines = [
            blocks.with_columns(truth=True, count=hits),
            blocks.with_columns(truth=False, count=misses),
            blocks.with_columns(
                truth=False,
                count=pl.col("misses") - misses,
                tp=tp_above,
                hits=pl.lit(0, pl.Int64),
            ),
        ]
        table = pl.concat(lines).filter(pl.col("count") > 0)
        return table.select("group", "truth", "count", *BLOCK_COLUMNS)

    def _blocks(self, *columns: str, steps: bool = False) -> pl.DataFrame:
        """Return the blocks, or only steps, with what influences read and these columns."""
        columns = (*BLOCK_COLUMNS, *columns)
        blocks = blocks_of(self.rows, columns, steps=steps, ranked=self._ranked)
        return collected(blocks, self.rows.height)

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
        groups = self._with_influence(lines, target).group_by("group")
        sums = groups.agg(
            squares=(pl.col("D") ** 2 * count).sum(),
            whole=count.filter("has_positive").sum(),
            hits=count.filter("truth").sum(),
        )
        table = self._values_of(target).join(sums, on="group", how="left")
        table = table.with_columns(pl.col("squares", "whole", "hits").fill_null(0))

        negatives = pl.col("rows") - pl.col("positives")
        variance = pl.col("squares")
        n = pl.col("whole")
        if target.whole is None:
            n = pl.min_horizontal("positives", negatives)
        if target.missing is not None:
            # Positives that only the totals know are not retrieved.
            variance += (pl.col("positives") - pl.col("hits")) * target.missing**2
        if target.is_corrected:
            variance = variance * n / (n - 1)
        has_error = pl.col("value").is_finite() & (n > (0 if target.is_share else 1))
        return table.select(
            "group",
            "value",
            "positives",
            error=pl.when(has_error).then(variance.sqrt()),
            negatives=negatives,
            df=n - 1,
            units="rows",
            bias=target.bias,
        )

    def restored(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the keys in place of `group`."""
        return collected(self.output.restored(table.lazy()), table.height)

    def means(self) -> pl.DataFrame:
        """Return the means over the fixed groups that share the keys."""
        has_value = pl.col("value").is_not_null()
        return means_over(
            self.restored(self.groups),
            self.key_columns,
            len(self.metrics),
            error=error_of_fixed_mean("value", "error"),
            df=pl.col("df").filter(has_value).sum(),
            bias=pl.col("bias").mean(),
            units=pl.col("units").sum(),
            positives=pl.col("positives").sum(),
            negatives=pl.col("negatives").sum(),
        )

    def influences(self) -> pl.DataFrame:
        """Return by how much the value of its key would change without each cluster, D.

        `positives` and `negatives`: which share of the rows of each label the cluster has; for a
        share, of the rows of its whole. `alone`: whether it is the only cluster of a group. If each
        row is a cluster, D is the influence of the row, without the weights.
        """
        table = self._lines_of_clusters()
        parts = []
        for m, target in enumerate(self.metrics):
            lines = self._with_influence(table, target).drop_nulls("D")
            if self.rows.request.each_row:
                part = lines.select("group", "cluster", "D")
            else:
                part = _clusters_of(lines)
            parts.append(part.with_columns(m=pl.lit(m, pl.Int32), number="group"))
        table = self.restored(pl.concat(parts))
        if not self.what.averages:
            return table
        keys = self.key_columns
        groups = pl.col("number").n_unique().over(keys)
        table = table.with_columns(D=pl.col("D") / groups)
        return table.group_by(*keys, "cluster").agg(
            pl.col("D", *WEIGHTS).sum(),
            pl.col("alone").any(),
        )

    def _lines_of_clusters(self) -> pl.DataFrame:
        """Return the rows that count with the columns of their block and of thresholds."""
        table = self._rows()
        if self._ranked is None:
            return table
        blocks = self._blocks("threshold")
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
    sums = sums.with_columns(
        counts / counts.sum().over("group"),
        alone=pl.len().over("group") == 1,
    )
    return sums.with_columns(D=left_out(*WEIGHTS))


_FEW_POSITIVES = 10


def warn_of_skew(sampled: SampledRows, table: pl.DataFrame) -> None:
    """Warn of a mean like log loss with fewer than 10 rows, or clusters, of a label."""
    skewed = [m for m, target in enumerate(sampled.metrics) if target.is_skewed]
    are_few = pl.min_horizontal(WEIGHTS) < _FEW_POSITIVES
    few = table.drop_nulls("low").filter(pl.col("m").is_in(skewed), are_few)
    if few.height:
        name = sampled.names[few["m"][0]]
        warn(
            f"{name}: a few rows of the rarer label make most of it, and with 5 of them 95 % "
            "intervals have a coverage of 89 to 91 %"
        )


def warn_of_bias(sampled: SampledRows, table: pl.DataFrame) -> None:
    """Warn if the mean of a metric over fixed groups has a bias of half its error.

    A mean over many groups has the same bias as one of them, and a small standard error.
    """
    biased = table.filter(pl.col("bias") > pl.col("error") / 2)
    if sampled.what.averages and biased.height:
        largest = biased.sort("bias", descending=True)
        name = sampled.names[largest["m"][0]]
        bias, groups = largest.select("bias", "groups").row(0)
        warn(
            f"{name} with few positives is too large, here by about {bias:.2g}, and the standard "
            f"error of a mean over {groups} groups does not include this bias: the interval is "
            "about samples of this size"
        )


Sample: TypeAlias = UnitValues | SampledRows


def _sampled_units(frame: Any, what: Evaluation) -> UnitValues | None:
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


def samples(
    frame: Any, what: Evaluation, method: Method | None, *, each_row: bool = False
) -> Iterator[tuple[Sample, bool]]:
    """Yield the units, or the rows, or clusters of rows; and whether they are drawn again.

    Without a method, metrics of rows have their closed form if the options allow it, and the others
    are a second sample. `each_row`: whether each row is a cluster of its own.
    """
    units = _sampled_units(frame, what)
    if units is not None:
        yield units, method == "bootstrap"
        return
    parts: dict[bool, dict[int, RowMetric]] = {False: {}, True: {}}
    for m, name in enumerate(what.named.values()):
        has_closed_form = method == "closed" or (method is None and _has_closed_form(name, what))
        target = _closed_form(name, what) if has_closed_form else RowMetric(name)
        parts[not has_closed_form][m] = target
    caller = "a standard error" if parts[False] else "a bootstrap"
    if each_row:
        refuse_options(caller, what.options, EACH_ROW)
    if parts[True]:
        refuse_options("a bootstrap", what.options, DRAWN_ROWS)
    rows, output = rows_of(frame, what.request()._replace(each_row=each_row))
    keys = what.key_columns(output)
    for is_drawn, metrics in parts.items():
        if metrics:
            targets = list(metrics.values())
            yield SampledRows(what, output, keys, rows, targets, list(metrics)), is_drawn


def _has_closed_form(name: str, what: Evaluation) -> bool:
    """Return whether a metric has a standard error with these options."""
    with suppress(ValueError):
        return bool(_closed_form(name, what))
    return False


def _closed_form(name: str, what: Evaluation) -> RowMetric:
    """Return the metric; raise if it has no standard error with these options."""
    target = of_rows(name)
    refusals = SAMPLED_ROWS if what.cluster is None else (*SAMPLED_ROWS, *SAMPLED_CLUSTERS)
    refuse_options("a standard error", what.options, refusals)
    if target.missing is None and what.options.get("total_positives") is not None:
        raise ValueError(
            "total_positives=: where rows are sampled, only average_precision has a standard error "
            "with it; put missing rows in, with a null score and unscored='unretrieved'"
        )
    return target


def counted_rows(rows: Rows) -> pl.DataFrame:
    """Return the rows that count, with `count`."""
    frame = rows.frame
    if rows.drops:
        frame = frame.filter(~pl.col("dropped"))
    if not rows.has_counts:
        frame = frame.with_columns(count=pl.lit(1, pl.Int64))
    return collected(frame, rows.height)
