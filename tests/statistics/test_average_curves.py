import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from samples import SIX, TEN
from scipy import stats

import frame_pr as fp

BOTH = pl.concat([TEN.with_columns(q=pl.lit(1)), SIX.with_columns(q=pl.lit(2))])


def test_known_answer():
    # Halves of recall: TEN reaches .4 at precision 1, then .6 at 3/4, .8 at 2/3, 1 at 1/2; SIX a
    # third each at 1/2, 1/2, 3/5. The first half of TEN is (.4 + .1 x 3/4) / .5 = .95, its second
    # (.1 x 3/4 + .2 x 2/3 + .2 / 2) / .5.
    call = {"mean_over": "q", "points": 3}
    found = fp.average_curve(BOTH, "relevant", "score", **call)
    second = (0.1 * 3 / 4 + 0.2 * 2 / 3 + 0.2 / 2) / 0.5, (1 / 6 / 2 + 3 / 5 / 3) / 0.5
    expected = [(0.5, near((0.95 + 0.5) / 2), 2), (1.0, near(sum(second) / 2), 2)]
    assert found.select("recall", "precision", "groups").rows() == expected
    quartiles = fp.average_curve(BOTH, "relevant", "score", band="quartiles", **call)
    assert quartiles.select("low", "high").row(0) == (near(0.5 + 0.45 / 4), near(0.95 - 0.45 / 4))
    # The standard deviation of two values is their distance over the root of 2, here 0.45 / 2**0.5.
    std = fp.average_curve(BOTH, "relevant", "score", band="std", **call)
    assert std.select("low", "high").row(0) == (near(0.725 - 0.45 / 2**0.5), 1)
    without = fp.average_curve(BOTH, "relevant", "score", band=None, **call)
    assert without.select("precision", "low", "high").row(0) == (found["precision"][0], None, None)


def runs(seed: int, systems: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    scores = {f"s{i}": rng.integers(0, 40, 400) / 8 for i in range(systems)}
    keys = {"q": rng.integers(0, 20, 400), "half": rng.integers(0, 2, 400)}
    return pl.DataFrame(keys | {"t": rng.random(400) < 0.3} | scores)


@pytest.mark.parametrize("points", [2, 5, 11, 101])
def test_the_area_is_the_mean_average_precision(points):
    data = runs(points)
    found = fp.average_curve(data, "t", "s0", mean_over="q", points=points)
    mean = fp.evaluate(data, "average_precision", "t", "s0", by="q", mean_over="q")
    assert found["precision"].mean() == near(mean["mean_average_precision"].item())
    assert found["recall"].to_list() == [near(i / (points - 1)) for i in range(1, points)]


@pytest.mark.parametrize("points", [11, 101])
def test_the_mean_of_interpolated_levels(points):
    data, name = runs(points), f"interpolated_average_precision_{points}"
    found = fp.average_curve(data, "t", "s0", mean_over="q", points=points, interpolated=True)
    mean = fp.evaluate(data, name, "t", "s0", by="q", mean_over="q")
    assert found["precision"].mean() == near(mean[f"mean_{name}"].item())
    levels = [f"interpolated_precision@recall={i / 10}" for i in range(11)]
    if points == 11:
        each = fp.evaluate(data, levels, "t", "s0", by="q", mean_over="q")
        assert found["precision"].to_list() == [
            near(each[f"mean_{level}"].item()) for level in levels
        ]


def test_systems_and_keys_that_are_left():
    data = runs(3, systems=2)
    found = fp.average_curve(data, "t", ["s0", "s1"], by="half", mean_over="q", points=3)
    assert found.select("half", "system", "recall").rows() == [
        (half, system, recall)
        for half in (0, 1)
        for system in ("s0", "s1")
        for recall in (0.5, 1.0)
    ]
    alone = fp.average_curve(data.filter(half=1), "t", "s1", mean_over="q", points=3)
    assert_same(found.filter(half=1, system="s1").drop("half", "system"), alone)
    both = fp.average_curve(data, "t", ["s0", "s1"], mean_over="q", points=3)
    assert both.columns[0] == "system"
    assert both.height == 4


def test_the_band_is_that_of_a_mean():
    data = runs(4)
    found = fp.average_curve(
        data, "t", "s0", mean_over="q", points=11, interpolated=True, confidence=0.8
    )
    each = (
        fp.evaluate(data, "interpolated_precision@recall=0.5", "t", "s0", by="q")
        .to_series(1)
        .drop_nulls()
    )
    mean, error = each.mean(), each.std() / len(each) ** 0.5
    reach = stats.t.ppf(0.9, len(each) - 1) * error / (mean * (1 - mean))
    logit = np.log(mean / (1 - mean))
    level = found.row(5, named=True)
    assert (level["low"], level["high"]) == tuple(
        near(1 / (1 + np.exp(-logit + s * reach))) for s in (1, -1)
    )


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"cluster": "half"}, ValueError, "cluster= is about rows that are drawn"),
        ({"seed": 1}, ValueError, "seed= is about random draws, and mean_over= has"),
        ({"mean_over": None, "band": "std"}, ValueError, "band='std' is about the mean of groups"),
        (
            {"mean_over": None, "band": None},
            ValueError,
            "band=None is about the mean of groups: name",
        ),
        ({"x": "k"}, ValueError, "x must be 'recall' or 'fpr'"),
        ({"x": "fpr", "interpolated": True}, ValueError, "interpolated= is about precision"),
        ({"interpolated": 1}, TypeError, "interpolated must be True or False"),
        (
            {"ties": "expected"},
            ValueError,
            "ties='expected': average_curve does not take it; a curve has no expectation",
        ),
    ],
)
def test_what_is_refused(change, error, sentence):
    with pytest.raises(error) as raised:
        fp.average_curve(runs(1), "t", "s0", **({"mean_over": "q"} | change))
    assert str(raised.value).startswith(sentence)


# Groups that have positives and retrieved none of them
# --------------------------------------------------------------

RETRIEVED = pl.DataFrame({"q": ["a", "a", "b", "b"], "t": [1, 0, 1, 0], "s": [2.0, 1.0, None, 1.0]})
MISSED = pl.DataFrame({"q": ["a", "a", "b", "b"], "t": [1, 0, 0, 0], "s": [2.0, 1.0, 2.0, 1.0]})


@pytest.mark.parametrize("interpolated", [False, True])
def test_a_group_that_retrieved_no_positive_counts_as_0(interpolated):
    # Precision is 1 at every level in a and 0 in b, and the quartiles of 0 and 1 are 1/4 and 3/4.
    expected = [(0.5, 0.25, 0.75, 2)] * (5 + interpolated)
    columns = ["precision", "low", "high", "groups"]
    options = {"mean_over": "q", "points": 6, "interpolated": interpolated, "band": "quartiles"}
    only_negatives = fp.average_curve(RETRIEVED, "t", "s", unscored="unretrieved", **options)
    assert only_negatives.select(columns).rows() == expected
    no_row = RETRIEVED.with_columns(pl.when(pl.col("q") == "a").then("s").alias("s"))
    nothing = fp.average_curve(no_row, "t", "s", unscored="unretrieved", **options)
    assert nothing.select(columns).rows() == expected
    column = fp.average_curve(
        MISSED.with_columns(P=pl.lit(3)), "t", "s", total_positives="P", **options
    )
    assert column["groups"].to_list() == [2] * (5 + interpolated)
    known = pl.DataFrame({"q": ["a", "b"], "P": [1, 4]})
    assert (
        fp.average_curve(MISSED, "t", "s", total_positives=known, **options).select(columns).rows()
        == expected
    )


@pytest.mark.parametrize("interpolated", [False, True])
def test_weights_that_are_no_integers(interpolated):
    # Sums of tenths miss the levels of recall by their last bits.
    rng = np.random.default_rng(6)
    data = runs(6).with_columns(
        w=rng.integers(1, 9, 400) / 10, s0=pl.when(pl.col("q") < 3).then(None).otherwise("s0")
    )
    options = {"mean_over": "q", "weight": "w", "unscored": "unretrieved"}
    found = fp.average_curve(data, "t", "s0", points=11, interpolated=interpolated, **options)
    name = "interpolated_average_precision_11" if interpolated else "average_precision"
    mean = fp.evaluate(data, name, "t", "s0", **options)
    assert found["precision"].mean() == near(mean[f"mean_{name}"].item())
    assert found["groups"].unique().to_list() == [mean["groups"].item()]


# The curve of one test set
# --------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "interpolated", "metric", "first"),
    [
        ("recall", False, "precision@recall", 1),
        ("recall", True, "interpolated_precision@recall", 0),
        ("fpr", False, "recall@fpr", 0),
    ],
)
@pytest.mark.parametrize("cluster", [None, "q"])
def test_the_band_of_one_curve_is_that_of_its_metrics(x, interpolated, metric, first, cluster):
    data = runs(7).with_columns(t=pl.col("t") | (pl.col("s0") > 3) & (pl.col("s0") < 4.5))
    call = {"by": "half", "cluster": cluster, "repeats": 200}
    options = {"x": x, "interpolated": interpolated, "points": 6}
    found = fp.average_curve(data, "t", "s0", **call, **options)
    levels = [f"{metric}={i / 5:g}" for i in range(first, 6)]
    expected = fp.intervals(data, levels, "t", "s0", method="bootstrap", **call)
    y = "recall" if x == "fpr" else "precision"
    assert found.columns == ["half", x, y, "low", "high", "groups"]
    assert found[x].to_list() == [near(i / 5) for i in range(first, 6)] * 2
    assert found.select(y, "low", "high").rows() == expected.select("value", "low", "high").rows()
    assert found["low"].null_count() == 0


def test_the_mean_roc_curve():
    # Query a has its negatives at ranks 2 and 4, b at 1 and 3, so recall at fpr 0, 1/2 and 1 is
    # 1/2, 1, 1 and 0, 1/2, 1.
    data = pl.DataFrame({"q": [*"aaaabbbb"], "t": [1, 0, 1, 0, 0, 1, 0, 1], "s": [8, 7, 6, 5] * 2})
    found = fp.average_curve(data, "t", "s", mean_over="q", x="fpr", points=3)
    assert found.select("fpr", "recall", "groups").rows() == [
        (0, 0.25, 2),
        (0.5, 0.75, 2),
        (1, 1, 2),
    ]


# Few groups
# --------------------------------------------------------------


def folds(n: int, *, worse: int = 0) -> pl.DataFrame:
    """Folds of 20 rows with all positives first, and some with a negative before them."""
    frames = []
    for fold in range(n):
        y = ([0] if fold < worse else []) + [1] * 10 + [0] * 10
        frames.append(pl.DataFrame({"fold": fold, "y": y, "s": range(len(y), 0, -1)}))
    return pl.concat(frames)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_few_folds_that_agree_have_a_band_without_width(n):
    with pytest.warns(
        fp.DataWarning, match=f"the {n} groups that are averaged have the same value"
    ):
        found = fp.average_curve(folds(n), "y", "s", mean_over="fold", points=6)
    assert found.select("low", "precision", "high").unique().rows() == [(1, 1, 1)]
    with pytest.warns(fp.DataWarning, match="so few groups do not show how others vary"):
        mean = fp.intervals(folds(n), "precision@10", "y", "s", mean_over="fold")
    assert mean.select("low", "value", "high").rows() == [(1, 1, 1)]


def test_ten_groups_that_agree_have_the_bound_of_ten():
    found = fp.average_curve(folds(10), "y", "s", mean_over="fold", points=6)
    assert found.select("low", "high").unique().rows() == [(near(0.025**0.1), 1)]


def test_folds_that_differ_have_the_interval_of_student():
    # The means are those of precisions 1, 1, 1, 10 / 11, and rounded numbers need no logit.
    found = fp.intervals(folds(4, worse=1), "precision@recall=1", "y", "s", mean_over="fold")
    values = np.array([1, 1, 1, 10 / 11])
    mean = values.mean()
    reach = stats.t.ppf(0.975, 3) * values.std(ddof=1) / 2 / (mean * (1 - mean))
    logit = np.log(mean / (1 - mean))
    bounds = [near(1 / (1 + np.exp(-(logit + side * reach)))) for side in (-1, 1)]
    assert found.select("low", "high").row(0) == tuple(bounds)
