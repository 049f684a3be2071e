"""above_chance: average precision and ROC AUC against random rankings."""

import re
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest
from compare import near
from oracle import Group, Row
from scipy import stats

import frame_pr as fp

AP, AUC = "average_precision", "roc_auc"


def ranked(positives: int, rows: int, sizes=None) -> pl.DataFrame:
    """All positives first; `sizes`: of the blocks of equal scores."""
    sizes = [1] * rows if sizes is None else sizes
    scores = [-block for block, size in enumerate(sizes) for _ in range(size)]
    return pl.DataFrame({"t": [1] * positives + [0] * (rows - positives), "s": scores})


def against_chance(data, metrics=AP, **options) -> pl.DataFrame:
    return fp.above_chance(data, metrics, "t", "s", **options)


def test_known_answer(kind):
    # Two positives among four rows: the six orders have the values 1, 5/6, 3/4, 7/12, 1/2 and 5/12. Their mean is
    # 49/72, and the mean of their squares is 145/288. Group a has the order + - + -, 5/6; group b has - + - +, 1/2.
    data = pl.DataFrame({"g": list("aaaabbbb"), "t": [1, 0, 1, 0, 0, 1, 0, 1], "s": [4, 3, 2, 1] * 2})
    result = kind.read(fp.above_chance(kind(data), [AP, AUC], "t", "s", by="g"))
    deviation = (145 / 288 - (49 / 72) ** 2) ** 0.5
    assert result.columns == [
        "g", "metric", "value", "expectation", "standard_deviation", "z", "p_value", "p_adjusted", "method"
    ]  # fmt: skip
    assert result["metric"].to_list() == [AP, AUC, AP, AUC]
    # ROC AUC: of the six orders, 3/4 or more has + - + - and + + - -, 1/4 or more all but - - + +. Variance 5/48.
    auc = (5 / 48) ** 0.5
    expected = [
        ("a", AP, 5 / 6, 49 / 72, deviation, (5 / 6 - 49 / 72) / deviation, 2 / 6),
        ("a", AUC, 3 / 4, 1 / 2, auc, 0.25 / auc, 2 / 6),
        ("b", AP, 1 / 2, 49 / 72, deviation, (1 / 2 - 49 / 72) / deviation, 5 / 6),
        ("b", AUC, 1 / 4, 1 / 2, auc, -0.25 / auc, 5 / 6),
    ]
    for row, wanted in zip(result.rows(), expected, strict=True):
        assert row[:2] == wanted[:2]
        assert row[2:7] == pytest.approx(wanted[2:], rel=1e-12)
    # Benjamini and Hochberg: 4/2 times the smaller two, 4/4 times the larger two.
    assert result["p_adjusted"].to_list() == pytest.approx([2 / 3, 2 / 3, 5 / 6, 5 / 6])
    assert result["method"].unique().to_list() == ["exact"]


@pytest.mark.parametrize(
    ("positives", "rows", "variance"),
    [(2, 4, 0.0403163580), (2, 18, 0.0298895854), (3, 8, 0.0315264055), (5, 20, 0.0162691295)],
)
def test_variance_of_all_orders(positives, rows, variance):
    row = against_chance(ranked(positives, rows)).row(0, named=True)
    assert row["standard_deviation"] ** 2 == pytest.approx(variance, abs=6e-11)
    # The best order is one of all.
    assert (row["p_value"], row["method"]) == (near(1 / comb(rows, positives)), "exact")


def oracle_values(data: pl.DataFrame, metric: str) -> list[Fraction]:
    """The value of every order of the labels, in exact fractions."""
    n, scores = data.height, data["s"].to_list()
    values = []
    for places in combinations(range(n), int(data["t"].sum())):
        rows = [Row(i in places, score) for i, score in enumerate(scores)]
        values.append(Group(rows, None, {"unscored": "unretrieved"}, {}).value(metric))
    return values


@pytest.mark.parametrize("seed", range(5))
def test_enumeration_of_rankings_with_ties_and_unretrieved_rows(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 10))
    truth, scores = rng.integers(0, 2, rows), rng.integers(0, 4, rows).astype(float)
    scores[rng.random(rows) < 0.2] = np.nan
    data = pl.DataFrame({"t": truth, "s": scores}).fill_nan(None)
    for metric in (AP, AUC):
        (row,) = against_chance(data, metric, unscored="unretrieved").iter_rows(named=True)
        values = [value for value in oracle_values(data, metric) if value is not None]
        if not values:
            assert {row[name] for name in ("value", "expectation", "p_value", "method")} == {None}
            continue
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        as_good = sum(float(value) >= row["value"] - 1e-12 for value in values)
        assert row["expectation"] == near(mean)
        assert row["standard_deviation"] == pytest.approx(float(variance) ** 0.5, abs=1e-7)
        assert (row["p_value"], row["method"]) == (near(as_good / len(values)), "exact")
        assert (row["z"] is None) == (variance == 0)


def test_one_positive_is_exact_for_any_number_of_rows():
    # The positive at rank 30 of 100,000: 30 places are as good.
    data = pl.DataFrame({"s": range(100_000, 0, -1)}).with_columns(t=pl.col("s") == 99_971)
    assert against_chance(data, [AP, AUC])["p_value"].to_list() == pytest.approx([30 / 100_000] * 2)


def test_roc_auc_is_the_test_of_mann_and_whitney():
    rng = np.random.default_rng(1)
    for decimals in (0, 1, 8):
        truth = rng.random(300) < 0.2
        data = pl.DataFrame({"t": truth, "s": (rng.normal(size=300) + truth).round(decimals)})
        row = against_chance(data, AUC).row(0, named=True)
        scores = data["s"].to_numpy()
        expected = stats.mannwhitneyu(scores[truth], scores[~truth], alternative="greater", method="asymptotic")
        assert (row["p_value"], row["method"]) == (pytest.approx(expected.pvalue, rel=1e-9), "normal")
        pairs = truth.sum() * (~truth).sum()
        assert row["value"] == near(expected.statistic / pairs)


def test_roc_auc_of_few_rows_is_the_exact_test_of_scipy():
    data = pl.DataFrame({"t": [1, 0, 1, 1, 0, 0, 1, 0, 0], "s": range(9, 0, -1)})
    scores, truth = data["s"].to_numpy(), data["t"].to_numpy() == 1
    expected = stats.mannwhitneyu(scores[truth], scores[~truth], alternative="greater", method="exact")
    assert against_chance(data, AUC)["p_value"].item() == near(expected.pvalue)


def test_average_precision_of_many_rows_has_the_tail_of_a_shifted_lognormal():
    data = ranked(10, 100).with_columns(t=pl.Series(([1] * 5 + [0] * 45) * 2))
    row = against_chance(data).row(0, named=True)
    least = sum(i / (90 + i) for i in range(1, 11)) / 10
    above = row["expectation"] - least
    spread = np.log1p((row["standard_deviation"] / above) ** 2)
    expected = stats.lognorm.sf(row["value"] - least, spread**0.5, scale=above * np.exp(-spread / 2))
    assert (row["p_value"], row["method"]) == (near(expected), "lognormal")


@pytest.mark.slow
@pytest.mark.parametrize(("positives", "sizes"), [(10, [1] * 100), (30, [1] * 1000), (12, [7, 1, 1, 30, 2, 19, 40])])
def test_moments_and_tail_of_many_random_rankings(positives, sizes):
    rows, draws, rng = sum(sizes), 4_000, np.random.default_rng(0)
    order = rng.permuted(np.tile(np.arange(rows), (draws, 1)), axis=1) < positives
    frame = ranked(positives, rows, sizes)
    data = pl.DataFrame({"g": np.repeat(np.arange(draws), rows), "t": order.ravel(), "s": frame["s"].to_list() * draws})
    result = against_chance(data, by="g")
    mean, deviation = result.select("expectation", "standard_deviation").row(0)
    assert result["value"].mean() == pytest.approx(mean, abs=5 * deviation / draws**0.5)
    assert result["value"].std() == pytest.approx(deviation, rel=0.1)
    # 5 % of the random rankings have p <= 0.05, about.
    assert 0.03 < (result["p_value"] <= 0.05).mean() < 0.07


def test_corrections_are_those_of_scipy():
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"g": np.arange(400) // 8, "t": rng.random(400) < 0.4, "s": rng.normal(size=400)})
    result = against_chance(data, by="g").drop_nulls("p_value")
    assert result["p_adjusted"].to_list() == pytest.approx(stats.false_discovery_control(result["p_value"]))
    assert against_chance(data, by="g", correction=None).drop_nulls("p_value")["p_adjusted"].equals(result["p_value"])


@pytest.mark.slow
def test_groups_do_not_depend_on_each_other():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, 60)
    group = np.repeat(np.arange(60), sizes)
    data = pl.DataFrame({"g": group, "t": rng.random(len(group)) < 0.3, "s": rng.integers(0, 12, len(group))})
    together = against_chance(data, [AP, AUC], by="g", correction=None)
    assert together["method"].drop_nulls().n_unique() == 3
    for (name,), part in data.group_by("g"):
        assert against_chance(part, [AP, AUC], by="g", correction=None).equals(together.filter(g=name))


def test_a_group_beyond_the_table_of_harmonic_numbers():
    long, short = ranked(40, 20_000, [1] * 9_000 + [3] * 2_000 + [5_000]), ranked(2, 10)
    data = pl.concat([frame.with_columns(g=pl.lit(i)) for i, frame in enumerate([short, long, short])])
    together = against_chance(data, by="g", correction=None).drop("g", "p_adjusted")
    apart = [against_chance(frame, correction=None).drop("p_adjusted") for frame in (short, long, short)]
    assert together.equals(pl.concat(apart))
    # A pair of rows is positive with probability e2, of which the second one counts in the precision of the first.
    e1, e2 = 40 / 20_000, 40 * 39 / (20_000 * 19_999)
    ends = np.concatenate(
        [np.arange(1, 9_001), 9_000 + 3 * np.repeat(np.arange(1, 2_001), 3), np.repeat(20_000, 5_000)]
    )
    assert together["expectation"][1] == near(((e1 + e2 * (ends - 1)) / ends).sum() / 40)


def test_counts_and_several_scores():
    data = pl.DataFrame({"t": [1, 0, 1, 0], "s": [3, 2, 2, 1], "r": [1, 2, 3, 4], "n": [1, 2, 1, 3]})
    rows = data.select(pl.all().repeat_by("n")).explode(pl.all(), empty_as_null=False)
    columns = ["value", "expectation", "standard_deviation", "p_value"]
    counted = fp.above_chance(data, AP, "t", ["s", "r"], count="n")
    assert counted["system"].to_list() == ["s", "r"]
    assert counted.select(columns).equals(fp.above_chance(rows, AP, "t", ["s", "r"]).select(columns))


def test_a_lazy_frame_stays_lazy():
    lazy = ranked(2, 6).lazy().pr.above_chance(AP, "t", "s")
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == lazy.collect().schema


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metrics": "precision@2"}, ValueError, "metrics: 'precision@2' has no test against random rankings; give"),
        ({"correction": "bonferroni"}, ValueError, "correction must be 'holm' or 'bh', or None, got 'bonferroni'"),
        ({"weight": "s"}, ValueError, "weight=.*above_chance does not take it"),
        ({"ties": "expected"}, ValueError, "above_chance does not take it; random rankings keep the equal scores"),
    ],
)
def test_wrong_calls(arguments, error, message):
    with pytest.raises(error, match=message if ".*" in message else re.escape(message)):
        fp.above_chance(ranked(2, 6), truth="t", score="s", **({"metrics": AP} | arguments))
