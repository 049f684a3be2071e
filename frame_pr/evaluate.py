"""Any number of named metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from frame_pr import ranking
from frame_pr.inputs import Columns, Column, Frame, Rows, rows_of
from frame_pr.metrics import TOTALS, TOTALS_UNRANKED, metric


def evaluate(
    frame: Frame,
    metrics: str | Sequence[str],
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
) -> Frame:
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    rows = rows_of(frame, truth, score, by=by, positive=positive)
    return rows.result(values(rows, names, undefined), names)


def values(rows: Rows, names: Sequence[str], undefined: float | None = None) -> pl.LazyFrame:
    """One row per group: `group` and the metrics of these names."""
    chosen = {name: metric(name, rows.score_dtype) for name in names}
    unranked = [m.unranked for m in chosen.values() if m.unranked is not None]
    if len(unranked) == len(chosen):
        table, sums = rows.frame, TOTALS_UNRANKED
        for part in unranked:
            sums = sums | part
    else:
        keep = [condition for m in chosen.values() for condition in m.keep]
        table, sums = ranking.curve(rows.frame, rows.score_dtype, keep), TOTALS
        for m in chosen.values():
            sums = sums | m.sums
    results = {
        name: m.value.fill_null(undefined) if m.fillable and undefined is not None else m.value
        for name, m in chosen.items()
    }
    return table.group_by("group").agg(**sums).select("group", **results).sort("group")
