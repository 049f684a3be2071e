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
    r"""Compute precision@k (P@k), the share of positives among the first k rows.

    .. math:: \text{P@}k = \frac{\text{hits among the first } k}{k}

    The divisor is k even if a group has fewer rows. If the cutoff falls inside a tie, the tied rows share their
    positives evenly.

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
        The keys, then `precision@k` for each k (Float64).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    recall_at_k, average_precision_at_k, r_precision, evaluate

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
    r"""Compute recall@k, the share of the positives that are among the first k rows.

    .. math:: \text{R@}k = \frac{\text{hits among the first } k}{P}

    with P positives. If the cutoff falls inside a tie, the tied rows share their positives evenly.

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
        The keys, then `recall@k` for each k (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        k is not a whole number above 0; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    precision_at_k, success_at_k, k_at_recall, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.recall_at_k(run, "relevant", "score", [1, 2], by="query")
    shape: (2, 3)
    ┌───────┬──────────┬──────────┐
    │ query ┆ recall@1 ┆ recall@2 │
    │ ---   ┆ ---      ┆ ---      │
    │ str   ┆ f64      ┆ f64      │
    ╞═══════╪══════════╪══════════╡
    │ ink   ┆ 0.5      ┆ 0.5      │
    │ tea   ┆ 0.0      ┆ 0.5      │
    └───────┴──────────┴──────────┘
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
    """Compute R-precision: the precision of the first P rows, for P positives.

    At this cutoff precision equals recall (break-even point). If the cutoff falls inside a tie, the tied rows share
    their positives evenly.

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
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `r_precision` (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        A column is missing, given twice, of the wrong type, or has missing values; see the message.

    See Also
    --------
    precision_at_k, average_precision

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
    >>> fp.r_precision(run, "relevant", "score", by="query")
    shape: (2, 2)
    ┌───────┬─────────────┐
    │ query ┆ r_precision │
    │ ---   ┆ ---         │
    │ str   ┆ f64         │
    ╞═══════╪═════════════╡
    │ ink   ┆ 0.5         │
    │ tea   ┆ 0.5         │
    └───────┴─────────────┘
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
    """Compute the precision at the highest threshold whose recall is at least the given one.

    It is tp / k at the smallest k with tp / P >= recall, for tp positives among the first k rows and P positives.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    recall : float or list of float
        Recall from 0 to 1, compared exactly, as the decimal that is written. The rows at the highest threshold with at
        least this recall are predicted positive.
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
        The keys, then `precision@recall=r` for each recall (Float64; null for a group without positives).

    Raises
    ------
    ValueError, TypeError
        recall lies outside [0, 1]; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    k_at_recall, curve, f_beta

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.precision_at_recall(run, "relevant", "score", [0.5, 1], by="query")
    shape: (2, 3)
    ┌───────┬──────────────────────┬────────────────────┐
    │ query ┆ precision@recall=0.5 ┆ precision@recall=1 │
    │ ---   ┆ ---                  ┆ ---                │
    │ str   ┆ f64                  ┆ f64                │
    ╞═══════╪══════════════════════╪════════════════════╡
    │ ink   ┆ 1.0                  ┆ 0.666667           │
    │ tea   ┆ 0.5                  ┆ 0.666667           │
    └───────┴──────────────────────┴────────────────────┘
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
    """Count the rows that must be selected to reach a recall: the smallest k with tp / P >= recall.

    A threshold selects all of its tied rows, so k counts them together.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    recall : float or list of float
        Recall from 0 to 1, compared exactly, as the decimal that is written. The rows at the highest threshold with at
        least this recall are predicted positive.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `k@recall=r` for each recall (Int64, with weights see `Policies`; null for a group without
        positives).

    Raises
    ------
    ValueError, TypeError
        recall lies outside [0, 1]; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    precision_at_recall, recall_at_k, confusion

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.k_at_recall(run, "relevant", "score", [0.5, 1], by="query")
    shape: (2, 3)
    ┌───────┬──────────────┬────────────┐
    │ query ┆ k@recall=0.5 ┆ k@recall=1 │
    │ ---   ┆ ---          ┆ ---        │
    │ str   ┆ i64          ┆ i64        │
    ╞═══════╪══════════════╪════════════╡
    │ ink   ┆ 1            ┆ 3          │
    │ tea   ┆ 2            ┆ 3          │
    └───────┴──────────────┴────────────┘
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
    r"""Compute F-beta (F1) at a threshold or a cutoff; with neither, the best F-beta and its threshold.

    .. math:: F_\beta = \frac{(1 + \beta^2) \, \text{tp}}{\beta^2 P + k}

    for k selected rows, tp of them positive, and P positives. Recall counts beta times as much as precision.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    beta : float
        Weight of recall relative to precision. 1 gives their harmonic mean (F1).
    threshold : float or list of float, optional
        Rows with at least this score are predicted positive. With `ascending`, those up to this score.
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
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: without a cutoff,
        `ties="expected"`, `ties="optimistic"` and `ties="pessimistic"`; with `k`, `weight=` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then `f1@threshold=t` or `f1@k` for each; or `max_f1` (Float64) and `threshold@max_f1` (of the dtype
        of the score), null for a group without positives. The 1 is the beta.

    Raises
    ------
    ValueError, TypeError
        beta is not above 0, both threshold and k are given, or one is no number; a column is missing or wrong.

    See Also
    --------
    confusion, precision_at_recall, evaluate

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
        names = [f"{f}@{Rank.of(value)}" for value in each("k", k)]
    return metrics_of(frame, names, truth, score, policies, by, positive, undefined)
