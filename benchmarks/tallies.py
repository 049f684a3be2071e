"""Tallies against the rows that they stand for: `python -m benchmarks.tallies --rows 100000000`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import frame_pr as fp
from benchmarks.measure import Times, in_turns

GRID = [i / 100 for i in range(101)]


def generated(rows: int, groups: int) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "group": draw.integers(0, groups, rows, dtype=np.int32),
            "hit": draw.random(rows) < 0.1,
            "score": draw.random(rows),
        }
    )


def measured(rows: int, groups: int, rounds: int) -> dict[str, Times]:
    """Average precision of the rows, of their tally on a grid, and of as many rows that are no tally."""
    data = generated(rows, groups)
    columns = {"truth": "hit", "score": "score", "by": "group"}
    binned = fp.tally(data, **columns, bins=GRID)
    few = data.head(binned.height)
    size = f"{binned.height:,}"
    large: dict[str, Callable[[], Any]] = {
        f"average precision of {rows:,} rows": lambda: fp.average_precision(data, **columns),
        "`tally` of them": lambda: fp.tally(data, **columns).height,
        "`tally` of them, in 101 bins": lambda: fp.tally(data, **columns, bins=GRID).height,
    }
    small: dict[str, Callable[[], Any]] = {
        f"average precision of the {size} rows of that": lambda: fp.average_precision(binned, **columns, count="count"),
        f"average precision of {size} other rows": lambda: fp.average_precision(few, **columns),
    }
    return in_turns(large, rounds) | in_turns(small, 10 * rounds)


def main() -> None:
    """Print the best of a few rounds."""
    parser = argparse.ArgumentParser(description="Tallies against the rows.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name, times in measured(given.rows, given.groups, given.rounds).items():
        print(f"{times.best:8.3f} s  {name}")


if __name__ == "__main__":
    main()
