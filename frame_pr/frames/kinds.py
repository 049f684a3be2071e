"""The kind of polars frames, of which others are subclasses, and how a plan is collected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, Generic, cast

import polars as pl

from frame_pr.frames.columns import by_name, map_whole, needed, refuse_missing
from frame_pr.frames.signatures import Frame as Frame
from frame_pr.frames.signatures import Function

SMALL = 200_000
"""With fewer rows, the in-memory engine is faster, and a copy in one chunk takes less time than it
saves."""
_OPTIMIZATIONS = pl.QueryOptFlags.none(
    projection_pushdown=True,
    slice_pushdown=True,
    comm_subplan_elim=True,
    # Before 1.44, a literal that expressions share may get the height of another frame.
    comm_subexpr_elim=not pl.__version__.startswith("1."),
)
"""The optimizations of plans over frames in memory. Others find nothing in them, and take 0.17 of
the 2.4 ms of ten rows."""


class FrameKind(Generic[Frame]):
    """A caller's frame: reads its columns, and returns results as the caller's kind.

    This class is the kind of polars frames. A subclass reads another kind. Only `read` accepts a
    LazyFrame.
    """

    name = "polars frame"
    """The name in error messages."""
    takes_expressions = True
    """Whether a polars expression may stand for a column."""

    def __init__(
        self,
        frame: Any,
        columns: list[Any],
        height: int,
    ) -> None:
        self.frame = frame
        self.columns = columns
        self.height = height
        self.is_lazy = isinstance(frame, pl.LazyFrame)

    # Reading

    def refuse_missing(
        self,
        items: Sequence[Any],
        argument: str,
        frame: str = "frame",
    ) -> None:
        """Refuse columns that do not exist, and expressions if the kind does not accept them."""
        if not self.takes_expressions and any(isinstance(item, pl.Expr) for item in items):
            raise TypeError(
                f"{argument}: polars expressions work on polars frames; give the names of columns "
                f"of a {self.name}"
            )
        refuse_missing(items, self.columns, frame, argument)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return a LazyFrame with these columns and the root columns of expressions among them."""
        return cast(pl.LazyFrame, self.frame.lazy())

    def column(self, name: Any) -> pl.Series:
        """Return one column."""
        return cast(pl.Series, self.frame.get_column(str(name)))

    def type_of(self, name: str) -> str:
        """Return the kind's own name for the dtype of a column; empty if it is that of polars."""
        return ""

    # Values that polars does not have

    def with_keys(
        self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()
    ) -> tuple[FrameKind[Frame], list[FrameKind[Any]]]:
        """Return this frame and the others, with columns that tell rows apart, such as keys.

        `read` gives values that polars would change or does not have as an Enum, of equal texts for
        equal values in all frames, and `convert` gives them back.
        """
        return self, list(others)

    def with_labels(self, names: Sequence[Any], labels: Sequence[Any] = ()) -> FrameKind[Frame]:
        """Return this frame with columns that hold labels of the same classes; see `with_keys`.

        `labels`: classes that the caller lists, which the rows may lack.
        """
        return self

    def with_column(self, column: pl.Series, codes: Any = None) -> FrameKind[Frame]:
        """Return this frame with a column that `read` gives in place of its own.

        `codes`: what restores the values that the texts of the column stand for.
        """
        return FrameKind(self.frame.with_columns(column), self.columns, self.height)

    def label(self, name: str, value: Any) -> Any:
        """Return a label of a column as `read` has it."""
        return value

    # Results

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

    def finish(self, frame: Any) -> Frame:
        """Return a result to the caller: the last step of all calls, for kinds that wrap it."""
        return cast(Frame, frame)

    def give(self, table: pl.LazyFrame, keys: Collection[Any]) -> Frame:
        """Return a result, with the dtypes of the caller's columns `keys`; see `convert`."""
        return self.finish(self.convert(collected(table, self.height), keys))

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> Frame:
        """Return the caller's rows with these columns of a table appended."""
        columns = self.convert(collect_in_order(table, new))
        return self.finish(self.concat_columns(self.frame, columns))

    def spread(
        self,
        table: pl.LazyFrame,
        carried: Sequence[Any],
        new: list[str],
        keys: Collection[Any] = (),
    ) -> Frame:
        """Return the carried columns of row number `row` for each line, and the new columns.

        `keys`: the new columns with the dtypes of the caller's; see `convert`.
        """
        lines = collect_in_order(table, ["row", *new])
        columns = self.convert(lines.drop("row"), keys)
        # Without columns, a frame has no rows.
        if carried:
            columns = self.concat_columns(self.gather(carried, lines["row"]), columns)
        return self.finish(columns)

    def give_joined(
        self,
        other: FrameKind[Frame],
        keys: pl.DataFrame,
        rows: Sequence[pl.Series],
    ) -> Frame:
        """Return a join of this frame and another of its kind, with the columns `keys` first.

        `rows`: the row numbers in this frame and in the other one, which may be null.
        """
        frames = [self.convert(keys, keys.columns)]
        for kind, numbers in zip((self, other), rows, strict=True):
            names = [name for name in kind.columns if str(name) not in keys.columns]
            if names:
                frames.append(kind.gather(names, numbers))
        return self.finish(self.concat_columns(*frames))


def collect_in_order(table: pl.LazyFrame, columns: list[str]) -> pl.DataFrame:
    """Collect columns of a table in the order of its rows."""
    # The streaming engine takes twice as long for a join that keeps the order of the rows.
    return collected(table.select(map(by_name, columns)))


def collected(table: pl.LazyFrame, rows: int = 0) -> pl.DataFrame:
    """Collect a plan over so many rows; by default in memory, however many there are.

    Errors are those of this package.
    """
    try:
        if rows >= SMALL:
            return table.collect(engine="streaming")
        # `collect_all` runs on the threads of polars. `collect` passes each step to them from the
        # caller's thread, which takes twice the time for ten rows.
        return pl.collect_all([table], engine="in-memory", optimizations=_OPTIMIZATIONS)[0]
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
    """Apply a function of a frame in memory to any frame. A LazyFrame stays lazy.

    It gets one `map_batches`, whose schema is that of the function for no rows. `items`: the names
    and expressions of the columns that the function reads; None: all columns. `of_no_rows`: in
    place of the function for no rows, if this would read other LazyFrames.
    """
    if not isinstance(frame, pl.LazyFrame):
        return cast(Frame, compute(frame))
    source = frame if items is None else projected(frame, items)
    no_rows = pl.DataFrame(schema=source.collect_schema())
    schema = (of_no_rows or compute)(no_rows).schema
    return cast(Frame, map_whole(source, compute, schema))


def projected(frame: pl.LazyFrame, items: Sequence[Any]) -> pl.LazyFrame:
    """Select the columns that these names and expressions read."""
    names = needed(frame, items)
    schema = frame.collect_schema()
    # If a column is missing, the caller's function raises an error, which suggests one of all.
    if all(name in schema for name in names):
        return frame.select(map(by_name, dict.fromkeys(names)))
    return frame


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
