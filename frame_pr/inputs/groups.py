"""Number the groups of rows by their keys, and restore the keys of numbered groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.kinds import collected
from frame_pr.inputs.values import label_value

MOST_GROUPS = 2**60
"""The most groups that a sort key distinguishes."""
MOST_GROUPS_WITH_PLACES = 2**28
"""The same if rows with equal scores have places among them."""
PLACES = 2**33
"""Places among equal scores are smaller than this."""
_HASHED_FROM = 2**12
"""Rows from which it pays to hash keys before they are looked up, and the rows of a sample."""
_SIGNED = (pl.Int8, pl.Int16, pl.Int32, pl.Int64)
NARROW = (*_SIGNED, pl.Boolean, pl.UInt8, pl.UInt16, pl.UInt32)
"""The dtypes whose values an Int64 holds."""
_ONLY_GROUP = pl.lit(0, dtype=pl.Int64)
_INTEGERS = (*NARROW, pl.UInt64, pl.Date, pl.Time, pl.Datetime, pl.Duration)


class Groups(NamedTuple):
    """The groups of rows, numbered in the order of their keys."""

    rows: pl.LazyFrame
    """The rows of the frame in their order, with `group`."""
    keys: Mapping[str, pl.Expr]
    """The key columns, as formulas of `group`."""


def number_groups(frame: pl.DataFrame, keys: Sequence[str], limit: int, systems: int = 1) -> Groups:
    """Number the groups of a frame from 0, below the limit. Rows keep their order.

    Integer keys are digits of the number: finding the distinct keys would take longer than a metric
    (1.8 to 2.5 times the whole call). Of other keys, the distinct ones are sorted, and the number
    of each row is looked up. `systems`: how many results each group has. The keys are formulas of
    their numbers: those of the first group come first.
    """
    group = pl.col("group")
    if systems > 1:
        group = group // systems
    columns = [frame.get_column(key) for key in keys]
    if all(column.dtype in _INTEGERS for column in columns):
        digits = [_Digit.of(column) for column in columns]
        if prod(digit.base for digit in digits) <= limit:
            return _number_by_digits(frame, digits, group)
    return _number_by_look_up(frame, keys, limit, group)


def _number_by_look_up(
    frame: pl.DataFrame, keys: Sequence[str], limit: int, group: pl.Expr
) -> Groups:
    """Number groups by the place of their keys among the sorted distinct keys."""
    rows = frame.select(keys)
    run = _runs_of_equal_keys(rows)
    if run is not None:
        is_start = run != run.shift(1)
        rows = rows.filter(is_start.fill_null(True))
    unique = rows.lazy().unique().sort(keys)
    distinct = collected(unique, len(rows)).rechunk()
    if distinct.height > limit:
        raise ValueError(
            f"{distinct.height} distinct keys: with these arguments {limit} is the most; evaluate "
            f"the frame in parts"
        )

    numbers = _places_of_keys(rows, distinct)
    if run is not None:
        numbers = numbers.gather(run)
    numbered = frame.hstack([numbers])

    # One literal for all keys: polars takes two literals without rows for the same one.
    values = pl.lit(distinct.to_struct("keys")).gather(group)
    keys_of_group = {name: values.struct.field(name) for name in keys}
    return Groups(numbered.lazy(), keys_of_group)


def _runs_of_equal_keys(rows: pl.DataFrame) -> pl.Series | None:
    """Number the runs of equal keys from 0, if most rows of a sample have the key before them.

    The runs of one query after the other are numbered in half of the time of their rows.
    """
    if rows.height < _HASHED_FROM:
        return None
    number = pl.struct(rows.columns).rle_id()
    sample = rows.slice(rows.height // 2, _HASHED_FROM)
    last = sample.select(number.last()).item()
    if last > sample.height // 2:
        return None
    return rows.select(number).to_series()


def _places_of_keys(rows: pl.DataFrame, distinct: pl.DataFrame) -> pl.Series:
    """Return `group`, the place of the key of each row among the distinct keys."""
    key = pl.struct(rows.columns)
    # Joining hashes takes half of the time of joining many texts. Two keys with one hash are next
    # to impossible.
    if rows.height >= _HASHED_FROM:
        hashes = [pl.col(name).hash(seed) for seed, name in enumerate(rows.columns)]
        hashed = reduce(pl.Expr.xor, hashes)
        are_distinct = hashed.is_unique().all()
        if distinct.select(are_distinct).item():
            key = hashed

    number = pl.int_range(pl.len(), dtype=pl.Int64)
    numbers = distinct.lazy().select(key=key, group=number)
    places = rows.lazy().select(key=key)
    places = places.join(numbers, on="key", how="left", nulls_equal=True, maintain_order="left")
    return collected(places.select("group")).to_series()


def judged_groups(groups: Groups, height: int) -> tuple[pl.Series, int]:
    """Return the groups in which a row has a label, and the number of all groups.

    `height`: the number of rows.
    """
    rows = groups.rows
    schema = rows.collect_schema()
    if "absent" in schema:
        rows = rows.filter(~pl.col("absent"))
    group = pl.col("group")
    has_label = label_value(pl.col("truth"), schema["truth"]).is_not_null()
    labelled = rows.filter(has_label).select(group.unique())
    judged = collected(labelled, height).to_series()

    ends = rows.select(first=group.min(), last=group.max())
    first, last = collected(ends, height).row(0)
    # Mostly all numbers between these are groups with a label. To count the distinct numbers takes
    # five times as long.
    if first is not None and last - first + 1 == judged.len():
        return judged, judged.len()

    distinct = rows.select(group.n_unique())
    return judged, collected(distinct, height).item()


class _Digit(NamedTuple):
    """An integer key as a digit of the number of the group.

    0 for null, 1 for `lowest`, and so on, below `base`.
    """

    key: str
    dtype: pl.DataType
    integer: type[pl.DataType]
    """The integers that hold all keys of the dtype."""
    lowest: int
    base: int

    @classmethod
    def of(cls, column: pl.Series) -> _Digit:
        """Return the digit for the values of a column."""
        # Of integers, this would be a query, which takes 0.1 ms.
        integers = column if column.dtype.is_integer() else column.to_physical()
        # If all keys are null, both are None.
        low: Any = integers.min() or 0
        high: Any = integers.max() or 0
        return cls(
            column.name,
            column.dtype,
            integer=pl.UInt64 if column.dtype == pl.UInt64 else pl.Int64,
            lowest=int(low),
            base=int(high) - int(low) + 2,
        )

    def of_key(self) -> pl.Expr:
        """Return the digit of a key."""
        above = pl.col(self.key).cast(self.integer) - self.lowest
        return (above.cast(pl.Int64) + 1).fill_null(0)

    def to_key(self, digit: pl.Expr) -> pl.Expr:
        """Return the key of a digit."""
        above = pl.when(digit > 0).then(digit - 1).cast(self.integer)
        # Not strict: polars 1 evaluates this cast also for rows of the other branch, where it may
        # overflow.
        return (above + self.lowest).cast(self.dtype, strict=False)


def _number_by_digits(frame: pl.DataFrame, digits: Sequence[_Digit], group: pl.Expr) -> Groups:
    """Number groups by the digits of their keys, of which the last one is the lowest."""
    number = _ONLY_GROUP
    keys: dict[str, pl.Expr] = {}
    if digits:
        first, *others = digits
        number = first.of_key()
        for digit in others:
            number = number * digit.base + digit.of_key()
        for digit in reversed(others):
            # A division takes a tenth of the time of a sort.
            keys[digit.key] = digit.to_key(group % digit.base)
            group = group // digit.base
        keys[first.key] = first.to_key(group)
    return Groups(frame.lazy().with_columns(group=number), dict(reversed(keys.items())))
