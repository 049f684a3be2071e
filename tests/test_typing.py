"""What mypy and pyright see: the caller's kind of frame, and mistakes."""

import json
import subprocess
import sys
from collections.abc import Iterable
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


# What docs/typing.md says of polars frames. When the last test fails, rejoice and rewrite that page.
NAMESPACE = "frame.pr\n"
Faults = dict[str, set[int]]


def mypy(paths: list[Path]) -> Faults:
    """Lines with faults, by file."""
    pytest.importorskip("mypy")
    done = run("mypy", "--strict", "--output=json", *map(str, paths))
    faults = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == (1 if faults else 0), done.stdout + done.stderr
    return by_file((fault["file"], fault["line"]) for fault in faults if fault["severity"] == "error")


def pyright(paths: list[Path]) -> Faults:
    """Lines with faults, by file."""
    pytest.importorskip("pyright")
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, paths))
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(paths)
    faults = [fault for fault in report["generalDiagnostics"] if fault["severity"] == "error"]
    return by_file((fault["file"], fault["range"]["start"]["line"] + 1) for fault in faults)


def by_file(faults: Iterable[tuple[str, int]]) -> Faults:
    found: Faults = {}
    for file, line in faults:
        found.setdefault(Path(file).name, set()).add(line)
    return found


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", tool, *arguments], cwd=ROOT, capture_output=True, encoding="utf-8")


# Each checker reads all files in one run, as most of its time goes into what they import.
@pytest.fixture(
    scope="module",
    params=[pytest.param(one, id=one.__name__, marks=pytest.mark.xdist_group(one.__name__)) for one in (mypy, pyright)],
)
def faults(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Faults:
    """Lines in which the checker finds a fault, by file."""
    folder = tmp_path_factory.mktemp("typing")
    mistakes, namespace = folder / "mistakes.py", folder / "namespace.py"
    mistakes.write_text(HEAD + "\n".join(MISTAKES) + "\n")
    namespace.write_text(HEAD + NAMESPACE)
    return request.param([CALLS, mistakes, namespace])


def test_the_callers_kind_of_frame_comes_out(faults: Faults) -> None:
    assert CALLS.name not in faults


def test_mistakes_are_seen_where_they_are(faults: Faults) -> None:
    first = HEAD.count("\n") + 1
    missed = [call for line, call in enumerate(MISTAKES, start=first) if line not in faults["mistakes.py"]]
    assert not missed
    assert min(faults["mistakes.py"]) == first


def test_a_registered_namespace_is_out_of_sight(faults: Faults) -> None:
    assert faults["namespace.py"] == {HEAD.count("\n") + 1}
