"""Read the columns that a call names, under our own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from frame_pr.frames.columns import by_name, refuse_clash, refuse_repeats
from frame_pr.frames.kinds import FrameKind

NamedColumns: TypeAlias = Mapping[str, tuple[str, Any]]
"""Our names of columns, each with the argument that names it and the caller's name."""


def read_columns(
    kind: FrameKind[Any],
    columns: NamedColumns,
    new: Sequence[str],
) -> tuple[pl.DataFrame, list[Any]]:
    """Return the columns under our names, and the names of the caller's columns in the result."""
    for argument, name in columns.values():
        kind.refuse_missing([name], argument)
    refuse_repeats(columns.values())
    used = [name for argument, name in columns.values() if argument != "by"]
    carried = [name for name in kind.columns if name not in used]
    problem = "the frame has a column {}, as the result has one: rename it before the call"
    refuse_clash(new, carried, problem)
    source = kind.read([name for _, name in columns.values()])
    named = (by_name(name).alias(ours) for ours, (_, name) in columns.items())
    return source.select(named).collect(), carried
