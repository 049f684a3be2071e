"""What adds up over rows: hits and rows, each row counting as one or by its weight; and what a weight may be."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, frexp, log2
from typing import NamedTuple

import polars as pl

from frame_pr.frames.messages import pluralize, shown

_BITS = 118
"""Bits of the sum of all weights of a group, where they are floats; a hundred times as much still fits an Int128."""
_PRECISION = 40
"""Bits that the smallest of them has at least: a relative error of 1e-12."""
_DIGITS = 53
"""Bits of a float."""
_ENDS = 1e-100, 1e100
"""The weights that are taken, beside 0."""


class Mass(NamedTuple):
    """The columns that hold a count of hits or rows, or the sum of their weights."""

    block: str
    """In the block alone."""
    upto: str
    """In the group, up to the end of the block."""
    total: str
    """In the whole group."""
    run: str
    """Down the whole column, over all groups."""
    before: str
    """At the scores above the range, if the group is a range of the scores of a larger group."""
    in_all: str
    """In the whole larger group."""


COLUMNS = ("weight", "gain")
"""What a caller may give of each row, beside how many rows it stands for."""
_MOST = 2**56


EXTRA_SUMS = ("gain", "judged")
"""What is added up of the rows of a block, and not run down the ranking."""


HITS = Mass("hits", "tp", "positives", run="tp_run", before="tp_before", in_all="positives_in_all")
ROWS = Mass("size", "k", "rows", run="k_run", before="k_before", in_all="rows_in_all")
MASSES = (HITS, ROWS)


UNIT = pl.col("unit").fill_null(2.0**40)
"""What a plain number is multiplied by in fixed point; a group without rows has no own."""


class Weights(NamedTuple):
    """How much a row counts, or how much it is worth."""

    name: str | None
    """The caller's column, which is here `weight` or `gain`; without one, each row counts as one."""
    fractional: bool
    """Whether they are floats. Their sums depend on their order, and prefixes cancel: so all masses are in fixed point,
    in units of 1 / `unit` of the group, and become floats when nothing is subtracted from them any more."""

    @property
    def ranks(self) -> bool:
        """Whether the k-th row means anything."""
        return self.name is None

    @property
    def dtype(self) -> pl.DataType:
        """That of known sums of masses."""
        return pl.Float64() if self.fractional else pl.Int64()


def in_units(mass: pl.Expr, unit: pl.Expr) -> pl.Expr:
    """Weights, or gains, as whole numbers."""
    return (mass * unit).cast(pl.Int128)


def refuse_lost(columns: Sequence[pl.Series], argument: str, name: str) -> pl.Series:
    """The units of weights, or gains, of which the smallest must have some bits left."""
    masses, units = columns
    if (lost := (masses > 0) & (masses * units < 2**_PRECISION)).any():
        value = masses.filter(lost)[0]
        raise ValueError(
            f"{argument} column {shown(name)} has a value of {value!r} in a group of {argument}s, or of a known "
            "total, so much larger that sums would not be exact: drop the smallest, or take them apart"
        )
    return units


def exact_unit(masses: pl.Series, rows: int) -> float | None:
    """The unit in which all of these fit, and the sum of so many, without the loss of a bit; None if there is none."""
    ends = [frexp(end)[1] for end in (masses.filter(masses > 0).min(), masses.max()) if isinstance(end, float)]
    bits = max(ends, default=0) + ceil(log2(max(rows, 1)))
    return 2.0 ** (_BITS - bits) if bits - min(ends, default=bits) + _DIGITS <= _BITS else None


def exponent(weight: pl.Expr) -> pl.Expr:
    """The power of 2 that a weight is below of; of 0, less than that of any other."""
    return weight.reinterpret(dtype=pl.Int64) // 2**52 - 1022


def bits_of_sum(exponent: pl.Expr, rows: pl.Expr) -> pl.Expr:
    """The power of 2 that the sum of so many weights is below of."""
    return exponent + rows.cast(pl.Float64).log(2).ceil().cast(pl.Int64)


def bits_beside(bits: pl.Expr, totals: Sequence[str]) -> pl.Expr:
    """The same, where known totals may be larger, and be added up."""
    exponents = [exponent(pl.col(total).cast(pl.Float64)).fill_null(0) + 1 for total in totals]
    return pl.max_horizontal(bits, *exponents) if exponents else bits


def unit_of(bits: pl.Expr) -> pl.Expr:
    """The power of 2 in which numbers below 2**bits just fit."""
    # As the bits of a float: exact.
    return (((_BITS - bits).clip(-1022, 1023) + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def how_many(*, has_counts: bool) -> pl.Expr:
    """The number of rows, aggregated; `counted`: where a row stands for `count` rows."""
    return pl.col("count").sum() if has_counts else pl.len().cast(pl.Int64)


def check_counts(name: str, counts: pl.Series) -> None:
    """Counts are there, whole and not negative, and their sum fits."""
    column, floats = f"count column {shown(name)}", counts.cast(pl.Float64).fill_nan(None)
    if missing := floats.null_count():
        of_all = pluralize(len(counts), "value", "values")
        raise ValueError(f"{column} has {missing} missing of {of_all}: fill them, 0 stands for no row")
    if (bad := counts.filter((floats < 0) | (floats % 1 != 0) | floats.is_infinite())).len():
        raise ValueError(
            f"{column} holds {shown(bad[0])}: a row stands for a whole number of rows, 0 or more; weight= takes others"
        )
    if counts.cast(pl.Int128, strict=False).sum() > _MOST or floats.sum() > 2 * _MOST:
        raise ValueError(f"{column} sums up to more than 2**56 rows: evaluate the frame in parts")


def check_masses(
    argument: str, name: str, masses: pl.Series, truth: pl.Series, counts: pl.Series | None = None
) -> None:
    """Weights, or gains, are there, finite and not negative; a gain may be missing where the truth is."""
    column, lacking = f"{argument} column {shown(name)}", masses.is_null()
    if masses.dtype.is_float():
        lacking |= masses.is_nan()
    if argument == "gain":
        lacking &= truth.is_not_null() & (truth.is_not_nan() if truth.dtype.is_float() else True)
    if missing := lacking.sum():
        way = "fill them, 0 leaves out" if argument == "weight" else "fill them, 0 is worth nothing"
        where = "" if argument == "weight" else ", in rows that have a truth"
        raise ValueError(f"{column} has {missing} missing of {pluralize(len(masses), 'value', 'values')}{where}: {way}")
    floats = masses.cast(pl.Float64).fill_nan(None)
    if (bad := masses.filter((floats < 0) | floats.is_infinite())).len():
        raise ValueError(f"{column} has values below 0 or infinite, such as {shown(bad[0])}: {argument}s are >= 0")
    if masses.dtype.is_integer():
        # Exactly; of what is more than an Int128 holds, in floats.
        each, about = masses.cast(pl.Int128, strict=False), floats
        if counts is not None:
            each, about = each * counts.cast(pl.Int128), about * counts.cast(pl.Float64)
        if about.sum() > 2 * _MOST or each.sum() > _MOST:
            raise ValueError(f"{column} sums up to more than 2**56: cast it to Float64")
    elif (odd := masses.filter((floats > 0) & ~floats.is_between(*_ENDS))).len():
        raise ValueError(
            f"{column} has values such as {odd[0]!r}: multiply it by a constant, so that all lie "
            "between 1e-100 and 1e100, which changes no share"
        )
