"""Canonical rows -> curve: the one place that sorts.

Group, score and truth are packed into one Int128 and sorted as plain integers: the cheapest sort polars has, whatever
the number and the size of the groups, and nothing has to be gathered afterwards. From there on every step is
whole-column arithmetic on a table that is ordered by group and then by descending score.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

SCORES = 2**65
"""Ordered scores, of Int64, UInt64 and Float64 alike, lie between -SCORES / 2 and SCORES / 2."""

_FLIP = pl.lit(2**63 - 1, dtype=pl.Int64)
_FLOATS = (pl.Float32, pl.Float64)


def order_of(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Integer that orders as the score does, equal where the scores are equal."""
    if dtype in _FLOATS:
        bits = (score.cast(pl.Float64) + 0.0).reinterpret(dtype=pl.Int64)  # -0.0 + 0.0 is 0.0
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
    """Integer for the rows of one group that share one score; ascends by group, then by descending score."""
    return pl.col("group").cast(pl.Int128) * SCORES - 1 - order_of(pl.col("score"), dtype)


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Largest value of a figure in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does; the group, negated, above them restarts the maximum at every
    group, so that it runs over the whole column at once.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    return (best + group).cast(pl.Int64).reinterpret(dtype=pl.Float64)


def curve(rows: pl.LazyFrame, dtype: pl.DataType, keep: Iterable[pl.Expr] | None = None) -> pl.LazyFrame:
    """Table of blocks, one row per distinct score of a group, by group and descending score.

    Columns: `group` and `block` (see `block_of`); `order` (the score as an integer) and `threshold`; the block's own
    `size` and `hits`; `k` and `tp` once it is taken; `positives`, `rows` and `tied` (rows sharing a score), the
    totals of the group; `first`, `last` (in its group); `interpolated_precision`. Columns that nobody asks for
    cost nothing: polars leaves them out of the plan.

    `keep`: None for every block; else only the steps (blocks with a positive), the last block of every group, and the
    blocks for which one of these conditions holds.
    """
    key, group = pl.col("key"), pl.col("group")
    # Running totals over the whole frame; a block's own numbers are differences of them, and so are a group's.
    blocks = (
        rows.select(key=block_of(dtype) * 2 + pl.col("truth"))
        .sort("key")
        .select(block=key // 2, tp_run=(key & 1).cast(pl.Int64).cum_sum(), k_run=pl.int_range(1, pl.len() + 1))
        .filter(_ends(pl.col("block")))
        .with_columns(group=((pl.col("block") + SCORES // 2) // SCORES).cast(pl.Int64))
        .with_columns(
            order=group.cast(pl.Int128) * SCORES - 1 - pl.col("block"),
            hits=_difference("tp_run"),
            size=_difference("k_run"),
            last=_ends(group),
            first=_starts(group),
        )
        .with_columns(
            tied_run=pl.when(pl.col("size") > 1).then("size").otherwise(0).cum_sum(),
            threshold=score_of(pl.col("order"), dtype),
        )
    )
    if keep is not None:
        blocks = blocks.filter(pl.any_horizontal(pl.col("hits") > 0, "last", *keep))

    runs = ("tp_run", "k_run", "tied_run")
    # The last block of a group always stays: where the next one starts, the row before holds what the runs began with.
    starts = [pl.when(_starts(group)).then(pl.col(run).shift(1, fill_value=0)).forward_fill() for run in runs]
    tp, k, tied = (pl.col(run) - start for run, start in zip(runs, starts, strict=True))
    return (
        blocks.with_columns(tp=tp, k=k, tied=tied, group=group.set_sorted())
        .with_columns(positives=_at_end("tp"), rows=_at_end("k"), tied=_at_end("tied"))
        .with_columns(interpolated_precision=suffix_max(pl.col("tp") / pl.col("k")))
        .drop(runs)
    )


def _ends(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(-1)).fill_null(True)


def _starts(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(1)).fill_null(True)


def _difference(column: str) -> pl.Expr:
    return pl.col(column) - pl.col(column).shift(1, fill_value=0)


def _at_end(column: str) -> pl.Expr:
    return pl.when("last").then(column).backward_fill()
