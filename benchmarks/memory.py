"""Peak memory, and growth with the number of rows: each case in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import contenders
from benchmarks.calls import BASE, CALLS, FRAMES, average_precision
from benchmarks.data import generate
from benchmarks.measure import Times, in_fresh_process, peak_above, timed

# From a file with the three columns to something that runs.
CASES: dict[str, Callable[[Path], Callable[[], Any]]] = {
    BASE: lambda path: partial(average_precision, pl.read_parquet(path)),
    **{
        f"{BASE}, {name}": lambda path, read=read: partial(average_precision, read(path))
        for name, read in FRAMES.items()
    },
    **{name: lambda path, call=call: partial(call, pl.read_parquet(path)) for name, call in CALLS.items()},
    "`df.sort(by, score)`": lambda path: contenders.one_sort(pl.read_parquet(path)).run,
    "polarbearings": lambda path: contenders.polarbearings(pl.read_parquet(path)).run,
}


def bytes_a_row(path: Path, rows: int) -> dict[str, float]:
    """Of every case: what is held at most during the call, above what was held before it."""
    peaks = {name: in_fresh_process(_peak, name, path) for name in CASES}
    return {name: peak / rows for name, peak in peaks.items() if peak is not None}


def _peak(name: str, path: Path) -> int | None:
    try:
        run = CASES[name](path)
    except ImportError:
        return None
    return peak_above(run)


def growth(shape: str, sizes: Iterable[int], path: Path) -> dict[int, tuple[Times, float]]:
    """Seconds and bytes a row of the base, for each number of rows."""
    found = {}
    for rows in sizes:
        generate(shape, rows).write_parquet(path)
        seconds, peak = in_fresh_process(_grown, path)
        found[rows] = (Times.of(seconds), peak / rows)
    return found


def _grown(path: Path) -> tuple[list[float], int]:
    run = CASES[BASE](path)
    peak = peak_above(run)
    return [timed(run)[0] for _ in range(3)], peak
