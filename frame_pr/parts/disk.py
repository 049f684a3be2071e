"""Frames and Arrow streams in parts on disk; functions run on one part at a time."""

from __future__ import annotations

import math
import os
import re
import shutil
import stat
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name, needed
from frame_pr.frames.dispatch import project_stream, refuse_no_rows, stream_columns
from frame_pr.frames.messages import first_line, shown
from frame_pr.frames.progress import with_progress
from frame_pr.functions.evaluation import sorted_by
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.request import Request
from frame_pr.inputs.validate import expanded
from frame_pr.metrics.means import Means
from frame_pr.parts.backends import ONLY_TOTALS, Distributed
from frame_pr.parts.part_query import PART, Names, Part, PartQuery, in_part, with_names
from frame_pr.parts.score_ranges import RANGE, evaluate_ranges, range_number, refuse_whole_group

_PREFIX = "frame_pr-"
_LOCK = "frame_pr.lock"
_SECONDS_TO_LOCK = 60  # A younger file may not be locked yet.
_BYTES_PER_ROW = (
    160  # Peak memory in addition to the rows themselves; benchmarks/scale.py measures it.
)
_LARGEST_SAMPLE = 1_000_000  # The largest number of rows in a sample.
_LONGEST_PANIC = 200  # Characters of a panic that its error shows.
_QUIET_PAUSES = 15  # Pauses of 0.02 s in which no writer recreates the folder.


@dataclass(eq=False, repr=False)
class DiskFrame(Distributed):
    """A frame whose metrics are computed one part at a time."""

    name = "partitioned frame"
    functions = "evaluate, report, tally and the functions of single metrics"
    in_memory = "the rows themselves"

    frame: Any
    """The rows, a polars frame; of a stream, its columns without rows."""
    budget: int = 2**62
    """Bytes of memory. A frame that fits is not written to disk, such as a result of this class."""
    partitions: int | None = None
    directory: str | Path | None = None
    progress: bool = False
    stream: Any = None
    """A stream of Arrow, which each call writes to a file first."""
    expressions: Mapping[str, pl.Expr] = field(default_factory=dict)
    """Columns that a call adds to those of the frame."""

    def __post_init__(self) -> None:
        self.frame: pl.LazyFrame = self.frame.lazy()

    @classmethod
    def of(cls, frame: Any, **settings: Any) -> DiskFrame:
        """Return the parts of a polars frame or of a stream."""
        if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
            return cls(frame, **settings)
        if stream_columns(frame) is None:
            import pyarrow as pa

            frame = pa.RecordBatchReader.from_stream(frame)
        no_rows = frame.limit(0) if hasattr(frame, "limit") else frame.schema.empty_table()
        return cls(pl.DataFrame(no_rows), stream=frame, **settings)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy or a pickle. A stream has none, because it is read once."""
        if self.stream is not None:
            raise TypeError(
                f"partitioned of a {type(self.stream).__name__} cannot be copied or pickled, "
                "because a stream is read "
                "once: give a LazyFrame, such as polars.scan_parquet(...)"
            )
        return self.__dict__

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(dict.fromkeys([*self.frame.collect_schema(), *self.expressions]))

    def empty(self, columns: Names) -> pl.DataFrame:
        """Return these columns without rows."""
        return self._select(self.frame, columns).collect_schema().to_frame()

    def evaluate(
        self,
        request: Request,
        named: Mapping[str, str],
        means: Means | None,
        undefined: float | None,
    ) -> Any:
        """Compute metrics per group, sorted. Columns of the request may be expressions."""
        frame, request = self._with_names(request)
        result = super(DiskFrame, frame).evaluate(request, named, means, undefined)
        systems = list(map(str, request.scores)) if request.several else []
        keys = [key for key in (*map(str, request.keys), "system") if key in result.columns]
        return result.sort(sorted_by(keys, systems)) if keys else result

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Aggregate rows with equal values. Columns of the request may be expressions."""
        frame, request = self._with_names(request)
        return super(DiskFrame, frame).tally(request, bins)

    def with_metrics(
        self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None
    ) -> Any:
        """Refuse: rows in parts do not keep their order."""
        raise TypeError(
            "with_metrics keeps the order of the rows, and parts do not: join evaluate(...) to "
            "the rows"
        )

    def groups(self, query: PartQuery) -> pl.DataFrame:
        """Compute one row per group."""
        return self._map(query.columns(), query.by, query.of_groups, query)

    def map_parts(
        self, columns: Names, keys: Names, function: Part, *, shuffled: bool = True
    ) -> pl.DataFrame:
        """Apply the function to each part. If not `shuffled`, equal rows are in one part."""
        return self._map(columns, keys if shuffled else columns, function)

    def union(self, groups: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """Concatenate both."""
        of_rows = groups.with_columns(**{ONLY_TOTALS: False})
        return pl.concat([of_rows, others.with_columns(**{ONLY_TOTALS: True})])

    def _map(
        self,
        columns: Names,
        keys: Names,
        function: Part,
        query: PartQuery | None = None,
    ) -> pl.DataFrame:
        """Apply the function to each part.

        With its `query`, divide groups that are larger than a part.
        """
        with self._rows(columns) as frame:
            rows = _height(frame)
            if self.stream is not None and not rows:
                refuse_no_rows(self.stream)

            row_bytes = _bytes_per_row(frame)
            partitions, most = self._sizes(rows, row_bytes)
            if partitions <= 1 or not rows:
                whole = frame.collect()
                _refuse_label([whole.lazy()], query)
                return function(whole)

            with part_folder(self.directory) as folder:
                parts = self._parts(frame, keys, partitions, folder)
                heights = [_height(part) for part in parts]
                _refuse_change(rows, sum(heights))
                _refuse_label(parts, query)

                disk = f"up to {rows * row_bytes / 1e9:.1f} GB of disk"
                sized = with_progress(
                    zip(parts, heights, strict=True),
                    f"{rows:,} rows in parts, {disk}",
                    len(parts),
                    lambda _: 1,
                    show=self.progress,
                )
                tables = []
                for part, height in sized:
                    if height <= most or query is None:
                        tables.append(in_part(function, part.collect()))
                    else:
                        tables.append(_by_range(query, part, height, most, folder))
            return pl.concat(tables)

    def _sizes(self, rows: int, row_bytes: int) -> tuple[int, int]:
        """Return the number of parts, and the largest number of rows in a part.

        Parts differ in size.
        """
        if self.partitions is not None:
            return self.partitions, math.ceil(1.5 * rows / self.partitions)
        most = self.budget // (_BYTES_PER_ROW + row_bytes)
        return math.ceil(1.2 * rows / max(1, most)), most

    def _parts(
        self, frame: pl.LazyFrame, keys: Names, partitions: int, folder: Path
    ) -> list[pl.LazyFrame]:
        """Write the rows to parts with whole groups; without keys, to one file."""
        if self.stream is not None and not keys:
            return [frame]  # It is in a file already.
        number = pl.lit(0)
        if keys:
            number = pl.struct(map(by_name, keys)).hash() % partitions
        return _write_parts(frame, number, folder)

    @contextmanager
    def _rows(self, columns: Names) -> Generator[pl.LazyFrame]:
        """Yield these columns. Write a stream to files first, only the columns that it needs."""
        with ExitStack() as stack:
            stack.enter_context(_panics_as_errors())
            frame = self.frame
            if self.stream is not None:
                folder = stack.enter_context(part_folder(self.directory))
                frame = self._written_stream(columns, folder / "stream.arrow")
            yield self._select(frame, columns)

    def _written_stream(self, columns: Names, file: Path) -> pl.LazyFrame:
        """Write to a file what these columns need of the stream."""
        sources = [self.expressions.get(column, by_name(column)) for column in columns]
        selected = project_stream(self.stream, needed(self.frame, sources))
        _write_stream(selected, file, type(self.stream).__name__)
        return pl.scan_ipc(file)

    def _select(self, frame: pl.LazyFrame, columns: Names) -> pl.LazyFrame:
        return frame.with_columns(**self.expressions).select(map(by_name, columns))

    def _with_names(self, request: Request) -> tuple[DiskFrame, Request]:
        """Return the frame with expressions as columns, and the request with their names."""
        if not any(isinstance(column, pl.Expr) for column in request.columns):
            return self, request
        of_result = ("by", "score") if request.several else ("by",)
        columns: dict[str, pl.Expr] = {}
        names: dict[str, list[str]] = {}
        # Names of keys and scores are in the result, so they come first.
        arguments = request.arguments.items()
        for argument, items in sorted(arguments, key=lambda item: item[0] not in of_result):
            self.names_of(argument, [item for item in items if not isinstance(item, pl.Expr)])
            sources = expanded(self.frame, argument, items)
            if len(sources) != 1 and argument not in of_result:
                raise ValueError(f"{argument} gives {len(sources)} columns: it must be one")
            names[argument] = [
                _add_column(columns, argument, name, source, renames=argument not in of_result)
                for name, source in sources.items()
            ]
        return replace(self, expressions=columns), with_names(request, names)


def _add_column(
    columns: dict[str, pl.Expr], argument: str, name: str, source: pl.Expr, *, renames: bool
) -> str:
    """Add a column and return its name, which is another one if there is a column of this name."""
    # Two columns may have one name, such as `relevance` and `pl.col("relevance") >= 1`.
    if renames and name in columns:
        name = f"{argument} {name}"
    if not columns.setdefault(name, source).meta.eq(source):
        raise ValueError(
            f"{argument}: {shown(name)} is also another column of the call; use alias()"
        )
    return name


@contextmanager
def _panics_as_errors() -> Generator[None]:
    """Turn a panic of polars, which `except Exception` misses, into an error."""
    try:
        yield
    except pl.exceptions.PanicException as error:
        raise OSError(
            "polars panicked, so a file of the frame may end early or have changed during the "
            "call: "
            f"{first_line(error)[:_LONGEST_PANIC]}"
        ) from None


def _write_stream(stream: Any, file: Path, kind: str) -> None:
    """Write the batches of a stream of this kind to a file."""
    import pyarrow as pa

    try:
        batches = (
            stream
            if isinstance(stream, pa.RecordBatchReader)
            else pa.RecordBatchReader.from_stream(stream)
        )
        # The caller's thread reads them: a connection of SQLite belongs to one thread.
        with _writing(file.parent), pa.ipc.new_file(file, batches.schema) as target:
            for batch in batches:
                target.write(batch)
    except OSError:
        raise
    except Exception as error:
        raise TypeError(f"the stream of a {kind} cannot be read: {first_line(error)}") from None


def _refuse_label(parts: Sequence[pl.LazyFrame], query: PartQuery | None) -> None:
    """Raise if no part has the positive label.

    Read only the truth, up to the first part that has the label.
    """
    if query is not None and query.request.positive is not None:
        query.refuse_label(query.labels_of(part).collect(engine="streaming") for part in parts)


def _by_range(
    query: PartQuery, frame: pl.LazyFrame, rows: int, most: int, folder: Path
) -> pl.DataFrame:
    """Compute one row per group, if groups are too large for a part, in ranges of scores."""
    refuse_whole_group(query)
    results = []
    for system in query.systems():
        part = frame.select(map(by_name, system.columns()))
        sample = part.gather_every(math.ceil(rows / min(rows, most, _LARGEST_SAMPLE))).collect(
            engine="streaming"
        )
        # Good (1953): the share of unseen values is about the share of values that occur once in
        # the sample.
        unseen_share = sample.filter(sample.is_unique()).height / sample.height
        if unseen_share * rows <= most and (result := system.of_counts(part)) is not None:
            results.append(result)
            continue
        number = range_number(
            system, sample[system.scores[0]], math.ceil(1.2 * rows / max(1, most))
        )
        with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as below:
            parts = _write_parts(part.with_columns(number), pl.col(RANGE), Path(below))

            def over_ranges(function: Part, parts: Sequence[pl.LazyFrame] = parts) -> pl.DataFrame:
                return pl.concat(in_part(function, part.collect()) for part in parts)

            results.append(evaluate_ranges(system, part.collect_schema().to_frame(), over_ranges))
    return query.joined(results)


def _write_parts(frame: pl.LazyFrame, part: pl.Expr, folder: Path) -> list[pl.LazyFrame]:
    """Write the rows with each value of `part` into a file, and return the files as frames."""
    # polars calls this API unstable, and `QueryOptFlags` in `kinds.py`; all others are stable. One
    # file per part, however large, because there are many parts.
    target = pl.PartitionBy(folder, key=PART, include_key=False, approximate_bytes_per_file=None)
    with _writing(folder):
        # Not compressed: that would take as long as everything else.
        frame.with_columns(part.alias(PART)).sink_ipc(target, maintain_order=False)
    return [pl.scan_ipc(path) for path in sorted(folder.glob(f"{PART}=*"))]


@contextmanager
def _writing(folder: Path) -> Generator[None]:
    """Name the folder in errors of its disk. 28: the disk is full. 27: the file is too large."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        if code := re.search(r"err(?:or|no) (27|28)\b", str(error)):
            text = f"no parts can be written ({first_line(error)}): directory= takes another one"
            raise OSError(int(code[1]), text, str(folder)) from None
        raise


def _height(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect(engine="streaming").item())


def _bytes_per_row(frame: pl.LazyFrame) -> int:
    dtypes = frame.collect_schema().dtypes()
    return sum(int(pl.Series([None], dtype=dtype).estimated_size()) for dtype in dtypes)


def _refuse_change(rows: int, written: int) -> None:
    """Raise if the source had other rows when they were counted than when they were written."""
    if rows != written:
        raise ValueError(
            f"the frame had {rows:,} rows when they were counted and {written:,} when they were "
            "written to parts; write a source that changes to a file first, such as by sink_parquet"
        )


@contextmanager
def part_folder(directory: str | Path | None) -> Generator[Path]:
    """Create a folder in this directory, by default the system's, and remove it at the end.

    Its name has the number of the process, so that a user knows whose it is if a signal ends the
    process. The next call that writes to this directory removes it then.
    """
    _remove_abandoned(Path(gettempdir() if directory is None else directory))
    with (
        TemporaryDirectory(
            prefix=f"{_PREFIX}{os.getpid()}-", dir=directory, ignore_cleanup_errors=True
        ) as name,
        _locked(Path(name) / _LOCK, os.O_CREAT),
    ):
        try:
            yield Path(name)
        except BaseException:
            # Threads of polars may write to the folder for a moment: remove it until it stays away.
            pauses = 0
            while pauses < _QUIET_PAUSES:
                shutil.rmtree(name, ignore_errors=True)
                time.sleep(0.02)
                pauses = 0 if os.path.isdir(name) else pauses + 1
            raise


@contextmanager
def _locked(file: Path, flags: int = 0) -> Generator[bool]:
    """Lock a file until the end, and yield whether that was possible. Windows has other locks.

    The system unlocks the files of a process that a signal ends. The number of a process would not
    do: containers that share a directory have processes of the same numbers.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | flags, 0o600)
    except OSError:
        yield False
        return
    is_locked = False
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        yield is_locked
    finally:
        os.close(descriptor)


def _remove_abandoned(directory: Path) -> None:
    """Remove folders of processes of this user that a signal ended.

    Only a folder with our lock, which nobody holds, is removed, whatever its name.
    """
    for lock in directory.glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            about = lock.lstat()
        except OSError:
            continue  # Its process removed it just now.
        is_new = time.time() - about.st_mtime < _SECONDS_TO_LOCK
        if is_new or not stat.S_ISREG(about.st_mode):
            continue
        with _locked(lock) as is_abandoned:
            if is_abandoned and about.st_uid == os.geteuid():
                shutil.rmtree(lock.parent, ignore_errors=True)
