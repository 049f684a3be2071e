"""Unpaired comparisons of groups: different rows or units, and the same score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, NamedTuple

import polars as pl

from frame_pr.frames.columns import (
    by_name,
    column_name,
    in_category_order,
    listed,
    map_whole,
    refuse_clash,
    refuse_repeats,
    stacked,
)
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.frames.messages import examples, shown, warn
from frame_pr.functions.evaluation import metric_names
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.values import TEXTS, label_of
from frame_pr.metrics.names import request_for
from frame_pr.statistics.bounds import normal_p_value, t_p_value, t_quantile
from frame_pr.statistics.paired_tests import TIE
from frame_pr.statistics.sampled_rows import RowMetric, SampledRows, bounds_of, proportion, sampled_rows
from frame_pr.statistics.unit_values import UnitValues, has_unit_values, keys_left, sampling_unit, unit_values_of

COLUMNS = (
    *("metric", "baseline", "group", "units_baseline", "units_group", "value_baseline", "value_group"),
    *("difference", "standard_error", "low", "high", "p_value", "p_adjusted"),
)
"""The columns of an unpaired comparison, after the keys."""
PREVIOUS, REST = "previous", "rest"
_SHOWN = 5


class _Between(NamedTuple):
    """The column whose groups are compared, and the group that the others are compared with."""

    column: str
    baseline: Any
    categories: Sequence[Any]
    """The categories of a pandas column in their order. Other columns are in the order of their values."""

    def has_word(self, word: str) -> bool:
        """Return whether the baseline is this word. Other values, such as arrays, may have no equality."""
        return isinstance(self.baseline, str) and self.baseline == word

    @property
    def place(self) -> pl.Expr:
        """Return what the groups are sorted by."""
        return in_category_order(pl.col("group"), self.categories)


class GroupComparison(NamedTuple, Generic[Frame]):
    """A table with a row per key, pair of groups and metric, and the output in the caller's kind of frame."""

    table: pl.LazyFrame
    """The keys as `key0`, ..., and `COLUMNS` but `p_adjusted`; also `m`, `a` and `b`, their places."""
    keys: Sequence[str]
    systems: Sequence[str]
    """The scores, if there are several; then `system` is the last key."""
    give: Callable[[pl.LazyFrame, Sequence[str]], Frame]


def compare_groups(
    frame: Frame,
    metrics: Any,
    truth: Column | None,
    score: Columns | None,
    by: Columns | None,
    between: str,
    baseline: Any,
    *,
    mean_over: Any,
    sampled: str | None,
    cluster: Column | None,
    positive: object,
    undefined: float | None,
    confidence: float,
    policies: Policies,
) -> GroupComparison[Frame]:
    """Compare the groups of a column inside each group of `by`."""
    has_units = has_unit_values(frame, truth, score)
    kind = kind_of(frame)
    kind.refuse_missing([column_name("between", between)], "between")
    compared = _Between(between, baseline, kind.categories(str(between)))
    scores = [] if score is None else listed("score", score)
    roles = [("between", between), ("truth", truth), *(("score", column) for column in scores), ("cluster", cluster)]
    refuse_repeats((role, column) for role, column in roles if column is not None)
    by_keys = [] if by is None else listed("by", by)
    by = [*(key for key in by_keys if isinstance(key, pl.Expr) or key != between), between]
    if sampling_unit(sampled, cluster, means=has_units or mean_over is not None) == "groups":
        unit_values = unit_values_of(frame, metrics, truth, score, by, positive, undefined, policies)
        keys, group = _split(unit_values.keys, several=bool(unit_values.systems))
        keys = _keys_averaged(keys, True if mean_over is None else mean_over, group)
        table = _compare_units(unit_values, keys, compared._replace(column=group), confidence)
        return GroupComparison(table, keys, unit_values.systems, unit_values.give)
    if truth is None or score is None:
        raise ValueError("cluster= and sampled='rows' are about rows that were drawn: a frame of metrics has none")
    names = metric_names(metrics, truth, score)
    request = request_for(names, request_of(truth, score, by, positive, policies))

    def keys_of_result(all_keys: Sequence[str]) -> list[str]:
        """Return the keys that are not averaged over, with that of `between` last."""
        keys, group = _split(all_keys, several=request.several)
        return [*_keys_averaged(keys, mean_over, group), group]

    rows = sampled_rows(frame, request, names, undefined, None if mean_over is None else keys_of_result, cluster)
    _, group = _split(rows.output.keys, several=request.several)
    keys = [key for key in rows.keys if key != group]
    table = _compare_rows(rows, keys, compared._replace(column=group), confidence)
    return GroupComparison(table, keys, rows.output.systems, rows.output.give)


def _split(keys: Sequence[str], *, several: bool) -> tuple[list[str], str]:
    """Separate the keys of `by` from that of `between`, which is the caller's last key."""
    place = len(keys) - 1 - several
    return [*keys[:place], *keys[place + 1 :]], keys[place]


def _keys_averaged(keys: Sequence[str], mean_over: Any, group: str) -> list[str]:
    """Return the keys that are not averaged over."""
    left = keys_left(keys, mean_over)
    if len(left) == len(keys):
        raise ValueError(
            f"by: each value of {shown(group)} has one unit only; name the units that were drawn, such as queries, too"
        )
    return left


def _compare_rows(sampled: SampledRows[Any], keys: Sequence[str], between: _Between, confidence: float) -> pl.LazyFrame:
    """Compare groups of rows, or of clusters of rows; see `_compare`."""
    if between.has_word(REST) and sampled.averaged:
        raise ValueError("baseline='rest' joins the rows of the other groups: leave mean_over= out, or sampled='rows'")
    rest = sampled
    if between.has_word(REST):
        rest = sampled._replace(rows=_rest_of_rows(sampled, keys, between.column))
    names = _renamed([sampled.keys[key] for key in keys], sampled.keys[between.column])
    table, rest_table = (_errors_and_bounds(side, names, confidence) for side in (sampled, rest))
    clusters = None
    if sampled.clustered:
        influences = pl.col("cluster", "^D [0-9]+$")
        clusters = sampled.clusters().select(influences, **names), rest.clusters().select(influences, **names)
    metrics = [metric.name for metric in sampled.metrics]
    lines = [
        _line_of_rows(i, metric, single=sampled.single, clustered=sampled.clustered)
        for i, metric in enumerate(sampled.metrics)
    ]
    return _compare(table, rest_table, clusters, keys, between, metrics, lines)


def _compare_units(
    unit_values: UnitValues[Any], keys: Sequence[str], between: _Between, confidence: float
) -> pl.LazyFrame:
    """Compare the means of groups of units by Welch's t-test; see `_compare`."""
    names = _renamed(keys, between.column)
    values = {f"m{i}": by_name(name) for i, name in enumerate(unit_values.metrics)}
    units = unit_values.table.select(**names, **values)
    rest = units
    if between.has_word(REST):
        shared = [name for name in names if name != "group"]
        rest = _others(units.select(*names).unique(), shared)
        rest = rest.join(units, left_on=[*shared, "other"], right_on=[*names], nulls_equal=True)
    parts = {
        f"{name} {i}": part
        for i, value in enumerate(map(pl.col, values))
        for name, part in {
            "value": value.mean(),
            "error": value.std() / value.count().sqrt(),
            "units": value.count().cast(pl.Int64),
            "df": value.count().cast(pl.Int64) - 1,
        }.items()
    }
    table, rest_table = (side.group_by(*names).agg(**parts) for side in (units, rest))
    lines = [_line_of_means(i, confidence) for i in range(len(values))]
    return _compare(table, rest_table, None, keys, between, unit_values.metrics, lines)


def _renamed(keys: Sequence[str], between: str) -> dict[str, pl.Expr]:
    """Return these key columns under their names in the tables that are compared."""
    return {f"key{i}": by_name(key) for i, key in enumerate(keys)} | {"group": by_name(between)}


def _errors_and_bounds(sampled: SampledRows[Any], names: Mapping[str, pl.Expr], confidence: float) -> pl.LazyFrame:
    """Return the value, error, bounds and units of each metric for each group, as `_compare` reads them."""
    columns: dict[str, pl.Expr] = {}
    for i, metric in enumerate(sampled.metrics):
        bounds = bounds_of(i, metric, pl.col(f"value {i}"), confidence, simple=sampled.single)
        columns |= {f"units {i}": pl.col("n"), **{f"{name} {i}": bound for name, bound in bounds.items()}}
        columns[f"logit error {i}"] = _logit_error(i, metric) if sampled.single else pl.lit(None, dtype=pl.Float64)
    return sampled.errors().select(pl.col("^(value|error|df|groups) [0-9]+$"), **columns, **names)


def _logit_error(i: int, metric: RowMetric) -> pl.Expr:
    """Return the error of the logit that the 95 % interval implies; null if the bounds are those of other shares."""
    if metric.ranking_bounds is None:
        return pl.lit(None, dtype=pl.Float64)
    value, df = pl.col(f"value {i}"), pl.col(f"df {i}")
    sides = {"value": value, **bounds_of(i, metric, value, 0.95)}
    logits = {name: (side / (1 - side)).log() for name, side in sides.items()}
    reach = pl.max_horizontal(logits["value"] - logits["low"], logits["high"] - logits["value"])
    error = reach / t_quantile(0.95, df)
    return pl.when(error.is_finite()).then(error)


def _others(groups: pl.LazyFrame, shared: Sequence[str]) -> pl.LazyFrame:
    """Pair each group with each `other` that has the same keys, from a table with a row per group."""
    others = groups.rename({"group": "other"})
    pairs = groups.join(others, on=shared, nulls_equal=True) if shared else groups.join(others, how="cross")
    return pairs.filter(pl.col("group").ne_missing(pl.col("other")))


def _rest_of_rows(sampled: SampledRows[Any], keys: Sequence[str], between: str) -> Rows:
    """Return the rows of all other groups, once for each group whose rest they are."""
    rows = sampled.rows
    columns = sampled.output.key_columns
    names = _renamed([columns[key] for key in keys], columns[between])
    codes = sampled.output.restored(rows.frame.select("group").unique().with_columns(code="group"))
    codes = codes.select("code", **names)
    shared = [name for name in names if name != "group"]
    pairs = _others(codes.drop("code"), shared)
    pairs = pairs.join(codes, on=[*names], nulls_equal=True).rename({"code": "rest"})
    pairs = pairs.join(codes, left_on=[*shared, "other"], right_on=[*names], nulls_equal=True).select("rest", "code")

    def regrouped(table: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows of each group, once for each group of whose rest they are a part."""
        table = table.join(pairs, left_on="group", right_on="code", how="inner")
        return table.with_columns(group="rest").drop("rest")

    totals = [regrouped(total).group_by("group").sum() for total in rows.totals]
    return replace(rows, frame=regrouped(rows.frame), totals=totals)


def _compare(
    table: pl.LazyFrame,
    rest: pl.LazyFrame,
    clusters: tuple[pl.LazyFrame, pl.LazyFrame] | None,
    keys: Sequence[str],
    between: _Between,
    metrics: Sequence[str],
    lines: Sequence[dict[str, pl.Expr]],
) -> pl.LazyFrame:
    """Return a row per key, pair of groups and metric, without `p_adjusted`; also `m`, `a` and `b`, to sort by.

    `table`: for each group `key0`, ..., `group`, and `units 0`, `value 0`, `error 0`, `df 0`, ... `rest`: the same
    columns for all other groups together. `clusters`: `cluster` and `D 0`, ... of both, if clusters are the sample.

    The variance of a difference is the sum of both variances, less twice the covariance of clusters in both groups. The
    degrees of freedom are those of Welch (1947) and Satterthwaite (1946).
    """
    refuse_clash(keys, COLUMNS)
    shared = [f"key{i}" for i in range(len(keys))]
    groups = table.select(*shared, "group")
    dtypes = dict(groups.collect_schema())
    pairs = map_whole(
        groups,
        partial(_pairs, shared=shared, between=between),
        {**dtypes, "baseline": dtypes["group"], "a": pl.Int64, "b": pl.Int64},
    )
    on = "group" if between.has_word(REST) else "baseline"

    def as_baseline(groups: pl.LazyFrame) -> pl.LazyFrame:
        """Return the columns of groups with the prefix `base`, under the column that names the baseline."""
        values = pl.exclude("cluster", "group", *shared).name.prefix("base ")
        return groups.select(pl.col("^cluster$"), *shared, pl.col("group").alias(on), values)

    both = pairs.join(as_baseline(rest), on=[*shared, on], how="left", nulls_equal=True)
    both = both.join(table, on=[*shared, "group"], how="left", nulls_equal=True)
    if clusters is not None:
        of_groups, of_rest = clusters
        products = _covariances(pairs, as_baseline(of_rest), of_groups, shared, on, len(metrics))
        both = both.join(products, on=[*shared, "baseline", "group"], how="left", nulls_equal=True)
        both = both.with_columns(_covariance(i).alias(f"covariance {i}") for i in range(len(metrics)))
    kept = [*(pl.col(key) for key in shared), *(pl.col(name) for name in ("baseline", "group", "a", "b"))]
    rows = [
        {"m": pl.lit(i, dtype=pl.Int32), "metric": pl.lit(name), **line}
        for i, (name, line) in enumerate(zip(metrics, lines, strict=True))
    ]
    return stacked(both, kept, rows)


def _pairs(groups: pl.DataFrame, shared: Sequence[str], between: _Between) -> pl.DataFrame:
    """Return the pairs of groups, `baseline` and `group`, and `a` and `b`, their places among equal keys."""
    column, values = between.column, groups.select("group").unique().sort(between.place)["group"]
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    groups = groups.sort(*shared, between.place).with_columns(b=number.over(list(shared)) if shared else number)
    words = [word for word in (PREVIOUS, REST) if between.has_word(word)]
    if words and values.dtype in TEXTS and (values.cast(pl.String) == words[0]).any():
        raise ValueError(f"baseline: {words[0]!r} is a group of column {shown(column)}, too; rename that group")
    if groups.is_empty() or between.has_word(REST):
        pairs = groups.with_columns(baseline=pl.lit(None, dtype=values.dtype), a=pl.lit(-1, dtype=pl.Int64))
        pairs = pairs.filter((pl.len().over(list(shared)) if shared else pl.len()) > 1)
    elif between.has_word(PREVIOUS):
        pairs = groups.join(
            groups.select(*shared, baseline="group", a="b", b=pl.col("b") + 1), on=[*shared, "b"], nulls_equal=True
        )
    else:
        first = groups.rename({"group": "baseline", "b": "a"})
        if between.baseline is None:
            later = pl.col("a") < pl.col("b")
        else:
            first, later = first.filter(pl.col("baseline") == _baseline(values, between)), pl.lit(True)
        pairs = groups.join(first, on=shared, nulls_equal=True) if shared else groups.join(first, how="cross")
        pairs = pairs.filter(later & (pl.col("a") != pl.col("b")))
    if len(groups) and pairs.is_empty():
        raise ValueError(
            f"between: column {shown(column)} has no two groups to compare{' within the keys of by' if shared else ''}"
            f"; it holds {examples(values, _SHOWN)}"
        )
    if shared:
        keys = groups.select(shared).unique()
        alone = keys.join(pairs, on=shared, how="anti", nulls_equal=True)
        share = f"{alone.height} of {keys.height} keys of by"
        if len(alone):
            warn(f"between: {share} have no two groups to compare, and no row in the result")
    return pairs.select(*shared, "group", "baseline", "a", "b")


def _baseline(values: pl.Series, between: _Between) -> pl.Expr:
    """Return the group that is named as baseline, in the dtype of the column."""
    try:
        value = label_of(between.column, values.dtype, between.baseline)
        is_group = values.to_frame().select((pl.col("group") == value).any()).item()
    except (TypeError, ValueError):
        is_group = False
    if not is_group:
        raise ValueError(
            f"baseline={shown(between.baseline)} is no group of column {shown(between.column)}, which holds "
            f"{examples(values, _SHOWN)}; give one of them, 'previous' or 'rest'"
        )
    return value


def _covariances(
    pairs: pl.LazyFrame, base: pl.LazyFrame, groups: pl.LazyFrame, shared: Sequence[str], on: str, metrics: int
) -> pl.LazyFrame:
    """Return `products 0`, ... for each pair: the sum of the products of the D of clusters that are in both groups."""
    both = pairs.join(base, on=[*shared, on], nulls_equal=True)
    both = both.join(groups, on=[*shared, "group", "cluster"], nulls_equal=True)
    products = ((pl.col(f"base D {i}") * pl.col(f"D {i}")).sum().alias(f"products {i}") for i in range(metrics))
    return both.group_by(*shared, "baseline", "group").agg(products)


def _covariance(i: int) -> pl.Expr:
    """Return the covariance of two means over groups, with the corrections of their variances."""
    corrections = [n / (n - 1) for n in (pl.col(f"base units {i}"), pl.col(f"units {i}"))]
    means = pl.col(f"base groups {i}") * pl.col(f"groups {i}")
    return pl.col(f"products {i}").fill_null(0.0) * (corrections[0] * corrections[1]).sqrt() / means


def _line(i: int, error: pl.Expr, low: pl.Expr, high: pl.Expr, p: pl.Expr) -> dict[str, pl.Expr]:
    """Return the columns of the result for the i-th metric, without its name and `p_adjusted`."""
    return {
        "units_baseline": pl.col(f"base units {i}").fill_null(0),
        "units_group": pl.col(f"units {i}").fill_null(0),
        "value_baseline": pl.col(f"base value {i}"),
        "value_group": pl.col(f"value {i}"),
        "difference": _difference(i),
        "standard_error": error,
        "low": low,
        "high": high,
        "p_value": p,
    }


def _difference(i: int) -> pl.Expr:
    """Return the value of the group less that of the baseline; a rounding error counts as 0."""
    a, b = pl.col(f"base value {i}"), pl.col(f"value {i}")
    return pl.when((b - a).abs() > TIE * pl.max_horizontal(a.abs(), b.abs())).then(b - a).otherwise((b - a) * 0.0)


def _welch(
    difference: pl.Expr, errors: tuple[pl.Expr, pl.Expr], covariance: pl.Expr, dfs: tuple[pl.Expr, pl.Expr]
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the standard error, the degrees of freedom (null without an error) and the p-value of a difference."""
    parts = errors[0] ** 2, errors[1] ** 2
    total = parts[0] + parts[1]
    variance = total - 2 * covariance
    error = pl.when(variance > TIE * total).then(variance).otherwise(0.0 * total).sqrt()
    df = pl.when(error > 0).then(total**2 / (parts[0] ** 2 / dfs[0] + parts[1] ** 2 / dfs[1]))
    t = pl.when(error > 0).then(difference / error)
    # A difference of 0 gives p = 1; another difference without an error gives null.
    return error, df, pl.when((difference == 0) & (error == 0)).then(1.0).otherwise(t_p_value(t, df))


def _line_of_means(i: int, confidence: float) -> dict[str, pl.Expr]:
    """Apply Welch's t-test: `d -+ t e`, with the standard error e of the difference d."""
    errors, dfs = ((pl.col(f"base {name} {i}"), pl.col(f"{name} {i}")) for name in ("error", "df"))
    error, df, p = _welch(_difference(i), errors, pl.lit(0.0), dfs)
    reach = pl.when(error > 0).then(t_quantile(confidence, df) * error).otherwise(error)
    return _line(i, error, _difference(i) - reach, _difference(i) + reach, p)


def _line_of_rows(i: int, metric: RowMetric, *, single: bool, clustered: bool) -> dict[str, pl.Expr]:
    """Combine the intervals of both values into that of the difference: Newcombe (1998), Zou and Donner (2008).

    The test is the score test of two proportions, or Welch's t-test of logits, because the errors of shares differ on
    both sides.
    """
    (a, low_a, high_a, error_a), (b, low_b, high_b, error_b) = (
        [pl.col(f"{prefix}{name} {i}") for name in ("value", "low", "high", "error")] for prefix in ("base ", "")
    )
    dfs = pl.col(f"base df {i}"), pl.col(f"df {i}")
    difference, covariance = _difference(i), pl.col(f"covariance {i}") if clustered else pl.lit(0.0)
    error, _, _ = _welch(difference, (error_a, error_b), covariance, dfs)
    spread = error_a * error_b
    correlation = pl.when(spread > 0).then((covariance / spread).clip(-1.0, 1.0)).otherwise(0.0)

    def reach(of_a: pl.Expr, of_b: pl.Expr) -> pl.Expr:
        return (of_a**2 + of_b**2 - 2 * correlation * of_a * of_b).clip(lower_bound=0.0).sqrt()

    if single and metric.row_share is not None:
        (p_a, n_a), (p_b, n_b) = (
            (proportion(metric.row_share, value), df + 1) for value, df in zip((a, b), dfs, strict=True)
        )
        pooled = (p_a * n_a + p_b * n_b) / (n_a + n_b)
        z = (p_b - p_a) / (pooled * (1 - pooled) * (1 / n_a + 1 / n_b)).sqrt()
        p = pl.when(difference == 0).then(1.0).otherwise(normal_p_value(z))
    else:
        inside = pl.all_horizontal(value.is_between(0, 1, closed="none") for value in (a, b))
        slope_a, slope_b = (pl.when(inside).then(1 / (value * (1 - value))).otherwise(1.0) for value in (a, b))
        logits = pl.when(inside & (difference != 0)).then((b / (1 - b)).log() - (a / (1 - a)).log())
        _, _, p = _welch(
            logits.otherwise(difference),
            (
                pl.when(inside).then(f"base logit error {i}").fill_null(error_a * slope_a),
                pl.when(inside).then(f"logit error {i}").fill_null(error_b * slope_b),
            ),
            covariance * slope_a * slope_b,
            dfs,
        )
    return _line(i, error, difference - reach(high_a - a, b - low_b), difference + reach(a - low_a, high_b - b), p)
