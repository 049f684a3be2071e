"""Curves and intervals: random frames against the exact oracle, written from the docs.

The fuzzer draws as many more of them as it is told.
"""

import bootstrap_cases
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_cases import differences

# Random data look like mistakes now and then.
pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")


@given(seed=st.integers(0, 10**9))
@settings(max_examples=5, deadline=None)
def test_random_frames(seed):
    groups, wrong = differences(seed)
    assert groups > 0
    assert not wrong, wrong[0]


@pytest.mark.slow
@given(seed=st.integers(0, 10**9))
@settings(max_examples=15, deadline=None)
def test_many_random_frames(seed):
    _, wrong = differences(seed)
    assert not wrong, wrong[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_bootstrap_has_the_same_bits_on_every_frame_and_for_a_group_alone(seed):
    _, wrong = bootstrap_cases.differences(seed)
    assert not wrong, wrong[0]
