"""The columns that the caller named, under names of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Generic

import polars as pl

from frame_pr.frames.columns import (
    by_name,
    computed,
    expanded,
    expanded_one,
    needed,
    plain_names,
    refuse_clash,
    refuse_repeats,
)
from frame_pr.frames.kinds import SMALL, Frame, FrameKind, kind_of
from frame_pr.inputs.request import Request
from frame_pr.inputs.tally_frames import refuse_tally
from frame_pr.inputs.values import refuse_carried


@dataclass(frozen=True)
class Selection(Generic[Frame]):
    """The columns that the caller named, under names of our own; these, with the caller's."""

    source: pl.LazyFrame
    columns: dict[str, pl.Expr]
    """What is made of the source."""
    arguments: dict[str, str]
    """The columns that are expressions of the caller, with the arguments that gave them."""
    keys: dict[str, str]
    """`by0`, `by1`, ..."""
    scores: dict[str, str]
    """`0`, `1`, ..."""
    others: dict[str, str]
    """`truth`, and where given `weight`, `count`, `gain`, `tie_break`, `positives`, `rows`."""
    several: bool
    """Whether the scores are systems; there can be one."""
    kind: FrameKind[Frame]

    @cached_property
    def frame(self) -> pl.LazyFrame:
        """The columns, not computed yet."""
        return self.source.select(**self.columns)

    @cached_property
    def schema(self) -> pl.Schema:
        """The types of the columns."""
        return self.frame.collect_schema()

    def compute(self, check: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.LazyFrame:
        """The columns, past a check of what they hold: now where the frame is in memory, else when it is collected."""
        if (height := self.kind.height) is not None:
            data = computed(self.frame, self.source, self.columns, self.arguments, height)
            # Small frames in one piece, as every step takes its time for each of the pieces.
            return check(data.rechunk() if height < SMALL else data).lazy()
        table = self.frame
        if self.arguments:
            compute = partial(_computed, columns=self.columns, arguments=self.arguments)
            read = needed(self.source, self.columns.values())
            table = self.source.select(map(by_name, read)).map_batches(
                compute,
                schema=self.schema,
                predicate_pushdown=False,
                projection_pushdown=False,
                slice_pushdown=False,
            )
        # Cached, as the groups are numbered from it too: it is read once, and cannot differ between two readings.
        return table.map_batches(check, schema=self.schema).cache()


def selected(frame: Frame, request: Request, *, carry: bool) -> Selection[Frame]:
    """Find the columns that the caller named."""
    kind, named_columns = kind_of(frame), request.arguments
    for argument, items in named_columns.items():
        kind.refuse_missing(items, argument)
    source = refuse_tally(kind, kind.read(request.columns()), request)
    if carry and kind.carried:
        refuse_carried(source.collect_schema())
    by, of_truth, of_scores, *_ = named_columns
    keys, scores = (expanded(source, argument, named_columns[argument]) for argument in (by, of_scores))
    single = {name: expanded_one(source, name, item) for name, item in request.single.items()}
    in_parts = [item for argument in (by, of_truth, of_scores) for item in named_columns[argument]]
    refuse_repeats([name for item in in_parts for name in plain_names(source, item)])
    several = request.several or len(scores) > 1
    if several and carry:
        raise ValueError(f"score gives {len(scores)} columns: metric columns beside the rows take one score at a time")
    if several:
        refuse_clash(keys, ["system"])
    named = {by: {f"by{i}": column for i, column in enumerate(keys.values())}}
    named |= {of_scores: {str(i): column for i, column in enumerate(scores.values())}}
    named |= {name: {name: column} for name, (_, column) in single.items()}
    asked = {argument: any(isinstance(item, pl.Expr) for item in items) for argument, items in named_columns.items()}
    return Selection(
        source=source,
        columns={name: column for each in named.values() for name, column in each.items()}
        | dict(kind.carried if carry else {}),
        arguments={name: argument for argument, each in named.items() if asked[argument] for name in each},
        keys={f"by{i}": name for i, name in enumerate(keys)},
        scores={str(i): name for i, name in enumerate(scores)},
        others={name: column for name, (column, _) in single.items()},
        several=several,
        kind=kind,
    )


def _computed(frame: pl.DataFrame, columns: dict[str, pl.Expr], arguments: dict[str, str]) -> pl.DataFrame:
    source = frame.lazy()
    return computed(source.select(**columns), source, columns, arguments, frame.height)
