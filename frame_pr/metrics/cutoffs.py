"""Cutoffs of a ranking: a rank, a threshold, a recall, a limit of a rate, or a goal.

A cutoff is read from the name of a metric or from a caller's value. It states what it needs of the
blocks of a group, and gives the confusion table there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.arguments import check_whole
from frame_pr.metrics.metric import (
    Aggregate,
    Aggregates,
    Blocks,
    BlocksRead,
    Counts,
    Cutoff,
    hits_among,
)
from frame_pr.metrics.numbers import DECIMAL, NUMBER, number, read_decimal

CLOSE = 1e-12
"""Sums of float weights reach a share if they differ from it by less than this, relative to it."""
RANK = rf"(?:[0-9]+|{DECIMAL}%)"
"""How a rank is written: a number of rows, or their share."""


@dataclass(frozen=True, repr=False)
class Rank(Cutoff):
    """The first k rows. Misses fill up a group with fewer rows."""

    kind = "rank"
    k: int | Fraction | Literal["positives"]
    """A number of rows; a share of the rows of the group, at least one; or P, the positives."""
    text: str = field(default="", compare=False)
    """How a share was written."""

    @classmethod
    def parse(cls, text: str) -> Rank:
        """Read a rank from the name of a metric."""
        if text.endswith("%"):
            share = read_decimal(text[:-1])
            if not isinstance(share, Fraction) or not 0 < share <= 100:
                raise ValueError(
                    f"a share of the rows must be above 0% and at most 100%, got {text}"
                )
            return cls(_next_fraction(share / 100), text)
        k = int(text) if text.isdecimal() else 0
        if k < 1:
            raise ValueError(f"k must be a whole number of at least 1, got {text}")
        if k >= 2**62:
            raise ValueError(f"k must be below 2**62, got {text}")
        return cls(k)

    @classmethod
    def of(cls, k: Any) -> Rank:
        """Validate a rank of the caller, which may be a share of the rows, such as "10%"."""
        if not (isinstance(k, str) and re.fullmatch(rf"{DECIMAL}%", k)):
            return cls(check_whole("k", k, least=1))
        try:
            return cls.parse(k)
        except ValueError as error:
            raise ValueError(f"k: {error}") from None

    def __str__(self) -> str:
        return self.text or str(self.k)

    def counts(self, blocks: Blocks) -> Counts:
        """Return the confusion table at k. Misses fill up a group with fewer rows."""
        tp = pl.col(f"tp@{self}")
        k = self.divisor(blocks)
        # N is at least k plus the positives that are not among the first k. Compare differences: a
        # sum may round.
        is_filled = k - tp > blocks.rows - blocks.positives
        rows = pl.when(is_filled).then(k + blocks.positives - tp).otherwise(blocks.rows)
        return blocks.counts_at(tp, k, rows)

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the number of positives among the first k rows."""
        return {f"tp@{self}": hits_among(blocks, self.of_group(blocks.positives, blocks.rows))}

    def of_group(self, positives: pl.Expr, rows: pl.Expr) -> pl.Expr:
        """Return the k of the group."""
        if self.k == "positives":
            return positives
        if isinstance(self.k, Fraction):
            return _least(rows, self.k).clip(lower_bound=1)
        return pl.lit(self.k, dtype=pl.Int64)

    def divisor(self, blocks: Blocks) -> pl.Expr:
        """Return the k of the group as a column, by which other numbers may be divided."""
        if isinstance(self.k, int):
            return blocks.constant(self.k)
        return self.of_group(blocks.positives, blocks.rows)


@dataclass(frozen=True, repr=False)
class SelectsAtMost(Cutoff):
    """The rows at the lowest threshold that selects at most K rows."""

    kind = "goal"
    has_expectation = False
    rank: Rank
    beyond_steps = "all"
    needs = ("a threshold",)

    @classmethod
    def parse(cls, text: str) -> SelectsAtMost:
        """Read the rank from the name of a metric."""
        return cls(Rank.parse(text))

    def __str__(self) -> str:
        return f"threshold@{self.rank}"

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the largest counts of the blocks within the rank."""
        return self.extreme_counts(self.allows(blocks), blocks.tp, blocks.k, "max")

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether a threshold selects at most K rows."""
        return blocks.k <= self.rank.of_group(blocks.positives, blocks.rows)


@dataclass(frozen=True, repr=False)
class Threshold(Cutoff):
    """The rows that score at least as much as the threshold."""

    kind = "threshold"
    may_be_empty = True
    threshold: Fraction | float
    """The exact decimal as written; a float if it is infinite."""
    text: str

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Read a threshold from the name of a metric."""
        return cls(read_decimal(text), text)

    @classmethod
    def of(cls, threshold: Any) -> Threshold:
        """Validate a threshold of the caller."""
        return cls.parse(number("threshold", threshold))

    def __str__(self) -> str:
        return f"threshold={self.text}"

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the counts of the last block that reaches the threshold."""
        # The column is the running k of such blocks, so a block reaches the threshold if its k
        # counts. Sums of floats would depend on their order.
        k = pl.col(f"k@{self}")
        reached = pl.when(k >= blocks.k).then(blocks.tp).otherwise(0)
        return {f"tp@{self}": Aggregate(reached, "max"), f"k@{self}": Aggregate(k, "max")}

    def over_rows(self, truth: pl.Expr, reached: pl.Expr, weight: pl.Expr) -> Aggregates:
        """Sum over unsorted rows, given whether each of them reaches the threshold."""
        return {
            f"tp@{self}": Aggregate((truth & reached) * weight),
            f"k@{self}": Aggregate(reached * weight),
        }


@dataclass(frozen=True, repr=False)
class Recall(Cutoff):
    """The rows at the highest threshold at which recall is at least the value."""

    kind = "recall"
    has_expectation = False
    recall: Fraction
    """A fraction that the same rankings reach as the decimal in the name."""
    text: str

    @classmethod
    def parse(cls, text: str) -> Recall:
        """Read a recall from the name of a metric."""
        return cls(_next_fraction(_read_share("recall", text, zero=True)), text)

    def __str__(self) -> str:
        return f"recall={self.text}"

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the smallest counts of the blocks that reach the recall."""
        return self.extreme_counts(self.allows(blocks), blocks.tp, blocks.k, "min")

    def aggregates_in_order(self, blocks: Blocks) -> Aggregates:
        """Return the counts if rows come one by one, so a block is all positive or all negative."""
        # The row that reaches the recall is inside the block: its first row, or the last positive
        # that is needed.
        too_many = blocks.size - 1
        if self.recall > 0:
            too_many = (blocks.tp - _least(blocks.positives, self.recall)).clip(0, too_many)
        tp = blocks.tp - pl.when(blocks.hits > 0).then(too_many).otherwise(0)
        return self.extreme_counts(self.allows(blocks), tp, blocks.k - too_many, "min")

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the recall of the block is large enough."""
        reached = _has_share(blocks.tp, blocks.positives, self.recall, fractional=blocks.fractional)
        return (blocks.positives > 0) & reached

    @property
    def needs(self) -> tuple[str, ...]:
        """Positives, because a group without them has no recall."""
        return ("positives",)

    @property
    def beyond_steps(self) -> BlocksRead:
        """Return that any first block reaches a recall of 0, with or without a positive."""
        return "none" if self.recall > 0 else "first"


@dataclass(frozen=True, repr=False)
class Npv(Cutoff):
    """The rows at the highest threshold whose negative predictive value is at least this."""

    kind = "npv"
    has_expectation = False
    beyond_steps = "first"
    needs = ("a threshold",)
    npv: Fraction
    text: str

    @classmethod
    def parse(cls, text: str) -> Npv:
        """Read a negative predictive value from the name of a metric."""
        return cls(_next_fraction(_read_share("npv", text, zero=False)), text)

    def __str__(self) -> str:
        return f"npv={self.text}"

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the smallest counts of the blocks that reach the value."""
        return self.extreme_counts(self.allows(blocks), blocks.tp, blocks.k, "min")

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the negative predictive value of the block is large enough."""
        # Negatives in a block lower the share, so the first block that reaches it has a hit, or is
        # the first of all.
        rest = blocks.rows - blocks.k
        negatives = rest - blocks.positives + blocks.tp
        return (rest > 0) & _has_share(negatives, rest, self.npv, fractional=blocks.fractional)


@dataclass(frozen=True, repr=False)
class EqualErrors(Cutoff):
    """The rows at the highest threshold whose false positive rate is at least the miss rate."""

    kind = "goal"
    has_expectation = False
    beyond_steps = "all"
    needs = ("positives", "negatives")

    def __str__(self) -> str:
        return "equal_error_rate"

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the smallest counts of the blocks that have crossed."""
        return self.extreme_counts(self.allows(blocks), blocks.tp, blocks.k, "min")

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the false positive rate of a block is at least its miss rate."""
        both = (blocks.positives > 0) & (blocks.rows > blocks.positives)
        return self.crossed(blocks) & both

    def crossed(self, blocks: Blocks) -> pl.Expr:
        """Return the same for a group with positives and negatives."""
        counts = blocks.counts
        negatives = blocks.rows - blocks.positives
        false = counts.one * (blocks.k - blocks.tp) * blocks.positives
        missed = counts.one * (blocks.positives - blocks.tp) * negatives
        # Sums of float weights are equal up to rounding errors.
        if blocks.fractional:
            return false - missed >= -CLOSE * (counts.one * blocks.positives * negatives)
        return false >= missed


class LimitedRate(NamedTuple):
    """A rate that a name may limit, such as `recall@fpr=0.1`.

    The rate, or 1 minus it, is `part` of `whole`.
    """

    part: Callable[[Counts], pl.Expr]
    whole: Callable[[Counts], pl.Expr]
    least: Callable[[Fraction], Fraction]
    """Return the smallest share of `part` in `whole` that the limit allows."""
    needs: tuple[str, ...]
    zero: bool
    """Whether the limit may be 0; otherwise 0 would allow all rows."""


def _negatives(counts: Counts) -> pl.Expr:
    return counts.rows - counts.positives


LIMITED: Mapping[str, LimitedRate] = {
    "precision": LimitedRate(
        lambda c: c.tp, lambda c: c.k, lambda limit: limit, needs=(), zero=False
    ),
    # Of the negatives, the remaining ones are not predicted.
    "fpr": LimitedRate(
        lambda c: _negatives(c) - c.k + c.tp,
        _negatives,
        lambda limit: 1 - limit,
        needs=("negatives",),
        zero=True,
    ),
    "specificity": LimitedRate(
        lambda c: _negatives(c) - c.k + c.tp,
        _negatives,
        lambda limit: limit,
        needs=("negatives",),
        zero=False,
    ),
}
"""A precision or a specificity of at least the limit, or a false positive rate of at most it."""


@dataclass(frozen=True, repr=False)
class Limit(Cutoff):
    """The rows at the largest recall of the steps within a limit of another rate.

    No row is selected if no step is within the limit.
    """

    kind = "limit"
    may_be_empty = True
    has_expectation = False
    rate: str
    """The rate, a name in `LIMITED`."""
    limit: Fraction
    text: str

    @classmethod
    def parse(cls, rate: str, text: str) -> Limit:
        """Read a limit from the name of a metric."""
        return cls(rate, _read_share(rate, text, zero=LIMITED[rate].zero), text)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what the limited rate needs."""
        return LIMITED[self.rate].needs

    def __str__(self) -> str:
        return f"{self.rate}={self.text}"

    def counts(self, blocks: Blocks) -> Counts:
        """Return the confusion table at the limit; null where the limited rate has no value."""
        counts = super().counts(blocks)
        if not self.needs:
            return counts
        defined = LIMITED[self.rate].whole(blocks.counts) > 0
        return counts._replace(
            tp=pl.when(defined).then(counts.tp), k=pl.when(defined).then(counts.k)
        )

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the largest counts of the blocks within the limit.

        Both counts rise down the ranking, so one step has them.
        """
        return self.extreme_counts(self.allows(blocks), blocks.tp, blocks.k, "max")

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the block is a step within the limit."""
        limited = LIMITED[self.rate]
        part = limited.part(blocks.counts)
        whole = limited.whole(blocks.counts)
        least = _next_fraction(limited.least(self.limit))
        within = _has_share(part, whole, least, fractional=blocks.fractional)
        return (blocks.hits > 0) & (whole > 0) & within


LIMITS: Mapping[str, Callable[[str], Cutoff]] = {
    "recall": Recall.parse,
    "npv": Npv.parse,
    **{rate: partial(Limit.parse, rate) for rate in LIMITED},
}
"""The rates that a name may limit, as in `recall=0.8`, and the cutoff that reads the number."""
LIMIT = rf"(?:{'|'.join(LIMITS)})={NUMBER}"
"""How a limit is written."""
AT_CUTOFF = rf"{NUMBER}|{DECIMAL}%|threshold={NUMBER}|{LIMIT}"
"""How a rank, a threshold or a limit is written; a number may be no rank."""


def cutoff_of(text: str) -> Cutoff:
    """Read a rank, a threshold or a limit from the name of a metric."""
    word, separator, value = text.partition("=")
    if not separator:
        return Rank.parse(text)
    return Threshold.parse(value) if word == "threshold" else LIMITS[word](value)


def _read_share(rate: str, text: str, *, zero: bool) -> Fraction:
    """Read the value of a rate from the name of a metric. `zero`: whether it may be 0."""
    share = read_decimal(text)
    if isinstance(share, Fraction) and 0 <= share <= 1 and (zero or share > 0):
        return share
    bounds = "lie between 0 and 1" if zero else "be above 0 and at most 1"
    hint = ": all rows are at threshold=-inf" if share == 0 else _share_hint(share)
    raise ValueError(f"{rate} must {bounds}, got {text}{hint}")


def _share_hint(value: Fraction | float) -> str:
    """Return a percentage as a share."""
    if not 1 < value <= 100:
        return ""
    return f": write {float(value / 100):g} for {float(value):g} percent"


def _least(all_of_it: pl.Expr, share: Fraction) -> pl.Expr:
    """Return the smallest whole number that is at least this share of another; exact."""
    part, whole = share.as_integer_ratio()
    if whole < 2**31:
        # Products of the quotient and of the rest fit into 64 bits, which divide in a fraction of
        # the time.
        rest = all_of_it % whole * part
        return all_of_it // whole * part + (rest + (whole - 1)) // whole
    return ((all_of_it.cast(pl.Int128) * part + (whole - 1)) // whole).cast(pl.Int64)


def _has_share(part: pl.Expr, all_of_it: pl.Expr, least: Fraction, *, fractional: bool) -> pl.Expr:
    """Return whether a weighted count is at least this share of another one."""
    if fractional and least < 1:
        return part >= all_of_it * (float(least) * (1 - CLOSE))
    share, denominator = least.as_integer_ratio()
    return part.cast(pl.Int128) * denominator >= all_of_it.cast(pl.Int128) * share


def _next_fraction(recall: Fraction) -> Fraction:
    """Return the smallest fraction of at least this recall whose denominator may count positives.

    No recall of a ranking lies between the two, and products stay small, however many digits the
    caller wrote.
    """
    most = 2**56
    near = recall.limit_denominator(most)
    if near >= recall:
        return near
    # Find its neighbour among all fractions up to that denominator: p' q - p q' = 1 with the
    # largest such q'.
    p, q = near.as_integer_ratio()
    inverse = pow(p, -1, q) if q > 1 else 0
    larger = most - (most + inverse) % q
    return Fraction((p * larger + 1) // q, larger)
