"""Integers for groups and rows: a code for each group, and the packed key by which rows are sorted.

The only file that knows how many bits of a sort key hold the group, the score, the place among equal scores and
the label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from math import prod
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.kinds import SMALL

PLACES = 2**33
"""Places among equal scores are smaller than this."""
_GROUPS = 2**60
_GROUPS_BESIDE_PLACES = 2**28
_SCORES = 2**65
# Codes of scores, of Int64, UInt64 and Float64 alike, lie between -2**63 and 2**64.
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1
_FLIP = pl.lit(2**63 - 1, dtype=pl.Int64)


def score_code(score: pl.Expr, dtype: pl.DataType, integer: type[pl.DataType] = pl.Int128) -> pl.Expr:
    """Integer that orders as the score does, equal where the scores are equal."""
    if dtype.is_float():
        zero = pl.lit(0.0, dtype=pl.Float64)  # -0.0 equals 0.0, but has other bits
        bits = pl.when(score == 0).then(zero).otherwise(score.cast(pl.Float64)).reinterpret(dtype=pl.Int64)
        return _flip_negative(bits).cast(integer)
    if dtype == pl.Decimal:
        return score.to_physical()
    return score.cast(integer)


def score_of(code: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Score that `score_code` gave this integer for."""
    if dtype.is_float():
        return _flip_negative(code.cast(pl.Int64)).reinterpret(dtype=pl.Float64).cast(dtype)
    if isinstance(dtype, pl.Decimal):
        # Before 2.0, a product of decimals has at most 38 digits: 19 of the number, and up to 19 places at a time.
        places, number = 0, code.cast(pl.Decimal(38, 0))
        for scale in (dtype.scale // 2, dtype.scale):
            unit = pl.lit(Decimal(f"1e{places - scale}"), dtype=pl.Decimal(38, scale))
            places, number = scale, number * unit
        return number.cast(dtype)
    return code.cast(dtype)


def _flip_negative(bits: pl.Expr) -> pl.Expr:
    # Negative floats order backwards by their bits; its own inverse.
    return pl.when(bits >= 0).then(bits).otherwise(bits.xor(_FLIP))


def group_limit(*, places: bool) -> int:
    """How many groups a key can tell apart."""
    return _GROUPS_BESIDE_PLACES if places else _GROUPS


class Layout(NamedTuple):
    """Which integer a key is, and how the groups and the codes of scores are numbered in it: nothing is rounded."""

    integer: type[pl.DataType] = pl.Int128
    scores: int = _SCORES
    """How many ranks a group has; the last two are those of rows without a score, and of rows that are dropped."""
    best: int | None = None
    """The code of the best score; None: that of the best score that there can be."""
    step: int = 1
    """What all differences of codes are multiples of."""
    first_group: int = 0


WIDE = Layout()
"""For any groups and scores."""
_CODES_IN_INT64 = (
    pl.Float64,
    pl.Float32,
    pl.Float16,
    pl.Int64,
    pl.Int32,
    pl.Int16,
    pl.Int8,
    pl.UInt32,
    pl.UInt16,
    pl.UInt8,
)


@dataclass(frozen=True)
class SortKey:
    """How the keys of rows are laid out: an integer of group, score, place among equal scores where asked for, truth.

    Where `layout` is not `WIDE`, the integers are others, until `widened` makes them those of all keys.
    """

    dtype: pl.DataType
    """That of the scores."""
    ascending: bool
    """Whether a small score is best."""
    places: bool
    hits_first: bool
    """Whether positives come before negatives, where nothing else decides."""
    drops: bool
    """Whether there may be rows that do not count, told by a column `dropped`."""
    own_dtypes: Sequence[pl.DataType] = ()
    """The types that the scores had, one for each system."""
    layout: Layout = WIDE

    @cached_property
    def _room(self) -> int:
        """What a block is multiplied by, to make room for what stands below it."""
        return 2 * PLACES if self.places else 2

    def block_of_row(self) -> pl.Expr:
        """Integer for the rows of one group that share one score; ascends by group, then from the best score on.

        Of `group` and `score`; rows without a score come last, and behind these the rows that are dropped.
        """
        layout = self.layout
        rank = self._rank(score_code(pl.col("score"), self.dtype, layout.integer))
        rank = rank.fill_null(pl.lit(self._unretrieved, dtype=layout.integer))
        if self.drops:
            rank = pl.when("dropped").then(pl.lit(self._dropped, dtype=layout.integer)).otherwise(rank)
        group = pl.col("group").cast(layout.integer)
        return (group - layout.first_group if layout.first_group else group) * layout.scores + rank

    @property
    def _unretrieved(self) -> int:
        return self.layout.scores - 2

    @property
    def _dropped(self) -> int:
        return self.layout.scores - 1

    @property
    def _best(self) -> int:
        """The code whose rank is 0."""
        if self.layout.best is not None:
            return self.layout.best
        return _LOWEST if self.ascending else _HIGHEST

    def _rank(self, code: pl.Expr) -> pl.Expr:
        """The place of a score among all that may be, from the best one on."""
        best = pl.lit(self._best, dtype=self.layout.integer)
        rank = code - best if self.ascending else best - code
        return rank if self.layout.step == 1 else rank // self.layout.step

    def narrowed(self, rows: pl.LazyFrame) -> SortKey:
        """The same key as an Int64 where the groups and scores of these rows fit into one, else as it is."""
        if self.places or self.dtype not in _CODES_IN_INT64:
            return self
        code, group = score_code(pl.col("score"), self.dtype, pl.Int64), pl.col("group")
        extremes = rows.select(
            code.min().alias("low"),
            code.max().alias("high"),
            code.bitwise_or().alias("bits"),
            group.min().alias("first"),
            group.max().alias("last"),
        )
        low, high, bits, first, last = extremes.collect(engine="streaming").row(0)
        if low is None or first is None:
            return self
        # The lowest bit that any code has: all of them, and so their differences, are multiples of it.
        step = bits & -bits or 1
        scores = 1 << ((high - low) // step + 2).bit_length()
        if (last - first + 1) * scores * 2 > 2**63:
            return self
        return replace(self, layout=Layout(pl.Int64, scores, low if self.ascending else high, step, first))

    def widened(self) -> pl.Expr:
        """The column `bits` of this layout in that of all keys."""
        if self.layout == WIDE:
            return pl.col("bits")
        wide = replace(self, layout=WIDE)
        rank = (pl.col("bits") & (self.layout.scores * self._room - 1)) // self._room
        code = (rank * self.layout.step).cast(pl.Int128)
        code = code + self._best if self.ascending else self._best - code
        code = pl.when(rank == self._unretrieved).then(None).otherwise(code)
        wide_rank = wide._rank(code).fill_null(wide._unretrieved)
        if self.drops:
            wide_rank = pl.when(rank == self._dropped).then(pl.lit(wide._dropped, dtype=pl.Int128)).otherwise(wide_rank)
        group = self.group().cast(pl.Int128)
        return (group * _SCORES + wide_rank) * self._room

    def score_reaches(self, code: int | pl.Expr) -> pl.Expr:
        """Whether the score of a row is as good as that of this code, or better; null where there is none."""
        score = score_code(pl.col("score"), self.dtype)
        limit = pl.lit(code, dtype=pl.Int128) if isinstance(code, int) else code
        return score <= limit if self.ascending else score >= limit

    def pack(self, place: pl.Expr | None = None) -> pl.Expr:
        """The key of a row of `group`, `truth` and `score`, and of its place if keys have one."""
        block = self.block_of_row()
        return (block if place is None else block * PLACES + place) * 2 + self.truth_bit(pl.col("truth"))

    def truth_bit(self, truth: pl.Expr) -> pl.Expr:
        """The last bit of a key, of a truth, and the other way round: the smaller comes first."""
        return 1 - truth.cast(pl.Int64) if self.hits_first else truth.cast(pl.Int64)

    def bits(self) -> pl.Expr:
        """The group and the score of the column `key`."""
        return pl.col("key") & -self._room

    def truth(self) -> pl.Expr:
        """The truth of the column `key`, as an integer."""
        return self.truth_bit(pl.col("key") & 1).cast(pl.Int64)

    def ends(self, *, of: Literal["group", "block", "place", "row", "truth"]) -> pl.Expr:
        """Whether the next one of the sorted column `key` is of another group, or block, and so on.

        "row": of another truth, in keys that hold the number of their row.
        """
        group = self.layout.scores * self._room
        below = {"group": group, "block": self._room, "row": PLACES, "place": 2, "truth": 1}[of]
        # The first bit in which the two differ.
        return (pl.col("key").xor(pl.col("key").shift(-1)) >= below).fill_null(True)

    def place_of_row(self) -> pl.Expr:
        """A place that holds the number of the row, so that other columns can be fetched by it after the sort."""
        return self.truth_bit(pl.col("truth")) * (PLACES // 2) + pl.col("row")

    def row(self) -> pl.Expr:
        """The number of the row, of the column `key` that was packed with it."""
        return ((pl.col("key") & (PLACES - 1)) // 2).cast(pl.UInt32)

    # From here on, of the column `bits`, which tells groups and blocks apart: they are numbered where few are left.

    def group_bits(self) -> pl.Expr:
        """What tells groups apart."""
        return pl.col("bits") & -(self.layout.scores * self._room)

    def group(self) -> pl.Expr:
        """The number of the group."""
        group = (pl.col("bits") // (self.layout.scores * self._room)).cast(pl.Int64)
        return group + self.layout.first_group if self.layout.first_group else group

    def block(self) -> pl.Expr:
        """The number of the block, as `block_of_row` gives it."""
        return pl.col("bits") // self._room

    def is_retrieved(self) -> pl.Expr:
        """Whether there is a score."""
        return self._rank_bits() < self._unretrieved * self._room

    def counts(self) -> pl.Expr:
        """Whether the row is not dropped."""
        return self._rank_bits() < self._dropped * self._room

    def rank_key(self) -> pl.Expr:
        """Integer of a score, the larger the better it is."""
        return _HIGHEST - self._rank_bits() // self._room

    def threshold(self, rank_key: pl.Expr) -> pl.Expr:
        """The score of this rank_key."""
        return score_of(_HIGHEST - rank_key + _LOWEST if self.ascending else rank_key, self.dtype)

    def reaches(self, code: int | pl.Expr) -> pl.Expr:
        """Whether the score is as good as that of this code, or better."""
        if isinstance(code, int):
            least = (code - self._best if self.ascending else self._best - code) // self.layout.step
            return self._rank_bits() < min(max(least + 1, 0), self._unretrieved) * self._room
        rank = (code - self._best if self.ascending else self._best - code) // self.layout.step
        return self._rank_bits() < (rank + 1).clip(0, self._unretrieved).cast(self.layout.integer) * self._room

    def _rank_bits(self) -> pl.Expr:
        return pl.col("bits") & (self.layout.scores * self._room - 1)


def largest_by(figure: pl.Expr) -> pl.Expr:
    """Integer of a figure of 0 or more and, below it, of the column `rank_key`: its maximum is the largest figure's.

    The bits of such a float order as the float does; the score below them decides between equals.
    """
    return figure.reinterpret(dtype=pl.Int64).cast(pl.Int128) * _SCORES + pl.col("rank_key")


def smallest_by(figure: pl.Expr) -> pl.Expr:
    """The same, the maximum of which is the smallest figure's."""
    return pl.col("rank_key") - figure.reinterpret(dtype=pl.Int64).cast(pl.Int128) * _SCORES


def parts_of_largest(largest: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The figure and the rank_key of an integer that `largest_by` or `smallest_by` gave."""
    bits = (largest + _SCORES // 2) // _SCORES
    return bits.abs().cast(pl.Int64).reinterpret(dtype=pl.Float64), largest - bits * _SCORES


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
