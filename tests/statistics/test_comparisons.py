import itertools

import numpy as np
import polars as pl
import pytest
from compare import assert_same, near
from hypothesis import given
from hypothesis import strategies as st
from influences import FIGURES, derivative
from scipy import stats
from seldom import slow
from statsmodels.stats.multitest import multipletests

import frame_pr as fp
from frame_pr.statistics.holm import with_holm
from frame_pr.statistics.sign_flips import random_words

COLUMNS = [
    "metric",
    "baseline",
    "system",
    "groups",
    "undefined",
    "mean_baseline",
    "mean_system",
    "difference",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "effect_size",
    "wins",
    "ties",
    "losses",
]


def figures(*differences: float | None) -> pl.DataFrame:
    """Of a system that has 0 everywhere, and of one that has these."""
    n = len(differences)
    columns = {"query": [*range(n), *range(n)], "system": ["old"] * n + ["new"] * n, "m": [0.0] * n + [*differences]}
    return pl.DataFrame(columns, schema_overrides={"m": pl.Float64})


def compared(*differences: float | None, **more) -> dict:
    (row,) = fp.compare(figures(*differences), "m", by="query", baseline="old", **more).iter_rows(named=True)
    return row


def runs(seed: int, queries: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = queries * 8
    scores = {name: rng.random(n) for name in "abc"}
    return pl.DataFrame({"q": np.arange(n) % queries, "segment": np.arange(n) % 2, "t": rng.random(n) < 0.4} | scores)


def test_known_answer(kind):
    # Differences .3, .1, .2, -.1, .1: mean .12, sum of squares about it .088, so t = .12 / sqrt(.088 / 20).
    data = kind(figures(0.3, 0.1, 0.2, -0.1, 0.1))
    found = kind.read(fp.compare(data, "m", by="query", baseline="old")).row(0, named=True)
    assert list(found) == COLUMNS
    assert found["p_value"] == pytest.approx(0.144704, abs=1e-6) == found["p_adjusted"]
    assert (found["low"], found["high"]) == (pytest.approx(-0.064169, abs=1e-6), pytest.approx(0.304169, abs=1e-6))
    # t / sqrt(5)
    assert found["effect_size"] == near((36 / 11 / 5) ** 0.5)
    assert [found[name] for name in ("groups", "undefined", "wins", "ties", "losses")] == [5, 0, 4, 0, 1]
    assert (found["mean_baseline"], found["mean_system"], found["difference"]) == (0.0, near(0.12), near(0.12))
    # Of the 32 ways to sign them, 8 have a sum of at least .6 either way.
    flipped = kind.read(fp.compare(data, "m", by="query", baseline="old", test="permutation"))
    assert flipped["p_value"].item() == 8 / 32


def test_flips_of_numbers_that_floats_round():
    # Their sum is 0, as whole tenths, of which any other is as large.
    assert compared(0.1, 0.2, 0.1, 0.2, -0.4, -0.1, 0, -0.3, 0.2, test="permutation")["p_value"] == 1
    # Of five, the smallest p-value: all signs as they are, or all turned.
    assert compared(*[0.1] * 5, test="permutation")["p_value"] is None
    assert compared(0.1, 0.2, 0.3, 0.4, 0.5, test="permutation")["p_value"] == 1 / 16
    # None of 9,999 draws is as large as 30 numbers of one sign.
    assert compared(*[0.1 + i / 90 for i in range(30)], test="permutation", resamples=9_999)["p_value"] == 1e-4


@given(differences=st.lists(st.integers(-8, 8), min_size=2, max_size=11))
def test_all_flips_are_those_of_an_enumeration(differences):
    found = compared(*(d / 16 for d in differences), test="permutation")["p_value"]
    some = [d for d in differences if d]
    sums = [abs(sum(ways)) for ways in itertools.product(*((d, -d) for d in some))]
    expected = sum(one >= abs(sum(some)) for one in sums) / len(sums)
    assert found == (None if len(set(differences)) == 1 and some else expected)


@pytest.mark.parametrize("n", [21, *slow(60)])
def test_drawn_flips_are_near_those_of_scipy(n):
    differences = np.random.default_rng(n).normal(0.15, 0.5, n).round(3)
    found = compared(*differences, test="permutation", resamples=20_000)["p_value"]

    def total(sample, axis):
        return np.sum(sample, axis=axis)

    given_ = {"permutation_type": "samples", "n_resamples": 50_000, "rng": np.random.default_rng(1)}
    expected = stats.permutation_test((differences,), total, vectorized=True, **given_).pvalue
    # Five standard errors of the two draws.
    assert found == pytest.approx(expected, abs=5 * (expected * (1 - expected) * (1 / 20_000 + 1 / 50_000)) ** 0.5)
    # Another seed, other draws; the same one, the same.
    again = [compared(*differences, test="permutation", seed=seed)["p_value"] for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_random_words_are_those_of_splitmix():
    # The first two of the seed 1234567, as published with the generator.
    found = pl.select(random_words(pl.int_range(2, eager=False), 1234567)).to_series().to_list()
    assert found == [6457827717110365317, 3203168211198807973]


def test_one_seed_gives_one_p_value_on_every_frame(kind):
    data = runs(3, queries=40)
    given_ = {"by": "q", "test": "permutation", "seed": 7}
    expected = fp.compare(data, "average_precision", "t", ["a", "b"], **given_)
    found = kind.read(fp.compare(kind(data), "average_precision", "t", ["a", "b"], **given_))
    assert found["p_value"].to_list() == expected["p_value"].to_list()
    shuffled = fp.compare(data.sample(fraction=1, shuffle=True, seed=1), "average_precision", "t", ["a", "b"], **given_)
    assert shuffled["p_value"].to_list() == expected["p_value"].to_list()


def test_the_t_test_is_that_of_scipy(kind):
    data = runs(1)
    found = kind.read(fp.compare(kind(data), ["average_precision", "ndcg@3"], "t", ["a", "b", "c"], by="q"))
    assert found.select("metric", "baseline", "system").rows() == [
        (metric, *pair) for metric in ("average_precision", "ndcg@3") for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    each = fp.evaluate(data, ["average_precision", "ndcg@3"], "t", ["a", "b", "c"], by="q")
    for row in found.iter_rows(named=True):
        old, new = (each.filter(system=row[name])[row["metric"]].to_numpy() for name in ("baseline", "system"))
        both = ~np.isnan(old) & ~np.isnan(new)
        expected = stats.ttest_rel(new[both], old[both])
        interval = expected.confidence_interval(0.95)
        assert row["p_value"] == pytest.approx(expected.pvalue, rel=0, abs=1e-9)
        assert (row["low"], row["high"]) == (near(interval.low), near(interval.high))
        assert (row["groups"], row["undefined"]) == (both.sum(), (~both).sum())
        assert (row["mean_baseline"], row["mean_system"]) == (near(old[both].mean()), near(new[both].mean()))
    assert found["p_adjusted"].to_list() == [near(p) for p in multipletests(found["p_value"], method="holm")[1]]
    plain = kind.read(fp.compare(kind(data), "average_precision", "t", ["a", "b"], by="q", correction=None))
    assert plain["p_adjusted"].to_list() == plain["p_value"].to_list()


def test_holm():
    # .005 x 4, .01 x 3, .03 x 2, and .04, which is not below the one before it.
    table = pl.LazyFrame({"i": range(6), "p_value": [0.01, None, 0.04, 0.03, 0.005, None]})
    found = with_holm(table).sort("i").collect()["p_adjusted"].to_list()
    assert found == [near(0.03), None, near(0.06), near(0.06), near(0.02), None]
    assert with_holm(pl.LazyFrame({"p_value": [0.9, 0.8]})).collect()["p_adjusted"].to_list() == [1.0, 1.0]


def test_a_ready_table_gives_what_the_rows_give(kind):
    data = runs(2)
    names = ["average_precision", "precision@2"]
    given_ = {"by": ["segment", "q"], "mean_over": "q", "baseline": "b"}
    of_rows = kind.read(fp.compare(kind(data), names, "t", ["a", "b", "c"], **given_))
    each = fp.evaluate(kind(data), names, "t", ["a", "b", "c"], by=["segment", "q"])
    of_figures = kind.read(fp.compare(each, names, **given_))
    assert of_rows.columns == ["segment", *COLUMNS]
    assert_same(of_rows, of_figures)
    assert of_rows.height == 2 * 2 * 2
    # One family of tests: all of them.
    assert of_rows["p_adjusted"].to_list() == [near(p) for p in multipletests(of_rows["p_value"], method="holm")[1]]


def test_queries_that_only_one_system_has():
    table = figures(0.1, 0.2, None, 0.4).filter((pl.col("query") != 3) | (pl.col("system") == "new"))
    row = fp.compare(table, "m", by="query", baseline="old").row(0, named=True)
    assert (row["groups"], row["undefined"]) == (2, 2)
    assert (row["mean_baseline"], row["mean_system"]) == (0.0, near(0.15))


def test_few_groups_and_no_spread():
    bounds = ("low", "high", "p_value", "p_adjusted", "effect_size")
    assert [compared(0.25)[name] for name in bounds] == [None] * 5
    assert [compared(0.25, 0.25, 0.25)[name] for name in bounds] == [0.25, 0.25, None, None, None]
    assert [compared(0.0, 0.0, 0.0)[name] for name in bounds] == [0.0, 0.0, 1.0, 1.0, None]
    none = compared(None, None)
    assert [none[name] for name in ("groups", "undefined", "difference", "p_value")] == [
        0,
        2,
        None,
        None,
    ]
    # Below a part of 2**44 it is rounding.
    assert [compared(1e-15, -1e-15)[name] for name in ("wins", "ties", "losses", "p_value")] == [0, 2, 0, 1.0]


# Rows that were drawn ------------------------------------------------------------------------------------------------


def two_models(seed: int, n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    scores = {name: rng.integers(0, 12, n) + 3 * truth * rng.random(n).round(1) for name in ("old", "new")}
    return pl.DataFrame({"g": np.arange(n) % 2, "user": rng.integers(0, 15, n), "t": truth} | scores)


@pytest.mark.parametrize("name", ["average_precision", "roc_auc"])
def test_rows_are_paired_by_what_each_does_to_both(kind, name):
    data = two_models(1, 24)
    rows = [list(zip(data["t"], data[system], strict=True)) for system in ("old", "new")]
    both = [[derivative(FIGURES[name], one, i) for i in range(data.height)] for one in rows]
    differences = [new - old for old, new in zip(*both, strict=True)]
    fewer = min(data["t"].sum(), (~data["t"]).sum())
    error = (fewer / (fewer - 1) * sum(d * d for d in differences)) ** 0.5
    found = kind.read(fp.compare(kind(data), name, "t", ["old", "new"])).row(0, named=True)
    values = fp.evaluate(data, name, "t", ["old", "new"])[name]
    assert (found["mean_baseline"], found["mean_system"]) == (near(values[0]), near(values[1]))
    assert found["difference"] == near(values[1] - values[0])
    reach = stats.t.ppf(0.975, fewer - 1) * error
    assert (found["high"] - found["low"]) / 2 == pytest.approx(reach, rel=0, abs=1e-8)
    assert found["p_value"] == pytest.approx(2 * stats.t.sf(abs(found["difference"]) / error, fewer - 1), abs=1e-8)
    assert [found[count] for count in ("groups", "undefined", "effect_size")] == [1, 0, None]


def test_users_that_were_drawn():
    # Every row of a user twice: what is known of them stays the same.
    data = two_models(2)
    names = ["average_precision", "precision@threshold=6"]
    given_ = {"truth": "t", "score": ["old", "new"], "cluster": "user"}
    once = fp.compare(data, names, **given_)
    assert_same(fp.compare(pl.concat([data, data]), names, **given_), once)
    alone = fp.compare(data.with_row_index("row"), names, **(given_ | {"cluster": "row"}))
    # As a mean of two proportions: of rows that each count, (b - a) in the whole.
    accuracy = fp.compare(data, "accuracy@threshold=6", **(given_ | {"cluster": None})).row(0, named=True)
    right = [(data[system] >= 6) == data["t"] for system in ("old", "new")]
    expected = stats.ttest_rel(right[1].cast(int), right[0].cast(int))
    assert accuracy["p_value"] == near(expected.pvalue)
    assert alone["groups"].to_list() == [1, 1]


def test_each_group_by_itself(kind):
    data = two_models(3)
    found = kind.read(fp.compare(kind(data), "roc_auc", "t", ["old", "new"], by="g", sampled="rows"))
    assert found.columns == ["g", *COLUMNS]
    assert found["p_adjusted"].to_list() == [near(p) for p in multipletests(found["p_value"], method="holm")[1]]
    alone = fp.compare(data.filter(g=1), "roc_auc", "t", ["old", "new"])
    assert_same(found.filter(g=1).drop("g", "p_adjusted"), alone.drop("p_adjusted"))


def test_the_same_scores_and_rows_without_a_value():
    data = two_models(4).with_columns(new="old")
    same = fp.compare(data, "average_precision", "t", ["old", "new"]).row(0, named=True)
    assert [same[name] for name in ("difference", "low", "high", "p_value", "ties")] == [0.0, 0.0, 0.0, 1.0, 1]
    none = fp.compare(data.filter(~pl.col("t")), "average_precision", "t", ["old", "new"]).row(0, named=True)
    assert [none[name] for name in ("groups", "undefined", "difference", "low", "p_value")] == [0, 1, None, None, None]
    assert [none[name] for name in ("wins", "ties", "losses")] == [0, 0, 0]


REFUSED = [
    ({"by": None, "metrics": "precision@3"}, ValueError, "precision@3 has no closed form where rows are sampled"),
    ({"by": None, "test": "permutation"}, ValueError, "test= is about groups that were drawn: with sampled='rows'"),
    ({"cluster": "segment", "mean_over": "q"}, ValueError, "mean_over= is about groups that were drawn"),
    ({"cluster": "segment", "sampled": "groups"}, ValueError, "cluster= and sampled='rows' are about rows"),
    ({"by": None, "score": "a"}, ValueError, "compare takes two scores or more"),
    ({"by": None, "baseline": "x"}, ValueError, "baseline='x' is none of the systems"),
    ({"test": "wilcoxon"}, ValueError, "test='wilcoxon' is about medians"),
    ({"test": "sign"}, ValueError, "test='sign' counts wins"),
    ({"test": "bootstrap"}, ValueError, "test='bootstrap' finds differences where there are none"),
    ({"test": "z"}, ValueError, "test must be 't' or 'permutation', got 'z'"),
    ({"seed": 1}, ValueError, "seed= is about random draws, and test='t' has none: leave it out"),
    ({"resamples": 100}, ValueError, "resamples= is about random draws"),
    ({"test": "permutation", "resamples": 0}, ValueError, "resamples must be a whole number of at least 1"),
    ({"test": "permutation", "seed": -1}, ValueError, "seed must be a whole number of at least 0"),
    ({"correction": "bonferroni"}, ValueError, "correction must be 'holm', or None, got 'bonferroni'"),
    ({"confidence": 99}, ValueError, "confidence must lie strictly between 0 and 1; got 99: write 0.99"),
    ({"score": "a"}, ValueError, "compare takes two scores or more"),
    ({"score": ["a"]}, ValueError, "compare takes two scores or more"),
    ({"baseline": "aa"}, ValueError, "baseline='aa' is none of the systems; did you mean"),
    ({"by": None, "sampled": "groups"}, ValueError, "compare needs groups, whose figures are paired"),
    ({"mean_over": "t"}, ValueError, "mean_over names 't', which is not one of the keys"),
]


@pytest.mark.parametrize(("change", "error", "sentence"), REFUSED)
def test_what_is_refused(change, error, sentence):
    given_ = {"metrics": "average_precision", "truth": "t", "score": ["a", "b"], "by": "q"} | change
    with pytest.raises(error) as raised:
        fp.compare(runs(1), given_.pop("metrics"), **given_)
    assert str(raised.value).startswith(sentence)


def test_tables_of_figures_that_are_none(kind):
    table = figures(0.1, 0.2)
    with pytest.raises(ValueError, match="compare takes two systems or more, and there is 'new' only"):
        kind.read(fp.compare(kind(table.filter(system="new")), "m", by="query"))
    with pytest.raises(ValueError, match="baseline='bm25' is none of the systems; there are new, old"):
        kind.read(fp.compare(kind(table), "m", by="query", baseline="bm25"))
    with pytest.raises(ValueError, match="no column 'system'"):
        fp.compare(kind(table.drop("system")), "m", by="query")
    lacking = table.with_columns(system=pl.when(pl.col("system") == "old").then("system"))
    with pytest.raises(ValueError, match="column 'system' has rows that are null"):
        kind.read(fp.compare(kind(lacking), "m", by="query"))
    infinite = table.with_columns(m=pl.when(pl.col("query") == 0).then(float("inf")).otherwise(0.0))
    with pytest.raises(ValueError, match="column 'm' holds inf: figures are finite"):
        kind.read(fp.compare(kind(infinite), "m", by="query"))
