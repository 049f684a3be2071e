"""Figures of a ranking beside precision and recall, as expressions of one value per group."""

from __future__ import annotations

from typing import Never

import polars as pl

from frame_pr.expressions.metric_expressions import MetricExpressions
from frame_pr.inputs.policies import Column
from frame_pr.metrics.cutoffs import Rank


class Rankings(MetricExpressions):
    """The area under the ROC curve, the first hit, discounted gains."""

    def roc_auc(self, truth: Column, *, positive: object = None, ascending: bool = False, **others: Never) -> pl.Expr:
        """Area under the ROC curve: how often a positive scores more than a negative, a tie counting as half.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `roc_auc` (Float64; null without positives, or without negatives).

        Raises
        ------
        TypeError
            Truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.roc_auc("relevant")).item()  # 2 + 1 of the 2 * 3 pairs
        0.5
        """
        return self.metric(truth, "roc_auc", positive=positive, ascending=ascending, **others)

    def reciprocal_rank(
        self, truth: Column, k: int | None = None, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Reciprocal rank: 1 / the rank of the first hit, 0 where there is none.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int, optional
            Only the first k rows count; without it, all.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `reciprocal_rank` or `reciprocal_rank@k` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.reciprocal_rank("relevant")).item()
        0.5
        """
        return self.metric(truth, _at("reciprocal_rank", k), positive=positive, ascending=ascending, **others)

    def success_at_k(
        self, truth: Column, k: int, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Success, or hit rate: 1 where there is a hit among the first k rows, else 0.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int
            Only the first k rows count.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `success@k` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.success_at_k("relevant", 2)).item()
        1.0
        """
        return self.metric(truth, f"success@{Rank.of(k)}", positive=positive, ascending=ascending, **others)

    def ndcg(
        self, truth: Column, k: int | None = None, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Normalized discounted cumulative gain, of gains of 1: gains of another size go to `ndcg` of frames.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int, optional
            Only the first k rows count; without it, all.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `ndcg` or `ndcg@k` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.ndcg("relevant", 2).round(4)).item()  # (1/log2(3)) / (1 + 1/log2(3))
        0.3869
        """
        return self.metric(truth, _at("ndcg", k), positive=positive, ascending=ascending, **others)


def _at(head: str, k: int | None) -> str:
    return head if k is None else f"{head}@{Rank.of(k)}"
