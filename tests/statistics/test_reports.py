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
COUNTS = ["positives", "rows"]
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
    assert long.columns == ["q", "metric", "value"]
    assert long["q"].to_list() == ["x"] * 9 + ["y"] * 9
    assert long["metric"].to_list() == [*METRICS, *COUNTS] * 2
    wide = BOTH.pr.report("relevant", "score", by="q", k=[2, 3], threshold=[0.5, 2], wide=True)
    names = [f"{name}@{k}" for name in ("ndcg", "precision", "recall") for k in (2, 3)]
    names = [
        *METRICS[:2],
        *names,
        *METRICS[-2:],
        *(f"{name}@threshold={t}" for t in (0.5, 2) for name in CONFUSION),
    ]
    assert wide.columns == ["q", *names, *COUNTS]
    assert_same(BOTH.pr.evaluate(wide.columns[1:], "relevant", "score", by="q"), wide)


def test_known_answers():
    result = dict(CUT_BLOCK.pr.report("relevant", "score", k=2, threshold=1).rows())
    # A hit, a block of two hits and a miss, a miss: (k, tp) are (1, 1), (4, 3), (5, 3); P = 3, N =
    # 5.
    expected = {
        "rows": 5,
        "positives": 3,
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
    means = dict(BOTH.pr.report("relevant", "score", by="q", mean_over="q").rows())
    assert list(means) == [*METRICS, *COUNTS]
    assert (means["rows"], means["average_precision"]) == (7.5, near((47 / 60 + 5 / 6) / 2))
    wide = BOTH.pr.report("relevant", "score", by="q", mean_over="q", wide=True)
    assert wide["mean_average_precision"].item() == means["average_precision"]


def test_several_systems():
    result = fp.report(TEN.with_columns(flat=pl.lit(0)), "relevant", ["score", "flat"])
    assert result.columns == ["system", "metric", "value"]
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
    assert report.filter(metric="max_f1")["low"].null_count() == 6
    assert_same(
        report.drop("low", "high"), queries().pr.report("relevant", "score", by="q", threshold=0.5)
    )


def test_bounds_of_means():
    given = {"by": "q", "mean_over": "q"}
    report = queries(0.2).pr.report("relevant", "score", **given, confidence=0.95)
    names = ["average_precision", "precision@10", "threshold@max_f1"]
    found = fp.intervals(queries(0.2), names, "relevant", "score", **given)
    expected = found.select("metric", "value", "low", "high")
    assert_same(
        report.filter(pl.col("metric").is_in(names)).sort("metric"), expected.sort("metric")
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": (1, 0)}, "k must be a whole number of at least 1, got"),
        ({"k": True}, "k must be a whole number of at least 1, got"),
        ({"threshold": float("nan")}, "threshold must be a number, got nan"),
        ({"ties": "order", "confidence": 0.95}, "ties='order': a standard error does not take it"),
        ({"confidence": 95}, r"got 95: write 0\.95"),
        ({"confidence": 0.9, "wide": True}, "confidence= adds columns to a long report"),
    ],
)
def test_wrong_calls(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TEN.pr.report("relevant", "score", **given)
