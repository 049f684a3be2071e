"""A call on a frame in parts, and how one part answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.functions.evaluation import append_metrics, evaluate_request
from frame_pr.inputs.options import Column
from frame_pr.inputs.request import OTHER_SYSTEM, Request
from frame_pr.inputs.rows import Rows
from frame_pr.inputs.values import check_occurs, is_positive
from frame_pr.metrics.aggregation import Plan, plan_for
from frame_pr.metrics.means import Means

Part = Callable[[pl.DataFrame], pl.DataFrame]
"""The call that runs on each part. It is pickled and sent to the workers."""
Names = Sequence[str]
"""Names of columns."""
PART = "part of frame_pr"
"""The column of a frame with the number of the part of each row. polars drops it in the parts."""
_LABELS = 10  # Labels of each part that an error may show.


@dataclass(frozen=True, eq=False, repr=False)
class PartQuery:
    """The caller's request. All columns are names."""

    request: Request
    named: Mapping[str, str]
    """New names of metrics, and the metrics."""
    undefined: float | None

    @property
    def by(self) -> list[str]:
        """Return the keys."""
        return [str(key) for key in self.request.keys]

    @property
    def scores(self) -> list[str]:
        """Return the scores; the systems, if there are several."""
        return [str(score) for score in self.request.scores]

    def columns(self) -> list[str]:
        """Return the columns of a part, which the call reads: the keys first, each column once."""
        return list(dict.fromkeys(str(column) for column in self.request.columns))

    def systems(self) -> list[PartQuery]:
        """Return the query of each single score."""
        if not self.request.several:
            return [self]
        queries: list[PartQuery] = []
        for score in self.scores:
            single = self.request.single
            if self.request.unscored == "drop":
                others = [other for other in self.scores if other != score]
                single = single | {f"{OTHER_SYSTEM}{i}": other for i, other in enumerate(others)}
            request = self.request._replace(scores=[score], several=False, single=single)
            queries.append(replace(self, request=request))
        return queries

    def joined(self, results: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Combine the results of the systems."""
        if not self.request.several:
            return results[0]
        named = [
            result.with_columns(system=pl.lit(name))
            for result, name in zip(results, self.scores, strict=True)
        ]
        # A threshold has the dtype of its score.
        return pl.concat(named, how="vertical_relaxed")[[*self.by, "system", *self.named]]

    def of_groups(
        self, part: pl.DataFrame, means: Means | None = None, *, all_groups: bool = False
    ) -> pl.DataFrame:
        """Compute one row per group of the part.

        `all_groups`: also of those that frames of known totals have.
        """
        return evaluate_request(
            part, self.request, self.named, means, self.undefined, all_groups=all_groups
        )

    def plan_of(self, rows: Rows) -> Plan:
        """Return the aggregates that the metrics need of these rows."""
        return plan_for(rows, list(self.named.values()), self.undefined)

    def with_counts(self, column: str) -> PartQuery:
        """Return the query of rows each of which stands for several, `column`."""
        single = self.request.single | {"count": column}
        return replace(self, request=self.request._replace(single=single))

    def of_counts(self, part: pl.LazyFrame) -> pl.DataFrame | None:
        """Compute one row per group from counts of equal rows; None if that is impossible."""
        if self.request.weights_classes or {"count", "tie_break"} & {*self.request.single}:
            return None
        count = "count" + max(self.columns(), key=len)  # Longer than any name.
        equal_rows = part.group_by(map(by_name, self.columns()))
        counts = equal_rows.len(name=count).collect(engine="streaming")
        try:
            return self.with_counts(count).of_groups(counts)
        except ValueError:
            return None  # Let the errors be about the rows themselves.

    def of_rows(self, part: pl.DataFrame, prefix: str) -> pl.DataFrame:
        """Compute the new columns for each row of the part, in its order."""
        rows = append_metrics(part, self.request, self.named, prefix, self.undefined)
        return rows[[prefix + name for name in self.named]]

    def totals_in_rows(self) -> dict[str, str]:
        """Return the known totals on which results depend and that are columns of the rows."""
        columns = self.request.single
        return {name: str(columns[name]) for name in self.request.totals_read if name in columns}

    def labels_of(self, part: pl.DataFrame | pl.LazyFrame) -> Any:
        """Count the rows of a part that have the positive label, and return some of the labels."""
        truth = str(self.request.single["truth"])
        hits = is_positive(truth, truth, part.collect_schema()[truth], self.request.positive)
        labels = by_name(truth).unique().head(_LABELS)
        return part.select(hits=hits.sum(), labels=labels.implode())

    def refuse_label(self, labels: Iterable[pl.DataFrame]) -> None:
        """Check that some part of the frame has the positive label.

        `labels`: those of its parts, up to the first.
        """
        present = []
        for table in labels:
            if table["hits"].sum():
                return
            present.append(table["labels"].explode(empty_as_null=False))
        truth = str(self.request.single["truth"])
        check_occurs(truth, pl.concat(present).unique(), self.request.positive)


def with_names(request: Request, names: Mapping[str, Names]) -> Request:
    """Return a request with these names of columns, by argument."""
    single: dict[str, Column] = {role: names[role][0] for role in request.single}
    return request._replace(keys=names["by"], scores=names["score"], single=single)


def in_part(function: Part, part: pl.DataFrame) -> pl.DataFrame:
    """Apply a function to a part.

    An error about values describes the part, because no other part is at hand.
    """
    try:
        return function(part)
    except ValueError as error:
        raise ValueError(f"{error} (in the part of the frame where it was found)") from None
