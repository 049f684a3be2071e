"""How often an interval holds the value, and how often a test finds a difference where there is none.

Run:  python -m benchmarks.coverage [--samples 4000] [--seed 1]

Of samples drawn from populations whose value is known, by the functions that ship. Writes docs/coverage.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl
from scipy import stats

import frame_pr as fp

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
ROWS = 4_000_000  # at a time
Draw = Callable[[np.random.Generator, int], np.ndarray]


# Rows: scores of negatives are normal, those of positives as much higher as gives the average precision.
POPULATIONS = [(0.29, 0.1), (0.81, 0.1), (0.90, 0.1), (0.04, 0.01), (0.75, 0.5), (0.96, 0.5)]
POSITIVES = (20, 100, 1000)


def average_precision_of(shift: float, prevalence: float) -> float:
    """Of the whole population: the precision at each recall, by the scores of the positives."""
    normal = NormalDist()
    recall = (np.arange(20_000) + 0.5) / 20_000
    scores = np.array([shift - normal.inv_cdf(r) for r in recall])
    fpr = np.array([1 - normal.cdf(score) for score in scores])
    return float(np.mean(prevalence * recall / (prevalence * recall + (1 - prevalence) * fpr)))


def shift_of(value: float, prevalence: float) -> float:
    """How much higher the scores of positives are in the population of this average precision."""
    low, high = 0.0, 8.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if average_precision_of(middle, prevalence) < value else (low, middle)
    return low


def of_rows(metric: str, samples: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """A line for each population: how often the interval of rows holds its value."""
    for value, prevalence in POPULATIONS:
        shift = shift_of(value, prevalence)
        true = value if metric == "average_precision" else NormalDist().cdf(shift / 2**0.5)
        line = [f"{value:g}", f"{prevalence:g}"]
        for positives in POSITIVES:
            rows = round(positives / prevalence)
            drawn = samples if rows < 50_000 else samples // 4
            line.append(shares(held(metric, true, rows, prevalence, shift, drawn, rng)))
        yield line


def held(
    metric: str, true: float, rows: int, prevalence: float, shift: float, samples: int, rng: np.random.Generator
) -> pl.Series:
    """Whether the interval of each sample holds the value."""
    found, at_once = [], max(1, ROWS // rows)
    for start in range(0, samples, at_once):
        n = rows * min(at_once, samples - start)
        truth = rng.random(n) < prevalence
        run = pl.DataFrame(
            {"sample": np.arange(n) // rows, "truth": truth, "score": rng.normal(size=n) + shift * truth}
        )
        bounds = fp.intervals(run, metric, "truth", "score", by="sample").drop_nulls("low")
        found.append(bounds.select(pl.lit(true).is_between("low", "high"))["literal"])
    return pl.concat(found)


def of_clusters(samples: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Rows within users, whose scores share a part: with the users, and as if there were none."""
    shift, rows = shift_of(0.81, 0.1), 2_000
    for users in (20, 50, 200):
        lines = {"users": [], "rows": []}
        per = rows // users
        n = rows * samples
        user = np.arange(n) // per
        own = rng.normal(size=users * samples) * 0.7
        # Users differ in how many positives they have, and in their scores: in all, the population is the same.
        rate = rng.beta(1, 9, users * samples)
        truth = rng.random(n) < rate[user]
        score = own[user] + rng.normal(size=n) * (1 - 0.49) ** 0.5 + shift * truth
        run = pl.DataFrame({"sample": np.arange(n) // rows, "user": user, "truth": truth, "score": score})
        for name, cluster in (("users", "user"), ("rows", None)):
            bounds = fp.intervals(run, "average_precision", "truth", "score", by="sample", cluster=cluster)
            lines[name] = bounds.drop_nulls("low").select(pl.lit(0.81).is_between("low", "high"))["literal"]
        yield [str(users), shares(lines["users"]), shares(lines["rows"])]


# Means of groups.
def average_precisions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Like those of a search engine: many small, some large."""
    return rng.beta(0.55, 1.85, n)


def precisions_at_5(rng: np.random.Generator, n: int) -> np.ndarray:
    """Sparse: a hit in few of the queries."""
    return rng.binomial(5, rng.beta(0.3, 2.4, n)) / 5


def mostly_perfect(rng: np.random.Generator, n: int) -> np.ndarray:
    """1 in nine of ten groups, any share in the others."""
    return np.where(rng.random(n) < 0.9, 1.0, rng.random(n))


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of mean 0, of which few are large."""
    return rng.exponential(size=n) / 4 - 0.25


MEANS: dict[str, tuple[Draw, float]] = {
    "average precision, mean .23": (average_precisions, 0.55 / 2.4),
    "sparse precision@5": (precisions_at_5, 0.3 / 2.7),
    "90 % perfect": (mostly_perfect, 0.95),
}
QUERIES = (30, 50, 200)
SIZES = (10, *QUERIES)


def of_means(samples: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """How often the interval of a mean holds the mean of the population."""
    for name, (draw, true) in MEANS.items():
        line = [name]
        for queries in QUERIES:
            n = samples * queries
            figures = pl.DataFrame(
                {"sample": np.arange(n) // queries, "query": np.arange(n), "precision@5": draw(rng, n)}
            )
            bounds = fp.intervals(figures, "precision@5", by=["sample", "query"], mean_over="query")
            line.append(shares(bounds.select(pl.lit(true).is_between("low", "high"))["literal"]))
        yield line
        yield [
            f"{name}, by the percentile bootstrap",
            *(bootstrapped(draw, true, n, samples // 4, rng) for n in QUERIES),
        ]


def bootstrapped(draw: Draw, true: float, queries: int, samples: int, rng: np.random.Generator) -> str:
    """How often the middle 95 % of the means of 1,000 samples of the sample hold the mean of the population."""
    found = []
    for values in draw(rng, samples * queries).reshape(samples, queries):
        means = rng.choice(values, (1_000, queries)).mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        found.append(low <= true <= high)
    return shares(pl.Series(found))


def of_comparisons(samples: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """How often two systems differ at .05 that are the same, or whose mean is."""

    def exchangeable(rng: np.random.Generator, n: int) -> np.ndarray:
        base = average_precisions(rng, n)
        one, other = (np.clip(base + rng.normal(size=n) * 0.1, 0, 1) for _ in range(2))
        return one - other

    for name, draw in {"exchangeable average precisions": exchangeable, "skewed differences of mean 0": skewed}.items():
        for test in ("t", "permutation"):
            line = [name, test]
            for queries in SIZES:
                times = samples if test == "t" or queries < 20 else max(200, samples // 10)
                n = times * queries
                keys = {"sample": np.arange(n) // queries, "query": np.arange(n)}
                differences = pl.DataFrame({**keys, "m": draw(rng, n)})
                old = differences.with_columns(m=pl.lit(0.0), system=pl.lit("old"))
                figures = pl.concat([old, differences.with_columns(system=pl.lit("new"))])
                given = {"by": ["sample", "query"], "mean_over": "query", "correction": None}
                more = {} if test == "t" else {"test": "permutation", "resamples": 999}
                found = fp.compare(figures, "m", baseline="old", **given, **more)  # type: ignore[arg-type]
                line.append(shares(found["p_value"] <= 0.05))
            yield line
        for test, p_of in {"Wilcoxon": _wilcoxon, "sign": _signs}.items():
            line = [name, f"{test}, of scipy"]
            for queries in SIZES:
                differences = draw(rng, samples * queries).reshape(samples, queries)
                line.append(shares(pl.Series(p_of(differences) <= 0.05)))
            yield line


def _wilcoxon(differences: np.ndarray) -> np.ndarray:
    return np.asarray(stats.wilcoxon(differences, axis=1, method="approx").pvalue)


def _signs(differences: np.ndarray) -> np.ndarray:
    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    return np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))


def shares(held_: pl.Series) -> str:
    """As a percentage, with the standard error of the simulation."""
    share, n = float(held_.mean()), held_.len()  # type: ignore[arg-type]
    return f"{100 * share:.1f} ± {100 * (share * (1 - share) / n) ** 0.5:.1f}"


def table(head: list[str], lines: Iterator[list[str]]) -> str:
    """In Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def page(samples: int, seed: int) -> str:
    """The whole page."""
    rng = np.random.default_rng(seed)
    sizes = [f"about {p} positives" for p in POSITIVES]
    parts = [
        "# How often it is right",
        f"Made by `benchmarks/coverage.py`, of {samples:,} samples a cell, from the seed {seed}; "
        "of a quarter of them where a\nsample has 50,000 rows or more, and for the bootstrap; of a tenth for flips. "
        "In percent, with the standard error of\nthe simulation: what is promised is 95 of intervals, and 5 of tests.",
        "## Average precision of a sample of rows",
        "Against the value of the population, whose scores are normal. AP of few positives is larger than that of the\n"
        "population, on average, and the intervals lie with it.",
        table(["AP of the population", "prevalence", *sizes], of_rows("average_precision", samples, rng)),
        "## ROC AUC of a sample of rows",
        "Of the same populations.",
        table(["AP of the population", "prevalence", *sizes], of_rows("roc_auc", samples, rng)),
        "## Rows within users",
        "2,000 rows of so many users, who differ in their scores and in their share of positives; AP .81.",
        table(["users", '`cluster="user"`', "without"], of_clusters(min(samples, 1_000), rng)),
        "## Means over queries",
        table(["values per query", *(f"{n} queries" for n in QUERIES)], of_means(samples, rng)),
        "## Differences found where there are none",
        table(["differences", "test", *(f"{n} queries" for n in SIZES)], of_comparisons(samples, rng)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument(
        "--samples", type=int, default=4_000, help="for another number the page is printed, not written"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = page(options.samples, options.seed)
    if options.samples == parser.get_default("samples"):
        PAGE.write_text(made, encoding="utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
