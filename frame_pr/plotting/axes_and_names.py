"""What a caller gives to a plot: axes, or none; and names, which matplotlib reads in its own way.

All that draws needs these; what else draws is loaded when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frame_pr.frames.wording import kind_of_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def need_matplotlib() -> None:
    """Say how to install it, before anything is computed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "frame-pr[plot]"') from error


def check_axes(ax: Any) -> None:
    """Where to draw, if it is said."""
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, got {kind_of_value(ax)}")


def new_axes(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """The caller's, or one on a new figure of so many inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.figure(figsize=size, layout="constrained").subplots()


def plain(name: str) -> str:
    """A name of the caller's data, of which matplotlib would make mathematics between two dollars."""
    return name.replace("$", r"\$")


def in_legend(name: str) -> str:
    """A name with which matplotlib does not leave a curve out of the legend."""
    return f"\u200b{name}" if name.startswith("_") else name


def written(name: str) -> str:
    """The name that a caller knows."""
    return name.removeprefix("\u200b").replace(r"\$", "$")
