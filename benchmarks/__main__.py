"""Measure frame_pr, paired with another checkout and with other libraries.

Run:  python -m benchmarks [--base CHECKOUT] [--rows 2000000] [--rounds 5] [--peers] [--write]

Prints ratios of CPU time and of peak memory as Markdown. The calls take turns: this checkout, then
the other, in processes of their own with one thread, and a ratio is the median over the rounds.
`--peers` adds other libraries, as multiples of frame_pr. `--write` puts the tables into
benchmarks/REPORT.md, and those of `--peers` with their chart into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.worker import CALLS, PEERS, SHAPES, rows_of

ROOT = Path(__file__).parents[1]
LARGE = [shape for shape in SHAPES if shape != "10 rows"]
LIMITS = {"average_precision": 1.35, "curve": 1.35, "18 metrics": 1.35, "with_curve": 1.35}
FEW_TIED, SMALL_GROUPS = 1.8, {"average_precision": 1.45, "curve": 1.45, "18 metrics": 3.5}
IMAGES = ROOT / "docs" / "images"


class Worker:
    """A process that runs calls of a checkout."""

    def __init__(self, checkout: Path) -> None:
        self.command = [sys.executable, str(ROOT / "benchmarks" / "worker.py")]
        paths = [str(checkout), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "POLARS_MAX_THREADS": "1",
        }
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=self.environment,
        )

    def measure(self, *request: Any) -> tuple[float | None, Any]:
        """Return the seconds of CPU and the value of a call; without the library None, and why."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        seconds, value = json.loads(self.process.stdout.readline())
        return seconds, value

    def peak(self, file: Path, call: str) -> float:
        """Return the peak memory of a call in megabytes, in a new process."""
        command = [*self.command, json.dumps([str(file), call])]
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, env=self.environment
        ).stdout
        return float(json.loads(printed))


def limit(shape: str, tied: bool, call: str) -> float:
    """Return the target of a ratio to the other checkout."""
    if shape == "400k x 5":
        return SMALL_GROUPS.get(call, 1.45)
    return FEW_TIED if tied and shape in ("20 x 100k", "1 x 2M") else LIMITS.get(call, 1.35)


def ratios_to(base: Path, rows: int, rounds: int) -> Iterator[list[str]]:
    """Return a line for each call: its seconds and the ratio of CPU time, for each shape."""
    here, there = Worker(ROOT), Worker(base)
    cases = list(product(LARGE, (True, False)))
    yield ["call", *(f"{shape}, {'tied' if tied else 'untied'}" for shape, tied in cases)]
    for call in CALLS:
        cells = []
        for shape, tied in cases:
            pairs = []
            for turn in range(rounds + 1):
                (seconds, value), (other, expected) = (
                    side.measure(shape, tied, rows, call) for side in (here, there)
                )
                assert abs(value - expected) <= 1e-9 * max(1, abs(expected)), (
                    shape,
                    tied,
                    call,
                    value,
                    expected,
                )
                if turn:  # The first one generates the rows and warms up.
                    pairs.append((seconds, seconds / other))
            ratio = median(ratio for _, ratio in pairs)
            mark = "" if ratio <= limit(shape, tied, call) else " (!)"
            cells.append(
                f"{ratio:.2f}{mark} ({median(seconds for seconds, _ in pairs) * 1000:.0f} ms)"
            )
        yield [call, *cells]


def peaks_to(base: Path, rows: int) -> Iterator[list[str]]:
    """Return a line for each call: its peak memory per row, and the ratio to the other checkout."""
    here, there = Worker(ROOT), Worker(base)
    cases = list(product(LARGE, (True, False)))
    yield ["call", *(f"{shape}, {'tied' if tied else 'untied'}" for shape, tied in cases)]
    with TemporaryDirectory() as folder:
        files = {case: Path(folder) / f"{place}.arrow" for place, case in enumerate(cases)}
        for (shape, tied), file in files.items():
            rows_of(shape, tied, rows).write_ipc(file, compression="uncompressed")
            rows_of.cache_clear()
        for call in CALLS:
            peaks = [(here.peak(file, call), there.peak(file, call)) for file in files.values()]
            yield [
                call,
                *(
                    f"{own / max(other, 0.1):.2f} ({own * 2**20 / rows:.0f} B)"
                    for own, other in peaks
                ),
            ]


def small_to(base: Path | None, rounds: int) -> Iterator[list[str]]:
    """Return a line for each call on ten rows: milliseconds, and those of the other checkout."""
    sides = [Worker(ROOT), *([Worker(base)] if base else [])]
    yield ["call on 10 rows", "ms of CPU", *(["ms of the other checkout"] if base else [])]
    for call in ("average_precision", "curve", "18 metrics", "LazyFrame"):
        seconds = [
            [side.measure("10 rows", False, 10, call)[0] for side in sides]
            for _ in range(rounds + 1)
        ][1:]
        yield [call, *(f"{median(column) * 1000:.1f}" for column in zip(*seconds, strict=True))]


def peers(rows: int, rounds: int) -> dict[str, list[float | None]]:
    """Return multiples of the CPU time of frame_pr by library, in the order of the cases."""
    worker, found = Worker(ROOT), dict[str, list[float | None]]()
    for name in PEERS:
        own = "curve" if name.endswith("curve") else "average_precision"
        for shape, tied in product(LARGE, (True, False)):
            pairs = []
            for turn in range(rounds + 1):
                (seconds, value), (other, expected) = (
                    worker.measure(shape, tied, rows, call) for call in (own, name)
                )
                if other is None:
                    print(f"{name}: {expected}", file=sys.stderr)
                    break
                if expected and own == "average_precision":
                    assert abs(value - expected) <= 1e-6 * abs(value), (
                        name,
                        shape,
                        tied,
                        value,
                        expected,
                    )
                if turn:
                    pairs.append(other / seconds)
            found.setdefault(name, []).append(median(pairs) if pairs else None)
    return found


def peer_table(found: dict[str, list[float | None]]) -> Iterator[list[str]]:
    """Return a line for each library."""
    yield [
        "library",
        *(
            f"{shape}, {'tied' if tied else 'untied'}"
            for shape, tied in product(LARGE, (True, False))
        ),
    ]
    for name, ratios in found.items():
        yield [
            name,
            *("-" if ratio is None else f"{ratio:.{0 if ratio >= 10 else 1}f}" for ratio in ratios),
        ]


def draw(found: dict[str, list[float | None]]) -> None:
    """Draw the multiples of frame_pr's time, once for a light page and once for a dark one."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "frame_pr"
    cases = [(shape, tied) for shape, tied in product(LARGE, (True, False))]
    names = [
        name for name, ratios in found.items() if None not in ratios and not name.endswith("curve")
    ]
    for suffix, ink, colors in (
        ("", "#1f2328", ("#005a9c", "#c98602")),
        ("-dark", "#e6edf3", ("#6cb6ff", "#f0b849")),
    ):
        figure, axes = plt.subplots(
            1, len(LARGE), figsize=(10, 2.6), sharey=True, layout="constrained"
        )
        for axis, shape in zip(axes, LARGE, strict=True):
            for offset, tied, color in ((0.2, True, colors[0]), (-0.2, False, colors[1])):
                values = [found[name][cases.index((shape, tied))] or 0 for name in names]
                places = [place + offset for place in range(len(names))]
                axis.barh(
                    places,
                    values,
                    0.38,
                    left=0,
                    color=color,
                    label="tied scores" if tied else "untied scores",
                )
            axis.set(xscale="log", xlim=(1, 20_000), yticks=range(len(names)), yticklabels=names)
            axis.set_title(
                f"{shape.replace(' x ', ' groups of ').replace('1 groups', '1 group')}",
                color=ink,
                fontsize=9,
            )
            axis.xaxis.set_major_formatter("{x:,.0f}")
            axis.tick_params(colors=ink, labelsize=8)
            axis.spines[["top", "right"]].set_visible(False)
            axis.spines[["left", "bottom"]].set_color(ink)
        label = "CPU time of average precision, as a multiple of that of frame_pr (log scale)"
        figure.supxlabel(label, color=ink, fontsize=9)
        axes[-1].legend(fontsize=8, frameon=False, labelcolor=ink)
        figure.savefig(
            IMAGES / f"performance{suffix}.svg", transparent=True, metadata={"Date": None}
        )


def markdown(lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    head, *body = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([head, "|" + " --- |" * (head.count("|") - 1), *body])


def fill(path: Path, name: str, text: str) -> None:
    """Replace what is between the comments `<!-- name -->` and `<!-- end of name -->` of a page."""
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(f"<!-- {name} -->\n")
    after = rest.partition(f"<!-- end of {name} -->")[2]
    path.write_text(
        f"{before}<!-- {name} -->\n{text}\n<!-- end of {name} -->{after}", encoding="utf-8"
    )


def versions() -> str:
    """Return the versions of Python and of the libraries."""
    texts = [f"Python {sys.version.split()[0]}"]
    for name in ("polars", "numpy", "polarbearings", "scors", "polars_ds", "scikit-learn"):
        try:
            texts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(texts) + f", {os.cpu_count()} CPUs, one thread."


def main() -> None:
    """Read the command line, measure, and print or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--base", type=Path, help="another checkout of frame_pr")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="compare with other libraries")
    parser.add_argument(
        "--write", action="store_true", help="write benchmarks/REPORT.md and docs/performance.md"
    )
    options = parser.parse_args()
    texts = {"versions": versions(), "small": markdown(small_to(options.base, options.rounds))}
    if options.base:
        texts["time"] = markdown(ratios_to(options.base, options.rows, options.rounds))
        texts["memory"] = markdown(peaks_to(options.base, options.rows))
    if options.peers:
        found = peers(options.rows, min(options.rounds, 3))
        texts["peers"] = markdown(peer_table(found))
        if options.write:
            draw(found)
            fill(ROOT / "docs" / "performance.md", "times", texts["peers"])
    for name, text in texts.items():
        if options.write:
            fill(ROOT / "benchmarks" / "REPORT.md", name, text)
        print(f"\n{name}\n\n{text}", flush=True)


if __name__ == "__main__":
    main()
