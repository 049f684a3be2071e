"""In a terminal of 80 columns, the values that a call asks for are on the screen, unbroken."""

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

# 24 queries of 12 documents, of which one has no positive, in two languages and three shops.
# pandas hides columns of a frame that needs 80 characters or more. With two keys and a name such as
# average_precision, the seven columns of compare leave nine characters for the names of the keys.
ROWS = pl.DataFrame(
    {
        "lang": [("de", "fr")[i % 24 // 12] for i in range(288)],
        "shop": [("app", "north", "web")[i // 24 % 3] for i in range(288)],
        "query": [i // 12 for i in range(288)],
        "relevant": [1 if i >= 12 and i * i * 7 % 23 < 9 else 0 for i in range(288)],
        "bm25": [(i * 37 % 1009) / 1009 for i in range(288)],
        "dense": [(i * 61 % 1013) / 1013 for i in range(288)],
        "mixed": [(i * 67 % 1019) / 1019 for i in range(288)],
    }
)
NAMES = ["average_precision", "ndcg@10", "recall@10"]
SHORT = {"MAP": "average_precision", "nDCG@10": "ndcg@10", "MRR": "reciprocal_rank"}
OF_ROWS = ["average_precision", "roc_auc", "f1@threshold=0.5"]
ONE, TWO = "bm25", ["bm25", "dense"]
KEYS = {"no key": None, "one key": ["lang"], "two keys": ["lang", "shop"]}


def calls_by_keys():
    """Yield calls with one to three metrics, and with no, one and two keys."""
    for keys, by in KEYS.items():
        for n in (1, 2, 3):
            yield (
                f"evaluate, {n} metrics, {keys}",
                lambda frame, n=n, by=by: frame.pr.evaluate(NAMES[:n], "relevant", ONE, by=by),
            )
            if n < 3 or by is None:
                yield (
                    f"mean_over, {n} metrics, {keys}",
                    lambda frame, n=n, by=by: frame.pr.evaluate(
                        NAMES[:n], "relevant", ONE, mean_over="query", by=by
                    ),
                )
            yield (
                f"intervals, {n} metrics, {keys}",
                lambda frame, n=n, by=by: frame.pr.intervals(
                    NAMES[:n], "relevant", ONE, mean_over="query", by=by
                ),
            )
            yield (
                f"intervals of rows, {n} metrics, {keys}",
                lambda frame, n=n, by=by: frame.pr.intervals(OF_ROWS[:n], "relevant", ONE, by=by),
            )
            yield (
                f"compare, {n} metrics, {keys}",
                lambda frame, n=n, by=by: frame.pr.compare(
                    NAMES[:n], "relevant", TWO, mean_over="query", by=by
                ),
            )
            yield (
                f"compare rows, {n} metrics, {keys}",
                lambda frame, n=n, by=by: frame.pr.compare(OF_ROWS[:n], "relevant", TWO, by=by),
            )
        yield (
            f"report, {keys}",
            lambda frame, by=by: frame.pr.report("relevant", ONE, by=by),
        )
        yield (
            f"report with bounds, {keys}",
            lambda frame, by=by: frame.pr.report("relevant", ONE, by=by, confidence=0.95),
        )
        yield (
            f"report of means, {keys}",
            lambda frame, by=by: frame.pr.report(
                "relevant", ONE, mean_over="query", by=by, confidence=0.95
            ),
        )
        yield (
            f"confusion, {keys}",
            lambda frame, by=by: frame.pr.confusion("relevant", ONE, threshold=0.5, by=by),
        )
        yield (
            f"confusion of shares, {keys}",
            lambda frame, by=by: frame.pr.confusion("relevant", ONE, k=["10%", "20%"], by=by),
        )
        yield (
            f"confusion at goals, {keys}",
            lambda frame, by=by: frame.pr.confusion(
                "relevant", ONE, threshold=["max_f1", "precision=0.25", 0.5], by=by
            ),
        )
        yield (
            f"tally, {keys}",
            lambda frame, by=by: frame.pr.tally("relevant", ONE, by=by),
        )
        yield (
            f"curve, {keys}",
            lambda frame, by=by: frame.pr.curve("relevant", ONE, by=by),
        )
        yield (
            f"average_curve, {keys}",
            lambda frame, by=by: frame.pr.average_curve(
                "relevant", ONE, mean_over="query", by=by, points=6
            ),
        )
        yield (
            f"best thresholds, {keys}",
            lambda frame, by=by: frame.pr.evaluate(
                ["max_f1", "threshold@max_f1", "max_f1@recall=0.6"], "relevant", ONE, by=by
            ),
        )


CALLS = dict(calls_by_keys()) | {
    "two means of two systems": lambda frame: frame.pr.evaluate(
        NAMES[:2], "relevant", TWO, mean_over="query"
    ),
    "three named means of two systems by one key": lambda frame: frame.pr.evaluate(
        SHORT, "relevant", TWO, mean_over="query", by="lang"
    ),
    "three named means by two keys": lambda frame: frame.pr.evaluate(
        SHORT, "relevant", ONE, mean_over="query", by=["lang", "shop"]
    ),
    "three metrics of two systems by two keys": lambda frame: frame.pr.evaluate(
        NAMES, "relevant", TWO, by=["lang", "shop"]
    ),
    "intervals of two systems by one key": lambda frame: frame.pr.intervals(
        NAMES, "relevant", TWO, mean_over="query", by="lang"
    ),
    "compare groups": lambda frame: frame.pr.compare(
        "roc_auc", "relevant", ONE, between="shop", baseline="north"
    ),
    "compare groups by one key": lambda frame: frame.pr.compare(
        "roc_auc", "relevant", ONE, between="shop", baseline="north", by="lang"
    ),
    "compare groups with the one before": lambda frame: frame.pr.compare(
        "roc_auc", "relevant", ONE, between="shop", baseline="previous"
    ),
    "compare three systems": lambda frame: frame.pr.compare(
        NAMES, "relevant", [*TWO, "mixed"], mean_over="query", baseline="bm25"
    ),
    "compare three systems by one key": lambda frame: frame.pr.compare(
        "roc_auc", "relevant", [*TWO, "mixed"], by="lang", baseline="bm25"
    ),
    "a bootstrap of the difference": lambda frame: frame.pr.compare(
        "max_f1", "relevant", TWO, by="lang", repeats=100
    ),
    "slices": lambda frame: frame.pr.evaluate("roc_auc", "relevant", ONE, slices=["lang"]),
    "slices of three metrics": lambda frame: frame.pr.evaluate(
        ["roc_auc", "mean_score", "brier_score"], "relevant", ONE, slices=["lang", "shop"]
    ),
    "slices of three metrics of rankings": lambda frame: frame.pr.evaluate(
        NAMES, "relevant", ONE, slices=["lang", "shop"]
    ),
    "intervals of slices": lambda frame: frame.pr.intervals(
        OF_ROWS, "relevant", ONE, slices=["lang", "shop"]
    ),
    "report of slices": lambda frame: frame.pr.report("relevant", ONE, slices=["lang"]),
    "report of slices with bounds": lambda frame: frame.pr.report(
        "relevant", ONE, slices=["lang"], confidence=0.95
    ),
    "confusion at a goal": lambda frame: frame.pr.confusion(
        "relevant", ONE, threshold="max_f1", by="lang"
    ),
    "confusion of two systems": lambda frame: frame.pr.confusion(
        "relevant", TWO, threshold=[0.25, 0.5], by="lang"
    ),
}


def screen_of_polars(frame):
    with pl.Config(tbl_width_chars=80):
        return str(frame)


def screen_of_pandas(frame):
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        return repr(frame)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_polars(name):
    result = CALLS[name](ROWS)
    text = screen_of_polars(result)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in lines[2], f"columns are folded:\n{text}"
    for column, value in result.row(0, named=True).items():
        if isinstance(value, float):
            shown = str(pl.Series([value])).splitlines()[-2].strip()
            assert shown in text, f"{column} = {shown} is broken:\n{text}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_pandas(name):
    result = CALLS[name](ROWS.to_pandas())
    text = screen_of_pandas(result)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert not {*result.columns} - {*lines[0].split()}, f"columns are hidden:\n{text}"


def test_the_columns_of_confusion():
    found = ROWS.pr.confusion("relevant", "bm25", threshold=0.5, by="lang")
    counts = ["tp", "fp", "fn", "tn", "precision", "recall"]
    assert found.columns == ["lang", "threshold", *counts]
    assert fp.confusion(ROWS, "relevant", "bm25", k=3, rates="f1").columns == ["k", *counts, "f1"]
    # After three columns of keys and cutoffs, rates are named by the caller.
    call = {"truth": "relevant", "score": "bm25", "threshold": 0.5, "by": ["lang", "shop"]}
    assert ROWS.pr.confusion(**call).columns == ["lang", "shop", "threshold", *counts[:4]]
    named = ROWS.pr.confusion(**call, rates=["recall", "f1"])
    assert named.columns == ["lang", "shop", "threshold", *counts[:4], "recall", "f1"]
