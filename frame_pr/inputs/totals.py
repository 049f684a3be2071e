"""Known totals.

Read from a column or from a separate frame, validated, and put in place of the totals of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.kinds import FrameKind, collected
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.request import TOTAL_OPTIONS
from frame_pr.inputs.values import keyed_value
from frame_pr.inputs.weights import Weights, refuse_values


def totals_in_rows(
    rows: pl.LazyFrame, name: str, column: str, dtype: pl.DataType, height: int = 0
) -> pl.LazyFrame:
    """Read a number that is constant within each group: a total; see `constant_in_groups`."""
    numbers = constant_in_groups(rows, name, column, height)
    return numbers.select("group", _typed(name, column, numbers[name], dtype)).lazy()


def constant_in_groups(rows: pl.LazyFrame, name: str, column: str, height: int) -> pl.DataFrame:
    """Return `group` and a column that is constant within each group, in the order of the groups.

    It may be null in all rows of a group. `height`: that of rows; 0 if they are few.
    """
    value = pl.col(name)
    if rows.collect_schema()[name].is_float():
        value = value.fill_nan(None)
    is_partly_null = value.null_count().is_between(1, pl.len() - 1)
    varies = (value.min() != value.max()) | is_partly_null
    of_groups = rows.group_by("group").agg(value.min(), varies=varies)
    groups = collected(of_groups.sort("group"), height)
    several = groups.filter("varies").height
    if several:
        raise ValueError(
            f"{name} column {shown(column)} is not one number in each group: "
            f"{pluralize(several, 'group has', 'groups have')} several, or null in some rows"
        )
    return groups.drop("varies")


class FrameOfTotals(NamedTuple):
    """Numbers of groups from a separate frame, with keys renamed and cast to those of the rows."""

    name: str
    """The option."""
    column: str
    """The caller's name of the number."""
    table: pl.DataFrame
    """The keys and numbers of the groups that the rows may have."""
    lost: pl.DataFrame
    """The caller's keys of all other groups: the dtypes of the rows' keys do not have them."""

    def groups(self) -> pl.DataFrame:
        """Return the keys of all groups. Raise if one of them would be lost."""
        if self.lost.height:
            raise ValueError(
                f"{self.name} frame has {pluralize(self.lost.height, 'group', 'groups')}, such as "
                f"{shown(self.lost.row(0))}, that the types of the by columns do not hold: cast "
                "these, or leave out such groups"
            )
        return self.table.drop(self.name)


def totals_frame(
    kind: FrameKind[Any],
    name: str,
    keys: Mapping[str, str],
    schema: pl.Schema,
    wanted: str = "those of by",
) -> FrameOfTotals:
    """Read a frame of numbers. `keys`: the caller's names of the keys, with ours.

    `schema`: that of our keys. `wanted`: what an error calls these keys.
    """
    source = kind.read(kind.columns).collect()
    refuse_missing(list(keys), source.columns, f"{name} frame", name)
    dtypes = {key: schema[ours] for key, ours in keys.items()}
    column, typed = keyed_value(name, source.schema, dtypes, wanted)
    each_held = (by_name(key).is_null() | typed[key].is_not_null() for key in keys)
    is_held = pl.all_horizontal(pl.lit(True), *each_held)
    columns = {name: by_name(column)} | {ours: typed[key] for key, ours in keys.items()}
    lost = source.filter(~is_held).select(map(by_name, keys))
    return FrameOfTotals(name, column, source.filter(is_held).select(**columns), lost)


def totals_in_frame(
    total: FrameOfTotals, groups: pl.LazyFrame, dtype: pl.DataType, *, has_rows: bool = True
) -> pl.LazyFrame:
    """Return the totals, or prevalences, of a separate frame; see `numbers_in_frame`."""
    numbers = _typed(total.name, total.column, total.table[total.name], dtype)
    total = total._replace(table=total.table.with_columns(numbers))
    return numbers_in_frame(total, groups, has_rows=has_rows).lazy()


def numbers_in_frame(
    total: FrameOfTotals, groups: pl.LazyFrame, *, has_rows: bool, advice: str = ""
) -> pl.DataFrame:
    """Return `group` and its number in a separate frame. Raise if a group lacks it.

    `groups`: `group` and its keys, of which the frame may lack some. `has_rows`: otherwise a number
    may be lacking. `advice`: how to give an unknown number.
    """
    name = total.name
    keys = [key for key in total.table.columns if key != name]
    # Without keys, the number is that of all groups.
    on = [*keys, "every"]
    numbers = total.table.with_columns(every=True)
    repeats = numbers.filter(~pl.struct(on).is_first_distinct())
    if repeats.height:
        rows = pluralize(repeats.height, "row", "rows")
        raise ValueError(
            f"{name} frame has {rows} more than groups{_such_as(repeats, keys)}: it must have one "
            "row for each"
        )
    table = groups.with_columns(every=True).collect()
    missing = table.join(numbers, on=on, how="anti", nulls_equal=True)
    if missing.height and has_rows:
        raise ValueError(
            f"{name} frame has no row for {missing.height} of "
            f"{pluralize(table.height, 'group', 'groups')}{_such_as(missing, keys)}: every group "
            f"of the frame needs one, under keys of the same type{advice}"
        )
    return table.join(numbers, on=on, how="left", nulls_equal=True).select("group", name)


def _such_as(groups: pl.DataFrame, keys: Sequence[str]) -> str:
    """Return the key of one of these groups, for an error."""
    key = groups.row(0, named=True)
    values = tuple(key[name] for name in keys)
    if not values:
        return ""
    return f", such as {shown(values if len(values) > 1 else values[0])}"


def _typed(name: str, column: str, numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Convert totals, or prevalences, to their dtype without loss."""
    typed = numbers.cast(dtype, strict=False)
    if name not in TOTAL_OPTIONS:
        are_valid = (typed > 0) & (typed < 1)
        valid = "a share of positives is above 0 and below 1"
    else:
        fits = (typed == numbers) & (typed < 2**56)
        if dtype.is_float():
            fits = typed.is_finite()
        are_valid = fits & (typed >= 0)
        valid = (
            "a total is a whole number below 2**56, or, where weight= is a column of floats, any "
            "sum of them"
        )
    is_bad = ~are_valid.fill_null(False)
    refuse_values(f"{name} column {shown(column)}", numbers, is_bad, valid)
    return typed.alias(name)


def with_totals(
    table: pl.LazyFrame, totals: Sequence[pl.LazyFrame], weights: Weights
) -> pl.LazyFrame:
    """Replace totals from the rows by known totals, in a table sorted by `group`."""
    for total in totals:
        ((option, dtype),) = total.drop("group").collect_schema().items()
        name = TOTAL_OPTIONS[option][0]
        # As an expression, because polars cannot prune columns of a table that passes through a
        # function.
        larger = pl.map_batches(
            ["group", option, weights.from_units(pl.col(name)).alias("in_rows")],
            partial(_larger, name=option),
            return_dtype=dtype,
        )
        table = table.join(total, on="group", how="left", maintain_order="left")
        table = table.with_columns(total=pl.coalesce(weights.in_units(larger), name)).drop(option)
        if name == "positives":
            # Positives that are not in the frame are rows that are not in the frame.
            table = table.with_columns(rows=pl.col("rows") - pl.col("positives") + pl.col("total"))
        table = table.with_columns(pl.col("total").alias(name)).drop("total")
    return table


def _larger(columns: Sequence[pl.Series], name: str) -> pl.Series:
    """Return known totals where they exceed the totals of the rows; null elsewhere."""
    group, total, in_rows = columns
    # The caller's own sum of floats may differ in the last bits.
    slack = in_rows * (1e-9 if in_rows.dtype.is_float() else 0)
    short = total < in_rows - slack
    if short.any():
        groups = pluralize(group.filter(short).n_unique(), "such group", "such groups")
        raise ValueError(
            f"{name} gives a total of {total.filter(short)[0]} for a group in which the frame has "
            f"{in_rows.filter(short)[0]} already ({groups}): it counts those in the frame, too"
        )
    return total.set(total <= in_rows + slack, None)
