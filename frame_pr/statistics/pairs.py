"""What a comparison tests: pairs of systems, the hypothesis, and corrections for many tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.messages import did_you_mean, examples, nearest, shown
from frame_pr.inputs.values import label_of
from frame_pr.statistics import bounds
from frame_pr.statistics.bootstrap import Draws
from frame_pr.statistics.bounds import Array, array_of, columns_of
from frame_pr.statistics.sampled_rows import Method, Sample
from frame_pr.statistics.units import Evaluation

TIE = 2.0**-44
"""A smaller difference is a rounding error, as a share of the largest value."""
RESULTS = ("metric", "baseline", "system", "difference", "low", "high")
"""The columns of a comparison after the keys. One of the p-values follows."""
_FLOAT = pl.Float64()
_COUNT = pl.Int64()
NUMBERS: Mapping[str, pl.DataType] = {
    "difference": _FLOAT,
    "low": _FLOAT,
    "high": _FLOAT,
    "p_value": _FLOAT,
}
"""The numbers of a comparison."""
DETAILS: Mapping[str, pl.DataType] = {
    "method": pl.String(),
    "value_baseline": _FLOAT,
    "value_system": _FLOAT,
    "standard_error": _FLOAT,
    "effect_size": _FLOAT,
    "n_baseline": _COUNT,
    "n_system": _COUNT,
    "undefined": _COUNT,
    "wins": _COUNT,
    "equal": _COUNT,
    "losses": _COUNT,
    "level": _FLOAT,
}
"""The columns that `details=True` adds. A number is null where a test does not give it."""


class Hypothesis(NamedTuple):
    """The hypothesis of a test, and the confidence level of the bounds of a difference."""

    confidence: float
    sign: int = 0
    """The sign of the differences that a small p-value speaks for; 0 for both."""
    margin: float = 0.0
    """How far a difference may lie on the wrong side of 0: a test of non-inferiority."""

    @property
    def null_value(self) -> float:
        """Return the difference that is tested against."""
        return -self.sign * self.margin

    @property
    def alpha(self) -> float:
        """Return the error rate of both bounds together: twice that of the bound of one side."""
        return (1 - self.confidence) * (2 if self.sign else 1)

    def tested(
        self, low: Array, high: Array, two_sided: Array, difference: Array, is_exact: Any
    ) -> list[pl.Series]:
        """Return `low`, `high` and `p_value`, from the bounds and the p-value of both sides.

        A difference without an error, `is_exact`, has the p-value 0 or 1, and one without bounds
        has none. The bound of the other side of the alternative is infinite.
        """
        import numpy as np

        distance = difference - self.null_value
        speaks_for = distance != 0
        p = two_sided
        if self.sign:
            speaks_for = distance * self.sign > 0
            p = np.where(speaks_for, p / 2, 1 - p / 2)
        p = np.where(is_exact, np.where(speaks_for, 0.0, 1.0), p)
        p = np.where(np.isnan(low), np.nan, p)
        if self.sign > 0:
            high = low * 0 + float("inf")
        if self.sign < 0:
            low = high * 0 - float("inf")
        return columns_of(low=low, high=high, p_value=p)


class Call(NamedTuple):
    """The arguments of a call of `compare`."""

    what: Evaluation
    baseline: Any
    paired: bool | None
    method: Method | None
    test: str
    hypothesis: Hypothesis
    correction: Literal["holm", "bh"] | None
    details: bool
    draws: Draws
    frames: Sequence[str] = ()
    """The names of the frames of a dict."""


class Pairs(NamedTuple):
    """The pairs of systems, or groups, that are compared."""

    names: pl.Series
    """The names of the systems in their order, called like the column that holds them."""
    on: list[str]
    """The columns in which both systems of a pair are equal: the keys, and `m`."""
    table: pl.DataFrame
    """The places `a` and `b` of both names, for each combination of the columns `on`."""

    @property
    def test(self) -> list[str]:
        """Return the columns that tell tests apart."""
        return [*self.on, "a", "b"]

    def with_places(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with `place`, that of the name of its system, instead of the name."""
        places = self.names.to_frame().with_row_index("place")
        return table.join(places, on=self.names.name, nulls_equal=True).drop(self.names.name)

    def within(self, table: pl.DataFrame, on: list[str]) -> Pairs:
        """Return the pairs for each combination of more columns in which both are equal."""
        keys = table.select(on).unique()
        return self._replace(on=on, table=keys.join(self.table, on=self.on, nulls_equal=True))

    def side(self, table: pl.DataFrame, place: str) -> pl.DataFrame:
        """Join the rows of one system of each pair, whose place is the column `a` or `b`."""
        return self.table.join(
            table,
            left_on=[*self.on, place],
            right_on=[*self.on, "place"],
            how="left",
            nulls_equal=True,
        )

    def both(self, table: pl.DataFrame, *more: str) -> pl.DataFrame:
        """Join the rows of both systems to each pair; columns of the baseline begin with `base `.

        `table`: the name of the system, the columns `on`, and `more` columns in which both systems
        are equal.
        """
        table = self.with_places(table)
        on = [*self.on, *more]
        base = table.rename(lambda name: name if name in (*on, "place") else f"base {name}")
        of_base = self._replace(table=self.side(base, "a"))
        return of_base._replace(on=on).side(table, "b")


class Comparison(NamedTuple):
    """What a test compares. A test returns a table with a row per key, metric and pair.

    Its columns are the keys, `m` (the place of the metric), `a` and `b` (the places of the baseline
    and the system), the `name` of the test, `value`, `units`, those of the baseline with `base `
    before them, and columns of `NUMBERS` and `DETAILS`.
    """

    sample: Sample
    pairs: Pairs
    call: Call


def pairs_of(
    systems: pl.DataFrame, on: list[str], baseline: int | Literal["previous"] | None
) -> pl.DataFrame:
    """Return the places `a` and `b` of each pair of systems that are equal in the columns `on`.

    `baseline`: the place of the only baseline; None: all pairs.
    """
    systems = systems.select(*on, b="place").unique()
    if baseline == "previous":
        before = systems.sort("b").with_columns(a=pl.col("b").shift().over(on))
        return before.drop_nulls("a")
    pairs = systems.join(systems.rename({"b": "a"}), on=on, nulls_equal=True)
    if baseline is None:
        return pairs.filter(pl.col("a") < pl.col("b"))
    return pairs.filter(pl.col("a") == baseline, pl.col("b") != baseline)


def baseline_place(
    names: pl.Series, baseline: Any, title: str, *, ordered: bool
) -> int | Literal["previous"]:
    """Return the place of the system, or group, that is named as baseline.

    `title`: what messages call the names. `ordered`: whether "previous" may stand for the group
    before, unless a group has this name.
    """
    places: list[int] = []
    with suppress(TypeError, ValueError):
        # The values of a pandas column that polars does not have are an Enum of their texts.
        value = str(baseline) if names.dtype == pl.Enum else baseline
        label = label_of("", names.dtype, value)
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
    difference = value - base
    noise = TIE * pl.max_horizontal(base.abs(), value.abs())
    return pl.when(difference.abs() <= noise).then(0.0).otherwise(difference)


def with_differences(both: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of values of different samples with their differences.

    Columns of the baseline begin with `base `.
    """
    return both.with_columns(
        difference=difference_of(pl.col("base value"), pl.col("value")),
        undefined=pl.col("base undefined") + pl.col("undefined"),
    )


def with_t_test(table: pl.DataFrame, hypothesis: Hypothesis, name: str) -> pl.DataFrame:
    """Return the table with the `name` of the test, bounds and p-values of Student's t.

    The bounds are `difference -+ t standard_error`. Without an error, a difference of 0 has the
    bounds 0 and 0, and any other difference has neither bounds nor a p-value. Infinite degrees of
    freedom give the normal distribution.
    """
    import numpy as np

    difference = array_of(table, "difference")
    error = array_of(table, "standard_error")
    df = array_of(table, "df")
    is_exact = (difference == 0) & (error == 0)
    error = np.where(error > 0, error, np.nan)

    quantile = bounds.t_quantile(hypothesis.alpha, df)
    reach = np.where(is_exact, 0.0, quantile * error)
    t = (difference - hypothesis.null_value) / error
    two_sided = 2 * bounds.scipy_special().stdtr(df, -abs(t))
    tested = hypothesis.tested(
        difference - reach,
        difference + reach,
        two_sided,
        difference,
        is_exact,
    )
    return table.with_columns(*tested, name=pl.lit(name))


def adjusted(p_values: Array, correction: str) -> Array:
    """Adjust p-values by Holm (1979), "holm", or Benjamini and Hochberg (1995), "bh"."""
    import numpy as np

    tested = ~np.isnan(p_values)
    result = p_values.copy()
    p = p_values[tested]
    if correction == "bh" and len(p):
        from scipy.stats import false_discovery_control  # Takes a second.

        result[tested] = false_discovery_control(p)
    if correction == "holm":
        factors = np.arange(len(p), 0, -1)
        steps = np.maximum.accumulate(np.sort(p) * factors)
        rank = p.argsort().argsort()
        result[tested] = np.minimum(steps, 1.0)[rank]
    return result
