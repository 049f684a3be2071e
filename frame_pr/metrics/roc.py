"""Metrics of the ROC curve: the whole or partial area under it, and the equal error rate."""

from __future__ import annotations

import polars as pl

from frame_pr.metrics.at_cutoffs import threshold_at
from frame_pr.metrics.cutoffs import EqualErrors, Limit
from frame_pr.metrics.metric import (
    FIRST_COUNT,
    Aggregate,
    Blocks,
    Family,
    Metric,
    NameMatch,
    by_ties,
    for_all_ties,
    ratio,
)
from frame_pr.metrics.numbers import NUMBER


def _roc_auc(_: NameMatch, b: Blocks) -> Metric:
    # For each positive, twice the negatives that score higher, plus the negatives that score the
    # same: whole numbers, so that fixed-point weights lose nothing.
    above = 2 * (b.k - b.tp) - b.size + b.hits
    aggregates = {"negatives_above": Aggregate(b.hits.cast(pl.Float64) * above)}
    retrieved = b.retrieved_positives
    ranked = b.retrieved_rows
    negatives = b.negatives
    below = retrieved.cast(pl.Float64) * negatives - pl.col("negatives_above") / 2
    # Rows that are not retrieved rank last, as one tied block.
    tied = (b.positives - retrieved).cast(pl.Float64) * (negatives - ranked + retrieved) / 2
    value = ratio(below + tied, b.positives.cast(pl.Float64) * negatives)
    return Metric(
        value,
        for_all_ties(aggregates),
        needs=("positives", "negatives"),
        by_class=True,
    )


def _partial_roc_auc(name: NameMatch, b: Blocks) -> Metric:
    cutoff = Limit.parse(name["limit"])
    most = float(cutoff.limit)
    if not most:
        raise ValueError(
            "roc_auc@fpr=0 has no width, and so no area: the recall there is recall@fpr=0"
        )
    negatives = b.negatives.cast(pl.Float64)
    width = negatives * most
    # For each positive, the false positives up to the limit that rank below it; those of its own
    # block count in part.
    fp = (b.k - b.tp).cast(pl.Float64)
    misses = (b.size - b.hits).cast(pl.Float64)
    reached = (width - fp + misses).clip(0, misses)
    behind = b.hits * (width - fp).clip(lower_bound=0)
    steps = reached.floor()
    in_order = b.hits / (misses + 1) * (steps * (steps + 1) / 2 + (reached - steps) * (steps + 1))
    part = f"area@{cutoff}"
    retrieved = b.retrieved_positives
    ranked = b.retrieved_rows
    last = negatives - (ranked - retrieved)
    tied = _slope(b.positives - retrieved, last, (width - negatives + last).clip(lower_bound=0))
    # Standardize as McClish does: a random ranking has 1/2, whatever the limit.
    share = ratio(pl.col(part) + tied, b.positives * negatives)
    chance = most**2 / 2
    aggregates = by_ties(
        {part: Aggregate(behind + _slope(b.hits, misses, reached))},
        expected={part: Aggregate(behind + in_order)},
        bounded=True,
    )
    # Divide by a column: polars computes a quotient by a literal as a product with its rounded
    # inverse, or of a single row as a quotient.
    value = (1 + (share - chance) / (share * 0 + (most - chance))) / 2
    return Metric(value, aggregates, needs=("positives", "negatives"), by_class=True)


def _slope(hits: pl.Expr, negatives: pl.Expr, reached: pl.Expr) -> pl.Expr:
    """Return the area under a straight line through a block, up to this number of its negatives."""
    # Without negatives the area is 0; divide by 1 instead of 0.
    return hits * reached**2 / (2 * pl.when(negatives > 0).then(negatives).otherwise(1))


def _equal_error_rate(name: NameMatch, b: Blocks) -> Metric:
    cutoff = EqualErrors()
    if name["threshold"] is not None:
        return threshold_at(name, b)
    # The first block with a positive at whose end the curve has crossed: the counts before it and
    # after it. Rows that are not retrieved rank last, as one tied block.
    counts = {
        "tp before": (b.tp - b.hits, b.retrieved_positives),
        "k before": (b.k - b.size, b.retrieved_rows),
        "tp after": (b.tp, b.positives),
        "k after": (b.k, b.rows),
    }
    parts = {}
    ends = []
    for count, (of_block, last) in counts.items():
        crossing = pl.when(cutoff.crossed(b)).then(of_block)
        parts[f"crossing, {count}"] = Aggregate(crossing, FIRST_COUNT)
        ends.append(pl.col(f"crossing, {count}").fill_null(last))
    tp0, k0, tp1, k1 = ends

    fpr0 = ratio(k0 - tp0, b.negatives)
    fpr1 = ratio(k1 - tp1, b.negatives)
    fnr0 = ratio(b.positives - tp0, b.positives)
    fnr1 = ratio(b.positives - tp1, b.positives)
    # Not below 0: float weights may have crossed up to rounding errors.
    beyond = (fpr1 - fnr1).clip(lower_bound=0)
    on_line = fpr0 + (fpr1 - fpr0) * (fnr0 - fpr0) / ((fnr0 - fpr0) + beyond)
    # The curve may have crossed before that block, in a block of negatives only.
    return Metric(
        pl.when(fpr0 >= fnr0).then(fnr0).otherwise(on_line),
        by_ties(parts, bounded=True),
        needs=cutoff.needs,
        best="smallest",
        by_class=True,
    )


FAMILIES = (
    Family(
        "roc_auc",
        "the share of pairs of a positive and a negative in which the positive scores higher. A "
        "tie counts as half",
        _roc_auc,
    ),
    Family(
        "roc_auc@fpr=X",
        "area under the ROC curve up to the false positive rate X, scaled: 1/2 for a random "
        "ranking, 1 at best",
        _partial_roc_auc,
        rf"roc_auc@(?P<limit>fpr={NUMBER})",
        examples=("roc_auc@fpr=0.1",),
    ),
    Family(
        "equal_error_rate, threshold@equal_error_rate",
        "the false positive rate where it equals the miss rate, on the ROC curve with straight "
        "lines between its "
        "points, and the highest threshold at which the false positive rate is at least the miss "
        "rate",
        _equal_error_rate,
        "(?P<threshold>threshold@)?equal_error_rate",
        examples=("equal_error_rate", "threshold@equal_error_rate"),
    ),
)
