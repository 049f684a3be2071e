"""Every metric of one group in exact fractions, straight from its definition: slow, and read at a glance."""

from fractions import Fraction
from math import sqrt


def points(truth, score):
    """The curve: (threshold, k, tp) for every distinct score, descending. A block of ties is taken whole."""
    rows = list(zip(map(bool, truth), score, strict=True))
    thresholds = sorted(set(score), reverse=True)
    return [(t, sum(s >= t for _, s in rows), sum(y for y, s in rows if s >= t)) for t in thresholds]


def truncated(curve, rank):
    """The curve up to a rank: a block that the rank falls into keeps its share of hits, and ends there."""
    kept, k0, tp0 = [], 0, 0
    for t, k, tp in curve:
        if k0 < rank < k:
            k, tp = rank, tp0 + Fraction((rank - k0) * (tp - tp0), k - k0)
        if k <= rank:
            kept.append((t, k, tp))
        k0, tp0 = k, tp
    return kept


def area(curve):
    """Sum over the blocks of hits * precision."""
    before = [0, *(tp for _, _, tp in curve)]
    return sum((tp - tp0) * Fraction(tp, k) for (_, k, tp), tp0 in zip(curve, before, strict=False))


def over(a, b):
    return None if b == 0 else Fraction(a) / b


def figure(name, tp, k, positives, rows):
    """A figure of the confusion table, by its textbook definition; None where a denominator is 0."""
    fp, fn, tn = k - tp, positives - tp, rows - positives - (k - tp)
    counts = {"k": k, "tp": tp, "fp": fp, "fn": fn, "tn": tn}
    shares = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "specificity": (tn, tn + fp), "npv": (tn, tn + fn)}
    shares |= {"fpr": (fp, fp + tn), "fnr": (fn, fn + tp), "fdr": (fp, fp + tp)}
    shares |= {"accuracy": (tp + tn, rows), "prevalence": (positives, rows)}
    sums = {"informedness": ("recall", "specificity"), "markedness": ("precision", "npv")}
    if name in counts:
        return counts[name]
    if name in shares:
        return over(*shares[name])
    if name in sums:
        pair = [over(*shares[one]) for one in sums[name]]
        return None if None in pair else sum(pair) - 1
    if name == "kappa":
        chance = Fraction((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / rows**2
        return over(Fraction(tp + tn) / rows - chance, 1 - chance)
    if name == "mcc":
        margins, covariance = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), tp * tn - fp * fn
        return None if margins == 0 else sqrt(Fraction(covariance**2) / margins) * (1 if covariance > 0 else -1)
    b2 = Fraction(name.removeprefix("f")) ** 2
    return over((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)


def oracle(name, truth, score):
    """Value of a metric: a Fraction or an int (mcc: a float; a threshold: the score itself), None where undefined."""
    curve, positives, rows = points(truth, score), sum(map(bool, truth)), len(truth)
    head, _, cut = name.partition("@")
    ties, prevalence = sum(score.count(s) > 1 for s in score), Fraction(positives, rows)
    totals = {"rows": rows, "positives": positives, "ties": ties, "prevalence": prevalence}
    if head in totals:
        return totals[head]
    rank, _, divisor = cut.partition("/")
    if rank.isdecimal() and head != "average_precision":
        return figure(head, truncated(curve, int(rank))[-1][2], int(rank), positives, max(rows, int(rank)))
    if cut.startswith("threshold="):
        _, k, tp = next((p for p in reversed(curve) if p[0] >= float(cut[10:])), (None, 0, 0))
        return figure(head, tp, k, positives, rows)
    if positives == 0:
        return None
    if rank.isdecimal():
        part = truncated(curve, int(rank))
        return over(area(part), {"": min(int(rank), positives), "hits": part[-1][2]}.get(divisor, positives)) or 0
    if name in ("average_precision", "lift"):
        return area(curve) / positives / (prevalence if name == "lift" else 1)
    if name == "r_precision":
        return truncated(curve, positives)[-1][2] / Fraction(positives)
    if "max_f" in name:
        f = {t: figure(name[name.index("f") :], tp, k, positives, rows) for t, k, tp in curve}
        return max(t for t in f if f[t] == max(f.values())) if cut else max(f.values())

    def best(recall):
        return max(Fraction(tp, k) for _, k, tp in curve if tp >= recall * positives)

    if head.startswith("interpolated_average_precision"):
        # At recalls 0, 1/10, ..., 1; over all points, at the recalls 1/P, ..., 1 of the positives.
        first, levels = (0, int(head.rpartition("_")[2]) - 1) if head[-1] == "1" else (1, positives)
        recalls = [Fraction(i, levels) for i in range(first, levels + 1)]
        return sum(map(best, recalls)) / len(recalls)
    recall = Fraction(cut.removeprefix("recall="))
    if head == "interpolated_precision":
        return best(recall)
    t, k, tp = next(p for p in curve if p[2] >= recall * positives)
    return t if head == "threshold" else figure(head, tp, k, positives, rows)
