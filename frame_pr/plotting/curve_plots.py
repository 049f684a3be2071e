"""Draw precision-recall, ROC, gain, lift, cost and threshold curves, also in panels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.frames.words import keyword_hint
from frame_pr.plotting import draw
from frame_pr.plotting.curve_data import (
    BENEFITS,
    Y_KEY,
    Chart,
    Curve,
    Curves,
    ScoredRows,
    cell_starts,
    curves_of_result,
    curves_of_rows,
    has_unit_range,
    mean_curves,
    quantity_title,
)
from frame_pr.plotting.draw import GREY, REFERENCE

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
_POINTS = 20
"""The most thresholds that have points."""
_ENVELOPE = {"linestyle": "--", "linewidth": 1}
_EDGES = 100
"""The most rectangles with edges."""
_FILLED = 2**10
"""The cells of fills, which keep one point each."""
_BAND = {"color": GREY, "linewidth": 6, "alpha": 0.2}
"""The entry of a band in the legend."""
_MARKERS = "Ds^ov*pX"
_BANDED_CURVES = 4
"""The most mean curves with bands."""
_BASELINES = 4
"""The most baselines with lines. More baselines are a band."""
_NAMED_MARKS = 4
"""The most marks with their threshold next to them."""
_RARE = 0.01
_LOW = 0.1
"""Below this prevalence and these areas, the axis of precision is logarithmic."""
_MANY_RANKS = 1000
"""Ranks from which their axis is logarithmic."""
_SMALLEST_RATE = 1e-7
"""The smallest rate on an axis of normal deviates."""
_DET_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


class Drawn(NamedTuple):
    """A curve as it is drawn."""

    curve: Curve
    label: str
    line: Mapping[str, Any]
    """The properties of its line."""

    @property
    def colour(self) -> Any:
        """Return the colour of the curve and of all that belongs to it."""
        return self.line["color"]


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


def noun(options: Mapping[str, Any]) -> str:
    """Return what the number of positives of a group counts."""
    if options.get("prevalence") is not None:
        # It is the number of a population that nobody has seen.
        return ""
    if options.get("weight") is not None:
        return "positive weight"
    return "positives"


def line_properties(line: dict[str, Any], arguments: Iterable[str]) -> draw.Properties:
    """Validate the properties of lines before anything is computed.

    `arguments`: the arguments of `plot`, one of which may be meant.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    for name in line:
        if name in _HINTS:
            raise TypeError(f"plot has no argument {shown(name)}; {_HINTS[name]}")
    properties: draw.Properties = normalize_kwargs(line, Line2D)
    for name, value in properties.items():
        if not re.fullmatch(_LINE_PROPERTIES, name):
            hint = (
                keyword_hint(name, arguments)
                or "other keywords are properties of matplotlib's Line2D"
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
            ", ".join([name.name, *of_curve.values()])
            for name, of_curve in zip(names, numbers, strict=True)
        ]
    else:
        if "P" in chain(*numbers):
            about.append(f"P: {chart.noun}")
        labels = [
            _with_numbers(name.name, of_curve)
            for name, of_curve in zip(names, numbers, strict=True)
        ]
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
        scales = _scales_of(data.curves, chart)
        drawn = _styled(
            ax,
            curves,
            names,
            labels,
            chart,
        )
        draw.title_panels([ax], chart.style, *_titles(chart))
        _draw_curves(ax, drawn, chart, scales, others)
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
    labels = []
    for y in chart.ys[:3]:
        title = chart.kind.title or quantity_title(y)
        labels.append(chart.style.label(y, title))
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
        scales = _scales_of(data.curves, chart)
        drawn = _styled(
            axes[0],
            data.curves,
            names,
            labels,
            chart,
        )
        for ax, numbers in zip(axes, panels, strict=True):
            in_panel = [drawn[i] for i in numbers]
            _draw_curves(ax, in_panel, chart, scales)
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


# Artists, scales and limits


def _draw_curves(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
    scales: tuple[str, str],
    others: Sequence[Curve] = (),
) -> None:
    """Draw curves with their bands, baselines and marks.

    `scales`: those of both axes; "det" is that of normal deviates. `others`: thin grey curves
    behind the others.
    """
    _set_axes(ax, curves, chart, scales)
    # Many lines on each other would be as dark as the baseline.
    alpha = max(0.12, 0.4 / (1 + len(others) / 40))
    grey = {"color": GREY, "alpha": alpha, "linewidth": 0.6, "zorder": 1.5}
    for curve in others:
        _draw_line(ax, curve, chart, {**grey, "label": "_other"})
    if others:
        draw.add_entry(ax, f"{len(others)} others", **grey)
    for drawn in curves:
        _draw_areas(ax, drawn, chart)
        thin = {"linewidth": 0.7, "alpha": 0.5, "zorder": 1.5, "label": "_member"}
        for member in drawn.curve.members:
            _draw_line(ax, member, chart, {**drawn.line, **thin})
        line = {"gid": draw.CURVE, **drawn.line, "label": drawn.label}
        _draw_line(ax, drawn.curve, chart, line)
    if len(curves) <= _BANDED_CURVES:
        _draw_bands(ax, curves, chart)
    if chart.envelope:
        draw.add_entry(ax, "interpolated", color=GREY, **_ENVELOPE)
    if chart.baseline and len(chart.ys) == 1:
        shown = [drawn.curve for drawn in curves]
        _draw_baselines(ax, [*shown, *others], chart)
    _draw_marks(ax, curves, chart)
    if len(curves) == 1 and not chart.interpolated:
        _explain_area(ax, curves[0].curve, chart)
    if not curves:
        draw.write_reason(ax, "no positives")


def _draw_line(
    ax: Axes,
    curve: Curve,
    chart: Chart,
    line: draw.Properties,
) -> None:
    """Draw the line of a curve: steps, where a value holds between two thresholds."""
    import numpy as np

    points = curve.points
    if not points.height:
        return
    before = chart.kind.start
    drawstyle = "default"
    if chart.is_pr:
        # A threshold adds the recall up to its own, as in the sum of the area.
        before = [(0.0, points["y"][0])]
        drawstyle = "steps-pre"
    elif chart.x == "threshold" and chart.ys[0] not in BENEFITS:
        drawstyle = "steps-post"
    if points.height <= _POINTS and line.get("gid") == draw.CURVE:
        line = {"marker": "o", "markersize": 4, **line}
    xy = np.vstack([*before, points.select("x", "y").to_numpy(), *chart.kind.end])
    thresholds = slice(len(before), len(before) + points.height)
    line = {"drawstyle": drawstyle, "markevery": thresholds, **line}
    ax.plot(*xy.T, **line)


def _draw_areas(
    ax: Axes,
    drawn: Drawn,
    chart: Chart,
) -> None:
    """Fill the rectangles under a curve, and what its envelope adds."""
    import numpy as np

    if not (chart.rectangles or chart.envelope):
        return
    points = drawn.curve.points
    if points.height > _FILLED:
        # Fills keep the last point of each cell.
        starts = cell_starts(points["x"], _FILLED)
        points = points[np.append(starts[1:], points.height) - 1]
    points = pl.concat([points.head(1).with_columns(x=0.0), points])
    edges = points["x"].to_numpy()
    top = points["y"].to_numpy()
    colour = drawn.colour
    fill: draw.Properties = {"step": "pre", "color": colour, "linewidth": 0}
    if chart.interpolated:
        raw = top
        top = points["envelope"].to_numpy()
        ax.fill_between(edges, raw, top, alpha=0.15, **fill)
        line: draw.Properties = {
            "drawstyle": "steps-pre",
            "color": colour,
            "label": "_envelope",
            **_ENVELOPE,
        }
        ax.plot(edges, top, **line)
    if chart.rectangles:
        ax.fill_between(edges, top, alpha=0.25, **fill)
        # The last point at each recall is at the right end of a rectangle.
        last = np.flatnonzero(np.diff(edges, append=2) > 0)
        if len(last) <= _EDGES:
            ax.vlines(
                edges[last],
                0,
                top[last],
                color=colour,
                linewidth=0.8,
                alpha=0.6,
            )


def _explain_area(
    ax: Axes,
    curve: Curve,
    chart: Chart,
) -> None:
    """Write the height tp / k into each rectangle, and the sum of the rectangles above the axes.

    Only curves with few rectangles have `steps`.
    """
    positives = curve.positives or 1
    terms = []
    for added, tp, k in curve.steps:
        height = f"{tp}/{k}"
        ax.text(
            (tp - added / 2) / positives,
            tp / k / 2,
            height,
            ha="center",
            va="center",
            fontsize="small",
        )
        terms.append(height if added == 1 else f"{added}·{height}")
    if terms and not chart.facet and not ax.get_title():
        area = draw.number_text(curve.area or 0, 3)
        draw.title_panel(
            ax,
            chart.style,
            f"({' + '.join(terms)}) / {positives:g} = {area}",
        )


def _draw_bands(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Draw the confidence intervals of curves, and say in the legend what they are."""
    # The mean at a recall is that of the heights up to it.
    step: Any = "pre" if chart.is_pr and chart.mean_over else None
    banded = [drawn for drawn in curves if drawn.curve.band is not None]
    for drawn in banded:
        band: Any = drawn.curve.band
        x, low, high = band.to_numpy().T
        ax.fill_between(
            x,
            low,
            high,
            step=step,
            color=drawn.colour,
            alpha=0.2,
            linewidth=0,
        )
    if not banded:
        return
    label = chart.style.label("confidence interval", "95 % interval")
    sizes = {drawn.curve.rows or 0 for drawn in banded}
    about = "bootstrap"
    if chart.mean_over:
        about = "of the mean"
    elif len(sizes) == 1:
        about = f"bootstrap, n = {draw.count_text(sizes.pop())}"
    text = f"{label} at each {quantity_title(chart.x).lower()} ({about})"
    draw.add_entry(ax, text, **_BAND)


def _draw_baselines(
    ax: Axes,
    curves: Sequence[Curve],
    chart: Chart,
) -> None:
    """Draw the values of a random ranking, and of alerts on all rows and on none."""
    y = chart.ys[0]
    shares = _prevalences(curves)
    if not shares:
        return
    entries = {chart.style.label("random ranking") + " (AUC = 0.5)" * chart.is_roc: REFERENCE}
    if chart.kind.start:
        # Many points, so that the line is right on other scales.
        x = [i / 200 for i in range(201)]
        _draw_reference(ax, x, x[::-1] if chart.is_det else x, REFERENCE)
    elif y == "lift":
        ax.axhline(1, label="_baseline", zorder=1, **REFERENCE)
    elif y == "precision":
        entries = _draw_prevalences(ax, shares, chart)
    elif chart.x == "threshold" and (y.startswith("cost") or y in BENEFITS):
        x = [i / 300 for i in range(298)]
        entries = {}
        for stroke, name, selected in ((":", "alert on all rows", 1), ("--", "alert on none", 0)):
            line = REFERENCE | {"linestyle": stroke}
            for share in shares:
                costs = [_cost_of_alerts(y, t, share, selected) for t in x]
                _draw_reference(ax, x, costs, line)
            entries[chart.style.label(name)] = line
    else:
        return
    for label, line in entries.items():
        draw.add_entry(ax, label, **line)


def _prevalences(curves: Sequence[Curve]) -> list[float]:
    """Return the prevalences of the curves; those that look the same are one."""
    shares = [curve.positives / curve.rows for curve in curves if curve.positives and curve.rows]
    return sorted({round(share, 2) or share: share for share in shares}.values())


def _draw_reference(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    line: draw.Properties,
) -> None:
    """Draw a thin grey line that the legend does not name."""
    ax.plot(
        x,
        y,
        zorder=1,
        label="_baseline",
        **line,
    )


def _cost_of_alerts(
    y: str,
    threshold: float,
    share: float,
    selected: int,
) -> float:
    """Return the cost or the net benefit of a row if all rows, or none, are predicted positive."""
    if y not in BENEFITS:
        missed = float(y.removeprefix("cost"))
        return 1 - share if selected else missed * share
    benefit = share - (1 - share) * threshold / (1 - threshold)
    return selected * (benefit if y == "net_benefit" else benefit / share)


def _draw_prevalences(
    ax: Axes,
    shares: Sequence[float],
    chart: Chart,
) -> draw.Properties:
    """Draw the precision of a random ranking: a line for each prevalence, or a band around many.

    Return the entry of the legend.
    """
    label = chart.style.label("prevalence")
    if not chart.facet:
        ends = dict.fromkeys(map(draw.number_text, (shares[0], shares[-1])))
        label = f"{label} ({' to '.join(ends)})"
    if len(shares) > _BASELINES:
        ax.axhspan(
            shares[0],
            shares[-1],
            color=GREY,
            alpha=0.2,
            linewidth=0,
            zorder=0.5,
        )
        return {label: _BAND}
    for share in shares:
        ax.axhline(share, label="_baseline", zorder=1, **REFERENCE)
    return {label: REFERENCE}


def _draw_marks(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
) -> None:
    """Draw the marked points, and the thresholds of a few next to them."""
    by_threshold = chart.x == "threshold"
    is_single = len(curves) == 1 and not chart.facet
    marks = [(drawn.colour, mark) for drawn in curves for mark in drawn.curve.marks]
    texts = set()
    for colour, mark in marks:
        shape: draw.Properties = {"marker": _MARKERS[mark.number % len(_MARKERS)], "zorder": 4}
        shape |= {"linestyle": "", "markersize": 7, "markeredgecolor": ax.get_facecolor()}
        ax.plot(
            [mark.x],
            [mark.y],
            label="_mark",
            gid="mark",
            color=colour,
            **shape,
        )
        if not by_threshold and not chart.facet and len(marks) <= _NAMED_MARKS:
            ax.annotate(
                mark.threshold,
                (mark.x, mark.y),
                (0.6, 0.3 + 1.1 * (mark.number % 3)),
                textcoords="offset fontsize",
                fontsize="small",
            )
        text = f"{mark.text}{mark.value}" if is_single or by_threshold else mark.text
        if text not in texts:
            draw.add_entry(
                ax,
                text,
                color=colour if is_single else GREY,
                **shape,
            )
            if by_threshold:
                ax.axvline(
                    mark.x,
                    color=GREY,
                    linewidth=0.8,
                    zorder=1,
                    label="_guide",
                )
        texts.add(text)


def _set_axes(
    ax: Axes,
    curves: Sequence[Drawn],
    chart: Chart,
    scales: tuple[str, str],
) -> None:
    """Set scales, and limits with room for a line along the edges. A reader may change them."""
    from matplotlib.ticker import StrMethodFormatter

    axes: Any = ((ax.xaxis, scales[0], chart.x), (ax.yaxis, scales[1], chart.ys[0]))
    for axis, scale, quantity in axes:
        if scale == "det":
            _set_deviates(ax, axis)
            continue
        ax.set(**{f"{axis.axis_name}scale": scale})
        if scale == "log" and chart.x == "k":
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        elif scale == "linear" and has_unit_range(quantity):
            # The limits stay automatic, so that another scale finds its own.
            is_x = axis is ax.xaxis
            ax.update_datalim(
                [(0, 0), (1, 1)],
                updatex=is_x,
                updatey=not is_x,
            )
            margins: draw.Properties = {axis.axis_name: 0.02}
            ax.margins(**margins)
            draw.fewer_ticks(axis, 3 if chart.facet else 6)
    if chart.ys[0] in BENEFITS:
        # At high thresholds, alerts on all rows have benefits far below 0.
        tops: list[Any] = [drawn.curve.points["y"].max() for drawn in curves]
        top = max([0.0, *filter(None, tops)]) or 1.0
        ax.set_ylim(-0.15 * top, 1.08 * top)


def _set_deviates(ax: Axes, axis: Any) -> None:
    """Show a rate on the axis of its normal deviates, as DET curves do."""
    from statistics import NormalDist

    import numpy as np
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    normal = NormalDist()
    deviates = np.vectorize(normal.inv_cdf, otypes=[float])
    rates = np.vectorize(normal.cdf, otypes=[float])

    def deviate(rate: Any) -> Any:
        return deviates(np.clip(rate, _SMALLEST_RATE, 1 - _SMALLEST_RATE))

    set_scale = getattr(ax, f"set_{axis.axis_name}scale")
    set_scale("function", functions=(deviate, rates))
    ax.set(**{f"{axis.axis_name}lim": (_DET_TICKS[0], _DET_TICKS[-1])})
    axis.set_major_locator(FixedLocator(_DET_TICKS))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FixedFormatter([f"{100 * tick:g} %" for tick in _DET_TICKS]))


def _scales_of(curves: Sequence[Curve], chart: Chart) -> tuple[str, str]:
    """Return the scales of both axes.

    That of ranks is logarithmic if they are many or have means, of which the first ten are of most
    interest, and that of precision for rare positives, which a line would hide.
    """
    if chart.is_det:
        return "det", "det"
    scale_x = "linear"
    scale_y = "linear"
    last: list[Any] = [curve.points["x"].max() or 0 for curve in curves]
    if chart.x == "k" and (chart.mean_over or max(last, default=0) > _MANY_RANKS):
        scale_x = "log"
    if chart.is_pr and curves and all(map(_is_rare, curves)):
        scale_y = "log"
    return scale_x, scale_y


def _is_rare(curve: Curve) -> bool:
    """Return whether precision is so low that a line would hide it."""
    if not curve.positives or not curve.rows or curve.area is None:
        return False
    return curve.positives < _RARE * curve.rows and curve.area < _LOW
