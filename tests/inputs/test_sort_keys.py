import sys

import polars as pl
import pytest
from samples import SCORE_IDS, SCORES

from frame_pr.inputs.sort_keys import SortKey, score_code, score_of


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
@pytest.mark.parametrize(
    ("numbers", "integer"), [(2**4, pl.Int64), (2**20, pl.Int128)], ids=["with numbers", "without numbers"]
)
def test_groups_and_scores_have_64_bits_if_they_fit_without_the_numbers_of_rows(numbers, integer, ascending):
    key = SortKey(pl.Int64(), ascending=ascending, places=True, hits_first=False, drops=False)
    rows = pl.DataFrame({"group": [7, 8, 8, 9], "score": [-5, 2**50, None, 3], "truth": [True, False, True, False]})
    rows = rows.with_columns(number=pl.int_range(4) + numbers - 4)
    narrow = key.narrowed(rows, numbers)
    assert (narrow.layout.integer, narrow.layout.blocks) == (integer, pl.Int64)
    packed = rows.select("number", "truth", key=narrow.pack(narrow.place_of_row()))
    assert packed.schema["key"] == integer
    restored = packed.select(number=narrow.number_of_row(), truth=narrow.truth() == 1)
    assert restored.equals(rows.select("number", "truth"))
    wide = rows.select("score", key=key.pack(key.place_of_row()))
    of_scores = [
        table.filter(rows["score"].is_not_null())
        .with_columns(bits=layout.bits())
        .select(layout.rank_key(), score=layout.score())
        for layout, table in ((narrow, packed), (key, wide))
    ]
    assert of_scores[0].equals(of_scores[1])
    assert of_scores[0]["score"].equals(rows["score"].drop_nulls())


@pytest.mark.parametrize(
    "scores",
    [
        pl.Series([-sys.float_info.max, 0.0, 1.0, 2.0]),  # The smallest float has a code with as many factors of 2.
        pl.Series([-(2**63), 2**62, 2**61, 0]),
    ],
)
def test_codes_whose_difference_no_int64_holds_keep_their_order(scores: pl.Series) -> None:
    key = SortKey(scores.dtype, ascending=False, places=False, hits_first=False, drops=False)
    rows = pl.DataFrame({"group": 0, "score": scores, "truth": True})
    packed = rows.with_columns(key=key.narrowed(rows).pack())
    assert packed.sort("key")["score"].to_list() == sorted(scores, reverse=True)
