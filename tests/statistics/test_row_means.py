"""Closed forms of means of a number per row: mean score, Brier score and log loss."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from compare import near
from scipy import special, stats

import frame_pr as fp

# Squared errors .01, .04, .16, .25: their mean is .115, and the squared deviations of .105, .075,
# .045 and .135 add up to .0369.
FOUR = pl.DataFrame({"y": [1, 0, 1, 0], "p": [0.9, 0.2, 0.6, 0.5]})
MEANS = {
    "mean_score": lambda y, p: p,
    "brier_score": lambda y, p: (p - y) ** 2,
    "log_loss": lambda y, p: -np.log(np.where(y, p, 1 - p)),
}


def probabilities(seed: int, rows: int = 120) -> pl.DataFrame:
    """Rows of 12 users of equal size, with two probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    scores = {name: rng.beta(2 + y, 4) for name in "ab"}
    user = np.arange(rows) % 12
    return pl.DataFrame({"y": y, "user": user, "half": user < 4, **scores})


def numbers(frame: pl.DataFrame, metric: str, column: str = "a") -> np.ndarray:
    """The number of each row."""
    return MEANS[metric](frame["y"].to_numpy(), frame[column].to_numpy())


def test_known_answer():
    (row,) = fp.intervals(FOUR, "brier_score", "y", "p", details=True, method="closed").to_dicts()
    error = (0.0369 / 3 / 4) ** 0.5
    assert (row["value"], row["standard_error"], row["n"]) == (near(0.115), near(error), 4)
    reach = stats.t.ppf(0.975, 3) * error / (0.115 * 0.885)
    logit = special.logit(0.115)
    low, high = special.expit([logit - reach, logit + reach])
    assert (row["low"], row["high"]) == (near(low), near(high))


@pytest.mark.parametrize("metric", ["mean_score", "log_loss"])
def test_intervals_are_those_of_scipy(metric):
    frame = probabilities(1)
    x = numbers(frame, metric)
    low, high = stats.t.interval(0.9, len(x) - 1, x.mean(), stats.sem(x))
    row = fp.intervals(frame, metric, "y", "a", confidence=0.9).row(0, named=True)
    assert (row["value"], row["low"], row["high"]) == (near(x.mean()), near(low), near(high))


@pytest.mark.parametrize("metric", MEANS)
def test_paired_and_unpaired_tests_are_those_of_scipy(metric):
    frame = probabilities(2)
    a, b = (numbers(frame, metric, column) for column in "ab")
    paired = fp.compare(frame, metric, "y", ["a", "b"]).row(0, named=True)
    assert paired["p_value"] == near(stats.ttest_rel(b, a).pvalue)
    bounds = stats.ttest_rel(b, a).confidence_interval()
    assert (paired["low"], paired["high"]) == (near(bounds.low), near(bounds.high))
    if metric != "brier_score":
        half = frame["half"].to_numpy()
        welch = stats.ttest_ind(a[half], a[~half], equal_var=False)
        unpaired = fp.compare(frame, metric, "y", "a", between="half", correction=None)
        assert unpaired["p_value"].item() == near(welch.pvalue)


@pytest.mark.parametrize("metric", MEANS)
def test_clusters_are_those_of_statsmodels(metric):
    frame = probabilities(3)
    x = numbers(frame, metric)
    clusters = {"cov_type": "cluster", "cov_kwds": {"groups": frame["user"].to_numpy()}}
    fit = sm.OLS(x, np.ones(len(x))).fit(use_t=True, **clusters)
    row = fp.intervals(frame, metric, "y", "a", cluster="user", details=True).row(0, named=True)
    assert (row["value"], row["standard_error"]) == (near(fit.params[0]), near(fit.bse[0]))
    if metric != "brier_score":
        assert (row["low"], row["high"]) == tuple(map(near, fit.conf_int()[0]))
    difference = numbers(frame, metric, "b") - x
    fit = sm.OLS(difference, np.ones(len(x))).fit(use_t=True, **clusters)
    compared = fp.compare(frame, metric, "y", ["a", "b"], cluster="user")
    assert compared["p_value"].item() == near(fit.pvalues[0])


@pytest.mark.parametrize("metric", MEANS)
def test_rows_that_stand_for_several_and_rows_without_a_score(metric):
    frame = probabilities(4, rows=60).with_columns(n=pl.int_range(60) % 3 + 1)
    rows = frame.select(pl.all().repeat_by("n").explode())
    call = {"details": True, "method": "closed"}
    numbers = ["value", "low", "high", "standard_error", "n"]
    expected = fp.intervals(rows, metric, "y", "a", **call).select(numbers).row(0)
    found = fp.intervals(frame, metric, "y", "a", count="n", **call).select(numbers).row(0)
    assert found == tuple(map(near, expected))
    # Rows without a score are no part of a mean: the error and n - 1 are those of the others.
    missing = pl.DataFrame({"y": [True, False], "a": [None, None]}, schema={"y": bool, "a": float})
    more = pl.concat([rows, missing], how="diagonal_relaxed")
    found = fp.intervals(more, metric, "y", "a", unscored="unretrieved", **call)
    assert found.select(numbers[:-1]).row(0) == tuple(map(near, expected[:-1]))


def test_means_without_an_error():
    # Infinite scores have a mean without an error, and one row shows no spread.
    call = {"details": True, "method": "closed"}
    infinite = pl.DataFrame({"y": [1, 0, 1], "s": [float("inf"), 1.0, 2.0]})
    with pytest.warns(fp.DataWarning, match="no bounds: the value is infinite"):
        row = fp.intervals(infinite, "mean_score", "y", "s", **call).row(0, named=True)
    assert (row["value"], row["standard_error"], row["low"]) == (float("inf"), None, None)
    with pytest.warns(fp.DataWarning, match="no bounds: there is one unit only"):
        row = fp.intervals(FOUR[:1], "log_loss", "y", "p", **call).row(0, named=True)
    assert (row["standard_error"], row["low"], row["high"]) == (None, None, None)


def test_scores_of_32_bits_have_their_own_precision():
    # A probability of 0 of a positive has a log loss of -log(2^-23).
    frame = pl.DataFrame({"y": [1, 0], "p": [0.0, 0.5]}, schema_overrides={"p": pl.Float32})
    with pytest.warns(fp.DataWarning, match="a few rows of the rarer label"):
        row = fp.intervals(frame, "log_loss", "y", "p", details=True).row(0, named=True)
    large, small = 23 * np.log(2), np.log(2)
    assert row["standard_error"] == near((large - small) / 2)


@pytest.mark.parametrize(("positives", "warns"), [(9, True), (10, False), (191, True)])
def test_log_loss_of_few_rows_of_a_label_warns(positives, warns):
    p = np.linspace(0.05, 0.6, 200)
    frame = pl.DataFrame({"y": np.arange(200) >= 200 - positives, "p": p})
    # The Brier score has no large numbers.
    fp.intervals(frame, "brier_score", "y", "p")
    if not warns:
        fp.intervals(frame, "log_loss", "y", "p")
        return
    with pytest.warns(fp.DataWarning, match="log_loss: a few rows of the rarer label make most"):
        fp.intervals(frame, "log_loss", "y", "p")


def test_weights_take_the_bootstrap():
    frame = probabilities(5, rows=60).with_columns(w=0.5)
    row = fp.intervals(frame, "brier_score", "y", "a", weight="w", details=True).row(0, named=True)
    assert row["undefined_replicates"] == 0
    with pytest.raises(ValueError, match=r"^weight="):
        fp.intervals(frame, "brier_score", "y", "a", weight="w", method="closed")
