"""Peak memory, and growth with the number of rows: each case in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow

from benchmarks import contenders
from benchmarks.calls import BASE, CALLS, FRAMES, average_precision
from benchmarks.data import generate
from benchmarks.measure import Times, in_fresh_process, peak_above, timed

# What is made of the rows, and what is called on it.
CASES: dict[str, tuple[Callable[[pl.DataFrame, Path], Any], Callable[[Any], Any]]] = {
    BASE: (lambda rows, _: rows, average_precision),
    **{f"{BASE}, {name}": (make, average_precision) for name, make in FRAMES.items()},
    **{name: (lambda rows, _: rows, call) for name, call in CALLS.items()},
    "`df.sort(by, score)`": (lambda rows, _: rows, lambda rows: contenders.one_sort(rows).run()),
    "polarbearings": (lambda rows, _: rows, lambda rows: contenders.polarbearings(rows).run()),
}


def bytes_a_row(rows: pl.DataFrame, path: Path) -> dict[str, float]:
    """Of every case: what is held at most during the call, above what was held before it."""
    _write(rows, path)
    peaks = {name: in_fresh_process(_peak, name, path) for name in CASES}
    return {name: peak / len(rows) for name, peak in peaks.items() if peak is not None}


def _write(rows: pl.DataFrame, path: Path) -> None:
    rows.write_parquet(path)
    rows.write_ipc(path.with_suffix(".arrow"), compression="uncompressed")


def _loaded(path: Path) -> pl.DataFrame:
    """From an Arrow file: reading parquet leaves freed memory behind, which a call would reuse unseen."""
    table = pyarrow.ipc.open_file(pyarrow.memory_map(str(path.with_suffix(".arrow")))).read_all()
    rows = pl.DataFrame(table)
    rows.select(pl.all().sum())  # reads every page
    return rows


def _peak(name: str, path: Path) -> int | None:
    make, call = CASES[name]
    rows = _loaded(path)  # kept: its memory is not for the call to reuse
    frame = make(rows, path)
    try:
        return peak_above(lambda: call(frame))
    except ImportError:
        return None


def growth(shape: str, sizes: Iterable[int], path: Path) -> dict[int, tuple[Times, float]]:
    """Seconds and bytes a row of the base, for each number of rows."""
    found = {}
    for rows in sizes:
        _write(generate(shape, rows), path)
        seconds, peak = in_fresh_process(_grown, path)
        found[rows] = (Times.of(seconds), peak / rows)
    return found


def _grown(path: Path) -> tuple[list[float], int]:
    rows = _loaded(path)
    peak = peak_above(lambda: average_precision(rows))
    return [timed(lambda: average_precision(rows))[0] for _ in range(3)], peak
