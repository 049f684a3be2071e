"""Any metric, by its name, as an expression of one value per group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import polars as pl

from frame_pr.expressions.blocks import bound, expression_of, group_blocks
from frame_pr.expressions.checks import checked, single
from frame_pr.frames.arguments import advice, flag
from frame_pr.frames.wording import did_you_mean, nearest, shown
from frame_pr.inputs.policies import Column, Policies
from frame_pr.inputs.tie_rules import DEFAULT_TIES
from frame_pr.metrics.aggregates import Blocks
from frame_pr.metrics.completion import MetricName
from frame_pr.metrics.names import metric

_FIELDS = Blocks(pl.field, one_group=True)


_NO_POLICIES = "an expression takes no policies: the function of the same name does"


class MetricExpressions:
    """Metrics of a score expression, by name."""

    def __init__(self, score: pl.Expr) -> None:
        if not isinstance(score, pl.Expr):
            raise TypeError(f"score: ExprPR takes a polars expression, such as pl.col('score'); got {shown(score)}")
        self._score = single(score)

    if not TYPE_CHECKING:  # else every name would be one

        def __getattr__(self, name: str) -> Any:
            methods = [method for method in dir(type(self)) if not method.startswith("_")]
            near = nearest(name, methods, cutoff=0.7)[:1]
            hint = did_you_mean(near) if near else f"it has {', '.join(methods)}"
            raise AttributeError(f".pr of an expression has no {shown(name)}, {hint}", name=name, obj=self)

    def metric(
        self, truth: Column, name: MetricName, *, positive: object = None, ascending: bool = False, **others: Never
    ) -> pl.Expr:
        """Any metric by its name, as `evaluate` takes it.

        Parameters
        ----------
        truth : str or polars expression
            Whether a row is positive: boolean, 0/1, or any labels with `positive`.
        name : str
            The name of a metric.
        positive : optional
            The label of `truth` that is the positive one.
        **others
            None: policies are those of the functions of the same name.

        Returns
        -------
        polars expression
            A column of that name, of the type that `evaluate` gives it.

        Raises
        ------
        ValueError, TypeError
            The name is no metric's; `truth` is neither the name of a column nor an expression.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_pr as fp
        >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
        >>> run.select(pl.col("score").pr.metric("relevant", "mcc@threshold=0.7")).item().__round__(4)
        0.1667
        """
        _refuse_others(others)
        smallest_first = flag("ascending", ascending)
        # Only of columns polars tells which ones a formula names: the same metric once more, of columns.
        stated, named = metric(name, _FIELDS), metric(name)
        group = group_blocks(self._score, truth, positive, ascending=smallest_first)
        without_ranking = group.without_ranking(stated.cut)
        parts = {name: fact for name, fact in group.facts().items() if name in named.value.meta.root_names()}
        parts["checked"] = checked(self._score, expression_of(truth), positive)
        for part, one in stated.aggregates[DEFAULT_TIES].items():
            columns = set(named.aggregates[DEFAULT_TIES][part].over.meta.root_names())
            if part in without_ranking:
                parts[part] = without_ranking[part]()
                continue
            if f"threshold@{part}" in named.value.meta.root_names():
                parts[f"threshold@{part}"] = group.threshold(one, columns)
            if part in named.value.meta.root_names():
                found = group.threshold if one.how in ("strictest", "loosest") else group.aggregate
                parts[part] = found(one, columns)

        def value(checked: pl.Expr, **_: pl.Expr) -> pl.Expr:
            return pl.when(checked).then(stated.value)

        return bound(value, **parts).alias(name)


def _refuse_others(others: dict[str, Any]) -> None:
    for word in others:
        own = "" if word in Policies.__annotations__ else advice(word, ["positive", "ascending"])
        raise TypeError(f"unexpected keyword argument {shown(word)}; {own or _NO_POLICIES}")
