"""Known totals of a group, where the frame holds only a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from frame_pr.checks import refuse_missing, refuse_text
from frame_pr.groups import Coding
from frame_pr.pandas_frames import from_pandas, is_pandas


def totals_in_rows(
    rows: pl.LazyFrame, name: str, column: str, dtype: pl.DataType, groups: int | None = None
) -> pl.LazyFrame:
    """A total that stands in every row of its group.

    `dtype`: that of the totals that are found. `groups`: how many there are even when they have no rows.
    """

    def checked(table: pl.DataFrame) -> pl.DataFrame:
        if groups is not None and table.is_empty():
            return pl.DataFrame({"group": range(groups), name: 0}, schema={"group": pl.Int64, name: dtype})
        if bad := table.filter((pl.col("low") != pl.col("high")) | (pl.col("missing") > 0)).height:
            raise ValueError(
                f"{name} column {column!r} is not one number in each group: {bad} groups have several, or null"
            )
        return table.select("group", _typed(name, column, table["low"], dtype))

    total = pl.col(name)
    if rows.collect_schema()[name].is_float():
        total = total.fill_nan(None)
    found = rows.group_by("group").agg(low=total.min(), high=total.max(), missing=total.null_count())
    return found.map_batches(checked, schema={"group": pl.Int64, name: dtype})


def as_polars(given: Any) -> Any:
    """A frame of pandas as one of polars; anything else as it is."""
    return from_pandas(given, list(given.columns)) if is_pandas(given) else given


def totals_in_frame(
    frame: Any,
    name: str,
    keys: dict[str, str],
    schema: pl.Schema,
    coder: Coding,
    systems: int,
    dtype: pl.DataType,
) -> pl.LazyFrame:
    """A total that a frame of its own gives for every group: its key columns, and one more."""
    frame = as_polars(frame)
    if not isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        raise TypeError(
            f"{name} takes a column, or a frame of the by columns and one more; got {type(frame).__name__}: "
            "a number that holds for every row makes a column, too"
        )
    types = frame.collect_schema()
    columns = types.names()
    refuse_missing(list(keys), columns, f"{name} frame")
    others = [column for column in columns if column not in keys]
    if len(others) != 1:
        raise ValueError(f"{name} frame has the columns {', '.join(columns)}: it must have those of by, and one more")
    (column,) = others
    refuse_text(name, column, types[column])

    def checked(table: pl.DataFrame) -> pl.DataFrame:
        if more := table.height - table["group"].n_unique():
            raise ValueError(f"{name} frame gives {more} totals more than it has groups: it must have one row for each")
        return table.select("group", _typed(name, column, table[name], dtype))

    # Named apart from the keys of the rows until the join is done. A key that the type of the rows' keys does not hold
    # is that of none of their groups.
    known = frame.lazy()
    for key, code in keys.items():
        known = known.filter(pl.col(key).is_null() | pl.col(key).cast(schema[code], strict=False).is_not_null())
    coded = coder.look_up(
        known.select(
            *(pl.col(key).cast(schema[code]).alias(code) for key, code in keys.items()),
            pl.col(column).alias(name),
        )
    )
    coded = coded.select("group", name).map_batches(checked, schema={"group": pl.Int64, name: dtype})
    system = pl.int_ranges(systems, dtype=pl.Int64)
    return (
        coded.select(name, system=system, group="group")
        .explode("system", empty_as_null=False, keep_nulls=False)
        .select(name, group=pl.col("group") * systems + pl.col("system"))
    )


def with_totals(table: pl.LazyFrame, totals: list[pl.LazyFrame]) -> pl.LazyFrame:
    """Put known totals in the place of those found in the rows of a table with `group`, `positives` and `rows`."""
    found = pl.col("positives")
    for known in totals:
        ((name, dtype),) = known.drop("group").collect_schema().items()
        table = table.join(known.rename({name: "known"}), on="group", how="left", maintain_order="left")
        # An expression, as polars could not leave out any column of a table that goes through a function.
        checked = pl.map_batches(["group", "known", name], partial(_checked, name=name), return_dtype=dtype)
        table = table.with_columns(known=checked)
        if name == "positives":
            # Positives that are not in the frame are rows that are not.
            table = table.with_columns(rows=pl.col("rows") - found + pl.col("known"))
        table = table.with_columns(pl.col("known").alias(name)).drop("known")
    return table


def _typed(name: str, column: str, totals: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Totals as Int64, in which no part of one is lost, or as Float64."""
    typed = totals.cast(dtype, strict=False)
    fits = typed.is_finite() if dtype.is_float() else (typed == totals) & (typed < 2**56)
    if (bad := totals.filter(totals.is_not_null() & ~fits.fill_null(False))).len():
        raise ValueError(
            f"{name} column {column!r} holds {bad[0]}: a total is a whole number below 2**56, or, where weight= is a "
            "column of floats, any sum of them"
        )
    return typed.alias(name)


def _checked(columns: Sequence[pl.Series], name: str) -> pl.Series:
    group, known, found = columns
    if missing := group.filter(known.is_null()).n_unique():
        raise ValueError(f"{name} gives no total for {missing} of the groups: every group of the frame needs one")
    # Sums of floats depend on their order, in the last bits.
    slack = found * (1e-9 if found.dtype.is_float() else 0)
    short = known < found - slack
    if short.any():
        raise ValueError(
            f"{name} gives a total of {known.filter(short)[0]} for a group in which the frame has "
            f"{found.filter(short)[0]} already ({group.filter(short).n_unique()} such groups): it counts those in the "
            "frame, too"
        )
    return known.zip_with(known > found + slack, found)
