import re

import polars as pl
import pytest
from compare import assert_same, near
from names import AT_CUT, COUNTS, NAMES
from samples import TEN, groups

import frame_pr as fp

# Three queries of two models; one query has no positive, one model answers one of them only.
RUNS = pl.DataFrame(
    {
        "model": ["a"] * 7 + ["b"] * 4,
        "query": [1, 1, 1, 2, 2, 3, 3, 1, 1, 3, 3],
        "relevant": [1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0],
        "score": [9, 8, 7, 6, 5, 4, 3, 9, 8, 7, 6],
    }
)
# AP by hand. a, 1: (1/1 + 2/3) / 2 = 5/6; a, 2: 1/2; b, 1: 1/2; query 3 has no positive.
AP = {("a", 1): 5 / 6, ("a", 2): 1 / 2, ("a", 3): None, ("b", 1): 1 / 2, ("b", 3): None}


def test_one_column_per_name_in_the_order_asked_for():
    names = ["precision@2", "rows", "average_precision", "k@recall=0.5", "positives"]
    result = TEN.pr.evaluate(names, "relevant", "score")
    assert result.columns == names
    # Hits at ranks 1, 2, 4, 6, 10: half of five is reached with the third of them.
    assert result.row(0) == (1.0, 10, near(47 / 60), 4, 5)


@pytest.mark.parametrize("name", ["by0", "key0", "truth", "score", "0"])
@pytest.mark.parametrize("score", ["s", ["s", "t"]])
def test_new_names_that_are_also_names_of_columns_inside(name, score):
    frame = pl.DataFrame({"q": ["a", "a", "b"], "y": [0, 1, 1], "s": [2, 1, 1], "t": [1, 1, 1]})
    # In group a the positive is second, or tied with the negative. "by0" was an error.
    result = fp.evaluate(frame, {name: "average_precision"}, "y", score, by="q")
    assert result[name].to_list() == ([0.5, 1.0] if score == "s" else [0.5, 0.5, 1.0, 1.0])


def test_figures_at_a_threshold_with_and_without_a_ranking():
    # Alone they need one aggregation; beside a metric that ranks they come from its blocks.
    data = groups()
    names = [name for name in NAMES if "@threshold=" in name]
    alone = data.pr.evaluate(
        [*names, "rows", "positives", "prevalence"], "relevant", "score", by="q"
    )
    ranked = data.pr.evaluate(
        ["tied_rows", *names, "rows", "positives", "prevalence"], "relevant", "score", by="q"
    )
    assert_same(ranked.drop("tied_rows"), alone)


# names
# ------------------------------------------------------------------------------------------------


# mean_over
# ------------------------------------------------------------------------------------------------


def test_mean_average_precision_per_model():
    result = RUNS.pr.evaluate(
        ["average_precision", "positives"],
        "relevant",
        "score",
        by=["model", "query"],
        mean_over="query",
    )
    columns = [
        "model",
        "groups",
        "undefined",
        "mean_average_precision",
        "mean_positives",
    ]
    assert result.columns == columns
    # a: (5/6 + 1/2) / 2 over two of its three queries, b: 1/2 over one of two. Positives: (2 + 1 +
    # 0) / 3, (1 + 0) / 2.
    assert result.rows() == [("a", 3, 1, near(2 / 3), 1.0), ("b", 2, 1, 0.5, 0.5)]


def test_mean_with_undefined_filled():
    result = RUNS.pr.evaluate(
        ["average_precision", "k@recall=1"],
        "relevant",
        "score",
        by=["model", "query"],
        mean_over=["query"],
        undefined=0.0,
    )
    # The fill takes part in the mean: a (5/6 + 1/2 + 0) / 3, b (1/2 + 0) / 2; there is nothing left
    # to count. Counts are not filled: recall 1 takes 3 and 2 rows in a, 2 in b.
    columns = [
        "model",
        "groups",
        "undefined",
        "mean_average_precision",
        "mean_k@recall=1",
    ]
    assert result.columns == columns
    assert result.rows() == [("a", 3, 1, near(4 / 9), 2.5), ("b", 2, 1, 0.25, 2.0)]


def test_mean_over_all_keys():
    for over in (["model", "query"], ["query", "model"]):
        result = RUNS.pr.evaluate(
            "average_precision", "relevant", "score", by=["model", "query"], mean_over=over
        )
        assert result.columns == ["groups", "undefined", "mean_average_precision"]
        assert result.rows() == [(5, 2, near((5 / 6 + 1 / 2 + 1 / 2) / 3))]


def test_mean_over_systems():
    data = RUNS.with_columns(other=-pl.col("score"))
    result = data.pr.evaluate(
        "average_precision",
        "relevant",
        ["score", "other"],
        by=["model", "query"],
        mean_over=["model", "query"],
    )
    # other ranks backwards. a, 1: (1/1 + 2/3) / 2; a, 2: 1; b, 1: 1. The systems stand in the order
    # asked for.
    columns = ["system", "groups", "undefined", "mean_average_precision"]
    assert result.columns == columns
    expected = [("score", 5, 2, near(11 / 18)), ("other", 5, 2, near(17 / 18))]
    assert result.rows() == expected


def test_a_key_named_system_beside_one_score():
    data = RUNS.rename({"model": "system"})
    given = {"by": ["system", "query"], "mean_over": "query"}
    result = data.pr.evaluate("average_precision", "relevant", "score", **given)
    # As for the models above.
    assert result.rows() == [("a", 3, 1, near(2 / 3)), ("b", 2, 1, 0.5)]


def test_mean_over_the_system():
    data = RUNS.with_columns(other=-pl.col("score"))
    result = data.pr.evaluate(
        "average_precision", "relevant", ["score", "other"], by="query", mean_over="system"
    )
    assert result.columns == [
        "query",
        "groups",
        "undefined",
        "mean_average_precision",
    ]
    # Only query 2 is of one model alone: 1/2 and 1.
    assert result.rows()[1] == (2, 2, 0, 0.75)


# Of these every group has a value: counts, and shares of what cannot be empty. Where a recall is
# not reached, none has.
ALWAYS_DEFINED = {"rows", "positives", "tied_rows", "prevalence"}
ALWAYS_DEFINED |= {
    name
    for name in AT_CUT
    if name.partition("@")[0] in (*COUNTS, "accuracy", "prevalence", "selection_rate", "cost3")
}
ALWAYS_DEFINED |= {name for name in AT_CUT if re.fullmatch("(precision|fdr)@[0-9.%]+", name)}
ALWAYS_DEFINED -= {name for name in AT_CUT if re.search("@(recall|fpr|specificity|npv)=", name)}
ALWAYS_DEFINED |= {name for name in NAMES if re.match("dcg|rbp|judged|net_benefit", name)}
# Predicting nothing is within a limit of precision, which it has none of.
ALWAYS_DEFINED |= {
    name
    for name in NAMES
    if re.fullmatch(
        "((fn|selection_rate)@)?(min_cost[0-9.]+|max_(accuracy|precision))(@precision=.*)?", name
    )
}


def test_only_what_may_be_undefined_is_counted():
    call = {"by": "q", "mean_over": "q"}
    for name in NAMES:
        result = fp.evaluate(groups(), name, "relevant", "score", **call)
        assert ("undefined" in result.columns) == (name not in ALWAYS_DEFINED), name


def test_a_group_is_undefined_if_any_metric_has_no_value():
    # Group 1 has no negative, and so no ROC AUC; group 2 no positive, and so neither metric;
    # group 3 has both.
    data = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "relevant": [1, 1, 0, 0, 0, 1], "score": [2, 1] * 3}
    )
    call = {"truth": "relevant", "score": "score", "by": "q", "mean_over": "q"}
    names = ["average_precision", "roc_auc", "rows"]
    for frame in (data, data.lazy(), data.to_pandas()):
        means = fp.evaluate(frame, names, **call, statistics=["mean", "defined"])
        row = pl.DataFrame(means.lazy().collect() if isinstance(means, pl.LazyFrame) else means)
        assert row.row(0, named=True) == {
            "groups": 3,
            "undefined": 2,
            "mean_average_precision": 0.75,
            "defined_average_precision": 2,
            "mean_roc_auc": 0.0,
            "defined_roc_auc": 1,
            "mean_rows": 2.0,
            "defined_rows": 3,
        }
    assert data.pr.evaluate(names, **call).columns[:2] == ["groups", "undefined"]
    # What has a value in every group needs no such column.
    assert data.pr.evaluate("rows", **call).columns == ["groups", "mean_rows"]
    filled = data.pr.evaluate(names, **call, undefined=0.0)
    assert filled.row(0) == (3, 0.5, 0.0, 2.0)


def test_the_mean_is_that_of_the_groups():
    data = groups().with_columns(model=pl.col("q") % 3)
    names = [
        "average_precision",
        "max_f1",
        "precision@3",
        "k@recall=0.8",
        "threshold@max_f1",
        "rows",
        "tied_rows",
    ]
    finite = data.filter(pl.col("score").is_finite())
    result = finite.pr.evaluate(names, "relevant", "score", by=["model", "q"], mean_over="q")
    apart = finite.pr.evaluate(names, "relevant", "score", by=["model", "q"])
    expected = apart.group_by("model").agg(
        pl.len().alias("groups"),
        pl.any_horizontal(pl.col(names).is_null()).sum().alias("undefined"),
        *(pl.col(name).mean().name.prefix("mean_") for name in names),
    )
    assert_same(result, expected.sort("model"), dtypes=False)


# several systems
# ------------------------------------------------------------------------------------------------


def test_several_scores_are_the_calls_one_by_one():
    data = groups().with_columns(
        flat=pl.lit(1, dtype=pl.Int8),
        backwards=-pl.col("score"),
        rounded=pl.col("score").clip(-9, 9).round(1),
    )
    systems = ["score", "backwards", "rounded", "flat"]
    names = [
        "average_precision",
        "precision@3",
        "max_f1",
        "rows",
        "positives",
        "tied_rows",
        "recall@threshold=0.5",
    ]
    result = data.pr.evaluate(names, "relevant", systems, by="q")
    assert result.columns == ["q", "system", *names]
    one_by_one = [
        data.pr.evaluate(names, "relevant", system, by="q").with_columns(system=pl.lit(system))
        for system in systems
    ]
    order = pl.col("system").replace_strict(dict(zip(systems, range(4), strict=True)))
    expected = pl.concat(one_by_one).sort("q", order).select(result.columns)
    assert_same(result, expected, dtypes=False)


def test_a_list_of_one_score_has_a_system_too():
    result = RUNS.pr.average_precision("relevant", ["score"], by="query")
    assert result.columns == ["query", "system", "average_precision"]
    assert result["system"].to_list() == ["score"] * 3


def test_a_system_key_is_taken():
    data = RUNS.rename({"model": "system"})
    with pytest.raises(
        ValueError, match="by column 'system' is named like a result column: rename it"
    ):
        data.pr.average_precision("relevant", ["score"], by="system")
    # With one score there is no such column, and no clash.
    assert data.pr.average_precision("relevant", "score", by="system").height == 2


# with_metrics
# ------------------------------------------------------------------------------------------------


def test_with_metrics_is_evaluate_joined_to_the_rows():
    data = RUNS.sample(fraction=1, shuffle=True, seed=5).with_columns(note=pl.int_range(pl.len()))
    names = ["average_precision", "rows", "precision@2"]
    result = data.pr.with_metrics(names, "relevant", "score", by=["model", "query"])
    assert result.columns == [*data.columns, *names]
    groups = data.pr.evaluate(names, "relevant", "score", by=["model", "query"])
    assert_same(
        result,
        data.join(groups, on=["model", "query"], how="left", maintain_order="left"),
        dtypes=False,
    )


def test_with_metrics_and_undefined():
    by = {"by": ["model", "query"]}
    result = RUNS.pr.with_metrics("average_precision", "relevant", "score", undefined=0.0, **by)
    assert result.filter(query=3)["average_precision"].to_list() == [0.0] * 4


def test_with_metrics_clash_and_prefix():
    data = TEN.with_columns(rows=pl.lit("mine"))
    with pytest.raises(
        ValueError, match="the frame has a column 'rows' already: prefix= puts something before"
    ):
        data.pr.with_metrics(["positives", "rows"], "relevant", "score")
    result = data.pr.with_metrics(["positives", "rows"], "relevant", "score", prefix="group_")
    assert result.columns == ["relevant", "score", "rows", "group_positives", "group_rows"]
    assert result.row(0)[2:] == ("mine", 5, 10)


def test_names_in_snake_case():
    names = [
        "precision@10",
        "f1@threshold=-0.5",
        "recall@10%",
        "average_precision@5/hits",
        "max_f1",
    ]
    snake = ["precision_at_10", "f1_at_threshold_minus_0_5", "recall_at_10_percent"]
    snake += ["average_precision_at_5_over_hits", "max_f1"]
    result = RUNS.pr.evaluate(names, "relevant", "score", by="query", names="snake")
    assert result.columns == ["query", *snake]
    assert_same(
        result.rename(dict(zip(snake, names, strict=True))),
        RUNS.pr.evaluate(names, "relevant", "score", by="query"),
    )
    means = RUNS.pr.evaluate("precision@2", "relevant", "score", mean_over="query", names="snake")
    assert means.columns == ["groups", "mean_precision_at_2"]


def test_the_list_of_metrics():
    table = fp.metrics()
    assert table.columns == ["name", "meaning", "cutoff", "options"]
    assert table["name"].is_unique().all()
    assert table.null_count().select("name", "meaning", "options").row(0) == (0, 0, 0)
    row = table.filter(name="ndcg").row(0, named=True)
    assert row["cutoff"] == "none, K, K%"
    assert "gain" in row["options"]
    assert "weight" not in row["options"]


def test_trec_eval_leaves_out_queries_that_nobody_judged():
    run = pl.DataFrame(
        {
            "query": ["a", "a", "b", "c", "c"],
            "document": ["x", "y", "x", "x", "y"],
            "relevant": [1, None, None, 0, 0],
            "score": [1.0, 2.0, 1.0, 2.0, None],
        }
    )
    call = {"by": "query", **fp.TREC_EVAL}
    for frame in (run, run.lazy()):
        result = (
            frame.pr.evaluate(["average_precision", "rows"], "relevant", "score", **call)
            .lazy()
            .collect()
        )
        assert result.rows() == [("a", 0.5, 2), ("c", 0.0, 2)]
    assert (
        run.pr.evaluate("average_precision", "relevant", "score", mean_over="query", **call)[
            "groups"
        ].item()
        == 2
    )
    assert run.pr.with_metrics("rows", "relevant", "score", **call)["rows"].to_list() == [
        2,
        2,
        None,
        2,
        2,
    ]
    # `undefined` fills c, which has no positive, and not b, which has no label.
    joined = run.pr.with_metrics("average_precision", "relevant", "score", **call)
    assert joined["average_precision"].to_list() == [0.5, 0.5, None, 0.0, 0.0]
    assert (
        run.pr.with_curve("relevant", "score", by="query", unjudged="trec_eval", unscored="drop")[
            "k"
        ][2]
        is None
    )


def test_unjudged_queries_of_totals_and_of_tallies():
    run = pl.DataFrame(
        {
            "query": ["a", "a", "b", "b"],
            "relevant": [True, None, None, None],
            "score": [2.0, 1.0, 2.0, 1.0],
            "count": [0, 3, 1, 1],
        }
    )
    call = {"truth": "relevant", "score": "score", "by": "query", "unjudged": "trec_eval"}
    # Query a has a label, although no row stands for it; without it, three negatives are left.
    counts = fp.evaluate(run, ["positives", "rows"], **call, count="count")
    assert counts.rows() == [("a", 0, 3)]
    totals = pl.DataFrame({"query": ["a", "b", "c"], "total": [4, 2, 5]})
    # b and c keep their row, because their positives are known, and have none in the frame.
    recalls = fp.evaluate(run, ["recall@2", "positives"], **call, total_positives=totals)
    assert recalls.rows() == [("a", 0.25, 4), ("b", 0.0, 2), ("c", 0.0, 5)]


@pytest.mark.parametrize("by", [None, "model"])
def test_a_misspelt_column_of_means_is_that_of_mean_over(by):
    for frame in (RUNS, RUNS.lazy(), RUNS.to_pandas()):
        call = {"truth": "relevant", "score": "score", "by": by, "mean_over": "qery"}
        with pytest.raises(ValueError, match=r"^mean_over: no column 'qery' in the frame; did you"):
            frame.pr.evaluate("average_precision", **call)
        with pytest.raises(ValueError, match=r"^mean_over: no column 'qery' in the frame; did you"):
            frame.pr.confusion(**call, threshold=0.5)
