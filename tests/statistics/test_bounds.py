import sys

import numpy as np
import polars as pl
import pytest
from scipy import stats

import frame_pr as fp
from frame_pr.statistics.bounds import Estimates, bounds_of
from frame_pr.statistics.pairs import Hypothesis, with_t_test

RUN = pl.DataFrame({"q": [1, 1, 2, 2], "y": [1, 0, 0, 1], "a": [4, 3, 2, 1], "b": [1, 2, 3, 4]})


def estimates(value, n, error=0.0, positives=0):
    ones = np.ones(len(n))
    labels = positives * ones, n - positives * ones
    return Estimates(value * ones, error * ones, n - 1.0, n * 1.0, *labels)


def test_an_interval_of_a_proportion_ends_exactly_at_0_and_1():
    n, z = np.arange(2, 2_000), stats.norm.ppf(0.975)
    for value in (0.0, 1.0):
        low, high = bounds_of(["proportion"], 0 * n, estimates(value, n), 0.05)
        assert set(low if value == 0 else high) == {value}
        # Wilson's other bound is z^2 / (n + z^2) from the end.
        np.testing.assert_allclose(high if value == 0 else 1 - low, z**2 / (n + z**2), rtol=1e-12)


def test_a_difference_without_an_error():
    table = pl.DataFrame({"difference": [0.0, 0.3], "standard_error": [0.0, 0.0], "df": [4.0, 4.0]})
    result = with_t_test(table, Hypothesis(0.95), "t").select("low", "high", "p_value")
    assert result.rows() == [(0.0, 0.0, 1.0), (None, None, None)]
    normal = table.with_columns(standard_error=0.2, df=float("inf"))
    low, high, p = with_t_test(normal, Hypothesis(0.95), "t").select("low", "high", "p_value")
    np.testing.assert_allclose(p, 2 * stats.norm.sf(table["difference"] / 0.2))
    np.testing.assert_allclose(high - table["difference"], 0.2 * stats.norm.isf(0.025))
    np.testing.assert_allclose(high - low, 0.4 * stats.norm.isf(0.025))


CALLS = [
    lambda run: fp.intervals(run, "average_precision", "y", "a"),
    lambda run: fp.compare(run, "average_precision", "y", ["a", "b"], mean_over="q"),
    lambda run: fp.average_curve(run, "y", "a", mean_over="q"),
]


@pytest.mark.parametrize("call", CALLS)
def test_without_scipy_one_sentence_says_how_to_install_it(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r'need scipy: pip install "frame_pr\[stats\]"'):
        call(RUN.lazy())
