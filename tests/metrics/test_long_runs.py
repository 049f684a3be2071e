"""Runs of tied ranks of any length: against exact sums, and closed forms where such a sum has no end."""

import tracemalloc
from decimal import Decimal
from fractions import Fraction
from math import exp, fsum, lgamma, log, log2

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.metrics.long_runs import DISCOUNTS, FIRST_HITS
from frame_pr.metrics.rank_metrics import _expected, discounts

near = pytest.approx


def discount(before, upto):
    return pl.select(discounts(pl.lit(before, dtype=pl.Int64), pl.lit(upto, dtype=pl.Int64))).item()


def expected(size, hits, before, selected, *, reciprocal):
    numbers = [pl.lit(number, dtype=pl.Int64) for number in (size, hits, before + size, selected)]
    table = pl.select(**dict(zip(("size", "hits", "k", "selected"), numbers, strict=True)))
    for step in _expected(reciprocal=reciprocal):
        table = table.with_columns(**step)
    return table["value"].item()


def harmonic(start, count):
    """1/(start + 1) + ... + 1/(start + count): the first 1000 one by one, the others as an integral."""
    near = min(count, 1000)
    first = fsum(1 / (start + i) for i in range(1, near + 1))
    low, high = start + near + Fraction(1, 2), start + count + Fraction(1, 2)
    return first + log(high / low) - float(1 / low**2 - 1 / high**2) / 24


@pytest.mark.parametrize("length", [1, DISCOUNTS, DISCOUNTS + 1, 1000, 30_000])
@pytest.mark.parametrize("before", [0, 1, 63, 1000, 1024, 10**6])
def test_discounts_are_the_sum_over_the_ranks(before, length):
    exact = fsum(1 / log2(rank + 1) for rank in range(before + 1, before + length + 1))
    assert discount(before, before + length) == near(exact, rel=1e-14)


@pytest.mark.parametrize("before", [10**15, 2**53, 2**55])
def test_discounts_far_down_are_nearly_equal(before):
    # Over 10**6 ranks they fall by a share of 10**6 / before / ln(before).
    for length in (65, 10**6):
        assert discount(before, before + length) == near(length / log2(before + length / 2), rel=1e-14)


@pytest.mark.parametrize("cut", [3, 1024, 70_000, 10**9, 10**15])
def test_discounts_add_up(cut):
    whole = discount(0, 2**56)
    assert discount(0, cut) + discount(cut, 2**56) == near(whole, rel=1e-14)
    # The integral of ln 2 / ln x as far as 2**56, by its asymptotic series x / ln x (1 + 1!/ln x + 2!/ln^2 x + ...).
    x, terms, term = 56 * log(2), [], 1.0
    for k in range(1, 39):
        terms.append(term)
        term *= k / x
    assert whole == near(log(2) * 2.0**56 / x * fsum(terms), rel=1e-12)


def in_order(size, hits, before, selected, *, reciprocal):
    """Place by place, in decimals of 28 digits."""
    misses, chance, terms = size - hits, Decimal(hits) / size, []
    for place in range(min(selected, misses + 1)):
        terms.append(chance / (before + place + 1 if reciprocal else 1))
        if place < misses:
            chance = chance * (misses - place) / (size - 1 - place)
    return float(sum(terms))


@pytest.mark.parametrize("reciprocal", [False])
@pytest.mark.parametrize("hits", [1, 2])
def test_first_hits_are_the_sum_over_the_places(hits, reciprocal):
    size = 5000
    for before in (0, 1, 300, 10**6):
        for selected in (FIRST_HITS, FIRST_HITS + 1, 700, 3000, size):
            exact = in_order(size, hits, before, selected, reciprocal=reciprocal)
            assert expected(size, hits, before, selected, reciprocal=reciprocal) == near(exact, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [10**6])
def test_first_hits_of_huge_ties(size):
    # Without rows above, the expected reciprocal rank of r hits is r / (g - r + 1) times 1/r + ... + 1/g.
    for hits in (1, 2, 1000, size // 10**5, size // 3):
        exact = hits / (size - hits + 1) * harmonic(hits - 1, size - hits + 1)
        assert expected(size, hits, 0, size, reciprocal=True) == near(exact, rel=1e-12)
    # One hit is at every place alike; of the places behind `before` rows.
    for before, selected in ((0, 1000), (5, size // 2), (10**6, size), (size // 3, size)):
        assert expected(size, 1, before, selected, reciprocal=True) == near(
            harmonic(before, selected) / size, rel=1e-12
        )
        assert expected(size, 1, before, selected, reciprocal=False) == near(selected / size, rel=1e-12)
    # None of two hits is among the rows selected, with (g - k)(g - k - 1) of g (g - 1).
    for selected in (1000, size // 10, size - 20_000, size - 5):
        left = size - selected
        chance = 1 - Fraction(left * (left - 1), size * (size - 1))
        assert expected(size, 2, 0, selected, reciprocal=False) == near(float(chance), rel=1e-12)


def test_many_hits_of_a_huge_tie():
    # Of 2**50 rows and 2**30 hits each row is one with 2**-20, but for terms of 2**-30 and smaller.
    size, hits, selected = 2**50, 2**30, 2**20
    exact = 1 - exp(selected * log(1 - hits / size))
    assert expected(size, hits, 0, selected, reciprocal=False) == near(exact, rel=1e-9)
    size, hits, selected = 10**5, 900, 700
    none = lgamma(size - hits + 1) + lgamma(size - selected + 1) - lgamma(size - hits - selected + 1) - lgamma(size + 1)
    assert expected(size, hits, 0, selected, reciprocal=False) == near(1 - exp(none), rel=1e-9)


NAMES = ["ndcg", "dcg", "reciprocal_rank", "ndcg@50%", "reciprocal_rank@50%", "success@10%", "success@10"]


def test_counts_take_no_memory():
    c = 2**53
    frame = pl.DataFrame({"y": [1, 0, 0, 1], "s": [0.5, 0.5, 0.7, 0.6], "c": [c, c - 1, 1, 3]})
    tracemalloc.start()
    found = fp.evaluate(frame, NAMES, "y", "s", count="c").row(0, named=True)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
    assert found["reciprocal_rank"] == near(1 / 2)
    assert found["success@10%"] == found["success@10"] == 1
    assert found["ndcg"] == near((discount(1, 4) + discount(4, 2**54 + 3) * c / (2**54 - 1)) / discount(0, c + 3))


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["threshold", "expected"])
def test_counts_are_rows(ties):
    """A count gives, to the last bit, what so many rows give: also in groups, lazily and with gains."""
    table = pl.DataFrame(
        {"q": [1, 1, 1, 2, 2], "y": [0, 1, 0, 0, 1], "s": [2, 1, 1, 3, 3], "c": [30, 9, 900, 1500, 70]}
    )
    table = table.with_columns(g=pl.Series([0, 3, 0, 1, 2]))
    rows = table.select(pl.exclude("c").repeat_by("c").explode(empty_as_null=False))
    for options in ({}, {"gain": "g"}):
        names = NAMES if not options else [*NAMES[:2], NAMES[3]]
        by_rows = fp.evaluate(rows, names, "y", "s", by="q", ties=ties, **options)
        assert fp.evaluate(table, names, "y", "s", by="q", ties=ties, count="c", **options).equals(by_rows)
        lazy = fp.evaluate(table.lazy(), names, "y", "s", by="q", ties=ties, count="c", **options)
        assert lazy.collect().equals(by_rows)
    expressions = rows.group_by("q", maintain_order=True).agg(
        pl.col("s").pr.metric("y", name).alias(name) for name in NAMES
    )
    assert expressions.equals(fp.evaluate(rows, NAMES, "y", "s", by="q"))
