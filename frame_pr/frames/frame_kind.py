"""What every kind of frame can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import polars as pl

from frame_pr.frames.columns import by_name, refuse_missing

if TYPE_CHECKING:
    import pandas as pd

SMALL = 200_000
"""Rows below which the in-memory engine, and one query less, are the faster."""
Frame = TypeVar("Frame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")
"""The caller's kind of frame: what goes in comes out."""


class FrameKind(ABC, Generic[Frame]):
    """A caller's frame: its columns as those of a LazyFrame, and the ways back to its kind."""

    name: str
    """What errors call it."""
    carried: Mapping[str, pl.Expr] = {}
    """The columns that a table has to carry for `beside`."""

    def __init__(self, frame: Frame, columns: Sequence[Any], height: int | None) -> None:
        self.frame = frame
        self.columns = list(columns)
        self.height = height
        """How many rows there are; not known where it is for the caller to collect."""

    def refuse_missing(self, items: Sequence[Any], argument: str) -> None:
        """These columns, which an argument names, are there; of expressions among them not to speak."""
        refuse_missing(items, self.columns, argument=argument)

    @abstractmethod
    def read(self, items: Sequence[Any]) -> pl.LazyFrame:
        """A frame with these columns, which are there, and with those of expressions among the items."""

    def categories(self, name: str) -> Sequence[Any]:
        """The labels that a column declares beside its type, be they in its rows or not."""
        return ()

    def type_of(self, name: str) -> str:
        """What the kind calls the type of a column; nothing where that is the word of polars."""
        return ""

    @abstractmethod
    def give(self, table: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """A result as a frame of this kind; these columns of it are the caller's."""

    @abstractmethod
    def beside(self, table: pl.LazyFrame, new: list[str]) -> Frame:
        """The caller's own rows, with these columns of a table at their right."""

    @abstractmethod
    def spread(self, table: pl.LazyFrame, carried: Sequence[Any], new: list[str]) -> Frame:
        """These columns of the caller's row that each `row` of a table counts to, and at their right new ones of it."""


class InMemory(FrameKind[Frame]):
    """A frame whose rows are there: a result is computed at once."""

    height: int

    def collect_result(self, table: pl.LazyFrame) -> pl.DataFrame:
        """A result, by the engine that is the faster."""
        # The streaming engine takes 2 ms to start.
        return collected(table, "in-memory" if self.height < SMALL else "auto")

    def collect_beside(self, table: pl.LazyFrame, new: list[str]) -> pl.DataFrame:
        """New columns, in the order of the rows."""
        # The streaming engine takes twice as long for a join that keeps the order of the rows.
        return collected(table.select(map(by_name, new)), "in-memory")


def collected(table: pl.LazyFrame, engine: Literal["in-memory", "auto"]) -> pl.DataFrame:
    """The rows of a plan; its errors are our own."""
    try:
        return table.collect(engine=engine)
    except ValueError as error:
        # What the in-memory engine adds is about expressions that the caller never wrote.
        raise ValueError(str(error).partition("\n\nThis error occurred")[0]) from None
