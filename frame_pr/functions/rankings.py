"""Metrics of a whole ranking: average precision, area under the ROC curve, first positive, discounted gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from frame_pr.frames.arguments import one_of, public
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import metrics_of
from frame_pr.inputs.policies import Column, Columns, Policies
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.numbers import each


@public()
def average_precision(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute average precision (AP): the mean, over the positives, of the precision at each one's threshold.

    Sum over the steps of the curve of `(d / P) * (tp / k)`, d the positives of the step, P those of the group; the
    area under the uninterpolated curve (scikit-learn's `average_precision_score`).

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
        The keys, then `average_precision` (Float64; null for a group without positives). One row per group, sorted.

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values; see the message.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.average_precision(run, "relevant", "score").item()  # (1/1 + 2/3 + 3/5) / 3
    0.7555555555555555
    """
    return metrics_of(frame, "average_precision", truth, score, policies, by, positive, undefined)


@public()
def interpolated_average_precision(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    points: Literal[11, 101] | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute interpolated average precision: at each recall, the best precision of this or any later threshold.

    All points (VOC 2010 and later): sum over the steps of `(d / P) * max precision from here on`. With `points`, the
    mean over the recall levels 0, 1/10, ..., 1 (VOC 2007) or 0, 1/100, ..., 1 (COCO) of the max precision at recall >=
    level, 0 where no threshold reaches it; recalls are compared as whole numbers, so 3/10 is exact.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    points : 11 or 101, optional
        Average over so many recall levels (VOC 2007, COCO); else over all points.
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
        The keys, then `interpolated_average_precision`, or the same with `_11` or `_101` (Float64; null for a group
        without positives).

    Raises
    ------
    ValueError, TypeError
        `points` is neither 11 nor 101; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 1, 0], "score": [6, 5, 4, 3, 2, 1]})
    >>> fp.interpolated_average_precision(run, "relevant", "score").item()  # 3/5 at every recall
    0.6
    """
    levels = one_of("points", points, (11, 101, None))
    name = "interpolated_average_precision" + ("" if levels is None else f"_{levels}")
    return metrics_of(frame, name, truth, score, policies, by, positive, undefined)


@public()
def average_precision_at_k(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: int | Sequence[int],
    *,
    divisor: Literal["min", "positives", "hits"] = "min",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute AP@k, average precision of the first k rows: the precision summed over the hits, over min(k, P).

    A block of equal scores that the cut falls into takes its expected share, and ends at k.

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
    divisor : "min", "positives" or "hits"
        What the sum is divided by: min(k, P), P (trec_eval's `map_cut`) or the hits among the first k (torchmetrics).
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`; with
        `divisor="hits"`, `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `average_precision@k` for each k (Float64; null for a group without positives); with another
        divisor `average_precision@k/positives` or `average_precision@k/hits`, the names `evaluate` takes.

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, the divisor unknown, or a column missing, given twice or of the wrong type.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1], "score": [4, 3, 2, 1]})
    >>> fp.average_precision_at_k(run, "relevant", "score", 2).item()  # (1/1 + 2/2) / min(2, 3)
    1.0
    """
    suffixes = {"min": "", "positives": "/positives", "hits": "/hits"}
    suffix = suffixes[one_of("divisor", divisor, list(suffixes))]
    names = [f"average_precision@{Rank.of(rank)}{suffix}" for rank in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)


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
    """Compute the reciprocal rank: 1 divided by the rank of the first positive, or 0 if no positive is retrieved.

    Its mean over queries is the mean reciprocal rank (MRR): `evaluate(..., mean_over=...)`. Where the first hit is
    among rows of equal score, the mean over their orders.

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
