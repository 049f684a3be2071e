"""`plot`: precision-recall, ROC, gain, lift, cost and threshold curves, in one axes or in panels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

from frame_pr.frames.arguments import public_result
from frame_pr.frames.dispatch import read_stream
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.frames.words import keyword_hint
from frame_pr.inputs.options import REFUSED, Column, Columns, LabelOptions, Options, options_in
from frame_pr.plotting import draw
from frame_pr.plotting.curve_artists import Chart, draw_curves, scales_of
from frame_pr.plotting.curve_data import (
    Y_KEY,
    Curve,
    CurveOptions,
    Curves,
    ScoredRows,
    curve_options,
    curves_of_result,
    curves_of_rows,
    has_unit_range,
    mean_curves,
    quantity_title,
)
from frame_pr.plotting.draw import Style, StyleArguments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES, _MOST_BEHIND = 10, 200
"""The most curves in one axes, and with `highlight=`."""
_NUMBERED = 4
"""The most curves of a panel with numbers in the panel."""


class PlotArguments(StyleArguments, LabelOptions, total=False):
    """More arguments of `plot`. At run time, every property of matplotlib's Line2D is one, too."""

    baseline: bool
    alpha: float | None
    color: Any
    linestyle: Any
    linewidth: float | None
    marker: Any
    markersize: float


@public_result(REFUSED["plot"], options=PlotArguments, others=True)
def plot(
    frame: Frame,
    /,
    truth: Column | None = None,
    score: Columns | None = None,
    *,
    by: Columns | None = None,
    positive: object = None,
    x: str = "recall",
    y: str | Sequence[str] = "precision",
    facet: bool | str | Sequence[str] = False,
    average: bool | str | Sequence[str] = False,
    interpolated: bool = False,
    rectangles: bool = False,
    mark: float | str | Sequence[float | str] | None = None,
    highlight: int | str | Sequence[Any] | None = None,
    **options: Unpack[PlotArguments],
) -> Axes | Any:
    """Draw precision-recall curves, or ROC, gain, lift, cost and threshold curves: one per group.

    Draw scored rows, or without `truth` and `score` a frame that `curve` gave.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, or the result of `curve`. The frame is not changed.
    truth : str or polars expression, optional
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several; optional
        Score of each row. Higher scores rank first, unless `ascending`. Several scores give one
        curve each.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Each group has its own curve.
    positive : optional
        The positive label of `truth`.
    x : str
        Quantity on the x axis: a rate such as "recall" (the default) or "fpr", or "threshold", "k"
        or "share" (of the rows). `x="fpr", y="recall"` is the ROC curve, `x="share", y="recall"`
        the gain curve.
    y : str or list of str
        Quantity on the y axis: a rate such as "precision" (the default), "lift" or "cost10" (a
        missed positive costs as much as 10 false alarms), or with `x="threshold"` "net_benefit".
        Several quantities give one curve each.
    facet : bool, str or list of str
        Draw a panel for each group of these key columns. True: of all keys but `system`.
    average : bool, str or list of str
        Average the curves over these key columns, see `average_curve`. True: over all keys but
        `system`. The band is the confidence interval of the mean.
    interpolated : bool
        Add the envelope: the maximum precision at this or any later threshold.
    rectangles : bool
        Fill the rectangle under each step. The total area is the average precision.
    mark : float, str, or several
        Mark points: a threshold such as 0.5, a cutoff such as "recall=0.8", "precision=0.9" or
        "k=10", or a best value such as "max_f1" or "min_cost10".
    highlight : int, str or list, optional
        Names of curves, or how many of the best and of the worst, in colour. All others are thin
        and grey.
    baseline : bool
        Draw the value of a random ranking, such as the prevalence, as a dotted line. Default True.
    colors : dict, optional
        Colours by the name of a system, or of a group. Other colours follow the order of the keys.
    labels : dict, optional
        Labels by name: of systems, groups, key columns and rates.
    legend : bool
        Whether to draw the legend. Default True.
    ax : matplotlib Axes, optional
        The axes to draw in; with `facet`, one for each panel. Default: a new figure.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Refused: `ties="expected"`. All other keywords are properties of the lines, such as `color`,
        `linewidth`, `linestyle` and `alpha`.

    Returns
    -------
    matplotlib Axes
        With `facet`, a numpy array with the axes of each panel.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError, TypeError
        An argument is wrong, there are too many groups, or a column is missing, of the wrong type,
        or has missing values.

    See Also
    --------
    curve, average_curve, plot_scores, plot_intervals

    Notes
    -----
    The precision-recall curve consists of steps, because average precision is a sum over steps, and
    it does not begin at recall 0 and precision 1. The legend has the area (`AP` or `AUC`) and P,
    the number of positives. Groups without positives have no curve. Limits, titles and scales are
    methods of the axes that come back.

    References
    ----------
    Davis and Goadrich (2006). The relationship between precision-recall and ROC curves. ICML,
    233-240. https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> from matplotlib.figure import Figure
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> ax = fp.plot(run, "relevant", "score", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'score (AP = 0.92, 3 positives)'
    """
    row_options = cast(LabelOptions, options_in(options))
    arguments = {
        "x": x,
        "y": y,
        "facet": facet,
        "average": average,
        "interpolated": interpolated,
        "mark": mark,
    }
    arguments |= {
        "rectangles": rectangles,
        "highlight": highlight,
        "baseline": options.get("baseline", True),
    }
    selection = curve_options(arguments, score)
    style = Style.of(options, panels=bool(selection.facet))
    line = _line_properties(
        {name: value for name, value in options.items() if name not in _OPTIONS}
    )
    if truth is None and score is None:
        if selection.average or by is not None or row_options:
            raise TypeError(
                "average=, by= and options need truth and score: without them, plot draws a frame of curve"
            )
        data = curves_of_result(frame, selection)
    elif truth is None or score is None:
        raise TypeError(
            "plot takes truth and score for scored rows, or neither for a frame that curve gave"
        )
    else:
        rows = ScoredRows(read_stream(frame), truth, score, by, positive, row_options)
        data = (mean_curves if selection.average else curves_of_rows)(rows, selection)
    facets = _facets(selection.facet, data.keys)
    label = "" if positive is None else draw.shorten(draw.value_text(positive), 20)
    chart = Chart(selection, style, line, label, scales_of(data.curves, selection))
    return _draw_panels(data, facets, chart) if facets else _draw_axes(data, chart)


_OPTIONS = {*Options.__annotations__, *StyleArguments.__annotations__, "baseline"}
_NAMES = [*inspect.signature(plot).parameters, *_OPTIONS]


def _line_properties(line: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the properties of lines before anything is computed."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    properties: dict[str, Any] = normalize_kwargs(dict(line), Line2D)
    for name, value in properties.items():
        if not hasattr(Line2D, f"set_{name}"):
            hint = (
                keyword_hint(name, _NAMES) or "other keywords are properties of matplotlib's Line2D"
            )
            raise TypeError(f"plot has no argument {shown(name)}; {hint}")
        try:
            Line2D([], [], **{name: value})
        except Exception:  # Each property raises errors of its own types.
            raise ValueError(
                f"{name}: {shown(value)} is no {name} of a line in matplotlib; the page of its Line2D has the values"
            ) from None
    return properties


def _facets(facet: bool | tuple[str, ...], keys: Sequence[str]) -> list[str]:
    """Return the keys of panels. True: all but `system`."""
    if not facet:
        return []
    names = (
        [key for key in keys if key != "system"] or list(keys)
        if facet is True
        else list(facet or ())
    )
    if not names:
        raise ValueError(
            "facet=True needs a group for each panel: name columns, by=..., that average= leaves"
        )
    for name in names:
        if name not in keys:
            raise ValueError(
                f"facet: {shown(name)} is no key; there are {', '.join(keys) or 'none, give by='}"
            )
    return names


class _Names(NamedTuple):
    """The names of the curves of a plot, and what their colours and line styles show."""

    names: list[str]
    hues: list[str]
    strokes: list[str]
    title: str
    """The names of the keys."""

    def of(self, numbers: Sequence[int]) -> _Names:
        """Return the names of these curves."""
        names, hues, strokes = (
            [texts[i] for i in numbers] for texts in (self.names, self.hues, self.strokes)
        )
        return _Names(names, hues, strokes, self.title)


def _names(
    curves: Sequence[Curve], keys: Sequence[str], options: CurveOptions, style: Style
) -> _Names:
    """Name the curves. Colours show systems or quantities and line styles groups, if there are several of both."""
    keys = [*keys, *([Y_KEY] if len(options.ys) > 1 else [])]
    # A key with a single value does not distinguish curves.
    keys = [key for key in keys if len({curve.key[key] for curve in curves}) > 1] or keys[:1]

    def join(curve: Curve, names: Sequence[str]) -> str:
        return ", ".join(
            style.title(curve.key[key]) if key == Y_KEY else style.label(curve.key[key])
            for key in names
        )

    colour = [key for key in ("system", Y_KEY) if key in keys][:1]
    others = [key for key in keys if key not in colour]
    if not colour or not others:
        colour, others = keys, []
    title = ", ".join(style.label(key) for key in keys if key not in (Y_KEY, "system"))
    names = [join(curve, keys) or style.label(options.score) for curve in curves]
    return _Names(
        names,
        [join(curve, colour) for curve in curves],
        [join(curve, others) for curve in curves],
        title,
    )


def _styles(ax: Axes, curves: Sequence[Curve], names: _Names, chart: Chart) -> list[dict[str, Any]]:
    """Return the properties of the line of each curve. Colours follow the order of the names."""
    style, colours, first = chart.style, draw.palette(ax), draw.curves_in(ax)
    hues, strokes = (list(dict.fromkeys(texts)) for texts in (names.hues, names.strokes))
    style.check_colors(
        [value for curve in curves for value in curve.key.values()] or [chart.options.score]
    )
    properties = []
    for curve, name, hue, stroke in zip(
        curves, names.names, names.hues, names.strokes, strict=True
    ):
        number = first + hues.index(hue)
        dash = draw.DASHES[
            (strokes.index(stroke) if len(strokes) > 1 else number // len(colours))
            % len(draw.DASHES)
        ]
        colour = style.color_of([*curve.key.values(), name], ax, number)
        properties.append({"color": colour, "linestyle": dash, **chart.line})
    return properties


def _area_text(curve: Curve, options: CurveOptions) -> str:
    """Return the areas of a curve, such as `AP = 0.78`."""
    if curve.area is None:
        return ""
    title = "AUC" if options.is_roc else "AP"
    if curve.groups is not None:
        title = "mean interpolated AP" if options.interpolated else "mean AP"
    text = draw.number_text(curve.area)
    if curve.envelope_area is None:
        return f"{title} = {text}"
    digits = 2 if text != draw.number_text(curve.envelope_area) else 3
    raw, best = (draw.number_text(area, digits) for area in (curve.area, curve.envelope_area))
    return f"{title} = {raw}, interpolated {best}"


def _with_numbers(name: str, *numbers: str) -> str:
    """Return a name with its numbers in brackets."""
    text = ", ".join(filter(None, numbers))
    return f"{name} ({text})" if name and text else name or text


def _labels(curves: Sequence[Curve], names: _Names, chart: Chart) -> tuple[list[str], str]:
    """Return the labels of the curves, and the title of the legend with the number that all curves share."""
    sizes = [curve.size_text for curve in curves]
    options = chart.options
    if len(set(sizes)) == 1:
        # The number that all curves share is in the title, in words.
        number = sizes[0].removeprefix("P = ")
        shared = f"{number} positive{'s' * (number != '1')}" if number != sizes[0] else sizes[0]
        sizes = [shared if len(curves) == 1 else ""] * len(curves)
        title = _with_numbers(names.title, "" if len(curves) == 1 else shared)
    else:
        title = _with_numbers(names.title, "P: positives")
    labels = [
        _with_numbers(name, _area_text(curve, options), size)
        for name, curve, size in zip(names.names, curves, sizes, strict=True)
    ]
    return labels, title


def _check_number(n: int, most: int, keys: Sequence[str]) -> None:
    """Refuse more curves in one axes than can be told apart."""
    if n > most:
        hint = "facet=True draws small multiples, average=True their mean, highlight=3 the best and the worst in colour"
        raise ValueError(
            f"{n} curves in one axes are more than {most}: {hint if keys else 'give fewer of y='}; or filter the groups"
        )


def _draw_axes(data: Curves, chart: Chart) -> Axes:
    """Draw all curves into one axes. A new figure is no wider than square axes need."""
    from matplotlib import rcParams

    options, style = chart.options, chart.style
    curves = data.curves
    names = _names(curves, data.keys, options, style)
    highlighted = (
        list(range(len(curves)))
        if options.highlight is None
        else _highlighted(curves, names.names, options)
    )
    others = [curve for i, curve in enumerate(curves) if i not in highlighted]
    _check_number(
        len(curves), _MOST_CURVES if options.highlight is None else _MOST_BEHIND, data.keys
    )
    curves = [curves[i] for i in highlighted]
    names = names.of(highlighted)
    square = all(map(has_unit_range, (options.x, options.ys[0])))
    width, height = rcParams["figure.figsize"]
    with draw.axes_of(
        style, (min(width, 1.02 * height) if square else width, height), square=square
    ) as ax:
        labels, title = _labels(curves, names, chart)
        lines = _styles(ax, curves, names, chart)
        ax.set(**dict(zip(("xlabel", "ylabel"), _titles(chart), strict=True)))
        draw_curves(ax, curves, labels, lines, chart, others)
        if data.without_positives and data.keys:
            draw.add_entry(ax, _without(data.without_positives, style), linestyle="")
        draw.draw_legend(ax, style, title, most_inside=0 if others else draw.INSIDE)
    return ax


def _without(keys: Sequence[tuple[Any, ...]], style: Style) -> str:
    """Return the names of groups that have no curve."""
    names = [style.join(key) for key in keys[:3]]
    return f"no positives: {', '.join(names)}" + (
        f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    )


def _titles(chart: Chart) -> tuple[str, str]:
    """Return the titles of both axes."""
    options, style = chart.options, chart.style
    x = style.label(options.x, quantity_title(options.x))
    if chart.positive and options.x not in ("k", "share", "threshold"):
        x += f" (positive: {chart.positive})"
    return x, ", ".join(style.label(y, quantity_title(y)) for y in options.ys[:3])


def _highlighted(curves: Sequence[Curve], names: Sequence[str], options: CurveOptions) -> list[int]:
    """Return the highlighted curves, in the order of `highlight=` or of their areas."""
    highlight = options.highlight
    if isinstance(highlight, int):
        if options.area is None:
            raise ValueError(
                "highlight: these curves have no area to rank them by; give names of curves"
            )
        ranked = sorted(range(len(curves)), key=lambda i: -(curves[i].area or 0))
        return list(dict.fromkeys([*ranked[:highlight], *ranked[-highlight:]]))
    for name in highlight or ():
        if name not in names:
            near = nearest(name, names)
            hint = did_you_mean(near) if near else f"there are {', '.join(names)}"[:200]
            raise ValueError(f"highlight: {shown(name)} is none of the curves; {hint}")
    return [names.index(name) for name in highlight or ()]


def _draw_panels(data: Curves, facets: Sequence[str], chart: Chart) -> Any:
    """Draw a panel for each group of the keys of `facets`."""
    import numpy as np

    options, style = chart.options, chart.style
    if not data.curves:
        raise ValueError("facet: no group has positives, so there is no curve to draw")
    panels: dict[tuple[Any, ...], list[Curve]] = {}
    for curve in data.curves:
        panels.setdefault(tuple(curve.key[key] for key in facets), []).append(curve)
    lines = [key for key in data.keys if key not in facets]
    _check_number(max(map(len, panels.values())), _MOST_CURVES, data.keys)
    names = _names(data.curves, lines, options, style)
    several = len(set(names.names)) > 1
    last = {key[-1] for key in panels}
    columns = len(last) if len(facets) == 2 and 1 < len(last) <= 4 else None
    with draw.panels_of(style, len(panels), (2.3, 2.5), columns) as axes:
        styles = _styles(axes[0], data.curves, names, chart)
        places = {id(curve): i for i, curve in enumerate(data.curves)}
        for ax, (key, curves) in zip(axes, panels.items(), strict=True):
            numbers = [places[id(curve)] for curve in curves]
            labels = [names.names[i] if several else "_curve" for i in numbers]
            draw_curves(ax, curves, labels, [styles[i] for i in numbers], chart, in_panel=True)
            _title_panel(ax, key, facets, curves, chart, several=several)
        draw.title_figure(axes, style, *_titles(chart))
        draw.draw_figure_legend(axes, style, names.title if several else "")
    return np.array(axes, dtype=object)


def _title_panel(
    ax: Axes,
    key: tuple[Any, ...],
    facets: Sequence[str],
    curves: Sequence[Curve],
    chart: Chart,
    *,
    several: bool,
) -> None:
    """Write the group above a panel, with its numbers; the numbers of several curves are in a legend of the panel."""
    style = chart.style
    is_text = [isinstance(value, str) for value in key]
    texts = [
        style.label(value) if text else f"{style.label(name)} {style.label(value)}"
        for value, name, text in zip(key, facets, is_text, strict=True)
    ]
    sizes = {curve.size_text for curve in curves}
    size = sizes.pop() if len(sizes) == 1 else ""
    title = draw.shorten(", ".join(texts), 28)
    if not several:
        marks = [mark.text for mark in curves[0].marks]
        title = "\n".join(
            [title, ", ".join(filter(None, [_area_text(curves[0], chart.options), size])), *marks]
        )
    else:
        title = _with_numbers(title, size)
        areas = [_area_text(curve, chart.options).rpartition(" = ")[2] for curve in curves]
        lines = [line for line in ax.get_lines() if line.get_gid() == draw.CURVE]
        if any(areas) and len(curves) <= _NUMBERED and style.legend and len(lines) == len(areas):
            title_of = "AUC" if chart.options.is_roc else "AP"
            ax.legend(
                lines,
                areas,
                title=title_of,
                fontsize="x-small",
                title_fontsize="x-small",
                handlelength=1,
            )
    ax.set_title(title.strip(), fontsize="small")
