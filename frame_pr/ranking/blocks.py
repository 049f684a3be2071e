"""Sorted rows -> blocks: whole-column arithmetic on a table in order of the groups, then from the best score on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import polars as pl

from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import CUMULATIVE_COUNTS, GAINS, HITS, ROWS, UNJUDGED, CumulativeCount, Weights
from frame_pr.ranking.sorting import PackedRows, Reached, ends, running_totals, sorted_rows, starts

_RUN = (*CUMULATIVE_COUNTS, UNJUDGED)
START = (*(count.before for count in _RUN), *(count.in_all for count in _RUN), "later_precision")
"""The columns of a group that is one range of the scores of a larger group: counts at the better scores, above the
range, the totals of the larger group, and the largest precision at any threshold below the range.
"""


_NEEDS: Mapping[str, Sequence[str]] = {
    "positives": ("tp",),
    "rows": ("k",),
    **dict.fromkeys(("interpolated_precision", "later_hits", "later_misses"), ("hits", "tp", "k")),
}
"""The columns from which other columns of blocks are computed."""
COLUMNS = frozenset(
    ("rank_key", "threshold", "size", "hits", "k", "tp", "ties", "misses", "first", "retrieved", *_NEEDS)
)
"""The columns of blocks that are computed on demand."""


def blocks_of(
    rows: Rows,
    columns: Collection[str] = COLUMNS,
    *,
    steps: bool = False,
    first: bool = False,
    each_row: bool = False,
    k_at: Mapping[str, Reached] = MappingProxyType({}),
    extra_sums: Sequence[str] = (),
    ranked: PackedRows | None = None,
) -> pl.LazyFrame:
    """Return the table of blocks: one row per distinct score of a group, by group and from the best score on.

    If a tie rule orders equal scores, there is one block per group of rows that the rule leaves tied. Columns: `group`;
    `rank_key` (an integer that is larger for a better score) and `threshold`; `size` and `hits` of the block; `k` and
    `tp`, the counts up to its end; `ties`, the number of rows since the block before it (whatever their weight)
    that share their score with another row; `misses`, the number of negatives since then; `positives` and `rows`, the
    totals of the group from its rows; `first` and `last` (in its group); `retrieved`; and those of `running_columns`.
    Rows that are not retrieved are a last block, and rows that do not count are another one, of size 0. `rank_key`,
    `threshold`, `k` and `tp` are null in both.

    `columns`: those that are needed; there may be more. `steps`: only blocks with a positive, and the last one of every
    group. `first`: also the first one of every group. `each_row`: if positives come first or last among ties, every row
    is a block. `k_at`: additional columns. For the blocks that reach a threshold (`SortKey.reaches`), each is the k
    there up to the block; 0 if no block above reaches it. `extra_sums`: the needed ones of `EXTRA_SUMS`, of each block
    alone; a block with such a sum is a step, too. `ranked`: the result of `sorted_rows`, if it exists already.
    """
    wanted = needed_columns(columns, steps=steps, first=first)
    counts = [count for count in CUMULATIVE_COUNTS if count.upto in wanted]
    counts += [UNJUDGED] if UNJUDGED.block in extra_sums else []
    each_row = each_row and rows.request.tie_rule.bounds
    ranked = sorted_rows(rows, extra_sums, each_row=each_row) if ranked is None else ranked
    # Without judgments that may be missing, the extra sums are cumulative down the ranking.
    early = (
        steps and "first" not in wanted and {*extra_sums} <= (set() if rows.request.fills_labels else {UNJUDGED.block})
    )
    blocks = running_totals(ranked, rows, wanted, k_at, extra_sums, early=early, each_row=each_row)

    def weighed(count: pl.Expr) -> pl.Expr:
        """Return a weighted count from the units of the sort."""
        return count / ranked.units["weight"] if rows.weights.fractional else count

    # Running totals run over the whole frame; the numbers of blocks and of groups are differences of them.
    named = {HITS.block: weighed(difference(HITS.run))} if HITS.block in wanted else {}
    named |= {ROWS.block: weighed(pl.col(ROWS.block))} if ROWS.block in wanted else {}
    if "retrieved" in wanted and not rows.has_unranked:
        named["retrieved"] = pl.lit(True)
    for name in extra_sums:
        of_block = difference(f"{name}_run")
        named[name] = _in_gains(of_block, ranked) if name in GAINS else of_block
    blocks = blocks.with_columns(last=ends(pl.col("group")), **named)
    # The last block of a group always remains, so the next one is the first of its group.
    is_first = pl.col("last").shift(1, fill_value=True)
    blocks = blocks.with_columns(first=is_first) if "first" in wanted else blocks

    def since_start(run: str) -> pl.Expr:
        # At the start of a group, the row before holds the running totals up to it.
        return weighed(pl.col(run) - pl.when(is_first).then(pl.col(run).shift(1, fill_value=0)).forward_fill())

    blocks = blocks.filter(is_step(extra_sums, first=first)) if steps else blocks
    named = {count.upto: since_start(count.run) for count in counts} | {name: since_start(name) for name in k_at}
    if "ties" in wanted:
        named["ties"] = difference("ties_run")
    if "misses" in wanted:
        named["misses"] = weighed(difference(ROWS.run) - difference(HITS.run))
    blocks = blocks.with_columns(pl.col("group").set_sorted(), **named)
    blocks = blocks.with_columns(
        **{count.total: from_last(pl.col(count.upto)) for count in counts if count.total in wanted}
    )
    blocks = blocks if rows.starts is None else _continued(blocks, rows.starts, counts, k_at)
    if rows.has_unranked:
        blocks = blocks.with_columns(pl.when("retrieved").then(count.upto).alias(count.upto) for count in counts)
    running = running_columns(in_ranges=rows.starts is not None)
    return blocks.with_columns(**{name: column for name, column in running.items() if name in wanted})


def _continued(
    blocks: pl.LazyFrame, starts_of_ranges: pl.LazyFrame, counts: Sequence[CumulativeCount], k_at: Collection[str]
) -> pl.LazyFrame:
    """Add to the counts of a range of scores those of the better ranges of its group; see `START`."""
    starts_of_groups = starts_of_ranges.select("group", *START)
    blocks = blocks.join(starts_of_groups, on="group", how="left", maintain_order="left")
    return blocks.with_columns(
        *((pl.col(count.upto) + pl.col(count.before)).alias(count.upto) for count in counts),
        *(pl.col(count.in_all).alias(count.total) for count in _RUN),
        *(pl.when(pl.col(n) > 0).then(pl.col(n) + pl.col(ROWS.before)).otherwise(0).alias(n) for n in k_at),
    )


def needed_columns(columns: Collection[str], *, steps: bool, first: bool) -> set[str]:
    """Return these columns of blocks and those from which they are computed."""
    wanted = {needed for name in columns for needed in (name, *_NEEDS.get(name, ()))}
    return wanted | ({HITS.block} if steps else set()) | ({"first"} if first else set())


def is_step(extra_sums: Sequence[str], *, first: bool) -> pl.Expr:
    """Return whether a block is a step, the last one of its group or, if `first`, the first one."""
    has_some = [pl.col(name) > 0 for name in ("hits", *extra_sums)]
    return pl.any_horizontal(*has_some, "last", *(["first"] if first else []))


def _in_gains(gain: pl.Expr, ranked: PackedRows) -> pl.Expr:
    """Return a sum of gains from the units of the sort."""
    return gain / ranked.units["gain"] if "gain" in ranked.units else gain


def best_blocks(rows: Rows) -> pl.LazyFrame:
    """Return the blocks of equal gain by group, largest gain first: `group`, `gain`, `size`, `k`.

    Rows without a gain drop out. These are the blocks of a ranking by gain, without any options.
    """
    gains = rows.frame.filter(pl.col("gain") > 0).with_columns(score="gain", truth=pl.lit(False))
    by_gain = replace(
        rows,
        frame=gains,
        request=replace(rows.request, policies={}),
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

    The bits of such a float order as the float does. The negated group number above them restarts the maximum at every
    group, so that one pass over the column suffices.
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

    `interpolated_precision`: the largest precision at this or any later threshold. `later_hits` and `later_misses`: the
    sums over this and later blocks of `hits / k` times the precision, and times 1 minus it; not in ranges.
    """
    precision = pl.col("tp") / pl.col("k")
    largest = suffix_max(precision)
    share = (pl.col("hits") / pl.col("k")).fill_null(0.0)
    return {
        "interpolated_precision": pl.max_horizontal(largest, "later_precision") if in_ranges else largest,
        "later_hits": suffix_sum(share * precision.fill_null(0.0)),
        "later_misses": suffix_sum(share * (1 - precision.fill_null(0.0))),
    }
