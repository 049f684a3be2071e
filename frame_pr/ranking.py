"""Canonical rows -> curve: the one place that sorts.

Group, score and truth are packed into one Int128 and sorted as plain integers: the cheapest sort polars has, whatever
the number and the size of the groups, and nothing has to be gathered afterwards. From there on every step is
whole-column arithmetic on a table that is ordered by group and then by descending score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from frame_pr.inputs import Rows
from frame_pr.totals import with_totals

SCORES = 2**65
"""Ordered scores, of Int64, UInt64 and Float64 alike, lie between -SCORES / 2 and SCORES / 2."""

_UNRETRIEVED = -(2**64)  # the order of a missing score, below all others
_ORDERED = ("optimistic", "pessimistic", "order")
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
    return pl.col("group").cast(pl.Int128) * SCORES - 1 - order


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Largest value of a figure in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does; the group, negated, above them restarts the maximum at every
    group, so that it runs over the whole column at once.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    return (best + group).cast(pl.Int64).reinterpret(dtype=pl.Float64)


def curve(rows: Rows[Any], keep: Iterable[pl.Expr] | None = None) -> pl.LazyFrame:
    """Table of blocks, one row per distinct score of a group, by group and descending score.

    With a rule that orders the rows of equal score every row is a block. Columns: `group` and `block` (see `block_of`);
    `order` (the score as an integer) and `threshold`; the block's own `size` and `hits`; `k` and `tp` once it is taken;
    `positives`, `rows` and `tied` (rows sharing a score), the totals of the group; `first`, `last` (in its group);
    `retrieved`; `interpolated_precision`. Columns that nobody asks for cost nothing: polars drops them.

    `keep`: None for every block; else only the steps (blocks with a positive), the last block of every group, and the
    blocks for which one of these conditions holds. Rows that are unretrieved are a last block, without `k` and `tp`.
    """
    group, retrieved = pl.col("group"), pl.col("order") != _UNRETRIEVED
    # Running totals over the whole frame; a block's own numbers are differences of them, and so are a group's.
    blocks = (
        _running(rows)
        .with_columns(group=((pl.col("block") + SCORES // 2) // SCORES).cast(pl.Int64))
        .with_columns(
            order=group.cast(pl.Int128) * SCORES - 1 - pl.col("block"), last=_ends(group), first=_starts(group)
        )
        .with_columns(
            retrieved=retrieved,
            threshold=score_of(pl.when(retrieved).then("order"), rows.score_dtype),
            hits=pl.when(retrieved).then(_difference("tp_run")).otherwise(0),
            size=pl.when(retrieved).then(_difference("k_run")).otherwise(0),
        )
    )
    one_row_each = rows.tie_break is not None or rows.ties in _ORDERED
    count = _difference("n_run") if rows.weighted else pl.col("size")
    tied = pl.col("tied") if one_row_each else count > 1
    blocks = blocks.with_columns(tied_run=pl.when(tied & pl.col("retrieved")).then(count).otherwise(0).cum_sum())
    if keep is not None:
        blocks = blocks.filter(pl.any_horizontal(pl.col("hits") > 0, "last", *keep))

    # The last block of a group always stays: where the next one starts, the row before holds what the runs began with.
    tp, k, tied = (
        pl.col(run) - pl.when(_starts(group)).then(pl.col(run).shift(1, fill_value=0)).forward_fill()
        for run in ("tp_run", "k_run", "tied_run")
    )
    blocks = blocks.with_columns(tp=tp, k=k, tied=tied, group=group.set_sorted()).with_columns(
        positives=_at_end("tp"), rows=_at_end("k"), tied=_at_end("tied")
    )
    if rows.fractional:
        amounts = pl.col("hits", "size", "tp", "k", "positives", "rows")
        blocks = blocks.with_columns(amounts.cast(pl.Float64) / pl.col("unit"))
    blocks = blocks.with_columns(tp=pl.when("retrieved").then("tp"), k=pl.when("retrieved").then("k"))
    envelope = suffix_max(pl.col("tp") / pl.col("k"))
    return with_totals(blocks, rows.totals).with_columns(interpolated_precision=envelope)


def _running(rows: Rows[Any]) -> pl.LazyFrame:
    """Sort, and run totals down the column: `block`, `tp_run`, `k_run`, `n_run` (rows), `tied`; one row per block."""
    block, truth = pl.col("block"), pl.col("truth").cast(pl.Int64)
    place = block_of(rows.score_dtype)
    payload = ["weight"] if rows.weighted else []
    new_block = _ends(block)
    if rows.tie_break is not None:
        table = rows.frame.select("tie_break", *payload, block=place, truth=truth)
        # Two stable sorts of one column each take half the time of one sort by both.
        table = table.sort("tie_break", descending=rows.tie_break, nulls_last=True).sort("block", maintain_order=True)
        new_block |= pl.col("tie_break").ne_missing(pl.col("tie_break").shift(-1))
    elif rows.ties == "order":
        table = rows.frame.select(*payload, block=place, truth=truth).sort("block", maintain_order=True)
    else:
        # One integer holds group, score and truth: a plain column is sorted, and nothing is gathered after it.
        key, last_first = pl.col("key"), int(rows.ties == "optimistic")
        table = rows.frame.select(*payload, key=place * 2 + (truth - last_first).abs()).sort("key")
        table = table.select(*payload, block=key // 2, truth=((key & 1).cast(pl.Int64) - last_first).abs())

    number = pl.int_range(1, pl.len() + 1)
    runs = {"tp_run": pl.col("truth").cum_sum(), "k_run": number, "n_run": number}
    if rows.weighted:
        weight = pl.col("weight")
        if rows.fractional:
            # Sums of floats depend on their order, and prefixes cancel: in fixed point, 90 bits below the largest
            # weight, they are exact. The unit is a power of 2.
            table = table.with_columns(unit=pl.lit(2.0).pow(90 - weight.max().log(2).floor()))
            weight = (weight * pl.col("unit")).cast(pl.Int128)
        runs |= {"tp_run": (pl.col("truth") * weight).cum_sum(), "k_run": weight.cum_sum()}
    table = table.with_columns(**runs, tied=~(_starts(block) & _ends(block)))
    return table if rows.ties in _ORDERED else table.filter(new_block)


def _ends(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(-1)).fill_null(True)


def _starts(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(1)).fill_null(True)


def _difference(column: str) -> pl.Expr:
    return pl.col(column) - pl.col(column).shift(1, fill_value=0)


def _at_end(column: str) -> pl.Expr:
    return pl.when("last").then(column).backward_fill()
