"""The whole confusion table, at a cut or of predicted classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, public, refuse_both, scalar
from frame_pr.frames.columns import by_name, refuse_several, stacked
from frame_pr.frames.kinds import Frame, find_kind, read_stream
from frame_pr.functions.evaluation import averaged, means_asked
from frame_pr.inputs.group_thresholds import predicted_by_group
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import Use, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics import rates
from frame_pr.metrics.aggregation import plan_for, values
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.means import Statistic
from frame_pr.metrics.numbers import each, read_number

_MOST = 200  # cuts, each with all figures: so many take seconds


@public(REFUSED["confusion"])
def confusion(
    frame: Frame,
    truth: Column,
    score: Columns | None = None,
    *,
    threshold: float | Sequence[float] | Column | Any = None,
    k: int | Sequence[int] | None = None,
    prediction: Column | None = None,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    statistics: Statistic | str | Sequence[Statistic | str] = "mean",
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
    threshold : float or list of float; str, polars expression or frame; optional
        Rows that score at least this, with `ascending` at most, are predicted positive. Several give a row each, told
        apart by a key `threshold`. A threshold for each group is a column that is constant in it, or a frame of one
        column more than it has of `by`, such as `evaluate` gives: it then stands in a column `threshold`, and where it
        is null, so is all but the prevalence.
    k : int or list of int, optional
        The first k rows are predicted positive. A group with fewer is filled up with misses.
    prediction : str or polars expression, optional
        Instead of a score: the predicted class. A boolean says predicted positive, and so does 0/1 beside a truth that
        is no number; anything else is a label, as in `truth`, with `positive`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over: the result has one row for each group of the others. True: all but `system`.
    statistics : str or list of str
        What is told of the groups that `mean_over` names: "mean", "median", "std" (of a sample), "min", "max",
        quantiles such as "q25", "weighted" (the mean weighted by the positives of the group), "defined" (how many have
        a value).
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
        The keys, with `threshold` where several or one for each group are given, then `k, tp, fp, fn, tn` (Int64; at a
        rank all but `k` are Float64, as a block of equal scores may be shared; with weights see `Policies`) and
        `precision, recall, specificity, npv, fpr, fnr, fdr, accuracy, f1, mcc, informedness, markedness, kappa,
        prevalence` (Float64; null where a denominator is 0). With `mean_over`, what `evaluate` gives of them; a group
        whose threshold is null is among the undefined.

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
    >>> fp.confusion(run, "relevant", "score", threshold=[0.7, 0.6]).select("threshold", "k", "tp").rows()
    [(0.7, 3, 2), (0.6, 4, 3)]
    """
    refuse_both("confusion", {"threshold": threshold, "k": k, "prediction": prediction})
    if (score is None) != (prediction is not None):
        scores_given = f"{'no' if score is None else 'a'} score, and {'no' if prediction is None else 'a'} prediction"
        raise ValueError(f"confusion takes a score and a cut, or prediction= and no score; got {scores_given}")
    if prediction is not None:
        refuse_several("prediction", prediction)
    filled, means = filling("undefined", undefined), means_asked(mean_over, statistics)
    threshold = read_stream(threshold)
    column = threshold if isinstance(threshold, (str, pl.Expr)) else None
    by_group = column is not None or find_kind(threshold) is not None
    cuts = [Threshold.of(1)] if by_group else _cuts(threshold, k)
    scores: Any = score if prediction is None else prediction
    request = request_of(truth, scores, by, positive, policies, predicted=prediction is not None, threshold=column)
    thresholds = [] if by_group else [float(cut.threshold) for cut in cuts if isinstance(cut, Threshold)]
    use = Use(ranks=k is not None, thresholds=thresholds, averages=means is not None)
    rows, way_back = rows_of(frame, replace(request, use=use), all_groups=True)
    several = not by_group and isinstance(scalar(k if threshold is None else threshold), Iterable)
    key = [] if not several else ["threshold"] if k is None else ["k"]
    figures = {f"{figure}@{cut}": f"{figure}@{cut}" for cut in cuts for figure in rates.CONFUSION}
    named = figures if means is None else means.columns(figures)
    carried = [name for name in named if name not in figures]
    if by_group:
        rows, defined = predicted_by_group(rows, way_back, threshold)
        table = _where_known(_rows_of_cuts(values(rows, named, filled), cuts, carried, several=False), defined)
    else:
        table = _rows_of_cuts(values(rows, named, filled), cuts, carried, several=several)
    if means is None:
        return way_back.result(table, list(dict.fromkeys([*(["threshold"] if by_group else key), *rates.CONFUSION])))
    lack = plan_for(rows, list(figures), filled).undefinable()
    undefinable = [figure for figure in rates.CONFUSION if by_group or f"{figure}@{cuts[0]}" in lack]
    columns = [name for name in (*rates.CONFUSION, *carried) if name not in key]
    return averaged(way_back, table, columns, undefinable, means, key)


def _cuts(threshold: Any, k: Any) -> list[Rank | Threshold]:
    """Each number as a cut; a prediction is cut at 1."""
    argument, values = ("threshold", 1 if threshold is None else threshold) if k is None else ("k", k)
    cuts = [Threshold.of(value) if k is None else Rank.of(value) for value in each(argument, values, _MOST)]
    for cut in cuts:
        if cuts.count(cut) > 1:
            raise ValueError(f"{argument} has {cut} twice")
    return cuts


def _rows_of_cuts(
    table: pl.LazyFrame, cuts: Sequence[Rank | Threshold], carried: Sequence[str], *, several: bool
) -> pl.LazyFrame:
    """A row for each group and cut, of a table that has the figures of all cuts side by side."""
    rows = [{figure: pl.col(f"{figure}@{cut}") for figure in rates.CONFUSION} for cut in cuts]
    if not several:
        return table.select("group", *carried, **rows[0])
    numbers = [read_number(cut.text) for cut in cuts if isinstance(cut, Threshold)]
    dtype = pl.Int64 if all(isinstance(cutoff, int) and abs(cutoff) < 2**63 for cutoff in numbers) else pl.Float64
    for number, row in zip(numbers, rows, strict=False):  # of a rank, k tells
        row["threshold"] = pl.lit(number, dtype=dtype)
    return stacked(table, [pl.col("group"), *map(by_name, carried)], rows)


def _where_known(table: pl.LazyFrame, defined: pl.LazyFrame) -> pl.LazyFrame:
    """The table with the threshold of each group; where that is null, so is what is cut there."""
    table = table.join(defined, on="group", how="left", maintain_order="left")
    at_threshold = pl.col(rates.CONFUSION_AT_CUTOFF)
    return table.with_columns(pl.when(pl.col("threshold").is_not_null()).then(at_threshold))
