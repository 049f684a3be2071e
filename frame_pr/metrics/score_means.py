"""Means over rows of the score and its distance from the label: Brier score, log loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import (
    Aggregate,
    Blocks,
    Family,
    Metric,
    NameMatch,
    for_all_ties,
    ratio,
)

_EPSILONS: Mapping[type[pl.DataType], float] = {pl.Float16: 2.0**-10, pl.Float32: 2.0**-23}
"""The distance from 1 to the next number of a dtype, if it is not that of Float64."""


def epsilon_of(dtype: pl.DataType) -> pl.Expr:
    """Return the precision of the dtype of scores."""
    return pl.lit(_EPSILONS.get(dtype.base_type(), 2.0**-52))


class RowMean(NamedTuple):
    """A mean over the rows that have a score."""

    value: Callable[[pl.Expr, float, pl.Expr], pl.Expr]
    """The value of a row, of its score, its label (0 or 1) and the precision of the scores."""
    best: Literal["smallest", "none"]
    from_0_to_1: bool
    of_probabilities: bool


def _score(score: pl.Expr, _label: float, _epsilon: pl.Expr) -> pl.Expr:
    return score


def _squared_error(score: pl.Expr, label: float, _epsilon: pl.Expr) -> pl.Expr:
    return (label - score) ** 2


def _log_loss(score: pl.Expr, label: float, epsilon: pl.Expr) -> pl.Expr:
    probability = pl.max_horizontal(pl.min_horizontal(score, 1 - epsilon), epsilon)
    return -probability.log() if label else -(-probability).log1p()


ROW_MEANS: Mapping[str, RowMean] = {
    "mean_score": RowMean(_score, "none", from_0_to_1=False, of_probabilities=False),
    "brier_score": RowMean(_squared_error, "smallest", from_0_to_1=True, of_probabilities=True),
    "log_loss": RowMean(_log_loss, "smallest", from_0_to_1=False, of_probabilities=True),
}
"""The means over rows, by name."""


def _row_mean(name: NameMatch, b: Blocks) -> Metric:
    mean = ROW_MEANS[name[0]]
    parts = []
    for label, rows in ((1.0, b.hits), (0.0, b.size - b.hits)):
        value = mean.value(b.score, label, pl.col("epsilon"))
        # An infinite score of no row adds nothing.
        parts.append(pl.when(rows > 0).then(rows.cast(pl.Float64) * value).otherwise(0.0))
    of_block = pl.when(b.score.is_not_null()).then(parts[0] + parts[1])
    total = f"sum of {name[0]}"
    # Infinite scores of both signs have no mean.
    value = ratio(pl.col(total), b.retrieved_rows).fill_nan(None)
    return Metric(
        value,
        for_all_ties({total: Aggregate(of_block)}),
        needs=("scores",),
        from_0_to_1=mean.from_0_to_1,
        best=mean.best,
        beyond_steps="all",
        of_probabilities=mean.of_probabilities,
    )


def _mean_score_at_rank(name: NameMatch, b: Blocks) -> Metric:
    cutoff = Rank.parse(name["k"])
    k = cutoff.of_group(b)
    total = f"sum of mean_score@{cutoff}"
    rows = b.sum_among(b.size, k)
    # An infinite score of no row adds nothing.
    aggregates = {total: Aggregate(pl.when(rows > 0).then(b.score * rows))}
    value = ratio(pl.col(total), pl.min_horizontal(k, b.retrieved_rows)).fill_nan(None)
    return Metric(
        value,
        for_all_ties(aggregates),
        cutoff=cutoff,
        needs=("scores",),
        from_0_to_1=False,
        best="none",
        beyond_steps="all",
    )


FAMILIES = (
    Family(
        "mean_score",
        "the mean score of the rows. If scores are probabilities, it is the "
        "expected prevalence. Rows without a score are left out",
        _row_mean,
    ),
    Family(
        "mean_score@K",
        "the mean score of the first K rows",
        _mean_score_at_rank,
        rf"mean_score@(?P<k>{RANK})",
        examples=("mean_score",),
    ),
    Family(
        "brier_score",
        "the mean over the rows of (score - label)^2, where the score is the probability of a "
        "positive. Rows without a score are left out",
        _row_mean,
    ),
    Family(
        "log_loss",
        "the mean over the rows of -log(score) for positives and -log(1 - score) for negatives, "
        "where the score is the probability of a positive. As in scikit-learn, scores of 0 and 1 "
        "become eps and 1 - eps, the precision of their dtype. Rows without a score are left out",
        _row_mean,
    ),
)
