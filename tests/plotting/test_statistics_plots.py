"""Intervals as dots with whiskers, and differences group by group."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from compare import near
from matplotlib.figure import Figure
from pictures import axes

import frame_pr as fp

FIGURES = pl.DataFrame({"q": [1, 2, 3, 4] * 2, "system": ["old"] * 4 + ["new"] * 4}).with_columns(
    m=pl.Series([0.1, 0.2, 0.3, None, 0.4, 0.1, 0.3, 0.5])
)


def found(kind=None, metrics="average_precision"):
    rng = np.random.default_rng(3)
    columns = {"segment": rng.choice(["a_b", "c$", "d"], 200), "t": rng.random(200) < 0.3, "s": rng.random(200)}
    run = pl.DataFrame(columns)
    return fp.intervals(run if kind is None else kind(run), metrics, "t", "s", by="segment")


def whiskers(ax):
    (lines,) = ax.collections
    return sorted((y, left, right) for (left, y), (right, _) in lines.get_segments())


def test_a_dot_and_a_whisker_for_each_row(kind):
    pytest.importorskip("matplotlib")
    table = kind.read(found(kind)).sort("value")
    ax = fp.plot_intervals(found(kind), ax=axes())
    dots = ax.get_lines()[0]
    # The largest on top.
    order = np.argsort(dots.get_ydata())
    assert list(dots.get_xdata()[order]) == table["value"].to_list()
    assert whiskers(ax) == [(i, low, high) for i, (low, high) in enumerate(table.select("low", "high").iter_rows())]
    assert ax.get_xlabel() == "Average precision"


def test_names_units_and_the_line_of_the_whole():
    table = found().sort("segment")
    ax = fp.plot_intervals(table, order="frame", overall=0.25, ax=axes())
    names = {round(place): label.get_text() for place, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    units = table["units"].to_list()
    # A dollar begins mathematics, unless it is escaped.
    assert [names[place] for place in (2, 1, 0)] == [f"a_b  ({units[0]})", rf"c\$  ({units[1]})", f"d  ({units[2]})"]
    assert ax.get_lines()[1].get_xdata()[0] == 0.25
    assert [text.get_text() for text in ax.texts] == ["overall 0.25"]
    mean = fp.plot_intervals(table, ax=axes())
    assert mean.get_lines()[1].get_xdata()[0] == near(table["value"].mean())


def test_a_row_without_bounds_or_value():
    run = pl.DataFrame({"q": [1, 1, 2, 2], "t": [1, 0, 0, 0], "s": [2, 1, 2, 1]})
    ax = fp.plot_intervals(fp.intervals(run, "average_precision", "t", "s", by="q"), ax=axes())
    assert np.isnan(ax.get_lines()[0].get_xdata()[1])
    assert len(ax.get_yticklabels()) == 2


def test_one_metric_of_several():
    several = found(metrics=["average_precision", "roc_auc"])
    ax = fp.plot_intervals(several, metric="roc_auc", ax=axes())
    assert sorted(ax.get_lines()[0].get_xdata()) == several.filter(metric="roc_auc")["value"].sort().to_list()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"frame": found(metrics=["average_precision", "roc_auc"])},
            "the frame has 2 metrics: name one, metric='average",
        ),
        ({"metric": "roc_acu"}, "metric='roc_acu' is not in the frame"),
        ({"frame": FIGURES}, "this plot draws a frame that intervals gave, and this one has no column 'metric'"),
        ({"frame": found().drop("segment")}, "frame: no key columns, so no groups to draw"),
        ({"max_groups": 2}, "3 rows are more than max_groups=2: filter them, or raise max_groups="),
    ],
)
def test_what_is_no_frame_of_intervals(change, sentence):
    given = {"frame": found()} | change
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the sentence is compared
        fp.plot_intervals(given.pop("frame"), **given, ax=axes())
    assert str(raised.value).startswith(sentence)


def test_differences_the_largest_first():
    ax = fp.plot_comparison(FIGURES, "m", by="q", baseline="old", ax=axes())
    # The fourth has one value only.
    better, worse = (container.patches for container in ax.containers)
    assert [bar.get_width() for bar in better] == [near(0.3), near(0.0), near(0.0)]
    assert [bar.get_width() for bar in worse] == [near(0.0), near(0.0), near(-0.1)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "3", "2"]
    row = fp.compare(FIGURES, "m", by="q", baseline="old").row(0, named=True)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "new better: 1",
        "new worse: 1, tied: 1",
        f"mean difference {row['difference']:.2f} ({row['low']:.2f} to {row['high']:.2f})",
    ]
    assert ax.get_xlabel() == "m: new minus old"


def test_of_rows_and_of_their_figures(kind):
    rng = np.random.default_rng(1)
    run = pl.DataFrame({"q": np.arange(60) % 6, "t": rng.random(60) < 0.4, "a": rng.random(60), "b": rng.random(60)})
    of_rows = fp.plot_comparison(kind(run), "average_precision", "t", ["a", "b"], by="q", ax=axes())
    figures = fp.evaluate(kind(run), "average_precision", "t", ["a", "b"], by="q")
    of_figures = fp.plot_comparison(figures, "average_precision", by="q", ax=axes())
    heights = [[bar.get_width() for bar in ax.containers[0]] for ax in (of_rows, of_figures)]
    assert heights[0] == heights[1] == sorted(heights[0], reverse=True)


def test_rows_are_ranked_once():
    read = []

    def seen(rows: pl.DataFrame) -> pl.DataFrame:
        read.append(rows.height)
        return rows

    rng = np.random.default_rng(1)
    run = pl.DataFrame({"q": np.arange(60) % 6, "t": rng.random(60) < 0.4, "a": rng.random(60), "b": rng.random(60)})
    lazy = run.lazy().map_batches(seen)
    lazy.pr.evaluate("average_precision", "t", ["a", "b"], by="q").collect()
    once = len(read)
    fp.plot_comparison(lazy, "average_precision", "t", ["a", "b"], by="q", baseline="b", ax=axes())
    assert len(read) == 2 * once


@pytest.mark.slow
def test_of_ten_thousand_groups_some_are_drawn():
    n = 10_001
    run = pl.DataFrame(
        {"q": [*range(n)] * 2, "system": ["a"] * n + ["b"] * n, "m": [0.0] * n + [i / n for i in range(n)]}
    )
    ax = fp.plot_comparison(run, "m", by="q", ax=axes())
    values, edges, _ = ax.patches[0].get_data()
    # 10,001 / 4,000, rounded up: every third.
    assert (len(values), edges[:2].tolist(), edges[-1]) == (3334, [0.5, 3.5], n + 0.5)
    assert values == pytest.approx([(n - 1 - i) / n for i in range(0, n, 3)])


def test_two_systems_only():
    three = pl.concat([FIGURES, FIGURES.filter(system="new").with_columns(system=pl.lit("newer"))])
    with pytest.raises(
        ValueError, match=r"plot_comparison draws two systems, and the frame has more: give two, such as score=\[...\]"
    ):
        fp.plot_comparison(three, "m", by="q", ax=axes())
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got"):
        fp.plot_comparison(FIGURES, "m", by="q", ax=5)


def unit_values_of_two() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    n = 4000
    truth = rng.random(n) < 0.3
    scores = {"old": truth + rng.normal(size=n), "new": 1.5 * truth + rng.normal(size=n)}
    run = pl.DataFrame({"g": rng.integers(0, 40, n), "t": truth, **scores})
    return run.pr.evaluate(["average_precision", "positives"], "t", ["old", "new"], by="g")


def test_figures_without_intervals_are_dots_joined_by_a_line(kind):
    figures = unit_values_of_two()
    ax = fp.plot_intervals(kind(figures), metric="average_precision", ax=Figure(figsize=(6, 12)).subplots())
    means = figures.group_by("g").agg(pl.col("average_precision").mean(), pl.col("positives").first())
    best = means.sort("average_precision", descending=True).select("g", "positives").rows()
    ticks = dict(zip(ax.get_yticks().tolist(), [text.get_text() for text in ax.get_yticklabels()], strict=True))
    assert [ticks[place] for place in sorted(ticks, reverse=True)] == [f"{g}  ({n})" for g, n in best]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["old", "new"]
    dots = {one.get_label(): one for one in ax.get_lines() if one.get_label() in ("old", "new")}
    for system, drawn in dots.items():
        own = dict(figures.filter(system=system).select("g", "average_precision").iter_rows())
        for value, place in drawn.get_xydata():
            assert value == near(own[int(ticks[place].split()[0])])
    joined = ax.collections[0].get_segments()
    assert len(joined) == 40


def test_intervals_of_two_systems_stand_side_by_side():
    rng = np.random.default_rng(1)
    run = pl.DataFrame(
        {"g": np.arange(600) % 3, "t": rng.random(600) < 0.4, "a": rng.random(600), "b": rng.random(600)}
    )
    ax = fp.plot_intervals(fp.intervals(run, "average_precision", "t", ["a", "b"], by="g"), ax=axes())
    heights = [one.get_ydata() for one in ax.get_lines() if one.get_label() in ("a", "b")]
    assert [sorted(one) for one in heights] == [[0.125, 1.125, 2.125], [-0.125, 0.875, 1.875]]
    assert len(ax.get_yticklabels()) == 3


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (
            {"metric": "recall"},
            ValueError,
            "this plot draws a frame that intervals gave, and this one has no column 'metric'",
        ),
        (
            {"frame": unit_values_of_two().select("average_precision")},
            ValueError,
            "frame: no key columns, so no groups to draw",
        ),
        ({"metric": "word"}, TypeError, "metric='word' is a column of String: metrics are numbers"),
    ],
)
def test_what_is_no_frame_of_figures(change, error, sentence):
    given = {"frame": unit_values_of_two().with_columns(word=pl.lit("x")), "metric": "average_precision"} | change
    with pytest.raises(error) as raised:
        fp.plot_intervals(given.pop("frame"), **given, ax=axes())
    assert str(raised.value).startswith(sentence)


def test_a_trend_follows_the_order_of_pandas_categories():
    names = ["small", "medium", "large"]
    table = pl.DataFrame({"size": ["large", "small", "medium"], "roc_auc": [0.7, 0.9, 0.8]}).to_pandas()
    table["size"] = table["size"].astype(pd.CategoricalDtype([*names, "huge"]))
    ax = fp.plot_trend(table, ax=axes())
    assert [text.get_text() for text in ax.get_xticklabels()] == names
    assert ax.get_lines()[0].get_ydata().tolist() == [0.9, 0.8, 0.7]
