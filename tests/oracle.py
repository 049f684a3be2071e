"""Every metric of one group under every option, in exact fractions.

It follows docs/metric-definitions.md alone, one definition after the other.
"""

from fractions import Fraction
from functools import cache, partial
from math import ceil, floor, fsum, inf, isinf, isnan, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

SHORT = 1000
"""The places of a tie that are added one by one."""


def over(a, b):
    return None if b == 0 else Fraction(a) / b


def oracle(name, truth, score):
    """The value of a metric, None where it is undefined.

    It is a Fraction or an int; of mcc a float, of a threshold the score itself.
    """
    rows = [Row(bool(y), s) for y, s in zip(truth, score, strict=True)]
    return Group(rows, lambda score, threshold: score >= float(threshold), {}, {}).value(name)


def points(truth, score):
    """The curve: (threshold, k, tp) for every distinct score, descending. A tie is taken whole."""
    rows = list(zip(map(bool, truth), score, strict=True))
    thresholds = sorted(set(score), reverse=True)
    return [
        (t, sum(s >= t for _, s in rows), sum(y for y, s in rows if s >= t)) for t in thresholds
    ]


# Rates of a confusion table.

SHARES = {
    "precision": lambda tp, fp, fn, tn: (tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: (tp, tp + fn),
    "specificity": lambda tp, fp, fn, tn: (tn, tn + fp),
    "npv": lambda tp, fp, fn, tn: (tn, tn + fn),
    "fpr": lambda tp, fp, fn, tn: (fp, fp + tn),
    "fnr": lambda tp, fp, fn, tn: (fn, fn + tp),
    "fdr": lambda tp, fp, fn, tn: (fp, fp + tp),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn, tp + fp + fn + tn),
    "prevalence": lambda tp, fp, fn, tn: (tp + fn, tp + fp + fn + tn),
    "selection_rate": lambda tp, fp, fn, tn: (tp + fp, tp + fp + fn + tn),
}
SUMS = {
    "informedness": ("recall", "specificity", lambda a, b: a + b - 1),
    "markedness": ("precision", "npv", lambda a, b: a + b - 1),
    "balanced_accuracy": ("recall", "specificity", lambda a, b: (a + b) / 2),
}


def rate_of(name, tp, k, positives, rows):
    """A rate or count, by its textbook definition; None where a denominator is 0."""
    fp = k - tp
    fn = positives - tp
    tn = rows - positives - fp
    counts = {"k": k, "tp": tp, "fp": fp, "fn": fn, "tn": tn}
    if name in counts:
        return counts[name]
    if name in SHARES:
        return over(*SHARES[name](tp, fp, fn, tn))
    if name in SUMS:
        first, second, combine = SUMS[name]
        pair = [over(*SHARES[part](tp, fp, fn, tn)) for part in (first, second)]
        return None if None in pair else combine(*pair)
    if name.startswith("cost"):
        return over(fp + Fraction(name.removeprefix("cost")) * fn, rows)
    if name == "lift":
        # The share of positives among the predicted, over the share of positives among all.
        return over(Fraction(tp) * rows, Fraction(k) * positives)
    if name == "kappa":
        agreed = Fraction((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / rows**2
        return over(Fraction(tp + tn) / rows - agreed, 1 - agreed)
    if name == "mcc":
        return correlation(tp, fp, fn, tn)
    if not name.startswith("f") or not name[1:].replace(".", "").isdecimal():
        raise KeyError(name)
    b2 = Fraction(name.removeprefix("f")) ** 2
    return over((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)


def correlation(tp, fp, fn, tn):
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    covariance = tp * tn - fp * fn
    if margins == 0:
        return None
    return sqrt(Fraction(covariance**2) / margins) * (1 if covariance > 0 else -1)


# Groups.


class Row(NamedTuple):
    """A label, score or tie-break is None where it is missing; a weight is an int or a Fraction.

    It stands for `count` rows, each of this weight and gain.
    """

    truth: bool | None
    score: Any
    weight: Any = 1
    tie: Any = None
    gain: Any = None
    count: int = 1

    @property
    def mass(self):
        return self.weight * self.count

    @property
    def worth(self):
        """The gain, which is 1 for a positive where gains are not given."""
        return int(self.truth is True) if self.gain is None else self.gain


class Block(NamedTuple):
    """Rows without an order among them, and the number of rows above."""

    above: Any
    size: Any
    hits: Any
    gain: Any
    hit_gain: Any
    labelled: int

    def inside(self, rank):
        """How many of its places are within the first ranks."""
        return max(0, min(self.size, rank - self.above))


class Group:
    """The rows of a group that count, as blocks in rank order, each taken whole.

    `curve` has (score, k, tp) after each block.
    """

    def __init__(self, rows, reaches, options, known):
        self.reaches = reaches
        self.ties = options.get("ties", "threshold")
        dropped = {"truth": options.get("unjudged"), "score": options.get("unscored")}
        fields = [field for field, option in dropped.items() if option == "drop"]
        rows = [row for row in rows if row.mass > 0]
        rows = [row for row in rows if not any(getattr(row, field) is None for field in fields)]
        self.count(rows, known)
        self.rank(rows, options)

    def count(self, rows, known):
        """The totals of the group. Known totals add rows that the frame lacks."""
        positives = sum(row.mass for row in rows if row.truth)
        self.positives = known_total(positives, known.get("positives"))
        self.missed = self.positives - positives
        self.rows = known_total(sum(row.mass for row in rows) + self.missed, known.get("rows"))
        self.negatives = self.rows - self.positives
        self.unlabelled = sum(row.count for row in rows if row.truth is None)
        self.gains = [(row.worth, row.count) for row in rows]
        # Without gains, a positive's is 1, be it in the frame or not.
        self.hit_gain = sum(row.worth * row.count for row in rows if row.truth) + self.missed

    def rank(self, rows, options):
        self.blocks = []
        self.curve = []
        self.tied_rows = k = tp = 0
        scores = {row.score for row in rows if row.score is not None}
        for score in sorted(scores, reverse=not options.get("ascending", False)):
            tied = [row for row in rows if row.score == score]
            number = sum(row.count for row in tied)
            self.tied_rows += number if number > 1 else 0
            for members in self.split(tied, options.get("tie_break_descending", True)):
                block = block_of(members, k)
                self.blocks.append(block)
                k += block.size
                tp += block.hits
                self.curve.append((score, k, tp))
        self.unranked = (self.rows - k, self.positives - tp)

    def split(self, tied, descending):
        """Rows of equal score: together, or apart by a tie-break, their order, or their labels."""
        if self.ties in ("threshold", "expected"):
            places = {row.tie for row in tied if row.tie is not None}
            ordered = [*sorted(places, reverse=descending), None]
            blocks = [[row for row in tied if row.tie == place] for place in ordered]
            return [block for block in blocks if block]
        tied = [row._replace(count=1) for row in tied for _ in range(row.count)]
        if self.ties != "order" and any(row.gain is not None for row in tied):
            best_first = self.ties == "optimistic"
            return [[row] for row in sorted(tied, key=lambda row: row.worth, reverse=best_first)]
        late = {"order": (), "optimistic": (False, None), "pessimistic": (True,)}[self.ties]
        return [[row] for row in sorted(tied, key=lambda row: row.truth in late)]

    @property
    def pairs(self):
        """(rows, positives) of each block."""
        return [(block.size, block.hits) for block in self.blocks]

    def first(self, rank):
        """(rows, positives) of the blocks of the first rows; a cut block keeps its share."""
        taken = [(block.inside(rank), block) for block in self.blocks]
        return [(size, Fraction(size * block.hits, block.size)) for size, block in taken if size]

    def hits_of_first(self, rank):
        return sum(hits for _, hits in self.first(rank))

    def rank_of(self, text):
        """A rank; a share of the rows rounded up, one at least; None for other cutoffs."""
        if text.endswith("%") and "@" not in text:
            return max(1, ceil(Fraction(text.removesuffix("%")) * self.rows / 100))
        return int(text) if text.isdecimal() else None

    def rate(self, name, tp, k, rows=None):
        """A rate of the confusion table; without rows, there is no agreement by chance."""
        rows = self.rows if rows is None else rows
        if name == "kappa" and rows == 0:
            return None
        return rate_of(name, tp, k, self.positives, rows)

    def value(self, name):
        """A metric: exact (mcc: of exact numbers; a threshold: a score), None if undefined."""
        if name in ("rows", "positives", "tied_rows"):
            return getattr(self, name)
        head, _, cutoff = name.partition("@")
        text, _, divisor = cutoff.partition("/")
        rank = self.rank_of(text)
        if name in OF_GROUPS:
            return OF_GROUPS[name](self)
        if head in OF_RANKS:
            return OF_RANKS[head](self, rank, cutoff)
        if head.startswith("rbp"):
            return rank_biased_precision(self, Fraction(head.removeprefix("rbp")))
        if "average_precision" in head:
            return average_precision_of(self, head, rank, divisor)
        if head.startswith(("max_", "min_")):
            return best_value(self, name)
        if cutoff.startswith(("max_", "min_")):
            return at_goal(self, head, cutoff)
        return at_cutoff(self, head, cutoff)


def block_of(rows, above):
    hits = [row for row in rows if row.truth]
    return Block(
        above=above,
        size=sum(row.mass for row in rows),
        hits=sum(row.mass for row in hits),
        gain=sum(row.worth * row.count for row in rows),
        hit_gain=sum(row.worth * row.count for row in hits),
        labelled=sum(row.count for row in rows if row.truth is not None),
    )


def known_total(total, known):
    """A known total, where it is more than that of the frame.

    A total of floats is more only by more than the last bits of a sum.
    """
    if isinstance(known, float):
        return total if known <= total * Fraction(10**9 + 1, 10**9) else Fraction(known)
    return total if known is None else known


# Average precision.


def average_precision_of(group, head, rank, divisor):
    if group.positives == 0:
        return None
    if head == "chance_average_precision":
        return expected_area(group.rows, [(group.rows, group.positives)]) / group.positives
    if head.startswith("interpolated"):
        return interpolated(group, head)
    if group.ties == "expected":
        precisions = expected_area(rank or group.rows, group.pairs)
    else:
        precisions = area(group.first(rank) if rank else group.pairs)
    divisors = {
        "": min(rank or group.positives, group.positives),
        "positives": group.positives,
        "hits": group.hits_of_first(rank) if rank else None,
    }
    value = over(precisions, divisors[divisor]) or 0
    if head == "normalized_average_precision":
        chance = group.value("chance_average_precision")
        return over(value - chance, 1 - chance)
    if head == "average_precision_lift":
        return value * group.rows / group.positives
    return value


def area(pairs):
    """Sum over the hits of the precision there."""
    k = tp = total = 0
    for size, hits in pairs:
        k += size
        tp += hits
        total += Fraction(hits) * tp / k
    return total


def expected_area(rank, pairs):
    """The same of the first rows, over all orders.

    It adds for each place the chance of a hit times its mean precision.
    """
    k = tp = total = 0
    for size, hits in pairs:
        share = Fraction(hits, size) if size else 0
        # The chance of a hit at a place and at one above it.
        both = Fraction(hits * (hits - 1), size * (size - 1)) if size > 1 else 0
        places = min(size, rank - k)
        if places > SHORT:  # too many to add as fractions
            ranks_above = harmonic(k, places)
            total += share * (tp + 1) * ranks_above + both * (places - (k + 1) * ranks_above)
        else:
            for j in range(1, places + 1):
                total += (share * (tp + 1) + (j - 1) * both) / (k + j)
        k += size
        tp += hits
    return total


def best_precision(group, hits):
    """The largest precision where so many hits, at least, are taken; 0 where nowhere."""
    return max((Fraction(tp) / k for _, k, tp in group.curve if tp >= hits), default=0)


def interpolated(group, head):
    levels = head.removeprefix("interpolated_average_precision").removeprefix("_")
    if not levels:
        curve = zip(group.blocks, group.curve, strict=True)
        total = sum(block.hits * best_precision(group, tp) for block, (_, _, tp) in curve)
        return total / Fraction(group.positives)
    last = int(levels) - 1
    recalls = [Fraction(group.positives * i) / last for i in range(last + 1)]
    return sum(best_precision(group, hits) for hits in recalls) / Fraction(last + 1)


# Rates at a cutoff.


def at_cutoff(group, head, cutoff):
    if cutoff.startswith("threshold@"):
        rank = group.rank_of(cutoff.removeprefix("threshold@"))
        points = [point for point in group.curve if point[1] <= rank]
        return at_point(group, head, points[-1] if points else None)
    kind = cutoff.partition("=")[0] if "=" in cutoff else "rank"
    return CUTOFFS[kind](group, head, cutoff)


def at_rank(group, head, cutoff):
    text, _, divisor = cutoff.partition("/")
    rank = group.rank_of(text)
    if rank is None:
        raise KeyError(f"{head}@{cutoff}")
    if head == "threshold":
        return next((score for score, k, _ in reversed(group.curve) if k <= rank), None)
    tp = group.hits_of_first(rank)
    if divisor == "min":
        return over(tp, min(rank, group.positives))
    # A group with fewer rows is filled up with misses.
    filled = max(group.rows, rank + group.positives - tp)
    return group.rate(head, tp, rank, group.rows if head == "lift" else filled)


def at_threshold(group, head, cutoff):
    text = cutoff.removeprefix("threshold=")
    reached = [(tp, k) for score, k, tp in group.curve if group.reaches(score, text)]
    tp, k = reached[-1] if reached else (0, 0)
    if "net_benefit" not in head:
        return group.rate(head, tp, k)
    chance = Fraction(text)
    benefit = tp - (k - tp) * chance / (1 - chance)
    return over(benefit, group.rows if head == "net_benefit" else group.positives)


def at_recall(group, head, cutoff):
    if group.positives == 0:
        return None
    hits = Fraction(cutoff.removeprefix("recall=")) * group.positives
    point = next((point for point in group.curve if point[2] >= hits), None)
    if point is not None and head == "interpolated_precision":
        return best_precision(group, hits)
    return at_point(group, head, point)


def at_point(group, head, point):
    """A rate, or the threshold, at (score, k, tp)."""
    if point is None:
        return None
    score, k, tp = point
    return score if head == "threshold" else group.rate(head, tp, k)


def at_npv(group, head, cutoff):
    least = Fraction(cutoff.removeprefix("npv="))
    for score, k, tp in group.curve:
        npv = group.rate("npv", tp, k)
        if npv is not None and npv >= least:
            return at_point(group, head, (score, k, tp))
    return None


def within(group, head, cutoff):
    """At the largest recall of the thresholds that add a hit and keep a limit."""
    kept = points_within(group, cutoff)
    if kept:
        return at_point(group, head, kept[-1])
    return None if head == "threshold" or kept is None else group.rate(head, 0, 0)


def points_within(group, cutoff):
    """The points that keep a limit, all without one; None if the limited rate is undefined."""
    if not cutoff:
        return group.curve
    rate, _, text = cutoff.partition("=")
    limit = Fraction(text)
    negatives = group.negatives
    if (rate in ("fpr", "specificity") and negatives == 0) or (
        rate == "recall" and group.positives == 0
    ):
        return None
    keeps = {
        "recall": lambda k, tp: tp >= limit * group.positives,
        "npv": lambda k, tp: (group.rate("npv", tp, k) or 0) >= limit and k < group.rows,
        "precision": lambda k, tp: tp >= limit * k,
        "fpr": lambda k, tp: k - tp <= limit * negatives,
        "specificity": lambda k, tp: negatives - (k - tp) >= limit * negatives,
    }[rate]
    curve = zip(group.curve, group.blocks, strict=True)
    adds_hits = rate not in ("recall", "npv")
    return [point for point, block in curve if block.hits >= adds_hits and keeps(*point[1:])]


CUTOFFS = {
    "rank": at_rank,
    "threshold": at_threshold,
    "recall": at_recall,
    "npv": at_npv,
    "precision": within,
    "fpr": within,
    "specificity": within,
}


# The best value over all thresholds and predicting nothing, and the highest threshold that has it
# and is better than predicting nothing. Values are compared as Float64, correctly rounded.


def best_value(group, name):
    candidates = best_candidates(group, name)
    if candidates is None:
        return None
    best = candidates.best
    if name.startswith("max_mcc"):
        return sqrt(abs(best)) * (1 if best >= 0 else -1)
    return best


def at_goal(group, head, goal):
    """The best threshold, or a rate there; where predicting nothing is best, no row is selected."""
    candidates = best_candidates(group, goal)
    if candidates is None:
        return None
    point = best_point(group, goal, candidates)
    if point is None and candidates.nothing is not None and head != "threshold":
        return group.rate(head, 0, 0)
    return at_point(group, head, point)


def best_point(group, goal, candidates):
    if goal.startswith("max_lift"):
        precision = goal.replace("lift", "precision")
        return best_point(group, precision, best_candidates(group, precision))
    best = float(candidates.best)
    nothing = candidates.nothing
    if goal.startswith("min_") and nothing is not None and best == float(nothing):
        return None
    points = [point for point, value in candidates.values if float(value) == best]
    if goal.startswith("max_precision"):
        points = [point for point in points if point[2]]
    return points[0] if points else None


class Candidates(NamedTuple):
    """The value of predicting nothing, and (point, value) of each threshold that has a value."""

    nothing: Any
    values: list[tuple[Any, Any]]
    best: Any


def best_candidates(group, name):
    """The values that compete; None for a group in which the best one is undefined."""
    goal, _, limit = name.partition("@")
    direction, _, rate = goal.partition("_")
    both_classes = min(group.positives, group.negatives) > 0
    if direction == "min":
        is_defined = group.rows > 0
    elif rate == "lift" or rate[1:].replace(".", "").isdecimal():
        is_defined = group.positives > 0
    else:
        is_defined = group.rows > 0 and (both_classes or rate in ("accuracy", "precision"))
    points = points_within(group, limit)
    if not is_defined or points is None:
        return None
    # The square of the correlation is a fraction.
    exact = partial(square_of_mcc, group) if rate == "mcc" else partial(group.rate, rate)
    nothing = None if limit.startswith(("recall", "npv")) else exact(0, 0) or 0
    pairs = [(point, exact(point[2], point[1])) for point in points]
    values = [(point, value) for point, value in pairs if value is not None]
    competing = [value for _, value in values]
    if nothing is not None:
        competing.append(nothing)
    choose = min if direction == "min" else max
    return Candidates(nothing, values, choose(competing)) if competing else None


def square_of_mcc(group, tp, k):
    """The square of a positive correlation; of a negative one the negative square."""
    covariance = Fraction(tp * group.rows - group.positives * k)
    margins = Fraction(k * group.positives) * (group.rows - k) * group.negatives
    return over(covariance * abs(covariance), margins)


# Metrics of ranks, gains and labels.


def of_positives(metric):
    """A metric that is undefined without positives."""
    return lambda group, *args: metric(group, *args) if group.positives else None


def ranked_blocks(group):
    """(rows above, rows, positives) of each block; what is not ranked is tied, last."""
    blocks = [(block.above, block.size, block.hits) for block in group.blocks]
    return [*blocks, (group.rows - group.unranked[0], *group.unranked)]


def roc_auc(group):
    """Pairs of a positive and a negative that the positive wins, a tie half."""
    below = group.negatives
    won = 0
    for _, size, hits in ranked_blocks(group):
        below -= size - hits
        won += hits * (below + Fraction(size - hits) / 2)
    return over(won, group.positives * group.negatives)


def partial_roc_auc(group, limit):
    """The area below the lines, or steps, up to a false positive rate; standardized."""
    negatives = group.negatives
    if negatives == 0 or group.positives == 0:
        return None
    total = fp = tp = 0
    width = limit * negatives
    blocks = [(size, hits, group.ties == "expected") for size, hits in group.pairs]
    for size, hits, in_steps in [*blocks, (*group.unranked, False)]:
        inside = min(max(width - fp, 0), size - hits)
        total += inside * Fraction(tp) + area_of_tie(size, hits, inside, in_steps=in_steps)
        fp += size - hits
        tp += hits
    share = total / group.positives / negatives
    chance = limit**2 / 2
    return (1 + (share - chance) / (limit - chance)) / 2


def area_of_tie(size, hits, inside, *, in_steps):
    """The area that a tie adds above its lower left corner, of so many of its negatives."""
    negatives = size - hits
    if in_steps:
        # Before the j-th of f negatives there are, on average, r j / (f + 1) of r positives. The
        # j-th of them adds a step of that height, the last one a part of it.
        full = floor(inside)
        steps = Fraction(hits * full, negatives + 1) * (full + 1) / 2
        return steps + (inside - full) * Fraction(hits * (full + 1), negatives + 1)
    return inside * inside * Fraction(hits) / negatives / 2 if negatives else 0


def roc_auc_of(group, _rank, cutoff):
    return (
        partial_roc_auc(group, Fraction(cutoff.removeprefix("fpr="))) if cutoff else roc_auc(group)
    )


def equal_error_rate(group):
    """Where lines through the points (false positive rate, miss rate) cross the diagonal."""
    if not (group.positives and group.negatives):
        return None
    x, y = Fraction(0), Fraction(1)
    tp = fp = 0
    for _, size, hits in ranked_blocks(group):
        left, above = x, y
        tp += hits
        fp += size - hits
        x = Fraction(fp) / group.negatives
        y = 1 - Fraction(tp) / group.positives
        if x >= y:
            part = (above - left) / (above - left + x - y)
            return left + part * (x - left)
    return None


def threshold_of_equal_errors(group):
    """The highest threshold whose false positive rate is at least its miss rate."""
    if not (group.positives and group.negatives):
        return None
    for score, k, tp in group.curve:
        if Fraction(k - tp) / group.negatives >= 1 - Fraction(tp) / group.positives:
            return score
    return None


def first_hit(group, rank, *, reciprocal):
    """Of the first block with a hit, the chance of each place to be that of the first hit.

    Each chance counts as it is, or divided by its rank.
    """
    for block in group.blocks:
        if block.hits:
            tie = (block.size, block.hits, block.above, block.inside(rank))
            return first_hit_in_tie(*tie, reciprocal=reciprocal)
    return 0


def first_rank(group):
    """The smallest of h places drawn from g is, on average, (g + 1) / (h + 1)."""
    for above, size, hits in ranked_blocks(group):
        if hits:
            return above + Fraction(size + 1, hits + 1)
    return None


def mean_rank(group):
    ranks = (hits * (above + Fraction(size + 1) / 2) for above, size, hits in ranked_blocks(group))
    return over(sum(ranks), group.positives)


def mean_score(group, rank):
    """The mean score of the rows that have one, or of the first of these."""
    rows = group.rows - group.unranked[0]
    pairs = zip(group.curve, group.blocks, strict=True)
    terms = [(score, block.inside(rank or rows)) for (score, _, _), block in pairs]
    terms = [(score, size) for score, size in terms if size]
    if any(isinstance(score, float) and isinf(score) for score, _ in terms):
        total = sum(float(score) * float(size) for score, size in terms)
        return None if isnan(total) else total
    total = sum(Fraction(score) * size for score, size in terms)
    return over(total, min(rank or rows, rows))


def mean_of_rows(group, value):
    """The mean of a value of the score and the label over the rows that have a score."""
    total = 0
    for (score, _, _), block in zip(group.curve, group.blocks, strict=True):
        total += block.hits * value(score, 1) + (block.size - block.hits) * value(score, 0)
    return over(total, group.rows - group.unranked[0])


def squared_error(score, label):
    return (label - Fraction(score)) ** 2


def minus_log_likelihood(score, label):
    """As in scikit-learn, a Float64 of 0 or 1 is moved by the distance of 1 to the next one."""
    score = min(max(score, 2.0**-52), 1 - 2.0**-52)
    return Fraction(-log(score) if label else -log1p(-score))


def r_precision(group):
    return Fraction(group.hits_of_first(group.positives)) / group.positives


def dcg(group, rank):
    """Each place of a block is worth the mean of its gains."""
    terms = []
    for block in group.blocks:
        inside = block.inside(rank)
        if block.gain and inside:
            mean = float(block.gain / Fraction(block.size))
            terms.append(mean * discounts(block.above, block.above + inside))
    return fsum(terms)


def ideal_dcg(group, rank):
    place = 0
    terms = []
    for gain, count in sorted([*group.gains, (1, group.missed)], reverse=True):
        end = min(place + count, rank)
        if gain and place < end:
            terms.append(float(gain) * discounts(place, end))
        place += count
    return fsum(terms)


def ndcg(group, rank, _cutoff):
    return over(dcg(group, rank or inf), ideal_dcg(group, rank or inf))


def captured_gain(group, rank, _cutoff):
    """The share of what positives are worth that the first rows have; a block shares evenly."""
    parts = (Fraction(block.hit_gain) * block.inside(rank) / block.size for block in group.blocks)
    return over(sum(parts), group.hit_gain)


def rank_biased_precision(group, persistence):
    total = 0
    for block in group.blocks:
        if block.hits:
            share = Fraction(block.hits, block.size) * (1 - persistence)
            total += share * geometric(persistence, block.above, block.size)
    return total


def bpref(group):
    """Mean over the positives of 1 - (negatives above it, at most P) / min(P, Q).

    It is the mean over the places in its block. Rows without a label are no negatives.
    """
    positives = group.positives
    negatives = group.negatives - group.unlabelled
    above = total = 0
    for block in group.blocks:
        # With 0 to all of its negatives above, which are alike.
        tied = block.labelled - block.hits
        places = tied + 1
        below = max(0, min(places, positives - above))
        capped = Fraction(below * (2 * above + below - 1), 2) + (places - below) * positives
        total += block.hits * (1 - (over(capped / places, min(positives, negatives)) or 0))
        above += tied
    return total / Fraction(positives)


def judged(group, rank, _cutoff):
    shares = (Fraction(block.inside(rank) * block.labelled, block.size) for block in group.blocks)
    return sum(shares, Fraction(0)) / rank


OF_GROUPS = {
    "prevalence": lambda group: over(group.positives, group.rows),
    "brier_score": lambda group: mean_of_rows(group, squared_error),
    "log_loss": lambda group: mean_of_rows(group, minus_log_likelihood),
    "equal_error_rate": equal_error_rate,
    "threshold@equal_error_rate": threshold_of_equal_errors,
    "first_rank": of_positives(first_rank),
    "mean_rank": of_positives(mean_rank),
    "r_precision": of_positives(r_precision),
    "bpref": of_positives(bpref),
}
"""Metrics without a cutoff."""
OF_RANKS = {
    "mean_score": lambda group, rank, _: mean_score(group, rank),
    "dcg": lambda group, rank, _: dcg(group, rank or inf),
    "ndcg": ndcg,
    "judged": judged,
    "captured_gain": of_positives(captured_gain),
    "roc_auc": of_positives(roc_auc_of),
    "reciprocal_rank": of_positives(
        lambda group, rank, _: first_hit(group, rank or inf, reciprocal=True)
    ),
    "success": of_positives(lambda group, rank, _: first_hit(group, rank or inf, reciprocal=False)),
    "prevalence": lambda group, _rank, _cutoff: over(group.positives, group.rows),
}
"""Metrics with a cutoff, or without one."""


# Sums over the places of a tie.


@cache
def harmonic(start, count):
    """1 / (start + 1) + ... + 1 / (start + count)."""
    return Fraction(float(np.sum(1 / np.arange(start + 1, start + count + 1, dtype=np.float64))))


def geometric(ratio, start, count):
    """ratio^start + ... + ratio^(start + count - 1), for a ratio below 1."""
    share = float(ratio)
    return Fraction(share**start * (1 - share**count)) / (1 - ratio)


@cache
def discounts(before, upto):
    """The sum of 1 / log2(rank + 1) over the ranks from `before` + 1 to `upto`."""
    return float(np.sum(1 / np.log2(np.arange(before + 2, upto + 2, dtype=np.float64))))


@cache
def first_hit_in_tie(size, hits, above, taken, *, reciprocal):
    """The chance that the first hit is at one of the first `taken` places of a tie.

    `reciprocal`: each place counts with its chance divided by its rank.
    """
    place = np.arange(min(size - hits + 1, taken), dtype=np.float64)
    misses = (size - hits - place[:-1]) / (size - place[:-1])
    no_hit_before = np.cumprod(np.concatenate([[1.0], misses]))
    chance = no_hit_before[: len(place)] * hits / (size - place)
    return Fraction(float(np.sum(chance / (above + place + 1) if reciprocal else chance)))
