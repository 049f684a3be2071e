"""Canonical rows -> curve: the one place that sorts.

Group, score and truth are packed into one Int128 and sorted as plain integers: the cheapest sort polars has, whatever
the number and the size of the groups, and nothing has to be gathered afterwards. From there on every step is
whole-column arithmetic on a table that is ordered by group and then by descending score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from frame_pr.checks import WEIGHT_BITS
from frame_pr.groups import TIES
from frame_pr.inputs import Rows
from frame_pr.totals import with_totals

SCORES = 2**65
"""Ordered scores, of Int64, UInt64 and Float64 alike, lie between -SCORES / 2 and SCORES / 2."""

_UNRETRIEVED = -(2**64)  # the order of a missing score, below all others
_FLIP = pl.lit(2**63 - 1, dtype=pl.Int64)
_FLOATS = (pl.Float32, pl.Float64)


def order_of(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Integer that orders as the score does, equal where the scores are equal."""
    if dtype in _FLOATS:
        zero = pl.lit(0.0, dtype=pl.Float64)  # -0.0 equals 0.0, but has other bits
        bits = pl.when(score == 0).then(zero).otherwise(score.cast(pl.Float64)).reinterpret(dtype=pl.Int64)
        return _flip_negative(bits).cast(pl.Int128)
    if dtype == pl.Decimal:
        return score.reinterpret(dtype=pl.Int128)
    return score.cast(pl.Int128)


def score_of(order: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Score that `order_of` gave this integer for."""
    if dtype in _FLOATS:
        return _flip_negative(order.cast(pl.Int64)).reinterpret(dtype=pl.Float64).cast(dtype)
    if dtype == pl.Decimal:
        return order.reinterpret(dtype=dtype)
    return order.cast(dtype)


def _flip_negative(bits: pl.Expr) -> pl.Expr:
    # Negative floats order backwards by their bits; its own inverse.
    return pl.when(bits >= 0).then(bits).otherwise(bits.xor(_FLIP))


def block_of(dtype: pl.DataType) -> pl.Expr:
    """Integer for the rows of one group that share one score; ascends by group, then by descending score, null last."""
    order = order_of(pl.col("score"), dtype).fill_null(_UNRETRIEVED)
    return pl.col("group").cast(pl.Int128) * SCORES + (SCORES // 2 - 1 - order)


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Largest value of a figure in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does; the group, negated, above them restarts the maximum at every
    group, so that it runs over the whole column at once.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    return (best + group).cast(pl.Int64).reinterpret(dtype=pl.Float64)


START = ("tp_before", "k_before", "positives_in_all", "rows_in_all", "later_precision")
"""What is known of a group that is one range of the scores of a larger one: counts at the scores above the range, the
totals of the larger one, and the largest precision at any threshold below the range."""


def curve(
    rows: Rows[Any],
    keep: Iterable[pl.Expr] | None = None,
    counts: Mapping[str, pl.Expr] | None = None,
) -> pl.LazyFrame:
    """Table of blocks, one row per distinct score of a group, by group and descending score.

    With a rule that orders the rows of equal score every row is a block. Columns: `group` and `block` (see `block_of`);
    `order` (the score as an integer) and `threshold`; the block's own `size`, `hits` and `count` (rows, whatever their
    weight); `tied`, whether its rows share their score with other rows; `k` and `tp` once it is taken; `positives` and
    `rows`, the totals of the group; `first`, `last` (in its group); `retrieved`; `interpolated_precision`; `reach`, the
    `tp` that is compared with a share of the positives. Columns that nobody asks for cost nothing: polars drops them.

    `keep`: None for every block; else only the steps (blocks with a positive), the last block of every group, and the
    blocks for which one of these conditions holds. Rows that are unretrieved are a last block, without `k` and `tp`.
    `counts`: more columns, the `count` of the blocks for which a condition holds; that of a block that is dropped is
    added to the next one that is kept.
    """
    counts = counts or {}
    unit, bits = _unit(rows), pl.col("bits")
    # Their bits tell groups apart; their numbers are computed where few blocks are left.
    group_bits, score_bits = bits & -(SCORES * unit), bits & (SCORES * unit - 1)
    # Running totals over the whole frame; a block's own numbers are differences of them, and so are a group's.
    blocks = (
        _running(rows)
        .with_columns(retrieved=score_bits != (SCORES - 1) * unit, last=_ends(group_bits), first=_starts(group_bits))
        .with_columns(
            order=pl.when("retrieved").then(SCORES // 2 - 1 - score_bits // unit),
            hits=pl.when("retrieved").then(_difference("tp_run")).otherwise(0),
            size=pl.when("retrieved").then(_difference("k_run")).otherwise(0),
            count=pl.when("retrieved").then(_difference("n_run")).otherwise(0),
        )
        .with_columns(threshold=score_of(pl.col("order"), rows.score_dtype))
    )
    blocks = blocks.with_columns(
        **{name: pl.when(condition).then("count").otherwise(0) for name, condition in counts.items()}
    )
    if keep is not None:
        blocks = blocks.with_columns(pl.col(list(counts)).cum_sum())
        blocks = blocks.filter(pl.any_horizontal(pl.col("hits") > 0, "last", *keep))
        blocks = blocks.with_columns(**{name: _difference(name) for name in counts})

    group = pl.col("group")
    blocks = blocks.with_columns(block=bits // unit, group=(bits // (SCORES * unit)).cast(pl.Int64).set_sorted())
    # The last block of a group always stays: where the next one starts, the row before holds what the runs began with.
    tp, k = (
        pl.col(run) - pl.when(_starts(group)).then(pl.col(run).shift(1, fill_value=0)).forward_fill()
        for run in ("tp_run", "k_run")
    )
    blocks = blocks.with_columns(tp=tp, k=k)
    blocks = blocks.with_columns(positives=_at_end("tp"), rows=_at_end("k"))
    if rows.fractional:
        weighed = ["hits", "size", "tp", "k", "positives", "rows"]
        blocks = blocks.with_columns(pl.col(weighed).cast(pl.Float64) / pl.col("unit"))
    if rows.starts is not None:
        blocks = blocks.join(rows.starts.select("group", *START), on="group", how="left", maintain_order="left")
        blocks = blocks.with_columns(
            tp=pl.col("tp") + pl.col("tp_before"),
            k=pl.col("k") + pl.col("k_before"),
            positives="positives_in_all",
            rows="rows_in_all",
        )
    blocks = blocks.with_columns(tp=pl.when("retrieved").then("tp"), k=pl.when("retrieved").then("k"))
    envelope = suffix_max(pl.col("tp") / pl.col("k"))
    if rows.starts is not None:
        envelope = pl.max_horizontal(envelope, "later_precision")
    # By the last bits of floats, tenths of the sum of ten equal weights may fall short of the sum of some of them.
    reach = pl.col("tp") * (1 + 1e-14) if rows.fractional else pl.col("tp")
    return with_totals(blocks, rows.totals).with_columns(interpolated_precision=envelope, reach=reach)


def _running(rows: Rows[Any]) -> pl.LazyFrame:
    """Sort, and run totals down the column: `bits`, `tp_run`, `k_run`, `n_run` (rows), `tied`; one row per block.

    One integer holds the group, the score, where there is one the place among equal scores, and the truth: a plain
    column is sorted, and nothing is gathered after it.
    """
    key, last_first = pl.col("key"), int(rows.ties == "optimistic")
    truth = (pl.col("truth").cast(pl.Int64) - last_first).abs()
    by_index = rows.weighted and not rows.ordered
    place = block_of(rows.score_dtype)
    if by_index:
        place = place * TIES + truth * (TIES // 2) + pl.int_range(pl.len())
    elif rows.ordered:
        place = place * TIES + pl.col("tie")
    place = place * 2 + truth
    # In the same time as the sort of a frame, and with less memory.
    in_order = place.map_batches(lambda keys: keys.sort(), return_dtype=pl.Int128)
    if by_index:
        # A sort beside other columns takes twice as long as a plain one and a gather by the index that it carries.
        index = ((key & (TIES - 1)) // 2).cast(pl.UInt32)
        table = rows.frame.select("weight", key=in_order).with_columns(pl.col("weight").gather(index))
    elif rows.weighted:
        table = rows.frame.select("weight", key=place).sort("key")
    else:
        table = rows.frame.select(key=in_order)
    truth = ((key & 1).cast(pl.Int64) - last_first).abs()
    table = table.with_columns(bits=key & -_unit(rows), place=key & -2, truth=truth)

    number = pl.int_range(1, pl.len() + 1)
    runs = {"tp_run": pl.col("truth").cum_sum(), "k_run": number, "n_run": number}
    if rows.weighted:
        weight = pl.col("weight")
        if rows.fractional:
            # Sums of floats depend on their order, and prefixes cancel: in fixed point they are exact. The unit is the
            # power of 2 with which the sum of all still fits.
            unit = pl.lit(2.0).pow(WEIGHT_BITS - pl.len().log(2).ceil() - weight.max().log(2).ceil())
            table = table.with_columns(unit=unit)
            weight = (weight * pl.col("unit")).cast(pl.Int128)
        runs |= {"tp_run": (pl.col("truth") * weight).cum_sum(), "k_run": weight.cum_sum()}
    bits = pl.col("bits")
    table = table.with_columns(**runs, tied=~(_starts(bits) & _ends(bits)))
    if rows.ties in ("optimistic", "pessimistic"):
        return table
    return table.filter(_ends(pl.col("place") if rows.ordered else bits))


def _unit(rows: Rows[Any]) -> int:
    """What the block is multiplied by in the sort key, to make room for the truth, and for a tie."""
    return 2 * TIES if rows.ordered or rows.weighted else 2


def _ends(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(-1)).fill_null(True)


def _starts(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(1)).fill_null(True)


def _difference(column: str) -> pl.Expr:
    return pl.col(column) - pl.col(column).shift(1, fill_value=0)


def _at_end(column: str) -> pl.Expr:
    return pl.when("last").then(column).backward_fill()
