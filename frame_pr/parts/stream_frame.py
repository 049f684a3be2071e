"""An Arrow stream that is larger than memory: a call writes the columns that it reads to disk, then runs in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from frame_pr.frames.arrow import stream_of
from frame_pr.frames.kinds import refuse_no_rows
from frame_pr.frames.messages import first_line
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.data_warnings import columns_read
from frame_pr.inputs.request import Request
from frame_pr.metrics.means import Means
from frame_pr.parts.disk import DiskFrame, part_folder, sink

_FILE = 2**26  # About the bytes of a file.


@dataclass(frozen=True)
class StreamFrame(DiskFrame):
    """A frame of the columns of a stream, without rows."""

    stream: Any

    @classmethod
    def of(
        cls, stream: Any, budget: int, partitions: int | None, directory: Path | None, progress: bool
    ) -> StreamFrame:
        """Make the frame of a stream."""
        try:
            import pyarrow as pa
        except ImportError:
            raise ImportError('partitioned needs pyarrow for a stream: pip install "frame-pr[pandas]"') from None
        if (access := stream_of(stream)) is None:
            return cls.of(pa.RecordBatchReader.from_stream(stream), budget, partitions, directory, progress)
        return cls(pl.DataFrame(access.empty(stream)).lazy(), budget, partitions, directory, progress, stream)

    def evaluate(self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None) -> Any:
        """Compute metrics per group; wrong names and types are an error before the stream is read."""
        frame, named_request, _ = self._with_named_columns(request)
        call = frame._call(named_request, named, undefined)
        call.of_groups(frame.empty(call.columns()), means)
        with self._read(request) as rows:
            return rows.evaluate(request, named, means, undefined)

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Count rows with equal values."""
        frame, named_request, _ = self._with_named_columns(request)
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
