"""Checks for data that look like a mistake: each of them raises, or warns with a `DataWarning`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name, map_whole, needed
from frame_pr.frames.kinds import FrameKind
from frame_pr.frames.messages import examples, pluralize, shown, warn
from frame_pr.inputs.request import Request

_SHOWN = 5  # Thresholds in a message.
_DELIBERATE = 1e6  # A threshold this many times as large as all scores selects no row on purpose.
_FIRST = 64  # Rows that are looked at before the whole column: most scores show there that they are not only 0 and 1.


def warn_of_values(
    data: pl.DataFrame, request: Request, is_positive: pl.Expr, truth: str, scores: dict[str, str], keys: Sequence[str]
) -> None:
    """Warn about values that look like a mistake, as far as the request says how the call uses the scores.

    `data` has the columns "truth", `keys` and the keys of `scores`. Messages show the caller's names of these columns:
    the argument `truth` and the values of `scores`.
    """
    use = request.use
    if use is None or not data.height:
        return
    if request.unscored == "drop" and len(scores) > 1:
        _warn_of_no_common_rows(data, scores)
    if use.ranks and all(_is_binary(data[column]) for column in scores):
        for column, name in scores.items():
            _warn_of_binary_score(data, request, is_positive, truth, column, name, keys)
    if use.thresholds:
        for column, name in scores.items():
            _warn_of_scale(name, data[column], use.thresholds)
    if use.averages and request.fills_labels and keys:
        _warn_of_unjudged_groups(data, truth, keys)


def _warn_of_no_common_rows(data: pl.DataFrame, scores: dict[str, str]) -> None:
    present = data.select(list(scores)).with_columns(cs.float().fill_nan(None))
    each_scored = all(column.null_count() < column.len() for column in present)
    if each_scored and not present.drop_nulls().height:
        warn(
            f"unscored: no row has a score in all of {examples(scores.values())}, and unscored='drop' leaves out the "
            "others; compare systems that scored the same rows, or use unscored='unretrieved'"
        )


def _is_binary(score: pl.Series) -> bool:
    """Return whether there are exactly two scores, 0 and 1."""
    if any(value not in (0, 1, None) and value == value for value in score.head(_FIRST).to_list()):
        return False
    present = _present(score)
    return present.min() == 0 and present.max() == 1 and ((present == 0) | (present == 1)).all()


def _present(values: pl.Series) -> pl.Series:
    return (values.fill_nan(None) if values.dtype.is_float() else values).drop_nulls()


def _warn_of_binary_score(
    data: pl.DataFrame, request: Request, is_positive: pl.Expr, truth: str, column: str, name: str, keys: Sequence[str]
) -> None:
    scored = data.select(*keys, column, "truth").with_columns(cs.float().fill_nan(None)).drop_nulls(column)
    if not scored.select(*keys, column).is_duplicated().any():
        return  # No rows of a group are tied, so these scores rank them.
    if scored.select((is_positive == (pl.col(column) == 1)).all() & pl.col("truth").is_not_null().any()).item():
        warn(
            f"score: column {shown(name)} equals the label {shown(truth)} in every row, so every metric has its best "
            "value; give the scores of a model"
        )
    elif scored.schema[column].is_integer() and not {"ties", "tie_break"} & request.policies.keys():
        warn(
            f"score: column {shown(name)} holds only the whole numbers 0 and 1, which look like predicted classes and "
            "hardly rank the rows; give probabilities or scores, use confusion(truth, prediction=...), or give ties= "
            "to say that equal scores are meant"
        )


def _warn_of_scale(name: str, score: pl.Series, thresholds: Sequence[float]) -> None:
    """Warn about thresholds that are all further from the scores than the scores are from each other.

    A negative threshold below all scores, or a threshold that is orders of magnitude larger, is deliberate: it selects
    all rows, or none.
    """
    # Both ignore null, and NaN unless all scores are NaN. Without these scores, the column would be queried twice.
    lowest, highest = score.min(), score.max()
    if lowest is None or highest is None:
        return
    low, high = float(lowest), float(highest)  # type: ignore[arg-type]
    if not low < high or not all(map(isfinite, (low, high, *thresholds))):
        return
    spread, largest, shares = high - low, max(abs(low), abs(high)), low >= 0 and high <= 1
    if all(
        (high + spread < t < largest * _DELIBERATE or 0 < t < low - spread) and t != 0 and not (shares and t <= 1)
        for t in thresholds
    ):
        values = ", ".join(f"{t:g}" for t in thresholds[:_SHOWN]) + (", ..." if len(thresholds) > _SHOWN else "")
        warn(
            f"threshold: {values} {'is' if len(thresholds) == 1 else 'are'} far from all scores of column "
            f"{shown(name)}, which lie between {low:g} and {high:g}; give thresholds on the scale of the scores"
        )


def _warn_of_unjudged_groups(data: pl.DataFrame, truth: str, keys: Sequence[str]) -> None:
    column = data["truth"].fill_nan(None) if data["truth"].dtype.is_float() else data["truth"]
    if not column.null_count():
        return
    judged = data.select(keys).filter(column.is_not_null()).unique().height
    groups = data.select(keys).unique().height
    if judged < groups:
        unjudged = pluralize(groups - judged, "group has", "groups have")
        warn(
            f"unjudged: {unjudged} no label in column {shown(truth)}, of {groups}, and unjudged='negative' makes all "
            "of their rows negatives; trec_eval leaves such groups out, as join_judgments(drop_unjudged=...) does; if "
            "their rows are known to be negative, fill the labels before the call"
        )


COUNT_OF_TALLY = "count"
"""The column that `tally` adds."""


class _Layout(NamedTuple):
    """The columns of a frame that may be a tally, by their roles in one."""

    used: list[str]
    """The columns that the call reads."""
    exact: bool
    """Whether the frame has no other columns but `count`."""
    keys: list[str]
    """The columns before `truth` and after `count`."""
    truth: str
    scores: list[str]
    """The columns between `truth` and `count`; empty if the columns are not in the order of those of a tally."""


def may_be_tally(columns: Sequence[Any], request: Request) -> bool:
    """Return whether a frame has the column that `tally` adds, and the call has no `count=`."""
    return COUNT_OF_TALLY in columns and request.policies.get("count") is None


def columns_read(columns: Sequence[str], request: Request) -> list[str] | None:
    """Return the columns of a frame that are enough for the call; None if all are needed, or expressions name them."""
    names = [str(name) for name in request.columns() if not isinstance(name, pl.Expr)]
    whole = len(names) < len(request.columns()) or may_be_tally(columns, request) or len({*columns}) < len(columns)
    return None if whole else list(dict.fromkeys(names))


def refuse_tally(kind: FrameKind[Any], source: pl.LazyFrame, request: Request) -> pl.LazyFrame:
    """Raise for a tally whose `count` the call does not use; on a LazyFrame when it is collected.

    `tally` sorts its rows by the groups, then by truth, then by score, best first. Rows in this order are an error. If
    the frame has no more columns than a tally and all its rows differ, warn.
    """
    if not may_be_tally(kind.columns, request):
        return source
    layout = _layout_of(kind, source, request)
    if layout is None:
        return source
    check = partial(_refuse_unused_count, layout=layout, request=request)
    if kind.height is None:
        return map_whole(source, check, source.collect_schema())
    with suppress(TypeError):  # A pandas column that the call does not use, and that polars cannot read.
        check(kind.read(kind.columns).collect())
    return source


def _layout_of(kind: FrameKind[Any], source: pl.LazyFrame, request: Request) -> _Layout | None:
    """Return the layout of a frame; None if its columns are not those of a tally."""
    score_argument = "prediction" if request.predicted else "score"
    truth, scores = (_names(source, request.arguments[name]) for name in ("truth", score_argument))
    used, columns = _names(source, request.columns()), [str(name) for name in kind.columns]
    if COUNT_OF_TALLY in used or len(truth) != 1 or not scores or len({*columns}) < len(columns):
        return None
    place, end = columns.index(truth[0]), columns.index(COUNT_OF_TALLY)
    # `by, truth, score, ..., count`; a column that the caller added later comes last and is constant, at least in a
    # group.
    keys, ranked = [*columns[:place], *columns[end + 1 :]], columns[place + 1 : end]
    exact = {*columns} == {*used, COUNT_OF_TALLY}
    ordered = place < end and {*scores} <= {*ranked} <= {*used}
    return _Layout(used, exact, keys, truth[0], ranked if ordered else []) if exact or ordered else None


def _names(source: pl.LazyFrame, items: Sequence[Any]) -> list[str]:
    """Return the columns of the frame that these items read, each of them once."""
    named = [str(item) for item in items if not isinstance(item, pl.Expr)]
    return list(dict.fromkeys([*named, *needed(source, [item for item in items if isinstance(item, pl.Expr)])]))


def _refuse_unused_count(data: pl.DataFrame, layout: _Layout, request: Request) -> pl.DataFrame:
    """Return the frame, and raise or warn as `refuse_tally` says."""
    counts = data[COUNT_OF_TALLY]
    # If every count is 1, the values are the same with and without count=.
    if not counts.dtype.is_integer() or counts.null_count() or not (counts >= 1).all() or not (counts > 1).any():
        return data
    advice = 'give count="count"' + (" (in confusion_matrix, weight=)" if request.predicted else "")
    advice += ", or drop or rename the column if it is something else"
    if layout.scores and _in_order_of_tally(data, layout, ascending=request.ascending):
        raise ValueError(
            f"count: this frame looks like one that tally made, and the call does not use its column 'count'; {advice}"
        )
    if layout.exact and not data.select(map(by_name, layout.used)).is_duplicated().any():
        warn(
            f"count: the call does not use the column 'count', and no two rows are equal in {examples(layout.used)}, "
            f"as in a frame that tally made; {advice}"
        )
    return data


def _in_order_of_tally(data: pl.DataFrame, layout: _Layout, *, ascending: bool) -> bool:
    """Return whether the scores of each truth fall within a group, and rise where the truth does.

    Rows sorted only by the score never meet the second condition, and rows in another order never meet the first.
    """
    truth, score = by_name(layout.truth), by_name(layout.scores[0])
    if data.schema[layout.truth].is_nested() or not data.schema[layout.scores[0]].is_numeric():
        return False  # The checks of columns report it.
    same_group = pl.all_horizontal(pl.lit(True), *map(_as_above, layout.keys))
    falls, rises = score < score.shift(), score > score.shift()
    if ascending:
        falls, rises = rises, falls
    falls |= score.is_null() & score.shift().is_not_null()
    same_rows = pl.all_horizontal(same_group, *map(_as_above, [layout.truth, *layout.scores[1:]]))
    sorted_by_score = (~same_rows | falls).fill_null(True).all()
    starts_anew = (same_group & (truth > truth.shift()) & rises).fill_null(False).any()
    return bool(data.select(sorted_by_score & starts_anew).item())


def _as_above(name: str) -> pl.Expr:
    """Return whether a column has the value of the row above."""
    return by_name(name).eq_missing(by_name(name).shift())
