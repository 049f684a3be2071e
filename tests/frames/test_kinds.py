"""Frames that are not taken are told by name, and what is written instead."""

import polars as pl
import pytest

import frame_pr as fp
from frame_pr.frames import kinds
from frame_pr.frames.kinds import InMemory

DATA = pl.DataFrame({"q": ["a", "a"], "y": [1, 0], "s": [2.0, 1.0]})


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
