import polars as pl
import pytest
from compare import near
from names import AT_CUT, COUNTS, FIGURES, NAMES, PROBABILITIES, RATES
from oracle import oracle
from samples import TEN, groups

import frame_pr as fp
from frame_pr.metrics import rates
from frame_pr.metrics.names import FAMILIES
from frame_pr.metrics.rates import rate_of


@pytest.mark.slow
def test_every_name_is_what_the_oracle_says():
    data = groups()
    result = data.pr.evaluate(NAMES, "relevant", "score", by="q")
    assert result.columns == ["q", *NAMES]
    parts = data.partition_by("q", as_dict=True)
    assert result["q"].to_list() == sorted(q for (q,) in parts)
    for row in result.iter_rows(named=True):
        part = parts[row["q"],]
        truth = part["relevant"].to_list()
        score = part["score"].to_list()
        expected = {name: near(oracle(name, truth, score)) for name in NAMES}
        wrong = {name: (row[name], expected[name]) for name in NAMES if row[name] != expected[name]}
        assert not wrong, part


def test_the_names_of_these_tests_reach_every_metric():
    every = [*NAMES, *PROBABILITIES]
    for family in FAMILIES:
        assert any(map(family.match, every)), family.name
    assert set(rates.RATES) == {*COUNTS, *RATES}
    for figure in [*FIGURES, "f0.5"]:
        assert sum(name.startswith(f"{figure}@") for name in AT_CUT) == len(AT_CUT) // (
            len(FIGURES) + 3
        )


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (["rows", "positives", "tied_rows", "k@5", "k@recall=0.5", "k@threshold=3"], pl.Int64),
        (["tp@threshold=3", "fp@threshold=3", "fn@recall=0.5", "tn@recall=0.5"], pl.Int64),
        (["tp@5", "fp@5", "fn@5", "tn@5"], pl.Float64),
        (
            ["average_precision", "precision@5", "recall@recall=0.5", "mcc@threshold=3", "max_f1"],
            pl.Float64,
        ),
        (
            [
                "prevalence",
                "average_precision_lift",
                "r_precision",
                "interpolated_average_precision_11",
            ],
            pl.Float64,
        ),
        (["threshold@max_f1", "threshold@recall=0.5"], pl.Int16),
    ],
)
def test_dtypes(names, dtype):
    result = TEN.cast({"score": pl.Int16}).pr.evaluate(names, "relevant", "score")
    assert dict(result.schema) == dict.fromkeys(names, dtype)


@pytest.mark.parametrize("figure", [*FIGURES, "f0.5", "f3"])
def test_figures_are_found_by_name(figure):
    assert callable(rate_of(figure).formula)


def test_the_best_f_where_nothing_is_retrieved():
    # F of predicting nothing is 2*0 / (P + 0) = 0 for the query with a positive, and 0/0 for the
    # one without.
    data = pl.DataFrame(
        {"q": [1, 2], "relevant": [1, 0], "score": [None, None]},
        schema_overrides={"score": pl.Float64},
    )
    result = data.pr.evaluate(
        ["max_f1", "threshold@max_f1"], "relevant", "score", by="q", unscored="unretrieved"
    )
    assert result.rows() == [(1, 0.0, None), (2, None, None)]


def test_every_head_is_a_name_of_its_family():
    cutoffs = ("", "@10", "@threshold=0.5", "@recall=0.8", "@precision=0.5")
    for family in FAMILIES:
        for head in family.heads:
            names = [head + cutoff for cutoff in cutoffs]
            assert any(map(family.match, names)), (family.name, head)


def test_the_list_of_metrics_has_every_family():
    listed = fp.metrics()["name"].to_list()
    assert {head for family in FAMILIES for head in family.heads} == {*listed}
    assert {"interpolated_average_precision_101", "recall@10/min", "average_precision@10/hits"} <= {
        *listed
    }
    assert {"selection_rate", "mean_score", "brier_score", "log_loss", "k", "tp"} <= {*listed}
