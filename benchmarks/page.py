"""The page of results, as Markdown."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

import polars as pl

from benchmarks.calls import BASE
from benchmarks.contenders import EVERYWHERE, SEARCH, SMALL
from benchmarks.measure import Times
from benchmarks.peers import OURS, RESULT_LIST, SUITE_GROUPS
from benchmarks.results import Results
from benchmarks.small import REPEATS, ROWS
from benchmarks.targets import targets

PACKAGES = ["polars", "pandas", "numpy", "numba", "polarbearings", "polars_ds", "scikit-learn", "scors", "ranx"]
PACKAGES += ["pytrec_eval-terrier"]

TEXT = """# Benchmarks

This report has all measurements of speed and memory, and the targets of the developers. The page on
[performance](performance.md) has the main results.

`make bench` measures everything in one run on one machine and writes this page. `make bench QUICK=1` prints the same
tables for fewer rows.

{machine}

Ratios compare the best times of this run. The tools of a table run in turns, so that a slow minute slows all of them.
Rows are in random order. Unless a table says otherwise, one row in ten is positive, keys are Int64, and scores are
Float64 rounded to 3 digits, so that many scores are tied.

A shape is the number of groups times the rows per group, for 10M rows. With fewer rows, there are fewer groups of 100
and of 5 rows, and the groups of the other shapes are shorter. The sizes of the skewed groups follow a power law, from a
tenth of all rows down to one row.

## Average precision, compared with other tools

The first row is the time of frame_pr. The other rows are ratios: the time of the tool over the time of frame_pr.
**Bold: faster than frame_pr.** A time counts only if the values agree in all groups that the tool computed.

Tied scores:

{tied}

No tied scores:

{untied}

- *df.sort(by, score)* is one sort of the rows, without any metric.
- *compiled kernel* (`benchmarks/kernel.py`) has loops that numba compiles. The compilation is not measured. The kernel
  gets numbered groups, computes one metric and validates nothing. *Halves sorted apart* sorts positives and negatives
  separately, a shortcut that few other metrics can use.
- *polars_ds* computes four more metrics in the same call. It raises an error for a group without positives, so it gets
  only groups with positives, which is in its favour. *scikit-learn* and *scors* get arrays that are already split by
  group.
- *scikit-learn*, *scors*, *pandas*, *polars_ds*, *ranx* and *pytrec_eval* run on a sample of the groups, evenly spaced
  by size. Their times are **extrapolated** to all groups.
- *ranx* keeps the order of its input for tied scores, and *pytrec_eval* sorts them by document. So they run only on
  scores without ties, and on groups of at most {result_list:,} rows. *conversion* turns a frame into their input. The
  row below it does not contain this time.
{absent}
## More than average precision

Each ratio is the time of the tool over the time of frame_pr, for metrics that both compute, on at most
{suite_groups:,} groups. The curve of polarbearings has two columns, and the curve of frame_pr has ten. *ranx* is
sampled and extrapolated as above, without its conversion.

{suites}

## Calls, frames, keys, data, options

Each ratio is the time of a case over the time of the first row: average precision of a polars DataFrame with default
options. Other calls, frames and keys must give the same average precision. `scan_parquet` also reads the file.

{variations}

## Peak memory

The table has bytes per row: the peak memory during a call, minus the memory before the call. Each call runs in a new
process that has the rows in memory. Memory that was freed but not yet returned to the system is included.
`scan_parquet` reads the rows a second time.

{memory}

## Growth

The table has average precision, with a new process for each number of rows. The exponent belongs to the power law that
fits the times best: 1 is linear growth.

{growth}

## Lists and tallies

The lists have one user for every 100 of the rows above, with 20 recommended items and 5 relevant items. The rows and
scores of tallies are random, one row in ten is positive, and no scores are tied. The frame in the last row has as many
rows as the tally.

{reshaped}

## More rows than memory

`benchmarks/scale.py` computes eight metrics, from Parquet files to Parquet files. Each case runs in a new process, and
the memory is that of all its processes. A call on a thousand rows starts each backend before the measurement. See
[measured time and memory](howto/files.md#measured-time-and-memory).

{scaled}

## Small calls and imports

The table has calls on a frame of {small} rows, a permutation test and a plot. Each call runs {repeats} times before the
next one. The times of other tools do not contain their conversions.

{per_call}

Average precision of a single group, by the number of its rows: best times in ms. *scikit-learn* and *scors* get arrays
and validate less.

{few_rows}

CPU time of an import in a new process. The run stops with an error if one of them imports matplotlib.

{imports}

## Ways to sort, number and sum

Each ratio is the time of a case over the time of the first row, on scores without ties. The choice of the [sort
key](decisions/001-one-sorted-integer.md) follows from this table.

{sorts}

## Internal targets

The targets are for 10M rows. With few rows, the fixed cost of a call outweighs the differences.

{targets}

## All seconds

Each cell has the best time and the median, and the number of runs in brackets. Slow cases run less often.

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
        repeats=REPEATS,
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
