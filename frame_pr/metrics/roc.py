"""The area under the ROC curve, whole or as far as a false positive rate."""

from __future__ import annotations

import re

import polars as pl

from frame_pr.metrics.cutoffs import Limit
from frame_pr.metrics.metric import Aggregate, Blocks, Family, Metric, by_ties
from frame_pr.metrics.numbers import NUMBER
from frame_pr.metrics.rates import ratio


def _roc_auc(_: re.Match[str], b: Blocks) -> Metric:
    # Of each positive, twice the negatives that score more, and once those that score the same: whole numbers, so that
    # nothing is lost where weights are in fixed point.
    above = 2 * (b.k - b.tp) - b.size + b.hits
    aggregates = {"negatives_above": Aggregate(b.hits.cast(pl.Float64) * above)}
    retrieved, ranked = (b.number(fact).fill_null(0) for fact in ("retrieved_positives", "retrieved_rows"))
    negatives = b.rows - b.positives
    below = retrieved.cast(pl.Float64) * negatives - b.number("negatives_above") / 2
    # What is not retrieved comes last, as one tied block.
    tied = (b.positives - retrieved).cast(pl.Float64) * (negatives - ranked + retrieved) / 2
    value = ratio(below + tied, b.positives.cast(pl.Float64) * negatives)
    return Metric("share", value, by_ties(aggregates, expected=aggregates), needs=("positives", "negatives"))


def _partial_roc_auc(name: re.Match[str], b: Blocks) -> Metric:
    cut = Limit.parse("fpr", name["number"])
    most = float(cut.limit)
    if not most:
        raise ValueError("roc_auc@fpr=0 has no width, and so no area: the recall there is recall@fpr=0")
    if most == 1:
        return _roc_auc(name, b)
    negatives = (b.rows - b.positives).cast(pl.Float64)
    width = negatives * most
    # Of a hit, the false positives up to the limit that lie behind it; those of its own block it has in part.
    fp, misses = ((total - hits).cast(pl.Float64) for total, hits in ((b.k, b.tp), (b.size, b.hits)))
    reached, behind = (width - fp + misses).clip(0, misses), b.hits * (width - fp).clip(lower_bound=0)
    steps = reached.floor()
    in_order = b.hits / (misses + 1) * (steps * (steps + 1) / 2 + (reached - steps) * (steps + 1))
    part = f"area@{cut}"
    retrieved, ranked = (b.number(fact).fill_null(0) for fact in ("retrieved_positives", "retrieved_rows"))
    last = negatives - (ranked - retrieved)
    tied = _slope(b.positives - retrieved, last, (width - negatives + last).clip(lower_bound=0))
    # Against chance, as McClish has it: 1/2 for a random ranking, whatever the limit.
    share, chance = ratio(b.number(part) + tied, b.positives * negatives), most**2 / 2
    aggregates = by_ties(
        {part: Aggregate(behind + _slope(b.hits, misses, reached))}, expected={part: Aggregate(behind + in_order)}
    )
    value = (1 + (share - chance) / (most - chance)) / 2
    return Metric("share", value, aggregates, needs=("positives", "negatives"))


def _slope(hits: pl.Expr, negatives: pl.Expr, reached: pl.Expr) -> pl.Expr:
    """The area under a straight line through a block, as far as so many of its negatives."""
    # Without negatives nothing is reached: a division by 1 in place of 0.
    return hits * reached**2 / (2 * negatives.clip(lower_bound=1))


FAMILIES = (
    Family(
        "roc_auc",
        "the share of pairs of a positive and a negative in which the positive scores more, a tie counting as half",
        "roc_auc",
        _roc_auc,
    ),
    Family(
        "roc_auc@fpr=X",
        "the area under the ROC curve up to the false positive rate X, 1/2 of a random ranking and 1 of a perfect one",
        rf"roc_auc@fpr=(?P<number>{NUMBER})",
        _partial_roc_auc,
    ),
)
