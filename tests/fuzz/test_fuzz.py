"""Random calls against an exact oracle, the same in every run; `make fuzz` takes others, and many more."""

import pytest

from frame_pr.inputs import equal_rows
from frame_pr.ranking import sorting
from fuzz.trying import shown, tried

# Random data look like mistakes now and then.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")]

# Few of each: `.ci/run` tries thousands more.
CASES = dict.fromkeys(("lazy", "streaming", "pandas", "numpy", "beside", "expressions", "partitioned"), 20)
CASES |= {"polars": 80, "dask": 10}


@pytest.mark.parametrize(("seed", "engine"), list(enumerate(CASES)))
def test_every_value_is_the_exact_one(monkeypatch, seed, engine):
    # Rows are counted before they are sorted in small frames, too, where few of a sample differ.
    monkeypatch.setattr(equal_rows, "_SAMPLES", (4,))
    monkeypatch.setattr(sorting, "_WIDTHS_FROM", 8)
    cases = number = 0
    at_once = min(CASES[engine], 20)
    while cases < CASES[engine]:
        done, wrong = tried(seed, range(number, number + at_once), [engine])
        if wrong:
            pytest.fail(shown(seed, min(wrong), [engine]), pytrace=False)
        cases, number = cases + done, number + at_once
