"""Progress of long computations on a terminal: a bar of tqdm, or without tqdm a line of text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")
_QUIET_FOR = 5.0
"""Seconds in which nothing is shown."""


def with_progress(
    items: Iterable[Item], title: str, total: int, size: Callable[[Item], int], *, show: bool
) -> Iterator[Item]:
    """Yield items, and show on a terminal how much of the total is done; `size`: of an item."""
    if not (show and sys.stderr.isatty()):
        yield from items
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from _with_text(items, title, total, size)
        return
    with tqdm(desc=title, total=total, delay=_QUIET_FOR, leave=False) as bar:
        for item in items:
            yield item
            bar.update(size(item))


def _with_text(
    items: Iterable[Item], title: str, total: int, size: Callable[[Item], int]
) -> Iterator[Item]:
    """Yield items, and write how much of the total is done."""
    start = monotonic()
    done = 0
    is_shown = False
    for item in items:
        yield item
        done += size(item)
        if monotonic() - start > _QUIET_FOR:
            sys.stderr.write(f"\r{title}: {done:,} of {total:,}")
            sys.stderr.flush()
            is_shown = True
    if is_shown:
        sys.stderr.write("\n")
