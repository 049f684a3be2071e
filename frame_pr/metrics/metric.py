"""The records of a metric: a few aggregates per group over its blocks, and a formula of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.inputs.options import TIES, Ties
from frame_pr.ranking.sort_keys import largest_by

CutoffKind: TypeAlias = Literal["rank", "threshold", "recall", "limit", "npv", "goal"]


_TP, _K, _POSITIVES, _ROWS = map(pl.col, ("tp", "k", "positives", "rows"))


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """The confusion table of `rows` rows: `k` are predicted positive, `tp` of these positive.

    By default, the columns that `ranking.blocks` gives a block: the table at its threshold.
    """

    tp: pl.Expr = _TP
    k: pl.Expr = _K
    positives: pl.Expr = _POSITIVES
    rows: pl.Expr = _ROWS
    fractional: bool = False
    """Whether they are units of float weights, which are large: differences are exact, but products
    are floats.
    """

    @property
    def negatives(self) -> pl.Expr:
        """Return the rows that are not positive."""
        return self.rows - self.positives

    @property
    def unselected(self) -> pl.Expr:
        """Return the rows that are predicted negative."""
        return self.rows - self.k

    @property
    def one(self) -> pl.Expr:
        """Return 1 in the dtype of products: they are exact if the counts are those of rows."""
        return pl.lit(1.0) if self.fractional else pl.lit(1, dtype=pl.Int128)


Formula: TypeAlias = Callable[[Counts], pl.Expr]
"""A number of a confusion table."""


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """Divide as Float64; null if the denominator is 0."""
    return pl.when(denominator != 0).then(numerator.cast(pl.Float64) / denominator.cast(pl.Float64))


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Counts):
    """The numbers that formulas name: columns of a block, and `FACTS` of a group."""

    graded: bool = False
    """Whether rows have their own gains; otherwise a positive has gain 1."""
    hits = pl.col("hits")
    size = pl.col("size")
    score = pl.col("threshold").cast(pl.Float64)
    retrieved_positives = pl.col("retrieved_positives").fill_null(0)
    retrieved_rows = pl.col("retrieved_rows").fill_null(0)

    @property
    def gain(self) -> pl.Expr:
        """Return the gain of a block."""
        return pl.col("gain") if self.graded else self.hits

    def constant(self, number: int) -> pl.Expr:
        """Return a whole number as a column.

        polars computes a quotient by a literal as a product with its rounded inverse.
        """
        return self.positives * 0 + number

    def sum_among(self, column: pl.Expr, k: int | pl.Expr) -> pl.Expr:
        """Return the part of a weighted count of the block that belongs to the first k rows."""
        # In floats, as Int64 does not hold every product of two counts. A whole block keeps its
        # exact value.
        count = column.cast(pl.Float64)
        part = count * (k - self.k + self.size).clip(lower_bound=0) / self.size
        return pl.when(self.k <= k).then(count).otherwise(part)


ColumnFunction: TypeAlias = Callable[[pl.Expr], pl.Expr]
"""A function of a column."""


class AggregateKind(NamedTuple):
    """How the values of an expression over blocks become one number per group."""

    reduce: ColumnFunction
    """The aggregation of a column."""
    reduce_ranked: ColumnFunction | None = None
    """The same, faster, if the blocks of a group are in order. For 400,000 groups of five rows, a
    sum of lists takes half of the time, and the first value a sixth of that of a smallest one.
    """
    value: ColumnFunction = lambda over: over
    """The column to aggregate in the table of all blocks."""
    adds_up: bool = False
    """Whether it is a sum, which is 0 in a group without blocks."""
    has_rank_key: bool = False
    """Whether the column is the rank key of a block, or has a value above the rank key."""
    is_ideal: bool = False
    """Whether the blocks are those of equal gain, the largest gain first."""


def _first_value(column: pl.Expr) -> pl.Expr:
    return column.drop_nulls().first()


def _last_value(column: pl.Expr) -> pl.Expr:
    return column.drop_nulls().last()


SUM = AggregateKind(
    pl.Expr.sum,
    lambda column: column.implode().list.sum(),
    value=lambda over: over.fill_null(0),
    adds_up=True,
)
IDEAL = SUM._replace(is_ideal=True)
"""The sum over other blocks: those of equal gain, the largest gain first."""
LARGEST = AggregateKind(pl.Expr.max)
SMALLEST = AggregateKind(pl.Expr.min)
FIRST = AggregateKind(pl.Expr.first)
FIRST_COUNT = AggregateKind(pl.Expr.min, _first_value)
"""The smallest of counts that never fall down the ranking."""
LAST_COUNT = AggregateKind(pl.Expr.max, _last_value)
"""The largest of such counts."""
STRICTEST = AggregateKind(
    pl.Expr.max,
    _first_value,
    value=lambda over: pl.when(over).then("rank_key"),
    has_rank_key=True,
)
"""The strictest threshold at which the expression is true."""
LOOSEST = STRICTEST._replace(reduce=pl.Expr.min, reduce_ranked=_last_value)
BEST_THRESHOLD = LARGEST._replace(value=largest_by, has_rank_key=True)
"""The strictest threshold at which the expression, between 0 and 1, is largest."""


class Aggregate(NamedTuple):
    """A number per group: the sum or an extreme value of an expression over its blocks."""

    over: pl.Expr
    kind: AggregateKind = SUM
    by: str = ""
    """The name of a `BEST_THRESHOLD` aggregate, in whose block the expression has the number."""

    def reduced(self, name: str, *, ranked: bool) -> pl.Expr:
        """Return the aggregation of the column of this aggregate.

        `ranked`: whether the blocks of each group are in order.
        """
        column = pl.col(name)
        if self.by:
            # Where all are null, the oldest polars returns the first value.
            return pl.when(pl.col(self.by).is_not_null()).then(column).max_by(self.by)
        if ranked and self.kind.reduce_ranked is not None:
            return self.kind.reduce_ranked(column)
        return self.kind.reduce(column)


Aggregates: TypeAlias = Mapping[str, Aggregate]
"""Aggregates by name. Metrics that need the same aggregate give it the same name and share it."""
AggregatesByTies: TypeAlias = Mapping[Ties, Aggregates]
"""The aggregates for each tie rule under which a metric has a value."""


def hits_among(blocks: Blocks, k: int | pl.Expr) -> Aggregate:
    """Return the aggregate that counts the positives among the first k rows."""
    return Aggregate(blocks.sum_among(blocks.hits, k))


BlocksRead: TypeAlias = Literal["none", "first without hits", "first", "all"]
"""Blocks without a positive: none, the first one of a group, or all.

"first without hits": the first one only if a group may have positives that are not ranked.
"""


class Cutoff:
    """A cutoff of a ranking. A subclass states what differs from these values."""

    kind: CutoffKind
    """The kind, which a rate names if it is bounded there."""
    has_expectation: bool = False
    """Whether its counts have an expectation over the orders of equal scores."""
    may_be_empty: bool = False
    """Whether possibly no row reaches it; the counts are then 0."""
    is_first: bool = True
    """Whether it is the first block that it `allows`; else the last one."""
    needs: tuple[str, ...] = ()
    """The facts that must be above 0, otherwise no metric has a value there."""
    beyond_steps: BlocksRead = "none"
    """Which blocks without a positive may be where the cutoff is."""
    by_class: bool = False
    """Whether it stays where it is if the share of positives changes."""

    def counts(self, blocks: Blocks) -> Counts:
        """Return the confusion table, from the facts of the group and the aggregates."""
        tp = pl.col(f"tp@{self}")
        k = pl.col(f"k@{self}")
        if self.may_be_empty:
            tp = tp.fill_null(0)
            k = k.fill_null(0)
        is_defined = self.is_defined(blocks)
        if is_defined is not None:
            tp = pl.when(is_defined).then(tp)
            k = pl.when(is_defined).then(k)
        return replace(blocks, tp=tp, k=k)

    def is_defined(self, blocks: Blocks) -> pl.Expr | None:
        """Return whether a group may have the cutoff; None if its aggregates say that."""
        return None

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether the threshold of a block is one of those that the cutoff chooses from."""
        raise NotImplementedError

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the aggregates from which the counts are computed."""
        return self.extreme_counts(blocks, blocks.tp, blocks.k)

    def extreme_counts(self, blocks: Blocks, tp: pl.Expr, k: pl.Expr) -> Aggregates:
        """Aggregate the tp and k of the first or last block that the cutoff allows."""
        # Both rise down the ranking, so one block has them.
        allowed = pl.when(self.allows(blocks))
        kind = FIRST_COUNT if self.is_first else LAST_COUNT
        return {
            f"tp@{self}": Aggregate(allowed.then(tp), kind),
            f"k@{self}": Aggregate(allowed.then(k), kind),
        }

    def threshold_aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the aggregate of the threshold of that block."""
        kind = STRICTEST if self.is_first else LOOSEST
        return {f"threshold@{self}": Aggregate(self.allows(blocks), kind)}


class Metric(NamedTuple):
    """A metric as a record of its parts."""

    value: pl.Expr
    """The formula, of the facts of the group and of the aggregates."""
    aggregates: AggregatesByTies
    """The aggregates over blocks, for each tie rule under which the metric has a value."""
    kind: Literal["share", "count", "weighted count", "threshold"] = "share"
    """A weighted count is a sum of weights. `undefined=` fills nulls only of a share."""
    cutoff: Cutoff | None = None
    """The cutoff of the ranking."""
    needs: tuple[str, ...] = ("positives",)
    """The facts that must be above 0; a metric that needs none has a value in every group."""
    counts_ranks: bool = False
    """Whether it counts rows by rank. A metric at a rank cutoff need not set it."""
    from_0_to_1: bool = True
    """Whether its value always lies between 0 and 1."""
    best: Literal["largest", "smallest", "none"] = "largest"
    """Which value is best. A threshold has none, whatever this says."""
    beyond_steps: BlocksRead = "none"
    """Which blocks without a positive it reads."""
    of_probabilities: bool = False
    """Whether it reads scores as probabilities of a positive."""
    optimum: Cutoff | None = None
    """The goal whose best value it is."""
    by_class: bool = False
    """Whether it counts within each class, so that the share of positives does not change it."""


def by_ties(
    aggregates: Aggregates,
    *,
    bounded: bool,
    expected: Aggregates | None = None,
    in_order: Aggregates | None = None,
) -> AggregatesByTies:
    """Return the aggregates for each tie rule under which a metric has a value.

    `aggregates`: those of whole blocks. `expected`: those of the expectation over all orders of
    equal scores; by default there is none. `bounded`: whether positives first, or last, among equal
    scores make the metric largest, or smallest. `in_order`: the aggregates in that case, if they
    differ from those of the expectation. The rows of a block are then all positive or all negative
    and have one order, of which the expectation is the value.
    """
    ordered = in_order or expected or aggregates
    by_orders = {
        "nothing": aggregates,
        "rows": aggregates,
        "all orders": expected,
        "truth": ordered if bounded else None,
    }
    by_rule = {name: by_orders[rule.orders] for name, rule in TIES.items()}
    return {name: of_rule for name, of_rule in by_rule.items() if of_rule is not None}


def for_all_ties(aggregates: Aggregates) -> AggregatesByTies:
    """Return the same aggregates for all tie rules: of whole blocks, expected, and bounds."""
    return by_ties(aggregates, expected=aggregates, bounded=True)


NameMatch: TypeAlias = re.Match[str]
"""The match of a metric's name with the pattern of its family."""


class Family(NamedTuple):
    """Metrics whose names follow one pattern."""

    name: str
    """The pattern as users write it."""
    value: str
    """The line in the docs' table of metrics."""
    build: Callable[[NameMatch, Blocks], Metric]
    pattern: str = ""
    """The names as a regular expression, if `name` is not the only one."""
    examples: tuple[str, ...] = ()
    """The names without a cutoff, with an example for each number, if `name` is not the only one.
    """

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the names without a cutoff, with an example for each number in them."""
        return self.examples or (self.name,)

    def match(self, name: str) -> NameMatch | None:
        """Match the name of a metric."""
        return re.fullmatch(self.pattern or self.name, name)


class Fact(NamedTuple):
    """A number of a group that formulas may name."""

    over_blocks: Aggregate
    over_rows: Aggregate | None
    """The same over unsorted rows. None: only metrics that rank the rows read it."""


_TRUTH = pl.col("truth")
_WEIGHT = pl.col("weight")
_IS_RETRIEVED = pl.col("score").is_not_null()
FACTS: Mapping[str, Fact] = {
    "positives": Fact(Aggregate(_POSITIVES, FIRST), Aggregate(_TRUTH * _WEIGHT)),
    "rows": Fact(Aggregate(_ROWS, FIRST), Aggregate(_WEIGHT)),
    "unjudged_rows": Fact(Aggregate(pl.col("unjudged_rows"), FIRST), None),
    "retrieved_positives": Fact(
        Aggregate(_TP, LAST_COUNT), Aggregate((_TRUTH & _IS_RETRIEVED) * _WEIGHT)
    ),
    "retrieved_rows": Fact(
        Aggregate(pl.col("retrieved_k"), LAST_COUNT), Aggregate(_IS_RETRIEVED * _WEIGHT)
    ),
}
