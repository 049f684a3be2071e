"""Random calls against exact answers, the same in every run: `python dev.py fuzz` draws others, and many more."""

import pytest
from fuzz import SUBJECTS, check, compare_cases, every_metric

FEW = {"polars": 120, "with_metrics": 50, "tally": 50, "thresholds": 50, "keys": 30}


@pytest.mark.parametrize("subject", FEW)
def test_every_value_is_the_exact_one(subject: str):
    compare_cases(subject, FEW[subject], 0)


EVERY = [{"ties": rule} for rule in ("threshold", "expected", "optimistic", "pessimistic", "order")]
EVERY += [{"tie_break": "d"}, {"ascending": True}, {"unscored": "drop"}, {"unjudged": "negative"}, {"unjudged": "drop"}]
EVERY += [{"weight": "w"}, {"weight": "f"}, {"count": "n"}, {"count": "n", "ties": "expected"}, {"gain": "g"}]
EVERY += [{"gain": "g", "ties": rule} for rule in ("expected", "optimistic")]
EVERY += [{name: "total"} for name in ("total_positives", "total_rows", "prevalence")]


@pytest.mark.parametrize("options", EVERY, ids=str)
def test_every_metric_under_each_option(options):
    assert check(every_metric(options)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_value_is_the_exact_one_on_every_way(subject: str):
    compare_cases(subject, 300 if subject == "polars" else 100, 1000)
