"""Pairs of systems, the join of both sides, and the columns of a comparison.

Each test makes a table with a row per key, metric and pair: the keys, `m` (the place of the metric), `a` and `b` (the
places of the baseline and the system) and columns of `NUMBERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from frame_pr.frames.messages import did_you_mean, examples, nearest, shown
from frame_pr.inputs.values import label_of
from frame_pr.statistics.bounds import Array, array_of, columns_of, t_test

PREVIOUS = "previous"
TIE = 2.0**-44
"""A smaller difference is a rounding error, as a share of the largest value."""
_COUNTS = ("units_baseline", "units_system", "undefined", "wins", "equal", "losses")
NUMBERS: Mapping[str, pl.DataType] = {
    name: pl.Int64() if name in _COUNTS else pl.Float64()
    for name in (
        *("difference", "low", "high", "p_value", "value_baseline", "value_system", "standard_error"),
        *("units_baseline", "units_system", "undefined", "effect_size", "wins", "equal", "losses", "level"),
    )
}
"""The numbers of a comparison, in the order of the result; null where a test does not give them."""
DETAILS = tuple(NUMBERS)[4:]
"""The numbers that `details=True` adds. Without them, polars prints all columns: it shows the first four and the last
four."""


class Pairs(NamedTuple):
    """The pairs of systems, or groups, that are compared."""

    names: pl.Series
    """The names of the systems in their order, called like the column that holds them."""
    on: list[str]
    """The columns in which both systems of a pair are equal: the keys, and `m`."""
    table: pl.DataFrame
    """The places of both names, `a` and `b`, for each combination of the columns `on`, or for each `m`."""

    def with_places(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with `place`, that of the name of its system, instead of the name."""
        places = self.names.to_frame().with_row_index("place")
        return table.join(places, on=self.names.name, nulls_equal=True).drop(self.names.name)

    def both(self, table: pl.DataFrame, *more: str, how: Literal["inner", "left"] = "inner") -> pl.DataFrame:
        """Join the rows of both systems to each pair. Columns of the baseline have the prefix `base `.

        `table`: `place`, the columns `on`, and `more` columns in which both systems are equal.
        """
        on = [*self.on, *more]
        of_pairs = [name for name in on if name in self.table.columns]
        base = table.rename(lambda name: name if name in on else f"base {name}")
        both = self.table.join(
            base, left_on=[*of_pairs, "a"], right_on=[*of_pairs, "base place"], how=how, nulls_equal=True
        )
        return both.join(table, left_on=[*on, "b"], right_on=[*on, "place"], how=how, nulls_equal=True)


def pairs_of(systems: pl.DataFrame, on: list[str], baseline: int | Literal["previous"] | None) -> pl.DataFrame:
    """Return the places `a` and `b` of each pair of systems that are equal in the columns `on`.

    `baseline`: the place of the only baseline; None: all pairs.
    """
    systems = systems.select(*on, b="place").unique()
    if baseline == PREVIOUS:
        return systems.sort("b").with_columns(a=pl.col("b").shift().over(on)).drop_nulls("a")
    pairs = systems.join(systems.rename({"b": "a"}), on=on, nulls_equal=True)
    a, b = pl.col("a"), pl.col("b")
    return pairs.filter(a < b) if baseline is None else pairs.filter(a == baseline, b != baseline)


def baseline_place(names: pl.Series, baseline: Any, title: str) -> int:
    """Return the place of the system, or group, that is named as baseline. `title`: what messages call the names."""
    places: list[int] = []
    with suppress(TypeError, ValueError):
        # The values of a pandas column that polars does not have are an Enum of their texts.
        label = label_of("", names.dtype, str(baseline) if names.dtype == pl.Enum else baseline)
        places = pl.select((pl.lit(names) == label).arg_true()).to_series().to_list()
    if not places:
        near = nearest(baseline, names.cast(pl.String).drop_nulls()) if isinstance(baseline, str) else []
        hint = did_you_mean(near) if near else f"there are {examples(names)}"
        raise ValueError(f"baseline={shown(baseline)} is none of the {title}; {hint}")
    return places[0]


def difference_of(base: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the value less that of the baseline; a rounding error counts as 0."""
    noise = TIE * pl.max_horizontal(base.abs(), value.abs())
    return pl.when((value - base).abs() <= noise).then(0.0).otherwise(value - base)


def with_t_test(table: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return the table with `low`, `high` and `p_value`, from `difference`, `standard_error` and `df`."""
    difference, error, df = (array_of(table, name) for name in ("difference", "standard_error", "df"))
    low, high, p = t_test(difference, error, df, alpha)
    return table.with_columns(columns_of(low=low, high=high, p_value=p))


def adjusted(p_values: Array, correction: str) -> Array:
    """Adjust p-values for many tests by Holm (1979), "holm", or Benjamini and Hochberg (1995), "bh"."""
    tested, result = ~np.isnan(p_values), p_values.copy()
    p = p_values[tested]
    if correction == "bh" and len(p):
        from scipy.stats import false_discovery_control  # Takes a second, which other calls do not need.

        result[tested] = false_discovery_control(p)
    if correction == "holm":
        steps = np.maximum.accumulate(np.sort(p) * np.arange(len(p), 0, -1))
        result[tested] = np.minimum(steps, 1.0)[p.argsort().argsort()]
    return result
