"""Metrics of a frame that an engine keeps in parts: a shuffle by group, then the plain functions on each part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import refuse_missing, refuse_taken
from frame_pr.frames.engines import Engine
from frame_pr.frames.kinds import find_kind
from frame_pr.frames.wording import shown
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.request import Request
from frame_pr.metrics.means import Means, means_of
from frame_pr.parts.one_part import Call, Part, places
from frame_pr.parts.readings import Readings
from frame_pr.parts.score_ranges import evaluated, range_of, refuse_gain

OTHER = "of no row of the frame"
"""The column that tells groups of known totals from those of the frame."""
_SAMPLE = 1000  # rows of each part
_COLLECTED = {"pyspark": ".toPandas()", "dask": ".compute()"}


class Parts(Engine):
    """A frame in parts, of some engine."""

    @abstractmethod
    def columns(self) -> list[Any]:
        """The names of its columns."""

    @abstractmethod
    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """A part of these columns without rows, of the types that the parts have."""

    def categories(self, column: str) -> Sequence[Any]:
        """The labels that a column declares beside its type, be they in its rows or not."""
        return ()

    @abstractmethod
    def groups(self, call: Call) -> Any:
        """One row per group."""

    @abstractmethod
    def counted(self, call: Call, tallies: Call, first: Part, then: Part) -> Any:
        """What the second function makes of what the first one makes of each part, whole groups together."""

    @abstractmethod
    def averaged(self, groups: Any, call: Call, keys: Sequence[str], average: Part) -> Any:
        """One row for each value of these keys, by a function that averages the groups of a part."""

    @abstractmethod
    def with_others(self, groups: Any, others: pl.DataFrame, call: Call, keys: Sequence[str]) -> Any:
        """Rows of groups, and those of others that are not among them."""

    @abstractmethod
    def beside(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> Any:
        """The frame itself, part by part, with the columns that the function makes of each part at its right."""

    def evaluate(self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None) -> Any:
        """Metrics per group, and with `means` a second shuffle, of these, by the keys that are left."""
        call = self._call(request, named, undefined)
        empty = self.empty(call.columns())
        result = call.of_groups(empty, means)
        if means is None:
            return self._all_groups(call, empty)
        call = replace(call, named=means.columns(named))
        keys = means.left(call.of_groups(empty).drop(cs.by_name(*call.named)).columns)
        undefinable = [name for name in named if f"undefined_{name}" in result.columns]
        average = partial(_averaged, keys=keys, names=list(call.named), undefinable=undefinable, means=means)
        return self.averaged(self._all_groups(call, empty), call, keys, average)

    def _all_groups(self, call: Call, empty: pl.DataFrame) -> Any:
        """One row per group, of the frames of known totals, too."""
        groups = self.groups(call)
        if not (call.by and call.request.totals) or call.totals_in_rows():
            return groups
        others = call.of_groups(empty, all_groups=True)
        return self.with_others(groups, others, call, [name for name in others.columns if name not in call.named])

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Rows that are alike in each part, and then in all of them: so a part sends one row for those it has."""
        call = self._call(request, {}, None)
        policies: Any = {**request.policies, "count": "count"}
        tallies = replace(call, request=request._replace(positive=None, policies=policies))
        # Cut points are the same in all parts.
        cuts, number = (bins, None) if isinstance(bins, list) else (None, bins)
        return self.counted(call, tallies, partial(call.of_alike, bins=cuts), partial(tallies.of_alike, bins=number))

    def refuse_missing(self, columns: Sequence[Any], argument: str) -> None:
        """Every column that an argument names is there."""
        refuse_missing(columns, self.columns(), argument=argument)

    def with_metrics(self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None) -> Any:
        """Every row with the metrics of its group."""
        call = self._call(request, named, undefined)
        refuse_taken([prefix + name for name in named], self.columns())
        return self.beside(call.columns(), call.by, partial(call.of_rows, prefix=prefix))

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> Call:
        if request.ties == "order":
            raise ValueError(
                "ties='order' takes rows as they stand, and a shuffle moves them: give the column that orders them, "
                "tie_break=..."
            )
        for argument, items in request.arguments().items():
            for item in items:
                if isinstance(item, pl.Expr):
                    raise TypeError(f"{argument} takes names of columns where the frame is in parts, got {shown(item)}")
            self.refuse_missing(items, argument)
        # A total that is a frame goes to every part.
        kinds = {name: find_kind(total) for name, total in request.totals.items()}
        sent = {name: kind.read(kind.columns).collect() for name, kind in kinds.items() if kind is not None}
        for name, kind in kinds.items():
            total = request.totals[name]
            if kind is None and type(total).__module__.partition(".")[0] in _COLLECTED:
                way = _COLLECTED[type(total).__module__.partition(".")[0]]
                raise TypeError(
                    f"{name} takes a frame that is sent to every part, a polars or pandas one: {way} makes it"
                )
        request = request.with_totals(request.totals | sent)
        call = Call(request, named, undefined, self.categories(str(request.truth)))
        if named and not call.by:
            refuse_gain(call)
        return call


class Shuffled(Parts):
    """A frame in parts, of an engine that brings rows of one group together: what Spark and Dask do alike."""

    @abstractmethod
    def __init__(self, frame: Any) -> None:
        """Take a frame of the engine."""

    @abstractmethod
    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part, *, shuffled: bool = True) -> Any:
        """A frame of what the function makes of each part, whole groups of the keys, the first columns, in one part.

        If not `shuffled`, the parts are those that there are.
        """

    @abstractmethod
    def in_ranges(self, call: Call) -> Callable[[Part], pl.DataFrame]:
        """Cut the score into ranges; what a function makes of the parts, of whole ranges, comes here."""

    @abstractmethod
    def together(self, groups: Any, others: pl.DataFrame, keys: Sequence[str]) -> Any:
        """Rows of groups and of others, told apart by a column `OTHER`."""

    @abstractmethod
    def given(self, result: pl.DataFrame) -> Any:
        """A small result, as a frame of the engine."""

    def groups(self, call: Call) -> Any:
        """One row per group; without groups, the engine runs at once."""
        if call.by:
            return self.by_group(call.columns(), call.by, call.of_groups)
        readings = Readings()
        results = [
            evaluated(one, self.empty(one.columns()), readings.of(one, self.in_ranges(one))) for one in call.systems()
        ]
        return self.given(call.joined(results))

    def with_others(self, groups: Any, others: pl.DataFrame, call: Call, keys: Sequence[str]) -> Any:
        """A second shuffle, in which rows of one group meet."""
        own_first = partial(_own_first, columns=[*keys, OTHER, *call.named], keys=len(keys))
        both = type(self)(self.together(groups, others, keys))
        return both.by_group([*keys, OTHER, *call.named], keys, own_first)

    def counted(self, call: Call, tallies: Call, first: Part, then: Part) -> Any:
        """One shuffle, of tallies."""
        parts = type(self)(self.by_group(call.columns(), call.by, first, shuffled=False))
        return parts.by_group(tallies.columns(), call.by, then)

    def averaged(self, groups: Any, call: Call, keys: Sequence[str], average: Part) -> Any:
        """A second shuffle, by the keys that are left."""
        return type(self)(groups).by_group([*keys, *call.named], keys, average)


def sample_rows(part: pl.DataFrame) -> pl.DataFrame:
    """Some rows of a part."""
    return part.sample(min(_SAMPLE, part.height), seed=0)


def range_numbers(part: pl.DataFrame, score: str, cuts: pl.Series, ascending: bool) -> pl.DataFrame:
    """The column `RANGE` of a part."""
    return part.select(range_of(score, cuts, ascending=ascending))


def _own_first(part: pl.DataFrame, columns: Sequence[str], keys: int) -> pl.DataFrame:
    names = places(columns)
    table = part.sort(names[keys]).unique(names[:keys], keep="first", maintain_order=True) if keys else part
    return table.rename(dict(zip(names, columns, strict=True))).drop(OTHER)


def _averaged(
    part: pl.DataFrame, keys: Sequence[str], names: Sequence[str], undefinable: Sequence[str], means: Means
) -> pl.DataFrame:
    # The figures under their names: those of the keys may be anything.
    figures = {str(len(keys) + i): name for i, name in enumerate(names)}
    result = means_of(part.rename(figures).lazy(), places(keys), names, undefinable, means).collect()
    return result.rename(dict(zip(places(keys), keys, strict=True)))
