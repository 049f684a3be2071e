"""`python -m frame_pr`, which checks an installation."""

import os
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec

import polars as pl
import pytest
from engines import JVM_OPTIONS

import frame_pr as fp
from frame_pr import __main__ as check


def outcomes(printed: str) -> dict[str, str]:
    """What is printed for each kind of frame."""
    kinds = [one.kind for one in check.CHECKS]
    return {line[:18].strip(): line[18:].strip() for line in printed.splitlines() if line[:18].strip() in kinds}


def test_a_good_installation(capsys):
    assert check.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"frame_pr        {fp.__version__}\n")
    assert {"frame_pr", "polars", "pandas"} <= {line.split(" ")[0] for line in printed.splitlines()}
    found = outcomes(printed)
    assert list(found) == [one.kind for one in check.CHECKS]
    assert found.pop("Spark DataFrame").startswith("left out")
    assert set(found.values()) <= {"ok", "left out: dask not installed"}
    assert printed.endswith("All values are right.\n")


def test_a_wrong_value_is_named(capsys, monkeypatch):
    right = fp.evaluate

    def evaluate(frame, *args, **options):
        result = right(frame, *args, **options)
        return result.with_columns(roc_auc=1 - pl.col("roc_auc")) if isinstance(frame, pl.DataFrame) else result

    monkeypatch.setattr(fp, "evaluate", evaluate)
    assert check.main([]) == 1
    printed = capsys.readouterr().out
    found = outcomes(printed)
    assert found["polars DataFrame"] == f"WRONG: roc_auc of the group 'ranked' is {1 - 17 / 25}, not {17 / 25}"
    assert found["pandas DataFrame"] == "ok"
    assert "2 of the checks failed" in printed


def test_a_value_in_place_of_null_is_wrong_and_the_other_way_round(monkeypatch):
    computed = fp.evaluate(check.ROWS, **check.COLUMNS)
    assert list(check.faults(computed)) == []
    monkeypatch.setitem(check.ANSWERS["average_precision"], "no positive", Fraction(0))
    monkeypatch.setitem(check.ANSWERS["average_precision"], "ranked", None)
    assert list(check.faults(computed)) == [
        f"average_precision of the group 'ranked' is {47 / 60}, not None",
        "average_precision of the group 'no positive' is None, not 0.0",
    ]
    assert "recall@3 of the group 'tied' is None, not 1.0" in check.faults(computed.filter(query="ranked"))


def test_an_error_and_a_library_that_is_not_installed(capsys, monkeypatch):
    def broken():
        raise RuntimeError("no such file\nand more")

    checks = (check.Check("broken", (), broken), check.Check("absent", ("polars", "no_such_library"), broken))
    monkeypatch.setattr(check, "CHECKS", checks)
    assert check.main([]) == 1
    assert outcomes(capsys.readouterr().out) == {
        "broken": "WRONG: RuntimeError: no such file",
        "absent": "left out: no_such_library not installed",
    }


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], env=os.environ | variables, capture_output=True, encoding="utf-8"
    )


@pytest.mark.slow
def test_the_exit_status():
    done = run("-m", "frame_pr")
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(done.stdout)["Spark DataFrame"].startswith("left out")


@pytest.mark.slow
def test_the_exit_status_of_wrong_values(capsys, monkeypatch):
    def evaluate(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(sys, "argv", ["frame_pr"])
    monkeypatch.setattr(fp, "evaluate", evaluate)
    with pytest.raises(SystemExit) as raised:
        runpy.run_path(check.__file__, run_name="__main__")
    assert raised.value.code == 1
    # One answer is changed, of all kinds.
    monkeypatch.undo()
    monkeypatch.setitem(check.ANSWERS["roc_auc"], "tied", Fraction(1))
    assert check.main([]) == 1
    printed = capsys.readouterr().out
    assert printed.count("roc_auc of the group 'tied' is 0.5, not 1.0") > 5
    assert printed.count("WRONG: roc_auc") == printed.count("roc_auc of the group 'tied' is 0.5, not 1.0")


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_the_option_for_spark():
    if not (shutil.which("java") and find_spec("pyspark")):
        pytest.skip("Spark needs Java 17 or later")
    # One answer is changed: the message names this one, so all others are right.
    code = "import sys, frame_pr.__main__ as check; check.ANSWERS['roc_auc']['tied'] = 1; "
    code += "check.CHECKS = [one for one in check.CHECKS if one.kind == 'Spark DataFrame']; "
    done = run("-c", code + "sys.exit(check.main(['--spark']))", JDK_JAVA_OPTIONS=JVM_OPTIONS)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes(done.stdout)["Spark DataFrame"] == "WRONG: roc_auc of the group 'tied' is 0.5, not 1.0"
