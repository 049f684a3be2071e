"""Paired tests: systems in the same units, such as queries, and scores of the same rows or clusters of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from frame_pr.statistics.bounds import Array, columns_of
from frame_pr.statistics.pairs import TIE, Comparison, Pairs, difference_of, with_t_test
from frame_pr.statistics.units import effective_clusters

_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_SIGNS_AT_ONCE = 2**21
"""Number of signs, and of sums, in memory."""

# units
# ------------------------------------------------------------------------------------------------


def values_of_units(comparison: Comparison) -> pl.DataFrame:
    """Return the values of units with `place` (that of their system) and `row` (equal for the same unit)."""
    sample, pairs = comparison.units, comparison.pairs
    unit = pl.struct(*pairs.on[:-1], *sample.unit_columns).rank("dense").cast(pl.Int64)
    if not sample.unit_columns:
        unit = pl.int_range(pl.len(), dtype=pl.Int64)
    return pairs.with_places(sample.table.with_columns(row=unit))


def shared_units(members: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return how many units both systems of each pair have, `shared`, and how many either has, `of_a` and `of_b`.

    `members`: `place` and `row`, the unit.
    """
    members = members.select("place", "row").unique()
    sizes = members.group_by("place").agg(size=pl.len())
    both = members.join(members.rename({"place": "base"}), on="row")
    shared = both.group_by("base", "place").agg(shared=pl.len())
    table = pairs.table.select("a", "b").unique()
    table = table.join(shared, left_on=["a", "b"], right_on=["base", "place"], how="left")
    for side in "ab":
        table = table.join(sizes.rename({"size": f"of_{side}"}), left_on=side, right_on="place")
    return table.with_columns(pl.col("shared").fill_null(0)).sort("a", "b")


def compare_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by Student's paired t."""
    differences = differences_of_units(comparison)
    table = _means_of_differences(differences, comparison)
    return with_t_test(table, comparison.hypothesis)


def flip_units(comparison: Comparison) -> pl.DataFrame:
    """Test the means of the differences of units by random sign flips. Bounds are those of Student's t."""
    differences = differences_of_units(comparison)
    table = _means_of_differences(differences, comparison)
    table = with_t_test(table, comparison.hypothesis)
    h = comparison.hypothesis
    shifted = pl.col("d") - h.null_value
    flipped = differences.with_columns(d=shifted)
    if comparison.sample.clustered:
        # The units of a cluster are flipped together.
        test = comparison.pairs.test
        number = pl.col("cluster").rank("dense").over(comparison.pairs.on).cast(pl.Int64) - 1
        flipped = flipped.drop_nulls("d").with_columns(unit=number)
        flipped = flipped.group_by(*test, "unit").agg(pl.col("d").sum())
    p = sign_flips(table, flipped, comparison)
    method = pl.col("method").str.replace("paired t", "sign flips", literal=True)
    has_value = pl.col("difference").is_not_null() & (pl.col("n_system") > 1)
    p_value = pl.when(has_value).then(columns_of(p_value=p)[0])
    return table.with_columns(p_value=p_value, method=method)


def differences_of_units(comparison: Comparison) -> pl.DataFrame:
    """Return a row per test and unit: the difference `d`, null unless both systems have a value, and its `noise`.

    `unit` is the number of the unit in its key.
    """
    pairs = comparison.pairs
    values = values_of_units(comparison)
    values = values.with_columns(unit=pl.col("row") - pl.col("row").min().over(pairs.on))
    values = values.drop("row", *comparison.units.unit_columns)
    identity = ["unit", "cluster"] if comparison.sample.clustered else ["unit"]
    units = values.select(*pairs.on, *identity).unique()
    on = [name for name in pairs.on if name in pairs.table.columns]
    of_pairs = units.join(pairs.table, on=on, nulls_equal=True)
    both = pairs._replace(table=of_pairs).both(values, *identity, how="left")
    both = both.sort(*pairs.test, "unit")
    base, value = pl.col("base value"), pl.col("value")
    size = pl.max_horizontal(base.abs(), value.abs())
    both = both.with_columns(noise=TIE * size.max().over(pairs.test))
    difference = value - base
    is_tie = difference.abs() < pl.col("noise")
    return both.with_columns(d=pl.when(is_tie).then(0.0).otherwise(difference))


def _means_of_differences(differences: pl.DataFrame, comparison: Comparison) -> pl.DataFrame:
    """Return the mean difference of each test, its standard error and degrees of freedom."""
    d = pl.col("d")
    n = d.count().cast(pl.Int64)
    has_value = d.is_not_null()
    is_constant = d.max() - d.min() < pl.col("noise").first()
    deviation = pl.when(is_constant).then(0.0).otherwise(d.std())
    signs = {"wins": d > 0, "equal": d == 0, "losses": d < 0}
    table = differences.group_by(comparison.pairs.test, maintain_order=True).agg(
        n_system=n,
        undefined=d.null_count().cast(pl.Int64),
        value_baseline=pl.col("base value").filter(has_value).mean(),
        value_system=pl.col("value").filter(has_value).mean(),
        difference=d.mean(),
        spread=pl.when(n > 1).then(deviation),
        **{name: sign.sum().cast(pl.Int64) for name, sign in signs.items()},
    )
    spread, units = pl.col("spread"), pl.col("n_system")
    effect_size = pl.when(spread > 0).then(pl.col("difference") / spread)
    table = table.with_columns(
        standard_error=spread / units.sqrt(), effect_size=effect_size, df=units - 1
    )
    if comparison.sample.clustered:
        table = _with_cluster_errors(table, differences, comparison.pairs)
    method = pl.format(f"paired t over {{}} {comparison.noun}", "n_system")
    return table.with_columns(method=method, n_baseline="n_system")


def _with_cluster_errors(
    table: pl.DataFrame, differences: pl.DataFrame, pairs: Pairs
) -> pl.DataFrame:
    """Return mean differences with the errors of clusters of units: `n / (n - 1) * sum_c (sum of deviations)^2`.

    n is the effective number of clusters, and `n_system` becomes the number of clusters.
    """
    test, d = pairs.test, pl.col("d")
    deviations = differences.drop_nulls("d").with_columns(
        D=(d - d.mean().over(test)) / d.count().over(test)
    )
    clusters = deviations.group_by(*test, "cluster").agg(pl.col("D").sum(), size=pl.len())
    n = effective_clusters(pl.col("size").cast(pl.Float64))
    errors = clusters.group_by(test).agg(
        n=n, squares=(pl.col("D") ** 2).sum(), clusters=pl.len().cast(pl.Int64)
    )
    n = pl.col("n")
    variance = pl.when(n > 1).then(pl.col("squares") * n / (n - 1))
    is_constant = pl.col("spread") == 0
    table = table.join(errors, on=test, how="left", nulls_equal=True)
    error = pl.when(is_constant & (n > 1)).then(0.0).otherwise(variance.sqrt())
    return table.with_columns(
        standard_error=error, df=n - 1, n_system=pl.col("clusters").fill_null(0)
    )


def sign_flips(table: pl.DataFrame, differences: pl.DataFrame, comparison: Comparison) -> Array:
    """Return the p-values of sign flips, for each test of the table.

    With n nonzero differences, p is the share of the 2^n sign flips whose |sum| is at least that of
    the data; of a one-sided test, whose sum is. If n exceeds 20, it is `(1 + c) / (1 + resamples)`
    with the number c of such flips among those drawn. The flip of a unit depends only on the seed
    and on its number. `differences`: a row per test and unit, `d` and `unit`.
    """
    import numpy as np

    number = table.select(comparison.pairs.test).with_row_index("number")
    rows = differences.join(number, on=comparison.pairs.test, nulls_equal=True)
    units = rows["unit"].to_numpy()
    matrix = np.zeros((len(table), units.max(initial=-1) + 1))
    matrix[rows["number"].to_numpy(), units] = rows["d"].fill_null(0.0)
    is_one_sided = comparison.hypothesis.alternative != "two-sided"
    if comparison.hypothesis.alternative == "less":
        matrix = -matrix

    p = np.ones(len(table))
    is_small = np.count_nonzero(matrix, axis=1) <= _EXACT
    if is_small.any():
        p[is_small] = _all_flips(matrix[is_small], is_one_sided)
    if not is_small.all():
        p[~is_small] = _drawn_flips(
            matrix[~is_small], comparison.resamples, comparison.seed, is_one_sided
        )
    return p


def _all_flips(differences: Array, is_one_sided: bool) -> Array:
    """Return the share of all sign flips that are at least as extreme as the data."""
    import numpy as np

    # The nonzero differences come first.
    order = np.argsort(differences == 0, axis=1, kind="stable")
    differences = np.take_along_axis(differences, order, axis=1)
    most = max(int(np.count_nonzero(differences, axis=1).max()), 1)
    place = np.arange(most)[:, None]
    # A two-sided test may keep the last sign: all flips of all signs have the same |sum|.
    flips = 2**most if is_one_sided else 2 ** (most - 1)

    def bits_of(start: int, end: int) -> Any:
        return np.arange(start, end) >> place & 1

    counts = _count_flips(differences[:, :most], flips, bits_of, is_one_sided)
    share: Array = counts / flips
    return share


def _drawn_flips(differences: Array, resamples: int, seed: int, is_one_sided: bool) -> Array:
    """Return the share of drawn sign flips, and the data, that are at least as extreme as the data."""
    import numpy as np

    # Bits are drawn unit by unit, so that a p-value does not depend on other groups.
    length = -(-resamples // 8)
    random = np.random.default_rng(seed).bytes(length * differences.shape[1])
    bits = np.frombuffer(random, dtype=np.uint8).reshape(differences.shape[1], length)

    def bits_of(start: int, end: int) -> Any:
        some = bits[:, start // 8 : -(-end // 8)]
        return np.unpackbits(some, axis=1, count=end - start)

    counts = _count_flips(differences, resamples, bits_of, is_one_sided)
    share: Array = (1 + counts) / (1 + resamples)
    return share


def _count_flips(
    differences: Array, flips: int, bits_of: Callable[[int, int], Any], is_one_sided: bool
) -> Array:
    """Count the flips whose |sum|, or sum, is at least that of the data. `bits_of`: the signs in a range of flips."""
    import numpy as np

    total = differences.sum(axis=1)
    # Rounding must not hide a sum that is equal to that of the data.
    slack = 1e-12 * abs(differences).sum(axis=1)
    least = (total if is_one_sided else abs(total)) - slack
    counts = np.zeros(len(differences))
    step = max(_SIGNS_AT_ONCE // max(differences.shape) // 8 * 8, 8)
    for start in range(0, flips, step):
        signs = 1.0 - 2.0 * bits_of(start, min(start + step, flips))
        sums = differences @ signs
        sizes = sums if is_one_sided else abs(sums)
        counts += (sizes >= least[:, None]).sum(axis=1)
    return counts


# rows
# -------------------------------------------------------------------------------------------------


def compare_rows(comparison: Comparison) -> pl.DataFrame:
    """Compare scores of the same rows, or values of the same clusters, by Student's t.

    The variance of a difference is the sum of the squared differences of D, corrected for the size
    of the sample.
    """
    if comparison.sample.clustered:
        table = _differences_of_clusters(comparison)
    else:
        table = _differences_of_rows(comparison)
    return _tested(table, comparison, "paired t")


def compare_by_delong(comparison: Comparison) -> pl.DataFrame:
    """Compare ROC AUC of scores of the same rows by the normal distribution, as DeLong's test does."""
    table = _differences_of_rows(comparison)
    df = pl.when(pl.col("df") > 0).then(float("inf"))
    return _tested(table.with_columns(df=df), comparison, "DeLong")


def _tested(table: pl.DataFrame, comparison: Comparison, name: str) -> pl.DataFrame:
    """Return the table with bounds and p-values."""
    method = pl.format(f"{name} over {{}} {comparison.noun}", "n_system")
    table = table.with_columns(n_baseline="n_system", method=method)
    return with_t_test(table, comparison.hypothesis)


def _differences_of_rows(comparison: Comparison) -> pl.DataFrame:
    """Return the differences of scores of independent rows; of a mean over fixed groups, the mean of theirs."""
    rows = comparison.rows
    systems = comparison.pairs.names.name
    of_groups = [name for name in rows.output.key_columns.values() if name != systems]
    pairs = comparison.pairs._replace(on=[*of_groups, "m"])
    estimates = pairs.with_places(rows.restored(rows.groups))
    influences = pairs.with_places(rows.restored(rows.influences_of_groups()))

    square, is_positive = (pl.col("D") - pl.col("base D")) ** 2, pl.col("has_positive")
    sums = pairs.both(influences, "cluster").group_by(pairs.test)
    squares = sums.agg(
        n_system=pl.len().cast(pl.Int64),
        p=is_positive.sum().cast(pl.Int64),
        squares=square.sum(),
        of_positives=square.filter(is_positive).sum(),
    )
    both = pairs.both(estimates).join(squares, on=pairs.test, how="left", nulls_equal=True)
    df = pl.min_horizontal("df", "base df")
    # Where the D of each label sum to 0, each label is a sample of its own.
    by_class = [m for m, metric in enumerate(rows.metrics) if metric.by_class]
    p, n = pl.col("p"), pl.col("n_system") - pl.col("p")
    of_positives = pl.col("of_positives")
    of_labels = of_positives * p / (p - 1) + (pl.col("squares") - of_positives) * n / (n - 1)
    of_rows = pl.col("squares") * (df + 1) / df
    variance = pl.when(pl.col("m").is_in(by_class)).then(of_labels).otherwise(of_rows)
    units = pl.col("n_system").fill_null(pl.min_horizontal("units", "base units"))
    table = _differences(both.with_columns(n_system=units), variance, df)
    return _mean_differences(table, comparison.pairs.test) if rows.averaged else table


def _mean_differences(table: pl.DataFrame, test: list[str]) -> pl.DataFrame:
    """Return the means of the differences of fixed groups, whose variances and degrees of freedom add up."""
    has_value = pl.col("difference").is_not_null()
    n = has_value.sum()
    error = pl.col("standard_error")
    is_complete = (error.count() == n) & (n > 0)
    means = ("value_baseline", "value_system", "difference")
    return table.group_by(test).agg(
        pl.col(*means).mean(),
        pl.col("df").filter(has_value).sum(),
        pl.col("n_system").sum(),
        undefined=(~has_value).sum().cast(pl.Int64),
        standard_error=pl.when(is_complete).then((error**2).sum().sqrt() / n),
    )


def _differences_of_clusters(comparison: Comparison) -> pl.DataFrame:
    """Return the differences of values over clusters. A cluster that one side lacks has no influence on its value."""
    rows, pairs = comparison.rows, comparison.pairs
    estimates = pairs.with_places(rows.estimates())
    influences = pairs.with_places(
        rows.influences().select(*pairs.on, pairs.names.name, "cluster", "D")
    )
    clusters = influences.select(*pairs.on, "cluster").unique()
    on = [name for name in pairs.on if name in pairs.table.columns]
    of_pairs = clusters.join(pairs.table, on=on, nulls_equal=True)
    both = pairs._replace(table=of_pairs).both(influences, "cluster", how="left")
    both = both.filter(pl.col("D").is_not_null() | pl.col("base D").is_not_null())
    difference = pl.col("D").fill_null(0.0) - pl.col("base D").fill_null(0.0)
    squares = both.group_by(pairs.test).agg(
        n_system=pl.len().cast(pl.Int64), squares=(difference**2).sum()
    )
    table = pairs.both(estimates).join(squares, on=pairs.test, how="left", nulls_equal=True)
    df = pl.min_horizontal("df", "base df")
    has_errors = pl.col("error").is_not_null() & pl.col("base error").is_not_null()
    variance = pl.when(has_errors).then(pl.col("squares") * (df + 1) / df)
    units = pl.col("n_system").fill_null(pl.min_horizontal("units", "base units"))
    return _differences(table.with_columns(n_system=units), variance, df)


def _differences(both: pl.DataFrame, variance: pl.Expr, df: pl.Expr) -> pl.DataFrame:
    """Return the differences of both values, with these variances. An error of the size of rounding is 0."""
    a, b = pl.col("base value"), pl.col("value")
    has_both = a.is_not_null() & b.is_not_null()
    error = variance.fill_nan(None).clip(lower_bound=0.0).sqrt()
    noise = TIE * pl.max_horizontal(a.abs(), b.abs())
    error = pl.when(error > noise).then(error).otherwise(0.0 * error)
    return both.with_columns(
        undefined=1 - has_both.cast(pl.Int64),
        value_baseline=pl.when(has_both).then(a),
        value_system=pl.when(has_both).then(b),
        difference=difference_of(a, b),
        standard_error=pl.when((df > 0) & has_both).then(error),
        df=pl.when(df > 0).then(df),
    )
