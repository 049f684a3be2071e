"""Figures at one point of the ranking: a rank, a threshold, a recall, or the best F."""

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
def precision_at_k(
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
    """Precision of the first k rows (P@k): their hits, divided by k.

    Divides by k even where a group has fewer rows: the missing ones count as misses. A block of equal scores that the
    cut falls into takes its expected share of hits.

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
        The keys, then `precision@k` for each k (Float64).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.precision_at_k(run, "relevant", "score", [2, 4]).row(0)
    (1.0, 0.75)
    """
    names = [f"precision@{Rank.of(rank)}" for rank in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)


@public()
def recall_at_k(
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
    """Recall of the first k rows (recall@k): their hits, divided by the positives of the group.

    A block of equal scores that the cut falls into takes its expected share of hits.

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
        The keys, then `recall@k` for each k (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.recall_at_k(run, "relevant", "score", 2).item()  # 2 of 3 positives
    0.6666666666666666
    """
    names = [f"recall@{Rank.of(rank)}" for rank in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)


@public()
def r_precision(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """R-precision: the precision of the first P rows, P the positives of the group, where precision equals recall.

    A block of equal scores that the cut falls into takes its expected share of hits.

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
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `r_precision` (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values; see the message.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.r_precision(run, "relevant", "score").item()  # 2 hits in the first 3
    0.6666666666666666
    """
    return metrics_of(frame, "r_precision", truth, score, policies, by, positive, undefined)
