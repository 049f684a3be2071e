"""Random calls of `above_chance` against the distribution over all orders, in exact fractions."""

import random
import warnings
from collections import defaultdict
from fractions import Fraction
from math import comb, erfc, lcm, log, log1p, sqrt

import polars as pl
from kinds import KINDS
from oracle import Group, Row

import frame_pr as fp

NAMES = ["average_precision", "roc_auc"]
COLUMNS = ["metric", "value", "expectation", "standard_deviation", "z", "p_value", "p_adjusted", "method"]


def drawn(draw):
    """A frame of a few groups, and the options of a call."""
    scores = draw.choice([range(2), range(5), range(10**6), range(10**6)])
    schema, data = {"q": pl.Int64, "t": pl.Int64, "s": pl.Float64, "n": pl.Int64, "d": pl.Int64}, []
    lost = draw.choice([0, 0, 0.2])
    counts = draw.choice([[1, 2, 3], [1, 1, 1, 40]])
    for q in range(draw.choice([1, 3, 8])):
        share, height = (
            draw.choice([0.0, 0.1, 0.3, 0.5, 1.0]),
            draw.choice([1, 2, 4, 6, 8, 12, 20, 30, draw.choice([60, 150])]),
        )
        for _ in range(height):
            score = None if draw.random() < lost else float(draw.choice(scores))
            data.append((q, int(draw.random() < min(share, 8 / height)), score, draw.choice(counts), draw.randrange(3)))
    frame, options = pl.DataFrame(data, schema, orient="row"), {}
    if lost:
        options["unscored"] = draw.choice(["unretrieved", "drop"])
    if draw.random() < 0.25 and len(scores) < 10:
        options["count"] = "n"
    elif draw.random() < 0.15:
        options["tie_break"] = "d"
    elif draw.random() < 0.15:
        options["ties"] = "order"
    if draw.random() < 0.2:
        options["ascending"] = True
    if draw.random() < 0.2:
        of_row = pl.col("n") if "count" in options else 1
        kept = pl.col("s").is_not_null() if options.get("unscored") == "drop" else True
        found = (pl.col("t") * of_row * kept).sum().over("q")
        frame = frame.with_columns(P=found + pl.col("q") % 3)
        options["positives"] = "P"
    return frame, options


def orders(sizes, unranked, positives):
    """Of each number of positives so far: the ways, and the sums of each metric and of its square, times a scale.

    Each block in turn gets 0, 1, ... of the positives; a rank beyond all blocks holds those that are not ranked.
    """
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    scale = lcm(*ends)
    states = {0: (1, 0, 0, 0, 0)}
    for size, end in [*zip(sizes, ends, strict=True), (unranked, None)]:
        following = defaultdict(lambda: (0, 0, 0, 0, 0))
        for tp, (ways, area, area2, lost, lost2) in states.items():
            for hits in range(min(size, positives - tp) + 1):
                more, pairs = added(size, end, tp, hits, sizes, scale)
                here = (
                    ways,
                    area + more * ways,
                    area2 + 2 * more * area + more**2 * ways,
                    lost + pairs * ways,
                    lost2 + 2 * pairs * lost + pairs**2 * ways,
                )
                choices = comb(size, hits)
                following[tp + hits] = tuple(a + choices * b for a, b in zip(following[tp + hits], here, strict=True))
        states = following
    return scale, states[positives]


def added(size, end, tp, hits, sizes, scale):
    """What a block adds to the sum of precisions, times the scale, and to twice the negatives above the positives."""
    above = (sum(sizes) if end is None else end - size) - tp
    precision = 0 if end is None else hits * (tp + hits) * (scale // end)
    return precision, hits * (2 * above + size - hits)


def outcomes(sizes, unranked, positives):
    """The values of both metrics over all orders, each with its number of ways."""
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    scale = lcm(*ends)
    states = {(0, 0, 0): 1}
    for size, end in [*zip(sizes, ends, strict=True), (unranked, None)]:
        following = defaultdict(int)
        for (tp, area, lost), ways in states.items():
            for hits in range(min(size, positives - tp) + 1):
                more, pairs = added(size, end, tp, hits, sizes, scale)
                following[tp + hits, area + more, lost + pairs] += ways * comb(size, hits)
        states = following
    return scale, {(area, lost): ways for (tp, area, lost), ways in states.items() if tp == positives}


def expected(name, group):
    """Value, expectation, variance, p-value and method of a group; None without a value."""
    value = group.value(name)
    if value is None or (name == "roc_auc" and group.positives == group.rows):
        return None
    positives, rows, sizes = group.positives, group.rows, [block[1] for block in group.blocks]
    unranked, pairs = rows - sum(sizes), positives * (rows - positives)
    scale, (ways, area, area2, lost, lost2) = orders(sizes, unranked, positives)
    assert ways == comb(rows, positives)
    if name == "average_precision":
        by = positives * scale
        mean, square = Fraction(area, ways * by), Fraction(area2, ways * by**2)
    else:
        mean = 1 - Fraction(lost, ways * 2 * pairs)
        square = 1 - 2 * Fraction(lost, ways * 2 * pairs) + Fraction(lost2, ways * (2 * pairs) ** 2)
    variance = square - mean**2
    most = 20_000 if all(size == 1 for size in sizes) else 1_000
    if variance == 0:
        return value, mean, variance, 1, "exact"
    if positives == 1 or (ways <= most and positives <= 64):
        scale, values = outcomes(sizes, unranked, positives)
        if name == "average_precision":
            good = sum(n for (area, _), n in values.items() if Fraction(area, positives * scale) >= value)
        else:
            good = sum(n for (_, lost), n in values.items() if 1 - Fraction(lost, 2 * pairs) >= value)
        return value, mean, variance, Fraction(good, ways), "exact"
    deviation = sqrt(variance)
    if name == "roc_auc":
        z = float(value - mean - Fraction(1, 2 * pairs)) / deviation
        return value, mean, variance, erfc(z / sqrt(2)) / 2, "normal"
    # The worst ranking without ties has the positives among the unranked rows and at the last ranks.
    ranked = max(0, positives - unranked)
    least = sum((Fraction(i, sum(sizes) - ranked + i) for i in range(1, ranked + 1)), Fraction(0)) / positives
    if value <= least:
        return value, mean, variance, 1, "lognormal"
    spread = log1p(float(variance / (mean - least) ** 2))
    z = log(float((value - least) / (mean - least))) / sqrt(spread) + sqrt(spread) / 2
    return value, mean, variance, erfc(z / sqrt(2)) / 2, "lognormal"


def adjusted(p_values, correction):
    """The p-values of all tests of a call, corrected; None stays None."""
    order = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    result, number = list(p_values), len(order)
    if correction == "bh":
        least = 1.0
        for place, (p, i) in reversed(list(enumerate(order, 1))):
            result[i] = least = min(least, p * number / place)
    elif correction == "holm":
        most = 0.0
        for place, (p, i) in enumerate(order):
            result[i] = most = max(most, min(1.0, p * (number - place)))
    return result


def agrees(row, exact):
    """Whether a row of the result is what it should be."""
    if exact is None:
        return all(row[column] is None for column in COLUMNS if column != "metric")
    value, mean, variance, p, method = exact
    deviation = row["standard_deviation"]
    if row["method"] != method or (row["z"] is None) != (variance == 0) or (deviation == 0) != (variance == 0):
        return False
    # The variance is a difference of the mean square and the square of the mean.
    right = abs(row["value"] - value) <= 1e-12 and abs(row["expectation"] - mean) <= 1e-12 * mean
    right &= abs(deviation**2 - variance) <= 1e-12 * mean**2
    if variance:
        z = float(value - mean) / sqrt(variance)
        right &= abs(row["z"] - z) <= 1e-12 * (1 + abs(z)) * float(1 + mean**2 / variance)
    slack = 1e-12 if method == "exact" else 1e-10 * float(1 + mean**2 / variance)
    return right and abs(row["p_value"] - p) <= slack * p + 1e-15


def differences(seed):
    """How many groups were compared, and what differs."""
    draw = random.Random(seed)
    data, options = drawn(draw)
    names, correction = draw.choice([NAMES, NAMES[:1], NAMES[1:]]), draw.choice(["bh", "holm", None])
    kind, wrong = draw.choice(KINDS), []
    given = data if options.get("ties") == "order" else data.sample(fraction=1, shuffle=True, seed=seed % 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = kind.read(fp.above_chance(kind(given), names, "t", "s", by="q", correction=correction, **options))
    rows = [{key: None if value != value else value for key, value in row.items()} for row in result.to_dicts()]
    keys = sorted(set(data["q"]))
    if options.get("unscored") == "drop" and len(rows) < len(keys) * len(names):
        keys = [q for q in keys if data.filter(pl.col("q") == q)["s"].count()]
    if [(row["q"], row["metric"]) for row in rows] != [(q, name) for q in keys for name in names]:
        return 0, [(seed, "groups", options, result)]
    groups = {q: group_of(data.filter(pl.col("q") == q), options) for q in keys}
    for row, p in zip(rows, adjusted([row["p_value"] for row in rows], correction), strict=True):
        exact = expected(row["metric"], groups[row["q"]])
        if not agrees(row, exact):
            shown = exact and [*map(float, exact[:4]), exact[4]]
            wrong.append(
                (seed, kind.name, row, shown, options, data.filter(pl.col("q") == row["q"]).to_dict(as_series=False))
            )
        if (row["p_adjusted"] is None) != (p is None) or (p is not None and abs(row["p_adjusted"] - p) > 1e-14):
            wrong.append((seed, "p_adjusted", row, p))
    return len(rows), wrong


def group_of(part, options):
    """The rows of a group for the oracle."""
    known = {"positives": part["P"][0]} if "positives" in options else {}
    counts = part["n"] if "count" in options else [1] * part.height
    ties = part["d"] if "tie_break" in options else [None] * part.height
    rows = [
        Row(truth == 1, score, 1, tie, None, count)
        for truth, score, tie, count in zip(part["t"], part["s"], ties, counts, strict=True)
    ]
    return Group(rows, None, options, known)
