"""Weights, gains and counts.

Columns that are summed over rows, how they are represented, and their validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.kinds import collected
from frame_pr.frames.messages import pluralize, shown

_BITS = 118
"""Bits of the sum of all float weights; a hundred times this sum still fits an Int128."""
_PRECISION = 40
"""Bits that the smallest weight keeps at least: a relative error of 1e-12."""
_ENDS = 1e-100, 1e100
"""The range of weights, in addition to 0."""


class CumulativeCount(NamedTuple):
    """The names of the columns with a count of positives or rows, or their weights."""

    block: str
    """In a single block."""
    upto: str
    """In the group, up to the end of the block."""
    total: str
    """In the whole group."""
    run: str
    """Cumulative over the whole column, across groups."""


WEIGHT_COLUMNS = ("weight", "gain")
"""The columns that a caller may pass for each row, in addition to its count."""
_LARGEST_SUM = 2**56
GAINS = ("gain", "hit_gain")
"""The gains of all rows, and of positives."""
EXTRA_SUMS = (*GAINS, "judged", "unjudged")
"""The sums over the rows of a block. Only `unjudged` is cumulative down the ranking, too."""


HITS = CumulativeCount("hits", "tp", "positives", run="tp_run")
ROWS = CumulativeCount("size", "k", "rows", run="k_run")
CUMULATIVE_COUNTS = (HITS, ROWS)
UNJUDGED = CumulativeCount("unjudged", "unjudged_k", "unjudged_rows", run="unjudged_run")
"""Rows whose label is missing and filled by `unjudged="negative"`."""


class Weights(NamedTuple):
    """The weights or the gains of rows."""

    name: str | None = None
    """The caller's column, which becomes `weight` or `gain`; without one, each row counts as 1."""
    fractional: bool = False
    """Whether they are floats.

    Sums of floats depend on their order, and differences of such sums may be below 0. So all
    weighted counts are whole numbers of units, and become floats after the last subtraction.
    """
    option: str = "weight"
    """The option that the column comes from."""
    unit: float = 1.0
    """How many units make 1, a power of 2, if they are floats."""

    @property
    def ranks(self) -> bool:
        """Return whether rank k has a meaning."""
        return self.name is None

    @property
    def dtype(self) -> pl.DataType:
        """Return the dtype of known sums."""
        return pl.Float64() if self.fractional else pl.Int64()

    def in_units(self, weight: pl.Expr) -> pl.Expr:
        """Return a weight as a whole number of units."""
        if not self.fractional:
            return weight
        return (weight * self.unit).cast(pl.Int128)

    def from_units(self, count: pl.Expr) -> pl.Expr:
        """Return a number of units as a weight."""
        if not self.fractional:
            return count
        # With the cast of `ratio`, which polars then computes once.
        return count.cast(pl.Float64) / self.unit

    def with_unit(
        self, argument: str, ends: pl.LazyFrame, totals: Sequence[pl.LazyFrame] = ()
    ) -> Weights:
        """Return the weights with a unit in which their sum, and known totals, just fit.

        `ends`: those of the weights; see `ends_of`. Raise if the smallest weight would keep too few
        bits.
        """
        if not self.fractional:
            return self
        least, bound = collected(ends).row(0)
        largest = [total.select(pl.exclude("group").max()).collect().item() for total in totals]
        bound = max([bound, *filter(None, largest)])
        unit = float(2.0 ** (_BITS - frexp(bound or 1.0)[1]))
        if least is not None and least * unit < 2**_PRECISION:
            raise ValueError(
                f"{argument} column {shown(self.name)} has a value of {least!r} next to "
                f"{argument}s or totals so much larger that sums would not be exact: drop the "
                "smallest, or multiply those of each group by a constant"
            )
        return self._replace(unit=unit)


def ends_of(rows: pl.LazyFrame, column: str, *, has_counts: bool) -> pl.LazyFrame:
    """Return `least`, the smallest positive weight of rows, and `bound`, no less than their sum."""
    weight = pl.col(column)
    height = pl.col("count").sum() if has_counts else pl.len()
    bound = (weight.max() * height).fill_null(0.0)
    return rows.select(least=weight.filter(weight > 0).min(), bound=bound)


def check_counts(name: str, counts: pl.Series) -> None:
    """Check that counts are integers of at least 0, none is missing, and their sum fits."""
    if _surely_fit(counts) and not counts.null_count():
        return
    column = f"count column {shown(name)}"
    floats = counts.cast(pl.Float64).fill_nan(None)
    _refuse_missing(column, floats.is_null(), "fill them, 0 stands for no row")
    refuse_values(
        column,
        counts,
        (floats < 0) | (floats % 1 != 0) | floats.is_infinite(),
        "a row stands for a whole number of rows, 0 or more; weight= takes others",
    )
    if _sum_is_too_large(counts):
        raise ValueError(f"{column} sums up to more than 2**56 rows: evaluate the frame in parts")


def check_weights(
    argument: str, name: str, weights: pl.Series, truth: pl.Series, counts: pl.Series | None = None
) -> None:
    """Check that weights, or gains, are finite and not negative.

    A gain may be missing if the label is.
    """
    fits = counts is None and _surely_fit(weights)
    if fits and not weights.null_count():
        return
    column = f"{argument} column {shown(name)}"
    is_whole = weights.dtype.is_integer()
    floats = weights if is_whole else weights.cast(pl.Float64).fill_nan(None)
    missing = floats.is_null()
    way = "fill them, 0 leaves out"
    if argument == "gain":
        missing &= truth.is_not_null()
        if truth.dtype.is_float():
            missing &= truth.is_not_nan()
        way = "fill them where there is a truth, 0 is worth nothing"
    _refuse_missing(column, missing, way)
    if fits:
        return
    is_bad = (floats < 0) | floats.is_infinite()
    refuse_values(column, weights, is_bad, f"{argument}s are finite, and 0 or more")
    if not is_whole:
        refuse_values(
            column,
            weights,
            (floats > 0) & ~floats.is_between(*_ENDS),
            "multiply it by a constant, so that all lie between 1e-100 and 1e100, which changes no "
            "share",
        )
    elif _sum_is_too_large(weights, counts):
        raise ValueError(f"{column} sums up to more than 2**56: cast it to Float64")


def _refuse_missing(column: str, is_missing: pl.Series, way: str) -> None:
    """Check that no number is missing. `way`: what to do about those."""
    missing = is_missing.sum()
    if missing:
        of_all = pluralize(len(is_missing), "value", "values")
        raise ValueError(f"{column} has {missing} missing of {of_all}: {way}")


def refuse_values(column: str, numbers: pl.Series, is_bad: pl.Series, advice: str) -> None:
    """Check that no number is bad."""
    bad = numbers.filter(is_bad)
    if bad.len():
        raise ValueError(f"{column} holds {shown(bad[0])}: {advice}")


def _surely_fit(numbers: pl.Series) -> bool:
    """Return whether the ends of integers show that all are at least 0, and that their sum fits.

    Most columns do so. For 2M rows, this takes 0.5 ms in place of 12.
    """
    if not numbers.dtype.is_integer():
        return False
    low: Any = numbers.min()
    high: Any = numbers.max()
    return bool(low is not None and low >= 0 and high * len(numbers) <= _LARGEST_SUM)


def _sum_is_too_large(numbers: pl.Series, counts: pl.Series | None = None) -> bool:
    """Return whether whole numbers, each times its count, sum up to more than 2**56."""
    each = numbers.cast(pl.Int128, strict=False)
    about = numbers.cast(pl.Float64)
    if counts is not None:
        each = each * counts.cast(pl.Int128)
        about = about * counts.cast(pl.Float64)
    # In floats for sums that an Int128 does not hold.
    return bool(about.sum() > 2 * _LARGEST_SUM or each.sum() > _LARGEST_SUM)


def with_class_weights(
    rows: pl.LazyFrame, share: float | pl.LazyFrame, number: pl.Expr
) -> pl.LazyFrame:
    """Give rows the `weight` by which positives have this share of the rows of their group.

    Rows of weight 0 are `dropped`: those that do not count, and those of a group that lacks
    positives or negatives. `share`: a number, or `group` and `prevalence`. `number`: how many rows
    a row stands for.
    """
    positives = pl.col("positives")
    total = pl.col("rows")
    counts = rows.select("group", rows=number, positives=pl.col("truth") * number)
    groups = counts.group_by("group").agg(pl.all().sum())
    if isinstance(share, pl.LazyFrame):
        groups = groups.join(share, on="group", how="left")
    else:
        groups = groups.with_columns(prevalence=pl.lit(share))

    target = pl.col("prevalence")
    has_both = (positives > 0) & (positives < total)
    of_positive = target * total / positives
    of_negative = (1 - target) * total / (total - positives)
    # For each group, not each row: average precision of 1M rows then takes 0.88 of the time.
    weights = groups.select(
        "group",
        of_positive=pl.when(has_both).then(of_positive).otherwise(0.0),
        of_negative=pl.when(has_both).then(of_negative).otherwise(0.0),
    )
    rows = rows.drop("prevalence", strict=False)
    rows = rows.join(weights, on="group", how="left", maintain_order="left")
    weight = pl.when("truth").then("of_positive").otherwise("of_negative")
    rows = rows.with_columns(weight=pl.when(number > 0).then(weight).otherwise(0.0))
    rows = rows.drop("of_positive", "of_negative")
    return rows.with_columns(dropped=pl.col("weight") == 0)
