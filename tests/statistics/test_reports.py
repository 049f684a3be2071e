import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from samples import CUT_BLOCK, TEN

import frame_pr as fp

METRICS = [
    "average_precision",
    "roc_auc",
    "ndcg@10",
    "precision@10",
    "recall@10",
    "max_f1",
    "threshold@max_f1",
]
COUNTS = ["rows", "positives"]
# `k` to `kappa`, in the order of the confusion table.
CONFUSION = [
    "k",
    "tp",
    "fp",
    "fn",
    "tn",
    "precision",
    "recall",
    "specificity",
    "npv",
    "fpr",
    "fnr",
    "fdr",
    "accuracy",
]
CONFUSION += ["balanced_accuracy", "f1", "mcc", "informedness", "markedness", "kappa"]
CONFUSION += ["selection_rate"]
BOTH = pl.concat([TEN.with_columns(q=pl.lit("x")), CUT_BLOCK.with_columns(q=pl.lit("y"))])


def queries(share: float = 0.4) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "q": rng.integers(0, 6, 120),
            "relevant": rng.random(120) < share,
            "score": rng.random(120),
        }
    )


def test_rows_and_columns():
    long = BOTH.pr.report("relevant", "score", by="q")
    assert long.columns == ["q", *COUNTS, "metric", "value"]
    assert long.select("q", *COUNTS).unique(maintain_order=True).rows() == [
        ("x", 10, 5),
        ("y", 5, 3),
    ]
    assert long["metric"].to_list() == METRICS * 2
    wide = BOTH.pr.report("relevant", "score", by="q", k=[2, 3], threshold=[0.5, 2], wide=True)
    names = [f"{name}@{k}" for name in ("ndcg", "precision", "recall") for k in (2, 3)]
    names = [
        *METRICS[:2],
        *names,
        *METRICS[-2:],
        *(f"{name}@threshold={t}" for t in (0.5, 2) for name in CONFUSION),
    ]
    assert wide.columns == ["q", *COUNTS, *names]
    assert_same(BOTH.pr.evaluate(wide.columns[1:], "relevant", "score", by="q"), wide)


def test_known_answers():
    report = CUT_BLOCK.pr.report("relevant", "score", k=2, threshold=1)
    assert report.select(COUNTS).unique().rows() == [(5, 3)]
    result = dict(report.select("metric", "value").rows())
    # A hit, a block of two hits and a miss, a miss: (k, tp) are (1, 1), (4, 3), (5, 3); P = 3, N =
    # 5.
    expected = {
        "average_precision": 5 / 6,  # (1 + 2 * 3/4) / 3
        "roc_auc": (1 + 2 * 3 / 4)
        / 3,  # of the two misses, above the hit none, in the block half of one
        "precision@2": 5 / 6,  # 1 hit and 1 place of the block, of 2/3 hit
        "recall@2": 5 / 9,
        "max_f1": 6 / 7,  # 2 * 3 / (3 + 4)
        "threshold@max_f1": 1,
        "tp@threshold=1": 3,
        "accuracy@threshold=1": 4 / 5,
        "specificity@threshold=1": 1 / 2,
    }
    assert {name: result[name] for name in expected} == {
        name: near(float(x)) for name, x in expected.items()
    }


def test_means():
    report = BOTH.pr.report("relevant", "score", mean_over="q")
    assert report.columns == ["groups", "metric", "value"]
    assert report["groups"].to_list() == [2] * 7
    means = dict(report.select("metric", "value").rows())
    assert list(means) == METRICS
    assert means["average_precision"] == near((47 / 60 + 5 / 6) / 2)
    wide = BOTH.pr.report("relevant", "score", by="q", mean_over="q", wide=True)
    assert wide["mean_average_precision"].item() == means["average_precision"]


def test_several_systems():
    result = fp.report(TEN.with_columns(flat=pl.lit(0)), "relevant", ["score", "flat"])
    assert result.columns == ["system", *COUNTS, "metric", "value"]
    assert result["system"].unique(maintain_order=True).to_list() == ["score", "flat"]
    # A constant score: one block of ten, half of them hits.
    assert result.filter(system="flat")["value"].to_list()[:2] == [0.5, 0.5]


def test_bounds_of_rows():
    report = queries().pr.report("relevant", "score", by="q", threshold=0.5, confidence=0.9)
    names = ["average_precision", "roc_auc", "precision@threshold=0.5", "f1@threshold=0.5"]
    found = fp.intervals(queries(), names, "relevant", "score", by="q", confidence=0.9)
    for name in names:
        expected = found.filter(metric=name).select("low", "high")
        assert_same(report.filter(metric=name).select("low", "high"), expected)
    without = queries().pr.report("relevant", "score", by="q", threshold=0.5)
    # The rows of metrics without a closed form are left out.
    assert not {"ndcg@10", "max_f1", "threshold@max_f1"} & {*report["metric"]}
    without = without.filter(pl.col("metric").is_in(report["metric"].unique().to_list()))
    assert_same(report.drop("low", "high"), without.drop(COUNTS))


def test_bounds_of_means():
    given = {"by": "q", "mean_over": "q"}
    report = queries(0.2).pr.report("relevant", "score", **given, confidence=0.95)
    names = ["average_precision", "precision@10", "threshold@max_f1"]
    found = fp.intervals(queries(0.2), names, "relevant", "score", **given)
    expected = found.select("metric", "value", "low", "high")
    assert_same(
        report.filter(pl.col("metric").is_in(names)).sort("metric"),
        expected.sort("metric"),
    )


@pytest.mark.parametrize("to", ["polars", "pandas", "lazy"])
@pytest.mark.parametrize("given", [{"by": "q"}, {"mean_over": "q"}], ids=str)
def test_wide_reports_have_bounds_next_to_their_metric(to, given):
    data = queries()
    long = data.pr.report("relevant", "score", **given, confidence=0.9)
    frame = {"polars": data, "pandas": data.to_pandas(), "lazy": data.lazy()}[to]
    wide = frame.pr.report("relevant", "score", **given, confidence=0.9, wide=True)
    wide = pl.from_pandas(wide) if to == "pandas" else wide.lazy().collect()
    prefix = "mean_" if "mean_over" in given else ""
    columns = [prefix + "average_precision", "low_average_precision", "high_average_precision"]
    place = wide.columns.index(columns[0])
    assert wide.columns[place : place + 4] == [*columns, prefix + "roc_auc"]
    of_metric = long.filter(metric="average_precision")
    assert wide.select(columns).rows() == of_metric.select("value", "low", "high").rows()
    # No closed form for rows.
    assert prefix + "max_f1" in wide.columns
    assert ("low_max_f1" in wide.columns) == bool(prefix)
    assert long["metric"].is_in(["max_f1"]).any() == bool(prefix)


def test_gains_are_of_ndcg_only():
    data = TEN.with_columns(gain=pl.col("relevant") * 2)
    report = data.pr.report("relevant", "score", gain="gain", confidence=0.95)
    expected = TEN.pr.report("relevant", "score", confidence=0.95)
    assert_same(report, expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": (1, 0)}, "k must be a whole number of at least 1, got"),
        ({"k": True}, "k must be a whole number of at least 1, got"),
        ({"threshold": float("nan")}, "threshold must be a number, got nan"),
        ({"ties": "order", "confidence": 0.95}, "ties='order': a bootstrap does not take it"),
        ({"confidence": 95}, r"got 95: write 0\.95"),
    ],
)
def test_wrong_calls(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TEN.pr.report("relevant", "score", **given)


@pytest.mark.filterwarnings("ignore:.* have no bounds")
@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
@pytest.mark.parametrize("given", [{}, {"by": "half"}], ids=str)
def test_slices_are_reports_of_their_rows(kind, given):
    data = queries().with_columns(
        half=pl.int_range(120) % 2,
        country=pl.Series(["de", "fr", "de"] * 40),
        device=pl.int_range(120) // 60,
    )
    frame = {"polars": data, "pandas": data.to_pandas(), "lazy": data.lazy()}[kind]
    call = {"truth": "relevant", "score": "score", "confidence": 0.9} | given
    found = frame.pr.report(slices=["country", ["country", "device"]], **call)
    found = pl.from_pandas(found) if kind == "pandas" else found.lazy().collect()
    keys = [*given.values(), "slice", "slice_value", "metric"]
    assert found.columns == [*keys, "value", "low", "high"]
    for name, value, rows in (
        ("all", "all", data),
        ("country", "fr", data.filter(country="fr")),
        ("country | device", "de | 1", data.filter(country="de", device=1)),
    ):
        part = found.filter(slice=name, slice_value=value).drop("slice", "slice_value")
        assert_same(part, rows.pr.report(**call))
    bounds = frame.pr.intervals("average_precision", slices=["country"], **call)
    bounds = pl.from_pandas(bounds) if kind == "pandas" else bounds.lazy().collect()
    part = bounds.filter(slice_value="fr").drop("slice", "slice_value")
    expected = data.filter(country="fr").pr.intervals("average_precision", **call)
    assert_same(part, expected.drop("level"))
    details = frame.lazy() if kind == "polars" else frame
    details = details.pr.intervals("average_precision", slices=["country"], **call, details=True)
    columns = list(details.columns if kind == "pandas" else details.collect_schema())
    assert columns.count("level") == 1
