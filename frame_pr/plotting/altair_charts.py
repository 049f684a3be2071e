"""Draw interactive altair charts: with values in tooltips, and a legend that selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.plotting.appearance import COLOURS, Appearance, numbers_in_order, system_numbers, unescape, value_text
from frame_pr.plotting.curve_data import DrawnCurve
from frame_pr.plotting.draw import scale_of
from frame_pr.plotting.facets import columns_of
from frame_pr.plotting.legends import BASELINE, area_texts, axis_titles, marks_of, name_of, with_numbers
from frame_pr.plotting.options import PlotOptions, axis_quantity

MOST_POINTS = 5000
"""The most points of a curve in a chart."""
_WIDTH, _PANEL_WIDTH = 380, 200
"""Pixels of the axes of a chart, and of a panel."""
_TOOLTIP = {"threshold": ".6~g", "k": ",", "precision": ".4~f", "recall": ".4~f"}
"""The columns of a tooltip, with the formats of d3."""
_FADED = 0.12
"""Opacity of curves that the legend does not select."""
_MATPLOTLIB_ONLY = (
    *("rectangles", "interpolated", "points", "k", "iso_f", "threshold_labels", "highlight"),
    *("average", "ax", "figure", "line"),
)
"""Options of matplotlib only."""


def check_backend(backend: str, options: Appearance) -> None:
    """Check that altair is installed, and refuse options of matplotlib."""
    if backend != "altair":
        return
    defaults = type(options)()
    for name in _MATPLOTLIB_ONLY:
        if getattr(options, name, None) != getattr(defaults, name, None):
            option = "properties of lines" if name == "line" else f"{name}="
            raise ValueError(f"{option}: only backend='matplotlib' draws this; leave out {option}, or backend=")
    if "logit" in getattr(options, "scales", ()):
        raise ValueError("xscale= and yscale=: backend='altair' has no logit scale; use 'log' or 'linear'")
    try:
        _altair()
    except ImportError as error:
        raise ImportError('interactive charts need altair: pip install "frame-pr[altair]"') from error


def _altair() -> Any:
    """Import altair, without the types of its channels."""
    return import_module("altair")


class NamedCurve(NamedTuple):
    """A curve with the names of its panel and of itself in the legend, and its title, the name with numbers."""

    panel: str
    name: str
    title: str
    curve: DrawnCurve


def chart_of_curves(
    curves: Sequence[DrawnCurve], keys: Sequence[str], facets: Sequence[str], options: PlotOptions
) -> Any:
    """Draw curves with their marks and lines of reference, with the names, colours and scales of matplotlib."""
    alt = _altair()
    alone = options.label or options.display(options.score) or "curve"
    names = [unescape(name_of(curve.key, keys)) for curve in curves]
    numbers = None if "system" in keys or not keys else numbers_in_order(names)
    hues = colours_by_name([name or options.label or options.score or alone for name in names], options, numbers)
    named_curves = []
    for curve in curves:
        panel = unescape(name_of(curve.key, facets, options.labels))
        name = unescape(name_of(curve.key, keys, options.labels)) or alone
        title = with_numbers(name, *area_texts(curve, options))
        # The numbers of a name differ from panel to panel.
        named_curves.append(NamedCurve(panel, name if facets else title, title, curve))
    colours = dict(zip((curve.name for curve in named_curves), hues, strict=True))
    log = [scale_of(axis, options, curves) == "log" for axis in ("x", "y")]
    channels: dict[str, Any] = {}
    for field, title, name, is_log in zip("xy", axis_titles(options), (options.x, options.ys[0]), log, strict=True):
        domain: dict[str, Any] = {"domain": [0, 1]} if axis_quantity(name).unit_range else {}
        scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, **domain)
        channels[field] = getattr(alt, field.upper())(f"{field}:Q", title=title, scale=scale)
    coloured = channels | {"color": _color(alt, "name", colours, options)}
    selection = alt.selection_point(fields=["name"], bind="legend", name="legend")
    under = alt.selection_point(on="pointerover", empty=False, clear="pointerout", name="under")
    faded = alt.condition(selection, alt.value(1), alt.value(_FADED))
    visible = alt.condition(under & selection, alt.value(1), alt.value(0))
    values = [alt.Tooltip(f"{name}:Q", format=form) for name, form in _TOOLTIP.items()]
    tooltip = [alt.Tooltip("title:N", title="curve"), *values]
    interpolate = "step-before" if options.is_pr else "step-after" if options.x == "threshold" else "linear"
    # The layers share their rows, because panels are a split of one table.
    lines, marks, references = (
        alt.Chart().transform_filter(f"datum.part === '{part}'") for part in ("curve", "mark", "reference")
    )
    layers = [
        references.mark_line(strokeDash=[2, 3], strokeWidth=1, clip=True).encode(
            **channels, color=alt.value("gray"), detail="line:N", tooltip="name:N"
        ),
        lines.mark_line(interpolate=interpolate)
        .encode(**coloured, detail="name:N", order=alt.Order("k:Q"), opacity=faded)
        .add_params(selection),
        lines.mark_point(filled=True, size=70).encode(**coloured, opacity=visible, tooltip=tooltip).add_params(under),
        marks.mark_point(shape="diamond", filled=True, size=110).encode(
            **coloured, opacity=faded, tooltip=[tooltip[0], alt.Tooltip("mark:N"), *tooltip[1:]]
        ),
    ]
    rows = [row for curve in named_curves for row in _rows_of_curve(curve, options, log)]
    side = _PANEL_WIDTH if facets else _WIDTH
    chart = alt.layer(*layers, data=alt.Data(values=rows + _rows_of_references(named_curves, options, log)))
    chart = chart.properties(width=side, height=side)
    if not facets:
        return chart
    panels = list(dict.fromkeys(curve.panel for curve in named_curves))
    return chart.facet(alt.Facet("panel:N", title=None, sort=panels), columns=columns_of(len(panels)))


def chart_of_dots(
    table: pl.DataFrame, keys: Sequence[str], systems: Sequence[Any], title: str, overall: Any, appearance: Appearance
) -> Any:
    """Draw a dot and its interval for each row of `intervals`, from top to bottom; `keys`: what names a row."""
    alt = _altair()
    names = appearance.names_of(table.select(map(by_name, keys)))
    of_system = [appearance.display(value_text(system)) for system in table["system"]] if systems else [""] * len(names)
    table = table.select(pl.Series("name", names), pl.Series("system", of_system), "value", "low", "high", "units")
    selection = alt.selection_point(fields=["system"], bind="legend", name="legend")
    shown_systems = [appearance.display(value_text(system)) for system in systems]
    colours = colours_by_name(list(map(value_text, systems)), appearance)
    base = alt.Chart(alt.Data(values=table.to_dicts())).encode(
        y=alt.Y("name:N", sort=list(dict.fromkeys(names)), title=None),
        color=_color(alt, "system", dict(zip(shown_systems, colours, strict=True)), appearance)
        if systems
        else alt.value(COLOURS[0]),
        opacity=alt.condition(selection, alt.value(1), alt.value(_FADED)),
        tooltip=[
            alt.Tooltip("name:N", title="group"),
            *([alt.Tooltip("system:N")] if systems else []),
            *(alt.Tooltip(f"{field}:Q", format=".4~f") for field in ("value", "low", "high")),
            alt.Tooltip("units:Q", format=","),
        ],
        **({"yOffset": alt.YOffset("system:N", sort=shown_systems)} if systems else {}),
    )
    scale = alt.Scale(zero=False, nice=True)
    whiskers = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=unescape(title), scale=scale), x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(x=alt.X("value:Q", title=unescape(title), scale=scale))
    layers: list[Any] = [whiskers, dots.add_params(selection)]
    if overall is not None:
        line = alt.Chart(alt.Data(values=[{"x": overall}])).mark_rule(strokeDash=[2, 2])
        layers.insert(0, line.encode(x="x:Q", color=alt.value("gray")))
    return alt.layer(*layers).properties(width=_WIDTH)


def _rows_of_curve(named: NamedCurve, options: PlotOptions, log: Sequence[bool]) -> list[dict[str, Any]]:
    """Return the rows of a curve: its thresholds, and its marks."""
    curve = named.curve
    if not curve.has_points:
        return []
    names = {"panel": named.panel, "name": named.name, "title": named.title}
    positive = [pl.col(field) > 0 for field, is_log in zip("xy", log, strict=True) if is_log]
    rows = [{"part": "curve"} | names | row for row in _thin(curve, options).filter(pl.lit(True), *positive).to_dicts()]
    blocks = curve.blocks.select("x", "y", *_TOOLTIP)
    for mark in marks_of(curve, options):
        rows.append({"part": "mark", "mark": mark.label} | names | blocks.row(mark.point.row, named=True))
    return rows


def _thin(curve: DrawnCurve, options: PlotOptions) -> pl.DataFrame:
    """Return at most `MOST_POINTS` thresholds of a curve, denser at the first ranks. Steps begin at recall 0."""
    blocks = curve.blocks.select(pl.col("x", "y", *_TOOLTIP).cast(pl.Float64)).drop_nulls(["x", "y"])
    last, most = blocks.height - 1, MOST_POINTS - 2
    if blocks.height > most:
        evenly = [round(last * i / (most // 2)) for i in range(most // 2 + 1)]
        densely = [round((last + 1) ** (i / (most // 2 - 1))) - 1 for i in range(most // 2)]
        blocks = blocks[sorted({*evenly, *densely})]
    from_zero = "x" if options.is_pr else "xy" if options.is_roc or options.is_gain else ""
    first = blocks.head(1 if from_zero else 0).with_columns(**dict.fromkeys([*from_zero, "k"], 0.0))
    return pl.concat([first, blocks])


def _rows_of_references(
    curves: Sequence[NamedCurve], options: PlotOptions, log: Sequence[bool]
) -> list[dict[str, Any]]:
    """Return the rows of the lines of reference in each panel, such as the prevalence."""
    if not options.baseline:
        return []
    shares = dict.fromkeys((named.panel, share) for named in curves if (share := named.curve.numbers["prevalence"]))
    references: Mapping[str, Any] = axis_quantity(options.ys[0]).references
    lines: list[tuple[str, str, list[dict[str, float]]]] = []
    if references:
        lines = [
            (panel, name, [{"x": i / 200, "y": height(share, i / 200)} for i in range(200)])
            for name, height in references.items()
            for panel, share in shares
        ]
    elif options.has_chance_line:
        diagonal = [10 ** (i / 50 - 4) for i in range(201)] if log[0] else [i / 100 for i in range(101)]
        points = [{"x": x, "y": 1 - x if options.is_det else x} for x in diagonal]
        lines = [(panel, "random ranking", points) for panel in dict.fromkeys(named.panel for named in curves)]
    elif options.is_pr:
        lines = [
            (panel, BASELINE, [{"x": 1e-9 if log[0] else 0, "y": share}, {"x": 1, "y": share}])
            for panel, share in shares
        ]
    return [
        {"part": "reference", "panel": panel, "line": i, "name": options.display(name), **point}
        for i, (panel, name, points) in enumerate(lines)
        for point in points
    ]


def colours_by_name(systems: Sequence[str], appearance: Appearance, numbers: Sequence[int] | None = None) -> list[str]:
    """Return the colours of curves: the caller's, or those of matplotlib. `numbers`: of curves that are no systems."""
    from matplotlib.colors import to_hex

    palette = [*COLOURS, "black"]
    return [
        to_hex(appearance.colors.get(system, palette[number % len(palette)]))
        for system, number in zip(systems, system_numbers(systems) if numbers is None else numbers, strict=True)
    ]


def _color(alt: Any, field: str, colours: Mapping[str, str], appearance: Appearance) -> Any:
    """Return the channel of the colours, with the legend."""
    legend = alt.Legend(title=None, labelLimit=0) if appearance.legend else None
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend)
