"""How often each class was taken for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import polars as pl

from frame_pr.frames.arguments import one_of, public
from frame_pr.frames.columns import by_name, refuse_clash, refuse_several
from frame_pr.frames.kinds import Frame
from frame_pr.frames.wording import examples, pluralize, shown, warn
from frame_pr.inputs.labels import classes_of, listed_classes, plain_label, refuse_other_types, refuse_strangers
from frame_pr.inputs.masses import check_masses
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.selection import Selection, selected
from frame_pr.inputs.values import TEXTS, count_missing, refuse_text
from frame_pr.metrics.rates import ratio

_FEW = 3
"""Rows of which none may be right, by chance, without that labels are misspelt."""
_COLUMNS = ("truth", "prediction", "rows", "of_truth", "of_prediction")


@public()
def confusion_matrix(
    frame: Frame,
    truth: Column,
    prediction: Column,
    *,
    classes: Sequence[Any] | None = None,
    by: Columns | None = None,
    weight: Column | None = None,
    unjudged: Literal["raise", "drop"] = "raise",
) -> Frame:
    """How often each class was taken for each: a row for every pair of classes, those that never occur, too.

    `of_truth` is the share of the rows that have this truth, so the row of a class and itself has its recall there, and
    its precision in `of_prediction`. `pivot` makes a square of it.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Rows with a label and a predicted one; never changed.
    truth : str or polars expression
        The labels.
    prediction : str or polars expression
        The predicted labels.
    classes : list, optional
        The labels, in the order of the result. Without it, those that the type of `truth` declares, else those that
        occur in either column, sorted.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    weight : str or polars expression; optional
        Weights of rows, whose sums are then counted.
    unjudged : "raise" or "drop"
        Rows whose truth is null or NaN. "raise", the default: an error says how many. "drop": they are left out.

    Returns
    -------
    Frame of the same kind
        The keys, then `truth`, `prediction` (labels), `rows` (Int64; with weights their sum, Float64 where these are
        floats), `of_truth`, `of_prediction` (Float64; null where a class is never shown, or never predicted).

    Raises
    ------
    ValueError
        A label is none of the classes; without `classes`, truth and prediction have no label in common; a truth or a
        prediction is missing; a column is missing, or given twice.
    TypeError
        The labels are of different types.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> images = pl.DataFrame({"shown": ["cat", "dog", "dog"], "predicted": ["cat", "cat", "dog"]})
    >>> fp.confusion_matrix(images, "shown", "predicted").rows()
    [('cat', 'cat', 1, 1.0, 0.5), ('cat', 'dog', 0, 0.0, 0.0), ('dog', 'cat', 1, 0.5, 0.5), ('dog', 'dog', 1, 0.5, 1.0)]
    """
    one_of("unjudged", unjudged, ("raise", "drop"))
    labels = None if classes is None else listed_classes("classes", classes)
    refuse_several("prediction", prediction)
    policies: Policies = {"unjudged": unjudged} if weight is None else {"unjudged": unjudged, "weight": weight}
    selection = selected(frame, request_of(truth, prediction, by, None, policies, predicted=True), carry=False)
    refuse_clash(selection.keys.values(), _COLUMNS)
    schema = selection.schema
    of_truth, of_prediction = selection.others["truth"], selection.scores["0"]
    refuse_other_types(of_truth, schema["truth"], of_prediction, schema["0"])
    if "weight" in selection.others:
        refuse_text("weight", selection.others["weight"], schema["weight"])
    dtype, declared = schema["truth"], _declared(selection, schema["truth"]) if labels is None else labels
    order = None if declared is None else classes_of(of_truth, dtype, declared)
    check = partial(_validate_labels, selection=selection, classes=order, drops=unjudged == "drop")
    rows = selection.compute(check).select(
        *selection.keys, *(["weight"] if "weight" in selection.others else []), **_labels(schema)
    )
    result = _pairs(rows, list(selection.keys), order).rename(selection.keys)
    keys = list(selection.keys.values())
    result = result.select(*map(by_name, keys), *_COLUMNS)
    if dtype in TEXTS:
        result = result.with_columns(pl.col("truth", "prediction").cast(dtype))
    return selection.kind.give(result, keys)


def _declared(selection: Selection[Frame], dtype: pl.DataType) -> list[Any] | None:
    """The labels that the truth is declared to have, in their order."""
    if isinstance(dtype, pl.Enum):
        return dtype.categories.to_list()
    return list(selection.kind.categories(selection.others["truth"])) or None


def _labels(schema: pl.Schema) -> dict[str, pl.Expr]:
    """Both columns of labels, in one type."""
    labels = {"truth": plain_label("truth", schema["truth"]), "prediction": plain_label("0", schema["0"])}
    if schema["truth"] == schema["0"] or schema["truth"] in TEXTS:
        return labels
    common = pl.concat(
        [pl.Series("", [], dtype=schema[column]).to_frame() for column in ("truth", "0")], how="vertical_relaxed"
    )
    return {name: label.cast(common.schema[""]) for name, label in labels.items()}


def _validate_labels(
    data: pl.DataFrame, selection: Selection[Frame], classes: pl.Series | None, *, drops: bool
) -> pl.DataFrame:
    """The columns, whose labels are there and among the classes."""
    ways = {"truth": "" if drops else "unjudged='drop' leaves these rows out, or fill them", "prediction": "fill them"}
    for argument, ours in (("truth", "truth"), ("prediction", "0")):
        name, column = selection.others["truth"] if ours == "truth" else selection.scores["0"], data[ours]
        if (missing := count_missing(column)) and ways[argument]:
            of_all = pluralize(data.height, "value", "values")
            raise ValueError(f"{argument} column {shown(name)} has {missing} missing of {of_all}: {ways[argument]}")
        if classes is not None:
            refuse_strangers(argument, name, column, classes)
    if classes is None:
        _check_labels_in_common(selection, data)
    if "weight" in selection.others:
        check_masses("weight", selection.others["weight"], data["weight"], data["truth"])
    return data


def _check_labels_in_common(selection: Selection[Frame], data: pl.DataFrame) -> None:
    """Raise if no label is in both columns, as they are misspelt; warn of numbers that hardly are labels."""
    labels = data.lazy().select(**_labels(data.schema)).collect()
    truth, prediction = (labels[side].drop_nulls().unique() for side in ("truth", "prediction"))
    pairs = data.height - labels["truth"].null_count()
    # A few rows, or one class that is always taken for another, may all be wrong.
    many = pairs >= _FEW and max(len(truth), len(prediction)) > 1
    if many and not truth.is_in(prediction.implode()).any():
        raise ValueError(
            f"prediction column {shown(selection.scores['0'])} shares no label with truth column "
            f"{shown(selection.others['truth'])}: it holds {examples(prediction.sort())}, and the truth "
            f"{examples(truth.sort())}; write the labels in the same way, or give all of them, classes=[...]"
        )
    for name, side in ((selection.others["truth"], truth), (selection.scores["0"], prediction)):
        # Grades in quarters may be classes.
        if side.dtype.is_float() and side.is_between(0, 1).all() and (side * 4 % 1 != 0).any():
            warn(
                f"column {shown(name)} holds {examples(side.sort())}, which look like probabilities, and "
                "confusion_matrix counts labels; give the column of the predicted label, or classes=[...] if each "
                "number is a class"
            )
            return


def _pairs(rows: pl.LazyFrame, keys: list[str], classes: pl.Series | None) -> pl.LazyFrame:
    """All pairs of classes in each group, and the rows of each."""
    schema = rows.collect_schema()
    if classes is not None:
        label = pl.LazyFrame({"label": classes.cast(schema["truth"])})
    else:
        sides = [rows.select(label=side).drop_nulls() for side in ("truth", "prediction")]
        label = pl.concat(sides).unique().sort("label")
    label = label.with_row_index("place")
    sides = [
        label.select(pl.col("label").alias(role), pl.col("place").alias(f"place of {role}")) for role in _COLUMNS[:2]
    ]
    pairs = sides[0].join(sides[1], how="cross")
    if keys:
        pairs = rows.select(keys).unique().join(pairs, how="cross")
    mass = pl.len().cast(pl.Int64)
    if "weight" in schema:
        mass = pl.col("weight").sum().cast(pl.Int64 if schema["weight"].is_integer() else pl.Float64)
    counts = rows.drop_nulls("truth").group_by(*keys, "truth", "prediction").agg(rows=mass)
    pairs = pairs.join(counts, on=[*keys, "truth", "prediction"], how="left", nulls_equal=True)
    pairs = pairs.with_columns(pl.col("rows").fill_null(0))
    number = pl.col("rows")
    return pairs.with_columns(
        of_truth=ratio(number, number.sum().over(*keys, "truth")),
        of_prediction=ratio(number, number.sum().over(*keys, "prediction")),
    ).sort(*keys, "place of truth", "place of prediction")
