import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from samples import CUT_BLOCK, TEN

import frame_pr as fp

HEAD = [
    "rows",
    "positives",
    "prevalence",
    "tied_rows",
    "average_precision",
    "interpolated_average_precision",
    "average_precision_lift",
]
HEAD.append("r_precision")


def at(*ranks):
    return [f"{name}@{k}" for name in ("precision", "recall", "average_precision") for k in ranks]


BEST = ["max_f1", "threshold@max_f1"]
# `k` to `kappa`, in the order of the confusion table; the prevalence stands at the head.
CONFUSION = ["k", "tp", "fp", "fn", "tn", "precision", "recall", "specificity", "npv", "fpr", "fnr", "fdr", "accuracy"]
CONFUSION += ["balanced_accuracy", "f1", "mcc", "informedness", "markedness", "kappa"]


def test_columns():
    assert TEN.pr.report("relevant", "score").columns == [*HEAD, *at(1, 5, 10), *BEST]
    assert TEN.pr.report("relevant", "score", k=3).columns == [*HEAD, *at(3), *BEST]
    at_threshold = [f"{name}@threshold=0.5" for name in CONFUSION]
    result = TEN.pr.report("relevant", "score", k=[2], threshold=0.5)
    assert result.columns == [*HEAD, *at(2), *BEST, *at_threshold]


def test_known_answers():
    result = CUT_BLOCK.pr.report("relevant", "score", k=2, threshold=1).row(0, named=True)
    # A hit, a block of two hits and a miss, a miss: (k, tp) are (1, 1), (4, 3), (5, 3); P = 3, N = 5.
    expected = {
        "rows": 5,
        "positives": 3,
        "prevalence": 3 / 5,
        "tied_rows": 3,
        "average_precision": 5 / 6,  # (1 + 2 * 3/4) / 3
        "interpolated_average_precision": 5 / 6,
        "average_precision_lift": 25 / 18,
        "r_precision": 7 / 9,  # 1 hit and 2 places of the block, of 2/3 hit each, in 3
        "precision@2": 5 / 6,
        "recall@2": 5 / 9,
        "average_precision@2": 7 / 9,
        "max_f1": 6 / 7,  # 2 * 3 / (3 + 4)
        "threshold@max_f1": 1,
        "k@threshold=1": 4,
        "tp@threshold=1": 3,
        "fp@threshold=1": 1,
        "tn@threshold=1": 1,
        "precision@threshold=1": 3 / 4,
        "npv@threshold=1": 1.0,
        "accuracy@threshold=1": 4 / 5,
        "specificity@threshold=1": 1 / 2,
    }
    assert {name: result[name] for name in expected} == {name: near(value) for name, value in expected.items()}


def test_a_report_is_evaluate_of_its_columns():
    data = pl.concat([TEN.with_columns(q=pl.lit("x")), CUT_BLOCK.with_columns(q=pl.lit("y"))])
    report = data.pr.report("relevant", "score", by="q", threshold=2)
    assert_same(data.pr.evaluate(report.columns[1:], "relevant", "score", by="q"), report)


def test_a_report_of_means():
    data = pl.concat([TEN.with_columns(q=pl.lit("x")), CUT_BLOCK.with_columns(q=pl.lit("y"))])
    result = data.pr.report("relevant", "score", by="q", mean_over="q", k=2)
    names = [*HEAD, *at(2), *BEST]
    means = [f"mean_{name}" for name in names]
    assert result.columns[: len(means) + 1] == ["groups", *means]
    assert all(name.removeprefix("undefined_") in names for name in result.columns[len(means) + 1 :])
    row = result.row(0, named=True)
    assert row["groups"] == 2
    assert row["mean_rows"] == 7.5
    assert row["mean_average_precision"] == near((47 / 60 + 5 / 6) / 2)
    assert row["undefined_average_precision"] == 0


def test_several_systems_in_a_report():
    data = TEN.with_columns(flat=pl.lit(0))
    result = fp.report(data, "relevant", ["score", "flat"])
    assert result.columns[:3] == ["system", "rows", "positives"]
    # A constant score: one block of ten, half of them hits.
    assert result.filter(system="flat").select("tied_rows", "average_precision", "average_precision_lift").row(0) == (
        10,
        0.5,
        1.0,
    )


@pytest.mark.parametrize("k", [0, 1.5, True])
def test_k_must_be_whole_and_positive(k):
    with pytest.raises((TypeError, ValueError), match="k must be a whole number of at least 1, got"):
        TEN.pr.report("relevant", "score", k=(1, k))


def test_a_threshold_must_be_a_number():
    with pytest.raises(ValueError, match="threshold must be a number, got nan"):
        TEN.pr.report("relevant", "score", threshold=float("nan"))


def test_bounds_beside_the_values():
    rng = np.random.default_rng(2)
    columns = {"q": rng.integers(0, 6, 120), "relevant": rng.random(120) < 0.4, "score": rng.random(120)}
    data = pl.DataFrame(columns)
    plain = data.pr.report("relevant", "score", by="q", k=2, threshold=0.5)
    both = data.pr.report("relevant", "score", by="q", k=2, threshold=0.5, confidence=0.9)
    assert_same(both.select(plain.columns), plain)
    assert both.columns[3:6] == ["prevalence", "low_prevalence", "high_prevalence"]
    names = [name.removeprefix("low_") for name in both.columns if name.startswith("low_")]
    assert names[1:3] == ["average_precision", "precision@threshold=0.5"]
    found = fp.intervals(data, names, "relevant", "score", by="q", confidence=0.9)
    for name in names:
        expected = found.filter(metric=name).select("low", "high").rows()
        assert both.select(f"low_{name}", f"high_{name}").rows() == [tuple(map(near, row)) for row in expected]


def test_bounds_beside_means():
    rng = np.random.default_rng(2)
    columns = {"q": rng.integers(0, 9, 120), "relevant": rng.random(120) < 0.2, "score": rng.random(120)}
    data = pl.DataFrame(columns)
    given = {"by": "q", "mean_over": "q", "k": 2}
    plain = data.pr.report("relevant", "score", **given)
    both = data.pr.report("relevant", "score", **given, confidence=0.95)
    assert_same(both.select(plain.columns), plain)
    names = ["average_precision", "precision@2", "average_precision_lift"]
    found = fp.intervals(data, names, "relevant", "score", by="q", mean_over="q")
    bounds = both.select(f"{side}_{name}" for name in names for side in ("low", "high")).row(0)
    assert bounds == tuple(near(bound) for row in found.select("low", "high").iter_rows() for bound in row)
    assert "low_rows" not in both.columns


def test_bounds_that_have_no_form():
    with pytest.raises(ValueError, match="ties='order': a standard error does not take it"):
        fp.report(TEN, "relevant", "score", ties="order", confidence=0.95)
    with pytest.raises(ValueError, match=r"got 95: write 0\.95"):
        fp.report(TEN, "relevant", "score", confidence=95)


def test_several_thresholds_in_a_report():
    both = TEN.pr.report("relevant", "score", threshold=[7, 2.5])
    for threshold in (7, 2.5):
        alone = TEN.pr.report("relevant", "score", threshold=threshold)
        assert_same(both.select(alone.columns), alone)
    assert both.columns[-1] == "kappa@threshold=2.5"
