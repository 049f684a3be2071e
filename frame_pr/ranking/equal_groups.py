"""Groups with equal counts among sorted rows, so that metrics are computed once for all of them.

Small groups repeat: there are few ways to rank five rows. Metrics read counts of blocks, and a threshold is the score
of a block. So metrics are computed for one group of each kind, with k in place of the score, and then gathered.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import ROWS
from frame_pr.ranking.blocks import difference
from frame_pr.ranking.sorting import Sort, SortedRows

_MOST_ROWS = 8, 16
"""The numbers of rows up to which groups are compared."""
_MOST_DIFFERENT = 0.5
"""The largest share of different groups at which equal groups are used."""
_BITS = 58
"""The largest number of bits of a group."""
_SAMPLES = 16, 2**11
"""The number of samples, and of rows in each of them."""


class EqualGroups(NamedTuple):
    """Groups of sorted rows. One of each set of equal groups represents the others."""

    rows: SortedRows
    keys: pl.Series
    """All rows, and their keys."""
    representatives: pl.DataFrame
    """The rows of the representatives."""
    groups: pl.DataFrame
    """For each group, in order: `group`, its `first` row, and the number of its `representative`."""

    @classmethod
    def of(cls, sort: Sort, rows: SortedRows) -> EqualGroups | None:
        """Find equal groups. None if rows do not count once each, or if samples show that most groups differ."""
        table, (samples, size) = rows.table.collect(engine="in-memory"), _SAMPLES
        if not {*table.columns} <= {"key", "last_within"}:
            return None
        sample = pl.concat(table.slice(i * table.height // samples, size) for i in range(samples))
        most = next((most for most in _MOST_ROWS if _represented(sort, sample, rows, most)), None)
        if most is None or (represented := _represented(sort, table, rows, most)) is None:
            return None
        groups, representatives = represented
        row = representatives.select(pl.int_ranges("first", pl.col("last") + 1).explode()).to_series()
        return cls(rows, table["key"], table[row], groups)

    def blocks(self, sort: Sort, key: SortKey) -> tuple[pl.LazyFrame, SortKey]:
        """Return the table of `sorted_blocks` of the representatives, and its key. Scores are the k of blocks.

        `key`: that of the scores.
        """
        blocks = sort.totals(self.rows._replace(table=self.representatives.lazy())).lazy()
        key = replace(key, dtype=pl.Int64(), ascending=True, places=False)
        if "bits" in sort.outputs:
            blocks = blocks.with_columns(score=difference(ROWS.run), truth=False)
            blocks = blocks.with_columns(pl.col("score").cum_sum().over("group")).with_columns(bits=key.pack())
        return blocks, key

    def gather(self, values: pl.DataFrame, thresholds: Collection[str], key: SortKey) -> pl.DataFrame:
        """Return `group` and the values of all groups, from those of the representatives.

        `thresholds`: the values that are the k of a block. `key`: that of the scores.
        """
        index = self.groups["representative"]
        table = values.lazy().select(_gathered(column, index) for column in values)
        table = self.groups.select("group").hstack(table.collect(engine="in-memory"))
        for name in thresholds:
            last_row = (self.groups["first"] + table[name] - 1).alias("row")
            scores = pl.DataFrame({"key": self.keys}).lazy().select(pl.col("key").gather(last_row))
            scores = scores.select(bits=self.rows.key.bits()).select(self.rows.key.score().alias(name))
            table = table.with_columns(scores.collect(engine="in-memory"))
        return table


def _gathered(column: pl.Series, index: pl.Series) -> pl.Expr:
    """Return the values of a column at an index."""
    value = pl.col(column.name)
    if not column.null_count():
        return value.gather(index)
    # In half the time that a column with nulls takes.
    return pl.when(value.is_not_null().cast(pl.UInt8).gather(index) == 1).then(value.fill_null(0).gather(index))


def _represented(
    sort: Sort, table: pl.DataFrame, rows: SortedRows, most_rows: int
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Return all groups and the representatives, of groups up to a number of rows. None if most groups differ."""
    marked, marks = sort.marks(table.lazy(), rows.key)
    # The marks of a row are the bits of a digit. The digits of the last rows up to a row are those of its number.
    bits, dtype = len(marks), pl.UInt32 if len(marks) * most_rows <= 32 else pl.UInt64
    if bits * most_rows > _BITS:
        return None
    digit = pl.sum_horizontal(mark.cast(dtype) * 2**i for i, mark in enumerate(marks))
    numbered = marked.select("key", number=digit, is_last=rows.key.ends(of="group"))
    numbered = numbered.with_columns(is_first=pl.col("is_last").shift(1, fill_value=True))
    for size in (1, 2, 4, 8)[:most_rows.bit_length()-1]:
        before = pl.col("number").shift(size) * pl.lit(2**(size * bits), dtype=dtype)
        numbered = numbered.with_columns(
            number=pl.col("number") + pl.when("is_first").then(pl.lit(0, dtype=dtype)).otherwise(before),
            is_first=pl.col("is_first") | pl.col("is_first").shift(size, fill_value=True),
        )
    lasts = numbered.with_row_index("last").filter("is_last").with_columns(pl.col("last", "number").cast(pl.Int64))
    first, size = pl.col("last").shift(1, fill_value=-1) + 1, pl.col("last") - pl.col("last").shift(1, fill_value=-1)
    number = pl.when(size <= most_rows).then(pl.col("number") * 2**5 + size).otherwise(-pl.col("last"))
    groups = lasts.select("last", first=first, number=number, group=rows.key.group("key")).collect(engine=rows.engine)
    representatives = groups.lazy().unique("number", keep="any").sort("last").with_row_index("representative")
    represented = representatives.collect(engine="in-memory")
    if represented.height > _MOST_DIFFERENT * groups.height:
        return None
    numbers = represented.lazy().select("number", "representative")
    joined = groups.lazy().join(numbers, on="number", how="left", maintain_order="left")
    return joined.select("group", "first", "representative").collect(engine="in-memory"), represented
