"""Canonical rows -> curve: the one place that sorts.

Group, score and truth are packed into one Int128 and sorted as plain integers: the cheapest sort polars has, whatever
the number and the size of the groups, and nothing has to be gathered afterwards. From there on every step is
whole-column arithmetic on a table that is ordered by group and then by descending score.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
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
    *,
    steps: bool = False,
    first: bool = False,
    k_at: Mapping[str, float] = MappingProxyType({}),
) -> pl.LazyFrame:
    """Table of blocks, one row per distinct score of a group, by group and descending score.

    With a rule that orders the rows of equal score every row is a block. Columns: `group` and `block` (see `block_of`);
    `order` (the score as an integer) and `threshold`; the block's own `size` and `hits`; `k` and `tp` once it is taken;
    `ties`, how many rows since the block before it (whatever their weight) share their score with another; `positives`
    and `rows`, the totals of the group; `first`, `last` (in its group); `retrieved`; `interpolated_precision`; `reach`,
    the `tp` that is compared with a share of the positives. Columns that nobody asks for cost nothing: polars drops
    them. Rows that are unretrieved are a last block, whose `order`, `threshold`, `k` and `tp` are null.

    `steps`: only blocks with a positive, and the last one of every group. `first`: also the first one of every group.
    `k_at`: more columns, the k at a threshold as far as the block, 0 where no block above it reaches the threshold.
    """
    dtype = rows.score_dtype
    room, bits = _room(rows), pl.col("bits")
    # Their bits tell groups apart; their numbers are computed where few blocks are left.
    group_bits, score_bits = bits & -(SCORES * room), _score_bits(room)

    def if_retrieved(value: pl.Expr) -> pl.Expr:
        # Most frames have no other rows, and a test of every block takes its time.
        return pl.when("retrieved").then(value) if rows.unretrieved else value

    # Running totals over the whole frame; a block's own numbers are differences of them, and so are a group's.
    blocks = (
        _running(rows)
        .with_columns(last=_ends(group_bits), first=_starts(group_bits))
        .with_columns(hits=_difference("tp_run"), size=_difference("k_run"))
    )
    order = if_retrieved(SCORES // 2 - 1 - score_bits // room)

    def reaches(threshold: float) -> pl.Expr:
        if dtype not in _FLOATS:
            return score_of(order, dtype) >= threshold
        # Most scores are floats, and to decode all of them takes its time.
        return score_bits < (SCORES // 2 - order_of(pl.lit(threshold, dtype=dtype), dtype)) * room

    blocks = blocks.with_columns(
        **{name: pl.when(reaches(t)).then("k_run").otherwise(0).cum_max() for name, t in k_at.items()}
    )
    if steps:
        blocks = blocks.filter(pl.any_horizontal(pl.col("hits") > 0, "last", *(["first"] if first else [])))

    group = pl.col("group")
    blocks = blocks.with_columns(
        block=bits // room,
        group=(bits // (SCORES * room)).cast(pl.Int64).set_sorted(),
        order=order,
        threshold=score_of(order, dtype),
        ties=_difference("ties_run"),
    )
    # The last block of a group always stays: where the next one starts, the row before holds what the runs began with.
    tp_start, k_start = (
        pl.when(_starts(group)).then(pl.col(run).shift(1, fill_value=0)).forward_fill() for run in ("tp_run", "k_run")
    )
    blocks = blocks.with_columns(
        tp=pl.col("tp_run") - tp_start,
        k=pl.col("k_run") - k_start,
        **{name: (pl.col(name) - k_start).clip(0) for name in k_at},
    )
    blocks = blocks.with_columns(positives=_at_end("tp"), rows=_at_end("k"))
    if rows.fractional:
        weighed = ["hits", "size", "tp", "k", "positives", "rows", *k_at]
        blocks = blocks.with_columns(pl.col(weighed).cast(pl.Float64) / pl.col("unit"))
    if rows.starts is not None:
        blocks = blocks.join(rows.starts.select("group", *START), on="group", how="left", maintain_order="left")
        blocks = blocks.with_columns(
            tp=pl.col("tp") + pl.col("tp_before"),
            k=pl.col("k") + pl.col("k_before"),
            positives="positives_in_all",
            rows="rows_in_all",
            **{name: pl.when(pl.col(name) > 0).then(pl.col(name) + pl.col("k_before")).otherwise(0) for name in k_at},
        )
    blocks = blocks.with_columns(tp=if_retrieved(pl.col("tp")), k=if_retrieved(pl.col("k")))
    envelope = suffix_max(pl.col("tp") / pl.col("k"))
    if rows.starts is not None:
        envelope = pl.max_horizontal(envelope, "later_precision")
    # By the last bits of floats, tenths of the sum of ten equal weights may fall short of the sum of some of them.
    reach = pl.col("tp") * (1 + 1e-14) if rows.fractional else pl.col("tp")
    return with_totals(blocks, rows.totals).with_columns(interpolated_precision=envelope, reach=reach)


def _running(rows: Rows[Any]) -> pl.LazyFrame:
    """Sort, and run totals down the column: `bits`, `tp_run`, `k_run`, `ties_run`, `retrieved`; one row per block.

    One integer holds the group, the score, where there is one the place among equal scores, and the truth: a plain
    column is sorted, and nothing is gathered after it.
    """
    key, room = pl.col("key"), _room(rows)

    def bit(truth: pl.Expr) -> pl.Expr:
        # Its own inverse. The smaller comes first.
        return 1 - truth.cast(pl.Int64) if rows.ties == "optimistic" else truth.cast(pl.Int64)

    by_index = rows.weighted and not rows.ordered
    frame, place = rows.frame, block_of(rows.score_dtype)
    if by_index:
        frame = frame.with_row_index("row")
        place = place * TIES + bit(pl.col("truth")) * (TIES // 2) + pl.col("row")
    elif rows.ordered:
        place = place * TIES + pl.col("tie")
    place = place * 2 + bit(pl.col("truth"))
    # In the same time as the sort of a frame, and with less memory.
    in_order = place.map_batches(lambda keys: keys.sort(), return_dtype=pl.Int128)
    # Sums of floats depend on their order, and prefixes cancel: in fixed point they are exact. The unit is the power of
    # 2 with which the sum of all still fits.
    weight = pl.col("weight")
    unit = pl.lit(2.0).pow(WEIGHT_BITS - pl.len().log(2).ceil() - weight.max().log(2).ceil())
    fixed_point = {"unit": unit} if rows.fractional else {}
    if by_index:
        # A sort beside other columns takes twice as long as a plain one and a gather by the index that it carries.
        index = ((key & (TIES - 1)) // 2).cast(pl.UInt32)
        table = frame.select("weight", key=in_order, **fixed_point).with_columns(weight.gather(index))
    elif rows.weighted:
        table = frame.select("weight", key=place, **fixed_point).sort("key")
    else:
        table = frame.select(key=in_order)
    # No int_range: to know how far it goes, the streaming engine would hold the whole table back.
    table = table.with_row_index("row", 1).with_columns(bits=key & -room, place=key & -2, truth=bit(key & 1))
    runs = {"tp_run": pl.col("truth").cum_sum(), "k_run": pl.col("row").cast(pl.Int64)}
    if rows.weighted:
        if rows.fractional:
            weight = (weight * pl.col("unit")).cast(pl.Int128)
        runs |= {"tp_run": (pl.col("truth") * weight).cum_sum(), "k_run": weight.cum_sum()}
    bits = pl.col("bits")
    retrieved = _score_bits(room) != (SCORES - 1) * room if rows.unretrieved else pl.lit(True)
    tied = ~(_starts(bits) & _ends(bits)) & retrieved
    table = table.with_columns(**runs, ties_run=tied.cast(pl.Int64).cum_sum(), retrieved=retrieved)
    if rows.ties in ("optimistic", "pessimistic"):
        return table
    return table.filter(_ends(pl.col("place") if rows.ordered else bits))


def _room(rows: Rows[Any]) -> int:
    """What the block is multiplied by in the sort key, to make room for the truth, and for a tie."""
    return 2 * TIES if rows.ordered or rows.weighted else 2


def _score_bits(room: int) -> pl.Expr:
    return pl.col("bits") & (SCORES * room - 1)


def _ends(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(-1)).fill_null(True)


def _starts(column: pl.Expr) -> pl.Expr:
    return (column != column.shift(1)).fill_null(True)


def _difference(column: str) -> pl.Expr:
    return pl.col(column) - pl.col(column).shift(1, fill_value=0)


def _at_end(column: str) -> pl.Expr:
    return pl.when("last").then(column).backward_fill()
