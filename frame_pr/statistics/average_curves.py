"""The mean of the precision-recall curves of many groups, with its band and the quartiles of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from frame_pr.frames.arguments import check_flag, check_whole, public
from frame_pr.frames.columns import has_keys, refuse_clash
from frame_pr.frames.kinds import Frame, collected, lazily
from frame_pr.functions.curves import curve_table
from frame_pr.functions.evaluation import sorted_by
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import Use, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bounds import scipy_special, with_bounds
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.unit_values import keys_left, refuse_engine

COLUMNS = ("recall", "precision", "low", "high", "lower_quartile", "upper_quartile", "groups")
MOST_LEVELS = 10_001
"""Levels of recall. Each group has a row at each level, and 40 groups take 0.4 s with this many levels."""


@lazily
@public(REFUSED["average_curve"])
def average_curve(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    points: int = 101,
    interpolated: bool = False,
    confidence: float = 0.95,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Average the precision-recall curves of all groups, by recall.

    The levels of recall are i / (points - 1). The precision at a level is the mean over the groups of the mean height
    of their curve between the previous level and this level, so that the area under it is their mean average precision.
    With `interpolated` it is the mean of the largest precision at this or a larger recall, so that the mean of 11
    levels is that of `interpolated_average_precision_11`. Every group that has positives counts: its precision is 0 at
    the levels that it does not reach, and at all of them if it retrieved no positive. Groups without positives are left
    out. The band is the confidence interval of the mean (see `intervals`), for each level by itself.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    mean_over : str or list of str, optional
        Columns of `by` to average over. Default: all. The result has a curve for each group of the other columns.
    points : int
        Number of recall levels from 0 to 1, at most 10,001.
    interpolated : bool
        Whether to average the interpolated precision at each level.
    confidence : float
        Confidence level of the band, strictly between 0 and 1.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `recall` (from 0 if `interpolated`, else from the first level above), `precision,
        low, high, lower_quartile, upper_quartile` (Float64; the quartiles are those of the groups) and `groups` (how
        many there are, Int64). The band is null where there are fewer than two.

    Raises
    ------
    ValueError, TypeError
        There are no groups, or more levels than 10,001; a column is missing, given twice, of the wrong type, or has
        missing values.

    See Also
    --------
    curve, plot, intervals

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame(
    ...     {"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [9, 8, 7, 6]}
    ... )
    >>> mean = fp.average_curve(run, "relevant", "score", by="query", points=3)
    >>> mean.select("recall", "precision", "low", "high", "groups")
    shape: (2, 5)
    ┌────────┬───────────┬───────────┬──────┬────────┐
    │ recall ┆ precision ┆ low       ┆ high ┆ groups │
    │ ---    ┆ ---       ┆ ---       ┆ ---  ┆ ---    │
    │ f64    ┆ f64       ┆ f64       ┆ f64  ┆ i64    │
    ╞════════╪═══════════╪═══════════╪══════╪════════╡
    │ 0.5    ┆ 0.75      ┆ 1.3167e-7 ┆ 1.0  ┆ 2      │
    │ 1.0    ┆ 0.75      ┆ 1.3167e-7 ┆ 1.0  ┆ 2      │
    └────────┴───────────┴───────────┴──────┴────────┘
    """
    scipy_special()
    points, interpolated = check_whole("points", points, 2), check_flag("interpolated", interpolated)
    confidence = validate_confidence(confidence)
    if points > MOST_LEVELS:
        raise ValueError(f"points: {points} levels of recall are more than {MOST_LEVELS}; use fewer, such as 101")
    if not has_keys(by):
        raise ValueError("average_curve needs groups, whose curves are averaged: name the grouping columns, by=...")
    refuse_engine(frame)
    request = request_of(truth, score, by, positive, policies)
    rows, output = rows_of(frame, request.used_as(Use(ranks=True), ["positives"]), all_groups=True)
    keys = list(output.keys[len(output.keys) - bool(output.systems) :])
    if mean_over is not None:
        keys = keys_left(output.keys, mean_over)
    refuse_clash(output.keys, COLUMNS)
    blocks = curve_table(rows, ("precision", "recall_step", "interpolated_precision"), unretrieved=True)
    groups = blocks.filter(pl.col("positives") > 0).select(pl.col("group").unique().sort())
    heights = output.restored(heights_of(blocks.filter("retrieved"), groups, points, interpolated=interpolated))
    columns, height, n = [output.key_columns[key] for key in keys], pl.col("height"), pl.col("groups")
    table = heights.group_by(*columns, "level").agg(
        precision=height.mean(),
        error=height.std() / height.count().sqrt(),
        lower_quartile=height.quantile(0.25, "linear"),
        upper_quartile=height.quantile(0.75, "linear"),
        groups=height.count().cast(pl.Int64),
    )
    estimates = {"value": pl.col("precision"), "df": n - 1, "sources": n, "units": n, "positives": n, "m": pl.lit(0)}
    table = table.with_columns(recall=pl.col("level") / (points - 1), **estimates)
    bounded = with_bounds(collected(table, "auto"), ["share"], confidence).lazy()
    named = [pl.col(column).alias(key) for column, key in zip(columns, keys, strict=True)]
    return output.give(bounded.sort(*sorted_by(keys, output.systems, columns), "recall").select(*named, *COLUMNS), keys)


def heights_of(table: pl.LazyFrame, groups: pl.LazyFrame, points: int, *, interpolated: bool) -> pl.LazyFrame:
    """Return `group`, `level` and `height` at all levels of recall, for each `group` of `groups`.

    `table`: curves, by group and from the best score on, with `tp`, `positives`, `recall_step` and both precisions. A
    group without a step has a height of 0 at every level.
    """
    last, level = points - 1, pl.col("level")
    # Recall times `last` is an integer, which the comparison with levels needs: 3/10 is not the float 0.3.
    whole_numbers = table.collect_schema()["tp"].is_integer()
    counts = pl.col("tp", "positives")
    steps = table.filter(pl.col("recall_step") > 0).with_columns(counts.cast(pl.Int128) if whole_numbers else counts)
    steps = steps.with_columns(end=pl.col("tp") * last)
    same_group = pl.col("group") == pl.col("group").shift(1)
    if interpolated:
        # Sums of floats may miss a level by their rounding errors. The first positive reaches level 0.
        slack = 0 if whole_numbers else pl.col("positives") * last * 1e-12
        reached = ((pl.col("end") + slack) // pl.col("positives")).cast(pl.Int64)
        before = pl.when(same_group).then(reached.shift(1)).otherwise(-1)
        heights = steps.select("group", height="interpolated_precision", level=pl.int_ranges(before + 1, reached + 1))
        heights = heights.explode("level", empty_as_null=False)
    else:
        start, end = pl.col("start"), pl.col("end")
        steps = steps.with_columns(start=pl.when(same_group).then(end.shift(1)).otherwise(0))
        first = (start // pl.col("positives")).cast(pl.Int64).clip(0, last - 1)
        after_last = (end - 1) // pl.col("positives") + 1 if whole_numbers else (end / pl.col("positives")).ceil()
        after_last = after_last.cast(pl.Int64).clip(first + 1, last)
        pieces = steps.with_columns(level=pl.int_ranges(first, after_last)).explode("level", empty_as_null=False)
        # In units in which a level is as wide as the number of positives, so that widths are integers.
        upper, lower = (pl.col("positives") * (level + edge) for edge in (1, 0))
        width = pl.min_horizontal("end", upper) - pl.max_horizontal("start", lower)
        share = pl.col("precision") * width.cast(pl.Float64) / pl.col("positives").cast(pl.Float64)
        heights = pieces.select("group", level=level + 1, height=share)
        heights = heights.group_by("group", "level").agg(pl.col("height").sum())
    levels = pl.LazyFrame({"level": range(0 if interpolated else 1, points)}, schema={"level": pl.Int64})
    grid = groups.join(levels, how="cross", maintain_order="left_right")
    grid = grid.join(heights, on=["group", "level"], how="left", maintain_order="left")
    # A level that is not reached has precision 0, and a sum may exceed 1 by the last bit.
    return grid.with_columns(pl.col("height").fill_null(0.0).clip(upper_bound=1.0))
