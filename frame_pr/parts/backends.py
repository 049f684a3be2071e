"""The base of partitioned, Spark and Dask frames: functions run on parts with whole groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import refuse_existing, refuse_missing
from frame_pr.frames.dispatch import Backend
from frame_pr.frames.messages import shown
from frame_pr.functions.tallies import Bins, tallied
from frame_pr.inputs.request import Request, kind_of_totals
from frame_pr.metrics.means import Means, means_of
from frame_pr.parts.part_query import PART, Names, Part, PartQuery, with_names
from frame_pr.parts.score_ranges import (
    RANGE,
    OverRanges,
    evaluate_ranges,
    range_number,
    refuse_whole_group,
)

ONLY_TOTALS = "only in totals of frame_pr"
"""The column that separates groups of known totals from those of the frame."""
RESERVED = (ONLY_TOTALS, PART, RANGE)
"""Names of columns that parts have next to the caller's."""
_SAMPLE_OF_PART = 1000  # Rows of each part in a sample.


class Distributed(Backend[Any]):
    """A frame in parts. Subclasses move rows: they know nothing of metrics."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def columns(self) -> list[Any]:
        """Return the names of its columns."""
        return list(self.frame.columns)

    @abstractmethod
    def empty(self, columns: Names) -> pl.DataFrame:
        """Return these columns without rows, with the dtypes of the parts."""

    @abstractmethod
    def map_parts(
        self, columns: Names, keys: Names, function: Part, *, shuffled: bool = True
    ) -> Any:
        """Apply a function to these columns of each part.

        Keys, the first columns, keep their types.

        The rows of a group are in one part. If not `shuffled`, the parts stay as they are.
        """

    @abstractmethod
    def union(self, groups: Any, others: pl.DataFrame) -> Any:
        """Combine a result with other groups; a column `ONLY_TOTALS` tells them apart."""

    @abstractmethod
    def groups(self, query: PartQuery) -> Any:
        """Compute one row per group."""

    def evaluate(
        self,
        request: Request,
        named: Mapping[str, str],
        means: Means | None,
        undefined: float | None,
    ) -> Any:
        """Compute metrics per group, and with `means` their means, after a second shuffle."""
        query = self.query_of(request, named, undefined)
        empty = self.empty(query.columns())
        # Wrong names and types are an error before any row is read.
        result = query.of_groups(empty, means)
        if means is None:
            return self._all_groups(query, empty)
        query = replace(query, named={**named, **means.totals})
        keys = means.left(query.of_groups(empty).drop(cs.by_name(*query.named)).columns)
        average = partial(
            _means_of_part,
            keys=keys,
            metrics=list(named),
            means=means,
            undefinable="undefined" in result.columns,
        )
        groups = type(self)(self._all_groups(query, empty))
        return groups.map_parts([*keys, *query.named], keys, average)

    def _all_groups(self, query: PartQuery, empty: pl.DataFrame) -> Any:
        """Compute one row per group, also for groups that only frames of known totals have."""
        groups = self.groups(query)
        if not (query.by and query.request.totals) or query.totals_in_rows():
            return groups
        others = query.of_groups(empty, all_groups=True)
        keys = [name for name in others.columns if name not in query.named]
        both = type(self)(self.union(groups, others))
        return both.map_parts(
            [*keys, ONLY_TOTALS, *query.named], keys, partial(_prefer_rows, keys=keys)
        )

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Aggregate equal rows in each part, and then those of all parts."""
        query = self.query_of(request, {}, None)
        merged = query.with_counts("count")
        # Edges are the same in all parts, and a number of bins needs all rows.
        has_edges = isinstance(bins, list)
        count = partial(tallied, request=query.request, bins=bins if has_edges else None)
        merge = partial(tallied, request=merged.request, bins=None if has_edges else bins)
        # Wrong names and types are an error before any row is read.
        count(self.empty(query.columns()))
        parts = type(self)(self.map_parts(query.columns(), query.by, count, shuffled=False))
        return parts.map_parts(merged.columns(), query.by, merge)

    def query_of(
        self, request: Request, named: Mapping[str, str], undefined: float | None
    ) -> PartQuery:
        """Check the columns of a request, and bring frames of totals into memory."""
        if request.tie_rule.by_row:
            raise ValueError(
                f"ties={request.ties!r} uses the order of the rows, and a shuffle moves them: "
                "give the column that "
                "orders the rows, tie_break=..."
            )
        names = {
            argument: self.names_of(argument, items)
            for argument, items in request.arguments.items()
        }
        request = with_names(request.in_parts(), names)
        frames: Any = {}
        for name, total in request.frames.items():
            kind = kind_of_totals(name, total)
            frames[name] = kind.read(kind.columns).collect()
        return PartQuery(request._replace(frames=frames), named, undefined)

    def names_of(self, argument: str, columns: Sequence[Any]) -> list[str]:
        """Return the names of columns as text.

        Each column that an argument names must exist once.
        """
        for column in columns:
            if isinstance(column, pl.Expr):
                raise TypeError(
                    f"{argument} takes names of columns where the frame is in parts, got "
                    f"{shown(column)}: add it "
                    "to the frame as a column before the call, and give its name"
                )
        refuse_missing(columns, self.columns(), argument=argument)
        names = [str(column) for column in columns]
        names_of_frame = [str(name) for name in self.columns()]
        for name in names:
            if name in RESERVED:
                raise ValueError(
                    f"{argument}: {shown(name)} is a name that frame_pr gives to a column of its "
                    "own; rename the column before the call"
                )
            if names_of_frame.count(name) > 1:
                raise ValueError(
                    f"the frame has several columns named {shown(name)}: rename them before the "
                    "call"
                )
        return names


class Shuffled(Distributed):
    """A frame whose backend moves rows between processes, such as Spark and Dask."""

    @abstractmethod
    def partitions(self) -> int:
        """Return the number of parts after a shuffle."""

    @abstractmethod
    def append_columns(self, columns: Names, keys: Names | None, function: Part) -> Any:
        """Return the frame with the columns that the function computes for each part appended.

        Keys, the first columns, are shuffled as in `map_parts`. None: the parts stay as they are.
        """

    @abstractmethod
    def collected(self, columns: Names, function: Part) -> pl.DataFrame:
        """Apply a function to these columns of each part, and concatenate the results."""

    @abstractmethod
    def in_ranges(self, columns: Names, number: Part) -> AbstractContextManager[OverRanges]:
        """Shuffle these columns by the range of each row, which is added as the column `RANGE`.

        Yields what applies a function to the new parts. The rows are the same each time, also if
        the source of the frame is random.
        """

    @abstractmethod
    def from_polars(self, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of the backend."""

    def groups(self, query: PartQuery) -> Any:
        """Compute one row per group.

        Without groups, the backend runs at once, on ranges of scores.
        """
        if query.by:
            return self.map_parts(query.columns(), query.by, query.of_groups)
        refuse_whole_group(query)
        results = []
        for system in query.systems():
            sample = self.collected(system.scores, _sample_rows).to_series()
            number = methodcaller("select", range_number(system, sample, self.partitions()))
            with self.in_ranges(system.columns(), number) as over_ranges:
                if query.request.positive is not None:
                    query.refuse_label([over_ranges(system.labels_of)])
                results.append(evaluate_ranges(system, self.empty(system.columns()), over_ranges))
        return self.from_polars(query.joined(results))

    def with_metrics(
        self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None
    ) -> Any:
        """Return every row with the metrics of its group."""
        query = self.query_of(request, named, undefined)
        refuse_existing([prefix + name for name in named], self.columns())
        return self.append_columns(query.columns(), query.by, partial(query.of_rows, prefix=prefix))


def _sample_rows(part: pl.DataFrame) -> pl.DataFrame:
    return part.sample(min(_SAMPLE_OF_PART, part.height), seed=0)


def _means_of_part(part: pl.DataFrame, **arguments: Any) -> pl.DataFrame:
    return means_of(part.lazy(), **arguments).collect()


def _prefer_rows(part: pl.DataFrame, keys: Names) -> pl.DataFrame:
    """Return one row per group: that of the rows of the frame if there is one."""
    return (
        part.sort(ONLY_TOTALS)
        .unique(cs.by_name(*keys), keep="first", maintain_order=True)
        .drop(ONLY_TOTALS)
    )
