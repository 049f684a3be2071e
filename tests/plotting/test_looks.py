"""What colours and strokes mean, and that they can be told apart."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from pictures import TEXTBOOK, axes, curves, labels, line, numbers, random_run, render

import frame_pr as fp
from frame_pr.plotting import appearance
from frame_pr.plotting.legends import number_text

SYSTEMS = ["old", "new", "other"]


def run(groups: int = 3) -> pl.DataFrame:
    rows = random_run(groups=groups, rows=900)
    noise = np.random.default_rng(1).normal(size=(2, 900))
    return rows.rename({"score": "old"}).with_columns(new=pl.col("old") + noise[0], other=pl.col("old") + noise[1])


def colours_by_name(ax) -> dict[str, str]:
    return {drawn.get_label().partition(" ")[0]: drawn.get_color() for drawn in curves(ax)}


# Distances between colours


def linear(colour):
    share = np.array(to_rgb(colour))
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIE Lab of linear sRGB, in daylight."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    part = np.array(to_xyz) @ light / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# What is left of a colour without the red or the green cones: Machado, Oliveira and Fernandes 2009, severity 1.
NO_RED = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
NO_GREEN = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]


@pytest.mark.parametrize("ground", ["white", "#121212"])
@pytest.mark.parametrize("sight", [np.eye(3), np.array(NO_RED), np.array(NO_GREEN)], ids=["all", "no red", "no green"])
def test_any_two_of_seven_colours_differ(ground, sight):
    ax = axes()
    ax.set_facecolor(ground)
    seen = [lab(np.clip(sight @ linear(colour), 0, 1)) for colour in appearance.palette(ax)]
    assert len(seen) == 7
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20


@pytest.mark.parametrize("ground", ["white", "#121212", "#eaeaf2"])
def test_all_colours_are_seen_on_their_ground(ground):
    ax = axes()
    ax.set_facecolor(ground)
    shine = [float(np.dot([0.2126, 0.7152, 0.0722], linear(one))) for one in [*appearance.palette(ax), ground]]
    *drawn, behind = [one + 0.05 for one in shine]
    # The guidelines for accessible pages ask for 3 to 1.
    least = 3 if ground != "#eaeaf2" else 2.5
    assert all(max(one, behind) / min(one, behind) > least for one in drawn)
    letters = float(np.dot([0.2126, 0.7152, 0.0722], linear(appearance.text_colour(ax)))) + 0.05
    assert max(letters, behind) / min(letters, behind) > 4.5


# What they mean


def test_the_colour_is_the_system_and_the_stroke_the_group():
    ax = fp.plot(run(), "relevant", SYSTEMS, by="query")
    drawn = [one for one in ax.get_lines() if one.get_label() == "_curve"]
    assert len({one.get_color() for one in drawn}) == 3
    assert len({str(one._unscaled_dash_pattern) for one in drawn}) == 3
    assert len({(one.get_color(), str(one._unscaled_dash_pattern)) for one in drawn}) == 9
    # Curves stand by query and system; so all first ones are of one system, the first three of one query.
    assert len({one.get_color() for one in drawn[::3]}) == 1
    assert len({str(one._unscaled_dash_pattern) for one in drawn[:3]}) == 1
    per_query = fp.evaluate(run(), "average_precision", "relevant", SYSTEMS, by="query")
    found = per_query.filter(query=0)["average_precision"].to_list()
    positives = run().filter("relevant", query=0).height
    first = f"0  {', '.join(f'{ap:.2f}' for ap in found)} (P = {positives})"
    assert labels(ax)[:5] == [*SYSTEMS, "query (AP)", first]
    handles = ax.get_legend().legend_handles
    assert [one.get_color() for one in handles[:3]] == [one.get_color() for one in drawn[:3]]


def test_systems_have_the_same_colours_in_every_picture():
    rows = run()
    plain = colours_by_name(fp.plot(rows, "relevant", SYSTEMS))
    average = colours_by_name(fp.plot(rows, "relevant", SYSTEMS, by="query", average=True))
    assert plain == average
    panel = fp.plot(rows, "relevant", SYSTEMS, by="query", facet=True).axes[0]
    assert [one.get_color() for one in curves(panel)] == list(plain.values())
    roc = colours_by_name(fp.plot(rows, "relevant", SYSTEMS, x="fpr", y="recall"))
    assert roc == plain


def test_a_system_keeps_its_colour_in_other_company():
    rows = run()
    first = colours_by_name(fp.plot(rows, "relevant", ["old", "new"]))
    second = colours_by_name(fp.plot(rows, "relevant", ["new", "other"]))
    assert second["new"] == first["new"]
    assert second["other"] == first["old"]  # the first colour that is free
    assert list(colours_by_name(fp.plot(rows, "relevant", "new")).values()) == [first["new"]]
    third = colours_by_name(fp.plot(rows, "relevant", ["old", "other"]))
    assert third["old"] == first["old"]
    assert third["other"] != first["old"]


def test_a_new_figure_is_as_wide_as_its_content_and_has_two_spines():
    ax = fp.plot(run(), "relevant", SYSTEMS)
    width, height = ax.figure.get_size_inches()
    assert width < 1.1 * height
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    mine = fp.plot(run(), "relevant", SYSTEMS, ax=axes())
    assert all(spine.get_visible() for spine in mine.spines.values())


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("average_precision", "Average precision"),
        ("roc_auc", "ROC AUC"),
        ("precision@10", "Precision@10"),
        ("recall@precision=0.9", "Recall at precision 0.9"),
        ("ndcg@5", "nDCG@5"),
        ("max_f0.5", "Max F0.5"),
        ("threshold@max_f1", "Threshold at max f1"),
        ("mean_average_precision", "Mean average precision"),
        ("fpr@threshold=0.5", "False positive rate at threshold 0.5"),
        ("my_column", "my_column"),
    ],
)
def test_display_names(name, title):
    assert appearance.metric_title(name) == title


def test_colours_by_name():
    chosen = {"old": "0.5", "new": "C1", "not there": "red"}
    rows = run()
    for ax in (
        fp.plot(rows, "relevant", SYSTEMS, colors=chosen),
        fp.plot(rows, "relevant", ["new", "old"], colors=chosen),
        fp.plot(rows, "relevant", ["new", "old"], by="query", average=True, colors=chosen),
    ):
        found = colours_by_name(ax)
        assert (found["old"], found["new"]) == ("0.5", "C1")
    by_group = fp.plot(rows, "relevant", "old", by="query", colors={1: "red"})
    assert colours_by_name(by_group)["1"] == "red"
    with pytest.raises(ValueError, match="colors: 'rot', of 'old', is no colour that matplotlib knows"):
        fp.plot(rows, "relevant", "old", colors={"old": "rot"})
    with pytest.raises(TypeError, match="colors takes a dict of name and colour"):
        fp.plot(rows, "relevant", "old", colors=["red"])
    with pytest.raises(ValueError, match="color is one colour for all curves; colors="):
        fp.plot(rows, "relevant", SYSTEMS, color=["red", "blue"])


def test_up_to_seven_curves_are_solid():
    ax = fp.plot(random_run(groups=8, rows=2000), "relevant", "score", by="query", max_groups=8)
    strokes = [one.get_linestyle() for one in curves(ax)]
    assert strokes[:7] == ["-"] * 7
    assert strokes[7] != "-"


def test_nothing_is_black_on_black():
    with mpl.rc_context({"axes.facecolor": "#121212", "figure.facecolor": "#121212"}):
        ax = fp.plot(run(7), "relevant", "old", by="query", iso_f=True, mark="max_f1")
    assert "white" in {one.get_color() for one in curves(ax)}
    marks = [one for one in ax.get_lines() if one.get_gid() == "mark"]
    assert {one.get_markeredgecolor() for one in marks} == {mpl.colors.to_rgba("#121212")}


# Averages


def test_what_an_average_has_around_it():
    rows = run(20)
    given = {"by": "query", "average": True, "ax": None}
    band = fp.average_curve(rows, "relevant", "old", by="query")
    for spread, column, words in (
        ("quartiles", "lower_quartile", "middle half of the groups"),
        ("interval", "low", "95 % interval of the mean"),
    ):
        ax = fp.plot(rows, "relevant", "old", spread=spread, **given)
        drawn = ax.collections[0].get_paths()[0].vertices[:, 1]
        assert drawn.min() == pytest.approx(band[column].min())
        assert words in labels(ax)
    ax = fp.plot(rows, "relevant", "old", spread="groups", **given)
    (single,) = [one for one in ax.collections if one.get_label() == "_groups"]
    # The area under each group's line is its average precision.
    areas = [float((np.diff(x) * y[1:]).sum()) for x, y in (path.vertices.T for path in single.get_paths())]
    assert areas == pytest.approx(
        fp.average_precision(rows, "relevant", "old", by="query")["average_precision"].to_list()
    )
    assert "single groups" in labels(ax)
    bare = fp.plot(rows, "relevant", "old", spread=None, **given)
    assert len(bare.collections) == 0


def test_of_three_averages_the_edges_are_drawn():
    ax = fp.plot(run(20), "relevant", SYSTEMS, by="query", average=True)
    assert len(ax.collections) == 0
    edges = [one for one in ax.get_lines() if one.get_label() == "_edge"]
    assert [one.get_color() for one in edges] == [one.get_color() for one in curves(ax) for _ in range(2)]


def test_panels_of_averages():
    rows = run(20).with_columns(country=pl.when(pl.col("query") < 10).then(pl.lit("x")).otherwise(pl.lit("y")))
    figure = fp.plot(rows, "relevant", ["old", "new"], by=["country", "query"], facet="country", average="query")
    means = fp.evaluate(
        rows, "average_precision", "relevant", ["old", "new"], by=["country", "query"], mean_over="query"
    )["mean_average_precision"]
    found = [text for ax in figure.axes for text in labels(ax)]
    assert found == [f"mean AP {mean:.2f}" for mean in means]
    assert [ax.get_title() for ax in figure.axes] == ["country: x (10 groups)", "y (10 groups)"]
    with pytest.raises(ValueError, match="facet= and average= both name 'query'"):
        fp.plot(rows, "relevant", "old", by=["country", "query"], facet="query", average="query")


# Baselines and numbers


def test_many_baselines_are_a_band():
    rows = pl.concat([random_run(groups=1, seed=i).with_columns(query=pl.lit(i)) for i in range(5)])
    some = rows.filter(~pl.col("relevant") | (pl.int_range(pl.len()) % (pl.col("query") + 1) == 0))
    ax = fp.plot(some, "relevant", "score", by="query")
    assert not [one for one in ax.get_lines() if one.get_label() == "_prevalence"]
    prevalence = fp.evaluate(some, "prevalence", "relevant", "score", by="query")["prevalence"]
    (band,) = ax.patches
    # A polygon before matplotlib 3.9, a rectangle since.
    box = band.get_extents().transformed(ax.transData.inverted())
    assert (box.y0, box.y1) == pytest.approx((prevalence.min(), prevalence.max()))


def test_a_second_baseline_has_the_colour_of_its_curve():
    ax = fp.plot(random_run(), "relevant", "score", ax=axes())
    fewer = random_run().filter(~pl.col("relevant") | (pl.int_range(pl.len()) % 3 == 0))
    fp.plot(fewer, "relevant", "score", ax=ax, label="fewer")
    first, second = [one for one in ax.get_lines() if one.get_label() == "_prevalence"]
    assert first.get_color() == "0.5"
    assert second.get_color() == curves(ax)[1].get_color()
    fp.plot(fewer, "relevant", "score", ax=ax, label="again")
    assert len([one for one in ax.get_lines() if one.get_label() == "_prevalence"]) == 2


def test_baselines_have_their_values_in_the_legend():
    # 1 of 4 and 2 of 4 rows are positive.
    rows = pl.DataFrame({"g": [1] * 4 + [2] * 4, "t": [1, 0, 0, 0, 1, 1, 0, 0], "s": range(8)})
    ax = fp.plot(rows.filter(g=1), "t", "s", ax=axes(), decimals=3)
    assert labels(ax)[-1] == "prevalence (0.250)"
    assert labels(fp.plot(rows.filter(g=2), "t", "s", ax=ax))[-1] == "prevalence (0.25 to 0.50)"
    assert labels(fp.plot(rows, "t", "s", by="g", ax=axes()))[-1] == "prevalence (0.25 to 0.50)"
    assert labels(fp.plot(rows, "t", "s", by="g", highlight=[1], ax=axes()))[-1] == "prevalence (0.25 to 0.50)"


def test_one_score_has_its_name():
    run = TEXTBOOK.rename({"score": "_a $x$"})
    for score in ("_a $x$", pl.col("score").alias("_a $x$")):
        rows = run if isinstance(score, str) else TEXTBOOK
        ax = fp.plot(rows, "relevant", score, ax=axes())
        assert labels(ax)[0] == "\u200b_a \\$x\\$ (AP = 0.78, P = 5)"
    assert labels(fp.plot(TEXTBOOK, "relevant", "score", label="mine", ax=axes()))[0] == "mine (AP = 0.78, P = 5)"


def test_small_numbers_have_two_digits():
    rare = pl.DataFrame({"relevant": [True] + [False] * 2999, "score": range(3000)}).with_columns(w=pl.lit(0.3))
    ax = fp.plot(rare, "relevant", "score", ax=axes())
    assert labels(ax)[0] == "score (AP = 0.00033, P = 1)"
    ax = fp.plot(rare, "relevant", "score", weight="w", ax=axes())
    assert labels(ax)[0].endswith(", P = 0.3)")


def test_all_areas_have_equally_many_decimals():
    truth = [True] + [False] * 2999
    rare = pl.DataFrame({"t": truth, "last": range(3000), "later": [1499.5, *range(2999)]})
    # 1/3000 and 1/1500.
    assert labels(fp.plot(rare, "t", ["last", "later"], ax=axes()))[:2] == [
        "last (AP = 0.00033)",
        "later (AP = 0.00067)",
    ]


def test_what_would_be_empty_says_why():
    rows = pl.DataFrame({"query": [1, 1, 2], "relevant": [True, False, False], "score": [3, 2, 1]})
    figure = fp.plot(rows, "relevant", "score", by="query", facet=True)
    said = [[text.get_text() for text in ax.texts if text not in numbers(ax)] for ax in figure.axes]
    assert said == [[], ["no positives"]]
    ax = fp.plot(rows.filter(query=2), "relevant", "score", ax=axes())
    assert [text.get_text() for text in ax.texts] == ["no positives"]
    ax = fp.plot(rows.clear(), "relevant", "score", ax=axes())
    assert [text.get_text() for text in ax.texts] == ["no rows"]
    render(ax.figure)


def test_few_thresholds_are_points():
    tied = random_run().with_columns(score=pl.lit(1.0))
    (drawn,) = curves(fp.plot(tied, "relevant", "score", ax=axes()))
    assert drawn.get_marker() == "o"
    many = random_run().with_columns(score=pl.int_range(pl.len()))
    (drawn,) = curves(fp.plot(many, "relevant", "score", ax=axes()))
    assert drawn.get_marker() == "None"


def test_what_is_drawn_beside_the_curve_is_in_the_legend():
    ax = fp.plot(random_run(groups=1), "relevant", "score", points=11)
    assert labels(ax)[1:3] == ["interpolated", "11 levels of recall"]
    assert line(ax, "_levels").get_marker() == "s"


def test_keys_are_written_as_people_do():
    rows = pl.DataFrame({"query": [0.1 + 0.2, 0.1 + 0.2, None, None], "relevant": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    ax = fp.plot(rows, "relevant", "score", by="query")
    assert {text.split(" (A")[0] for text in labels(ax)[:-1]} == {"0.3", "(null)"}
    days = rows.with_columns(query=pl.lit("2024-01-01").str.to_datetime())
    figure = fp.plot(days, "relevant", "score", by="query", facet=True)
    assert figure.axes[0].get_title() == "query: 2024-01-01 (P = 2)"


def test_baselines_of_groups_have_no_colour_of_a_system():
    rows = pl.concat([run(1).with_columns(query=pl.lit("a")), run(1).with_columns(query=pl.lit("b"), relevant=True)])
    ax = rows.pr.plot("relevant", SYSTEMS, by="query")
    drawn = [line for line in ax.get_lines() if line.get_label() == "_prevalence"]
    assert len(drawn) == 2
    assert {line.get_color() for line in drawn} == {"0.5"}


def test_a_value_near_0_or_1_is_not_shown_as_0_or_1() -> None:
    # 249 positives at ranks 1 to 248 and 251: AP = (248 + 249/251) / 249 = 0.99997.
    ranked = [1] * 248 + [0, 0, 1]
    run = pl.DataFrame({"t": ranked, "s": range(251, 0, -1)})
    assert fp.plot(run, "t", "s", ax=axes()).get_legend().get_texts()[0].get_text() == "s (AP = 0.99997, P = 249)"
    assert [number_text(value, 2) for value in (0.996, 0.004, 1.0, 0.0, 0.5)] == [
        "0.996",
        "0.004",
        "1.00",
        "0.00",
        "0.50",
    ]
