"""Kinds of frames that are read and built through Arrow: pandas DataFrames and pyarrow Tables; streams of Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import FrameKind, InMemory, is_stream, register_kind
from frame_pr.frames.messages import first_line, shown

if TYPE_CHECKING:
    import pandas as pd


@register_kind
class ArrowFrame(InMemory[Any]):
    """A pyarrow Table."""

    name = "pyarrow Table"

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Return whether an object is a pyarrow Table or RecordBatch."""
        pyarrow = sys.modules.get("pyarrow")
        return pyarrow is not None and isinstance(frame, (pyarrow.Table, pyarrow.RecordBatch))

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        super().__init__(table, table.column_names, table.num_rows)

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """Check that these columns exist, each of them once."""
        super().refuse_missing(items, argument)
        for name in items:
            if self.columns.count(name) > 1:
                raise ValueError(f"the frame has several columns named {shown(name)}: rename them before the call")

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Read only these columns."""
        columns = {name: self.frame.column(name) for name in dict.fromkeys(items)}
        return pl.DataFrame([_arrow_series(name, column) for name, column in columns.items()]).lazy()

    def type_of(self, name: str) -> str:
        """Return the Arrow type of the column."""
        return str(self.frame.schema.field(name).type)[:100] if name in self.columns else ""

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Any:
        """Return the collected result, with key columns cast to their types in the table."""
        return _cast_fields(self.collect_result(table), [self.frame.schema.field(name) for name in keys])

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> Any:
        """Return the caller's table with the collected new columns appended."""
        return _append_series(self.frame, self.collect_columns(table, new))

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Any:
        """Return the carried columns and the new ones, collected."""
        made = self.collect_columns(table, ["row", *new])
        rows = self.frame.select(list(carried)).take(made["row"].to_arrow())
        return _append_series(rows, made.drop("row")) if carried else _arrow_table(made.drop("row"))

    def give_joined(self, other: FrameKind[Any], table: pl.LazyFrame, on: Sequence[Any], by: Sequence[Any]) -> Any:
        """Return the collected join, with columns cast to their types in the tables."""
        fields = [*self.frame.schema, *(field for field in other.frame.schema if field.name not in on)]
        return _cast_fields(self.collect_result(table), fields)


def _cast_fields(result: pl.DataFrame, fields: Sequence[Any]) -> Any:
    """Return a result as a Table, with these fields cast to their types."""
    table = _arrow_table(result)
    for field in fields:
        place = table.column_names.index(field.name)
        table = table.set_column(place, field, table.column(place).cast(field.type))
    return table


def _arrow_series(name: str, column: Any) -> pl.Series:
    try:
        return pl.Series(name, column)
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"column {shown(name)} is {column.type}, which polars does not have: {first_line(error)}"
        ) from None


def _append_series(table: Any, new: pl.DataFrame) -> Any:
    for column in new:
        table = table.append_column(column.name, _arrow_values(column))
    return table


def _arrow_table(result: pl.DataFrame) -> Any:
    import pyarrow as pa

    return pa.table([_arrow_values(column) for column in result], names=result.columns)


def _arrow_values(column: pl.Series) -> Any:
    """Convert a column to Arrow without its name: polars panics at a name with a NUL."""
    return column.alias("").to_arrow()


@register_kind
class PandasFrame(InMemory["pd.DataFrame"]):
    """A pandas DataFrame. Rows are identified by position; its index is not used."""

    name = "pandas DataFrame"
    joins_rows = True

    @classmethod
    def matches(cls, frame: Any) -> bool:
        """Return whether an object is a pandas DataFrame."""
        # A module that is still being imported has no DataFrame yet.
        return isinstance(frame, getattr(sys.modules.get("pandas"), "DataFrame", ()))

    def __init__(self, frame: pd.DataFrame) -> None:
        if sys.modules.get("pyarrow") is None and find_spec("pyarrow") is None:
            raise ImportError("pandas frames need pyarrow: python -m pip install 'frame-pr[pandas]'")
        super().__init__(frame, list(frame.columns), len(frame))

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """Check that these columns exist and are not in the index."""
        if (levels := self.frame.columns.nlevels) > 1:
            raise ValueError(f"the columns of the frame have {levels} levels: give them plain names before the call")
        for name in items:
            if isinstance(name, tuple) and name in self.columns:
                raise ValueError(f"{argument}: column {shown(name)} is a tuple: rename it before the call")
            if isinstance(name, str) and name not in self.columns and name in self.frame.index.names:
                raise ValueError(
                    f"{argument}: {shown(name)} is in the index of the frame: reset_index() makes a column of it"
                )
        super().refuse_missing(items, argument)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Read only these columns. Their names become text."""
        return from_pandas(self.frame, list(dict.fromkeys(items))).lazy()

    def categories(self, name: str) -> Sequence[Any]:
        """Return the categories of a categorical column, given its name as text."""
        import pandas as pd

        dtypes = [dtype for label, dtype in self.frame.dtypes.items() if str(label) == name]
        return [category for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype) for category in dtype.categories]

    def type_of(self, name: str) -> str:
        """Return the dtype of the column, given its name as text."""
        return next((str(dtype)[:100] for label, dtype in self.frame.dtypes.items() if str(label) == name), "")

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pd.DataFrame:
        """Return the collected result, with key columns cast to their dtypes in the frame."""
        return to_pandas(self.collect_result(table), keys, like=self.frame)

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> pd.DataFrame:
        """Return the caller's frame, with its index, and the new columns appended."""
        import pandas as pd

        columns = to_pandas(self.collect_columns(table, new), [], like=self.frame)
        return pd.concat([self.frame, columns.set_axis(self.frame.index)], axis=1)

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pd.DataFrame:
        """Return the carried columns and the new ones under a new index. Carried columns keep their dtypes."""
        import pandas as pd

        made = self.collect_columns(table, ["row", *new])
        rows = _gather(self.frame, carried, made["row"])
        return pd.concat([rows, to_pandas(made.drop("row"), [], like=self.frame)], axis=1)

    def give_joined(
        self, other: FrameKind[pd.DataFrame], table: pl.LazyFrame, on: Sequence[Any], by: Sequence[Any]
    ) -> pd.DataFrame:
        """Return the join under a new index. A column keeps its dtype if that can hold missing values."""
        import pandas as pd

        rows = self.collect_result(table)
        others = [[name for name in frame.columns if name not in (*on, *by)] for frame in (self, other)]
        unmatched = rows.filter(pl.col("run").is_null())
        keys = [_gather(self.frame, on, rows["run"].drop_nulls()), _gather(other.frame, on, unmatched["judgment"])]
        # An empty frame may have other dtypes, and pandas would warn about them.
        keys = [part for part in keys if len(part)] or keys[:1]
        parts = [pd.concat(keys, ignore_index=True)]
        if by:
            parts.insert(0, _gather(self.frame, by, rows["by"]))
        parts.append(_gather(self.frame, others[0], rows["run"]))
        parts.append(_gather(other.frame, others[1], rows["judgment"]))
        return pd.concat(parts, axis=1)


def _gather(frame: pd.DataFrame, columns: Sequence[Hashable], rows: pl.Series) -> pd.DataFrame:
    """Gather columns by row number under a new index. A null row number gives missing values."""
    # No row has the number -1, so `reindex` fills it with missing values.
    places = rows.cast(pl.Int64).fill_null(-1).to_numpy()
    selected = frame[list(columns)].set_axis(range(len(frame)))
    try:
        return selected.reindex(places).set_axis(range(len(places)))
    except NotImplementedError:
        for name, dtype in selected.dtypes.items():
            try:
                selected[[name]].reindex(places)
            except NotImplementedError as error:
                raise TypeError(
                    f"column {shown(name)} is {dtype}, whose rows pandas cannot select ({first_line(error)}): "
                    "convert or drop the column before the call"
                ) from None
        raise


def from_pandas(frame: pd.DataFrame, columns: Sequence[Hashable]) -> pl.DataFrame:
    """Convert these columns of a pandas frame without the index. Their names become text."""
    labels: dict[str, list[Hashable]] = {}
    for label in frame.columns:
        labels.setdefault(str(label), []).append(label)
    for column in columns:
        if len(same_label := labels[str(column)]) > 1:
            named = " and ".join(dict.fromkeys(map(repr, same_label)))
            raise ValueError(f"the frame has {len(same_label)} columns named {named}: rename them before the call")
    return pl.DataFrame({str(column): _series(frame, column) for column in columns})


def _series(frame: pd.DataFrame, column: Hashable) -> pl.Series:
    values = frame[column]
    if "decimal256" in str(values.dtype):
        # polars would panic, and its PanicException is not an Exception.
        raise TypeError(f"column {shown(column)} is {values.dtype}, which polars does not have: cast it to decimal128")
    try:
        series = _with_extension(values).alias(str(column))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:  # pyarrow raises ValueError
        raise TypeError(_fault(values, error)) from None
    except NotImplementedError as error:
        raise TypeError(f"column {shown(column)} is {values.dtype}, which polars does not have: convert it") from error
    except ImportError as error:
        raise ImportError('pandas frames need pyarrow: pip install "frame-pr[pandas]"') from error
    # polars reads an object column of only None as text.
    return series.cast(pl.Null) if values.dtype == object and series.null_count() == len(series) > 0 else series


def _with_extension(values: pd.Series[Any]) -> pl.Series:
    """Convert a column. Make intervals and periods an extension type, as polars does by itself from 2.0 on."""
    import pandas as pd

    dtype = values.cat.categories.dtype if isinstance(values.dtype, pd.CategoricalDtype) else values.dtype
    if not isinstance(dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        return pl.from_pandas(_aligned(values))
    import pyarrow as pa

    array = pa.array(values.astype(dtype))
    storage, metadata = pl.Series(array.storage), array.type.__arrow_ext_serialize__().decode()
    return storage.ext.to(pl.Extension(array.type.extension_name, storage.dtype, metadata))


def _aligned(values: pd.Series[Any]) -> pd.Series[Any]:
    """Copy numbers whose memory is not aligned, as in parts from other workers of Dask: polars before 1.44 panics."""
    import numpy as np
    import pandas as pd

    if not isinstance(values.dtype, np.dtype) or (array := values.to_numpy()).flags.aligned:
        return values
    return pd.Series(array.copy())


def _fault(values: pd.Series[Any], error: Exception) -> str:
    """Explain why polars cannot read a column, and what to do."""
    name, dtype = f"column {shown(values.name)}", str(values.dtype)
    if dtype.startswith("Sparse"):
        return f"{name} is {dtype}: convert it, .sparse.to_dense()"
    if dtype.startswith("datetime64") and "time zone" in str(error):
        return f"{name} ({dtype}) has a time zone of a fixed offset: .dt.tz_convert('UTC') gives it one that has a name"
    if dtype.endswith("[pyarrow]"):
        return f"{name} is {dtype}, which polars cannot read: cast or drop it before the call ({first_line(error)})"
    kinds = sorted({type(value).__qualname__ for value in values.dropna().head(1000)})
    if isinstance(error, OverflowError) or kinds == ["int"]:
        return f"{name} ({dtype}) holds whole numbers of more than 64 bits: convert it, .astype(float)"
    if set(kinds) <= {"list", "tuple", "set", "ndarray"}:
        return f"{name} ({dtype}) holds lists of items of several types: make all items text, or all numbers"
    if len(kinds) == 1 and dtype == "object":
        return f"{name} ({dtype}) holds values of the type {kinds[0]}: make text of it, .astype(str)"
    return f"{name} ({dtype}) holds values of several types: convert it to one ({first_line(error)})"


def to_pandas(result: pl.DataFrame, keys: Sequence[str], *, like: pd.DataFrame) -> pd.DataFrame:
    """Return a result as a pandas frame, with the caller's names and dtypes for the key columns."""
    import pandas as pd
    import pyarrow as pa

    labels = {str(label): label for label in like.columns if str(label) in keys}
    dtypes = {name: like[label].dtype for name, label in labels.items()}
    columns = {}
    for name in result.columns:
        # Drop the name: polars panics at a name with a NUL.
        column, label, dtype = result[name].alias(""), labels.get(name, name), dtypes.get(name)
        if dtype is None and _lost_in_floats(column):
            dtype = pd.api.types.pandas_dtype(str(column.dtype))  # pandas spells its nullable integers as polars does
        if dtype is None:
            columns[label] = column.to_pandas()
        elif isinstance(dtype, pd.ArrowDtype) and dtype.type is pd.CategoricalDtype.type:
            # pandas cannot cast another type to an ordered dictionary or to one with other codes, so build it.
            columns[label] = pd.Series(_dictionary(column, dtype.pyarrow_dtype), dtype=dtype)
        elif isinstance(dtype, pd.ArrowDtype) and column.dtype.is_nested():
            # pandas would convert integers next to a null to floats, in lists and structs too.
            arrow = pa.chunked_array([column.to_arrow().cast(dtype.pyarrow_dtype)])
            columns[label] = pd.Series(pd.arrays.ArrowExtensionArray(arrow))
        elif column.dtype.is_integer() and (from_arrow := getattr(dtype, "__from_arrow__", None)):
            # numpy has no integer null, so pandas would convert the integers to floats.
            columns[label] = pd.Series(from_arrow(column.to_arrow()))
        else:
            columns[label] = column.to_pandas(date_as_object=True).astype(dtype)
            if isinstance(dtype, pd.CategoricalDtype):
                # pandas treats a dtype with the same categories in another order as equal, so set the order.
                columns[label] = columns[label].cat.set_categories(dtype.categories)
    frame = pd.DataFrame(columns, copy=False)
    # pandas sorts a categorical by the order of its categories, not by text.
    categories = {name: dtype.categories for name, dtype in dtypes.items() if isinstance(dtype, pd.CategoricalDtype)}
    if not all(categorical.is_monotonic_increasing for categorical in categories.values()):
        codes = [pl.Series(name, columns[labels[name]].cat.codes.to_numpy()) for name in categories]
        places = result.select(map(by_name, keys)).with_columns(codes)
        places = places.select(pl.arg_sort_by(list(map(by_name, keys)), maintain_order=True))
        frame = frame.take(places.to_series().to_numpy()).reset_index(drop=True)
    return frame


def _lost_in_floats(column: pl.Series) -> bool:
    """Return whether numpy's conversion of integers with nulls to floats would change a value."""
    if column.dtype not in (pl.Int64, pl.UInt64) or not column.null_count():
        return False
    back = column.cast(pl.Float64).cast(column.dtype, strict=False)
    return not back.eq_missing(column).all()


def _dictionary(column: pl.Series, dtype: Any) -> Any:
    import pyarrow as pa

    encoded = pa.array(column.to_list(), dtype.value_type).dictionary_encode()
    indices = encoded.indices.cast(dtype.index_type)
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=dtype.ordered)


# streams --------------------------------------------------------------------------------------------------------------


class StreamAccess(NamedTuple):
    """How to read some columns of the objects of a library that have a stream of Arrow."""

    columns: Callable[[Any], Sequence[str]]
    project: Callable[[Any, Sequence[str]], Any]
    empty: Callable[[Any], Any]
    """The same columns without rows."""
    batches: Callable[[Any], Any]
    """Batches of rows, one after the other."""


def _project_relation(relation: Any, names: Sequence[str]) -> Any:
    # Quoted here: DuckDB's own ColumnExpression reads a name with a dot as a table and its column.
    return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))


def _project_batches(reader: Any, names: Sequence[str]) -> Any:
    schema = reader.schema.empty_table().select(names).schema
    return type(reader).from_batches(schema, (batch.select(names) for batch in reader))


def _batches(stream: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(stream)


_STREAMS: Mapping[str, StreamAccess] = {
    "DuckDBPyRelation": StreamAccess(
        lambda relation: relation.columns, _project_relation, lambda relation: relation.limit(0), _batches
    ),
    "RecordBatchReader": StreamAccess(
        lambda reader: reader.schema.names, _project_batches, lambda reader: reader.schema.empty_table(), iter
    ),
}
"""The streams by the name of their class."""


def stream_of(frame: Any) -> StreamAccess | None:
    """Return how to read some columns of a stream; None if it has to be read whole, and for all other objects."""
    return _STREAMS.get(type(frame).__name__) if is_stream(frame) else None
