"""`compare` against exact fractions, written from the definitions of the docs, on many random frames at once."""

import itertools
import os
import random
from collections.abc import Iterator
from fractions import Fraction

import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import frame_pr as fp

CASES = int(os.environ.get("COMPARISONS", "150"))


def near(value: Fraction | float | None):
    return None if value is None else pytest.approx(float(value), rel=1e-9, abs=1e-12)


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


def of_groups(pairs: list[tuple[Fraction | None, Fraction | None]], test: str, confidence: float) -> dict:
    """What the docs say of two systems, of the values of either in each group."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    n, differences = len(both), [b - a for a, b in both]
    row = dict.fromkeys(
        ("mean_baseline", "mean_system", "difference", "low", "high", "p_value", "effect_size"), None
    ) | {
        "groups": n,
        "undefined": len(pairs) - n,
        "wins": sum(d > 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
    }
    if not n:
        return row
    mean = sum(differences) / n
    row |= {
        "mean_baseline": sum(a for a, _ in both) / n,
        "mean_system": sum(b for _, b in both) / n,
        "difference": mean,
    }
    if n == 1:
        return row
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    if not variance:
        return row | {"low": mean, "high": mean, "p_value": None if mean else 1.0}
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


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "permutation"])
@pytest.mark.parametrize("systems", ["ab", "abc", "abcd"])
def test_groups(test, systems):
    rng = random.Random(len(systems))
    confidence, baseline = rng.choice([(0.8, None), (0.95, "b"), (0.99, None)])
    values = random_values(rng, CASES, systems)
    keys = [*values]
    rng.shuffle(keys)
    rows = [(*key, None if values[key] is None else float(values[key])) for key in keys]
    frame = pl.DataFrame(
        rows, schema={"case": pl.Int64, "group": pl.Int64, "system": pl.String, "m": pl.Float64}, orient="row"
    )
    call = {"by": ["case", "group"], "mean_over": "group", "baseline": baseline, "confidence": confidence}
    table = fp.compare(frame, "m", test=test, **call)
    pairs = [*itertools.combinations(systems, 2)]
    if baseline:
        pairs = [(baseline, other) for other in systems if other != baseline]
    expected = {}
    for case in sorted({case for case, _, _ in values}):
        groups = sorted({group for one, group, _ in values if one == case})
        for a, b in pairs:
            paired = [(values.get((case, group, a)), values.get((case, group, b))) for group in groups]
            expected[case, a, b] = of_groups(paired, test, confidence)
    assert table.select("case", "baseline", "system").rows() == [*expected]
    for row, (key, answer) in zip(table.iter_rows(named=True), expected.items(), strict=True):
        assert {name: row[name] for name in answer} == {name: near(value) for name, value in answer.items()}, key
    # Holm's correction is over all p-values of the call.
    tested = table.drop_nulls("p_value")
    holm = multipletests(tested["p_value"], method="holm")[1]
    assert tested["p_adjusted"].to_list() == [near(p) for p in holm]
    assert table.filter(pl.col("p_value").is_null())["p_adjusted"].null_count() == table.height - tested.height


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


def of_rows(name: str, truth: list[bool], scores: list[list[int]], clusters: list[int] | None) -> dict | None:
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
    row = {"mean_baseline": a, "mean_system": b, "difference": b - a, "groups": 1}
    row |= {"wins": int(b > a), "ties": int(b == a), "losses": int(b < a)}
    if variance is None:
        return row | dict.fromkeys(("low", "high", "p_value"))
    if not variance:
        return row | {"low": b - a, "high": b - a, "p_value": 1.0 if a == b else None}
    return row | t_test(b - a, variance, units - 1, 0.95)


def random_rows(rng: random.Random, cases: int) -> Iterator[tuple[int, bool, int, int, int]]:
    """Rows of a case, truth, two scores and a cluster, with both classes in each case."""
    for case in range(cases):
        levels = rng.choice([4, 6, 50])
        for number in range(rng.randint(3, 12)):
            truth = number == 0 or (number > 1 and rng.random() < 0.4)
            yield case, truth, rng.randrange(levels), rng.randrange(levels) + truth, rng.randrange(4)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [False, True])
def test_rows(clusters):
    rows = [*random_rows(random.Random(clusters), CASES)]
    frame = pl.DataFrame(rows, schema=["case", "t", "old", "new", "user"], orient="row")
    call = {"by": "case", "sampled": "rows", "cluster": "user" if clusters else None}
    table = fp.compare(frame.sample(fraction=1, shuffle=True, seed=1), [*VALUES], "t", ["old", "new"], **call)
    cases = {case: [*group] for case, group in itertools.groupby(rows, key=lambda row: row[0])}
    for row in table.iter_rows(named=True):
        _, truth, old, new, users = map(list, zip(*cases[row["case"]], strict=True))
        answer = of_rows(row["metric"], truth, [old, new], users if clusters else None)
        assert {name: row[name] for name in answer} == {name: near(value) for name, value in answer.items()}, row
    assert table.height == 3 * CASES
