"""Statistics of a LazyFrame, of rows in another order, of no rows, and of null keys."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_pr as fp

pytestmark = pytest.mark.filterwarnings("ignore::frame_pr.DataWarning")
RNG = np.random.default_rng(0)
COLUMNS = {
    "q": np.arange(240) // 12,
    "w": np.arange(240) // 12 % 3,
    "topic": np.arange(240) // 12 % 7,
    "y": RNG.random(240) < 0.4,
}
SCORES = {name: RNG.random(240).round(2) for name in "ab"}
DATA = pl.DataFrame({**COLUMNS, **SCORES, "user": RNG.integers(0, 30, 240)})
NAMES = ["average_precision", "roc_auc", "recall@threshold=0.5"]
DRAWN = {"method": "bootstrap", "repeats": 100}
CALLS = [
    lambda f: fp.intervals(f, NAMES, "y", ["a", "b"], by="q"),
    lambda f: fp.intervals(f, [*NAMES, "ndcg@5"], "y", "a", by="w", mean_over="q"),
    lambda f: fp.intervals(f, NAMES, "y", "a", by="w", cluster="user"),
    lambda f: fp.intervals(f, ["max_f1", "precision@10%"], "y", ["a", "b"], by="w", **DRAWN),
    lambda f: fp.intervals(f, "max_f1", "y", "a", by="w", mean_over="q", sampled="rows", **DRAWN),
    lambda f: fp.compare(
        f, NAMES, "y", ["a", "b"], by=["w", "q"], mean_over="q", test="permutation", seed=3
    ),
    # With more than 20 groups, signs are drawn: one seed, one p-value.
    lambda f: fp.compare(
        f, NAMES[:2], "y", ["a", "b"], mean_over="user", test="permutation", seed=7
    ),
    lambda f: fp.compare(f, NAMES, "y", ["a", "b"], cluster="user", by="w"),
    lambda f: fp.compare(f, NAMES, "y", ["a", "b"], by="user", between="w"),
    lambda f: fp.compare(f, NAMES, "y", ["a", "b"], by="w"),
    lambda f: fp.compare(f, NAMES, "y", "a", between="w", baseline="previous", cluster="user"),
    lambda f: fp.compare(f, NAMES, "y", "a", between="w", mean_over="q", baseline=1),
    lambda f: fp.compare(f, NAMES, "y", ["a", "b"], mean_over="user", sampled="rows"),
    lambda f: fp.compare(f, "ndcg@5", "y", ["a", "b"], mean_over="q", cluster="topic"),
    lambda f: fp.intervals(f, ["ndcg@5", "roc_auc"], "y", "a", mean_over="q", cluster="topic"),
    lambda f: fp.average_curve(f, "y", ["a", "b"], by="w", mean_over="q"),
    lambda f: fp.report(f, "y", ["a", "b"], by="q", confidence=0.9),
]


@pytest.mark.parametrize("call", CALLS)
def test_every_frame_has_the_same_numbers(call):
    expected, lazy = call(DATA), call(DATA.lazy())
    assert lazy.collect_schema() == expected.schema == call(DATA.clear()).schema
    for result in (lazy.collect(), call(DATA.sample(fraction=1, shuffle=True, seed=5))):
        assert_frame_equal(result, expected, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("call", CALLS)
def test_a_null_is_a_key_like_another(call):
    # Null sorts first, as 0 does.
    result = call(DATA.with_columns(pl.col("q", "w").replace(0, None)))
    keys = [
        key
        for key in ("q", "w", "baseline", "system")
        if key in result and result[key].dtype == pl.Int64
    ]
    assert result[keys].null_count().sum_horizontal().sum() > 0 or not keys
    assert_frame_equal(
        result.with_columns(pl.col(keys).fill_null(0)), call(DATA), rel_tol=1e-9, abs_tol=1e-12
    )
