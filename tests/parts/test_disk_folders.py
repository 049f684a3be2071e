"""Folders, budgets and numbers of parts of frames on disk, and what signals leave behind."""

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

import frame_pr as fp
from frame_pr.parts.disk import part_folder

pytestmark = pytest.mark.slow

RUN = pl.DataFrame(
    {"q": [1, 1, 2, 2], "t": [1, 0, 0, 1], "s": [4.0, 3, 2, 1], "w": [1.0, 2, 3, 4], "P": [9] * 4}
)


WRITING = """
import signal, sys, polars as pl, frame_pr as fp
# Where the tests run in the background, this is ignored from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
i = pl.int_range(2_000_000)
run = pl.select(g=i % 50_000, y=i % 3 == 0, s=i.sin())
print("ready", flush=True)
parts = fp.partitioned(run, partitions=90, directory=sys.argv[1], progress=False)
parts.average_precision("y", "s", by="g")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of Posix")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_leaves_no_parts_and_other_signals_a_folder_with_the_number_of_the_process(
    tmp_path, name
):
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as running:
        running.stdout.readline()
        while not list(tmp_path.glob("*/*")):
            assert running.poll() is None
        running.send_signal(getattr(signal, name))
        errors = running.communicate(timeout=60)[1]
    if name == "SIGINT":
        assert "KeyboardInterrupt" in errors
        assert list(tmp_path.iterdir()) == []
    else:
        assert [
            path.name.startswith(f"frame_pr-{running.pid}-") for path in tmp_path.iterdir()
        ] == [True]


@pytest.mark.skipif(os.name != "posix", reason="signals of Posix")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_the_next_call_removes_what_a_dead_process_left_and_nothing_else(tmp_path, name):
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as running:
        running.stdout.readline()
        while not list(tmp_path.glob("*/part*")):
            assert running.poll() is None
        running.send_signal(getattr(signal, name))
        running.wait(timeout=60)
    (left,) = tmp_path.iterdir()
    # Folders of the caller, with names such as ours, and of a process that lives.
    others = [tmp_path / name for name in ("frame_pr-2024-analysis", "frame_pr-1-a_b_c_d_")]
    for folder in others:
        folder.mkdir()
        (folder / "work.parquet").touch()
        os.utime(folder, (0, 0))

    def call():
        run = fp.partitioned(RUN, partitions=2, directory=tmp_path, progress=False)
        run.average_precision("t", "s", by="q")
        return sorted(tmp_path.iterdir())

    assert call() == sorted([left, *others])  # Its process may still be about to lock it.
    with part_folder(tmp_path) as alive:
        for folder in (left, alive):
            os.utime(folder / "frame_pr.lock", (0, 0))
        assert call() == sorted([alive, *others])
    assert call() == sorted(others)


def test_a_call_leaves_signals_and_threads_as_they_are():
    signals, threads = (
        [signal.getsignal(one) for one in signal.valid_signals()],
        threading.active_count(),
    )
    fp.partitioned(RUN, partitions=2, progress=False).average_precision("t", "s", by="q")
    assert [signal.getsignal(one) for one in signal.valid_signals()] == signals
    assert threading.active_count() == threads


def test_a_home_directory(tmp_path, monkeypatch):
    for variable in ("HOME", "USERPROFILE"):  # Windows reads the second
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(FileNotFoundError) as raised:
        fp.partitioned(RUN, partitions=2, directory="~/none", progress=False).average_precision(
            "t", "s", by="q"
        )
    assert str(raised.value.filename).startswith(str(tmp_path / "none"))


@pytest.mark.parametrize("size", [4, "1023KiB", np.int64(16)], ids=str)
def test_a_budget_that_was_meant_in_gibibytes(size):
    with pytest.raises(
        ValueError, match=r"memory_budget=.* must be at least 1MiB and below 2\*\*62 bytes: 4"
    ):
        fp.partitioned(RUN, memory_budget=size)


@pytest.mark.parametrize("size", ["1.5.2GiB", "GiB", True, 4.0e9, math.inf, None], ids=str)
def test_budgets_that_are_none(size):
    with pytest.raises(ValueError, match="memory_budget must be a size such as '4GiB'"):
        fp.partitioned(RUN, memory_budget=size)


def test_numbers_of_parts():
    for number in (3, np.int64(3), np.uint8(3)):
        parted = fp.partitioned(RUN, partitions=number, progress=False)
        assert parted.average_precision("t", "s", by="q").height == 2
    for number in (True, np.True_, 2.0, "2", 0, np.int64(-1)):
        with pytest.raises(
            (TypeError, ValueError), match="partitions must be a whole number of at least 1"
        ):
            fp.partitioned(RUN, partitions=number)
    with pytest.raises(
        ValueError, match="partitions=10001: each part takes a file and 4 to 8 ms; give at most"
    ):
        fp.partitioned(RUN, partitions=10_001)
    for directory in (3, 2.5, ["parts"]):
        with pytest.raises(TypeError, match="directory must be text or a path, got"):
            fp.partitioned(RUN, directory=directory)
