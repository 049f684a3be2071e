"""Where there is room in an axes: pixels that are taken, and boxes that may be put among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINE = "prevalence"
"""Label of the precision of a random ranking."""
BACKGROUND = (BASELINE, f"_{BASELINE}")
"""Labels of lines that a text may cross."""
_NEAR = 4
"""Points between a text and a line: half of the line, and a little air."""


_EVERY, _LONGEST = 3, 5000
"""Pixels from one point of a curve to the next, and how many points a straight line has at most."""


class Box(NamedTuple):
    """Pixels."""

    left: float
    low: float
    right: float
    high: float

    def overlaps(self, other: Box) -> bool:
        """Whether they have a pixel in common."""
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high

    def within(self, other: Box) -> bool:
        """Whether all of it lies in the other."""
        return (
            self.left >= other.left and self.right <= other.right and self.low >= other.low and self.high <= other.high
        )

    def wider(self, by: float) -> Box:
        """With so many pixels more on each side."""
        return Box(self.left - by, self.low - by, self.right + by, self.high + by)


def near(ax: Axes) -> float:
    """Pixels that a text keeps from a line."""
    return ax.figure.dpi * _NEAR / 72


def lay_out(ax: Axes) -> None:
    """Give the axes the size that they will have, where the figure's layout decides it: texts look for room in it."""
    figure = ax.figure.canvas.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    else:
        ax.apply_aspect()


def extent(artist: Any) -> Box:
    """The pixels of an artist."""
    return Box(*artist.get_window_extent().extents)


def crowd_of(ax: Axes) -> Callable[[Box], int]:
    """How many of the points along all curves lie within a box, from sums over all pixels to the left and below."""
    import numpy as np

    curves = [along(ax, line) for line in ax.get_lines() if line.get_label() not in BACKGROUND]
    pixels = np.floor(np.concatenate([np.empty((0, 2)), *curves])).astype(np.int64)
    inside = extent(ax).wider(1)
    x, y = pixels[
        (pixels[:, 0] >= inside.left)
        & (pixels[:, 0] <= inside.right)
        & (pixels[:, 1] >= inside.low)
        & (pixels[:, 1] <= inside.high)
    ].T
    if not len(x):
        return lambda box: 0
    left, low = x.min(), y.min()
    counts = np.zeros((x.max() - left + 2, y.max() - low + 2), np.int64)
    np.add.at(counts, (x - left + 1, y - low + 1), 1)
    sums = counts.cumsum(0).cumsum(1)

    def crowd(box: Box) -> int:
        x0, x1 = (int(np.clip(edge - left, 0, sums.shape[0] - 1)) for edge in (box.left, box.right))
        y0, y1 = (int(np.clip(edge - low, 0, sums.shape[1] - 1)) for edge in (box.low, box.high))
        return int(sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0])

    return crowd


def along(ax: Axes, line: Any, every: int = _EVERY) -> Any:
    """Pixels along a curve, so near to each other that no text falls between two of them."""
    import numpy as np

    x, y = np.asarray(line.get_xydata(), dtype=float).T
    if line.get_drawstyle() == "steps-pre":
        x, y = np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
    elif line.get_drawstyle() == "steps-post":
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    corners = ax.transData.transform(np.column_stack([x, y]))
    corners = corners[np.isfinite(corners).all(axis=1)]
    if len(corners) < 2:
        return corners
    way = np.diff(corners, axis=0)
    parts = np.ceil(np.abs(way).max(axis=1) / every).clip(1, _LONGEST).astype(np.int64)
    place = np.arange(parts.sum()) - np.repeat(parts.cumsum() - parts, parts)
    between = np.repeat(corners[:-1], parts, axis=0) + np.repeat(way / parts[:, None], parts, axis=0) * place[:, None]
    return np.concatenate([between, corners[-1:]])
