"""A folder for parts that does not outlive the call, however that ends."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_FATAL = (signal.SIGTERM, signal.SIGHUP) if os.name == "posix" else ()
_QUIET = 0.3  # seconds without a new file, after which no writer is left


@contextmanager
def part_folder(directory: str | Path | None) -> Iterator[Path]:
    """A new folder in the directory, or where the system has such folders."""
    try:
        made = TemporaryDirectory(prefix="frame_pr-", dir=directory, ignore_cleanup_errors=True)
    except OSError as error:
        raise OSError(error.errno, f"no parts can be written to the directory: {error.strerror}", directory) from None
    try:
        with made as name, _removed_on_signals(name):
            yield Path(name)
    except BaseException:
        # A thread, which a second Ctrl-C does not stop.
        removing = threading.Thread(target=_remove, args=(made.name,))
        removing.start()
        removing.join()
        raise


def _remove(folder: str) -> None:
    """Remove a folder until it stays so: what was writing to it makes it anew, and ends a moment after the call."""
    quiet = 0.0
    while quiet < _QUIET:
        quiet = 0.0 if os.path.exists(folder) else quiet + 0.02
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)


@contextmanager
def _removed_on_signals(folder: str) -> Iterator[None]:
    """Signals that end a process at once still do, but the folder goes first.

    By a thread, which the signal wakes: a handler of Python's would wait until polars returns. Where the caller handles
    signals, in any way, that is left as it is.
    """
    ours = [one for one in _FATAL if signal.getsignal(one) == signal.SIG_DFL]
    if not ours or threading.current_thread() is not threading.main_thread() or _is_waited_for():
        yield
        return
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    ending = threading.Event()
    threading.Thread(target=_watch, args=(told, ours, folder, ending), daemon=True).start()
    for one in ours:
        signal.signal(one, _wake)
    try:
        yield
    finally:
        while ending.is_set():  # the thread ends the process, when the folder is gone
            time.sleep(0.02)
        for one in ours:
            signal.signal(one, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.close(tell)


def _is_waited_for() -> bool:
    """Whether somebody else is woken by signals, such as an event loop."""
    theirs = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(theirs)
    return theirs != -1


def _wake(*_: object) -> None:
    """What happens is in the thread."""


def _watch(told: int, ours: Sequence[int], folder: str, ending: threading.Event) -> None:
    with open(told, "rb", buffering=0) as signals:
        while number := signals.read(1):
            if number[0] in ours:
                ending.set()
                _remove(folder)
                os._exit(128 + number[0])
