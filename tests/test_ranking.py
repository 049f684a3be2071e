import math
from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest
from oracle import points

from frame_pr import ranking
from frame_pr.inputs import rows_of

INFINITY = math.inf


def table_of(rows: pl.DataFrame, **given) -> pl.DataFrame:
    """The blocks of canonical rows, whose groups are numbers already."""
    return ranking.curve(replace(rows_of(rows, "truth", "score"), frame=rows.lazy()), **given).collect()


FLOATS = [-INFINITY, -1e308, -1.5, -1e-300, -5e-324, 0.0, 5e-324, 1e-300, 0.1, 1.0, 1.0 + 2**-52, 1e308, INFINITY]
FLOAT32 = [-INFINITY, -3e38, -1.5, -1e-45, 0.0, 1e-45, 0.5, 1.0, 1.0 + 2**-23, 3e38, INFINITY]
SCORES = [
    (pl.Float64, FLOATS),
    (pl.Float32, FLOAT32),
    (pl.Int8, [-128, -1, 0, 1, 127]),
    (pl.UInt8, [0, 1, 255]),
    (pl.Int64, [-(2**63), -(2**53) - 1, -(2**53), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]),
    (pl.UInt64, [0, 1, 2**63 - 1, 2**63, 2**64 - 1]),
    (pl.Decimal(20, 3), [Decimal(text) for text in ("-123456789.001", "-0.001", "0.000", "0.001", "7.500")]),
]
IDS = [str(dtype) for dtype, _ in SCORES]


def ordered(dtype, values) -> pl.DataFrame:
    scores = pl.DataFrame({"score": pl.Series(values, dtype=dtype)})
    return scores.with_columns(order=ranking.order_of(pl.col("score"), dtype))


@pytest.mark.parametrize(("dtype", "ascending"), SCORES, ids=IDS)
def test_the_order_of_scores_and_back(dtype, ascending):
    table = ordered(dtype, ascending)
    assert table["order"].is_sorted()
    assert table["order"].n_unique() == len(ascending)
    back = table.select(score=ranking.score_of(pl.col("order"), dtype))
    assert back.equals(table.select("score"))
    assert back.schema == table.select("score").schema


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_the_two_zeros_are_one_score(dtype):
    # More than a few rows: polars has other ways through short columns.
    table = ordered(dtype, [0.0, -0.0] * 10)
    assert table["order"].to_list() == [0] * 20


@pytest.mark.parametrize(("dtype", "ascending"), SCORES, ids=IDS)
def test_blocks_of_neighbouring_groups_stay_apart(dtype, ascending):
    # The highest and the lowest scores of each dtype, in groups whose codes follow one another, at the ends of the
    # range of codes too.
    groups = [0, 1, 2, 2**60 - 1]
    rows = pl.DataFrame(
        {
            "group": [group for group in groups for _ in ascending],
            "score": pl.Series(ascending * len(groups), dtype=dtype),
            "truth": [i % 3 == 0 for i in range(len(ascending) * len(groups))],
        }
    )
    table = table_of(rows)
    ascending = rows["score"].to_list()[: len(ascending)]  # as they are in this dtype
    assert table["group"].to_list() == [group for group in groups for _ in ascending]
    assert table["threshold"].to_list() == ascending[::-1] * len(groups)
    for (group,), part in rows.group_by("group"):
        expected = points(part["truth"].to_list(), part["score"].to_list())
        assert table.filter(group=group).select("threshold", "k", "tp").rows() == expected


ROWS = pl.DataFrame(
    {
        "group": [5, 5, 5, 5, 5, 5, 7, 7, 7],
        "score": [3, 3, 2, 1, 1, 0, 9, 8, 8],
        "truth": [1, 0, 0, 1, 1, 0, 0, 0, 0],
    }
).cast({"truth": pl.Boolean})


def test_the_table_of_blocks():
    table = table_of(ROWS)
    columns = ["group", "threshold", "size", "hits", "k", "tp", "positives", "rows", "ties", "first", "last"]
    assert table.select(columns).rows() == [
        (5, 3, 2, 1, 2, 1, 3, 6, 2, True, False),
        (5, 2, 1, 0, 3, 1, 3, 6, 0, False, False),
        (5, 1, 2, 2, 5, 3, 3, 6, 2, False, False),
        (5, 0, 1, 0, 6, 3, 3, 6, 0, False, True),
        (7, 9, 1, 0, 1, 0, 0, 3, 0, True, False),
        (7, 8, 2, 0, 3, 0, 0, 3, 2, False, True),
    ]
    # 3/5 from the block at threshold 1 is the best that group 5 ever has; it does not reach into group 7.
    assert table["interpolated_precision"].to_list() == [0.6, 0.6, 0.6, 0.5, 0.0, 0.0]


def test_the_steps_are_blocks_with_a_positive_and_the_last_of_each_group():
    whole = table_of(ROWS)
    steps = table_of(ROWS, steps=True)
    assert steps["threshold"].to_list() == [3, 1, 0, 8]
    kept = whole.filter((pl.col("hits") > 0) | pl.col("last"))
    assert steps.equals(kept.select(steps.columns))


def test_the_first_block_of_each_group_stays_where_asked_for():
    steps = table_of(ROWS, steps=True, first=True)
    assert steps["threshold"].to_list() == [3, 1, 0, 9, 8]
    assert steps["k"].to_list() == [2, 5, 6, 1, 3]


def test_the_order_of_the_rows_does_not_matter():
    expected = table_of(ROWS)
    for seed in range(5):
        shuffled = ROWS.sample(fraction=1, shuffle=True, seed=seed)
        assert table_of(shuffled).equals(expected)


def test_the_largest_precision_from_here_on():
    table = pl.DataFrame({"group": [-3, -3, -3, 4, 4, 5], "share": [0.5, 0.25, 0.75, 1 / 3, 0.0, 1.0]})
    best = table.select(ranking.suffix_max(pl.col("share"))).to_series()
    assert best.to_list() == [0.75, 0.75, 0.75, 1 / 3, 0.0, 1.0]
