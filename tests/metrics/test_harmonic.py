import math
from fractions import Fraction

import polars as pl
import pytest

from frame_pr.metrics.average_precisions import harmonic_difference


@pytest.mark.parametrize(
    ("start", "count"),
    [(0, 1), (0, 2), (0, 5), (3, 100_000), (10**6, 1), (10**6, 1000), (10**9, 10), (12345, 0)],
)
def test_harmonic_difference(start, count):
    exact = float(
        sum((Fraction(1, start + i) for i in range(1, min(count, 1000) + 1)), Fraction(0))
    )
    if count > 1000:
        exact = math.fsum(1 / (start + i) for i in range(1, count + 1))
    found = pl.select(harmonic_difference(pl.lit(start, pl.Int64), pl.lit(count, pl.Int64))).item()
    assert found == pytest.approx(exact, rel=4e-16, abs=0)
