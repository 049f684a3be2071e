"""What hits, or gains, are worth by their ranks: discounted by a logarithm, or by a power."""

from __future__ import annotations

import re
from math import log

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.long_runs import discounts_of_ties
from frame_pr.metrics.metric import Family, Metric, by_ties
from frame_pr.metrics.numbers import DECIMAL
from frame_pr.metrics.rates import ratio


def discounts(before: pl.Expr, upto: pl.Expr) -> pl.Expr:
    """Sum of 1 / log2(rank + 1) over the ranks after `before`, up to and including `upto`."""
    ranks = upto - before
    of_one_rank = pl.when(ranks == 1).then(1 / (upto + 1).log(2)).when(ranks.is_not_null()).then(0.0)
    return of_one_rank + discounts_of_ties(before, upto)


def _dcg(b: Blocks, k: pl.Expr | None) -> Aggregate:
    """The gain of each block, shared out evenly, at the mean of the discounts of its rows."""
    return Aggregate(b.gain / b.size * discounts(_first(b.k - b.size, k), _first(b.k, k)))


def _first(rank: pl.Expr, k: pl.Expr | None) -> pl.Expr:
    # In half the time of `clip`; of rows that are not ranked, null is no rank, and not the smaller one.
    return rank if k is None else pl.when(rank.is_not_null()).then(pl.min_horizontal(rank, k))


def _gain(name: re.Match[str], b: Blocks) -> Metric:
    cut = None if name["k"] is None else Rank.parse(name["k"])
    k, at = (None, "") if cut is None else (cut.of_group(b.positives, b.rows), f"@{cut}")
    parts, dcg = {f"dcg{at}": _dcg(b, k)}, b.number(f"dcg{at}")
    if name["ideal"] is None:
        aggregates = by_ties(parts, expected=parts)
        return Metric("share", dcg, aggregates, cut=cut, needs=(), counts_ranks=True, from_0_to_1=False)
    ideal = b.number(f"ideal{at}")
    if b.graded:
        parts[f"ideal{at}"] = _dcg(b, k)._replace(how="ideal")
    else:
        # Each hit at the rank that it has among the hits, in the same order: so a perfect ranking has exactly 1.
        parts[f"ideal{at}"] = Aggregate(discounts(_first(b.tp - b.hits, k), _first(b.tp, k)))
        if not b.one_group:
            retrieved = b.number("retrieved_positives").fill_null(0)
            ideal = ideal + discounts(_first(retrieved, k), _first(b.positives, k))
    # The same sum in two orders may differ by a last bit.
    value = ratio(dcg, ideal).clip(upper_bound=1.0)
    return Metric("share", value, by_ties(parts, expected=parts), cut=cut, counts_ranks=True)


def _rank_biased_precision(name: re.Match[str], b: Blocks) -> Metric:
    persistence = float(name["persistence"])
    if not 0 < persistence < 1:
        raise ValueError(f"the persistence of rbp must lie between 0 and 1, got {name['persistence']}: rbp0.8, as one")
    before = ((b.k - b.size) * log(persistence)).exp()
    # Of one row, without a difference.
    block_weight = pl.when(b.size > 1).then(1 - (b.size * log(persistence)).exp()).otherwise(1 - persistence)
    parts = {name[0]: Aggregate(b.hits / b.size * before * block_weight)}
    return Metric("share", b.number(name[0]), by_ties(parts, expected=parts), needs=(), counts_ranks=True)


FAMILIES = (
    Family(
        "dcg, dcg@K, ndcg, ndcg@K",
        "sum of gain / log2(rank + 1) over the first K rows, where the gain is 1 of a positive, or what `gain=` says; "
        "the same over that of the best order of all rows",
        rf"(?P<ideal>n)?dcg(?:@(?P<k>{RANK}))?",
        _gain,
    ),
    Family(
        "rbpB",
        "sum over the hits of (1 - B) B^(rank - 1), such as rbp0.8: rank-biased precision of the persistence B",
        rf"rbp(?P<persistence>{DECIMAL})",
        _rank_biased_precision,
    ),
)
