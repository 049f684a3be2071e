"""Blocks of rows with equal scores: running totals over the sorted keys, and their differences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

import polars as pl

from frame_pr.frames.arguments import DEFAULTS
from frame_pr.frames.kinds import SMALL, collected
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.weights import (
    CUMULATIVE_COUNTS,
    GAINS,
    HITS,
    ROWS,
    UNJUDGED,
    Weights,
)
from frame_pr.ranking.sort import PackedRows, sorted_rows
from frame_pr.ranking.sort_keys import SortKey

Reached = Callable[[SortKey], pl.Expr]
"""Whether a row reaches a threshold, of the keys in some layout."""
_RUNNING = ("interpolated_precision", "later_hits", "later_misses")
_OF_OTHER_BLOCKS = {"first", "gain", "size"}
"""The columns that need more rows than those with a positive and the last ones of groups."""
_NEEDS: Mapping[str, Sequence[str]] = {
    "positives": ("tp",),
    "rows": ("k",),
    **dict.fromkeys(_RUNNING, ("hits", "tp", "k")),
}
"""The columns from which other columns of blocks are computed."""
_ONE = pl.lit(1, dtype=pl.Int64)
_ROW_NUMBER = pl.col("index").cast(pl.Int64) + 1
_SORTED_GROUP = pl.col("group").set_sorted()


def blocks_of(
    rows: Rows,
    columns: Collection[str],
    *,
    steps: bool = False,
    each_row: bool = False,
    k_at: Mapping[str, Reached] = MappingProxyType({}),
    extra_sums: Sequence[str] = (),
    ranked: PackedRows | None = None,
) -> pl.LazyFrame:
    """Return the table of blocks.

    One row per distinct score of a group, by group and from the best score on.

    If a tie rule orders equal scores, there is one block per group of rows that the rule leaves
    tied. Columns: `group`; `rank_key` (an integer that is larger for a better score) and
    `threshold`; `size` and `hits` of the block; `k` and `tp`, the counts up to its end; `ties`, the
    number of rows since the block before it (whatever their weight) that share their score with
    another row; `misses`, the number of negatives since then; `positives` and `rows`, the totals of
    the group from its rows; `first` and `last` (in its group); `retrieved`; and those of
    `running_columns`. Rows that are not retrieved are a last block, and rows that do not count are
    another one, of size 0. `rank_key`, `threshold`, `k` and `tp` are null in both. Counts are whole
    numbers: Int64, or Int128 units of float weights.

    `columns`: those that are needed; there may be more. `steps`: only blocks with a positive, and
    the last one of every group; with the column `first`, also the first one. `each_row`: if
    positives come first or last among ties, every row is a block. `k_at`: additional columns. For
    the blocks that reach a threshold (`SortKey.reaches`), each is the k there up to the block; 0 if
    no block above reaches it. `extra_sums`: the needed ones of `EXTRA_SUMS`, of each block alone; a
    block with such a sum is a step, too. `ranked`: the result of `sorted_rows`, if it exists
    already.
    """
    wanted = {needed for name in columns for needed in (name, *_NEEDS.get(name, ()))}
    each_row = each_row and rows.request.tie_rule.bounds
    if ranked is None:
        ranked = sorted_rows(rows, extra_sums, each_row=each_row)
    # Without judgments that may be missing, the extra sums are cumulative down the ranking.
    cumulative = {*GAINS} if rows.request.fills_labels else {*GAINS, UNJUDGED.block}
    early = steps and {*extra_sums} <= cumulative
    blocks = _running_totals(ranked, rows, wanted, k_at, extra_sums, early=early, each_row=each_row)
    # Totals of float weights are Int128: pieces of them would take 48 instead of 41 bytes a row.
    if early and rows.height >= SMALL and not rows.weights.fractional:
        pieces = collected(blocks, rows.height)
        # The copy in one piece takes the memory of the keys.
        del blocks
        ranked = ranked._replace(table=pl.DataFrame())
        blocks = _in_one_piece(pieces)
    blocks = _with_differences(blocks, rows, ranked, wanted, extra_sums)
    if steps and (_reads_other_blocks(wanted, extra_sums) or not early):
        blocks = blocks.filter(_is_step(wanted, extra_sums))
    blocks = _with_counts_of_group(blocks, rows, wanted, k_at, extra_sums)
    if wanted.isdisjoint(_RUNNING):
        return blocks

    running = {name: column for name, column in running_columns().items() if name in wanted}
    blocks = blocks.with_columns(**running)
    if rows.starts is None:
        return blocks
    return rows.starts.with_later_ranges(blocks)


# running totals
# -----------------------------------------------------------------------------------------------


def _running_totals(
    ranked: PackedRows,
    rows: Rows,
    wanted: Collection[str],
    k_at: Mapping[str, Reached],
    extra_sums: Sequence[str],
    *,
    early: bool,
    each_row: bool,
) -> pl.LazyFrame:
    """Return one row per block, in order.

    `group`, and running totals over all groups up to the end of the block.

    There is a total for each weighted count, for each of the extra sums, and of the rows for which
    each column of `k_at` is true; `ties_run`, `size`, `rank_key` and `threshold` if they are
    wanted; `retrieved` if some rows may have no place in the ranking. `early`: whether blocks
    without a positive may be missing, except the last one of a group. Totals of weights may wrap
    around, which does not change differences within a group.
    """
    key = ranked.key
    weight = _weight(ranked)
    run = _total_of_rows(ranked, weight)
    runs: dict[str, pl.Expr] = {}
    if "index" not in run.meta.root_names():
        runs[ROWS.run] = run
        run = pl.col(ROWS.run)
    for name, reaches in k_at.items():
        runs[name] = (reaches(key).cast(pl.Int64) * weight).cum_sum()
    if "ties" in wanted:
        runs["ties_run"] = _tied_rows(ranked, unranked=rows.has_unranked).cum_sum()
    table = ranked.table.lazy().with_row_index("index").with_columns(**ranked.numbers)
    if any("group" in runs[name].meta.root_names() for name in k_at):
        # Codes of thresholds may depend on the system of the group.
        table = table.with_columns(group=key.group())
    # As columns, because the streaming engine would compute each of these expressions again.
    end_of_block = _ends_block(ranked, rows, each_row=each_row)
    table = table.with_columns(**runs, end=end_of_block, ends_group=key.ends(of="group"))

    end = pl.col("end")
    if early:
        # A block with a positive ends in one, so drop most rows before anything else is computed.
        table = table.filter(_may_be_step(key, wanted, extra_sums))
    # All rows that have a label or a gain are left, and so are the starts of their blocks.
    hits = (key.truth().cast(pl.Int64) * weight).cum_sum()
    sums = {HITS.run: hits, **_extra_runs(rows, key, run, extra_sums)}
    if early and "size" in wanted:
        at_start = pl.when(end.shift(1, fill_value=True)).then(run - weight)
        table = table.with_columns(before=at_start.forward_fill())
    table = table.with_columns(**sums).filter(end)

    # A sum is a copy. Where a piece of one row is kept, its column itself would keep the memory of
    # a whole piece: 18 metrics of 2M rows took 37 bytes a row in place of 33.
    result = {"group": key.group()}
    result |= {name: pl.col(name) + 0 for name in (*runs, *sums)} | {ROWS.run: run}
    if "size" in wanted:
        before = pl.col("before") if early else run.shift(1, fill_value=0)
        result["size"] = run - before
    if "rank_key" in wanted:
        result["rank_key"] = key.rank_key(unranked=rows.has_unranked)
    if "threshold" in wanted:
        result["threshold"] = key.score(unranked=rows.has_unranked)
    if rows.has_unranked:
        result["retrieved"] = key.is_retrieved()
    return table.select(**result)


def _may_be_step(key: SortKey, wanted: Collection[str], extra_sums: Collection[str]) -> pl.Expr:
    """Return whether a row may be the end of a step, or the start of its block."""
    end = pl.col("end")
    ends_group = pl.col("ends_group")
    is_kept = key.truth() | ends_group
    if "first" in wanted:
        is_kept |= ends_group.shift(1, fill_value=True)
    if "gain" in extra_sums:
        is_kept |= pl.col("gain") > 0
    if _reads_other_blocks(wanted, extra_sums):
        # Blocks of several rows also start and end in other rows.
        is_kept |= end.xor(end.shift(1, fill_value=True))
    return is_kept


def _reads_other_blocks(wanted: Collection[str], extra_sums: Collection[str]) -> bool:
    return not _OF_OTHER_BLOCKS.isdisjoint((*wanted, *extra_sums))


def _in_one_piece(pieces: pl.DataFrame) -> pl.LazyFrame:
    """Return blocks in one piece, if few rows are left.

    In the pieces of all rows, the streaming engine would compute whatever follows: 18 metrics of 2M
    rows take 0.8 to 0.9 of the time.
    """
    # Column by column, so that pieces and copy are not held at once.
    columns = [pieces.drop_in_place(name).rechunk() for name in pieces.columns]
    return pl.LazyFrame(columns)


def _weight(ranked: PackedRows) -> pl.Expr:
    """Return what a key counts as: its weight, its count, or 1; 0 if its rows are dropped."""
    if "weight" in ranked.numbers:
        return pl.col("weight")

    weight = pl.col("count") if "count" in ranked.numbers else _ONE
    if ranked.key.drops:
        weight = ranked.key.counts().cast(pl.Int64) * weight
    return weight


def _total_of_rows(ranked: PackedRows, weight: pl.Expr) -> pl.Expr:
    """Return the running total of the rows."""
    if ranked.numbers.keys() & {"weight", "count"} or ranked.key.drops:
        return weight.cum_sum()
    # An index takes a tenth of the time of a running total (10 of 140 ms of 2M rows) and, in the
    # streaming engine, no memory of all rows, as a range does.
    return _ROW_NUMBER


def _tied_rows(ranked: PackedRows, *, unranked: bool) -> pl.Expr:
    """Return how many rows with this key share their score with another row."""
    ends_block = ranked.key.ends(of="block")
    alone = ends_block.shift(1, fill_value=True) & ends_block
    count = _ONE
    if "count" in ranked.numbers:
        count = pl.col("count")
        alone = alone & (count == 1)
    tied = ~alone
    if unranked:
        tied = tied & ranked.key.is_retrieved()
    return tied.cast(pl.Int64) * count


def _extra_runs(
    rows: Rows, key: SortKey, run: pl.Expr, extra_sums: Sequence[str]
) -> dict[str, pl.Expr]:
    """Return the running totals of the extra sums. `run`: that of the rows."""
    if not extra_sums:
        return {}
    gain = pl.col("gain")
    hit_gain = key.truth().cast(pl.Int64) * gain
    judged = run
    if rows.request.fills_labels:
        judged = pl.col("judged").cum_sum()

    sums = {
        "gain": gain.cum_sum(),
        "hit_gain": hit_gain.cum_sum(),
        "judged": judged,
        UNJUDGED.block: run - judged,
    }
    return {f"{name}_run": sums[name] for name in extra_sums}


def _ends_block(ranked: PackedRows, rows: Rows, *, each_row: bool) -> pl.Expr:
    """Return whether a key is the last one of a block."""
    end = ranked.ends_place
    if not rows.request.tie_rule.bounds:
        return end
    if each_row:
        return pl.lit(True)
    # Rows of equal score and label need no order among them.
    return end | ranked.key.ends(of="truth")


# blocks and groups
# -----------------------------------------------------------------------------------------------


def _with_differences(
    blocks: pl.LazyFrame,
    rows: Rows,
    ranked: PackedRows,
    wanted: Collection[str],
    extra_sums: Sequence[str],
) -> pl.LazyFrame:
    """Add the numbers of each block alone, and whether it is `first` or `last` in its group."""
    columns = {"last": _IS_LAST}
    if HITS.block in wanted:
        columns[HITS.block] = difference(HITS.run)
    if "retrieved" in wanted and not rows.has_unranked:
        columns["retrieved"] = pl.lit(True)
    for name in extra_sums:
        columns[name] = difference(f"{name}_run")
        if name in GAINS:
            columns[name] = ranked.gains.from_units(columns[name])

    blocks = blocks.with_columns(**columns)
    if "first" in wanted:
        blocks = blocks.with_columns(first=_IS_FIRST)
    return blocks


def _is_step(wanted: Collection[str], extra_sums: Sequence[str]) -> pl.Expr:
    """Return whether a block is a step, the last one of its group or, if wanted, the first one."""
    conditions = [difference(HITS.run) > 0, pl.col("last")]
    conditions += [pl.col(name) > 0 for name in extra_sums]
    if "first" in wanted:
        conditions.append(pl.col("first"))
    return pl.any_horizontal(conditions)


def _with_counts_of_group(
    blocks: pl.LazyFrame,
    rows: Rows,
    wanted: Collection[str],
    k_at: Collection[str],
    extra_sums: Sequence[str],
) -> pl.LazyFrame:
    """Add the counts in the group up to the block, and the totals of the group."""
    counts = [count for count in CUMULATIVE_COUNTS if count.upto in wanted]
    if UNJUDGED.block in extra_sums:
        counts.append(UNJUDGED)
    columns = {count.upto: _since_start(count.run) for count in counts}
    columns |= {name: _since_start(name) for name in k_at}
    if "ties" in wanted:
        columns["ties"] = difference("ties_run")
    if "misses" in wanted:
        columns["misses"] = difference(ROWS.run) - difference(HITS.run)
    blocks = blocks.with_columns(_SORTED_GROUP, **columns)
    totals = [count for count in counts if count.total in wanted]
    blocks = blocks.with_columns(
        from_last(pl.col(count.upto)).alias(count.total) for count in totals
    )
    if rows.starts is not None:
        blocks = rows.starts.continued(blocks, counts, k_at)
    if rows.has_unranked:
        retrieved = pl.when("retrieved")
        blocks = blocks.with_columns(
            retrieved.then(count.upto).alias(count.upto) for count in counts
        )
    return blocks


@lru_cache(maxsize=256)
def _since_start(run: str) -> pl.Expr:
    """Return the increase of a running total since the start of the group."""
    # At the start of a group, the row before holds the running totals up to it.
    before = pl.when(_IS_FIRST).then(pl.col(run).shift(1, fill_value=0))
    return pl.col(run) - before.forward_fill()


@lru_cache(maxsize=256)
def difference(run: str) -> pl.Expr:
    """Return the increase of a running total since the row before."""
    return pl.col(run) - pl.col(run).shift(1, fill_value=0)


def from_start(value: pl.Expr) -> pl.Expr:
    """Broadcast the value of the group's first row to all of its rows."""
    return pl.when(starts(pl.col("group"))).then(value).forward_fill()


def from_last(value: pl.Expr) -> pl.Expr:
    """Broadcast the value of the group's last row to all of its rows."""
    return pl.when("last").then(value).backward_fill()


def starts(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row after."""
    return (column != column.shift(-1)).fill_null(True)


_IS_LAST = ends(pl.col("group"))
_IS_FIRST = pl.col("last").shift(1, fill_value=True)
"""Whether a block is the first one of its group: the last one of each group always remains."""


# columns that follow from other blocks
# -----------------------------------------------------------------------------------------------


@cache
def running_columns() -> dict[str, pl.Expr]:
    """Return the columns that follow from `tp` and `k`, and from the blocks above or below.

    `interpolated_precision`: the largest precision at this or any later threshold. `later_hits` and
    `later_misses`: the sums over this and later blocks of `hits / k` times the precision, and times
    1 minus it.
    """
    precision = pl.col("tp") / pl.col("k")
    share = (pl.col("hits") / pl.col("k")).fill_null(0.0)
    return {
        "interpolated_precision": suffix_max(precision),
        "later_hits": suffix_sum(share * precision.fill_null(0.0)),
        "later_misses": suffix_sum(share * (1 - precision.fill_null(0.0))),
    }


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


def best_blocks(rows: Rows) -> pl.LazyFrame:
    """Return the blocks of equal gain by group, largest gain first: `group`, `gain`, `size`, `k`.

    Rows without a gain drop out. These are the blocks of a ranking by gain, without any options.
    """
    # Mostly few rows have a gain: collected once, 42 measures take 0.95 of the time.
    columns = ["group", "count"] if rows.has_counts else ["group"]
    gains = rows.frame.filter(pl.col("gain") > 0)
    gains = gains.select(*columns, score="gain", truth=pl.lit(False))
    table = collected(gains, rows.height)
    by_gain = rows._replace(
        frame=table.lazy(),
        height=table.height,
        request=rows.request._replace(single={}, **DEFAULTS),
        score_dtypes=[rows.gains.dtype],
        drops=False,
        sorts_ties=False,
        weights=Weights(),
        gains=Weights(),
        totals=[],
        starts=None,
    )
    blocks = blocks_of(by_gain, ["threshold", "size", "k"])
    return blocks.select("group", "size", "k", gain=pl.col("threshold") * pl.col("size"))
