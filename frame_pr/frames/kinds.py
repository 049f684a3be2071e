"""Kinds of frames: polars, the registry of others, and the dispatch from a frame to its kind or backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast

import polars as pl

from frame_pr.frames.columns import by_name, refuse_missing
from frame_pr.frames.messages import first_line, shown

if TYPE_CHECKING:
    import pandas as pd


class SparkDataFrame(Protocol):
    """What type checkers need to know of a Spark DataFrame, without pyspark."""

    @property
    def sparkSession(self) -> Any:
        """The session that runs it."""


class DaskDataFrame(Protocol):
    """What type checkers need to know of a Dask DataFrame, without Dask."""

    @property
    def npartitions(self) -> Any:
        """How many partitions there are."""


SMALL = 200_000
"""Rows below which the in-memory engine, and one query less, are the faster."""
Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | SparkDataFrame | DaskDataFrame")
"""The caller's kind of frame: what goes in comes out."""
Kind = TypeVar("Kind", bound="type[FrameKind[Any]]")


class FrameKind(ABC, Generic[Frame]):
    """A caller's frame: its columns as those of a LazyFrame, and the ways back to its kind."""

    name: str
    """What errors call it."""
    takes_expressions = False
    """Whether a polars expression may stand for a column."""
    carried: Mapping[str, pl.Expr] = {}
    """The columns that a table has to carry for `beside`."""
    joins_rows = False
    """Whether a join carries the numbers of rows in place of columns, so that these keep dtypes unknown to polars."""

    def __init__(self, frame: Frame, columns: Sequence[Any], height: int | None) -> None:
        self.frame = frame
        self.columns = list(columns)
        self.height = height
        """How many rows there are; not known where it is for the caller to collect."""

    @classmethod
    @abstractmethod
    def matches(cls, frame: Any) -> bool:
        """Whether a frame is of this kind; imports no library, without which there is no such frame."""

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """Refuse columns that are not there, and expressions where the kind does not take them."""
        if not self.takes_expressions and any(isinstance(item, pl.Expr) for item in items):
            raise TypeError(
                f"{argument}: polars expressions work on polars frames; give the names of columns of a {self.name}"
            )
        refuse_missing(items, self.columns, argument=argument)

    @abstractmethod
    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """A frame with these columns, which are there, and with those of expressions among the items."""

    def categories(self, name: str) -> Sequence[Any]:
        """The labels that a column declares beside its type, be they in its rows or not."""
        return ()

    def type_of(self, name: str) -> str:
        """What the kind calls the type of a column; nothing where that is the word of polars."""
        return ""

    @abstractmethod
    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """A result as a frame of this kind; these columns of it are the caller's."""

    @abstractmethod
    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> Frame:
        """The caller's own rows, with these columns of a table at their right."""

    @abstractmethod
    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Frame:
        """These columns of the caller's row that each `row` of a table counts to, and at their right new ones of it."""

    def give_joined(self, other: FrameKind[Frame], table: pl.LazyFrame, on: Sequence[Any], by: Sequence[Any]) -> Frame:
        """Give a full join of this frame and another of its kind, with equal keys `on`.

        The table has the columns of both, those of this frame first. If the kind `joins_rows`, it has the numbers of
        their rows instead, which may be null: `run` of this frame, `judgment` of the other, and `by`, a row of this
        frame with the columns `by`.
        """
        return self.give(table, self.columns)


def register_kind(kind: Kind) -> Kind:
    """Register a class of frames: from then on, every function takes them."""
    _KINDS.append(kind)
    return kind


_KINDS: list[Any] = []


class InMemory(FrameKind[Frame]):
    """A frame whose rows are there: a result is computed at once."""

    height: int

    def collect_result(self, table: pl.LazyFrame) -> pl.DataFrame:
        """A result, by the engine that is the faster."""
        # The streaming engine takes 2 ms to start.
        return collected(table, "in-memory" if self.height < SMALL else "auto")

    def collect_columns(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """New columns, in the order of the rows."""
        # The streaming engine takes twice as long for a join that keeps the order of the rows.
        return collected(table.select(map(by_name, new)), "in-memory")


_OPTIMIZATIONS = pl.QueryOptFlags()


def collected(
    table: pl.LazyFrame, engine: Literal["in-memory", "auto"], optimizations: pl.QueryOptFlags = _OPTIMIZATIONS
) -> pl.DataFrame:
    """The rows of a plan; its errors are our own."""
    try:
        return table.collect(engine=engine, optimizations=optimizations)
    except ValueError as error:
        # What the in-memory engine adds is about expressions that the caller never wrote.
        raise ValueError(str(error).partition("\n\nThis error occurred")[0]) from None


@register_kind
class PolarsFrame(InMemory[pl.DataFrame]):
    """A polars DataFrame."""

    name = "polars DataFrame"
    takes_expressions = True

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Whether it is a polars DataFrame."""
        return isinstance(frame, pl.DataFrame)

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, frame.columns, frame.height)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """All of the frame."""
        return self.frame.lazy()

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.DataFrame:
        """The result, collected."""
        return self.collect_result(table)

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """The frame itself and, collected, the new columns."""
        return self.frame.hstack(self.collect_columns(table, new))

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pl.DataFrame:
        """Both, collected."""
        made = self.collect_columns(table, ["row", *new])
        columns = made.drop("row")
        # A selection of no columns has no rows either.
        return self.frame.select(map(by_name, carried))[made["row"]].hstack(columns) if carried else columns


@register_kind
class PolarsLazyFrame(FrameKind[pl.LazyFrame]):
    """A polars LazyFrame, which nothing here collects."""

    name = "polars LazyFrame"
    takes_expressions = True
    carried = {"callers_row": pl.struct(pl.all())}  # noqa: RUF012  read only

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Whether it is a polars LazyFrame."""
        return isinstance(frame, pl.LazyFrame)

    def __init__(self, frame: pl.LazyFrame) -> None:
        super().__init__(frame, frame.collect_schema().names(), None)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """The frame itself."""
        return self.frame

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """The result as it is."""
        return table

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> pl.LazyFrame:
        """The rows that the table carries, and the new columns."""
        return table.select("callers_row", *map(by_name, new)).unnest("callers_row")

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pl.LazyFrame:
        """Both, joined."""
        if not carried:
            return table.select(map(by_name, new))
        rows = self.frame.select(callers_row=pl.struct(map(by_name, carried))).with_row_index("row")
        return self.append_columns(table.join(rows, on="row", how="left", maintain_order="left"), new)


class Backend(ABC, Generic[Frame]):
    """A frame in parts, such as a Spark DataFrame: it runs metrics on its parts and gives frames of its own kind."""

    frame_type: Any
    """The class of its frames."""
    name: str
    """What errors call such a frame."""
    functions = "evaluate, report, with_metrics, tally and the functions of single metrics"
    """What a backend can run."""
    in_memory: str
    """How its rows come into memory, for all other functions."""

    @abstractmethod
    def evaluate(self, request: Any, named: Mapping[str, str], means: Any | None, undefined: float | None) -> Frame:
        """What `functions.evaluation.evaluated` gives."""

    @abstractmethod
    def with_metrics(self, request: Any, named: Mapping[str, str], prefix: str, undefined: float | None) -> Frame:
        """What `functions.evaluation.append_metrics` gives."""

    @abstractmethod
    def tally(self, request: Any, bins: Any) -> Frame:
        """What `functions.tallies.tallied` gives."""


_BACKENDS: list[type[Backend[Any]]] = []


def register_backend(backend: type[Backend[Any]]) -> None:
    """Register a backend: from then on, the functions take its frames."""
    _BACKENDS.append(backend)


def backend_class(frame: Any) -> type[Backend[Any]] | None:
    """The class of the backend that runs a frame; none for frames that one process holds."""
    if isinstance(frame, Backend):
        return type(frame)
    return next((backend for backend in _BACKENDS if isinstance(frame, backend.frame_type)), None)


def backend_of(frame: Frame) -> Backend[Frame] | None:
    """The frame as that of its backend; None where no backend is registered for it."""
    if isinstance(frame, Backend):
        return frame
    backend: Any = backend_class(frame)
    return cast(Backend[Frame], backend(frame)) if backend else None


# dispatch -------------------------------------------------------------------------------------------------------------

_OF_THEIR_OWN = ("dask", "narwhals", "pandas", "polars", "pyspark")
"""What has a stream as well, and is another kind of frame, or none."""


def find_kind(frame: Any) -> FrameKind[Any] | None:
    """The frame as one of a kind that is served; None where it is of no such kind."""
    for kind in _KINDS:
        if kind.matches(frame):
            return cast(FrameKind[Any], kind(frame))
    return None


def read_stream(frame: Any) -> Any:
    """The rows of a stream of Arrow, such as a relation of DuckDB, as a polars frame; all else as it is.

    A stream may be read but once, so whoever needs it twice needs what this gives.
    """
    kind = type(frame)
    library = kind.__module__.partition(".")[0].removeprefix("_")
    if find_kind(frame) is not None or not hasattr(kind, "__arrow_c_stream__") or library in _OF_THEIR_OWN:
        return frame
    if kind.__name__.endswith(("Array", "Series")):
        return frame
    try:
        table = pl.DataFrame(frame)
    except (pl.exceptions.PolarsError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise TypeError(f"the stream of a {kind.__name__} cannot be read: {first_line(error)}") from None
    # A relation is a query that runs anew, and what it finds may be nothing.
    if table.is_empty() and library != "duckdb":
        raise ValueError(
            f"the stream of a {kind.__name__} has no rows: it may have been read before, and is read but once; "
            "polars.DataFrame(...) of it, made once, serves many calls"
        )
    return table


def kind_of(frame: Frame) -> FrameKind[Frame]:
    """The frame as one of its kind, which must be one that is served."""
    if kind := find_kind(frame) or find_kind(read_stream(frame)):
        return kind
    if backend := backend_class(frame):
        raise TypeError(
            f"a {backend.name} has {backend.functions}; call this function on {backend.in_memory}, or on a tally of "
            "the rows with count='count'"
        )
    raise TypeError(_fault(frame))


def _fault(frame: Any) -> str:
    """Why an object is no frame that is served, and what to do."""
    if isinstance(frame, (str, PathLike)) and (way := scan_of(frame)):
        return f"the frame is a path, {shown(str(frame))}: give {way}"
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")[-80:]
    if "group" in type(frame).__qualname__.lower():
        return f"got a {kind}: give the frame itself, and the grouping columns as by=[...]"
    if kind.startswith("pyspark.pandas."):
        return f"got a {kind}: give its .to_spark(), after import frame_pr.spark"
    if (library := kind.partition(".")[0]) in ("dask", "pyspark") and type(frame).__name__ == "DataFrame":
        return f"got a {kind}: import frame_pr.{library.removeprefix('py')} first, then this call takes it"
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


def scan_of(path: str | PathLike[Any]) -> str:
    """The call of polars that reads the file of a path; empty where a text does not look like one."""
    suffixes = [suffix.lower() for suffix in Path(str(fspath(path))).suffixes]
    for suffix in suffixes[-2:]:
        if suffix in _SCANS:
            return "pl." + _SCANS[suffix].format(shown(str(path)))
    return "" if isinstance(path, str) else "pl.scan_parquet(...) or pl.scan_csv(...) of it"
