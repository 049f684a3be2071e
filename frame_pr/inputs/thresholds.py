"""Which scores reach a threshold, in the type that the scores have."""

from __future__ import annotations

import struct
from fractions import Fraction
from math import ceil, floor, inf, isinf, nextafter

import polars as pl

from frame_pr.inputs.sort_keys import SortKey

_FORMATS = {pl.Float16: "e", pl.Float32: "f", pl.Float64: "d"}


def code_reached(threshold: Fraction | float, key: SortKey) -> int | pl.Expr:
    """The code (`sort_keys.score_code`) of the worst score that reaches the threshold.

    Scores that are whole or decimal are compared exactly. Floats are compared in their own type, in which 0.1 is as
    near to 0.1 as it gets; a threshold that this type would make infinite is compared exactly, too. Where the
    code is not the same for all systems, it is an expression of `group`, whose number tells the system.
    """
    worst = [worst_reached(threshold, dtype, ascending=key.ascending) for dtype in key.own_dtypes]
    codes = [_code(value, key.dtype, ascending=key.ascending) for value in worst]
    if len(set(codes)) == 1:
        return codes[0]
    return pl.lit(pl.Series(codes, dtype=pl.Int128)).gather(pl.col("group") % len(codes))


def worst_reached(threshold: Fraction | float, dtype: pl.DataType, *, ascending: bool) -> float | Fraction:
    """The worst value of this type that reaches the threshold."""
    if isinf(threshold):
        return threshold
    if dtype.is_float():
        rounded = _nearest(threshold, dtype)
        return _inwards(rounded, threshold, dtype, ascending=ascending) if isinf(rounded) else rounded
    scaled = Fraction(threshold) * _unit(dtype)
    return Fraction(floor(scaled) if ascending else ceil(scaled), _unit(dtype))


def _code(value: float | Fraction, dtype: pl.DataType, *, ascending: bool) -> int:
    """The code of this value, or of the nearest one that it lets in; one beyond all codes, if there is none."""
    lowest, highest = -(2**63) - 1, 2**64
    if dtype.is_float():
        rounded = _inwards(_nearest(value, pl.Float64()), value, pl.Float64(), ascending=ascending)
        bits = int(struct.unpack("q", struct.pack("d", rounded + 0.0))[0])  # -0.0 is 0.0
        return bits if bits >= 0 else -(2**63) + ~bits
    if isinstance(value, float) and isinf(value):
        return highest if value > 0 else lowest
    scaled = Fraction(value) * _unit(dtype)
    return min(max(floor(scaled) if ascending else ceil(scaled), lowest), highest)


def _unit(dtype: pl.DataType) -> int:
    """How many of the smallest steps of this type make 1."""
    return int(10**dtype.scale) if isinstance(dtype, pl.Decimal) else 1


def _nearest(value: float | Fraction, dtype: pl.DataType) -> float:
    try:
        packed = struct.pack(_format(dtype), float(value))
    except OverflowError:
        return inf if value > 0 else -inf
    nearest: float = struct.unpack(_format(dtype), packed)[0]
    return nearest


def _inwards(rounded: float, value: float | Fraction, dtype: pl.DataType, *, ascending: bool) -> float:
    """The float itself, or its neighbour where it lies on the side of the value that does not reach it."""
    outside = rounded > value if ascending else rounded < value
    if not outside:
        return rounded
    if dtype == pl.Float64:
        return nextafter(rounded, -inf if ascending else inf)
    whole = "H" if dtype == pl.Float16 else "I"
    (bits,) = struct.unpack(whole, struct.pack(_format(dtype), rounded))
    sign = 1 << (8 * struct.calcsize(whole) - 1)
    place = (bits if bits < sign else sign - bits) + (-1 if ascending else 1)
    bits = place if place >= 0 else sign - place
    neighbour: float = struct.unpack(_format(dtype), struct.pack(whole, bits))[0]
    return neighbour


def _format(dtype: pl.DataType) -> str:
    return next(code for kind, code in _FORMATS.items() if dtype == kind)
