"""A frame that `tally` made, in a call without `count=`: its rows stand for several, and would count once each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, needed
from frame_pr.frames.kinds import FrameKind
from frame_pr.frames.wording import examples, warn
from frame_pr.inputs.request import Request

_COUNT = "count"
"""The column that `tally` adds."""


class _Layout(NamedTuple):
    """The columns of a frame that may be a tally, by what they would be there."""

    used: list[str]
    """The columns that the call reads."""
    exact: bool
    """Whether the frame has no other columns but `count`."""
    keys: list[str] | None
    """The columns before `truth` or behind `count`; None if the columns are not in the order of those of a tally."""
    truth: str
    score: str
    rest: list[str]
    """The columns between the first score and `count`."""
    ascending: bool
    predicted: bool


def refuse_tally(kind: FrameKind[Any], source: pl.LazyFrame, request: Request) -> pl.LazyFrame:
    """Raise for a tally whose `count` the call does not use; on a LazyFrame when it is collected.

    `tally` sorts its rows by the groups, then by truth, then by score, the best first. Rows in this order are an error;
    if the frame has no more columns than a tally and its rows are all different, a warning.
    """
    if _COUNT not in kind.columns or request.policies.get("count") is not None:
        return source
    layout = _layout(kind, source, request)
    if layout is None:
        return source
    names = [
        *(layout.used if layout.keys is None else [*layout.keys, layout.truth, layout.score, *layout.rest]),
        _COUNT,
    ]
    if kind.height is not None:
        labels = {str(name): name for name in kind.columns}
        with suppress(TypeError):  # a column of pandas that the call does not use, and polars cannot read
            _check(kind.read([labels[name] for name in names]).select(map(by_name, names)).collect(), layout)
        return source

    def check(data: pl.DataFrame) -> pl.DataFrame:
        _check(data, layout)
        return data

    return source.map_batches(
        check,
        schema=source.collect_schema(),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _layout(kind: FrameKind[Any], source: pl.LazyFrame, request: Request) -> _Layout | None:
    arguments = request.arguments
    truth, scores = (
        _names(source, arguments[name]) for name in ("truth", "prediction" if request.predicted else "score")
    )
    used = _names(source, request.columns())
    columns = [str(name) for name in kind.columns]
    if _COUNT in used or len(truth) != 1 or not scores or len({*columns}) < len(columns):
        return None
    place, end = columns.index(truth[0]), columns.index(_COUNT)
    # `by, truth, score, ..., count`; what the caller added later stands behind and is constant or of the groups.
    keys, ranked = [*columns[:place], *columns[end + 1 :]], columns[place + 1 : end]
    exact = {*columns} == {*used, _COUNT}
    ordered = place < end and {*scores} <= {*ranked} <= {*used}
    if not exact and not ordered:
        return None
    return _Layout(
        used=used,
        exact=exact,
        keys=keys if ordered else None,
        truth=truth[0],
        score=ranked[0] if ordered else scores[0],
        rest=ranked[1:] if ordered else [],
        ascending=request.ascending,
        predicted=request.predicted,
    )


def _names(source: pl.LazyFrame, items: Sequence[Any]) -> list[str]:
    """The columns of the frame that these items read."""
    named = [str(item) for item in items if not isinstance(item, pl.Expr)]
    return list(dict.fromkeys([*named, *needed(source, [item for item in items if isinstance(item, pl.Expr)])]))


def _check(data: pl.DataFrame, layout: _Layout) -> None:
    counts = data[_COUNT]
    # Where each count is 1, the values are the same with and without count=.
    if not counts.dtype.is_integer() or counts.null_count() or not data.height:
        return
    if counts.min() < 1 or counts.max() == 1:  # type: ignore[operator]
        return
    way = 'give count="count"' + (" (in confusion_matrix, weight=)" if layout.predicted else "")
    way += ", or drop or rename the column if it is something else"
    if layout.keys is not None and _in_order_of_tally(data, layout):
        raise ValueError(
            f"count: this frame looks like one that tally made, and the call does not use its column 'count'; {way}"
        )
    if layout.exact and not data.select(map(by_name, layout.used)).is_duplicated().any():
        warn(
            f"count: the call does not use the column 'count', and no two rows are equal in {examples(layout.used)}, "
            f"as in a frame that tally made; {way}"
        )


def _in_order_of_tally(data: pl.DataFrame, layout: _Layout) -> bool:
    """Whether the scores of each truth fall within a group, and rise where the truth does.

    Rows sorted by the score alone never do the second, and rows in another order do not do the first.
    """
    truth, score = by_name(layout.truth), by_name(layout.score)
    if data.schema[layout.truth].is_nested() or not data.schema[layout.score].is_numeric():
        return False  # told by the checks of the columns
    same_group = pl.all_horizontal(pl.lit(True), *map(_as_above, layout.keys or []))
    falls, rises = score < score.shift(), score > score.shift()
    if layout.ascending:
        falls, rises = rises, falls
    falls |= score.is_null() & score.shift().is_not_null()
    alike = pl.all_horizontal(same_group, *map(_as_above, [layout.truth, *layout.rest]))
    sorted_by_score = (~alike | falls).fill_null(True).all()
    starts_anew = (same_group & (truth > truth.shift()) & rises).fill_null(False).any()
    return bool(data.select(sorted_by_score & starts_anew).item())


def _as_above(name: str) -> pl.Expr:
    return by_name(name).eq_missing(by_name(name).shift())
