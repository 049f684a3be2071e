"""Averaged curves and intervals of random frames against the exact oracle, written from the docs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_cases import differences

# Random data look like mistakes now and then.
pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")


@given(seed=st.integers(0, 10**9))
@settings(max_examples=10, deadline=None)
def test_random_frames(seed):
    groups, wrong = differences(seed)
    assert groups > 0
    assert not wrong, wrong[0]


@pytest.mark.slow
@given(seed=st.integers(0, 10**9))
@settings(max_examples=50, deadline=None)
def test_many_random_frames(seed):
    _, wrong = differences(seed)
    assert not wrong, wrong[0]
