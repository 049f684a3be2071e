"""Kinds of frames: polars, the registry of other kinds, and the dispatch from a frame to its kind or backend."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

import polars as pl

from frame_pr.frames.columns import by_name, map_whole, needed, refuse_missing
from frame_pr.frames.messages import first_line, shown

if TYPE_CHECKING:
    import pandas as pd


class SparkDataFrame(Protocol):
    """The attributes that identify a Spark DataFrame to a type checker, without pyspark."""

    @property
    def sparkSession(self) -> Any:
        """The session that runs the frame."""


class DaskDataFrame(Protocol):
    """The attributes that identify a Dask DataFrame to a type checker, without Dask."""

    @property
    def npartitions(self) -> Any:
        """The number of partitions."""


SMALL = 200_000
"""With fewer rows, the in-memory engine and a plan with one query less are faster."""
Engine: TypeAlias = Literal["streaming", "in-memory"]
Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | SparkDataFrame | DaskDataFrame")
"""The caller's kind of frame. Results have the same kind."""
Function = TypeVar("Function", bound="Callable[..., Any]")
Kind = TypeVar("Kind", bound="type[FrameKind[Any]]")


class FrameKind(ABC, Generic[Frame]):
    """A caller's frame: reads its columns as a LazyFrame, and returns results as the caller's kind."""

    name: str
    """The name in error messages."""
    takes_expressions = False
    """Whether a polars expression may stand for a column."""
    joins_rows = False
    """Whether a join returns row numbers instead of columns. Columns then keep dtypes that polars does not have."""

    def __init__(self, frame: Frame, columns: Sequence[Any]) -> None:
        self.frame = frame
        self.columns = list(columns)

    @classmethod
    @abstractmethod
    def matches(cls, frame: Any) -> bool:
        """Return whether a frame is of this kind, without importing the library of the kind."""

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """Refuse columns that do not exist, and expressions if the kind does not accept them."""
        if not self.takes_expressions and any(isinstance(item, pl.Expr) for item in items):
            raise TypeError(
                f"{argument}: polars expressions work on polars frames; give the names of columns of a {self.name}"
            )
        refuse_missing(items, self.columns, argument=argument)

    @abstractmethod
    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return a LazyFrame with these columns and with the root columns of expressions among the items."""

    def code_keys(self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()) -> None:
        """Prepare columns that tell rows apart, such as keys, for `read`.

        Values that polars would change or does not have become an Enum, of equal texts for equal values of this frame
        and the other ones.
        """

    def recode(self, names: Sequence[Any], other: FrameKind[Any]) -> None:
        """Prepare columns of another frame for `read`, whose values are numbered as those of this frame are."""

    def label(self, name: str, value: Any) -> Any:
        """Return a label of a column as `read` has it."""
        return value

    def categories(self, name: str) -> Sequence[Any]:
        """Return the labels that a column declares in its dtype, whether rows have them or not."""
        return ()

    def type_of(self, name: str) -> str:
        """Return the kind's own name for the dtype of a column; empty if it is that of polars."""
        return ""

    @abstractmethod
    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """Return a result as a frame of this kind. `keys` are columns of the caller, whose dtypes are restored."""

    def give_joined(self, other: FrameKind[Frame], table: pl.LazyFrame, on: Sequence[Any], by: Sequence[Any]) -> Frame:
        """Give a full join of this frame and another of its kind, with equal keys `on`.

        The table has the columns of both, those of this frame first. If the kind `joins_rows`, it has the numbers of
        their rows instead, which may be null: `run` of this frame, `judgment` of the other, and `by`, a row of this
        frame with the columns `by`.
        """
        return self.give(table, self.columns)


def register_kind(kind: Kind) -> Kind:
    """Register a kind of frame. From then on, every function accepts it."""
    _KINDS.append(kind)
    return kind


_KINDS: list[Any] = []


class InMemory(FrameKind[Frame]):
    """A frame in memory: results are computed at once."""

    def __init__(self, frame: Frame, columns: Sequence[Any], height: int) -> None:
        super().__init__(frame, columns)
        self.height = height
        self.as_read: dict[str, pl.Series] = {}
        """The columns that were read, by their names as text."""

    def column(self, name: Any) -> pl.Series:
        """Read one column."""
        return self.read([name]).collect().get_column(str(name))

    @abstractmethod
    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> Frame:
        """Return the caller's rows with these columns of a table appended."""

    @abstractmethod
    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Frame:
        """Return, for each line of a table, the carried columns of row number `row`, and the new columns."""

    def collect_result(self, table: pl.LazyFrame) -> pl.DataFrame:
        """Collect a result with the faster engine."""
        # The streaming engine takes 2 ms to start.
        return collected(table, "in-memory") if self.height < SMALL else collected(table, "auto")

    def collect_columns(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """Collect new columns in the order of the rows."""
        # The streaming engine takes twice as long for a join that keeps the order of the rows.
        return collected(table.select(map(by_name, new)), "in-memory")


def engine_for(rows: int) -> Engine:
    """Return the engine that is faster for a query over so many rows."""
    return "streaming" if rows >= SMALL else "in-memory"


_OPTIMIZATIONS = pl.QueryOptFlags()


def collected(
    table: pl.LazyFrame, engine: Literal["in-memory", "auto"], optimizations: pl.QueryOptFlags = _OPTIMIZATIONS
) -> pl.DataFrame:
    """Collect the rows of a plan. Errors are those of this package."""
    try:
        return table.collect(engine=engine, optimizations=optimizations)
    except ValueError as error:
        # Drop what the in-memory engine adds: it describes expressions that the caller did not write.
        raise ValueError(str(error).partition("\n\nThis error occurred")[0]) from None


@register_kind
class PolarsFrame(InMemory[pl.DataFrame]):
    """A polars DataFrame."""

    name = "polars DataFrame"
    takes_expressions = True

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Return whether an object is a polars DataFrame."""
        return isinstance(frame, pl.DataFrame)

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, frame.columns, frame.height)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return the whole frame."""
        return self.frame.lazy()

    def column(self, name: Any) -> pl.Series:
        """Return one column."""
        return self.frame.get_column(str(name))

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.DataFrame:
        """Return the collected result."""
        return self.collect_result(table)

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """Return the caller's frame with the collected new columns appended."""
        return self.frame.hstack(self.collect_columns(table, new))

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pl.DataFrame:
        """Return the carried columns and the new ones, collected."""
        made = self.collect_columns(table, ["row", *new])
        columns = made.drop("row")
        # Selecting no columns would drop all rows.
        return self.frame.select(map(by_name, carried))[made["row"]].hstack(columns) if carried else columns


@register_kind
class PolarsLazyFrame(FrameKind[pl.LazyFrame]):
    """A polars LazyFrame, for a join of two of them. It is never collected here; other functions use `on_frame`."""

    name = "polars LazyFrame"
    takes_expressions = True

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Return whether an object is a polars LazyFrame."""
        return isinstance(frame, pl.LazyFrame)

    def __init__(self, frame: pl.LazyFrame) -> None:
        super().__init__(frame, frame.collect_schema().names())

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return the frame itself."""
        return self.frame

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """Return the result as it is."""
        return table


def on_frame(
    frame: Frame,
    compute: Callable[[Any], Any],
    items: Sequence[Any] | None = None,
    of_no_rows: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Frame:
    """Apply a function of a frame in memory to any frame. A LazyFrame stays lazy: it gets one `map_batches`.

    The schema of its result is that of the function for no rows. `items`: the names and expressions of the columns that
    the function reads; None: all columns. `of_no_rows`: in place of the function for no rows, if this would read other
    LazyFrames.
    """
    if not isinstance(frame, pl.LazyFrame):
        return cast(Frame, compute(frame))
    source: pl.LazyFrame = frame
    if items is not None:
        schema = source.collect_schema()
        names = [str(item) for item in items if not isinstance(item, pl.Expr)]
        names += needed(source, [item for item in items if isinstance(item, pl.Expr)])
        # If a column is missing, the function raises an error, which suggests one of all columns.
        if all(name in schema for name in names):
            source = source.select(map(by_name, dict.fromkeys(names)))
    no_rows = pl.DataFrame(schema=source.collect_schema())
    return cast(Frame, map_whole(source, compute, (of_no_rows or compute)(no_rows).schema))


def lazily(function: Function) -> Function:
    """Let a public function of a frame in memory take a LazyFrame, too; see `on_frame`."""

    @wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        frame, *others = args if args else [arguments.pop("frame", None)]
        if not isinstance(frame, pl.LazyFrame):
            return function(*args, **arguments) if args or frame is None else function(frame, **arguments)
        return on_frame(frame, lambda rows: function(rows, *others, **arguments))

    return cast(Function, call)


class Backend(ABC, Generic[Frame]):
    """A distributed frame, such as a Spark DataFrame. It runs metrics on its partitions and returns its own kind."""

    frame_type: Any
    """The class of its frames."""
    name: str
    """The name of such a frame in error messages."""
    functions = "evaluate, report, with_metrics, tally and the functions of single metrics"
    """The functions that a backend can run."""
    in_memory: str
    """How to bring its rows into memory for all other functions."""
    tally_in_memory = "a tally of the rows"
    """What holds all that the other functions need, in fewer rows."""

    @abstractmethod
    def evaluate(self, request: Any, named: Mapping[str, str], means: Any | None, undefined: float | None) -> Frame:
        """Run `functions.evaluation.evaluated`."""

    @abstractmethod
    def with_metrics(self, request: Any, named: Mapping[str, str], prefix: str, undefined: float | None) -> Frame:
        """Run `functions.evaluation.append_metrics`."""

    @abstractmethod
    def tally(self, request: Any, bins: Any) -> Frame:
        """Run `functions.tallies.tallied`."""


_BACKENDS: list[type[Backend[Any]]] = []


def register_backend(backend: type[Backend[Any]]) -> None:
    """Register a backend. From then on, the functions accept its frames."""
    _BACKENDS.append(backend)


def backend_class(frame: Any) -> type[Backend[Any]] | None:
    """Return the class of the backend that runs a frame; None for a frame in one process."""
    if isinstance(frame, Backend):
        return type(frame)
    for backend in _BACKENDS:
        if isinstance(frame, backend.frame_type):
            return backend
    return None


def backend_of(frame: Frame) -> Backend[Frame] | None:
    """Return the frame as that of its backend; None if no backend is registered for it."""
    if isinstance(frame, Backend):
        return frame
    backend: Any = backend_class(frame)
    return cast(Backend[Frame], backend(frame)) if backend else None


# dispatch -------------------------------------------------------------------------------------------------------------

_SUPPORTED_LIBRARIES = ("dask", "narwhals", "pandas", "polars", "pyspark")
"""Types that have an Arrow stream too but are another kind of frame, or no frame."""
_QUERIES = ("duckdb", "ibis")
"""Libraries whose streams are queries, which run again at each call."""


def find_kind(frame: Any) -> FrameKind[Any] | None:
    """Return the frame as one of its kind; None if no kind matches."""
    for kind in _KINDS:
        if kind.matches(frame):
            return cast(FrameKind[Any], kind(frame))
    return None


def is_stream(frame: Any) -> bool:
    """Return whether an object is a stream of Arrow, such as a relation of DuckDB, and no kind of frame."""
    kind = type(frame)
    return (
        hasattr(kind, "__arrow_c_stream__")
        and _library(frame) not in _SUPPORTED_LIBRARIES
        and not kind.__name__.endswith(("Array", "Series"))
        and find_kind(frame) is None
    )


def _library(frame: Any) -> str:
    return type(frame).__module__.partition(".")[0].removeprefix("_")


def read_stream(frame: Any) -> Any:
    """Read the rows of an Arrow stream, such as a DuckDB relation, as a polars frame. Return other objects unchanged.

    A stream may be readable only once, so a caller that needs the rows twice keeps the result.
    """
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)) or not is_stream(frame) or backend_class(frame):
        return frame
    name = type(frame).__name__
    try:
        table = pl.DataFrame(frame)
    except (pl.exceptions.PolarsError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise TypeError(f"the stream of a {name} cannot be read: {first_line(error)}") from None
    if table.is_empty():
        refuse_no_rows(frame)
    return table


def refuse_no_rows(stream: Any) -> None:
    """Raise for a stream that had no rows, unless it is a query, which may find none."""
    if _library(stream) not in _QUERIES:
        raise ValueError(
            f"the stream of a {type(stream).__name__} has no rows: it may have been read before, and can be read only "
            "once; polars.DataFrame(...) of it, made once, serves many calls"
        )


def kind_of(frame: Frame, project: Callable[[Any], Any] | None = None) -> InMemory[Frame]:
    """Return the frame in memory as one of its kind; collect a LazyFrame. Raise if no kind matches.

    `project`: selects columns of a stream before it is read.
    """
    source: Any = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    if kind := find_kind(source) or find_kind(read_stream(source if project is None else project(source))):
        return cast(InMemory[Frame], kind)
    if backend := backend_class(frame):
        raise TypeError(
            f"a {backend.name} has {backend.functions}; call this function on {backend.in_memory}, or on "
            f"{backend.tally_in_memory} with count='count'"
        )
    raise TypeError(_fault(frame))


def _fault(frame: Any) -> str:
    """Explain why an object is not a supported frame, and what to do."""
    if advice := path_advice(frame):
        return f"the frame is a path, {shown(str(frame))}{advice}"
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")[-80:]
    if "group" in type(frame).__qualname__.lower():
        return f"got a {kind}: give the frame itself, and the grouping columns as by=[...]"
    if kind.startswith("pyspark.pandas."):
        return f"got a {kind}: give its .to_spark(), after import frame_pr.spark"
    if (library := kind.partition(".")[0]) in ("dask", "pyspark") and type(frame).__name__ == "DataFrame":
        return f"got a {kind}: import frame_pr.{library.removeprefix('py')} first, then call this again"
    if kind.startswith("narwhals."):
        return f"got a {kind}: to_native() of it is the frame inside, whose kind then comes back"
    if kind.startswith("pyarrow.") and "dataset" in kind:
        return f"got a {kind}: polars.scan_pyarrow_dataset(...) reads it as a LazyFrame"
    *names, last = [f"a {kind.name}" for kind in _KINDS]
    return (
        "the frame comes first, then the names of its columns: "
        f"expected {', '.join(names)} or {last}, got a {kind}; "
        "polars.DataFrame(...) makes one of most other frames, and of a dict of arrays"
    )


_SCANS = {
    ".parquet": "scan_parquet({})",
    ".csv": "scan_csv({})",
    ".tsv": "scan_csv({}, separator='\\t')",
    ".ndjson": "scan_ndjson({})",
    ".jsonl": "scan_ndjson({})",
    ".arrow": "scan_ipc({})",
    ".feather": "scan_ipc({})",
    ".ipc": "scan_ipc({})",
}


def path_advice(frame: Any) -> str:
    """Return the polars call that reads the file, if a path was given as a frame; empty for all else."""
    if not isinstance(frame, (str, PathLike)):
        return ""
    path = str(fspath(frame))
    for suffix in Path(path).suffixes[-2:]:
        if suffix.lower() in _SCANS:
            return f": give pl.{_SCANS[suffix.lower()].format(shown(path))}"
    is_path = isinstance(frame, PathLike) or "/" in path or os.sep in path
    return ": give pl.scan_parquet(...) or pl.scan_csv(...) of it" if is_path else ""
