"""mypy, basedpyright, ty and pyrefly accept what users write, and report their mistakes."""

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PYTHON = sys.executable
CHECKERS = {
    "mypy": ["--strict", "--config-file=", "--python-executable", PYTHON],
    "basedpyright": ["--level", "error", "--pythonpath", PYTHON],
    "ty": ["check", "--python", PYTHON, "--output-format", "concise"],
    "pyrefly": [
        *("check", "--preset", "strict", "--python-interpreter-path", PYTHON),
        *("--output-format", "min-text"),
    ],
}
MISTAKES = [
    statement.lineno
    for statement in ast.parse((FOLDER / "mistakes.py").read_text(encoding="utf-8")).body
    if isinstance(statement, ast.Expr) and statement.lineno > 1
]


def lines_with_errors(checker: str, file: str, cache: Path) -> set[int]:
    """The lines of a file in which a checker reports an error."""
    program = shutil.which(checker, path=Path(PYTHON).parent)
    if program is None:
        pytest.skip(f"{checker} is not installed")
    options = [*CHECKERS[checker], *(["--cache-dir", str(cache)] if checker == "mypy" else [])]
    command = [program, *options, str(FOLDER / file)]
    # Elsewhere, so that the package is the installed one, as it is for users.
    ran = subprocess.run(command, cwd=cache, capture_output=True, encoding="utf-8")
    found = re.findall(rf"{re.escape(file)}:(\d+):.*?error", ran.stdout, re.IGNORECASE)
    found += re.findall(rf"^ERROR .*{re.escape(file)}:(\d+):", ran.stdout, re.MULTILINE)
    assert bool(found) == bool(ran.returncode), ran.stdout + ran.stderr
    return set(map(int, found))


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_users_write_has_no_error(checker, tmp_path):
    assert lines_with_errors(checker, "user.py", tmp_path) == set()


def test_three_checkers_report_each_mistake(tmp_path):
    reports = [lines_with_errors(checker, "mistakes.py", tmp_path) for checker in CHECKERS]
    number = Counter(line for lines in reports for line in lines)
    assert [line for line in MISTAKES if number[line] < 3] == []
    assert len(MISTAKES) > 10
