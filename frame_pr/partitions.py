"""Metrics of a frame that is larger than memory."""

from __future__ import annotations

import re
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from frame_pr.accessors import PR
from frame_pr.frames.arguments import flag, is_whole, path_of, public, scalar, whole
from frame_pr.frames.arrow import PandasFrame
from frame_pr.frames.kinds import scan_of
from frame_pr.frames.messages import shown

_MOST = 10_000  # parts, of which each takes a file and about 20 ms
_LEAST = 2**20  # bytes; a number of gibibytes is far below it, and would be as many files as there are rows


@public()
def partitioned(
    frame: pl.LazyFrame | pl.DataFrame,
    *,
    memory_budget: str | int = "4GiB",
    partitions: int | None = None,
    directory: str | Path | None = None,
    progress: bool = True,
) -> PR[pl.DataFrame]:
    """Compute metrics of a frame that is larger than memory.

    The rows are written to a temporary directory in parts, whole groups together, and the plain functions run on one
    part after the other. A part that is still too large, as it holds a very large group, and a frame without groups,
    are cut into ranges of scores, each of which continues the ranking where the range above it ended. The numbers are
    those of the plain call; where a group is cut into ranges, sums of fractions may differ in the last bits.

    Parameters
    ----------
    frame : polars LazyFrame or DataFrame
        Scored rows, such as `polars.scan_parquet` of many files.
    memory_budget : str or int
        Memory to stay within, about: "4GiB", "500MB", or a number of bytes, at least 1 MiB. Says how many parts there
        are.
    partitions : int, optional
        The number of parts, instead: at most 10,000, as each takes a file and about 20 ms.
    directory : path, optional
        Where the parts are written, in a new directory that is removed at the end, also after an error or an interrupt.
        By default where the system has its temporary files.
    progress : bool
        Whether to say on standard error how many parts there are and how much disk they may take, and to show a bar
        (with tqdm installed).

    Returns
    -------
    PR
        The metrics as methods: `evaluate`, `report`, `tally` and each single metric; the other methods of `PR` refuse.
        A call runs at once and gives a polars DataFrame, sorted by the groups.

    Raises
    ------
    ValueError, TypeError
        memory_budget is no size, or below 1 MiB; partitions is below 1 or above 10,000; and what the plain call raises.
    OSError
        The directory cannot be written to, its disk is full, or a part is larger than a file may be.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.LazyFrame({"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
    >>> parts = fp.partitioned(run, partitions=2, progress=False)
    >>> parts.average_precision("relevant", "score", by="query").rows()
    [(1, 1.0), (2, 0.5)]
    """
    if not isinstance(frame, (pl.LazyFrame, pl.DataFrame)):
        way = f": give {scan_of(frame)}" if isinstance(frame, (str, PathLike)) and scan_of(frame) else ""
        way = ": a pandas frame is in memory already" if PandasFrame.matches(frame) else way
        raise TypeError(f"partitioned takes a polars LazyFrame or DataFrame as its frame, got {shown(frame)}{way}")
    number = None if partitions is None else whole("partitions", partitions, least=1)
    if number is not None and number > _MOST:
        raise ValueError(f"partitions={number}: each part takes a file and about 20 ms; give at most {_MOST}")
    where = None if directory is None else Path(path_of("directory", directory)).expanduser()
    bar = flag("progress", progress)
    from frame_pr.parts.disk import DiskFrame

    parts: Any = DiskFrame(frame.lazy(), _bytes(memory_budget), number, where, bar)
    return PR(parts)


def _bytes(size: str | int) -> int:
    written = size if isinstance(size, str) and len(size) < 100 else ""
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([KMGT]i?B|B)\s*", written, re.IGNORECASE)
    if match:
        number, unit = match.groups()
        power = "BKMGT".index(unit[0].upper())
        bytes_ = int(Decimal(number) * (1024 if "i" in unit.lower() else 1000) ** power)
    else:
        size_number = scalar(size)
        bytes_ = int(size_number) if is_whole(size_number) else 0
    if not 1 <= bytes_ < 2**62:
        raise ValueError(
            f"memory_budget must be a size such as '4GiB' or '500MB', or a number of bytes, got {shown(size)}"
        )
    if bytes_ < _LEAST:
        raise ValueError(f"memory_budget={shown(size)} is {bytes_} bytes, and 1MiB is the least: 4 GiB are '4GiB'")
    return bytes_
