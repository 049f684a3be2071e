"""Unpaired comparisons of groups: different rows or units, and the same score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_pr.frames.columns import by_name, column_name, in_category_order, listed, refuse_repeats
from frame_pr.frames.kinds import Frame, collected, kind_of
from frame_pr.frames.messages import examples, shown, warn
from frame_pr.inputs.rows import OutputFrame
from frame_pr.inputs.values import TEXTS, label_of
from frame_pr.statistics.bounds import (
    ROUNDING,
    Array,
    BoundsName,
    Estimates,
    array_of,
    bounds_of,
    scipy_special,
    t_quantile,
    t_test,
)
from frame_pr.statistics.comparison_table import TIE, Comparison, Options, Scored, comparison_columns
from frame_pr.statistics.sampled_rows import SampledRows, sampled_rows
from frame_pr.statistics.unit_values import UnitValues, has_unit_values, keys_left, mean_estimates, sampling_unit

PREVIOUS = "previous"
_SHOWN = 5
_LARGEST_Z, _HALVINGS = 38.0, 45
"""Beyond this z, the p-value is no float. So many halvings leave 1e-12 of it."""


class _Between(NamedTuple):
    """The column whose groups are compared, and the group that the others are compared with."""

    column: str
    baseline: Any
    categories: Sequence[Any]
    """The categories of a pandas column in their order. Other columns are in the order of their values."""

    @property
    def is_previous(self) -> bool:
        """Return whether the baseline is "previous". Other values, such as arrays, have no equality."""
        return isinstance(self.baseline, str) and self.baseline == PREVIOUS

    def names(self, columns: Sequence[str], group: str) -> dict[str, pl.Expr]:
        """Return these key columns under their names in the tables that are compared."""
        return {f"key{i}": by_name(column) for i, column in enumerate(columns)} | {"group": by_name(group)}


def compare_groups(scored: Scored[Frame], options: Options) -> Comparison[Frame]:
    """Compare the groups of a column inside each group of `by`."""
    frame, truth, score, cluster = scored.frame, scored.truth, scored.score, scored.cluster
    mean_over, has_units, kind = options.mean_over, has_unit_values(frame, truth, score), kind_of(frame)
    column = column_name("between", options.between)
    kind.refuse_missing([column], "between")
    group = str(column)
    between = _Between(group, options.baseline, options.systems or kind.categories(group))
    systems = [] if score is None else listed("score", score)
    roles = [("between", column), ("truth", truth), *(("score", system) for system in systems), ("cluster", cluster)]
    refuse_repeats((role, item) for role, item in roles if item is not None)
    by_keys = [] if scored.by is None else listed("by", scored.by)
    scored = scored._replace(by=[*(key for key in by_keys if isinstance(key, pl.Expr) or key != column), column])

    def keys_left_by(all_keys: Sequence[str]) -> list[str]:
        """Return the keys that are not averaged over, with that of `between` last."""
        keys = [key for key in all_keys if key != group]
        left = keys_left(keys, True if mean_over is None else mean_over)
        if len(left) == len(keys):
            raise ValueError(
                f"by: each value of {shown(group)} has one unit only; name the units that were drawn, such as "
                "queries, too"
            )
        return [*left, group]

    source: UnitValues[Frame] | OutputFrame[Frame]
    if sampling_unit(options.sampled, cluster, means=has_units or mean_over is not None) == "groups":
        source = scored.unit_values()
        keys, metrics = keys_left_by(source.keys)[:-1], source.metrics
        table = _compare_units(source, keys, between, options)
    else:
        if has_units:
            raise ValueError("cluster= and sampled='rows' are about rows that were drawn: a frame of metrics has none")
        named, request = scored.request()
        averaged = None if mean_over is None else keys_left_by
        rows = sampled_rows(frame, request, named, scored.undefined, averaged, cluster)
        source, metrics = rows.output, list(named)
        keys = [key for key in rows.keys if key != group]
        table = _compare_rows(rows, keys, between, options)
    # The key of several scores is `score`, because `system` is the compared group.
    scores, names = source.systems, ["score" if source.systems and key == "system" else key for key in keys]
    give = partial(_give_own_groups, source=source, between=group)
    return Comparison(table, names, metrics, scores, options.correction, give)


def _give_own_groups(table: pl.LazyFrame, keys: Sequence[str], source: Any, between: str) -> Any:
    """Return a result whose compared groups are values of the caller's column, as other keys are."""
    result, kind = source.give(table, keys), source.kind
    for side in () if kind.takes_expressions else ("baseline", "system"):
        own = kind.give(table.select(by_name(side).alias(between)), [between])
        if hasattr(result, "set_column"):  # A Table of pyarrow.
            result = result.set_column(result.column_names.index(side), side, own.column(0))
        else:
            result[side] = own.iloc[:, 0].array
    return result


# the two ways ---------------------------------------------------------------------------------------------------------


def _compare_rows(sampled: SampledRows[Any], keys: Sequence[str], between: _Between, options: Options) -> pl.DataFrame:
    """Compare groups of rows, or of clusters of rows; see `_pair_up`."""
    names = between.names([sampled.keys[key] for key in keys], sampled.keys[between.column])
    table = sampled.estimates().select("m", *Estimates._fields, "groups", "undefined", **names)
    both, shared = _pair_up(table, len(keys), between), list(names)[:-1]
    both = both.with_columns(products=pl.lit(0.0))
    if sampled.clustered:
        clusters = sampled.clusters().select("cluster", "m", "D", **names)
        base = clusters.rename({"D": "base D", "group": "baseline"})
        products = both.select(*shared, "group", "baseline", "m")
        products = products.join(base, on=[*shared, "baseline", "m"], nulls_equal=True)
        products = products.join(clusters, on=[*shared, "group", "m", "cluster"], nulls_equal=True)
        pair = [*shared, "baseline", "group", "m"]
        products = products.group_by(pair).agg(products=(pl.col("base D") * pl.col("D")).sum())
        both = both.drop("products").join(products, on=pair, how="left", nulls_equal=True)
    return _test_rows(both, sampled.bounds, 1 - options.confidence)


def _compare_units(
    unit_values: UnitValues[Any], keys: Sequence[str], between: _Between, options: Options
) -> pl.DataFrame:
    """Compare the means of groups of units by Welch's t-test; see `_pair_up`."""
    table, names = collected(unit_values.table, "auto"), between.names(keys, between.column)
    units = [by_name(key) for key in unit_values.keys if key not in (*keys, between.column)]
    shared = list(names)[:-1]
    _warn_of_pairs(table.select(**names, unit=pl.struct(units)), [*shared, "unit"], between.column)
    means = mean_estimates(unit_values, [*keys, between.column]).rename({f"key{len(keys)}": "group"})
    return _test_units(_pair_up(means, len(keys), between), 1 - options.confidence)


def _warn_of_pairs(table: pl.DataFrame, units: Sequence[str], between: str) -> None:
    """Warn if units are in several of the groups that are compared."""
    groups = table.group_by(units).agg(n=pl.col("group").n_unique())["n"]
    if repeated := int((groups > 1).sum()):
        rename = "" if between == "system" else f"rename column {between} to system, and "
        warn(
            f"between: {repeated} of {len(groups)} units occur in several groups of {between}, and this test takes the "
            f"groups as independent. The paired test has more power: {rename}give system in by=, and no between="
        )


# pairs ----------------------------------------------------------------------------------------------------------------


def _pair_up(table: pl.DataFrame, keys: int, between: _Between) -> pl.DataFrame:
    """Return a row per key, pair of groups and metric: the numbers of the baseline have the prefix `base`.

    `table`: for each group `key0`, ..., `group`, `m` and numbers.
    """
    shared = [f"key{i}" for i in range(keys)]
    pairs = _pairs(table.select(*shared, "group").unique(), shared, between)
    names = (*shared, "group", "m")
    base = table.rename(lambda name: name if name in names else f"base {name}").rename({"group": "baseline"})
    both = pairs.join(table, on=[*shared, "group"], nulls_equal=True)
    return both.join(base, on=[*shared, "baseline", "m"], how="left", nulls_equal=True)


def _pairs(groups: pl.DataFrame, shared: Sequence[str], between: _Between) -> pl.DataFrame:
    """Return the pairs of groups, `baseline` and `group`, and `a` and `b`, their places among equal keys."""
    order = in_category_order(pl.col("group"), between.categories)
    column, values = between.column, groups.select("group").unique().sort(order)["group"]
    number = pl.int_range(pl.len(), dtype=pl.Int32)
    groups = groups.sort(*shared, order).with_columns(b=number.over(list(shared)) if shared else number)
    if between.is_previous and values.dtype in TEXTS and (values.cast(pl.String) == PREVIOUS).any():
        raise ValueError(f"baseline: {PREVIOUS!r} is a group of column {shown(column)}, too; rename that group")
    first = groups.rename({"group": "baseline", "b": "a"})
    wanted = pl.col("a") < pl.col("b")
    if between.is_previous:
        wanted = pl.col("a") + 1 == pl.col("b")
    elif between.baseline is not None and len(groups):
        first = first.filter(pl.col("baseline") == _baseline(values, between))
        wanted = pl.col("a") != pl.col("b")
    pairs = groups.join(first, on=shared, nulls_equal=True) if shared else groups.join(first, how="cross")
    pairs = pairs.filter(wanted)
    if len(groups) and pairs.is_empty():
        raise ValueError(
            f"between: column {shown(column)} has no two groups to compare{' within the keys of by' if shared else ''}"
            f"; it holds {examples(values, _SHOWN)}"
        )
    if shared:
        keys = groups.select(shared).unique()
        alone = keys.join(pairs, on=shared, how="anti", nulls_equal=True)
        if len(alone):
            share = f"{alone.height} of {keys.height} keys of by"
            warn(f"between: {share} have no two groups to compare, and no row in the result")
    return pairs.select(*shared, "group", "baseline", "a", "b")


def _baseline(values: pl.Series, between: _Between) -> pl.Expr:
    """Return the group that is named as baseline, in the dtype of the column."""
    try:
        coded = between.categories and values.dtype in TEXTS
        value = label_of(between.column, values.dtype, str(between.baseline) if coded else between.baseline)
        is_group = values.to_frame().select((pl.col("group") == value).any()).item()
    except (TypeError, ValueError):
        is_group = False
    if not is_group:
        raise ValueError(
            f"baseline={shown(between.baseline)} is no group of column {shown(between.column)}, which holds "
            f"{examples(values, _SHOWN)}; give one of them, or 'previous'"
        )
    return value


# tests ----------------------------------------------------------------------------------------------------------------


def _test_units(both: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Apply Welch's t-test to the means of both groups."""
    a, b = Estimates.of(both, "base "), Estimates.of(both)
    difference = _difference(a.value, b.value)
    with np.errstate(all="ignore"):
        parts = a.error**2, b.error**2
        df = (parts[0] + parts[1]) ** 2 / (parts[0] ** 2 / a.df + parts[1] ** 2 / b.df)
        error = np.sqrt(parts[0] + parts[1])
        low, high, p = t_test(difference, error, df, alpha)
    return _lines(both, difference, low, high, p, error)


def _test_rows(both: pl.DataFrame, kinds: Sequence[BoundsName], alpha: float) -> pl.DataFrame:
    """Combine the intervals of both values into that of the difference: Newcombe (1998), Zou and Donner (2008).

    The p-value is the largest alpha at which the interval contains 0, so both always agree. Clusters that are in both
    groups enter by their covariance.
    """
    a, b, metric = Estimates.of(both, "base "), Estimates.of(both), both["m"].to_numpy()
    difference = _difference(a.value, b.value)
    with np.errstate(all="ignore"):
        error_a, error_b = (_implied_error(side, kinds, metric) for side in (a, b))
        corrections = np.sqrt(a.units / (a.units - 1) * b.units / (b.units - 1))
        groups = array_of(both, "base groups") * array_of(both, "groups")
        covariance = np.nan_to_num(array_of(both, "products")) * corrections / groups
        spread = a.error * b.error
        correlation = np.where(spread > 0, np.clip(covariance / spread, -1, 1), 0.0)
        total = error_a**2 + error_b**2
        variance = total - 2 * covariance
        error = np.sqrt(np.where(variance > TIE * total, variance, 0.0 * total))

        def interval(alpha: float | Array) -> tuple[Array, Array]:
            """Return the bounds of the difference at error rates alpha."""
            (low_a, high_a), (low_b, high_b) = (bounds_of(kinds, metric, side, alpha) for side in (a, b))

            def reach(of_a: Array, of_b: Array) -> Array:
                squares: Array = np.maximum(of_a**2 + of_b**2 - 2 * correlation * of_a * of_b, 0.0)
                return np.sqrt(squares)

            low, high = reach(high_a - a.value, b.value - low_b), reach(a.value - low_a, high_b - b.value)
            return difference - low, difference + high

        low, high = interval(alpha)
        p = _p_value_of_interval(difference, interval)
        p = np.where(np.isnan(low), np.nan, np.where(difference == 0, 1.0, p))
    return _lines(both, difference, low, high, p, error)


def _p_value_of_interval(difference: Array, interval: Any) -> Array:
    """Return the largest alpha at which the interval contains 0, by bisection of the normal quantile of alpha."""
    ndtr = scipy_special().ndtr
    least, most = np.zeros(len(difference)), np.full(len(difference), _LARGEST_Z)
    for _ in range(_HALVINGS):
        z = (least + most) / 2
        low, high = interval(2 * ndtr(-z))
        contains = (low <= 0) & (high >= 0)
        least, most = np.where(contains, least, z), np.where(contains, z, most)
    p: Array = 2 * ndtr(-most)
    return p


def _implied_error(side: Estimates, kinds: Sequence[BoundsName], metric: Any) -> Array:
    """Return the standard error; for a value of exactly 0 or 1, the one that its finite 95 % bound implies."""
    low, high = bounds_of(kinds, metric, side, 0.05)
    at_end = (side.value <= ROUNDING) | (side.value >= 1 - ROUNDING)
    return np.where(at_end, (high - low) / t_quantile(0.05, side.df), side.error)


def _difference(a: Array, b: Array) -> Array:
    """Return the value of the group less that of the baseline; a rounding error counts as 0."""
    return np.where(abs(b - a) > TIE * np.maximum(abs(a), abs(b)), b - a, 0.0 * (b - a))


def _lines(both: pl.DataFrame, difference: Array, low: Array, high: Array, p: Array, error: Array) -> pl.DataFrame:
    """Return the columns of a comparison."""
    others = {
        "value_baseline": pl.col("base value"),
        "value_system": pl.col("value"),
        "units_baseline": pl.col("base units").fill_null(0),
        "units_system": pl.col("units").fill_null(0),
        "undefined": pl.col("base undefined").fill_null(0) + pl.col("undefined").fill_null(0),
    }
    columns = comparison_columns(difference, low, high, p, error, **others)
    return both.with_columns(columns, system="group")
