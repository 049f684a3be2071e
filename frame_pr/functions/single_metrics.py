"""Functions of one metric each: average precision, precision at k, F-beta, ROC AUC, nDCG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Unpack

from frame_pr.frames.arguments import check_choice, public, refuse_both
from frame_pr.frames.kinds import Frame
from frame_pr.functions.evaluation import evaluate
from frame_pr.inputs.options import REFUSED, Column, Columns, GainOptions, LabelOptions, RankOptions
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.numbers import each, f_of

Ranks: TypeAlias = int | str | Sequence[int | str]
"""Cutoffs: numbers of rows, or shares of the rows such as "0.5%"."""


@public(REFUSED["average_precision"], options=LabelOptions)
def average_precision(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    r"""Compute average precision (AP), the area under the precision-recall curve.

    Average precision summarises a ranking in one number, and equals scikit-learn's
    `average_precision_score`:

    .. math:: \text{AP} = \sum_n (R_n - R_{n-1}) P_n

    with the precision P_n and the recall R_n at the n-th threshold.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.

    Returns
    -------
    Frame of the same kind
        The keys, then `average_precision` (Float64; null for a group without positives). One row
        per group, sorted.

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    interpolated_average_precision, average_precision_at_k, curve, evaluate, intervals

    References
    ----------
    Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8.
    Cambridge University Press. https://doi.org/10.1017/CBO9780511809071

    McSherry and Najork (2008). Computing information retrieval performance measures efficiently in
    the presence of tied scores. ECIR. https://doi.org/10.1007/978-3-540-78646-7_38

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

    By hand: the positives of ink have ranks 1 and 3, (1/1 + 2/3) / 2; those of tea have ranks 2 and
    3, (1/2 + 2/3) / 2.
    """
    return evaluate(
        frame,
        "average_precision",
        truth,
        score,
        by=by,
        positive=positive,
        undefined=undefined,
        **options,
    )


@public(REFUSED["interpolated_average_precision"], options=LabelOptions)
def interpolated_average_precision(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    points: Literal[11, 101] | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    r"""Compute interpolated average precision, as VOC, COCO and trec_eval's `11pt_avg` do.

    The interpolated precision at a recall is the best precision at this or a larger recall. It is
    averaged over all steps of the curve (VOC 2010 and later), or over 11 or 101 recall levels:

    .. math:: \text{AP}_{11} = \frac{1}{11} \sum_{i=0}^{10} \max_{R \ge i / 10} P(R)

    A level that no threshold reaches counts as 0. Recalls are compared as whole numbers, so 3/10 is
    exact.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    points : 11 or 101, optional
        Number of recall levels to average over: 11 (VOC 2007) or 101 (COCO). Default: all steps.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `interpolated_average_precision`, or the same with `_11` or `_101` (Float64;
        null without positives).

    Raises
    ------
    ValueError, TypeError
        `points` is neither 11 nor 101; a column is missing, given twice, of the wrong type, or has
        missing values.

    See Also
    --------
    average_precision, curve, evaluate

    References
    ----------
    Everingham et al. (2010). The PASCAL visual object classes (VOC) challenge. IJCV 88, 303-338.
    https://doi.org/10.1007/s11263-009-0275-4

    Everingham et al. (2015). The PASCAL visual object classes challenge: a retrospective. IJCV 111,
    98-136. https://doi.org/10.1007/s11263-014-0733-5

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.interpolated_average_precision(run, "relevant", "score", by="query").rows()
    [('ink', 0.8333333333333333), ('tea', 0.6666666666666666)]
    """
    levels = check_choice("points", points, (11, 101, None))
    name = "interpolated_average_precision"
    if levels is not None:
        name += f"_{levels}"
    return evaluate(
        frame, name, truth, score, by=by, positive=positive, undefined=undefined, **options
    )


@public(REFUSED["average_precision_at_k"], options=RankOptions)
def average_precision_at_k(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: Ranks,
    *,
    divisor: Literal["min", "positives", "hits"] = "min",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[RankOptions],
) -> Frame:
    r"""Compute AP@k, the average precision of the first k rows; its mean over queries is MAP@k.

    .. math:: \text{AP@}k = \frac{1}{\min(k, P)} \sum_{i=1}^{k} \text{hit}_i \frac{\text{hits}_i}{i}

    with P positives, and hits_i positives among the first i rows. If a cutoff falls inside a tie,
    the tied rows share their positives evenly.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    k : int or str, or a list of them
        Cutoff: a number of rows, or a share of the rows of the group such as "0.5%". Missing rows
        count as misses.
    divisor : "min", "positives" or "hits"
        Divisor of the sum: min(k, P), P (trec_eval's `map_cut`), or the hits among the first k
        (torchmetrics).
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=` and `prevalence=`, because weighted rows have no rank. With
        `divisor="hits"` also `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `average_precision@k` for each k, with another divisor
        `average_precision@k/positives` or `average_precision@k/hits` (Float64; null for a group
        without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, nor a share; a column is missing or wrong.

    See Also
    --------
    average_precision, precision_at_k, recall_at_k, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.average_precision_at_k(run, "relevant", "score", 2, by="query").rows()
    [('ink', 0.5), ('tea', 0.25)]
    """
    suffixes = {"min": "", "positives": "/positives", "hits": "/hits"}
    suffix = suffixes[check_choice("divisor", divisor, list(suffixes))]
    names = [f"{name}{suffix}" for name in at_ranks("average_precision", k)]
    return evaluate(
        frame, names, truth, score, by=by, positive=positive, undefined=undefined, **options
    )


@public(REFUSED["precision_at_k"], options=RankOptions)
def precision_at_k(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: Ranks,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[RankOptions],
) -> Frame:
    r"""Compute precision@k (P@k), the share of positives among the first k rows.

    .. math:: \text{P@}k = \frac{\text{hits among the first } k}{k}

    The divisor is k even if a group has fewer rows. If the cutoff falls inside a tie, the tied rows
    share their positives evenly.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    k : int or str, or a list of them
        Cutoff: a number of rows, or a share of the rows of the group such as "0.5%". Missing rows
        count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=` and `prevalence=`, because weighted rows have no rank.

    Returns
    -------
    Frame of the same kind
        The keys, then `precision@k` for each k (Float64).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, nor a share; a column is missing or wrong.

    See Also
    --------
    recall_at_k, average_precision_at_k, evaluate

    References
    ----------
    Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8.
    Cambridge University Press. https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.precision_at_k(run, "relevant", "score", [1, 2], by="query")
    shape: (2, 3)
    ┌───────┬─────────────┬─────────────┐
    │ query ┆ precision@1 ┆ precision@2 │
    │ ---   ┆ ---         ┆ ---         │
    │ str   ┆ f64         ┆ f64         │
    ╞═══════╪═════════════╪═════════════╡
    │ ink   ┆ 1.0         ┆ 0.5         │
    │ tea   ┆ 0.0         ┆ 0.5         │
    └───────┴─────────────┴─────────────┘
    """
    return evaluate(
        frame,
        at_ranks("precision", k),
        truth,
        score,
        by=by,
        positive=positive,
        undefined=undefined,
        **options,
    )


@public(REFUSED["recall_at_k"], options=RankOptions)
def recall_at_k(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: Ranks,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[RankOptions],
) -> Frame:
    r"""Compute recall@k, the share of the positives that are among the first k rows.

    .. math:: \text{R@}k = \frac{\text{hits among the first } k}{P}

    with P positives. If the cutoff falls inside a tie, the tied rows share their positives evenly.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    k : int or str, or a list of them
        Cutoff: a number of rows, or a share of the rows of the group such as "0.5%". Missing rows
        count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=` and `prevalence=`, because weighted rows have no rank.

    Returns
    -------
    Frame of the same kind
        The keys, then `recall@k` for each k (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, nor a share; a column is missing or wrong.

    See Also
    --------
    precision_at_k, confusion, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.recall_at_k(run, "relevant", "score", [1, 2], by="query").rows()
    [('ink', 0.5, 0.5), ('tea', 0.0, 0.5)]
    """
    return evaluate(
        frame,
        at_ranks("recall", k),
        truth,
        score,
        by=by,
        positive=positive,
        undefined=undefined,
        **options,
    )


@public(REFUSED["f_beta"], options=LabelOptions)
def f_beta(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    beta: float = 1.0,
    threshold: float | Sequence[float] | None = None,
    k: Ranks | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    r"""Compute F-beta (F1) at a threshold or cutoff; with neither, the best one and its threshold.

    .. math:: F_\beta = \frac{(1 + \beta^2) \, \text{tp}}{\beta^2 P + k}

    for k selected rows, tp of them positive, and P positives. Recall counts beta times as much as
    precision.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    beta : float
        Weight of recall relative to precision. 1 gives their harmonic mean (F1).
    threshold : float or list of float, optional
        Rows with at least this score are predicted positive. With `ascending`, those up to this
        score.
    k : int or str, or a list of them, optional
        Cutoff: a number of rows, or a share of the rows of the group such as "0.5%". Missing rows
        count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: without a cutoff `ties="expected"`, `ties="optimistic"` and
        `ties="pessimistic"`; with `k` `weight=` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `f1@threshold=t` or `f1@k` for each; or `max_f1` (Float64) and
        `threshold@max_f1` (of the dtype of the score), null for a group without positives. The 1 is
        the beta.

    Raises
    ------
    ValueError, TypeError
        beta is not above 0, both threshold and k are given, or one is no number; a column is
        missing or wrong.

    See Also
    --------
    confusion, evaluate, curve

    References
    ----------
    van Rijsbergen (1979). Information Retrieval, 2nd edition. Butterworths.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.f_beta(run, "relevant", "score", by="query")
    shape: (2, 3)
    ┌───────┬────────┬──────────────────┐
    │ query ┆ max_f1 ┆ threshold@max_f1 │
    │ ---   ┆ ---    ┆ ---              │
    │ str   ┆ f64    ┆ i64              │
    ╞═══════╪════════╪══════════════════╡
    │ ink   ┆ 0.8    ┆ 4                │
    │ tea   ┆ 0.8    ┆ 1                │
    └───────┴────────┴──────────────────┘
    """
    refuse_both("f_beta", {"threshold": threshold, "k": k}, none=True)
    f = f_of(beta)
    names = [f"max_{f}", f"threshold@max_{f}"]
    if threshold is not None:
        names = [f"{f}@{Threshold.of(value)}" for value in each("threshold", threshold)]
    elif k is not None:
        names = at_ranks(f, k)
    return evaluate(
        frame, names, truth, score, by=by, positive=positive, undefined=undefined, **options
    )


@public(REFUSED["roc_auc"], options=LabelOptions)
def roc_auc(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    r"""Compute ROC AUC, the area under the receiver operating characteristic curve.

    ROC AUC is the share of pairs of a positive and a negative in which the positive has the higher
    score. A tie counts as one half:

    .. math:: \text{AUC} = \frac{\text{pairs}_{>} + \text{pairs}_{=} / 2}{P \, N}

    with P positives and N negatives. The partial area up to a false positive rate X is
    `roc_auc@fpr=X` of `evaluate`.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.

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
    Hanley and McNeil (1982). The meaning and use of the area under a receiver operating
    characteristic (ROC) curve. Radiology 143(1), 29-36.
    https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.roc_auc(run, "relevant", "score", by="query").rows()  # 1 of 2 pairs; 0 of 2
    [('ink', 0.5), ('tea', 0.0)]
    """
    return evaluate(
        frame, "roc_auc", truth, score, by=by, positive=positive, undefined=undefined, **options
    )


@public(REFUSED["ndcg"], options=GainOptions)
def ndcg(
    frame: Frame,
    truth: Column,
    score: Columns,
    k: Ranks | None = None,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[GainOptions],
) -> Frame:
    r"""Compute nDCG, the normalized discounted cumulative gain, for graded or binary relevance.

    .. math::

       \text{DCG} = \sum_i \frac{\text{gain}_i}{\log_2(i + 1)}, \qquad
       \text{nDCG} = \frac{\text{DCG}}{\text{DCG of the best order}}

    The gain of a positive is 1. With `gain=`, it is the value of that column for every row, such as
    a grade or `2 ** grade - 1`. Tied rows share their ranks.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item.
    truth : str or polars expression
        Labels: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Scores; higher scores rank first. Several scores are systems, and add a key column `system`.
    k : int or str, or a list of them, optional
        Cutoff: a number of rows, or a share of the rows of the group such as "0.5%". Missing rows
        count as misses.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`.
    undefined : float, optional
        Value that replaces null where the metric is undefined.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=` and `prevalence=`, because weighted rows have no rank.

    Returns
    -------
    Frame of the same kind
        The keys, then `ndcg`, or `ndcg@k` for each k (Float64; null where no row has a gain).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0, nor a share; a column is missing or wrong.

    See Also
    --------
    average_precision, evaluate

    References
    ----------
    Järvelin and Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS
    20(4), 422-446. https://doi.org/10.1145/582415.582418

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.ndcg(run, "relevant", "score", by="query").rows()
    [('ink', 0.9197207891481877), ('tea', 0.6934264036172708)]
    >>> graded = run.with_columns(grade=pl.Series([1, 0, 2, 0, 3, 1]))
    >>> fp.ndcg(graded, "relevant", "score", 2, gain="grade", by="query").rows()
    [('ink', 0.3800937667159343), ('tea', 0.52129602861432)]
    """
    names = ["ndcg"]
    if k is not None:
        names = at_ranks("ndcg", k)
    return evaluate(
        frame, names, truth, score, by=by, positive=positive, undefined=undefined, **options
    )


def at_ranks(head: str, k: Any) -> list[str]:
    """Return the names of a metric at one cutoff of the caller or several."""
    return [f"{head}@{Rank.of(rank)}" for rank in each("k", k)]
