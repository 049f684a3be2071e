"""The recipe of docs/tally.md: SQL counts equal rows, and `count="count"` reads the counts."""

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest
from compare import assert_same
from engines import free_port

import frame_pr as fp

COUNT = """
SELECT query, relevant, score, count(*) AS count
FROM run
GROUP BY query, relevant, score
"""
# Five queries; scores are tied, and one row in seven has none.
RUN = pl.DataFrame(
    {
        "query": [f"q{i % 5}" if i % 5 else None for i in range(200)],
        "relevant": [i * 31 % 7 < 2 for i in range(200)],
        "score": [i * 37 % 11 / 4 if i % 7 else None for i in range(200)],
    }
)
GIVEN = {"truth": "relevant", "score": "score", "by": "query", "unscored": "unretrieved"}
METRICS = [
    "rows",
    "positives",
    "average_precision",
    "roc_auc",
    "precision@10",
    "max_f1",
    "threshold@max_f1",
]


@contextmanager
def in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE run (query VARCHAR, relevant BOOLEAN, score DOUBLE)")
        connection.executemany("INSERT INTO run VALUES (?, ?, ?)", RUN.rows())
        yield lambda: connection.sql(COUNT).pl()


@contextmanager
def in_sqlite():
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE TABLE run (query TEXT, relevant INTEGER, score REAL)")
        connection.executemany("INSERT INTO run VALUES (?, ?, ?)", RUN.rows())
        yield lambda: pl.read_database(COUNT, connection)
    finally:
        connection.close()


@contextmanager
def in_postgres():
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", exc_type=ImportError)
    with postgres_server() as port, connected(dbapi, port) as connection:
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE run (query text, relevant boolean, score double precision)"
            )
            cursor.executemany("INSERT INTO run VALUES ($1, $2, $3)", RUN.to_arrow())
        yield lambda: pl.read_database(COUNT, connection)


def connected(dbapi, port):
    """Connect to a server that may be starting."""
    for _ in range(50):
        with suppress(dbapi.Error):
            return dbapi.connect(f"postgresql://test@127.0.0.1:{port}/postgres")
        time.sleep(0.2)
    raise TimeoutError("PostgreSQL does not answer")


@contextmanager
def postgres_server():
    """Start a PostgreSQL server and yield its port; skip the test if it is not installed."""
    places = [*os.get_exec_path(), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin")))]
    programs = [shutil.which(name, path=os.pathsep.join(places)) for name in ("initdb", "postgres")]
    if None in programs or os.name != "posix":
        pytest.skip("PostgreSQL is not installed")
    user = {"user": "nobody"} if os.getuid() == 0 else {}  # PostgreSQL refuses to run as root.
    with tempfile.TemporaryDirectory(
        prefix="postgres-", dir="/tmp", ignore_cleanup_errors=True
    ) as folder:
        if user:
            shutil.chown(folder, "nobody")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
        data = f"--pgdata={folder}/data"
        command = [
            programs[0],
            "--auth=trust",
            "--username=test",
            "--encoding=UTF8",
            "--no-sync",
            data,
        ]
        subprocess.run(command, check=True, **quiet)
        port = free_port()
        options = ["-k", folder, "-h", "127.0.0.1", "-p", str(port), "-F"]
        server = subprocess.Popen([programs[1], "-D", f"{folder}/data", *options], **quiet)
        try:
            for _ in range(300):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()
            server.wait()


SERVER = pytest.param(in_postgres, marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres")])


@pytest.fixture(params=[in_duckdb, in_sqlite, SERVER])
def counts(request):
    with request.param() as read:
        yield read()


def test_counts_of_a_database_give_the_metrics_of_its_rows(counts):
    assert counts["count"].sum() == RUN.height
    assert counts.height < 0.8 * RUN.height
    assert_same(
        fp.evaluate(counts, METRICS, **GIVEN, count="count"), fp.evaluate(RUN, METRICS, **GIVEN)
    )
    assert_same(fp.curve(counts, **GIVEN, count="count"), fp.curve(RUN, **GIVEN))
