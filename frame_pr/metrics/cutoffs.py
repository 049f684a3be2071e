"""Cutoffs of a ranking: a rank, a threshold, a recall, a limit of a rate, or a goal.

A cutoff is read from the name of a metric or from a caller's value. It states what it needs of the
blocks of a group, and gives the confusion table there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.arguments import check_whole
from frame_pr.metrics import rates
from frame_pr.metrics.metric import (
    LAST_COUNT,
    Aggregate,
    Aggregates,
    Blocks,
    BlocksRead,
    Counts,
    Cutoff,
    CutoffKind,
    Formula,
    hits_among,
)
from frame_pr.metrics.numbers import DECIMAL, NUMBER, number, read_decimal

CLOSE = 1e-12
"""Sums of float weights reach a share if they differ from it by less than this, relative to it."""
RANK = rf"(?:[0-9]+|{DECIMAL}%)"
"""How a rank is written: a number of rows, or their share."""


@dataclass(unsafe_hash=True, repr=False)
class Rank(Cutoff):
    """The first k rows. Misses fill up a group with fewer rows."""

    kind = "rank"
    has_expectation = True
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
                    f"k must be a share of the rows above 0% and at most 100%, got {text}"
                )
            return cls(_next_fraction(share / 100), text)
        if not text.isdecimal():
            raise ValueError(f"k must be a whole number of at least 1, got {text}")
        return cls(check_whole("k", int(text), least=1))

    @classmethod
    def of(cls, k: Any) -> Rank:
        """Validate a rank of the caller, which may be a share of the rows, such as "10%"."""
        if isinstance(k, str) and re.fullmatch(rf"{DECIMAL}%", k):
            return cls.parse(k)
        return cls(check_whole("k", k, least=1))

    def __str__(self) -> str:
        return self.text or str(self.k)

    def counts(self, blocks: Blocks) -> Counts:
        """Return the confusion table at k. Misses fill up a group with fewer rows."""
        tp = pl.col(f"tp@{self}")
        k = self.divisor(blocks)
        # N is at least k plus the positives that are not among the first k. Compare differences: a
        # sum may round.
        is_filled = k - tp > blocks.negatives
        rows = pl.when(is_filled).then(k + blocks.positives - tp).otherwise(blocks.rows)
        return replace(blocks, tp=tp, k=k, rows=rows)

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the number of positives among the first k rows."""
        return {f"tp@{self}": hits_among(blocks, self.of_group(blocks))}

    def of_group(self, blocks: Blocks) -> pl.Expr:
        """Return the k of the group."""
        if self.k == "positives":
            return blocks.positives
        if isinstance(self.k, Fraction):
            return _least(blocks.rows, self.k).clip(lower_bound=1)
        return pl.lit(self.k, dtype=pl.Int64)

    def divisor(self, blocks: Blocks) -> pl.Expr:
        """Return the k of the group as a column, by which other numbers may be divided."""
        return blocks.constant(self.k) if isinstance(self.k, int) else self.of_group(blocks)


@dataclass(unsafe_hash=True, repr=False)
class SelectsAtMost(Cutoff):
    """The rows at the lowest threshold that selects at most K rows."""

    kind = "goal"
    beyond_steps = "all"
    needs = ("a threshold",)
    is_first = False
    rank: Rank

    def __str__(self) -> str:
        return f"threshold@{self.rank}"

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether a threshold selects at most K rows."""
        return blocks.k <= self.rank.of_group(blocks)


@dataclass(unsafe_hash=True, repr=False)
class Threshold(Cutoff):
    """The rows that score at least as much as the threshold."""

    kind = "threshold"
    may_be_empty = True
    has_expectation = True
    by_class = True
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
        reached = pl.when(k >= blocks.k).then(blocks.tp)
        return {
            f"tp@{self}": Aggregate(reached, LAST_COUNT),
            f"k@{self}": Aggregate(k, LAST_COUNT),
        }

    def over_rows(self, truth: pl.Expr, reached: pl.Expr, weight: pl.Expr) -> Aggregates:
        """Sum over unsorted rows, given whether each of them reaches the threshold."""
        return {
            f"tp@{self}": Aggregate((truth & reached) * weight),
            f"k@{self}": Aggregate(reached * weight),
        }


@dataclass(unsafe_hash=True, repr=False)
class EqualErrors(Cutoff):
    """The rows at the highest threshold whose false positive rate is at least the miss rate."""

    kind = "goal"
    beyond_steps = "all"
    needs = ("positives", "negatives")
    by_class = True

    def __str__(self) -> str:
        return "equal_error_rate"

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the false positive rate of a block is at least its miss rate."""
        both = (blocks.positives > 0) & (blocks.negatives > 0)
        return self.crossed(blocks) & both

    def crossed(self, blocks: Blocks) -> pl.Expr:
        """Return the same for a group with positives and negatives."""
        false = blocks.one * (blocks.k - blocks.tp) * blocks.positives
        missed = blocks.one * (blocks.positives - blocks.tp) * blocks.negatives
        # Sums of float weights are equal up to rounding errors.
        if blocks.fractional:
            return false - missed >= -CLOSE * (blocks.one * blocks.positives * blocks.negatives)
        return false >= missed


class LimitedRate(NamedTuple):
    """A rate that a name may limit, such as `recall@fpr=0.1`.

    The rate, or 1 minus it, is `part` of `whole`.
    """

    part: Formula
    whole: Formula
    needs: tuple[str, ...] = ()
    kind: CutoffKind = "limit"
    """"limit": the largest recall of the steps within the limit; no row if there is no such step.
    Others: the first block that reaches it."""
    zero: bool = False
    """Whether the limit may be 0; otherwise 0 would allow all rows."""
    at_most: bool = False
    """Whether the rate, which is 1 minus the share, must be at most the limit."""


LIMITED: Mapping[str, LimitedRate] = {
    "recall": LimitedRate(
        rates.tp, lambda c: c.positives, needs=("positives",), kind="recall", zero=True
    ),
    "precision": LimitedRate(rates.tp, rates.k),
    "fpr": LimitedRate(
        rates.tn, lambda c: c.negatives, needs=("negatives",), zero=True, at_most=True
    ),
    "specificity": LimitedRate(rates.tn, lambda c: c.negatives, needs=("negatives",)),
    "npv": LimitedRate(rates.tn, lambda c: c.unselected, needs=("a threshold",), kind="npv"),
}
"""The rates that a name may limit, as in `recall=0.8`."""
LIMIT = rf"(?:{'|'.join(LIMITED)})={NUMBER}"
"""How a limit is written."""
AT_CUTOFF = rf"{NUMBER}|{DECIMAL}%|threshold={NUMBER}|{LIMIT}"
"""How a rank, a threshold or a limit is written; a number may be no rank."""


@dataclass(unsafe_hash=True, repr=False)
class Limit(Cutoff):
    """The rows at a limit of another rate, such as the first ones that reach a recall."""

    rate: str
    """The rate, a name in `LIMITED`."""
    limit: Fraction
    text: str

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read a limit from the name of a metric, such as `recall=0.8`."""
        rate, _, number = text.partition("=")
        return cls(rate, _read_share(rate, number, zero=LIMITED[rate].zero), number)

    def __str__(self) -> str:
        return f"{self.rate}={self.text}"

    def __post_init__(self) -> None:
        limited = LIMITED[self.rate]
        self.limited = limited
        self.kind = limited.kind
        self.needs = limited.needs
        self.by_class = rates.RATES[self.rate].by_class
        self.is_first = limited.kind != "limit"
        self.may_be_empty = not self.is_first
        # The smallest share within the limit that a ranking may have.
        self.least = _next_fraction(1 - self.limit if limited.at_most else self.limit)
        # Any first block reaches a recall of 0. Negatives in a block lower the NPV, so the first
        # block that reaches it has a hit, or is the first of all.
        may_be_first = self.kind == "npv" or self.least == 0
        self.beyond_steps: BlocksRead = "first" if may_be_first else "none"

    def is_defined(self, blocks: Blocks) -> pl.Expr | None:
        """Return whether the limited rate has a value, if it needs more than predicted rows."""
        return self.limited.whole(blocks) > 0 if self.needs and not self.is_first else None

    def aggregates_in_order(self, blocks: Blocks) -> Aggregates:
        """Return the counts at a recall if a block is all positive or all negative.

        Rows come one by one then, so the row that reaches the recall is inside the block: its first
        row, or the last positive that is needed.
        """
        too_many = blocks.size - 1
        if self.least > 0:
            needed_positives = _least(blocks.positives, self.least)
            too_many = (blocks.tp - needed_positives).clip(0, too_many)
        surplus_hits = pl.when(blocks.hits > 0).then(too_many).otherwise(0)
        return self.extreme_counts(blocks, blocks.tp - surplus_hits, blocks.k - too_many)

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether a block is within the limit, and if the last one counts, a step."""
        part = self.limited.part(blocks)
        whole = self.limited.whole(blocks)
        within = _has_share(part, whole, self.least, fractional=blocks.fractional)
        within = (whole > 0) & within
        return within if self.is_first else (blocks.hits > 0) & within


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
