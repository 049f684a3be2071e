"""What a user writes. Type checkers find no error here; they read it, and nothing runs it."""

import pandas as pd
import polars as pl

import frame_pr as fp
from frame_pr import Options

run = pl.DataFrame({"query": [1, 1, 2], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.7]})
run_pd = pd.DataFrame({"query": [1, 1, 2], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.7]})

# Functions: the result has the kind of the frame, and its columns can be read.
per_query = fp.average_precision(run, "relevant", "score", by="query")
best: float | None = per_query.filter(pl.col("average_precision") > 0.5).item(0, "query")
values: list[float] = per_query["average_precision"].to_list()
joined: pl.DataFrame = run.join(per_query, on="query").select("query", "average_precision")
lazy: pl.LazyFrame = fp.evaluate(run.lazy(), ["roc_auc", "rows"], "relevant", "score", by="query")
collected: pl.DataFrame = lazy.filter(pl.col("roc_auc") > 0.5).sort("query").collect()
named = fp.evaluate(run, {"AP": "average_precision", "n": "rows"}, "relevant", pl.col("score"))
print(named["AP"], named.select("n"))
in_pandas: pd.DataFrame = fp.evaluate(run_pd, "average_precision", "relevant", "score")
series = in_pandas["average_precision"]
extended = fp.with_metrics(run, "roc_auc", "relevant", "score", by=["query"]).select("roc_auc")

# Options: keywords, or a dict of type Options.
options: Options = {"unscored": "unretrieved", "ties": "expected"}
expected = fp.evaluate(run, "average_precision", "relevant", "score", **options)
weighted = fp.roc_auc(run, "relevant", "score", weight="score", unjudged="negative")
ideal = fp.ndcg(run, "relevant", "score", k=10, gain="relevant", by="query", undefined=0.0)
at_k = fp.precision_at_k(run, "relevant", "score", [1, 10], by="query", positive=1)
trec = fp.evaluate(run, "roc_auc", "relevant", "score", by=["query"], **fp.TREC_EVAL)

# PR is the typed `.pr`.
pr = fp.PR(run)
curve: pl.DataFrame = pr.curve("relevant", "score", by="query")
print(curve["precision"].max(), curve.height)
of_lazy: pl.LazyFrame = fp.PR(run.lazy()).evaluate("f1@threshold=0.5", "relevant", "score")
of_pandas: pd.DataFrame = fp.PR(run_pd).average_precision("relevant", "score", by="query")
chained = fp.PR(pr.intervals("roc_auc", "relevant", "score")).format_table(decimals=2)
text: str = chained.upper()
compared = fp.compare(run, "average_precision", "relevant", ["score", "query"], by="query")
of_dict: pl.DataFrame = fp.compare({"a": run, "b": run}, "roc_auc", "relevant", "score")
confusion = pr.confusion("relevant", "score", threshold=0.5, rates=["mcc"], by="query")
tally = fp.PR(pr.tally("relevant", "score")).evaluate("rows", "relevant", "score", count="count")
parts: pl.DataFrame = fp.partitioned(run.lazy(), memory_budget="1GiB").roc_auc("relevant", "score")
plot = pr.plot("relevant", "score", by="query", x="fpr", y="recall", legend=False)
expression: pl.Expr = fp.ExprPR(pl.col("score")).roc_auc("relevant")
files: pl.DataFrame = fp.read_trec_qrels("qrels.txt").pipe(fp.join_judgments, run, on="query")


def mean(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame | pl.LazyFrame:
    """Pass on a frame of one of two kinds."""
    return fp.evaluate(frame, "average_precision", "relevant", "score", mean_over="query")
