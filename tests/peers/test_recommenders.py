"""Metrics of recommendation lists, against RecTools, RePlay and Implicit, each where it is installed."""

import numpy as np
import polars as pl
import pytest

import frame_pr as fp

RNG = np.random.default_rng(7)
USERS, ITEMS, K = 400, 60, 10
SHOWN = [RNG.permutation(ITEMS)[:K].tolist() for _ in range(USERS)]
WANTED = [RNG.permutation(ITEMS)[: RNG.integers(1, 14)].tolist() for _ in range(USERS)]
LISTS = pl.DataFrame({"user": range(USERS), "shown": SHOWN, "wanted": WANTED})
TRIPLES = [(user, item, rank) for user, items in enumerate(SHOWN) for rank, item in enumerate(items, 1)]
PAIRS = [(user, item) for user, items in enumerate(WANTED) for item in items]


def mean_of(name: str) -> float:
    rows = fp.explode_lists(LISTS, "wanted", "shown", by="user")
    call = {"by": "user", "mean_over": "user", "unscored": "unretrieved", "undefined": 0.0}
    return fp.evaluate(rows, {"mean": name}, "truth", "score", **call)["mean"].item()


@pytest.mark.filterwarnings("ignore")
def test_rectools():
    metrics, pd = pytest.importorskip("rectools.metrics"), pytest.importorskip("pandas")
    reco = pd.DataFrame(TRIPLES, columns=["user_id", "item_id", "rank"])
    names = {
        "precision@10": metrics.Precision(k=K),
        "recall@10/min": metrics.Precision(k=K, r_precision=True),
        "recall@10": metrics.Recall(k=K),
        "f1@10": metrics.F1Beta(k=K),
        "success@10": metrics.HitRate(k=K),
        "reciprocal_rank@10": metrics.MRR(k=K),
        "average_precision@10/positives": metrics.MAP(k=K),
        "ndcg@10": metrics.NDCG(k=K, divide_by_achievable=True),
        "dcg@10": metrics.NDCG(k=K),
    }
    theirs = metrics.calc_metrics(names, reco, pd.DataFrame(PAIRS, columns=["user_id", "item_id"]))
    ours = {name: mean_of(name) for name in names}
    # Its default divides by the DCG of ten hits, whatever the user wants.
    ours["dcg@10"] /= sum(1 / np.log2(rank + 1) for rank in range(1, K + 1))
    assert theirs == pytest.approx(ours, abs=1e-12)
    assert (round(theirs["dcg@10"], 4), round(theirs["ndcg@10"], 4)) == (0.1107, 0.136)


def test_replay():
    metrics = pytest.importorskip("replay.metrics")
    recommended = pl.DataFrame(
        [(u, i, float(-r)) for u, i, r in TRIPLES], ["query_id", "item_id", "rating"], orient="row"
    )
    wanted = pl.DataFrame(PAIRS, ["query_id", "item_id"], orient="row")
    names = {
        "precision@10": "Precision",
        "recall@10": "Recall",
        "success@10": "HitRate",
        "reciprocal_rank@10": "MRR",
        "average_precision@10": "MAP",
        "ndcg@10": "NDCG",
    }
    for ours, name in names.items():
        theirs = getattr(metrics, name)([K])(recommended, wanted)[f"{name}@{K}"]
        assert theirs == pytest.approx(mean_of(ours), abs=1e-12)


def test_implicit():
    evaluation, sparse = pytest.importorskip("implicit.evaluation"), pytest.importorskip("scipy.sparse")
    ids = np.array(SHOWN, dtype=np.int32)

    class Fixed:
        """A model that recommends these lists."""

        def recommend(self, users, _rows, N=10, **_options):
            return ids[users][:, :N], np.ones((len(users), N), dtype=np.float32)

    users, items = zip(*PAIRS, strict=True)
    test = sparse.csr_matrix((np.ones(len(PAIRS)), (users, items)), shape=(USERS, ITEMS))
    theirs = evaluation.ranking_metrics_at_k(Fixed(), sparse.csr_matrix((USERS, ITEMS)), test, K=K, show_progress=False)
    assert theirs["map"] == pytest.approx(mean_of("average_precision@10"), abs=1e-12)
    assert theirs["ndcg"] == pytest.approx(mean_of("ndcg@10"), abs=1e-12)
    hits = sum(len({*shown} & {*wanted}) for shown, wanted in zip(SHOWN, WANTED, strict=True))
    assert theirs["precision"] == pytest.approx(hits / sum(min(K, len(wanted)) for wanted in WANTED), abs=1e-12)
