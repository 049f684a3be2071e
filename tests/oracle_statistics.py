"""Intervals, averaged curves and comparisons by their definitions in the docs, in exact fractions.

A row is (truth, score), with a score of None where it is not retrieved; a larger score ranks first.
A positive that is only known of is a row without a score. `interval_differences` and
`comparison_differences` try random frames.
"""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from math import isclose, isnan, sqrt
from typing import Any, NamedTuple

import polars as pl
from scipy import optimize, special, stats

import frame_pr as fp

CONFIDENCES = [0.5, 0.68, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.999999]

# Average precision, ROC AUC and the curve
# ---------------------------------------------------------------


def counts_at(rows, score):
    """The positives and the rows that have this score or a better one."""
    retrieved = [truth for truth, s in rows if s is not None and s >= score]
    return sum(retrieved), len(retrieved)


def steps(rows):
    # Of each score that retrieves a positive, from the best on: recall before it and with it, and
    # precision.
    positives, before = sum(truth for truth, _ in rows), 0
    for score in sorted({s for truth, s in rows if truth and s is not None}, reverse=True):
        tp, k = counts_at(rows, score)
        yield Fraction(before, positives), Fraction(tp, positives), Fraction(tp, k)
        before = tp


def average_precision(rows):
    # The sum of the precisions at the positives, divided by the number of positives; None without
    # any.
    if not any(truth for truth, _ in rows):
        return None
    return sum(((end - start) * precision for start, end, precision in steps(rows)), Fraction(0))


def roc_auc(rows):
    # The share of pairs of a positive and a negative in which the positive has the better score;
    # ties are a half.
    low = min((s for _, s in rows if s is not None), default=0) - 1
    sides = [
        [low if s is None else s for truth, s in rows if bool(truth) == side]
        for side in (True, False)
    ]
    pairs = [Fraction(2 * (p > n) + (p == n), 2) for p in sides[0] for n in sides[1]]
    return sum(pairs, Fraction(0)) / len(pairs) if pairs else None


def heights(rows, points, *, interpolated):
    # The mean precision between two levels of recall; or the largest precision at a recall of a
    # level or more.
    last, found = points - 1, list(steps(rows))
    if interpolated:
        return [
            max(
                (precision for _, end, precision in found if end >= Fraction(i, last)),
                default=Fraction(0),
            )
            for i in range(points)
        ]
    return [
        sum(
            (
                max(Fraction(0), min(end, Fraction(i, last)) - max(start, Fraction(i - 1, last)))
                * precision
                * last
                for start, end, precision in found
            ),
            Fraction(0),
        )
        for i in range(1, points)
    ]


# How much a value changes with the weight of a row
# ---------------------------------------------------------------


def influences_on_average_precision(rows):
    # By the quotient rule: AP is the sum of w tp / k over the positives, divided by that of their
    # w.
    positives, value, found = sum(truth for truth, _ in rows), average_precision(rows), []
    at = [(s, *counts_at(rows, s)) for truth, s in rows if truth and s is not None]
    for truth, score in rows:
        change = Fraction(0)
        if score is not None:
            change += sum(
                (Fraction(truth * k - tp, k * k) for s, tp, k in at if score >= s), Fraction(0)
            )
            change += Fraction(*counts_at(rows, score)) if truth else 0
        found.append((change - value * truth) / positives)
    return found


def influences_on_roc_auc(rows):
    # The share of pairs that a row wins, less the share that all rows win, divided by the rows of
    # its side.
    value, found = roc_auc(rows), []
    for i, (truth, _) in enumerate(rows):
        others = [row for j, row in enumerate(rows) if j == i or bool(row[0]) != bool(truth)]
        side = sum(bool(t) == bool(truth) for t, _ in rows)
        low = min((s for _, s in rows if s is not None), default=0) - 1
        ranked = [(t, low if s is None else s) for t, s in others]
        found.append((roc_auc(ranked) - value) / side)
    return found


# Rates at a threshold ---------------------------------------------------------------

# What a row of label t and prediction p adds to the numerator and to the denominator of a rate.
SHARES = {
    "precision": (lambda t, p: t and p, lambda t, p: p),
    "recall": (lambda t, p: t and p, lambda t, p: t),
    "specificity": (lambda t, p: not t and not p, lambda t, p: not t),
    "npv": (lambda t, p: not t and not p, lambda t, p: not p),
    "fpr": (lambda t, p: not t and p, lambda t, p: not t),
    "fnr": (lambda t, p: t and not p, lambda t, p: t),
    "fdr": (lambda t, p: not t and p, lambda t, p: p),
    "accuracy": (lambda t, p: t == p, lambda t, p: True),
    "f1": (lambda t, p: 2 * (t and p), lambda t, p: t + p),
}


def cells_of(name, rows):
    """What each row adds to the numerator and to the denominator of a rate at a threshold."""
    figure, threshold = name.split("@threshold=")
    predicted = [(t, s is not None and s >= int(threshold)) for t, s in rows]
    return [tuple(int(side(*row)) for side in SHARES[figure]) for row in predicted]


def value_of(name, rows):
    """Of a metric of the ranking, or of a rate at a threshold."""
    if name in VALUES:
        return VALUES[name](rows)
    parts, wholes = zip(*cells_of(name, rows), strict=True)
    return Fraction(sum(parts), sum(wholes)) if any(wholes) else None


def influences_of(name, rows):
    """How much the value changes with the weight of each row."""
    if name in INFLUENCES:
        return INFLUENCES[name](rows)
    cells, value = cells_of(name, rows), value_of(name, rows)
    return [(part - value * whole) / sum(whole for _, whole in cells) for part, whole in cells]


# Intervals ---------------------------------------------------------------


def t_quantile(confidence, df):
    """Two-sided, of Student's t."""
    return stats.t.isf((1 - confidence) / 2, df)


def share_interval(value, error, df, confidence):
    # `expit(logit m -+ t e / (m (1 - m)))`; at 1 from (alpha/2)^(1 / (df + 1)), and at 0 its mirror
    # image.
    if value is None or error is None or df <= 0:
        return None
    df = float(df)
    least = ((1 - confidence) / 2) ** (1 / (df + 1))
    if value in (0, 1):
        return (least, 1.0) if value == 1 else (0.0, 1 - least)
    m = float(value)
    reach = t_quantile(confidence, df) * error / (m * (1 - m))
    return special.expit(special.logit(m) - reach), special.expit(special.logit(m) + reach)


def mean_interval(values, confidence):
    # Mean, bounds and standard error of shares, one for each unit; those without a value are left
    # out.
    values = [value for value in values if value is not None]
    n = len(values)
    mean = sum(values, Fraction(0)) / n if n else None
    error = sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n) if n > 1 else None
    if 1 < n < 10 and error == 0:
        # So few units that all agree have an interval without width.
        return mean, (mean, mean), error
    return mean, share_interval(mean, error, n - 1, confidence), error


VALUES = {"average_precision": average_precision, "roc_auc": roc_auc}
INFLUENCES = {
    "average_precision": influences_on_average_precision,
    "roc_auc": influences_on_roc_auc,
}


def row_error(name, rows):
    """Value, variance and degrees of freedom where the rows of a group were drawn one by one."""
    value, positives = VALUES[name](rows), sum(truth for truth, _ in rows)
    negatives = len(rows) - positives
    fewer = min(positives, negatives)
    if value is None or fewer < 2:
        return value, None, fewer - 1
    found = INFLUENCES[name](rows)
    if name == "average_precision":
        return value, Fraction(fewer, fewer - 1) * sum(d * d for d in found), fewer - 1
    sides = [
        [d for d, (t, _) in zip(found, rows, strict=True) if bool(t) == side]
        for side in (True, False)
    ]
    return (
        value,
        sum(Fraction(len(side), len(side) - 1) * sum(d * d for d in side) for side in sides),
        fewer - 1,
    )


def row_interval(name, rows, confidence):
    """Of one group."""
    value, variance, df = row_error(name, rows)
    error = None if variance is None else sqrt(variance)
    interval = share_interval(value, error, df, confidence)
    if name == "roc_auc" and interval is not None and value not in (0, Fraction(1, 2), 1):
        positives = sum(truth for truth, _ in rows)
        labels = positives, len(rows) - positives
        interval = with_score_bound(float(value), interval, error, df, confidence, labels)
    return value, interval, error


def with_score_bound(value, interval, error, df, confidence, labels):
    """The bound on the side of 1/2 is where |A - theta| = t sqrt(V(theta)), if further away.

    V is the squared error, with a weight of n - 1, and the variance of Hanley and McNeil's
    exponential model, with 10.
    """
    p, n = map(float, labels)
    df = float(df)

    def distance(theta):
        of_positives, of_negatives = (
            2 * theta**2 / (1 + theta) - theta**2,
            theta / (2 - theta) - theta**2,
        )
        model = of_positives / p + of_negatives / n
        variance = (df * error**2 + 10 * model) / (df + 10)
        return (value - theta) ** 2 - t_quantile(confidence, df) ** 2 * variance

    low, high = interval
    if value > 0.5:
        return min(
            low, optimize.brentq(distance, 0, value, xtol=1e-14) if distance(0) > 0 else 0.0
        ), high
    return low, max(
        high, optimize.brentq(distance, value, 1, xtol=1e-14) if distance(1) > 0 else 1.0
    )


def fixed_groups_interval(name, groups, confidence):
    # Of the mean over groups that are fixed: their errors, and their degrees of freedom, add up.
    parts = [part for part in (row_error(name, rows) for rows in groups) if part[0] is not None]
    if not parts:
        return None, None, None
    value = sum((v for v, _, _ in parts), Fraction(0)) / len(parts)
    if any(variance is None for _, variance, _ in parts):
        return value, None, None
    error = sqrt(sum(variance for _, variance, _ in parts)) / len(parts)
    return value, share_interval(value, error, sum(df for _, _, df in parts), confidence), error


def effective(weights):
    # Kish's effective number of clusters: as many clusters of equal weight are as good a sample.
    weights = list(weights)
    squares = sum(w * w for w in weights)
    return sum(weights) ** 2 / squares if squares else 0


def labels_in_clusters(name, rows, clusters):
    # For either label, which share of its rows each cluster has. A share has one kind: the rows of
    # its whole.
    if name in VALUES:
        sides = [[bool(t) == side for t, _ in rows] for side in (True, False)]
    else:
        sides = [[bool(whole) for _, whole in cells_of(name, rows)]]
    return [
        {
            cluster: Fraction(
                sum(x for x, c in zip(side, clusters, strict=True) if c == cluster), sum(side)
            )
            for cluster in clusters
        }
        for side in sides
    ]


def changes_of(influences, clusters, labels):
    # The sum of the D of the rows of a cluster, divided by the largest share of a label that is
    # left without it.
    changes = {}
    for cluster in {*clusters}:
        total = sum(
            (d for d, c in zip(influences, clusters, strict=True) if c == cluster), Fraction(0)
        )
        rest = 1 - max(label[cluster] for label in labels)
        changes[cluster] = total / rest if rest else total
    return changes


def cluster_sums(name, groups):
    # The change of the mean over groups without each cluster, and the weights of the clusters for
    # each label.
    sums, weights = {}, None
    for rows, clusters in groups:
        labels = labels_in_clusters(name, rows, clusters)
        for cluster, change in changes_of(influences_of(name, rows), clusters, labels).items():
            sums[cluster] = sums.get(cluster, Fraction(0)) + change / len(groups)
        weights = weights or [{} for _ in labels]
        for total, label in zip(weights, labels, strict=True):
            for cluster, share in label.items():
                total[cluster] = total.get(cluster, 0) + share
    return sums, weights


def cluster_interval(name, groups, confidence, *, averaged=False):
    # Of the mean over groups (rows, and the cluster of each), of whose rows clusters were drawn.
    groups = [(rows, clusters) for rows, clusters in groups if rows]
    if averaged and all(len({*clusters}) == 1 for _, clusters in groups):
        return clustered_mean(name, groups, confidence)
    defined = [group for group in groups if value_of(name, group[0]) is not None]
    if not defined:
        return None, None, None
    value = sum(value_of(name, rows) for rows, _ in defined) / len(defined)
    if any(len({*clusters}) < 2 for _, clusters in defined):
        return value, None, None
    sums, weights = cluster_sums(name, defined)
    numbers = [effective(label.values()) for label in weights]
    n = min(numbers)
    if n <= 1:
        return value, None, None
    error = sqrt(Fraction(len(sums) - 1, len(sums)) * sum(d * d for d in sums.values()))
    interval = share_interval(value, error, n - 1, confidence)
    if name == "roc_auc" and not averaged and interval and value not in (0, Fraction(1, 2), 1):
        interval = with_score_bound(float(value), interval, error, n - 1, confidence, numbers)
    return value, interval, error


def clustered_mean(name, groups, confidence):
    """Of the mean over groups that lie in one cluster each, of which clusters were drawn."""
    of_groups = [(value_of(name, rows), clusters[0]) for rows, clusters in groups]
    of_groups = [(value, cluster) for value, cluster in of_groups if value is not None]
    if not of_groups:
        return None, None, None
    mean = sum((value for value, _ in of_groups), Fraction(0)) / len(of_groups)
    of_clusters = {
        cluster: [value - mean for value, c in of_groups if c == cluster]
        for cluster in {cluster for _, cluster in of_groups}
    }
    n = effective(Fraction(len(values)) for values in of_clusters.values())
    if n <= 1:
        return mean, None, None
    changes = [sum(v) / (len(of_groups) - len(v)) for v in of_clusters.values()]
    count = len(changes)
    error = sqrt(Fraction(count - 1, count) * sum(change**2 for change in changes))
    return mean, share_interval(mean, error, n - 1, confidence), error


def wilson_interval(part, whole, confidence):
    # The score interval of a proportion: the p for which (part/whole - p)^2 = z^2 p (1 - p) /
    # whole.
    if not whole:
        return None
    z = stats.norm.isf((1 - confidence) / 2)
    share, a = part / whole, z * z / whole
    root = sqrt(a * a + 4 * a * share * (1 - share))
    return (2 * share + a - root) / (2 * (1 + a)), (2 * share + a + root) / (2 * (1 + a))


def proportion_interval(name, rows, confidence):
    # Of a rate at a threshold, where rows were drawn; F1 is 2 J / (1 + J) of the share J of the
    # rows t or p.
    cells = cells_of(name, rows)
    n, value = sum(whole > 0 for _, whole in cells), value_of(name, rows)
    if not n:
        return None, None, None
    is_f1 = name.startswith("f1")
    share = value / (2 - value) if is_f1 else value
    sides, error = wilson_interval(share * n, n, confidence), sqrt(share * (1 - share) / n)
    if is_f1:
        sides, error = tuple(2 * side / (1 + side) for side in sides), error * 2 / (1 + share) ** 2
    return value, sides if len(rows) > 1 else None, error


def average_curve(groups, points, confidence, *, interpolated):
    # Of each level: the mean over the groups that have positives, its band, and how many groups.
    curves = [
        heights(rows, points, interpolated=interpolated)
        for rows in groups
        if any(t for t, _ in rows)
    ]
    for at_level in zip(*curves, strict=True):
        mean, band, _ = mean_interval(at_level, confidence)
        yield mean, band, len(at_level)


def agree(number, expected):
    """Whether a number is the expected one, to 1e-9; both may be missing."""
    if number is None or expected is None:
        return number is None and expected is None
    return not isnan(number) and abs(number - float(expected)) < 1e-9


# Random intervals and averaged curves
# ---------------------------------------------------------------


def random_frame(draw):
    # A frame of a few groups, the arguments that it is asked with, and the rows of each group by
    # system.
    systems = ["s0"] if draw.random() < 0.7 else ["s0", "s1"]
    scores = draw.choice([range(1, 4), range(1, 7), range(50)])
    names, data, missing = range(draw.randint(1, 7)), [], draw.choice([0, 0, 0.1, 0.5])
    # Half of the frames have large groups only, whose mean has a standard error.
    kinds, sizes = (
        ["any", "any", "any", "perfect", "no row", "negatives", "no positive"],
        [1, 2, 4, 8, 14],
    )
    if draw.random() < 0.5:
        kinds, sizes = kinds[:4], [14, 20]
    for name in names:
        kind = draw.choice(kinds)
        for _ in range(draw.choice(sizes)):
            truth = draw.random() < 0.4 and kind != "no positive"
            row = {
                "q": name,
                "half": name % 2,
                "t": truth,
                "user": draw.randrange(4),
                "n": draw.randint(1, 3),
            }
            for system in systems:
                score = draw.choice(scores) + (100 * truth if kind == "perfect" else 0)
                lost = (
                    kind == "no row" or (kind == "negatives" and truth) or draw.random() < missing
                )
                row[system] = None if lost else score
            data.append(row)
    schema = {"q": pl.Int64, "half": pl.Int64, "t": pl.Boolean, "user": pl.Int64, "n": pl.Int64}
    frame = pl.DataFrame(data, schema=schema | dict.fromkeys(systems, pl.Int64))
    options = {"unscored": "unretrieved"}
    counts = draw.choice([None, None, "count", "weight"])
    options |= {} if counts is None else {counts: "n"}
    totals = draw.choice([None, None, "column", "frame"]) if counts != "weight" else None
    more = {name: draw.randint(0, 3) for name in (*names, *((97, 98) if totals == "frame" else ()))}
    present = {
        name: sum((r["n"] if counts else 1) * r["t"] for r in data if r["q"] == name)
        for name in more
    }
    if totals == "column":
        frame = frame.with_columns(
            P=pl.col("q").replace_strict({q: present[q] + more[q] for q in more})
        )
        options["total_positives"] = "P"
    elif totals == "frame":
        known = {
            "q": list(more),
            "half": [q % 2 for q in more],
            "P": [present[q] + more[q] for q in more],
        }
        options["total_positives"] = pl.DataFrame(known)
    groups = {
        system: {
            q: [
                (r["t"], r[system])
                for r in data
                if r["q"] == q
                for _ in range(r["n"] if counts else 1)
            ]
            + [(True, None)] * (more[q] if totals else 0)
            for q in more
        }
        for system in systems
    }
    return frame, systems, options, groups, data


class Case(NamedTuple):
    """A random frame, the arguments that it is asked with, and its rows."""

    frame: Any
    systems: list[str]
    options: dict[str, Any]
    groups: dict[str, dict[int, list]]
    """The rows of each group, by system."""
    data: list[dict]
    confidence: float

    @property
    def score(self):
        """The columns of the systems."""
        return self.systems if len(self.systems) > 1 else self.systems[0]

    @property
    def present(self):
        """The groups that have rows, and not totals only."""
        return {row["q"] for row in self.data}

    def options_by(self, *keys):
        """The options; a frame of totals has these keys."""
        total = self.options.get("total_positives")
        if total is None or isinstance(total, str):
            return self.options
        return self.options | {"total_positives": total.select(*keys, "P")}

    def intervals(self, metrics, **call):
        """The intervals of these metrics of all systems, in memory."""
        call |= {"confidence": self.confidence, "details": True}
        return fp.intervals(self.frame, metrics, "t", self.score, **call).lazy().collect()

    def of_system(self, table, system):
        """The lines of a system; a single one has no column of its own."""
        return table.filter(system=system) if len(self.systems) > 1 else table


class Differences:
    """What differs from the definitions."""

    def __init__(self, seed):
        self.seed = seed
        self.wrong = []

    def add(self, *what):
        """Remember a difference."""
        self.wrong.append((self.seed, *what))

    def interval(self, where, row, expected):
        """Compare a line of `intervals` with a value, its bounds and its error."""
        value, sides, error = expected
        low, high = sides or (None, None)
        numbers = [no_nan(row[name]) for name in ("value", "low", "high", "standard_error")]
        exact = (value, low, high, error)
        if not all(map(agree, numbers, exact)):
            self.add(where, row, tuple(map(str, exact)))
        self.order(where, row, numbers[1], numbers[0], numbers[2])

    def order(self, where, row, low, value, high):
        """Check that bounds of shares enclose the value."""
        order = [0, low, value, high, 1]
        if None not in order and order != sorted(order):
            self.add(where, "the bounds do not hold the value", row)


def no_nan(number):
    """The number; None if it is missing."""
    return None if number is None or number != number else number


def interval_differences(seed):
    """How many groups were compared, and what differs."""
    draw = random.Random(seed)
    frame, systems, options, groups, data = random_frame(draw)
    given = frame.lazy() if draw.random() < 0.5 else frame
    case = Case(given, systems, options, groups, data, draw.choice(CONFIDENCES))
    found = Differences(seed)
    check_means(case, draw, found)
    if "weight" not in options:
        check_rows(case, found)
        if not {"total_positives", "count"} & {*options}:
            check_clusters(case, draw, found)
    return len(systems) * len(groups["s0"]), found.wrong


RANKINGS = ["average_precision", "roc_auc"]


def check_means(case, draw, found):
    """Means over groups, and averaged curves, of all groups or of each half."""
    points, interpolated = draw.choice([2, 3, 6, 11, 101]), draw.random() < 0.4
    in_halves = draw.random() < 0.4 and not isinstance(case.options.get("total_positives"), str)
    keys = ["half", "q"] if in_halves else ["q"]
    call = {"by": keys, "mean_over": "q", **case.options_by(*keys)}
    form = {"points": points, "interpolated": interpolated, "confidence": case.confidence}
    curves = fp.average_curve(case.frame, "t", case.score, **form, **call).lazy().collect()
    means = case.intervals(RANKINGS, **call)
    values = fp.evaluate(case.frame, "average_precision", "t", case.score, **call)
    values = values.lazy().collect()
    for system in case.systems:
        for half in (0, 1) if in_halves else (None,):
            tables = [case.of_system(table, system) for table in (curves, means, values)]
            if half is not None:
                tables = [table.filter(half=half) for table in tables]
            of_groups = case.groups[system].items()
            rows = [r for q, r in of_groups if r and half in (None, q % 2)]
            check_curve(tables[0], rows, form, found)
            if not interpolated and tables[0].height:
                area = tables[0]["precision"].mean()
                if not agree(area, tables[2]["mean_average_precision"].item()):
                    found.add("area", system, half)
            for name in RANKINGS if rows else ():
                row = tables[1].filter(metric=name).row(0, named=True)
                expected = mean_interval([VALUES[name](r) for r in rows], case.confidence)
                found.interval(("means", system, half, name), row, expected)


def check_curve(table, rows, form, found):
    """The mean curve of the rows of several groups, and its band."""
    levels = list(average_curve(rows, **form))
    if len(levels) != table.height:
        found.add("levels", len(levels), table.height)
    for row, (mean, band, n) in zip(table.iter_rows(named=True), levels, strict=False):
        low, high = band or (None, None)
        numbers = [no_nan(row[name]) for name in ("precision", "low", "high", "groups")]
        if not all(map(agree, numbers, (mean, low, high, n))):
            found.add("curve", row, str((mean, low, high, n)))
        if band:
            found.order("band", row, numbers[1], numbers[0], numbers[2])


def check_rows(case, found):
    """Rankings of each group, and of the mean over fixed groups, if rows were drawn."""
    names = RANKINGS[:1] if "total_positives" in case.options else RANKINGS
    call = {"by": "q", **case.options_by("q")}
    each = case.intervals(names, **call)
    fixed = case.intervals(names, **call, mean_over="q", sampled="rows")
    for system, name in itertools.product(case.systems, names):
        groups = {q: case.groups[system][q] for q in case.present}
        of_groups = case.of_system(each, system).filter(metric=name)
        for q, rows in groups.items():
            row = of_groups.filter(q=q).row(0, named=True)
            expected = row_interval(name, rows, case.confidence)
            found.interval(("rows", system, q, name), row, expected)
        row = case.of_system(fixed, system).filter(metric=name).row(0, named=True)
        expected = fixed_groups_interval(name, [*groups.values()], case.confidence)
        found.interval(("fixed", system, name), row, expected)


def check_clusters(case, draw, found):
    """Shares at a threshold of drawn rows; they and rankings if clusters of rows were drawn."""
    threshold = draw.choice([0, 1, 2, 5, 120])
    shares = [f"{rate}@threshold={threshold}" for rate in SHARES]
    names = [*RANKINGS, *shares]
    call = {"by": "q", **case.options}
    of_rows = case.intervals(shares, **call)
    clusters = case.intervals(names, **call, cluster="user")
    of_all = case.intervals(names, **call, cluster="user", mean_over="q")
    users = {q: [r["user"] for r in case.data if r["q"] == q] for q in case.present}
    for system, name in itertools.product(case.systems, names):
        groups = {q: (case.groups[system][q], users[q]) for q in case.present}
        row = case.of_system(of_all, system).filter(metric=name).row(0, named=True)
        expected = cluster_interval(name, [*groups.values()], case.confidence, averaged=True)
        found.interval(("clusters of groups", system, name), row, expected)
        for q, (rows, _) in groups.items():
            row = case.of_system(clusters, system).filter(q=q, metric=name).row(0, named=True)
            expected = cluster_interval(name, [groups[q]], case.confidence)
            found.interval(("clusters", system, q, name), row, expected)
            if name in shares:
                row = case.of_system(of_rows, system).filter(q=q, metric=name).row(0, named=True)
                expected = proportion_interval(name, rows, case.confidence)
                found.interval(("proportion", system, q, name), row, expected)


# Random comparisons ---------------------------------------------------------------


def t_test(
    difference: Fraction, variance: Fraction, df: int, confidence: float
) -> dict[str, float]:
    """Bounds and p-value of a difference with this variance, by Student's t."""
    error = float(variance) ** 0.5
    reach = stats.t.ppf((1 + confidence) / 2, df) * error
    return {
        "low": float(difference) - reach,
        "high": float(difference) + reach,
        "p_value": 2 * stats.t.sf(abs(float(difference)) / error, df),
    }


def of_groups(
    pairs: list[tuple[Fraction | None, Fraction | None]], test: str, confidence: float
) -> dict:
    """What the docs say of two systems, of the values of either in each group."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    n, differences = len(both), [b - a for a, b in both]
    row = dict.fromkeys(
        ("value_baseline", "value_system", "difference", "low", "high", "p_value", "effect_size"),
        None,
    ) | {
        "n_system": n,
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
    if variance:
        row |= t_test(mean, variance / n, n - 1, confidence)
        row["effect_size"] = float(mean) / float(variance) ** 0.5
    elif not mean:
        row |= {"low": 0, "high": 0, "p_value": 1}
    if test == "permutation":
        ways = list(itertools.product((1, -1), repeat=n))
        as_large = sum(
            abs(sum(s * d for s, d in zip(w, differences, strict=True))) >= abs(n * mean)
            for w in ways
        )
        row["p_value"] = as_large / len(ways)
    return row


def random_values(
    rng: random.Random, cases: int, systems: str
) -> dict[tuple[int, int, str], Fraction | None]:
    # By case, group and system: few distinct values, of which some are null, and some keys are
    # missing.
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
        return [
            max(min(1, (m - j) * q) for j, q in enumerate(ascending) if q <= p) for p in p_values
        ]
    if correction == "bh":
        return [
            min(min(1, m * q / (j + 1)) for j, q in enumerate(ascending) if q >= p)
            for p in p_values
        ]
    return p_values


def compared_groups(seed: int) -> tuple[int, list[Any]]:
    """How many groups were compared, and what differs."""
    rng = random.Random(seed)
    test, systems = ["t", "permutation"][seed // 2 % 2], rng.choice(["ab", "abc", "abcd"])
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
    table = fp.compare(
        frame.lazy() if rng.random() < 0.5 else frame,
        "m",
        by="case",
        between="system",
        mean_over="group",
        paired=True,
        test=test,
        baseline=baseline,
        confidence=confidence,
        correction=correction,
        details=True,
    )
    table = table.lazy().collect()
    expected = {}
    for case in sorted({case for case, _, _ in values}):
        groups = sorted({group for number, group, _ in values if number == case})
        present = {system for number, _, system in values if number == case}
        for a, b in pairs:
            if not {a, b} <= present:
                continue
            paired = [
                (values.get((case, group, a)), values.get((case, group, b))) for group in groups
            ]
            expected[case, a, b] = of_groups(paired, test, confidence)
    tested = [key for key, answer in expected.items() if answer["p_value"] is not None]
    p_adjusted = adjusted([expected[key]["p_value"] for key in tested], correction)
    for key, p in zip(tested, p_adjusted, strict=True):
        expected[key] |= {"p_adjusted": p} if correction else {}
    scaled = ("value_baseline", "value_system", "difference", "low", "high")
    for answer in expected.values():
        answer.update(
            {
                name: float(answer[name]) * float(scale)
                for name in scaled
                if answer[name] is not None
            }
        )
    size = float(scale)
    return len(expected), compared(
        table, ["case", "baseline", "system"], expected, seed, dict.fromkeys(scaled, size)
    )


def compared(
    table: pl.DataFrame,
    keys: list[str],
    expected: dict[Any, dict[str, Any]],
    seed: int,
    sizes: dict[str, float],
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


COMPARED = [*VALUES, *(f"{figure}@threshold=3" for figure in SHARES)]


def of_rows(
    name: str,
    truth: list[bool],
    scores: list[list[int]],
    clusters: list[int] | None,
    confidence: float,
) -> dict:
    """What the docs say of two scores of the same rows; None where that is nothing."""
    sides = [[*zip(truth, score, strict=True)] for score in scores]
    a, b = (value_of(name, rows) for rows in sides)
    if a is None or b is None:
        return dict.fromkeys(
            ("value_baseline", "value_system", "difference", "low", "high", "p_value")
        )
    of_a, of_b = (influences_of(name, rows) for rows in sides)
    d = [y - x for x, y in zip(of_a, of_b, strict=True)]
    positives, n = sum(truth), len(truth)
    fewer = min(positives, n - positives)
    if clusters is not None:
        if len({*clusters}) < 2:
            return {"value_baseline": a, "value_system": b, "difference": b - a} | dict.fromkeys(
                ("low", "high", "p_value")
            )
        labels = [labels_in_clusters(name, rows, clusters) for rows in sides]
        units = min(effective(label.values()) for of_side in labels for label in of_side)
        changes = [
            changes_of(influences, clusters, of_side)
            for influences, of_side in zip((of_a, of_b), labels, strict=True)
        ]
        count = len(changes[0])
        squares = sum((changes[1][c] - change) ** 2 for c, change in changes[0].items())
        variance = squares * Fraction(count - 1, count) if units > 1 else None
    elif name == "roc_auc":
        units = fewer
        variance = None
        if fewer > 1:
            of_positives = sum(x * x for x, t in zip(d, truth, strict=True) if t)
            of_negatives = sum(x * x for x, t in zip(d, truth, strict=True) if not t)
            variance = of_positives * positives / (positives - 1) + of_negatives * (
                n - positives
            ) / (n - positives - 1)
    else:
        units = (
            fewer
            if name in VALUES
            else min(sum(whole > 0 for _, whole in cells_of(name, rows)) for rows in sides)
        )
        variance = sum(x * x for x in d) * units / (units - 1) if units > 1 else None
    row = {"value_baseline": a, "value_system": b, "difference": b - a}
    if variance is None:
        return row | dict.fromkeys(("low", "high", "p_value"))
    if not variance:
        return row | dict(
            zip(("low", "high", "p_value"), (None,) * 3 if a != b else (0, 0, 1), strict=True)
        )
    return row | t_test(b - a, variance, float(units - 1), confidence)


def random_rows(rng: random.Random, cases: int) -> Iterator[tuple[int, bool, int, int, int]]:
    """Rows of a case, truth, two scores and a cluster, with both classes in each case."""
    for case in range(cases):
        levels = rng.choice([4, 6, 50])
        for number in range(rng.randint(3, 12)):
            truth = number == 0 or (number > 1 and rng.random() < 0.4)
            yield (
                case,
                truth,
                rng.randrange(levels),
                rng.randrange(levels) + truth,
                rng.randrange(4),
            )


def compared_rows(seed: int) -> tuple[int, list[Any]]:
    """How many groups were compared, and what differs."""
    rng = random.Random(seed)
    rows, clusters, confidence = (
        [*random_rows(rng, 12)],
        rng.random() < 0.5,
        rng.choice(CONFIDENCES),
    )
    frame = pl.DataFrame(rows, schema=["case", "t", "old", "new", "user"], orient="row")
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    table = fp.compare(
        shuffled.lazy() if rng.random() < 0.5 else shuffled,
        [*COMPARED],
        "t",
        ["old", "new"],
        by="case",
        cluster="user" if clusters else None,
        confidence=confidence,
        details=True,
    )
    expected = {}
    for case, group in itertools.groupby(rows, key=lambda row: row[0]):
        _, truth, old, new, users = map(list, zip(*group, strict=True))
        for name in COMPARED:
            expected[case, name] = of_rows(
                name, truth, [old, new], users if clusters else None, confidence
            )
    return len(expected), compared(table.lazy().collect(), ["case", "metric"], expected, seed, {})


def comparison_differences(seed: int) -> tuple[int, list[Any]]:
    """Of the comparisons of this number."""
    return compared_groups(seed) if seed % 2 else compared_rows(seed)
