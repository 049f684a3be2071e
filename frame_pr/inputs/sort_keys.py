"""One integer a row, by which rows are sorted: its group, its score, its place among equal scores, its truth.

The only file that knows how many bits each of them has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

PLACES = 2**33
"""Places among equal scores are smaller than this."""
_GROUPS = 2**60
_GROUPS_BESIDE_PLACES = 2**28
_SCORES = 2**65
# Codes of scores, of Int64, UInt64 and Float64 alike, lie between -2**63 and 2**64.
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1
# Ranks of scores begin at 0 or later; these come behind all of them.
_UNRETRIEVED, _DROPPED = _SCORES - 2, _SCORES - 1
_FLIP = pl.lit(2**63 - 1, dtype=pl.Int64)


def score_code(score: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Integer that orders as the score does, equal where the scores are equal."""
    if dtype.is_float():
        zero = pl.lit(0.0, dtype=pl.Float64)  # -0.0 equals 0.0, but has other bits
        bits = pl.when(score == 0).then(zero).otherwise(score.cast(pl.Float64)).reinterpret(dtype=pl.Int64)
        return _flip_negative(bits).cast(pl.Int128)
    if dtype == pl.Decimal:
        return score.reinterpret(dtype=pl.Int128)
    return score.cast(pl.Int128)


def score_of(code: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Score that `score_code` gave this integer for."""
    if dtype.is_float():
        return _flip_negative(code.cast(pl.Int64)).reinterpret(dtype=pl.Float64).cast(dtype)
    if dtype == pl.Decimal:
        return code.reinterpret(dtype=dtype)
    return code.cast(dtype)


def _flip_negative(bits: pl.Expr) -> pl.Expr:
    # Negative floats order backwards by their bits; its own inverse.
    return pl.when(bits >= 0).then(bits).otherwise(bits.xor(_FLIP))


def group_limit(*, places: bool) -> int:
    """How many groups a key can tell apart."""
    return _GROUPS_BESIDE_PLACES if places else _GROUPS


class SortKey(NamedTuple):
    """How the keys of rows are laid out: an Int128 of group, score, place among equal scores where asked for, truth."""

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

    @property
    def _room(self) -> int:
        """What a block is multiplied by, to make room for what stands below it."""
        return 2 * PLACES if self.places else 2

    def block_of_row(self) -> pl.Expr:
        """Integer for the rows of one group that share one score; ascends by group, then from the best score on.

        Of `group` and `score`; rows without a score come last, and behind these the rows that are dropped.
        """
        code = score_code(pl.col("score"), self.dtype)
        rank = (code - _LOWEST if self.ascending else _HIGHEST - code).fill_null(_UNRETRIEVED)
        if self.drops:
            rank = pl.when("dropped").then(pl.lit(_DROPPED, dtype=pl.Int128)).otherwise(rank)
        return pl.col("group").cast(pl.Int128) * _SCORES + rank

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

    def unpacked(self) -> dict[str, pl.Expr]:
        """Parts of the column `key`: `bits` of group and score; `place_bits` of these and the place; `truth`."""
        key = pl.col("key")
        return {"bits": key & -self._room, "place_bits": key & -2, "truth": self.truth_bit(key & 1)}

    def place_of_row(self) -> pl.Expr:
        """A place that holds the number of the row, so that other columns can be fetched by it after the sort."""
        return self.truth_bit(pl.col("truth")) * (PLACES // 2) + pl.col("row")

    def row(self) -> pl.Expr:
        """The number of the row, of the column `key` that was packed with it."""
        return ((pl.col("key") & (PLACES - 1)) // 2).cast(pl.UInt32)

    # From here on, of the column `bits`, which tells groups and blocks apart: they are numbered where few are left.

    def group_bits(self) -> pl.Expr:
        """What tells groups apart."""
        return pl.col("bits") & -(_SCORES * self._room)

    def group(self) -> pl.Expr:
        """The number of the group."""
        return (pl.col("bits") // (_SCORES * self._room)).cast(pl.Int64)

    def block(self) -> pl.Expr:
        """The number of the block, as `block_of_row` gives it."""
        return pl.col("bits") // self._room

    def is_retrieved(self) -> pl.Expr:
        """Whether there is a score."""
        return self._rank_bits() < _UNRETRIEVED * self._room

    def counts(self) -> pl.Expr:
        """Whether the row is not dropped."""
        return self._rank_bits() < _DROPPED * self._room

    def rank_key(self) -> pl.Expr:
        """Integer of a score, the larger the better it is."""
        return _HIGHEST - self._rank_bits() // self._room

    def threshold(self, rank_key: pl.Expr) -> pl.Expr:
        """The score of this rank_key."""
        return score_of(_HIGHEST - rank_key + _LOWEST if self.ascending else rank_key, self.dtype)

    def reaches(self, code: int | pl.Expr) -> pl.Expr:
        """Whether the score is as good as that of this code, or better."""
        least = code - _LOWEST if self.ascending else _HIGHEST - code
        return self._rank_bits() < (least + 1) * self._room

    def _rank_bits(self) -> pl.Expr:
        return pl.col("bits") & (_SCORES * self._room - 1)


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
