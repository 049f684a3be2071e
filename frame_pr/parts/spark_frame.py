"""The backend for Spark frames."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.parts.backends import ONLY_TOTALS, Shuffled
from frame_pr.parts.part_query import Names, Part, in_part
from frame_pr.parts.score_ranges import RANGE, OverRanges

try:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, DataType, StructField, StructType
except ImportError as error:
    raise ImportError(
        'frame_pr.spark needs pyspark and pyarrow: pip install "frame_pr[spark]"'
    ) from error

Batches = Iterator[pa.RecordBatch]
_REFUSED = {
    "CalendarIntervalType": "Spark does not send it to Python: cast it before the call",
    "YearMonthIntervalType": "Spark does not send it to Python: cast it before the call",
    "VariantType": "Spark does not group by variants: give variant_get(...) of it, of one type",
    "MapType": "its entries have no order: give array_sort(map_entries(...)) of it",
}
"""Types of columns that a call cannot read, and what to do."""


class SparkFrame(Shuffled):
    """A Spark DataFrame, Classic or Connect."""

    frame: DataFrame
    frame_type = DataFrame
    name = "Spark DataFrame"
    in_memory = "its .toPandas()"

    def __init__(self, frame: DataFrame) -> None:
        if frame.isStreaming:
            raise TypeError(
                "a streaming DataFrame has no last row, and these metrics need all rows of a "
                "group: "
                "call them on each batch, in foreachBatch"
            )
        super().__init__(frame)

    def names_of(self, argument: str, columns: Sequence[Any]) -> list[str]:
        """Check also that Spark and polars compare the values of the columns alike."""
        names = super().names_of(argument, columns)
        for field in self._select(names).schema:
            for dtype in _with_nested(field.dataType):
                reason = _REFUSED.get(type(dtype).__name__)
                if getattr(dtype, "collation", "UTF8_BINARY") != "UTF8_BINARY":
                    reason = (
                        "texts that differ are equal by its collation: "
                        "give collate(..., 'UTF8_BINARY') of it"
                    )
                if reason:
                    raise TypeError(
                        f"column {field.name!r} is {field.dataType.simpleString()}, and {reason}"
                    )
        return names

    def empty(self, columns: Names) -> pl.DataFrame:
        """Return these columns without rows; runs no job on the data."""
        rows = (
            self._select(columns).limit(0).toDF(*(f"c{i}" for i in range(len(columns)))).toArrow()
        )
        return pl.DataFrame(rows.rename_columns(list(columns)))

    def map_parts(
        self, columns: Names, keys: Names, function: Part, *, shuffled: bool = True
    ) -> DataFrame:
        """Apply the function to each part."""
        frame = self._select(columns)
        empty = self.empty(columns)
        new = function(empty).drop(cs.by_name(*keys))
        new_types = new.to_arrow().schema.types
        to_part = partial(_apply, function, empty, len(keys), new_types)
        places = range(len(keys)) if shuffled else None
        fields = [*frame.schema.fields[: len(keys)], *_fields(new)]
        return _mapped(frame, places, to_part, fields)

    def append_columns(self, columns: Names, keys: Names | None, function: Part) -> DataFrame:
        """Return the frame with the columns that the function computes for each part."""
        empty = self.empty(columns)
        new = function(empty)
        new_types = new.to_arrow().schema.types
        places = {name: place for place, name in enumerate(self.columns())}
        used = [places[column] for column in columns]
        to_part = partial(_append, function, empty, used, new_types)
        keys_used = None if keys is None else used[: len(keys)]
        fields = [*self.frame.schema, *_fields(new)]
        return _mapped(self.frame, keys_used, to_part, fields)

    def partitions(self) -> int:
        """Return the number of parts after a shuffle."""
        return int(self.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)

    def collected(
        self, columns: Names, function: Part, keys: Sequence[int] | None = None
    ) -> pl.DataFrame:
        """Apply a function to each part; the results may have types that Spark lacks."""
        empty = self.empty(columns)
        to_part = partial(_apply, partial(_serialized, function=function), empty, 0, [pa.binary()])
        packed = _mapped(
            self._select(columns), keys, to_part, [StructField("part", BinaryType())]
        ).collect()
        return pl.concat(
            [function(empty), *(pl.DataFrame.deserialize(BytesIO(row.part)) for row in packed)]
        )

    @contextmanager
    def in_ranges(self, columns: Names, number: Part) -> Generator[OverRanges]:
        """Shuffle by ranges of scores."""
        ranged = SparkFrame(self._select(columns)).append_columns(columns, None, number).persist()
        try:
            yield partial(SparkFrame(ranged).collected, [*columns, RANGE], keys=[len(columns)])
        finally:
            ranged.unpersist()

    def union(self, groups: DataFrame, others: pl.DataFrame) -> DataFrame:
        """Return the union of both."""
        rows = self.frame.sparkSession.createDataFrame(
            others.select(cs.by_name(groups.columns)).rows(), groups.schema
        )
        groups = groups.selectExpr("*", f"false AS {_quoted(ONLY_TOTALS)}")
        return groups.union(rows.selectExpr("*", f"true AS {_quoted(ONLY_TOTALS)}"))

    def from_polars(self, result: pl.DataFrame) -> DataFrame:
        """Return a small result as a Spark frame."""
        return self.frame.sparkSession.createDataFrame(result.rows(), StructType(_fields(result)))

    def _select(self, columns: Names) -> DataFrame:
        return self.frame.select(*map(_quoted, columns))


def _with_nested(dtype: DataType) -> Iterator[DataType]:
    """Return a type and the types nested in it."""
    yield dtype
    parts = [getattr(dtype, name, None) for name in ("elementType", "keyType", "valueType")]
    for part in [*parts, *(field.dataType for field in getattr(dtype, "fields", []))]:
        if part is not None:
            yield from _with_nested(part)


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _fields(result: pl.DataFrame) -> list[StructField]:
    return [
        StructField(field.name, from_arrow_type(field.type)) for field in result.to_arrow().schema
    ]


def _mapped(
    frame: DataFrame,
    keys: Sequence[int] | None,
    function: Callable[[Batches], Batches],
    fields: Sequence[StructField],
) -> DataFrame:
    """Apply the function to each part, and name the columns of the result by these fields.

    `keys`: the places of the columns whose equal values are brought into one part; None keeps the
    parts as they are.
    """
    names = frame.columns
    if len({name.lower() for name in names}) < len(names):
        names = [f"c{i}" for i in range(len(names))]
        frame = frame.toDF(*names)
    # mapInArrow takes no name that needs quoting. The rows are structs, because each renamed column
    # would double the size of a filter that names it, such as na.drop(), in Spark's optimizer. SQL
    # works for both Classic and Connect, whose column functions differ.
    columns = ", ".join(f"{_quoted(name)} AS c{i}" for i, name in enumerate(names))
    rows = frame.selectExpr(f"struct({columns}) AS row")
    if keys is not None:
        rows = rows.repartition(*(f"row.c{i}" for i in keys)) if keys else rows.repartition(1)
    placed = [
        StructField(f"c{i}", field.dataType, True, field.metadata) for i, field in enumerate(fields)
    ]
    with warnings.catch_warnings():
        # mapInArrow warns of pandas 3, although no row goes through pandas.
        warnings.filterwarnings(
            "ignore", "PySpark does not yet fully support pandas", FutureWarning
        )
        return rows.mapInArrow(function, StructType(placed)).toDF(*(field.name for field in fields))


# functions that run on each part
# --------------------------------------------------------------------------------------


def _table(batches: Batches) -> pa.Table | None:
    """Return the rows of a part, which Spark sends as structs; None if there are none."""
    rows = [pa.RecordBatch.from_struct_array(batch.column(0)) for batch in batches]
    return pa.Table.from_batches(rows) if rows else None


def _apply(
    function: Part, empty: pl.DataFrame, keys: int, new_types: list[pa.DataType], batches: Batches
) -> Batches:
    if (table := _table(batches)) is not None:
        part = pl.DataFrame(table.rename_columns(empty.columns))
        # Return the keys as Spark sent them, because it does not accept all types that polars would
        # return.
        yield from _batches(
            in_part(function, part).to_arrow().columns, [*table.schema.types[:keys], *new_types]
        )
    elif not keys:
        yield from _batches(function(empty).to_arrow().columns, new_types)


def _append(
    function: Part,
    empty: pl.DataFrame,
    used: list[int],
    new_types: list[pa.DataType],
    batches: Batches,
) -> Batches:
    if (table := _table(batches)) is not None:
        part = pl.DataFrame(table.select(used).rename_columns(empty.columns))
        new = in_part(function, part).to_arrow().columns
        yield from _batches([*table.columns, *new], [*table.schema.types, *new_types])


def _serialized(part: pl.DataFrame, function: Part) -> pl.DataFrame:
    return pl.DataFrame({"part": [function(part).serialize()]})


def _batches(columns: Sequence[Any], types: Sequence[pa.DataType]) -> Batches:
    """Return columns with these types."""
    typed = [_cast(column, dtype) for column, dtype in zip(columns, types, strict=True)]
    yield from pa.table(typed, [f"c{i}" for i in range(len(types))]).to_batches()


def _cast(column: Any, dtype: pa.DataType) -> Any:
    if column.type != dtype and pa.types.is_nested(dtype):
        # pyarrow before 18 cannot cast a struct to one without nullable fields.
        return pa.array(column.to_pylist(), dtype)
    return column.cast(dtype)
