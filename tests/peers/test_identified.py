"""`identify` finds whose number it is: of tools that run here, from the four digits that they print."""

import warnings

import polars as pl
import pytest
from searches import RELEVANT, joined, search, trec_eval

import frame_pr as fp


def matches(data: pl.DataFrame, printed: str, truth, score: str, **given) -> list[str]:
    """The definitions that match."""
    found = fp.identify(data, printed, truth, score, **given)["definition"].to_list()
    return found[: next(place for place, one in enumerate(found) if one.startswith("none"))]


def classified(seed: int) -> pl.DataFrame:
    """One ranking of 300 rows, whose scores are tied."""
    draw = pl.int_range(300, eager=True).hash(seed)
    return pl.DataFrame({"s": (draw // 7 % 50) / 50, "u": draw % 100}).with_columns(
        y=pl.col("u") < 30 + 40 * pl.col("s")
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_trapezoids_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    data = classified(seed)
    precision, recall, _ = metrics.precision_recall_curve(data["y"].to_numpy(), data["s"].to_numpy())
    found = matches(data, f"{metrics.auc(recall, precision):.4f}", "y", "s")
    assert any("auc(recall, precision)" in one for one in found), found
    exact = matches(data, f"{metrics.average_precision_score(data['y'], data['s']):.4f}", "y", "s")
    assert any(one.startswith("average_precision") for one in exact), exact


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_map_of_trec_eval_with_missing_queries_as_0(seed):
    pytest.importorskip("pytrec_eval")
    run, judgments = search(40, ties=False, seed=seed)
    found = trec_eval(run, judgments, {"map"})
    queries = pl.concat([run["query"], judgments["query"]]).n_unique()
    assert len(found) < queries  # it knows nothing of a query that nothing was retrieved for, or that is not judged
    printed = f"{sum(one['map'] for one in found.values()) / queries:.4f}"
    policies = {"by": "query", "unscored": "unretrieved", "unjudged": "negative"}
    names = matches(joined(run, judgments), printed, RELEVANT, "score", **policies)
    assert any("trec_eval's map), mean over the groups, those without a value as 0" in one for one in names), names


def test_the_divisor_of_torchmetrics():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
    data = classified(4).unique("s", maintain_order=True)
    value = retrieval.retrieval_average_precision(
        torch.tensor(data["s"].to_list()), torch.tensor(data["y"].to_list()), 10
    )
    found = matches(data, f"{value.item():.4f}", "y", "s")
    assert any("average_precision@10/hits (torchmetrics)" in one for one in found), found


@pytest.mark.filterwarnings("ignore")  # numba compiles, and warns of what it finds in ranx
@pytest.mark.parametrize("seed", [1, 2, 7])
def test_the_order_of_ties_of_ranx(seed):
    ranx = pytest.importorskip("ranx")
    # Of more than 15 documents, its sort leaves equal scores in an order of its own.
    data = classified(seed).head(15).with_columns(s=pl.col("s").round(1), d=pl.format("d{}", pl.int_range(15)))
    qrels = ranx.Qrels({"q": {d: int(y) for d, y in data.select("d", "y").rows()}})
    value = ranx.evaluate(qrels, ranx.Run({"q": dict(data.select("d", "s").rows())}), "map")
    found = matches(data, f"{value:.4f}", "y", "s")
    assert any("and ranx where" in one for one in found), found
