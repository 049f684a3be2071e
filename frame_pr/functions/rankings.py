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
    r"""Compute average precision (AP), the area under the precision-recall curve.

    Average precision summarises a ranking in one number. It equals scikit-learn's `average_precision_score`:

    .. math:: \text{AP} = \sum_n (R_n - R_{n-1}) P_n

    with the precision P_n and the recall R_n at the n-th threshold. It is also the mean, over the positives, of the
    precision at the threshold of each positive.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then `average_precision` (Float64; null for a group without positives). One row per group, sorted.

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values; see the message.

    See Also
    --------
    interpolated_average_precision, average_precision_at_k, curve, evaluate, intervals

    References
    ----------
    Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8. Cambridge University Press.
    https://doi.org/10.1017/CBO9780511809071

    McSherry and Najork (2008). Computing information retrieval performance measures efficiently in the presence of tied
    scores. ECIR. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.average_precision(run, "relevant", "score", by="query")
    shape: (2, 2)
    ┌───────┬───────────────────┐
    │ query ┆ average_precision │
    │ ---   ┆ ---               │
    │ str   ┆ f64               │
    ╞═══════╪═══════════════════╡
    │ ink   ┆ 0.833333          │
    │ tea   ┆ 0.583333          │
    └───────┴───────────────────┘

    By hand: the positives of ink have ranks 1 and 3, (1/1 + 2/3) / 2; those of tea have ranks 2 and 3, (1/2 + 2/3) / 2.
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
    r"""Compute interpolated average precision, as VOC, COCO and trec_eval's `11pt_avg` do.

    The interpolated precision at a recall is the best precision at this or a larger recall. Without `points`, it is
    averaged over all steps of the curve (VOC 2010 and later). With `points`, it is averaged over the recall levels
    0, 1/10, ..., 1 (VOC 2007) or 0, 1/100, ..., 1 (COCO):

    .. math:: \text{AP}_{11} = \frac{1}{11} \sum_{i=0}^{10} \max_{R \ge i / 10} P(R)

    A level that no threshold reaches counts as 0. Recalls are compared as whole numbers, so 3/10 is exact.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    points : 11 or 101, optional
        Number of recall levels to average over: 11 (VOC 2007) or 101 (COCO). Default: all points.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `interpolated_average_precision`, or the same with `_11` or `_101` (Float64; null for a group
        without positives).

    Raises
    ------
    ValueError, TypeError
        `points` is neither 11 nor 101; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    average_precision, curve, precision_at_recall

    References
    ----------
    Everingham et al. (2010). The PASCAL visual object classes (VOC) challenge. IJCV 88, 303-338.
    https://doi.org/10.1007/s11263-009-0275-4

    Lin et al. (2014). Microsoft COCO: common objects in context. ECCV, 740-755.
    https://doi.org/10.1007/978-3-319-10602-1_48

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.interpolated_average_precision(run, "relevant", "score", by="query")
    shape: (2, 2)
    ┌───────┬────────────────────────────────┐
    │ query ┆ interpolated_average_precision │
    │ ---   ┆ ---                            │
    │ str   ┆ f64                            │
    ╞═══════╪════════════════════════════════╡
    │ ink   ┆ 0.833333                       │
    │ tea   ┆ 0.666667                       │
    └───────┴────────────────────────────────┘
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
    r"""Compute AP@k, the average precision of the first k rows; its mean over queries is MAP@k.

    .. math:: \text{AP@}k = \frac{1}{\min(k, P)} \sum_{i=1}^{k} \text{hit}_i \, \frac{\text{hits}_i}{i}

    with P positives, and hits_i positives among the first i rows. `divisor` replaces min(k, P). If a cutoff falls
    inside a tie, the tied rows share their positives evenly.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int
        Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
    divisor : "min", "positives" or "hits"
        Divisor of the sum: min(k, P), P (trec_eval's `map_cut`) or the hits among the first k (torchmetrics), for P
        positives.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=` and
        `prevalence=`; with `divisor="hits"`, `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `average_precision@k` for each k (Float64; null for a group without positives); with another
        divisor `average_precision@k/positives` or `average_precision@k/hits`, as in `evaluate`.

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, the divisor unknown, or a column missing, given twice or of the wrong type.

    See Also
    --------
    average_precision, precision_at_k, recall_at_k, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.average_precision_at_k(run, "relevant", "score", 2, by="query")
    shape: (2, 2)
    ┌───────┬─────────────────────┐
    │ query ┆ average_precision@2 │
    │ ---   ┆ ---                 │
    │ str   ┆ f64                 │
    ╞═══════╪═════════════════════╡
    │ ink   ┆ 0.5                 │
    │ tea   ┆ 0.25                │
    └───────┴─────────────────────┘
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
    r"""Compute ROC AUC, the area under the receiver operating characteristic curve.

    ROC AUC is the share of pairs of a positive and a negative in which the positive has the higher score. A tie counts
    as one half:

    .. math:: \text{AUC} = \frac{\text{pairs}_{>} + \text{pairs}_{=} / 2}{P \, N}

    with P positives and N negatives. The partial area up to a false positive rate X is `roc_auc@fpr=X` of `evaluate`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then `roc_auc` (Float64; null without positives, or without negatives).

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    average_precision, curve, evaluate, intervals

    References
    ----------
    Hanley and McNeil (1982). The meaning and use of the area under a receiver operating characteristic (ROC) curve.
    Radiology 143(1), 29-36. https://doi.org/10.1148/radiology.143.1.7063747

    McClish (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9(3), 190-195.
    https://doi.org/10.1177/0272989X8900900307

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.roc_auc(run, "relevant", "score", by="query")  # 1 of 2 pairs; 0 of 2
    shape: (2, 2)
    ┌───────┬─────────┐
    │ query ┆ roc_auc │
    │ ---   ┆ ---     │
    │ str   ┆ f64     │
    ╞═══════╪═════════╡
    │ ink   ┆ 0.5     │
    │ tea   ┆ 0.0     │
    └───────┴─────────┘
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
    """Compute the reciprocal rank: 1 divided by the rank of the first positive.

    Its mean over queries is the mean reciprocal rank (MRR): `evaluate(..., mean_over=...)`. The value is 0 if no
    positive is retrieved. If the first positive is tied, the value is the mean over the orders of the tied rows.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int, optional
        Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `reciprocal_rank`, or `reciprocal_rank@k` for each k (Float64; null without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    success_at_k, ndcg, explode_lists, evaluate

    References
    ----------
    Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8. Cambridge University Press.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.reciprocal_rank(run, "relevant", "score", by="query")
    shape: (2, 2)
    ┌───────┬─────────────────┐
    │ query ┆ reciprocal_rank │
    │ ---   ┆ ---             │
    │ str   ┆ f64             │
    ╞═══════╪═════════════════╡
    │ ink   ┆ 1.0             │
    │ tea   ┆ 0.5             │
    └───────┴─────────────────┘
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
    """Compute success@k (hit rate): 1 if a positive is among the first k rows, else 0.

    Its mean over users or queries is the hit rate. If the cutoff falls inside a tie, the value is the share of the
    orders of the tied rows that have a positive among the first k rows.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int
        Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `success@k` for each k (Float64; null without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    reciprocal_rank, recall_at_k, explode_lists, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.success_at_k(run, "relevant", "score", [1, 2], by="query")
    shape: (2, 3)
    ┌───────┬───────────┬───────────┐
    │ query ┆ success@1 ┆ success@2 │
    │ ---   ┆ ---       ┆ ---       │
    │ str   ┆ f64       ┆ f64       │
    ╞═══════╪═══════════╪═══════════╡
    │ ink   ┆ 1.0       ┆ 1.0       │
    │ tea   ┆ 0.0       ┆ 1.0       │
    └───────┴───────────┴───────────┘
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
    r"""Compute nDCG, the normalized discounted cumulative gain, for graded or binary relevance.

    .. math::

       \text{DCG} = \sum_i \frac{\text{gain}_i}{\log_2(i + 1)}, \qquad
       \text{nDCG} = \frac{\text{DCG}}{\text{DCG of the best order}}

    The gain of a positive is 1. With `gain=`, it is the value of that column for every row, such as a grade or
    `2 ** grade - 1`. Tied rows share their ranks.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int, optional
        Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `ndcg`, or `ndcg@k` for each k (Float64; null where no row has a gain).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    reciprocal_rank, success_at_k, average_precision, evaluate

    References
    ----------
    Järvelin and Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 422-446.
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.ndcg(run, "relevant", "score", by="query")
    shape: (2, 2)
    ┌───────┬──────────┐
    │ query ┆ ndcg     │
    │ ---   ┆ ---      │
    │ str   ┆ f64      │
    ╞═══════╪══════════╡
    │ ink   ┆ 0.919721 │
    │ tea   ┆ 0.693426 │
    └───────┴──────────┘
    >>> graded = run.with_columns(grade=pl.Series([1, 0, 2, 0, 3, 1]))
    >>> fp.ndcg(graded, "relevant", "score", 2, gain="grade", by="query").rows()
    [('ink', 0.3800937667159343), ('tea', 0.52129602861432)]
    """
    return metrics_of(frame, _at("ndcg", k), truth, score, policies, by, positive, undefined)


def _at(head: str, k: int | Sequence[int] | None) -> list[str]:
    return [head] if k is None else [f"{head}@{Rank.of(rank)}" for rank in each("k", k)]
