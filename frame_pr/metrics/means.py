"""Aggregate metrics over groups: mean, median, standard deviation, quantiles, weighted means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import polars as pl

from frame_pr.frames.arguments import names_of
from frame_pr.frames.columns import by_name, refuse_clash
from frame_pr.frames.messages import shown
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
AnyFrame = TypeVar("AnyFrame", pl.DataFrame, pl.LazyFrame)
STATISTICS = get_args(Statistic)
"""In addition, `qN` is the quantile below which N percent of the values lie."""
_SCALE, _LARGE = 2.0**-600, 1e150
# Totals that weight each group. No metric of a caller has these names.
_POSITIVES, _ROWS = "positives of the group", "rows of the group"
_TOTALS = {_POSITIVES: "positives", _ROWS: "rows"}
_GROUP_WEIGHTS: Mapping[str, tuple[tuple[str, ...], Callable[..., pl.Expr]]] = {
    "weighted": ((_POSITIVES,), lambda positives: positives),
    "by_rows": ((_ROWS,), lambda rows: rows),
    "by_pairs": ((_POSITIVES, _ROWS), lambda positives, rows: positives * (rows - positives)),
}
"""Weighted means: the totals from which the weight of a group is computed, and the weight."""


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
        return [
            key for key in keys if (key == "system" if self.over is None else key not in self.over)
        ]

    def of(self, named: Mapping[str, str]) -> Means:
        """Return the same statistics for these metrics."""
        return self._replace(
            thresholds=frozenset(
                name for name, of in named.items() if metric(of).kind == "threshold"
            )
        )

    def columns(self, named: Mapping[str, str]) -> Mapping[str, str]:
        """Return the metrics that are needed for each group, under the caller's names."""
        weighted = [statistic for statistic in self.statistics if statistic in _GROUP_WEIGHTS]
        for name in named:
            if weighted and name in self.thresholds:
                raise ValueError(
                    f"statistics: a threshold has no {weighted[0]!r} mean, and {name} is one"
                )
        return {
            **named,
            **{
                total: _TOTALS[total]
                for statistic in weighted
                for total in _GROUP_WEIGHTS[statistic][0]
            },
        }


def validate_statistics(value: Any) -> list[str]:
    """Validate names of statistics, each of them once."""
    names = names_of("statistics", value, "names of statistics")
    for name in names:
        if name not in STATISTICS and _percent(name) is None:
            choices = ", ".join(map(repr, STATISTICS))
            raise ValueError(
                f"statistics takes {choices}, and quantiles such as 'q25' or 'q2.5'; got {shown(name)}"
            )
    return names


def means_of(
    groups: AnyFrame,
    keys: Sequence[str],
    names: Iterable[str],
    undefinable: Sequence[str],
    means: Means,
) -> AnyFrame:
    """Compute statistics of the metrics over the groups that share these keys, and count the groups without a value."""
    columns = [("groups", pl.len().cast(pl.Int64))]
    for name in names:
        if name not in _TOTALS:
            columns += [
                (
                    (means.head if statistic == "mean" else f"{statistic}_") + name,
                    _statistic(name, statistic, large=name in means.thresholds),
                )
                for statistic in means.statistics
            ]
    columns += [
        (f"undefined_{name}", by_name(name).null_count().cast(pl.Int64)) for name in undefinable
    ]
    totals = dict(columns)
    for name in totals:
        if [column for column, _ in columns].count(name) > 1:
            raise ValueError(
                f"metrics: two columns of the result would be named {shown(name)}: name one otherwise"
            )
    refuse_clash(keys, totals)
    return groups.group_by(map(by_name, keys)).agg(**totals) if keys else groups.select(**totals)


def _statistic(name: str, statistic: str, *, large: bool) -> pl.Expr:
    value = by_name(name).cast(pl.Float64)
    if statistic == "defined":
        return value.count().cast(pl.Int64)
    if statistic in _GROUP_WEIGHTS:
        totals, weight_of = _GROUP_WEIGHTS[statistic]
        weight = weight_of(*(by_name(total).cast(pl.Float64) for total in totals))
        total = weight.filter(value.is_not_null()).sum()
        return pl.when(total > 0).then((value * weight).sum() / total)
    summary = _summary(value, statistic)
    if not large:
        return summary
    # A sum, a square or a difference of numbers near the largest float overflows; small parts of
    # the numbers do not.
    fits = value.abs().max() < _LARGE if statistic == "std" else summary.is_finite()
    # Of infinite thresholds of both signs there is no mean.
    return (
        pl.when(fits)
        .then(summary)
        .otherwise(_summary(value * _SCALE, statistic) / _SCALE)
        .fill_nan(None)
    )


def _summary(value: pl.Expr, statistic: str) -> pl.Expr:
    if statistic == "range":
        return value.max() - value.min()
    if statistic == "ratio":
        return pl.when(value.max() > 0).then(value.min() / value.max())
    percent = _percent(statistic)
    summary: pl.Expr = (
        getattr(value, statistic)() if percent is None else value.quantile(percent / 100, "linear")
    )
    return summary


def _percent(statistic: str) -> float | None:
    number = re.fullmatch(f"q({DECIMAL})", statistic)
    percent = float(number[1]) if number else -1.0
    return percent if 0 <= percent <= 100 else None
