"""Charts of frames that other functions gave: trends, differences, slopes and gains."""

import datetime as dt
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import axes, labels, lay_out, random_run

import frame_pr as fp

RUN = random_run(rows=1200, groups=5).with_columns(other=pl.col("score") + pl.int_range(pl.len()) % 7 / 5)
SCORES = ["score", "other"]
AP = "average_precision"


def dots(ax: Any) -> list[tuple[float, float]]:
    lines = [line for line in ax.get_lines() if line.get_marker() == "o" and len(line.get_xdata())]
    return [(float(x), float(y)) for line in lines for x, y in zip(*line.get_data(), strict=True)]


@pytest.mark.slow
def test_disparity_against_a_reference_group(kind: Any) -> None:
    table = fp.compare(kind(RUN), "roc_auc", "relevant", "score", between="query", baseline=2)
    ax = fp.plot_differences(table, ax=axes())
    rows = kind.read(table).sort("difference", descending=True)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(map(str, rows["group"]))
    assert ax.get_xlabel() == "ROC AUC: difference from 2"
    assert dots(ax) == [(pytest.approx(value), 3 - i) for i, value in enumerate(rows["difference"])]
    whiskers = [lines.get_segments()[0][:, 0].tolist() for lines in ax.collections]
    assert whiskers == [pytest.approx(bounds) for bounds in rows.select("low", "high").rows()]
    hollow = [line.get_markerfacecolor() == ax.get_facecolor() for line in ax.get_lines() if line.get_marker() == "o"]
    assert hollow == [low <= 0 <= high for low, high in rows.select("low", "high").rows()]


@pytest.mark.slow
def test_differences_of_systems_and_of_the_rest() -> None:
    pairs = fp.compare(RUN, AP, "relevant", SCORES, by="query", sampled="rows")
    ax = fp.plot_differences(pairs, order=[4, 0], labels={"other": "New"}, ax=axes())
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == ["4, New", "0, New"]
    rest = fp.compare(RUN, "roc_auc", "relevant", "score", between="query", baseline="rest")
    assert fp.plot_differences(rest, ax=axes()).get_xlabel() == "ROC AUC: difference from the rest"
    previous = fp.compare(RUN, "roc_auc", "relevant", "score", between="query", baseline="previous")
    ax = fp.plot_differences(previous, order="frame", ax=axes())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1, 0", "2, 1", "3, 2", "4, 3"]


def test_slopes_go_from_one_system_to_the_other(kind: Any) -> None:
    table = fp.evaluate(kind(RUN), [AP, "positives"], "relevant", SCORES, by="query")
    ax = fp.plot_slopes(table, metric=AP, ax=axes())
    rows = kind.read(table)
    for query, line in enumerate(ax.get_lines()[:5]):
        assert line.get_ydata() == pytest.approx(rows.filter(query=query)[AP].to_list())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == SCORES
    old, new = (rows.filter(system=name)[AP] for name in SCORES)
    assert labels(ax) == [f"other better: {(new > old).sum()}", f"other worse: {(new < old).sum()}"]
    assert {text.get_text() for text in ax.texts} == set("01234")
    other_way = fp.plot_slopes(table, metric=AP, order=["other"], ax=axes())
    assert labels(other_way) == [f"score better: {(old > new).sum()}", f"score worse: {(old < new).sum()}"]


def test_names_of_slopes_do_not_overlap() -> None:
    values = [0.5, 0.5, 0.501, 0.52, 0.9, 0.9, 0.9]
    table = pl.DataFrame({"g": list(range(7)) * 2, "system": ["a"] * 7 + ["b"] * 7, AP: [0.4] * 7 + values})
    ax = fp.plot_slopes(table, metric=AP)
    lay_out(ax.figure)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 7
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(ax.figure.bbox.count_contains(box.corners()) == 4 for box in boxes)


@pytest.mark.parametrize("key", ["whole", "date", "text"])
def test_a_metric_over_time_above_the_prevalence(key: str) -> None:
    keys = {
        "whole": pl.col("query"),
        "date": pl.lit(dt.date(2026, 1, 5)) + pl.duration(weeks=pl.col("query")),
        "text": pl.format("week {}", "query"),
    }
    run = RUN.with_columns(t=keys[key])
    table = fp.evaluate(run, [AP, "prevalence"], "relevant", SCORES, by="t")
    figure = fp.plot_trend(table)
    above, below = figure.axes
    assert (above.get_label(), below.get_label()) == (AP, "prevalence")
    for line, name in zip(above.get_lines(), SCORES, strict=True):
        assert line.get_ydata().tolist() == table.filter(system=name)[AP].to_list()
    (share,) = below.get_lines()
    assert share.get_ydata().tolist() == table.filter(system="score")["prevalence"].to_list()
    assert labels(above) == SCORES
    lay_out(figure)


def test_a_trend_has_the_bounds_of_intervals_and_gaps() -> None:
    table = fp.intervals(RUN, AP, "relevant", "score", by="query")
    ax = fp.plot_trend(table, ax=axes())
    corners = ax.collections[0].get_paths()[0].vertices
    for query, low, high in table.select("query", "low", "high").rows():
        heights = corners[corners[:, 0] == query][:, 1]
        assert (heights.min(), heights.max()) == (pytest.approx(low), pytest.approx(high))
    missing = table.with_columns(value=pl.when(pl.col("query") == 2).then(None).otherwise("value"))
    (line,) = fp.plot_trend(missing, ax=axes()).get_lines()
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("y", ["recall", "precision", "lift"])
def test_gains_are_the_bins_and_the_cumulative_line(kind: Any, y: str) -> None:
    table = fp.gains_table(kind(RUN), "relevant", "score", bins=5)
    ax = fp.plot_gains(table, y=y, ax=axes())
    rows = kind.read(table)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(rows[f"bin_{y}"].to_list())
    line, chance = ax.get_lines()
    assert line.get_xdata().tolist() == rows["share"].to_list()
    assert line.get_ydata() == pytest.approx(rows[y].to_list())
    random = {"recall": [0, 1], "precision": [RUN["relevant"].mean()] * 2, "lift": [1, 1]}
    assert list(chance.get_ydata()) == pytest.approx(random[y])


def test_gains_of_systems_in_panels() -> None:
    table = fp.gains_table(RUN, "relevant", SCORES, by="query", bins=2)
    figure = fp.plot_gains(table)
    assert [ax.get_label() for ax in figure.axes][:3] == ["0, score", "0, other", "1, score"]
    panel = next(ax for ax in figure.axes if ax.get_label() == "1, other")
    wanted = table.filter(query=1, system="other")["bin_recall"]
    assert [bar.get_height() for bar in panel.patches] == pytest.approx(wanted.to_list())
    plt.close("all")


TREND = fp.evaluate(RUN, AP, "relevant", "score", by="query")
WRONG: dict[str, Any] = {
    "no comparison": (lambda: fp.plot_differences(TREND), "plot_differences draws a frame that compare gave"),
    "many rows": (
        lambda: fp.plot_differences(
            fp.compare(RUN, "roc_auc", "relevant", "score", between="query", baseline=0), max_groups=2
        ),
        "4 rows are more than max_groups=2: filter them, or raise max_groups=",
    ),
    "one system": (lambda: fp.plot_slopes(TREND, metric=AP), "plot_slopes draws two systems by groups"),
    "two keys": (
        lambda: fp.plot_trend(fp.evaluate(RUN.with_columns(h=1), AP, "relevant", "score", by=["query", "h"])),
        "plot_trend draws one key, such as a week, along the axis, and the frame has 2",
    ),
    "no gains": (lambda: fp.plot_gains(TREND), "plot_gains draws a frame that gains_table gave"),
    "y of gains": (
        lambda: fp.plot_gains(fp.gains_table(RUN, "relevant", "score"), y="f1"),  # type: ignore[arg-type]
        "y must be 'recall', 'precision' or 'lift', got 'f1'",
    ),
    "panels in one axes": (
        lambda: fp.plot_gains(fp.gains_table(RUN, "relevant", SCORES), ax=axes()),
        "ax: 2 groups need a panel each",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name: str) -> None:
    call, sentence = WRONG[name]
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the sentence is compared
        call()
    assert str(raised.value).startswith(sentence)
    assert plt.get_fignums() == []
