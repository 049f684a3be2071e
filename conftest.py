"""The same output of every test and every example in the docs, whatever the terminal and the settings of polars."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest

# Before polars is imported: some of its variables are read then. The number of threads changes no output.
for name in [name for name in os.environ if name.startswith("POLARS_") and name != "POLARS_MAX_THREADS"]:
    del os.environ[name]
# The widths that polars and pandas fall back to without a terminal. `pytest -s` has one.
os.environ |= {"COLUMNS": "80", "LINES": "24", "POLARS_TABLE_WIDTH": "100"}
# Processes that tests start write UTF-8 to a pipe, which they do not by themselves on Windows.
os.environ["PYTHONUTF8"] = "1"


# Pages whose calls take about half a second or more.
SLOW_PAGES = {
    "better.md",
    "classifiers.md",
    "gallery.md",
    "how_sure.md",
    "identify.md",
    "numbers.md",
    "scikit_learn.md",
}


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make check` skips pages that take long.

    The page of all pictures is also drawn anew, and compared with its files, by a slow test.
    """
    if item.path.name in SLOW_PAGES:
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.versions)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names of tests with an address in memory: each process that runs tests would have another one."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: give ids= that are the same in every process")


def pytest_collection_finish() -> None:
    """Garbage is looked for in what tests make, and not each time among all modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_figure_left() -> Iterator[None]:
    """Pages, and tests of plots, draw more pictures than matplotlib likes to have open, and leave them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
