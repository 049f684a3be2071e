import sys

import numpy as np
import polars as pl
import pytest
from scipy import stats

import frame_pr as fp
from frame_pr.statistics.bounds import proportion_bounds

RUN = pl.DataFrame({"q": [1, 1, 2, 2], "y": [1, 0, 0, 1], "a": [4, 3, 2, 1], "b": [1, 2, 3, 4]})


def test_an_interval_of_a_proportion_ends_exactly_at_0_and_1():
    units = pl.DataFrame({"n": range(1, 2_000)})
    for value, bound in ((0.0, "low"), (1.0, "high")):
        bounds = units.select(**proportion_bounds(pl.lit(value), pl.col("n"), 0.95))
        assert bounds[bound].unique().to_list() == [value]
        # Wilson's other bound is z^2 / (n + z^2) from the end.
        other = bounds["high"] if value == 0 else 1 - bounds["low"]
        z = stats.norm.ppf(0.975)
        np.testing.assert_allclose(other, z**2 / (units["n"].to_numpy() + z**2), rtol=1e-12)


CALLS = [
    lambda run: fp.intervals(run, "average_precision", "y", "a"),
    lambda run: fp.compare(run, "average_precision", "y", ["a", "b"], by="q"),
    lambda run: fp.average_curve(run, "y", "a", by="q"),
]


@pytest.mark.parametrize("call", CALLS)
def test_without_scipy_one_sentence_says_how_to_install_it(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r'need scipy: pip install "frame_pr\[stats\]"'):
        call(RUN.lazy())
