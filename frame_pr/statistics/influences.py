"""Metrics that have a standard error over sampled rows, and the influence of a row on each."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from frame_pr.metrics.cutoffs import Threshold
from frame_pr.metrics.names import BLOCKS, metric
from frame_pr.metrics.rates import RATES, RowShare
from frame_pr.metrics.score_means import ROW_MEANS, RowMean
from frame_pr.statistics.bounds import BoundsName

BLOCK_COLUMNS = ("size", "hits", "k", "tp", "later_hits", "later_misses")
"""The columns of blocks that influences read."""


class RowMetric(NamedTuple):
    """A metric and, if it has a standard error over rows, the influence D of a row on it.

    D is the derivative of the metric by the weight of the row. It is a formula of the label and the
    block or the score of the row, and of the `value`, the `positives` and the `rows` of its group.
    The D of all rows sum to 0, and the sum of their squares is about the variance of the metric.
    """

    name: str
    bounds: BoundsName = "share"
    """Which bounds a value has that is of one group with independent rows."""
    influence: pl.Expr | None = None
    whole: pl.Expr | None = None
    """How often a share, or a mean, counts a row; None for a metric of the whole ranking.

    Such a metric has one df less than the rows of the rarer label.
    """
    threshold: Threshold | None = None
    of_scores: bool = False
    """Whether D is a formula of the `score` of the row, and of the `epsilon` of its dtype."""
    is_skewed: bool = False
    """Whether few rows, of the rarer label, may make most of a mean."""
    by_class: bool = False
    """Whether the D of the positives sum to 0, and those of the negatives too."""
    missing: pl.Expr | None = None
    """The size of D of a positive that only known totals count; None: it cannot have any."""
    bias: pl.Expr = pl.lit(0.0)
    """By how much the value of a sample is too large on average, about."""

    @property
    def of_prevalence(self) -> bool:
        """Return whether a test is not about prevalence, but its value depends on it."""
        return not (metric(self.name).by_class or self.name == "prevalence")

    @property
    def bounds_of_means(self) -> BoundsName:
        """Return which bounds a mean over groups has, and a value of clusters of rows."""
        return "number" if self.bounds == "number" else "share"

    @property
    def is_share(self) -> bool:
        """Return whether it is a share of rows."""
        return self.whole is not None and not self.of_scores

    @property
    def is_corrected(self) -> bool:
        """Return whether the sum of the squared D has the correction `n / (n - 1)`."""
        return not (self.is_share or self.by_class)


def _by_label(of_hit: pl.Expr, of_miss: pl.Expr) -> pl.Expr:
    """Return the value of a positive, or of a negative."""
    return pl.when("truth").then(of_hit).otherwise(of_miss)


def _average_precision() -> RowMetric:
    """Return average precision. A positive that is not retrieved has D = -A / P.

    More weight for a positive changes its own term, and the precision at its step and at all later
    ones; more weight for a negative changes only the latter. The value A of P positives is too
    large by about 0.7 (1 - A) / P, as simulated for normal scores.
    """
    precision = BLOCKS.tp / BLOCKS.k
    lacking = (precision - 1 + pl.col("later_misses")).fill_null(-1.0)
    # Relative to 1 - A, which for good rankings is as small as the other terms.
    value = pl.col("value")
    of_hit = lacking + (1 - value)
    of_miss = -pl.col("later_hits")
    return RowMetric(
        "average_precision",
        influence=_by_label(of_hit, of_miss) / BLOCKS.positives,
        missing=value / BLOCKS.positives,
        bias=0.7 * (1 - value) / BLOCKS.positives,
    )


def _roc_auc() -> RowMetric:
    """Return ROC AUC. The variance is that of DeLong, DeLong and Clarke-Pearson (1988).

    A positive depends on the share of negatives above it, a negative on that of positives below it.
    Rows that are not retrieved are the last block.
    """
    positives = BLOCKS.positives
    negatives = BLOCKS.rows - positives
    tp = BLOCKS.tp.fill_null(positives)
    fp = BLOCKS.k.fill_null(BLOCKS.rows) - tp
    ties = BLOCKS.size - BLOCKS.hits
    share_above = (fp - ties / 2) / negatives
    share_below = 1 - (tp - BLOCKS.hits / 2) / positives
    lacking = 1 - pl.col("value")
    of_hit = (lacking - share_above) / positives
    of_miss = (lacking - share_below) / negatives
    return RowMetric("roc_auc", "roc_auc", _by_label(of_hit, of_miss), by_class=True)


def _share(name: str, share: RowShare, threshold: Threshold | None) -> RowMetric:
    """Return a share of rows.

    The columns named after thresholds say whether a row reaches the threshold.
    """
    truth = pl.col("truth")
    is_reached = pl.lit(True) if threshold is None else pl.col(str(threshold))
    part = share.part(truth, is_reached).cast(pl.Float64)
    whole = share.whole(truth, is_reached).cast(pl.Float64)
    return RowMetric(
        name,
        bounds="f1" if share.harmonic else "proportion",
        influence=(part - pl.col("value") * whole) / _total(whole),
        whole=whole,
        threshold=threshold,
    )


def _mean(name: str, mean: RowMean) -> RowMetric:
    """Return a mean over the rows that have a score: D is the distance of a row from the mean."""
    score = pl.col("score").cast(pl.Float64)
    epsilon = pl.col("epsilon")
    number = _by_label(mean.value(score, 1.0, epsilon), mean.value(score, 0.0, epsilon))
    has_score = score.is_not_null()
    whole = has_score.cast(pl.Float64)
    distance = pl.when(has_score).then(number - pl.col("value"))
    return RowMetric(
        name,
        bounds="share" if mean.from_0_to_1 else "number",
        influence=distance.fill_null(0.0) / _total(whole),
        whole=whole,
        of_scores=True,
        is_skewed=mean.of_probabilities and not mean.from_0_to_1,
    )


def _total(whole: pl.Expr) -> pl.Expr:
    """Return how often the rows of the group are counted."""
    return (whole * pl.col("count")).sum().over("group")


_OF_RANKING = {metric.name: metric for metric in (_average_precision(), _roc_auc())}


def row_metric(name: str) -> RowMetric | None:
    """Return the metric of this name; None if it has no standard error over rows."""
    head = name.partition("@")[0]
    cutoff = metric(name).cutoff
    if name in ROW_MEANS:
        return _mean(name, ROW_MEANS[name])
    share = RATES[head].row_share if head in RATES else None
    if share is not None and (cutoff is None or isinstance(cutoff, Threshold)):
        return _share(name, share, cutoff)
    return _OF_RANKING.get(name)


def of_rows(name: str) -> RowMetric:
    """Return the metric of this name; raise if it has no standard error over rows."""
    if target := row_metric(name):
        return target
    raise ValueError(
        f"{name} has no closed form where rows are sampled: average_precision, roc_auc, "
        "prevalence, means such as brier_score, and shares of rows at a threshold, such as "
        "recall@threshold=0.5, have one; leave out method='closed' for a bootstrap"
    )
