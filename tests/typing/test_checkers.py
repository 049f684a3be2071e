"""mypy, basedpyright, ty and pyrefly accept what users write, and report their mistakes."""

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
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


FILES = ("user.py", "mistakes.py")
# One process of the tests runs them all: a checker reads pandas and polars for seconds.
pytestmark = pytest.mark.xdist_group("checkers")


@pytest.fixture(scope="module")
def lines_with_errors(tmp_path_factory):
    """A function: the lines in which a checker reports an error, by file."""
    folder = tmp_path_factory.mktemp("checkers")

    @cache
    def lines(checker: str) -> dict[str, set[int]]:
        program = shutil.which(checker, path=Path(PYTHON).parent)
        if program is None:
            pytest.skip(f"{checker} is not installed")
        # Elsewhere, so that the package is the installed one, as it is for users.
        ran = subprocess.run(
            [program, *CHECKERS[checker], *(FOLDER / file for file in FILES)],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
        )
        assert ran.returncode, ran.stdout + ran.stderr
        patterns = [
            r"{}:(\d+):.*?error",  # mypy, basedpyright, ty
            r"ERROR .*{}:(\d+):",  # pyrefly
        ]
        return {
            file: {
                int(line)
                for pattern in patterns
                for line in re.findall(pattern.format(re.escape(file)), ran.stdout, re.IGNORECASE)
            }
            for file in FILES
        }

    return lines


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_users_write_has_no_error(checker, lines_with_errors):
    lines = lines_with_errors(checker)
    assert lines["user.py"] == set()
    assert lines["mistakes.py"]


def test_three_checkers_report_each_mistake(lines_with_errors):
    reports = [lines_with_errors(checker)["mistakes.py"] for checker in CHECKERS]
    number = Counter(line for lines in reports for line in lines)
    assert [line for line in MISTAKES if number[line] < 3] == []
    assert len(MISTAKES) > 10
