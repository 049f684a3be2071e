"""Long computations show their progress on a terminal, by tqdm or as text, and nowhere else."""

import io
import sys
from types import ModuleType
from typing import ClassVar

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames import progress

DATA = pl.DataFrame(
    {
        "q": [i % 35 for i in range(70)],
        "y": [i * 5 % 3 == 0 for i in range(70)],
        "s": [i * 31 % 71 for i in range(70)],
    }
)
REPEATS = 200
PARTS = 2
CALLS = {
    "bootstrap": (
        lambda **given: fp.intervals(
            DATA, "max_f1", "y", "s", method="bootstrap", repeats=REPEATS, **given
        ),
        REPEATS,
    ),
    "compare": (
        lambda **given: fp.compare(
            DATA.with_columns(t=-pl.col("s")),
            "roc_auc",
            "y",
            ["s", "t"],
            method="bootstrap",
            repeats=REPEATS,
            **given,
        ),
        REPEATS,
    ),
    "partitioned": (
        lambda **given: fp.partitioned(DATA.lazy(), partitions=PARTS, **given).roc_auc(
            "y", "s", by="q"
        ),
        PARTS,
    ),
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """Records what a bar of tqdm shows."""

    made: ClassVar[list["Bar"]] = []

    def __init__(self, *, desc, total, delay, leave):
        self.desc, self.total, self.delay, self.leave = desc, total, delay, leave
        self.done = 0
        Bar.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def update(self, number):
        self.done += number


def written(monkeypatch, call, stream, **given):
    """Return what a call writes to its standard error."""
    # pytest sets its own stream before the test, so no fixture can.
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(Bar, "made", [])
    call(**given)
    return stream.getvalue()


@pytest.fixture
def tqdm(monkeypatch):
    module = ModuleType("tqdm")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)


@pytest.fixture
def without_tqdm(monkeypatch):
    """Without tqdm, on a clock that goes on by six seconds at each look."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    seconds = iter(range(0, 10**6, 6))
    monkeypatch.setattr(progress, "monotonic", lambda: next(seconds))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("tqdm")
def test_a_bar_of_tqdm(name, monkeypatch):
    call, total = CALLS[name]
    assert written(monkeypatch, call, Terminal()) == ""
    [bar] = Bar.made
    assert bar.total == bar.done == total
    assert bar.delay == 5.0
    assert not bar.leave


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("without_tqdm")
def test_a_line_of_text(name, monkeypatch):
    call, total = CALLS[name]
    *lines, last = written(monkeypatch, call, Terminal()).split("\r")
    assert lines[0] == ""
    assert last.endswith(f": {total} of {total}\n")


@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_a_short_call(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert written(monkeypatch, CALLS[name][0], Terminal()) == ""


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("tqdm")
def test_nothing_if_not_wanted(name, monkeypatch):
    assert written(monkeypatch, CALLS[name][0], Terminal(), progress=False) == ""
    assert not Bar.made


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("without_tqdm")
def test_nothing_in_a_pipe(name, monkeypatch):
    assert written(monkeypatch, CALLS[name][0], io.StringIO()) == ""
