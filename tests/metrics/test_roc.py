import numpy as np
import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import given
from hypothesis import strategies as st
from names import call
from rankings import BOTH_CLASSES, values
from samples import FOUR, SIX, TEN, groups, ranked
from scipy.optimize import brentq
from sklearn.metrics import roc_curve

import frame_pr as fp

TIE = pl.DataFrame({"relevant": [1, 0, 1], "score": [2, 1, 1]})


@pytest.mark.parametrize(
    ("data", "value"),
    [
        # Below the positives at ranks 1, 2, 4, 6, 10 stand 5, 5, 4, 3 and 0 of the five negatives.
        (TEN, 17 / 25),
        # Below those at ranks 2, 4, 5 stand 2, 1 and 1 of the three.
        (SIX, 4 / 9),
        # The negative is below one positive, and level with the other: (1 + 1/2) / 2.
        (TIE, 3 / 4),
    ],
    ids=["ten", "six", "tie"],
)
def test_known_answers(data, value):
    assert call(data, "evaluate", metrics="roc_auc").item() == near(value)
    # Of one group, parts are ranges of the scores.
    parts = fp.partitioned(data, partitions=3, progress=False)
    assert parts.evaluate("roc_auc", "relevant", "score").item() == near(value)


@pytest.mark.parametrize(
    ("ties", "value"),
    # The positive of the tie comes before the negative, or after it, or either is as likely.
    [
        ("threshold", 3 / 4),
        ("expected", 3 / 4),
        ("optimistic", 1),
        ("pessimistic", 1 / 2),
        ("order", 1 / 2),
    ],
)
def test_ties(ties, value):
    assert call(TIE, "evaluate", metrics="roc_auc", ties=ties).item() == value


# Points are (false positive rate, miss rate).
@pytest.mark.parametrize(
    ("data", "value", "threshold"),
    [
        # At rank 5 of the ten, (2/5, 2/5).
        (TEN, 2 / 5, 6),
        # From (1/3, 2/3) on rank 3 of the six leads to (2/3, 2/3).
        (SIX, 2 / 3, 4),
        # The line from (0, 1/2) to (1, 0) meets the diagonal at 1/3.
        (TIE, 1 / 3, 1),
        (FOUR, 1 / 2, 1),
    ],
    ids=["ten", "six", "tie", "four"],
)
def test_equal_error_rate(data, value, threshold):
    assert_known(data, "equal_error_rate", value)
    assert_known(data, "threshold@equal_error_rate", threshold)


@pytest.mark.parametrize(("ties", "value"), [("optimistic", 0), ("pessimistic", 1 / 2)])
def test_equal_error_rate_of_ties(ties, value):
    # The positive of the tie comes first, which leads to (0, 0); or the negative does, from (0,
    # 1/2) to (1, 1/2).
    assert values(TIE, ["equal_error_rate"], ties=ties)["equal_error_rate"] == value


def test_equal_error_rate_of_what_is_not_retrieved():
    # Two of three negatives are ranked: from (2/3, 1) a line leads to (1, 0), by way of 2/3 + 1/4 *
    # 1/3.
    data = pl.DataFrame({"relevant": [0, 0, 1, 0], "score": [2.0, 1.0, None, None]})
    assert_known(data, "equal_error_rate", 3 / 4, unscored="unretrieved")
    assert_known(data, "threshold@equal_error_rate", None, unscored="unretrieved")
    for label in (0, 1):
        assert_known(data.drop_nulls().with_columns(relevant=label), "equal_error_rate", None)


@pytest.mark.parametrize("seed", range(5))
def test_equal_error_rate_is_where_the_curve_of_scikit_learn_meets_the_diagonal(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(200) < 0.3
    score = (rng.normal(size=200) + truth).round(1)
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=False)
    meets = brentq(lambda x: 1 - x - np.interp(x, fpr, tpr), 0, 1, xtol=1e-15)
    data = pl.DataFrame({"relevant": truth, "score": score})
    assert values(data, ["equal_error_rate"])["equal_error_rate"] == pytest.approx(meets, abs=1e-12)


def test_a_tie_break_decides():
    data = TIE.with_columns(place=pl.Series([0, 1, 2]))
    for descending, value in ((True, 1), (False, 1 / 2)):
        assert (
            call(
                data,
                "evaluate",
                metrics="roc_auc",
                tie_break="place",
                tie_break_descending=descending,
            ).item()
            == value
        )


def test_without_either_class_there_is_no_pair():
    data = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "relevant": [1, 1, 0, 0, 0, 1], "score": [2, 1, 2, 1, 2, 1]}
    )
    given = {"truth": "relevant", "score": "score", "by": "q"}
    assert fp.evaluate(data, "roc_auc", **given)["roc_auc"].to_list() == [None, None, 0.0]
    means = fp.evaluate(data, "roc_auc", **given, mean_over="q")
    assert means.row(0, named=True) == {"groups": 3, "undefined": 2, "mean_roc_auc": 0.0}


def test_unretrieved_rows_are_one_tied_block_at_the_end():
    data = pl.DataFrame(
        {"relevant": [1, 0, 1, 0, 0], "score": [3, 2, None, None, None]}
    ).with_columns(P=3, N=7)
    given = {"truth": "relevant", "score": "score", "unscored": "unretrieved"}
    # The first positive is above all three negatives. The other is below one, and level with two:
    # (3 + 2/2) / (2 * 3).
    assert fp.evaluate(data, "roc_auc", **given).item() == near(4 / 6)
    # A third positive and a fourth negative that the frame lacks are level with those: (4 + 3/2 +
    # 3/2) / (3 * 4).
    found = fp.evaluate(data, "roc_auc", **given, total_positives="P", total_rows="N")
    assert found.item() == near(7 / 12)


def test_weights():
    # The positive of weight 2 is level with a negative of weight 1, and above one of weight 3: 2 *
    # (1/2 + 3) / (2 * 4).
    data = pl.DataFrame({"relevant": [1, 0, 0], "score": [2, 2, 1], "weight": [2, 1, 3]})
    assert call(data, "evaluate", metrics="roc_auc", weight="weight").item() == near(7 / 8)


def test_expressions_are_the_same_to_the_last_bit():
    data = groups()
    expression = pl.col("score").pr.metric("roc_auc", "relevant")
    whole = data.select(expression).item()
    assert whole.hex() == call(data, "evaluate", metrics="roc_auc").item().hex()
    assert (
        data.group_by("q")
        .agg(expression)
        .sort("q")
        .equals(call(data, "evaluate", metrics="roc_auc", by="q"))
    )


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        # Up to the first of five negatives recall is 2/5: area .08. Chance has .02, the best .2: (1
        # + .06/.18) / 2.
        (TEN, "roc_auc@fpr=0.2", 2 / 3),
        # Recall 0 up to fpr 1/3, then 1/3: area 1/18. Chance has 1/8, the best 1/2: (1 - 5/27) / 2.
        (SIX, "roc_auc@fpr=0.5", 11 / 27),
        # A straight line is what chance has.
        (FOUR, "roc_auc@fpr=0.5", 1 / 2),
        (ranked(1, 1, 0, 0), "roc_auc@fpr=0.01", 1),
        # Nothing before the first negatives: area 0, (1 - .02/.18) / 2.
        (ranked(0, 0, 1, 1), "roc_auc@fpr=0.2", 4 / 9),
    ],
)
def test_known_answers_up_to_a_rate(data, name, value):
    assert_known(data, name, value)


@pytest.mark.parametrize(
    ("ties", "value"),
    [
        # Before the first negative 2/3 of a hit of two on average: area 1/2 * 1/3, (1 + (1/6 - 1/8)
        # / (3/8)) / 2.
        ("expected", 5 / 9),
        # Both hits before it, or none: area 1/2, and 0.
        ("optimistic", 1),
        ("pessimistic", 1 / 3),
    ],
)
def test_ties_up_to_a_rate(ties, value):
    assert_known(FOUR, "roc_auc@fpr=0.5", value, ties=ties)


def test_one_class_has_no_area_up_to_a_rate():
    for data in (ranked(1, 1), ranked(0, 0)):
        assert_known(data, "roc_auc@fpr=0.3", None)


def test_unretrieved_rows_up_to_a_rate():
    # A hit, then a hit and two misses that nobody ranked, tied: a line from (0, 1/2) to (1, 1). Up
    # to 1/2 the area is 1/4 + 1/2 * 1/2 * 1/4 = 5/16: (1 + (5/16 - 1/8) / (3/8)) / 2.
    data = pl.DataFrame({"relevant": [1, 1, 0, 0], "score": [1.0, None, None, None]})
    assert_known(data, "roc_auc@fpr=0.5", 3 / 4, unscored="unretrieved")


def test_weights_up_to_a_rate():
    # A hit of weight 2 level with a miss of weight 1, then one of 3: to fpr 1/4 a line up to 1,
    # from there on 1. Up to 1/2 the area is 1/8 + 1/4: (1 + (3/8 - 1/8) / (3/8)) / 2.
    data = pl.DataFrame({"relevant": [1, 0, 0], "score": [2, 2, 1], "w": [2, 1, 3]})
    for factor in (1, 0.25):  # whole, and with fractions
        weighed = data.with_columns(w=pl.col("w") * factor)
        assert_known(weighed, "roc_auc@fpr=0.5", 5 / 6, weight="w")
        assert_known(weighed, "roc_auc", 7 / 8, weight="w")


PARTS = ["roc_auc@fpr=0.1", "roc_auc@fpr=0.37", "roc_auc@fpr=0.9"]


@given(BOTH_CLASSES)
def test_scores_the_other_way_round(data):
    found = values(data, ["roc_auc", "roc_auc@fpr=1"])
    assert found["roc_auc@fpr=1"] == near(found["roc_auc"])
    turned = data.with_columns(-pl.col("score"))
    assert values(turned, ["roc_auc"])["roc_auc"] == near(1 - found["roc_auc"])
    assert values(data, ["roc_auc"], ascending=True)["roc_auc"] == near(1 - found["roc_auc"])


@given(BOTH_CLASSES, st.sampled_from([1, 3, 0.25]), st.sampled_from([1, 7, 0.1]))
def test_weights_of_classes_change_nothing(data, of_hits, of_misses):
    names = ["roc_auc", *PARTS]
    weighed = data.with_columns(
        w=pl.when("relevant").then(float(of_hits)).otherwise(float(of_misses))
    )
    expected = {name: near(value) for name, value in values(data, names).items()}
    assert values(weighed, names, weight="w") == expected


def test_a_partial_area_that_ends_inside_a_tie_in_expectation():
    # One positive and two negatives are tied, and half a negative is within fpr 0.25. In a third of
    # the orders the positive comes first, with an area of 1/2 of the two pairs: a share of (1/3)
    # (1/2) / 2 = 1/12. A random ranking has 1/32, and the largest share is 1/4, so McClish's area
    # is (1 + (1/12 - 1/32) / (1/4 - 1/32)) / 2 = 13/21.
    data = pl.DataFrame({"relevant": [1, 0, 0], "score": [1, 1, 1]})
    result = call(data, "evaluate", metrics="roc_auc@fpr=0.25", ties="expected")
    assert result.item() == near(13 / 21)


def test_curves_of_float_weights_cross_up_to_rounding_errors():
    # At the threshold 3, all negatives and no positive are selected: both error rates are 1, but
    # 1.1 - 0.2 > 0.9.
    data = pl.DataFrame(
        {"y": [0, 0, 0, 1, 0], "s": [3, 3, 3, 2, 2], "w": [0.1, 0.1, 0.7, 0.2, 0.0]}
    )
    found = data.pr.evaluate(
        ["threshold@equal_error_rate", "equal_error_rate"], "y", "s", weight="w"
    )
    assert found.row(0) == (3, near(1))
