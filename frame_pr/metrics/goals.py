"""Goals: the best threshold for a rate, alone or within a limit of another rate."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_pr.frames.messages import shown
from frame_pr.metrics.cutoffs import (
    LIMIT,
    RANK,
    EqualErrors,
    Limit,
    Rank,
    SelectsAtMost,
    Threshold,
)
from frame_pr.metrics.metric import (
    BEST_THRESHOLD,
    FIRST,
    LARGEST,
    SMALLEST,
    Aggregate,
    Aggregates,
    Blocks,
    BlocksRead,
    Counts,
    Cutoff,
)
from frame_pr.metrics.numbers import DECIMAL, NUMBER
from frame_pr.metrics.rates import RATES, rate_of

BEST = tuple(
    name
    for name, rate in RATES.items()
    if rate.best_by is not None and not any(map(str.isdigit, name))
)
"""The rates without a number that have a `max_`."""
GOAL = rf"(?:max_(?:{'|'.join(BEST)}|f{DECIMAL})|min_cost{DECIMAL})(?:@{LIMIT})?"
"""How a goal is written."""
_NONE = pl.lit(0, dtype=pl.Int64)
_ZERO = 0.75
"""The order of a rate that is 0. Close to it, all floats have one exponent."""
_FACTS = ("positives", "negatives", "rows")
"""The facts of a group that may leave it without a best value: attributes of `Blocks`."""


@dataclass(unsafe_hash=True, repr=False)
class Goal(Cutoff):
    """The rows at the best threshold for a rate, of the thresholds within a limit.

    Predicting nothing competes with the thresholds, unless it is beyond the limit. A rate that is
    undefined then counts as 0.
    """

    kind = "goal"
    rate_name: str
    limit: Limit | None = None

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Read a goal from the name of a metric."""
        best, _, limit = text.partition("@")
        rate_name = re.sub("^(max|min)_", "", best)
        return cls(rate_name, Limit.parse(limit) if limit else None)

    def __post_init__(self) -> None:
        self.rate = rate_of(self.rate_name)
        needs = self.rate.needs
        if self.rate.range == "-1 to 1":
            # An agreement has a value as long as neither label nor prediction is constant.
            needs = ("positives", "negatives")
        self.needs = tuple(fact for fact in needs if fact in _FACTS) or ("rows",)
        self.may_be_empty = True
        self.by_class = self.rate.by_class
        # The first threshold may be best if no threshold selects a positive.
        self.beyond_steps: BlocksRead = "first without hits"
        if self.limit is not None:
            self.needs += self.limit.needs
            # Predicting nothing, for 0 rows, may be within the limit.
            self.may_be_empty = self.limit.may_be_empty
            self.by_class = self.by_class and self.limit.by_class
            if self.limit.beyond_steps != "none":
                self.beyond_steps = self.limit.beyond_steps

    def __str__(self) -> str:
        best = "min" if self.rate.best == "smallest" else "max"
        limit = "" if self.limit is None else f"@{self.limit}"
        return f"{best}_{self.rate_name}{limit}"

    @property
    def is_bounded(self) -> bool:
        """Return whether positives first in a tie give the best value, and last the worst."""
        if self.limit is None:
            return True
        # A rate that is undefined if all rows are selected has no worst value at a recall. If the
        # first row may be within the limit, the value depends on the order of negatives, too.
        return "recall" in self.rate.bounded_at and self.limit.beyond_steps == "none"

    def nothing(self, blocks: Blocks) -> Counts:
        """Return the confusion table if no row is predicted positive."""
        return replace(blocks, tp=_NONE, k=_NONE)

    def is_defined(self, blocks: Blocks) -> pl.Expr:
        """Return whether a group has the facts without which there is no best value.

        A group with one class has no best kappa, whatever its limit.
        """
        facts = [getattr(blocks, fact) for fact in self.needs if fact in _FACTS]
        return pl.all_horizontal(fact > 0 for fact in facts)

    def best_value(self, blocks: Blocks) -> tuple[Aggregates, pl.Expr]:
        """Return the aggregates of the best value of the rate, and its formula."""
        is_cost = self.rate.best == "smallest"
        of_blocks = self.rate.value(blocks)
        if self.limit is not None:
            of_blocks = pl.when(self.limit.allows(blocks)).then(of_blocks)
        best = pl.col(str(self))
        aggregates = {str(self): Aggregate(of_blocks, SMALLEST if is_cost else LARGEST)}
        if self.may_be_empty:
            of_nothing = self.rate.value(self.nothing(blocks)).fill_null(0)
            choose = pl.min_horizontal if is_cost else pl.max_horizontal
            best = choose(best, of_nothing)
        # 0.0 is added because a best value of -0.0 is 0.
        return aggregates, pl.when(self.is_defined(blocks)).then(best + 0.0)

    def allows(self, blocks: Blocks) -> pl.Expr:
        """Return whether a threshold is within the limit, and better than predicting nothing."""
        order = self._order(blocks)
        allowed = order.is_not_null()
        if self.may_be_empty:
            of_nothing = self._order(self.nothing(blocks)).fill_null(_ZERO)
            # Rows are selected for the same benefit, but not for the same cost.
            allowed = order > of_nothing if self.rate.best == "smallest" else order >= of_nothing
        return allowed if self.limit is None else allowed & self.limit.allows(blocks)

    def _order(self, counts: Counts) -> pl.Expr:
        """Return a number around `_ZERO` that is larger where the rate is better.

        Equal rates of weighted rows may differ by rounding. Here they are equal: the last bit of
        such a number is 2**-44 of the rate.
        """
        assert self.rate.best_by is not None
        return self.rate.best_by(counts) / 2**9 + _ZERO

    def threshold_aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the aggregate of the best threshold."""
        order = pl.when(self.allows(blocks)).then(self._order(blocks))
        return {f"threshold@{self}": Aggregate(order, BEST_THRESHOLD)}

    def aggregates(self, blocks: Blocks) -> Aggregates:
        """Return the counts at the best threshold."""
        by = f"threshold@{self}"
        counts = {
            f"tp@{self}": Aggregate(blocks.tp, FIRST, by),
            f"k@{self}": Aggregate(blocks.k, FIRST, by),
        }
        return counts | dict(self.threshold_aggregates(blocks))


AT_GOAL = rf"{GOAL}|threshold@{RANK}|equal_error_rate"
"""How a goal is written after the name of a rate."""
_AT_THRESHOLD = rf"(?:threshold@)?(?:{GOAL}|{LIMIT}|equal_error_rate)|threshold@{RANK}"
"""How a goal or a limit is written as the threshold of a caller."""


def cutoff_of(text: str) -> Cutoff:
    """Read what follows the name of a rate: a rank, a threshold, a limit or a goal.

    `threshold@` may stand before a limit or a goal.
    """
    if re.fullmatch(rf"{NUMBER}|{DECIMAL}%", text):
        return Rank.parse(text)
    if text.startswith("threshold="):
        return Threshold.parse(text.removeprefix("threshold="))
    threshold = text.removeprefix("threshold@")
    if re.fullmatch(RANK, threshold):
        return SelectsAtMost(Rank.parse(threshold))
    if re.fullmatch(LIMIT, threshold):
        return Limit.parse(threshold)
    return EqualErrors() if threshold == "equal_error_rate" else Goal.parse(threshold)


def is_goal(text: str) -> bool:
    """Return whether a text is a goal, or a limit, as the threshold of a caller."""
    return re.fullmatch(_AT_THRESHOLD, text) is not None


def threshold_of(value: Any) -> Cutoff:
    """Validate a threshold of the caller: a number, or a goal such as "max_f1"."""
    if not isinstance(value, str):
        return Threshold.of(value)
    if not is_goal(value):
        raise ValueError(
            f"threshold: {shown(value)} is neither a number nor a goal; goals are 'max_f1', "
            "'precision=0.9', 'min_cost5', 'threshold@20%' and the like"
        )
    return cutoff_of(value)
