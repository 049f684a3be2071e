"""The p-values of `above_chance` at quantiles of random rankings, and its cost compared with average precision.

Run:  python -m benchmarks.chance [--draws 200000] [--groups 100000] [--seed 1]

Prints the table of docs/howto/better.md, then the CPU time of 100,000 groups of 100 rows as a multiple of that of
average_precision in turn with it. Run it with POLARS_MAX_THREADS=1: then threads do not wait for each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
import polars as pl
from scipy import stats

import frame_pr as fp

SHAPES = ((2, 500), (5, 50), (5, 100), (20, 100), (50, 100), (5, 1000), (20, 1000), (100, 1000))
ALPHAS = (0.05, 0.01, 0.001)
AT_ONCE = 2_000_000  # rows


def random_values(rng: np.random.Generator, positives: int, rows: int, draws: int) -> np.ndarray:
    """Average precision of random rankings."""
    values = []
    for start in range(0, draws, AT_ONCE // rows):
        noise = rng.random((min(AT_ONCE // rows, draws - start), rows))
        ranks = np.sort(np.argpartition(noise, positives, axis=1)[:, :positives], axis=1) + 1
        values.append((np.arange(1, positives + 1) / ranks).mean(axis=1))
    return np.concatenate(values)


def p_value_at(positives: int, rows: int, value: float, mean: float, deviation: float) -> float:
    """The p-value that `above_chance` computes from the moments of a random ranking."""
    ranks = rows - positives + np.arange(1, positives + 1)
    least = (np.arange(1, positives + 1) / ranks).mean()
    spread = np.log1p((deviation / (mean - least)) ** 2)
    return stats.lognorm.sf(value - least, spread**0.5, scale=(mean - least) * np.exp(-spread / 2))


def line(rng: np.random.Generator, positives: int, rows: int, draws: int) -> str:
    """A line of the table."""
    values = random_values(rng, positives, rows, draws)
    frame = pl.DataFrame({"t": [1] * positives + [0] * (rows - positives), "s": range(rows, 0, -1)})
    test = frame.pr.above_chance("average_precision", "t", "s")
    mean, deviation, p, method = test.select("expectation", "standard_deviation", "p_value", "method").row(0)
    assert method == "lognormal"
    assert np.isclose(p, p_value_at(positives, rows, 1.0, mean, deviation), atol=0)
    quantiles = [float(np.quantile(values, 1 - alpha)) for alpha in ALPHAS]
    cells = [f"{p_value_at(positives, rows, value, mean, deviation):.2g}" for value in quantiles]
    normal = f"{stats.norm.sf((quantiles[1] - mean) / deviation):.1g}"
    return f"| {positives} | {rows} | {' | '.join(cells)} | {normal} |"


def cpu(call: Callable[[], object]) -> float:
    """Seconds of CPU."""
    start = process_time()
    call()
    return process_time() - start


def main() -> None:
    """Print the table, and the cost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    for positives, rows in SHAPES:
        print(line(rng, positives, rows, options.draws), flush=True)
    n = 100 * options.groups
    scores = rng.normal(size=n)
    for name, score in (("no ties", scores), ("scores of one decimal", scores.round(1))):
        run = pl.DataFrame({"g": np.arange(n) // 100, "t": rng.random(n) < 0.1, "s": score})
        run.pr.average_precision("t", "s", by="g")
        ratios = []
        for _ in range(5):
            plain = cpu(lambda run=run: run.pr.average_precision("t", "s", by="g"))
            ratios.append(cpu(lambda run=run: fp.above_chance(run, "average_precision", "t", "s", by="g")) / plain)
        print(f"{options.groups} groups of 100 rows, {name}: {np.median(ratios):.2f} times average precision")


if __name__ == "__main__":
    main()
