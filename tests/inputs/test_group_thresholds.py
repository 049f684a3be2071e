"""Thresholds by name, number, column or frame are compared with scores alike, and exactly."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import frame_pr as fp


@pytest.mark.filterwarnings(
    "ignore::frame_pr.DataWarning"
)  # thresholds beyond all scores are meant
@pytest.mark.parametrize("ascending", [False, True])
def test_the_digits_of_a_float_are_compared_with_decimals(ascending):
    # The float 653471998.16619 is 653471998.16619002..., and 1e-300 reaches no score of 0, but is
    # none either.
    texts = [
        "653471998.166190000",
        "653471998.166190001",
        "-653471998.166190000",
        "0",
        "0.000000001",
        "-798309369.3",
    ]
    scores = pl.Series([Decimal(text) for text in texts], dtype=pl.Decimal(18, 9))
    for threshold in (
        653471998.16619,
        -653471998.16619,
        1e-300,
        -1e-300,
        0.0,
        -798309369.3,
        1e300,
        float("-inf"),
    ):
        frame = pl.DataFrame({"y": [1, 0] * 3, "s": scores})
        digits = (
            threshold if threshold in (float("inf"), float("-inf")) else Fraction(repr(threshold))
        )
        exact = sum(
            Fraction(text) <= digits if ascending else Fraction(text) >= digits for text in texts
        )
        by_number = fp.confusion(
            frame, "y", "s", threshold=threshold, ascending=ascending, rates="all"
        )
        assert by_number["k"].item() == exact, threshold


def test_the_threshold_of_a_decimal_score_gives_its_figures_back():
    scores = [Decimal(f"0.70000000000000000{i}") for i in range(6)]
    frame = pl.DataFrame(
        {"q": [1] * 6, "y": [0, 1, 0, 0, 1, 1], "s": pl.Series(scores, dtype=pl.Decimal(38, 18))}
    )
    best = fp.evaluate(frame, ["threshold@max_f1"], "y", "s", by="q")
    assert (
        fp.confusion(frame, "y", "s", by="q", threshold=best, rates="all")["f1"].item()
        == fp.evaluate(frame, "max_f1", "y", "s").item()
    )


@pytest.mark.parametrize(
    ("dtype", "small"), [(pl.Float32, 1e-46), (pl.Float16, 1e-9), (pl.Float64, 1e-400)]
)
def test_a_threshold_below_the_smallest_float_is_zero(dtype, small):
    text = {1e-46: "1e-46", 1e-9: "1e-9"}.get(small, "1e-400")
    frame = pl.DataFrame({"q": [1, 1], "y": [1, 0], "s": pl.Series([0.0, -1.0], dtype=dtype)})
    exact = pl.Series([small], dtype=pl.Float64)
    calls = {
        "name": fp.evaluate(frame, {"k": f"k@threshold={text}"}, "y", "s"),
        "number": fp.confusion(frame, "y", "s", threshold=Decimal(text), rates="all"),
        "column": fp.confusion(
            frame.with_columns(t=exact.first()), "y", "s", by="q", threshold="t", rates="all"
        ),
        "frame": fp.confusion(
            frame, "y", "s", by="q", threshold=pl.DataFrame({"q": [1], "t": exact}), rates="all"
        ),
        "expression": frame.select(k=pl.col("s").pr.metric(f"k@threshold={text}", "y")),
    }
    assert {door: found["k"].item() for door, found in calls.items()} == dict.fromkeys(calls, 1)
    # A threshold that is larger than half of the smallest float is that float.
    least = {pl.Float32: "1e-45", pl.Float16: "5e-8", pl.Float64: "5e-324"}[dtype]
    assert fp.evaluate(frame, f"k@threshold={least}", "y", "s").item() == 0


@pytest.mark.filterwarnings(
    "ignore::frame_pr.DataWarning"
)  # a threshold beyond all scores is meant
def test_a_short_float_is_the_decimal_that_it_prints_as():
    frame = pl.DataFrame({"y": [1] * 10 + [0] * 5, "s": [float(i) for i in range(15, 0, -1)]})
    for short in (
        np.float32(0.1),
        np.float16(0.1),
        np.array(0.1, dtype="float32"),
        Decimal("0.1"),
        Fraction(1, 10),
    ):
        assert fp.f_beta(frame, "y", "s", threshold=short).columns == ["f1@threshold=0.1"]
    assert fp.f_beta(frame, "y", "s", beta=np.float32(0.3), k=3).columns == ["f0.3@3"]
    for huge in (np.float32("inf"), np.float32(3.4028235e38), np.float16(65504)):
        assert fp.confusion(frame, "y", "s", threshold=huge, rates="all")["k"].item() == 0
    with pytest.raises((TypeError, ValueError), match="must be a number"):
        fp.confusion(frame, "y", "s", threshold=np.float32("nan"), rates="all")
    with pytest.raises((TypeError, ValueError), match="must be a number"):
        fp.confusion(frame, "y", "s", threshold=Decimal("nan"), rates="all")


def test_a_decimal_keeps_its_digits_in_a_name():
    frame = pl.DataFrame({"y": [1, 0], "s": [1.0, 0.0]})
    for text, name in (
        ("0.700000000000000001", "0.700000000000000001"),
        ("0.70", "0.7"),
        ("0.7000000000000000010", "0.700000000000000001"),
    ):
        assert fp.f_beta(frame, "y", "s", threshold=Decimal(text)).columns == [
            f"f1@threshold={name}"
        ]


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_a_threshold_of_a_key_that_no_group_can_have(make):
    rows = {"y": [1, 0, 1, 0], "s": [0.9, 0.1, 0.8, 0.2]}
    frame = pl.DataFrame({"q": pl.Series([1, 1, None, None], dtype=pl.Int8), **rows})
    # 300 is no Int8. It was taken for the missing key.
    table = pl.DataFrame({"q": [1, 300], "t": [0.5, 0.05]})
    with pytest.raises(ValueError, match="no row for 1 of 2 groups, such as None"):
        fp.confusion(make(frame), "y", "s", threshold=table, by="q").lazy().collect()
    with pytest.raises(ValueError, match="1 row more than groups, such as 1: it must have one"):
        fp.confusion(frame, "y", "s", threshold=table[[0, 0, 1]], by="q")
    both = pl.concat([table, pl.DataFrame({"q": [None], "t": [0.85]}, schema=table.schema)])
    counts = fp.confusion(make(frame), "y", "s", threshold=both, by="q").lazy().collect()
    assert counts.select("q", "threshold", "tp").rows() == [(None, 0.85, 0), (1, 0.5, 1)]


def test_a_threshold_of_an_interval_that_no_group_has():
    pd = pytest.importorskip("pandas")
    first, second = pd.IntervalIndex.from_breaks([0, 1, 2])
    rows = {"y": [1, 0, 1, 0], "s": [0.9, 0.1, 0.8, 0.2]}
    frame = pd.DataFrame({"q": pd.Series([first, first, None, None]), **rows})
    table = pd.DataFrame({"q": [first, second], "t": [0.5, 0.05]})
    with pytest.raises(ValueError, match="no row for 1 of 2 groups"):
        fp.confusion(frame, "y", "s", threshold=table, by="q")
