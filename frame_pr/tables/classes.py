"""Turn columns per class into a row for each row and class: one versus rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.columns import column_name, column_names
from frame_pr.frames.dispatch import kind_of
from frame_pr.frames.kinds import Frame, FrameKind, lazily
from frame_pr.frames.messages import examples
from frame_pr.inputs import values
from frame_pr.inputs.values import (
    classes_of,
    label_value,
    listed_classes,
    refuse_objects,
    refuse_other_types,
    refuse_unknown_labels,
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
    labels = _listed_labels(truths, scored, prediction, classes)
    kind = kind_of(frame)
    # Our names are `truth`, or `truth0` and so on; `score0` and so on; and `prediction`.
    columns = (
        {f"truth{i}": ("truth", truths[label]) for i, label in enumerate(labels)} if truths else {}
    )
    columns |= {} if truths else {"truth": ("truth", column_name("truth", truth))}
    columns |= {
        f"score{i}": ("scores", _column_of(scored[n], kind.columns))
        for i, n in enumerate(labels)
        if scored
    }
    columns |= (
        {}
        if prediction is None
        else {"prediction": ("prediction", column_name("prediction", prediction))}
    )
    new = [
        "class",
        "truth",
        *(["score"] if scored else []),
        *([] if prediction is None else ["prediction"]),
    ]
    of_labels = [columns[name][1] for name in ("truth", "prediction") if name in columns]
    if of_labels:
        kind = kind.with_labels(of_labels, labels)
        if kind.height:
            labels = [kind.label(str(of_labels[0]), label) for label in labels]
    data, carried = read_columns(kind, columns, new)
    if (
        scored
        and not isinstance(scores, Mapping)
        and data.schema.get("truth", pl.String()).is_numeric()
    ):
        labels = list(map(_as_integer, labels))
    typed = _typed_labels(labels, columns, data.schema)
    _validate_classes(kind, data, columns, typed)
    table = _unpivoted(data.with_row_index("row").lazy(), columns, typed)
    return kind.spread(
        table, carried, new, {"class": str(columns["truth"][1])} if "truth" in columns else ()
    )


def _listed_labels(
    truths: Mapping[Any, Any], scores: Mapping[Any, Any], prediction: Any, classes: Any
) -> list[Any]:
    """Return the labels, which one argument lists."""
    if truths and prediction is not None:
        raise ValueError(
            "prediction has one label a row, and truth a column for each label: stack 0/1 columns"
        )
    if truths and scores and set(truths) != set(scores):
        alone = [
            label for label in (*truths, *scores) if label not in truths or label not in scores
        ]
        raise ValueError(
            f"truth and scores must name the same classes; {examples(alone)} is in one of them only"
        )
    if not truths and not scores and prediction is None:
        raise ValueError("unpivot_classes takes scores, prediction= or both: got none")
    if classes is not None and (truths or scores):
        raise ValueError(
            "classes= lists the classes without scores: leave it out, each class has a column"
        )
    if classes is None and not (truths or scores):
        raise ValueError(
            "prediction alone needs classes=[...]: a label that no row has is a class, too"
        )
    return listed_classes(list(truths or scores) if classes is None else classes)


def _by_label(argument: str, columns: Any) -> dict[Any, Any]:
    """Return columns by their label, which is the name of the column if there is no dict."""
    if columns is None:
        return {}
    if isinstance(columns, Mapping):
        column_names(argument, list(columns.values()))
        return dict(columns)
    # An array of classes, such as a model's, an Index or a Series of names.
    is_array = hasattr(columns, "to_list") or (
        hasattr(columns, "tolist") and getattr(columns, "ndim", 0) == 1
    )
    return {name: name for name in column_names(argument, list(columns) if is_array else columns)}


def _column_of(name: Any, columns: Sequence[Any]) -> Any:
    """Return the column of a class. Classes that are numbers, as in `classes_` of a model, may have a text as name."""
    names = [
        name,
        str(name),
        str(int(name)) if isinstance(name, float) and name.is_integer() else name,
    ]
    return next((column for candidate in names for column in columns if column == candidate), name)


def _as_integer(label: Any) -> Any:
    """Return a label as an integer if it equals one: the column "3" has the scores of class 3."""
    is_text = (
        isinstance(label, str) and label.removeprefix("-").isdecimal() and str(int(label)) == label
    )
    return int(label) if is_text or (isinstance(label, float) and label.is_integer()) else label


def _typed_labels(labels: Sequence[Any], columns: NamedColumns, schema: pl.Schema) -> pl.Series:
    """Return the classes in the dtype of the labels."""
    if "truth" in columns:
        (_, truth), (_, prediction) = columns["truth"], columns.get("prediction", ("", None))
        refuse_objects("truth", truth, schema["truth"])
        if prediction is not None:
            refuse_other_types(truth, schema["truth"], prediction, schema["prediction"])
        return classes_of(truth, schema["truth"], labels, of_columns="score0" in columns)
    try:
        return pl.Series("class", labels)
    except (TypeError, pl.exceptions.PolarsError):
        raise TypeError(f"truth has labels of several types, such as {examples(labels)}") from None


def _validate_classes(
    kind: FrameKind[Any], data: pl.DataFrame, columns: NamedColumns, labels: pl.Series
) -> None:
    """Raise for labels that are no class, and for scores that are no numbers."""
    for ours, (argument, name) in columns.items():
        if ours in ("truth", "prediction"):
            refuse_unknown_labels(argument, name, data[ours], labels)
        elif argument == "truth":
            values.check_labels("truth", str(name), data[ours], None, "")
        else:
            values.refuse_score_type(str(name), data.schema[ours], kind.type_of(str(name)))
            values.check_score(str(name), data[ours], "")
    scored = {ours: str(name) for ours, (argument, name) in columns.items() if argument == "scores"}
    if len({data.schema[ours] for ours in scored}) > 1:
        values.check_common_type(list(scored.values()), data.select(*scored))
    if "prediction" in columns:
        values.warn_of_no_common_label(
            columns["truth"][1], columns["prediction"][1], data["truth"], data["prediction"]
        )


def _unpivoted(rows: pl.LazyFrame, columns: NamedColumns, labels: pl.Series) -> pl.LazyFrame:
    """Return `row` and the new columns: all rows for the first class, then for the next."""
    schema, parts = rows.collect_schema(), []
    of_labels = [column for column in ("truth", "prediction") if column in columns]
    for i, label in enumerate(labels):
        new = [(label_value(column, schema[column]) == label).alias(column) for column in of_labels]
        if (truth := f"truth{i}") in columns:
            new.append(
                values.is_positive(truth, str(columns[truth][1]), schema[truth], None).alias(
                    "truth"
                )
            )
        if (score := f"score{i}") in columns:
            new.append(pl.col(score).alias("score"))
        parts.append(rows.select("row", pl.lit(label, dtype=labels.dtype).alias("class"), *new))
    return pl.concat(parts, how="vertical_relaxed")
