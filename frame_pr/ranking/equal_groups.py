"""Groups whose sorted rows have equal labels and equal ties, so that metrics are computed once for all of them.

Small groups repeat: five rows have few rankings. Metrics are computed for a representative of each ranking and gathered
for all groups. Metrics read the scores in two ways only: whether a row reaches a threshold, which is compared, too, and
as the threshold of a block. So the blocks of representatives have their k as score, from which each group looks up its
own threshold.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from frame_pr.frames.columns import gather_rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import ROWS
from frame_pr.ranking.blocks import difference
from frame_pr.ranking.sorting import Sort, SortedRows

_LARGEST = 8, 16
"""The largest group that is compared: the first of these sizes that pays. Larger groups represent themselves."""
_MOST_DISTINCT = 0.5
"""The largest share of distinct groups among all at which representatives pay."""
_SAMPLES = 16, 2**11
"""The number of samples, and of rows in each of them."""
_BITS, _SIZE_BITS = 58, 5
"""The largest number of bits for the rows of a group, and the bits for its size."""


class EqualGroups(NamedTuple):
    """Groups of sorted rows, and which group represents each of them."""

    rows: SortedRows
    keys: pl.Series
    """The sorted rows of all groups, and their keys."""
    representatives: pl.DataFrame
    """The sorted rows of the representatives."""
    groups: pl.DataFrame
    """For each group, in order: `group`, the index of its `first` row, and the number of its `representative`."""

    @classmethod
    def of(cls, sort: Sort, rows: SortedRows) -> EqualGroups | None:
        """Find equal groups. None if rows are weighted or samples show too few equal groups."""
        table, (samples, size) = rows.table.collect(engine="in-memory"), _SAMPLES
        if table.is_empty() or not {*table.columns} <= {"key", "last_within"}:
            return None
        sample = pl.concat(table.slice(i * table.height // samples, size) for i in range(samples))
        groups_per_row = sample.select(rows.key.ends(of="group").mean()).item()
        sizes = (size for size in _LARGEST if size * groups_per_row >= 1)
        largest = next((size for size in sizes if _represented(sort, rows.key, sample, size)), None)
        if largest is None or (represented := _represented(sort, rows.key, table, largest)) is None:
            return None
        groups, representatives = represented
        index = representatives.select(pl.int_ranges("first", pl.col("last") + 1).explode()).to_series()
        return cls(rows, table["key"], table[index], groups)

    def blocks(self, sort: Sort, key: SortKey) -> tuple[pl.LazyFrame, SortKey]:
        """Return the table of `sorted_blocks` of the representatives, with k as score, and its key.

        `key`: the key of the scores.
        """
        blocks = sort.totals(self.rows._replace(table=self.representatives.lazy())).lazy()
        key = replace(key, dtype=pl.Int64(), ascending=True)
        if "rank_key" in sort.outputs:
            blocks = blocks.with_columns(score=difference(ROWS.run))
            blocks = blocks.with_columns(rank_key=0 - pl.col("score").cum_sum().over("group").cast(pl.Int128))
        return blocks, key

    def gather(self, values: pl.DataFrame, thresholds: Collection[str]) -> pl.DataFrame:
        """Return `group` and the values of all groups from those of the representatives.

        `thresholds`: the names of the values that are the k of a block.
        """
        table = self.groups.select("group").hstack(gather_rows(values, self.groups["representative"]))
        for name in thresholds:
            last_row = self.groups["first"] + table[name] - 1
            bits = pl.LazyFrame({"key": self.keys.gather(last_row)}).select(bits=self.rows.key.bits())
            table = table.with_columns(bits.select(self.rows.key.score().alias(name)).collect(engine="in-memory"))
        return table


def _represented(
    sort: Sort, key: SortKey, table: pl.DataFrame, largest: int
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Return all groups and the representatives. None if too many groups are distinct.

    `largest`: the size of the largest group that is compared, a power of 2.
    """
    rows, marks = sort.marks(table.lazy(), key)
    bits = len(marks)
    if bits * largest > _BITS:
        return None
    # The marks of a row are the bits of a digit, and the digits of a group those of a number. Each step doubles the
    # rows before a row whose digits its number contains.
    dtype = pl.UInt32 if bits * largest <= 32 else pl.UInt64
    digit = pl.sum_horizontal(mark.cast(dtype) * 2**i for i, mark in enumerate(marks))
    rows = rows.select("key", number=digit, is_last=key.ends(of="group"))
    rows = rows.with_columns(is_first=pl.col("is_last").shift(1, fill_value=True))
    for step in (2**i for i in range(largest.bit_length() - 1)):
        before = pl.col("number").shift(step) * pl.lit(2 ** (step * bits), dtype=dtype)
        rows = rows.with_columns(
            number=pl.col("number") + pl.when("is_first").then(pl.lit(0, dtype=dtype)).otherwise(before),
            is_first=pl.col("is_first") | pl.col("is_first").shift(step, fill_value=True),
        )
    lasts = rows.with_row_index("last").filter("is_last").with_columns(pl.col("last", "number").cast(pl.Int64))
    previous = pl.col("last").shift(1, fill_value=-1)
    size = pl.col("last") - previous
    number = pl.when(size <= largest).then(pl.col("number") * 2**_SIZE_BITS + size).otherwise(-pl.col("last"))
    groups = lasts.select("last", first=previous + 1, number=number, group=key.group("key")).collect(engine="streaming")
    distinct = groups.lazy().unique("number", keep="any").sort("last").with_row_index("representative")
    representatives = distinct.collect(engine="in-memory")
    if representatives.height > _MOST_DISTINCT * groups.height:
        return None
    numbers = representatives.lazy().select("number", "representative")
    joined = groups.lazy().join(numbers, on="number", how="left", maintain_order="left")
    return joined.select("group", "first", "representative").collect(engine="in-memory"), representatives
