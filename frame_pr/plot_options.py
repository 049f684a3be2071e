"""How a plot shall look, checked before anything is computed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from frame_pr.arguments import each, f_of, number, rank, recall_level

ISO_F = (0.2, 0.4, 0.6, 0.8)
"""Levels of F that `iso_f=True` draws."""


@dataclass(frozen=True)
class Look:
    """What is drawn of each group, and how."""

    rectangles: bool = False
    interpolated: bool = False
    points: int | None = None
    k: int | None = None
    thresholds: tuple[float, ...] = ()
    recalls: tuple[Fraction, ...] = ()
    max_f: tuple[str, ...] = ()
    """The betas, as they are written in the name of the metric."""
    iso_f: tuple[float, ...] = ()
    beta: str = "1"
    threshold_labels: int = 0
    baseline: bool = True
    decimals: int = 2
    counts: bool = True
    """Whether the legend has the number of positives."""
    line: Mapping[str, Any] = field(default_factory=dict)

    @property
    def height(self) -> str:
        """The column whose area is drawn."""
        return "interpolated_precision" if self.interpolated else "precision"


def look_of(
    *,
    rectangles: bool,
    interpolated: bool,
    points: int | None,
    k: int | None,
    threshold: Any,
    recall: Any,
    mark: Any,
    iso_f: Any,
    beta: float,
    threshold_labels: int,
    baseline: bool,
    decimals: int,
    line: Mapping[str, Any],
) -> Look:
    """Check what the caller asked for."""
    if points not in (None, 11, 101):
        raise ValueError(f"points must be 11 or 101, the numbers of recall levels in use, got {points!r}")
    if k is not None and (interpolated or points):
        raise ValueError("k= cuts the curve as it is: leave out interpolated= and points=, or k=")
    _check_line(line)
    return Look(
        rectangles=bool(rectangles),
        interpolated=bool(interpolated or points),
        points=points,
        k=None if k is None else int(rank(k)),
        thresholds=tuple(float(number("threshold", t)) for t in _all("threshold", threshold)),
        recalls=tuple(Fraction(recall_level(r)) for r in _all("recall", recall)),
        max_f=tuple(_beta_of(name) for name in _all("mark", mark)),
        iso_f=_levels(iso_f),
        beta=f_of(beta)[1:],
        threshold_labels=_whole("threshold_labels", threshold_labels),
        baseline=bool(baseline),
        decimals=_whole("decimals", decimals),
        line=dict(line),
    )


def refuse_with_average(look: Look) -> None:
    """An averaged curve has no thresholds."""
    asked = {
        "rectangles": look.rectangles,
        "points": look.points,
        "k": look.k,
        "threshold": look.thresholds,
        "recall": look.recalls,
        "mark": look.max_f,
        "threshold_labels": look.threshold_labels,
    }
    for name, value in asked.items():
        if value:
            raise ValueError(
                f"average= draws a mean of curves, which has no thresholds: leave out {name}=, or average="
            )


def keys_of(argument: str, value: bool | str | Sequence[str], keys: Sequence[str]) -> list[str]:
    """The key columns that `facet` or `average` means; True: all but `system`, so that systems stay side by side."""
    if value is False or value is None:
        return []
    if value is True:
        chosen = [key for key in keys if key != "system"] or list(keys)
        if not chosen:
            raise ValueError(f"{argument}=True needs groups: name the grouping columns, by=...")
        return chosen
    chosen = each(argument, value)
    for name in chosen:
        if name not in keys:
            raise ValueError(f"{argument} names {name!r}, which is not one of the keys: {', '.join(keys) or 'none'}")
    return chosen


def _all(argument: str, values: Any) -> list[Any]:
    return [] if values is None else each(argument, values)


def _beta_of(name: Any) -> str:
    match = re.fullmatch(r"max_(f[\d.]+)", name) if isinstance(name, str) else None
    if match is None:
        raise ValueError(f"mark must be the name of a best point, such as 'max_f1' or 'max_f0.5', got {name!r}")
    return f_of(float(match[1][1:]))[1:]


def _levels(iso_f: Any) -> tuple[float, ...]:
    if iso_f is None or iso_f is False:
        return ()
    levels = ISO_F if iso_f is True else [float(number("iso_f", level)) for level in each("iso_f", iso_f)]
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"iso_f takes values of F between 0 and 1, got {level!r}")
    return tuple(levels)


def _whole(argument: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{argument} must be a whole number of at least 0, got {value!r}")
    return value


def _check_line(line: Mapping[str, Any]) -> None:
    """Matplotlib would notice a wrong keyword only after the curve is computed."""
    from matplotlib.lines import Line2D

    options = [
        *Look.__dataclass_fields__,
        "threshold",
        "recall",
        "mark",
        "facet",
        "average",
        "label",
        "max_groups",
        "by",
    ]
    for name, value in line.items():
        try:
            Line2D([], [], **{name: value})
        except (AttributeError, TypeError):
            near = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}?" if near else "further keywords are properties of matplotlib's Line2D"
            raise TypeError(f"plot has no argument {name!r}; {hint}") from None
