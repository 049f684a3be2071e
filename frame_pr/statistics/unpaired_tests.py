"""Unpaired tests: values of different rows, clusters or units, such as two arms of an experiment or two weeks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.statistics import bounds
from frame_pr.statistics.bounds import Array, BoundsName, Estimates, array_of, columns_of
from frame_pr.statistics.pairs import TIE, Comparison, Hypothesis, difference_of, with_t_test

_LARGEST_Z = 38.0
"""Beyond this z, the p-value is no float."""


def compare_values(comparison: Comparison) -> pl.DataFrame:
    """Compare values of different samples. Clusters that are in both enter by their covariance."""
    both = _both_estimates(comparison)
    kinds = comparison.sample.bounds
    numbers = [m for m, kind in enumerate(kinds) if kind == "number"]
    is_number = pl.col("m").is_in(numbers)
    shares = _combine_intervals(both.filter(~is_number), kinds, comparison.hypothesis)
    means = _compare_means(both.filter(is_number), comparison.hypothesis)
    table = pl.concat([shares, means], how="diagonal_relaxed")
    text = f" over {{}} and {{}} {comparison.noun}"
    method = pl.concat_str("name", pl.format(text, "n_baseline", "n_system"))
    return table.with_columns(method=method)


def _both_estimates(comparison: Comparison) -> pl.DataFrame:
    """Return the estimates of both groups of each pair, those of the baseline with the prefix `base `.

    `covariance` is that of both values.
    """
    pairs, sample = comparison.pairs, comparison.sample
    a, b = pl.col("base value"), pl.col("value")
    both = pairs.both(pairs.with_places(sample.estimates())).with_columns(
        difference=difference_of(a, b),
        value_baseline=a,
        value_system=b,
        n_baseline="base units",
        n_system="units",
        undefined=pl.col("base undefined") + pl.col("undefined"),
    )
    if not sample.clustered:
        return both.with_columns(covariance=0.0)
    influences = sample.influences().select(*pairs.on, pairs.names.name, "cluster", "D")
    product = pl.col("base D") * pl.col("D")
    shared = pairs.both(pairs.with_places(influences), "cluster")
    products = shared.group_by(pairs.test).agg(products=product.sum())
    both = both.join(products, on=pairs.test, how="left", nulls_equal=True)
    n_a, n_b = pl.col("base df") + 1, pl.col("df") + 1
    correction = (n_a / (n_a - 1) * n_b / (n_b - 1)).sqrt()
    covariance = pl.col("products").fill_nan(None).fill_null(0.0) * correction
    return both.with_columns(covariance=covariance)


def _compare_means(both: pl.DataFrame, hypothesis: Hypothesis) -> pl.DataFrame:
    """Apply Welch's (1947) t-test to the means of both groups."""
    a, b = pl.col("base error") ** 2, pl.col("error") ** 2
    df = (a + b) ** 2 / (a**2 / pl.col("base df") + b**2 / pl.col("df"))
    variance = (a + b - 2 * pl.col("covariance")).clip(lower_bound=0.0)
    table = both.with_columns(standard_error=variance.sqrt(), df=df, name=pl.lit("Welch"))
    return with_t_test(table, hypothesis)


def _combine_intervals(
    both: pl.DataFrame, kinds: Sequence[BoundsName], hypothesis: Hypothesis
) -> pl.DataFrame:
    """Combine the intervals of both values into that of the difference, as Newcombe (1998) does.

    The p-value is the largest alpha at which the interval contains the tested difference, so both
    always agree. The covariance multiplies the squared reach by a constant, the share of the
    variances that it leaves: a reach that grows with the confidence gives one p-value.
    """
    import numpy as np

    a, b = Estimates.of(both, "base "), Estimates.of(both)
    metric = both["m"].to_numpy()
    difference = array_of(both, "difference")
    with np.errstate(all="ignore"):
        total = _implied_error(a, kinds, metric) ** 2 + _implied_error(b, kinds, metric) ** 2
        covariance = array_of(both, "covariance")
        variance = total - 2 * covariance
        variance = np.where(variance > TIE * total, variance, 0.0 * total)
        # If the errors of clusters cancel, a difference other than 0 has no bounds.
        of_no_variance = np.where(difference == 0, 0.0, np.nan)
        share = np.where(variance > 0, variance / total, of_no_variance)
        share = np.where(covariance == 0, 1.0, share)

        def interval(alpha: float | Array) -> tuple[Array, Array]:
            """Return the bounds of the difference at error rates alpha."""
            low_a, high_a = bounds.bounds_of(kinds, metric, a, alpha)
            low_b, high_b = bounds.bounds_of(kinds, metric, b, alpha)
            below = np.hypot(high_a - a.value, b.value - low_b)
            above = np.hypot(a.value - low_a, high_b - b.value)
            low = difference - np.sqrt(share) * below
            high = difference + np.sqrt(share) * above
            return np.maximum(low, -1.0), np.minimum(high, 1.0)

        low, high = interval(hypothesis.alpha)
        two_sided = _p_value_of_interval(interval, hypothesis.null_value, difference)
        p = hypothesis.p_value(two_sided, difference, share == 0)
        p = np.where(np.isnan(low), np.nan, p)
    low, high = hypothesis.sides(low, high)
    columns = columns_of(low=low, high=high, p_value=p, standard_error=np.sqrt(variance))
    return both.with_columns(columns, name=pl.lit("Newcombe"))


def _p_value_of_interval(
    interval: Callable[[Array], tuple[Array, Array]], null_value: float, difference: Array
) -> Array:
    """Return the largest alpha at which the interval contains a value, by bisection of the normal quantile of alpha."""
    import numpy as np

    ndtr = bounds.scipy_special().ndtr

    def is_excluded(z: Array) -> Any:
        low, high = interval(2 * ndtr(-z))
        return ~((low <= null_value) & (high >= null_value))

    tests = len(difference)
    z, _ = bounds.bisected(is_excluded, np.zeros(tests), np.full(tests, _LARGEST_Z))
    p: Array = 2 * ndtr(-z)
    return np.where(difference == null_value, 1.0, p)


def _implied_error(side: Estimates, kinds: Sequence[BoundsName], metric: Any) -> Array:
    """Return the standard error; for a value of exactly 0 or 1, the one that its finite 95 % bound implies."""
    import numpy as np

    low, high = bounds.bounds_of(kinds, metric, side, 0.05)
    at_end = (side.value <= bounds.ROUNDING) | (side.value >= 1 - bounds.ROUNDING)
    implied = (high - low) / bounds.t_quantile(0.05, side.df)
    return np.where(at_end, implied, side.error)


# warnings
# ------------------------------------------------------------------------------------------------

_SIGNIFICANT = 0.05


def warn_of_groups(comparison: Comparison, *, frames: bool) -> None:
    """Warn if frames look like the same rows, or if prevalences differ and a metric depends on them.

    `frames`: whether the groups are the frames of a dict.
    """
    rows, pairs = comparison.rows, comparison.pairs
    counts = rows.restored(rows.groups).filter(pl.col("m") == 0)
    both = pairs.both(pairs.with_places(counts)).sort(pairs.test)
    if frames and not rows.clustered:
        _warn_of_same_rows(both)
    names = [metric.name for metric in rows.metrics if metric.of_prevalence]
    if names:
        _warn_of_prevalence(both, names)


def _warn_of_same_rows(both: pl.DataFrame) -> None:
    """Warn if two frames have as many rows and as many positives."""
    same = both.filter(pl.col(name) == pl.col(f"base {name}") for name in ("units", "positives"))
    if same.height:
        units, positives = same.select("units", "positives").row(0)
        warn(
            f"compare: two frames have equal numbers of rows ({units}) and positives ({positives}), "
            "and this test takes them as different rows; if they are the same rows, join the scores "
            "as columns of one frame, or name the column with the id of a row in cluster="
        )


def _warn_of_prevalence(both: pl.DataFrame, names: Sequence[str]) -> None:
    """Warn if prevalences differ by a z-test of two proportions, whose standard error is pooled."""
    p_a, n_a = pl.col("base positives"), pl.col("base units")
    p_b, n_b = pl.col("positives"), pl.col("units")
    pooled = (p_a + p_b) / (n_a + n_b)
    error = (pooled * (1 - pooled) * (1 / n_a + 1 / n_b)).sqrt()
    table = both.with_columns(a_share=p_a / n_a, b_share=p_b / n_b, pooled_error=error)
    z = (pl.col("b_share") - pl.col("a_share")).abs() / pl.col("pooled_error")
    limit = -bounds.scipy_special().ndtri(_SIGNIFICANT / 2)
    # Without a positive, or a negative, in either group z is 0 / 0.
    differ = table.filter(z.fill_nan(0.0) > limit)
    if differ.height:
        a, b = differ.select("a_share", "b_share").row(0)
        warn(
            f"compare: {names[0]} depends on the prevalence, which differs significantly in "
            f"{differ.height} of {both.height} pairs ({a:.3g} and {b:.3g} in the first); roc_auc "
            "does not depend on it"
        )
