"""Every metric of one group under every option, in exact fractions, by docs/metric-definitions.md alone."""

from fractions import Fraction
from functools import cache, partial
from math import ceil, floor, fsum, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

SHORT = 1000


def over(a, b):
    return None if b == 0 else Fraction(a) / b


def oracle(name, truth, score):
    """Value of a metric: a Fraction or an int (mcc: a float; a threshold: the score itself), None where undefined."""
    rows = [Row(bool(y), s) for y, s in zip(truth, score, strict=True)]
    return Group(rows, lambda score, threshold: score >= float(threshold), {}, {}).value(name)


def points(truth, score):
    """The curve: (threshold, k, tp) for every distinct score, descending. A block of ties is taken whole."""
    rows = list(zip(map(bool, truth), score, strict=True))
    thresholds = sorted(set(score), reverse=True)
    return [
        (t, sum(s >= t for _, s in rows), sum(y for y, s in rows if s >= t)) for t in thresholds
    ]


def figure(name, tp, k, positives, rows):
    """A figure of the confusion table, by its textbook definition; None where a denominator is 0."""
    fp, fn, tn = k - tp, positives - tp, rows - positives - (k - tp)
    counts = {"k": k, "tp": tp, "fp": fp, "fn": fn, "tn": tn}
    shares = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "npv": (tn, tn + fn),
    }
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
    if name == "balanced_accuracy":
        pair = [over(*shares[one]) for one in ("recall", "specificity")]
        return None if None in pair else sum(pair) / 2
    if name.startswith("cost"):
        return over(fp + Fraction(name.removeprefix("cost")) * fn, rows)
    if name == "lift":
        # The share of positives among the predicted, over the share of positives among all.
        return over(Fraction(tp) * rows, Fraction(k) * positives)
    if name == "kappa":
        chance = Fraction((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / rows**2
        return over(Fraction(tp + tn) / rows - chance, 1 - chance)
    if name == "mcc":
        margins, covariance = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), tp * tn - fp * fn
        return (
            None
            if margins == 0
            else sqrt(Fraction(covariance**2) / margins) * (1 if covariance > 0 else -1)
        )
    b2 = Fraction(name.removeprefix("f")) ** 2
    return over((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)


class Row(NamedTuple):
    """Truth, score and tie_break are None where they are missing; a weight is a whole number or a Fraction.

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


class Group:
    """The rows of a group that count, as blocks in rank order, each taken whole.

    Of `blocks`: (rows above it, its rows, its positives, its gain, how many are judged); of
    `curve`: (score, k, tp).
    """

    def __init__(self, rows, reaches, options, known):
        drop = [
            name
            for name, by in (("truth", "unjudged"), ("score", "unscored"))
            if options.get(by) == "drop"
        ]
        rows = [
            row
            for row in rows
            if row.mass > 0 and not any(getattr(row, name) is None for name in drop)
        ]
        self.reaches, self.apart = reaches, options.get("ties", "threshold")
        found = sum(row.mass for row in rows if row.truth)
        self.positives = known_total(found, known.get("positives"))
        missed = self.positives - found
        self.rows = known_total(sum(row.mass for row in rows) + missed, known.get("rows"))
        # Without gains, a positive's is 1, be it in the frame or not.
        self.unjudged = sum(row.count for row in rows if row.truth is None)
        self.gains, self.missed = [(worth(row), row.count) for row in rows], missed
        self.hit_gain = sum(worth(row) * row.count for row in rows if row.truth)
        self.blocks, self.hit_gains, self.curve, self.tied_rows, k, tp = [], [], [], 0, 0, 0
        scores = {row.score for row in rows if row.score is not None}
        for score in sorted(scores, reverse=not options.get("ascending", False)):
            tied = [row for row in rows if row.score == score]
            number = sum(row.count for row in tied)
            self.tied_rows += number if number > 1 else 0
            for block in self.split(tied, options.get("tie_break_descending", True)):
                size, hits = (
                    sum(row.mass for row in block),
                    sum(row.mass for row in block if row.truth),
                )
                judged = sum(row.count for row in block if row.truth is not None)
                gain = sum(worth(row) * row.count for row in block)
                self.blocks.append((k, size, hits, gain, judged))
                self.hit_gains.append(sum(worth(row) * row.count for row in block if row.truth))
                k, tp = k + size, tp + hits
                self.curve.append((score, k, tp))
        self.unranked = self.rows - k, self.positives - tp

    def split(self, tied, descending):
        """Rows of equal score: together, or as far as a tie_break, the order of rows or of truths tells them apart."""
        if self.apart in ("threshold", "expected"):
            places = [
                *sorted({row.tie for row in tied if row.tie is not None}, reverse=descending),
                None,
            ]
            return [
                block for place in places if (block := [row for row in tied if row.tie == place])
            ]
        tied = [row._replace(count=1) for row in tied for _ in range(row.count)]
        late = {"order": (), "optimistic": (False, None), "pessimistic": (True,)}[self.apart]
        if self.apart != "order" and any(row.gain is not None for row in tied):
            return [[row] for row in sorted(tied, key=worth, reverse=self.apart == "optimistic")]
        return [[row] for row in sorted(tied, key=lambda row: row.truth in late)]

    def first(self, rank):
        """The blocks of the first rows: one that the rank falls into keeps its share of hits, and ends there."""
        cut = [(min(size, rank - above), size, hits) for above, size, hits, *_ in self.blocks]
        return [(taken, Fraction(taken * hits, size)) for taken, size, hits in cut if taken > 0]

    def area(self, blocks):
        """Sum over the hits of the precision there."""
        k = tp = total = 0
        for size, hits in blocks:
            k, tp = k + size, tp + hits
            total += Fraction(hits) * tp / k
        return total

    def expected_area(self, rank, blocks):
        """The same of the first rows, over all orders: of each place the chance of a hit times its mean precision."""
        k = tp = total = 0
        for size, hits in blocks:
            both = (
                Fraction(hits * (hits - 1), size * (size - 1)) if size > 1 else 0
            )  # a place and one above it
            share, places = Fraction(hits, size) if size else 0, min(size, rank - k)
            if places > SHORT:  # too many to add as fractions
                ranks_above = harmonic(k, places)
                total += share * (tp + 1) * ranks_above + both * (places - (k + 1) * ranks_above)
            else:
                for j in range(1, places + 1):
                    total += (share * (tp + 1) + (j - 1) * both) / (k + j)
            k, tp = k + size, tp + hits
        return total

    def rank_of(self, text):
        """A rank; a share of the rows rounded up, one at least."""
        share = text.removesuffix("%")
        return (
            max(1, ceil(Fraction(share) * self.rows / 100))
            if share != text
            else int(text)
            if text.isdecimal()
            else None
        )

    def value(self, name):
        """A metric: exact (mcc: of exact numbers; a threshold: a score), None where it is undefined."""
        head, _, cut = name.partition("@")
        blocks = [block[1:3] for block in self.blocks]
        if name in ("rows", "positives", "tied_rows"):
            return getattr(self, name)
        if head == "prevalence":
            return over(self.positives, self.rows)
        text, _, divisor = cut.partition("/")
        rank = self.rank_of(text)
        if head in ("dcg", "judged") or name.startswith("rbp"):
            return self.of_any_group(head, rank)
        if "equal_error_rate" in name:
            return self.crossing() if head == "threshold" else equal_error_rate(self)
        if head == "captured_gain":
            return self.captured(rank)
        if head in ("first_rank", "mean_rank"):
            return (
                (first_rank if head == "first_rank" else mean_rank)(self)
                if self.positives
                else None
            )
        if head == "threshold" and rank:
            return next((score for score, k, _ in reversed(self.curve) if k <= rank), None)
        if "net_benefit" in head:
            return self.net_benefit(head, cut)
        if ("max_" in name and "max_f" not in name) or "min_cost" in name:
            return self.best_threshold(name.rpartition("@")[2], at="@" in name)
        if head in ("reciprocal_rank", "success", "ndcg", "bpref", "roc_auc"):
            return self.of_ranks(head, rank, cut)
        at_rank = sum(hits for _, hits in self.first(rank)) if rank else None
        if rank and head != "average_precision":
            # A group with fewer rows is filled up with misses.
            if divisor == "min":
                return over(at_rank, min(rank, self.positives))
            filled = max(self.rows, rank + self.positives - at_rank)
            return self.figure(head, at_rank, rank, self.rows if head == "lift" else filled)
        if cut.startswith("threshold="):
            reached = [(tp, k) for score, k, tp in self.curve if self.reaches(score, cut[10:])]
            return self.figure(head, *(reached or [(0, 0)])[-1])
        if cut.startswith(("precision=", "fpr=", "specificity=")):
            return self.within(head, cut)
        if cut.startswith("npv="):
            least = Fraction(cut[4:])
            values = ((point, self.figure("npv", point[2], point[1])) for point in self.curve)
            at = next((point for point, npv in values if npv is not None and npv >= least), None)
            return at and (at[0] if head == "threshold" else self.figure(head, at[2], at[1]))
        if self.positives == 0:
            return None
        if head == "chance_average_precision":
            return self.expected_area(self.rows, [(self.rows, self.positives)]) / self.positives
        if head in ("average_precision", "average_precision_lift", "normalized_average_precision"):
            if self.apart == "expected":
                area = self.expected_area(rank or self.rows, blocks)
            else:
                area = self.area(self.first(rank) if rank else blocks)
            of_k = {"": min(rank or self.positives, self.positives), "hits": at_rank}
            value = over(area, of_k.get(divisor, self.positives)) or 0
            if head == "normalized_average_precision":
                chance = self.value("chance_average_precision")
                return over(value - chance, 1 - chance)
            return value * self.rows / self.positives if head == "average_precision_lift" else value
        if name == "r_precision":
            return Fraction(sum(hits for _, hits in self.first(self.positives))) / self.positives
        if "max_f" in name:
            f = [
                (self.figure(name.rpartition("max_")[2], tp, k), score)
                for score, k, tp in self.curve
            ]
            best = max((value for value, _ in f), default=0)
            return (
                next((score for value, score in f if float(value) == float(best)), None)
                if cut
                else best
            )
        if head == "interpolated_average_precision":
            steps = zip(blocks, self.curve, strict=True)
            return sum(hits * self.best(tp) for (_, hits), (_, _, tp) in steps) / Fraction(
                self.positives
            )
        if head.startswith("interpolated_average_precision"):
            last = int(head.rpartition("_")[2]) - 1
            return sum(
                self.best(Fraction(self.positives * i) / last) for i in range(last + 1)
            ) / Fraction(last + 1)
        least = Fraction(cut.removeprefix("recall=")) * self.positives
        at = next(((score, k, tp) for score, k, tp in self.curve if tp >= least), None)
        if at is None or head == "threshold":
            return at and at[0]
        return (
            self.best(least)
            if head == "interpolated_precision"
            else self.figure(head, at[2], at[1])
        )

    def of_any_group(self, head, rank):
        """Figures that need no positives."""
        if head == "dcg":
            return dcg(self, rank or inf)
        return (
            judged(self, rank)
            if head == "judged"
            else rank_biased_precision(self, Fraction(head[3:]))
        )

    def of_ranks(self, head, rank, cut):
        """Figures of the places of hits."""
        if head == "ndcg":
            return over(dcg(self, rank or inf), ideal_dcg(self, rank or inf))
        if self.positives == 0:
            return None
        if head == "roc_auc":
            return partial_roc_auc(self, Fraction(cut[4:])) if cut else roc_auc(self)
        if head == "bpref":
            return bpref(self)
        return first_hit(self, rank or inf, reciprocal=head == "reciprocal_rank")

    def within(self, head, cut):
        """At the largest recall of the thresholds that add a hit and keep a limit."""
        rate, _, text = cut.partition("=")
        limit, negatives = Fraction(text), self.rows - self.positives
        if rate != "precision" and negatives == 0:
            return None
        keeps = {
            "precision": lambda k, tp: tp >= limit * k,
            "fpr": lambda k, tp: k - tp <= limit * negatives,
            "specificity": lambda k, tp: negatives - (k - tp) >= limit * negatives,
        }[rate]
        steps = [point for point, block in zip(self.curve, self.blocks, strict=True) if block[2]]
        kept = [p for p in steps if keeps(*p[1:])]
        if head == "threshold":
            return kept[-1][0] if kept else None
        return self.figure(head, kept[-1][2], kept[-1][1]) if kept else self.figure(head, 0, 0)

    def best_threshold(self, name, *, at):
        """The best of all thresholds and of predicting nothing, or the highest threshold that is better than that.

        Values are compared as Float64, each of them the exact value correctly rounded.
        """
        if name.startswith("max_"):
            rate, both = (
                name.removeprefix("max_"),
                min(self.positives, self.rows - self.positives) > 0,
            )
            if self.rows == 0 or not (both or rate in ("accuracy", "precision", "lift")):
                return None
            if rate == "lift" and at:
                return self.best_threshold("max_precision", at=True) if self.positives else None
            if rate == "lift" and not self.positives:
                return None
            # The square of the correlation is a fraction.
            exact = self.square_of_mcc if rate == "mcc" else partial(self.figure, rate)
            nothing = exact(0, 0) or 0
            values = [
                (value, score) for score, k, tp in self.curve if (value := exact(tp, k)) is not None
            ]
            best = max([nothing, *(value for value, _ in values)])
            if at:
                hits = [score for score, _, tp in self.curve if tp] if rate == "precision" else None
                equal = (s for value, s in values if float(value) == float(best))
                return next((s for s in equal if hits is None or s in hits), None)
            return sqrt(best) if rate == "mcc" else best
        missed = Fraction(name.removeprefix("min_cost"))
        costs = [
            (over(k - tp + missed * (self.positives - tp), self.rows), score)
            for score, k, tp in self.curve
        ]
        nothing = over(missed * self.positives, self.rows)
        if nothing is None:
            return None
        least = min([nothing, *(cost for cost, _ in costs)])
        if not at:
            return least
        return next((s for cost, s in costs if float(cost) == float(least) < float(nothing)), None)

    def square_of_mcc(self, tp, k):
        """The square of a positive correlation; of a negative one the negative square."""
        covariance = Fraction(tp * self.rows - self.positives * k)
        margins = Fraction(k * self.positives) * (self.rows - k) * (self.rows - self.positives)
        return over(covariance * abs(covariance), margins)

    def captured(self, rank):
        """The share of what positives are worth that the first rows have."""
        return (
            over(self.gain_of_first(rank), self.hit_gain + self.missed) if self.positives else None
        )

    def gain_of_first(self, rank):
        """What the positives among the first rows are worth; a block shares evenly."""
        parts = (
            Fraction(gain) * max(0, min(size, rank - above)) / size
            for (above, size, *_), gain in zip(self.blocks, self.hit_gains, strict=True)
        )
        return sum(parts)

    def crossing(self):
        """The highest threshold whose false positive rate is at least its miss rate."""
        positives, negatives = self.positives, self.rows - self.positives
        if not (positives and negatives):
            return None
        points = (
            (score, Fraction(k - tp) / negatives, 1 - Fraction(tp) / positives)
            for score, k, tp in self.curve
        )
        return next((score for score, fpr, fnr in points if fpr >= fnr), None)

    def net_benefit(self, head, cut):
        """True positives less false ones at the odds of the threshold, over all rows, or over the positives."""
        chance = Fraction(cut.removeprefix("threshold="))
        k, tp = next(
            ((k, tp) for score, k, tp in reversed(self.curve) if self.reaches(score, cut[10:])),
            (0, 0),
        )
        return over(
            tp - (k - tp) * chance / (1 - chance),
            self.rows if head == "net_benefit" else self.positives,
        )

    def best(self, least):
        """The largest precision where so many hits, at least, are taken; 0 where nowhere."""
        return max((Fraction(tp) / k for _, k, tp in self.curve if tp >= least), default=0)

    def figure(self, name, tp, k, rows=None):
        """A figure of the confusion table; of a group without rows, where there is no chance to agree by, too."""
        rows = self.rows if rows is None else rows
        return None if name == "kappa" and rows == 0 else figure(name, tp, k, self.positives, rows)


def known_total(found, known):
    """A total that is known, where it is more than was found; of floats, by more than the last bits of a sum."""
    if isinstance(known, float):
        return found if known <= found * Fraction(10**9 + 1, 10**9) else Fraction(known)
    return found if known is None else known


def worth(row):
    """The gain of a row, of a positive 1 where gains are not given."""
    return int(row.truth is True) if row.gain is None else row.gain


# What a ranking has besides its curve: ROC, first hits, gains, judgments.


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
    for size, hits, in_steps in [
        *((b[1], b[2], expected) for b in group.blocks),
        (*group.unranked, False),
    ]:
        own = size - hits
        inside = min(max(width - fp, 0), own)
        if (
            in_steps
        ):  # before the j-th of f negatives there are, on average, r j/(f+1) of r positives
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
            return first_hit_in_tie(
                size, hits, above, max(0, min(size, rank - above)), reciprocal=reciprocal
            )
    return 0


def ranked_blocks(group):
    """(rows above it, its rows, its positives) of each block; what is not ranked is tied, last."""
    blocks = [block[:3] for block in group.blocks]
    return [*blocks, (group.rows - group.unranked[0], *group.unranked)]


def first_rank(group):
    """The smallest of h places drawn from g is, on average, (g + 1) / (h + 1)."""
    return next(
        (
            above + Fraction(size + 1, hits + 1)
            for above, size, hits in ranked_blocks(group)
            if hits
        ),
        None,
    )


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
    blocks = [
        (above, min(above + size, rank), gain / Fraction(size))
        for above, size, _, gain, _ in group.blocks
    ]
    return fsum(
        float(gain) * discounts(above, upto)
        for above, upto, gain in blocks
        if gain and above < upto
    )


def ideal_dcg(group, rank):
    place, total = 0, []
    for gain, count in sorted([*group.gains, (1, group.missed)], reverse=True):
        upto = min(place + count, rank)
        total += [float(gain) * discounts(place, upto)] if gain and place < upto else []
        place += count
    return fsum(total)


def rank_biased_precision(group, persistence):
    blocks = [(above, size, Fraction(hits, size)) for above, size, hits, *_ in group.blocks if hits]
    return sum(
        share * (1 - persistence) * geometric(persistence, above, size)
        for above, size, share in blocks
    )


def bpref(group):
    """Mean over the positives of 1 - (negatives above it, at most P) / min(P, Q), over its places in its block.

    Rows without a label are no negatives.
    """
    positives, negatives, above, total = (
        group.positives,
        group.rows - group.positives - group.unjudged,
        0,
        0,
    )
    for _, _, hits, _, known in group.blocks:
        # With 0 to all of its negatives above, which are alike.
        places = known - hits + 1
        below = max(0, min(places, positives - above))
        capped = Fraction(below * (2 * above + below - 1), 2) + (places - below) * positives
        total += hits * (1 - (over(capped / places, min(positives, negatives)) or 0))
        above += known - hits
    return total / Fraction(positives)


def judged(group, rank):
    inside = [
        (min(size, max(0, rank - above)), size, known) for above, size, _, _, known in group.blocks
    ]
    return sum((Fraction(taken * known, size) for taken, size, known in inside), Fraction(0)) / rank


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
    """Of the first `taken` places of a tie, the chance that the first hit is there; summed, or divided by its rank."""
    place = np.arange(min(size - hits + 1, taken), dtype=np.float64)
    no_hit_before = np.cumprod(
        np.concatenate([[1.0], (size - hits - place[:-1]) / (size - place[:-1])])
    )
    chance = no_hit_before[: len(place)] * hits / (size - place)
    return Fraction(float(np.sum(chance / (above + place + 1) if reciprocal else chance)))
