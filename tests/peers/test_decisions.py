"""Decision curves, random rankings, gains tables and capped recall, against the tools and pages that have them."""

import numpy as np
import polars as pl
import pytest
from compare import near
from scipy import stats

import frame_pr as fp

pytestmark = [pytest.mark.slow, pytest.mark.peers]


def classified(seed: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.2
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 2 * truth - 2)))
    return pl.DataFrame({"t": truth, "s": score.round(2)})


@pytest.mark.filterwarnings("ignore")  # lifelines, which it imports, uses what pandas deprecates
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_net_benefit_of_dcurves(seed):
    # dcurves needs pandas 2, so it is not among the packages of the extra `peers`.
    dcurves = pytest.importorskip("dcurves")
    data, thresholds = classified(seed), [0.05, 0.1, 0.2, 0.35, 0.5, 0.8]
    frame = data.with_columns(pl.col("t").cast(pl.Int64)).to_pandas()
    table = pl.from_pandas(dcurves.dca(data=frame, outcome="t", modelnames=["s"], thresholds=thresholds))
    ours = data.pr.evaluate([f"net_benefit@threshold={t:g}" for t in thresholds], "t", "s").row(0)
    all_rows = data.with_columns(s=1.0).pr.evaluate([f"net_benefit@threshold={t:g}" for t in thresholds], "t", "s")
    assert table.filter(model="s")["net_benefit"].to_list() == pytest.approx(ours, rel=1e-9)
    assert table.filter(model="all")["net_benefit"].to_list() == pytest.approx(all_rows.row(0), rel=1e-9)


def test_net_benefit_printed_by_dcurves():
    # What dcurves 1.1.7 gives for `classified(0)` at these thresholds, to six digits.
    printed = {0.05: 0.167237, 0.1: 0.141389, 0.2: 0.128750, 0.35: 0.107308, 0.5: 0.085, 0.8: 0.015}
    ours = classified(0).pr.evaluate([f"net_benefit@threshold={t:g}" for t in printed], "t", "s").row(0)
    assert [round(value, 6) for value in ours] == list(printed.values())


@pytest.mark.parametrize(("positives", "rows"), [(2, 12), (3, 12), (5, 40), (10, 200)])
def test_random_rankings_of_copairs(positives, rows):
    compute = pytest.importorskip("copairs.compute")
    draws = 40_000
    values = compute.random_ap(draws, positives, rows, 0).astype(float)
    data = pl.DataFrame({"t": [1] * positives + [0] * (rows - positives), "s": range(rows, 0, -1)})
    mean, deviation = data.pr.above_chance("average_precision", "t", "s").select("^exp.*$", "^stand.*$").row(0)
    assert values.mean() == pytest.approx(mean, abs=5 * deviation / draws**0.5)
    assert values.std() == pytest.approx(deviation, rel=0.05)
    # Its p-values are shares of random draws; those of 20 random rankings agree, up to the tail that is approximated.
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(20), rows)
    truth = np.concatenate([rng.permutation(data["t"].to_numpy()) for _ in range(20)])
    runs = pl.DataFrame({"g": group, "t": truth, "s": data["s"].to_list() * 20})
    ours = fp.above_chance(runs, "average_precision", "t", "s", by="g")
    theirs = [((values >= value - 1e-6).sum() + 1) / (draws + 1) for value in ours["value"]]
    exact = ours["method"].unique().item() == "exact"
    assert ours["p_value"].to_list() == pytest.approx(theirs, abs=0.015 if exact else 0.06)


def test_corrected_p_values_of_scipy_and_statsmodels():
    from statsmodels.stats.multitest import multipletests

    runs = pl.concat(classified(seed, 40).with_columns(g=pl.lit(seed)) for seed in range(30))
    result = fp.above_chance(runs, "roc_auc", "t", "s", by="g").drop_nulls("p_value")
    p = result["p_value"].to_numpy()
    assert result["p_adjusted"].to_list() == pytest.approx(multipletests(p, method="fdr_bh")[1])
    holm = fp.above_chance(runs, "roc_auc", "t", "s", by="g", correction="holm").drop_nulls("p_value")
    assert holm["p_adjusted"].to_list() == pytest.approx(multipletests(p, method="holm")[1])
    groups = runs.filter(pl.col("g").is_in(result["g"].implode())).partition_by("g")
    for value, part in zip(p, groups, strict=True):
        positive, negative = (part.filter(pl.col("t") == side)["s"] for side in (True, False))
        test = stats.mannwhitneyu(positive, negative, alternative="greater", method="asymptotic")
        assert value == pytest.approx(test.pvalue, rel=1e-9)


def test_capped_recall_of_beir():
    # BEIR's own example of recall_cap: 100 hits among the first 100 rows of 500 relevant ones.
    data = pl.DataFrame({"t": [1] * 500 + [0] * 500, "s": range(1000, 0, -1)})
    assert data.pr.evaluate(["recall@100", "recall@100/min"], "t", "s").row(0) == (near(0.2), near(1.0))


def test_gains_table_by_the_definitions_of_h2o():
    # H2O's columns by their definitions, from the sorted rows: cumulative capture rate, lift, and those of each group.
    data = classified(3, 1000).with_columns(s=pl.int_range(1000) * 7919 % 1000)
    table = data.pr.gains_table("t", "s")
    response = data.sort("s", descending=True)["t"].to_numpy().reshape(10, 100)
    rate = response.mean()
    assert table["bin_precision"].to_list() == pytest.approx(response.mean(1))
    assert table["bin_lift"].to_list() == pytest.approx(response.mean(1) / rate)
    assert table["bin_recall"].to_list() == pytest.approx(response.sum(1) / response.sum())
    assert table["recall"].to_list() == pytest.approx(response.sum(1).cumsum() / response.sum())
    assert table["lift"].to_list() == pytest.approx(response.sum(1).cumsum() / (100 * np.arange(1, 11)) / rate)
    assert table["threshold"].to_list() == [1000 - 100 * i for i in range(1, 11)]
