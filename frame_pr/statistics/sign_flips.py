"""A permutation test of paired differences: how often their sum is as large when a coin decides the sign of each.

Differences become whole numbers, whose sums are the same in any order and on any engine.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

TIE = 2.0**-44
"""A smaller difference is a rounding error, in units of the power of two next below the largest value."""
_PARTS = 2.0**49
"""Parts of that unit that differences are rounded to before they are added up."""
_EXACT = 20
"""Up to so many differences other than 0 are flipped in all ways; of more, some ways are drawn."""
_BITS = 64
"""Ways that one word tells of one difference, a bit each: it is 6 differences that have so many."""
_EVERY_OTHER = [sum(1 << bit for bit in range(_BITS) if bit >> i & 1) for i in range(6)]
_GOLDEN = 0x9E3779B97F4A7C15


def signs(difference: pl.Expr) -> dict[str, pl.Expr]:
    """Whether a difference is a win, a tie or a loss."""
    return {"wins": difference >= TIE, "ties": difference.abs() < TIE, "losses": difference <= -TIE}


def parts_of(difference: pl.Expr) -> pl.Expr:
    """A difference as a whole number of parts, 0 for a tie."""
    parts = (difference * _PARTS).round().cast(pl.Int128)
    return pl.when(difference.abs() < TIE).then(0).otherwise(parts)


def p_values(table: pl.LazyFrame, keys: Sequence[str], *, resamples: int, seed: int) -> pl.LazyFrame:
    """`keys` and `p_value`, of a table of `keys`, `place` (a number for each difference) and `parts` (of `parts_of`).

    With n differences other than 0 it is the share of the 2^n ways whose |sum| is at least that of the data; if n is
    over 20, `(1 + c) / (1 + resamples)` with the number c of such among those drawn. These depend on the seed and on
    the places alone. Keys of which all differences are 0 are left out.
    """
    parts, word, drawn = pl.col("parts"), pl.col("word"), pl.col("n") > _EXACT
    words = -(-resamples // _BITS)
    nonzero = table.filter(parts != 0).with_columns(
        n=pl.len().cast(pl.Int64).over(keys), i=pl.int_range(pl.len(), dtype=pl.Int64).over(keys)
    )
    in_all = pl.lit(2, dtype=pl.Int64).pow((pl.col("n") - 6).clip(0, _EXACT - 6))
    ways = nonzero.with_columns(word=pl.int_ranges(0, pl.when(drawn).then(words).otherwise(in_all))).explode("word")
    ways = ways.with_columns(
        signs=pl.when(drawn).then(random_words(pl.col("place") * words + word, seed)).otherwise(_all_signs())
    )
    flipped = (parts * ((pl.col("signs") & (1 << bit)) != 0) for bit in range(_BITS))
    sums = ways.group_by(*keys, "word").agg(
        *(part.sum().alias(f"{bit}") for bit, part in enumerate(flipped)),
        total=parts.sum(),
        n=pl.col("n").first(),
    )
    # A difference is off by one part at most, by rounding, and a tie is less than 32 of them: so the tolerance never
    # makes up for a sign.
    least = pl.col("total").abs() - 2 * pl.col("n")
    as_large = (
        ((pl.col("total") - 2 * pl.col(f"{bit}")).abs() >= least) & (~drawn | (word * _BITS + bit < resamples))
        for bit in range(_BITS)
    )
    counts = sums.select(*keys, "n", c=pl.sum_horizontal(part.cast(pl.Int64) for part in as_large))
    return counts.group_by(keys).agg(
        p_value=pl.when(drawn.first())
        .then((pl.col("c").sum() + 1) / (resamples + 1))
        .otherwise(pl.col("c").sum() / (_BITS * pl.len()))
    )


def _all_signs() -> pl.Expr:
    """The word of a number that tells of the i-th difference: so that all words have all ways."""
    i, word = pl.col("i"), pl.col("word")
    within = pl.lit(pl.Series(_EVERY_OTHER, dtype=pl.UInt64)).gather(i.clip(0, 5))
    between = (word // pl.lit(2, dtype=pl.Int64).pow((i - 6).clip(0, 62)) % 2).cast(pl.UInt64)
    return pl.when(i < 6).then(within).otherwise(between * pl.lit(2**64 - 1, dtype=pl.UInt64))


def random_words(number: pl.Expr, seed: int) -> pl.Expr:
    """The words of these numbers, from 0, that SplitMix64 gives: Steele, Lea and Flood (2014). They wrap around."""
    word = (number.cast(pl.UInt64) + 1) * pl.lit(_GOLDEN, dtype=pl.UInt64) + pl.lit(seed, dtype=pl.UInt64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word // 2**shift)) * pl.lit(factor, dtype=pl.UInt64)
    return word ^ (word // 2**31)
