"""Means over rows of the score and its distance from the label: Brier score, log loss."""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

from frame_pr.metrics.cutoffs import RANK, Rank
from frame_pr.metrics.metric import Aggregate, Blocks, Family, Metric, by_ties, ratio

_EPSILONS: Mapping[type[pl.DataType], float] = {pl.Float16: 2.0**-10, pl.Float32: 2.0**-23}
"""The distance from 1 to the next number of a dtype, if it is not that of Float64."""


def epsilon_of(dtype: pl.DataType) -> pl.Expr:
    """Return the precision of the dtype of scores."""
    return pl.lit(_EPSILONS.get(dtype.base_type(), 2.0**-52))


def _mean_score(name: re.Match[str], b: Blocks) -> Metric:
    cutoff = None
    rows = b.size
    scored_rows = b.retrieved_rows
    if "k" in name.groupdict():
        cutoff = Rank.parse(name["k"])
        k = cutoff.of_group(b)
        rows = b.sum_among(b.size, k)
        scored_rows = pl.min_horizontal(k, scored_rows)
    of_blocks = _sum_over_rows(rows, b.score)
    return _mean(name, of_blocks, scored_rows, cutoff=cutoff, best="none", from_0_to_1=False)


def _brier_score(name: re.Match[str], b: Blocks) -> Metric:
    errors = _sum_over_rows(b.hits, (1 - b.score) ** 2)
    errors += _sum_over_rows(b.size - b.hits, b.score**2)
    return _mean(name, errors, b.retrieved_rows, of_probabilities=True)


def _log_loss(name: re.Match[str], b: Blocks) -> Metric:
    probability = pl.max_horizontal(pl.min_horizontal(b.score, 1 - b.epsilon), b.epsilon)
    losses = _sum_over_rows(b.hits, -probability.log())
    losses += _sum_over_rows(b.size - b.hits, -(-probability).log1p())
    losses = pl.when(b.score.is_not_null()).then(losses)
    return _mean(name, losses, b.retrieved_rows, of_probabilities=True, from_0_to_1=False)


def _sum_over_rows(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    # An infinite value of no row adds nothing.
    return pl.when(rows > 0).then(rows.cast(pl.Float64) * value).otherwise(0.0)


def _mean(
    name: re.Match[str],
    of_blocks: pl.Expr,
    rows: pl.Expr,
    *,
    cutoff: Rank | None = None,
    best: Literal["smallest", "none"] = "smallest",
    from_0_to_1: bool = True,
    of_probabilities: bool = False,
) -> Metric:
    """Return the metric that is the mean over so many rows of a value summed over blocks."""
    total = f"sum of {name[0]}"
    return Metric(
        # Infinite scores of both signs have no mean.
        ratio(pl.col(total), rows).fill_nan(None),
        by_ties({total: Aggregate(of_blocks)}, expected=True, bounded=True),
        cutoff=cutoff,
        needs=("scores",),
        from_0_to_1=from_0_to_1,
        best=best,
        beyond_steps="all",
        of_probabilities=of_probabilities,
    )


FAMILIES = (
    Family(
        "mean_score",
        "the mean score of the rows. If scores are probabilities, it is the "
        "expected prevalence. Rows without a score are left out",
        _mean_score,
    ),
    Family(
        "mean_score@K",
        "the mean score of the first K rows",
        _mean_score,
        rf"mean_score@(?P<k>{RANK})",
        examples=("mean_score",),
    ),
    Family(
        "brier_score",
        "the mean over the rows of (score - label)^2, where the score is the probability of a "
        "positive. Rows without a score are left out",
        _brier_score,
    ),
    Family(
        "log_loss",
        "the mean over the rows of -log(score) for positives and -log(1 - score) for negatives, "
        "where the score is the probability of a positive. As in scikit-learn, scores of 0 and 1 "
        "become eps and 1 - eps, the precision of their dtype. Rows without a score are left out",
        _log_loss,
    ),
)
