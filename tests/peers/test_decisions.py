"""Decision curves, random rankings, gains, capped recall, unpaired tests, and their tools."""

import numpy as np
import polars as pl
import pytest
from compare import near
from scipy import stats


def classified(seed: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.2
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 2 * truth - 2)))
    return pl.DataFrame({"t": truth, "s": score.round(2)})


def test_net_benefit_printed_by_dcurves():
    # What dcurves 1.1.7 gives for `classified(0)` at these thresholds, to six digits.
    printed = {0.05: 0.167237, 0.1: 0.141389, 0.2: 0.128750, 0.35: 0.107308, 0.5: 0.085, 0.8: 0.015}
    ours = (
        classified(0)
        .pr.evaluate([f"net_benefit@threshold={t:g}" for t in printed], "t", "s")
        .row(0)
    )
    assert [round(value, 6) for value in ours] == list(printed.values())


def test_capped_recall_of_beir():
    # BEIR's own example of recall_cap: 100 hits among the first 100 rows of 500 relevant ones.
    data = pl.DataFrame({"t": [1] * 500 + [0] * 500, "s": range(1000, 0, -1)})
    assert data.pr.evaluate(["recall@100", "recall@100/min"], "t", "s").row(0) == (
        near(0.2),
        near(1.0),
    )


def test_gains_table_by_the_definitions_of_h2o():
    # H2O's columns by their definitions, from the sorted rows: cumulative capture rate, lift, and
    # those of each group.
    data = classified(3, 1000).with_columns(s=pl.int_range(1000) * 7919 % 1000)
    table = data.pr.gains_table("t", "s")
    response = data.sort("s", descending=True)["t"].to_numpy().reshape(10, 100)
    rate = response.mean()
    assert table["bin_precision"].to_list() == pytest.approx(response.mean(1))
    assert table["bin_lift"].to_list() == pytest.approx(response.mean(1) / rate)
    assert table["bin_recall"].to_list() == pytest.approx(response.sum(1) / response.sum())
    assert table["recall"].to_list() == pytest.approx(response.sum(1).cumsum() / response.sum())
    assert table["lift"].to_list() == pytest.approx(
        response.sum(1).cumsum() / (100 * np.arange(1, 11)) / rate
    )
    assert table["threshold"].to_list() == [1000 - 100 * i for i in range(1, 11)]


# The labels of 100 rows with scores 0.995, 0.985, ..., 0.005, and what H2O 3.46.0.12 prints for
# them: `make_metrics` of scores and labels, `max_criteria_and_metric_scores` and `gains_lift()`.
LABELS = "11111011011110100001001000000010000000100100001001"
LABELS += "00000001000000010010000100100000001001000010010000"
BEST_OF_H2O = {
    "max_f1": (0.855, 0.558140),
    "max_f2": (0.045, 0.673077),
    "max_f0.5": (0.875, 0.687500),
    "max_accuracy": (0.875, 0.810000),
    "max_precision": (0.995, 1.0),
    "max_mcc": (0.875, 0.487418),
    "max_balanced_accuracy": (0.855, 0.693452),
}
# Cumulative: the share of the rows, lift, response rate and capture rate.
GAINS_OF_H2O = [
    (0.1, 2.857143, 0.800000, 0.285714),
    (0.2, 2.321429, 0.650000, 0.464286),
    (0.3, 1.666667, 0.466667, 0.500000),
    (0.4, 1.428571, 0.400000, 0.571429),
    (0.5, 1.357143, 0.380000, 0.678571),
    (0.6, 1.190476, 0.333333, 0.714286),
    (0.7, 1.122449, 0.314286, 0.785714),
    (0.8, 1.071429, 0.300000, 0.857143),
    (0.9, 1.031746, 0.288889, 0.928571),
    (1.0, 1.000000, 0.280000, 1.000000),
]
# Lift, response rate and capture rate of the last eight bins, each a tenth of the rows.
BINS_OF_H2O = [
    (0.357143, 0.1, 0.035714),
    (0.714286, 0.2, 0.071429),
    (1.071429, 0.3, 0.107143),
    (0.357143, 0.1, 0.035714),
    (0.714286, 0.2, 0.071429),
    (0.714286, 0.2, 0.071429),
    (0.714286, 0.2, 0.071429),
    (0.714286, 0.2, 0.071429),
]


def test_what_h2o_prints():
    scores = (pl.int_range(99, -1, -1, eager=True) + 0.5) / 100
    data = pl.DataFrame({"t": list(map(int, LABELS)), "s": scores.round(3)})
    best = data.pr.evaluate(
        [*BEST_OF_H2O, *(f"threshold@{name}" for name in BEST_OF_H2O)], "t", "s"
    )
    for name, (threshold, value) in BEST_OF_H2O.items():
        assert best[f"threshold@{name}"].item() == threshold
        assert best[name].item() == pytest.approx(value, abs=5e-7)
    table = data.pr.gains_table("t", "s")
    printed = pl.DataFrame(
        GAINS_OF_H2O, orient="row", schema=["share", "lift", "precision", "recall"]
    )
    for name in printed.columns:
        assert table[name].to_list() == pytest.approx(printed[name].to_list(), abs=5e-7)
    bins = pl.DataFrame(
        BINS_OF_H2O, orient="row", schema=["bin_lift", "bin_precision", "bin_recall"]
    )
    for name in bins.columns:
        assert table[name].tail(8).to_list() == pytest.approx(bins[name].to_list(), abs=5e-7)
    # H2O's first bins: 1 to 5 % of the rows, all positive.
    first = data.pr.evaluate([f"lift@{share}%" for share in range(1, 6)], "t", "s")
    assert first.row(0) == pytest.approx([3.571429] * 5, abs=5e-7)


# Patients with a brain haemorrhage (Turck et al. 2010), the example data of pROC: of those with a
# poor and of those with a good outcome the WFNS grade, S100B in 0.01 ug/l and NDKA in 0.01 ug/l.
POOR = """
    1/7/4034 1/8/7257 2/7/2122 2/7/3237 2/9/1367 2/9/3241 2/10/963 2/10/1275 2/11/2148 2/14/3406
    2/25/838 2/30/1109 2/41/985 2/58/1172 3/13/1740 4/13/519 4/16/1320 4/23/2263 4/26/1554
    4/27/2157 4/48/2193 4/71/823 4/96/742 5/3/1222 5/12/1596 5/22/537 5/32/1426 5/33/5482
    5/35/1404 5/44/518 5/44/1589 5/49/1160 5/52/387 5/56/957 5/70/1290 5/71/890 5/74/1167
    5/77/1040 5/82/4761 5/86/1356 5/207/41919
"""
GOOD = """
    1/4/1042 1/4/1267 1/4/1341 1/4/1721 1/5/775 1/5/5883 1/6/766 1/6/1173 1/7/629 1/7/654 1/7/796
    1/7/1197 1/8/461 1/8/706 1/8/1051 1/8/1257 1/9/639 1/9/802 1/9/1457 1/9/4994 1/10/809
    1/10/1946 1/10/2719 1/10/4683 1/11/763 1/11/947 1/13/301 1/13/8030 1/14/854 1/14/1290
    1/14/1821 1/15/2243 1/16/1312 1/18/1554 1/19/1280 1/48/1345 1/50/679 2/4/1611 2/7/1107 2/8/944
    2/8/2075 2/9/970 2/9/1259 2/10/601 2/10/1786 2/10/2849 2/11/630 2/11/1271 2/13/1298 2/14/2227
    2/15/853 2/15/995 2/15/2458 2/16/1060 2/17/1253 2/19/901 2/43/1434 3/5/980 3/7/1168 3/33/1730
    4/16/981 4/17/1387 4/28/944 4/32/1083 4/34/503 4/38/1055 4/45/4143 4/47/1033 5/24/983 5/46/963
    5/47/600 5/50/659
"""


def patients() -> pl.DataFrame:
    rows = [
        (is_poor, *map(int, row.split("/")))
        for is_poor, text in ((True, POOR), (False, GOOD))
        for row in text.split()
    ]
    return pl.DataFrame(rows, orient="row", schema=["t", "wfns", "s100b", "ndka"])


# roc.test(..., paired = FALSE) gives D, the difference over its standard error.
UNPAIRED = {
    ("wfns", "s100b"): 1.43490640926908,
    ("wfns", "ndka"): 3.10125096778969,
    ("ndka", "s100b"): -1.55995743389685,
}


@pytest.mark.parametrize(("pair", "d"), UNPAIRED.items(), ids=str)
def test_unpaired_tests_of_proc(pair, d):
    data = patients().unpivot(["wfns", "s100b", "ndka"], index="t", variable_name="marker")
    table = data.pr.compare("roc_auc", "t", "value", between="marker", details=True)
    (row,) = table.filter(pl.col("baseline").is_in(pair), pl.col("system").is_in(pair)).to_dicts()
    assert abs(row["difference"] / row["standard_error"]) == pytest.approx(abs(d), rel=1e-12)
    # Its p-value is of the difference itself, and ours of the interval, which combines the
    # intervals of both values.
    p = 2 * stats.norm.sf(abs(d))
    assert row["p_value"] == pytest.approx(p, abs=0.014)


# roc.test(...) of both markers of the same patients: Z, the p-value and the interval.
PAIRED = {
    ("wfns", "s100b"): (
        2.20898359144091,
        0.0271757822291882,
        0.0104061769564846,
        0.174214419249478,
    ),
    ("wfns", "ndka"): (
        2.79777591868904,
        0.00514557970691098,
        0.0634011709339876,
        0.360040563483357,
    ),
    ("ndka", "s100b"): (
        -1.39077002573558,
        0.164295175223054,
        -0.287691744634191,
        0.0488706064228094,
    ),
}


@pytest.mark.parametrize(("pair", "printed"), PAIRED.items(), ids=str)
def test_paired_tests_of_proc(pair, printed):
    first, second = pair
    table = patients().pr.compare("roc_auc", "t", [second, first], test="delong", details=True)
    (row,) = table.to_dicts()
    assert row["method"] == "DeLong over 113 rows"
    z = row["difference"] / row["standard_error"]
    assert (z, row["p_value"], row["low"], row["high"]) == pytest.approx(printed, rel=1e-11)
