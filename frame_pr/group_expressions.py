"""A group as an expression sees it: its scores and truths, and what follows from them by expressions alone.

An expression knows neither the frame nor its groups, so it cannot share one packed sort as `ranking` does. It ranks
within its group instead; where the ranking is only cut, it just looks for the score at the cut.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from typing import NamedTuple

import polars as pl

from frame_pr.checks import refuse_several
from frame_pr.inputs import Column
from frame_pr.rates import Counts, Figure, ratio

_ONE = 2**32
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
    def tp(self) -> pl.Expr:
        """The tp of every positive's threshold."""
        return self.hits.rank("max", descending=True)

    @property
    def steps(self) -> Counts:
        """A row per positive in descending order of score; within a block, tp counts up to what it is at its end."""
        return Counts(self.hits.cum_count().cast(pl.Int64), self.k.sort().cast(pl.Int64), self.positives, self.rows)

    def at_threshold(self, threshold: float | pl.Expr) -> Counts:
        """The rows that score at least this."""
        predicted = self._tally(self.score >= threshold)
        return Counts(predicted // _ONE, predicted % _ONE, self.positives, self.rows)

    def at_recall(self, recall: Fraction) -> Counts:
        """The rows at the highest threshold whose recall is at least this; null without positives."""
        # The threshold is the score of the last positive that is needed: the ceiling of recall * P.
        needed = (self.positives.cast(pl.Int128) * recall.numerator + recall.denominator - 1) // recall.denominator
        threshold = self.score.max() if recall == 0 else self.hits.top_k(needed.cast(pl.Int64)).min()
        counts = self.at_threshold(threshold)
        tp, k = (pl.when(counts.positives > 0).then(count) for count in (counts.tp, counts.k))
        return counts._replace(tp=tp, k=k)

    def cut_at(self, k: int | pl.Expr) -> dict[str, pl.Expr]:
        """What `counts_of_cut` makes the counts of the first k rows from."""
        last = self.score.top_k(k).min()
        limit = pl.lit(k, dtype=pl.Int64) if isinstance(k, int) else k
        above, reached = self._tally(self.score > last), self._tally(self.score >= last)
        return {"above": above, "reached": reached, "k": limit, "positives": self.positives, "rows": self.rows}

    def _tally(self, condition: pl.Expr) -> pl.Expr:
        # Rows and, above 32 bits, positives that meet a condition, which then is computed once.
        return (condition * (1 + self.truth.cast(pl.Int64) * _ONE)).sum()


def bound(formula: Callable[..., pl.Expr], **parts: pl.Expr) -> pl.Expr:
    """A row-wise formula of parts that are computed once each, however often it names them."""
    fields = {name: pl.field(name) for name in parts}
    return (
        pl.struct([part.alias(name) for name, part in parts.items()])
        .struct.with_fields(value=formula(**fields))
        .struct.field("value")
    )


def figure_at(figure: Figure, counts: Counts) -> pl.Expr:
    """A figure of counts."""
    return bound(lambda **parts: figure(Counts(**parts)), **counts._asdict())


def at_rank(figure: Figure, cut: dict[str, pl.Expr]) -> pl.Expr:
    """A figure of the first k rows."""
    return bound(lambda **parts: figure(counts_of_cut(**parts)), **cut)


def shared_hits(above: pl.Expr, reached: pl.Expr, k: pl.Expr) -> pl.Expr:
    """Hits among the first k rows of the block that the cut falls into: its expected share."""
    block = reached - above
    share = (k - above % _ONE).clip(0, block % _ONE)
    return ratio((block // _ONE) * share, block % _ONE).fill_null(0.0)


def counts_of_cut(above: pl.Expr, reached: pl.Expr, k: pl.Expr, positives: pl.Expr, rows: pl.Expr) -> Counts:
    """The first k rows. A group with fewer is filled up with misses."""
    tp = above // _ONE + shared_hits(above, reached, k)
    return Counts(tp, k, positives, pl.max_horizontal(rows, k))


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
    no_score = score.sign().cast(pl.Float64).is_nan().fill_null(True)
    if positive is None:
        no_truth = label.cast(pl.Float64).ne_missing(label.cast(pl.Boolean).cast(pl.Float64)) | label.is_null()
        wrong = "of {} values that are missing, or neither true, false, 0 nor 1"
    else:
        numeric = isinstance(positive, Real)
        no_truth = label.cast(pl.Float64).is_nan().fill_null(True) if numeric else label.is_null()
        wrong = missing
    both = (no_score.cast(pl.Int64) + no_truth * _ONE).sum()  # one sum costs less than two

    def value_or_error(value: pl.Expr, both: pl.Expr, rows: pl.Expr) -> pl.Expr:
        no_scores, no_truths = both % _ONE, both // _ONE
        message = (
            pl.when(no_scores > 0)
            .then(pl.format(f"score {_name(score)}has {{}} {missing}; {_ADVICE}", no_scores, rows))
            .when(no_truths > 0)
            .then(pl.format(f"truth {_name(label)}has {{}} {wrong}; {_ADVICE}", no_truths, rows))
        )
        return pl.when(message.cast(pl.Int8).is_null()).then(value)

    return bound(value_or_error, value=value, both=both, rows=rows)


def _expression(column: Column) -> pl.Expr:
    refuse_several("truth", column)
    return pl.col(column) if isinstance(column, str) else column


def _name(column: pl.Expr) -> str:
    name = column.meta.output_name(raise_if_undetermined=False)
    return "" if name is None else f"{name!r} ".replace("{", "(").replace("}", ")")
