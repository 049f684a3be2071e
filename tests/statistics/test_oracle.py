"""Random frames against the exact oracle, which is written from the docs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_statistics import INFLUENCES, VALUES, comparison_differences, interval_differences

# Random data look like mistakes now and then.
pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 40))]
)
def test_intervals_and_averaged_curves(seed):
    groups, wrong = interval_differences(seed)
    assert groups > 0
    assert not wrong, wrong[0]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))]
)
def test_comparisons(seed):
    compared, wrong = comparison_differences(seed)
    assert compared > 6
    assert not wrong, wrong[0]


RANKED = st.lists(
    st.tuples(st.booleans(), st.one_of(st.none(), st.integers(0, 4))), min_size=0, max_size=6
)


@given(rows=RANKED, name=st.sampled_from(list(VALUES)))
def test_the_influences_of_the_oracle_are_changes_of_the_value(rows, name):
    # Of many copies of all rows, one more row changes the value by about its influence.
    rows, n = [*rows, (True, 2), (True, 3), (False, 1), (False, 2)], 40
    influences = INFLUENCES[name](rows)
    assert sum(influences) == 0
    for row, influence in list(zip(rows, influences, strict=True))[::3]:
        change = VALUES[name]([*rows * n, row]) - VALUES[name](rows)
        assert float(change * n) == pytest.approx(float(influence), abs=0.05)
