"""The table of docs/coming_from.md for recommenders, which .ci/run installs without what it requires: older pandas."""

import random

import pandas as pd
import polars as pl
import pytest
from compare import near

pytestmark = [pytest.mark.slow, pytest.mark.peers]

POLICIES = {"unscored": "unretrieved", "undefined": 0.0}
# Theirs, ours. Of r_precision the test takes lists of at most 10 relevant items, and users with a hit among them.
SAME = {
    "precision_at_k": "precision@10",
    "recall_at_k": "recall@10",
    "map": "average_precision@10/positives",
    "map_at_k": "average_precision@10",
    "ndcg_at_k": "ndcg@10",
}


@pytest.fixture(scope="module")
def peer():
    return pytest.importorskip("recommenders.evaluation.python_evaluation")


@pytest.fixture(scope="module")
def users():
    """Both lists of every user, neither empty: theirs are means over the users of both frames."""
    draw = random.Random(5)
    items = range(40)
    rows = [
        (user, draw.sample(items, draw.randint(1, 25)), draw.sample(items, draw.randint(1, 9))) for user in range(80)
    ]
    return pl.DataFrame(rows, schema=["user", "shown", "wanted"], orient="row")


def frames(users):
    """What they take: ratings of what is wanted, and predictions of what is shown."""
    wanted, shown = users.select("user", "wanted").explode("wanted"), users.select("user", "shown").explode("shown")
    rating = pd.DataFrame({"userID": wanted["user"], "itemID": wanted["wanted"], "rating": 1.0})
    score = -pl.int_range(pl.len()).over("user")
    prediction = pd.DataFrame({"userID": shown["user"], "itemID": shown["shown"]})
    return rating, prediction.assign(prediction=shown.select(score.cast(pl.Float64)).to_series())


@pytest.mark.parametrize("theirs", SAME)
def test_means_over_users(peer, users, theirs):
    rows = users.pr.explode_lists("wanted", "shown", by="user")
    ours = rows.pr.evaluate({"ours": SAME[theirs]}, "truth", "score", by="user", mean_over="user", **POLICIES)
    found = getattr(peer, theirs)(*frames(users), col_prediction="prediction", k=10)
    assert ours["ours"].item() == near(float(found))


def test_exponential_gains(peer, users):
    rows = users.pr.explode_lists("wanted", "shown", by="user").with_columns(
        rating=pl.col("truth") * (pl.col("item") % 4 + 1)
    )
    rating, prediction = frames(users)
    rating["rating"] = rating["itemID"] % 4 + 1.0
    ours = rows.pr.evaluate(
        {"ours": "ndcg@10"}, "truth", "score", by="user", mean_over="user", gain=2 ** pl.col("rating") - 1, **POLICIES
    )
    found = peer.ndcg_at_k(rating, prediction, col_prediction="prediction", k=10, score_type="exp")
    assert ours["ours"].item() == near(float(found))


def test_the_area_under_the_roc_curve(peer):
    draw = random.Random(2)
    rows = [(user, item, draw.random() < 0.4, draw.randint(0, 9) / 10) for user in range(6) for item in range(20)]
    data = pl.DataFrame(rows, schema=["userID", "itemID", "y", "s"], orient="row")
    pandas = data.to_pandas()
    rating = pandas[["userID", "itemID"]].assign(rating=pandas["y"].astype(int))
    found = peer.auc(rating, pandas[["userID", "itemID"]].assign(prediction=pandas["s"]), col_prediction="prediction")
    assert data.pr.roc_auc("y", "s").item() == near(float(found))


def test_lists_of_the_how_to(peer):
    # Both lists of a and b only: 1/2, 2/3 and 7/12, as tests/reshaping/test_lists.py has them by hand.
    users = pl.DataFrame({"user": ["a", "b"], "shown": [[1, 2, 3, 4], [1, 2, 5]], "wanted": [[2, 4, 9], [1, 2]]})
    found = [getattr(peer, name)(*frames(users), col_prediction="prediction", k=3) for name in list(SAME)[:2]]
    found.append(peer.map_at_k(*frames(users), col_prediction="prediction", k=3))
    assert found == [near(1 / 2), near(2 / 3), near(7 / 12)]
