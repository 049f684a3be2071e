"""The rows that every measurement works on: made from a fixed seed, in random order."""

from __future__ import annotations

import math

import numpy as np
import polars as pl


def _skewed(rows: int) -> np.ndarray:
    """Group sizes by a power law: the largest has a tenth of the rows, the smallest one row."""
    sizes = np.maximum(1, rows / 10 / np.arange(1, rows + 1) ** 1.05).astype(np.int64)
    return np.repeat(np.arange(rows), sizes)[:rows]


# The group of each row, for a number of rows. The names are what comes out for 10M rows.
SHAPES = {
    "100k x 100": lambda rows: np.arange(rows) // 100,
    "2M x 5": lambda rows: np.arange(rows) // 5,
    "20 x 500k": lambda rows: np.arange(rows) * 20 // rows,
    "1 x 10M": lambda rows: np.zeros(rows, np.int64),
    "skewed": _skewed,
}


def generate(shape: str, rows: int) -> pl.DataFrame:
    """What any measurement needs: `query, relevant, score`."""
    draw = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "query": draw.permutation(SHAPES[shape](rows)),
            "relevant": draw.random(rows) < 0.1,
            "score": np.round(draw.random(rows), 3),
        }
    )


def with_variations(data: pl.DataFrame) -> pl.DataFrame:
    """The same rows with a column for each way in which other data may differ."""
    draw = np.random.default_rng(1)
    rows = len(data)
    query = pl.col("query")
    return data.with_columns(
        # No two alike, and exact in 32 bits up to 2**24 rows: some peers hold scores as Float32.
        distinct=pl.Series(draw.permutation(rows) / 2 ** math.ceil(math.log2(rows))),
        single=pl.col("score").cast(pl.Float32),
        coarse=pl.col("score").round(2),
        often=pl.Series(draw.random(rows) < 0.5),
        name="query_" + query.cast(pl.String),
        half=query // 2,
        side=query % 2,
        document=pl.Series(draw.integers(0, 2**31, rows)),
        whole=pl.Series(draw.integers(0, 4, rows)),
        weight=pl.Series(draw.random(rows)),
        known=pl.lit(rows),
        grade=pl.col("relevant") * pl.Series(draw.integers(1, 4, rows)),
    )


def sample(data: pl.DataFrame, groups: int, rows: int) -> tuple[pl.DataFrame, float]:
    """The rows of at most so many groups, evenly spaced in order of size, and the share of the groups that they are."""
    sizes = data.group_by("query").len().sort("len", "query")
    taken = max(1, min(groups, len(sizes), rows * len(sizes) // len(data)))
    chosen = sizes[[int((i + 0.5) * len(sizes) / taken) for i in range(taken)]]
    return data.join(chosen, on="query", how="semi"), taken / len(sizes)
