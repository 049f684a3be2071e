"""Draw precision-recall, ROC, gain, lift, cost and threshold curves, also in panels."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.frames.words import keyword_hint
from frame_pr.inputs.options import Options
from frame_pr.plotting import draw
from frame_pr.plotting.curve_artists import Drawn, draw_curves, scales_of
from frame_pr.plotting.curve_data import (
    BENEFITS,
    Y_KEY,
    Chart,
    Curve,
    Curves,
    ScoredRows,
    curves_of_result,
    curves_of_rows,
    mean_curves,
    quantity_title,
)
from frame_pr.plotting.draw import StyleArguments
from frame_pr.plotting.plots import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 10
_MOST_BEHIND = 200
"""The most curves in one axes, and with `highlight=`."""
_MANY_PANELS = 24
"""The most panels that are as high as wide; more are flat."""
_NUMBERED = 4
"""The most curves of a panel whose areas are in its title."""
_IN_WORDS = 5
"""The most curves whose numbers have names in the legend."""
_LINE_PROPERTIES = (
    "alpha|antialiased|color|dash_capstyle|dash_joinstyle|drawstyle|fillstyle|gapcolor|linestyle|"
    "linewidth|marker|markeredgecolor|markeredgewidth|markerfacecolor|markerfacecoloralt|"
    "markersize|markevery|path_effects|rasterized|solid_capstyle|solid_joinstyle|visible|zorder"
)
"""The properties of matplotlib's Line2D that change how a curve looks."""
_HINTS = {
    "label": "labels={'s1': 'My model'} names curves",
    "average": "mean_over= names the columns whose groups are averaged",
    **dict.fromkeys(
        ("ci", "confidence", "errorbar", "band", "intervals"),
        "interval=True draws the 95 % interval of each curve",
    ),
    "curve": "plot(..., x='fpr', y='recall') draws the ROC curve",
    "show": "matplotlib.pyplot.show() shows the figures of a script",
    "name": "labels={'s1': 'My model'} names curves",
}
"""Advice for keywords of other libraries."""


def draw_rows(rows: ScoredRows, chart: Chart) -> Any:
    """Draw the curves of scored rows: axes, or panels."""
    data = _data(rows, chart)
    if facets := _facets(chart.facet, data.keys):
        return _draw_panels(data, facets, chart)
    return _draw_axes(data, chart)


def _data(rows: ScoredRows, chart: Chart) -> Curves:
    """Compute the curves of scored rows, or read those of a frame that `curve` gave."""
    if rows.truth is None and rows.score is None:
        if chart.mean_over or rows.by is not None or rows.options:
            raise TypeError(
                "mean_over=, by= and options need truth and score; without them, plot draws a "
                "frame of curve"
            )
        return curves_of_result(rows.frame, chart)
    if rows.truth is None or rows.score is None:
        raise TypeError(
            "plot takes truth and score for scored rows, or neither for a frame that curve gave"
        )
    return mean_curves(rows, chart) if chart.mean_over else curves_of_rows(rows, chart)


_OPTIONS = {*Options.__annotations__, *StyleArguments.__annotations__, "baseline"}
_NAMES = [*inspect.signature(plot).parameters, *_OPTIONS]


def noun(options: Mapping[str, Any]) -> str:
    """Return what the number of positives of a group counts."""
    if options.get("prevalence") is not None:
        # It is the number of a population that nobody has seen.
        return ""
    if options.get("weight") is not None:
        return "positive weight"
    return "positives"


def line_properties(options: Mapping[str, Any]) -> draw.Properties:
    """Validate the properties of lines before anything is computed."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    line = {name: value for name, value in options.items() if name not in _OPTIONS}
    for name in line:
        if name in _HINTS:
            raise TypeError(f"plot has no argument {shown(name)}; {_HINTS[name]}")
    properties: draw.Properties = normalize_kwargs(line, Line2D)
    for name, value in properties.items():
        if not re.fullmatch(_LINE_PROPERTIES, name):
            hint = (
                keyword_hint(name, _NAMES) or "other keywords are properties of matplotlib's Line2D"
            )
            raise TypeError(f"plot has no argument {shown(name)}; {hint}")
        try:
            Line2D([], [], **{name: value})
            is_valid = name != "zorder" or float(value) == value
        except Exception:  # Each property raises errors of its own types.
            is_valid = False
        if not is_valid:
            raise ValueError(
                f"{name}: {shown(value)} is no {name} of a line in matplotlib, which is for all "
                "lines; colors={'s1': 'red', 's2': 'blue'} sets a colour for each"
            )
    return properties


def _facets(facet: bool | list[str], keys: Sequence[str]) -> list[str]:
    """Return the keys of panels. True: all but `system`."""
    names: Any = facet
    if facet is True:
        names = [key for key in keys if key != "system"] or list(keys)
        if not names:
            raise ValueError(
                "facet=True needs a group for each panel: name columns, by=..., besides those of "
                "mean_over="
            )
    for name in names or ():
        if name not in keys:
            there = ", ".join(keys) or "none, give by="
            raise ValueError(f"facet: {shown(name)} is no key; there are {there}")
    return names or []


class _Names(NamedTuple):
    """The name of a curve, and what its colour and its line style show."""

    name: str
    hue: str
    stroke: str


def _names(
    curves: Sequence[Curve],
    keys: Sequence[str],
    chart: Chart,
) -> tuple[list[_Names], str]:
    """Name the curves, and return the title of their legend, the names of the keys.

    Colours show systems or quantities and line styles groups, if there are several of both.
    """
    if len(chart.ys) > 1:
        keys = [*keys, Y_KEY]
    # A key with a single value does not distinguish curves.
    several = [key for key in keys if len({draw.value_text(each.key[key]) for each in curves}) > 1]
    keys = several or keys[:1]
    hues = [key for key in keys if key in ("system", Y_KEY)][:1]
    strokes = [key for key in keys if key not in hues]
    if not (hues and strokes):
        hues = list(keys)
        strokes = []
    names = []
    for curve in curves:
        name, hue, stroke = (_join(curve, part, chart) for part in (keys, hues, strokes))
        if not keys and isinstance(chart.score, str):
            name = chart.style.label(chart.score)
        names.append(_Names(name, hue, stroke))
    return names, chart.style.join(key for key in keys if key not in (Y_KEY, "system"))


def _join(
    curve: Curve,
    keys: Sequence[str],
    chart: Chart,
) -> str:
    """Return the labels of the values of some keys."""
    labels = []
    for key in keys:
        value = curve.key[key]
        labels.append(chart.style.label(value, quantity_title(value) if key == Y_KEY else None))
    return ", ".join(labels)


def _styled(
    ax: Axes,
    curves: Sequence[Curve],
    names: Sequence[_Names],
    labels: Sequence[str],
    chart: Chart,
) -> list[Drawn]:
    """Return the curves with their labels and lines. Colours follow the order of the names."""
    first = draw.curves_in(ax)
    hues = list(dict.fromkeys(name.hue for name in names))
    strokes = list(dict.fromkeys(name.stroke for name in names))
    values = [value for curve in curves for value in curve.key.values()]
    chart.style.check_colors(values or [chart.score])
    drawn = []
    for curve, name, label in zip(curves, names, labels, strict=True):
        number = first + hues.index(name.hue)
        dash = 0
        if len(strokes) > 1:
            dash = strokes.index(name.stroke)
        elif first + len(hues) > 2:
            # Colours alone are lost in print and to some eyes.
            dash = number
        line = {
            "color": chart.style.color_of([*curve.key.values(), name.name], number),
            "linestyle": draw.DASHES[dash % len(draw.DASHES)],
        }
        drawn.append(Drawn(curve, label, {**line, **chart.line}))
    return drawn


def _numbers(curve: Curve, chart: Chart) -> dict[str, str]:
    """Return the numbers of a curve by their names: areas, and P or n."""
    numbers = {}
    if curve.area is not None:
        title = chart.kind.area
        if curve.groups is not None:
            title = f"mean {'interpolated ' * chart.interpolated}{title}"
        areas = {title: curve.area}
        if curve.envelope_area is not None:
            areas[f"interpolated {title}"] = curve.envelope_area
        texts = [draw.number_text(area) for area in areas.values()]
        if len({*texts}) < len(texts):
            texts = [draw.number_text(area, 3) for area in areas.values()]
        numbers = dict(zip(areas, texts, strict=True))
        if curve.spread is not None and curve.band is None:
            numbers[title] += f" ± {draw.number_text(curve.spread)}"
    if curve.groups is not None:
        numbers["n"] = f"{curve.groups:,}"
    elif curve.positives is not None and chart.noun:
        numbers["P"] = draw.count_text(curve.positives)
    return numbers


def _take_shared(numbers: Sequence[dict[str, str]], name: str) -> str:
    """Remove a number that all curves share, and return it."""
    values = {of_curve.get(name, "") for of_curve in numbers}
    if len(values) != 1:
        return ""
    for of_curve in numbers:
        of_curve.pop(name, None)
    return values.pop()


def _labels(
    curves: Sequence[Curve],
    names: Sequence[_Names],
    title: str,
    chart: Chart,
) -> tuple[list[str], str]:
    """Return the labels of the curves, and the title with what they share."""
    numbers = [_numbers(curve, chart) for curve in curves]
    about = [title]
    over = chart.mean_over
    if over:
        about.append("mean")
        if over is not True:
            about[-1] += f" over {chart.style.join(over)}"
        if n := _take_shared(numbers, "n"):
            about.append(f"n = {n}")
    if positives := _take_shared(numbers, "P"):
        text = f"{positives} {chart.noun.removesuffix('s' if positives == '1' else ' ')}"
        if len(curves) == 1:
            numbers[0][""] = text
        else:
            about.append(text)
    if len(curves) > _IN_WORDS:
        # Many labels are shorter if the title says what the numbers are.
        about.append(", ".join(dict.fromkeys(chain(*numbers))))
        labels = [
            ", ".join([name.name, *of.values()]) for name, of in zip(names, numbers, strict=True)
        ]
    else:
        if "P" in chain(*numbers):
            about.append(f"P: {chart.noun}")
        labels = [_with_numbers(name.name, of) for name, of in zip(names, numbers, strict=True)]
    head, *rest = list(filter(None, about)) or [""]
    return labels, f"{head} ({', '.join(rest)})" if rest else head


def _with_numbers(name: str, numbers: Mapping[str, str]) -> str:
    """Return a name with its numbers in brackets."""
    text = ", ".join(f"{head} = {number}" if head else number for head, number in numbers.items())
    return f"{name} ({text})" if name and text else name or text


def _check_number(
    n: int,
    most: int,
    keys: Sequence[str],
    chart: Chart,
) -> None:
    """Refuse more curves in one axes than can be told apart."""
    if n > most:
        hint = (
            "facet=True draws small multiples, highlight=['name'] some curves in colour; or filter "
            "the groups"
        )
        if not keys:
            hint = "give fewer of y="
        elif chart.facet:
            hint = "filter the groups"
        raise ValueError(f"{n} curves in one axes are more than {most}: {hint}")


def _draw_axes(data: Curves, chart: Chart) -> Axes:
    """Draw all curves into one axes. A new figure is no wider than square axes need."""
    most = _MOST_CURVES if chart.highlight is None else _MOST_BEHIND
    _check_number(len(data.curves), most, data.keys, chart)
    names, title = _names(data.curves, data.keys, chart)
    highlighted = _highlighted(data.curves, names, chart)
    others = [curve for i, curve in enumerate(data.curves) if i not in highlighted]
    curves = [data.curves[i] for i in highlighted]
    names = [names[i] for i in highlighted]
    with draw.axes_of(chart.style, square=chart.is_square) as (ax,):
        labels, title = _labels(curves, names, title, chart)
        scales = scales_of(data.curves, chart)
        drawn = _styled(
            ax,
            curves,
            names,
            labels,
            chart,
        )
        draw.title_panels([ax], chart.style, *_titles(chart))
        draw_curves(ax, drawn, chart, scales, others)
        _name_those_without(ax, data, chart)
        # These fill the axes.
        is_full = bool(others) or chart.ys[0] in BENEFITS
        short = dict(zip(labels, (name.name for name in names), strict=True))
        draw.draw_legend([ax], chart.style, title, short, most_inside=draw.INSIDE * (not is_full))
    return ax


def _name_those_without(
    ax: Axes,
    data: Curves,
    chart: Chart,
) -> None:
    """Name groups that have no curve in the legend."""
    keys = data.without_positives
    if not keys or not data.keys:
        return
    text = ", ".join(chart.style.join(key) for key in keys[:3])
    if len(keys) > 3:
        text += f" and {len(keys) - 3} more"
    draw.add_entry(ax, f"{chart.style.label('no positives')}: {text}", linestyle="")


def _titles(chart: Chart) -> tuple[str, str]:
    """Return the titles of both axes."""
    x = chart.style.label(chart.x, quantity_title(chart.x))
    if chart.positive and chart.x not in ("k", "share", "threshold"):
        x += f" (positive: {chart.positive})"
    labels = [chart.style.label(y, chart.kind.title or quantity_title(y)) for y in chart.ys[:3]]
    return x, ", ".join(labels)


def _highlighted(
    curves: Sequence[Curve],
    names: Sequence[_Names],
    chart: Chart,
) -> list[int]:
    """Return the highlighted curves, in the order of `highlight=` or of their areas; else all."""
    highlight = chart.highlight
    if highlight is None:
        return list(range(len(curves)))
    if isinstance(highlight, int):
        if any(curve.area is None for curve in curves):
            raise ValueError(
                "highlight: these curves have no area to rank them by; give names of curves"
            )
        ranked = sorted(range(len(curves)), key=lambda i: -(curves[i].area or 0))
        return list(dict.fromkeys([*ranked[:highlight], *ranked[-highlight:]]))
    texts = [name.name for name in names]
    for name in highlight:
        if name not in texts:
            hint = f"there are {', '.join(texts)}"[:200]
            if near := nearest(name, texts):
                hint = did_you_mean(near)
            raise ValueError(f"highlight: {shown(name)} is none of the curves; {hint}")
    return [texts.index(name) for name in highlight]


def _draw_panels(
    data: Curves,
    facets: Sequence[str],
    chart: Chart,
) -> Any:
    """Draw a panel for each group of the keys of `facets`."""
    if not data.curves:
        raise ValueError("facet: no group has positives, so there is no curve to draw")
    panels = _numbers_of_panels(data.curves, facets)
    _check_number(
        max(map(len, panels)),
        _MOST_CURVES,
        data.keys,
        chart,
    )
    lines = [key for key in data.keys if key not in facets]
    names, title = _names(data.curves, lines, chart)
    several = len({name.name for name in names}) > 1
    height = 5.5 + len(chart.marks) * (not several)
    # Axes from 0 to 1 have equal limits anyway, and 80 linked axes would ask each other for theirs.
    linked = "" if chart.is_square else "xy"
    is_flat = len(panels) > _MANY_PANELS
    with draw.axes_of(
        chart.style,
        len(panels),
        (11, height),
        square=chart.is_square and not is_flat,
        ratio=0.5 if is_flat else 0.85,
        linked=linked,
    ) as axes:
        labels = [name.name if several else "_curve" for name in names]
        scales = scales_of(data.curves, chart)
        drawn = _styled(
            axes[0],
            data.curves,
            names,
            labels,
            chart,
        )
        for ax, numbers in zip(axes, panels, strict=True):
            in_panel = [drawn[i] for i in numbers]
            draw_curves(ax, in_panel, chart, scales)
            _title_panel(
                ax,
                _key_label(in_panel[0].curve, facets, chart),
                in_panel,
                chart,
                several=several,
            )
        _name_those_without(axes[0], data, chart)
        draw.title_panels(axes, chart.style, *_titles(chart))
        draw.draw_legend(axes, chart.style, title if several else "")
    return draw.one_or_all(axes, several=True)


def _numbers_of_panels(curves: Sequence[Curve], facets: Sequence[str]) -> Sequence[Sequence[int]]:
    """Return the places of the curves of each panel."""
    panels: dict[tuple[Any, ...], list[int]] = {}
    for number, curve in enumerate(curves):
        panels.setdefault(tuple(curve.key[key] for key in facets), []).append(number)
    return list(panels.values())


def _key_label(
    curve: Curve,
    facets: Sequence[str],
    chart: Chart,
) -> str:
    """Return the label of the panel of a curve.

    Values that are no text have the name of their key.
    """
    texts = []
    for name in facets:
        value = curve.key[name]
        text = chart.style.label(value)
        texts.append(text if isinstance(value, str) else f"{chart.style.label(name)} {text}")
    return ", ".join(texts)


def _title_panel(
    ax: Axes,
    label: str,
    curves: Sequence[Drawn],
    chart: Chart,
    *,
    several: bool,
) -> None:
    """Write the group above a panel, and the numbers of its curves in their order."""
    numbers = [_numbers(drawn.curve, chart) for drawn in curves]
    if not several:
        marks = [f"{mark.text}{mark.value}" for mark in curves[0].curve.marks]
        lines = [_with_numbers("", numbers[0]), *marks]
    else:
        positives = _take_shared(numbers, "P")
        areas = [next(iter(of_curve.values()), "") for of_curve in numbers]
        lines = [f"P = {positives}" * bool(positives)]
        if all(areas) and len(areas) <= _NUMBERED:
            lines.insert(0, f"{chart.kind.area} {', '.join(areas)}")
    draw.title_panel(ax, chart.style, label, *lines)
