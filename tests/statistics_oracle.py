"""Averaged curves and intervals by their definitions in the docs: exact fractions, one row after the other.

A row is (truth, score), with a score of None where it is not retrieved; a larger score ranks first. A positive that is
only known of is a row without a score.
"""

from fractions import Fraction
from math import isnan, sqrt

from scipy import optimize, special, stats

# Average precision, ROC AUC and the curve ---------------------------------------------------------------


def counts_at(rows, score):
    """The positives and the rows that have this score or a better one."""
    retrieved = [truth for truth, s in rows if s is not None and s >= score]
    return sum(retrieved), len(retrieved)


def steps(rows):
    """Of each score that retrieves a positive, from the best on: recall before it and with it, and precision."""
    positives, before = sum(truth for truth, _ in rows), 0
    for score in sorted({s for truth, s in rows if truth and s is not None}, reverse=True):
        tp, k = counts_at(rows, score)
        yield Fraction(before, positives), Fraction(tp, positives), Fraction(tp, k)
        before = tp


def average_precision(rows):
    """The sum of the precisions at the positives, divided by the number of positives; None without any."""
    if not any(truth for truth, _ in rows):
        return None
    return sum(((end - start) * precision for start, end, precision in steps(rows)), Fraction(0))


def roc_auc(rows):
    """The share of pairs of a positive and a negative in which the positive has the better score; ties are a half."""
    low = min((s for _, s in rows if s is not None), default=0) - 1
    sides = [[low if s is None else s for truth, s in rows if bool(truth) == side] for side in (True, False)]
    pairs = [Fraction(2 * (p > n) + (p == n), 2) for p in sides[0] for n in sides[1]]
    return sum(pairs, Fraction(0)) / len(pairs) if pairs else None


def heights(rows, points, *, interpolated):
    """The mean precision between two levels of recall; or the largest precision at a recall of a level or more."""
    last, found = points - 1, list(steps(rows))
    if interpolated:
        return [
            max((precision for _, end, precision in found if end >= Fraction(i, last)), default=Fraction(0))
            for i in range(points)
        ]
    return [
        sum(
            (
                max(Fraction(0), min(end, Fraction(i, last)) - max(start, Fraction(i - 1, last))) * precision * last
                for start, end, precision in found
            ),
            Fraction(0),
        )
        for i in range(1, points)
    ]


# How much a value changes with the weight of a row ---------------------------------------------------------------


def influences_on_average_precision(rows):
    """By the quotient rule: AP is the sum of w tp / k over the positives, divided by that of their w."""
    positives, value, found = sum(truth for truth, _ in rows), average_precision(rows), []
    at = [(s, *counts_at(rows, s)) for truth, s in rows if truth and s is not None]
    for truth, score in rows:
        change = Fraction(0)
        if score is not None:
            change += sum((Fraction(truth * k - tp, k * k) for s, tp, k in at if score >= s), Fraction(0))
            change += Fraction(*counts_at(rows, score)) if truth else 0
        found.append((change - value * truth) / positives)
    return found


def influences_on_roc_auc(rows):
    """The share of pairs that a row wins, less the share that all rows win, divided by the rows of its side."""
    value, found = roc_auc(rows), []
    for i, (truth, _) in enumerate(rows):
        others = [row for j, row in enumerate(rows) if j == i or bool(row[0]) != bool(truth)]
        side = sum(bool(t) == bool(truth) for t, _ in rows)
        low = min((s for _, s in rows if s is not None), default=0) - 1
        ranked = [(t, low if s is None else s) for t, s in others]
        found.append((roc_auc(ranked) - value) / side)
    return found


# Intervals ---------------------------------------------------------------


def t_quantile(confidence, df):
    """Two-sided, of Student's t."""
    return stats.t.isf((1 - confidence) / 2, df)


def share_interval(value, error, df, confidence):
    """`expit(logit m -+ t e / (m (1 - m)))`; at 1 from (alpha/2)^(1/n), and at 0 its mirror image."""
    if value is None or error is None or df < 1:
        return None
    least = ((1 - confidence) / 2) ** (1 / (df + 1))
    if value in (0, 1):
        return (least, 1.0) if value == 1 else (0.0, 1 - least)
    m = float(value)
    reach = t_quantile(confidence, df) * error / (m * (1 - m))
    return special.expit(special.logit(m) - reach), special.expit(special.logit(m) + reach)


def mean_interval(values, confidence):
    """Mean, bounds and standard error of shares, one for each unit; those without a value are left out."""
    values = [value for value in values if value is not None]
    n = len(values)
    mean = sum(values, Fraction(0)) / n if n else None
    error = sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n) if n > 1 else None
    return mean, share_interval(mean, error, n - 1, confidence), error


VALUES = {"average_precision": average_precision, "roc_auc": roc_auc}
INFLUENCES = {"average_precision": influences_on_average_precision, "roc_auc": influences_on_roc_auc}


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
    sides = [[d for d, (t, _) in zip(found, rows, strict=True) if bool(t) == side] for side in (True, False)]
    return value, sum(Fraction(len(side), len(side) - 1) * sum(d * d for d in side) for side in sides), fewer - 1


def row_interval(name, rows, confidence):
    """Of one group."""
    value, variance, df = row_error(name, rows)
    error = None if variance is None else sqrt(variance)
    interval = share_interval(value, error, df, confidence)
    if name == "roc_auc" and interval is not None and value not in (0, Fraction(1, 2), 1):
        interval = with_score_bound(float(value), interval, error, df, confidence, rows)
    return value, interval, error


def with_score_bound(value, interval, error, df, confidence, rows):
    """The bound on the side of 1/2 is where |A - theta| = t sqrt(V(theta)), if that is further away.

    V is the squared error, with a weight of n - 1, and the variance of Hanley and McNeil's exponential model, with 10.
    """
    p = sum(truth for truth, _ in rows)
    n = len(rows) - p

    def distance(theta):
        of_positives, of_negatives = 2 * theta**2 / (1 + theta) - theta**2, theta / (2 - theta) - theta**2
        model = of_positives / p + of_negatives / n
        variance = (df * error**2 + 10 * model) / (df + 10)
        return (value - theta) ** 2 - t_quantile(confidence, df) ** 2 * variance

    low, high = interval
    if value > 0.5:
        return min(low, optimize.brentq(distance, 0, value, xtol=1e-14) if distance(0) > 0 else 0.0), high
    return low, max(high, optimize.brentq(distance, value, 1, xtol=1e-14) if distance(1) > 0 else 1.0)


def fixed_groups_interval(name, groups, confidence):
    """Of the mean over groups that are fixed: their errors, and their degrees of freedom, add up."""
    parts = [part for part in (row_error(name, rows) for rows in groups) if part[0] is not None]
    if not parts:
        return None, None, None
    value = sum((v for v, _, _ in parts), Fraction(0)) / len(parts)
    if any(variance is None for _, variance, _ in parts):
        return value, None, None
    error = sqrt(sum(variance for _, variance, _ in parts)) / len(parts)
    return value, share_interval(value, error, sum(df for _, _, df in parts), confidence), error


def cluster_interval(name, rows, clusters, confidence):
    """Of one group, of whose rows clusters were drawn."""
    value, n = VALUES[name](rows), len(set(clusters))
    if value is None or n < 2:
        return value, None, None
    sums = dict.fromkeys(clusters, Fraction(0))
    for d, cluster in zip(INFLUENCES[name](rows), clusters, strict=True):
        sums[cluster] += d
    error = sqrt(Fraction(n, n - 1) * sum(d * d for d in sums.values()))
    return value, share_interval(value, error, n - 1, confidence), error


def wilson_interval(part, whole, confidence):
    """The score interval of a proportion: the p for which (part/whole - p)^2 = z^2 p (1 - p) / whole."""
    if not whole:
        return None
    z = stats.norm.isf((1 - confidence) / 2)
    share, a = part / whole, z * z / whole
    root = sqrt(a * a + 4 * a * share * (1 - share))
    return (2 * share + a - root) / (2 * (1 + a)), (2 * share + a + root) / (2 * (1 + a))


def average_curve(groups, points, confidence, *, interpolated):
    """Of each level: the mean over the groups that have positives, its band, the quartiles, and how many groups."""
    curves = [heights(rows, points, interpolated=interpolated) for rows in groups if any(t for t, _ in rows)]
    for at_level in zip(*curves, strict=True):
        ordered = sorted(at_level)
        quartiles = []
        for share in (Fraction(1, 4), Fraction(3, 4)):
            place = share * (len(ordered) - 1)
            i = int(place)
            after = ordered[min(i + 1, len(ordered) - 1)]
            quartiles.append(ordered[i] + (after - ordered[i]) * (place - i))
        mean, band, _ = mean_interval(at_level, confidence)
        yield mean, band, *quartiles, len(ordered)


def agree(number, expected):
    """Whether a number is the expected one, to 1e-9; both may be missing."""
    if number is None or expected is None:
        return number is None and expected is None
    return not isnan(number) and abs(number - float(expected)) < 1e-9
