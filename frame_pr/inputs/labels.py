"""Labels of many classes: which there are, and that a column holds no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_pr.frames.arguments import several
from frame_pr.frames.messages import examples, pluralize, shown
from frame_pr.inputs.values import TEXTS, comparable, type_of


def listed_classes(argument: str, classes: Any) -> list[Any]:
    """The labels that a caller lists, each once."""
    if isinstance(classes, (str, int, float)):
        raise TypeError(f"{argument} takes a list of labels, got {shown(classes)}; write [{shown(classes)}]")
    labels = several(argument, classes, "labels")
    for label in labels:
        if label is None or label != label:
            raise ValueError(f"{argument} takes labels, and {shown(label)} is none")
        if labels.count(label) > 1:
            raise ValueError(f"{argument} has {shown(label)} twice")
    return labels


def classes_of(name: str, dtype: pl.DataType, labels: Sequence[Any]) -> pl.Series:
    """These labels, in the type of the truth column of this name."""
    column = f"truth column {shown(name)} is {type_of(dtype)}"
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and dtype.is_numeric():
        raise TypeError(
            f"{column}, and the classes are texts: give the labels as the column has them, and columns that are named "
            'otherwise as a dict, such as scores={0: "p0", 1: "p1"}'
        )
    try:
        if (dtype in TEXTS) != all(texts):
            raise TypeError
        return pl.Series("class", labels, dtype=None if all(texts) else dtype).cast(dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise TypeError(
            f"{column}, of which the classes {examples(labels)} cannot all be labels: give them as the column has them"
        ) from None


def refuse_other_types(truth: str, dtype: pl.DataType, prediction: str, predicted: pl.DataType) -> None:
    """Predicted labels are such as the truth has."""
    if not comparable(predicted, dtype) or (predicted in TEXTS) != (dtype in TEXTS):
        raise TypeError(
            f"truth column {shown(truth)} is {type_of(dtype)} and prediction column {shown(prediction)} is "
            f"{type_of(predicted)}: cast one of them"
        )


def refuse_strangers(argument: str, name: str, column: pl.Series, classes: pl.Series) -> None:
    """Every label of a column is one of the classes."""
    labels = column.to_frame().select(plain_label(column.name, column.dtype)).to_series().drop_nulls()
    strange = labels.filter(~labels.is_in(list(classes)))
    if len(strange):
        counts = strange.value_counts(sort=True, name="times").rows()
        few = ", ".join(f"{shown(label)} {pluralize(times, 'time', 'times')}" for label, times in counts[:3])
        raise ValueError(
            f"{argument} column {shown(name)} has labels that are no class: {few}; name these classes, too, or drop "
            "the rows"
        )


def plain_label(column: str, dtype: pl.DataType) -> pl.Expr:
    """Labels as they are compared with values of Python."""
    label = pl.col(column)
    return label.cast(pl.String) if dtype in TEXTS else label.fill_nan(None) if dtype.is_float() else label
