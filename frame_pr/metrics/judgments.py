"""Figures of rankings that were judged in part."""

from __future__ import annotations

import re

import polars as pl

from frame_pr.metrics.aggregates import Aggregate, Blocks
from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import Family, Metric, by_ties
from frame_pr.metrics.rates import ratio


def _bpref(_: re.Match[str], b: Blocks) -> Metric:
    hits, block_misses, positives = (count.cast(pl.Float64) for count in (b.hits, b.size - b.hits, b.positives))
    above = (b.k - b.size - b.tp + b.hits).cast(pl.Float64)
    fewer = pl.min_horizontal(b.positives, b.rows - b.positives).clip(lower_bound=1)
    # Of the places among the misses of its block that a hit may have, those where fewer than P stand above it.
    low = (positives - above).clip(0, block_misses + 1)
    misses = low * above + low * (low - 1) / 2 + (block_misses + 1 - low) * positives
    parts = {"bpref": Aggregate(hits * (fewer * (block_misses + 1) - misses) / (block_misses + 1))}
    value = ratio(b.number("bpref"), positives * fewer)
    return Metric("share", value, by_ties(parts, expected=parts), counts_ranks=True)


def _judged(name: re.Match[str], b: Blocks) -> Metric:
    cut = Rank.parse(name["k"])
    k = cut.of_group(b.positives, b.rows)
    parts = {f"judged@{cut}": Aggregate(b.mass_among(b.judged, k))}
    value = ratio(b.number(f"judged@{cut}"), k)
    return Metric("share", value, by_ties(parts, expected=parts, bounded=False), cut=cut, needs=())


FAMILIES = (
    Family(
        "bpref",
        "mean over the positives of 1 - (negatives above it, at most P) / min(P, N - P): with `unjudged='drop'`, of "
        "rankings that were judged in part",
        "bpref",
        _bpref,
    ),
    Family(
        "judged@K",
        "the share of the first K rows that has a truth of its own, where `unjudged='negative'` fills the others",
        rf"judged@(?P<k>{RANK})",
        _judged,
    ),
)
