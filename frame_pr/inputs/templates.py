"""Templates: the plan of a call on a small frame, kept without its rows, and collected again for later calls.

Building the plan of ten rows takes longer than running it. Two calls with equal arguments, on columns of equal dtypes,
have plans that differ only in the first node. So this node is a cell, which each call fills with its own columns.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import SMALL, collected, in_pool
from frame_pr.inputs.data_warnings import COUNT_OF_TALLY
from frame_pr.inputs.keys import Digit
from frame_pr.inputs.request import TOTAL_POLICIES

_MOST = 128
"""The number of calls that are kept."""
_DTYPES = 8
"""The number of combinations of dtypes kept for each call."""
_COPIES = 4
"""The number of copies of a plan that are kept; threads that run it at the same time need one each."""
# A plan has only the columns that it needs, so there is nothing else to optimize.
_OPTIMIZATIONS = pl.QueryOptFlags.none()
_OPTIMIZATIONS.update(projection_pushdown=True)


class Cell:
    """The first node of a plan: the columns of the call that runs it."""

    def __init__(self) -> None:
        self.data: pl.DataFrame | None = None
        self.columns: dict[str, str] = {}
        """Our names of the columns, with the caller's."""
        self.check: Callable[[pl.DataFrame], pl.DataFrame] | None = None
        """Validates the columns before the plan runs."""
        self.digits: list[Digit] = []
        """The digits that this plan assumes for the keys."""

    def table(
        self, columns: dict[str, str], schema: pl.Schema, check: Callable[[pl.DataFrame], pl.DataFrame]
    ) -> pl.LazyFrame:
        """Return the first node of a plan, which reads the cell."""
        self.columns, self.check = columns, check
        return pl.LazyFrame(schema=schema).map_batches(
            lambda _: self.data,  # type: ignore[arg-type, return-value]
            schema=schema,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )


class Build(Protocol):
    """A function that builds the plan of a frame without rows, over a cell."""

    def __call__(self, frame: pl.DataFrame, *, cell: Cell) -> Any:
        """Build the plan."""


class Template:
    """A plan and copies of it. `_free` holds the copies that no thread is running, each with its cell."""

    def __init__(self, build: Build, empty: pl.DataFrame) -> None:
        self._build, self._empty = build, empty
        self._free: list[tuple[Cell, pl.LazyFrame]] = []
        self._new_copy()

    def _new_copy(self) -> None:
        cell = Cell()
        plan = in_pool(self._build(self._empty, cell=cell))
        # polars keeps the plan that it resolved for the schema, and each later collect starts from there.
        plan.collect_schema()
        self._free.append((cell, plan))
        self.columns = cell.columns

    def run(self, columns: list[pl.Series]) -> pl.DataFrame | None:
        """Return the result for these columns; None if their keys need another plan."""
        try:
            cell, plan = self._free.pop()
        except IndexError:
            self._new_copy()
            return self.run(columns)
        try:
            data = pl.DataFrame([column.alias(name) for column, name in zip(columns, cell.columns, strict=True)])
            if not all(digit.holds(data.get_column(digit.key)) for digit in cell.digits):
                return None
            assert cell.check is not None
            cell.data = cell.check(data.rechunk())
            return collected(plan, "in-memory", _OPTIMIZATIONS)
        finally:
            cell.data = None
            if len(self._free) < _COPIES:
                self._free.append((cell, plan))


class Templates:
    """The templates of one call, by the dtypes of its columns."""

    def __init__(self) -> None:
        self._by_dtypes: dict[tuple[pl.DataType, ...], Template] = {}
        self._columns: list[str] = []

    def run(self, frame: Any) -> Any:
        """Return the result for a polars frame; None if no template fits and the call must build its plan."""
        try:
            columns = [frame.get_column(name) for name in self._columns]
        except pl.exceptions.ColumnNotFoundError:
            return None  # The call that builds its plan raises the error.
        template = self._by_dtypes.get(tuple([column.dtype for column in columns]))
        return template.run(columns) if template is not None else None

    def add(self, frame: Any, columns: Iterable[Any], build: Build) -> Any:
        """Build and run the template for these columns of a polars frame.

        None if there is one already, or if none is possible.
        """
        columns = dict.fromkeys(columns)
        if not columns.keys() <= {*frame.columns}:
            return None
        empty = frame.select(map(by_name, columns)).clear()
        if any(dtype.is_nested() or dtype in (pl.Enum, pl.Categorical, pl.Object) for dtype in empty.dtypes):
            return None
        dtypes = tuple(empty.get_column(name).dtype for name in self._columns)
        if dtypes and dtypes in self._by_dtypes:
            return None
        template = Template(build, empty)
        self._columns = list(template.columns.values())
        if len(self._by_dtypes) >= _DTYPES:
            self._by_dtypes = {}
        self._by_dtypes[tuple(empty.get_column(name).dtype for name in self._columns)] = template
        return self.run(frame)


@lru_cache(_MOST)
def _templates(_: bytes) -> Templates:
    return Templates()


def templates_of(frame: Any, *arguments: Any, options: dict[str, Any]) -> Templates | None:
    """Return the templates of a call with these arguments.

    None for a large frame, and for arguments that are not plain values.
    """
    if type(frame) is not pl.DataFrame or frame.height >= SMALL:
        return None
    if any(name in options for name in TOTAL_POLICIES):
        return None  # They may be frames, and each call must repeat the warnings about them.
    if COUNT_OF_TALLY in frame.columns and options.get("count") is None:
        return None  # All rows of the frame decide whether it is a tally.
    try:
        # Version 0 has no references, so equal values give equal bytes; 1, 1.0 and True differ.
        return _templates(marshal.dumps((arguments, options), 0))
    except ValueError:  # An expression, or another object.
        return None
