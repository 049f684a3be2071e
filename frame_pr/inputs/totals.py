"""Known totals.

Read from a column or from a separate frame, validated, and put in place of the totals of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.kinds import FrameKind
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.request import TOTAL_OPTIONS
from frame_pr.inputs.values import keyed_value
from frame_pr.inputs.weights import Weights

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

    `dtype`: that of totals from rows. `groups`: the number of groups if groups without rows count
    too. `typed`: validates them and casts them to their dtype.
    """
    totals = constant_in_groups(rows, name, column, may_be_null=False)
    if groups is not None and totals.is_empty():
        # Without rows there is no value, so use one below any total.
        return pl.LazyFrame(
            {"group": range(groups), name: -1}, schema={"group": pl.Int64, name: dtype}
        )
    return totals.select("group", (typed or _typed)(name, column, totals[name], dtype)).lazy()


def constant_in_groups(
    rows: pl.LazyFrame, name: str, column: str, *, may_be_null: bool
) -> pl.DataFrame:
    """Return `group` and a column that is constant within each group, in the order of the groups.

    `may_be_null`: whether all values of a group may be null.
    """
    value = pl.col(name)
    if rows.collect_schema()[name].is_float():
        value = value.fill_nan(None)
    nulls = value.null_count()
    lacks_values = nulls > 0
    if may_be_null:
        lacks_values = nulls.is_between(1, pl.len() - 1)
    varies = (value.min() != value.max()) | lacks_values

    of_groups = rows.group_by("group").agg(value.min(), varies=varies)
    groups = of_groups.sort("group").collect(engine="streaming")
    several = groups.filter("varies").height
    if several:
        raise ValueError(
            f"{name} column {shown(column)} is not one number in each group: "
            f"{pluralize(several, 'group has', 'groups have')} "
            f"several{'' if may_be_null else ', or null'}"
        )
    return groups.drop("varies")


class FrameOfTotals(NamedTuple):
    """Known totals from a separate frame, with keys renamed and cast to those of the rows."""

    name: str
    """The option."""
    column: str
    """The caller's name of the total."""
    table: pl.DataFrame
    """The typed keys, the caller's, the totals, and whether the dtypes of the rows' keys have the
    caller's keys.
    """

    @property
    def totals(self) -> pl.DataFrame:
        """Return the keys and totals of the groups that the rows may have."""
        return self.table.filter("held").drop("^original .*$", "held")

    def groups(self) -> pl.DataFrame:
        """Return the keys of all groups. Raise if one of them would be lost."""
        if (lost := self.table.filter(~pl.col("held"))).height:
            key = shown(lost.select("^original .*$").row(0))
            raise ValueError(
                f"{self.name} frame has {pluralize(lost.height, 'group', 'groups')}, such as "
                f"{key}, that the types of "
                "the by columns do not hold: cast these, or leave out such groups"
            )
        return self.totals.drop(self.name)


def totals_frame(
    kind: FrameKind[Any], name: str, keys: Mapping[str, str], schema: pl.Schema
) -> FrameOfTotals:
    """Read a frame of totals. `keys`: the caller's names of the keys, with ours."""
    table = kind.read(kind.columns)
    types = table.collect_schema()
    refuse_missing(list(keys), types.names(), f"{name} frame", name)
    dtypes = {key: schema[code] for key, code in keys.items()}
    column, typed_keys = keyed_value(name, types, dtypes, "those of by")
    typed = {code: typed_keys[key] for key, code in keys.items()}
    each_held = (by_name(key).is_null() | typed[code].is_not_null() for key, code in keys.items())
    held = pl.all_horizontal(pl.lit(True), *each_held)
    originals = {f"original {code}": by_name(key) for key, code in keys.items()}
    return FrameOfTotals(
        name,
        column,
        table.select(by_name(column).alias(name), **typed, **originals, held=held).collect(),
    )


def totals_in_frame(
    total: FrameOfTotals,
    look_up: Callable[[pl.LazyFrame], pl.LazyFrame],
    systems: int,
    dtype: pl.DataType,
    typed: Typed | None = None,
) -> pl.LazyFrame:
    """Return known totals from a separate frame, one for each group, in order.

    `look_up`: replaces the keys by `group`. `systems`: the number of systems that share a total.
    """
    name = total.name
    table = look_up(total.totals.lazy()).collect()
    if more := table.height - table["group"].n_unique():
        rows = pluralize(more, "row", "rows")
        raise ValueError(f"{name} frame has {rows} more than groups: it must have one row for each")
    table = table.select("group", (typed or _typed)(name, total.column, table[name], dtype)).sort(
        "group"
    )
    table = table.select(name, "group", system=pl.int_ranges(systems, dtype=pl.Int64))
    table = table.explode("system", empty_as_null=False, keep_nulls=False)
    return table.lazy().select(name, group=pl.col("group") * systems + pl.col("system"))


def with_totals(
    table: pl.LazyFrame, totals: Sequence[pl.LazyFrame], weights: Weights
) -> pl.LazyFrame:
    """Replace totals from the rows by known totals, in a table sorted by `group`."""
    positives_in_rows = pl.col("positives")
    for total in totals:
        ((option, dtype),) = total.drop("group").collect_schema().items()
        name = TOTAL_OPTIONS[option][0]
        table = table.join(
            total.rename({option: "total"}), on="group", how="left", maintain_order="left"
        )
        # As an expression, because polars cannot prune columns of a table that passes through a
        # function.
        check = partial(_larger, name=option)
        validated = pl.map_batches(
            ["group", "total", weights.from_units(pl.col(name)).alias("in_rows")],
            check,
            return_dtype=dtype,
        )
        table = table.with_columns(total=weights.in_units(validated))
        table = table.with_columns(total=pl.coalesce("total", name))
        if name == "positives":
            # Positives that are not in the frame are rows that are not in the frame.
            table = table.with_columns(rows=pl.col("rows") - positives_in_rows + pl.col("total"))
        table = table.with_columns(pl.col("total").alias(name)).drop("total")
    return table


def _typed(name: str, column: str, totals: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Convert totals to Int64 without loss, or to Float64."""
    typed = totals.cast(dtype, strict=False)
    below = totals.filter(totals < 0)
    if below.len():
        raise ValueError(
            f"{name} column {shown(column)} holds {shown(below[0])}: a total is not negative"
        )

    fits = typed.is_finite() if dtype.is_float() else (typed == totals) & (typed < 2**56)
    bad = totals.filter(totals.is_not_null() & ~fits.fill_null(False))
    if bad.len():
        raise ValueError(
            f"{name} column {shown(column)} holds {shown(bad[0])}: a total is a whole number below "
            f"2**56, or, where "
            "weight= is a column of floats, any sum of them"
        )
    return typed.alias(name)


def _larger(columns: Sequence[pl.Series], name: str) -> pl.Series:
    """Return known totals where they exceed the totals of the rows; null elsewhere."""
    group, total, in_rows = columns
    missing = group.filter(total.is_null()).n_unique()
    if missing:
        groups = pluralize(group.n_unique(), "group", "groups")
        raise ValueError(
            f"{name} gives no total for {missing} of {groups}: every group of the frame needs one, "
            f"under keys of the "
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
