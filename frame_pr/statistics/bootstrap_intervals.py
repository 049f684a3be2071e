"""Intervals and p-values of a bootstrap: bias-corrected quantiles with Student's t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.metrics.cutoffs import Limit
from frame_pr.metrics.goals import Goal
from frame_pr.metrics.metric import Metric
from frame_pr.metrics.names import metric
from frame_pr.statistics.bootstrap import Draws, replicates_of
from frame_pr.statistics.bounds import (
    BOUNDS,
    FEW_UNITS,
    ROUNDING,
    Array,
    Bounds,
    Estimates,
    array_of,
    bounds_of_equal,
    columns_of,
    scipy_special,
    t_quantile,
    warn_without_bounds,
)
from frame_pr.statistics.paired_tests import differences_of_units, means_of_differences
from frame_pr.statistics.pairs import Comparison, with_differences
from frame_pr.statistics.sampled_rows import Sample, SampledRows
from frame_pr.statistics.units import UnitValues
from frame_pr.statistics.unpaired_tests import p_value_of_interval

_MEASURED = 200
"""The largest number of positives for which COVERAGE.md has the coverage of best values."""
_NEGLIGIBLE = 5
"""If fewer replicates than this part of `1 - confidence` have no value, nothing is said."""


class Distribution(NamedTuple):
    """The replicates of values, a column for each value, and what their quantiles need."""

    ordered: Array
    """The replicates in order, NaN last."""
    counts: Array
    """The number of replicates with a value."""
    point: Array
    """The values of the sample."""
    z0: Array
    """The bias: the normal quantile of the share of replicates below the value of the sample."""
    error: Array
    """The standard deviations of the replicates; NaN if these do not vary."""
    df: Array

    @staticmethod
    def of(replicates: Array, point: Array, df: Array) -> Distribution:
        """Order the replicates, a row for each."""
        import numpy as np

        masked: Any = np.ma.masked_invalid(replicates)
        counts = masked.count(axis=0)
        ordered = np.sort(masked.filled(np.nan), axis=0)
        # A difference of the size of rounding errors is none.
        noise = ROUNDING * abs(masked).max(axis=0).filled(0)
        error = masked.std(axis=0, ddof=1).filled(np.nan)
        with np.errstate(all="ignore"):
            z0 = _bias(ordered, counts, point, noise)
            has_spread = np.isfinite(point) & (error > noise)
        error = np.where(has_spread, error, np.nan)
        return Distribution(ordered, counts, point, z0, error, df)

    def bounds(self, alpha: float | Array, stretch: float | Array = 1.0) -> Bounds:
        """Return the quantiles at Phi(2 z0 - t) and Phi(2 z0 + t); they enclose the values.

        `stretch`: a factor of t.

        Phi is the standard normal distribution function, and Phi(z0) is the share of replicates
        below the value of the sample, where replicates equal to it count half (Efron 1987). In
        small samples, replicates vary too little. So t is a quantile of Student's t distribution,
        in place of the normal quantile (Hesterberg 2015). Where half of the replicates or more have
        no value, there are no bounds.
        """
        import numpy as np

        has_most = 2 * self.counts > len(self.ordered)
        with np.errstate(all="ignore"):
            t = stretch * t_quantile(alpha, self.df)
            has_bounds = np.isfinite(self.error * t) & has_most
            low = self._quantile(2 * self.z0 - t)
            high = self._quantile(2 * self.z0 + t)
        low = np.minimum(self.point, low)
        high = np.maximum(self.point, high)
        return np.where(has_bounds, low, np.nan), np.where(has_bounds, high, np.nan)

    def _quantile(self, z: Array) -> Array:
        """Return the quantiles at the probabilities Phi(z), linear between neighbours."""
        import numpy as np

        probability = scipy_special().ndtr(z)
        last = np.maximum(self.counts - 1, 0)
        place = np.nan_to_num(probability * last)
        lower = np.floor(place)
        neighbours = np.stack([lower, np.ceil(place)]).astype(int)
        before, after = np.take_along_axis(self.ordered, neighbours, axis=0)
        quantile: Array = before + (after - before) * (place - lower)
        return quantile

    def columns(self, **numbers: Array) -> list[pl.Series]:
        """Return numbers as columns, and how many replicates have no value."""
        undefined = len(self.ordered) - self.counts
        return [
            *columns_of(**numbers),
            pl.Series("undefined_replicates", undefined, dtype=pl.Int64),
        ]


def _bias(ordered: Array, counts: Array, point: Array, noise: Array) -> Array:
    """Return the normal quantile of the share of replicates below the value of the sample."""
    import numpy as np

    below = (ordered < point - noise).sum(axis=0)
    above = (ordered > point + noise).sum(axis=0)
    share = (below + counts - above) / 2 / counts
    repeats = len(ordered)
    probability = (2 * repeats * share + 1) / (2 * repeats + 2)
    z0 = scipy_special().ndtri(probability)
    # At the end of all replicates, the share below the value does not measure bias.
    is_inside = (below > 0) & (above > 0)
    return np.where(is_inside, z0, 0.0)


# intervals
# -------------------------------------------------------------------------------------------------


def intervals_of_draws(sample: Sample, draws: Draws, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric with the bounds of a bootstrap."""
    alpha = 1 - confidence
    table, drawn = replicates_of(sample, draws)
    estimates = Estimates.of(table)
    distribution = Distribution.of(drawn, estimates.value, estimates.df)
    estimates = estimates._replace(error=distribution.error)
    bounds = distribution.bounds(alpha)
    of_equal = bounds_of_equal(estimates, array_of(table, "whole"), alpha)
    bounds = _enclosing(bounds, of_equal)
    if isinstance(sample, SampledRows):
        _warn_of_coverage(sample.names, few=(table["df"] <= _MEASURED).any())
        if not sample.what.averages:
            bounds = _enclosing(bounds, _bounds_of_roc_auc(sample, table, estimates, alpha))

    low, high = bounds
    columns = distribution.columns(low=low, high=high, error=distribution.error)
    table = table.with_columns(columns)
    warn_of_replicates(table, sample.names, draws, alpha)
    warn_without_bounds(
        table,
        other="half of the replicates have no value, or all have the same one",
    )
    return table


def _enclosing(bounds: Bounds, others: Bounds) -> Bounds:
    """Return the bounds that enclose both; NaN is no bound."""
    import numpy as np

    low, high = bounds
    other_low, other_high = others
    return np.fmin(low, other_low), np.fmax(high, other_high)


def _bounds_of_roc_auc(
    sample: SampledRows, table: pl.DataFrame, estimates: Estimates, alpha: float
) -> Bounds:
    """Return the bounds of ROC AUC of the closed form; NaN for other metrics."""
    import numpy as np

    is_roc_auc = np.array(sample.names)[table["m"]] == "roc_auc"
    value = np.where(is_roc_auc, estimates.value, np.nan)
    with np.errstate(all="ignore"):
        return BOUNDS["roc_auc"](estimates._replace(value=value), alpha)


def _warn_of_coverage(names: Sequence[str], *, few: bool) -> None:
    """Warn of metrics whose bootstrap intervals have a coverage below 92 %; see COVERAGE.md.

    `few`: whether a sample has at most 200 rows of the rarer label.
    """
    for name in names:
        reason, coverage = _caution(metric(name), few=few)
        if reason:
            warn(
                f"{name} {reason}: with 10 to 200 positives, 95 % bootstrap intervals have a "
                f"coverage of {coverage} %"
            )


def _caution(target: Metric, *, few: bool) -> tuple[str, str]:
    """Return why the bootstrap intervals of a metric are inaccurate, and their coverage."""
    cutoff = target.cutoff
    optimum = target.optimum
    if isinstance(cutoff, Goal):
        return "depends on the best threshold of the sample, which varies much", "64 to 98"
    if few and isinstance(optimum, Goal) and optimum.rate.best_is_biased:
        return "is the best value of the sample, which is too good on average", "62 to 96"
    if few and target.kind == "threshold" and isinstance(cutoff, Limit):
        return "is one of the few scores of the sample near the limit", "48 to 94"
    return "", ""


def warn_of_replicates(
    table: pl.DataFrame, names: Sequence[str], draws: Draws, alpha: float
) -> None:
    """Warn of replicates without a value. `table`: `m`, `low` and `undefined_replicates`."""
    share = pl.col("undefined_replicates") / draws.repeats
    # The level of an interval is off by at most this share.
    has_bounds = pl.col("low").is_not_null()
    lacking = table.filter(has_bounds, share > alpha / _NEGLIGIBLE)
    if lacking.is_empty():
        return
    most: Any = lacking.select(share.max()).item()
    metrics = lacking["m"].unique(maintain_order=True)
    name = names[metrics[0]]
    subject = f"{name} has"
    if len(metrics) > 1:
        subject = f"{len(metrics)} metrics, such as {name}, have"
    warn(
        f"{subject} no value in up to {most:.2%} of the replicates of the bootstrap: the "
        "interval is that of the others, so its level is not exact; intervals(details=True) "
        "counts them"
    )


# comparisons
# -------------------------------------------------------------------------------------------------


def compare_draws(comparison: Comparison) -> pl.DataFrame:
    """Compare values by replicates of their differences, with the same rows or clusters for both.

    The p-value is the largest alpha at which the interval contains the tested difference; not below
    `1 / (replicates + 1)`.
    """
    pairs = comparison.pairs
    sample = comparison.sample
    table, drawn = replicates_of(sample, comparison.call.draws, pairs.names.name)
    both = with_differences(pairs.both(table.with_row_index("column")))
    differences = drawn[:, both["column"]] - drawn[:, both["base column"]]
    variance = pl.col("error") ** 2 + pl.col("base error") ** 2
    both = both.with_columns(
        df=pl.min_horizontal("base df", "df"),
        standard_error=variance.sqrt(),
    )
    return _test_differences(both, differences, comparison)


def compare_drawn_units(comparison: Comparison) -> pl.DataFrame:
    """Compare the same units, such as queries: a replicate is the mean of differences of units."""
    test = comparison.pairs.test
    differences = differences_of_units(comparison)
    values = differences.select(*test, "cluster", value="d")
    keys = {name: name for name in test if name != "m"}
    sample = comparison.sample
    assert isinstance(sample, UnitValues)
    what = sample.what._replace(cluster="cluster")
    of_differences = replace(sample, what=what, table=values, keys=keys)
    replicates = replicates_of(of_differences, comparison.call.draws)
    table = replicates.table.select(test).join(
        means_of_differences(differences, comparison),
        on=test,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return _test_differences(table, replicates.drawn, comparison)


def _test_differences(both: pl.DataFrame, drawn: Array, comparison: Comparison) -> pl.DataFrame:
    """Return pairs with bounds and p-values. `drawn`: a row per replicate, a column per pair.

    t has the factor `(n / (n - 1))^(1/2)` for n = df + 1, because the variance of replicates is
    too small by (n - 1) / n (Hesterberg 2015). Of fewer than 10 units, replicates have few values,
    which may all have one sign. There the bounds are at least those of Student's t, by the
    `standard_error`, which is null for rows.
    """
    import numpy as np

    hypothesis = comparison.call.hypothesis
    point = array_of(both, "difference")
    df = array_of(both, "df")
    distribution = Distribution.of(drawn, point, df)
    error = np.where(df < FEW_UNITS - 1, array_of(both, "standard_error"), 0.0)
    with np.errstate(all="ignore"):
        stretch = np.sqrt((df + 1) / df)

    def interval(alpha: float | Array) -> Bounds:
        low, high = distribution.bounds(alpha, stretch)
        with np.errstate(all="ignore"):
            # An infinite quantile of no error has no reach.
            reach = np.nan_to_num(t_quantile(alpha, df) * error)
        return np.minimum(low, point - reach), np.maximum(high, point + reach)

    low, high = interval(hypothesis.alpha)
    two_sided = p_value_of_interval(interval, hypothesis.null_value, point)

    # Two scores that rank all rows alike have the same values in all replicates.
    is_zero = np.nan_to_num(drawn) == 0
    is_equal = is_zero.all(axis=0) & (point == 0)
    low = np.where(is_equal, 0.0, low)
    high = np.where(is_equal, 0.0, high)

    least = 1 / (distribution.counts + 1)
    two_sided = np.maximum(two_sided, least)
    tested = hypothesis.tested(low, high, two_sided, point, is_equal)
    columns = distribution.columns(standard_error=distribution.error)
    table = both.with_columns(*tested, *columns, name=pl.lit("bootstrap"))
    warn_of_replicates(table, comparison.sample.names, comparison.call.draws, hypothesis.alpha)
    return table
