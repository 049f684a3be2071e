"""Names in the package are specific, and each module has a name of its own."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import frame_pr

PACKAGE = Path(frame_pr.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
VAGUE = {
    "alike",
    "asked",
    "beside",
    "checked",
    "chosen",
    "counted",
    "evaluated",
    "found",
    "given",
    "known",
    "one",
    "ours",
    "own",
    "plain",
    "some",
    "theirs",
    "told",
}
"""Words that say nothing of what a name stands for; CONTRIBUTING.md has the rule."""


def names_bound_in(source: str) -> list[tuple[str, int]]:
    """Variables, parameters, functions, classes, fields and import aliases of a module, each with its line."""
    bound = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.append((name, node.lineno))
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.append((name, node.lineno))
            case ast.alias(asname=str(name)):
                bound.append((name, node.lineno))
            case _:
                pass
    return bound


@pytest.mark.parametrize("module", MODULES, ids=[str(module.relative_to(PACKAGE)) for module in MODULES])
def test_names_are_specific(module):
    bound = names_bound_in(module.read_text(encoding="utf-8"))
    assert [(name, line) for name, line in bound if name.strip("_").lower() in VAGUE] == []


def test_the_check_sees_every_kind_of_name():
    source = """
import polars as plain
def found(given, *, own=1):
    one, known = 1, 2
    return [chosen for chosen in (one, known)]
class Counted:
    beside: int
"""
    seen = {name.lower() for name, _ in names_bound_in(source)}
    assert {"plain", "found", "given", "own", "one", "known", "chosen", "counted", "beside"} <= seen


def test_no_module_name_occurs_twice():
    names = Counter(module.stem for module in MODULES if module.stem != "__init__")
    assert [name for name, count in names.items() if count > 1] == []
