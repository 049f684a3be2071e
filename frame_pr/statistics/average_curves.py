"""The mean of the precision-recall curves of many groups, with its band and the quartiles of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from frame_pr.frames.arguments import flag, whole
from frame_pr.frames.columns import by_name, refuse_clash
from frame_pr.frames.frame_kind import Frame
from frame_pr.functions.curves import CURVE_COLUMNS, NULLS, curve_table
from frame_pr.functions.evaluation import sorted_by
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import refuse_undefined, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bounds import of_share
from frame_pr.statistics.figures import keys_left, refuse_engine
from frame_pr.statistics.intervals import share_of

COLUMNS = ("recall", "precision", "low", "high", "lower_quartile", "upper_quartile", "groups")


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
    """The mean of the curves of all groups, by recall.

    The levels of recall are i / (points - 1). At a level stands the mean over the groups of the mean height of their
    curve since the level before, so that the area under it is their mean average precision; `interpolated`, of the max
    precision at this or a larger recall, so that the mean of 11 levels is that of `interpolated_average_precision_11`.
    The band is that of a mean (see `intervals`), level by level. Groups without positives are left out.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    mean_over : str or list of str, optional
        Columns of `by` to average over, all unless some are named: the result has a curve for each group of the others.
    points : int
        How many levels of recall there are, from 0 to 1.
    interpolated : bool
        Whether to average the interpolated precision at each level.
    confidence : float
        How often the band holds the mean at a level, between 0 and 1.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `recall` (from 0 if `interpolated`, else from the first level above), `precision,
        low, high, lower_quartile, upper_quartile` (Float64; the quartiles are those of the groups) and `groups` (how
        many there are, Int64). The band is null where there are fewer than two.

    Raises
    ------
    ValueError, TypeError
        There are no groups; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
    >>> fp.average_curve(run, "relevant", "score", by="query", points=3).select("recall", "precision", "groups").rows()
    [(0.5, 0.75, 2), (1.0, 0.75, 2)]
    """
    levels, smooth, share = whole("points", points, 2), flag("interpolated", interpolated), share_of(confidence)
    refuse_undefined(policies, NULLS)
    if by is None:
        raise ValueError("average_curve needs groups, whose curves are averaged: name the grouping columns, by=...")
    refuse_engine(frame)
    rows, way_back = rows_of(frame, request_of(truth, score, by, positive, policies))
    keys = list(way_back.keys[len(way_back.keys) - bool(way_back.systems) :])
    if mean_over is not None:
        keys = keys_left(way_back.keys, mean_over)
    refuse_clash(way_back.keys, COLUMNS)
    heights = way_back.restore(heights_of(curve_table(rows, CURVE_COLUMNS), levels, interpolated=smooth))
    averaged = averages(heights, keys, levels, share)
    return way_back.give(averaged.sort(*sorted_by(keys, way_back.systems), "recall"), keys)


def heights_of(table: pl.LazyFrame, points: int, *, interpolated: bool) -> pl.LazyFrame:
    """`group`, `level` and `height`, of a table of curves in order, at all levels of groups with positives."""
    last, level = points - 1, pl.col("level")
    steps = table.filter(pl.col("recall_step") > 0)
    if interpolated:
        # In whole numbers: 3/10 is not the float .3. Level 0 is reached at the first hit.
        reached = (pl.lit(last, dtype=pl.Int128) * pl.col("tp") // (pl.col("tp") + pl.col("fn"))).cast(pl.Int64)
        before = pl.when(pl.col("group") == pl.col("group").shift(1)).then(reached.shift(1)).otherwise(-1)
        found = steps.select("group", height="interpolated_precision", level=pl.int_ranges(before + 1, reached + 1))
        found = found.explode("level", empty_as_null=False)
    else:
        start, end = pl.col("recall") - pl.col("recall_step"), pl.col("recall")
        first = (start * last).floor().cast(pl.Int64).clip(0, last - 1)
        behind = (end * last).ceil().cast(pl.Int64).clip(first + 1, last)
        found = steps.select("group", "precision", start=start, end=end, level=pl.int_ranges(first + 1, behind + 1))
        within = pl.min_horizontal("end", level / last) - pl.max_horizontal("start", (level - 1) / last)
        found = (
            found.explode("level").group_by("group", "level").agg(height=(pl.col("precision") * within).sum() * last)
        )
    every = pl.LazyFrame({"level": range(0 if interpolated else 1, points)}, schema={"level": pl.Int64})
    every = steps.select(pl.col("group").unique().sort()).join(every, how="cross")
    # What is not reached has a precision of 0.
    return every.join(found, on=["group", "level"], how="left", maintain_order="left").with_columns(
        pl.col("height").fill_null(0.0)
    )


def averages(heights: pl.LazyFrame, keys: Sequence[str], points: int, confidence: float) -> pl.LazyFrame:
    """`keys` and `COLUMNS`, in no order, of `keys`, `level` and `height`."""
    height, groups = pl.col("height"), pl.col("groups")
    found = heights.group_by(*map(by_name, keys), "level").agg(
        precision=height.mean(),
        error=height.std() / height.count().sqrt(),
        lower_quartile=height.quantile(0.25, "linear"),
        upper_quartile=height.quantile(0.75, "linear"),
        groups=height.count().cast(pl.Int64),
    )
    # A mean of heights may be a last bit above 1.
    found = found.with_columns(
        recall=pl.col("level") / (points - 1), precision=pl.col("precision").clip(upper_bound=1.0)
    )
    band = of_share(pl.col("precision"), pl.col("error"), groups - 1, confidence)
    band = {name: pl.when(groups > 1).then(bound) for name, bound in band.items()}
    return found.with_columns(**band).select(*map(by_name, keys), *COLUMNS)
