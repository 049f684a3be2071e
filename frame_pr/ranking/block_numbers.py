"""Number the blocks, and give each row the number of its block, from one sort."""

from __future__ import annotations

import polars as pl

from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.ranking.sorting import PackedRows, count_equal_keys, in_order, pack_rows


def numbered_rows(rows: Rows) -> tuple[PackedRows, pl.Series]:
    """Return the sorted rows, and the block number of each row in memory.

    The block number counts the retrieved blocks before the block of the row; null if the row is not retrieved. Numbers
    of rows are UInt32.
    """
    packed = pack_rows(rows)
    distinct = count_equal_keys(packed)
    if distinct is not None:
        ranked = in_order(distinct)
        return ranked, _looked_up(packed.table.get_column("key"), ranked)
    ranked = in_order(packed, with_places=True)
    numbers = _scattered(ranked, unranked=rows.has_unranked)
    return ranked._replace(table=ranked.table.drop("row")), numbers


def _scattered(ranked: PackedRows, *, unranked: bool) -> pl.Series:
    """Return the block number of each row, from sorted keys with the place of their row."""
    key, table = ranked.key, ranked.table.lazy()
    table = table.select("row", starts=key.ends(of="block").shift(1, fill_value=True), retrieved=key.is_retrieved())
    table = table.filter("retrieved") if unranked else table
    numbered = table.select("row", number=pl.col("starts").cast(pl.UInt32).cum_sum() - 1).collect(engine="in-memory")
    height = len(ranked.table)
    of_none = pl.repeat(None, height, dtype=pl.UInt32, eager=True)
    numbers = of_none if unranked else pl.zeros(height, dtype=pl.UInt32, eager=True)
    return numbers.scatter(numbered["row"], numbered["number"]).alias("block_number")


def _looked_up(keys: pl.Series, ranked: PackedRows) -> pl.Series:
    """Return the block number of each row, from the few distinct keys in order."""
    blocks = (
        ranked.table.lazy().filter(ranked.key.is_retrieved()).select(block=_block(ranked.key)).unique().sort("block")
    )
    numbered = blocks.with_columns(block_number=pl.int_range(pl.len(), dtype=pl.UInt32)).collect(engine="in-memory")
    of_rows, largest = keys.to_frame().lazy().select(block=_block(ranked.key)), numbered["block"].max()
    if isinstance(largest, int) and largest < len(keys):
        # An array with a number for each block takes a fifth of the time of a join.
        none = pl.repeat(None, largest + 1, dtype=pl.UInt32, eager=True)
        array = none.scatter(numbered["block"], numbered["block_number"])
        in_array = pl.when(pl.col("block") <= largest).then("block").cast(pl.UInt32)
        return array.gather(of_rows.select(in_array).collect(engine="streaming").to_series()).alias("block_number")
    joined = of_rows.join(numbered.lazy(), on="block", how="left", maintain_order="left")
    return joined.select("block_number").collect(engine="in-memory").to_series()


def _block(key: SortKey) -> pl.Expr:
    """Return the group and the score of a key."""
    return pl.col("key") // (2 * key.places)
