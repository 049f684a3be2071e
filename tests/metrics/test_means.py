"""Statistics over groups, and columns named by a dict, worked out by hand, on every frame."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from compare import near
from hypothesis import given
from hypothesis import strategies as st

import frame_pr as fp

F = Fraction
RUN = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b", "b", "c"],
        "y": [0, 1, 1, 0, 1, 0, 0],
        "s": [2.0, 1.0, 4.0, 3.0, 2.0, 1.0, 1.0],
    }
)
ALL = ["mean", "median", "std", "min", "max", "q25", "q75", "weighted", "defined"]
CALL = {"truth": "y", "score": "s", "by": "q"}


def of_values(values, statistics):
    """Statistics of groups whose precision@4 is each of these quarters."""
    rows = [(q, int(i < round(4 * value)), -i) for q, value in enumerate(values) for i in range(4)]
    data = pl.DataFrame(rows, schema=["q", "y", "s"], orient="row")
    return data.pr.evaluate("precision@4", **CALL, mean_over="q", statistics=statistics)


def test_known():
    # b: hits at ranks 1 and 3 of 2: (1/1 + 2/3) / 2 = 5/6; a: 1/2.
    found = RUN.pr.evaluate("average_precision", **CALL, mean_over="q", statistics=ALL)
    low = F(1, 2)
    high = F(5, 6)
    half = (high - low) / 2
    assert found.rows(named=True) == [
        {
            "groups": 3,
            "undefined": 1,
            "mean_average_precision": near((low + high) / 2),
            "median_average_precision": near((low + high) / 2),
            "std_average_precision": near(float(half) * math.sqrt(2)),  # of a sample of two
            "min_average_precision": near(low),
            "max_average_precision": near(high),
            "q25_average_precision": near(low + half / 2),
            "q75_average_precision": near(high - half / 2),
            "weighted_average_precision": near((low * 1 + high * 2) / 3),  # one positive, and two
            "defined_average_precision": 2,
        }
    ]


LARGEST = 1.7976931348623157e308


@pytest.mark.parametrize(
    ("thresholds", "mean", "median", "std", "q75"),
    [
        ([LARGEST, LARGEST], LARGEST, LARGEST, 0, LARGEST),
        ([LARGEST, -LARGEST], 0, 0, math.inf, LARGEST / 2),  # 1.27 times the largest
        ([1e200, 3e200], 2e200, 2e200, 2e200 / math.sqrt(2), 2.5e200),
        ([-LARGEST, -LARGEST, math.inf], math.inf, -LARGEST, None, math.inf),
        ([1.0, math.inf], math.inf, math.inf, None, math.inf),
        ([-math.inf, 1.0, math.inf], None, 1, None, math.inf),
    ],
)
def test_thresholds_of_any_size(thresholds, mean, median, std, q75):
    data = pl.DataFrame(
        {"q": range(len(thresholds)), "y": [True] * len(thresholds), "s": thresholds}
    )
    found = data.pr.evaluate(
        "threshold@recall=1", **CALL, mean_over="q", statistics=["mean", "median", "std", "q75"]
    )
    assert [None if value is None else pytest.approx(value) for value in found.row(0)[2:6]] == [
        mean,
        median,
        std,
        q75,
    ]


def test_which_mean():
    # A user of three rows has ROC AUC 1/2, one of five rows with two positives has 4/6, and one
    # without has none.
    rows = [
        ("a", 1, 2),
        ("a", 0, 3),
        ("a", 0, 1),
        ("b", 1, 4),
        ("b", 0, 3),
        ("b", 0, 2),
        ("b", 1, 1),
        ("b", 0, 0),
        ("c", 0, 1),
    ]
    data = pl.DataFrame(rows, schema=["q", "y", "s"], orient="row")
    statistics = ["mean", "by_rows", "by_pairs", "weighted", "range", "ratio"]
    found = data.pr.evaluate("roc_auc", **CALL, mean_over="q", statistics=statistics)
    # Rows 3 and 5, pairs 1 * 2 and 2 * 3, positives 1 and 2.
    a = F(1, 2)
    b = F(2, 3)
    means = [(a + b) / 2, (3 * a + 5 * b) / 8, (2 * a + 6 * b) / 8, (a + 2 * b) / 3]
    assert found.row(0) == (3, 1, *map(near, means), near(F(1, 6)), near(F(3, 4)))


def test_a_ratio_to_nothing():
    assert of_values([0, 0], ["ratio", "range"]).row(0)[1:3] == (None, 0)


def test_quantiles_are_linear():
    # 0, 1/4, 1/2, 1: between the first two, q10 is at .3 of the way.
    found = of_values([0, 0.25, 0.5, 1], ["q10", "q25", "median", "q90", "std", "q0", "q100"])
    known = [0.075, 0.1875, 0.375, 0.85, np.std([0, 0.25, 0.5, 1], ddof=1), 0, 1]
    assert [round(one, 12) for one in found.row(0)[1:8]] == [round(float(one), 12) for one in known]


@given(
    st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), min_size=1, max_size=12),
    st.integers(0, 1000),
)
def test_any_values(values, permille):
    quantile = f"q{permille / 10}"
    found = of_values(values, ["mean", "median", "std", quantile])
    assert found["mean_precision@4"].item() == near(float(np.mean(values)))
    assert found["median_precision@4"].item() == near(float(np.median(values)))
    assert found[f"{quantile}_precision@4"].item() == near(
        float(np.quantile(values, permille / 1000))
    )
    assert found["std_precision@4"].item() == (
        near(float(np.std(values, ddof=1))) if len(values) > 1 else None
    )


def test_nothing_defined():
    found = RUN.filter(q="c").pr.evaluate(
        "average_precision", **CALL, mean_over="q", statistics=ALL
    )
    assert found.row(0) == (1, 1, *[None] * 8, 0)


def test_weighted_is_the_weighted_average_of_scikit_learn():
    data = pl.DataFrame(
        {"shown": list("aabbb"), "a": [0.9, 0.2, 0.3, 0.1, 0.5], "b": [0.1, 0.8, 0.7, 0.9, 0.5]}
    )
    long = data.pr.unpivot_classes("shown", ["a", "b"])
    call = {"by": "class", "mean_over": "class", "statistics": "weighted"}
    found = long.pr.evaluate("average_precision", "truth", "score", **call)
    each = dict(long.pr.average_precision("truth", "score", by="class").rows())
    assert found.columns == ["groups", "undefined", "weighted_average_precision"]
    assert found.row(0)[2] == near((2 * each["a"] + 3 * each["b"]) / 5)


def test_all_keys_but_the_system():
    data = RUN.with_columns(t=-pl.col("s"), day=pl.lit(1))
    each = data.pr.evaluate("average_precision", "y", ["s", "t"], by=["day", "q"], mean_over=True)
    named = data.pr.evaluate(
        "average_precision", "y", ["s", "t"], by=["day", "q"], mean_over=["day", "q"]
    )
    assert each.equals(named)
    assert each["system"].to_list() == ["s", "t"]
    with pytest.raises(
        ValueError, match="mean_over=True averages over all columns of by=, and there are none"
    ):
        data.pr.evaluate("average_precision", "y", "s", mean_over=True)


def test_columns_named_by_a_dict():
    names = {"AP": "average_precision", "P@1": "precision@1", "again": "average_precision"}
    table = RUN.pr.evaluate(names, **CALL).fill_nan(None)
    assert table.columns == ["q", "AP", "P@1", "again"]
    assert table["AP"].to_list() == table["again"].to_list() == [near(F(1, 2)), near(F(5, 6)), None]
    beside = RUN.pr.with_metrics(names, **CALL, prefix="q ")
    assert beside.columns == [*RUN.columns, "q AP", "q P@1", "q again"]
    means = RUN.pr.evaluate(
        {"MAP": "average_precision"}, **CALL, mean_over="q", statistics=["mean", "median"]
    )
    assert means.columns == ["groups", "undefined", "MAP", "median_MAP"]


def test_a_lazy_frame_stays_lazy_and_tells_its_schema():
    call = CALL | {"mean_over": "q", "statistics": ALL}
    lazy = RUN.lazy().pr.evaluate({"AP": "average_precision"}, **call)
    assert isinstance(lazy, pl.LazyFrame)
    assert (
        lazy.collect_schema()
        == lazy.collect().schema
        == RUN.pr.evaluate({"AP": "average_precision"}, **call).schema
    )


@pytest.mark.parametrize("by", ["q", None])
def test_in_parts(by):
    call = {"truth": "y", "score": "s", "by": by}
    names = {"AP": "average_precision", "0": "rows"}
    parts = fp.partitioned(RUN, partitions=3, progress=False)
    assert parts.evaluate(names, **call).equals(RUN.pr.evaluate(names, **call))
    if by:
        call |= {"mean_over": True, "statistics": ALL}
        assert parts.evaluate("average_precision", **call).equals(
            RUN.pr.evaluate("average_precision", **call)
        )
