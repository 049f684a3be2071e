"""Significance tests: pairs of systems or groups, paired tests over units or rows, and unpaired tests of groups.

Each test makes a table with a row per key, metric and pair: the keys, `m` (the place of the
metric), `a` and `b` (the places of the baseline and the system) and columns of `NUMBERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.messages import did_you_mean, examples, nearest, shown, warn
from frame_pr.inputs.values import label_of
from frame_pr.statistics import bounds
from frame_pr.statistics.bounds import Array, BoundsName, Estimates, array_of, columns_of
from frame_pr.statistics.samples import SampledRows

TIE = 2.0**-44
"""A smaller difference is a rounding error, as a share of the largest value."""
_COUNTS = ("units_baseline", "units_system", "undefined", "wins", "equal", "losses")
NUMBERS: Mapping[str, pl.DataType] = {
    name: pl.Int64() if name in _COUNTS else pl.Float64()
    for name in (
        *(
            "difference",
            "low",
            "high",
            "p_value",
            "value_baseline",
            "value_system",
            "standard_error",
        ),
        *(
            "units_baseline",
            "units_system",
            "undefined",
            "effect_size",
            "wins",
            "equal",
            "losses",
            "level",
        ),
    )
}
"""The numbers of a comparison, in the order of the result; null where a test does not give them."""
TEST_DETAILS = tuple(NUMBERS)[4:]
"""The numbers that `details=True` adds. Without them, polars prints all columns: it shows the first four and the last
four."""
_EXACT = 20
"""Up to this many nonzero differences, test all sign flips; for more, draw some at random."""
_SIGNS_AT_ONCE = 2**21
"""Number of signs, and of sums, in memory."""
UNPAIRED = (
    "compare pairs the values of one group; for systems with different groups, such as two arms of an A/B test, give "
    "between='system'"
)
_LARGEST_Z = 38.0
"""Beyond this z, the p-value is no float."""


class Pairs(NamedTuple):
    """The pairs of systems, or groups, that are compared."""

    names: pl.Series
    """The names of the systems in their order, called like the column that holds them."""
    on: list[str]
    """The columns in which both systems of a pair are equal: the keys, and `m`."""
    table: pl.DataFrame
    """The places of both names, `a` and `b`, for each combination of the columns `on`, or for each `m`."""

    def with_places(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with `place`, that of the name of its system, instead of the name."""
        places = self.names.to_frame().with_row_index("place")
        return table.join(places, on=self.names.name, nulls_equal=True).drop(self.names.name)

    def both(
        self, table: pl.DataFrame, *more: str, how: Literal["inner", "left"] = "inner"
    ) -> pl.DataFrame:
        """Join the rows of both systems to each pair. Columns of the baseline have the prefix `base `.

        `table`: `place`, the columns `on`, and `more` columns in which both systems are equal.
        """
        on = [*self.on, *more]
        of_pairs = [name for name in on if name in self.table.columns]
        base = table.rename(lambda name: name if name in on else f"base {name}")
        both = self.table.join(
            base,
            left_on=[*of_pairs, "a"],
            right_on=[*of_pairs, "base place"],
            how=how,
            nulls_equal=True,
        )
        return both.join(
            table, left_on=[*on, "b"], right_on=[*on, "place"], how=how, nulls_equal=True
        )


def pairs_of(
    systems: pl.DataFrame, on: list[str], baseline: int | Literal["previous"] | None
) -> pl.DataFrame:
    """Return the places `a` and `b` of each pair of systems that are equal in the columns `on`.

    `baseline`: the place of the only baseline; None: all pairs.
    """
    systems = systems.select(*on, b="place").unique()
    if baseline == "previous":
        return systems.sort("b").with_columns(a=pl.col("b").shift().over(on)).drop_nulls("a")
    pairs = systems.join(systems.rename({"b": "a"}), on=on, nulls_equal=True)
    a, b = pl.col("a"), pl.col("b")
    return pairs.filter(a < b) if baseline is None else pairs.filter(a == baseline, b != baseline)


def baseline_place(
    names: pl.Series, baseline: Any, title: str, *, ordered: bool
) -> int | Literal["previous"]:
    """Return the place of the system, or group, that is named as baseline. `title`: what messages call the names.

    `ordered`: whether "previous" may stand for the group before, unless a group has this name.
    """
    places: list[int] = []
    with suppress(TypeError, ValueError):
        # The values of a pandas column that polars does not have are an Enum of their texts.
        label = label_of("", names.dtype, str(baseline) if names.dtype == pl.Enum else baseline)
        places = pl.select((pl.lit(names) == label).arg_true()).to_series().to_list()
    if places:
        return places[0]
    if ordered and isinstance(baseline, str) and baseline == "previous":
        return "previous"
    near = nearest(baseline, names.drop_nulls()) if isinstance(baseline, str) else []
    hint = did_you_mean(near) if near else f"there are {examples(names)}"
    raise ValueError(f"baseline={shown(baseline)} is none of the {title}; {hint}")


def difference_of(base: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the value less that of the baseline; a rounding error counts as 0."""
    noise = TIE * pl.max_horizontal(base.abs(), value.abs())
    return pl.when((value - base).abs() <= noise).then(0.0).otherwise(value - base)


def with_t_test(table: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return the table with the bounds `difference -+ t standard_error` and the p-value of Student's t.

    Without an error, a difference of 0 has p = 1, and any other difference has neither bounds nor a
    p-value.
    """
    import numpy as np

    difference, error, df = (
        array_of(table, name) for name in ("difference", "standard_error", "df")
    )
    exact = (difference == 0) & (error == 0)
    error = np.where(error > 0, error, np.nan)
    reach = np.where(exact, 0.0, bounds.t_quantile(alpha, df) * error)
    # Infinite degrees of freedom give the normal distribution.
    p = np.where(exact, 1.0, 2 * bounds.scipy_special().stdtr(df, -abs(difference / error)))
    return table.with_columns(
        columns_of(low=difference - reach, high=difference + reach, p_value=p)
    )


def adjusted(p_values: Array, correction: str) -> Array:
    """Adjust p-values for many tests by Holm (1979), "holm", or Benjamini and Hochberg (1995), "bh"."""
    import numpy as np

    tested, result = ~np.isnan(p_values), p_values.copy()
    p = p_values[tested]
    if correction == "bh" and len(p):
        from scipy.stats import (
            false_discovery_control,
        )  # Takes a second, which other calls do not need.

        result[tested] = false_discovery_control(p)
    if correction == "holm":
        steps = np.maximum.accumulate(np.sort(p) * np.arange(len(p), 0, -1))
        result[tested] = np.minimum(steps, 1.0)[p.argsort().argsort()]
    return result


# paired units
# ---------------------------------------------------------------------------------------------------------


def differences_of_units(values: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return a row per test and unit: the difference `d`, null unless both systems have a value, and its `noise`.

    `values`: `place`, the columns in which pairs are equal, `unit` (its number in its key) and
    `value`.
    """
    test, units = [*pairs.on, "a", "b"], values.select(*pairs.on, "unit").unique()
    both = (
        pairs._replace(table=units.join(pairs.table, on="m"))
        .both(values, "unit", how="left")
        .sort(*test, "unit")
    )
    x, y, noise = pl.col("base value"), pl.col("value"), pl.col("noise")
    both = both.with_columns(noise=TIE * pl.max_horizontal(x.abs(), y.abs()).max().over(test))
    return both.with_columns(d=pl.when((y - x).abs() < noise).then(0.0).otherwise(y - x))


def validate_shared(both: pl.DataFrame, names: pl.Series) -> None:
    """Raise if two systems of a pair share no unit; warn if they share few. `both`: the differences of units."""
    has_base, has_system = pl.col("base row").is_not_null(), pl.col("row").is_not_null()
    sums = {
        "shared": (has_base & has_system).sum(),
        "of_a": has_base.sum(),
        "of_b": has_system.sum(),
    }
    counts = (
        both.filter(pl.col("m") == pl.col("m").first())
        .group_by("a", "b")
        .agg(**sums)
        .sort("a", "b")
    )
    for a, b, shared, of_a, of_b in counts.iter_rows():
        share = f"systems {shown(names[a])} and {shown(names[b])} share"
        if not shared:
            raise ValueError(f"{share} none of their groups: {UNPAIRED}")
        if shared < min(of_a, of_b) / 2:
            warn(
                f"{share} {shared} of their {of_a} and {of_b} groups, and only these are compared: {UNPAIRED}"
            )


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
    error, effect = (
        spread / pl.col("units_system").sqrt(),
        pl.when(spread > 0).then(pl.col("difference") / spread),
    )
    return with_t_test(table.with_columns(standard_error=error, effect_size=effect), alpha)


def with_sign_flips(
    table: pl.DataFrame, both: pl.DataFrame, resamples: int, seed: int
) -> pl.DataFrame:
    """Return the tests with p-values of sign flips. Without spread, p is 1 if all differences are 0, else null.

    With n nonzero differences, p is the share of the 2^n sign flips whose |sum| is at least that of
    the data. If n exceeds 20, it is `(1 + c) / (1 + resamples)` with the number c of such flips
    among those drawn. The flip of a unit depends only on the seed and on its number.
    """
    import numpy as np

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
        p[numbers <= _EXACT] = (
            _count_flips(exact, flips, lambda start, end: np.arange(start, end) >> place & 1)
            / flips
        )
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
    import numpy as np

    # Rounding must not hide a sum that is equal to that of the data.
    least = abs(differences.sum(axis=1)) - 1e-12 * abs(differences).sum(axis=1)
    counts, step = (
        np.zeros(len(differences)),
        max(_SIGNS_AT_ONCE // max(differences.shape) // 8 * 8, 8),
    )
    for start in range(0, flips, step):
        signs = 1.0 - 2.0 * bits_of(start, min(start + step, flips))
        counts += (abs(differences @ signs) >= least[:, None]).sum(axis=1)
    return counts


# rows of one test set
# -------------------------------------------------------------------------------------------------


def compare_rows(
    rows: SampledRows[Any],
    estimates: pl.DataFrame,
    influences: pl.DataFrame,
    pairs: Pairs,
    alpha: float,
) -> pl.DataFrame:
    """Compare the scores of the rows of one test set, or of its clusters, in each group.

    The variance of a difference is the sum of the squared differences of D, corrected for the size
    of the sample. Where the D of the positives sum to 0, and so those of the negatives, each label
    is a sample of its own. Infinite degrees of freedom give the test of the normal distribution.
    """
    test = [*pairs.on, "a", "b"]
    square, positive = (pl.col("D") - pl.col("base D")) ** 2, pl.col("has_positive")
    numbers = {"units_system": pl.len().cast(pl.Int64), "p": positive.sum().cast(pl.Int64)}
    sums = {"squares": square.sum(), "of_positives": square.filter(positive).sum()}
    squares = pairs.both(influences, "cluster").group_by(test).agg(**numbers, **sums)
    both = pairs.both(pairs.with_places(estimates)).join(
        squares, on=test, how="left", nulls_equal=True
    )
    a, b, units, p = pl.col("base value"), pl.col("value"), pl.col("units_system"), pl.col("p")
    total, of_positives, n = pl.col("squares"), pl.col("of_positives"), units - p
    df = units - 1 if rows.clustered else pl.min_horizontal("df", "base df")
    of_labels = of_positives * p / (p - 1) + (total - of_positives) * n / (n - 1)
    by_class = [
        m for m, metric in enumerate(rows.metrics) if metric.by_class and not rows.clustered
    ]
    variance = pl.when(pl.col("m").is_in(by_class)).then(of_labels).otherwise(total * (df + 1) / df)
    error, noise = (
        variance.fill_nan(None).clip(lower_bound=0.0).sqrt(),
        TIE * pl.max_horizontal(a.abs(), b.abs()),
    )
    has_both = a.is_not_null() & b.is_not_null()
    table = both.with_columns(
        units_baseline=units,
        undefined=1 - has_both.cast(pl.Int64),
        value_baseline=pl.when(has_both).then(a),
        value_system=pl.when(has_both).then(b),
        difference=difference_of(a, b),
        standard_error=pl.when(df > 0).then(
            pl.when(error > noise).then(error).otherwise(0.0 * error)
        ),
        df=pl.when(df > 0).then(df),
    )
    return with_t_test(table, alpha)


# groups of different rows or units
# ------------------------------------------------------------------------------------


def warn_of_pairs(values: pl.DataFrame, between: str) -> None:
    """Warn if units are in several of the groups that are compared. `values`: `place`, and the unit `row`."""
    groups = values.group_by("row").agg(n=pl.col("place").n_unique())["n"]
    if repeated := int((groups > 1).sum()):
        rename = "" if between == "system" else f"rename column {between} to system, and "
        warn(
            f"between: {repeated} of {len(groups)} units occur in several groups of {between}, and this test takes the "
            f"groups as independent. The paired test has more power: {rename}give system in by=, and no between="
        )


def _both(estimates: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return the estimates of both groups of each pair, those of the baseline with the prefix `base `."""
    a, b = pl.col("base value"), pl.col("value")
    return pairs.both(pairs.with_places(estimates)).with_columns(
        difference=difference_of(a, b),
        value_baseline=a,
        value_system=b,
        units_baseline="base units",
        units_system="units",
        undefined=pl.col("base undefined") + pl.col("undefined"),
    )


def compare_means(estimates: pl.DataFrame, pairs: Pairs, alpha: float) -> pl.DataFrame:
    """Apply Welch's t-test to the means of both groups."""
    a, b = pl.col("base error") ** 2, pl.col("error") ** 2
    df = (a + b) ** 2 / (a**2 / pl.col("base df") + b**2 / pl.col("df"))
    return with_t_test(
        _both(estimates, pairs).with_columns(standard_error=(a + b).sqrt(), df=df), alpha
    )


def compare_values(
    rows: SampledRows[Any],
    estimates: pl.DataFrame,
    influences: pl.DataFrame,
    pairs: Pairs,
    alpha: float,
) -> pl.DataFrame:
    """Combine the intervals of both values into that of the difference: Newcombe (1998), Zou and Donner (2008).

    The p-value is the largest alpha at which the interval contains 0, so both always agree.
    Clusters that are in both groups multiply the squared reach by a constant, the share of the
    variances that their covariance leaves: a reach that grows with the confidence gives one
    p-value.
    """
    import numpy as np

    both, kinds = _both(estimates, pairs), rows.bounds
    if rows.clustered:
        both = _with_products(both, influences, pairs)
    a, b, metric = Estimates.of(both, "base "), Estimates.of(both), both["m"].to_numpy()
    difference = array_of(both, "difference")
    with np.errstate(all="ignore"):
        total = sum(_implied_error(side, kinds, metric) ** 2 for side in (a, b))
        variance, share = total, np.ones(len(both))
        if rows.clustered:
            corrections = np.sqrt(a.units / (a.units - 1) * b.units / (b.units - 1))
            groups = array_of(both, "base groups") * array_of(both, "groups")
            variance = total - 2 * np.nan_to_num(array_of(both, "products")) * corrections / groups
            variance = np.where(variance > TIE * total, variance, 0.0 * total)
            # Without a variance, a difference other than 0 has no bounds.
            share = np.where(variance > 0, variance / total, np.where(difference == 0, 0.0, np.nan))

        def interval(alpha: float | Array) -> tuple[Array, Array]:
            """Return the bounds of the difference at error rates alpha."""
            (low_a, high_a), (low_b, high_b) = (
                bounds.bounds_of(kinds, metric, side, alpha) for side in (a, b)
            )
            below = np.sqrt(share * ((high_a - a.value) ** 2 + (b.value - low_b) ** 2))
            above = np.sqrt(share * ((a.value - low_a) ** 2 + (high_b - b.value) ** 2))
            return np.maximum(difference - below, -1.0), np.minimum(difference + above, 1.0)

        low, high = interval(alpha)
        p = _p_value_of_interval(interval, len(difference))
        p = np.where(np.isnan(low), np.nan, np.where(difference == 0, 1.0, p))
    return both.with_columns(
        columns_of(low=low, high=high, p_value=p, standard_error=np.sqrt(variance))
    )


def _p_value_of_interval(interval: Callable[[Array], tuple[Array, Array]], tests: int) -> Array:
    """Return the largest alpha at which the interval contains 0, by bisection of the normal quantile of alpha."""
    import numpy as np

    ndtr = bounds.scipy_special().ndtr

    def excludes_0(z: Array) -> Any:
        low, high = interval(2 * ndtr(-z))
        return ~((low <= 0) & (high >= 0))

    p: Array = 2 * ndtr(
        -bounds.bisected(excludes_0, np.zeros(tests), np.full(tests, _LARGEST_Z))[0]
    )
    return p


def _implied_error(side: Estimates, kinds: Sequence[BoundsName], metric: Any) -> Array:
    """Return the standard error; for a value of exactly 0 or 1, the one that its finite 95 % bound implies."""
    import numpy as np

    low, high = bounds.bounds_of(kinds, metric, side, 0.05)
    at_end = (side.value <= bounds.ROUNDING) | (side.value >= 1 - bounds.ROUNDING)
    return np.where(at_end, (high - low) / bounds.t_quantile(0.05, side.df), side.error)


def _with_products(both: pl.DataFrame, influences: pl.DataFrame, pairs: Pairs) -> pl.DataFrame:
    """Return the pairs with `products`, the sum of the products of both D of the clusters that are in both groups."""
    pair = [*pairs.on, "a", "b"]
    products = (
        pairs.both(influences, "cluster")
        .group_by(pair)
        .agg(products=(pl.col("base D") * pl.col("D")).sum())
    )
    return both.join(products, on=pair, how="left", nulls_equal=True)
