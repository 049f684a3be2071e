"""The data of plots as interactive altair charts: values under the pointer, and a legend that selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.plotting.appearance import COLOURS, Appearance, system_numbers, value_text, written
from frame_pr.plotting.axis_quantities import axis_quantity
from frame_pr.plotting.curve_data import DrawnCurve
from frame_pr.plotting.legends import BASELINE, axis_titles
from frame_pr.plotting.marks import marks_of
from frame_pr.plotting.options import PlotOptions

MOST_POINTS = 5000
"""Most points of a curve that are written into a chart."""
_WIDTH, _HEIGHT = 380, 380
"""Pixels of the axes."""
_TOOLTIP = {"threshold": ".6~g", "k": ",", "precision": ".4~f", "recall": ".4~f"}
"""What the pointer shows of a threshold, with the formats of d3."""
_INK = "black"
_FADED = 0.12
"""Opacity of what the legend does not select."""
_MATPLOTLIB_ONLY = (
    *("rectangles", "interpolated", "points", "k", "iso_f", "threshold_labels", "highlight"),
    *("facet", "average", "ax", "figure", "line"),
)
"""Options that matplotlib draws only."""


def check_backend(backend: str, options: Appearance) -> None:
    """Check that altair is there, and that no option is set that only matplotlib draws."""
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
    """The library, which the types of its channels are no help with."""
    return import_module("altair")


def chart_of_curves(
    drawn: Sequence[DrawnCurve],
    names: Sequence[str],
    numbers: Sequence[int],
    colours: Sequence[Any],
    options: PlotOptions,
    log: Sequence[bool],
) -> Any:
    """Draw curves with these names; `numbers`: of their colours, unless the caller has `colours`; `log`: x and y."""
    alt = _altair()
    rows: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    for curve, name in zip(drawn, names, strict=True):
        if not curve.drawn:
            continue
        positive = [pl.col(field) > 0 for field, is_log in zip(("x", "y"), log, strict=True) if is_log]
        points = _thin(curve, options).filter(pl.lit(True), *positive)
        rows += [{"name": name, **row} for row in points.to_dicts()]
        for mark in marks_of(curve, options):
            row = curve.blocks.row(mark.point.row, named=True)
            marks.append({"name": name, "mark": mark.label, **{field: row[field] for field in ("x", "y", *_TOOLTIP)}})
    x_title, y_title = axis_titles(options)
    x, y = (
        _axis(alt, field, title, unit_range=axis_quantity(quantity).unit_range, log=is_log)
        for field, title, quantity, is_log in (
            ("x", x_title, options.x, log[0]),
            ("y", y_title, options.ys[0], log[1]),
        )
    )
    color = _color(alt, "name", names, numbers, colours, options)
    selection = alt.selection_point(fields=["name"], bind="legend", name="legend")
    under = alt.selection_point(on="pointerover", empty=False, clear="pointerout", name="under")
    tooltip = [alt.Tooltip("name:N", title="curve"), *_tooltips(alt)]
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=color)
    faded = alt.condition(selection, alt.value(1), alt.value(_FADED))
    lines = base.mark_line(interpolate=_interpolation(options)).encode(
        detail="name:N", order=alt.Order("k:Q"), opacity=faded
    )
    points = base.mark_point(filled=True, size=70).encode(
        opacity=alt.condition(under & selection, alt.value(1), alt.value(0)), tooltip=tooltip
    )
    layers: list[Any] = [*_references(alt, drawn, options, log), lines.add_params(selection), points.add_params(under)]
    if marks:
        tooltip = [alt.Tooltip("name:N", title="curve"), alt.Tooltip("mark:N"), *_tooltips(alt)]
        layers.append(
            alt.Chart(alt.Data(values=marks))
            .mark_point(shape="diamond", filled=True, size=110)
            .encode(x=x, y=y, color=color, opacity=faded, tooltip=tooltip)
        )
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def chart_of_dots(
    table: pl.DataFrame, keys: Sequence[str], systems: Sequence[Any], title: str, overall: Any, look: Appearance
) -> Any:
    """Draw a dot and its interval for each row of `intervals`, from top to bottom; `keys`: what names a row."""
    alt = _altair()
    names = look.names_of(table.select(map(by_name, keys)))
    of_system = [look.display(value_text(system)) for system in table["system"]] if systems else [""] * len(names)
    fields = ("value", "low", "high", "units")
    rows: list[dict[str, Any]] = [
        {"name": name, "system": system, **row}
        for name, system, row in zip(names, of_system, table.select(fields).to_dicts(), strict=True)
    ]
    selection = alt.selection_point(fields=["system"], bind="legend", name="legend")
    shown_systems = [look.display(value_text(system)) for system in systems]
    numbers = system_numbers([value_text(system) for system in systems])
    colours = [look.colors.get(value_text(system)) for system in systems]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("name:N", sort=list(dict.fromkeys(names)), title=None),
        color=_color(alt, "system", shown_systems, numbers, colours, look) if systems else alt.value(COLOURS[0]),
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
    whiskers = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=written(title), scale=scale), x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(x=alt.X("value:Q", title=written(title), scale=scale))
    layers: list[Any] = [whiskers, dots.add_params(selection)]
    if overall is not None:
        line = alt.Chart(alt.Data(values=[{"x": overall}])).mark_rule(strokeDash=[2, 2])
        layers.insert(0, line.encode(x="x:Q", color=alt.value("gray")))
    return alt.layer(*layers).properties(width=_WIDTH)


def _thin(curve: DrawnCurve, options: PlotOptions) -> pl.DataFrame:
    """At most `MOST_POINTS` thresholds of a curve, denser among the first; steps begin at recall 0."""
    blocks = curve.blocks.filter(pl.col("x").is_not_null() & pl.col("y").is_not_null())
    columns = [pl.col(name).cast(pl.Float64) for name in ("x", "y", *_TOOLTIP)]
    last, most = blocks.height - 1, MOST_POINTS - 2
    if blocks.height > most:
        evenly = [round(last * i / (most // 2)) for i in range(most // 2 + 1)]
        densely = [round((last + 1) ** (i / (most // 2 - 1))) - 1 for i in range(most // 2)]
        blocks = blocks[sorted({*evenly, *densely})]
    blocks = blocks.select(columns)
    start: dict[str, Any] = {}
    if options.is_pr:
        start = {"x": 0.0}
    elif options.is_roc or options.is_gain:
        start = {"x": 0.0, "y": 0.0}
    if start and blocks.height:
        first = blocks.head(1).with_columns(
            *(pl.lit(value).alias(name) for name, value in start.items()), k=pl.lit(0.0)
        )
        blocks = pl.concat([first, blocks])
    return blocks


def _interpolation(options: PlotOptions) -> Any:
    """How a line goes from threshold to threshold, as matplotlib draws it."""
    return "step-before" if options.is_pr else "step-after" if options.x == "threshold" else "linear"


def _axis(alt: Any, field: str, title: str, *, unit_range: bool, log: bool) -> Any:
    scale: dict[str, Any] = {"type": "log", "nice": False} if log else {"zero": False}
    if unit_range and not log:
        scale["domain"] = [0, 1]
    channel = alt.X if field == "x" else alt.Y
    return channel(f"{field}:Q", title=title, scale=alt.Scale(**scale))


def _color(
    alt: Any, field: str, names: Sequence[str], numbers: Sequence[int], wanted: Sequence[Any], look: Appearance
) -> Any:
    """The colours of the names, as matplotlib draws them, and the legend."""
    from matplotlib.colors import to_hex

    palette = [*COLOURS, _INK]
    colours = {
        name: palette[number % len(palette)] if colour is None else to_hex(colour)
        for name, number, colour in zip(names, numbers, wanted, strict=True)
    }
    legend = alt.Legend(title=None, labelLimit=0) if look.legend else None
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend)


def _tooltips(alt: Any) -> list[Any]:
    return [alt.Tooltip(f"{name}:Q", format=form) for name, form in _TOOLTIP.items()]


def _references(alt: Any, drawn: Sequence[DrawnCurve], options: PlotOptions, log: Sequence[bool]) -> list[Any]:
    """The prevalence, or what rankings without knowledge reach, as dotted lines."""
    if not options.baseline:
        return []
    shares = sorted({curve.numbers["prevalence"] for curve in drawn if curve.numbers["prevalence"]})
    references: Mapping[str, Any] = axis_quantity(options.ys[0]).references
    lines: list[tuple[str, list[dict[str, float]]]] = []
    if references:
        steps = [i / 200 for i in range(200)]
        lines = [
            (name, [{"x": t, "y": height(share, t)} for t in steps])
            for name, height in references.items()
            for share in shares
        ]
    elif options.is_roc or options.is_gain or options.is_det:
        diagonal = [10 ** (i / 50 - 4) for i in range(201)] if log[0] else [i / 100 for i in range(101)]
        lines = [("random ranking", [{"x": x, "y": 1 - x if options.is_det else x} for x in diagonal])]
    elif options.is_pr:
        lines = [
            (options.display(BASELINE), [{"x": 1e-9 if log[0] else 0, "y": share}, {"x": 1, "y": share}])
            for share in shares
        ]
    return [
        alt.Chart(alt.Data(values=[{"line": name, **point} for point in points]))
        .mark_line(strokeDash=[2, 3], strokeWidth=1, clip=True)
        .encode(x="x:Q", y="y:Q", color=alt.value("gray"), tooltip="line:N")
        for name, points in lines
    ]
