import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import near
from names import CONFUSION, call
from oracle import rate_of
from samples import CUT_BLOCK, LATE_BLOCK, SIX, TEN, A, B

import frame_pr as fp
from frame_pr.functions.confusion import CONFUSION_COLUMNS

F = Fraction

KNOWN = [
    # Hits at ranks 1, 2, 4, 6, 10 of 10.
    *[
        (TEN, f"precision@{k}", F(hits, k))
        for k, hits in enumerate([1, 2, 2, 3, 3, 4, 4, 4, 4, 5], start=1)
    ],
    *[
        (TEN, f"recall@{k}", F(hits, 5))
        for k, hits in enumerate([1, 2, 2, 3, 3, 4, 4, 4, 4, 5], start=1)
    ],
    # 3 hits among the first P = 5
    (TEN, "r_precision", F(3, 5)),
    # Beyond the last row there are only misses: 5 hits in 20.
    (TEN, "precision@20", F(1, 4)),
    (TEN, "recall@20", F(1)),
    # Hits at ranks 2, 4, 5 of 6.
    *[(SIX, f"precision@{k}", F(hits, k)) for k, hits in enumerate([0, 1, 1, 2, 3, 3], start=1)],
    # 1 hit among the first P = 3
    (SIX, "r_precision", F(1, 3)),
    # Recall 2/3 is reached at rank 4; .66 is below it, .67 above.
    (SIX, "k@recall=0.66", 4),
    (SIX, "k@recall=0.67", 5),
    (SIX, "threshold@recall=0.66", 3),
    (SIX, "precision@recall=0.66", F(1, 2)),
    # ... and the best precision from there on is that at rank 5.
    (SIX, "interpolated_precision@recall=0.66", F(3, 5)),
    # Recall 0 is reached by the first block, hit or miss.
    (SIX, "k@recall=0", 1),
    (SIX, "precision@recall=0", F(0)),
    (SIX, "interpolated_precision@recall=0", F(3, 5)),
    (SIX, "recall@recall=0.5", F(2, 3)),
    # A and B predict two of the four positives with four rows at .5: 2/4, 2/4, and F1 of two
    # halves.
    *[
        (data, f"{name}@threshold=0.5", F(1, 2))
        for data in (A, B)
        for name in ("precision", "recall", "f1")
    ],
    # 2 tp / (P + k) of A by rank: 2/5, 4/6, 4/7, 4/8, 6/9, 8/10, 8/11, 8/12.
    (A, "max_f1", F(4, 5)),
    (A, "threshold@max_f1", 0.39),
    # 1.25 tp / (.25 * 4 + k): at rank 2 it is 2.5/3, at rank 6 it is 5/7.
    (A, "max_f0.5", F(5, 6)),
    (A, "threshold@max_f0.5", 0.85),
    # F1 is 2/3 at rank 2 and at rank 4 of 1, 1, 0, 0 ... with P = 4, k = 2: 4/6; k = 8, tp = 4:
    # 8/12. The higher threshold wins.
    (
        pl.DataFrame({"relevant": [1, 1, 0, 0, 0, 0, 1, 1], "score": range(8, 0, -1)}),
        "threshold@max_f1",
        7,
    ),
    # f2 at k = 2 of A: 5 * 2 / (4 * 4 + 2)
    (A, "f2@2", F(5, 9)),
    # A third of the block of two hits in three: 1 + 2/3 hits among 2 rows, of 3 positives.
    (CUT_BLOCK, "precision@2", F(5, 6)),
    (CUT_BLOCK, "recall@2", F(5, 9)),
    (CUT_BLOCK, "tp@2", F(5, 3)),
    (CUT_BLOCK, "f1@2", F(2, 3)),  # 2 * 5/3 / (3 + 2)
    # P = 3: two thirds of the block, 1 + 4/3 hits among 3.
    (CUT_BLOCK, "r_precision", F(7, 9)),
    # A threshold takes the block whole.
    (CUT_BLOCK, "precision@threshold=1", F(3, 4)),
    (CUT_BLOCK, "k@recall=0.5", 4),
    (LATE_BLOCK, "k@recall=0.01", 4),
    # Precision with nothing predicted is undefined, never 1; recall is 0.
    (A, "precision@threshold=0.96", None),
    (A, "recall@threshold=0.96", F(0)),
    (A, "f1@threshold=0.96", F(0)),
    # A threshold below all scores takes every row.
    (A, "k@threshold=-1", 8),
]


@pytest.mark.parametrize(
    ("data", "name", "value"), KNOWN, ids=[f"{name}={value}" for _, name, value in KNOWN]
)
def test_known_answer(data, name, value):
    assert fp.evaluate(data, name, "relevant", "score").item() == near(value)


@pytest.mark.parametrize(
    ("function", "given", "columns"),
    [
        ("recall_at_k", {"k": np.int64(2)}, ["recall@2"]),
        ("f_beta", {"beta": 0.5}, ["max_f0.5", "threshold@max_f0.5"]),
        ("f_beta", {"threshold": [0.5, -1]}, ["f1@threshold=0.5", "f1@threshold=-1"]),
        ("f_beta", {"k": (3,), "beta": 2.0}, ["f2@3"]),
        ("f_beta", {"threshold": math.inf}, ["f1@threshold=inf"]),
        (
            "f_beta",
            {"threshold": [1e20, 2.0**53 - 1]},
            ["f1@threshold=1e+20", "f1@threshold=9007199254740991"],
        ),
        ("f_beta", {"threshold": 2.0**53}, ["f1@threshold=9007199254740992.0"]),
        ("confusion", {"k": 2}, ["k", *CONFUSION_COLUMNS]),
        ("confusion", {"threshold": 2}, ["threshold", *CONFUSION_COLUMNS]),
        (
            "confusion",
            {"threshold": 2, "rates": ["mcc", "f2", "tp"]},
            ["threshold", *CONFUSION_COLUMNS, "mcc", "f2"],
        ),
    ],
)
def test_the_methods_name_their_columns(function, given, columns):
    assert call(TEN, function, **given).columns == columns


@pytest.mark.parametrize(
    ("retrieved", "right", "positives", "rows"),
    # 7 retrieved of which 4 right, 9 positives in all; 30 retrieved, 20 right, 60 positives.
    [(7, 4, 9, 20), (30, 20, 60, 100)],
)
def test_confusion_of_predicted_classes(retrieved, right, positives, rows):
    counts = [(1, 1, right), (0, 1, retrieved - right), (1, 0, positives - right)]
    counts.append((0, 0, rows - sum(n for _, _, n in counts)))
    pairs = [(truth, predicted) for truth, predicted, n in counts for _ in range(n)]
    data = pl.DataFrame(pairs, schema=["relevant", "predicted"], orient="row")
    expected = {name: near(rate_of(name, right, retrieved, positives, rows)) for name in CONFUSION}
    assert (expected["precision"], expected["recall"]) == (
        near(F(right, retrieved)),
        near(F(right, positives)),
    )

    result = data.pr.confusion("relevant", prediction="predicted", rates="all")
    assert result.row(0, named=True) == expected
    booleans = data.cast(pl.Boolean)
    assert (
        booleans.pr.confusion("relevant", prediction="predicted", rates="all").row(0, named=True)
        == expected
    )
    labels = data.select(pl.all().replace_strict({1: "spam", 0: "ham"}))
    result = labels.pr.confusion("relevant", prediction="predicted", positive="spam", rates="all")
    assert result.row(0, named=True) == expected


def test_confusion_counts_are_whole_numbers_where_no_block_is_cut():
    counts = ["k", "tp", "fp", "fn", "tn"]
    at_threshold = CUT_BLOCK.pr.confusion("relevant", "score", threshold=1, rates="all").select(
        counts
    )
    assert at_threshold.rows() == [(4, 3, 1, 0, 1)]
    assert set(at_threshold.dtypes) == {pl.Int64}
    # A third of a block of two hits and a miss: 2/3 tp and 1/3 fp.
    assert CUT_BLOCK.pr.confusion("relevant", "score", k=2, rates="all").select(counts).row(
        0
    ) == tuple(map(near, [2, F(5, 3), F(1, 3), F(4, 3), F(5, 3)]))


def test_a_rank_beyond_the_group_is_filled_up_with_misses():
    # 3 rows, 1 positive, k = 5: two misses are made up, predicted and wrong, so that precision
    # divides by 5.
    data = pl.DataFrame({"relevant": [0, 1, 0], "score": [3, 2, 1]})
    result = data.pr.confusion("relevant", "score", k=5, rates="all").row(0, named=True)
    assert [result[name] for name in ("k", "tp", "fp", "fn", "tn")] == [5, 1, 4, 0, 0]
    assert (result["precision"], result["recall"], result["accuracy"]) == (0.2, 1.0, 0.2)


@pytest.mark.parametrize(
    ("truth", "undefined"),
    [
        # No positives: what divides by P is undefined.
        ([0, 0], {"recall", "fnr", "mcc", "informedness", "balanced_accuracy"}),
        # Only positives: what divides by the negatives is.
        ([1, 1], {"specificity", "fpr", "mcc", "informedness", "balanced_accuracy"}),
    ],
)
def test_zero_denominators_are_null_and_undefined_fills_them(truth, undefined):
    data = pl.DataFrame({"relevant": truth, "score": [2.0, 1.0]})
    result = data.pr.confusion("relevant", "score", threshold=1.5, rates="all").row(0, named=True)
    assert {name for name, value in result.items() if value is None} == undefined
    filled = data.pr.confusion("relevant", "score", threshold=1.5, undefined=0.5, rates="all").row(
        0, named=True
    )
    assert {name for name in result if filled[name] != result[name]} == undefined
    assert {filled[name] for name in undefined} == {0.5}


def test_undefined_fills_shares_but_neither_counts_nor_thresholds():
    data = pl.DataFrame({"relevant": [0], "score": [0.25]})
    names = ["precision@recall=0.5", "k@recall=0.5", "tp@recall=0.5", "threshold@recall=0.5"]
    names += ["max_f1", "threshold@max_f1"]
    result = data.pr.evaluate(names, "relevant", "score", undefined=0.0)
    assert result.row(0) == (0.0, None, None, None, 0.0, None)


def test_a_threshold_has_the_dtype_of_the_score():
    for dtype in (pl.Float32, pl.Float64, pl.Int8, pl.UInt64, pl.Int64, pl.Decimal(10, 2)):
        result = SIX.cast({"score": dtype}).pr.f_beta("relevant", "score")
        assert result.schema["threshold@max_f1"] == dtype
        assert result["threshold@max_f1"].item() == 2  # 3 of 3 found with 5 rows: 6/8


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Decimal(10, 3)])
def test_a_threshold_that_is_a_score_reaches_it(dtype):
    # As Float32, .1 is a little more than the Float64 and .7 a little less: the threshold is read
    # in the dtype of the score, as polars and numpy read `score >= 0.7`.
    scores = [0.1, 0.2, 0.3, 0.7, 0.9]
    data = pl.DataFrame({"relevant": [1] * 5, "score": scores}).cast({"score": dtype})
    for threshold, k in zip(scores, [5, 4, 3, 2, 1], strict=True):
        assert (
            data.pr.confusion("relevant", "score", threshold=threshold, rates="all")["k"].item()
            == k
        )
        assert data.pr.evaluate([f"k@threshold={threshold}", "tied_rows"], "relevant", "score").row(
            0
        ) == (k, 0)


@pytest.mark.parametrize(
    ("dtype", "digits", "smallest"), [(pl.Float32, 24, 2**-149), (pl.Float64, 53, 5e-324)]
)
def test_a_threshold_between_neighbours(dtype, digits, smallest):
    # No float of the type lies between these: a threshold reaches the upper one, and not the lower.
    for lower, upper in [
        (1 - 2**-digits, 1.0),
        (-1, 2**-digits - 1),
        (-smallest, 0.0),
        (0, smallest),
    ]:
        data = pl.DataFrame(
            {"relevant": [1, 0], "score": [upper, lower]}, schema_overrides={"score": dtype}
        )
        for names in (
            [f"k@threshold={upper}"],
            [f"k@threshold={upper}", "tied_rows"],
        ):  # from the rows, from the ranking
            assert data.pr.evaluate(names, "relevant", "score").row(0) == (1, 0)[: len(names)]


def test_whole_thresholds_of_large_whole_scores_are_exact():
    # As floats these three are the same number.
    data = pl.DataFrame({"relevant": [1, 0, 1], "score": [2**60 - 1, 2**60, 2**60 + 1]})
    for threshold, k in [(2**60 - 1, 3), (2**60, 2), (2**60 + 1, 1)]:
        assert (
            data.pr.confusion("relevant", "score", threshold=threshold, rates="all")["k"].item()
            == k
        )
        assert data.pr.evaluate([f"k@threshold={threshold}", "tied_rows"], "relevant", "score").row(
            0
        ) == (k, 0)


def test_lift_of_a_group_that_a_rank_exceeds():
    # 2 positives among 5 rows. At k = 10 precision is 2/10 (misses fill the group up), and
    # prevalence stays 2/5: 1/2.
    data = pl.DataFrame({"relevant": [1, 0, 1, 0, 0], "score": [5, 4, 3, 2, 1]})
    names = ["lift@10", "lift@2", "lift@40%", "lift@threshold=3", "lift@recall=1", "lift@fpr=0"]
    # (1/2) / (2/5) = 5/4 twice, (2/3) / (2/5) = 5/3 twice, and 1 / (2/5) = 5/2.
    assert data.pr.evaluate(names, "relevant", "score").row(0) == tuple(
        map(near, [1 / 2, 5 / 4, 5 / 4, 5 / 3, 5 / 3, 5 / 2])
    )
    none = pl.DataFrame({"relevant": [0, 0], "score": [2, 1]})
    assert none.pr.evaluate("lift@1", "relevant", "score").item() is None


def test_numbers_at_the_limits():
    data = pl.DataFrame({"y": [True] * 1000, "s": range(1000)})
    # 332 of 1000 is below the recall that has a digit more.
    names = ["k@recall=0.33200000000000000000001", "k@recall=0.332", f"recall@{2**62 - 1}"]
    assert data.pr.evaluate(names, "y", "s").row(0) == (333, 332, 1)
    with pytest.raises(ValueError, match=r"k must be below 2\*\*62"):
        data.pr.evaluate(f"recall@{2**62}", "y", "s")
    found = [data.pr.f_beta("y", "s", threshold=sign * 10**400).item() for sign in (1, -1)]
    assert found == [0, 1]
