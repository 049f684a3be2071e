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
@pytest.mark.parametrize("above", [0, 20_000])
def test_first_hits(hits, above):
    size = 5000
    for taken in (1, 1000, 1300, 4000, size):
        numbers = [0, 0]
        for place in range(min(taken, size - hits + 1)):
            chance = Fraction(comb(size - 1 - place, hits - 1), comb(size, hits))
            numbers[0] += chance
            numbers[1] += chance / (above + place + 1)
        for exact, reciprocal in zip(numbers, (False, True), strict=True):
            found = runs.first_hit(size, hits, above, taken, reciprocal=reciprocal)
            assert float(found) == near(float(exact), rel=1e-13)
