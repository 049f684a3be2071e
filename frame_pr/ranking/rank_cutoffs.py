"""Find the blocks at which cutoffs at a rank end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from frame_pr.inputs.sort_keys import SortKey

RankOf = Callable[[pl.Expr, pl.Expr], pl.Expr]
"""The rank of a cutoff, of the numbers of positives and of rows of a group. Here it reads only the latter."""


def last_within(
    ranked: pl.DataFrame,
    key: SortKey,
    ranks: Sequence[RankOf],
    weight: pl.Expr | None,
    *,
    ordered: bool,
    unranked: bool,
) -> pl.Series:
    """Return whether a row is the last one of its group that ends a block within one of the ranks.

    `ranked`: the sorted rows. `weight`: what a row counts; None if every row counts once. `ordered`: whether rows of
    equal score have a place among them. `unranked`: whether some rows may have no place in the ranking.
    """
    keys = ranked["key"]
    last = ranked.select(key.ends(of="group")).to_series().arg_true().cast(pl.Int64)
    rows = ranked.lazy().with_columns(bits=key.bits())
    run = None if weight is None else rows.select(weight.cum_sum()).collect(engine="in-memory").to_series()
    groups = pl.DataFrame({"upto": last + 1 if run is None else run.gather(last), "last": last})
    if unranked:
        unretrieved = groups.select(key=keys.gather(last)).select(key.first_unretrieved()).to_series()
        groups = groups.with_columns(last=keys.search_sorted(unretrieved).cast(pl.Int64) - 1)
    groups = groups.with_columns(before=pl.col("upto").shift(1, fill_value=0))
    of_group, block = pl.col("upto") - pl.col("before"), key.place_bits() if ordered else key.bits()
    marks = pl.repeat(False, len(ranked), dtype=pl.Boolean, eager=True)
    for rank in ranks:
        count = groups.select(pl.col("before") + pl.min_horizontal(rank(of_group, of_group), of_group)).to_series()
        row = (count if run is None else run.search_sorted(count, side="right").cast(pl.Int64)) - 1
        last_rows = groups.select(row=pl.min_horizontal(row, "last")).filter(pl.col("row") >= 0)
        here, after = (
            pl.DataFrame({"key": keys.gather(index)}).select(block).to_series()
            for index in (last_rows["row"], (last_rows["row"] + 1).clip(upper_bound=len(ranked) - 1))
        )
        # A block that goes on after the cutoff is too large, so the block before it is the last one. If that is none of
        # the group, it is the last one of a group before.
        last_rows = last_rows.with_columns(
            goes_on=(here == after) & (last_rows["row"] + 1 < len(ranked)), start=keys.search_sorted(here)
        )
        row = last_rows.select(pl.when("goes_on").then(pl.col("start").cast(pl.Int64) - 1).otherwise("row")).to_series()
        marks = marks.scatter(row.filter(row >= 0), True)
    return marks
