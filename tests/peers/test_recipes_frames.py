"""The recipes of docs/lazy-frames-and-files.md for what makes frames."""

import ast
import re
from pathlib import Path

import polars as pl
import pytest

import frame_pr as fp

PAGE = Path(__file__).parents[2] / "docs" / "lazy-frames-and-files.md"


def test_duckdb():
    pytest.importorskip("duckdb")
    (lines,) = re.findall(r"```python\n(import duckdb\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    *steps, last = ast.parse(lines).body
    assert len(steps) == 5
    run = {"query": ["ink", "ink", "tea", "tea"], "clicked": [True, False, True, False], "score": [0.9, 0.2, 0.6, 0.7]}
    names = {"judged": pl.DataFrame(run), "fp": fp}
    exec(compile(ast.Module(steps, []), "steps", "exec"), names)
    assert names["by_query"].rows() == [("ink", 1.0), ("tea", 0.5)]
    assert names["over_queries"].rows() == [(2, 0.75, 0.75, 0)]
    assert eval(ast.unparse(last), names) == [(0.75,)]


def test_a_relation_runs_at_each_call():
    duckdb = pytest.importorskip("duckdb")
    run = duckdb.sql("SELECT i % 2 AS y, i AS s FROM range(4) rows(i)")
    assert [fp.average_precision(run, "y", "s").item() for _ in range(2)] == [pytest.approx(5 / 6)] * 2
    # It runs anew, so that it finds nothing is no sign that it was read before.
    assert fp.evaluate(run.filter("s > 9"), "rows", "y", "s").item() == 0
