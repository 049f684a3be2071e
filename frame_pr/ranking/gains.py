"""Gains from the largest on: the ranking that is best for them."""

from __future__ import annotations

import polars as pl

from frame_pr.inputs.masses import how_many
from frame_pr.inputs.rows import Rows
from frame_pr.ranking.running import from_start


def best_blocks(rows: Rows) -> pl.LazyFrame:
    """Blocks of equal gain, by group and from the largest on, of rows that have one: `group`, `gain`, `size`, `k`."""
    blocks = (
        rows.frame.filter(pl.col("gain") > 0).group_by("group", "gain").agg(size=how_many(has_counts=rows.has_counts))
    )
    blocks = blocks.sort("group", "gain", descending=[False, True]).with_columns(run=pl.col("size").cum_sum())
    before = from_start(pl.col("run") - pl.col("size"))
    return blocks.select("group", "size", gain=pl.col("gain") * pl.col("size"), k=pl.col("run") - before)
