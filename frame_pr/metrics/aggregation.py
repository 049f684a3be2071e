"""Aggregate blocks into metrics: any number of metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

import polars as pl

from frame_pr.frames.kinds import SMALL, collected
from frame_pr.inputs.options import BOUNDING_TIES
from frame_pr.inputs.request import TOTALS
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.totals import with_totals
from frame_pr.inputs.weights import EXTRA_SUMS, GAINS, Weights
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates, Metric
from frame_pr.metrics.names import BLOCKS, FLOAT_BLOCKS, GRADED_BLOCKS, metric
from frame_pr.metrics.rates import is_rate
from frame_pr.metrics.score_means import epsilon_of
from frame_pr.ranking.blocks import Reached, best_blocks, blocks_of
from frame_pr.ranking.sort import PackedRows
from frame_pr.ranking.sort_keys import SortKey, key_of, rank_key_of
from frame_pr.ranking.threshold_codes import code_reached

_IN_MEMORY = 2**22
"""Rows from which a table may be too large to be collected in memory."""


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
    weights: Weights
    key: SortKey
    undefined: float | None

    @property
    def over_probabilities(self) -> list[str]:
        """Return the metrics that read the scores as probabilities."""
        return [name for name, record in self.metrics.items() if record.of_probabilities]

    def undefinable(self) -> list[str]:
        """Return the metrics that may have no value in some group."""
        # Every group has rows, unless rows may be dropped.
        certain = set() if self.key.drops else {"rows"}
        return [
            name
            for name, record in self.metrics.items()
            if {*record.needs} - certain
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
    blocks = GRADED_BLOCKS if graded else BLOCKS
    if rows.weights.fractional:
        blocks = FLOAT_BLOCKS
    metrics = {name: metric(name, blocks) for name in names}

    aggregates: dict[str, Aggregate] = {}
    thresholds: dict[str, Threshold] = {}
    ranks = False
    for name, record in metrics.items():
        of_metric = _aggregates_of(name, record, rows)
        aggregates |= of_metric
        if isinstance(record.cutoff, Threshold):
            thresholds[str(record.cutoff)] = record.cutoff
        else:
            ranks = ranks or bool(of_metric)

    columns = _columns_read(aggregates)
    if needs_gain and graded and columns.isdisjoint(GAINS):
        raise ValueError(
            "gain= is what dcg, ndcg and captured_gain add up, and none of them is asked for: "
            "leave it out"
        )
    facts = _facts_read(metrics, columns, totals=totals or bool(rows.totals))
    over_groups = {fact: FACTS[fact].over_blocks for fact in facts}
    ideals: dict[str, Aggregate] = {}
    for name, of_blocks in aggregates.items():
        (ideals if of_blocks.kind.is_ideal else over_groups)[name] = of_blocks
    return Plan(
        metrics=metrics,
        over_groups=over_groups,
        ideals=ideals,
        facts=facts,
        columns=columns,
        extra_sums=[name for name in EXTRA_SUMS if name in columns],
        thresholds=thresholds,
        ranks=ranks,
        weights=rows.weights,
        key=key_of(rows),
        undefined=undefined,
    )


def _facts_read(metrics: Mapping[str, Metric], columns: Set[str], *, totals: bool) -> list[str]:
    """Return the facts that formulas or aggregates read. `totals`: both totals also otherwise."""
    # Known totals replace both facts.
    read = {*columns, *TOTALS} if totals else {*columns}
    for record in metrics.values():
        read.update(record.value.meta.root_names())
    return [fact for fact in FACTS if fact in read]


def _aggregates_of(name: str, record: Metric, rows: Rows) -> Aggregates:
    """Return the aggregates of a metric. Raise if these rows leave it undefined."""
    ties = rows.request.ties
    rule = rows.request.tie_rule
    if ties not in record.aggregates:
        bounds = [repr(bound) for bound in BOUNDING_TIES if bound in record.aggregates]
        way = f"ties={' and '.join(bounds)} bound it, " if bounds else ""
        raise ValueError(f"{name} {rule.refusal.format(way=way)}")

    counts_ranks = isinstance(record.cutoff, Rank) or record.counts_ranks
    if counts_ranks and not rows.weights.ranks:
        way = f"leave out {rows.weights.option}="
        if is_rate(name.partition("@")[0]):
            way = f"use a threshold or a recall instead, or {way}"
        raise ValueError(f"{name} uses ranks, and weighted rows have no rank: {way}")
    if record.of_probabilities and rows.request.ascending:
        raise ValueError(
            f"{name} reads a score as the probability of a positive, and ascending=True says that "
            "lower scores are positive: give 1 - score"
        )

    aggregates = record.aggregates[ties]
    # A metric without aggregates, such as the positives, does not depend on the order.
    orders_by_gain = rows.gains.name is not None and rule.bounds
    if orders_by_gain and aggregates and "gain" not in _columns_read(aggregates):
        raise ValueError(
            f"ties={ties!r} with gain= orders equal scores by their gain: ask for {name} without"
        )
    return aggregates


def values(rows: Rows, named: Mapping[str, str], undefined: float | None = None) -> pl.LazyFrame:
    """Return one row per group: `group` and the metrics under these column names."""
    plan = plan_for(rows, list(named.values()), undefined)
    table = finalize(aggregate(rows, plan), ["group"], plan)
    # Python functions sum over the ranks of ties. The streaming engine calls them for pieces of the
    # table: in memory, six metrics of lists take 0.95 of the time, and 42 of a run 0.5 to 0.7.
    sums_ranks = any(record.counts_ranks for record in plan.metrics.values())
    if sums_ranks and SMALL <= rows.height < _IN_MEMORY:
        table = collected(table).lazy()
    columns = {name: pl.col(source) for name, source in named.items()}
    return table.select("group", **columns)


def aggregate(rows: Rows, plan: Plan, ranked: PackedRows | None = None) -> pl.LazyFrame:
    """Return one row per group, sorted: `group`, and the facts and aggregates in the formulas.

    `ranked`: the rows in order, if they are sorted already.
    """
    if plan.over_probabilities:
        _refuse_no_probabilities(rows, plan)
    if ranked is not None or plan.ranks or plan.extra_sums or rows.starts is not None:
        return _aggregate_ranking(rows, plan, ranked)
    return _aggregate_rows(rows, plan)


def _refuse_no_probabilities(rows: Rows, plan: Plan) -> None:
    """Check that scores lie between 0 and 1."""
    is_outside = ~pl.col("score").is_between(0, 1)
    if plan.key.drops:
        is_outside &= ~pl.col("dropped")
    outside = rows.frame.filter(is_outside).select("score").head(1).collect()
    if outside.height:
        raise ValueError(
            f"score: {plan.over_probabilities[0]} reads a score as the probability of a positive, "
            "between 0 and 1; got "
            f"{outside.item():g}: calibrate the scores, or leave it out"
        )


def _aggregate_rows(rows: Rows, plan: Plan) -> pl.LazyFrame:
    """Aggregate over unsorted rows, which is enough for facts and thresholds."""
    table = rows.frame.with_columns(weight=rows.number)
    aggregates: dict[str, Aggregate] = {}
    for name in plan.facts:
        over_rows = FACTS[name].over_rows
        assert over_rows is not None, f"{name} needs the ranking"
        aggregates[name] = over_rows
    for cutoff in plan.thresholds.values():
        reached = plan.key.score_reaches(code_reached(cutoff.threshold, plan.key))
        aggregates |= cutoff.over_rows(pl.col("truth"), reached, pl.col("weight"))
    sums = aggregate_blocks(table, aggregates, rows.groups, in_order=False).sort("group")
    return with_totals(sums, rows.totals, rows.weights)


def _aggregate_ranking(rows: Rows, plan: Plan, ranked: PackedRows | None) -> pl.LazyFrame:
    """Aggregate over the blocks of the ranking."""
    table = _blocks(rows, plan, ranked)
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


def _blocks(rows: Rows, plan: Plan, ranked: PackedRows | None) -> pl.LazyFrame:
    """Return the blocks that the plan reads, with the columns that its aggregates name."""
    k_at: dict[str, Reached] = {
        f"k@{name}": partial(SortKey.reaches, code=code_reached(cutoff.threshold, plan.key))
        for name, cutoff in plan.thresholds.items()
    }
    columns = _columns_read(plan.over_groups)
    reads_epsilon = "epsilon" in columns
    columns.discard("epsilon")
    reads_retrieved = "retrieved_k" in columns
    if reads_retrieved:
        columns.add("k")
        if rows.has_unranked:
            k_at["retrieved_k"] = SortKey.is_retrieved

    read = {record.beyond_steps for record in plan.metrics.values()}
    hits_may_lack = bool(rows.request.keeps_unscored or rows.totals or rows.starts is not None)
    if "first" in read or (hits_may_lack and "first without hits" in read):
        columns.add("first")
    table = blocks_of(
        rows,
        columns,
        steps="all" not in read,
        k_at=k_at,
        extra_sums=plan.extra_sums,
        ranked=ranked,
    )
    if reads_retrieved and not rows.has_unranked:
        table = table.with_columns(retrieved_k="k")
    if reads_epsilon:
        table = table.with_columns(epsilon=epsilon_of(plan.key.dtype))
    return table


def _with_ideals(sums: pl.LazyFrame, best: pl.LazyFrame, aggregates: Aggregates) -> pl.LazyFrame:
    """Join the aggregates over blocks of equal gain."""
    columns = _columns_read(aggregates)
    facts = [fact for fact in FACTS if fact in columns]
    if facts:
        totals = sums.select("group", *facts)
        best = best.join(totals, on="group", how="left", maintain_order="left")
    ideals = aggregate_blocks(best, aggregates)
    joined = sums.join(ideals, on="group", how="left", maintain_order="left")
    return joined.with_columns(pl.col(aggregates).fill_null(0.0))


def finalize(sums: pl.LazyFrame, keys: Sequence[str], plan: Plan) -> pl.LazyFrame:
    """Compute the metrics from the facts and aggregates."""
    aggregates = plan.over_groups.items()
    rank_keys = [name for name, record in aggregates if record.kind.has_rank_key]
    unpacked = [rank_key_of(pl.col(name)) for name in rank_keys]
    thresholds = {name: plan.key.threshold(pl.col(name)) for name in rank_keys}
    values = {name: _value(record, plan) for name, record in plan.metrics.items()}
    sums = sums.with_columns(unpacked)
    sums = sums.with_columns(**thresholds)
    return sums.select(*keys, **values)


def _value(record: Metric, plan: Plan) -> pl.Expr:
    """Return the formula of a metric: a weight if it counts, in its range and filled if a share."""
    value = record.value
    if record.kind == "weighted count":
        return plan.weights.from_units(value)
    if record.kind != "share":
        return value
    if plan.weights.fractional and record.from_0_to_1:
        # Sums of floats may leave the range by a last bit.
        value = value.clip(0.0, 1.0)
    return value if plan.undefined is None else value.fill_null(plan.undefined)


def aggregate_blocks(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None = None,
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and aggregates over its rows."""
    # Compute columns first: polars shares common subexpressions between columns, and aggregates
    # plain columns fastest.
    columns = {name: record.kind.value(record.over) for name, record in aggregates.items()}
    return per_group(table.select("group", **columns), aggregates, groups, in_order=in_order)


def per_group(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None,
    *,
    in_order: bool = True,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and aggregates over columns.

    The columns hold the values to aggregate, or parts of the aggregates. `groups`: the number of
    groups if groups without rows count too. `in_order`: whether the table is sorted by the groups.
    """
    table = table.group_by("group", maintain_order=True).agg(
        record.reduced(name, ranked=in_order).alias(name) for name, record in aggregates.items()
    )
    if groups is None:
        return table
    every = pl.LazyFrame({"group": range(groups)}, schema={"group": pl.Int64})
    joined = every.join(table, on="group", how="left", maintain_order="left")
    zero = [name for name, record in aggregates.items() if record.kind.adds_up or name in FACTS]
    return joined.with_columns(pl.col(zero).fill_null(0))


def _columns_read(aggregates: Aggregates) -> set[str]:
    """Return the columns of blocks that the aggregates read."""
    columns = set[str]()
    for record in aggregates.values():
        columns.update(record.over.meta.root_names())
        if record.kind.has_rank_key:
            columns.add("rank_key")
    return columns
