"""Turn the caller's frame into canonical rows, and results into the caller's keys and kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name, gather_rows, refuse_clash, refuse_existing
from frame_pr.frames.kinds import Frame, InMemory, on_frame
from frame_pr.inputs.data_warnings import may_be_tally
from frame_pr.inputs.keys import Groups, Recode, number_groups
from frame_pr.inputs.request import Request
from frame_pr.inputs.sort_keys import PLACES, SortKey, group_limit
from frame_pr.inputs.totals import FrameOfTotals, totals_frame, totals_in_frame, totals_in_rows
from frame_pr.inputs.validate import Selection, selected, validate
from frame_pr.inputs.weights import (
    COLUMNS,
    Weights,
    class_counts,
    class_weights,
    shares_of_positives,
    with_class_weights,
)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The rows to rank, and how to rank them.

    Columns: `group` (Int64), `truth` (Boolean), `score` (null if not retrieved); `weight`, `count`, `gain` and `tie` if
    passed; `judged` if labels may be filled in.
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

    @cached_property
    def has_unranked(self) -> bool:
        """Return whether some rows may have no place in the ranking."""
        return self.request.keeps_unscored or self.key.drops

    def times(self, number: pl.Expr) -> pl.Expr:
        """Return a weighted count of the rows that a row stands for."""
        return number * pl.col("count") if self.has_counts else number

    def unjudged(self) -> pl.Expr:
        """Count the rows that a row stands for whose label is missing and filled as negative."""
        filled = ~pl.col("judged") if self.request.fills_labels else pl.lit(False)
        return self.times((filled & ~pl.col("dropped") if self.key.drops else filled).cast(pl.Int64))


class OutputFrame(NamedTuple, Generic[Frame]):
    """The output of a call: restores the caller's keys from `group`, and the caller's kind of frame."""

    kind: InMemory[Frame]
    keys: tuple[str, ...]
    systems: tuple[str, ...]
    """The names of the scores, if there are several; then `system` is the last key."""
    restore: Recode
    """The mapping from `group` to the keys."""
    carried: pl.LazyFrame
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
        wanted = list(map(by_name, columns))
        result = self.restore(table.select("group", *wanted)).select(*map(by_name, self.keys), *wanted)
        return self.give(result, self.keys)

    def give(self, result: pl.LazyFrame, keys: Sequence[str]) -> Frame:
        """Return a result as a frame of the caller's kind."""
        return self.kind.give(result, [key for key in keys if not (self.systems and key == "system")])

    def append_columns(self, table: pl.LazyFrame, columns: Sequence[str], prefix: str) -> Frame:
        """Return the caller's rows in their order, each with these columns of the row of the table with its `group`."""
        new = {prefix + name: by_name(name) for name in columns}
        refuse_existing(new, self.kind.columns)
        joined = self.carried.join(table.select("group", **new), on="group", how="left", maintain_order="left")
        return self.kind.append_columns(joined, list(new))

    def gather_columns(
        self, columns: list[pl.Series], formulas: Mapping[str, pl.Expr], block_numbers: list[pl.Series], prefix: str
    ) -> Frame:
        """Return the caller's rows in their order, each with these formulas of the columns at its block number.

        Both lists are emptied, so that a column does not stay in memory after the last time that it is read.
        """
        new = {prefix + name: formula for name, formula in formulas.items()}
        number, gathered = block_numbers.pop(), []
        while columns:
            # Gathering takes most of the time, and less for narrow columns.
            column = columns.pop()
            column = column.shrink_dtype() if column.dtype.is_integer() else column
            gathered.append(gather_rows(column.rechunk().to_frame(), number).to_series())
        del number, column
        table = pl.LazyFrame(gathered).cast({cs.integer(): pl.Int64})
        del gathered
        return self.kind.append_columns(table.select(**new), list(new))


def on_rows(frame: Frame, request: Request, compute: Callable[[Any, Request], Any], *, carry: bool = False) -> Frame:
    """Apply a function of a frame in memory to any frame; see `on_frame`. `carry`: whether it reads all columns."""
    items = None if carry else request.columns()
    if isinstance(frame, pl.LazyFrame) and may_be_tally(frame.collect_schema().names(), request):
        items = None
    empty = request.without_rows()
    return on_frame(frame, lambda rows: compute(rows, request), items, lambda rows: compute(rows, empty))


def rows_of(
    frame: Frame,
    request: Request,
    *,
    carry: bool = False,
    all_groups: bool = False,
    starts: pl.DataFrame | None = None,
) -> tuple[Rows, OutputFrame[Frame]]:
    """Check a frame and bring it into canonical form; several scores become a last key, `system`.

    `carry`: the rows keep their order. `all_groups`: the groups of frames that give known totals are there, too.
    `starts`: a frame of the columns of `by` and those of `blocks.START`.
    """
    selection = selected(frame, request, carry=carry)
    made = validate(selection, request)
    keys, scores = list(selection.keys), list(selection.scores)
    key_names = {name: column for column, name in selection.keys.items()}
    total_frames = {
        name: totals_frame(selection.frames[name], name, key_names, selection.schema)
        for name in request.totals
        if name not in selection.others
    }
    data = _data_of(selection, request, total_frames if all_groups else {}, carry=carry)
    groups = number_groups(data, keys, group_limit(ordered=request.ordered) // len(scores))
    rows, drops = mark_dropped(_canonical(groups.rows, selection, request, made), request, scores, carry=carry)
    rows = _stacked(rows.drop(keys), scores) if selection.several else rows.drop(keys).rename({"0": "score"})
    weights, gains = (selection.weights(name) for name in COLUMNS)
    of_classes = _weights_of_prevalence(rows, request, selection, groups, drops=drops)
    if of_classes is not None:
        rows = with_class_weights(rows, of_classes.select("group", cs.starts_with("of_")), drops=drops)
        weights, drops = Weights("of prevalence=", fractional=True, option="prevalence"), True
    all_in_one = None if keys else len(scores)
    totals = [
        totals_in_frame(total_frames[name], groups, len(scores), weights.dtype)
        if name in total_frames
        else totals_in_rows(rows, name, selection.others[name], weights.dtype, all_in_one)
        for name in request.totals_read
    ]
    ranked = Rows(
        frame=rows,
        height=data.height * len(scores),
        request=request,
        key=_sort_key(rows, selection, request, drops=drops),
        weights=weights,
        has_counts="count" in selection.others,
        gains=gains,
        totals=totals,
        starts=None if starts is None else groups.look_up(starts.lazy().rename(key_names)),
        groups=all_in_one,
    )
    systems = tuple(selection.scores.values()) if selection.several else ()
    output = OutputFrame(
        kind=selection.kind,
        keys=(*key_names, "system") if systems else tuple(key_names),
        systems=systems,
        restore=partial(_restored, groups=groups, names=selection.keys, systems=systems),
        carried=rows,
    )
    return ranked, output


def _data_of(
    selection: Selection[Any], request: Request, total_frames: Mapping[str, FrameOfTotals], *, carry: bool
) -> pl.DataFrame:
    """Return the caller's rows that count. `total_frames`: the frames whose groups are there, too."""
    data, keys = selection.data, list(selection.keys)
    if request.unjudged == "trec_eval" and not carry:
        data = _judged_groups(data, keys)
    # If only some totals are a frame, the groups are those of the columns that have the others.
    if keys and total_frames and request.totals_read.keys() <= total_frames.keys():
        data = _with_absent_groups(data, total_frames)
    if "count" in selection.others and not carry:
        counts = data.get_column("count")
        if counts.null_count() or not (counts > 0).all():
            # Only a group without rows has no value: an absent row.
            data = data.with_columns(pl.col("count").fill_null(1)).filter(pl.col("count") > 0)
    data = data.with_row_index("cluster") if request.each_row else data
    return data.with_columns(_places(data, request)) if request.ordered else data


def _judged_groups(data: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Drop the rows of groups in which no row has a label."""
    label = pl.col("truth").fill_nan(None) if data.schema["truth"].is_float() else pl.col("truth")
    is_judged = label.is_not_null()
    return data.filter(is_judged.any().over(*keys) if keys else is_judged.any())


def _with_absent_groups(data: pl.DataFrame, totals: Mapping[str, FrameOfTotals]) -> pl.DataFrame:
    """Add an absent row for each group of these frames; otherwise the group would be lost."""
    absent = [total.groups().with_columns(absent=True) for total in totals.values()]
    return pl.concat([data.with_columns(absent=False), *absent], how="diagonal")


def _canonical(
    rows: pl.LazyFrame, selection: Selection[Any], request: Request, made: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """Return the rows with missing values as null, and with the canonical columns."""
    schema = selection.schema
    floats = [*selection.scores, *request.other_columns()] if request.unscored != "raise" else []
    floats += ["truth"] if request.unjudged != "raise" else []
    if floats := [name for name in floats if schema[name].is_float()]:
        rows = rows.with_columns(pl.col(floats).fill_nan(None))
    return rows.with_columns(made)


def _sort_key(rows: pl.LazyFrame, selection: Selection[Any], request: Request, *, drops: bool) -> SortKey:
    rule, schema = request.tie_rule, selection.schema
    return SortKey(
        dtype=rows.collect_schema()["score"] if selection.several else schema["0"],
        ascending=request.ascending,
        hits_first=rule.bounds and rule.descending,
        drops=drops,
        score_dtypes=[schema[column] for column in selection.scores],
        places=PLACES if request.ordered else 1,
    )


def _restored(table: pl.LazyFrame, groups: Groups, names: Mapping[str, str], systems: Sequence[str]) -> pl.LazyFrame:
    """Replace the `group` of a table by the caller's keys. If groups are stacked, the last key is the system."""
    if systems:
        group = pl.col("group")
        system = pl.lit(pl.Series(systems)).gather(group % len(systems))
        table = table.with_columns(system=system, group=group // len(systems))
    return groups.restore(table).rename(names)


def _weights_of_prevalence(
    rows: pl.LazyFrame, request: Request, selection: Selection[Any], groups: Groups, *, drops: bool
) -> pl.LazyFrame | None:
    """Return the weights of positives and negatives in each group that `prevalence=` asks for, if it is passed."""
    share = request.prevalence
    if share is None:
        return None
    name, dtype = "prevalence", pl.Float64()
    if name in selection.others:
        share = totals_in_rows(rows, name, selection.others[name], dtype, typed=shares_of_positives)
    elif not isinstance(share, float):
        key_names = {name: column for column, name in selection.keys.items()}
        table = totals_frame(selection.frames[name], name, key_names, selection.schema)
        share = totals_in_frame(table, groups, len(selection.scores), dtype, shares_of_positives)
    return class_weights(class_counts(rows, has_counts="count" in selection.others, drops=drops), share)


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
        descending, column = request.policies.get("tie_break_descending", True), data.get_column("tie_break")
        column = column.fill_nan(None) if column.dtype.is_float() else column
    else:  # A missing gain counts as 0, and so does its place.
        column = data.get_column("gain").fill_null(0)
        column = column.fill_nan(0) if column.dtype.is_float() else column
    coded = number_groups(column.alias("key").to_frame(), ["key"], limit=PLACES - 1).rows
    tie = PLACES - 1 - pl.col("group") if descending else pl.col("group")
    tie = pl.when(pl.col("key").is_not_null()).then(tie).otherwise(PLACES - 1)
    return coded.select(tie=tie).collect(engine="in-memory").to_series()


def mark_dropped(rows: pl.LazyFrame, request: Request, scores: list[str], *, carry: bool) -> tuple[pl.LazyFrame, bool]:
    """Return the rows, with `dropped` if some of them may not count, and whether that is possible."""
    if request.fills_labels:
        rows = rows.with_columns(pl.col("truth").fill_null(False), judged=pl.col("truth").is_not_null())
    graded = "gain" in request.single
    if graded:
        rows = rows.with_columns(pl.col("gain").fill_null(0))  # Missing only if the label is missing.
    drops = []
    if request.unjudged == "drop":
        drops.append(pl.col("truth").is_null())
    if request.unscored == "drop":
        # By any system, so that all systems are measured on the same rows.
        drops += [pl.col(name).is_null() for name in (*scores, *request.other_columns())]
    weighted = "weight" in request.single
    if weighted:
        drops.append(pl.col("weight") == 0)
    if "absent" in rows.collect_schema():
        drops.append(pl.col("absent"))
    if carry and "count" in request.single:
        drops.append(pl.col("count") == 0)
    if not drops:
        return rows, False
    # Keep them with weight 0, so that their group remains.
    rows = rows.with_columns(pl.col("truth").fill_null(False), dropped=pl.any_horizontal(drops))
    weight_columns = [name for name, present in (("weight", weighted), ("gain", graded)) if present]
    return rows.with_columns(pl.when("dropped").then(0).otherwise(name).alias(name) for name in weight_columns), True


def _stacked(rows: pl.LazyFrame, scores: list[str]) -> pl.LazyFrame:
    """Stack several scores: each score becomes a group of its own within every group."""
    index = cs.exclude(*scores)
    rows = rows.unpivot(on=scores, index=index, variable_name="system", value_name="score")
    return rows.with_columns(group=pl.col("group") * len(scores) + pl.col("system").cast(pl.Int64)).drop("system")
