"""Dicts of arrays as frames, and what to write instead of other objects."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import polars as pl

from frame_pr.frames.messages import first_line


def is_table(value: Any) -> bool:
    """Return whether an object has columns, as the frames of all libraries do."""
    # Inspect the type: a LazyFrame resolves its plan, and warns, if its attributes are read.
    return hasattr(type(value), "columns")


def frame_of_arrays(frame: Any) -> Any:
    """Return a dict of arrays as a polars DataFrame, and other objects unchanged.

    A dict of frames, by the name of their system, stays one.
    """
    columns = list(frame.values()) if isinstance(frame, Mapping) else []
    arrays = [x for x in columns if isinstance(x, Sized) and not isinstance(x, (str, bytes))]
    if not arrays or any(map(is_table, columns)):
        return frame
    try:
        return pl.DataFrame(dict(frame))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise ValueError(
            f"frame: this dict of arrays makes no frame: {first_line(error)}; give arrays of equal "
            "length"
        ) from None


def frame_advice(value: Any) -> str:
    """Return what to write instead of an object that is no frame."""
    name = type(value).__name__
    if name.endswith("GroupBy"):
        return "give the frame itself, and name the columns of its groups, by=..."
    items = list(value) if isinstance(value, (list, tuple)) else []
    if any(map(is_table, items)):
        return (
            "give one frame, such as polars.concat(...) of them; compare takes several as a dict, "
            "by the name of their system"
        )
    if isinstance(value, Mapping) or any(isinstance(item, Mapping) for item in items):
        return "polars.DataFrame(...) makes a frame of rows or columns"
    if items or hasattr(value, "__array__"):
        return "arrays are columns of a dict, as in average_precision({'y': y, 's': s}, 'y', 's')"
    return "polars.DataFrame(...) makes one of most other frames"
