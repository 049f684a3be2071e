"""Tie rules and rates are records: complete, documented, and looked up."""

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.inputs.options import TIES

# Three rows of one score: positive, negative, negative.
TIED = pl.DataFrame({"y": [1, 0, 0], "s": [1, 1, 1]})


@pytest.mark.parametrize("ties", TIES)
def test_a_rule_is_applied_or_refused_by_curve(ties):
    if TIES[ties].orders == "all orders":
        with pytest.raises(ValueError, match="a curve has no expectation over orders"):
            TIED.pr.curve("y", "s", ties=ties)
    else:
        # One row for the block, or one for each row that the rule orders.
        assert TIED.pr.curve("y", "s", ties=ties).height == (
            1 if TIES[ties].orders == "nothing" else 3
        )


@pytest.mark.parametrize(
    ("ties", "value"),
    # The positive among 3 tied rows: together 1/3; at rank 1, 2 or 3 equally often (1 + 1/2 + 1/3)
    # / 3 = 11/18.
    [
        ("threshold", 1 / 3),
        ("expected", 11 / 18),
        ("optimistic", 1),
        ("pessimistic", 1 / 3),
        ("order", 1),
    ],
)
def test_known_answers(ties, value):
    assert fp.average_precision(TIED, "y", "s", ties=ties).item() == pytest.approx(value, rel=1e-15)


def test_known_answers_are_of_all_rules():
    (mark,) = test_known_answers.pytestmark
    assert {ties for ties, _ in mark.args[1]} == set(TIES)
