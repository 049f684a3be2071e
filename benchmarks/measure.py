"""Time, peak memory, the cost of an import, each measured in a way that others can repeat."""

from __future__ import annotations

import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

THREADS = 2
PATIENCE = 5.0  # seconds: a contender that has taken longer in all is not run again


def pin() -> None:
    """Two threads on two cores, for this process and those it starts. To be called before polars is imported."""
    os.environ["POLARS_MAX_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(THREADS)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


class Times(NamedTuple):
    """Seconds, and of how many runs."""

    best: float
    median: float
    runs: int

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        """Of the seconds that each run took."""
        return cls(min(seconds), statistics.median(seconds), len(seconds))

    def over(self, share: float) -> Times:
        """Extrapolated from this share of the work."""
        return Times(self.best / share, self.median / share, self.runs)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def in_turns(
    runs: Mapping[str, Callable[[], Any]],
    rounds: int,
    check: Callable[[str, Any], None] = lambda name, result: None,
    *,
    repeats: int = 1,
) -> dict[str, Times]:
    """All of them once, then all of them again: a machine that slows down meanwhile slows down all alike.

    `check` is given the name and the result of each run of the first turn. `repeats`: runs of each in a row.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds):
        for name, run in chain.from_iterable([item] * repeats for item in runs.items()):
            if sum(seconds[name]) < PATIENCE:
                taken, result = timed(run)
                seconds[name].append(taken)
                if turn == 0:
                    check(name, result)
                del result  # before the next one runs
    return {name: Times.of(taken) for name, taken in seconds.items()}


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function gives, in a process that has done nothing else."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def peak_above(run: Callable[[], Any]) -> int:
    """Bytes that this process holds at most during the run, less what it held before. Reads /proc: Linux only."""
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the peak so far
    run()
    return memory("VmHWM") - before


def memory(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at most so far. A child does not begin with the peak of its parent."""
    kilobytes = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert kilobytes is not None
    return int(kilobytes[1]) * 1024


def import_seconds(module: str, after: tuple[str, ...], runs: int) -> Times:
    """CPU time that the import of a module adds to a process that has imported the others, each in a new process."""
    before = "".join(f"import {name}\n" for name in after)
    code = f"import sys, time\n{before}start = time.process_time()\nimport {module}\n"
    code += "print(time.process_time() - start)\nassert 'matplotlib' not in sys.modules"
    # The first one compiles what is not compiled yet, and keeps it.
    keeps = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    commands = [[sys.executable, "-c", code]] * (runs + 1)
    printed = [
        subprocess.run(each, capture_output=True, encoding="utf-8", check=True, env=keeps).stdout for each in commands
    ]
    return Times.of([float(line) for line in printed[1:]])
