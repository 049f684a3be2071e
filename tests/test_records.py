"""Closed sets are tables of records: other modules look a member up and do not compare its name."""

import ast
from pathlib import Path
from typing import get_args, get_type_hints

import frame_pr
from frame_pr.metrics.metric import KINDS, Aggregate

PACKAGE = Path(frame_pr.__file__).parent


def comparisons_of(source: str, attribute: str) -> list[int]:
    """Lines of a module that compare an attribute of this name, or look it up in a collection of their own."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Compare, ast.Match, ast.Dict, ast.Call)):
            subjects = {
                ast.Compare: lambda node: [node.left, *node.comparators],
                ast.Match: lambda node: [node.subject],
                ast.Dict: lambda node: [key for key in node.keys if key is not None],
                ast.Call: lambda node: node.args if getattr(node.func, "attr", "") == "get" else [],
            }[type(node)](node)
            lines += [node.lineno for part in subjects if isinstance(part, ast.Attribute) and part.attr == attribute]
    return lines


def test_no_module_compares_the_kind_of_an_aggregate():
    compared = {path.name: comparisons_of(path.read_text(encoding="utf-8"), "how") for path in PACKAGE.rglob("*.py")}
    assert {name: lines for name, lines in compared.items() if lines} == {}


def test_every_kind_of_aggregate_has_a_record():
    assert {*KINDS} == {*get_args(get_type_hints(Aggregate)["how"])}


def test_the_check_sees_comparisons():
    source = """
record.how == "best"
record.how in ("sum", "max")
{"best": 1}.get(record.how)
record.kind.extreme == "max"
"""
    assert comparisons_of(source, "how") == [2, 3, 4]
