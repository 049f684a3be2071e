import numpy as np
import polars as pl
import pytest
from pictures import axes, curves, random_run, rectangle_area, render

import frame_pr as fp
from frame_pr.plotting import thinning


def distance(points: np.ndarray, vertices: np.ndarray) -> float:
    """The furthest that one of these points is, along recall, from the step line through the vertices."""
    x, y = vertices.T
    furthest = 0.0
    for px, py in points:
        # Of the vertical part at x[i - 1], from y[i - 1] to y[i], and of the horizontal one from there to x[i].
        crosses = (np.minimum(y[:-1], y[1:]) <= py) & (py <= np.maximum(y[:-1], y[1:]))
        vertical = np.abs(x[:-1] - px)[crosses]
        level = y[1:] == py
        horizontal = np.maximum(0, np.maximum(x[:-1] - px, px - x[1:]))[level]
        furthest = max(furthest, min([*vertical, *horizontal], default=np.inf))
    return furthest


@pytest.mark.parametrize("seed", range(3))
def test_thinning_moves_nothing_by_more_than_a_strip(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(3000) < 0.3
    run = pl.DataFrame({"relevant": truth, "score": rng.random(3000) + 0.3 * truth})
    blocks = fp.curve(run, "relevant", "score")
    kept = thinning.thinned(blocks, strips=50, at_most=10)
    assert kept.height <= 4 * 51
    full, thin = (table.select("recall", "precision").to_numpy() for table in (blocks, kept))
    assert distance(full, thin) <= 1 / 50
    assert distance(thin, full) <= 1e-15  # every vertex that is left is one of the curve
    for strip in blocks.with_columns(strip=(pl.col("recall") * 50).floor()).partition_by("strip"):
        precision = strip["precision"]
        for place in (0, -1, precision.arg_min(), precision.arg_max()):
            assert strip["threshold"][place] in kept["threshold"]


def test_strips_are_half_a_pixel_of_wide_axes() -> None:
    assert 2048 / thinning.STRIPS <= 0.5


def test_merged_rectangles_keep_the_area() -> None:
    run = random_run(rows=3000)
    # One wide step among thousands of narrow ones.
    wide = pl.DataFrame({"query": [0] * 900, "relevant": [True] * 900, "score": [0.05] * 900})
    blocks = fp.curve(
        pl.concat([run.with_columns(pl.col("score") + pl.int_range(pl.len()) * 1e-9), wide]), "relevant", "score"
    )
    merged = thinning.rectangles(blocks, "precision", strips=40, at_most=10)
    area = (merged["height"] * (merged["right"] - merged["left"])).sum()
    assert area == pytest.approx((blocks["precision"] * blocks["recall_step"]).sum(), abs=1e-12)
    assert merged.height < 90
    assert (merged["left"][1:] == merged["right"][:-1]).all()
    width = merged["right"] - merged["left"]
    assert width.max() == pytest.approx(blocks["recall_step"].max(), abs=1e-15)  # the wide one stays as it is
    assert width.sort(descending=True)[1] <= 2 / 80


def test_hundred_thousand_steps_are_one_collection_and_more_are_thinned() -> None:
    n = 250_000
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 5 < 2
    run = pl.DataFrame({"relevant": truth, "score": rng.permutation(n) + n // 4 * truth})
    small = run.head(100_000)
    ax = fp.plot(small, "relevant", "score", rectangles=True, ax=axes())
    assert len(curves(ax)[0].get_xdata()) == fp.curve(small, "relevant", "score").height + 1
    ax = fp.plot(run, "relevant", "score", rectangles=True, interpolated=True, iso_f=True, k=None, ax=axes())
    assert len(curves(ax)[0].get_xdata()) <= 4 * (thinning.STRIPS + 1) + 1
    exact = fp.evaluate(run, "interpolated_average_precision", "relevant", "score").item()
    assert rectangle_area(ax) == pytest.approx(exact, abs=1e-12)
    render(ax.figure)
