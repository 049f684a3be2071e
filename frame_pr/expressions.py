"""`.pr` on polars expressions: one value per group, inside the caller's own `select`, `agg`, `rolling` or `over`.

The sums are over `group_expressions`, the formulas of (tp, k, P, N) are those of `rates`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import polars as pl

from frame_pr.arguments import f_of, number, rank, recall_level
from frame_pr.group_expressions import at_rank, bound, checked, counts_of_cut, figure_at, group_of, shared_hits
from frame_pr.inputs import Column
from frame_pr.names import figure_of
from frame_pr.rates import ratio


class ExprPR:
    """Precision-recall metrics of a score expression: `pl.col("score").pr`, or `ExprPR(pl.col("score"))`, typed.

    Every method is an expression of one value per group, in `select`, `group_by(...).agg`, `group_by_dynamic`,
    `rolling` and ``.over(...)``, eager, lazy and streaming. The numbers and the names are those of the functions of the
    same name; null where they give null, so ``.fill_null(0.0)`` does what their `undefined=0.0` does.

    A score that is null or NaN, and a truth that is null, NaN or (without `positive`) neither boolean nor 0/1, is an
    error when the expression is computed: `polars.exceptions.InvalidOperationError` naming the column and how many.
    Drop or fill them before. A `positive` that no row has is no error here, as a group need not hold one.

    In all methods `truth` is the name of a column or an expression: boolean, 0/1, or any labels with `positive`. For
    many metrics at once, or many groups, `evaluate` is faster: it sorts once.

    Parameters
    ----------
    score : polars expression
        Higher ranks earlier.

    Examples
    --------
    >>> import polars as pl
    >>> from frame_pr import ExprPR
    >>> run = pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> run.select(ExprPR(pl.col("score")).precision_at_k("relevant", 4)).item()
    0.5
    """

    def __init__(self, score: pl.Expr) -> None:
        if not isinstance(score, pl.Expr):
            raise TypeError(f"ExprPR takes a polars expression, such as pl.col('score'); got {score!r}")
        self._score = score

    def average_precision(self, truth: Column, *, positive: object = None) -> pl.Expr:
        """Average precision: the mean, over the positives, of the precision at each one's threshold.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `average_precision` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
        >>> run.group_by("query").agg(pl.col("score").pr.average_precision("relevant")).sort("query").rows()
        [(1, 1.0), (2, 0.5)]
        """
        group = group_of(self._score, truth, positive)
        return checked((group.tp / group.k).mean(), self._score, truth, positive).alias("average_precision")

    def interpolated_average_precision(
        self, truth: Column, *, points: Literal[11, 101] | None = None, positive: object = None
    ) -> pl.Expr:
        """Average precision under the envelope: at each recall, the best precision of this or any later threshold.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        points : 11 or 101, optional
            Average over so many recall levels (VOC 2007, COCO); else over all points.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `interpolated_average_precision`, or the same with `_11` or `_101` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 1, 0], "score": [6, 5, 4, 3, 2, 1]})
        >>> run.select(pl.col("score").pr.interpolated_average_precision("relevant")).item()  # 3/5 at every recall
        0.6
        """
        if points not in (None, 11, 101):
            raise ValueError(f"points must be 11 or 101, or None for all points, got {points!r}")
        steps = group_of(self._score, truth, positive).steps
        envelope = (steps.tp / steps.k).cum_max(reverse=True)
        if points is None:
            return checked(envelope.mean(), self._score, truth, positive).alias("interpolated_average_precision")
        # How many of the levels 1/10, ..., 1 each positive reaches first, in whole numbers; the first one reaches 0.
        last = points - 1
        levels = (last * steps.tp // steps.positives).diff().fill_null(last // steps.positives + 1)
        mean = pl.when(steps.positives > 0).then((envelope * levels).sum() / points)
        return checked(mean, self._score, truth, positive).alias(f"interpolated_average_precision_{points}")

    def average_precision_at_k(
        self,
        truth: Column,
        k: int,
        *,
        divisor: Literal["min", "positives", "hits"] = "min",
        positive: object = None,
    ) -> pl.Expr:
        """Average precision of the first k rows: the sum of precision over their hits, divided by min(k, P).

        A block of equal scores that the cut falls into takes its expected share, and ends at k.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        k : int
            The cut-off rank.
        divisor : "min", "positives" or "hits"
            min(k, P); P (trec_eval's `map_cut`); or the hits among the first k (torchmetrics).
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `average_precision@k`, `average_precision@k/positives` or ``.../hits`` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1], "score": [4, 3, 2, 1]})
        >>> run.select(pl.col("score").pr.average_precision_at_k("relevant", 2)).item()  # (1/1 + 2/2) / min(2, 3)
        1.0
        """
        suffixes = {"min": "", "positives": "/positives", "hits": "/hits"}
        if divisor not in suffixes:
            raise ValueError(f"divisor must be 'min', 'positives' or 'hits', got {divisor!r}")
        name = f"average_precision@{rank(k)}{suffixes[divisor]}"
        group = group_of(self._score, truth, positive)
        cut = group.cut_at(k)
        whole = pl.when(group.k < pl.min_horizontal(group.rows, k)).then(group.tp / group.k).sum()

        def mean(whole: pl.Expr, **parts: pl.Expr) -> pl.Expr:
            counts, rows = counts_of_cut(**parts), parts["rows"]
            shared = shared_hits(parts["above"], parts["reached"], parts["k"])
            total = whole + ratio(shared * counts.tp, pl.min_horizontal(rows, k)).fill_null(0.0)
            over = {"min": pl.min_horizontal(counts.positives, k), "positives": counts.positives, "hits": counts.tp}
            return pl.when(counts.positives > 0).then(ratio(total, over[divisor]).fill_null(0.0))

        value = bound(mean, whole=whole, **cut)
        return checked(value, self._score, truth, positive).alias(name)

    def precision_at_k(self, truth: Column, k: int, *, positive: object = None) -> pl.Expr:
        """Precision of the first k rows: their hits, divided by k even where there are fewer rows.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        k : int
            The cut-off rank.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `precision@k` (Float64).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_k("relevant", 4)).item()
        0.75
        """
        return self.figure(truth, "precision", k=k, positive=positive)

    def recall_at_k(self, truth: Column, k: int, *, positive: object = None) -> pl.Expr:
        """Recall of the first k rows: their hits, divided by the positives of the group.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        k : int
            The cut-off rank.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `recall@k` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.recall_at_k("relevant", 2)).item()  # 2 of 3 positives
        0.6666666666666666
        """
        return self.figure(truth, "recall", k=k, positive=positive)

    def r_precision(self, truth: Column, *, positive: object = None) -> pl.Expr:
        """R-precision: the precision of the first P rows, P the positives of the group.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `r_precision` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.r_precision("relevant")).item()  # 2 hits in the first 3
        0.6666666666666666
        """
        group = group_of(self._score, truth, positive)
        value = at_rank(figure_of("precision"), group.cut_at(group.positives))
        return checked(value, self._score, truth, positive).alias("r_precision")

    def precision_at_recall(self, truth: Column, recall: float, *, positive: object = None) -> pl.Expr:
        """Precision at the highest threshold whose recall is at least this.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        recall : float
            From 0 to 1; compared exactly, as the decimal that it is written as.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `precision@recall=r` (Float64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_recall("relevant", 1.0))["precision@recall=1"].item()
        0.75
        """
        return self.figure(truth, "precision", recall=recall, positive=positive)

    def k_at_recall(self, truth: Column, recall: float, *, positive: object = None) -> pl.Expr:
        """How many rows must be taken to reach this recall: the rows at the highest threshold that does.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        recall : float
            From 0 to 1; compared exactly, as the decimal that it is written as.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `k@recall=r` (Int64; null without positives).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.k_at_recall("relevant", 0.9)).item()
        4
        """
        return self.figure(truth, "k", recall=recall, positive=positive)

    def f_beta(
        self,
        truth: Column,
        beta: float = 1.0,
        *,
        threshold: float | None = None,
        k: int | None = None,
        positive: object = None,
    ) -> pl.Expr:
        """F-beta at a threshold or a rank; with neither, the best over all thresholds.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        beta : float
            Weight of recall against precision: 1 is their harmonic mean.
        threshold : float, optional
            Rows that score at least this are predicted positive.
        k : int, optional
            The first k rows are predicted positive.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `f1@threshold=t`, `f1@k` or `max_f1` (Float64; `max_f1` null without positives). The 1 is the beta.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.f_beta("relevant")).item()  # precision 3/4, recall 1
        0.8571428571428571
        """
        f = f_of(beta)
        if threshold is not None or k is not None:
            return self.figure(truth, f, threshold=threshold, k=k, positive=positive)
        value = figure_of(f)(group_of(self._score, truth, positive).steps).max()
        return checked(value, self._score, truth, positive).alias(f"max_{f}")

    def threshold_at_max_f(self, truth: Column, beta: float = 1.0, *, positive: object = None) -> pl.Expr:
        """The highest threshold that gives the best F-beta.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        beta : float
            Weight of recall against precision: 1 is their harmonic mean.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `threshold@max_f1` (of the dtype of the score; null without positives). The 1 is the beta.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.threshold_at_max_f("relevant")).item()
        0.6
        """
        f = f_of(beta)
        group = group_of(self._score, truth, positive)
        best = figure_of(f)(group.steps).arg_max()
        value = group.hits.sort(descending=True).get(best, null_on_oob=True)
        return checked(value, self._score, truth, positive).alias(f"threshold@max_{f}")

    def figure(
        self,
        truth: Column,
        figure: str,
        *,
        threshold: float | None = None,
        k: int | None = None,
        recall: float | None = None,
        positive: object = None,
    ) -> pl.Expr:
        """Any figure of the confusion table: `mcc`, `specificity`, `fp`, `f0.5`, ... at a threshold, rank or recall.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive.
        figure : str
            One of the columns of `confusion`, or `f` and a beta.
        threshold : float, optional
            Rows that score at least this are predicted positive.
        k : int, optional
            The first k rows are predicted positive. A group with fewer is filled up with misses.
        recall : float, optional
            The rows at the highest threshold whose recall is at least this are predicted positive.
        positive : optional
            The label of `truth` that is the positive one.

        Returns
        -------
        polars expression
            `figure@threshold=t`, `figure@k` or `figure@recall=r` (Float64; counts Int64, but for tp and what follows
            from it at a rank; null where a denominator is 0).

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.figure("relevant", "informedness", threshold=0.8)).item()  # 2/3 + 1 - 1
        0.6666666666666666
        """
        if [threshold, k, recall].count(None) != 2:
            raise ValueError("give exactly one of threshold, k and recall")
        formula, group = figure_of(figure), group_of(self._score, truth, positive)
        if threshold is not None:
            cut, value = (
                f"threshold={number('threshold', threshold)}",
                figure_at(formula, group.at_threshold(threshold)),
            )
        elif k is not None:
            cut, value = rank(k), at_rank(formula, group.cut_at(k))
        else:
            cut, level = f"recall={recall_level(recall)}", Fraction(recall_level(recall))
            value = figure_at(formula, group.at_recall(level))
        if figure == "prevalence":
            value = ratio(group.positives, group.rows)  # wherever the cut: misses that fill a group up do not count
        return checked(value, self._score, truth, positive).alias(f"{figure}@{cut}")
