"""Figures at the rows that reach a recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from frame_pr.frames.arguments import public
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import metrics_of
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.metrics.cutoffs import Recall
from frame_pr.metrics.numbers import each


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
