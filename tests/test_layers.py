"""The contract of the layers, at the end of pyproject.toml, lets no arrow up or sideways."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frame_pr

pytest.importorskip("importlinter")

CONTRACT = Path(__file__).parents[1] / "pyproject.toml"


def checked(tmp_path: Path, file: str = "", line: str = "") -> subprocess.CompletedProcess[str]:
    """The contract of a copy of the package, with one line more in a file."""
    copy = tmp_path / "frame_pr"
    shutil.copytree(Path(frame_pr.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if file:
        (copy / file).parent.mkdir(exist_ok=True)
        with (copy / file).open("a", encoding="utf-8") as end:
            end.write(line + "\n")
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    options = ["--config", str(CONTRACT), "--no-cache"]
    return subprocess.run(
        [sys.executable, "-c", command, *options], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )


def test_the_package_keeps_the_contract(tmp_path):
    assert "Layers KEPT" in checked(tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        (
            "ranking/blocks.py",
            "import frame_pr.metrics.rates",
            "frame_pr.ranking is not allowed to import frame_pr.metrics",
        ),
        ("inputs/rows.py", "import frame_pr.tables.trec", "frame_pr.inputs is not allowed to import frame_pr.tables"),
        ("cellar/__init__.py", "", "cellar"),
    ],
    ids=["up", "sideways", "a folder of no layer"],
)
def test_a_wrong_arrow_breaks_it(tmp_path, file, line, said):
    done = checked(tmp_path, file, line)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
