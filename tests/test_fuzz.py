"""Random calls against exact answers, the same in every run: `python dev.py fuzz` draws others, and many more."""

import pytest
from fuzz import SUBJECTS, compare_cases

FEW = {"polars": 120, "with_metrics": 50, "tally": 50, "thresholds": 50, "keys": 30}


@pytest.mark.parametrize("subject", FEW)
def test_every_value_is_the_exact_one(subject: str):
    compare_cases(subject, FEW[subject], 0)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_value_is_the_exact_one_on_every_way(subject: str):
    compare_cases(subject, 300 if subject == "polars" else 100, 1000)
