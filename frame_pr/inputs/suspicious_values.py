"""Values that look like a mistake and may still be meant: each gets a `DataWarning`.

A test of the first few rows ends each check early, so rows that are in order cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import polars as pl
import polars.selectors as cs

from frame_pr.frames.wording import pluralize, shown, warn
from frame_pr.inputs.request import Request

_SHOWN = 5  # thresholds in a message
_DELIBERATE = 1e6  # times the largest score
_FIRST = 64
"""Rows of which one that is neither 0 nor 1 shows that a score is none of predicted classes."""


def warn_of_values(
    data: pl.DataFrame, request: Request, is_positive: pl.Expr, truth: str, scores: dict[str, str], keys: Sequence[str]
) -> None:
    """Warn of values that look like a mistake, if the request says what it makes of the scores.

    `data` has the columns `truth`, the keys and those of `scores`, which the caller calls `truth` and so on.
    """
    use = request.use
    if use is None or not data.height:
        return
    if use.ranks and all(_is_binary(data[column]) for column in scores):
        for column, name in scores.items():
            _warn_of_binary_score(data, request, is_positive, truth, column, name, keys)
    if use.thresholds:
        for column, name in scores.items():
            _warn_of_scale(name, data[column], use.thresholds)
    if use.averages and request.unjudged == "negative" and keys:
        _warn_of_unjudged_groups(data, truth, keys)


def _is_binary(score: pl.Series) -> bool:
    """Whether there are two scores, 0 and 1."""
    if any(value not in (0, 1, None) and value == value for value in score.head(_FIRST).to_list()):
        return False
    present = _present(score)
    return bool(len(present)) and present.min() == 0 and present.max() == 1 and ((present == 0) | (present == 1)).all()


def _present(values: pl.Series) -> pl.Series:
    return (values.fill_nan(None) if values.dtype.is_float() else values).drop_nulls()


def _warn_of_binary_score(
    data: pl.DataFrame,
    request: Request,
    is_positive: pl.Expr,
    truth: str,
    column: str,
    name: str,
    keys: Sequence[str],
) -> None:
    scored = data.select(*keys, column, "truth").with_columns(cs.float().fill_nan(None)).drop_nulls(column)
    if not scored.select(*keys, column).is_duplicated().any():
        return  # the first and the second row of each group
    equal = scored.select((is_positive == (pl.col(column) == 1)).all() & pl.col("truth").is_not_null().any()).item()
    if equal:
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
    """Warn of thresholds that are all further from the scores than the scores are from each other.

    A negative one below all scores, or one that is orders of magnitude larger, is meant: all rows, or none.
    """
    present = _present(score)
    if not len(present):
        return
    low, high = float(present.min()), float(present.max())  # type: ignore[arg-type]
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
