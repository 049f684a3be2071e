"""The quantities that an axis of a plot of curves can show: rates, and a few other quantities."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

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
    """Its names in other libraries."""
    references: Mapping[str, Callable[[float, Any], Any]] = MappingProxyType({})
    """The values of rankings without information, from the prevalence and the thresholds."""
    at: Callable[[Any, Any, Any, Any, Any], Any] | None = None
    """The formula of a quantity that depends on the threshold: of tp, fp, positives, rows and the threshold."""

    def of_counts(self, counts: Counts) -> pl.Expr:
        """Return the quantity at the thresholds of a curve."""
        if self.at is None:
            assert self.formula is not None
            return self.formula(counts)
        threshold = pl.col("threshold").cast(pl.Float64)
        value = self.at(counts.tp, counts.k - counts.tp, counts.positives, counts.rows, threshold)
        return pl.when(threshold < 1, counts.positives > 0).then(value)


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
"""Quantities of the x axis in addition to rates."""
_NOTHING: dict[str, Callable[[float, Any], Any]] = {"treat none": lambda prevalence, t: 0 * t}
Y_ONLY: Mapping[str, AxisQuantity] = {
    "net_benefit": AxisQuantity(
        "Net benefit",
        False,
        None,
        ("decision_curve", "dca"),
        {"treat all": lambda prevalence, t: prevalence - (1 - prevalence) * t / (1 - t), **_NOTHING},
        lambda tp, fp, positives, rows, t: (tp - fp * t / (1 - t)) / rows,
    ),
    "standardized_net_benefit": AxisQuantity(
        "Standardized net benefit",
        False,
        None,
        ("relative_utility",),
        {"treat all": lambda prevalence, t: 1 - (1 / prevalence - 1) * t / (1 - t), **_NOTHING},
        lambda tp, fp, positives, rows, t: (tp - fp * t / (1 - t)) / positives,
    ),
}
"""Quantities of the y axis in addition to rates. The x axis is then the threshold."""


_RANDOM: dict[str, Callable[[float, Any], Any]] = {"random ranking": lambda prevalence, t: 1 + 0 * t}
_REFERENCES: Mapping[str, Callable[[str], Mapping[str, Callable[[float, Any], Any]]]] = {
    "lift": lambda _: _RANDOM,
    "cost": lambda missed: {
        "treat all": lambda prevalence, t: 1 - prevalence + 0 * t,
        "treat none": lambda prevalence, t: float(missed) * prevalence + 0 * t,
    },
}
"""The values of rankings without information, by the name of a rate, from the number at its end."""


def axis_quantity(name: str) -> AxisQuantity:
    """Look up a quantity by its name."""
    if name in X_ONLY:
        return X_ONLY[name]
    if name in Y_ONLY:
        return Y_ONLY[name]
    rate, family = rate_of(name), name.rstrip("0123456789.")
    references = _REFERENCES[family](name.removeprefix(family)) if family in _REFERENCES else {}
    return AxisQuantity(rate.title, rate.range == "0 to 1", rate.formula, rate.synonyms, references)


def formula_of(name: str) -> Callable[[Counts], pl.Expr]:
    """Return the formula of a quantity that `curve` does not give."""
    quantity = axis_quantity(name)
    return quantity.of_counts if quantity.formula or quantity.at else rate_of(name).formula


def check_axis(argument: str, value: object) -> str:
    """Check the name of a quantity for `x=` or `y=`."""
    name, along = text(argument, value), argument == "x"
    ranges = ("0 to 1",) if along else ("0 to 1", "0 up")
    synonyms = {
        rate: record.synonyms for rate, record in RATES.items() if record.range in ranges and not record.is_count
    }
    synonyms |= {quantity: record.synonyms for quantity, record in (X_ONLY if along else Y_ONLY).items()}
    if name not in synonyms and not re.fullmatch(NUMBERED_NAME, name):
        hint = rate_hint(name, synonyms)
        if name in RATES:
            hint = "it is a count" if RATES[name].is_count else f"it is a rate from {RATES[name].range}"
        raise ValueError(f"{argument}: no axis shows {shown(name)}; {hint}")
    if name not in synonyms:
        rate_of(name)
    return name
