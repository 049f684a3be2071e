"""Unit values: metrics with a row per unit, from `evaluate` by groups or from the caller's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, filling, names_of
from frame_pr.frames.columns import by_name, column_names, has_keys, refuse_clash
from frame_pr.frames.kinds import Frame, backend_class, collected, kind_of
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import means_for, metrics_named, refuse_no_keys, sorted_by
from frame_pr.inputs.policies import Column, EvaluationOptions, policies_in
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.rows import OutputFrame, rows_of
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.names import is_metric, metric, request_for
from frame_pr.statistics.bounds import BoundsName

CLUSTERS_OF_ROWS = "cluster= is about rows that were drawn together: with sampled='groups' leave it out"
_SLACK = 1e-6
"""How far a share may lie below 0 or above 1, because other tools round floats, some to 32 bits."""


@dataclass(frozen=True)
class Evaluation:
    """The arguments of a call that say what to evaluate."""

    metrics: Any
    truth: Any
    score: Any
    by: Any
    options: EvaluationOptions

    @property
    def named(self) -> dict[str, str]:
        """Return the metrics by their new names."""
        return metrics_named(self.metrics, self.truth, self.score)

    @property
    def undefined(self) -> float | None:
        """Return what replaces null."""
        return filling("undefined", self.options.get("undefined"))

    def request(self, *, averages: bool = False) -> Request:
        """Return the request of rows."""
        others = self.options.get("positive"), policies_in(self.options)
        request = request_of(self.truth, self.score, self.by, *others)
        return request_for(self.named.values(), request, averages=averages)


class UnitValues(NamedTuple, Generic[Frame]):
    """The metrics of units, such as queries, and the output in the caller's kind of frame."""

    table: pl.DataFrame
    """A row per unit and metric: the keys as `OutputFrame.key_columns` names them, `m` (the place of the metric) and
    `value` (Float64, null if undefined).
    """
    output: OutputFrame[Frame]
    metrics: Sequence[str]
    bounds: Sequence[BoundsName]
    """Which bounds the mean of each metric has."""


def unit_values_of(frame: Frame, what: Evaluation, *, system: bool = False) -> UnitValues[Frame]:
    """Evaluate the groups of a frame of rows; without truth and score, return the metrics that the frame has.

    `system`: whether a frame of metrics must have a column that names the system.
    """
    if what.truth is None:
        return _read_metrics(frame, what, system=system)
    named = what.named
    rows, output = rows_of(frame, what.request(averages=True), all_groups=True)
    of_places = {str(m): name for m, name in enumerate(named.values())}
    table = output.restored(values(rows, of_places, what.undefined).cast(dict.fromkeys(of_places, pl.Float64)))
    return _unit_values(table, output, named)


def _unit_values(table: pl.LazyFrame, output: OutputFrame[Frame], named: Mapping[str, str]) -> UnitValues[Frame]:
    """Return the values of a table that has a column for the place of each metric."""
    places = [str(m) for m in range(len(named))]
    long = collected(table, "auto").unpivot(places, index=list(output.key_columns.values()), variable_name="m")
    bounds: list[BoundsName] = ["share" if _is_share(name) else "number" for name in named.values()]
    return UnitValues(long.with_columns(pl.col("m").cast(pl.Int32)), output, list(named), bounds)


def refuse_engine(frame: Any) -> None:
    """Raise for a frame of a distributed engine: statistics need a frame in memory."""
    if backend := backend_class(frame):
        raise TypeError(
            f"statistics of a {backend.name} start from the metrics of its groups: evaluate(metrics, truth, score, "
            "by=...), then this function on the result, as a polars or pandas frame, without truth and score"
        )


def has_unit_values(frame: Any, truth: Any, score: Any) -> bool:
    """Return whether a call passes a frame of metrics, and not of rows."""
    refuse_engine(frame)
    if (truth is None) != (score is None):
        present, missing = ("score", "truth") if truth is None else ("truth", "score")
        sentence = "rows need both, and a frame of metrics neither; the metrics come first"
        raise TypeError(f"{present} without {missing}: {sentence}")
    return truth is None


def sampling_unit(sampled: Any, cluster: Column | None, *, means: bool, has_values: bool) -> str:
    """Return the sampling unit, "groups" or "rows". `means`: whether the call is about means over groups."""
    default = "groups" if means and cluster is None else "rows"
    unit: str = check_choice("sampled", sampled, ("groups", "rows", None)) or default
    if unit == "groups" and cluster is not None:
        raise ValueError(CLUSTERS_OF_ROWS)
    if unit == "groups" and not means:
        raise ValueError("sampled='groups' needs mean_over=, or by= of compare: the keys of the groups that were drawn")
    if unit == "rows" and has_values:
        raise ValueError(
            "cluster= and sampled='rows' are about rows that were drawn: a frame of metrics has groups only"
        )
    return unit


def _read_metrics(frame: Frame, what: Evaluation, *, system: bool) -> UnitValues[Frame]:
    """Read a frame of metrics."""
    for word in EvaluationOptions.__annotations__:
        if what.options.get(word) is not None:
            raise TypeError(f"{word}= is about rows, and without truth and score a frame has none: leave it out")
    if not has_keys(what.by):
        raise TypeError("by names the columns that tell the rows of a frame of metrics apart, such as by='query'")
    kind, keys, named = kind_of(frame), column_names("by", what.by), _columns_named(what.metrics)
    if system and "system" not in kind.columns:
        raise ValueError(
            "compare: the frame has no column 'system', and a frame of metrics needs one that names the systems: "
            "rename yours. For scored rows give truth and a list of scores"
        )
    names = list(dict.fromkeys(named.values()))
    keys += ["system"] if system and "system" not in keys else []
    kind.refuse_missing(keys, "by")
    kind.refuse_missing(names, "metrics")
    kind.code_keys(keys)
    texts = [str(key) for key in keys]
    refuse_clash(named, texts, "column {} is among by and among metrics: a key is not a metric")
    table = collected(kind.read([*keys, *names]).select(map(by_name, [*texts, *names])), "auto")
    for name in names:
        if not (table.schema[name].is_numeric() or table.schema[name] == pl.Null):
            raise TypeError(f"metrics: column {shown(name)} holds {table.schema[name]}, and metrics are numbers")
        if (infinite := table[name].cast(pl.Float64).is_infinite().arg_true()).len():
            raise ValueError(f"column {shown(name)} holds {table[name][int(infinite[0])]}: metrics are finite")
    repeated = table.filter(pl.struct(map(by_name, texts)).is_duplicated())
    if repeated.height:
        first = ", ".join(f"{key}={repeated[key][0]!r}" for key in texts)
        raise ValueError(f"a frame of metrics has one row for each of its keys, and more of {first}: add a key to by")
    output = OutputFrame(kind, tuple(texts), (), restore=lambda table: table, rows=table.lazy())
    of_keys = {column: by_name(key) for key, column in output.key_columns.items()}
    numbers = {str(m): by_name(name).cast(pl.Float64).fill_nan(None) for m, name in enumerate(named.values())}
    return _unit_values(table.lazy().select(**of_keys, **numbers), output, named)


def _columns_named(metrics: Any) -> dict[str, str]:
    """Return new names with the columns of a frame of metrics; without a dict, a column keeps its name."""
    if isinstance(metrics, Mapping) and metrics:
        return dict(zip(metrics, names_of("metrics", list(metrics.values()), "names of columns"), strict=True))
    return {name: name for name in names_of("metrics", metrics, "names of columns")}


def _is_share(name: str) -> bool:
    """Return whether a metric lies between 0 and 1. For a column with another name this is unknown."""
    return is_metric(name) and metric(name).kind == "share" and metric(name).from_0_to_1


def validate_shares(unit_values: UnitValues[Any]) -> None:
    """Refuse values below 0 or above 1 in columns of a frame of metrics that are named like shares."""
    is_outside = ~pl.col("value").is_between(-_SLACK, 1 + _SLACK)
    for m, name in enumerate(unit_values.metrics):
        outside = unit_values.table.filter(is_outside, m=m)["value"]
        if outside.len() and unit_values.bounds[m] == "share":
            raise ValueError(
                f"metrics: column {shown(name)} holds {outside[0]}, and {name} lies between 0 and 1; divide "
                "percentages by 100, and write null where there is no value"
            )


def keys_left(keys: Sequence[str], mean_over: Any) -> list[str]:
    """Return the keys that are not averaged over."""
    means = means_for(mean_over, "mean")
    if means is None:
        return list(keys)
    refuse_no_keys("mean_over", means.over or (), keys)
    return means.left(keys)


def means_over(table: pl.DataFrame, keys: Sequence[str], metrics: int, **numbers: pl.Expr) -> pl.DataFrame:
    """Return means of `value` over the groups that share the keys: `Estimates`, `groups` and `undefined`.

    The groups were drawn, unless other aggregates, `numbers`, replace these. `metrics`: the number of metrics, whose
    place `m` is the last key. Each of them has a row if it is the only key.
    """
    value = pl.col("value")
    n, none = value.count().cast(pl.Int64), pl.lit(None, pl.Int64)
    drawn = {"error": value.std() / n.sqrt(), "df": n - 1, "sources": n, "units": n, "positives": none}
    drawn |= {"groups": n, "undefined": value.null_count().cast(pl.Int64)}
    means = table.group_by(keys).agg(value.mean(), **{**drawn, **numbers})
    if len(keys) > 1:
        return means
    every = pl.DataFrame({"m": range(metrics)}, schema={"m": pl.Int32})
    return every.join(means, on="m", how="left").with_columns(cs.integer().fill_null(0))


def give_sorted(
    table: pl.DataFrame, keys: Mapping[str, str], output: OutputFrame[Frame], order: str, columns: Sequence[str]
) -> Frame:
    """Return the keys and these columns, sorted by the keys and then by `order`, as a frame of the caller's kind.

    `keys`: the names of the keys, and their columns in the table.
    """
    refuse_clash(keys, columns)
    ordered = table.lazy().sort(*sorted_by([*keys], output.systems, [*keys.values()]), order)
    named = [pl.col(column).alias(key) for key, column in keys.items()]
    return output.give(ordered.select(*named, *columns), [*keys])
