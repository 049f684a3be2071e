"""Frames and Arrow streams on disk, split into parts in a temporary folder; functions run on one part at a time."""

from __future__ import annotations

import errno
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arrow import stream_of
from frame_pr.frames.columns import expand_single, expanded, refuse_fault
from frame_pr.frames.kinds import refuse_no_rows
from frame_pr.frames.messages import first_line, shown
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.data_warnings import columns_read
from frame_pr.inputs.request import Request
from frame_pr.metrics.means import Means
from frame_pr.parts.backends import Parts, Passes
from frame_pr.parts.part_query import Part, PartQuery, in_part, in_places, places
from frame_pr.parts.score_ranges import RANGE, evaluate_ranges, range_edges, range_of, refuse_gain

_BYTES_PER_ROW = 160  # Peak memory in addition to the rows themselves; benchmarks/scale.py measures it.
_SAMPLE = 1_000_000  # The largest number of rows in a sample.
_FILE = 2**26  # Approximate bytes of each file into which a stream is written.
_PART = "part"  # polars drops a column of this name. The columns of a part are named by their places, so it is free.


@dataclass(frozen=True)
class DiskFrame(Parts):
    """A frame whose metrics are computed one part at a time."""

    name = "partitioned frame"
    functions = "evaluate, report, tally and the functions of single metrics"
    in_memory = "the rows themselves"

    frame: pl.LazyFrame
    budget: int
    partitions: int | None
    directory: str | Path | None
    progress: bool

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        return self.frame.collect_schema().names()

    def evaluate(self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None) -> Any:
        """Compute metrics per group. Columns of the request may be expressions."""
        frame, request, columns, arguments = self._with_named_columns(request)
        with self._naming_arguments(columns, arguments):
            return super(DiskFrame, frame).evaluate(request, named, means, undefined)

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Aggregate rows with equal values. Columns of the request may be expressions."""
        frame, request, columns, arguments = self._with_named_columns(request)
        with self._naming_arguments(columns, arguments):
            return super(DiskFrame, frame).tally(request, bins)

    @contextmanager
    def _naming_arguments(self, columns: Mapping[str, pl.Expr], arguments: Mapping[str, str]) -> Iterator[None]:
        """Name the argument if one of these columns fails."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            refuse_fault(self.frame, columns, arguments, _height(self.frame))
            raise

    def _with_named_columns(self, request: Request) -> tuple[DiskFrame, Request, dict[str, pl.Expr], dict[str, str]]:
        """Return the frame with the columns of the request, the request with their names, the columns, their arguments.

        The last two are dicts by the names of the columns; empty if the request has no expression.
        """
        columns: dict[str, pl.Expr] = {}
        arguments: dict[str, str] = {}
        if not any(isinstance(column, pl.Expr) for column in request.columns()):
            return self, request, columns, arguments

        def named(argument: str, items: Sequence[Any], *, several: bool = False) -> list[str]:
            self.refuse_missing([item for item in items if not isinstance(item, pl.Expr)], argument)
            pairs = expanded(self.frame, argument, items).items() if several else None
            names = []
            for name, column in [expand_single(self.frame, argument, *items)] if pairs is None else pairs:
                # Two columns may have one name, such as `relevance` and `pl.col("relevance") >= 1`.
                unique = name
                while unique in columns and not columns[unique].meta.eq(column):
                    unique = f"{argument} {unique}"
                if unique != name and several:
                    raise ValueError(f"{argument}: {shown(name)} is also another column of the call; use alias()")
                columns[unique], arguments[unique] = column, argument
                names.append(unique)
            return names

        # Names of keys and scores are in the result, so they come first.
        keys = named("by", request.keys, several=True)
        scores = named("score", request.scores, several=request.several)
        single = {argument: named(argument, [column])[0] for argument, column in request.single.items()}
        options: Any = {argument: name for argument, name in single.items() if argument in request.policies}
        request = replace(request, keys=keys, scores=scores, truth=single["truth"], policies=request.policies | options)
        frame = self.frame.with_columns(column.alias(name) for name, column in columns.items())
        return replace(self, frame=frame), request, columns, arguments

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> PartQuery:
        self.refuse_tally(request, lambda rows: self.frame.head(rows).collect())
        return super()._call(request, named, undefined)

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return these columns without rows."""
        return in_places(self.frame, columns).collect_schema().to_frame()

    def groups(self, call: PartQuery) -> pl.DataFrame:
        """Compute one row per group, sorted."""
        frame = in_places(self.frame, call.columns())
        rows, width = _height(frame), sum(map(_width, frame.collect_schema().dtypes()))
        # Parts differ in size.
        most = math.ceil(1.5 * rows / self.partitions) if self.partitions else self.budget // (_BYTES_PER_ROW + width)
        partitions = self.partitions or math.ceil(1.2 * rows / max(1, most))
        if partitions <= 1 or not rows:
            whole = frame.collect()
            _refuse_label([whole.lazy()], call)
            return call.of_groups(whole)
        with part_folder(self.directory) as folder, _bar(rows, self.progress) as done:
            if self.progress:
                disk = f"up to {rows * width / 1e9:.1f} GB of disk in {folder}"
                print(f"frame_pr: {rows:,} rows in {partitions} parts, {disk}", file=sys.stderr)
            if not call.by:
                result = _by_range(call, frame, rows, most, folder)
                done(rows)
                return result
            tables, parts = [], _write_parts(frame, pl.struct(call.keys).hash() % partitions, folder)
            _refuse_label(parts, call)
            for part in parts:
                height = _height(part)
                if height <= most:
                    tables.append(in_part(call.of_groups, part.collect()))
                else:
                    tables.append(_by_range(call, part, height, most, folder))
                done(height)
        result = pl.concat(tables)
        return _sorted(result, call, [name for name in result.columns if name not in call.named])

    def with_others(
        self, groups: pl.DataFrame, others: pl.DataFrame, call: PartQuery, keys: Sequence[str]
    ) -> pl.DataFrame:
        """Combine groups with others, sorted."""
        return _sorted(pl.concat([groups, others]).unique(cs.by_name(*keys), keep="first"), call, keys)

    def tally_parts(self, call: PartQuery, tallies: PartQuery, first: Part, then: Part) -> pl.DataFrame:
        """Combine the tallies of parts."""
        frame = in_places(self.frame, call.columns())
        schema, rows = frame.collect_schema(), _height(frame)
        width = sum(map(_width, schema.dtypes()))
        partitions = self.partitions or math.ceil(rows * (_BYTES_PER_ROW + width) / self.budget)
        if partitions <= 1 or not rows:
            return _merged(first(frame.collect()), tallies, then)
        with part_folder(self.directory) as folder, _bar(rows, self.progress) as done:
            tables = []
            for part in _write_parts(frame, pl.struct(schema.names()).hash() % partitions, folder):
                tables.append(in_part(first, part.collect()))
                done(_height(part))
        return _merged(pl.concat(tables), tallies, then)

    def averaged(self, groups: pl.DataFrame, call: PartQuery, keys: Sequence[str], average: Part) -> pl.DataFrame:
        """Average groups that share these keys."""
        result = average(in_places(groups.lazy(), [*keys, *call.named]).collect())
        return _sorted(result, call, keys) if keys else result

    def append_columns(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> pl.DataFrame:
        """Refuse: rows in parts do not keep their order."""
        raise TypeError("with_metrics keeps the order of the rows, and parts do not: join evaluate(...) to the rows")


@dataclass(frozen=True)
class StreamFrame(DiskFrame):
    """The columns of a stream, as a frame without rows. A call first writes the rows of the stream to files."""

    stream: Any

    @classmethod
    def of(
        cls, stream: Any, budget: int, partitions: int | None, directory: Path | None, progress: bool
    ) -> StreamFrame:
        """Return the frame of a stream."""
        try:
            import pyarrow as pa
        except ImportError:
            raise ImportError('partitioned needs pyarrow for a stream: pip install "frame-pr[pandas]"') from None
        if (access := stream_of(stream)) is None:
            return cls.of(pa.RecordBatchReader.from_stream(stream), budget, partitions, directory, progress)
        return cls(pl.DataFrame(access.empty(stream)).lazy(), budget, partitions, directory, progress, stream)

    def evaluate(self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None) -> Any:
        """Compute metrics per group; wrong names and types are an error before the stream is read."""
        frame, named_request, *_ = self._with_named_columns(request)
        call = frame._call(named_request, named, undefined)
        call.of_groups(frame.empty(call.columns()), means)
        with self._read(request) as rows:
            return rows.evaluate(request, named, means, undefined)

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Aggregate rows with equal values; wrong names and types are an error before the stream is read."""
        frame, named_request, *_ = self._with_named_columns(request)
        call = frame._call(named_request, {}, None)
        call.of_equal_rows(frame.empty(call.columns()), bins)
        with self._read(request) as rows:
            return rows.tally(request, bins)

    @contextmanager
    def _read(self, request: Request) -> Iterator[DiskFrame]:
        """Write the rows to files, and yield the frame that reads them."""
        stream, access, names = self.stream, stream_of(self.stream), columns_read(self.columns(), request)
        assert access is not None
        schema = self.frame.collect_schema()
        if names is not None:
            stream, schema = access.project(stream, names), pl.Schema({name: schema[name] for name in names})
        with part_folder(self.directory) as folder:
            files, batches = list[Path](), partial(access.batches, stream)
            for table in _tables(batches, schema, min(_FILE, self.budget // 8), type(self.stream).__name__):
                files.append(folder / f"rows-{len(files):06}.arrow")
                sink(table.lazy(), files[-1], folder)
            if not files:
                refuse_no_rows(self.stream)
            frame = pl.scan_ipc(files) if files else pl.LazyFrame(schema=schema)
            yield DiskFrame(frame, self.budget, self.partitions, folder, self.progress)


def _tables(batches: Callable[[], Any], schema: pl.Schema, size: int, kind: str) -> Iterator[pl.DataFrame]:
    """Combine the batches of a stream of this kind into tables of about this size in bytes."""
    # The caller's thread reads them: a connection of SQLite belongs to one thread.
    tables, bytes_read = list[pl.DataFrame](), 0.0
    try:
        for batch in batches():
            tables.append(pl.DataFrame(batch).cast(schema))
            bytes_read += tables[-1].estimated_size()
            if bytes_read >= size:
                yield pl.concat(tables)
                tables, bytes_read = [], 0.0
    except Exception as error:
        raise TypeError(f"the stream of a {kind} cannot be read: {first_line(error)}") from None
    if bytes_read:
        yield pl.concat(tables)


def _merged(tables: pl.DataFrame, tallies: PartQuery, then: Part) -> pl.DataFrame:
    return then(in_places(tables.lazy(), tallies.columns()).collect())


def _sorted(result: pl.DataFrame, call: PartQuery, keys: Sequence[str]) -> pl.DataFrame:
    """Sort one column after the other, so that a large result is in memory once and not twice."""
    place = call.in_order(result, keys)
    for name in result.columns:
        # Select by the name `column`, because polars would read some names of the caller as patterns.
        result = result.with_columns(result[name].alias("column").gather(place).alias(name))
    return result


def _refuse_label(parts: Sequence[pl.LazyFrame], call: PartQuery) -> None:
    """Raise if no part has the positive label. Read only the truth, up to the first part that has the label."""
    if call.request.positive is None:
        return
    tables: list[pl.DataFrame] = []
    for part in parts:
        tables.append(part.select(**call.labels(part.collect_schema())).collect(engine="streaming"))
        if tables[-1]["hits"].item():
            return
    call.refuse_label(pl.concat(tables))


def _by_range(call: PartQuery, frame: pl.LazyFrame, rows: int, most: int, folder: Path) -> pl.DataFrame:
    """Compute one row per group of a frame whose groups are too large for a part: split each into ranges of scores."""
    refuse_gain(call)
    results, passes, columns = [], Passes(), call.columns()
    for query in call.systems():
        part = in_places(frame, [str(columns.index(column)) for column in query.columns()])
        sample = part.with_row_index("row").filter(pl.col("row") % math.ceil(rows / min(rows, most, _SAMPLE)) == 0)
        sampled = sample.drop("row").collect(engine="streaming")
        # Good (1953): the share of unseen values is about the share of values that occur once in the sample.
        unseen_share = sampled.filter(sampled.is_unique()).height / sampled.height
        if unseen_share * rows <= most and (result := _by_equal_rows(query, part)) is not None:
            results.append(result)
            continue
        edges = range_edges(sampled[query.score], math.ceil(1.2 * rows / max(1, most)))
        with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as below:
            ranged = part.with_columns(range_of(query.score, edges, ascending=call.request.ascending))
            parts = _write_parts(ranged, pl.col(RANGE), Path(below))

            def over_ranges(function: Part, parts: Sequence[pl.LazyFrame] = parts) -> pl.DataFrame:
                return pl.concat(in_part(function, part.collect()) for part in parts)

            # The parts do not change on the disk, and another part may have the label.
            over = over_ranges if call.by else passes.of(query, over_ranges)
            results.append(evaluate_ranges(query, part.collect_schema().to_frame(), over))
    return call.joined(results)


def _by_equal_rows(call: PartQuery, part: pl.LazyFrame) -> pl.DataFrame | None:
    """Aggregate equal rows first, and compute one row per group; None if that is impossible."""
    if (counting := call.counting()) is None:
        return None
    named = dict(zip(places(call.columns()), call.columns(), strict=True))
    tally = part.group_by(list(named)).agg(number=pl.len().cast(pl.Int64))
    tally = tally.rename({**named, "number": str(counting.request.policies["count"])})
    table = in_places(tally, counting.columns()).collect(engine="streaming")
    try:
        if not call.by:  # Otherwise another part may have the label.
            _refuse_label([table.lazy()], counting)
        return counting.of_groups(table)
    except ValueError:
        return None  # Let the errors be about the rows themselves.


def _write_parts(frame: pl.LazyFrame, part: pl.Expr, folder: Path) -> list[pl.LazyFrame]:
    """Write the rows with each value of `part` into a file, and return the frames that read the files."""
    # The only unstable polars API in the package. One file per part, however large, because there are many parts.
    parts = pl.PartitionBy(folder, key={_PART: part}, include_key=False, approximate_bytes_per_file=None)
    sink(frame, parts, folder)
    return [pl.scan_ipc(path) for path in sorted(folder.glob(f"{_PART}=*"))]


def sink(frame: pl.LazyFrame, target: Any, folder: Path) -> None:
    """Write a frame to a file, or to several in a folder."""
    try:
        frame.sink_ipc(target, compression="lz4", maintain_order=False)
    except (OSError, pl.exceptions.ComputeError) as error:
        code = re.search(r"os error (\d+)\)", str(error))
        number = int(code[1]) if code else 0
        number = _SYSTEM_CODES.get(number, number)
        if number in _WRITE_ERRORS:
            raise OSError(number, _WRITE_ERRORS[number].format(folder)) from None
        raise


@contextmanager
def _bar(rows: int, progress: bool) -> Iterator[Callable[[int], object]]:
    """Show a progress bar if tqdm is installed, and yield the function that counts rows that are done."""
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
    return int(frame.select(pl.len()).collect(engine="streaming").item())


def _width(dtype: pl.DataType) -> int:
    """Estimate the bytes of a value of this dtype."""
    if dtype.is_numeric() and not dtype.is_decimal():
        return int(pl.Series([0], dtype=dtype).estimated_size())
    return {pl.Boolean: 1, pl.Date: 4, pl.Datetime: 8, pl.Duration: 8, pl.Time: 8}.get(dtype.base_type(), 24)


_QUIET_PAUSES = 15  # Pauses of 0.02 s in which no writer recreates the folder.
# Windows reports a full disk as ERROR_HANDLE_DISK_FULL (39) or ERROR_DISK_FULL (112).
_SYSTEM_CODES = {39: errno.ENOSPC, 112: errno.ENOSPC} if os.name == "nt" else {}
_WRITE_ERRORS = {
    errno.EFBIG: "a part in {} is larger than the system lets a file be (ulimit -f): partitions= makes smaller parts",
    errno.ENOSPC: "the disk of {} is full: partitioned(directory=...) takes a directory on another one",
    getattr(errno, "EDQUOT", -1): "the disk quota of {} is used up: partitioned(directory=...) takes another directory",
}


@contextmanager
def part_folder(directory: str | Path | None) -> Iterator[Path]:
    """Create a folder in this directory, or in the system's directory of temporary files, and remove it at the end.

    Its name has the number of the process, so that a user knows whose it is if a signal ends the process.
    """
    parent = gettempdir() if directory is None else str(directory)
    try:
        parent.encode()
        temporary = TemporaryDirectory(prefix=f"frame_pr-{os.getpid()}-", dir=parent, ignore_cleanup_errors=True)
    except UnicodeEncodeError:
        reason = "polars writes only to paths in UTF-8; rename the directory, or take another one with directory="
        raise OSError(errno.EILSEQ, f"no parts can be written to the directory: {reason}", parent) from None
    except OSError as error:
        raise OSError(error.errno, f"no parts can be written to the directory: {error.strerror}", parent) from None
    try:
        with temporary as name:
            yield Path(name)
    except BaseException:
        _remove_again(temporary.name)
        raise


def _remove_again(folder: str) -> None:
    """Remove a folder until it stays away: after an error, threads of polars may write to it for a moment."""
    pauses = 0
    while pauses < _QUIET_PAUSES:
        pauses = 0 if os.path.isdir(folder) else pauses + 1
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)
