"""The best threshold by a figure: the value there, and where."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, log2

import polars as pl

from frame_pr.metrics import rates
from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.metric import Family, Metric, by_ties
from frame_pr.metrics.numbers import DECIMAL, read_beta, read_decimal
from frame_pr.metrics.rates import SMALL, Counts, exact_ratio, f_beta, ratio

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
