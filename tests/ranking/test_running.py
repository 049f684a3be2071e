import polars as pl

from frame_pr.ranking.blocks import suffix_max


def test_the_largest_precision_from_here_on():
    table = pl.DataFrame({"group": [-3, -3, -3, 4, 4, 5], "share": [0.5, 0.25, 0.75, 1 / 3, 0.0, 1.0]})
    best = table.select(suffix_max(pl.col("share"))).to_series()
    assert best.to_list() == [0.75, 0.75, 0.75, 1 / 3, 0.0, 1.0]
