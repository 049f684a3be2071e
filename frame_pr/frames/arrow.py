"""Kinds of frames that polars reads through Arrow: pandas DataFrames and pyarrow Tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import Frame, FrameKind
from frame_pr.frames.messages import examples, first_line, shown

if TYPE_CHECKING:
    import pandas as pd


_PLAIN = (
    cs.numeric() | cs.boolean() | cs.temporal() | cs.string() | cs.binary() | cs.by_dtype(pl.Null)
)
"""The columns that polars may have read with equal values."""
_PLAIN_OBJECTS = ("boolean", "date", "empty", "floating", "integer", "string")
"""The Python objects that may become such columns, in the words of pandas."""


class _ArrowRead(FrameKind[Frame]):
    """A frame whose columns polars reads through Arrow, each of them once."""

    takes_expressions = False

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """Return a LazyFrame with these columns. Their names become text."""
        return pl.DataFrame({str(item): self.column(item) for item in dict.fromkeys(items)}).lazy()

    def column(self, name: Any) -> pl.Series:
        """Return one column."""
        labels = [label for label in self.columns if str(label) == str(name)]
        if len(labels) > 1:
            named = " and ".join(dict.fromkeys(map(repr, labels)))
            raise ValueError(
                f"the frame has {len(labels)} columns named {named}: rename them before the call"
            )
        if str(name) not in self.as_read:
            self.as_read[str(name)] = self.read_column(name)
        return self.as_read[str(name)]

    def read_column(self, name: Any) -> pl.Series:
        """Read one column."""
        return _series(name, self.frame[name])


def sources_of(keys: Collection[Any]) -> Mapping[str, str]:
    """Return the columns of the caller by the columns of a result that get their dtypes."""
    return keys if isinstance(keys, Mapping) else {str(key): str(key) for key in keys}


class ArrowFrame(_ArrowRead[Any]):
    """A pyarrow Table."""

    name = "pyarrow Table"

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        super().__init__(table, table.column_names, table.num_rows)

    def type_of(self, name: str) -> str:
        """Return the Arrow type of the column."""
        return str(self.frame.schema.field(name).type)[:100] if name in self.columns else ""

    def gather(self, columns: Sequence[Any], rows: pl.Series) -> Any:
        """Return columns of the caller at these row numbers."""
        return self.frame.select(list(columns)).take(rows.to_arrow())

    def convert(self, table: pl.DataFrame, keys: Collection[Any] = ()) -> Any:
        """Convert a result. `keys` get the types that they have in the caller's table."""
        import pyarrow as pa

        # polars panics at a name with a NUL, so it converts columns without their names.
        arrays = {column.name: column.alias("").to_arrow() for column in table}
        for name, source in sources_of(keys).items():
            dtype = self.frame.schema.field(source).type
            if pa.types.is_dictionary(dtype):
                encoded = arrays[name].cast(dtype.value_type).dictionary_encode()
                parts = encoded.indices.cast(dtype.index_type), encoded.dictionary
                arrays[name] = pa.DictionaryArray.from_arrays(*parts, ordered=dtype.ordered)
            else:
                arrays[name] = arrays[name].cast(dtype)
        return pa.table(arrays)

    def concat_columns(self, *frames: Any) -> Any:
        """Concatenate the columns of frames."""
        import pyarrow as pa

        names = [name for frame in frames for name in frame.column_names]
        return pa.Table.from_arrays(
            [column for frame in frames for column in frame.columns], names=names
        )


class PandasFrame(_ArrowRead["pd.DataFrame"]):
    """A pandas DataFrame. Rows are identified by position; its index is not used."""

    name = "pandas DataFrame"

    def __init__(self, frame: pd.DataFrame) -> None:
        if find_spec("pyarrow") is None:
            raise ImportError('pandas frames need pyarrow: pip install "frame_pr[pandas]"')
        super().__init__(frame, list(frame.columns), len(frame))
        self.labels: dict[str, Any] = {str(label): label for label in frame.columns}
        self.coded: dict[str, pd.Series[Any]] = {}
        """The distinct values of the columns that `code_keys` numbered, in the order of their numbers."""

    def refuse_missing(self, items: Sequence[Any], argument: str, frame: str = "frame") -> None:
        """Check that these columns exist and are not in the index."""
        if (levels := self.frame.columns.nlevels) > 1:
            raise ValueError(
                f"the columns of the {frame} have {levels} levels: give them plain names before the call"
            )
        for name in items:
            if (
                isinstance(name, str)
                and name not in self.columns
                and name in self.frame.index.names
            ):
                raise ValueError(
                    f"{argument}: {shown(name)} is in the index of the {frame}: reset_index() makes a column of it"
                )
        super().refuse_missing(items, argument, frame)

    def read_column(self, name: Any) -> pl.Series:
        """Read one column: its values if polars has them, else an Enum of their texts."""
        values = self.frame[name]
        try:
            series = super().read_column(name)
        except TypeError:
            self._code(name, [self])
            if str(name) not in self.coded:
                raise
            return self.as_read[str(name)]
        categories = getattr(values.dtype, "categories", None)
        return (
            series
            if series.dtype != pl.Categorical or categories is None
            else series.cast(pl.Enum([*categories]))
        )

    def code_keys(self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()) -> None:
        """Read columns as an Enum whose values polars would change; see `FrameKind`."""
        for name in names:
            if self.columns.count(name) == 1 and not self._has_plain_values(name):
                self._code(name, [self, *(other for other in others if name in other.columns)])

    def _has_plain_values(self, name: Any) -> bool:
        """Return whether polars reads a column with equal values: numbers, Booleans, times and texts."""
        import pandas as pd

        values = self.frame[name]
        if values.dtype == object:
            kind = pd.api.types.infer_dtype(values, skipna=True)
            # Arrow would drop the times of datetimes among dates.
            if kind not in _PLAIN_OBJECTS or (
                kind == "date" and {*map(type, values.dropna())} != {date}
            ):
                return False
        elif str(values.dtype).startswith(
            ("category", "decimal", "dictionary", "interval", "period")
        ):
            return False
        return self.column(name).to_frame().select(_PLAIN).width == 1

    def _code(self, name: Any, frames: Sequence[FrameKind[Any]]) -> None:
        """Number the values of a column of several frames, unless they cannot be hashed, as lists."""
        import pandas as pd

        columns = [_values(frame, name) for frame in frames]
        try:
            codes, distinct = _factorized(
                pd.concat(columns, ignore_index=True) if len(columns) > 1 else columns[0]
            )
        except (TypeError, NotImplementedError):
            return
        self.coded[str(name)] = pd.Series(distinct, dtype=distinct.dtype)
        texts: dict[str, None] = {}
        for value in distinct:
            text = str(value).encode(errors="backslashreplace").decode()
            while text in texts:  # 1 and "1" have one text.
                text += f" ({type(value).__name__})"
            texts[text] = None
        labels, places = (
            pl.Series(str(name), [*texts], dtype=pl.Enum([*texts])),
            pl.Series(codes, dtype=pl.Int64),
        )
        as_read, start = labels.gather(places.set(places < 0, None)), 0
        for frame, column in zip(frames, columns, strict=True):
            frame.as_read[str(name)] = as_read.slice(start, len(column))
            start += len(column)

    def label(self, name: str, value: Any) -> Any:
        """Return a label as `read` has it."""
        import pandas as pd

        if not len(self.frame) and self.type_of(name) == "object":
            return None  # There is no label to compare it with.
        if name in self.coded and value is not None:
            distinct = self.coded[name].to_list()
            texts: Any = self.as_read[name].dtype
            if not distinct:
                return str(value)
            if value not in distinct:
                raise ValueError(
                    f"truth column {shown(name)} has no {shown(value)}, it holds {examples(distinct)}: positive= names "
                    "one of them"
                )
            return texts.categories[distinct.index(value)]
        # polars reads no nanoseconds of Python objects.
        is_naive = (
            isinstance(value, (pd.Timestamp, pd.Timedelta)) and getattr(value, "tz", None) is None
        )
        return value.to_numpy() if is_naive else value

    def type_of(self, name: str) -> str:
        """Return the dtype of the column, given its name as text."""
        return str(self.frame.dtypes[self.labels[name]])[:100] if name in self.labels else ""

    def gather(self, columns: Sequence[Any], rows: pl.Series) -> Any:
        """Return columns of the caller at these row numbers, under a new index."""
        return _at(self.frame[list(columns)].set_axis(range(self.height)), rows)

    def convert(self, table: pl.DataFrame, keys: Collection[Any] = ()) -> pd.DataFrame:
        """Convert a result. `keys` get the values and dtypes that they have in the caller's frame."""
        import pandas as pd

        sources = sources_of(keys)
        columns = {
            name: self._key(table[name].alias(sources[name]))
            if name in sources
            else _pandas(table[name])
            for name in table.columns
        }
        labels = [self.labels[name] if sources.get(name) == name else name for name in columns]
        return pd.DataFrame(columns, copy=False).set_axis(labels, axis=1)

    def _key(self, column: pl.Series) -> Any:
        """Return a key of a result as the caller's column has it."""
        import pandas as pd

        dtype: Any = self.frame.dtypes[self.labels[column.name]]
        if column.name not in self.coded:
            return _pandas(column, dtype)
        distinct = self.coded[column.name]
        try:
            values = (
                distinct if distinct.dtype == dtype else pd.Series(distinct.to_list(), dtype=dtype)
            )
        except (
            TypeError,
            ValueError,
            NotImplementedError,
        ):  # The dtype does not hold a value of another frame.
            values = distinct
        codes = column.cast(self.as_read[column.name].dtype).to_physical()
        return _at(values if values.notna().all() else distinct, codes)

    def concat_columns(self, *frames: pd.DataFrame) -> pd.DataFrame:
        """Concatenate the columns of frames under the index of the first one."""
        import pandas as pd

        return pd.concat([frame.set_axis(frames[0].index) for frame in frames], axis=1)


def _series(name: Any, values: Any) -> pl.Series:
    """Read a column of pandas or Arrow as polars has it."""
    import numpy as np
    import pyarrow as pa

    is_arrow, dtype = isinstance(values, pa.ChunkedArray), getattr(values, "dtype", None)
    try:
        if dtype == "object":
            from pandas.api.types import infer_dtype

            if infer_dtype(values, skipna=False) == "string":
                # Through Arrow, the peak of memory is 40 bytes a row higher.
                return pl.Series(str(name), values.to_list(), dtype=pl.String)
        if isinstance(dtype, np.dtype):
            # Parts from other workers of Dask are not aligned, at which polars before 1.44 panics.
            values = np.require(values, requirements="A")
        column = values if is_arrow else pa.array(values, from_pandas=True)
        if pa.types.is_dictionary(column.type) and "string" not in str(column.type.value_type):
            column = column.cast(column.type.value_type)
        if pa.types.is_decimal256(
            column.type
        ):  # polars would panic, and its PanicException is not an Exception.
            column = column.cast("float64")
        series = pl.Series(str(name), column)
    except (
        TypeError,
        ValueError,
        OverflowError,
        NotImplementedError,
        pl.exceptions.PolarsError,
    ) as error:
        raise TypeError(
            f"column {shown(name)} is {str(column.type if is_arrow else dtype)[:100]} and has values that polars "
            f"cannot read ({first_line(error)}): convert it to numbers or text, or drop it, before the call"
        ) from None
    # Without rows, a number serves in all roles.
    return series.cast(pl.Int64) if series.dtype == pl.Null and not len(series) else series


def _factorized(values: pd.Series[Any]) -> tuple[Any, Any]:
    """Return the number of each value, and the distinct values; sorted, if they have an order."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy(), values.cat.categories
    objects: Any = values.to_numpy() if values.dtype == object else values
    try:
        return pd.factorize(objects, sort=True)
    except TypeError:
        return pd.factorize(objects)


def _values(frame: FrameKind[Any], name: Any) -> Any:
    """Return the values of a column of any kind of frame."""
    import pandas as pd

    if isinstance(frame, PandasFrame):
        return frame.frame[name]
    return pd.Series(
        frame.read([name]).select(by_name(name)).collect().to_series().to_list(), dtype=object
    )


def _at(frame: Any, rows: pl.Series) -> Any:
    """Return the rows of these numbers under a new index. A null gives missing values."""
    # No row has the number -1, so `reindex` fills it with missing values.
    places = rows.cast(pl.Int64).fill_null(-1).to_numpy()
    return frame.reindex(places).set_axis(range(len(places)))


def _pandas(column: pl.Series, dtype: Any = None) -> pd.Series[Any]:
    """Return a column of a result, with this dtype or with that of pandas; integers with a null are nullable."""
    import pandas as pd

    column = column.alias("")  # polars panics at a name with a NUL.
    if dtype == "object":
        return pd.Series(column.to_list(), dtype="object")
    from_arrow = getattr(dtype, "__from_arrow__", None)
    if from_arrow is None and column.dtype.is_integer() and column.null_count():
        from_arrow = getattr(
            pd, f"{column.dtype}Dtype"
        )().__from_arrow__  # pandas spells them as polars does.
    if from_arrow is not None:
        return pd.Series(from_arrow(column.to_arrow()))
    values = column.to_pandas(date_as_object=True)
    return values if dtype is None else values.astype(dtype)
