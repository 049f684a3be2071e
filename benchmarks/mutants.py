"""Mutation testing: `python -m benchmarks.mutants 200 1` changes 200 places of seed 1, one by one.

A mutant is killed if a fast test fails. Places are comparisons, operators, numbers, flags and
aggregates of the modules in `FOLDERS`, outside of annotations and messages. The fast tests run once
without a mutant, to note which test executes which line. Each mutant is then a fork, in which one
module is compiled from a changed tree and the tests of the changed line run, the most specific ones
first, until one fails. Survivors are printed with the line and the change.
"""

import ast
import importlib.util
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# What a fork would import again. polars starts its threads at its first query, after the fork.
IMPORTED = (
    "hypothesis",
    "matplotlib.pyplot",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "scipy.stats",
)
FOLDERS = ("metrics", "ranking", "statistics")
"""The folders of the package whose formulas are changed."""
NOT_FORMULAS = ("__init__.py", "reports.py")
FAST = (
    "tests",
    "README.md",
    "--ignore=tests/peers",
    "-m",
    "not slow",
    "-q",
    "-p",
    "no:cacheprovider",
)
LINES = ROOT / "build" / "lines_of_tests.db"
"""Which test executes which line, as coverage notes it, until code or tests change."""
SECONDS = 60
"""A test that takes more CPU time fails."""
ORACLES = ("tests/test_fuzz.py", "tests/statistics/test_oracle.py")
"""The tests of all formulas, which run after the most specific tests of a line."""
BATCHES = 30, 100, 400
"""The numbers of tests after which a living mutant imports the files of further tests."""
CACHED = type(cache(int))
OPERATORS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
AGGREGATES = {
    "max_horizontal": "min_horizontal",
    "cum_max": "cum_min",
    "max": "min",
    "first": "last",
    "any": "all",
    "ceil": "floor",
    "is_null": "is_not_null",
    "lower_bound": "upper_bound",
}
AGGREGATES |= {second: first for first, second in AGGREGATES.items()}


def changes(node: ast.AST) -> Iterator[Callable[[], None]]:
    """What changes a node in place."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield lambda: node.ops.__setitem__(0, OPERATORS[type(node.ops[0])]())
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        yield lambda: setattr(node, "op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield lambda: setattr(node, "value", node.value + 1)
    elif isinstance(node, ast.Attribute) and node.attr in AGGREGATES:
        yield lambda: setattr(node, "attr", AGGREGATES[node.attr])
    elif isinstance(node, ast.UnaryOp):
        yield lambda: setattr(node, "op", ast.UAdd())


def sites(tree: ast.Module) -> list[tuple[ast.AST, Callable[[], None]]]:
    """The places that can be changed."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        outside = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        outside += [node] if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert) else []
        skipped |= {id(part) for top in outside if top is not None for part in ast.walk(top)}
    return [
        (node, change)
        for node in ast.walk(tree)
        if id(node) not in skipped
        for change in changes(node)
    ]


class Mutant(SourceFileLoader):
    """A finder and loader of one module, from a tree in which one place is changed."""

    def __init__(self, path: Path, number: int) -> None:
        super().__init__(".".join(path.relative_to(ROOT).with_suffix("").parts), str(path))
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.node, change = sites(self.tree)[number]
        before = ast.unparse(self.node)
        self.statement = [
            part
            for part in ast.walk(self.tree)
            if isinstance(part, ast.stmt) and self.node in ast.walk(part)
        ][-1]
        change()
        ast.fix_missing_locations(self.tree)
        self.text = (
            f"{path.relative_to(ROOT)}:{self.node.lineno}: {before}  ->  {ast.unparse(self.node)}"
        )

    def find_spec(self, name: str, *_: object) -> object:
        """Find the changed module."""
        return (
            importlib.util.spec_from_file_location(name, self.path, loader=self)
            if name == self.name
            else None
        )

    def get_code(self, fullname: str) -> object:
        """Compile the changed tree."""
        return compile(self.tree, self.path, "exec", dont_inherit=True)


def pytest_runtest_setup() -> None:
    """Empty the caches of the package, so that each test executes what it needs."""
    modules = [module for name, module in sys.modules.items() if name.startswith("frame_pr")]
    for value in [value for module in modules for value in vars(module).values()]:
        if isinstance(value, CACHED):
            value.cache_clear()


class Tests:
    """The tests that execute a line."""

    def __init__(self) -> None:
        import coverage

        files = [
            path for folder in ("frame_pr", "tests") for path in ROOT.glob(f"{folder}/**/*.py")
        ]
        if not LINES.exists() or LINES.stat().st_mtime < max(
            path.stat().st_mtime for path in files
        ):
            command = [sys.executable, "-m", "pytest", *FAST, "-p", "benchmarks.mutants", "-n", "2"]
            command += ["--cov=frame_pr", "--cov-context=test", "--cov-report="]
            if subprocess.run(
                command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(LINES)}
            ).returncode:
                LINES.unlink(missing_ok=True)
                sys.exit("the tests fail without a mutant")
        self.data = coverage.CoverageData(str(LINES))
        self.data.read()
        lines = (
            tests
            for file in self.data.measured_files()
            for tests in self.data.contexts_by_lineno(file).values()
        )
        self.executed = Counter(test for tests in lines for test in tests)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that execute the changed line, else its statement, else its module."""
        lines = self.data.contexts_by_lineno(mutant.path)
        for part in (mutant.node, mutant.statement, mutant.tree):
            of_part = range(getattr(part, "lineno", 0), getattr(part, "end_lineno", max(lines)) + 1)
            if tests := {test for line in of_part for test in lines.get(line, [])} - {""}:
                break
        folder, few = f"tests/{Path(mutant.path).parent.name}/", BATCHES[0]
        tests = sorted(
            tests, key=lambda test: (not test.startswith(folder), self.executed[test], test)
        )
        tests[few:] = sorted(tests[few:], key=lambda test: not test.startswith(ORACLES))
        return list(dict.fromkeys(test.rpartition("|")[0] for test in tests))


class Ordered:
    """A plugin that runs these tests in this order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out the other tests."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_setup(self) -> None:
        """Limit the time of the test."""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)


def start(mutant: Mutant, tests: list[str]) -> int:
    """Start the process that runs the tests with a changed module. It exits with 0 if all pass."""
    if child := os.fork():
        return child
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    sys.meta_path.insert(0, mutant)
    import hypothesis
    import pytest

    # The first failure counts, however large.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    settings = {
        "deadline": None,
        "derandomize": True,
        "max_examples": 9,
        "database": None,
        "phases": phases,
    }
    hypothesis.settings.register_profile("first", **settings)
    for first, last in zip((0, *BATCHES), (*BATCHES, len(tests)), strict=True):
        batch = tests[first:last]
        files = sorted({test.partition("::")[0] for test in batch})
        options = [
            "-x",
            "--tb=no",
            "--assert=plain",
            "--hypothesis-profile=first",
            "-p",
            "no:cacheprovider",
        ]
        if batch and pytest.main([*options, *files], plugins=[Ordered(batch)]):
            os._exit(1)
    os._exit(0)


def main(wanted: int = 200, seed: int = 1, jobs: int = 2) -> None:
    """Try so many mutants, and print the survivors and the score."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    tests = Tests()
    for name in IMPORTED:
        importlib.import_module(name)
    folders = [ROOT / "frame_pr" / folder for folder in FOLDERS]
    files = [
        file
        for folder in folders
        for file in sorted(folder.glob("*.py"))
        if file.name not in NOT_FORMULAS
    ]
    places = [
        (path, i)
        for path in files
        for i in range(len(sites(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    drawn = random.Random(seed).sample(places, min(wanted, len(places)))
    print(f"{len(drawn)} of {len(places)} mutants, seed {seed}", flush=True)
    running: dict[int, tuple[str, str]] = {}
    tried, killed = Counter[str](), Counter[str]()
    while drawn or running:
        while drawn and len(running) < jobs:
            path, number = drawn.pop(0)
            mutant = Mutant(path, number)
            running[start(mutant, tests.of(mutant))] = path.parent.name, mutant.text
        child, status = os.wait()
        folder, text = running.pop(child)
        tried[folder] += 1
        killed[folder] += status != 0
        if status == 0:
            print(f"survived: {text}", flush=True)
        if tried.total() % 10 == 0:
            print(f"{killed.total()} of {tried.total()} killed", file=sys.stderr, flush=True)
    for folder, number in tried.items():
        print(f"{folder}: {killed[folder]} of {number} killed")
    print(f"score: {killed.total() / tried.total():.1%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
