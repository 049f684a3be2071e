"""What mypy and pyright see: the caller's kind of frame, and mistakes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CALLS = Path(__file__).with_name("typed_calls.py")
ROOT = CALLS.parents[1]
HEAD = """import pandas as pd
import polars as pl
import frame_pr as fp
frame = pl.DataFrame()
"""
MISTAKES = [
    'fp.average_precision(frame, "truth")',  # no score
    'fp.average_precision("truth", "score", frame)',
    'fp.average_precision([1, 0], "truth", "score")',
    'fp.average_precision(frame, "truth", "score", "query")',  # by= is by name only
    'fp.average_precision(frame, "truth", "score", group_by="query")',
    'fp.average_precision(frame, "truth", "score", ties="random")',
    'fp.average_precision(frame, "truth", "score", wieght="n")',
    'fp.precision_at_k(frame, "truth", "score", k="5")',
    'fp.interpolated_average_precision(frame, "truth", "score", points=10)',
    'fp.PR(frame).average_precision("truth")',
    'fp.PR(frame).average_precision("truth", "score", unscored="ignore")',
    'fp.PR(frame).precision_at_k("truth", "score")',
    'fp.PR(frame).mean_average_precision("truth", "score")',
    "fp.PR([1, 0])",
    'pandas: pd.DataFrame = fp.average_precision(frame, "truth", "score")',
    'pandas_too: pd.DataFrame = fp.PR(frame).curve("truth", "score")',
]


def mypy(path: Path) -> dict[int, str]:
    """Faults by line."""
    pytest.importorskip("mypy")
    done = run("mypy", "--strict", "--output=json", str(path))
    faults = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == (1 if faults else 0), done.stdout + done.stderr
    return {fault["line"]: fault["message"] for fault in faults if fault["severity"] == "error"}


def pyright(path: Path) -> dict[int, str]:
    """Faults by line."""
    pytest.importorskip("pyright")
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, str(path))
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == 1
    faults = [fault for fault in report["generalDiagnostics"] if fault["severity"] == "error"]
    return {fault["range"]["start"]["line"] + 1: fault["message"] for fault in faults}


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", tool, *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_the_callers_kind_of_frame_comes_out(checker: Callable[[Path], dict[int, str]]) -> None:
    assert checker(CALLS) == {}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_mistakes_are_seen_where_they_are(checker: Callable[[Path], dict[int, str]], tmp_path: Path) -> None:
    script = tmp_path / "mistakes.py"
    script.write_text(HEAD + "\n".join(MISTAKES) + "\n")
    first = HEAD.count("\n") + 1
    faults = checker(script)
    missed = [call for line, call in enumerate(MISTAKES, start=first) if line not in faults]
    assert not missed
    assert min(faults) == first


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_registered_namespace_is_out_of_sight(checker: Callable[[Path], dict[int, str]], tmp_path: Path) -> None:
    # What docs/typing.md says of polars frames. When this fails, rejoice and rewrite that page.
    script = tmp_path / "namespace.py"
    script.write_text(HEAD + "frame.pr\n")
    assert list(checker(script)) == [HEAD.count("\n") + 1]
