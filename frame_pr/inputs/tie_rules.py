"""Tie rules: what equal scores mean. One record each, which every other module looks up.

To add a rule, add its name to `Ties`, its record to `TIES`, and its sentence to the docstring of `Policies`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

Ties: TypeAlias = Literal["threshold", "expected", "optimistic", "pessimistic", "order"]


@dataclass(frozen=True)
class TieRule:
    """What equal scores mean. Fields have no defaults, so an incomplete record fails at import."""

    orders: Literal["nothing", "all orders", "truth", "rows"]
    """What orders rows of equal score: nothing, so a threshold takes them together; nothing, and the value is the mean
    over all their orders; their labels (or gains); or the order of the rows in the frame."""
    descending: bool
    """Whether it places them in descending order: positives first, or the last row first."""
    refusal: str
    """What an error says of a metric that has no value under the rule, if there is one."""
    definition: str
    """What `identify` says of a value under the rule."""
    sentence: str
    """What the docs say."""

    @cached_property
    def together(self) -> bool:
        """Whether a threshold takes equal scores together."""
        return self.orders == "nothing"

    @cached_property
    def averages(self) -> bool:
        """Whether a value is the mean over all orders of equal scores."""
        return self.orders == "all orders"

    @cached_property
    def bounds(self) -> bool:
        """Whether a value is the largest or smallest over all orders, as labels order equal scores."""
        return self.orders == "truth"

    @cached_property
    def by_row(self) -> bool:
        """Whether the order of the rows matters, so that a row with a count has no single place."""
        return self.orders == "rows"


TIES: Mapping[Ties, TieRule] = {
    "threshold": TieRule(
        orders="nothing",
        descending=False,
        refusal="",
        definition="",
        sentence="they are taken together, as a threshold takes them, and a rank cut-off among them takes its expected "
        "share",
    ),
    "expected": TieRule(
        orders="all orders",
        descending=False,
        refusal="has no closed form in expectation: {way}ties='threshold' takes equal scores together",
        definition="in expectation over the orders of equal scores",
        sentence="the expectation over all their orders (McSherry and Najork 2008)",
    ),
    "optimistic": TieRule(
        orders="truth",
        descending=True,
        refusal="is not best with positives first: ties='optimistic' would be no bound of it",
        definition="positives first among equal scores",
        sentence="positives first",
    ),
    "pessimistic": TieRule(
        orders="truth",
        descending=False,
        refusal="is not worst with positives last: ties='pessimistic' would be no bound of it",
        definition="positives last among equal scores",
        sentence="positives last",
    ),
    "order": TieRule(
        orders="rows",
        descending=False,
        refusal="",
        definition="equal scores in the order of the rows, as VOC and COCO have them, and ranx where there are at "
        "most 15",
        sentence="they stand in the order of the rows",
    ),
}
assert get_args(Ties) == tuple(TIES), "Ties and TIES name different rules"

DEFAULT_TIES: Ties = next(iter(TIES))
BOUNDS = tuple(name for name, rule in TIES.items() if rule.bounds)
"""The rules that bound a value."""
