"""What a metric is: a few aggregates per group over its blocks, and a formula of them; the records of both."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.inputs.policies import TIES, Ties
from frame_pr.metrics.rates import RATES, Counts, CutoffKind


class Blocks:
    """What formulas name: `ranking.blocks` says what there is of a block, `FACTS` what there is of a group.

    One statement of a metric serves two worlds: the table of the blocks of all groups, whose columns are named, and the
    blocks of one group inside an expression, which are fields of a struct.
    """

    def __init__(
        self, number: Callable[[str], pl.Expr], *, whole: bool = True, graded: bool = False, one_group: bool = False
    ) -> None:
        self.number = number
        """Any of them by its name, and the aggregates of the metric itself."""
        self.whole = whole
        """Whether masses are whole; else they are in fixed point, too large to be multiplied by each other."""
        self.hits, self.size, self.tp, self.k = number("hits"), number("size"), number("tp"), number("k")
        self.ties, self.threshold = number("ties"), number("threshold")
        self.interpolated_precision, self.judged = number("interpolated_precision"), number("judged")
        self.one_group = one_group
        """Whether they are of a group inside an expression, where no positive can be missing from the blocks."""
        self.graded = graded
        """Whether rows have a gain of their own; else that of a positive is 1."""
        self.gain, self.hit_gain = (number("gain"), number("hit_gain")) if graded else (self.hits, self.hits)
        self.positives, self.rows = number("positives"), number("rows")

    @property
    def counts(self) -> Counts:
        """The confusion table at the block's threshold."""
        return Counts(self.tp, self.k, self.positives, self.rows, self.whole)

    def constant(self, number: int) -> pl.Expr:
        """A whole number as a column: polars takes a quotient by a literal for a product with its rounded inverse."""
        return self.positives * 0 + number

    def by_lists(self, formula: Callable[..., pl.Expr], *numbers: pl.Expr) -> pl.Expr:
        """A formula of numbers of the group that makes lists on its way."""
        if not self.one_group:
            return formula(*numbers)

        def value(columns: Sequence[pl.Series]) -> pl.Series:
            table = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
            return table.select(formula(*map(pl.col, table.columns))).to_series()

        # There polars takes such a list for the rows of the group. The function is called once, of all groups.
        return pl.map_batches(list(numbers), value, return_dtype=pl.Float64, is_elementwise=True)

    def share(self, k: int | pl.Expr) -> pl.Expr:
        """Rows among the first k. A block that the cut falls in has no order, so its hits are shared out evenly."""
        return (k - self.k + self.size).clip(0, self.size)

    def mass_among(self, mass: pl.Expr, k: int | pl.Expr) -> pl.Expr:
        """The part of a mass of the block that falls to the first k rows."""
        share = self.share(k)
        # In floats, as an Int64 does not hold every product of two counts. A whole block keeps its mass exactly.
        part = mass.cast(pl.Float64) * share / self.size
        return pl.when(share == self.size).then(mass.cast(pl.Float64)).otherwise(part)


class Aggregate(NamedTuple):
    """A number per group: of an expression over its blocks the sum, the largest, the smallest or the only value.

    The "best" is two numbers: the largest value and, named `threshold@...`, the strictest threshold that has it; the
    "least" likewise of the smallest. The "strictest" and the "loosest" are the thresholds where the expression is true.
    "ideal" is the sum over other blocks: those of equal gain, the largest first.
    """

    over: pl.Expr
    how: Literal["sum", "max", "min", "first", "best", "least", "strictest", "loosest", "ideal"] = "sum"


Aggregates: TypeAlias = Mapping[str, Aggregate]
"""By names; metrics that need the same name it alike, and share it."""


def hits_among(blocks: Blocks, k: int | pl.Expr) -> Aggregate:
    """Hits among the first k rows."""
    return Aggregate(blocks.mass_among(blocks.hits, k))


class Cutoff(ABC):
    """A place at which a ranking is cut."""

    kind: ClassVar[CutoffKind]
    may_be_empty: ClassVar[bool] = False
    """Whether no row may reach it; the counts are 0 then."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The numbers of a group that must be above 0 for any value there."""
        return ()

    def counts(self, blocks: Blocks) -> Counts:
        """The confusion table, of the group's facts and of the aggregates."""
        tp, k = (blocks.number(f"{count}@{self}") for count in ("tp", "k"))
        if self.may_be_empty:
            tp, k = tp.fill_null(0), k.fill_null(0)
        return Counts(tp, k, blocks.positives, blocks.rows, blocks.whole)

    @abstractmethod
    def aggregates(self, blocks: Blocks) -> Aggregates:
        """What the counts are made from."""

    def extreme_counts(self, of_block: pl.Expr, tp: pl.Expr, k: pl.Expr, how: Literal["min", "max"]) -> Aggregates:
        """The smallest or largest tp and k of the blocks for which this holds."""
        counts = {"tp": tp, "k": k}
        return {f"{name}@{self}": Aggregate(pl.when(of_block).then(count), how) for name, count in counts.items()}


class Metric(NamedTuple):
    """One metric, by its parts."""

    kind: Literal["share", "count", "mass", "threshold"]
    """What it is; a mass is a count, or a sum of weights. Only of a share, `undefined=` fills the nulls."""
    value: pl.Expr
    """A formula of the facts of the group and of the aggregates."""
    aggregates: Mapping[Ties, Aggregates]
    """What is aggregated over blocks, under each meaning of equal scores that the metric has a value for."""
    cut: Cutoff | None = None
    """Where it cuts the ranking."""
    needs: tuple[str, ...] = ("positives",)
    """The facts that must be above 0; a metric that needs none has a value in every group."""
    counts_ranks: bool = False
    """Whether it counts rows as ranks do; one that cuts at a rank need not say so."""
    from_0_to_1: bool = True
    """Whether a share lies there."""
    beyond_steps: Literal["none", "first without hits", "first", "all"] = "none"
    """Which blocks without a hit it reads: none, the first one of a group (only if a group may have positives and not
    one hit, or always), or all."""


def by_ties(
    aggregates: Aggregates,
    *,
    expected: Aggregates | None = None,
    in_order: Aggregates | None = None,
    bounded: bool = True,
) -> dict[Ties, Aggregates]:
    """Aggregates of whole blocks under all meanings of equal scores, but for the expectation, which has its own.

    `bounded`: whether positives first, or last, among equal scores make the metric largest, or smallest. `in_order`:
    its aggregates then, where they are not those of the expectation: the rows of a block are all positive, or none is,
    and so have but one order, of which the expectation is the value.
    """
    by_orders = {
        "nothing": aggregates,
        "rows": aggregates,
        "all orders": expected,
        "truth": (in_order or expected or aggregates) if bounded else None,
    }
    return {name: value for name, rule in TIES.items() if (value := by_orders[rule.orders]) is not None}


class Family(NamedTuple):
    """Metrics whose names follow one pattern."""

    name: str
    """The pattern as people write it."""
    value: str
    """What the docs' table of metrics says of it."""
    pattern: str
    build: Callable[[re.Match[str], Blocks], Metric]


class Fact(NamedTuple):
    """A number of a group that formulas may name."""

    over_blocks: Aggregate
    over_rows: Aggregate


_TRUTH, _SCORE, _WEIGHT = pl.col("truth"), pl.col("score"), pl.col("weight")
FACTS: Mapping[str, Fact] = {
    "positives": Fact(Aggregate(pl.col("positives"), "first"), Aggregate(_TRUTH * _WEIGHT)),
    "rows": Fact(Aggregate(pl.col("rows"), "first"), Aggregate(_WEIGHT)),
    # Only of fractional weights.
    "unit": Fact(Aggregate(pl.col("unit"), "first"), Aggregate(pl.col("unit"), "first")),
    "retrieved_positives": Fact(Aggregate(pl.col("tp"), "max"), Aggregate((_TRUTH & _SCORE.is_not_null()) * _WEIGHT)),
    "retrieved_rows": Fact(Aggregate(pl.col("retrieved_k"), "max"), Aggregate(_SCORE.is_not_null() * _WEIGHT)),
}


def _total(name: re.Match[str], blocks: Blocks) -> Metric:
    return Metric("mass", blocks.number(name[0]), by_ties({}, expected={}), needs=())


def _rate_of_group(name: re.Match[str], blocks: Blocks) -> Metric:
    rate = RATES[name[0]]
    return Metric("share", rate.formula(blocks.counts), by_ties({}, expected={}), needs=rate.needs)


def _ties(_: re.Match[str], blocks: Blocks) -> Metric:
    aggregates = {"ties": Aggregate(blocks.ties)}
    return Metric("count", blocks.number("ties"), by_ties(aggregates, expected=aggregates), needs=())


_OF_GROUP = [name for name, rate in RATES.items() if rate.of_group]
GROUP_FAMILIES = (
    Family("rows, positives", "N and P, the totals of the group", "rows|positives", _total),
    Family(", ".join(_OF_GROUP), "P/N, the precision of a random ranking", "|".join(_OF_GROUP), _rate_of_group),
    Family("ties", "rows that share their score with another row of the group", "ties", _ties),
)
