"""Where the first hit is: its reciprocal rank, and whether it is among the first k rows."""

from __future__ import annotations

import re

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import Family, Metric, by_ties


def _first_hit(name: re.Match[str], b: Blocks) -> Metric:
    """Of the first block with a hit, over all orders of its rows.

    It is the one after i misses with probability r/g, (r/g) (f/(g-1)), ...: each the one before times (f+1-i)/(g-i).
    """
    cut = None if name["k"] is None else Rank.parse(name["k"])
    before, misses = b.k - b.size, b.size - b.hits
    taken = b.size if cut is None else b.share(cut.of_group(b.positives, b.rows))
    first = (b.tp == b.hits) & (b.hits > 0)
    reciprocal = name["figure"] == "reciprocal_rank"
    # Lists only where an order matters. By products, as in `gains.discounts`.
    certain = taken > misses if not reciprocal else (misses == 0) & (taken > 0)
    places = pl.int_ranges(0, taken.clip(upper_bound=misses + 1) * (first & ~certain & (misses > 0)))
    chances = ((misses + 1 - places) / (b.size - places)).list.eval(pl.element().cum_prod())
    if reciprocal:
        value = certain / (before + 1) + b.hits / (misses + 1) * (chances / (before + 1 + places)).list.sum()
    else:
        value = certain + b.hits / (misses + 1) * chances.list.sum()
    parts = {name[0]: Aggregate(first * value)}
    found = pl.when(b.positives > 0).then(b.number(name[0]))
    return Metric("share", found, by_ties(parts, expected=parts), cut=cut, counts_ranks=True)


FAMILIES = (
    Family(
        "reciprocal_rank, reciprocal_rank@K",
        "1 / the rank of the first hit, 0 where there is none; among the first K rows",
        rf"(?P<figure>reciprocal_rank)(?:@(?P<k>{RANK}))?",
        _first_hit,
    ),
    Family(
        "success@K",
        "1 where there is a hit among the first K rows, else 0: the hit rate",
        rf"(?P<figure>success)@(?P<k>{RANK})",
        _first_hit,
    ),
)
