"""Weights and known totals: columns that are summed over rows, how they are represented, and their validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil, frexp, log2
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.columns import by_name, gather_rows, join_in_order, refuse_missing
from frame_pr.frames.kinds import find_kind
from frame_pr.frames.messages import kind_of_value, pluralize, shown
from frame_pr.inputs.keys import Coding
from frame_pr.inputs.values import keyed_value

_BITS = 118
"""Bits of the sum of all float weights of a group; a hundred times this sum still fits an Int128."""
_PRECISION = 40
"""Bits that the smallest weight keeps at least: a relative error of 1e-12."""
_DIGITS = 53
"""Bits of a float."""
_ENDS = 1e-100, 1e100
"""The range of weights, in addition to 0."""


class CumulativeCount(NamedTuple):
    """The names of the columns with a count of positives or rows, or with the sum of their weights."""

    block: str
    """In a single block."""
    upto: str
    """In the group, up to the end of the block."""
    total: str
    """In the whole group."""
    run: str
    """Cumulative over the whole column, across groups."""
    before: str
    """At the scores above the range, if the group is a range of the scores of a larger group."""
    in_all: str
    """In the whole larger group."""


COLUMNS = ("weight", "gain")
"""The columns that a caller may pass for each row, in addition to its count."""
_MOST = 2**56


GAINS = ("gain", "hit_gain")
"""The gains of all rows, and of positives."""
EXTRA_SUMS = (*GAINS, "judged", "unjudged")
"""The sums over the rows of a block. Only `unjudged` is cumulative down the ranking, too."""


HITS = CumulativeCount("hits", "tp", "positives", run="tp_run", before="tp_before", in_all="positives_in_all")
ROWS = CumulativeCount("size", "k", "rows", run="k_run", before="k_before", in_all="rows_in_all")
CUMULATIVE_COUNTS = (HITS, ROWS)
UNJUDGED = CumulativeCount(
    "unjudged",
    "unjudged_k",
    "unjudged_rows",
    run="unjudged_run",
    before="unjudged_before",
    in_all="unjudged_rows_in_all",
)
"""Rows whose label is missing and filled by `unjudged="negative"`."""


UNIT = pl.col("unit").fill_null(2.0**40)
"""The factor between a number and its fixed-point form; a group without rows has no unit of its own."""


class Weights(NamedTuple):
    """The weights or the gains of rows."""

    name: str | None
    """The caller's column, which becomes `weight` or `gain`; without one, each row counts as 1."""
    fractional: bool
    """Whether they are floats.

    Sums of floats depend on their order, and differences of running totals cancel. So all weighted counts are in fixed
    point, in multiples of 1 / `unit` of the group, and become floats after the last subtraction.
    """
    option: str = "weight"
    """The option that the column comes from."""

    @property
    def ranks(self) -> bool:
        """Return whether rank k has a meaning."""
        return self.name is None

    @property
    def dtype(self) -> pl.DataType:
        """Return the dtype of known sums."""
        return pl.Float64() if self.fractional else pl.Int64()


def in_units(number: pl.Expr, unit: pl.Expr) -> pl.Expr:
    """Return weights, or gains, as whole numbers."""
    return (number * unit).cast(pl.Int128)


def refuse_lost(columns: Sequence[pl.Series], argument: str, name: str) -> pl.Series:
    """Return the units of weights, or gains. Raise if the smallest of them would keep too few bits."""
    weights, units = columns
    if (lost := (weights > 0) & (weights * units < 2**_PRECISION)).any():
        value = weights.filter(lost)[0]
        raise ValueError(
            f"{argument} column {shown(name)} has a value of {value!r} in a group of {argument}s, or of a known "
            "total, so much larger that sums would not be exact: drop the smallest, or take them apart"
        )
    return units


def exact_unit(weights: pl.Series, rows: int) -> float | None:
    """Return the unit in which all of these and their sum fit without loss of a bit; None if there is none."""
    ends = [frexp(end)[1] for end in (weights.filter(weights > 0).min(), weights.max()) if isinstance(end, float)]
    bits = max(ends, default=0) + ceil(log2(max(rows, 1)))
    return 2.0 ** (_BITS - bits) if bits - min(ends, default=bits) + _DIGITS <= _BITS else None


def exponent(weight: pl.Expr) -> pl.Expr:
    """Return the exponent of the power of 2 just above the weight; below that of any other weight if it is 0."""
    return weight.reinterpret(dtype=pl.Int64) // 2**52 - 1022


def bits_of_sum(exponent: pl.Expr, rows: pl.Expr) -> pl.Expr:
    """Return the exponent of a power of 2 above the sum of this many weights."""
    return exponent + rows.cast(pl.Float64).log(2).ceil().cast(pl.Int64)


def bits_with_totals(bits: pl.Expr, totals: Sequence[str]) -> pl.Expr:
    """Return the same if known totals may be larger and are added."""
    exponents = [exponent(pl.col(total).cast(pl.Float64)).fill_null(0) + 1 for total in totals]
    return pl.max_horizontal(bits, *exponents) if exponents else bits


def unit_of(bits: pl.Expr) -> pl.Expr:
    """Return the power of 2 as a unit in which numbers below 2**bits just fit."""
    # Built from the bits of the float, so it is exact.
    return (((_BITS - bits).clip(-1022, 1023) + 1023) * 2**52).reinterpret(dtype=pl.Float64)


def how_many(*, has_counts: bool) -> pl.Expr:
    """Aggregate the number of rows. `has_counts`: whether a row stands for `count` rows."""
    return pl.col("count").sum() if has_counts else pl.len().cast(pl.Int64)


def check_counts(name: str, counts: pl.Series) -> None:
    """Check that counts are integers of at least 0 without missing values, and that their sum fits."""
    if _surely_fit(counts):
        return
    column, floats = f"count column {shown(name)}", counts.cast(pl.Float64).fill_nan(None)
    if missing := floats.null_count():
        of_all = pluralize(len(counts), "value", "values")
        raise ValueError(f"{column} has {missing} missing of {of_all}: fill them, 0 stands for no row")
    if (bad := counts.filter((floats < 0) | (floats % 1 != 0) | floats.is_infinite())).len():
        raise ValueError(
            f"{column} holds {shown(bad[0])}: a row stands for a whole number of rows, 0 or more; weight= takes others"
        )
    if counts.cast(pl.Int128, strict=False).sum() > _MOST or floats.sum() > 2 * _MOST:
        raise ValueError(f"{column} sums up to more than 2**56 rows: evaluate the frame in parts")


def check_weights(
    argument: str, name: str, weights: pl.Series, truth: pl.Series, counts: pl.Series | None = None
) -> None:
    """Check that weights, or gains, are finite and not negative. A gain may be missing if the label is."""
    if _surely_finite(weights) if weights.dtype.is_float() else counts is None and _surely_fit(weights):
        return
    column, lacking = f"{argument} column {shown(name)}", weights.is_null()
    if weights.dtype.is_float():
        lacking |= weights.is_nan()
    if argument == "gain":
        lacking &= truth.is_not_null() & (truth.is_not_nan() if truth.dtype.is_float() else True)
    if missing := lacking.sum():
        way = "fill them, 0 leaves out" if argument == "weight" else "fill them, 0 is worth nothing"
        where = "" if argument == "weight" else ", in rows that have a truth"
        raise ValueError(
            f"{column} has {missing} missing of {pluralize(len(weights), 'value', 'values')}{where}: {way}"
        )
    floats = weights.cast(pl.Float64).fill_nan(None)
    if (bad := weights.filter((floats < 0) | floats.is_infinite())).len():
        raise ValueError(f"{column} has values below 0 or infinite, such as {shown(bad[0])}: {argument}s are >= 0")
    if weights.dtype.is_integer():
        # Exact, or in floats for sums that an Int128 does not hold.
        each, about = weights.cast(pl.Int128, strict=False), floats
        if counts is not None:
            each, about = each * counts.cast(pl.Int128), about * counts.cast(pl.Float64)
        if about.sum() > 2 * _MOST or each.sum() > _MOST:
            raise ValueError(f"{column} sums up to more than 2**56: cast it to Float64")
    elif (odd := weights.filter((floats > 0) & ~floats.is_between(*_ENDS))).len():
        raise ValueError(
            f"{column} has values such as {odd[0]!r}: multiply it by a constant, so that all lie "
            "between 1e-100 and 1e100, which changes no share"
        )


def _surely_fit(numbers: pl.Series) -> bool:
    """Return whether the ends of integers show that all are at least 0, and that their sum fits; most columns do so."""
    if not numbers.dtype.is_integer() or numbers.is_empty() or numbers.null_count():
        return False
    low: Any = numbers.min()
    high: Any = numbers.max()
    return bool(low >= 0 and high * len(numbers) <= _MOST)


def _surely_finite(numbers: pl.Series) -> bool:
    """Return whether the ends of floats show that all lie in `_ENDS`; NaN would be left out of the ends."""
    if numbers.is_empty() or numbers.null_count() or numbers.is_nan().any():
        return False
    low: Any = numbers.min()
    high: Any = numbers.max()
    return bool(_ENDS[0] <= low and high <= _ENDS[1])


Typed: TypeAlias = Callable[[str, str, pl.Series, pl.DataType], pl.Series]


def totals_in_rows(
    rows: pl.LazyFrame,
    name: str,
    column: str,
    dtype: pl.DataType,
    groups: int | None = None,
    typed: Typed | None = None,
) -> pl.LazyFrame:
    """Read a total that is constant within each group, in the order of the groups.

    `dtype`: that of totals from rows. `groups`: the number of groups if groups without rows count too. `typed`:
    validates them and casts them to their dtype.
    """

    def check_constant(table: pl.DataFrame) -> pl.DataFrame:
        if groups is not None and table.is_empty():
            # Without rows there is no value, so use one below any total.
            return pl.DataFrame({"group": range(groups), name: -1}, schema={"group": pl.Int64, name: dtype})
        totals = _constants_of_groups(table["group"], table[name])
        if totals is None:
            total = pl.col(name)
            limits = table.lazy().group_by("group").agg(low=total.min(), high=total.max(), missing=total.null_count())
            totals = limits.sort("group").collect(engine="streaming")
            if bad := totals.filter((pl.col("low") != pl.col("high")) | (pl.col("missing") > 0)).height:
                raise ValueError(
                    f"{name} column {shown(column)} is not one number in each group: "
                    f"{pluralize(bad, 'group has', 'groups have')} several, or null"
                )
        return totals.select("group", (typed or _typed)(name, column, totals["low"], dtype))

    total = pl.col(name)
    if rows.collect_schema()[name].is_float():
        total = total.fill_nan(None)
    return rows.select("group", total).map_batches(check_constant, schema={"group": pl.Int64, name: dtype})


_ROWS_OF_FEW_GROUPS = 200
"""With more rows for each group, it is faster to aggregate by group."""


def _constants_of_groups(group: pl.Series, total: pl.Series) -> pl.DataFrame | None:
    """Return the `group` and the total, `low`, of each of many groups, in order.

    Returns None if totals are not constant, if numbers of groups are not dense, or if there are few groups. Two passes
    with random access take a fifth of the time of an aggregation by group, but longer if there are few groups.
    """
    first: Any = group.min()
    last: Any = group.max()
    if total.null_count() or not total.dtype.is_numeric() or first is None:
        return None
    if not len(group) // _ROWS_OF_FEW_GROUPS <= last - first < 2 * len(group):
        return None
    place = (group - first).cast(pl.UInt32)
    totals = pl.repeat(None, last - first + 1, dtype=total.dtype, eager=True).scatter(place, total)
    # Gathering a column with nulls would take twice as long.
    if not (gather_rows(totals.fill_null(strategy="zero").to_frame(), place).to_series() == total).all():
        return None
    groups = pl.int_range(first, last + 1, dtype=pl.Int64, eager=True)
    return pl.DataFrame({"group": groups, "low": totals}).drop_nulls()


class FrameOfTotals(NamedTuple):
    """Known totals from a separate frame, with its keys renamed and cast to the dtypes of the rows' keys."""

    column: str
    """The caller's name of the total."""
    totals: pl.LazyFrame
    """Groups whose keys these dtypes cannot hold are dropped."""
    groups: pl.LazyFrame
    """Only the keys, if a dropped group is an error because it would be lost."""


def totals_frame(frame: Any, name: str, keys: Mapping[str, str], schema: pl.Schema) -> FrameOfTotals:
    """Read a frame of totals. `keys`: the caller's names of the keys, with ours."""
    kind = find_kind(frame)
    if kind is None:
        raise TypeError(
            f"{name} takes a column, or a frame of the by columns and one more; got {kind_of_value(frame)}: "
            "a number that holds for every row makes a column, too"
        )
    total_table = kind.read(kind.columns)
    types = total_table.collect_schema()
    refuse_missing(list(keys), types.names(), f"{name} frame", name)
    dtypes = {key: schema[code] for key, code in keys.items()}
    column, typed_keys = keyed_value(name, types, dtypes, "those of by")
    typed = {code: typed_keys[key] for key, code in keys.items()}
    each_held = (by_name(key).is_null() | typed[code].is_not_null() for key, code in keys.items())
    held = pl.all_horizontal(pl.lit(True), *each_held)
    original_keys = {f"given {code}": by_name(key) for key, code in keys.items()}

    def check_held(table: pl.DataFrame) -> pl.DataFrame:
        if (lost := table.filter(~pl.col("held"))).height:
            key = shown(lost.select("^given .*$").row(0))
            raise ValueError(
                f"{name} frame has {pluralize(lost.height, 'group', 'groups')}, such as {key}, that the types of the "
                "by columns do not hold: cast these, or leave out such groups"
            )
        return table.drop("^given .*$", "held")

    groups = total_table.select(**typed, **original_keys, held=held)
    return FrameOfTotals(
        column=column,
        totals=total_table.filter(held).select(by_name(column).alias(name), **typed),
        groups=groups.map_batches(check_held, schema=total_table.select(**typed).collect_schema()),
    )


def totals_in_frame(
    total: FrameOfTotals, name: str, coder: Coding, systems: int, dtype: pl.DataType, typed: Typed | None = None
) -> pl.LazyFrame:
    """Return known totals from a separate frame, one for each group, in order.

    `systems`: the number of systems that share a total.
    """

    def check_totals(table: pl.DataFrame) -> pl.DataFrame:
        if more := table.height - table["group"].n_unique():
            totals = pluralize(more, "total", "totals")
            raise ValueError(f"{name} frame gives {totals} more than it has groups: it must have one row for each")
        return table.select("group", (typed or _typed)(name, total.column, table[name], dtype)).sort("group")

    coded = coder.look_up(total.totals).select("group", name)
    coded = coded.map_batches(check_totals, schema={"group": pl.Int64, name: dtype})
    system = pl.int_ranges(systems, dtype=pl.Int64)
    return (
        coded.select(name, system=system, group="group")
        .explode("system", empty_as_null=False, keep_nulls=False)
        .select(name, group=pl.col("group") * systems + pl.col("system"))
    )


def units_with_totals(rows: pl.LazyFrame, totals: Sequence[pl.LazyFrame], how_many: pl.Expr) -> pl.LazyFrame:
    """Return the unit of each group, in which its known totals fit too; the group has this many rows."""
    sizes = rows.group_by("group").agg(bits=bits_of_sum(exponent(pl.col("weight")).max(), how_many))
    for total in totals:
        sizes = sizes.join(total, on="group", how="left")
    names = [name for name in sizes.collect_schema().names() if name not in ("group", "bits")]
    return sizes.select("group", unit=unit_of(bits_with_totals(pl.col("bits"), names)))


def with_totals(table: pl.LazyFrame, totals: list[pl.LazyFrame], *, in_units: bool) -> pl.LazyFrame:
    """Replace totals from the rows by known totals, in a table with `group`, `positives` and `rows`, sorted by group.

    `in_units`: whether the totals are in fixed point, in multiples of 1 / `unit`.
    """
    positives_in_rows = pl.col("positives")
    for total in totals:
        ((name, dtype),) = total.drop("group").collect_schema().items()
        table = join_in_order(table, total.rename({name: "total"}), "group")
        number = pl.col(name) / UNIT if in_units else pl.col(name)
        # As an expression, because polars cannot prune columns of a table that passes through a function.
        check = partial(_larger, name=name)
        validated = pl.map_batches(["group", "total", number.alias("in_rows")], check, return_dtype=dtype)
        table = table.with_columns(total=validated)
        number = (pl.col("total") * UNIT).cast(pl.Int128) if in_units else pl.col("total")
        table = table.with_columns(total=pl.when(pl.col("total").is_not_null()).then(number).otherwise(name))
        if name == "positives":
            # Positives that are not in the frame are rows that are not in the frame.
            table = table.with_columns(rows=pl.col("rows") - positives_in_rows + pl.col("total"))
        table = table.with_columns(pl.col("total").alias(name)).drop("total")
    return table


def _typed(name: str, column: str, totals: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Convert totals to Int64 without loss, or to Float64."""
    typed = totals.cast(dtype, strict=False)
    if (below := totals.filter(totals < 0)).len():
        raise ValueError(f"{name} column {shown(column)} holds {shown(below[0])}: a total is not negative")
    fits = typed.is_finite() if dtype.is_float() else (typed == totals) & (typed < 2**56)
    if (bad := totals.filter(totals.is_not_null() & ~fits.fill_null(False))).len():
        raise ValueError(
            f"{name} column {shown(column)} holds {shown(bad[0])}: a total is a whole number below 2**56, or, where "
            "weight= is a column of floats, any sum of them"
        )
    return typed.alias(name)


def _larger(columns: Sequence[pl.Series], name: str) -> pl.Series:
    """Return known totals where they exceed the totals of the rows; null elsewhere."""
    group, total, in_rows = columns
    if missing := group.filter(total.is_null()).n_unique():
        groups = pluralize(group.n_unique(), "group", "groups")
        raise ValueError(
            f"{name} gives no total for {missing} of {groups}: every group of the frame needs one, under keys of the "
            "same type"
        )
    # The caller's own sum of floats may differ in the last bits.
    slack = in_rows * (1e-9 if in_rows.dtype.is_float() else 0)
    short = (total < in_rows - slack) & (total >= 0)
    if short.any():
        groups = pluralize(group.filter(short).n_unique(), "such group", "such groups")
        raise ValueError(
            f"{name} gives a total of {total.filter(short)[0]} for a group in which the frame has "
            f"{in_rows.filter(short)[0]} already ({groups}): it counts those in the frame, too"
        )
    return total.set(total <= in_rows + slack, None)


def shares_of_positives(name: str, column: str, shares: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return prevalences as Float64, above 0 and below 1."""
    typed = shares.cast(dtype, strict=False)
    if (bad := shares.filter(~((typed > 0) & (typed < 1)).fill_null(False))).len():
        raise ValueError(
            f"{name} column {shown(column)} holds {shown(bad[0])}: a share of positives is above 0 and below 1"
        )
    return typed.alias(name)


def class_counts(rows: pl.LazyFrame, *, has_counts: bool, drops: bool) -> pl.LazyFrame:
    """Count the rows and the positives of each group, without dropped rows."""
    count = pl.col("count") if has_counts else pl.lit(1, dtype=pl.Int64)
    count = pl.when("dropped").then(0).otherwise(count) if drops else count
    return rows.select("group", rows=count, positives=pl.col("truth") * count).group_by("group").agg(pl.all().sum())


def class_weights(counts: pl.LazyFrame, share: float | pl.LazyFrame) -> pl.LazyFrame:
    """Compute the weights by which positives have this share in each group, and whose sum is the number of its rows.

    They are 0 in a group that lacks positives or negatives. `share`: a number, or `group` and `prevalence`.
    """
    positives, total = pl.col("positives"), pl.col("rows")
    wanted = pl.lit(share) if isinstance(share, float) else pl.col("prevalence")
    if not isinstance(share, float):
        counts = counts.join(share, on="group", how="left")
        counts = counts.map_batches(_refuse_no_share, schema=counts.collect_schema())
    both = (positives > 0) & (positives < total)
    return counts.select(
        "group",
        of_positive=pl.when(both).then(wanted * total / positives).otherwise(0.0),
        of_negative=pl.when(both).then((1 - wanted) * total / (total - positives)).otherwise(0.0),
    )


def with_class_weights(rows: pl.LazyFrame, weights: pl.LazyFrame, *, drops: bool) -> pl.LazyFrame:
    """Give rows the `weight` of their class. Rows of weight 0 are dropped."""
    rows = rows.drop("prevalence", strict=False).join(weights, on="group", how="left", maintain_order="left")
    weight = pl.when("truth").then("of_positive").otherwise("of_negative")
    weight = pl.when("dropped").then(0.0).otherwise(weight) if drops else weight
    rows = rows.with_columns(weight=weight).drop("of_positive", "of_negative")
    return rows.with_columns(dropped=pl.col("weight") == 0)


def _refuse_no_share(groups: pl.DataFrame) -> pl.DataFrame:
    if missing := groups["prevalence"].null_count():
        raise ValueError(
            f"prevalence gives no share for {missing} of {pluralize(groups.height, 'group', 'groups')}: every group of "
            "the frame needs one, under keys of the same type"
        )
    return groups
