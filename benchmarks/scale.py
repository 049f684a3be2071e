"""Time and memory of many rows, paired with another checkout.

The calls are those of `partitioned` and of a LazyFrame with many keys.

Run:  python -m benchmarks.scale [--base CHECKOUT] [--rows 10000000] [--budget 1GiB] [--rounds 3]
[--folder FOLDER]

Prints Markdown. The rows are in Parquet files (a million in each, 100 per key, in random order).
Each call runs in a process of its own. The peak is the largest resident size of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

METRICS = [
    "average_precision",
    "interpolated_average_precision",
    "r_precision",
    "precision@10",
    "recall@10",
]
METRICS += ["average_precision@10", "max_f1", "f1@threshold=0.5"]
FILE = 1_000_000  # rows


def generate(rows: int, folder: Path) -> None:
    """One row in ten is positive, and scores have four digits."""
    draw = np.random.default_rng(0)
    for first in range(0, rows, FILE):
        size = min(FILE, rows - first)
        data = {"query": draw.integers(0, rows // 100, size), "relevant": draw.random(size) < 0.1}
        pl.DataFrame(data | {"score": draw.random(size).round(4)}).write_parquet(
            folder / f"{first // FILE:04}.parquet"
        )


def partitioned(rows: pl.LazyFrame, budget: str, by: str | None) -> pl.DataFrame:
    """Eight metrics of rows on disk."""
    import frame_pr as fp

    return fp.partitioned(rows, memory_budget=budget, progress=False).evaluate(
        METRICS, "relevant", "score", by=by
    )


def lazy(rows: pl.LazyFrame, budget: str) -> pl.DataFrame:
    """Average precision of a LazyFrame."""
    import frame_pr as fp

    return fp.average_precision(rows, "relevant", "score", by="query").collect()


CASES: Mapping[str, Callable[..., Any]] = {
    "8 metrics by key, partitioned": lambda rows, budget: partitioned(rows, budget, "query"),
    "8 metrics of one group, partitioned": lambda rows, budget: partitioned(rows, budget, None),
    "average precision by key, LazyFrame": lazy,
}


def measured(case: str, source: str, budget: str) -> tuple[float, float, float, float]:
    """Return seconds, seconds of CPU, the peak in MB, and the mean of the average precisions."""
    start, before = time.perf_counter(), time.process_time()
    result = CASES[case](pl.scan_parquet(source), budget)
    taken = time.perf_counter() - start, time.process_time() - before
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert peak is not None
    return *taken, int(peak[1]) * 1024 / 1e6, result["average_precision"].mean()


def in_process(checkout: Path, *arguments: str) -> list[float]:
    """Return what `measured` gives in a process that imports frame_pr from a checkout."""
    command = [sys.executable, "-P", __file__, "--call", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    printed: list[float] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
    )
    return printed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, help="another checkout of frame_pr")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--budget", default="1GiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the files are written; they are removed")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--call", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        print(json.dumps(measured(*options.call)))
        return
    checkouts = [Path(__file__).parents[1], *([options.base] if options.base else [])]
    print(
        "| call | s | CPU, s | peak, MB | CPU, of the other | peak, of the other |\n|"
        + " --- |" * 6,
        flush=True,
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        generate(options.rows, Path(folder))
        for case in options.cases:
            runs = [
                [in_process(side, case, folder, options.budget) for side in checkouts]
                for _ in range(options.rounds)
            ]
            assert max(abs(run[-1][3] - run[0][3]) for run in runs) < 1e-9
            own, other = (
                [median(run[side][i] for run in runs) for i in range(3)] for side in (0, -1)
            )
            numbers = [
                f"{own[0]:.1f}",
                f"{own[1]:.1f}",
                f"{own[2]:,.0f}",
                f"{own[1] / other[1]:.2f}",
                f"{own[2] / other[2]:.2f}",
            ]
            print(f"| {case} | {' | '.join(numbers)} |", flush=True)


if __name__ == "__main__":
    main()
