"""pyarrow -> polars -> pyarrow: columns are not copied, keys get their types back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_pr.frames.frame_kind import FrameKind, InMemory
from frame_pr.frames.wording import first_line, shown


def is_table(frame: object) -> bool:
    """Whether it is a Table, or a RecordBatch, of pyarrow; does not import pyarrow, without which there is none."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(frame, (pyarrow.Table, pyarrow.RecordBatch))


class ArrowFrame(InMemory[Any]):
    """A Table of pyarrow."""

    name = "pyarrow Table"

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        super().__init__(table, table.column_names, table.num_rows)

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """These columns are there, each once."""
        if any(isinstance(item, pl.Expr) for item in items):
            raise TypeError(f"{argument}: polars expressions work on polars frames: on Arrow, give column names")
        super().refuse_missing(items, argument)
        for name in items:
            if self.columns.count(name) > 1:
                raise ValueError(f"the frame has several columns named {shown(name)}: rename them before the call")

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """These columns only."""
        columns = {name: self.frame.column(name) for name in dict.fromkeys(items)}
        return pl.DataFrame([_series(name, column) for name, column in columns.items()]).lazy()

    def type_of(self, name: str) -> str:
        """The type of the column in Arrow."""
        return str(self.frame.schema.field(name).type)[:100] if name in self.columns else ""

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Any:
        """The result, collected; keys have the types that they had."""
        return _typed(self.collect_result(table), [self.frame.schema.field(name) for name in keys])

    def beside(self, table: pl.LazyFrame, new: list[str]) -> Any:
        """The table itself and, collected, the new columns."""
        return _beside(self.frame, self.collect_beside(table, new))

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Any:
        """Both, collected."""
        made = self.collect_beside(table, ["row", *new])
        rows = self.frame.select(list(carried)).take(made["row"].to_arrow())
        return _beside(rows, made.drop("row")) if carried else made.drop("row").to_arrow()

    def give_joined(self, other: FrameKind[Any], table: pl.LazyFrame, on: Sequence[Any], by: Sequence[Any]) -> Any:
        """The join, collected; columns have the types that they had."""
        fields = [*self.frame.schema, *(field for field in other.frame.schema if field.name not in on)]
        return _typed(self.collect_result(table), fields)


def _typed(result: pl.DataFrame, fields: Sequence[Any]) -> Any:
    """A result as a Table, in which these fields have their types."""
    table = result.to_arrow()
    for field in fields:
        place = table.column_names.index(field.name)
        table = table.set_column(place, field, table.column(place).cast(field.type))
    return table


def _series(name: str, column: Any) -> pl.Series:
    try:
        return pl.Series(name, column)
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"column {shown(name)} is {column.type}, which polars does not have: {first_line(error)}"
        ) from None


def _beside(table: Any, new: pl.DataFrame) -> Any:
    for column in new:
        table = table.append_column(column.name, column.to_arrow())
    return table
