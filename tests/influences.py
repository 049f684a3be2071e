"""Figures of weighted rows, (truth, score), and their derivatives by the weight of a row, in fractions."""

from fractions import Fraction


def weighted_average_precision(rows, weights):
    positives = sum(w for (t, _), w in zip(rows, weights, strict=True) if t)
    total = Fraction(0)
    for (truth, score), weight in zip(rows, weights, strict=True):
        if truth and score is not None:
            above = [(t, w) for (t, s), w in zip(rows, weights, strict=True) if s is not None and s >= score]
            total += weight * Fraction(sum(w for t, w in above if t), sum(w for _, w in above))
    return total / positives


def weighted_roc_auc(rows, weights):
    both = [(t, -1 if s is None else s, w) for (t, s), w in zip(rows, weights, strict=True)]
    pairs = wins = Fraction(0)
    for positive in (one for one in both if one[0]):
        for negative in (one for one in both if not one[0]):
            product = positive[2] * negative[2]
            pairs += product
            wins += product * (2 * (positive[1] > negative[1]) + (positive[1] == negative[1])) / 2
    return wins / pairs


def derivative(figure, rows, i):
    """By a symmetric difference, whose error is of the order of the step's square."""
    step = Fraction(1, 10**7)
    up, down = ([Fraction(1) + sign * step * (j == i) for j in range(len(rows))] for sign in (1, -1))
    return float((figure(rows, up) - figure(rows, down)) / (2 * step))


FIGURES = {"average_precision": weighted_average_precision, "roc_auc": weighted_roc_auc}
