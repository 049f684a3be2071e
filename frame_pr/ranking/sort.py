"""Sort canonical rows by one integer each: pack group, score and label, count equal keys, sort.

This is the only sort. A column of integers is what polars sorts fastest, whatever the number and
size of the groups, and nothing has to be gathered afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import polars as pl

from frame_pr.frames.kinds import collected
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.weights import GAINS, UNJUDGED, Weights, ends_of
from frame_pr.ranking.sort_keys import SortKey, key_of

_WIDTHS_FROM = 2**17
"""Rows from which it pays to look whether keys fit into 64 bits."""
_SAMPLES = 2**12, 2**17
"""The numbers of rows in the samples, of which the first one mostly decides whether few of all keys
are distinct.
"""
_SORTED_AT_ONCE = 25_000_000
"""The most rows of one sort, if they are of several groups."""
_SMALL_NUMBER = 2**24
"""A number below this is sorted as a part of its key. In place of a larger one, its place in the
frame is.
"""


class PackedRows(NamedTuple):
    """A sort key for each row, or for all rows that are equal."""

    table: pl.DataFrame
    """The column `key`, and the columns of the numbers."""
    key: SortKey
    """The layout of the keys."""
    numbers: Mapping[str, pl.Expr]
    """The numbers that are summed, as far as they are needed: `weight`, `gain`, `judged` and
    `count`, as integers.
    """
    gains: Weights
    """The gains, with the unit of their sums."""

    @property
    def ends_place(self) -> pl.Expr:
        """Return whether a key is the last one of a place among equal scores."""
        if "end" in self.table.columns:
            return pl.col("end")
        return self.key.ends(of="place")


class _Unsorted(NamedTuple):
    """Keys and numbers, as formulas of the columns of a frame."""

    frame: pl.LazyFrame
    """Their columns, and `group`."""
    height: int
    key: SortKey
    packed: pl.Expr
    numbers: Mapping[str, pl.Expr]
    gains: Weights

    def keys(self) -> pl.LazyFrame:
        """Return the `key` of each row, and its numbers."""
        return self.frame.select(key=self.packed, **self.numbers)

    def columns(self) -> list[str]:
        """Return the columns that the numbers read."""
        columns: dict[str, None] = {}
        for number in self.numbers.values():
            columns |= dict.fromkeys(number.meta.root_names())
        return list(columns)

    def in_order(
        self, table: pl.DataFrame, key: SortKey, numbers: Mapping[str, pl.Expr]
    ) -> PackedRows:
        """Return the sorted keys with their numbers."""
        return PackedRows(table, key, numbers, self.gains)


def pack_rows(rows: Rows, extra_sums: Collection[str]) -> PackedRows:
    """Pack group, score and label of each row into its key.

    `extra_sums`: those of `EXTRA_SUMS` that are needed.
    """
    unsorted = _unsorted(rows, extra_sums)
    table = collected(unsorted.keys(), rows.height)
    numbers = {name: pl.col(name) for name in unsorted.numbers}
    return unsorted.in_order(table, unsorted.key, numbers)


def sorted_rows(
    rows: Rows, extra_sums: Collection[str] = (), *, each_row: bool = False
) -> PackedRows:
    """Return the keys of all rows in order; with their numbers if equal ones were counted first.

    `each_row`: whether equal rows are blocks of their own.
    """
    unsorted = _unsorted(rows, extra_sums)
    if rows.sorts_ties:
        return _with_sorted_ties(_sorted_with_places(unsorted), rows)
    if not each_row and _are_few(unsorted):
        unsorted = _with_equal_keys_counted(unsorted, unsorted.keys())
    return _sorted(unsorted)


def numbered_rows(rows: Rows) -> tuple[PackedRows, pl.Series]:
    """Return the sorted rows, and the block number of each row in memory.

    The block number counts the retrieved blocks before the block of the row; null if the row is not
    retrieved. Numbers of rows are UInt32.
    """
    unsorted = _unsorted(rows, ())
    if not _are_few(unsorted):
        ranked = _sorted_with_places(unsorted)
        return ranked, _scattered(ranked, unranked=rows.has_unranked)
    table = collected(unsorted.keys(), unsorted.height)
    ranked = _sorted(_with_equal_keys_counted(unsorted, table.lazy()))
    block = table.lazy().select(block=unsorted.key.block())
    return ranked, _looked_up(block, ranked)


# before the sort
# -----------------------------------------------------------------------------------------------


def _unsorted(rows: Rows, extra_sums: Collection[str]) -> _Unsorted:
    """Return the layout of the keys, and the numbers that are needed."""
    numbers: dict[str, pl.Expr] = {}
    gains = rows.gains
    if rows.weights.name is not None:
        numbers["weight"] = rows.weight
    if gains.name is not None and not {*GAINS}.isdisjoint(extra_sums):
        gains = gains.with_unit("gain", ends_of(rows.frame, "gain", has_counts=rows.has_counts))
        numbers["gain"] = gains.in_units(pl.col("gain"))
    if rows.request.fills_labels and not {"judged", UNJUDGED.block}.isdisjoint(extra_sums):
        judged = pl.col("judged")
        if rows.drops:
            judged = judged & ~pl.col("dropped")
        numbers["judged"] = judged.cast(pl.Int64)
    if rows.has_counts:
        count = pl.col("count")
        numbers = {name: number * count for name, number in numbers.items()}
        numbers["count"] = count
    key = key_of(rows)
    if rows.height >= _WIDTHS_FROM:
        key = key.fitted(rows.frame)
    return _Unsorted(rows.frame, rows.height, key, key.pack(), numbers, gains)


def _are_few(unsorted: _Unsorted) -> bool:
    """Return whether so few keys are distinct that it pays to count equal ones before a sort.

    Then hardly anything is left to sort: a third of the time of 2M rows with 1,000 distinct scores.
    In other frames it would hash all rows for nothing.
    """
    if unsorted.height <= 2 * _SAMPLES[-1]:
        return False
    for size in _SAMPLES:
        # Two parts, as the first rows of a frame may differ from others. One query would compute
        # them from all rows.
        starts = (unsorted.height // 4, unsorted.height * 3 // 4)
        parts = (unsorted.frame.slice(start, size // 2) for start in starts)
        packed = (collected(part.select(unsorted.packed)) for part in parts)
        keys = pl.concat(packed)
        distinct = keys.n_unique() / max(len(keys), 1)
        if distinct < 0.3:
            return len(keys) > 0
        if distinct > 0.98:  # Of the larger sample, more than 0.3 are expected to be distinct, too.
            return False
    return False


def _with_equal_keys_counted(unsorted: _Unsorted, table: pl.LazyFrame) -> _Unsorted:
    """Aggregate rows with equal keys. `table`: the keys, and the numbers as columns."""
    sums = {name: pl.col(name).sum() for name in unsorted.numbers}
    sums.setdefault("count", pl.len().cast(pl.Int64))
    plan = table.group_by("key").agg(**sums)
    distinct = collected(plan, unsorted.height)
    return unsorted._replace(
        frame=distinct.lazy().with_columns(group=unsorted.key.group()),
        height=len(distinct),
        packed=pl.col("key"),
        numbers={name: pl.col(name) for name in sums},
    )


# the sort
# -----------------------------------------------------------------------------------------------


def _sorted(unsorted: _Unsorted) -> PackedRows:
    """Sort the keys, and bring their numbers into the same order.

    A frame of two columns sorts in three times the time of one column of integers. So a number is
    in the low bits of its key or, if it is large, its place in the frame is.
    """
    if not unsorted.columns():
        table = _sorted_keys(unsorted, unsorted.packed, unsorted.key)
        return unsorted.in_order(table, unsorted.key, {})

    return _sorted_with_number(unsorted) or _sorted_with_places(unsorted)


def _sorted_with_places(unsorted: _Unsorted) -> PackedRows:
    """Sort the keys, and add the number `row`: the place of each key before the sort."""
    columns = unsorted.columns()
    layout = unsorted.key.with_numbers(unsorted.height)
    if layout is None:
        # A place does not fit into the keys, so they are sorted together with the columns.
        frame = unsorted.frame.with_row_index("row").select(*columns, "row", key=unsorted.packed)
        table = collected(frame, unsorted.height).sort("key")
        numbers = {**unsorted.numbers, "row": pl.col("row")}
        return unsorted.in_order(table, unsorted.key, numbers)

    place = pl.col("row").cast(pl.Int64)
    numbered = unsorted._replace(frame=unsorted.frame.with_row_index("row"))
    table = _sorted_keys(numbered, _with_number(unsorted, layout, place), layout)
    if columns:
        places = table.select(layout.number().cast(pl.UInt32)).to_series()
        unordered = collected(unsorted.frame.select(columns)).rechunk()
        table = table.hstack(unordered[places])
    numbers = {**unsorted.numbers, "row": layout.number()}
    return unsorted.in_order(table, layout, numbers)


def _sorted_with_number(unsorted: _Unsorted) -> PackedRows | None:
    """Sort keys with their only number in the low bits.

    None if there are several, or one is large.
    """
    if len(unsorted.numbers) != 1:
        return None
    ((name, number),) = unsorted.numbers.items()
    most = _largest_if_small(unsorted, number)
    layout = None if most is None else unsorted.key.with_numbers(most)
    if layout is None:
        return None

    table = _sorted_keys(unsorted, _with_number(unsorted, layout, number), layout)
    return unsorted.in_order(table, layout, {name: layout.number()})


def _largest_if_small(unsorted: _Unsorted, number: pl.Expr) -> int | None:
    """Return the largest value of a number, if it is whole and all values are small."""
    extremes = unsorted.frame.select(low=number.min(), high=number.max())
    if extremes.collect_schema()["high"] != pl.Int64:
        return None
    least, most = collected(extremes, unsorted.height).row(0)
    if least is None or least < 0 or most >= _SMALL_NUMBER:
        return None
    return int(most)


def _with_number(unsorted: _Unsorted, layout: SortKey, number: pl.Expr) -> pl.Expr:
    """Return the keys with a number of each row in the low bits."""
    return unsorted.packed.cast(layout.integer) * layout.numbers + number


def _sorted_keys(unsorted: _Unsorted, packed: pl.Expr, layout: SortKey) -> pl.DataFrame:
    """Sort the keys as one column, which needs half of the memory of a frame."""
    ranges = [unsorted.frame]
    # A sort holds its rows twice, so many rows are sorted by ranges of groups.
    parts = -(-unsorted.height // _SORTED_AT_ONCE)
    if parts > 1 and layout.groups > 1:
        group = pl.col("group")
        # A layout for any scores has room for far more groups.
        ends = unsorted.frame.select(first=group.min(), last=group.max())
        first, last = collected(ends, unsorted.height).row(0)
        size = -(-(last - first + 1) // parts)
        starts = range(first, last + 1, size)
        in_range = (group.is_between(start, start + size - 1) for start in starts)
        ranges = [unsorted.frame.filter(condition) for condition in in_range]

    keys = (part.select(key=packed) for part in ranges)
    sorted_keys = (collected(part, unsorted.height).to_series().sort() for part in keys)
    return pl.concat(sorted_keys).to_frame()


# ties
# -----------------------------------------------------------------------------------------------


def _with_sorted_ties(ranked: PackedRows, rows: Rows) -> PackedRows:
    """Sort rows of equal score by their `tie`, and mark the `end` of rows that stay tied.

    Mostly few rows are tied. To code the texts of 500,000 rows as places takes four times as long
    as to sort their keys.
    """
    key = ranked.key
    numbers = dict(ranked.numbers)
    row = numbers.pop("row").cast(pl.UInt32)
    plan = ranked.table.lazy().with_columns(end=key.ends(of="block"))
    table = collected(plan, len(ranked.table))

    end = pl.col("end")
    starts = end.shift(1, fill_value=True)
    is_tied = ~(starts & end)
    at = table.select(is_tied.arg_true()).to_series()
    tied = table[at]
    is_retrieved = tied.select(key.is_retrieved()).to_series()
    at = at.filter(is_retrieved)
    tied = tied.filter(is_retrieved)
    if at.len():
        row_numbers = tied.select(row).to_series()
        values = rows.frame.select(pl.col("tie").gather(row_numbers))
        tied = tied.hstack(collected(values))

        block = pl.col("block")
        tie = pl.col("tie")
        tied = tied.with_columns(block=starts.cast(pl.UInt32).cum_sum())
        descending = [False, rows.request.breaks_ties_descending, False]
        tied = tied.sort(block, tie, key.below_block(), descending=descending, nulls_last=True)

        is_same_block = block == block.shift(-1)
        is_same_value = tie.eq_missing(tie.shift(-1))
        continues = (is_same_block & is_same_value).fill_null(False)
        tied = tied.with_columns(end=~continues)
        columns = [table[name].scatter(at, tied[name]) for name in table.columns]
        table = table.with_columns(columns)
    return ranked._replace(table=table, numbers=numbers)


# the block of each row
# -----------------------------------------------------------------------------------------------


def _scattered(ranked: PackedRows, *, unranked: bool) -> pl.Series:
    """Return the block number of each row, from sorted keys with the place of their row."""
    key = ranked.key
    table = ranked.table.lazy().select(
        row=ranked.numbers["row"].cast(pl.UInt32),
        starts=key.ends(of="block").shift(1, fill_value=True),
        retrieved=key.is_retrieved(),
    )
    height = len(ranked.table)
    if unranked:
        table = table.filter("retrieved")
    numbers = pl.repeat(None if unranked else 0, height, dtype=pl.UInt32, eager=True)
    number = pl.col("starts").cast(pl.UInt32).cum_sum() - 1
    numbered = collected(table.select("row", number=number))
    return numbers.scatter(numbered["row"], numbered["number"]).alias("block_number")


def _looked_up(rows: pl.LazyFrame, ranked: PackedRows) -> pl.Series:
    """Return the block number of each row, from its `block` and the few distinct keys."""
    key = ranked.key
    retrieved = ranked.table.lazy().filter(key.is_retrieved())
    blocks = retrieved.select(block=key.block()).unique()
    blocks = blocks.cast(rows.collect_schema()).sort("block")

    number = pl.int_range(pl.len(), dtype=pl.UInt32)
    numbered = blocks.with_columns(block_number=number)
    joined = rows.join(numbered, on="block", how="left", maintain_order="left")
    numbers = collected(joined.select("block_number"))
    return numbers.to_series()
