"""Sort canonical rows and compute running totals at the ends of blocks: the only place that sorts.

Group, score and label are packed into one integer per row and sorted as integers. This is the cheapest sort in polars,
whatever the number and size of the groups, and nothing has to be gathered afterwards. Choices that depend on the values
are made here, in a function that the plan calls with whole columns, so that a LazyFrame stays lazy: whether to
aggregate equal keys first, and how wide the integers are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from frame_pr.frames.columns import gather_rows
from frame_pr.frames.kinds import Engine, engine_for
from frame_pr.inputs.equal_rows import aggregate_equal_rows, is_few
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.weights import (
    GAINS,
    HITS,
    ROWS,
    UNJUDGED,
    Weights,
    in_units,
    refuse_lost,
    unit_of,
)

Reached = Callable[[SortKey], pl.Expr]
"""Whether a row reaches a threshold, of the keys in some layout."""


_WIDTHS_FROM = 2**17
"""Rows from which it pays to look whether keys fit into 64 bits."""


def sorted_blocks(rows: Rows, sort: Sort) -> pl.LazyFrame:
    """Return one row per block, in order: `group`, and running totals over all groups up to the end of the block.

    There is a total for each weighted count, for each of the extra sums, and of the rows for which each column of
    `k_at` is true; `ties_run`, `size`, `rank_key` and `threshold` if they are wanted; `retrieved` if some rows may have
    no place in the ranking; and the units of fractional columns.
    """
    if rows.small and not sort.fractional:
        return sort.planned(rows.frame)
    sorted_rows = pl.map_batches(sort.inputs, sort, return_dtype=pl.Struct(sort.outputs))
    return rows.frame.select(key=sorted_rows).unnest("key")


class SortedRows(NamedTuple):
    """Sorted rows, or distinct keys if rows with equal keys were aggregated first."""

    table: pl.LazyFrame
    """The column `key`, in order, and the other columns."""
    key: SortKey
    """The layout of the keys."""
    units: Mapping[str, float]
    """The units of all groups of fractional columns."""
    distinct: pl.DataFrame | None
    """The distinct keys, unsorted, if rows were aggregated."""
    engine: Engine


@dataclass(frozen=True, eq=False, repr=False)
class Sort:
    """How to sort the rows and which totals to compute; independent of the rows."""

    key: SortKey
    weights: Mapping[str, Weights]
    """The weighted columns of the rows: `weight`, `gain`."""
    ordered: bool
    """Whether rows of equal score have a place among them, `tie`."""
    by_truth: bool
    """Whether positives and negatives of equal score are blocks of their own."""
    fills_labels: bool
    has_counts: bool
    unranked: bool
    sums: Sequence[str]
    k_at: Mapping[str, Reached]
    wanted: frozenset[str]
    steps: bool
    """Whether blocks without a positive may be missing, except the last one of a group."""
    each_row: bool
    numbers_rows: bool
    """Whether sorted keys hold the numbers of their rows, unless rows are aggregated."""
    narrow: bool = False
    """Whether totals fit into a UInt32."""

    @classmethod
    def of(
        cls,
        rows: Rows,
        wanted: Collection[str] = (),
        extra_sums: Sequence[str] = (),
        k_at: Mapping[str, Reached] = MappingProxyType({}),
        *,
        steps: bool = False,
        each_row: bool = False,
        numbers_rows: bool = False,
    ) -> Sort:
        """Return the sort for these columns of blocks; see `blocks_of`."""
        weights = {
            name: weights
            for name, weights in (("weight", rows.weights), ("gain", rows.gains))
            if weights.name is not None and (name == "weight" or not {*GAINS}.isdisjoint(extra_sums))
        }
        extra_sums_are_cumulative = {*extra_sums} <= (set() if rows.request.fills_labels else {UNJUDGED.block})
        hits = {HITS.run} if {HITS.block, HITS.upto, "misses"}.intersection(wanted) else set()
        return cls(
            key=rows.key,
            weights=weights,
            ordered=rows.request.ordered,
            by_truth=rows.request.tie_rule.bounds,
            fills_labels=rows.request.fills_labels,
            has_counts=rows.has_counts,
            unranked=rows.has_unranked,
            sums=extra_sums,
            k_at=k_at,
            wanted=frozenset(wanted).intersection(("ties", "size", "rank_key", "threshold")) | hits,
            steps=steps and "first" not in wanted and extra_sums_are_cumulative,
            each_row=each_row,
            numbers_rows=numbers_rows,
        )

    @cached_property
    def _parts(self) -> list[str]:
        """Return the columns of the key, without the label."""
        return ["group", "score", *(["dropped"] if self.key.drops else []), *(["tie"] if self.ordered else [])]

    @cached_property
    def _by_index(self) -> bool:
        """Whether a key holds the number of its row, by which weights are fetched: a sort of a frame takes as long."""
        return self.key.places and not self.ordered

    @property
    def fractional(self) -> bool:
        """Whether any weights are floats."""
        return any(weights.fractional for weights in self.weights.values())

    @property
    def _judges(self) -> bool:
        return self.fills_labels and not {"judged", UNJUDGED.block}.isdisjoint(self.sums)

    @cached_property
    def inputs(self) -> list[pl.Expr]:
        """Return the expressions of the input columns."""
        judged = pl.col("judged") & ~pl.col("dropped") if self.key.drops else pl.col("judged")
        return [
            *map(pl.col, [*self._parts, "truth", *self.weights]),
            *([judged.cast(pl.Int64)] if self._judges else []),
            *([pl.col("count")] if self.has_counts else []),
        ]

    @cached_property
    def outputs(self) -> dict[str, pl.DataType]:
        """Return the names and dtypes of the output columns."""
        weight: pl.DataType = pl.UInt32() if self.narrow else pl.Int64()
        if "weight" in self.weights and self.weights["weight"].fractional:
            weight = pl.Int128()
        gain = pl.Int128() if "gain" in self.weights and self.weights["gain"].fractional else pl.Int64()
        optional = {"rank_key": pl.Int128(), "threshold": self.key.dtype, HITS.run: weight, "size": weight}
        outputs: dict[str, pl.DataType] = {"group": pl.Int64(), ROWS.run: weight}
        outputs |= {name: dtype for name, dtype in optional.items() if name in self.wanted}
        outputs |= {"ties_run": pl.Int64()} if "ties" in self.wanted else {}
        outputs |= {"retrieved": pl.Boolean()} if self.unranked else {}
        outputs |= dict.fromkeys(self.k_at, weight)
        outputs |= {f"{name}_run": gain if name in GAINS else pl.Int64() for name in self.sums}
        outputs |= {"unit": pl.Float64()} if weight == pl.Int128() else {}
        return outputs | ({"gain_unit": pl.Float64()} if gain == pl.Int128() else {})

    def __call__(self, columns: Sequence[pl.Series]) -> pl.Series:
        """Return the blocks of the rows of these columns."""
        return self.totals(self.sorted(pl.DataFrame(columns))).to_struct("key")

    def sorted(self, table: pl.DataFrame) -> SortedRows:
        """Sort these rows, or their distinct keys if these are few."""
        whole, units = self._in_exact_units(table)
        few = not (self.each_row and self.by_truth) and self._few(table)
        if few:
            table, whole = self._count_equal_keys(table.with_columns(**whole)), {}
        engine = engine_for(len(table))
        column, numbers = (None, len(table)) if self.numbers_rows and not few else self._column_in_key(table, whole)
        key = self.key
        if len(table) >= _WIDTHS_FROM and not self.ordered:
            key = key.narrowed(table, numbers)
        ranked = self._ranked(table, key, column, engine).with_columns(**whole)
        return SortedRows(ranked, key, units, table if few else None, engine)

    def totals(self, rows: SortedRows) -> pl.DataFrame:
        """Return the blocks of sorted rows."""
        has_counts = "count" in rows.table.collect_schema()
        totals = self._totals(rows.table, rows.key, rows.units, has_counts=has_counts).collect(engine=rows.engine)
        # The streaming engine may keep a constant column as one value, and from such a 0, polars computes 0 - 0.0 as
        # -0.0. A struct holds all values.
        return totals.to_struct("key").struct.unnest()

    def planned(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Sort within the plan, for few rows: equal keys are not aggregated first, and keys are wide."""
        weights = {name: _times(pl.col(name), pl.col("count") if self.has_counts else None) for name in self.weights}
        if self._judges:
            judged = pl.col("judged") & ~pl.col("dropped") if self.key.drops else pl.col("judged")
            weights["judged"] = _times(judged.cast(pl.Int64), pl.col("count") if self.has_counts else None)
        others = [column.alias(name) for name, column in weights.items()] + (
            [pl.col("count")] if self.has_counts else []
        )
        rows = rows.with_row_index("number") if self._by_index else rows
        keys = rows.select(*others, key=self.key.pack(self._place(self.key)))
        keys = keys.sort("key") if others else keys.select(pl.col("key").sort())
        return self._totals(keys, self.key, {}, has_counts=self.has_counts)

    def _place(self, key: SortKey) -> pl.Expr | None:
        return key.place_of_row() if self._by_index else pl.col("tie") if self.ordered else None

    def _in_exact_units(self, table: pl.DataFrame) -> tuple[dict[str, pl.Expr], dict[str, float]]:
        """Return expressions of the weighted counts as integers, summed over `count` rows, and the units of floats."""
        counts = pl.col("count") if self.has_counts else None
        whole, units = {}, {}
        for name, weights in self.weights.items():
            column = pl.col(name)
            if weights.fractional:
                rows = int(table.get_column("count").sum()) if self.has_counts else len(table)
                units[_UNITS[name]] = unit = unit_of(table.get_column(name), rows)
                refuse_lost(table.get_column(name), unit, name, str(weights.name))
                column = in_units(column, pl.lit(unit))
            elif counts is None:
                continue
            whole[name] = _times(column, counts)
        if self._judges and counts is not None:
            whole["judged"] = pl.col("judged") * counts
        return whole, units

    def _few(self, table: pl.DataFrame) -> bool:
        """Return whether there are so few distinct keys among many that it pays to count them before a sort."""
        place = pl.col("tie") if self.ordered else pl.lit(0) if self.key.places else None
        return is_few(table[[*self._parts, "truth"]], self.key.pack(place))

    def _count_equal_keys(self, table: pl.DataFrame) -> pl.DataFrame:
        """Aggregate rows with equal keys: distinct keys, their numbers of rows, and sums of their weighted counts."""
        group, summed = pl.col("group"), self._other_columns(table)
        ends = table.lazy().select(first=group.min(), last=group.max()).collect(engine="streaming")
        # Hashing a second column of one value would take a quarter of the time.
        same = ["group"] if ends["first"].equals(ends["last"]) else []
        keys = [name for name in self._parts if name not in same]
        # Only rows that do not count weigh nothing, so the weights tell of which labels there are rows.
        weighted = "weight" in self.weights and "ties" not in self.wanted
        return aggregate_equal_rows(table.lazy(), keys, summed, same, weighted=weighted)

    def _other_columns(self, table: pl.DataFrame) -> list[str]:
        return [name for name in table.columns if name not in (*self._parts, "truth")]

    def _column_in_key(self, table: pl.DataFrame, whole: Collection[str]) -> tuple[str | None, int]:
        """Return the column that a key holds in place of the number of the row, if any, and the largest such number."""
        others = self._other_columns(table)
        if len(others) == 1 and table.schema[others[0]].is_integer() and not (whole or self.each_row):
            largest = table.get_column(others[0]).max()
            if isinstance(largest, int) and largest < len(table):
                return others[0], largest
        return None, len(table)

    def _ranked(self, table: pl.DataFrame, key: SortKey, column: str | None, engine: Engine) -> pl.LazyFrame:
        """Return the keys in order, with the other columns. `weight`: the column that keys hold."""
        others, rows = self._other_columns(table), table.lazy()
        if others and not self._by_index:
            return rows.select(*others, key=key.pack(self._place(key))).collect(engine=engine).sort("key").lazy()
        if self._by_index:
            rows = rows.with_row_index("number") if column is None else rows.rename({column: "number"})
        ranked = rows.select(key=key.pack(self._place(key))).collect(engine=engine).to_series().sort().to_frame()
        if column is not None:
            return ranked.lazy().with_columns(key.number_of_row().cast(table.schema[column]).alias(column))
        if not others:
            return ranked.lazy()
        index = ranked.lazy().select(key.number_of_row().cast(pl.UInt32)).collect(engine=engine).to_series()
        # As fast as sorting a frame, with less memory.
        return ranked.hstack(gather_rows(table.select(others).rechunk(), index)).lazy()

    def _totals(
        self, table: pl.LazyFrame, key: SortKey, units: Mapping[str, float], *, has_counts: bool
    ) -> pl.LazyFrame:
        """Compute the output from the sorted `key` and the other columns."""
        count = pl.col("count") if has_counts else None
        table = table.with_columns(bits=key.bits())
        weight = self._weight(key, count)
        runs: dict[str, pl.Expr] = {}
        if weight is None:
            table, run = table.with_row_index("row"), pl.col("row").cast(pl.Int64) + 1
        else:
            # Over all groups, weights may wrap around, which does not change differences within a group.
            runs[ROWS.run], run = weight.cum_sum(), pl.col(ROWS.run)
        if "ties" in self.wanted:
            alone = key.ends(of="block").shift(1, fill_value=True) & key.ends(of="block")
            tied = ~(alone if count is None else alone & (count == 1))
            runs["ties_run"] = _times(
                (tied & key.is_retrieved() if self.unranked else tied).cast(pl.Int64), count
            ).cum_sum()
        table, reached = self._reached(table, key)
        runs |= {name: _times(condition.cast(pl.Int64), weight).cum_sum() for name, condition in reached.items()}
        end = self._end(key)
        hits = _times(key.truth(), weight)
        if self._early:
            # A block with a positive ends in one, so drop most rows before anything else is computed.
            table = table.with_columns(**runs)
            if "size" in self.wanted:
                before = run - (1 if weight is None else weight)
                table = table.with_columns(
                    before=pl.when(end.shift(1, fill_value=True)).then(before).otherwise(0).cum_max()
                )
            needed = [key.truth() == 1, key.ends(of="group")]
            table = table.filter(pl.any_horizontal(needed)).with_columns(hits.cum_sum().alias(HITS.run))
            # These bits are of the remaining rows alone, unless an expression before has read them.
            table = table.filter(end).with_columns(bits=key.bits())
            size = run - pl.col("before")
        else:
            gain = pl.col("gain")
            sums = {"gain": gain.cum_sum(), "hit_gain": (key.truth() * gain).cum_sum()}
            counts = run if weight is None else weight.cum_sum()
            sums["judged"] = pl.col("judged").cum_sum() if self.fills_labels else counts
            sums[UNJUDGED.block] = counts - sums["judged"]
            runs |= {f"{name}_run": sums[name] for name in self.sums}
            table = table.with_columns(hits.cum_sum().alias(HITS.run), **runs).filter(end)
            size = run - run.shift(1, fill_value=0)
        if self.unranked:
            retrieved = key.is_retrieved()
            table = table.with_columns(retrieved=retrieved, bits=pl.when(retrieved).then("bits"))
        made = {"group": key.group("key"), "rank_key": key.rank_key(), "threshold": key.score()}
        made |= {ROWS.run: run, "size": size}
        made |= {name: pl.lit(unit) for name, unit in units.items()}
        if not self.fills_labels:
            made[UNJUDGED.run] = pl.lit(0)
        return table.select(
            made.get(name, pl.col(name)).cast(dtype).alias(name) for name, dtype in self.outputs.items()
        )

    def _reached(self, table: pl.LazyFrame, key: SortKey) -> tuple[pl.LazyFrame, dict[str, pl.Expr]]:
        """Return whether rows count for each of `k_at`, and the table with the columns that this reads."""
        reached = {name: reaches(key) for name, reaches in self.k_at.items()}
        if any("group" in condition.meta.root_names() for condition in reached.values()):
            # Codes may depend on the system of the group.
            table = table.with_columns(group=key.group())
        return table, reached

    def _weight(self, key: SortKey, count: pl.Expr | None) -> pl.Expr | None:
        """Return what a row counts; None if every row counts once."""
        if "weight" in self.weights:
            return pl.col("weight")
        return _times(key.counts().cast(pl.Int64), count) if key.drops else count

    def _end(self, key: SortKey) -> pl.Expr:
        """Return whether a row is the last one of a block."""
        end = key.ends(of="place" if self.ordered else "block")
        if self.by_truth:
            # Rows of equal score and label need no order among them.
            end = pl.lit(True) if self.each_row else end | key.ends(of="truth" if not self._by_index else "row")
        return end

    @property
    def _early(self) -> bool:
        """Whether rows that no step needs are dropped first; a block begins where its run is the largest so far."""
        return self.steps and not (self.fractional and "size" in self.wanted)


_UNITS = {"weight": "unit", "gain": "gain_unit"}
"""The names of the columns with units."""


def _times(column: pl.Expr, count: pl.Expr | None) -> pl.Expr:
    """Return a weighted count of the rows that a row stands for."""
    return column if count is None else column * count


def starts(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row before."""
    return (column != column.shift(1)).fill_null(True)


def ends(column: pl.Expr) -> pl.Expr:
    """Return whether the value differs from that of the row after."""
    return (column != column.shift(-1)).fill_null(True)
