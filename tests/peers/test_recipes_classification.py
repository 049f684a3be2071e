"""The recipes of docs/migration.md for classifiers, against the tools or published values."""

import math

import numpy as np
import polars as pl
import pytest
from compare import near
from sklearn import metrics as sklearn_metrics

# scikit-learn
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    data = pl.DataFrame(
        {
            "label": rng.choice(["ham", "spam"], 60),
            "score": rng.integers(0, 12, 60) / 4,
            "weight": rng.choice([0.0, 0.5, 1.25, 3.0], 60),
        }
    )
    label, score, weight = (data[name].to_numpy() for name in data.columns)
    expected = sklearn_metrics.average_precision_score(
        label, score, pos_label="spam", sample_weight=weight
    )
    found = data.pr.average_precision("label", "score", positive="spam", weight="weight").item()
    assert found == near(float(expected))
    curve = data.pr.curve("label", "score", positive="spam", rates="all")
    precision, recall, _ = sklearn_metrics.precision_recall_curve(label, score, pos_label="spam")
    assert [*curve["precision"].reverse(), 1.0] == pytest.approx(precision)
    assert [*curve["recall"].reverse(), 0.0] == pytest.approx(recall)


def test_scikit_learn_without_positives():
    with pytest.warns(UserWarning, match="No positive"):
        expected = sklearn_metrics.average_precision_score([0, 0], [0.5, 0.25])
    data = pl.DataFrame({"label": [0, 0], "score": [0.5, 0.25]})
    assert data.pr.average_precision("label", "score", undefined=0.0).item() == expected == 0


# yardstick
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "prob", "threshold", "recall", "precision", "pr_auc"),
    # From its tests of pr_curve and pr_auc.
    [
        (
            "xxyy",
            [0.9, 0.8, 0.4, 0.3],
            [0.9, 0.8, 0.4, 0.3],
            [1 / 2, 1, 1, 1],
            [1, 1, 2 / 3, 1 / 2],
            1,
        ),
        ("xxyy", [0.9, 0.8, 0.3, 0.3], [0.9, 0.8, 0.3], [1 / 2, 1, 1], [1, 1, 1 / 2], 1),
        ("xxyy", [0.9, 0.9, 0.4, 0.3], [0.9, 0.4, 0.3], [1, 1, 1], [1, 2 / 3, 1 / 2], 1),
        (
            "xyyxx",
            [0.9, 0.9, 0.8, 0.4, 0.3],
            [0.9, 0.8, 0.4, 0.3],
            [1 / 3, 1 / 3, 2 / 3, 1],
            [1 / 2, 1 / 3, 1 / 2, 3 / 5],
            0.572222222222222,
        ),
    ],
    ids=["separated", "tied last", "tied first", "both classes tied"],
)
def test_yardstick(truth, prob, threshold, recall, precision, pr_auc):
    data = pl.DataFrame({"truth": list(truth), "prob": prob})
    curve = data.pr.curve("truth", "prob", positive="x", rates="all")
    assert curve["threshold"].to_list() == threshold
    assert curve["recall"].to_list() == pytest.approx(recall)
    assert curve["precision"].to_list() == pytest.approx(precision)
    # Its curve begins at recall 0 and precision 1, and pr_auc is the area below straight lines.
    before = pl.col("precision").shift(1, fill_value=1.0)
    area = curve.select((pl.col("recall_step") * (pl.col("precision") + before) / 2).sum()).item()
    assert area == pytest.approx(pr_auc)
    # average_precision is the area below the steps to these points.
    steps = np.diff([0, *recall]) @ np.array(precision)
    assert data.pr.average_precision("truth", "prob", positive="x").item() == pytest.approx(steps)


def test_yardstick_without_events():
    # From its tests of average_precision: one row, "a" is the event; 1 where it is one, NaN where
    # it is not.
    events = pl.DataFrame({"truth": [True, False], "case": ["a", "b"], "prob": [0.9, 0.9]})
    found = events.pr.average_precision("truth", "prob", by="case", undefined=math.nan)[
        "average_precision"
    ]
    assert found[0] == 1
    assert math.isnan(found[1])
