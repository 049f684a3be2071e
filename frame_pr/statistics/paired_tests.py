"""Paired comparisons: of systems over the same units, and over the rows of one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import shown, warn
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bounds import Array, array_of, t_test
from frame_pr.statistics.comparison_table import TIE, Comparison, Options, Scored, comparison_columns
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
    columns |= {str(m): by_name(metric) for m, metric in enumerate(unit_values.metrics)}
    values = collected(unit_values.table.select("system", **columns), "auto")
    table = _compare_units(values, len(keys), len(unit_values.metrics), options)
    single = len(options.systems) == 2 and not keys and len(unit_values.metrics) == 1
    correction = None if single else options.correction
    return Comparison(table, keys, unit_values.metrics, (), correction, unit_values.give)


def _compare_units(values: pl.DataFrame, keys: int, metrics: int, options: Options) -> pl.DataFrame:
    """Compare systems, from a row for each of them and unit: `system`, `key0`, ..., `unit0`, ..., and the metrics."""
    names, shared = values["system"].unique().sort(), [f"key{i}" for i in range(keys)]
    units = values.columns[1 : values.width - metrics]
    if options.systems:
        names = pl.Series("system", list(options.systems), dtype=names.dtype)
    if names.null_count():
        raise ValueError("column 'system' has rows that are null: each value belongs to one system")
    places = options.pairs(names.to_list()) if len(values) else []
    pairs = pl.DataFrame(places, schema={"a": pl.Int32, "b": pl.Int32}, orient="row")
    pairs = pairs.with_columns(baseline=pl.lit(names).gather("a"), system=pl.lit(names).gather("b"))
    _validate_shared(values.select("system", *units), pairs)
    # A unit of a pair is a row; `place` is its number among the units of its key.
    numbered = values.select(units).unique().sort(units)
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    numbered = numbered.with_columns(place=place.over(shared) if shared else place)
    long = values.unpivot(values.columns[values.width - metrics :], index=["system", *units], variable_name="m")
    long = long.with_columns(pl.col("m").cast(pl.Int32)).drop_nulls("value")
    long = long.join(numbered, on=units, nulls_equal=True).drop([unit for unit in units if unit not in shared])
    both = long.rename({"system": "baseline", "value": "x"}).join(pairs, on="baseline")
    both = both.join(long.rename({"value": "y"}), on=[*shared, "place", "m", "system"], nulls_equal=True)
    tests = numbered.group_by(shared, maintain_order=True).len("units") if shared else numbered.select(units=pl.len())
    tests = tests.join(pairs, how="cross").join(
        pl.DataFrame({"m": range(metrics)}, schema={"m": pl.Int32}), how="cross"
    )
    test = [*shared, "a", "b", "m"]
    x, y, d = pl.col("x"), pl.col("y"), pl.col("d")
    scale = pl.max_horizontal(x.abs(), y.abs()).max().over(test)
    both = both.with_columns(scale=pl.when(scale > 0).then(scale).otherwise(1.0))
    both = both.with_columns(d=y / pl.col("scale") - x / pl.col("scale"))
    both = both.with_columns(d=pl.when(d.abs() >= TIE).then(d).otherwise(0.0))
    sums = both.group_by(test).agg(
        pl.col("scale").first(),
        n=pl.len().cast(pl.Int64),
        value_baseline=x.mean(),
        value_system=y.mean(),
        mean=d.mean(),
        spread=pl.when(d.max() - d.min() < TIE).then(0.0).otherwise(d.std()),
        **{name: sign.sum().cast(pl.Int64) for name, sign in {"wins": d > 0, "equal": d == 0, "losses": d < 0}.items()},
    )
    counts = pl.col("n", "wins", "equal", "losses").fill_null(0)
    table = tests.join(sums, on=test, how="left", nulls_equal=True).with_columns(counts).with_row_index("test")
    mean, spread, n, scales = (array_of(table, name) for name in ("mean", "spread", "n", "scale"))
    spread = np.where(n > 1, spread, np.nan)
    low, high, p = t_test(mean, spread / np.sqrt(n), n - 1, 1 - options.confidence)
    if options.test == "permutation":
        rows = both.join(table.select("test", *test), on=test, nulls_equal=True)
        flipped = sign_flips(
            rows["d"].to_numpy(), rows["test"].to_numpy(), rows["place"].to_numpy(), len(table), options
        )
        # Without spread there is no test: p = 1 if all differences are 0, else null.
        p = np.where(spread > 0, flipped, p)
    others = {name: pl.col(name) for name in ("value_baseline", "value_system", "wins", "equal", "losses")}
    others |= {"units_baseline": pl.col("n"), "units_system": pl.col("n"), "undefined": pl.col("units") - pl.col("n")}
    others["effect_size"] = pl.when(pl.col("spread") > 0).then(pl.col("mean") / pl.col("spread"))
    error = spread / np.sqrt(n) * scales
    return table.with_columns(comparison_columns(mean * scales, low * scales, high * scales, p, error, **others))


def _validate_shared(rows: pl.DataFrame, pairs: pl.DataFrame) -> None:
    """Raise if the two systems of a pair share no unit; warn if they share few."""
    units = [name for name in rows.columns if name != "system"]
    both = rows.join(rows, on=units, nulls_equal=True).group_by("system", "system_right").len()
    shared = {(a, b): n for a, b, n in both.iter_rows()}
    for a, b in pairs.select("baseline", "system").iter_rows():
        number, fewer = shared.get((a, b), 0), min(shared[a, a], shared[b, b])
        if not number:
            raise ValueError(f"systems {shown(a)} and {shown(b)} share none of their groups: {UNPAIRED}")
        if number < fewer / 2:
            warn(
                f"systems {shown(a)} and {shown(b)} share {number} of their {shared[a, a]} and {shared[b, b]} groups, "
                f"and only these are compared: {UNPAIRED}"
            )


def sign_flips(differences: Array, test: Any, place: Any, tests: int, options: Options) -> Array:
    """Return the p-value of each test from the sign flips of its differences, each of the unit of this place.

    With n nonzero differences, it is the share of the 2^n sign flips whose |sum| is at least that of the data. If n
    exceeds 20, it is `(1 + c) / (1 + resamples)` with the number c of such flips among those drawn. The flip of a unit
    depends only on the seed and on its place.
    """
    table = np.zeros((tests, int(place.max(initial=0)) + 1))
    table[test, place] = differences
    nonzero = np.count_nonzero(table, axis=1)
    # Rounding must not hide a sum that is equal to that of the data.
    least = abs(table.sum(axis=1)) - 1e-12 * abs(table).sum(axis=1)
    p, few = np.ones(tests), nonzero <= _EXACT
    if few.any():
        most = max(int(nonzero[few].max()), 1)
        order = np.argsort(table[few] == 0, axis=1, kind="stable")[:, :most]
        rows = np.take_along_axis(table[few], order, axis=1)
        counts = np.zeros(len(rows))
        # All flips of all signs have the same |sum|: the last sign stays.
        for start in range(0, 2 ** (most - 1), 2**14):
            number = np.arange(start, min(start + 2**14, 2 ** (most - 1)))
            signs = 1.0 - 2 * (number[:, None] >> np.arange(most)[None, :] & 1)
            counts += (abs(rows @ signs.T) >= least[few][:, None]).sum(axis=1)
        p[few] = counts / 2 ** (most - 1)
    if not few.all():
        length = -(-options.resamples // 8)
        # Bits are drawn place by place, so that a p-value does not depend on other groups.
        drawn = np.random.default_rng(options.seed).bytes(length * table.shape[1])
        bits = np.frombuffer(drawn, dtype=np.uint8).reshape(table.shape[1], length)
        for start in range(0, int((~few).sum()), _AT_ONCE):
            at = np.flatnonzero(~few)[start : start + _AT_ONCE]
            sums = np.zeros((len(at), options.resamples))
            for first in range(0, len(bits), _AT_ONCE):
                signs = 1.0 - 2.0 * np.unpackbits(bits[first : first + _AT_ONCE], axis=1, count=options.resamples)
                sums += table[at, first : first + _AT_ONCE] @ signs
            p[at] = (1 + (abs(sums) >= least[at][:, None]).sum(axis=1)) / (1 + options.resamples)
    return p


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
