"""Simulated coverage of confidence intervals and error rates of comparisons, as the functions ship.

Run:  python -m benchmarks.coverage [--samples 1600] [--seeds 71 72 73 74] [--parts folder]
          [--only section ...]

Samples are drawn from populations whose value is known. Writes benchmarks/COVERAGE.md. With a
folder for the sections, those that are there are not computed again; with --only, the page is not
written.
"""

from __future__ import annotations

import argparse
import json
import warnings
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
ROWS_OF_CELL = 8_000_000  # a cell has fewer samples if they are larger
LEVELS = (0.8, 0.9, 0.95, 0.99)
Draw = Callable[[np.random.Generator, int], np.ndarray]
Outcomes = Mapping[str, pl.Series]
"""Whether each sample has the outcome that is counted; null if it has no result."""


class Simulation(NamedTuple):
    """The seeds, the samples of a cell that they share, and the p-values of their agreement."""

    seeds: Sequence[int]
    samples: int
    section: int
    """Sections draw from different random numbers."""
    agreement: list[float]

    def cells(
        self, draw: Callable[[np.random.Generator, int], Outcomes], *, rows: int = 1, most: int = 1
    ) -> list[str]:
        """A percentage for each outcome; `rows`: of a sample; `most`: one in so many samples."""
        samples = max(2, min(self.samples // most, ROWS_OF_CELL // rows) // len(self.seeds))
        each = [
            draw(np.random.default_rng([seed, self.section, len(self.agreement)]), samples)
            for seed in self.seeds
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
# --------------------------------------------------------------------------------------------------

SHIFTS = (1.0, 2.5, 3.5)
PREVALENCES = (0.5, 0.1, 0.02, 0.01)
POSITIVES = (20, 100, 1000)
RANKINGS = ("average_precision", "roc_auc")
AT_THRESHOLD = ("precision@threshold=1", "recall@threshold=1", "f1@threshold=1")


@cache
def population(shift: float, prevalence: float) -> dict[str, float]:
    """The values of the population: scores of positives are `shift` higher than normal ones."""
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
    """Samples of so many rows, as groups of frames; several systems are correlated by 0.5."""
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
    """Lines for each metric: its value in the population, and its coverage by positives."""
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
        for method, names in (("bootstrap", DRAWN), ("closed", DRAWN[:1])):

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

            cells = simulation.cells(draw, most=5)
            for place, name in enumerate(names):
                head = [name, f"{values[name]:.3f}", method]
                yield head + cells[place * len(LEVELS) : (place + 1) * len(LEVELS)]


ROWS_TIMED = (1_000, 10_000, 100_000)
METHODS_TIMED = (
    ("closed", "average precision"),
    ("bootstrap", "average precision"),
    ("bootstrap", "all five metrics"),
)


def of_costs(prevalence: float = 0.1, runs: int = 3) -> Iterator[list[str]]:
    """Milliseconds of CPU of the intervals of one group, the least of a few runs."""
    for rows in ROWS_TIMED:
        (run,) = frames(np.random.default_rng(rows), 1, rows, SHIFTS[0], prevalence)
        cells = []
        for method, names in (
            ("closed", DRAWN[:1]),
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


# Clusters
# --------------------------------------------------------------------------------------------------

OF_CLUSTERS = (*RANKINGS, *AT_THRESHOLD)
CLUSTERS = ((20, 600), (50, 1_000), (200, 2_000), (1_000, 2_000))
"""Numbers of clusters, and of rows in a sample."""


def rows_in_clusters(
    rng: np.random.Generator,
    samples: int,
    clusters: int,
    rows: int,
    *,
    shift: float = 1.0,
    equal: bool = True,
    effect: float = 0.7,
    systems: int = 1,
) -> pl.DataFrame:
    """Rows of users who differ in their scores and in their share of positives, 0.1 on average.

    All users together are the population of independent rows. Their sizes are equal or lognormal.
    """
    all_clusters = samples * clusters
    sizes = np.ones((samples, clusters)) if equal else rng.lognormal(0, 1, (samples, clusters))
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(rows, share) for share in shares])
    if equal:
        counts = np.full((samples, clusters), rows // clusters)
    user = np.repeat(np.arange(all_clusters), counts.ravel())
    n = len(user)
    prevalence = rng.beta(1, 9, all_clusters)[user] if effect else 0.1
    truth = rng.random(n) < prevalence
    columns = {"sample": user // clusters, "user": user, "truth": truth}
    shared = rng.normal(size=all_clusters)[user] * effect + rng.normal(size=n) * 0.3
    rest = (1 - effect**2 - 0.3**2) ** 0.5
    for system in range(systems):
        columns[f"s{system}"] = shared + rng.normal(size=n) * rest + shift * truth
    return pl.DataFrame(columns)


def of_clusters(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage with clusters of equal and unequal sizes, and without `cluster=`."""
    for shift in SHIFTS[:2]:
        values = population(shift, 0.1)
        for clusters, rows in CLUSTERS:
            for equal in (True, False):
                if not equal and clusters == CLUSTERS[-1][0]:
                    continue

                def draw(
                    rng: np.random.Generator,
                    samples: int,
                    design: tuple = (clusters, rows),
                    equal: bool = equal,
                    shift: float = shift,
                    values: Mapping[str, float] = values,
                ) -> Outcomes:
                    run = rows_in_clusters(rng, samples, *design, shift=shift, equal=equal)
                    outcomes = {}
                    for cluster, names in (("user", OF_CLUSTERS), (None, RANKINGS[:1])):
                        found = fp.intervals(
                            run, list(names), "truth", "s0", by="sample", cluster=cluster
                        )
                        for name in names:
                            held = pl.lit(values[name]).is_between("low", "high")
                            column = found.filter(metric=name).select(held=held)["held"]
                            outcomes[f"{name} {cluster}"] = column
                    return outcomes

                sizes = "equal" if equal else "lognormal"
                head = [str(clusters), sizes, f"{values['average_precision']:.3f}"]
                yield head + simulation.cells(draw, rows=2 * rows)


def of_compared_clusters(simulation: Simulation) -> Iterator[list[str]]:
    """How often two scores of equal worth, in the same clusters, differ at 0.05."""
    for clusters, rows, equal, effect in (
        (20, 600, True, 0.7),
        (20, 600, False, 0.7),
        (50, 1_000, False, 0.7),
        (200, 2_000, False, 0.7),
        (1_000, 2_000, True, 0.0),
    ):

        def draw(
            rng: np.random.Generator,
            samples: int,
            design: tuple = (clusters, rows),
            options: Mapping = {"equal": equal, "effect": effect},
        ) -> Outcomes:
            run = rows_in_clusters(rng, samples, *design, systems=2, **options)
            given = {"by": "sample", "cluster": "user", "correction": None}
            found = fp.compare(run, list(OF_CLUSTERS), "truth", ["s0", "s1"], **given)
            return {name: found.filter(metric=name)["p_value"] <= 0.05 for name in OF_CLUSTERS}

        kind = f"{'equal' if equal else 'lognormal'}{'' if effect else ', rows independent'}"
        yield [str(clusters), kind, *simulation.cells(draw, rows=4 * rows, most=2)]


def of_compared_arms_of_clusters(simulation: Simulation) -> Iterator[list[str]]:
    """How often two arms of one population, with different clusters, differ at 0.05."""
    for arms, rows, equal, effect in (
        ((15, 150), 20, False, 0.7),
        ((50, 50), 20, False, 0.7),
        ((200, 200), 5, True, 0.0),
        ((100, 1_000), 2, True, 0.0),
    ):

        def draw(
            rng: np.random.Generator,
            samples: int,
            design: tuple = (arms, rows),
            options: Mapping = {"equal": equal, "effect": effect},
        ) -> Outcomes:
            parts = []
            for arm, clusters in enumerate(design[0]):
                part = rows_in_clusters(rng, samples, clusters, clusters * design[1], **options)
                user = pl.format("{} of {}", "user", pl.lit(arm))
                parts.append(part.with_columns(arm=pl.lit(arm), user=user))
            given = {"by": "sample", "between": "arm", "cluster": "user", "correction": None}
            found = fp.compare(pl.concat(parts), list(OF_CLUSTERS), "truth", "s0", **given)
            return {name: found.filter(metric=name)["p_value"] <= 0.05 for name in OF_CLUSTERS}

        kind = f"{'equal' if equal else 'lognormal'}{'' if effect else ', rows independent'}"
        cells = simulation.cells(draw, rows=4 * rows * sum(arms), most=2)
        yield [f"{arms[0]} and {arms[1]:,}", kind, *cells]


# Hidden positives, and means over classes
# --------------------------------------------------------------------------------------------------


def of_hidden_positives(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage where some positives have the lowest scores, as with wrong labels."""
    normal, shift, prevalence = NormalDist(), 1.5, 0.1
    recall = (np.arange(20_000) + 0.5) / 20_000
    fpr = np.array([1 - normal.cdf(shift - normal.inv_cdf(r)) for r in recall])
    for hidden, positives in ((0.1, 20), (0.1, 100), (0.02, 100), (0.1, 1_000)):
        tp = prevalence * (1 - hidden) * recall
        seen = float(np.mean(tp / (tp + (1 - prevalence) * fpr)))
        # At the end, precision is the prevalence.
        true = dict(
            zip(
                RANKINGS,
                (
                    (1 - hidden) * seen + hidden * prevalence,
                    (1 - hidden) * normal.cdf(shift / 2**0.5),
                ),
                strict=True,
            )
        )
        rows = round(positives / prevalence)
        line = [f"{100 * hidden:g} %", str(positives)]
        for method, most in (("closed", 1), ("bootstrap", 5)):

            def draw(
                rng: np.random.Generator,
                samples: int,
                rows: int = rows,
                hidden: float = hidden,
                true: Mapping[str, float] = true,
                method: str = method,
            ) -> Outcomes:
                outcomes: dict[str, list[pl.Series]] = {name: [] for name in RANKINGS}
                for run in frames(rng, samples, rows, shift, prevalence):
                    is_hidden = pl.col("truth") & pl.Series(rng.random(len(run)) < hidden)
                    run = run.with_columns(s0=pl.col("s0") - 100 * is_hidden.cast(pl.Float64))
                    found = fp.intervals(
                        run, list(RANKINGS), "truth", "s0", by="sample", method=method
                    )
                    for name in RANKINGS:
                        held = pl.lit(true[name]).is_between("low", "high")
                        outcomes[name].append(found.filter(metric=name).select(held=held)["held"])
                return {name: pl.concat(parts) for name, parts in outcomes.items()}

            if method == "bootstrap" and positives > 100:
                line += ["-", "-"]
                continue
            line += simulation.cells(draw, rows=rows, most=most)
        yield line


OF_PROBABILITIES = ("mean_score", "brier_score", "log_loss")


@cache
def population_of_probabilities(a: float, b: float) -> dict[str, float]:
    """The means of a population whose score is the probability of a positive, from Beta(a, b)."""
    score = stats.beta(a, b).ppf((np.arange(200_000) + 0.5) / 200_000)
    entropy = -score * np.log(score) - (1 - score) * np.log1p(-score)
    means = (score, score * (1 - score), entropy)
    return {name: float(np.mean(mean)) for name, mean in zip(OF_PROBABILITIES, means, strict=True)}


def of_row_means(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage of means over rows, and over rows of clusters that differ in their scores."""
    for a, b in ((1, 9), (2, 2), (0.5, 4.5)):
        values = population_of_probabilities(a, b)
        for rows, clusters in ((50, None), (200, None), (1_000, None), (1_000, 20), (1_000, 50)):

            def draw(
                rng: np.random.Generator,
                samples: int,
                sizes: tuple[int, int | None] = (rows, clusters),
                shape: tuple[float, float] = (a, b),
                values: Mapping[str, float] = values,
            ) -> Outcomes:
                rows, clusters = sizes
                n = samples * rows
                sample = np.arange(n) // rows
                latent = rng.normal(size=n)
                columns = {"sample": sample}
                if clusters is not None:
                    columns["user"] = user = sample * clusters + np.arange(n) % clusters
                    latent = (latent + rng.normal(size=samples * clusters)[user]) / 2**0.5
                score = stats.beta(*shape).ppf(stats.norm.cdf(latent))
                truth = rng.random(n) < score
                run = pl.DataFrame(columns | {"truth": truth, "score": score})
                cluster = None if clusters is None else "user"
                call = {"by": "sample", "cluster": cluster, "method": "closed"}
                found = fp.intervals(run, list(OF_PROBABILITIES), "truth", "score", **call)
                held = {}
                for name, value in values.items():
                    is_held = pl.lit(value).is_between("low", "high")
                    held[name] = found.filter(metric=name).select(held=is_held)["held"]
                return held

            drawn = "independent" if clusters is None else f"{clusters} clusters"
            cells = simulation.cells(draw, rows=rows)
            yield [f"Beta({a:g}, {b:g})", f"{rows:,}", drawn, *cells]


def of_classes(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage of means over fixed classes, of which rows were drawn."""
    for classes, rows in ((5, 200), (20, 200), (80, 200), (80, 1_000)):
        values = population(1.5, 0.1)

        def draw(
            rng: np.random.Generator,
            samples: int,
            design: tuple = (classes, rows),
            values: Mapping[str, float] = values,
        ) -> Outcomes:
            classes, rows = design
            outcomes: dict[str, list[pl.Series]] = {name: [] for name in RANKINGS}
            for run in frames(rng, samples * classes, rows, 1.5, 0.1):
                run = run.with_columns(
                    label=pl.col("sample") % classes, sample=pl.col("sample") // classes
                )
                options = {"by": "sample", "mean_over": "label", "sampled": "rows"}
                found = fp.intervals(run, list(RANKINGS), "truth", "s0", **options)
                for name in RANKINGS:
                    held = pl.lit(values[name]).is_between("low", "high")
                    outcomes[name].append(found.filter(metric=name).select(held=held)["held"])
            return {name: pl.concat(parts) for name, parts in outcomes.items()}

        cells = simulation.cells(draw, rows=2 * classes * rows, most=4)
        yield [str(classes), str(rows // 10), *cells]


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
    """Two groups of one population: how often the interval of the difference holds 0."""
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
# --------------------------------------------------------------------------------------------------


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


def first_hits(rng: np.random.Generator, n: int) -> np.ndarray:
    """Precision at 1: a hit in nine of ten queries."""
    return (rng.random(n) < 0.9).astype(float)


def rare_first_hits(rng: np.random.Generator, n: int) -> np.ndarray:
    """Precision at 1: a hit in one of seven queries."""
    return (rng.random(n) < 1 / 7).astype(float)


def reciprocal_ranks(rng: np.random.Generator, n: int) -> np.ndarray:
    """1 over the rank of the first hit, which is often the first."""
    return 1 / rng.geometric(0.6, n)


OF_ARMS_OF_QUERIES: dict[str, Draw] = {
    "precision@1, 0.9": first_hits,
    "precision@1, 0.14": rare_first_hits,
    "average precision, 0.23": average_precisions,
    "reciprocal rank, 0.76": reciprocal_ranks,
    "1 in 90 % of the queries": mostly_perfect,
}
ARMS_OF_QUERIES = ((5, 50), (15, 200), (30, 300), (10, 10), (100, 1_000))


def of_arms_of_queries(simulation: Simulation) -> Iterator[list[str]]:
    """How often the means of two arms of one population, with different queries, differ at 0.05."""
    for name, values in OF_ARMS_OF_QUERIES.items():
        line = [name]
        for sizes in ARMS_OF_QUERIES:

            def draw(
                rng: np.random.Generator,
                samples: int,
                sizes: tuple = sizes,
                values: Draw = values,
            ) -> Outcomes:
                parts = []
                for arm, queries in enumerate(sizes):
                    n = samples * queries
                    columns = {
                        "sample": np.arange(n) // queries,
                        "arm": np.full(n, arm),
                        "query": np.arange(n) + arm * 10**9,
                        "precision@5": values(rng, n),
                    }
                    parts.append(pl.DataFrame(columns))
                given = {"by": "sample", "between": "arm", "mean_over": "query"}
                found = fp.compare(pl.concat(parts), "precision@5", **given, correction=None)
                return {"p": found["p_value"] <= 0.05}

            line += simulation.cells(draw)
        yield line


def of_queries_of_users(simulation: Simulation) -> Iterator[list[str]]:
    """Means over queries of users that were drawn: coverage, and tests of two systems."""
    kinds = {"average precision": 0.4, "precision@1": 0.5}
    for name, mean in kinds.items():
        for users in (20, 50, 200):

            def draw(
                rng: np.random.Generator,
                samples: int,
                users: int = users,
                name: str = name,
                mean: float = mean,
            ) -> Outcomes:
                # Users have 1 to 8 queries and differ in their mean.
                counts = rng.integers(1, 9, samples * users)
                user = np.repeat(np.arange(samples * users), counts)
                n = len(user)
                levels = rng.beta(4 * mean, 4 * (1 - mean), samples * users)[user]
                level = np.clip(levels, 1e-3, 1 - 1e-3)
                systems = []
                for _ in range(2):
                    values = rng.beta(3 * level, 3 * (1 - level))
                    if name == "precision@1":
                        values = (rng.random(n) < level).astype(float)
                    systems.append(values)
                keys = {"sample": user // users, "user": user, "query": np.arange(n)}
                runs = [
                    pl.DataFrame(keys | {"precision@5": values, "system": number})
                    for number, values in enumerate(systems)
                ]
                given = {"by": "sample", "mean_over": "query"}
                outcomes = {}
                for cluster in ("user", None):
                    bounds = fp.intervals(runs[0], "precision@5", **given, cluster=cluster)
                    held = bounds.select(pl.lit(mean).is_between("low", "high"))["literal"]
                    outcomes[f"coverage {cluster}"] = held
                given |= {"between": "system", "cluster": "user", "correction": None}
                found = fp.compare(pl.concat(runs), "precision@5", **given)
                return outcomes | {"p": found["p_value"] <= 0.05}

            yield [name, str(users), *simulation.cells(draw)]


# Bootstrap
# --------------------------------------------------------------------------------------------------

OF_BAND = (
    "precision@recall=0.2",
    "precision@recall=0.5",
    "precision@recall=0.8",
    "recall@fpr=0.05",
)
FRAGILE = (
    "roc_auc",
    "max_f1",
    "max_informedness",
    "max_mcc",
    "threshold@max_f1",
    "recall@max_f1",
    "threshold@fpr=0.05",
)


@cache
def population_of_bands(shift: float, prevalence: float) -> dict[str, float]:
    """Points of both curves, and best values, of the population."""
    normal = NormalDist()
    scores = np.linspace(-5, shift + 5, 20_001)
    recall = np.array([1 - normal.cdf(score - shift) for score in scores])
    fpr = np.array([1 - normal.cdf(score) for score in scores])
    k = prevalence * recall + (1 - prevalence) * fpr
    f1 = 2 * prevalence * recall / (prevalence + k)
    spread = np.sqrt(k * (1 - k) * prevalence * (1 - prevalence))
    mcc = prevalence * (recall - k) / np.maximum(spread, 1e-9)
    true = {"roc_auc": normal.cdf(shift / 2**0.5), "max_f1": float(f1.max())}
    true |= {
        "max_informedness": float((recall - fpr).max()),
        "max_mcc": float(mcc.max()),
        "threshold@max_f1": float(scores[f1.argmax()]),
        "recall@max_f1": float(recall[f1.argmax()]),
        "threshold@fpr=0.05": normal.inv_cdf(0.95),
        "recall@fpr=0.05": 1 - normal.cdf(normal.inv_cdf(0.95) - shift),
    }
    for level in (0.2, 0.5, 0.8):
        at = np.abs(recall - level).argmin()
        true[f"precision@recall={level}"] = float((prevalence * recall / k)[at])
    return true


def of_fragile_draws(simulation: Simulation) -> Iterator[list[str]]:
    """Coverage of the bootstrap: ROC AUC, best values and points of a curve."""
    names = (*FRAGILE, *OF_BAND)
    for shift in SHIFTS[:2]:
        values = population_of_bands(shift, 0.1)
        columns = []
        for positives in (10, 20, 50, 200):

            def draw(
                rng: np.random.Generator,
                samples: int,
                rows: int = 10 * positives,
                shift: float = shift,
                values: Mapping[str, float] = values,
            ) -> Outcomes:
                (run,) = frames(rng, samples, rows, shift, 0.1)
                found = fp.intervals(
                    run, list(names), "truth", "s0", by="sample", method="bootstrap"
                )
                outcomes = {}
                for name in names:
                    held = pl.lit(values[name]).is_between("low", "high")
                    outcomes[name] = found.filter(metric=name).select(held=held)["held"]
                return outcomes

            columns.append(simulation.cells(draw, most=5))
        for place, name in enumerate(names):
            yield [name, f"{values[name]:.3f}", *(column[place] for column in columns)]


OF_DRAWN_TESTS = (
    "max_f1",
    "recall@fpr=0.1",
    "roc_auc@fpr=0.1",
    "mcc@threshold=1",
    "precision@10%",
    "average_precision",
)


def of_drawn_tests(simulation: Simulation) -> Iterator[list[str]]:
    """How often two scores of equal worth differ at 0.05 by the bootstrap."""
    for shift in SHIFTS[:2]:
        columns = []
        for positives, prevalence in ((20, 0.1), (20, 0.02), (100, 0.1)):

            def draw(
                rng: np.random.Generator,
                samples: int,
                rows: int = round(positives / prevalence),
                shift: float = shift,
                prevalence: float = prevalence,
            ) -> Outcomes:
                found = []
                for run in frames(rng, samples, rows, shift, prevalence, systems=2):
                    given = {"by": "sample", "method": "bootstrap", "correction": None}
                    names = list(OF_DRAWN_TESTS)
                    found.append(fp.compare(run, names, "truth", ["s0", "s1"], **given))
                results = pl.concat(found)
                return {
                    name: results.filter(metric=name)["p_value"] <= 0.05 for name in OF_DRAWN_TESTS
                }

            columns.append(simulation.cells(draw, most=5))
        for place, name in enumerate(OF_DRAWN_TESTS):
            yield [name, f"{shift:g}", *(column[place] for column in columns)]


# The page
# --------------------------------------------------------------------------------------------------


def table(head: Sequence[str], lines: Iterator[list[str]] | list[list[str]]) -> str:
    """In Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def of_all_rows(simulation: Simulation) -> str:
    """The tables of independent rows."""
    sizes = [f"{p} positives" for p in POSITIVES]
    rankings = of_rows(simulation, RANKINGS, SHIFTS, PREVALENCES)
    shares = of_rows(simulation, AT_THRESHOLD, SHIFTS[:2], PREVALENCES[:3])
    at_threshold = [
        [name.partition("@")[0], *line] for name, lines in shares.items() for line in lines
    ]
    parts = [
        "## Average precision of a sample of rows",
        "Scores of negatives are standard normal, and those of positives are 1, 2.5 or 3.5 "
        "higher. The first column\n"
        "is the value of the population. The number of positives is the expected one: each row "
        "is positive with the\n"
        "probability of the second column. With few positives, average precision is larger than "
        "in the population,\n"
        "on average, and the interval moves with it.",
        table(["AP of the population", "prevalence", *sizes], rankings["average_precision"]),
        "## ROC AUC of a sample of rows",
        "The samples are those of the section above.",
        table(["ROC AUC of the population", "prevalence", *sizes], rankings["roc_auc"]),
        "## Precision, recall and F1 at a threshold",
        "The threshold is 1. Scores of positives are 1 or 2.5 higher.",
        table(["metric", "population", "prevalence", *sizes], at_threshold),
    ]
    return "\n\n".join(parts)


class Section(NamedTuple):
    """A section of the page with one table."""

    title: str
    text: str
    head: Sequence[str]
    lines: Callable[[Simulation], Iterator[list[str]]]

    def __call__(self, simulation: Simulation) -> str:
        """The text of the section."""
        return f"## {self.title}\n\n{self.text}\n\n{table(self.head, self.lines(simulation))}"


_LEVELS = [f"{100 * level:g} %" for level in LEVELS]
_SHORT = ["average_precision", "roc_auc", "precision", "recall", "f1"]
SECTIONS: dict[str, Callable[[Simulation], str]] = {
    "rows": of_all_rows,
    "hidden": Section(
        "Hidden positives",
        "Some of the positives have lower scores than all other rows, as with wrong labels or a "
        "kind of fraud that the model\n"
        "never saw; the others are 1.5 higher than negatives. The prevalence is 0.1. The "
        "bootstrap has a fifth of the samples.",
        ["hidden", "positives"]
        + [f"{name}, {way}" for way in ("closed form", "bootstrap") for name in RANKINGS],
        of_hidden_positives,
    ),
    "levels": Section(
        "Confidence levels",
        "The populations are those of the first table. The columns are confidence levels.",
        ["metric", "population", "prevalence", "positives", *_LEVELS],
        of_levels,
    ),
    "draws": Section(
        "Bootstrap",
        "The prevalence is 0.1, with 20 positives and 1,000 replicates, in a fifth of the samples.",
        ["metric", "population", "method", *_LEVELS],
        of_draws,
    ),
    "fragile": Section(
        "Bootstrap of best values and of points of a curve",
        "The prevalence is 0.1, with 1,000 replicates, in a fifth of the samples. Points at a "
        "recall or a false positive\n"
        "rate are those of the band of one curve.",
        ["metric", "population", *(f"{p} positives" for p in (10, 20, 50, 200))],
        of_fragile_draws,
    ),
    "costs": Section(
        "Cost of intervals",
        "The cost of the intervals of one group, in milliseconds of CPU time:",
        ["rows", *(f"{what}, {of}" for what, of in METHODS_TIMED)],
        lambda simulation: of_costs(),
    ),
    "clusters": Section(
        "Rows within clusters",
        "Clusters, such as users, differ in their scores and in their share of positives, 0.1 "
        "on average. Sizes are equal or\n"
        "lognormal (sigma 1). A sample has 600 rows (20 clusters), 1,000 (50) or 2,000. The "
        "last column is average\n"
        "precision without `cluster=`.",
        ["clusters", "sizes", "AP", *_SHORT, "without"],
        of_clusters,
    ),
    "means": Section(
        "Means over queries",
        "The closed form has all samples, and a percentile bootstrap of numpy a fourth of them.",
        ["values per query", "queries", "method", *_LEVELS],
        of_means,
    ),
    "users": Section(
        "Means over queries of users",
        "Users were drawn, each with 1 to 8 queries. The third column is the coverage with "
        '`cluster="user"`, the fourth\n'
        "without, and the last one the share of paired tests with p <= 0.05 of two systems of "
        "equal worth, by cluster.",
        ["values per query", "users", "coverage", "without `cluster=`", "p <= 0.05"],
        of_queries_of_users,
    ),
    "classes": Section(
        "Means over fixed classes",
        'With `sampled="rows"`, the classes are fixed. Scores of positives are 1.5 higher, and '
        "the prevalence is 0.1. Average\n"
        "precision is too large on average with few positives. A mean over many classes has the "
        "same bias and a smaller\n"
        "error, so its interval misses the population. A quarter of the samples.",
        ["classes", "positives of a class", *RANKINGS],
        of_classes,
    ),
    "compared rows": Section(
        "Comparison of two models on the same rows",
        "The two models are equally good, and their noise has a correlation of 0.5. The table "
        "has the share of\n"
        "samples with p <= 0.05, of half of the samples.",
        ["metric", "population", "prevalence", *(f"{p} positives" for p in POSITIVES[:2])],
        of_compared_rows,
    ),
    "compared clusters": Section(
        "Comparison of two models on the same clusters",
        "The share of samples with p <= 0.05. Clusters differ as above, or their rows are "
        "independent.",
        ["clusters", "sizes", *_SHORT],
        of_compared_clusters,
    ),
    "drawn tests": Section(
        "Comparison of two models by the bootstrap",
        'The share of samples with p <= 0.05 with `method="bootstrap"`, in a fifth of the samples.',
        ["metric", "shift", "20 of 200", "20 of 1,000", "100 of 1,000"],
        of_drawn_tests,
    ),
    "compared groups": Section(
        "Comparison of two groups of rows",
        "Both groups are from the same population, so the difference is 0. The table has the "
        "coverage of the interval\n"
        "of the difference, and the share of samples with p <= 0.05, for two numbers of rows.",
        ["metric", "population", "prevalence"]
        + [f"{what}, {a:,} and {b:,} rows" for a, b in ARMS for what in ("coverage", "p <= 0.05")],
        of_compared_groups,
    ),
    "arms of clusters": Section(
        "Comparison of two groups of clusters",
        "The share of samples with p <= 0.05. A cluster has 20 rows on average, and rows that "
        "are independent 5 or 2.",
        ["clusters", "sizes", *_SHORT],
        of_compared_arms_of_clusters,
    ),
    "arms of queries": Section(
        "Comparison of two groups of queries",
        "The share of samples with p <= 0.05, for two numbers of queries.",
        ["values per query", *(f"{a} and {b:,}" for a, b in ARMS_OF_QUERIES)],
        of_arms_of_queries,
    ),
    "comparisons": Section(
        "Comparison of two systems over queries",
        "The mean of the differences is 0. The table has the share of samples with p <= 0.05. "
        "Permutations of more than 20\n"
        "queries have a tenth of the samples.",
        ["differences", "test", *(f"{n} queries" for n in SIZES)],
        of_comparisons,
    ),
    "row means": Section(
        "Means over rows",
        "Scores are the probabilities of a positive, and have a beta distribution. Rows are "
        "independent, or of clusters whose\n"
        "scores are correlated by 0.5 on the normal scale.",
        ["scores", "rows", "drawn", *OF_PROBABILITIES],
        of_row_means,
    ),
}


def section(name: str, samples: int, seeds: Sequence[int], parts: Path | None) -> dict:
    """The text of a section and the agreement of its seeds; from `parts` if it is there."""
    path = None if parts is None else parts / f"{name.replace(' ', '-')}.json"
    if path is not None and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    start = process_time()
    simulation = Simulation(seeds, samples, [*SECTIONS].index(name), [])
    text = SECTIONS[name](simulation)
    drawn = f"At most {samples:,} samples, from the seeds {', '.join(map(str, seeds))}."
    result = {"text": f"{text}\n\n{drawn}", "agreement": simulation.agreement}
    print(f"{name}: {process_time() - start:.0f} s of CPU", flush=True)
    if path is not None:
        path.write_text(json.dumps(result), encoding="utf-8")
    return result


def page(samples: int, seeds: Sequence[int], parts: Path | None) -> str:
    """The whole page."""
    sections = [section(name, samples, seeds, parts) for name in SECTIONS]
    agreement = [p for result in sections for p in result["agreement"]]
    differ = sum(p < 0.05 for p in agreement)
    head = [
        "# Coverage of the confidence intervals",
        "Coverage is the share of samples whose interval contains the value of the population. "
        "It should be 95 % for\n"
        "95 % intervals. A test at the level 0.05 should report a difference in 5 % of the "
        "samples without one.",
        "`benchmarks/coverage.py` made the sections of this page, each with the number of "
        "samples and the\n"
        "seeds that it names, in equal parts. There are fewer samples where these would have "
        "too many\n"
        "rows. Numbers are percentages with the standard error of the simulation. Samples "
        "without bounds\n"
        f"do not count. In {differ} of {len(agreement)} cells the seeds differ at p < 0.05 "
        "(chi-squared\n"
        f"test); {len(agreement) / 20:.0f} are expected.",
    ]
    return "\n\n".join([*head, *(result["text"] for result in sections)]) + "\n"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("--samples", type=int, default=1_600)
    parser.add_argument("--seeds", type=int, nargs="+", default=[71, 72, 73, 74])
    parser.add_argument("--parts", type=Path, help="folder of the sections")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS], help="print these sections")
    options = parser.parse_args()
    # Of small samples, some have no value, or groups of different prevalence.
    warnings.simplefilter("ignore", fp.DataWarning)
    if options.only is not None:
        for name in options.only:
            print(section(name, options.samples, options.seeds, options.parts)["text"], flush=True)
        return
    PAGE.write_text(page(options.samples, options.seeds, options.parts), encoding="utf-8")


if __name__ == "__main__":
    main()
