"""Standard errors of metrics where rows are the sample, and bounds from a standard error and its degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import NamedTuple

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Aggregates
from frame_pr.metrics.names import COLUMNS as B
from frame_pr.metrics.rates import RATES, Counts
from frame_pr.statistics.student_t import quantile

ROUNDING = 1e-12
"""So close to 0 or 1 a mean of shares is taken for 0 or 1, from which sums of floats differ by their last bits."""
_NEGATIVES = B.rows - B.positives


def of_number(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """`value -+ t error`; null without an error."""
    reach = quantile(confidence, df) * error
    return {"low": value - reach, "high": value + reach}


def of_share(value: pl.Expr, error: pl.Expr, df: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """The same on the scale of logits, for what lies between 0 and 1: `expit(logit m -+ t e / (m (1 - m)))`.

    At 0 and at 1 there is no spread. Yet n shares of mean mu are all 1 with a probability of at most mu^n.
    """
    all_0, all_1 = value <= ROUNDING, value >= 1 - ROUNDING
    # The exponential of a negative number: that of a positive one may be infinite.
    shrink = (-quantile(confidence, df) * error / (value * (1 - value))).exp()
    least = pl.lit((1 - confidence) / 2).pow(1 / (df + 1))
    low, high = value * shrink / (value * shrink + 1 - value), value / (value + (1 - value) * shrink)
    low = pl.when(all_1).then(least).when(all_0).then(0.0).otherwise(low)
    high = pl.when(all_1).then(1.0).when(all_0).then(1 - least).otherwise(high)
    sides = around(value, low, high)
    return {name: pl.when(error.is_not_null() & (df > 0)).then(side) for name, side in sides.items()}


def of_proportion(value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
    """Wilson's score interval of a proportion of n units."""
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    part = z * z / n
    middle, reach = value + part / 2, z * (value * (1 - value) / n + part / (4 * n)).sqrt()
    # At its ends exactly: the root is rounded.
    return {
        "low": pl.when(value > 0).then((middle - reach) / (1 + part)).when(value == 0).then(0.0),
        "high": pl.when(value < 1).then((middle + reach) / (1 + part)).when(value == 1).then(1.0),
    }


def around(value: pl.Expr, low: pl.Expr, high: pl.Expr) -> dict[str, pl.Expr]:
    """Bounds between which the value lies, also where they are so close that rounding puts one on the wrong side."""
    return {"low": pl.min_horizontal(value, low), "high": pl.max_horizontal(value, high)}


class RowError(NamedTuple):
    """The standard error of a metric where rows are the sample, as sums over blocks, and the D of a row.

    The D of a row is how much the metric changes with the weight of the row: its influence function. The D of all rows
    add up to 0, and the sum of their squares is about the variance of the metric.
    """

    aggregates: Aggregates
    error: pl.Expr
    """Of the facts of the group and of the aggregates."""
    positive: pl.Expr
    """The D of a positive, of its block and of the facts of the group."""
    negative: pl.Expr
    by_class: bool = False
    """Whether the D of the positives add up to 0, and those of the negatives too."""


def _average_precision(value: pl.Expr) -> RowError:
    """Of rows that are not retrieved no sum knows: the D of such a positive is -A / P.

    One more weight for a positive moves the A itself, and the precision at its step and all later ones; for a negative
    only these.
    """
    lacking = B.tp / B.k - 1 + pl.col("later_misses")
    later_hits, unretrieved = pl.col("later_hits"), B.positives - B.number("hits_found")
    # Around 1 - A, which of good rankings is as small as the rest.
    lacks = 1 - value
    squares = B.number("gain_squares") + 2 * lacks * B.number("gains") + lacks**2 * B.number("hits_found")
    squares += unretrieved * value**2 + B.number("loss_squares")
    return RowError(
        {
            "gain_squares": Aggregate(B.hits * lacking**2),
            "gains": Aggregate(B.hits * lacking),
            "hits_found": Aggregate(pl.when("retrieved").then(B.hits)),
            "loss_squares": Aggregate(pl.col("misses") * later_hits**2),
        },
        _spread(squares, pl.min_horizontal(B.positives, _NEGATIVES)).sqrt() / B.positives,
        (lacking.fill_null(-1.0) + lacks) / B.positives,
        -later_hits / B.positives,
    )


def _roc_auc(value: pl.Expr) -> RowError:
    """By the share of negatives above a positive, and of positives below a negative.

    So it is the variance of DeLong, DeLong and Clarke-Pearson (1988). What is not retrieved is a last block.
    """
    tp, k = B.tp.fill_null(B.positives), B.k.fill_null(B.rows)
    misses, above = B.size - B.hits, tp - B.hits
    of_hit = (k - tp - misses / 2) / _NEGATIVES
    of_miss, of_earlier = 1 - (above + B.hits / 2) / B.positives, 1 - above / B.positives
    lacks = 1 - value
    earlier = pl.col("misses") - misses
    of_positives = B.number("negatives_above_squares") - B.positives * lacks**2
    of_negatives = B.number("positives_below_squares") - _NEGATIVES * lacks**2
    # In floats, as an Int64 does not hold the square of every count.
    p, n = B.positives.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    variance = _spread(of_positives, p) / p**2 + _spread(of_negatives, n) / n**2
    return RowError(
        {
            "negatives_above_squares": Aggregate(B.hits * of_hit**2),
            "positives_below_squares": Aggregate(misses * of_miss**2 + earlier * of_earlier**2),
        },
        variance.sqrt(),
        (lacks - of_hit) / B.positives,
        (lacks - of_miss) / _NEGATIVES,
        by_class=True,
    )


def _spread(squares: pl.Expr, n: pl.Expr) -> pl.Expr:
    """A sum of squares of n numbers that add up to 0, as if of a larger population; null below two."""
    return pl.when(n > 1).then(squares.clip(lower_bound=0.0) * n / (n - 1))


ROW_ERRORS: Mapping[str, Callable[[pl.Expr], RowError]] = {
    "average_precision": _average_precision,
    "roc_auc": _roc_auc,
}
"""Of the value of each metric of a whole ranking. Its df is one less than the fewer of positives and negatives."""


class Proportion(NamedTuple):
    """A share of rows at a threshold: those that count among those that are looked at, `part` of `whole`."""

    part: Callable[[pl.Expr, pl.Expr], pl.Expr]
    """Of the truth of a row, and of whether it is predicted positive."""
    whole: Callable[[pl.Expr, pl.Expr], pl.Expr]
    n: Callable[[Counts], pl.Expr]
    """How many are looked at."""
    of_jaccard: bool = False
    """Whether it is 2 J / (1 + J) of the proportion J."""

    def error(self, value: pl.Expr, n: pl.Expr) -> pl.Expr:
        """The standard error of the metric."""
        share = self._share(value)
        error = (share * (1 - share) / n).sqrt()
        return error * 2 / (1 + share) ** 2 if self.of_jaccard else error

    def bounds(self, value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
        """Wilson's interval of the proportion, and so of the metric."""
        sides = of_proportion(self._share(value), n, confidence)
        return {name: 2 * bound / (1 + bound) if self.of_jaccard else bound for name, bound in sides.items()}

    def _share(self, value: pl.Expr) -> pl.Expr:
        return value / (2 - value) if self.of_jaccard else value


PROPORTIONS: Mapping[str, Proportion] = {
    name: Proportion(*rate.row_share) for name, rate in RATES.items() if rate.row_share is not None
}
"""The rates that are shares of rows, by their names. F1 is 2 J / (1 + J) of the share J of tp in tp + fp + fn."""
