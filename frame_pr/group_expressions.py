"""A group as an expression sees it: its scores and truths, and what follows from them by expressions alone.

An expression knows neither the frame nor its groups, so it cannot share one packed sort as `ranking` does. It ranks
within its group instead; where the ranking is only cut, it just looks for the score at the cut.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from typing import NamedTuple

import polars as pl

from frame_pr.inputs import Column
from frame_pr.rates import Counts, ratio

_ADVICE = "drop these rows, or fill them, before the call"


class Group(NamedTuple):
    """Scores of one group and, row by row, whether each is a positive's."""

    score: pl.Expr
    truth: pl.Expr

    @property
    def hits(self) -> pl.Expr:
        """Scores of the positives."""
        return self.score.filter(self.truth)

    @property
    def positives(self) -> pl.Expr:
        """P, the positives of the group."""
        return self.truth.sum().cast(pl.Int64)

    @property
    def rows(self) -> pl.Expr:
        """N, the rows of the group."""
        return self.score.len().cast(pl.Int64)

    @property
    def k(self) -> pl.Expr:
        """The k of every positive's threshold."""
        return self.score.rank("max", descending=True).filter(self.truth)

    @property
    def precision(self) -> pl.Expr:
        """The precision at every positive's threshold."""
        return self.hits.rank("max", descending=True) / self.k

    @property
    def steps(self) -> Counts:
        """A row per positive in descending order of score; within a block, tp counts up to what it is at its end."""
        k = self.k.sort().cast(pl.Int64)
        return Counts(k.cum_count().cast(pl.Int64), k, self.positives, self.rows)

    def at_threshold(self, threshold: float | pl.Expr) -> Counts:
        """The rows that score at least this."""
        predicted = self.score >= threshold
        tp, k = (self.truth & predicted).sum(), predicted.sum()
        return Counts(tp.cast(pl.Int64), k.cast(pl.Int64), self.positives, self.rows)

    def at_recall(self, recall: Fraction) -> Counts:
        """The rows at the highest threshold whose recall is at least this; null without positives."""
        # The threshold is the score of the last positive that is needed: the ceiling of recall * P.
        needed = (self.positives.cast(pl.Int128) * recall.numerator + recall.denominator - 1) // recall.denominator
        threshold = self.score.max() if recall == 0 else self.hits.top_k(needed.cast(pl.Int64)).min()
        counts = self.at_threshold(threshold)
        tp, k = (pl.when(self.positives > 0).then(count) for count in (counts.tp, counts.k))
        return counts._replace(tp=tp, k=k)

    def at_k(self, k: int | pl.Expr) -> Cut:
        """The first k rows. A group with fewer is filled up with misses."""
        last = self.score.top_k(k).min()
        above, block = self.score > last, self.score == last
        before = (self.truth & above).sum().cast(pl.Int64)
        size = block.sum().cast(pl.Int64)
        share = (k - above.sum().cast(pl.Int64)).clip(0, size)
        shared = ratio((self.truth & block).sum() * share, size).fill_null(0.0)
        limit = pl.lit(k, dtype=pl.Int64) if isinstance(k, int) else k
        counts = Counts(before + shared, limit, self.positives, pl.max_horizontal(self.rows, limit))
        return Cut(counts, Group(self.score.filter(above), self.truth.filter(above)), shared)


class Cut(NamedTuple):
    """The first k rows: the counts there, the group above the block that the cut falls into, that block's hits."""

    counts: Counts
    above: Group
    shared: pl.Expr


def group_of(score: pl.Expr, truth: Column, positive: object) -> Group:
    """The group of a score expression, its truth by name or expression."""
    label = _expression(truth)
    return Group(score, label.cast(pl.Boolean) if positive is None else label == pl.lit(positive))


def checked(value: pl.Expr, score: pl.Expr, truth: Column, positive: object) -> pl.Expr:
    """The value; an error where scores or truths are missing.

    The message is a text that is then to be an integer: the one way for an expression to fail of its own accord.
    """
    label, rows = _expression(truth), score.len()
    missing = "missing of {} values (null or NaN)"
    # Only numbers have a sign: a score of another type is refused here.
    no_score = score.sign().cast(pl.Float64).is_nan().fill_null(True).sum()
    if positive is None:
        no_truth = label.cast(pl.Float64).ne_missing(label.cast(pl.Boolean).cast(pl.Float64)) | label.is_null()
        no_truths, wrong = no_truth.sum(), "of {} values that are missing, or neither true, false, 0 nor 1"
    else:
        numeric = isinstance(positive, Real) and not isinstance(positive, bool)
        no_truth = label.cast(pl.Float64).is_nan().fill_null(True) if numeric else label.is_null()
        no_truths, wrong = no_truth.sum(), missing
    message = (
        pl.when(no_score > 0)
        .then(pl.format(f"score {_name(score)}has {{}} {missing}; {_ADVICE}", no_score, rows))
        .when(no_truths > 0)
        .then(pl.format(f"truth {_name(label)}has {{}} {wrong}; {_ADVICE}", no_truths, rows))
    )
    return pl.when(message.cast(pl.Int8).is_null()).then(value)


def _expression(column: Column) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else column


def _name(column: pl.Expr) -> str:
    name = column.meta.output_name(raise_if_undetermined=False)
    return "" if name is None else f"{name!r} ".replace("{", "(").replace("}", ")")
