"""Random comparisons against exact fractions, written from the definitions of the docs: many small ones in a call."""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from math import isclose
from typing import Any

import polars as pl
from scipy import stats

import frame_pr as fp

CONFIDENCES = [0.5, 0.8, 0.95, 0.99, 0.9999, 0.999999]


def t_test(difference: Fraction, variance: Fraction, df: int, confidence: float) -> dict[str, float]:
    """Bounds and p-value of a difference with this variance, by Student's t."""
    error = float(variance) ** 0.5
    reach = stats.t.ppf((1 + confidence) / 2, df) * error
    return {
        "low": float(difference) - reach,
        "high": float(difference) + reach,
        "p_value": 2 * stats.t.sf(abs(float(difference)) / error, df),
    }


# Groups --------------------------------------------------------------------------------------------------------------


# Groups --------------------------------------------------------------------------------------------------------------


def of_groups(pairs: list[tuple[Fraction | None, Fraction | None]], test: str, confidence: float) -> dict:
    """What the docs say of two systems, of the values of either in each group."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    n, differences = len(both), [b - a for a, b in both]
    row = dict.fromkeys(
        ("value_baseline", "value_system", "difference", "low", "high", "p_value", "effect_size"), None
    ) | {
        "units_system": n,
        "undefined": len(pairs) - n,
        "wins": sum(d > 0 for d in differences),
        "equal": sum(d == 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
    }
    if not n:
        return row
    mean = sum(differences) / n
    row |= {
        "value_baseline": sum(a for a, _ in both) / n,
        "value_system": sum(b for _, b in both) / n,
        "difference": mean,
    }
    if n == 1:
        return row
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    if not variance:
        return row | dict(zip(("low", "high", "p_value"), (None,) * 3 if mean else (0, 0, 1), strict=True))
    row |= t_test(mean, variance / n, n - 1, confidence) | {"effect_size": float(mean) / float(variance) ** 0.5}
    if test == "permutation":
        ways = list(itertools.product((1, -1), repeat=n))
        as_large = sum(abs(sum(s * d for s, d in zip(w, differences, strict=True))) >= abs(n * mean) for w in ways)
        row["p_value"] = as_large / len(ways)
    return row


def random_values(rng: random.Random, cases: int, systems: str) -> dict[tuple[int, int, str], Fraction | None]:
    """By case, group and system: few distinct values, of which some are null, and some keys are missing."""
    values = {}
    for case in range(cases):
        unit = rng.choice([2, 3, 10, 12, 100])
        for group, system in itertools.product(range(rng.randint(1, 8)), systems):
            if rng.random() < 0.93:
                value = Fraction(rng.randint(0, unit), unit)
                values[case, group, system] = None if rng.random() < 0.05 else value
    return values


def adjusted(p_values: list[float], correction: str | None) -> list[float]:
    """Holm: of the smallest p-values up to this one, the largest (m - j + 1) p_j.

    Benjamini and Hochberg: of this one and the larger ones, the smallest m p_j / j.
    """
    m, ascending = len(p_values), sorted(p_values)
    if correction == "holm":
        return [max(min(1, (m - j) * q) for j, q in enumerate(ascending) if q <= p) for p in p_values]
    if correction == "bh":
        return [min(min(1, m * q / (j + 1)) for j, q in enumerate(ascending) if q >= p) for p in p_values]
    return p_values


def compared_groups(seed: int) -> tuple[int, list[Any]]:
    """How many groups were compared, and what differs."""
    rng = random.Random(seed)
    test, systems = rng.choice(["t", "permutation"]), rng.choice(["ab", "abc", "abcd"])
    confidence, baseline = rng.choice(CONFIDENCES), rng.choice([None, None, "b"])
    correction = rng.choice(["holm", "bh", None])
    values = random_values(rng, 12, systems)
    # A scale of all values changes no test, but the differences.
    scale = Fraction(2) ** rng.choice([0, 0, 0, -60, 200])
    keys = [*values]
    rng.shuffle(keys)
    rows = [(*key, None if values[key] is None else float(values[key] * scale)) for key in keys]
    schema = {"case": pl.Int64, "group": pl.Int64, "system": pl.String, "m": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    pairs = [*itertools.combinations(systems, 2)]
    if baseline:
        pairs = [(baseline, other) for other in systems if other != baseline]
    kind = rng.choice(["polars", "lazy", "pandas"])
    given: Any = {"polars": frame, "lazy": frame.lazy()}.get(kind, frame)
    table: Any = fp.compare(
        frame.to_pandas() if kind == "pandas" else given,
        "m",
        by=["case", "group"],
        mean_over="group",
        test=test,
        baseline=baseline,
        confidence=confidence,
        correction=correction,
    )
    table = pl.from_pandas(table) if kind == "pandas" else table.lazy().collect()
    expected = {}
    for case in sorted({case for case, _, _ in values}):
        groups = sorted({group for number, group, _ in values if number == case})
        for a, b in pairs:
            paired = [(values.get((case, group, a)), values.get((case, group, b))) for group in groups]
            expected[case, a, b] = of_groups(paired, test, confidence)
    tested = [key for key, answer in expected.items() if answer["p_value"] is not None]
    p_adjusted = adjusted([expected[key]["p_value"] for key in tested], correction)
    for key, p in zip(tested, p_adjusted, strict=True):
        expected[key]["p_adjusted"] = p
    scaled = ("value_baseline", "value_system", "difference", "low", "high")
    for answer in expected.values():
        answer.update({name: float(answer[name]) * float(scale) for name in scaled if answer[name] is not None})
    size = float(scale)
    return len(expected), compared(table, ["case", "baseline", "system"], expected, seed, dict.fromkeys(scaled, size))


def compared(
    table: pl.DataFrame, keys: list[str], expected: dict[Any, dict[str, Any]], seed: int, sizes: dict[str, float]
) -> list[Any]:
    """What differs by more than 1e-9 of the number, or 1e-12 of the size of such numbers."""
    if [*table.select(keys).rows()] != [*expected]:
        return [(seed, "rows", table.select(keys).rows(), [*expected])]
    wrong = []
    for row, (key, answer) in zip(table.iter_rows(named=True), expected.items(), strict=True):
        for name, exact in answer.items():
            got = None if row[name] is None or row[name] != row[name] else row[name]
            if got is None or exact is None:
                same = got is None and exact is None
            else:
                same = isclose(got, float(exact), rel_tol=1e-9, abs_tol=1e-12 * sizes.get(name, 1))
            if not same:
                wrong.append((seed, key, name, got, exact))
    return wrong


# Rows ----------------------------------------------------------------------------------------------------------------


def average_precision(truth: list[bool], score: list[int]) -> tuple[Fraction, list[Fraction]]:
    """The value with weights of 1, and its derivative by the weight of each row."""
    n, positives = len(truth), sum(truth)
    above = [[score[j] >= score[i] for j in range(n)] for i in range(n)]
    taken = [sum(row) for row in above]
    precision = [
        Fraction(sum(t for t, is_above in zip(truth, row, strict=True) if is_above), sum(row)) for row in above
    ]
    value = sum(p for p, t in zip(precision, truth, strict=True) if t) / positives
    steps = [i for i in range(n) if truth[i]]
    return value, [
        (truth[k] * (precision[k] - value) + sum((truth[k] - precision[i]) / taken[i] for i in steps if above[i][k]))
        / positives
        for k in range(n)
    ]


def roc_auc(truth: list[bool], score: list[int]) -> tuple[Fraction, list[Fraction]]:
    """The same of the share of the pairs of a positive and a negative that are in order, a tie counting as half."""
    n = len(truth)
    others = [[j for j in range(n) if truth[j] != truth[i]] for i in range(n)]
    order = [
        sum(Fraction(1 + (2 * truth[i] - 1) * ((score[i] > score[j]) - (score[i] < score[j])), 2) for j in others[i])
        / len(others[i])
        for i in range(n)
    ]
    positives = sum(truth)
    value = sum(o for o, t in zip(order, truth, strict=True) if t) / positives
    return value, [(o - value) / (positives if t else n - positives) for o, t in zip(order, truth, strict=True)]


def accuracy(truth: list[bool], score: list[int]) -> tuple[Fraction, list[Fraction]]:
    """The same of the share of the rows whose label is whether the score is at least 3."""
    right = [t == (s >= 3) for t, s in zip(truth, score, strict=True)]
    value = Fraction(sum(right), len(right))
    return value, [(r - value) / len(right) for r in right]


VALUES = {"average_precision": average_precision, "roc_auc": roc_auc, "accuracy@threshold=3": accuracy}


def of_rows(
    name: str, truth: list[bool], scores: list[list[int]], clusters: list[int] | None, confidence: float
) -> dict:
    """What the docs say of two scores of the same rows; None where that is nothing."""
    (a, of_a), (b, of_b) = (VALUES[name](truth, score) for score in scores)
    d = [y - x for x, y in zip(of_a, of_b, strict=True)]
    positives, n = sum(truth), len(truth)
    fewer = min(positives, n - positives)
    if clusters is not None:
        sums = [sum((x for x, c in zip(d, clusters, strict=True) if c == one), Fraction()) for one in {*clusters}]
        units, variance = len(sums), sum(x * x for x in sums)
        factor = Fraction(units, units - 1) if units > 1 else None
        variance = None if factor is None else variance * factor
    elif name == "roc_auc":
        units = fewer
        variance = None
        if fewer > 1:
            of_positives = sum(x * x for x, t in zip(d, truth, strict=True) if t)
            of_negatives = sum(x * x for x, t in zip(d, truth, strict=True) if not t)
            variance = of_positives * positives / (positives - 1) + of_negatives * (n - positives) / (n - positives - 1)
    else:
        units = n if name.startswith("accuracy") else fewer
        variance = sum(x * x for x in d) * units / (units - 1) if units > 1 else None
    row = {"value_baseline": a, "value_system": b, "difference": b - a}
    if variance is None:
        return row | dict.fromkeys(("low", "high", "p_value"))
    if not variance:
        return row | dict(zip(("low", "high", "p_value"), (None,) * 3 if a != b else (0, 0, 1), strict=True))
    return row | t_test(b - a, variance, units - 1, confidence)


def random_rows(rng: random.Random, cases: int) -> Iterator[tuple[int, bool, int, int, int]]:
    """Rows of a case, truth, two scores and a cluster, with both classes in each case."""
    for case in range(cases):
        levels = rng.choice([4, 6, 50])
        for number in range(rng.randint(3, 12)):
            truth = number == 0 or (number > 1 and rng.random() < 0.4)
            yield case, truth, rng.randrange(levels), rng.randrange(levels) + truth, rng.randrange(4)


def compared_rows(seed: int) -> tuple[int, list[Any]]:
    """How many groups were compared, and what differs."""
    rng = random.Random(seed)
    rows, clusters, confidence = [*random_rows(rng, 12)], rng.random() < 0.5, rng.choice(CONFIDENCES)
    frame = pl.DataFrame(rows, schema=["case", "t", "old", "new", "user"], orient="row")
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    table = fp.compare(
        shuffled.lazy() if rng.random() < 0.5 else shuffled,
        [*VALUES],
        "t",
        ["old", "new"],
        by="case",
        sampled="rows",
        cluster="user" if clusters else None,
        confidence=confidence,
    )
    expected = {}
    for case, group in itertools.groupby(rows, key=lambda row: row[0]):
        _, truth, old, new, users = map(list, zip(*group, strict=True))
        for name in VALUES:
            expected[case, name] = of_rows(name, truth, [old, new], users if clusters else None, confidence)
    return len(expected), compared(table.lazy().collect(), ["case", "metric"], expected, seed, {})


def differences(seed: int) -> tuple[int, list[Any]]:
    """Of the comparisons of this number."""
    return compared_groups(seed) if seed % 2 else compared_rows(seed)
