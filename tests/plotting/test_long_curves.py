import io
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from pictures import axes, curves, random_run, rectangle_area

import frame_pr as fp
from frame_pr.plotting import curve_artists
from frame_pr.plotting.curve_data import steps_of


def test_merged_rectangles_keep_the_area() -> None:
    run = random_run(rows=3000)
    # One wide step among thousands of narrow ones.
    wide = pl.DataFrame({"query": [0] * 900, "relevant": [True] * 900, "score": [0.05] * 900})
    blocks = fp.curve(
        pl.concat([run.with_columns(pl.col("score") + pl.int_range(pl.len()) * 1e-9), wide]), "relevant", "score"
    )
    merged = steps_of(blocks, "precision", "recall_step", most=80)
    width = merged["recall"].diff().fill_null(merged["recall"][0])
    assert (merged["precision"] * width).sum() == pytest.approx(
        (blocks["precision"] * blocks["recall_step"]).sum(), abs=1e-12
    )
    assert (merged["recall_step"] * width).sum() == pytest.approx((blocks["recall_step"] ** 2).sum(), abs=1e-12)
    assert merged.height < 90
    assert width.max() == pytest.approx(blocks["recall_step"].max(), abs=1e-15)  # the wide step stays as it is
    assert width.sort(descending=True)[1] <= 2 / 80


def pixels(ax: Any) -> Any:
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(int)


AXES: list[dict[str, Any]] = [
    {},
    {"x": "fpr", "y": "recall"},
    {"x": "k"},
    {"x": "threshold", "y": "f1"},
    {"xscale": "log"},
]


@pytest.mark.parametrize("options", [AXES[0]], ids=str)
def test_a_long_curve_looks_like_all_its_points(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(60_000) < 0.3
    run = pl.DataFrame({"relevant": truth, "score": truth + rng.normal(size=60_000)})
    few = fp.plot(run, "relevant", "score", ax=axes(), **options)
    monkeypatch.setattr(curve_artists, "_LONG", run.height)
    every = fp.plot(run, "relevant", "score", ax=axes(), **options)
    (line,), (whole,) = (curves(ax)[:1] for ax in (few, every))
    assert len(line.get_xdata()) < len(whole.get_xdata()) * 0.8
    assert {*map(tuple, line.get_xydata())} <= {*map(tuple, whole.get_xydata())}
    difference = np.abs(pixels(few) - pixels(every)).max(axis=2)
    # The path simplification of matplotlib shifts a few points by parts of a pixel.
    assert (difference > 40).mean() < 1e-3


@pytest.mark.slow
def test_a_long_curve_is_simplified_by_matplotlib() -> None:
    n = 250_000
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 5 < 2
    run = pl.DataFrame({"relevant": truth, "score": rng.permutation(n) + n // 4 * truth})
    ax = fp.plot(run, "relevant", "score", rectangles=True, interpolated=True, iso_f=True, ax=axes())
    assert len(curves(ax)[0].get_xdata()) < 70_000
    exact = fp.evaluate(run, "interpolated_average_precision", "relevant", "score").item()
    assert rectangle_area(ax) == pytest.approx(exact, abs=1e-12)
    file = io.StringIO()
    ax.figure.savefig(file, format="svg")
    assert len(file.getvalue()) < 1_000_000
