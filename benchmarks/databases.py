"""Average precision of rows in DuckDB: rows sent here, counted there, or a window query in SQL.

Run:  python -m benchmarks.databases [--rows 10000000] [--rounds 3]

Prints Markdown. Each way runs in a process of its own, and the ways take turns. The ratios are those of the CPU time,
user and system, because the wall time of a loaded machine says little. The memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from math import fsum
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.measure import memory, pin

GROUPS = [1, 50, 100_000]
ROWS_SENT = "rows are sent"
WAYS = [ROWS_SENT, "rows are counted in DuckDB", "frame_pr chooses", "SQL window query"]
HEAD = ["groups", "way", "s", "CPU, s", "peak, MB", "CPU, over rows sent", "peak, over rows sent"]
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
SELECT g, sum(hits / positives * (tp / k)) AS average_precision FROM steps WHERE positives > 0 GROUP BY g ORDER BY g
"""
TABLE = """
CREATE TABLE run AS SELECT
    (hash(i) % {groups})::BIGINT AS g,
    hash(i + 2) % 10 = 0 AS truth,
    round((hash(i + 3) % 1000003) / 1000003 * 0.8 + if(hash(i + 2) % 10 = 0, 0.2, 0), 4)::DOUBLE AS score,
    hash(i + 5) AS other, hash(i + 6)::VARCHAR AS text
FROM range({rows}) rows(i)
"""


class Cost(NamedTuple):
    """What one way costs: medians over the rounds."""

    seconds: float
    cpu: float
    megabytes: float


def cases(rows: int, rounds: int, folder: Path) -> dict[int, dict[str, Cost]]:
    """The cost of each way, by the number of groups."""
    return {groups: ways_of(groups, rows, rounds, folder) for groups in GROUPS}


def ways_of(groups: int, rows: int, rounds: int, folder: Path) -> dict[str, Cost]:
    """The cost of each way, whose metrics must be equal; those of the SQL query up to rounding."""
    import duckdb

    file = folder / f"{groups}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(TABLE.format(groups=groups, rows=rows))
    runs = [{way: in_process(way, file) for way in WAYS} for _ in range(rounds)]
    file.unlink()
    totals = {way: total for way, (_, total) in runs[0].items()}
    sent, counted, chosen, sql = (totals[way] for way in WAYS)
    assert sent == counted == chosen, totals
    assert abs(sql - sent) < 1e-9 * groups, totals
    return {way: Cost(*(median(run[way][0][i] for run in runs) for i in range(len(Cost._fields)))) for way in WAYS}


def table(costs: dict[int, dict[str, Cost]]) -> Iterator[list[str]]:
    """The lines of a table, below `HEAD`."""
    for groups, ways in costs.items():
        sent = ways[ROWS_SENT]
        for way, cost in ways.items():
            measured = [f"{cost.seconds:.2f}", f"{cost.cpu:.2f}", f"{cost.megabytes:.0f}"]
            yield [
                f"{groups:,}",
                way,
                *measured,
                f"{cost.cpu / sent.cpu:.2f}",
                f"{cost.megabytes / sent.megabytes:.2f}",
            ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
            for line in table({groups: ways_of(groups, options.rows, options.rounds, Path(folder))}):
                print(f"| {' | '.join(line)} |", flush=True)


def in_process(way: str, file: Path) -> tuple[Cost, float]:
    """The cost of a way in a process of its own, and the sum over the groups."""
    command = [sys.executable, "-m", "benchmarks.databases", "--way", way, str(file)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    *costs, total = json.loads(printed)
    return Cost(*costs), total


def measured(way: str, file: str) -> tuple[float, ...]:
    """The cost of a way in this process, and the sum over the groups."""
    warnings.simplefilter("ignore")
    import ibis

    import frame_pr.ibis
    from frame_pr.parts.ibis_table import IbisFrame

    sent, counted, _, sql = WAYS
    if way in (sent, counted):
        IbisFrame._is_tally_small = lambda *_: way == counted  # type: ignore[method-assign]
    connection = ibis.duckdb.connect(file, read_only=True)
    run = connection.table("run")
    frame_pr.ibis.average_precision(run.limit(10), "truth", "score", by="g")  # imports what is imported late
    start, before = time.perf_counter(), cpu()
    if way == sql:
        result = connection.con.sql(SQL).pl()
    else:
        result = frame_pr.ibis.average_precision(run, "truth", "score", by="g")
    total = fsum(result["average_precision"].drop_nulls().to_list())  # the sum of polars depends on the chunks
    spent = time.perf_counter() - start, cpu() - before
    return *spent, memory("VmHWM") / 1e6, total


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
