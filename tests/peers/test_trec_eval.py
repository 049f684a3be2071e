"""trec_eval's answers, on scores without ties, which it breaks by the name of the document."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import pytrec_eval

KS = [1, 3, 5, 10, 30, 100]
LEVELS = [f"{i / 10}" for i in range(11)]


def searches(queries: int, seed: int, longest: int = 60) -> pl.DataFrame:
    """Rankings of every length, without ties; trec_eval keeps a score in 32 bits."""
    rng = np.random.default_rng(seed)
    parts = []
    for query in range(queries):
        size = int(rng.integers(1, longest))
        relevant = rng.random(size) < rng.choice([0.0, 0.05, 0.3, 0.5, 1.0])
        score = rng.permutation(size) - 20
        parts.append(
            pl.DataFrame({"relevant": relevant, "score": score}).with_columns(
                query=pl.lit(f"q{query}")
            )
        )
    return pl.concat(parts).with_columns(doc=pl.int_range(pl.len()).cast(pl.String))


def trec_eval(
    data: pl.DataFrame, measures: set[str], retrieved: str | None = None
) -> dict[str, dict[str, float]]:
    judged, run = {}, {}
    for query, relevant, score, doc, taken in data.select(
        "query", "relevant", "score", "doc", retrieved or pl.lit(True).alias("retrieved")
    ).iter_rows():
        judged.setdefault(query, {})[doc] = int(relevant)
        run.setdefault(query, {})
        if taken:
            run[query][doc] = float(score)
    return pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)


def listed(measure: str, values: list) -> str:
    return f"{measure}.{','.join(map(str, values))}"


DATA = searches(2000, seed=3)
NAMES = {
    "average_precision": "map",
    "r_precision": "Rprec",
    "positives": "num_rel",
    "rows": "num_ret",
    **{f"average_precision@{k}/positives": f"map_cut_{k}" for k in KS},
    **{f"precision@{k}": f"P_{k}" for k in KS},
    **{f"recall@{k}": f"recall_{k}" for k in KS},
}
MEASURES = {
    "map",
    "Rprec",
    "num_rel",
    "num_ret",
    listed("map_cut", KS),
    listed("P", KS),
    listed("recall", KS),
}


def test_cuts_and_averages():
    expected = trec_eval(DATA, MEASURES)
    # trec_eval says 0 where there is nothing to find.
    found = DATA.pr.evaluate(list(NAMES), "relevant", "score", by="query", undefined=0.0)
    assert found.height == len(expected) == 2000
    for row in found.iter_rows(named=True):
        theirs = expected[row["query"]]
        for ours, measure in NAMES.items():
            assert math.isclose(row[ours], theirs[measure], rel_tol=0, abs_tol=1e-12), (
                row["query"],
                ours,
            )


def rounded_otherwise(positives: int, level: str) -> bool:
    """Whether trec_eval's `(int)(level * P + .9)` in floats is another count than the exact one."""
    return int(float(level) * positives + 0.9) != math.ceil(Fraction(level) * positives)


def test_interpolated_precision_at_recall():
    names = {
        f"interpolated_precision@recall={level}": f"iprec_at_recall_{float(level):.2f}"
        for level in LEVELS
    }
    names["interpolated_average_precision_11"] = "11pt_avg"
    expected = trec_eval(DATA, {listed("iprec_at_recall", LEVELS), "11pt_avg"})
    found = DATA.pr.evaluate([*names, "positives"], "relevant", "score", by="query", undefined=0.0)
    compared = 0
    for row in found.iter_rows(named=True):
        for ours, measure in names.items():
            levels = LEVELS if measure == "11pt_avg" else [ours.rpartition("=")[2]]
            if not any(rounded_otherwise(row["positives"], level) for level in levels):
                assert math.isclose(
                    row[ours], expected[row["query"]][measure], rel_tol=0, abs_tol=1e-12
                ), (row, ours)
                compared += 1
    # The few others are trec_eval's rounding, and not ours.
    assert compared > 0.9 * len(names) * found.height


def test_where_trec_eval_rounds_otherwise():
    # .7 * 3 + .9 is 2.9999999999999996 in floats: trec_eval is content with 2 hits of 3 for a
    # recall of .7.
    assert rounded_otherwise(3, "0.7")
    assert not rounded_otherwise(10, "0.7")


def test_sets():
    # The documents retrieved, in no order, are predicted classes.
    data = DATA.with_columns(retrieved=pl.col("score") >= 0)
    expected = trec_eval(data, {"set_P", "set_recall", "set_F", "set_map"}, "retrieved")
    found = data.pr.confusion(
        "relevant", prediction="retrieved", by="query", undefined=0.0, rates="all"
    )
    at_threshold = data.pr.confusion(
        "relevant", "score", threshold=0, by="query", undefined=0.0, rates="all"
    )
    assert found.equals(at_threshold.drop("threshold"))
    # trec_eval does not list a query that retrieves nothing; precision is undefined there.
    answered = found.filter(pl.col("k") > 0)
    assert 1000 < answered.height < found.height
    for row in answered.iter_rows(named=True):
        theirs = expected[row["query"]]
        for ours, measure in (("precision", "set_P"), ("recall", "set_recall"), ("f1", "set_F")):
            assert math.isclose(row[ours], theirs[measure], rel_tol=0, abs_tol=1e-12), (row, ours)
        product = row["precision"] * row["recall"]
        assert math.isclose(product, theirs["set_map"], rel_tol=0, abs_tol=1e-12), row


def test_means_over_queries():
    expected = trec_eval(DATA, MEASURES)
    found = DATA.pr.evaluate(
        list(NAMES), "relevant", "score", by="query", mean_over="query", undefined=0.0
    )
    assert found["groups"].item() == 2000
    for ours, measure in NAMES.items():
        mean = sum(one[measure] for one in expected.values()) / 2000
        assert found[f"mean_{ours}"].item() == pytest.approx(mean, abs=1e-12)
