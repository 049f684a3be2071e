"""Evaluate one ranking in ranges of its scores, each ranked separately.

Equal scores are in one range wherever the boundaries are, so any boundaries give exact results. A
range continues the ranking of the better ranges: it receives their numbers of rows and positives,
and computes its share of the group's sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.inputs.request import TOTALS, kind_of_totals
from frame_pr.inputs.rows import Groups, OutputFrame, Rows, number_groups, rows_of
from frame_pr.inputs.sort_keys import group_limit
from frame_pr.inputs.totals import totals_frame, totals_in_frame, totals_in_rows, with_totals
from frame_pr.inputs.weights import (
    CUMULATIVE_COUNTS,
    UNJUDGED,
    Weights,
    ends_of,
    largest_total,
    unit_of,
)
from frame_pr.metrics.aggregation import aggregate, finalize, per_group, plan_for
from frame_pr.parts.part_query import Part, PartQuery
from frame_pr.ranking.blocks import START, blocks_of

RANGE = "range of frame_pr"
"""The column of a part with the range of each row."""
_RANGE_KEY = "key0"
"""The same in tables with one row per range, which name all keys as `OutputFrame.restored` does."""
_SUM = "sum of "  # The prefix of columns next to the keys of a table.

OverRanges = Callable[[Part], pl.DataFrame]
"""Applies a function to parts that have a column `RANGE`, and concatenates the results."""


def range_number(call: PartQuery, sample: pl.Series, ranges: int) -> pl.Expr:
    """Return the number of the range of each row as `RANGE`: 0 for the best scores, null if the score is missing.

    `sample`: of the scores, which the ranges divide into about equal parts.
    """
    scores = sample.alias("").drop_nulls().sort()  # Methods of a Series named `^...$` fail.
    edges = scores.gather_every(max(1, len(scores) // ranges)).unique(maintain_order=True)[1:]
    score, reached = by_name(call.scores[0]), partial(edges.search_sorted, side="right")
    below = score.map_batches(reached, return_dtype=pl.get_index_type(), is_elementwise=True).cast(
        pl.Int64
    )
    # NaN is a missing score, but polars orders it above infinity.
    number = pl.when(score <= float("inf")).then(
        below if call.request.ascending else len(edges) - below
    )
    return number.alias(RANGE)


def refuse_whole_group(call: PartQuery) -> None:
    """Refuse options that need all ranges of a group together: the best order of gains, and weights by prevalence."""
    if call.request.unjudged == "trec_eval":
        raise ValueError(
            "unjudged='trec_eval': a group is split into parts, which do not see all of its labels"
        )
    for name in ("gain", "prevalence"):
        if call.request.options.get(name) is not None:
            raise ValueError(
                f"{name}= needs all rows of a group together, and one that is too large, or all there is without by=, "
                "is split into ranges of its scores: evaluate a frame that fits in memory"
            )


def evaluate_ranges(call: PartQuery, empty: pl.DataFrame, over_ranges: OverRanges) -> pl.DataFrame:
    """Compute one row per group. Each group is split into ranges of its scores, and each range is in one part.

    `empty`: the columns of the call, without rows. `over_ranges`: applies a function to the parts,
    which have a column `RANGE`. It is called two to four times.
    """
    no_rows, _ = rows_of(empty, call.request.with_totals({}))
    weights = no_rows.weights
    if weights.fractional:
        weights = _with_common_unit(weights, call, empty, over_ranges)
    plan = plan_for(replace(no_rows, weights=weights), list(call.named.values()), call.undefined)
    context: dict[str, Any] = {"call": call, "unit": weights.unit}
    starts = starts_of(over_ranges(partial(count_ranges, **context)), call, weights)
    if starts.is_empty():
        return call.of_groups(empty)
    context["starts"] = starts
    if "interpolated_precision" in plan.columns:
        context["starts"] = with_later_precision(
            starts, over_ranges(partial(best_precision, **context)), call
        )
    sums = number_groups(
        over_ranges(partial(summed_up, **context)), _keys(call), group_limit(ordered=False)
    )
    table = finalize(
        per_group(sums.rows, plan.over_groups, None if call.by else 1, _SUM), ["group"], plan
    )
    named = dict(zip(call.by, _keys(call), strict=True)) | {**call.named}
    return (
        sums.restore(table)
        .select(pl.col(source).alias(name) for name, source in named.items())
        .collect()
    )


def _keys(call: PartQuery) -> list[str]:
    """Return the names of the caller's keys in tables with one row per range."""
    return [f"key{i}" for i, _ in enumerate(call.by, 1)]


def _rows_of_ranges(
    part: pl.DataFrame,
    call: PartQuery,
    unit: float,
    totals: Mapping[str, Any],
    starts: pl.DataFrame | None = None,
) -> tuple[Rows, OutputFrame[pl.DataFrame]]:
    """Return the canonical rows of the part, grouped by their range and the keys, with these known totals."""
    request = replace(call.request, keys=[RANGE, *call.by]).with_totals(totals)
    return rows_of(part, request, starts=starts, unit=unit)


def _with_common_unit(
    weights: Weights, call: PartQuery, empty: pl.DataFrame, over_ranges: OverRanges
) -> Weights:
    """Return float weights with one unit for all parts, so that the counts of ranges add up."""
    ends = over_ranges(partial(weight_ends, call=call))
    in_frames = {
        name: total
        for name, total in call.request.totals_read.items()
        if not isinstance(total, str)
    }
    groups, _ = rows_of(empty, call.request.with_totals(in_frames), all_groups=True)
    of_all = ends.select(pl.col("least").min(), pl.col("bound").sum(), pl.col("total").max())
    least, bound, total = of_all.row(0)
    largest = max(bound, total or 0.0, largest_total(groups.totals))
    return weights._replace(unit=unit_of(least, largest, "weight", weights.name))


def weight_ends(part: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Return the ends of the weights of a part (see `ends_of`), and the largest `total` in a column."""
    columns = {
        name: by_name(str(column))
        for name, column in call.request.single.items()
        if name in ("weight", "count")
    }
    weights = part.lazy().select(**columns).cast({"weight": pl.Float64})
    weights = weights.with_columns(pl.col("weight").fill_nan(None))
    ends = ends_of(weights, "weight", has_counts="count" in columns)
    totals = [by_name(total).max().cast(pl.Float64) for total in call.totals_in_rows().values()]
    return ends.hstack(part.select(total=pl.max_horizontal(0.0, *totals)))


def count_ranges(part: pl.DataFrame, call: PartQuery, unit: float) -> pl.DataFrame:
    """Return, for each range in the part, its rows and positives, and known totals that are columns of the rows."""
    rows, output = _rows_of_ranges(part, call, unit, call.totals_in_rows())
    without_totals = replace(rows, totals=[])
    counts = aggregate(without_totals, plan_for(without_totals, list(TOTALS)))
    table = counts.select("group", **{_SUM + name: name for name in TOTALS})
    is_unjudged = ~pl.col("judged") if call.request.fills_labels else pl.lit(False)
    unjudged = rows.frame.group_by("group").agg(
        (is_unjudged * rows.number).sum().alias(_SUM + UNJUDGED.total)
    )
    table = table.join(unjudged, on="group", how="left")
    for total in rows.totals:
        table = table.join(total, on="group", how="left")
    return output.restored(table).collect()


def starts_of(counts: pl.DataFrame, call: PartQuery, weights: Weights) -> pl.DataFrame:
    """Return the counts with which each range starts, without the largest precision below it, sorted."""
    coder = number_groups(counts, _keys(call), group_limit(ordered=False))
    sums = {count: pl.col(_SUM + count.total) for count in (*CUMULATIVE_COUNTS, UNJUDGED)}
    totals = [_known_total(coder, call, name, weights.dtype) for name in call.request.totals_read]
    groups = coder.rows.group_by("group").agg(
        *(total.sum().alias(count.total) for count, total in sums.items())
    )
    groups = with_totals(groups.sort("group"), totals, weights)
    groups = groups.select("group", **{count.in_all: count.total for count in sums})
    # Rows without a score have no range, and rank nowhere.
    has_range = pl.col(_RANGE_KEY).is_not_null()
    ranked = {
        count.before: pl.when(has_range).then(total).otherwise(0) for count, total in sums.items()
    }
    before = {name: (number.cum_sum() - number).over("group") for name, number in ranked.items()}
    starts = coder.rows.sort("group", _RANGE_KEY, nulls_last=True).with_columns(
        **before, later_precision=pl.lit(0.0)
    )
    starts = starts.join(groups, on="group", maintain_order="left")
    return starts.select(_RANGE_KEY, *_keys(call), *START).collect()


def _known_total(coder: Groups, call: PartQuery, name: str, dtype: pl.DataType) -> pl.LazyFrame:
    """Return a known total of each group. The ranges have it if it is a column of the rows; otherwise it is a frame."""
    total = call.request.totals[name]
    if isinstance(total, str):
        return totals_in_rows(coder.rows, name, total, dtype)
    keys = dict(zip(call.by, _keys(call), strict=True))
    frame = totals_frame(kind_of_totals(name, total), name, keys, coder.rows.collect_schema())
    return totals_in_frame(frame, coder.look_up, 1, dtype)


def best_precision(
    part: pl.DataFrame, call: PartQuery, unit: float, starts: pl.DataFrame
) -> pl.DataFrame:
    """Return, for each range in the part, the largest precision at any of its thresholds."""
    rows, output = _rows_of_ranges(part, call, unit, {}, starts)
    best = (pl.col("tp") / pl.col("k")).max().alias(_SUM + "precision")
    return output.restored(
        blocks_of(rows, ["tp", "k"], steps=True).group_by("group").agg(best)
    ).collect()


def with_later_precision(starts: pl.DataFrame, best: pl.DataFrame, call: PartQuery) -> pl.DataFrame:
    """Add the largest precision below each range to the starts."""
    starts = starts.join(
        best, on=[_RANGE_KEY, *_keys(call)], how="left", nulls_equal=True, maintain_order="left"
    )
    # A range of rows that do not count has no threshold.
    precision = pl.col(_SUM + "precision").fill_null(0.0)
    later = precision.shift(-1, fill_value=0.0).cum_max(reverse=True)
    return starts.with_columns(later_precision=later.over(_keys(call)) if call.by else later)


def summed_up(
    part: pl.DataFrame, call: PartQuery, unit: float, starts: pl.DataFrame
) -> pl.DataFrame:
    """Return, for each range in the part, its share of the sums of its group."""
    rows, output = _rows_of_ranges(part, call, unit, {}, starts)
    sums = aggregate(rows, plan_for(rows, list(call.named.values()), call.undefined))
    return output.restored(
        sums.rename(lambda name: name if name == "group" else _SUM + name)
    ).collect()
