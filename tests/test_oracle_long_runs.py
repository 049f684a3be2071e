"""The closed forms of the oracle against sums over all places."""

from fractions import Fraction
from math import comb, fsum, log2

import oracle_long_runs as runs
import pytest

near = pytest.approx


@pytest.mark.parametrize("start", [0, 3, 5000])
@pytest.mark.parametrize("count", [1, 1000, 1001, 20_000])
def test_sums_over_ranks(start, count):
    exact = sum((Fraction(10**40) / (start + i) // 1 for i in range(1, count + 1)), 0)
    assert abs(runs.harmonic(start, count) * 10**40 - exact) < 2 * count
    exact = fsum(1 / log2(start + i + 1) for i in range(1, count + 1))
    assert runs.discounts(start, start + count) == near(exact, rel=1e-14)
    assert runs.geometric(Fraction(4, 5), start, count) == near(fsum(0.8 ** (start + i) for i in range(count)))


@pytest.mark.slow
@pytest.mark.parametrize("hits", [1, 30, 999, 1001, 4000])
def test_first_hits(hits):
    size, starts = 5000, (0, 20_000)
    # The chance that the first hit is at a place, as whole numbers over all ways to choose the places of the hits.
    ways, chosen = comb(size, hits), comb(size - 1, hits - 1)
    chances = []
    for place in range(size - hits + 1):
        chances.append(chosen / ways)
        left = size - 1 - place
        chosen = chosen * (left - hits + 1) // left if left else 0
    for taken in (1, 1000, 1300, 4000, size):
        assert float(runs.first_hit(size, hits, 0, taken, reciprocal=False)) == near(fsum(chances[:taken]), rel=1e-13)
        for above in starts:
            exact = fsum(chance / (above + place) for place, chance in enumerate(chances[:taken], start=1))
            assert float(runs.first_hit(size, hits, above, taken, reciprocal=True)) == near(exact, rel=1e-13)
