"""The backend for Spark frames."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.messages import shown
from frame_pr.parts.backends import OTHER, Shuffled, range_numbering, sample_rows
from frame_pr.parts.part_query import Part, PartQuery, in_part, places

try:
    import pyarrow as pa
    import pyspark
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, DataType, MapType, StringType, StructField, StructType
except ImportError as error:
    raise ImportError('frame_pr.spark needs pyspark and pyarrow: pip install "frame-pr[spark]"') from error
if not hasattr(DataFrame, "toArrow"):
    raise ImportError(
        f"frame_pr.spark needs pyspark 4.0 or later, this is {pyspark.__version__}: upgrade it, or bring the rows into "
        "memory, .toPandas()"
    )

Batches = Iterator[pa.RecordBatch]
_BINARY = "UTF8_BINARY"
_NOT_SENT = ("CalendarIntervalType", "YearMonthIntervalType")


class SparkFrame(Shuffled):
    """A Spark DataFrame, Classic or Connect."""

    frame_type = DataFrame
    name = "Spark DataFrame"
    in_memory = "its .toPandas()"

    def __init__(self, frame: DataFrame) -> None:
        if frame.isStreaming:
            raise TypeError(
                "a streaming DataFrame has no last row, and these metrics need all rows of a group: "
                "call them on each batch, in foreachBatch"
            )
        self.frame = frame

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        return self.frame.columns

    def refuse_missing(self, columns: Sequence[Any], argument: str) -> None:
        """Check that every column exists and has a type whose values Spark and polars compare alike."""
        for column in columns:
            outer = str(column).partition(".")[0]
            if column not in self.columns() and outer in self.columns() and outer != column:
                raise ValueError(
                    f"{argument}: no column {shown(column)} in the frame: a field is made a column before the call, as "
                    f"with withColumn('field', frame[{shown(column)}])"
                )
            if self.columns().count(column) > 1:
                raise ValueError(f"the frame has several columns named {shown(column)}: rename them before the call")
        super().refuse_missing(columns, argument)
        for field in self._select(columns).schema:
            _refuse_unsent(field)
            for dtype in _within(field.dataType):
                if type(dtype).__name__ == "VariantType":
                    raise TypeError(
                        f"column {field.name!r} is or holds a variant, which Spark does not group by: "
                        "give variant_get(...) of it, which has one type, under a name of its own"
                    )
                if isinstance(dtype, MapType):
                    raise TypeError(
                        f"column {field.name!r} is or holds a map, whose entries stand in any order: give "
                        "array_sort(map_entries(...)) of it, under a name of its own"
                    )
                if isinstance(dtype, StringType) and getattr(dtype, "collation", _BINARY) != _BINARY:
                    raise TypeError(
                        f"column {field.name!r} has the collation {dtype.collation}, by which texts are equal that "
                        f"differ: give collate(..., '{_BINARY}') of it, or of its lower(), under a name of its own"
                    )

    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return these columns without rows; runs no job on the data."""
        rows = self._select(columns).limit(0).toDF(*(f"c{i}" for i in range(len(columns)))).toArrow()
        return pl.DataFrame(rows.rename_columns(places(columns)))

    def by_group(
        self, columns: Sequence[str], keys: Sequence[str], function: Part, *, shuffled: bool = True
    ) -> DataFrame:
        """Apply the function to each part; key columns keep their types."""
        frame, empty = self._select(columns), self.empty(columns)
        metrics = function(empty).drop(cs.by_name(*keys))
        self._refuse_equal_names(metrics.columns, keys)
        to_part = partial(_by_group, function, empty, len(keys), metrics.to_arrow().schema.types)
        fields = [*frame.schema.fields[: len(keys)], *_fields(metrics)]
        return _named_result(frame, range(len(keys)) if shuffled else None, to_part, fields)

    def append_columns(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> DataFrame:
        """Return the frame with the columns that the function computes for each part."""
        new = function(self.empty(columns))
        self._refuse_equal_names(new.columns, self.columns())
        used = [self.columns().index(column) for column in columns]
        fields = [*self.frame.schema, *_fields(new)]
        to_part = partial(_append_to_part, function, used, new.to_arrow().schema.types)
        return _named_result(self.frame, used[: len(keys)], to_part, fields)

    def in_ranges(self, call: PartQuery) -> Callable[[Part], pl.DataFrame]:
        """Shuffle by ranges of scores, and apply each function to the parts."""
        frame, empty = self._select(call.columns()), self.empty(call.columns())
        scores = empty.select(pl.col(call.score).alias("0"))
        sample = _collected(self._select(call.scores), None, scores, sample_rows)
        number = range_numbering(call, sample, int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1))
        numbers = number(empty)
        fields = [*frame.schema, *_fields(numbers)]
        to_part = partial(_append_to_part, number, range(empty.width), numbers.to_arrow().schema.types)
        ranged = _named_result(frame, None, to_part, fields)
        return partial(_collected, ranged, [empty.width], empty.hstack(numbers))

    def together(self, groups: DataFrame, others: pl.DataFrame, keys: Sequence[str]) -> DataFrame:
        """Return the union of both."""
        rows = self.frame.sparkSession.createDataFrame(others.select(cs.by_name(groups.columns)).rows(), groups.schema)
        groups, rows = (
            side.selectExpr("*", f"{is_other} AS {_quoted(OTHER)}")
            for side, is_other in ((groups, "false"), (rows, "true"))
        )
        return groups.union(rows)

    def from_result(self, result: pl.DataFrame) -> DataFrame:
        """Return a small result as a Spark frame."""
        return self.frame.sparkSession.createDataFrame(result.rows(), StructType(_fields(result)))

    def _select(self, columns: Sequence[str]) -> DataFrame:
        return self.frame.select(*map(_quoted, columns))

    def _refuse_equal_names(self, new: Sequence[str], names: Sequence[str]) -> None:
        """Refuse a new column whose name Spark would resolve to another column."""
        if self.frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
            return
        for name in names:
            for column in new:
                if column.lower() == name.lower():
                    raise ValueError(
                        f"columns {name!r} and {column!r} have one name to Spark: rename the first before the call"
                    )


def _within(dtype: DataType) -> Iterator[DataType]:
    """Return a type and the types nested in it."""
    yield dtype
    parts = [getattr(dtype, name, None) for name in ("elementType", "keyType", "valueType")]
    for part in [*parts, *(field.dataType for field in getattr(dtype, "fields", []))]:
        if part is not None:
            yield from _within(part)


def _refuse_unsent(field: StructField) -> None:
    """Refuse a column of a type that Spark does not send to Python."""
    if any(type(dtype).__name__ in _NOT_SENT for dtype in _within(field.dataType)):
        raise TypeError(
            f"column {field.name!r} is {field.dataType.simpleString()}, which Spark does not send to Python: cast "
            "it or drop it before the call"
        )


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _fields(result: pl.DataFrame) -> list[StructField]:
    return [StructField(field.name, from_arrow_type(field.type)) for field in result.to_arrow().schema]


def _named_result(
    frame: DataFrame, keys: Sequence[int] | None, function: Callable[[Batches], Batches], fields: Sequence[StructField]
) -> DataFrame:
    """Apply the function to each part, name the columns by these fields, and raise the errors that rows carry.

    Spark raises its own exceptions: they begin with our message and have no stack of a worker.
    """
    result = _mapped(frame, keys, function, fields).where("error IS NULL OR CAST(raise_error(error) AS BOOLEAN)")
    return result.drop("error").toDF(*(field.name for field in fields))


def _collected(frame: DataFrame, keys: Sequence[int] | None, empty: pl.DataFrame, function: Part) -> pl.DataFrame:
    """Apply a function to each part and collect the results, which may have types that Spark lacks."""
    packed = _mapped(frame, keys, partial(_packed, function, empty.columns), [StructField("part", BinaryType())])
    rows = packed.collect()
    for row in rows:
        if row.error is not None:
            raise ValueError(row.error)
    return pl.concat([function(empty), *(pl.DataFrame.deserialize(BytesIO(row.c0)) for row in rows)])


def _mapped(
    frame: DataFrame, keys: Sequence[int] | None, function: Callable[[Batches], Batches], fields: Sequence[StructField]
) -> DataFrame:
    """Apply the function to each part. The result has columns named by their places, and the column `error`.

    `keys`: the places of the columns whose equal values are brought into one part; None keeps the parts as they are.
    """
    for field in frame.schema:
        _refuse_unsent(field)
    names = frame.columns
    if len({name.lower() for name in names}) < len(names):
        names = [f"c{i}" for i in range(len(names))]
        frame = frame.toDF(*names)
    # mapInArrow takes no name that needs quoting. The result is a struct, because each renamed column would double the
    # size of a filter that names it, such as na.drop(), in Spark's optimizer. SQL works for both Classic and Connect,
    # whose column functions differ.
    columns = ", ".join(f"{_quoted(name)} AS c{i}" for i, name in enumerate(names))
    rows = frame.selectExpr(f"struct({columns}) AS row")
    if keys is not None:
        rows = rows.repartition(*(f"row.c{i}" for i in keys)) if keys else rows.repartition(1)
    result_fields = [StructField(f"c{i}", field.dataType, True, field.metadata) for i, field in enumerate(fields)]
    with warnings.catch_warnings():
        # mapInArrow warns of pandas 3, although no row goes through pandas.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return rows.mapInArrow(function, StructType([*result_fields, StructField("error", StringType())]))


# functions that run on each part --------------------------------------------------------------------------------------


def _table(batches: Batches) -> pa.Table | None:
    """Return the rows of a part, which Spark sends as structs; None if there are none."""
    rows = [pa.RecordBatch.from_struct_array(batch.column(0)) for batch in batches]
    return pa.Table.from_batches(rows) if rows else None


def _by_group(
    function: Part, empty: pl.DataFrame, keys: int, metric_types: list[pa.DataType], batches: Batches
) -> Batches:
    if (table := _table(batches)) is not None:
        part = pl.DataFrame(table.rename_columns(empty.columns))
        # Return the keys as Spark sent them, because it does not accept all types that polars would return.
        types = [*table.schema.types[:keys], *metric_types]
        yield from _or_error(lambda: in_part(function, part).to_arrow().columns, types)
    elif not keys:
        yield from _or_error(lambda: function(empty).to_arrow().columns, metric_types)


def _append_to_part(function: Part, used: Sequence[int], new_types: list[pa.DataType], batches: Batches) -> Batches:
    if (table := _table(batches)) is not None:
        part = pl.DataFrame(table.select(list(used)).rename_columns(places(used)))
        yield from _or_error(
            lambda: [*table.columns, *in_part(function, part).to_arrow().columns], [*table.schema.types, *new_types]
        )


def _packed(function: Part, names: list[str], batches: Batches) -> Batches:
    if (table := _table(batches)) is not None:
        part = pl.DataFrame(table.rename_columns(names))
        yield from _or_error(lambda: [pa.array([in_part(function, part).serialize()], pa.binary())], [pa.binary()])


def _or_error(columns: Callable[[], list[Any]], types: Sequence[pa.DataType]) -> Batches:
    """Return these columns with these types and an empty `error`, or one row with only an error.

    An exception would carry the stack of the worker, and Spark would retry the task.
    """
    try:
        typed = [_cast(column, dtype) for column, dtype in zip(columns(), types, strict=True)]
        errors = pa.nulls(len(typed[0]), pa.string())
    except (TypeError, ValueError) as error:
        typed, errors = [pa.nulls(1, dtype) for dtype in types], pa.array([str(error)])
    yield from pa.table([*typed, errors], [*(f"c{i}" for i in range(len(types))), "error"]).to_batches()


def _cast(column: Any, dtype: pa.DataType) -> Any:
    if column.type != dtype and pa.types.is_nested(dtype):
        # pyarrow before 18 cannot cast a struct to one without nullable fields.
        return pa.array(column.to_pylist(), dtype)
    return column.cast(dtype)
