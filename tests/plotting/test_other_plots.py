"""The bars, dots, cells and texts of the other plots."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drawn import legend, line, points, rows
from matplotlib.figure import Figure

import frame_pr as fp

RUN = rows()
SYSTEMS = ["good", "poor"]
DATED = RUN.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("query")))


def texts(ticks: Any) -> list[str]:
    return [tick.get_text() for tick in ticks]


def test_histograms_sum_to_1() -> None:
    ax = RUN.pr.plot_scores("truth", "good", threshold=0.7, bins=10)
    for patch in ax.patches:
        assert patch.get_data().values.sum() == pytest.approx(1)
    names = ["precision@threshold=0.7", "recall@threshold=0.7", "fpr@threshold=0.7"]
    precision, recall, fpr = RUN.pr.evaluate(names, "truth", "good").row(0)
    positives = int(RUN["truth"].sum())
    assert legend(ax) == [
        f"positives ({positives})",
        f"negatives ({RUN.height - positives})",
        f"threshold 0.7: precision {100 * precision:.0f} %, recall {100 * recall:.0f} %, "
        f"FPR {100 * fpr:.0f} %",
    ]
    assert (ax.get_xlabel(), ax.get_ylim()[0]) == ("good", 0)


def test_histograms_of_groups_share_their_axis_and_name_positives_and_rows() -> None:
    axes = RUN.pr.plot_scores("truth", "good", by="country", threshold=0.7)
    rates = ["precision@threshold=0.7", "recall@threshold=0.7", "fpr@threshold=0.7"]
    table = RUN.pr.evaluate(["positives", "rows", *rates], "truth", "good", by="country")
    for ax, (country, p, n, *values) in zip(axes, table.rows(), strict=True):
        precision, recall, fpr = (f"{100 * value:.0f} %" for value in values)
        name, sizes, *numbers = ax.get_title().split("\n")
        assert (name, sizes) == (country, f"P = {p}, N = {n}")
        assert " ".join(numbers) == f"precision {precision}, recall {recall}, FPR {fpr}"
    assert len({ax.get_ylim() for ax in axes}) == 1


def test_scores_far_from_all_others_are_beyond_the_axis() -> None:
    run = RUN.with_columns(good=pl.when(pl.int_range(pl.len()) == 0).then(1e6).otherwise("good"))
    ax = run.pr.plot_scores("truth", "good")
    assert ax.get_xlim()[1] < 2
    assert legend(ax)[-1] == "rows beyond the axis: 1"


def test_a_threshold_on_another_scale_is_a_warning() -> None:
    with pytest.warns(fp.DataWarning, match="threshold: 50 lies outside the scores, which go from"):
        RUN.pr.plot_scores("truth", "good", threshold=50)


@pytest.mark.parametrize("y", ["recall", "precision", "lift"])
def test_gains_are_those_of_the_table(y: Any) -> None:
    table = RUN.pr.gains_table("truth", "good")
    ax = table.pr.plot_gains(y=y)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(table[f"bin_{y}"].to_list())
    drawn = points(line(ax, "up to this decile (cumulative)"))
    assert drawn[-10:] == [pytest.approx(point) for point in table.select("share", y).rows()]
    assert legend(ax)[:2] == ["up to this decile (cumulative)", "in this decile"]


def test_gains_of_groups_are_panels() -> None:
    axes = RUN.pr.gains_table("truth", SYSTEMS, by="country", bins=4).pr.plot_gains()
    assert [ax.get_title() for ax in axes] == [
        f"{c}, {s}" for c in ("at", "be", "cz") for s in SYSTEMS
    ]


def test_a_confusion_matrix() -> None:
    images = pl.DataFrame(
        {"shown": ["cat", "dog", "dog", "emu"], "guess": ["cat", "cat", "dog", "cat"]}
    )
    ax = images.pr.confusion_matrix("shown", "guess").pr.plot_confusion()
    cells = ["1\n100 %", "0", "0", "1\n50 %", "1\n50 %", "0", "1\n100 %", "0", "0"]
    assert [text.get_text() for text in ax.texts] == cells
    assert texts(ax.get_xticklabels()) == ["cat", "dog", "emu"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Prediction", "Label")


def test_a_row_of_confusion_has_positives_first() -> None:
    table = RUN.pr.confusion("truth", "good", threshold=0.7)
    ax = table.pr.plot_confusion(labels={"positive": "fraud"})
    tp, fn, fp_, tn = table.select("tp", "fn", "fp", "tn").row(0)
    assert [text.get_text().partition("\n")[0] for text in ax.texts] == [
        str(n) for n in (tp, fn, fp_, tn)
    ]
    assert texts(ax.get_yticklabels()) == ["fraud", "negative"]


def test_confusion_of_groups_wraps_after_four_panels() -> None:
    run = RUN.with_columns(group=pl.col("query") % 5)
    axes = run.pr.confusion("truth", "good", threshold=0.7, by="group").pr.plot_confusion()
    assert (len(axes), axes[0].get_gridspec().ncols) == (5, 3)


@pytest.mark.parametrize("cutoff", [{"threshold": [0.5, 0.7]}, {"k": [1, 2]}])
def test_confusion_of_several_cutoffs_is_refused(cutoff: dict[str, Any]) -> None:
    tables = [
        RUN.pr.confusion("truth", "good", **{name: value})
        for name, values in cutoff.items()
        for value in values
    ]
    with pytest.raises(ValueError, match="at one cutoff of each group, and there are several"):
        pl.concat(tables).pr.plot_confusion()


def test_intervals_are_dots_with_the_largest_on_top() -> None:
    table = RUN.pr.intervals("average_precision", "truth", "good", by="country").sort("value")
    ax = table.pr.plot_intervals()
    assert sorted(points(line(ax, "_value"))) == [
        (value, i) for i, value in enumerate(table["value"])
    ]
    (whiskers,) = ax.collections
    bounds = {tuple(segment[:, 0]) for segment in whiskers.get_segments()}
    assert bounds == {*table.select("low", "high").rows()}
    assert [text.partition(" (")[0] for text in texts(ax.get_yticklabels())] == table[
        "country"
    ].to_list()[::-1]
    assert legend(ax) == [f"mean {table['value'].mean():.2f}"]
    assert ax.get_xlabel() == "Average precision\n(95 % interval)"


def test_each_system_has_its_own_mean() -> None:
    table = RUN.pr.intervals("average_precision", "truth", SYSTEMS, by="country")
    ax = table.pr.plot_intervals(colors={"poor": "red"})
    means = [table.filter(system=system)["value"].mean() for system in SYSTEMS]
    drawn = [line for line in ax.get_lines() if line.get_label() == "_mean"]
    assert [line.get_xdata()[0] for line in drawn] == means
    assert drawn[1].get_color() == "red"
    assert legend(ax) == [
        f"{system} (mean {mean:.2f})" for system, mean in zip(SYSTEMS, means, strict=True)
    ]


def test_metrics_without_intervals_join_the_systems() -> None:
    axes = RUN.pr.evaluate(
        ["average_precision", "roc_auc"], "truth", SYSTEMS, by="country"
    ).pr.plot_intervals()
    assert [ax.get_xlabel() for ax in axes] == ["Average precision", "ROC AUC"]
    assert len(axes[0].collections[0].get_segments()) == 3
    one = RUN.pr.average_precision("truth", "good", by="country").pr.plot_intervals()
    assert one.get_xlabel() == "Average precision"


def test_ordered_keys_keep_their_order() -> None:
    sizes = pl.Enum(["small", "medium", "large"])
    run = RUN.with_columns(
        pl.col("country").replace({"at": "small", "be": "medium", "cz": "large"}).cast(sizes)
    )
    ax = run.pr.evaluate("roc_auc", "truth", "good", by="country").pr.plot_intervals()
    assert texts(ax.get_yticklabels()) == ["small", "medium", "large"]
    months = RUN.to_pandas()
    months["month"] = pd.PeriodIndex.from_ordinals(months["query"] % 3 + 600, freq="M")
    table = months.pr.evaluate("roc_auc", "truth", "good", by="month")
    (line,) = table.pr.plot_intervals().get_lines()
    firsts = np.array(["2020-01-01", "2020-02-01", "2020-03-01"], "datetime64[ns]")
    assert (line.get_xdata(orig=True) == firsts).all()
    text = RUN.with_columns(month=pl.format("2020-0{}", pl.col("query") % 3 + 1))
    table = text.pr.evaluate("roc_auc", "truth", "good", by="month")
    assert texts(table.pr.plot_intervals().get_yticklabels()) == ["2020-01", "2020-02", "2020-03"]
    # matplotlib has no axis of times of day or of durations.
    hours = RUN.with_columns(hour=pl.time(pl.col("query") % 3)).pr.evaluate(
        "roc_auc", "truth", "good", by="hour"
    )
    for key in (pl.col("hour"), pl.col("hour").cast(pl.Duration)):
        table = hours.with_columns(key)
        assert len(table.pr.plot_intervals().get_yticklabels()) == 3
        assert len(table.pr.plot_intervals(x="hour").get_xticklabels()) == 3


@pytest.mark.filterwarnings("ignore:.* have no bounds")
def test_dates_make_a_trend_with_a_band() -> None:
    table = DATED.pr.intervals("average_precision", "truth", "good", by="day")
    ax = table.pr.plot_intervals()
    (drawn,) = ax.get_lines()
    assert list(drawn.get_xdata(orig=True)) == table["day"].to_list()
    assert list(drawn.get_ydata()) == pytest.approx(
        table["value"].fill_null(np.nan).to_list(), nan_ok=True
    )
    assert drawn.get_marker() == "o"
    assert len(ax.collections) == 1
    assert ax.get_xlabel() == "day"


def test_a_trend_has_a_line_for_each_value_of_the_other_keys() -> None:
    table = DATED.pr.evaluate("roc_auc", "truth", SYSTEMS, by=["country", "day"])
    ax = table.pr.plot_intervals()
    assert legend(ax) == [
        f"{country}, {system}" for country in ("at", "be", "cz") for system in SYSTEMS
    ]
    assert len({line.get_color() for line in ax.get_lines()}) == 6


def test_many_days_have_no_markers() -> None:
    run = rows(2000).with_columns(
        day=pl.date(2026, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 100)
    )
    (drawn,) = run.pr.evaluate("roc_auc", "truth", "good", by="day").pr.plot_intervals().get_lines()
    assert drawn.get_marker() in ("", "None")


def test_metrics_over_time_are_panels_below_each_other() -> None:
    axes = DATED.pr.evaluate(
        ["roc_auc", "prevalence"], "truth", "good", by="day"
    ).pr.plot_intervals()
    assert [ax.get_ylabel() for ax in axes] == ["ROC AUC", "Prevalence"]
    assert axes[0].get_gridspec().ncols == 1


def test_numbers_along_the_axis() -> None:
    ax = RUN.pr.evaluate("roc_auc", "truth", SYSTEMS, by="query").pr.plot_intervals(x="query")
    assert list(ax.get_lines()[0].get_xdata()) == sorted(RUN["query"].unique())


def test_intervals_of_differences() -> None:
    run = RUN.with_columns(third=pl.col("poor") * 0.9)
    table = run.pr.compare(
        "average_precision",
        "truth",
        [*SYSTEMS, "third"],
        mean_over="query",
        baseline="good",
        details=True,
    )
    ax = table.pr.plot_comparison()
    table = table.sort("difference", descending=True)
    dots = {y: (x, dot) for dot in ax.get_lines()[1:] for x, y in points(dot)}
    assert [dots[y][0] for y in sorted(dots, reverse=True)] == table["difference"].to_list()
    assert texts(ax.get_yticklabels()) == table["system"].to_list()
    assert ax.get_xlabel().startswith("Average precision: difference from good\n(")
    clear = [low > 0 or high < 0 for low, high in table.select("low", "high").rows()]
    filled = [
        dot.get_markerfacecolor() == dot.get_color()
        for _, (_, dot) in sorted(dots.items(), reverse=True)
    ]
    assert filled == clear


def test_names_of_differences_without_a_common_baseline() -> None:
    run = RUN.with_columns(third=pl.col("poor") * 0.9)
    ax = run.pr.compare(
        "roc_auc", "truth", [*SYSTEMS, "third"], mean_over="query"
    ).pr.plot_comparison()
    assert set(texts(ax.get_yticklabels())) == {"poor - good", "third - good", "third - poor"}


def test_differences_between_groups() -> None:
    call = {"between": "country", "baseline": "at"}
    table = RUN.pr.compare("roc_auc", "truth", "good", **call, details=True)
    ax = table.pr.plot_comparison()
    assert set(texts(ax.get_yticklabels())) == {"be", "cz"}
    assert ax.get_xlabel().startswith("ROC AUC: difference from at\n(")
    ax = RUN.pr.compare("roc_auc", "truth", "good", **call).pr.plot_comparison()
    assert set(texts(ax.get_yticklabels())) == {"be", "cz"}
    assert ax.get_xlabel().startswith("ROC AUC: difference\n(")


def test_differences_of_two_systems_by_country() -> None:
    compared = RUN.pr.compare("roc_auc", "truth", SYSTEMS, by="country")
    ax = compared.pr.plot_comparison()
    assert set(texts(ax.get_yticklabels())) == {"at", "be", "cz"}
    assert ax.get_ylabel() == "country"
    # One country is named, too.
    ax = compared[:1].pr.plot_comparison()
    assert texts(ax.get_yticklabels()) == ["at"]


def test_differences_of_groups_and_their_mean() -> None:
    values = RUN.pr.evaluate("average_precision", "truth", SYSTEMS, by="country")
    ax = values.pr.plot_comparison()
    wide = values.pivot("system", index="country", values="average_precision")
    wide = wide.with_columns(difference=pl.col("poor") - pl.col("good")).sort(
        "difference", descending=True
    )
    # Bars of better groups, then bars of worse groups; one of both is 0.
    heights = [
        bar.get_width()
        for bar in ax.patches
        if bar.get_label() == "_nolegend_" or hasattr(bar, "get_width")
    ]
    assert np.add(heights[:3], heights[3:6]) == pytest.approx(wide["difference"].to_list())
    assert texts(ax.get_yticklabels()) == wide["country"].to_list()
    row = values.pr.compare("average_precision", mean_over="country", baseline="good").row(
        0, named=True
    )
    assert f"mean difference {row['difference']:.2f} (95 % interval {row['low']:.2f} to " in legend(
        ax
    )[-1].replace("\n", " ")
    assert ax.get_xlabel() == "Average precision: poor - good"
    assert legend(ax)[:2] == ["poor better: 0", "poor worse: 3"]


def test_many_differences_are_one_outline() -> None:
    ax = RUN.pr.evaluate("average_precision", "truth", SYSTEMS, by="query").pr.plot_comparison()
    assert ax.get_ylabel().endswith("values of query,\nthe largest difference first")
    assert ax.get_xlabel() == "Average precision: poor - good"


REFUSED = {
    "rows for intervals": (
        lambda: RUN.pr.plot_intervals(),
        ValueError,
        "plot_intervals draws a frame that intervals",
    ),
    "rows for a comparison": (
        lambda: RUN.pr.plot_comparison(),
        ValueError,
        "plot_comparison draws a frame that comp",
    ),
    "no groups": (
        lambda: RUN.pr.evaluate("roc_auc", "truth", "good").pr.plot_intervals(),
        ValueError,
        "frame: no key",
    ),
    "no such metric": (
        lambda: RUN.pr.evaluate("roc_auc", "truth", "good", by="query").pr.plot_intervals(
            metric="auc_roc"
        ),
        ValueError,
        "metric: 'auc_roc' is not in the frame; it has roc_auc",
    ),
    "three systems": (
        lambda: (
            RUN.with_columns(c="good")
            .pr.roc_auc("truth", [*SYSTEMS, "c"], by="query")
            .pr.plot_comparison()
        ),
        ValueError,
        "plot_comparison draws two systems by groups, and the frame has 3 systems",
    ),
    "too many groups": (
        lambda: (
            RUN.with_row_index("i")
            .pr.evaluate("prevalence", "truth", "good", by="i")
            .pr.plot_intervals()
        ),
        ValueError,
        "600 groups are more than 60 rows",
    ),
    "no gains table": (
        lambda: RUN.pr.plot_gains(),
        ValueError,
        "plot_gains draws a frame that gains_table gave",
    ),
    "no matrix": (
        lambda: RUN.pr.plot_confusion(),
        ValueError,
        "plot_confusion draws a frame that confusion_matrix",
    ),
    "no frame": (
        lambda: fp.plot_gains([1]),
        TypeError,
        "plot_gains draws a frame that gains_table gave, got a list",
    ),
    "axes of another kind": (
        lambda: RUN.pr.plot("truth", "good", ax=1),
        TypeError,
        "ax must be a matplotlib Axes",
    ),
    "no colour": (
        lambda: RUN.pr.plot("truth", "good", colors={"good": "nocolour"}),
        ValueError,
        "colors: 'nocolour', for 'good', is no colour of matplotlib",
    ),
    "colours of others": (
        lambda: RUN.pr.plot("truth", "good", colors={"bad": "red"}),
        ValueError,
        "colors has no name of this plot, which has good",
    ),
    "unknown option": (
        lambda: RUN.pr.plot("truth", "good", y_true=1),
        TypeError,
        "plot has no argument 'y_true'; did you mean truth=?",
    ),
    "unknown rate": (
        lambda: RUN.pr.plot("truth", "good", x="ppv"),
        ValueError,
        "x: no rate is named 'ppv'",
    ),
    "unknown mark": (
        lambda: RUN.pr.plot("truth", "good", mark="best"),
        ValueError,
        "mark takes a threshold, a cutoff",
    ),
    "too many curves": (
        lambda: RUN.pr.plot("truth", "good", by="query"),
        ValueError,
        "curves in one axes are more than 10: facet=True draws small multiples",
    ),
    "facets without groups": (
        lambda: RUN.pr.plot("truth", "good", facet=True),
        ValueError,
        "facet=True needs a group for each panel",
    ),
    "truth alone": (
        lambda: RUN.pr.plot("truth"),
        TypeError,
        "plot takes truth and score for scored rows, or neither",
    ),
    "rows for a curve": (
        lambda: RUN.pr.plot(),
        ValueError,
        "plot without truth and score draws a frame that curve",
    ),
    "a column that curve did not give": (
        lambda: RUN.pr.curve("truth", "good").pr.plot(x="mcc"),
        ValueError,
        "and this one has no column 'mcc'; curve(..., rates=['mcc']) adds it",
    ),
    "means with marks": (
        lambda: RUN.pr.plot("truth", "good", mean_over="query", mark=0.5),
        ValueError,
        "mean_over= draws a mean of curves, which has no thresholds",
    ),
    "areas of other axes": (
        lambda: RUN.pr.plot("truth", "good", x="fpr", rectangles=True),
        ValueError,
        "rectangles= belongs to precision against recall",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    call, error, sentence = REFUSED[name]
    with pytest.raises(error) as raised:
        call()
    assert sentence in str(raised.value)


def test_without_a_legend() -> None:
    ax = RUN.pr.plot("truth", "good", legend=False, ax=Figure().subplots())
    assert ax.get_legend() is None


def test_a_matrix_without_rows() -> None:
    empty = pl.DataFrame({"a": ["x"], "b": ["x"]}).clear().pr.confusion_matrix("a", "b")
    with pytest.raises(ValueError, match=r"plot_confusion draws .*, and this one has no rows"):
        empty.pr.plot_confusion()


@pytest.mark.parametrize("options", [{"legend": False}, {"colors": {"positive": "red"}}])
def test_options_that_would_change_nothing(options: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        RUN.pr.confusion("truth", "good", threshold=0.7).pr.plot_confusion(**options)


def test_the_cutoff_of_a_confusion_matrix() -> None:
    ax = RUN.pr.confusion("truth", "good", threshold=0.7).pr.plot_confusion()
    assert ax.get_xlabel() == "Prediction\n(threshold 0.7)"


def test_the_cutoff_of_a_row_of_curve_is_its_threshold() -> None:
    row = RUN.pr.curve("truth", "good", rates=["fp", "fn", "tn"]).head(1)
    ax = row.pr.plot_confusion()
    assert ax.get_xlabel() == "Prediction\n(threshold 0.99)"
    others = row.with_columns(threshold=0.8)
    groups = pl.concat([row, others]).select(pl.Series("group", [1, 2]), pl.all())
    axes = groups.pr.plot_confusion()
    assert axes[0].figure.get_supxlabel() == "Prediction\n(k 3)"


# With adjusted p-values .04 and .2, only the first difference is significant, although neither
# interval contains 0.
COMPARED = pl.DataFrame(
    {
        "metric": "roc_auc",
        "baseline": "a",
        "system": ["b", "c"],
        "difference": [0.3, 0.2],
        "low": [0.1, 0.01],
        "high": [0.5, 0.4],
        "p_adjusted": [0.04, 0.2],
    }
)


def test_dots_are_filled_by_adjusted_p_values() -> None:
    ax = COMPARED.pr.plot_comparison()
    dots = ax.get_lines()[1:]
    assert [dot.get_markerfacecolor() == dot.get_color() for dot in dots] == [True, False]
    assert legend(ax) == ["adjusted p < 0.05", "adjusted p ≥ 0.05"]
    bare = COMPARED.drop("p_adjusted").pr.plot_comparison()
    assert legend(bare) == ["interval without 0"]


def test_missing_times_are_gaps() -> None:
    months = [pl.date(2025, month, 1) for month in (1, 2, 3, 4, 5, 6, 7, 11, 12)]
    table = pl.select(month=pl.concat_list(months)).explode("month")
    table = table.with_columns(roc_auc=pl.int_range(pl.len()) / 10)
    (line,) = table.pr.plot_intervals().get_lines()
    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [7]
    assert len(line.get_ydata()) == 10


def test_facets_of_intervals() -> None:
    run = DATED.with_columns(month=pl.col("day").dt.truncate("1mo"))
    table = run.pr.intervals("roc_auc", "truth", SYSTEMS, by=["country", "month"])
    axes = table.pr.plot_intervals(facet="country")
    assert [ax.get_title() for ax in axes] == ["at", "be", "cz"]
    assert [line.get_label() for line in axes[0].get_lines()] == SYSTEMS
    run = RUN.with_columns(pl.col("query") % 3)
    forest = run.pr.intervals("roc_auc", "truth", "good", by=["country", "query"])
    panels = forest.pr.plot_intervals(facet="country")
    of_cz = forest.filter(country="cz").drop_nulls("value")
    assert sorted(x for x, _ in points(line(panels[2], "_value")) if x == x) == sorted(
        of_cz["value"]
    )


def test_slices_are_blocks() -> None:
    table = pl.DataFrame(
        {
            "slice": ["all", "country", "country", "device"],
            "value": ["all", "at", "be", "phone"],
            "roc_auc": [0.7, 0.6, 0.8, 0.5],
        }
    )
    ax = table.pr.plot_intervals()
    names = ["all", "country:", "at", "be", "device:", "phone"]
    assert texts(ax.get_yticklabels()) == names
    assert points(line(ax, "_value")) == [(0.7, 5), (0.6, 3), (0.8, 2), (0.5, 0)]
    sliced = RUN.pr.evaluate("roc_auc", "truth", "good", slices=["country"]).pr.plot_intervals()
    positives = RUN.group_by("country").agg(pl.col("truth").sum()).sort("country")["truth"]
    names = [f"{name} ({n})" for name, n in zip(("at", "be", "cz"), positives, strict=True)]
    assert texts(sliced.get_yticklabels()) == [f"all ({positives.sum()})", "country:", *names]


def test_intervals_of_slices_are_blocks_with_whiskers() -> None:
    table = RUN.pr.intervals("roc_auc", "truth", "good", slices=["country"])
    ax = table.pr.plot_intervals()
    names = [text.partition(" (")[0] for text in texts(ax.get_yticklabels())]
    assert names == ["all", "country:", "at", "be", "cz"]
    assert points(line(ax, "_value")) == list(zip(table["value"], [4, 2, 1, 0], strict=True))
    segments = [tuple(segment[:, 0]) for segment in ax.collections[0].get_segments()]
    assert segments == table.select("low", "high").rows()
    assert ax.get_xlabel().startswith("ROC AUC\n(")


LOGARITHMIC = {
    "scores": lambda: RUN.pr.plot_scores("truth", "good"),
    "gains": lambda: RUN.pr.gains_table("truth", "good").pr.plot_gains(),
    "intervals": lambda: RUN.pr.roc_auc("truth", "good", by="country").pr.plot_intervals(),
    "comparison": lambda: RUN.pr.compare(
        "roc_auc", "truth", SYSTEMS[::-1], mean_over="query"
    ).pr.plot_comparison(),
    "differences": lambda: RUN.pr.roc_auc(
        "truth", SYSTEMS[::-1], by="country"
    ).pr.plot_comparison(),
    "numbers along x": lambda: (
        RUN.filter(pl.col("query") > 0)
        .pr.roc_auc("truth", "good", by="query")
        .pr.plot_intervals(x="query")
    ),
    "confusion": lambda: RUN.pr.confusion("truth", "good", threshold=0.7).pr.plot_confusion(),
}


@pytest.mark.parametrize("name", LOGARITHMIC)
def test_the_x_axis_may_become_logarithmic(name: str) -> None:
    ax = LOGARITHMIC[name]()
    ax.set(xscale="log")
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    assert 0 < low < high


def test_amounts_with_a_long_tail_are_on_a_logarithmic_axis() -> None:
    # The ratios of the edges are equal: the 10 bins of 1 to 10^5 end at powers of the root of 10.
    amounts = RUN.with_columns(amount=10 ** (pl.int_range(pl.len()) / (pl.len() - 1) * 5))
    ax = amounts.pr.plot_scores("truth", "amount", bins=10)
    assert ax.get_xscale() == "log"
    assert ax.patches[0].get_data().edges == pytest.approx(10 ** (np.arange(11) / 2))
    one = amounts.pr.plot_scores("truth", "amount", bins=1)
    assert one.patches[0].get_data().edges == pytest.approx([1, 10**5])
    for scores in (pl.col("good"), pl.col("amount").log(), -pl.col("amount")):
        linear = amounts.with_columns(amount=scores).pr.plot_scores("truth", "amount")
        assert linear.get_xscale() == "linear"


def test_colours_of_systems_without_groups() -> None:
    table = RUN.pr.intervals("roc_auc", "truth", SYSTEMS)
    ax = table.pr.plot_intervals(colors={"poor": "red"})
    assert {line.get_color() for line in ax.get_lines()} == {"#19669B", "red"}
    assert ax.get_legend() is None


def test_panels_give_a_name_one_colour() -> None:
    table = pl.DataFrame(
        {
            "country": ["at", "at", "be"],
            "month": [date(2026, 1, 1)] * 3,
            "system": ["a", "b", "b"],
            "roc_auc": [0.6, 0.7, 0.8],
        }
    )
    axes = table.pr.plot_intervals(facet="country")
    colours = [{line.get_label(): line.get_color() for line in ax.get_lines()} for ax in axes]
    assert colours[0]["b"] == colours[1]["b"] != colours[0]["a"]


def test_panels_of_times() -> None:
    days = DATED.filter(pl.col("query") < 2)
    table = days.pr.evaluate("prevalence", "truth", "good", by=["country", "day"])
    axes = table.pr.plot_intervals(facet="day")
    assert [ax.get_title() for ax in axes] == ["2026-01-01", "2026-01-02"]
    assert set(texts(axes[0].get_yticklabels())) == {"at", "be", "cz"}
