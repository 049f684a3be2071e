"""Mean score, Brier score and log loss: by hand, and as scikit-learn computes them."""

from math import log

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from sklearn.metrics import brier_score_loss, log_loss

import frame_pr as fp

NAMES = ["mean_score", "brier_score", "log_loss"]
DATA = pl.DataFrame({"q": [1, 1, 1, 2], "y": [1, 0, 0, 1], "s": [0.9, 0.2, 0.6, 0.5]})
KNOWN = [
    (1, near(1.7 / 3), near((0.01 + 0.04 + 0.36) / 3), near(-(log(0.9) + log(0.8) + log(0.4)) / 3)),
    (2, 0.5, 0.25, near(log(2))),
]


def test_known_answers():
    for frame in (DATA, DATA.lazy(), DATA.sample(fraction=1, shuffle=True, seed=1)):
        assert fp.evaluate(frame, NAMES, "y", "s", by="q").lazy().collect().rows() == KNOWN
    of_pandas = DATA.to_pandas().pr.evaluate(NAMES, "y", "s", by="q")
    assert pl.from_pandas(of_pandas).rows() == KNOWN
    rows = DATA.pr.with_metrics(NAMES, "y", "s", by="q").select("q", *NAMES).unique().sort("q")
    assert rows.rows() == KNOWN
    expressions = [pl.col("s").pr.metric(name, "y") for name in NAMES]
    assert DATA.group_by("q", maintain_order=True).agg(*expressions).rows() == KNOWN


def test_known_answers_in_parts():
    parts = fp.partitioned(DATA, partitions=2, progress=False)
    assert parts.evaluate(NAMES, "y", "s", by="q").sort("q").rows() == KNOWN
    whole = DATA.pr.evaluate(NAMES, "y", "s")
    assert_same(parts.evaluate(NAMES, "y", "s"), whole)
    counts = DATA.pr.tally("y", "s")
    assert_same(counts.pr.evaluate(NAMES, "y", "s", count="count"), whole)


def test_mean_score_of_the_first_rows():
    names = ["mean_score@1", "mean_score@2", "mean_score@50%", "mean_score@9"]
    found = DATA.pr.evaluate(names, "y", "s").row(0)
    assert found == (0.9, near(0.75), near(0.75), near(2.2 / 4))
    # A tie shares its score: 2, 1, 1.
    tied = pl.DataFrame({"y": [1, 0, 1], "s": [2, 1, 1]})
    assert tied.pr.evaluate(names[:2], "y", "s").row(0) == (2.0, 1.5)


@pytest.mark.parametrize("ties", ["threshold", "expected", "optimistic", "pessimistic", "order"])
def test_ties_do_not_matter(ties):
    tied = pl.DataFrame({"y": [1, 0, 1, 0], "s": [0.5, 0.5, 0.5, 0.25]})
    found = tied.pr.evaluate(NAMES, "y", "s", ties=ties).row(0)
    expected = (1.75 / 4, (3 * 0.25 + 0.0625) / 4, near((3 * log(2) - log(0.75)) / 4))
    assert found == expected


@pytest.mark.parametrize("weight", [None, "whole", "parts"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_values_of_scikit_learn(dtype, weight):
    rng = np.random.default_rng(7)
    score = rng.random(500).round(2).astype(dtype)
    score[:4] = [0, 1, 0, 1]
    truth = rng.random(500) < score
    truth[:4] = [True, False, False, True]
    weights = {"whole": rng.integers(0, 4, 500), "parts": rng.random(500).round(2)}
    data = pl.DataFrame({"y": truth, "s": score, **weights})
    found = data.pr.evaluate(NAMES, "y", "s", **{"weight": weight} if weight else {}).row(0)
    given = {"sample_weight": weights.get(weight)}
    assert found[0] == near(float(np.average(score.astype(float), weights=weights.get(weight))))
    assert found[1] == near(brier_score_loss(truth, score.astype(float), **given))
    # scikit-learn adds logarithms in the dtype of the scores.
    theirs = log_loss(truth, score, **given)
    assert found[2] == pytest.approx(theirs, rel=0, abs=float(np.finfo(dtype).eps) * 8)


def test_rows_without_a_score_are_left_out():
    data = pl.DataFrame({"q": [1, 1, 2], "y": [1, 0, 1], "s": [0.5, None, None]})
    call = {"truth": "y", "score": "s", "by": "q"}
    expected = [(1, 0.5, 0.25, near(log(2))), (2, None, None, None)]
    assert data.pr.evaluate(NAMES, **call, unscored="unretrieved").rows() == expected
    assert data.pr.evaluate(NAMES, **call, unscored="drop").rows() == expected
    means = data.pr.evaluate(NAMES, **call, unscored="drop", mean_over="q")
    assert means.row(0) == (2, 1, 0.5, 0.25, near(log(2)))


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
@pytest.mark.parametrize("score", [-0.1, 1.5, 2, float("inf")])
def test_scores_that_are_no_probabilities(name, score):
    data = pl.DataFrame({"y": [1, 0], "s": [1.0, score]})
    sentence = f"score: {name} reads a score as the probability of a positive, between 0 and 1; got"
    for frame in (data, data.lazy(), data.to_pandas()):
        with pytest.raises((ValueError, pl.exceptions.ComputeError), match=sentence):
            pl.collect_all([fp.evaluate(frame, name, "y", "s").lazy()])
    assert data.pr.evaluate("mean_score", "y", "s").item() == (1.0 + score) / 2
    dropped = data.with_columns(w=pl.Series([1, 0]))
    assert dropped.pr.evaluate("brier_score", "y", "s", weight="w").item() == 0.0


def test_lower_scores_that_rank_first_are_no_probabilities():
    with pytest.raises(
        ValueError, match=r"brier_score reads .* lower scores are positive: give 1 -"
    ):
        DATA.pr.evaluate("brier_score", "y", "s", ascending=True)


def test_infinite_scores_of_both_signs_have_no_mean():
    data = pl.DataFrame({"y": [1, 0], "s": [float("inf"), float("-inf")]})
    assert data.pr.evaluate("mean_score", "y", "s").item() is None
