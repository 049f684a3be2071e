from functools import cache
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from scipy import stats

import frame_pr as fp
from frame_pr.statistics import bootstrap
from frame_pr.statistics.bootstrap import Sampler, bias_corrected


def sample(rows=60, groups=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.4
    return pl.DataFrame(
        {
            "q": rng.integers(0, groups, rows),
            "user": rng.integers(0, 15, rows),
            "truth": truth,
            "score": (rng.normal(size=rows) + truth).round(1),
            "w": rng.random(rows) + 0.1,
        }
    )


def units(n, stratum=None, stream=None):
    columns = {"stratum": stratum or [0] * len(n), "stream": stream or [0] * len(n), "n": n}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


# Few rows are drawn one by one; thousands by a binomial variate for each cell.
@pytest.mark.parametrize("n", [[1, 1, 3, 4], [1, 2, 900, 5000], [1] * 5000])
def test_counts_are_multinomial(n):
    times, total = 4000 if len(n) < 9 else 40, sum(n)
    counts = Sampler(units(n), 7).draw(times)
    assert (counts.sum(axis=1) == total).all()
    if len(n) > 9:  # which has 0, 1, 2, 3, 4 and more
        seen = np.bincount(counts.clip(max=5).ravel(), minlength=6)
        share = stats.binom.pmf(range(5), total, 1 / total)
        assert stats.chisquare(seen, counts.size * np.append(share, 1 - share.sum())).pvalue > 1e-4
        return
    for own, drawn in zip(n, counts.T, strict=True):
        mean, variance = own, own * (1 - own / total)
        assert abs(drawn.mean() - mean) < 4.5 * (variance / times) ** 0.5
        assert 0.88 < drawn.var() / variance < 1.12
    expected = -n[-1] * n[-2] / total
    assert abs(np.cov(counts.T)[-1, -2] / expected - 1) < 0.15


def test_counts_depend_on_seed_stream_and_units_alone():
    both = units([1] * 9 + [2] * 5000, [0] * 9 + [1] * 5000, [0] * 9 + [1] * 5000)
    counts = Sampler(both, 5).draw(3)
    assert not (Sampler(both, 6).draw(3) == counts).all()
    in_batches = Sampler(both, 5)
    assert (np.vstack([in_batches.draw(1), in_batches.draw(2)]) == counts).all()
    assert (Sampler(units([2] * 5000, stream=[1] * 5000), 5).draw(3) == counts[:, 9:]).all()


def test_the_standard_error_is_that_of_all_samples():
    # Of 5 rows there are 5^5 = 3125 ordered samples, each as likely as the others.
    rows = [(1, 5), (0, 4), (1, 3), (0, 2), (1, 2)]
    data = pl.DataFrame(rows, schema=["truth", "score"], orient="row")
    given = {"method": "bootstrap", "repeats": 20_000}
    found = fp.intervals(data, ["prevalence", "tp@threshold=3"], "truth", "score", **given, details=True)
    # Of binomial counts: sqrt(.6 .4 / 5), and of 5 rows, each of the two hits with 2/5: sqrt(5 .4 .6).
    for error, exact in zip(found["standard_error"], (0.048**0.5, 1.2**0.5), strict=True):
        assert abs(error / exact - 1) < 0.02


def test_bounds_are_bias_corrected_quantiles():
    many = pl.DataFrame({"kept": [0], "df": [10**6]}, schema={"kept": pl.Int64, "df": pl.Int64})

    def bounds(value):
        columns = {"replicate": range(-1, 1001), "value": [value, *map(float, range(1001))]}
        table = pl.DataFrame(columns).with_columns(kept=pl.lit(0, dtype=pl.Int64))
        return bias_corrected(table, many, 1001, 0.95).select("low", "high").row(0)

    # No bias: the 2.5 and 97.5 % points of 0, 1, ..., 1000.
    assert bounds(500.0) == (pytest.approx(25, abs=0.1), pytest.approx(975, abs=0.1))
    # A share of Phi(-1) lies below: Phi(-2 -+ 1.96).
    z = NormalDist().cdf
    low, high = bounds(1000 * z(-1))
    assert (low, high) == (pytest.approx(1000 * z(-3.96), abs=0.1), pytest.approx(1000 * z(-0.04), abs=2))
    # At the end of all replicates the share below tells nothing.
    assert bounds(1000.0) == (pytest.approx(25, abs=0.1), 1000.0)


BOOTSTRAPPED = ["average_precision", "precision@10", "recall@fpr=0.2", "max_f1", "f1@threshold=0.5", "threshold@max_f1"]
BY_BOOTSTRAP = {"by": "q", "method": "bootstrap", "repeats": 200}


@cache
def bootstrapped():
    """What every kind of frame, order of rows and tally of them gives."""
    return fp.intervals(sample(), BOOTSTRAPPED, "truth", "score", **BY_BOOTSTRAP, details=True)


@pytest.mark.slow
def test_an_interval_depends_on_no_other_metric_group_or_chunk(monkeypatch):
    data = sample(100)
    given = {"by": "q", "method": "bootstrap", "repeats": 100}
    names = ["average_precision", "precision@threshold=0.5", "threshold@5", "recall@recall=0"]
    together = fp.intervals(data, names, "truth", "score", **given)
    for name in names:
        alone = fp.intervals(data.filter(pl.col("q") == 1), name, "truth", "score", **given)
        assert_same(alone, together.filter(q=1, metric=name))
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 300)
    assert_same(fp.intervals(data, names, "truth", "score", **given), together)


@pytest.mark.slow
def test_standard_errors_are_about_those_of_the_closed_forms():
    data, names = sample(3000, groups=4, seed=2), ["average_precision", "roc_auc", "recall@threshold=0.5"]
    for given in (
        {},
        {"cluster": "user"},
        {"by": "q", "mean_over": "q", "sampled": "rows"},
        {"by": "q", "mean_over": "q", "cluster": "user"},
    ):
        closed = fp.intervals(data, names, "truth", "score", **given, details=True)
        drawn = fp.intervals(data, names, "truth", "score", method="bootstrap", **given, details=True)
        assert drawn.select("value", "units", "undefined").equals(closed.select("value", "units", "undefined"))
        for name in ("standard_error", "low", "high"):
            assert drawn[name].to_list() == pytest.approx(closed[name].to_list(), rel=0.12)


@pytest.mark.slow
def test_options_without_a_closed_form():
    data = sample(400, groups=1)
    given = {"method": "bootstrap", "repeats": 300}
    weighted = fp.intervals(data, ["average_precision", "roc_auc"], "truth", "score", weight="w", **given)
    exact = fp.evaluate(data, ["average_precision", "roc_auc"], "truth", "score", weight="w")
    assert weighted["value"].to_list() == list(map(near, exact.row(0)))
    assert weighted["units"].to_list() == [400, 400]
    # Weights that are all the same change nothing.
    equal = fp.intervals(data.with_columns(w=3), "average_precision", "truth", "score", weight="w", **given)
    assert_same(equal, fp.intervals(data, "average_precision", "truth", "score", **given))
    systems = fp.intervals(data.with_columns(other=-pl.col("score")), "roc_auc", "truth", ["score", "other"], **given)
    low, high = systems.filter(system="score").select("low", "high").row(0)
    assert 0 < systems.filter(system="other")["high"].item() < 0.5 < low < high < 1
    # As many positives in all replicates: so the share of positives does not vary.
    fixed = fp.intervals(
        data, ["prevalence", "recall@threshold=0.5"], "truth", "score", stratified=True, **given, details=True
    )
    assert fixed.select("standard_error", "low").row(0) == (None, None)
    recall, positives = fixed["value"][1], data["truth"].sum()
    assert fixed["standard_error"][1] == pytest.approx((recall * (1 - recall) / positives) ** 0.5, rel=0.12)


def test_groups_that_cannot_be_drawn_from():
    alone = pl.DataFrame({"q": [1, 2, 2, 3], "truth": [1, 1, None, None], "score": [0.5, 0.4, 0.3, 0.2]})
    found = fp.intervals(
        alone,
        "average_precision",
        "truth",
        "score",
        by="q",
        unjudged="drop",
        method="bootstrap",
        repeats=100,
        details=True,
    )
    assert found.select("q", "value", "low", "units", "undefined").rows() == [
        (1, 1.0, None, 1, 0),
        (2, 1.0, None, 1, 0),
        (3, None, None, 0, 1),
    ]
    empty = fp.intervals(alone.clear(), "roc_auc", "truth", "score", method="bootstrap")
    assert empty.select("value", "low", "units").rows() == [(None, None, 0)]


@pytest.mark.parametrize("positives", [0, 1, 5, 6])
def test_fewer_than_two_of_a_class_have_no_bounds(positives):
    # The accuracy varies from draw to draw, but there are no degrees of freedom.
    data = pl.DataFrame({"truth": [1] * positives + [0] * (6 - positives), "score": [6, 1, 5, 2, 4, 3]})
    found = fp.intervals(data, "accuracy@threshold=4", "truth", "score", method="bootstrap", repeats=100, details=True)
    assert found["standard_error"].item() > 0
    assert found.select("low", "high").row(0) == (None, None)


def test_clusters_with_fewer_than_two_of_a_class_have_no_bounds():
    data = pl.DataFrame({"truth": [1, 0, 0, 0, 0, 0], "score": [6, 1, 5, 2, 4, 3], "user": [1, 2, 3, 4, 5, 6]})
    found = fp.intervals(
        data, "accuracy@threshold=4", "truth", "score", cluster="user", method="bootstrap", repeats=100
    )
    assert found.select("low", "high").row(0) == (None, None)


def test_replicates_that_differ_by_rounding_errors_have_no_bounds():
    many = pl.DataFrame({"kept": [0], "df": [9]}, schema={"kept": pl.Int64, "df": pl.Int64})
    values = [0.3, *([0.3, 0.3 + 2**-54] * 50)]
    table = pl.DataFrame({"replicate": range(-1, 100), "value": values}).with_columns(kept=pl.lit(0, dtype=pl.Int64))
    assert bias_corrected(table, many, 100, 0.95).row(0) == (0, None, None, None)


REFUSED = [
    ({"repeats": 10, "method": "bootstrap"}, ValueError, "repeats must be a whole number of at least 100, got 10"),
    ({"repeats": 500}, ValueError, "repeats: a closed form has no random numbers; say method='bootstrap'"),
    ({"method": "bootstrap", "stratified": True, "cluster": "user"}, ValueError, "stratified: a cluster may have rows"),
    ({"method": "bootstrap", "by": "q", "mean_over": "q"}, ValueError, "method='bootstrap' draws rows or clusters"),
    ({"method": "bootstrap", "tie_break": "w"}, ValueError, "tie_break=: a bootstrap does not take it; a row that is"),
]


@pytest.mark.parametrize(("change", "error", "sentence"), REFUSED)
def test_what_is_refused(change, error, sentence):
    with pytest.raises(error) as raised:
        fp.intervals(sample(), "average_precision", "truth", "score", **change)
    assert str(raised.value).startswith(sentence)
