"""Float weights: counts are whole units, so no count is below 0 and no rate leaves its range."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from compare import near
from sklearn.metrics import auc

import frame_pr as fp
from frame_pr.metrics import goals
from frame_pr.metrics.rates import RATES

CUTOFFS = ["threshold=-1", "threshold=0.5", "threshold=2", "recall=0.5", "recall=1", "npv=0.5"]
CUTOFFS += ["npv=1", "fpr=0", "fpr=0.2", "precision=0.5", "specificity=1"]
BEST = ["f1", *goals.BEST]
OF_RANKING = ["average_precision", "interpolated_average_precision_11", "roc_auc", "max_f0.3"]
OF_RANKING += ["roc_auc@fpr=0.2", "equal_error_rate", "threshold@max_f1", "min_cost3", "rows"]
RANGES = {"0 to 1": (0, 1), "-1 to 1": (-1, 1), "0 up": (0, float("inf"))}


def kinds_of(data):
    return [data, data.lazy(), data.to_pandas()]


def row_of(result):
    """Return the only row of a result of any kind."""
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    if isinstance(result, pd.DataFrame):
        result = pl.from_pandas(result)
    return result.row(0)


def drawn(draw, weights):
    rows = int(draw.integers(5, 60))
    columns = {
        "y": draw.random(rows) < draw.choice([0.1, 0.5, 0.9]),
        "s": draw.integers(0, 10, rows) / 10,
        "w": {
            "tenths": draw.integers(0, 10, rows) / 10,
            "hundredths": draw.integers(0, 200, rows) / 100,
            "10^15 apart": 10.0 ** draw.uniform(-15, 0, rows),
        }[weights],
    }
    return pl.DataFrame(columns)


def test_false_positives_never_fall():
    # Four rows of weight 0.2 in a row are a negative and three positives, the last is a negative:
    # one negative, until both are predicted. scikit-learn calls this
    # test_roc_curve_fpr_tpr_increasing.
    data = pl.DataFrame({"y": [0, 0, 1, 1, 1], "s": [0.1, 0.7, 0.3, 0.4, 0.5], "w": [0.2] * 5})
    for frame in kinds_of(data):
        curve = fp.curve(frame, "y", "s", rates=["fp", "fpr"], weight="w")
        curve = curve.collect() if isinstance(curve, pl.LazyFrame) else curve
        assert list(curve["fp"]) == [0.2, 0.2, 0.2, 0.2, 0.4]
        # Recall rises to 1 at a false positive rate of 1/2, so half of the square is below.
        assert auc(curve["fpr"], curve["recall"]) == 0.5


def test_no_true_negative_is_exactly_none():
    # Predicted: both negatives, of weight 0.7 and 0.3. Left: the positive. MCC is
    # (0 - 0.3) / sqrt(1 * 0.3 * 0.3 * 1).
    data = pl.DataFrame({"y": [0, 1, 0], "s": [0.5, 0.0, 0.25], "w": [0.7, 0.3, 0.3]})
    names = [f"{rate}@threshold=0.25" for rate in ("tn", "specificity", "npv", "fpr", "mcc")]
    for frame in kinds_of(data):
        assert row_of(fp.evaluate(frame, names, "y", "s", weight="w")) == (0, 0, 0, 1, near(-1))


@pytest.mark.parametrize("partitions", [2, 3, 5])
def test_a_rate_of_no_rows_is_null_in_ranges_of_scores(partitions):
    # All rows are predicted, so that NPV, markedness and MCC divide by 0.
    weights = [0.1, 0.1, 0.1, 0.1, 0.7, 0.7, 0.3]
    data = pl.DataFrame({"y": [1, 1, 1, 1, 0, 1, 1], "s": range(7, 0, -1), "w": weights})
    names = ["npv@threshold=0", "mcc@threshold=0", "markedness@threshold=0", "tn@threshold=0"]
    parts = fp.partitioned(data, partitions=partitions, progress=False)
    assert parts.evaluate(names, "y", "s", weight="w").row(0) == (None, None, None, 0.0)


def test_a_limit_of_0_allows_no_false_positive_however_light():
    # The second row is a negative that weighs 10^14 times less than the others.
    data = pl.DataFrame({"y": [1, 0, 1, 0], "s": [4, 3, 2, 1], "w": [1.0, 1e-14, 1.0, 1.0]})
    names = ["recall@fpr=0", "fp@fpr=0", "recall@precision=1", "k@recall=1", "recall@npv=1"]
    # An NPV of 1 needs all positives: the third row.
    expected = (0.5, 0.0, 0.5, 2 + 1e-14, 1.0)
    for frame in kinds_of(data):
        assert row_of(fp.evaluate(frame, names, "y", "s", weight="w")) == expected


@pytest.mark.parametrize("weights", ["tenths", "hundredths", "10^15 apart"])
@pytest.mark.parametrize("unscored", [False, True])
def test_values_lie_in_their_range_and_are_those_of_parts(weights, unscored):
    draw = np.random.default_rng(20)
    names = [f"{rate}@{cutoff}" for rate in RATES for cutoff in CUTOFFS if rate != "prevalence"]
    names += [f"max_{rate}" for rate in BEST] + OF_RANKING
    named, options = {name: name for name in names}, {}
    if unscored:
        options["unscored"] = "unretrieved"
    for _ in range(2):
        data = drawn(draw, weights)
        if unscored:
            data = data.with_columns(s=pl.when(pl.int_range(pl.len()) % 5 > 0).then("s"))
        values = data.pr.evaluate(named, "y", "s", weight="w", **options).row(0, named=True)
        parts = fp.partitioned(data, partitions=3, progress=False)
        of_parts = parts.evaluate(named, "y", "s", weight="w", **options).row(0, named=True)
        for name, value in values.items():
            assert of_parts[name] == near(value), name
            rate = RATES.get(name.partition("@")[0].removeprefix("max_"))
            low, high = RANGES["0 up" if rate is None else rate.range]
            assert value is None or low <= value <= high, name


@pytest.mark.parametrize("weights", ["tenths", "hundredths", "10^15 apart"])
def test_counts_are_sums_in_fractions_and_curves_never_fall(weights):
    draw = np.random.default_rng(21)
    for _ in range(10):
        data = drawn(draw, weights).filter(pl.col("w") > 0)
        curve = data.pr.curve("y", "s", rates="all", weight="w")
        rows = [(y, s, Fraction(w)) for y, s, w in data.rows()]
        for threshold, *counts in curve["threshold", "k", "tp", "fp", "fn", "tn"].rows():
            selected = sum(w for _, s, w in rows if s >= threshold)
            hits = sum(w for y, s, w in rows if y and s >= threshold)
            missed = sum(w for y, s, w in rows if y and s < threshold)
            rejected = sum(w for y, s, w in rows if not y and s < threshold)
            # A float of the exact sum, so nothing is near only.
            exact = [selected, hits, selected - hits, missed, rejected]
            assert counts == [float(count) for count in exact]
        for rising in ("k", "tp", "fp", "recall", "fpr"):
            assert (curve[rising].diff().drop_nulls() >= 0).all()
        for falling in ("fn", "tn", "fnr", "specificity"):
            assert (curve[falling].diff().drop_nulls() <= 0).all()
        for name in curve.columns[1:]:
            assert not curve[name].is_nan().any()


def test_known_totals_far_above_the_sum_of_the_rows():
    # Recall 3 of 10^20. The rest of the 10^21 rows are negatives.
    data = pl.DataFrame({"y": [1, 0], "s": [2, 1], "w": [3.0, 1.0]})
    totals = {"total_positives": pl.lit(1e20), "total_rows": pl.lit(1e21)}
    names = ["recall@threshold=1", "rows", "positives", "tn@threshold=1"]
    result = fp.evaluate(data, names, "y", "s", weight="w", **totals)
    assert result.row(0) == (near(3e-20), near(1e21), near(1e20), near(9e20))
    parts = fp.partitioned(data.with_columns(p=1e20, n=1e21), partitions=2, progress=False)
    totals = {"total_positives": "p", "total_rows": "n"}
    assert parts.evaluate(names, "y", "s", weight="w", **totals).rows() == result.rows()
