"""Ways to bring rows into the order of their ranking, as docs/design.md compares them: ratios to one packed sort.

Run:  python benchmarks/sorting.py [--rows 10000000] [--runs 3]
"""

from __future__ import annotations

import argparse
from functools import partial

import polars as pl
from average_precision import SHAPES, generate, seconds


def ways(data: pl.DataFrame) -> dict[str, pl.LazyFrame]:
    """Each way, as a plan that ends with the rows of a group together and in order."""
    rows = data.lazy()
    bits = pl.col("score").reinterpret(dtype=pl.Int64).cast(pl.Int128)  # these scores are not negative
    packed = rows.select(key=(pl.col("query").cast(pl.Int128) * 2**65 - bits) * 2 + pl.col("relevant"))
    beside = packed.with_columns(weight=pl.col("key").cast(pl.Float64))
    scores = pl.struct("score", "relevant").sort_by("score", descending=True)
    return {
        "packed: one Int128": packed.sort("key"),
        "packed, a column beside it": beside.sort("key"),
        "packed, a column beside it, stable": beside.sort("key", maintain_order=True),
        "two columns: `sort(query, score)`": rows.sort("query", "score", descending=[False, True]),
        "in groups: `agg(struct.sort_by)`": rows.group_by("query").agg(scores),
        'numbering groups: `rank("dense")`': rows.select(pl.col("query").rank("dense")),
        "numbering groups: unique, sort, join": rows.join(
            rows.select("query").unique().sort("query").with_row_index(), on="query", how="left"
        ).select("index"),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    table: dict[str, list[float]] = {}
    for size in SHAPES.values():
        data = generate(options.rows, size, 15).select("query", "relevant", "score")
        for name, plan in ways(data).items():
            table.setdefault(name, []).append(seconds(partial(plan.collect), options.runs))
    print(f"polars {pl.__version__}, {pl.thread_pool_size()} threads, {options.rows:,} rows, best of {options.runs}\n")
    print("| seconds, then ratios to the first row | " + " | ".join(SHAPES) + " |")
    print("| --- |" + " --- |" * len(SHAPES))
    first = next(iter(table))
    for name, times in table.items():
        cells = [
            f"{t:.2f} s" if name == first else f"{t / base:.1f}" for t, base in zip(times, table[first], strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
