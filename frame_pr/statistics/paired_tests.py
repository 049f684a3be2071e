"""Paired tests of systems: the same units, such as queries, or the same rows or clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from frame_pr.statistics.bootstrap import Draws
from frame_pr.statistics.bounds import Array, columns_of
from frame_pr.statistics.pairs import TIE, Comparison, Pairs, difference_of, with_t_test
from frame_pr.statistics.sampled_rows import SampledRows
from frame_pr.statistics.units import (
    error_of_fixed_mean,
    influences_on_mean,
    with_cluster_errors,
)

Size: TypeAlias = Callable[[Any], Any]
"""How extreme a sum of differences is: its absolute value, or its value if a test has one side."""
_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_SIGNS_AT_ONCE = 2**21
"""Number of signs, and of sums, in memory."""

# units
# ------------------------------------------------------------------------------------------------


def compare_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by Student's paired t."""
    differences = differences_of_units(comparison)
    table = means_of_differences(differences, comparison)
    return with_t_test(table, comparison.hypothesis)


def flip_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by random sign flips.

    Bounds are those of Student's t. The units of a cluster are flipped together.
    """
    pairs = comparison.pairs
    differences = differences_of_units(comparison)
    table = means_of_differences(differences, comparison)
    table = with_t_test(table, comparison.hypothesis)

    null_value = comparison.hypothesis.null_value
    flipped = differences.with_columns(d=pl.col("d") - null_value)
    if comparison.sample.clustered:
        flipped = flipped.drop_nulls("d")
        rank = pl.col("cluster").rank("dense").over(pairs.on)
        number = rank.cast(pl.Int64) - 1
        flipped = flipped.with_columns(unit=number)
        clusters = flipped.group_by(*pairs.test, "unit")
        flipped = clusters.agg(pl.col("d").sum())

    p_values = _sign_flips(table, flipped, comparison)
    (p_value,) = columns_of(p=p_values)
    has_units = pl.col("n_system") > 1
    method = pl.col("method").str
    return table.with_columns(
        p_value=pl.when(has_units).then(p_value),
        method=method.replace("paired t", "sign flips", literal=True),
    )


def differences_of_units(comparison: Comparison) -> pl.DataFrame:
    """Return the difference `d` of each test and unit, null unless both systems have a value.

    `noise` is the size of its rounding error. `unit` is the number of the unit in its key, and
    `cluster` is its cluster or the unit itself.
    """
    pairs = comparison.pairs
    row = pl.col("row")
    first = row.min().over(pairs.on)
    cluster = "cluster" if comparison.sample.clustered else "row"
    values = with_units(comparison).select(
        *pairs.on,
        "place",
        "value",
        unit=row - first,
        cluster=cluster,
    )
    units = values.select(*pairs.on, "unit", "cluster")
    of_units = units.unique().join(pairs.table, on=pairs.keys, nulls_equal=True)
    pairs_of_units = pairs._replace(table=of_units)
    both = pairs_of_units.both(
        values,
        "unit",
        "cluster",
        how="left",
    )

    sizes = pl.col("base value", "value").abs()
    largest = pl.max_horizontal(sizes).max()
    noise = TIE * largest.over(pairs.test)
    difference = pl.col("value") - pl.col("base value")
    is_tie = difference.abs() < noise
    both = both.sort(*pairs.test, "unit")
    return both.with_columns(
        d=pl.when(is_tie).then(0.0).otherwise(difference),
        noise=noise,
    )


def with_units(comparison: Comparison) -> pl.DataFrame:
    """Return the values of units with the `place` of their system and `row`, equal for one unit."""
    sample = comparison.units
    pairs = comparison.pairs
    unit = pl.struct(
        *pairs.on[:-1],
        *sample.unit_columns,
    )
    number = unit.rank("dense")
    table = sample.table.with_columns(row=number.cast(pl.Int64))
    return pairs.with_places(table)


def means_of_differences(differences: pl.DataFrame, comparison: Comparison) -> pl.DataFrame:
    """Return the mean difference of each test, its standard error and degrees of freedom."""
    test = comparison.pairs.test
    d = pl.col("d")
    n = d.count().cast(pl.Int64)
    values = pl.col("base value", "value")
    values_of_pairs = values.filter(d.is_not_null())
    noise = pl.col("noise").first()
    is_constant = d.max() - d.min() < noise
    deviation = pl.when(is_constant).then(0.0).otherwise(d.std())
    conditions = {
        "undefined": d.is_null(),
        "wins": d > 0,
        "equal": d == 0,
        "losses": d < 0,
    }
    counts = {}
    for name, condition in conditions.items():
        count = condition.sum()
        counts[name] = count.cast(pl.Int64)
    tests = differences.group_by(test, maintain_order=True)
    table = tests.agg(
        values_of_pairs.mean(),
        units=n,
        df=n - 1,
        difference=d.mean(),
        spread=pl.when(n > 1).then(deviation),
        **counts,
    )

    spread = pl.col("spread")
    n = pl.col("units")
    error = spread / n.sqrt()
    if comparison.sample.clustered:
        influences = influences_on_mean(differences, test, "d")
        table = with_cluster_errors(table, influences, test)
        error = pl.col("error")
        error = pl.when(spread == 0).then(0.0 * error).otherwise(error)
    effect_size = pl.col("difference") / spread
    table = table.with_columns(
        standard_error=error,
        effect_size=pl.when(spread > 0).then(effect_size),
    )
    return _described(table, "paired t", comparison)


def _described(table: pl.DataFrame, name: str, comparison: Comparison) -> pl.DataFrame:
    """Return the table with the columns of `DETAILS` that tell both values, n and the method."""
    return table.with_columns(
        value_baseline="base value",
        value_system="value",
        n_baseline="units",
        n_system="units",
        method=pl.format(f"{name} over {{}} {comparison.noun}", "units"),
    )


def _sign_flips(table: pl.DataFrame, differences: pl.DataFrame, comparison: Comparison) -> Array:
    """Return the p-values of sign flips, for each test of the table.

    With n nonzero differences, p is the share of the 2^n sign flips whose |sum| is at least that of
    the data; of a one-sided test, whose sum is. If n exceeds 20, it is `(1 + c) / (1 + resamples)`
    with the number c of such flips among those drawn. The flip of a unit depends only on the seed
    and on its number. `differences`: a row per test and unit, `d` and `unit`.
    """
    import numpy as np

    test = comparison.pairs.test
    tests = table.select(test)
    numbers = tests.with_row_index("number")
    rows = differences.join(numbers, on=test, nulls_equal=True)
    number = rows["number"].to_numpy()
    unit = rows["unit"].to_numpy()
    shape = (len(table), unit.max(initial=-1) + 1)
    matrix = np.zeros(shape)
    matrix[number, unit] = rows["d"].fill_null(0.0)

    size: Size = abs
    sign = comparison.hypothesis.sign
    if sign != 0:
        size = partial(np.multiply, sign)

    p = np.ones(len(table))
    n = np.count_nonzero(matrix, axis=1)
    is_small = n <= _EXACT
    if is_small.any():
        p[is_small] = _all_flips(matrix[is_small], size)
    is_large = ~is_small
    if is_large.any():
        p[is_large] = _drawn_flips(
            matrix[is_large],
            size,
            comparison.draws,
        )
    return p


def _all_flips(differences: Array, size: Size) -> Array:
    """Return the share of all sign flips that are at least as extreme as the data."""
    import numpy as np

    # The nonzero differences come first.
    is_zero = differences == 0
    order = np.argsort(is_zero, axis=1, kind="stable")
    differences = np.take_along_axis(differences, order, axis=1)
    numbers = np.count_nonzero(differences, axis=1)
    most = max(int(numbers.max()), 1)
    place = np.arange(most)[:, None]

    def bits_of(start: int, end: int) -> Any:
        return np.arange(start, end) >> place & 1

    flips = 2**most
    if size is abs:
        # The last sign of a two-sided test may stay: all flips of all signs have the same |sum|.
        flips //= 2
    share: Array = _count_flips(differences[:, :most], size, flips, bits_of) / flips
    return share


def _drawn_flips(differences: Array, size: Size, draws: Draws) -> Array:
    """Return the share of drawn sign flips and the data that are as extreme as the data."""
    import numpy as np

    # Bits are drawn unit by unit, so that a p-value does not depend on other groups.
    units = differences.shape[1]
    random = np.random.default_rng(draws.seed).bytes(-(-draws.flips // 8) * units)
    packed_bits = np.frombuffer(random, dtype=np.uint8).reshape(units, -1)

    def bits_of(start: int, end: int) -> Any:
        return np.unpackbits(packed_bits[:, start // 8 : -(-end // 8)], axis=1, count=end - start)

    counts = _count_flips(differences, size, draws.flips, bits_of)
    share: Array = (1 + counts) / (1 + draws.flips)
    return share


def _count_flips(
    differences: Array,
    size: Size,
    flips: int,
    bits_of: Callable[[int, int], Any],
) -> Array:
    """Count the flips whose sum has at least the size of that of the data.

    `bits_of`: the signs of a range of flips.
    """
    import numpy as np

    # Rounding must not hide a sum that is equal to that of the data.
    slack = 1e-12 * abs(differences).sum(axis=1)
    least = size(differences.sum(axis=1)) - slack
    counts = np.zeros(len(differences))
    step = max(_SIGNS_AT_ONCE // max(differences.shape) // 8 * 8, 8)
    for start in range(0, flips, step):
        end = min(start + step, flips)
        signs = 1.0 - 2.0 * bits_of(start, end)
        sizes = size(differences @ signs)
        is_as_large = sizes >= least[:, None]
        counts += is_as_large.sum(axis=1)
    return counts


# rows
# -------------------------------------------------------------------------------------------------


def compare_rows(comparison: Comparison) -> pl.DataFrame:
    """Compare scores of the same rows, or values of the same clusters, by Student's t.

    The variance of a difference is the sum of the squared differences of D, corrected for the size
    of the sample: by n / (n - 1) for n rows of the rarer label, unless D has a correction for each
    class, and by (C - 1) / C for C clusters, whose D are changes without a cluster.
    """
    rows = comparison.rows
    pairs = comparison.pairs
    if rows.clustered or not rows.averaged:
        return _tested(_differences(rows, pairs), "paired t", comparison)

    # The groups are fixed: compare each of them, and average the differences.
    groups = replace(rows, averaged=False, keys=rows.output.key_columns)
    on = [name for name in groups.key_columns if name != pairs.names.name]
    table = _differences(groups, pairs._replace(on=on))
    table = _mean_differences(table, pairs.test)
    return _tested(table, "paired t", comparison)


def compare_by_delong(comparison: Comparison) -> pl.DataFrame:
    """Compare ROC AUC of scores of the same rows by the normal distribution: DeLong's test."""
    table = compare_rows(comparison)
    has_df = pl.col("df") > 0
    infinity = float("inf")
    table = table.with_columns(df=pl.when(has_df).then(infinity))
    return _tested(table, "DeLong", comparison)


def _tested(table: pl.DataFrame, name: str, comparison: Comparison) -> pl.DataFrame:
    """Return the table with bounds, p-values and the name of the test."""
    table = _described(table, name, comparison)
    return with_t_test(table, comparison.hypothesis)


def _differences(rows: SampledRows[Any], pairs: Pairs) -> pl.DataFrame:
    """Return the differences of both values, their standard errors and degrees of freedom."""
    both = pairs.both(pairs.with_places(rows.estimates()))
    squares = _squares(pairs, rows.influences())
    both = both.join(
        squares,
        on=pairs.test,
        how="left",
        nulls_equal=True,
    )
    a = pl.col("base value")
    b = pl.col("value")
    has_both = a.is_not_null() & b.is_not_null()
    df = pl.min_horizontal("df", "base df")

    by_class = [m for m, metric in enumerate(rows.metrics) if metric.by_class]
    clusters = pl.col("n")
    correction = (clusters - 1) / clusters
    if not rows.clustered:
        is_corrected = pl.col("m").is_in(by_class)
        correction = pl.when(is_corrected).then(1.0).otherwise((df + 1) / df)
    variance = pl.col("squares") * correction
    variance = variance.fill_nan(None)

    errors = pl.col("error", "base error")
    has_errors = pl.all_horizontal(errors.is_not_null())
    is_tested = has_both & has_errors & (df > 0)
    error = pl.when(is_tested).then(variance.sqrt())
    values = pl.col("base value", "value")
    largest = pl.max_horizontal(values.abs())
    is_noise = error <= TIE * largest
    units = pl.min_horizontal("units", "base units")
    return both.with_columns(
        pl.when(has_both).then(values),
        units=pl.col("n").fill_null(units),
        undefined=1 - has_both.cast(pl.Int64),
        difference=difference_of(a, b),
        # An error of the size of rounding is 0.
        standard_error=pl.when(is_noise).then(0.0 * error).otherwise(error),
        df=pl.when(df > 0).then(df),
    )


def _squares(pairs: Pairs, influences: pl.DataFrame) -> pl.DataFrame:
    """Return the sum of the squared differences of D of each test, and the number `n` of clusters.

    A cluster that one side lacks has no influence on its value.
    """
    influences = pairs.with_places(influences)
    influences = influences.select(*pairs.on, "place", "cluster", "D")
    D = pl.col("D")
    sides = []
    for place, sign in (("a", -1), ("b", 1)):
        side = pairs.table.join(
            influences,
            left_on=[*pairs.keys, place],
            right_on=[*pairs.keys, "place"],
            nulls_equal=True,
        )
        side = side.select(*pairs.test, "cluster", D=sign * D)
        sides.append(side)

    clusters = pl.concat(sides).group_by(*pairs.test, "cluster")
    differences = clusters.agg(D.sum())
    tests = differences.group_by(pairs.test)
    return tests.agg(
        n=pl.len().cast(pl.Int64),
        squares=(D**2).sum(),
    )


def _mean_differences(table: pl.DataFrame, test: list[str]) -> pl.DataFrame:
    """Return the mean differences of fixed groups: variances and degrees of freedom add up."""
    has_value = pl.col("difference").is_not_null()
    values = pl.col("base value", "value", "difference")
    df = pl.col("df").filter(has_value)
    tests = table.group_by(test)
    return tests.agg(
        values.mean(),
        df.sum(),
        pl.col("units", "undefined").sum(),
        standard_error=error_of_fixed_mean("difference", "standard_error"),
    )
