"""polars frames, eager and lazy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.frame_kind import FrameKind, InMemory


class PolarsFrame(InMemory[pl.DataFrame]):
    """A polars DataFrame."""

    name = "polars DataFrame"

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, frame.columns, frame.height)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """All of the frame."""
        return self.frame.lazy()

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.DataFrame:
        """The result, collected."""
        return self.collect_result(table)

    def beside(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """The frame itself and, collected, the new columns."""
        return self.frame.hstack(self.collect_beside(table, new))

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pl.DataFrame:
        """Both, collected."""
        made = self.collect_beside(table, ["row", *new])
        # A selection of no columns has no rows either.
        rows = [self.frame.select(map(by_name, carried))[made["row"]]] if carried else []
        return pl.concat([*rows, made.drop("row")], how="horizontal")


class PolarsLazyFrame(FrameKind[pl.LazyFrame]):
    """A polars LazyFrame, which nothing here collects."""

    name = "polars LazyFrame"
    carried = {"callers_row": pl.struct(pl.all())}  # noqa: RUF012  read only

    def __init__(self, frame: pl.LazyFrame) -> None:
        super().__init__(frame, frame.collect_schema().names(), None)

    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """The frame itself."""
        return self.frame

    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """The result as it is."""
        return table

    def beside(self, table: pl.LazyFrame, new: list[str]) -> pl.LazyFrame:
        """The rows that the table carries, and the new columns."""
        return table.select("callers_row", *map(by_name, new)).unnest("callers_row")

    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> pl.LazyFrame:
        """Both, joined."""
        if not carried:
            return table.select(map(by_name, new))
        rows = self.frame.select(callers_row=pl.struct(map(by_name, carried))).with_row_index("row")
        return self.beside(table.join(rows, on="row", how="left", maintain_order="left"), new)
