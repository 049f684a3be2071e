"""Slices: the same result for all rows and for the values of several columns, in one frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name, listed, refuse_clash
from frame_pr.frames.dispatch import kind_of, read_stream
from frame_pr.frames.kinds import Frame, FrameKind
from frame_pr.frames.messages import shown
from frame_pr.inputs.options import Column
from frame_pr.inputs.request import Request
from frame_pr.inputs.results import on_rows

ALL = "all"
"""The slice of all rows."""
_NO_METRICS = ("system", "rows", "positives", "groups", "undefined")
"""Columns of a result that have no difference."""
_BETWEEN = " | "
"""What separates two keys."""


def _validate(slices: Any) -> list[list[Column]]:
    """Validate slices: columns, or lists of columns."""
    if isinstance(slices, (str, pl.Expr)):
        slices = [slices]
    if not isinstance(slices, (list, tuple)) or not slices:
        raise TypeError(
            "slices takes a list of columns or of lists of columns, as in "
            f"slices=['country', ['country', 'device']]; got {shown(slices)}"
        )
    keys = [listed("slices", names) for names in slices]
    columns = [names for names in keys if not any(isinstance(key, pl.Expr) for key in names)]
    for names in columns:
        if not names:
            raise ValueError("slices has an empty list: all rows are a slice anyway")
        if columns.count(names) > 1:
            raise ValueError(f"slices has {', '.join(map(shown, names))} twice")
    return keys


def on_slices(
    frame: Frame,
    request: Request,
    slices: Any,
    compute: Callable[[Any, Request], Any],
    *,
    value: str = "value",
    hidden: Sequence[str] = (),
    differences: bool = False,
) -> Frame:
    """Compute a result for all rows and for each slice, in one frame.

    `request`: its keys are those of `by`. `compute` gives the keys first, then the same columns for
    all keys. The result has the keys of `by`, `slice` (the names of its columns), `value` (its keys
    as text; the parameter names the column), and these columns but the `hidden` ones.
    `differences`: also the difference of each metric to that of all rows.
    """
    slice_keys = _validate(slices)
    frame = read_stream(frame)  # A stream can be read once, and each slice reads the rows.
    by = list(request.keys)
    keys = [key for names in slice_keys for key in names]
    expressions = [key for key in keys if isinstance(key, pl.Expr)]
    columns = dict.fromkeys(key for key in keys if not isinstance(key, pl.Expr))

    def stack(rows: Any, of_all: Request) -> Any:
        requests = [of_all._replace(keys=[*by, *names]) for names in ([], *slice_keys)]
        kinds = [kind_of(compute(rows, request)) for request in requests]
        return _stacked(kind_of(rows), kinds, value, hidden, differences=differences)

    return on_rows(frame, request._replace(keys=[*by, *columns, *expressions]), stack)


def _stacked(
    kind: FrameKind[Any],
    results: Sequence[FrameKind[Any]],
    value: str,
    hidden: Sequence[str],
    *,
    differences: bool,
) -> Any:
    """Stack results: the first is of all rows, the others have more keys after those of `by`."""
    names_of_results = [list(map(str, result.columns)) for result in results]
    of_all, of_first_slice, *_ = names_of_results
    pairs = zip(of_all, of_first_slice, strict=False)
    by = [name for name, same_place in pairs if name == same_place]
    columns = of_all[len(by) :]
    refuse_clash([*by, *columns], ["slice", value])

    kind, results = kind.with_keys(by, results)
    tables = []
    for result, names in zip(results, names_of_results, strict=True):
        keys = names[len(by) : -len(columns)]
        if keys == [ALL]:
            raise ValueError(f"slices: {ALL!r} is the slice of all rows; rename the column")
        coded, _ = result.with_keys(keys)
        rows = coded.read(names)
        schema = rows.collect_schema()
        texts = [_text(key, schema[key]) for key in keys]
        table = rows.select(
            *map(by_name, by),
            pl.lit(_BETWEEN.join(keys) if keys else ALL).alias("slice"),
            pl.concat_str(texts or pl.lit(ALL), separator=_BETWEEN).alias(value),
            *(by_name(name) for name in columns if name not in hidden),
        )
        tables.append(table)

    stacked = pl.concat(tables, how="vertical_relaxed")
    if differences:
        stacked = _with_differences(stacked, by, columns)
    if by:
        stacked = stacked.sort(list(map(by_name, by)), maintain_order=True)
    return kind.give(stacked, by)


def _with_differences(table: pl.LazyFrame, by: list[str], columns: list[str]) -> pl.LazyFrame:
    """Add the difference of each metric to that of all rows."""
    differences = {f"difference_{name}": name for name in columns if name not in _NO_METRICS}
    refuse_clash([*by, *columns], differences)
    keys = [by_name(name) for name in (*by, "system") if name in (*by, *columns)]
    # A window needs a key.
    keys.append(pl.lit(0))
    of_all_rows = pl.col("slice") == ALL
    new = {}
    for difference, name in differences.items():
        column = by_name(name).cast(pl.Float64)
        whole = column.filter(of_all_rows).first()
        new[difference] = column - whole.over(keys)
    return table.with_columns(**new)


def _text(key: str, dtype: pl.DataType) -> pl.Expr:
    """Write a key as text."""
    text = by_name(key).cast(pl.String)
    if dtype == pl.Datetime:
        # A date at midnight, and a time without parts of a second.
        text = text.str.replace(r"( 00:00:00)?\.0+", "")
    return text.fill_null("null")
