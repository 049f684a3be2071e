import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_pr.statistics.distributions import normal_p_value, p_value, proportion_bounds, quantile

DF = [1, 2, 3, 4, 5, 9, 29, 99, 199, 200, 201, 202, 1_000, 10**5, 10**9]


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99, 0.9999])
def test_quantiles_are_those_of_scipy(confidence):
    found = pl.select(quantile(confidence, pl.lit(pl.Series(DF)))).to_series()
    np.testing.assert_allclose(found, stats.t.ppf((1 + confidence) / 2, DF), rtol=1e-10)


def test_there_is_no_quantile_without_degrees_of_freedom():
    assert pl.select(quantile(0.95, pl.lit(pl.Series([0, -1])))).to_series().to_list() == [None, None]


def test_p_values_are_those_of_scipy():
    grid = pl.DataFrame({"df": DF}).join(pl.DataFrame({"t": [0.0, 1e-6, 0.3, 1.0, 1.96, 4.0, 30.0]}), how="cross")
    found = grid.select(p_value(pl.col("t"), pl.col("df"))).to_series()
    np.testing.assert_allclose(found, 2 * stats.t.sf(grid["t"], grid["df"]), rtol=0, atol=1e-9)
    # Of small probabilities the digits, too: 1 - something would have lost them.
    small = pl.select(p_value(pl.lit(pl.Series([8.0, 12.0])), pl.lit(pl.Series([40, 100])))).to_series()
    np.testing.assert_allclose(small, 2 * stats.t.sf([8.0, 12.0], [40, 100]), rtol=1e-9)
    assert pl.select(p_value(pl.lit(-2.0), pl.lit(9))).item() == pl.select(p_value(pl.lit(2.0), pl.lit(9))).item()


def test_normal_p_values_are_those_of_scipy():
    z = pl.Series([0.0, 1e-9, 0.5, 1.96, 2.999, 3.001, 5.0, 12.0, 37.0, -1.0])
    found = pl.select(normal_p_value(pl.lit(z))).to_series()
    np.testing.assert_allclose(found, 2 * stats.norm.sf(z.abs()), rtol=1e-12)
    assert pl.select(normal_p_value(pl.lit(None, dtype=pl.Float64))).item() is None


def test_an_interval_of_a_proportion_ends_exactly_at_0_and_1():
    units = pl.DataFrame({"n": range(1, 2_000)})
    for value, bound in ((0.0, "low"), (1.0, "high")):
        bounds = units.select(**proportion_bounds(pl.lit(value), pl.col("n"), 0.95))
        assert bounds[bound].unique().to_list() == [value]
        # Wilson's other bound is z^2 / (n + z^2) from the end.
        other = bounds["high"] if value == 0 else 1 - bounds["low"]
        z = stats.norm.ppf(0.975)
        np.testing.assert_allclose(other, z**2 / (units["n"].to_numpy() + z**2), rtol=1e-12)
