"""pyarrow Tables, and how polars reads columns of Arrow and pandas."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, Self

import polars as pl

from frame_pr.frames.kinds import Frame, FrameKind
from frame_pr.frames.messages import first_line, shown


class ArrowRead(FrameKind[Frame]):
    """A frame whose columns polars reads through Arrow, each of them once."""

    takes_expressions = False

    def __init__(
        self,
        frame: Any,
        columns: list[Any],
        height: int,
    ) -> None:
        super().__init__(frame, columns, height)
        self._columns_read: dict[str, pl.Series] = {}
        self._codes: dict[str, Any] = {}
        """The values of columns that are read as texts."""

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
        if str(name) not in self._columns_read:
            self._columns_read[str(name)] = self.read_column(name)
        return self._columns_read[str(name)]

    def read_column(self, name: Any) -> pl.Series:
        """Read one column."""
        return series_of(str(name), self.frame[name], self.type_of(str(name)))

    def with_column(self, column: pl.Series, codes: Any = None) -> Self:
        """Return this frame with a column that `read` gives in place of its own."""
        kind = copy(self)
        kind._columns_read = self._columns_read | {column.name: column}
        kind._codes = self._codes | {column.name: codes}
        return kind


def series_of(
    name: str,
    values: Any,
    dtype: str,
) -> pl.Series:
    """Read a column of Arrow, pandas or numpy as polars has it. `dtype`: its name in the error."""
    import pyarrow as pa

    errors = (TypeError, ValueError, OverflowError, NotImplementedError)
    try:
        column = values
        if not isinstance(values, pa.ChunkedArray):
            column = pa.array(values, from_pandas=True)
        kind = column.type
        if pa.types.is_dictionary(kind) and "string" not in str(kind.value_type):
            column = column.cast(kind.value_type)
        # polars would panic, and its PanicException is not an Exception.
        if pa.types.is_decimal256(column.type):
            column = column.cast("float64")
        series = pl.Series(name, column)
    except (pl.exceptions.PolarsError, *errors) as error:
        raise TypeError(
            f"column {shown(name)} is {dtype} and has values that polars cannot read "
            f"({first_line(error)}): convert it to numbers or text, or drop it, before the call"
        ) from None
    # Without rows, a number serves in all roles.
    if series.dtype == pl.Null and not len(series):
        return series.cast(pl.Int64)
    return series


def sources_of(keys: Collection[Any]) -> Mapping[str, str]:
    """Return the columns of the caller by the columns of a result that get their dtypes."""
    return keys if isinstance(keys, Mapping) else {str(key): str(key) for key in keys}


class ArrowFrame(ArrowRead[Any]):
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
            if source in self.columns:
                arrays[name] = _cast(arrays[name], self.frame.schema.field(source).type)
        return pa.table(arrays)

    def concat_columns(self, *frames: Any) -> Any:
        """Concatenate the columns of frames."""
        import pyarrow as pa

        names = [name for frame in frames for name in frame.column_names]
        columns = [column for frame in frames for column in frame.columns]
        return pa.Table.from_arrays(columns, names=names)


def _cast(array: Any, dtype: Any) -> Any:
    """Cast an array of Arrow, also to the dictionary of a given type."""
    import pyarrow as pa

    if not pa.types.is_dictionary(dtype):
        return array.cast(dtype)
    encoded = array.cast(dtype.value_type).dictionary_encode()
    codes = encoded.indices.cast(dtype.index_type)
    return pa.DictionaryArray.from_arrays(codes, encoded.dictionary, ordered=dtype.ordered)
