"""Simulated coverage of the confidence intervals, and error rates of the comparisons, as the functions ship.

Run:  python -m benchmarks.coverage [--samples 1600] [--seeds 11 12 13 14]

Samples are drawn from populations whose value is known. Writes benchmarks/COVERAGE.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import NormalDist
from time import process_time
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import stats

import frame_pr as fp

PAGE = Path(__file__).with_name("COVERAGE.md")
ROWS = 2_000_000  # in one call
ROWS_OF_CELL = 16_000_000  # a cell has fewer samples if they are larger
LEVELS = (0.8, 0.9, 0.95, 0.99)
Draw = Callable[[np.random.Generator, int], np.ndarray]
Outcomes = Mapping[str, pl.Series]
"""Whether each sample has the outcome that is counted; null if it has no result."""


class Simulation(NamedTuple):
    """The seeds, the samples of a cell, which all seeds share, and the p-value of each cell that the seeds agree."""

    seeds: Sequence[int]
    samples: int
    agreement: list[float]

    def cells(
        self, draw: Callable[[np.random.Generator, int], Outcomes], *, rows: int = 1, most: int = 1
    ) -> list[str]:
        """A percentage for each outcome, over all seeds; `rows`: of a sample; `most`: this share of the samples."""
        samples = max(2, min(self.samples // most, ROWS_OF_CELL // rows) // len(self.seeds))
        each = [
            draw(np.random.default_rng([seed, len(self.agreement)]), samples) for seed in self.seeds
        ]
        return [self._cell([outcomes[name].drop_nulls() for outcomes in each]) for name in each[0]]

    def _cell(self, outcomes: list[pl.Series]) -> str:
        """In percent, with the standard error of the simulation."""
        hits, n = (np.array([f(series) for series in outcomes]) for f in (pl.Series.sum, len))
        share, total = hits.sum() / n.sum(), n.sum()
        if 0 < share < 1:
            table = np.stack([hits, n - hits])
            self.agreement.append(float(stats.chi2_contingency(table, correction=False).pvalue))
        return f"{100 * share:.1f} ± {100 * (share * (1 - share) / total) ** 0.5:.1f}"


# Samples of rows
# -----------------------------------------------------------------------------------------------------

SHIFTS = (1.0, 2.5, 3.5)
PREVALENCES = (0.5, 0.1, 0.02, 0.01)
POSITIVES = (20, 100, 1000)
RANKINGS = ("average_precision", "roc_auc")
AT_THRESHOLD = ("precision@threshold=1", "recall@threshold=1", "f1@threshold=1")


@cache
def population(shift: float, prevalence: float) -> dict[str, float]:
    """The values of the population: scores of negatives are standard normal, those of positives `shift` higher."""
    normal = NormalDist()
    recall = (np.arange(20_000) + 0.5) / 20_000
    scores = np.array([shift - normal.inv_cdf(r) for r in recall])
    fpr = np.array([1 - normal.cdf(score) for score in scores])
    tp, fp_ = prevalence * (1 - normal.cdf(1 - shift)), (1 - prevalence) * (1 - normal.cdf(1))
    precision = prevalence * recall / (prevalence * recall + (1 - prevalence) * fpr)
    values = float(np.mean(precision)), normal.cdf(shift / 2**0.5)
    at_threshold = tp / (tp + fp_), tp / prevalence, 2 * tp / (prevalence + tp + fp_)
    return dict(zip((*RANKINGS, *AT_THRESHOLD), (*values, *at_threshold), strict=True))


def frames(
    rng: np.random.Generator,
    samples: int,
    rows: int,
    shift: float,
    prevalence: float,
    systems: int = 1,
) -> Iterator[pl.DataFrame]:
    """Samples of so many rows, as groups of frames; of several systems, the scores are correlated by 0.5."""
    at_once = max(1, ROWS // rows)
    for start in range(0, samples, at_once):
        n = rows * min(at_once, samples - start)
        truth = rng.random(n) < prevalence
        noise = rng.normal(size=(systems + 1, n))
        scores = noise[1:] if systems == 1 else (noise[1:] + noise[0]) / 2**0.5
        columns = {f"s{i}": score + shift * truth for i, score in enumerate(scores)}
        yield pl.DataFrame({"sample": np.arange(n) // rows, "truth": truth, **columns})


def coverage(
    metrics: Sequence[str], levels: Sequence[float], rows: int, shift: float, prevalence: float
):
    """How often the interval holds the value, of each metric at each level."""
    values = pl.DataFrame(
        {"metric": metrics, "true": [population(shift, prevalence)[name] for name in metrics]}
    )

    def draw(rng: np.random.Generator, samples: int) -> Outcomes:
        parts = []
        for run in frames(rng, samples, rows, shift, prevalence):
            for level in levels:
                bounds = fp.intervals(
                    run, list(metrics), "truth", "s0", by="sample", confidence=level
                )
                held = bounds.join(values, on="metric").select(
                    "metric", held=pl.col("true").is_between("low", "high")
                )
                parts.append(held.with_columns(level=pl.lit(level)))
        table = pl.concat(parts)
        return {
            f"{name} {level}": table.filter(metric=name, level=level)["held"]
            for name in metrics
            for level in levels
        }

    return draw


def of_rows(
    simulation: Simulation,
    metrics: Sequence[str],
    shifts: Sequence[float],
    prevalences: Sequence[float],
):
    """A table of lines for each metric: its values in the population, then its coverage by the number of positives."""
    tables: dict[str, list[list[str]]] = {name: [] for name in metrics}
    for shift in shifts:
        for prevalence in prevalences:
            columns = []
            for positives in POSITIVES:
                rows = round(positives / prevalence)
                columns.append(
                    simulation.cells(coverage(metrics, [0.95], rows, shift, prevalence), rows=rows)
                )
            for place, name in enumerate(metrics):
                head = [f"{population(shift, prevalence)[name]:.3f}", f"{prevalence:g}"]
                tables[name].append(head + [column[place] for column in columns])
    return tables


def of_levels(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage at several confidence levels."""
    for shift, prevalence, positives in (
        (1.0, 0.1, 20),
        (1.0, 0.1, 100),
        (1.0, 0.02, 20),
        (1.0, 0.02, 100),
        (2.5, 0.1, 20),
        (2.5, 0.1, 100),
        (2.5, 0.02, 20),
        (2.5, 0.02, 100),
    ):
        rows = round(positives / prevalence)
        cells = simulation.cells(coverage(RANKINGS, LEVELS, rows, shift, prevalence), rows=2 * rows)
        for place, name in enumerate(RANKINGS):
            head = [
                name,
                f"{population(shift, prevalence)[name]:.3f}",
                f"{prevalence:g}",
                str(positives),
            ]
            yield head + cells[place * len(LEVELS) : (place + 1) * len(LEVELS)]


DRAWN = ("average_precision", "recall@fpr=0.05", "precision@10%", "max_f1", "mcc@threshold=1")


@cache
def population_of_drawn(shift: float, prevalence: float) -> dict[str, float]:
    """The values of metrics of which most have no closed form for rows."""
    normal, p = NormalDist(), prevalence
    scores = np.linspace(-5, shift + 5, 20_001)
    recall, fpr = (
        np.array([1 - normal.cdf(score - mean) for score in scores]) for mean in (shift, 0.0)
    )
    k = p * recall + (1 - p) * fpr
    at = scores.searchsorted(1.0)
    margins = p * (1 - p) * k[at] * (1 - k[at])
    values = (
        population(shift, prevalence)["average_precision"],
        1 - normal.cdf(normal.inv_cdf(0.95) - shift),
        float((p * recall / k)[np.abs(k - 0.1).argmin()]),
        float((2 * p * recall / (p + k)).max()),
        float((p * recall[at] - p * k[at]) / margins**0.5),
    )
    return dict(zip(DRAWN, values, strict=True))


def of_draws(
    simulation: Simulation, positives: int = 20, prevalence: float = 0.1
) -> Iterator[list[str]]:
    """Coverage of the bootstrap at several levels, and of the closed form where there is one."""
    for shift in SHIFTS[:2]:
        values = population_of_drawn(shift, prevalence)
        rows = round(positives / prevalence)
        for method, names in (("bootstrap", DRAWN), ("closed form", DRAWN[:1])):

            def draw(
                rng: np.random.Generator,
                samples: int,
                shift: float = shift,
                rows: int = rows,
                values: Mapping[str, float] = values,
                method: str = method,
                names: Sequence[str] = names,
            ) -> Outcomes:
                (run,) = frames(rng, samples, rows, shift, prevalence)
                outcomes = {}
                for level in LEVELS:
                    given = {"by": "sample", "method": method, "confidence": level}
                    bounds = fp.intervals(run, list(names), "truth", "s0", **given)
                    for name in names:
                        held = pl.lit(values[name]).is_between("low", "high")
                        outcomes[f"{name} {level}"] = bounds.filter(metric=name).select(held=held)[
                            "held"
                        ]
                return {
                    f"{name} {level}": outcomes[f"{name} {level}"]
                    for name in names
                    for level in LEVELS
                }

            cells = simulation.cells(draw, most=4)
            for place, name in enumerate(names):
                head = [name, f"{values[name]:.3f}", method]
                yield head + cells[place * len(LEVELS) : (place + 1) * len(LEVELS)]


ROWS_TIMED = (1_000, 10_000, 100_000)
METHODS_TIMED = (
    ("closed form", "average precision"),
    ("bootstrap", "average precision"),
    ("bootstrap", "all five metrics"),
)


def of_costs(prevalence: float = 0.1, runs: int = 3) -> Iterator[list[str]]:
    """Milliseconds of CPU of the intervals of one group, the least of a few runs."""
    for rows in ROWS_TIMED:
        (run,) = frames(np.random.default_rng(rows), 1, rows, SHIFTS[0], prevalence)
        cells = []
        for method, names in (
            ("closed form", DRAWN[:1]),
            ("bootstrap", DRAWN[:1]),
            ("bootstrap", DRAWN),
        ):
            times = []
            for _ in range(runs):
                start = process_time()
                fp.intervals(run, list(names), "truth", "s0", method=method)
                times.append(1000 * (process_time() - start))
            cells.append(f"{min(times):.3g}" if min(times) < 1000 else f"{min(times):,.0f}")
        yield [f"{rows:,}", *cells]


def of_clusters(simulation: Simulation) -> Iterator[list[str]]:
    """Rows within users, whose scores share a part: with the users as clusters, and as if rows were independent."""
    shift, prevalence, rows = 2.5, 0.1, 2_000
    true = population(shift, prevalence)["average_precision"]
    for users in (20, 50, 200):

        def draw(rng: np.random.Generator, samples: int, users: int = users) -> Outcomes:
            n = rows * samples
            user = np.arange(n) // (rows // users)
            of_user = rng.normal(size=users * samples) * 0.7
            # Users differ in their share of positives and in their scores, and all together are the
            # same population.
            truth = rng.random(n) < rng.beta(1, 9, users * samples)[user]
            score = of_user[user] + rng.normal(size=n) * (1 - 0.49) ** 0.5 + shift * truth
            run = pl.DataFrame(
                {"sample": np.arange(n) // rows, "user": user, "truth": truth, "score": score}
            )
            outcomes = {}
            for cluster in ("user", None):
                bounds = fp.intervals(
                    run, "average_precision", "truth", "score", by="sample", cluster=cluster
                )
                outcomes[str(cluster)] = bounds.select(pl.lit(true).is_between("low", "high"))[
                    "literal"
                ]
            return outcomes

        yield [str(users), *simulation.cells(draw, most=2)]


def of_compared_rows(simulation: Simulation) -> Iterator[list[str]]:
    """How often two scores of equal worth differ at 0.05."""
    for shift in SHIFTS[:2]:
        for prevalence in PREVALENCES[:3]:
            columns = []
            for positives in POSITIVES[:2]:
                rows = round(positives / prevalence)

                def draw(
                    rng: np.random.Generator,
                    samples: int,
                    rows: int = rows,
                    shift: float = shift,
                    prevalence: float = prevalence,
                ) -> Outcomes:
                    results = pl.concat(
                        fp.compare(
                            run,
                            list(RANKINGS),
                            "truth",
                            ["s0", "s1"],
                            by="sample",
                            correction=None,
                        )
                        for run in frames(rng, samples, rows, shift, prevalence, systems=2)
                    )
                    return {
                        name: results.filter(metric=name)["p_value"] <= 0.05 for name in RANKINGS
                    }

                columns.append(simulation.cells(draw, rows=2 * rows, most=2))
            for place, name in enumerate(RANKINGS):
                head = [name, f"{population(shift, prevalence)[name]:.3f}", f"{prevalence:g}"]
                yield head + [column[place] for column in columns]


ARMS = ((25, 300), (200, 200), (200, 1_000))
OF_ARMS = (*RANKINGS, "recall@threshold=1")


def of_compared_groups(simulation: Simulation) -> Iterator[list[str]]:
    """Two groups of one population: how often the interval of their difference holds 0, and p <= 0.05."""
    for shift in SHIFTS[:2]:
        for prevalence in PREVALENCES[:3]:
            columns = []
            for sizes in ARMS:

                def draw(
                    rng: np.random.Generator,
                    samples: int,
                    sizes: tuple[int, int] = sizes,
                    shift: float = shift,
                    prevalence: float = prevalence,
                ) -> Outcomes:
                    parts = (
                        run.with_columns(arm=pl.lit(arm))
                        for arm, rows in enumerate(sizes)
                        for run in frames(rng, samples, rows, shift, prevalence)
                    )
                    results = fp.compare(
                        pl.concat(parts),
                        list(OF_ARMS),
                        "truth",
                        "s0",
                        by="sample",
                        between="arm",
                        correction=None,
                    )
                    outcomes = {
                        "held": pl.lit(0.0).is_between("low", "high"),
                        "differs": pl.col("p_value") <= 0.05,
                    }
                    return {
                        f"{name} {outcome}": results.filter(metric=name).select(value=value)[
                            "value"
                        ]
                        for name in OF_ARMS
                        for outcome, value in outcomes.items()
                    }

                columns.append(simulation.cells(draw, rows=sum(sizes)))
            for place, name in enumerate(OF_ARMS):
                head = [
                    name.partition("@")[0],
                    f"{population(shift, prevalence)[name]:.3f}",
                    f"{prevalence:g}",
                ]
                yield head + [column[2 * place + part] for column in columns for part in (0, 1)]


# Means of groups
# -----------------------------------------------------------------------------------------------------


def average_precisions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Like those of a search engine: many small, some large."""
    return rng.beta(0.55, 1.85, n)


def precisions_at_5(rng: np.random.Generator, n: int) -> np.ndarray:
    """Sparse: a hit in few of the queries."""
    return rng.binomial(5, rng.beta(0.3, 2.4, n)) / 5


def mostly_perfect(rng: np.random.Generator, n: int) -> np.ndarray:
    """1 in nine of ten groups, any share in the others."""
    return np.where(rng.random(n) < 0.9, 1.0, rng.random(n))


def exchangeable(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of two systems that are the same but for noise."""
    base = average_precisions(rng, n)
    first, second = (np.clip(base + rng.normal(size=n) * 0.1, 0, 1) for _ in range(2))
    return first - second


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of mean 0, of which few are large."""
    return rng.exponential(size=n) / 4 - 0.25


def heavily_skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of mean 0, of which very few are very large."""
    return rng.lognormal(0, 1.2, n) - np.exp(1.2**2 / 2)


MEANS: dict[str, tuple[Draw, float]] = {
    "average precision, mean 0.23": (average_precisions, 0.55 / 2.4),
    "sparse precision@5, mean 0.11": (precisions_at_5, 0.3 / 2.7),
    "1 in 90 % of the queries, mean 0.95": (mostly_perfect, 0.95),
}
DIFFERENCES: dict[str, Draw] = {
    "exchangeable average precisions": exchangeable,
    "skewed, mean 0 (exponential)": skewed,
    "heavily skewed, mean 0 (lognormal, sigma 1.2)": heavily_skewed,
}
QUERIES = (30, 50, 200)
SIZES = (10, *QUERIES)


def of_means(simulation: Simulation) -> Iterator[list[str]]:
    """How often the interval of a mean holds the mean of the population."""
    for name, (draw, true) in MEANS.items():

        def closed(
            rng: np.random.Generator,
            samples: int,
            queries: int,
            draw: Draw = draw,
            true: float = true,
        ):
            n = samples * queries
            values = {
                "sample": np.arange(n) // queries,
                "query": np.arange(n),
                "precision@5": draw(rng, n),
            }
            outcomes = {}
            for level in LEVELS:
                options = {"by": ["sample", "query"], "mean_over": "query", "confidence": level}
                bounds = fp.intervals(pl.DataFrame(values), "precision@5", **options)
                outcomes[str(level)] = bounds.select(pl.lit(true).is_between("low", "high"))[
                    "literal"
                ]
            return outcomes

        def bootstrapped(
            rng: np.random.Generator,
            samples: int,
            queries: int,
            draw: Draw = draw,
            true: float = true,
        ):
            outcomes = {str(level): [] for level in LEVELS}
            for values in draw(rng, samples * queries).reshape(samples, queries):
                means = rng.choice(values, (1_000, queries)).mean(axis=1)
                for level, held in zip(LEVELS, outcomes.values(), strict=True):
                    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
                    held.append(bool(low <= true <= high))
            return {level: pl.Series(held) for level, held in outcomes.items()}

        for queries in QUERIES:
            for way, draws, most in (
                ("closed form", closed, 1),
                ("percentile bootstrap", bootstrapped, 4),
            ):
                cells = simulation.cells(lambda rng, n, f=draws, q=queries: f(rng, n, q), most=most)
                yield [name, str(queries), way, *cells]


def of_comparisons(simulation: Simulation) -> Iterator[list[str]]:
    """How often two systems differ at 0.05 that are the same, or whose mean is."""

    def of_ours(
        rng: np.random.Generator, samples: int, queries: int, draw: Draw, options: dict
    ) -> Outcomes:
        n = samples * queries
        keys = {"sample": np.arange(n) // queries, "query": np.arange(n)}
        differences = pl.DataFrame({**keys, "m": draw(rng, n)})
        old = differences.with_columns(m=pl.lit(0.0), system=pl.lit("old"))
        values = pl.concat([old, differences.with_columns(system=pl.lit("new"))])
        given = {"by": "sample", "mean_over": "query", "correction": None}
        return {"p": fp.compare(values, "m", baseline="old", **given, **options)["p_value"] <= 0.05}

    def of_scipy(
        rng: np.random.Generator, samples: int, queries: int, draw: Draw, p_value: Callable
    ) -> Outcomes:
        return {
            "p": pl.Series(p_value(draw(rng, samples * queries).reshape(samples, queries)) <= 0.05)
        }

    tests = {
        "t": (of_ours, {}, 1),
        "permutation": (of_ours, {"test": "permutation", "resamples": 999}, 10),
        "Wilcoxon, of scipy": (of_scipy, _wilcoxon, 1),
        "sign, of scipy": (of_scipy, _signs, 1),
    }
    for name, draw in DIFFERENCES.items():
        for test, (outcome, option, most) in tests.items():
            line = [name, test]
            for queries in SIZES:
                line += simulation.cells(
                    lambda rng, n, q=queries, draw=draw, f=outcome, option=option: f(
                        rng, n, q, draw, option
                    ),
                    most=most if queries > 20 else 1,
                )
            yield line


def _wilcoxon(differences: np.ndarray) -> np.ndarray:
    return np.asarray(stats.wilcoxon(differences, axis=1, method="approx").pvalue)


def _signs(differences: np.ndarray) -> np.ndarray:
    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    return np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))


# The page
# ------------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], lines: Iterator[list[str]] | list[list[str]]) -> str:
    """In Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def page(samples: int, seeds: Sequence[int]) -> str:
    """The whole page."""
    simulation = Simulation(seeds, samples, [])
    sizes = [f"{p} positives" for p in POSITIVES]
    levels = [f"{100 * level:g} %" for level in LEVELS]
    rankings = of_rows(simulation, RANKINGS, SHIFTS, PREVALENCES)
    shares = of_rows(simulation, AT_THRESHOLD, SHIFTS[:2], PREVALENCES[:3])
    at_threshold = [
        [name.partition("@")[0], *line] for name, lines in shares.items() for line in lines
    ]
    parts = [
        "## Average precision of a sample of rows",
        "Scores of negatives are standard normal, and those of positives are 1, 2.5 or 3.5 higher. The first column\n"
        "is the value of the population. The number of positives is the expected one: each row is positive with the\n"
        "probability of the second column. With few positives, average precision is larger than in the population,\n"
        "on average, and the interval moves with it.",
        table(["AP of the population", "prevalence", *sizes], rankings["average_precision"]),
        "## ROC AUC of a sample of rows",
        "The samples are those of the section above.",
        table(["ROC AUC of the population", "prevalence", *sizes], rankings["roc_auc"]),
        "## Precision, recall and F1 at a threshold",
        "The threshold is 1. Scores of positives are 1 or 2.5 higher.",
        table(["metric", "population", "prevalence", *sizes], at_threshold),
        "## Confidence levels",
        "The populations are the same. The columns are confidence levels.",
        table(["metric", "population", "prevalence", "positives", *levels], of_levels(simulation)),
        "## Bootstrap",
        "The prevalence is 0.1, with 20 positives and 1,000 replicates, in a quarter of the samples.",
        table(["metric", "population", "method", *levels], of_draws(simulation)),
        "The cost of the intervals of one group, in milliseconds of CPU time:",
        table(["rows", *(f"{what}, {of}" for what, of in METHODS_TIMED)], of_costs()),
        "## Rows within users",
        "Each sample has 2,000 rows. The users differ in their scores and in their share of positives. The prevalence\n"
        "is 0.1, and AP is 0.81.",
        table(["users", '`cluster="user"`', "without"], of_clusters(simulation)),
        "## Means over queries",
        table(["values per query", "queries", "method", *levels], of_means(simulation)),
        "## Comparison of two models on the same rows",
        "The two models are equally good, and their noise has a correlation of 0.5. The table has the share of\n"
        "samples with p <= 0.05.",
        table(["metric", "population", "prevalence", *sizes[:2]], of_compared_rows(simulation)),
        "## Comparison of two groups of rows",
        "Both groups are from the same population, so the difference is 0. The table has the coverage of the interval\n"
        "of the difference, and the share of samples with p <= 0.05, for two numbers of rows.",
        table(
            ["metric", "population", "prevalence"]
            + [
                f"{what}, {a:,} and {b:,} rows"
                for a, b in ARMS
                for what in ("coverage", "p <= 0.05")
            ],
            of_compared_groups(simulation),
        ),
        "## Comparison of two systems over queries",
        "The mean of the differences is 0. The table has the share of samples with p <= 0.05.",
        table(
            ["differences", "test", *(f"{n} queries" for n in SIZES)], of_comparisons(simulation)
        ),
    ]
    differ, cells = sum(p < 0.05 for p in simulation.agreement), len(simulation.agreement)
    head = [
        "# Coverage of the confidence intervals",
        "Coverage is the share of samples whose interval contains the value of the population. It should be 95 % for\n"
        "95 % intervals. A test at the level 0.05 should report a difference in 5 % of the samples without one.",
        f"`benchmarks/coverage.py` made this page with {samples:,} samples for each cell, from the seeds\n"
        f"{', '.join(map(str, seeds))} in equal parts. There are fewer samples where these would have more than\n"
        f"{ROWS_OF_CELL:,} rows. Users, and two models on the same rows, have half as many samples, the\n"
        "bootstrap has a quarter, and permutations a tenth. Numbers are percentages with the standard error\n"
        f"of the simulation. In {differ} of {cells} cells the seeds differ at p < 0.05 (chi-squared test); "
        f"{cells / 20:.0f} are expected.",
    ]
    return "\n\n".join(head + parts) + "\n"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument(
        "--samples", type=int, default=1_600, help="for another number the page is only printed"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[61, 62, 63, 64])
    options = parser.parse_args()
    text = page(options.samples, options.seeds)
    if options.samples == parser.get_default("samples"):
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
