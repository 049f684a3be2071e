"""ROC, operating points, best thresholds and gains, against the tools of classifiers."""

import math
import warnings
from functools import cache

import numpy as np
import polars as pl
import pytest
from compare import near
from sklearn import metrics

LIMITS = [0.05, 0.2, 0.5, 0.9]


@cache
def segments(groups: int = 150) -> pl.DataFrame:
    """Groups with and without ties or classes; weights are shares of a power of 2: exact sums."""
    rng = np.random.default_rng(17)
    parts = []
    for group in range(groups):
        size = int(rng.choice([2, 3, 5, 12, 40]))
        score = rng.integers(1, 6, size) / 8 if group % 2 else rng.permutation(size) / 64
        truth = rng.random(size) < rng.choice([0.0, 0.2, 0.5, 1.0], p=[0.1, 0.4, 0.4, 0.1])
        weight, gain = rng.choice([0.25, 1.0, 2.5], size), rng.choice([0.0, 0.5, 1.0, 3.0], size)
        columns = {"truth": truth, "score": score, "weight": weight, "gain": gain}
        parts.append(pl.DataFrame(columns).with_columns(q=pl.lit(group)))
    return pl.concat(parts)


def parts() -> dict[int, pl.DataFrame]:
    return {q: part for (q,), part in segments().partition_by("q", as_dict=True).items()}


# scikit-learn
# ------------------------------------------------------------------------------------------------

WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def figures(names, *, weighted: bool, **options) -> dict[int, dict[str, float | None]]:
    given = {"weight": "weight"} if weighted else {}
    found = segments().pr.evaluate(names, "truth", "score", by="q", **given, **options)
    return {row["q"]: row for row in found.iter_rows(named=True)}


@WEIGHTED
def test_roc_auc(weighted):
    names = {"roc_auc": None, **{f"roc_auc@fpr={limit}": limit for limit in LIMITS}}
    found = figures(list(names), weighted=weighted)
    for q, part in parts().items():
        given = {"sample_weight": part["weight"].to_numpy() if weighted else None}
        for name, limit in names.items():
            if part["truth"].n_unique() < 2:
                # scikit-learn warns, and says that it is not a number.
                with pytest.warns(UserWarning, match="Only one class is present"):
                    assert math.isnan(metrics.roc_auc_score(part["truth"], part["score"], **given))
                assert found[q][name] is None
                continue
            theirs = metrics.roc_auc_score(part["truth"], part["score"], max_fpr=limit, **given)
            assert found[q][name] == near(float(theirs)), (q, name)


def operating_points(part: pl.DataFrame, *, weighted: bool):
    """Thresholds, descending, and precision, recall and false positive rate there."""
    truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
    given = {"sample_weight": part["weight"].to_numpy() if weighted else None}
    precision, recall, thresholds = metrics.precision_recall_curve(truth, score, **given)
    fpr, tpr, others = metrics.roc_curve(truth, score, drop_intermediate=False, **given)
    # The one has a last point without a threshold, the other a first.
    assert thresholds[::-1].tolist() == others[1:].tolist()
    assert recall[-2::-1] == pytest.approx(tpr[1:])
    return thresholds[::-1], precision[-2::-1], tpr[1:], fpr[1:]


@WEIGHTED
def test_at_a_precision_or_a_false_positive_rate(weighted):
    heads = ["recall", "threshold"]
    cuts = [f"precision={limit}" for limit in (0.3, 0.5, 0.75, 1.0)] + [
        f"fpr={limit}" for limit in (0.0, *LIMITS)
    ]
    found = figures([f"{head}@{cut}" for cut in cuts for head in heads], weighted=weighted)
    compared = 0
    for q, part in parts().items():
        if part["truth"].n_unique() < 2:
            continue
        thresholds, precision, recall, fpr = operating_points(part, weighted=weighted)
        for cut in cuts:
            rate, limit = cut.split("=")
            kept = precision >= float(limit) if rate == "precision" else fpr <= float(limit)
            best = recall[kept].max(initial=0)
            assert found[q][f"recall@{cut}"] == near(float(best)), (q, cut)
            first = thresholds[kept & (recall == best)]
            assert found[q][f"threshold@{cut}"] == (first[0] if best else None), (q, cut)
            compared += best > 0
    assert compared > 300


@WEIGHTED
def test_max_informedness(weighted):
    found = figures(["max_informedness", "threshold@max_informedness"], weighted=weighted)
    for q, part in parts().items():
        if part["truth"].n_unique() < 2:
            assert found[q]["max_informedness"] is None
            continue
        thresholds, _, recall, fpr = operating_points(part, weighted=weighted)
        best = max(0, (recall - fpr).max())  # roc_curve begins with nothing predicted, 0
        assert found[q]["max_informedness"] == near(float(best)), q
        at = found[q]["threshold@max_informedness"]
        if at is not None:
            assert (recall - fpr)[thresholds == at].item() == near(float(best))
            assert (recall - fpr)[thresholds > at].max(initial=-1) < best


@WEIGHTED
@pytest.mark.parametrize("ratio", [0.5, 1, 10])
def test_min_cost(weighted, ratio):
    found = figures([f"min_cost{ratio}", f"threshold@min_cost{ratio}"], weighted=weighted)
    for q, part in parts().items():
        truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
        weight = part["weight"].to_numpy() if weighted else np.ones(len(truth))
        costs = {}
        for threshold in [math.inf, *np.unique(score)[::-1]]:
            predicted = score >= threshold
            _, fp, fn, _ = metrics.confusion_matrix(
                truth, predicted, labels=[False, True], sample_weight=weight
            ).ravel()
            costs[threshold] = float((fp + ratio * fn) / weight.sum())
        least = min(costs.values())
        assert found[q][f"min_cost{ratio}"] == near(least), q
        first = next(threshold for threshold, cost in costs.items() if cost == least)
        assert found[q][f"threshold@min_cost{ratio}"] == (None if math.isinf(first) else first), q


@pytest.mark.parametrize("gain", ["gain", "truth"])
def test_gains(gain):
    # Tied scores are averaged there, too. Without a gain ndcg_score says 0.
    names = {
        f"{head}{at}": k
        for head in ("dcg", "ndcg")
        for at, k in (("", None), ("@1", 1), ("@3", 3), ("@100", 100))
    }
    found = figures(
        list(names), weighted=False, undefined=0.0, **({"gain": "gain"} if gain == "gain" else {})
    )
    for q, part in parts().items():
        # One row of zeros and ones would be labels to it: with a row of grades beside it, it is a
        # row of grades.
        grades = np.array([part[gain].cast(pl.Float64), np.arange(part.height) + 2.0])
        score = np.array([part["score"]] * 2)
        for name, k in names.items():
            measure = metrics.dcg_score if name.startswith("dcg") else metrics.ndcg_score
            both, other = (measure(rows, score, k=k) for rows in (grades, grades[[1, 1]]))
            assert found[q][name] == near(float(2 * both - other)), (q, name)


# scipy
# ------------------------------------------------------------------------------------------------


def test_kolmogorov_and_smirnov():
    stats = pytest.importorskip("scipy.stats")
    found = figures(["max_informedness"], weighted=False)
    for q, part in parts().items():
        if part["truth"].n_unique() == 2:
            positives, negatives = (
                part.filter(pl.col("truth") == truth)["score"] for truth in (True, False)
            )
            # One-sided: how far the positives lie to the right.
            theirs = stats.ks_2samp(
                positives, negatives, alternative="less", method="asymp"
            ).statistic
            assert found[q]["max_informedness"] == near(float(theirs)), q
            u = stats.mannwhitneyu(positives, negatives).statistic
            auc = part.pr.roc_auc("truth", "score").item()
            assert auc == near(float(u) / (len(positives) * len(negatives)))


# torchmetrics
# ------------------------------------------------------------------------------------------------


def torchmetrics():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch, pytest.importorskip("torchmetrics.functional.classification")


def test_torchmetrics():
    torch, classification = torchmetrics()
    names = ["roc_auc", *(f"roc_auc@fpr={limit}" for limit in LIMITS)]
    names += [
        f"{head}@{rate}={limit}"
        for limit in (0.25, 0.5, 0.75)
        for rate in ("precision", "fpr")
        for head in ("recall", "threshold")
    ]
    found = figures(names, weighted=False)
    for q, part in parts().items():
        score, truth = (
            torch.tensor(part["score"].to_list()),
            torch.tensor(part["truth"].cast(pl.Int8).to_list()),
        )
        ours = found[q]
        if part["truth"].n_unique() < 2:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert classification.binary_auroc(score, truth).item() == 0
            assert ours["roc_auc"] is None
            continue
        for limit in (None, *LIMITS):
            theirs = classification.binary_auroc(score, truth, max_fpr=limit).item()
            assert ours["roc_auc" if limit is None else f"roc_auc@fpr={limit}"] == pytest.approx(
                theirs, abs=1e-6
            )
        # Quarters of counts are exact in 32 bits, but for thirds, which are no limits here.
        for limit in (0.25, 0.5, 0.75):
            recall, threshold = classification.binary_recall_at_fixed_precision(
                score, truth, min_precision=limit
            )
            assert ours[f"recall@precision={limit}"] == pytest.approx(recall.item(), abs=1e-6), (
                q,
                limit,
            )
            if ours[f"threshold@precision={limit}"] is None:
                assert math.isnan(threshold.item())
            recall, threshold = classification.binary_sensitivity_at_specificity(
                score, truth, min_specificity=1 - limit
            )
            assert ours[f"recall@fpr={limit}"] == pytest.approx(recall.item(), abs=1e-6), (q, limit)
