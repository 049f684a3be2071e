"""Bounds of a figure, from its standard error and the number of units that it was found from."""

from __future__ import annotations

from statistics import NormalDist

import polars as pl

from frame_pr.statistics.student_t import quantile

ROUNDING = 1e-12
"""So close to 0 or 1 a mean of shares is taken for 0 or 1, from which sums of floats differ by their last bits."""


def of_number(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """`value -+ t error`; null without an error."""
    reach = quantile(confidence, df) * error
    return {"low": value - reach, "high": value + reach}


def of_share(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """The same on the scale of logits, for what lies between 0 and 1: `expit(logit m -+ t e / (m (1 - m)))`.

    At 0 and at 1 there is no spread. Yet n shares of mean mu are all 1 with a probability of at most mu^n.
    """
    all_0, all_1 = value <= ROUNDING, value >= 1 - ROUNDING
    # The exponential of a negative number: that of a positive one may be infinite.
    shrink = (-quantile(confidence, df) * error / (value * (1 - value))).exp()
    least = pl.lit((1 - confidence) / 2).pow(1 / (df + 1))
    low, high = value * shrink / (value * shrink + 1 - value), value / (value + (1 - value) * shrink)
    low = pl.when(all_1).then(least).when(all_0).then(0.0).otherwise(low)
    high = pl.when(all_1).then(1.0).when(all_0).then(1 - least).otherwise(high)
    sides = around(value, low, high)
    return {name: pl.when(error.is_not_null() & (df > 0)).then(side) for name, side in sides.items()}


def of_proportion(value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Wilson's score interval of a proportion of n units."""
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    part = z * z / n
    middle, reach = value + part / 2, z * (value * (1 - value) / n + part / (4 * n)).sqrt()
    # At its ends exactly: the root is rounded.
    return {
        "low": pl.when(value > 0).then((middle - reach) / (1 + part)).when(value == 0).then(0.0),
        "high": pl.when(value < 1).then((middle + reach) / (1 + part)).when(value == 1).then(1.0),
    }


def around(value: pl.Expr, low: pl.Expr, high: pl.Expr) -> dict[str, pl.Expr]:
    """Bounds between which the value lies, also where they are so close that rounding puts one on the wrong side."""
    return {"low": pl.min_horizontal(value, low), "high": pl.max_horizontal(value, high)}
