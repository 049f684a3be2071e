"""The recipes of docs/migration.md for search, against the tools themselves, or what they have published."""

import math
import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import near
from searches import RELEVANT, SEARCH, as_dicts, assert_equal, joined, search, trec_eval

import frame_pr as fp

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


def test_ir_measures():
    measures = pytest.importorskip("ir_measures")
    run, judgments = search(100, ties=True)
    # Our beta is 2, 1/2 and 1; its beta is 4, 1/4 and 1.
    asked = {
        "precision": measures.SetP,
        "recall": measures.SetR,
        "f1": measures.SetF,
        "f2": measures.SetF(beta=4.0),
        "f0.5": measures.SetF(beta=0.25),
        "set_map": measures.SetAP,
    }
    theirs: dict[str, dict[str, float]] = {}
    qrels = [measures.Qrel(*row) for row in judgments.rows()]
    for one in measures.iter_calc(list(asked.values()), qrels, [measures.ScoredDoc(*row) for row in run.rows()]):
        theirs.setdefault(one.query_id, {})[str(one.measure)] = one.value
    table = set_figures(run, judgments)
    flags = pl.col("score").is_not_null().cast(pl.Int8)
    names = ["f2@threshold=1", "f0.5@threshold=1"]
    policies = {"unjudged": "negative", "undefined": 0.0}
    figures = joined(run, judgments).pr.evaluate(names, RELEVANT, flags, by="query", **policies)
    table = table.join(figures.rename(lambda name: name.removesuffix("@threshold=1")), on="query")
    answered = {query: values for query, values in theirs.items() if query in run["query"]}
    assert_equal(table, answered, {name: str(measure) for name, measure in asked.items()})
    with pytest.raises(AssertionError):
        assert_equal(table, answered, {"f2": str(asked["f0.5"])})


@pytest.mark.parametrize("seed", range(5))
def test_means_of_ir_measures(seed):
    measures = pytest.importorskip("ir_measures")
    run, judgments = search(80, ties=True, seed=seed)
    asked = {
        "average_precision": measures.AP,
        "precision@5": measures.P @ 5,
        "recall@10": measures.R @ 10,
        "reciprocal_rank": measures.RR,
        "ndcg@10": measures.nDCG @ 10,
    }
    qrels = [measures.Qrel(*row) for row in judgments.rows()]
    found = [measures.ScoredDoc(*row) for row in run.rows()]
    theirs = measures.calc_aggregate(list(asked.values()), qrels, found)
    relevance = pl.col("relevance").clip(0)
    given = {"by": "query", "mean_over": "query", "gain": relevance, **TREC}
    ours = joined(run, judgments, drop_unjudged="query").pr.evaluate(list(asked), RELEVANT, "score", **given)
    for name, measure in asked.items():
        assert ours[f"mean_{name}"].item() == near(theirs[measure]), name
    # Queries that nobody judged would count as 0.
    unjudged = set(run["query"]) - set(judgments["query"])
    assert unjudged
    assert set(judgments["query"]) - set(run["query"])
    with pytest.warns(fp.DataWarning, match=f"unjudged: {len(unjudged)} group.* no label"):
        kept = joined(run, judgments).pr.evaluate(list(asked), RELEVANT, "score", **given)
    assert kept["groups"].item() == ours["groups"].item() + len(unjudged)
    assert kept["mean_average_precision"].item() < ours["mean_average_precision"].item()


# ranx ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # numba compiles, and warns of what it finds in ranx
def test_ranx():
    ranx = pytest.importorskip("ranx")
    run, judgments = search(60, ties=False)
    names = {
        "average_precision": "map",
        "average_precision@5/positives": "map@5",
        "precision@5": "precision@5",
        "recall@5": "recall@5",
        "f1@5": "f1@5",
        "r_precision": "r-precision",
    }
    qrels = ranx.Qrels(as_dicts(judgments, "relevance"))
    found = ranx.Run(as_dicts(run, "score"))
    means = ranx.evaluate(qrels, found, list(names.values()), make_comparable=True)
    judged = joined(run, judgments, drop_unjudged="query")
    ours = judged.pr.evaluate(list(names), RELEVANT, "score", by="query", mean_over="query", undefined=0.0, **SEARCH)
    for our_name, their_name in names.items():
        assert ours[f"mean_{our_name}"].item() == near(float(means[their_name])), our_name


# torchmetrics -------------------------------------------------------------------------------------------------------


def test_torchmetrics():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
        classification = pytest.importorskip("torchmetrics.functional.classification")
    rng = np.random.default_rng(2)
    parts = []
    for group in range(60):
        size = int(rng.integers(1, 30))
        truth = rng.random(size) < rng.choice([0.0, 0.3, 0.9])
        parts.append(pl.DataFrame({"query": group, "truth": truth, "score": rng.permutation(size) / 32 + 0.5}))
    data = pl.concat(parts)
    names = {
        "average_precision": lambda score, truth: retrieval.retrieval_average_precision(score, truth),
        "average_precision@5/hits": lambda score, truth: retrieval.retrieval_average_precision(score, truth, top_k=5),
        "precision@5": lambda score, truth: retrieval.retrieval_precision(score, truth, top_k=5),
        "recall@5": lambda score, truth: retrieval.retrieval_recall(score, truth, top_k=5),
        "r_precision": lambda score, truth: retrieval.retrieval_r_precision(score, truth),
    }
    ours = data.pr.evaluate(list(names), "truth", "score", by="query", undefined=0.0)
    theirs = {}
    for (query,), part in data.group_by("query"):
        score, truth = torch.tensor(part["score"].to_list()), torch.tensor(part["truth"].to_list())
        theirs[query] = {name: measure(score, truth).item() for name, measure in names.items()}
    assert_equal(ours, theirs, {name: name for name in names}, tolerance=1e-6)
    # The divisor is the hits: not min(k, P).
    least = data.pr.average_precision_at_k("truth", "score", k=5, by="query", undefined=0.0)
    with pytest.raises(AssertionError):
        assert_equal(least, theirs, {"average_precision@5": "average_precision@5/hits"}, tolerance=1e-6)
    # A score of 0 or less is never a hit: the second of the two hits is lost. With 3 added, AP is (1 + 2/3) / 2.
    score, truth = torch.tensor([2.0, 1.0, -1.0]), torch.tensor([1, 0, 1])
    assert retrieval.retrieval_average_precision(score, truth).item() == 1
    assert retrieval.retrieval_average_precision(score + 3, truth).item() == pytest.approx(5 / 6)
    # The classification metric takes tied scores together, as we do.
    tied = pl.DataFrame({"truth": rng.random(200) < 0.3, "score": rng.integers(0, 9, 200) / 8})
    score, truth = torch.tensor(tied["score"].to_list()), torch.tensor(tied["truth"].to_list())
    expected = classification.binary_average_precision(score, truth.int()).item()
    assert tied.pr.average_precision("truth", "score").item() == pytest.approx(expected, abs=1e-6)


# Spark --------------------------------------------------------------------------------------------------------------


def test_spark():
    # The example of pyspark.mllib.evaluation.RankingMetrics, whose documentation prints these digits.
    published = {
        "precision@1": "0.33",
        "precision@5": "0.26",
        "precision@15": "0.17",
        "average_precision": "0.35",
        "average_precision@1": "0.3333333333333333",
        "average_precision@2": "0.25",
        "recall@1": "0.06",
        "recall@5": "0.35",
        "recall@15": "0.66",
    }
    predictions = [[1, 6, 2, 7, 8, 3, 9, 10, 4, 5], [4, 1, 5, 6, 2, 7, 3, 8, 9, 10], [1, 2, 3, 4, 5]]
    relevant = {0: [1, 2, 3, 4, 5], 1: [1, 2, 3]}
    run = pl.DataFrame(
        [{"query": q, "id": d, "rank": r} for q, ids in enumerate(predictions) for r, d in enumerate(ids)]
    )
    judgments = pl.DataFrame([{"query": q, "id": d, "relevant": True} for q, ids in relevant.items() for d in ids])
    # The third query has no relevant ones, which is known: no label is missing.
    both = run.pr.join_judgments(judgments, on=["query", "id"]).with_columns(pl.col("relevant").fill_null(False))
    policies = {"undefined": 0.0}
    means = both.pr.evaluate(list(published), "relevant", -pl.col("rank"), by="query", mean_over="query", **policies)
    for name, digits in published.items():
        assert str(means[f"mean_{name}"].item()).startswith(digits), name
    # By hand: of five relevant ones the ranks 1, 3, 6, 9, 10; of three 2, 5, 7; and a query without any.
    first = sum(Fraction(i, rank) for i, rank in enumerate([1, 3, 6, 9, 10], 1)) / 5
    second = sum(Fraction(i, rank) for i, rank in enumerate([2, 5, 7], 1)) / 3
    assert means["mean_average_precision"].item() == near((first + second) / 3)
