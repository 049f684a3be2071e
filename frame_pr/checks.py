"""What a caller can get wrong about columns, by schema and by content: each with one clear error."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from math import log2
from typing import Any, cast

import polars as pl

_EXAMPLES = 5  # values shown in an error


def refuse_missing(names: Sequence[Any], available: Sequence[Any], where: str = "frame") -> None:
    """Every column is there; else the nearest names."""
    columns = {str(column): column for column in available}
    for name in names:
        if name not in available:
            near = difflib.get_close_matches(str(name), columns, n=3, cutoff=0.5)
            meant = " or ".join(repr(columns[one]) for one in near)
            hint = f"did you mean {meant}?" if near else f"columns: {_examples(available) or 'none'}"
            raise ValueError(f"no column {name!r} in the {where}; {hint}")


def listed(argument: str, value: Any) -> list[Any]:
    """One column or several, as a list."""
    _refuse_data(argument, value, "the name of a column, or several")
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, pl.Expr)) else [value]
    for item in items:
        _refuse_data(argument, item, "the name of a column, or several")
    return items


def refuse_several(argument: str, value: Any) -> None:
    """One column, and not its values."""
    _refuse_data(argument, value, "the name of one column")
    if isinstance(value, (list, set, frozenset, range)):
        raise TypeError(f"{argument} takes the name of one column; got a {type(value).__name__}")


def _refuse_data(argument: str, value: Any, wanted: str) -> None:
    # Asked of the type: a LazyFrame that is asked for its dtypes resolves its plan, and warns.
    kind = type(value)
    if not isinstance(value, str) and (hasattr(kind, "dtype") or hasattr(kind, "dtypes") or isinstance(value, dict)):
        raise TypeError(f"{argument} takes {wanted}; got a {kind.__name__}: add it to the frame and give its name")
    if value is None or callable(value):
        raise TypeError(f"{argument} takes {wanted}; got {value!r}")


def refuse_repeats(items: Sequence[Any]) -> None:
    """No column has two parts to play."""
    names = [item for item in items if not isinstance(item, pl.Expr)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} is given twice: by, truth and score are all different columns")


def refuse_clash(keys: Iterable[str], columns: Iterable[str]) -> None:
    """No key has the name of a result column."""
    for name in set(keys).intersection(columns):
        raise ValueError(f"by column {name!r} is named like a result column: rename it before the call")


def refuse_taken(new: Iterable[str], columns: Sequence[Any]) -> None:
    """No new column has the name of one of the caller's."""
    for name in new:
        if name in columns:
            raise ValueError(f"the frame has a column {name!r} already: prefix= puts something before the new names")


def expanded(source: pl.LazyFrame, argument: str, items: Sequence[Any]) -> dict[str, pl.Expr]:
    """Column names with their expressions, selectors written out."""
    found: dict[str, pl.Expr] = {}
    for item in items:
        if not isinstance(item, pl.Expr):
            names, expressions = [str(item)], [pl.col(str(item))]
        else:
            try:
                names = source.select(item).collect_schema().names()
            except pl.exceptions.PolarsError as error:
                fault = str(error).partition("\n")[0]  # below it, polars prints its plan
                raise ValueError(f"{argument}: this expression does not fit the frame: {fault}") from None
            if not names:
                raise ValueError(f"{argument}: this selector selects no column of the frame")
            # In a group a column becomes a list, and an aggregation does not. A literal is meant for every row.
            of_columns = item.meta.root_names() or item.meta.has_multiple_outputs()
            grouped = source.group_by(pl.lit(0)).agg(value=pl.struct(item)).collect_schema()
            if of_columns and grouped["value"] != pl.List:
                raise ValueError(
                    f"{argument}: this expression gives one value for all rows: leave out the aggregation, or end it "
                    "with .over(...)"
                )
            expressions = [item] if len(names) == 1 else [pl.struct(item).struct.field(name) for name in names]
        for name, expression in zip(names, expressions, strict=True):
            if name in found:
                raise ValueError(f"{argument} gives column {name!r} twice")
            found[name] = expression
    return found


def expanded_one(source: pl.LazyFrame, argument: str, item: Any) -> tuple[str, pl.Expr]:
    """The name and the expression of a column of which there can be but one."""
    found = expanded(source, argument, listed(argument, item))
    if len(found) != 1:
        raise ValueError(f"{argument} gives {len(found)} columns: it must be one")
    return next(iter(found.items()))


def is_positive(column: str, name: str, dtype: pl.DataType, positive: object) -> pl.Expr:
    """Labels as Boolean, where the type of their column allows it."""
    label = pl.col(column)
    if positive is not None:
        try:
            pl.DataFrame(schema={column: dtype}).select(label == pl.lit(positive))
        except (pl.exceptions.PolarsError, TypeError, ValueError):
            raise TypeError(
                f"positive={positive!r} cannot be a value of column {name!r}, which is {dtype}: give one of its labels"
            ) from None
        return label == pl.lit(positive)
    if dtype == pl.Boolean:
        return label
    if dtype == pl.Null:
        raise TypeError(f"column {name!r} is Null, it has no values to tell its type by: cast it before the call")
    if not dtype.is_numeric():
        raise TypeError(f"column {name!r} is {dtype}, neither boolean nor 0/1: name its positive label, positive=...")
    return label != 0


def refuse_text(argument: str, name: str, dtype: pl.DataType) -> None:
    """Weights and totals are numbers."""
    if not dtype.is_numeric():
        raise TypeError(f"{argument} column {name!r} is {dtype}: it must be numeric, so cast it before the call")


def refuse_score_type(name: str, dtype: pl.DataType) -> None:
    """Scores are numbers."""
    if not dtype.is_numeric():
        way = "make numbers of it before the call"
        if dtype == pl.Boolean:
            way = "predicted classes go to confusion(truth, prediction=...)"
        elif dtype == pl.Null:
            way = "it has no values, cast it before the call"
        elif dtype.is_nested():
            way = "take one number of each value before the call, such as the probability of the positive class"
        raise TypeError(f"score column {name!r} is {dtype}: it must be numeric, higher ranking earlier; {way}")


def check_labels(argument: str, name: str, labels: pl.Series, positive: object, ways: str) -> None:
    """Labels are there, and are two; the positive one is among them."""
    missing = count_missing(labels)
    if labels.dtype.is_float():
        labels = labels.fill_nan(None)
    if missing and ways:
        raise ValueError(f"{argument} column {name!r} has {missing} missing of {len(labels)} values: {ways}")
    if positive is None:
        if labels.dtype != pl.Boolean and ((labels != 0) & (labels != 1)).any():
            values = labels.unique().sort()
            way = "name its positive label, positive=..."
            if len(values) > 2:
                way += ", or make it boolean before the call, by a comparison; " + (
                    "truth comes first, then score"
                    if argument == "truth"
                    else "probabilities are a score, with threshold=..."
                )
            raise ValueError(
                f"{argument} column {name!r} is neither boolean nor 0/1, it holds {_examples(values)}: {way}"
            )
    elif argument == "truth" and missing < len(labels) and not _holds(labels, positive):
        raise ValueError(
            f"{argument} column {name!r} has no {positive!r}, it holds {_examples(labels.unique().sort())}: "
            "positive= names one of them"
        )


def _holds(labels: pl.Series, value: object) -> bool:
    # By an expression, as in `is_positive`: a Series does not compare a date with a time.
    return bool(labels.alias("label").to_frame().select((pl.col("label") == pl.lit(value)).any()).item())


def check_score(name: str, score: pl.Series, ways: str) -> None:
    """Scores are there, where they must be, and have at most 63 bits."""
    if ways and (missing := count_missing(score)):
        nan = missing - score.null_count()
        kinds = f" ({score.null_count()} null, {nan} NaN)" if nan else ""
        raise ValueError(f"score column {name!r} has {missing} missing of {len(score)} values{kinds}: {ways}")
    if score.dtype in (pl.Int128, pl.UInt128, pl.Decimal):
        whole = score.reinterpret(dtype=pl.Int128) if score.dtype == pl.Decimal else score
        if not whole.is_between(1 - 2**63, 2**63 - 1).all():
            raise ValueError(
                f"score column {name!r} ({score.dtype}) has values of more than 63 bits: cast it to Float64"
            )


def check_common_type(names: Sequence[str], scores: pl.DataFrame) -> None:
    """Scores of several types are one column in the end, in whose type they must be what they are."""
    common = scores.clear().unpivot().schema["value"]
    for name, score in zip(names, scores, strict=True):
        there = score.cast(common, strict=False)
        # Rounded, a decimal may have a digit more.
        dtype = pl.Decimal(38, score.dtype.scale) if isinstance(score.dtype, pl.Decimal) else score.dtype
        back = there.cast(dtype, strict=False)
        if back.ne_missing(score).any():
            raise ValueError(
                f"score column {name!r} ({score.dtype}) has values that {common}, the type of all scores together, "
                "does not hold: cast the scores to one type, or give them one at a time"
            )
        check_score(name, there, "")


WEIGHT_BITS = 125
"""Bits of the sum of all weights that are floats, in fixed point."""


def check_weight(name: str, weight: pl.Series) -> None:
    """Weights are there, finite and not negative."""
    if missing := count_missing(weight):
        raise ValueError(
            f"weight column {name!r} has {missing} missing of {len(weight)} values: fill them, 0 leaves out"
        )
    if (bad := weight.filter((weight < 0) | (weight.cast(pl.Float64) == float("inf")))).len():
        raise ValueError(f"weight column {name!r} has values below 0 or infinite, such as {bad[0]!r}: weights are >= 0")
    floats = weight.cast(pl.Float64)
    if weight.dtype.is_integer() and floats.sum() > 2**56:
        raise ValueError(f"weight column {name!r} sums up to more than 2**56: cast it to Float64")
    present = floats.filter(floats > 0)
    if weight.dtype.is_integer() or present.is_empty():
        return
    ends = float(cast(float, present.min())), float(cast(float, present.max()))
    if not 1e-100 <= ends[1] <= 1e100:
        raise ValueError(
            f"weight column {name!r} has {ends[1]!r} for its largest value: multiply it by a constant, so that it "
            "lies between 1e-100 and 1e100, which changes no share"
        )
    # In fixed point the smallest weight, too, is to have 40 bits, a relative error of 1e-12.
    if log2(ends[1] / ends[0]) > WEIGHT_BITS - 42 - log2(len(weight)):
        raise ValueError(
            f"weight column {name!r} has values from {ends[0]!r} to {ends[1]!r}, too far apart for exact sums: "
            "evaluate groups of such different weights apart, or drop the smallest"
        )


def count_missing(values: pl.Series) -> int:
    """Nulls and NaNs."""
    return values.null_count() + (int(values.is_nan().sum()) if values.dtype.is_float() else 0)


def one_of(argument: str, value: object, allowed: Sequence[str]) -> None:
    """A policy that there is."""
    if value not in allowed:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def _examples(values: Iterable[Any]) -> str:
    listed = [repr(value) for value in values]
    return ", ".join(listed[:_EXAMPLES]) + (f" and {len(listed) - _EXAMPLES} more" if len(listed) > _EXAMPLES else "")
