"""The lines, texts and colours of `plot`."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from drawn import TEXTBOOK, curves, legend, legend_of, line, points, rows
from matplotlib.figure import Figure

import frame_pr as fp

RUN = rows()
SYSTEMS = ["good", "poor"]


def test_the_curve_has_the_steps_of_average_precision() -> None:
    ax = TEXTBOOK.pr.plot("relevant", "score")
    (drawn,) = curves(ax)
    table = TEXTBOOK.pr.curve("relevant", "score")
    expected = [(0.0, 1.0), *table.select("recall", "precision").rows()]
    assert points(drawn) == expected
    assert drawn.get_drawstyle() == "steps-pre"
    assert legend(ax) == ["score (AP = 0.78, 5 positives)", "prevalence (0.50)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Precision")
    # The ends of steps under the line have the area of the average precision, 47/60.
    x, y = np.array(expected).T
    assert (np.diff(x) * y[1:]).sum() == pytest.approx(47 / 60)


def test_misses_above_the_first_hit_draw_no_line_along_the_axis() -> None:
    run = pl.DataFrame({"relevant": [0, 0, 1, 0, 1], "score": [0.5, 0.4, 0.3, 0.2, 0.1]})
    assert points(curves(run.pr.plot("relevant", "score"))[0])[:2] == [(0, 1 / 3), (0.5, 1 / 3)]


def test_few_thresholds_have_points() -> None:
    assert curves(TEXTBOOK.pr.plot("relevant", "score"))[0].get_marker() == "o"
    assert curves(RUN.pr.plot("truth", "good"))[0].get_marker() == "None"


def test_systems_share_the_number_of_positives() -> None:
    ax = RUN.pr.plot("truth", SYSTEMS)
    values = RUN.pr.average_precision("truth", SYSTEMS)["average_precision"]
    assert legend(ax)[:2] == [
        f"{name} (AP = {value:.2f})" for name, value in zip(SYSTEMS, values, strict=True)
    ]
    assert legend_of(ax).get_title().get_text() == f"{RUN['truth'].sum()} positives"


def test_groups_have_their_number_of_positives() -> None:
    ax = RUN.pr.plot("truth", "good", by="country")
    table = RUN.pr.evaluate(["average_precision", "positives"], "truth", "good", by="country")
    assert legend(ax)[:3] == [f"{name} (AP = {ap:.2f}, P = {n})" for name, ap, n in table.rows()]
    assert legend_of(ax).get_title().get_text() == "country (P: positives)"


def test_colours_show_systems_and_line_styles_groups() -> None:
    drawn = curves(RUN.pr.plot("truth", SYSTEMS, by="country"))
    labels = [line.get_label().rpartition(", ")[0].rpartition(", ")[0] for line in drawn]
    assert labels == [
        f"{country}, {system}" for country in ("at", "be", "cz") for system in SYSTEMS
    ]
    assert len({line.get_color() for line in drawn}) == 2
    styles = {label: line.get_linestyle() for label, line in zip(labels, drawn, strict=True)}
    assert styles["at, good"] == styles["at, poor"]
    assert len({line.get_color() for line in drawn[::2]}) == 1


def test_a_key_with_one_value_is_not_part_of_the_names() -> None:
    ax = RUN.filter(country="at").pr.plot("truth", SYSTEMS, by="country")
    assert [text.partition(" (")[0] for text in legend(ax)[:2]] == SYSTEMS


def test_colours_follow_the_call_and_nothing_else() -> None:
    first = [line.get_color() for line in curves(RUN.pr.plot("truth", ["poor"]))]
    RUN.pr.plot("truth", SYSTEMS)
    assert [line.get_color() for line in curves(RUN.pr.plot("truth", ["poor"]))] == first
    taken = RUN.pr.plot("truth", SYSTEMS, colors={"poor": first[0]})
    assert [line.get_color() for line in curves(taken)].count(first[0]) == 1
    named = RUN.pr.plot("truth", SYSTEMS, colors={"poor": "#123456"})
    assert [line.get_color() for line in curves(named)] == [*first, "#123456"]


def test_a_second_call_goes_on_with_the_next_colour_of_the_axes() -> None:
    ax = RUN.pr.plot("truth", "good")
    RUN.pr.plot("truth", "poor", ax=ax)
    assert len({line.get_color() for line in curves(ax)}) == 2
    assert len(legend(ax)) == 3


def test_a_style_sheet_has_its_colours() -> None:
    with mpl.style.context("ggplot"):
        drawn = curves(RUN.pr.plot("truth", SYSTEMS))
        assert [line.get_color() for line in drawn] == ["#E24A33", "#348ABD"]


def test_labels_replace_names() -> None:
    ax = RUN.pr.plot(
        "truth",
        SYSTEMS,
        by="country",
        labels={"good": "Gut", "recall": "Trefferquote", "country": "Land"},
    )
    assert legend(ax)[0].startswith("at, Gut, 0.")
    assert ax.get_xlabel() == "Trefferquote"
    assert legend_of(ax).get_title().get_text() == "Land (AP, P)"


def test_names_that_matplotlib_would_read() -> None:
    run = RUN.rename({"good": "$5", "poor": "_x"})
    ax = run.pr.plot("truth", ["$5", "_x"])
    assert [text.partition(" (")[0] for text in legend(ax)[:2]] == [r"\$5", "\u200b_x"]


def test_the_positive_label_is_in_the_title_of_the_axis() -> None:
    run = RUN.with_columns(verdict=pl.when("truth").then(pl.lit("spam")).otherwise(pl.lit("ham")))
    ax = run.pr.plot("verdict", "good", positive="spam")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall (positive: spam)", "Precision")


def test_properties_of_lines() -> None:
    (drawn,) = curves(RUN.pr.plot("truth", "good", color="red", lw=3, ls="--"))
    assert (drawn.get_color(), drawn.get_linewidth(), drawn.get_linestyle()) == ("red", 3, "--")


def test_a_roc_curve_goes_from_corner_to_corner() -> None:
    ax = RUN.pr.plot("truth", "good", x="fpr", y="recall")
    drawn = points(curves(ax)[0])
    assert (drawn[0], drawn[-1]) == ((0, 0), (1, 1))
    area = RUN.pr.roc_auc("truth", "good")["roc_auc"].item()
    x, y = np.array(drawn).T
    assert ((y[1:] + y[:-1]) / 2 * np.diff(x)).sum() == pytest.approx(area)
    assert legend(ax) == [
        f"good (AUC = {area:.2f}, {RUN['truth'].sum()} positives)",
        "random ranking (AUC = 0.5)",
    ]


@pytest.mark.parametrize(
    ("x", "y", "first", "last"),
    [
        ("share", "recall", (0, 0), (1, 1)),
        ("fpr", "fnr", (0, 1), (1, 0)),
        ("share", "lift", None, (1, 1)),
    ],
)
def test_the_ends_of_other_curves(
    x: str, y: str, first: tuple[float, float] | None, last: tuple[float, float]
) -> None:
    ax = RUN.pr.plot("truth", "good", x=x, y=y)
    drawn = points(curves(ax)[0])
    assert drawn[-1] == pytest.approx(last)
    if first is not None:
        assert drawn[0] == pytest.approx(first)


def test_metrics_by_threshold() -> None:
    ax = RUN.pr.plot("truth", "good", x="threshold", y=["precision", "recall", "f1"], mark="max_f1")
    table = RUN.pr.curve("truth", "good", rates="f1")
    for name, drawn in zip(("precision", "recall", "f1"), curves(ax), strict=True):
        assert points(drawn) == table.select("threshold", name).rows()
        assert drawn.get_drawstyle() == "steps-post"
    value, threshold = RUN.pr.evaluate(["max_f1", "threshold@max_f1"], "truth", "good").row(0)
    assert legend(ax) == ["Precision", "Recall", "F1", f"max F1 = {value:.2f} at {threshold:.3g}"]
    assert ax.get_ylabel() == "Precision, Recall, F1"


def test_cost_and_its_references() -> None:
    ax = RUN.pr.plot("truth", "good", x="threshold", y="cost10")
    assert (
        points(curves(ax)[0])
        == RUN.pr.curve("truth", "good", rates="cost10").select("threshold", "cost10").rows()
    )
    share = RUN["truth"].mean()
    heights = sorted(
        line.get_ydata()[0] for line in ax.get_lines() if line.get_label() == "_baseline"
    )
    assert heights == pytest.approx(sorted([1 - share, 10 * share]))  # type: ignore[operator]
    assert legend(ax)[1:] == ["alert on all rows", "alert on none"]


def test_net_benefit_is_that_of_evaluate() -> None:
    ax = RUN.pr.plot("truth", "good", x="threshold", y="net_benefit")
    drawn = dict(points(curves(ax)[0]))
    for threshold in list(drawn)[:: len(drawn) // 20]:
        value = RUN.pr.evaluate(f"net_benefit@threshold={threshold!r}", "truth", "good").item()
        assert drawn[threshold] == pytest.approx(value)
    bottom, top = ax.get_ylim()
    assert -0.2 * top < bottom < 0  # alerts on all rows fall far below


@pytest.mark.parametrize("y", ["net_benefit", "standardized_net_benefit"])
def test_net_benefit_needs_probabilities(y: str) -> None:
    with pytest.raises(ValueError, match="y: net benefit needs scores that are probabilities"):
        TEXTBOOK.with_columns(pl.col("score") * 10).pr.plot("relevant", "score", x="threshold", y=y)


def test_many_ranks_are_on_a_logarithmic_axis() -> None:
    assert (
        rows(3000, good=1.0).with_row_index("i").pr.plot("truth", "i", x="k").get_xscale() == "log"
    )
    assert RUN.pr.plot("truth", "good", x="k").get_xscale() == "linear"


def test_rare_positives_are_on_a_logarithmic_axis() -> None:
    rare = rows(8000, rate=0.004, good=0.3)
    assert rare.pr.plot("truth", "good").get_yscale() == "log"
    assert RUN.pr.plot("truth", "good").get_yscale() == "linear"
    value = rare.pr.average_precision("truth", "good")["average_precision"].item()
    assert f"AP = {value:.2g}" in legend(rare.pr.plot("truth", "good"))[0]  # 2 significant digits


def test_each_mark_has_its_shape() -> None:
    names = ["max_f1", "max_f2", "recall=0.8", 0.5, "k=50"]
    ax = RUN.pr.plot("truth", "good", mark=names)
    drawn = [line for line in ax.get_lines() if line.get_gid() == "mark"]
    assert len({line.get_marker() for line in drawn}) == len(names)
    cutoffs = ["threshold@max_f1", "threshold@max_f2", "threshold@recall=0.8"]
    thresholds = [*RUN.pr.evaluate(cutoffs, "truth", "good").row(0), 0.5]
    for threshold, mark in zip(thresholds, drawn, strict=False):
        cutoff = f"threshold={threshold:g}"
        expected = RUN.pr.evaluate(
            [f"recall@{cutoff}", f"precision@{cutoff}"], "truth", "good"
        ).row(0)
        assert points(mark) == [pytest.approx(expected)]
    texts = legend(ax)[2:]
    assert [text.partition(" at ")[0].partition(" =")[0] for text in texts] == [
        *("max F1", "max F2", "recall 0.8", "threshold 0.5", "rank 50")
    ]


def test_marks_of_several_curves_have_their_thresholds_next_to_them() -> None:
    ax = RUN.pr.plot("truth", SYSTEMS, mark="max_f1")
    assert legend(ax)[-1] == "max F1"
    thresholds = RUN.pr.evaluate("threshold@max_f1", "truth", SYSTEMS)["threshold@max_f1"]
    assert [text.get_text() for text in ax.texts] == [f"{value:.3g}" for value in thresholds]


def test_a_threshold_beyond_all_scores_has_no_mark() -> None:
    assert len(legend(RUN.pr.plot("truth", "good", mark=2.0))) == 2


def test_lower_scores_first() -> None:
    ax = RUN.with_columns(-pl.col("good")).pr.plot("truth", "good", ascending=True, mark=-0.5)
    same = RUN.pr.plot("truth", "good", mark=0.5)
    assert points(curves(ax)[0]) == points(curves(same)[0])
    assert points(line(ax, "_mark")) == points(line(same, "_mark"))


def test_rectangles_fill_the_average_precision() -> None:
    ax = TEXTBOOK.pr.plot("relevant", "score", rectangles=True)
    (area, edges) = ax.collections
    (path,) = area.get_paths()
    x, y = path.vertices.T
    assert abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2 == pytest.approx(47 / 60)
    assert len(edges.get_segments()) == 6


def test_the_envelope_is_the_interpolated_precision() -> None:
    run = rows(60, seed=3, rate=0.4, good=0.6)
    ax = run.pr.plot("truth", "good", interpolated=True)
    table = run.pr.curve("truth", "good")
    best = table["precision"].reverse().cum_max().reverse().filter(table["recall"] > 0)
    assert points(line(ax, "_envelope"))[1:] == list(
        zip(table["recall"].filter(table["recall"] > 0), best, strict=True)
    )
    names = ["average_precision", "interpolated_average_precision"]
    values = run.pr.evaluate(names, "truth", "good").row(0)
    assert legend(ax)[0].startswith(
        f"good (AP = {values[0]:.2f}, interpolated AP = {values[1]:.2f}"
    )


def test_the_baseline_is_the_prevalence_of_each_group() -> None:
    ax = RUN.pr.plot("truth", "good", by="country")
    shares = RUN.pr.evaluate("prevalence", "truth", "good", by="country")["prevalence"].to_list()
    heights = [line.get_ydata()[0] for line in ax.get_lines() if line.get_label() == "_baseline"]
    assert all(min(abs(share - height) for height in heights) <= 0.005 for share in shares)
    assert legend(ax)[-1] == f"prevalence ({min(shares):.2f} to {max(shares):.2f})"
    bare = RUN.pr.plot("truth", "good", by="country", baseline=False)
    assert [line for line in bare.get_lines() if line.get_label() == "_baseline"] == []
    assert len(legend(bare)) == 3


def test_prevalences_of_many_groups_are_a_band() -> None:
    run = RUN.with_columns(group=pl.col("query") % 6).filter(
        pl.col("truth") | (pl.col("query") % 7 > pl.col("query") % 6)
    )
    ax = run.pr.plot("truth", "good", by="group")
    assert [line for line in ax.get_lines() if line.get_label() == "_baseline"] == []
    assert len(ax.patches) == 1


def test_groups_without_positives_take_no_colour_and_no_panel() -> None:
    run = RUN.with_columns(pl.col("truth") & (pl.col("country") != "at"))
    ax = run.pr.plot("truth", "good", by="country")
    whole = RUN.pr.plot("truth", "good", by="country")
    assert [line.get_color() for line in curves(ax)] == [
        line.get_color() for line in curves(whole)[:2]
    ]
    assert legend(ax)[-1] == "no positives: at"
    assert len(run.pr.plot("truth", "good", by="country", facet=True)) == 2


def test_a_roc_curve_without_negatives_is_empty() -> None:
    ax = TEXTBOOK.with_columns(relevant=1).pr.plot("relevant", "score", x="fpr", y="recall")
    assert curves(ax) == []
    assert legend(ax)[0] == "random ranking (AUC = 0.5)"


def test_infinite_scores_have_no_place_on_an_axis() -> None:
    # More thresholds than a line has points for, and an infinite one on each side.
    scores = [float("inf"), *(i / 20_000 for i in range(20_000)), float("-inf")]
    run = pl.DataFrame({"y": [i % 3 == 0 for i in range(20_002)], "s": scores})
    x, _ = np.array(points(curves(run.pr.plot("y", "s", x="threshold", y="recall"))[0])).T
    assert (x.min(), x.max()) == (0, 19_999 / 20_000)


def test_no_curve_at_all() -> None:
    ax = TEXTBOOK.with_columns(relevant=0).pr.plot("relevant", "score")
    assert [text.get_text() for text in ax.texts] == ["no positives"]


def test_highlight() -> None:
    ax = RUN.pr.plot("truth", "good", by="query", highlight=2)
    table = (
        RUN.pr.average_precision("truth", "good", by="query").drop_nulls().sort("average_precision")
    )
    values = dict(table.rows())
    names = [int(text.partition(" (")[0]) for text in legend(ax)[:4]]
    assert [values[name] for name in names] == [
        *table["average_precision"][:-3:-1],
        *table["average_precision"][1::-1],
    ]
    assert f"{table.height - 4} others" in legend(ax)
    named = RUN.pr.plot("truth", "good", by="query", highlight=["3", 5])
    assert [text.partition(" (")[0] for text in legend(named)[:2]] == ["3", "5"]


def test_a_mean_curve_is_that_of_average_curve() -> None:
    ax = RUN.pr.plot("truth", SYSTEMS, mean_over="query")
    table = RUN.pr.average_curve("truth", SYSTEMS, mean_over="query")
    means = RUN.pr.evaluate("average_precision", "truth", SYSTEMS, by="query", mean_over="query")
    for drawn, system, mean in zip(
        curves(ax), SYSTEMS, means["mean_average_precision"], strict=True
    ):
        expected = table.filter(system=system).select("recall", "precision").rows()
        assert points(drawn)[1:] == expected
        assert drawn.get_label() == f"{system} (mean AP = {mean:.2f})"
    assert legend(ax)[-1].replace("\n", " ") == "95 % interval at each recall (of the mean)"
    title = legend_of(ax).get_title().get_text()
    assert title == f"mean over query (n = {table['groups'][0]})"
    assert len(ax.collections) == 2


def test_panels_have_the_thin_curves_of_few_folds() -> None:
    run = RUN.with_columns(fold=pl.col("query") % 3)
    axes = run.pr.plot("truth", "good", by="country", mean_over="fold", facet="country")
    for ax, country in zip(axes, ("at", "be", "cz"), strict=True):
        thin = [points(line) for line in ax.get_lines() if line.get_label() == "_member"]
        folds = run.filter(country=country).pr.plot("truth", "good", by="fold")
        assert thin == [points(line) for line in curves(folds)]


def test_means_over_one_key_in_panels_of_another() -> None:
    axes = RUN.pr.plot("truth", "good", by="country", mean_over="query", facet="country")
    assert [ax.get_title().partition("\n")[0] for ax in axes] == ["at", "be", "cz"]


def test_means_at_ranks_are_those_of_evaluate() -> None:
    ax = RUN.pr.plot("truth", "good", mean_over="query", x="k", y="recall")
    drawn = dict(points(curves(ax)[0]))
    for k in (1, 5, 10):
        mean = RUN.pr.evaluate(f"recall@{k}", "truth", "good", by="query", mean_over="query")[
            f"mean_recall@{k}"
        ]
        assert drawn[k] == pytest.approx(mean.item())


def test_facets() -> None:
    axes = RUN.pr.plot("truth", SYSTEMS, by="country", facet=True)
    assert isinstance(axes, np.ndarray)
    values = RUN.pr.evaluate(["average_precision", "positives"], "truth", SYSTEMS, by="country")
    for ax, country in zip(axes, ("at", "be", "cz"), strict=True):
        of_country = values.filter(country=country)
        name, areas, size = ax.get_title().split("\n")
        assert (name, size) == (country, f"P = {of_country['positives'][0]}")
        values_of_systems = of_country["average_precision"]
        assert areas == f"AP {', '.join(f'{value:.2f}' for value in values_of_systems)}"
        assert [line.get_label() for line in curves(ax)] == SYSTEMS
    (shared,) = axes[0].figure.legends
    assert [text.get_text() for text in shared.get_texts()] == [*SYSTEMS, "prevalence"]


def test_a_panel_of_one_curve_has_its_numbers_in_the_title() -> None:
    axes = RUN.pr.plot("truth", "good", by="country", facet=True, mark="max_f1")
    table = RUN.pr.evaluate(
        ["average_precision", "positives", "max_f1"], "truth", "good", by="country"
    )
    for ax, (country, ap, n, best) in zip(axes, table.rows(), strict=True):
        name, numbers, mark = ax.get_title().split("\n")
        assert (name, numbers) == (country, f"AP = {ap:.2f}, P = {n}")
        assert mark.startswith(f"max F1 = {best:.2f} at ")


@pytest.mark.parametrize(("groups", "columns"), [(3, 3), (4, 4), (5, 3), (8, 4), (9, 3), (13, 4)])
def test_at_most_four_panels_in_a_row(groups: int, columns: int) -> None:
    run = RUN.with_columns(group=pl.col("query") % groups)
    axes = run.pr.plot("truth", "good", by="group", facet=True)
    assert axes[0].get_gridspec().ncols == columns
    assert len(axes[0].figure.axes) == groups


def test_panels_of_the_caller() -> None:
    grid = Figure().subplots(1, 3)
    axes = RUN.pr.plot("truth", "good", by="country", facet=True, ax=grid)
    assert list(axes) == list(grid)
    with pytest.raises(ValueError, match="ax: 3 panels need as many axes, and there are 2"):
        RUN.pr.plot("truth", "good", by="country", facet=True, ax=grid[:2])


@pytest.mark.parametrize(
    "frame", [RUN.lazy(), RUN.to_pandas(), RUN.to_arrow()], ids=["lazy", "pandas", "arrow"]
)
def test_kinds_of_frames(frame: object) -> None:
    ax = fp.plot(frame, "truth", "good", by="country", mark="max_f1")  # type: ignore[misc]
    same = RUN.pr.plot("truth", "good", by="country", mark="max_f1")
    assert legend(ax) == legend(same)
    assert [points(line) for line in curves(ax)] == [points(line) for line in curves(same)]


@pytest.mark.parametrize("options", [{}, {"interval": True}, {"mean_over": "query"}])
def test_a_lazy_frame_is_read_once(options: dict[str, Any]) -> None:
    reads = []

    def read(frame: pl.DataFrame) -> pl.DataFrame:
        reads.append(frame.columns)
        return frame

    lazy = RUN.lazy().map_batches(read, projection_pushdown=False)
    lazy.pr.plot("truth", "good", **options)
    assert len(reads) == 1


@pytest.mark.parametrize("options", [{}, {"weight": "query"}, {"prevalence": 0.1}])
@pytest.mark.parametrize("rate", ["fpr", "npv", "lift", "mcc", "f1", "cost10", "fn", "accuracy"])
def test_rates_are_those_of_curve(rate: str, options: dict[str, Any]) -> None:
    table = RUN.pr.curve("truth", "good", rates=rate, **options).drop_nulls()
    x, y = np.array(points(curves(RUN.pr.plot("truth", "good", x="k", y=rate, **options))[0])).T
    assert x == pytest.approx(table["k"].to_numpy(), rel=1e-12)
    assert y == pytest.approx(table[rate].to_numpy(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shape", [{}, {"x": "fpr", "y": "recall"}], ids=["pr", "roc"])
def test_a_frame_that_curve_gave(shape: dict[str, str]) -> None:
    table = RUN.pr.curve("truth", SYSTEMS, by="country", rates=["fn", "tn", "fpr"])
    shuffled = table.sample(fraction=1, shuffle=True, seed=1).sort("country", "system")
    ax = fp.plot(shuffled, **shape)
    same = RUN.pr.plot("truth", SYSTEMS, by="country", **shape)
    # Without its area: the frame may lack thresholds.
    names = [text.rpartition(", ")[0].rpartition(", ")[0] for text in legend(same)[:6]]
    assert [text.rpartition(", ")[0] for text in legend(ax)[:6]] == names
    assert [points(line) for line in curves(ax)] == [points(line) for line in curves(same)]


def test_a_frame_of_the_default_columns_has_no_baseline() -> None:
    table = RUN.pr.curve("truth", "good").select("threshold", "k", "tp", "precision", "recall")
    assert legend(fp.plot(table)) == [f"{RUN['truth'].sum()} positives"]


def test_periods_and_intervals_of_pandas() -> None:
    run = RUN.to_pandas()
    run["month"] = pd.PeriodIndex.from_ordinals(run["query"] % 3 + 600, freq="M")
    run["age"] = pd.cut(run["query"], [0, 10, 40], include_lowest=True)
    months = run.pr.plot("truth", "good", by="month")
    assert [text.partition(" (")[0] for text in legend(months)[:3]] == [
        "2020-01",
        "2020-02",
        "2020-03",
    ]
    ages = run.pr.plot("truth", "good", by="age")
    assert [text.partition(" (AP")[0] for text in legend(ages)[:2]] == [
        "(-0.001, 10.0]",
        "(10.0, 40.0]",
    ]


def test_a_long_line_keeps_its_ends_and_extremes() -> None:
    run = rows(200_000, good=1.0).with_columns(good=np.random.default_rng(1).random(200_000))
    (drawn,) = curves(run.pr.plot("truth", "good"))
    table = run.pr.curve("truth", "good").filter(pl.col("recall") > 0)
    x, y = np.array(points(drawn)[1:]).T
    assert len(x) < 40_000
    whole = dict(zip(table["recall"], table["precision"], strict=True))
    assert (x[0], x[-1]) == (table["recall"][0], table["recall"][-1])
    assert {*x} <= {*whole}
    assert y.min() == table["precision"].min()
    assert y.max() == table["precision"].max()


@pytest.mark.parametrize("kind", ["svg", "pdf"])
@pytest.mark.parametrize(
    "options",
    [
        {"rectangles": True, "interpolated": True},
        {"x": "fpr", "y": "recall"},
        {"x": "threshold", "y": ["precision", "recall", "f1"]},
        {"x": "threshold", "y": "net_benefit"},
    ],
    ids=["rectangles", "roc", "thresholds", "net benefit"],
)
def test_the_file_of_a_long_curve_is_small(options: dict[str, Any], kind: str) -> None:
    # The number of points in a plot does not grow with the rows: a file of these rows is as large
    # as one of millions.
    run = rows(100_000, good=1.0).with_columns(good=np.random.default_rng(1).random(100_000))
    file = io.BytesIO()
    run.pr.plot("truth", "good", **options).figure.savefig(file, format=kind)
    assert len(file.getvalue()) < 500_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_file_of_a_long_curve_with_its_band_is_small(kind: str) -> None:
    run = rows(20_000, good=1.0).with_columns(good=np.random.default_rng(1).random(20_000))
    file = io.BytesIO()
    ax = run.pr.plot("truth", "good", interval=True, rectangles=True, interpolated=True)
    ax.figure.savefig(file, format=kind)
    assert len(file.getvalue()) < 500_000


def test_curves_differ_without_colours() -> None:
    # Two of the colours are one grey in print, so no two curves have the same dashes.
    names = ["0", "1", "2", "3", "4"]
    drawn = curves(
        RUN.with_columns(pl.col("good").alias(name) for name in names).pr.plot("truth", names)
    )
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 5


def test_a_figure_is_closed_after_an_error() -> None:
    import matplotlib.pyplot as plt

    with pytest.raises(ValueError, match="rows"):
        RUN.pr.plot("truth", SYSTEMS, x="threshold", y="rows")
    assert plt.get_fignums() == []


# Scores .8 and .6 of positives, .6 and .2 of negatives. From threshold .6 on down, tp = 2 and
# fp = 1, so the net benefit at t is (2 - t / (1 - t)) / 4; above .6 it is 1/4, tp = 1 and fp = 0.
FOUR = pl.DataFrame({"y": [1, 0, 1, 0], "s": [0.8, 0.6, 0.6, 0.2]})


@pytest.mark.parametrize(
    ("threshold", "value"),
    [(0.7, 1 / 4), (0.5, 1 / 4), (0.3, 11 / 28), (0.05, 0.25 * (2 - 2 / 19))],
)
def test_net_benefit_between_two_scores_is_that_at_the_threshold(
    threshold: float, value: float
) -> None:
    ax = FOUR.pr.plot("y", "s", x="threshold", y="net_benefit", mark=threshold)
    x, y = np.array(points(curves(ax)[0])).T
    assert np.interp(threshold, x, y) == pytest.approx(value)
    assert points(line(ax, "_mark")) == [(threshold, pytest.approx(value))]


def test_a_decision_curve_drops_right_above_a_score() -> None:
    x, y = np.array(points(curves(FOUR.pr.plot("y", "s", x="threshold", y="net_benefit"))[0])).T
    assert y[np.searchsorted(x, 0.8)] == 1 / 4  # at .8, the row is selected
    assert y[np.searchsorted(x, 0.8) + 1] == 0  # above it, none is
    assert x[np.searchsorted(x, 0.8) + 1] == np.nextafter(0.8, 1)


def test_a_mark_stands_at_the_threshold_of_the_caller() -> None:
    # At .7, only the row of .8 is selected; the next score below is .6.
    ax = FOUR.pr.plot("y", "s", x="threshold", y="recall", mark=0.7)
    assert points(line(ax, "_mark")) == [(0.7, 1 / 2)]
    assert legend(ax)[-1] == "threshold 0.7"


@pytest.mark.parametrize(
    ("scores", "mark"),
    [
        ([0.9, 0.8, 0.12345678, 0.1, 0.05], 0.12345678),
        ([1_700_000_005, 1_700_000_004, 1_700_000_003, 1_700_000_002, 1], 1_700_000_003),
        ([2**60 + 5, 2**60 + 4, 2**60 + 3, 2**60 + 2, 1], 2**60 + 3),
        (pl.Series([0.9, 0.8, 0.7, 0.3, 0.1], dtype=pl.Float32), 0.7),
        ([0.9, 0.8, 0.7, 0.3, 0.1], "threshold=0.7"),
    ],
)
def test_a_mark_has_all_digits_of_its_threshold(scores: list[float], mark: float) -> None:
    run = pl.DataFrame({"y": [1, 0, 1, 0, 1], "s": scores})
    ax = run.pr.plot("y", "s", mark=mark)
    assert points(line(ax, "_mark")) == [pytest.approx((2 / 3, 2 / 3))]


def test_a_mark_beyond_all_floats_is_above_all_scores() -> None:
    assert len(legend(TEXTBOOK.pr.plot("relevant", "score", mark=10**400))) == 2


def test_a_thinned_curve_has_no_area() -> None:
    ax = RUN.pr.curve("truth", "good", points=20).pr.plot()
    assert legend(ax) == [f"{RUN['truth'].sum()} positives"]
    error = "mark= needs all scores, and a frame of curve may lack"
    for mark in (0.5, 0, np.array([0.5, 0.6])):
        with pytest.raises(ValueError, match=error):
            RUN.pr.curve("truth", "good", points=20).pr.plot(mark=mark)


BLANK = pl.DataFrame({"shop": ["", "", "no", "no"], "y": [1, 0, 0, 1], "s": [0.9, 0.1, 0.7, 0.2]})


@pytest.mark.parametrize(
    "frame", [BLANK, BLANK.lazy(), BLANK.to_pandas()], ids=["polars", "lazy", "pandas"]
)
def test_groups_without_a_name(frame: object) -> None:
    ax = fp.plot(frame, "y", "s", by="shop")  # type: ignore[misc]
    assert legend(ax)[:2] == ["(empty) (AP = 1.00)", "no (AP = 0.50)"]
    one = fp.plot(frame, "y", "s", by="shop", highlight=[""])  # type: ignore[misc]
    assert legend(one)[0] == "(empty) (AP = 1.00, 1 positive)"
    panels = fp.plot(frame, "y", "s", by="shop", facet=True)  # type: ignore[misc]
    assert panels[0].get_title().startswith("(empty)\n")


def test_blank_and_renamed_groups() -> None:
    run = BLANK.with_columns(pl.col("shop").replace({"": "  ", "no": ""}))
    assert [text.partition(" (AP")[0] for text in legend(run.pr.plot("y", "s", by="shop"))[:2]] == [
        "(empty)",
        "'  '",
    ]
    ax = run.pr.plot("y", "s", by="shop", labels={"": "no shop"})
    assert legend(ax)[0].startswith("no shop (AP")


def test_no_group_has_positives() -> None:
    run = pl.DataFrame({"q": [1, 1], "y": [0, 0], "s": [0.9, 0.8]})
    for frame in (run, run.clear()):
        ax = frame.pr.plot("y", "s", mean_over="q")
        assert [text.get_text() for text in ax.texts] == ["no positives"]


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"label": "mine"}, "no argument 'label'; labels={'s1': 'My model'} names curves"),
        ({"label": 3}, "no argument 'label'"),
        ({"figure": 3}, "no argument 'figure'"),
        ({"gid": "x"}, "no argument 'gid'"),
        ({"zorder": "a"}, "zorder: 'a' is no zorder of a line"),
        ({"color": ["red", "blue"]}, "colors={'s1': 'red', 's2': 'blue'} sets a colour for each"),
        ({"ci": True}, "no argument 'ci'; interval=True draws"),
        ({"average": True}, "no argument 'average'; mean_over= names the columns"),
    ],
)
def test_properties_that_are_none_of_the_lines(
    properties: dict[str, object], sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        RUN.pr.plot("truth", "good", **properties)  # type: ignore[arg-type]
    assert sentence in str(raised.value)


def test_the_sum_that_is_the_average_precision() -> None:
    ax = TEXTBOOK.pr.plot("relevant", "score", rectangles=True)
    assert [text.get_text() for text in ax.texts] == ["1/1", "2/2", "3/4", "4/6", "5/10"]
    assert ax.get_title() == "(1/1 + 2/2 + 3/4 + 4/6 + 5/10) / 5 = 0.783"
    # Two positives of one score are one rectangle, twice as wide: (1 + 2 * 3/4) / 3.
    tied = pl.DataFrame({"y": [1, 1, 1, 0], "s": [0.9, 0.5, 0.5, 0.5]})
    assert tied.pr.plot("y", "s", rectangles=True).get_title() == "(1/1 + 2·3/4) / 3 = 0.833"
    weighted = TEXTBOOK.with_columns(w=0.5).pr.plot(
        "relevant", "score", rectangles=True, weight="w"
    )
    assert weighted.get_title() == ""


def test_the_size_of_weighted_and_reweighted_groups() -> None:
    run = TEXTBOOK.with_columns(w=0.5)
    assert legend(run.pr.plot("relevant", "score", weight="w"))[0].endswith("2.5 positive weight)")
    assert legend(run.pr.plot("relevant", "score", prevalence=0.1))[0].count(",") == 0


def test_three_curves_have_line_styles_as_well_as_colours() -> None:
    run = RUN.with_columns(third=pl.col("poor") * 0.5)
    two = curves(run.pr.plot("truth", SYSTEMS))
    assert [line.is_dashed() for line in two] == [False, False]
    three = curves(run.pr.plot("truth", [*SYSTEMS, "third"]))
    assert [line.is_dashed() for line in three] == [False, True, True]


@pytest.mark.parametrize("scales", [{"xscale": "log"}, {"yscale": "log"}])
@pytest.mark.parametrize("shape", [{}, {"x": "fpr", "y": "fnr"}, {"x": "share", "y": "lift"}])
def test_axes_may_become_logarithmic(scales: dict[str, str], shape: dict[str, str]) -> None:
    ax = RUN.pr.plot("truth", "good", **shape)
    ax.set(**scales)
    low, high = ax.get_xlim() if "xscale" in scales else ax.get_ylim()
    assert 0 < low < high


def test_det_curves_are_on_normal_deviates() -> None:
    ax = RUN.pr.plot("truth", "good", x="fpr", y="fnr")
    half, low, high = ax.transData.transform([(0.5, 0.5), (0.2, 0.5), (0.8, 0.5)])[:, 0]
    assert half - low == pytest.approx(high - half)
    # The deviates of .2 and .05 are -.8416 and -1.6449.
    lower = ax.transData.transform((0.05, 0.5))[0]
    assert (half - lower) / (half - low) == pytest.approx(1.6449 / 0.8416, abs=1e-3)


def test_the_true_positive_rate() -> None:
    ax = RUN.pr.plot("truth", "good", x="fpr", y="tpr")
    assert ax.get_ylabel() == "True positive rate"
    assert RUN.pr.plot("truth", "good", x="share", y="recall").get_ylabel() == "Recall"


def test_few_folds_have_their_own_curves() -> None:
    run = RUN.with_columns(fold=pl.col("query") % 3)
    ax = run.pr.plot("truth", "good", mean_over="fold")
    members = [line for line in ax.get_lines() if line.get_label() == "_member"]
    assert len(members) == 3
    areas = run.pr.average_precision("truth", "good", by="fold")["average_precision"]
    assert legend(ax) == [f"good (mean AP = {areas.mean():.2f} ± {areas.std():.3f})"]
    assert len(ax.collections) == 0
