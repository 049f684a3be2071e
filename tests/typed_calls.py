"""Calls whose types mypy and pyright are asked for, by `test_typing.py`; never run."""

from typing import assert_type

import ibis
import pandas as pd
import polars as pl
from dask.dataframe import DataFrame as DaskDataFrame
from pyspark.sql import DataFrame as SparkDataFrame

import frame_pr as fp
import frame_pr.dask
import frame_pr.ibis
import frame_pr.spark


def functions(eager: pl.DataFrame, lazy: pl.LazyFrame, pandas: pd.DataFrame) -> None:
    assert_type(fp.average_precision(eager, "truth", "score", by="query"), pl.DataFrame)
    assert_type(fp.average_precision(lazy, "truth", "score", by=["query", "day"]), pl.LazyFrame)
    assert_type(fp.average_precision(pandas, "truth", "score", ties="expected", weight="n"), pd.DataFrame)
    assert_type(fp.average_precision(eager, pl.col("truth") > 1, ["a", "b"], by=pl.col("query")), pl.DataFrame)
    assert_type(fp.average_precision_at_k(lazy, "truth", "score", k=[1, 5], divisor="positives"), pl.LazyFrame)
    assert_type(fp.interpolated_average_precision(pandas, "truth", "score", points=11), pd.DataFrame)
    assert_type(fp.precision_at_k(eager, "truth", "score", 5), pl.DataFrame)
    assert_type(fp.recall_at_k(lazy, "truth", "score", 5), pl.LazyFrame)
    assert_type(fp.r_precision(pandas, "truth", "score"), pd.DataFrame)
    assert_type(fp.precision_at_recall(eager, "truth", "score", 0.5), pl.DataFrame)
    assert_type(fp.k_at_recall(lazy, "truth", "score", 0.5), pl.LazyFrame)
    assert_type(fp.f_beta(pandas, "truth", "score", beta=2), pd.DataFrame)
    assert_type(fp.confusion(eager, "truth", prediction="predicted"), pl.DataFrame)
    assert_type(fp.curve(lazy, "truth", "score", figures="f1"), pl.LazyFrame)
    assert_type(fp.with_curve(pandas, "truth", "score"), pd.DataFrame)
    assert_type(
        fp.evaluate(eager, ["rows", "average_precision_lift"], "truth", "score", by="query", mean_over="query"),
        pl.DataFrame,
    )
    assert_type(
        fp.evaluate(lazy, {"MAP": "average_precision_lift"}, "truth", "score", mean_over=True, statistics=["q25"]),
        pl.LazyFrame,
    )
    metrics = [f"precision@{k}" for k in (1, 5)]  # any text may be a metric's name, and lists of text names of them
    assert_type(fp.evaluate(eager, metrics, "truth", "score", mean_over=True, statistics="q2.5"), pl.DataFrame)
    assert_type(fp.evaluate(eager, dict.fromkeys(metrics, "average_precision_lift"), "truth", "score"), pl.DataFrame)
    assert_type(fp.confusion_matrix(pandas, "shown", "predicted", classes=["a", "b"]), pd.DataFrame)
    assert_type(fp.explode_lists(eager, "relevant", ["old", "new"], by="user"), pl.DataFrame)
    assert_type(fp.unpivot_classes(lazy, "shown", {"a": "p_a", "b": "p_b"}), pl.LazyFrame)
    assert_type(fp.PR(pandas).unpivot_classes({"a": "is_a"}, {"a": "p_a"}), pd.DataFrame)
    assert_type(fp.with_metrics(lazy, "average_precision_lift", "truth", "score"), pl.LazyFrame)
    assert_type(fp.report(pandas, "truth", "score", k=[1, 5]), pd.DataFrame)
    assert_type(fp.join_judgments(lazy, lazy, on=["query", "document"]), pl.LazyFrame)
    assert_type(fp.read_trec_run("run.txt"), pl.DataFrame)


def backends(spark: SparkDataFrame, dask: DaskDataFrame) -> None:
    assert_type(fp.evaluate(spark, "average_precision_lift", "truth", "score", by="query"), SparkDataFrame)
    assert_type(frame_pr.spark.average_precision(spark, "truth", "score", by="query"), SparkDataFrame)
    assert_type(fp.PR(spark).tally("truth", "score"), SparkDataFrame)
    assert_type(fp.evaluate(dask, "average_precision_lift", "truth", "score", by="query"), DaskDataFrame)
    assert_type(frame_pr.dask.ndcg(dask, "truth", "score", by="query"), DaskDataFrame)


def databases(table: ibis.Table) -> None:
    assert_type(frame_pr.ibis.evaluate(table, "average_precision_lift", "truth", "score", by="query"), pl.DataFrame)
    assert_type(frame_pr.ibis.roc_auc(table, "truth", ["a", "b"], by="query", ties="expected"), pl.DataFrame)
    assert_type(frame_pr.ibis.tally(table, "truth", "score", bins=[0, 1]), ibis.Table)


def methods(eager: pl.DataFrame, lazy: pl.LazyFrame, pandas: pd.DataFrame) -> None:
    assert_type(fp.PR(eager).average_precision("truth", "score", by="query", ties="order"), pl.DataFrame)
    assert_type(fp.PR(lazy).average_precision("truth", "score"), pl.LazyFrame)
    assert_type(fp.PR(pandas).average_precision("truth", "score"), pd.DataFrame)
    assert_type(fp.PR(eager).precision_at_k("truth", "score", k=5), pl.DataFrame)
    assert_type(fp.PR(lazy).curve("truth", "score", by="query"), pl.LazyFrame)
    assert_type(fp.PR(pandas).evaluate("average_precision_lift", "truth", "score", undefined=0.0), pd.DataFrame)
    assert_type(fp.PR(eager).join_judgments(eager, on="document"), pl.DataFrame)
    assert_type(fp.PR(lazy).report("truth", "score").filter(pl.col("rows") > 1), pl.LazyFrame)
    assert_type(fp.ExprPR(pl.col("score")).average_precision("truth"), pl.Expr)


def pipes(eager: pl.DataFrame, lazy: pl.LazyFrame, pandas: pd.DataFrame) -> None:
    assert_type(eager.pipe(fp.average_precision, "truth", "score", by="query"), pl.DataFrame)
    assert_type(lazy.pipe(fp.average_precision, "truth", "score"), pl.LazyFrame)
    assert_type(pandas.pipe(fp.average_precision, "truth", "score"), pd.DataFrame)
