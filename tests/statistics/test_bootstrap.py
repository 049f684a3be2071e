from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from scipy import stats

import frame_pr as fp
from frame_pr.statistics.bootstrap_intervals import Distribution


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


FIVE = {"truth": [1, 0, 1, 0, 1], "score": [5, 4, 3, 2, 2], "n": [1] * 5}
# Of so many equal rows, a count is drawn for all of them at once.
MANY = {"truth": [1, 0, 1, 0, 1], "score": [5, 4, 3, 2, 2], "n": [900, 2000, 1100, 3000, 3000]}


@pytest.mark.parametrize("columns", [FIVE, MANY])
def test_the_standard_error_is_that_of_all_samples(columns):
    data = pl.DataFrame(columns)
    given = {"method": "bootstrap", "repeats": 20_000, "count": "n"}
    found = fp.intervals(
        data, ["prevalence", "tp@threshold=3"], "truth", "score", **given, details=True
    )
    # Both numbers are binomial.
    n, positives, tp = (
        data["n"].sum(),
        data.filter(truth=1)["n"].sum(),
        data.filter(truth=1)["n"][:2].sum(),
    )
    exact = [stats.binom.std(n, positives / n) / n, stats.binom.std(n, tp / n)]
    assert found["standard_error"].to_list() == pytest.approx(exact, rel=0.02)


def test_bounds_are_bias_corrected_quantiles():
    drawn = np.arange(1001.0)[:, None]

    def bounds(value):
        distribution = Distribution.of(drawn, np.array([value]), np.array([1e6]))
        return [side.item() for side in distribution.bounds(0.05)]

    # No bias: the 2.5 and 97.5 % points of 0, 1, ..., 1000.
    assert bounds(500.0) == [pytest.approx(25, abs=0.1), pytest.approx(975, abs=0.1)]
    # A share of Phi(-1) lies below: Phi(-2 -+ 1.96).
    z = NormalDist().cdf
    low, high = bounds(1000 * z(-1))
    assert (low, high) == (
        pytest.approx(1000 * z(-3.96), abs=0.1),
        pytest.approx(1000 * z(-0.04), abs=2),
    )
    # At the end of all replicates the share below tells nothing.
    assert bounds(1000.0) == [pytest.approx(25, abs=0.1), 1000.0]


@pytest.mark.parametrize("value", [0.5, 2.0, 2.5, 4.0, 9.0])
def test_bounds_of_few_replicates(value):
    replicates, df = [4.0, 1.0, float("nan"), 2.0, 2.0, 7.0, 3.0, 5.0], 3
    drawn = np.array(replicates)[:, None]
    distribution = Distribution.of(drawn, np.array([value]), np.array([df]))
    low, high = distribution.bounds(0.1)
    finite = sorted(number for number in replicates if number == number)
    assert distribution.error.item() == near(np.std(finite, ddof=1))
    share = sum((number < value) + (number == value) / 2 for number in finite) / len(finite)
    is_inside = finite[0] < value < finite[-1]
    z0 = stats.norm.ppf((share * len(replicates) + 0.5) / (len(replicates) + 1)) if is_inside else 0
    shares = [stats.norm.cdf(2 * z0 + side * stats.t.ppf(0.95, df)) for side in (-1, 1)]
    bounds = [np.quantile(finite, share) for share in shares]
    assert (low.item(), high.item()) == (near(min(value, bounds[0])), near(max(value, bounds[1])))


def test_an_interval_depends_on_the_seed_and_on_no_other_metric_group_or_batch():
    # A large group, so that other groups are drawn in several batches.
    data = pl.concat([sample(100), sample(30_000).with_columns(q=pl.lit(9, dtype=pl.Int64))])
    given = {"by": "q", "method": "bootstrap", "repeats": 100}
    names = ["average_precision", "precision@threshold=0.5", "threshold@5", "f1@recall=0.1"]
    together = fp.intervals(data, names, "truth", "score", **given)
    for name in names:
        alone = fp.intervals(data.filter(pl.col("q") == 1), name, "truth", "score", **given)
        assert_same(alone, together.filter(q=1, metric=name))
    other_seed = fp.intervals(data, names, "truth", "score", seed=1, **given)
    assert (other_seed["low"] != together["low"]).any()


def test_standard_errors_are_about_those_of_the_closed_forms():
    data, names = (
        sample(3000, groups=4, seed=2),
        ["average_precision", "roc_auc", "recall@threshold=0.5"],
    )
    for given in (
        {},
        {"cluster": "user"},
        {"by": "q", "mean_over": "q", "sampled": "rows"},
        {"by": "q", "mean_over": "q", "cluster": "user"},
    ):
        closed = fp.intervals(data, names, "truth", "score", **given, details=True)
        drawn = fp.intervals(
            data, names, "truth", "score", method="bootstrap", **given, details=True
        )
        assert_same(
            drawn.select("value", "n", "undefined"), closed.select("value", "n", "undefined")
        )
        for name in ("standard_error", "low", "high"):
            assert drawn[name].to_list() == pytest.approx(closed[name].to_list(), rel=0.12)


def test_options_without_a_closed_form():
    data = sample(400, groups=1)
    given = {"method": "bootstrap", "repeats": 300}
    weighted = fp.intervals(
        data, ["average_precision", "roc_auc"], "truth", "score", weight="w", **given
    )
    exact = fp.evaluate(data, ["average_precision", "roc_auc"], "truth", "score", weight="w")
    assert weighted["value"].to_list() == list(map(near, exact.row(0)))
    assert weighted["n"].to_list() == [400, 400]
    # Weights that are all the same change nothing.
    equal = fp.intervals(
        data.with_columns(w=3), "average_precision", "truth", "score", weight="w", **given
    )
    assert_same(equal, fp.intervals(data, "average_precision", "truth", "score", **given))
    systems = fp.intervals(
        data.with_columns(other=-pl.col("score")), "roc_auc", "truth", ["score", "other"], **given
    )
    low, high = systems.filter(system="score").select("low", "high").row(0)
    assert 0 < systems.filter(system="other")["high"].item() < 0.5 < low < high < 1
    # As many positives in all replicates: so the share of positives does not vary.
    names = ["prevalence", "recall@threshold=0.5"]
    with pytest.warns(fp.DataWarning, match="1 of 2 values have no bounds: half of the replicates"):
        fixed = fp.intervals(data, names, "truth", "score", stratified=True, **given, details=True)
    assert fixed.select("standard_error", "low").row(0) == (None, None)
    recall, positives = fixed["value"][1], data["truth"].sum()
    assert fixed["standard_error"][1] == pytest.approx(
        (recall * (1 - recall) / positives) ** 0.5, rel=0.12
    )


@pytest.mark.filterwarnings("ignore:.* values have no bounds")
def test_groups_that_cannot_be_drawn_from():
    alone = pl.DataFrame(
        {"q": [1, 2, 2, 3], "truth": [1, 1, None, None], "score": [0.5, 0.4, 0.3, 0.2]}
    )
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
    assert found.select("q", "value", "low", "n", "undefined").rows() == [
        (1, 1.0, None, 1, 0),
        (2, 1.0, None, 1, 0),
        (3, None, None, 0, 1),
    ]
    empty = fp.intervals(alone.clear(), "roc_auc", "truth", "score", method="bootstrap")
    assert empty.select("value", "low", "n").rows() == [(None, None, 0)]


@pytest.mark.parametrize("positives", [0, 1, 5, 6])
def test_fewer_than_two_of_a_class_have_no_bounds(positives):
    # The accuracy varies from draw to draw, but there are no degrees of freedom.
    data = pl.DataFrame(
        {"truth": [1] * positives + [0] * (6 - positives), "score": [6, 1, 5, 2, 4, 3]}
    )
    call = {"method": "bootstrap", "repeats": 100, "details": True}
    with pytest.warns(fp.DataWarning, match="no bounds: fewer than two rows or clusters of the"):
        found = fp.intervals(data, "accuracy@threshold=4", "truth", "score", **call)
    assert found["standard_error"].item() > 0
    assert found.select("low", "high").row(0) == (None, None)


def test_clusters_with_fewer_than_two_of_a_class_have_no_bounds():
    data = pl.DataFrame(
        {"truth": [1, 0, 0, 0, 0, 0], "score": [6, 1, 5, 2, 4, 3], "user": [1, 2, 3, 4, 5, 6]}
    )
    call = {"method": "bootstrap", "repeats": 100, "cluster": "user"}
    with pytest.warns(fp.DataWarning, match="no bounds: fewer than two rows or clusters of the"):
        found = fp.intervals(data, "accuracy@threshold=4", "truth", "score", **call)
    assert found.select("low", "high").row(0) == (None, None)


def test_replicates_that_differ_by_rounding_errors_have_no_bounds():
    drawn = np.array([[0.3], [0.3 + 2**-54]] * 50)
    distribution = Distribution.of(drawn, np.array([0.3]), np.array([9.0]))
    assert np.isnan([distribution.error, *distribution.bounds(0.05)]).all()


def weighted_sample(positive, negative, rows=300):
    """Rows of two weights, those of positives and of negatives."""
    rng = np.random.default_rng(5)
    truth = rng.random(rows) < 0.2
    return pl.DataFrame(
        {
            "q": np.arange(rows) % 3,
            "user": np.arange(rows) // 3,
            "truth": truth,
            "score": rng.normal(size=rows) + truth,
            "w": np.where(truth, positive, negative),
        }
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"stratified": True},
        {"cluster": "user"},
        {"by": "q"},
        {"by": "q", "mean_over": "q", "sampled": "rows"},
    ],
    ids=str,
)
def test_running_totals_of_all_replicates_fit(given):
    # Multiples of one weight give one value of each share, whatever the size of the totals.
    names = ["roc_auc", "roc_auc@fpr=0.2", "equal_error_rate", "max_f1", "average_precision"]
    given = given | {"method": "bootstrap", "repeats": 3_000, "weight": "w"}
    results = []
    for unit in (1, 0.1, 2**41):
        data = weighted_sample(1 * unit, 97 * unit)
        results.append(fp.intervals(data, names, "truth", "score", **given))
    bounds = results[0].select("low", "value", "high")
    assert bounds.null_count().row(0) == (0, 0, 0)
    assert bounds.min_horizontal().min() >= 0
    assert bounds.max_horizontal().max() <= 1
    for result in results[1:]:
        assert_same(result, results[0])


# Weights differ by up to 10^11, so that single rows outweigh all others.
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_shares_are_shares(seed):
    rng = np.random.default_rng(seed)
    data = sample(50, seed=seed).with_columns(w=10.0 ** rng.uniform(-3, 8, 50))
    names = ["roc_auc", "roc_auc@fpr=0.3", "average_precision", "recall@fpr=0.1"]
    given = {"method": "bootstrap", "repeats": 3_000, "weight": "w", "cluster": "user"}
    found = fp.intervals(data, names, "truth", "score", **given)
    assert found["low"].is_between(0, found["value"]).all()
    assert found["high"].is_between(found["value"], 1).all()


def test_replicates_without_a_value_are_counted():
    # Of 100 rows, 2 reach the threshold: a replicate has none of them with probability 0.98^100.
    data = pl.DataFrame({"y": [1, 0] * 50, "s": [0.9, 0.8] + [0.1] * 98})
    given = {"method": "bootstrap", "repeats": 4_000, "details": True}
    message = r"precision@threshold=0.5 has no value in up to 1\d.\d\d% of the replicates"
    with pytest.warns(fp.DataWarning, match=message):
        found = fp.intervals(data, "precision@threshold=0.5", "y", "s", **given)
    share = found["undefined_replicates"].item() / 4_000
    assert share == pytest.approx(0.98**100, abs=4 * (0.13 * 0.87 / 4_000) ** 0.5)
    closed = fp.intervals(data, "precision@threshold=0.5", "y", "s", details=True)
    assert closed["undefined_replicates"].to_list() == [None]


def test_few_replicates_without_a_value_need_no_warning():
    # 0.95^100 = 0.6 % of the replicates have none of the 5 positives, less than a fifth of 5 %.
    data = pl.DataFrame({"y": [1] * 5 + [0] * 95, "s": range(100)})
    given = {"method": "bootstrap", "repeats": 4_000, "details": True}
    found = fp.intervals(data, "roc_auc", "y", "s", **given)
    assert 10 <= found["undefined_replicates"].item() <= 40


@pytest.mark.parametrize(("missing", "has_bounds"), [(49, True), (50, False), (99, False)])
def test_half_of_the_replicates_without_a_value_have_no_bounds(missing, has_bounds):
    drawn = np.arange(100.0)
    drawn[:missing] = np.nan
    distribution = Distribution.of(drawn[:, None], np.array([99.0]), np.array([9.0]))
    assert distribution.counts == [100 - missing]
    assert np.isfinite(distribution.bounds(0.05)).all() == has_bounds


def test_a_perfect_ranking_has_the_bounds_of_the_closed_form():
    # All n = 3 rows of the rarer label are ranked right with a probability of at most low^3.
    data = pl.DataFrame({"y": [1] * 3 + [0] * 7, "s": range(10, 0, -1)})
    names = ["average_precision", "roc_auc", "recall@fpr=0.1", "specificity@threshold=8"]
    with pytest.warns(
        fp.DataWarning, match="3 metrics, such as average_precision, have no value in up to [23]"
    ):
        found = fp.intervals(data, names, "y", "s", method="bootstrap")
    assert found["value"].to_list() == [1] * 4
    assert found["low"].to_list() == [near(0.025 ** (1 / 3))] * 4
    assert found["high"].to_list() == [1] * 4
    closed = fp.intervals(data, names[:2], "y", "s")
    assert closed["low"].to_list() == [near(0.025 ** (1 / 3))] * 2


def test_a_precision_of_1_has_the_bound_of_the_rows_that_are_selected():
    # The first 3 rows are positive in each replicate, of 1 row, 3 rows or more.
    data = pl.DataFrame({"y": [1] * 30 + [0] * 70, "s": range(100, 0, -1)})
    names = ["precision@3", "precision@threshold=91", "fdr@3"]
    found = fp.intervals(data, names, "y", "s", method="bootstrap")
    expected = [
        (1, near(0.025 ** (1 / 3)), 1),
        (1, near(0.025**0.1), 1),
        (0, 0, near(1 - 0.025 ** (1 / 3))),
    ]
    assert found.select("value", "low", "high").rows() == expected
    # Rows of a cluster are not independent, so the number of selected clusters is unknown.
    clusters = data.with_columns(user=pl.int_range(100) % 20)
    with pytest.warns(
        fp.DataWarning, match="half of the replicates have no value, or all have the same one"
    ):
        found = fp.intervals(clusters, "precision@3", "y", "s", cluster="user", method="bootstrap")
    assert found.select("value", "low", "high").row(0) == (1, None, None)


REFUSED = [
    (
        {"repeats": 10, "method": "bootstrap"},
        ValueError,
        "repeats must be a whole number of at least 100, got 10",
    ),
    (
        {"repeats": 500, "method": "closed"},
        ValueError,
        "repeats= is about random draws, and method='closed' has none",
    ),
    (
        {"method": "bootstrap", "stratified": True, "cluster": "user"},
        ValueError,
        "stratified: a cluster may have rows",
    ),
    (
        {"method": "bootstrap", "tie_break": "w"},
        ValueError,
        "tie_break=: a bootstrap does not take it; a row that is",
    ),
]


@pytest.mark.parametrize(("change", "error", "sentence"), REFUSED)
def test_what_is_refused(change, error, sentence):
    with pytest.raises(error) as raised:
        fp.intervals(sample(), "average_precision", "truth", "score", **change)
    assert str(raised.value).startswith(sentence)


def test_the_default_is_a_thousand_replicates():
    data = pl.DataFrame({"y": [1, 0, 1, 1, 0] * 8, "s": range(40)})
    call = {"metrics": "average_precision", "truth": "y", "score": "s", "method": "bootstrap"}
    assert_same(fp.intervals(data, **call), fp.intervals(data, **call, repeats=1_000, seed=0))


# Methods, prevalence and groups that were drawn
# --------------------------------------------------------------


def test_metrics_have_their_closed_form_or_else_the_bootstrap():
    data = sample(400, groups=1)
    names = {"AP": "average_precision", "F": "max_f1", "top": "precision@100", "AUC": "roc_auc"}
    found = fp.intervals(data, names, "truth", "score", repeats=300, details=True)
    assert found["metric"].to_list() == [*names]
    closed = fp.intervals(data, ["average_precision", "roc_auc"], "truth", "score", details=True)
    drawn = fp.intervals(
        data,
        ["max_f1", "precision@100"],
        "truth",
        "score",
        method="bootstrap",
        repeats=300,
        details=True,
    )
    numbers = ["value", "low", "high", "n", "standard_error", "undefined_replicates"]
    assert found[[0, 3]].select(numbers).rows() == closed.select(numbers).rows()
    assert found[[1, 2]].select(numbers).rows() == drawn.select(numbers).rows()


@pytest.mark.parametrize("option", [{"weight": "w"}, {"prevalence": 0.2}, {"stratified": True}])
def test_options_without_a_closed_form_need_no_method(option):
    data = sample(200, groups=1)
    found = fp.intervals(data, "average_precision", "truth", "score", repeats=100, **option)
    given = {"repeats": 100, "method": "bootstrap"}
    assert_same(found, fp.intervals(data, "average_precision", "truth", "score", **given, **option))


def test_a_replicate_has_the_prevalence_of_the_call():
    # Of 40 positives 30 reach the threshold, of 60 negatives 6: at prevalence p, the precision is
    # .75 p / (.75 p + .1 (1 - p)), by the delta method of two independent shares.
    y, s = [1] * 40 + [0] * 60, [1] * 30 + [0] * 10 + [1] * 6 + [0] * 54
    data = pl.DataFrame({"y": y, "s": s})
    names = ["precision@threshold=1", "recall@threshold=1", "prevalence"]
    call = {"method": "bootstrap", "repeats": 4_000, "details": True}
    with pytest.warns(fp.DataWarning, match="1 of 3 values have no bounds"):
        found = fp.intervals(data, names, "y", "s", prevalence=0.2, **call)
    precision, recall, prevalence = found.iter_rows(named=True)
    assert precision["value"] == near(0.15 / 0.23)
    assert (prevalence["value"], prevalence["low"]) == (near(0.2), None)
    of_recall, of_fpr = 0.75 * 0.25 / 40, 0.1 * 0.9 / 60
    slope = 0.15 * 0.08 / 0.23**2
    error = slope * (of_recall / 0.75**2 + of_fpr / 0.1**2) ** 0.5
    assert precision["standard_error"] == pytest.approx(error, rel=0.1)
    same = fp.intervals(data, "recall@threshold=1", "y", "s", **call)
    assert recall["standard_error"] == near(same["standard_error"].item())


def test_drawn_groups_and_clusters_of_groups():
    # The variance of the mean of n numbers that are drawn again is that of the numbers over n.
    values = pl.DataFrame({"q": range(40), "m": [0.1, 0.2, 0.6, 0.9] * 10})
    call = {"mean_over": "q", "method": "bootstrap", "repeats": 4_000, "details": True}
    found = fp.intervals(values, "m", **call)
    error = values["m"].std(ddof=0) / 40**0.5
    assert found.select("value", "n").row(0) == (near(0.45), 40)
    assert found["standard_error"].item() == pytest.approx(error, rel=0.05)
    # Each query four times in a cluster of its own: the same numbers of clusters.
    repeated = pl.concat([values.with_columns(c="q", q=pl.col("q") + 40 * i) for i in range(4)])
    clustered = fp.intervals(repeated, "m", cluster="c", **call)
    assert_same(clustered, found)
    closed = fp.intervals(repeated, "m", mean_over="q", cluster="c")
    for bound in ("low", "high"):
        assert found[bound].item() == pytest.approx(closed[bound].item(), rel=0.03)


def test_a_metric_of_units_does_not_depend_on_other_metrics():
    # Without keys, each row is a unit, whatever the number of its metrics.
    values = pl.DataFrame({"a": np.linspace(0, 1, 30), "b": np.linspace(0, 1, 30) ** 2})
    call = {"method": "bootstrap", "repeats": 200, "details": True}
    together = fp.intervals(values, ["a", "b"], **call)
    for name in ("a", "b"):
        assert_same(fp.intervals(values, name, **call), together.filter(metric=name))


def test_a_warning_of_replicates_names_the_metric_of_units():
    # 4 of 10 queries have a value: with a probability of 0.6^10 = 0.6 % none of them is drawn.
    values = pl.DataFrame({"q": range(10), "recall": [0.1, 0.3, 0.5, 0.9] + [None] * 6})
    call = {"mean_over": "q", "method": "bootstrap", "confidence": 0.99}
    with pytest.warns(fp.DataWarning, match=r"^recall has no value in up to 0\.\d\d% of"):
        fp.intervals(values, "recall", **call)


def test_queries_within_users_are_not_resampled_as_rows():
    # Each query has the same value in all replicates, so a mean over equal users does not vary.
    rng = np.random.default_rng(0)
    data = pl.DataFrame(
        {
            "u": np.arange(80) // 8,
            "q": np.arange(80) // 4,
            "y": [1, 0, 0, 0] * 20,
            "s": [4, 3, 2, 1] * 20,
        }
    )
    call = {"mean_over": "q", "cluster": "u", "method": "bootstrap", "repeats": 200}
    found = fp.intervals(data, "ndcg@3", "y", "s", **call)
    assert found.select("value", "low", "high", "n").row(0) == (1, near(0.025**0.1), 1, 10)
    varied = data.with_columns(s=pl.Series(rng.normal(size=80)))
    found = fp.intervals(varied, "ndcg@3", "y", "s", **call)
    closed = fp.intervals(varied, "ndcg@3", "y", "s", mean_over="q", cluster="u")
    assert found["n"].item() == 10
    assert found["low"].item() == pytest.approx(closed["low"].item(), abs=0.06)


# Comparisons
# --------------------------------------------------------------


def two_scores(rows, seed=0, gain=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    shared = rng.normal(size=rows) + truth
    columns = {"truth": truth, "id": np.arange(rows), "half": np.arange(rows) % 2}
    columns["a"] = shared + rng.normal(size=rows)
    columns["b"] = shared + rng.normal(size=rows) + gain * truth
    return pl.DataFrame(columns)


@pytest.mark.parametrize("cluster", [None, "id", "half"])
def test_bootstrap_of_differences_is_about_the_closed_form(cluster):
    data = two_scores(1500, gain=0.3)
    if cluster == "half":
        data = data.with_columns(half=pl.col("id") % 60)
    names = ["average_precision", "roc_auc", "precision@threshold=1"]
    call = {"truth": "truth", "score": ["a", "b"], "cluster": cluster, "details": True}
    closed = fp.compare(data, names, **call)
    drawn = fp.compare(data, names, method="bootstrap", **call)
    assert drawn["difference"].to_list() == pytest.approx(closed["difference"].to_list())
    for name in ("standard_error", "n_baseline", "n_system"):
        assert drawn[name].to_list() == pytest.approx(closed[name].to_list(), rel=0.12)
    assert drawn["low"].to_list() == pytest.approx(closed["low"].to_list(), abs=0.01)


def test_systems_are_drawn_together_and_groups_apart():
    # A score and a rounding of it rank nearly alike: the difference varies little only if the same
    # rows are drawn for both.
    data = two_scores(300).with_columns(b=pl.col("a").round(1))
    call = {"truth": "truth", "method": "bootstrap", "repeats": 300, "details": True}
    paired = fp.compare(data, "roc_auc", score=["a", "b"], **call)
    alone = fp.intervals(data, "roc_auc", "truth", "a", method="bootstrap", details=True)
    assert paired["standard_error"].item() < alone["standard_error"].item() / 5
    # The same rows twice, as two groups of different rows: their errors add up.
    twice = pl.concat([data.with_columns(arm=0), data.with_columns(arm=1)])
    apart = fp.compare(twice, "roc_auc", score="a", between="arm", **call)
    expected = 2**0.5 * alone["standard_error"].item()
    assert apart["standard_error"].item() == pytest.approx(expected, rel=0.1)
    # As clusters, they are drawn together, and do not differ.
    together = fp.compare(twice, "roc_auc", score="a", between="arm", cluster="id", **call)
    assert together.select("difference", "low", "high", "p_value").row(0) == (0, 0, 0, 1)


@pytest.mark.parametrize("gain", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_p_value_is_the_largest_level_at_which_the_interval_contains_0(gain, alternative):
    data = two_scores(200, seed=3, gain=gain)
    call = {"truth": "truth", "score": ["a", "b"], "alternative": alternative}
    p = fp.compare(data, "max_f1", correction=None, **call)["p_value"].item()
    assert 1 / 1001 <= p <= 1
    for level in (p * 0.99, min(p * 1.01, 1 - p / 2)):
        if 0.002 < level < 0.5:
            found = fp.compare(data, "max_f1", confidence=1 - level, **call)
            low, high = found.select("low", "high").row(0)
            assert (low <= 0 <= high) == (level < p)


def test_metrics_of_one_call_have_different_methods():
    data = two_scores(200)
    names = ["max_f1", "average_precision", "roc_auc@fpr=0.1"]
    call = {"truth": "truth", "score": ["a", "b"], "repeats": 100, "correction": None}
    found = fp.compare(data, names, details=True, **call)
    assert found["metric"].to_list() == names
    assert found["method"].to_list() == [
        "bootstrap over 200 rows",
        "paired t over 200 rows",
        "bootstrap over 200 rows",
    ]
    alone = fp.compare(data, names[2], details=True, **call)
    assert_same(alone, found.filter(metric=names[2]))


def test_groups_of_different_prevalence_are_compared_at_one():
    # Two weeks of one model, with prevalences of 1 / 2 and 1 / 5.
    rng = np.random.default_rng(4)
    week = np.repeat([0, 1], 1_000)
    truth = rng.random(2_000) < np.where(week, 0.2, 0.5)
    data = pl.DataFrame({"week": week, "y": truth, "s": rng.normal(size=2_000) + 1.5 * truth})
    call = {"truth": "y", "score": "s", "between": "week", "correction": None}
    with pytest.warns(fp.DataWarning, match=r"roc_auc does not depend on it, and prevalence=0.3"):
        naive = fp.compare(data, "average_precision", **call)
    assert naive["p_value"].item() < 1e-6
    fair = fp.compare(data, "average_precision", prevalence=0.35, **call)
    assert fair["p_value"].item() > 0.05
    assert abs(fair["difference"].item()) < 0.05


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_bootstrap_tests_of_every_frame(kind):
    data = two_scores(100)
    frame = {"polars": data, "lazy": data.lazy(), "pandas": data.to_pandas()}[kind]
    call = {"truth": "truth", "score": ["a", "b"], "by": "half", "repeats": 100}
    found = fp.compare(frame, "max_f1", **call)
    found = pl.from_pandas(found) if kind == "pandas" else found.lazy().collect()
    expected = fp.compare(data.sample(fraction=1, shuffle=True, seed=1), "max_f1", **call)
    numbers = ["half", "difference", "p_adjusted"]
    assert found.select(numbers).sort("half")["difference"].to_list() == pytest.approx(
        expected.sort("half")["difference"].to_list()
    )
    assert found.columns == expected.columns


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("max_informedness", "is the best value of the sample.*coverage of 62 to 96 %"),
        ("min_cost5", "is the best value of the sample"),
        ("max_mcc@recall=0.5", "is the best value of the sample"),
        ("threshold@max_f2", "depends on the best threshold of the sample.*64 to 98 %"),
        ("recall@max_f1", "depends on the best threshold of the sample"),
        ("threshold@fpr=0.1", "is one of the few scores of the sample near the limit.*48 to 94 %"),
    ],
)
def test_metrics_of_low_coverage_warn(metric, message):
    data = two_scores(900)
    with pytest.warns(fp.DataWarning, match=f"{metric} {message}"):
        fp.intervals(data.head(100), metric, "truth", "a", repeats=100)
    if "max_f" not in metric:
        # With more than 200 positives, only a best threshold varies too much.
        fp.intervals(data, metric, "truth", "a", repeats=100)


@pytest.mark.parametrize("metric", ["max_f1", "max_f2", "threshold@10%", "recall@fpr=0.1"])
def test_metrics_of_good_coverage_do_not_warn(metric):
    fp.intervals(two_scores(100), metric, "truth", "a", repeats=100)


def metrics_of_queries(queries: int = 80) -> pl.DataFrame:
    """A metric of queries of 40 users by two systems; two queries of the new one have none."""
    rng = np.random.default_rng(7)
    old, new = rng.beta(2, 2, (2, queries))
    number = pl.int_range(queries)
    frame = pl.DataFrame({"query": range(queries), "old": old, "new": new**0.7}).with_columns(
        user=number % 40, half=number % 2, new=pl.when(number > 1).then("new")
    )
    index = ["query", "user", "half"]
    return frame.unpivot(["old", "new"], index=index, variable_name="system", value_name="m")


@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("by", [None, "half"])
def test_a_bootstrap_of_paired_units_is_that_of_their_differences(by, cluster):
    runs = metrics_of_queries()
    call = {"by": by, "mean_over": "query", "cluster": cluster, "method": "bootstrap"}
    compared = fp.compare(runs, "m", between="system", details=True, baseline="old", **call)
    wide = runs.pivot("system", index=["query", "user", "half"], values="m")
    of_differences = fp.intervals(wide.with_columns(d=pl.col("new") - pl.col("old")), "d", **call)
    assert compared["difference"].to_list() == list(map(near, of_differences["value"]))
    assert compared["n_system"].to_list() == of_differences["n"].to_list()
    # The same replicates, at quantiles of t times (n / (n - 1))^(1/2): a little further out.
    widths = of_differences["high"] - of_differences["low"]
    wider = (compared["high"] - compared["low"]) / widths
    n = of_differences["n"].min()
    assert (compared["low"] <= of_differences["low"]).all()
    assert (compared["high"] >= of_differences["high"]).all()
    assert 1 < wider.min() <= wider.max() < 1 + 3 / n
    drawn = "80 groups of query" if cluster is None else "40 clusters of user"
    if by is None:
        assert compared["n_system"].item() == (78 if cluster is None else 40)
        assert compared["method"].item() == f"bootstrap over {drawn.replace('80', '78')}"


@pytest.mark.parametrize("metric", ["m", "precision@5"])
def test_a_bootstrap_of_two_groups_of_units_is_about_welch(metric):
    runs = metrics_of_queries(400).filter(system="old").rename({"m": metric})
    call = {"between": "half", "mean_over": "query", "correction": None, "details": True}
    (drawn,) = fp.compare(runs, metric, method="bootstrap", repeats=4_000, **call).to_dicts()
    (closed,) = fp.compare(runs, metric, **call).to_dicts()
    assert drawn["method"] == "bootstrap over 200 and 200 groups of query"
    assert drawn["difference"] == near(closed["difference"])
    for name in ("low", "high", "standard_error"):
        assert drawn[name] == pytest.approx(closed[name], rel=0.1, abs=0.004)
    assert drawn["p_value"] == pytest.approx(closed["p_value"], abs=0.05)


@pytest.mark.parametrize("arms", [False, True])
@pytest.mark.parametrize("units", [2, 5, 9])
def test_a_bootstrap_of_few_units_is_as_careful_as_the_closed_form(units, arms):
    # All differences are positive, and so is each replicate: alone, they would make p = 1 / 1001.
    new = np.linspace(0.55, 0.75, units)
    values = {"new": new, "old": new - np.linspace(0.02, 0.3, units)}
    frame = pl.DataFrame({"query": range(units), **values})
    runs = frame.unpivot(["old", "new"], index="query", variable_name="system", value_name="m")
    if arms:
        runs = runs.with_columns(query=pl.int_range(pl.len()))
    call = {"between": "system", "mean_over": "query", "baseline": "old"}
    (drawn,) = fp.compare(runs, "m", method="bootstrap", **call).to_dicts()
    (closed,) = fp.compare(runs, "m", **call).to_dicts()
    if arms:
        # The degrees of freedom are those of the smaller arm, not of both as in Welch's test.
        assert drawn["low"] < closed["low"]
        assert drawn["p_adjusted"] > closed["p_adjusted"]
    else:
        assert drawn["low"] <= closed["low"] + 1e-9
        assert drawn["p_adjusted"] >= closed["p_adjusted"] - 1e-9
