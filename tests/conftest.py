"""Fixtures of all tests."""

import gc
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from engines import dask_cluster, engine, spark, spark_connect  # noqa: F401  fixtures
from example_runs import gallery_plots  # noqa: F401  a fixture
from kinds import KINDS, Kind

import frame_pr  # noqa: F401  registers .pr, which the tests use on plain frames

# A failing test shows where an error was raised.
os.environ.setdefault("FRAME_PR_TRACEBACK", "1")
# The same examples in every run: a failure is a change of the code. `--hypothesis-profile=default` looks further.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=9, database=None)
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


# These test what is computed, whatever the kind of frame. How each kind is read is the subject of the other folders.
COMPUTED = {"expressions", "functions", "inputs", "metrics", "peers", "plotting", "ranking", "statistics"}
COMPUTED |= {"test_accessors.py"}


def thinned(items: list[Any]) -> list[Any]:
    """Which tests of `COMPUTED` repeat, on another kind of frame, a case that runs on three kinds already.

    Every case runs on polars, on pandas, and on one of the four seldom kinds, in turns. So a test with several cases
    meets all kinds. `make check` has a third of the cases on pandas.
    """
    cases: dict[Any, list[Any]] = defaultdict(list)
    for item in items:
        kind = item.callspec.params.get("kind") if "callspec" in vars(item) else None
        if isinstance(kind, Kind) and {item.path.name, item.path.parent.name} & COMPUTED:
            cases[item.path, item.originalname, kind.name].append(item)
    repeated = []
    for (_, _, name), same_kind in cases.items():
        turns = min(len(same_kind), 3 if name == "pandas-numpy" else len(SELDOM))
        for number, item in enumerate(same_kind):
            # The divisions shift the turns: a parameter of two or four values would else meet one kind each.
            turn = number + number // 4 + number // 16
            if name in SELDOM and (turn + SELDOM.index(name)) % turns:
                repeated.append(item)
            elif name == "pandas-numpy" and turn % turns:
                item.add_marker(pytest.mark.slow)
    return repeated


# The tests of these groups and files take longest. `python dev.py test` begins with them, so that the processes end
# together: all others take less time, the fewer tests a file has.
LONGEST = ("spark", "site", "pyright", "test_benchmarks.py", "mypy", "test_fuzz.py", "test_metric_expressions.py")
LONGEST += ("test_properties.py", "test_identification.py", "test_examples.py", "search", "digits")


def group_by_file(items: list[Any]) -> list[Any]:
    """Let a process run a whole file: what its tests share is made once, and fewer messages go to and fro."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
    groups = [item.get_closest_marker("xdist_group").args[0] for item in items]
    sizes = Counter(groups)
    order = [*LONGEST, *(group for group, _ in sizes.most_common() if group not in LONGEST)]
    return [items[place] for place in sorted(range(len(items)), key=lambda place: order.index(groups[place]))]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is repeated, and put the longest first."""
    repeated = thinned(items)
    if repeated:
        config.hook.pytest_deselected(items=repeated)
        left_out = set(repeated)
        items[:] = [item for item in items if item not in left_out]
    if getattr(config.option, "loadgroup", False):
        items[:] = group_by_file(items)
