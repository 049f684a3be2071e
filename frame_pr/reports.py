"""The figures that a review of a ranking or a classifier starts from, in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from frame_pr import rates
from frame_pr.arguments import each, number, rank
from frame_pr.callers import Frame
from frame_pr.evaluation import evaluate
from frame_pr.inputs import Column, Columns, Policies


def report(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    k: int | Sequence[int] = (1, 5, 10),
    threshold: float | None = None,
    mean_over: str | Sequence[str] | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """The figures one would paste into a review, one row per group, the important ones first.

    All from one ranking; `evaluate` gives any other choice of them.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier. Several give a key column `system` after `by`.
    k : int or list of int
        Cut-off ranks for precision, recall and average precision.
    threshold : float, optional
        Adds the figures of the confusion table at this threshold.
    mean_over : str or list of str, optional
        Columns of `by` to average over, as in `evaluate`.
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
        The keys, then `rows, positives, prevalence, ties` (rows that share their score with another),
        `average_precision, interpolated_average_precision, lift` (average precision over prevalence), `r_precision`,
        `precision@k, recall@k, average_precision@k` for each k, `max_f1, threshold@max_f1`, and with a threshold the
        figures there, such as `precision@threshold=0.5`.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.report(run, "relevant", "score", k=2).select("positives", "average_precision", "precision@2").row(0)
    (3, 0.9166666666666666, 1.0)
    """
    ranks = [rank(one) for one in each("k", k)]
    names = ["rows", "positives", "prevalence", "ties"]
    names += ["average_precision", "interpolated_average_precision", "lift", "r_precision"]
    names += [f"{figure}@{one}" for figure in ("precision", "recall", "average_precision") for one in ranks]
    names += ["max_f1", "threshold@max_f1"]
    if threshold is not None:
        at = number("threshold", threshold)
        names += [f"{figure}@threshold={at}" for figure in rates.FIGURES if figure != "prevalence"]
    return evaluate(
        frame, names, truth, score, by=by, mean_over=mean_over, positive=positive, undefined=undefined, **policies
    )
