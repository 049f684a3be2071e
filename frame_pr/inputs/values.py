"""Validate the values of labels, scores and keys.

Dtypes, missing values, the positive label, lists of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isnan
from typing import Any, TypeVar

import polars as pl

from frame_pr.frames.arguments import different_values, refuse_set
from frame_pr.frames.columns import by_name, is_no_value
from frame_pr.frames.messages import examples, pluralize, shown, warn

_PROBABILITIES = "probabilities are a score, with threshold=..."
_LEAST_ROWS = 3  # Rows from which on labels without one in common are no coincidence.
Labels = TypeVar("Labels", pl.Expr, pl.Series)
TEXTS = (pl.String, pl.Categorical, pl.Enum)
"""Text dtypes of labels."""


def kept(values: pl.Expr, dtype: pl.DataType, target: pl.DataType) -> pl.Expr:
    """Cast values to a comparable dtype, with null where it cannot hold them.

    A cast alone changes them to fit.
    """
    # Cast texts as String, because a cast from another dtype to an Enum or Categorical is by codes.
    from_dtype, to_dtype = (
        pl.String() if _kind(each) == "text" else each for each in (dtype, target)
    )
    values = values.cast(from_dtype)
    cast = values.cast(to_dtype, strict=False)
    cast = pl.when(cast.cast(from_dtype, strict=False) == values).then(cast)
    if to_dtype == target:
        return cast
    return cast.cast(target, strict=False)


def keyed_value(
    argument: str, types: pl.Schema, keys: Mapping[str, pl.DataType], wanted: str
) -> tuple[str, dict[str, pl.Expr]]:
    """Return the name of the value column of a frame, and its keys in the dtypes of the rows.

    `types`: the schema of the frame that the caller passed as the argument. `wanted`: the keys that
    it must have.
    """
    others = [name for name in types if name not in keys]
    if len(others) != 1:
        raise ValueError(
            f"{argument} frame has the columns {examples(types) or 'none'}: it must have {wanted}, "
            f"and one more"
        )
    refuse_text(argument, others[0], types[others[0]])
    for key, dtype in keys.items():
        if not comparable(types[key], dtype):
            raise TypeError(
                f"column {shown(key)} is {type_of(dtype)} in the frame and {type_of(types[key])} "
                f"in the {argument} "
                "frame: cast one of them"
            )
    return others[0], {key: kept(by_name(key), types[key], dtype) for key, dtype in keys.items()}


def comparable(dtype: pl.DataType, target: pl.DataType) -> bool:
    """Return whether a value of one dtype may equal a value of the other.

    Polars casts more than that.
    """
    kinds = {_kind(dtype), _kind(target)}
    # A number is not a date, and True is not a text.
    return len(kinds) == 1 or (kinds == {"text", "number"} and pl.Boolean not in (dtype, target))


def _kind(dtype: pl.DataType) -> object:
    """Return the family of a dtype: values of two families are never equal."""
    if dtype in TEXTS:
        return "text"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.Date, pl.Datetime):
        return "date", getattr(dtype, "time_zone", None) is not None
    return dtype.base_type()


def literal_label(positive: object) -> pl.DataFrame:
    """Return a label as the only row of a frame."""
    if isinstance(positive, Decimal):
        int(positive)  # An error for NaN and infinities, at which polars panics.
    return pl.select(label=pl.lit(positive))


def label_of(name: str, dtype: pl.DataType, positive: object, dtype_label: str = "") -> pl.Expr:
    """Return the positive label in the dtype of its column; raise if the column cannot hold it.

    `dtype_label`: the name of the dtype in the caller's kind of frame, if it differs.
    """
    refuse_objects("label", name, dtype)
    if dtype in (pl.Null(), pl.Enum([])):  # The column has no values.
        return pl.lit(None, dtype=dtype)
    try:
        literal = literal_label(positive)
        typed = literal.schema["label"]
        if dtype.is_float() and typed.is_float():
            literal = literal.cast(dtype)
            typed = dtype
        fits = (
            _kind(typed) == _kind(dtype)
            and literal.select(kept(pl.col("label"), typed, dtype).is_not_null()).item()
            and not count_missing(literal["label"])
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        fits = False
    if fits:
        return pl.lit(positive).cast(dtype)
    if isinstance(dtype, pl.Enum) and isinstance(positive, str):
        raise ValueError(
            f"column {shown(name)} has no {shown(positive)}, its type has "
            f"{examples(dtype.categories)}: positive= "
            "names one of them"
        )
    raise TypeError(
        f"positive={shown(positive)} cannot be a value of column {shown(name)}, which is "
        f"{dtype_label or type_of(dtype)}: give one of its labels"
    )


def is_positive(
    column: str,
    name: str,
    dtype: pl.DataType,
    positive: object,
    dtype_label: str = "",
    others: str = "",
    labels: pl.Series | None = None,
) -> pl.Expr:
    """Convert labels to Boolean if their dtype allows it.

    For the error: `others`, the function that accepts labels of all classes, and `labels`, the
    values.
    """
    label = by_name(column)
    if positive is not None:
        return label == label_of(name, dtype, positive, dtype_label)
    if dtype == pl.Boolean:
        return label
    if dtype == pl.Null:
        raise TypeError(
            f"column {shown(name)} is Null, it has no values to tell its type by: cast it before "
            f"the call"
        )
    if dtype.is_nested():
        raise TypeError(
            f"column {shown(name)} is {dtype_label or type_of(dtype)}, and a label column has one "
            f"label per row: "
            "explode_lists(...) makes rows of lists, and a field of a struct is a label"
        )
    if not dtype.is_numeric():
        values = (
            ""
            if labels is None or dtype == pl.Object
            else f"; it holds {examples(labels.unique().sort())}"
        )
        raise TypeError(
            f"column {shown(name)} is {dtype_label or type_of(dtype)}, neither boolean nor 0/1: "
            f"name its positive "
            f"label, positive=...{others}{values}"
        )
    return label != 0


def refuse_objects(argument: str, name: str, dtype: pl.DataType) -> None:
    """Refuse Python objects, which polars can neither compare nor sort."""
    if dtype == pl.Object:
        raise TypeError(
            f"{argument} column {shown(name)} is Object: make text or numbers of it before the call"
        )


def type_of(dtype: pl.DataType) -> str:
    """Write a dtype, shortened if it has many fields or labels."""
    text = str(dtype)
    return text if len(text) <= 100 else f"{dtype.base_type()}(...)"


def refuse_text(argument: str, name: str, dtype: pl.DataType, dtype_label: str = "") -> None:
    """Check that weights and totals are numbers."""
    if not dtype.is_numeric():
        finding = f"{argument} column {shown(name)} is {dtype_label or type_of(dtype)}"
        raise TypeError(f"{finding}: it must be numeric, so cast it before the call")


def refuse_no_text(argument: str, name: str, dtype: pl.DataType, dtype_label: str) -> None:
    """Check that values have one text, as ids have: 1.0 and a date have several."""
    if dtype not in TEXTS and not dtype.is_integer():
        raise TypeError(
            f"{argument} column {shown(name)} is {dtype_label or type_of(dtype)}, and "
            f"{argument}_as_text=True orders texts and whole numbers: cast it to text before the "
            f"call, or give {argument}_as_text=False"
        )


def refuse_score_type(name: str, dtype: pl.DataType, dtype_label: str = "") -> None:
    """Check that scores are numbers."""
    if not dtype.is_numeric():
        advice = (
            f"pl.col({shown(name)}).cast(pl.Float64), in pandas astype(float), makes numbers of it"
        )
        if dtype == pl.Boolean:
            advice = "predicted classes go to confusion(truth, prediction=...)"
        elif dtype == pl.Null:
            advice = "it has no values, cast it before the call"
        elif dtype.is_nested():
            advice = (
                "take one number of each value before the call, such as the probability of the "
                "positive class"
            )
        finding = f"score column {shown(name)} is {dtype_label or type_of(dtype)}"
        raise TypeError(f"{finding}: it must be numeric, higher ranking earlier; {advice}")


def label_of_prediction(dtype: pl.DataType, truth: pl.DataType, positive: object) -> object:
    """Return the positive label of predictions.

    None for Booleans, and for numbers if the truth is not a number.
    """
    has_no_label = dtype == pl.Boolean or (dtype.is_numeric() and not truth.is_numeric())
    return None if has_no_label else positive


def check_labels(
    argument: str, name: str, labels: pl.Series, positive: object, advice: str
) -> None:
    """Check that no label is missing, and that there are at most two if no label is named positive.

    `advice`: see `refuse_missing_labels`.
    """
    refuse_missing_labels(argument, name, labels, advice)
    if positive is not None or labels.dtype == pl.Boolean:
        return
    labels = label_value(labels, labels.dtype)
    if ((labels != 0) & (labels != 1)).any():
        values = labels.drop_nulls().unique().sort()
        advice = "name its positive label, positive=..."
        are_whole = (values % 1 == 0).all()
        if len(values) > 2:
            advice += ", or make it boolean before the call, by a comparison; "
            if are_whole:
                advice += "grades go to gain=, classes through unpivot_classes"
            else:
                advice += "truth comes first, then score" if argument == "truth" else _PROBABILITIES
        elif are_whole and values[0] >= 0 and argument == "truth":
            advice += "; grades go to gain=, and a comparison makes labels of them"
        raise ValueError(
            f"{argument} column {shown(name)} is neither boolean nor 0/1, it holds "
            f"{examples(values)}: {advice}"
        )


def refuse_missing_labels(argument: str, name: str, labels: pl.Series, advice: str) -> None:
    """Check that no label, or cluster, is missing.

    `advice`: what to do about missing ones; if empty, they are valid.
    """
    if advice and (missing := count_missing(labels)):
        of_all = pluralize(len(labels), "value", "values")
        raise ValueError(
            f"{argument} column {shown(name)} has {missing} missing of {of_all}: {advice}"
        )


def refuse_missing_clusters(name: str, clusters: pl.Series) -> None:
    """Check that no row lacks its cluster."""
    advice = "give each row its cluster, one of its own where it belongs to none"
    refuse_missing_labels("cluster", name, clusters, advice)


def check_occurs(name: str, labels: pl.Series, positive: object) -> None:
    """Check that the positive label occurs. If it is known to be a label, no row needs to have it.

    `labels`: the truths, or each of them once.
    """
    # These dtypes declare their labels, so a label that `label_of` accepts need not occur.
    if labels.dtype in (pl.Boolean, pl.Enum) or _holds(labels, positive):
        return
    possible = _possible_labels(labels)
    if len(possible) and not _holds(possible, positive):
        advice = "positive= names one of them"
        if labels.dtype in TEXTS:
            advice += (
                ", or if rows may lack it, use an Enum (in pandas a categorical) of all labels"
            )
        raise ValueError(
            f"truth column {shown(name)} has no {shown(positive)}, it holds "
            f"{examples(labels.drop_nulls().unique().sort())}: {advice}"
        )


def check_shared(name: str, predictions: pl.Series, truth: str, truths: pl.Series) -> None:
    """Check that predictions are labels of the truth: a misspelt label would never be predicted."""
    predicted = _possible_labels(predictions)
    actual = _possible_labels(truths)
    # Probabilities of a model may be 0 or 1, too.
    are_probabilities, are_fractions = (
        x.dtype.is_float() and (x % 1 != 0).any() for x in (predicted, actual)
    )
    shares_values = _have_common(predicted, actual) and (are_fractions or not are_probabilities)
    if len(predicted) and len(actual) and not shares_values:
        raise ValueError(
            f"prediction column {shown(name)} shares no label with truth column {shown(truth)}: it "
            f"holds "
            f"{examples(predicted.sort())}, and the truth {examples(actual.sort())}; probabilities "
            f"are a score, with "
            "threshold=..."
        )


def _possible_labels(labels: pl.Series) -> pl.Series:
    """Return the distinct labels of a column: those of its rows, and those that it declares."""
    if isinstance(labels.dtype, pl.Enum):
        return labels.dtype.categories

    present = present_labels(labels).unique()
    if present.dtype.is_numeric() and len(present) and ((present == 0) | (present == 1)).all():
        return pl.Series([0, 1], dtype=present.dtype)
    return present


def _have_common(labels: pl.Series, others: pl.Series) -> bool:
    """Return whether a label is in both columns, which have each of theirs once."""
    columns = [labels.to_frame(""), others.to_frame("")]
    return pl.concat(columns, how="vertical_relaxed").is_duplicated().any()


def _holds(labels: pl.Series, positive: object) -> bool:
    """Return whether a value is among the labels."""
    label = label_of(labels.name, labels.dtype, positive)
    return bool(labels.alias("label").to_frame().select((pl.col("label") == label).any()).item())


def check_score(name: str, score: pl.Series, advice: str) -> None:
    """Check that no score is missing, and that scores have at most 63 bits.

    `advice`: what to do about missing scores; if empty, they are valid.
    """
    missing = count_missing(score) if advice else 0
    if missing:
        null = score.null_count()
        values = pluralize(len(score), "value", "values")
        kinds = ""
        if missing > null:
            kinds = f" ({null} null, {missing - null} NaN)"
        raise ValueError(
            f"score column {shown(name)} has {missing} missing of {values}{kinds}: {advice}"
        )

    if score.dtype in (pl.Int128, pl.UInt128, pl.Decimal):
        whole = score
        if score.dtype == pl.Decimal:
            whole = score.to_physical()
        least = 0 if score.dtype == pl.UInt128 else 1 - 2**63
        if not whole.is_between(least, 2**63 - 1).all():
            raise ValueError(
                f"score column {shown(name)} ({score.dtype}) has values of more than 63 bits: cast "
                f"it to Float64"
            )


def check_common_type(names: Sequence[str], scores: pl.DataFrame) -> None:
    """Check that scores of several dtypes keep their values in the common dtype of their column."""
    common = scores.clear().unpivot().schema["value"]
    for name, score in zip(names, scores, strict=True):
        cast = score.cast(common, strict=False)
        # A rounded decimal may have one more digit.
        dtype = (
            pl.Decimal(38, score.dtype.scale)
            if isinstance(score.dtype, pl.Decimal)
            else score.dtype
        )
        if cast.cast(dtype, strict=False).ne_missing(score).any():
            raise ValueError(
                f"score column {shown(name)} ({score.dtype}) has values that {common}, the type of "
                f"all scores "
                "together, does not hold: cast the scores to one type, or give them one at a time"
            )
        check_score(name, cast, "")


def count_missing(values: pl.Series) -> int:
    """Count nulls and NaNs."""
    # The sum is NaN if any score is: with few rows, this takes a thirtieth of the time of testing
    # each score.
    missing = values.null_count()
    if values.dtype.is_float() and isnan(values.sum()):
        missing += int(values.is_nan().sum())
    return missing


def listed_classes(classes: Any) -> list[Any]:
    """Validate the labels that a caller lists, each of them once."""
    if isinstance(classes, (str, int, float)):
        raise TypeError(
            f"classes takes a list of labels, got {shown(classes)}; write [{shown(classes)}]"
        )
    refuse_set("classes", classes)
    return different_values("classes", classes, "labels", _is_label)


def _is_label(value: Any) -> bool:
    """Return whether a value may be a label."""
    return not (isinstance(value, pl.Expr) or is_no_value(value))


def classes_of(
    name: str, dtype: pl.DataType, labels: Sequence[Any], *, of_columns: bool = False
) -> pl.Series:
    """Return labels in the dtype of the truth column.

    `of_columns`: whether the labels are names of columns.
    """
    column = f"truth column {shown(name)} is {type_of(dtype)}"
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and dtype.is_numeric():
        example = (
            'and their columns as a dict, such as scores={0: "p0", 1: "p1"}'
            if of_columns
            else "such as [0, 1]"
        )
        raise TypeError(
            f"{column}, and the classes are texts: give the labels as the column has them, "
            f"{example}"
        )
    try:
        if (dtype in TEXTS) != all(texts):
            raise TypeError
        return pl.Series("class", labels, dtype=None if all(texts) else dtype).cast(dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise TypeError(
            f"{column}, of which the classes {examples(labels)} cannot all be labels: give them as "
            f"the column has them"
        ) from None


def refuse_other_types(
    truth: str, dtype: pl.DataType, prediction: str, predicted: pl.DataType
) -> None:
    """Check that predicted labels have a dtype of the truth's family."""
    refuse_objects("truth", truth, dtype)
    refuse_objects("prediction", prediction, predicted)
    if not comparable(predicted, dtype) or (predicted in TEXTS) != (dtype in TEXTS):
        raise TypeError(
            f"truth column {shown(truth)} is {type_of(dtype)} and prediction column "
            f"{shown(prediction)} is "
            f"{type_of(predicted)}: cast one of them"
        )


def refuse_unknown_labels(argument: str, name: str, column: pl.Series, classes: pl.Series) -> None:
    """Check that every label of a column is one of the classes."""
    labels = present_labels(column)
    columns = [labels.to_frame("label"), present_labels(classes).to_frame("label")]
    both = pl.concat(columns, how="vertical_relaxed").to_series()
    is_class = both.head(len(labels)).is_in(both.slice(len(labels)).implode())
    unknown = labels.filter(~is_class)
    if len(unknown):
        counts = unknown.value_counts(sort=True, name="times").rows()
        shown_labels = ", ".join(
            f"{shown(label)} {pluralize(times, 'time', 'times')}" for label, times in counts[:3]
        )
        raise ValueError(
            f"{argument} column {shown(name)} has labels that are no class: {shown_labels}; name "
            f"these classes, too, "
            "or drop the rows"
        )


def warn_of_no_common_label(
    truth: str, prediction: str, truths: pl.Series, predictions: pl.Series
) -> None:
    """Warn if no predicted label is a label of the truth, as "cat" and "CAT"."""
    actual, predicted = (present_labels(column.unique()) for column in (truths, predictions))
    # In a few rows, or if one class is always predicted as another, all predictions may be wrong.
    are_many = len(truths) >= _LEAST_ROWS and max(len(actual), len(predicted)) > 1
    if are_many and len(actual) and len(predicted) and not _have_common(actual, predicted):
        warn(
            f"prediction: column {shown(prediction)} and truth column {shown(truth)} have no label "
            f"in common, they hold {examples(predicted.sort())} and {examples(actual.sort())}; "
            "write labels in the same way in both"
        )


def label_value(labels: Labels, dtype: pl.DataType) -> Labels:
    """Return labels in the form that is compared with Python values."""
    values: Any = labels
    if dtype in TEXTS:
        values = values.cast(pl.String)
    elif dtype.is_float():
        values = values.fill_nan(None)
    result: Labels = values
    return result


def present_labels(labels: pl.Series) -> pl.Series:
    """Return the labels that are not missing, in the form of `label_value`."""
    return label_value(labels, labels.dtype).drop_nulls()
