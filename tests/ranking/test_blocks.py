import math

import polars as pl
import pytest
from oracle import points
from samples import SCORE_IDS, SCORES

from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.ranking.blocks import blocks_of, suffix_max, suffix_sum
from frame_pr.ranking.sort import numbered_rows

INFINITY = math.inf
BLOCK_COLUMNS = [
    *("rank_key", "threshold", "size", "hits", "k", "tp", "ties", "misses", "retrieved"),
    *("positives", "rows", "interpolated_precision", "later_hits", "later_misses"),
]


def table_of(rows: pl.DataFrame, columns=BLOCK_COLUMNS, **options) -> pl.DataFrame:
    """The blocks of canonical rows, whose groups are numbers already."""
    ranked, _ = rows_of(rows, request_of("truth", "score", None, None, {}))
    ranked = ranked._replace(frame=rows.lazy(), height=rows.height)
    return blocks_of(ranked, columns, **options).collect()


@pytest.mark.parametrize(("dtype", "ascending"), SCORES, ids=SCORE_IDS)
def test_blocks_of_neighbouring_groups_stay_apart(dtype, ascending):
    # The highest and the lowest scores of each dtype, in groups whose codes follow one another, at
    # the ends of the range of codes too.
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
    table = table_of(ROWS, columns=[*BLOCK_COLUMNS, "first"])
    columns = [
        "group",
        "threshold",
        "size",
        "hits",
        "k",
        "tp",
        "positives",
        "rows",
        "ties",
        "first",
        "last",
    ]
    assert table.select(columns).rows() == [
        (5, 3, 2, 1, 2, 1, 3, 6, 2, True, False),
        (5, 2, 1, 0, 3, 1, 3, 6, 0, False, False),
        (5, 1, 2, 2, 5, 3, 3, 6, 2, False, False),
        (5, 0, 1, 0, 6, 3, 3, 6, 0, False, True),
        (7, 9, 1, 0, 1, 0, 0, 3, 0, True, False),
        (7, 8, 2, 0, 3, 0, 0, 3, 2, False, True),
    ]
    # 3/5 from the block at threshold 1 is the best that group 5 ever has; it does not reach into
    # group 7.
    assert table["interpolated_precision"].to_list() == [0.6, 0.6, 0.6, 0.5, 0.0, 0.0]


def test_the_steps_are_blocks_with_a_positive_and_the_last_of_each_group():
    whole = table_of(ROWS)
    steps = table_of(ROWS, steps=True)
    assert steps["threshold"].to_list() == [3, 1, 0, 8]
    kept = whole.filter((pl.col("hits") > 0) | pl.col("last"))
    # What is counted since the block before adds up to the same.
    assert steps.drop("misses").equals(kept.select(steps.columns).drop("misses"))
    misses = [
        table.group_by("group", maintain_order=True).agg(pl.col("misses").sum())
        for table in (steps, whole)
    ]
    assert misses[0].equals(misses[1])


def test_the_first_block_of_each_group_stays_where_asked_for():
    steps = table_of(ROWS, columns=["threshold", "k", "first"], steps=True)
    assert steps["threshold"].to_list() == [3, 1, 0, 9, 8]
    assert steps["k"].to_list() == [2, 5, 6, 1, 3]


def test_the_order_of_the_rows_does_not_matter():
    expected = table_of(ROWS)
    for seed in range(5):
        shuffled = ROWS.sample(fraction=1, shuffle=True, seed=seed)
        assert table_of(shuffled).equals(expected)


def canonical(rows: pl.DataFrame, options: dict[str, object], *, drops: bool = False):
    ranked, _ = rows_of(rows, request_of("truth", "score", None, None, options))
    return ranked._replace(frame=rows.lazy(), height=rows.height, drops=drops)


# From 2**17 rows on, keys are narrowed where they fit, and from 2**18 on, equal ones are counted
# first if most are.
HALF = 140_000


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("ties", ["threshold", "optimistic", "pessimistic", "expected"])
def test_many_rows_with_few_keys(ties, drops):
    number = pl.int_range(2 * HALF)
    rows = pl.select(
        group=number % 2, score=number % 3, truth=number % 7 < 3, dropped=number % 5 == 0
    )
    ranked, counts = (
        canonical(rows, {"ties": ties}, drops=drops),
        rows.filter(~pl.col("dropped")) if drops else rows,
    )
    bounds = ties in ("optimistic", "pessimistic")
    sums = counts.group_by("group", "score", *(["truth"] if bounds else [])).agg(
        size=pl.len(), hits=pl.sum("truth")
    )
    expected = sums.sort(
        "group", pl.col("score") * -1, pl.col("hits") * (-1 if ties == "optimistic" else 1)
    )
    blocks = blocks_of(ranked, BLOCK_COLUMNS).filter(pl.col("size") > 0).collect()
    assert (
        blocks.select("group", "threshold", "size", "hits").rows()
        == expected.drop("truth", strict=False).rows()
    )
    if bounds:
        assert blocks_of(ranked, BLOCK_COLUMNS, each_row=True).filter(
            pl.col("size") > 0
        ).collect().height == len(counts)


@pytest.mark.parametrize("options", [{}, {"ties": "order"}, {"weight": "weight"}])
@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.Decimal(9, 2)])
@pytest.mark.parametrize("groups", [1, 3, 100])
def test_rows_that_would_not_fit_into_memory_twice(groups, dtype, options):
    # Keys of Float64 with a place, and those of decimals, have room for any group.
    number = pl.int_range(1000)
    rows = pl.select(
        group=number % groups * 7,
        score=(number * 31 % 103).cast(dtype),
        truth=number % 7 < 3,
        weight=2**40 + number,
        tie=number,
    )
    ranked = canonical(rows, options)
    many = ranked._replace(height=2**28)
    expected = blocks_of(ranked, BLOCK_COLUMNS).collect()
    assert blocks_of(many, BLOCK_COLUMNS).collect().equals(expected)
    _, block_numbers = numbered_rows(ranked)
    assert numbered_rows(many)[1].equals(block_numbers)


@pytest.mark.parametrize("missing", [0, 2**33 - 1])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int64, pl.Int8])
@pytest.mark.parametrize("groups", [1, 7])
def test_places_among_equal_scores_are_the_same_in_narrow_keys(groups, dtype, missing):
    # Keys of Float64 with a place are never narrowed.
    number = pl.int_range(HALF)
    rows = pl.select(
        group=number % groups,
        score=number * 31 % 103 - 50,
        truth=number % 7 < 3,
        tie=pl.when(number % 11 > 0).then(number * 7 % 20_000).otherwise(missing),
        dropped=number % 5 == 0,
    )
    wide, narrow = (
        canonical(rows.with_columns(pl.col("score").cast(of_scores)), {"ties": "order"}, drops=True)
        for of_scores in (pl.Float64, dtype)
    )
    expected = blocks_of(wide, BLOCK_COLUMNS).collect()
    assert expected.height > HALF / 2
    found = blocks_of(narrow, BLOCK_COLUMNS).collect()
    columns = ["group", "size", "hits", "k", "tp", "positives", "rows"]
    assert found.select(columns).equals(expected.select(columns))
    assert found["threshold"].cast(pl.Float64).equals(expected["threshold"])


@pytest.mark.parametrize("unscored", ["drop", "unretrieved"])
@pytest.mark.parametrize("height", [700, 2 * HALF])
@pytest.mark.parametrize(
    "scores",
    [
        [0.3, 0.1, 0.2],
        [1e300, -0.0, 5e-324, 0.0],
        [1, 2**40],
        [-1, 2**58],
        [1, None],
        range(350),
        range(HALF),
    ],
)
def test_rows_have_the_numbers_of_their_retrieved_blocks(scores, height, unscored):
    number = pl.int_range(height)
    rows = pl.select(
        group=number * 7 % 2,
        score=pl.lit(pl.Series(scores)).gather(number * 11 % len(scores)),
        truth=number % 3 == 0,
        dropped=number % 5 == 0,
    )
    retrieved = pl.col("score").is_not_null()
    if unscored == "drop":
        retrieved &= ~pl.col("dropped")
    key = pl.struct("group", pl.col("score") * -1 + 0.0)
    number = pl.when(retrieved).then(pl.when(retrieved).then(key).rank("dense") - 1)
    _, numbers = numbered_rows(
        canonical(rows, {"unscored": "unretrieved"}, drops=unscored == "drop")
    )
    assert numbers.equals(rows.select(number).to_series())


@pytest.mark.parametrize(
    ("bits", "height"),
    [*((n, 700) for n in range(36, 60)), *((n, 2 * HALF) for n in range(20, 32))],
)
def test_rows_have_their_numbers_however_long_the_keys_are(bits, height):
    # With the place of its row, a key of few rows has about 127 bits, and one of many rows, which
    # is narrowed, 63.
    number = pl.int_range(height)
    rows = pl.select(
        group=number % 2 * 2**bits + number % 3, score=number * 31 % 100_003, truth=number % 3 == 0
    )
    _, numbers = numbered_rows(canonical(rows, {}))
    ranks = pl.struct("group", pl.col("score") * -1).rank("dense") - 1
    assert numbers.equals(rows.select(ranks).to_series())


FITTING = [
    [0.1, 0.25, 0.5, -0.0, 0.0, None],
    [-1.5, -1.25, 0.0, 2.0],
    [math.inf, -math.inf, 0.5],
    [1e-300, 5e-324],
    [3, 1, -7],
    [None],
    range(HALF),
    [number / 7 for number in range(HALF)],
]


@pytest.mark.parametrize(
    ("groups", "ascending", "drops"),
    [([0, 2**60 - 1], False, True), ([0, 1], True, False), ([2**60 - 2, 2**60 - 1], True, True)],
)
@pytest.mark.parametrize("scores", FITTING, ids=lambda scores: f"{len(scores)} from {scores[0]}")
def test_twice_as_many_rows_are_the_same_blocks_of_twice_the_size(groups, scores, ascending, drops):
    dtype = pl.Float64 if any(isinstance(score, float) for score in scores) else pl.Int64
    rows = pl.select(number=pl.int_range(HALF)).select(
        group=pl.lit(pl.Series(groups)).gather(pl.col("number") % 2),
        score=pl.lit(pl.Series(scores, dtype=dtype)).gather(pl.col("number") * 7 % len(scores)),
        truth=pl.col("number") % 3 == 0,
        dropped=pl.col("number") % 5 == 0,
    )
    few, many = (
        canonical(
            pl.concat([rows] * copies),
            {"ascending": ascending, "unscored": "unretrieved"},
            drops=drops,
        )
        for copies in (1, 2)
    )
    counts = ["size", "hits", "k", "tp", "positives", "rows", "misses"]
    columns = [
        *counts,
        "threshold",
        "rank_key",
        "first",
        "retrieved",
        "interpolated_precision",
        "later_hits",
    ]
    for steps in (False, True):
        expected = (
            blocks_of(few, columns, steps=steps)
            .select("group", *columns)
            .with_columns(pl.col(counts) * 2)
        )
        assert (
            blocks_of(many, columns, steps=steps)
            .select("group", *columns)
            .collect()
            .equals(expected.collect())
        )


@pytest.mark.parametrize("column", ["weight", "count"])
@pytest.mark.parametrize("largest", [5, 2**23, 2**40])
def test_small_and_large_numbers_stay_with_their_rows(column, largest):
    number = pl.int_range(200)
    rows = pl.select(
        score=number * 7 % 50, truth=number % 3 == 0, **{column: number * 31 % largest + 1}
    )
    blocks = table_of_options(rows, {column: column})
    sums = rows.group_by("score").agg(
        size=pl.col(column).sum(), hits=(pl.col(column) * pl.col("truth")).sum()
    )
    expected = sums.sort("score", descending=True)
    assert blocks.select("threshold", "size", "hits").rows() == expected.rows()


def table_of_options(rows: pl.DataFrame, options: dict[str, object]) -> pl.DataFrame:
    ranked, _ = rows_of(rows, request_of("truth", "score", None, None, options))
    return blocks_of(ranked, BLOCK_COLUMNS).collect()


def test_the_largest_precision_from_here_on():
    table = pl.DataFrame(
        {"group": [-3, -3, -3, 4, 4, 5], "share": [0.5, 0.25, 0.75, 1 / 3, 0.0, 1.0]}
    )
    best = table.select(suffix_max(pl.col("share"))).to_series()
    assert best.to_list() == [0.75, 0.75, 0.75, 1 / 3, 0.0, 1.0]


def test_the_sum_from_here_on_stays_in_its_group():
    table = pl.DataFrame(
        {
            "last": [False, False, True, False, True, True],
            "term": [0.5, 0.25, 0.125, 0.5, 1.0, 0.75],
        }
    )
    # By hand: 0.5 + 0.25 + 0.125, 0.25 + 0.125 and 0.125; then 0.5 + 1 and 1; then 0.75. Each has
    # an exact float.
    later = table.select(suffix_sum(pl.col("term"))).to_series()
    assert later.to_list() == [0.875, 0.375, 0.125, 1.5, 1.0, 0.75]
