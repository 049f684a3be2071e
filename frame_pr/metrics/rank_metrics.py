"""Metrics of ranks: reciprocal rank, success, mean rank, bpref, judged@K, DCG, RBP."""

from __future__ import annotations

from functools import partial
from math import log

import polars as pl

from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import (
    IDEAL,
    Aggregate,
    Aggregates,
    Blocks,
    Family,
    Metric,
    NameMatch,
    by_ties,
    for_all_ties,
    ratio,
)
from frame_pr.metrics.numbers import DECIMAL
from frame_pr.metrics.tied_ranks import (
    compute_in_steps,
    discounts_of_ties,
    in_steps,
    refuse_long_ties,
    value_where,
)


def _first_block_with_a_hit(b: Blocks) -> tuple[Aggregates, list[pl.Expr]]:
    """Return aggregates of `size`, `hits`, `k` of the first block with a positive, and them.

    The numbers are 0 in a group without such a block.
    """
    is_first = (b.tp == b.hits) & (b.hits > 0)
    counts = {"size": b.size, "hits": b.hits, "k": b.k}
    parts = {
        f"first_hit_{count}": Aggregate(is_first * of_block) for count, of_block in counts.items()
    }
    return parts, [pl.col(part) for part in parts]


def _first_hit(name: NameMatch, b: Blocks) -> Metric:
    cutoff = None if name["k"] is None else Rank.parse(name["k"])
    parts, (size, hits, k) = _first_block_with_a_hit(b)
    selected = size if cutoff is None else (cutoff.of_group(b) - k + size).clip(0, size)
    steps = _expected(name[0], reciprocal=name["metric"] == "reciprocal_rank")
    value = in_steps(steps, size=size, hits=hits, k=k, selected=selected)
    expectation = pl.when(b.positives > 0).then(value)
    return Metric(
        expectation,
        for_all_ties(parts),
        cutoff=cutoff,
        counts_ranks=True,
    )


def _expected(metric: str, *, reciprocal: bool) -> list[dict[str, pl.Expr]]:
    """Return the expected value of a block's first positive over all orders, in steps.

    In most groups the first positive is not tied, or it is certain to be retrieved.
    """
    size, hits, selected, before, misses, certain, possible = map(
        pl.col, ("size", "hits", "selected", "before", "misses", "certain", "possible")
    )
    numbers = {"size": size, "hits": hits, "before": before, "misses": misses, "possible": possible}
    of_tie = value_where(
        possible > 0, partial(_expected_in_tie, metric=metric, reciprocal=reciprocal), **numbers
    )
    is_certain = selected > misses
    worth = certain
    if reciprocal:
        is_certain = (misses == 0) & (selected > 0)
        worth = certain / (before + 1)
    return [
        {"before": pl.col("k") - size, "misses": size - hits},
        {"certain": is_certain},
        {"possible": selected.clip(upper_bound=misses + 1) * (~certain & (misses > 0))},
        {"value": worth + of_tie},
    ]


def _expected_in_tie(blocks: pl.DataFrame, metric: str, *, reciprocal: bool) -> pl.Series:
    """Sum over the possible places of the first positive of a tied block.

    It follows i misses with probability r/g, (r/g) (f/(g-1)), ...: each probability is the one
    before times (f+1-i)/(g-i).
    """
    size, hits, before, misses, possible = map(
        pl.col, ("size", "hits", "before", "misses", "possible")
    )
    places = pl.col("places")
    chances = pl.col("chances")
    refuse_long_ties(blocks.get_column("possible"), metric)
    worth = chances / (before + 1 + places) if reciprocal else chances
    steps = [
        {"places": pl.int_ranges(0, possible)},
        {"chances": ((misses + 1 - places) / (size - places)).list.eval(pl.element().cum_prod())},
        {"value": hits / (misses + 1) * worth.list.sum()},
    ]
    return compute_in_steps(blocks, steps)


def _first_rank(_: NameMatch, b: Blocks) -> Metric:
    parts, (size, hits, k) = _first_block_with_a_hit(b)
    # The first of h random places among g is on average (g + 1) / (h + 1).
    # Without a hit, it is the first of the positives that are not retrieved.
    unretrieved, ranked = _unretrieved(b)
    is_retrieved = hits > 0
    above = pl.when(is_retrieved).then(k - size).otherwise(ranked)
    among = pl.when(is_retrieved).then(size).otherwise(b.rows - ranked)
    positives = pl.when(is_retrieved).then(hits).otherwise(unretrieved)
    value = above + ratio(among + 1, positives + 1)
    return Metric(
        pl.when(b.positives > 0).then(value),
        for_all_ties(parts),
        counts_ranks=True,
        from_0_to_1=False,
        best="smallest",
    )


def _mean_rank(_: NameMatch, b: Blocks) -> Metric:
    # Twice the sum of the mean ranks of the positives of a block.
    twice_mean_rank = 2 * b.k - b.size + 1
    parts = {"twice_ranks": Aggregate(b.hits.cast(pl.Float64) * twice_mean_rank)}
    unretrieved, ranked = _unretrieved(b)
    last = unretrieved.cast(pl.Float64) * (b.rows + ranked + 1)
    value = ratio(pl.col("twice_ranks") + last, 2 * b.positives)
    aggregates = for_all_ties(parts)
    return Metric(value, aggregates, counts_ranks=True, from_0_to_1=False, best="smallest")


def _unretrieved(b: Blocks) -> tuple[pl.Expr, pl.Expr]:
    """Return the positives that are not retrieved, and the number of retrieved rows.

    They rank last, as one tied block.
    """
    return b.positives - b.retrieved_positives, b.retrieved_rows


def _bpref(_: NameMatch, b: Blocks) -> Metric:
    # Rows without a label of their own are no negatives here, whatever they are to other metrics.
    unjudged = pl.col("unjudged")
    misses_of_block = b.size - b.hits - unjudged
    misses_upto = b.k - b.tp - pl.col("unjudged_k")
    above = (misses_upto - misses_of_block).cast(pl.Float64)
    block_misses = misses_of_block.cast(pl.Float64)
    positives = b.positives.cast(pl.Float64)
    hits = b.hits.cast(pl.Float64)
    negatives = b.negatives - pl.col("unjudged_rows")
    fewer = pl.min_horizontal(b.positives, negatives).clip(lower_bound=1)

    # Of the places among the misses of its block that a positive may have, count those with fewer
    # than P misses above. With P or more above, a place is worth 0. No large numbers are subtracted
    # from each other.
    places = block_misses + 1
    low = (positives - above).clip(0, places)
    largest = (fewer - above).clip(lower_bound=0)
    worth = low * (largest - (low - 1) / 2)
    parts = {"bpref": Aggregate(hits * worth / places)}
    value = ratio(pl.col("bpref"), positives * fewer)
    return Metric(value, for_all_ties(parts), counts_ranks=True)


def _judged(name: NameMatch, b: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    parts = {f"judged@{cutoff}": Aggregate(b.sum_among(pl.col("judged"), cutoff.of_group(b)))}
    value = ratio(pl.col(f"judged@{cutoff}"), cutoff.divisor(b))
    return Metric(value, by_ties(parts, expected=parts, bounded=False), cutoff=cutoff, needs=())


def _discounts_among(name: NameMatch, before: pl.Expr, upto: pl.Expr, k: pl.Expr | None) -> pl.Expr:
    """Sum 1 / log2(rank + 1) over the ranks after `before` up to `upto`, none beyond k."""
    ranks = upto - before
    # It does not depend on k, so it is one expression for all cutoffs.
    discount = 1 / (upto + 1).log(2)
    is_alone = ranks == 1
    is_tied = ranks > 1
    last = upto
    if k is not None:
        is_alone &= upto <= k
        is_tied &= before < k
        last = pl.min_horizontal(upto, k)
    of_one_rank = pl.when(is_alone).then(discount).when(ranks.is_not_null()).then(0.0)
    return of_one_rank + discounts_of_ties(is_tied, before, last, name[0])


def _gain(name: NameMatch, b: Blocks) -> Metric:
    cutoff = k = None
    at = ""
    if name["k"] is not None:
        cutoff = Rank.parse(name["k"])
        k = cutoff.of_group(b)
        at = f"@{cutoff}"
    # The gain of each block, shared out evenly, times the mean discount of its rows.
    of_blocks = Aggregate(b.gain / b.size * _discounts_among(name, b.k - b.size, b.k, k))
    parts = {f"dcg{at}": of_blocks}
    dcg = pl.col(f"dcg{at}")
    if name["ideal"] is None:
        aggregates = for_all_ties(parts)
        return Metric(
            dcg, aggregates, cutoff=cutoff, needs=(), counts_ranks=True, from_0_to_1=False
        )
    ideal = pl.col(f"ideal{at}")
    if b.graded:
        parts[f"ideal{at}"] = of_blocks._replace(kind=IDEAL)
    else:
        # Place each positive at its rank among the positives, in the same order, so that a perfect
        # ranking has exactly 1.
        parts[f"ideal{at}"] = Aggregate(_discounts_among(name, b.tp - b.hits, b.tp, k))
        ideal = ideal + _discounts_among(name, b.retrieved_positives, b.positives, k)
    # The same sum in two orders may differ in the last bit.
    value = ratio(dcg, ideal).clip(upper_bound=1.0)
    return Metric(
        value,
        for_all_ties(parts),
        cutoff=cutoff,
        counts_ranks=True,
    )


def _captured_gain(name: NameMatch, b: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    parts = cutoff.aggregates(b)
    captured = f"tp@{cutoff}"
    total = b.positives
    if b.graded:
        captured = f"captured_gain@{cutoff}"
        total = pl.col("hit_gains")
        hit_gain = pl.col("hit_gain")
        among_first = b.sum_among(hit_gain, cutoff.of_group(b))
        parts = {captured: Aggregate(among_first), "hit_gains": Aggregate(hit_gain)}
    value = ratio(pl.col(captured), total).clip(upper_bound=1.0)
    return Metric(value, by_ties(parts, expected=parts, bounded=False), cutoff=cutoff)


def _rank_biased_precision(name: NameMatch, b: Blocks) -> Metric:
    persistence = float(name["persistence"])
    if not 0 < persistence < 1:
        raise ValueError(
            "the persistence of rbp must lie between 0 and 1, as in rbp0.8; got "
            f"{name['persistence']}"
        )
    before = ((b.k - b.size) * log(persistence)).exp()
    # One row, so no difference of sums.
    block_weight = (
        pl.when(b.size > 1).then(1 - (b.size * log(persistence)).exp()).otherwise(1 - persistence)
    )
    parts = {name[0]: Aggregate(b.hits / b.size * before * block_weight)}
    return Metric(
        pl.col(name[0]),
        for_all_ties(parts),
        needs=(),
        counts_ranks=True,
    )


FAMILIES = (
    Family(
        "reciprocal_rank, reciprocal_rank@K",
        "1 / the rank of the first positive. It is 0 if no positive was retrieved, or none is "
        "among the first K rows",
        _first_hit,
        rf"(?P<metric>reciprocal_rank)(?:@(?P<k>{RANK}))?",
        examples=("reciprocal_rank",),
    ),
    Family(
        "success@K",
        "1 if a positive is among the first K rows, else 0. Its mean is the hit rate",
        _first_hit,
        rf"(?P<metric>success)@(?P<k>{RANK})",
        examples=("success",),
    ),
    Family(
        "first_rank",
        "the rank of the first positive. Rows that were not retrieved rank last",
        _first_rank,
    ),
    Family(
        "mean_rank",
        "the mean rank of the positives. Rows that were not retrieved rank last",
        _mean_rank,
    ),
    Family(
        "bpref",
        "mean over the positives of 1 - (negatives above the positive, at most P) / min(P, "
        "negatives), for rankings "
        "with incomplete relevance judgments. Rows without a label are left out, also with "
        "`unjudged='negative'`",
        _bpref,
    ),
    Family(
        "judged@K",
        "the share of the first K rows with a label. `unjudged='negative'` does not count as a "
        "label",
        _judged,
        rf"judged@(?P<k>{RANK})",
        examples=("judged",),
    ),
    Family(
        "dcg, dcg@K, ndcg, ndcg@K",
        "`dcg`: the sum of gain / log2(rank + 1) over the first K rows. The gain of a positive is "
        "1, or the value of "
        "`gain=`. `ndcg`: the DCG divided by the DCG of the best order of all rows",
        _gain,
        rf"(?P<ideal>n)?dcg(?:@(?P<k>{RANK}))?",
        examples=("dcg", "ndcg"),
    ),
    Family(
        "captured_gain@K",
        "the gain of the positives among the first K rows, as a share of the gain of all "
        "positives. `gain=` names a "
        "column, such as an amount. Without it, the metric is recall",
        _captured_gain,
        rf"captured_gain@(?P<k>{RANK})",
        examples=("captured_gain",),
    ),
    Family(
        "rbpB",
        "rank-biased precision with persistence B, such as rbp0.8: the sum of (1 - B) B^(rank - 1) "
        "over the positives",
        _rank_biased_precision,
        rf"rbp(?P<persistence>{DECIMAL})",
        examples=("rbp0.8",),
    ),
)
