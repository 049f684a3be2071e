import polars as pl
import pytest
from compare import assert_known, near
from hypothesis import given
from hypothesis import strategies as st
from names import call
from rankings import WITH_A_HIT, values
from samples import FOUR, LATE, SIX, TEN, TRI


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        (TEN, "reciprocal_rank", 1),
        # The first hit of the six stands at rank 2.
        (SIX, "reciprocal_rank", 1 / 2),
        (SIX, "reciprocal_rank@1", 0),
        (SIX, "reciprocal_rank@2", 1 / 2),
        # One hit at rank 1, 2 or 3, each as likely: (1 + 1/2 + 1/3) / 3, and of the first two (1 +
        # 1/2) / 3.
        (TRI, "reciprocal_rank", 11 / 18),
        (TRI, "reciprocal_rank@2", 1 / 2),
        # Two of the three rows behind the first are hits: rank 2 with chance 2/3, else rank 3.
        (LATE, "reciprocal_rank", 2 / 3 * 1 / 2 + 1 / 3 * 1 / 3),
        (LATE, "reciprocal_rank@2", 2 / 3 * 1 / 2),
        (SIX, "success@1", 0),
        (SIX, "success@2", 1),
        (SIX, "success@100", 1),
        (TRI, "success@2", 2 / 3),
        # Of the 6 pairs of four rows, one has no hit.
        (FOUR, "success@2", 5 / 6),
        # Hits at the ranks 1, 2, 4, 6 and 10, and of the six at 2, 4 and 5.
        (TEN, "first_rank", 1),
        (TEN, "mean_rank", 23 / 5),
        (SIX, "first_rank", 2),
        (SIX, "mean_rank", 11 / 3),
        # Rank 1, 2 or 3, each as likely; of two hits behind the first row, rank 2 with chance 2/3.
        (TRI, "first_rank", 2),
        (LATE, "first_rank", 2 + 1 / 3),
        (LATE, "mean_rank", 3),
        # A third of six rows are two of them.
        (SIX, "success@33%", 1),
        (SIX, "success@10%", 0),
    ],
)
def test_known_answers(data, name, value):
    assert_known(data, name, value)


# The first row is a miss. A hit comes next at best, at worst after the other miss.
@pytest.mark.parametrize(
    ("ties", "value"), [("optimistic", 1 / 2), ("pessimistic", 1 / 3), ("expected", 4 / 9)]
)
def test_ties(ties, value):
    assert_known(LATE, "reciprocal_rank", value, ties=ties)


@pytest.mark.parametrize(
    ("ties", "value"), [("optimistic", 5 / 2), ("pessimistic", 7 / 2), ("expected", 3)]
)
def test_mean_rank_of_ties(ties, value):
    # The two hits stand at ranks 2 and 3 at best, at 3 and 4 at worst.
    assert values(LATE, ["mean_rank"], ties=ties)["mean_rank"] == value


def test_ranks_of_what_is_not_retrieved():
    # Two rows are ranked, a hit and a miss are not: they share the ranks 3 and 4.
    data = pl.DataFrame({"relevant": [0, 0, 1, 0], "score": [2.0, 1.0, None, None]})
    for name in ("first_rank", "mean_rank"):
        assert_known(data, name, 7 / 2, unscored="unretrieved")
    assert_known(data.filter(pl.col("relevant") == 0), "first_rank", None, unscored="unretrieved")


def test_what_is_never_found():
    # Of the first group the hit is not retrieved: 0, not null. The second has none to find.
    data = pl.DataFrame({"q": [1, 1, 2], "relevant": [1, 0, 0], "score": [None, 2.0, 1.0]})
    given = {"metrics": ["reciprocal_rank", "success@5"], "by": "q", "unscored": "unretrieved"}
    assert call(data, "evaluate", **given).rows() == [(1, 0.0, 0.0), (2, None, None)]
    assert call(data, "evaluate", undefined=-1.0, **given).row(1) == (2, -1.0, -1.0)


@given(WITH_A_HIT, st.integers(0, 3))
def test_the_reciprocal_rank_is_a_sum_of_successes(data, more):
    # 1/r is the sum of 1/(k (k+1)) over k from r to M - 1, and 1/M.
    last = data.height + more
    found = values(data, ["reciprocal_rank", *(f"success@{k}" for k in range(1, last + 1))])
    parts = sum(found[f"success@{k}"] / (k * (k + 1)) for k in range(1, last))
    assert found["reciprocal_rank"] == near(parts + found[f"success@{last}"] / last)


def test_a_single_positive_among_ties_differs():
    # The threshold of the triple takes three rows, precision 1/3; the mean over its orders is
    # 11/18.
    assert values(TRI, ["average_precision", "reciprocal_rank"]) == {
        "average_precision": near(1 / 3),
        "reciprocal_rank": near(11 / 18),
    }
