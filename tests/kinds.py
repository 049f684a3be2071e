"""Frames of every kind, from one polars DataFrame."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """A kind of frame: how to make it of a polars DataFrame, and how to read a result as one."""

    name: str
    of: type
    make: Callable[[pl.DataFrame], Any]
    read_as: Callable[[Any], pl.DataFrame]

    def __call__(self, data: pl.DataFrame) -> Any:
        return self.make(data)

    def read(self, result: Any) -> pl.DataFrame:
        assert type(result) is self.of, f"{self.of} went in, {type(result)} came out"
        return self.read_as(result)


def _nullable(data: pl.DataFrame) -> pd.DataFrame:
    with warnings.catch_warnings():
        # pandas 2.2 tries whether floats are whole by casting them, infinite ones too.
        warnings.simplefilter("ignore", RuntimeWarning)
        return data.to_pandas().convert_dtypes(dtype_backend="numpy_nullable")


KINDS = [
    Kind("polars", pl.DataFrame, lambda data: data, lambda result: result),
    Kind(
        "lazy", pl.LazyFrame, pl.DataFrame.lazy, lambda result: result.collect(engine="in-memory")
    ),
    Kind(
        "streaming",
        pl.LazyFrame,
        pl.DataFrame.lazy,
        lambda result: result.collect(engine="streaming"),
    ),
    Kind("pandas-numpy", pd.DataFrame, pl.DataFrame.to_pandas, pl.from_pandas),
    Kind("pandas-nullable", pd.DataFrame, _nullable, pl.from_pandas),
    Kind(
        "pandas-arrow",
        pd.DataFrame,
        lambda data: data.to_pandas(use_pyarrow_extension_array=True),
        pl.from_pandas,
    ),
    Kind("arrow", pa.Table, pl.DataFrame.to_arrow, pl.DataFrame),
]
