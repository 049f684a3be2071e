"""Average precision of rows in DuckDB: rows read, rows counted in SQL, or a window query in SQL.

Run:  python -m benchmarks.databases [--rows 10000000] [--rounds 3]

Prints Markdown. Each way runs in a process of its own, and the ways take turns. The ratios are
those of the CPU time, user and system, because the wall time of a loaded machine says little. The
memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import fsum
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.measure import memory, pin

GROUPS = [1, 50, 100_000]
READ, COUNTED, WINDOW = WAYS = ["rows are read", "rows are counted in DuckDB", "SQL window query"]
HEAD = ["groups", "way", "s", "CPU, s", "peak, MB", "CPU, over rows read", "peak, over rows read"]
TABLE = """
CREATE TABLE run AS SELECT
    (hash(i) % {groups})::BIGINT AS g,
    hash(i + 2) % 10 = 0 AS truth,
    round(
        (hash(i + 3) % 1000003) / 1000003 * 0.8 + if(hash(i + 2) % 10 = 0, 0.2, 0), 4
    )::DOUBLE AS score,
    hash(i + 5) AS other, hash(i + 6)::VARCHAR AS text
FROM range({rows}) rows(i)
"""
SQL = {
    READ: "SELECT g, truth, score FROM run",
    COUNTED: "SELECT g, truth, score, count(*) AS count FROM run GROUP BY g, truth, score",
    # Blocks of equal scores by GROUP BY, then sums up to the end of a block.
    WINDOW: """
WITH blocks AS (
    SELECT g, score, count(*) AS size, count(*) FILTER (truth) AS hits FROM run GROUP BY g, score
), steps AS (
    SELECT
        g, hits,
        sum(hits) OVER block AS tp,
        sum(size) OVER block AS k,
        sum(hits) OVER (PARTITION BY g) AS positives
    FROM blocks WINDOW block AS (PARTITION BY g ORDER BY score DESC)
)
SELECT g, sum(hits / positives * (tp / k)) AS average_precision
FROM steps WHERE positives > 0 GROUP BY g ORDER BY g
""",
}


class Cost(NamedTuple):
    """What one way costs: medians over the rounds."""

    seconds: float
    cpu: float
    megabytes: float


def cases(rows: int, rounds: int, folder: Path) -> dict[int, dict[str, Cost]]:
    """The cost of each way, by the number of groups."""
    return {groups: ways_of(groups, rows, rounds, folder) for groups in GROUPS}


def ways_of(groups: int, rows: int, rounds: int, folder: Path) -> dict[str, Cost]:
    """The cost of each way. Their metrics must be equal up to rounding."""
    import duckdb

    file = folder / f"{groups}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(TABLE.format(groups=groups, rows=rows))
    runs = [{way: in_process(way, file) for way in WAYS} for _ in range(rounds)]
    file.unlink()
    totals = [total for _, total in runs[0].values()]
    assert max(totals) - min(totals) < 1e-9 * groups, totals
    return {
        way: Cost(*(median(run[way][0][i] for run in runs) for i in range(len(Cost._fields))))
        for way in WAYS
    }


def table(costs: dict[int, dict[str, Cost]]) -> Iterator[list[str]]:
    """The lines of a table, below `HEAD`."""
    for groups, ways in costs.items():
        read = ways[READ]
        for way, cost in ways.items():
            ratios = [f"{cost.cpu / read.cpu:.2f}", f"{cost.megabytes / read.megabytes:.2f}"]
            yield [
                f"{groups:,}",
                way,
                f"{cost.seconds:.2f}",
                f"{cost.cpu:.2f}",
                f"{cost.megabytes:.0f}",
                *ratios,
            ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    pin()
    if options.way:
        print(json.dumps(measured(*options.way)))
        return
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for groups in GROUPS:
            for line in table(
                {groups: ways_of(groups, options.rows, options.rounds, Path(folder))}
            ):
                print(f"| {' | '.join(line)} |", flush=True)


def in_process(way: str, file: Path) -> tuple[Cost, float]:
    """The cost of a way in a process of its own, and the sum over the groups."""
    command = [sys.executable, "-m", "benchmarks.databases", "--way", way, str(file)]
    *costs, total = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return Cost(*costs), total


def measured(way: str, file: str) -> tuple[float, ...]:
    """The cost of a way in this process, and the sum over the groups."""
    import duckdb

    import frame_pr as fp

    connection = duckdb.connect(file, read_only=True)
    start, before = time.perf_counter(), time.process_time()
    result = connection.sql(SQL[way]).pl()
    if way != WINDOW:
        count = {"count": "count"} if way == COUNTED else {}
        result = fp.average_precision(result, "truth", "score", by="g", **count)
    total = fsum(result["average_precision"].drop_nulls())
    return time.perf_counter() - start, time.process_time() - before, memory("VmHWM") / 1e6, total


if __name__ == "__main__":
    main()
