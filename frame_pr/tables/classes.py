"""Turn columns per class into a row for each row and class: one versus rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.columns import column_name, column_names
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, FrameKind, lazily
from frame_pr.frames.messages import examples
from frame_pr.inputs.values import (
    check_common_type,
    check_labels,
    check_score,
    classes_of,
    is_positive,
    label_value,
    listed_classes,
    refuse_objects,
    refuse_other_types,
    refuse_score_type,
    refuse_unknown_labels,
    warn_of_no_common_label,
)
from frame_pr.tables.named_columns import NamedColumns, read_columns


@public()
@lazily
def unpivot_classes(
    frame: Frame,
    truth: str | Mapping[Any, str],
    scores: Sequence[str] | Mapping[Any, str] | None = None,
    *,
    prediction: str | None = None,
    classes: Sequence[Any] | None = None,
) -> Frame:
    """Turn a column per class into a row per class (one versus rest), for the other functions.

    `by="class"` then gives the metrics of each class, `mean_over="class"` with it the macro
    average, and no `by` the micro average. `statistics="weighted"` weights each class by its number
    of positives.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        One row for each classified item. The frame is not changed.
    truth : str or dict of label and column
        A column of labels; or, where a row may have several, a column of 0/1 for each label.
    scores : list of str, or dict of label and column; optional
        A column of scores for each class, such as its probability. A list has the labels, which are
        also the names of the columns; class 3 may have the column "3". An array, such as `classes_`
        of a model, and an Index are lists, too. A dict assigns a column to each label.
    prediction : str, optional
        A column of predicted labels, with `scores` or without. A `DataWarning` says if no label of
        the truth is among them, as "cat" and "CAT".
    classes : list, optional
        The labels, if there are no `scores`. Labels that no row has are classes, too.

    Returns
    -------
    Frame of the same kind
        The frame's other columns, `class` (of the dtype of the labels), `truth` (Boolean; null
        where the label is), and `score`, `prediction` (Boolean) where given. All rows of the first
        class in their order, then those of the next. On pandas the index is new.

    Raises
    ------
    ValueError
        A label is none of the classes; a class is given twice; a column is missing, or named like
        one of the result.
    TypeError
        Labels are of other types than classes or predictions; a score is no number.

    See Also
    --------
    confusion_matrix, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> images = pl.DataFrame({"shown": ["cat", "dog"], "cat": [0.7, 0.5], "dog": [0.3, 0.5]})
    >>> long = fp.unpivot_classes(images, "shown", ["cat", "dog"])
    >>> long.rows()
    [('cat', True, 0.7), ('cat', False, 0.5), ('dog', False, 0.3), ('dog', True, 0.5)]
    >>> long.pr.average_precision("truth", "score", by="class").rows()
    [('cat', 1.0), ('dog', 1.0)]
    """
    truths = _by_label("truth", truth) if isinstance(truth, Mapping) else {}
    scored = _by_label("scores", scores)
    labels = _listed_labels(
        truths,
        scored,
        prediction,
        classes,
    )
    kind = kind_of(frame)
    # Our names of the columns, each with the argument that names it and the caller's name.
    columns: dict[str, tuple[str, Any]] = {}
    if not truths:
        columns["truth"] = ("truth", column_name("truth", truth))
    for i, label in enumerate(labels):
        if truths:
            columns[f"truth{i}"] = ("truth", truths[label])
        if scored:
            columns[f"score{i}"] = ("scores", _column_of(scored[label], kind.columns))
    new = ["class", "truth"]
    if scored:
        new.append("score")
    if prediction is not None:
        columns["prediction"] = ("prediction", column_name("prediction", prediction))
        new.append("prediction")

    # Columns of 0/1 hold no labels.
    of_labels = [columns[ours][1] for ours in ("truth", "prediction") if ours in columns]
    kind = kind.with_labels(of_labels or ["class"], labels)
    source = str(of_labels[0]) if of_labels else "class"
    labels = [kind.label(source, label) for label in labels]
    data, carried = read_columns(kind, columns, new)
    names_are_labels = scored and not isinstance(scores, Mapping)
    if names_are_labels and data.schema.get("truth", pl.String()).is_numeric():
        labels = list(map(_as_integer, labels))

    typed = _typed_labels(labels, columns, data.schema)
    _validate_classes(kind, data, columns, typed)
    table = _unpivoted(data.with_row_index("row").lazy(), columns, typed)
    return kind.spread(table, carried, new, {"class": source})


def _listed_labels(
    truths: Mapping[Any, Any],
    scores: Mapping[Any, Any],
    prediction: Any,
    classes: Any,
) -> list[Any]:
    """Return the labels, which one argument lists."""
    columns = truths or scores
    every = [*truths, *scores] if truths and scores else []
    alone = [label for label in every if every.count(label) == 1]
    faults = {
        "prediction has one label a row, and truth a column for each label: stack 0/1 columns": (
            truths and prediction is not None
        ),
        "truth and scores must name the same classes; "
        f"{examples(alone)} is in one of them only": alone,
        "unpivot_classes takes scores, prediction= or both: got none": (
            not columns and prediction is None
        ),
        "classes= lists the classes without scores: leave it out, each class has a column": (
            columns and classes is not None
        ),
        "prediction alone needs classes=[...]: a label that no row has is a class, too": (
            not columns and classes is None
        ),
    }
    fault = next((fault for fault, applies in faults.items() if applies), None)
    if fault is not None:
        raise ValueError(fault)
    return listed_classes(list(columns) if classes is None else classes)


def _by_label(argument: str, columns: Any) -> dict[Any, Any]:
    """Return columns by their label, which is the name of the column if there is no dict."""
    if columns is None:
        return {}
    if isinstance(columns, Mapping):
        column_names(argument, list(columns.values()))
        return dict(columns)
    # An array of classes, such as a model's, an Index or a Series of names.
    if hasattr(columns, "to_list") or getattr(columns, "ndim", 0) == 1:
        columns = list(columns)
    return {name: name for name in column_names(argument, columns)}


def _column_of(name: Any, columns: Sequence[Any]) -> Any:
    """Return the column of a class. Class 3, or 3.0 of a model, may have the column "3"."""
    names = [name, str(name), str(_as_integer(name))]
    return next((column for candidate in names for column in columns if column == candidate), name)


def _as_integer(label: Any) -> Any:
    """Return a label as an integer if it equals one: the column "3" has the scores of class 3."""
    if isinstance(label, float) and label.is_integer():
        return int(label)
    is_text = isinstance(label, str) and label.removeprefix("-").isdecimal()
    return int(label) if is_text and str(int(label)) == label else label


def _typed_labels(
    labels: Sequence[Any],
    columns: NamedColumns,
    schema: pl.Schema,
) -> pl.Series:
    """Return the classes in the dtype of the labels."""
    if "truth" not in columns:
        with suppress(TypeError, pl.exceptions.PolarsError):
            classes = pl.Series("class", labels)
            if not classes.dtype.is_nested() and classes.dtype != pl.Object:
                return classes
        raise TypeError(f"truth has labels of several types, such as {examples(labels)}")
    truth = columns["truth"][1]
    dtype = schema["truth"]
    refuse_objects("truth", truth, dtype)
    if "prediction" in columns:
        refuse_other_types(truth, dtype, columns["prediction"][1], schema["prediction"])
    return classes_of(truth, dtype, labels, of_columns="score0" in columns)


def _validate_classes(
    kind: FrameKind[Any],
    data: pl.DataFrame,
    columns: NamedColumns,
    labels: pl.Series,
) -> None:
    """Raise for labels that are no class, and for scores that are no numbers."""
    scored = {}
    for ours, (argument, name) in columns.items():
        if ours in ("truth", "prediction"):
            refuse_unknown_labels(argument, name, data[ours], labels)
        elif argument == "truth":
            check_labels("truth", str(name), data[ours], None, "")
        else:
            scored[ours] = str(name)
            refuse_score_type(str(name), data.schema[ours], kind.type_of(str(name)))
            check_score(str(name), data[ours], "")
    if len({data.schema[ours] for ours in scored}) > 1:
        check_common_type(list(scored.values()), data.select(*scored))
    if "prediction" in columns:
        truth = columns["truth"][1]
        prediction = columns["prediction"][1]
        warn_of_no_common_label(truth, prediction, data["truth"], data["prediction"])


def _unpivoted(
    rows: pl.LazyFrame,
    columns: NamedColumns,
    labels: pl.Series,
) -> pl.LazyFrame:
    """Return `row` and the new columns: all rows for the first class, then for the next."""
    schema = rows.collect_schema()
    parts = []
    for i, label in enumerate(labels):
        new = {}
        new["class"] = pl.lit(label, dtype=labels.dtype)
        for column in columns.keys() & {"truth", "prediction"}:
            new[column] = label_value(pl.col(column), schema[column]) == label
        truth = f"truth{i}"
        if truth in columns:
            new["truth"] = is_positive(truth, str(columns[truth][1]), schema[truth], None)
        if f"score{i}" in columns:
            new["score"] = pl.col(f"score{i}")
        parts.append(rows.select("row", **new))
    return pl.concat(parts, how="vertical_relaxed")
