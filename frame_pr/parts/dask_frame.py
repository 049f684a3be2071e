"""The backend for Dask frames."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name
from frame_pr.frames.pandas import PandasFrame
from frame_pr.parts.backends import ONLY_TOTALS, Shuffled
from frame_pr.parts.part_query import Names, Part, in_part
from frame_pr.parts.score_ranges import RANGE, OverRanges

try:
    import dask
    import dask.dataframe as dd
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from dask.dataframe import DataFrame
    from dask.dataframe.dispatch import concat
except ImportError as error:
    raise ImportError('frame_pr.dask needs dask: pip install "frame_pr[dask]"') from error

# Rows travel as bytes: the shuffles of Dask change some dtypes, and fail for others, such as Arrow
# categories.
_PIECES = pd.DataFrame(
    {
        "partition": pd.Series(dtype="int64"),
        "rows": pd.Series(dtype=pd.ArrowDtype(pa.large_binary())),
    }
)

_MULTIPLIER = np.uint64(1_000_003)
"""An odd number, which combines the hashes of several keys: that of Python's old tuples."""


class DaskFrame(Shuffled):
    """A Dask DataFrame."""

    frame_type = DataFrame
    name = "Dask DataFrame"
    in_memory = "its .compute()"

    def empty(self, columns: Names) -> pl.DataFrame:
        """Return these columns without rows."""
        meta = self._select(columns)._meta
        for column, dtype in meta.dtypes.items():
            if dtype == np.dtype(object):
                raise TypeError(
                    f"column {column!r} is object in Dask, which may hold anything: give it a dtype"
                )
        return _to_polars(meta)

    def map_parts(
        self, columns: Names, keys: Names, function: Part, *, shuffled: bool = True
    ) -> DataFrame:
        """Apply the function to each part."""
        frame = self._select(columns)
        meta = _with_keys(function(self.empty(columns)), keys, frame._meta)
        if shuffled:
            frame = _shuffled(frame, len(keys), _hashes)
        return frame.map_partitions(partial(_apply, function, keys, frame._meta), meta=meta)

    def append_columns(self, columns: Names, keys: Names | None, function: Part) -> DataFrame:
        """Return the frame with the columns that the function computes for each part."""
        used = self._labels(columns)
        # The shuffle needs the used columns first. They return to their places after it.
        frame = self.frame[[*used, *(label for label in self.columns() if label not in used)]]
        if keys is not None:
            frame = _shuffled(frame, len(keys), _hashes)
        append = partial(_append, function, used, self.columns())
        return frame.map_partitions(append, meta=append(self.frame._meta))

    def partitions(self) -> int:
        """Return the number of parts after a shuffle."""
        return int(self.frame.npartitions)

    def collected(self, columns: Names, function: Part) -> pl.DataFrame:
        """Apply a function to each part, and concatenate the results."""
        frame = self._select(columns)
        apply = partial(dask.delayed(_on_polars), function, frame._meta)
        results = dask.compute(*map(apply, frame.to_delayed()))
        tables: list[pl.DataFrame] = [function(self.empty(columns)), *results]
        return pl.concat(tables)

    @contextmanager
    def in_ranges(self, columns: Names, number: Part) -> Generator[OverRanges]:
        """Shuffle by ranges of scores."""
        ranged = DaskFrame(self._select(columns)).append_columns(columns, None, number)
        ranged = ranged[[RANGE, *self._labels(columns)]]
        shuffled = _shuffled(ranged, 1, pl.DataFrame.clone)
        frame = DaskFrame(shuffled.persist())
        yield partial(frame.collected, [*columns, RANGE])

    def union(self, groups: DataFrame, others: pl.DataFrame) -> DataFrame:
        """Concatenate both."""
        rows = others.to_pandas(use_pyarrow_extension_array=True).set_axis(groups.columns, axis=1)
        rows = rows.astype(groups._meta.dtypes.to_dict()).assign(**{ONLY_TOTALS: True})
        return dd.concat(
            [groups.assign(**{ONLY_TOTALS: False}), dd.from_pandas(rows, npartitions=1)]
        )

    def from_polars(self, result: pl.DataFrame) -> DataFrame:
        """Return a small result as a Dask frame."""
        frame = _new_columns(result)
        return dd.from_delayed([dask.delayed(frame)], meta=frame.iloc[:0], verify_meta=False)

    def _select(self, columns: Names) -> DataFrame:
        return self.frame[self._labels(columns)]

    def _labels(self, columns: Names) -> list[Any]:
        labels = {str(label): label for label in self.columns()}
        return [labels[column] for column in columns]


def _shuffled(frame: DataFrame, keys: int, hashes: Part) -> DataFrame:
    """Bring rows with equal hashes of the first columns into one part."""
    meta = frame._meta
    partitions = frame.npartitions if keys else 1
    split = partial(
        _split,
        meta=meta,
        keys=keys,
        hashes=hashes,
        partitions=partitions,
    )
    pieces = frame.map_partitions(split, meta=_PIECES)
    gathered = pieces.shuffle(on="partition", npartitions=partitions)
    join = partial(_joined, meta=meta)
    return gathered.map_partitions(join, meta=meta).clear_divisions()


# functions that run on each part
# --------------------------------------------------------------------------------------


def _split(
    part: pd.DataFrame, meta: pd.DataFrame, keys: int, hashes: Part, partitions: int
) -> pd.DataFrame:
    """Return one row for each new partition: its number, and its rows in this part."""
    part = _typed(part, meta)
    numbers = np.zeros(len(part), "int64")
    if partitions > 1:
        # Rows without a score are in no range, and go to the first partition.
        hashed = hashes(_to_polars(part.iloc[:, :keys])).to_series().fill_null(0)
        numbers = (hashed % partitions).cast(pl.Int64).to_numpy()

    present = np.unique(numbers).tolist()
    rows = [pickle.dumps(part[numbers == number]) for number in present]
    return pd.DataFrame({"partition": present, "rows": rows}).astype(_PIECES.dtypes.to_dict())


def _joined(pieces: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a new partition."""
    parts = [pickle.loads(rows) for rows in pieces["rows"]]
    if not parts:
        return meta
    # Categories of several dtypes cannot be concatenated, such as those of a part where all values
    # are missing.
    mixed = []
    for column, dtype in meta.dtypes.items():
        if dtype == "category" and len({part[column].cat.categories.dtype for part in parts}) > 1:
            mixed.append(column)
    joined: pd.DataFrame = concat([part.astype(dict.fromkeys(mixed, object)) for part in parts])
    return joined.astype(dict.fromkeys(mixed, "category"))


def _hashes(keys: pl.DataFrame) -> pl.DataFrame:
    """Hash rows. Workers may have several versions of polars, whose own hash differs by version."""
    return pl.DataFrame({"hash": _combined_hashes(keys.get_columns())})


def _combined_hashes(columns: Sequence[pl.Series]) -> Any:
    hashes: Any = np.uint64(0)
    for column in columns:
        hashes = hashes * _MULTIPLIER + _column_hashes(column)
    return hashes


def _column_hashes(column: pl.Series) -> Any:
    """Hash values as Dask's own shuffle does: by their bits, or by their text."""
    dtype = column.dtype
    if isinstance(dtype, pl.Struct):
        return _combined_hashes(column.struct.unnest().get_columns())
    if isinstance(dtype, (pl.Array, pl.List)):
        # Lists that share a length and both ends share a partition.
        lists = column.cast(pl.List(dtype.inner)).list
        return _combined_hashes([lists.len(), lists.first(), lists.last()])

    if dtype == pl.Binary:
        column = column.bin.encode("hex")
    elif dtype.is_float():
        # Equal keys have equal bits: -0.0 is 0.0, and there are many NaN.
        column = column.cast(pl.Float64).fill_nan(None) + 0.0
    elif isinstance(dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)  # Codes of categories differ by process.
    else:
        column = column.to_physical()

    if column.dtype in (pl.Int128, pl.UInt128) or not column.dtype.is_numeric():
        texts = column.cast(pl.String).fill_null("")
        return pd.util.hash_array(texts.to_numpy().astype(object))
    return pd.util.hash_array(column.fill_null(0).to_numpy())


def _typed(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Cast a part to the dtypes that Dask announces; equal keys of other dtypes would not meet."""
    typed = part.copy(deep=False)
    for column, dtype in meta.dtypes.items():
        values = part[column]
        # Categories may differ from part to part.
        if values.dtype == dtype or isinstance(dtype, pd.CategoricalDtype):
            continue
        converted = values
        try:
            converted = values.astype(dtype)
            equal = (values == converted) & (values == converted.astype(values.dtype))
            is_same = (values.isna() & converted.isna()) | equal.fillna(False)
        except (ArithmeticError, NotImplementedError, TypeError, ValueError):
            is_same = values.notna() & bool(values.isna().any())
        if not is_same.all():
            value = values[~is_same].iloc[0]
            raise TypeError(
                f"column {column!r} is {dtype} to Dask, and {values.dtype} in a part, with values "
                f"such as {value}, which {dtype} cannot hold: give it one type in all parts, "
                "with astype"
            )
        typed[column] = converted
    return typed


def _to_polars(part: pd.DataFrame) -> pl.DataFrame:
    return PandasFrame(part).read(list(part.columns)).collect()


def _on_polars(function: Part, meta: pd.DataFrame, part: pd.DataFrame) -> pl.DataFrame:
    return in_part(function, _to_polars(_typed(part, meta)))


def _apply(function: Part, keys: Names, meta: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    part = _typed(part, meta)
    return _with_keys(in_part(function, _to_polars(part)), keys, part)


def _append(
    function: Part, used: list[Any], columns: list[Any], part: pd.DataFrame
) -> pd.DataFrame:
    new = _new_columns(in_part(function, _to_polars(part[used])))
    return pd.concat([part[columns], new.set_axis(part.index)], axis=1)


def _with_keys(result: pl.DataFrame, keys: Names, part: pd.DataFrame) -> pd.DataFrame:
    """Return a result as pandas, with the keys as the rows of the part have them."""
    new = _new_columns(result.drop(cs.by_name(*keys)))
    if not keys:
        return new
    keys_of_part = part.iloc[:, : len(keys)]
    # The oldest polars cannot join by `by_name`, and any polars reads some names as patterns.
    names = [f"key{i}" for i in range(len(keys))]
    of_rows = _to_polars(keys_of_part.set_axis(names, axis=1))
    first = of_rows.with_row_index("row").unique(names, keep="first")
    of_groups = result.select(map(by_name, keys))
    of_groups.columns = names
    joined = of_groups.join(
        first,
        on=names,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    rows = joined["row"].to_numpy()
    return pd.concat([keys_of_part.iloc[rows].set_axis(new.index), new], axis=1)


def _new_columns(result: pl.DataFrame) -> pd.DataFrame:
    """Return a result with the dtypes that Dask knows beforehand, whatever the values."""
    dtypes = {name: _dtype(dtype) for name, dtype in result.schema.items()}
    return result.to_pandas(use_pyarrow_extension_array=True).astype(dtypes)


def _dtype(dtype: pl.DataType) -> Any:
    if dtype.is_integer():
        return str(dtype)  # pandas spells its nullable integers as polars does.
    if dtype == pl.String:
        return "string[pyarrow]"
    if dtype.is_float():
        return "float32" if dtype == pl.Float32 else "float64"
    return pd.ArrowDtype(pl.Series(dtype=dtype).to_arrow().type)
