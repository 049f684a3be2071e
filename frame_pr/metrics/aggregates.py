"""What formulas name, and how numbers of blocks become numbers of groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.metrics.rates import Counts


class Blocks:
    """What formulas name: `ranking.blocks` says what there is of a block, `group_facts.FACTS` what there is of a group.

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
        self.gain = number("gain") if graded else self.hits
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
