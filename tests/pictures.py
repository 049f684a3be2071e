"""What a picture shows, read back from it, and runs to draw."""

import io
from typing import Any

import matplotlib
import numpy as np
import polars as pl
from matplotlib.figure import Figure

matplotlib.use("Agg")

TEXTBOOK = pl.DataFrame({"relevant": [1, 1, 0, 1, 0, 1, 0, 0, 0, 1], "score": [s / 10 for s in range(10, 0, -1)]})


def axes() -> Any:
    return Figure(figsize=(4, 4)).subplots()


def render(figure: Any) -> None:
    figure.savefig(io.BytesIO())


def lay_out(figure: Any) -> None:
    """All in its place, to be measured: half of the time of pixels."""
    figure.draw_without_rendering()


def set_sizes(figure: Any) -> None:
    """The axes in their places, as drawing would set them, and nothing drawn."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    for ax in figure.axes:
        ax.apply_aspect()


def random_run(rows: int = 400, groups: int = 3, seed: int = 0) -> pl.DataFrame:
    """Scores with many ties."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    score = (truth + rng.normal(size=rows)).round(1)
    return pl.DataFrame({"query": rng.integers(groups, size=rows), "relevant": truth, "score": score})


def labels(ax: Any) -> list[str]:
    """The entries of the legend; of a panel, the numbers above it."""
    return [text.get_text() for text in (ax.get_legend().get_texts() if ax.get_legend() else numbers(ax))]


def numbers(ax: Any) -> list[Any]:
    return [text for text in ax.texts if text.get_gid() == "numbers"]


def curves(ax: Any) -> list[Any]:
    return [line for line in ax.get_lines() if line.get_gid() is None and not line.get_label().startswith("_")]


def line(ax: Any, label: str) -> Any:
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return found


def rectangle_area(ax: Any) -> float:
    (found,) = [artist for artist in ax.collections if artist.get_label() == "_rectangles"]
    # Of each polygon by the shoelace formula, be it one rectangle or the outline of all.
    areas = []
    for path in found.get_paths():
        x, y = path.vertices.T
        areas.append(abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2)
    return float(sum(areas))
