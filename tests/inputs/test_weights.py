"""Weights of rows, against repeated rows and scikit-learn."""

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from sklearn.metrics import average_precision_score, matthews_corrcoef

import frame_pr as fp

WEIGHED = [
    "average_precision",
    "interpolated_average_precision",
    "interpolated_average_precision_11",
    "max_f1",
    "average_precision_lift",
]
WEIGHED += [
    "threshold@max_f1",
    "f1@threshold=1.5",
    "mcc@threshold=1",
    "k@recall=0.5",
    "precision@recall=0.5",
]
WEIGHED += ["interpolated_precision@recall=0.3", "rows", "positives", "prevalence"]


def weighed(rows: int = 2000) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    columns = {
        "g": draw.integers(0, 40, rows),
        "y": draw.integers(0, 2, rows),
        "s": draw.integers(0, 30, rows) / 10,
    }
    return pl.DataFrame(columns | {"w": draw.integers(0, 4, rows), "u": draw.lognormal(0, 4, rows)})


@pytest.mark.parametrize(
    "weight", ["w", pl.col("w").cast(pl.Float64) * 0.5, pl.col("w").cast(pl.Decimal(10, 1)) * 0.5]
)
def test_whole_weights_are_repeated_rows(weight):
    data = weighed()
    repeated = data.select(pl.all().repeat_by("w").explode(empty_as_null=False))
    expected = fp.evaluate(repeated, WEIGHED, "y", "s", by="g")
    found = fp.evaluate(data, WEIGHED, "y", "s", by="g", weight=weight)
    if not isinstance(weight, str):
        counts = ["rows", "positives", "k@recall=0.5"]
        found = found.with_columns((pl.col(name) * 2).cast(pl.Int64) for name in counts)
    assert_same(found, expected)
    curve = fp.curve(data, "y", "s", by="g", weight="w", rates="all")
    assert curve.equals(fp.curve(repeated, "y", "s", by="g", rates="all"))


def test_weights_as_scikit_learn_has_them():
    data = weighed()
    found = fp.evaluate(
        data, ["average_precision", "mcc@threshold=1.5"], "y", "s", by="g", weight="u"
    )
    for key, ap, mcc in found.iter_rows():
        rows = data.filter(pl.col("g") == key)
        y, s, u = (rows[name].to_numpy() for name in ("y", "s", "u"))
        assert ap == pytest.approx(average_precision_score(y, s, sample_weight=u), abs=1e-12)
        assert mcc == pytest.approx(matthews_corrcoef(y, s >= 1.5, sample_weight=u), abs=1e-9)


def test_weights_of_very_different_groups_do_not_touch_each_other():
    light = weighed(200).with_columns(g=0, u=pl.col("u") * 1e-4)
    heavy = weighed(200).with_columns(g=1, u=pl.col("u") * 1e4)
    alone = fp.average_precision(light, "y", "s", by="g", weight="u")["average_precision"][0]
    together = fp.average_precision(pl.concat([heavy, light]), "y", "s", by="g", weight="u")[
        "average_precision"
    ][0]
    assert together == pytest.approx(alone, rel=1e-12)


def test_rows_without_weight_are_not_there():
    data = pl.DataFrame({"g": [1, 1, 2], "y": [1, 0, 1], "s": [1, 2, 3], "w": [1, 0, 0]})
    names = ["average_precision", "rows"]
    assert fp.evaluate(data, names, "y", "s", by="g", weight="w").rows() == [
        (1, 1.0, 1),
        (2, None, 0),
    ]
    beside = fp.with_curve(data, "y", "s", by="g", weight="w", rates="all")
    assert beside["k"].to_list() == [1, None, None]


def test_products_of_large_whole_weights():
    # A hit, a miss, a hit, of equal weights: (1 + 2/3) / 2. The square of the weight is beyond an
    # Int64.
    data = pl.DataFrame({"y": [1, 0, 1], "s": [3, 2, 1], "w": [3 * 10**9] * 3})
    assert fp.evaluate(
        data, ["average_precision", "average_precision_lift"], "y", "s", weight="w"
    ).row(0) == (
        near(5 / 6),
        near(5 / 4),
    )
    # As much as there may be.
    data = data.with_columns(w=pl.Series([2**55, 2**54, 2**54]))
    assert fp.evaluate(data, ["rows", "k@threshold=2"], "y", "s", weight="w").row(0) == (
        2**56,
        3 * 2**54,
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([2**56, 2**55], r"weight column 'w' sums up to more than 2\*\*56: cast it to Float64"),
        ([2**62, 2**62], r"weight column 'w' sums up to more than 2\*\*56: cast it to Float64"),
        (pl.Series([2**63, 1], dtype=pl.UInt64), r"weight column 'w' sums up to more than 2\*\*56"),
        ([1e300, 1.0], r"weight column 'w' holds 1e\+300: multiply it by a constant"),
        (
            [1e30, 1e-10],
            "weight column 'w' has a value of 1e-10 next to weights or totals so much larger",
        ),
        ([1e-300, 0.0], "weight column 'w' holds 1e-300: multiply it by a constant"),
    ],
)
def test_weights_too_large_or_small_to_be_counted(weights, message):
    data = pl.DataFrame({"y": [1, 0], "s": [1, 2], "w": weights})
    with pytest.raises(ValueError, match=message):
        fp.average_precision(data, "y", "s", weight="w")
    with pytest.raises(ValueError, match=message):
        fp.average_precision(data.lazy(), "y", "s", weight="w").collect()


def test_small_weights_beside_large_ones_are_exact():
    # Group 1 weighs 10**16 times less than group 0; its positive stands first: AP 1, and 1/3 of its
    # weight is positive.
    weights = [1e8, 1e8, 1e-8, 2e-8]
    data = pl.DataFrame({"g": [0, 0, 1, 1], "y": [1, 0, 1, 0], "s": [3, 2, 1, 0], "w": weights})
    result = data.pr.evaluate(
        ["average_precision", "prevalence", "rows"], "y", "s", by="g", weight="w"
    )
    assert result.row(1)[1:] == (
        1.0,
        pytest.approx(1 / 3, rel=1e-12),
        pytest.approx(3e-8, rel=1e-12),
    )


@pytest.mark.parametrize("weight", [1.5, 1e-90, 1e90])
def test_many_equal_weights_have_room_for_their_sum(weight):
    data = pl.DataFrame({"y": [1, 0, 0] * 1000, "s": range(3000), "w": weight})
    result = data.pr.evaluate(["rows", "positives", "prevalence"], "y", "s", weight="w").row(0)
    assert result == pytest.approx((3000 * weight, 1000 * weight, 1 / 3), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt8, pl.UInt64, pl.Float32, pl.Decimal(5, 2)], ids=str
)
def test_weights_of_any_numeric_dtype(dtype):
    # A hit, a miss and a hit of 100 each, more than an Int8 holds together: (1 + 2/3) / 2.
    data = pl.DataFrame(
        {"y": [1, 0, 1], "s": [3, 2, 1], "w": pl.Series([100, 100, 100], dtype=dtype)}
    )
    result = data.pr.evaluate(["average_precision", "rows"], "y", "s", weight="w")
    assert result.row(0) == (near(5 / 6), 300)
    assert result["rows"].dtype == (pl.Int64 if dtype.is_integer() else pl.Float64)


def test_at_a_threshold_that_all_rows_reach_nothing_is_left():
    # Nothing is below it: npv is 0 / 0. Sums of floats may differ from the total, and 1e-16 / 1e-16
    # is a share of 1.
    draw = np.random.default_rng(2)
    rows = {
        "g": draw.integers(0, 300, 2000),
        "y": draw.integers(0, 2, 2000),
        "s": draw.integers(1, 9, 2000),
    }
    data = pl.DataFrame(rows | {"w": draw.choice([0.1, 0.2, 0.3, 0.7, 1.1], 2000)})
    names = ["npv@threshold=0", "markedness@threshold=0", "mcc@threshold=0", "fn@threshold=0"]
    result = fp.evaluate(data, names, "y", "s", by="g", weight="w")
    assert result.select(names).unique().rows() == [(None, None, None, 0.0)]


@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3])
def test_recall_with_equal_float_weights_is_that_without(weight):
    data = weighed()
    names = ["interpolated_average_precision_11", "interpolated_average_precision_101"]
    names += [
        "interpolated_precision@recall=0.6",
        "threshold@recall=0.1",
        "precision@recall=0.7",
        "recall@recall=0.3",
    ]
    found = fp.evaluate(data, names, "y", "u", by="g", weight=pl.lit(weight))
    assert_same(found, fp.evaluate(data, names, "y", "u", by="g"))
