"""What the oracle needs of a ranking beside its curve: ROC, first hits, gains, judgments; of a `Group`, exactly.

A block is (rows above it, its rows, its positives, its gain, how many of it are judged).
"""

from fractions import Fraction
from math import comb, fsum, log2


def over(a, b):
    return None if b == 0 else Fraction(a) / b


def roc_auc(group):
    """Pairs of a positive and a negative that the positive wins, a tie half; what is not ranked is tied, last."""
    below = negatives = group.rows - group.positives
    won = 0
    for size, hits in [*((size, hits) for _, size, hits, *_ in group.blocks), group.unranked]:
        below -= size - hits
        won += hits * (below + Fraction(size - hits) / 2)
    return over(won, group.positives * negatives)


def partial_roc_auc(group, limit):
    """Of (false positives, true positives) the area below the lines, or steps, as far as the limit; standardized."""
    negatives, area, fp, tp = group.rows - group.positives, 0, 0, 0
    if negatives == 0 or group.positives == 0:
        return None
    width = limit * negatives
    expected = group.apart == "expected"
    for size, hits, in_steps in [*((b[1], b[2], expected) for b in group.blocks), (*group.unranked, False)]:
        own = size - hits
        inside = min(max(width - fp, 0), own)
        if in_steps:  # before the j-th of f negatives there are, on average, r j/(f+1) of r positives
            for j in range(1, own + 1):
                area += min(max(inside - (j - 1), 0), 1) * Fraction(hits * j, own + 1)
        elif own:
            area += inside * inside * Fraction(hits) / own / 2
        area += inside * Fraction(tp)
        fp, tp = fp + own, tp + hits
    share, chance = area / group.positives / negatives, limit**2 / 2
    return (1 + (share - chance) / (limit - chance)) / 2


def first_hit(group, rank, worth):
    """Of the first block with a hit the chance of each place to be the first hit's, times what it is worth."""
    for above, size, hits, *_ in group.blocks:
        if hits:
            places = range(min(size - hits + 1, max(0, rank - above)))
            chance = [Fraction(comb(size - 1 - place, hits - 1), comb(size, hits)) for place in places]
            return sum(chance[place] * worth(above + place + 1) for place in places)
    return 0


def dcg(group, rank):
    places = [
        float(gain) / size / log2(above + place + 2)
        for above, size, _, gain, _ in group.blocks
        for place in range(size if gain else 0)
        if above + place < rank
    ]
    return fsum(places)


def ideal_dcg(group, rank):
    gains = sorted([*group.gains, *[1] * group.missed], reverse=True)
    return fsum(gain / log2(place + 2) for place, gain in enumerate(gains) if place < rank)


def rank_biased_precision(group, persistence):
    return sum(
        Fraction(hits, size) * (1 - persistence) * persistence ** (above + place)
        for above, size, hits, *_ in group.blocks
        for place in range(size if hits else 0)
    )


def bpref(group):
    """Mean over the positives of 1 - (negatives above it, at most P) / min(P, Q), over its places in its block."""
    positives, negatives, above, total = group.positives, group.rows - group.positives, 0, 0
    for _, size, hits, *_ in group.blocks:
        places = range(size - hits + 1)
        worth = [1 - (over(min(above + i, positives), min(positives, negatives)) or 0) for i in places]
        total += hits * sum(worth) / Fraction(len(places))
        above += size - hits
    return total / Fraction(positives)


def judged(group, rank):
    inside = [(min(size, max(0, rank - above)), size, known) for above, size, _, _, known in group.blocks]
    return sum((Fraction(taken * known, size) for taken, size, known in inside), Fraction(0)) / rank
