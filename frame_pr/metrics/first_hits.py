"""Where the first hit is: its reciprocal rank, and whether it is among the first k rows."""

from __future__ import annotations

import re
from functools import partial

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.long_runs import FIRST_HITS, chance_of_a_hit, later_first_hits
from frame_pr.metrics.metric import Family, Metric, by_ties


def _first_hit(name: re.Match[str], b: Blocks) -> Metric:
    cut = None if name["k"] is None else Rank.parse(name["k"])
    is_first = (b.tp == b.hits) & (b.hits > 0)
    # Of the first block with a hit; of a group without one they are 0.
    counts = {"size": b.size, "hits": b.hits, "k": b.k}
    parts = {f"first_hit_{count}": Aggregate(is_first * of_block) for count, of_block in counts.items()}
    size, hits, k = (b.number(part) for part in parts)
    taken = size if cut is None else (cut.of_group(b.positives, b.rows) - k + size).clip(0, size)
    value = b.by_lists(partial(_expected, reciprocal=name["figure"] == "reciprocal_rank"), size, hits, k, taken)
    expectation = pl.when(b.positives > 0).then(value)
    return Metric("share", expectation, by_ties(parts, expected=parts), cut=cut, counts_ranks=True)


def _expected(size: pl.Expr, hits: pl.Expr, k: pl.Expr, taken: pl.Expr, *, reciprocal: bool) -> pl.Expr:
    """Over all orders of the rows of a block, what its first hit is worth, if that is among the rows taken.

    It is the one after i misses with probability r/g, (r/g) (f/(g-1)), ...: each the one before times (f+1-i)/(g-i).
    """
    before, misses = k - size, size - hits
    certain = taken > misses if not reciprocal else (misses == 0) & (taken > 0)
    # Lists only where an order matters, and of a limited length. By products, as in `gains.discounts`.
    possible = taken.clip(upper_bound=misses + 1) * (~certain & (misses > 0))
    short = possible.clip(upper_bound=FIRST_HITS) if reciprocal else possible * (possible <= FIRST_HITS)
    places = pl.int_ranges(0, short)
    chances = ((misses + 1 - places) / (size - places)).list.eval(pl.element().cum_prod())
    if reciprocal:
        first = certain / (before + 1) + hits / (misses + 1) * (chances / (before + 1 + places)).list.sum()
        return first + later_first_hits(size, hits, before, possible)
    return certain + hits / (misses + 1) * chances.list.sum() + chance_of_a_hit(size, hits, possible)


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
