"""Validate the inputs of an expression: missing scores or labels, wrong dtypes, wrong lengths.

An expression does not know the schema, and the errors of polars about dtypes and lengths do not help. So each column
passes through a function that receives its dtype. A column of a wrong dtype becomes nulls, from which every formula can
be computed. Then no other error comes first, and `validate_rows` reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import polars as pl

from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.values import label_of, refuse_score_type, type_of

_PLAN = "\n\nThis error occurred"
_ADVICE = "drop these rows, or fill them, before the call"


class ExpressionError(ValueError):
    """A `ValueError` whose message also ends the text: polars writes its plan after the message of an error."""

    # Tracebacks show the class under the name of its base.
    __module__ = "builtins"
    __qualname__ = "ValueError"

    def __init__(self, message: str) -> None:
        sentence, _, plan = message.partition(_PLAN)
        text = message.removesuffix(sentence).rstrip()
        super().__init__(f"{text}\n\n{sentence}" if plan else message)


def single(column: pl.Expr) -> pl.Expr:
    """Return the column that a selector selects, or a struct of several, which `validate_rows` refuses."""
    if not column.meta.has_multiple_outputs():
        return column
    return pl.struct(column).map_batches(_single_field, is_elementwise=True)


def typed_score(score: pl.Expr) -> pl.Expr:
    """Return the score column, or nulls if its dtype is wrong."""
    return score.map_batches(_number, is_elementwise=True)


def typed_label(truth: pl.Expr, score: pl.Expr, positive: object) -> pl.Expr:
    """Return the label column with NaN as null, or nulls if its dtype is wrong."""
    return pl.map_batches([truth, score], partial(_label, positive=positive), is_elementwise=True)


def validate_rows(score: pl.Expr, truth: pl.Expr, positive: object) -> pl.Expr:
    """Return true for each group; raise if its scores or labels are invalid."""
    # Only floats may be NaN, and every number dtype has a sign.
    no_score = typed_score(score).sign().cast(pl.Float64).is_nan().fill_null(True)
    unknown = partial(_unknown, positive=positive)
    no_label = pl.map_batches([truth, score], unknown, return_dtype=pl.Boolean, is_elementwise=True)
    # Aggregate first, so that polars calls the function once for all groups. A first value has the dtype of its column.
    aggregates = [score.first(), truth.first(), score.len(), truth.len(), no_score.sum(), no_label.sum()]
    check = partial(_check_groups, score=_name(score), truth=_name(truth), positive=positive)
    return pl.map_batches(aggregates, check, return_dtype=pl.Boolean, is_elementwise=True)


def _single_field(columns: pl.Series) -> pl.Series:
    fields = columns.struct.unnest()
    return columns if fields.width > 1 else fields.to_series()


def _number(score: pl.Series) -> pl.Series:
    return score if score.dtype.is_numeric() else _nulls(score.name, pl.Float64(), len(score))


def _unknown(columns: Sequence[pl.Series], positive: object) -> pl.Series:
    """Return which labels are missing or not one of two values; all of them if the column has another dtype."""
    label = _label(columns, positive)
    if positive is not None or label.dtype == pl.Boolean:
        return label.is_null() if label.null_count() else pl.Series([False]).new_from_index(0, len(label))
    binary = (label == 0) | (label == 1)
    # With few rows, other methods of a Series take as long as the whole query.
    return ~binary if binary.null_count() == 0 else ~binary.fill_null(False)


def _label(columns: Sequence[pl.Series], positive: object) -> pl.Series:
    """Return the labels; nulls if their dtype is wrong, or if they are not as many as the scores."""
    truth, score = columns[0], columns[-1]
    dtype = truth.dtype
    is_valid = dtype == pl.Boolean or dtype.is_numeric() if positive is None else _misfit("", dtype, positive) is None
    if is_valid and len(truth) == len(score):
        return truth.fill_nan(None) if positive is not None and dtype.is_float() else truth
    if not is_valid:
        dtype = pl.Boolean() if positive is None else pl.select(label=pl.lit(positive)).schema["label"]
    return _nulls(truth.name, dtype, len(score))


def _nulls(name: str, dtype: pl.DataType, length: int) -> pl.Series:
    return pl.Series(name, [None], dtype=dtype).new_from_index(0, length)


def _misfit(name: str, dtype: pl.DataType, positive: object) -> str | None:
    """Explain why a value cannot be the positive label of a column."""
    try:
        return _cached_misfit(name, dtype, positive)
    except TypeError:  # The value has no hash.
        return _compute_misfit(name, dtype, positive)


def _compute_misfit(name: str, dtype: pl.DataType, positive: object) -> str | None:
    try:
        label_of(name, dtype, positive)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


# polars evaluates this several times per query, so cache it. The type is part of the key because True equals 1.
_cached_misfit: Callable[[str, pl.DataType, object], str | None] = lru_cache(maxsize=256, typed=True)(_compute_misfit)


def _check_groups(aggregates: Sequence[pl.Series], score: str, truth: str, positive: object) -> pl.Series:
    """Return true for each group; raise if the aggregates of `validate_rows` show invalid scores or labels."""
    scores, truths, *counts = aggregates
    for argument, first, name in (("score", scores, score), ("truth", truths, truth)):
        if isinstance(first.dtype, pl.Struct) and not name:
            raise ExpressionError(
                f"{argument} gives several columns: an expression takes one, evaluate takes a list of scores"
            )
    try:
        refuse_score_type(score, scores.dtype)
    except TypeError as error:
        raise ExpressionError(str(error)) from None
    if positive is not None and (fault := _misfit(truth, truths.dtype, positive)):
        raise ExpressionError(fault)
    if positive is None and not (truths.dtype == pl.Boolean or truths.dtype.is_numeric()):
        is_nested = truths.dtype.is_nested()
        advice = "it must have one label in a row" if is_nested else "name its positive label, positive=..."
        raise ExpressionError(f"truth {shown(truth)} is {type_of(truths.dtype)}, neither boolean nor 0/1: {advice}")
    groups = max(map(len, counts))
    counts = [series if len(series) == groups else series.new_from_index(0, groups) for series in counts]
    rows, labels, no_score, no_label = counts
    if (rows != labels).any():
        place = (rows != labels).arg_max() or 0
        raise ExpressionError(_explain_lengths(score, truth, rows[place], labels[place]))
    for argument, name, missing in (("score", score, no_score), ("truth", truth, no_label)):
        if (missing > 0).any():
            place = (missing > 0).arg_max() or 0
            column = f"{argument} {shown(name)}"
            of_all = pluralize(rows[place], "value", "values") + ("" if groups == 1 else " of a group")
            finding = f"{column} has {missing[place]} missing of {of_all} (null or NaN)"
            if argument == "truth" and positive is None:
                finding = f"{column} has {missing[place]} of {of_all} missing, or neither true, false, 0 nor 1"
            raise ExpressionError(f"{finding}; {_ADVICE}")
    return pl.Series([True]).new_from_index(0, groups)


def _explain_lengths(score: str, truth: str, rows: int, labels: int) -> str:
    if rows == 1:
        finding = f"score {shown(score)} gives 1 value for {pluralize(labels, 'row', 'rows')}"
        return f"{finding}: leave out the aggregation, or end it with .over(...)"
    if labels == 1:
        finding = f"truth {shown(truth)} gives 1 value for {pluralize(rows, 'row', 'rows')}"
        return f"{finding}: it must give one for every row"
    return f"score {shown(score)} gives {rows} values and truth {shown(truth)} {labels}: filter both in the same way"


def _name(column: pl.Expr) -> str:
    return column.meta.output_name(raise_if_undetermined=False) or ""
