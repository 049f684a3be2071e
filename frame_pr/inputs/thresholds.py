"""Thresholds for each group, from a column or a frame."""

from __future__ import annotations

from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.dispatch import find_kind
from frame_pr.inputs.request import without_rows
from frame_pr.inputs.results import OutputFrame
from frame_pr.inputs.rows import Rows, groups_of
from frame_pr.inputs.totals import constant_in_groups, numbers_in_frame, totals_frame


def predicted_by_group(
    rows: Rows, output: OutputFrame[Any], threshold: Any
) -> tuple[Rows, pl.LazyFrame]:
    """Return the thresholds, and the rows with score 1 if they reach that of their group, else 0.

    A row without a score, or with a null threshold, has no score. `threshold`: a frame, or the
    column whose values the rows have as `threshold`.
    """
    if len(set(rows.score_dtypes)) > 1:
        raise TypeError(
            "threshold= of groups is compared with scores of one type: cast the scores to one"
        )
    if isinstance(threshold, (str, pl.Expr)):
        thresholds = _in_column(rows, threshold)
    else:
        thresholds = _in_frame(rows, output, threshold)
    frame = rows.frame.drop("threshold", strict=False)
    frame = frame.join(thresholds, on="group", how="left", maintain_order="left")
    dtype = thresholds.collect_schema()["threshold"]
    reached = _reached(rows.score_dtypes[0], dtype, ascending=rows.request.ascending)
    frame = frame.with_columns(score=reached.cast(pl.Int8)).drop("threshold")
    request = rows.request._replace(ascending=False)
    dtypes = [pl.Int8()] * len(rows.score_dtypes)
    return rows._replace(frame=frame, request=request, score_dtypes=dtypes), thresholds


def _in_column(rows: Rows, threshold: str | pl.Expr) -> pl.LazyFrame:
    """Return the threshold of each group from a column."""
    name: str | None
    if isinstance(threshold, str):
        name = threshold
    else:
        name = threshold.meta.output_name(raise_if_undetermined=False)
    frame = rows.frame
    if "absent" in frame.collect_schema():
        frame = frame.filter(~pl.col("absent"))
    return constant_in_groups(frame, "threshold", name or "threshold", rows.height).lazy()


def _in_frame(rows: Rows, output: OutputFrame[Any], threshold: Any) -> pl.LazyFrame:
    """Return the threshold of each group from a frame with some of the keys, or with one row."""
    if not rows.height:
        # The schema of a result needs no rows of a LazyFrame.
        threshold = without_rows(threshold)
    kind = find_kind(threshold)
    assert kind is not None
    keys = {key: column for key, column in output.key_columns.items() if key in kind.columns}
    _, (kind,) = output.kind.with_keys(list(keys), [kind])
    groups = groups_of(rows, output)
    schema = groups.collect_schema()
    frame = totals_frame(kind, "threshold", keys, schema, "some of those of by")
    advice = "; write null for an unknown threshold"
    numbers = numbers_in_frame(frame, groups, has_rows=rows.height > 0, advice=advice)
    return numbers.lazy().with_columns((cs.by_name("threshold") & cs.float()).fill_nan(None))


def _reached(dtype: pl.DataType, threshold_dtype: pl.DataType, *, ascending: bool) -> pl.Expr:
    """Return whether `score` is as good as `threshold`, compared as `worst_reached` does."""
    score = pl.col("score")
    threshold = pl.col("threshold")
    number = threshold.cast(pl.Float64)
    if dtype.is_float():
        # A threshold that the dtype of the scores would make infinite is compared exactly.
        rounded = threshold.cast(dtype).cast(pl.Float64)
        limit = pl.when(rounded.is_infinite()).then(number).otherwise(rounded)
        score = score.cast(pl.Float64)
    elif isinstance(dtype, pl.Decimal) and isinstance(threshold_dtype, pl.Decimal):
        limit = threshold
    elif isinstance(dtype, pl.Decimal) or isinstance(threshold_dtype, pl.Decimal):
        # Equal decimals of up to 15 digits are equal floats.
        limit = number
        score = score.cast(pl.Float64)
    else:
        score = score.cast(pl.Int128)
        limit = threshold.cast(pl.Int128)
        if threshold_dtype.is_float():
            whole = number.floor() if ascending else number.ceil()
            limit = whole.clip(-1e30, 1e30).cast(pl.Int128)
    if ascending:
        return score <= limit
    return score >= limit
