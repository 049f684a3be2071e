"""Intervals and p-values from the replicates of a bootstrap: bias-corrected quantiles with Student's t."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.messages import warn
from frame_pr.metrics.rates import RATES
from frame_pr.statistics.bootstrap import Draws, replicates_of
from frame_pr.statistics.bounds import (
    BOUNDS,
    ROUNDING,
    Array,
    Bounds,
    Estimates,
    array_of,
    columns_of,
    scipy_special,
    t_quantile,
)
from frame_pr.statistics.sampled_rows import SampledRows

_RANKING = ("average_precision", "interpolated_average_precision", "roc_auc")
"""Metrics of all positives and negatives, that are 1 for a perfect ranking."""

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
    """The standard deviations of the replicates; NaN if these do not vary, up to rounding errors."""
    df: Array

    @staticmethod
    def of(replicates: Array, point: Array, df: Array) -> Distribution:
        """Order the replicates, a row for each."""
        import numpy as np

        finite = np.isfinite(replicates)
        ordered = np.sort(np.where(finite, replicates, np.nan), axis=0)
        counts = finite.sum(axis=0)
        with np.errstate(all="ignore"):
            # A difference of the size of rounding errors is none.
            noise = ROUNDING * np.where(finite, abs(replicates), 0).max(axis=0)
            below = (ordered < point - noise).sum(axis=0)
            above = (ordered > point + noise).sum(axis=0)
            share = (below + counts - above) / 2 / counts
            repeats = len(replicates)
            z0 = scipy_special().ndtri((2 * repeats * share + 1) / (2 * repeats + 2))
            # At the end of all replicates, the share below the value does not measure bias.
            z0 = np.where((below > 0) & (above > 0), z0, 0.0)
            mean = np.where(finite, replicates, 0).sum(axis=0) / counts
            squares = np.where(finite, replicates - mean, 0) ** 2
            error = np.sqrt(squares.sum(axis=0) / (counts - 1))
            error = np.where(np.isfinite(point) & (error > noise), error, np.nan)
        return Distribution(ordered, counts, point, z0, error, df)

    @property
    def undefined(self) -> Array:
        """Return how many replicates have no value."""
        return len(self.ordered) - self.counts

    def bounds(self, alpha: float | Array) -> Bounds:
        """Return the quantiles at the probabilities Phi(2 z0 - t) and Phi(2 z0 + t); they enclose the values.

        Phi is the standard normal distribution function, and Phi(z0) is the share of replicates
        below the value of the sample, where replicates equal to it count half (Efron 1987). In
        small samples, replicates vary too little. So t is a quantile of Student's t distribution,
        in place of the normal quantile (Hesterberg 2015). Where half of the replicates or more have
        no value, there are no bounds.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            t = t_quantile(alpha, self.df)
            low = self._quantile(2 * self.z0 - t)
            high = self._quantile(2 * self.z0 + t)
        is_known = np.isfinite(self.error * t) & (2 * self.counts > len(self.ordered))
        low = np.where(is_known, np.minimum(self.point, low), np.nan)
        high = np.where(is_known, np.maximum(self.point, high), np.nan)
        return low, high

    def _quantile(self, z: Array) -> Array:
        """Return the quantiles at the probabilities Phi(z), linear between neighbours."""
        import numpy as np

        place = np.nan_to_num(scipy_special().ndtr(z) * np.maximum(self.counts - 1, 0))
        lower = np.floor(place).astype(int)[None]
        upper = np.ceil(place).astype(int)[None]
        before = np.take_along_axis(self.ordered, lower, axis=0)[0]
        after = np.take_along_axis(self.ordered, upper, axis=0)[0]
        quantile: Array = before + (after - before) * (place - np.floor(place))
        return quantile


def intervals_of_draws(sampled: SampledRows[Any], draws: Draws, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric, with the bounds of a bootstrap over rows or clusters."""
    replicates = replicates_of(sampled, draws)
    parts = []
    for m, metric in enumerate(sampled.metrics):
        table = replicates.of_metric(m)
        distribution = Distribution.of(
            replicates.drawn[m], array_of(table, "value"), array_of(table, "df")
        )
        low, high = _bounds(table, metric.name, distribution, 1 - confidence, sampled.averaged)
        bounds = columns_of(low=low, high=high, error=distribution.error)
        undefined = pl.Series("undefined_replicates", distribution.undefined, dtype=pl.Int64)
        table = table.with_columns(*bounds, undefined, m=pl.lit(m, dtype=pl.Int32))
        parts.append(table)
    result = pl.concat(parts)
    names = pl.Series([metric.name for metric in sampled.metrics], dtype=pl.String)
    _warn_of_bounds(result.with_columns(metric=pl.lit(names).gather("m")), draws, 1 - confidence)
    return result


def _bounds(
    table: pl.DataFrame, name: str, distribution: Distribution, alpha: float, averaged: bool
) -> Bounds:
    """Return the bounds of a metric, at least as far from its value as those of the closed form near 0 and 1."""
    import numpy as np

    low, high = distribution.bounds(alpha)
    value = distribution.point
    df = distribution.df
    positives, negatives = (array_of(table, label) for label in ("positives", "negatives"))
    estimates = Estimates(
        value, distribution.error, df, positives + negatives, positives, negatives
    )
    with np.errstate(all="ignore"):
        if name == "roc_auc" and not averaged:
            closed_low, closed_high = BOUNDS["roc_auc"](estimates, alpha)
            low = np.minimum(low, closed_low)
            high = np.maximum(high, closed_high)
        # All n rows of the whole agree, with a probability of at most low^n.
        sources = _rows_behind(name, df + 1, array_of(table, "selected"))
        least = np.where((df > 0) & (sources > 0), (alpha / 2) ** (1 / sources), np.nan)
        all_1 = value >= 1 - ROUNDING
        all_0 = value <= ROUNDING
        low = np.where(all_1, np.fmin(low, least), low)
        low = np.where(all_0 & (least > 0), 0.0, low)
        high = np.where(all_0, np.fmax(high, 1 - least), high)
        high = np.where(all_1 & (least > 0), 1.0, high)
    return low, high


def _rows_behind(name: str, rarer: Array, selected: Array) -> Array:
    """Return the number of rows that a value of 0 or 1 of a share rests on; NaN if unknown.

    `rarer`: the rows of the rarer label. `selected`: the rows that the cutoff selects.
    """
    # A threshold with an interpolated precision selects at least the rows of the recall.
    head = name.partition("@")[0].removeprefix("interpolated_")
    share = RATES[head].row_share if head in RATES else None
    if name in _RANKING:
        return rarer
    if share is not None:
        whole = share.whole(pl.col("truth"), pl.col("reached"))
        if "reached" not in whole.meta.root_names():
            return rarer
        if whole.meta.eq(pl.col("reached")):
            return selected
    return rarer * float("nan")


def _warn_of_bounds(table: pl.DataFrame, draws: Draws, alpha: float) -> None:
    """Warn of replicates without a value, and of replicates that do not vary. `table`: a row per key and metric."""
    defined = table.filter(pl.col("value").is_finite())
    share = pl.col("undefined_replicates") / draws.repeats
    # The level of an interval is off by at most this share.
    lacking = defined.filter(share > alpha / _NEGLIGIBLE)
    if lacking.height:
        most: Any = lacking.select(share.max()).item()
        meaning = "the interval is that of the others, so its level is not exact"
        if most >= 0.5:
            meaning = "there are no bounds where half of them have none"
        warn(
            f"{_named(lacking, 'has no value in', 'have no value in up to')} {most:.2%} of the replicates of the "
            f"bootstrap: {meaning}; intervals(details=True) counts them"
        )
    constant = defined.filter(pl.col("df") > 0, pl.col("low").is_null(), share < 0.5)
    if constant.height:
        warn(
            f"{_named(constant, 'is', 'are')} the same in all replicates of the bootstrap, which do not show how a "
            "value varies: the bounds are null"
        )


def _named(table: pl.DataFrame, verb: str, verb_of_several: str) -> str:
    """Return the first two metrics of a table and a verb, as the subject of a sentence."""
    names = table["metric"].unique(maintain_order=True).to_list()
    if len(names) == 1:
        return f"{names[0]} {verb}"
    more = [f"{len(names) - 2} more"] if len(names) > 2 else names[1:2]
    return f"{', '.join(names[: len(names) - 1][:2])} and {more[0]} {verb_of_several}"
