"""Turn columns per class into a row for each row and class: one versus rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import public
from frame_pr.frames.columns import by_name, column_name, column_names, refuse_carried_as, refuse_repeats
from frame_pr.frames.kinds import Frame, kind_of
from frame_pr.frames.messages import examples, shown, warn
from frame_pr.inputs import values
from frame_pr.inputs.values import classes_of, label_value, listed_classes, refuse_other_types, refuse_unknown_labels

_FEW = 3
"""Minimum number of rows for the check: few rows may have sums that differ from 1 by accident."""
_ROUNDED = 0.01
"""Maximum error that rounding one class adds to the sum of a row."""


class _Classes(NamedTuple):
    """The caller's names of the columns. The tables below call them `truth`, or `truth0` and so on, and `score0`."""

    labels: list[Any]
    truths: list[Any]
    """One column for each class, or one column of labels."""
    scores: list[Any]
    """One column for each class, or none."""
    prediction: Any | None
    by_label: bool
    """Whether the truth is a column of labels."""

    def internal_columns(self) -> dict[str, tuple[str, Any]]:
        """Return our name of each column, with the argument and the caller's name."""
        truths = ["truth"] if self.by_label else [f"truth{i}" for i in range(len(self.truths))]
        named = {internal: ("truth", name) for internal, name in zip(truths, self.truths, strict=True)}
        named |= {f"score{i}": ("scores", name) for i, name in enumerate(self.scores)}
        return named | ({} if self.prediction is None else {"prediction": ("prediction", self.prediction)})

    def new_columns(self) -> list[str]:
        """Return the names of the columns that the result adds."""
        score = ["score"] if self.scores else []
        return ["class", "truth", *score, *([] if self.prediction is None else ["prediction"])]


@public()
def unpivot_classes(
    frame: Frame,
    truth: str | Mapping[Any, str],
    scores: Sequence[str] | Mapping[Any, str] | None = None,
    *,
    prediction: str | None = None,
    classes: Sequence[Any] | None = None,
) -> Frame:
    """Turn a column per class into a row per class (one versus rest), for the other functions.

    `by="class"` then gives the metrics of each class, `mean_over="class"` with it the macro average, and no `by` the
    micro average. `statistics="weighted"` weights each class by its number of positives.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        One row for each classified item. The frame is not changed.
    truth : str or dict of label and column
        A column of labels; or, where a row may have several, a column of 0/1 for each label.
    scores : list of str, or dict of label and column; optional
        A column of scores for each class, such as its probability. A list has the labels, which are also the names of
        the columns; class 3 may have the column "3". An array, such as `classes_` of a model, and an Index are lists,
        too. With a list, a `DataWarning` says if probabilities do not sum to 1. A dict assigns a column to each label,
        and its sums are not checked: use it if each class has a model of its own.
    prediction : str, optional
        A column of predicted labels, with `scores` or without.
    classes : list, optional
        The labels, if there are no `scores`. Labels that no row has are classes, too.

    Returns
    -------
    Frame of the same kind
        The frame's other columns, `class` (of the dtype of the labels), `truth` (Boolean; null where the label is), and
        `score`, `prediction` (Boolean) where given. All rows of the first class in their order, then those of the next.
        On pandas the index is new.

    Raises
    ------
    ValueError
        A label is none of the classes; a class is given twice; a column is missing, or named like one of the result.
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
    parsed = _parse_arguments(truth, scores, prediction, classes)
    kind = kind_of(frame)
    parsed = parsed._replace(scores=[_column_of(name, kind.columns) for name in parsed.scores])
    internal = parsed.internal_columns()
    for argument, name in internal.values():
        kind.refuse_missing([name], argument)
    refuse_repeats(internal.values())
    carried = [name for name in kind.columns if name not in [used for _, used in internal.values()]]
    refuse_carried_as(parsed.new_columns(), carried)
    source = kind.read([name for _, name in internal.values()])
    source = source.select(by_name(name).alias(column) for column, (_, name) in internal.items())
    schema = source.collect_schema()
    if parsed.scores and not isinstance(scores, Mapping) and schema.get("truth", pl.String()).is_numeric():
        parsed = parsed._replace(labels=list(map(_as_integer, parsed.labels)))
    labels = _labels(parsed, schema)
    for column, (argument, name) in internal.items():
        if argument == "scores":
            values.refuse_score_type(str(name), schema[column], kind.type_of(str(name)))
    check = partial(_validate_classes, arguments=parsed, labels=labels, sums=not isinstance(scores, Mapping))
    source = source.map_batches(check, schema=schema) if kind.height is None else check(source.collect()).lazy()
    table = _unpivoted(source.with_row_index("row"), parsed, labels)
    # In memory, the rows are in order already.
    table = table.sort("place", "row") if kind.height is None else table
    return kind.spread(table, carried, parsed.new_columns())


def _parse_arguments(truth: Any, scores: Any, prediction: Any, classes: Any) -> _Classes:
    """Validate the arguments together, before looking at the frame."""
    columns = _by_label("scores", scores)
    truths = _by_label("truth", truth) if isinstance(truth, Mapping) else {}
    predicted = None if prediction is None else column_name("prediction", prediction)
    if truths and predicted is not None:
        raise ValueError(
            "prediction is a column of one label a row, and truth has a column for each: stack 0/1 columns"
        )
    if truths and columns and set(truths) != set(columns):
        lack = [label for label in (*truths, *columns) if label not in truths or label not in columns]
        raise ValueError(f"truth and scores must name the same classes; {examples(lack)} is in one of them only")
    if not truths and not columns and predicted is None:
        raise ValueError("unpivot_classes takes scores, prediction= or both: got none")
    if classes is not None and (truths or columns):
        raise ValueError(
            "classes= names the classes where nothing else does: leave it out if there is a column for each"
        )
    if classes is None and not (truths or columns):
        raise ValueError("prediction alone needs classes=[...]: a label that nothing has is a class, too")
    labels = listed_classes("classes", list(truths or columns) if classes is None else classes)
    return _Classes(
        labels=labels,
        truths=list(truths.values()) or [column_name("truth", truth)],
        scores=[columns[label] for label in labels] if columns else [],
        prediction=predicted,
        by_label=not truths,
    )


def _by_label(argument: str, columns: Any) -> dict[Any, Any]:
    """Return columns by their label, which is the name of the column if there is no dict."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        # An array of classes, such as a model's, an Index or a Series of names.
        is_array = hasattr(columns, "tolist") and getattr(columns, "ndim", 0) == 1
        names = columns.to_list() if isinstance(columns, pl.Series) else columns.tolist() if is_array else columns
        return {name: name for name in column_names(argument, names)}
    column_names(argument, list(columns.values()))
    labels = set(map(str, columns))
    for label, name in columns.items():
        if str(name) in labels - {str(label)}:
            warn(
                f"{argument}: class {shown(label)} has column {shown(name)}, which is named like another class; check "
                "the order, or rename the columns if it is meant"
            )
            break
    return dict(columns)


def _column_of(name: Any, columns: Sequence[Any]) -> Any:
    """Return the column of a class. Classes that are numbers, as in `classes_` of a model, may have a text as name."""
    names = [name, str(name), str(int(name)) if isinstance(name, float) and name.is_integer() else name]
    return next((column for candidate in names for column in columns if column == candidate), name)


def _as_integer(label: Any) -> Any:
    """Return a label as an integer if it equals one: the column "3" has the scores of class 3."""
    is_text = isinstance(label, str) and label.removeprefix("-").isdecimal() and str(int(label)) == label
    return int(label) if is_text or (isinstance(label, float) and label.is_integer()) else label


def _labels(arguments: _Classes, schema: pl.Schema) -> pl.Series:
    """Return the classes in the dtype of the labels."""
    if not arguments.by_label:
        try:
            return pl.Series("class", arguments.labels)
        except (TypeError, pl.exceptions.PolarsError):
            raise TypeError(f"truth has labels of several types, such as {examples(arguments.labels)}") from None
    if arguments.prediction is not None:
        refuse_other_types(arguments.truths[0], schema["truth"], arguments.prediction, schema["prediction"])
    return classes_of(arguments.truths[0], schema["truth"], arguments.labels, of_columns=bool(arguments.scores))


def _validate_classes(data: pl.DataFrame, arguments: _Classes, labels: pl.Series, *, sums: bool) -> pl.DataFrame:
    """Return the rows, and raise for labels that are no class. `sums`: whether to look at the sums of the scores."""
    columns = arguments.internal_columns()
    for internal in ("truth", "prediction"):
        if internal in columns:
            refuse_unknown_labels(internal, columns[internal][1], data[internal], labels)
    for internal, (argument, name) in columns.items():
        if argument == "truth" and not arguments.by_label:
            values.check_labels("truth", str(name), data[internal], None, "")
        if argument == "scores":
            values.check_score(str(name), data[internal], "")
    scored = [f"score{i}" for i in range(len(arguments.scores))]
    if len({data.schema[column] for column in scored}) > 1:
        values.check_common_type(list(map(str, arguments.scores)), data.select(scored))
    if sums and arguments.by_label and len(scored) > 1:
        _warn_of_sums(data.select(pl.col(scored).cast(pl.Float64)))
    return data


def _warn_of_sums(scores: pl.DataFrame) -> None:
    """Warn if the columns of a row are not the probabilities of its classes."""
    present = scores.fill_nan(None).drop_nulls()
    are_shares = all(column.is_between(0, 1).all() for column in present)
    are_votes = all(column.is_in([0.0, 1.0]).all() for column in present)
    totals = present.sum_horizontal()
    # Some tools round probabilities to two digits.
    far = (totals - 1).abs() > _ROUNDED * max(2, present.width)
    if are_shares and not are_votes and totals.len() >= _FEW and 2 * far.sum() > totals.len():
        low, high = totals.sort().gather([0, -1])
        warn(
            f"scores: the columns of the classes sum up to {low:.3g} to {high:.3g} in a row, and the probabilities of "
            "classes to 1; check that each class has its column, or give a dict of label and column if each class has "
            "a model of its own"
        )


def _unpivoted(rows: pl.LazyFrame, arguments: _Classes, labels: pl.Series) -> pl.LazyFrame:
    """Return `row`, the `place` of a class among the classes, and the new columns."""
    schema = rows.collect_schema()
    score_dtypes = {column: dtype for column, dtype in schema.items() if column.startswith("score")}
    common = pl.DataFrame(schema=score_dtypes or {"none": pl.Null}).unpivot().schema["value"]
    of_labels = [column for column in ("truth", "prediction") if column in schema]
    parts = []
    for place, label in enumerate(labels):
        new = [(label_value(column, schema[column]) == label).alias(column) for column in of_labels]
        if not arguments.by_label:
            truth = f"truth{place}"
            new.append(values.is_positive(truth, str(arguments.truths[place]), schema[truth], None).alias("truth"))
        if arguments.scores:
            new.append(pl.col(f"score{place}").cast(common).alias("score"))
        parts.append(pl.struct(new).alias(str(place)))
    table = rows.select("row", *parts).unpivot(index="row", variable_name="place", value_name="new").unnest("new")
    number = pl.col("place").cast(pl.UInt32)
    return table.with_columns(number, pl.lit(labels).gather(number).alias("class"))
