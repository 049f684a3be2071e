"""Rows to plot, and what a plot shows, read back from its axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

TEXTBOOK = pl.DataFrame(
    {"relevant": [1, 1, 0, 1, 0, 1, 0, 0, 0, 1], "score": [s / 10 for s in range(10, 0, -1)]}
)


def rows(n: int = 600, seed: int = 0, rate: float = 0.2, **strengths: float) -> pl.DataFrame:
    """Scores between 0 and 1 with ties, of groups "at", "be" and "cz" and of 40 queries."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < rate
    strengths = strengths or {"good": 2.0, "poor": 0.8}
    scores = {
        name: (1 / (1 + np.exp(-strength * truth - rng.normal(size=n)))).round(2)
        for name, strength in strengths.items()
    }
    country = np.array(["at", "be", "cz"])[rng.integers(3, size=n)]
    return pl.DataFrame(
        {"country": country, "query": rng.integers(40, size=n), "truth": truth, **scores}
    )


def legend(ax: Any) -> list[str]:
    """Return the entries of the legend, which is outside of the axes if they are many."""
    return [text.get_text() for text in legend_of(ax).get_texts()]


def legend_of(ax: Any) -> Any:
    """Return the legend of the axes, or of the figure."""
    return ax.get_legend() or ax.figure.legends[0]


def curves(ax: Any) -> list[Any]:
    """Return the curves, in the order in which they were drawn."""
    return [line for line in ax.get_lines() if line.get_gid() == "curve"]


def line(ax: Any, label: str) -> Any:
    """Return the only line with this label."""
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return found


def points(line: Any) -> list[tuple[float, float]]:
    """Return the points of a line."""
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
