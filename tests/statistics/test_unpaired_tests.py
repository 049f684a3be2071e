"""compare(between=): groups of different rows, and one score."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from compare import assert_same, near
from scipy import stats
from statsmodels.stats import proportion

import frame_pr as fp

AP, AUC, RECALL = "average_precision", "roc_auc", "recall@threshold=0.5"
METRICS = [AP, AUC, RECALL, "f1@threshold=0.5"]


def scored(seed: int = 0, rows: int = 400, groups: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    return pl.DataFrame(
        {
            "week": rng.integers(0, groups, rows),
            "user": rng.integers(0, 40, rows),
            "segment": rng.choice(["a", "b"], rows),
            "t": truth,
            "s": rng.normal(size=rows).round(1) + truth,
        }
    )


def compared(data, metrics=AP, **arguments) -> pl.DataFrame:
    return fp.compare(data, metrics, "t", "s", **({"between": "week", "details": True} | arguments))


def positives(caught: int, number: int) -> list[float]:
    return [1.0] * caught + [0.0] * (number - caught)


def test_known_answer():
    # Newcombe (1998), table II, case (a): 56 of 70 and 48 of 80 differ by 0.2, between 0.0524 and
    # 0.3339.
    data = pl.DataFrame(
        {"arm": ["a"] * 80 + ["b"] * 70, "t": True, "s": positives(48, 80) + positives(56, 70)}
    )
    result = fp.compare(data, RECALL, "t", "s", between="arm", details=True)
    (row,) = result.iter_rows(named=True)
    assert (row["metric"], row["baseline"], row["system"]) == (RECALL, "a", "b")
    assert (row["n_baseline"], row["n_system"]) == (80, 70)
    assert (row["value_baseline"], row["value_system"], row["difference"]) == (0.6, 0.8, near(0.2))
    assert (round(row["low"], 4), round(row["high"], 4)) == (0.0524, 0.3339)
    assert row["standard_error"] == near((0.8 * 0.2 / 70 + 0.6 * 0.4 / 80) ** 0.5)
    # At this error rate the interval ends at 0.
    assert row["p_value"] == row["p_adjusted"]
    assert row["method"] == "Newcombe over 80 and 70 rows"
    at_0 = proportion.confint_proportions_2indep(
        56, 70, 48, 80, method="newcomb", compare="diff", alpha=row["p_value"]
    )
    assert at_0[0] == pytest.approx(0, abs=1e-9)


def test_shares_are_those_of_statsmodels():
    for row in compared(scored(), RECALL).iter_rows(named=True):
        counts = [
            scored()
            .filter(pl.col("t"), week=row[side])
            .select((pl.col("s") >= 0.5).sum(), n=pl.len())
            .row(0)
            for side in ("system", "baseline")
        ]
        (b, of_b), (a, of_a) = counts
        low, high = proportion.confint_proportions_2indep(
            b, of_b, a, of_a, method="newcomb", compare="diff"
        )
        assert (row["low"], row["high"]) == (near(low), near(high))
        # The pooled z-test is another test, and close.
        assert row["p_value"] == pytest.approx(
            proportion.proportions_ztest([b, a], [of_b, of_a])[1], rel=0.15
        )


def test_means_of_numbers_are_those_of_scipy():
    own = scored().with_columns(user=pl.col("user") * 3 + pl.col("week"))
    values = fp.evaluate(own, "mean_rank", "t", "s", by=["week", "user"])
    result = fp.compare(values, "mean_rank", mean_over="user", between="week", details=True)
    assert_same(result, compared(own, "mean_rank", mean_over="user"))
    for row in result.iter_rows(named=True):
        a, b = (
            values.filter(week=row[side])["mean_rank"].drop_nulls().to_numpy()
            for side in ("baseline", "system")
        )
        expected = stats.ttest_ind(b, a, equal_var=False)
        low, high = expected.confidence_interval()
        assert (row["p_value"], row["low"], row["high"]) == (
            near(expected.pvalue),
            near(low),
            near(high),
        )
        assert (row["n_baseline"], row["n_system"]) == (len(a), len(b))
        assert row["method"] == f"Welch over {len(a)} and {len(b)} groups of user"


def test_means_of_shares_combine_the_intervals_of_both_groups():
    own = scored().with_columns(user=pl.col("user") * 3 + pl.col("week"))
    sides = fp.intervals(own, AP, "t", "s", by="week", mean_over="user").sort("week").to_dicts()
    for row in compared(own, mean_over="user").iter_rows(named=True):
        a, b = sides[row["baseline"]], sides[row["system"]]
        assert row["low"] == near(
            row["difference"] - np.hypot(b["value"] - b["low"], a["high"] - a["value"])
        )
        assert row["high"] == near(
            row["difference"] + np.hypot(b["high"] - b["value"], a["value"] - a["low"])
        )
        assert row["method"].startswith("Newcombe over ")


def test_all_hits_against_no_hits():
    # The bounds of 100 of 100 are .025^(1 / 100) and 1, and those of 0 of 100 the mirror image.
    least = 0.025**0.01
    data = pl.DataFrame({"arm": ["a"] * 100 + ["b"] * 100, "success@1": [1.0] * 100 + [0.0] * 100})
    (row,) = fp.compare(data, "success@1", between="arm", details=True).to_dicts()
    assert (row["difference"], row["low"]) == (-1, -1)
    assert row["high"] == near(-1 + 2**0.5 * (1 - least))
    # The interval contains 0 if 2^(1/2) (1 - (alpha / 2)^(1 / 100)) is 1.
    assert row["p_value"] == pytest.approx(2 * (1 - 2**-0.5) ** 100, rel=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_interval_combines_those_of_both_groups(metric, confidence):
    data = scored(groups=2)
    a, b = (
        fp.intervals(data, metric, "t", "s", by="week", confidence=confidence)
        .sort("week")
        .iter_rows(named=True)
    )
    (row,) = compared(data, metric, confidence=confidence).iter_rows(named=True)
    assert row["low"] == near(
        row["difference"] - np.hypot(b["value"] - b["low"], a["high"] - a["value"])
    )
    assert row["high"] == near(
        row["difference"] + np.hypot(b["high"] - b["value"], a["value"] - a["low"])
    )


@pytest.mark.filterwarnings("ignore:compare. .* depends on the prevalence")
@pytest.mark.parametrize("more", [{}, {"cluster": "user", "paired": False}], ids=str)
@pytest.mark.parametrize("seed", [0])
def test_the_p_value_is_where_the_interval_ends_at_0(seed, more):
    data = scored(seed, rows=120).with_columns(s=pl.col("s") + pl.col("t") * pl.col("week"))
    rows = compared(data, METRICS, **more).filter(pl.col("p_value").is_between(1e-9, 0.49))
    assert rows.height > 3
    for row in rows.iter_rows(named=True):
        # p does not depend on the confidence, and at the confidence 1 - p a bound is 0.
        again = compared(
            data, row["metric"], confidence=1 - row["p_value"], baseline=row["baseline"], **more
        )
        again = again.filter(system=row["system"])
        assert again["p_value"].item() == pytest.approx(row["p_value"], rel=1e-9)
        assert again.select(pl.min_horizontal(pl.col("low", "high").abs())).item() < 1e-8


def test_a_perfect_group_has_an_error():
    # 4 rows against 120: the interval reaches over 0, and so the p-value is large.
    perfect = pl.DataFrame({"week": [0] * 4, "t": [1, 1, 0, 0], "s": [4.0, 3.0, 2.0, 1.0]})
    data = pl.concat(
        [perfect, scored(3, 120, 1).select(week=pl.lit(1), t="t", s="s")], how="diagonal_relaxed"
    )
    for row in compared(data, [AP, AUC]).iter_rows(named=True):
        assert row["value_baseline"] == 1
        assert row["low"] < 0 < row["high"]
        assert row["p_value"] > 0.05
        assert row["standard_error"] > 0.05
    # AUC 1 against AUC 0.
    opposite = pl.DataFrame(
        {
            "week": [0] * 120 + [1] * 120,
            "t": [True, False] * 120,
            "s": [2.0, 1.0] * 60 + [1.0, 2.0] * 60,
        }
    )
    (row,) = compared(opposite, AUC).iter_rows(named=True)
    assert (row["difference"], row["low"]) == (-1.0, -1.0)
    assert row["high"] < -0.9
    assert 0 < row["p_value"] < 1e-6


def test_units_of_both_groups_are_paired():
    with pytest.warns(fp.DataWarning, match="share 36 of their 39 and 37 groups of user, .* out 4"):
        paired = compared(scored(), mean_over="user")
    assert paired["method"].to_list() == [
        f"paired t over {n} groups of user" for n in paired["n_system"]
    ]
    wide = fp.evaluate(scored(), AP, "t", "s", by=["week", "user"]).pivot(
        "week", index="user", values=AP
    )
    for row in paired.iter_rows(named=True):
        both = wide.drop_nulls([str(row["baseline"]), str(row["system"])])
        a, b = both[str(row["baseline"])], both[str(row["system"])]
        assert row["p_value"] == near(stats.ttest_rel(b, a).pvalue)
    different = compared(scored(), mean_over="user", paired=False)
    assert {method.split()[0] for method in different["method"]} == {"Newcombe"}
    own = scored().with_columns(user=pl.col("user") * 3 + pl.col("week"))
    assert_same(compared(own, mean_over="user").drop("undefined"), different.drop("undefined"))


def test_which_groups_are_compared():
    data = scored(groups=4)

    def pairs(**arguments):
        return compared(data, **arguments).select("baseline", "system").rows()

    assert pairs() == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairs(baseline=2) == [(2, 0), (2, 1), (2, 3)]
    assert pairs(baseline="previous") == [(0, 1), (1, 2), (2, 3)]
    named = data.with_columns(
        pl.col("week").replace_strict({0: "now", 1: "previous", 2: "later", 3: "other"})
    )
    assert {*compared(named, baseline="previous")["baseline"]} == {"previous"}
    # Inside each group of by; where the baseline is missing there is nothing to compare, and a
    # warning.
    less = data.filter(~((pl.col("segment") == "b") & (pl.col("week") == 2)))
    with pytest.warns(
        fp.DataWarning, match="between: 1 of 2 keys of by have no two groups to compare, and no row"
    ):
        both = compared(less, by="segment", baseline=2)
    assert both.select("segment", "system").rows() == [("a", 0), ("a", 1), ("a", 3)]
    before = compared(less, by="segment", baseline="previous").filter(segment="b")
    assert before.select("baseline", "system").rows() == [(0, 1), (1, 3)]


def test_several_scores():
    data = scored().with_columns(other=-pl.col("s"))
    both = fp.compare(data, AP, "t", ["s", "other"], between="week", correction=None)
    assert both["score"].to_list() == ["s"] * 3 + ["other"] * 3
    alone = fp.compare(data, AP, "t", "other", between="week", correction=None)
    assert both.filter(score="other").drop("score").equals(alone)
    # The key `score` of the result is no column of the caller, also if the frame has one.
    frame = data.rename({"s": "score"}).to_pandas()
    renamed = fp.compare(frame, AP, "t", ["score", "other"], between="week", correction=None)
    assert renamed["difference"].tolist() == both["difference"].to_list()


def below_each_other(data, second: str) -> pl.DataFrame:
    """Two scores of the same rows, as groups of a column `system`."""
    rows = data.select("user", "t", s="s", system=pl.lit("0"))
    return pl.concat([rows, data.select("user", "t", s=second, system=pl.lit("1"))])


def test_clusters_in_both_groups():
    # Two systems over the same rows, below each other: groups of the same users, which are paired.
    data = scored(rows=400).with_columns(
        other=pl.col("s") + np.random.default_rng(1).normal(size=400)
    )
    call = {"cluster": "user", "details": True}
    paired = fp.compare(data, [AP, AUC], "t", ["s", "other"], **call)
    below = below_each_other(data, "other")
    same = fp.compare(below, [AP, AUC], "t", "s", between="system", **call)
    columns = ["difference", "low", "high", "p_value", "standard_error", "method"]
    assert_same(paired.select(columns), same.select(columns))
    # As different ones, their covariance counts in the combined intervals.
    unpaired = fp.compare(below, [AP, AUC], "t", "s", between="system", paired=False, **call)
    assert unpaired["standard_error"].to_list() == list(map(near, paired["standard_error"]))
    sides = [
        fp.intervals(data, [AP, AUC], "t", score, cluster="user", details=True)
        for score in ("s", "other")
    ]
    for row, a, b in zip(unpaired.to_dicts(), *(side.to_dicts() for side in sides), strict=True):
        # The share of both variances that the covariance leaves.
        share = row["standard_error"] ** 2 / (a["standard_error"] ** 2 + b["standard_error"] ** 2)
        for bound, x, y in (("low", "high", "low"), ("high", "low", "high")):
            reach = np.hypot(a[x] - a["value"], b[y] - b["value"]) * share**0.5
            assert abs(row[bound] - row["difference"]) == near(reach)


@pytest.mark.filterwarnings("ignore:compare. .* depends on the prevalence")
@pytest.mark.filterwarnings("ignore:.* have no bounds")
def test_clusters_in_both_groups_have_one_p_value():
    # The errors of two clusters are those of one number: their correlation is 1 or -1, and the
    # intervals are wide.
    rng = np.random.default_rng(0)
    columns = {
        "case": np.arange(1_200) // 24,
        "week": np.arange(1_200) % 2,
        "user": np.arange(1_200) // 2 % 2,
    }
    data = pl.DataFrame(
        columns | {"t": rng.random(1_200) < 0.5, "s": rng.integers(0, 3, 1_200) / 2}
    )
    p_values = []
    for confidence in (0.5, 0.7, 0.9, 0.95, 0.99, 0.9999, 0.999999):
        with pytest.warns(fp.DataWarning, match="by: 50 groups, most of them with fewer than 30"):
            result = compared(
                data, METRICS, by="case", cluster="user", paired=False, confidence=confidence
            )
        result = result.drop_nulls("p_value").with_columns(
            excludes_0=(pl.col("low") > 0) | (pl.col("high") < 0)
        )
        assert result.height > 150
        assert result.filter(
            pl.col("excludes_0") != (pl.col("p_value") < 1 - confidence)
        ).is_empty()
        assert result.select(pl.col("low", "high").is_between(-1, 1).all()).row(0) == (True, True)
        p_values.append(result["p_value"].to_list())
    # The order in which sums are added differs from run to run, and with it the last bits.
    assert all(p == pytest.approx(p_values[0], rel=0, abs=1e-9) for p in p_values)


WILSON = stats.norm.ppf(0.975) ** 2 / (
    1 + stats.norm.ppf(0.975) ** 2
)  # of one row: [1 - 0.79, 1] for 1, [0, 0.79] for 0
# The reach 2^(1/2) z^2 / (1 + z^2) is the difference of 1 if z^2 = 2^(1/2) + 1.
ONE_ROW = [
    ((9, 9), -WILSON, WILSON, 1),
    ((1, 9), 1 - 2**0.5 * WILSON, 1, 2 * stats.norm.sf((2**0.5 + 1) ** 0.5)),
]


@pytest.mark.parametrize(("scores", "low", "high", "p"), ONE_ROW)
def test_a_share_of_one_row_has_bounds(scores, low, high, p):
    # Each week has one positive.
    data = pl.DataFrame(
        {"week": [1, 1, 2, 2], "t": [True, False] * 2, "s": [scores[0], 1, scores[1], 1]}
    )
    result = compared(data, "recall@threshold=5").select("low", "high", "p_value")
    assert result.row(0) == (near(low), near(high), near(p))


@pytest.mark.parametrize("paired", [None, False])
def test_clusters_whose_errors_cancel(paired):
    # Each user has the same rows in both weeks, and week 2 one more positive: its recall is larger
    # for all users.
    hits = {1: [1, 1, 0, 0], 2: [1, 0, 0, 0]}
    rows = [(1, user, hit) for user, of_user in hits.items() for hit in of_user]
    rows += [
        (2, user, hit) for user, of_user in hits.items() for hit in [*of_user[1:], of_user[0] or 1]
    ]
    data = pl.DataFrame(rows, schema=["week", "user", "s"], orient="row").with_columns(t=True)
    call = {"cluster": "user", "paired": paired}
    (same,) = compared(data, "recall@threshold=1", **call).iter_rows(named=True)
    assert (
        same["difference"],
        same["standard_error"],
        same["low"],
        same["high"],
        same["p_value"],
    ) == (0, 0, 0, 0, 1)
    more = (
        pl.when(pl.col("week") == 2, pl.int_range(4).over("week", "user") == 2)
        .then(1)
        .otherwise("s")
    )
    data = data.with_columns(s=more)
    with pytest.warns(fp.DataWarning, match="no bounds: the differences have no spread"):
        (row,) = compared(data, "recall@threshold=1", **call).iter_rows(named=True)
    assert (row["difference"], row["standard_error"]) == (0.25, 0)
    assert (row["low"], row["high"], row["p_value"]) == (None, None, None)


def test_means_of_numbers_that_do_not_vary():
    # Every query of week 1 and 3 has rank 1, every query of week 2 has rank 2: no t statistic.
    data = pl.DataFrame(
        {"week": [1] * 3 + [2] * 3 + [3] * 3, "rank": [1.0] * 3 + [2.0] * 3 + [1.0] * 3}
    )
    with pytest.warns(
        fp.DataWarning, match="1 of 2 values have no bounds: the differences have no"
    ):
        result = fp.compare(data, "rank", between="week", baseline=1, correction=None)
    assert result.select("system", "difference", "low", "high", "p_value").rows() == [
        (2, 1.0, None, None, None),
        (3, 0.0, 0.0, 0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": 9}, "baseline=9 is none of the groups of column 'week'; there are 0, 1, 2"),
        ({"baseline": "1"}, "baseline='1' is none of the groups of column 'week'; did you mean 1?"),
        (
            {"between": "one"},
            "compare takes two groups of column 'one' or more, and there is 'previous' only",
        ),
        ({"between": "weak"}, "between: no column 'weak' in the frame; did you mean 'week'?"),
        (
            {"test": "permutation"},
            "test='permutation' flips the signs of differences of paired groups",
        ),
        ({"sampled": "groups"}, "sampled='groups' needs mean_over="),
        (
            {"mean_over": True},
            "mean_over=True averages over all columns of by=, and there are none",
        ),
        ({"mean_over": "week"}, "mean_over names 'week', whose values are compared"),
        ({"between": "s"}, "column 's' is given twice, to by= and to score="),
    ],
)
def test_errors(arguments, message):
    with pytest.raises((ValueError, TypeError), match="^(?s:.*)" + re.escape(message)):
        compared(scored().with_columns(one=pl.lit("previous")), **arguments)
    with pytest.raises(
        (ValueError, TypeError, pl.exceptions.ComputeError), match="(?s)" + re.escape(message)
    ):
        compared(scored().lazy().with_columns(one=pl.lit("previous")), **arguments).collect()


@pytest.mark.parametrize("baseline", [None, 1, "previous"])
def test_no_rows(baseline):
    result = compared(scored().clear(), baseline=baseline)
    assert result.is_empty()
    assert result.schema == compared(scored(), baseline=1).schema


def test_groups_of_a_pandas_categorical_are_in_the_order_of_its_categories():
    data = scored()
    for names in (["young", "mid", "old"], [3, 1, 2]):
        ages = pd.Categorical.from_codes(data["week"].to_list(), categories=names)
        frame = data.to_pandas().assign(age=ages)
        before = compared(frame, between="age", baseline="previous")
        assert [*zip(before["baseline"], before["system"], strict=True)] == [*pairwise(names)]
        assert [*compared(frame, between="age", baseline=names[1])["system"]] == [
            names[0],
            names[2],
        ]
        frame["user"] = frame["user"] * 3 + frame["week"]
        values = fp.evaluate(frame, AP, "t", "s", by=["user", "age"])
        means = fp.compare(values, AP, mean_over="user", between="age", baseline="previous")
        assert [*zip(means["baseline"], means["system"], strict=True)] == [*pairwise(names)]


def test_a_key_named_score_is_no_key_of_several_scores():
    data = pl.DataFrame({"score": [1, 1], "week": [1, 2], "y": [1, 0], "a": [1, 2], "b": [2, 1]})
    with pytest.raises(ValueError, match="by column 'score' is named like a result column"):
        fp.compare(data, "recall@threshold=1", "y", ["a", "b"], by="score", between="week")


def test_undefined_values_of_both_groups_add_up():
    data = pl.DataFrame(
        {"w": [1] * 3 + [2] * 4, "q": range(7), "m": [0.1, 0.2, None, None, 0.5, 0.7, None]}
    )
    result = fp.compare(data, "m", mean_over="q", between="w", details=True)
    assert result.select("undefined", "n_baseline", "n_system").row(0) == (3, 2, 2)


@pytest.mark.parametrize("prefix", ["", "1 - "])
@pytest.mark.parametrize(
    ("losses", "warns"),
    [
        # The small group has losses of .01 and .03 only. One query in ten of the other loses .6.
        (([0.01, 0.03] * 15, ([0.02] * 9 + [0.6]) * 30), True),
        # Both have such queries, or neither.
        (([0.01, 0.03] * 14 + [0.6] * 3, ([0.02] * 9 + [0.6]) * 30), False),
        (([0.01, 0.03] * 15, [0.01, 0.04] * 150), False),
        # Yes-or-no trials vary as much as their mean says.
        (([0.0] * 29 + [1.0], ([0.0] * 9 + [1.0]) * 30), False),
    ],
)
def test_a_group_that_may_lack_rare_losses_warns(losses, warns, prefix):
    values = np.concatenate(losses)
    arm = np.repeat(["a", "b"], [len(losses[0]), len(losses[1])])
    data = pl.DataFrame({"arm": arm, "query": range(len(arm)), "ndcg@10": values})
    if prefix:
        data = data.with_columns(1 - pl.col("ndcg@10"))
    if not warns:
        fp.compare(data, "ndcg@10", between="arm", mean_over="query")
        return
    with pytest.warns(fp.DataWarning, match="of 30 and 300 units, those of one group are all"):
        fp.compare(data, "ndcg@10", between="arm", mean_over="query")
