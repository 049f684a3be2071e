"""What is measured: data of several shapes, and calls of frame_pr and of other libraries.

`benchmarks/__main__.py` runs this file in processes of its own, each with one checkout of frame_pr.
A process reads lines of JSON, `[task, call, rows]`. It answers each with the seconds of CPU, and
with the means of the metrics, by which results are compared. With `[call, file]` as its argument,
it prints the peak of memory instead.
"""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

SHAPES: dict[str, Callable[[int], int]] = {
    "20k x 100": lambda rows: rows // 100,
    "20 x 100k": lambda rows: 20,
    "1 x 2M": lambda rows: 1,
    "400k x 5": lambda rows: rows // 5,
}
"""The number of groups for a number of rows. The names are those for two million rows."""
DIGITS = {"tied": 3, "equal": 0}
"""The digits of scores, 0 or 1 without any. Untied and normal scores have all digits."""
AT_TEN = ["precision@10", "recall@10", "average_precision@10"]
METRICS = [
    *("average_precision", "interpolated_average_precision", "interpolated_average_precision_11"),
    *("average_precision_lift", "r_precision", "roc_auc", "prevalence", "rows", "positives"),
    *("precision@1", "precision@5", "recall@5", *AT_TEN),
    *("max_f1", "threshold@max_f1", "f1@threshold=0.5"),
]
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TREC = {
    "map": "average_precision",
    "recip_rank": "reciprocal_rank",
    "Rprec": "r_precision",
    "ndcg": "ndcg",
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTOFFS},
    **{f"P_{k}": f"precision@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTOFFS},
    **{
        f"iprec_at_recall_{tenths / 10:.2f}": f"interpolated_precision@recall={tenths / 10:g}"
        for tenths in range(11)
    },
}
"""42 measures: trec_eval's names, and those of frame_pr."""
RANX = {
    **{"map": "map", "mrr": "recip_rank", "r-precision": "Rprec", "ndcg": "ndcg"},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in CUTOFFS},
    **{f"precision@{k}": f"P_{k}" for k in CUTOFFS},
    **{f"recall@{k}": f"recall_{k}" for k in CUTOFFS},
}
"""The 31 of them that ranx has, by its names."""
LIST_METRICS = {
    "precision": "precision@10",
    "recall": "recall@10",
    "map": "average_precision@10/positives",
    "ndcg": "ndcg@10",
    "mrr": "reciprocal_rank@10",
    "hit_rate": "success@10",
}
"""Six metrics of recommendations, by the names of RecTools' metrics below."""
MOST_GROUPS = 1_000
"""Loops over groups run on so many, and their time is multiplied."""


# data
# -----------------------------------------------------------------------------------------------


class Groups:
    """Rows in random order, of which one in ten is positive."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    @cached_property
    def share(self) -> float:
        """The share of the groups that a loop runs on."""
        return min(1.0, MOST_GROUPS / self.frame["query"].n_unique())

    @cached_property
    def first_groups(self) -> pl.DataFrame:
        """The rows of the groups that a loop runs on."""
        return self.frame.filter(pl.col("query") < MOST_GROUPS)


def groups(shape: str, scores: str, rows: int) -> Groups:
    """Return rows with integer keys.

    `item` is an integer, `whole` a weight of 1 to 3, and `weight` a random float.
    """
    draw = np.random.default_rng(0)
    columns = {
        "query": draw.permutation(np.arange(rows) * SHAPES[shape](rows) // rows),
        "relevant": draw.random(rows) < 0.1,
        "score": draw.random(rows),
        "item": draw.integers(0, 10**6, rows),
        "whole": draw.integers(1, 4, rows),
        "weight": draw.random(rows),
    }
    if scores == "normal":
        columns["score"] = draw.standard_normal(rows)
    elif scores != "untied":
        columns["score"] = columns["score"].round(DIGITS[scores])
    return Groups(pl.DataFrame(columns))


def ten_rows(rows: int) -> Groups:
    """Return one group of ten rows, three of them positive."""
    columns = {
        "query": [0] * 10,
        "relevant": [True, False, False, True, False, False, True, False, False, False],
        "score": [0.91, 0.83, 0.77, 0.68, 0.55, 0.42, 0.39, 0.27, 0.18, 0.05],
    }
    return Groups(pl.DataFrame(columns))


class Search:
    """A run of 1,000 named documents per query, and 100 judgments, of which 60 are of the run.

    `bits`: the bits of a score. trec_eval keeps 24, with which 30 of 500,000 documents are tied.
    """

    def __init__(self, bits: int, rows: int) -> None:
        draw = np.random.default_rng(0)
        queries = rows // 4_000
        start, step = draw.integers(1, 1_000_003, (2, queries, 1))
        numbers = (start + step * np.arange(1_040)) % 1_000_003
        retrieved, judged = numbers[:, :1000], np.hstack([numbers[:, :60], numbers[:, 1000:]])
        scores = draw.integers(0, 2**bits, retrieved.size) / 2**bits
        grades = draw.choice([0, 1, 2], judged.size, p=[0.7, 0.2, 0.1])
        self.run = _documents(retrieved).with_columns(score=scores)
        self.judgments = _documents(judged).with_columns(relevance=grades)

    @cached_property
    def joined(self) -> pl.DataFrame:
        """The run and its judgments in one frame."""
        return join_search(self)

    @cached_property
    def dicts(self) -> tuple[Any, Any]:
        """What pytrec_eval takes."""
        return dicts_of(self)

    @cached_property
    def objects(self) -> tuple[Any, Any]:
        """What ranx takes."""
        return objects_of(self)


def _documents(numbers: np.ndarray) -> pl.DataFrame:
    """Return the names of queries and documents. `numbers`: a row for each query."""
    query, document = np.repeat(np.arange(len(numbers)), numbers.shape[1]), numbers.ravel()
    return pl.DataFrame({"query": query, "document": document}).select(
        query=pl.format("q{}", "query"), document=pl.format("doc-{}", "document")
    )


class Lists:
    """20 recommended items per user, and 1 to 11 items that the user wanted."""

    def __init__(self, rows: int) -> None:
        draw = np.random.default_rng(0)
        users, items = rows // 20, 101
        size = draw.integers(1, 12, users)
        start, step = draw.integers(1, items, (2, 2, users, 1))
        shown = (start[0] + step[0] * np.arange(20)) % items
        wanted = (start[1] + step[1] * np.arange(11)) % items
        self.shown = pl.DataFrame(
            {
                "user": np.repeat(np.arange(users), 20),
                "item": shown.ravel(),
                "rank": np.tile(np.arange(1, 21), users),
            }
        )
        self.wanted = pl.DataFrame(
            {
                "user": np.repeat(np.arange(users), size),
                "item": wanted[np.arange(11) < size[:, None]],
            }
        )

    @cached_property
    def columns(self) -> pl.DataFrame:
        """What `explode_lists` takes: a row for each user."""
        shown, wanted = (
            frame.group_by("user").agg(pl.col("item").alias(name))
            for name, frame in (("shown", self.shown), ("wanted", self.wanted))
        )
        return shown.join(wanted, on="user")

    @cached_property
    def of_pandas(self) -> tuple[Any, Any]:
        """What RecTools takes."""
        import pandas as pd

        names = {"user": "user_id", "item": "item_id", "rank": "rank"}
        shown, wanted = (
            pd.DataFrame({names[column.name]: column.to_numpy() for column in frame})
            for frame in (self.shown, self.wanted)
        )
        return shown, wanted


# calls of frame_pr
# -----------------------------------------------------------------------------------------------


def of_groups(function: str, *arguments: Any, **options: Any) -> Callable[[Groups], Any]:
    """Return a call of frame_pr for each group."""

    def call(data: Groups) -> Any:
        import frame_pr as fp

        return getattr(fp, function)(
            data.frame, *arguments, truth="relevant", score="score", by="query", **options
        )

    return call


def lazy(data: Groups) -> pl.DataFrame:
    """Average precision of a LazyFrame."""
    import frame_pr as fp

    frame = data.frame.lazy()
    return fp.average_precision(frame, "relevant", "score", by="query").collect()


def join_search(data: Search) -> pl.DataFrame:
    """Join a run and its judgments."""
    import frame_pr as fp

    return fp.join_judgments(data.run, data.judgments, on=["query", "document"])


def search(
    metrics: dict[str, str], *, joined: bool, trec_eval: bool, **options: Any
) -> Callable[[Search], pl.DataFrame]:
    """Return a call for each query. `joined`: the join is not measured."""

    def call(data: Search) -> pl.DataFrame:
        import frame_pr as fp

        rows = data.joined if joined else join_search(data)
        missing = {"unscored": "unretrieved", "unjudged": "negative", "undefined": 0.0}
        rules = fp.TREC_EVAL if trec_eval else missing
        relevant = pl.col("relevance") >= 1
        return fp.evaluate(rows, metrics, relevant, "score", by="query", **rules, **options)

    return call


def lists(data: Lists) -> pl.DataFrame:
    """Return the means of six metrics over the users."""
    import frame_pr as fp

    wanted = data.wanted.with_columns(wanted=True)
    rows = fp.join_judgments(data.shown, wanted, on=["user", "item"])
    score = -pl.col("rank")
    missing: Any = {"unscored": "unretrieved", "unjudged": "negative"}
    return fp.evaluate(rows, LIST_METRICS, "wanted", score, mean_over="user", **missing)


def list_columns(data: Lists) -> pl.DataFrame:
    """Return the same of a frame with a row for each user."""
    import frame_pr as fp

    rows = fp.explode_lists(data.columns, "wanted", "shown", by="user")
    missing: Any = {"unscored": "unretrieved"}
    return fp.evaluate(rows, LIST_METRICS, "truth", "score", mean_over="user", **missing)


# calls of other libraries
# -----------------------------------------------------------------------------------------------


def polarbearings(data: Groups, name: str = "average_precision") -> pl.DataFrame:
    """Return a metric as an expression in `group_by`."""
    import polarbearings

    value = getattr(polarbearings, name)("relevant", "score")
    return data.frame.group_by("query").agg(value.alias(name))


def polarbearings_curve(data: Groups) -> pl.DataFrame:
    """Return precision and recall at each threshold."""
    from polarbearings import pr_curve

    curve = pr_curve(data.frame, "relevant", "score", by="query")
    # It has a point above all scores, too.
    return curve.filter(pl.col("threshold").is_finite()).collect()


def polars_ds(data: Groups) -> pl.DataFrame:
    """Return one of five metrics of an expression, which fails for groups without positives."""
    from polars_ds import query_binary_metrics

    rows = data.first_groups.filter(pl.col("relevant").any().over("query"))
    value = query_binary_metrics("relevant", "score").struct.field("avg_precision")
    return rows.group_by("query").agg(value.alias("average_precision"))


def loop(module: str, function: str, name: str) -> Callable[[Groups], pl.DataFrame]:
    """Return a loop over the arrays of the groups."""

    def call(data: Groups) -> pl.DataFrame:
        metric = getattr(__import__(module, fromlist=[function]), function)
        parts = data.first_groups.group_by("query", maintain_order=True)
        values = [
            metric(part["relevant"].to_numpy(), part["score"].to_numpy()) for _, part in parts
        ]
        return pl.DataFrame({name: values})

    return call


def arrays(module: str, function: str, name: str) -> Callable[[Groups], pl.DataFrame]:
    """Return a call with the arrays of one group."""

    def call(data: Groups) -> pl.DataFrame:
        metric = getattr(__import__(module, fromlist=[function]), function)
        value = metric(data.frame["relevant"].to_numpy(), data.frame["score"].to_numpy())
        return pl.DataFrame({name: [value]})

    return call


def dicts_of(data: Search) -> tuple[Any, Any]:
    """Return the run and the judgments as dicts of dicts."""
    columns = ((data.run, "score"), (data.judgments, "relevance"))
    parts = (
        frame.group_by("query", maintain_order=True).agg("document", value).iter_rows()
        for frame, value in columns
    )
    run, judgments = (
        {query: dict(zip(documents, values, strict=True)) for query, documents, values in part}
        for part in parts
    )
    return run, judgments


def pytrec_eval(
    data: Search, measures: set[str], *, with_dicts: bool = False
) -> dict[str, dict[str, float]]:
    """Return the measures of each query."""
    import pytrec_eval

    run, judgments = dicts_of(data) if with_dicts else data.dicts
    return pytrec_eval.RelevanceEvaluator(judgments, measures).evaluate(run)


ALL_MEASURES = {"map", "recip_rank", "Rprec", "ndcg", "ndcg_cut", "P", "recall", "iprec_at_recall"}


def objects_of(data: Search) -> tuple[Any, Any]:
    """Return the run and the judgments as objects of ranx."""
    from ranx import Qrels, Run

    run, judgments = dicts_of(data)
    return Run(run), Qrels(judgments)


def ranx(data: Search, names: list[str], *, with_objects: bool = False) -> dict[str, float]:
    """Return the means of the measures."""
    import ranx

    run, judgments = objects_of(data) if with_objects else data.objects
    means = ranx.evaluate(judgments, run, names)
    if len(names) == 1:
        return {RANX[names[0]]: means}
    return {RANX[name]: mean for name, mean in means.items()}


def rectools(data: Lists) -> dict[str, float]:
    """Return the means of six metrics over the users."""
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    metrics = {
        "precision": Precision(k=10),
        "recall": Recall(k=10),
        "map": MAP(k=10),
        "ndcg": NDCG(k=10, divide_by_achievable=True),
        "mrr": MRR(k=10),
        "hit_rate": HitRate(k=10),
    }
    shown, wanted = data.of_pandas
    return calc_metrics(metrics, shown, wanted)


def duckdb(query: str, **frames: pl.DataFrame) -> pl.DataFrame:
    """Run a query of frames in memory."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        for name, frame in frames.items():
            connection.register(name, frame.to_arrow())
        return connection.sql(query).pl()


def duckdb_groups(data: Groups) -> pl.DataFrame:
    """Return the average precision of each group."""
    return duckdb(GROUPS_IN_SQL, rows=data.frame)


def duckdb_lists(data: Lists) -> pl.DataFrame:
    """Return the means of six metrics over the users who wanted something."""
    return duckdb(LISTS_IN_SQL, shown=data.shown, wanted=data.wanted)


GROUPS_IN_SQL = """
WITH blocks AS (
    SELECT query, score, count(*) AS size, count(*) FILTER (relevant) AS hits
    FROM rows GROUP BY query, score
), steps AS (
    SELECT
        query,
        hits,
        sum(hits) OVER block AS tp,
        sum(size) OVER block AS k,
        sum(hits) OVER (PARTITION BY query) AS positives
    FROM blocks WINDOW block AS (PARTITION BY query ORDER BY score DESC)
)
SELECT query, sum(hits / positives * (tp / k)) AS average_precision
FROM steps WHERE positives > 0 GROUP BY query ORDER BY query
"""
LISTS_IN_SQL = """
WITH users AS (
    SELECT user, count(*) AS size FROM wanted GROUP BY user
), ideals AS (
    SELECT size, (SELECT sum(1 / log2(i + 1)) FROM range(1, least(size, 10) + 1) AS r(i)) AS ideal
    FROM (SELECT DISTINCT size FROM users)
), hits AS (
    SELECT user, rank, row_number() OVER (PARTITION BY user ORDER BY rank) AS hit
    FROM shown JOIN wanted USING (user, item) WHERE rank <= 10
), sums AS (
    SELECT
        user,
        count(*) AS hits,
        sum(hit / rank) AS precisions,
        sum(1 / log2(rank + 1)) AS dcg,
        1 / min(rank) AS mrr
    FROM hits GROUP BY user
)
SELECT
    coalesce(sum(hits), 0) / 10 / count(*) AS precision,
    coalesce(sum(hits / size), 0) / count(*) AS recall,
    coalesce(sum(precisions / size), 0) / count(*) AS map,
    coalesce(sum(dcg / ideal), 0) / count(*) AS ndcg,
    coalesce(sum(mrr), 0) / count(*) AS mrr,
    count(hits) / count(*) AS hit_rate
FROM users LEFT JOIN sums USING (user) JOIN ideals USING (size)
"""


# tasks
# -----------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """Data, and the calls that are measured on them: of frame_pr and of other libraries."""

    data: Callable[[int], Any]
    """For a number of rows. What a library takes in place of frames is made once."""
    ours: dict[str, Callable[[Any], Any]]
    others: dict[str, Callable[[Any], Any]]
    repeats: int = 1


OF_GROUPS = {
    "average_precision": of_groups("average_precision"),
    "roc_auc": of_groups("roc_auc"),
    "curve": of_groups("curve"),
    "18 metrics": of_groups("evaluate", METRICS),
    "with_curve": of_groups("with_curve"),
    "whole weights": of_groups("average_precision", weight="whole"),
    "float weights": of_groups("average_precision", weight="weight"),
    "ties='order'": of_groups("average_precision", ties="order"),
    "tie_break, integers": of_groups("average_precision", tie_break="item"),
    "LazyFrame": lazy,
}
LOOPS = {
    "scors": loop("scors", "average_precision", "average_precision"),
    "scikit-learn": loop("sklearn.metrics", "average_precision_score", "average_precision"),
    "scikit-learn, roc_auc": loop("sklearn.metrics", "roc_auc_score", "roc_auc"),
    "polars_ds": polars_ds,
}
"""Calls on the first groups."""
OTHERS = {
    "polarbearings": polarbearings,
    "polarbearings, roc_auc": partial(polarbearings, name="roc_auc"),
    "polarbearings, curve": polarbearings_curve,
    "DuckDB": duckdb_groups,
    **LOOPS,
}
ONE_GROUP = {
    "rapidstats": arrays("rapidstats.metrics", "average_precision", "average_precision"),
    "rapidstats, roc_auc": arrays("rapidstats.metrics", "roc_auc", "roc_auc"),
}
TIES = "average_precision", "ties='order'", "tie_break, integers"
WIDE = "average_precision", "curve", "with_curve", "float weights"
TEN = ("average_precision", "curve", "18 metrics", "LazyFrame")


def by_threshold(metrics: dict[str, str]) -> dict[str, str]:
    """Return other names of metrics, as tied documents have other values without a tie break."""
    return {f"{name} by threshold": metric for name, metric in metrics.items()}


MAP = {"map": "average_precision"}
SEARCH = {
    "MAP": search(by_threshold(MAP), joined=True, trec_eval=False),
    "MAP, tie_break": search(MAP, joined=True, trec_eval=False, tie_break="document"),
    "MAP, TREC_EVAL": search(MAP, joined=True, trec_eval=True),
    "MAP, TREC_EVAL, two frames": search(MAP, joined=False, trec_eval=True),
    "42 measures": search(by_threshold(TREC), joined=True, trec_eval=False, gain="relevance"),
    "42 measures, TREC_EVAL": search(TREC, joined=True, trec_eval=True, gain="relevance"),
    "42 measures, TREC_EVAL, two frames": search(
        TREC, joined=False, trec_eval=True, gain="relevance"
    ),
    "join_judgments": join_search,
}
SEARCH_OTHERS = {
    "pytrec_eval, MAP": partial(pytrec_eval, measures={"map"}),
    "pytrec_eval, MAP, with its dicts": partial(pytrec_eval, measures={"map"}, with_dicts=True),
    "pytrec_eval, 42 measures": partial(pytrec_eval, measures=ALL_MEASURES),
    "pytrec_eval, 42 measures, with its dicts": partial(
        pytrec_eval, measures=ALL_MEASURES, with_dicts=True
    ),
    "ranx, MAP": partial(ranx, names=["map"]),
    "ranx, MAP, with its objects": partial(ranx, names=["map"], with_objects=True),
    "ranx, 31 measures": partial(ranx, names=list(RANX)),
    "ranx, 31 measures, with its objects": partial(ranx, names=list(RANX), with_objects=True),
}
TASKS = {
    **{
        f"{shape}, {scores}": Task(
            partial(groups, shape, scores),
            OF_GROUPS,
            {**OTHERS, **ONE_GROUP} if shape == "1 x 2M" else OTHERS,
        )
        for shape, scores in product(SHAPES, ("tied", "untied"))
    },
    **{
        f"{shape}, {scores}": Task(
            partial(groups, shape, scores), {name: OF_GROUPS[name] for name in names}, {}
        )
        for shape, (scores, names) in product(SHAPES, (("equal", TIES), ("normal", WIDE)))
    },
    "10 rows": Task(
        ten_rows,
        {name: OF_GROUPS[name] for name in TEN},
        {name: OTHERS[name] for name in ("polarbearings", "scikit-learn")},
        repeats=50,
    ),
    "search": Task(partial(Search, 24), SEARCH, SEARCH_OTHERS),
    "search, tied": Task(partial(Search, 6), SEARCH, {}),
    "lists": Task(
        Lists,
        {"six metrics": lists, "list columns": list_columns},
        {"RecTools": rectools, "DuckDB": duckdb_lists},
    ),
}


# measurements
# -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _data(task: str, rows: int) -> Any:
    """Return the data of a task, whose calls run one after the other."""
    return TASKS[task].data(rows)


def measure(name: str, call: str, rows: int) -> tuple[float, dict[str, float]]:
    """Return the seconds of CPU of a call, and the means of its metrics."""
    task, data = TASKS[name], _data(name, rows)
    function = {**task.ours, **task.others}[call]
    start = time.process_time()
    for _ in range(task.repeats):
        result = function(data)
    seconds = (time.process_time() - start) / task.repeats
    if call in LOOPS and data.share < 1:
        return seconds / data.share, {}
    return seconds, means_of(result)


def means_of(result: Any) -> dict[str, float]:
    """Return the mean of each metric over groups, queries or users."""
    if isinstance(result, pl.DataFrame):
        means = result.select(cs.float().fill_nan(None).mean())
        return means.row(0, named=True)
    if isinstance(next(iter(result.values())), dict):
        return means_of(pl.DataFrame(list(result.values())))
    return {name: float(mean) for name, mean in result.items()}


def peak(call: str, file: str) -> float:
    """Return the megabytes that a call holds at most, without the rows of the file (on Linux)."""
    frame = pl.read_ipc(file)
    frame.select(pl.all().sum())  # reads every page
    OF_GROUPS[call](Groups(frame.head(100)))  # imports what is imported late
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the peak so far
    OF_GROUPS[call](Groups(frame))
    return (_memory("VmHWM") - before) / 1024


def _memory(name: str) -> int:
    """Return kilobytes of this process: VmRSS now, VmHWM at most so far."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    size = re.search(rf"{name}:\s+(\d+) kB", status)
    assert size is not None
    return int(size[1])


def main() -> None:
    """Answer requests."""
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(peak(*sys.argv[1:])))
        return
    for line in sys.stdin:
        try:
            print(json.dumps(measure(*json.loads(line))), flush=True)
        except ImportError as error:
            print(json.dumps([None, str(error)]), flush=True)


if __name__ == "__main__":
    main()
