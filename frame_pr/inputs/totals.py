"""Known totals of a group, where the frame holds only a part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.kinds import find_kind
from frame_pr.frames.messages import kind_of_value, pluralize, shown
from frame_pr.inputs.keys import Coding
from frame_pr.inputs.values import keyed_value
from frame_pr.inputs.weights import UNIT, bits_beside, bits_of_sum, exponent, unit_of


def totals_in_rows(
    rows: pl.LazyFrame, name: str, column: str, dtype: pl.DataType, groups: int | None = None
) -> pl.LazyFrame:
    """A total that stands in every row of its group.

    `dtype`: that of the totals that are found. `groups`: how many there are even when they have no rows.
    """

    def check_constant(table: pl.DataFrame) -> pl.DataFrame:
        if groups is not None and table.is_empty():
            # No row says anything: less than any total.
            return pl.DataFrame({"group": range(groups), name: -1}, schema={"group": pl.Int64, name: dtype})
        if bad := table.filter((pl.col("low") != pl.col("high")) | (pl.col("missing") > 0)).height:
            raise ValueError(
                f"{name} column {shown(column)} is not one number in each group: "
                f"{pluralize(bad, 'group has', 'groups have')} several, or null"
            )
        return table.select("group", _typed(name, column, table["low"], dtype))

    total = pl.col(name)
    if rows.collect_schema()[name].is_float():
        total = total.fill_nan(None)
    limits = rows.group_by("group").agg(low=total.min(), high=total.max(), missing=total.null_count())
    return limits.map_batches(check_constant, schema={"group": pl.Int64, name: dtype})


class FrameOfTotals(NamedTuple):
    """A total that a frame of its own gives, under names of our own: keys in the types of the rows', and itself."""

    column: str
    """The caller's name of the total."""
    totals: pl.LazyFrame
    """Without groups whose keys these types do not hold."""
    groups: pl.LazyFrame
    """The keys alone, where such a group is an error, as it would be lost."""


def totals_frame(frame: Any, name: str, keys: Mapping[str, str], schema: pl.Schema) -> FrameOfTotals:
    """Read a frame of totals; `keys`: the caller's names of them, with our own."""
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


def totals_in_frame(total: FrameOfTotals, name: str, coder: Coding, systems: int, dtype: pl.DataType) -> pl.LazyFrame:
    """A total that a frame of its own gives for every group; `systems`: how many have the same total."""

    def check_totals(table: pl.DataFrame) -> pl.DataFrame:
        if more := table.height - table["group"].n_unique():
            totals = pluralize(more, "total", "totals")
            raise ValueError(f"{name} frame gives {totals} more than it has groups: it must have one row for each")
        return table.select("group", _typed(name, total.column, table[name], dtype))

    coded = coder.look_up(total.totals).select("group", name)
    coded = coded.map_batches(check_totals, schema={"group": pl.Int64, name: dtype})
    system = pl.int_ranges(systems, dtype=pl.Int64)
    return (
        coded.select(name, system=system, group="group")
        .explode("system", empty_as_null=False, keep_nulls=False)
        .select(name, group=pl.col("group") * systems + pl.col("system"))
    )


def units_beside(rows: pl.LazyFrame, totals: Sequence[pl.LazyFrame], how_many: pl.Expr) -> pl.LazyFrame:
    """The unit of each group, which has so many rows, in which its known totals fit, too."""
    sizes = rows.group_by("group").agg(bits=bits_of_sum(exponent(pl.col("weight")).max(), how_many))
    for total in totals:
        sizes = sizes.join(total, on="group", how="left")
    names = [name for name in sizes.collect_schema().names() if name not in ("group", "bits")]
    return sizes.select("group", unit=unit_of(bits_beside(pl.col("bits"), names)))


def with_totals(table: pl.LazyFrame, totals: list[pl.LazyFrame], *, in_units: bool) -> pl.LazyFrame:
    """Put known totals in the place of those found in the rows of a table with `group`, `positives` and `rows`.

    `in_units`: whether these are in fixed point, in parts of `unit`.
    """
    counted_mass = pl.col("positives")
    for total in totals:
        ((name, dtype),) = total.drop("group").collect_schema().items()
        table = table.join(total.rename({name: "known"}), on="group", how="left", maintain_order="left")
        number = pl.col(name) / UNIT if in_units else pl.col(name)
        # An expression, as polars could not leave out any column of a table that goes through a function.
        check = partial(_larger, name=name)
        validated = pl.map_batches(["group", "known", number.alias("found")], check, return_dtype=dtype)
        table = table.with_columns(known=validated)
        larger = (pl.col("known") * UNIT).cast(pl.Int128) if in_units else pl.col("known")
        table = table.with_columns(known=pl.when(pl.col("known").is_not_null()).then(larger).otherwise(name))
        if name == "positives":
            # Positives that are not in the frame are rows that are not.
            table = table.with_columns(rows=pl.col("rows") - counted_mass + pl.col("known"))
        table = table.with_columns(pl.col("known").alias(name)).drop("known")
    return table


def _typed(name: str, column: str, totals: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Totals as Int64, in which no part of one is lost, or as Float64."""
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
    """The known totals where they are more than what was found; null where the latter holds."""
    group, total, in_rows = columns
    if missing := group.filter(total.is_null()).n_unique():
        groups = pluralize(group.n_unique(), "group", "groups")
        raise ValueError(
            f"{name} gives no total for {missing} of {groups}: every group of the frame needs one, under keys of the "
            "same type"
        )
    # The caller's own sum of floats may have been another one, in the last bits.
    slack = in_rows * (1e-9 if in_rows.dtype.is_float() else 0)
    short = (total < in_rows - slack) & (total >= 0)
    if short.any():
        groups = pluralize(group.filter(short).n_unique(), "such group", "such groups")
        raise ValueError(
            f"{name} gives a total of {total.filter(short)[0]} for a group in which the frame has "
            f"{in_rows.filter(short)[0]} already ({groups}): it counts those in the frame, too"
        )
    return total.set(total <= in_rows + slack, None)
