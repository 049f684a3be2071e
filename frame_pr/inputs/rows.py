"""Turn the caller's frame into canonical rows in numbered groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import polars as pl
import polars.selectors as cs

from frame_pr.frames.kinds import Frame, collected
from frame_pr.inputs.data_warnings import warn_of_unjudged_groups, warn_of_values
from frame_pr.inputs.groups import (
    MOST_GROUPS,
    MOST_GROUPS_WITH_PLACES,
    NARROW,
    PLACES,
    Groups,
    judged_groups,
    number_groups,
)
from frame_pr.inputs.request import OTHER_SYSTEM, Request
from frame_pr.inputs.results import OutputFrame, output_of
from frame_pr.inputs.totals import FrameOfTotals, totals_frame, totals_in_frame, totals_in_rows
from frame_pr.inputs.validate import PREDICTION, Selection, selected, validate
from frame_pr.inputs.values import label_value
from frame_pr.inputs.weights import (
    WEIGHT_COLUMNS,
    CumulativeCount,
    Weights,
    ends_of,
    with_class_weights,
)


class RangeStarts(Protocol):
    """The counts at which groups start that are ranges of the scores of larger groups."""

    def continued(
        self, blocks: pl.LazyFrame, counts: Sequence[CumulativeCount], k_at: Collection[str]
    ) -> pl.LazyFrame:
        """Add to the counts of blocks those of the better ranges of the larger group."""
        ...

    def with_later_ranges(self, blocks: pl.LazyFrame) -> pl.LazyFrame:
        """Add what follows from the worse ranges to columns that follow from later blocks."""
        ...


class Rows(NamedTuple):
    """The rows to rank, and how to rank them.

    Columns: `group` (Int64), `truth` (Boolean), `score` (null if not retrieved); `weight` (in
    units, which the property `weight` makes whole), `count` and `gain` if passed; `tie`, which
    orders equal scores if they have an order; `judged` if labels may be filled in; `dropped` if
    some rows may not count.
    """

    frame: pl.LazyFrame
    """The rows that count: a plan over columns in memory."""
    height: int
    """About how many there are, which decides how they are computed."""
    request: Request
    score_dtypes: Sequence[pl.DataType]
    """The dtypes of the caller's scores, one for each system."""
    drops: bool
    """Whether some rows may not count; the column `dropped` marks them."""
    sorts_ties: bool
    """Whether `tie` holds values that order equal scores, instead of their places."""
    weights: Weights
    has_counts: bool
    """Whether a row stands for `count` rows."""
    gains: Weights
    """The gains of rows; without such a column, a positive has gain 1."""
    totals: Sequence[pl.LazyFrame]
    """`group` with the known `total_positives`, and with `total_rows`, if passed."""
    groups: int | None
    """The number of groups of a frame without keys and rows. All other groups have rows."""
    starts: RangeStarts | None = None
    """The counts at which groups start, if they are ranges of the scores of larger groups."""
    valued_groups: pl.Series | None = None
    """The groups that have values, if not all of them: in others all rows are dropped."""

    @property
    def score_dtype(self) -> pl.DataType:
        """Return the dtype of the column `score`."""
        if len({*self.score_dtypes}) == 1:
            return self.score_dtypes[0]
        return self.frame.collect_schema()["score"]

    @property
    def has_unranked(self) -> bool:
        """Return whether some rows may have no place in the ranking."""
        return self.request.keeps_unscored or self.drops

    @property
    def weight(self) -> pl.Expr:
        """Return the weight of a row, a whole number of units.

        Until it is read it stays a float, which takes half of the time to gather.
        """
        weight = pl.col("weight")
        if self.weights.fractional:
            return weight.cast(pl.Int128)
        return weight

    @property
    def number(self) -> pl.Expr:
        """Return what a row counts as: its weight, times the rows that it stands for.

        0 if it is dropped.
        """
        number = pl.lit(1, dtype=pl.Int64)
        if self.weights.name is not None:
            number = self.weight
        elif self.drops:
            number = (~pl.col("dropped")).cast(pl.Int64)
        if self.has_counts:
            number = number * pl.col("count")
        return number


def rows_of(
    frame: Frame,
    request: Request,
    *,
    all_rows: bool = False,
    all_groups: bool = False,
    unit: float | None = None,
) -> tuple[Rows, OutputFrame[Frame]]:
    """Check a frame and bring it into canonical form; several scores become a last key, `system`.

    `all_rows`: the call gives back all rows, in their order. `all_groups`: the groups of frames
    that give known totals are there, too. `unit`: that of float weights, if the frame is a part of
    a larger one.
    """
    selection = selected(frame, request, all_rows=all_rows)
    expressions = validate(selection, request)
    warn_of_values(selection, request, expressions[0])
    systems = len(selection.scores)
    frames = _frames_of_totals(selection)
    more_groups = [frames[name] for name in request.totals if name in frames] if all_groups else []
    data = _rows_of_caller(selection, request, more_groups)
    selection = selection._replace(data=data)
    most = MOST_GROUPS_WITH_PLACES if request.ordered else MOST_GROUPS
    groups = number_groups(data, list(selection.keys), most // systems, systems)
    warn_of_unjudged_groups(selection, request, groups)
    if not all_rows:
        data, groups = _counting_rows(data, groups, request)
    ranked, drops = _canonical(groups.rows, selection, request, expressions, all_rows=all_rows)
    schema = data.schema
    score_dtypes = [schema[role] for role in selection.scores]
    if request.predicted:
        # A threshold in the dtype of decimal labels would be another.
        score_dtypes = [PREDICTION] * len(score_dtypes)
    ranked = _with_one_score(ranked, selection)
    output = output_of(ranked, selection, groups)

    weights, gains = (_weights(name, selection) for name in WEIGHT_COLUMNS)
    rows = Rows(
        frame=ranked,
        height=data.height * systems,
        request=request,
        score_dtypes=score_dtypes,
        drops=drops,
        sorts_ties=request.ordered and schema["tie"] != pl.Int64,
        weights=weights,
        has_counts="count" in selection.others,
        gains=gains,
        totals=[],
        groups=None if any((selection.keys, data.height)) else systems,
    )
    number_of = partial(_numbers_of_groups, rows, output, selection, frames)
    totals = [number_of(name, weights.dtype) for name in request.totals_read]
    rows = rows._replace(totals=totals)
    if request.weights_classes:
        share = request.prevalence or number_of("prevalence", pl.Float64())
        rows = rows._replace(
            frame=with_class_weights(ranked, share, rows.number),
            drops=True,
            weights=Weights("of prevalence=", fractional=True, option="prevalence"),
        )
    rows = _in_units(rows, unit)
    if request.unjudged == "trec_eval" and all_rows:
        # A call that gives back all rows cannot leave out the groups without any label.
        rows = _without_unjudged_groups(rows, groups)
    return rows, output


def _in_units(rows: Rows, unit: float | None) -> Rows:
    """Return rows whose float weights are whole numbers of units. `unit`: None if not yet known."""
    if not rows.weights.fractional:
        return rows
    if unit is None:
        ends = ends_of(rows.frame, "weight", has_counts=rows.has_counts)
        weights = rows.weights.with_unit("weight", ends, rows.totals)
    else:
        weights = rows.weights._replace(unit=unit)
    frame = rows.frame.with_columns(weight=pl.col("weight") * weights.unit)
    return rows._replace(frame=frame, weights=weights)


def _numbers_of_groups(
    rows: Rows,
    output: OutputFrame[Any],
    selection: Selection[Any],
    frames: Mapping[str, FrameOfTotals],
    name: str,
    dtype: pl.DataType,
) -> pl.LazyFrame:
    """Return `group` and the numbers of an option, from a frame or a column."""
    if name in frames:
        groups = groups_of(rows, output)
        return totals_in_frame(frames[name], groups, dtype, has_rows=rows.height > 0)
    return totals_in_rows(rows.frame, name, selection.others[name], dtype, rows.height)


def groups_of(rows: Rows, output: OutputFrame[Any]) -> pl.LazyFrame:
    """Return the groups of rows: `group`, and its keys as `OutputFrame.restored` names them."""
    groups = rows.frame.select("group").unique()
    if rows.groups is not None:
        groups = pl.LazyFrame({"group": range(rows.groups)})
    return output.restored(groups.with_columns(number="group")).rename({"number": "group"})


def _frames_of_totals(selection: Selection[Any]) -> dict[str, FrameOfTotals]:
    """Read the frames of known numbers, by the option."""
    role_of = {name: role for role, name in selection.keys.items()}
    return {
        name: totals_frame(kind, name, role_of, selection.data.schema)
        for name, kind in selection.frames.items()
    }


def _weights(name: str, selection: Selection[Any]) -> Weights:
    """Return the weights, or gains, of a column of the caller."""
    if name not in selection.others:
        return Weights()
    is_whole = selection.data.schema[name].is_integer()
    return Weights(selection.others[name], fractional=not is_whole)


def _with_one_score(rows: pl.LazyFrame, selection: Selection[Any]) -> pl.LazyFrame:
    """Return the rows with the column `score`, without their keys.

    Of several scores, each is a group of its own within every group.
    """
    scores = list(selection.scores)
    others = cs.exclude(*selection.keys, *scores)
    if not selection.several:
        return rows.select(others, score="0")
    rows = rows.unpivot(on=scores, index=others, variable_name="system", value_name="score")
    group = pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)
    return rows.with_columns(group=group).drop("system")


def _rows_of_caller(
    selection: Selection[Any], request: Request, totals: Sequence[FrameOfTotals]
) -> pl.DataFrame:
    """Return the caller's rows, with their order. `totals`: frames whose groups are there, too."""
    data = selection.data
    # If only some totals are a frame, the groups are those of the columns that have the others.
    if selection.keys and totals and {*request.totals_read} <= {total.name for total in totals}:
        # An absent row for each group of these frames; otherwise the group would be lost.
        absent = [total.groups().with_columns(absent=True) for total in totals]
        data = pl.concat([data.with_columns(absent=False), *absent], how="diagonal")
    if request.each_row:
        data = data.with_row_index("cluster")
    if request.ordered:
        data = data.with_columns(_ties(data, request))
    return data


def _counting_rows(
    data: pl.DataFrame, groups: Groups, request: Request
) -> tuple[pl.DataFrame, Groups]:
    """Leave out rows without a count and, as trec_eval does, the groups without any label."""
    rows = groups.rows
    conditions: list[pl.Expr] = []
    if request.unjudged == "trec_eval":
        judged, count = judged_groups(groups, data.height)
        if judged.len() < count:
            is_counted = pl.col("group").is_in(judged.implode())
            if "absent" in data.columns:
                is_counted = is_counted | pl.col("absent")
            conditions.append(is_counted)
    if "count" in data.columns:
        # Only a group without rows has no value: an absent row.
        rows = rows.with_columns(pl.col("count").fill_null(1))
        conditions.append(pl.col("count") > 0)
    if not conditions:
        return data, groups
    data = collected(rows.filter(conditions))
    return data, groups._replace(rows=data.lazy())


def _canonical(
    rows: pl.LazyFrame,
    selection: Selection[Any],
    request: Request,
    expressions: Sequence[pl.Expr],
    *,
    all_rows: bool,
) -> tuple[pl.LazyFrame, bool]:
    """Return the rows with the canonical columns, and whether some of them may not count.

    `dropped` marks those.
    """
    others = selection.others
    # By any system, so that all systems are measured on the same rows.
    scores = [*selection.scores, *(role for role in others if role.startswith(OTHER_SYSTEM))]
    rows = _without_nan(rows, request, scores).with_columns(expressions)
    if request.fills_labels:
        truth = pl.col("truth")
        rows = rows.with_columns(truth.fill_null(False), judged=truth.is_not_null())
    if "gain" in others:
        # Missing only if the label is missing.
        rows = rows.with_columns(pl.col("gain").fill_null(0))
    drops: list[pl.Expr] = []
    if request.unjudged == "drop":
        drops.append(pl.col("truth").is_null())
    if request.unscored == "drop":
        drops.extend(pl.col(name).is_null() for name in scores)
    if "weight" in others:
        drops.append(pl.col("weight") == 0)
    if "absent" in selection.data.columns:
        drops.append(pl.col("absent"))
    if all_rows and "count" in others:
        drops.append(pl.col("count") == 0)
    if not drops:
        return rows, False
    return _with_dropped(rows, pl.any_horizontal(drops)), True


def _without_nan(rows: pl.LazyFrame, request: Request, scores: Sequence[str]) -> pl.LazyFrame:
    """Replace NaN by null in labels and scores that may be missing."""
    missing: list[str] = []
    if request.unscored != "raise":
        missing.extend(scores)
    if request.unjudged != "raise":
        missing.append("truth")
    if not missing:
        return rows
    return rows.with_columns((cs.by_name(missing) & cs.float()).fill_nan(None))


def _with_dropped(rows: pl.LazyFrame, condition: pl.Expr) -> pl.LazyFrame:
    """Mark rows that do not count.

    They stay, with weight and gain 0, so that their group remains.
    """
    rows = rows.with_columns(pl.col("truth").fill_null(False), dropped=condition)
    numbers = cs.by_name(*WEIGHT_COLUMNS, require_all=False)
    return rows.with_columns(pl.when(~pl.col("dropped")).then(numbers).otherwise(0))


def _without_unjudged_groups(rows: Rows, groups: Groups) -> Rows:
    """Drop the rows of groups without any label."""
    judged, count = judged_groups(groups, rows.height)
    if judged.len() == count:
        return rows
    others = ~pl.col("group").is_in(judged.implode())
    if rows.drops:
        others = others | pl.col("dropped")
    frame = _with_dropped(rows.frame, others)
    return rows._replace(frame=frame, drops=True, valued_groups=judged)


def _ties(data: pl.DataFrame, request: Request) -> pl.Series:
    """Return `tie`, which orders rows of equal score: by `tie_break`, by gain, or by row.

    Gains and integers become places, from 0 on, as Int64. Other values stay, as most of them are
    never compared.
    """
    if request.tie_rule.by_row:
        tie = pl.int_range(data.height, dtype=pl.Int64, eager=True)
    elif "tie_break" not in request.single:
        # A missing gain counts as 0, and so does its place.
        gains = label_value(data["gain"], data.schema["gain"]).fill_null(0)
        tie = gains.rank("dense")
    else:
        tie = data.get_column("tie_break")
        if tie.dtype.is_float():
            # -0.0 equals 0.0.
            tie = tie.fill_nan(None) + 0.0
        if request.tie_break_as_text:
            tie = tie.cast(pl.String)
        tie = tie.to_physical() if tie.dtype.is_temporal() else tie
    if tie.dtype not in NARROW:
        return tie.alias("tie")

    places = tie.cast(pl.Int64)
    low: Any = places.min() or 0
    high: Any = places.max() or 0
    widest = int(high) - int(low)
    if widest >= PLACES - 1:
        return tie.cast(pl.Int128).alias("tie")
    places = places - int(low)
    if request.breaks_ties_descending:
        places = -places + widest
    return places.fill_null(PLACES - 1).alias("tie")
