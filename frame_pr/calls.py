"""What a caller asked of a frame in parts, and how one part answers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_pr import checks
from frame_pr.evaluation import evaluate, with_metrics
from frame_pr.inputs import TOTALS, Rows, rows_of

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
        others = (self.policies.get(name) for name in ("weight", "tie_break", *TOTALS))
        scores = [self.score] if isinstance(self.score, str) else self.score
        # A total that is no column is a frame of its own.
        return list(dict.fromkeys([*self.by, self.truth, *scores, *(name for name in others if isinstance(name, str))]))

    def systems(self) -> list[Call]:
        """The same, of one score each."""
        return [self] if isinstance(self.score, str) else [replace(self, score=score) for score in self.score]

    def joined(self, results: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """The results of the systems, put together."""
        if isinstance(self.score, str):
            return results[0]
        named = [one.with_columns(system=pl.lit(name)) for one, name in zip(results, self.score, strict=True)]
        # A threshold has the type of its score.
        return pl.concat(named, how="vertical_relaxed").select(*self.by, "system", *self.names)

    def order(self, keys: Sequence[str]) -> list[pl.Expr]:
        """What results are sorted by."""
        systems = [] if isinstance(self.score, str) else self.score
        return [pl.col(key).cast(pl.Enum(systems)) if key == "system" and systems else pl.col(key) for key in keys]

    def of_groups(self, part: pl.DataFrame, mean_over: Sequence[str] | None = None) -> pl.DataFrame:
        """One row per group of the part."""
        return evaluate(
            self._labelled(part),
            self.names,
            self.truth,
            self.score,
            by=self.by or None,
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
            by=self.by or None,
            undefined=self.undefined,
            **self.policies,
        )
        return rows.select(prefix + name for name in self.names)

    def rows_of(
        self, part: pl.DataFrame, keys: Sequence[str], policies: dict[str, Any], starts: pl.DataFrame | None = None
    ) -> Rows[pl.DataFrame]:
        """The canonical rows of the part, grouped by these keys."""
        return rows_of(self._labelled(part), self.truth, self.score, by=list(keys) or None, starts=starts, **policies)

    def _labelled(self, part: pl.DataFrame) -> pl.DataFrame:
        if self.positive is None:
            return part
        # Boolean from here on: a part may well hold no row of the positive label, which is an error in a whole frame.
        dtype = part.schema[self.truth]
        if dtype.is_float():
            part = part.with_columns(pl.col(self.truth).fill_nan(None))
        return part.with_columns(checks.is_positive(self.truth, self.truth, dtype, self.positive))
