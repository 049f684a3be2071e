import polars as pl
import pytest
from compare import assert_same

import frame_pr as fp

# Hits at ranks 1, 2 and 4 of eight.
RUN = pl.DataFrame({"relevant": [1, 1, 0, 1, 0, 0, 0, 0], "score": [9, 8, 7, 6, 5, 4, 3, 2]})


def test_known_answer():
    result = fp.gains_table(RUN, "relevant", "score", bins=4)
    # Two rows in each bin. Of all rows 3/8 are hits: a bin of hits only has the lift 8/3.
    expected = pl.DataFrame(
        {
            "share": [0.25, 0.5, 0.75, 1.0],
            "k": [2, 4, 6, 8],
            "threshold": [8, 6, 4, 2],
            "tp": [2.0, 3.0, 3.0, 3.0],
            "precision": [1.0, 3 / 4, 3 / 6, 3 / 8],
            "recall": [2 / 3, 1.0, 1.0, 1.0],
            "lift": [8 / 3, 2.0, 4 / 3, 1.0],
            "bin_precision": [1.0, 0.5, 0.0, 0.0],
            "mean_score": [8.5, 6.5, 4.5, 2.5],
            "bin_recall": [2 / 3, 1 / 3, 0.0, 0.0],
            "bin_lift": [8 / 3, 4 / 3, 0.0, 0.0],
        }
    )
    assert_same(result, expected)


def test_each_row_is_what_evaluate_gives_there():
    data = pl.concat(
        [
            RUN.with_columns(q=pl.lit("a")),
            RUN.with_columns(q=pl.lit("b"), score=pl.col("score") // 3),
        ]
    )
    table = data.pr.gains_table("relevant", "score", bins=5, by="q")
    assert table["q"].to_list() == ["a"] * 5 + ["b"] * 5
    for share in (20, 40, 60, 80, 100):
        names = [
            f"{metric}@{share}%"
            for metric in ("k", "threshold", "tp", "precision", "recall", "lift")
        ]
        expected = data.pr.evaluate(names, "relevant", "score", by="q").rename(
            lambda name: name.partition("@")[0]
        )
        assert_same(table.filter(share=share / 100).select(expected.columns), expected)


def test_bins_add_up():
    tied = RUN.with_columns(pl.col("score") // 4)
    table = tied.pr.gains_table("relevant", "score")
    assert table["bin_recall"].sum() == pytest.approx(1.0)
    # Eight rows in ten bins: two of them are empty.
    assert table["bin_precision"].null_count() == 2
    assert table["k"].to_list() == [1, 2, 3, 4, 4, 5, 6, 7, 8, 8]
    # Two rows share the highest score, so no threshold selects one.
    assert table["threshold"].to_list()[:4] == [None, 2, 2, 2]


def test_without_positives_there_is_no_recall():
    table = RUN.with_columns(relevant=0).pr.gains_table("relevant", "score", bins=2)
    assert table.select("recall", "lift", "bin_recall", "bin_lift").null_count().row(0) == (
        2,
        2,
        2,
        2,
    )
    assert table["precision"].to_list() == [0.0, 0.0]


def test_the_mean_score_of_a_bin():
    # Two bins of two rows: means 0.85 and 0.3. A tie across both bins shares its score.
    data = pl.DataFrame({"y": [1, 0, 1, 0], "s": [0.9, 0.8, 0.4, 0.2]})
    for frame in (data, data.lazy(), data.to_pandas()):
        table = fp.gains_table(frame, "y", "s", bins=2)
        table = table.collect() if isinstance(table, pl.LazyFrame) else pl.DataFrame(table)
        assert table["mean_score"].to_list() == [pytest.approx(0.85), pytest.approx(0.3)]
        assert table["bin_precision"].to_list() == [0.5, 0.5]
    tied = data.with_columns(s=pl.Series([0.9, 0.5, 0.5, 0.1]))
    found = tied.pr.gains_table("y", "s", bins=2)["mean_score"].to_list()
    assert found == [pytest.approx(0.7), pytest.approx(0.3)]
    unscored = data.with_columns(s=pl.Series([0.9, 0.5, 0.5, None]))
    table = unscored.pr.gains_table("y", "s", bins=2, unscored="unretrieved")
    assert table["mean_score"].to_list() == [None, None]
