"""What a metric is: a few numbers per group, aggregated over its blocks, and a formula of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.inputs.policies import TIES, Ties
from frame_pr.metrics.aggregates import Aggregates, Blocks
from frame_pr.metrics.cutoffs import Cutoff


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
    first_block: Literal["never", "without hits", "always"] = "never"
    """Whether it reads the first block of a group that has no hit there, beside the steps: never, or only where a group
    may have positives and not one hit, or always."""


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
