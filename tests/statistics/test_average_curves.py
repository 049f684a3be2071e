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
    found = fp.average_curve(BOTH, "relevant", "score", by="q", points=3)
    second = (0.1 * 3 / 4 + 0.2 * 2 / 3 + 0.2 / 2) / 0.5, (1 / 6 / 2 + 3 / 5 / 3) / 0.5
    expected = [(0.5, near((0.95 + 0.5) / 2), 2), (1.0, near(sum(second) / 2), 2)]
    assert found.select("recall", "precision", "groups").rows() == expected
    assert found["lower_quartile"][0] == near(0.5 + 0.45 / 4)
    assert found["upper_quartile"][0] == near(0.5 + 0.45 * 3 / 4)


def runs(seed: int, systems: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    scores = {f"s{i}": rng.integers(0, 40, 400) / 8 for i in range(systems)}
    keys = {"q": rng.integers(0, 20, 400), "half": rng.integers(0, 2, 400)}
    return pl.DataFrame(keys | {"t": rng.random(400) < 0.3} | scores)


@pytest.mark.parametrize("points", [2, 5, 11, 101])
def test_the_area_is_the_mean_average_precision(points):
    data = runs(points)
    found = fp.average_curve(data, "t", "s0", by="q", points=points)
    mean = fp.evaluate(data, "average_precision", "t", "s0", by="q", mean_over="q")
    assert found["precision"].mean() == near(mean["mean_average_precision"].item())
    assert found["recall"].to_list() == [near(i / (points - 1)) for i in range(1, points)]


@pytest.mark.parametrize("points", [11, 101])
def test_the_mean_of_interpolated_levels(points):
    data, name = runs(points), f"interpolated_average_precision_{points}"
    found = fp.average_curve(data, "t", "s0", by="q", points=points, interpolated=True)
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
    found = fp.average_curve(data, "t", ["s0", "s1"], by=["half", "q"], mean_over="q", points=3)
    assert found.select("half", "system", "recall").rows() == [
        (half, system, recall)
        for half in (0, 1)
        for system in ("s0", "s1")
        for recall in (0.5, 1.0)
    ]
    alone = fp.average_curve(data.filter(half=1), "t", "s1", by="q", points=3)
    assert_same(found.filter(half=1, system="s1").drop("half", "system"), alone)
    both = fp.average_curve(data, "t", ["s0", "s1"], by="q", points=3)
    assert both.columns[0] == "system"
    assert both.height == 4


def test_the_band_is_that_of_a_mean():
    data = runs(4)
    found = fp.average_curve(data, "t", "s0", by="q", points=11, interpolated=True, confidence=0.8)
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
        ({"by": None}, ValueError, "average_curve needs groups, whose curves are averaged"),
        ({"interpolated": 1}, TypeError, "interpolated must be True or False"),
        (
            {"ties": "expected"},
            ValueError,
            "ties='expected': average_curve does not take it; a curve has no expectation over orders",
        ),
    ],
)
def test_what_is_refused(change, error, sentence):
    with pytest.raises(error) as raised:
        fp.average_curve(runs(1), "t", "s0", **({"by": "q"} | change))
    assert str(raised.value).startswith(sentence)


# Groups that have positives and retrieved none of them
# --------------------------------------------------------------

RETRIEVED = pl.DataFrame({"q": ["a", "a", "b", "b"], "t": [1, 0, 1, 0], "s": [2.0, 1.0, None, 1.0]})
MISSED = pl.DataFrame({"q": ["a", "a", "b", "b"], "t": [1, 0, 0, 0], "s": [2.0, 1.0, 2.0, 1.0]})


@pytest.mark.parametrize("interpolated", [False, True])
def test_a_group_that_retrieved_no_positive_counts_as_0(interpolated):
    # Precision is 1 at every level in a and 0 in b, and the quartiles of 0 and 1 are 1/4 and 3/4.
    expected = [(0.5, 0.25, 0.75, 2)] * (5 + interpolated)
    columns = ["precision", "lower_quartile", "upper_quartile", "groups"]
    options = {"by": "q", "points": 6, "interpolated": interpolated}
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
    options = {"by": "q", "weight": "w", "unscored": "unretrieved"}
    found = fp.average_curve(data, "t", "s0", points=11, interpolated=interpolated, **options)
    name = "interpolated_average_precision_11" if interpolated else "average_precision"
    mean = fp.evaluate(data, name, "t", "s0", mean_over="q", **options)
    assert found["precision"].mean() == near(mean[f"mean_{name}"].item())
    assert found["groups"].unique().to_list() == [mean["groups"].item()]
