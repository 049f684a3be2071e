"""Pictures of several groups: systems, facets, averages."""

from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from pictures import axes, curves, labels, numbers, random_run, render

import frame_pr as fp


def test_systems_get_a_curve_each_and_further_calls_the_next_colour() -> None:
    run = random_run().with_columns(other=-pl.col("score"))
    ax = fp.plot(run, "relevant", ["score", "other"], ax=axes())
    assert [label.split(" (")[0] for label in labels(ax)] == ["score", "other", "prevalence"]
    fp.plot(run, "relevant", "score", label="again", ax=ax)
    assert [label.split(" (")[0] for label in labels(ax)] == ["score", "other", "again", "prevalence"]
    assert len({drawn.get_color() for drawn in curves(ax)}) == 3


def test_ten_curves_differ_in_colour_or_stroke() -> None:
    ax = fp.plot(random_run(groups=10, rows=2000), "relevant", "score", by="query", ax=axes())
    assert len({(drawn.get_color(), str(drawn._unscaled_dash_pattern)) for drawn in curves(ax)}) == 10


def test_group_without_positives_is_named_as_undefined() -> None:
    run = pl.DataFrame({"query": ["a", "a", "b", "b"], "relevant": [1, 0, 0, 0], "score": [0.9, 0.8, 0.7, 0.6]})
    options: Any = {"mark": "max_f1", "threshold": 0.1, "recall": 0.5, "threshold_labels": 3, "points": 11}
    for extra in ({}, {"rectangles": True, **options}, {"k": 1, "rectangles": True}):
        ax = fp.plot(run, "relevant", "score", by="query", ax=axes(), **extra)
        assert f"b ({'AP@1' if 'k' in extra else 'AP'} undefined, P = 0)" in labels(ax)
        assert len(curves(ax)[1].get_xdata()) == 0
        render(ax.figure)
        for drawn in ax.get_lines():
            assert not np.isnan(np.asarray(drawn.get_xydata(), dtype=float)).any()


def test_facets_share_axes_and_hold_every_group() -> None:
    run = random_run(groups=7, rows=2000).with_columns(other=-pl.col("score"))
    figure = fp.plot(run, "relevant", ["score", "other"], by="query", facet=True, mark="max_f1")
    panels = [ax for ax in figure.axes if ax.axison]
    assert [ax.get_title().split(" (")[0] for ax in panels] == ["query: 0", *map(str, range(1, 7))]
    assert all(len(curves(ax)) == 2 for ax in panels)
    assert {ax.get_xlim() for ax in panels} == {panels[0].get_xlim()}
    per_query = fp.evaluate(run, "average_precision", "relevant", "score", by="query")["average_precision"]
    best = fp.evaluate(run, "max_f1", "relevant", "score", by="query")["max_f1"]
    for ax, ap, f1 in zip(panels, per_query, best, strict=True):
        assert labels(ax)[0].startswith(f"AP {ap:.2f}, F1 {f1:.2f} at ")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["score", "other", "prevalence"]
    render(figure)


def test_the_numbers_of_a_panel_cover_no_curve() -> None:
    # A miss, then two hits: precision 0, 1/2, 2/3. The curve runs up along recall 0, through the lower left corner.
    run = pl.DataFrame({"query": 1, "relevant": [0, 1, 1], "score": [3, 2, 1]})
    figure = fp.plot(run, "relevant", "score", by="query", facet=True)
    render(figure)
    (ax,) = figure.axes
    (text,) = numbers(ax)
    legend = text.get_window_extent()
    along = np.linspace(0, 1, 101)
    steps = [(0, 1 / 2 * along), (1 / 2 * along, 1 / 2), (1 / 2, 1 / 2 + 1 / 6 * along), (1 / 2 + 1 / 2 * along, 2 / 3)]
    for recall, precision in steps:
        points = np.column_stack(np.broadcast_arrays(recall, precision))
        assert legend.count_contains(ax.transData.transform(points)) == 0


def test_facet_by_one_of_two_keys() -> None:
    run = random_run().with_columns(fold=pl.int_range(pl.len()) % 2)
    figure = fp.plot(run, "relevant", "score", by=["fold", "query"], facet="fold")
    assert [len(curves(ax)) for ax in figure.axes] == [3, 3]


def test_average_is_vertical_and_its_area_is_the_mean() -> None:
    run = pl.concat([random_run(groups=40), pl.DataFrame({"query": [99], "relevant": [False], "score": [0.5]})])
    run = run.with_columns(other=-pl.col("score"))
    for interpolated, kind in ((False, "average_precision"), (True, "interpolated_average_precision")):
        mean = fp.evaluate(run, kind, "relevant", "score", by="query", mean_over="query")
        ax = fp.plot(
            run, "relevant", ["score", "other"], by="query", average=True, interpolated=interpolated, ax=axes()
        )
        x, y = curves(ax)[0].get_xydata().T
        assert float((np.diff(x) * y[1:]).sum()) == pytest.approx(mean[f"mean_{kind}"].item(), abs=1e-12)
        word = "mean interpolated AP" if interpolated else "mean AP"
        undefined = mean[f"undefined_{kind}"].item()
        count = f"{mean['groups'].item() - undefined} groups, {undefined} undefined"
        assert labels(ax)[0] == f"score ({word} = {mean[f'mean_{kind}'].item():.2f})"
        assert ax.get_legend().get_title().get_text() == f"system ({count})"
        assert len(curves(ax)) == 2


def test_average_of_known_curves() -> None:
    # Query a is perfect, precision 1 at all recalls. Query b has its positives at ranks 2 and 4: precision 1/2.
    run = pl.DataFrame(
        {"query": list("aabbbb"), "relevant": [1, 1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]}
    )
    ax = fp.plot(run, "relevant", "score", by="query", average=True, ax=axes())
    np.testing.assert_allclose(curves(ax)[0].get_ydata(), 0.75, rtol=1e-12)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    # Quartiles of two values lie a quarter of the way from either.
    assert (band.min(), band.max()) == (pytest.approx(0.625), pytest.approx(0.875))


def test_averages_of_systems_and_groups() -> None:
    run = random_run(groups=6).with_columns(other=-pl.col("score"), fold=pl.col("query") % 2)
    ax = fp.plot(run, "relevant", ["score", "other"], by=["query", "fold"], average="query", ax=axes())
    assert labels(ax)[:3] == ["score", "other", "fold (mean AP, 3 groups)"]
    assert [label.split()[0] for label in labels(ax)[3:5]] == ["0", "1"]


def test_average_where_recall_never_reaches_1() -> None:
    # One of two positives is never retrieved: precision 1 up to recall 1/2, 0 from there on.
    run = pl.DataFrame({"query": [1, 1], "relevant": [1, 1], "score": [0.9, None]})
    ax = fp.plot(run, "relevant", "score", by="query", average=True, unscored="unretrieved", ax=axes())
    x, y = curves(ax)[0].get_xydata().T
    np.testing.assert_allclose(y[1:], np.where(x[1:] < 0.505, 1.0, 0.0), atol=1e-12)


def test_two_keys_stand_at_the_margins_once() -> None:
    run = random_run(rows=2000).with_columns(fold=pl.int_range(pl.len()) % 2)
    # One of the six panels is not there.
    run = run.filter((pl.col("fold") != 0) | (pl.col("query") != 2))
    figure = fp.plot(run, "relevant", "score", by=["fold", "query"], facet=True)
    render(figure)
    panels = [ax for ax in figure.axes if ax.axison]
    counts = run.group_by("fold", "query", maintain_order=True).agg(pl.col("relevant").sum()).sort("fold", "query")
    first, *names = ["query: 0", "1", "", "", "2"]
    assert [ax.get_title() for ax in panels] == [
        f"{name} (P = {n})" if name else f"P = {n}" for name, n in zip([first, *names], counts["relevant"], strict=True)
    ]
    beside = {
        text.get_text(): text.get_window_extent() for ax in panels for text in ax.texts if text not in numbers(ax)
    }
    assert list(beside) == ["fold: 0", "1"]
    assert all(box.x1 <= figure.bbox.x1 for box in beside.values())
    assert beside["1"].x0 > max(ax.get_window_extent().x1 for ax in panels)


def test_panels_are_shown_once_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    # IPython shows the value of a cell, then every figure that is open in pyplot.
    figure = fp.plot(random_run(), "relevant", "score", by="query", facet=True)
    for backend, is_open in (("agg", True), ("module://matplotlib_inline.backend_inline", False)):
        monkeypatch.setattr(matplotlib, "get_backend", lambda backend=backend: backend)
        with pytest.raises(NotImplementedError):
            figure._ipython_display_()
        assert plt.fignum_exists(figure.number) == is_open
