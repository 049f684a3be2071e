"""Spark and Dask as the tests start them, on two cores, without a network."""

import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

ROWS = 240
QUERY = pl.col("query")
# 23 queries; 5 has no positive, and scores are tied. Every key is a query in another type; `text`
# is null for query 0.
DATA = pl.DataFrame(
    {
        "row": range(ROWS),
        "query": [i * 7 % 23 for i in range(ROWS)],
        "relevant": [i * 31 % 7 < 2 and i * 7 % 23 != 5 for i in range(ROWS)],
        "score": [i * 37 % 11 / 4 for i in range(ROWS)],
        "other": [i * 53 % 13 for i in range(ROWS)],
        "weight": [float(i % 4) for i in range(ROWS)],
    }
).with_columns(
    text=pl.when(QUERY > 0).then(pl.format("q{}", "query")),
    date=pl.date(2024, 1, 1) + pl.duration(days=QUERY),
    time=pl.datetime(2024, 1, 1, time_zone="UTC") + pl.duration(hours=QUERY),
    decimal=(QUERY / 4).cast(pl.Decimal(10, 2)),
    binary=pl.format("b{}", "query").cast(pl.Binary),
    real=QUERY / 4,
    flag=QUERY % 2 == 0,
    model=(QUERY % 3).cast(pl.Int8),
    label=pl.when("relevant").then(pl.lit("yes")).otherwise(pl.lit("no")),
    found=pl.when(pl.col("row") % 5 > 0).then("score"),
    judged=pl.when(pl.col("row") % 4 > 0).then("relevant"),
)
# About the transport, and not about the metrics.
METRICS = ["rows", "positives", "average_precision", "max_f1", "threshold@max_f1", "f1@threshold=1"]


@dataclass(frozen=True)
class Running:
    """An engine that runs: how it makes a frame in so many parts, and how a result is read back."""

    name: str
    make: Callable[..., Any]
    read: Callable[[Any], pl.DataFrame]


# A session is too short for the second compiler, and its garbage too little for collectors side by
# side.
JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def free_port() -> int:
    """A port that nothing listens to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def spark_session() -> Iterator[Any]:
    """A Spark session that is also the server of a Connect session: both need one JVM."""
    from pyspark.sql import SparkSession

    port = free_port()
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": port,
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
        "spark.sql.session.timeZone": "UTC",
        # More partitions than some keys have groups, and none of them put together. Each is a task,
        # which takes a hundred times as long as its rows.
        "spark.sql.shuffle.partitions": 3,
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for option, value in options.items():
        builder = builder.config(option, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark session for all tests."""
    pytest.importorskip("frame_pr.spark", exc_type=ImportError)
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later")
    with spark_session() as session:
        yield session


@pytest.fixture(scope="session")
def spark_connect(spark: Any) -> Iterator[Any]:
    """A Connect session on the same machine."""
    from pyspark.sql.connect.session import SparkSession

    address = f"sc://127.0.0.1:{spark.conf.get('spark.connect.grpc.binding.port')}"
    session = SparkSession.builder.remote(address).create()
    yield session
    session.stop()


def new_cluster(workers: int = 2) -> Any:
    """A Dask cluster of processes on this machine."""
    import dask
    from dask.distributed import LocalCluster

    # Each worker would look a hundred times a second at what it does.
    with dask.config.set({"distributed.worker.profile.enabled": False}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        )


def on_spark(session: Any) -> Running:
    """Spark, Classic or Connect."""
    import frame_pr.spark  # noqa: F401

    def make(data: pl.DataFrame, parts: int | None = None) -> Any:
        frame = session.createDataFrame(data.to_arrow(compat_level=pl.CompatLevel.oldest()))
        # Of two cores, it has two parts; more of them are another shuffle.
        return frame.repartition(parts) if parts else frame

    name = "spark-connect" if ".connect." in type(session).__module__ else "spark"
    return Running(name, make, lambda result: pl.DataFrame(result.toArrow()))


def on_dask(name: str) -> Running:
    """Dask, on whatever scheduler is set."""
    import dask.dataframe

    import frame_pr.dask  # noqa: F401

    def make(data: pl.DataFrame, parts: int = 3) -> Any:
        rows = data.to_pandas(use_pyarrow_extension_array=True)
        return dask.dataframe.from_pandas(rows, npartitions=parts)

    def read(result: Any) -> pl.DataFrame:
        computed = result.compute()
        expected = result._meta.dtypes.astype(str)
        assert computed.dtypes.astype(str).equals(expected), (
            f"announced {expected}, got {computed.dtypes}"
        )
        return pl.from_pandas(computed)

    return Running(name, make, read)


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    """One cluster for all tests, which each connect to it; without one, Dask uses threads."""
    with new_cluster() as cluster:
        yield cluster


# With --dist=loadgroup, a group runs in one process: there is one JVM, and one cluster at a time.
SPARK, CONNECT = (
    pytest.param(name, marks=pytest.mark.xdist_group("spark"))
    for name in ("spark", "spark-connect")
)
CLUSTER = pytest.param("dask-cluster", marks=pytest.mark.xdist_group("dask-cluster"))


@pytest.fixture(scope="module", params=[SPARK, CONNECT, "dask", CLUSTER])
def engine(request: pytest.FixtureRequest) -> Iterator[Running]:
    """Run the test once on every engine, in each of its modes."""
    if request.param == "spark":
        yield on_spark(request.getfixturevalue("spark"))
    elif request.param == "spark-connect":
        yield on_spark(request.getfixturevalue("spark_connect"))
    else:
        pytest.importorskip("frame_pr.dask", exc_type=ImportError)
        import dask

        if request.param == "dask":
            with dask.config.set(scheduler="synchronous"):
                yield on_dask(request.param)
        else:
            from dask.distributed import Client

            with Client(request.getfixturevalue("dask_cluster")):
                yield on_dask(request.param)
