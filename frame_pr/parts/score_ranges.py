"""Evaluate one ranking in ranges of its scores, each ranked separately.

Equal scores are in one range wherever the boundaries are, so any boundaries give exact results. A range continues the
ranking of the better ranges: it receives their numbers of rows and positives, and computes its share of the group's
sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_pr.inputs.request import TOTALS
from frame_pr.inputs.rows import Groups, number_groups
from frame_pr.inputs.sort_keys import group_limit
from frame_pr.inputs.totals import totals_frame, totals_in_frame, totals_in_rows, with_totals
from frame_pr.inputs.weights import CUMULATIVE_COUNTS, UNJUDGED
from frame_pr.metrics.aggregation import Plan, aggregate, finalize, per_group, plan_for, renamed
from frame_pr.parts.part_query import Part, PartQuery
from frame_pr.ranking.blocks import START, blocks_of

RANGE = "range"  # A column next to those of a part, which are named by their places.
_SUM = "sum of "  # The prefix of columns next to the keys of a part.


OverRanges = Callable[[Part], pl.DataFrame]
"""Applies a function to parts that have a column `RANGE`, and concatenates the results."""


def range_edges(sample: pl.Series, ranges: int) -> pl.Series:
    """Return scores that split a column like this sample into ranges of about equal size."""
    scores = sample.drop_nulls().sort()
    return scores.gather_every(max(1, len(scores) // ranges)).unique(maintain_order=True)[1:]


def range_of(score: str, edges: pl.Series, *, ascending: bool) -> pl.Expr:
    """Return the number of the range, 0 for the best scores; null if the score is missing."""
    below = pl.col(score).map_batches(
        lambda scores: edges.search_sorted(scores, side="right"), return_dtype=pl.get_index_type(), is_elementwise=True
    )
    number = below.cast(pl.Int64) if ascending else len(edges) - below.cast(pl.Int64)
    # NaN is a missing score, but polars orders it above infinity.
    return pl.when(pl.col(score) <= float("inf")).then(number).alias(RANGE)


def range_numbering(call: PartQuery, sample: pl.DataFrame, ranges: int) -> Part:
    """Return a function that computes the column `RANGE` of a part. `sample`: of the scores."""
    edges = range_edges(sample.to_series(), ranges)
    return partial(_range_numbers, score=call.score, edges=edges, ascending=call.request.ascending)


def _range_numbers(part: pl.DataFrame, score: str, edges: pl.Series, ascending: bool) -> pl.DataFrame:
    return part.select(range_of(score, edges, ascending=ascending))


def with_ranges(part: pl.DataFrame, number: Part, function: Part) -> pl.DataFrame:
    """Apply a function to a part and its column `RANGE`."""
    return function(part.hstack(number(part)))


def refuse_whole_group(call: PartQuery) -> None:
    """Refuse options that need all ranges of a group together: the best order of gains, and weights by prevalence."""
    if call.request.unjudged == "trec_eval":
        raise ValueError("unjudged='trec_eval': a group is split into parts, which do not see all of its labels")
    for name in ("gain", "prevalence"):
        if call.request.policies.get(name) is not None:
            raise ValueError(
                f"{name}= needs all rows of a group together, and one that is too large, or all there is without by=, "
                "is split into ranges of its scores: evaluate a frame that fits in memory"
            )


def evaluate_ranges(call: PartQuery, empty: pl.DataFrame, over_ranges: OverRanges) -> pl.DataFrame:
    """Compute one row per group. Each group is split into ranges of its scores, and each range is in one part.

    `empty`: the columns of the call, without rows. `over_ranges`: applies a function to the parts, which have a column
    `RANGE`. It is called two or three times.
    """
    no_rows, _ = call.rows_of(empty, call.keys, {})
    plan = plan_for(no_rows, call.names, call.undefined)
    starts = starts_of(over_ranges(partial(count_ranges, call=call)), call, fractional=no_rows.weights.fractional)
    if starts.is_empty():
        return call.of_groups(empty)
    context: dict[str, Any] = {"call": call, "starts": starts}
    if "interpolated_precision" in plan.columns:
        context["starts"] = with_later_precision(starts, over_ranges(partial(best_precision, **context)), call)
    result = finished_groups(over_ranges(partial(summed_up, **context)), call, plan)
    return result.select(**renamed(dict(zip(call.by, call.keys, strict=True)) | {**call.named}))


def count_ranges(part: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Return, for each range in the part, its rows and positives, and known totals that are columns of the rows."""
    rows, output = call.rows_of(part, [*call.keys, RANGE], call.totals_in_rows())
    without_totals = replace(rows, totals=[])
    counts = aggregate(without_totals, plan_for(without_totals, list(TOTALS)))
    table = counts.select("group", **{_SUM + name: name for name in TOTALS})
    unjudged = rows.frame.group_by("group").agg(rows.unjudged().sum().alias(_SUM + UNJUDGED.total))
    table = table.join(unjudged, on="group", how="left")
    for total in rows.totals:
        table = table.join(total, on="group", how="left")
    return output.restore(table).collect()


def starts_of(counts: pl.DataFrame, call: PartQuery, *, fractional: bool) -> pl.DataFrame:
    """Return the counts with which each range starts, without the largest precision below it."""
    coder = _coding_of(counts, call.keys)
    sums = {count: pl.col(_SUM + count.total) for count in (*CUMULATIVE_COUNTS, UNJUDGED)}
    totals = _known_totals(coder, call, pl.Float64() if fractional else pl.Int64())
    groups = coder.rows.group_by("group").agg(*(total.sum().alias(count.total) for count, total in sums.items()))
    groups = with_totals(groups.sort("group"), totals)
    groups = groups.select("group", **{count.in_all: count.total for count in sums})
    # Rows without a score have no range, and rank nowhere.
    ranked = {count: pl.when(pl.col(RANGE).is_not_null()).then(total).otherwise(0) for count, total in sums.items()}
    before = {count.before: (number.cum_sum() - number).over("group") for count, number in ranked.items()}
    starts = coder.rows.sort("group", RANGE, nulls_last=True).with_columns(**before, later_precision=pl.lit(0.0))
    return starts.join(groups, on="group").select(*call.keys, RANGE, *START).collect()


def _known_totals(coder: Groups, call: PartQuery, dtype: pl.DataType) -> list[pl.LazyFrame]:
    """Return the known totals of groups. The ranges have those that are columns of the rows."""
    totals = call.request.totals_read
    return [_known_total(coder.rows, coder, call, name, total, dtype) for name, total in totals.items()]


def _known_total(
    ranges: pl.LazyFrame, coder: Groups, call: PartQuery, name: str, total: Any, dtype: pl.DataType, typed: Any = None
) -> pl.LazyFrame:
    """Return a known total of each group, whose value is the name of a column of the ranges or a frame."""
    if isinstance(total, str):
        return totals_in_rows(ranges, name, total, dtype, typed=typed)
    table = totals_frame(total, name, dict(zip(call.by, call.keys, strict=True)), coder.rows.collect_schema())
    return totals_in_frame(table, coder.look_up, 1, dtype, typed)


def best_precision(part: pl.DataFrame, call: PartQuery, starts: pl.DataFrame) -> pl.DataFrame:
    """Return, for each range in the part, the largest precision at any of its thresholds."""
    rows, output = call.rows_of(part, [*call.keys, RANGE], {}, starts)
    best = (pl.col("tp") / pl.col("k")).max().alias(_SUM + "precision")
    return output.restore(blocks_of(rows, ["tp", "k"], steps=True).group_by("group").agg(best)).collect()


def with_later_precision(starts: pl.DataFrame, best: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Add the largest precision below each range to the starts."""
    starts = starts.join(best, on=[*call.keys, RANGE], how="left", nulls_equal=True)
    # A range of rows that do not count has no threshold.
    precision = pl.col(_SUM + "precision").fill_null(0.0)
    later = precision.shift(-1, fill_value=0.0).cum_max(reverse=True).over("group")
    ranges = _coding_of(starts, call.keys).rows.sort("group", RANGE, nulls_last=True)
    return ranges.with_columns(later_precision=later).select(*call.keys, RANGE, *START).collect()


def summed_up(part: pl.DataFrame, call: PartQuery, starts: pl.DataFrame) -> pl.DataFrame:
    """Return, for each range in the part, its share of the sums of its group."""
    rows, output = call.rows_of(part, [*call.keys, RANGE], {}, starts)
    sums = aggregate(rows, plan_for(rows, call.names, call.undefined))
    return output.restore(sums.rename(lambda name: name if name == "group" else _SUM + name)).collect()


def finished_groups(sums: pl.DataFrame, call: PartQuery, plan: Plan) -> pl.DataFrame:
    """Compute the metrics of each group from the sums of its ranges."""
    coder = _coding_of(sums, call.keys)
    groups = per_group(coder.rows, plan.over_groups, None if call.keys else 1, _SUM)
    table = finalize(groups, ["group"], plan)
    return coder.restore(table).select(*call.keys, *plan.metrics).collect()


def _coding_of(table: pl.DataFrame, keys: list[str]) -> Groups:
    return number_groups(table, keys, group_limit(ordered=False))
