"""Several slices and all rows in one table: the values of calls with `by=`, stacked."""

import datetime as dt

import pandas as pd
import polars as pl
import pytest
from compare import assert_same
from kinds import KINDS

import frame_pr as fp

ROWS = pl.DataFrame(
    {
        "country": ["at", "be", "at", None, "be", "at"],
        "device": [2, 10, 10, 2, 2, 10],
        "month": ["a", "b"] * 3,
        "day": [dt.datetime(2024, 1, 1)] * 3 + [dt.datetime(2024, 1, 2, 12)] * 3,
        "y": [1, 0, 1, 0, 1, 0],
        "s": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
        "t": [0.1, 0.8, 0.7, 0.6, 0.5, 0.4],
    }
)
# Of all nine pairs of a positive and a negative, 3 + 2 + 1 are in the right order. In "at" it is
# both pairs, in "be" none of one.
KNOWN = [
    ("all", "all", 6, 3, 6 / 9),
    ("country", "null", 1, 0, None),
    ("country", "at", 3, 2, 1.0),
    ("country", "be", 2, 1, 0.0),
    ("device", "2", 3, 2, 0.5),
    ("device", "10", 3, 1, 0.5),
    ("country | device", "null | 2", 1, 0, None),
    ("country | device", "at | 2", 1, 1, None),
    ("country | device", "at | 10", 2, 1, 1.0),
    ("country | device", "be | 2", 1, 1, None),
    ("country | device", "be | 10", 1, 0, None),
]
SLICES = ["country", "device", ["country", "device"]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_known(kind):
    result = fp.evaluate(kind(ROWS), "roc_auc", "y", "s", slices=SLICES)
    found = kind.read(result).fill_nan(None)
    assert found.columns == ["slice", "value", "rows", "positives", "roc_auc"]
    assert found.rows() == KNOWN


def test_a_lazy_frame_stays_lazy_and_is_read_once():
    reads = []
    lazy = ROWS.lazy().map_batches(lambda frame: reads.append(1) or frame)
    result = lazy.pr.evaluate("roc_auc", "y", "s", slices=SLICES)
    assert isinstance(result, pl.LazyFrame)
    assert reads == []
    eager = ROWS.pr.evaluate("roc_auc", "y", "s", slices=SLICES)
    assert result.collect_schema() == eager.schema
    assert_same(result.collect(), eager)
    assert len(reads) == 1


def test_a_column_without_a_name_is_a_slice_of_its_own():
    found = ROWS.rename({"device": ""}).pr.evaluate("roc_auc", "y", "s", slices=[""])
    assert found["slice"].to_list() == ["all", "", ""]
    assert found["value"].to_list() == ["all", "2", "10"]


def test_each_group_has_all_slices():
    found = ROWS.pr.evaluate("rows", "y", "s", by="month", slices=["device"])
    assert found.columns == ["month", "slice", "value", "rows", "positives"]
    assert found.drop("positives").rows() == [
        ("a", "all", "all", 3),
        ("a", "device", "2", 2),
        ("a", "device", "10", 1),
        ("b", "all", "all", 3),
        ("b", "device", "2", 1),
        ("b", "device", "10", 2),
    ]
    # Periods are keys that polars does not have.
    frame = ROWS.to_pandas()
    frame["month"] = pd.PeriodIndex(["2024-01", "2024-02"] * 3, freq="M")
    of_pandas = frame.pr.evaluate("rows", "y", "s", by="month", slices=["device"])
    assert of_pandas["month"].dtype == frame["month"].dtype
    assert of_pandas["value"].tolist() == found["value"].to_list()
    slices = frame.pr.evaluate("rows", "y", "s", slices=["month"])
    assert slices["value"].tolist() == ["all", "2024-01", "2024-02"]


def test_systems_times_and_expressions():
    found = ROWS.pr.evaluate("roc_auc", "y", ["s", "t"], slices=["day", pl.col("device") > 5])
    assert found.columns == ["slice", "value", "system", "rows", "positives", "roc_auc"]
    assert found.select("slice", "value", "system").rows()[::2] == [
        ("all", "all", "s"),
        ("day", "2024-01-01", "s"),
        ("day", "2024-01-02 12:00:00", "s"),
        ("device", "false", "s"),
        ("device", "true", "s"),
    ]
    apart = ROWS.pr.evaluate("roc_auc", "y", ["s", "t"], by="day")
    assert found.filter(slice="day")["roc_auc"].to_list() == apart["roc_auc"].to_list()


def test_means_over_groups_in_each_slice():
    call = {"truth": "y", "score": "s", "mean_over": "month"}
    found = ROWS.pr.evaluate("precision@1", **call, slices=["device"])
    # The first row of a is positive, that of b is not; of device 2, b has no positive; of device
    # 10, both have theirs first, but b has none.
    assert found.columns == ["slice", "value", "groups", "mean_precision@1"]
    assert found.rows() == [
        ("all", "all", 2, 0.5),
        ("device", "2", 2, 0.5),
        ("device", "10", 2, 0.5),
    ]
    by = ROWS.pr.evaluate("precision@1", **call, by="device")
    assert found["mean_precision@1"].to_list()[1:] == by["mean_precision@1"].to_list()


def test_differences_to_all_rows():
    call = {"slices": ["country"], "difference": "all"}
    found = ROWS.pr.evaluate({"AUC": "roc_auc"}, "y", ["s", "t"], **call)
    assert found.columns[-2:] == ["AUC", "difference_AUC"]
    of_s = found.filter(system="s")["difference_AUC"].to_list()
    # s: 2/3 of the pairs of all rows; none, both and no pair in the slices.
    assert of_s == [0.0, None, pytest.approx(1 / 3), pytest.approx(-2 / 3)]
    by_month = ROWS.pr.evaluate({"n": "k@threshold=0.5"}, "y", "s", by="month", **call)
    # Of a: 3 rows, 2 in at, 1 in be. Of b: 2 rows, 1 without a country, none in at, 1 in be.
    assert by_month["difference_n"].to_list() == [0, -1, -2, 0, -1, -2, -1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"slices": []}, "slices takes a list of columns or of lists of columns"),
        ({"slices": 5}, "slices takes a list of columns or of lists of columns"),
        ({"slices": [[]]}, "slices has an empty list: all rows are a slice anyway"),
        ({"slices": ["device", "device"]}, "slices has 'device' twice"),
        ({"slices": ["devise"]}, "no column 'devise' in the frame; did you mean 'device'"),
        ({"slices": ["device"], "by": "device"}, "column 'device' is given twice"),
        ({"slices": ["device"], "difference": "mean"}, "difference must be 'all'"),
        ({"difference": "all"}, r"difference='all' compares slices with all rows: give slices=\["),
    ],
)
def test_errors(arguments, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        ROWS.pr.evaluate("roc_auc", "y", "s", **arguments)


def test_names_that_a_result_has_already():
    for name in ("slice", "value"):
        renamed = ROWS.rename({"month": name})
        with pytest.raises(ValueError, match=f"'{name}'.* is named like"):
            renamed.pr.evaluate("roc_auc", "y", "s", by=name, slices=["device"])
    with pytest.raises(ValueError, match="slices: 'all' is the slice of all rows; rename the col"):
        ROWS.rename({"month": "all"}).pr.evaluate("roc_auc", "y", "s", slices=["all"])
