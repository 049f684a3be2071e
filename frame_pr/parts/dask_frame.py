"""The backend for Dask frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

from frame_pr.frames.arrow import from_pandas, to_pandas
from frame_pr.frames.messages import shown
from frame_pr.parts.backends import OTHER, Shuffled, range_numbering, sample_rows
from frame_pr.parts.part_query import Part, PartQuery, in_part, places

try:
    import dask
    import dask.dataframe as dd
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from dask.dataframe import DataFrame
    from dask.dataframe.utils import UNKNOWN_CATEGORIES
except ImportError as error:
    raise ImportError('frame_pr.dask needs dask: pip install "frame-pr[dask]"') from error


class DaskFrame(Shuffled):
    """A Dask DataFrame."""

    frame_type = DataFrame
    name = "Dask DataFrame"
    in_memory = "its .compute()"

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def columns(self) -> list[Any]:
        """Return the names of its columns."""
        return list(self.frame.columns)

    def refuse_missing(self, columns: Sequence[Any], argument: str) -> None:
        """Check that every column exists, and that no two names have the same text."""
        for column in columns:
            if isinstance(column, str) and column not in self.columns() and column == self.frame.index.name:
                raise ValueError(
                    f"{argument}: {shown(column)} is the index of the frame: reset_index() makes a column of it"
                )
            if [str(name) for name in self.columns()].count(str(column)) > 1:
                raise ValueError(f"the frame has several columns named {shown(column)}: rename them before the call")
        super().refuse_missing(columns, argument)

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return these columns without rows."""
        meta = self._select(columns)._meta
        for column, dtype in meta.dtypes.items():
            if dtype.kind == "O" and isinstance(dtype, np.dtype):
                raise TypeError(
                    f"column {column!r} is object in Dask, which does not say what it holds: give it a type, "
                    "such as 'string' or one of Arrow's"
                )
        return _to_polars(meta)

    def categories(self, column: str) -> list[Any]:
        """Return the categories that Dask knows."""
        (dtype,) = self._select([column])._meta.dtypes
        return list(dtype.categories) if _has_categories(dtype) else []

    def by_group(
        self, columns: Sequence[str], keys: Sequence[str], function: Part, *, shuffled: bool = True
    ) -> DataFrame:
        """Apply the function to each part; key columns keep their dtypes."""
        frame, empty = self._select(columns), function(self.empty(columns))
        types = {name: dtype for name, dtype in _declared(empty).items() if name not in keys}
        meta = to_pandas(empty, keys, like=frame._meta).astype(types)
        if shuffled:
            frame = _shuffled(frame, len(keys), _hashed)
        else:
            frame = frame.map_partitions(partial(_typed, meta=frame._meta), meta=frame._meta)
        return frame.map_partitions(partial(_by_group, function, meta), meta=meta)

    def append_columns(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """Return the frame with the columns that the function computes for each part."""
        empty = function(self.empty(columns))
        new = empty.to_pandas().astype(_declared(empty))
        # The shuffle needs the used columns first. They return to their places after it.
        used = self._labels(columns)
        frame = self.frame[[*used, *(label for label in self.columns() if label not in used)]]
        meta = pd.concat([self.frame._meta, new], axis=1)
        append = partial(_append_to_part, function, used, self.columns(), new)
        return _shuffled(frame, len(keys), _hashed).map_partitions(append, meta=meta)

    def in_ranges(self, call: PartQuery) -> Callable[[Part], pl.DataFrame]:
        """Shuffle by ranges of scores, and apply the function to the parts."""
        frame, empty = self._select(call.columns()), self.empty(call.columns())
        scores = self._select(call.scores)
        typed = scores.map_partitions(partial(_typed, meta=scores._meta), meta=scores._meta)
        sample = _collected(typed, empty.select(pl.col(call.score).alias("0")), sample_rows)
        number = range_numbering(call, sample, frame.npartitions)
        ranged = _shuffled(frame, frame.shape[1], partial(_hashed_ranges, number))
        return lambda function: _collected(ranged, empty, partial(_with_ranges, number=number, function=function))

    def together(self, groups: DataFrame, others: pl.DataFrame, keys: Sequence[str]) -> DataFrame:
        """Concatenate both."""
        rows = to_pandas(others, others.columns, like=groups._meta)
        return dd.concat([groups.assign(**{OTHER: False}), dd.from_pandas(rows.assign(**{OTHER: True}), npartitions=1)])

    def from_result(self, result: pl.DataFrame) -> DataFrame:
        """Return a small result as a Dask frame."""
        meta = result.clear().to_pandas().astype(_declared(result))
        part = dask.delayed(to_pandas(result, result.columns, like=meta))
        return dd.from_delayed([part], meta=meta, verify_meta=False)

    def _select(self, columns: Sequence[str]) -> DataFrame:
        return self.frame[self._labels(columns)]

    def _labels(self, columns: Sequence[str]) -> list[Any]:
        labels = {str(label): label for label in self.columns()}
        return [labels[column] for column in columns]


def _declared(result: pl.DataFrame) -> dict[str, Any]:
    """Return dtypes of columns whose dtype pandas would take from their values: Dask must know them beforehand."""
    types: dict[str, Any] = {}
    for name, dtype in result.schema.items():
        if dtype == pl.String:
            types[name] = "string[pyarrow]"
        elif dtype.is_integer():
            types[name] = str(dtype)  # pandas spells its nullable integers as polars does
        elif dtype == pl.Boolean:
            types[name] = "boolean"
        elif dtype.is_decimal():
            types[name] = pd.ArrowDtype(result[name].to_arrow().type)
    return types


# the shuffle ----------------------------------------------------------------------------------------------------------


def _shuffled(frame: DataFrame, keys: int, hashed: Part) -> DataFrame:
    """Shuffle the frame so that rows with equal hashes of the first columns are in one part.

    The columns get names that collide neither with those of Dask's shuffle nor with the column of hashes.
    """
    meta = frame._meta
    # Cast before the shuffle, because equal keys of different dtypes may not meet, and after it, because it loses some
    # Arrow dtypes.
    send = partial(_sent, meta=meta, keys=keys, hashed=hashed)
    frame = frame.map_partitions(send, meta=send(meta))
    frame = frame.shuffle(on="hash") if keys else frame.repartition(npartitions=1)
    return frame.map_partitions(partial(_received, meta=meta), meta=meta).clear_divisions()


def _sent(part: pd.DataFrame, meta: pd.DataFrame, keys: int, hashed: Part) -> pd.DataFrame:
    """Return a part with the names and dtypes of the shuffle, and with the column `hash` if there are keys."""
    part = _typed(_decoded(part, meta), _decoded(meta, meta))
    named = part.set_axis(places(list(part.columns)), axis=1)
    return named.assign(hash=hashed(_to_polars(part.iloc[:, :keys])).to_series().to_numpy()) if keys else named


def _received(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Return a part with its names and dtypes from before the shuffle."""
    part = part[places(list(meta.columns))].set_axis(meta.columns, axis=1)
    return _encoded(_typed(part, _decoded(meta, meta)), meta)


def _replaced(frame: pd.DataFrame, columns: dict[Any, Any]) -> pd.DataFrame:
    frame = frame.copy(deep=False)
    for column, values in columns.items():
        frame[column] = values
    return frame


def _hashed(keys: pl.DataFrame) -> pl.DataFrame:
    """Hash each row so that equal keys have equal hashes, whatever their dtype and the process that holds them."""
    hashes = []
    for key in keys:
        if key.dtype.is_numeric() or key.dtype == pl.Boolean:
            key = key.cast(pl.Float64)  # More hashes are then equal, which only moves rows to the same part.
        elif key.dtype == pl.Datetime:
            key = key.dt.epoch("ms")
        elif key.dtype == pl.Duration:
            key = key.dt.total_milliseconds()
        else:
            key = key.cast(_without_categories(key.dtype))
        hashes.append(key.hash().zip_with(key.is_not_null(), pl.Series([0], dtype=pl.UInt64)))
    return pl.DataFrame(hashes).select(hash=pl.struct(pl.all()).hash())


def _without_categories(dtype: Any) -> Any:
    """Return a dtype with categories as texts: polars would hash their codes, which each process assigns anew."""
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_categories(dtype.inner))
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: _without_categories(field.dtype) for field in dtype.fields})
    return dtype


def _hashed_ranges(number: Part, part: pl.DataFrame) -> pl.DataFrame:
    return _hashed(number(part))


def _is_dictionary(dtype: Any) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_dictionary(dtype.pyarrow_dtype)


def _has_categories(dtype: Any) -> bool:
    """Return whether a dtype has categories that are known before a part is computed."""
    return isinstance(dtype, pd.CategoricalDtype) and list(dtype.categories) not in ([], [UNKNOWN_CATEGORIES])


def _decoded(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Replace categories and dictionaries by their values, which can be concatenated across parts."""
    decoded = {}
    for column, dtype in meta.dtypes.items():
        part_dtype = part[column].dtype
        if (_is_dictionary(dtype) or _has_categories(dtype)) and (
            _is_dictionary(part_dtype) or isinstance(part_dtype, pd.CategoricalDtype)
        ):
            coded = pa.chunked_array([pa.array(part[column])] if len(part) else [], type=pa.array(part[column]).type)
            value = coded.type.value_type
            if not isinstance(value, pa.BaseExtensionType):
                decoded[column] = pd.Series(coded.cast(value), index=part.index, dtype=pd.ArrowDtype(value))
    return _replaced(part, decoded)


def _encoded(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Restore categories and dictionaries."""
    encoded = {}
    for column, dtype in meta.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype) and not isinstance(part[column].dtype, pd.CategoricalDtype):
            encoded[column] = _categories(part[column], dtype)
        elif _is_dictionary(dtype) and part[column].dtype != dtype:
            values, arrow_dtype = pa.array(part[column]), dtype.pyarrow_dtype
            values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            coded = values.cast(arrow_dtype.value_type).dictionary_encode()
            indices = coded.indices.cast(arrow_dtype.index_type)
            arrow = pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=arrow_dtype.ordered)
            encoded[column] = pd.Series(pd.array(arrow, dtype=dtype), index=part.index)
    return _replaced(part, encoded)


def _categories(values: pd.Series[Any], dtype: pd.CategoricalDtype) -> pd.Series[Any]:
    """Return values as categories: those of the dtype, then new ones."""
    if not _has_categories(dtype):
        return values.astype("category")
    codes, uniques = pd.factorize(values)
    uniques = pd.Index(uniques).astype(dtype.categories.dtype)
    new = uniques.difference(dtype.categories)
    if dtype.ordered and len(new):
        raise TypeError(
            f"column {values.name!r} has ordered categories, and {new[0]!r} of a part is not one of those that Dask "
            "knows: give all parts the same"
        )
    coded = pd.Categorical.from_codes(codes, categories=uniques)
    return pd.Series(coded.set_categories(dtype.categories.append(new), ordered=dtype.ordered), index=values.index)


def _typed(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """Cast a part to the dtypes that Dask declares."""
    typed = {}
    for column, dtype in meta.dtypes.items():
        # Categories may differ from part to part.
        if part[column].dtype == dtype or isinstance(dtype, pd.CategoricalDtype):
            continue
        if isinstance(dtype, np.dtype) and dtype.kind in "iub" and (missing := part[column].isna().sum()):
            raise TypeError(
                f"column {column!r} is {dtype} to Dask, which cannot be missing, and {missing} of {len(part)} values "
                "of a part are: read it as a nullable type, such as with dtype_backend='pyarrow'"
            )
        try:
            typed[column] = part[column].astype(dtype)
            is_same = _is_same_value(part[column], typed[column])
        except (ArithmeticError, NotImplementedError, TypeError, ValueError):
            is_same = part[column].isna().to_numpy()
        if not is_same.all():
            raise TypeError(
                f"column {column!r} is {dtype} to Dask, and {part[column].dtype} in a part, with values such as "
                f"{part[column][~is_same].iloc[0]} that are none of {dtype}: give it one type in all parts, with astype"
            )
    return _replaced(part, typed)


def _is_same_value(values: pd.Series[Any], typed: pd.Series[Any]) -> np.ndarray[Any, Any]:
    """Return for each value whether another dtype holds it unchanged."""
    before, after = (from_pandas(series.to_frame("values"), ["values"]).to_series() for series in (values, typed))
    if _family(before.dtype) not in (_family(after.dtype), pl.Null):
        return before.is_null().to_numpy()
    back = after.cast(before.dtype, strict=False)
    if before.dtype.is_float():
        before, back = before.fill_nan(None), back.fill_nan(None)
    return before.eq_missing(back).to_numpy()


def _family(dtype: pl.DataType) -> Any:
    """Return the family of a dtype: numbers of two dtypes may be equal, a number and a text may not."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return pl.Float64
    return pl.String if dtype in (pl.Categorical, pl.Enum) else dtype.base_type()


# functions that run on each part --------------------------------------------------------------------------------------


def _to_polars(part: pd.DataFrame) -> pl.DataFrame:
    """Convert a part to polars, with its columns named by their places."""
    frame = from_pandas(part, list(part.columns))
    frame.columns = places(frame.columns)
    return frame


def _collected(frame: DataFrame, empty: pl.DataFrame, function: Part) -> pl.DataFrame:
    """Apply a function to each part and concatenate the results."""
    results: tuple[pl.DataFrame, ...] = dask.compute(
        *(dask.delayed(_in_polars)(function, part) for part in frame.to_delayed())
    )
    return pl.concat([function(empty), *results])


def _with_ranges(part: pl.DataFrame, number: Part, function: Part) -> pl.DataFrame:
    return function(part.hstack(number(part)))


def _in_polars(function: Part, part: pd.DataFrame) -> pl.DataFrame:
    return in_part(function, _to_polars(part))


def _by_group(function: Part, meta: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    like = {column: part[column].head(0) for column, dtype in meta.dtypes.items() if dtype == "category"}
    result = _in_polars(function, part)
    return to_pandas(result, [str(column) for column in meta.columns], like=_replaced(meta, like))


def _append_to_part(
    function: Part, used: list[Any], columns: list[Any], new: pd.DataFrame, part: pd.DataFrame
) -> pd.DataFrame:
    result = to_pandas(_in_polars(function, part[used]), list(new.columns), like=new)
    return pd.concat([part[columns], result.set_axis(part.index)], axis=1)
