"""The metrics on Spark: a shuffle by group, then the plain functions on each partition.

Importing this module gives `pyspark.sql.DataFrame`, Classic and Connect, a `.pr`. The functions here are those of
`frame_pr`, with the same arguments; a Spark frame goes in and a Spark frame comes out, lazy where there is a `by`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from io import BytesIO
from typing import Any, Concatenate, ParamSpec

import polars as pl

from frame_pr import averages, cuts, evaluation, reports
from frame_pr.accessors import PR
from frame_pr.calls import Call, Part
from frame_pr.parts import Shuffled, range_numbers, sampled
from frame_pr.score_ranges import RANGE, cut_points

try:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, StructField, StructType
except ImportError as error:
    raise ImportError('frame_pr.spark needs pyspark and pyarrow: pip install "frame-pr[spark]"') from error

P = ParamSpec("P")


class SparkFrame(Shuffled):
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

    def in_ranges(self, call: Call) -> Callable[[Part], pl.DataFrame]:
        """A shuffle by ranges of scores, for each function that is asked for; its results come here."""
        frame, empty, score = self._select(call.columns()), self.empty(call.columns()), call.score
        seen = _collected(self._select([score]), None, empty.select(score), sampled)
        ranges = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
        number = partial(range_numbers, score=score, cuts=cut_points(seen[score], ranges))
        fields = [*frame.schema, *_fields(number(empty))]
        ranged = _mapped(frame, None, partial(_beside, number, frame.columns, frame.columns), fields)
        return partial(_collected, ranged, [RANGE], pl.concat([empty, number(empty)], how="horizontal"))

    def given(self, result: pl.DataFrame) -> DataFrame:
        """A small result, as a Spark frame."""
        return self.frame.sparkSession.createDataFrame(result.rows(), StructType(_fields(result)))

    def _select(self, columns: Sequence[str]) -> DataFrame:
        return self.frame.select(*("`" + column.replace("`", "``") + "`" for column in columns))


def _fields(result: pl.DataFrame) -> list[StructField]:
    return [StructField(field.name, from_arrow_type(field.type)) for field in result.to_arrow().schema]


def _mapped(
    frame: DataFrame,
    keys: Sequence[str] | None,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    fields: Sequence[StructField],
) -> DataFrame:
    # mapInArrow takes no name that needs quoting.
    plain = {column: f"c{i}" for i, column in enumerate(frame.columns)}
    frame = frame.toDF(*plain.values())
    if keys is not None:
        frame = frame.repartition(*(plain[key] for key in keys)) if keys else frame.repartition(1)
    return frame.mapInArrow(function, StructType(list(fields)))


def _collected(frame: DataFrame, keys: Sequence[str] | None, empty: pl.DataFrame, function: Part) -> pl.DataFrame:
    """What a function makes of each part, all together; it may have types that Spark does not."""
    packed = _mapped(frame, keys, partial(_packed, function, frame.columns), [StructField("part", BinaryType())])
    return pl.concat([function(empty), *(pl.DataFrame.deserialize(BytesIO(row.part)) for row in packed.collect())])


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


def _packed(function: Part, names: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if rows := list(batches):
        result = function(pl.DataFrame(pa.Table.from_batches(rows).rename_columns(names)))
        yield pa.RecordBatch.from_arrays([pa.array([result.serialize()], pa.binary())], ["part"])


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
