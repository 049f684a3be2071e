"""Our own calls: what is asked, of which kind of frame, with which columns and policies. A line is a row of a table.

Average precision of `query, relevant, score` in a polars DataFrame with the defaults is the base of all ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_series_equal

import frame_pr as fp
from benchmarks.measure import Times, in_turns

COLUMNS = ("query", "relevant", "score")
REPORT = ["average_precision", "interpolated_average_precision", "interpolated_average_precision_11", "r_precision"]
REPORT += [
    "average_precision_lift",
    "tied_rows",
    "rows",
    "positives",
    "prevalence",
    "precision@1",
    "precision@5",
    "precision@10",
    "recall@5",
]
REPORT += ["recall@10", "average_precision@10", "max_f1", "threshold@max_f1", "f1@threshold=0.5"]
BASE, CURVES = "average precision", "`with_curve`"
UNTIED, COARSE = "no tied scores", "scores of two digits"
RANKS = ["average_precision", "roc_auc", "reciprocal_rank", "ndcg@10", "success@10"]
THIRTY = [
    *REPORT[:4],
    *RANKS[1:],
    "roc_auc@fpr=0.1",
    "ndcg",
    "ndcg@20",
    "success@1",
    "bpref",
    "rbp0.8",
    "average_precision_lift",
    "tied_rows",
]
THIRTY += ["precision@5", "precision@10", "recall@10", "average_precision@10", "max_f1", "threshold@max_f1"]
THIRTY += ["recall@precision=0.9", "threshold@precision=0.9", "recall@fpr=0.1", "max_informedness", "min_cost10"]
THIRTY += ["precision@10%", "f1@threshold=0.5", "precision@recall=0.5"]


def average_precision(frame: Any, **given: Any) -> Any:
    """Eager whatever comes in, since a plan that nobody collects has done nothing."""
    result = fp.average_precision(frame, **{"truth": "relevant", "score": "score", "by": "query"} | given)
    return result.collect() if isinstance(result, pl.LazyFrame) else result


CALLS: dict[str, Callable[[Any], Any]] = {
    f"{len(REPORT)} metrics": lambda frame: fp.evaluate(frame, REPORT, "relevant", "score", by="query"),
    "`curve`": lambda frame: fp.curve(frame, "relevant", "score", by="query"),
    "`tally`": lambda frame: fp.tally(frame, "relevant", "score", by="query"),
    "`intervals`": lambda frame: fp.intervals(frame, "average_precision", "relevant", "score", by="query"),
    "`intervals` of the mean": lambda frame: fp.intervals(
        frame, "average_precision", "relevant", "score", by="query", mean_over="query"
    ),
    CURVES: lambda frame: fp.with_curve(frame, "relevant", "score", by="query"),
}
# Of the rows, or of a parquet file that holds them.
FRAMES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "LazyFrame": lambda rows, _: rows.lazy(),
    "`scan_parquet`": lambda _, path: pl.scan_parquet(path),
    "pandas": lambda rows, _: rows.to_pandas(),
}
# Figures beside precision and recall, and the policies of each call.
BESIDE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "`roc_auc`": (["roc_auc"], {}),
    "AP, `roc_auc`, `reciprocal_rank`, `ndcg@10`, `success@10`": (RANKS, {}),
    f"{len(THIRTY)} metrics of all families": (THIRTY, {}),
    "`ndcg@10` of grades": (["ndcg@10"], {"gain": "grade"}),
}
KEYS: dict[str, dict[str, Any]] = {"a String key": {"by": "name"}, "two Int64 keys": {"by": ["half", "side"]}}
DATA: dict[str, dict[str, Any]] = {
    "Float32 scores": {"score": "single"},
    UNTIED: {"score": "distinct"},
    COARSE: {"score": "coarse"},
    "half are positives": {"truth": "often"},
}
WHOLE, FLOAT = "`weight`, Int64", "`weight`, Float64"
POLICIES: dict[str, dict[str, Any]] = {
    '`ties="expected"`': {"ties": "expected"},
    '`ties="optimistic"`': {"ties": "optimistic"},
    '`ties="order"`': {"ties": "order"},
    "`tie_break`": {"tie_break": "document"},
    WHOLE: {"weight": "whole"},
    FLOAT: {"weight": "weight"},
    "`count`": {"count": "whole"},
    '`unscored="unretrieved"`': {"unscored": "unretrieved"},
    "`total_positives`": {"total_positives": "known"},
}
UNTIED_WEIGHTS: dict[str, dict[str, Any]] = {
    f"{name}, {UNTIED}": {**POLICIES[name], **DATA[UNTIED]} for name in (WHOLE, FLOAT)
}
# Of rows in the order of their keys.
TOGETHER: dict[str, dict[str, Any]] = {"an Int64 key, sorted": {}, "a String key, sorted": {"by": "name"}}


def variations(data: pl.DataFrame, path: Path, rounds: int) -> dict[str, Times]:
    """Every line above, beside the base. Other calls, frames and keys must give the base's values before they count."""
    rows = data.select(COLUMNS)
    rows.write_parquet(path)
    runs = {BASE: lambda: average_precision(rows)}
    runs |= {name: lambda call=call: call(rows) for name, call in CALLS.items()}
    frames = {name: make(rows, path) for name, make in FRAMES.items()}
    runs |= {name: lambda frame=frame: average_precision(frame) for name, frame in frames.items()}
    runs |= {
        name: partial(fp.evaluate, data, metrics, "relevant", "score", by="query", **policies)
        for name, (metrics, policies) in BESIDE.items()
    }
    given = KEYS | DATA | POLICIES | UNTIED_WEIGHTS
    runs |= {name: lambda given=given: average_precision(data, **given) for name, given in given.items()}
    together = data.select(*COLUMNS, "name").sort("query")
    runs |= {name: lambda given=given: average_precision(together, **given) for name, given in TOGETHER.items()}
    expected = _values(average_precision(rows))

    def check(name: str, result: Any) -> None:
        if name in KEYS or name in TOGETHER or name in frames or "metrics" in name:
            assert_series_equal(_values(result), expected, rel_tol=1e-12)

    return in_turns(runs, rounds, check)


def _values(result: Any) -> pl.Series:
    """In order of size, as another key gives other rows."""
    return pl.Series(BASE, result["average_precision"], dtype=pl.Float64).sort()
