"""The versions that `__version__` and `show_versions` report."""

import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames import environment


def test_version_is_that_of_the_installed_package():
    assert fp.__version__ == version("frame_pr")


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'frame_pr' has no attribute 'versoin'"):
        _ = fp.versoin


def test_show_versions_has_a_line_for_each_library(capsys):
    fp.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert list(lines) == ["frame_pr", "Python", "system", *environment.LIBRARIES]
    assert lines["frame_pr"] == f"{fp.__version__} ({Path(fp.__file__).parent})"
    assert lines["Python"] == sys.version.split()[0]
    assert lines["polars"] == pl.__version__
    assert environment.installed_version("no_such_library") == "not installed"


def test_the_module_prints_the_versions(capsys):
    runpy.run_module("frame_pr", run_name="__main__")
    assert capsys.readouterr().out.startswith(f"frame_pr    {fp.__version__} (")


@pytest.mark.slow
def test_show_versions_imports_no_library():
    script = """
import sys, frame_pr
before = {*sys.modules}
frame_pr.show_versions()
print(sorted({*sys.modules} & {"pandas", "matplotlib", "dask", "pyspark"} - before))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_without_numpy_all_but_statistics_and_plots_works():
    script = """
import sys
sys.modules |= dict.fromkeys(("numpy", "pandas", "pyarrow", "scipy", "matplotlib"))
import polars as pl
import frame_pr as fp
from frame_pr import *  # help and tab completion import all functions, too
run = pl.DataFrame({"y": [1, 0], "s": [2, 1]})
print(fp.report(run, "y", "s").pr.format_table(decimals=1).splitlines()[2])
for call in (
    lambda: run.pr.intervals("roc_auc", "y", "s"),
    lambda: run.pr.report("y", "s", confidence=0.9),
    lambda: run.pr.plot("y", "s"),
    lambda: run.pr.confusion_matrix("y", "s").pr.plot_confusion(),
):
    try:
        call()
    except ImportError as error:
        print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    needs_scipy = 'intervals, tests and average curves need scipy: pip install "frame_pr[stats]"'
    needs_matplotlib = 'plots need matplotlib: pip install "frame_pr[plot]"'
    assert ran.stdout.splitlines() == [
        "| 2 | 1 | average_precision | 1.0 |",
        needs_scipy,
        needs_scipy,
        *[needs_matplotlib] * 2,
    ]


def test_pandas_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r'^pandas frames need pyarrow: pip install "frame_pr\[pandas\]"$'
    ):
        fp.roc_auc(pd.DataFrame({"y": [1, 0], "s": [2, 1]}), "y", "s")
