"""Frames of classes and of lists, against scikit-learn and Spark's RankingMetrics."""

import numpy as np
import polars as pl
import pytest
from compare import near
from sklearn import metrics

import frame_pr as fp  # noqa: F401  registers .pr

CLASSES = ["ant", "bee", "cat", "dog"]


def predicted(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, (60, len(CLASSES))) / 8
    columns = {name: scores[:, i] for i, name in enumerate(CLASSES)}
    shown, guess = (rng.choice(CLASSES, 60, p=[0.4, 0.3, 0.2, 0.1]) for _ in range(2))
    return pl.DataFrame(columns | {"shown": shown, "guess": guess, "n": rng.integers(1, 5, 60)})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weight", [None, "n"])
def test_averages_of_scores(seed, weight):
    data = predicted(seed)
    long = data.pr.unpivot_classes("shown", CLASSES)
    given = {} if weight is None else {"weight": weight}
    shown = np.stack([data["shown"].to_numpy() == name for name in CLASSES], axis=1)
    peer = {"sample_weight": None if weight is None else data[weight].to_numpy()}
    scores = data.select(CLASSES).to_numpy()
    each = long.pr.average_precision("truth", "score", by="class", **given)[
        "average_precision"
    ].to_list()
    assert each == [
        near(one) for one in metrics.average_precision_score(shown, scores, average=None, **peer)
    ]
    macro = long.pr.evaluate(
        "average_precision", "truth", "score", by="class", mean_over="class", **given
    )
    assert macro["mean_average_precision"].item() == near(
        metrics.average_precision_score(shown, scores, **peer)
    )
    micro = long.pr.average_precision("truth", "score", **given).item()
    assert micro == near(metrics.average_precision_score(shown, scores, average="micro", **peer))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weight", [None, "n"])
def test_confusion_matrices(seed, weight):
    data = predicted(seed)
    given = {} if weight is None else {"weight": weight}
    table = data.pr.confusion_matrix("shown", "guess", classes=CLASSES, **given)
    peer = {"sample_weight": None if weight is None else data[weight].to_numpy(), "labels": CLASSES}
    for column, normalize in [("rows", None), ("of_truth", "true"), ("of_prediction", "pred")]:
        known = metrics.confusion_matrix(data["shown"], data["guess"], normalize=normalize, **peer)
        assert table[column].to_list() == [near(float(one)) for one in known.ravel()]


@pytest.mark.parametrize("seed", range(5))
def test_averages_of_predicted_labels(seed):
    data = predicted(seed)
    long = data.pr.unpivot_classes("shown", prediction="guess", classes=CLASSES)
    each = long.pr.confusion("truth", prediction="prediction", by="class", rates="all")
    micro = long.pr.confusion("truth", prediction="prediction", rates="all")
    for i, figure in enumerate(["precision", "recall", "f1"]):
        for average, table in [(None, each), ("micro", micro)]:
            known = metrics.precision_recall_fscore_support(
                data["shown"], data["guess"], labels=CLASSES, average=average, zero_division=np.nan
            )
            assert table[figure].to_list() == [
                near(one) for one in np.atleast_1d(known[i]).tolist()
            ]


@pytest.mark.filterwarnings(
    "ignore:Deprecated in 3.0.0:FutureWarning"
)  # pyspark's, of a call of its own
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("duplicates", ["miss", "drop"])
def test_lists(spark, duplicates):
    pytest.importorskip("pyspark.mllib.evaluation")
    from pyspark.mllib.evaluation import RankingMetrics

    rng = np.random.default_rng(5)
    users = [
        (
            rng.integers(0, 9, rng.integers(0, 7)).tolist(),
            rng.integers(0, 9, rng.integers(0, 5)).tolist(),
        )
        for _ in range(40)
    ]
    data = pl.DataFrame(
        {
            "user": range(40),
            "shown": [one for one, _ in users],
            "relevant": [sorted(set(one)) for _, one in users],
        },
        schema_overrides={"shown": pl.List(pl.Int64), "relevant": pl.List(pl.Int64)},
    )
    long = data.pr.explode_lists("relevant", "shown", by="user", duplicates=duplicates)
    names = ["precision@3", "recall@3", "average_precision", "average_precision@3", "ndcg@3"]
    ours = long.pr.evaluate(
        names, "truth", "score", by="user", mean_over="user", unscored="unretrieved", undefined=0.0
    )
    # With an item that nobody wants in the place of a second one, Spark counts it as a miss, too.
    pairs = []
    for shown, relevant in data.select("shown", "relevant").rows():
        again = [item if item not in shown[:i] else -1 - i for i, item in enumerate(shown)]
        pairs.append(
            ([item for item in again if item >= 0] if duplicates == "drop" else again, relevant)
        )
    theirs = RankingMetrics(spark.sparkContext.parallelize(pairs))
    known = [theirs.precisionAt(3), theirs.recallAt(3), theirs.meanAveragePrecision]
    known += [theirs.meanAveragePrecisionAt(3), theirs.ndcgAt(3)]
    assert [ours[f"mean_{name}"].item() for name in names] == [near(one) for one in known]
