"""Evaluate one ranking in ranges of its scores, each ranked separately.

Equal scores are in one range wherever the boundaries are, so any boundaries give exact results. A
range continues the ranking of the better ranges: it receives their numbers of rows and positives,
and computes its share of the group's sums.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import collected
from frame_pr.inputs.groups import MOST_GROUPS, Groups, number_groups
from frame_pr.inputs.request import TOTALS, kind_of_totals
from frame_pr.inputs.results import OutputFrame
from frame_pr.inputs.rows import Rows, groups_of, rows_of
from frame_pr.inputs.totals import totals_frame, totals_in_frame, totals_in_rows, with_totals
from frame_pr.inputs.weights import (
    CUMULATIVE_COUNTS,
    ROWS,
    UNJUDGED,
    CumulativeCount,
    Weights,
    ends_of,
)
from frame_pr.metrics.aggregation import aggregate, finalize, per_group, plan_for
from frame_pr.parts.part_query import Part, PartQuery
from frame_pr.ranking.blocks import blocks_of

RANGE = "range of frame_pr"
"""The column of a part with the range of each row."""
_RANGE_KEY = "key0"
"""The same in tables with one row per range, which name all keys as `OutputFrame.restored` does."""
_COUNTS = (*CUMULATIVE_COUNTS, UNJUDGED)
_LATER_PRECISION = "later precision"
"""The largest precision at any threshold below the range."""

OverRanges = Callable[[Part], pl.DataFrame]
"""Applies a function to parts that have a column `RANGE`, and concatenates the results."""


def _before(count: CumulativeCount) -> str:
    """Return the column with a count at the better scores, above the range."""
    return f"{count.upto} before"


def _in_all(count: CumulativeCount) -> str:
    """Return the column with a count in the whole larger group."""
    return f"{count.total} in all"


class Starts(NamedTuple):
    """The counts at which ranges start: they continue the better ranges (see `RangeStarts`)."""

    table: pl.LazyFrame
    """`group`, and the columns of `starts_of`, without keys."""

    def continued(
        self, blocks: pl.LazyFrame, counts: Sequence[CumulativeCount], k_at: Collection[str]
    ) -> pl.LazyFrame:
        """Add to the counts of blocks those of the better ranges of the larger group."""
        blocks = blocks.join(self.table, on="group", how="left", maintain_order="left")
        columns = {count.upto: pl.col(count.upto) + pl.col(_before(count)) for count in counts}
        columns |= {count.total: pl.col(_in_all(count)) for count in _COUNTS}
        for name in k_at:
            k = pl.col(name) + pl.col(_before(ROWS))
            columns[name] = pl.when(pl.col(name) > 0).then(k).otherwise(0)
        return blocks.with_columns(**columns)

    def with_later_ranges(self, blocks: pl.LazyFrame) -> pl.LazyFrame:
        """Add the worse ranges to the columns of blocks that follow from later blocks."""
        largest = pl.max_horizontal("interpolated_precision", _LATER_PRECISION)
        return blocks.with_columns(interpolated_precision=largest)


def range_number(call: PartQuery, sample: pl.Series, ranges: int) -> pl.Expr:
    """Return the range of each row as `RANGE`: 0 for the best scores, null without a score.

    `sample`: of the scores, which the ranges divide into about equal parts.
    """
    scores = sample.alias("").drop_nulls().sort()  # Methods of a Series named `^...$` fail.
    quantiles = scores.gather_every(max(1, len(scores) // ranges))
    edges = quantiles.unique(maintain_order=True)[1:]

    score = by_name(call.scores[0])
    reached = score.map_batches(
        partial(edges.search_sorted, side="right"),
        return_dtype=pl.get_index_type(),
        is_elementwise=True,
    )
    number = reached.cast(pl.Int64)
    if not call.request.ascending:
        number = len(edges) - number
    # NaN is a missing score, but polars orders it above infinity.
    return pl.when(score <= float("inf")).then(number).alias(RANGE)


def refuse_whole_group(call: PartQuery) -> None:
    """Refuse options that need all ranges of a group together."""
    if call.request.unjudged == "trec_eval":
        raise ValueError(
            "unjudged='trec_eval': a group is split into parts, which do not see all of its labels"
        )
    refused = {"gain": "gain" in call.request.single, "prevalence": call.request.weights_classes}
    for name, is_set in refused.items():
        if is_set:
            raise ValueError(
                f"{name}= needs all rows of a group together, and one that is too large, or all "
                "there is without by=, "
                "is split into ranges of its scores: evaluate a frame that fits in memory"
            )


def evaluate_ranges(call: PartQuery, empty: pl.DataFrame, over_ranges: OverRanges) -> pl.DataFrame:
    """Compute one row per group.

    Each group is split into ranges of its scores, and each range is in one part.

    `empty`: the columns of the call, without rows. `over_ranges`: applies a function to the parts,
    which have a column `RANGE`. It is called two to four times.
    """
    no_rows, _ = rows_of(empty, call.request.with_totals(()))
    weights = no_rows.weights
    if weights.fractional:
        weights = _with_common_unit(weights, call, empty, over_ranges)
    plan = call.plan_of(no_rows._replace(weights=weights))

    ranges = Ranges(call, weights.unit)
    starts = starts_of(over_ranges(ranges.counts), call, weights)
    if "interpolated_precision" in plan.columns:
        best = over_ranges(replace(ranges, starts=starts).best_precision)
        starts = with_later_precision(starts, best, call)

    table = over_ranges(replace(ranges, starts=starts).sums)
    sums = number_groups(table, [*_key_columns(call).values()], MOST_GROUPS)
    groups = per_group(
        sums.rows,
        plan.over_groups,
        None if call.by else 1,
        in_order=False,
    )
    keys = dict(zip(call.by, sums.keys.values(), strict=True))
    result = finalize(groups, ["group"], plan).select(**keys, **call.named)
    return collected(result, table.height)


def _key_columns(call: PartQuery) -> dict[str, str]:
    """Return the caller's keys, and their columns in tables with one row per range."""
    return {key: f"key{i}" for i, key in enumerate(call.by, 1)}


@dataclass(frozen=True, eq=False)
class Ranges:
    """The ranges of a part: its methods run on each part, where each range is in one part."""

    call: PartQuery
    unit: float
    """The unit of weights."""
    starts: pl.DataFrame | None = None
    """The counts with which each range starts, if they are known."""

    def counts(self, part: pl.DataFrame) -> pl.DataFrame:
        """Return the rows and positives of each range, and known totals in columns."""
        rows, output = self._rows_of(part, self.call.totals_in_rows())
        without_totals = rows._replace(totals=[])
        plan = plan_for(without_totals, list(TOTALS))
        table = aggregate(without_totals, plan).select("group", *TOTALS)

        is_unjudged = ~pl.col("judged") if self.call.request.fills_labels else pl.lit(False)
        unjudged = (is_unjudged * rows.number).sum()
        groups = rows.frame.group_by("group")
        unjudged_of_groups = groups.agg(unjudged.alias(UNJUDGED.total))
        for total in (unjudged_of_groups, *rows.totals):
            table = table.join(total, on="group", how="left")
        return collected(output.restored(table), part.height)

    def best_precision(self, part: pl.DataFrame) -> pl.DataFrame:
        """Return, for each range, the largest precision at any of its thresholds."""
        rows, output = self._rows_of(part)
        best = (pl.col("tp") / pl.col("k")).max().alias("precision")
        blocks = blocks_of(rows, ["tp", "k"], steps=True)
        table = blocks.group_by("group").agg(best)
        return collected(output.restored(table), part.height)

    def sums(self, part: pl.DataFrame) -> pl.DataFrame:
        """Return, for each range, its share of the sums of its group."""
        rows, output = self._rows_of(part)
        table = aggregate(rows, self.call.plan_of(rows))
        return collected(output.restored(table), part.height)

    def _rows_of(
        self, part: pl.DataFrame, totals: Collection[str] = ()
    ) -> tuple[Rows, OutputFrame[pl.DataFrame]]:
        """Return the canonical rows of the part, grouped by their range and the keys."""
        request = self.call.request._replace(keys=[RANGE, *self.call.by]).with_totals(totals)
        rows, output = rows_of(part, request, unit=self.unit)
        if self.starts is not None:
            keys = list(output.key_columns.values())
            table = groups_of(rows, output).join(self.starts.lazy(), on=keys, nulls_equal=True)
            rows = rows._replace(starts=Starts(table.drop(keys)))
        return rows, output


def _with_common_unit(
    weights: Weights, call: PartQuery, empty: pl.DataFrame, over_ranges: OverRanges
) -> Weights:
    """Return float weights with one unit for all parts, so that the counts of ranges add up."""
    ends = over_ranges(partial(weight_ends, call=call))
    in_frames = [name for name in call.request.totals_read if name in call.request.frames]
    groups, _ = rows_of(empty, call.request.with_totals(in_frames), all_groups=True)
    bound = pl.max_horizontal(pl.col("bound").sum(), pl.col("total").max())
    of_all = ends.lazy().select(pl.col("least").min(), bound)
    return weights.with_unit("weight", of_all, groups.totals)


def weight_ends(part: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Return the ends of the weights of a part (see `ends_of`), and its largest known total."""
    columns = {
        name: by_name(column)
        for name, column in call.request.single.items()
        if name in ("weight", "count")
    }
    weight = pl.col("weight").cast(pl.Float64).fill_nan(None)
    weights = part.lazy().select(**columns).with_columns(weight)
    ends = ends_of(weights, "weight", has_counts="count" in columns).collect()
    totals = [by_name(total).max().cast(pl.Float64) for total in call.totals_in_rows().values()]
    return ends.hstack(part.select(total=pl.max_horizontal(0.0, *totals)))


def starts_of(counts: pl.DataFrame, call: PartQuery, weights: Weights) -> pl.DataFrame:
    """Return the counts with which each range starts, sorted."""
    keys = [*_key_columns(call).values()]
    groups = number_groups(counts, keys, MOST_GROUPS)
    sums = [pl.col(count.total).sum() for count in _COUNTS]
    of_groups = groups.rows.group_by("group").agg(sums)
    dtype = weights.dtype
    totals = [_known_total(groups, call, name, dtype) for name in call.request.totals_read]
    of_groups = with_totals(of_groups.sort("group"), totals, weights)
    in_all = {_in_all(count): count.total for count in _COUNTS}
    of_groups = of_groups.select("group", **in_all)

    # Rows without a score have no range, and rank nowhere.
    has_range = pl.col(_RANGE_KEY).is_not_null()
    columns = {_LATER_PRECISION: pl.lit(0.0)}
    for count in _COUNTS:
        in_range = pl.when(has_range).then(count.total).otherwise(0)
        before = in_range.cum_sum() - in_range
        columns[_before(count)] = before.over("group")
    ranges = groups.rows.sort("group", _RANGE_KEY, nulls_last=True)
    ranges = ranges.with_columns(**columns)
    starts = ranges.join(of_groups, on="group", maintain_order="left")
    starts = starts.select(_RANGE_KEY, *keys, *columns, *in_all)
    return collected(starts, counts.height)


def _known_total(groups: Groups, call: PartQuery, name: str, dtype: pl.DataType) -> pl.LazyFrame:
    """Return a known total of each group.

    The ranges have it if it is a column of the rows; otherwise it is a frame.
    """
    if name in call.request.single:
        return totals_in_rows(groups.rows, name, str(call.request.single[name]), dtype)
    frame = totals_frame(
        kind_of_totals(name, call.request.frames[name]),
        name,
        _key_columns(call),
        groups.rows.collect_schema(),
    )
    numbers = groups.rows.select("group", *groups.keys).unique()
    return totals_in_frame(frame, numbers, dtype)


def with_later_precision(starts: pl.DataFrame, best: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Add the largest precision below each range to the starts."""
    keys = [*_key_columns(call).values()]
    on = [_RANGE_KEY, *keys]
    starts = starts.join(best, on=on, how="left", nulls_equal=True, maintain_order="left")
    # A range of rows that do not count has no threshold.
    precision = pl.col("precision").fill_null(0.0)
    later = precision.shift(-1, fill_value=0.0).cum_max(reverse=True)
    if keys:
        later = later.over(keys)
    return starts.with_columns(later.alias(_LATER_PRECISION))
