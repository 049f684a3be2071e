"""Run calls of one checkout of frame_pr, or of another library, on generated rows.

`benchmarks/__main__.py` starts it.

It reads lines of JSON, `[shape, tied, rows, call]`, and answers each with the seconds of CPU and
the sum of the values, by which results are compared. With an argument `[file, call]`, it prints the
peak of memory instead.
"""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SHAPES: dict[str, Callable[[int], int]] = {
    "20k x 100": lambda rows: rows // 100,
    "20 x 100k": lambda rows: 20,
    "1 x 2M": lambda rows: 1,
    "400k x 5": lambda rows: rows // 5,
    "10 rows": lambda rows: 1,
}
"""The number of groups, for a number of rows. The names are those for two million rows."""
METRICS = [
    "average_precision",
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "r_precision",
]
METRICS += [
    "average_precision_lift",
    "prevalence",
    "rows",
    "positives",
    "precision@1",
    "precision@5",
    "precision@10",
]
METRICS += [
    "recall@5",
    "recall@10",
    "average_precision@10",
    "max_f1",
    "threshold@max_f1",
    "f1@threshold=0.5",
    "roc_auc",
]
BY = {"truth": "relevant", "score": "score", "by": "query"}


@cache
def rows_of(shape: str, tied: bool, rows: int) -> pl.DataFrame:
    """Rows in random order, one in ten positive. Tied scores have three digits, others all."""
    rows = 10 if shape == "10 rows" else rows
    draw = np.random.default_rng(0)
    groups = SHAPES[shape](rows)
    columns = {
        "query": draw.permutation(np.arange(rows) * groups // rows),
        "relevant": draw.random(rows) < 0.1,
    }
    columns["score"] = draw.random(rows).round(3) if tied else draw.random(rows)
    columns |= {"whole": draw.integers(1, 4, rows), "weight": draw.random(rows)}
    return pl.DataFrame(columns)


def ours(function: str, **options: Any) -> Callable[[pl.DataFrame], Any]:
    """Return a call of frame_pr."""

    def run(data: pl.DataFrame) -> Any:
        import frame_pr as fp

        return getattr(fp, function)(data, **BY | options)

    return run


def lazy(data: pl.DataFrame) -> pl.DataFrame:
    """Average precision of a LazyFrame."""
    import frame_pr as fp

    return fp.average_precision(data.lazy(), **BY).collect()


def polarbearings(data: pl.DataFrame) -> pl.DataFrame:
    """Average precision as an expression."""
    from polarbearings import average_precision

    return data.group_by("query").agg(
        average_precision("relevant", "score").alias("average_precision")
    )


def polarbearings_curve(data: pl.DataFrame) -> pl.DataFrame:
    """Precision and recall at each threshold."""
    from polarbearings import pr_curve

    return pr_curve(data, "relevant", "score", by="query").collect()


def polars_ds(data: pl.DataFrame) -> pl.DataFrame:
    """Five metrics in one expression, which fails for a group without positives."""
    from polars_ds import query_binary_metrics

    data = data.filter(pl.col("relevant").any().over("query"))
    value = (
        query_binary_metrics("relevant", "score")
        .struct.field("avg_precision")
        .alias("average_precision")
    )
    return data.group_by("query").agg(value)


def per_group(module: str, function: str) -> Callable[[pl.DataFrame], Any]:
    """Return a loop over the arrays of the groups."""

    def run(data: pl.DataFrame) -> pl.DataFrame:
        average_precision = getattr(__import__(module, fromlist=[function]), function)
        values = [
            average_precision(group["relevant"].to_numpy(), group["score"].to_numpy())
            for _, group in data.group_by("query", maintain_order=True)
        ]
        return pl.DataFrame({"average_precision": values})

    return run


CALLS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "average_precision": ours("average_precision"),
    "curve": ours("curve"),
    "18 metrics": ours("evaluate", metrics=METRICS),
    "with_curve": ours("with_curve"),
    "whole weights": ours("average_precision", weight="whole"),
    "float weights": ours("average_precision", weight="weight"),
    "LazyFrame": lazy,
}
PEERS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polarbearings": polarbearings,
    "polarbearings, curve": polarbearings_curve,
    "scors, loop over groups": per_group("scors", "average_precision"),
    "scikit-learn, loop over groups": per_group("sklearn.metrics", "average_precision_score"),
    "polars_ds": polars_ds,
}
GROUPS = 1_000
"""The most groups of peers but polarbearings; times of more are extrapolated."""


def measure(shape: str, tied: bool, rows: int, call: str) -> tuple[float, float]:
    """Return the seconds of CPU of a call, and the sum of its average precisions."""
    data, share = rows_of(shape, tied, rows), 1.0
    if call in PEERS and not call.startswith("polarbearings") and data["query"].n_unique() > GROUPS:
        share = GROUPS / data["query"].n_unique()
        data = data.filter(pl.col("query") < GROUPS)
    repeats = 20 if shape == "10 rows" else 1
    start = time.process_time()
    for _ in range(repeats):
        result = (CALLS | PEERS)[call](data)
    taken = (time.process_time() - start) / repeats / share
    values = (
        result["average_precision"] if "average_precision" in result.columns else pl.Series([0.0])
    )
    return taken, float(
        values.fill_nan(None).sum()
    ) if share == 1 and values.dtype.is_float() else 0.0


def peak(file: str, call: str) -> float:
    """Return the megabytes that a call holds at most, without the rows of the file (on Linux)."""
    data = pl.read_ipc(file)
    data.select(pl.all().sum())  # reads every page
    CALLS[call](data.head(100))  # imports what is imported late
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the peak so far
    CALLS[call](data)
    return (_memory("VmHWM") - before) / 1024


def _memory(name: str) -> int:
    """Return kilobytes of this process: VmRSS now, VmHWM at most so far."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(peak(*json.loads(sys.argv[1]))))
    else:
        for line in sys.stdin:
            try:
                print(json.dumps(measure(*json.loads(line))), flush=True)
            except ImportError as error:
                print(json.dumps([None, str(error)]), flush=True)
