"""Metrics at a cutoff: rates of the confusion table there, and the threshold and the precision at a recall."""

from __future__ import annotations

import re

import polars as pl

from frame_pr.metrics import rates
from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.cutoffs import LIMITED, READERS, Limit, Rank, Recall
from frame_pr.metrics.metric import Family, Metric, by_ties
from frame_pr.metrics.numbers import DECIMAL, NUMBER
from frame_pr.metrics.rates import RATES, rate_of


def _rate_at(name: re.Match[str], blocks: Blocks) -> Metric:
    cut, rate = READERS[name["cut"]](name["number"]), rate_of(name["rate"])
    counts, aggregates = cut.counts(blocks), cut.aggregates(blocks)
    if rate.group_rows:
        counts = counts._replace(rows=blocks.rows)
    # At a rank, k is at least 1.
    rate_needs = [fact for fact in rate.needs if not (isinstance(cut, Rank) and fact == "k")]
    return Metric(
        "mass" if rate.is_count else "share",
        rate.formula(counts),
        by_ties(
            aggregates,
            expected=None if isinstance(cut, (Recall, Limit)) else aggregates,
            in_order=cut.aggregates_in_order(blocks) if isinstance(cut, Recall) and blocks.whole else None,
            bounded=cut.kind in rate.bounded_at,
        ),
        cut=cut,
        needs=tuple(dict.fromkeys([*cut.needs, *rate_needs])),
        from_0_to_1=rate.range == "0 to 1",
        first_block="always" if isinstance(cut, Recall) and cut.needs_no_hit else "never",
    )


def _threshold_at_recall(name: re.Match[str], blocks: Blocks) -> Metric:
    recall = Recall.parse(name["number"])
    aggregate = Aggregate(recall.reached(blocks), "strictest")
    return Metric(
        "threshold",
        blocks.number(f"threshold@{recall}"),
        by_ties({f"threshold@{recall}": aggregate}),
        cut=recall,
        first_block="always" if recall.needs_no_hit else "never",
    )


def _threshold_at_limit(name: re.Match[str], blocks: Blocks) -> Metric:
    limit = READERS[name["cut"]](name["number"])
    assert isinstance(limit, Limit)
    aggregates = {f"threshold@{limit}": Aggregate(limit.within(blocks), "loosest")}
    return Metric(
        "threshold", blocks.number(f"threshold@{limit}"), by_ties(aggregates, bounded=False), needs=("a step",)
    )


def _interpolated_precision_at_recall(name: re.Match[str], blocks: Blocks) -> Metric:
    recall = Recall.parse(name["number"])
    best = f"interpolated_precision@{recall}"
    aggregate = Aggregate(pl.when(recall.reached(blocks)).then(blocks.tp / blocks.k), "max")
    return Metric(
        "share",
        blocks.number(best),
        by_ties({best: aggregate}),
        cut=recall,
        first_block="always" if recall.needs_no_hit else "never",
    )


def _r_precision(_: re.Match[str], blocks: Blocks) -> Metric:
    cut = Rank("positives")
    aggregates = cut.aggregates(blocks)
    value = rates.precision(cut.counts(blocks))
    return Metric("share", value, by_ties(aggregates, expected=aggregates), cut=cut)


FAMILIES = (
    Family("r_precision", "precision at k = P, where precision equals recall", "r_precision", _r_precision),
    Family(
        "FIGURE@K, FIGURE@P%, FIGURE@threshold=T, FIGURE@recall=R, FIGURE@precision=Q, FIGURE@fpr=X",
        "any figure of the confusion table, of the first K rows, or P% of the rows of the group, rounded up (wherever "
        "there is a K); of the rows that score T or more; at the highest threshold whose recall is at least R; at the "
        "largest recall whose precision is at least Q, or whose false positive rate is at most X",
        rf"(?P<rate>{'|'.join(RATES)}|f{DECIMAL})@(?P<cut>{'|'.join(READERS)})"
        rf"(?P<number>{NUMBER}|(?<=@){DECIMAL}%)",
        _rate_at,
    ),
    Family(
        "threshold@recall=R",
        "the highest threshold whose recall is at least R",
        rf"threshold@recall=(?P<number>{NUMBER})",
        _threshold_at_recall,
    ),
    Family(
        "threshold@precision=Q, threshold@fpr=X",
        "the threshold of the largest recall whose precision is at least Q, or whose false positive rate is at most X",
        rf"threshold@(?P<cut>{'|'.join(f'{rate}=' for rate in LIMITED)})(?P<number>{NUMBER})",
        _threshold_at_limit,
    ),
    Family(
        "interpolated_precision@recall=R",
        "the max precision over the thresholds whose recall is at least R",
        rf"interpolated_precision@recall=(?P<number>{NUMBER})",
        _interpolated_precision_at_recall,
    ),
)
