import polars as pl

from frame_pr.ranking.blocks import suffix_max, suffix_sum


def test_the_largest_precision_from_here_on():
    table = pl.DataFrame({"group": [-3, -3, -3, 4, 4, 5], "share": [0.5, 0.25, 0.75, 1 / 3, 0.0, 1.0]})
    best = table.select(suffix_max(pl.col("share"))).to_series()
    assert best.to_list() == [0.75, 0.75, 0.75, 1 / 3, 0.0, 1.0]


def test_the_sum_from_here_on_stays_in_its_group():
    table = pl.DataFrame({"last": [False, False, True, False, True, True], "term": [0.5, 0.25, 0.125, 0.5, 1.0, 0.75]})
    # By hand: 0.5 + 0.25 + 0.125, 0.25 + 0.125 and 0.125; then 0.5 + 1 and 1; then 0.75. Each has an exact float.
    later = table.select(suffix_sum(pl.col("term"))).to_series()
    assert later.to_list() == [0.875, 0.375, 0.125, 1.5, 1.0, 0.75]
