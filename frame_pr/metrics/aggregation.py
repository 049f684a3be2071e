"""Aggregate blocks into metrics: any number of metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from frame_pr.inputs.policies import BOUNDS, TIES
from frame_pr.inputs.request import TOTALS
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey, parts_of_largest
from frame_pr.inputs.thresholds import code_reached
from frame_pr.inputs.totals import with_totals
from frame_pr.inputs.weights import EXTRA_SUMS, GAINS
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates, Metric
from frame_pr.metrics.names import COLUMNS, FLOAT_COLUMNS, GRADED_COLUMNS, metric
from frame_pr.metrics.rates import RATES
from frame_pr.ranking.blocks import Reached, best_blocks, blocks_of


class Plan(NamedTuple):
    """The metrics of a call, and what they read."""

    metrics: Mapping[str, Metric]
    aggregates: Aggregates
    """Aggregates over blocks, without the facts of groups."""
    facts: Sequence[str]
    """The facts that a formula or an aggregate names."""
    columns: frozenset[str]
    """The columns of blocks that the aggregates read."""
    key: SortKey
    undefined: float | None

    @property
    def thresholds(self) -> dict[str, Threshold]:
        """Return the thresholds of metrics at a threshold, by name."""
        cutoffs = (record.cutoff for record in self.metrics.values())
        return {str(cutoff): cutoff for cutoff in cutoffs if isinstance(cutoff, Threshold)}

    @property
    def extra_sums(self) -> list[str]:
        """Return the columns summed within blocks that the aggregates read."""
        return [name for name in EXTRA_SUMS if name in self.columns]

    @property
    def ideals(self) -> dict[str, Aggregate]:
        """Return the aggregates over blocks of equal gain, the largest gain first."""
        return {name: record for name, record in self.aggregates.items() if record.kind.is_ideal}

    @property
    def over_groups(self) -> dict[str, Aggregate]:
        """Return all other aggregates over blocks, and the facts."""
        others = {name: record for name, record in self.aggregates.items() if not record.kind.is_ideal}
        return {**{name: FACTS[name].over_blocks for name in self.facts}, **others}

    @property
    def columns_of_blocks(self) -> frozenset[str]:
        """Return the columns of blocks that an aggregate reads."""
        records = self.over_groups.values()
        rank_keys = {"rank_key"} if any(record.kind.reads_rank_key for record in records) else set()
        return _columns_read(record.over for record in records) | rank_keys

    def fills(self, name: str) -> bool:
        """Return whether `undefined=` fills the nulls of this metric."""
        return self.metrics[name].kind == "share" and self.undefined is not None

    def undefinable(self) -> list[str]:
        """Return the metrics that may have no value in some group."""
        # Every group has rows, unless rows may be dropped.
        certain = () if self.key.drops else ("rows",)
        return [name for name, record in self.metrics.items() if {*record.needs} - {*certain} and not self.fills(name)]


def plan_for(rows: Rows, names: Sequence[str], undefined: float | None = None, *, needs_gain: bool = True) -> Plan:
    """Return the plan for these metrics. Raise if one of them is undefined for these rows.

    `needs_gain`: whether one of them must read the gains of the rows, if these have gains.
    """
    blocks = FLOAT_COLUMNS if rows.weights.fractional else COLUMNS if rows.gains.name is None else GRADED_COLUMNS
    metrics, ties = {name: metric(name, blocks) for name in names}, rows.request.ties
    for name, record in metrics.items():
        if ties not in record.aggregates:
            bounds = " and ".join(repr(rule) for rule in BOUNDS if rule in record.aggregates)
            raise ValueError(f"{name} {TIES[ties].refusal.format(way=f'ties={bounds} bound it, ' if bounds else '')}")
    aggregates = {key: part for record in metrics.values() for key, part in record.aggregates[ties].items()}
    columns = _columns_read(part.over for part in aggregates.values())
    needed = columns | _columns_read(record.value for record in metrics.values())
    facts = [name for name in FACTS if name in needed]
    for name, record in metrics.items():
        if (isinstance(record.cutoff, Rank) or record.counts_ranks) and not rows.weights.ranks:
            way = f"leave out {rows.weights.option}="
            if name.partition("@")[0] in RATES:
                way = f"use a threshold or a recall instead, or {way}"
            raise ValueError(f"{name} uses ranks, and weighted rows have no rank: {way}")
    if needs_gain and rows.gains.name is not None and columns.isdisjoint(GAINS):
        raise ValueError(
            "gain= is what dcg, ndcg and captured_gain add up, and none of them is asked for: leave it out"
        )
    if rows.gains.name is not None and TIES[ties].bounds:
        for name, record in metrics.items():
            if "gain" not in _columns_read(part.over for part in record.aggregates[ties].values()):
                raise ValueError(f"ties={ties!r} with gain= orders equal scores by their gain: ask for {name} without")
    if rows.totals:  # Known totals replace both facts.
        facts += [total for total in TOTALS if total not in facts]
    return Plan(metrics, aggregates, facts, columns, rows.key, undefined)


def values(rows: Rows, named: Mapping[str, str], undefined: float | None = None) -> pl.LazyFrame:
    """Return one row per group: `group` and the metrics under these column names."""
    metric_plan = plan_for(rows, list(named.values()), undefined)
    table = finalize(aggregate(rows, metric_plan), ["group"], metric_plan)
    return table.select("group", **renamed(named))


def renamed(named: Mapping[str, str]) -> dict[str, pl.Expr]:
    """Rename columns to the names that the caller gave."""
    return {name: pl.col(source) for name, source in named.items()}


def aggregate(rows: Rows, metric_plan: Plan) -> pl.LazyFrame:
    """Return one row per group, sorted: `group`, and the facts and aggregates that the formulas name."""
    if _needs_ranking(rows, metric_plan):
        return _aggregate_ranking(rows, metric_plan)
    return _aggregate_rows(rows, metric_plan)


def _needs_ranking(rows: Rows, metric_plan: Plan) -> bool:
    """Return whether the rows have to be sorted."""
    metrics, ties = metric_plan.metrics.values(), rows.request.ties
    # Metrics at thresholds and facts need no ranking, unless they add up gains.
    of_rows = all(isinstance(record.cutoff, Threshold) or not record.aggregates[ties] for record in metrics)
    return not of_rows or bool(metric_plan.extra_sums) or rows.starts is not None or rows.weights.fractional


def _aggregate_rows(rows: Rows, metric_plan: Plan) -> pl.LazyFrame:
    """Aggregate over unsorted rows, which is enough for facts and thresholds."""
    weight = pl.col("weight")
    if rows.weights.name is None:
        weight = (~pl.col("dropped")).cast(pl.Int64) if rows.key.drops else pl.lit(1, dtype=pl.Int64)
    table = rows.frame.with_columns(weight=rows.times(weight))
    aggregates = {name: FACTS[name].over_rows for name in metric_plan.facts}
    for cutoff in metric_plan.thresholds.values():
        reached = rows.key.score_reaches(code_reached(cutoff.threshold, rows.key))
        aggregates |= cutoff.over_rows(pl.col("truth"), reached, pl.col("weight"))
    sums = aggregate_blocks(table, aggregates, rows.groups, in_order=False).sort("group")
    return with_totals(sums, rows.totals)


class BlocksNeeded(NamedTuple):
    """What aggregates read of blocks: arguments of `blocks_of`."""

    columns: frozenset[str]
    steps: bool
    first: bool
    k_at: Mapping[str, Reached]
    extra_sums: Sequence[str]


def _blocks_needed(rows: Rows, metric_plan: Plan) -> BlocksNeeded:
    """Return what the aggregates read of blocks."""
    metrics = metric_plan.metrics.values()
    hits_may_lack = bool(rows.request.keeps_unscored or rows.totals or rows.starts is not None)
    blocks_read = {record.beyond_steps for record in metrics}
    first = "first" in blocks_read or (hits_may_lack and "first without hits" in blocks_read)
    codes = {name: code_reached(cutoff.threshold, rows.key) for name, cutoff in metric_plan.thresholds.items()}
    k_at: dict[str, Reached] = {f"k@{name}": partial(SortKey.reaches, code=code) for name, code in codes.items()}
    if "retrieved_rows" in metric_plan.facts and rows.has_unranked:
        k_at["retrieved_k"] = SortKey.is_retrieved
    columns = metric_plan.columns_of_blocks
    if "retrieved_k" in columns:
        columns |= {"k"}
    return BlocksNeeded(columns, "all" not in blocks_read, first, k_at, metric_plan.extra_sums)


def _aggregate_ranking(rows: Rows, metric_plan: Plan) -> pl.LazyFrame:
    """Aggregate over the blocks of the ranking."""
    needed = _blocks_needed(rows, metric_plan)
    table = blocks_of(rows, **needed._asdict())
    if not rows.has_unranked and "retrieved_k" in needed.columns:
        table = table.with_columns(retrieved_k="k")
    # Known totals replace the facts where these are first needed: in blocks only if an aggregate names them there.
    in_blocks = not metric_plan.columns.isdisjoint(FACTS)
    if rows.totals and in_blocks:
        table = with_totals(table, rows.totals)
    sums = aggregate_blocks(table, metric_plan.over_groups, rows.groups)
    # A group without rows has no block that could carry its totals.
    if rows.totals and not (in_blocks and rows.groups is None):
        sums = with_totals(sums, rows.totals)
    return _with_ideals(sums, best_blocks(rows), metric_plan.ideals) if metric_plan.ideals else sums


def _with_ideals(sums: pl.LazyFrame, best: pl.LazyFrame, aggregates: Aggregates) -> pl.LazyFrame:
    """Join the aggregates over blocks of equal gain."""
    columns = _columns_read(record.over for record in aggregates.values())
    if facts := [fact for fact in FACTS if fact in columns]:
        best = best.join(sums.select("group", *facts), on="group", how="left", maintain_order="left")
    ideals = aggregate_blocks(best, aggregates)
    return sums.join(ideals, on="group", how="left", maintain_order="left").with_columns(
        pl.col(aggregates).fill_null(0.0)
    )


def finalize(sums: pl.LazyFrame, keys: Sequence[str], metric_plan: Plan) -> pl.LazyFrame:
    """Compute the metrics from the facts and aggregates."""
    unpacked: dict[str, pl.Expr] = {}
    rank_keys = [name for name, part in metric_plan.aggregates.items() if part.kind.is_threshold]
    for name, part in metric_plan.aggregates.items():
        if part.kind.extreme is not None:
            unpacked[name], unpacked[f"threshold@{name}"] = parts_of_largest(pl.col(name))
            rank_keys.append(f"threshold@{name}")
    thresholds = {name: metric_plan.key.threshold(pl.col(name)) for name in rank_keys}
    values = {}
    for name, record in metric_plan.metrics.items():
        values[name] = record.value.fill_null(metric_plan.undefined) if metric_plan.fills(name) else record.value
    return sums.with_columns(**unpacked).with_columns(**thresholds).select(*keys, **values)


def aggregate_blocks(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None = None,
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over blocks or rows."""
    # Compute columns first: polars shares common subexpressions between columns, and aggregates plain columns fastest.
    table = table.select("group", **{name: record.kind.value(record.over) for name, record in aggregates.items()})
    return per_group(table, aggregates, groups, in_order=in_order)


def per_group(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None,
    prefix: str = "",
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over columns with a prefix.

    The columns hold the values to aggregate, or parts of the aggregates. `groups`: the number of groups if groups
    without rows count too. `in_order`: whether the table is sorted by the groups.
    """
    parts = {}
    for name, record in aggregates.items():
        column, kind = pl.col(prefix + name), record.kind
        parts[name] = getattr(column.implode().list if kind.in_lists and in_order else column, kind.aggregation)()
    table = table.group_by("group", maintain_order=True).agg(**parts)
    if groups is None:
        return table
    every = pl.LazyFrame({"group": range(groups)}, schema={"group": pl.Int64})
    sums = {name for name, record in aggregates.items() if record.kind.aggregation == "sum"}
    zero = [name for name in aggregates if name in sums or name in FACTS]
    return every.join(table, on="group", how="left", maintain_order="left").with_columns(pl.col(zero).fill_null(0))


def _columns_read(formulas: Iterable[pl.Expr]) -> frozenset[str]:
    return frozenset(name for formula in formulas for name in formula.meta.root_names())
