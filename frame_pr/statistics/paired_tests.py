"""Paired comparisons: of systems over the same units, and over the rows of one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import shown, warn
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bounds import Array, array_of, columns_of, t_test
from frame_pr.statistics.comparison_table import NUMBERS, TIE, Comparison, Options, Scored, comparison_columns
from frame_pr.statistics.sampled_rows import (
    RowMetric,
    estimates_of_groups,
    of_rows,
    refuse_cluster,
    refuse_policies,
    sums_of_clusters,
)
from frame_pr.statistics.unit_values import UnitValues

_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_AT_ONCE = 256
UNPAIRED = (
    "compare pairs the values of one group; for systems with different groups, such as two arms of an A/B test, give "
    "between='system'"
)


# units ----------------------------------------------------------------------------------------------------------------


def compare_units(unit_values: UnitValues[Frame], keys: Sequence[str], options: Options) -> Comparison[Frame]:
    """Compare systems over the units that both have a value for, in each group of the keys."""
    units = [key for key in unit_values.keys if key not in (*keys, "system")]
    columns = {f"key{i}": by_name(key) for i, key in enumerate(keys)}
    columns |= {f"unit{i}": by_name(key) for i, key in enumerate(units)}
    columns |= {f"m{i}": by_name(metric) for i, metric in enumerate(unit_values.metrics)}
    values = collected(unit_values.table.select("system", **columns), "auto")
    single = len(options.systems) == 2 and not keys and len(unit_values.metrics) == 1
    correction = None if single else options.correction
    table = _compare_units(values, len(keys), options)
    return Comparison(table, keys, unit_values.metrics, (), correction, unit_values.give)


class _Units(NamedTuple):
    """The values of all systems in all units, sorted by key."""

    keys: pl.DataFrame
    """The keys: one row for each group of units."""
    group: Any
    """The row in `keys` of each unit."""
    place: Any
    """The number of each unit in its group."""
    values: Array
    """By system, metric and unit; NaN if there is none."""
    present: Any
    """By system and unit: whether the system has a row."""

    @staticmethod
    def of(table: pl.DataFrame, systems: pl.Series, keys: int) -> _Units:
        """Read a table with the columns `key0`, ..., `unit0`, ..., `system`, `m0`, ..."""
        key_columns = [f"key{i}" for i in range(keys)]
        unit_columns = [*key_columns, *(name for name in table.columns if name.startswith("unit"))]
        metrics = [name for name in table.columns if name.startswith("m")]
        units = table.select(unit_columns).unique().sort(unit_columns).with_row_index("row")
        group = np.zeros(units.height, dtype=int)
        if keys:
            group = units.select(pl.struct(key_columns).rle_id().cast(pl.Int64)).to_series().to_numpy()
        rows = table.join(units, on=unit_columns, how="left", nulls_equal=True, maintain_order="left")["row"].to_numpy()
        numbers = pl.DataFrame({"system": systems}).with_row_index("number")
        system = table.select("system").join(numbers, on="system", how="left", maintain_order="left")["number"]
        values = np.full((len(systems), len(metrics), units.height), np.nan)
        present = np.zeros((len(systems), units.height), dtype=bool)
        for m, name in enumerate(metrics):
            values[system.to_numpy(), m, rows] = array_of(table, name)
        present[system.to_numpy(), rows] = True
        starts = group.searchsorted(np.arange(group[-1] + 1))
        place = np.arange(units.height) - starts[group]
        return _Units(units[starts.tolist()].select(key_columns), group, place, values, present)


def _compare_units(table: pl.DataFrame, keys: int, options: Options) -> pl.DataFrame:
    """Compare the systems of a table with a row for each system and unit."""
    names, dtype = table["system"].unique().sort(), table.schema["system"]
    if options.systems:
        names = pl.Series("system", list(options.systems), dtype=dtype)
    if names.null_count():
        raise ValueError("column 'system' has rows that are null: each value belongs to one system")
    if table.is_empty():
        places = dict.fromkeys(("m", "a", "b"), pl.Int32()) | dict.fromkeys(("baseline", "system"), dtype)
        return pl.DataFrame(schema={**table.select(table.columns[1 : 1 + keys]).schema, **places, **NUMBERS})
    pairs = options.pairs(names.to_list())
    units = _Units.of(table, names, keys)
    _validate_shared(units.present, names.to_list(), pairs)
    baselines, others = (np.array(side) for side in zip(*pairs, strict=True))
    numbers, differences = _summaries(units, units.values[baselines], units.values[others], 1 - options.confidence)
    if options.test == "permutation":
        flipped = sign_flips(differences, units.group, units.place, options.resamples, options.seed)
        # Without spread there is no test: p = 1 if all differences are 0, else null.
        numbers["p_value"] = np.where(np.isnan(numbers["effect_size"]), numbers["p_value"], flipped)
    pair, metric, group = (part.ravel() for part in np.indices(numbers["p_value"].shape))
    result = units.keys[group.tolist()] if keys else pl.DataFrame(height=len(group))
    index = {"m": metric, "a": baselines[pair], "b": others[pair]}
    result = result.with_columns(pl.Series(name, column, dtype=pl.Int32) for name, column in index.items())
    result = result.with_columns(baseline=pl.lit(names).gather("a"), system=pl.lit(names).gather("b"))
    columns = columns_of(**{name: numbers[name].ravel() for name in NUMBERS})
    return result.with_columns(column.cast(NUMBERS[column.name]) for column in columns)


def _validate_shared(present: Any, names: Sequence[Any], places: Sequence[tuple[int, int]]) -> None:
    """Raise if the two systems of a pair share no unit; warn if they share few."""
    shared = present.astype(int) @ present.T
    for a, b in places:
        number, fewer = shared[a, b], min(shared[a, a], shared[b, b])
        if not number:
            raise ValueError(f"systems {shown(names[a])} and {shown(names[b])} share none of their groups: {UNPAIRED}")
        if number < fewer / 2:
            warn(
                f"systems {shown(names[a])} and {shown(names[b])} share {number} of their {shared[a, a]} and "
                f"{shared[b, b]} groups, and only these are compared: {UNPAIRED}"
            )


def _summaries(units: _Units, a: Array, b: Array, alpha: float) -> tuple[dict[str, Any], Array]:
    """Return the numbers by pair, metric and group, and the differences of units over the scale of their group."""
    group = units.group
    starts = group.searchsorted(np.arange(units.keys.height or 1))

    def total(column: Any) -> Any:
        return np.add.reduceat(column, starts, axis=-1)

    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = np.where(both, a, 0.0), np.where(both, b, 0.0)
    scale = np.maximum.reduceat(np.maximum(abs(a), abs(b)), starts, axis=-1)
    scale = np.where(scale > 0, scale, 1.0)
    differences = b / scale[..., group] - a / scale[..., group]
    differences[abs(differences) < TIE] = 0.0
    n, sizes = total(both * 1), total(np.ones(len(group), dtype=int))
    with np.errstate(all="ignore"):
        mean = total(differences) / n
        deviations = np.where(both, differences - mean[..., group], 0.0)
        spread = np.sqrt(total(deviations**2) / (n - 1))
        largest = np.maximum.reduceat(abs(deviations), starts, axis=-1)
        spread = np.where(largest < TIE, 0.0 * spread, spread)
        low, high, p = t_test(mean, spread / np.sqrt(n), n - 1.0, alpha)
        numbers = {
            "difference": mean * scale,
            "low": low * scale,
            "high": high * scale,
            "p_value": p,
            "value_baseline": total(a) / n,
            "value_system": total(b) / n,
            "standard_error": spread / np.sqrt(n) * scale,
            "units_baseline": n,
            "units_system": n,
            "undefined": sizes - n,
            "effect_size": mean / np.where(spread > 0, spread, np.nan),
            "wins": total((differences > 0) * 1),
            "equal": total((both & (differences == 0)) * 1),
            "losses": total((differences < 0) * 1),
        }
    return numbers, differences


def sign_flips(differences: Array, group: Any, place: Any, resamples: int, seed: int) -> Array:
    """Return the p-value of the sign flips of the differences of each pair, metric and group of units.

    With n nonzero differences, it is the share of the 2^n sign flips whose |sum| is at least that of the data. If n
    exceeds 20, it is `(1 + c) / (1 + resamples)` with the number c of such flips among those drawn. The flip of a unit
    depends only on the seed and on its place in its group.
    """
    groups = int(group[-1]) + 1
    table = np.zeros((*differences.shape[:-1], groups, int(place.max()) + 1))
    table[..., group, place] = differences
    shape, table = table.shape[:-1], table.reshape(-1, table.shape[-1])
    nonzero = np.count_nonzero(table, axis=1)
    # Rounding must not hide a sum that is equal to that of the data.
    least = abs(table.sum(axis=1)) - 1e-12 * abs(table).sum(axis=1)
    p, few = np.empty(len(table)), nonzero <= _EXACT
    if few.any():
        most = max(int(nonzero[few].max()), 1)
        order = np.argsort(table[few] == 0, axis=1, kind="stable")[:, :most]
        rows = np.take_along_axis(table[few], order, axis=1)
        counts = np.zeros(len(rows))
        # All flips of all signs have the same |sum|: the first sign stays.
        for start in range(0, 2 ** (most - 1), 2**14):
            number = np.arange(start, min(start + 2**14, 2 ** (most - 1)))
            signs = 1.0 - 2 * (number[:, None] >> np.arange(most)[None, :] & 1)
            counts += (abs(rows @ signs.T) >= least[few][:, None]).sum(axis=1)
        p[few] = counts / 2 ** (most - 1)
    if not few.all():
        rng = np.random.default_rng(seed)
        length = -(-resamples // 8)
        # Bits are drawn place by place, so that a p-value does not depend on other groups.
        bits = np.frombuffer(rng.bytes(length * table.shape[1]), dtype=np.uint8).reshape(table.shape[1], length)
        for start in range(0, int((~few).sum()), _AT_ONCE):
            at = np.flatnonzero(~few)[start : start + _AT_ONCE]
            sums = np.zeros((len(at), resamples))
            for first in range(0, len(bits), _AT_ONCE):
                signs = 1.0 - 2.0 * np.unpackbits(bits[first : first + _AT_ONCE], axis=1, count=resamples)
                sums += table[at, first : first + _AT_ONCE] @ signs
            p[at] = (1 + (abs(sums) >= least[at][:, None]).sum(axis=1)) / (1 + resamples)
    return p.reshape(shape)


# rows -----------------------------------------------------------------------------------------------------------------


def compare_rows(scored: Scored[Frame], options: Options) -> Comparison[Frame]:
    """Compare the scores of the rows of one test set, or of its clusters, in each group.

    The standard error of a difference follows from the influence D that each row, or cluster, has on both values.
    """
    named, request = scored.request()
    cluster, normal = scored.cluster, options.test == "delong"
    metrics = [of_rows(name) for name in named.values()]
    if normal:
        _refuse_delong(metrics, clusters=cluster is not None)
    if not request.several:
        raise ValueError("score: compare takes two scores or more; give the columns of the systems as a list")
    refuse_policies(request, list(named.values()), clusters=True)
    if cluster is not None:
        refuse_cluster(cluster, request)
    # Without clusters each row is its own cluster, so that its two D meet.
    rows, output = rows_of(scored.frame, replace(request, cluster=cluster, each_row=cluster is None))
    systems, groups = len(output.systems), estimates_of_groups(rows, metrics, scored.undefined)
    pairs = pl.DataFrame(options.pairs(output.systems), schema={"a": pl.Int64, "b": pl.Int64}, orient="row")

    def both_systems(table: pl.DataFrame, on: list[str]) -> pl.DataFrame:
        """Return, for each pair, the columns of both systems, those of the second with the prefix `other`."""
        table = table.with_columns(key=pl.col("group") // systems, place=pl.col("group") % systems).drop("group")
        first = pairs.join(table, left_on="a", right_on="place")
        second = table.rename(lambda name: name if name in (*on, "place") else f"other {name}")
        return first.join(second, left_on=["b", *on], right_on=["place", *on])

    pair, positive = ["key", "a", "b", "m"], pl.col("positive")
    square = (pl.col("other D") - pl.col("D")) ** 2
    sums = both_systems(sums_of_clusters(rows, metrics, groups), ["key", "m", "cluster"])
    sums = sums.group_by(pair).agg(
        clusters=pl.len().cast(pl.Int64),
        positive_clusters=positive.sum().cast(pl.Int64),
        squares=square.sum(),
        positive_squares=square.filter(positive).sum(),
    )
    table = both_systems(groups, ["key", "m"]).join(sums, on=pair, how="left")
    table = table.with_columns(group=pl.col("key") * systems + pl.col("a")).drop("key")
    table = collected(output.restored(table.lazy()), "auto").rename({output.key_columns["system"]: "baseline"})
    table = table.with_columns(system=pl.lit(pl.Series(output.systems)).gather("b"))
    by_class = pl.col("m").is_in([m for m, metric in enumerate(metrics) if _by_class(metric) and cluster is None])
    table = _test_rows(table, by_class, clusters=cluster is not None, normal=normal, alpha=1 - options.confidence)
    keys = [key for key in output.keys if key != "system"]
    correction = None if systems == 2 and not keys and len(metrics) == 1 else options.correction
    return Comparison(table, keys, list(named), (), correction, output.give)


def _test_rows(table: pl.DataFrame, by_class: pl.Expr, *, clusters: bool, normal: bool, alpha: float) -> pl.DataFrame:
    """Test the differences of both values by their variances. `normal`: by the normal distribution.

    `by_class`: whether the D of the positives sum to 0, and so those of the negatives: each label is a sample of its
    own.
    """
    units, positives, squares = pl.col("clusters"), pl.col("positive_clusters"), pl.col("squares")
    negatives, of_positives = units - positives, pl.col("positive_squares")
    degrees = units - 1 if clusters else pl.min_horizontal("df", "other df")
    of_labels = of_positives * positives / (positives - 1) + (squares - of_positives) * negatives / (negatives - 1)
    variance = pl.when(by_class).then(of_labels).otherwise(squares * (degrees + 1) / degrees)
    both = pl.col("value").is_not_null() & pl.col("other value").is_not_null()
    sides = {"value_baseline": pl.when(both).then("value"), "value_system": pl.when(both).then("other value")}
    table = table.with_columns(degrees=degrees, variance=pl.when(degrees > 0).then(variance), **sides)
    a, b, variance_, df = (array_of(table, name) for name in ("value_baseline", "value_system", "variance", "degrees"))
    noise = TIE * np.maximum(abs(a), abs(b))
    difference, error = b - a, np.sqrt(np.maximum(variance_, 0.0))
    difference, error = (np.where(abs(number) <= noise, 0.0, number) for number in (difference, error))
    low, high, p = t_test(difference, error, np.where(df > 0, np.inf, np.nan) if normal else df, alpha)
    others = {name: pl.col(name) for name in sides} | {"units_baseline": units, "units_system": units}
    others["undefined"] = 1 - both.cast(pl.Int64)
    return table.with_columns(comparison_columns(difference, low, high, p, error, **others))


def _by_class(metric: RowMetric) -> bool:
    """Return whether the influences of the rows of each label sum to 0."""
    return metric.of_ranking is not None and metric.of_ranking(pl.col(metric.name)).by_class


def _refuse_delong(metrics: Sequence[RowMetric], *, clusters: bool) -> None:
    """Check that the metric is ROC AUC over independent rows, as DeLong's test requires."""
    if clusters:
        raise ValueError("test='delong' assumes independent rows, and cluster= names dependent rows: use test='t'")
    for metric in metrics:
        if not _by_class(metric):
            raise ValueError(f"test='delong' compares roc_auc, and not {metric.name}: use test='t'")
