"""Paired tests of systems: the same units, such as queries, or the same rows or clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

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
    return with_t_test(table, comparison.call.hypothesis, "paired t")


def flip_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by random sign flips.

    Bounds are those of Student's t. The units of a cluster are flipped together.
    """
    pairs = comparison.pairs
    hypothesis = comparison.call.hypothesis
    differences = differences_of_units(comparison)
    table = means_of_differences(differences, comparison)
    table = with_t_test(table, hypothesis, "sign flips")

    flipped = differences.with_columns(d=pl.col("d") - hypothesis.null_value)
    if comparison.sample.clustered:
        flipped = flipped.drop_nulls("d")
        rank = pl.col("cluster").rank("dense").over(pairs.on)
        clusters = flipped.group_by(*pairs.test, unit=rank.cast(pl.Int64) - 1)
        flipped = clusters.agg(pl.col("d").sum())

    (p_value,) = columns_of(p=_sign_flips(table, flipped, comparison))
    return table.with_columns(p_value=pl.when(pl.col("units") > 1).then(p_value))


def differences_of_units(comparison: Comparison) -> pl.DataFrame:
    """Return the difference `d` of each test and unit, null unless both systems have a value.

    `noise` is the size of its rounding error. `unit` is the number of the unit in its key, and
    `cluster` is its cluster or the unit itself.
    """
    sample = comparison.sample
    pairs = comparison.pairs
    *keys, _ = pairs.on
    rank = pl.struct(*keys, *sample.unit_columns).rank("dense")
    values = sample.table.with_columns(row=rank.cast(pl.Int64))
    row = pl.col("row")
    values = values.select(
        *pairs.on,
        pairs.names.name,
        "value",
        unit=row - row.min().over(pairs.on),
        cluster="cluster" if sample.clustered else "row",
    )
    on = [*pairs.on, "unit", "cluster"]
    both = pairs.within(values, on).both(values)

    largest = pl.max_horizontal(pl.col("base value", "value").abs()).max()
    noise = TIE * largest.over(pairs.test)
    difference = pl.col("value") - pl.col("base value")
    return both.sort(*pairs.test, "unit").with_columns(
        d=pl.when(difference.abs() < noise).then(0.0).otherwise(difference),
        noise=noise,
    )


def means_of_differences(differences: pl.DataFrame, comparison: Comparison) -> pl.DataFrame:
    """Return the mean difference of each test, its standard error and degrees of freedom."""
    test = comparison.pairs.test
    d = pl.col("d")
    n = d.count().cast(pl.Int64)
    values = pl.col("base value", "value")
    is_constant = d.max() - d.min() < pl.col("noise").first()
    deviation = pl.when(is_constant).then(0.0).otherwise(d.std())
    table = differences.group_by(test, maintain_order=True).agg(
        values.filter(d.is_not_null()).mean(),
        units=n,
        df=n - 1,
        difference=d.mean(),
        spread=pl.when(n > 1).then(deviation),
        undefined=d.null_count(),
        wins=(d > 0).sum(),
        equal=(d == 0).sum(),
        losses=(d < 0).sum(),
    )

    spread = pl.col("spread")
    error = spread / pl.col("units").sqrt()
    if comparison.sample.clustered:
        table = with_cluster_errors(table, influences_on_mean(differences, test, "d"), test)
        error = pl.col("error")
        error = pl.when(spread == 0).then(0.0 * error).otherwise(error)
    return table.with_columns(
        pl.col("units").alias("base units"),
        standard_error=error,
        effect_size=pl.when(spread > 0).then(pl.col("difference") / spread),
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
    numbers = table.select(test).with_row_index("number")
    rows = differences.join(numbers, on=test, nulls_equal=True)
    unit = rows["unit"].to_numpy()
    matrix = np.zeros((len(table), unit.max(initial=-1) + 1))
    matrix[rows["number"], unit] = rows["d"].fill_null(0.0)

    sign = comparison.call.hypothesis.sign
    p = np.ones(len(table))
    is_small = np.count_nonzero(matrix, axis=1) <= _EXACT
    if is_small.any():
        p[is_small] = _all_flips(matrix[is_small], sign)
    if not is_small.all():
        p[~is_small] = _drawn_flips(matrix[~is_small], sign, comparison.call.draws)
    return p


def _all_flips(differences: Array, sign: int) -> Array:
    """Return the share of all sign flips that are at least as extreme as the data."""
    import numpy as np

    # The nonzero differences come first.
    order = np.argsort(differences == 0, axis=1, kind="stable")
    differences = np.take_along_axis(differences, order, axis=1)
    most = max(int(np.count_nonzero(differences, axis=1).max()), 1)
    place = np.arange(most)[:, None]

    def bits_of(start: int, end: int) -> Any:
        return np.arange(start, end) >> place & 1

    flips = 2**most
    if not sign:
        # The last sign of a two-sided test may stay: all flips of all signs have the same |sum|.
        flips //= 2
    share: Array = _count_flips(differences[:, :most], sign, flips, bits_of) / flips
    return share


def _drawn_flips(differences: Array, sign: int, draws: Draws) -> Array:
    """Return the share of drawn sign flips and the data that are as extreme as the data."""
    import numpy as np

    # Bits are drawn unit by unit, so that a p-value does not depend on other groups.
    units = differences.shape[1]
    bytes_of_unit = -(-draws.resamples // 8)
    generator = np.random.default_rng(draws.seed)
    random = generator.bytes(bytes_of_unit * units)
    packed_bits = np.frombuffer(random, dtype=np.uint8).reshape(units, -1)

    def bits_of(start: int, end: int) -> Any:
        # Only the last range ends within a byte.
        packed = packed_bits[:, start // 8 : -(-end // 8)]
        return np.unpackbits(packed, axis=1, count=end - start)

    counts = _count_flips(differences, sign, draws.resamples, bits_of)
    share: Array = (1 + counts) / (1 + draws.resamples)
    return share


def _count_flips(
    differences: Array,
    sign: int,
    flips: int,
    bits_of: Callable[[int, int], Any],
) -> Array:
    """Count the flips whose sum has at least the size of that of the data.

    `bits_of`: the signs of a range of flips.
    """
    import numpy as np

    # Rounding must not hide a sum that is equal to that of the data.
    slack = 1e-12 * abs(differences).sum(axis=1)
    least = _size(differences.sum(axis=1), sign) - slack
    counts = np.zeros(len(differences))
    step = max(_SIGNS_AT_ONCE // max(differences.shape) // 8 * 8, 8)
    for start in range(0, flips, step):
        signs = 1.0 - 2.0 * bits_of(start, min(start + step, flips))
        is_as_large = _size(differences @ signs, sign) >= least[:, None]
        counts += is_as_large.sum(axis=1)
    return counts


def _size(sums: Array, sign: int) -> Array:
    """Return how extreme sums are: their absolute values, or those of one side."""
    return sign * sums if sign else abs(sums)


# rows
# -------------------------------------------------------------------------------------------------


def compare_rows(comparison: Comparison) -> pl.DataFrame:
    """Compare scores of the same rows, or values of the same clusters, by Student's t.

    The variance of a difference is the sum of the squared differences of D, corrected for the size
    of the sample: by n / (n - 1) for n rows of the rarer label, unless D has a correction for each
    class, and by (C - 1) / C for C clusters, whose D are changes without a cluster.
    """
    rows = comparison.sample
    pairs = comparison.pairs
    assert isinstance(rows, SampledRows)
    if rows.clustered or not rows.what.averages:
        table = _differences(rows, pairs)
        return with_t_test(table, comparison.call.hypothesis, "paired t")

    # The groups are fixed: compare each of them, and average the differences.
    what = rows.what._replace(mean_over=None)
    groups = replace(rows, what=what, keys=rows.output.key_columns)
    on = [name for name in groups.key_columns if name != pairs.names.name]
    table = _differences(groups, pairs.within(groups.table, on))
    means = _mean_differences(table, pairs.test)
    return with_t_test(means, comparison.call.hypothesis, "paired t")


def compare_by_delong(comparison: Comparison) -> pl.DataFrame:
    """Compare ROC AUC of scores of the same rows by the normal distribution: DeLong's test."""
    table = compare_rows(comparison)
    table = table.with_columns(df=pl.when(pl.col("df") > 0).then(float("inf")))
    return with_t_test(table, comparison.call.hypothesis, "DeLong")


def _differences(rows: SampledRows, pairs: Pairs) -> pl.DataFrame:
    """Return the differences of both values, their standard errors and degrees of freedom."""
    squares = _squares(pairs, rows.influences())
    both = pairs.both(rows.estimates())
    both = both.join(squares, on=pairs.test, how="left", nulls_equal=True)
    values = pl.col("base value", "value")
    has_both = pl.all_horizontal(values.is_not_null())
    df = pl.min_horizontal("df", "base df")

    clusters = pl.col("n")
    correction = (clusters - 1) / clusters
    if not rows.clustered:
        corrected = [m for m, metric in enumerate(rows.metrics) if not metric.by_class]
        is_corrected = pl.col("m").is_in(corrected)
        correction = pl.when(is_corrected).then((df + 1) / df).otherwise(1.0)
    variance = pl.col("squares") * correction
    has_errors = pl.all_horizontal(pl.col("error", "base error").is_not_null())
    error = pl.when(has_both & has_errors & (df > 0)).then(variance.fill_nan(None).sqrt())
    # An error of the size of rounding is 0.
    is_noise = error <= TIE * pl.max_horizontal(values.abs())
    n = clusters.fill_null(pl.min_horizontal("units", "base units"))
    return both.with_columns(
        pl.when(has_both).then(values),
        n.alias("base units"),
        units=n,
        undefined=1 - has_both.cast(pl.Int64),
        difference=difference_of(pl.col("base value"), pl.col("value")),
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
    base = pairs.side(influences, "a").with_columns(-D)
    sides = pl.concat([base, pairs.side(influences, "b")])
    differences = sides.drop_nulls("D").group_by(*pairs.test, "cluster").agg(D.sum())
    return differences.group_by(pairs.test).agg(
        n=pl.len().cast(pl.Int64),
        squares=(D**2).sum(),
    )


def _mean_differences(table: pl.DataFrame, test: list[str]) -> pl.DataFrame:
    """Return the mean differences of fixed groups: variances and degrees of freedom add up."""
    has_value = pl.col("difference").is_not_null()
    return table.group_by(test).agg(
        pl.col("base value", "value", "difference").mean(),
        pl.col("df").filter(has_value).sum(),
        pl.col("base units", "units", "undefined").sum(),
        standard_error=error_of_fixed_mean("difference", "standard_error"),
    )
