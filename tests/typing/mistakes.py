"""Mistakes: at least three of the type checkers report each statement. Nothing runs this file."""

import polars as pl

import frame_pr as fp

run = pl.DataFrame({"query": [1, 1, 2], "relevant": [1, 0, 1], "score": [0.9, 0.8, 0.7]})
lazy = fp.average_precision(run.lazy(), "relevant", "score")

fp.average_precision(run, "relevant")
fp.average_precision(run, "relevant", 3)
fp.average_precision([0.9, 0.8], "relevant", "score")
fp.average_precision(run, "relevant", "score", "query")
fp.evaluate(run, 3, "relevant", "score")
fp.evaluate(run, "roc_auc", "relevant", "score", ties="best")
fp.evaluate(run, "roc_auc", "relevant", "score", sample_weight="score")
fp.precision_at_k(run, "relevant", "score", 10, weight="score")
fp.PR(run).averge_precision("relevant", "score")
fp.PR(run).average_precision("relevant", 3)
fp.PR(run).curve("relevant", "score", rates=5)
fp.PR(run).evaluate("roc_auc", "relevant", "score", unscored="ignore")
fp.roc_auc_score(run, "relevant", "score")
lazy["average_precision"]
fp.PR(run).average_precision("relevant", "score").collect()
fp.format_table(run) + 1
