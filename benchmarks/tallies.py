"""Tallies against the rows that they stand for: `python -m benchmarks.tallies --rows 100000000`."""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import frame_pr as fp
from benchmarks.measure import in_turns

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


def main() -> None:
    """Print the best of a few rounds."""
    parser = argparse.ArgumentParser(description="Tallies against the rows.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    data = generated(given.rows, given.groups)
    columns = {"truth": "hit", "score": "score", "by": "group"}
    binned = fp.tally(data, **columns, bins=GRID)
    runs = {
        "average precision": lambda: fp.average_precision(data, **columns),
        "tally": lambda: fp.tally(data, **columns).height,
        "tally, in 101 bins": lambda: fp.tally(data, **columns, bins=GRID).height,
        f"average precision of the {binned.height:,} rows of these bins": lambda: fp.average_precision(
            binned, **columns, count="count"
        ),
    }
    for name, times in in_turns(runs, given.rounds).items():
        print(f"{times.best:8.3f} s  {name}")


if __name__ == "__main__":
    main()
