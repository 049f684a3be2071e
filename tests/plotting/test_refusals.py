"""Calls of plots that are refused, and warnings of data that look like a mistake."""

import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import axes, labels, render

import frame_pr as fp

RUN = pl.DataFrame(
    {
        "q": list("aaaabbbbcccc"),
        "rel": [1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0],
        "label": list("xyyxyxxyxyyy"),
        "s": [0.9, 0.8, 0.7, 0.6, 0.95, 0.85, 0.75, 0.65, 0.5, 0.4, 0.3, 0.2],
        "other": [0.1, 0.9, 0.3, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.25, 0.15, 0.05],
    }
)
CURVE = fp.curve(RUN, "rel", "s", by="q")
AP = "average_precision"
INTERVALS = fp.intervals(RUN, AP, "rel", "s", by="q")
CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "panels of scores in one axes": (
        lambda: fp.plot_scores(RUN, "rel", ["s", "other"], ax=axes()),
        ValueError,
        "ax: 2 groups need a panel each; leave out ax=, or give figure=",
    ),
    "kind": (
        lambda: fp.plot(RUN, "rel", "s", kind="roc"),
        TypeError,
        "plot has no argument 'kind'; plot(..., x='fpr', y='recall') draws a ROC curve",
    ),
    "square": (
        lambda: fp.plot(RUN, "rel", "s", square=True),
        TypeError,
        "plot has no argument 'square'; set it afterwards: ax.set_box_aspect(1)",
    ),
    "order of nothing": (
        lambda: fp.plot(RUN, "rel", ["s", "other"], order=["zz"]),
        ValueError,
        "order has no name of this plot: it has 'other', 's'",
    ),
    "order": (
        lambda: fp.plot(RUN, "rel", ["s", "other"], order="s"),
        ValueError,
        "order takes 'frame', 'value' or a list of names, got 's'",
    ),
    "labels": (
        lambda: fp.plot(RUN, "rel", "s", labels=["x"]),
        TypeError,
        "labels takes a dict of name and label, such as {'s1': 'Baseline'}; got ['x']",
    ),
    "colours of an interval": (
        lambda: fp.plot_intervals(INTERVALS, colors={"zz": "red"}),
        ValueError,
        "colors has no name of this plot: it has 'one colour for all'"[:40],
    ),
    "axes and figure": (
        lambda: fp.plot_scores(RUN, "rel", "s", ax=axes(), figure=axes().figure),
        ValueError,
        "ax= and figure= both say where to draw: give one",
    ),
    "figures of scores": (
        lambda: fp.plot_scores(RUN, "rel", "s", figures="f1"),  # type: ignore[call-arg]
        TypeError,
        "unexpected keyword argument 'figures'",
    ),
    "comparison without groups": (
        lambda: fp.plot_comparison(RUN, AP, "rel", ["s", "other"]),
        ValueError,
        "by: plot_comparison draws a difference for each group; name the grouping columns",
    ),
    "comparison of three systems": (
        lambda: fp.plot_comparison(RUN.with_columns(third="s"), AP, "rel", ["s", "other", "third"], by="q"),
        ValueError,
        "score: plot_comparison draws two systems, got 3; name two, such as score=['s', 'other']",
    ),
    "spread without average": (
        lambda: fp.plot(RUN, "rel", "s", spread="groups"),
        ValueError,
        "spread= is drawn around an average: give average=, too, or leave out spread=",
    ),
    "colors of no curve": (
        lambda: fp.plot(RUN, "rel", ["s", "other"], colors={"zz": "red"}),
        ValueError,
        "colors has no name of this plot: it has 'other', 's'",
    ),
    "argument of plot_curve": (
        lambda: fp.plot_curve(CURVE, by="q"),  # type: ignore[call-arg]
        TypeError,
        "plot_curve has no argument 'by'; ",
    ),
    "no axis": (
        lambda: fp.plot(RUN, "rel", "s", x="zzzz"),
        ValueError,
        "x: no axis shows 'zzzz'; there are precision, recall, ",
    ),
    "a matrix after a pivot": (
        lambda: fp.plot_confusion(
            fp.confusion_matrix(RUN.with_columns(other_label="label"), "label", "other_label").pivot(
                "prediction", index="truth", values="rows"
            )
        ),
        ValueError,
        "plot_confusion draws a frame that confusion_matrix or confusion gave, and this one has no column 'prediction'",
    ),
    "metrics without a name": (
        lambda: fp.plot_intervals(fp.evaluate(RUN, [AP, "roc_auc"], "rel", "s", by="q")),
        ValueError,
        "this plot draws a frame that intervals gave, and this one has no column 'metric'; if evaluate gave it, ",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_calls(name: str) -> None:
    call, error, sentence = CALLS[name]
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(sentence)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "options",
    [
        {"by": "g"},
        {"by": "g", "label": "x", "max_groups": 50},
        {"label": "x"},
        {"by": "g", "facet": True, "max_groups": 2},
        {"threshold": 50},
    ],
    ids=str,
)
def test_rows_are_not_ranked_before_a_refusal(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.concat([RUN.with_columns(g=pl.lit(i)) for i in range(11)])
    score: Any = ["s", "other"] if "label" in options and "by" not in options else "s"

    def ranked(*_: Any, **__: Any) -> None:
        raise AssertionError("the rows are ranked")

    monkeypatch.setattr("frame_pr.plotting.curve_data.curve_table", ranked)
    for frame in (rows, rows.to_pandas()):
        with pytest.raises(ValueError, match=r"told apart|one curve|panels|above every score"):
            fp.plot(frame, "rel", score, **options)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"told apart|one curve|panels|above every score"):
        fp.plot(rows.lazy(), "rel", score, **options)


@pytest.mark.parametrize(
    "score",
    [
        pl.lit(2**62),
        pl.int_range(pl.len()) + 2**60,
        pl.col("s") + 1e17,
        pl.col("s") * 3e308 - 1.5e308,
        pl.col("s") * 1e-320,
        pl.col("s").cast(pl.Decimal(10, 2)),
    ],
    ids=["equal", "2**60", "1e17", "1e308", "1e-320", "Decimal"],
)
def test_scores_of_any_size(score: pl.Expr) -> None:
    rows = RUN.with_columns(s=score)
    ax = fp.plot_scores(rows, "rel", "s", ax=axes())
    render(ax.figure)
    for outline in ax.patches:
        assert outline.get_data().values.sum() == pytest.approx(1)
    drawn = fp.plot(rows, "rel", "s", mark="max_f1", recall=0.5, threshold_labels=3, ax=axes())
    render(drawn.figure)
    render(fp.plot(rows, "rel", "s", x="threshold", mark="max_f1", ax=axes()).figure)


def test_decimal_scores_have_the_marks_of_floats() -> None:
    decimals = RUN.with_columns(pl.col("s").cast(pl.Decimal(10, 2)))
    options: dict[str, Any] = {"mark": "max_f1", "recall": 0.5, "threshold": 0.5, "threshold_labels": 3}
    first, second = (fp.plot(rows, "rel", "s", ax=axes(), **options) for rows in (RUN, decimals))
    assert labels(first) == labels(second)
    assert [text.get_text() for text in first.texts] == [text.get_text() for text in second.texts]
    assert isinstance(fp.curve(decimals, "rel", "s")["threshold"][0], Decimal)


@pytest.mark.parametrize("key", [pl.concat_list("q", "q"), pl.struct("q", x="q")], ids=["lists", "structs"])
def test_keys_that_have_no_hash(key: pl.Expr) -> None:
    curve = fp.curve(RUN.with_columns(q=key), "rel", "s", by="q")
    assert len(fp.plot_curve(curve, facet=True).axes) == 3
    assert len(labels(fp.plot_curve(curve, ax=axes()))) == 4
    assert labels(fp.plot_curve(curve, average=True, ax=axes()))[0].endswith("3 groups")


def test_an_error_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("drawing failed")

    calls: list[tuple[str, Callable[..., Any]]] = [
        ("draw.draw_legend", lambda **where: fp.plot(RUN, "rel", ["s", "other"], mark="max_f1", **where)),
        ("score_plots._edges", lambda **where: fp.plot_scores(RUN, "rel", "s", **where)),
        ("statistics_plots._draw_overall", lambda **where: fp.plot_intervals(INTERVALS, **where)),
        (
            "comparison_plots.text_colour",
            lambda **where: fp.plot_comparison(RUN, AP, "rel", ["s", "other"], by="q", **where),
        ),
    ]
    for place, call in calls:
        ax = axes()
        mine = ax.plot([0, 1], [0, 1], label="mine")
        legend = ax.legend()
        before = set(ax.get_children())
        with monkeypatch.context() as patch:
            patch.setattr(f"frame_pr.plotting.{place}", broken)
            with pytest.raises(RuntimeError, match="drawing failed"):
                call(ax=ax)
            with pytest.raises(RuntimeError, match="drawing failed"):
                call()
        assert set(ax.get_children()) == before
        assert ax.get_lines()[0] is mine[0]
        assert ax.get_legend() is legend
        assert plt.get_fignums() == []
    figure = plt.figure()
    with monkeypatch.context() as patch:
        patch.setattr("frame_pr.plotting.facets._shared_handles", broken)
        for target in (figure, None):
            with pytest.raises(RuntimeError, match="drawing failed"):
                fp.plot(RUN, "rel", "s", by="q", facet=True, figure=target)
    assert figure.axes == []
    assert plt.get_fignums() == [figure.number]


def test_values_on_another_scale_give_a_warning() -> None:
    with pytest.warns(fp.DataWarning, match=r"threshold: 50 lies outside the scores, which go from 0.2 to 0.95"):
        fp.plot_scores(RUN, "rel", "s", threshold=50, ax=axes())
    with pytest.warns(fp.DataWarning, match=r"overall: 75 lies outside the values"):
        fp.plot_intervals(INTERVALS, overall=75, ax=axes())
    percent = INTERVALS.with_columns(pl.col("value", "low", "high") * 100)
    with pytest.warns(fp.DataWarning, match=r"overall: 0.7 lies outside the values"):
        fp.plot_intervals(percent, overall=0.7, ax=axes())


def test_a_plot_gives_each_warning_once() -> None:
    with pytest.warns(fp.DataWarning, match="score: column 'predicted' holds only") as told:
        fp.plot(RUN.with_columns(predicted=(pl.col("s") > 0.6).cast(pl.Int64)), "rel", "predicted", ax=axes())
    assert len(told) == 1


@pytest.mark.slow
def test_values_on_the_same_scale_are_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for threshold in (0.2, 0.5, 0.95):
            fp.plot_scores(RUN, "rel", "s", threshold=threshold, ax=axes())
        # The value of all rows may be smaller than that of any group.
        for overall in (0.0, 0.1, 1.0):
            fp.plot_intervals(INTERVALS, overall=overall, ax=axes())
        fp.plot(RUN, "rel", ["s", "other"], colors={"zz": "red", "s": "blue"}, ax=axes())
        fp.plot(RUN, "rel", "s", by="q", average=True, spread="groups", ax=axes())
        fp.plot(RUN, "rel", "s", spread=None, ax=axes())
        fp.plot_scores(RUN, "rel", ["s"], ax=axes())  # type: ignore[arg-type]


def test_highlighted_curves_have_baselines_as_a_band() -> None:
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"g": np.arange(3000) % 30, "t": rng.random(3000) < 0.2 + np.arange(3000) % 30 / 60})
    ax = fp.plot(rows.with_columns(s=pl.Series(rng.random(3000))), "t", "s", by="g", highlight=2, ax=axes())
    assert not [line for line in ax.get_lines() if line.get_label() == "_prevalence"]
    (band,) = ax.patches
    box = band.get_extents().transformed(ax.transData.inverted())
    shares = rows.group_by("g").agg(pl.col("t").mean())["t"]
    assert (box.y0, box.y1) == pytest.approx((shares.min(), shares.max()))
