"""Group keys <-> one Int64 code per group, in the order of the keys."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

CODE_LIMIT = 2**60
"""Codes lie strictly between -CODE_LIMIT and CODE_LIMIT."""

Restore = Callable[[pl.LazyFrame], pl.LazyFrame]

_NULL = 1 - CODE_LIMIT  # below every other code, as null sorts before every value
_OWN_CODE = (pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.Date, pl.Time)
_OWN_CODE_IF_SMALL = (pl.Int64, pl.UInt64, pl.Datetime, pl.Duration)


def coded(frame: pl.LazyFrame, keys: list[str], *, in_memory: bool, in_order: bool) -> tuple[pl.LazyFrame, Restore]:
    """Replace key columns by `group`; `restore` turns the `group` of a table back into the keys.

    A single key that is an integer underneath is its own code. Int64 needs a look at the values first, as 64 bits leave
    no room in the sort key for a score: on a LazyFrame, which may not be looked at, it is numbered like any other key.
    `in_order`: the rows keep their order.
    """
    if not keys:
        return frame.with_columns(group=pl.lit(0, dtype=pl.Int64)), lambda table: table.drop("group")
    dtype = frame.collect_schema()[keys[0]]
    if len(keys) == 1 and (dtype in _OWN_CODE or (in_memory and dtype in _OWN_CODE_IF_SMALL and _small(frame, *keys))):
        (key,) = keys
        code = pl.when(pl.col("group") != _NULL).then("group")
        value = code != 0 if dtype == pl.Boolean else code.cast(dtype)
        return (
            frame.with_columns(group=pl.col(key).cast(pl.Int64).fill_null(_NULL)).drop(keys),
            lambda table: table.with_columns(value.alias(key)).drop("group"),
        )
    groups = frame.select(keys).unique().sort(keys).with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    return (
        frame.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left" if in_order else "none").drop(
            keys
        ),
        lambda table: table.join(groups, on="group", how="left", maintain_order="left").drop("group"),
    )


def _small(frame: pl.LazyFrame, key: str) -> bool:
    value = pl.col(key).cast(pl.Int64, strict=False)
    beyond = (value.is_null() & pl.col(key).is_not_null()) | (value <= _NULL) | (value >= CODE_LIMIT)
    return not frame.select(beyond.any()).collect().item()
