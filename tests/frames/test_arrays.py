"""A dict of arrays is a frame, and other objects that are none get the call that works."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frame_pr as fp

LABELS = [0, 1, 0, 1]
SCORES = [0.4, 0.3, 0.2, 0.1]
FRAME = pl.DataFrame({"y": LABELS, "s": SCORES, "t": SCORES[::-1], "q": [1, 1, 2, 2]})


@pytest.mark.parametrize("make", [list, tuple, np.array, pl.Series, pd.Series, pa.array])
def test_a_dict_of_arrays(make):
    arrays = {"y": make(LABELS), "s": make(SCORES), "q": 1}
    result = fp.average_precision(arrays, "y", "s", by="q")
    # The positives have ranks 2 and 4: (1/2 + 2/4) / 2.
    assert result.rows() == [(1, 0.5)]
    assert fp.PR(arrays).evaluate("average_precision", "y", "s").item() == 0.5


def test_every_function_takes_a_dict_of_arrays():
    arrays = FRAME.to_dict(as_series=False)
    calls = (
        lambda frame: fp.curve(frame, "y", "s"),
        lambda frame: fp.with_metrics(frame, "roc_auc", "y", "s", by="q"),
        lambda frame: fp.confusion(frame, "y", "s", threshold=0.3),
        lambda frame: fp.compare(frame, "roc_auc", "y", ["s", "t"]),
        lambda frame: fp.unpivot_classes(frame, "y", prediction="q", classes=[0, 1, 2]),
        lambda frame: fp.tally(frame, "y", "s"),
    )
    for call in calls:
        assert call(arrays).equals(call(FRAME))


def test_a_run_and_judgments_of_arrays():
    run = {"d": ["a", "b"], "s": [2.0, 1.0]}
    joined = fp.join_judgments(run, {"d": ["b", "c"], "relevance": [1, 0]}, on="d")
    assert joined.rows() == [("a", 2.0, None), ("b", 1.0, 1), ("c", None, 0)]


def test_arrays_of_other_lengths():
    with pytest.raises(ValueError, match=r"^frame: this dict of arrays makes no frame: .*equal"):
        fp.average_precision({"y": [1, 0], "s": [1, 2, 3]}, "y", "s")


def test_a_dict_of_frames_stays_one():
    better = pl.when(pl.col("q") == 1).then("t").otherwise("s")
    frames = {"old": FRAME, "new": FRAME.with_columns(s=better)}
    result = fp.compare(frames, "average_precision", "y", "s", mean_over="q")
    # AP of 0 1 is 1/2, and of 1 0, the new order in one of two queries, it is 1.
    assert result["difference"].to_list() == [0.25]


ARRAYS = "arrays are columns of a dict, as in average_precision({'y': y, 's': s}, 'y', 's')"
PANDAS = FRAME.to_pandas()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fp.average_precision(LABELS, SCORES), ARRAYS),
        (lambda: fp.average_precision(np.array(LABELS), np.array(SCORES)), ARRAYS),
        (lambda: fp.average_precision(FRAME["y"], FRAME["s"]), ARRAYS),
        (lambda: fp.roc_auc(PANDAS["y"], PANDAS["s"]), ARRAYS),
        (lambda: fp.roc_auc(PANDAS["y"], "y", "s"), ARRAYS),
        (lambda: fp.evaluate("rows", LABELS, SCORES), "got 'rows'"),
        (lambda: fp.roc_auc(PANDAS.groupby("q"), "y", "s"), "columns of its groups, by=..."),
        (lambda: fp.roc_auc(FRAME.group_by("q"), "y", "s"), "columns of its groups, by=..."),
        (lambda: fp.roc_auc(FRAME.lazy().group_by("q"), "y", "s"), "columns of its groups"),
        (
            lambda: fp.compare([FRAME, FRAME], "roc_auc", "y", "s"),
            "frames are a dict of names",
        ),
        (lambda: fp.roc_auc([PANDAS, PANDAS], "y", "s"), "give one frame, such as polars.concat"),
        (lambda: fp.roc_auc([{"y": 1, "s": 2}], "y", "s"), "polars.DataFrame(...) makes a frame"),
        (
            lambda: fp.compare(FRAME, FRAME, "roc_auc", "y", "s"),
            "by position, and one frame, or several as a dict by the name of their system",
        ),
        (
            lambda: fp.roc_auc(FRAME, FRAME, "y", "s"),
            "roc_auc takes truth, score by position, and one frame",
        ),
        (
            lambda: fp.compare(FRAME, "roc_auc", "y", "s", "t"),
            "several scores are a list, as in score=['s', 't']",
        ),
        (
            lambda: fp.evaluate(FRAME, "y", "s"),
            "evaluate takes metrics, truth, score by position; score is missing",
        ),
    ],
)
def test_other_objects(call, sentence):
    with pytest.raises(TypeError) as raised:
        call()
    assert sentence in str(raised.value)
