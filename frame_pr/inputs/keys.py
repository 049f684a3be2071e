"""A code for each group: the key columns of a frame as one Int64, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.frames.columns import side_by_side
from frame_pr.frames.kinds import SMALL, engine_for

Recode = Callable[[pl.LazyFrame], pl.LazyFrame]


class Coding(NamedTuple):
    """The mapping between key columns and `group`, in both directions."""

    rows: pl.LazyFrame
    """The rows of the frame, with `group`."""
    look_up: Recode
    """Add `group` to the rows of another frame; drop the rows of groups that this frame does not have."""
    restore: Recode


class Digit(NamedTuple):
    """An integer key as a digit of the code: 0 for null, 1 for `lowest`, and so on, below `base`."""

    key: str
    dtype: pl.DataType
    lowest: int
    base: int

    def inside(self) -> pl.Expr:
        """Return whether the key is in the range of the digit."""
        integer = pl.col(self.key).cast(_physical(self.dtype))
        return integer.is_null() | integer.is_between(self.lowest, self.lowest + self.base - 2)

    @property
    def always(self) -> bool:
        """Return whether every value of the dtype is in the range of the digit."""
        return self.dtype in _NARROW and self.base > 2**33

    def of_key(self) -> pl.Expr:
        """Return the digit of a key in the range."""
        physical = _physical(self.dtype)
        above = pl.col(self.key).cast(physical) - pl.lit(self.lowest, dtype=physical)
        return (above.cast(pl.Int64, strict=False) + 1).fill_null(0)

    def to_key(self, digit: pl.Expr) -> pl.Expr:
        """Return the key of a digit."""
        above = pl.when(digit > 0).then(digit - 1).cast(_physical(self.dtype))
        integer = above + pl.lit(self.lowest, dtype=_physical(self.dtype))
        # Not strict: polars 1 evaluates this cast also for rows of the other branch, where it may overflow.
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
) -> Coding:
    """Number the groups of a frame from 0, below the limit.

    Keys with an integer representation are digits of the code, for which their ranges must be known. For a frame in
    memory, read the ranges from the data. On a LazyFrame, give every key an equal range; if a value lies outside,
    number all groups, as for other dtypes. `height`: the number of rows of a frame in memory. `in_order`: rows keep
    their order.
    """
    in_memory = height is not None
    if not keys:
        zero = pl.lit(0, dtype=pl.Int64)

        def in_one_group(rows: pl.LazyFrame) -> pl.LazyFrame:
            return rows.with_columns(group=zero)

        return Coding(in_one_group(frame), in_one_group, lambda table: table.drop("group"))
    schema = frame.select(keys).collect_schema()
    # polars merges two sorted columns if it finds no NaN, but not if there is one more column.
    nan = {"nan": pl.col(keys[0]).is_nan()} if schema[keys[0]].is_float() else {}
    on = [*keys, *nan]
    digits: list[Digit] = []
    if all(dtype in _INTEGERS for dtype in schema.dtypes()):
        digits = _observed(frame, schema, limit) if in_memory else _guessed(schema, limit)

    def present(rows: pl.LazyFrame) -> pl.LazyFrame:
        present_keys = frame.select(keys).with_columns(**nan)
        return rows.with_columns(**nan).join(present_keys, on=on, how="semi", nulls_equal=True).drop(list(nan))

    certain = in_memory or all(digit.always for digit in digits)
    position = pl.lit(0, dtype=pl.Int64)
    values: dict[str, pl.Expr] = {}
    for place, digit in enumerate(digits):
        position = position * digit.base + digit.of_key() if place else digit.of_key()
        below = prod(digit.base for digit in digits[place + 1 :])
        # A division takes a tenth of the time of a sort.
        upto = pl.col("group") // below if below > 1 else pl.col("group")
        values[digit.key] = digit.to_key(upto % digit.base if place else upto)
    if digits and certain:

        def code(rows: pl.LazyFrame) -> pl.LazyFrame:
            return rows.with_columns(group=position)

        return Coding(
            code(frame), lambda rows: code(present(rows)), lambda table: table.with_columns(**values).drop("group")
        )

    groups = frame.select(keys)
    runs = _numbers_of_runs(groups) if height is not None and height >= SMALL else None
    if runs is not None:
        heads = groups.collect().filter((runs != runs.shift(1)).fill_null(True))
        groups = heads.lazy()
        in_order = True
    if digits:
        inside = pl.all_horizontal(digit.inside() for digit in digits).all()
        groups = groups.filter(~inside)
    groups = _numbered(groups, keys, limit)
    extra_columns, matched = nan, on
    distinct = None
    if height is not None and height >= SMALL:
        distinct = groups.collect(engine="streaming").rechunk()
        groups = distinct.lazy()
    if distinct is not None:
        key_hash = pl.struct(keys).hash()
        if distinct.select(key_hash.is_unique().all()).item():
            # Joining integers takes a fraction of the time of joining texts.
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
        if distinct is not None:
            keys_of_groups = {key: pl.lit(distinct[key]).gather("group") for key in keys}
            return table.with_columns(**keys_of_groups).drop("group")
        numbered = groups.with_columns(numbered=True)
        table = table.join(numbered, left_on="group", right_on="number", how="left", maintain_order="left")
        table = table.with_columns(pl.when("numbered").then(key).otherwise(value) for key, value in values.items())
        return table.drop("group", "numbered")

    if digits:
        # A join with the numbers would take as long as half of the metrics, and nearly all frames need none.
        codes = partial(_codes, inside=inside, position=position, limit=limit)
        coded = frame.with_columns(group=pl.map_batches(keys, codes, return_dtype=pl.Int64))
    elif runs is None:
        coded = number(frame)
    else:
        group = number(heads.lazy()).select("group").collect().to_series().gather(runs)
        coded = side_by_side(frame, group.cast(pl.Int64).alias("group").to_frame().lazy())
    return Coding(coded, lambda rows: number(present(rows)), restore)


def _numbers_of_runs(keys: pl.LazyFrame) -> pl.Series | None:
    """Return the number of the run of equal keys that each row is in, where runs have several rows; otherwise None."""
    schema = keys.collect_schema()
    if any(dtype.is_nested() for dtype in schema.dtypes()):
        return None
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in schema)
    starts = (pl.int_range(pl.len()) == 0) | differs
    if not keys.head(SMALL).select(starts.mean() < 0.5).collect().item():
        return None
    # Numbering texts at once takes half of the time.
    numbers = pl.all().rle_id() if schema.dtypes() == [pl.String] else starts.cum_sum() - 1
    return keys.select(numbers).collect().to_series()


def _physical(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.UInt64 if dtype == pl.UInt64 else pl.Int64


def _observed(frame: pl.LazyFrame, schema: pl.Schema, limit: int) -> list[Digit]:
    """Return digits for the values that occur, or None if the range is too large."""
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


def _numbered(rows: pl.LazyFrame, keys: list[str], limit: int) -> pl.LazyFrame:
    """Return the distinct keys in order, each with its `number`."""
    return _with_numbers(rows.group_by(keys).agg().sort(keys), limit)


def _with_numbers(groups: pl.LazyFrame, limit: int) -> pl.LazyFrame:
    """Number the distinct keys in their order."""
    groups = groups.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    return groups.map_batches(partial(_below, limit=limit), schema=groups.collect_schema())


def _codes(columns: Sequence[pl.Series], *, inside: pl.Expr, position: pl.Expr, limit: int) -> pl.Series:
    """Return the position of each key, or the number of its group if any key is outside of the range of its digit."""
    rows = pl.DataFrame(columns)
    engine = engine_for(rows.height)
    if rows.lazy().select(inside).collect(engine=engine).item():
        return rows.lazy().select(position).collect(engine=engine).to_series()
    groups = _numbered(rows.lazy(), rows.columns, limit)
    numbered = rows.lazy().join(groups, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")
    return numbered.collect().get_column("number")


def _below(groups: pl.DataFrame, limit: int) -> pl.DataFrame:
    if groups.height > limit:
        raise ValueError(
            f"{groups.height} distinct keys: with these arguments {limit} is the most; evaluate the frame in parts"
        )
    return groups
