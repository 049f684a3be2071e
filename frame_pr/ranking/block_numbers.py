"""Number the blocks, and give each row the number of its block, from one sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from frame_pr.frames.columns import side_by_side
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.weights import HITS, ROWS
from frame_pr.ranking.sorting import Sort, SortedRows


def numbered_rows(rows: Rows, collect: Callable[[pl.LazyFrame], pl.DataFrame]) -> tuple[pl.DataFrame, pl.Series]:
    """Return the table of `sorted_blocks` with all blocks, and the block number of each row in memory.

    The block number counts the retrieved blocks before the block of the row; null if the row is not retrieved. Numbers
    of rows are UInt32.
    """
    sort = Sort.of(rows, [HITS.upto], numbers_rows=True)
    sort = replace(sort, narrow=not (sort.weights or sort.has_counts))
    return _blocks_and_numbers(sort, collect(rows.frame.select(sort.inputs)))


def numbered_rows_lazily(rows: Rows) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the table of `sorted_blocks` with all blocks, and the rows in their order with a `block_number`."""
    sort, frame = Sort.of(rows, [HITS.upto], numbers_rows=True), rows.frame

    def blocks_and_numbers(columns: Sequence[pl.Series]) -> pl.Series:
        blocks, numbers = _blocks_and_numbers(sort, pl.DataFrame(columns))
        return side_by_side(blocks.lazy(), numbers.to_frame().lazy()).collect().to_struct("key")

    # The rows of two plans may have different orders, so the numbers are a column of the rows, next to the blocks. The
    # shorter one is filled up with nulls.
    outputs = pl.Struct({**sort.outputs, "block_number": pl.UInt32()})
    frame = frame.with_columns(key=pl.map_batches(sort.inputs, blocks_and_numbers, return_dtype=outputs))
    blocks = frame.select("key").unnest("key").filter(pl.col(ROWS.run).is_not_null()).drop("block_number")
    return blocks, frame.with_columns(block_number=pl.col("key").struct.field("block_number"))


def _blocks_and_numbers(sort: Sort, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    sorted_rows = sort.sorted(rows)
    if sorted_rows.distinct is None:
        numbers = _scattered_numbers(sort, sorted_rows, len(rows))
    else:
        numbers = _gathered_numbers(sort, sorted_rows.distinct, rows)
    return sort.totals(sorted_rows), numbers


def _scattered_numbers(sort: Sort, rows: SortedRows, height: int) -> pl.Series:
    """Return the block number of each row. The sorted keys hold the numbers of the rows."""
    starts_block, row = rows.key.ends(of="block").shift(1, fill_value=True), rows.key.number_of_row().cast(pl.UInt32)
    if not sort.unranked:
        table = rows.table.select(row=row, number=starts_block.cast(pl.UInt32).cum_sum() - 1)
        numbers = pl.zeros(height, dtype=pl.UInt32, eager=True)
    else:
        table = rows.table.select(bits=rows.key.bits(), row=row, starts=starts_block).filter(rows.key.is_retrieved())
        table = table.select("row", number=pl.col("starts").cast(pl.UInt32).cum_sum() - 1)
        numbers = pl.repeat(None, height, dtype=pl.UInt32, eager=True)
    numbered = table.collect(engine=rows.engine)
    return numbers.scatter(numbered["row"], numbered["number"]).alias("block_number")


def _gathered_numbers(sort: Sort, distinct: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Return the block number of each row, from a table of the few distinct keys."""
    key = sort.key.narrowed(distinct)
    retrieved = pl.col("score").is_not_null()
    if key.drops:
        retrieved &= ~pl.col("dropped")
    blocks = distinct.lazy().filter(retrieved).select(block=key.block_of_row()).unique().sort("block")
    numbered = blocks.with_columns(block_number=pl.int_range(pl.len(), dtype=pl.UInt32)).collect()
    block = pl.when(retrieved).then(key.block_of_row()) if sort.unranked else key.block_of_row()
    block_of_rows, largest = rows.lazy().select(block=block), numbered["block"].max()
    if isinstance(largest, int) and largest < len(rows):
        # An array with a number for each code. A join would take five times as long.
        array = pl.zeros(largest + 1, dtype=pl.UInt32, eager=True).scatter(numbered["block"], numbered["block_number"])
        codes = block_of_rows.cast(pl.UInt32).collect(engine="streaming").to_series()
        return array.gather(codes).alias("block_number")
    joined = block_of_rows.join(numbered.lazy(), on="block", how="left", maintain_order="left")
    return joined.select("block_number").collect().to_series()
