"""`.pr` on polars expressions: one value per group, inside the caller's own `select`, `agg`, `rolling` or `over`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.expressions.checks import single, validate_rows
from frame_pr.expressions.group_blocks import bound, expression_of, group_blocks
from frame_pr.frames.arguments import Refusal, check_flag, public
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.inputs.policies import DEFAULT_TIES, Column, Policies
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.metric import Blocks
from frame_pr.metrics.names import is_metric, metric

_FIELDS = Blocks(pl.field, one_group=True)
_OPTIONS = tuple(
    Refusal(option, f"expressions have no such option, and evaluate(..., {option}=) of the frame has")
    for option in ("undefined", *Policies.__annotations__)
    if option != "ascending"
)
"""The options of frame methods that an expression refuses."""
_FUNCTIONS = {
    "recall_at_k": "recall@10",
    "average_precision_at_k": "average_precision@10",
    "success_at_k": "success@10",
    "precision_at_recall": "precision@recall=0.8",
    "k_at_recall": "k@recall=0.8",
    "f_beta": "f1@threshold=0.5",
    "threshold_at_max_f": "threshold@max_f1",
    "figure": "mcc@threshold=0.5",
    "confusion": "precision@threshold=0.5",
}
"""Functions of frames that an expression does not have as methods, each with a metric to compute instead."""


class ExprPR:
    """Give expressions of scores their `.pr`: `pl.col("score").pr`, or `ExprPR(pl.col("score"))`, which is typed.

    `metric` computes any metric by its name. The other methods are shortcuts for it. Every method returns an expression
    with one value per group, for `select`, `group_by(...).agg`, `group_by_dynamic`, `rolling` and ``.over(...)``,
    eager, lazy and streaming. Values and names are those of `evaluate`. An undefined value is null, so
    ``.fill_null(0.0)`` does what `undefined=0.0` does there.

    When polars computes the expression, it raises a `ValueError` for missing scores or labels, for labels that are
    neither Boolean nor 0/1 (without `positive`) or of another type than `positive`, for scores that are not numbers,
    and for a score or label without one value per row. The message begins and ends with the column and the number of
    such rows. For a missing column, polars raises its `ColumnNotFoundError`. A `positive` that no row has is not an
    error, because a group may have no positives.

    For many metrics at once, or many groups, `evaluate` is faster: it sorts once.

    Parameters
    ----------
    score : polars expression
        Higher scores rank first, unless `ascending`.

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
            raise TypeError(f"score: ExprPR takes a polars expression, such as pl.col('score'); got {shown(score)}")
        self._score = single(score)

    if not TYPE_CHECKING:  # With it, type checkers would accept every name.

        def __getattr__(self, name: str) -> Any:
            methods = [method for method in dir(type(self)) if not method.startswith("_")]
            example = name if is_metric(name) else _FUNCTIONS.get(name)
            near = nearest(name, methods, cutoff=0.8)[:1]
            if example is not None:
                hint = f"metric(truth, {example!r}) gives it"
            else:
                hint = did_you_mean(near) if near else f"it has {', '.join(methods)}; frames have all functions"
            raise AttributeError(f".pr of an expression has no {shown(name)}: {hint}", name=name, obj=self)

    @public(_OPTIONS)
    def metric(self, truth: Column, name: str, *, positive: object = None, ascending: bool = False) -> pl.Expr:
        """Compute any metric by its name, as `evaluate` does.

        Parameters
        ----------
        truth : str or polars expression
            Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
        name : str
            The name of a metric.
        positive : optional
            The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
            occur.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up to it.

        Returns
        -------
        polars expression
            A column of that name, of the type that `evaluate` gives it.

        Raises
        ------
        ValueError, TypeError
            The metric name is unknown; `truth` is neither the name of a column nor an expression.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> mcc = pl.col("score").pr.metric("relevant", "mcc@threshold=0.7")
        >>> run.select(mcc.round(4)).item()
        0.1667
        """
        lowest_first = check_flag("ascending", ascending)
        # Rewrite the metric with columns: only for those does polars tell which names a formula reads.
        stated, named = metric(name, _FIELDS), metric(name)
        group = group_blocks(self._score, truth, positive, ascending=lowest_first)
        without_ranking = group.without_ranking(stated.cutoff)
        parts = {name: fact for name, fact in group.facts().items() if name in named.value.meta.root_names()}
        parts["validated"] = validate_rows(self._score, expression_of(truth), positive)
        for part, record in stated.aggregates[DEFAULT_TIES].items():
            columns = set(named.aggregates[DEFAULT_TIES][part].over.meta.root_names())
            if part in without_ranking:
                parts[part] = without_ranking[part]()
                continue
            if f"threshold@{part}" in named.value.meta.root_names():
                parts[f"threshold@{part}"] = group.threshold(record, columns)
            if part in named.value.meta.root_names():
                aggregate = group.threshold if record.kind.is_threshold else group.aggregate
                parts[part] = aggregate(record, columns)

        def value(validated: pl.Expr, **_: pl.Expr) -> pl.Expr:
            return pl.when(validated).then(stated.value)

        return bound(value, **parts).alias(name)

    @public(_OPTIONS)
    def average_precision(self, truth: Column, *, positive: object = None, ascending: bool = False) -> pl.Expr:
        """Compute average precision (AP), the area under the precision-recall curve.

        Parameters
        ----------
        truth : str or polars expression
            Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
        positive : optional
            The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
            occur.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up to it.

        Returns
        -------
        polars expression
            `average_precision` (Float64; null without positives).

        Raises
        ------
        TypeError
            Truth is not one column.

        See Also
        --------
        interpolated_average_precision, average_precision_at_k, curve, evaluate, intervals

        References
        ----------
        Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8. Cambridge University
        Press. https://doi.org/10.1017/CBO9780511809071

        McSherry and Najork (2008). Computing information retrieval performance measures efficiently in the presence of
        tied scores. ECIR. https://doi.org/10.1007/978-3-540-78646-7_38

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame(
        ...     {"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]}
        ... )
        >>> ap = pl.col("score").pr.average_precision("relevant")
        >>> run.group_by("query", maintain_order=True).agg(ap).rows()
        [(1, 1.0), (2, 0.5)]
        """
        return self.metric(truth, "average_precision", positive=positive, ascending=ascending)

    @public(_OPTIONS)
    def precision_at_k(self, truth: Column, k: int, *, positive: object = None, ascending: bool = False) -> pl.Expr:
        """Compute precision@k, the positives among the first k rows, divided by k also in smaller groups.

        Parameters
        ----------
        truth : str or polars expression
            Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
        k : int
            Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
        positive : optional
            The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
            occur.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up to it.

        Returns
        -------
        polars expression
            `precision@k` (Float64).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

        See Also
        --------
        recall_at_k, average_precision_at_k, r_precision, evaluate

        References
        ----------
        Manning, Raghavan and Schütze (2008). Introduction to Information Retrieval, chapter 8. Cambridge University
        Press. https://doi.org/10.1017/CBO9780511809071

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_k("relevant", 4)).item()
        0.75
        """
        return self.metric(truth, f"precision@{Rank.of(k)}", positive=positive, ascending=ascending)

    @public(_OPTIONS)
    def roc_auc(self, truth: Column, *, positive: object = None, ascending: bool = False) -> pl.Expr:
        """Compute ROC AUC, the share of pairs in which the positive scores higher; a tie counts as half.

        Parameters
        ----------
        truth : str or polars expression
            Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
        positive : optional
            The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
            occur.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up to it.

        Returns
        -------
        polars expression
            `roc_auc` (Float64; null without positives, or without negatives).

        Raises
        ------
        TypeError
            Truth is not one column.

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
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.roc_auc("relevant")).item()  # 2 + 1 of the 2 * 3 pairs
        0.5
        """
        return self.metric(truth, "roc_auc", positive=positive, ascending=ascending)

    @public(_OPTIONS)
    def ndcg(self, truth: Column, k: int | None = None, *, positive: object = None, ascending: bool = False) -> pl.Expr:
        """Compute nDCG with a gain of 1 for each positive; `ndcg` of frames accepts other gains.

        Parameters
        ----------
        truth : str or polars expression
            Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
        k : int, optional
            Cutoff: the first k rows are predicted positive. In a smaller group, the missing rows count as misses.
        positive : optional
            The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
            occur.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances. A threshold then selects the scores up to it.

        Returns
        -------
        polars expression
            `ndcg` or `ndcg@k` (Float64; null without positives).

        Raises
        ------
        ValueError, TypeError
            k is not a whole number above 0; truth is not one column.

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
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> ndcg = pl.col("score").pr.ndcg("relevant", 2)  # (1/log2(3)) / (1 + 1/log2(3))
        >>> run.select(ndcg.round(4)).item()
        0.3869
        """
        return self.metric(truth, "ndcg" if k is None else f"ndcg@{Rank.of(k)}", positive=positive, ascending=ascending)
