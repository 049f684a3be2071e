"""Weights, gains and counts.

Columns that are summed over rows, how they are represented, and their validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import Any, NamedTuple

import polars as pl

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

    name: str | None
    """The caller's column, which becomes `weight` or `gain`; without one, each row counts as 1."""
    fractional: bool
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
        self,
        rows: pl.LazyFrame,
        argument: str,
        *,
        has_counts: bool,
        totals: Sequence[pl.LazyFrame] = (),
        unit: float | None = None,
    ) -> Weights:
        """Return the weights with a unit in which their sum, and known totals, just fit.

        `unit`: this one, if it is known already.
        """
        if not self.fractional or unit is not None:
            return self._replace(unit=unit or 1.0)
        ends = ends_of(rows, argument, has_counts=has_counts)
        bound = max(ends["bound"].item(), largest_total(totals))
        return self._replace(unit=unit_of(ends["least"].item(), bound, argument, self.name))


def largest_total(totals: Sequence[pl.LazyFrame]) -> float:
    """Return the largest known total."""
    largest = [total.select(pl.exclude("group").max()).collect().item() for total in totals]
    return max((total for total in largest if total is not None), default=0.0)


def ends_of(rows: pl.LazyFrame, column: str, *, has_counts: bool) -> pl.DataFrame:
    """Return `least`, the smallest positive weight of rows, and `bound`, no less than their sum."""
    weight = pl.col(column)
    height = pl.col("count").sum() if has_counts else pl.len()
    bound = (weight.max() * height).fill_null(0.0)
    ends = rows.select(least=weight.filter(weight > 0).min(), bound=bound)
    return ends.collect(engine="in-memory")


def unit_of(least: float | None, bound: float, argument: str, name: str | None) -> float:
    """Return the power of 2 that is the unit of weights.

    Raise if the smallest one would keep too few bits.
    """
    unit = float(2.0 ** (_BITS - frexp(bound or 1.0)[1]))
    if least is not None and least * unit < 2**_PRECISION:
        raise ValueError(
            f"{argument} column {shown(name)} has a value of {least!r} next to {argument}s or "
            f"totals so much larger that "
            "sums would not be exact: drop the smallest, or multiply those of each group by a "
            "constant"
        )
    return unit


def check_counts(name: str, counts: pl.Series) -> None:
    """Check that counts are integers of at least 0, none is missing, and their sum fits."""
    if _surely_fit(counts):
        return
    column = f"count column {shown(name)}"
    floats = counts.cast(pl.Float64).fill_nan(None)
    missing = floats.null_count()
    if missing:
        of_all = pluralize(len(counts), "value", "values")
        raise ValueError(
            f"{column} has {missing} missing of {of_all}: fill them, 0 stands for no row"
        )

    bad = counts.filter((floats < 0) | (floats % 1 != 0) | floats.is_infinite())
    if bad.len():
        raise ValueError(
            f"{column} holds {shown(bad[0])}: a row stands for a whole number of rows, 0 or more; "
            f"weight= takes others"
        )
    if counts.cast(pl.Int128, strict=False).sum() > _LARGEST_SUM or floats.sum() > 2 * _LARGEST_SUM:
        raise ValueError(f"{column} sums up to more than 2**56 rows: evaluate the frame in parts")


def check_weights(
    argument: str, name: str, weights: pl.Series, truth: pl.Series, counts: pl.Series | None = None
) -> None:
    """Check that weights, or gains, are finite and not negative.

    A gain may be missing if the label is.
    """
    if counts is None and _surely_fit(weights):
        return
    column = f"{argument} column {shown(name)}"
    floats = weights.cast(pl.Float64).fill_nan(None)
    lacking = floats.is_null()
    if argument == "gain":
        lacking &= truth.is_not_null()
        if truth.dtype.is_float():
            lacking &= truth.is_not_nan()
    missing = lacking.sum()
    if missing:
        way = "fill them, 0 leaves out" if argument == "weight" else "fill them, 0 is worth nothing"
        where = "" if argument == "weight" else ", in rows that have a truth"
        raise ValueError(
            f"{column} has {missing} missing of "
            f"{pluralize(len(weights), 'value', 'values')}{where}: {way}"
        )

    bad = weights.filter((floats < 0) | floats.is_infinite())
    if bad.len():
        raise ValueError(
            f"{column} has values below 0 or infinite, such as {shown(bad[0])}: {argument}s are >= "
            f"0"
        )
    if weights.dtype.is_integer():
        # Exact, or in floats for sums that an Int128 does not hold.
        each = weights.cast(pl.Int128, strict=False)
        about = floats
        if counts is not None:
            each = each * counts.cast(pl.Int128)
            about = about * counts.cast(pl.Float64)
        if about.sum() > 2 * _LARGEST_SUM or each.sum() > _LARGEST_SUM:
            raise ValueError(f"{column} sums up to more than 2**56: cast it to Float64")
    elif (odd := weights.filter((floats > 0) & ~floats.is_between(*_ENDS))).len():
        raise ValueError(
            f"{column} has values such as {odd[0]!r}: multiply it by a constant, so that all lie "
            "between 1e-100 and 1e100, which changes no share"
        )


def _surely_fit(numbers: pl.Series) -> bool:
    """Return whether the ends of integers show that all are at least 0, and that their sum fits.

    Most columns do so.

    For 2M rows, this takes 0.5 ms in place of 12.
    """
    if not numbers.dtype.is_integer() or numbers.is_empty() or numbers.null_count():
        return False
    low: Any = numbers.min()
    high: Any = numbers.max()
    return bool(low >= 0 and high * len(numbers) <= _LARGEST_SUM)


def shares_of_positives(name: str, column: str, shares: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return prevalences as Float64, above 0 and below 1."""
    typed = shares.cast(dtype, strict=False)
    if (bad := shares.filter(~((typed > 0) & (typed < 1)).fill_null(False))).len():
        raise ValueError(
            f"{name} column {shown(column)} holds {shown(bad[0])}: a share of positives is above 0 "
            f"and below 1"
        )
    return typed.alias(name)


def class_counts(rows: pl.LazyFrame, *, has_counts: bool, drops: bool) -> pl.LazyFrame:
    """Count the rows and the positives of each group, without dropped rows."""
    count = pl.lit(1, dtype=pl.Int64)
    if has_counts:
        count = pl.col("count")
    if drops:
        count = pl.when("dropped").then(0).otherwise(count)

    counts = rows.select("group", rows=count, positives=pl.col("truth") * count)
    return counts.group_by("group").agg(pl.all().sum())


def class_weights(counts: pl.LazyFrame, share: float | pl.LazyFrame) -> pl.LazyFrame:
    """Compute the weights by which positives have this share of the rows of each group.

    They are 0 in a group that lacks positives or negatives. `share`: a number, or `group` and
    `prevalence`.
    """
    positives = pl.col("positives")
    total = pl.col("rows")
    if isinstance(share, pl.LazyFrame):
        target = pl.col("prevalence")
        counts = counts.join(share, on="group", how="left")
        counts = counts.map_batches(_refuse_no_share, schema=counts.collect_schema())
    else:
        target = pl.lit(share)

    has_both = (positives > 0) & (positives < total)
    of_positive = target * total / positives
    of_negative = (1 - target) * total / (total - positives)
    return counts.select(
        "group",
        of_positive=pl.when(has_both).then(of_positive).otherwise(0.0),
        of_negative=pl.when(has_both).then(of_negative).otherwise(0.0),
    )


def with_class_weights(rows: pl.LazyFrame, weights: pl.LazyFrame, *, drops: bool) -> pl.LazyFrame:
    """Give rows the `weight` of their class. Rows of weight 0 are dropped."""
    rows = rows.drop("prevalence", strict=False).join(
        weights, on="group", how="left", maintain_order="left"
    )
    weight = pl.when("truth").then("of_positive").otherwise("of_negative")
    if drops:
        weight = pl.when("dropped").then(0.0).otherwise(weight)
    rows = rows.with_columns(weight=weight).drop("of_positive", "of_negative")
    return rows.with_columns(dropped=pl.col("weight") == 0)


def _refuse_no_share(groups: pl.DataFrame) -> pl.DataFrame:
    missing = groups["prevalence"].null_count()
    if missing:
        raise ValueError(
            f"prevalence gives no share for {missing} of "
            f"{pluralize(groups.height, 'group', 'groups')}: every group of "
            "the frame needs one, under keys of the same type"
        )
    return groups
