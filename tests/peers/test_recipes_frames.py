"""The recipes of docs/howto/files.md for what makes frames."""

import re
from pathlib import Path

import polars as pl
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "files.md"


@pytest.mark.peers
def test_duckdb():
    pytest.importorskip("duckdb")
    (lines,) = re.findall(r"```python\n(import duckdb\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert lines.count("\n") == 5
    run = {"query": ["ink", "ink", "tea", "tea"], "clicked": [True, False, True, False], "score": [0.9, 0.2, 0.6, 0.7]}
    names = {"judged": pl.DataFrame(run)}
    *steps, last = lines.strip().splitlines()
    exec("\n".join(steps), names)
    assert names["by_query"].rows() == [("ink", 1.0), ("tea", 0.5)]
    assert eval(last, names) == [(0.75,)]
