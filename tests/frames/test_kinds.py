"""Frames that are not taken are told by name, and what is written instead."""

import re
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames import kinds
from frame_pr.frames.kinds import InMemory

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


@pytest.mark.parametrize(
    ("path", "way"),
    [
        ("run.parquet", "give pl.scan_parquet('run.parquet')"),
        (Path("runs") / "bm25.CSV", "give pl.scan_csv('runs/bm25.CSV')"),
        ("run.csv.gz", "give pl.scan_csv('run.csv.gz')"),
        ("run.tsv", "give pl.scan_csv('run.tsv', separator='\\t')"),
        ("s3://runs/*.ndjson", "give pl.scan_ndjson('s3://runs/*.ndjson')"),
        (Path("runs"), "give pl.scan_parquet(...) or pl.scan_csv(...) of it"),
        ("runs/*", "'runs/*': give pl.scan_parquet(...) or pl.scan_csv(...) of it"),
    ],
    ids=str,
)
def test_a_path_in_place_of_the_frame(path, way):
    for function in (fp.average_precision, fp.curve, fp.with_metrics):
        given = ("rows", "y", "s") if function is fp.with_metrics else ("y", "s")
        with pytest.raises(TypeError, match=re.escape(way)):
            function(path, *given)
    with pytest.raises(TypeError, match=re.escape(way)):
        fp.partitioned(path)


def test_a_text_that_is_no_path():
    with pytest.raises(TypeError, match=r"expected a polars DataFrame, a polars LazyFrame, .* got a str"):
        fp.average_precision("relevant", "y", "s")


class ArrowLike(InMemory):
    """A kind of frame of a library that has Arrow in and out."""

    name = "mocked DataFrame"

    class Frame:
        """A frame of that library."""

        def __init__(self, table):
            self.table = table

    @classmethod
    def matches(cls, frame):
        return isinstance(frame, cls.Frame)

    def __init__(self, frame):
        super().__init__(frame, frame.table.columns, frame.table.height)

    def read(self, items):
        return self.frame.table.select(items).lazy()

    def give(self, table, keys):
        return self.Frame(self.collect_result(table))

    def append_columns(self, table, new):
        return self.Frame(self.frame.table.hstack(self.collect_columns(table, new)))

    def spread(self, table, carried, new):
        made = self.collect_columns(table, ["row", *new])
        return self.Frame(self.frame.table.select(carried)[made["row"]].hstack(made.drop("row")))


@pytest.fixture
def mocked(monkeypatch):
    monkeypatch.setattr(kinds, "_KINDS", [*kinds._KINDS])
    kinds.register_kind(ArrowLike)
    return ArrowLike.Frame


def test_a_kind_of_frame_is_one_class(mocked):
    frame = mocked(DATA)
    assert fp.average_precision(frame, "y", "s", by="q").table.rows() == [("a", 1.0)]
    assert fp.with_metrics(frame, "rows", "y", "s").table.columns == ["q", "y", "s", "rows"]
    assert fp.tally(frame, "y", "s").table.height == 2
    joined = fp.join_judgments(mocked(DATA.select("s", d="s")), mocked(DATA.select("y", d="s")), on="d")
    assert joined.table.columns == ["d", "s", "y"]
    with pytest.raises(
        TypeError, match="truth: polars expressions work on polars frames; give the names of columns of a m"
    ):
        fp.average_precision(frame, pl.col("y"), "s")
    with pytest.raises(TypeError, match="or a mocked DataFrame, got a int"):
        fp.average_precision(1, "y", "s")
