"""Confidence bounds of whole columns: arrays of values, standard errors and degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.messages import warn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.float64]"
Bounds: TypeAlias = "tuple[Array, Array]"

ROUNDING = 1e-12
"""A mean of shares this close to 0 or 1 counts as 0 or 1: sums of floats are not exact."""
_FURTHER = 10
"""Rows of each class that have the variance of a model in the interval of ROC AUC.

Decision record 6 has the reason.
"""
_HALVINGS = 50
BoundsName: TypeAlias = Literal["number", "share", "proportion", "f1", "roc_auc"]


def scipy_special() -> Any:
    """Return the module of special functions of scipy, which intervals and tests need."""
    try:
        from scipy import special  # Takes 0.1 s, which other calls do not need.
    except ImportError:
        raise ImportError(
            'intervals, tests and average curves need scipy: pip install "frame_pr[stats]"'
        ) from None
    return special


class Estimates(NamedTuple):
    """Values with their standard errors, as arrays. NaN stands for a missing number."""

    value: Array
    error: Array
    df: Array
    """Degrees of freedom.

    A value of exactly 0 or 1 rests on df + 1 rows of the rarer label, clusters or groups.
    """
    units: Array
    """Number of rows, clusters or groups in the sample."""
    positives: Array
    negatives: Array

    @staticmethod
    def of(table: pl.DataFrame, prefix: str = "") -> Estimates:
        """Read the columns of a table; null becomes NaN."""
        return Estimates(*(array_of(table, prefix + name) for name in Estimates._fields))


def array_of(table: pl.DataFrame, name: str) -> Array:
    """Return a column as floats; null becomes NaN."""
    column = table[name].cast(pl.Float64)
    return column.to_numpy()


def columns_of(**arrays: Array) -> list[pl.Series]:
    """Return arrays as columns; NaN becomes null."""
    return [
        pl.Series(name, array, dtype=pl.Float64, nan_to_null=True) for name, array in arrays.items()
    ]


def t_quantile(alpha: float | Array, df: Array) -> Array:
    """Return the value that |t| exceeds with probability alpha; NaN without degrees of freedom."""
    quantile: Array = -scipy_special().stdtrit(df, alpha / 2)
    return quantile


def bisected(is_below: Callable[[Array], Any], low: Array, high: Array) -> Array:
    """Return where a condition that holds from `low` on becomes false."""
    import numpy as np

    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = is_below(middle)
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return low


def _number_bounds(estimates: Estimates, alpha: float | Array) -> Bounds:
    """Return `value -+ t error`."""
    value = estimates.value
    quantile = t_quantile(alpha, estimates.df)
    reach = quantile * estimates.error
    return value - reach, value + reach


def _share_bounds(estimates: Estimates, alpha: float | Array) -> Bounds:
    """Return the bounds of a share m on the logit scale: `expit(logit m -+ t e / (m (1 - m)))`.

    At 0 and 1 there is no spread. But n shares with mean mu are all 1 with a probability of at most
    mu^n.
    """
    import numpy as np

    value = estimates.value
    rest = 1 - value
    error = estimates.error
    df = estimates.df
    # Use the exponential of a negative number: that of a positive one may overflow.
    quantile = t_quantile(alpha, df)
    scale = value * rest
    shrink = np.exp(-quantile * error / scale)
    below = value * shrink
    low = below / (below + rest)
    high = value / (value + rest * shrink)

    # Without an error there are no bounds: 0 * error is NaN.
    exact_low, exact_high = bounds_of_equal(estimates, df + 1 + 0 * error, alpha)
    is_exact = (value <= ROUNDING) | (rest <= ROUNDING)
    return np.where(is_exact, exact_low, low), np.where(is_exact, exact_high, high)


def bounds_of_equal(estimates: Estimates, n: Array, alpha: float | Array) -> Bounds:
    """Return the bounds of shares whose n units all are 0 or all are 1; NaN for other shares.

    All n units of a population with mean mu are 1 with a probability of at most mu^n.
    """
    import numpy as np

    value = estimates.value
    n = np.where((estimates.df > 0) & (n > 0), n, np.nan)
    least = (alpha / 2) ** (1 / n)
    zero = 0 * least
    is_exact = [value >= 1 - ROUNDING, value <= ROUNDING]
    low = np.select(is_exact, [least, zero], np.nan)
    high = np.select(is_exact, [1 + zero, 1 - least], np.nan)
    return low, high


def _proportion_bounds(estimates: Estimates, alpha: float | Array) -> Bounds:
    """Return Wilson's score interval for a proportion of n = df + 1 units."""
    import numpy as np

    value = estimates.value
    n = estimates.df + 1
    z = -scipy_special().ndtri(alpha / 2)
    part = z * z / n
    whole = 1 + part
    variance = value * (1 - value) / n
    spread = variance + part / (4 * n)
    reach = z * np.sqrt(spread)
    middle = value + part / 2
    low = (middle - reach) / whole
    high = (middle + reach) / whole
    # Of a proportion of 0 or 1, rounding of the square root puts an end outside.
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _f1_bounds(estimates: Estimates, alpha: float | Array) -> Bounds:
    """Return the bounds of F1 = 2 J / (1 + J).

    J is the proportion of true positives among the rows that are positive or predicted so.
    """
    f1 = estimates.value
    proportions = estimates._replace(value=f1 / (2 - f1))
    low, high = _proportion_bounds(proportions, alpha)
    low = 2 * low / (1 + low)
    high = 2 * high / (1 + high)
    return low, high


def _roc_auc_bounds(estimates: Estimates, alpha: float | Array) -> Bounds:
    """Return the bounds of a share, at least as wide towards 1/2 as a score interval of ROC AUC.

    Near 1 the error is small in just the samples whose value is too large. The score interval goes
    down to the theta with `(value - theta)^2 = t^2 V(theta)`, where V is the squared error as if 10
    further rows of each class had the variance of the exponential model (Hanley and McNeil 1982) at
    theta.
    """
    import numpy as np

    low, high = _share_bounds(estimates, alpha)
    value = estimates.value
    swapped = estimates._replace(
        value=1 - value,
        positives=estimates.negatives,
        negatives=estimates.positives,
    )
    quantile = t_quantile(alpha, estimates.df)
    score_low = _score_bound(estimates, quantile)
    score_high = 1 - _score_bound(swapped, quantile)

    is_high = (value > 0.5) & (value < 1 - ROUNDING)
    is_low = (value < 0.5) & (value > ROUNDING)
    low = np.where(is_high, np.minimum(low, score_low), low)
    high = np.where(is_low, np.maximum(high, score_high), high)
    return low, high


def _score_bound(estimates: Estimates, quantile: Array) -> Array:
    """Solve for the lower score bound by bisection."""
    import numpy as np

    value = estimates.value
    df = estimates.df
    weight = df / (df + _FURTHER)
    of_sample = weight * estimates.error**2

    def is_too_far(theta: Array) -> Any:
        rest = 1 - theta
        of_positives = theta**2 * rest / (1 + theta)
        of_positives /= estimates.positives
        of_negatives = theta * rest**2 / (2 - theta)
        of_negatives /= estimates.negatives
        of_classes = of_positives + of_negatives
        of_model = (1 - weight) * of_classes
        error = np.sqrt(of_sample + of_model)
        distance = value - theta
        return distance > quantile * error

    return bisected(is_too_far, 0 * value, value)


BOUNDS: Mapping[BoundsName, Callable[[Estimates, float | Array], Bounds]] = {
    "number": _number_bounds,
    "share": _share_bounds,
    "proportion": _proportion_bounds,
    "f1": _f1_bounds,
    "roc_auc": _roc_auc_bounds,
}


def bounds_of(
    kinds: Sequence[BoundsName],
    metric: Any,
    estimates: Estimates,
    alpha: float | Array,
) -> Bounds:
    """Return the bounds of values by the kind of their metric; NaN with fewer than two units.

    `metric`: the place in `kinds` of each value.
    """
    import numpy as np

    low = high = np.full(len(estimates.value), np.nan)
    kind_of_value = np.array(kinds)[metric]
    with np.errstate(all="ignore"):
        for kind in set(kinds):
            is_kind = (kind_of_value == kind) & (estimates.units > 1)
            low_of_kind, high_of_kind = BOUNDS[kind](estimates, alpha)
            low = np.where(is_kind, low_of_kind, low)
            high = np.where(is_kind, high_of_kind, high)
    # Bounds enclose the value, also if rounding puts a close bound on the wrong side.
    return np.minimum(estimates.value, low), np.maximum(estimates.value, high)


def with_bounds(
    table: pl.DataFrame,
    kinds: Sequence[BoundsName],
    confidence: float,
) -> pl.DataFrame:
    """Return the table with `low` and `high`.

    It has the place `m` of the metric and the columns of `Estimates`.
    """
    estimates = Estimates.of(table)
    metric = table["m"].to_numpy()
    low, high = bounds_of(kinds, metric, estimates, 1 - confidence)
    return table.with_columns(columns_of(low=low, high=high))


FEW_UNITS = 10
"""With fewer units that all agree, such as folds, the mean has no bounds of yes-or-no trials."""


def with_bounds_of_means(
    table: pl.DataFrame,
    kinds: Sequence[BoundsName],
    confidence: float,
    certain: pl.Expr = pl.lit(False),  # noqa: B008
) -> pl.DataFrame:
    """Return `with_bounds` for means over units.

    Fewer than 10 units that all agree have bounds of zero width.

    A fold with a precision of 1 is no single trial, so its bound `(alpha / 2)^(1 / n)` says
    nothing. Because an interval of zero width says nothing of other units either, it warns.
    `certain`: where all units agree by definition.
    """
    table = with_bounds(table, kinds, confidence)
    units = pl.col("units")
    are_few = (units > 1) & (units < FEW_UNITS)
    agree = are_few & (pl.col("error") <= ROUNDING)
    surprising = table.filter(agree, ~certain)
    if surprising.height:
        fewest: Any = surprising["units"].min()
        warn(
            f"the {fewest} groups that are averaged have the same value, and their interval no "
            "width: so few groups do not show how others vary"
        )
    low = pl.when(agree).then("value").otherwise("low")
    high = pl.when(agree).then("value").otherwise("high")
    return table.with_columns(low=low, high=high)


_DF = pl.col("df").fill_nan(None).fill_null(0)
_NO_BOUNDS: Mapping[str, pl.Expr] = {
    "the value is infinite": pl.col("value").is_infinite(),
    "there is one unit only": pl.col("units") < 2,
    "fewer than two rows or clusters of the rarer label": _DF <= 0,
}
"""Why a value has no bounds: the first condition that holds."""


UNIT_HINT = "; if the groups of by= are units that were drawn, name them in mean_over= instead"
"""What to do with groups of one unit."""


def warn_without_bounds(table: pl.DataFrame, *, other: str, hint: str = "") -> None:
    """Warn if values have no bounds, and say why. `table`: `low`, `value`, `units`, `df`.

    `other`: the reason where no condition of `_NO_BOUNDS` holds. `hint`: what to do with one unit.
    """
    has_value = pl.col("value").is_not_null()
    has_bounds = pl.col("low").is_not_null()
    lacking = table.filter(has_value, ~has_bounds)
    if lacking.is_empty():
        return

    reasons_or_null = [pl.when(holds).then(pl.lit(text)) for text, holds in _NO_BOUNDS.items()]
    reason = lacking.select(pl.coalesce(*reasons_or_null, pl.lit(other))).to_series()
    reasons = "; ".join(reason.unique(maintain_order=True))
    if "one unit" in reasons:
        reasons += hint
    warn(f"{lacking.height} of {table.height} values have no bounds: {reasons}")
