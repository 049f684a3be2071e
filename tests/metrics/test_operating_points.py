"""Figures where a precision or a false positive rate is kept, and of a share of the rows."""

from fractions import Fraction

import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import given
from hypothesis import strategies as st
from names import call
from rankings import RANKINGS, values
from samples import CUT_BLOCK, LATE_BLOCK, PAIR, SIX, TEN, ranked

import frame_pr as fp


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        # Precision at the hits of the ten: 1, 1, 3/4, 2/3, 1/2. The last of at least .7 is at rank
        # 4, score 7.
        (TEN, "recall@precision=0.7", 3 / 5),
        (TEN, "threshold@precision=0.7", 7),
        (TEN, "k@precision=0.7", 4),
        (TEN, "precision@precision=0.7", 3 / 4),
        (TEN, "recall@precision=0.75", 3 / 5),
        (TEN, "recall@precision=0.751", 2 / 5),
        (TEN, "recall@precision=1", 2 / 5),
        (TEN, "threshold@precision=0.1", 1),
        # Of the six 1/2, 2/4, 3/5: at first not .6, and at the last hit it is.
        (SIX, "recall@precision=0.6", 1),
        (SIX, "threshold@precision=0.6", 2),
        # No threshold has .7: nothing is predicted.
        (SIX, "recall@precision=0.7", 0),
        (SIX, "k@precision=0.7", 0),
        (SIX, "precision@precision=0.7", None),
        (SIX, "threshold@precision=0.7", None),
        (LATE_BLOCK, "recall@precision=0.5", 1),
        # One false one of five is .2; it stands above the third hit, so that the threshold is that
        # of rank 4.
        (TEN, "recall@fpr=0.2", 3 / 5),
        (TEN, "threshold@fpr=0.2", 7),
        (TEN, "fpr@fpr=0.2", 1 / 5),
        (TEN, "recall@fpr=0", 2 / 5),
        (TEN, "threshold@fpr=0", 9),
        (TEN, "precision@fpr=1", 5 / 10),
        # The same of the negatives that are not predicted.
        (TEN, "recall@specificity=0.8", 3 / 5),
        (TEN, "threshold@specificity=0.8", 7),
        (TEN, "recall@specificity=1", 2 / 5),
        (SIX, "recall@specificity=1", 0),
        (SIX, "threshold@specificity=1", None),
        # Below rank 1, ..., 6 of the ten, the share of negatives is 5/9, 5/8, 4/7, 4/6, 3/5 and
        # 3/4. The first of at least .7 is below rank 6, score 5; of at least .6 below rank 2. None
        # is above 3/4.
        (TEN, "recall@npv=0.7", 4 / 5),
        (TEN, "threshold@npv=0.7", 5),
        (TEN, "k@npv=0.6", 2),
        (TEN, "npv@npv=0.6", 5 / 8),
        (TEN, "k@npv=0.1", 1),
        (TEN, "recall@npv=0.8", None),
        (TEN, "threshold@npv=0.8", None),
        # Below the last row there is none, so that its threshold has no NPV.
        (SIX, "k@npv=1", 5),
        (PAIR, "k@npv=0.5", None),
        # fp + R fn of the ten: nothing false and 3 missed at rank 2, 1 and 2 at the score 7.
        (TEN, "cost10@2", 30 / 10),
        (TEN, "cost3@threshold=7", 7 / 10),
        (TEN, "balanced_accuracy@threshold=7", (3 / 5 + 4 / 5) / 2),
        # Of 5 positives the first 2 rows may hold 2, the first 6 rows all: they hold 4.
        (TEN, "recall@2/min", 1),
        (TEN, "recall@6/min", 4 / 5),
        (TEN, "recall@30%/min", 2 / 3),
        # The lowest threshold that selects at most K rows, hits or not. The second score of
        # CUT_BLOCK has three rows.
        (TEN, "threshold@3", 8),
        (TEN, "threshold@30%", 8),
        (TEN, "threshold@100", 1),
        (CUT_BLOCK, "threshold@3", 2),
        (CUT_BLOCK, "threshold@4", 1),
        (PAIR, "threshold@1", None),
        # A miss comes first: without one there is no hit. Half of three are one.
        (SIX, "recall@fpr=0", 0),
        (SIX, "threshold@fpr=0", None),
        (SIX, "recall@fpr=0.5", 1 / 3),
        (SIX, "threshold@fpr=0.5", 5),
        # The row behind the last hit keeps both limits, and adds nothing.
        (SIX, "k@fpr=1", 5),
        (SIX, "threshold@fpr=1", 2),
        (SIX, "k@precision=0.5", 5),
        # The block of two hits and a miss is taken whole, or not at all: one of two misses.
        (CUT_BLOCK, "recall@fpr=0.4", 1 / 3),
        (CUT_BLOCK, "recall@fpr=0.5", 1),
    ],
)
def test_known_answers(data, name, value):
    assert_known(data, name, value)


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        # A fifth of ten rows are two, a quarter are three, and a thousandth is one.
        (TEN, "precision@20%", 1),
        (TEN, "recall@25%", 2 / 5),
        (TEN, "k@25%", 3),
        (TEN, "k@30%", 3),
        (TEN, "k@0.1%", 1),
        (TEN, "k@100%", 10),
        (TEN, "average_precision@25%", (1 + 1) / 3),
        (SIX, "average_precision@50%/positives", 1 / 2 / 3),
        (SIX, "f1@50%", 2 * 1 / (3 + 3)),
        # .07 * 100 is more than 7 in floats: of a hundred rows seven, not eight.
        (ranked(*[1] * 100), "k@7%", 7),
        (ranked(*[1] * 100), "k@7.000000000000001%", 8),
    ],
)
def test_known_answers_of_a_share_of_the_rows(data, name, value):
    assert 100 * 0.07 > 7
    assert_known(data, name, value)


def test_what_is_not_retrieved_belongs_to_the_rows():
    # Half of four rows are two, of which one is retrieved: half of a share of two is filled up with
    # a miss.
    data = pl.DataFrame({"relevant": [1, 1, 0, 0], "score": [1.0, None, None, None]}).with_columns(
        n=8
    )
    assert_known(data, "precision@50%", 1 / 2, unscored="unretrieved")
    # rows= says that there are eight: a quarter are two.
    assert_known(data, "k@25%", 2, unscored="unretrieved", total_rows="n")


def test_one_class_only():
    data = pl.DataFrame({"q": [1, 1, 2, 2], "relevant": [1, 1, 0, 0], "score": [2, 1, 2, 1]})
    names = [
        "recall@precision=0.5",
        "threshold@precision=0.5",
        "recall@fpr=0.5",
        "threshold@fpr=0.5",
        "k@fpr=0.5",
    ]
    found = call(data, "evaluate", metrics=names, by="q")
    # Of positives alone there is no false positive rate; of negatives alone no recall, and no step.
    assert found.rows() == [(1, 1.0, 1, None, None, None), (2, None, None, None, None, 0)]


def test_weights():
    # Weights 1, 4 of hits, 2, 3 of misses: precision 1/1, 5/7 at rank 3; fpr 0, 2/5.
    data = ranked(1, 0, 1, 0).with_columns(w=pl.Series([1, 2, 4, 3]))
    for factor in (1, 0.25):  # whole, and with fractions
        weighed = data.with_columns(w=pl.col("w") * factor)
        assert_known(weighed, "recall@precision=0.7", 1, weight="w")
        assert_known(weighed, "recall@precision=0.72", 1 / 5, weight="w")
        assert_known(weighed, "recall@fpr=0.4", 1, weight="w")
        assert_known(weighed, "recall@fpr=0.39", 1 / 5, weight="w")
        assert_known(weighed, "threshold@fpr=0.4", 2, weight="w")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        # One positive among five: 1/5 of (1 + 1/2 + ... + 1/5) = 137/60.
        (ranked(0, 1, 0, 0, 0), 137 / 300),
        # H = 7381/2520 and (P - 1) / (N - 1) = 4/9 of the ten: (1 - 4/9) H / 10 + 4/9.
        (TEN, Fraction(5, 9) * Fraction(7381, 25200) + Fraction(4, 9)),
        (ranked(1, 1), 1),
        (ranked(1), 1),
        (ranked(0, 0), None),
    ],
)
def test_known_answers_of_chance(data, value):
    assert_known(data, "chance_average_precision", value)


def test_known_answers_of_normalized_average_precision():
    chance = Fraction(5, 9) * Fraction(7381, 25200) + Fraction(4, 9)
    assert_known(TEN, "normalized_average_precision", (Fraction(47, 60) - chance) / (1 - chance))
    # A positive at rank 2 of five: (1/2 - 137/300) / (163/300) = 13/163; at rank 1 it is 1.
    assert_known(ranked(0, 1, 0, 0, 0), "normalized_average_precision", 13 / 163)
    assert_known(ranked(1, 0, 0, 0, 0), "normalized_average_precision", 1)
    # Without negatives chance is as good as can be.
    assert_known(ranked(1, 1), "normalized_average_precision", None)


@pytest.mark.parametrize(("positives", "rows"), [(1, 9), (2, 3), (7, 100), (999, 1000)])
def test_one_block_of_all_rows_is_no_better_than_chance(positives, rows):
    # Not by a last bit: it is 0, and not -2e-17.
    data = ranked(*[1] * positives, *[0] * (rows - positives)).with_columns(score=pl.lit(0.5))
    result = fp.evaluate(data, "normalized_average_precision", "relevant", "score", ties="expected")
    assert result.item() == 0


@given(RANKINGS, st.integers(1, 20), st.integers(0, 20))
def test_limits_are_kept_and_no_larger_recall_is(data, least, most):
    precision = least / 20
    fpr = most / 20
    heads = ["tp", "fp", "k", "fpr", "precision", "threshold"]
    found = values(
        data,
        [f"{head}@{cut}" for head in heads for cut in (f"precision={precision}", f"fpr={fpr}")],
    )
    curve = data.pr.curve("relevant", "score").select("threshold", "k", "tp").rows()
    positives = data["relevant"].sum()
    negatives = data.height - positives
    for cut, within in (
        (f"precision={precision}", lambda k, tp: 20 * tp >= least * k),
        (f"fpr={fpr}", lambda k, tp: negatives and 20 * (k - tp) <= most * negatives),
    ):
        before = 0
        steps = []
        for threshold, k, tp in curve:
            if tp > before and within(k, tp):
                steps.append((threshold, k, tp))
            before = tp
        if cut.startswith("fpr") and not negatives:
            assert found[f"tp@{cut}"] is None
            continue
        # Of all that keep the limit the largest recall; and of the thresholds that have it the
        # highest, a step.
        assert (
            tuple(found[f"{head}@{cut}"] for head in ("threshold", "k", "tp"))
            == (steps or [(None, 0, 0)])[-1]
        )


def test_capped_recall_of_many_positives():
    # The example of BEIR: of 500 relevant documents, 100 are found among the first 100.
    data = ranked(*[1] * 500)
    assert_known(data, "recall@100", 1 / 5)
    assert_known(data, "recall@100/min", 1)


def test_net_benefit():
    # 80 of 100 positives and 200 of 900 negatives score at least 0.2: 80/1000 - 200/1000 * 0.2/0.8.
    rows = {"relevant": [1, 1, 0, 0], "score": [0.5, 0.1, 0.5, 0.1], "n": [80, 20, 200, 700]}
    data = pl.DataFrame(rows)
    assert_known(data, "net_benefit@threshold=0.2", 0.03, count="n")
    assert_known(data, "standardized_net_benefit@threshold=0.2", 0.3, count="n")
    # To treat all: 0.1 - 0.9 / 4. To treat none: 0.
    everyone = data.with_columns(score=pl.lit(0.5))
    assert_known(everyone, "net_benefit@threshold=0.2", -0.125, count="n")
    assert_known(data, "net_benefit@threshold=0.9", 0, count="n")


@pytest.mark.parametrize("t", ["0.1", "0.25", "0.5", "0.8"])
def test_net_benefit_is_a_cost(t):
    # Vickers and Elkin (2006): prevalence - w cost, of a missed positive that costs 1 / w, at the
    # odds w of t.
    w = Fraction(t) / (1 - Fraction(t))
    data = TEN.with_columns(pl.col("score") / 11)
    cost = float(1 / w)
    found = data.pr.evaluate(
        [f"net_benefit@threshold={t}", f"cost{cost!r}@threshold={t}", "prevalence"],
        "relevant",
        "score",
    )
    benefit, cost_there, prevalence = found.row(0)
    assert benefit == near(prevalence - float(w) * cost_there)


@pytest.mark.parametrize("height", [60, 3000])
def test_metrics_are_the_same_bits_beside_one_that_reads_all_blocks(height):
    # Sums over steps do not become sums over all blocks, whose zeros would change the order of
    # additions.
    rows = pl.int_range(height, eager=True)
    data = pl.DataFrame(
        {"q": rows % 3, "relevant": rows * rows % 7 == 2, "score": rows * 37 % 1001}
    )
    names = [
        "average_precision",
        "roc_auc",
        "ndcg",
        "max_f1",
        "equal_error_rate",
        "precision@recall=0",
        "tp@10",
    ]
    beside = data.pr.evaluate(
        [*names, "threshold@10", "threshold@equal_error_rate"], "relevant", "score", by="q"
    )
    assert beside.select("q", *names).equals(data.pr.evaluate(names, "relevant", "score", by="q"))
    alone = data.pr.evaluate("threshold@10", "relevant", "score", by="q")
    assert beside.select("q", "threshold@10").equals(alone)
