"""Thresholds for each group, from a column or a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.dispatch import find_kind
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.results import OutputFrame
from frame_pr.inputs.rows import Rows, present
from frame_pr.inputs.totals import constant_in_groups
from frame_pr.inputs.values import keyed_value

_GROUP = "group of the rows"  # A column next to keys of any name.


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
    request = replace(rows.request, ascending=False)
    dtypes = [pl.Int8()] * len(rows.score_dtypes)
    predicted = replace(
        rows, frame=frame, request=request, score_dtype=pl.Int8(), score_dtypes=dtypes
    )
    return predicted, thresholds


def _in_column(rows: Rows, threshold: str | pl.Expr) -> pl.LazyFrame:
    """Return the threshold of each group from a column."""
    name: str | None
    if isinstance(threshold, str):
        name = threshold
    else:
        name = threshold.meta.output_name(raise_if_undetermined=False)
    present_rows = present(rows.frame)
    column = name or "threshold"
    return constant_in_groups(present_rows, "threshold", column, may_be_null=True).lazy()


def _in_frame(rows: Rows, output: OutputFrame[Any], threshold: Any) -> pl.LazyFrame:
    """Return the threshold of each group from a frame with some of the keys, or with one row."""
    kind = find_kind(threshold)
    assert kind is not None
    _, (kind,) = output.kind.with_keys([key for key in output.keys if key in kind.columns], [kind])
    threshold_table = kind.read(kind.columns)
    if not rows.height:
        threshold_table = (
            threshold_table.clear()
        )  # The schema of a result needs no rows of a LazyFrame.
    types = threshold_table.collect_schema()
    keys = [key for key in output.keys if key in types]
    groups = output.restore(
        rows.frame.select("group").unique().with_columns(pl.col("group").alias(_GROUP))
    )
    schema = groups.collect_schema()
    column, typed = keyed_value(
        "threshold", types, {key: schema[key] for key in keys}, "some of those of by"
    )
    # A key that the dtype of the rows cannot hold is that of no group, and not a missing key.
    for name, cast_key in typed.items():
        fits = cast_key.is_null() == by_name(name).is_null()
        threshold_table = threshold_table.filter(fits)
    places = [f"key{i}" for i in range(len(keys))]
    value = by_name(column)
    if types[column].is_float():
        value = value.fill_nan(None)
    typed_keys = dict(zip(places, typed.values(), strict=True))
    values = threshold_table.select(**typed_keys, threshold=value, has_row=True)
    keys_of_groups = [by_name(key).alias(place) for key, place in zip(keys, places, strict=True)]
    groups = groups.select(_GROUP, *keys_of_groups)
    if keys:
        joined = groups.join(values, on=places, how="left", nulls_equal=True)
    else:
        joined = groups.join(values, how="cross")
    table = joined.collect()

    is_repeated = table[_GROUP].is_duplicated()
    if is_repeated.any():
        where = ""
        if keys:
            where = f" of {shown(table.filter(is_repeated).select(places).row(0))}"
        raise ValueError(
            f"threshold frame has several rows{where}: it must have one for each group"
        )
    missing = table["has_row"].null_count()
    if missing:
        key = table.filter(pl.col("has_row").is_null()).select(places).row(0)
        raise ValueError(
            f"threshold frame has no row for {missing} of "
            f"{pluralize(table.height, 'group', 'groups')}, such as "
            f"{shown(key if len(key) > 1 else key[0])}: every group of the frame needs one; write "
            f"null for an "
            "unknown threshold"
        )
    return table.lazy().select(pl.col(_GROUP).alias("group"), "threshold")


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
