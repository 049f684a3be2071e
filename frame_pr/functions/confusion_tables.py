"""The whole confusion table, at a cut or of predicted classes."""

from __future__ import annotations

from typing import Any, Unpack

from frame_pr.frames.arguments import filling, refuse_both
from frame_pr.frames.columns import refuse_several
from frame_pr.frames.frame_kind import Frame
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.inputs.request import check_policies, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics import rates
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.cutoffs import Rank, Threshold


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
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`. Not with `prediction`.
    threshold : float, optional
        Rows that score at least this, with `ascending` at most, are predicted positive.
    k : int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    prediction : str or polars expression, optional
        Instead of a score: the predicted class. A boolean says predicted positive, and so does 0/1 beside a truth that
        is no number; anything else is a label, as in `truth`, with `positive`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: with `k`, `weight=`; with
        `prediction`, `tie_break=`, `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`,
        `ties="pessimistic"`, `ties="order"` and `ascending=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `k, tp, fp, fn, tn` (Int64; at a rank all but `k` are Float64, as a block of equal scores may be
        shared; with weights see `Policies`) and `precision, recall, specificity, npv, fpr, fnr, fdr, accuracy, f1, mcc,
        informedness, markedness, kappa, prevalence` (Float64; null where a denominator is 0).

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
    refuse_both("confusion", {"threshold": threshold, "k": k, "prediction": prediction})
    if (score is None) != (prediction is not None):
        given = f"{'no' if score is None else 'a'} score, and {'no' if prediction is None else 'a'} prediction"
        raise ValueError(f"confusion takes a score and a cut, or prediction= and no score; got {given}")
    check_policies(policies)
    if prediction is not None:
        refuse_several("prediction", prediction)
        ranks = {"ties": policies.get("ties", "threshold") != "threshold", "ascending": policies.get("ascending")}
        ranks["tie_break"] = policies.get("tie_break") is not None
        if ranking := [name for name, is_given in ranks.items() if is_given]:
            raise ValueError(f"{ranking[0]}= is about the ranking of rows: predicted classes have no ranking")
    if k is not None and policies.get("weight") is not None:
        raise ValueError("k= cuts at a rank, and weighted rows have none: give threshold=, or leave out weight=")
    cut = Rank.of(k) if k is not None else Threshold.of(1 if threshold is None else threshold)
    filled = filling("undefined", undefined)
    scores: Any = score if prediction is None else prediction
    rows, way_back = rows_of(frame, request_of(truth, scores, by, positive, policies, predicted=prediction is not None))
    named = {figure: f"{figure}@{cut}" for figure in rates.FIGURES}
    return way_back.result(values(rows, named, filled), list(named))
