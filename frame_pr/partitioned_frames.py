"""A frame on disk in parts, and the plain functions on one part at a time."""

from __future__ import annotations

import errno
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from frame_pr.calls import Call, Part
from frame_pr.parts import Parts
from frame_pr.score_ranges import RANGE, cut_points, evaluated, range_of

_BYTES_A_ROW = 160  # at the peak, beside the rows themselves; benchmarks/scale.py measures it
_SAMPLE = 100_000
_PART = "frame_pr part"  # polars drops a column of this name


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
        partitions = self.partitions or math.ceil(1.2 * rows / max(1, most))
        if partitions <= 1 or not rows:
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
        sample = frame.select(score=one.score).with_row_index("row")
        sample = sample.filter(pl.col("row") % max(1, rows // _SAMPLE) == 0)
        cuts = cut_points(sample.collect(engine="streaming")["score"], math.ceil(1.2 * rows / max(1, most)))
        with TemporaryDirectory(dir=folder) as below:
            parts = _written(frame.with_columns(range_of(one.score, cuts)), pl.col(RANGE), Path(below))

            def over_ranges(function: Part, parts: Sequence[pl.LazyFrame] = parts) -> pl.DataFrame:
                return pl.concat(function(part.collect()) for part in parts)

            results.append(evaluated(one, frame.collect_schema().to_frame(), over_ranges))
    return call.joined(results)


def _written(frame: pl.LazyFrame, part: pl.Expr, folder: Path) -> list[pl.LazyFrame]:
    """Write a frame in parts."""
    # Unstable in polars, and in this one place. One file a part, however large: there are many parts.
    parts = pl.PartitionBy(folder, key={_PART: part}, include_key=False, approximate_bytes_per_file=None)
    try:
        frame.sink_ipc(parts, compression="lz4", maintain_order=False)
    except (OSError, pl.exceptions.ComputeError) as error:
        if "os error 28" not in str(error):
            raise
        raise OSError(
            errno.ENOSPC, f"the disk of {folder} is full: partitioned(directory=...) takes a directory on another one"
        ) from None
    return [pl.scan_ipc(path) for path in sorted(folder.glob(f"{_PART}=*"))]


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
