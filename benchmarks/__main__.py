"""Measure frame_pr: `python3 dev.py bench`, or `python -m benchmarks`.

Prints tables as Markdown: times of other libraries, the targets, ten rows and the peak of memory.
`--base CHECKOUT` compares time and memory with another checkout, in addition. Libraries and
checkouts take turns, in processes with one thread each. All times are CPU time, and a ratio is the
median over the rounds. Values are compared before a time counts.

`python -m benchmarks base --base ../other --only "tie_break" --rows 5000000` measures some calls
of one table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib.metadata import distributions
from itertools import product
from math import isclose
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.cases import OF_GROUPS, SHAPES, TASKS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "benchmarks" / "REPORT.md", ROOT / "docs" / "performance.md"
IMAGES = ROOT / "docs" / "images"
CASES = [f"{shape}, {scores}" for shape, scores in product(SHAPES, ("tied", "untied"))]
TWO_SHAPES = [case for case in CASES if case.startswith(("20k x 100", "1 x 2M"))]
OF_MEMORY = "average_precision", "curve", "18 metrics", "with_curve", "float weights", "LazyFrame"
LIBRARIES = "polarbearings", "DuckDB", "polars_ds", "scors", "scikit-learn"
THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "NUMBA", "RAYON")} | {
    "POLARS_MAX_THREADS": "1"
}
ALLOCATOR = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}
"""Freed memory goes back to the system at once, so that a peak does not depend on when it does."""
Line = Sequence[str]


class Options(NamedTuple):
    """The command line."""

    base: Path | None
    rows: int
    rounds: int
    only: str


# processes that measure
# -----------------------------------------------------------------------------------------------


class Worker:
    """A process that runs calls with frame_pr of a checkout. `packages`: a folder of libraries."""

    def __init__(self, checkout: Path, packages: Path | None = None) -> None:
        paths = [str(path) for path in (packages, checkout) if path]
        self.command = [sys.executable, "-P", str(ROOT / "benchmarks" / "cases.py")]
        self.environment = {**os.environ, **THREADS, "PYTHONPATH": os.pathsep.join(paths)}
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=self.environment,
        )

    def measure(self, *request: Any) -> tuple[float | None, Any]:
        """Return the seconds of CPU and the means of a call; without the library None, and why."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        seconds, means = json.loads(self.process.stdout.readline())
        return seconds, means

    def peak(self, call: str, file: Path) -> float:
        """Return the peak memory of a call in megabytes, in a new process."""
        command = [*self.command, call, str(file)]
        environment = {**self.environment, **ALLOCATOR}
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, env=environment
        ).stdout
        return float(json.loads(printed))


Run = tuple[Worker, str]
"""A process, and the call that it runs."""
Times = dict[Run, list[float]]
"""The seconds of each run in each round."""


def in_turns(task: str, runs: Sequence[Run], options: Options, rounds: int) -> Times:
    """Return the seconds of calls that take turns.

    The first round makes the data, compiles what is compiled late, and does not count.
    """
    times: Times = {run: [] for run in runs}
    for turn in range(rounds + 1):
        expected: dict[str, float] = {}
        for run in runs:
            worker, call = run
            seconds, means = worker.measure(task, call, options.rows)
            if seconds is None:
                raise SystemExit(f"{task}: {call}: {means}; run python3 dev.py bench")
            _compare(f"{task}: {call}", means, expected)
            if turn:
                times[run].append(seconds)
    return times


def _compare(name: str, means: dict[str, float], expected: dict[str, float]) -> None:
    """Raise if a mean differs from that of a run before.

    ranx leaves the order of ties open, and trec_eval rounds some levels of recall.
    """
    for metric, mean in means.items():
        tolerance = 1e-3 if "ranx" in name or "iprec" in metric else 1e-12
        before = expected.setdefault(metric, mean)
        if not isclose(mean, before, rel_tol=tolerance, abs_tol=tolerance):
            raise SystemExit(f"{name}: {metric} is {mean}, and not {before}")


def ratio(seconds: Sequence[float], divisors: Sequence[float]) -> float:
    """Return the median ratio of two times over the rounds."""
    return median(one / two for one, two in zip(seconds, divisors, strict=True))


def in_ms(times: Sequence[float]) -> str:
    """Return the median in milliseconds, with two digits at least."""
    value = median(times) * 1000
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def multiple(value: float) -> str:
    """Return a multiple with two digits."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}" if value < 1 else f"{value:.1f}"


# tables
# -----------------------------------------------------------------------------------------------


def per_group(options: Options) -> Iterator[Line]:
    """Yield multiples of the CPU time of average precision, by shape and library."""
    worker = Worker(ROOT)
    ours = worker, "average_precision"
    yield ["data", "frame_pr, ms", *LIBRARIES, "rapidstats"]
    for case in CASES:
        if not re.search(options.only, case):
            continue
        names = [name for name in (*LIBRARIES, "rapidstats") if name in TASKS[case].others]
        runs = [ours, *((worker, name) for name in names)]
        times = in_turns(case, runs, options, min(options.rounds, 3))
        ratios = [multiple(ratio(times[run], times[ours])) for run in runs[1:]]
        yield [case, in_ms(times[ours]), *ratios, *["-"] * (1 + len(LIBRARIES) - len(ratios))]


class Comparison(NamedTuple):
    """A call of ours, and those of other libraries that compute the same."""

    title: str
    task: str
    ours: str
    others: Sequence[str]


COMPARISONS = [
    Comparison(
        "ROC AUC, 1 x 2M, untied",
        "1 x 2M, untied",
        "roc_auc",
        ["rapidstats, roc_auc", "polarbearings, roc_auc", "scikit-learn, roc_auc"],
    ),
    *(
        Comparison(f"curve, {case}", case, "curve", ["polarbearings, curve"])
        for case in ("1 x 2M, tied", "1 x 2M, untied")
    ),
    Comparison(
        "MAP of a run and judgments, with the time to build dicts or objects",
        "search",
        "MAP, TREC_EVAL, two frames",
        ["pytrec_eval, MAP, with its dicts", "ranx, MAP, with its objects"],
    ),
    Comparison(
        "MAP of joined rows, dicts or objects",
        "search",
        "MAP, TREC_EVAL",
        ["pytrec_eval, MAP", "ranx, MAP"],
    ),
    Comparison(
        "42 measures of a run and judgments, likewise",
        "search",
        "42 measures, TREC_EVAL, two frames",
        ["pytrec_eval, 42 measures, with its dicts", "ranx, 31 measures, with its objects"],
    ),
    Comparison(
        "42 measures of joined rows, dicts or objects",
        "search",
        "42 measures, TREC_EVAL",
        ["pytrec_eval, 42 measures", "ranx, 31 measures"],
    ),
    Comparison("six metrics of 100,000 lists", "lists", "six metrics", ["RecTools", "DuckDB"]),
    Comparison(
        "average precision of ten rows",
        "10 rows",
        "average_precision",
        ["polarbearings", "scikit-learn"],
    ),
]


class Target(NamedTuple):
    """The most that a call may need, in multiples of another call, or in milliseconds."""

    title: str
    task: str
    call: str
    other: str | None
    limit: float


TARGETS = [
    Target("text `tie_break` / without", "search", "MAP, tie_break", "MAP", 1.2),
    Target("`TREC_EVAL` / average precision", "search", "MAP, TREC_EVAL", "MAP", 1.5),
    Target("42 measures / average precision", "search", "42 measures", "MAP", 2.0),
    Target(
        "run and judgments to 42 measures / pytrec_eval with its dicts",
        "search",
        "42 measures, TREC_EVAL, two frames",
        "pytrec_eval, 42 measures, with its dicts",
        0.6,
    ),
    Target("six list metrics / RecTools", "lists", "six metrics", "RecTools", 0.6),
    Target("six list metrics / DuckDB", "lists", "six metrics", "DuckDB", 2.0),
    Target("average precision of ten rows, ms", "10 rows", "average_precision", None, 2.2),
]


@cache
def measured(options: Options) -> dict[tuple[str, str], list[float]]:
    """Return the seconds of all calls of the comparisons and targets, by task and call."""
    worker = Worker(ROOT)
    # RecTools needs older versions of pandas and numpy, which are in a folder of their own.
    others = {"RecTools": Worker(ROOT, Path(sys.prefix) / "rectools")}
    needed = [(item.task, call) for item in COMPARISONS for call in (item.ours, *item.others)]
    needed += [(item.task, call) for item in TARGETS for call in (item.call, item.other) if call]
    times = {}
    for name in dict.fromkeys(task for task, _ in needed):
        if not re.search(options.only, name):
            continue
        calls = dict.fromkeys(call for task, call in needed if task == name)
        runs = [(others.get(call, worker), call) for call in calls]
        of_runs = in_turns(name, runs, options, options.rounds)
        times |= {(name, call): seconds for (_, call), seconds in of_runs.items()}
    return times


def other_tasks(options: Options) -> Iterator[Line]:
    """Yield a line for each task, with the other libraries as multiples of frame_pr's time."""
    times = measured(options)
    yield ["task", "frame_pr, ms", "multiple of its time"]
    for item in COMPARISONS:
        if (item.task, item.ours) not in times:
            continue
        ours = times[item.task, item.ours]
        others = [
            f"{name.partition(', ')[0]} {multiple(ratio(times[item.task, name], ours))}"
            for name in item.others
        ]
        yield [item.title, in_ms(ours), ", ".join(others)]


def targets(options: Options) -> Iterator[Line]:
    """Yield a line for each target."""
    times = measured(options)
    yield ["target", "at most", "measured"]
    for item in TARGETS:
        if (item.task, item.call) not in times:
            continue
        seconds = times[item.task, item.call]
        value = median(seconds) * 1000
        if item.other:
            value = ratio(seconds, times[item.task, item.other])
        yield _target(item.title, item.limit, value)
    if re.search(options.only, "import"):
        yield _target("`import frame_pr` after polars, ms", 40, import_ms())


def _target(title: str, limit: float, value: float) -> Line:
    mark = " (!)" if value > limit else ""
    return [title, f"{limit:g}", f"{value:.2f}{mark}"]


def import_ms() -> float:
    """Return the CPU time of importing frame_pr after polars: the median of 20 processes."""
    code = (
        "import time, polars; start = time.process_time(); import frame_pr; "
        "print(1000 * (time.process_time() - start))"
    )
    command = [sys.executable, "-c", code]
    environment = os.environ | THREADS
    times = [
        float(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).stdout)
        for _ in range(20)
    ]
    return median(times)


def peaks(options: Options, base: Path | None = None) -> Iterator[Line]:
    """Yield the peak memory of each call in bytes per row above the input.

    `base`: another checkout. Then it is the ratio to that, and the bytes in parentheses.
    """
    sides = [Worker(checkout) for checkout in (ROOT, base) if checkout]
    calls = [call for call in OF_MEMORY if re.search(options.only, call)]
    lines = {call: [call] for call in calls}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows.arrow"
        for case in TWO_SHAPES:
            TASKS[case].data(options.rows).frame.write_ipc(file, compression="uncompressed")
            for call in calls:
                sizes = [side.peak(call, file) * 2**20 / options.rows for side in sides]
                lines[call].append(f"{sizes[0]:.0f}")
                if base:
                    lines[call][-1] = f"{sizes[0] / max(sizes[1], 0.1):.2f} ({sizes[0]:.0f} B)"
    yield ["call", *TWO_SHAPES]
    yield from lines.values()


def base_peaks(options: Options) -> Iterator[Line]:
    """Yield the peak memory, compared with the other checkout."""
    return peaks(options, options.base)


def base_times(options: Options, calls: Collection[str] = OF_GROUPS) -> Iterator[Line]:
    """Yield a line for each data, with the ratio of each call to the other checkout."""
    assert options.base is not None
    here, there = Worker(ROOT), Worker(options.base)
    yield ["data", *calls]
    for name, task in TASKS.items():
        measured = [
            call
            for call in calls
            if call in task.ours and re.search(options.only, f"{name}: {call}")
        ]
        cells = dict.fromkeys(calls, "-")
        for call in measured:
            times = in_turns(name, [(here, call), (there, call)], options, options.rounds)
            value = ratio(times[here, call], times[there, call])
            mark = " (!)" if value > 1.05 else ""
            cells[call] = f"{value:.2f}{mark} ({in_ms(times[here, call])} ms)"
        if measured:
            yield [name, *cells.values()]


def base_searches(options: Options) -> Iterator[Line]:
    """Yield the same for runs with judgments, and for lists."""
    return base_times(options, [*TASKS["search"].ours, *TASKS["lists"].ours])


def draw(table: str) -> None:
    """Draw the multiples of frame_pr's time, once for a light page and once for a dark one."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "frame_pr"
    head, _, *cells = [line.strip("| ").split(" | ") for line in table.splitlines()]
    multiples = {case: dict(zip(head[1:], values, strict=True)) for case, *values in cells}
    for suffix, ink, colors in (
        ("", "#1f2328", ("#005a9c", "#c98602")),
        ("-dark", "#e6edf3", ("#6cb6ff", "#f0b849")),
    ):
        figure, axes = plt.subplots(
            1, len(SHAPES), figsize=(10, 2.6), sharey=True, layout="constrained"
        )
        for axis, shape in zip(axes, SHAPES, strict=True):
            for offset, scores, color in zip((0.2, -0.2), ("tied", "untied"), colors, strict=True):
                values = [float(multiples[f"{shape}, {scores}"][name]) - 1 for name in LIBRARIES]
                places = [place + offset for place in range(len(LIBRARIES))]
                axis.barh(places, values, 0.38, left=1, color=color, label=f"{scores} scores")
            ticks = range(len(LIBRARIES))
            axis.set(xscale="log", xlim=(0.5, 20_000), yticks=ticks, yticklabels=LIBRARIES)
            title = shape.replace(" x ", " groups of ").replace("1 groups", "1 group")
            axis.set_title(title, color=ink, fontsize=9)
            axis.xaxis.set_major_formatter("{x:,.0f}")
            axis.tick_params(colors=ink, labelsize=8)
            axis.axvline(1, color=ink, linewidth=0.8)  # A bar to the left of it is faster.
            axis.spines[["top", "right", "left"]].set_visible(False)
            axis.spines["bottom"].set_color(ink)
        label = "CPU time of average precision, as a multiple of that of frame_pr (log scale)"
        figure.supxlabel(label, color=ink, fontsize=9)
        axes[-1].legend(fontsize=8, frameon=False, labelcolor=ink)
        file = IMAGES / f"performance{suffix}.svg"
        figure.savefig(file, transparent=True, metadata={"Date": None})


# the command
# -----------------------------------------------------------------------------------------------


TABLES: dict[str, Callable[[Options], Iterator[Line]]] = {
    "groups": per_group,
    "others": other_tasks,
    "targets": targets,
    "memory": peaks,
}
"""The tables of the page."""
BASE_TABLES = {"base": base_times, "base-search": base_searches, "base-memory": base_peaks}


def versions() -> str:
    """Return the versions of Python and of the libraries that are installed."""
    names = "polars numpy polarbearings duckdb polars_ds scors scikit-learn rapidstats"
    names += " pytrec_eval-terrier ranx rectools"
    path = [*sys.path, str(Path(sys.prefix) / "rectools")]
    texts = [f"Python {sys.version.split()[0]}"]
    for name in names.split():
        texts += [f"{name} {library.version}" for library in distributions(name=name, path=path)][
            :1
        ]
    return ", ".join(texts) + f", {os.cpu_count()} CPUs, one thread."


def fill(path: Path, name: str, text: str) -> None:
    """Replace what is between the comments `<!-- name -->` and `<!-- end of name -->` of a page."""
    page = path.read_text(encoding="utf-8")
    before, start, rest = page.partition(f"<!-- {name} -->\n")
    if start:
        after = rest.partition(f"<!-- end of {name} -->")[2]
        page = f"{before}{start}{text}\n<!-- end of {name} -->{after}"
        path.write_text(page, encoding="utf-8")


def main() -> None:
    """Read the command line, measure, and print or write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*TABLES, *BASE_TABLES]
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(names)}; all by default")
    parser.add_argument("--base", type=Path, help="another checkout of frame_pr")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="a regular expression of data and calls")
    parser.add_argument(
        "--write", action="store_true", help="write benchmarks/REPORT.md and docs/performance.md"
    )
    words = parser.parse_args()
    if not {*words.tables} <= {*names}:
        parser.error(f"tables are {', '.join(names)}")
    if words.base is None and not BASE_TABLES.keys().isdisjoint(words.tables):
        parser.error("this table compares with another checkout: --base CHECKOUT")
    options = Options(words.base, words.rows, words.rounds, words.only)
    tables = words.tables or [*TABLES, *(BASE_TABLES if words.base else [])]
    texts = {"versions": versions()}
    for name in tables:
        print(f"\n{name}\n", flush=True)
        lines = []
        for cells in {**TABLES, **BASE_TABLES}[name](options):
            line = f"| {' | '.join(cells)} |"
            if not lines:
                line += "\n|" + " --- |" * len(cells)
            print(line, flush=True)
            lines.append(line)
        texts[name] = "\n".join(lines)
    if words.write:
        for page, (name, text) in product(PAGES, texts.items()):
            fill(page, name, text)
        if "groups" in texts:
            draw(texts["groups"])


if __name__ == "__main__":
    main()
