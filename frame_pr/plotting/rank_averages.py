"""Figures by rank, averaged over many groups: what `plot(x="k", average=...)` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from frame_pr.metrics.rates import Counts, rate_of, ratio
from frame_pr.plotting.curve_frames import AXES, CONFIDENCE, FIGURE, Average, Curves, numbered
from frame_pr.ranking.running import starts
from frame_pr.statistics.average_curves import averages

_RANKS = 200
"""Ranks at which the figures are averaged, at most: as they lie on a logarithmic axis."""


def averages_at_ranks(curves: Curves, over: Sequence[str], figures: Sequence[str]) -> list[Average]:
    """The mean of each figure of the first k rows of each group, which are filled up with misses."""
    if not curves.table["k"].dtype.is_integer():
        raise ValueError("x='k' averages at ranks, and the rows of this curve are weighted and have none: leave it out")
    lines, line = numbered(curves.keys, [key for key in curves.keys.columns if key not in over])
    # Without a retrieved row, the figures of rank 1 are those of all ranks.
    ranks = _ranks(cast("int", curves.table["k"].max() or int(curves.totals is not None)))
    at = _at_ranks(curves, ranks)
    at = at.with_columns(line=line.gather(at["group"]))
    counts = Counts(pl.col("tp"), pl.col("rank"), pl.col("positives"), pl.col("rows"))
    shares = at.unique("group").group_by("line").agg(ratio(pl.col("positives"), pl.col("rows")).mean())
    share = dict(shares.iter_rows())
    result = []
    for figure in figures:
        heights = at.select("group", "line", level="rank", height=(AXES.get(figure) or rate_of(figure).formula)(counts))
        defined, is_share = heights.lazy().drop_nulls("height"), figure in AXES or rate_of(figure).range == "0 to 1"
        strips = averages(defined, ["line"], 2, CONFIDENCE, shares=is_share).sort("line", "recall").collect()
        for number, key in enumerate(lines.rows(named=True)):
            named = key | {FIGURE: figure} if len(figures) > 1 else key
            of_line, strip = heights.filter(line=number), strips.filter(line=number)
            groups = of_line["group"].n_unique()
            result.append(Average(named, strip, groups, 0, None, share.get(number), of_line.select("height")))
    return result


def _ranks(most: int) -> list[int]:
    if most <= _RANKS:
        return list(range(1, most + 1))
    return sorted({round(most ** (i / _RANKS)) for i in range(_RANKS + 1)})


def _at_ranks(curves: Curves, ranks: Sequence[int]) -> pl.DataFrame:
    """`group`, `rank`, `tp` among the first so many rows, `positives` and `rows`."""
    blocks = curves.table.select(
        "group",
        "tp",
        rank=pl.col("k").cast(pl.Int64),
        positives=pl.col("tp") + pl.col("fn"),
        rows=pl.col("k") + pl.col("fn") + pl.col("tn"),
    )
    first = starts(pl.col("group"))
    size, hits = (pl.col(name) - pl.when(first).then(0).otherwise(pl.col(name).shift(1)) for name in ("rank", "tp"))
    blocks = blocks.with_columns(end="rank", size=size, hits=hits)
    groups = blocks.group_by("group", maintain_order=True).agg(
        pl.col("positives", "rows").last(), all=pl.col("tp").last()
    )
    if curves.totals is not None:
        groups = (
            curves.totals.with_row_index("group")
            .cast({"group": pl.Int64})
            .join(groups.select("group", "all"), on="group", how="left", maintain_order="left")
        )
        groups = groups.with_columns(pl.col("all").fill_null(0))
    every = groups.join(
        pl.DataFrame({"rank": ranks}, schema={"rank": pl.Int64}), how="cross", maintain_order="left_right"
    )
    at = every.join_asof(
        blocks.select("group", "rank", "tp", "end", "size", "hits"),
        on="rank",
        by="group",
        strategy="forward",
        check_sortedness=False,
    )
    # A block that the cutoff falls in gives a share of its hits; behind the last one there are misses only.
    within = pl.col("tp") - pl.col("hits") * (pl.col("end") - pl.col("rank")) / pl.col("size")
    return at.select("group", "rank", "positives", "rows", tp=within.fill_null(pl.col("all")))
