"""Curves of other figures than precision against recall."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from pictures import TEXTBOOK, axes, curves, labels, lay_out, line, random_run, render

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
    expected = fp.curve(TEXTBOOK, "relevant", "score", rates="f0.5").select("recall", "f0.5").to_numpy()
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
    assert [labels(ax)[0][:3] for ax in figure.axes if ax.axison] == ["AUC"] * 3
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("False positive rate", "Recall")
    drawn = fp.plot(fp.curve(run, "relevant", "score", by="query"), **ROC, ax=axes())
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
    table = fp.curve(TEXTBOOK, "relevant", "score", rates="f1")
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
    assert [label.replace("\n", " ") for label in labels(ax)] == [
        "Precision",
        f"{at}, Precision = {wanted[0]:.2f}, Recall = {wanted[1]:.2f}",
        *("Recall", "F1"),
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
    count = run["relevant"].sum()
    assert labels(ax) == ["score", "other", f"P = {count}", "Precision", "Recall"]


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


# Eight probabilities, half of them of positives.
DECISIONS = pl.DataFrame({"t": [1, 1, 0, 1, 0, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]})


@pytest.mark.parametrize("name", ["net_benefit", "standardized_net_benefit"])
def test_net_benefit_at_every_threshold(name):
    ax = fp.plot(DECISIONS, "t", "p", x="threshold", y=name, threshold=0.5, ax=axes())
    x, y = vertices(ax).T
    # Also between two scores, where the counts stay and the odds change. 3 true and 2 false ones of 8 at 0.5.
    for t in (0.05, 0.25, 0.45, 0.5, 0.55, 0.85):
        wanted = fp.evaluate(DECISIONS, f"{name}@threshold={t}", "t", "p").item()
        assert np.interp(t, x, y) == pytest.approx(wanted, abs=1e-3)
    share = 1 if name == "net_benefit" else 0.5
    at = f"{ax.get_ylabel()} = {0.125 / share:.2f}, threshold 0.5"
    assert labels(ax) == ["p (P = 4)", at, "treat all", "treat none"]
    everything, nothing = (one for one in ax.get_lines() if one.get_label() == "_prevalence")
    # Half are positives: at odds of 1:3, to treat all gives 1/2 - 1/2 * 1/3.
    assert np.interp(0.25, *everything.get_data()) == pytest.approx(1 / 3 / share, abs=1e-3)
    assert set(nothing.get_ydata()) == {0}


def test_net_benefit_needs_probabilities():
    run = TEXTBOOK.with_columns(score=pl.col("score") * 10)
    with pytest.raises(ValueError, match="needs scores that are probabilities of the positive label; these go from 1"):
        fp.plot(run, "relevant", "score", x="threshold", y="net_benefit")
    with pytest.raises(ValueError, match="y='net_benefit' depends on the threshold: give x='threshold', too"):
        fp.plot(run, "relevant", "score", y="net_benefit")


def test_cost_against_the_threshold():
    ax = fp.plot(DECISIONS, "t", "p", x="threshold", y="cost3", mark="min_cost3", ax=axes())
    wanted = fp.curve(DECISIONS, "t", "p", rates="cost3")
    assert vertices(ax) == pytest.approx(wanted.select("threshold", "cost3").to_numpy())
    least, best = fp.evaluate(DECISIONS, ["min_cost3", "threshold@min_cost3"], "t", "p").row(0)
    assert labels(ax) == ["p (P = 4)", f"min cost3 = {least:.2f} at {best:g}", "treat all", "treat none"]
    # Four false alarms of 8 rows, or four missed at 3 each.
    assert [one.get_ydata()[0] for one in ax.get_lines() if one.get_label() == "_prevalence"] == [0.5, 1.5]
    assert ax.get_ylim() == (0, pytest.approx(1.05 * wanted["cost3"].max()))


def test_detection_error_trade_off_and_scales():
    run = random_run(rows=2000)
    ax = fp.plot(run, "relevant", "score", x="fpr", y="fnr", xscale="logit", yscale="logit")
    assert (ax.get_xscale(), ax.get_yscale()) == ("logit", "logit")
    x, y = line(ax, "_prevalence").get_data()
    assert x + y == pytest.approx(np.ones(len(x)))
    low, high = ax.get_xlim()
    assert 0 < low < fp.curve(run, "relevant", "score", rates="fpr")["fpr"].unique()[1] < high < 1
    roc = fp.plot(run, "relevant", "score", **ROC, xscale="log", ax=axes())
    assert (roc.get_xscale(), roc.get_yscale()) == ("log", "linear")
    assert np.ptp(np.subtract(*line(roc, "_prevalence").get_data())) == 0
    render(roc.figure)


def test_rare_positives_have_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    truth = np.arange(5000) < 20
    run = pl.DataFrame({"t": truth, "s": rng.normal(size=5000), "good": truth + rng.random(5000) / 10})
    assert fp.plot(run, "t", "s").get_yscale() == "log"
    assert fp.plot(run, "t", "s", yscale="linear").get_yscale() == "linear"
    assert fp.plot(run, "t", "good").get_yscale() == "linear"
    assert fp.plot(run, "t", ["s", "good"]).get_yscale() == "linear"
    panels = fp.plot(run.with_columns(g=pl.lit(1)), "t", "s", by="g", facet=True)
    assert panels.axes[0].get_yscale() == "log"
    low, high = fp.plot(run, "t", "s").get_ylim()
    assert 0 < low < 0.004
    assert high > 1


def test_ticks_of_a_det_curve_stand_apart_and_the_axes_end_with_the_curves() -> None:
    run = random_run(rows=4000, groups=1).with_columns(score=pl.col("score") + pl.int_range(pl.len()) / 1e6)
    options: Any = {"x": "fpr", "y": "fnr", "xscale": "logit", "yscale": "logit"}
    ax = fp.plot(run, "relevant", "score", ax=axes(), **options)
    lay_out(ax.figure)
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = [tick.label1.get_window_extent() for tick in ticks]
        assert len(boxes) >= 3
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    # Rates of 0 have no place: the curve ends at the largest rate whose other rate is above 0.
    rates = fp.curve(run, "relevant", "score", rates=["fpr", "fnr"]).filter(pl.all_horizontal(pl.col("fpr", "fnr") > 0))
    assert ax.get_xlim()[0] <= rates["fpr"].min() < 10 * ax.get_xlim()[0]
    assert rates["fpr"].max() <= ax.get_xlim()[1]
    assert rates["fnr"].max() <= ax.get_ylim()[1]


def test_the_line_at_a_threshold_is_grey_if_it_belongs_to_several_curves() -> None:
    run = random_run(rows=900).with_columns(other=pl.col("score") + 0.1)
    ax = fp.plot(run, "relevant", ["score", "other"], x="threshold", y="f1", threshold=0.5, ax=axes())
    (guide,) = [drawn for drawn in ax.get_lines() if drawn.get_label() == "_guide"]
    assert guide.get_color() == "0.6"
    ax = fp.plot(run, "relevant", ["score", "other"], x="threshold", y="f1", mark="max_f1", ax=axes())
    guides = [drawn.get_color() for drawn in ax.get_lines() if drawn.get_label() == "_guide"]
    assert guides == [drawn.get_color() for drawn in curves(ax)]
