"""Check an installation: `python -m frame_pr` prints versions and compares values with known answers."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, NamedTuple

import polars as pl

import frame_pr as fp
from frame_pr.frames.messages import first_line

RANKED = [1, 1, 0, 1, 0, 1, 0, 0, 0, 1]
"""The labels of the first group, in the order of their scores."""
ROWS = pl.DataFrame(
    {
        "query": ["ranked"] * len(RANKED) + ["tied"] * 3 + ["no positive"] * 2,
        "relevant": [*RANKED, 0, 1, 0, 0, 0],
        "score": [*range(len(RANKED), 0, -1), 1, 1, 1, 2, 1],
    }
)
ANSWERS: dict[str, dict[str, Fraction | None]] = {
    # Positives are at ranks 1, 2, 4, 6 and 10: (1/1 + 2/2 + 3/4 + 4/6 + 5/10) / 5. A single threshold selects the three
    # tied rows, of which one is positive. A group without positives has no average precision.
    "average_precision": {"ranked": Fraction(47, 60), "tied": Fraction(1, 3), "no positive": None},
    "precision@3": {"ranked": Fraction(2, 3), "tied": Fraction(1, 3), "no positive": Fraction(0)},
    "recall@3": {"ranked": Fraction(2, 5), "tied": Fraction(1), "no positive": None},
    # Of the 5 negatives, 5, 5, 4, 3 and 0 rank below the positives: 17 of 25 pairs. A tied pair counts one half.
    "roc_auc": {"ranked": Fraction(17, 25), "tied": Fraction(1, 2), "no positive": None},
    # At rank 6: 2 * 4 / (5 + 6). At rank 3 of the tied rows: 2 * 1 / (1 + 3).
    "max_f1": {"ranked": Fraction(8, 11), "tied": Fraction(1, 2), "no positive": None},
}
"""The answers by metric and group, each derived by hand."""
COLUMNS: dict[str, Any] = {"metrics": list(ANSWERS), "truth": "relevant", "score": "score", "by": "query"}
TOLERANCE = 1e-12


class Check(NamedTuple):
    """A kind of frame, and how the answers are computed on it."""

    kind: str
    libraries: tuple[str, ...]
    """What it needs; without one of them, the check is left out."""
    compute: Callable[[], pl.DataFrame]
    option: str = ""
    """The option of the command line that asks for it; empty: it is always made."""


def _dask() -> pl.DataFrame:
    import dask
    import dask.dataframe as dd

    import frame_pr.dask  # noqa: F401  makes Dask frames known

    with dask.config.set(scheduler="synchronous"):
        result: Any = fp.evaluate(dd.from_pandas(ROWS.to_pandas(), npartitions=2), **COLUMNS)
        return pl.DataFrame(pl.from_pandas(result.compute()))


def _expressions() -> pl.DataFrame:
    score: Any = pl.col("score")  # type checkers do not see `.pr`
    return ROWS.group_by("query").agg(score.pr.metric("relevant", name).alias(name) for name in ANSWERS)


def _spark() -> pl.DataFrame:
    from pyspark.sql import SparkSession

    import frame_pr.spark  # noqa: F401  makes Spark frames known

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    try:
        frame = session.createDataFrame(ROWS.rows(), "query string, relevant int, score int")
        result: Any = fp.evaluate(frame, **COLUMNS)
        return pl.DataFrame(result.toArrow())
    finally:
        session.stop()


def _plot() -> pl.DataFrame:
    from matplotlib.figure import Figure

    fp.plot(ROWS, "relevant", "score", by="query", ax=Figure().add_subplot())
    return fp.evaluate(ROWS, **COLUMNS)


CHECKS = (
    Check("polars DataFrame", (), lambda: fp.evaluate(ROWS, **COLUMNS)),
    Check("polars LazyFrame", (), lambda: fp.evaluate(ROWS.lazy(), **COLUMNS).collect()),
    Check("polars expressions", (), _expressions),
    Check("partitioned", (), lambda: fp.partitioned(ROWS, partitions=2, progress=False).evaluate(**COLUMNS)),
    Check("pandas DataFrame", ("pandas", "pyarrow"), lambda: pl.from_pandas(fp.evaluate(ROWS.to_pandas(), **COLUMNS))),
    Check("pyarrow Table", ("pyarrow",), lambda: pl.DataFrame(fp.evaluate(ROWS.to_arrow(), **COLUMNS))),
    Check("Dask DataFrame", ("dask", "pandas", "pyarrow"), _dask),
    Check("Spark DataFrame", ("pyspark", "pandas", "pyarrow"), _spark, option="spark"),
    Check("plot", ("matplotlib",), _plot),
)


def faults(result: pl.DataFrame) -> Iterator[str]:
    """Return what differs from the answers."""
    values = {row["query"]: row for row in result.to_dicts()}
    for metric, answers in ANSWERS.items():
        for group, answer in answers.items():
            value = values.get(group, {}).get(metric)
            expected = None if answer is None else float(answer)
            same = value is expected if value is None or expected is None else abs(value - expected) <= TOLERANCE
            if not same:
                yield f"{metric} of the group '{group}' is {value}, not {expected}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the versions and run the checks; the exit status is 1 if one of them fails."""
    parser = argparse.ArgumentParser(
        prog="python -m frame_pr",
        description="Print versions, and compare values on each kind of frame with known ones.",
    )
    parser.add_argument("--spark", action="store_true", help="check Spark, too: starts a JVM, which needs some seconds")
    options = vars(parser.parse_args(arguments))
    fp.show_versions()
    print()
    failed = 0
    for check in CHECKS:
        absent = [library for library in check.libraries if find_spec(library) is None]
        if absent:
            outcome = f"left out: {' and '.join(absent)} not installed"
        elif check.option and not options[check.option]:
            outcome = f"left out: --{check.option} checks it"
        else:
            try:
                differences = list(faults(check.compute()))
            except Exception as error:
                differences = [f"{type(error).__name__}: {first_line(error)}"]
            outcome = f"WRONG: {'; '.join(differences)}" if differences else "ok"
            failed += bool(differences)
        print(f"{check.kind:<18}  {outcome}")
    print(
        f"\n{failed} of the checks failed. Please report it with all of these lines."
        if failed
        else "\nAll values are right."
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
