"""Confidence bounds and p-values, from values, standard errors and degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]

ROUNDING = 1e-12
"""A mean of shares this close to 0 or 1 counts as 0 or 1: sums of floats are off by their last bits."""
_FURTHER = 10
"""Rows of each class that have the variance of a model in the interval of ROC AUC; decision record 6 has the reason."""
_HALVINGS = 50


def scipy_special() -> Any:
    """Return the module of special functions of scipy, which intervals and tests need."""
    try:
        from scipy import special  # Takes 0.1 s, which other calls do not need.
    except ImportError:
        raise ImportError('intervals, tests and average curves need scipy: pip install "frame_pr[stats]"') from None
    return special


def _elementwise(function: Callable[..., Array], *columns: pl.Expr) -> pl.Expr:
    """Apply a function of arrays to whole columns; null and NaN give null."""

    def of_columns(series: Sequence[pl.Series]) -> pl.Series:
        arrays = [column.cast(pl.Float64).to_numpy() for column in series]
        return pl.Series(function(*arrays), dtype=pl.Float64, nan_to_null=True)

    return pl.map_batches(list(columns), of_columns, return_dtype=pl.Float64, is_elementwise=True)


def t_quantile(confidence: float, df: pl.Expr) -> pl.Expr:
    """Return the value that |t| does not exceed with this probability; null without degrees of freedom."""
    stdtrit = scipy_special().stdtrit
    return _elementwise(lambda df: -stdtrit(df, (1 - confidence) / 2), pl.when(df > 0).then(df))


def t_p_value(t: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Return the probability of a |t| at least as large."""
    stdtr = scipy_special().stdtr
    return _elementwise(lambda t, df: 2 * stdtr(df, -abs(t)), t, df)


def normal_quantile(probability: float) -> float:
    """Return the value below which a standard normal variable lies with this probability."""
    return float(scipy_special().ndtri(probability))


def normal_p_value(z: pl.Expr) -> pl.Expr:
    """Return the probability of a |z| at least as large."""
    ndtr = scipy_special().ndtr
    return _elementwise(lambda z: 2 * ndtr(-abs(z)), z)


def normal_share(z: pl.Expr) -> pl.Expr:
    """Return the standard normal distribution function."""
    return _elementwise(scipy_special().ndtr, z)


def number_bounds(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Return `value -+ t error`; null without an error."""
    reach = t_quantile(confidence, df) * error
    return {"low": value - reach, "high": value + reach}


def share_bounds(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Return the bounds on the logit scale for a value between 0 and 1: `expit(logit m -+ t e / (m (1 - m)))`.

    At 0 and 1 there is no spread. But n shares with mean mu are all 1 with a probability of at most mu^n.
    """
    all_0, all_1 = value <= ROUNDING, value >= 1 - ROUNDING
    # Use the exponential of a negative number: that of a positive one may overflow.
    shrink = (-t_quantile(confidence, df) * error / (value * (1 - value))).exp()
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
    bounds, t = share_bounds(value, error, df, confidence), t_quantile(confidence, df)
    # The value of the swapped classes is 1 - value.
    low = _elementwise(_score_bound, value, t, error, df, positives, negatives)
    high = 1 - _elementwise(_score_bound, 1 - value, t, error, df, negatives, positives)
    inside = (value > ROUNDING) & (value < 1 - ROUNDING) & bounds["low"].is_not_null()
    return {
        "low": pl.when(inside & (value > 0.5)).then(pl.min_horizontal(bounds["low"], low)).otherwise(bounds["low"]),
        "high": pl.when(inside & (value < 0.5)).then(pl.max_horizontal(bounds["high"], high)).otherwise(bounds["high"]),
    }


def _score_bound(value: Array, t: Array, error: Array, df: Array, positives: Array, negatives: Array) -> Array:
    """Solve for the lower score bound by bisection, from value, t, error, df and the numbers of both labels."""
    import numpy as np

    weight = df / (df + _FURTHER)
    low, high = value * 0, value
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        variance = theta * theta * (1 - theta) / (1 + theta) / positives
        variance += theta * (1 - theta) * (1 - theta) / (2 - theta) / negatives
        too_far = (value - theta) > t * np.sqrt(weight * error * error + (1 - weight) * variance)
        low, high = np.where(too_far, theta, low), np.where(too_far, high, theta)
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
