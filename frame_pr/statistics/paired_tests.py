"""Paired tests: of systems over the same units, and over the rows of one test set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from frame_pr.frames.messages import shown, warn
from frame_pr.statistics.bounds import Array, columns_of
from frame_pr.statistics.comparison_table import TIE, Pairs, difference_of, with_t_test
from frame_pr.statistics.sampled_rows import SampledRows

_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_AT_ONCE = 2**21
"""Number of signs, and of sums, in memory."""
UNPAIRED = (
    "compare pairs the values of one group; for systems with different groups, such as two arms of an A/B test, give "
    "between='system'"
)


# units ----------------------------------------------------------------------------------------------------------------


def validate_shared(values: pl.DataFrame, pairs: Pairs) -> None:
    """Raise if two systems of a pair share no unit; warn if they share few. `values`: `place` and the unit, `row`."""
    place, row = values["place"].to_numpy(), values["row"].to_numpy()
    present = np.zeros((len(pairs.names), row.max(initial=0) + 1), dtype=bool)
    present[place, row] = True
    for a, b in pairs.table.select("a", "b").unique().sort("a", "b").iter_rows():
        number, of_a, of_b = (present[a] & present[b]).sum(), present[a].sum(), present[b].sum()
        share = f"systems {shown(pairs.names[a])} and {shown(pairs.names[b])} share"
        if not number and len(row):
            raise ValueError(f"{share} none of their groups: {UNPAIRED}")
        if number < min(of_a, of_b) / 2:
            warn(f"{share} {number} of their {of_a} and {of_b} groups, and only these are compared: {UNPAIRED}")


def differences_of_units(values: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return a row per test and unit: the difference `d`, null unless both systems have a value, and its `noise`.

    `values`: `place`, the columns in which pairs are equal, `unit` (its number in its key) and `value`.
    """
    test, units = [*pairs.on, "a", "b"], values.select(*pairs.on, "unit").unique()
    both = pairs._replace(table=units.join(pairs.table, on="m")).both(values, "unit", how="left").sort(*test, "unit")
    x, y, noise = pl.col("base value"), pl.col("value"), pl.col("noise")
    both = both.with_columns(noise=TIE * pl.max_horizontal(x.abs(), y.abs()).max().over(test))
    return both.with_columns(d=pl.when((y - x).abs() < noise).then(0.0).otherwise(y - x))


def compare_units(both: pl.DataFrame, on: list[str], alpha: float) -> pl.DataFrame:
    """Test the means of the differences of units by Student's t."""
    d, n, noise = pl.col("d"), pl.col("d").count().cast(pl.Int64), pl.col("noise").first()
    signs = {"wins": d > 0, "equal": d == 0, "losses": d < 0}
    table = both.group_by(*on, "a", "b", maintain_order=True).agg(
        units_baseline=n,
        units_system=n,
        undefined=d.null_count().cast(pl.Int64),
        value_baseline=pl.col("base value").filter(d.is_not_null()).mean(),
        value_system=pl.col("value").filter(d.is_not_null()).mean(),
        difference=d.mean(),
        spread=pl.when(n > 1).then(pl.when(d.max() - d.min() < noise).then(0.0).otherwise(d.std())),
        df=n - 1,
        **{name: sign.sum().cast(pl.Int64) for name, sign in signs.items()},
    )
    spread = pl.col("spread")
    error, effect = spread / pl.col("units_system").sqrt(), pl.when(spread > 0).then(pl.col("difference") / spread)
    return with_t_test(table.with_columns(standard_error=error, effect_size=effect), alpha)


def with_sign_flips(table: pl.DataFrame, both: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Return the tests with p-values of sign flips. Without spread, p is 1 if all differences are 0, else null.

    With n nonzero differences, p is the share of the 2^n sign flips whose |sum| is at least that of the data. If n
    exceeds 20, it is `(1 + c) / (1 + resamples)` with the number c of such flips among those drawn. The flip of a unit
    depends only on the seed and on its number.
    """
    sizes, unit = (table["units_system"] + table["undefined"]).to_numpy(), both["unit"].to_numpy()
    differences = np.zeros((len(sizes), unit.max(initial=-1) + 1))
    differences[np.repeat(np.arange(len(sizes)), sizes), unit] = both["d"].fill_null(0.0)
    p, numbers = np.ones(len(sizes)), np.count_nonzero(differences, axis=1)
    exact, drawn = differences[numbers <= _EXACT], differences[numbers > _EXACT]
    if len(exact):
        # The nonzero ones first. All flips of all signs have the same |sum|: the last sign stays.
        exact = np.take_along_axis(exact, np.argsort(exact == 0, axis=1, kind="stable"), axis=1)
        exact = exact[:, : max(int(np.count_nonzero(exact, axis=1).max()), 1)]
        place, flips = np.arange(exact.shape[1])[:, None], 2 ** (exact.shape[1] - 1)
        p[numbers <= _EXACT] = _count_flips(exact, flips, lambda start, end: np.arange(start, end) >> place & 1) / flips
    if len(drawn):
        # Bits are drawn unit by unit, so that a p-value does not depend on other groups.
        length = -(-resamples // 8)
        random = np.random.default_rng(seed).bytes(length * drawn.shape[1])
        bits = np.frombuffer(random, dtype=np.uint8).reshape(drawn.shape[1], length)

        def bits_of(start: int, end: int) -> Any:
            return np.unpackbits(bits[:, start // 8 : -(-end // 8)], axis=1, count=end - start)

        p[numbers > _EXACT] = (1 + _count_flips(drawn, resamples, bits_of)) / (1 + resamples)
    p_value = pl.when(pl.col("spread") > 0).then(columns_of(p_value=p)[0]).otherwise("p_value")
    return table.with_columns(p_value=p_value)


def _count_flips(differences: Array, flips: int, bits_of: Callable[[int, int], Any]) -> Array:
    """Count the flips whose |sum| is at least that of the data. `bits_of`: the signs in a range of flips."""
    # Rounding must not hide a sum that is equal to that of the data.
    least = abs(differences.sum(axis=1)) - 1e-12 * abs(differences).sum(axis=1)
    counts, step = np.zeros(len(differences)), max(_AT_ONCE // max(differences.shape) // 8 * 8, 8)
    for start in range(0, flips, step):
        signs = 1.0 - 2.0 * bits_of(start, min(start + step, flips))
        counts += (abs(differences @ signs) >= least[:, None]).sum(axis=1)
    return counts


# rows -----------------------------------------------------------------------------------------------------------------


def compare_rows(
    rows: SampledRows[Any], estimates: pl.DataFrame, influences: pl.DataFrame, pairs: Pairs, alpha: float
) -> pl.DataFrame:
    """Compare the scores of the rows of one test set, or of its clusters, in each group.

    The variance of a difference is the sum of the squared differences of D, corrected for the size of the sample. Where
    the D of the positives sum to 0, and so those of the negatives, each label is a sample of its own. Infinite degrees
    of freedom give the test of the normal distribution.
    """
    test = [*pairs.on, "a", "b"]
    square, positive = (pl.col("D") - pl.col("base D")) ** 2, pl.col("has_positive")
    squares = (
        pairs.both(influences, "cluster")
        .group_by(test)
        .agg(
            units_system=pl.len().cast(pl.Int64),
            p=positive.sum().cast(pl.Int64),
            squares=square.sum(),
            of_positives=square.filter(positive).sum(),
        )
    )
    both = pairs.both(pairs.with_places(estimates)).join(squares, on=test, how="left", nulls_equal=True)
    a, b, units, p = pl.col("base value"), pl.col("value"), pl.col("units_system"), pl.col("p")
    total, of_positives, n = pl.col("squares"), pl.col("of_positives"), units - p
    df = units - 1 if rows.clustered else pl.min_horizontal("df", "base df")
    of_labels = of_positives * p / (p - 1) + (total - of_positives) * n / (n - 1)
    by_class = [m for m, metric in enumerate(rows.metrics) if metric.by_class and not rows.clustered]
    variance = pl.when(pl.col("m").is_in(by_class)).then(of_labels).otherwise(total * (df + 1) / df)
    error, noise = variance.clip(lower_bound=0.0).sqrt(), TIE * pl.max_horizontal(a.abs(), b.abs())
    has_both = a.is_not_null() & b.is_not_null()
    table = both.with_columns(
        units_baseline=units,
        undefined=1 - has_both.cast(pl.Int64),
        value_baseline=pl.when(has_both).then(a),
        value_system=pl.when(has_both).then(b),
        difference=difference_of(a, b),
        standard_error=pl.when(df > 0).then(pl.when(error > noise).then(error).otherwise(0.0 * error)),
        df=pl.when(df > 0).then(df),
    )
    return with_t_test(table, alpha)
