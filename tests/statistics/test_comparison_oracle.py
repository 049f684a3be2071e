"""`compare` against exact fractions, written from the definitions of the docs; `make fuzz` tries many more."""

import pytest
from comparison_cases import differences

# Random data look like mistakes now and then.
pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")


@pytest.mark.parametrize("seed", [0, 1])
def test_random_comparisons(seed):
    compared, wrong = differences(seed)
    assert compared > 6
    assert not wrong, wrong[0]
