"""Metrics of a frame that is larger than memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from frame_pr.accessors import PR


def partitioned(
    frame: pl.LazyFrame | pl.DataFrame,
    *,
    memory_budget: str | int = "4GiB",
    partitions: int | None = None,
    directory: str | Path | None = None,
    progress: bool = True,
) -> PR[pl.DataFrame]:
    """Metrics of a frame that need not fit in memory.

    The rows are written to a temporary directory in parts, whole groups together, and the plain functions run on one
    part after the other. A part that is still too large, as it holds a very large group, and a frame without groups,
    are cut into ranges of scores, each of which continues the ranking where the range above it ended. The numbers are
    those of the plain call.

    Parameters
    ----------
    frame : polars LazyFrame or DataFrame
        Scored rows, such as `polars.scan_parquet` of many files.
    memory_budget : str or int
        Memory to stay within, about: "4GiB", "500MB", or a number of bytes. Says how many parts there are.
    partitions : int, optional
        The number of parts, instead.
    directory : path, optional
        Where the parts are written, in a new directory that is removed at the end, also after an error or an interrupt.
        By default where the system has its temporary files.
    progress : bool
        Whether to say on standard error how many parts there are and how much disk they may take, and to show a bar
        (with tqdm installed).

    Returns
    -------
    PR
        The metrics as methods: `evaluate`, `report`, and each single metric. A call runs at once and gives a polars
        DataFrame, one row per group, sorted.

    Raises
    ------
    ValueError, TypeError
        memory_budget is no size; partitions is below 1; and what the plain call raises.
    OSError
        The directory cannot be written to, or its disk is full.

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
        raise TypeError(
            f"partitioned takes a polars LazyFrame or DataFrame, got a {type(frame).__name__}: a pandas frame is in "
            "memory already"
        )
    if partitions is not None and (not isinstance(partitions, int) or partitions < 1):
        raise ValueError(f"partitions must be a whole number of at least 1, got {partitions!r}")
    from frame_pr.partitioned_frames import PartitionedFrame

    parts: Any = PartitionedFrame(frame.lazy(), _bytes(memory_budget), partitions, directory, progress)
    return PR(parts)


def _bytes(size: str | int) -> int:
    if isinstance(size, str) and (found := re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]i?B|B)\s*", size, re.IGNORECASE)):
        number, unit = found.groups()
        power = "BKMGT".index(unit[0].upper())
        size = int(float(number) * (1024 if "i" in unit.lower() else 1000) ** power)
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"memory_budget must be a size such as '4GiB' or '500MB', or a number of bytes, got {size!r}")
    return size
