"""Aggregate blocks into metrics: any number of metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

import polars as pl

from frame_pr.inputs.options import BOUNDING_TIES
from frame_pr.inputs.request import TOTALS
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.totals import with_totals
from frame_pr.inputs.weights import EXTRA_SUMS, GAINS, Weights
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates, Metric
from frame_pr.metrics.names import BLOCKS, FLOAT_BLOCKS, GRADED_BLOCKS, metric
from frame_pr.metrics.rates import is_rate
from frame_pr.ranking.blocks import Reached, best_blocks, blocks_of
from frame_pr.ranking.sort import PackedRows
from frame_pr.ranking.sort_keys import SortKey, key_of, parts_of_largest
from frame_pr.ranking.threshold_codes import code_reached


class Plan(NamedTuple):
    """The metrics of a call, and what they read."""

    metrics: Mapping[str, Metric]
    over_groups: Aggregates
    """The aggregates over the blocks of a group: the facts, and what the metrics name."""
    ideals: Aggregates
    """The aggregates over blocks of equal gain, the largest gain first."""
    facts: Sequence[str]
    """The facts that a formula or an aggregate names."""
    columns: Set[str]
    """The columns of blocks that the aggregates read, without those of the facts."""
    extra_sums: Sequence[str]
    """Those that are summed within blocks."""
    thresholds: Mapping[str, Threshold]
    """The thresholds of metrics at a threshold, by name."""
    ranks: bool
    """Whether a metric reads the ranking. Facts and metrics at thresholds need the rows only."""
    valued_groups: pl.Series | None
    """The groups that may have values; None for all."""
    weights: Weights
    key: SortKey
    undefined: float | None

    def undefinable(self) -> list[str]:
        """Return the metrics that may have no value in some group."""
        # Every group has rows, unless rows may be dropped.
        certain = set() if self.key.drops else {"rows"}
        return [
            name
            for name, record in self.metrics.items()
            if self.valued_groups is not None or {*record.needs} - certain
            if record.kind != "share" or self.undefined is None
        ]


def plan_for(
    rows: Rows,
    names: Sequence[str],
    undefined: float | None = None,
    *,
    needs_gain: bool = True,
    totals: bool = False,
) -> Plan:
    """Return the plan for these metrics. Raise if one of them is undefined for these rows.

    `needs_gain`: whether one of them must read the gains of the rows, if these have gains.
    `totals`: whether the positives and rows of the group are facts also if no metric names them.
    """
    graded = rows.gains.name is not None
    blocks = FLOAT_BLOCKS if rows.weights.fractional else GRADED_BLOCKS if graded else BLOCKS
    metrics, aggregates, thresholds = (
        {name: metric(name, blocks) for name in names},
        dict[str, Aggregate](),
        {},
    )
    ranks, read = False, set[str]()
    for name, record in metrics.items():
        of_metric = _aggregates_of(name, record, rows)
        if isinstance(record.cutoff, Threshold):
            thresholds[str(record.cutoff)] = record.cutoff
        else:
            ranks = ranks or bool(of_metric)
        aggregates |= of_metric
        read.update(record.value.meta.root_names())
    columns = _columns_read(aggregates)
    if needs_gain and graded and columns.isdisjoint(GAINS):
        raise ValueError(
            "gain= is what dcg, ndcg and captured_gain add up, and none of them is asked for: leave it out"
        )
    if rows.totals or totals:  # Known totals replace both facts.
        read.update(TOTALS)
    facts = [fact for fact in FACTS if fact in read or fact in columns]
    ideals = {name: of_blocks for name, of_blocks in aggregates.items() if of_blocks.kind.is_ideal}
    over_groups = {fact: FACTS[fact].over_blocks for fact in facts}
    over_groups |= {name: of_blocks for name, of_blocks in aggregates.items() if name not in ideals}
    extra_sums = [name for name in EXTRA_SUMS if name in columns]
    return Plan(
        metrics,
        over_groups,
        ideals,
        facts,
        columns,
        extra_sums,
        thresholds,
        ranks,
        rows.valued_groups,
        rows.weights,
        key_of(rows),
        undefined,
    )


def _aggregates_of(name: str, record: Metric, rows: Rows) -> Aggregates:
    """Return the aggregates of a metric. Raise if ties, weights or gains of the rows leave it undefined."""
    ties, rule = rows.request.ties, rows.request.tie_rule
    if ties not in record.aggregates:
        bounds = " and ".join(repr(bound) for bound in BOUNDING_TIES if bound in record.aggregates)
        raise ValueError(
            f"{name} {rule.refusal.format(way=f'ties={bounds} bound it, ' if bounds else '')}"
        )
    if (isinstance(record.cutoff, Rank) or record.counts_ranks) and not rows.weights.ranks:
        way = f"leave out {rows.weights.option}="
        if is_rate(name.partition("@")[0]):
            way = f"use a threshold or a recall instead, or {way}"
        raise ValueError(f"{name} uses ranks, and weighted rows have no rank: {way}")
    aggregates = record.aggregates[ties]()
    if rows.gains.name is not None and rule.bounds and "gain" not in _columns_read(aggregates):
        raise ValueError(
            f"ties={ties!r} with gain= orders equal scores by their gain: ask for {name} without"
        )
    return aggregates


def values(rows: Rows, named: Mapping[str, str], undefined: float | None = None) -> pl.LazyFrame:
    """Return one row per group: `group` and the metrics under these column names."""
    plan = plan_for(rows, list(named.values()), undefined)
    table = finalize(aggregate(rows, plan), ["group"], plan)
    return table.select("group", **{name: pl.col(source) for name, source in named.items()})


def aggregate(rows: Rows, plan: Plan, ranked: PackedRows | None = None) -> pl.LazyFrame:
    """Return one row per group, sorted: `group`, and the facts and aggregates that the formulas name.

    `ranked`: the rows in order, if they are sorted already.
    """
    if ranked is not None or plan.ranks or plan.extra_sums or rows.starts is not None:
        return _aggregate_ranking(rows, plan, ranked)
    return _aggregate_rows(rows, plan)


def _aggregate_rows(rows: Rows, plan: Plan) -> pl.LazyFrame:
    """Aggregate over unsorted rows, which is enough for facts and thresholds."""
    table = rows.frame.with_columns(weight=rows.number)
    aggregates = {name: FACTS[name].over_rows for name in plan.facts}
    key = key_of(rows)
    for cutoff in plan.thresholds.values():
        reached = key.score_reaches(code_reached(cutoff.threshold, key))
        aggregates |= cutoff.over_rows(pl.col("truth"), reached, pl.col("weight"))
    sums = aggregate_blocks(table, aggregates, rows.groups, in_order=False).sort("group")
    return with_totals(sums, rows.totals, rows.weights)


def _aggregate_ranking(rows: Rows, plan: Plan, ranked: PackedRows | None) -> pl.LazyFrame:
    """Aggregate over the blocks of the ranking."""
    read_beyond_steps = {record.beyond_steps for record in plan.metrics.values()}
    hits_may_lack = bool(rows.request.keeps_unscored or rows.totals or rows.starts is not None)
    key = key_of(rows)
    k_at: dict[str, Reached] = {
        f"k@{name}": partial(SortKey.reaches, code=code_reached(cutoff.threshold, key))
        for name, cutoff in plan.thresholds.items()
    }
    columns = _columns_read(plan.over_groups)
    if "retrieved_k" in columns:
        columns |= {"k"}
        if rows.has_unranked:
            k_at["retrieved_k"] = SortKey.is_retrieved
    table = blocks_of(
        rows,
        columns,
        steps="all" not in read_beyond_steps,
        first="first" in read_beyond_steps
        or (hits_may_lack and "first without hits" in read_beyond_steps),
        k_at=k_at,
        extra_sums=plan.extra_sums,
        ranked=ranked,
    )
    if "retrieved_k" in columns and not rows.has_unranked:
        table = table.with_columns(retrieved_k="k")
    # Known totals replace the facts where these are first needed: in blocks only if an aggregate
    # names them there.
    in_blocks = not plan.columns.isdisjoint(FACTS)
    if rows.totals and in_blocks:
        table = with_totals(table, rows.totals, rows.weights)
    sums = aggregate_blocks(table, plan.over_groups, rows.groups)
    # A group without rows has no block that could carry its totals.
    if rows.totals and not (in_blocks and rows.groups is None):
        sums = with_totals(sums, rows.totals, rows.weights)
    return _with_ideals(sums, best_blocks(rows), plan.ideals) if plan.ideals else sums


def _with_ideals(sums: pl.LazyFrame, best: pl.LazyFrame, aggregates: Aggregates) -> pl.LazyFrame:
    """Join the aggregates over blocks of equal gain."""
    columns = _columns_read(aggregates)
    if facts := [fact for fact in FACTS if fact in columns]:
        best = best.join(
            sums.select("group", *facts), on="group", how="left", maintain_order="left"
        )
    ideals = aggregate_blocks(best, aggregates)
    return sums.join(ideals, on="group", how="left", maintain_order="left").with_columns(
        pl.col(aggregates).fill_null(0.0)
    )


def finalize(sums: pl.LazyFrame, keys: Sequence[str], plan: Plan) -> pl.LazyFrame:
    """Compute the metrics from the facts and aggregates."""
    unpacked: dict[str, pl.Expr] = {}
    rank_keys = []
    for name, aggregate in plan.over_groups.items():
        if aggregate.kind.rank_key == "packed":
            unpacked[name], unpacked[f"threshold@{name}"] = parts_of_largest(pl.col(name))
            rank_keys.append(f"threshold@{name}")
        elif aggregate.kind.rank_key == "alone":
            rank_keys.append(name)
    thresholds = {name: plan.key.threshold(pl.col(name)) for name in rank_keys}
    values = {name: _in_range(record, plan.weights) for name, record in plan.metrics.items()}
    if plan.valued_groups is not None:
        is_valued = pl.col("group").is_in(plan.valued_groups.implode())
        values = {name: pl.when(is_valued).then(value) for name, value in values.items()}
    if plan.undefined is not None:
        shares = [name for name, record in plan.metrics.items() if record.kind == "share"]
        values |= {name: values[name].fill_null(plan.undefined) for name in shares}
    return sums.with_columns(**unpacked).with_columns(**thresholds).select(*keys, **values)


def _in_range(record: Metric, weights: Weights) -> pl.Expr:
    """Return the formula of a metric, of float weights in its range, and as a weight if it counts."""
    if record.kind == "weighted count":
        return weights.from_units(record.value)
    # Sums of floats may leave the range by a last bit.
    within = weights.fractional and record.kind == "share" and record.from_0_to_1
    return record.value.clip(0.0, 1.0) if within else record.value


def aggregate_blocks(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None = None,
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over blocks or rows."""
    # Compute columns first: polars shares common subexpressions between columns, and aggregates
    # plain columns fastest.
    table = table.select(
        "group", **{name: record.kind.value(record.over) for name, record in aggregates.items()}
    )
    return per_group(table, aggregates, groups, in_order=in_order)


def per_group(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None,
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over columns of their names.

    The columns hold the values to aggregate, or parts of the aggregates. `groups`: the number of
    groups if groups without rows count too. `in_order`: whether the table is sorted by the groups.
    """
    parts = {}
    for name, record in aggregates.items():
        column, kind = pl.col(name), record.kind
        parts[name] = getattr(
            column.implode().list if kind.in_lists and in_order else column, kind.aggregation
        )()
    table = table.group_by("group", maintain_order=True).agg(**parts)
    if groups is None:
        return table
    every = pl.LazyFrame({"group": range(groups)}, schema={"group": pl.Int64})
    sums = {name for name, record in aggregates.items() if record.kind.aggregation == "sum"}
    zero = [name for name in aggregates if name in sums or name in FACTS]
    return every.join(table, on="group", how="left", maintain_order="left").with_columns(
        pl.col(zero).fill_null(0)
    )


def _columns_read(aggregates: Aggregates) -> set[str]:
    """Return the columns of blocks that the aggregates read."""
    columns = set[str]()
    for record in aggregates.values():
        columns.update(record.over.meta.root_names())
        if record.kind.rank_key != "none":
            columns.add("rank_key")
    return columns
