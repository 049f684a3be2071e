"""Which kind of frame it is."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_pr.frames.arrow import ArrowFrame, is_table
from frame_pr.frames.engines import Engine
from frame_pr.frames.frame_kind import Frame, FrameKind
from frame_pr.frames.pandas import PandasFrame, is_pandas
from frame_pr.frames.polars import PolarsFrame, PolarsLazyFrame
from frame_pr.frames.wording import first_line

_OF_THEIR_OWN = ("dask", "narwhals", "pandas", "polars", "pyspark")
"""What has a stream as well, and is another kind of frame, or none."""


def find_kind(frame: Any) -> FrameKind[Any] | None:
    """The frame as one of a kind that is served; None where it is of no such kind."""
    if isinstance(frame, pl.DataFrame):
        return PolarsFrame(frame)
    if isinstance(frame, pl.LazyFrame):
        return PolarsLazyFrame(frame)
    if is_pandas(frame):
        return PandasFrame(frame)
    if is_table(frame):
        return ArrowFrame(frame)
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
    if found := find_kind(read_stream(frame)):
        return found
    if isinstance(frame, Engine):
        raise TypeError(f"on {frame.name} there are {frame.metrics} only")
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")[-80:]
    if (engine := kind.partition(".")[0]) in ("dask", "pyspark"):
        raise TypeError(f"got a {kind}: it goes to the functions of frame_pr.{engine.removeprefix('py')}")
    if kind.startswith("narwhals."):
        raise TypeError(f"got a {kind}: to_native() of it is the frame inside, whose kind then comes back")
    if kind.startswith("pyarrow.") and "dataset" in kind:
        raise TypeError(f"got a {kind}: polars.scan_pyarrow_dataset(...) reads it as a LazyFrame")
    if "groupby" in kind.lower():
        raise TypeError(f"got a {kind}: give the frame itself, and the grouping columns as by=[...]")
    raise TypeError(
        "the frame comes first, then the names of its columns: "
        f"expected a polars DataFrame or LazyFrame, a pandas DataFrame or a pyarrow Table, got a {kind}; "
        "polars.DataFrame(...) makes one of most other frames, and of a dict of arrays"
    )
