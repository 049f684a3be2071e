"""Decision curves, random rankings, gains tables, capped recall, unpaired tests: against the tools that have them."""

import numpy as np
import polars as pl
import pytest
from compare import near


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


# Patients with a brain haemorrhage (Turck et al. 2010), the example data of pROC: S100B in 0.01
# ug/l, and how many had each WFNS grade, 1 to 5. fmt: off
S100B_OF_POOR = [
    3,
    7,
    7,
    7,
    8,
    9,
    9,
    10,
    10,
    11,
    12,
    13,
    13,
    14,
    16,
    22,
    23,
    25,
    26,
    27,
    30,
    32,
    33,
    35,
    41,
    44,
    44,
    48,
    49,
    52,
    56,
    58,
    70,
    71,
    71,
    74,
    77,
    82,
    86,
    96,
    207,
]
S100B_OF_GOOD = [
    4,
    4,
    4,
    4,
    4,
    5,
    5,
    5,
    6,
    6,
    7,
    7,
    7,
    7,
    7,
    7,
    8,
    8,
    8,
    8,
    8,
    8,
    9,
    9,
    9,
    9,
    9,
    9,
    10,
    10,
    10,
    10,
    10,
    10,
    10,
    11,
    11,
    11,
    11,
    13,
    13,
    13,
    14,
    14,
    14,
    14,
    15,
    15,
    15,
    15,
    16,
    16,
    16,
    17,
    17,
    18,
    19,
    19,
    24,
    28,
    32,
    33,
    34,
    38,
    43,
    45,
    46,
    47,
    47,
    48,
    50,
    50,
]
# fmt: on
WFNS_OF_POOR, WFNS_OF_GOOD = [2, 12, 1, 8, 18], [37, 20, 3, 8, 4]


def test_what_proc_prints():
    def grades(numbers: list[int]) -> list[int]:
        return [grade for grade, number in enumerate(numbers, 1) for _ in range(number)]

    truth = [1] * len(S100B_OF_POOR) + [0] * len(S100B_OF_GOOD)
    scores = {
        "s100b": S100B_OF_POOR + S100B_OF_GOOD,
        "wfns": grades(WFNS_OF_POOR) + grades(WFNS_OF_GOOD),
    }
    data = pl.concat(
        pl.DataFrame({"marker": name, "t": truth, "s": score}) for name, score in scores.items()
    )
    row = data.pr.compare("roc_auc", "t", "s", between="marker", details=True).row(0, named=True)
    assert (row["value_baseline"], row["value_system"]) == pytest.approx(
        (0.7313686, 0.8236789), abs=5e-8
    )
    # roc.test(r.wfns, r.s100b, paired = FALSE) gives D, the difference over its standard error. Its
    # p-value, 0.1528, is of the difference itself, and ours of the interval, which combines the
    # intervals of both values.
    assert row["difference"] / row["standard_error"] == pytest.approx(1.43490640926908, rel=1e-12)
    assert row["p_value"] == pytest.approx(0.152825378808796, abs=0.01)
