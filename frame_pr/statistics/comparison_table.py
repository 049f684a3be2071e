"""The table that every comparison returns: differences with their intervals and p-values, corrected for many tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Generic, NamedTuple

import numpy as np
import polars as pl

from frame_pr.frames.columns import refuse_clash
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.functions.evaluation import metrics_named, sorted_by
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import Request, request_of
from frame_pr.metrics.names import request_for
from frame_pr.statistics.bounds import Array, array_of, columns_of
from frame_pr.statistics.unit_values import UnitValues, unit_values_of

TIE = 2.0**-44
"""A smaller difference is a rounding error, as a share of the largest value."""
NUMBERS: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("difference", "low", "high", "p_value"), pl.Float64()),
    **dict.fromkeys(("value_baseline", "value_system", "standard_error"), pl.Float64()),
    **dict.fromkeys(("units_baseline", "units_system", "undefined"), pl.Int64()),
    "effect_size": pl.Float64(),
    **dict.fromkeys(("wins", "equal", "losses"), pl.Int64()),
    "level": pl.Float64(),
}
"""The numbers of a comparison, in the order of the result."""
DETAILS = tuple(NUMBERS)[4:]
"""The numbers that `details=True` adds. Without them, polars prints all columns: it shows the first four and the last
four."""


class Scored(NamedTuple, Generic[Frame]):
    """The data of a call: rows with a label and scores, or a frame of metrics, which has neither."""

    frame: Frame
    metrics: Any
    truth: Column | None
    score: Columns | None
    by: Columns | None
    cluster: Column | None
    positive: object
    undefined: float | None
    policies: Policies

    def unit_values(self, *, system: bool = False) -> UnitValues[Frame]:
        """Return the metrics of each unit. `system`: whether a frame of metrics must have a column `system`."""
        frame, metrics, truth, score, by, _, positive, undefined, policies = self
        return unit_values_of(frame, metrics, truth, score, by, positive, undefined, policies, system=system)

    def request(self) -> tuple[dict[str, str], Request]:
        """Return the metrics by their names, and the request of a call whose rows are the sample."""
        named = metrics_named(self.metrics, self.truth, self.score)
        request = request_of(self.truth, self.score, self.by, self.positive, self.policies)  # type: ignore[arg-type]
        return named, request_for(named.values(), request)


class Options(NamedTuple):
    """How systems are compared."""

    baseline: Any
    test: str
    correction: str | None
    confidence: float
    resamples: int
    seed: int
    between: Any = None
    mean_over: Any = None
    sampled: Any = None
    systems: Sequence[Any] = ()
    """The systems in their order, if they are known before the data."""
    details: bool = False

    def pairs(self, systems: Sequence[Any]) -> list[tuple[int, int]]:
        """Return the places of the two systems of each comparison, the baseline first."""
        if len(systems) < 2:
            raise ValueError(f"compare takes two systems or more, and there is {shown(systems[0])} only")
        if self.baseline is None:
            return list(combinations(range(len(systems)), 2))
        if self.baseline not in systems:
            near = nearest(str(self.baseline), [str(system) for system in systems])
            hint = did_you_mean(near) if near else f"there are {', '.join(map(str, systems))}"[:200]
            raise ValueError(f"baseline={shown(self.baseline)} is none of the systems; {hint}")
        first = list(systems).index(self.baseline)
        return [(first, other) for other in range(len(systems)) if other != first]


class Comparison(NamedTuple, Generic[Frame]):
    """A row per key, pair of systems and metric: `key0`, ..., `m`, `a` and `b` (places), names and `NUMBERS`."""

    table: pl.DataFrame
    keys: Sequence[str]
    metrics: Sequence[str]
    scores: Sequence[str]
    """The scores, if there are several and they are the key `score`."""
    correction: str | None
    """How p-values are corrected for many tests; None also if there is known to be one test only."""
    give: Callable[[pl.LazyFrame, Sequence[str]], Frame]

    def result(self, options: Options) -> Frame:
        """Return what `compare` returns."""
        table, columns = self.table, ["metric", "baseline", "system", "difference", "low", "high", "p_value"]
        if self.correction is not None:
            columns.append("p_adjusted")
            p_values = adjusted(array_of(table, "p_value"), self.correction)
            table = table.with_columns(columns_of(p_adjusted=p_values))
        columns += DETAILS if options.details else ()
        refuse_clash(self.keys, columns)
        key_columns = [f"key{i}" for i in range(len(self.keys))]
        named = [pl.col(column).alias(key) for key, column in zip(self.keys, key_columns, strict=True)]
        keys = ["system" if self.scores and key == "score" else key for key in self.keys]
        names = pl.lit(pl.Series(self.metrics, dtype=pl.String)).gather("m")
        ordered = table.lazy().sort(*sorted_by(keys, self.scores, key_columns), "m", "a", "b")
        return self.give(
            ordered.with_columns(metric=names, level=pl.lit(options.confidence)).select(*named, *columns),
            list(self.keys),
        )


def comparison_columns(
    difference: Array, low: Array, high: Array, p_value: Array, error: Array, **others: Any
) -> list[pl.Series | pl.Expr]:
    """Return the columns `NUMBERS` of a test; null where others do not give them."""
    arrays = columns_of(difference=difference, low=low, high=high, p_value=p_value, standard_error=error)
    nulls = (name for name in NUMBERS if name not in (*others, *(column.name for column in arrays)))
    return [
        *arrays,
        *(column.alias(name) for name, column in others.items()),
        *(pl.lit(None).alias(name) for name in nulls),
    ]


def adjusted(p_values: Array, correction: str) -> Array:
    """Adjust p-values for many tests by Holm (1979), "holm", or Benjamini and Hochberg (1995), "bh"."""
    result, tested = p_values.copy(), ~np.isnan(p_values)
    p = p_values[tested]
    if correction == "bh" and len(p):
        from scipy.stats import false_discovery_control  # Takes a second, which other calls do not need.

        result[tested] = false_discovery_control(p)
    if correction == "holm":
        order = np.argsort(p)
        steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
        result[np.flatnonzero(tested)[order]] = np.minimum(steps, 1.0)
    return result
