"""The metrics on Spark: a shuffle by group, then the plain functions on each partition.

Importing this module gives `pyspark.sql.DataFrame`, Classic and Connect, a `.pr`. The functions here are those of
`frame_pr`, with the same arguments; a Spark frame goes in and a lazy Spark frame comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec

import polars as pl

from frame_pr import averages, cuts, evaluation, reports
from frame_pr.accessors import PR
from frame_pr.parts import Part, Parts

try:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType
except ImportError as error:
    raise ImportError('frame_pr.spark needs pyspark and pyarrow: pip install "frame-pr[spark]"') from error

P = ParamSpec("P")


class SparkFrame(Parts):
    """A Spark frame, as an engine."""

    def __init__(self, frame: DataFrame) -> None:
        if not isinstance(frame, DataFrame):
            kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
            raise TypeError(f"expected a pyspark.sql.DataFrame, got a {kind}")
        if frame.isStreaming:
            raise TypeError(
                "a streaming DataFrame has no last row, and these metrics need all rows of a group: "
                "call them on each batch, in foreachBatch"
            )
        self.frame = frame

    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.frame.columns

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """These columns without rows; runs no job on the data."""
        return pl.DataFrame(self._select(columns).limit(0).toArrow())

    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """A frame of what the function makes of each part; keys have the types they had."""
        frame, empty = self._select(columns), self.empty(columns)
        fields = [frame.schema[key] for key in keys]
        fields += [field for field in _fields(function(empty)) if field.name not in keys]
        return _mapped(frame, keys, partial(_by_group, function, empty), fields)

    def beside(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """The frame with the columns that the function makes of each part."""
        fields = [*self.frame.schema, *_fields(function(self.empty(columns)))]
        return _mapped(self.frame, keys, partial(_beside, function, list(columns), self.frame.columns), fields)

    def _select(self, columns: Sequence[str]) -> DataFrame:
        return self.frame.select(*("`" + column.replace("`", "``") + "`" for column in columns))


def _fields(result: pl.DataFrame) -> list[StructField]:
    return [StructField(field.name, from_arrow_type(field.type)) for field in result.to_arrow().schema]


def _mapped(
    frame: DataFrame,
    keys: Sequence[str],
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    fields: Sequence[StructField],
) -> DataFrame:
    # mapInArrow takes no name that needs quoting.
    plain = {column: f"c{i}" for i, column in enumerate(frame.columns)}
    frame = frame.toDF(*plain.values())
    parts = frame.repartition(*(plain[key] for key in keys)) if keys else frame.repartition(1)
    return parts.mapInArrow(function, StructType(list(fields)))


def _by_group(function: Part, empty: pl.DataFrame, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = list(batches)
    part = pl.DataFrame(pa.Table.from_batches(rows).rename_columns(empty.columns)) if rows else empty
    yield from function(part).to_arrow().to_batches()


def _beside(
    function: Part, columns: list[str], names: list[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    if rows := list(batches):
        table = pa.Table.from_batches(rows).rename_columns(names)
        for new in function(pl.DataFrame(table.select(columns))):
            table = table.append_column(new.name, new.to_arrow())
        yield from table.to_batches()


def on_spark(function: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[DataFrame, P], DataFrame]:
    """One of our functions, on Spark frames."""

    @wraps(function)
    def on_frame(frame: DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> DataFrame:
        result: DataFrame = function(SparkFrame(frame), *args, **kwargs)
        return result

    return on_frame


average_precision = on_spark(averages.average_precision)
interpolated_average_precision = on_spark(averages.interpolated_average_precision)
average_precision_at_k = on_spark(averages.average_precision_at_k)
precision_at_k = on_spark(cuts.precision_at_k)
recall_at_k = on_spark(cuts.recall_at_k)
r_precision = on_spark(cuts.r_precision)
precision_at_recall = on_spark(cuts.precision_at_recall)
k_at_recall = on_spark(cuts.k_at_recall)
f_beta = on_spark(cuts.f_beta)
evaluate = on_spark(evaluation.evaluate)
with_metrics = on_spark(evaluation.with_metrics)
report = on_spark(reports.report)


def _pr(frame: DataFrame) -> PR[Any]:
    return PR(SparkFrame(frame))


DataFrame.pr = property(_pr)  # type: ignore[attr-defined]
