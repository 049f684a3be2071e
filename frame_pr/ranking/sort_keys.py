"""The packed key by which rows are sorted: one integer of group, score and label.

Only this file knows which bits of a sort key hold the group, the score, the place among equal
scores and the label.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.inputs.groups import MOST_GROUPS, NARROW, PLACES
from frame_pr.inputs.rows import Rows

_SCORES = 2**65
_FEW_GROUPS = 64
# Codes of scores lie between -2**63 and 2**64, for Int64, UInt64 and Float64.
_LOWEST = -(2**63)
_HIGHEST = 2**64 - 1
_SIGN = pl.lit(-(2**63), dtype=pl.Int64)
_cached = lru_cache(maxsize=256)
"""Builds an expression once per layout. Most small frames have one: that of any scores of a dtype.
Half of the time of the keys of ten rows went into building their formula."""
_LOW_BITS = pl.col("key").cast(pl.Int64, wrap_numerical=True)


def score_code(
    score: pl.Expr, dtype: pl.DataType, integer: type[pl.DataType] = pl.Int128, gap: int = 0
) -> pl.Expr:
    """Return an integer that orders as the score does, and is equal for equal scores.

    `gap`: how many codes on either side of 0 are left out, as no float has them.
    """
    if dtype.is_float():
        # The bits of positive floats order as the floats do. -0.0 equals 0.0 but has other bits,
        # hence `abs`.
        magnitude = score.cast(pl.Float64).abs()
        bits = magnitude.reinterpret(dtype=pl.Int64)
        if gap:
            bits = (bits - gap).clip(lower_bound=0)
        code = pl.when(score >= 0).then(bits).otherwise(-bits)
        return code.cast(integer)
    if dtype == pl.Decimal:
        return score.to_physical()
    return score.cast(integer)


def score_of(code: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the score that has this code."""
    if dtype.is_float():
        bits = code.cast(pl.Int64)
        # The negative of a code, with the sign bit set.
        bits = pl.when(bits >= 0).then(bits).otherwise(_SIGN - bits)
        return bits.reinterpret(dtype=pl.Float64).cast(dtype)
    if isinstance(dtype, pl.Decimal):
        # Before 2.0, a product of decimals has at most 38 digits: 19 of the number, and up to 19
        # places at a time.
        places = 0
        number = code.cast(pl.Decimal(38, 0))
        for scale in (dtype.scale // 2, dtype.scale):
            unit = pl.lit(Decimal(f"1e{places - scale}"), dtype=pl.Decimal(38, scale))
            places = scale
            number = number * unit
        return number.cast(dtype)
    return code.cast(dtype)


def _integer_for(size: int) -> type[pl.DataType]:
    """Return the integers that hold all numbers from 0 on below a size."""
    return pl.Int64 if size <= 2**63 else pl.Int128


class SortKey(NamedTuple):
    """The layout of sort keys.

    A group, the rank of a score, a place among equal scores, and a label. None rounds.
    """

    dtype: pl.DataType
    """The dtype of the scores."""
    ascending: bool
    """Whether lower scores rank first."""
    hits_first: bool
    """Whether positives come before negatives if nothing else decides."""
    drops: bool
    """Whether some rows may not count; the column `dropped` marks them."""
    score_dtypes: tuple[pl.DataType, ...] = ()
    """The dtypes of the scores, one for each system."""
    places: int = 1
    """The number of places among equal scores. The column `tie` has the place of a row, if there
    are several.
    """
    integer: type[pl.DataType] = pl.Int128
    ranks: int = _SCORES
    """The number of ranks in a group. The last two are for rows without a score, and for dropped
    rows.
    """
    best: int | None = None
    """The code of the best score; None: the best score of the dtype."""
    step: int = 1
    """A common divisor of all differences of codes."""
    gap: int = 0
    """How many codes above 0, and below it, no score has. They are left out."""
    first_group: int = 0
    groups: int = MOST_GROUPS
    """The most groups."""
    numbers: int = 1
    """A number of the row is smaller than this: its place before the sort, or what it counts. It is
    no part of the order, but sorting a column of its own would take longer.
    """

    @property
    def _room(self) -> int:
        """Return the factor of a block, which leaves room for the lower bits."""
        return 2 * self.places * self.numbers

    @property
    def _unretrieved(self) -> int:
        return self.ranks - 2

    @property
    def _dropped(self) -> int:
        return self.ranks - 1

    @property
    def _best(self) -> int:
        """Return the code whose rank is 0."""
        if self.best is not None:
            return self.best

        if self.ascending:
            return _LOWEST
        return _HIGHEST

    @property
    def _low(self) -> type[pl.DataType]:
        """Return the integers of a rank with the bits below it.

        64 bits take half of the time of 128.
        """
        return _integer_for(self.ranks * self._room)

    @_cached
    def block_of_row(self) -> pl.Expr:
        """Return an integer for the rows of one group that share a score.

        It is computed from `group` and `score`, and ascends by group, then from the best score on.
        Rows without a score come last, and dropped rows after them.
        """
        return self._group_of_row() * self.ranks + self._rank_of_row()

    @_cached
    def pack(self) -> pl.Expr:
        """Return the sort key of a row."""
        truth = pl.col("truth")
        if self.hits_first:
            truth = ~truth

        lowest = truth.cast(pl.Int64)
        if self.places > 1:
            lowest = pl.col("tie") * 2 + lowest

        rank = self._rank_of_row().cast(self._low)
        low = (rank * self._room + lowest).cast(self.integer)
        if self.groups == 1:
            return low
        return self._group_of_row() * (self.ranks * self._room) + low

    def _group_of_row(self) -> pl.Expr:
        group = pl.col("group")
        if self.first_group:
            group = group - self.first_group
        return group.cast(self.integer)

    def _rank_of_row(self) -> pl.Expr:
        integer = _integer_for(self.ranks)
        best = pl.lit(self._best, dtype=integer)
        code = score_code(pl.col("score"), self.dtype, integer, self.gap)
        if self.step > 1:
            # Divide first: an Int64 may hold the number of steps, but not the difference.
            best = best // self.step
            code = code // self.step

        rank = code - best if self.ascending else best - code
        unretrieved = pl.lit(self._unretrieved, dtype=integer)
        rank = rank.fill_null(unretrieved)
        if self.drops:
            dropped = pl.lit(self._dropped, dtype=integer)
            rank = pl.when("dropped").then(dropped).otherwise(rank)
        return rank

    def fitted(self, rows: pl.LazyFrame) -> SortKey:
        """Return the narrowest layout for the groups and scores of rows, in 64 bits if they fit.

        Int64 sorts and compares in half of the time of Int128: one group of 2M untied rows takes
        0.6 of the time.
        """
        has_narrow_codes = self.dtype.is_float() or self.dtype in NARROW
        # Most Float64 do not fit if they have places, which take 6 % longer then.
        if not has_narrow_codes or (self.places > 1 and self.dtype == pl.Float64):
            return self

        group = pl.col("group")
        score = pl.col("score")
        bits_of_score = score.cast(pl.Int64)
        if self.dtype.is_float():
            bits_of_score = score.cast(pl.Float64).reinterpret(dtype=pl.Int64)
        extremes = rows.select(
            first=group.min(),
            last=group.max(),
            low=score_code(score.min(), self.dtype, pl.Int64),
            high=score_code(score.max(), self.dtype, pl.Int64),
            bits=bits_of_score.bitwise_or(),
            place=pl.col("tie").max() if self.places > 1 else pl.lit(0),
        )
        first, last, low, high, bits, place = extremes.collect(engine="streaming").row(0)
        if low is None:
            return self

        # All codes divide by the lowest bit that any code has: that of Float32 is at least 2**29.
        # The sign, which -0.0 has too, is no part of a code.
        bits &= ~_LOWEST
        step = bits & -bits or 1
        gap = 0
        if self.dtype == pl.Float64 and low < 0 < high and last - first < _FEW_GROUPS:
            # Most floats are closer to 0 than any score. Without their codes, normal scores of a
            # few groups fit into 64 bits: 2M rows of one group take 0.7 of the time.
            nearest = rows.select(score=pl.col("score").abs().filter(pl.col("score") != 0).min())
            of_nearest = nearest.select(score_code(pl.col("score"), self.dtype))
            gap = of_nearest.collect(engine="streaming").item() - step
            low += gap
            high -= gap
        largest_rank = (high - low) // step + 2
        key = self._replace(
            places=1 << place.bit_length(),
            ranks=1 << largest_rank.bit_length(),
            best=low if self.ascending else high,
            step=step,
            gap=gap,
            first_group=first,
            groups=last - first + 1,
        )
        return key.with_numbers(0) or self

    def with_numbers(self, largest: int) -> SortKey | None:
        """Return the layout with room for numbers up to the largest; None if they do not fit."""
        numbers = 1 << largest.bit_length()
        size = self.groups * self.ranks * 2 * self.places * numbers
        if size > 2**127:
            return None
        return self._replace(integer=_integer_for(size), numbers=numbers)

    # These expressions read the column `key`.

    @_cached
    def number(self) -> pl.Expr:
        """Return the number of the row."""
        return _LOW_BITS & (self.numbers - 1)

    @_cached
    def truth(self) -> pl.Expr:
        """Return the label."""
        is_set = (_LOW_BITS & self.numbers) != 0
        return ~is_set if self.hits_first else is_set

    def below_block(self) -> pl.Expr:
        """Return the bits of the label and the number."""
        return _LOW_BITS & (2 * self.numbers - 1)

    def block(self) -> pl.Expr:
        """Return an integer for the group and the score."""
        return pl.col("key") // self._room

    @_cached
    def ends(self, *, of: Literal["group", "block", "place", "truth"]) -> pl.Expr:
        """Return whether the next one of the sorted keys is of another group, block, ...."""
        rooms = {
            "group": self.ranks * self._room,
            "block": self._room,
            "place": 2 * self.numbers,
            "truth": self.numbers,
        }
        key = pl.col("key")
        # The first bit in which the two keys differ.
        difference = key.xor(key.shift(-1))
        is_other = difference >= rooms[of]
        return is_other.fill_null(True)

    @_cached
    def group(self) -> pl.Expr:
        """Return the number of the group."""
        room = self.ranks * self._room
        group = (pl.col("key") // room).cast(pl.Int64)
        if self.first_group:
            return group + self.first_group
        return group

    def in_later_group(self, groups: pl.Expr) -> pl.Expr:
        """Return the key that the row has if `groups` is added to the number of its group."""
        room = self.ranks * self._room
        return pl.col("key") + groups.cast(self.integer) * room

    @_cached
    def is_retrieved(self) -> pl.Expr:
        """Return whether there is a score."""
        return self._rank_bits() < self._unretrieved * self._room

    @_cached
    def counts(self) -> pl.Expr:
        """Return whether the row counts."""
        return self._rank_bits() < self._dropped * self._room

    @_cached
    def rank_key(self, *, unranked: bool) -> pl.Expr:
        """Return an integer that is larger for a better score, in every layout; see `score`."""
        integer = pl.Int64 if self.dtype.is_float() else pl.Int128
        code = self._code(unranked=unranked).cast(integer)
        return 0 - code if self.ascending else code

    @_cached
    def score(self, *, unranked: bool) -> pl.Expr:
        """Return the score of a row; null if there is none.

        `unranked`: whether some rows may have none.
        """
        return score_of(self._code(unranked=unranked), self.dtype)

    def reaches(self, code: pl.Expr) -> pl.Expr:
        """Return whether the score is at least as good as this code."""
        code = self._without_gap(code)
        distance = code - self._best if self.ascending else self._best - code
        ranks = distance // self.step + 1
        limit = ranks.clip(0, self._unretrieved).cast(self._low)
        return self._rank_bits() < limit * self._room

    def _code(self, *, unranked: bool) -> pl.Expr:
        rank = self._rank_bits() // self._room
        if unranked:
            rank = pl.when(rank < self._unretrieved).then(rank)

        step = self.step if self.ascending else -self.step
        code: pl.Expr = rank * step + self._best
        if self.gap:
            code = code + self.gap * code.sign()
        return code

    def _without_gap(self, code: pl.Expr) -> pl.Expr:
        """Return the code of a threshold in a layout that leaves out codes around 0."""
        if not self.gap:
            return code
        # A threshold in the gap is reached by the same scores as the next code that it reaches.
        least = int(not self.ascending)
        above = (code - self.gap).clip(lower_bound=least)
        below = (code + self.gap).clip(upper_bound=least - 1)
        return pl.when(code > 0).then(above).when(code < 0).then(below).otherwise(0)

    def _rank_bits(self) -> pl.Expr:
        low_bits = pl.col("key").cast(self._low, wrap_numerical=True)
        mask = self.ranks * self._room - 1
        return low_bits & mask

    # These read other columns.

    def score_reaches(self, code: pl.Expr) -> pl.Expr:
        """Return whether the score of a row is at least as good as this code.

        Null if the score is missing.
        """
        score = score_code(pl.col("score"), self.dtype)
        return score <= code if self.ascending else score >= code

    def threshold(self, rank_key: pl.Expr) -> pl.Expr:
        """Return the score of this rank_key."""
        code = 0 - rank_key if self.ascending else rank_key
        return score_of(code, self.dtype)


def key_of(rows: Rows) -> SortKey:
    """Return the layout of the sort keys of rows, for any scores of their dtype."""
    rule = rows.request.tie_rule
    return SortKey(
        dtype=rows.score_dtype,
        ascending=rows.request.ascending,
        hits_first=rule.bounds and rule.descending,
        drops=rows.drops,
        score_dtypes=tuple(rows.score_dtypes),
        places=PLACES if rows.request.ordered and not rows.sorts_ties else 1,
    )


def largest_by(value: pl.Expr) -> pl.Expr:
    """Pack a value and the column `rank_key` into an integer that is largest for the largest value.

    The value is between 0 and 1. Of equal values, the best score makes the largest integer.
    """
    # The bits of positive floats order as the floats do.
    bits = value.reinterpret(dtype=pl.Int64)
    return bits.cast(pl.Int128) * _SCORES + pl.col("rank_key")


def rank_key_of(largest: pl.Expr) -> pl.Expr:
    """Return the rank key in an integer from `largest_by`, or a rank key as it is."""
    # Rank keys of floats are Int64.
    largest = largest.cast(pl.Int128)
    code = (largest + _SCORES // 2) // _SCORES
    return largest - code * _SCORES
