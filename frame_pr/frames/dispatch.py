"""From a frame to its kind or its backend, and streams of Arrow, which are read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Generic, cast

import polars as pl

from frame_pr.frames.arrays import frame_advice
from frame_pr.frames.kinds import Frame, FrameKind
from frame_pr.frames.messages import first_line, kind_of_value, shown


class Backend(Generic[Frame]):
    """A distributed frame, such as a Spark DataFrame: runs metrics on its partitions."""

    frame_type: Any
    """The class of its frames."""
    name: str
    """The name of such a frame in error messages."""
    functions = "evaluate, report, with_metrics, tally and the functions of single metrics"
    """The functions that a backend can run."""
    in_memory: str
    """How to bring its rows into memory for all other functions."""

    evaluate: Callable[..., Frame]
    """Runs `functions.evaluation.evaluate_request`."""
    with_metrics: Callable[..., Frame]
    """Runs `functions.evaluation.append_metrics`."""
    tally: Callable[..., Frame]
    """Runs `functions.tallies.tallied`."""


_BACKENDS: list[type[Backend[Any]]] = []


def register_backend(backend: type[Backend[Any]]) -> None:
    """Register a backend. From then on, the functions accept its frames."""
    _BACKENDS.append(backend)


def backend_class(frame: Any) -> type[Backend[Any]] | None:
    """Return the class of the backend that runs a frame; None for a frame in one process."""
    if isinstance(frame, Backend):
        return type(frame)
    return next((backend for backend in _BACKENDS if isinstance(frame, backend.frame_type)), None)


def backend_of(frame: Frame) -> Backend[Frame] | None:
    """Return the frame as that of its backend; None if no backend is registered for it."""
    if isinstance(frame, Backend):
        return frame
    backend: Any = backend_class(frame)
    return cast(Backend[Frame], backend(frame)) if backend else None


# Kinds in memory


_KINDS = {
    ("pandas", "DataFrame"): ("frame_pr.frames.pandas", "PandasFrame"),
    ("pyarrow", "Table"): ("frame_pr.frames.arrow", "ArrowFrame"),
    ("pyarrow", "RecordBatch"): ("frame_pr.frames.arrow", "ArrowFrame"),
}
"""Classes of other libraries whose frames polars reads through Arrow, with the module of their
kind, which imports the library."""


def find_kind(frame: Any) -> FrameKind[Any] | None:
    """Return the frame as one of its kind; None if no kind matches."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        height = frame.height if isinstance(frame, pl.DataFrame) else 0
        return FrameKind(frame, list(frame.collect_schema()), height)
    for base in type(frame).__mro__:
        kind = _KINDS.get((_library(base), base.__name__))
        if kind is not None:
            module, name = kind
            return cast(FrameKind[Any], getattr(import_module(module), name)(frame))
    return None


def kind_of(frame: Frame, project: Callable[[Any], Any] | None = None) -> FrameKind[Frame]:
    """Return the frame in memory as one of its kind; collect a LazyFrame. Raise if no kind matches.

    `project`: selects columns of a stream before it is read.
    """
    source: Any = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    kind = find_kind(source)
    if kind is None:
        kind = find_kind(read_stream(source if project is None else project(source)))
    if kind is None:
        raise TypeError(_no_frame(frame))
    return kind


def _no_frame(frame: Any) -> str:
    """Return the error for an object that is no frame in memory."""
    if backend := backend_class(frame):
        return (
            f"a {backend.name} has {backend.functions}; call this function on "
            f"{backend.in_memory}, or on a tally of the rows with count='count'"
        )
    advice = path_advice(frame)
    if advice:
        return f"the frame is a path, {shown(str(frame))}{advice}"
    library = _library(type(frame)).removeprefix("py")
    if library in ("spark", "dask") and type(frame).__name__ == "DataFrame":
        return f"got {kind_of_value(frame)}: import frame_pr.{library} first, then call this again"
    return (
        "the frame comes first, then the names of its columns: expected a polars DataFrame, a "
        "polars LazyFrame, a pyarrow Table or a pandas DataFrame, got "
        f"{kind_of_value(frame)}; {frame_advice(frame)}"
    )


def path_advice(frame: Any) -> str:
    """Return how to read a file whose path was given as a frame; empty for all else."""
    is_text = isinstance(frame, str)
    is_path = isinstance(frame, PathLike)
    if is_path or (is_text and (Path(frame).suffix or len(Path(frame).parts) > 1)):
        return ": give pl.scan_parquet(...) or pl.scan_csv(...) of it"
    return ""


# Streams

_LIBRARIES_OF_FRAMES = ("dask", "narwhals", "pandas", "polars", "pyspark")
"""Libraries whose types have an Arrow stream too but are another kind of frame, or no frame."""
_LIBRARIES_OF_QUERIES = ("duckdb", "ibis")
"""Libraries whose streams are queries, which run again at each call."""


def is_stream(frame: Any) -> bool:
    """Return whether an object is a stream of Arrow, such as a DuckDB relation, and no kind."""
    kind = type(frame)
    is_other = _library(kind) in _LIBRARIES_OF_FRAMES or kind.__name__.endswith(("Array", "Series"))
    return hasattr(kind, "__arrow_c_stream__") and not is_other and find_kind(frame) is None


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0].removeprefix("_")


def read_stream(frame: Any) -> Any:
    """Read the rows of an Arrow stream, such as a DuckDB relation; return other objects unchanged.

    A stream may be readable only once, so a caller that needs the rows twice keeps the result.
    """
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return frame
    if not is_stream(frame) or backend_class(frame):
        return frame
    errors = (TypeError, ValueError, RuntimeError, NotImplementedError)
    try:
        table = pl.DataFrame(frame)
    except (pl.exceptions.PolarsError, *errors) as error:
        name = type(frame).__name__
        raise TypeError(f"the stream of a {name} cannot be read: {first_line(error)}") from None
    if table.is_empty():
        refuse_no_rows(frame)
    return table


def refuse_no_rows(stream: Any) -> None:
    """Raise for a stream that had no rows, unless it is a query, which may find none."""
    if _library(type(stream)) not in _LIBRARIES_OF_QUERIES:
        raise ValueError(
            f"the stream of a {type(stream).__name__} has no rows: it may have been read before, "
            "and can be read only once; polars.DataFrame(...) of it, made once, serves many calls"
        )


_COLUMNS: Mapping[str, Callable[[Any], list[str]]] = {
    "RecordBatchReader": lambda stream: stream.schema.names,
    "DuckDBPyRelation": lambda stream: stream.columns,
}
"""The columns of streams of which some can be read alone, by the name of their class."""


def stream_columns(frame: Any) -> list[str] | None:
    """Return the columns of a stream of which some can be read alone; None for other objects."""
    columns = _COLUMNS.get(type(frame).__name__)
    return None if columns is None else columns(frame)


def project_stream(stream: Any, names: Sequence[str]) -> Any:
    """Select columns of such a stream."""
    if hasattr(stream, "project"):
        # Quoted here: DuckDB's own ColumnExpression reads a name with a dot as a table and its
        # column.
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        return stream.project(", ".join(quoted))
    schema = stream.schema.empty_table().select(names).schema
    return type(stream).from_batches(schema, (batch.select(names) for batch in stream))
