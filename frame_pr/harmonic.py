"""Sums of reciprocals, for expectations over orders."""

from __future__ import annotations

import polars as pl

_SHIFT = 10
# Coefficients of 1/x^2, 1/x^4, ... in H(x) - ln(x) - Euler's constant - 1/(2x): -B(2i)/(2i), with Bernoulli numbers B.
_BERNOULLI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)


def harmonic_difference(start: pl.Expr, count: pl.Expr) -> pl.Expr:
    """1/(start+1) + ... + 1/(start+count), to the last bits for any start and count.

    The Euler-Maclaurin series of H(start+count) - H(start), taken 10 terms further on, where it has converged to 1e-15;
    every difference in it is written so that nothing cancels.
    """
    start, count = start.cast(pl.Float64), count.cast(pl.Float64)
    near = sum((count / ((start + i) * (start + count + i)) for i in range(1, _SHIFT + 1)), pl.lit(0.0))
    a, d = start + _SHIFT, count
    b = a + d
    series = (d / a).log1p() - d / (2 * a * b)
    # y^i - x^i = (y - x) (sum of y^j x^(i-1-j))
    x, y = a**-2, b**-2
    factor = -d * (a + b) * x * y
    powers = [pl.lit(1.0)]
    for i in range(1, len(_BERNOULLI)):
        powers.append(powers[-1] * x + y**i)
    correction = sum((c * p for c, p in zip(_BERNOULLI, powers, strict=True)), pl.lit(0.0))
    return near + series + factor * correction
