"""Fixtures of all tests."""

import gc
import os
from collections.abc import Iterator

import hypothesis
import pytest
from engines import dask_cluster, engine, spark, spark_connect  # noqa: F401  fixtures
from example_runs import gallery_plots  # noqa: F401  a fixture
from kinds import KINDS, Kind

import frame_pr  # noqa: F401  registers .pr, which the tests use on plain frames

# A failing test shows where an error was raised.
os.environ.setdefault("FRAME_PR_TRACEBACK", "1")
# The same examples in every run: a failure is a change of the code. `--hypothesis-profile=default` looks further.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=12, database=None)
hypothesis.settings.load_profile("repeatable")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the collector of garbage pass over modules and thousands of tests, which stay."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return collected


# Kinds that `make check` leaves out: their results are made as those of another kind. The fuzzer has LazyFrames, too.
SELDOM = ("lazy", "streaming", "pandas-nullable", "pandas-arrow")
EVERY = [pytest.param(kind, id=kind.name, marks=[pytest.mark.slow] * (kind.name in SELDOM)) for kind in KINDS]


@pytest.fixture(params=EVERY, scope="session")
def kind(request: pytest.FixtureRequest) -> Kind:
    """Run the test once on every kind of frame: `kind(data)` makes one, `kind.read(result)` reads one back."""
    return request.param
