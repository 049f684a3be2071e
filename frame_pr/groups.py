"""Group keys <-> one Int64 code per group, in the order of the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import polars as pl

CODE_LIMIT = 2**60
"""Codes lie strictly between -CODE_LIMIT and CODE_LIMIT."""

Recode = Callable[[pl.LazyFrame], pl.LazyFrame]


class Coding(NamedTuple):
    """Both ways between key columns and `group`, for any frame that has the one or the other."""

    code: Recode
    restore: Recode


_OWN_CODE = (pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.Date, pl.Time)
_OWN_CODE_IF_SMALL = (pl.Int64, pl.UInt64, pl.Datetime, pl.Duration)


def coding(frame: pl.LazyFrame, keys: list[str], *, limit: int, in_memory: bool, in_order: bool) -> Coding:
    """Number the groups of a frame.

    A single key that is an integer underneath is its own code. Int64 needs a look at the values first, as 64 bits leave
    no room in the sort key for a score: on a LazyFrame, which may not be looked at, it is numbered like any other key.
    `limit`: codes are smaller than this. `in_order`: rows keep their order.
    """
    if not keys:
        return Coding(
            lambda rows: rows.with_columns(group=pl.lit(0, dtype=pl.Int64)), lambda table: table.drop("group")
        )
    key = keys[0]
    dtype = frame.collect_schema()[key]
    own = dtype in _OWN_CODE or (in_memory and dtype in _OWN_CODE_IF_SMALL and _small(frame, key, limit))
    if own and len(keys) == 1:
        null = 1 - limit  # below every other code, as null sorts before every value
        code = pl.when(pl.col("group") != null).then("group")
        value = code != 0 if dtype == pl.Boolean else code.cast(dtype)
        return Coding(
            lambda rows: rows.with_columns(group=pl.col(key).cast(pl.Int64).fill_null(null)).drop(key),
            lambda table: table.with_columns(value.alias(key)).drop("group"),
        )
    groups = frame.select(keys).unique().sort(keys).with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    order: Literal["left", "none"] = "left" if in_order else "none"
    return Coding(
        lambda rows: rows.join(groups, on=keys, how="left", nulls_equal=True, maintain_order=order).drop(keys),
        lambda table: table.join(groups, on="group", how="left", maintain_order="left").drop("group"),
    )


def _small(frame: pl.LazyFrame, key: str, limit: int) -> bool:
    value = pl.col(key).cast(pl.Int64, strict=False)
    beyond = (value.is_null() & pl.col(key).is_not_null()) | (value <= 1 - limit) | (value >= limit)
    return not frame.select(beyond.any()).collect().item()
