"""What the oracle needs of a ranking beside its curve: ROC, first hits, gains, judgments; of a `Group`, exactly.

A block is (rows above it, its rows, its positives, its gain, how many of it are judged).
"""

from fractions import Fraction
from math import comb, floor, fsum

import oracle_long_runs as runs


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
            # The j-th of them adds a step of that height, the last one a part of it.
            full = floor(inside)
            area += Fraction(hits * full, own + 1) * (full + 1) / 2
            area += (inside - full) * Fraction(hits * (full + 1), own + 1)
        elif own:
            area += inside * inside * Fraction(hits) / own / 2
        area += inside * Fraction(tp)
        fp, tp = fp + own, tp + hits
    share, chance = area / group.positives / negatives, limit**2 / 2
    return (1 + (share - chance) / (limit - chance)) / 2


def first_hit(group, rank, *, reciprocal):
    """Of the first block with a hit, the chance of each place to be the first hit's, as it is or over its rank."""
    for above, size, hits, *_ in group.blocks:
        if hits:
            return runs.first_hit(size, hits, above, max(0, min(size, rank - above)), reciprocal=reciprocal)
    return 0


def ranked_blocks(group):
    """(rows above it, its rows, its positives) of each block; what is not ranked is tied, last."""
    blocks = [block[:3] for block in group.blocks]
    return [*blocks, (group.rows - group.unranked[0], *group.unranked)]


def first_rank(group):
    """Of h places drawn from g, the chance that the first one is beyond j is that of h places among the g - j last."""
    for above, size, hits in ranked_blocks(group):
        if hits:
            if size > 50:  # the sum of those chances, as it is known
                return above + Fraction(size + 1, hits + 1)
            return above + sum(
                Fraction(comb(int(size) - j, int(hits)), comb(int(size), int(hits))) for j in range(int(size))
            )
    return None


def mean_rank(group):
    ranks = (hits * (above + Fraction(size + 1) / 2) for above, size, hits in ranked_blocks(group))
    return over(sum(ranks), group.positives)


def equal_error_rate(group):
    """Where lines through the points (false positive rate, miss rate) cross the diagonal."""
    positives, negatives = group.positives, group.rows - group.positives
    if not (positives and negatives):
        return None
    x, y, tp, fp = Fraction(0), Fraction(1), 0, 0
    for _, size, hits in ranked_blocks(group):
        tp, fp, before = tp + hits, fp + size - hits, (x, y)
        x, y = Fraction(fp) / negatives, 1 - Fraction(tp) / positives
        if x >= y:
            part = (before[1] - before[0]) / (before[1] - before[0] + x - y)
            return before[0] + part * (x - before[0])
    return None


def dcg(group, rank):
    """Each place of a block is worth the mean of its gains."""
    blocks = [(above, min(above + size, rank), gain / Fraction(size)) for above, size, _, gain, _ in group.blocks]
    return fsum(float(gain) * runs.discounts(above, upto) for above, upto, gain in blocks if gain and above < upto)


def ideal_dcg(group, rank):
    place, total = 0, []
    for gain, count in sorted([*group.gains, (1, group.missed)], reverse=True):
        upto = min(place + count, rank)
        total += [float(gain) * runs.discounts(place, upto)] if gain and place < upto else []
        place += count
    return fsum(total)


def rank_biased_precision(group, persistence):
    blocks = [(above, size, Fraction(hits, size)) for above, size, hits, *_ in group.blocks if hits]
    return sum(share * (1 - persistence) * runs.geometric(persistence, above, size) for above, size, share in blocks)


def bpref(group):
    """Mean over the positives of 1 - (negatives above it, at most P) / min(P, Q), over its places in its block.

    Rows without a label are no negatives.
    """
    positives, negatives, above, total = group.positives, group.rows - group.positives - group.unjudged, 0, 0
    for _, _, hits, _, known in group.blocks:
        # With 0 to all of its negatives above, which are alike.
        places = known - hits + 1
        below = max(0, min(places, positives - above))
        capped = Fraction(below * (2 * above + below - 1), 2) + (places - below) * positives
        total += hits * (1 - (over(capped / places, min(positives, negatives)) or 0))
        above += known - hits
    return total / Fraction(positives)


def judged(group, rank):
    inside = [(min(size, max(0, rank - above)), size, known) for above, size, _, _, known in group.blocks]
    return sum((Fraction(taken * known, size) for taken, size, known in inside), Fraction(0)) / rank
