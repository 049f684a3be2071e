"""Share of a call that runs on one thread, which bounds what more cores can gain.

Run:  python -m benchmarks.cores [--rows 10000000] [--runs 5]

A call with W seconds of CPU time that takes E seconds on two threads has 2 E - W seconds in which one thread works
alone. By Amdahl's law eight threads then take (2 E - W) + 2 (W - E) / 8 seconds. Run it on a machine that does nothing
else: other work looks like a thread that waits.
"""

from __future__ import annotations

import argparse
from functools import partial
from time import perf_counter, process_time

from benchmarks.measure import pin

pin()

import frame_pr as fp  # noqa: E402
from benchmarks.data import SHAPES, generate, with_variations  # noqa: E402

METRICS = ["average_precision", "roc_auc", "max_f1", "precision@10", "recall@10", "ndcg@10", "reciprocal_rank"]
METRICS += ["recall@precision=0.5", "precision@recall=0.5"]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for shape in SHAPES:
        data = with_variations(generate(shape, options.rows)).select("query", "relevant", "score", "distinct")
        for kind, score in (("tied", "score"), ("untied", "distinct")):
            calls = {
                "average precision": partial(fp.average_precision, data, "relevant", score, by="query"),
                "9 metrics": partial(fp.evaluate, data, METRICS, "relevant", score, by="query"),
                "curve": partial(fp.curve, data, "relevant", score, by="query"),
            }
            for name, call in calls.items():
                call()
                times = []
                for _ in range(options.runs):
                    cpu, elapsed = process_time(), perf_counter()
                    call()
                    times.append((perf_counter() - elapsed, process_time() - cpu))
                elapsed, work = min(times)
                alone = max(0.0, 2 * elapsed - work)
                eight = alone + (work - alone) / 8
                print(
                    f"{shape}, {kind}, {name}: {elapsed:.3f} s, {alone / work:.0%} of the CPU time on one thread, "
                    f"eight threads {work / eight:.1f} times as fast as one",
                    flush=True,
                )


if __name__ == "__main__":
    main()
