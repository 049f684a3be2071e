"""Write docs/frame_support.md, which function takes which kind of frame: `python docs/frame_support.py`.

The kinds in memory are tried: each function is called with a small frame of each. Those of the backends are the list of
functions that `frame_pr.parts` exports.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import polars as pl

import frame_pr
from frame_pr import parts

TARGET = Path(__file__).with_suffix(".md")
HEAD = """# Functions by kind of frame

Which function accepts which kind of frame. "yes": the result is of the same kind, and lazy for a LazyFrame. "polars":
the result is a polars DataFrame. "plot": the result is a matplotlib axes. "text": the result is a string. A dash means
that the function raises an error.

"""
FOOT = """
`read_trec_run` and `read_trec_qrels` read files, and `partitioned` accepts a polars LazyFrame or DataFrame, or an Arrow
stream. An Arrow stream is, for example, a relation of DuckDB or a `RecordBatchReader`. Spark and Dask frames need
`import frame_pr.spark` or `import frame_pr.dask` first: see [Spark and Dask](engines.md), and for rows in
a database [SQL](databases.md).

`docs/frame_support.py` writes this page: it calls each function with each kind of frame, and reads the functions of the
backends from `frame_pr.parts`.
"""
ROWS = pl.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b", "b"],
        "relevant": [1, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
        "other": [0.4, 0.8, 0.7, 0.6, 0.5, 0.9],
        "predicted": [1, 1, 0, 0, 1, 0],
    }
)
LISTS = pl.DataFrame({"user": [1], "wanted": [[1, 2]], "shown": [[2, 3]]})
SCORES = {"truth": "relevant", "score": "score"}
PAIR = {"truth": "relevant", "score": ["score", "other"], "by": "query"}


class Call(NamedTuple):
    """Arguments of a call, and the rows that it is made with."""

    arguments: Mapping[str, Any]
    rows: pl.DataFrame = ROWS


# The calls of functions that need other arguments than truth and score.
CALLS: dict[str, Call] = {
    "average_curve": Call(SCORES | {"by": "query"}),
    "average_precision_at_k": Call(SCORES | {"k": 2}),
    "compare": Call({"metrics": "average_precision"} | PAIR),
    "confusion": Call(SCORES | {"threshold": 0.5}),
    "confusion_matrix": Call({"truth": "relevant", "prediction": "predicted"}),
    "evaluate": Call({"metrics": "roc_auc"} | SCORES),
    "explode_lists": Call({"truth": "wanted", "ranked": "shown", "by": "user"}, LISTS),
    "format_table": Call({}),
    "identify": Call({"value": 0.5} | SCORES),
    "intervals": Call({"metrics": "roc_auc"} | SCORES),
    "join_judgments": Call({"on": "query"}, ROWS.select("query").unique()),
    "k_at_recall": Call(SCORES | {"recall": 0.5}),
    "plot_comparison": Call({"metric": "average_precision"} | PAIR),
    "plot_confusion": Call({}, ROWS.pr.confusion("relevant", "score", threshold=0.5)),
    "plot_curve": Call({}, ROWS.pr.curve("relevant", "score")),
    "plot_differences": Call({}, ROWS.pr.compare("average_precision", **PAIR)),
    "plot_gains": Call({}, ROWS.pr.gains_table(**SCORES, bins=2)),
    "plot_slopes": Call({"metric": "roc_auc"}, ROWS.pr.evaluate("roc_auc", **PAIR)),
    "plot_trend": Call({}, ROWS.pr.evaluate("roc_auc", **SCORES, by="query")),
    "plot_intervals": Call({}, ROWS.pr.intervals("roc_auc", "relevant", "score", by="query")),
    "precision_at_k": Call(SCORES | {"k": 2}),
    "precision_at_recall": Call(SCORES | {"recall": 0.5}),
    "recall_at_k": Call(SCORES | {"k": 2}),
    "success_at_k": Call(SCORES | {"k": 2}),
    "unpivot_classes": Call(
        {"truth": "query", "scores": {"a": "score", "b": "rest"}}, ROWS.with_columns(rest=1 - pl.col("score"))
    ),
    "with_metrics": Call({"metrics": "roc_auc"} | SCORES),
}
KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars DataFrame": lambda rows: rows,
    "polars LazyFrame": pl.DataFrame.lazy,
    "pandas DataFrame": pl.DataFrame.to_pandas,
    "pyarrow Table": pl.DataFrame.to_arrow,
    "Arrow stream": lambda rows: rows.to_arrow().to_reader(),
}


def page() -> str:
    """The whole page."""
    columns = [*KINDS, "Spark, Dask, `partitioned`"]
    lines = [f"| function | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    for name in functions():
        cells = [outcome(name, make) for make in KINDS.values()]
        cells.append("yes" if name in parts.__all__ else "-")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n" + FOOT


def functions() -> list[str]:
    """The public functions of a frame, but for that of frames in parts."""
    public = {name: getattr(frame_pr, name) for name in frame_pr.__all__}
    first = {
        name: next(iter(inspect.signature(f).parameters), "") for name, f in public.items() if inspect.isfunction(f)
    }
    return [name for name, argument in first.items() if argument in ("frame", "run") and name != "partitioned"]


def outcome(name: str, make: Callable[[pl.DataFrame], Any]) -> str:
    """What a function gives for a kind of frame."""
    call = CALLS.get(name, Call(SCORES))
    frame, others = make(call.rows), {"judgments": make(call.rows)} if name == "join_judgments" else {}
    try:
        result = getattr(frame_pr, name)(frame, **others, **call.arguments)
    except (TypeError, ValueError):
        if frame is call.rows:  # each function takes a polars DataFrame: the call is wrong
            raise
        return "-"
    plt.close("all")
    if type(result) is type(frame):
        return "yes"
    return "text" if isinstance(result, str) else "polars" if isinstance(result, pl.DataFrame) else "plot"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
