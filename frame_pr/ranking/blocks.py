"""Canonical rows -> blocks of equal scores: pack, count equal keys, sort, running totals, and their differences.

Group, score and label are packed into one integer per row and sorted as integers, which happens
nowhere else. This is the cheapest sort in polars, whatever the number and size of the groups, and
nothing has to be gathered afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from frame_pr.frames.kinds import engine_for
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import (
    CUMULATIVE_COUNTS,
    GAINS,
    HITS,
    ROWS,
    UNJUDGED,
    CumulativeCount,
    Weights,
)

Reached = Callable[[SortKey], pl.Expr]
"""Whether a row reaches a threshold, of the keys in some layout."""
_WIDTHS_FROM = 2**17
"""Rows from which it pays to look whether keys fit into 64 bits."""
_SAMPLES = 2**12, 2**17
"""The numbers of rows in the samples, of which the first one mostly decides whether few of all keys are distinct."""
_SORTED_AT_ONCE = 2**26
"""The most rows of one sort, if they are of several groups."""
_SMALL_NUMBER = 2**24
"""A number below this is sorted as a part of its key. In place of a larger one, its place in the frame is."""
_ALL_COUNTS = (*CUMULATIVE_COUNTS, UNJUDGED)
START = (
    *(count.before for count in _ALL_COUNTS),
    *(count.in_all for count in _ALL_COUNTS),
    "later_precision",
)
"""The columns of a group that is one range of the scores of a larger group: counts at the better scores, above the
range, the totals of the larger group, and the largest precision at any threshold below the range.
"""
_RUNNING = ("interpolated_precision", "later_hits", "later_misses")
_NEEDS: Mapping[str, Sequence[str]] = {
    "positives": ("tp",),
    "rows": ("k",),
    **dict.fromkeys(_RUNNING, ("hits", "tp", "k")),
}
"""The columns from which other columns of blocks are computed."""
BLOCK_COLUMNS = frozenset(
    (
        "rank_key",
        "threshold",
        "size",
        "hits",
        "k",
        "tp",
        "ties",
        "misses",
        "first",
        "retrieved",
        *_NEEDS,
    )
)
"""The columns of blocks that are computed on demand."""


class PackedRows(NamedTuple):
    """A sort key for each row, or for all rows that are equal."""

    table: pl.DataFrame
    """The column `key`, and the columns of the numbers."""
    key: SortKey
    """The layout of the keys."""
    numbers: Mapping[str, pl.Expr]
    """The numbers that are summed, as far as they are needed: `weight`, `gain`, `judged` and `count`, as integers."""
    gains: Weights
    """The gains, with the unit of their sums."""


def pack_rows(rows: Rows, extra_sums: Collection[str]) -> PackedRows:
    """Pack group, score and label of each row into its key. `extra_sums`: those of `EXTRA_SUMS` that are needed."""
    key, numbers, gains = _packing(rows, extra_sums)
    table = rows.frame.select(key=key.pack(), **numbers).collect(engine=engine_for(rows.height))
    return PackedRows(table, key, {name: pl.col(name) for name in numbers}, gains)


def _packing(
    rows: Rows, extra_sums: Collection[str]
) -> tuple[SortKey, dict[str, pl.Expr], Weights]:
    """Return the layout of keys, the numbers as formulas of columns, and the gains with their unit."""
    numbers: dict[str, pl.Expr] = {}
    gains = rows.gains
    if rows.weights.name is not None:
        numbers["weight"] = pl.col("weight")
    if rows.gains.name is not None and not {*GAINS}.isdisjoint(extra_sums):
        gains = gains.with_unit(rows.frame, "gain", has_counts=rows.has_counts)
        numbers["gain"] = gains.in_units(pl.col("gain"))
    if rows.request.fills_labels and not {"judged", UNJUDGED.block}.isdisjoint(extra_sums):
        judged = pl.col("judged") & ~pl.col("dropped") if rows.key.drops else pl.col("judged")
        numbers["judged"] = judged.cast(pl.Int64)
    if rows.has_counts:
        numbers = {
            **{name: number * pl.col("count") for name, number in numbers.items()},
            "count": pl.col("count"),
        }
    key = rows.key.fitted(rows.frame) if rows.height >= _WIDTHS_FROM else rows.key
    return key, numbers, gains


def _are_few(rows: Rows, key: SortKey) -> bool:
    """Return whether so few keys are distinct that it pays to count equal ones before a sort.

    Then hardly anything is left to sort: a third of the time of 2M rows with 1,000 distinct scores.
    In other frames it would hash all rows for nothing.
    """
    if rows.height <= 2 * _SAMPLES[-1]:
        return False
    for size in _SAMPLES:
        # Two parts, as the first rows of a frame may differ from others. One query would compute
        # them from all rows.
        parts = (rows.frame.slice(rows.height * quarter // 4, size // 2) for quarter in (1, 3))
        keys = pl.concat(part.select(key.pack()).collect(engine="in-memory") for part in parts)
        distinct = keys.n_unique() / max(len(keys), 1)
        if distinct < 0.3:
            return len(keys) > 0
        if distinct > 0.98:  # Of the larger sample, more than 0.3 are expected to be distinct, too.
            return False
    return False


def sorted_rows(
    rows: Rows, extra_sums: Collection[str] = (), *, each_row: bool = False
) -> PackedRows:
    """Return the keys of all rows in order; with their numbers if equal ones were counted first.

    `each_row`: whether equal rows are blocks of their own.
    """
    key, numbers, gains = _packing(rows, extra_sums)
    if each_row or not _are_few(rows, key):
        return _in_order(rows.frame, rows.height, key.pack(), key, numbers, gains)
    return _counted_in_order(rows.frame.select(key=key.pack(), **numbers), key, numbers, gains)


def _counted_in_order(
    rows: pl.LazyFrame, key: SortKey, numbers: Iterable[str], gains: Weights
) -> PackedRows:
    """Aggregate rows with equal keys, and sort these."""
    sums = {"count": pl.len().cast(pl.Int64), **{name: pl.col(name).sum() for name in numbers}}
    table = rows.group_by("key").agg(**sums).collect(engine="streaming")
    return _in_order(
        table.lazy(), len(table), pl.col("key"), key, {name: pl.col(name) for name in sums}, gains
    )


def _in_order(
    frame: pl.LazyFrame,
    height: int,
    packed: pl.Expr,
    key: SortKey,
    numbers: Mapping[str, pl.Expr],
    gains: Weights,
    *,
    with_places: bool = False,
) -> PackedRows:
    """Sort the keys of a frame. `with_places`: add the number `row`, the place of each key before the sort.

    A frame of two columns sorts in three times the time of one column of integers. So a number is
    in the low bits of its key or, if it is large, its place in the frame is.
    """
    engine = engine_for(height)
    columns = list(
        dict.fromkeys(root for number in numbers.values() for root in number.meta.root_names())
    )
    inside = (
        None if with_places or len(numbers) != 1 else _largest_if_small(frame, *numbers.values())
    )
    most = height if inside is None else inside
    layout = key.with_numbers(1 << most.bit_length()) if columns or with_places else key
    if layout is None:
        frame, columns = (
            (frame.with_row_index("row"), [*columns, "row"]) if with_places else (frame, columns)
        )
        table = frame.select(*columns, key=packed).collect(engine=engine).sort("key")
        return PackedRows(
            table, key, {**numbers, "row": pl.col("row")} if with_places else numbers, gains
        )
    if layout.numbers > 1:
        number = (
            pl.int_range(pl.len(), dtype=pl.Int64)
            if inside is None
            else next(iter(numbers.values()))
        )
        packed = packed.cast(layout.integer) * layout.numbers + number
    keys, parts = frame.select(key=packed), min(-(-height // _SORTED_AT_ONCE), layout.groups)
    # A sort holds its rows twice, so many rows are sorted by ranges of groups.
    ranges = (
        [keys.filter(layout.group_part(parts) == part) for part in range(parts)]
        if parts > 1
        else [keys]
    )
    # One column needs half of the memory of a frame.
    sorted_keys = (part.collect(engine=engine).to_series().sort() for part in ranges)
    table = pl.DataFrame([pl.concat(sorted_keys)])
    if inside is not None:
        numbers = dict.fromkeys(numbers, layout.number())
    elif columns:
        places = table.select(layout.number().cast(pl.UInt32)).to_series()
        table = table.hstack(frame.select(columns).collect(engine="in-memory").rechunk()[places])
    return PackedRows(
        table, layout, {**numbers, "row": layout.number()} if with_places else numbers, gains
    )


def _largest_if_small(frame: pl.LazyFrame, number: pl.Expr) -> int | None:
    """Return the largest value of a number, if it is whole and all values are small."""
    ends = frame.select(low=number.min(), high=number.max()).collect(engine="streaming")
    (least, most), dtype = ends.row(0), ends.schema["high"]
    return (
        most
        if dtype == pl.Int64 and least is not None and least >= 0 and most < _SMALL_NUMBER
        else None
    )


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

    There is a total for each weighted count, for each of the extra sums, and of the rows for which
    each column of `k_at` is true; `ties_run`, `size`, `rank_key` and `threshold` if they are
    wanted; `retrieved` if some rows may have no place in the ranking. `early`: whether blocks
    without a positive may be missing, except the last one of a group.
    """
    key, table, columns = (
        ranked.key,
        ranked.table.lazy().with_columns(**ranked.numbers),
        ranked.numbers,
    )
    count = pl.col("count") if "count" in columns else None
    if "weight" in columns:
        weight: pl.Expr | None = pl.col("weight")
    else:
        weight = _times(key.counts().cast(pl.Int64), count) if key.drops else count
    reached = {name: reaches(key) for name, reaches in k_at.items()}
    if any("group" in condition.meta.root_names() for condition in reached.values()):
        table = table.with_columns(
            group=key.group()
        )  # Codes may depend on the system of the group.
    runs: dict[str, pl.Expr] = {}
    if weight is None:
        table, run = table.with_row_index("index"), pl.col("index").cast(pl.Int64) + 1
    else:
        # Over all groups, weights may wrap around, which does not change differences within a
        # group.
        runs[ROWS.run], run = weight.cum_sum(), pl.col(ROWS.run)
    if "ties" in wanted:
        runs["ties_run"] = _tied_rows(key, count, unranked=rows.has_unranked).cum_sum()
    runs |= {
        name: _times(condition.cast(pl.Int64), weight).cum_sum()
        for name, condition in reached.items()
    }
    runs |= _extra_runs(rows, key, weight, extra_sums)
    end = _ends_block(rows, key, each_row=each_row)
    hits = _times(key.truth().cast(pl.Int64), weight)
    size = run - run.shift(1, fill_value=0)
    table = table.with_columns(**runs)
    if early:
        # A block with a positive ends in one, so drop most rows before anything else is computed.
        if "size" in wanted:
            # Filled, because a maximum would be wrong where totals over all groups wrap around.
            starts_block = end.shift(1, fill_value=True)
            before = pl.when(starts_block).then(run - (1 if weight is None else weight))
            table = table.with_columns(before=before.forward_fill())
            size = run - pl.col("before")
        table = table.filter(key.truth() | key.ends(of="group"))
    table = table.with_columns(hits.cum_sum().alias(HITS.run)).filter(end)
    unranked = rows.has_unranked
    result = {
        "group": key.group(),
        ROWS.run: run,
        HITS.run: pl.col(HITS.run),
        **{name: pl.col(name) for name in runs},
    }
    if "size" in wanted:
        result["size"] = size
    if "rank_key" in wanted:
        result["rank_key"] = key.rank_key(unranked=unranked)
    if "threshold" in wanted:
        result["threshold"] = key.score(unranked=unranked)
    if unranked:
        result["retrieved"] = key.is_retrieved()
    return table.select(**result)


def _tied_rows(key: SortKey, count: pl.Expr | None, *, unranked: bool) -> pl.Expr:
    """Return how many rows with this key share their score with another row."""
    alone = key.ends(of="block").shift(1, fill_value=True) & key.ends(of="block")
    tied = ~(alone if count is None else alone & (count == 1))
    return _times((tied & key.is_retrieved() if unranked else tied).cast(pl.Int64), count)


def _extra_runs(
    rows: Rows, key: SortKey, weight: pl.Expr | None, extra_sums: Sequence[str]
) -> dict[str, pl.Expr]:
    """Return the running totals of the extra sums."""
    if not extra_sums:
        return {}
    gain, counts = (
        pl.col("gain"),
        pl.col("index").cast(pl.Int64) + 1 if weight is None else weight.cum_sum(),
    )
    sums = {"gain": gain.cum_sum(), "hit_gain": (key.truth().cast(pl.Int64) * gain).cum_sum()}
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


def blocks_of(
    rows: Rows,
    columns: Collection[str] = BLOCK_COLUMNS,
    *,
    steps: bool = False,
    first: bool = False,
    each_row: bool = False,
    k_at: Mapping[str, Reached] = MappingProxyType({}),
    extra_sums: Sequence[str] = (),
    ranked: PackedRows | None = None,
) -> pl.LazyFrame:
    """Return the table of blocks: one row per distinct score of a group, by group and from the best score on.

    If a tie rule orders equal scores, there is one block per group of rows that the rule leaves
    tied. Columns: `group`; `rank_key` (an integer that is larger for a better score) and
    `threshold`; `size` and `hits` of the block; `k` and `tp`, the counts up to its end; `ties`, the
    number of rows since the block before it (whatever their weight) that share their score with
    another row; `misses`, the number of negatives since then; `positives` and `rows`, the totals of
    the group from its rows; `first` and `last` (in its group); `retrieved`; and those of
    `running_columns`. Rows that are not retrieved are a last block, and rows that do not count are
    another one, of size 0. `rank_key`, `threshold`, `k` and `tp` are null in both.

    `columns`: those that are needed; there may be more. `steps`: only blocks with a positive, and
    the last one of every group. `first`: also the first one of every group. `each_row`: if
    positives come first or last among ties, every row is a block. `k_at`: additional columns. For
    the blocks that reach a threshold (`SortKey.reaches`), each is the k there up to the block; 0 if
    no block above reaches it. `extra_sums`: the needed ones of `EXTRA_SUMS`, of each block alone; a
    block with such a sum is a step, too. `ranked`: the result of `sorted_rows`, if it exists
    already.
    """
    wanted = needed_columns(columns, steps=steps, first=first)
    counts = [count for count in CUMULATIVE_COUNTS if count.upto in wanted]
    counts += [UNJUDGED] if UNJUDGED.block in extra_sums else []
    each_row = each_row and rows.request.tie_rule.bounds
    ranked = sorted_rows(rows, extra_sums, each_row=each_row) if ranked is None else ranked
    # Without judgments that may be missing, the extra sums are cumulative down the ranking.
    early = (
        steps
        and "first" not in wanted
        and {*extra_sums} <= (set() if rows.request.fills_labels else {UNJUDGED.block})
    )
    blocks = running_totals(ranked, rows, wanted, k_at, extra_sums, early=early, each_row=each_row)

    # Running totals run over the whole frame; the numbers of blocks and of groups are differences
    # of them.
    named = {HITS.block: difference(HITS.run)} if HITS.block in wanted else {}
    if "retrieved" in wanted and not rows.has_unranked:
        named["retrieved"] = pl.lit(True)
    for name in extra_sums:
        of_block = difference(f"{name}_run")
        named[name] = ranked.gains.from_units(of_block) if name in GAINS else of_block
    blocks = blocks.with_columns(last=ends(pl.col("group")), **named)
    # The last block of a group always remains, so the next one is the first of its group.
    is_first = pl.col("last").shift(1, fill_value=True)
    blocks = blocks.with_columns(first=is_first) if "first" in wanted else blocks

    def since_start(run: str) -> pl.Expr:
        # At the start of a group, the row before holds the running totals up to it.
        before = pl.when(is_first).then(pl.col(run).shift(1, fill_value=0))
        return pl.col(run) - before.forward_fill()

    blocks = blocks.filter(is_step(extra_sums, first=first)) if steps else blocks
    named = {count.upto: since_start(count.run) for count in counts} | {
        name: since_start(name) for name in k_at
    }
    if "ties" in wanted:
        named["ties"] = difference("ties_run")
    if "misses" in wanted:
        named["misses"] = difference(ROWS.run) - difference(HITS.run)
    totals = {
        count.total: from_last(pl.col(count.upto)) for count in counts if count.total in wanted
    }
    blocks = blocks.with_columns(pl.col("group").set_sorted(), **named).with_columns(**totals)
    blocks = blocks if rows.starts is None else _continued(blocks, rows.starts, counts, k_at)
    if rows.has_unranked:
        blocks = blocks.with_columns(
            pl.when("retrieved").then(count.upto).alias(count.upto) for count in counts
        )
    if wanted.isdisjoint(_RUNNING):
        return blocks
    running = running_columns(in_ranges=rows.starts is not None)
    return blocks.with_columns(
        **{name: column for name, column in running.items() if name in wanted}
    )


def _continued(
    blocks: pl.LazyFrame,
    starts_of_ranges: pl.LazyFrame,
    counts: Sequence[CumulativeCount],
    k_at: Collection[str],
) -> pl.LazyFrame:
    """Add to the counts of a range of scores those of the better ranges of its group; see `START`."""
    starts_of_groups = starts_of_ranges.select("group", *START)
    blocks = blocks.join(starts_of_groups, on="group", how="left", maintain_order="left")
    return blocks.with_columns(
        *((pl.col(count.upto) + pl.col(count.before)).alias(count.upto) for count in counts),
        *(pl.col(count.in_all).alias(count.total) for count in _ALL_COUNTS),
        *(
            pl.when(pl.col(n) > 0).then(pl.col(n) + pl.col(ROWS.before)).otherwise(0).alias(n)
            for n in k_at
        ),
    )


def needed_columns(columns: Collection[str], *, steps: bool, first: bool) -> set[str]:
    """Return these columns of blocks and those from which they are computed."""
    wanted = {needed for name in columns for needed in (name, *_NEEDS.get(name, ()))}
    return wanted | ({HITS.block} if steps else set()) | ({"first"} if first else set())


def is_step(extra_sums: Sequence[str], *, first: bool) -> pl.Expr:
    """Return whether a block is a step, the last one of its group or, if `first`, the first one."""
    has_some = [pl.col(name) > 0 for name in ("hits", *extra_sums)]
    return pl.any_horizontal(*has_some, "last", *(["first"] if first else []))


def best_blocks(rows: Rows) -> pl.LazyFrame:
    """Return the blocks of equal gain by group, largest gain first: `group`, `gain`, `size`, `k`.

    Rows without a gain drop out. These are the blocks of a ranking by gain, without any options.
    """
    gains = rows.frame.filter(pl.col("gain") > 0).with_columns(score="gain", truth=pl.lit(False))
    by_gain = replace(
        rows,
        frame=gains,
        request=replace(rows.request, options={}),
        key=SortKey(rows.gains.dtype, ascending=False, hits_first=False, drops=False),
        weights=Weights(None, fractional=False),
        gains=Weights(None, fractional=False),
        totals=[],
        starts=None,
    )
    blocks = blocks_of(by_gain, ["threshold", "size", "k"])
    return blocks.select("group", "size", "k", gain=pl.col("threshold") * pl.col("size"))


def difference(run: str) -> pl.Expr:
    """Return the increase of a running total since the row before."""
    return pl.col(run) - pl.col(run).shift(1, fill_value=0)


def from_start(value: pl.Expr) -> pl.Expr:
    """Broadcast the value of the group's first row to all of its rows."""
    return pl.when(starts(pl.col("group"))).then(value).forward_fill()


def from_last(value: pl.Expr) -> pl.Expr:
    """Broadcast the value of the group's last row to all of its rows."""
    return pl.when("last").then(value).backward_fill()


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Return the largest value in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does. The negated group number above them restarts
    the maximum at every group, so that one pass over the column suffices.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    # The lower 64 bits, without the number of the group.
    return best.cast(pl.Int64, wrap_numerical=True).reinterpret(dtype=pl.Float64)


def suffix_sum(term: pl.Expr) -> pl.Expr:
    """Sum a value in [0, 1] over this and all later rows of the group.

    In fixed point, so that the difference of two totals over the column is exact.
    """
    unit = 2.0**80
    run = (term * unit).cast(pl.Int128).cum_sum()
    return (from_last(run) - run.shift(1, fill_value=0)).cast(pl.Float64) / unit


@cache
def running_columns(*, in_ranges: bool) -> dict[str, pl.Expr]:
    """Return the columns of blocks that follow from `tp` and `k`, and from the blocks above or below.

    `interpolated_precision`: the largest precision at this or any later threshold. `later_hits` and
    `later_misses`: the sums over this and later blocks of `hits / k` times the precision, and times
    1 minus it; not in ranges.
    """
    precision = pl.col("tp") / pl.col("k")
    largest = suffix_max(precision)
    share = (pl.col("hits") / pl.col("k")).fill_null(0.0)
    return {
        "interpolated_precision": pl.max_horizontal(largest, "later_precision")
        if in_ranges
        else largest,
        "later_hits": suffix_sum(share * precision.fill_null(0.0)),
        "later_misses": suffix_sum(share * (1 - precision.fill_null(0.0))),
    }


def starts(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row after."""
    return (column != column.shift(-1)).fill_null(True)


def numbered_rows(rows: Rows) -> tuple[PackedRows, pl.Series]:
    """Return the sorted rows, and the block number of each row in memory.

    The block number counts the retrieved blocks before the block of the row; null if the row is not
    retrieved. Numbers of rows are UInt32.
    """
    key, numbers, gains = _packing(rows, ())
    if not _are_few(rows, key):
        ranked = _in_order(
            rows.frame, rows.height, key.pack(), key, numbers, gains, with_places=True
        )
        return ranked, _scattered(ranked, unranked=rows.has_unranked)
    keys = rows.frame.select(key=key.pack(), **numbers).collect(engine="streaming")
    ranked = _counted_in_order(keys.lazy(), key, numbers, gains)
    return ranked, _looked_up(keys.lazy().select(block=key.block()), len(keys), ranked)


def _scattered(ranked: PackedRows, *, unranked: bool) -> pl.Series:
    """Return the block number of each row, from sorted keys with the place of their row."""
    key, table = ranked.key, ranked.table.lazy()
    row = ranked.numbers["row"].cast(pl.UInt32)
    table = table.select(
        row.alias("row"),
        starts=key.ends(of="block").shift(1, fill_value=True),
        retrieved=key.is_retrieved(),
    )
    table = table.filter("retrieved") if unranked else table
    numbered = table.select("row", number=pl.col("starts").cast(pl.UInt32).cum_sum() - 1).collect(
        engine="in-memory"
    )
    height = len(ranked.table)
    of_none = pl.repeat(None, height, dtype=pl.UInt32, eager=True)
    numbers = of_none if unranked else pl.zeros(height, dtype=pl.UInt32, eager=True)
    return numbers.scatter(numbered["row"], numbered["number"]).alias("block_number")


def _looked_up(rows: pl.LazyFrame, height: int, ranked: PackedRows) -> pl.Series:
    """Return the block number of each row, from its `block` and from the few distinct keys in order."""
    blocks = (
        ranked.table.lazy()
        .filter(ranked.key.is_retrieved())
        .select(block=ranked.key.block())
        .unique()
    )
    blocks = blocks.cast(rows.collect_schema()["block"]).sort("block")
    numbered = blocks.with_columns(block_number=pl.int_range(pl.len(), dtype=pl.UInt32)).collect(
        engine="in-memory"
    )
    largest = numbered["block"].max()
    if isinstance(largest, int) and largest < height:
        # An array with a number for each block takes a fifth of the time of a join.
        none = pl.repeat(None, largest + 1, dtype=pl.UInt32, eager=True)
        array = none.scatter(numbered["block"], numbered["block_number"])
        in_array = pl.when(pl.col("block") <= largest).then("block").cast(pl.UInt32)
        return array.gather(rows.select(in_array).collect(engine="streaming").to_series()).alias(
            "block_number"
        )
    joined = rows.join(numbered.lazy(), on="block", how="left", maintain_order="left")
    return joined.select("block_number").collect(engine="in-memory").to_series()
