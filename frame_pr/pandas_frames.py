"""pandas -> polars -> pandas, through Arrow: numbers are not copied, keys get their dtypes back."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, TypeGuard

import polars as pl

if TYPE_CHECKING:
    import pandas as pd


def is_pandas(frame: object) -> TypeGuard[pd.DataFrame]:
    """Whether it is a frame of pandas; does not import pandas, without which there is none."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def from_pandas(frame: pd.DataFrame, columns: Sequence[Hashable]) -> pl.DataFrame:
    """These columns of a pandas frame, without its index, under their names as text."""
    return pl.DataFrame([_series(frame, column) for column in columns])


def _series(frame: pd.DataFrame, column: Hashable) -> pl.Series:
    values = frame[column]
    if values.ndim != 1:
        raise ValueError(f"the frame has {values.shape[1]} columns named {column!r}: rename them before the call")
    try:
        series = pl.from_pandas(values).alias(str(column))
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:  # pyarrow's errors are ValueErrors
        raise TypeError(
            f"column {column!r} ({values.dtype}) holds values of several types: convert it to one ({error})"
        ) from None
    except NotImplementedError as error:
        raise TypeError(f"column {column!r} is {values.dtype}, which polars does not have: convert it") from error
    except ImportError as error:
        raise ImportError('pandas frames need pyarrow: pip install "frame-pr[pandas]"') from error
    # An object column of nothing but None is no text, as which polars takes it.
    return series.cast(pl.Null) if values.dtype == object and series.null_count() == len(series) > 0 else series


def to_pandas(result: pl.DataFrame, keys: Sequence[str], *, like: pd.DataFrame) -> pd.DataFrame:
    """A result as a pandas frame; these keys in it have the caller's names and dtypes."""
    import pandas as pd

    labels = {str(label): label for label in like.columns if str(label) in keys}
    dtypes = {name: like[label].dtype for name, label in labels.items()}
    columns = {}
    for column in result:
        label = labels.get(column.name, column.name)
        dtype = dtypes.get(column.name)
        if dtype is None:
            columns[label] = column.to_pandas()
        elif isinstance(dtype, pd.ArrowDtype) and dtype.type is pd.CategoricalDtype.type:
            # No column of another type becomes a dictionary of numbers, or one that is ordered.
            columns[label] = pd.Series(column.to_list(), dtype=dtype)
        elif column.dtype.is_integer() and (from_arrow := getattr(dtype, "__from_arrow__", None)):
            # numpy has no integer null, and would make floats of the integers beside one.
            columns[label] = pd.Series(from_arrow(column.to_arrow()))
        else:
            columns[label] = column.to_pandas(date_as_object=True).astype(dtype)
            if isinstance(dtype, pd.CategoricalDtype):
                # To pandas, a dtype with the same categories in another order is the same.
                columns[label] = columns[label].cat.set_categories(dtype.categories)
    frame = pd.DataFrame(columns, copy=False)
    # pandas sorts categories as they stand, and not by their text.
    categories = {name: dtype.categories for name, dtype in dtypes.items() if isinstance(dtype, pd.CategoricalDtype)}
    if not all(one.is_monotonic_increasing for one in categories.values()):
        codes = [pl.Series(name, columns[labels[name]].cat.codes.to_numpy()) for name in categories]
        places = result.select(keys).with_columns(codes).select(pl.arg_sort_by(keys, maintain_order=True))
        frame = frame.take(places.to_series().to_numpy()).reset_index(drop=True)
    return frame


def beside(frame: pd.DataFrame, columns: pl.DataFrame) -> pd.DataFrame:
    """The caller's frame, index and all, with new columns at its right."""
    import pandas as pd

    return pd.concat([frame, columns.to_pandas().set_axis(frame.index)], axis=1)
