"""Frames and Arrow streams on disk, split into parts in a temporary folder; functions run on one part at a time."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name, needed
from frame_pr.frames.kinds import kind_of, project_stream, refuse_no_rows, stream_columns
from frame_pr.frames.messages import first_line, shown
from frame_pr.functions.evaluation import sorted_by
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.data_warnings import may_be_tally, warn_of_tally
from frame_pr.inputs.request import Request
from frame_pr.inputs.validate import expanded
from frame_pr.metrics.means import Means
from frame_pr.parts.backends import ONLY_TOTALS, Distributed
from frame_pr.parts.part_query import Part, PartQuery, in_part, with_names
from frame_pr.parts.score_ranges import RANGE, evaluate_ranges, range_number, refuse_whole_group

_BYTES_PER_ROW = (
    160  # Peak memory in addition to the rows themselves; benchmarks/scale.py measures it.
)
_LARGEST_SAMPLE = 1_000_000  # The largest number of rows in a sample.
_FIRST = 100_000  # Rows at the start of a frame that show whether it is a tally.
_PART = "part of frame_pr"  # polars drops a column of this name.
_QUIET_PAUSES = 15  # Pauses of 0.02 s in which no writer recreates the folder.


@dataclass
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
    def of(
        cls,
        frame: Any,
        budget: int,
        partitions: int | None,
        directory: str | Path | None,
        progress: bool,
    ) -> DiskFrame:
        """Return the parts of a polars frame or of a stream."""
        if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
            return cls(frame, budget, partitions, directory, progress)
        if stream_columns(frame) is None:
            import pyarrow as pa

            return cls.of(
                pa.RecordBatchReader.from_stream(frame), budget, partitions, directory, progress
            )
        no_rows = frame.limit(0) if hasattr(frame, "limit") else frame.schema.empty_table()
        return cls(pl.DataFrame(no_rows), budget, partitions, directory, progress, frame)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy or a pickle. A stream has none, because it is read once."""
        if self.stream is not None:
            raise TypeError(
                f"partitioned of a {type(self.stream).__name__} cannot be copied or pickled, because a stream is read "
                "once: give a LazyFrame, such as polars.scan_parquet(...)"
            )
        return self.__dict__

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(dict.fromkeys([*self.frame.collect_schema(), *self.expressions]))

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
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
        systems = [str(score) for score in request.scores] if request.several else []
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
            "with_metrics keeps the order of the rows, and parts do not: join evaluate(...) to the rows"
        )

    def query_of(
        self, request: Request, named: Mapping[str, str], undefined: float | None
    ) -> PartQuery:
        """Check the columns of a request, also for a tally without `count=`."""
        if may_be_tally(self.columns(), request):
            warn_of_tally(kind_of(self.frame.head(_FIRST).collect()), request)
        return super().query_of(request, named, undefined)

    def groups(self, query: PartQuery) -> pl.DataFrame:
        """Compute one row per group."""
        return self._map(query.columns(), query.by, query.of_groups, query)

    def map_parts(
        self, columns: Sequence[str], keys: Sequence[str], function: Part, *, shuffled: bool = True
    ) -> pl.DataFrame:
        """Apply the function to each part. If not `shuffled`, equal rows are in one part."""
        return self._map(columns, keys if shuffled else columns, function)

    def union(self, groups: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """Concatenate both."""
        return pl.concat(
            [
                groups.with_columns(**{ONLY_TOTALS: False}),
                others.with_columns(**{ONLY_TOTALS: True}),
            ]
        )

    def _map(
        self,
        columns: Sequence[str],
        keys: Sequence[str],
        function: Part,
        query: PartQuery | None = None,
    ) -> pl.DataFrame:
        """Apply the function to each part. With its `query`, divide groups that are larger than a part."""
        with self._rows(columns) as frame:
            rows, dtypes = _height(frame), frame.collect_schema().dtypes()
            width = sum(int(pl.Series([None], dtype=dtype).estimated_size()) for dtype in dtypes)
            if self.stream is not None and not rows:
                refuse_no_rows(self.stream)
            # Parts differ in size.
            fits = self.budget // (_BYTES_PER_ROW + width)
            most = math.ceil(1.5 * rows / self.partitions) if self.partitions else fits
            partitions = self.partitions or math.ceil(1.2 * rows / max(1, most))
            if partitions <= 1 or not rows:
                whole = frame.collect()
                _refuse_label([whole.lazy()], query)
                return function(whole)
            with part_folder(self.directory) as folder:
                if self.progress:
                    disk = f"up to {rows * width / 1e9:.1f} GB of disk in {folder}"
                    print(f"frame_pr: {rows:,} rows in {partitions} parts, {disk}", file=sys.stderr)
                parts, tables = [frame], []
                if keys:
                    parts = _write_parts(
                        frame, pl.struct(map(by_name, keys)).hash() % partitions, folder
                    )
                _refuse_label(parts, query)
                for number, part in enumerate(parts, 1):
                    if self.progress:
                        print(
                            f"\rframe_pr: part {number} of {len(parts)}",
                            end="",
                            file=sys.stderr,
                            flush=True,
                        )
                    height = _height(part)
                    if height <= most or query is None:
                        tables.append(in_part(function, part.collect()))
                    else:
                        tables.append(_by_range(query, part, height, most, folder))
            return pl.concat(tables)

    @contextmanager
    def _rows(self, columns: Sequence[str]) -> Iterator[pl.LazyFrame]:
        """Yield these columns. Write a stream to files first, only the columns that it needs."""
        if self.stream is None:
            yield self._select(self.frame, columns)
            return
        names = needed(
            self.frame, [self.expressions.get(column, by_name(column)) for column in columns]
        )
        selected = project_stream(self.stream, names)
        with part_folder(self.directory) as folder:
            file = folder / "rows.arrow"
            _write_stream(selected, file, type(self.stream).__name__)
            yield self._select(pl.scan_ipc(file), columns)

    def _select(self, frame: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
        return frame.with_columns(**self.expressions).select(map(by_name, columns))

    def _with_names(self, request: Request) -> tuple[DiskFrame, Request]:
        """Return the frame with the expressions of the request as columns, and the request with their names."""
        if not any(isinstance(column, pl.Expr) for column in request.columns):
            return self, request
        columns: dict[str, pl.Expr] = {}
        names: dict[str, list[str]] = {}
        # Names of keys and scores are in the result, so they come first.
        for argument, items in sorted(
            request.arguments.items(), key=lambda item: item[0] not in ("by", "score")
        ):
            self.names_of(argument, [item for item in items if not isinstance(item, pl.Expr)])
            pairs = expanded(self.frame, argument, items)
            several = argument == "by" or (argument == "score" and request.several)
            if len(pairs) != 1 and not several:
                raise ValueError(f"{argument} gives {len(pairs)} columns: it must be one")
            # Two columns may have one name, such as `relevance` and `pl.col("relevance") >= 1`.
            sources = {
                (name if several or name not in columns else f"{argument} {name}"): name
                for name in pairs
            }
            for name, source in sources.items():
                if not columns.setdefault(name, pairs[source]).meta.eq(pairs[source]):
                    raise ValueError(
                        f"{argument}: {shown(name)} is also another column of the call; use alias()"
                    )
            names[argument] = list(sources)
        return replace(self, expressions=columns), with_names(request, names)


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
    """Raise if no part has the positive label. Read only the truth, up to the first part that has the label."""
    if query is not None and query.request.positive is not None:
        query.refuse_label(query.labels_of(part).collect(engine="streaming") for part in parts)


def _by_range(
    query: PartQuery, frame: pl.LazyFrame, rows: int, most: int, folder: Path
) -> pl.DataFrame:
    """Compute one row per group of a frame whose groups are too large for a part: split each into ranges of scores."""
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
    """Write the rows with each value of `part` into a file, and return the frames that read the files."""
    # The only unstable polars API in the package. One file per part, however large, because there
    # are many parts.
    target = pl.PartitionBy(folder, key=_PART, include_key=False, approximate_bytes_per_file=None)
    with _writing(folder):
        frame.with_columns(part.alias(_PART)).sink_ipc(
            target, compression="lz4", maintain_order=False
        )
    return [pl.scan_ipc(path) for path in sorted(folder.glob(f"{_PART}=*"))]


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Name the folder in errors of its disk. polars has their number only in the text. 28: full, 27: large file."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        if code := re.search(r"err(?:or|no) (27|28)\b", str(error)):
            text = f"no parts can be written ({first_line(error)}): directory= takes another one"
            raise OSError(int(code[1]), text, str(folder)) from None
        raise


def _height(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect(engine="streaming").item())


@contextmanager
def part_folder(directory: str | Path | None) -> Iterator[Path]:
    """Create a folder in this directory, or in the system's directory of temporary files, and remove it at the end.

    Its name has the number of the process, so that a user knows whose it is if a signal ends the
    process.
    """
    with TemporaryDirectory(
        prefix=f"frame_pr-{os.getpid()}-", dir=directory, ignore_cleanup_errors=True
    ) as name:
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
