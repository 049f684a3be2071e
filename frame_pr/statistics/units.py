"""What a call evaluates, and sampled units such as queries: means and their standard errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_choice, filling, names_of, scalar
from frame_pr.frames.columns import (
    by_name,
    column_name,
    column_names,
    has_keys,
    listed,
    refuse_clash,
    refuse_missing,
)
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import metrics_named
from frame_pr.inputs.options import EvaluationOptions, options_in
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.results import OutputFrame
from frame_pr.inputs.rows import Rows, rows_of
from frame_pr.inputs.values import refuse_missing_clusters
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.names import is_metric, metric, request_for
from frame_pr.statistics.bounds import BoundsName

WEIGHTS = ("positives", "negatives")
"""The weights of a cluster for either label."""
_SLACK = 1e-6
"""How far a share may lie below 0 or above 1, because other tools round floats, some to 32 bits."""


class Evaluation(NamedTuple):
    """The arguments of a call that say what to evaluate."""

    metrics: Any
    truth: Any
    score: Any
    by: Any
    mean_over: Any
    cluster: Any
    sampled: Any
    options: EvaluationOptions
    between: Any = None
    """The column or expression whose values are compared."""

    @property
    def named(self) -> dict[str, str]:
        """Return the metrics, or the columns of a frame of metrics, by their new names."""
        if self.truth is not None:
            return metrics_named(self.metrics, self.truth, self.score)
        renamed = self.metrics if isinstance(self.metrics, Mapping) and self.metrics else {}
        columns = names_of("metrics", list(renamed.values()) or self.metrics, "names of columns")
        return dict(zip(renamed or columns, columns, strict=True))

    @property
    def undefined(self) -> float | None:
        """Return what replaces null."""
        return filling(self.options.get("undefined"))

    @property
    def label(self) -> pl.Expr:
        """Return the new name of the metric at the place `m`."""
        return pl.lit(pl.Series([*self.named], dtype=pl.String)).gather("m")

    @property
    def averages(self) -> bool:
        """Return whether the call is about means over groups."""
        return self.mean_over is not None

    @property
    def over(self) -> list[Any]:
        """Return the columns that `mean_over` names; none for True."""
        if not self.averages or scalar(self.mean_over) is True:
            return []
        return column_names("mean_over", self.mean_over)

    @property
    def group(self) -> str:
        """Return the key whose values are compared."""
        return "system" if self.between is None else str(name_of(self.between))

    @property
    def columns(self) -> list[Any]:
        """Return the columns that form groups: of `by`, `mean_over` and `between`, each once."""
        columns = listed("by", self.by) if has_keys(self.by) else []
        names = [name_of(column) for column in columns]
        if None not in names:
            columns += [column for column in self.over if str(column) not in names]
        if self.between is None:
            return columns
        # The compared groups are the last key.
        return [*(column for column in columns if name_of(column) != self.group), self.between]

    def keys_left(self, keys: Sequence[str]) -> list[str]:
        """Return the keys of the result: all but those that are averaged over."""
        if not self.averages:
            return list(keys)
        averaged = list(map(str, self.over))
        refuse_missing(averaged, keys, "by columns", "mean_over")
        if self.group in averaged and self.between is not None:
            raise ValueError(
                f"mean_over names {shown(self.group)}, whose values are compared: name the units "
                "that were drawn, such as queries"
            )
        if scalar(self.mean_over) is True:
            averaged = [key for key in keys if key not in ("system", self.group)]
        if not averaged:
            raise ValueError("mean_over=True averages over all columns of by=, and there are none")
        return [key for key in keys if key not in averaged]

    def key_columns(self, output: OutputFrame[Any]) -> Mapping[str, str]:
        """Return the keys of the result, and their columns in restored tables."""
        return {key: output.key_columns[key] for key in self.keys_left(output.keys)}

    def request(self, *, averages: bool = False) -> Request:
        """Return the request of rows."""
        request = request_of(
            self.truth,
            self.score,
            self.columns or None,
            self.options.get("positive"),
            options_in(self.options),
            cluster=self.cluster,
        )
        return request_for(self.named.values(), request, averages=averages)


def name_of(column: Any) -> str | None:
    """Return the name of a column or expression; None for an expression of several columns."""
    if not isinstance(column, pl.Expr):
        return str(column)
    if cs.is_selector(column):
        return None
    return column.meta.output_name(raise_if_undetermined=False)


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(ABC):
    """What was drawn: units, such as queries, or rows; or clusters of both."""

    what: Evaluation
    output: OutputFrame[Any]
    keys: Mapping[str, str]
    """The keys of the result, and their columns in the tables below."""

    @property
    def key_columns(self) -> list[str]:
        """Return the columns that tell the rows of `estimates` apart: the keys, and `m`."""
        return [*self.keys.values(), "m"]

    @property
    def place(self) -> pl.Expr:
        """Return the place in the call of the metric at the place `m`."""
        return pl.col("m")

    @property
    def clustered(self) -> bool:
        """Return whether clusters were drawn."""
        return self.what.cluster is not None

    @property
    def noun(self) -> str:
        """Return what was drawn, in the plural."""
        if self.clustered:
            return f"clusters of {name_of(self.what.cluster)}"
        columns = self.output.key_columns.items()
        units = [key for key, column in columns if column in self.unit_columns]
        return f"groups of {', '.join(units)}" if units else "rows"

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Return the names of the metrics."""

    @property
    @abstractmethod
    def unit_columns(self) -> Sequence[str]:
        """Return the columns that tell the units of a key apart; none if each row is a unit."""

    @abstractmethod
    def means(self) -> pl.DataFrame:
        """Return the means over the groups that share the keys, with errors without clusters."""

    @abstractmethod
    def influences(self) -> pl.DataFrame:
        """Return by how much the value of its key would change without each `cluster`, D.

        `positives` and `negatives` are the weights of the cluster for `with_cluster_errors`.
        """

    def estimates(self) -> pl.DataFrame:
        """Return a row per key and metric: `key_columns`, `Estimates`, `groups` and `undefined`.

        The column `groups` says how many groups have a value, and `undefined` how many have none.
        """
        means = self.means()
        if self.clustered:
            return with_cluster_errors(means, self.influences(), self.key_columns)
        return means


@dataclass(frozen=True, eq=False, repr=False)
class UnitValues(Sampled):
    """The metrics of sampled units, such as queries."""

    table: pl.DataFrame
    """A row per unit and metric: the keys, as `OutputFrame.key_columns` names them, and `value`.

    `m` is the place of the metric. `value` is Float64, null if undefined. If clusters of units were
    drawn, there is a column `cluster`.
    """

    @cached_property
    def bounds(self) -> list[BoundsName]:
        """Return which bounds the mean of each metric has."""
        return ["share" if _is_share(name) else "number" for name in self.names]

    @property
    def names(self) -> list[str]:
        """Return the names of the metrics, or of the columns with their values."""
        return list(self.what.named.values())

    @property
    def unit_columns(self) -> list[str]:
        """Return the columns of the keys that are averaged over."""
        columns = self.output.key_columns.values()
        return [column for column in columns if column not in self.keys.values()]

    def means(self) -> pl.DataFrame:
        """Return the means over the units that share the keys."""
        return means_over(self.table, self.key_columns, len(self.bounds))

    def influences(self) -> pl.DataFrame:
        """Return the influence D of each cluster of units on the mean; see `influences_on_mean`."""
        return influences_on_mean(self.table, self.key_columns, "value")


def unit_values_of(frame: Any, what: Evaluation) -> UnitValues | None:
    """Evaluate the groups of a frame of rows; without truth and score, read its metrics.

    With `cluster`, groups lie in one cluster each, as queries of users; None if one does not.
    """
    if what.truth is None:
        return _read_metrics(frame, what)
    rows, output = rows_of(frame, what.request(averages=True), all_groups=True)
    of_places = {str(m): name for m, name in enumerate(what.named.values())}
    table = values(rows, of_places, what.undefined)
    if what.cluster is not None:
        clusters = _clusters_of_groups(rows)
        if (clusters["clusters"] > 1).any():
            return None
        table = table.join(clusters.drop("clusters").lazy(), on="group", how="left")
    return _unit_values(output.restored(table), output, what)


def _clusters_of_groups(rows: Rows) -> pl.DataFrame:
    """Return the first `cluster` of each `group`, and the number of its `clusters`."""
    cluster = pl.col("cluster").drop_nulls()
    groups = rows.frame.group_by("group").agg(cluster.first(), clusters=cluster.n_unique())
    table = collected(groups, rows.height)
    missing = table["cluster"].null_count()
    if missing and (table["clusters"] <= 1).all():
        raise ValueError(
            f"cluster=: {missing} groups of a frame of totals have no rows, and so no cluster; put "
            "a row of each in, with a null score and unscored='unretrieved'"
        )
    return table


def _unit_values(table: pl.LazyFrame, output: OutputFrame[Any], what: Evaluation) -> UnitValues:
    """Return the values of a table that has a column for the place of each metric."""
    places = [str(m) for m, _ in enumerate(what.named)]
    wide = collected(table, output.kind.height)
    long = wide.unpivot(places, index=cs.exclude(places), variable_name="m")
    long = long.with_columns(
        pl.col("m").cast(pl.Int32),
        pl.col("value").cast(pl.Float64).fill_nan(None),
    )
    return UnitValues(what, output, what.key_columns(output), long)


def draws_groups(what: Evaluation) -> bool:
    """Return whether groups were drawn, or clusters that may hold groups, and not single rows."""
    has_values = what.truth is None
    if has_values != (what.score is None):
        raise TypeError(
            "truth and score: rows need both, and a frame of metrics neither; the metrics come "
            "first"
        )
    sampled = check_choice("sampled", what.sampled, ("groups", "rows", None))
    if has_values and sampled == "rows":
        raise ValueError(
            "sampled='rows' is about rows, and a frame of metrics has groups only: leave it out"
        )
    if sampled == "groups" and not (what.averages or has_values):
        raise ValueError(
            "sampled='groups' needs mean_over=: the keys of the groups that were drawn"
        )
    return has_values or (what.averages and sampled != "rows")


def _read_metrics(frame: Any, what: Evaluation) -> UnitValues:
    """Read a frame of metrics, whose rows are units."""
    for word in EvaluationOptions.__annotations__:
        if what.options.get(word) is not None:
            raise TypeError(
                f"{word}= is about rows, and without truth and score a frame has none: leave it out"
            )
    kind = kind_of(frame)
    keys = column_names("by", what.columns) if what.columns else []
    names = list(dict.fromkeys(what.named.values()))
    clusters = [] if what.cluster is None else [column_name("cluster", what.cluster)]
    kind.refuse_missing(keys, "by")
    kind.refuse_missing(names, "metrics")
    kind.refuse_missing(clusters, "cluster")
    kind, _ = kind.with_keys([*keys, *clusters])
    texts = [str(key) for key in keys]
    refuse_clash(what.named, texts, "column {} is a key and among metrics: a key is not a metric")
    output = OutputFrame(kind, tuple(texts), (), formulas=(), rows=pl.LazyFrame())
    of_keys = {column: by_name(key) for key, column in output.key_columns.items()}
    if clusters:
        of_keys["cluster"] = by_name(clusters[0])
    numbers = {str(m): by_name(name) for m, name in enumerate(what.named.values())}
    read = collected(kind.read([*keys, *names, *clusters]), kind.height)
    _validate_metrics(read, texts if what.averages else [], names, clusters)
    return _unit_values(read.lazy().select(**of_keys, **numbers), output, what)


def _validate_metrics(
    table: pl.DataFrame, keys: Sequence[str], names: Sequence[str], clusters: Sequence[str]
) -> None:
    """Check that metrics are numbers, that units occur once, and that each has a cluster."""
    for name in names:
        dtype = table.schema[name]
        if not (dtype.is_numeric() or dtype == pl.Null):
            raise TypeError(f"metrics: column {shown(name)} holds {dtype}, and metrics are numbers")
    for name in clusters:
        refuse_missing_clusters(name, table[name])
    if not keys:
        return
    repeated = table.filter(pl.struct(map(by_name, keys)).is_duplicated())
    if repeated.height:
        first = ", ".join(f"{key}={repeated[key][0]!r}" for key in keys)
        raise ValueError(
            "a frame of metrics has one row for each of its keys, and more of "
            f"{first}: add a key to mean_over"
        )


def _is_share(name: str) -> bool:
    """Return whether a metric lies between 0 and 1: unknown for a column with another name."""
    return is_metric(name) and metric(name).kind == "share" and metric(name).from_0_to_1


def validate_shares(units: UnitValues) -> None:
    """Refuse values below 0 or above 1 in columns of metrics that are named like shares."""
    shares = [m for m, bounds in enumerate(units.bounds) if bounds == "share"]
    is_outside = ~pl.col("value").is_between(-_SLACK, 1 + _SLACK)
    outside = units.table.filter(pl.col("m").is_in(shares), is_outside)
    if outside.height:
        name, value = outside.select(units.what.label, "value").row(0)
        raise ValueError(
            f"metrics: column {shown(name)} holds {value}, and {name} lies between 0 "
            "and 1; divide percentages by 100, and write null where there is no value"
        )


def places(metrics: int) -> pl.DataFrame:
    """Return the places of metrics as the column `m`."""
    return pl.DataFrame({"m": range(metrics)}, schema={"m": pl.Int32})


def means_over(
    table: pl.DataFrame, keys: Sequence[str], metrics: int, **numbers: pl.Expr
) -> pl.DataFrame:
    """Return means of `value` over groups with equal keys: `Estimates`, `groups`, `undefined`.

    The groups were drawn, unless other aggregates, `numbers`, replace these. `metrics`: the number
    of metrics, whose place `m` is the last key. Each of them has a row if it is the only key.
    """
    value = pl.col("value")
    n = value.count().cast(pl.Int64)
    none = pl.lit(None, pl.Float64)
    aggregates = {
        # Infinite thresholds have no error, and two of them with opposite signs no mean.
        "error": (value.std() / n.sqrt()).fill_nan(None),
        "df": n - 1,
        "units": n,
        "positives": none,
        "negatives": none,
        "groups": n,
        "undefined": value.null_count().cast(pl.Int64),
    }
    means = table.group_by(keys).agg(value.mean().fill_nan(None), **(aggregates | numbers))
    if len(keys) > 1:
        return means
    means = places(metrics).join(means, on="m", how="left")
    return means.with_columns(cs.integer().fill_null(0))


def error_of_fixed_mean(value: str, error: str) -> pl.Expr:
    """Return the standard error of the mean of values of fixed groups, whose variances add up.

    A mean has an error only if each of its values has one.
    """
    n = pl.col(value).count()
    is_complete = (pl.col(error).count() == n) & (n > 0)
    variance = (pl.col(error) ** 2).sum()
    return pl.when(is_complete).then(variance.sqrt() / n)


def influences_on_mean(table: pl.DataFrame, keys: Sequence[str], name: str) -> pl.DataFrame:
    """Return by how much the mean of a column would change without each cluster, D.

    `positives` and `negatives`, the weights of a cluster for `with_cluster_errors`, are its share
    of the units.
    """
    value = pl.col(name)
    n = value.count().over(keys)
    influences = table.with_columns(D=(value - value.mean().over(keys)) / n, n=n).drop_nulls("D")
    clusters = influences.group_by(*keys, "cluster").agg(
        pl.col("D").sum(),
        share=pl.len() / pl.col("n").first(),
    )
    return clusters.select(
        *keys,
        "cluster",
        D=left_out("share"),
        positives="share",
        negatives="share",
        alone=False,
    )


def left_out(*shares: str) -> pl.Expr:
    """Return by how much a value changes without a cluster: D / (1 - w), with its share w.

    For means and shares of rows, that is the change itself. Of shares of both labels, w is the
    larger one. A cluster with all rows of a label keeps its D: there is no value without it.
    """
    share = pl.max_horizontal(shares)
    return pl.when(share < 1).then(pl.col("D") / (1 - share)).otherwise("D")


def with_cluster_errors(
    table: pl.DataFrame, influences: pl.DataFrame, keys: Sequence[str]
) -> pl.DataFrame:
    """Return estimates with standard errors of clusters, by the jackknife (Efron and Stein 1981).

    The variance is `(C - 1) / C sum D^2` for C clusters, where D is the change of the value without
    a cluster. The degrees of freedom are n - 1 for Kish's (1965) effective number of clusters,
    `n = (sum w)^2 / sum w^2`, of the label that has fewer. `influences`: D, the weights w of each
    cluster, `positives` and `negatives`, and whether it is `alone` in a group: there the D add up
    to 0 whatever the error is.
    """
    weights = pl.col(*WEIGHTS)
    errors = influences.group_by(keys).agg(
        weights.sum() ** 2 / (weights**2).sum(),
        pl.col("alone").any(),
        # A value in place of an undefined one has no influence: D is 0 / 0.
        squares=(pl.col("D") ** 2).sum().fill_nan(None),
        units=pl.len().cast(pl.Int64),
    )
    table = table.drop("error", "df", "units", *WEIGHTS, strict=False)
    table = table.join(errors, on=keys, how="left", nulls_equal=True)
    n = pl.min_horizontal(WEIGHTS).fill_nan(None)
    has_error = (n > 1) & ~pl.col("alone")
    units = pl.col("units")
    variance = pl.when(has_error).then(pl.col("squares") * (units - 1) / units)
    return table.with_columns(error=variance.sqrt(), df=n - 1, units=units.fill_null(0)).drop(
        "squares", "alone"
    )


def give_sorted(
    table: pl.DataFrame,
    keys: Mapping[str, str],
    output: OutputFrame[Frame],
    order: Sequence[str],
    columns: Sequence[str],
    **other_keys: str,
) -> Frame:
    """Return keys and columns as a frame of the caller's kind, sorted by the keys and `order`.

    `keys`: the names of the keys, and their columns in the table. `other_keys`: columns with values
    of a key, and its name.
    """
    refuse_clash(keys, columns)
    of_systems = output.key_columns["system"] if output.systems else ""
    systems = pl.Enum(output.systems)
    names = [pl.col(name).cast(systems) if name == of_systems else name for name in keys.values()]
    named = [pl.col(name).alias(key) for key, name in keys.items()]
    sources = {key: key for key, name in keys.items() if name != of_systems}
    result = table.lazy().sort(*names, *order).select(*named, *columns)
    return output.kind.give(result, sources | other_keys)
