"""The same output of tests and examples, whatever the terminal and the settings of polars."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest

# Before polars is imported: some of its variables are read then. The number of threads changes no
# output.
for name in [
    name for name in os.environ if name.startswith("POLARS_") and name != "POLARS_MAX_THREADS"
]:
    del os.environ[name]
# The widths that polars and pandas fall back to without a terminal. `pytest -s` has one.
os.environ |= {"COLUMNS": "80", "LINES": "24", "POLARS_TABLE_WIDTH": "100"}
# Processes that tests start write UTF-8 to a pipe, which they do not by themselves on Windows.
os.environ["PYTHONUTF8"] = "1"


def pytest_collection_finish() -> None:
    """Leave modules and collected tests out of each garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _close_plots() -> Iterator[None]:
    """Close the plots of a test or page: matplotlib warns of many open ones."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
