"""Which kind of frame it is."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_pr.frames.arrow import ArrowFrame, is_table
from frame_pr.frames.engines import Engine
from frame_pr.frames.frame_kind import Frame, FrameKind
from frame_pr.frames.pandas import PandasFrame, is_pandas
from frame_pr.frames.polars import PolarsFrame, PolarsLazyFrame


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


def kind_of(frame: Frame) -> FrameKind[Frame]:
    """The frame as one of its kind, which must be one that is served."""
    if found := find_kind(frame):
        return found
    if isinstance(frame, Engine):
        raise TypeError(f"on {frame.name} there are {frame.metrics} only")
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")[-80:]
    if (engine := kind.partition(".")[0]) in ("dask", "pyspark"):
        raise TypeError(f"got a {kind}: it goes to the functions of frame_pr.{engine.removeprefix('py')}")
    if kind.startswith("narwhals."):
        raise TypeError(f"got a {kind}: to_native() of it is the frame inside, whose kind then comes back")
    if kind.startswith("pyarrow.") and hasattr(type(frame), "read_all"):
        raise TypeError(f"got a {kind}: it is read but once, read_all() makes a table of it")
    if kind.startswith("pyarrow.") and "dataset" in kind:
        raise TypeError(f"got a {kind}: polars.scan_pyarrow_dataset(...) reads it as a LazyFrame")
    if kind.startswith(("duckdb.", "_duckdb.")):
        raise TypeError(f"got a {kind}: pl() of it is a polars frame, and pl(lazy=True) reads only what is used")
    if "groupby" in kind.lower():
        raise TypeError(f"got a {kind}: give the frame itself, and the grouping columns as by=[...]")
    raise TypeError(
        "the frame comes first, then the names of its columns: "
        f"expected a polars DataFrame or LazyFrame, a pandas DataFrame or a pyarrow Table, got a {kind}; "
        "polars.DataFrame(...) makes one of most other frames, and of a dict of arrays"
    )
