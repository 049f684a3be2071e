"""What mypy and pyright see: the caller's kind of frame, mistakes, and the code of the docs."""

import ast
import doctest
import json
import re
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
import frame_pr.ibis
import ibis
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
    'frame_pr.ibis.evaluate(ibis.table({}), "roc_auc", "truth")',
    'frame_pr.ibis.roc_auc(ibis.table({}), "truth", "score", ties="random")',
    'pandas_of_rows: pd.DataFrame = frame_pr.ibis.roc_auc(ibis.table({}), "truth", "score")',
    'pandas: pd.DataFrame = fp.average_precision(frame, "truth", "score")',
    'pandas_too: pd.DataFrame = fp.PR(frame).curve("truth", "score")',
]


# What docs/typing.md says of polars frames. When the last test fails, rejoice and rewrite that page.
NAMESPACE = "frame.pr\n"
# Checkers do not see a registered namespace: in the code of the docs, `frame.pr` becomes `_pr(frame)`.
NAMESPACES = """from typing import Any, TypeVar, overload
import polars as pl
import frame_pr as fp
Frame = TypeVar("Frame", bound=Any)
@overload
def _pr(frame: pl.Expr) -> fp.ExprPR: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def _pr(frame: Frame) -> fp.PR[Frame]: ...
def _pr(frame: Any) -> Any: ...
"""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Libraries of the examples that are not installed where the tests run.
ABSENT = "reportMissingImports"
Faults = dict[str, dict[int, str]]


def mypy(paths: list[Path]) -> Faults:
    """Lines with faults, by file."""
    pytest.importorskip("mypy")
    # A page uses the same name for several frames.
    # In the cache of `make lint`, which has other options, either would make the other begin anew.
    cache = ROOT / ".mypy_cache" / "tests"
    options = ("--strict", "--output=json", "--allow-redefinition", "--ignore-missing-imports", f"--cache-dir={cache}")
    done = run("mypy", *options, *map(str, paths))
    faults = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == (1 if faults else 0), done.stdout + done.stderr
    errors = [fault for fault in faults if fault["severity"] == "error"]
    return by_file((fault["file"], fault["line"], fault["message"]) for fault in errors)


def pyright(paths: list[Path]) -> Faults:
    """Lines with faults, by file."""
    pytest.importorskip("pyright")
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, paths))
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(paths)
    faults = [fault for fault in report["generalDiagnostics"] if fault["severity"] == "error"]
    errors = [fault for fault in faults if fault.get("rule") != ABSENT]
    return by_file((fault["file"], fault["range"]["start"]["line"] + 1, fault["message"]) for fault in errors)


def by_file(faults: Iterable[tuple[str, int, str]]) -> Faults:
    found: Faults = {}
    for file, line, message in faults:
        found.setdefault(Path(file).name, {}).setdefault(line, message)
    return found


def code_of(page: Path) -> str:
    """The code of a page, each line of it where it stands in the page; calls that are to fail are left out."""
    text = page.read_text(encoding="utf-8")
    code = [""] * text.count("\n")
    examples = [(example.lineno, example.source) for example in doctest.DocTestParser().get_examples(text)]
    wrong = {example.lineno for example in doctest.DocTestParser().get_examples(text) if example.exc_msg}
    for block in re.finditer(r"(?ms)^```python\n((?:(?!>>>).)*?)^```", text):
        examples.append((text.count("\n", 0, block.start(1)), block[1]))
    for first, source in examples:
        if first not in wrong:
            lines = functions_for_namespaces(source).splitlines()
            code[first : first + len(lines)] = lines
    assert not code[0], f"{page}: the first line is that of the import below"
    code[0] = "from namespaces import _pr"
    return "\n".join(code) + "\n"


def functions_for_namespaces(source: str) -> str:
    """The same code, with `_pr(frame)` in place of `frame.pr`, in the same lines."""
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits = []
    for node in ast.walk(ast.parse(source)):
        # The page on types shows what to write where a checker does not see it.
        if isinstance(node, ast.Attribute) and node.attr == "pr" and "type: ignore" not in source:
            value = node.value
            end, end_of_value = (starts[n.end_lineno - 1] + n.end_col_offset for n in (node, value))
            edits.append((starts[value.lineno - 1] + value.col_offset, 0, b"_pr("))
            edits.append((end_of_value, end - end_of_value, b"\n" * data[end_of_value:end].count(b"\n") + b")"))
    for place, length, text in sorted(edits, reverse=True):
        data = data[:place] + text + data[place + length :]
    return data.decode()


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
    (folder / "namespaces.py").write_text(NAMESPACES)
    paths = [CALLS, mistakes, namespace, folder / "namespaces.py"]
    for page in PAGES:
        paths.append(folder / f"{'_'.join(page.relative_to(ROOT).with_suffix('').parts)}.py")
        paths[-1].write_text(code_of(page), encoding="utf-8")
    return request.param(paths)


def test_the_callers_kind_of_frame_comes_out(faults: Faults) -> None:
    assert CALLS.name not in faults


def test_mistakes_are_seen_where_they_are(faults: Faults) -> None:
    first = HEAD.count("\n") + 1
    missed = [call for line, call in enumerate(MISTAKES, start=first) if line not in faults["mistakes.py"]]
    assert not missed
    assert min(faults["mistakes.py"]) == first


def test_a_registered_namespace_is_out_of_sight(faults: Faults) -> None:
    assert list(faults["namespace.py"]) == [HEAD.count("\n") + 1]


def test_the_code_of_the_docs(faults: Faults) -> None:
    pages = {f"{'_'.join(page.relative_to(ROOT).with_suffix('').parts)}.py": page for page in PAGES}
    wrong = [f"{pages[file]}:{line}: {text}" for file in pages for line, text in faults.get(file, {}).items()]
    assert not wrong, "\n".join(wrong)
