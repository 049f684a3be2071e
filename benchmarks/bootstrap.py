"""Cost of a bootstrap: `intervals(method="bootstrap")` and a loop over scikit-learn on resampled arrays.

Run:  python -m benchmarks.bootstrap [--rows 1000000] [--repeats 1000] [--loops 10]

Prints the CPU time of a replicate of average precision and recall at a false positive rate of 0.01. The loop is timed
for a few replicates, before and after, as each of them costs the same.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score, roc_curve

import frame_pr as fp

METRICS = ["average_precision", "recall@fpr=0.01"]


def loop(truth: np.ndarray, score: np.ndarray, repeats: int) -> float:
    """CPU seconds of a replicate with scikit-learn."""
    rng, start = np.random.default_rng(0), time.process_time()
    for _ in range(repeats):
        drawn = rng.integers(0, len(truth), len(truth))
        t, s = truth[drawn], score[drawn]
        average_precision_score(t, s)
        fpr, tpr, _ = roc_curve(t, s)
        tpr[np.searchsorted(fpr, 0.01, side="right") - 1]
    return (time.process_time() - start) / repeats


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bootstrap")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=1_000)
    parser.add_argument("--loops", type=int, default=10)
    parser.add_argument("--prevalence", type=float, default=0.1)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    truth = rng.random(options.rows) < options.prevalence
    score = rng.normal(size=options.rows) + 1.5 * truth
    run = pl.DataFrame({"truth": truth, "score": score})
    before = loop(truth, score, options.loops)
    start, wall = time.process_time(), time.perf_counter()
    print(fp.intervals(run, METRICS, "truth", "score", method="bootstrap", repeats=options.repeats))
    ours, wall = time.process_time() - start, time.perf_counter() - wall
    theirs = (before + loop(truth, score, options.loops)) / 2
    print(f"frame_pr: {ours:.1f} s of CPU for {options.repeats} replicates, {wall:.1f} s elapsed")
    print(f"a replicate: {1000 * ours / options.repeats:.0f} ms, with scikit-learn {1000 * theirs:.0f} ms of CPU")
    print(f"ratio: {theirs * options.repeats / ours:.1f}")


if __name__ == "__main__":
    main()
