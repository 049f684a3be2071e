import pandas as pd
import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import given
from hypothesis import strategies as st
from names import call
from rankings import BOTH_CLASSES, values
from samples import SIX, TEN, ranked

# A hit behind three misses: no threshold is as good as to predict nothing.
LAST = ranked(0, 0, 0, 1)


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        # recall - fpr of the ten: 2/5 at rank 2 and, with 1 and 2 false ones, at ranks 4 and 6; the
        # highest counts.
        (TEN, "max_informedness", 2 / 5),
        (TEN, "threshold@max_informedness", 9),
        # Of the six: 1 - 2/3 at rank 5, whose score is 2; before that 1/3 - 1/3 and 2/3 - 2/3.
        (SIX, "max_informedness", 1 / 3),
        (SIX, "threshold@max_informedness", 2),
        # -1/3, -2/3, -1, 0: to take all is as good as to take none, and a threshold.
        (LAST, "max_informedness", 0),
        (LAST, "threshold@max_informedness", 1),
        # tp N - P k of the ten, over the root of k P (N - k) (N - P): at rank 2, 2 of 5 positives
        # and none false, it is 10 / 20; at 4 it is 10 / sqrt(600) and at 6 as much.
        (TEN, "max_mcc", 1 / 2),
        (TEN, "threshold@max_mcc", 9),
        # Twice that, over k (N - P) + P (N - k) = 50.
        (TEN, "max_kappa", 2 / 5),
        (TEN, "max_balanced_accuracy", 7 / 10),
        (TEN, "threshold@max_balanced_accuracy", 9),
        # Over k (N - k): 20 / 16 at rank 2.
        (TEN, "max_markedness", 5 / 8),
        (TEN, "max_precision", 1),
        (TEN, "threshold@max_precision", 10),
        # That precision over the prevalence, 5 of 10.
        (TEN, "max_lift", 2),
        (TEN, "threshold@max_lift", 10),
        # 7 of 10 are right at ranks 2 and 4; nothing predicted has 5.
        (TEN, "max_accuracy", 7 / 10),
        (TEN, "threshold@max_accuracy", 9),
        # Nothing predicted is right three times of four, all thresholds less often.
        (LAST, "max_accuracy", 3 / 4),
        (LAST, "threshold@max_accuracy", None),
        (LAST, "max_mcc", 0),
        (LAST, "threshold@max_mcc", None),
        (LAST, "max_precision", 1 / 4),
        (LAST, "threshold@max_precision", 1),
        (LAST, "max_lift", 1),
        (LAST, "threshold@max_lift", 1),
        # fp + fn of the ten: 5 for nothing, 3 at ranks 2 and 4.
        (TEN, "min_cost1", 3 / 10),
        (TEN, "threshold@min_cost1", 9),
        # fp + 3 fn: 15 for nothing, 9 at rank 2, 7 at 4, 5 at 6, and 5 at 10.
        (TEN, "min_cost3", 5 / 10),
        (TEN, "threshold@min_cost3", 5),
        # fp + fn / 5: a false one is worth five missed ones. Rank 2 has 3/5.
        (TEN, "min_cost0.2", 3 / 50),
        (TEN, "threshold@min_cost0.2", 9),
        # fp + 100 fn: the hit at rank 10 is worth its five false ones.
        (TEN, "min_cost100", 5 / 10),
        (TEN, "threshold@min_cost100", 1),
        # Nothing predicted misses one, all predicted has three false ones.
        (LAST, "min_cost1", 1 / 4),
        (LAST, "threshold@min_cost1", None),
        # As dear: nothing is no dearer, so no threshold pays.
        (LAST, "min_cost3", 3 / 4),
        (LAST, "threshold@min_cost3", None),
        (LAST, "min_cost4", 3 / 4),
        (LAST, "threshold@min_cost4", 1),
    ],
)
def test_known_answers(data, name, value):
    assert_known(data, name, value)


def test_one_class_only():
    data = pl.DataFrame({"q": [1, 1, 2, 2], "relevant": [1, 1, 0, 0], "score": [2, 1, 2, 1]})
    names = [
        "max_informedness",
        "threshold@max_informedness",
        "min_cost2",
        "threshold@min_cost2",
        "max_lift",
    ]
    found = call(data, "evaluate", metrics=names, by="q")
    # Of positives alone all are taken, of negatives none.
    assert found.rows() == [(1, None, None, 0.0, 1, 1.0), (2, None, None, 0.0, None, None)]


def test_one_class_only_in_each_of_several_groups():
    # Polars 1.40 failed for some of these together.
    names = ["threshold@max_f1", "threshold@max_kappa", "threshold@min_cost3", "recall@1"]
    data = pl.DataFrame({"q": [1, 2], "relevant": [0, 0], "score": [0.5, 0.25]})
    found = call(data, "evaluate", metrics=names, by="q")
    # The only row is a false positive: predicting nothing costs less.
    assert found.rows() == [(1, *[None] * 4), (2, *[None] * 4)]


def test_nothing_ranked():
    data = pl.DataFrame(
        {"relevant": [1, 0], "score": [None, None]}, schema_overrides={"score": pl.Float64}
    )
    for name, value in (
        ("max_informedness", 0),
        ("threshold@max_informedness", None),
        ("min_cost3", 3 / 2),
    ):
        assert_known(data, name, value, unscored="unretrieved")


def test_a_threshold_that_is_worse_than_nothing():
    # A miss alone is retrieved: recall 0, fpr 1/2.
    data = pl.DataFrame({"relevant": [1, 0, 0], "score": [None, 1, None]})
    assert_known(data, "max_informedness", 0, unscored="unretrieved")
    assert_known(data, "threshold@max_informedness", None, unscored="unretrieved")


def test_weights():
    # Weights 1, 4 of hits, 2, 3 of misses. fp + 2 fn: 10 for none, 8 at rank 1, 10, 2, 5 further
    # down; of 10 in all.
    data = ranked(1, 0, 1, 0).with_columns(w=pl.Series([1, 2, 4, 3]))
    for factor in (1, 0.25):  # whole, and with fractions
        weighed = data.with_columns(w=pl.col("w") * factor)
        assert_known(weighed, "min_cost2", 2 / 10, weight="w")
        assert_known(weighed, "threshold@min_cost2", 2, weight="w")
        # recall - fpr: 1/5, -1/5, 1 - 2/5, 0.
        assert_known(weighed, "max_informedness", 3 / 5, weight="w")
        assert_known(weighed, "threshold@max_informedness", 2, weight="w")


@pytest.mark.parametrize(
    ("labels", "prevalence", "name", "value"),
    [
        # F1 at rank 4 of 7: 2 (3/5 1/5) / (3/5 1/5 + 1/2 4/5 + 1/5) = 1/3, and at rank 7
        # 2 (1/5) / (1 + 1/5), which is as much.
        ((0, 1, 1, 1, 0, 1, 1), 0.2, "threshold@max_f1", 4),
        # recall - fpr at rank 4 of 8: 3/4 - 1/4, and at rank 6 1 - 1/2.
        ((1, 0, 1, 1, 0, 1, 0, 0), 0.3, "threshold@max_informedness", 5),
        # At rank 2: 1/4 - 1/4, as much as to predict nothing, and further down.
        ((0, 1, 0, 1, 0, 1, 0, 1), 0.1, "threshold@max_informedness", 7),
    ],
)
def test_equal_rates_of_weighted_rows(labels, prevalence, name, value):
    # Their floats differ by rounding, and the highest threshold is the answer.
    assert_known(ranked(*labels), name, value, prevalence=prevalence)


def test_values_are_compared_as_float64():
    # A positive and a negative are tied, of totals of 3e10 and one more: the balanced accuracy
    # there is 1/2 minus 1 / (2 P Q) = 6e-22, and as Float64 1/2, as much as to predict nothing.
    data = pl.DataFrame(
        {"relevant": [1, 0], "score": [1, 1], "P": [3 * 10**10 + 1] * 2, "N": [6 * 10**10 + 1] * 2}
    )
    known = {"total_positives": "P", "total_rows": "N"}
    assert_known(data, "max_balanced_accuracy", 1 / 2, **known)
    assert_known(data, "threshold@max_balanced_accuracy", 1, **known)
    # Another positive adds 1 / (2 P). The next negative and positive add 1 / (2 P) - 1 / (2 Q),
    # which is no difference.
    rows = pl.DataFrame({"relevant": [1, 0, 1, 0, 1], "score": [4, 4, 3, 2, 2]})
    rows = rows.with_columns(P=pl.lit(3 * 10**10 + 1), N=pl.lit(6 * 10**10 + 1))
    assert_known(rows, "threshold@max_balanced_accuracy", 3, **known)
    # One false and one true positive more than nothing: accuracy does not change in whole numbers.
    assert_known(rows, "threshold@max_accuracy", 3, **known)


BEST = [
    f"{head}{name}"
    for head in ("", "threshold@")
    for name in ("max_f1", "max_f2", "max_f0.3", "max_f1.5")
]
BEST += [
    f"{head}{name}"
    for head in ("", "threshold@")
    for name in ("max_informedness", "min_cost1", "min_cost2.5")
]
BEST += [
    f"{head}max_{name}"
    for head in ("", "threshold@")
    for name in ("precision", "accuracy", "balanced_accuracy")
]


RATIOS = ["0.2", "0.5", "1", "3", "10"]


@given(
    BOTH_CLASSES, st.sampled_from(["max_informedness", *(f"min_cost{ratio}" for ratio in RATIOS)])
)
def test_the_threshold_gives_the_value(data, name):
    at = values(data, [name, f"threshold@{name}"])
    threshold = at[f"threshold@{name}"]
    if threshold is None:
        nothing = (
            0
            if name == "max_informedness"
            else float(name[8:]) * data["relevant"].sum() / data.height
        )
        assert at[name] == near(nothing)
        return
    there = values(
        data, [f"{figure}@threshold={threshold}" for figure in ("informedness", "fp", "fn")]
    )
    informedness, fp, fn = there.values()
    expected = (
        informedness if name == "max_informedness" else (fp + float(name[8:]) * fn) / data.height
    )
    assert at[name] == near(expected)


@pytest.mark.parametrize("largest", [2**53 + 1, 2**63 - 1])
def test_whole_numbers_that_floats_do_not_hold_stay_whole_beside_a_missing_one(largest):
    # Group 1 has no threshold at which it costs less than none, group 2 has its largest score.
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "y": [0, 1, 0, 1], "s": [5, 5, 0, largest]})
    result = frame.pr.evaluate("threshold@min_cost1", "y", "s", by="q")
    assert result["threshold@min_cost1"].tolist() == [pd.NA, largest]
    assert frame.pr.with_metrics("threshold@min_cost1", "y", "s", by="q").iloc[3, 3] == largest
    assert result["threshold@min_cost1"].dtype == "Int64"
