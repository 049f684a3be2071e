"""The examples, run as a reader runs them: each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

# Of a script that draws all pictures, a fifth of the time goes into the search for garbage.
SELDOM_COLLECTED = """
import gc, runpy, sys
gc.set_threshold(20_000, 20, 20)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def output_of(example: str, *arguments: Path, warnings: str = "error", through: str | None = None) -> str:
    ran = subprocess.run(
        [
            sys.executable,
            "-W",
            warnings,
            "-X",
            "utf8",
            *(["-c", through] if through else []),
            EXAMPLES / example,
            *arguments,
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


@pytest.fixture(scope="session")
def gallery_plots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All plots of the docs, drawn once: the tests of the examples look at them, and the site shows them."""
    drawn = tmp_path_factory.mktemp("gallery")
    # matplotlib before 3.10.8 calls pyparsing by its old names; all else would be on stderr.
    output_of("gallery.py", drawn, warnings="ignore::DeprecationWarning", through=SELDOM_COLLECTED)
    return drawn
