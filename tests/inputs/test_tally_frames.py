"""A frame that tally made is recognised where count= is forgotten, and other frames with a column count are not."""

import polars as pl
import pytest

import frame_pr as fp

AP = "average_precision"
ROWS = pl.DataFrame(
    {
        "day": [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2],
        "q": list("aaabbaaabbbb"),
        "y": [1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1],
        "s": [0.9, 0.5, 0.5, 0.7, 0.2, 0.8, 0.8, 0.3, 0.1, 0.1, 0.6, 0.4],
    }
)
DAILY = ROWS.pr.tally("y", "s", by=["day", "q"])
LOOKS = 'looks like one that tally made.*give count="count"'


@pytest.mark.parametrize("by", [None, "q", ["q", "day"]])
def test_a_tally_without_count_is_an_error(by):
    frame = DAILY
    with pytest.raises(ValueError, match=LOOKS):
        fp.evaluate(frame, AP, "y", "s", by=by)
    counted = fp.evaluate(frame, ["rows", AP], "y", "s", by=by, count="count")
    assert counted["rows"].sum() == 12
    # Without the column, the rows of the tally are what they are: rows.
    alone = fp.evaluate(DAILY.drop("count"), "rows", "y", "s", by=by)
    assert alone["rows"].sum() == DAILY.height == 9


def test_a_lazy_tally_without_count_fails_when_it_is_collected():
    result = DAILY.lazy().pr.evaluate(AP, "y", "s", by="q")
    assert result.collect_schema().names() == ["q", AP]
    with pytest.raises(ValueError, match=LOOKS):
        result.collect()


@pytest.mark.parametrize(
    "call",
    [
        lambda tally: tally.pr.tally("y", "s", by="q"),
        lambda tally: tally.pr.curve("y", "s"),
        lambda tally: tally.pr.with_curve("y", "s"),
        lambda tally: tally.pr.report("y", "s", by="q"),
        lambda tally: tally.pr.confusion("y", "s", threshold=0.5),
        lambda tally: tally.pr.with_metrics(AP, "y", "s", by="day"),
        lambda tally: tally.pr.intervals(AP, "y", "s"),
        lambda tally: tally.pr.identify(0.5, "y", "s"),
        lambda tally: tally.pr.average_precision(pl.col("y") == 1, pl.col("s") * 2),
        lambda tally: pl.concat([tally, tally]).pr.evaluate(AP, "y", "s"),
        lambda tally: tally.with_columns(month=pl.col("day") % 2).pr.evaluate(AP, "y", "s", by="month"),
    ],
)
def test_every_function_tells_a_tally(call):
    with pytest.raises(ValueError, match=LOOKS):
        call(DAILY)


@pytest.mark.parametrize(
    "given", [{"ascending": True}, {"bins": 2}, {"bins": [0.4, 0.6]}, {"weight": "w"}, {"gain": "w"}]
)
def test_tallies_of_every_kind_are_told(given):
    rows = ROWS.with_columns(w=pl.col("y") * 2, s=-pl.col("s") if "ascending" in given else pl.col("s"))
    policies = {name: value for name, value in given.items() if name != "bins"}
    tally = rows.pr.tally("y", "s", by="q", **given)
    metric = "ndcg" if "gain" in given else AP
    with pytest.raises(ValueError, match=LOOKS):
        tally.pr.evaluate(metric, "y", "s", by="q", **policies)
    tally.pr.evaluate(metric, "y", "s", by="q", count="count", **policies)


def test_labels_are_told_too():
    rows = ROWS.with_columns(y=pl.when(pl.col("y") == 1).then(pl.lit("hit")).otherwise(pl.lit("miss")))
    tally = rows.pr.tally("y", "s", positive="miss")
    with pytest.raises(ValueError, match=LOOKS):
        tally.pr.average_precision("y", "s", positive="miss")


def test_a_tally_in_another_order_is_a_warning():
    with pytest.warns(fp.DataWarning, match="the call does not use the column 'count'"):
        fp.evaluate(ROWS.pr.tally("y", "s").reverse(), AP, "y", "s")


# Rows with a column of counts of something else.
CLICKS = ROWS.with_columns(
    doc=pl.int_range(12), s=pl.col("s") + pl.int_range(12) / 100, count=pl.Series([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
)


@pytest.mark.parametrize(
    "frame",
    [
        CLICKS,
        CLICKS.select("q", "doc", "y", "s", "count").sort("q", "doc"),  # a name for each row
        CLICKS.select("q", "day", "y", "s", "count").sort("q", "s", descending=[False, True]),  # sorted as a result is
        CLICKS.select("y", "s", "count", "q", "day").sort("day", "q", "s", descending=[False, False, True]),
        CLICKS.select("day", "q", "y", "s", "count").sort("q"),
        DAILY.with_columns(pl.col("count") * 1.5),  # no whole numbers
        DAILY.with_columns(count=1),  # each row stands for one: the values are the same
        DAILY.with_columns(count=0),
        DAILY.clear(),
    ],
)
def test_a_column_count_of_something_else_is_silent(frame):
    fp.evaluate(frame, AP, "y", "s", by="q")


def test_equal_rows_that_have_a_count_are_silent():
    pl.concat([CLICKS, CLICKS]).select("q", "y", "s", "count").pr.evaluate(AP, "y", "s", by="q")


def test_a_tally_in_parts():
    tally = ROWS.pr.tally("y", "s", by="q")
    parts = fp.partitioned(tally.lazy(), partitions=2, progress=False)
    with pytest.raises(ValueError, match=LOOKS):
        parts.evaluate("average_precision", "y", "s", by="q")
    with pytest.raises(ValueError, match=LOOKS):
        parts.tally("y", "s", by="q")
    expected = ROWS.pr.average_precision("y", "s", by="q")
    assert parts.average_precision("y", "s", by="q", count="count").equals(expected)
    # A column of that name in a frame of rows.
    rows = fp.partitioned(ROWS.with_columns(count=pl.int_range(pl.len()) % 3), partitions=2, progress=False)
    assert rows.average_precision("y", "s", by="q").equals(expected)
