"""Curves of other figures than precision against recall."""

import numpy as np
import polars as pl
import pytest
from pictures import TEXTBOOK, axes, curves, labels, line, random_run, render

import frame_pr as fp

ROC = {"x": "fpr", "y": "recall"}


def vertices(ax, number=0):
    return np.asarray(curves(ax)[number].get_xydata(), dtype=float)


def test_the_roc_curve():
    # Rows 1, 2, 4, 6 and 10 are positives: the false positive rate rises by 1/5 at each other row.
    ax = fp.plot(TEXTBOOK, "relevant", "score", **ROC, ax=axes())
    steps = [
        (0, 0.2),
        (0, 0.4),
        (0.2, 0.4),
        (0.2, 0.6),
        (0.4, 0.6),
        (0.4, 0.8),
        (0.6, 0.8),
        (0.8, 0.8),
        (1, 0.8),
        (1, 1),
    ]
    assert vertices(ax) == pytest.approx(np.array([(0, 0), *steps, (1, 1)]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("False positive rate", "Recall")
    # 17 of the 25 pairs of a positive and a negative are in order.
    assert labels(ax) == ["score (AUC = 0.68, P = 5)", "random ranking (AUC = 0.5)"]
    assert line(ax, "_prevalence").get_xydata().tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_area_under_it_is_the_one_in_the_legend(weighted):
    run = random_run().with_columns(w=pl.col("score").abs() + 0.1)
    given = {"weight": "w"} if weighted else {}
    ax = fp.plot(run, "relevant", "score", by="query", **ROC, decimals=9, ax=axes(), **given)
    exact = fp.roc_auc(run, "relevant", "score", by="query", **given)["roc_auc"].to_list()
    assert len(exact) == 3
    for number, area in enumerate(exact):
        x, y = vertices(ax, number).T
        assert ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum() == pytest.approx(area, abs=1e-12)
        assert f"AUC = {area:.9f}" in labels(ax)[number]


def test_rows_that_are_not_retrieved_come_last_as_one():
    run = pl.DataFrame({"relevant": [1, 0, 1, 0], "score": [0.9, 0.8, None, None]})
    ax = fp.plot(run, "relevant", "score", unscored="unretrieved", **ROC, ax=axes())
    assert vertices(ax).tolist() == [[0, 0], [0, 0.5], [0.5, 0.5], [1, 1]]
    assert labels(ax) == ["score (AUC = 0.62, P = 2)", "random ranking (AUC = 0.5)"]  # (1 + 1 + 0 + 1/2) / 4


@pytest.mark.parametrize("truth", [[1, 1], [0, 0]])
def test_one_class_only_has_no_area(truth):
    ax = fp.plot(pl.DataFrame({"relevant": truth, "score": [2, 1]}), "relevant", "score", **ROC, ax=axes())
    assert labels(ax) == [f"score (AUC undefined, P = {sum(truth)})", "random ranking (AUC = 0.5)"]
    assert len(vertices(ax)) == 0


def test_other_figures_go_from_threshold_to_threshold():
    ax = fp.plot(TEXTBOOK, "relevant", "score", x="recall", y="f0.5", ax=axes())
    expected = fp.curve(TEXTBOOK, "relevant", "score", figures="f0.5").select("recall", "f0.5").to_numpy()
    assert vertices(ax) == pytest.approx(expected)
    assert labels(ax) == ["score (P = 5)"]  # of which no area means anything


def test_marks_stand_where_the_figures_are():
    ax = fp.plot(TEXTBOOK, "relevant", "score", **ROC, threshold=0.75, recall=0.8, mark="max_f1", ax=axes())
    marks = [mark.get_xydata()[0].tolist() for mark in ax.get_lines() if mark.get_gid() == "mark"]
    # Three rows score .75 or more, of which two are hits; six reach a recall of .8, and have the best F1, 8/11.
    assert marks == [pytest.approx([0.2, 0.4]), pytest.approx([0.4, 0.8]), pytest.approx([0.4, 0.8])]
    render(ax.figure)


def test_panels_and_curves_that_are_given():
    run = random_run(groups=3)
    figure = fp.plot(run, "relevant", "score", by="query", facet=True, **ROC)
    assert [ax.get_legend().get_texts()[0].get_text()[:3] for ax in figure.axes if ax.axison] == ["AUC"] * 3
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("False positive rate", "Recall")
    drawn = fp.plot_curve(fp.curve(run, "relevant", "score", by="query"), **ROC, ax=axes())
    assert labels(drawn) == labels(fp.plot(run, "relevant", "score", by="query", **ROC, ax=axes()))


@pytest.mark.parametrize(
    "given",
    [{"rectangles": True}, {"interpolated": True}, {"points": 11}, {"k": 3}, {"iso_f": True}, {"average": "query"}],
)
def test_what_belongs_to_precision_against_recall(given):
    (name,) = given
    with pytest.raises(
        ValueError, match=f"{name}= belongs to precision against recall: leave out x= and y=, or {name}="
    ):
        fp.plot(random_run(), "relevant", "score", by="query", **ROC, **given)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("fprr", "x: no axis shows 'fprr'; did you mean 'fpr'?"),
        ("mcc", "x: no axis shows 'mcc'; it is a rate from -1 to 1"),
        ("lift", "x: no axis shows 'lift'; it is a rate from 0 up"),
        ("tpr", "x: no axis shows 'tpr'; it is 'recall' here"),
        ("sensitivity", "x: no axis shows 'sensitivity'; it is 'recall' here"),
        ("score", "x: no axis shows 'score'; it is 'threshold' here"),
        ("tp", "x: no axis shows 'tp'; it is a count"),
        ("f0", "beta must be a positive number, got 0"),
    ],
)
def test_figures_that_no_axis_has(x, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        fp.plot(TEXTBOOK, "relevant", "score", x=x, y="recall")


def test_figures_against_the_threshold():
    ax = fp.plot(TEXTBOOK, "relevant", "score", x="threshold", y=["precision", "recall", "f1"], mark="max_f1")
    table = fp.curve(TEXTBOOK, "relevant", "score", figures="f1")
    for drawn, figure in zip(curves(ax), ("precision", "recall", "f1"), strict=True):
        assert drawn.get_xydata() == pytest.approx(table.select("threshold", figure).to_numpy())
        # A threshold takes the rows from it on: up to the next lower one, the figures are its own.
        assert drawn.get_drawstyle() == "steps-post"
    best = fp.evaluate(TEXTBOOK, ["threshold@max_f1", "max_f1"], "relevant", "score").row(0)
    marks = [mark.get_xydata()[0].tolist() for mark in ax.get_lines() if mark.get_gid() == "mark"]
    at = f"@threshold={best[0]}"
    wanted = fp.evaluate(TEXTBOOK, [f"{name}{at}" for name in ("precision", "recall", "f1")], "relevant", "score").row(
        0
    )
    assert marks == [pytest.approx([best[0], value]) for value in wanted]
    at = f"max F1 = {best[1]:.2f} at {best[0]:g}"
    assert not ax.texts
    assert labels(ax) == [
        *("Precision", f"Precision = {wanted[0]:.2f}, {at}"),
        *("Recall", f"Recall = {wanted[1]:.2f}, {at}"),
        *("F1", at),
    ]
    assert ax.get_legend().get_title().get_text() == "P = 5"


def test_figures_by_rank():
    ax = fp.plot(TEXTBOOK, "relevant", "score", x="k", y="precision")
    wanted = [fp.precision_at_k(TEXTBOOK, "relevant", "score", k=k).item() for k in range(1, 11)]
    assert vertices(ax).tolist() == [[k, pytest.approx(value)] for k, value in enumerate(wanted, 1)]
    assert ax.get_xscale() == "linear"
    assert ax.get_xlabel() == "Rank k"
    many = random_run(rows=2000).with_columns(score=pl.int_range(pl.len()))
    assert fp.plot(many, "relevant", "score", x="k", y="recall").get_xscale() == "log"


def test_gain_and_lift():
    table = fp.curve(TEXTBOOK, "relevant", "score")
    gain = fp.plot(TEXTBOOK, "relevant", "score", x="share", y="recall")
    wanted = table.select(pl.col("k") / 10, "recall").to_numpy()
    assert vertices(gain) == pytest.approx(np.array([[0, 0], *wanted]))
    # At random, and perfect: the half that is positive comes first.
    chance = [one.get_xydata().tolist() for one in gain.get_lines() if one.get_label() == "_prevalence"]
    assert chance == [[[0, 0], [1, 1]], [[0, 0], [0.5, 1], [1, 1]]]
    lift = fp.plot(TEXTBOOK, "relevant", "score", x="share", y="lift")
    assert vertices(lift) == pytest.approx(table.select(pl.col("k") / 10, pl.col("precision") / 0.5).to_numpy())
    assert lift.get_ylim()[0] == 0
    assert lift.get_ylim()[1] > 2


def test_several_figures_in_panels_and_of_several_systems():
    run = random_run(groups=2).with_columns(other=-pl.col("score"))
    given = {"x": "threshold", "y": ["precision", "recall"]}
    figure = fp.plot(run, "relevant", "score", by="query", facet=True, **given)
    assert [len([one for one in ax.get_lines() if one.get_gid() is None]) for ax in figure.axes] == [2, 2]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Precision", "Recall"]
    ax = fp.plot(run, "relevant", ["score", "other"], **given)
    assert [text.partition(" (")[0] for text in labels(ax)] == ["score", "other", "Precision", "Recall"]


@pytest.mark.parametrize("figure", ["precision", "recall", "f1"])
def test_means_at_ranks_are_those_of_evaluate(figure):
    # Ties, a group without positives, and groups of other lengths.
    run = random_run(rows=150, groups=4).with_columns(pl.col("relevant") & (pl.col("query") != 2))
    ax = fp.plot(run, "relevant", "score", by="query", average=True, x="k", y=figure)
    means = dict(vertices(ax))
    ranks = [1, 2, 7, 30, int(max(means))]
    names = [f"{figure}@{rank}" for rank in ranks]
    wanted = fp.evaluate(run, names, "relevant", "score", by="query", mean_over="query")
    assert [means[rank] for rank in ranks] == pytest.approx([wanted[f"mean_{name}"].item() for name in names])
    assert labels(ax)[0] == "score (4 groups)"


def test_means_of_several_figures_and_systems_at_ranks():
    run = random_run(rows=900).with_columns(other=-pl.col("score"))
    given = {"by": "query", "average": True, "x": "k"}
    ax = fp.plot(run, "relevant", ["score", "other"], y=["precision", "recall"], **given)
    drawn = [one for one in ax.get_lines() if one.get_label() == "_curve"]
    assert len(drawn) == 4
    per_rank = fp.evaluate(run, "recall@5", "relevant", "other", by="query", mean_over="query")["mean_recall@5"].item()
    assert per_rank in [pytest.approx(one.get_ydata()[4]) for one in drawn]
    with pytest.raises(ValueError, match="x='k' averages at ranks, and the rows of this curve are weighted"):
        fp.plot(run.with_columns(w=0.5), "relevant", "score", weight="w", **given)


def test_the_axis_says_which_label_is_positive():
    run = TEXTBOOK.with_columns(
        relevant=pl.when(pl.col("relevant") == 1).then(pl.lit("price $5")).otherwise(pl.lit("no"))
    )
    for given, title in (
        ({}, r"Recall (positive: price \$5)"),
        ({"x": "fpr", "y": "recall"}, r"False positive rate (positive: price \$5)"),
        ({"x": "k"}, "Rank k"),
    ):
        ax = fp.plot(run, "relevant", "score", positive="price $5", **given, ax=axes())
        assert ax.get_xlabel() == title
    figure = fp.plot(run.with_columns(g=1), "relevant", "score", by="g", positive="price $5", facet=True)
    assert figure.get_supxlabel() == r"Recall (positive: price \$5)"


def test_tenths_of_the_rows_on_a_gain():
    # Ten rows, positives at ranks 1, 2, 4, 6 and 10: among the first 3 of 10, two of five.
    ax = fp.plot(TEXTBOOK, "relevant", "score", x="share", y="recall", ax=axes())
    found = line(ax, "_tenths")
    np.testing.assert_allclose(found.get_xdata(), [i / 10 for i in range(1, 11)])
    np.testing.assert_allclose(found.get_ydata(), [0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8, 0.8, 0.8, 1.0])
    assert "tenths of the rows" in labels(ax)
