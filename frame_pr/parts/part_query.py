"""A call on a frame in parts, and how one part answers it.

The columns of a part are named by their places, "0" and so on, so that no name of ours collides with the caller's. The
request of a part reads them under the caller's names, which errors and results use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_pr.functions.evaluation import append_metrics, evaluate_request
from frame_pr.functions.tallies import Bins, tallied
from frame_pr.inputs.request import Request
from frame_pr.inputs.rows import OutputFrame, Rows, rows_of
from frame_pr.inputs.values import check_occurs, is_positive
from frame_pr.metrics.means import Means

Part = Callable[[pl.DataFrame], pl.DataFrame]
"""The call that runs on each part. It is pickled and sent to the workers."""
_LABELS = 10  # Labels of each part that an error may show.


@dataclass(frozen=True)
class PartQuery:
    """The caller's request. All columns are names."""

    request: Request
    named: Mapping[str, str]
    """New names of metrics, and the metrics."""
    undefined: float | None

    @property
    def names(self) -> list[str]:
        """Return the metrics."""
        return list(self.named.values())

    @property
    def by(self) -> list[str]:
        """Return the keys."""
        return [str(key) for key in self.request.keys]

    @property
    def keys(self) -> list[str]:
        """Return the keys by their names in a part."""
        return places(self.by)

    @property
    def scores(self) -> list[str]:
        """Return the scores; the systems, if there are several."""
        return [str(score) for score in self.request.scores]

    @property
    def score(self) -> str:
        """Return the first score by its name in a part."""
        return str(self.columns().index(self.scores[0]))

    def columns(self) -> list[str]:
        """Return the columns that the call reads, which are those of a part: the keys first, each column once."""
        return list(dict.fromkeys(str(column) for column in self.request.columns))

    def systems(self) -> list[PartQuery]:
        """Return the query of each single score."""
        if not self.request.several:
            return [self]
        queries, drops = [], self.request.unscored == "drop"
        for score in self.scores:
            others = [other for other in self.scores if drops and other != score]
            request = replace(self.request, scores=[score], several=False, other_systems=others)
            queries.append(replace(self, request=request))
        return queries

    def counting(self) -> PartQuery | None:
        """Return the query for aggregated rows, whose counts are one more column; None if rows have counts already."""
        policies: Any = self.request.policies
        if any(policies.get(name) is not None for name in ("count", "tie_break", "prevalence")):
            return None
        name = "count" + max(self.columns(), key=len)  # Longer than any name.
        return replace(self, request=replace(self.request, policies=policies | {"count": name}))

    def joined(self, results: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Combine the results of the systems."""
        if not self.request.several:
            return results[0]
        named = [result.with_columns(system=pl.lit(name)) for result, name in zip(results, self.scores, strict=True)]
        # A threshold has the dtype of its score.
        return pl.concat(named, how="vertical_relaxed")[[*self.by, "system", *self.named]]

    def of_groups(self, part: pl.DataFrame, means: Means | None = None, *, all_groups: bool = False) -> pl.DataFrame:
        """Compute one row per group of the part. `all_groups`: also of those that frames of known totals have."""
        return evaluate_request(
            self._labelled(part), self._placed, self.named, means, self.undefined, all_groups=all_groups
        )

    def of_rows(self, part: pl.DataFrame, prefix: str) -> pl.DataFrame:
        """Compute the new columns for each row of the part, in its order."""
        # Use the names of metrics, which no column of a part has.
        metrics = {name: name for name in self.names}
        rows = append_metrics(self._labelled(part), self._placed, metrics, "", self.undefined)
        return rows.select(pl.col(metric).alias(prefix + name) for name, metric in self.named.items())

    def of_equal_rows(self, part: pl.DataFrame, bins: Bins | None) -> pl.DataFrame:
        """Aggregate equal rows of the part. With a positive label, the truth becomes Boolean."""
        return tallied(self._labelled(part), self._placed, bins)

    def rows_of(
        self,
        part: pl.DataFrame,
        keys: Sequence[str],
        totals: dict[str, Any],
        starts: pl.DataFrame | None = None,
    ) -> tuple[Rows, OutputFrame[pl.DataFrame]]:
        """Return the canonical rows of the part, grouped by these columns, with these known totals."""
        request = replace(self._placed, keys=list(keys)).with_totals(totals)
        return rows_of(self._labelled(part), request, starts=starts)

    def totals_in_rows(self) -> dict[str, Any]:
        """Return the known totals on which results depend and that are columns of the rows."""
        return {name: total for name, total in self._placed.totals_read.items() if isinstance(total, pl.Expr)}

    def labels_of(self, part: pl.DataFrame | pl.LazyFrame) -> Any:
        """Count the rows of a part that have the positive label, and return some of the labels."""
        truth, schema = str(len(self.by)), part.collect_schema()
        return part.select(hits=self._truth(schema).sum(), labels=pl.col(truth).unique().head(_LABELS).implode())

    def refuse_label(self, labels: pl.DataFrame) -> None:
        """Check that some part of the frame has the positive label. `labels`: those of its parts."""
        if not labels["hits"].sum():
            present = labels["labels"].explode(empty_as_null=False).unique()
            check_occurs(str(self.request.truth), present, self.request.positive)

    @cached_property
    def _placed(self) -> Request:
        """Return the request of a part, whose truth is Boolean."""
        request = self.request
        placed: dict[str, Any] = {name: pl.col(str(i)).alias(name) for i, name in enumerate(self.columns())}
        options: Any = {
            option: placed[str(column)] for option, column in request.single.items() if option in request.policies
        }
        return replace(
            request,
            truth=placed[str(request.truth)],
            scores=[placed[score] for score in self.scores],
            other_systems=[placed[str(score)] for score in request.other_systems],
            keys=[placed[key] for key in self.by],
            policies=request.policies | options,
            positive=None,
        )

    def _truth(self, schema: pl.Schema) -> pl.Expr:
        """Return the truth of a part, as Boolean if there is a positive label."""
        truth, positive = str(len(self.by)), self.request.positive
        column = pl.col(truth).fill_nan(None) if schema[truth].is_float() else pl.col(truth)
        if positive is None:
            return column if schema[truth] == pl.Boolean else column != 0
        return is_positive(truth, str(self.request.truth), schema[truth], positive)

    def _labelled(self, part: pl.DataFrame) -> pl.DataFrame:
        """Return a part with Boolean labels: only a whole frame must have the positive label."""
        return part if self.request.positive is None else part.with_columns(self._truth(part.schema))


def places(columns: Sequence[object]) -> list[str]:
    """Return the names that these columns have in a part."""
    return [str(place) for place in range(len(columns))]


def in_places(frame: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Select these columns and name them by their places."""
    return frame.select(cs.by_name(column).alias(place) for column, place in zip(columns, places(columns), strict=True))


def in_part(function: Part, part: pl.DataFrame) -> pl.DataFrame:
    """Apply a function to a part. An error about values describes the part, because no other part is at hand."""
    try:
        return function(part)
    except ValueError as error:
        raise ValueError(f"{error} (in the part of the frame where it was found)") from None
