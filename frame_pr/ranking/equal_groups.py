"""Groups with equal counts in the table of sorted blocks, so that metrics are computed once for all of them.

Small groups repeat: there are few ways in which five rows may be ranked. Metrics read only the counts of blocks, and a
threshold is the score of a block. So metrics are computed with the number of the block in place of its score, and the
scores are gathered at the end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import polars as pl

from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import ROWS
from frame_pr.ranking.blocks import difference
from frame_pr.ranking.sorting import ends, starts

_MOST_ROWS = 15
"""The number of rows up to which a group may have equal groups."""
_SAMPLE = 2**15
"""The number of blocks in the sample, from the middle of the table."""
_OF_BLOCK = ("size", "last_within")
"""The columns of `sorted_blocks` that count in a block alone; the other counts are running totals."""


class EqualGroups(NamedTuple):
    """The groups of a table of `sorted_blocks`. One of each set of equal groups represents the others."""

    blocks: pl.LazyFrame
    """The table of `sorted_blocks` of the representatives. Their scores are the numbers of blocks in their group."""
    key: SortKey
    """The key of these blocks."""
    groups: pl.DataFrame
    """For each group: `group`, the row of its `first` block, and the number of its `representative`."""
    ranked: pl.DataFrame
    score_key: SortKey
    """The blocks of all groups, and their key."""

    @classmethod
    def of(cls, ranked: pl.DataFrame, key: SortKey) -> EqualGroups | None:
        """Find the equal groups of a table of `sorted_blocks`. None if most blocks are in groups without an equal."""
        if ranked.height > 4 * _SAMPLE and _represented(ranked.slice(ranked.height // 2, _SAMPLE)) is None:
            return None
        represented = _represented(ranked)
        if represented is None:
            return None
        groups, representatives = represented
        rows = representatives.select("first", row=pl.int_ranges("first", pl.col("last") + 1)).explode("row")
        row = rows["row"]
        blocks = ranked.lazy().select(
            *(pl.col(name).gather(row) for name in ("group", *_OF_BLOCK) if name in ranked.columns),
            *(
                (pl.col(run).gather(row) - pl.col(run).shift(1, fill_value=0).gather(row)).cum_sum()
                for run in _running_totals(ranked)
            ),
        )
        number_key = replace(key, dtype=pl.Int64(), ascending=True)
        if "bits" in ranked.columns:
            score = row - rows["first"]
            blocks = blocks.with_columns(score.alias("score"), truth=False).with_columns(bits=number_key.pack())
        return cls(blocks, number_key, groups, ranked, key)

    def gather(self, values: pl.DataFrame, thresholds: Collection[str]) -> pl.DataFrame:
        """Return `group` and the values of all groups, from those of the representatives.

        `thresholds`: the names of the values that are numbers of blocks.
        """
        table = self.groups.select("group").hstack(values[self.groups["representative"]])
        score = self.score_key.threshold(self.score_key.rank_key())
        for name in thresholds:
            block = self.groups["first"] + table[name]
            table = table.with_columns(self.ranked.select(pl.col("bits").gather(block)).select(score.alias(name)))
        return table


def _running_totals(ranked: pl.DataFrame) -> list[str]:
    return [name for name in ranked.columns if name not in ("group", "bits", *_OF_BLOCK)]


def _represented(ranked: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Return all groups with the numbers of their representatives, and the representatives; None if it does not pay."""
    groups = ranked.with_row_index("last").filter(ends(pl.col("group")))
    groups = groups.select("group", pl.col("last").cast(pl.Int64), rows=difference(ROWS.run))
    groups = groups.with_columns(first=pl.col("last").shift(1, fill_value=-1) + 1)
    blocks = pl.col("last") + 1 - pl.col("first")

    # The counts of a block are the digits of a number. Such numbers are in turn the digits of the number of a group.
    counts = [difference(run) for run in _running_totals(ranked)]
    counts += [pl.col(name).cast(pl.Int64) for name in _OF_BLOCK if name in ranked.columns]
    largest = ranked.select(counted.clip(upper_bound=_MOST_ROWS).max().alias(str(i)) for i, counted in enumerate(counts))
    digit, base = pl.lit(0, dtype=pl.Int64), 1
    for counted, most in zip(counts, largest.row(0), strict=True):
        digit, base = digit + counted * base, base * (most + 1)
    places = next(digits for digits in count() if base ** (digits + 1) > 2**63)
    if places == 0:
        return None
    number = pl.col("digit")
    for _ in range(1, min(places, groups.select(blocks.max()).item())):
        number = pl.col("digit") + pl.when("start").then(0).otherwise(number.shift(1) * base)
    numbers = ranked.select(digit=digit, start=starts(pl.col("group"))).select(number).to_series()

    is_exact = (pl.col("rows") <= _MOST_ROWS) & (blocks <= places)
    number = pl.when(is_exact).then(numbers.gather(groups["last"])).otherwise(-pl.col("last"))
    groups = groups.with_columns(number=number)
    representatives = groups.unique("number", keep="any").sort("last").with_row_index("representative")
    if 2 * representatives.select(blocks.sum()).item() > ranked.height:
        return None
    numbered = representatives.select("number", "representative")
    return groups.join(numbered, on="number", how="left", maintain_order="left"), representatives
