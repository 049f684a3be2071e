from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from samples import TEN
from scipy import special, stats
from statsmodels.stats.proportion import proportion_confint

import frame_pr as fp

SHARES = pl.DataFrame({"query": [1, 2, 3], "average_precision": [0.25, 0.5, 0.75]})
# 3 tp, 1 fp, 2 fn, 1 tn at .5
TABLE = pl.DataFrame({"truth": [1, 1, 1, 0, 1, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2]})


def bounds(data, metrics, *arguments, **more):
    found = fp.intervals(data, metrics, *arguments, **more)
    return found.select("low", "high").row(0)


def rounded(values):
    return tuple(value if value is None else round(value, 6) for value in values)


def test_known_answers_over_rows():
    # M = 5, and the squares of the ten D add up to 181/8640.
    found = fp.intervals(TEN, "average_precision", "relevant", "score", details=True)
    assert found["value"].item() == near(Fraction(47, 60))
    assert found["standard_error"].item() == near((5 / 4 * 181 / 8640) ** 0.5)
    assert rounded(found.select("low", "high").row(0)) == (0.203914, 0.98078)
    assert found.select("metric", "n", "undefined").row(0) == ("average_precision", 10, 0)
    # 3 of 4 predicted are positive.
    assert rounded(bounds(TABLE, "precision@threshold=0.5", "truth", "score")) == (
        0.300642,
        0.954413,
    )
    assert rounded(bounds(TABLE, "f1@threshold=0.5", "truth", "score")) == (0.315954, 0.896481)


def test_known_answers_of_means():
    found = fp.intervals(SHARES, "average_precision", mean_over="query", details=True)
    # The variance of .25, .5, .75 is 1/16.
    assert found["standard_error"].item() == near((1 / 48) ** 0.5)
    assert rounded(found.select("low", "high").row(0)) == (0.076978, 0.923022)
    ones = pl.DataFrame({"query": range(10), "average_precision": 1.0})
    # .025 ** (1 / 10), and of misses the mirror image.
    assert bounds(ones, "average_precision", mean_over="query") == (near(0.025**0.1), 1.0)
    zeros = ones.with_columns(average_precision=0.0)
    assert bounds(zeros, "average_precision", mean_over="query") == (0.0, near(1 - 0.025**0.1))


def test_frames_of_rows_and_of_figures_agree():
    run = samples(7, groups=12)
    names = [
        "average_precision",
        "ndcg@3",
        "reciprocal_rank",
        "average_precision_lift",
        "k@recall=0.5",
    ]
    of_rows = fp.intervals(run, names, "truth", "score", by="q", mean_over="q", details=True)
    figures = fp.evaluate(run, names, "truth", "score", by="q")
    assert_same(of_rows, fp.intervals(figures, names, mean_over="q", details=True))
    assert of_rows["metric"].to_list() == names
    means = fp.evaluate(run, names, "truth", "score", by="q", mean_over="q")
    assert of_rows["value"].to_list() == [near(means[f"mean_{name}"].item()) for name in names]
    # Systems are compared, not averaged.
    both = run.with_columns(other=pl.col("score") % 2)
    figures_of_both = fp.evaluate(both, names, "truth", ["score", "other"], by="q")
    of_systems = fp.intervals(both, names, "truth", ["score", "other"], by="q", mean_over="q")
    assert_same(
        fp.intervals(figures_of_both, names, by="system", mean_over="q"),
        of_systems.sort("system", maintain_order=True),
    )
    # Of what is no share between 0 and 1, an interval of scipy's.
    lift = figures["average_precision_lift"].drop_nulls()
    low, high = stats.t.interval(0.95, len(lift) - 1, lift.mean(), stats.sem(lift))
    assert of_rows.filter(metric="average_precision_lift").select("low", "high").row(0) == (
        near(low),
        near(high),
    )


def samples(seed: int, groups: int = 1, size: int = 30) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = groups * size
    truth, score = rng.random(n) < 0.4, rng.integers(0, 12, n) / 4
    return pl.DataFrame(
        {
            "q": np.arange(n) % groups,
            "truth": truth,
            "score": score + truth * rng.random(n).round(1),
        }
    )


def test_roc_auc_near_1_has_the_lower_bound_of_a_score_interval():
    # Five positives among 100 rows, at ranks 1, 2, 3, 4 and 10: A = 1 - 5 / (5 95). Its squared
    # error has the weight 4, and theta^2 (1 - theta) / (1 + theta) / 5 + theta (1 - theta)^2 / (2 -
    # theta) / 95 the weight 10.
    rank = pl.int_range(1, 101, eager=True)
    data = pl.DataFrame({"truth": rank.is_in([1, 2, 3, 4, 10]), "score": -rank})
    (row,) = fp.intervals(data, "roc_auc", "truth", "score", details=True).iter_rows(named=True)
    value, error, low = row["value"], row["standard_error"], row["low"]
    assert value == near(1 - 1 / 95)
    model = low**2 * (1 - low) / (1 + low) / 5 + low * (1 - low) ** 2 / (2 - low) / 95
    variance = (4 * error**2 + 10 * model) / 14
    assert (value - low) ** 2 == pytest.approx(stats.t.isf(0.025, 4) ** 2 * variance, rel=1e-9)
    # The upper bound is that of the logits, and the lower one is below theirs.
    reach = stats.t.isf(0.025, 4) * error / (value * (1 - value))
    assert row["high"] == near(special.expit(special.logit(value) + reach))
    assert low < special.expit(special.logit(value) - reach)
    # With the classes swapped, the interval is the mirror image.
    swapped = data.with_columns(~pl.col("truth"))
    (mirror,) = fp.intervals(swapped, "roc_auc", "truth", "score").iter_rows(named=True)
    assert (mirror["low"], mirror["high"]) == (
        pytest.approx(1 - row["high"]),
        pytest.approx(1 - low),
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_shares_have_the_interval_of_wilson(confidence):
    data = samples(5, size=80)
    at = data["score"] >= 2
    truth = data["truth"]
    shares = {
        "precision": (truth & at, at),
        "fdr": (~truth & at, at),
        "recall": (truth & at, truth),
        "fnr": (truth & ~at, truth),
        "specificity": (~truth & ~at, ~truth),
        "fpr": (~truth & at, ~truth),
        "npv": (~truth & ~at, ~at),
        "accuracy": (truth == at, at | ~at),
    }
    names = [f"{figure}@threshold=2" for figure in shares]
    found = fp.intervals(data, names, "truth", "score", confidence=confidence)
    for (part, whole), row in zip(shares.values(), found.iter_rows(named=True), strict=True):
        low, high = proportion_confint(part.sum(), whole.sum(), 1 - confidence, method="wilson")
        assert (row["low"], row["high"]) == (near(low), near(high)), row["metric"]
        assert row["value"] == near(part.sum() / whole.sum())


def test_rows_that_stand_for_many():
    row = pl.int_range(pl.len())
    data = samples(11).with_columns(n=row % 4, user=row % 5)
    names = ["average_precision", "roc_auc", "precision@threshold=2", "f1@threshold=2"]
    repeated = data.select(pl.exclude("n").repeat_by("n")).explode(pl.all(), empty_as_null=False)
    expected = fp.intervals(repeated, names, "truth", "score", details=True)
    assert_same(fp.intervals(data, names, "truth", "score", count="n", details=True), expected)
    # Also in clusters: a tally by the cluster gives the bounds of its rows.
    of_rows = fp.intervals(repeated, names, "truth", "score", cluster="user", details=True)
    call = {"count": "n", "cluster": "user", "details": True}
    assert_same(fp.intervals(data, names, "truth", "score", **call), of_rows)
    tally = fp.tally(repeated, "truth", "score", by="user")
    call = {"count": "count", "cluster": "user", "details": True}
    assert_same(fp.intervals(tally, names, "truth", "score", **call), of_rows)


def test_means_of_fixed_groups():
    data = samples(9, groups=4)
    names = ["average_precision", "precision@threshold=2"]
    each = fp.intervals(data, names, "truth", "score", by="q", details=True)
    assert each.columns == [
        "q",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "level",
        "standard_error",
        "undefined",
        "undefined_replicates",
    ]
    mean = fp.intervals(
        data, names, "truth", "score", by="q", mean_over="q", sampled="rows", details=True
    )
    for name in names:
        own = each.filter(metric=name)
        row = mean.filter(metric=name).row(0, named=True)
        assert row["value"] == near(own["value"].mean())
        assert row["standard_error"] == near((own["standard_error"] ** 2).sum() ** 0.5 / 4)
    # Clusters that lie within groups: each mean is of independent parts again.
    within = data.with_row_index("user")
    clustered = fp.intervals(
        within, names, "truth", "score", by="q", mean_over="q", cluster="user", details=True
    )
    each = fp.intervals(within, names, "truth", "score", by="q", cluster="user", details=True)
    # Of each group with (n - 1) / n for its n users, and of all with that of the sum of these n.
    for name in names:
        of_groups = each.filter(metric=name)
        n = of_groups["n"]
        squares = (of_groups["standard_error"] ** 2 * n / (n - 1)).sum()
        error = clustered.filter(metric=name)["standard_error"].item()
        assert error == near((squares * (n.sum() - 1) / n.sum()) ** 0.5 / 4)


def classes(number: int, positives: int) -> pl.DataFrame:
    """Classes with so many positives among 200 rows, whose scores are normal and 2 apart."""
    rng = np.random.default_rng(0)
    truth = np.tile(np.arange(200) < positives, number)
    scores = rng.normal(size=len(truth)) + 2 * truth
    return pl.DataFrame({"class": np.arange(len(truth)) // 200, "t": truth, "s": scores})


def test_the_bias_of_average_precision_over_many_classes():
    # A is about 0.67: 0.7 * 0.33 / 20 is 0.012, and the standard error of 80 classes 0.010.
    call = {"mean_over": "class", "sampled": "rows"}
    names = ["average_precision", "roc_auc"]
    with pytest.warns(fp.DataWarning, match=r"too large, here by about 0\.01.* over 80 groups"):
        fp.intervals(classes(80, 20), names, "t", "s", **call)
    # No bias of this size: few classes, which vary more, other metrics, and drawn classes.
    fp.intervals(classes(4, 20), names, "t", "s", **call)
    fp.intervals(classes(80, 20), "roc_auc", "t", "s", **call)
    fp.intervals(classes(80, 20), "average_precision", "t", "s", mean_over="class")


# What has no value, and what is refused
# -----------------------------------------------------------------------------


def test_groups_without_a_value():
    data = pl.DataFrame({"q": [1, 1, 2, 2, 3], "truth": [1, 0, 0, 0, 1], "score": [2, 1, 2, 1, 1]})
    with pytest.warns(fp.DataWarning, match="the 2 groups that are averaged have the same value"):
        found = fp.intervals(
            data, "average_precision", "truth", "score", by="q", mean_over="q", details=True
        )
    assert found.select("value", "n", "undefined").row(0) == (1.0, 2, 1)
    names = ["average_precision", "recall@threshold=2"]
    with pytest.warns(fp.DataWarning, match="3 of 6 values have no bounds: "):
        rows = fp.intervals(data, names, "truth", "score", by="q", details=True)
    assert rows.select("q", "value", "low", "n", "undefined").rows() == [
        (1, 1.0, None, 2, 0),
        (1, 1.0, near(1 / (1 + stats.norm.ppf(0.975) ** 2)), 2, 0),
        (2, None, None, 2, 1),
        (2, None, None, 2, 1),
        (3, 1.0, None, 1, 0),
        (3, 0.0, None, 1, 0),
    ]


def test_no_rows():
    empty = pl.DataFrame(schema={"q": pl.Int64, "truth": pl.Boolean, "score": pl.Float64})
    assert fp.intervals(empty, "average_precision", "truth", "score", by="q").height == 0
    whole = fp.intervals(empty, ["roc_auc", "accuracy@threshold=1"], "truth", "score", details=True)
    assert whole.select("value", "low", "n", "undefined").rows() == [(None, None, 0, 1)] * 2


REFUSED = [
    (
        {"confidence": 95},
        ValueError,
        "confidence must be at least 0.5 and below 1; got 95: write 0.95",
    ),
    (
        {"metrics": "precision@5", "method": "closed"},
        ValueError,
        "precision@5 has no closed form where rows are sampled: average_precision",
    ),
    (
        {"weight": "w", "method": "closed"},
        ValueError,
        "weight=: a standard error does not take it; it has no closed form",
    ),
    ({"ties": "order"}, ValueError, "ties='order': a bootstrap does not take it"),
    ({"sampled": "groups"}, ValueError, "sampled='groups' needs mean_over="),
    (
        {"cluster": "rank", "sampled": "groups", "by": "q", "mean_over": "q"},
        ValueError,
        "cluster=: groups of mean_over= have rows of several clusters",
    ),
    ({"truth": None}, TypeError, "truth and score: rows need both, and a frame of metrics neither"),
    (
        {"truth": None, "score": None, "sampled": "rows"},
        ValueError,
        "sampled='rows' is about rows, and a frame of metrics has groups only",
    ),
]


@pytest.mark.parametrize(("change", "error", "sentence"), REFUSED)
def test_what_is_refused(change, error, sentence):
    data = samples(1).with_columns(w=pl.lit(1), rank=pl.int_range(pl.len()).over("q"))
    given = {"metrics": "average_precision", "truth": "truth", "score": "score"} | change
    with pytest.raises(error) as raised:
        fp.intervals(data, given.pop("metrics"), **given)
    assert str(raised.value).startswith(sentence)


# Arguments and data that look like a mistake
# --------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[54.1, 60.2, 33.3], [-1.0, 0.2, 0.1], [0.5, 1.00001, 0.2]])
def test_shares_lie_between_0_and_1(values):
    data = pl.DataFrame({"q": [1, 2, 3], "recall@5": values})
    wrong = values[1] if values[1] > 1 and values[0] < 1 else values[0]
    with pytest.raises(
        ValueError, match=rf"column 'recall@5' holds {wrong}, and recall@5 lies between 0"
    ):
        fp.intervals(data, "recall@5", mean_over="q")
    # Any other column may hold any number, and a comparison of percentages is one of them.
    renamed = data.rename({"recall@5": "percent"})
    assert fp.intervals(renamed, "percent", mean_over="q")["value"].item() == near(sum(values) / 3)
    systems = pl.concat([data.with_columns(system=pl.lit(s)) for s in "ab"])
    assert fp.compare(systems, "recall@5", mean_over="q", baseline="a")["difference"].item() == 0


@pytest.mark.parametrize("value", [1.0, 1 - 2**-53, 1 - 2**-50, 1 + 2**-52])
def test_a_mean_of_1_up_to_rounding(value):
    found = fp.intervals(
        pl.DataFrame({"q": range(10), "ndcg": [value] * 10}), "ndcg", mean_over="q"
    )
    assert found.select("low", "high").row(0) == (near(0.025**0.1), max(1.0, value))
    mirrored = fp.intervals(
        pl.DataFrame({"q": range(10), "ndcg": [1 - value] * 10}), "ndcg", mean_over="q"
    )
    assert mirrored.select("low", "high").row(0) == (min(0.0, 1 - value), near(1 - 0.025**0.1))


def test_bounds_where_the_logit_overflows():
    # Two groups of 1 and .5: expit(logit .75 + t .25 / (.75 .25)), with t = 636.6 at a confidence
    # of .999.
    two = pl.DataFrame({"q": [1, 1, 2, 2], "t": [1, 0, 1, 0], "s": [2, 1, 1, 2]})
    for confidence in (0.999, 0.9999, 0.999999):
        found = fp.intervals(
            two, "average_precision", "t", "s", by="q", mean_over="q", confidence=confidence
        )
        assert found.select("low", "high").row(0) == (near(0.0), 1.0)
        curve = fp.average_curve(two, "t", "s", mean_over="q", confidence=confidence, points=2)
        assert curve.select("low", "high").row(0) == (near(0.0), 1.0)


@pytest.mark.parametrize("cluster", ["truth", "score", "q"])
def test_a_cluster_is_a_column_of_its_own(cluster):
    with pytest.raises(
        ValueError, match=f"column '{cluster}' is given twice, to .*= and to cluster="
    ):
        fp.intervals(samples(2, groups=4), "roc_auc", "truth", "score", by="q", cluster=cluster)


def test_clusters_without_a_positive_say_nothing_of_a_recall_of_1():
    # Of 10 users, 3 have positives, all of which are found: the bound is that of 3.
    data = pl.DataFrame({"y": [1] * 3 + [0] * 7, "s": [2] * 3 + [1] * 7, "user": range(10)})
    found = fp.intervals(data, "recall@threshold=2", "y", "s", cluster="user")
    assert found.select("value", "low", "n").row(0) == (1.0, near(0.025 ** (1 / 3)), 10)


@pytest.mark.parametrize(
    "options", [{}, {"cluster": "c"}, {"method": "bootstrap", "repeats": 100}], ids=str
)
def test_a_group_of_dropped_rows_has_no_units(options):
    labels = [1, 0] * 5 + [None]
    data = pl.DataFrame({"q": [1] * 10 + [2], "y": labels, "s": range(11), "c": range(11)})
    bounds = fp.intervals(data, "average_precision", "y", "s", by="q", unjudged="drop", **options)
    assert bounds.select("q", "value", "n").rows()[1] == (2, None, 0)


def test_the_bound_of_1_counts_clusters_of_the_rarer_label():
    # Positives are in the clusters a, b and c, negatives in c and d: (alpha / 2)^(1 / 2).
    data = pl.DataFrame({"c": [*"abccd"], "y": [1, 1, 1, 0, 0], "s": [9, 8, 7, 2, 1]})
    low, high = (
        fp.intervals(data, "average_precision", "y", "s", cluster="c").select("low", "high").row(0)
    )
    assert (low, high) == (near(0.025**0.5), 1)


@pytest.mark.filterwarnings("ignore:5 of 5 values have no bounds")
@pytest.mark.parametrize("undefined", [0.0, 1.0])
@pytest.mark.parametrize("cluster", [None, "user"])
def test_a_value_in_place_of_an_undefined_one_has_no_error(undefined, cluster):
    # There are no positives, and no row reaches 9.
    data = pl.DataFrame(
        {"user": [1, 2, 3, 1], "arm": [1, 1, 2, 2], "t": [False] * 4, "s": [1, 2, 3, 4]}
    )
    metrics = [
        "average_precision",
        "roc_auc",
        "recall@threshold=2",
        "precision@threshold=9",
        "f1@threshold=9",
    ]
    options = {"cluster": cluster, "undefined": undefined, "details": True}
    bounds = fp.intervals(data, metrics, "t", "s", **options)
    assert bounds["value"].to_list() == [undefined] * 5
    assert bounds.select("low", "high", "standard_error").null_count().row(0) == (5, 5, 5)
    scores = data.with_columns(other=-pl.col("s"))
    for table in (
        fp.compare(scores, metrics, "t", ["s", "other"], **options),
        fp.compare(data, metrics, "t", "s", between="arm", **options),
    ):
        assert table["difference"].to_list() == [0.0] * 5
        assert table.select("low", "high", "p_value", "standard_error").null_count().row(0) == (
            5,
            5,
            5,
            5,
        )


def test_infinite_thresholds_have_no_interval_and_no_difference():
    data = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "t": [1, 0] * 3, "s": [float("inf"), 1, 5, 1, 3, 1]}
    )
    data = data.with_columns(
        other=pl.Series([float("inf"), 2, float("-inf"), float("-inf"), 3, 1]), g=pl.col("q") % 2
    )
    call = {"by": "q", "mean_over": "q"}
    with pytest.warns(fp.DataWarning, match="1 of 2 values have no bounds: the value is infinite"):
        result = fp.intervals(data, "threshold@max_f1", "t", ["s", "other"], details=True, **call)
    assert result["value"].to_list() == [float("inf"), None]
    assert result.select("low", "high", "standard_error").null_count().row(0) == (2, 2, 2)
    for score, more in (
        (["s", "other"], {}),
        (["s", "other"], {"test": "permutation"}),
        ("s", {"between": "g"}),
    ):
        with pytest.raises(
            ValueError,
            match="threshold@max_f1 is inf in a group, and a difference needs finite values",
        ):
            fp.compare(data, "threshold@max_f1", "t", score, **call, **more)


@pytest.mark.parametrize("metrics", ["brier_score", ["brier_score", "average_precision"]])
@pytest.mark.parametrize("function", [fp.intervals, fp.compare])
def test_refused_totals_are_an_error_without_warnings(function, metrics):
    # A warning would be raised first, as tests turn warnings into errors.
    score = "score" if function is fp.intervals else ["score", "other"]
    data = TEN.with_columns(P=pl.lit(7), other=pl.col("score") / 2)
    with pytest.raises(ValueError, match=r"^total_positives=: "):
        function(data, metrics, "relevant", score, total_positives="P")
