"""One group inside an expression: its scores and labels, its blocks, and the facts that metrics are formulas of.

An expression knows neither the frame nor its groups, so it cannot share one packed sort as `ranking` does. It sorts
within its group instead. Metrics at a cutoff only look for the score at the cutoff. polars does not share results
between the aggregations of a group, so an intermediate result that is used twice is a field of a struct, which is
computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import polars as pl

from frame_pr.expressions.checks import single, typed_label, typed_score
from frame_pr.frames.columns import by_name, refuse_several
from frame_pr.frames.messages import shown
from frame_pr.inputs.policies import Column
from frame_pr.inputs.thresholds import worst_reached
from frame_pr.metrics.cutoffs import Npv, Rank, Recall, Threshold
from frame_pr.metrics.metric import Aggregate, Cutoff
from frame_pr.metrics.rates import Counts, ratio

_LARGEST_FLOAT32 = 3.4028234663852886e38
RANK_UNIT = 2**32
"""The factor of the upper count if two counts are packed into one Int64."""


class GroupBlocks(NamedTuple):
    """The scores of one group and, for each row, whether its label is positive."""

    score: pl.Expr
    truth: pl.Expr
    ascending: bool
    """Whether lower scores rank first."""

    @property
    def positives(self) -> pl.Expr:
        """Return P, the number of positives of the group."""
        return self.truth.sum().cast(pl.Int64)

    @property
    def rows(self) -> pl.Expr:
        """Return N, the number of rows of the group."""
        return self.score.len().cast(pl.Int64)

    def facts(self) -> dict[str, pl.Expr]:
        """Return the `FACTS` of a group in which every row is retrieved."""
        return {
            "positives": self.positives,
            "rows": self.rows,
            "retrieved_positives": self.positives,
            "retrieved_rows": self.rows,
            "unjudged_rows": pl.lit(0, dtype=pl.Int64),
        }

    def aggregate(self, record: Aggregate, names: set[str]) -> pl.Expr:
        """Compute an aggregate over the blocks from these columns of them."""
        column = _with_fields(self._blocks(names), over=record.over).struct.field("over")
        if record.kind.aggregation == "sum":
            # Sum in the order of `evaluate`, so that results are equal to the last bit. polars sums an empty list to
            # -0.0.
            return column.implode().list.sum().first().abs()
        number: pl.Expr = getattr(column, record.kind.extreme or record.kind.aggregation)()
        return number

    def threshold(self, record: Aggregate, names: set[str]) -> pl.Expr:
        """Return the threshold that an aggregate is, or that has its largest value."""
        blocks = _with_fields(self._blocks({*names, "threshold"}), over=record.over)
        extreme = record.kind.extreme
        best = pl.lit(True) if extreme is None else getattr(pl.field("over"), extreme)()
        value = pl.when(pl.field("over") == best).then(pl.field("threshold"))
        thresholds = _with_fields(blocks, at_best=value).struct.field("at_best")
        return self._loosest(thresholds) if record.kind.aggregation == "min" else self._strictest(thresholds)

    def _blocks(self, names: set[str]) -> pl.Expr:
        """Return a struct of the named fields for each block with a positive, from the best score on."""
        k = self.score.rank("max", descending=not self.ascending)
        if "size" in names:
            k = k.cast(pl.Int64) * RANK_UNIT + self.score.rank("min", descending=not self.ascending)
        steps = k.filter(self.truth).sort().rle()
        if "threshold" in names:
            scores = _unsigned_zero(self.score).filter(self.truth).sort(descending=not self.ascending)
            scores = scores.unique(maintain_order=True)
            fields = {name: pl.field("steps").struct.field(name) for name in ("len", "value")}
            steps = _with_fields(pl.struct(steps=steps, threshold=scores), **fields)
        hits, ranks = pl.field("len").cast(pl.Int64), pl.field("value").cast(pl.Int64)
        k = ranks // RANK_UNIT if "size" in names else ranks
        tp = pl.field("tp")
        columns = {"hits": hits, "tp": hits.cum_sum(), "k": k, "size": k - ranks % RANK_UNIT + 1}
        running = {
            "positives": tp.cum_max(reverse=True),  # Broadcasting the last value takes many times as long.
            "rows": tp * 0 + self.rows,
            **dict.fromkeys(("unjudged", "unjudged_k", "unjudged_rows"), tp * 0),
            "interpolated_precision": (tp / k).cum_max(reverse=True),
        }
        blocks = _with_fields(steps, **{name: columns[name] for name in columns if name == "tp" or name in names})
        return _with_fields(blocks, **{name: running[name] for name in running if name in names})

    def without_ranking(self, cutoff: Cutoff | None) -> dict[str, Callable[[], pl.Expr]]:
        """Return how to compute the numbers at a cutoff without blocks."""
        shortcuts: dict[str, Callable[[], pl.Expr]] = {
            "ties": lambda: self.score.is_duplicated().sum().cast(pl.Int64),
            "threshold@equal_error_rate": self._threshold_at_crossing,
        }
        if isinstance(cutoff, Rank):
            k = cutoff.of_group(self.positives, self.rows)
            shortcuts[f"tp@{cutoff}"] = lambda: self._tp_at(k)
            shortcuts[f"judged@{cutoff}"] = lambda: pl.min_horizontal(k, self.rows)
            shortcuts[f"threshold@{cutoff}"] = lambda: self._threshold_at_rank(k)
        elif isinstance(cutoff, Threshold):
            unit = pl.lit(1, dtype=pl.Int64)
            for name, count in cutoff.over_rows(self.truth, self._reaches(cutoff.threshold), unit).items():
                shortcuts[name] = count.over.sum
        elif isinstance(cutoff, Recall):
            shortcuts[f"threshold@{cutoff}"] = lambda: self._threshold_at_recall(cutoff.recall)
            shortcuts[f"tp@{cutoff}"] = lambda: self._count_at_recall(cutoff.recall, self.truth)
            shortcuts[f"k@{cutoff}"] = lambda: self._count_at_recall(cutoff.recall, pl.lit(True))
        elif isinstance(cutoff, Npv):
            shortcuts[f"threshold@{cutoff}"] = lambda: _unsigned_zero(self._score_at_npv(cutoff))
            shortcuts[f"tp@{cutoff}"] = lambda: self._count_at_npv(cutoff, self.truth)
            shortcuts[f"k@{cutoff}"] = lambda: self._count_at_npv(cutoff, pl.lit(True))
        return shortcuts

    def _tp_at(self, k: pl.Expr) -> pl.Expr:
        """Return the number of positives among the first k rows."""
        last = self._last_of_best(self.score, k)
        above = self.score < last if self.ascending else self.score > last
        return bound(_expected_tp, above=self._both_counts(above), reached=self._both_counts(self._as_good(last)), k=k)

    def _threshold_at_recall(self, recall: Fraction) -> pl.Expr:
        """Return the highest threshold at which recall is at least this value."""
        return bound(
            lambda threshold, positives: pl.when(positives > 0).then(_unsigned_zero(threshold)),
            threshold=self._score_at(recall),
            positives=self.positives,
        )

    def _threshold_at_rank(self, k: pl.Expr) -> pl.Expr:
        """Return the lowest threshold that selects at most k rows."""
        ranks = self.score.rank("max", descending=not self.ascending)
        return _unsigned_zero(self._loosest(self.score.filter(ranks <= k)))

    def _threshold_at_crossing(self) -> pl.Expr:
        """Return the highest threshold at which the false positive rate is at least the miss rate."""
        hits, score = (column.sort_by(self.score, descending=not self.ascending) for column in (self.truth, self.score))
        hits = hits.cast(pl.Int128)
        # The curve crosses inside the same block for every order of equal scores.
        positives, rows, tp = hits.sum(), hits.len().cast(pl.Int128), hits.cum_sum()
        fp = (hits * 0 + 1).cum_sum() - tp
        crossed = fp * positives >= (positives - tp) * (rows - positives)
        both = (positives > 0) & (positives < rows)
        return _unsigned_zero(self._strictest(score.filter(crossed & both)))

    def _score_at_npv(self, cutoff: Npv) -> pl.Expr:
        """Return the highest score at which the negative predictive value is at least this value."""
        hits, score = (column.sort_by(self.score, descending=not self.ascending) for column in (self.truth, self.score))
        k = score.rank("max", descending=not self.ascending).cast(pl.Int64)
        tp = hits.cast(pl.Int64).cum_sum().gather(k - 1)
        counts = Counts(tp, k, hits.cast(pl.Int64).sum(), hits.len().cast(pl.Int64))
        return self._strictest(score.filter(cutoff.reached_by(counts)))

    def _count_at_npv(self, cutoff: Npv, mask: pl.Expr) -> pl.Expr:
        """Return how many of these rows reach the threshold; null if no score reaches the value."""
        threshold = self._score_at_npv(cutoff)
        count = (self._as_good(threshold) & mask).sum().cast(pl.Int64)
        return bound(
            lambda count, threshold: pl.when(threshold.is_not_null()).then(count), count=count, threshold=threshold
        )

    def _count_at_recall(self, recall: Fraction, mask: pl.Expr) -> pl.Expr:
        """Return how many of these rows reach the threshold; null without positives."""
        count = (self._as_good(self._score_at(recall)) & mask).sum().cast(pl.Int64)
        return bound(lambda count, positives: pl.when(positives > 0).then(count), count=count, positives=self.positives)

    def _score_at(self, recall: Fraction) -> pl.Expr:
        """Return the highest score at which recall is at least this value: that of positive number ceil(recall * P)."""
        needed = (self.positives.cast(pl.Int128) * recall.numerator + recall.denominator - 1) // recall.denominator
        if recall == 0:
            return self._strictest(self.score)
        return self._last_of_best(self.score.filter(self.truth), needed.cast(pl.Int64))

    def _reaches(self, threshold: Fraction | float) -> pl.Expr:
        """Return whether a score reaches a threshold. polars compares both in the dtype of the score."""
        number = float(worst_reached(threshold, pl.Float64(), ascending=self.ascending))
        limit = pl.lit(number)
        if abs(number) > _LARGEST_FLOAT32:
            limit = pl.lit(number, dtype=pl.Float64)  # As a Float32 it would be infinite.
        elif isinstance(threshold, Fraction) and threshold.denominator == 1:
            if abs(threshold) < 2**126:  # It exceeds every integer score.
                limit = pl.lit(int(threshold), dtype=pl.Int128 if abs(threshold) >= 2**63 else None)
        elif isinstance(threshold, Fraction) and Fraction(repr(number)) != threshold:
            # The threshold has more digits than a float, so only a Decimal score, with at most 38 digits, can tell.
            decimal = Decimal(threshold.numerator) / Decimal(threshold.denominator)
            limit = pl.lit(decimal) if -int(decimal.as_tuple().exponent) <= 28 else limit
        return self._as_good(limit)

    def _as_good(self, limit: pl.Expr) -> pl.Expr:
        """Return whether a score is as good as a limit."""
        return self.score <= limit if self.ascending else self.score >= limit

    def _strictest(self, thresholds: pl.Expr) -> pl.Expr:
        return thresholds.min() if self.ascending else thresholds.max()

    def _loosest(self, thresholds: pl.Expr) -> pl.Expr:
        return thresholds.max() if self.ascending else thresholds.min()

    def _last_of_best(self, scores: pl.Expr, k: pl.Expr) -> pl.Expr:
        """Return the worst of the best k scores."""
        k = k.clip(0, RANK_UNIT - 1)  # It exceeds the largest number of rows that polars can hold.
        return scores.bottom_k(k).max() if self.ascending else scores.top_k(k).min()

    def _both_counts(self, condition: pl.Expr) -> pl.Expr:
        """Count rows and, in the upper 32 bits, positives that meet a condition, which is then evaluated once."""
        return (condition * (1 + self.truth.cast(pl.Int64) * RANK_UNIT)).sum()


def bound(formula: Callable[..., pl.Expr], **parts: pl.Expr) -> pl.Expr:
    """Evaluate a row-wise formula so that each part is computed once, however often the formula names it."""
    fields = {name: pl.field(name) for name in parts}
    named = [part.alias(name) for name, part in parts.items()]
    return pl.struct(named).struct.with_fields(value=formula(**fields)).struct.field("value")


def _with_fields(blocks: pl.Expr, **fields: pl.Expr) -> pl.Expr:
    # A slice from 0 leaves the rows unchanged. Without it, polars before 1.44 cannot add fields in `agg`.
    return blocks.slice(0).struct.with_fields(**fields)


def _expected_tp(above: pl.Expr, reached: pl.Expr, k: pl.Expr) -> pl.Expr:
    """Return the positives above the block that contains the cutoff, and the expected number of those in it."""
    block = reached - above
    share = (k - above % RANK_UNIT).clip(0, block % RANK_UNIT)
    return above // RANK_UNIT + ratio((block // RANK_UNIT) * share, block % RANK_UNIT).fill_null(0.0)


def _unsigned_zero(score: pl.Expr) -> pl.Expr:
    """Replace -0.0 by 0.0, which `evaluate` returns. Adding 0 would widen a Decimal."""
    return pl.when(score == 0).then(score.abs()).otherwise(score)


def group_blocks(score: pl.Expr, truth: Column, positive: object, *, ascending: bool) -> GroupBlocks:
    """Return the group of a score expression and of its labels, by name or expression."""
    _check_is_label(positive)
    label = typed_label(expression_of(truth), score, positive)
    is_positive = label.cast(pl.Boolean) if positive is None else label == pl.lit(positive)
    return GroupBlocks(typed_score(score), is_positive, ascending)


def _check_is_label(positive: object) -> None:
    """Raise if a value cannot be the positive label of any dtype."""
    if positive is None or isinstance(positive, (str, bool, bytes)):
        return
    try:
        dtype = pl.select(label=pl.lit(positive)).schema["label"]
        is_label = not (isinstance(positive, pl.Expr) or hasattr(positive, "__len__") or dtype.is_nested())
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        is_label = False
    if not is_label:
        raise TypeError(f"positive takes one label, got {shown(positive)}")


def expression_of(column: Column) -> pl.Expr:
    """Return the column of a name, or the expression itself."""
    refuse_several("truth", column)
    if not isinstance(column, (str, pl.Expr)):
        raise TypeError(f"truth takes the name of one column, or a polars expression; got {shown(column)}")
    return by_name(column) if isinstance(column, str) else single(column)
