"""Metrics of a frame that is larger than memory: in parts on disk, then the plain functions on one part at a time."""

from __future__ import annotations

import errno
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from frame_pr.accessors import PR
from frame_pr.calls import Call, Part
from frame_pr.parts import Parts
from frame_pr.score_ranges import RANGE, cut_points, evaluated, range_of

_BYTES_A_ROW = 160  # at the peak, beside the rows themselves; benchmarks/partitions.py measures it
_SAMPLE = 100_000


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
    parts: Any = PartitionedFrame(frame.lazy(), _bytes(memory_budget), partitions, directory, progress)
    return PR(parts)


@dataclass(frozen=True)
class PartitionedFrame(Parts):
    """A frame, as an engine that takes one part at a time."""

    frame: pl.LazyFrame
    budget: int
    partitions: int | None
    directory: str | Path | None
    progress: bool

    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.frame.collect_schema().names()

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """These columns without rows."""
        return self.frame.select(columns).collect_schema().to_frame()

    def groups(self, call: Call) -> pl.DataFrame:
        """One row per group, sorted."""
        frame = self.frame.select(call.columns())
        rows, width = _height(frame), sum(map(_width, frame.collect_schema().dtypes()))
        # Parts are not all of one size.
        most = math.ceil(1.5 * rows / self.partitions) if self.partitions else self.budget // (_BYTES_A_ROW + width)
        partitions = self.partitions or math.ceil(1.2 * rows / most)
        if partitions <= 1:
            return call.of_groups(frame.collect())
        with _folder(self.directory) as folder, _bar(rows, self.progress) as done:
            if self.progress:
                disk = f"up to {rows * width / 1e9:.1f} GB of disk in {folder}"
                print(f"frame_pr: {rows:,} rows in {partitions} parts, {disk}", file=sys.stderr)
            tables = []
            for part in _written(frame, pl.struct(call.by).hash() % partitions, folder) if call.by else [frame]:
                height = _height(part)
                whole = call.by and height <= most
                tables.append(call.of_groups(part.collect()) if whole else _by_range(call, part, height, most, folder))
                done(height)
        result = pl.concat(tables)
        return _sorted(result, call.order(result.drop(call.names).columns)) if call.by else result

    def averaged(self, groups: pl.DataFrame, call: Call, keys: Sequence[str], average: Part) -> pl.DataFrame:
        """Groups, averaged over those that share these keys."""
        result = average(groups)
        return _sorted(result, call.order(keys)) if keys else result

    def beside(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> pl.DataFrame:
        """Not for rows in parts, which do not keep their order."""
        raise TypeError("with_metrics gives rows in their order, which parts do not keep: join evaluate to the rows")


def _sorted(result: pl.DataFrame, keys: Sequence[pl.Expr]) -> pl.DataFrame:
    """Sorted one column after the other: a large result is in memory once, not twice."""
    place = result.select(pl.arg_sort_by(keys)).to_series()
    for name in result.columns:
        result = result.with_columns(pl.col(name).gather(place))
    return result


def _by_range(call: Call, frame: pl.LazyFrame, rows: int, most: int, folder: Path) -> pl.DataFrame:
    """One row per group of a frame with a very large one."""
    results = []
    for one in call.systems():
        sample = frame.select(one.score).with_row_index("row").filter(pl.col("row") % max(1, rows // _SAMPLE) == 0)
        cuts = cut_points(sample.collect(engine="streaming")[one.score], math.ceil(1.2 * rows / most))
        with TemporaryDirectory(dir=folder) as below:
            parts = _written(frame.with_columns(range_of(one.score, cuts)), pl.col(RANGE), Path(below))

            def over_ranges(function: Part, parts: Sequence[pl.LazyFrame] = parts) -> pl.DataFrame:
                return pl.concat(function(part.collect()) for part in parts)

            results.append(evaluated(one, frame.collect_schema().to_frame(), over_ranges))
    return call.joined(results)


def _written(frame: pl.LazyFrame, part: pl.Expr, folder: Path) -> list[pl.LazyFrame]:
    """Write a frame in parts."""
    # Unstable in polars, and in this one place. One file a part, however large: there are many parts.
    parts = pl.PartitionBy(folder, key={"part": part}, include_key=False, approximate_bytes_per_file=None)
    try:
        frame.sink_parquet(parts, compression="lz4", statistics=False, maintain_order=False)
    except (OSError, pl.exceptions.ComputeError) as error:
        if "os error 28" not in str(error):
            raise
        raise OSError(
            errno.ENOSPC, f"the disk of {folder} is full: partitioned(directory=...) takes a directory on another one"
        ) from None
    return [pl.scan_parquet(path) for path in sorted(folder.glob("part=*"))]


@contextmanager
def _folder(directory: str | Path | None) -> Iterator[Path]:
    try:
        made = TemporaryDirectory(prefix="frame_pr-", dir=directory)
    except OSError as error:
        raise OSError(error.errno, f"no parts can be written to the directory: {error.strerror}", directory) from None
    with made as folder:
        yield Path(folder)


@contextmanager
def _bar(rows: int, progress: bool) -> Iterator[Callable[[int], object]]:
    try:
        from tqdm import tqdm
    except ImportError:
        progress = False
    if not progress:
        yield lambda rows: None
        return
    with tqdm(total=rows, unit=" rows", unit_scale=True, delay=2) as bar:
        yield bar.update


def _height(frame: pl.LazyFrame) -> int:
    height: int = frame.select(pl.len()).collect(engine="streaming").item()
    return height


def _width(dtype: pl.DataType) -> int:
    """Bytes of a value, about."""
    if dtype.is_numeric() and not dtype.is_decimal():
        return int(pl.Series([0], dtype=dtype).estimated_size())
    return {pl.Boolean: 1, pl.Date: 4, pl.Datetime: 8, pl.Duration: 8, pl.Time: 8}.get(dtype.base_type(), 24)


def _bytes(size: str | int) -> int:
    if isinstance(size, str) and (found := re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]i?B|B)\s*", size, re.IGNORECASE)):
        number, unit = found.groups()
        power = "BKMGT".index(unit[0].upper())
        size = int(float(number) * (1024 if "i" in unit.lower() else 1000) ** power)
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"memory_budget must be a size such as '4GiB' or '500MB', or a number of bytes, got {size!r}")
    return size
