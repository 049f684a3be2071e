"""Intervals and p-values of a bootstrap: bias-corrected quantiles with Student's t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.metrics.cutoffs import Limit
from frame_pr.metrics.goals import Goal
from frame_pr.metrics.metric import Metric
from frame_pr.metrics.names import metric
from frame_pr.metrics.rates import RATES
from frame_pr.statistics.bootstrap import Draws, Replicates, replicates_of
from frame_pr.statistics.bounds import (
    BOUNDS,
    FEW_UNITS,
    ROUNDING,
    Array,
    Bounds,
    Estimates,
    array_of,
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

_WHOLE_SAMPLE = ("average_precision", "interpolated_average_precision", "roc_auc", "share")
"""Metrics of all positives and negatives that are 1 for perfect rankings, and means of shares."""

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

        finite = np.isfinite(replicates)
        counts = finite.sum(axis=0)
        ordered = np.where(finite, replicates, np.nan)
        ordered.sort(axis=0)

        with np.errstate(all="ignore"):
            # A difference of the size of rounding errors is none.
            largest = np.where(finite, abs(replicates), 0).max(axis=0)
            noise = ROUNDING * largest
            z0 = _bias(ordered, counts, point, noise)
            error = _deviations(replicates, finite, counts)
            is_known = np.isfinite(point) & (error > noise)
            error = np.where(is_known, error, np.nan)
        return Distribution(ordered, counts, point, z0, error, df)

    @property
    def undefined(self) -> Array:
        """Return how many replicates have no value."""
        return len(self.ordered) - self.counts

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

        with np.errstate(all="ignore"):
            t = stretch * t_quantile(alpha, self.df)
            low = self._quantile(2 * self.z0 - t)
            high = self._quantile(2 * self.z0 + t)
        has_spread = np.isfinite(self.error * t)
        is_known = has_spread & (2 * self.counts > len(self.ordered))
        low = np.minimum(self.point, low)
        high = np.maximum(self.point, high)
        low = np.where(is_known, low, np.nan)
        high = np.where(is_known, high, np.nan)
        return low, high

    def _quantile(self, z: Array) -> Array:
        """Return the quantiles at the probabilities Phi(z), linear between neighbours."""
        import numpy as np

        probability = scipy_special().ndtr(z)
        last = np.maximum(self.counts - 1, 0)
        place = np.nan_to_num(probability * last)
        lower = np.floor(place)
        upper = np.ceil(place)
        before = self._at(lower)
        after = self._at(upper)
        quantile: Array = before + (after - before) * (place - lower)
        return quantile

    def _at(self, place: Array) -> Array:
        """Return the replicate at a place of the order, for each value."""
        import numpy as np

        row = place.astype(int)[None]
        replicates: Array = np.take_along_axis(self.ordered, row, axis=0)[0]
        return replicates


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


def _deviations(replicates: Array, finite: Array, counts: Array) -> Array:
    """Return the standard deviation of the replicates of each value."""
    import numpy as np

    total = np.where(finite, replicates, 0).sum(axis=0)
    mean = total / counts
    squares = np.where(finite, replicates - mean, 0) ** 2
    variance = squares.sum(axis=0) / (counts - 1)
    deviation: Array = np.sqrt(variance)
    return deviation


def intervals_of_draws(sample: Sample[Any], draws: Draws, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric with the bounds of a bootstrap."""
    alpha = 1 - confidence
    names = names_of(sample)
    averaged = isinstance(sample, SampledRows) and sample.averaged
    metrics = replicates_of(sample, draws)
    parts = []
    for m, (name, replicates) in enumerate(zip(names, metrics, strict=True)):
        table = replicates.table
        point = array_of(table, "value")
        df = array_of(table, "df")
        distribution = Distribution.of(replicates.drawn, point, df)
        low, high = _bounds(replicates, name, distribution, alpha)
        if name == "roc_auc" and not averaged:
            low, high = _widened(low, high, table, distribution, alpha)
        bounds = columns_of(low=low, high=high, error=distribution.error)
        table = table.with_columns(
            *bounds,
            _undefined_replicates(distribution),
            pl.lit(m, dtype=pl.Int32).alias("m"),
            metric=pl.lit(name),
        )
        parts.append(table)

    result = pl.concat(parts)
    warn_of_replicates(result, draws, alpha)
    if isinstance(sample, SampledRows):
        _warn_of_coverage(names, few=(result["df"] <= _MEASURED).any())
    warn_without_bounds(
        result,
        other="half of the replicates have no value, or all have the same one",
    )
    return result


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


def _undefined_replicates(distribution: Distribution) -> pl.Series:
    return pl.Series("undefined_replicates", distribution.undefined, dtype=pl.Int64)


def names_of(sample: Sample[Any]) -> list[str]:
    """Return the names of the metrics of a sample; of means over units, their bounds."""
    if isinstance(sample, SampledRows):
        return [metric.name for metric in sample.metrics]
    return list(sample.bounds)


def _bounds(replicates: Replicates, name: str, distribution: Distribution, alpha: float) -> Bounds:
    """Return the bounds of a metric; of a value of 0 or 1 at least as wide as the closed form."""
    import numpy as np

    low, high = distribution.bounds(alpha)
    value = distribution.point
    rarer = distribution.df + 1
    selected = array_of(replicates.table, "selected")
    rows = _rows_behind(name, rarer, selected)
    with np.errstate(all="ignore"):
        has_rows = (distribution.df > 0) & (rows > 0)
        all_1 = value >= 1 - ROUNDING
        all_0 = value <= ROUNDING
        # All n rows of the whole agree, with a probability of at most low^n.
        least = (alpha / 2) ** (1 / rows)
        least = np.where(has_rows, least, np.nan)
        is_known = least > 0
        low = np.where(all_1, np.fmin(low, least), low)
        low = np.where(all_0 & is_known, 0.0, low)
        high = np.where(all_0, np.fmax(high, 1 - least), high)
        high = np.where(all_1 & is_known, 1.0, high)
    return low, high


def _widened(
    low: Array, high: Array, table: pl.DataFrame, distribution: Distribution, alpha: float
) -> Bounds:
    """Return bounds of ROC AUC at least as far from the value as those of the closed form."""
    import numpy as np

    estimates = Estimates(
        distribution.point,
        distribution.error,
        distribution.df,
        array_of(table, "units"),
        array_of(table, "positives"),
        array_of(table, "negatives"),
    )
    with np.errstate(all="ignore"):
        closed_low, closed_high = BOUNDS["roc_auc"](estimates, alpha)
    # NaN, where replicates do not vary, is no bound.
    low = np.fmin(low, closed_low)
    high = np.fmax(high, closed_high)
    return low, high


def _rows_behind(name: str, rarer: Array, selected: Array) -> Array:
    """Return the number of rows that a value of 0 or 1 of a share rests on; NaN if unknown.

    `rarer`: the rows of the rarer label. `selected`: the rows that the cutoff selects.
    """
    if name in _WHOLE_SAMPLE:
        return rarer
    unknown = rarer * float("nan")
    # A threshold with an interpolated precision selects at least the rows of the recall.
    head, _, _ = name.partition("@")
    rate = RATES.get(head.removeprefix("interpolated_"))
    if rate is None or rate.row_share is None:
        return unknown
    reached = pl.col("reached")
    whole = rate.row_share.whole(pl.col("truth"), reached)
    if "reached" not in whole.meta.root_names():
        return rarer
    if whole.meta.eq(reached):
        return selected
    return unknown


def warn_of_replicates(table: pl.DataFrame, draws: Draws, alpha: float) -> None:
    """Warn of replicates without a value. `table`: `metric`, `low` and `undefined_replicates`."""
    share = pl.col("undefined_replicates") / draws.repeats
    # The level of an interval is off by at most this share.
    has_bounds = pl.col("low").is_not_null()
    lacking = table.filter(has_bounds, share > alpha / _NEGLIGIBLE)
    if lacking.is_empty():
        return
    most: Any = lacking.select(share.max()).item()
    names = lacking["metric"].unique(maintain_order=True)
    warn(
        f"{_counted(names)} no value in up to {most:.2%} of the replicates of the bootstrap: the "
        "interval is that of the others, so its level is not exact; intervals(details=True) "
        "counts them"
    )


def _counted(names: pl.Series) -> str:
    """Return the metrics as the subject of a sentence."""
    if len(names) == 1:
        return f"{names[0]} has"
    return f"{len(names)} metrics, such as {names[0]}, have"


# comparisons
# -------------------------------------------------------------------------------------------------


def compare_draws(comparison: Comparison) -> pl.DataFrame:
    """Compare values by replicates of their differences, with the same rows or clusters for both.

    The p-value is the largest alpha at which the interval contains the tested difference; not below
    `1 / (replicates + 1)`.
    """
    pairs = comparison.pairs
    draws = comparison.draws
    sample = comparison.sample
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    metrics = replicates_of(sample, draws, pairs.names.name)
    parts = []
    for m, (name, replicates) in enumerate(zip(names_of(sample), metrics, strict=True)):
        table = replicates.table.with_columns(
            m=pl.lit(m, pl.Int32),
            result=place,
        )
        places = pairs.with_places(table)
        both = pairs.both(places)
        result_of_b = both["result"].to_numpy()
        result_of_a = both["base result"].to_numpy()
        drawn = replicates.drawn
        differences = drawn[:, result_of_b] - drawn[:, result_of_a]
        both = with_differences(both).with_columns(
            df=pl.min_horizontal("base df", "df"),
            standard_error=_error_of_both(both),
        )
        parts.append(_test_differences(both, differences, comparison, name))

    table = pl.concat(parts)
    warn_of_replicates(table, draws, comparison.hypothesis.alpha)
    numbers = "{} and {}"
    sizes = ["n_baseline", "n_system"]
    if isinstance(sample, SampledRows) and sample.output.systems:
        numbers = "{}"
        sizes = ["n_system"]
    text = pl.format(f"bootstrap over {numbers} {comparison.noun}", *sizes)
    return table.with_columns(method=text)


def _error_of_both(both: pl.DataFrame) -> pl.Expr:
    """Return the standard error of the difference of two means of units; null for rows."""
    if "error" not in both.columns:
        return pl.lit(None, pl.Float64)
    squares = pl.col("error") ** 2 + pl.col("base error") ** 2
    return squares.sqrt()


def compare_drawn_units(comparison: Comparison) -> pl.DataFrame:
    """Compare the same units, such as queries: a replicate is the mean of differences of units."""
    draws = comparison.draws
    test = comparison.pairs.test
    differences = differences_of_units(comparison)
    table = means_of_differences(differences, comparison)
    keys = {name: name for name in test if name != "m"}
    values = differences.select(*test, "cluster", value="d")
    of_differences = comparison.units._replace(table=values, keys=keys)
    metrics = replicates_of(of_differences, draws)
    parts = []
    for m, (name, replicates) in enumerate(zip(names_of(of_differences), metrics, strict=True)):
        tests = replicates.table.select(*keys)
        of_metric = table.filter(m=m)
        tests = tests.join(
            of_metric,
            on=[*keys],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        tests = tests.with_columns(m=pl.lit(m, pl.Int32))
        parts.append(_test_differences(tests, replicates.drawn, comparison, name))

    table = pl.concat(parts).drop_nulls("n_system")
    warn_of_replicates(table, draws, comparison.hypothesis.alpha)
    method = pl.col("method").str
    return table.with_columns(method=method.replace("paired t", "bootstrap", literal=True))


def _test_differences(
    both: pl.DataFrame, drawn: Array, comparison: Comparison, name: str
) -> pl.DataFrame:
    """Return pairs with bounds and p-values. `drawn`: a row per replicate, a column per pair.

    t has the factor `(n / (n - 1))^(1/2)` for n = df + 1, because the variance of replicates is
    too small by (n - 1) / n (Hesterberg 2015). Of fewer than 10 units, replicates have few values,
    which may all have one sign. There the bounds are at least those of Student's t.
    """
    import numpy as np

    hypothesis = comparison.hypothesis
    point = array_of(both, "difference")
    df = array_of(both, "df")
    distribution = Distribution.of(drawn, point, df)
    error = np.zeros(len(point))
    if isinstance(comparison.sample, UnitValues):
        error = np.where(df < FEW_UNITS - 1, array_of(both, "standard_error"), error)

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
    p = np.maximum(two_sided, least)
    p = hypothesis.p_value(p, point, is_equal)
    p = np.where(np.isnan(low), np.nan, p)
    low, high = hypothesis.sides(low, high)
    numbers = columns_of(
        low=low,
        high=high,
        p_value=p,
        standard_error=distribution.error,
    )
    return both.with_columns(
        *numbers,
        _undefined_replicates(distribution),
        metric=pl.lit(name),
    )
