"""Frames that are not taken are told by name, and what is written instead."""

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

DATA = pl.DataFrame({"q": ["a", "a"], "y": [1, 0], "s": [2.0, 1.0]})


def test_frames_of_narwhals():
    nw = pytest.importorskip("narwhals")
    with pytest.raises(TypeError, match=r"got a narwhals\.dataframe\.DataFrame: to_native\(\) of it is the frame"):
        fp.average_precision(nw.from_native(DATA), "y", "s")


@pytest.mark.parametrize("by", [lambda grouper: grouper, lambda grouper: ["q", grouper]], ids=["alone", "beside"])
def test_groupers_of_pandas(by):
    data = DATA.to_pandas().assign(day=pd.to_datetime(["2024-01-01", "2024-01-02"]))
    for grouper in (pd.Grouper(key="day", freq="D"), pd.Grouper("q")):
        with pytest.raises(TypeError, match=r"by takes .* got a pandas (Time)?Grouper: add it to the frame and give"):
            data.pr.average_precision("y", "s", by=by(grouper))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metrics": {"average_precision": "AP"}}, "metrics: the new name comes first, then the metric; got 'aver"),
        ({"mean_over": {"q": "median"}}, "mean_over takes names of columns of by, or True; got a dict"),
    ],
    ids=["metrics", "mean_over"],
)
def test_dicts_are_not_taken_for_their_keys(given, message):
    call = {"metrics": "average_precision", "truth": "y", "score": "s", "by": "q"} | given
    for function in (fp.evaluate, fp.with_metrics):
        if "mean_over" not in given or function is fp.evaluate:
            with pytest.raises((TypeError, ValueError), match=message):
                function(DATA, **call)
    if "mean_over" in given:
        with pytest.raises(TypeError, match=message):
            fp.report(DATA, "y", "s", by="q", **given)
