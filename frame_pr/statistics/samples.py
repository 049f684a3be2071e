"""The sample of a call: units such as queries, rows, or clusters of rows; its means and their standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeAlias

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, filling, names_of, refuse_options
from frame_pr.frames.columns import by_name, column_names, has_keys, refuse_clash, refuse_several
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import means_for, metrics_named, refuse_no_keys
from frame_pr.inputs.options import (
    DRAWN_ROWS,
    SAMPLED_CLUSTERS,
    SAMPLED_ROWS,
    EvaluationOptions,
    options_in,
)
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.rows import OutputFrame, Rows, rows_of
from frame_pr.inputs.thresholds import code_reached
from frame_pr.metrics.aggregation import aggregate, finalize, plan_for, values
from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.names import BLOCKS, is_metric, metric, request_for
from frame_pr.metrics.rates import RATES, RowShare
from frame_pr.ranking.blocks import PackedRows, blocks_of, sorted_rows
from frame_pr.statistics.bounds import BoundsName

_SLACK = 1e-6
"""How far a share may lie below 0 or above 1, because other tools round floats, some to 32 bits."""


@dataclass(frozen=True)
class Evaluation:
    """The arguments of a call that say what to evaluate."""

    metrics: Any
    truth: Any
    score: Any
    by: Any
    cluster: Any
    mean_over: Any
    options: EvaluationOptions

    @property
    def named(self) -> dict[str, str]:
        """Return the metrics, or the columns of a frame of metrics, by their new names."""
        if self.truth is not None:
            return metrics_named(self.metrics, self.truth, self.score)
        renamed = self.metrics if isinstance(self.metrics, Mapping) and self.metrics else {}
        columns = names_of("metrics", list(renamed.values()) or self.metrics, "names of columns")
        return dict(zip(renamed or columns, columns, strict=True))

    @property
    def undefined(self) -> float | None:
        """Return what replaces null."""
        return filling(self.options.get("undefined"))

    def keys_left(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that are not averaged over."""
        return keys_left(keys, self.mean_over)

    def request(self, *, averages: bool = False) -> Request:
        """Return the request of rows."""
        others = self.options.get("positive"), options_in(self.options)
        request = request_of(self.truth, self.score, self.by, *others)
        return request_for(self.named.values(), request, averages=averages)


class UnitValues(NamedTuple, Generic[Frame]):
    """The metrics of units, such as queries, and the output in the caller's kind of frame."""

    table: pl.DataFrame
    """A row per unit and metric: the keys as `OutputFrame.key_columns` names them, `m` (the place of the metric) and
    `value` (Float64, null if undefined).
    """
    output: OutputFrame[Frame]
    bounds: Sequence[BoundsName]
    """Which bounds the mean of each metric has."""
    keys: Mapping[str, str]
    """The keys of the result, and their columns in the table."""

    def estimates(self) -> pl.DataFrame:
        """Return the means over the units that share the keys; see `means_over`."""
        return means_over(self.table, [*self.keys.values(), "m"], len(self.bounds))


def unit_values_of(frame: Frame, what: Evaluation, *, system: bool = False) -> UnitValues[Frame]:
    """Evaluate the groups of a frame of rows; without truth and score, return the metrics that the frame has.

    `system`: whether a frame of metrics must have a column that names the system.
    """
    if what.truth is None:
        return _read_metrics(frame, what, system=system)
    rows, output = rows_of(frame, what.request(averages=True), all_groups=True)
    of_places = {str(m): name for m, name in enumerate(what.named.values())}
    table = output.restored(
        values(rows, of_places, what.undefined).cast(dict.fromkeys(of_places, pl.Float64))
    )
    return _unit_values(table, output, what)


def _unit_values(
    table: pl.LazyFrame, output: OutputFrame[Frame], what: Evaluation
) -> UnitValues[Frame]:
    """Return the values of a table that has a column for the place of each metric."""
    named, keys = (
        what.named.values(),
        {key: output.key_columns[key] for key in what.keys_left(output.keys)},
    )
    long = collected(table, "auto").unpivot(
        index=list(output.key_columns.values()), variable_name="m"
    )
    bounds: list[BoundsName] = ["share" if _is_share(name) else "number" for name in named]
    return UnitValues(long.with_columns(pl.col("m").cast(pl.Int32)), output, bounds, keys)


def sampling_unit(what: Evaluation, sampled: Any, *, means: bool) -> str:
    """Return the sampling unit, "groups" or "rows".

    `means`: whether a call with rows is about means over groups, as one with a frame of metrics is.
    """
    has_values = what.truth is None
    if has_values != (what.score is None):
        raise TypeError(
            "truth and score: rows need both, and a frame of metrics neither; the metrics come first"
        )
    means = means or has_values
    default = "groups" if means and what.cluster is None else "rows"
    unit: str = check_choice("sampled", sampled, ("groups", "rows", None)) or default
    if unit == "groups" and what.cluster is not None:
        raise ValueError(
            "cluster= is about rows that were drawn together: with sampled='groups' leave it out"
        )
    if unit == "groups" and not means:
        raise ValueError(
            "sampled='groups' needs mean_over=, or by= of compare: the keys of the groups that were drawn"
        )
    if unit == "rows" and has_values:
        raise ValueError(
            "cluster= and sampled='rows' are about rows, and a frame of metrics has groups only"
        )
    return unit


def _read_metrics(frame: Frame, what: Evaluation, *, system: bool) -> UnitValues[Frame]:
    """Read a frame of metrics."""
    for word in EvaluationOptions.__annotations__:
        if what.options.get(word) is not None:
            raise TypeError(
                f"{word}= is about rows, and without truth and score a frame has none: leave it out"
            )
    if not has_keys(what.by):
        raise TypeError(
            "by names the columns that tell the rows of a frame of metrics apart, such as by='query'"
        )
    kind, keys, named = kind_of(frame), column_names("by", what.by), what.named
    if system and "system" not in kind.columns:
        raise ValueError(
            "compare: a frame of metrics has a column 'system' that names the systems; rename yours"
        )
    names = list(dict.fromkeys(named.values()))
    keys += ["system"] if system and "system" not in keys else []
    kind.refuse_missing(keys, "by")
    kind.refuse_missing(names, "metrics")
    kind, _ = kind.with_keys(keys)
    texts = [str(key) for key in keys]
    refuse_clash(named, texts, "column {} is among by and among metrics: a key is not a metric")
    table = collected(kind.read([*keys, *names]).select(map(by_name, [*texts, *names])), "auto")
    for name in names:
        if not (table.schema[name].is_numeric() or table.schema[name] == pl.Null):
            raise TypeError(
                f"metrics: column {shown(name)} holds {table.schema[name]}, and metrics are numbers"
            )
    repeated = table.filter(pl.struct(map(by_name, texts)).is_duplicated())
    if repeated.height:
        first = ", ".join(f"{key}={repeated[key][0]!r}" for key in texts)
        raise ValueError(
            f"a frame of metrics has one row for each of its keys, and more of {first}: add a key to by"
        )
    output = OutputFrame(kind, tuple(texts), (), restore=lambda table: table, rows=table.lazy())
    of_keys = {column: by_name(key) for key, column in output.key_columns.items()}
    numbers = {
        str(m): by_name(name).cast(pl.Float64).fill_nan(None)
        for m, name in enumerate(named.values())
    }
    return _unit_values(table.lazy().select(**of_keys, **numbers), output, what)


def _is_share(name: str) -> bool:
    """Return whether a metric lies between 0 and 1. For a column with another name this is unknown."""
    return is_metric(name) and metric(name).kind == "share" and metric(name).from_0_to_1


def validate_shares(unit_values: UnitValues[Any], metrics: Sequence[str]) -> None:
    """Refuse values below 0 or above 1 in columns of a frame of metrics that are named like shares."""
    is_share = pl.col("m").is_in(
        [m for m, bounds in enumerate(unit_values.bounds) if bounds == "share"]
    )
    outside = unit_values.table.filter(is_share, ~pl.col("value").is_between(-_SLACK, 1 + _SLACK))
    if outside.height:
        name = metrics[outside["m"][0]]
        raise ValueError(
            f"metrics: column {shown(name)} holds {outside['value'][0]}, and {name} lies between 0 and 1; divide "
            "percentages by 100, and write null where there is no value"
        )


def keys_left(keys: Sequence[str], mean_over: Any) -> list[str]:
    """Return the keys that are not averaged over: without `mean_over` only `system`."""
    means = means_for(True if mean_over is None else mean_over, "mean")
    assert means is not None
    refuse_no_keys("mean_over", means.over or (), keys)
    return means.left(keys)


def means_over(
    table: pl.DataFrame, keys: Sequence[str], metrics: int, **numbers: pl.Expr
) -> pl.DataFrame:
    """Return means of `value` over the groups that share the keys: `Estimates`, `groups` and `undefined`.

    The groups were drawn, unless other aggregates, `numbers`, replace these. `metrics`: the number
    of metrics, whose place `m` is the last key. Each of them has a row if it is the only key.
    """
    value = pl.col("value")
    n, none = value.count().cast(pl.Int64), pl.lit(None, pl.Int64)
    # Infinite thresholds have no error, and two of them with opposite signs no mean.
    drawn = {
        "error": (value.std() / n.sqrt()).fill_nan(None),
        "df": n - 1,
        "sources": n,
        "units": n,
        "positives": none,
    }
    drawn |= {"groups": n, "undefined": value.null_count().cast(pl.Int64)}
    means = table.group_by(keys).agg(value.mean().fill_nan(None), **{**drawn, **numbers})
    if len(keys) > 1:
        return means
    every = pl.DataFrame({"m": range(metrics)}, schema={"m": pl.Int32})
    return every.join(means, on="m", how="left").with_columns(cs.integer().fill_null(0))


def give_sorted(
    table: pl.DataFrame,
    keys: Mapping[str, str],
    output: OutputFrame[Frame],
    order: Sequence[str],
    columns: Sequence[str],
    **other_keys: str,
) -> Frame:
    """Return the keys and these columns, sorted by the keys and then by `order`, as a frame of the caller's kind.

    `keys`: the names of the keys, and their columns in the table. `other_keys`: columns with values
    of a key, and its name.
    """
    refuse_clash(keys, columns)
    of_systems = output.key_columns["system"] if output.systems else ""
    names = [
        pl.col(name).cast(pl.Enum(output.systems)) if name == of_systems else name
        for name in keys.values()
    ]
    named = [pl.col(name).alias(key) for key, name in keys.items()]
    sources = {key: key for key, name in keys.items() if name != of_systems}
    return output.kind.give(
        table.lazy().sort(*names, *order).select(*named, *columns), sources | other_keys
    )


# rows
# -----------------------------------------------------------------------------------------------------------------

_BLOCKS = ("size", "hits", "k", "tp", "later_hits", "later_misses")


class RowMetric(NamedTuple):
    """A metric and, if it has a standard error over rows, the influence D of a row on it.

    D is the derivative of the metric by the weight of the row. It is a formula of the label and the
    block of the row, and of the `value`, the `positives` and the `rows` of its group. The D of all
    rows sum to 0, and the sum of their squares is about the variance of the metric.
    """

    name: str
    bounds: BoundsName = "share"
    """Which bounds a value has that is of one group with independent rows."""
    influence: pl.Expr | None = None
    whole: pl.Expr | None = None
    """Whether a share counts a row; None for a metric of the whole ranking, which has one df less than the rows of the
    rarer label.
    """
    threshold: Threshold | None = None
    by_class: bool = False
    """Whether the D of the positives sum to 0, and those of the negatives too."""


def _average_precision() -> RowMetric:
    """Return average precision. A positive that is not retrieved has D = -A / P.

    More weight for a positive changes its own term, and the precision at its step and at all later
    ones; more weight for a negative changes only the latter.
    """
    lacking = (BLOCKS.tp / BLOCKS.k - 1 + pl.col("later_misses")).fill_null(-1.0)
    # Relative to 1 - A, which for good rankings is as small as the other terms.
    of_hit = lacking + (1 - pl.col("value"))
    influence = pl.when("truth").then(of_hit).otherwise(-pl.col("later_hits")) / BLOCKS.positives
    return RowMetric("average_precision", influence=influence)


def _roc_auc() -> RowMetric:
    """Return ROC AUC. The variance is that of DeLong, DeLong and Clarke-Pearson (1988).

    A positive depends on the share of negatives above it, a negative on that of positives below it.
    Rows that are not retrieved are the last block.
    """
    tp, k = BLOCKS.tp.fill_null(BLOCKS.positives), BLOCKS.k.fill_null(BLOCKS.rows)
    negatives, lacks = BLOCKS.rows - BLOCKS.positives, 1 - pl.col("value")
    of_hit = (lacks - (k - tp - (BLOCKS.size - BLOCKS.hits) / 2) / negatives) / BLOCKS.positives
    of_miss = (lacks - (1 - (tp - BLOCKS.hits / 2) / BLOCKS.positives)) / negatives
    return RowMetric(
        "roc_auc", "roc_auc", pl.when("truth").then(of_hit).otherwise(of_miss), by_class=True
    )


def _share(name: str, share: RowShare, threshold: Threshold | None) -> RowMetric:
    """Return a share of rows. The columns named after thresholds say whether a row reaches the threshold."""
    is_reached = pl.lit(True) if threshold is None else pl.col(str(threshold))
    part, whole = (
        number(pl.col("truth"), is_reached).cast(pl.Float64) for number in (share.part, share.whole)
    )
    influence = (part - pl.col("value") * whole) / (whole * pl.col("count")).sum().over("group")
    return RowMetric(
        name, "f1" if share.harmonic else "proportion", influence, whole > 0, threshold
    )


_OF_RANKING = {metric.name: metric for metric in (_average_precision(), _roc_auc())}


def row_metric(name: str) -> RowMetric | None:
    """Return the metric of this name; None if it has no standard error over rows."""
    head, cutoff = name.partition("@")[0], metric(name).cutoff
    share = RATES[head].row_share if head in RATES else None
    if share is not None and (cutoff is None or isinstance(cutoff, Threshold)):
        return _share(name, share, cutoff)
    return _OF_RANKING.get(name)


def of_rows(name: str) -> RowMetric:
    """Return the metric of this name; raise if it has no standard error over rows."""
    if target := row_metric(name):
        return target
    raise ValueError(
        f"{name} has no closed form where rows are sampled: average_precision, roc_auc, prevalence and shares of rows "
        "at a threshold, such as recall@threshold=0.5, have one; method='bootstrap' gives an interval for every metric"
    )


@dataclass(frozen=True, eq=False)
class SampledRows(Generic[Frame]):
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
    def bounds(self) -> list[BoundsName]:
        """Return which bounds each metric has: those of one group, or those of a mean or of clusters."""
        return [
            "share" if self.averaged or self.clustered else metric.bounds for metric in self.metrics
        ]

    @property
    def key_columns(self) -> list[str]:
        """Return the columns that tell the rows of `estimates` apart: the keys, and `m`, the place of the metric."""
        return [*self.keys.values(), "m"]

    @cached_property
    def _ranked(self) -> PackedRows | None:
        """Return the rows in order, if a metric is of the ranking."""
        return (
            sorted_rows(self.rows) if any(target.whole is None for target in self.metrics) else None
        )

    @cached_property
    def _values(self) -> pl.DataFrame:
        """Return the metrics of each group, its `positives` and its `rows`."""
        plan = plan_for(
            self.rows,
            list({target.name: None for target in self.metrics}),
            self.undefined,
            totals=True,
        )
        # Not metrics: a group without values has rows.
        sums = aggregate(self.rows, plan, self._ranked)
        return collected(finalize(sums, ["group", "positives", "rows"], plan), "auto")

    def _reached(self) -> list[pl.Expr]:
        """Return whether a row reaches each threshold of the metrics."""
        key, cutoffs = (
            self.rows.key,
            {target.threshold for target in self.metrics if target.threshold},
        )
        reaches = {
            str(cutoff): key.score_reaches(code_reached(cutoff.threshold, key))
            for cutoff in cutoffs
        }
        return [reached.fill_null(False).alias(name) for name, reached in reaches.items()]

    def _steps(self) -> pl.DataFrame:
        """Return three lines for each step: its positives, its negatives, and the negatives after the step above.

        A line stands for `count` rows.
        """
        columns = (*_BLOCKS, "misses", "positives")
        blocks = collected(blocks_of(self.rows, columns, steps=True, ranked=self._ranked), "auto")
        hits, misses, none = pl.col("hits"), pl.col("size") - pl.col("hits"), pl.lit(0, pl.Int64)
        above = pl.col("tp").fill_null(pl.col("positives")) - hits
        lines = [
            blocks.with_columns(truth=pl.lit(True), count=hits),
            blocks.with_columns(truth=pl.lit(False), count=misses),
            blocks.with_columns(
                truth=pl.lit(False), count=pl.col("misses") - misses, tp=above, hits=none
            ),
        ]
        return (
            pl.concat(lines).filter(pl.col("count") > 0).select("group", "truth", "count", *_BLOCKS)
        )

    def _with_influence(self, lines: pl.DataFrame, target: RowMetric) -> pl.DataFrame:
        """Return the lines with D, null if the metric has no value, and the label that they tell of.

        The rows of the whole of a share tell of both labels.
        """
        assert target.influence is not None
        values = self._values.select(
            "group", "positives", "rows", value=pl.col(target.name).cast(pl.Float64)
        )
        influence, truth = (
            pl.when(pl.col("value").is_not_null()).then(target.influence),
            pl.col("truth"),
        )
        has_positive, has_negative = (
            (truth, ~truth) if target.whole is None else (target.whole, target.whole)
        )
        lines = lines.join(values, on="group", how="left")
        return lines.with_columns(D=influence, has_positive=has_positive, has_negative=has_negative)

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Return a row per group and metric: `group`, `m` (the place of the metric) and `Estimates`.

        The variance is the sum of the squared influences of all rows.
        """
        count, p, n, value = pl.col("count"), pl.col("positives"), pl.col("rows"), pl.col("value")
        squares, truth, parts = pl.col("D") ** 2 * count, pl.col("truth"), []
        sums_of = {
            "of_positives": squares.filter(truth).sum(),
            "of_negatives": squares.filter(~truth).sum(),
        }
        sums_of |= {"whole": count.filter("has_positive").sum(), "hits": count.filter(truth).sum()}
        cells = (
            counted_rows(self.rows).group_by("group", "truth", *self._reached()).agg(count.sum())
        )
        steps = cells if self._ranked is None else self._steps()
        for m, target in enumerate(self.metrics):
            groups = self._values.select("group", p, n, value=pl.col(target.name).cast(pl.Float64))
            sums = self._with_influence(steps if target.whole is None else cells, target)
            sums = sums.group_by("group").agg(**sums_of)
            part = groups.join(sums, on="group", how="left").with_columns(
                pl.col(*sums_of).fill_null(0)
            )
            least_sources, sources, variance = (
                1,
                pl.col("whole"),
                pl.col("of_positives") + pl.col("of_negatives"),
            )
            if target.whole is None:
                least_sources, sources = 2, pl.min_horizontal(p, n - p)
                # Positives that only the totals know are not retrieved.
                variance = (
                    (variance + (p - pl.col("hits")) * (value / p) ** 2) * sources / (sources - 1)
                )
            if target.by_class:
                variance = pl.col("of_positives") * p / (p - 1) + pl.col("of_negatives") * (
                    n - p
                ) / (n - p - 1)
            error = pl.when((sources >= least_sources) & value.is_not_null()).then(variance.sqrt())
            numbers = {"df": sources - 1, "sources": sources, "units": n, "positives": p}
            parts.append(
                part.select("group", "value", error=error, m=pl.lit(m, pl.Int32), **numbers)
            )
        return pl.concat(parts).with_columns(
            pl.col("df", "sources", "units", "positives").cast(pl.Int64)
        )

    def restored(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the keys in place of `group`."""
        return collected(self.output.restored(table.lazy()), "auto")

    def estimates(self) -> pl.DataFrame:
        """Return a row per key and metric: `key_columns`, `Estimates`, `groups` and `undefined`.

        The column `groups` says how many groups have a value, and `undefined` how many have none.
        """
        has_value, df = (
            pl.col("value").is_not_null(),
            pl.col("df").filter(pl.col("value").is_not_null()).sum(),
        )
        # A mean has an error only if each of its values has one.
        error, n = pl.col("error"), pl.col("value").count()
        error = pl.when((error.count() == n) & (n > 0)).then((error**2).sum().sqrt() / n)
        sums = {name: pl.col(name).sum() for name in ("units", "positives")}
        numbers = {"error": error, "df": df, "sources": df + 1, **sums}
        table = means_over(
            self.restored(self.groups), self.key_columns, len(self.metrics), **numbers
        )
        if self.clustered:
            table = table.drop("error", "df", "units", "sources")
            table = table.join(
                self._cluster_errors(), on=self.key_columns, how="left", nulls_equal=True
            )
            # A group of which all rows are dropped has no clusters.
            error = pl.when(has_value).then(pl.col("error") / pl.col("groups"))
            table = table.with_columns(error=error, units=pl.col("units").fill_null(0))
        return table

    def clusters(self) -> pl.DataFrame:
        """Return the sum of D for the `key_columns` and each `cluster`; null if the metric has no value.

        `has_positive` and `has_negative`: whether the cluster has a row of each label; for a share,
        of the whole. `alone`: whether it is the only cluster of a group.
        """
        table, parts = counted_rows(self.rows).with_columns(self._reached()), []
        if self._ranked is not None:
            blocks = collected(
                blocks_of(self.rows, (*_BLOCKS, "threshold"), ranked=self._ranked), "auto"
            )
            block = self.rows.key.block_of_row().alias("block")
            # Only a block of dropped rows weighs nothing.
            blocks = (
                blocks.remove(size=0)
                .with_columns(score="threshold", dropped=False)
                .select(block, *_BLOCKS)
            )
            table = table.with_columns(block).join(blocks, on="block", how="left")
        sums_of = {name: pl.col(name).any() for name in ("has_positive", "has_negative")}
        sums_of["D"] = pl.when(pl.col("D").count() > 0).then(pl.col("D").sum())
        for m, target in enumerate(self.metrics):
            sums = self._with_influence(table, target).select("group", "cluster", *sums_of)
            if not self.rows.request.each_row:
                sums = sums.group_by("group", "cluster").agg(**sums_of)
            alone = (pl.len().over("group") == 1) & pl.col("D").is_not_null()
            parts.append(sums.with_columns(alone=alone, m=pl.lit(m, pl.Int32)))
        sums = self.restored(pl.concat(parts))
        if not self.averaged:
            return sums
        return sums.group_by(*self.key_columns, "cluster").agg(
            **sums_of, alone=pl.col("alone").any()
        )

    def _cluster_errors(self) -> pl.DataFrame:
        """Return the errors of sums, and the numbers of clusters: of all, `units`, and of the rarer label, `sources`.

        In a group with a single cluster the D add up to 0 whatever the error is. So the mean has no
        error.
        """
        n, squares = pl.len().cast(pl.Int64), (pl.col("D") ** 2).sum()
        # A value in place of an undefined one has no influence: D is 0 / 0.
        error = pl.when((n > 1) & ~pl.col("alone").any()).then(
            (squares * n / (n - 1)).sqrt().fill_nan(None)
        )
        sources = pl.min_horizontal(
            pl.col("has_positive").sum(), pl.col("has_negative").sum()
        ).cast(pl.Int64)
        return (
            self.clusters()
            .group_by(self.key_columns)
            .agg(error=error, df=n - 1, units=n, sources=sources)
        )


Sample: TypeAlias = UnitValues[Frame] | SampledRows[Frame]


def sampled_rows(
    frame: Frame, what: Evaluation, *, draws_again: bool = False, each_row: bool = False
) -> SampledRows[Frame]:
    """Validate a frame whose rows, or clusters of rows, are the sample.

    `draws_again`: whether rows are drawn again, instead of a closed form. `each_row`: whether each
    row is its own cluster.
    """
    averaged, clustered = what.mean_over is not None, what.cluster is not None
    if clustered:
        refuse_several("cluster", what.cluster)
    named, request = what.named, replace(what.request(), cluster=what.cluster, each_row=each_row)
    if draws_again:
        metrics = [RowMetric(name) for name in named.values()]
        refuse_options("a bootstrap", request.options, DRAWN_ROWS)
    else:
        metrics = [of_rows(name) for name in named.values()]
        refusals = (*SAMPLED_ROWS, *SAMPLED_CLUSTERS) if clustered or each_row else SAMPLED_ROWS
        refuse_options("a standard error", request.options, refusals)
        if "total_positives" in request.totals and {*named.values()} != {"average_precision"}:
            raise ValueError(
                "total_positives=: where rows are sampled, only average_precision has a standard error with it; put "
                "missing rows in, with a null score and unscored='unretrieved'"
            )
    rows, output = rows_of(frame, request)
    left = what.keys_left(output.keys) if averaged else output.keys
    keys = {key: output.key_columns[key] for key in left}
    return SampledRows(rows, output, metrics, what.undefined, keys, averaged, clustered)


def counted_rows(rows: Rows) -> pl.DataFrame:
    """Return the rows that count, with `count`."""
    table = collected(
        rows.frame.filter(~pl.col("dropped")) if rows.key.drops else rows.frame, "auto"
    )
    return table if rows.has_counts else table.with_columns(count=pl.lit(1, pl.Int64))
