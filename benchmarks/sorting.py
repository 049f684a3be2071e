"""Ways to number groups, to order rows by their ranking and to sum groups, as docs/design.md compares them."""

from __future__ import annotations

import polars as pl

from benchmarks.measure import Times, in_turns

PACKED = "packed: one Int128, as a Series (what we do)"


def ways(data: pl.DataFrame) -> dict[str, pl.LazyFrame]:
    """Each way, as a plan; those that sort end with the rows of a group together and in order."""
    rows, texts = data.lazy().drop("name"), data.lazy().select("name")
    bits = pl.col("score").reinterpret(dtype=pl.Int64).cast(pl.Int128)  # these scores are not negative
    packed = rows.select(key=(pl.col("query").cast(pl.Int128) * 2**65 - bits) * 2 + pl.col("relevant"))
    beside = packed.with_columns(weight=pl.col("key").cast(pl.Float64))
    scores = pl.struct("score", "relevant").sort_by("score", descending=True)
    alone = pl.col("key").map_batches(lambda keys: keys.sort(), return_dtype=pl.Int128)
    index = (pl.col("key") & (2**32 - 1)).cast(pl.UInt32)
    indexed = packed.select(weight=pl.col("key").cast(pl.Float64), key=pl.col("key") * 2**32 + pl.int_range(pl.len()))
    single = pl.col("score").cast(pl.Float32).reinterpret(dtype=pl.Int32)
    short = rows.select(key=(pl.col("query").cast(pl.Int64) * 2**31 - single) * 2 + pl.col("relevant"))
    groups = texts.unique().sort("name").with_row_index()
    text_hash, score = pl.col("name").hash(), pl.col("score")
    in_order = data.select("query", "score").sort("query").lazy()
    by_order, by_query = (table.group_by("query", maintain_order=True) for table in (in_order, rows))
    return {
        PACKED: packed.select(alone),
        "packed, as a frame": packed.sort("key"),
        "packed with an index, a column fetched by it": indexed.with_columns(key=alone).with_columns(
            pl.col("weight").gather(index)
        ),
        "packed, a column beside it": beside.sort("key"),
        "packed, a column beside it, stable": beside.sort("key", maintain_order=True),
        "Float32 scores, packed: one Int64": short.sort("key"),
        "two columns: `sort(query, score)`": rows.sort("query", "score", descending=[False, True]),
        "in groups: `agg(struct.sort_by)`": rows.group_by("query").agg(scores),
        'numbering groups: `rank("dense")`': rows.select(pl.col("query").rank("dense")),
        "numbering groups: unique, sort, join": rows.join(
            rows.select("query").unique().sort("query").with_row_index(), on="query", how="left"
        ).select("index"),
        "numbering groups of text: unique, sort, join": texts.join(groups, on="name", how="left").select("index"),
        "numbering groups of text: unique, sort, join by hash": texts.select(hash=text_hash)
        .join(groups.select("index", hash=text_hash), on="hash", how="left")
        .select("index"),
        "blocks: the lower bits cleared": packed.select(pl.col("key") & -2),
        "blocks: a division": packed.select(pl.col("key") // 2),
        "groups in order: `sum`": by_order.agg(score.sum()),
        "groups in order: `implode().list.sum`": by_order.agg(score.implode().list.sum()),
        "groups in no order: `sum`": by_query.agg(score.sum()),
        "groups in no order: `implode().list.sum`": by_query.agg(score.implode().list.sum()),
        "row numbers, summed after a filter: `int_range`": rows.with_columns(n=pl.int_range(pl.len()))
        .filter(pl.col("relevant"))
        .select(pl.col("n").sum()),
        "row numbers, summed after a filter: `with_row_index`": rows.with_row_index("n")
        .filter(pl.col("relevant"))
        .select(pl.col("n").sum()),
    }


def sorts(data: pl.DataFrame, rounds: int) -> dict[str, Times]:
    """Seconds of each, on scores that are not tied."""
    rows = data.select("query", "relevant", "name", score="distinct")
    return in_turns({name: plan.collect for name, plan in ways(rows).items()}, rounds)
