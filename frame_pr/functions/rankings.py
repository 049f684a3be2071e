"""Figures of a ranking beside precision and recall: the area under the ROC curve, the first hit, discounted gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from frame_pr.frames.arguments import public
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import metrics_of
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.numbers import each


@public()
def roc_auc(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute ROC AUC, the area under the ROC curve: how often a positive scores more than a negative.

    The share of the pairs of a positive and a negative in which the positive scores more, a tie counting as half (Mann
    and Whitney's U over P (N - P)). Up to a false positive rate it is `roc_auc@fpr=X` of `evaluate`.

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
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then `roc_auc` (Float64; null without positives, or without negatives).

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.roc_auc(run, "relevant", "score").item()  # 2 + 1 of the 2 * 3 pairs
    0.5
    """
    return metrics_of(frame, "roc_auc", truth, score, policies, by, positive, undefined)


@public()
def reciprocal_rank(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: int | Sequence[int] | None = None,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute the reciprocal rank (RR, MRR): 1 / the rank of the first hit, 0 where there is none.

    Its mean over queries is the MRR: `evaluate(..., mean_over=...)`. Where the first hit is among rows of equal score,
    the mean over their orders.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    k : int or list of int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `reciprocal_rank`, or `reciprocal_rank@k` for each k (Float64; null without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.reciprocal_rank(run, "relevant", "score").item()  # the second row is the first hit
    0.5
    """
    return metrics_of(frame, _at("reciprocal_rank", k), truth, score, policies, by, positive, undefined)


@public()
def success_at_k(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: int | Sequence[int],
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute success@k, the hit rate: whether there is a hit among the first k rows.

    1 or 0; where the cut falls into rows of equal score, the share of their orders that bring a hit.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    k : int or list of int
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `success@k` for each k (Float64; null without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.success_at_k(run, "relevant", "score", [1, 2]).row(0)
    (0.0, 1.0)
    """
    names = [f"success@{Rank.of(rank)}" for rank in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)


@public()
def ndcg(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: int | Sequence[int] | None = None,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute nDCG, normalized discounted cumulative gain: DCG over the DCG of the best order.

    Each row adds its gain / log2(rank + 1) (Jarvelin and Kekalainen 2002). The gain of a positive is 1, or that of the
    column `gain=`, be the row positive or not: a grade, or `2 ** grade - 1`. Rows of equal score share their places.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    k : int or list of int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `ndcg`, or `ndcg@k` for each k (Float64; null where no row has a gain).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.ndcg(run, "relevant", "score").item().__round__(4)  # (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))
    0.6509
    >>> graded = run.with_columns(grade=pl.Series([0, 3, 1, 2, 0]))
    >>> fp.ndcg(graded, "relevant", "score", 3, gain="grade").item().__round__(4)
    0.5025
    """
    return metrics_of(frame, _at("ndcg", k), truth, score, policies, by, positive, undefined)


def _at(head: str, k: int | Sequence[int] | None) -> list[str]:
    return [head] if k is None else [f"{head}@{Rank.of(rank)}" for rank in each("k", k)]
