"""The whole confusion table, at a cut or of predicted classes."""

from __future__ import annotations

from typing import Unpack

from frame_pr import rates
from frame_pr.arguments import number, rank
from frame_pr.callers import Frame
from frame_pr.evaluation import values
from frame_pr.inputs import Column, Columns, Policies, rows_of


def confusion(
    frame: Frame,
    truth: Column,
    score: Columns | None = None,
    *,
    threshold: float | None = None,
    k: int | None = None,
    prediction: Column | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """The confusion table at a threshold, at a rank or of predicted classes, and every figure that follows from it.

    At a threshold and of predicted classes this needs no ranking, only one aggregation.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several; optional
        Higher ranks earlier. Several give a key column `system` after `by`. Not with `prediction`.
    threshold : float, optional
        Rows that score at least this are predicted positive.
    k : int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    prediction : str or polars expression, optional
        Instead of a score: the predicted class, boolean, 0/1, or labels with `positive`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one.
    undefined : float, optional
        What to give instead of null where there is no value.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then `k, tp, fp, fn, tn` (Int64; at a rank Float64, as a block of equal scores may be shared) and
        `precision, recall, specificity, npv, fpr, fnr, fdr, accuracy, f1, mcc, informedness, markedness, kappa,
        prevalence` (Float64; null where a denominator is 0).

    Raises
    ------
    ValueError, TypeError
        Not exactly one of threshold, k and prediction is given; a column is missing, given twice or of the wrong type.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.confusion(run, "relevant", "score", threshold=0.7).select("k", "tp", "fp", "fn", "tn", "precision").row(0)
    (3, 2, 1, 1, 1, 0.6666666666666666)
    """
    if prediction is not None and policies.get("ties", "threshold") != "threshold":
        raise ValueError("ties rank the rows of equal score: predicted classes have no ranking")
    ways = [threshold is not None, k is not None, prediction is not None]
    if sum(ways) != 1 or (score is None) != (prediction is not None):
        raise ValueError("give a score with either threshold or k, or a prediction and no score")
    at = 1 if threshold is None else threshold
    cut = f"threshold={number('threshold', at)}" if k is None else rank(k)
    rows = rows_of(
        frame,
        truth,
        score if prediction is None else prediction,  # type: ignore[arg-type]
        by=by,
        positive=positive,
        predicted=prediction is not None,
        **policies,
    )
    names = {f"{figure}@{cut}": figure for figure in rates.FIGURES}
    return rows.result(values(rows, list(names), undefined).rename(names), list(names.values()))
