"""Metrics of the group, at a cutoff and at the best threshold: rates, and the threshold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import polars as pl

from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import AT_CUTOFF, RANK, Limit, Rank, SelectsAtMost, Threshold
from frame_pr.metrics.goals import AT_GOAL, BEST, GOAL, Goal, cutoff_of
from frame_pr.metrics.metric import (
    LARGEST,
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
from frame_pr.metrics.rates import COUNTS, NUMBERED_NAME, RATES, rate_of


def _rate_at(name: NameMatch, blocks: Blocks) -> Metric:
    rate = rate_of(name["rate"])
    cutoff = cutoff_of(name["cutoff"])
    counts = cutoff.counts(blocks)
    if rate.group_rows:
        counts = replace(counts, rows=blocks.rows)
    in_order = None
    if isinstance(cutoff, Limit) and cutoff.kind == "recall" and not blocks.fractional:
        in_order = cutoff.aggregates_in_order(blocks)
    aggregates = cutoff.aggregates(blocks)
    aggregates_by_ties = by_ties(
        aggregates,
        expected=aggregates if cutoff.has_expectation else None,
        in_order=in_order,
        bounded=cutoff.kind in rate.bounded_at,
    )
    # At a rank, k is at least 1.
    rate_needs = [fact for fact in rate.needs if not (isinstance(cutoff, Rank) and fact == "k")]
    return Metric(
        rate.value(counts),
        aggregates_by_ties,
        kind="weighted count" if rate.is_count else "share",
        cutoff=cutoff,
        needs=(*cutoff.needs, *rate_needs),
        counts_ranks=isinstance(cutoff, SelectsAtMost),
        from_0_to_1=rate.range == "0 to 1",
        best=rate.best,
        beyond_steps=cutoff.beyond_steps,
        by_class=rate.by_class and cutoff.by_class,
    )


def _capped_recall(name: NameMatch, blocks: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    counts = cutoff.counts(blocks)
    aggregates = cutoff.aggregates(blocks)
    value = ratio(counts.tp, pl.min_horizontal(counts.k, blocks.positives))
    return Metric(value, for_all_ties(aggregates), cutoff=cutoff)


def _net_benefit(name: NameMatch, blocks: Blocks) -> Metric:
    cutoff = Threshold.parse(name["number"])
    if not isinstance(cutoff.threshold, Fraction) or not 0 <= cutoff.threshold < 1:
        raise ValueError(
            "net_benefit needs a threshold that is a probability, at least 0 and below 1, got "
            f"{cutoff.text}"
        )
    counts = cutoff.counts(blocks)
    odds = cutoff.threshold / (1 - cutoff.threshold)
    standardized = name["standardized"] is not None
    total = blocks.positives if standardized else blocks.rows
    value = rates.net_benefit(counts.tp, rates.fp(counts), float(odds), total)
    return Metric(
        value,
        for_all_ties(cutoff.aggregates(blocks)),
        cutoff=cutoff,
        needs=("positives",) if standardized else ("rows",),
        from_0_to_1=False,
    )


def threshold_at(name: NameMatch, blocks: Blocks) -> Metric:
    """Build the metric that is the threshold of a cutoff, such as `threshold@max_f1`."""
    cutoff = cutoff_of(name[0])
    threshold = pl.col(f"threshold@{cutoff}")
    is_defined = cutoff.is_defined(blocks)
    if is_defined is not None:
        threshold = pl.when(is_defined).then(threshold)
    return Metric(
        threshold,
        by_ties(cutoff.threshold_aggregates(blocks), bounded=cutoff.kind == "recall"),
        kind="threshold",
        cutoff=cutoff,
        needs=("a threshold",),
        counts_ranks=isinstance(cutoff, SelectsAtMost),
        beyond_steps=cutoff.beyond_steps,
        by_class=cutoff.by_class,
    )


def _best_value(name: NameMatch, blocks: Blocks) -> Metric:
    goal = Goal.parse(name[0])
    aggregates, value = goal.best_value(blocks)
    is_share = goal.rate.range == "0 to 1" or (goal.rate.range != "0 up" and goal.limit is None)
    if goal.rate.best == "smallest":
        # If positives are not retrieved, no threshold may cost less than 1.
        is_share = Fraction(goal.rate_name.removeprefix("cost")) <= 1
    return Metric(
        value,
        by_ties(aggregates, bounded=goal.is_bounded),
        needs=goal.needs,
        from_0_to_1=is_share,
        best=goal.rate.best,
        beyond_steps=goal.beyond_steps,
        optimum=goal,
        by_class=goal.by_class,
    )


def _interpolated_precision_at_recall(name: NameMatch, blocks: Blocks) -> Metric:
    recall = Limit.parse(name["recall"])
    best = name[0]
    aggregate = Aggregate(pl.when(recall.allows(blocks)).then(blocks.tp / blocks.k), LARGEST)
    return Metric(
        pl.col(best),
        by_ties({best: aggregate}, bounded=True),
        cutoff=recall,
        beyond_steps=recall.beyond_steps,
    )


def _r_precision(_: NameMatch, blocks: Blocks) -> Metric:
    cutoff = Rank("positives")
    aggregates = cutoff.aggregates(blocks)
    value = rates.precision(cutoff.counts(blocks))
    return Metric(value, for_all_ties(aggregates), cutoff=cutoff)


def _total(name: NameMatch, blocks: Blocks) -> Metric:
    return Metric(
        pl.col(name[0]),
        for_all_ties({}),
        kind="weighted count",
        needs=(),
        best="none",
    )


def _rate_of_group(name: NameMatch, blocks: Blocks) -> Metric:
    rate = RATES[name[0]]
    return Metric(
        rate.value(blocks),
        for_all_ties({}),
        needs=rate.needs,
        best="none",
    )


def _ties(_: NameMatch, blocks: Blocks) -> Metric:
    aggregates = {"ties": Aggregate(pl.col("ties"))}
    return Metric(
        pl.col("ties"),
        for_all_ties(aggregates),
        kind="count",
        needs=(),
        best="none",
    )


_OF_GROUP = [name for name, rate in RATES.items() if rate.of_group]
_AT_CUTOFFS = tuple(name for name in RATES if name not in COUNTS)
_RATE = rf"(?P<rate>{'|'.join(RATES)}|{NUMBERED_NAME})"
FAMILIES = (
    Family("r_precision", "precision at k = P, where precision equals recall", _r_precision),
    Family(
        "RATE@K, RATE@K%, RATE@threshold=T, RATE@recall=R, RATE@precision=Q, RATE@fpr=X, "
        "RATE@specificity=S, RATE@npv=V",
        "a metric of the confusion matrix at a cutoff. K: the first K rows are predicted positive. "
        "K%: as many percent of the rows of the group, rounded up; every name with a K accepts it. "
        "T: the rows with a score of at least T. R, V: the rows at the highest threshold with at "
        "least this recall, or negative predictive value (NPV). Q, X, S: the rows at the largest "
        "recall with at least this precision, at most this false positive rate, or at least this "
        "specificity. `costR` is (fp + R fn) / N",
        _rate_at,
        rf"{_RATE}@(?P<cutoff>{AT_CUTOFF})",
        examples=(*_AT_CUTOFFS, "cost10", *COUNTS),
    ),
    Family(
        "RATE@GOAL, RATE@threshold@K",
        "a metric of the confusion matrix at a threshold that depends on the group: the best "
        "threshold for a goal, as in `precision@max_f1`, `k@min_cost5` or "
        "`recall@max_precision@recall=0.8`, and the lowest one that selects at most K rows. If "
        "predicting nothing is best, no row is selected",
        _rate_at,
        rf"{_RATE}@(?P<cutoff>{AT_GOAL})",
        examples=("precision@max_f1", "recall@max_f1"),
    ),
    Family(
        "recall@K/min",
        "capped recall: hits among the first K rows, over min(K, P)",
        _capped_recall,
        f"recall@(?P<k>{RANK})/min",
        examples=("recall@10/min",),
    ),
    Family(
        "net_benefit@threshold=T, standardized_net_benefit@threshold=T",
        "(tp - fp T / (1 - T)) / N for the rows with a score of at least T, a probability below 1: "
        "false positives count with the odds of the threshold. The standardized net benefit "
        "divides by P instead of N",
        _net_benefit,
        rf"(?P<standardized>standardized_)?net_benefit@threshold=(?P<number>{NUMBER})",
        examples=("net_benefit", "standardized_net_benefit"),
    ),
    Family(
        "threshold@recall=R, threshold@npv=V",
        "the highest threshold with a recall of at least R, or an NPV of at least V",
        threshold_at,
        rf"threshold@(?:recall|npv)={NUMBER}",
        examples=("threshold",),
    ),
    Family(
        "threshold@precision=Q, threshold@fpr=X, threshold@specificity=S",
        "the threshold of the largest recall with a precision of at least Q, a false positive rate "
        "of at most X, or a specificity of at least S",
        threshold_at,
        rf"threshold@(?:precision|fpr|specificity)={NUMBER}",
        examples=("threshold",),
    ),
    Family(
        "threshold@K, threshold@K%",
        "the lowest threshold that selects at most K rows. It is null if more rows share the "
        "highest score",
        threshold_at,
        rf"threshold@{RANK}",
        examples=("threshold",),
    ),
    Family(
        "interpolated_precision@recall=R",
        "the maximum precision over the thresholds with a recall of at least R",
        _interpolated_precision_at_recall,
        rf"interpolated_precision@(?P<recall>recall={NUMBER})",
        examples=("interpolated_precision",),
    ),
    Family(
        "max_RATE, min_costR, max_RATE@LIMIT, min_costR@LIMIT",
        f"the best {', '.join(BEST[:-1])}, {BEST[-1]}, F-beta or cost over all thresholds and for "
        "predicting nothing (0 if the rate has no value there). LIMIT: only the thresholds with at "
        "least this `recall=`, `precision=`, `specificity=` or `npv=`, or at most this `fpr=`, as "
        "in `max_f1@recall=0.6`; predicting nothing has no precision, and is within such a limit",
        _best_value,
        GOAL,
        examples=("max_f1", "min_cost10", *(f"max_{rate}" for rate in BEST)),
    ),
    Family(
        "threshold@GOAL",
        "the best threshold for a goal, as in `threshold@max_f1` or "
        "`threshold@max_precision@recall=0.8`: the highest one with the best value. It is null if "
        "predicting nothing is better than every threshold, or costs no more",
        threshold_at,
        rf"threshold@(?:{GOAL})",
        examples=(
            "threshold@max_f1",
            "threshold@min_cost10",
            *(f"threshold@max_{rate}" for rate in BEST),
        ),
    ),
    Family(
        "rows, positives",
        "N and P, the number of rows and of positives in the group",
        _total,
        "rows|positives",
        examples=("rows", "positives"),
    ),
    Family(
        ", ".join(_OF_GROUP),
        "P/N, the precision of a random ranking",
        _rate_of_group,
        "|".join(_OF_GROUP),
        examples=tuple(_OF_GROUP),
    ),
    Family(
        "tied_rows",
        "the number of rows that share their score with another row of the group",
        _ties,
    ),
)
