"""Paired tests of systems: the same units, such as queries, or the same rows or clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from frame_pr.statistics.bounds import Array, columns_of
from frame_pr.statistics.pairs import TIE, Comparison, Pairs, difference_of, with_t_test
from frame_pr.statistics.sampled_rows import SampledRows
from frame_pr.statistics.units import influences_on_mean, with_cluster_errors

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
    table = _means_of_differences(differences, comparison)
    return with_t_test(table, comparison.hypothesis)


def flip_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by random sign flips.

    Bounds are those of Student's t. The units of a cluster are flipped together.
    """
    pairs = comparison.pairs
    differences = differences_of_units(comparison)
    table = _means_of_differences(differences, comparison)
    table = with_t_test(table, comparison.hypothesis)

    flipped = differences.with_columns(d=pl.col("d") - comparison.hypothesis.null_value)
    if comparison.sample.clustered:
        number = pl.col("cluster").rank("dense").over(pairs.on)
        flipped = flipped.drop_nulls("d")
        flipped = flipped.with_columns(unit=number.cast(pl.Int64) - 1)
        clusters = flipped.group_by(*pairs.test, "unit")
        flipped = clusters.agg(pl.col("d").sum())
    p_values = _sign_flips(table, flipped, comparison)
    has_units = pl.col("n_system") > 1
    return table.with_columns(
        p_value=pl.when(has_units).then(*columns_of(p=p_values)),
        method=pl.col("method").str.replace("paired t", "sign flips", literal=True),
    )


def differences_of_units(comparison: Comparison) -> pl.DataFrame:
    """Return the difference `d` of each test and unit, null unless both systems have a value.

    `noise` is the size of its rounding error. `unit` is the number of the unit in its key, and
    `cluster` is its cluster or the unit itself.
    """
    pairs = comparison.pairs
    unit = pl.col("row") - pl.col("row").min().over(pairs.on)
    cluster = "cluster" if comparison.sample.clustered else "row"
    values = with_units(comparison).select(
        *pairs.on,
        "place",
        "value",
        unit=unit,
        cluster=cluster,
    )
    units = values.select(*pairs.on, "unit", "cluster").unique()
    of_units = units.join(pairs.table, on=pairs.keys, nulls_equal=True)
    both = pairs._replace(table=of_units).both(values, "unit", "cluster", how="left")

    size = pl.max_horizontal(pl.col("base value", "value").abs())
    noise = TIE * size.max().over(pairs.test)
    difference = pl.col("value") - pl.col("base value")
    is_tie = difference.abs() < noise
    d = pl.when(is_tie).then(0.0).otherwise(difference)
    both = both.sort(*pairs.test, "unit")
    return both.with_columns(d=d, noise=noise)


def with_units(comparison: Comparison) -> pl.DataFrame:
    """Return the values of units with the `place` of their system and `row`, equal for one unit."""
    sample = comparison.units
    pairs = comparison.pairs
    unit = pl.struct(*pairs.on[:-1], *sample.unit_columns)
    number = unit.rank("dense").cast(pl.Int64)
    return pairs.with_places(sample.table.with_columns(row=number))


def _means_of_differences(differences: pl.DataFrame, comparison: Comparison) -> pl.DataFrame:
    """Return the mean difference of each test, its standard error and degrees of freedom."""
    test = comparison.pairs.test
    d = pl.col("d")
    n = d.count().cast(pl.Int64)
    values = pl.col("base value", "value").filter(d.is_not_null())
    is_constant = d.max() - d.min() < pl.col("noise").first()
    deviation = pl.when(is_constant).then(0.0).otherwise(d.std())
    counts = {
        "undefined": d.is_null(),
        "wins": d > 0,
        "equal": d == 0,
        "losses": d < 0,
    }
    table = differences.group_by(test, maintain_order=True).agg(
        values.mean(),
        units=n,
        df=n - 1,
        difference=d.mean(),
        spread=pl.when(n > 1).then(deviation),
        **{name: units.sum().cast(pl.Int64) for name, units in counts.items()},
    )

    spread = pl.col("spread")
    error = spread / pl.col("units").sqrt()
    if comparison.sample.clustered:
        influences = influences_on_mean(differences, test, "d")
        table = with_cluster_errors(table, influences, test)
        error = pl.when(spread == 0).then(0.0 * pl.col("error")).otherwise("error")
    effect_size = pl.when(spread > 0).then(pl.col("difference") / spread)
    table = table.with_columns(standard_error=error, effect_size=effect_size)
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
    number = table.select(test).with_row_index("number")
    rows = differences.join(number, on=test, nulls_equal=True)
    units = rows["unit"].to_numpy()
    matrix = np.zeros((len(table), units.max(initial=-1) + 1))
    matrix[rows["number"].to_numpy(), units] = rows["d"].fill_null(0.0)

    sign = comparison.hypothesis.sign
    size = abs if sign == 0 else partial(np.multiply, sign)
    p = np.ones(len(table))
    is_small = np.count_nonzero(matrix, axis=1) <= _EXACT
    if is_small.any():
        p[is_small] = _all_flips(matrix[is_small], size)
    if not is_small.all():
        draws = (comparison.resamples, comparison.draws.seed)
        p[~is_small] = _drawn_flips(matrix[~is_small], size, *draws)
    return p


def _all_flips(differences: Array, size: Size) -> Array:
    """Return the share of all sign flips that are at least as extreme as the data."""
    import numpy as np

    # The nonzero differences come first.
    order = np.argsort(differences == 0, axis=1, kind="stable")
    differences = np.take_along_axis(differences, order, axis=1)
    numbers = np.count_nonzero(differences, axis=1)
    most = max(int(numbers.max()), 1)
    place = np.arange(most)[:, None]

    def bits_of(start: int, end: int) -> Any:
        return np.arange(start, end) >> place & 1

    # The last sign of a two-sided test may stay: all flips of all signs have the same |sum|.
    flips = 2 ** (most - 1) if size is abs else 2**most
    share: Array = _count_flips(differences[:, :most], size, flips, bits_of) / flips
    return share


def _drawn_flips(differences: Array, size: Size, resamples: int, seed: int) -> Array:
    """Return the share of drawn sign flips and the data that are as extreme as the data."""
    import numpy as np

    # Bits are drawn unit by unit, so that a p-value does not depend on other groups.
    units = differences.shape[1]
    length = -(-resamples // 8)
    random = np.random.default_rng(seed).bytes(length * units)
    bits = np.frombuffer(random, dtype=np.uint8).reshape(units, length)

    def bits_of(start: int, end: int) -> Any:
        some = bits[:, start // 8 : -(-end // 8)]
        return np.unpackbits(some, axis=1, count=end - start)

    counts = _count_flips(differences, size, resamples, bits_of)
    share: Array = (1 + counts) / (1 + resamples)
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
    of the sample. Where each class is a sample of its own, D has this correction.
    """
    rows = comparison.rows
    pairs = comparison.pairs
    if rows.clustered:
        table = _differences(rows, pairs, rows.estimates(), rows.influences())
        return _tested(table, "paired t", comparison)
    groups = [name for name in rows.output.key_columns.values() if name != pairs.names.name]
    estimates = rows.restored(rows.groups)
    influences = rows.restored(rows.influences_of_groups())
    table = _differences(rows, pairs._replace(on=[*groups, "m"]), estimates, influences)
    if rows.averaged:
        table = _mean_differences(table, pairs.test)
    return _tested(table, "paired t", comparison)


def compare_by_delong(comparison: Comparison) -> pl.DataFrame:
    """Compare ROC AUC of scores of the same rows by the normal distribution: DeLong's test."""
    table = compare_rows(comparison)
    infinite = pl.when(pl.col("df") > 0).then(float("inf"))
    return _tested(table.with_columns(df=infinite), "DeLong", comparison)


def _tested(table: pl.DataFrame, name: str, comparison: Comparison) -> pl.DataFrame:
    """Return the table with bounds, p-values and the name of the test."""
    return with_t_test(_described(table, name, comparison), comparison.hypothesis)


def _differences(
    rows: SampledRows[Any],
    pairs: Pairs,
    estimates: pl.DataFrame,
    influences: pl.DataFrame,
) -> pl.DataFrame:
    """Return the differences of both values, their standard errors and degrees of freedom."""
    both = pairs.both(pairs.with_places(estimates))
    both = both.join(_squares(pairs, influences), on=pairs.test, how="left", nulls_equal=True)
    a = pl.col("base value")
    b = pl.col("value")
    has_both = a.is_not_null() & b.is_not_null()
    df = pl.min_horizontal("df", "base df")

    corrected = [m for m, metric in enumerate(rows.metrics) if metric.by_class]
    is_corrected = pl.col("m").is_in(corrected) & (not rows.clustered)
    factor = pl.when(is_corrected).then(1.0).otherwise((df + 1) / df)
    variance = pl.col("squares") * factor
    has_errors = pl.all_horizontal(pl.col("error", "base error").is_not_null())
    is_tested = has_both & has_errors & (df > 0)
    error = pl.when(is_tested).then(variance.fill_nan(None).sqrt())
    noise = TIE * pl.max_horizontal(a.abs(), b.abs())
    return both.with_columns(
        pl.when(has_both).then(pl.col("base value", "value")),
        units=pl.col("n").fill_null(pl.min_horizontal("units", "base units")),
        undefined=1 - has_both.cast(pl.Int64),
        difference=difference_of(a, b),
        # An error of the size of rounding is 0.
        standard_error=pl.when(error > noise).then(error).otherwise(0.0 * error),
        df=pl.when(df > 0).then(df),
    )


def _squares(pairs: Pairs, influences: pl.DataFrame) -> pl.DataFrame:
    """Return the sum of the squared differences of D of each test, and the number `n` of clusters.

    A cluster that one side lacks has no influence on its value.
    """
    influences = pairs.with_places(influences).select(*pairs.on, "place", "cluster", "D")
    sides = []
    for place, sign in (("a", -1), ("b", 1)):
        side = pairs.table.join(
            influences,
            left_on=[*pairs.keys, place],
            right_on=[*pairs.keys, "place"],
            nulls_equal=True,
        )
        sides.append(side.select(*pairs.test, "cluster", D=sign * pl.col("D")))
    D = pl.col("D")
    clusters = pl.concat(sides).group_by(*pairs.test, "cluster")
    tests = clusters.agg(D.sum()).group_by(pairs.test)
    return tests.agg(
        n=pl.len().cast(pl.Int64),
        squares=(D**2).sum(),
    )


def _mean_differences(table: pl.DataFrame, test: list[str]) -> pl.DataFrame:
    """Return the mean differences of fixed groups: variances and degrees of freedom add up."""
    error = pl.col("standard_error")
    has_value = pl.col("difference").is_not_null()
    n = has_value.sum()
    is_complete = (error.count() == n) & (n > 0)
    variance = (error**2).sum() / n**2
    return table.group_by(test).agg(
        pl.col("base value", "value", "difference").mean(),
        pl.col("df").filter(has_value).sum(),
        pl.col("units", "undefined").sum(),
        standard_error=pl.when(is_complete).then(variance.sqrt()),
    )
