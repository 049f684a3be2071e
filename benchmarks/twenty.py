"""Cost of twenty metrics in one call, ten of them of the families added last, compared with average precision alone.

Run:  python -m benchmarks.twenty [--groups 100000] [--runs 5] [--each]

Prints the CPU time of groups of 100 rows as a multiple of that of average_precision, in turn with it. `--each`: of
average precision together with each other metric. Run it with POLARS_MAX_THREADS=1: then threads do not wait for each
other.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import polars as pl

import frame_pr as fp

BASE = "average_precision"
OLD = [BASE, "roc_auc", "precision@10", "recall@10", "ndcg@10", "reciprocal_rank", "max_f1", "threshold@max_f1"]
OLD += ["f1@threshold=0.5", "recall@fpr=0.1"]
NEW = ["recall@10/min", "lift@10%", "threshold@10%", "captured_gain@10", "cost5@threshold=0.5"]
NEW += ["net_benefit@threshold=0.5", "max_mcc", "max_balanced_accuracy", "first_rank", "equal_error_rate"]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.twenty")
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    n = 100 * options.groups
    truth, scores = rng.random(n) < 0.1, rng.normal(size=n)
    names = {BASE: [BASE], "all twenty": OLD + NEW, "ten old": OLD, "ten new": NEW}
    if options.each:
        names |= {name: [BASE, name] for name in OLD[1:] + NEW}
    for kind, score in (("no ties", scores), ("scores of one decimal", scores.round(1))):
        run = pl.DataFrame({"g": np.arange(n) // 100, "t": truth, "s": score})
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(options.runs):
            for name, asked in names.items():
                start = process_time()
                fp.evaluate(run, asked, "t", "s", by="g")
                times[name].append(process_time() - start)
        for name, seconds in times.items():
            ratio = np.median(np.array(seconds) / np.array(times[BASE]))
            print(f"{kind}, {name}: {np.median(seconds):.2f} s of CPU, {ratio:.2f} times average precision", flush=True)


if __name__ == "__main__":
    main()
