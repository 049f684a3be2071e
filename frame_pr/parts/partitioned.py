"""`partitioned`: the `.pr` of a frame that is larger than memory."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from frame_pr.accessors import PR
from frame_pr.frames.arguments import (
    check_flag,
    check_whole,
    is_whole,
    path_of,
    public_function,
    scalar,
)
from frame_pr.frames.dispatch import is_stream, path_advice
from frame_pr.frames.messages import shown
from frame_pr.frames.signatures import Stream

_MOST_PARTITIONS = 10_000
"""The most parts. Each of them takes a file and 4 to 8 ms."""
_LEAST_BUDGET = 2**20
"""Bytes. A number meant as gibibytes is far below it, and would give a file for each row."""


@public_function
def partitioned(
    frame: pl.LazyFrame | pl.DataFrame | Stream,
    *,
    memory_budget: str | int = "4GiB",
    partitions: int | None = None,
    directory: str | Path | None = None,
    progress: bool = True,
) -> PR[pl.DataFrame]:
    """Compute metrics of a frame that is larger than memory.

    The rows are written to a temporary directory in parts, each with whole groups, and the
    functions run on one part after the other. If a group is too large for a part, or if there are
    no groups, the rows are divided into ranges of scores. Each range continues the ranking of the
    range above it. The values are those of the call in memory. If a group is divided into ranges,
    sums of fractions may differ in the last bits.

    Parameters
    ----------
    frame : polars LazyFrame or DataFrame, stream of Arrow
        Scored rows, such as `polars.scan_parquet` of many files. A stream, such as a
        `RecordBatchReader`, what an ADBC cursor fetches or a DuckDB relation, is written to the
        directory of the parts, batch by batch and only the columns that the call reads. A reader
        can be read only once, so it serves a single call.
    memory_budget : str or int
        Approximate limit of memory: "4GiB", "500MB", or a number of bytes, at least 1 MiB. It
        determines the number of parts.
    partitions : int, optional
        Number of parts, in place of `memory_budget`: at most 10,000, because each part needs a file
        and 4 to 8 ms.
    directory : path, optional
        Directory for the parts. They are written into a new directory in it,
        `frame_pr-<process>-...`, which is removed at the end, also after an error or Ctrl-C.
        SIGTERM and SIGKILL leave it, and the next call of the same user with this directory removes
        it. Default: the temporary directory of the system.
    progress : bool
        Whether a call of more than five seconds shows its progress on a terminal: a bar of tqdm if
        it is installed, otherwise a line of text.

    Returns
    -------
    PR
        The metrics as methods: `evaluate`, `report`, `tally` and each single metric; the other
        methods of `PR` refuse. A call runs at once and gives a polars DataFrame, sorted by the
        groups.

    Raises
    ------
    ValueError, TypeError
        memory_budget is no size, or below 1 MiB; partitions is below 1 or above 10,000; a column of
        the call has a name that parts need; the source has other rows when it is read again; and
        the errors of the call in memory.
    OSError
        The directory cannot be written to, its disk is full, a part is larger than a file may be,
        or a file of the frame ends early.

    See Also
    --------
    tally, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.LazyFrame(
    ...     {"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]}
    ... )
    >>> parts = fp.partitioned(run, partitions=2, progress=False)
    >>> parts.average_precision("relevant", "score", by="query").rows()
    [(1, 1.0), (2, 0.5)]
    """
    if not (isinstance(frame, (pl.LazyFrame, pl.DataFrame)) or is_stream(frame)):
        is_pandas = type(frame).__module__.startswith("pandas")
        advice = ": a pandas frame is in memory already" if is_pandas else path_advice(frame)
        raise TypeError(
            "partitioned takes a polars LazyFrame or DataFrame, or a stream of Arrow, as its "
            "frame, "
            f"got {shown(frame)}{advice}"
        )
    number = None if partitions is None else check_whole("partitions", partitions, least=1)
    if number is not None and number > _MOST_PARTITIONS:
        raise ValueError(
            f"partitions={number}: each part takes a file and 4 to 8 ms; "
            f"give at most {_MOST_PARTITIONS}"
        )
    folder = None if directory is None else Path(path_of("directory", directory)).expanduser()
    from frame_pr.parts.disk import DiskFrame

    parts: Any = DiskFrame.of(
        frame,
        budget=_parse_bytes(memory_budget),
        partitions=number,
        directory=folder,
        progress=check_flag("progress", progress),
    )
    return PR(parts)


def _parse_bytes(size: str | int) -> int:
    """Return a size such as "4GiB", or a number of bytes, as a number of bytes."""
    text = f"{size}B" if is_whole(scalar(size)) else str(size)
    match = re.fullmatch(
        r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B\s*", text, re.IGNORECASE | re.ASCII
    )
    if match is None:
        raise ValueError(
            "memory_budget must be a size such as '4GiB' or '500MB', or a number of bytes, "
            f"got {shown(size)}"
        )
    power = " KMGT".index(match[2].upper() or " ")
    number = int(Decimal(match[1]) * (1024 if match[3] else 1000) ** power)
    if not _LEAST_BUDGET <= number < 2**62:
        raise ValueError(
            f"memory_budget={shown(size)} must be at least 1MiB and below 2**62 bytes: "
            "4 GiB are '4GiB'"
        )
    return number
