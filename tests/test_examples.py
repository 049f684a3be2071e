"""The examples run without a warning, and the calls of the cheat sheets on every kind of frame."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_pr

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
# What each script prints at its end.
PRINTED = {
    "digits_report.py": "scikit-learn, asked 20 times, agrees on average precision",
    "search_report.py": "bm25_average_precision",
    "classes_report.py": "scikit-learn has the same averages and the same matrix.",
    "recommender_lists.py": "MAP@10",
}


@pytest.mark.parametrize("example", PRINTED)
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    # matplotlib before 3.10.8 calls pyparsing by its old names; every other warning is an error.
    warnings = ["-W", "error", "-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *warnings, "-X", "utf8", ROOT / "examples" / example]
    folder = [tmp_path] if example == "digits_report.py" else []
    ran = subprocess.run([*command, *folder], capture_output=True, encoding="utf-8", timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert PRINTED[example] in ran.stdout


CALLS = [
    call
    for page in (ROOT / "README.md", ROOT / "docs" / "cheat-sheet.md")
    for table in re.findall(
        r"\| task \| call \|\n.*?\n\n", page.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    for call in re.findall(r"\| `([^`]*)` \|$", table, flags=re.MULTILINE)
]
RUN = {
    "query": ["ink", "ink", "ink", "ink", "tea", "tea", "tea", "tea", "tea"],
    "relevant": [False, True, False, True, True, True, False, True, False],
    "verdict": ["ham", "spam", "ham", "spam", "spam", "spam", "ham", "spam", "ham"],
    "predicted": [True, True, False, False, True, True, False, False, False],
    "score": [0.9, 0.8, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2, 0.1],
    "other_score": [0.1, 0.8, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2, 0.1],
}


@pytest.mark.parametrize("call", dict.fromkeys(CALLS))
def test_the_cheat_sheets_run_on_every_kind_of_frame(call: str) -> None:
    frames = (pl.DataFrame(RUN), pl.LazyFrame(RUN), pd.DataFrame(RUN))
    eager, lazy, pandas = (eval(call, {"frame_pr": frame_pr, "run": run}) for run in frames)
    assert (type(eager), type(lazy), type(pandas)) == tuple(map(type, frames))
    assert eager.height > 0
    assert_frame_equal(lazy.collect(), eager)
    assert_frame_equal(pl.from_pandas(pandas), eager)
