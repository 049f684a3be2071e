"""Whole-column arithmetic on a table in order of group and descending score: differences, ends, running maxima."""

from __future__ import annotations

from functools import cache

import polars as pl


def starts(column: pl.Expr) -> pl.Expr:
    """Whether the value is another than that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Whether the value is another than that of the row after."""
    return (column != column.shift(-1)).fill_null(True)


def difference(run: str) -> pl.Expr:
    """What a running total rose by since the row before."""
    return pl.col(run) - pl.col(run).shift(1, fill_value=0)


def from_start(value: pl.Expr) -> pl.Expr:
    """The value of the first row of the group, in all of its rows."""
    return pl.when(starts(pl.col("group"))).then(value).forward_fill()


def from_last(value: pl.Expr) -> pl.Expr:
    """The value of the last row of the group, in all of its rows."""
    return pl.when("last").then(value).backward_fill()


def suffix_max(share: pl.Expr) -> pl.Expr:
    """Largest value of a figure in [0, 1] at this or any later row of the group.

    The bits of such a float order as the float does; the group, negated, above them restarts the maximum at every
    group, so that it runs over the whole column at once.
    """
    group = pl.col("group").cast(pl.Int128) * 2**64
    best = (share.reinterpret(dtype=pl.Int64) - group).cum_max(reverse=True)
    return (best + group).cast(pl.Int64).reinterpret(dtype=pl.Float64)


def suffix_sum(term: pl.Expr) -> pl.Expr:
    """Sum of a figure in [0, 1] over this and all later rows of the group.

    In fixed point, of which a total over the whole column loses nothing where another is taken from it.
    """
    unit = 2.0**80
    run = (term * unit).cast(pl.Int128).cum_sum()
    return (from_last(run) - run.shift(1, fill_value=0)).cast(pl.Float64) / unit


@cache
def running_figures(*, in_ranges: bool) -> dict[str, pl.Expr]:
    """Columns of blocks that follow from their `tp` and `k`, and from those of the blocks above or below them.

    `interpolated_precision`: the largest precision at this or any later threshold. `later_hits` and `later_misses`: the
    sums over this and later blocks of `hits / k` times the precision, and times what it lacks of 1; not in ranges.
    """
    precision = pl.col("tp") / pl.col("k")
    largest = suffix_max(precision)
    share = (pl.col("hits") / pl.col("k")).fill_null(0.0)
    return {
        "interpolated_precision": pl.max_horizontal(largest, "later_precision") if in_ranges else largest,
        "later_hits": suffix_sum(share * precision.fill_null(0.0)),
        "later_misses": suffix_sum(share * (1 - precision.fill_null(0.0))),
    }
