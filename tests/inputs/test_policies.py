"""Missing values against plain counting, and options that every function takes or refuses."""

import math

import polars as pl
import pytest
from compare import near

import frame_pr as fp

QUERIES = {
    "q": ["a", "a", "a", "b", "c", "c"],
    "y": [1, 0, 1, 1, None, 1],
    "s": [0.9, None, math.nan, None, 0.5, 0.2],
}
MISSING = [
    "average_precision",
    "precision@2",
    "recall@threshold=0.1",
    "rows",
    "positives",
    "r_precision",
    "k@recall=0.5",
]


def test_unretrieved_rows_count_and_are_ranked_nowhere():
    frame = pl.DataFrame(QUERIES)
    result = frame.pr.evaluate(
        MISSING, "y", "s", by="q", unscored="unretrieved", unjudged="negative"
    )
    # a: one of 2 positives found, at rank 1. b: its positive not found. c: a miss, then its
    # positive.
    assert result.rows() == [
        ("a", 1 / 2, 1 / 2, 1 / 2, 3, 2, 1 / 2, 1),
        ("b", 0.0, 0.0, 0.0, 1, 1, 0.0, None),
        ("c", 1 / 2, 1 / 2, 1.0, 2, 1, 0.0, 2),
    ]


def test_dropped_rows_are_not_there():
    data = pl.DataFrame(QUERIES)
    result = data.pr.evaluate(MISSING, "y", "s", by="q", unscored="drop", unjudged="drop")
    kept = data.filter(pl.col("s").is_not_nan(), pl.col("y").is_not_null())
    expected = fp.evaluate(kept, MISSING, "y", "s", by="q")
    assert result.join(expected, on="q", how="semi").equals(expected)
    # Metrics at thresholds alone need no ranking.
    names = ["rows", "positives", "tp@threshold=0.1", "k@threshold=0.1"]
    result = data.pr.evaluate(names, "y", "s", by="q", unscored="drop", unjudged="drop")
    expected = fp.evaluate(kept, names, "y", "s", by="q")
    assert result.join(expected, on="q", how="semi").equals(expected)


def test_a_group_of_which_all_rows_are_dropped_stays():
    data = pl.DataFrame(
        {"q": [1, 1, 2, 3], "y": [1, 0, None, 1], "s": [3.0, 2.0, 1.0, None], "w": [1, 1, 1, 1]}
    )
    names = ["rows", "positives", "average_precision", "prevalence", "precision@1"]
    for weight in ({}, {"weight": "w"}):
        asked = names[: 4 if weight else 5]
        result = data.pr.evaluate(
            asked, "y", "s", by="q", unscored="drop", unjudged="drop", **weight
        )
        empty = [0, 0, None, None, 0.0][: len(asked)]
        assert result.rows() == [
            (1, 2, 1, 1.0, 0.5, 1.0)[: len(asked) + 1],
            (2, *empty),
            (3, *empty),
        ]
        means = data.pr.evaluate(
            asked[2:4], "y", "s", by="q", mean_over="q", unscored="drop", unjudged="drop", **weight
        )
        assert means.row(0, named=True) == {
            "groups": 3,
            "undefined": 2,
            "mean_average_precision": 1.0,
            "mean_prevalence": 0.5,
        }


def test_a_group_of_dropped_rows_keeps_its_known_total():
    data = pl.DataFrame({"q": [1, 1, 2], "y": [1, 0, None], "s": [3.0, 2.0, 1.0]})
    known = pl.DataFrame({"q": [1, 2], "total": [3, 4]})
    # Of the first, the positive found first is one of three; of the second, none of four is.
    result = fp.evaluate(
        data,
        ["positives", "average_precision"],
        "y",
        "s",
        by="q",
        unjudged="drop",
        total_positives=known,
    )
    assert result.rows() == [(1, 3, 1 / 3), (2, 4, 0.0)]


def test_the_curve_of_what_was_retrieved():
    curve = fp.curve(
        pl.DataFrame(QUERIES),
        "y",
        "s",
        by="q",
        unscored="unretrieved",
        unjudged="negative",
        rates="all",
    )
    assert curve.select("q", "threshold", "k", "tp", "fn", "recall").rows() == [
        ("a", 0.9, 1, 1, 1, 0.5),
        ("c", 0.5, 1, 0, 1, 0.0),
        ("c", 0.2, 2, 1, 0, 1.0),
    ]
    beside = fp.with_curve(
        pl.DataFrame(QUERIES),
        "y",
        "s",
        by="q",
        unscored="unretrieved",
        unjudged="drop",
        rates="all",
    )
    assert beside["k"].to_list() == [1, None, None, None, None, 1]


def test_a_truth_that_is_nan_is_unjudged():
    data = pl.DataFrame({"y": [1.0, math.nan, 0.0], "s": [3, 2, 1]})
    assert fp.evaluate(data, ["positives", "rows"], "y", "s", unjudged="negative").row(0) == (1, 3)
    assert fp.evaluate(data.lazy(), ["positives", "rows"], "y", "s", unjudged="drop").collect().row(
        0
    ) == (1, 2)


def test_unretrieved_rows_are_not_tied_and_reach_nothing():
    data = pl.DataFrame(
        {"y": [1, 0, 0, 1, 1, 0], "s": [2, 2, 1, None, None, None], "q": [1, 1, 1, 1, 1, 2]}
    )
    names = [
        "tied_rows",
        "average_precision",
        "tp@recall=0.3",
        "tp@recall=1",
        "threshold@recall=1",
        "max_f1",
    ]
    result = data.pr.evaluate(names, "y", "s", by="q", unscored="unretrieved")
    # One of three positives is found, tied with a negative: AP 1/3 * 1/2, F 2 * 1 / (3 + 2).
    assert result.rows() == [
        (1, 2, near(1 / 6), 1, None, None, near(0.4)),
        (2, 0, None, None, None, None, None),
    ]


@pytest.mark.parametrize("given", ["unretrieved", "known"])
def test_a_group_filled_up_with_misses_has_no_less_than_none_of_any_kind(given):
    # One hit and two positives that were not found: the first 3 are the hit and two misses, so
    # there are 5 rows. tp 1, fp 2, fn 2, tn 0: mcc (1 * 0 - 2 * 2) / sqrt(3 * 3 * 2 * 2).
    data, options = {
        "unretrieved": ({"y": [1, 1, 1], "s": [1, None, None]}, {"unscored": "unretrieved"}),
        "known": ({"y": [1], "s": [1], "P": [3]}, {"total_positives": "P"}),
    }[given]
    expected = {
        "tp@3": 1,
        "fp@3": 2,
        "fn@3": 2,
        "tn@3": 0,
        "accuracy@3": 1 / 5,
        "specificity@3": 0,
        "fpr@3": 1,
    }
    expected |= {
        "mcc@3": near(-4 / 6),
        "precision@3": 1 / 3,
        "recall@3": 1 / 3,
        "rows": 3,
        "prevalence@3": 1,
    }
    result = pl.DataFrame(data).pr.evaluate(list(expected), "y", "s", **options)
    assert result.row(0, named=True) == expected


GOOD = pl.DataFrame({"y": [1, 0], "s": [1.0, 2.0], "w": [1, 2]})


EVERY = {
    "average_precision": (),
    "interpolated_average_precision": (),
    "average_precision_at_k": (1,),
    "precision_at_k": (1,),
    "recall_at_k": (1,),
    "f_beta": (),
    "curve": (),
    "with_curve": (),
    "report": (),
}


@pytest.mark.parametrize("function", EVERY)
def test_every_function_takes_the_options(function):
    data = GOOD.with_columns(s=pl.Series([1.0, None]))
    assert getattr(data.pr, function)("y", "s", *EVERY[function], unscored="unretrieved").height > 0
    with pytest.raises(ValueError, match="unscored must be"):
        getattr(data.pr, function)("y", "s", *EVERY[function], unscored="skip")
