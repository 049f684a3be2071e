"""In a terminal of 80 columns, the values that a call asks for are on the screen, unbroken."""

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

# Two segments and 24 queries, of which one has no positive.
ROWS = pl.DataFrame(
    {
        "country": (["at"] * 2 + ["be"] * 2) * 24,
        "query": [i // 4 for i in range(96)],
        "relevant": [1 if i >= 4 and i % 4 in (0, 3) else 0 for i in range(96)],
        "bm25": [(i * 37 % 101) / 101 for i in range(96)],
        "dense": [(i * 61 % 103) / 103 for i in range(96)],
    }
)
THREE = ["average_precision", "ndcg@10", "reciprocal_rank"]
CALLS = {
    "one mean": lambda frame: frame.pr.evaluate(THREE[0], "relevant", "bm25", mean_over="query"),
    "two means of two systems": lambda frame: frame.pr.evaluate(
        THREE[:2], "relevant", ["bm25", "dense"], mean_over="query"
    ),
    "three named means of two systems": lambda frame: frame.pr.evaluate(
        {"MAP": THREE[0], "nDCG@10": THREE[1], "MRR": THREE[2]},
        "relevant",
        ["bm25", "dense"],
        mean_over="query",
    ),
    "three metrics by two keys": lambda frame: frame.pr.evaluate(
        THREE, "relevant", "bm25", by=["country", "query"]
    ),
    "slices": lambda frame: frame.pr.evaluate("roc_auc", "relevant", "bm25", slices=["country"]),
    "confusion": lambda frame: frame.pr.confusion(
        "relevant", "bm25", threshold=[0.25, 0.5], by="country"
    ),
    "confusion at a goal": lambda frame: frame.pr.confusion(
        "relevant", "bm25", threshold="max_f1", by="country"
    ),
    "confusion at goals": lambda frame: frame.pr.confusion(
        "relevant", "bm25", threshold=["max_f1", "precision=0.9"]
    ),
}


def screen_of_polars(frame):
    with pl.Config(tbl_width_chars=80):
        return str(frame)


def screen_of_pandas(frame):
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        return repr(frame)


@pytest.mark.parametrize("name", CALLS)
def test_polars(name):
    result = CALLS[name](ROWS)
    assert result.width <= 8
    text = screen_of_polars(result)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text.splitlines()[2]
    for column, value in result.row(0, named=True).items():
        if isinstance(value, float):
            shown = str(pl.Series([value])).splitlines()[-2].strip()
            assert shown in text, f"{column} = {shown} is broken or folded:\n{text}"


@pytest.mark.parametrize("name", CALLS)
def test_pandas(name):
    result = CALLS[name](ROWS.to_pandas())
    lines = screen_of_pandas(result).splitlines()
    assert max(map(len, lines)) <= 80
    for column in result.columns:
        assert column in lines[0], lines[0]


def test_the_columns_of_confusion():
    found = ROWS.pr.confusion("relevant", "bm25", threshold=0.5, by="country")
    counts = ["tp", "fp", "fn", "tn", "precision", "recall"]
    assert found.columns == ["country", "threshold", *counts]
    assert fp.confusion(ROWS, "relevant", "bm25", k=3, rates="f1").columns == ["k", *counts, "f1"]
