"""What is written takes no room from what is drawn."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from pictures import axes, lay_out

import frame_pr as fp


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
    assert len(legend.get_texts()) == 9


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
