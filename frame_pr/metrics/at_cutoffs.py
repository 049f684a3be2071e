"""Metrics at a cutoff and at the best threshold: rates of the confusion table, and the threshold itself."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, log2

import polars as pl

from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import LIMITED, READERS, Limit, Rank, Recall
from frame_pr.metrics.metric import Aggregate, Blocks, Family, Metric, by_ties
from frame_pr.metrics.numbers import DECIMAL, NUMBER, read_beta, read_decimal
from frame_pr.metrics.rates import RATES, SMALL, Counts, exact_ratio, f_beta, rate_of, ratio


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


_DIGITS = 10**15


def _max_f(name: re.Match[str], blocks: Blocks) -> Metric:
    beta = read_beta(name["beta"])
    best = f"max_f{beta}"
    aggregates = {best: Aggregate(f_beta(beta)(blocks.counts), "best")}
    if name["threshold"] is not None:
        # Where no threshold has a hit, all are equally good.
        threshold = pl.when(blocks.positives > 0).then(blocks.number(f"threshold@{best}"))
        return Metric("threshold", threshold, by_ties(aggregates, bounded=False), first_block="without hits")
    # Nothing retrieved is no threshold, and an F of 0 where there are positives.
    return Metric("share", pl.when(blocks.positives > 0).then(blocks.number(best).fill_null(0.0)), by_ties(aggregates))


def _max_informedness(name: re.Match[str], blocks: Blocks) -> Metric:
    best, j = "max_informedness", rates.informedness(blocks.counts)
    # To predict nothing has 0, and is better than a threshold below it.
    aggregates = {best: Aggregate(pl.when(j >= 0).then(j.abs()), "best")}
    needs = ("positives", "negatives")
    if name["threshold"] is not None:
        return Metric("threshold", blocks.number(f"threshold@{best}"), by_ties(aggregates, bounded=False), needs=needs)
    defined = (blocks.positives > 0) & (blocks.rows > blocks.positives)
    return Metric("share", pl.when(defined).then(blocks.number(best).fill_null(0.0)), by_ties(aggregates), needs=needs)


def _min_cost(name: re.Match[str], blocks: Blocks) -> Metric:
    ratio_of_costs, text = read_decimal(name["ratio"]), name["ratio"]
    if not isinstance(ratio_of_costs, Fraction) or not 1 / _DIGITS <= ratio_of_costs <= _DIGITS:
        raise ValueError(f"the cost of a missed positive must lie between 1e-15 and 1e15 false ones, got {text}")
    missed, false = ratio_of_costs.limit_denominator(_DIGITS).as_integer_ratio()
    # A power of 2 brings the largest cost below 1, as `largest_by` wants it, and changes no digit.
    scale = 2.0 ** max(0, ceil(log2(ratio_of_costs)) + 1)

    def cost(counts: Counts) -> pl.Expr:
        if not counts.whole and missed + false >= SMALL:
            total = rates.fp(counts).cast(pl.Float64) + rates.fn(counts).cast(pl.Float64) * float(ratio_of_costs)
            return ratio(total, counts.rows) / scale
        unit, quotient = pl.lit(1, dtype=pl.Int128), ratio if counts.whole else exact_ratio
        total = unit * rates.fp(counts) * false + unit * rates.fn(counts) * missed
        return quotient(total, unit * counts.rows * false) / scale

    least = f"min_cost{text}"
    aggregates = {least: Aggregate(cost(blocks.counts), "least")}
    nothing = cost(Counts(blocks.positives * 0, blocks.positives * 0, blocks.positives, blocks.rows, blocks.whole))
    if name["threshold"] is not None:
        threshold = pl.when(blocks.number(least) < nothing).then(blocks.number(f"threshold@{least}"))
        return Metric("threshold", threshold, by_ties(aggregates, bounded=False), needs=("a threshold that pays",))
    value = pl.min_horizontal(blocks.number(least), nothing) * scale
    return Metric("share", value, by_ties(aggregates), needs=("rows",))


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
    Family(
        "max_fB, threshold@max_fB",
        "the best F over all thresholds, and the highest threshold that gives it",
        rf"(?P<threshold>threshold@)?max_f(?P<beta>{DECIMAL})",
        _max_f,
    ),
    Family(
        "max_informedness, threshold@max_informedness",
        "the best informedness over all thresholds, and the highest threshold that gives it: null where none is as "
        "good as to predict nothing, which has 0",
        "(?P<threshold>threshold@)?max_informedness",
        _max_informedness,
    ),
    Family(
        "min_costR, threshold@min_costR",
        "the least (fp + R fn) / N, where a missed positive costs as much as R false ones, and the highest threshold "
        "that gives it: null where to predict nothing costs no more",
        rf"(?P<threshold>threshold@)?min_cost(?P<ratio>{DECIMAL})",
        _min_cost,
    ),
)
