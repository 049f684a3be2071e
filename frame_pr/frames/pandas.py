"""pandas DataFrames. Values that polars would change or lacks are numbered and given back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import date
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs

from frame_pr.frames.arrow import ArrowRead, series_of, sources_of
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import FrameKind
from frame_pr.frames.messages import examples, shown

_EXACT = (
    cs.numeric() | cs.boolean() | cs.temporal() | cs.string() | cs.binary() | cs.by_dtype(pl.Null)
)
"""The columns that polars may have read with equal values."""
_EXACT_OBJECTS = ("boolean", "date", "empty", "floating", "integer", "string")
"""The Python objects that may become such columns, in the words of pandas."""
_OTHER_DTYPES = ("category", "decimal", "dictionary", "interval", "period")
"""The beginnings of the names of dtypes whose values polars would change."""


class ValueCodes(NamedTuple):
    """Numbers for the values of columns, which polars reads as an Enum of their texts."""

    values: pd.Series[Any]
    """The distinct values, in the order of their numbers: sorted, if they have an order."""
    texts: pl.Series

    def label(self, name: str, value: Any) -> str:
        """Return the text of a value; raise if no row has it."""
        distinct = self.values.to_list()
        if not distinct:
            return str(value)
        if value not in distinct:
            raise ValueError(
                f"truth column {shown(name)} has no {shown(value)}, it holds {examples(distinct)}: "
                "positive= names one of them"
            )
        return str(self.texts[distinct.index(value)])

    def restore(self, column: pl.Series, dtype: Any) -> pd.Series[Any]:
        """Return the values of a column of texts, in the caller's dtype where this holds them."""
        values = self.values
        if dtype is not None and values.dtype != dtype:
            with suppress(TypeError, ValueError, NotImplementedError):
                values = pd.Series(values.to_list(), dtype=dtype)
        # A category that another frame declares is missing in this one.
        if not values.notna().all():
            values = self.values
        restored: pd.Series[Any] = _at(values, column.cast(self.texts.dtype).to_physical())
        return restored


def number_values(
    columns: Sequence[pd.Series[Any]],
) -> tuple[ValueCodes, list[pl.Series]] | None:
    """Number the values of columns together; None if pandas cannot, as for lists."""
    try:
        values = columns[0] if len(columns) == 1 else pd.concat(columns, ignore_index=True)
        numbers, distinct = _factorized(values)
    except (TypeError, ValueError, NotImplementedError):
        return None
    texts: dict[str, None] = {}
    for value in distinct:
        text = str(value).encode(errors="backslashreplace").decode()
        while text in texts:  # 1 and "1" have one text.
            text += f" ({type(value).__name__})"
        texts[text] = None

    labels = pl.Series([*texts], dtype=pl.Enum([*texts]))
    places = pl.Series(numbers, dtype=pl.Int64)
    column = labels.gather(places.set(places < 0, None))
    parts = []
    for part in columns:
        parts.append(column.head(len(part)))
        column = column.slice(len(part))
    return ValueCodes(pd.Series(distinct, dtype=distinct.dtype), labels), parts


def _factorized(values: pd.Series[Any]) -> tuple[Any, Any]:
    """Return the number of each value, and the distinct values; sorted, if they have an order."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy(), values.cat.categories
    objects: Any = values.to_numpy() if values.dtype == object else values
    try:
        return pd.factorize(objects, sort=True)
    except TypeError:
        return pd.factorize(objects)


class PandasFrame(ArrowRead[pd.DataFrame]):
    """A pandas DataFrame. Rows are identified by position; its index is not used."""

    name = "pandas DataFrame"

    def __init__(self, frame: pd.DataFrame) -> None:
        if find_spec("pyarrow") is None:
            raise ImportError('pandas frames need pyarrow: pip install "frame_pr[pandas]"')
        super().__init__(frame, list(frame.columns), len(frame))
        self.labels: dict[str, Any] = {str(label): label for label in frame.columns}

    def refuse_missing(
        self,
        items: Sequence[Any],
        argument: str,
        frame: str = "frame",
    ) -> None:
        """Check that these columns exist and are not in the index."""
        levels = self.frame.columns.nlevels
        if levels > 1:
            raise ValueError(
                f"the columns of the {frame} have {levels} levels: give them plain names before "
                "the call"
            )
        for name in items:
            is_missing = isinstance(name, str) and name not in self.columns
            if is_missing and name in self.frame.index.names:
                raise ValueError(
                    f"{argument}: {shown(name)} is in the index of the {frame}: reset_index() "
                    "makes a column of it"
                )
        super().refuse_missing(items, argument, frame)

    def type_of(self, name: str) -> str:
        """Return the dtype of the column, given its name as text."""
        return str(self.frame.dtypes[self.labels[name]])[:100] if name in self.labels else ""

    def read_column(self, name: Any) -> pl.Series:
        """Read one column: its values if polars has them, else an Enum of their texts."""
        try:
            return _series(str(name), self.frame[name])
        except TypeError:
            numbered = number_values([self.frame[name]])
            if numbered is None:
                raise
            return numbered[1][0]

    # Values that polars does not have

    def with_keys(
        self, names: Sequence[Any], others: Sequence[FrameKind[Any]] = ()
    ) -> tuple[PandasFrame, list[FrameKind[Any]]]:
        """Return this frame and the others with an Enum for values that polars would change."""
        kinds: list[FrameKind[Any]] = [self, *others]
        for name in names:
            if self.columns.count(name) != 1 or self._is_exact(name):
                continue
            holders = [i for i, kind in enumerate(kinds) if name in kind.columns]
            numbered = number_values([_values(kinds[i], name) for i in holders])
            if numbered is not None:
                codes, columns = numbered
                for i, column in zip(holders, columns, strict=True):
                    kinds[i] = kinds[i].with_column(column.alias(str(name)), codes)
        return cast(PandasFrame, kinds[0]), kinds[1:]

    def with_labels(self, names: Sequence[Any], labels: Sequence[Any] = ()) -> PandasFrame:
        """Return this frame with one Enum for the labels of several columns."""
        holder = self
        listed = pd.Series(list(labels), dtype=object)
        if not any(name in self.columns for name in names):
            # The labels are those of a new column.
            holder = PandasFrame(pd.DataFrame(dict.fromkeys(names, listed)))
        if any(holder.columns.count(name) != 1 for name in names):
            return self
        columns = [holder.frame[name] for name in names]
        # Objects without rows may be any labels that the caller lists.
        is_open = not holder.height and all(column.dtype == object for column in columns)
        if not is_open and any(map(holder._has_exact_labels, names)):
            return self
        if len(listed):
            columns.append(listed)
        numbered = number_values(columns)
        kind = self
        if numbered is not None:
            codes, parts = numbered
            for name, part in zip(names, parts, strict=False):
                kind = kind.with_column(part.alias(str(name)), codes)
        return kind

    def _is_exact(self, name: Any) -> bool:
        """Return whether polars has equal values: numbers, Booleans, times and texts."""
        values = self.frame[name]
        if values.dtype == object:
            kind = pd.api.types.infer_dtype(values, skipna=True)
            # Arrow would drop the times of datetimes among dates.
            has_times = kind == "date" and {*map(type, values.dropna())} != {date}
            if kind not in _EXACT_OBJECTS or has_times:
                return False
        elif str(values.dtype).startswith(_OTHER_DTYPES):
            return False
        return self.column(name).to_frame().select(_EXACT).width == 1

    def _has_exact_labels(self, name: Any) -> bool:
        """Return whether polars has equal labels, and all categories of a pandas Categorical."""
        values = self.frame[name]
        if isinstance(values.dtype, pd.CategoricalDtype):
            return pd.api.types.infer_dtype(values.cat.categories) == "string"
        # Polars reads no nanoseconds of the labels that a caller lists.
        return self._is_exact(name) and getattr(self.column(name).dtype, "time_unit", "") != "ns"

    def label(self, name: str, value: Any) -> Any:
        """Return a label as `read` has it."""
        codes = self._codes.get(name)
        if value is None:
            return None
        if codes is not None:
            return codes.label(name, value)
        if not len(self.frame) and self.type_of(name) == "object":
            return None  # There is no label to compare it with.
        # polars would cut the nanoseconds of a Python object, and find another label.
        if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
            return value.to_numpy()
        return value

    # Results

    def gather(self, columns: Sequence[Any], rows: pl.Series) -> Any:
        """Return columns of the caller at these row numbers, under a new index."""
        # pandas selects and gathers no numbers with the bytes of other machines.
        native = {
            name: dtype.newbyteorder("=")
            for name, dtype in self.frame.dtypes.items()
            if name in columns and isinstance(dtype, np.dtype) and not dtype.isnative
        }
        frame = self.frame.astype(native) if native else self.frame
        return _at(frame[list(columns)].set_axis(range(self.height)), rows)

    def convert(self, table: pl.DataFrame, keys: Collection[Any] = ()) -> pd.DataFrame:
        """Convert a result. `keys` get the values and dtypes of the caller's frame."""
        sources = sources_of(keys)
        columns = {}
        for column in table:
            source = sources.get(column.name)
            dtype = None
            if source in self.labels:
                dtype = self.frame.dtypes[self.labels[source]]
            if source in self._codes:
                columns[column.name] = self._codes[source].restore(column, dtype)
            else:
                columns[column.name] = _pandas(column, dtype)
        is_kept = {name for name in columns if sources.get(name) == name}
        labels = [self.labels.get(name, name) if name in is_kept else name for name in columns]
        return pd.DataFrame(columns, copy=False).set_axis(labels, axis=1)

    def concat_columns(self, *frames: pd.DataFrame) -> pd.DataFrame:
        """Concatenate the columns of frames under the index of the first one."""
        return pd.concat([frame.set_axis(frames[0].index) for frame in frames], axis=1)


def _series(name: str, values: pd.Series[Any]) -> pl.Series:
    """Read a column of pandas as polars has it."""
    dtype: Any = values.dtype
    if dtype == "object" and pd.api.types.infer_dtype(values, skipna=False) == "string":
        # Through Arrow, the peak of memory is 40 bytes a row higher.
        texts = values.to_list()
        try:
            return pl.Series(name, texts, dtype=pl.String)
        except UnicodeError as error:
            raise TypeError(str(error)) from None
    data: Any = values
    if isinstance(dtype, pd.SparseDtype):
        data = data.sparse.to_dense()
    if isinstance(data.dtype, np.dtype):
        # Columns of FITS files have the bytes of other machines. Parts from other workers of Dask
        # are not aligned, at which polars before 1.44 panics.
        data = np.require(data, data.dtype.newbyteorder("="), "A")
    series = series_of(name, data, str(dtype)[:100])
    categories = getattr(dtype, "categories", None)
    if series.dtype == pl.Categorical and categories is not None:
        return series.cast(pl.Enum([*categories]))
    return series


def _values(frame: FrameKind[Any], name: Any) -> Any:
    """Return the values of a column of any kind of frame."""
    if isinstance(frame, PandasFrame):
        return frame.frame[name]
    column = frame.read([name]).select(by_name(name)).collect().to_series()
    return pd.Series(column.to_list(), dtype=object)


def _at(frame: Any, rows: pl.Series) -> Any:
    """Return the rows of these numbers under a new index. A null gives missing values."""
    # No row has the number -1, so `reindex` fills it with missing values.
    places = rows.cast(pl.Int64).fill_null(-1).to_numpy()
    return frame.reindex(places).set_axis(range(len(places)))


def _pandas(column: pl.Series, dtype: Any = None) -> pd.Series[Any]:
    """Return a column of a result, with this dtype. Integers with a null become nullable."""
    column = column.alias("")  # polars panics at a name with a NUL.
    if dtype == "object":
        return pd.Series(column.to_list(), dtype="object")
    from_arrow = getattr(dtype, "__from_arrow__", None)
    if from_arrow is None and column.dtype.is_integer() and column.null_count():
        # pandas spells them as polars does.
        from_arrow = getattr(pd, f"{column.dtype}Dtype")().__from_arrow__
    if from_arrow is not None:
        return pd.Series(from_arrow(column.to_arrow()))
    values = column.to_pandas(date_as_object=True)
    return values if dtype is None else values.astype(dtype)
