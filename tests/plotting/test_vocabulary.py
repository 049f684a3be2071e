"""Arguments that mean the same on every plot: labels, order, decimals, colors, legend, max_groups, figure."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import axes, curves, labels, lay_out, random_run

import frame_pr as fp

RUN = random_run(rows=600, groups=3).with_columns(other=pl.col("score") + pl.int_range(pl.len()) % 7 / 5)
SCORES = ["score", "other"]
NAMES = {"score": "Baseline", "other": "New", "1": "North", "query": "region", "recall": "Sensitivity"}
MATRIX = fp.confusion_matrix(
    RUN.with_columns(t=pl.col("query") % 2, p=(pl.col("score") > 0.5).cast(pl.Int64)), "t", "p", by="query"
)
PLOTS: dict[str, Any] = {
    "plot": lambda **given: fp.plot(RUN, "relevant", SCORES, **given),
    "facets": lambda **given: fp.plot(RUN, "relevant", SCORES, by="query", facet=True, **given),
    "groups": lambda **given: fp.plot(RUN, "relevant", SCORES, by="query", **given),
    "scores": lambda **given: fp.plot_scores(RUN, "relevant", SCORES, by="query", **given),
    "intervals": lambda **given: fp.plot_intervals(
        fp.intervals(RUN, "average_precision", "relevant", SCORES, by="query"), **given
    ),
    "comparison": lambda **given: fp.plot_comparison(RUN, "average_precision", "relevant", SCORES, by="query", **given),
    "confusion": lambda **given: fp.plot_confusion(MATRIX, **given),
}


def figure_of(drawn: Any) -> Any:
    return drawn if hasattr(drawn, "axes") and not hasattr(drawn, "get_legend") else drawn.figure


def words(drawn: Any) -> str:
    figure = figure_of(drawn)
    lay_out(figure)
    return " ".join(text.get_text() for text in figure.findobj(plt.Text) if text.get_visible())


@pytest.mark.parametrize("name", ["plot", "intervals"])
def test_display_names_are_written_in_place_of_names(name: str) -> None:
    written = words(PLOTS[name](labels=NAMES))
    wanted = {"plot": ["Baseline", "New", "Sensitivity"], "confusion": ["region", "North"]}
    for word in wanted.get(name, ["Baseline", "New", "North"]):
        assert word in written, word
    plain = words(PLOTS[name]())
    assert [word for word in ("Baseline", "New", "North", "region") if word in plain] == []
    plt.close("all")


def test_words_of_the_legend_have_display_names() -> None:
    names = {"average_precision": "mittlere Genauigkeit", "prevalence": "Anteil"}
    ax = fp.plot(RUN, "relevant", SCORES, labels=names)
    assert [label.partition(" (")[2].partition(" =")[0] for label in labels(ax)[:2]] == ["mittlere Genauigkeit"] * 2
    assert labels(ax)[2].startswith("Anteil (0.")
    figure = fp.plot(RUN, "relevant", SCORES, by="query", facet=True, labels=names)
    assert figure.legends[0].get_texts()[-1].get_text() == "Anteil"


def test_order_of_systems_and_groups() -> None:
    ax = fp.plot(RUN, "relevant", SCORES, order=["other"])
    assert [line.get_label().partition(" (")[0] for line in curves(ax)] == ["other", "score"]
    by_value = fp.plot(RUN, "relevant", "score", by="query", order="value", decimals=6)
    areas = [float(label.partition("AP = ")[2][:8]) for label in labels(by_value)[:3]]
    assert areas == sorted(areas, reverse=True)
    undefined = RUN.with_columns(relevant=pl.col("relevant") & (pl.col("query") != 0))
    assert labels(fp.plot(undefined, "relevant", "score", by="query", order="value"))[2].startswith("0 (AP undefined")
    for name in ("facets", "confusion"):
        assert [ax.get_label() for ax in PLOTS[name](order=[2, "0"]).axes if ax.axison] == ["2", "0", "1"]
    matrix = fp.plot_confusion(MATRIX.filter(query=0), order=[1, 0])
    assert [tick.get_text() for tick in matrix.get_yticklabels()] == ["1", "0"]
    assert matrix.texts[0].get_text().split()[0] == str(MATRIX.filter(query=0, truth=1, prediction=1)["rows"].item())
    rows = PLOTS["intervals"](order=[1, 0]).get_yticklabels()
    assert [tick.get_text()[0] for tick in rows] == ["1", "0", "2"]
    bars = PLOTS["comparison"](order=[1, 0]).get_yticklabels()
    assert [tick.get_text() for tick in bars] == ["1", "0", "2"]
    plt.close("all")


def test_panels_can_be_found_by_their_names() -> None:
    figure = PLOTS["scores"]()
    assert [ax.get_label() for ax in figure.axes] == [f"{group}, {score}" for group in range(3) for score in SCORES]
    per_group = RUN.filter(query=1)
    (panel,) = (ax for ax in figure.axes if ax.get_label() == "1, other")
    positives, rows = per_group["relevant"].sum(), per_group.height
    assert panel.get_title().endswith(f"P = {positives}, N = {rows - positives}")
    heights = panel.patches[-2].get_data().values
    own = per_group.filter(~pl.col("relevant"))["other"]
    edges = np.histogram_bin_edges(per_group["other"], 40)
    assert heights == pytest.approx(np.histogram(own, edges)[0] / len(own))
    plt.close("all")


def test_panels_of_a_confusion_matrix() -> None:
    figure = fp.plot_confusion(MATRIX)
    for ax in figure.axes:
        cells = MATRIX.filter(query=int(ax.get_label()))["rows"].to_list()
        assert [int(text.get_text().split()[0]) for text in ax.texts] == cells
    at_cutoff = fp.confusion(RUN, "relevant", "score", by="query", threshold=0.5)
    figure = fp.plot_confusion(at_cutoff)
    first = at_cutoff.row(0, named=True)
    assert [int(text.get_text().split()[0]) for text in figure.axes[0].texts] == [
        first[count] for count in ("tp", "fn", "fp", "tn")
    ]
    plt.close("all")


def test_a_single_score_has_the_colour_of_its_name() -> None:
    colours = {"score": "red", "other": "blue"}
    assert [line.get_color() for line in curves(fp.plot(RUN, "relevant", "score", colors=colours, ax=axes()))] == [
        "red"
    ]
    both = fp.plot(RUN, "relevant", SCORES, colors=colours, ax=axes())
    assert [line.get_color() for line in curves(both)] == ["red", "blue"]
    with pytest.raises(ValueError, match="colors has no name of this plot: it has 'score'"):
        fp.plot(RUN, "relevant", "score", colors={"another": "red"})


def test_words_of_ours_are_translated_too() -> None:
    german = {"max_f1": "bestes F1", "threshold": "Schwelle", "random ranking": "Zufall", "recall": "Trefferquote"}
    ax = fp.plot(RUN, "relevant", "score", mark="max_f1", recall=0.5, labels=german)
    text = " ".join(labels(ax))
    assert "bestes F1 = " in text
    assert "Trefferquote 0.5 (Schwelle " in text
    assert labels(fp.plot(RUN, "relevant", "score", x="fpr", y="recall", labels=german))[-1] == "Zufall (AUC = 0.5)"
    bars = PLOTS["comparison"](labels={"better": "besser", "mean difference": "Mittel"})
    assert [" besser: " in label or label.startswith("Mittel ") for label in labels(bars)] == [True, False, True]
    plt.close("all")


@pytest.mark.parametrize("name", ["plot", "intervals", "comparison"])
def test_a_figure_of_the_caller_without_panels(name: str) -> None:
    figure = plt.figure(figsize=(5, 4))
    ax = PLOTS[name](figure=figure)
    assert figure.axes == [ax]
    assert tuple(figure.get_size_inches()) == (5, 4)
    with pytest.raises(ValueError, match="ax= and figure= both say where to draw"):
        PLOTS[name](figure=figure, ax=ax)
    plt.close("all")


@pytest.mark.parametrize("word", ["figsize", "title", "square", "kind", "palette"])
@pytest.mark.parametrize("name", PLOTS)
def test_words_of_other_libraries_have_an_answer(name: str, word: str) -> None:
    with pytest.raises(TypeError, match=f"{word}'; (the size is|set it afterwards|plot\\(|colors=)"):
        PLOTS[name](**{word: "x"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["facets", "scores", "confusion"])
def test_panels_in_a_figure_of_the_caller(name: str) -> None:
    mine = plt.figure(figsize=(6, 5), layout="constrained")
    assert PLOTS[name](figure=mine) is mine
    lay_out(mine)
    assert tuple(mine.get_size_inches()) == (6, 5)
    with pytest.raises(ValueError, match=r"max_groups=2"):
        PLOTS[name](max_groups=2)
    plt.close("all")


@pytest.mark.slow
def test_colours_decimals_and_legend() -> None:
    intervals = PLOTS["intervals"](colors={"other": "red"}, decimals=4)
    assert "red" in [line.get_color() for line in intervals.get_lines()]
    assert len(intervals.texts[0].get_text().partition(".")[2]) == 4
    comparison = PLOTS["comparison"](colors={"better": "red"}, decimals=4)
    assert comparison.containers[0][0].get_facecolor()[:3] == (1, 0, 0)
    assert len(labels(comparison)[-1].split("(")[1].partition(" to")[0].partition(".")[2]) == 4
    scores = fp.plot_scores(RUN, "relevant", "score", threshold=0.5, decimals=2, ax=axes())
    assert "." in labels(scores)[0].partition("(")[2].rpartition("%")[0]
    for name in ("plot", "intervals", "comparison"):
        assert PLOTS[name](legend=False).get_legend() is None
    assert not PLOTS["scores"](legend=False).legends
    plt.close("all")
