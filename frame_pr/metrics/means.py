"""Aggregate metrics over groups: mean, median, standard deviation, quantiles, weighted means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from frame_pr.frames.arguments import names_of
from frame_pr.frames.columns import by_name, refuse_clash, root_names
from frame_pr.frames.messages import shown
from frame_pr.metrics.metric import ColumnFunction
from frame_pr.metrics.names import metric
from frame_pr.metrics.numbers import DECIMAL

Statistic: TypeAlias = Literal[
    "mean",
    "median",
    "std",
    "min",
    "max",
    "range",
    "ratio",
    "weighted",
    "by_rows",
    "by_pairs",
    "defined",
]
_SUMMARIES: Mapping[str, ColumnFunction] = {
    "mean": pl.Expr.mean,
    "median": pl.Expr.median,
    "std": pl.Expr.std,
    "min": pl.Expr.min,
    "max": pl.Expr.max,
    "range": lambda value: value.max() - value.min(),
    "ratio": lambda value: pl.when(value.max() > 0).then(value.min() / value.max()),
}
"""The statistics that are values of the metric."""
STATISTICS = get_args(Statistic)
"""In addition, `qN` is the quantile below which N percent of the values lie."""
_SCALE = 2.0**-600
_OF_GROUP = " of the group"
"""The end of the names of totals that weight each group. No metric of a caller has these names."""
_POSITIVES = pl.col(f"positives{_OF_GROUP}").cast(pl.Float64)
_ROWS = pl.col(f"rows{_OF_GROUP}").cast(pl.Float64)
_GROUP_WEIGHTS: Mapping[str, pl.Expr] = {
    "weighted": _POSITIVES,
    "by_rows": _ROWS,
    "by_pairs": _POSITIVES * (_ROWS - _POSITIVES),
}
"""The weight of a group in weighted means."""


class Means(NamedTuple):
    """The statistics to compute over the groups."""

    over: Sequence[str] | None
    """The keys to average over; None: all but `system`."""
    statistics: Sequence[str]
    head: str
    """The prefix of the names of means; empty if the caller gave the name."""
    thresholds: frozenset[str] = frozenset()
    """The metrics that are thresholds, which may be of any size."""

    def left(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that remain."""
        if self.over is None:
            return [key for key in keys if key == "system"]
        return [key for key in keys if key not in self.over]

    def of(self, named: Mapping[str, str]) -> Means:
        """Return the same statistics for these metrics."""
        thresholds = [name for name, of in named.items() if metric(of).kind == "threshold"]
        weighted = [name for name in self.statistics if name in _GROUP_WEIGHTS]
        if thresholds and weighted:
            raise ValueError(
                f"statistics: a threshold has no {weighted[0]!r} mean, and {thresholds[0]} is one"
            )
        return self._replace(thresholds=frozenset(thresholds))

    @property
    def totals(self) -> dict[str, str]:
        """Return the totals that weight each group: new names, with their metrics."""
        weights = [weight for name, weight in _GROUP_WEIGHTS.items() if name in self.statistics]
        return {name: name.removesuffix(_OF_GROUP) for name in root_names(weights)}


def validate_statistics(value: Any) -> list[str]:
    """Validate names of statistics, each of them once."""
    names = names_of("statistics", value, "names of statistics")
    for name in names:
        if name not in STATISTICS and _percent(name) is None:
            choices = ", ".join(map(repr, STATISTICS))
            raise ValueError(
                f"statistics takes {choices}, and quantiles such as 'q25' or 'q2.5'; "
                f"got {shown(name)}"
            )
    return names


def means_of(
    groups: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[str],
    means: Means,
    *,
    undefinable: bool,
) -> pl.LazyFrame:
    """Compute statistics of metrics over the groups that share these keys.

    `undefinable`: whether some metric may have no value in some group. The column `undefined` then
    counts the groups in which any metric has none.
    """
    columns = {"groups": pl.len().cast(pl.Int64)}
    if undefinable:
        lacks_a_value = pl.any_horizontal(by_name(name).is_null() for name in metrics)
        columns["undefined"] = lacks_a_value.sum().cast(pl.Int64)
    for name in metrics:
        is_large = name in means.thresholds
        for statistic in means.statistics:
            column = (means.head if statistic == "mean" else f"{statistic}_") + name
            if column in columns:
                raise ValueError(
                    f"metrics: two columns of the result would be named {shown(column)}: "
                    "name one otherwise"
                )
            columns[column] = _statistic(name, statistic, large=is_large)

    refuse_clash(keys, columns)
    if keys:
        return groups.group_by(map(by_name, keys)).agg(**columns)
    return groups.select(**columns)


def _statistic(name: str, statistic: str, *, large: bool) -> pl.Expr:
    value = by_name(name).cast(pl.Float64)
    if statistic == "defined":
        return value.count().cast(pl.Int64)
    if statistic in _GROUP_WEIGHTS:
        weight = _GROUP_WEIGHTS[statistic]
        total = weight.filter(value.is_not_null()).sum()
        return pl.when(total > 0).then((value * weight).sum() / total)

    summary = _summary(value, statistic)
    if not large:
        return summary
    # A sum, a square or a difference of numbers near the largest float overflows; small parts of
    # the numbers do not.
    scaled = _summary(value * _SCALE, statistic) / _SCALE
    # Of infinite thresholds of both signs there is no mean.
    return pl.when(summary.is_finite()).then(summary).otherwise(scaled).fill_nan(None)


def _summary(value: pl.Expr, statistic: str) -> pl.Expr:
    if statistic in _SUMMARIES:
        return _SUMMARIES[statistic](value)
    return value.quantile(float(statistic.removeprefix("q")) / 100, "linear")


def _percent(statistic: str) -> float | None:
    number = re.fullmatch(f"q({DECIMAL})", statistic)
    percent = float(number[1]) if number else -1.0
    return percent if 0 <= percent <= 100 else None
