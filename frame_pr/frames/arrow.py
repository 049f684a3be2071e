"""Kinds of frames that are read and built through Arrow: pandas DataFrames and pyarrow Tables; streams of Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import FrameKind, InMemory, is_stream, register_kind
from frame_pr.frames.messages import examples, first_line, shown

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
        return pl.DataFrame({name: self.column(name) for name in dict.fromkeys(items)}).lazy()

    def column(self, name: Any) -> pl.Series:
        """Read one column."""
        if name not in self.as_read:
            self.as_read[name] = _arrow_series(name, self.frame.column(name))
        return self.as_read[name]

    def type_of(self, name: str) -> str:
        """Return the Arrow type of the column."""
        return str(self.frame.schema.field(name).type)[:100] if name in self.columns else ""

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Any:
        """Return the collected result. Its keys are those of the first rows that have them."""
        result = self.collect_result(table)
        restored = _arrow_table(result)
        for name in keys:
            own, place = self.frame.column(name), result.columns.index(name)
            rows = _first_rows(self.as_read[name], result[name])
            column = restored.column(place).cast(own.type) if rows is None else own.take(rows.to_arrow())
            restored = restored.set_column(place, self.frame.schema.field(name), column)
        return restored

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
        if "dictionary" in str(column.type):
            column = column.cast(column.type.value_type)
        if "decimal256" in str(column.type):  # polars would panic, and its PanicException is not an Exception.
            return pl.Series(name, column.cast("float64"))
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
            raise ImportError("pandas frames need pyarrow: python -m pip install 'frame_pr[pandas]'")
        super().__init__(frame, list(frame.columns), len(frame))
        self.coded: dict[str, _Coded] = {}
        """The columns whose values polars would change, together with those of other frames."""

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
        return pl.DataFrame({str(column): self.column(column) for column in dict.fromkeys(items)}).lazy()

    def column(self, name: Any) -> pl.Series:
        """Read one column."""
        labels = [label for label in self.columns if str(label) == str(name)]
        if len(labels) > 1:
            named = " and ".join(dict.fromkeys(map(repr, labels)))
            raise ValueError(f"the frame has {len(labels)} columns named {named}: rename them before the call")
        if str(name) not in self.as_read:
            self.as_read[str(name)] = _series(self.frame, name)
        return self.as_read[str(name)]

    def code_keys(self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()) -> None:
        """Read columns as an Enum whose values polars would change; see `FrameKind`."""
        for name in names:
            if self.columns.count(name) != 1 or not _is_changed(self.frame[name]):
                continue
            frames = [self, *(other for other in others if name in other.columns)]
            columns = [
                frame.frame[name] if isinstance(frame, PandasFrame) else _objects(frame, name) for frame in frames
            ]
            try:
                coded = _Coded.of(columns)
            except (TypeError, NotImplementedError):  # Lists, which polars may have.
                continue
            start = 0
            for frame, column in zip(frames, columns, strict=True):
                of_frame = coded.codes.slice(start, len(column)).alias(str(name))
                start += len(column)
                if isinstance(frame, (PandasFrame, ArrowFrame)):
                    frame.as_read[str(name)] = of_frame
                if isinstance(frame, PandasFrame):
                    frame.coded[str(name)] = coded

    def recode(self, names: Sequence[Any], other: FrameKind[Any]) -> None:
        """Read columns of another frame by the values of this one."""
        import pandas as pd

        for name in names:
            if name in self.coded and isinstance(other, PandasFrame):
                coded = self.coded[name]
                places = pl.Series(pd.Index(coded.distinct).get_indexer(other.frame[name]), dtype=pl.Int64)
                other.as_read[name] = coded.labels.gather(places.set(places < 0, None)).alias(name)

    def label(self, name: str, value: Any) -> Any:
        """Return a label as `read` has it."""
        import pandas as pd

        if not len(self.frame) and self.type_of(name) == "object":
            return None  # There is no label to compare it with.
        if isinstance(value, (pd.Timestamp, pd.Timedelta)) and getattr(value, "tz", None) is None:
            value = value.to_numpy()  # polars reads no nanoseconds of Python objects.
        if name not in self.coded or value is None:
            return value
        texts, distinct = self.coded[name].labels.to_list(), list(self.coded[name].distinct)
        equal = [i for i, label in enumerate(distinct) if label == value]
        if not equal:
            raise ValueError(
                f"truth column {shown(name)} has no {shown(value)}, it holds {examples(distinct)}: positive= names one "
                "of them"
            )
        return texts[next((i for i in equal if type(distinct[i]) is type(value)), equal[0])]

    def categories(self, name: str) -> Sequence[Any]:
        """Return the categories of a categorical column, given its name as text."""
        import pandas as pd

        dtypes = [dtype for label, dtype in self.frame.dtypes.items() if str(label) == name]
        return [category for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype) for category in dtype.categories]

    def type_of(self, name: str) -> str:
        """Return the dtype of the column, given its name as text."""
        return next((str(dtype)[:100] for label, dtype in self.frame.dtypes.items() if str(label) == name), "")

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pd.DataFrame:
        """Return the collected result. Its keys are those of the first rows that have them."""
        import pandas as pd

        result = self.collect_result(table)
        labels = {str(label): label for label in self.columns if str(label) in keys}
        columns = {
            labels.get(name, name): self._own(result[name]) if name in labels else _pandas(result[name])
            for name in result.columns
        }
        return pd.DataFrame(columns, copy=False)

    def _own(self, column: pl.Series) -> pd.Series[Any]:
        """Return the caller's values of a column of keys."""
        import numpy as np

        name = column.name
        own = self.frame[next(label for label in self.columns if str(label) == name)]
        if column.dtype.is_numeric() and isinstance(own.dtype, np.dtype) and own.dtype.kind in "iuf":
            return _typed(column, own.dtype)
        values, rows = own, _first_rows(self.as_read[name], column)
        if rows is None and name in self.coded:
            values = self.coded[name].values
            rows = _first_rows(self.coded[name].codes, column)
        if rows is None:  # A group of a frame of totals, or an edge of bins.
            return _typed(column, own.dtype)
        gathered: pd.Series[Any] = values.iloc[rows.to_numpy()].reset_index(drop=True)
        return gathered

    def append_columns(self, table: pl.LazyFrame, new: list[str]) -> pd.DataFrame:
        """Return the caller's frame, with its index, and the new columns appended."""
        import pandas as pd

        columns = _pandas_frame(self.collect_columns(table, new))
        return pd.concat([self.frame, columns.set_axis(self.frame.index)], axis=1)

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pd.DataFrame:
        """Return the carried columns and the new ones under a new index. Carried columns keep their dtypes."""
        import pandas as pd

        made = self.collect_columns(table, ["row", *new])
        rows = _gather(self.frame, carried, made["row"])
        return pd.concat([rows, _pandas_frame(made.drop("row"))], axis=1)

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
    return frame[list(columns)].set_axis(range(len(frame))).reindex(places).set_axis(range(len(places)))


def _first_rows(values: pl.Series, keys: pl.Series) -> pl.Series | None:
    """Return the first row that has each of these keys; None if some key has no row."""
    first = values.arg_unique()
    rows = pl.DataFrame({"key": values.gather(first), "row": first})
    matched = keys.alias("key").to_frame().join(rows, on="key", how="left", nulls_equal=True, maintain_order="left")
    return None if matched["row"].null_count() else matched["row"]


def _is_changed(values: pd.Series[Any]) -> bool:
    """Return whether polars would change the values of a column, or does not have their type."""
    import numpy as np
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, (pd.CategoricalDtype, pd.PeriodDtype, pd.IntervalDtype)) or "decimal" in str(dtype):
        return True
    if dtype == np.dtype(object):
        kind, present = pd.api.types.infer_dtype(values, skipna=True), values.dropna()
        if kind == "integer":
            return not (present.min() >= -(2**63) and present.max() < 2**63)
        if kind == "date":
            return {*map(type, present)} != {date}
        if kind != "string":
            return kind not in ("empty", "boolean", "floating")
    try:
        pl.from_pandas(values if dtype == np.dtype(object) else values.head(0))  # A surrogate is no text of polars.
    except Exception:
        return True
    return False


def _objects(frame: FrameKind[Any], name: Any) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(frame.read([name]).select(by_name(name)).collect().to_series().to_list(), dtype=object)


class _Coded(NamedTuple):
    """Values that polars does not have, as an Enum whose categories are their texts in the order of the values."""

    values: pd.Series[Any]
    codes: pl.Series
    distinct: Sequence[Any]
    labels: pl.Series
    """The texts of the distinct values."""

    @classmethod
    def of(cls, columns: Sequence[pd.Series[Any]]) -> _Coded:
        """Number all values of these columns."""
        import pandas as pd

        values = columns[0] if len(columns) == 1 else pd.concat(columns, ignore_index=True)
        distinct: Any
        if isinstance(values.dtype, pd.CategoricalDtype):
            codes, distinct = values.cat.codes.to_numpy(), values.cat.categories
        else:
            objects: Any = values.to_numpy() if values.dtype == object else values
            try:
                codes, distinct = pd.factorize(objects, sort=True)
            except (TypeError, NotImplementedError):  # Values that have no order.
                codes, distinct = pd.factorize(objects)
        texts: dict[str, None] = {}
        for value in distinct:
            text = str(value).encode(errors="backslashreplace").decode()
            while text in texts:  # 1 and "1" have one text.
                text += f" ({type(value).__name__})"
            texts[text] = None
        labels = pl.Series(list(texts), dtype=pl.Enum(list(texts)))
        places = pl.Series(codes, dtype=pl.Int64)
        return cls(values, labels.gather(places.set(places < 0, None)), distinct, labels)


def _series(frame: pd.DataFrame, column: Hashable) -> pl.Series:
    values = frame[column]
    try:
        series = pl.from_pandas(_aligned(_with_short_decimals(values))).alias(str(column))
    except (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError) as error:
        raise TypeError(
            f"column {shown(column)} is {str(values.dtype)[:100]} and has values that polars cannot read "
            f"({first_line(error)}): convert it to numbers or text, or drop it, before the call"
        ) from None
    if values.dtype != object or series.null_count() < len(series):
        return series
    # polars reads an object column without values as text. Without rows, a number serves in all roles.
    return series.cast(pl.Null) if len(series) else pl.Series(str(column), dtype=pl.Int64)


def _with_short_decimals(values: pd.Series[Any]) -> pd.Series[Any]:
    """Cast decimals of more than 38 digits to floats: polars panics at them, and its PanicException is no Exception."""
    import pandas as pd
    import pyarrow as pa

    if values.dtype != object or pd.api.types.infer_dtype(values, skipna=True) != "decimal":
        return values.astype("float64[pyarrow]") if "decimal256" in str(values.dtype) else values
    try:
        is_long = "decimal256" in str(pa.array(values, from_pandas=True).type)
    except pa.ArrowInvalid:  # More than 76 digits.
        is_long = True
    return values.astype("float64") if is_long else values


def _aligned(values: pd.Series[Any]) -> pd.Series[Any]:
    """Copy numbers whose memory is not aligned, as in parts from other workers of Dask: polars before 1.44 panics."""
    import numpy as np
    import pandas as pd

    if not isinstance(values.dtype, np.dtype) or (array := values.to_numpy()).flags.aligned:
        return values
    return pd.Series(array.copy())


def from_pandas(frame: pd.DataFrame, columns: Sequence[Hashable]) -> pl.DataFrame:
    """Convert these columns of a pandas frame without the index. Their names become text."""
    return PandasFrame(frame).read(columns).collect()


def _typed(column: pl.Series, dtype: Any) -> pd.Series[Any]:
    """Return a column with this dtype of pandas."""
    import pandas as pd

    column = column.alias("")
    if column.dtype.is_integer() and (from_arrow := getattr(dtype, "__from_arrow__", None)):
        # numpy has no integer null, so pandas would convert the integers to floats.
        return pd.Series(from_arrow(column.to_arrow()))
    column = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    return column.to_pandas(date_as_object=True).astype(dtype)


def _pandas_frame(table: pl.DataFrame) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({column.name: _pandas(column) for column in table}, copy=False)


def _pandas(column: pl.Series) -> pd.Series[Any]:
    """Return a column as pandas has it: integers with a null are nullable integers, as numpy has no integer null."""
    import pandas as pd

    column = column.alias("")  # polars panics at a name with a NUL.
    if column.dtype.is_integer() and column.dtype not in (pl.Int128, pl.UInt128) and column.null_count():
        dtype: Any = pd.api.types.pandas_dtype(str(column.dtype))  # pandas spells them as polars does.
        return pd.Series(dtype.__from_arrow__(column.to_arrow()))
    return column.to_pandas(date_as_object=True)


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
