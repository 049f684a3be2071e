"""Turn the caller's frame into canonical rows, and results into the caller's keys and kind of frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import by_name, gather_rows, refuse_clash, refuse_existing, side_by_side
from frame_pr.frames.kinds import SMALL, Frame, FrameKind, InMemory
from frame_pr.inputs.keys import Coding, Recode, coding
from frame_pr.inputs.request import Request
from frame_pr.inputs.sort_keys import PLACES, SortKey, group_limit
from frame_pr.inputs.totals import totals_frame, totals_in_frame, totals_in_rows
from frame_pr.inputs.validate import canonical, selected
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
    """The rows that count."""
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

    small: bool
    """Whether there are known to be so few rows that it takes longer to plan than to run."""

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

    kind: FrameKind[Frame]
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

    @property
    def collect(self) -> Callable[[pl.LazyFrame], pl.DataFrame] | None:
        """Return the function that collects the caller's frame; None if only the caller may collect it."""
        return self.kind.collect_result if isinstance(self.kind, InMemory) else None

    def gather_columns(
        self, columns: list[pl.Series], formulas: Mapping[str, pl.Expr], block_numbers: list[pl.Series], prefix: str
    ) -> Frame:
        """Return the caller's rows in their order, each with these formulas of the columns at its block number.

        Both lists are emptied, so that a column does not stay in memory after the last time that it is read.
        """
        new = {prefix + name: formula for name, formula in formulas.items()}
        assert self.collect is not None
        number, gathered = block_numbers.pop(), []
        while columns:
            # Gathering takes most of the time, and less for narrow columns.
            column = columns.pop()
            column = column.shrink_dtype() if column.dtype.is_integer() else column
            gathered.append(gather_rows(column.rechunk().to_frame(), number).to_series())
        del number, column
        table = pl.LazyFrame(gathered).cast({cs.integer(): pl.Int64})
        del gathered
        return self.kind.append_columns(self.collect(table.select(**new)).lazy(), list(new))

    def gather_lazily(
        self, table: pl.LazyFrame, formulas: Mapping[str, pl.Expr], prefix: str, numbered: pl.LazyFrame
    ) -> Frame:
        """Return the carried rows, each with these formulas of the row of the table at its `block_number`."""
        new = {prefix + name: formula for name, formula in formulas.items()}
        table = side_by_side(numbered, table.select(**new))
        table = table.with_columns(by_name(name).gather("block_number") for name in new)
        return self.kind.append_columns(table, list(new))


def rows_of(
    frame: Frame,
    request: Request,
    *,
    carry: bool = False,
    numbered: bool = False,
    all_groups: bool = False,
    starts: pl.DataFrame | None = None,
    weights_by_class: pl.DataFrame | None = None,
) -> tuple[Rows, OutputFrame[Frame]]:
    """Check a frame and bring it into canonical form; several scores become a last key, `system`.

    `carry`: the rows keep their order, and have what their kind carries. `numbered`: keys have room for the numbers of
    rows. `all_groups`:
    the groups of frames that give known totals are there, too. `starts`: a frame of the columns of `by` and those of
    `blocks.START`. `units`: one of the columns of `by` and `unit`, the unit of the larger group. `weights_by_class`:
    one of the columns of `by`, `of_positive` and `of_negative`, instead of the weights that a prevalence gives; without
    columns, rows have none.
    """
    selection: Any = selected(frame, request, carry=carry)
    source = canonical(selection, request)
    if request.each_row:
        source = source.with_row_index("cluster")
    schema = source.collect_schema()
    key_names = {name: column for column, name in selection.keys.items()}
    total_frames = {
        name: totals_frame(total, name, key_names, schema)
        for name, total in request.totals.items()
        if name not in selection.others
    }
    # Add an absent row for each group of these frames; otherwise the group would be lost. A column has no other groups.
    if all_groups and key_names and total_frames and request.totals_read.keys() <= total_frames.keys():
        absent = [total.groups.with_columns(absent=pl.lit(True)) for total in total_frames.values()]
        source = pl.concat([source.with_columns(absent=pl.lit(False)), *absent], how="diagonal")
    has_counts = "count" in schema
    carried = request.prevalence is not None or not selection.others.keys().isdisjoint(("count", *COLUMNS))
    rule, ordered = request.tie_rule, request.ordered
    if has_counts and not carry:
        # Only a group without rows has no value.
        source = source.with_columns(pl.col("count").fill_null(1)).filter(pl.col("count") > 0)
    number = partial(coding, height=selection.kind.height, in_order=carry)
    if ordered:
        source = _with_places(source, request, number)
    limit = group_limit(places=ordered or carried or numbered)
    coder = number(source, list(selection.keys), limit=limit // len(selection.scores))
    rows, restore = coder.rows.drop(list(selection.keys)), coder.restore
    rows, drops = mark_dropped(rows, request, list(selection.scores), carry=carry)
    if selection.several:
        rows, restore = _stacked(rows, list(selection.scores)), _with_system(restore, list(selection.scores.values()))
    else:
        rows = rows.rename({"0": "score"})
    weights, gains = (
        Weights(selection.others.get(name), fractional=name in selection.others and schema[name].is_float())
        for name in COLUMNS
    )
    groups = None if key_names else len(selection.scores)
    if weights_by_class is not None:
        weights_of_groups = None
        if weights_by_class.width:
            weights_of_groups = coder.look_up(weights_by_class.lazy().rename(key_names)).select(
                "group", cs.starts_with("of_")
            )
    else:
        weights_of_groups = _weights_of_prevalence(rows, request, selection, coder, key_names, schema, drops=drops)
    if weights_of_groups is not None:
        rows, drops = with_class_weights(rows, weights_of_groups, drops=drops), True
        weights = Weights("of prevalence=", fractional=True, option="prevalence")
    totals = [
        totals_in_frame(total_frames[name], name, coder, len(selection.scores), weights.dtype)
        if name in total_frames
        else totals_in_rows(rows, name, selection.others[name], weights.dtype, groups)
        for name in request.totals_read
    ]
    ranked = Rows(
        frame=rows,
        request=request,
        key=SortKey(
            dtype=rows.collect_schema()["score"] if selection.several else schema["0"],
            ascending=request.ascending,
            places=ordered or carried or numbered,
            hits_first=rule.bounds and rule.descending,
            drops=drops,
            score_dtypes=[schema[column] for column in selection.scores],
        ),
        weights=weights,
        has_counts=has_counts,
        gains=gains,
        totals=totals,
        starts=None if starts is None else coder.look_up(starts.lazy().rename(key_names)),
        groups=groups,
        small=selection.kind.height is not None and selection.kind.height < SMALL,
    )
    systems = tuple(selection.scores.values()) if selection.several else ()
    return ranked, OutputFrame(
        kind=selection.kind,
        keys=(*key_names, "system") if selection.several else tuple(key_names),
        systems=systems,
        restore=lambda table: restore(table).rename(selection.keys),
        carried=rows,
    )


def _weights_of_prevalence(
    rows: pl.LazyFrame,
    request: Request,
    selection: Any,
    coder: Coding,
    key_names: dict[str, str],
    schema: pl.Schema,
    *,
    drops: bool,
) -> pl.LazyFrame | None:
    """Return the weights of positives and negatives in each group that `prevalence=` asks for, if it is passed."""
    share = request.prevalence
    if share is None:
        return None
    name, dtype = "prevalence", pl.Float64()
    if name in selection.others:
        share = totals_in_rows(rows, name, selection.others[name], dtype, typed=shares_of_positives)
    elif not isinstance(share, float):
        table = totals_frame(share, name, key_names, schema)
        share = totals_in_frame(table, name, coder, len(selection.scores), dtype, shares_of_positives)
    return class_weights(class_counts(rows, has_counts="count" in selection.others, drops=drops), share)


def present(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Drop the absent rows."""
    return rows.filter(~pl.col("absent")) if "absent" in rows.collect_schema() else rows


def _with_places(source: pl.LazyFrame, request: Request, number: Callable[..., Coding]) -> pl.LazyFrame:
    """Return the rows with `tie`, their place among equal scores: by `tie_break` with null last, by gain, or by row."""
    rule, descending = request.tie_rule, request.tie_rule.descending
    if rule.by_row:
        source = source.with_row_index("tie")
        return source.with_columns(tie=PLACES - 1 - pl.col("tie").cast(pl.Int64)) if descending else source
    if "tie_break" in request.single:
        descending = request.policies.get("tie_break_descending", True)
    else:  # A missing gain counts as 0, and so does its place.
        source = source.with_columns(tie_break=pl.col("gain").fill_null(0))
    coded = number(source, ["tie_break"], limit=PLACES - 1).rows
    tie = PLACES - 1 - pl.col("group") if descending else pl.col("group")
    tie = pl.when(pl.col("tie_break").is_not_null()).then(tie).otherwise(PLACES - 1)
    return coded.with_columns(tie=tie).drop("group", "tie_break")


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


def _with_system(restore: Recode, systems: list[str]) -> Recode:
    """Undo the stacking: the code is that of the group times the number of systems, plus the number of the system."""
    group = pl.col("group")
    system = pl.lit(pl.Series(systems)).gather(group % len(systems))
    return lambda table: restore(table.with_columns(system=system, group=group // len(systems)))
