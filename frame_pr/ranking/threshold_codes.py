"""Thresholds as integer codes that scores are compared with."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, copysign, floor, inf, isinf, nextafter
from sys import float_info
from typing import Any

import polars as pl

from frame_pr.ranking.sort_keys import SortKey

_FLOATS: Mapping[Any, tuple[str, float]] = {
    pl.Float16: ("e", 65504.0),
    pl.Float32: ("f", 2.0**128 - 2.0**104),
    pl.Float64: ("d", float_info.max),
}
"""The format of `struct` and the largest finite value of each dtype."""
_BELOW = -(2**63) - 1
_ABOVE = 2**64
"""Codes worse or better than those of all integers."""


def code_reached(threshold: Fraction | float, key: SortKey) -> pl.Expr:
    """Return the code (`sort_keys.score_code`) of the worst score that reaches the threshold.

    Integer and decimal scores are compared exactly. Floats are compared in their own dtype, in
    which 0.1 is the nearest float to 0.1; a threshold that this dtype would make infinite is
    compared exactly too. If the dtypes of the systems' scores give several codes, the result
    looks up the code by the number of the group: groups of n systems are numbered so that
    `group % n` is the system.
    """
    codes: list[int] = []
    for dtype in key.score_dtypes:
        worst = worst_reached(threshold, dtype, ascending=key.ascending)
        code = _code(worst, key.dtype, ascending=key.ascending)
        codes.append(code)
    if len(set(codes)) == 1:
        return pl.lit(codes[0], dtype=pl.Int128)
    code_of_system = pl.lit(pl.Series(codes, dtype=pl.Int128))
    return code_of_system.gather(pl.col("group") % len(codes))


def worst_reached(
    threshold: Fraction | float, dtype: pl.DataType, *, ascending: bool
) -> float | Fraction:
    """Return the worst value of this dtype that reaches the threshold."""
    if isinf(threshold):
        return threshold

    if dtype.is_float():
        struct_format, largest = _FLOATS[dtype.base_type()]
        nearest = _nearest(threshold, struct_format)
        if isinf(nearest) and (nearest > 0) == ascending:
            # The threshold is beyond the range of the dtype, and the largest value reaches it.
            return copysign(largest, nearest)
        return nearest

    unit = _unit(dtype)
    scaled = Fraction(threshold) * unit
    steps = floor(scaled) if ascending else ceil(scaled)
    return Fraction(steps, unit)


def _code(value: float | Fraction, dtype: pl.DataType, *, ascending: bool) -> int:
    """Return the code of this value, or of the nearest better one.

    A code beyond all others if there is none.
    """
    if dtype.is_float():
        return _code_of_float(value, ascending=ascending)
    if isinstance(value, float) and isinf(value):
        return _ABOVE if value > 0 else _BELOW

    scaled = Fraction(value) * _unit(dtype)
    code = floor(scaled) if ascending else ceil(scaled)
    return min(max(code, _BELOW), _ABOVE)


def _code_of_float(value: float | Fraction, *, ascending: bool) -> int:
    """Return the code of this value, or of the nearest better float."""
    nearest = _nearest(value, "d")
    if ascending and nearest > value:
        nearest = nextafter(nearest, -inf)
    elif not ascending and nearest < value:
        nearest = nextafter(nearest, inf)

    nearest += 0.0  # Replace -0.0 by 0.0.
    packed = struct.pack("d", nearest)
    bits = int(struct.unpack("q", packed)[0])
    if bits < 0:
        return -(2**63) - bits
    return bits


def _unit(dtype: pl.DataType) -> int:
    """Return how many of the smallest steps of this dtype make 1."""
    if isinstance(dtype, pl.Decimal):
        return int(10**dtype.scale)
    return 1


def _nearest(value: float | Fraction, struct_format: str) -> float:
    """Return the nearest float of this format; an infinite one if the value is beyond its range."""
    try:
        packed = struct.pack(struct_format, float(value))
    except OverflowError:
        return inf if value > 0 else -inf
    return float(struct.unpack(struct_format, packed)[0])
