"""Metrics of the group, at a cutoff and at the best threshold: rates of the confusion table, and the threshold."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, log2

import polars as pl

from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import LIMITED, RANK, READERS, Limit, Npv, Rank, Recall, Threshold
from frame_pr.metrics.metric import Aggregate, Blocks, Counts, Family, Metric, by_ties, ratio
from frame_pr.metrics.numbers import DECIMAL, NUMBER, read_beta
from frame_pr.metrics.rates import NUMBERED_NAME, RATES, f_beta, rate_of


def _rate_at(name: re.Match[str], blocks: Blocks) -> Metric:
    cutoff, rate = READERS[name["cutoff"]](name["number"]), rate_of(name["rate"])
    counts, aggregates = cutoff.counts(blocks), cutoff.aggregates(blocks)
    if rate.group_rows:
        counts = counts._replace(rows=blocks.rows)
    in_order = None
    if isinstance(cutoff, Recall) and not blocks.fractional:
        in_order = cutoff.aggregates_in_order(blocks)
    # At a rank, k is at least 1.
    rate_needs = [fact for fact in rate.needs if not (isinstance(cutoff, Rank) and fact == "k")]
    return Metric(
        "weighted count" if rate.is_count else "share",
        rate.value(counts),
        by_ties(
            aggregates,
            expected=cutoff.has_expectation,
            in_order=in_order,
            bounded=cutoff.kind in rate.bounded_at,
        ),
        cutoff=cutoff,
        needs=tuple(dict.fromkeys([*cutoff.needs, *rate_needs])),
        from_0_to_1=rate.range == "0 to 1",
        best=rate.best,
        beyond_steps="first" if cutoff.reads_first else "none",
    )


def _capped_recall(name: re.Match[str], blocks: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    aggregates, counts = cutoff.aggregates(blocks), cutoff.counts(blocks)
    value = ratio(counts.tp, pl.min_horizontal(counts.k, blocks.positives))
    return Metric("share", value, by_ties(aggregates, expected=True, bounded=True), cutoff=cutoff)


def _net_benefit(name: re.Match[str], blocks: Blocks) -> Metric:
    cutoff = Threshold.parse(name["number"])
    if not isinstance(cutoff.threshold, Fraction) or not 0 <= cutoff.threshold < 1:
        raise ValueError(
            f"net_benefit needs a threshold that is a probability, at least 0 and below 1, got {cutoff.text}"
        )
    counts, odds = cutoff.counts(blocks), cutoff.threshold / (1 - cutoff.threshold)
    total = blocks.rows if name["standardized"] is None else blocks.positives
    false, true = odds.as_integer_ratio()
    if false + true < 2**60:
        one = counts.one
        benefit = one * counts.tp * true - one * rates.fp(counts) * false
        value = ratio(benefit, one * total * true)
    else:
        value = rates.net_benefit(counts.tp, rates.fp(counts), float(odds), total)
    aggregates = cutoff.aggregates(blocks)
    needs = ("rows",) if name["standardized"] is None else ("positives",)
    return Metric(
        "share",
        value,
        by_ties(aggregates, expected=True, bounded=True),
        cutoff=cutoff,
        needs=needs,
        from_0_to_1=False,
    )


def _threshold_that_reaches(name: re.Match[str], blocks: Blocks) -> Metric:
    cutoff = READERS[name["cutoff"]](name["number"])
    assert isinstance(cutoff, (Recall, Npv))
    aggregate = Aggregate(cutoff.reached(blocks), "strictest")
    return Metric(
        "threshold",
        pl.col(f"threshold@{cutoff}"),
        by_ties({f"threshold@{cutoff}": aggregate}, bounded=isinstance(cutoff, Recall)),
        cutoff=cutoff,
        needs=cutoff.needs,
        beyond_steps="first" if cutoff.reads_first else "none",
    )


def _threshold_at_limit(name: re.Match[str], blocks: Blocks) -> Metric:
    limit = READERS[name["cutoff"]](name["number"])
    assert isinstance(limit, Limit)
    aggregates = {f"threshold@{limit}": Aggregate(limit.within(blocks), "loosest")}
    return Metric(
        "threshold",
        pl.col(f"threshold@{limit}"),
        by_ties(aggregates, bounded=False),
        needs=("a step",),
    )


def _threshold_at_rank(name: re.Match[str], blocks: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    within = blocks.k <= cutoff.of_group(blocks.positives, blocks.rows)
    return Metric(
        "threshold",
        pl.col(f"threshold@{cutoff}"),
        by_ties({f"threshold@{cutoff}": Aggregate(within, "loosest")}, bounded=False),
        cutoff=cutoff,
        needs=("a threshold",),
        beyond_steps="all",
    )


def _interpolated_precision_at_recall(name: re.Match[str], blocks: Blocks) -> Metric:
    recall = Recall.parse(name["number"])
    best = f"interpolated_precision@{recall}"
    aggregate = Aggregate(pl.when(recall.reached(blocks)).then(blocks.tp / blocks.k), "max")
    return Metric(
        "share",
        pl.col(best),
        by_ties({best: aggregate}, bounded=True),
        cutoff=recall,
        beyond_steps="first" if recall.reads_first else "none",
    )


def _r_precision(_: re.Match[str], blocks: Blocks) -> Metric:
    cutoff = Rank("positives")
    aggregates = cutoff.aggregates(blocks)
    value = rates.precision(cutoff.counts(blocks))
    return Metric("share", value, by_ties(aggregates, expected=True, bounded=True), cutoff=cutoff)


def _nothing(blocks: Blocks) -> Counts:
    """Return the confusion table if no row is predicted positive."""
    none = blocks.positives * 0
    return blocks.counts_at(none, none)


def _max_f(name: re.Match[str], blocks: Blocks) -> Metric:
    beta = read_beta(name["beta"])
    best = f"max_f{beta}"
    aggregates = {best: Aggregate(f_beta(beta)(blocks.counts), "best")}
    if name["threshold"] is not None:
        # If no threshold selects a positive, all thresholds are equally good.
        threshold = pl.when(blocks.positives > 0).then(pl.col(f"threshold@{best}"))
        return Metric(
            "threshold",
            threshold,
            by_ties(aggregates, bounded=False),
            beyond_steps="first without hits",
        )
    # If nothing is retrieved there is no threshold, and F is 0 as long as there are positives.
    return Metric(
        "share",
        pl.when(blocks.positives > 0).then(pl.col(best).fill_null(0.0)),
        by_ties(aggregates, bounded=True),
    )


def _max_rate(name: re.Match[str], blocks: Blocks) -> Metric:
    rate, nothing = RATES[name["rate"]], _nothing(blocks)
    assert rate.best_by is not None
    totals = {
        "positives": blocks.positives,
        "negatives": blocks.rows - blocks.positives,
        "rows": blocks.rows,
    }
    # An agreement has a value as long as neither label nor prediction is constant.
    facts = ("positives", "negatives") if rate.range == "-1 to 1" else rate.needs
    needs = tuple(fact for fact in facts if fact in totals) or ("rows",)
    defined = pl.all_horizontal(totals[fact] > 0 for fact in needs)
    if name["threshold"] is not None:
        best, order = f"best_{name['rate']}", rate.best_by(blocks.counts)
        as_good = pl.when(order >= rate.best_by(nothing).fill_null(0)).then(order.abs())
        aggregates = {best: Aggregate(as_good, "best")}
        threshold = pl.when(defined).then(pl.col(f"threshold@{best}"))
        return Metric(
            "threshold",
            threshold,
            by_ties(aggregates, bounded=False),
            needs=("a threshold that pays",),
        )
    most = f"max_{name['rate']}"
    aggregates = {most: Aggregate(rate.formula(blocks.counts), "max")}
    value = pl.max_horizontal(pl.col(most), rate.formula(nothing).fill_null(0)).abs()
    from_0_to_1 = rate.range != "0 up"
    return Metric(
        "share",
        pl.when(defined).then(value),
        by_ties(aggregates, bounded=True),
        needs=needs,
        from_0_to_1=from_0_to_1,
    )


def _min_cost(name: re.Match[str], blocks: Blocks) -> Metric:
    cost = rates.cost(name["ratio"])
    # Divide by a power of 2, which brings the largest cost below 1, as `largest_by` needs it, and
    # changes no digit.
    scale = 2.0 ** max(0, ceil(log2(Fraction(name["ratio"]))) + 1)
    least = f"min_cost{name['ratio']}"
    aggregates = {least: Aggregate(cost(blocks.counts) / scale, "least")}
    nothing = cost(_nothing(blocks)) / scale
    if name["threshold"] is not None:
        threshold = pl.when(pl.col(least) < nothing).then(pl.col(f"threshold@{least}"))
        return Metric(
            "threshold",
            threshold,
            by_ties(aggregates, bounded=False),
            needs=("a threshold that pays",),
        )
    value = pl.min_horizontal(pl.col(least), nothing) * scale
    # If positives are not retrieved, no threshold may cost less than 1.
    return Metric(
        "share",
        value,
        by_ties(aggregates, bounded=True),
        needs=("rows",),
        from_0_to_1=Fraction(name["ratio"]) <= 1,
        best="smallest",
    )


def _total(name: re.Match[str], blocks: Blocks) -> Metric:
    return Metric(
        "weighted count",
        pl.col(name[0]),
        by_ties({}, expected=True, bounded=True),
        needs=(),
        best="none",
    )


def _rate_of_group(name: re.Match[str], blocks: Blocks) -> Metric:
    rate = RATES[name[0]]
    return Metric(
        "share",
        rate.formula(blocks.counts),
        by_ties({}, expected=True, bounded=True),
        needs=rate.needs,
        best="none",
    )


def _ties(_: re.Match[str], blocks: Blocks) -> Metric:
    aggregates = {"ties": Aggregate(blocks.ties)}
    return Metric(
        "count",
        pl.col("ties"),
        by_ties(aggregates, expected=True, bounded=True),
        needs=(),
        best="none",
    )


_OF_GROUP = [name for name, rate in RATES.items() if rate.of_group]
_BEST = [name for name, rate in RATES.items() if rate.best_by is not None]
FAMILIES = (
    Family(
        "r_precision",
        "precision at k = P, where precision equals recall",
        "r_precision",
        _r_precision,
    ),
    Family(
        "RATE@K, RATE@K%, RATE@threshold=T, RATE@recall=R, RATE@precision=Q, RATE@fpr=X, RATE@specificity=S, "
        "RATE@npv=V",
        "a metric of the confusion matrix at a cutoff. K: the first K rows are predicted positive. K%: as many percent "
        "of the rows of the group, rounded up; every name with a K accepts it. T: the rows with a score of at least T. "
        "R, V: the rows at the highest threshold with at least this recall, or negative predictive value (NPV). Q, X, "
        "S: the rows at the largest recall with at least this precision, at most this false positive rate, or at least "
        "this specificity. `costR` is (fp + R fn) / N",
        rf"(?P<rate>{'|'.join(RATES)}|{NUMBERED_NAME})@(?P<cutoff>{'|'.join(READERS)})"
        rf"(?P<number>{NUMBER}|(?<=@){DECIMAL}%)",
        _rate_at,
    ),
    Family(
        "recall@K/min",
        "capped recall: hits among the first K rows, over min(K, P)",
        f"recall@(?P<k>{RANK})/min",
        _capped_recall,
    ),
    Family(
        "net_benefit@threshold=T, standardized_net_benefit@threshold=T",
        "(tp - fp T / (1 - T)) / N for the rows with a score of at least T, a probability below 1: false positives "
        "count with the odds of the threshold. The standardized net benefit divides by P instead of N",
        rf"(?P<standardized>standardized_)?net_benefit@threshold=(?P<number>{NUMBER})",
        _net_benefit,
    ),
    Family(
        "threshold@recall=R, threshold@npv=V",
        "the highest threshold with a recall of at least R, or an NPV of at least V",
        rf"threshold@(?P<cutoff>recall=|npv=)(?P<number>{NUMBER})",
        _threshold_that_reaches,
    ),
    Family(
        "threshold@precision=Q, threshold@fpr=X, threshold@specificity=S",
        "the threshold of the largest recall with a precision of at least Q, a false positive rate of at most X, or a "
        "specificity of at least S",
        rf"threshold@(?P<cutoff>{'|'.join(f'{rate}=' for rate in LIMITED)})(?P<number>{NUMBER})",
        _threshold_at_limit,
    ),
    Family(
        "threshold@K, threshold@K%",
        "the lowest threshold that selects at most K rows. It is null if more rows share the highest score",
        rf"threshold@(?P<k>{RANK})",
        _threshold_at_rank,
    ),
    Family(
        "interpolated_precision@recall=R",
        "the maximum precision over the thresholds with a recall of at least R",
        rf"interpolated_precision@recall=(?P<number>{NUMBER})",
        _interpolated_precision_at_recall,
    ),
    Family(
        "max_fB, threshold@max_fB",
        "the best F over all thresholds, and the highest threshold with this value",
        rf"(?P<threshold>threshold@)?max_f(?P<beta>{DECIMAL})",
        _max_f,
    ),
    Family(
        "max_RATE, threshold@max_RATE",
        f"the best {', '.join(_BEST[:-1])} or {_BEST[-1]} over all thresholds and for predicting nothing (0 if the "
        "rate has no value there), and the highest threshold with this value. The threshold is null if predicting "
        "nothing is better than every threshold",
        rf"(?P<threshold>threshold@)?max_(?P<rate>{'|'.join(_BEST)})",
        _max_rate,
    ),
    Family(
        "min_costR, threshold@min_costR",
        "the minimum of (fp + R fn) / N, where a missed positive costs as much as R false positives, and the highest "
        "threshold with this cost. The threshold is null if predicting nothing costs no more",
        rf"(?P<threshold>threshold@)?min_cost(?P<ratio>{DECIMAL})",
        _min_cost,
    ),
    Family(
        "rows, positives",
        "N and P, the number of rows and of positives in the group",
        "rows|positives",
        _total,
    ),
    Family(
        ", ".join(_OF_GROUP),
        "P/N, the precision of a random ranking",
        "|".join(_OF_GROUP),
        _rate_of_group,
    ),
    Family(
        "tied_rows",
        "the number of rows that share their score with another row of the group",
        "tied_rows",
        _ties,
    ),
)
