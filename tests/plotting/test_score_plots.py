import numpy as np
import polars as pl
import pytest
from pictures import axes, random_run, render

import frame_pr as fp


def entries(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heights(ax):
    """Of negatives, then of positives: drawn as an outline each, and filled."""
    return [one.get_data().values for one in ax.patches[-2::-2]]


def test_shares_of_positives_and_negatives():
    run = random_run(rows=500)
    ax = fp.plot_scores(run, "relevant", "score", bins=7, threshold=0.5, ax=axes())
    edges = np.histogram_bin_edges(run["score"], 7)
    for found, relevant in zip(heights(ax), (False, True), strict=True):
        own = run.filter(pl.col("relevant") == relevant)["score"]
        assert found == pytest.approx(np.histogram(own, edges)[0] / len(own))
    recall, fpr = fp.evaluate(run, ["recall@threshold=0.5", "fpr@threshold=0.5"], "relevant", "score").row(0)
    positives = run["relevant"].sum()
    assert entries(ax) == [
        f"positives ({positives}, {recall:.0%} predicted)",
        f"negatives ({500 - positives}, {fpr:.0%} predicted)",
        "threshold 0.5",
    ]
    render(ax.figure)


def test_policies_and_labels():
    run = pl.DataFrame({"d": [1.0, 2.0, 3.0, None], "t": ["y", "n", "y", "n"], "w": [1, 2, 3, 4]})
    given = {"positive": "y", "ascending": True, "unscored": "unretrieved", "weight": "w"}
    ax = fp.plot_scores(run, "t", "d", bins=2, threshold=2, **given, ax=axes())
    assert entries(ax)[:2] == ["positives (4, 25% predicted)", "negatives (2, 100% predicted)"]
    assert [found.tolist() for found in heights(ax)] == [[0, 1], [0.25, 0.75]]


@pytest.mark.parametrize("truth", [[], [1, 1], [0, 0]])
def test_no_rows_and_one_class(truth):
    run = pl.DataFrame({"t": truth, "s": [0.5] * len(truth)}, schema={"t": pl.Int64, "s": pl.Float64})
    ax = fp.plot_scores(run, "t", "s", ax=axes())
    render(ax.figure)
    assert [text.get_text() for text in ax.texts] == ([] if truth else ["no rows"])


def test_too_many_bins():
    with pytest.raises(ValueError, match="bins must be at most 10000, got 10001"):
        fp.plot_scores(random_run(), "relevant", "score", bins=10_001)


def test_an_outlier_does_not_put_all_else_into_one_bin():
    run = random_run(rows=500).with_columns(score=pl.when(pl.int_range(pl.len()) == 7).then(1e4).otherwise("score"))
    ax = fp.plot_scores(run, "relevant", "score", ax=axes())
    assert ax.get_xlim()[1] < 20
    assert entries(ax)[2:] == ["beyond the axis: 1 row"]
    assert max(heights(ax)[0]) < 0.5


def test_no_positives_are_no_line_along_zero():
    run = pl.DataFrame({"t": [0, 0, 0], "s": [1.0, 2.0, 3.0]})
    ax = fp.plot_scores(run, "t", "s", ax=axes())
    assert entries(ax) == ["negatives (3)", "positives (0): none"] or entries(ax) == [
        "positives (0): none",
        "negatives (3)",
    ]
    assert len(ax.patches) == 2
