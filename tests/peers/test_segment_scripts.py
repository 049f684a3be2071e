"""Scripts that people write by hand for segments and thresholds: one call each, equal values."""

import numpy as np
import polars as pl
import pytest
from compare import near
from scipy.stats import ks_2samp
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_recall_curve,
    roc_auc_score,
)

import frame_pr as fp

rng = np.random.default_rng(20)
ROWS = 3_000
LOGIT = rng.normal(size=ROWS)
DATA = pl.DataFrame(
    {
        "person": rng.integers(0, 400, ROWS),
        "country": rng.choice(["at", "be", "cz"], ROWS),
        "age": rng.choice(["young", "old"], ROWS),
        "season": rng.integers(2018, 2024, ROWS),
        "y": rng.random(ROWS) < 1 / (1 + np.exp(1.5 - LOGIT)),
        "p": (1 / (1 + np.exp(1.5 - LOGIT + rng.normal(size=ROWS)))).round(3),
    }
)
Y = DATA["y"].to_numpy()
P = DATA["p"].to_numpy()


def test_the_best_f1_with_a_recall_of_60_percent():
    precision, recall, thresholds = precision_recall_curve(Y, P)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    best = max(range(len(thresholds)), key=lambda i: (recall[i] >= 0.6, f1[i]))
    found = DATA.pr.evaluate(["max_f1@recall=0.6", "threshold@max_f1@recall=0.6"], "y", "p")
    assert found.row(0) == (near(f1[best]), thresholds[best])


def test_the_highest_precision_with_a_recall_of_80_percent():
    precision, recall, thresholds = precision_recall_curve(Y, P)
    best = max(range(len(thresholds)), key=lambda i: (recall[i] >= 0.8, precision[i]))
    goal = "max_precision@recall=0.8"
    found = DATA.pr.evaluate([goal, f"threshold@{goal}", f"recall@{goal}"], "y", "p")
    assert found.row(0) == (near(precision[best]), thresholds[best], near(recall[best]))


def test_a_table_of_deciles():
    # Distinct scores, so that the order of rows is that of the scores.
    data = DATA.with_columns(p=pl.col("p") + pl.int_range(pl.len()) * 1e-9)
    table = data.pr.gains_table("y", "p")
    deciles = np.array_split(data.sort("p", descending=True).select("p", "y").to_numpy(), 10)
    for row, decile in zip(table.iter_rows(named=True), deciles, strict=True):
        score, label = decile.T
        assert row["mean_score"] == near(score.mean())
        assert row["threshold"] == score.min()
        assert row["bin_precision"] == near(label.mean())
        assert row["bin_recall"] == near(label.sum() / Y.sum())
    events = table["tp"].diff(null_behavior="ignore")[1:]
    assert events.to_list() == [near(decile[:, 1].sum()) for decile in deciles[1:]]
    # The distance of Kolmogorov and Smirnov of both labels.
    distance = ks_2samp(P[Y], P[~Y]).statistic
    assert DATA.pr.evaluate("max_informedness", "y", "p").item() == near(distance)


def test_a_bootstrap_of_persons():
    shares = [f"precision@{share}%" for share in (1, 5, 10, 20)]
    names = ["average_precision", "roc_auc", "brier_score", "log_loss", *shares]
    found = DATA.pr.intervals(
        names, "y", "p", cluster="person", method="bootstrap", repeats=200, seed=3
    )
    values = dict(found.select("metric", "value").iter_rows())
    assert values["average_precision"] == near(average_precision_score(Y, P))
    assert values["roc_auc"] == near(roc_auc_score(Y, P))
    assert values["brier_score"] == near(brier_score_loss(Y, P))
    assert values["log_loss"] == near(log_loss(Y, P))
    assert found["n"].to_list() == [DATA["person"].n_unique()] * len(names)
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()

    # Persons drawn anew: the standard deviation of the replicates by the author's loop.
    rows_of = DATA.with_row_index().group_by("person").agg("index")["index"].to_list()
    draws = np.random.default_rng(1)
    replicates = []
    for _ in range(200):
        persons = draws.integers(0, len(rows_of), len(rows_of))
        rows = np.concatenate([rows_of[person] for person in persons])
        replicates.append(brier_score_loss(Y[rows], P[rows]))
    width = found.filter(metric="brier_score").select(pl.col("high") - pl.col("low")).item()
    assert width / (2 * 1.96) == pytest.approx(np.std(replicates), rel=0.3)


def test_slices_and_the_total():
    names = ["mean_score", "prevalence", "roc_auc"]
    found = DATA.pr.evaluate(names, "y", "p", slices=["country", "age", ["country", "age"]])
    assert found.height == 1 + 3 + 2 + 6
    parts = {
        ("all", "all"): DATA,
        ("country", "be"): DATA.filter(country="be"),
        ("age", "old"): DATA.filter(age="old"),
        ("country | age", "cz | young"): DATA.filter(country="cz", age="young"),
    }
    for (name, value), part in parts.items():
        y, p = part["y"].to_numpy(), part["p"].to_numpy()
        row = found.filter(slice=name, value=value).drop("slice", "value").row(0)
        expected = (len(y), y.sum(), near(p.mean()), near(y.mean()), near(roc_auc_score(y, p)))
        assert row == expected


def test_two_models_over_seasons():
    noise = np.random.default_rng(2).normal(0, 0.2, ROWS)
    both = pl.concat(
        [
            DATA.with_columns(model=pl.lit("first")),
            DATA.with_columns(model=pl.lit("second"), p=pl.Series((P + noise).clip(0, 1))),
        ]
    )
    names = ["roc_auc", "average_precision", "average_precision_lift"]
    pooled = both.pr.evaluate(names, "y", "p", by="model")
    seasons = both.pr.evaluate("precision@20", "y", "p", by="model", mean_over="season")
    compared = both.pr.compare(
        "average_precision", "y", "p", between="model", baseline="first", cluster="person"
    )
    values = {}
    for model in ("first", "second"):
        part = both.filter(model=model)
        y, p = part["y"].to_numpy(), part["p"].to_numpy()
        values[model] = average_precision_score(y, p)
        row = pooled.filter(model=model).drop("model").row(0)
        assert row == (
            near(roc_auc_score(y, p)),
            near(values[model]),
            near(values[model] / y.mean()),
        )
        tops = [
            fp.precision_at_k(season, "y", "p", k=20).item()
            for season in part.partition_by("season")
        ]
        mean = seasons.filter(model=model)["mean_precision@20"].item()
        assert mean == near(np.mean(tops))
    assert compared["difference"].item() == near(values["second"] - values["first"])
    assert compared["low"].item() < compared["difference"].item() < compared["high"].item()
