"""Rows in DuckDB: sent to frame_pr, counted in the database, or the metric in SQL: `python -m benchmarks.databases`.

Each way runs in a process of its own, and the ways of a case alternate. The time is that of the processor, user and
system, because the wall time of a loaded machine says little. The memory is the peak of the process.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from math import fsum
from pathlib import Path
from statistics import median

import duckdb

import frame_pr as fp

GROUPS = [1, 50, 100_000]
WAYS = ["rows", "tally", "auto", "SQL"]
# The average precision of each group: blocks of equal scores by GROUP BY, then sums up to the end of a block.
SQL = """
WITH blocks AS (
    SELECT g, score, count(*) AS size, count(*) FILTER (truth) AS hits FROM run GROUP BY g, score
), steps AS (
    SELECT
        g, hits,
        sum(hits) OVER block AS tp, sum(size) OVER block AS k, sum(hits) OVER (PARTITION BY g) AS positives
    FROM blocks WINDOW block AS (PARTITION BY g ORDER BY score DESC)
)
SELECT g, sum(hits / positives * (tp / k)) AS average_precision FROM steps GROUP BY g ORDER BY g
"""
ROWS = """
CREATE TABLE run AS SELECT
    (hash(i) % {groups})::BIGINT AS g,
    hash(i + 2) % 10 = 0 AS truth,
    round((hash(i + 3) % 1000003) / 1000003 * 0.8 + if(hash(i + 2) % 10 = 0, 0.2, 0), 4)::DOUBLE AS score,
    hash(i + 5) AS other, hash(i + 6)::VARCHAR AS text
FROM range({rows}) rows(i)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(*given.one)))
        return
    print("| groups | way | processor, s | peak memory, MB |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for groups in GROUPS:
            file = Path(folder, f"{groups}.duckdb")
            with duckdb.connect(str(file)) as connection:
                connection.execute(ROWS.format(groups=groups, rows=given.rows))
            runs = [{way: in_process(way, file) for way in WAYS} for _ in range(given.repeats)]
            for way in WAYS:
                seconds, megabytes = (median(run[way][i] for run in runs) for i in (0, 1))
                print(f"| {groups:,} | {way} | {seconds:.2f} | {megabytes:.0f} |", flush=True)
            results = {way: runs[0][way][2] for way in WAYS}
            assert results["rows"] == results["tally"] == results["auto"]
            assert abs(results["SQL"] - results["rows"]) < 1e-9 * groups, results
            file.unlink()


def in_process(way: str, file: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-m", "benchmarks.databases", "--one", way, str(file)]
    seconds, megabytes, total = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return seconds, megabytes, total


def measured(way: str, file: str) -> tuple[float, float, float]:
    """The processor's seconds, the peak memory and the sum over the groups."""
    warnings.simplefilter("ignore")
    import ibis

    import frame_pr.ibis  # noqa: F401
    from frame_pr.parts.ibis_table import IbisFrame

    if way in ("rows", "tally"):
        IbisFrame._is_tally_small = lambda *_: way == "tally"
    connection = ibis.duckdb.connect(file, read_only=True)
    table = connection.table("run")
    table.limit(10).pr.average_precision("truth", "score", by="g")  # so that everything is imported
    before = processor()
    if way == "SQL":
        result = connection.con.sql(SQL).pl()
    else:
        result = fp.evaluate(table, "average_precision", "truth", "score", by="g")
    total = fsum(result["average_precision"].to_list())  # the sum of polars depends on the chunks
    return processor() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, total


def processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
