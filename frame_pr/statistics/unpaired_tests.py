"""Unpaired tests: values of different rows, clusters or units, such as two arms or two weeks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.statistics import bounds
from frame_pr.statistics.bounds import (
    Array,
    Bounds,
    BoundsName,
    Estimates,
    array_of,
    columns_of,
)
from frame_pr.statistics.pairs import (
    TIE,
    Comparison,
    Hypothesis,
    with_differences,
    with_t_test,
)
from frame_pr.statistics.sampled_rows import SampledRows
from frame_pr.statistics.units import UnitValues

_LARGEST_Z = 38.0
"""Beyond this z, the p-value is no float."""


def compare_values(comparison: Comparison) -> pl.DataFrame:
    """Compare values of different samples. Clusters that are in both enter by their covariance."""
    hypothesis = comparison.call.hypothesis
    sample = comparison.sample
    both = _both_estimates(comparison)
    numbers = [m for m, kind in enumerate(sample.bounds) if kind == "number"]
    is_number = pl.col("m").is_in(numbers)
    shares = both.filter(~is_number)
    if isinstance(sample, UnitValues):
        _warn_of_unlike_spreads(shares)
    tables = [
        _combine_intervals(shares, sample.bounds, hypothesis),
        _compare_means(both.filter(is_number), hypothesis),
    ]
    return pl.concat(tables, how="diagonal_relaxed")


def _both_estimates(comparison: Comparison) -> pl.DataFrame:
    """Return the estimates of both groups of each pair; those of the baseline begin with `base `.

    `covariance` is that of both values, by the clusters that are in both groups.
    """
    pairs = comparison.pairs
    sample = comparison.sample
    both = with_differences(pairs.both(sample.estimates()))
    if not sample.clustered:
        return both.with_columns(covariance=0.0)
    influences = sample.influences().select(*pairs.on, pairs.names.name, "cluster", "D")
    shared = pairs.both(influences, "cluster").group_by(pairs.test)
    products = shared.agg(products=(pl.col("base D") * pl.col("D")).sum())
    both = both.join(products, on=pairs.test, how="left", nulls_equal=True)

    # The root of (C - 1) / C of both groups, for C clusters.
    a = pl.col("base units")
    b = pl.col("units")
    correction = ((a - 1) / a * (b - 1) / b).sqrt()
    covariance = pl.col("products") * correction
    return both.with_columns(covariance=covariance.fill_nan(None).fill_null(0.0))


def _compare_means(both: pl.DataFrame, hypothesis: Hypothesis) -> pl.DataFrame:
    """Apply Welch's (1947) t-test to the means of both groups."""
    a = pl.col("base error") ** 2
    b = pl.col("error") ** 2
    total = a + b
    parts = a**2 / pl.col("base df") + b**2 / pl.col("df")
    variance = (total - 2 * pl.col("covariance")).clip(lower_bound=0.0)
    table = both.with_columns(
        standard_error=variance.sqrt(),
        df=total**2 / parts,
    )
    return with_t_test(table, hypothesis, "Welch")


def _combine_intervals(
    both: pl.DataFrame,
    kinds: Sequence[BoundsName],
    hypothesis: Hypothesis,
) -> pl.DataFrame:
    """Combine the intervals of both values into that of the difference, as Newcombe (1998) does.

    The p-value is the largest alpha at which the interval contains the tested difference, so both
    always agree. The covariance multiplies the squared reach by a constant, the share of the
    variances that it leaves: a reach that grows with the confidence gives one p-value.
    """
    import numpy as np

    a = Estimates.of(both, "base ")
    b = Estimates.of(both)
    metric = both["m"].to_numpy()
    difference = array_of(both, "difference")
    covariance = array_of(both, "covariance")
    with np.errstate(all="ignore"):
        total = _implied_error(a, kinds, metric) ** 2 + _implied_error(b, kinds, metric) ** 2
        variance = total - 2 * covariance
        # A variance is a rounding error relative to both variances, or to both values.
        noise = np.maximum(TIE * total, (TIE * np.maximum(a.value, b.value)) ** 2)
        variance = np.where(variance > noise, variance, 0.0 * total)

        # If the errors of clusters cancel, a difference other than 0 has no bounds.
        share = np.where(difference == 0, 0.0, np.nan)
        share = np.where(variance > 0, variance / total, share)
        share = np.where(covariance == 0, 1.0, share)
        root = np.sqrt(share)

        def interval(alpha: float | Array) -> Bounds:
            """Return the bounds of the difference at error rates alpha."""
            low_a, high_a = bounds.bounds_of(kinds, metric, a, alpha)
            low_b, high_b = bounds.bounds_of(kinds, metric, b, alpha)
            above_a = high_a - a.value
            below_a = a.value - low_a
            above_b = high_b - b.value
            below_b = b.value - low_b
            low = difference - root * np.hypot(above_a, below_b)
            high = difference + root * np.hypot(below_a, above_b)
            return low.clip(-1.0), high.clip(None, 1.0)

        low, high = interval(hypothesis.alpha)
        two_sided = p_value_of_interval(interval, hypothesis.null_value, difference)
        tested = hypothesis.tested(low, high, two_sided, difference, share == 0)
    tested += columns_of(standard_error=np.sqrt(variance))
    return both.with_columns(tested, name=pl.lit("Newcombe"))


def p_value_of_interval(
    interval: Callable[[Array], Bounds],
    null_value: float,
    difference: Array,
) -> Array:
    """Return the largest alpha at which the interval contains a value, by bisection."""
    import numpy as np

    ndtr = bounds.scipy_special().ndtr

    def is_excluded(z: Array) -> Any:
        low, high = interval(2 * ndtr(-z))
        is_included = (low <= null_value) & (high >= null_value)
        return ~is_included

    least = np.zeros(len(difference))
    z = bounds.bisected(is_excluded, least, least + _LARGEST_Z)
    return np.where(difference == null_value, 1.0, 2 * ndtr(-z))


def _implied_error(side: Estimates, kinds: Sequence[BoundsName], metric: Any) -> Array:
    """Return the standard error; at exactly 0 or 1, the one that the finite 95 % bound implies."""
    import numpy as np

    low, high = bounds.bounds_of(kinds, metric, side, 0.05)
    implied = (high - low) / bounds.t_quantile(0.05, side.df)
    is_exact = np.minimum(side.value, 1 - side.value) <= bounds.ROUNDING
    return np.where(is_exact, implied, side.error)


# warnings
# ------------------------------------------------------------------------------------------------

_SIGNIFICANT_Z = 1.96


def warn_of_groups(comparison: Comparison) -> None:
    """Warn if frames look like the same rows, or if prevalences differ that a metric depends on."""
    rows = comparison.sample
    pairs = comparison.pairs
    assert isinstance(rows, SampledRows)
    if rows.rows.request.weights_classes:
        return
    both = pairs.both(rows.table).filter(m=0).sort(pairs.test)
    if comparison.call.frames and not rows.clustered:
        _warn_of_same_rows(both)
    names = [metric.name for metric in rows.metrics if metric.of_prevalence]
    if names:
        _warn_of_prevalence(both, names[0])


_NEAR = 0.1
_FEW_LOSSES = 3


def _may_lack_losses(prefix: str, other: str) -> pl.Expr:
    """Return whether a mean of shares is near 0 or 1, and the sample may lack rare other values.

    The n units differ from 0 or 1 by less than 3 in sum, and their variance is less than a third of
    that of yes-or-no trials with the same mean, and less than a quarter of that of the other group.
    If most units are close to 1 and few are not, a sample without these has a standard error that
    is too small. `prefix`, `other`: of the columns of both groups.
    """
    value = pl.col(f"{prefix}value")
    loss = pl.min_horizontal(value, 1 - value)
    n = pl.col(f"{prefix}df") + 1
    variance = _variance_of_units(prefix)
    return pl.all_horizontal(
        loss < _NEAR,
        n * loss < _FEW_LOSSES,
        variance < value * (1 - value) / 3,
        variance < _variance_of_units(other) / 4,
        pl.col(f"{prefix}error") > bounds.ROUNDING,
    )


def _variance_of_units(prefix: str) -> pl.Expr:
    """Return the variance of the values of units, n times that of their mean."""
    return (pl.col(f"{prefix}df") + 1) * pl.col(f"{prefix}error") ** 2


def _warn_of_unlike_spreads(both: pl.DataFrame) -> None:
    """Warn if all units of one group are close to 0 or 1, and those of the other vary much more.

    If both were alike, the group that varies little would lack the rare values of the other.
    """
    unlike = both.filter(_may_lack_losses("", "base ") | _may_lack_losses("base ", ""))
    if unlike.height:
        a, b = unlike.select("base units", "units").row(0)
        warn(
            f"compare: of {a} and {b} units, those of one group are all close to 0 or 1, and those "
            "of the other vary more than twice as much: a small group may lack rare values, and "
            "in simulations of equal groups up to 33 % of such tests had p <= 0.05"
        )


def _warn_of_same_rows(both: pl.DataFrame) -> None:
    """Warn if two frames have as many rows and as many positives."""
    columns = ("units", "positives")
    same = both.filter(pl.col(name) == pl.col(f"base {name}") for name in columns)
    if same.height:
        units, positives = same.select(columns).row(0)
        warn(
            f"compare: two frames have equal numbers of rows ({units}) and positives "
            f"({positives}), and this test takes them as different rows; if they are the same "
            "rows, join the scores as columns of one frame, or name the column with the id of a "
            "row in cluster="
        )


def _warn_of_prevalence(both: pl.DataFrame, name: str) -> None:
    """Warn if prevalences differ by a z-test of two proportions, whose standard error is pooled."""
    rows = pl.col("base units")
    other_rows = pl.col("units")
    a = pl.col("base positives") / rows
    b = pl.col("positives") / other_rows
    pooled = (a * rows + b * other_rows) / (rows + other_rows)
    variance = pooled * (1 - pooled) * (1 / rows + 1 / other_rows)
    differ = both.filter((b - a).abs() > _SIGNIFICANT_Z * variance.sqrt())
    if differ.height:
        first, second, prevalence = differ.select(a=a, b=b, pooled=pooled).row(0)
        warn(
            f"compare: {name} depends on the prevalence, which differs significantly in "
            f"{differ.height} of {both.height} pairs ({first:.3g} and {second:.3g} in the first); "
            f"roc_auc does not depend on it, and prevalence={prevalence:.2g} compares both at one "
            "prevalence"
        )
