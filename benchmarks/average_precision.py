"""Grouped average precision against polarbearings and one sort, and what metrics, keys, frames and policies add.

Run:  python benchmarks/average_precision.py [--rows 10000000] [--runs 3]

Prints Markdown: seconds of the best run, and ratios within this run. Every contender's numbers are checked against ours
before its time counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import polarbearings
import polars as pl

import frame_pr as fp

SHAPES = {"100k x 100": 100, "2M x 5": 5, "20 x 500k": 500_000, "1 x 10M": 10_000_000}  # rows a group, of 10M
REPORT = ["average_precision", "interpolated_average_precision", "interpolated_average_precision_11", "r_precision"]
REPORT += ["lift", "ties", "rows", "positives", "prevalence", "precision@1", "precision@5", "precision@10", "recall@5"]
REPORT += ["recall@10", "average_precision@10", "max_f1", "threshold@max_f1", "f1@threshold=0.5"]
POLICIES = {
    'ties="expected"': {"ties": "expected"},
    'ties="optimistic"': {"ties": "optimistic"},
    'ties="order"': {"ties": "order"},
    "tie_break": {"tie_break": "document"},
    "weight, Int64": {"weight": "whole"},
    "weight, Float64": {"weight": "weight"},
    'unscored="unretrieved"': {"unscored": "unretrieved"},
    "positives": {"positives": "known"},
}


def generate(rows: int, rows_per_group: int, decimals: int) -> pl.DataFrame:
    """Rows in random order, one in ten positive, scores rounded so that ties are common or rare."""
    draw = np.random.default_rng(0)
    query = draw.permutation(np.arange(rows) // min(rows_per_group, rows))
    score = np.round(draw.random(rows), decimals)
    data = pl.DataFrame({"query": query, "relevant": draw.random(rows) < 0.1, "score": score})
    return data.with_columns(
        name="query_" + pl.col("query").cast(pl.String),
        half=pl.col("query") // 2,
        side=pl.col("query") % 2,
        document=pl.Series(draw.integers(0, 2**31, rows)),
        whole=pl.Series(draw.integers(0, 4, rows)),
        weight=pl.Series(draw.random(rows)),
        known=pl.lit(rows),
    )


def seconds(run: Callable[[], object], runs: int) -> float:
    """Best of several runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def agree(ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
    """Stop where two tools disagree beyond rounding."""
    both = ours.join(theirs.rename({theirs.columns[1]: "theirs"}), on="query")
    # polarbearings has NaN or null where a group has no positives.
    gap = (pl.col("average_precision") - pl.col("theirs").fill_nan(None)).abs().max()
    assert len(both) == len(ours)
    assert both.select(gap).item() < 1e-12


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    runs = f"best of {options.runs} runs"
    print(f"polars {pl.__version__}, {pl.thread_pool_size()} threads, {options.rows:,} rows; {runs}\n")
    columns = ["groups x rows", "ties", "AP, s", "polarbearings / AP", "AP / one sort", "lazy / AP", "pandas / AP"]
    print("| " + " | ".join([*columns, "18 metrics / AP"]) + " |")
    print("| --- " * 8 + "|")
    for shape, size in SHAPES.items():
        for decimals in (3, 15):
            data = generate(options.rows, size, decimals).select("query", "relevant", "score")
            lazy, pandas = data.lazy(), data.to_pandas()

            def ours(frame: object = data, metrics: object = "average_precision") -> object:
                return fp.evaluate(frame, metrics, "relevant", "score", by="query")

            def theirs(data: pl.DataFrame = data) -> pl.DataFrame:
                return data.group_by("query").agg(polarbearings.average_precision("relevant", "score"))

            agree(ours(), theirs())
            base = seconds(ours, options.runs)
            ratios = [
                seconds(theirs, options.runs) / base,
                base / seconds(lambda data=data: data.sort("query", "score"), options.runs),
                seconds(lambda lazy=lazy: ours(lazy).collect(), options.runs) / base,
                seconds(lambda pandas=pandas: ours(pandas), options.runs) / base,
                seconds(lambda data=data: ours(data, REPORT), options.runs) / base,
            ]
            ties = "many" if decimals == 3 else "few"
            print(f"| {shape} | {ties} | {base:.2f} | " + " | ".join(f"{r:.2f}" for r in ratios) + " |", flush=True)

    print("\n| AP, over AP of an Int64 key with the defaults | " + " | ".join(SHAPES) + " |")
    print("| --- |" + " --- |" * len(SHAPES))
    table: dict[str, list[str]] = {}
    for size in SHAPES.values():
        data = generate(options.rows, size, 3)
        base = seconds(lambda data=data: fp.average_precision(data, "relevant", "score", by="query"), options.runs)
        variants = {label: {"by": "query"} | policy for label, policy in POLICIES.items()}
        for label, given in (
            {"a String key": {"by": "name"}, "two Int64 keys": {"by": ["half", "side"]}} | variants
        ).items():
            run = partial(fp.average_precision, data, "relevant", "score", **given)
            table.setdefault(label, []).append(f"{seconds(run, options.runs) / base:.2f}")
    for label, ratios in table.items():
        print(f"| {label} | " + " | ".join(ratios) + " |")


if __name__ == "__main__":
    main()
