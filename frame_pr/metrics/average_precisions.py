"""Average precision: of the whole ranking, at k, interpolated, and relative to a random ranking."""

from __future__ import annotations

import polars as pl

from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import (
    Aggregate,
    Blocks,
    Family,
    Metric,
    NameMatch,
    by_ties,
    for_all_ties,
    hits_among,
    ratio,
)

_SHIFT = 10
# Coefficients of 1/x^2, 1/x^4, ... in H(x) - ln(x) - Euler's constant - 1/(2x): -B(2i)/(2i), with
# Bernoulli numbers B.
_BERNOULLI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def _ap(b: Blocks) -> Aggregate:
    """Sum, over the positives, the precision at their threshold."""
    # A product of whole weights may exceed Int64.
    return Aggregate(b.hits.cast(pl.Float64) * b.tp / b.k)


def _ap_to_rank(b: Blocks, k: pl.Expr) -> Aggregate:
    """Sum, over the positives up to rank k, the precision. The last block ends at k."""
    hits = b.sum_among(b.hits, k)
    return Aggregate(hits * (b.tp - b.hits + hits) / b.k.clip(upper_bound=k))


def _expected_ap(b: Blocks, k: pl.Expr | None = None) -> Aggregate:
    """Sum, over the positives, the precision expected over all orders of equal scores."""
    before = b.k - b.size
    selected = b.size
    if k is not None:
        selected = (k - before).clip(0, b.size)
    hits_before = b.tp - b.hits
    of_ties = _expected_sum(b.hits, b.size, selected, hits_before, before)
    # An untied row has one order: no slope, no logarithms, and no rounding error from them.
    of_one_row = b.hits * selected * b.tp / b.k
    is_tied = b.size > 1
    return Aggregate(pl.when(is_tied).then(of_ties).otherwise(of_one_row))


def _expected_sum(
    hits: pl.Expr, size: pl.Expr, selected: pl.Expr, hits_before: pl.Expr, before: pl.Expr
) -> pl.Expr:
    """Return the expected sum of precisions over the positives among the first rows of a block.

    Row j of the block's g rows is positive with probability r/g. The precision there counts this
    positive, the tp0 positives above the block, and (j-1)(r-1)/(g-1) of the other positives: (tp0 +
    1 + (j-1) slope) / (n0 + j), which is slope plus a multiple of 1/(n0 + j).
    """
    slope = (hits - 1) / (size - 1)
    harmonic = (hits_before + 1 - slope * (before + 1)) * harmonic_difference(before, selected)
    return hits / size * (harmonic + slope * selected)


def _average_precision(_: NameMatch, b: Blocks) -> Metric:
    value = ratio(pl.col("ap"), b.positives)
    return Metric(
        value,
        by_ties({"ap": _ap(b)}, expected={"ap": _expected_ap(b)}, bounded=True),
    )


def _average_precision_lift(name: NameMatch, b: Blocks) -> Metric:
    value = ratio(pl.col("ap") * b.rows, b.positives.cast(pl.Float64) ** 2)
    return Metric(value, _average_precision(name, b).aggregates, from_0_to_1=False)


def _average_precision_at_k(name: NameMatch, b: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    k = cutoff.of_group(b)
    ap = f"ap@{cutoff}"
    parts = {ap: _ap_to_rank(b, k)}
    if name["divisor"] == "hits":
        hits = f"tp@{cutoff}"
        parts[hits] = hits_among(b, k)
        mean = ratio(pl.col(ap), pl.col(hits)).fill_null(0.0)
        value = pl.when(b.positives > 0).then(mean)
        return Metric(value, by_ties(parts, bounded=False), cutoff=cutoff)

    over = b.positives
    if name["divisor"] is None:
        over = pl.min_horizontal(b.positives, k)
    aggregates = by_ties(parts, expected={ap: _expected_ap(b, k)}, bounded=True)
    return Metric(ratio(pl.col(ap), over), aggregates, cutoff=cutoff)


def _interpolated_average_precision(name: NameMatch, b: Blocks) -> Metric:
    best_precision = pl.col("interpolated_precision")
    if name["points"] is None:
        iap = Aggregate(b.hits * best_precision)
        return Metric(ratio(pl.col("iap"), b.positives), by_ties({"iap": iap}, bounded=True))
    points = int(name["points"])
    # Each recall level i/10 has the envelope of the first block that reaches it. Count the levels
    # of each block in whole numbers, because 3/10 is not the float 0.3. The first positive reaches
    # level 0.
    before, upto = (
        levels_reached(tp, b.positives, points - 1, fractional=b.fractional)
        for tp in (b.tp - b.hits, b.tp)
    )
    is_first_hit = b.tp == b.hits
    levels = upto - before + is_first_hit
    of_blocks = pl.when(b.hits > 0).then(best_precision * levels)
    sum_name = f"iap_{points}"
    mean = pl.col(sum_name) / b.constant(points)
    return Metric(
        pl.when(b.positives > 0).then(mean),
        by_ties({sum_name: Aggregate(of_blocks)}, bounded=True),
    )


def levels_reached(tp: pl.Expr, positives: pl.Expr, levels: int, *, fractional: bool) -> pl.Expr:
    """Return how many of the recalls 1/levels, 2/levels, ... are reached."""
    if fractional:
        reached = (tp.cast(pl.Float64) * levels / positives + 1e-9).floor()
    else:
        reached = tp * levels // positives
    return pl.when(positives > 0).then(reached)


def _chance(b: Blocks) -> pl.Expr:
    """Return the expected average precision of one block of all rows, by the same formula."""
    none = b.rows * 0
    whole = _expected_sum(b.positives, b.rows, b.rows, hits_before=none, before=none)
    return pl.when(b.rows > 1).then(ratio(whole, b.positives)).when(b.positives > 0).then(1.0)


def _chance_average_precision(_: NameMatch, b: Blocks) -> Metric:
    return Metric(_chance(b), for_all_ties({}), counts_ranks=True)


def _normalized_average_precision(name: NameMatch, b: Blocks) -> Metric:
    whole = _average_precision(name, b)
    chance = _chance(b)
    value = ratio(whole.value - chance, 1 - chance)
    needs = ("positives", "negatives")
    return Metric(value, whole.aggregates, needs=needs, counts_ranks=True, from_0_to_1=False)


def harmonic_difference(start: pl.Expr, count: pl.Expr) -> pl.Expr:
    """Return 1/(start+1) + ... + 1/(start+count), to the last bits for any start and count.

    This is the Euler-Maclaurin series of H(start+count) - H(start), shifted by 10 terms, where it
    has converged to 1e-16. Large terms are written without cancellation. What cancels in the
    remainder is far below the last bit.
    """
    start = start.cast(pl.Float64)
    # Add the smallest terms first, as each addition rounds.
    near = sum(
        (count / ((start + i) * (start + count + i)) for i in range(_SHIFT, 0, -1)), pl.lit(0.0)
    )
    a = start + _SHIFT
    b = a + count
    series = (count / a).log1p() - count / (2 * a * b)
    return near + series + (_rest(b) - _rest(a))


def _rest(x: pl.Expr) -> pl.Expr:
    # Horner's scheme keeps the expression small: polars needs time for each node.
    square = 1 / (x * x)
    series = pl.lit(0.0)
    for coefficient in reversed(_BERNOULLI):
        series = (series + coefficient) * square
    return series


FAMILIES = (
    Family(
        "average_precision",
        "sum over steps of (d/P) (tp/k): the mean over the positives of the precision at their "
        "thresholds",
        _average_precision,
    ),
    Family(
        "average_precision@K, .../positives, .../hits",
        "sum of the precision at each positive among the first K rows, divided by min(K, P), by P, "
        "or by the number of "
        "these positives",
        _average_precision_at_k,
        rf"average_precision@(?P<k>{RANK})(?:/(?P<divisor>positives|hits))?",
        examples=("average_precision@10/positives", "average_precision@10/hits"),
    ),
    Family(
        "interpolated_average_precision, ..._11, ..._101",
        "sum over steps of (d/P) times the maximum precision at this or any later threshold. `_11` "
        "and `_101`: the "
        "mean of this maximum over 11 or 101 recall levels",
        _interpolated_average_precision,
        "interpolated_average_precision(?:_(?P<points>11|101))?",
        examples=(
            "interpolated_average_precision",
            "interpolated_average_precision_11",
            "interpolated_average_precision_101",
        ),
    ),
    Family("average_precision_lift", "average_precision / prevalence", _average_precision_lift),
    Family(
        "chance_average_precision",
        "the expected average precision of a random ranking: ((P-1)/(N-1) (N - H) + H) / N, H = 1 "
        "+ 1/2 + ... + 1/N",
        _chance_average_precision,
    ),
    Family(
        "normalized_average_precision",
        "(average_precision - c) / (1 - c), c = chance_average_precision: 0 for a random ranking, "
        "1 for a perfect one",
        _normalized_average_precision,
    ),
)
