"""Sums of reciprocals, for expectations over orders."""

from __future__ import annotations

import polars as pl

_SHIFT = 10
# Coefficients of 1/x^2, 1/x^4, ... in H(x) - ln(x) - Euler's constant - 1/(2x): -B(2i)/(2i), with Bernoulli numbers B.
_BERNOULLI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def harmonic_difference(start: pl.Expr, count: pl.Expr) -> pl.Expr:
    """1/(start+1) + ... + 1/(start+count), to the last bits for any start and count.

    The Euler-Maclaurin series of H(start+count) - H(start), taken 10 terms further on, where it has converged to 1e-16.
    What is large in it is written so that nothing cancels; what cancels in the rest is far below the last bit.
    """
    start = start.cast(pl.Float64)
    # The smallest first, as each addition rounds.
    near = sum((count / ((start + i) * (start + count + i)) for i in range(_SHIFT, 0, -1)), pl.lit(0.0))
    a, d = start + _SHIFT, count
    b = a + d
    series = (d / a).log1p() - d / (2 * a * b)
    return near + series + (_rest(b) - _rest(a))


def _rest(x: pl.Expr) -> pl.Expr:
    # From the inside out, so that the expression stays small: polars takes its time for each part of it.
    square, found = 1 / (x * x), pl.lit(0.0)
    for coefficient in reversed(_BERNOULLI):
        found = (found + coefficient) * square
    return found
