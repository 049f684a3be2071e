"""A code for each group: the key columns of a frame as one Int64, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.kinds import SMALL

Recode = Callable[[pl.LazyFrame], pl.LazyFrame]


class Coding(NamedTuple):
    """The ways between key columns and `group`."""

    code: Recode
    look_up: Recode
    """`code` for the rows of another frame; those of groups that the frame itself does not have are left out."""
    restore: Recode


class Digit(NamedTuple):
    """An integer key as a digit of the code: 0 for null, 1 for `lowest`, and so on up to below `base`."""

    key: str
    dtype: pl.DataType
    lowest: int
    base: int

    def inside(self) -> pl.Expr:
        """Whether the key has a digit."""
        integer = pl.col(self.key).cast(_physical(self.dtype))
        return integer.is_null() | integer.is_between(self.lowest, self.lowest + self.base - 2)

    def holds(self, column: pl.Series) -> bool:
        """Whether all keys of a column have a digit."""
        if self.always:
            return True
        column = column if column.dtype.is_integer() else column.to_physical()
        least: Any = column.min()
        most: Any = column.max()
        # Of no key but null both are None.
        return least is None or bool(self.lowest <= least and most <= self.lowest + self.base - 2)

    @property
    def always(self) -> bool:
        """Whether every key of the type has a digit."""
        return self.dtype in _NARROW and self.base > 2**33

    def of_key(self) -> pl.Expr:
        """The digit of the key, where it is inside."""
        physical = _physical(self.dtype)
        above = pl.col(self.key).cast(physical) - pl.lit(self.lowest, dtype=physical)
        return (above.cast(pl.Int64, strict=False) + 1).fill_null(0)

    def to_key(self, digit: pl.Expr) -> pl.Expr:
        """The key of a digit."""
        above = pl.when(digit > 0).then(digit - 1).cast(_physical(self.dtype))
        integer = above + pl.lit(self.lowest, dtype=_physical(self.dtype))
        # Not strict: polars 1 evaluates this cast also for rows that another branch decides, where it may overflow.
        return integer != 0 if self.dtype == pl.Boolean else integer.cast(self.dtype, strict=False)


_NARROW_UNSIGNED = (pl.Boolean, pl.UInt8, pl.UInt16, pl.UInt32)
_NARROW = (*_NARROW_UNSIGNED, pl.Int8, pl.Int16, pl.Int32, pl.Date)
_INTEGERS = (*_NARROW, pl.Int64, pl.UInt64, pl.Time, pl.Datetime, pl.Duration)


def coding(
    frame: pl.LazyFrame,
    keys: list[str],
    *,
    limit: int,
    height: int | None,
    in_order: bool,
    assumed: list[Digit] | None = None,
) -> Coding:
    """Number the groups of a frame from 0, below the limit.

    Keys that are integers underneath are the digits of the code. For that their ranges have to be known: those of a
    frame in memory are looked at. On a LazyFrame every key gets an equal range, and if any value lies outside, all
    groups are numbered, as those of other keys are. `height`: of a frame in memory, its number of rows. `in_order`:
    rows keep their order. `assumed`: of a plan that is run only if its keys have certain digits, where to put these.
    """
    in_memory = height is not None
    if not keys:
        zero = pl.lit(0, dtype=pl.Int64)

        def alike(rows: pl.LazyFrame) -> pl.LazyFrame:
            return rows.with_columns(group=zero)

        return Coding(alike, alike, lambda table: table.drop("group"))
    schema = frame.select(keys).collect_schema()
    # Two sorted columns are joined by merging them, where polars finds no NaN: with one more column it does.
    nan = {"nan": pl.col(keys[0]).is_nan()} if schema[keys[0]].is_float() else {}
    on = [*keys, *nan]
    digits: list[Digit] = []
    if all(dtype in _INTEGERS for dtype in schema.dtypes()):
        digits = _observed(frame, schema, limit) if in_memory else _guessed(schema, limit)

    def present(rows: pl.LazyFrame) -> pl.LazyFrame:
        present_keys = frame.select(keys).with_columns(**nan)
        return rows.with_columns(**nan).join(present_keys, on=on, how="semi", nulls_equal=True).drop(list(nan))

    certain = in_memory or all(digit.always for digit in digits)
    if assumed is not None and not certain:
        assumed += digits
        certain = True
    position = pl.lit(0, dtype=pl.Int64)
    values: dict[str, pl.Expr] = {}
    for place, digit in enumerate(digits):
        position = position * digit.base + digit.of_key()
        below = prod(digit.base for digit in digits[place + 1 :])
        # Each division takes a tenth of the time of a sort.
        upto = pl.col("group") // below if below > 1 else pl.col("group")
        values[digit.key] = digit.to_key(upto % digit.base if place else upto)
    if digits and certain:

        def code(rows: pl.LazyFrame) -> pl.LazyFrame:
            return rows.with_columns(group=position)

        return Coding(code, lambda rows: code(present(rows)), lambda table: table.with_columns(**values).drop("group"))

    groups = frame.select(keys)
    if digits:
        groups = groups.filter(~pl.all_horizontal(digit.inside() for digit in digits).all())
    groups = groups.group_by(keys).agg().sort(keys).with_row_index("number")
    groups = groups.with_columns(pl.col("number").cast(pl.Int64))
    groups = groups.map_batches(partial(_below, limit=limit), schema=groups.collect_schema())
    if assumed is not None:
        groups = groups.cache()  # nothing is optimized there
    extra_columns, matched = nan, on
    if height is not None and height >= SMALL:
        groups = groups.collect(engine="streaming").lazy()
        key_hash = pl.struct(keys).hash()
        if groups.select(key_hash.is_unique().all()).collect().item():
            # Integers are joined in a fraction of the time that texts take.
            extra_columns, matched = {"hash": key_hash}, ["hash"]
    order: Literal["left", "none"] = "left" if in_order else "none"

    def number(rows: pl.LazyFrame) -> pl.LazyFrame:
        numbered = groups.with_columns(**extra_columns).select(*matched, "number")
        rows = rows.with_columns(**extra_columns)
        rows = rows.join(numbered, on=matched, how="left", nulls_equal=True, maintain_order=order)
        return rows.with_columns(group=pl.coalesce("number", position) if digits else "number").drop(
            "number", *extra_columns
        )

    def restore(table: pl.LazyFrame) -> pl.LazyFrame:
        numbered = groups.with_columns(numbered=True)
        table = table.join(numbered, left_on="group", right_on="number", how="left", maintain_order="left")
        table = table.with_columns(pl.when("numbered").then(key).otherwise(value) for key, value in values.items())
        return table.drop("group", "numbered")

    return Coding(number, lambda rows: number(present(rows)), restore)


def _physical(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.UInt64 if dtype == pl.UInt64 else pl.Int64


def _observed(frame: pl.LazyFrame, schema: pl.Schema, limit: int) -> list[Digit]:
    """Digits for the values that there are, or none where these are too far apart."""
    physical = {key: _physical(dtype) for key, dtype in schema.items()}
    low = [pl.col(key).min().cast(dtype).name.prefix("low ") for key, dtype in physical.items()]
    high = [pl.col(key).max().cast(dtype) for key, dtype in physical.items()]
    ends = frame.select(*low, *high).collect(engine="in-memory").row(0)
    lowest, highest = ends[: len(schema)], ends[len(schema) :]
    digits = [
        Digit(key, dtype, least, most - least + 2) if least is not None else Digit(key, dtype, 0, 2)
        for (key, dtype), least, most in zip(schema.items(), lowest, highest, strict=True)
    ]
    return digits if prod(digit.base for digit in digits) <= limit else []


def _guessed(schema: pl.Schema, limit: int) -> list[Digit]:
    base = 2 ** ((limit.bit_length() - 1) // len(schema))
    if base == 1:
        return []
    unsigned = (*_NARROW_UNSIGNED, pl.UInt64)
    return [Digit(key, dtype, 0 if dtype in unsigned else -(base // 2), base) for key, dtype in schema.items()]


def _below(groups: pl.DataFrame, limit: int) -> pl.DataFrame:
    if groups.height > limit:
        raise ValueError(f"{groups.height} distinct keys: with these arguments {limit} is the most, take them in parts")
    return groups
