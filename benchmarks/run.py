"""The whole run, from the command line to the page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from benchmarks import lists, scale, tallies
from benchmarks.calls import COLUMNS, variations
from benchmarks.data import SHAPES, generate, with_variations
from benchmarks.measure import Times
from benchmarks.memory import bytes_a_row, growth
from benchmarks.page import page
from benchmarks.peers import race, search_suites, suites
from benchmarks.results import Results
from benchmarks.small import by_rows, imports, per_call
from benchmarks.sorting import sorts

GROWING = ("100k x 100", "1 x 10M")


def measure(
    shapes: Sequence[str], rows: int, rounds: int, sizes: Sequence[int], calls: int, folder: Path, *, engines: bool
) -> Results:
    """The whole run; says on stderr where it is."""
    path = folder / "rows.parquet"
    sections: dict[str, Callable[[pl.DataFrame], dict[str, Times]]] = {
        "tied": lambda data: race(data, "score", rounds),
        "untied": lambda data: race(data, "distinct", rounds),
        "suites": lambda data: suites(data, rounds) | search_suites(data, rounds),
        "variations": lambda data: variations(data, path, rounds),
        "sorts": lambda data: sorts(data, rounds),
    }
    start = time.perf_counter()

    def say(what: str) -> None:
        print(f"{time.perf_counter() - start:5.0f} s  {what}", file=sys.stderr, flush=True)

    times: dict[str, dict[str, dict[str, Times]]] = {section: {} for section in sections}
    memory: dict[str, dict[str, float]] = {}
    for shape in shapes:
        data = with_variations(generate(shape, rows))
        for section, run in sections.items():
            say(f"{shape}: {section}")
            times[section][shape] = run(data)
        say(f"{shape}: memory")
        for name, peak in bytes_a_row(data.select(COLUMNS), path).items():
            memory.setdefault(name, {})[shape] = peak
    say("growth")
    grown = {shape: growth(shape, sizes, path) for shape in GROWING}
    say("lists and tallies")
    reshaped = lists.measured(rows // 100, rounds) | tallies.measured(max(sizes), max(1, rows // 20_000), rounds)
    say("in parts, and on engines")
    scaled = scale.cases(rows, str(folder), larger=max(sizes) > rows, engines=engines)
    say("small calls and imports")
    few_rows = by_rows(calls)
    found = Results(times, memory, grown, per_call(calls), few_rows, imports(calls // 30), reshaped, scaled)
    say("done")
    return found


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--rows", type=int, help="for another number than usual the page is printed, not written")
    parser.add_argument("--rounds", type=int)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="few rows; the page is printed, not written")
    size.add_argument("--full", action="store_true", help="10^8 rows in memory, 10^9 on the disk, of 30 GB")
    options = parser.parse_args()
    quick = options.quick
    rows = options.rows or (100_000 if quick else 10_000_000)
    rounds = options.rounds or (2 if quick else 3)
    shapes = [shape for shape in SHAPES if not quick or shape != "20 x 500k"]
    sizes = [10**power for power in range(5, 7 if quick else 9 if options.full else 8)]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(shapes, rows, rounds, sizes, 90 if quick else 300, Path(folder), engines=not quick)
    made = page(found, rows, rounds)
    if options.quick or options.rows:
        print(made)
    else:
        Path(__file__).with_name("REPORT.md").write_text(made, encoding="utf-8")
