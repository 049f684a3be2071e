"""Single metrics at a cutoff: precision and recall at a rank, precision and k at a recall, F-beta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from frame_pr.frames.arguments import public, refuse_both
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import metrics_of
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.metrics.cutoffs import Rank, Recall, Threshold
from frame_pr.metrics.numbers import each, f_of


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


@public()
def precision_at_recall(
    frame: Frame,
    truth: Column,
    score: Columns,
    recall: float | Sequence[float],
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Precision at the highest threshold whose recall is at least this.

    `tp / k` at the smallest k with `tp / P >= recall`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    recall : float or list of float
        The rows at the highest threshold whose recall is at least this, from 0 to 1, are predicted positive. Compared
        exactly, as the decimal that it is written as.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `precision@recall=r` for each recall (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        recall lies outside [0, 1]; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.precision_at_recall(run, "relevant", "score", 1.0)["precision@recall=1"].item()  # 3 of the first 4
    0.75
    """
    names = [f"precision@{Recall.of(level)}" for level in each("recall", recall)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)


@public()
def k_at_recall(
    frame: Frame,
    truth: Column,
    score: Columns,
    recall: float | Sequence[float],
    *,
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """How many rows must be taken to reach a recall: the smallest k with `tp / P >= recall`.

    Rows of equal score are taken together. Recall does not fall with k; this is its inverse.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    recall : float or list of float
        The rows at the highest threshold whose recall is at least this, from 0 to 1, are predicted positive. Compared
        exactly, as the decimal that it is written as.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `k@recall=r` for each recall (Int64, with weights see `Policies`; null for a group without
        positives).

    Raises
    ------
    ValueError, TypeError
        recall lies outside [0, 1]; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.k_at_recall(run, "relevant", "score", [0.5, 1]).row(0)
    (2, 4)
    """
    names = [f"k@{Recall.of(level)}" for level in each("recall", recall)]
    return metrics_of(frame, names, truth, score, policies, by, positive)


@public()
def f_beta(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    beta: float = 1.0,
    threshold: float | Sequence[float] | None = None,
    k: int | Sequence[int] | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """F-beta at a threshold or a rank; with neither, the best over all thresholds, and the threshold that gives it.

    `(1 + beta^2) tp / (beta^2 P + k)`: recall counts beta times as much as precision (van Rijsbergen 1979).

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    beta : float
        Weight of recall against precision: 1 is their harmonic mean.
    threshold : float or list of float, optional
        Rows that score at least this, with `ascending` at most, are predicted positive.
    k : int or list of int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: without a cutoff,
        `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`; with `k`, `weight=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `f1@threshold=t` or `f1@k` for each; or `max_f1` (Float64) and `threshold@max_f1` (of the dtype
        of the score), null for a group without positives. The 1 is the beta.

    Raises
    ------
    ValueError, TypeError
        beta is not above 0, both threshold and k are given, or one is no number; a column is missing or wrong.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.f_beta(run, "relevant", "score").row(0)  # precision 3/4, recall 1
    (0.8571428571428571, 0.6)
    """
    refuse_both("f_beta", {"threshold": threshold, "k": k}, none=True)
    f = f_of(beta)
    names = [f"max_{f}", f"threshold@max_{f}"]
    if threshold is not None:
        names = [f"{f}@{Threshold.of(value)}" for value in each("threshold", threshold)]
    elif k is not None:
        names = [f"{f}@{Rank.of(value)}" for value in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)
