"""Cost of a bootstrap: `intervals(method="bootstrap")`, and loops over scikit-learn and scors on resampled arrays.

Run:  python -m benchmarks.bootstrap [--rows 1000000] [--repeats 1000] [--loops 10]

Prints the CPU time of a replicate of average precision and recall at a false positive rate of 0.01. The loops are
timed for a few replicates, before and after, as each of them costs the same. The loop over scors, if it is installed,
computes average precision alone: scors has no recall at a false positive rate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score, roc_curve

import frame_pr as fp

METRICS = ["average_precision", "recall@fpr=0.01"]


def with_scikit_learn(truth: np.ndarray, score: np.ndarray) -> None:
    """Both metrics of a replicate."""
    average_precision_score(truth, score)
    fpr, tpr, _ = roc_curve(truth, score)
    tpr[np.searchsorted(fpr, 0.01, side="right") - 1]


LOOPS: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {"scikit-learn": with_scikit_learn}
with suppress(ImportError):
    from scors import average_precision

    LOOPS["scors"] = average_precision


def loop(of_replicate: Callable[..., object], truth: np.ndarray, score: np.ndarray, repeats: int) -> float:
    """CPU seconds of a replicate."""
    rng, start = np.random.default_rng(0), time.process_time()
    for _ in range(repeats):
        drawn = rng.integers(0, len(truth), len(truth))
        of_replicate(truth[drawn], score[drawn])
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
    before = {name: loop(call, truth, score, options.loops) for name, call in LOOPS.items()}
    start, wall = time.process_time(), time.perf_counter()
    print(fp.intervals(run, METRICS, "truth", "score", method="bootstrap", repeats=options.repeats))
    ours, wall = time.process_time() - start, time.perf_counter() - wall
    print(f"frame_pr: {ours:.1f} s of CPU for {options.repeats} replicates, {wall:.1f} s elapsed")
    print(f"a replicate: {1000 * ours / options.repeats:.0f} ms of CPU")
    for name, call in LOOPS.items():
        theirs = (before[name] + loop(call, truth, score, options.loops)) / 2
        print(f"with {name}: {1000 * theirs:.0f} ms, ratio {theirs * options.repeats / ours:.1f}")


if __name__ == "__main__":
    main()
