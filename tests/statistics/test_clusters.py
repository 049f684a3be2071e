"""Clusters of rows, and clusters of groups such as the queries of a user."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from compare import assert_same, near
from scipy import special, stats

import frame_pr as fp

# Three users. Their reciprocal ranks: 1, 1/2 and 1/2; 1/2; 1 and 1.
SEARCHES = pl.DataFrame(
    {
        "user": ["a", "a", "a", "a", "a", "a", "b", "b", "c", "c", "c", "c"],
        "query": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],
        "clicked": [1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0],
        "old": [2, 1] * 6,
        "new": [2, 1, 1, 2, 1, 2, 2, 1, 1, 2, 2, 1],
    }
)
RANK = "reciprocal_rank"


def queries_of_users(seed: int, users: int, most: int = 1) -> pl.DataFrame:
    """Six documents for each query; `most` queries for each user, or up to as many if negative."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 1 - most, users) if most < 0 else np.full(users, most)
    user = np.repeat(np.arange(users), sizes)
    n = len(user) * 6
    truth = np.arange(n) % 6 < 2
    skill = rng.normal(size=users)[user].repeat(6)
    columns = {"user": user.repeat(6), "query": np.arange(n) // 6, "t": truth}
    scores = {name: rng.normal(size=n) + truth * (1 + skill) for name in "ab"}
    return pl.DataFrame(columns | scores)


def least_squares(frame: pl.DataFrame, column: str):
    """The mean of a column with standard errors of clusters, by statsmodels."""
    groups = {"groups": frame["user"].to_numpy()}
    values = frame[column].to_numpy()
    model = sm.OLS(values, np.ones(len(values)))
    return model.fit(cov_type="cluster", cov_kwds=groups, use_t=True)


def test_known_answer_of_queries_of_users():
    # The mean is 4.5 / 6 = 3/4. Without a user, it is 2.5/3, 4/5 and 2.5/4: 1/12 and 1/20 more, and
    # 1/8 less. The jackknife of 3 users multiplies the squares by 2/3. Users with 3, 1 and 2
    # queries are as good as n = 6^2 / 14 = 18/7 users, so the degrees of freedom are 11/7.
    call = {"mean_over": "query", "cluster": "user", "details": True}
    (row,) = fp.intervals(SEARCHES, RANK, "clicked", "old", **call).to_dicts()
    error = (2 / 3 * (1 / 144 + 1 / 400 + 1 / 64)) ** 0.5
    assert (row["value"], row["standard_error"]) == (0.75, near(error))
    reach = stats.t.ppf(0.975, 11 / 7) * error / (0.75 * 0.25)
    logit = special.logit(0.75)
    assert (row["low"], row["high"]) == tuple(
        map(near, special.expit([logit - reach, logit + reach]))
    )
    # A paired test is that of the differences of queries.
    values = fp.evaluate(SEARCHES, RANK, "clicked", ["old", "new"], by=["user", "query"])
    paired = fp.compare(SEARCHES, RANK, "clicked", ["old", "new"], **call).row(0, named=True)
    wide = values.pivot("system", index=["user", "query"], values=RANK)
    d = (wide["new"] - wide["old"]).to_numpy()
    changes = [d[wide["user"].to_numpy() != user].mean() - d.mean() for user in "abc"]
    assert paired["standard_error"] == near((2 / 3 * sum(x * x for x in changes)) ** 0.5)
    assert (paired["n_system"], paired["method"]) == (3, "paired t over 3 clusters of user")


@pytest.mark.parametrize("metric", [RANK, "mean_rank"])
def test_users_of_equal_size_are_those_of_statsmodels(metric):
    data = queries_of_users(0, users=30, most=4)
    values = fp.evaluate(data, metric, "t", ["a", "b"], by=["user", "query"])
    fit = least_squares(values.filter(system="a"), metric)
    call = {"mean_over": "query", "cluster": "user", "details": True}
    (row,) = fp.intervals(data, metric, "t", "a", **call).to_dicts()
    assert (row["value"], row["standard_error"]) == (near(fit.params[0]), near(fit.bse[0]))
    if metric == "mean_rank":
        assert (row["low"], row["high"]) == tuple(map(near, fit.conf_int()[0]))
    # A paired test is that of the differences.
    wide = values.pivot("system", index=["user", "query"], values=metric)
    fit = least_squares(wide.with_columns(d=pl.col("b") - pl.col("a")), "d")
    compared = fp.compare(data, metric, "t", ["a", "b"], **call)
    row = compared.row(0, named=True)
    numbers = (row["difference"], row["standard_error"], row["p_value"], row["low"], row["high"])
    assert numbers == tuple(
        map(near, (fit.params[0], fit.bse[0], fit.pvalues[0], *fit.conf_int()[0]))
    )
    # A frame of metrics has the same test.
    by_values = fp.compare(values, metric, between="system", correction=None, **call)
    assert_same(by_values, compared)


@pytest.mark.parametrize("users", [12, 40])
def test_users_of_unequal_size_have_the_error_of_a_jackknife(users):
    data = queries_of_users(users, users, most=-9)
    values = fp.evaluate(data, RANK, "t", "a", by=["user", "query"])
    call = {"mean_over": "query", "cluster": "user", "details": True}
    of_values = fp.intervals(values, RANK, **call)
    assert_same(of_values, fp.intervals(data, RANK, "t", "a", **call))
    row = of_values.row(0, named=True)
    means = [values.filter(pl.col("user") != user)[RANK].mean() for user in range(users)]
    changes = np.array(means) - values[RANK].mean()
    expected = ((users - 1) / users * (changes**2).sum()) ** 0.5
    assert row["standard_error"] == near(expected)
    # The error of statsmodels, which is too small, divides by no share that is left.
    assert row["standard_error"] > least_squares(values, RANK).bse[0]
    assert row["n"] == users


@pytest.mark.parametrize("users", [12, 40])
def test_rows_of_users_have_the_error_of_a_jackknife(users):
    rng = np.random.default_rng(users)
    user = np.sort(rng.integers(0, users, 900) * rng.integers(1, 3, 900) // 2)
    truth = rng.random(900) < rng.beta(2, 5, users)[user]
    scores = {name: rng.normal(size=900) + truth + rng.normal(size=users)[user] for name in "ab"}
    data = pl.DataFrame({"user": user, "t": truth, **scores})
    # Shares change without a cluster exactly as computed, and other metrics nearly so.
    close = dict.fromkeys(["recall@threshold=0.5", "precision@threshold=0.5"], 1e-9)
    close |= {"f1@threshold=0.5": 0.05, "roc_auc": 0.05, "average_precision": 0.2}
    names = [*close]
    parts = []
    for left_out in data["user"].unique():
        rest = data.filter(pl.col("user") != left_out)
        parts.append(fp.evaluate(rest, names, "t", ["a", "b"]))
    values = pl.concat(parts)
    of_a, of_b = (values.filter(system=name).select(names).to_numpy() for name in "ab")
    n = len(of_a)

    def jackknife(left_out, system):
        whole = fp.evaluate(data, names, "t", system).select(names).to_numpy()
        return left_out - whole

    changes = jackknife(of_a, "a")
    errors = np.sqrt((n - 1) / n * (changes**2).sum(axis=0))
    found = fp.intervals(data, names, "t", "a", cluster="user", details=True)
    paired = fp.compare(data, names, "t", ["a", "b"], cluster="user", details=True)
    differences = jackknife(of_b, "b") - changes
    of_pairs = np.sqrt((n - 1) / n * (differences**2).sum(axis=0))
    for m, name in enumerate(names):
        for table, expected in ((found, errors), (paired, of_pairs)):
            error = table.filter(metric=name)["standard_error"].item()
            assert error == pytest.approx(expected[m], rel=close[name])


def test_flips_of_clusters():
    # The units of a user are flipped together: 3 users, 8 flips. The sums of their differences are
    # 2, -1 and 3 times 1/2: |2 - 1 + 3| is reached by 2 + 1 + 3 and 2 - 1 + 3.
    data = pl.DataFrame(
        {
            "user": ["a", "a", "b", "c", "c", "c"],
            "q": range(6),
            "old": [0.0] * 6,
            "new": [0.5, 0.5, -0.5, 0.5, 0.5, 0.5],
        }
    ).unpivot(["old", "new"], index=["user", "q"], variable_name="system", value_name="m")
    call = {"mean_over": "q", "cluster": "user", "baseline": "old", "test": "permutation"}
    row = fp.compare(data, "m", details=True, **call).row(0, named=True)
    assert row["p_value"] == 4 / 8
    assert row["method"] == "sign flips over 3 clusters of user"
    # Of one side, all flips with a sum of 4 or more: 2 + 1 + 3 and 2 - 1 + 3.
    row = fp.compare(data, "m", alternative="greater", details=True, **call).row(0, named=True)
    assert row["p_value"] == 2 / 8


@pytest.mark.parametrize("metric", ["average_precision", "roc_auc"])
def test_each_row_as_its_own_cluster_is_the_sample_of_rows(metric):
    rng = np.random.default_rng(4)
    truth = rng.random(400) < 0.05
    data = pl.DataFrame({"id": range(400), "t": truth, "s": rng.normal(size=400) + truth})
    rows = fp.intervals(data, metric, "t", "s", details=True).row(0, named=True)
    alone = fp.intervals(data, metric, "t", "s", cluster="id", details=True).row(0, named=True)
    # For P positives, the jackknife divides by 1 - 1/P where rows multiply squares by P / (P - 1):
    # the error is larger by less than (P / (P - 1))^(1/2).
    positives = data["t"].sum()
    factor = alone["standard_error"] / rows["standard_error"]
    assert 1 <= factor < (positives / (positives - 1)) ** 0.5
    for name in ("value", "low", "high"):
        assert alone[name] == pytest.approx(rows[name], rel=0.05)


def test_clusters_of_groups_without_a_value_are_no_evidence():
    perfect = [("A", image, t, t + 0.5) for image in (1, 2) for t in (1, 0)]
    ones = [("B", image, 1, 0.5) for image in range(100, 130)]
    zeros = [("C", image, 0, 0.5) for image in range(200, 230)]
    schema = ["class", "image", "t", "s"]
    call = {"mean_over": "class", "cluster": "image", "details": True}
    few = fp.intervals(
        pl.DataFrame(perfect, schema=schema, orient="row"), "roc_auc", "t", "s", **call
    )
    many = fp.intervals(
        pl.DataFrame(perfect + ones + zeros, schema=schema, orient="row"),
        "roc_auc",
        "t",
        "s",
        **call,
    )
    # Two images, each with a positive and a negative: (.05 / 2)^(1/2).
    assert few.select("value", "low", "high").row(0) == (1.0, near(0.025**0.5), 1.0)
    assert_same(many.drop("undefined"), few.drop("undefined"))
    assert many["undefined"].item() == 2


def test_a_difference_without_a_value_has_no_error():
    data = pl.DataFrame({"t": [0, 0, 0], "a": [1, 2, 3], "b": [3, 1, 2], "c": [1, 1, 2]})
    for more in ({}, {"cluster": "c"}):
        row = fp.compare(data, "roc_auc", "t", ["a", "b"], details=True, **more).row(0, named=True)
        assert (row["difference"], row["standard_error"], row["p_value"]) == (None, None, None)


def test_groups_in_several_clusters_are_rows_in_clusters():
    # Images across classes: ndcg has no closed form there, and average precision has.
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.3
    columns = {"class": np.arange(300) % 5, "image": np.arange(300) // 5, "t": truth}
    data = pl.DataFrame(columns | {"s": rng.normal(size=300) + truth})
    call = {"mean_over": "class", "cluster": "image"}
    with pytest.raises(ValueError, match="ndcg has no closed form where rows are sampled"):
        fp.intervals(data, "ndcg", "t", "s", method="closed", **call)
    found = fp.intervals(data, "average_precision", "t", "s", details=True, **call)
    drawn = fp.intervals(data, "average_precision", "t", "s", sampled="rows", details=True, **call)
    assert_same(found, drawn)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_clusters_of_every_frame(kind):
    data = queries_of_users(1, users=12, most=-5)
    make = {
        "polars": pl.DataFrame.clone,
        "lazy": pl.DataFrame.lazy,
        "pandas": pl.DataFrame.to_pandas,
    }
    frame = make[kind](data.with_columns(user=pl.format("user {}", "user")))
    found = fp.compare(frame, RANK, "t", ["a", "b"], mean_over="query", cluster="user")
    found = pl.from_pandas(found) if kind == "pandas" else found.lazy().collect()
    expected = fp.compare(data, RANK, "t", ["a", "b"], mean_over="query", cluster="user")
    assert_same(found, expected)


def test_what_is_refused():
    values = pl.DataFrame({"q": [1, 2], "m": [0.1, 0.2]})
    for users in (["a", None], [1.0, float("nan")]):
        of_users = values.with_columns(user=pl.Series(users))
        with pytest.raises(ValueError, match="cluster column 'user' has 1 missing of 2 values"):
            fp.intervals(of_users, "m", mean_over="q", cluster="user")
    with pytest.raises(ValueError, match="no column 'usr' in the frame; did you mean 'user'"):
        fp.intervals(of_users, "m", mean_over="q", cluster="usr")
    # A query that only the known totals have belongs to no user.
    totals = pl.DataFrame({"query": [1, 2, 3, 4, 5, 6, 7], "P": [1, 1, 1, 1, 1, 1, 2]})
    call = {"mean_over": "query", "cluster": "user", "total_positives": totals}
    with pytest.raises(ValueError, match="cluster=: 1 groups of a frame of totals have no rows"):
        fp.intervals(SEARCHES, "recall@1", "clicked", "old", **call)
    call["total_positives"] = totals.head(6)
    assert fp.intervals(SEARCHES, "recall@1", "clicked", "old", **call)["value"].item() == 0.5
