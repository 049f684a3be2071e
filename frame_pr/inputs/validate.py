"""Select the caller's columns, validate them, and cast them to what the ranking reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

from frame_pr.frames.columns import (
    by_name,
    listed,
    refuse_clash,
    refuse_missing,
    refuse_repeats,
    selected_names,
)
from frame_pr.frames.dispatch import kind_of, project_stream, stream_columns
from frame_pr.frames.kinds import SMALL, Frame, FrameKind
from frame_pr.frames.messages import first_line, pluralize, shown
from frame_pr.inputs import values, weights
from frame_pr.inputs.request import TOTAL_OPTIONS, Request, kind_of_totals

Item = TypeVar("Item")

PREDICTION = pl.Int8()
"""The dtype of predictions among canonical scores, 0 or 1."""


class Selection(NamedTuple, Generic[Frame]):
    """The caller's columns under our names, and these names with the caller's."""

    kind: FrameKind[Frame]
    data: pl.DataFrame
    arguments: dict[str, str]
    """The columns that are expressions of the caller, with their arguments."""
    keys: dict[str, str]
    """`key0`, `key1`, ..."""
    scores: dict[str, str]
    """`0`, `1`, ..."""
    others: dict[str, str]
    """`truth`, and if passed `weight`, `count`, `gain`, `tie_break`, `total_positives`,
    `total_rows`.
    """
    several: bool
    """Whether the scores are systems, even if there is only one."""
    frames: dict[str, FrameKind[Any]]
    """The frames of known totals and of prevalences, by the option."""


def selected(
    frame: Frame,
    request: Request,
    *,
    all_rows: bool = False,
    classes: Sequence[Any] | None = None,
) -> Selection[Frame]:
    """Find the caller's columns.

    `all_rows`: whether the call gives back all rows of the frame. `classes`: the labels that the
    caller lists, or none of them, if all labels of truth and prediction are classes.
    """
    kind = kind_of(frame, None if all_rows else partial(_projected, request=request))
    for argument, items in request.arguments.items():
        kind.refuse_missing(items, argument)
    refuse_repeats(request.distinct)
    frames = {name: kind_of_totals(name, frame) for name, frame in request.frames.items()}
    kind, others_read = kind.with_keys(request.codes, list(frames.values()))
    frames = dict(zip(frames, others_read, strict=True))
    kind = _with_labels(kind, request, classes)
    if any(isinstance(item, pl.Expr) for item in request.columns):
        names, data, arguments = _computed(kind, request)
    else:
        columns = _by_role(request.keys, request.scores, request.single)
        names = {role: str(name) for role, name in columns.items()}
        arguments = {}
        data = pl.DataFrame([kind.column(name).alias(role) for role, name in columns.items()])
    keys = {role: name for role, name in names.items() if role.startswith("key")}
    scores = {role: name for role, name in names.items() if role.isdecimal()}
    others = {role: names[role] for role in request.single}
    several = request.several or len(scores) > 1
    if several:
        refuse_clash(keys.values(), ["system"])
        if all_rows:
            raise ValueError(
                "score must be one column, not a list: metrics as extra columns need one score at "
                "a time"
            )
    # Every operation needs time for each chunk, and a copy of a large frame would need memory.
    data = data.rechunk() if kind.height < SMALL else data
    return Selection(kind, data, arguments, keys, scores, others, several, frames)


def _with_labels(
    kind: FrameKind[Frame], request: Request, classes: Sequence[Any] | None
) -> FrameKind[Frame]:
    """Return the frame with labels that polars compares, also if it does not have their type."""
    if classes is not None:
        return kind.with_labels([request.single["truth"], *request.scores], classes)
    if request.positive is None:
        return kind
    predictions = request.scores if request.predicted else []
    return kind.with_labels([request.single["truth"], *predictions])


def _by_role(
    keys: Iterable[Item], scores: Iterable[Item], single: Mapping[str, Item]
) -> dict[str, Item]:
    """Return the items of columns under our names of the columns."""
    named = {f"key{i}": key for i, key in enumerate(keys)} | {
        str(i): score for i, score in enumerate(scores)
    }
    return {**named, **single}


def _computed(
    kind: FrameKind[Any], request: Request
) -> tuple[dict[str, str], pl.DataFrame, dict[str, str]]:
    """Compute the caller's expressions.

    The names of all columns, their data, and the arguments of expressions.
    """
    source = kind.read(request.columns)
    score = request.score
    keys = expanded(source, "by", request.keys)
    scores = expanded(source, score, request.scores)
    single = {role: expand_single(source, role, item) for role, item in request.single.items()}
    refuse_repeats(
        (argument, name)
        for argument, item in request.distinct
        for name in selected_names(source, item)
    )
    named = _by_role(keys.items(), scores.items(), single)
    argument_of = _by_role(
        ["by"] * len(keys), [score] * len(scores), {role: role for role in single}
    )
    computed_by = [
        name
        for name, items in request.arguments.items()
        if any(isinstance(x, pl.Expr) for x in items)
    ]
    arguments = {
        role: argument for role, argument in argument_of.items() if argument in computed_by
    }
    # Columns of the frame stay as they are: a query would copy texts if the chunks of the columns
    # differ, as they do after a join.
    unchanged = [
        kind.column(name).alias(role) for role, (name, _) in named.items() if role not in arguments
    ]
    columns = {role: named[role][1] for role in arguments}
    if unchanged:
        # A literal gets as many rows as these columns have.
        columns["rows"] = pl.repeat(None, pl.len(), dtype=pl.Null)
    data = computed(source, columns, arguments, kind.height)
    data = data.drop("rows", strict=False).with_columns(unchanged)
    return {role: name for role, (name, _) in named.items()}, data, arguments


def _projected(frame: Any, request: Request) -> Any:
    """Select the columns that the call reads from a stream.

    Return all other objects as they are.
    """
    if (columns := stream_columns(frame)) is None:
        return frame
    for argument, items in request.arguments.items():
        refuse_missing(items, columns, argument=argument)
    items = request.columns
    if any(isinstance(item, pl.Expr) for item in items) or len({*columns}) < len(columns):
        return frame
    return project_stream(frame, list(dict.fromkeys(map(str, items))))


_NUMERIC_ROLES = {*weights.WEIGHT_COLUMNS, "count", *TOTAL_OPTIONS, "prevalence", "threshold"}
_UNSCORED = (
    "unscored='unretrieved' counts these rows but ranks them nowhere, unscored='drop' leaves them "
    "out, or fill them"
)
_UNJUDGED = (
    "unjudged='negative' counts these rows as negatives, unjudged='drop' leaves them out, or fill "
    "them"
)
_UNPREDICTED = "drop these rows, or fill them, before the call"


def validate(selection: Selection[Any], request: Request) -> list[pl.Expr]:
    """Check the columns, and return the expressions of the canonical columns."""
    truth = selection.others["truth"]
    positive = None
    if request.positive is not None:
        positive = selection.kind.label(truth, request.positive)
    schema = selection.data.schema
    expressions = _labels_and_scores(selection, schema, request, positive)
    for role, name in selection.keys.items():
        values.refuse_objects("by", name, schema[role])
    for role in selection.others:
        expressions.extend(_number(role, schema[role], selection, request))
    _check_values(selection, request, positive)
    return expressions


def _labels_and_scores(
    selection: Selection[Any], schema: pl.Schema, request: Request, positive: object
) -> list[pl.Expr]:
    """Check the dtypes of labels and scores, and return whether each label is positive."""
    kind = selection.kind
    data = selection.data
    truth = selection.others["truth"]
    dtype = schema["truth"]
    others = "; confusion_matrix and unpivot_classes take all classes" if request.predicted else ""
    labels = data["truth"] if data.height else None
    of_truth = values.is_positive(
        "truth", truth, dtype, positive, kind.type_of(truth), others, labels
    )
    expressions = [of_truth]
    for role, name in selection.scores.items():
        score_dtype = schema[role]
        if not request.predicted:
            values.refuse_score_type(name, score_dtype, kind.type_of(name))
            continue
        label = values.label_of_prediction(score_dtype, dtype, positive)
        predicted = values.is_positive(role, name, score_dtype, label, kind.type_of(name))
        expressions.append(predicted.cast(PREDICTION))
    return expressions


def _number(
    role: str, dtype: pl.DataType, selection: Selection[Any], request: Request
) -> Iterator[pl.Expr]:
    """Check the dtype of a single column; of weights, gains and counts, yield them as canonical."""
    name = selection.others[role]
    shown_dtype = selection.kind.type_of(name)
    values.refuse_objects(role, name, dtype)
    if role == "tie_break" and request.tie_break_as_text:
        values.refuse_no_text(role, name, dtype, shown_dtype)
    if role in _NUMERIC_ROLES:
        values.refuse_text(role, name, dtype, shown_dtype)
    if role == "count" or (role in weights.WEIGHT_COLUMNS and dtype.is_integer()):
        yield pl.col(role).cast(pl.Int64)
    elif role in weights.WEIGHT_COLUMNS:
        yield pl.col(role).cast(pl.Float64).fill_nan(None)


def _check_values(selection: Selection[Any], request: Request, positive: object) -> None:
    """Check the values of the columns. `positive`: the positive label of `truth`."""
    data = selection.data
    if request.unjudged == "drop":
        # A row that is left out may lack other values, too.
        has_label = values.label_value(pl.col("truth"), data.schema["truth"]).is_not_null()
        data = data.filter(has_label)
        selection = selection._replace(data=data)
    others = selection.others
    labels = data["truth"]
    counts = data["count"] if "count" in others else None
    if counts is not None:
        weights.check_counts(others["count"], counts)
    advice = _UNJUDGED if request.unjudged == "raise" else ""
    values.check_labels("truth", others["truth"], labels, positive, advice)
    if positive is not None and not request.is_part:
        values.check_occurs(others["truth"], labels, positive)
    if request.predicted:
        _check_predictions(selection, positive)
    else:
        _check_scores(selection, request)
    if "cluster" in others:
        values.refuse_missing_clusters(others["cluster"], data["cluster"])
    for role in weights.WEIGHT_COLUMNS:
        if role in others:
            weights.check_weights(role, others[role], data[role], labels, counts)


def _check_predictions(selection: Selection[Any], positive: object) -> None:
    """Check the values of predicted labels."""
    data = selection.data
    for role, name in selection.scores.items():
        label = values.label_of_prediction(data.schema[role], data.schema["truth"], positive)
        values.check_labels("prediction", name, data[role], label, _UNPREDICTED)
        if label is not None:
            values.check_shared(name, data[role], selection.others["truth"], data["truth"])


def _check_scores(selection: Selection[Any], request: Request) -> None:
    """Check the values of scores, and that several scores have a common dtype."""
    data = selection.data
    scores = selection.scores
    advice = _UNSCORED if request.unscored == "raise" else ""
    columns = [data.get_column(role) for role in scores]
    for name, column in zip(scores.values(), columns, strict=True):
        values.check_score(name, column, advice)
    if len({column.dtype for column in columns}) > 1:
        values.check_common_type(list(scores.values()), data.select(scores.keys()))


def expanded(source: pl.LazyFrame, argument: str, items: Sequence[Any]) -> dict[str, pl.Expr]:
    """Return the expression of each column by its name, with selectors expanded."""
    columns: dict[str, pl.Expr] = {}
    for item in items:
        if not isinstance(item, pl.Expr):
            names = [str(item)]
            expressions = [by_name(item)]
        else:
            try:
                names = source.select(item).collect_schema().names()
            except (pl.exceptions.PolarsError, TypeError) as error:
                if not item.meta.has_multiple_outputs():
                    refuse_missing(
                        item.meta.root_names(), source.collect_schema().names(), argument=argument
                    )
                raise ValueError(
                    f"{argument}: this expression does not fit the frame: {first_line(error)}"
                ) from None
            if not names:
                raise ValueError(f"{argument}: this selector selects no column of the frame")
            # Inside `group_by`, a column becomes a list and an aggregation does not. A literal is
            # broadcast to every row.
            of_columns = item.meta.root_names() or item.meta.has_multiple_outputs()
            grouped = source.group_by(pl.lit(0)).agg(value=pl.struct(item)).collect_schema()
            if of_columns and grouped["value"] != pl.List:
                raise ValueError(
                    f"{argument}: this expression gives one value for all rows: leave out the "
                    f"aggregation, or end it "
                    "with .over(...)"
                )
            # Select by position: `field` too reads some names as patterns.
            places = [str(place) for place in range(len(names))]
            numbered = pl.struct(item).struct.rename_fields(places)
            expressions = (
                [item] if len(names) == 1 else [numbered.struct.field(place) for place in places]
            )
        for name in names:
            if name in columns:
                raise ValueError(f"{argument} gives column {shown(name)} twice")
        columns |= zip(names, expressions, strict=True)
    return columns


def expand_single(source: pl.LazyFrame, argument: str, item: Any) -> tuple[str, pl.Expr]:
    """Return the name and the expression of an argument that must be a single column."""
    columns = expanded(source, argument, listed(argument, item))
    if len(columns) != 1:
        raise ValueError(f"{argument} gives {len(columns)} columns: it must be one")
    return next(iter(columns.items()))


def computed(
    source: pl.LazyFrame, columns: Mapping[str, pl.Expr], arguments: Mapping[str, str], height: int
) -> pl.DataFrame:
    """Collect these columns of a frame, which must have one value for each row.

    `arguments`: the argument of each column that is an expression of the caller, for the error if
    it fails.
    """
    fault: BaseException = ValueError(
        f"{' and '.join(dict.fromkeys(arguments.values()))} name no column of the frame: one has to"
    )
    try:
        result = source.select(**columns).collect(engine="in-memory")
        if not arguments or result.height == height:
            return result
    except (Exception, pl.exceptions.PanicException) as error:
        fault = error
    for name, argument in arguments.items():
        try:
            number = source.select(columns[name]).collect(engine="in-memory").height
        except (Exception, pl.exceptions.PanicException) as error:
            raise ValueError(
                f"{argument}: this expression cannot be computed: {first_line(error)}"
            ) from None
        if number != height and columns[name].meta.root_names():
            values = pluralize(number, "value", "values")
            rows = pluralize(height, "row", "rows")
            raise ValueError(
                f"{argument}: this expression gives {values} for {rows}, not one value for every "
                f"row: filter the frame "
                "before the call"
            )
    raise fault
