"""Precision-recall and ROC curves with a band: the mean of many groups, or of one test set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_whole, public
from frame_pr.frames.kinds import Frame, collected, lazily
from frame_pr.functions.curves import curve_table
from frame_pr.inputs.options import REFUSED, Column, Columns, LabelOptions, options_in
from frame_pr.inputs.request import Use, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.statistics.bootstrap import Draws, draws_of
from frame_pr.statistics.bootstrap_intervals import intervals_of_draws
from frame_pr.statistics.bounds import scipy_special, with_bounds_of_means
from frame_pr.statistics.intervals import validate_confidence
from frame_pr.statistics.sampled_rows import Sample, samples
from frame_pr.statistics.units import (
    Evaluation,
    UnitValues,
    give_sorted,
    means_over,
    unit_values_of,
)

Band: TypeAlias = Literal["interval", "std", "quartiles"]
MOST_LEVELS = 10_001
"""Levels of recall. Each group has a row at each level, and 40 groups take 0.4 s."""


class AverageCurveOptions(LabelOptions, total=False):
    """More arguments of `average_curve`."""

    cluster: Column | None
    repeats: int | None
    seed: int | None


@public(REFUSED["average_curve"], options=AverageCurveOptions)
@lazily
def average_curve(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    x: Literal["recall", "fpr"] = "recall",
    points: int = 101,
    interpolated: bool = False,
    band: Band | None = "interval",
    confidence: float = 0.95,
    positive: object = None,
    **options: Unpack[AverageCurveOptions],
) -> Frame:
    """Compute the mean curve of many groups, or the curve of one test set, with a band.

    The levels of recall are i / (points - 1).

    With `mean_over`, the precision at a level is the mean over the groups of the mean height of
    their curve between the previous level and this level, so that the area under it is their mean
    average precision. With `interpolated` it is the mean of the largest precision at this or a
    larger recall, so that the mean of 11 levels is that of `interpolated_average_precision_11`.
    Every group that has positives counts: its precision is 0 at the levels that it does not reach,
    and at all of them if it retrieved no positive. Groups without positives are left out. The band
    is the confidence interval of the mean (see `intervals`), for each level by itself.

    Without `mean_over`, each group of `by` is a test set whose rows, or clusters of rows, were
    drawn. The precision at a level is the metric `precision@recall=`, or with `interpolated`
    `interpolated_precision@recall=`, and the band is its bootstrap interval. The band is pointwise:
    the whole curve of the population lies in it less often than a single point does (Macskassy,
    Provost and Rosset 2005).

    With `x="fpr"` it is the ROC curve: the recall at levels of the false positive rate.

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
        Columns whose values form the groups. The result has a curve for each group.
    mean_over : True, str or list of str, optional
        Columns over whose groups curves are averaged, such as queries, users or folds. True: all
        columns of `by`. They need not be in `by`.
    x : "recall" or "fpr"
        The levels: of recall, for precision, or of the false positive rate, for recall.
    points : int
        Number of levels from 0 to 1, at most 10,001.
    interpolated : bool
        Whether to use the interpolated precision at each level.
    band : "interval", "std", "quartiles" or None
        What `low` and `high` are: the confidence interval; or with `mean_over` the mean less and
        plus the standard deviation of the groups, or the quartiles of the groups; or null.
    confidence : float
        Confidence level of the interval, at least 0.5 and below 1.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    cluster : str or polars expression, optional
        Without `mean_over`: the cluster of each row, such as an image or a user. The bootstrap
        draws clusters.
    repeats : int, optional
        Number of replicates of the bootstrap, at least 100. Default 1,000.
    seed : int, optional
        Seed of the bootstrap. Default 0.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `recall` (from 0 if `interpolated`, else from the first level
        above), `precision`, `low` and `high` (Float64), and `groups` (how many are averaged, Int64;
        without `mean_over` 1). With `x="fpr"`, `fpr` (from 0) and `recall` are the first two. The
        band of fewer than two groups is null.

    Raises
    ------
    ValueError, TypeError
        There are more levels than 10,001; `cluster=`, `repeats=` or `seed=` with `mean_over=`;
        `band="std"` or `band="quartiles"` without; a column is missing, given twice, of the wrong
        type, or has missing values.

    Warns
    -----
    DataWarning
        Fewer than 10 groups have the same value at a level, so that the interval has no width.

    See Also
    --------
    curve, plot, intervals

    References
    ----------
    Macskassy, Provost and Rosset (2005). ROC confidence bands: an empirical evaluation. ICML,
    537-544. https://doi.org/10.1145/1102351.1102419

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame(
    ...     {
    ...         "query": [1, 1, 1, 2, 2, 2],
    ...         "relevant": [1, 0, 1, 0, 1, 0],
    ...         "score": [9, 8, 7, 6, 5, 4],
    ...     }
    ... )
    >>> fp.average_curve(run, "relevant", "score", mean_over="query", points=3)
    shape: (2, 5)
    ┌────────┬───────────┬───────────┬──────────┬────────┐
    │ recall ┆ precision ┆ low       ┆ high     ┆ groups │
    │ ---    ┆ ---       ┆ ---       ┆ ---      ┆ ---    │
    │ f64    ┆ f64       ┆ f64       ┆ f64      ┆ i64    │
    ╞════════╪═══════════╪═══════════╪══════════╪════════╡
    │ 0.5    ┆ 0.75      ┆ 1.3167e-7 ┆ 1.0      ┆ 2      │
    │ 1.0    ┆ 0.583333  ┆ 0.017637  ┆ 0.990923 ┆ 2      │
    └────────┴───────────┴───────────┴──────────┴────────┘
    >>> test_set = pl.DataFrame({"y": [1, 1, 0] * 10, "s": range(30)})
    >>> one = fp.average_curve(test_set, "y", "s", points=3, repeats=200)
    >>> one.select("recall", "precision").rows()
    [(0.5, 0.6666666666666666), (1.0, 0.6666666666666666)]
    """
    scipy_special()
    check_choice("x", x, ("recall", "fpr"))
    check_choice("band", band, ("interval", "std", "quartiles", None))
    last = check_whole("points", points, 2, MOST_LEVELS) - 1
    interpolated = check_flag("interpolated", interpolated)
    confidence = validate_confidence(confidence)
    if interpolated and x == "fpr":
        raise ValueError("interpolated= is about precision by recall: leave it out, or x=")
    y = "recall" if x == "fpr" else "precision"
    metric = f"interpolated_{y}" if interpolated else y
    # At recall 0 no row is selected, so the precision is undefined.
    first = 1 if metric == "precision" else 0
    names = [f"{metric}@{x}={i / last:.15g}" for i in range(first, last + 1)]
    arguments: Any = options | {"positive": positive}
    what = Evaluation(names, truth, score, by, mean_over, options.get("cluster"), None, arguments)
    without = "" if mean_over is None else "mean_over="
    draws = draws_of(options, repeats=without, seed=without)
    if mean_over is None:
        if band != "interval":
            raise ValueError(
                f"band={band!r} is about the mean of groups: name them, mean_over=; curve has the "
                "curve of one test set without a band"
            )
        sample, table = _curve_of_rows(frame, what, draws, confidence)
    else:
        if what.cluster is not None:
            raise ValueError(
                "cluster= is about rows that are drawn, and with mean_over= groups are: leave it "
                "out"
            )
        sample = _values_at_levels(frame, what, metric, last)
        table = _means_of_groups(sample, band, confidence)
    level = (pl.col("m") + first) / last
    table = table.with_columns(level.alias(x), pl.col("value").alias(y))
    result: Frame = give_sorted(
        table, sample.keys, sample.output, [x], (x, y, "low", "high", "groups")
    )
    return result


def _curve_of_rows(
    frame: Any, what: Evaluation, draws: Draws, confidence: float
) -> tuple[Sample, pl.DataFrame]:
    """Return the rows, and the values at all levels with the band of a bootstrap."""
    ((sample, _),) = samples(frame, what, "bootstrap")
    table = intervals_of_draws(sample, draws, confidence)
    return sample, table.with_columns(groups=pl.lit(1, dtype=pl.Int64))


def _means_of_groups(sample: UnitValues, band: Band | None, confidence: float) -> pl.DataFrame:
    """Return the means over groups at all levels, with the band of the mean or of the groups."""
    value = pl.col("value")
    low = high = pl.lit(None, pl.Float64)
    if band == "std":
        low = value.mean() - value.std()
        high = value.mean() + value.std()
    if band == "quartiles":
        low = value.quantile(0.25, "linear")
        high = value.quantile(0.75, "linear")
    levels = len(sample.what.metrics)
    table = means_over(sample.table, sample.key_columns, levels, low=low, high=high)
    table = table.filter(pl.col("groups") > 0).with_columns(pl.col("low", "high").clip(0.0, 1.0))
    if band != "interval":
        return table
    # All rows have a false positive rate of at most 1, so that recall is 1 there.
    is_end = pl.lit(sample.what.metrics[-1] == "recall@fpr=1") & (pl.col("m") == levels - 1)
    return with_bounds_of_means(table, ["share"] * levels, confidence, certain=is_end)


def _values_at_levels(frame: Any, what: Evaluation, metric: str, last: int) -> UnitValues:
    """Return the values of groups: the mean height of a curve of precision up to each level."""
    if metric == "recall":
        recalls = unit_values_of(frame, what)
        assert recalls is not None
        return recalls
    positive = what.options.get("positive")
    options = options_in(what.options)
    request = request_of(what.truth, what.score, what.columns, positive, options)
    request = request.used_as(Use(ranks=True), ["positives"])
    rows, output = rows_of(frame, request, all_groups=True)
    columns = ("precision", "recall_step", "interpolated_precision")
    blocks = curve_table(rows, columns, unretrieved=True)
    heights = heights_of(blocks, last, interpolated=metric != "precision")
    table = collected(output.restored(heights), rows.height)
    return UnitValues(what, output, what.key_columns(output), table)


def heights_of(table: pl.LazyFrame, last: int, *, interpolated: bool) -> pl.LazyFrame:
    """Return the height of curves at all levels, `group`, `m` and `value`, with positives.

    `table`: curves, by group and from the best score on, with `tp`, `positives`, `retrieved`,
    `recall_step` and both precisions. A group has a height of 0 at the levels that it does not
    reach. `m` is the place of the level, which without `interpolated` is above 0.
    """
    level = pl.col("level")
    place = (level if interpolated else level - 1).cast(pl.Int32)
    positives = pl.col("positives")
    # Recall times `last` is an integer, which the comparison with levels needs: 3/10 is not the
    # float 0.3.
    table = table.with_columns(pl.col("tp", "positives").cast(pl.Float64))
    # In units in which a level is as wide as the number of positives, so that widths are integers.
    area = pl.col("precision") * (pl.col("hits").cast(pl.Float64) * last)
    steps = table.filter("retrieved", pl.col("recall_step") > 0).select(
        "group",
        "precision",
        "interpolated_precision",
        end=pl.col("tp") * last,
        area=area.cum_sum().over("group"),
    )
    groups = table.filter(positives > 0).group_by("group")
    whole_area = area.filter("retrieved").sum()
    totals = groups.agg(positives.first(), whole_area=whole_area).sort("group")
    levels = pl.LazyFrame({"level": range(last + 1)}, schema={"level": pl.Int64})
    grid = totals.join(levels, how="cross", maintain_order="left_right")
    # The step that reaches the level. Sums of float weights may miss a level by their rounding
    # errors.
    target = level * positives * (1 - 1e-12)
    grid = grid.with_columns(target=target).join_asof(
        steps,
        left_on="target",
        right_on="end",
        by="group",
        strategy="forward",
        check_sortedness=False,
    )
    if interpolated:
        return grid.select("group", m=place, value=pl.col("interpolated_precision").fill_null(0))
    behind = pl.col("end") - level * positives
    reached = pl.col("area") - pl.col("precision") * behind
    reached = reached.fill_null(pl.col("whole_area"))
    height = (reached - reached.shift(1)) / positives
    heights = grid.select("group", m=place, value=height.clip(0.0, 1.0))
    return heights.filter(pl.col("m") >= 0)
