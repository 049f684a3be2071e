"""Confidence intervals of metrics, if groups, rows or clusters of rows were sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack, get_args

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_float, public
from frame_pr.frames.dispatch import read_stream
from frame_pr.frames.kinds import Frame, lazily
from frame_pr.frames.messages import shown
from frame_pr.functions.slices import on_slices
from frame_pr.inputs.options import Column, Columns, EvaluationOptions, options_in
from frame_pr.inputs.request import request_of
from frame_pr.statistics.bootstrap import Draws, draws_of
from frame_pr.statistics.bootstrap_intervals import intervals_of_draws
from frame_pr.statistics.bounds import (
    UNIT_HINT,
    scipy_special,
    warn_without_bounds,
    with_bounds,
    with_bounds_of_means,
)
from frame_pr.statistics.sampled_rows import (
    Method,
    Sample,
    SampledRows,
    samples,
    warn_of_bias,
    warn_of_skew,
)
from frame_pr.statistics.units import (
    Evaluation,
    UnitValues,
    give_sorted,
    validate_shares,
)

COLUMNS = ("metric", "value", "low", "high", "n", "level")
"""The columns of intervals, after the keys."""
DETAILS = ("standard_error", "undefined", "undefined_replicates")
"""The columns of `details=True`. Without them, pandas prints all columns in 80 characters."""
_NUMBERS = ("value", "low", "high", "error", "units", "undefined", "undefined_replicates")
"""The columns that tables of closed forms and of the bootstrap share."""


@public(options=EvaluationOptions)
@lazily
def intervals(
    frame: Frame,
    metrics: str | Sequence[str] | Mapping[str, str],
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    slices: Sequence[Column | Sequence[Column]] | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    cluster: Column | None = None,
    sampled: Literal["groups", "rows"] | None = None,
    method: Method | None = None,
    confidence: float = 0.95,
    repeats: int | None = None,
    seed: int | None = None,
    stratified: bool = False,
    details: bool = False,
    progress: bool = True,
    **options: Unpack[EvaluationOptions],
) -> Frame:
    """Compute confidence intervals for metrics, one row for each metric.

    With `mean_over` the groups are the sample. For the mean m of n shares between 0 and 1, whose
    standard error is e, the interval is `expit(logit m -+ t(n - 1) e / (m (1 - m)))`; for the mean
    of other metrics it is `m -+ t(n - 1) e`. Without `mean_over` the rows of each group are the
    sample: average precision and ROC AUC by their influence functions (for ROC AUC that is DeLong's
    variance), shares at a threshold by Wilson's score interval, F1 as a function of a share, and
    the mean score, Brier score and log loss as means of a number per row. These closed forms have
    no random numbers.

    Other metrics, and most options such as `weight=`, have the interval of a bootstrap: it
    resamples the rows, clusters or groups with replacement. The bounds are bias-corrected quantiles
    of the replicates (Efron 1987), with Student's t in place of the normal quantile (Hesterberg
    2015). They are the same for each kind of frame and order of rows.

    The page of the docs on statistical methods has the formulas and the measured coverage.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; or, without `truth` and `score`, a frame of metrics, one row for each group,
        from `evaluate` or another tool.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics, such as ``"precision@10"``; of a frame of metrics, its columns.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    slices : list of columns, or of lists of columns; optional
        Columns whose values are slices of the rows: the result has all rows first, then each value
        of each slice, with the key columns `slice` and `slice_value`.
    mean_over : True, str or list of str, optional
        Columns over whose groups the metrics are averaged, and by default the sample: queries,
        users or folds. They need not be in `by`. True: all columns of `by`.
    cluster : str or polars expression, optional
        What was drawn together, such as an image or a user. If each group of `mean_over` lies in
        one cluster, as the queries of a user do, clusters of groups are the sample; otherwise
        clusters of rows are.
    confidence : float
        Confidence level of the interval, at least 0.5 and below 1.
    method : "closed" or "bootstrap", optional
        How the interval is computed. Default: by the closed form of a metric where there is one,
        otherwise by the bootstrap.
    sampled : "groups" or "rows", optional
        The sampling unit: the groups, which is the default with `mean_over`, or the rows of groups
        that are fixed, such as classes or folds.
    repeats : int, optional
        Number of replicates of the bootstrap, at least 100. Default 1,000.
    seed : int, optional
        Seed of the bootstrap. Default 0.
    stratified : bool
        Whether each replicate of the bootstrap has as many positives and as many negatives as the
        data. Use it if their numbers are fixed by design.
    details : bool
        Whether the result also has the standard error, and the numbers of groups and of replicates
        without a value.
    progress : bool
        Whether a bootstrap of more than five seconds shows its progress on a terminal.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted by closed forms where rows are sampled: `weight=`, `tie_break=`,
        `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"`,
        `ties="order"`, `total_rows=` and `prevalence=`; by the bootstrap of rows: `tie_break=`,
        `tie_break_descending=`, `ties="order"`, `total_positives=` and `total_rows=`.

    Returns
    -------
    Frame of the same kind
        The keys that are left, then `metric` (the name), `value, low, high` (Float64), `n` (how
        many groups that have a value, rows or clusters there are: all rows, also for a share of
        some of them, such as recall) and `level` (the confidence level, which plots show; with
        `slices` only in the details). With `details`, `standard_error` (Float64), `undefined` (how
        many groups have no value) and `undefined_replicates` (how many replicates of the bootstrap
        have none) follow.

        The bounds are null with fewer than two units, where a threshold is infinite, and for
        average precision and ROC AUC of rows with fewer than two positives or two negatives. The
        bounds of a mean over fixed groups are null if one of the groups has no standard error. The
        bounds of a bootstrap are null with fewer than two positives or two negatives, or two
        clusters, where half of the replicates have no value, and where the metric is the same in
        all of them, up to rounding errors. A share
        of exactly 0 or 1 has the bound of its n units, `(alpha / 2)^(1 / n)`, where clusters count
        that have rows of the share, or of the rarer label.

    Raises
    ------
    ValueError, TypeError
        `method="closed"`, and a metric of sampled rows has none; `confidence` is below 0.5, or
        not below 1; a frame of metrics has a share below 0 or above 1; `cluster` is the label, the
        score or a key; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    compare, evaluate, plot_intervals, average_curve

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves. Biometrics 44(3), 837-845.
    https://doi.org/10.2307/2531595

    Wilson (1927). Probable inference, the law of succession, and statistical inference. JASA
    22(158), 209-212. https://doi.org/10.1080/01621459.1927.10502953

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> labels = {
    ...     "model": ["a"] * 6 + ["b"] * 6,
    ...     "truth": [1, 1, 0, 1, 0, 0] + [1, 0, 1, 0, 0, 1],
    ... }
    >>> run = pl.DataFrame(labels | {"score": range(12, 0, -1)})
    >>> fp.intervals(run, "average_precision", "truth", "score", by="model")
    shape: (2, 7)
    ┌───────┬───────────────────┬──────────┬──────────┬──────────┬─────┬───────┐
    │ model ┆ metric            ┆ value    ┆ low      ┆ high     ┆ n   ┆ level │
    │ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---      ┆ --- ┆ ---   │
    │ str   ┆ str               ┆ f64      ┆ f64      ┆ f64      ┆ i64 ┆ f64   │
    ╞═══════╪═══════════════════╪══════════╪══════════╪══════════╪═════╪═══════╡
    │ a     ┆ average_precision ┆ 0.916667 ┆ 0.011607 ┆ 0.999903 ┆ 6   ┆ 0.95  │
    │ b     ┆ average_precision ┆ 0.722222 ┆ 0.012593 ┆ 0.998117 ┆ 6   ┆ 0.95  │
    └───────┴───────────────────┴──────────┴──────────┴──────────┴─────┴───────┘
    >>> bounds = fp.intervals(run, "max_f1", "truth", "score", method="bootstrap")
    >>> bounds.select(pl.col("value", "low", "high").round(4)).row(0)
    (0.6667, 0.2281, 0.8889)
    """
    scipy_special()
    if slices is not None:
        if truth is None or score is None:
            raise TypeError("slices= is about rows: give truth and score, or leave it out")
        call: Any = {"mean_over": mean_over, "cluster": cluster, "sampled": sampled}
        call |= {"method": method, "confidence": confidence, "repeats": repeats, "seed": seed}
        call |= {"stratified": stratified, "details": details, "progress": progress, **options}
        request = request_of(truth, score, by, options.get("positive"), options_in(options))
        of_slice = partial(intervals, metrics=metrics, truth=truth, score=score, **call)
        # With two more keys, 80 characters have no place for what all rows have in common.
        hidden = () if check_flag("details", details) else ("level",)
        return on_slices(
            frame,
            request,
            slices,
            lambda rows, part: of_slice(rows, by=list(part.keys) or None),
            value="slice_value",
            hidden=hidden,
        )
    confidence = validate_confidence(confidence)
    columns = (*COLUMNS, *DETAILS) if check_flag("details", details) else COLUMNS
    way: Any = check_choice("method", method, (*get_args(Method), None))
    closed = "method='closed'" if method == "closed" else ""
    numbers = {"repeats": repeats, "seed": seed}
    flags = {"stratified": stratified, "progress": progress}
    draws = draws_of(numbers | flags, repeats=closed, seed=closed)
    if draws.stratified:
        if cluster is not None:
            raise ValueError(
                "stratified: a cluster may have rows of both labels; leave out stratified= or "
                "cluster="
            )
        way = "bootstrap"
    what = Evaluation(metrics, truth, score, by, mean_over, cluster, sampled, options)
    source, table = _bounded(frame, what, way, draws, confidence)
    table = table.with_columns(
        metric=what.label, standard_error="error", level=confidence, n="units"
    )
    result: Frame = give_sorted(table, source.keys, source.output, ["m"], columns)
    return result


def _bounded(
    frame: Any, what: Evaluation, method: Method | None, draws: Draws, confidence: float
) -> tuple[Sample, pl.DataFrame]:
    """Return the sample, and a row per key and metric with bounds."""
    frame = read_stream(frame)  # A stream can be read once, and these functions read the frame.
    parts = []
    for sample, is_drawn in samples(frame, what, method):
        if isinstance(sample, UnitValues):
            validate_shares(sample)
        if is_drawn:
            table = intervals_of_draws(sample, draws, confidence)
        else:
            table = _closed_bounds(sample, confidence)
        parts.append(table.with_columns(m=sample.place).select(*sample.key_columns, *_NUMBERS))
    return sample, pl.concat(parts, how="vertical_relaxed")


def _closed_bounds(source: Sample, confidence: float) -> pl.DataFrame:
    """Return a row per key and metric with the bounds of closed forms."""
    is_mean = isinstance(source, UnitValues) and not source.clustered
    add_bounds = with_bounds_of_means if is_mean else with_bounds
    table = add_bounds(source.estimates(), source.bounds, confidence)
    if isinstance(source, SampledRows):
        warn_of_bias(source, table)
        warn_of_skew(source, table)
    warn_without_bounds(
        table,
        other="a group of the mean has no standard error",
        hint="" if source.what.averages else UNIT_HINT,
    )
    return table.with_columns(undefined_replicates=pl.lit(None, dtype=pl.Int64))


def validate_confidence(confidence: Any) -> float:
    """Validate a confidence level, as a share."""
    value = check_float("confidence", confidence)
    # Half of the rest to 1 must have a quantile.
    if not 0.5 <= value < (1 + value) / 2 < 1:
        meant = 0.95
        if 50 <= value < 100:
            meant = value / 100
        elif 0 < value < 0.5:
            meant = 1 - value
        raise ValueError(
            f"confidence must be at least 0.5 and below 1; got {shown(confidence)}: write {meant:g}"
        )
    return value
