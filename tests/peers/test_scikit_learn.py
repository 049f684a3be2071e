"""Thousands of groups in one frame, each compared with scikit-learn's answer for it alone."""

import math
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn import metrics

MANY = 2000
SIZES = [1, 1, 2, 3, 5, 8, 13, 40, 120]
PREVALENCES = [0.0, 0.001, 0.1, 0.5, 0.9, 1.0]
SCALES = [1.0, 1e-300, 5e-324, 1e300, -1e300, -1e-300]


def scores(rng: np.random.Generator, size: int, sort: int) -> np.ndarray:
    """Scores with few or many ties, of every size and sign, with zeros and infinities."""
    match sort % 6:
        case 0:
            return rng.random(size)
        case 1:
            return rng.integers(0, 4, size).astype(float)
        case 2:
            return rng.choice([0.0, -0.0, 0.5, -0.5], size)
        case 3:
            return rng.choice([-math.inf, -1.0, 0.0, 1.0, math.inf], size)
        case 4:
            return rng.integers(1, 9, size) * rng.choice(SCALES)
        case _:
            return np.round(rng.normal(size=size), 1)


@cache
def generated(groups: int = MANY) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    parts = []
    for group in range(groups):
        size = int(rng.choice(SIZES))
        truth = rng.random(size) < rng.choice(PREVALENCES)
        parts.append(
            pl.DataFrame({"relevant": truth, "score": scores(rng, size, group)}).with_columns(
                q=pl.lit(group)
            )
        )
    # A prevalence of one in a thousand, in groups where that means a few.
    for group in range(groups, groups + 4):
        truth, score = rng.random(4000) < 0.001, np.round(rng.normal(size=4000), group % 4)
        parts.append(
            pl.DataFrame({"relevant": truth, "score": score}).with_columns(q=pl.lit(group))
        )
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=1)


@cache
def group_arrays(groups: int = MANY) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Label and score of each group; ranks in place of scores, of which some are infinite."""
    ranked = generated(groups).with_columns(
        pl.col("score").replace({-0.0: 0.0}).rank("dense").over("q").cast(pl.Float64)
    )
    return {
        q: (part["relevant"].to_numpy(), part["score"].to_numpy())
        for (q,), part in ranked.partition_by("q", as_dict=True).items()
    }


def assert_close(found, expected, note=None):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=str(note))


@cache
def average_precisions() -> dict[int, float | None]:
    # Without positives scikit-learn warns, and gives 0.
    return {
        q: metrics.average_precision_score(*one) if one[0].any() else None
        for q, one in group_arrays().items()
    }


def test_average_precision():
    found = generated().pr.average_precision("relevant", "score", by="q")
    assert found["q"].to_list() == list(range(MANY + 4))
    for q, value in found.rows():
        expected = average_precisions()[q]
        assert (value is None) == (expected is None), q
        assert value is None or math.isclose(value, expected, rel_tol=0, abs_tol=1e-12), q


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_auc(weighted):
    # Of 0 weights too; every third group has each sort of scores twice.
    data = generated().filter(pl.col("q") % 3 == 0).sort("q", "score", "relevant")
    data = data.with_columns(weight=pl.int_range(pl.len()) % 5 / 2)
    weight = {"weight": "weight"} if weighted else {}
    found = dict(data.pr.evaluate("roc_auc", "relevant", "score", by="q", **weight).rows())
    # scikit-learn takes no infinite score: ranks, which rise as they do, stand in.
    ranks = data.with_columns(pl.col("score").replace({-0.0: 0.0}).rank("dense").over("q"))
    compared = 0
    for (q,), part in ranks.partition_by("q", as_dict=True).items():
        weighed = part.filter(pl.col("weight") > 0) if weighted else part
        if weighed["relevant"].n_unique() < 2:
            assert found.get(q) is None, q
            continue
        sample_weight = part["weight"] if weighted else None
        expected = metrics.roc_auc_score(
            part["relevant"], part["score"], sample_weight=sample_weight
        )
        assert_close(found[q], expected, q)
        compared += 1
    assert compared > 150


def test_the_curve():
    curve = generated().pr.curve("relevant", "score", by="q", rates="all")
    parts = curve.partition_by("q", as_dict=True)
    assert len(parts) == MANY + 4
    for (q,), part in parts.items():
        truth, score = group_arrays()[q]
        # scikit-learn: thresholds ascending, and an invented last point (precision 1, recall 0).
        assert part["k"].to_list() == [int((score >= t).sum()) for t in np.unique(score)[::-1]]
        if truth.any():
            precision, recall, _ = metrics.precision_recall_curve(truth, score)
            assert_close(part["precision"], precision[-2::-1], q)
            assert_close(part["recall"], recall[-2::-1], q)


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int16, pl.UInt64, pl.Decimal(12, 3)], ids=str)
def test_scores_of_other_dtypes(dtype):
    rng = np.random.default_rng(7)
    numbers = pl.Series(rng.integers(0, 2000, 10_000))
    score = (
        numbers.cast(dtype)
        if dtype.is_integer()
        else (numbers.cast(pl.Float64) / 8 - 100).cast(dtype)
    )
    data = pl.DataFrame(
        {"q": rng.integers(0, 400, 10_000), "relevant": rng.random(10_000) < 0.3, "score": score}
    )
    found = data.pr.average_precision("relevant", "score", by="q")
    assert found.height == 400
    parts = data.cast({"score": pl.Float64}).partition_by("q", as_dict=True)
    for q, value in found.rows():
        part = parts[q,]
        if part["relevant"].any():
            assert_close(value, metrics.average_precision_score(part["relevant"], part["score"]), q)
        else:
            assert value is None


def figures(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float | None]:
    """Every metric that scikit-learn has, None where it has no value (zero_division=nan)."""
    tn, fp, fn, tp = (
        int(n) for n in metrics.confusion_matrix(truth, predicted, labels=[False, True]).ravel()
    )
    none = {"zero_division": math.nan}
    values = {
        **{"tn": tn, "fp": fp, "fn": fn, "tp": tp},
        "precision": metrics.precision_score(truth, predicted, **none),
        "recall": metrics.recall_score(truth, predicted, **none),
        "npv": metrics.precision_score(~truth, ~predicted, **none),
        "specificity": metrics.recall_score(~truth, ~predicted, **none),
        "f1": metrics.f1_score(truth, predicted, **none),
        "f0.5": metrics.fbeta_score(truth, predicted, beta=0.5, **none),
        "f2": metrics.fbeta_score(truth, predicted, beta=2, **none),
        "accuracy": metrics.accuracy_score(truth, predicted),
    }
    if (
        truth.any() and not truth.all()
    ):  # balanced accuracy is the mean of recall and specificity, informedness + 1 / 2
        values["informedness"] = 2 * metrics.balanced_accuracy_score(truth, predicted) - 1
        if predicted.any() and not predicted.all():
            values["mcc"] = metrics.matthews_corrcoef(truth, predicted)
            values["kappa"] = metrics.cohen_kappa_score(truth, predicted)
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in values.items()
    }


THRESHOLD = 0.5
GROUPS = 120


@cache
def expected_figures() -> dict[int, dict[str, float | None]]:
    data = generated(GROUPS).with_columns(predicted=pl.col("score") >= THRESHOLD)
    return {
        q: figures(part["relevant"].to_numpy(), part["predicted"].to_numpy())
        for (q,), part in data.partition_by("q", as_dict=True).items()
    }


def assert_figures(found: pl.DataFrame, names: set[str]):
    assert found.height == GROUPS + 4
    compared = set()
    for row in found.iter_rows(named=True):
        for name, value in expected_figures()[row["q"]].items():
            if name not in names:
                continue
            if value is None:
                assert row[name] is None, (name, row)
            else:
                assert_close(row[name], value, (name, row))
                compared.add(name)
    assert compared == names


CONFUSION = {
    "tn",
    "fp",
    "fn",
    "tp",
    "precision",
    "recall",
    "npv",
    "specificity",
    "f1",
    "accuracy",
    "informedness",
}
CONFUSION |= {"mcc", "kappa"}


def test_the_confusion_table_at_a_threshold():
    assert_figures(
        generated(GROUPS).pr.confusion(
            "relevant", "score", threshold=THRESHOLD, by="q", rates="all"
        ),
        CONFUSION,
    )


def test_the_confusion_table_of_predicted_classes():
    data = generated(GROUPS).with_columns(predicted=pl.col("score") >= THRESHOLD)
    assert_figures(
        data.pr.confusion("relevant", prediction="predicted", by="q", rates="all"), CONFUSION
    )
    labels = data.with_columns(
        pl.col("relevant", "predicted").replace_strict({True: "spam", False: "ham"})
    )
    found = labels.pr.confusion(
        "relevant", prediction="predicted", positive="spam", by="q", rates="all"
    )
    assert_figures(found, CONFUSION)


def test_evaluate_at_a_threshold():
    names = {*CONFUSION, "f0.5", "f2"}
    # With a metric that ranks, the figures come from the blocks of the ranking.
    asked = [*(f"{name}@threshold={THRESHOLD}" for name in names), "tied_rows"]
    found = generated(GROUPS).pr.evaluate(asked, "relevant", "score", by="q")
    assert_figures(found.rename({f"{name}@threshold={THRESHOLD}": name for name in names}), names)


def test_figures_along_the_curve():
    # One group of classes of every size: the row of a block is the confusion table of its
    # threshold.
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"relevant": rng.random(300) < 0.4, "score": rng.integers(0, 40, 300)})
    truth, score = data["relevant"].to_numpy(), data["score"].to_numpy()
    names = {*figures(truth, score >= 0), *figures(truth, score >= 20)} - {
        "k",
        "tp",
        "precision",
        "recall",
    }
    curve = data.pr.curve("relevant", "score", rates=sorted(names))
    assert curve.height == len(np.unique(score))
    for row in curve.iter_rows(named=True):
        for name, value in figures(truth, score >= row["threshold"]).items():
            assert row[name] == (None if value is None else pytest.approx(value, abs=1e-12)), (
                name,
                row,
            )


def test_the_best_f():
    found = generated(GROUPS).pr.f_beta("relevant", "score", by="q")
    for q, best, threshold in found.rows():
        truth, score = group_arrays(GROUPS)[q]
        if not truth.any():
            assert (best, threshold) == (None, None)
            continue
        precision, recall, thresholds = metrics.precision_recall_curve(truth, score)
        positive = precision + recall > 0
        f1 = np.where(
            positive, 2 * precision * recall / np.where(positive, precision + recall, 1), 0
        )[:-1]
        assert_close(best, f1.max(), q)
        rank = thresholds[np.flatnonzero(f1 >= f1.max() - 1e-12)[-1]]
        own = generated(GROUPS).filter(q=q)["score"].to_numpy()
        assert {threshold} == set(own[score == rank] + 0.0), q


def test_precision_at_a_recall():
    found = generated(GROUPS).pr.evaluate(
        [f"precision@recall={r}" for r in (0.25, 0.5, 1)], "relevant", "score", by="q"
    )
    for q, *values in found.rows():
        truth, score = group_arrays(GROUPS)[q]
        for level, value in zip([0.25, 0.5, 1.0], values, strict=True):
            if not truth.any():
                assert value is None
                continue
            precision, recall, _ = metrics.precision_recall_curve(truth, score)
            assert_close(value, precision[np.flatnonzero(recall >= level)[-1]], q)
