"""Metrics of a frame that an engine keeps in parts: a shuffle by group, then the plain functions on each part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from frame_pr import checks
from frame_pr.arguments import each
from frame_pr.callers import Engine
from frame_pr.evaluation import evaluate, means, with_metrics

Part = Callable[[pl.DataFrame], pl.DataFrame]
"""What is done to a part; it travels to the workers."""


@dataclass(frozen=True)
class Call:
    """What the caller asked for."""

    names: Sequence[str]
    truth: Any
    score: Any
    by: list[str]
    positive: object
    undefined: float | None
    policies: dict[str, Any]

    def columns(self) -> list[str]:
        """The columns that are used."""
        others = (self.policies.get(name) for name in ("weight", "tie_break", "positives", "rows"))
        scores = [self.score] if isinstance(self.score, str) else self.score
        # A total that is no column is a frame of its own.
        return list(dict.fromkeys([*self.by, self.truth, *scores, *(name for name in others if isinstance(name, str))]))

    def of_groups(self, part: pl.DataFrame, mean_over: Sequence[str] | None = None) -> pl.DataFrame:
        """One row per group of the part."""
        return evaluate(
            self._labelled(part),
            self.names,
            self.truth,
            self.score,
            by=self.by,
            mean_over=mean_over,
            undefined=self.undefined,
            **self.policies,
        )

    def of_rows(self, part: pl.DataFrame, prefix: str) -> pl.DataFrame:
        """The new columns of each row of the part, in its order."""
        rows = with_metrics(
            self._labelled(part),
            self.names,
            self.truth,
            self.score,
            prefix=prefix,
            by=self.by,
            undefined=self.undefined,
            **self.policies,
        )
        return rows.select(prefix + name for name in self.names)

    def _labelled(self, part: pl.DataFrame) -> pl.DataFrame:
        if self.positive is None:
            return part
        # Boolean from here on: a part may well hold no row of the positive label, which is an error in a whole frame.
        dtype = part.schema[self.truth]
        if dtype.is_float():
            part = part.with_columns(pl.col(self.truth).fill_nan(None))
        return part.with_columns(checks.is_positive(self.truth, self.truth, dtype, self.positive))


class Parts(Engine):
    """A frame in parts, of some engine: what Spark and Dask do alike."""

    @abstractmethod
    def __init__(self, frame: Any) -> None:
        """Take a frame of the engine."""

    @abstractmethod
    def columns(self) -> list[str]:
        """The names of its columns."""

    @abstractmethod
    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """These columns without rows, of the types that the parts have."""

    @abstractmethod
    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> Any:
        """A frame of what the function makes of each part, whole groups of the keys being in one part."""

    @abstractmethod
    def beside(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> Any:
        """The frame itself, part by part, with the columns that the function makes of each part at its right."""

    def evaluate(
        self,
        names: Sequence[str],
        truth: Any,
        score: Any,
        *,
        by: Any,
        mean_over: Any,
        positive: object,
        undefined: float | None,
        **policies: Any,
    ) -> Any:
        """Metrics per group, and with `mean_over` a second shuffle, of these, by the keys that are left."""
        call = self._call(names, truth, score, by, positive, undefined, policies)
        if mean_over is None:
            return self.by_group(call.columns(), call.by, call.of_groups)
        over, empty = each("mean_over", mean_over), self.empty(call.columns())
        result = call.of_groups(empty, over)
        keys = [key for key in call.of_groups(empty).drop(names).columns if key not in over]
        undefinable = [name for name in names if f"undefined_{name}" in result.columns]
        average = partial(_averaged, keys=keys, names=names, undefinable=undefinable)
        groups = self.by_group(call.columns(), call.by, call.of_groups)
        return type(self)(groups).by_group([*keys, *names], keys, average)

    def with_metrics(
        self,
        names: Sequence[str],
        truth: Any,
        score: Any,
        *,
        prefix: str,
        by: Any,
        positive: object,
        undefined: float | None,
        **policies: Any,
    ) -> Any:
        """Every row with the metrics of its group."""
        call = self._call(names, truth, score, by, positive, undefined, policies)
        checks.refuse_taken([prefix + name for name in names], self.columns())
        return self.beside(call.columns(), call.by, partial(call.of_rows, prefix=prefix))

    def _call(
        self,
        names: Sequence[str],
        truth: Any,
        score: Any,
        by: Any,
        positive: object,
        undefined: float | None,
        policies: dict[str, Any],
    ) -> Call:
        if policies.get("ties") == "order":
            raise ValueError(
                "ties='order' takes rows as they stand, and a shuffle moves them: give the column that orders them, "
                "tie_break=..."
            )
        scores = _names("score", score)
        # A total that is a frame goes to every part.
        sent = {name: value.collect() if isinstance(value, pl.LazyFrame) else value for name, value in policies.items()}
        for name in ("weight", "tie_break", "positives", "rows"):
            if isinstance(value := sent.get(name), pl.Expr):
                _names(name, value)
        call = Call(
            names=names,
            truth=_names("truth", truth)[0],
            score=score if isinstance(score, str) else scores,
            by=[] if by is None else _names("by", by),
            positive=positive,
            undefined=undefined,
            policies=sent,
        )
        checks.refuse_missing(call.columns(), self.columns())
        return call


def _names(argument: str, value: Any) -> list[str]:
    names = checks.listed(argument, value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument} takes names of columns on Spark and Dask, got {name!r}")
    return names


def _averaged(
    groups: pl.DataFrame, keys: Sequence[str], names: Sequence[str], undefinable: Sequence[str]
) -> pl.DataFrame:
    return means(groups.lazy(), keys, names, undefinable).collect()
