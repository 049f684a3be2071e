"""Metrics of a distributed frame: shuffle by group, then run the functions on each part, in one or several passes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.frames.columns import refuse_existing, refuse_missing, refuse_repeats
from frame_pr.frames.kinds import Backend, backend_class, find_kind, kind_of
from frame_pr.frames.messages import shown
from frame_pr.functions.tallies import Bins
from frame_pr.inputs.data_warnings import may_be_tally, warn_of_tally
from frame_pr.inputs.request import Request
from frame_pr.metrics.means import Means, means_of
from frame_pr.parts.part_query import Part, PartQuery, places
from frame_pr.parts.score_ranges import RANGE, evaluate_ranges, range_edges, range_of, refuse_gain

OTHER = "of no row of the frame"
"""The column that separates groups of known totals from those of the frame."""
_SAMPLE = 1000  # Rows of each part in a sample.
_FIRST = 100_000  # Rows at the start of a frame that show whether it is a tally.


class Remote(Backend[Any]):
    """A frame whose rows are not in memory, and whose columns have names and known dtypes."""

    place = "parts"
    order = "a shuffle moves them"
    """Why rows have no order."""
    new_column = "frame.with_columns(name=...)"
    """How a caller adds a column."""

    @abstractmethod
    def columns(self) -> list[Any]:
        """Return the names of its columns."""

    @abstractmethod
    def empty(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return these columns without rows, with the dtypes of the parts."""

    def categories(self, column: str) -> Sequence[Any]:
        """Return the labels that a column declares in its dtype, whether rows have them or not."""
        return ()

    def refuse_missing(self, columns: Sequence[Any], argument: str) -> None:
        """Check that every column that an argument names exists."""
        refuse_missing(columns, self.columns(), argument=argument)

    def refuse_tally(self, request: Request, first_rows: Callable[[int], pl.DataFrame]) -> None:
        """Warn of a tally whose `count` the call does not use. `first_rows`: reads this many rows of the frame."""
        # A part has only the columns that the call reads, and `count` is not one of them.
        if may_be_tally(self.columns(), request):
            rows = first_rows(_FIRST)
            warn_of_tally(kind_of(rows), rows.lazy(), request)

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> PartQuery:
        if request.tie_rule.by_row:
            raise ValueError(
                f"ties={request.ties!r} uses the order of the rows, and {self.order}: give the column that orders the "
                "rows, tie_break=..."
            )
        refuse_repeats(request.parts())
        for argument, items in request.arguments.items():
            for item in items:
                if isinstance(item, pl.Expr):
                    raise TypeError(
                        f"{argument} takes names of columns where the frame is in {self.place}, got {shown(item)}: add "
                        f"the column before the call, {self.new_column}, and give its name"
                    )
            self.refuse_missing(items, argument)
        # A total that is a frame goes to every part, and so does a frame of prevalences.
        policies: Any = dict(request.policies)
        for name, total in {**request.totals, "prevalence": request.prevalence}.items():
            if kind := find_kind(total):
                policies[name] = kind.read(kind.columns).collect()
            elif backend := backend_class(total):
                raise TypeError(
                    f"{name} takes a frame that is sent to every part, a polars or pandas one: give {backend.in_memory}"
                )
        request = replace(request, policies=policies)
        return PartQuery(request, named, undefined, self.categories(str(request.truth)))


class Parts(Remote):
    """A frame in parts. The functions run on one part after the other, or on each part in its own process."""

    @abstractmethod
    def groups(self, call: PartQuery) -> Any:
        """Compute one row per group."""

    @abstractmethod
    def tally_parts(self, call: PartQuery, tallies: PartQuery, first: Part, then: Part) -> Any:
        """Apply `first` to each part and `then` to the results, with whole groups together."""

    @abstractmethod
    def averaged(self, groups: Any, call: PartQuery, keys: Sequence[str], average: Part) -> Any:
        """Compute one row for each value of these keys, with a function that averages the groups of a part."""

    @abstractmethod
    def with_others(self, groups: Any, others: pl.DataFrame, call: PartQuery, keys: Sequence[str]) -> Any:
        """Append groups that are not among the rows."""

    @abstractmethod
    def append_columns(self, columns: Sequence[str], keys: Sequence[str], function: Part) -> Any:
        """Return the frame with the columns that the function computes for each part appended."""

    def evaluate(self, request: Request, named: Mapping[str, str], means: Means | None, undefined: float | None) -> Any:
        """Compute metrics per group, and with `means` aggregate them by the remaining keys after a second shuffle."""
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

    def _all_groups(self, call: PartQuery, empty: pl.DataFrame) -> Any:
        """Compute one row per group, also for groups that only frames of known totals have."""
        groups = self.groups(call)
        if not (call.by and call.request.totals) or call.totals_in_rows():
            return groups
        others = call.of_groups(empty, all_groups=True)
        return self.with_others(groups, others, call, [name for name in others.columns if name not in call.named])

    def tally(self, request: Request, bins: Bins | None) -> Any:
        """Aggregate equal rows in each part, and then across parts: a part sends one row for each distinct one."""
        call = self._call(request, {}, None)
        policies: Any = {**request.policies, "count": "count"}
        tallies = replace(call, request=replace(request, positive=None, policies=policies))
        # Cut points are the same in all parts.
        edges, number = (bins, None) if isinstance(bins, list) else (None, bins)
        return self.tally_parts(
            call, tallies, partial(call.of_equal_rows, bins=edges), partial(tallies.of_equal_rows, bins=number)
        )

    def with_metrics(self, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None) -> Any:
        """Return every row with the metrics of its group."""
        call = self._call(request, named, undefined)
        refuse_existing([prefix + name for name in named], self.columns())
        return self.append_columns(call.columns(), call.by, partial(call.of_rows, prefix=prefix))

    def _call(self, request: Request, named: Mapping[str, str], undefined: float | None) -> PartQuery:
        call = super()._call(request, named, undefined)
        if named and not call.by:
            refuse_gain(call)
        return call


class Shuffled(Parts):
    """A distributed frame whose backend can bring the rows of a group together: what Spark and Dask have in common."""

    @abstractmethod
    def __init__(self, frame: Any) -> None:
        """Wrap a frame of the backend."""

    @abstractmethod
    def by_group(self, columns: Sequence[str], keys: Sequence[str], function: Part, *, shuffled: bool = True) -> Any:
        """Apply the function to each part, with whole groups of the keys, the first columns, in one part.

        If not `shuffled`, the parts stay as they are.
        """

    @abstractmethod
    def in_ranges(self, call: PartQuery) -> Callable[[Part], pl.DataFrame]:
        """Split the score into ranges, and apply functions to parts of whole ranges."""

    @abstractmethod
    def together(self, groups: Any, others: pl.DataFrame, keys: Sequence[str]) -> Any:
        """Combine rows of groups with others; a column `OTHER` tells them apart."""

    @abstractmethod
    def from_result(self, result: pl.DataFrame) -> Any:
        """Return a small result as a frame of the backend."""

    def groups(self, call: PartQuery) -> Any:
        """Compute one row per group. Without groups, the backend runs at once."""
        if call.by:
            return self.by_group(call.columns(), call.by, call.of_groups)
        passes = Passes()
        results = [
            evaluate_ranges(system, self.empty(system.columns()), passes.of(system, self.in_ranges(system)))
            for system in call.systems()
        ]
        return self.from_result(call.joined(results))

    def with_others(self, groups: Any, others: pl.DataFrame, call: PartQuery, keys: Sequence[str]) -> Any:
        """Shuffle again, so that the rows of a group are together."""
        columns, both = [*keys, OTHER, *call.named], type(self)(self.together(groups, others, keys))
        return both.by_group(columns, keys, partial(_frame_groups_first, columns=columns, keys=len(keys)))

    def tally_parts(self, call: PartQuery, tallies: PartQuery, first: Part, then: Part) -> Any:
        """Shuffle tallies once."""
        parts = type(self)(self.by_group(call.columns(), call.by, first, shuffled=False))
        return parts.by_group(tallies.columns(), call.by, then)

    def averaged(self, groups: Any, call: PartQuery, keys: Sequence[str], average: Part) -> Any:
        """Shuffle again by the remaining keys."""
        return type(self)(groups).by_group([*keys, *call.named], keys, average)


def sample_rows(part: pl.DataFrame) -> pl.DataFrame:
    """Sample rows of a part."""
    return part.sample(min(_SAMPLE, part.height), seed=0)


def range_numbering(call: PartQuery, sample: pl.DataFrame, ranges: int) -> Part:
    """Return a function that computes the column `RANGE` of a part, for this number of ranges. `sample`: of scores."""
    edges = range_edges(sample.to_series(), ranges)
    return partial(_range_numbers, score=call.score, edges=edges, ascending=call.request.ascending)


def _range_numbers(part: pl.DataFrame, score: str, edges: pl.Series, ascending: bool) -> pl.DataFrame:
    return part.select(range_of(score, edges, ascending=ascending))


def _frame_groups_first(part: pl.DataFrame, columns: Sequence[str], keys: int) -> pl.DataFrame:
    """Return one row per group, that of the frame if there is one. The first `keys` columns are the keys."""
    names = places(columns)
    table = part.sort(names[keys]).unique(names[:keys], keep="first", maintain_order=True) if keys else part
    return table.rename(dict(zip(names, columns, strict=True))).drop(OTHER)


def _averaged(
    part: pl.DataFrame, keys: Sequence[str], names: Sequence[str], undefinable: Sequence[str], means: Means
) -> pl.DataFrame:
    """Return one row for each value of the keys, with the means of these metrics."""
    # Name the metrics, but leave the keys named by their places: a key may be called like a metric.
    metrics = {str(len(keys) + i): name for i, name in enumerate(names)}
    result = means_of(part.rename(metrics).lazy(), places(keys), names, undefinable, means).collect()
    return result.rename(dict(zip(places(keys), keys, strict=True)))


class Passes:
    """Several passes over the ranges of one frame, whose rows must be the same in each pass.

    Otherwise a metric would combine the counts of one frame with the sums of another.
    """

    def __init__(self) -> None:
        self._whole: pl.DataFrame | None = None

    def of(self, call: PartQuery, over_ranges: Callable[[Part], pl.DataFrame]) -> Callable[[Part], pl.DataFrame]:
        """Return `over_ranges` with a check that the rows are those of the pass before."""
        ranges: list[pl.DataFrame] = []

        def over(function: Part) -> pl.DataFrame:
            parts = over_ranges(partial(_read, call=call, function=function))
            seen = _unpacked(parts["seen"]).group_by(RANGE).sum().sort(RANGE)
            if not ranges:
                ranges.append(seen)
                call.refuse_label(_unpacked(parts["labels"]))
            _refuse_changed(ranges[0], seen)
            # The scores are those of one system.
            whole = seen.select(cs.exclude(RANGE, "^scores.*$")).sum()
            self._whole = whole if self._whole is None else self._whole
            _refuse_changed(self._whole, whole)
            return _unpacked(parts["result"])

        return over


def _read(part: pl.DataFrame, call: PartQuery, function: Part) -> pl.DataFrame:
    """Return one row of three serialized tables: the result of the function, counts of the rows, and their labels."""
    labelled = call.request.positive is not None
    tables = {
        "result": function(part),
        "seen": part.group_by(RANGE).agg(**call.counts(part.schema)),
        "labels": part.select(**call.labels(part.schema)) if labelled else pl.DataFrame(),
    }
    return pl.DataFrame({name: [table.serialize()] for name, table in tables.items()})


def _unpacked(tables: pl.Series) -> pl.DataFrame:
    return pl.concat(pl.DataFrame.deserialize(BytesIO(table)) for table in tables)


def _refuse_changed(before: pl.DataFrame, now: pl.DataFrame) -> None:
    """Raise if counts differ, or if sums of floats differ by more than the order of the rows explains."""
    is_same = before.shape == now.shape and all(
        (first.eq_missing(other) | ((first - other).abs() <= 1e-9 * first).fill_null(False)).all()
        for first, other in zip(before, now, strict=True)
    )
    if not is_same:
        raise ValueError(
            "the frame gave other rows when it was read again, because its source is random or has changed: persist "
            "the frame before the call, or write it to a file"
        )
