"""The packed key by which rows are sorted: one integer of group, score and label.

Only this file knows which bits of a sort key hold the group, the score, the place among equal scores and the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple

import polars as pl

PLACES = 2**33
"""Places among equal scores are smaller than this."""
_GROUPS = 2**60
_GROUPS_WITH_PLACES = 2**28
_SCORES = 2**65
# Codes of scores lie between -2**63 and 2**64, for Int64, UInt64 and Float64.
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1
_FLIP = pl.lit(2**63 - 1, dtype=pl.Int64)


def score_code(score: pl.Expr, dtype: pl.DataType, integer: type[pl.DataType] = pl.Int128) -> pl.Expr:
    """Return an integer that orders as the score does, and is equal for equal scores."""
    if dtype.is_float():
        # The bits of positive floats order as the floats do. -0.0 equals 0.0 but has other bits, hence `abs`.
        bits = score.cast(pl.Float64).abs().reinterpret(dtype=pl.Int64)
        return pl.when(score >= 0).then(bits).otherwise(-1 - bits).cast(integer)
    if dtype == pl.Decimal:
        return score.to_physical()
    return score.cast(integer)


def score_of(code: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the score that has this code."""
    if dtype.is_float():
        bits = code.cast(pl.Int64)
        # The negative of the bits of the positive float, less 1, with the sign bit set.
        bits = pl.when(bits >= 0).then(bits).otherwise(bits.xor(_FLIP))
        return bits.reinterpret(dtype=pl.Float64).cast(dtype)
    if isinstance(dtype, pl.Decimal):
        # Before 2.0, a product of decimals has at most 38 digits: 19 of the number, and up to 19 places at a time.
        places, number = 0, code.cast(pl.Decimal(38, 0))
        for scale in (dtype.scale // 2, dtype.scale):
            unit = pl.lit(Decimal(f"1e{places - scale}"), dtype=pl.Decimal(38, scale))
            places, number = scale, number * unit
        return number.cast(dtype)
    return code.cast(dtype)


def group_limit(*, places: bool) -> int:
    """Return the number of groups that a key can distinguish."""
    return _GROUPS_WITH_PLACES if places else _GROUPS


class Layout(NamedTuple):
    """The layout of keys in integers: how groups and codes of scores are numbered. No layout rounds."""

    integer: type[pl.DataType] = pl.Int128
    scores: int = _SCORES
    """The number of ranks in a group. The last two are for rows without a score, and for dropped rows."""
    best: int | None = None
    """The code of the best score; None: the best score of the dtype."""
    step: int = 1
    """A common divisor of all differences of codes."""
    first_group: int = 0
    places: int = PLACES
    """The number of places among equal scores, if keys have places."""
    blocks: type[pl.DataType] = pl.Int128
    """The integers of groups and scores alone. Arithmetic of 64 bits takes a third of the time."""


WIDE = Layout()
"""The layout for any groups and scores."""
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


@dataclass(frozen=True, eq=False, repr=False)
class SortKey:
    """The sort key: an integer of group, score, optionally the place among equal scores, and label."""

    dtype: pl.DataType
    """The code of the scores."""
    ascending: bool
    """Whether lower scores rank first."""
    places: bool
    hits_first: bool
    """Whether positives come before negatives if nothing else decides."""
    drops: bool
    """Whether some rows may not count; the column `dropped` marks them."""
    score_dtypes: Sequence[pl.DataType] = ()
    """The dtypes of the scores, one for each system."""
    layout: Layout = WIDE

    @cached_property
    def _room(self) -> int:
        """Return the factor of a block, which leaves room for the lower bits."""
        return 2 * self.layout.places if self.places else 2

    def block_of_row(self) -> pl.Expr:
        """Return an integer for the rows of one group that share a score.

        It is computed from `group` and `score`, and ascends by group, then from the best score on. Rows without a score
        come last, and dropped rows after them.
        """
        layout = self.layout
        rank = self._rank(score_code(pl.col("score"), self.dtype, layout.blocks))
        rank = rank.fill_null(pl.lit(self._unretrieved, dtype=layout.blocks))
        if self.drops:
            rank = pl.when("dropped").then(pl.lit(self._dropped, dtype=layout.blocks)).otherwise(rank)
        group = pl.col("group").cast(layout.blocks)
        return (group - layout.first_group if layout.first_group else group) * layout.scores + rank

    @property
    def _unretrieved(self) -> int:
        return self.layout.scores - 2

    @property
    def _dropped(self) -> int:
        return self.layout.scores - 1

    @property
    def _best(self) -> int:
        """Return the code whose rank is 0."""
        if self.layout.best is not None:
            return self.layout.best
        return _LOWEST if self.ascending else _HIGHEST

    def _rank(self, code: pl.Expr) -> pl.Expr:
        """Return the rank of a score among all possible scores, 0 for the best one."""
        best = pl.lit(self._best, dtype=self.layout.blocks)
        rank = code - best if self.ascending else best - code
        return rank if self.layout.step == 1 else rank // self.layout.step

    def narrowed(self, rows: pl.DataFrame, numbers: int = 0) -> SortKey:
        """Return this key with an Int64 layout if the groups and scores of these rows fit; otherwise unchanged.

        If they fit without the numbers of the rows, keys are in Int128, but only the numbers are added there.

        `numbers`: the largest number of a row, if places hold such numbers.
        """
        if self.dtype not in _CODES_IN_INT64:
            return self
        places = 2 << numbers.bit_length()
        group, score = pl.col("group"), pl.col("score")
        extremes = [group.min().alias("first"), group.max().alias("last")]
        code = score_code(score, self.dtype, pl.Int64)
        bits = [code.min().alias("low"), code.max().alias("high"), code.bitwise_or().alias("bits")]
        first, last, low, high, all_bits = rows.lazy().select(*extremes, *bits).collect(engine="streaming").row(0)
        # The lowest bit that any code has. All codes, and so their differences, are multiples of it.
        if low is None:
            return self
        return self._fitted(first, last, low, high, step=all_bits & -all_bits or 1, places=places)

    def _fitted(self, first: int, last: int, low: int, high: int, *, step: int, places: int) -> SortKey:
        """Return the key with the layout for these groups and codes, if they fit."""
        if high - low >= 2**63:  # An Int64 does not hold the difference, although it may hold its number of steps.
            return self
        scores = 1 << ((high - low) // step + 2).bit_length()
        best = low if self.ascending else high
        layout = Layout(pl.Int64, scores, best, step, first, places, blocks=pl.Int64)
        fitted, blocks = replace(self, layout=layout), (last - first + 1) * scores
        if blocks * fitted._room <= 2**63:
            return fitted
        return replace(self, layout=layout._replace(integer=pl.Int128)) if blocks <= 2**63 else self

    def _code_of_bits(self) -> pl.Expr:
        """Return the code of the score in this layout, from the column `bits` of a retrieved row."""
        rank = self._rank_bits() // self._room
        code: pl.Expr = rank * (self.layout.step if self.ascending else -self.layout.step) + self._best
        return code

    def score_reaches(self, code: int | pl.Expr) -> pl.Expr:
        """Return whether the score of a row is at least as good as this code; null if the score is missing."""
        score = score_code(pl.col("score"), self.dtype)
        limit = pl.lit(code, dtype=pl.Int128) if isinstance(code, int) else code
        return score <= limit if self.ascending else score >= limit

    def pack(self, place: pl.Expr | None = None) -> pl.Expr:
        """Return the sort key of a row from `group`, `truth`, `score`, and its place if keys have one."""
        truth = self.truth_bit(pl.col("truth"))
        low_bits = truth if place is None else place * 2 + truth
        return self.block_of_row().cast(self.layout.integer) * self._room + low_bits

    def truth_bit(self, truth: pl.Expr) -> pl.Expr:
        """Map a label to its key bit and back (the mapping is its own inverse); the smaller bit comes first."""
        return 1 - truth.cast(pl.Int64) if self.hits_first else truth.cast(pl.Int64)

    def bits(self) -> pl.Expr:
        """Return the group and the score of the column `key`."""
        return pl.col("key") & -self._room

    def place_bits(self) -> pl.Expr:
        """Return the group, the score and the place of the column `key`."""
        return pl.col("key") & -2

    def truth(self) -> pl.Expr:
        """Return the label of the column `key`, as an integer."""
        return self.truth_bit(pl.col("key") & 1).cast(pl.Int64)

    def ends(self, *, of: Literal["group", "block", "place", "row", "truth"]) -> pl.Expr:
        """Return whether the next one of the sorted column `key` is of another group, or block, and so on.

        "row": of another truth, in keys that hold the number of their row.
        """
        group = self.layout.scores * self._room
        below = {"group": group, "block": self._room, "row": self.layout.places, "place": 2, "truth": 1}[of]
        # The first bit in which the two differ.
        return (pl.col("key").xor(pl.col("key").shift(-1)) >= below).fill_null(True)

    def place_of_row(self) -> pl.Expr:
        """Return a place that holds a number of the row: its index, for gathering other columns, or its weight."""
        return self.truth_bit(pl.col("truth")) * (self.layout.places // 2) + pl.col("number")

    def number_of_row(self) -> pl.Expr:
        """Return the number of the row that was packed into the column `key`."""
        low_bits: pl.Expr = pl.col("key").cast(pl.Int64, wrap_numerical=True) & (self.layout.places - 1)
        return low_bits // 2

    # These expressions read the column `bits`, which distinguishes groups and blocks. If there are few, they are
    # numbered.

    def group_bits(self) -> pl.Expr:
        """Return the bits that distinguish groups."""
        return pl.col("bits") & -(self.layout.scores * self._room)

    def group(self, column: str = "bits") -> pl.Expr:
        """Return the number of the group, from the column `bits` or `key`."""
        group = (pl.col(column) // (self.layout.scores * self._room)).cast(pl.Int64)
        return group + self.layout.first_group if self.layout.first_group else group

    def is_retrieved(self) -> pl.Expr:
        """Return whether there is a score."""
        return self._rank_bits() < self._unretrieved * self._room

    def first_unretrieved(self) -> pl.Expr:
        """Return the smallest key of a row without a score in the group of the column `key`."""
        group = pl.col("key") & -(self.layout.scores * self._room)
        return group + self._unretrieved * self._room

    def counts(self) -> pl.Expr:
        """Return whether the row counts."""
        return self._rank_bits() < self._dropped * self._room

    def rank_key(self) -> pl.Expr:
        """Return an integer of a retrieved row that is larger for a better score, in every layout."""
        code = self._code_of_bits()
        return 0 - code.cast(pl.Int128) if self.ascending else code.cast(pl.Int128)

    def score(self) -> pl.Expr:
        """Return the score of a retrieved row."""
        return score_of(self._code_of_bits(), self.dtype)

    def threshold(self, rank_key: pl.Expr) -> pl.Expr:
        """Return the score of this rank_key."""
        return score_of(0 - rank_key if self.ascending else rank_key, self.dtype)

    def reaches(self, code: int | pl.Expr) -> pl.Expr:
        """Return whether the score is at least as good as this code."""
        if isinstance(code, int):
            least = (code - self._best if self.ascending else self._best - code) // self.layout.step
            return self._rank_bits() < min(max(least + 1, 0), self._unretrieved) * self._room
        rank = (code - self._best if self.ascending else self._best - code) // self.layout.step
        return self._rank_bits() < (rank + 1).clip(0, self._unretrieved).cast(self.layout.integer) * self._room

    def _rank_bits(self) -> pl.Expr:
        return pl.col("bits") & (self.layout.scores * self._room - 1)


def largest_by(figure: pl.Expr) -> pl.Expr:
    """Pack a value of at least 0 and the column `rank_key` into an integer whose maximum belongs to the largest value.

    The bits of such a float order as the float does. Below them, the score decides between equal values.
    """
    return figure.reinterpret(dtype=pl.Int64).cast(pl.Int128) * _SCORES + pl.col("rank_key")


def smallest_by(figure: pl.Expr) -> pl.Expr:
    """Pack a value and the rank_key into an integer whose maximum belongs to the smallest value."""
    return pl.col("rank_key") - figure.reinterpret(dtype=pl.Int64).cast(pl.Int128) * _SCORES


def parts_of_largest(largest: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return the value and the rank_key of an integer from `largest_by` or `smallest_by`."""
    bits = (largest + _SCORES // 2) // _SCORES
    return bits.abs().cast(pl.Int64).reinterpret(dtype=pl.Float64), largest - bits * _SCORES
