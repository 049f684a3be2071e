"""The page of results, as Markdown."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

import polars as pl

from benchmarks import databases
from benchmarks.calls import BASE
from benchmarks.contenders import EVERYWHERE, SEARCH, SMALL
from benchmarks.measure import Times
from benchmarks.peers import OURS, RESULT_LIST, SUITE_GROUPS
from benchmarks.results import Results
from benchmarks.small import ROWS
from benchmarks.targets import targets

PACKAGES = ["polars", "pandas", "numpy", "numba", "polarbearings", "polars_ds", "scikit-learn", "scors", "ranx"]
PACKAGES += ["pytrec_eval-terrier", "duckdb", "ibis-framework"]

TEXT = """# Benchmarks

Made by `make bench` from one run on one machine: run it to have your own. `make bench QUICK=1` prints the same tables
for fewer rows.

{machine}

Ratios are of best runs, within this run; the contenders of a table take turns, so that a slow minute slows all alike.
Rows are in random order. Unless a table says otherwise, one row in ten is a positive, keys are Int64, scores are
Float64 rounded to 3 digits, so that many are tied. A shape is groups x rows of a group for 10M rows; with fewer rows
there are fewer groups of 100 and of 5 rows, and shorter ones of the other kinds. The sizes of the skewed groups follow
a power law, from a tenth of all rows down to one row.

## What is aimed at, and what was measured

The aims are for 10M rows. With few rows, the fixed cost of a call outweighs what is compared here.

{targets}

## Average precision, and who else computes it

How many times our time each of them takes. **Bold: faster than ours.** Before a time counts, the values are compared
with ours, in all groups that were computed.

Tied scores:

{tied}

No tied scores:

{untied}

- *df.sort(by, score)* gives no value at all: it is what one plain sort of the rows costs.
- *compiled kernel*: `benchmarks/kernel.py`, loops compiled by numba, compilation not counted. It is handed groups that
  are numbered already, knows one metric and checks nothing. *Halves sorted apart* sorts positives and negatives on
  their own, a shortcut that few other metrics could use.
- *polars_ds* computes four more figures with it. It stops with an error at a group that has no positives, so it is
  given none, which counts in its favour. *scikit-learn* and *scors* are
  given arrays that are split by group already.
- *scikit-learn*, *scors*, *pandas*, *polars_ds*, *ranx* and *pytrec_eval* are given a sample of the groups, evenly
  spaced by size, and their times are **extrapolated** to all.
- *ranx* keeps the order of its input for tied scores, and *pytrec_eval* sorts them by document. So they are compared
  where no scores are tied, and only where no group has more than {result_list:,} rows. *conversion* makes their input
  of a frame, and is not in the row below it.
{absent}
## More than average precision

How many times our time each takes for what both have, on at most {suite_groups:,} groups. Of the curve, polarbearings
gives two columns and ours has ten. *ranx* is asked and extrapolated as above, without its conversion.

{suites}

## Calls, frames, keys, data, policies

Each over the first row: average precision of a polars DataFrame with the defaults. Other calls, frames and keys are
checked to give the same average precision. `scan_parquet` reads the file as well.

{variations}

## Peak memory

Bytes a row, held at most during a call above what was held before it, in a process of its own that has the rows in
memory. Memory that was freed and not yet given back to the system counts. `scan_parquet` reads the rows once more.

{memory}

## Growth

Average precision, each number of rows in its own process. The exponent is that of the power of the rows that fits the
times best: 1 is linear.

{growth}

## Lists and tallies

A user for every 100 of the rows above, with a list of 20 items and one of 5 that are relevant. Rows and scores of
tallies are random, one in ten is a positive, and no scores are tied; the last row has as many rows as the tally.

{reshaped}

## More rows than memory

`benchmarks/scale.py`: eight metrics, from parquet files to parquet files. A process for each; memory is that of all of
its processes. Backends are started before, by a call on a thousand rows.
[More](howto/files.md#measured-time-and-memory).

{scaled}

## Rows in a database

`benchmarks/databases.py`: average precision of so many rows in a DuckDB file of five columns, whose scores have 4
digits. A process for each; medians. frame_pr chooses by a sample of 1 % of the rows. The SQL query groups by score and
then sums over windows. [More](databases.md#when-the-database-counts-the-rows).

{stored}

## Small calls and imports

A call on a frame of {small} rows, one of sign flips and a picture. The peers' sampling and conversions are not in their
calls.

{per_call}

Average precision of one group of so many rows, best in ms. *scikit-learn* and *scors* are given arrays, and check less.

{few_rows}

CPU time of an import in a new process. None of them imports matplotlib: the run would have stopped.

{imports}

## Ways to sort, number and sum

Each over the first row, on scores that are not tied. The [sort key](decisions/001-one-sorted-integer.md) rests on it.

{sorts}

## All seconds

Best and median, and of how many runs: what takes long is run less often.

<details>
<summary>The table</summary>

{seconds}

</details>
"""


def page(found: Results, rows: int, rounds: int) -> str:
    """All of it."""
    times = found.times
    return TEXT.format(
        machine=_machine(rows, rounds),
        targets=_targets(found),
        tied=_ratios(times["tied"], OURS, mark_losses=True),
        untied=_ratios(times["untied"], OURS, mark_losses=True),
        result_list=RESULT_LIST,
        absent=_absent(times["untied"]),
        suite_groups=SUITE_GROUPS,
        suites=_suites(times["suites"]),
        variations=_ratios(times["variations"], BASE),
        memory=_table(
            ["case", *times["tied"]],
            (
                [name, *(_number(by_shape.get(shape)) for shape in times["tied"])]
                for name, by_shape in found.memory.items()
            ),
        ),
        growth=_growth(found),
        small=ROWS,
        per_call=_table(
            ["call", "best, ms", "median, ms"],
            ([name, _number(t.best * 1e3), _number(t.median * 1e3)] for name, t in found.per_call.items()),
        ),
        few_rows=_table(
            ["who", *(f"{rows:,}" for rows in found.few_rows)],
            (
                [
                    name,
                    *(_number(times[name].best * 1e3 if name in times else None) for times in found.few_rows.values()),
                ]
                for name in (OURS, *SMALL)
            ),
        ),
        imports=_table(
            ["import", "best, ms", "median, ms"],
            ([name, _number(t.best * 1e3), _number(t.median * 1e3)] for name, t in found.imports.items()),
        ),
        reshaped=_table(
            ["call", "best, s", "median, s"],
            ([name, _number(t.best), _number(t.median)] for name, t in found.reshaped.items()),
        ),
        scaled=_table(
            ["case", "way", "s", "peak, GiB"],
            (
                [case, way, f"{taken.seconds:.1f}", _number(taken.peak)]
                for case, ways in found.scaled.items()
                for way, taken in ways.items()
            ),
        ),
        stored=_table(databases.HEAD, databases.table(found.stored)),
        sorts=_ratios(times["sorts"], next(iter(next(iter(times["sorts"].values()))))),
        seconds=_seconds(times),
    )


def _machine(rows: int, rounds: int) -> str:
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    return (
        f"{rows:,} rows, {rounds} rounds; {pl.thread_pool_size()} threads on a machine of {os.cpu_count()} CPUs.\n"
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )


def _targets(found: Results) -> str:
    cells = []
    for target in targets(found):
        wanted = f"{'>=' if target.at_least else '<='} {target.limit:g}"
        measured = ", ".join(f"{case}: {_number(value)}" for case, value in target.measured.items())
        verdict = f"**not met**: {', '.join(target.missed)}" if target.missed else "met"
        cells.append([target.aim, wanted, measured, verdict])
    return _table(["aim", "wanted", "measured", "verdict"], cells)


def _ratios(by_shape: Mapping[str, Mapping[str, Times]], base: str, mark_losses: bool = False) -> str:
    """A row for each name, with the seconds of the base in the first."""
    names = dict.fromkeys(name for times in by_shape.values() for name in times)
    cells = []
    for name in names:
        row = [name]
        for times in by_shape.values():
            ratio = times[name].best / times[base].best if name in times else None
            number = _marked(ratio) if mark_losses else _number(ratio)
            row.append(f"{times[base].best:.3g} s" if name == base else number)
        cells.append(row)
    return _table(["case", *by_shape], cells)


def _suites(by_shape: Mapping[str, Mapping[str, Times]]) -> str:
    cells = []
    for name in dict.fromkeys(name for times in by_shape.values() for name in times if ", " in name):
        what = name.partition(", ")[2]
        found = [(times.get(what), times.get(name)) for times in by_shape.values()]
        cells.append([name, *(_marked(theirs.best / ours.best if ours and theirs else None) for ours, theirs in found)])
    return _table(["case", *by_shape], cells)


def _seconds(times: Mapping[str, Mapping[str, Mapping[str, Times]]]) -> str:
    cells = []
    for section, by_shape in times.items():
        for name in dict.fromkeys(name for found in by_shape.values() for name in found):
            row = [section, name]
            for found in by_shape.values():
                t = found.get(name)
                row.append(f"{t.best:.3g}, {t.median:.3g} ({t.runs})" if t else "-")
            cells.append(row)
    return _table(["section", "case", *next(iter(times.values()))], cells)


def _growth(found: Results) -> str:
    cells = []
    for shape, points in found.growth.items():
        for rows, (times, peak) in points.items():
            cells.append([shape, f"{rows:,}", f"{times.best:.3g}", f"{times.best / rows * 1e9:.3g}", _number(peak)])
        exponent = fitted_exponent({rows: times.best for rows, (times, _) in points.items()})
        cells.append([shape, "exponent", f"**{exponent:.2f}**", "", ""])
    return _table(["shape", "rows", "best, s", "ns a row", "peak, bytes a row"], cells)


def fitted_exponent(seconds: Mapping[int, float]) -> float:
    """The slope of the line through the logarithms."""
    x, y = [math.log(rows) for rows in seconds], [math.log(s) for s in seconds.values()]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def _absent(by_shape: Mapping[str, Mapping[str, Times]]) -> str:
    ran = {name for times in by_shape.values() for name in times}
    absent = [name for name in (*EVERYWHERE, *SEARCH) if name not in ran]
    return f"- Could not be imported where this ran: {', '.join(absent)}.\n" if absent else ""


def _marked(ratio: float | None) -> str:
    """Bold where the other one is faster."""
    return f"**{_number(ratio)}**" if ratio is not None and ratio < 1 else _number(ratio)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 10 else f"{value:.2f}"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
