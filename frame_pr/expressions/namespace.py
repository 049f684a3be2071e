"""`.pr` on polars expressions: one value per group, inside `select`, `agg`, `rolling` or `over`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.expressions.group_values import GroupValues, dtype_of, expression_of
from frame_pr.frames.arguments import check_flag, names_of, public_function
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.inputs.options import Column
from frame_pr.metrics.cutoffs import Rank
from frame_pr.metrics.names import example_names, is_metric, meant_names, metric

_METHODS = ("metric", "average_precision", "precision_at_k", "roc_auc", "ndcg")


class ExprPR:
    """Give expressions of scores their `.pr`: `pl.col("score").pr`, typed as `ExprPR(pl.col(...))`.

    Every method returns an expression with one value per group, for `select`, `group_by(...).agg`,
    `group_by_dynamic`, `rolling` and ``.over(...)``, eager, lazy and streaming. Values and names
    are those of `evaluate`. An undefined value is null: ``.fill_null(0.0)`` fills it.

    When polars computes the expression, it raises a `ValueError` for missing scores or labels, for
    labels that are neither Boolean nor 0/1 (without `positive`), for scores that are not numbers,
    and for a score or label without one value per row. A `positive` that no row has is not an
    error, because a group may have no positives.

    `metric` with a list of names ranks the rows once for all of them, as `evaluate` does.

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
            raise TypeError(
                "score: ExprPR takes a polars expression, such as pl.col('score'); got "
                f"{shown(score)}"
            )
        self._score = expression_of("score", score)

    def __repr__(self) -> str:
        lines = [".pr of an expression; help(pl.col('score').pr.metric) has an example"]
        for name in _METHODS:
            sentence = str(getattr(self, name).__doc__).partition(".")[0]
            lines.append(f"  {name}: {sentence}")
        return "\n".join(lines)

    if not TYPE_CHECKING:  # With it, type checkers would accept every name.

        def __getattr__(self, name: str) -> Any:
            hint = f"it has {', '.join(_METHODS)}; frames have all functions"
            meant = [] if name.startswith("_") else meant_names(name)
            near = nearest(name, _METHODS, cutoff=0.8)[:1]
            if meant:
                hint = f"metric({example_names(meant[0])[0]!r}, truth) computes it"
            elif near:
                hint = did_you_mean(near)
            raise AttributeError(f".pr of an expression has no {shown(name)}: {hint}")

    @public_function
    def metric(
        self,
        names: str | Sequence[str],
        truth: Column,
        *,
        positive: object = None,
        ascending: bool = False,
    ) -> pl.Expr:
        """Compute any metric by its name, or a struct of several.

        Parameters
        ----------
        names : str or list of str
            The name of a metric, or several names, which give a struct named `metrics`.
        truth : str or polars expression
            Labels: Boolean, 0/1, or any labels together with `positive`.
        positive : optional
            The positive label of `truth`.
        ascending : bool
            Whether lower scores rank first, as for ranks and distances.

        Returns
        -------
        polars expression
            A column of that name, of the dtype that `evaluate` gives it.

        Raises
        ------
        ValueError, TypeError
            A name is unknown; `truth` is neither the name of a column nor an expression.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.metric("mcc@threshold=0.7", "relevant").round(4)).item()
        0.1667
        >>> several = pl.col("score").pr.metric(["roc_auc", "precision@2"], "relevant")
        >>> run.select(several).unnest("metrics").rows()
        [(0.8333333333333334, 1.0)]
        """
        listed = names_of("names", names, "names of metrics")
        if isinstance(truth, str) and is_metric(truth) and not is_metric(listed[0]):
            raise ValueError(
                f"the metric comes first, then truth: metric({truth!r}, {listed[0]!r})"
            )
        lowest_first = check_flag("ascending", ascending)
        label = expression_of("truth", truth)
        values = GroupValues(
            tuple(listed), _name_of(self._score), _name_of(label), positive, lowest_first
        )

        of_scores = pl.dtype_of(self._score)
        dtypes = {}
        for name in listed:
            dtypes[name] = of_scores if metric(name).kind == "threshold" else dtype_of(name)
        column = "metrics"
        dtype: Any = pl.struct_with_fields(dtypes)
        if isinstance(names, str):
            column = names
            dtype = dtypes[names]
        # A list for each group: polars calls the function once for all of them.
        lists = [self._score.implode(), label.implode()]
        result = pl.map_batches(lists, values.of_lists, return_dtype=dtype, is_elementwise=True)
        return result.alias(column)

    @public_function
    def average_precision(
        self, truth: Column, *, positive: object = None, ascending: bool = False
    ) -> pl.Expr:
        """Compute average precision (AP), the area under the precision-recall curve.

        `truth`, `positive` and `ascending` are those of `metric`. The result is null without
        positives.

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
        return self.metric("average_precision", truth, positive=positive, ascending=ascending)

    @public_function
    def precision_at_k(
        self, truth: Column, k: int | str, *, positive: object = None, ascending: bool = False
    ) -> pl.Expr:
        """Compute precision@k, the positives among the first k rows over k, also in smaller groups.

        `k` is a number of rows, or a share such as "10%". The other arguments are those of
        `metric`.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.precision_at_k("relevant", 4)).item()
        0.75
        """
        return self.metric(f"precision@{Rank.of(k)}", truth, positive=positive, ascending=ascending)

    @public_function
    def roc_auc(
        self, truth: Column, *, positive: object = None, ascending: bool = False
    ) -> pl.Expr:
        """Compute ROC AUC, the share of pairs in which the positive scores higher; a tie is half.

        `truth`, `positive` and `ascending` are those of `metric`. The result is null without
        positives or negatives.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.roc_auc("relevant")).item()  # 2 + 1 of the 2 * 3 pairs
        0.5
        """
        return self.metric("roc_auc", truth, positive=positive, ascending=ascending)

    @public_function
    def ndcg(
        self,
        truth: Column,
        k: int | str | None = None,
        *,
        positive: object = None,
        ascending: bool = False,
    ) -> pl.Expr:
        """Compute nDCG with a gain of 1 for each positive; `ndcg` of frames accepts other gains.

        `k` is a number of rows, or a share such as "10%". The other arguments are those of
        `metric`.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> ndcg = pl.col("score").pr.ndcg("relevant", 2)  # (1/log2(3)) / (1 + 1/log2(3))
        >>> run.select(ndcg.round(4)).item()
        0.3869
        """
        name = "ndcg" if k is None else f"ndcg@{Rank.of(k)}"
        return self.metric(name, truth, positive=positive, ascending=ascending)


def _name_of(column: pl.Expr) -> str:
    """Return the name of a column; empty if it may be several columns."""
    return column.meta.output_name(raise_if_undetermined=False) or ""
