"""Rows that several of the tests ask about."""

import random
from decimal import Decimal
from functools import cache

import polars as pl

import frame_pr as fp

INFINITY = float("inf")


def ranked(*truth: int) -> pl.DataFrame:
    """Rows in this order of rank, without ties."""
    return pl.DataFrame({"relevant": truth, "score": range(len(truth), 0, -1)})


# Hits at ranks 1, 2, 4, 6, 10; P = 5.
TEN = ranked(1, 1, 0, 1, 0, 1, 0, 0, 0, 1)
# Hits at ranks 2, 4, 5; P = 3.
SIX = ranked(0, 1, 0, 1, 1, 0)
# Twelve rows that begin 1, 1, 0; P = 4.
TWELVE = ranked(1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0)
CLASSES = [1, 1, 0, 0, 1, 1, 0, 0]
A = pl.DataFrame({"relevant": CLASSES, "score": [0.95, 0.85, 0.73, 0.62, 0.48, 0.39, 0.12, 0.04]})
B = pl.DataFrame({"relevant": CLASSES, "score": [0.55, 0.59, 0.88, 0.97, 0.20, 0.09, 0.43, 0.32]})
# A hit, then a block of three rows with two hits.
CUT_BLOCK = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [2, 1, 1, 1, 0]})
# Two misses, then a block of two hits: precision rises with recall.
LATE_BLOCK = pl.DataFrame({"relevant": [0, 0, 1, 1], "score": [3, 2, 1, 1]})
# Rows of one score: a hit and a miss, a hit and two misses, two hits and two misses.
PAIR, TRI, FOUR = (
    pl.DataFrame({"relevant": truth, "score": [1] * len(truth)})
    for truth in ([1, 0], [1, 0, 0], [1, 1, 0, 0])
)
# A miss, then a block of two hits and a miss.
LATE = pl.DataFrame({"relevant": [0, 1, 1, 0], "score": [2, 1, 1, 1]})


def groups() -> pl.DataFrame:
    """Small groups of every sort: ties, one row, all positive, none, both zeros, infinities."""
    rng = random.Random(3)
    pools = [
        [0.0, -0.0, 0.5],
        [0.5, 0.75, 1.0],
        [-INFINITY, -1.0, 0.5, INFINITY],
        [1e300, 1e-300, -1e300],
        None,
    ]
    rows = []
    for group in range(120):
        pool = pools[group % len(pools)]
        share = rng.choice([0.0, 0.1, 0.5, 1.0])
        for _ in range(rng.choice([1, 2, 3, 7, 15])):
            score = rng.random() if pool is None else rng.choice(pool)
            rows.append((group, rng.random() < share, score))
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema=["q", "relevant", "score"], orient="row")


@cache
def alone(name: str) -> pl.DataFrame:
    """The metric of those groups, asked for by itself: once for all tests."""
    return fp.evaluate(groups(), name, "relevant", "score", by="q")


FLOATS = [
    -INFINITY,
    -1e308,
    -1.5,
    -1e-300,
    -5e-324,
    0.0,
    5e-324,
    1e-300,
    0.1,
    1.0,
    1.0 + 2**-52,
    1e308,
    INFINITY,
]
FLOAT32 = [-INFINITY, -3e38, -1.5, -1e-45, 0.0, 1e-45, 0.5, 1.0, 1.0 + 2**-23, 3e38, INFINITY]
# Of each dtype, ascending: the ends of its range, zero, and neighbours.
SCORES = [
    (pl.Float64, FLOATS),
    (pl.Float32, FLOAT32),
    (pl.Int8, [-128, -1, 0, 1, 127]),
    (pl.UInt8, [0, 1, 255]),
    (pl.Int64, [-(2**63), -(2**53) - 1, -(2**53), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]),
    (pl.UInt64, [0, 1, 2**63 - 1, 2**63, 2**64 - 1]),
    (pl.Decimal(38, 38), [Decimal(n).scaleb(-38) for n in (1 - 2**63, -1, 0, 1, 2**63 - 1)]),
    (
        pl.Decimal(20, 3),
        [Decimal(text) for text in ("-123456789.001", "-0.001", "0.000", "0.001", "7.500")],
    ),
]
SCORE_IDS = [str(dtype) for dtype, _ in SCORES]
