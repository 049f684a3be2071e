"""`.pr` on polars expressions: one value per group, inside the caller's own `select`, `agg`, `rolling` or `over`."""

from __future__ import annotations

from typing import Literal, Never

import polars as pl

from frame_pr.expressions.at_cutoffs import AtCutoffs
from frame_pr.expressions.rankings import Rankings
from frame_pr.frames.arguments import one_of, refuse_both
from frame_pr.inputs.policies import Column
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.numbers import f_of


class ExprPR(AtCutoffs, Rankings):
    """Precision-recall metrics of a score expression: `pl.col("score").pr`, or `ExprPR(pl.col("score"))`, typed.

    Every method is an expression of one value per group, in `select`, `group_by(...).agg`, `group_by_dynamic`,
    `rolling` and ``.over(...)``, eager, lazy and streaming. The numbers and the names are those of the functions of the
    same name; null where they give null, so ``.fill_null(0.0)`` does what their `undefined=0.0` does.

    A score that is null or NaN, and a truth that is null, NaN or (without `positive`) neither boolean nor 0/1, is an
    error when the expression is computed: a `ValueError` that begins with the column and how many. So are a score that
    is no number, a truth of another type than its label, and a score or truth that is not one value for every row. A
    column that is not there is polars' own `ColumnNotFoundError`. A `positive` that no row has is no error here, as a
    group need not hold one.

    For many metrics at once, or many groups, `evaluate` is faster: it sorts once.

    Parameters
    ----------
    score : polars expression
        Higher ranks earlier, unless `ascending`.

    Examples
    --------
    >>> import polars as pl
    >>> from frame_pr import ExprPR
    >>> run = pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> run.select(ExprPR(pl.col("score")).precision_at_k("relevant", 4)).item()
    0.5
    """

    def average_precision(
        self, truth: Column, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Average precision: the mean, over the positives, of the precision at each one's threshold.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `average_precision` (Float64; null without positives).

        Raises
        ------
        TypeError
            Truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
        >>> run.group_by("query").agg(pl.col("score").pr.average_precision("relevant")).sort("query").rows()
        [(1, 1.0), (2, 0.5)]
        """
        return self.metric(truth, "average_precision", positive=positive, ascending=ascending, **others)

    def interpolated_average_precision(
        self,
        truth: Column,
        *,
        points: Literal[11, 101] | None = None,
        positive: object = None,
        ascending: bool = False,
        **others: Never,
    ) -> pl.Expr:
        """Average precision under the envelope: at each recall, the best precision of this or any later threshold.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        points : 11 or 101, optional
            Average over so many recall levels (VOC 2007, COCO); else over all points.
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `interpolated_average_precision`, or the same with `_11` or `_101` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            `points` is neither 11 nor 101; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 1, 0], "score": [6, 5, 4, 3, 2, 1]})
        >>> run.select(pl.col("score").pr.interpolated_average_precision("relevant")).item()  # 3/5 at every recall
        0.6
        """
        chosen = one_of("points", points, (11, 101, None))
        name = "interpolated_average_precision" + ("" if chosen is None else f"_{chosen}")
        return self.metric(truth, name, positive=positive, ascending=ascending, **others)

    def average_precision_at_k(
        self,
        truth: Column,
        k: int,
        *,
        divisor: Literal["min", "positives", "hits"] = "min",
        positive: object = None,
        ascending: bool = False,
        **others: Never,
    ) -> pl.Expr:
        """Average precision of the first k rows: the sum of precision over their hits, divided by min(k, P).

        A block of equal scores that the cut falls into takes its expected share, and ends at k.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        k : int
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        divisor : "min", "positives" or "hits"
            What the sum is divided by: min(k, P), P (trec_eval's `map_cut`) or the hits among the first k
            (torchmetrics).
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `average_precision@k`, `average_precision@k/positives` or ``.../hits`` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; the divisor is unknown; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1], "score": [4, 3, 2, 1]})
        >>> run.select(pl.col("score").pr.average_precision_at_k("relevant", 2)).item()  # (1/1 + 2/2) / min(2, 3)
        1.0
        """
        suffixes = {"min": "", "positives": "/positives", "hits": "/hits"}
        suffix = suffixes[one_of("divisor", divisor, list(suffixes))]
        return self.metric(
            truth, f"average_precision@{Rank.of(k)}{suffix}", positive=positive, ascending=ascending, **others
        )

    def r_precision(
        self, truth: Column, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """R-precision: the precision of the first P rows, P the positives of the group.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `r_precision` (Float64; null without positives).

        Raises
        ------
        TypeError
            Truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.r_precision("relevant")).item()  # 2 hits in the first 3
        0.6666666666666666
        """
        return self.metric(truth, "r_precision", positive=positive, ascending=ascending, **others)

    def f_beta(
        self,
        truth: Column,
        beta: float = 1.0,
        *,
        threshold: float | None = None,
        k: int | None = None,
        positive: object = None,
        ascending: bool = False,
        **others: Never,
    ) -> pl.Expr:
        """F-beta at a threshold or a rank; with neither, the best over all thresholds.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        beta : float
            Weight of recall against precision: 1 is their harmonic mean.
        threshold : float, optional
            Rows that score at least this, with `ascending` at most, are predicted positive.
        k : int, optional
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `f1@threshold=t`, `f1@k` or `max_f1` (Float64; `max_f1` null without positives). The 1 is the beta.

        Raises
        ------
        ValueError, TypeError
            beta is not above 0, both threshold and k are given, or one is no such number; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.f_beta("relevant")).item()  # precision 3/4, recall 1
        0.8571428571428571
        """
        f = f_of(beta)
        refuse_both("f_beta", {"threshold": threshold, "k": k}, none=True)
        if threshold is not None or k is not None:
            return self.figure(truth, f, threshold=threshold, k=k, positive=positive, ascending=ascending, **others)
        return self.metric(truth, f"max_{f}", positive=positive, ascending=ascending, **others)

    def threshold_at_max_f(
        self, truth: Column, beta: float = 1.0, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """The highest threshold that gives the best F-beta.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        beta : float
            Weight of recall against precision: 1 is their harmonic mean.
        positive : optional
            The label of `truth` that is the positive one. It need not occur where its type declares it.
        ascending : bool
            Whether a small score is best, as of ranks and distances; a threshold then takes scores up to it.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            `threshold@max_f1` (of the dtype of the score; null without positives). The 1 is the beta.

        Raises
        ------
        ValueError, TypeError
            beta is not above 0; truth is not one column.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.threshold_at_max_f("relevant")).item()
        0.6
        """
        return self.metric(truth, f"threshold@max_{f_of(beta)}", positive=positive, ascending=ascending, **others)
