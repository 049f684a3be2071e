"""What is written takes no room from what is drawn."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.text import Text
from pictures import axes, lay_out

import frame_pr as fp
from frame_pr.plotting.room import Box


def run(groups: int, systems: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    truth, n = rng.random(2_000) < 0.2, 2_000
    scores = {f"s{i}": truth * (0.5 + 0.3 * i) + rng.normal(size=n) for i in range(systems)}
    return pl.DataFrame({"g": rng.integers(0, groups, n), "t": truth} | scores)


def inches(ax) -> tuple[float, float]:
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def test_marks_do_not_shrink_panels():
    figure = run(6, 3).pr.plot("t", ["s0", "s1", "s2"], by="g", facet=True, mark="max_f1")
    lay_out(figure)
    for ax in figure.axes:
        assert min(inches(ax)) > 1.3
        assert not ax.texts
        # A mark for each system.
        assert sum(line.get_marker() == "D" for line in ax.get_lines()) == 3


def test_marks_do_not_shrink_an_axes_of_the_caller():
    figure, grid = plt.subplots(2, 3, figsize=(6, 4), layout="constrained")
    for ax in grid.flat:
        run(1, 2).pr.plot("t", ["s0", "s1"], mark="max_f1", ax=ax)
    lay_out(figure)
    assert min(min(inches(ax)) for ax in grid.flat) > 1
    # The legend is no wider than the axes.
    for ax in grid.flat:
        assert ax.get_legend().get_window_extent().width <= ax.get_window_extent().width


def test_a_long_legend_stays_within_the_figure():
    ax = run(40, 1).pr.plot("t", "s0", by="g", max_groups=40)
    lay_out(ax.figure)
    legend = ax.get_legend()
    assert len(legend.get_texts()) == 41
    box, figure = legend.get_window_extent(), ax.figure.bbox
    assert (box.x0, box.y0) >= (figure.x0, figure.y0)
    assert box.x1 <= figure.x1
    assert box.y1 <= figure.y1
    assert min(inches(ax)) > 1.5


def test_a_shared_legend_stays_within_the_figure():
    figure = run(3, 8).pr.plot("t", [f"s{i}" for i in range(8)], by="g", facet=True)
    lay_out(figure)
    (legend,) = figure.legends
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    # The systems, the baseline, and what the figures above the panels are.
    assert len(legend.get_texts()) == 10
    assert legend.get_texts()[-1].get_text() == "figures: AP"


def test_a_threshold_that_is_typed_in_is_the_same_point():
    scores = run(1, 1).with_columns(s0=0.9999 + pl.col("s0") * 1e-5)
    ax = scores.pr.plot("t", "s0", threshold_labels=5, mark="max_f1", ax=axes())
    written = [text.get_text().rpartition("threshold ")[2] for text in ax.texts]
    assert len(written) == 6
    best = fp.evaluate(scores, ["threshold@max_f1", "max_f1"], "t", "s0").row(0)
    typed = fp.evaluate(scores, f"f1@threshold={written[0]}", "t", "s0").item()
    assert typed == best[1]
    # In three digits all of them were 1.
    assert len({float(text) for text in written[1:]}) == 5


def test_a_panel_whose_curves_leave_no_corner_has_its_legend_above():
    figure = plt.figure(figsize=(5, 4))
    run(6, 3).pr.plot("t", ["s0", "s1", "s2"], by="g", facet=True, figure=figure)
    lay_out(figure)
    for ax in figure.axes:
        legend, axes_box = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert legend.y0 >= axes_box.y1 - 1
        assert legend.width <= axes_box.width
        assert all(len(text.get_text()) == len("0.43") for text in ax.get_legend().get_texts())
    assert figure.legends[0].get_texts()[-1].get_text() == "figures: AP"


def test_a_legend_of_the_caller_stays():
    figure = plt.figure(figsize=(5, 4))
    own = figure.legend(handles=[plt.Line2D([], [])], labels=["mine"])
    run(6, 3).pr.plot("t", ["s0", "s1", "s2"], by="g", facet=True, figure=figure)
    assert own in figure.legends


def test_no_line_to_a_text_runs_through_another():
    scores = [f"s{i}" for i in range(6)]
    ax = run(1, 6).pr.plot("t", scores, mark="max_f1", recall=0.3, iso_f=True)
    lay_out(ax.figure)
    notes = [text for text in ax.texts if text.get_gid() == "note"]
    boxes = [Box(*Text.get_window_extent(note).extents) for note in notes]
    led = 0
    for note, own in zip(notes, boxes, strict=True):
        if note.arrow_patch is None:
            continue
        led += 1
        end, start = ax.transData.transform(note.xy), ((own.left + own.right) / 2, (own.low + own.high) / 2)
        for x, y in np.linspace(start, end, 200):
            others = (other.wider(-2) for other in boxes if other is not own)
            assert not any(Box(x, y, x, y).within(other) for other in others)
    assert led > 2


def test_the_legend_keeps_clear_of_the_names_of_contours():
    with plt.rc_context({"font.size": 18}):
        ax = run(1, 5).pr.plot("t", [f"s{i}" for i in range(5)], mark="max_f1", iso_f=True)
        lay_out(ax.figure)
    legend, size = ax.get_legend().get_window_extent(), inches(ax)
    names = [text for text in ax.texts if text.get_text().startswith(("F1", "0."))]
    assert len(names) == 4
    assert all(name.get_window_extent().x1 < legend.x0 for name in names)
    # Neither has taken room from the axes.
    assert min(size) > 3
