"""The mean of the precision-recall curves of many groups, with its band and the quartiles of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from frame_pr.frames.arguments import check_flag, check_whole, public
from frame_pr.frames.columns import has_keys
from frame_pr.frames.kinds import Frame, collected, lazily
from frame_pr.functions.curves import curve_table
from frame_pr.inputs.options import REFUSED, Column, Columns, Options
from frame_pr.inputs.request import Use, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bounds import scipy_special, with_bounds
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.samples import give_sorted, keys_left, means_over

AVERAGE_COLUMNS = (
    "recall",
    "precision",
    "low",
    "high",
    "lower_quartile",
    "upper_quartile",
    "groups",
)
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
    **options: Unpack[Options],
) -> Frame:
    """Average the precision-recall curves of all groups, by recall.

    The levels of recall are i / (points - 1). The precision at a level is the mean over the groups
    of the mean height of their curve between the previous level and this level, so that the area
    under it is their mean average precision. With `interpolated` it is the mean of the largest
    precision at this or a larger recall, so that the mean of 11 levels is that of
    `interpolated_average_precision_11`. Every group that has positives counts: its precision is 0
    at the levels that it does not reach, and at all of them if it retrieved no positive. Groups
    without positives are left out. The band is the confidence interval of the mean (see
    `intervals`), for each level by itself.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    mean_over : str or list of str, optional
        Columns of `by` to average over. Default: all but `system`. The result has a curve for each
        group of the other columns.
    points : int
        Number of recall levels from 0 to 1, at most 10,001.
    interpolated : bool
        Whether to average the interpolated precision at each level.
    confidence : float
        Confidence level of the band, at least 0.5 and below 1.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `recall` (from 0 if `interpolated`, else from the first level
        above), `precision, low, high, lower_quartile, upper_quartile` (Float64; the quartiles are
        those of the groups) and `groups` (how many there are, Int64). The band is null where there
        are fewer than two.

    Raises
    ------
    ValueError, TypeError
        There are no groups, or more levels than 10,001; a column is missing, given twice, of the
        wrong type, or has missing values.

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
    points, interpolated = (
        check_whole("points", points, 2, MOST_LEVELS),
        check_flag("interpolated", interpolated),
    )
    confidence = validate_confidence(confidence)
    if not has_keys(by):
        raise ValueError(
            "average_curve needs groups, whose curves are averaged: name the grouping columns, by=..."
        )
    request = request_of(truth, score, by, positive, options)
    rows, output = rows_of(frame, request.used_as(Use(ranks=True), ["positives"]), all_groups=True)
    blocks = curve_table(
        rows, ("precision", "recall_step", "interpolated_precision"), unretrieved=True
    )
    heights = output.restored(
        heights_of(blocks, points, interpolated=interpolated).with_columns(m=0)
    )
    height, names = (
        pl.col("value"),
        {key: output.key_columns[key] for key in keys_left(output.keys, mean_over)},
    )
    quartiles = {
        f"{side}_quartile": height.quantile(q, "linear")
        for side, q in {"lower": 0.25, "upper": 0.75}.items()
    }
    table = means_over(collected(heights, "auto"), [*names.values(), "level", "m"], 1, **quartiles)
    recall = pl.col("level") / (points - 1)
    table = with_bounds(table, ["share"], confidence).with_columns(recall=recall, precision="value")
    return give_sorted(table, names, output, ["recall"], AVERAGE_COLUMNS)


def heights_of(table: pl.LazyFrame, points: int, *, interpolated: bool) -> pl.LazyFrame:
    """Return `group`, `level` and `value`, the height of the curve at all levels of recall, for groups with positives.

    `table`: curves, by group and from the best score on, with `tp`, `positives`, `retrieved`,
    `recall_step` and both precisions. A group has a height of 0 at the levels that it does not
    reach.
    """
    last, level, positives = points - 1, pl.col("level"), pl.col("positives")
    # Recall times `last` is an integer, which the comparison with levels needs: 3/10 is not the
    # float 0.3.
    table = table.with_columns(pl.col("tp", "positives").cast(pl.Float64))
    # In units in which a level is as wide as the number of positives, so that widths are integers.
    area = pl.col("precision") * (pl.col("hits").cast(pl.Float64) * last)
    steps = table.filter("retrieved", pl.col("recall_step") > 0)
    steps = steps.with_columns(end=pl.col("tp") * last, area=area.cum_sum().over("group"))
    whole_area = area.filter("retrieved").sum()
    groups = (
        table.filter(positives > 0)
        .group_by("group")
        .agg(positives.first(), whole_area=whole_area)
        .sort("group")
    )
    levels = pl.LazyFrame({"level": range(points)}, schema={"level": pl.Int64})
    grid = groups.join(levels, how="cross", maintain_order="left_right")
    # Sums of float weights may miss a level by their rounding errors.
    target = level * positives * (1 - 1e-12)
    steps = steps.select("group", "end", "area", "precision", "interpolated_precision")
    # The step that reaches the level.
    grid = grid.with_columns(target=target).join_asof(
        steps,
        left_on="target",
        right_on="end",
        by="group",
        strategy="forward",
        check_sortedness=False,
    )
    if interpolated:
        return grid.select("group", "level", value=pl.col("interpolated_precision").fill_null(0.0))
    behind = pl.col("end") - level * positives
    reached = (pl.col("area") - pl.col("precision") * behind).fill_null(pl.col("whole_area"))
    height = (reached - reached.shift(1)) / positives
    return grid.select("group", "level", value=height.clip(0.0, 1.0)).filter(level > 0)
