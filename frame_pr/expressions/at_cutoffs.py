"""Figures where the ranking is cut, as expressions of one value per group."""

from __future__ import annotations

from typing import Never

import polars as pl

from frame_pr.expressions.metric_expressions import MetricExpressions
from frame_pr.frames.arguments import refuse_both
from frame_pr.inputs.policies import Column
from frame_pr.metrics.cutoffs import Rank, Recall, Threshold
from frame_pr.metrics.rates import rate_of


class AtCutoffs(MetricExpressions):
    """Figures at a rank, a threshold or a recall."""

    def precision_at_k(
        self, truth: Column, k: int, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Precision of the first k rows: their hits, divided by k even where there are fewer rows.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `precision@k` (Float64).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_k("relevant", 4)).item()
        0.75
        """
        return self.figure(truth, "precision", k=k, positive=positive, ascending=ascending, **others)

    def recall_at_k(
        self, truth: Column, k: int, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Recall of the first k rows: their hits, divided by the positives of the group.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `recall@k` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.recall_at_k("relevant", 2)).item()  # 2 of 3 positives
        0.6666666666666666
        """
        return self.figure(truth, "recall", k=k, positive=positive, ascending=ascending, **others)

    def precision_at_recall(
        self, truth: Column, recall: float, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Precision at the highest threshold whose recall is at least this.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        recall : float
            The rows at the highest threshold whose recall is at least this, from 0 to 1, are predicted positive.
            Compared exactly, as the decimal that it is written as.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `precision@recall=r` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            recall lies outside [0, 1]; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_recall("relevant", 1.0))["precision@recall=1"].item()
        0.75
        """
        return self.figure(truth, "precision", recall=recall, positive=positive, ascending=ascending, **others)

    def k_at_recall(
        self, truth: Column, recall: float, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """How many rows must be taken to reach this recall: the rows at the highest threshold that does.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        recall : float
            The rows at the highest threshold whose recall is at least this, from 0 to 1, are predicted positive.
            Compared exactly, as the decimal that it is written as.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `k@recall=r` (Int64; null without positives).

        Raises
        ------
        ValueError, TypeError
            recall lies outside [0, 1]; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.k_at_recall("relevant", 0.9)).item()
        4
        """
        return self.figure(truth, "k", recall=recall, positive=positive, ascending=ascending, **others)

    def figure(
        self,
        truth: Column,
        figure: str,
        *,
        threshold: float | None = None,
        k: int | None = None,
        recall: float | None = None,
        positive: object = None,
        ascending: bool = False,
        **others: Never,
    ) -> pl.Expr:
        """Any figure of the confusion table: `mcc`, `specificity`, `fp`, `f0.5`, ... at a threshold, rank or recall.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        figure : str
            One of the columns of `confusion`, or `f` and a beta.
        threshold : float, optional
            Rows that score at least this are predicted positive.
        k : int, optional
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        recall : float, optional
            The rows at the highest threshold whose recall is at least this, from 0 to 1, are predicted positive.
            Compared exactly, as the decimal that it is written as.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `figure@threshold=t`, `figure@k` or `figure@recall=r` (Float64; counts Int64, but for tp and what follows
            from it at a rank; null where a denominator is 0).

        Raises
        ------
        ValueError, TypeError
            The figure is unknown; not exactly one of threshold, k and recall is given, or it is no such number; truth
            is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.figure("relevant", "informedness", threshold=0.8)).item()  # 2/3 + 1 - 1
        0.6666666666666666
        """
        refuse_both("figure", {"threshold": threshold, "k": k, "recall": recall})
        rate_of(figure)
        cuts = ((Threshold, threshold), (Rank, k), (Recall, recall))
        (cut,) = (kind.of(value) for kind, value in cuts if value is not None)
        return self.metric(truth, f"{figure}@{cut}", positive=positive, ascending=ascending, **others)
