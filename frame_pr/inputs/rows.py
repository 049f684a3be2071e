"""Turn the caller's frame into canonical rows in numbered groups, and results into its keys and kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any, Generic, NamedTuple, TypeAlias, cast

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name, refuse_clash, refuse_existing
from frame_pr.frames.kinds import Frame, FrameKind, engine_for, on_frame
from frame_pr.inputs.data_warnings import may_be_tally
from frame_pr.inputs.request import OTHER_SYSTEM, Request
from frame_pr.inputs.sort_keys import PLACES, SortKey, group_limit
from frame_pr.inputs.totals import (
    FrameOfTotals,
    Typed,
    totals_frame,
    totals_in_frame,
    totals_in_rows,
)
from frame_pr.inputs.validate import Selection, selected, validate
from frame_pr.inputs.weights import (
    WEIGHT_COLUMNS,
    Weights,
    class_counts,
    class_weights,
    shares_of_positives,
    with_class_weights,
)

Recode: TypeAlias = Callable[[pl.LazyFrame], pl.LazyFrame]
_HASHED_FROM = 2**12
"""Rows from which it pays to hash keys before they are looked up."""
_UNSIGNED = (pl.Boolean, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_INTEGERS = (
    *_UNSIGNED,
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.Date,
    pl.Time,
    pl.Datetime,
    pl.Duration,
)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The rows to rank, and how to rank them.

    Columns: `group` (Int64), `truth` (Boolean), `score` (null if not retrieved); `weight` (a whole
    number of units), `count`, `gain` and `tie` if passed; `judged` if labels may be filled in.
    """

    frame: pl.LazyFrame
    """The rows that count: a plan over columns in memory."""
    height: int
    """About how many there are, which decides how they are computed."""
    request: Request
    key: SortKey
    weights: Weights
    has_counts: bool
    """Whether a row stands for `count` rows."""
    gains: Weights
    """The gains of rows; without such a column, a positive has gain 1."""
    totals: list[pl.LazyFrame]
    """`group` with the known `total_positives`, and with `total_rows`, if passed."""
    starts: pl.LazyFrame | None
    """If groups are ranges of scores of larger groups: `group` with the counts at the start of the range,
    `blocks.START`.
    """
    groups: int | None
    """The number of groups, without `by`."""
    valued_groups: pl.Series | None = None
    """The groups that may have values, if not all of them; in others every metric is null, and all rows are dropped."""

    @cached_property
    def has_unranked(self) -> bool:
        """Return whether some rows may have no place in the ranking."""
        return self.request.keeps_unscored or self.key.drops

    @property
    def number(self) -> pl.Expr:
        """Return what a row counts as: its weight, times the rows that it stands for; 0 if it is dropped."""
        number = pl.lit(1, dtype=pl.Int64)
        if self.weights.name is not None:
            number = pl.col("weight")
        elif self.key.drops:
            number = (~pl.col("dropped")).cast(pl.Int64)
        return number * pl.col("count") if self.has_counts else number


class OutputFrame(NamedTuple, Generic[Frame]):
    """The output of a call: restores the caller's keys from `group`, and the caller's kind of frame."""

    kind: FrameKind[Frame]
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    """The names of the scores, if there are several; then `system` is the last key."""
    restore: Recode
    """The mapping from `group` to the keys."""
    rows: pl.LazyFrame
    """The caller's rows in input order, plus the columns needed to rebuild them."""

    @property
    def key_columns(self) -> dict[str, str]:
        """Return the columns of `restored` by the names of their keys."""
        return {key: f"key{i}" for i, key in enumerate(self.keys)}

    def restored(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return a table with the keys as `key0`, `key1`, and so on, so that no key has the name of another column."""
        packed = "_" + max(self.keys, key=len, default="")  # Longer than any key.
        table = self.restore(table.select("group", pl.struct(pl.exclude("group")).alias(packed)))
        keys = {name: by_name(key) for key, name in self.key_columns.items()}
        return table.select(by_name(packed), **keys).unnest(packed)

    def result(self, table: pl.LazyFrame, columns: Sequence[str]) -> Frame:
        """Return the keys, then these columns of a table with a `group`, as a frame of the caller's kind."""
        refuse_clash(self.keys, columns)
        values = list(map(by_name, columns))
        result = self.restore(table.select("group", *values)).select(
            *map(by_name, self.keys), *values
        )
        return self.give(result, self.keys)

    def give(self, result: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """Return a result as a frame of the caller's kind."""
        return self.kind.give(
            result, [key for key in keys if not (self.systems and key == "system")]
        )

    def append_columns(self, table: pl.LazyFrame, columns: Sequence[str], prefix: str) -> Frame:
        """Return the caller's rows in their order, each with these columns of the row of the table with its `group`."""
        new = {prefix + name: by_name(name) for name in columns}
        refuse_existing(new, self.kind.columns)
        joined = self.rows.join(
            table.select("group", **new), on="group", how="left", maintain_order="left"
        )
        return self.kind.append_columns(joined, list(new))

    def gather_columns(
        self,
        columns: list[pl.Series],
        formulas: Mapping[str, pl.Expr],
        block_numbers: list[pl.Series],
        prefix: str,
    ) -> Frame:
        """Return the caller's rows in their order, each with these formulas of the columns at its block number.

        Both lists are emptied, so that a column does not stay in memory after the last time that it
        is read.
        """
        new = {prefix + name: formula for name, formula in formulas.items()}
        number, gathered = block_numbers.pop(), []
        while columns:
            # Gathering takes most of the time, and less for narrow columns.
            column = columns.pop()
            column = column.shrink_dtype() if column.dtype.is_integer() else column
            gathered.append(column.rechunk().gather(number))
        del number, column
        table = pl.LazyFrame(gathered).cast({cs.integer(): pl.Int64})
        del gathered
        return self.kind.append_columns(table.select(**new), list(new))


def on_rows(
    frame: Frame,
    request: Request,
    compute: Callable[[Any, Request], Any],
    *,
    all_rows: bool = False,
) -> Frame:
    """Apply a function of a frame in memory to any frame; see `on_frame`. `all_rows`: it gives back all rows."""
    if not isinstance(frame, pl.LazyFrame):
        return cast(Frame, compute(frame, request))
    items = (
        None
        if all_rows or may_be_tally(frame.collect_schema().names(), request)
        else request.columns
    )
    empty = request.without_rows()
    return on_frame(
        frame, lambda rows: compute(rows, request), items, lambda rows: compute(rows, empty)
    )


def rows_of(
    frame: Frame,
    request: Request,
    *,
    all_rows: bool = False,
    all_groups: bool = False,
    starts: pl.DataFrame | None = None,
    unit: float | None = None,
) -> tuple[Rows, OutputFrame[Frame]]:
    """Check a frame and bring it into canonical form; several scores become a last key, `system`.

    `all_rows`: the call gives back all rows, in their order. `all_groups`: the groups of frames
    that give known totals are there, too. `starts`: a frame of the keys as `OutputFrame.restored`
    names them, and of the columns of `blocks.START`. `unit`: that of float weights, if the frame is
    a part of a larger one.
    """
    selection = selected(frame, request, all_rows=all_rows)
    expressions = validate(selection, request)
    keys, scores, others, schema = (
        list(selection.keys),
        list(selection.scores),
        selection.others,
        selection.data.schema,
    )
    role_of = dict(zip(selection.keys.values(), keys, strict=True))
    frames = {
        name: totals_frame(kind, name, role_of, schema) for name, kind in selection.frames.items()
    }
    more_groups = [frames[name] for name in request.totals if name in frames] if all_groups else []
    data = _counting_rows(selection, request, more_groups, all_rows=all_rows)
    groups = number_groups(data, keys, group_limit(ordered=request.ordered) // len(scores))
    rows, drops = _canonical(groups.rows, selection, request, expressions, all_rows=all_rows)
    rows = (
        _stacked(rows.drop(keys), scores)
        if selection.several
        else rows.drop(keys).rename({"0": "score"})
    )
    weights, gains = (
        Weights(others.get(name), fractional=name in others and not schema[name].is_integer())
        for name in WEIGHT_COLUMNS
    )

    def per_group(name: str, dtype: pl.DataType, typed: Typed | None = None) -> pl.LazyFrame:
        """Return a number that is known of each group, from a column or a frame."""
        if name in frames:
            return totals_in_frame(frames[name], groups.look_up, len(scores), dtype, typed)
        return totals_in_rows(rows, name, others[name], dtype, None if keys else len(scores), typed)

    totals = [per_group(name, weights.dtype) for name in request.totals_read]
    if (share := request.prevalence) is not None:
        share = (
            share
            if isinstance(share, float)
            else per_group("prevalence", pl.Float64(), shares_of_positives)
        )
        of_classes = class_weights(
            class_counts(rows, has_counts="count" in others, drops=drops), share
        )
        rows = with_class_weights(rows, of_classes, drops=drops)
        weights, drops = Weights("of prevalence=", fractional=True, option="prevalence"), True
    if unit is not None:
        weights = weights._replace(unit=unit)
    else:
        weights = weights.with_unit(rows, "weight", has_counts="count" in others, totals=totals)
    if weights.fractional:
        rows = rows.with_columns(weight=weights.in_units(pl.col("weight")))
    ranked = Rows(
        frame=rows,
        height=data.height * len(scores),
        request=request,
        key=_sort_key(rows, selection, request, drops=drops),
        weights=weights,
        has_counts="count" in others,
        gains=gains,
        totals=totals,
        starts=None
        if starts is None
        else groups.look_up(starts.lazy().rename({f"key{i}": key for i, key in enumerate(keys)})),
        groups=None if keys else len(scores),
    )
    output = _output_of(rows, selection, groups)
    # A call that gives back all rows cannot leave out the groups without any label.
    return _of_judged_groups(
        ranked
    ) if request.unjudged == "trec_eval" and all_rows else ranked, output


def _sort_key(
    rows: pl.LazyFrame, selection: Selection[Any], request: Request, *, drops: bool
) -> SortKey:
    """Return the layout of the sort keys of rows with these scores."""
    dtypes = [selection.data.schema[score] for score in selection.scores]
    if request.predicted:
        # A prediction is 0 or 1 by now. A threshold in the dtype of decimal labels would be another.
        dtypes = [pl.Int8()] * len(dtypes)
    return SortKey(
        dtype=rows.collect_schema()["score"] if selection.several else dtypes[0],
        ascending=request.ascending,
        hits_first=request.tie_rule.bounds and request.tie_rule.descending,
        drops=drops,
        score_dtypes=dtypes,
        places=PLACES if request.ordered else 1,
    )


def _output_of(
    rows: pl.LazyFrame, selection: Selection[Frame], groups: Groups
) -> OutputFrame[Frame]:
    """Return the output of a call. If there are several systems, `system` is the last key."""
    keys, systems = (
        tuple(selection.keys.values()),
        tuple(selection.scores.values()) if selection.several else (),
    )
    restore = partial(_restored, groups=groups, names=selection.keys, systems=systems)
    return OutputFrame(
        selection.kind, (*keys, "system") if systems else keys, systems, restore, rows
    )


def _counting_rows(
    selection: Selection[Any], request: Request, totals: Sequence[FrameOfTotals], *, all_rows: bool
) -> pl.DataFrame:
    """Return the caller's rows that count. `totals`: the frames whose groups are there, too."""
    data, keys = selection.data, list(selection.keys)
    if request.unjudged == "trec_eval" and not all_rows:
        # Leave out groups without any label.
        label = (
            pl.col("truth").fill_nan(None) if data.schema["truth"].is_float() else pl.col("truth")
        )
        is_judged = label.is_not_null().any()
        data = data.filter(is_judged.over(*keys) if keys else is_judged)
    # If only some totals are a frame, the groups are those of the columns that have the others.
    if keys and totals and request.totals_read.keys() <= {total.name for total in totals}:
        # An absent row for each group of these frames; otherwise the group would be lost.
        absent = [total.groups().with_columns(absent=True) for total in totals]
        data = pl.concat([data.with_columns(absent=False), *absent], how="diagonal")
    if "count" in selection.others and not all_rows:
        counts = data.get_column("count")
        if counts.null_count() or not (counts > 0).all():
            # Only a group without rows has no value: an absent row.
            data = data.with_columns(pl.col("count").fill_null(1)).filter(pl.col("count") > 0)
    data = data.with_row_index("cluster") if request.each_row else data
    return data.with_columns(_places(data, request)) if request.ordered else data


def _canonical(
    rows: pl.LazyFrame,
    selection: Selection[Any],
    request: Request,
    expressions: Sequence[pl.Expr],
    *,
    all_rows: bool,
) -> tuple[pl.LazyFrame, bool]:
    """Return the rows with the canonical columns, and whether some of them may not count: `dropped` marks those."""
    others, schema = selection.others, selection.data.schema
    # By any system, so that all systems are measured on the same rows.
    scores = [*selection.scores, *(role for role in others if role.startswith(OTHER_SYSTEM))]
    floats = scores if request.unscored != "raise" else []
    floats = [*floats, "truth"] if request.unjudged != "raise" else floats
    if floats := [name for name in floats if schema[name].is_float()]:
        rows = rows.with_columns(pl.col(floats).fill_nan(None))
    rows = rows.with_columns(expressions)
    if request.fills_labels:
        rows = rows.with_columns(
            pl.col("truth").fill_null(False), judged=pl.col("truth").is_not_null()
        )
    if "gain" in others:
        rows = rows.with_columns(
            pl.col("gain").fill_null(0)
        )  # Missing only if the label is missing.
    drops = [pl.col("truth").is_null()] if request.unjudged == "drop" else []
    drops += [pl.col(name).is_null() for name in scores] if request.unscored == "drop" else []
    drops += [pl.col("weight") == 0] if "weight" in others else []
    drops += [pl.col("absent")] if "absent" in rows.collect_schema() else []
    drops += [pl.col("count") == 0] if all_rows and "count" in others else []
    if not drops:
        return rows, False
    return _with_dropped(
        rows, pl.any_horizontal(drops), [name for name in WEIGHT_COLUMNS if name in others]
    ), True


def _with_dropped(rows: pl.LazyFrame, condition: pl.Expr, numbers: Collection[str]) -> pl.LazyFrame:
    """Mark rows that do not count. They stay, with weight and gain 0, so that their group remains."""
    rows = rows.with_columns(pl.col("truth").fill_null(False), dropped=condition)
    return rows.with_columns(
        pl.when("dropped").then(0).otherwise(name).alias(name) for name in numbers
    )


def _of_judged_groups(rows: Rows) -> Rows:
    """Drop the rows of groups without any label."""
    judged = rows.frame.filter("judged").select(pl.col("group").unique()).collect().to_series()
    numbers = [
        name
        for name, weights in zip(WEIGHT_COLUMNS, (rows.weights, rows.gains), strict=True)
        if weights.name
    ]
    others = ~pl.col("group").is_in(judged.implode())
    frame = _with_dropped(
        rows.frame, others | pl.col("dropped") if rows.key.drops else others, numbers
    )
    return replace(rows, frame=frame, key=replace(rows.key, drops=True), valued_groups=judged)


def _restored(
    table: pl.LazyFrame, groups: Groups, names: Mapping[str, str], systems: Sequence[str]
) -> pl.LazyFrame:
    """Replace the `group` of a table by the caller's keys. If groups are stacked, the last key is the system."""
    if systems:
        group = pl.col("group")
        system = pl.lit(pl.Series(systems)).gather(group % len(systems))
        table = table.with_columns(system=system, group=group // len(systems))
    return groups.restore(table).rename(names)


def present(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Drop the absent rows."""
    return rows.filter(~pl.col("absent")) if "absent" in rows.collect_schema() else rows


def _places(data: pl.DataFrame, request: Request) -> pl.Series:
    """Return `tie`, the place of each row among equal scores: by `tie_break` with null last, by gain, or by row."""
    rule, descending = request.tie_rule, request.tie_rule.descending
    if rule.by_row:
        place = pl.int_range(data.height, dtype=pl.Int64, eager=True).alias("tie")
        return PLACES - 1 - place if descending else place
    if "tie_break" in request.single:
        descending, column = (
            request.options.get("tie_break_descending", True),
            data.get_column("tie_break"),
        )
        column = column.fill_nan(None) if column.dtype.is_float() else column
        if request.options.get("tie_break_as_text"):
            column = column.cast(pl.String)
    else:  # A missing gain counts as 0, and so does its place.
        column = data.get_column("gain").fill_null(0)
        column = column.fill_nan(0) if column.dtype.is_float() else column
    coded = number_groups(column.alias("key").to_frame(), ["key"], limit=PLACES - 1).rows
    tie = PLACES - 1 - pl.col("group") if descending else pl.col("group")
    tie = pl.when(pl.col("key").is_not_null()).then(tie).otherwise(PLACES - 1)
    return coded.select(tie=tie).collect(engine="in-memory").to_series()


def _stacked(rows: pl.LazyFrame, scores: list[str]) -> pl.LazyFrame:
    """Stack several scores: each score becomes a group of its own within every group."""
    index = cs.exclude(*scores)
    rows = rows.unpivot(on=scores, index=index, variable_name="system", value_name="score")
    return rows.with_columns(
        group=pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)
    ).drop("system")


class Groups(NamedTuple):
    """The groups of rows, numbered in the order of their keys."""

    rows: pl.LazyFrame
    """The rows of the frame in their order, with `group`."""
    keys: Mapping[str, pl.Expr]
    """The key columns, as formulas of `group`."""

    def look_up(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Add `group` to the rows of another frame; drop the rows of groups that this frame does not have."""
        if not self.keys:
            return rows.with_columns(group=pl.lit(0, dtype=pl.Int64))
        groups = self.rows.select(*self.keys, "group").unique()
        return rows.join(groups, on=list(self.keys), how="inner", nulls_equal=True)

    def restore(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Replace the `group` of a table by its keys."""
        return table.with_columns(**self.keys).drop("group")


def number_groups(frame: pl.DataFrame, keys: Sequence[str], limit: int) -> Groups:
    """Number the groups of a frame from 0, below the limit. Rows keep their order.

    Integer keys are digits of the number: finding the distinct keys would take longer than a metric
    (1.8 to 2.5 times the whole call). Of other keys, the distinct ones are sorted, and the number
    of each row is looked up.
    """
    if not keys:
        return Groups(frame.lazy().with_columns(group=pl.lit(0, dtype=pl.Int64)), {})
    if all(frame.schema[key] in _INTEGERS for key in keys):
        digits = [_Digit.of(frame.get_column(key)) for key in keys]
        if prod(digit.base for digit in digits) <= limit:
            return _number_by_digits(frame, digits)
    distinct = (
        frame.lazy()
        .select(keys)
        .unique()
        .sort(keys)
        .collect(engine=engine_for(len(frame)))
        .rechunk()
    )
    if distinct.height > limit:
        raise ValueError(
            f"{distinct.height} distinct keys: with these arguments {limit} is the most; evaluate the frame in parts"
        )
    key = pl.struct(keys)
    # Joining hashes takes half of the time of joining many texts. Two keys with one hash are next
    # to impossible.
    if len(frame) >= _HASHED_FROM and distinct.select(key.hash().is_unique().all()).item():
        key = key.hash()
    numbers = distinct.lazy().select(key=key, group=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = (
        frame.lazy()
        .select(key=key)
        .join(numbers, on="key", how="left", nulls_equal=True, maintain_order="left")
    )
    group = rows.select("group").collect(engine="in-memory")
    # One literal for all keys: polars takes two literals without rows for the same one.
    values = pl.lit(distinct.to_struct("keys")).gather("group")
    return Groups(frame.hstack(group).lazy(), {name: values.struct.field(name) for name in keys})


class _Digit(NamedTuple):
    """An integer key as a digit of the number of the group: 0 for null, 1 for `lowest`, and so on, below `base`."""

    key: str
    dtype: pl.DataType
    lowest: int
    base: int

    @classmethod
    def of(cls, column: pl.Series) -> _Digit:
        """Return the digit for the values of a column."""
        physical = (
            column
            if column.dtype.is_integer() or column.dtype == pl.Boolean
            else column.to_physical()
        )
        # If all keys are null, both are None.
        low: Any = physical.min() or 0
        high: Any = physical.max() or 0
        return cls(column.name, column.dtype, int(low), int(high) - int(low) + 2)

    @property
    def physical(self) -> type[pl.DataType]:
        """Return the integers that hold all keys of the dtype."""
        return pl.UInt64 if self.dtype == pl.UInt64 else pl.Int64

    def of_key(self) -> pl.Expr:
        """Return the digit of a key."""
        above = pl.col(self.key).cast(self.physical) - pl.lit(self.lowest, dtype=self.physical)
        return (above.cast(pl.Int64) + 1).fill_null(0)

    def to_key(self, digit: pl.Expr) -> pl.Expr:
        """Return the key of a digit."""
        above = pl.when(digit > 0).then(digit - 1).cast(self.physical)
        integer = above + pl.lit(self.lowest, dtype=self.physical)
        # Not strict: polars 1 evaluates this cast also for rows of the other branch, where it may
        # overflow.
        return integer != 0 if self.dtype == pl.Boolean else integer.cast(self.dtype, strict=False)


def _number_by_digits(frame: pl.DataFrame, digits: Sequence[_Digit]) -> Groups:
    values: dict[str, pl.Expr] = {}
    number, below, most = pl.lit(0, dtype=pl.Int64), 1, prod(digit.base for digit in digits)
    for digit in reversed(digits):
        number = digit.of_key() * below + number if below > 1 else digit.of_key()
        # A division takes a tenth of the time of a sort.
        upto = pl.col("group") // below if below > 1 else pl.col("group")
        below *= digit.base
        values[digit.key] = digit.to_key(upto % digit.base if below < most else upto)
    return Groups(
        frame.lazy().with_columns(group=number), {digit.key: values[digit.key] for digit in digits}
    )
