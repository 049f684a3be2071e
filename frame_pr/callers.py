"""Frames of the kinds that we serve, as LazyFrames, and the ways back to their kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import polars as pl

from frame_pr.checks import refuse_missing
from frame_pr.pandas_frames import beside, from_pandas, is_pandas, to_pandas

if TYPE_CHECKING:
    import pandas as pd

SMALL = 200_000
"""Rows below which the in-memory engine, and one query less, are the faster."""
Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")
"""The caller's kind of frame: what goes in comes out."""


class Caller(NamedTuple, Generic[Frame]):
    """The caller's frame, and the ways back to its kind."""

    frame: pl.LazyFrame
    columns: list[Any]
    height: int | None
    """How many rows there are; not known where it is for the caller to collect."""
    give: Callable[[pl.LazyFrame, Sequence[str]], Frame]
    """A result, as the caller's kind of frame; these columns of it are the caller's."""
    give_beside: Callable[[pl.LazyFrame, list[str]], Frame]
    """The caller's own rows, with these columns of a table that carries them at their right."""


class Engine(ABC):
    """A frame in parts: it runs the metrics on them in its own way, and gives frames of its own kind."""

    @abstractmethod
    def evaluate(
        self,
        names: Sequence[str],
        truth: Any,
        score: Any,
        *,
        by: Any,
        mean_over: Any,
        positive: object,
        undefined: float | None,
        **policies: Any,
    ) -> Any:
        """What `evaluation.evaluate` gives."""

    @abstractmethod
    def with_metrics(
        self,
        names: Sequence[str],
        truth: Any,
        score: Any,
        *,
        prefix: str,
        by: Any,
        positive: object,
        undefined: float | None,
        **policies: Any,
    ) -> Any:
        """What `evaluation.with_metrics` gives."""


def _collect(table: pl.LazyFrame, engine: Literal["in-memory", "auto"]) -> pl.DataFrame:
    try:
        return table.collect(engine=engine)
    except ValueError as error:
        # What the in-memory engine adds is about expressions that the caller never wrote.
        raise ValueError(str(error).partition("\n\nThis error occurred")[0]) from None


def _collect_result(table: pl.LazyFrame, frame: Sized) -> pl.DataFrame:
    # The streaming engine takes 2 ms to start.
    return _collect(table, "in-memory" if len(frame) < SMALL else "auto")


def _collect_beside(table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
    # The streaming engine takes twice as long for a join that keeps the order of the rows.
    return _collect(table.select(new), "in-memory")


def caller_of(frame: Frame, items: Sequence[Any]) -> Caller[Any]:
    """Accept a frame that has these columns."""
    names = [item for item in items if not isinstance(item, pl.Expr)]
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        columns = frame.collect_schema().names()
        refuse_missing(names, columns)
        if isinstance(frame, pl.LazyFrame):
            row = pl.col("row").struct.field(*columns)
            return Caller(frame, columns, None, lambda table, keys: table, lambda table, new: table.select(row, *new))
        return Caller(
            frame.lazy(),
            columns,
            len(frame),
            lambda table, keys: _collect_result(table, frame),
            lambda table, new: frame.hstack(_collect_beside(table, new)),
        )
    if is_pandas(frame):
        if len(names) < len(items):
            raise TypeError("polars expressions work on polars frames: on pandas, give column names")
        if frame.columns.nlevels > 1:
            raise ValueError(
                f"the columns of the frame have {frame.columns.nlevels} levels: give them plain names before the call"
            )
        for name in names:
            if name not in frame.columns and name in frame.index.names:
                raise ValueError(f"{name!r} is in the index of the frame: reset_index() makes a column of it")
        refuse_missing(names, list(frame.columns))
        return Caller(
            from_pandas(frame, list(dict.fromkeys(names))).lazy(),
            list(frame.columns),
            len(frame),
            lambda table, keys: to_pandas(_collect_result(table, frame), keys, like=frame),
            lambda table, new: beside(frame, _collect_beside(table, new)),
        )
    if isinstance(frame, Engine):
        raise TypeError("on Spark and Dask there are evaluate, report, with_metrics and the single metrics only")
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")
    if (engine := kind.partition(".")[0]) in ("dask", "pyspark"):
        raise TypeError(f"got a {kind}: it goes to the functions of frame_pr.{engine.removeprefix('py')}")
    if "groupby" in kind.lower():
        raise TypeError(f"got a {kind}: give the frame itself, and the grouping columns as by=[...]")
    raise TypeError(
        "the frame comes first, then the names of its columns: "
        f"expected a polars DataFrame or LazyFrame or a pandas DataFrame, got a {kind}; "
        "polars.DataFrame(...) makes one of most other frames, and of a dict of arrays"
    )
