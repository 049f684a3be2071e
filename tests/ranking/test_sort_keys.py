import sys

import polars as pl
import pytest
from samples import SCORE_IDS, SCORES

from frame_pr.ranking.sort_keys import SortKey, score_code, score_of


def ordered(dtype, values) -> pl.DataFrame:
    scores = pl.DataFrame({"score": pl.Series(values, dtype=dtype)})
    return scores.with_columns(order=score_code(pl.col("score"), dtype))


@pytest.mark.parametrize(("dtype", "ascending"), SCORES, ids=SCORE_IDS)
def test_the_order_of_scores_and_back(dtype, ascending):
    table = ordered(dtype, ascending)
    assert table["order"].is_sorted()
    assert table["order"].n_unique() == len(ascending)
    back = table.select(score=score_of(pl.col("order"), dtype))
    assert back.equals(table.select("score"))
    assert back.schema == table.select("score").schema


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_the_two_zeros_are_one_score(dtype):
    # More than a few rows: polars has other ways through short columns.
    table = ordered(dtype, [0.0, -0.0] * 10)
    assert table["order"].to_list() == [0] * 20


@pytest.mark.parametrize("ascending", [False, True])
def test_groups_and_scores_have_64_bits_if_they_fit(ascending):
    key = SortKey(pl.Int64(), ascending=ascending, hits_first=False, drops=False)
    rows = pl.DataFrame(
        {"group": [7, 8, 8, 9], "score": [-5, 2**50, None, 3], "truth": [True, False, True, False]}
    )
    narrow = key.fitted(rows.lazy())
    assert (key.integer, narrow.integer) == (pl.Int128, pl.Int64)
    tables = [rows.select("group", "score", "truth", key=layout.pack()) for layout in (key, narrow)]
    for layout, table in zip((key, narrow), tables, strict=True):
        restored = table.select(
            group=layout.group(), score=layout.score(unranked=True), truth=layout.truth()
        )
        assert restored.equals(rows)
    rank_keys = [
        t.select(k.rank_key(unranked=True)) for k, t in zip((key, narrow), tables, strict=True)
    ]
    assert rank_keys[0].equals(rank_keys[1])


@pytest.mark.parametrize(
    "scores",
    [
        pl.Series(
            [-sys.float_info.max, 0.0, 1.0, 2.0]
        ),  # The smallest float has a code with as many factors of 2.
        pl.Series([-(2**63), 2**62, 2**61, 0]),
    ],
)
def test_codes_whose_difference_no_int64_holds_keep_their_order(scores: pl.Series) -> None:
    key = SortKey(scores.dtype, ascending=False, hits_first=False, drops=False)
    rows = pl.DataFrame({"group": 0, "score": scores, "truth": True})
    packed = rows.with_columns(key=key.fitted(rows.lazy()).pack())
    assert packed.sort("key")["score"].to_list() == sorted(scores, reverse=True)


@pytest.mark.parametrize("ascending", [False, True])
def test_float32_scores_of_both_signs_have_64_bits(ascending):
    # Their codes are multiples of 2**29: from -1.5 to 2.5 there are about 2**32 of them.
    key = SortKey(pl.Float32(), ascending=ascending, hits_first=False, drops=False)
    scores = pl.Series([-1.5, 0.0, 2.5, -1e-30, None], dtype=pl.Float32)
    rows = pl.DataFrame(
        {"group": [0, 1, 2, 2, 3], "score": scores, "truth": [True, False] * 2 + [True]}
    )
    narrow = key.fitted(rows.lazy())
    assert narrow.integer == pl.Int64
    table = rows.select(key=narrow.pack())
    restored = table.select(
        group=narrow.group(), score=narrow.score(unranked=True), truth=narrow.truth()
    )
    assert restored.equals(rows)


@pytest.mark.parametrize("ascending", [False, True])
def test_float64_scores_of_both_signs_have_64_bits_without_the_codes_around_zero(ascending):
    # From 0.1 to 3.5 there are 6 exponents of 2**52 floats, so both signs have under 2**56 codes.
    key = SortKey(pl.Float64(), ascending=ascending, hits_first=False, drops=False)
    scores = [-3.5, -0.25, -0.0, 0.1, 0.25, 3.5, None]
    rows = pl.DataFrame({"group": 5, "score": scores, "truth": [True] * 3 + [False] * 4})
    narrow = key.fitted(rows.lazy())
    assert narrow.integer == pl.Int64
    table = rows.select(key=narrow.pack())
    restored = table.select(score=narrow.score(unranked=True), truth=narrow.truth())
    assert restored.equals(rows.select("score", "truth"))
    assert table.select(narrow.rank_key(unranked=True)).equals(
        rows.select(key=key.pack()).select(key.rank_key(unranked=True))
    )
    # Thresholds at the scores, and in the gaps around 0 and beyond the ends.
    for threshold in (-9.0, -3.5, -0.2, -0.1, -5e-324, 0.0, 5e-324, 0.05, 0.1, 0.2, 3.5, 9.0):
        code = score_code(pl.lit(threshold), pl.Float64())
        score = pl.col("score")
        reaches = score <= threshold if ascending else score >= threshold
        is_reached = rows.select(reaches.fill_null(False)).to_series()
        assert table.select(narrow.reaches(code)).to_series().to_list() == is_reached.to_list()
