"""Facts of a group, whatever its ranking: each told once, over blocks and over plain rows; and the metrics they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from frame_pr.metrics.metric import Aggregate, Blocks, Family, Metric, by_ties
from frame_pr.metrics.rates import RATES


class Fact(NamedTuple):
    """A number of a group that formulas may name."""

    over_blocks: Aggregate
    over_rows: Aggregate


_TRUTH, _SCORE, _WEIGHT = pl.col("truth"), pl.col("score"), pl.col("weight")
FACTS: Mapping[str, Fact] = {
    "positives": Fact(Aggregate(pl.col("positives"), "first"), Aggregate(_TRUTH * _WEIGHT)),
    "rows": Fact(Aggregate(pl.col("rows"), "first"), Aggregate(_WEIGHT)),
    # Only of fractional weights.
    "unit": Fact(Aggregate(pl.col("unit"), "first"), Aggregate(pl.col("unit"), "first")),
    "retrieved_positives": Fact(Aggregate(pl.col("tp"), "max"), Aggregate((_TRUTH & _SCORE.is_not_null()) * _WEIGHT)),
    "retrieved_rows": Fact(Aggregate(pl.col("retrieved_k"), "max"), Aggregate(_SCORE.is_not_null() * _WEIGHT)),
}


def _total(name: re.Match[str], blocks: Blocks) -> Metric:
    return Metric("mass", blocks.number(name[0]), by_ties({}, expected={}), needs=())


def _rate_of_group(name: re.Match[str], blocks: Blocks) -> Metric:
    rate = RATES[name[0]]
    return Metric("share", rate.formula(blocks.counts), by_ties({}, expected={}), needs=rate.needs)


def _ties(_: re.Match[str], blocks: Blocks) -> Metric:
    aggregates = {"ties": Aggregate(blocks.ties)}
    return Metric("count", blocks.number("ties"), by_ties(aggregates, expected=aggregates), needs=())


_OF_GROUP = [name for name, rate in RATES.items() if rate.of_group]
FAMILIES = (
    Family("rows, positives", "N and P, the totals of the group", "rows|positives", _total),
    Family(", ".join(_OF_GROUP), "P/N, the precision of a random ranking", "|".join(_OF_GROUP), _rate_of_group),
    Family("ties", "rows that share their score with another row of the group", "ties", _ties),
)
