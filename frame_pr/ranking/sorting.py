"""Sort canonical rows and compute running totals at the ends of blocks: the only place that sorts.

Group, score and label are packed into one integer per row and sorted as integers. This is the cheapest sort in polars,
whatever the number and size of the groups, and nothing has to be gathered afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import gather_rows
from frame_pr.frames.kinds import engine_for
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import GAINS, HITS, ROWS, UNJUDGED, Weights, refuse_lost, unit_of

Reached = Callable[[SortKey], pl.Expr]
"""Whether a row reaches a threshold, of the keys in some layout."""
_WIDTHS_FROM = 2**17
"""Rows from which it pays to look whether keys fit into 64 bits."""
_SAMPLES = 2**12, 2**16
"""The numbers of keys in the samples, of which the first one mostly decides whether few of all keys are distinct."""
_SMALL_NUMBER = 2**24
"""A number below this is sorted as a part of its key. In place of a larger one, its place in the frame is."""


class PackedRows(NamedTuple):
    """A sort key for each row, or for all rows that are equal."""

    table: pl.DataFrame
    """The column `key`, and the numbers that are summed: `weight`, `gain`, `judged` and `count`, as far as needed."""
    key: SortKey
    """The layout of the keys."""
    units: Mapping[str, float]
    """How many of its units make 1, for each fractional column."""


def pack_rows(rows: Rows, extra_sums: Collection[str] = ()) -> PackedRows:
    """Pack group, score and label of each row into its key. `extra_sums`: those of `EXTRA_SUMS` that are needed."""
    counts = pl.col("count") if rows.has_counts else None
    numbers: dict[str, pl.Expr] = {}
    units: dict[str, float] = {}
    for name, weights in (("weight", rows.weights), ("gain", rows.gains)):
        if weights.name is None or (name == "gain" and {*GAINS}.isdisjoint(extra_sums)):
            continue
        numbers[name] = pl.col(name)
        if weights.fractional:
            units[name] = _unit_of(rows, name, weights)
            numbers[name] = (pl.col(name) * units[name]).cast(pl.Int128)
    if rows.request.fills_labels and not {"judged", UNJUDGED.block}.isdisjoint(extra_sums):
        judged = pl.col("judged") & ~pl.col("dropped") if rows.key.drops else pl.col("judged")
        numbers["judged"] = judged.cast(pl.Int64)
    numbers = {name: _times(number, counts) for name, number in numbers.items()}
    if counts is not None:
        numbers["count"] = counts
    key = rows.key.fitted(rows.frame) if rows.height >= _WIDTHS_FROM else rows.key
    table = rows.frame.select(key=key.pack(), **numbers).collect(engine=engine_for(rows.height))
    return PackedRows(table, key, units)


def _unit_of(rows: Rows, name: str, weights: Weights) -> float:
    """Return a power of 2 as the unit in which all weights are whole numbers, for exact differences of their sums."""
    number = pl.col(name)
    height = pl.col("count").sum() if rows.has_counts else pl.len()
    facts: Any = rows.frame.select(least=number.filter(number > 0).min(), most=number.max(), height=height)
    least, most, height = facts.collect(engine="in-memory").row(0)
    unit = unit_of(most, height)
    refuse_lost(least, unit, name, str(weights.name))
    return unit


def count_equal_keys(rows: PackedRows) -> PackedRows | None:
    """Aggregate rows with equal keys, if a sample shows many of them; otherwise return None.

    Then hardly anything is left to sort: a third of the time of 2M rows with 1,000 distinct scores. In other frames it
    would hash all rows for nothing.
    """
    table = rows.table
    if not _are_few(table.get_column("key")):
        return None
    sums = {name: pl.col(name).sum() for name in table.columns if name != "key"}
    if "count" not in sums:
        sums["count"] = pl.len().cast(pl.Int64)
    return rows._replace(table=table.lazy().group_by("key").agg(**sums).collect(engine="streaming"))


def _are_few(keys: pl.Series) -> bool:
    """Return whether so few keys are distinct that it pays to aggregate equal ones before a sort."""
    if len(keys) <= 2 * _SAMPLES[-1]:
        return False
    for size in _SAMPLES:
        distinct = keys.sample(size, with_replacement=True, seed=0).n_unique()
        if distinct < 0.6 * size:
            return True
        if distinct > 0.98 * size:  # Of the larger sample, more than 0.6 are expected to be distinct, too.
            return False
    return False


def in_order(rows: PackedRows, *, with_places: bool = False) -> PackedRows:
    """Sort the keys. `with_places`: add `row`, the place of each key before the sort.

    A frame of two columns sorts in three times the time of one column of integers. So a number is in the low bits of
    its key during the sort or, if it is large, its place in the frame is.
    """
    table = rows.table
    others = [name for name in table.columns if name != "key"]
    if not others and not with_places:
        return rows._replace(table=table.to_series().sort().to_frame())  # Half the memory of sorting a frame.
    only = table.get_column(others[0]) if len(others) == 1 and not with_places else None
    inside = only is not None and only.dtype == pl.Int64 and _is_small(only)
    largest: Any = only.max() if inside and only is not None else len(table)
    last: Any = table.get_column("key").max()
    room = 1 << int(largest or 0).bit_length()
    if ((last or 0) + 1) * room > 2**127:
        table = table.with_row_index("row") if with_places else table
        return rows._replace(table=table.sort("key"))
    integer = pl.Int64 if ((last or 0) + 1) * room <= 2**63 else pl.Int128
    low = pl.col(others[0]) if inside else pl.int_range(pl.len(), dtype=pl.Int64)
    engine = engine_for(len(table))
    packed = table.lazy().select(key=pl.col("key").cast(integer) * room + low).collect(engine=engine)
    keys = packed.to_series().sort().to_frame().lazy()
    del packed
    numbers = (pl.col("key") & (room - 1)).cast(pl.Int64).alias(others[0] if inside else "row")
    ranked = keys.select((pl.col("key") // room).cast(table.schema["key"]), numbers).collect(engine=engine)
    if not inside:
        gathered = gather_rows(table.select(others).rechunk(), ranked.get_column("row")) if others else pl.DataFrame()
        ranked = (ranked if with_places else ranked.drop("row")).hstack(gathered)
    return rows._replace(table=ranked)


def _is_small(numbers: pl.Series) -> bool:
    least: Any = numbers.min()
    most: Any = numbers.max()
    return least is not None and least >= 0 and most < _SMALL_NUMBER


def sorted_rows(rows: Rows, extra_sums: Collection[str] = (), *, each_row: bool = False) -> PackedRows:
    """Return the keys of all rows in order; with their numbers if equal ones were aggregated.

    `each_row`: whether equal rows are blocks of their own.
    """
    packed = pack_rows(rows, extra_sums)
    return in_order(packed if each_row else count_equal_keys(packed) or packed)


def running_totals(
    ranked: PackedRows,
    rows: Rows,
    wanted: Collection[str],
    k_at: Mapping[str, Reached],
    extra_sums: Sequence[str],
    *,
    early: bool,
    each_row: bool,
) -> pl.LazyFrame:
    """Return one row per block, in order: `group`, and running totals over all groups up to the end of the block.

    There is a total for each weighted count, for each of the extra sums, and of the rows for which each column of
    `k_at` is true; `ties_run`, `size`, `rank_key` and `threshold` if they are wanted; `retrieved` if some rows may have
    no place in the ranking. `early`: whether blocks without a positive may be missing, except the last one of a group.
    """
    key, table, columns = ranked.key, ranked.table.lazy(), ranked.table.columns
    count = pl.col("count") if "count" in columns else None
    if "weight" in columns:
        weight: pl.Expr | None = pl.col("weight")
    else:
        weight = _times(key.counts().cast(pl.Int64), count) if key.drops else count
    reached = {name: reaches(key) for name, reaches in k_at.items()}
    if any("group" in condition.meta.root_names() for condition in reached.values()):
        table = table.with_columns(group=key.group())  # Codes may depend on the system of the group.
    runs: dict[str, pl.Expr] = {}
    if weight is None:
        table, run = table.with_row_index("index"), pl.col("index").cast(pl.Int64) + 1
    else:
        # Over all groups, weights may wrap around, which does not change differences within a group.
        runs[ROWS.run], run = weight.cum_sum(), pl.col(ROWS.run)
    if "ties" in wanted:
        runs["ties_run"] = _tied_rows(key, count, unranked=rows.has_unranked).cum_sum()
    runs |= {name: _times(condition.cast(pl.Int64), weight).cum_sum() for name, condition in reached.items()}
    runs |= _extra_runs(rows, key, weight, extra_sums)
    end = _ends_block(rows, key, each_row=each_row)
    hits = _times(key.truth().cast(pl.Int64), weight)
    size = run - run.shift(1, fill_value=0)
    table = table.with_columns(**runs)
    if early:
        # A block with a positive ends in one, so drop most rows before anything else is computed.
        if "size" in wanted:
            # A block begins where the total before it is the largest so far.
            before = pl.when(end.shift(1, fill_value=True)).then(run - (1 if weight is None else weight)).otherwise(0)
            table, size = table.with_columns(before=before.cum_max()), run - pl.col("before")
        table = table.filter((key.truth() == 1) | key.ends(of="group"))
    table = table.with_columns(hits.cum_sum().alias(HITS.run)).filter(end)
    unranked = rows.has_unranked
    made = {"group": key.group(), ROWS.run: run, HITS.run: pl.col(HITS.run), **{name: pl.col(name) for name in runs}}
    if "size" in wanted:
        made["size"] = size
    if "rank_key" in wanted:
        made["rank_key"] = key.rank_key(unranked=unranked)
    if "threshold" in wanted:
        made["threshold"] = key.score(unranked=unranked)
    if unranked:
        made["retrieved"] = key.is_retrieved()
    return table.select(**made)


def _tied_rows(key: SortKey, count: pl.Expr | None, *, unranked: bool) -> pl.Expr:
    """Return how many rows with this key share their score with another row."""
    alone = key.ends(of="block").shift(1, fill_value=True) & key.ends(of="block")
    tied = ~(alone if count is None else alone & (count == 1))
    return _times((tied & key.is_retrieved() if unranked else tied).cast(pl.Int64), count)


def _extra_runs(rows: Rows, key: SortKey, weight: pl.Expr | None, extra_sums: Sequence[str]) -> dict[str, pl.Expr]:
    """Return the running totals of the extra sums."""
    if not extra_sums:
        return {}
    gain, counts = pl.col("gain"), pl.col("index").cast(pl.Int64) + 1 if weight is None else weight.cum_sum()
    sums = {"gain": gain.cum_sum(), "hit_gain": (key.truth() * gain).cum_sum()}
    sums["judged"] = pl.col("judged").cum_sum() if rows.request.fills_labels else counts
    sums[UNJUDGED.block] = counts - sums["judged"]
    return {f"{name}_run": sums[name] for name in extra_sums}


def _ends_block(rows: Rows, key: SortKey, *, each_row: bool) -> pl.Expr:
    """Return whether a key is the last one of a block."""
    end = key.ends(of="place" if rows.request.ordered else "block")
    if not rows.request.tie_rule.bounds:
        return end
    # Rows of equal score and label need no order among them.
    return pl.lit(True) if each_row else end | key.ends(of="truth")


def _times(number: pl.Expr, count: pl.Expr | None) -> pl.Expr:
    """Return a weighted count of the rows that a row stands for."""
    return number if count is None else number * count


def starts(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row after."""
    return (column != column.shift(-1)).fill_null(True)
