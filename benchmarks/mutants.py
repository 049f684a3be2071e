"""Mutation testing of the formulas: `python benchmarks/mutants.py 200 1` changes 200 places, of seed 1, one by one.

A mutant is killed if a test fails. Places are comparisons, operators, numbers, flags and aggregates of the modules in
`FOLDERS`, outside of annotations and messages. Each mutant is a fork in which one module is compiled from a changed
tree, so no file is written. Survivors are printed with the line and the change.
"""

import ast
import importlib.util
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What a fork would import again. polars starts its threads at its first query, after the fork.
IMPORTED = ("matplotlib.pyplot", "numpy", "pandas", "polars", "pyarrow", "pytest", "scipy.stats")
FOLDERS = ("metrics", "ranking", "statistics")
"""The folders of the package whose formulas are changed."""
OTHERS = [
    "tests/functions",
    "tests/statistics",
    "tests/inputs",
    "tests/tables",
    "tests/expressions",
    "tests/test_frames.py",
]
"""The fast tests that run after the fuzzer and the tests of the folder. The first failure ends them."""
NOT_FORMULAS = ("__init__.py", "words.py", "reports.py")
SECONDS = 240
"""A mutant that takes more CPU time is killed."""
OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
AGGREGATES = {
    "max_horizontal": "min_horizontal", "cum_max": "cum_min", "max": "min", "first": "last", "any": "all",
    "ceil": "floor", "is_null": "is_not_null", "lower_bound": "upper_bound",
}  # fmt: skip
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
    return [(node, change) for node in ast.walk(tree) if id(node) not in skipped for change in changes(node)]


def mutated(path: Path, number: int) -> tuple[ast.Module, str]:
    """The tree with one place changed, and the change in words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, change = sites(tree)[number]
    before = ast.unparse(node)
    change()
    return ast.fix_missing_locations(tree), f"{path.relative_to(ROOT)}:{node.lineno}: {before}  ->  {ast.unparse(node)}"


class Mutant(SourceFileLoader):
    """A finder and loader of one module, from a changed tree."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        super().__init__(".".join(path.relative_to(ROOT).with_suffix("").parts), str(path))
        self.tree = tree

    def find_spec(self, name: str, *_: object) -> object:
        """Find the changed module."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> object:
        """Compile the changed tree."""
        return compile(self.tree, self.path, "exec", dont_inherit=True)


def start(path: Path, tree: ast.Module, folder: str) -> int:
    """The process that runs the tests with a changed module; its exit code is that of pytest."""
    if child := os.fork():
        return child
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    sys.meta_path.insert(0, Mutant(path, tree))
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    fast = [*options, "-m", "not slow", "tests/test_fuzz.py", f"tests/{folder}", *OTHERS]
    slow = [*options, "-m", "slow", "tests/test_fuzz.py", f"tests/{folder}"]
    os._exit(int(pytest.main(fast) or pytest.main(slow)))


def main(wanted: int = 200, seed: int = 1, jobs: int = 2) -> None:
    """Try so many mutants, and print the survivors and the score."""
    for name in IMPORTED:
        importlib.import_module(name)
    folders = [ROOT / "frame_pr" / folder for folder in FOLDERS]
    files = [file for folder in folders for file in sorted(folder.glob("*.py")) if file.name not in NOT_FORMULAS]
    places = [(path, i) for path in files for i in range(len(sites(ast.parse(path.read_text(encoding="utf-8")))))]
    drawn = random.Random(seed).sample(places, min(wanted, len(places)))
    print(f"{len(drawn)} of {len(places)} mutants, seed {seed}", flush=True)
    for folder, file in {file.parent.name: file for file in files}.items():
        if os.waitpid(start(file, ast.parse(file.read_text(encoding="utf-8")), folder), 0)[1]:
            sys.exit(f"the tests of {folder} fail without a mutant")
    running: dict[int, tuple[str, str]] = {}
    tried, killed = Counter[str](), Counter[str]()
    while drawn or running:
        while drawn and len(running) < jobs:
            path, i = drawn.pop(0)
            tree, text = mutated(path, i)
            running[start(path, tree, path.parent.name)] = path.parent.name, text
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
