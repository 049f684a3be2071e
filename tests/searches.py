"""Runs and judgments for the tools of search, and what trec_eval says of them."""

import math

import numpy as np
import polars as pl

RELEVANT = pl.col("relevance") >= 1
SEARCH = {"unscored": "unretrieved", "unjudged": "negative"}


def search(queries: int, *, ties: bool, seed: int = 5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and graded judgments: some documents of a query are retrieved, some judged, or none."""
    rng = np.random.default_rng(seed)
    run, judgments = [], []
    for query in range(queries):
        size = int(rng.integers(1, 50))
        score = rng.integers(1, 8, size) / 4 if ties else rng.permutation(size) + 0.5
        # Names of different lengths: as text, d10 comes before d9.
        frame = pl.DataFrame(
            {"query": f"q{query}", "document": [f"d{n}" for n in rng.permutation(size)]}
        )
        retrieved, judged = (
            rng.random(size) < rng.choice([0.0, 0.6, 1.0], p=[0.05, 0.6, 0.35]) for _ in range(2)
        )
        relevance = rng.choice([-1, 0, 1, 2], size, p=[0.1, 0.5, 0.3, 0.1])
        run.append(frame.with_columns(score=score).filter(retrieved))
        judgments.append(frame.with_columns(relevance=relevance).filter(judged))
    return pl.concat(run), pl.concat(judgments).sample(fraction=1, shuffle=True, seed=1)


def joined(run: pl.DataFrame, judgments: pl.DataFrame, **given: str) -> pl.DataFrame:
    return run.pr.join_judgments(judgments, on=["query", "document"], **given)


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """One dict per query, from document to value, in the order of the rows."""
    return {
        query: dict(part.select("document", value).rows())
        for (query,), part in frame.group_by("query", maintain_order=True)
    }


def trec_eval(
    run: pl.DataFrame, judgments: pl.DataFrame, measures: set[str]
) -> dict[str, dict[str, float]]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(as_dicts(judgments, "relevance"), measures)
    return evaluator.evaluate(as_dicts(run, "score"))


def assert_equal(
    ours: pl.DataFrame, theirs: dict[str, dict[str, float]], names: dict[str, str], tolerance=1e-12
):
    """Their values, of each query that they have, under our names."""
    rows = {row["query"]: row for row in ours.iter_rows(named=True)}
    assert theirs
    for query, values in theirs.items():
        for our_name, their_name in names.items():
            found, expected = rows[query][our_name], values[their_name]
            assert math.isclose(found, expected, rel_tol=0, abs_tol=tolerance), (
                query,
                our_name,
                found,
                expected,
            )
