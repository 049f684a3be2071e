"""What an axis can show: a rate, or a quantity along the ranking, each with its title, range and formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from frame_pr.frames.arguments import text
from frame_pr.frames.messages import shown
from frame_pr.metrics.rates import NUMBERED_NAME, RATES, Counts, rate_of, ratio
from frame_pr.metrics.synonyms import rate_hint


class AxisQuantity(NamedTuple):
    """A quantity that an axis shows."""

    title: str
    unit_range: bool
    """Whether the axis goes from 0 to 1."""
    formula: Callable[[Counts], pl.Expr] | None
    """None: a column of `curve`."""
    synonyms: tuple[str, ...]
    """What other libraries call it."""


X_ONLY: Mapping[str, AxisQuantity] = {
    "threshold": AxisQuantity("Threshold", False, None, ("score", "scores", "cutoff")),
    "k": AxisQuantity("Rank k", False, None, ("rank", "n")),
    "share": AxisQuantity(
        "Share of the rows",
        True,
        lambda counts: ratio(counts.k, counts.rows),
        ("percent", "population", "fraction", "depth"),
    ),
}
"""What the x axis shows in addition to rates."""


def axis_quantity(name: str) -> AxisQuantity:
    """Look up what an axis shows."""
    if name in X_ONLY:
        return X_ONLY[name]
    rate = rate_of(name)
    return AxisQuantity(rate.title, rate.range == "0 to 1", rate.formula, rate.synonyms)


def formula_of(name: str) -> Callable[[Counts], pl.Expr]:
    """The formula of a quantity that is no column of `curve`."""
    return axis_quantity(name).formula or rate_of(name).formula


def check_axis(argument: str, value: object) -> str:
    """Check the name of a quantity for `x=` or `y=`."""
    name, along = text(argument, value), argument == "x"
    ranges = ("0 to 1",) if along else ("0 to 1", "0 up")
    synonyms = {
        rate: record.synonyms for rate, record in RATES.items() if record.range in ranges and not record.is_count
    }
    synonyms |= {quantity: record.synonyms for quantity, record in X_ONLY.items()} if along else {}
    if name not in synonyms and not re.fullmatch(NUMBERED_NAME, name):
        hint = rate_hint(name, synonyms)
        if name in RATES:
            hint = "it is a count" if RATES[name].is_count else f"it is a rate from {RATES[name].range}"
        raise ValueError(f"{argument}: no axis shows {shown(name)}; {hint}")
    if name not in synonyms:
        rate_of(name)
    return name
