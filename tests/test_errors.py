"""What an error says: the call, which is the name of its test, and a sentence of its message."""

import datetime as dt
import inspect
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

run = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b"],
        "rel": [1, 0, 0, 1, 1],
        "pred": [1, 0, 1, 1, 0],
        "s": [0.9, 0.8, 0.7, 0.6, 0.5],
        "lab": list("xyyxx"),
        "w": [1.0, 2.0, 1.0, 1.0, 3.0],
        "grade": [0, 1, 2, 3, 0],
    }
)
NAMES = {
    "run": run,
    "pdf": run.to_pandas(),
    "lazy": run.lazy(),
    "fp": fp,
    "pl": pl,
    "pd": pd,
    "np": np,
    "dt": dt,
}
NAMES |= {"Decimal": Decimal, "objects": pl.Series([object()] * 5, dtype=pl.Object)}
NAMES["levels"] = NAMES["pdf"].set_axis(pd.MultiIndex.from_product([["m"], run.columns]), axis=1)
NAMES |= {"S": pl.col("s").pr, "parts": fp.partitioned(run, partitions=2, progress=False)}
NAMES |= {"shares": pl.DataFrame({"q": list("aab"), "n": [0.1] * 3})}
NAMES |= {"renamed": {"x": "average_precision", "undefined": "recall@1"}}
NAMES |= {"compared": fp.compare(run, "rows", "rel", ["s", "w"], mean_over="q")}
NAMES |= {"lists": pl.DataFrame({"u": [1, 2], "t": [[1], [2]], "r": [[3, 1], [4]]})}

KEYWORDS = """
intervals(confidance=)           | did you mean confidence=?
intervals(clusters=)             | did you mean cluster=?
compare(random_state=)           | did you mean seed=?
compare(n_resamples=)            | did you mean resamples= or repeats=?
compare(labels=)                 | compare takes
evaluate(group_by=)              | did you mean by=?
evaluate(meanover=)              | did you mean mean_over=?
evaluate(amount=)                | did you mean gain=?
evaluate(pos_label=)             | did you mean positive=?
evaluate(y_true=)                | did you mean truth=?
evaluate(rows=)                  | did you mean total_rows=?
report(top_k=)                   | did you mean k=?
report(sample_weight=)           | report does not take weight=: a report has metrics at ranks
tally(n_bins=)                   | did you mean bins=?
tally(tie_breaker=)              | tally does not take tie_break=: rows of the tally
tally(xyzzy=)                    | tally takes truth, score, by, bins
curve(truth_col=)                | did you mean truth=?
curve(figures=)                  | did you mean rates=?
curve(mean_over=)                | evaluate(..., mean_over=...) gives means over groups
curve(rel_threshold=)            | a level of relevance makes labels, truth=pl.col('grade') >= 2
confusion(rel_threshold=)        | a level of relevance makes labels, truth=pl.col('grade') >= 2
plot_intervals(xlabel=)          | ax.set(...) and ax.figure.savefig(...) do that with ax=...
average_precision(kind=)         | plot(..., x='fpr', y='recall') does that
average_precision(baseline=)     | compare(..., baseline=...) names the system of the differences
average_precision(base_rate=)    | did you mean prevalence=?
curve(zero_division=)            | what has no value stays null here: fill_null(...) fills it
confusion(y_pred=)               | did you mean prediction= or score=?
confusion_matrix(labels=)        | did you mean classes=?
confusion_matrix(normalize=)     | of_truth for 'true' and of_prediction for 'pred'
partitioned(memory_limit=)       | did you mean memory_budget=?
average_precision(wieght=)       | did you mean weight=?
average_precision(descending=)   | ascending=True ranks lower scores first
average_precision(top_k=)        | average_precision_at_k and others take k=
roc_auc(max_fpr=)                | evaluate('roc_auc@fpr=0.1', ...) gives the partial area
average_precision(n_boot=)       | intervals(..., method='bootstrap') and compare(...) draw samples
precision_at_k(threshold=)
    | evaluate takes names with a cutoff, such as 'precision@threshold=0.5'
roc_auc(cluster=)                | intervals and compare take cluster=
roc_auc(df=)                     | the frame comes first, without a name
"""
CALLS = """
fp.average_precision([1, 0], [0.9, 0.8])
    | the frame comes first, then the names of its columns; got [1, 0]
fp.average_precision("rel.csv", "rel", "s")  | the frame is a path
run.pr.average_precision("rel", "s", "q")
    | takes truth, score by position; name the other arguments, as in by='q'
run.pr.confusion("rel", "s", 0.5)  | name the other arguments, as in threshold=0.5
run.pr.average_precision("rel")  | takes truth, score by position; score is missing
run.pr.average_precision("REL", "s")  | truth: no column 'REL' in the frame; did you mean 'rel'?
run.pr.average_precision(pl.col("rell") > 0, "s")
    | truth: no column 'rell' in the frame; did you mean 'rel'?
run.pr.f_beta(pl.col("nope"), "s")  | truth: no column 'nope' in the frame
run.pr.average_precision(["pred", "rel"], "s")  | truth takes the name of one column; got a list
run.pr.average_precision("rel", True)  | score takes the name of a column, or several; got True
run.pr.average_precision("rel", {"a": "s"})  | got a dict: give the names of the columns as a list
run.pr.average_precision("rel", run["s"])  | add it to the frame and give its name
run.pr.average_precision(pl.when(pl.col("rel") > 0), "s")
    | got a polars When: finish it with .then(...).otherwise(...)
run.pr.average_precision("rel", pl.col("s").head(1))
    | score: this expression gives 1 value for 5 rows
lazy.pr.average_precision("rel", pl.col("s").filter(pl.col("rel") > 0)).collect()
    | gives 3 values for 5 rows
run.pr.average_precision("rel", pl.col("lab").cast(int))
    | score: this expression cannot be computed
run.pr.average_precision("rel", "s", by=["rel", "s"])
    | column 'rel' is given twice, to by= and to truth=
run.pr.average_precision("s", "rel")  | truth comes first, then score
run.pr.average_precision("lab", "s")  | name its positive label, positive=...; it holds 'x', 'y'
pdf.pr.average_precision("lab", "s")  | name its positive label, positive=...; it holds 'x', 'y'
run.pr.average_precision("lab", "s", positive="z")
    | truth column 'lab' has no 'z', it holds 'x', 'y'
run.pr.average_precision("rel", "s", positive="1")  | positive='1' cannot be a value of column 'rel'
run.pr.average_precision("rel", "s", positive=dt.date(1970, 1, 2))
    | positive=1970-01-02 cannot be a value of column 'rel'
run.pr.ndcg("grade", "s")  | grades go to gain=, classes through unpivot_classes
run.pr.average_precision("rel", "lab")  | pl.col('lab').cast(pl.Float64), in pandas astype(float)
run.pr.average_precision("rel", pl.col("pred") == 1)
    | predicted classes go to confusion(truth, prediction=...)
run.with_columns(s=None).pr.average_precision("rel", "s")
    | it has no values, cast it before the call
run.with_columns(s=pl.lit([0.1, 0.9])).pr.average_precision("rel", "s")
    | such as the probability of the positive class
run.with_columns(rel=pl.concat_list("rel")).pr.average_precision("rel", "s")
    | explode_lists(...) makes rows of lists
run.with_columns(s=pl.Series([1.0, None, 3, 4, 5])).pr.average_precision("rel", "s")
    | score column 's' has 1 missing of 5 values
run.with_columns(rel=pl.Series([1, None, 0, 1, 1])).pr.average_precision("rel", "s")
    | unjudged='negative' counts these rows as negatives
run.pr.average_precision("rel", "s", ties="x")  | ties must be 'threshold', 'expected'
run.pr.average_precision("rel", "s", ties=pl.col("q"))  | ties must be 'threshold', 'expected'
run.pr.average_precision("rel", "s", ascending="yes")  | ascending must be True or False, got 'yes'
run.pr.average_precision("rel", "s", undefined="0")
    | undefined must be a number, got '0': write the number without
run.pr.average_precision("rel", "s", ties="order", tie_break="lab")
    | tie_break=: a ranking does not take it with ties=
run.pr.average_precision("rel", "s", positive=Decimal("NaN"))
    | positive=Decimal('NaN') cannot be a value of column
run.pr.average_precision("rel", "s", positive=Decimal("inf"))
    | positive=Decimal('Infinity') cannot be a value
run.pr.average_precision("rel", "s", weight=np.array(2))
    | weight takes the name of one column; got a numpy ndarray
lazy.pr.average_precision("rel", "s", weight=pl.col("nope"))
    | weight: no column 'nope' in the frame
lazy.pr.average_precision("rel", pl.selectors.by_name("s", "nope"))
    | does not fit the frame: "nope" not found
run.pr.average_precision("rel", "s", total_positives=2.0)
    | total_positives takes a column, or a frame
run.pr.precision_at_k("rel", "s", k=2, total_rows=np.float64("nan"))
    | one more; got a numpy float64
run.pr.average_precision("rel", "s", prevalence=10**400)
    | prevalence must lie between 0 and 1, both excluded; got inf
run.pr.intervals("roc_auc", "rel", "s", confidence=10**400)
    | confidence must be at least 0.5 and below 1; got 1000
run.pr.report("rel", "s", wide=np.ones(2))  | wide must be True or False, got a numpy ndarray
run.pr.evaluate("rows", "rel", "s", by="q", mean_over=len)
    | mean_over takes the name of a column, or several
run.with_columns(q=objects).pr.confusion_matrix("lab", pl.col("lab") + "", by="q")
    | by column 'q' is Object
run.pr.confusion_matrix("lab", pl.col("lab") + "", classes=["x", pd.NA])
    | classes takes labels; got a pandas NAType
run.pr.evaluate(["rows", np.ones(2)], "rel", "s")
    | metrics takes names of metrics; got a numpy ndarray
run.pr.evaluate("rows", "rel", "s", by=["q", "lab"], mean_over=["q", pl.col("lab")])
    | mean_over takes names of columns, no expressions
run.pr.unpivot_classes("lab", prediction="pred", classes=["x", np.ones(2)])
    | classes takes labels; got a numpy ndarray
run.pr.plot("rel", "s", facet=True, mean_over="q")
    | name columns, by=..., besides those of mean_over=
run.pr.plot("rel", "s", by="q", facet=pl.col("q"))  | facet takes names of columns, no expressions
run.pr.plot("rel", "s", by="q", mean_over=len)
    | mean_over takes the name of a column, or several; got the function len
run.pr.plot("rel", pl.selectors.by_name("s", "rel"))
    | column 'rel' is given twice, to truth= and to score=
run.pr.plot("rel", "s", color="rel")  | color: 'rel' is no color of a line in matplotlib
run.pr.plot("rel", "s", linewidth=run)  | linewidth: a polars DataFrame is no linewidth of a line
run.pr.plot("rel", "s", colors=np.array(["red"]))
    | colors takes a dict such as {'old': '0.5'}; got a numpy ndarray
run.pr.plot("rel", "s", labels="")  | labels takes a dict such as {'s1': 'Baseline'}; got ''
run.pr.plot("rel", "s", by=pl.concat_list("q"))
    | column 'q' is List(String), and a plot needs one value per row
run.pr.evaluate("roc_auc", "rel", "s", by="q").cast(pl.String).pr.plot_intervals()
    | 'roc_auc' of this one is String
run.pr.gains_table("rel", "s", bins=2).cast({"share": pl.String}).pr.plot_gains()
    | and column 'share' of this one is String; cast it to numbers
run.pr.confusion("rel", "s", k=2).cast({"tp": pl.String}).pr.plot_confusion()
    | 'tp' of this one is String; cast it
compared.with_columns(system=objects.head(1)).pr.plot_comparison()
    | column 'system' is Object, and a plot needs one value per row
run.pr.confusion("rel", "s", k=2).pr.plot_confusion(ax=[1, 2])
    | ax must be a matplotlib Axes, got a list
run.pr.confusion("rel", "s", k=2).pr.plot_confusion(ax=[])
    | ax must be a matplotlib Axes, got a list
run.pr.average_precision("rel", "s", weight="w", prevalence=0.1)
    | both say how much rows count: give one of the two
run.pr.average_precision("rel", "s", prevalence=50)  | write 0.5 for 50 percent
run.pr.average_precision("rel", "s", prevalence="0.1")  | write the number without quotes, 0.1
run.pr.average_precision("rel", "s", by="q", total_positives=5)
    | total_positives takes a column, or a frame of the by columns and one more
run.pr.average_precision("rel", "s", by="q", prevalence=shares)
    | prevalence frame has 1 row more than groups, such as 'a': it must have one row for each
run.pr.average_precision("rel", "s", total_positives=pl.DataFrame())
    | frame has the columns none: it must
run.pr.average_precision("rel", "s", by="q", total_positives=pl.DataFrame({"q": ["a"], "n": [3]}))
    | total_positives frame has no row for 1 of 2 groups, such as
fp.compare(run.with_columns(n=1), "roc_auc", "rel", ["s", "w"], count="n")
    | count=: a standard error does not take it; a row stands for several
run.pr.evaluate("precision@npv=0", "rel", "s")  | npv must be above 0 and at most 1, got 0
run.pr.evaluate(renamed, "rel", "s", by="q", mean_over="q")
    | two columns of the result would be named 'undefined'
run.pr.intervals("roc_auc", "rel", "s", method="bootstrap", repeats=1_000_001)
    | repeats must be at most 1000000
run.pr.precision_at_k("rel", "s", k=2**62)  | k must be below 2**62
run.pr.evaluate("precision@100.5%", "rel", "s")  | above 0% and at most 100%, got 100.5%
run.pr.evaluate("precision@2", "rel", "s", weight="w")
    | use a threshold or a recall instead, or leave out weight=
run.pr.intervals("roc_auc", "rel", "s", confidence=100)
    | must be at least 0.5 and below 1; got 100: write 0.95
run.pr.intervals("roc_auc", "rel", "s", confidence=0.05)  | got 0.05: write 0.95
run.pr.precision_at_k("rel", "s", k="5")
    | k must be a whole number of at least 1, got '5': write the number without quotes, 5
run.pr.precision_at_k("rel", "s", k=5.0)  | got 5.0: write 5
run.pr.tally("rel", "s", bins=0.0)  | got 0.0
run.pr.precision_at_k("rel", "s", k=range(1, 3001))  | k: 3000 values are more than 1000
run.pr.confusion("rel", "s")  | confusion takes one of threshold=, k=, prediction=; got none
run.pr.plot_gains("rel", "s")
    | plot_gains takes only its frame by position: Draw a gains table
run.pr.plot_intervals(truth="rel")
    | unexpected keyword argument 'truth'; plot_intervals takes metric
run.pr.confusion("rel", "pred")  | predicted classes are prediction='pred'
run.pr.confusion("rel", "s", threshold=0.5, k=2)  | got threshold=0.5 and k=2
run.pr.confusion("rel", "s", k=2, weight="w")
    | weight=: confusion does not take it with k=; weighted rows have no rank
run.pr.confusion("rel", prediction="s")  | probabilities are a score, with threshold=...
run.pr.evaluate("rel", "s", ["rows"])
    | the metrics come first, then truth and score; got metrics='rel'
run.pr.evaluate(["MAP", "nDCG@10", "mrr"], "rel", "s")
    | did you mean ['average_precision', 'ndcg@10', 'reciprocal_rank']?
run.pr.evaluate({"rows": "n"}, "rel", "s")  | the new name comes first, then the metric
run.pr.evaluate("gini", "rel", "s")  | it is 2 * roc_auc - 1
run.pr.intervals("rel", "s")  | and a frame of metrics neither; the metrics come first
run.with_columns(c=pl.lit(float("nan"))).pr.intervals("roc_auc", "rel", "s", cluster="c")
    | 'c' has 5 missing of 5
run.pr.intervals("rows", "rel", "s", confidence=95)  | write 0.95
run.pr.compare("average_precision", "rel", "s", by=["lab", "q"])
    | or name the column that tells the systems apart, between=...
run.pr.evaluate(b"rows", "rel", "s")  | metrics takes names of metrics; got b'rows'
run.pr.evaluate("recall@precision=90", "rel", "s")  | write 0.9 for 90 percent
run.pr.average_precision("rel", "s", weight=pl.lit(-1.0))
    | holds -1.0: weights are finite, and 0 or more
run.pr.average_precision("rel", "s", count=pl.lit(1.5))  | a row stands for a whole number of rows
run.pr.average_precision("rel", "s", by="q", total_positives=pl.lit(0))
    | a total of 0 for a group in which the frame has 1 already
run.pr.average_precision("rel", "s", total_positives=pl.lit(2.5))
    | a total is a whole number below 2**56
run.pr.average_precision("rel", "s", positive=0.5)  | positive=0.5 cannot be a value of column 'rel'
run.pr.average_precision("rel", pl.lit(2**100).cast(pl.Int128))
    | values of more than 63 bits: cast it to Float64
run.pr.evaluate("f2@2", "rel", "s", weight="w")  | have no rank: use a threshold or a recall instead
run.pr.evaluate("rbp0.8", "rel", "s", weight="w")  | uses ranks, and weighted rows have no rank
run.pr.with_metrics({"group": "roc_auc"}, "rel", "s")  | metrics: frame_pr uses the name 'group'
run.pr.evaluate("ndcg", "rel", "s", gain=pl.lit(-1.0))  | gains are finite, and 0 or more
run.pr.evaluate("ndcg", "rel", "s", gain="w", weight="w")  | give one of the two
run.pr.evaluate("roc_auc", "rel", "s", gain="w")  | none of them is asked for: leave it out
run.pr.evaluate("max_accuracy", "rel", "s", ties="expected")  | no closed form in expectation
run.pr.evaluate("recall@precision=0.5", "rel", "s", ties="expected")
    | no closed form in expectation
run.pr.evaluate("precision@0", "rel", "s")  | k must be a whole number of at least 1, got 0
run.pr.evaluate("precision@200%", "rel", "s")
    | k must be a share of the rows above 0% and at most 100%
run.pr.evaluate("net_benefit@threshold=1.5", "rel", "s")  | needs a threshold that is a probability
run.pr.evaluate("rbp1.5", "rel", "s")  | the persistence of rbp must lie between 0 and 1
run.pr.evaluate("f0", "rel", "s")  | it needs a cutoff, such as f0@10 or f0@threshold=0.5
run.pr.evaluate("precison@5", "rel", "s")
    | no metric is named 'precison@5'; did you mean 'precision@5'?
run.pr.evaluate("precision@recall=80%", "rel", "s")  | did you mean 'precision@recall=0.8'?
run.pr.evaluate("f1_threshold_0.5", "rel", "s")  | did you mean 'f1@threshold=0.5'?
run.pr.evaluate("precision_recall_0.5", "rel", "s")  | did you mean 'precision@recall=0.5'?
run.pr.evaluate("recall@0.5", "rel", "s")
    | did you mean 'recall@threshold=0.5' or 'recall@recall=0.5'?
run.pr.evaluate("f1@threshold", "rel", "s")  | did you mean 'f1@threshold=0.5'?
run.pr.evaluate("precision@thresh=0.7", "rel", "s")  | did you mean 'precision@threshold=0.7'?
run.pr.plot("rel", "s", mean_over=True)  | mean_over=True averages the groups of by=
run.pr.iprec  | evaluate('interpolated_precision@recall=0.8', ...) computes it
run.pr.evaluate(["rows", "rows"], "rel", "s")  | metrics has 'rows' twice
run.pr.evaluate("rows", "rel", "s", by="q", mean_over="lap")
    | no column 'lap' in the frame; did you mean 'lab'?
run.pr.evaluate("rows", "rel", "s", by="q", mean_over="q", statistics="mode")
    | and quantiles such as 'q25'
run.pr.evaluate("rows", "rel", "s", by=pl.col("q").alias("rows"))  | is named like a result column
run.pr.with_metrics("rows", "rel", ["s", "w"])  | metrics as extra columns need one score at a time
run.pr.curve("rel", "s", rates="average_precision")
    | no rate is named 'average_precision'; there are k, tp
run.pr.curve("rel", "s", rates="f1x")  | did you mean 'f1'?
run.pr.curve("rel", "s", points=1)  | points must be a whole number of at least 2, got 1
run.pr.f_beta("rel", "s", beta=0)  | beta must be a positive number, got 0
run.pr.confusion("rel", "s", threshold=float("nan"))  | threshold must be a number, got nan
run.pr.confusion("rel", "s", threshold=[0.5, 0.5])  | threshold has '0.5' twice
run.pr.confusion("rel", "s", k=[3, 3])  | k has '3' twice
run.pr.confusion("rel", "s", k=["5%", "5%"])  | k has '5%' twice
run.pr.confusion("rel", "s", k=["5%", "5.0%"])  | k has '5%' twice
run.pr.confusion("rel", "s", threshold=[])  | threshold is an empty list: give at least one value
run.pr.precision_at_k("rel", "s", k=2**70)  | k must be below 2**62
run.pr.interpolated_average_precision("rel", "s", points=7)
    | points must be 11 or 101, or None, got 7
run.pr.average_precision_at_k("rel", "s", k=2, divisor="rows")
    | divisor must be 'min', 'positives' or 'hits'
run.pr.gains_table("rel", "s", bins=0)  | bins must be one of 2, 4, 5
run.pr.gains_table("rel", "s", weight="w")  | weighted rows have no rank
run.pr.confusion_matrix("lab", "rel")
    | is String and prediction column 'rel' is Int64: cast one of them
run.pr.with_metrics("rows", "rel", "s", prefix=None)  | prefix must be text, got None
run.pr.curve("rel", "s", rates=["f1", "f1"])  | rates has 'f1' twice
run.pr.join_judgments(run, on=[["q"]])  | on takes the name of a column, or several; got a list
run.pr.join_judgments(run, on="q")
    | that is not in on: rename or drop it in one of them, or name it in on=
run.pr.join_judgments(run.select("q"), on=["q", "d"])  | on: no column 'd' in the run
run.pr.join_judgments(run.select("q"), on="q", drop_unjudged="s")
    | drop_unjudged: column 's' is not in on
run.head(2).pr.join_judgments(run.select("q").unique(), on="q")
    | in the run, 1 value of (q) stands in more than one row
run.pr.join_judgments(lazy, on="q")  | must both be polars DataFrames, both LazyFrames
lists.pr.explode_lists("u", "r", by="u")  | column 'u' is given twice, to truth= and to by=
lists.pr.explode_lists("t", "u", by=[])  | by names no column: give at least one
lists.with_columns(r=pl.lit("1,2")).pr.explode_lists("t", "r", by="u")
    | ranked column 'r' is String: it must hold lists; split texts
lists.with_columns(r=pl.lit([0.5])).pr.explode_lists("t", "r", by="u")
    | lists of labels and of their scores need frame.explode('t', 'r')
lists.with_columns(r=pl.lit([5, 5])).pr.explode_lists("t", "r", by="u")
    | has 5 twice at 1 (2 such lists): duplicates='miss'
lists.with_columns(u=1).pr.explode_lists("t", "r", by="u")  | by names 1 in more than one row
lists.with_columns(g=pl.lit([1, 1])).pr.explode_lists("t", "r", by="u", gain="g")
    | has lists of other lengths
lists.pr.explode_lists("t", "r", by="u", scores=["t", "t"])
    | column 't' is given twice in scores: name it once
lists.rename({"u": "item"}).pr.explode_lists("t", "r", by="item")
    | the frame has a column 'item', as the result has one
run.pr.unpivot_classes("lab")  | unpivot_classes takes scores, prediction= or both: got none
run.pr.unpivot_classes("lab", ["s", "w"])
    | truth column 'lab' has labels that are no class: 'x' 3 times
run.pr.unpivot_classes("rel", prediction="pred", classes=["0", "1"])
    | the classes are texts: give the labels as the column has them
run.pr.unpivot_classes("lab", prediction="lab", classes="x")
    | classes takes a list of labels, got 'x'
run.pr.unpivot_classes("lab", {"x": "s", "y": "lab"})
    | column 'lab' is given twice, to truth= and to scores=
fp.read_trec_run(5)  | path must be text or a path, got 5
fp.read_trec_run("no such file")  | No such file
fp.read_trec_run(".")  | Is a directory
fp.partitioned(run, memory_budget="1..5GB")  | memory_budget must be a size such as '4GiB'
fp.partitioned(run.to_pandas())  | a pandas frame is in memory already
fp.partitioned(run.rename({"q": "count"}), progress=False).tally("rel", "s", by="count")
    | is named like the one
parts.curve("rel", "s")  | a partitioned frame has
pdf.rename(columns={"q": 0, "lab": "0"}).pr.average_precision("rel", "s", by=[0, "0"])
    | the frame has 2 columns named 0 and '0'
levels.pr.average_precision(("m", "rel"), ("m", "s"), by=("m", "q"))
    | the columns of the frame have 2 levels: give them plain names
pdf.pr.join_judgments(pdf[["q"]].set_index("q"), on="q")
    | on: 'q' is in the index of the judgments: reset_index()
pdf.set_index("q").pr.average_precision("rel", "s", by="q")  | reset_index() makes a column of it
run.select(S.average_precision("rel", weight="w"))
    | average_precision takes truth, positive, ascending
run.select(S.average_precision("rel", positive=Decimal("NaN")))
    | positive=Decimal('NaN') cannot be a value of column 'rel'
run.select(S.average_precision(5))
    | truth takes the name of one column, or a polars expression; got 5
run.select(S.average_precision("lab"))  | truth 'lab' is String, neither boolean nor 0/1
run.select(pl.col("s").mean().pr.average_precision("rel"))
    | score 's' gives 1 and truth 'rel' 5 values: each
run.pr.read_trec_run  | .pr has no 'read_trec_run': it is a function, frame_pr.read_trec_run(...)
run.pr.evalute  | .pr has no 'evalute'; did you mean 'evaluate'?
run.pr.max_f1  | .pr has no 'max_f1'; evaluate('max_f1', ...) computes it
run.pr.recall_at_precision  | evaluate('recall@precision=0.9', ...) computes it
run.pr.success_at_k  | evaluate('success@10', ...) computes it
run.pr.auc  | evaluate('roc_auc', ...) computes it
run.pr.ci  | .pr has no 'ci'; intervals(...) does that
run.pr.significance  | .pr has no 'significance'; compare(...) does that
run.pr.bootstrap  | intervals(..., method='bootstrap') does that
run.pr.plot_roc  | plot(..., x='fpr', y='recall') does that
run.pr.describe  | report(...) does that
run.pr.brier  | .pr has no 'brier'; evaluate('brier_score', ...) computes it
run.pr.gini  | .pr has no 'gini'; it is 2 * roc_auc - 1
run.pr.xyzzy  | print(frame.pr) lists the methods
fp.versoin  | module 'frame_pr' has no attribute 'versoin'
run.pr.significance  | compare(...) does that
"""


def rows(table: str) -> list[tuple[str, str]]:
    # A long sentence is on a line of its own.
    lines = table.strip().replace("\n    | ", " | ").splitlines()
    return [
        (call.strip(), sentence.strip())
        for call, sentence in (line.rsplit(" | ", 1) for line in lines)
    ]


@pytest.mark.parametrize(
    ("call", "sentence"), rows(KEYWORDS), ids=[call for call, _ in rows(KEYWORDS)]
)
def test_unknown_keywords(call, sentence):
    # Before anything else is looked at: no frame is needed, nor an argument.
    function, word = call.removesuffix("=)").split("(")
    with pytest.raises(TypeError) as raised:
        getattr(fp, function)(**{word: 1})
    assert str(raised.value).startswith(f"unexpected keyword argument {word!r}; ")
    assert sentence in str(raised.value)


@pytest.mark.parametrize(("call", "sentence"), rows(CALLS), ids=[call for call, _ in rows(CALLS)])
def test_calls(call, sentence):
    with pytest.raises((TypeError, ValueError, AttributeError, OSError)) as raised:
        eval(call, NAMES)
    message = str(raised.value)
    assert sentence in message
    assert len(message.partition("\n\nThis error occurred")[0]) < 400


def message_of(call: str) -> str:
    """The message of a call of the tables above."""
    function, _, word = call.removesuffix("=)").partition("(")
    with pytest.raises((TypeError, ValueError, AttributeError, OSError)) as raised:
        getattr(fp, function)(**{word: 1}) if call.endswith("=)") else eval(call, NAMES)
    return str(raised.value)


@pytest.mark.parametrize("call", [call for call, _ in rows(KEYWORDS) + rows(CALLS)])
def test_what_a_message_names_works(call):
    message = message_of(call)
    suggested = message.rpartition("did you mean ")[2] if "did you mean " in message else ""
    names = re.findall(r"'([^']+)'", suggested)
    arguments = [] if names else re.findall(r"(\w+)=", suggested)
    if arguments:
        function = call.split("(")[0].removeprefix("run.pr.")
        assert {*arguments} <= {*inspect.signature(getattr(fp, function)).parameters}
    elif names and "no metric" in message:
        run.pr.evaluate(list(dict.fromkeys(names)), "rel", "s")
    elif "no rate is named" in message:
        run.pr.curve("rel", "s", rates=names)
    elif "no column" in message:
        assert {*names} <= {*map(str, run.columns), *NAMES["lists"].columns}
    elif ".pr has no" in message:
        assert all(hasattr(run.pr, name) for name in names)

    for name in re.findall(r"evaluate\('([^']+)', \.\.\.\) computes it", message):
        run.pr.evaluate(name, "rel", "s")
    for name, given in re.findall(r"(\w+)\(([^()]*)\) does that", message):
        words = {*re.findall(r"(\w+)=", given)}
        assert words <= {*inspect.signature(getattr(fp, name)).parameters}
