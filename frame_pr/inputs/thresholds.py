"""Thresholds as integer codes that scores are compared with, and thresholds for each group."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, copysign, floor, inf, isinf, nextafter
from sys import float_info
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.dispatch import find_kind
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.rows import OutputFrame, Rows, present
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.totals import constant_in_groups
from frame_pr.inputs.values import keyed_value

_FLOATS: Mapping[Any, tuple[str, float]] = {
    pl.Float16: ("e", 65504.0),
    pl.Float32: ("f", 2.0**128 - 2.0**104),
    pl.Float64: ("d", float_info.max),
}
"""The format of `struct` and the largest finite value of each dtype."""
_GROUP = "group of the rows"  # A column next to keys of any name.


def code_reached(threshold: Fraction | float, key: SortKey) -> int | pl.Expr:
    """Return the code (`sort_keys.score_code`) of the worst score that reaches the threshold.

    Integer and decimal scores are compared exactly. Floats are compared in their own dtype, in
    which 0.1 is the nearest float to 0.1; a threshold that this dtype would make infinite is
    compared exactly too. If the dtypes of the systems' scores give several codes, the result is an
    expression that looks up the code by the number of the group: groups of n systems are numbered
    so that `group % n` is the system.
    """
    worst = [worst_reached(threshold, dtype, ascending=key.ascending) for dtype in key.score_dtypes]
    codes = [_code(value, key.dtype, ascending=key.ascending) for value in worst]
    if len(set(codes)) == 1:
        return codes[0]
    return pl.lit(pl.Series(codes, dtype=pl.Int128)).gather(pl.col("group") % len(codes))


def worst_reached(
    threshold: Fraction | float, dtype: pl.DataType, *, ascending: bool
) -> float | Fraction:
    """Return the worst value of this dtype that reaches the threshold."""
    if isinf(threshold):
        return threshold
    if dtype.is_float():
        struct_format, largest = _FLOATS[dtype.base_type()]
        nearest = _nearest(threshold, struct_format)
        # If the threshold is beyond the range of the dtype, the finite values on its inner side end
        # at the largest one.
        return (
            copysign(largest, nearest) if isinf(nearest) and (nearest > 0) == ascending else nearest
        )
    scaled = Fraction(threshold) * _unit(dtype)
    return Fraction(floor(scaled) if ascending else ceil(scaled), _unit(dtype))


def _code(value: float | Fraction, dtype: pl.DataType, *, ascending: bool) -> int:
    """Return the code of this value, or of the nearest better one; a code beyond all others if there is none."""
    lowest, highest = -(2**63) - 1, 2**64
    if dtype.is_float():
        nearest = _nearest(value, "d")
        if nearest > value if ascending else nearest < value:
            nearest = nextafter(nearest, -inf if ascending else inf)
        bits = int(struct.unpack("q", struct.pack("d", nearest + 0.0))[0])  # Replace -0.0 by 0.0.
        return bits if bits >= 0 else -(2**63) + ~bits
    if isinstance(value, float) and isinf(value):
        return highest if value > 0 else lowest
    scaled = Fraction(value) * _unit(dtype)
    return min(max(floor(scaled) if ascending else ceil(scaled), lowest), highest)


def _unit(dtype: pl.DataType) -> int:
    """Return how many of the smallest steps of this dtype make 1."""
    return int(10**dtype.scale) if isinstance(dtype, pl.Decimal) else 1


def _nearest(value: float | Fraction, struct_format: str) -> float:
    """Return the nearest float of this format; an infinite one if the value is beyond its range."""
    try:
        return float(struct.unpack(struct_format, struct.pack(struct_format, float(value)))[0])
    except OverflowError:
        return inf if value > 0 else -inf


def predicted_by_group(
    rows: Rows, output: OutputFrame[Any], threshold: Any
) -> tuple[Rows, pl.LazyFrame]:
    """Return the rows with score 1 where they reach the threshold of their group and 0 elsewhere, and the thresholds.

    A row without a score, or with a null threshold, has no score. `threshold`: a frame, or the
    column whose values the rows have as `threshold`.
    """
    if len(set(rows.key.score_dtypes)) > 1:
        raise TypeError(
            "threshold= of groups is compared with scores of one type: cast the scores to one"
        )
    if isinstance(threshold, (str, pl.Expr)):
        name = (
            threshold
            if isinstance(threshold, str)
            else threshold.meta.output_name(raise_if_undetermined=False)
        )
        column = name or "threshold"
        thresholds = constant_in_groups(
            present(rows.frame), "threshold", column, may_be_null=True
        ).lazy()
    else:
        thresholds = _in_frame(rows, output, threshold)
    frame = rows.frame.drop("threshold", strict=False).join(
        thresholds, on="group", how="left", maintain_order="left"
    )
    reached = _reached(
        rows.key.score_dtypes[0],
        thresholds.collect_schema()["threshold"],
        ascending=rows.key.ascending,
    )
    predicted = replace(
        rows,
        frame=frame.with_columns(score=reached.cast(pl.Int8)).drop("threshold"),
        key=replace(
            rows.key,
            dtype=pl.Int8(),
            ascending=False,
            score_dtypes=[pl.Int8()] * len(rows.key.score_dtypes),
        ),
    )
    return predicted, thresholds


def _in_frame(rows: Rows, output: OutputFrame[Any], threshold: Any) -> pl.LazyFrame:
    """Return the threshold of each group from a frame with some of the keys, or without keys and with one row."""
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
    places = [f"key{i}" for i in range(len(keys))]
    value = by_name(column).fill_nan(None) if types[column].is_float() else by_name(column)
    values = threshold_table.select(
        **dict(zip(places, typed.values(), strict=True)), threshold=value, has_row=True
    )
    groups = groups.select(
        _GROUP, *(by_name(key).alias(place) for key, place in zip(keys, places, strict=True))
    )
    joined = (
        groups.join(values, on=places, how="left", nulls_equal=True)
        if keys
        else groups.join(values, how="cross")
    )
    table = joined.collect()
    if (again := table[_GROUP].is_duplicated()).any():
        where = f" of {shown(table.filter(again).select(places).row(0))}" if keys else ""
        raise ValueError(
            f"threshold frame has several rows{where}: it must have one for each group"
        )
    if missing := table["has_row"].null_count():
        key = table.filter(pl.col("has_row").is_null()).select(places).row(0)
        raise ValueError(
            f"threshold frame has no row for {missing} of {pluralize(table.height, 'group', 'groups')}, such as "
            f"{shown(key if len(key) > 1 else key[0])}: every group of the frame needs one; write null for an "
            "unknown threshold"
        )
    return table.lazy().select(pl.col(_GROUP).alias("group"), "threshold")


def _reached(dtype: pl.DataType, threshold_dtype: pl.DataType, *, ascending: bool) -> pl.Expr:
    """Return whether `score` is as good as `threshold`, compared as `worst_reached` does."""
    score, threshold = pl.col("score"), pl.col("threshold")
    if dtype.is_float():
        rounded, exact = threshold.cast(dtype).cast(pl.Float64), threshold.cast(pl.Float64)
        limit = pl.when(rounded.is_infinite()).then(exact).otherwise(rounded)
        score = score.cast(pl.Float64)
    else:
        digits, unit = dtype.scale if isinstance(dtype, pl.Decimal) else 0, _unit(dtype)
        if isinstance(threshold_dtype, pl.Decimal):
            limit = _in_digits(
                threshold.to_physical(), digits - threshold_dtype.scale, up=not ascending
            )
        elif threshold_dtype.is_integer():
            limit = _in_digits(threshold.cast(pl.Int128), digits, up=not ascending)
        else:
            number = threshold.cast(pl.Float64)
            beyond = (number * unit).clip(-1e30, 1e30)
            limit = (beyond.floor() if ascending else beyond.ceil()).cast(pl.Int128)
            if isinstance(dtype, pl.Decimal):
                # 0.07 is 7 hundredths, but not as a product of floats, so read its digits as a
                # decimal. There are at most 17 digits, and 18 places after the last one of the
                # scores cut none of them from half a unit on.
                places = min(digits + 18, 38)
                text = number.clip(-(2.0**64) / unit, 2.0**64 / unit).cast(pl.String)
                exact = text.cast(pl.Decimal(38, places)).to_physical()
                exact_limit = _in_digits(exact, digits - places, up=not ascending)
                limit = pl.when((number * unit).abs() < 0.5).then(limit).otherwise(exact_limit)
        score = score.to_physical() if isinstance(dtype, pl.Decimal) else score.cast(pl.Int128)
    return score <= limit if ascending else score >= limit


def _in_digits(number: pl.Expr, more: int, *, up: bool) -> pl.Expr:
    """Return a decimal as an integer of its last digit, with more or fewer digits; rounded up or down."""
    step = pl.lit(10 ** abs(more), dtype=pl.Int128)
    if more < 0:
        return number // step + (number % step != 0) if up else number // step
    # No score has more than 64 bits, so clip a larger number to one whose product an Int128 holds.
    most = 2**64 // 10**more + 1
    return number.clip(-most, most) * step
