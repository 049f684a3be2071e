"""What the columns of a selection hold, checked and made canonical."""

from __future__ import annotations

import polars as pl

from frame_pr.frames.kinds import Frame
from frame_pr.frames.wording import shown
from frame_pr.inputs import masses, values
from frame_pr.inputs.request import TOTAL_POLICIES, Request
from frame_pr.inputs.selection import Selection
from frame_pr.inputs.suspicious_values import warn_of_values

_UNSCORED = (
    "unscored='unretrieved' counts these rows but ranks them nowhere, unscored='drop' leaves them out, or fill them"
)
_UNJUDGED = "unjudged='negative' counts these rows as negatives, unjudged='drop' leaves them out, or fill them"
_UNPREDICTED = "drop these rows, or fill them, before the call"


def canonical(selection: Selection[Frame], request: Request) -> pl.LazyFrame:
    """Check what the columns hold, and make Boolean truths of it, Int64 or Float64 weights and gains."""
    source, made = validate(selection, request)
    schema = selection.schema
    floats = [*selection.scores, *request.other_columns()] if request.unscored != "raise" else []
    floats += ["truth"] if request.unjudged != "raise" else []
    floats += ["tie_break"] if "tie_break" in selection.others else []
    if floats := [name for name in floats if schema[name].is_float()]:
        source = source.with_columns(pl.col(floats).fill_nan(None))
    return source.with_columns(made)


def validate(selection: Selection[Frame], request: Request) -> tuple[pl.LazyFrame, list[pl.Expr]]:
    """The columns as they are, with a check of what they hold, and what makes canonical ones of them."""
    schema, positive = selection.schema, request.positive
    truth = selection.others["truth"]
    type_of = selection.kind.type_of
    others = "; confusion_matrix and unpivot_classes take all classes" if request.predicted else ""
    canonical = [values.is_positive("truth", truth, schema["truth"], positive, type_of(truth), others)]
    labels = {name: values.label_of_prediction(schema[name], schema["truth"], positive) for name in selection.scores}
    categories = {name: selection.kind.categories(name) for name in (truth, *selection.scores.values())}
    for column, name in selection.scores.items():
        if request.predicted:
            canonical.append(
                values.is_positive(column, name, schema[column], labels[column], type_of(name)).cast(pl.Int8)
            )
        else:
            values.refuse_score_type(name, schema[column], type_of(name))
    for column, name in {**selection.keys, **selection.others}.items():
        values.refuse_objects("by" if column in selection.keys else column, name, schema[column])
    for name in (*masses.COLUMNS, "count", *TOTAL_POLICIES, "threshold"):
        if name in selection.others:
            values.refuse_text(name, selection.others[name], schema[name], type_of(selection.others[name]))
    if "count" in selection.others:
        canonical.append(pl.col("count").cast(pl.Int64))
    for name in masses.COLUMNS:
        if name in selection.others:
            whole = schema[name].is_integer()
            canonical.append(pl.col(name).cast(pl.Int64) if whole else pl.col(name).cast(pl.Float64).fill_nan(None))

    def check_content(data: pl.DataFrame) -> pl.DataFrame:
        ways = _UNJUDGED if request.unjudged == "raise" else ""
        values.check_labels("truth", truth, data["truth"], positive, ways)
        if positive is not None:
            values.check_occurs(truth, data["truth"], positive, categories[truth])
        for column, name in selection.scores.items():
            if request.predicted:
                values.check_labels("prediction", name, data[column], labels[column], _UNPREDICTED)
                if labels[column] is not None:
                    values.check_shared(name, data[column], truth, data["truth"], categories)
            else:
                values.check_score(name, data[column], _UNSCORED if request.unscored == "raise" else "")
        if not request.predicted and len({schema[column] for column in selection.scores}) > 1:
            values.check_common_type(list(selection.scores.values()), data.select(selection.scores.keys()))
        if "cluster" in selection.others and (missing := data["cluster"].null_count()):
            raise ValueError(
                f"cluster column {shown(selection.others['cluster'])} has {missing} missing of {data.height}: give "
                "each row its cluster, one of its own where it belongs to none"
            )
        counts = data["count"] if "count" in selection.others else None
        if counts is not None:
            masses.check_counts(selection.others["count"], counts)
        for name in masses.COLUMNS:
            if name in selection.others:
                masses.check_masses(name, selection.others[name], data[name], data["truth"], counts)
        if not request.predicted:
            warn_of_values(data, request, canonical[0], truth, selection.scores, list(selection.keys))
        return data

    return selection.compute(check_content), canonical
