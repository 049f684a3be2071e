import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import given
from names import call
from rankings import BOTH_CLASSES, values
from samples import PAIR, TEN, TRI, ranked

import frame_pr as fp


@pytest.mark.parametrize(
    ("data", "value"),
    [
        # Above the five positives stand 0, 0, 1, 2, 5 of the five negatives: (5 + 5 + 4 + 3 + 0) /
        # 25.
        (TEN, 17 / 25),
        # P = 2 of N - P = 4: the first has one above it, 1/2; the second two, 0.
        (ranked(0, 1, 0, 1, 0, 0), 1 / 4),
        # Two stand above, of which P = 1 counts.
        (ranked(0, 0, 1, 0), 0),
        # Q = 1 < P = 3: hits below the negative have 1 - 1/1, those above it 1.
        (ranked(1, 1, 0, 1), 2 / 3),
        # First, second or third: 1, 0 or 0.
        (TRI, 1 / 3),
        (PAIR, 1 / 2),
        # Nothing judged stands above.
        (ranked(1, 1), 1),
    ],
)
def test_known_answers_of_bpref(data, value):
    assert_known(data, "bpref", value)


def test_bpref_of_what_was_not_retrieved_and_not_judged():
    # Rank 1 nobody judged: it is left out. Of P = 3 and Q = 2 judged, hits are above 2 and 1
    # negatives; one is missing.
    data = pl.DataFrame({"relevant": [None, 1, 0, 1, 0, 1], "score": [6, 5, 4, 3, 2, None]})
    assert_known(data, "bpref", (1 + 1 / 2) / 3, unjudged="drop", unscored="unretrieved")
    # It is no negative of bpref where it is one of other metrics.
    assert_known(data, "bpref", (1 + 1 / 2) / 3, unjudged="negative", unscored="unretrieved")
    # In a tie with a judged negative, the positive has that one above it in half of the orders.
    tied = data.with_columns(score=pl.Series([6, 6, 6, 3, 2, None]))
    assert_known(tied, "bpref", (3 / 4 + 1 / 2) / 3, unjudged="negative", unscored="unretrieved")
    assert_known(
        tied,
        "bpref",
        (1 + 1 / 2) / 3,
        unjudged="negative",
        unscored="unretrieved",
        ties="optimistic",
    )
    assert_known(
        tied,
        "bpref",
        (1 / 2 + 1 / 2) / 3,
        unjudged="negative",
        unscored="unretrieved",
        ties="pessimistic",
    )


def test_bpref_without_positives_has_no_value():
    data = ranked(0, 0)
    assert_known(data, "bpref", None)
    assert_known(data, "bpref", 0.5, undefined=0.5)


# Ranks 1 and 3 are judged, 2 and 4 are not.
PART = pl.DataFrame({"relevant": [1, None, 0, None], "score": [4, 3, 2, 1]})


@pytest.mark.parametrize(
    ("k", "value"),
    # A fifth row and those behind it nobody retrieved; half of four rows are two.
    [
        ("1", 1),
        ("2", 1 / 2),
        ("3", 2 / 3),
        ("4", 2 / 4),
        ("10", 2 / 10),
        ("50%", 1 / 2),
        ("100%", 2 / 4),
    ],
)
def test_known_answers_of_judged(k, value):
    assert_known(PART, f"judged@{k}", value, unjudged="negative")


def test_judged_of_tied_rows():
    # One of the two tied rows: each is judged with chance 1/2.
    assert_known(
        PART.with_columns(score=pl.Series([4, 4, 2, 1])), "judged@1", 1 / 2, unjudged="negative"
    )


def test_judged_where_all_or_none_is():
    # What is left out is not judged, and does not stand in the ranking either: two rows, both
    # judged.
    assert_known(PART, "judged@2", 1, unjudged="drop")
    assert_known(PART, "judged@4", 2 / 4, unjudged="drop")
    assert_known(TEN, "judged@5", 1)
    # Nobody judged the second group.
    two = pl.DataFrame({"q": [1, 2], "relevant": [1, None], "score": [1, 1]})
    found = call(two, "evaluate", metrics="judged@1", by="q", unjudged="negative")
    assert found.rows() == [(1, 1.0), (2, 0.0)]
    # A judged row that nobody retrieved is at no rank.
    missed = pl.DataFrame({"relevant": [1, 1], "score": [1, None]})
    assert_known(missed, "judged@2", 1 / 2, unscored="unretrieved")


@given(BOTH_CLASSES)
def test_bpref_is_at_most_the_area_under_the_roc_curve(data):
    found = values(data, ["bpref", "roc_auc"])
    positives = data["relevant"].sum()
    # Both count the negatives above; bpref of P at most, over P where P is less.
    assert found["bpref"] <= found["roc_auc"] + 1e-12
    if data.height - positives <= positives:
        assert found["bpref"] == near(found["roc_auc"])


def test_bpref_of_rows_that_stand_for_many():
    # The three positives are tied with 4 * 10^15 - 1 misses. Of 4 * 10^15 places, those with 0, 1
    # and 2 misses above are worth 1, 2/3 and 1/3.
    data = pl.DataFrame({"y": [0, 1, 0], "s": [1, 1, 1], "n": [10**15, 3, 3 * 10**15 - 1]})
    assert fp.evaluate(data, "bpref", "y", "s", count="n").item() == pytest.approx(
        2 / (4 * 10**15), rel=1e-15, abs=0
    )
