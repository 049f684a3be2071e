"""Select the columns that the caller named, validate them, and cast them to the dtypes that the ranking reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Generic, cast

import polars as pl

from frame_pr.frames.arrow import stream_of
from frame_pr.frames.columns import (
    by_name,
    computed,
    expand_single,
    expanded,
    map_whole,
    needed,
    refuse_clash,
    refuse_missing,
    refuse_repeats,
    selected_names,
)
from frame_pr.frames.kinds import SMALL, Frame, FrameKind, kind_of
from frame_pr.frames.messages import shown
from frame_pr.inputs import values, weights
from frame_pr.inputs.data_warnings import columns_read, warn_of_tally, warn_of_values
from frame_pr.inputs.request import TOTAL_POLICIES, Request
from frame_pr.inputs.values import refuse_carried


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Generic[Frame]):
    """The caller's columns under our names, and these names with the caller's."""

    source: pl.LazyFrame
    columns: dict[str, pl.Expr]
    """The expressions of the columns."""
    arguments: dict[str, str]
    """The columns that are expressions of the caller, with their arguments."""
    keys: dict[str, str]
    """`by0`, `by1`, ..."""
    scores: dict[str, str]
    """`0`, `1`, ..."""
    others: dict[str, str]
    """`truth`, and if passed `weight`, `count`, `gain`, `tie_break`, `total_positives`, `total_rows`."""
    several: bool
    """Whether the scores are systems, even if there is only one."""
    kind: FrameKind[Frame]

    @cached_property
    def frame(self) -> pl.LazyFrame:
        """Return the columns, not computed yet."""
        return self.source.select(**self.columns)

    @cached_property
    def schema(self) -> pl.Schema:
        """Return the dtypes of the columns."""
        return self.frame.collect_schema()

    def compute(self, check: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.LazyFrame:
        """Return the columns, validated: now if the frame is in memory, otherwise at collect."""
        if (height := self.kind.height) is not None:
            data = computed(self.frame, self.source, self.columns, self.arguments, height)
            # Rechunk small frames, because every operation needs time for each chunk.
            return check(data.rechunk() if height < SMALL else data).lazy()
        table = self.frame
        if self.arguments:
            compute = partial(_computed, columns=self.columns, arguments=self.arguments)
            read = needed(self.source, self.columns.values())
            table = map_whole(self.source.select(map(by_name, read)), compute, self.schema)
        # Cache it, because the groups are numbered from it too: it is read once and cannot differ between two reads.
        return table.map_batches(check, schema=self.schema).cache()


def selected(frame: Frame, request: Request, *, carry: bool) -> Selection[Frame]:
    """Find the caller's columns."""
    kind, named_columns = kind_of(frame if carry else _projected(frame, request)), request.arguments
    for argument, items in named_columns.items():
        kind.refuse_missing(items, argument)
    source = kind.read(request.columns())
    if carry and kind.carried:
        refuse_carried(source.collect_schema())
    by, _, of_scores, *_ = named_columns
    keys, scores = (expanded(source, argument, named_columns[argument]) for argument in (by, of_scores))
    single = {name: expand_single(source, name, item) for name, item in request.single.items()}
    in_parts = request.parts()
    if not all(isinstance(item, str) for _, item in in_parts):
        refuse_repeats((argument, name) for argument, item in in_parts for name in selected_names(source, item))
    source = warn_of_tally(kind, source, request)
    several = request.several or len(scores) > 1
    if several and carry:
        raise ValueError(f"score gives {len(scores)} columns: metrics as extra columns need one score at a time")
    if several:
        refuse_clash(keys, ["system"])
    named = {by: {f"by{i}": column for i, column in enumerate(keys.values())}}
    named |= {of_scores: {str(i): column for i, column in enumerate(scores.values())}}
    named |= {name: {name: column} for name, (_, column) in single.items()}
    has_expressions = {
        argument: any(isinstance(item, pl.Expr) for item in items) for argument, items in named_columns.items()
    }
    return Selection(
        source=source,
        columns={name: column for each in named.values() for name, column in each.items()}
        | dict(kind.carried if carry else {}),
        arguments={name: argument for argument, each in named.items() if has_expressions[argument] for name in each},
        keys={f"by{i}": name for i, name in enumerate(keys)},
        scores={str(i): name for i, name in enumerate(scores)},
        others={name: column for name, (column, _) in single.items()},
        several=several,
        kind=kind,
    )


def _projected(frame: Frame, request: Request) -> Frame:
    """Select the columns that the call reads from a stream; return all other frames as they are."""
    if (stream := stream_of(frame)) is None:
        return frame
    columns = list(stream.columns(frame))
    for argument, items in request.arguments.items():
        refuse_missing(items, columns, argument=argument)
    names = columns_read(columns, request)
    return frame if names is None else cast(Frame, stream.project(frame, names))


def _computed(frame: pl.DataFrame, columns: dict[str, pl.Expr], arguments: dict[str, str]) -> pl.DataFrame:
    source = frame.lazy()
    return computed(source.select(**columns), source, columns, arguments, frame.height)


_UNSCORED = (
    "unscored='unretrieved' counts these rows but ranks them nowhere, unscored='drop' leaves them out, or fill them"
)
_UNJUDGED = "unjudged='negative' counts these rows as negatives, unjudged='drop' leaves them out, or fill them"
_UNPREDICTED = "drop these rows, or fill them, before the call"


def canonical(selection: Selection[Frame], request: Request) -> pl.LazyFrame:
    """Check the values, and make the truth Boolean, and weights and gains Int64 or Float64."""
    source, made = validate(selection, request)
    schema = selection.schema
    floats = [*selection.scores, *request.other_columns()] if request.unscored != "raise" else []
    floats += ["truth"] if request.unjudged != "raise" else []
    floats += ["tie_break"] if "tie_break" in selection.others else []
    if floats := [name for name in floats if schema[name].is_float()]:
        source = source.with_columns(pl.col(floats).fill_nan(None))
    return source.with_columns(made)


def validate(selection: Selection[Frame], request: Request) -> tuple[pl.LazyFrame, list[pl.Expr]]:
    """Return the columns as they are, with a check of their values and the expressions of the canonical columns."""
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
    for name in (*weights.COLUMNS, "count", *TOTAL_POLICIES, "prevalence", "threshold"):
        if name in selection.others:
            values.refuse_text(name, selection.others[name], schema[name], type_of(selection.others[name]))
    if "count" in selection.others:
        canonical.append(pl.col("count").cast(pl.Int64))
    for name in weights.COLUMNS:
        if name in selection.others:
            whole = schema[name].is_integer()
            canonical.append(pl.col(name).cast(pl.Int64) if whole else pl.col(name).cast(pl.Float64).fill_nan(None))

    def check_content(data: pl.DataFrame) -> pl.DataFrame:
        counts = data["count"] if "count" in selection.others else None
        if counts is not None:
            weights.check_counts(selection.others["count"], counts)
        ways = _UNJUDGED if request.unjudged == "raise" else ""
        values.check_labels("truth", truth, data["truth"], positive, ways, counts)
        if positive is not None:
            values.check_occurs(truth, data["truth"], positive, categories[truth])
        for column, name in selection.scores.items():
            if request.predicted:
                values.check_labels("prediction", name, data[column], labels[column], _UNPREDICTED)
                if labels[column] is not None:
                    values.check_shared(name, data[column], truth, data["truth"], categories)
            else:
                values.check_score(name, data[column], _UNSCORED if request.unscored == "raise" else "", counts)
        if not request.predicted and len({schema[column] for column in selection.scores}) > 1:
            values.check_common_type(list(selection.scores.values()), data.select(selection.scores.keys()))
        if "cluster" in selection.others and (missing := data["cluster"].null_count()):
            raise ValueError(
                f"cluster column {shown(selection.others['cluster'])} has {missing} missing of {data.height}: give "
                "each row its cluster, one of its own where it belongs to none"
            )
        for name in weights.COLUMNS:
            if name in selection.others:
                weights.check_weights(name, selection.others[name], data[name], data["truth"], counts)
        if not request.predicted:
            warn_of_values(data, request, canonical[0], truth, selection.scores, selection.keys)
        return data

    return selection.compute(check_content), canonical
