"""Student's t and the normal distribution: quantiles, p-values, and confidence bounds from a standard error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from math import pi

import polars as pl

ROUNDING = 1e-12
"""A mean of shares this close to 0 or 1 counts as 0 or 1: sums of floats are off by their last bits."""
_FURTHER = 10
"""Rows of each class that have the variance of a model in the interval of ROC AUC; decision record 6 has the reason."""
_HALVINGS = 50
_TABLE = 200
"""Up to this many degrees of freedom, solve for quantiles; above, a series in 1/df is as accurate."""


def quantile(confidence: float, df: pl.Expr) -> pl.Expr:
    """Return the value that |t| does not exceed with this probability."""
    solved = pl.lit(_solved(confidence)).gather(df.clip(1, _TABLE) - 1)
    return pl.when(df > _TABLE).then(_expansion(confidence, df)).when(df > 0).then(solved)


def welch_quantile(confidence: float, df: pl.Expr) -> pl.Expr:
    """Return the same quantile for a few degrees of freedom, each solved for."""
    return df.map_batches(partial(_quantiles, confidence=confidence), return_dtype=pl.Float64, is_elementwise=True)


def p_value(t: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Return the probability of a |t| at least as large.

    It is the incomplete beta function I_x(df / 2, 1/2), x = df / (df + t^2). `t` is finite, or null.
    """
    return pl.map_batches([t, df], lambda columns: _tails(*columns), return_dtype=pl.Float64, is_elementwise=True)


def normal_quantile(probability: float) -> float:
    """Return the value below which a standard normal variable lies with this probability."""
    from statistics import NormalDist  # Takes 1 ms, which most calls do not need.

    return NormalDist().inv_cdf(probability)


def normal_p_value(z: pl.Expr) -> pl.Expr:
    """Return the probability of a |z| at least as large: a power series, and in the tails Laplace's continued fraction.

    NIST Handbook, 7.6.2 and 7.9.1.
    """
    return z.map_batches(_normal_tails, return_dtype=pl.Float64, is_elementwise=True)


def normal_share(z: pl.Expr) -> pl.Expr:
    """Return the standard normal distribution function."""
    tail = normal_p_value(z) / 2
    return pl.when(z < 0).then(tail).otherwise(1 - tail)


def number_bounds(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Return `value -+ t error`; null without an error."""
    reach = quantile(confidence, df) * error
    return {"low": value - reach, "high": value + reach}


def share_bounds(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Return the bounds on the logit scale for a value between 0 and 1: `expit(logit m -+ t e / (m (1 - m)))`.

    At 0 and 1 there is no spread. But n shares with mean mu are all 1 with a probability of at most mu^n.
    """
    all_0, all_1 = value <= ROUNDING, value >= 1 - ROUNDING
    # Use the exponential of a negative number: that of a positive one may overflow.
    shrink = (-quantile(confidence, df) * error / (value * (1 - value))).exp()
    least = pl.lit((1 - confidence) / 2).pow(1 / (df + 1))
    low, high = value * shrink / (value * shrink + 1 - value), value / (value + (1 - value) * shrink)
    low = pl.when(all_1).then(least).when(all_0).then(0.0).otherwise(low)
    high = pl.when(all_1).then(1.0).when(all_0).then(1 - least).otherwise(high)
    has_bounds = error.is_not_null() & (df > 0)
    return {name: pl.when(has_bounds).then(side) for name, side in around(value, low, high).items()}


def auc_bounds(
    value: pl.Expr, error: pl.Expr, df: pl.Expr, positives: pl.Expr, negatives: pl.Expr, confidence: float
) -> dict[str, pl.Expr]:
    """Return the bounds of a share, widened towards 1/2 at least as far as a score interval of ROC AUC.

    Near 1 the error is small in just the samples whose value is too large. The score interval goes down to the theta
    with `(value - theta)^2 = t^2 V(theta)`, where V is the squared error as if 10 further rows of each class had the
    variance of the exponential model (Hanley and McNeil 1982) at theta.
    """
    bounds, t = share_bounds(value, error, df, confidence), quantile(confidence, df)
    solved_bound = partial(pl.map_batches, function=_score_bound, return_dtype=pl.Float64, is_elementwise=True)
    # The value of the swapped classes is 1 - value.
    low = solved_bound([value, t, error, df, positives, negatives])
    high = 1 - solved_bound([1 - value, t, error, df, negatives, positives])
    inside = (value > ROUNDING) & (value < 1 - ROUNDING) & bounds["low"].is_not_null()
    return {
        "low": pl.when(inside & (value > 0.5)).then(pl.min_horizontal(bounds["low"], low)).otherwise(bounds["low"]),
        "high": pl.when(inside & (value < 0.5)).then(pl.max_horizontal(bounds["high"], high)).otherwise(bounds["high"]),
    }


def _score_bound(columns: Sequence[pl.Series]) -> pl.Series:
    """Solve for the lower score bound by bisection, from value, t, error, df and the numbers of both labels."""
    value, t, error, df, positives, negatives = (column.cast(pl.Float64) for column in columns)
    weight = df / (df + _FURTHER)
    low, high = value * 0, value
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        variance = theta * theta * (1 - theta) / (1 + theta) / positives
        variance += theta * (1 - theta) * (1 - theta) / (2 - theta) / negatives
        too_far = (value - theta) > t * (weight * error * error + (1 - weight) * variance).sqrt()
        low, high = theta.zip_with(too_far, low), high.zip_with(too_far, theta)
    return low


def proportion_bounds(value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Return Wilson's score interval for a proportion of n units."""
    z = -normal_quantile((1 - confidence) / 2)
    part = z * z / n
    middle, reach = value + part / 2, z * (value * (1 - value) / n + part / (4 * n)).sqrt()
    # Set the ends exactly, because the square root is rounded.
    return {
        "low": pl.when(value > 0).then((middle - reach) / (1 + part)).when(value == 0).then(0.0),
        "high": pl.when(value < 1).then((middle + reach) / (1 + part)).when(value == 1).then(1.0),
    }


def around(value: pl.Expr, low: pl.Expr, high: pl.Expr) -> dict[str, pl.Expr]:
    """Make bounds enclose the value, also if rounding puts a close bound on the wrong side."""
    return {"low": pl.min_horizontal(value, low), "high": pl.max_horizontal(value, high)}


def _expansion(confidence: float, df: pl.Expr) -> pl.Expr:
    """Return the Cornish-Fisher quantile: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.

    The last term is the next one of that expansion.
    """
    z = normal_quantile((1 + confidence) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        (27 * z**11 + 339 * z**9 + 930 * z**7 - 1782 * z**5 - 765 * z**3 + 17955 * z) / 368640,
    )
    return z + pl.sum_horizontal(term / df.cast(pl.Float64) ** power for power, term in enumerate(terms, 1))


@cache
def _solved(confidence: float) -> pl.Series:
    """Return the quantiles for 1, 2, ... degrees of freedom."""
    return _quantiles(pl.Series(range(1, _TABLE + 1), dtype=pl.Float64), confidence)


def _quantiles(df: pl.Series, confidence: float) -> pl.Series:
    """Solve by Newton's method on logarithms, on which tails are nearly straight lines."""
    logarithm = (df * 0 + normal_quantile((1 + confidence) / 2)).log()
    moves = logarithm.is_not_null()
    while moves.any():
        t = logarithm.exp()
        tail = _tails(t, df)
        slope = 2 * t * _gamma_ratio(df / 2) / (pi * df).sqrt() * (-(df + 1) / 2 * (t * t / df).log1p()).exp()
        step = (tail * (1 / (1 - confidence))).log() * tail / slope
        # A value must not depend on the other rows, so stop at each row by itself.
        logarithm = (logarithm + step).zip_with(moves, logarithm)
        moves &= (step.is_finite() & (step.abs() > 1e-8)).fill_null(False)  # The next step would be its square.
    return logarithm.exp()


def _tails(t: pl.Series, df: pl.Series) -> pl.Series:
    """Return the probability of a |t| at least as large; see `p_value`."""
    df, square = df.cast(pl.Float64), t * t
    x, a = df / (df + square), df / 2
    # The continued fraction converges fast on one side of the mean, and its mirror image on the other side.
    mirrored = x > (a + 1) / (a + 2.5)
    half = a * 0 + 0.5
    first, second = half.zip_with(mirrored, a), a.zip_with(mirrored, half)
    rest = square / (df + square)  # 1 - x, without cancellation.
    at = rest.zip_with(mirrored, x)
    front = (0.5 * rest.log() - a * (square / df).log1p()).exp() * _gamma_ratio(a) * pi**-0.5
    share = front / first * _fraction(first, second, at)
    tails: pl.Series = (1 - share).zip_with(mirrored, share)
    return tails


def _normal_tails(z: pl.Series) -> pl.Series:
    """Return the probability of a |z| at least as large; see `normal_p_value`."""
    size = z.abs()
    density = (-size * size / 2).exp() * (2 / pi) ** 0.5
    series = term = size.clip(upper_bound=3.0)
    for k in range(1, 50):
        # A product: polars would compute a quotient in one way for one row, and in another for several.
        term = term * size * size * (1 / (2 * k + 1))
        series += term
    fraction = size
    for k in range(80, 0, -1):
        fraction = size + k / fraction
    tails: pl.Series = (density / fraction).zip_with(size > 3, 1 - density * series)
    return tails


def _fraction(a: pl.Series, b: pl.Series, x: pl.Series) -> pl.Series:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method.

    NIST Handbook, 8.17.22 and 3.10.
    """
    ratio = x * 0 + 1.0
    value = inverse = 1 / (1 - (a + b) * x / (a + 1))
    moves = value.is_not_null()
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            inverse = 1 / (1 + term * inverse)
            ratio = 1 + term / ratio
            # A value must not depend on the other rows, so stop at each row by itself.
            value = (value * (inverse * ratio)).zip_with(moves, value)
        moves &= ((inverse * ratio - 1).abs() > 1e-15).fill_null(False)
        if not moves.any():
            break
    return value


def _gamma_ratio(a: pl.Series) -> pl.Series:
    """Return Gamma(a + 1/2) / Gamma(a), which loses digits for large a if computed from logarithms.

    Use its asymptotic series (NIST Handbook, 5.11.13) at a larger a, and Gamma(a + 1) = a Gamma(a) to return.
    """
    steps = 20
    inverse = 1 / (a + steps)
    series = inverse * 0
    for coefficient in (869 / 4194304, -399 / 262144, -21 / 32768, 5 / 1024, 1 / 128, -1 / 8, 1):
        series = coefficient + inverse * series
    ratio = series * (a + steps).sqrt()
    for step in range(steps):
        ratio *= (a + step) / (a + step + 0.5)
    return ratio
