"""The table of docs/ties.md: what a constant scorer gets from each tool, in the version that the page names."""

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl
import pytest

import frame_pr

PAGE = Path(__file__).parents[2] / "docs" / "ties.md"
NAMES = [f"d{i}" for i in range(10)]
ORDERS = [[1] * 2 + [0] * 8, [0] * 8 + [1] * 2]


def scikit_learn(metric: str, labels: list[int]) -> float:
    from sklearn import metrics

    if metric == "ndcg_score":
        return metrics.ndcg_score([labels], [[0.5] * 10])
    return getattr(metrics, metric)(labels, [0.5] * 10)


def pytrec_eval(metric: str, labels: list[int]) -> float:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict(zip(NAMES, labels, strict=True))}, {metric})
    return evaluator.evaluate({"q": dict.fromkeys(NAMES, 0.5)})["q"][metric]


def ranx(metric: str, labels: list[int]) -> float:
    import ranx

    relevant = {name: label for name, label in zip(NAMES, labels, strict=True) if label}
    return ranx.evaluate(ranx.Qrels({"q": relevant}), ranx.Run({"q": dict.fromkeys(NAMES, 0.5)}), metric)


def torchmetrics(metric: str, labels: list[int]) -> float:
    import torch
    from torchmetrics.functional import classification, retrieval

    function = getattr(retrieval if metric.startswith("retrieval") else classification, metric)
    return float(function(torch.full((10,), 0.5), torch.tensor(labels)))


def ours(metric: str, labels: list[int]) -> float:
    return frame_pr.evaluate(pl.DataFrame({"y": labels, "s": [0.5] * 10}), metric, "y", "s").item()


TOOLS: dict[str, Callable[[str, list[int]], float]] = {
    "scikit-learn": scikit_learn,
    "pytrec_eval-terrier": pytrec_eval,
    "ranx": ranx,
    "torchmetrics": torchmetrics,
    "frame_pr": ours,
}
ROW = r"(?m)^\| (\S+)(?: ([\d.]+))?(?:, torch ([\d.]+))? \| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|"
ROWS = re.findall(ROW, PAGE.read_text(encoding="utf-8"))


def test_the_table_has_all_tools():
    assert {tool for tool, *_ in ROWS} == set(TOOLS)
    assert len(ROWS) == 13


@pytest.mark.parametrize(("tool", "release", "torch", "metric", "first", "last"), ROWS)
def test_a_constant_scorer_gets_what_the_page_says(tool, release, torch, metric, first, last):
    for package, named in ((tool, release), ("torch", torch)):
        try:
            if named and version(package).partition("+")[0] != named:  # 2.13.0+cpu is a build of 2.13.0
                pytest.skip(f"the page is about {package} {named}")
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
    assert [round(TOOLS[tool](metric, labels), 4) for labels in ORDERS] == [float(first), float(last)]
