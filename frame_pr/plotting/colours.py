"""Which colour and which stroke a curve has: the colour tells the system, the stroke the group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito's colours without the yellow, which fades on white, and the green, the red and the pink moved apart, so
# that any two differ by 20 in CIE Lab also to who cannot see green. In grey seven cannot: six gaps of 20 are more than
# the 100 between black and white. The last one is that of letters: black, or white on a dark ground.
_COLOURS = ("#0072B2", "#E69F00", "#00906A", "#C44E00", "#D284B0", "#56B4E9")
STROKES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
"""Of groups beside systems, and of curves after the seventh."""
DASHED = STROKES[1]
MIDDLE = 0.18
"""The luminance from which on black is read better than white."""


def ink(ax: Axes) -> str:
    """The colour of letters: black, or white on a dark ground."""
    return "black" if _is_light(ax) else "white"


def shine(colour: Any) -> float:
    """The relative luminance of a colour, as the guidelines for contrast have it."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def grey(ax: Axes, level: float) -> str:
    """So far from black on a light ground, and from white on a dark one."""
    return str(level if _is_light(ax) else round(1 - level, 3))


def palette(ax: Axes) -> list[str]:
    """The colours of as many curves, where no style sheet has others."""
    return [*_COLOURS, ink(ax)]


def style(
    ax: Axes, number: int, stroke: int | None, chosen: Any = None, line: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Properties of the curve of this number; a style sheet goes first, the caller's `chosen` colour and `line` last.

    `stroke` is the number of the group, where colours are those of systems.
    """
    import matplotlib
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle == matplotlib.rcParamsDefault["axes.prop_cycle"]:
        colours = palette(ax)
        more = number // len(colours)
        properties: dict[str, Any] = {
            "color": colours[number % len(colours)],
            "linestyle": STROKES[more % len(STROKES)],
        }
    else:
        entries = list(cycle)
        properties = {"color": f"C{number}", **entries[number % len(entries)]}
    if stroke is not None:
        properties["linestyle"] = STROKES[stroke % len(STROKES)]
    if chosen is not None:
        properties["color"] = chosen
    return {**properties, **normalize_kwargs(dict(line or {}), Line2D)}


def numbered(values: Sequence[Any]) -> list[int]:
    """The number of each value among the different ones, in the order in which they appear."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _is_light(ax: Axes) -> bool:
    from matplotlib.colors import to_rgba

    for ground in (ax.get_facecolor(), ax.figure.get_facecolor()):
        if to_rgba(ground)[3] > 0:
            return shine(ground) > MIDDLE
    return True
