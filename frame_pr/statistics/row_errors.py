"""Standard errors where the rows of a group are the sample, as sums over blocks.

The D of a row is how much a figure changes with the weight of the row: its influence function. The D of all rows add up
to 0, and the sum of their squares is about the variance of the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Aggregates
from frame_pr.metrics.names import COLUMNS as B
from frame_pr.metrics.rates import RATES, Counts
from frame_pr.statistics.bounds import of_proportion

_NEGATIVES = B.rows - B.positives


class RowError(NamedTuple):
    """The standard error of a figure, and the D of a row."""

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
    own, above = B.size - B.hits, tp - B.hits
    of_hit = (k - tp - own / 2) / _NEGATIVES
    of_miss, of_earlier = 1 - (above + B.hits / 2) / B.positives, 1 - above / B.positives
    lacks = 1 - value
    earlier = pl.col("misses") - own
    of_positives = B.number("negatives_above_squares") - B.positives * lacks**2
    of_negatives = B.number("positives_below_squares") - _NEGATIVES * lacks**2
    # In floats, as an Int64 does not hold the square of every count.
    p, n = B.positives.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    variance = _spread(of_positives, p) / p**2 + _spread(of_negatives, n) / n**2
    return RowError(
        {
            "negatives_above_squares": Aggregate(B.hits * of_hit**2),
            "positives_below_squares": Aggregate(own * of_miss**2 + earlier * of_earlier**2),
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
"""Of the value of each figure of a whole ranking. Its df is one less than the fewer of positives and negatives."""


class Proportion(NamedTuple):
    """A share of rows, at a threshold: those that count, of those that are looked at, as sums of these per row."""

    part: Callable[[pl.Expr, pl.Expr], pl.Expr]
    """Of the truth of a row, and of whether it is predicted positive."""
    whole: Callable[[pl.Expr, pl.Expr], pl.Expr]
    n: Callable[[Counts], pl.Expr]
    """How many are looked at."""
    of_jaccard: bool = False
    """Whether it is 2 J / (1 + J) of the proportion J."""

    def error(self, value: pl.Expr, n: pl.Expr) -> pl.Expr:
        """The standard error of the figure."""
        share = self._share(value)
        error = (share * (1 - share) / n).sqrt()
        return error * 2 / (1 + share) ** 2 if self.of_jaccard else error

    def bounds(self, value: pl.Expr, n: pl.Expr, confidence: float) -> dict[str, pl.Expr]:
        """Wilson's interval of the proportion, and so of the figure."""
        found = of_proportion(self._share(value), n, confidence)
        return {name: 2 * bound / (1 + bound) if self.of_jaccard else bound for name, bound in found.items()}

    def _share(self, value: pl.Expr) -> pl.Expr:
        return value / (2 - value) if self.of_jaccard else value


PROPORTIONS: Mapping[str, Proportion] = {
    name: Proportion(*rate.row_share) for name, rate in RATES.items() if rate.row_share is not None
}
"""The rates that are shares of rows, by their names. F1 is 2 J / (1 + J) of the share J of tp in tp + fp + fn."""
