"""The same metrics in memory, on Spark and on Dask: wall time, and peak memory of all processes together.

Run:  python benchmarks/engines.py [--rows 10000000 100000000] [--folder FOLDER]

Prints Markdown. Rows are read from parquet files (100 to a group, in random order) and results are written to some, so
that nobody's rows are in memory beforehand. Every engine runs in a process of its own. Memory is the largest sum of the
resident sizes of that process and its children, ten times a second. Every result is checked against the first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import psutil

METRICS = ["average_precision", "interpolated_average_precision", "r_precision", "precision@10", "recall@10"]
METRICS += ["average_precision@10", "max_f1", "f1@threshold=0.5"]
ASKED = {"metrics": METRICS, "truth": "relevant", "score": "score", "by": "query"}
FILES = 16


def generate(rows: int, folder: Path) -> None:
    """Rows in random order, 100 to a group, one in ten positive, scores of three digits."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    query = draw.permutation(np.arange(rows) // 100)
    for part, queries in enumerate(np.array_split(query, FILES)):
        score = np.round(draw.random(len(queries)), 3)
        data = {"query": queries, "relevant": draw.random(len(queries)) < 0.1, "score": score}
        pl.DataFrame(data).write_parquet(folder / f"{part:02}.parquet")


def in_memory(source: str, result: str) -> float:
    import frame_pr as fp

    start = time.perf_counter()
    fp.evaluate(pl.read_parquet(source), **ASKED).write_parquet(Path(result) / "all.parquet", mkdir=True)
    return time.perf_counter() - start


def on_spark(source: str, result: str) -> float:
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
    session = builder.getOrCreate()
    session.range(2).count()
    start = time.perf_counter()
    frame_pr.spark.evaluate(session.read.parquet(source), **ASKED).write.parquet(result)
    taken = time.perf_counter() - start
    session.stop()
    return taken


def on_dask(source: str, result: str) -> float:
    import dask.dataframe
    from dask.distributed import Client, LocalCluster

    import frame_pr.dask

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster):
        start = time.perf_counter()
        run = dask.dataframe.read_parquet(source, dtype_backend="pyarrow")
        frame_pr.dask.evaluate(run, **ASKED).to_parquet(result)
        return time.perf_counter() - start


WAYS = {"polars in memory": in_memory, "Spark, local[2]": on_spark, "Dask, LocalCluster 2x1": on_dask}


def measured(way: str, source: Path, result: Path) -> tuple[float, float, float]:
    """Seconds of the call, seconds with the start of the engine, and GiB, of one way in a process of its own."""
    start, peak = time.perf_counter(), 0
    command = [sys.executable, __file__, "--way", way, str(source), str(result)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
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
    return float(output.splitlines()[-1]), time.perf_counter() - start, peak / 2**30


def children(parent: psutil.Process) -> list[psutil.Process]:
    try:
        return parent.children(recursive=True)
    except psutil.Error:
        return []


def same(left: pl.DataFrame, right: pl.DataFrame) -> None:
    """Stop where two results differ beyond rounding."""
    left, right = left.sort("query"), right.sort("query").select(left.columns)
    assert left["query"].equals(right["query"])
    for name in METRICS:
        assert left[name].null_count() == right[name].null_count()
        assert (left[name] - right[name]).abs().max() < 1e-12, name


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--folder", help="where the rows and the results are written; else the system's temporary one")
    parser.add_argument("--way", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        way, source, result = options.way
        print(WAYS[way](source, result))
        return
    print(f"polars {pl.__version__}, {len(os.sched_getaffinity(0))} cores, {len(METRICS)} metrics\n")
    print("| rows | way | s | s, with the engine's start | peak memory, GiB |")
    print("| --- | --- | --- | --- | --- |")
    for rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            source, results = Path(folder) / "run", []
            generate(rows, source)
            for number, way in enumerate(WAYS):
                result = Path(folder) / f"result{number}"
                taken, whole, peak = measured(way, source, result)
                print(f"| {rows:,} | {way} | {taken:.1f} | {whole:.1f} | {peak:.2f} |", flush=True)
                results.append(pl.read_parquet(result / "*.parquet"))
                same(results[0], results[-1])


if __name__ == "__main__":
    main()
