"""One ranking in ranges of its scores, each ranked by itself.

Equal scores are in one range wherever the cuts are, so any cuts are exact. A range continues the ranking that those of
higher scores began: it is told how many rows and positives they have, and its sums are a part of the group's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_pr.calls import Call, Part
from frame_pr.evaluation import chosen_for, finished, per_group, summed, sums_of, values
from frame_pr.groups import CODES, Coding, coding
from frame_pr.inputs import TOTALS
from frame_pr.metrics import Metric
from frame_pr.ranking import START, curve
from frame_pr.totals import totals_in_frame, totals_in_rows, with_totals

RANGE = "frame_pr range"
_SUM = "sum of "  # before the names of columns that stand beside the caller's


def cut_points(sample: pl.Series, ranges: int) -> pl.Series:
    """Scores that cut a column like this sample into ranges of about equal size."""
    scores = sample.drop_nulls().sort()
    return scores.gather_every(max(1, len(scores) // ranges)).unique(maintain_order=True)[1:]


def range_of(score: str, cuts: pl.Series) -> pl.Expr:
    """The number of the range, 0 at the highest scores; null where there is no score."""
    above = pl.col(score).map_batches(
        lambda scores: cuts.search_sorted(scores, side="right"), return_dtype=pl.get_index_type(), is_elementwise=True
    )
    # NaN is no score, and is above infinity.
    return pl.when(pl.col(score) <= float("inf")).then(len(cuts) - above.cast(pl.Int64)).alias(RANGE)


def evaluated(call: Call, empty: pl.DataFrame, over_ranges: Callable[[Part], pl.DataFrame]) -> pl.DataFrame:
    """One row per group, of which each is in ranges of its scores, whole ranges being together in one part.

    `empty`: the columns of the call, without rows. `over_ranges`: what a function makes of the parts, a column `RANGE`
    in them; it is asked to run twice, or three times.
    """
    # The tables between the steps have columns of our own beside the keys.
    names = {key: f"frame_pr key {i}" for i, key in enumerate(call.by)}
    policies = {
        name: value.rename(names) if isinstance(value, pl.DataFrame) else value for name, value in call.policies.items()
    }
    call, empty = replace(call, by=list(names.values()), policies=policies), empty.rename(names)

    def over(function: Part) -> pl.DataFrame:
        return over_ranges(partial(_of_renamed, names=names, function=function))

    renamed = {plain: key for key, plain in names.items()}
    starts = starts_of(over(partial(counted, call=call)), call)
    if starts.is_empty():
        # Where no row counts, a few give what all would.
        return call.of_groups(over(pl.DataFrame.head)).rename(renamed)
    sums = sums_of(_chosen(call, empty), "threshold")
    if any("interpolated_precision" in one.over.meta.root_names() for one in sums.values()):
        starts = with_later_precision(starts, over(partial(best_precision, call=call, starts=starts)), call)
    result = finished_groups(over(partial(summed_up, call=call, starts=starts)), call, empty)
    return result.rename(renamed)


def _of_renamed(part: pl.DataFrame, names: dict[str, str], function: Part) -> pl.DataFrame:
    return function(part.rename(names))


def counted(part: pl.DataFrame, call: Call) -> pl.DataFrame:
    """For each range in the part: its rows and positives, and the known totals of its group where a column has them."""
    policies = {name: value for name, value in call.policies.items() if name not in TOTALS or isinstance(value, str)}
    rows = call.rows_of(part, [*call.by, RANGE], policies)
    table = values(replace(rows, totals=[]), TOTALS).rename({name: _SUM + name for name in TOTALS})
    for total in rows.totals:
        table = table.join(total, on="group", how="left")
    return rows.restore(table).collect()


def starts_of(counts: pl.DataFrame, call: Call) -> pl.DataFrame:
    """What each range starts with, but for the precision below it."""
    coder, ranges = _numbered(counts, call.by)
    found, ranked = {name: pl.col(_SUM + name) for name in TOTALS}, pl.col(RANGE).is_not_null()
    dtype = counts.schema[_SUM + "rows"]
    totals = [
        totals_in_rows(ranges, name, value, dtype)
        if isinstance(value, str)
        else totals_in_frame(value, name, {key: key for key in call.by}, counts.schema, coder, 1, dtype)
        for name, value in call.policies.items()
        if name in TOTALS
    ]
    groups = ranges.group_by("group").agg(**{name: total.sum() for name, total in found.items()})
    groups = with_totals(groups, totals).select("group", positives_in_all="positives", rows_in_all="rows")
    before = {
        f"{name}_before": (number.cum_sum() - number).over("group")
        for name, total in (("tp", found["positives"]), ("k", found["rows"]))
        for number in (pl.when(ranked).then(total).otherwise(0),)
    }
    starts = ranges.sort("group", RANGE, nulls_last=True).with_columns(**before, later_precision=pl.lit(0.0))
    return starts.join(groups, on="group").select(*call.by, RANGE, *START).collect()


def best_precision(part: pl.DataFrame, call: Call, starts: pl.DataFrame) -> pl.DataFrame:
    """For each range in the part, the largest precision at any of its thresholds."""
    rows = call.rows_of(part, [*call.by, RANGE], _without_totals(call), starts)
    best = (pl.col("tp") / pl.col("k")).max().alias(_SUM + "precision")
    return rows.restore(curve(rows, steps=True).group_by("group").agg(best)).collect()


def with_later_precision(starts: pl.DataFrame, best: pl.DataFrame, call: Call) -> pl.DataFrame:
    """The starts, with the largest precision below each range."""
    starts = starts.join(best, on=[*call.by, RANGE], how="left", nulls_equal=True)
    later = pl.col(_SUM + "precision").shift(-1).cum_max(reverse=True).over("group").fill_null(0.0)
    ranges = _numbered(starts, call.by)[1].sort("group", RANGE, nulls_last=True).with_columns(later_precision=later)
    return ranges.select(*call.by, RANGE, *START).collect()


def summed_up(part: pl.DataFrame, call: Call, starts: pl.DataFrame) -> pl.DataFrame:
    """For each range in the part, its share of the sums of its group."""
    rows = call.rows_of(part, [*call.by, RANGE], _without_totals(call), starts)
    sums = summed(rows, chosen_for(rows, call.names, call.undefined))
    return rows.restore(sums.rename(lambda name: name if name == "group" else _SUM + name)).collect()


def finished_groups(sums: pl.DataFrame, call: Call, empty: pl.DataFrame) -> pl.DataFrame:
    """The metrics of each group, from the sums of its ranges. `empty`: the columns of the call, without rows."""
    chosen = _chosen(call, empty)
    coder, ranges = _numbered(sums, call.by)
    parts = sums_of(chosen, call.policies.get("ties", "threshold"))
    groups = per_group(ranges, parts, None if call.by else 1, _SUM)
    table = finished(groups, ["group"], chosen, call.undefined)
    return coder.restore(table).select(*call.by, *call.names).collect()


def _chosen(call: Call, empty: pl.DataFrame) -> dict[str, Metric]:
    return chosen_for(call.rows_of(empty, call.by, _without_totals(call)), call.names, call.undefined)


def _numbered(table: pl.DataFrame, keys: list[str]) -> tuple[Coding, pl.LazyFrame]:
    coder = coding(table.lazy(), keys, limit=CODES, height=table.height, in_order=False)
    return coder, coder.code(table.lazy())


def _without_totals(call: Call) -> dict[str, Any]:
    return {name: value for name, value in call.policies.items() if name not in TOTALS}
