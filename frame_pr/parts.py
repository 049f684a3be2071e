"""Metrics of a frame that an engine keeps in parts: a shuffle by group, then the plain functions on each part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

from frame_pr import checks
from frame_pr.arguments import each
from frame_pr.callers import Engine
from frame_pr.calls import Call, Part
from frame_pr.evaluation import means
from frame_pr.score_ranges import evaluated, range_of
from frame_pr.totals import as_polars

_SAMPLE = 1000  # rows of each part


class Parts(Engine):
    """A frame in parts, of some engine."""

    @abstractmethod
    def columns(self) -> list[str]:
        """The names of its columns."""

    @abstractmethod
    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """These columns without rows, of the types that the parts have."""

    @abstractmethod
    def groups(self, call: Call) -> Any:
        """One row per group."""

    @abstractmethod
    def averaged(self, groups: Any, call: Call, keys: Sequence[str], average: Part) -> Any:
        """One row for each value of these keys, by a function that averages the groups of a part."""

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
        over, empty = None if mean_over is None else each("mean_over", mean_over), self.empty(call.columns())
        result = call.of_groups(empty, over)
        groups = self.groups(call)
        if over is None:
            return groups
        keys = [key for key in call.of_groups(empty).drop(names).columns if key not in over]
        undefinable = [name for name in names if f"undefined_{name}" in result.columns]
        average = partial(_averaged, keys=keys, names=names, undefinable=undefinable)
        return self.averaged(groups, call, keys, average)

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
        sent = {name: as_polars(value) for name, value in policies.items()}
        sent = {name: value.collect() if isinstance(value, pl.LazyFrame) else value for name, value in sent.items()}
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


class Shuffled(Parts):
    """A frame in parts, of an engine that brings rows of one group together: what Spark and Dask do alike."""

    @abstractmethod
    def __init__(self, frame: Any) -> None:
        """Take a frame of the engine."""

    @abstractmethod
    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> Any:
        """A frame of what the function makes of each part, whole groups of the keys being in one part."""

    @abstractmethod
    def in_ranges(self, call: Call) -> Callable[[Part], pl.DataFrame]:
        """Cut the score into ranges; what a function makes of the parts, of whole ranges, comes here."""

    @abstractmethod
    def given(self, result: pl.DataFrame) -> Any:
        """A small result, as a frame of the engine."""

    def groups(self, call: Call) -> Any:
        """One row per group; without groups, the engine runs at once."""
        if call.by:
            return self.by_group(call.columns(), call.by, call.of_groups)
        empty = self.empty(call.columns())
        return self.given(call.joined([evaluated(one, empty, self.in_ranges(one)) for one in call.systems()]))

    def averaged(self, groups: Any, call: Call, keys: Sequence[str], average: Part) -> Any:
        """A second shuffle, by the keys that are left."""
        return type(self)(groups).by_group([*keys, *call.names], keys, average)


def sampled(part: pl.DataFrame) -> pl.DataFrame:
    """Some rows of a part."""
    return part.sample(min(_SAMPLE, part.height), seed=0)


def range_numbers(part: pl.DataFrame, score: str, cuts: pl.Series) -> pl.DataFrame:
    """The column `RANGE` of a part."""
    return part.select(range_of(score, cuts))


def _names(argument: str, value: Any) -> list[str]:
    names = checks.listed(argument, value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument} takes names of columns where the frame is in parts, got {name!r}")
    return names


def _averaged(
    groups: pl.DataFrame, keys: Sequence[str], names: Sequence[str], undefinable: Sequence[str]
) -> pl.DataFrame:
    return means(groups.lazy(), keys, names, undefinable).collect()
