"""Bounds of a figure, from its standard error and the number of units that it was found from."""

from __future__ import annotations

from statistics import NormalDist

import polars as pl

from frame_pr.statistics.student_t import quantile


def plain(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """`value -+ t error`."""
    reach = quantile(confidence, df) * error
    return {"low": value - reach, "high": value + reach}


def of_share(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """The same on the scale of logits, for what lies between 0 and 1: `expit(logit m -+ t e / (m (1 - m)))`.

    At an end there is no spread. Yet n shares of mean mu are all 1 with a probability of at most mu^n.
    """
    reach = (quantile(confidence, df) * error / (value * (1 - value))).exp()
    least = pl.lit((1 - confidence) / 2).pow(1 / (df + 1))
    low, high = value / (value + (1 - value) * reach), value * reach / (value * reach + 1 - value)
    bounds = {
        "low": pl.when(value >= 1).then(least).when(value <= 0).then(0.0).otherwise(low),
        "high": pl.when(value >= 1).then(1.0).when(value <= 0).then(1 - least).otherwise(high),
    }
    return {name: pl.when(df > 0).then(bound) for name, bound in bounds.items()}


def of_proportion(value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Wilson's score interval of a proportion of n units."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    part = z * z / n
    middle, reach = value + part / 2, z * (value * (1 - value) / n + part / (4 * n)).sqrt()
    # At its ends exactly: the root is rounded.
    return {
        "low": pl.when(value > 0).then((middle - reach) / (1 + part)).when(value == 0).then(0.0),
        "high": pl.when(value < 1).then((middle + reach) / (1 + part)).when(value == 1).then(1.0),
    }
