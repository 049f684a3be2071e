"""What an axis can show: its title, its range and its formula.

This is the only place of the plots that knows rates by name; `metrics/rates.py` has the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from frame_pr.frames.arguments import text
from frame_pr.frames.wording import did_you_mean, nearest, shown
from frame_pr.metrics.numbers import DECIMAL
from frame_pr.metrics.rates import RATES, SIGNED, Counts, figure_of, precision, prevalence, ratio


class AxisQuantity(NamedTuple):
    """A quantity that an axis shows."""

    title: str
    unit_range: bool = True
    """Whether the axis goes from 0 to 1."""
    formula: Callable[[Counts], pl.Expr] | None = None
    """None: a column of `curve`, or a rate."""


_TITLES = {"fpr": "False positive rate", "fnr": "False negative rate", "fdr": "False discovery rate", "npv": "NPV"}
X_ONLY = {
    "threshold": AxisQuantity("Threshold", unit_range=False),
    "k": AxisQuantity("Rank k", unit_range=False),
    "share": AxisQuantity("Share of the rows", formula=lambda counts: ratio(counts.k, counts.rows)),
}
Y_ONLY = {
    "lift": AxisQuantity("Lift", unit_range=False, formula=lambda c: ratio(precision(c), prevalence(c))),
}


def axis_quantity(name: str) -> AxisQuantity:
    """Look up what an axis shows."""
    special = X_ONLY | Y_ONLY
    return special[name] if name in special else AxisQuantity(_TITLES.get(name, name.capitalize()))


def formula_of(name: str) -> Callable[[Counts], pl.Expr]:
    """The formula of a quantity that is no column of `curve`."""
    return axis_quantity(name).formula or figure_of(name)


def check_axis(argument: str, value: object) -> str:
    """Check the name of a quantity for `x=` or `y=`."""
    name = text(argument, value)
    names = [*(rate for rate in RATES if rate not in SIGNED), *(X_ONLY if argument == "x" else Y_ONLY)]
    if name in names:
        return name
    if not re.fullmatch(f"f{DECIMAL}", name):
        near = nearest(name, names, cutoff=0.6)
        hint = did_you_mean(near) if near else f"there are {', '.join(names)}, and f with any beta, such as f2"
        raise ValueError(f"{argument}: no axis shows {shown(name)}; {hint}")
    figure_of(name)
    return name
