"""Unpaired tests of groups: different rows or units, and the same score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.statistics.bounds import (
    ROUNDING,
    Array,
    BoundsName,
    Estimates,
    array_of,
    bounds_of,
    columns_of,
    scipy_special,
    t_quantile,
)
from frame_pr.statistics.comparison_table import TIE, Pairs, difference_of, with_t_test
from frame_pr.statistics.sampled_rows import SampledRows

_LARGEST_Z, _HALVINGS = 38.0, 45
"""Beyond this z, the p-value is no float. So many halvings leave 1e-12 of it."""


def warn_of_pairs(values: pl.DataFrame, between: str) -> None:
    """Warn if units are in several of the groups that are compared. `values`: `place`, and the unit `row`."""
    groups = values.group_by("row").agg(n=pl.col("place").n_unique())["n"]
    if repeated := int((groups > 1).sum()):
        rename = "" if between == "system" else f"rename column {between} to system, and "
        warn(
            f"between: {repeated} of {len(groups)} units occur in several groups of {between}, and this test takes the "
            f"groups as independent. The paired test has more power: {rename}give system in by=, and no between="
        )


def _both(estimates: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return the estimates of both groups of each pair, those of the baseline with the prefix `base `."""
    a, b = pl.col("base value"), pl.col("value")
    return pairs.both(pairs.with_places(estimates)).with_columns(
        difference=difference_of(a, b),
        value_baseline=a,
        value_system=b,
        units_baseline="base units",
        units_system="units",
        undefined=pl.col("base undefined") + pl.col("undefined"),
    )


def compare_means(estimates: pl.DataFrame, pairs: Pairs, alpha: float) -> pl.DataFrame:
    """Apply Welch's t-test to the means of both groups."""
    a, b = pl.col("base error") ** 2, pl.col("error") ** 2
    df = (a + b) ** 2 / (a**2 / pl.col("base df") + b**2 / pl.col("df"))
    return with_t_test(_both(estimates, pairs).with_columns(standard_error=(a + b).sqrt(), df=df), alpha)


def compare_values(
    rows: SampledRows[Any], estimates: pl.DataFrame, influences: pl.DataFrame, pairs: Pairs, alpha: float
) -> pl.DataFrame:
    """Combine the intervals of both values into that of the difference: Newcombe (1998), Zou and Donner (2008).

    The p-value is the largest alpha at which the interval contains 0, so both always agree. Clusters that are in both
    groups enter by their covariance.
    """
    both, kinds = _both(estimates, pairs), rows.bounds
    if rows.clustered:
        both = _with_products(both, influences, pairs)
    a, b, metric = Estimates.of(both, "base "), Estimates.of(both), both["m"].to_numpy()
    difference = array_of(both, "difference")
    with np.errstate(all="ignore"):
        error_a, error_b = (_implied_error(side, kinds, metric) for side in (a, b))
        covariance = np.zeros(len(both))
        if rows.clustered:
            corrections = np.sqrt(a.units / (a.units - 1) * b.units / (b.units - 1))
            groups = array_of(both, "base groups") * array_of(both, "groups")
            covariance = np.nan_to_num(array_of(both, "products")) * corrections / groups
        spread = a.error * b.error
        correlation = np.where(spread > 0, np.clip(covariance / spread, -1, 1), 0.0)
        total = error_a**2 + error_b**2
        variance = total - 2 * covariance
        error = np.sqrt(np.where(variance > TIE * total, variance, 0.0 * total))

        def interval(alpha: float | Array) -> tuple[Array, Array]:
            """Return the bounds of the difference at error rates alpha."""
            (low_a, high_a), (low_b, high_b) = (bounds_of(kinds, metric, side, alpha) for side in (a, b))

            def reach(of_a: Array, of_b: Array) -> Array:
                squares: Array = np.maximum(of_a**2 + of_b**2 - 2 * correlation * of_a * of_b, 0.0)
                return np.sqrt(squares)

            low, high = reach(high_a - a.value, b.value - low_b), reach(a.value - low_a, high_b - b.value)
            return difference - low, difference + high

        low, high = interval(alpha)
        p = _p_value_of_interval(interval, len(difference))
        p = np.where(np.isnan(low), np.nan, np.where(difference == 0, 1.0, p))
    return both.with_columns(columns_of(low=low, high=high, p_value=p, standard_error=error))


def _p_value_of_interval(interval: Callable[[Array], tuple[Array, Array]], tests: int) -> Array:
    """Return the largest alpha at which the interval contains 0, by bisection of the normal quantile of alpha."""
    ndtr = scipy_special().ndtr
    least, most = np.zeros(tests), np.full(tests, _LARGEST_Z)
    for _ in range(_HALVINGS):
        z = (least + most) / 2
        low, high = interval(2 * ndtr(-z))
        contains = (low <= 0) & (high >= 0)
        least, most = np.where(contains, least, z), np.where(contains, z, most)
    p: Array = 2 * ndtr(-most)
    return p


def _implied_error(side: Estimates, kinds: Sequence[BoundsName], metric: Any) -> Array:
    """Return the standard error; for a value of exactly 0 or 1, the one that its finite 95 % bound implies."""
    low, high = bounds_of(kinds, metric, side, 0.05)
    at_end = (side.value <= ROUNDING) | (side.value >= 1 - ROUNDING)
    return np.where(at_end, (high - low) / t_quantile(0.05, side.df), side.error)


def _with_products(both: pl.DataFrame, influences: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return the pairs with `products`, the sum of the products of both D of the clusters that are in both groups."""
    pair = [*pairs.on, "a", "b"]
    products = pairs.both(influences, "cluster").group_by(pair).agg(products=(pl.col("base D") * pl.col("D")).sum())
    return both.join(products, on=pair, how="left", nulls_equal=True)
