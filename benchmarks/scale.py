"""The same metrics in memory, in parts on disk, on Spark and on Dask: wall time, and peak memory of all processes.

Run:  python benchmarks/scale.py [--rows 10000000 100000000] [--one-group] [--ways WAY ...] [--folder FOLDER]

Prints Markdown. Rows are read from parquet files (a million in each, 100 to a group, in random order) and results are
written to some, so that nobody's rows are in memory beforehand. Every way runs in a process of its own, on two cores.
Engines are started by a call on some of the rows, and both times are told. Memory is the largest sum of the resident
sizes of that process and its children, ten times a second. Results are checked against the first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import psutil

METRICS = ["average_precision", "interpolated_average_precision", "r_precision", "precision@10", "recall@10"]
METRICS += ["average_precision@10", "max_f1", "f1@threshold=0.5"]
ASKED = {"metrics": METRICS, "truth": "relevant", "score": "score"}
GROUP_SIZE, FEW = 100, 10
FILE = 1_000_000  # rows
BUDGET = "2GiB"


def generate(rows: int, folder: Path, group_size: int) -> None:
    """Rows in random order, so many to a group on average, one in ten positive, scores of four digits."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    for first in range(0, rows, FILE):
        size = min(FILE, rows - first)
        data = {"query": draw.integers(0, rows // group_size, size), "relevant": draw.random(size) < 0.1}
        data["score"] = np.round(draw.random(size), 4)
        pl.DataFrame(data).write_parquet(folder / f"{first // FILE:04}.parquet")


def in_memory(source: str, result: str, by: str | None) -> float:
    import frame_pr as fp

    start = time.perf_counter()
    fp.evaluate(pl.read_parquet(source), **ASKED, by=by).write_parquet(Path(result) / "all.parquet", mkdir=True)
    return time.perf_counter() - start


def in_parts(source: str, result: str, by: str | None) -> float:
    import frame_pr as fp

    start = time.perf_counter()
    parts = fp.partitioned(pl.scan_parquet(source), memory_budget=BUDGET, directory=Path(result).parent)
    parts.evaluate(**ASKED, by=by).write_parquet(Path(result) / "all.parquet", mkdir=True)
    return time.perf_counter() - start


def on_spark(source: str, result: str, by: str | None) -> float:
    import frame_pr.spark

    rows = rows_on_spark(source)
    start = time.perf_counter()
    frame_pr.spark.evaluate(rows, **ASKED, by=by).write.parquet(result)
    return time.perf_counter() - start


def tallied_on_spark(source: str, result: str, by: str | None) -> float:
    """Rows that are alike become one before they are shuffled; what is left is evaluated here."""
    import frame_pr as fp
    import frame_pr.spark

    rows = rows_on_spark(source)
    start = time.perf_counter()
    tally = frame_pr.spark.tally(rows, ASKED["truth"], ASKED["score"], by=by)
    fp.evaluate(pl.DataFrame(tally.toArrow()), **ASKED, by=by, count="count").write_parquet(
        Path(result) / "all.parquet", mkdir=True
    )
    return time.perf_counter() - start


def rows_on_spark(source: str) -> Any:
    """The rows, of a session in which a call on some of them has started the workers; it ends with the process."""
    from pyspark.sql import SparkSession

    import frame_pr.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {"driver.memory": "2g", "ui.enabled": "false"}
    options |= {
        "executorEnv.POLARS_MAX_THREADS": "1",
        "ui.showConsoleProgress": "false",
        "sql.shuffle.partitions": "32",
    }
    builder = SparkSession.builder.master("local[2]")
    for option, value in options.items():
        builder = builder.config(f"spark.{option}", value)
    rows = builder.getOrCreate().read.parquet(source)
    frame_pr.spark.evaluate(rows.limit(1_000), **ASKED, by="query").collect()
    return rows


def on_dask(source: str, result: str, by: str | None) -> float:
    import dask.dataframe
    from dask.distributed import Client, LocalCluster

    import frame_pr.dask

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster):
        run = dask.dataframe.read_parquet(source, dtype_backend="pyarrow")
        frame_pr.dask.evaluate(run.partitions[:2], **ASKED, by="query").compute()
        start = time.perf_counter()
        frame_pr.dask.evaluate(run, **ASKED, by=by).to_parquet(result)
        return time.perf_counter() - start


WAYS = {
    "in memory": in_memory,
    f"partitioned, {BUDGET}": in_parts,
    "Spark, local[2]": on_spark,
    "Spark, local[2], a tally first": tallied_on_spark,
    "Dask, LocalCluster 2x1": on_dask,
}
IN_MEMORY, IN_PARTS, SPARK, _, DASK = WAYS


class Taken(NamedTuple):
    """What one way took."""

    seconds: float
    with_start: float
    """Seconds, with the start of the process and of the engine."""
    peak: float
    """GiB, of all processes."""


@contextmanager
def generated(rows: int, group_size: int, folder: str | None) -> Iterator[Path]:
    """Rows on a disk, in a folder that is removed."""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        source = Path(temporary) / "run"
        generate(rows, source, group_size)
        yield source


def runs(source: Path, ways: Sequence[str], by: str) -> Iterator[tuple[str, Taken]]:
    """Each way, in a process of its own, and what it took; without `by`, all rows are one ranking."""
    first = pl.DataFrame()
    with tempfile.TemporaryDirectory(dir=source.parent) as results:
        for number, way in enumerate(ways):
            result = Path(results) / str(number)
            yield way, _run(way, source, result, by)
            found = pl.read_parquet(result / "*.parquet")
            first = first if number else found
            same(first, found)


def cases(rows: int, folder: str, *, larger: bool, engines: bool) -> dict[str, dict[str, Taken]]:
    """Ten times so many rows in parts, and `larger`, a hundred times; on the engines so many, in small groups."""
    found = {}
    for many in (10 * rows, 100 * rows) if larger else (10 * rows,):
        with generated(many, GROUP_SIZE, folder) as source:
            found[case(many, GROUP_SIZE)] = dict(runs(source, [IN_PARTS], "query"))
            found[case(many, None)] = dict(runs(source, [IN_PARTS], ""))
    java = [SPARK] if os.environ.get("JAVA_HOME") or shutil.which("java") else []
    with generated(rows, FEW, folder) as source:
        found[case(rows, FEW)] = dict(runs(source, [IN_MEMORY, *java, DASK] if engines else [IN_MEMORY], "query"))
    return found


def case(rows: int, group_size: int | None) -> str:
    """The name of one."""
    return f"{rows:,} rows, {f'{group_size} a group' if group_size else 'one group'}"


def _run(way: str, source: Path, result: Path, by: str) -> Taken:
    start, peak = time.perf_counter(), 0
    command = [sys.executable, __file__, "--way", way, str(source), str(result), by]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as process:
        parent = psutil.Process(process.pid)
        while process.poll() is None:
            resident = 0
            for one in (parent, *children(parent)):
                try:
                    resident += one.memory_info().rss
                except psutil.Error:
                    continue
            peak = max(peak, resident)
            time.sleep(0.1)
        assert process.stdout is not None
        output = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{way} failed")
    return Taken(float(output.splitlines()[-1]), time.perf_counter() - start, peak / 2**30)


def children(parent: psutil.Process) -> list[psutil.Process]:
    try:
        return parent.children(recursive=True)
    except psutil.Error:
        return []


def same(left: pl.DataFrame, right: pl.DataFrame) -> None:
    """Stop where two results differ beyond rounding."""
    right = right.select(left.columns)
    if "query" in left:
        left, right = left.sort("query"), right.sort("query")
        assert left["query"].equals(right["query"])
    for name in METRICS:
        assert left[name].null_count() == right[name].null_count()
        assert (left[name] - right[name]).abs().max() < 1e-12, name


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--folder", help="where the rows and the results are written; else the system's temporary one")
    parser.add_argument("--group-size", type=int, default=GROUP_SIZE, help="rows, on average")
    parser.add_argument("--one-group", action="store_true", help="all rows are one ranking")
    parser.add_argument(
        "--ways", nargs="+", default=list(WAYS), choices=list(WAYS), metavar="WAY", help=", ".join(WAYS)
    )
    parser.add_argument("--way", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        way, source, result, by = options.way
        print(WAYS[way](source, result, by or None))
        return
    os.environ["POLARS_MAX_THREADS"] = "2"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    print(f"polars {pl.__version__}, {len(os.sched_getaffinity(0))} cores, {len(METRICS)} metrics\n")
    print("| rows | way | s | s, with the engine's start | peak memory, GiB |")
    print("| --- | --- | --- | --- | --- |")
    for rows in options.rows:
        with generated(rows, options.group_size, options.folder) as source:
            for way, taken in runs(source, options.ways, "" if options.one_group else "query"):
                seconds = f"{taken.seconds:.1f} | {taken.with_start:.1f}"
                print(f"| {rows:,} | {way} | {seconds} | {taken.peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
