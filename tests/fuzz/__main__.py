"""Random calls by the hundred thousand: `make fuzz`, or `PYTHONPATH=tests python -m fuzz --help`."""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from typing import Any

from fuzz.calls import ENGINES
from fuzz.trying import SUBJECTS, prepared, tried_of


def main() -> None:
    """Try so many cases, tell how it goes, and show the first failure made small."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Random calls against an exact oracle.")
    parser.add_argument("--cases", default="10^5", help="groups of results to compare, such as 10^6")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=[e for e in ENGINES if e != "spark"])
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=[*SUBJECTS])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--call", type=int, help="show the call of this number, of the first subject, only")
    parser.add_argument("--all", action="store_true", help="go on after a failure, and list all")
    given = parser.parse_args()
    base, _, power = given.cases.partition("^")
    wanted = int(base) ** int(power or 1)
    print(
        f"seed {given.seed}, {wanted:,} cases of {', '.join(given.subjects)} on {', '.join(given.engines)}", flush=True
    )
    prepared()
    if given.call is not None:
        print(SUBJECTS[given.subjects[0]].shown(given.seed, given.call, given.engines))
        return
    cases, failed, start = Counter(), Counter(), time.monotonic()
    # A short run has short tasks: each process takes one, and one waits.
    longest = max(10, wanted // given.jobs)
    sizes = {name: min(longest, SUBJECTS[name].at_once) for name in given.subjects}
    chunks = ((name, range(i * size, (i + 1) * size)) for i in count() for name, size in sizes.items())
    with ProcessPoolExecutor(given.jobs, get_context("spawn"), prepared) as pool:

        def submit() -> tuple[str, Future[tuple[int, dict[int, list[Any]]]]]:
            name, numbers = next(chunks)
            return name, pool.submit(tried_of, name, given.seed, numbers, given.engines)

        running = [submit() for _ in range(given.jobs + 1)]
        while running:
            name, future = running.pop(0)
            done, wrong = future.result()
            cases[name] += done
            if cases.total() < wanted:
                running.append(submit())
            for number, found in wrong.items():
                failed[name, number] = len(found)
                if given.all:
                    print(f"call {number} of {name}: {found[0]}", flush=True)
            if failed and not given.all:
                break
            passed = time.monotonic() - start
            print(f"{cases.total():,} cases, {cases.total() / passed:.0f} a second", file=sys.stderr, flush=True)
        pool.shutdown(cancel_futures=True)
    if failed:
        print(f"{len(failed)} calls differ in {sum(failed.values())} values; the first:\n")
        name, number = min(failed)
        print(SUBJECTS[name].shown(given.seed, number, given.engines))
        sys.exit(1)
    tried = ", ".join(f"{number:,} of {name}" for name, number in cases.items())
    print(f"{cases.total():,} cases, no difference, {time.monotonic() - start:.0f} s: {tried}")


if __name__ == "__main__":
    main()
