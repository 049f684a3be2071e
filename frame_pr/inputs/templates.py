"""Templates: the plan of a call on a small frame, kept without its rows, to be collected with those of the next call.

To build the plan of ten rows takes longer than to run it. Two calls with equal arguments, on columns of equal dtypes,
have the same plan but for its first node, so this node is a cell that each call fills with its own columns.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import SMALL, collected
from frame_pr.inputs.data_warnings import COUNT_OF_TALLY
from frame_pr.inputs.keys import Digit

_MOST = 128
"""Calls that are kept."""
_DTYPES = 8
"""Combinations of dtypes that are kept of each call."""
_COPIES = 4
"""Copies of a plan that are kept; each thread that runs it at the same time needs one."""
# A plan has all the columns it needs and no others: so there is nothing to optimize.
_OPTIMIZATIONS = pl.QueryOptFlags.none()
_OPTIMIZATIONS.update(projection_pushdown=True)
_WARNING_OPTIONS = ("positives", "rows")
"""Options that may be frames, and whose warnings depend on the arguments alone: each call has to give these."""


class Cell:
    """The first node of a plan: the columns of the call that runs it."""

    def __init__(self) -> None:
        self.data: pl.DataFrame | None = None
        self.columns: dict[str, str] = {}
        """Our names of the columns, with the caller's."""
        self.check: Callable[[pl.DataFrame], pl.DataFrame] | None = None
        """What the columns have to pass before the plan runs."""
        self.digits: list[Digit] = []
        """The digits that the keys must have for this plan."""

    def table(
        self, columns: dict[str, str], schema: pl.Schema, check: Callable[[pl.DataFrame], pl.DataFrame]
    ) -> pl.LazyFrame:
        """The columns, in a plan."""
        self.columns, self.check = columns, check
        return pl.LazyFrame(schema=schema).map_batches(
            lambda _: self.data,  # type: ignore[arg-type, return-value]
            schema=schema,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )


class Build(Protocol):
    """What makes the plan of a frame without rows, over a cell."""

    def __call__(self, frame: pl.DataFrame, *, cell: Cell) -> Any:
        """Make the plan."""


class Template:
    """A plan; `free` are those of its copies that no thread is running, each with its cell."""

    def __init__(self, build: Build, empty: pl.DataFrame) -> None:
        self._build, self._empty = build, empty
        self._free: list[tuple[Cell, pl.LazyFrame]] = []
        self._new_copy()

    def _new_copy(self) -> None:
        cell = Cell()
        self._free.append((cell, self._build(self._empty, cell=cell)))
        self.columns = cell.columns

    def run(self, columns: list[pl.Series]) -> pl.DataFrame | None:
        """The result for these columns; None if their keys need another plan."""
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
        """The result for a polars frame; None if no template of it fits, and the call has to go the usual way."""
        try:
            columns = [frame.get_column(name) for name in self._columns]
        except pl.exceptions.ColumnNotFoundError:
            return None  # an error of the usual way
        template = self._by_dtypes.get(tuple([column.dtype for column in columns]))
        return template.run(columns) if template is not None else None

    def add(self, frame: Any, columns: list[Any], build: Build) -> Any:
        """Make the template of these columns of a polars frame and run it; None if there is one, or can be none."""
        if not {*columns} <= {*frame.columns}:
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
    """The templates of a call with these arguments; None if it is not of plain values, or not on a small frame."""
    if type(frame) is not pl.DataFrame or frame.height >= SMALL:
        return None
    if any(name in options for name in _WARNING_OPTIONS):
        return None
    if COUNT_OF_TALLY in frame.columns and options.get("count") is None:
        return None  # whether the frame is a tally depends on all of its rows
    try:
        # Version 0 knows no references, so equal values give equal bytes; 1, 1.0 and True differ.
        return _templates(marshal.dumps((arguments, options), 0))
    except ValueError:  # an expression, or another object
        return None
