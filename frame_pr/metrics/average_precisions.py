"""Average precision: of the whole ranking, of its first k rows, under the envelope, by chance and against it."""

from __future__ import annotations

import re

import polars as pl

from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import Aggregate, Blocks, Family, Metric, by_ties, hits_among
from frame_pr.metrics.rates import ratio

_SHIFT = 10
# Coefficients of 1/x^2, 1/x^4, ... in H(x) - ln(x) - Euler's constant - 1/(2x): -B(2i)/(2i), with Bernoulli numbers B.
_BERNOULLI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
_ROUNDED_UP = [i for i in range(100) if i * 0.01 > i / 100]
"""The hundredths that `numpy.linspace(0, 1, 101)` makes larger than the quotient of two counts that is as much."""


def _ap(b: Blocks) -> Aggregate:
    """Sum over the positives of the precision at their threshold."""
    # A product of whole weights may be more than an Int64 holds.
    return Aggregate(b.hits.cast(pl.Float64) * b.tp / b.k)


def _ap_to_rank(b: Blocks, k: pl.Expr) -> Aggregate:
    """The same up to rank k, where a block that is cut off there ends."""
    hits = b.mass_among(b.hits, k)
    return Aggregate(hits * (b.tp - b.hits + hits) / b.k.clip(upper_bound=k))


def _expected_ap(b: Blocks, k: pl.Expr | None = None) -> Aggregate:
    """The same in expectation over all orders of the rows of a block."""
    taken = b.size if k is None else b.share(k)
    tied = _expected_sum(b.hits, b.size, taken, hits_before=b.tp - b.hits, before=b.k - b.size)
    # An untied row has one order: no slope, no need for logarithms, and no last bit lost by them.
    return Aggregate(pl.when(b.size > 1).then(tied).otherwise(b.hits * taken * b.tp / b.k))


def _expected_sum(hits: pl.Expr, size: pl.Expr, taken: pl.Expr, hits_before: pl.Expr, before: pl.Expr) -> pl.Expr:
    """The sum of precision over the hits among the first of the rows of a block, on average over all their orders.

    The j-th of its g rows is a hit with probability r/g, and then the precision there counts it, the tp0 before the
    block and (j-1)(r-1)/(g-1) of the other hits: (tp0 + 1 + (j-1) slope) / (n0 + j), that is
    slope plus a multiple of 1/(n0 + j).
    """
    slope = (hits - 1) / (size - 1)
    harmonic = (hits_before + 1 - slope * (before + 1)) * harmonic_difference(before, taken)
    return hits / size * (harmonic + slope * taken)


def _average_precision(_: re.Match[str], b: Blocks) -> Metric:
    value = ratio(b.number("ap"), b.positives)
    return Metric("share", value, by_ties({"ap": _ap(b)}, expected={"ap": _expected_ap(b)}))


def _average_precision_lift(_: re.Match[str], b: Blocks) -> Metric:
    value = ratio(b.number("ap") * b.rows, b.positives.cast(pl.Float64) ** 2)
    return Metric("share", value, by_ties({"ap": _ap(b)}, expected={"ap": _expected_ap(b)}), from_0_to_1=False)


def _average_precision_at_k(name: re.Match[str], b: Blocks) -> Metric:
    cut = Rank.parse(name["k"])
    k = cut.of_group(b.positives, b.rows)
    ap, tp = f"ap@{cut}", f"tp@{cut}"
    if name["divisor"] == "hits":
        mean = pl.when(b.number(tp) > 0).then(b.number(ap) / b.number(tp)).otherwise(0.0)
        aggregates = by_ties({ap: _ap_to_rank(b, k), tp: hits_among(b, k)}, bounded=False)
        return Metric("share", pl.when(b.positives > 0).then(mean), aggregates, cut=cut)
    over = b.positives if name["divisor"] == "positives" else pl.min_horizontal(b.positives, k)
    aggregates = by_ties({ap: _ap_to_rank(b, k)}, expected={ap: _expected_ap(b, k)})
    return Metric("share", ratio(b.number(ap), over), aggregates, cut=cut)


def _interpolated_average_precision(name: re.Match[str], b: Blocks) -> Metric:
    if name["points"] is None:
        iap = Aggregate(b.hits * b.interpolated_precision)
        return Metric("share", ratio(b.number("iap"), b.positives), by_ties({"iap": iap}))
    points, coco = int(name["points"]), name["coco"] is not None
    # Every recall level i/10 takes the envelope at the first block that reaches it: count the levels of each block, in
    # whole numbers, as 3/10 is not the float .3. Level 0 is reached at the first hit.
    before = (points - 1) * (b.tp - b.hits) // b.positives
    levels = (points - 1) * b.tp // b.positives - before + (b.tp == b.hits)
    if coco:
        levels += _just_below(b, b.tp - b.hits) - _just_below(b, b.tp)
    iap = Aggregate(pl.when(b.hits > 0).then(b.interpolated_precision * levels).otherwise(0))
    sum_name = f"iap_{points}{name['coco'] or ''}"
    value = pl.when(b.positives > 0).then(b.number(sum_name) / b.constant(points))
    return Metric("share", value, by_ties({sum_name: iap}))


def _just_below(b: Blocks, tp: pl.Expr) -> pl.Expr:
    """Whether a recall equals one of the levels that COCO's floats place above it, as an integer."""
    hundredths = 100 * tp
    level = (hundredths // b.positives).clip(0, 100).cast(pl.Int64)
    return ((hundredths % b.positives == 0) & level.is_in(_ROUNDED_UP)).cast(pl.Int64)


def _chance(b: Blocks) -> pl.Expr:
    """The expected average precision of one block of all rows: the same formula, so the same to the last bit."""
    none = b.rows * 0
    whole = _expected_sum(b.positives, b.rows, b.rows, hits_before=none, before=none)
    return pl.when(b.rows > 1).then(ratio(whole, b.positives)).when(b.positives > 0).then(1.0)


def _chance_average_precision(_: re.Match[str], b: Blocks) -> Metric:
    return Metric("share", _chance(b), by_ties({}, expected={}), counts_ranks=True)


def _normalized_average_precision(name: re.Match[str], b: Blocks) -> Metric:
    whole, chance = _average_precision(name, b), _chance(b)
    value = ratio(whole.value - chance, 1 - chance)
    needs = ("positives", "negatives")
    return Metric("share", value, whole.aggregates, needs=needs, counts_ranks=True, from_0_to_1=False)


def harmonic_difference(start: pl.Expr, count: pl.Expr) -> pl.Expr:
    """1/(start+1) + ... + 1/(start+count), to the last bits for any start and count.

    The Euler-Maclaurin series of H(start+count) - H(start), taken 10 terms further on, where it has converged to 1e-16.
    What is large in it is written so that nothing cancels; what cancels in the rest is far below the last bit.
    """
    start = start.cast(pl.Float64)
    # The smallest first, as each addition rounds.
    near = sum((count / ((start + i) * (start + count + i)) for i in range(_SHIFT, 0, -1)), pl.lit(0.0))
    a, d = start + _SHIFT, count
    b = a + d
    series = (d / a).log1p() - d / (2 * a * b)
    return near + series + (_rest(b) - _rest(a))


def _rest(x: pl.Expr) -> pl.Expr:
    # From the inside out, so that the expression stays small: polars takes its time for each part of it.
    square, series = 1 / (x * x), pl.lit(0.0)
    for coefficient in reversed(_BERNOULLI):
        series = (series + coefficient) * square
    return series


FAMILIES = (
    Family(
        "average_precision",
        "sum over steps of (d/P) (tp/k): the mean of precision over the positives",
        "average_precision",
        _average_precision,
    ),
    Family(
        "average_precision@K, .../positives, .../hits",
        "sum of precision over the hits among the first K rows, over min(K, P); over P; over the number of these hits",
        rf"average_precision@(?P<k>{RANK})(?:/(?P<divisor>positives|hits))?",
        _average_precision_at_k,
    ),
    Family(
        "interpolated_average_precision, ..._11, ..._101, ..._101/coco",
        "sum over steps of (d/P) times the max precision at this or any later threshold; its mean at 11 or 101 "
        "recalls, or at the 101 floats that pycocotools has for them",
        "interpolated_average_precision(?:_(?P<points>11|101)(?P<coco>(?<=101)/coco)?)?",
        _interpolated_average_precision,
    ),
    Family(
        "average_precision_lift", "average_precision / prevalence", "average_precision_lift", _average_precision_lift
    ),
    Family(
        "chance_average_precision",
        "the average precision of a random ranking, on average: ((P-1)/(N-1) (N - H) + H) / N, H = 1 + 1/2 + ... + 1/N",
        "chance_average_precision",
        _chance_average_precision,
    ),
    Family(
        "normalized_average_precision",
        "(average_precision - c) / (1 - c), where c is chance_average_precision: 0 for a random ranking, 1 at best",
        "normalized_average_precision",
        _normalized_average_precision,
    ),
)
