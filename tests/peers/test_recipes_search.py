"""The recipes of docs/migration.md for search, against the tools themselves, or what they have published."""

import math
from fractions import Fraction

import polars as pl
import pytest
from compare import near
from searches import RELEVANT, SEARCH, assert_equal, joined, search, trec_eval

KS = [1, 3, 10, 40]


def test_the_searches_have_all_that_a_search_can_have():
    run, judgments = search(300, ties=True)
    both = joined(run, judgments)
    queries = both.group_by("query").agg(
        pl.col("score", "relevance").is_null().all(),
        unjudged=pl.col("relevance").is_null().any(),
        positives=RELEVANT.sum(),
    )
    assert queries.filter("score").height > 5
    assert queries.filter("relevance").height > 5
    assert queries.filter("unjudged").height > 50
    assert queries.filter((pl.col("positives") == 0) & ~pl.col("relevance")).height > 5
    assert both.filter(pl.col("score").is_null() & RELEVANT).height > 100
    assert both.pr.evaluate("tied_rows", RELEVANT, "score", **SEARCH).item() > 1000


# trec_eval ----------------------------------------------------------------------------------------------------------

TREC = {"tie_break": "document", "undefined": 0.0, **SEARCH}
TREC_NAMES = {
    "average_precision": "map",
    "r_precision": "Rprec",
    "positives": "num_rel",
    **{f"average_precision@{k}/positives": f"map_cut_{k}" for k in KS},
    **{f"precision@{k}": f"P_{k}" for k in KS},
    **{f"recall@{k}": f"recall_{k}" for k in KS},
}
TREC_MEASURES = {"map", "Rprec", "num_rel"} | {
    f"{name}.{','.join(map(str, KS))}" for name in ("map_cut", "P", "recall")
}


@pytest.mark.parametrize("ties", [False, True])
def test_trec_eval(ties):
    run, judgments = search(300, ties=ties)
    theirs = trec_eval(run, judgments, TREC_MEASURES)
    ours = joined(run, judgments).pr.evaluate(list(TREC_NAMES), RELEVANT, "score", by="query", **TREC)
    assert_equal(ours, theirs, TREC_NAMES)
    if ties:
        without = {name: value for name, value in TREC.items() if name != "tie_break"}
        other = joined(run, judgments).pr.average_precision(RELEVANT, "score", by="query", **without)
        with pytest.raises(AssertionError):
            assert_equal(other, theirs, {"average_precision": "map"})


def test_means_of_trec_eval():
    run, judgments = search(300, ties=True)
    theirs = [one["map"] for one in trec_eval(run, judgments, {"map"}).values()]
    judged = joined(run, judgments, drop_unjudged="query")
    answered = judged.filter(pl.col("score").is_not_null().any().over("query"))
    asked = judgments["query"].n_unique()
    assert len(theirs) < asked
    # With -c the sum is over all judged queries.
    for frame, count in ((answered, len(theirs)), (judged, asked)):
        mean = frame.pr.evaluate("average_precision", RELEVANT, "score", by="query", mean_over="query", **TREC)
        assert mean["groups"].item() == count
        assert mean["mean_average_precision"].item() == near(sum(theirs) / count)


def test_recall_levels_of_trec_eval():
    run, judgments = search(400, ties=True)
    run = run.join(judgments, on="query", how="semi")
    levels = [f"0.{i}" for i in range(10)] + ["1.0"]
    names = {level: f"iprec_at_recall_{float(level):.2f}" for level in levels}
    theirs = trec_eval(run, judgments, {f"iprec_at_recall.{','.join(levels)}", "num_rel"})
    both = joined(run, judgments)
    exact = both.pr.evaluate(
        [*(f"interpolated_precision@recall={level}" for level in levels), "positives"],
        RELEVANT,
        "score",
        by="query",
        **TREC,
    )
    rounded = 0
    for row in exact.filter(pl.col("query").is_in(list(theirs))).iter_rows(named=True):
        for level, name in names.items():
            positives, value = row["positives"], theirs[row["query"]][name]
            hits = int(float(level) * positives + 0.9)  # what it asks for
            if hits == math.ceil(Fraction(level) * positives):
                assert row[f"interpolated_precision@recall={level}"] == near(value), (row["query"], level)
            else:
                # Any recall above that of one hit less gives its number.
                asked = f"interpolated_precision@recall={(hits - 0.5) / positives}"
                query = both.filter(query=row["query"])
                assert query.pr.evaluate(asked, RELEVANT, "score", **TREC).item() == near(value), (row["query"], level)
                rounded += 1
    assert 5 < rounded < 0.1 * exact.height * len(levels)


def set_figures(run: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    retrieved = joined(run, judgments).with_columns(retrieved=pl.col("score").is_not_null())
    table = retrieved.pr.confusion(
        RELEVANT, prediction="retrieved", by="query", unjudged="negative", undefined=0.0, rates="all"
    )
    return table.with_columns(set_map=pl.col("precision") * pl.col("recall"))


def test_sets_of_trec_eval():
    run, judgments = search(300, ties=True)
    names = {"precision": "set_P", "recall": "set_recall", "f1": "set_F", "set_map": "set_map"}
    assert_equal(set_figures(run, judgments), trec_eval(run, judgments, set(names.values())), names)


# ir_measures --------------------------------------------------------------------------------------------------------


# ranx ---------------------------------------------------------------------------------------------------------------


# torchmetrics -------------------------------------------------------------------------------------------------------


# Spark --------------------------------------------------------------------------------------------------------------
