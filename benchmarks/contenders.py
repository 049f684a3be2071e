"""Who else computes average precision per group, each as one function.

A contender takes rows (`query, relevant, score`), prepares what it is handed, and returns an Entry. What is not
installed raises ImportError, and is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmarks.data import sample


class Entry(NamedTuple):
    """What a contender runs."""

    run: Callable[..., Any]
    """Gives `query, average_precision`; takes what `convert` made, where there is one."""
    share: float = 1.0
    """The share of the groups that `run` is given: its time is divided by it."""
    convert: Callable[[], Any] | None = None
    """From a frame to the contender's own kind of input, timed apart."""
    checked: bool = True
    """Whether its result holds average precision at all."""


def one_sort(data: pl.DataFrame) -> Entry:
    return Entry(lambda: data.sort("query", "score"), checked=False)


def kernel(data: pl.DataFrame, apart: bool = False) -> Entry:
    from benchmarks.kernel import average_precision  # compiled here, before anything is timed

    columns = [data[name].to_numpy().copy() for name in ("query", "relevant", "score")]
    groups = data["query"].max() + 1

    def run() -> pl.DataFrame:
        values = average_precision(*columns, groups, apart)
        return pl.DataFrame({"query": np.arange(groups), "average_precision": values})

    return Entry(run)


def kernel_apart(data: pl.DataFrame) -> Entry:
    return kernel(data, apart=True)


def polarbearings(data: pl.DataFrame) -> Entry:
    from polarbearings import average_precision

    value = average_precision("relevant", "score").alias("average_precision")
    return Entry(lambda: data.group_by("query").agg(value))


def polars_ds(data: pl.DataFrame) -> Entry:
    from polars_ds import query_binary_metrics

    # It computes four more metrics with it, and stops with an error at a group that has no positives.
    rows, share = sample(data, groups=5_000, rows=len(data))
    rows = rows.filter(pl.col("relevant").any().over("query"))
    metrics = query_binary_metrics("relevant", "score")
    value = metrics.struct.field("avg_precision").alias("average_precision")
    return Entry(lambda: rows.group_by("query").agg(value), share)


def scikit_learn(data: pl.DataFrame) -> Entry:
    from sklearn.metrics import average_precision_score

    return _on_arrays(data, average_precision_score)


def scors(data: pl.DataFrame) -> Entry:
    from scors import average_precision

    return _on_arrays(data, average_precision)


def _on_arrays(data: pl.DataFrame, average_precision: Callable[..., float]) -> Entry:
    """A function of the arrays of one group, called for each group."""
    rows, share = sample(data, groups=300, rows=1_000_000)
    groups = {key: (g["relevant"].to_numpy(), g["score"].to_numpy()) for (key,), g in rows.group_by("query")}

    def run() -> pl.DataFrame:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No positive class found")
            values = [average_precision(truth, score) for truth, score in groups.values()]
        return pl.DataFrame({"query": list(groups), "average_precision": values})

    return Entry(run, share)


def pandas_apply(data: pl.DataFrame) -> Entry:
    import pandas as pd

    rows, share = sample(data, groups=300, rows=1_000_000)
    frame = rows.to_pandas()

    def one(group: pd.DataFrame) -> float:
        ranked = group.sort_values("score", ascending=False)
        counts = pd.DataFrame({"tp": ranked["relevant"].cumsum(), "k": np.arange(1, len(ranked) + 1)})
        ends = counts[(ranked["score"] != ranked["score"].shift(-1)).to_numpy()]
        hits = ends["tp"].diff().fillna(ends["tp"])
        return (hits * ends["tp"] / ends["k"]).sum() / hits.sum() if hits.any() else np.nan

    def run() -> pl.DataFrame:
        values = frame.groupby("query")[["relevant", "score"]].apply(one)
        return pl.DataFrame({"query": values.index.to_numpy(), "average_precision": values.to_numpy()})

    return Entry(run, share)


def ranx(data: pl.DataFrame, metrics: Sequence[str] = ("map",)) -> Entry:
    from ranx import Qrels, Run, evaluate

    rows, share = _search_results(data)

    def convert() -> tuple[Any, Any]:
        judgments, scores = _nested(rows)
        return Qrels.from_dict(judgments), Run.from_dict(scores)

    def run(judgments: Any, scores: Any) -> pl.DataFrame:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "unsafe cast")  # of its own code, when that is compiled
            values = {name: evaluate(judgments, scores, name, return_mean=False, threads=2) for name in metrics}
        queries = [int(query) for query in judgments.keys()]  # noqa: SIM118  not a dictionary
        return pl.DataFrame({"query": queries, **values}).rename({"map": "average_precision"}, strict=False)

    return Entry(run, share, convert)


def pytrec_eval(data: pl.DataFrame) -> Entry:
    from pytrec_eval import RelevanceEvaluator

    rows, share = _search_results(data)

    def convert() -> tuple[Any, Any]:
        judgments, scores = _nested(rows)
        return RelevanceEvaluator(judgments, {"map"}), scores

    def run(evaluator: Any, scores: Any) -> pl.DataFrame:
        values = evaluator.evaluate(scores)
        averages = [value["map"] for value in values.values()]
        return pl.DataFrame({"query": [int(query) for query in values], "average_precision": averages})

    return Entry(run, share, convert)


def _search_results(data: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """A sample as the search tools want it: identifiers are text, and each query has a relevant document."""
    rows, share = sample(data, groups=5_000, rows=200_000)
    rows = rows.filter(pl.col("relevant").any().over("query"))
    document = pl.int_range(pl.len()).cast(pl.String).str.zfill(8)  # ranx compiles anew for each width of text
    return rows.with_columns(pl.col("query").cast(pl.String), document=document), share


def _nested(rows: pl.DataFrame) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judgments: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for query, document, relevant, score in rows.select("query", "document", "relevant", "score").iter_rows():
        scores.setdefault(query, {})[document] = score
        if relevant:
            judgments.setdefault(query, {})[document] = 1
    return judgments, scores


EVERYWHERE = {
    "`df.sort(by, score)`": one_sort,
    "compiled kernel": kernel,
    "compiled kernel, halves sorted apart": kernel_apart,
    "polarbearings": polarbearings,
    "polars_ds": polars_ds,
    "scikit-learn per group": scikit_learn,
    "scors per group": scors,
    "pandas `groupby.apply`": pandas_apply,
}
# They order ties by document: compared where no scores are tied, and where groups are as small as result lists.
SEARCH = {"ranx": ranx, "pytrec_eval": pytrec_eval}
# Asked for one group of a few rows, too.
SMALL = {"polarbearings": polarbearings, "scikit-learn": scikit_learn, "scors": scors}
