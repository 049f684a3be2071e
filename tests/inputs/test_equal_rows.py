"""Equal rows are aggregated first where a sample shows many, with the same values."""

from decimal import Decimal

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.inputs import equal_rows, validate
from frame_pr.inputs.equal_rows import aggregate_equal_rows, is_few


@pytest.mark.parametrize(
    ("distinct", "samples", "few"),
    [(10, [100], True), (2000, [100], False), (90, [100, 400], True), (600, [100, 400], False)],
)
def test_the_first_sample_decides_if_it_can(monkeypatch, distinct, samples, few):
    monkeypatch.setattr(equal_rows, "_SAMPLES", (100, 400))
    sizes, sample = [], pl.DataFrame.sample
    monkeypatch.setattr(pl.DataFrame, "sample", lambda rows, n, **given: sizes.append(n) or sample(rows, n, **given))
    rows = pl.DataFrame({"key": pl.int_range(4000, eager=True) % distinct})
    assert is_few(rows, pl.col("key")) == few
    assert sizes == samples


def test_rows_must_be_more_than_two_samples(monkeypatch):
    monkeypatch.setattr(equal_rows, "_SAMPLES", (100, 400))
    rows = pl.DataFrame({"key": [1] * 801})
    assert is_few(rows, pl.col("key"))
    assert not is_few(rows.head(800), pl.col("key"))


def test_equal_rows_become_one_row_for_each_label():
    rows = pl.DataFrame({"q": [1, 1, 1, None, None, 1], "s": [0.0, -0.0, 0.5, None, None, 0.0]})
    rows = rows.with_columns(truth=pl.Series([True, False, True, False, False, True]))
    counted = aggregate_equal_rows(rows.lazy(), ["q", "s"])
    assert counted.schema["count"] == pl.Int64
    assert sorted(counted.select("q", "s", "truth", "count").rows(), key=str) == sorted(
        [(1, 0.0, True, 2), (1, 0.0, False, 1), (1, 0.5, True, 1), (None, None, False, 2)], key=str
    )


NUMBER = pl.int_range(2000)
ROWS = pl.select(
    q=NUMBER * 7 % 3,
    text="q" + (NUMBER * 7 % 3).cast(pl.String),
    missing=pl.when(NUMBER % 3 > 0).then(NUMBER % 3),
    real=(NUMBER * 7 % 3) / 2,
    nested=pl.concat_list(NUMBER * 7 % 3),
    nothing=pl.lit(None),
    relevant=NUMBER * 13 % 17 < 6,
    label=pl.when(NUMBER % 11 > 0).then(NUMBER * 13 % 17 < 6),
    score=(NUMBER * 31 % 9) / 8,
    gaps=pl.when(NUMBER % 13 > 0).then((NUMBER * 31 % 9) / 8),
    nan=pl.when(NUMBER % 13 > 0).then((NUMBER * 31 % 9) / 8).otherwise(float("nan")),
    decimal=pl.lit(pl.Series([Decimal("0.25"), Decimal("-1.5")])).gather(NUMBER % 2),
    w=NUMBER % 4,
)
METRICS = ["average_precision", "roc_auc", "ndcg@5", "success@2", "precision@10%", "ties", "rows", "f1@threshold=0.5"]
CURVES = {
    "DataFrame.pr.curve": lambda rows, **given: rows.pr.curve("relevant", **given),
    "evaluate": lambda rows, **given: rows.pr.evaluate(METRICS, "relevant", **given),
}


@pytest.fixture
def aggregated(monkeypatch):
    """The numbers of rows that are aggregated, in frames however small."""
    monkeypatch.setattr("frame_pr.inputs.templates.SMALL", 0)
    heights, aggregate = [], aggregate_equal_rows
    monkeypatch.setattr(
        validate,
        "aggregate_equal_rows",
        lambda rows, keys: heights.append(rows.select(pl.len()).collect().item()) or aggregate(rows, keys),
    )
    return heights


@pytest.mark.parametrize("call", CURVES)
@pytest.mark.parametrize(
    "given",
    [
        {"by": "q"},
        {"by": ["text", "q"]},
        {"by": "missing", "ascending": True},
        {"score": "gaps", "unscored": "unretrieved"},
        {"score": "gaps", "unscored": "drop", "by": "q"},
        {"score": "nan", "unscored": "unretrieved", "by": "q"},
        {"score": "decimal", "by": "q"},
        {"truth": "w", "positive": 3, "by": "text"},
    ],
)
def test_values_are_those_of_all_rows(monkeypatch, aggregated, call, given):
    given = {"score": "score"} | given
    rows = ROWS if "truth" not in given else ROWS.with_columns(relevant=given.pop("truth"))
    expected = CURVES[call](rows, **given)
    assert not aggregated
    monkeypatch.setattr(equal_rows, "_SAMPLES", (200,))
    for frame in (rows, rows.sample(fraction=1, shuffle=True, seed=1)):
        assert CURVES[call](frame, **given).equals(expected)
    assert aggregated == [2000, 2000]


@pytest.mark.parametrize(
    "given",
    [
        {"by": "real"},
        {"by": "nested"},
        {"by": "nothing"},
        {"weight": "w"},
        {"count": "w"},
        {"truth": "label", "unjudged": "negative"},
        {"truth": "label", "unjudged": "drop"},
        {"ties": "optimistic"},
        {"ties": "pessimistic"},
        {"ties": "order"},
        {"tie_break": "w"},
        {"rows": pl.DataFrame({"q": [0, 1, 2], "n": [5000] * 3}), "by": "q"},
        {"prevalence": 0.5},
        {"score": ["score", "w"]},
    ],
)
def test_rows_that_differ_otherwise_are_not_aggregated(monkeypatch, aggregated, given):
    given = {"truth": "relevant", "score": "score"} | given
    expected = fp.curve(ROWS, **given)
    monkeypatch.setattr(equal_rows, "_SAMPLES", (200,))
    assert fp.curve(ROWS, **given).equals(expected)
    assert not aggregated


def test_metrics_at_thresholds_need_no_aggregated_rows(monkeypatch, aggregated):
    monkeypatch.setattr(equal_rows, "_SAMPLES", (200,))
    ROWS.pr.evaluate("f1@threshold=0.5", "relevant", "score", by="q")
    assert not aggregated
    ROWS.pr.evaluate("average_precision", "relevant", "score", by="q")
    assert aggregated == [2000]
