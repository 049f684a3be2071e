"""Aggregate blocks into metrics: any number of metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.frames.columns import join_in_order, map_whole, side_by_side
from frame_pr.frames.kinds import collected
from frame_pr.inputs.policies import BOUNDS, TIES
from frame_pr.inputs.request import TOTAL_POLICIES
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey, parts_of_largest
from frame_pr.inputs.thresholds import code_reached
from frame_pr.inputs.totals import with_totals
from frame_pr.inputs.weights import EXTRA_SUMS, GAINS, UNIT
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.metric import FACTS, Aggregate, Aggregates, BlocksRead, Metric
from frame_pr.metrics.names import COLUMNS, FIXED_POINT_COLUMNS, GRADED_COLUMNS, metric
from frame_pr.metrics.rates import RATES
from frame_pr.ranking.blocks import best_blocks, blocks_of, is_step, needed_columns
from frame_pr.ranking.equal_groups import EqualGroups
from frame_pr.ranking.rank_cutoffs import RankOf
from frame_pr.ranking.sorting import Reached, Sort

_LOOKS_FROM = 5
"""The number of aggregates from which it pays to look for groups with equal rankings."""


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
    whole: bool
    """Whether weighted counts are whole numbers; otherwise they are multiples of `unit`."""
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
    blocks = FIXED_POINT_COLUMNS if rows.weights.fractional else COLUMNS if rows.gains.name is None else GRADED_COLUMNS
    metrics, ties = {name: metric(name, blocks) for name in names}, rows.request.ties
    for name, record in metrics.items():
        if ties not in record.aggregates:
            bounds = " and ".join(repr(rule) for rule in BOUNDS if rule in record.aggregates)
            raise ValueError(f"{name} {TIES[ties].refusal.format(way=f'ties={bounds} bound it, ' if bounds else '')}")
    aggregates = {key: part for record in metrics.values() for key, part in record.aggregates[ties].items()}
    columns = _columns_read(part.over for part in aggregates.values())
    needed = columns | _columns_read(record.value for record in metrics.values())
    facts = [name for name in FACTS if name in needed or (name == "unit" and not blocks.whole)]
    for name, record in metrics.items():
        if (isinstance(record.cutoff, Rank) or record.counts_ranks) and not rows.weights.ranks:
            way = f"leave out {rows.weights.option}="
            if name.partition("@")[0] in RATES:
                way = f"use a threshold or a recall instead, or {way}"
            raise ValueError(f"{name} uses ranks, and weighted rows have no rank: {way}")
    if needs_gain and rows.gains.name is not None and columns.isdisjoint(GAINS):
        raise ValueError(
            "gain= is what dcg, ndcg, captured_gain and total_cost add up, and none of them is asked for: leave it out"
        )
    if rows.gains.name is not None and TIES[ties].bounds:
        for name, record in metrics.items():
            if "gain" not in _columns_read(part.over for part in record.aggregates[ties].values()):
                raise ValueError(f"ties={ties!r} with gain= orders equal scores by their gain: ask for {name} without")
    if rows.totals:  # Known totals replace both facts.
        facts += [total for total in TOTAL_POLICIES if total not in facts]
    return Plan(metrics, aggregates, facts, columns, rows.key, blocks.whole, undefined)


def values(rows: Rows, named: Mapping[str, str], undefined: float | None = None) -> pl.LazyFrame:
    """Return one row per group: `group` and the metrics under these column names."""
    metric_plan = plan_for(rows, list(named.values()), undefined)
    values_of = _once_for_equal_groups if _may_have_equal_groups(rows, metric_plan) else _values_of_groups
    return values_of(rows, metric_plan).select("group", **renamed(named))


def _values_of_groups(rows: Rows, metric_plan: Plan) -> pl.LazyFrame:
    """Return one row per group: `group` and the metrics under their own names."""
    return finalize(aggregate(rows, metric_plan), ["group"], metric_plan)


def _may_have_equal_groups(rows: Rows, metric_plan: Plan) -> bool:
    """Return whether values follow from the sorted rows of a group, and it may pay to look for equal groups."""
    weighted = rows.weights.name or rows.has_counts or rows.gains.name or rows.totals
    others = weighted or rows.has_unranked or rows.starts is not None or rows.groups is not None
    large = not rows.small and len(metric_plan.over_groups) >= _LOOKS_FROM
    return large and not others and _needs_ranking(rows, metric_plan)


def _once_for_equal_groups(rows: Rows, metric_plan: Plan) -> pl.LazyFrame:
    """Return what `_values_of_groups` returns, computed once for groups with equal rankings."""
    thresholds = [name for name, record in metric_plan.metrics.items() if record.kind == "threshold"]
    needed, _ = _blocks_needed(rows, metric_plan)
    wanted = needed_columns(needed.columns, steps=needed.steps, first=needed.first)
    sort = Sort.of(rows, wanted, needed.extra_sums, needed.k_at, needed.ranks, steps=needed.steps)

    def values_of(table: pl.DataFrame) -> pl.DataFrame:
        sorted_rows = sort.sorted(table)
        del table  # The rows would stay in memory while metrics are computed.
        equal = EqualGroups.of(sort, sorted_rows)
        if equal is None:
            ranked = sort.totals(sorted_rows).lazy()
            del sorted_rows
            sums = _aggregate_ranking(rows, metric_plan, ranked)
            return finalize(sums, ["group"], metric_plan).collect(engine="streaming")
        blocks, key = equal.blocks(sort, rows.key)
        sums = _aggregate_ranking(replace(rows, key=key), metric_plan, blocks)
        values = finalize(sums, [], metric_plan._replace(key=key)).collect(engine="in-memory")
        return equal.gather(values, thresholds)

    inputs = rows.frame.select(sort.inputs)
    if rows.in_memory:
        # A plan would keep the unsorted rows in memory until the function returns.
        return values_of(collected(inputs, "auto")).lazy()
    return map_whole(inputs, values_of, _values_of_groups(rows, metric_plan).collect_schema())


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
    return with_totals(sums, rows.totals, in_units=False)


class BlocksNeeded(NamedTuple):
    """What aggregates read of blocks: arguments of `blocks_of`."""

    columns: frozenset[str]
    steps: bool
    first: bool
    k_at: Mapping[str, Reached]
    ranks: Sequence[RankOf]
    extra_sums: Sequence[str]


def _blocks_needed(rows: Rows, metric_plan: Plan) -> tuple[BlocksNeeded, bool]:
    """Return what the aggregates read of blocks, and whether to aggregate the steps apart from all blocks."""
    metrics = metric_plan.metrics.values()
    hits_may_lack = bool(rows.request.keeps_unscored or rows.totals or rows.starts is not None)
    blocks_read = {_blocks_read(record, rows) for record in metrics}
    first = "first" in blocks_read or (hits_may_lack and "first without hits" in blocks_read)
    codes = {name: code_reached(cutoff.threshold, rows.key) for name, cutoff in metric_plan.thresholds.items()}
    k_at: dict[str, Reached] = {f"k@{name}": partial(SortKey.reaches, code=code) for name, code in codes.items()}
    if "retrieved_rows" in metric_plan.facts and rows.has_unranked:
        k_at["retrieved_k"] = SortKey.is_retrieved
    rank_cutoffs = {record.cutoff for record in metrics if _blocks_read(record, rows) == "last within rank"}
    ranks = [cutoff.of_group for cutoff in rank_cutoffs if isinstance(cutoff, Rank)]
    columns = metric_plan.columns_of_blocks
    if "retrieved_k" in columns:
        columns |= {"k"}
    steps = "all" not in blocks_read
    # Most blocks are no steps, so do not aggregate all of them for metrics that need only the steps.
    apart = not steps and len(blocks_read) > 1 and columns.isdisjoint(("ties", "misses"))
    columns |= {"hits", "first"} if apart else set()
    return BlocksNeeded(columns, steps, first, k_at, ranks, metric_plan.extra_sums), apart


def _aggregate_ranking(rows: Rows, metric_plan: Plan, ranked: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Aggregate over the blocks of the ranking. `ranked`: the table of `sorted_blocks`, if it exists already."""
    in_units = rows.weights.fractional
    needed, apart = _blocks_needed(rows, metric_plan)
    table = blocks_of(rows, **needed._asdict(), ranked=ranked)
    if not rows.has_unranked and "retrieved_k" in needed.columns:
        table = table.with_columns(retrieved_k="k")
    # Known totals replace the facts where these are first needed: in blocks only if an aggregate names them there.
    in_blocks = not metric_plan.columns.isdisjoint(FACTS)
    if rows.totals and in_blocks:
        table = with_totals(table, rows.totals, in_units=in_units)
    if apart:
        steps = is_step(needed.extra_sums, first=needed.first, ranks=bool(needed.ranks))
        sums = _aggregate_steps_apart(table, metric_plan, rows, steps)
    else:
        sums = aggregate_blocks(table, metric_plan.over_groups, rows.groups, fills_nulls=not rows.small)
    # A group without rows has no block that could carry its totals.
    if rows.totals and not (in_blocks and rows.groups is None):
        sums = with_totals(sums, rows.totals, in_units=in_units)
    return _with_ideals(sums, best_blocks(rows), metric_plan.ideals) if metric_plan.ideals else sums


def _blocks_read(record: Metric, rows: Rows) -> BlocksRead:
    """Return which blocks beyond the steps a metric reads of these rows."""
    if record.beyond_steps == "last within rank" and (rows.small or rows.totals or rows.starts is not None):
        # Few blocks are aggregated faster than dropped. Totals from elsewhere are not known before the blocks.
        return "all"
    return record.beyond_steps


def _aggregate_steps_apart(table: pl.LazyFrame, metric_plan: Plan, rows: Rows, steps: pl.Expr) -> pl.LazyFrame:
    """Aggregate over all blocks only what needs them, and over the steps everything else."""
    ties, records = rows.request.ties, metric_plan.over_groups
    of_steps = {
        name
        for metric in metric_plan.metrics.values()
        if _blocks_read(metric, rows) != "all"
        for name in metric.aggregates[ties]
    }
    of_all = {name: record for name, record in records.items() if name not in {*of_steps, *metric_plan.facts}}
    of_steps_alone = {name: record for name, record in records.items() if name not in of_all}

    fills_nulls = not rows.small
    sums = aggregate_blocks(table.filter(steps), of_steps_alone, rows.groups, fills_nulls=fills_nulls)
    of_all_blocks = aggregate_blocks(table, of_all, rows.groups, fills_nulls=fills_nulls)
    return side_by_side(sums, of_all_blocks.drop("group"))


def _with_ideals(sums: pl.LazyFrame, best: pl.LazyFrame, aggregates: Aggregates) -> pl.LazyFrame:
    """Join the aggregates over blocks of equal gain."""
    columns = _columns_read(record.over for record in aggregates.values())
    if facts := [fact for fact in FACTS if fact in columns]:
        best = join_in_order(best, sums.select("group", *facts), "group")
    ideals = aggregate_blocks(best, aggregates)
    return join_in_order(sums, ideals, "group").with_columns(pl.col(aggregates).fill_null(0.0))


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
        value = record.value.fill_null(metric_plan.undefined) if metric_plan.fills(name) else record.value
        values[name] = value / UNIT if record.kind == "weighted count" and not metric_plan.whole else value
    return sums.with_columns(**unpacked).with_columns(**thresholds).select(*keys, **values)


def aggregate_blocks(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None = None,
    *,
    in_order: bool = True,
    fills_nulls: bool = False,
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over blocks or rows.

    `in_order`: whether the table is sorted. `fills_nulls`: whether the table is so long that it pays to replace nulls.
    """
    # Compute columns first: polars shares common subexpressions between columns, and aggregates plain columns fastest.
    table = table.select("group", **{name: record.kind.value(record.over) for name, record in aggregates.items()})
    in_lists = {name for name, record in aggregates.items() if in_order and record.kind.in_lists}
    kinds = {name: record.kind for name, record in aggregates.items()} if fills_nulls else {}
    nulls = {name: kind.null for name, kind in kinds.items() if kind.null is not None}
    if not nulls:
        return per_group(table, aggregates, groups, in_lists=in_lists)
    table = table.with_columns(pl.col(name).fill_null(_bound(name, null)) for name, null in nulls.items())
    sums = per_group(table, aggregates, groups, in_lists={*in_lists, *nulls})
    return sums.with_columns(
        pl.when(pl.col(name) != _bound(name, null)).then(name).alias(name) for name, null in nulls.items()
    )


def _bound(column: str, which: Literal["lower_bound", "upper_bound"]) -> pl.Expr:
    """Return the smallest or largest value of the dtype of a column."""
    bound: pl.Expr = getattr(pl.col(column), which)()
    return bound


def per_group(
    table: pl.LazyFrame,
    aggregates: Aggregates,
    groups: int | None,
    prefix: str = "",
    *,
    in_lists: Collection[str] = (),
) -> pl.LazyFrame:
    """Return one row per group, sorted if the table is: `group` and these aggregates over columns with a prefix.

    The columns hold the values to aggregate, or parts of the aggregates. `groups`: the number of groups if groups
    without rows count too. `in_lists`: those to aggregate as lists, if the table is sorted.
    """
    parts = {}
    for name, record in aggregates.items():
        column = pl.col(prefix + name)
        parts[name] = getattr(column.implode().list if name in in_lists else column, record.kind.aggregation)()
    table = table.group_by("group", maintain_order=True).agg(**parts)
    if groups is None:
        return table
    every = pl.LazyFrame({"group": range(groups)}, schema={"group": pl.Int64})
    sums = {name for name, record in aggregates.items() if record.kind.aggregation == "sum"}
    zero = [name for name in aggregates if name in sums or (name in FACTS and name != "unit")]
    return every.join(table, on="group", how="left", maintain_order="left").with_columns(pl.col(zero).fill_null(0))


def _columns_read(formulas: Iterable[pl.Expr]) -> frozenset[str]:
    return frozenset(name for formula in formulas for name in formula.meta.root_names())
