"""Kinds of frames: polars, streams of Arrow, and the dispatch from a frame to its kind or backend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import polars as pl

from frame_pr.frames.arguments import Function
from frame_pr.frames.columns import by_name, map_whole, needed, refuse_missing
from frame_pr.frames.messages import first_line, kind_of_value, shown

if TYPE_CHECKING:
    import pandas as pd
    from dask.dataframe import DataFrame as DaskDataFrame
    from pyspark.sql import DataFrame as SparkDataFrame


SMALL = 200_000
"""With fewer rows, the in-memory engine is faster, and a copy of them in one chunk takes less time than it saves."""
Frame = TypeVar(
    "Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | SparkDataFrame | DaskDataFrame"
)
"""The caller's kind of frame. Results have the same kind."""


class FrameKind(Generic[Frame]):
    """A caller's frame: reads its columns, and returns results as the caller's kind.

    This class is the kind of polars frames. A subclass reads another kind. Only `read` accepts a
    LazyFrame.
    """

    name = "polars frame"
    """The name in error messages."""
    takes_expressions = True
    """Whether a polars expression may stand for a column."""

    def __init__(self, frame: Any, columns: list[Any], height: int) -> None:
        self.frame, self.columns, self.height = frame, columns, height
        self.is_lazy = isinstance(frame, pl.LazyFrame)
        self.as_read: dict[str, pl.Series] = {}
        """The columns that were read, by their names as text."""

    def refuse_missing(self, items: Sequence[Any], argument: str, frame: str = "frame") -> None:
        """Refuse columns that do not exist, and expressions if the kind does not accept them."""
        if not self.takes_expressions and any(isinstance(item, pl.Expr) for item in items):
            raise TypeError(
                f"{argument}: polars expressions work on polars frames; give the names of columns of a {self.name}"
            )
        refuse_missing(items, self.columns, frame, argument)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return a LazyFrame with these columns and with the root columns of expressions among the items."""
        return cast(pl.LazyFrame, self.frame.lazy())

    def column(self, name: Any) -> pl.Series:
        """Return one column."""
        return cast(pl.Series, self.frame.get_column(str(name)))

    def code_keys(self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()) -> None:
        """Prepare columns that tell rows apart, such as keys, for `read`.

        Values that polars would change or does not have become an Enum, of equal texts for equal
        values of this frame and the other ones.
        """

    def label(self, name: str, value: Any) -> Any:
        """Return a label of a column as `read` has it."""
        return value

    def type_of(self, name: str) -> str:
        """Return the kind's own name for the dtype of a column; empty if it is that of polars."""
        return ""

    def gather(self, columns: Sequence[Any], rows: pl.Series) -> Any:
        """Return columns of the caller at these row numbers. A null gives missing values."""
        return self.frame.select(by_name(name).gather(rows) for name in columns)

    def convert(self, table: pl.DataFrame, keys: Collection[Any] = ()) -> Any:
        """Convert a result. `keys` get the dtypes that they have in the caller's frame.

        A dict names columns of the result, each with the caller's column.
        """
        return table

    def concat_columns(self, *frames: Any) -> Any:
        """Concatenate the columns of frames."""
        return pl.concat(frames, how="horizontal")

    def give(self, table: pl.LazyFrame, keys: Collection[Any]) -> Frame:
        """Return a result as a frame of this kind. `keys` are columns of the caller, whose dtypes are restored.

        See `convert`.
        """
        # The streaming engine takes 2 ms to start.
        return cast(
            Frame,
            self.convert(collected(table, "in-memory" if self.height < SMALL else "auto"), keys),
        )

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> Frame:
        """Return the caller's rows with these columns of a table appended."""
        return cast(
            Frame, self.concat_columns(self.frame, self.convert(collect_in_order(table, new)))
        )

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Frame:
        """Return, for each line of a table, the carried columns of row number `row`, and the new columns."""
        lines = collect_in_order(table, ["row", *new])
        columns = self.convert(lines.drop("row"))
        # Without columns, a frame has no rows.
        return cast(
            Frame,
            self.concat_columns(self.gather(carried, lines["row"]), columns)
            if carried
            else columns,
        )

    def give_joined(
        self, other: FrameKind[Frame], table: pl.LazyFrame, keys: Sequence[Any]
    ) -> Frame:
        """Return a full join of this frame and another of its kind, with the columns `keys` first.

        The last columns of the table are row numbers of both frames, which may be null.
        """
        joined = collected(table, "auto")
        frames = [self.convert(joined[:, :-2], keys)]
        for kind, rows in ((self, joined[:, -2]), (other, joined[:, -1])):
            names = [name for name in kind.columns if name not in keys]
            frames += [kind.gather(names, rows)] if names else []
        return cast(Frame, self.concat_columns(*frames))


def collect_in_order(table: pl.LazyFrame, columns: list[str]) -> pl.DataFrame:
    """Collect columns of a table in the order of its rows."""
    # The streaming engine takes twice as long for a join that keeps the order of the rows.
    return collected(table.select(map(by_name, columns)), "in-memory")


def engine_for(rows: int) -> Literal["streaming", "in-memory"]:
    """Return the engine that is faster for a query over so many rows."""
    return "streaming" if rows >= SMALL else "in-memory"


def collected(table: pl.LazyFrame, engine: Literal["in-memory", "auto"]) -> pl.DataFrame:
    """Collect the rows of a plan. Errors are those of this package."""
    try:
        return table.collect(engine=engine)
    except ValueError as error:
        # Drop what the in-memory engine adds: it describes expressions that the caller did not
        # write.
        raise ValueError(str(error).partition("\n\nThis error occurred")[0]) from None


def on_frame(
    frame: Frame,
    compute: Callable[[Any], Any],
    items: Sequence[Any] | None = None,
    of_no_rows: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Frame:
    """Apply a function of a frame in memory to any frame. A LazyFrame stays lazy: it gets one `map_batches`.

    The schema of its result is that of the function for no rows. `items`: the names and expressions
    of the columns that the function reads; None: all columns. `of_no_rows`: in place of the
    function for no rows, if this would read other LazyFrames.
    """
    if not isinstance(frame, pl.LazyFrame):
        return cast(Frame, compute(frame))
    source: pl.LazyFrame = frame
    if items is not None:
        schema = source.collect_schema()
        names = needed(source, items)
        # If a column is missing, the function raises an error, which suggests one of all columns.
        if all(name in schema for name in names):
            source = source.select(map(by_name, dict.fromkeys(names)))
    no_rows = pl.DataFrame(schema=source.collect_schema())
    return cast(Frame, map_whole(source, compute, (of_no_rows or compute)(no_rows).schema))


def lazily(function: Function) -> Function:
    """Let a public function of a frame in memory take a LazyFrame, too; see `on_frame`."""

    @wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        frame = args[0] if args else arguments.get("frame")
        if not isinstance(frame, pl.LazyFrame):
            return function(*args, **arguments)
        arguments.pop("frame", None)
        return on_frame(frame, lambda rows: function(rows, *args[1:], **arguments))

    return cast(Function, call)


class Backend(Generic[Frame]):
    """A distributed frame, such as a Spark DataFrame. It runs metrics on its partitions and returns its own kind."""

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


# dispatch
# -------------------------------------------------------------------------------------------------------------


def find_kind(frame: Any) -> FrameKind[Any] | None:
    """Return the frame as one of its kind; None if no kind matches. No library of a kind is imported."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return FrameKind(
            frame,
            list(frame.collect_schema()),
            frame.height if isinstance(frame, pl.DataFrame) else 0,
        )
    for library, names, kind in _ARROW_KINDS:
        # A module that is still being imported has no classes yet.
        if isinstance(frame, tuple(getattr(sys.modules.get(library), name, ()) for name in names)):
            return cast(
                FrameKind[Any], getattr(import_module("frame_pr.frames.arrow"), kind)(frame)
            )
    return None


_ARROW_KINDS = (
    ("pandas", ["DataFrame"], "PandasFrame"),
    ("pyarrow", ["Table", "RecordBatch"], "ArrowFrame"),
)
"""The classes of the frames that polars reads through Arrow, by their library, with their kinds."""


def kind_of(frame: Frame, project: Callable[[Any], Any] | None = None) -> FrameKind[Frame]:
    """Return the frame in memory as one of its kind; collect a LazyFrame. Raise if no kind matches.

    `project`: selects columns of a stream before it is read.
    """
    source: Any = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    if kind := find_kind(source) or find_kind(
        read_stream(source if project is None else project(source))
    ):
        return kind
    if backend := backend_class(frame):
        raise TypeError(
            f"a {backend.name} has {backend.functions}; call this function on {backend.in_memory}, or on a tally of "
            "the rows with count='count'"
        )
    if advice := path_advice(frame):
        raise TypeError(f"the frame is a path, {shown(str(frame))}{advice}")
    library = _library(type(frame)).removeprefix("py")
    if library in ("spark", "dask") and type(frame).__name__ == "DataFrame":
        raise TypeError(
            f"got {kind_of_value(frame)}: import frame_pr.{library} first, then call this again"
        )
    raise TypeError(
        "the frame comes first, then the names of its columns: expected a polars DataFrame, a polars LazyFrame, a "
        f"pyarrow Table or a pandas DataFrame, got {kind_of_value(frame)}; polars.DataFrame(...) makes one of most "
        "other frames, and of a dict of arrays"
    )


def path_advice(frame: Any) -> str:
    """Return how to read a file whose path was given as a frame; empty for all else."""
    is_path = isinstance(frame, str) and (Path(frame).suffix or len(Path(frame).parts) > 1)
    return (
        ": give pl.scan_parquet(...) or pl.scan_csv(...) of it"
        if is_path or isinstance(frame, PathLike)
        else ""
    )


# streams
# --------------------------------------------------------------------------------------------------------------

_LIBRARIES_OF_FRAMES = ("dask", "narwhals", "pandas", "polars", "pyspark")
"""Libraries whose types have an Arrow stream too but are another kind of frame, or no frame."""
_LIBRARIES_OF_QUERIES = ("duckdb", "ibis")
"""Libraries whose streams are queries, which run again at each call."""


def is_stream(frame: Any) -> bool:
    """Return whether an object is a stream of Arrow, such as a relation of DuckDB, and no kind of frame."""
    kind = type(frame)
    is_other = _library(kind) in _LIBRARIES_OF_FRAMES or kind.__name__.endswith(("Array", "Series"))
    return hasattr(kind, "__arrow_c_stream__") and not is_other and find_kind(frame) is None


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0].removeprefix("_")


def read_stream(frame: Any) -> Any:
    """Read the rows of an Arrow stream, such as a DuckDB relation, as a polars frame. Return other objects unchanged.

    A stream may be readable only once, so a caller that needs the rows twice keeps the result.
    """
    if (
        isinstance(frame, (pl.DataFrame, pl.LazyFrame))
        or not is_stream(frame)
        or backend_class(frame)
    ):
        return frame
    try:
        table = pl.DataFrame(frame)
    except (
        pl.exceptions.PolarsError,
        TypeError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise TypeError(
            f"the stream of a {type(frame).__name__} cannot be read: {first_line(error)}"
        ) from None
    if table.is_empty():
        refuse_no_rows(frame)
    return table


def refuse_no_rows(stream: Any) -> None:
    """Raise for a stream that had no rows, unless it is a query, which may find none."""
    if _library(type(stream)) not in _LIBRARIES_OF_QUERIES:
        raise ValueError(
            f"the stream of a {type(stream).__name__} has no rows: it may have been read before, and can be read only "
            "once; polars.DataFrame(...) of it, made once, serves many calls"
        )


def stream_columns(frame: Any) -> list[str] | None:
    """Return the columns of a stream of which some can be read alone; None for all other objects."""
    name = type(frame).__name__
    return (
        frame.schema.names
        if name == "RecordBatchReader"
        else frame.columns
        if name == "DuckDBPyRelation"
        else None
    )


def project_stream(stream: Any, names: Sequence[str]) -> Any:
    """Select columns of such a stream."""
    if hasattr(stream, "project"):
        # Quoted here: DuckDB's own ColumnExpression reads a name with a dot as a table and its
        # column.
        return stream.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))
    schema = stream.schema.empty_table().select(names).schema
    return type(stream).from_batches(schema, (batch.select(names) for batch in stream))
