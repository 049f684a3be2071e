from math import log2

import numpy as np
import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import strategies as st
from names import call
from rankings import values
from samples import PAIR, SIX, TEN, TRI, ranked

import frame_pr as fp

# What a row at rank 1, 2, ... is worth.
D = [1 / log2(rank + 1) for rank in range(1, 11)]
# Of the three frauds, 330 could be captured; the second payment is none.
MONEY = ranked(1, 0, 1, 1).with_columns(gain=pl.Series([300.0, 50.0, 20.0, 10.0]))
GRADED = ranked(1, 0, 1).with_columns(gain=pl.Series([1.0, 0.0, 3.0]))


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        # Hits at ranks 2, 4, 5: .630930 + .430677 + .386853.
        (SIX, "dcg", D[1] + D[3] + D[4]),
        (SIX, "dcg@4", D[1] + D[3]),
        (SIX, "ndcg", (D[1] + D[3] + D[4]) / (D[0] + D[1] + D[2])),
        # The best first two rows would both be hits: .63 / (1 + .63).
        (SIX, "ndcg@2", 1 / (1 + log2(3))),
        (SIX, "ndcg@1", 0),
        # A third of six rows are two.
        (SIX, "ndcg@33%", 1 / (1 + log2(3))),
        (TEN, "ndcg", (D[0] + D[1] + D[3] + D[5] + D[9]) / sum(D[:5])),
        (TEN, "ndcg@3", (D[0] + D[1]) / sum(D[:3])),
        # A hit at rank 3 is worth 1 / log2(4).
        (ranked(0, 0, 1), "ndcg", 1 / 2),
        # The hit of the pair is first or second: (1 + .63) / 2; of the triple (1 + .63 + .5) / 3.
        (PAIR, "ndcg", 0.8154648767857288),
        (TRI, "ndcg", sum(D[:3]) / 3),
        # (1 - B) B^(rank - 1) of ranks 2, 4, 5: 1/4 + 1/16 + 1/32.
        (SIX, "rbp0.5", 11 / 32),
        # A third of a hit at each of the first three: (1/2 + 1/4 + 1/8) / 3.
        (TRI, "rbp0.5", 7 / 24),
        # Ranks 1, 2, 4, 6, 10: (512 + 256 + 64 + 16 + 1) / 1024.
        (TEN, "rbp0.5", 849 / 1024),
        (SIX, "rbp0.9", 0.1 * (0.9 + 0.9**3 + 0.9**4)),
    ],
)
def test_known_answers(data, name, value):
    assert_known(data, name, value)


def test_digits_of_the_known_answers():
    assert [round(D[i], 6) for i in (1, 3, 4)] == [0.63093, 0.430677, 0.386853]
    assert round((1 + D[1]) / 2, 15) == round(0.8154648767857288, 15)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Gains 1, 0, 3 at ranks 1, 2, 3; best 3, 1, 0.
        ("dcg", 1 + 3 / 2),
        ("ndcg", 2.5 / (3 + D[1])),
        ("dcg@1", 1),
        ("ndcg@1", 1 / 3),
        ("ndcg@2", 1 / (3 + D[1])),
    ],
)
def test_known_answers_of_gains(name, value):
    assert_known(GRADED, name, value, gain="gain")


def test_gains_of_tied_rows():
    # Of one score: each row has the mean gain, 1. In their best order 2, 1, 0.
    tied = pl.DataFrame({"relevant": [0, 1, 1], "score": [1, 1, 1], "gain": [0, 2, 1]})
    assert_known(tied, "dcg", sum(D[:3]), gain="gain")
    assert round(sum(D[:3]), 6) == 2.13093
    assert_known(tied, "ndcg", sum(D[:3]) / (2 + D[1]), gain="gain")
    # Ties are ordered by the gain, not by the truth.
    assert_known(tied, "ndcg", 1, gain="gain", ties="optimistic")
    assert_known(tied, "dcg", D[1] + 2 * D[2], gain="gain", ties="pessimistic")


def test_the_gain_and_not_the_truth_counts():
    # A row that is not relevant may have a gain, a relevant one none.
    data = ranked(0, 1).with_columns(gain=pl.Series([2, 0]))
    assert_known(data, "ndcg", 1, gain="gain")
    assert_known(data, "ndcg", D[1])


def test_gains_by_an_expression():
    # The exponential gain of grades 1, 0, 2: 2^grade - 1.
    grades = GRADED.with_columns(grade=pl.Series([1, 0, 2]))
    found = call(grades, "ndcg", gain=2 ** pl.col("grade") - 1)
    assert found.item() == near(call(GRADED, "ndcg", gain="gain").item())


def test_gains_of_what_was_not_retrieved_are_in_the_ideal():
    # A gain of 4 is missing: 2.5 of 4 + 3 D2 + 1 D3.
    missed = pl.DataFrame({"relevant": [1], "score": [None], "gain": [4.0]}, schema=GRADED.schema)
    data = pl.concat([GRADED, missed])
    assert_known(data, "ndcg", 2.5 / (4 + 3 * D[1] + D[2]), gain="gain", unscored="unretrieved")
    assert_known(data, "dcg", 2.5, gain="gain", unscored="unretrieved")
    # Of hits alike: ranks 1 and 3, of three in all.
    assert_known(data, "ndcg", (1 + D[2]) / sum(D[:3]), unscored="unretrieved")


def test_gains_of_what_was_not_judged():
    # Neither truth nor gain at rank 2: a negative without a gain, or no row at all.
    none = {"relevant": pl.Series([1, None, 1]), "gain": pl.Series([1.0, None, 3.0])}
    data = GRADED.with_columns(**none)
    assert_known(data, "ndcg", 2.5 / (3 + D[1]), gain="gain", unjudged="negative")
    assert_known(data, "ndcg", (1 + 3 * D[1]) / (3 + D[1]), gain="gain", unjudged="drop")


def test_without_gains_there_is_no_best():
    data = pl.DataFrame(
        {"q": [1, 1, 2], "relevant": [0, 0, 1], "score": [2, 1, 1], "gain": [0.0, 0.0, 0.0]}
    )
    names = ["dcg", "ndcg", "rbp0.5"]
    found = call(data, "evaluate", metrics=names, by="q")
    assert found.rows() == [(1, 0.0, None, 0.0), (2, 1.0, 1.0, 0.5)]
    graded = call(data, "evaluate", metrics=names[:2], by="q", gain="gain")
    assert graded.rows() == [(1, 0.0, None), (2, 0.0, None)]
    filled = call(data, "evaluate", metrics="ndcg", by="q", undefined=0.0)
    assert filled.rows() == [(1, 0.0), (2, 1.0)]


def test_a_deeper_cut_may_have_a_lower_value():
    # A hit first is best for one row, not for two: 1 / (1 + D2).
    assert values(ranked(1, 0, 1), ["ndcg@1", "ndcg@2"]) == {
        "ndcg@1": 1,
        "ndcg@2": near(1 / (1 + D[1])),
    }


GAINS = st.integers(0, 3)
RANKED = ["dcg", "dcg@1", "dcg@3", "ndcg", "ndcg@1", "ndcg@3", "ndcg@40%"]


def test_others_may_stand_beside_gains():
    found = call(
        GRADED, "evaluate", metrics=["ndcg", "average_precision", "reciprocal_rank"], gain="gain"
    ).row(0)
    # Hits at ranks 1 and 3: (1 + 2/3) / 2.
    assert found == (near(2.5 / (3 + D[1])), near(5 / 6), 1)
    with pytest.raises(
        ValueError, match="orders equal scores by their gain: ask for average_precision without"
    ):
        call(
            GRADED,
            "evaluate",
            metrics=["ndcg", "average_precision"],
            gain="gain",
            ties="optimistic",
        )


def test_counts_do_not_depend_on_the_order_of_gains():
    # a: 3 / 1 + 0 + 1 / 2, with 2 positives of 3 rows. b: 2 / 1, with 1 of 2.
    data = pl.DataFrame(
        {
            "q": ["a", "a", "a", "b", "b"],
            "relevant": [1, 0, 1, 1, 0],
            "score": [1.0, 1.0, 0.0, 1.0, 1.0],
            "gain": [3.0, 0.0, 1.0, 2.0, 0.0],
        }
    )
    options = {"by": "q", "gain": "gain", "ties": "optimistic"}
    found = call(data, "evaluate", metrics=["dcg", "positives", "rows"], **options)
    assert found.rows() == [("a", 3.5, 2, 3), ("b", 2.0, 1, 2)]
    # (2 * 3.5 + 1 * 2) / 3 and (3 * 3.5 + 2 * 2) / 5.
    found = call(
        data,
        "evaluate",
        metrics="dcg",
        mean_over="q",
        statistics=["weighted", "by_rows"],
        **options,
    )
    assert found.select(pl.exclude("groups")).row(0) == (near(3), near(2.9))


def test_gains_in_parts():
    rng = np.random.default_rng(8)
    rows = 400
    data = pl.DataFrame({"q": rng.integers(0, 50, rows), "relevant": rng.random(rows) < 0.4})
    data = data.with_columns(
        score=pl.Series(rng.integers(0, 9, rows)), gain=pl.Series(rng.integers(0, 4, rows) / 4)
    )
    # Where a group goes is polars' hash, which differs by version: of two parts, neither is too
    # large with any.
    parts = fp.partitioned(data, partitions=2, progress=False)
    names = ["ndcg", "ndcg@5", "dcg@3"]
    given_too = {"by": "q", "gain": "gain"}
    found = parts.evaluate(names, "relevant", "score", **given_too)
    assert found.rows() == [
        tuple(map(near, row))
        for row in fp.evaluate(data, names, "relevant", "score", **given_too).rows()
    ]
    # One group is cut into ranges of its scores, none of which knows the best order.
    with pytest.raises(ValueError, match="gain= needs all rows of a group together"):
        parts.evaluate(names, "relevant", "score", gain="gain")


@pytest.mark.parametrize("options", [{"unscored": "unretrieved"}, {"unscored": "drop"}])
def test_a_cut_beyond_rows_that_are_not_ranked(options):
    data = pl.DataFrame({"q": [1, 1, 2], "y": [1, 0, 1], "s": [0.5, None, None], "g": [3, 0, 2]})
    call = {"truth": "y", "score": "s", "by": "q", "gain": "g", **options}
    found = data.pr.evaluate(["dcg@2", "dcg@10", "dcg@50%", "dcg"], **call)
    assert found.drop("q").rows() == [(3.0,) * 4, (0.0,) * 4]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float32, pl.UInt8])
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_gain_is_worth_0_in_every_order(dtype, missing):
    """Of the gains 1, missing and 7 in one tie, the worst order begins with the missing one."""
    if missing is not None and not dtype.is_float():
        missing = None
    data = pl.DataFrame(
        {
            "y": [1, None, 1],
            "gain": pl.Series([1, missing, 7], dtype=dtype, strict=False),
            "s": [7] * 3,
        }
    )
    filled = data.with_columns(
        pl.col("gain").fill_nan(None).fill_null(0)
        if dtype.is_float()
        else pl.col("gain").fill_null(0)
    )
    exact = {
        "pessimistic": D[1] + 7 * D[2],
        "optimistic": 7 + D[1],
        "threshold": 8 / 3 * (1 + D[1] + D[2]),
    }
    for ties, value in exact.items():
        options = {"gain": "gain", "ties": ties, "unjudged": "negative"}
        for frame in (data, data.lazy(), data.with_columns(c=1)):
            counted = (
                {}
                if isinstance(frame, pl.LazyFrame) or "c" not in frame.columns
                else {"count": "c"}
            )
            found = fp.evaluate(frame, ["dcg", "ndcg", "dcg@1"], "y", "s", **options, **counted)
            found = found.collect() if isinstance(found, pl.LazyFrame) else found
            assert found["dcg"].item() == near(value)
            assert found.equals(fp.evaluate(filled, ["dcg", "ndcg", "dcg@1"], "y", "s", **options))


@pytest.mark.parametrize(
    ("k", "value"), [("1", 300 / 330), ("2", 300 / 330), ("75%", 320 / 330), ("10", 1.0)]
)
def test_captured_gain(k, value):
    assert_known(MONEY, f"captured_gain@{k}", value, gain="gain")
    # Whole gains, too.
    assert_known(
        MONEY.with_columns(pl.col("gain").cast(pl.Int64)), f"captured_gain@{k}", value, gain="gain"
    )


def test_captured_gain_of_ties():
    # The first row and half of the next two are among the first two; all are tied in the second
    # call.
    tied = MONEY.with_columns(score=pl.Series([9, 5, 5, 1]))
    assert values(tied, ["captured_gain@2"], gain="gain")["captured_gain@2"] == near(
        (300 + 20 / 2) / 330
    )
    assert values(tied.with_columns(score=1), ["captured_gain@1"], gain="gain")[
        "captured_gain@1"
    ] == near(1 / 4)


def test_captured_gain_without_gains_is_recall():
    assert_known(TEN, "captured_gain@3", 2 / 5)


def test_captured_gain_where_nothing_can_be_captured():
    nothing = MONEY.with_columns(gain=pl.when(relevant=0).then("gain").otherwise(0.0))
    assert_known(nothing, "captured_gain@1", None, gain="gain")
    # What is not retrieved could have been captured.
    lost = MONEY.with_columns(score=pl.Series([None, 3, 2, 1]))
    assert_known(lost, "captured_gain@3", 30 / 330, gain="gain", unscored="unretrieved")


def test_dcg_beside_captured_gain_counts_the_gain_of_negatives():
    both = values(MONEY, ["dcg", "captured_gain@1"], gain="gain")
    assert both["captured_gain@1"] == near(300 / 330)
    assert both["dcg"] == near(300 * D[0] + 50 * D[1] + 20 * D[2] + 10 * D[3])


LONG_TIE = pl.DataFrame({"y": [1, 0], "s": [0.5, 0.5], "n": [1, 2**25]})


@pytest.mark.parametrize(
    "name", ["dcg", "ndcg", "ndcg@90%", f"ndcg@{2**24 + 1}", "reciprocal_rank", "success@90%"]
)
def test_ties_of_very_many_rows_are_refused_by_name(name):
    with pytest.raises(ValueError, match=rf"^{name}: [0-9]+ rows share a score.* at most 16777216"):
        fp.evaluate(LONG_TIE, ["average_precision", "ndcg@10", name], "y", "s", count="n")


def test_first_ranks_of_a_tie_of_very_many_rows():
    # The positive is at each of the 2**25 + 1 ranks with equal probability.
    expected = sum(D) / (2**25 + 1)
    result = fp.evaluate(LONG_TIE, ["dcg@10", "ndcg@10"], "y", "s", count="n")
    assert result.row(0) == (near(expected), near(expected))
