"""The metrics on Dask: a shuffle by group, then the plain functions on each partition.

Importing this module gives Dask's DataFrame a `.pr`. The functions here are those of `frame_pr`, with the same
arguments; a Dask frame goes in and a Dask frame comes out, not computed yet where there is a `by`. Counts are Int64,
which can be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec

import polars as pl

from frame_pr import averages, cuts, evaluation, reports
from frame_pr.accessors import PR
from frame_pr.calls import Call, Part
from frame_pr.pandas_frames import from_pandas, to_pandas
from frame_pr.parts import Shuffled, range_numbers, sampled
from frame_pr.score_ranges import RANGE, cut_points

try:
    import dask
    import dask.dataframe as dd
    import numpy as np
    import pandas as pd
    from dask.dataframe import DataFrame
    from dask.dataframe.extensions import register_dataframe_accessor
except ImportError as error:
    raise ImportError('frame_pr.dask needs dask: pip install "frame-pr[dask]"') from error

P = ParamSpec("P")


class DaskFrame(Shuffled):
    """A Dask frame, as an engine."""

    def __init__(self, frame: DataFrame) -> None:
        if not isinstance(frame, DataFrame):
            kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
            raise TypeError(f"expected a dask.dataframe.DataFrame, got a {kind}")
        self.frame = frame

    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.frame.columns)

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """These columns without rows."""
        meta = self._select(columns)._meta
        for column, dtype in meta.dtypes.items():
            if dtype.kind == "O" and isinstance(dtype, np.dtype):
                raise TypeError(
                    f"column {column!r} is object in Dask, which does not say what it holds: give it a type, "
                    "such as 'string' or one of Arrow's"
                )
        return from_pandas(meta, columns)

    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """A frame of what the function makes of each part; keys have the types they had."""
        frame, empty = self._select(columns), function(self.empty(columns))
        types = {name: dtype for name, dtype in _announced(empty).items() if name not in keys}
        meta = to_pandas(empty, keys, like=frame._meta).astype(types)
        return _shuffled(frame, keys).map_partitions(partial(_by_group, function, meta), meta=meta)

    def beside(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """The frame with the columns that the function makes of each part."""
        empty = function(self.empty(columns))
        new = empty.to_pandas().astype(_announced(empty))
        meta = pd.concat([self.frame._meta, new], axis=1)
        return _shuffled(self.frame, keys).map_partitions(partial(_beside, function, list(columns), new), meta=meta)

    def in_ranges(self, call: Call) -> Callable[[Part], pl.DataFrame]:
        """A shuffle by ranges of scores; what a function makes of its parts comes here."""
        columns, score = call.columns(), call.score
        frame, empty = self._select(columns), self.empty(columns)
        seen = _collected(self._select([score]), empty.select(score), sampled)
        number = partial(range_numbers, score=score, cuts=cut_points(seen[score], frame.npartitions))
        new = number(empty).to_pandas().astype(_announced(number(empty)))
        meta = pd.concat([frame._meta, new], axis=1)
        ranged = frame.map_partitions(partial(_beside, number, columns, new), meta=meta)
        return partial(_collected, _shuffled(ranged, [RANGE]), pl.concat([empty, number(empty)], how="horizontal"))

    def given(self, result: pl.DataFrame) -> DataFrame:
        """A small result, as a Dask frame."""
        return dd.from_pandas(result.to_pandas().astype(_announced(result)), npartitions=1)

    def _select(self, columns: Sequence[str]) -> DataFrame:
        return self.frame[list(columns)]


def _announced(result: pl.DataFrame) -> dict[str, str]:
    """Types of result columns that pandas would choose by their values: Dask has to know them before it computes."""
    types = {name: "string[pyarrow]" for name, dtype in result.schema.items() if dtype == pl.String}
    # pandas names its nullable integers as polars does.
    return types | {name: str(dtype) for name, dtype in result.schema.items() if dtype.is_integer()}


def _shuffled(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
    typed = partial(_typed, meta=frame._meta)
    # Before the shuffle, as equal keys of different types need not meet, and after it, as it forgets some of Arrow's.
    frame = frame.map_partitions(typed, meta=frame._meta)
    frame = frame.shuffle(on=list(keys)) if keys else frame.repartition(npartitions=1)
    return frame.map_partitions(typed, meta=frame._meta).clear_divisions()


def _collected(frame: DataFrame, empty: pl.DataFrame, function: Part) -> pl.DataFrame:
    """What a function makes of each part, all together."""
    results: tuple[pl.DataFrame, ...] = dask.compute(
        *(dask.delayed(_in_polars)(function, part) for part in frame.to_delayed())
    )
    return pl.concat([function(empty), *results])


def _in_polars(function: Part, part: pd.DataFrame) -> pl.DataFrame:
    return function(from_pandas(part, list(part.columns)))


def _typed(part: pd.DataFrame, meta: pd.DataFrame) -> pd.DataFrame:
    """A part whose columns have the types that Dask says they have."""
    for column, dtype in meta.dtypes.items():
        # Categories may differ from part to part.
        if part[column].dtype == dtype or dtype == "category":
            continue
        if isinstance(dtype, np.dtype) and dtype.kind in "iub" and (missing := part[column].isna().sum()):
            raise TypeError(
                f"column {column!r} is {dtype} to Dask, which cannot be missing, and {missing} of {len(part)} values "
                "of a part are: read it as a nullable type, such as with dtype_backend='pyarrow'"
            )
        part = part.assign(**{str(column): part[column].astype(dtype)})
    return part


def _by_group(function: Part, meta: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    for column, dtype in meta.dtypes.items():
        if dtype == "category":
            meta = meta.assign(**{str(column): part[column].head(0)})
    return to_pandas(function(from_pandas(part, list(part.columns))), list(meta.columns), like=meta)


def _beside(function: Part, columns: list[str], new: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    result = to_pandas(function(from_pandas(part, columns)), list(new.columns), like=new)
    return pd.concat([part, result.set_axis(part.index)], axis=1)


def on_dask(function: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[DataFrame, P], DataFrame]:
    """One of our functions, on Dask frames."""

    @wraps(function)
    def on_frame(frame: DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> DataFrame:
        return function(DaskFrame(frame), *args, **kwargs)

    return on_frame


average_precision = on_dask(averages.average_precision)
interpolated_average_precision = on_dask(averages.interpolated_average_precision)
average_precision_at_k = on_dask(averages.average_precision_at_k)
precision_at_k = on_dask(cuts.precision_at_k)
recall_at_k = on_dask(cuts.recall_at_k)
r_precision = on_dask(cuts.r_precision)
precision_at_recall = on_dask(cuts.precision_at_recall)
k_at_recall = on_dask(cuts.k_at_recall)
f_beta = on_dask(cuts.f_beta)
evaluate = on_dask(evaluation.evaluate)
with_metrics = on_dask(evaluation.with_metrics)
report = on_dask(reports.report)


@register_dataframe_accessor("pr")  # type: ignore[untyped-decorator]
def _pr(frame: DataFrame) -> PR[Any]:
    return PR(DaskFrame(frame))
