"""What one axes holds: the looks of its curves, their bands, baselines and contours, and the labels of the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from frame_pr.plotting import lines as artists
from frame_pr.plotting.axes_and_names import plain, written
from frame_pr.plotting.colours import grey, numbered, style
from frame_pr.plotting.curve_frames import FIGURE, Average, DrawnCurve
from frame_pr.plotting.options import PlotOptions
from frame_pr.plotting.texts import count_of, figures_in_label, labelled, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 3
"""Systems whose numbers stand side by side in the legend."""


class Look(NamedTuple):
    """Of one curve."""

    line: dict[str, Any]
    hue: str
    """What its colour tells."""
    group: str | None
    """What its stroke tells, where systems have groups."""


def looks_of(
    ax: Axes, keys: Sequence[dict[str, Any]], lines: Sequence[str], options: PlotOptions, first: int = 0
) -> list[Look]:
    """Colours by system, or by figure, and strokes by group; without either, colours by group."""
    hues = [name for name in ("system", FIGURE) if name in lines][:1]
    groups = [name for name in lines if name not in hues]
    hue, group = ([name_of(key, names) for key in keys] for names in (hues, groups))
    both = len(set(hue)) > 1 and len(set(group)) > 1
    if not both:
        hue = [name_of(key, lines) for key in keys]
    return [
        Look(
            style(ax, first + number, stroke if both else None, options.colors.get(written(name)), options.line),
            name,
            of if both else None,
        )
        for name, of, number, stroke in zip(hue, group, numbered(hue), numbered(group), strict=True)
    ]


def draw_content(
    ax: Axes,
    drawn: Sequence[DrawnCurve | Average],
    labels: Sequence[str],
    looks: Sequence[Look],
    options: PlotOptions,
    label_iso_f: bool = True,
) -> None:
    """All but the texts, which need to know where the rest is."""
    before = artists.curves_in(ax)
    curves = [each for each in drawn if isinstance(each, DrawnCurve)]
    if options.baseline and options.has_chance:
        artists.draw_chance(ax, options, curves)
    elif options.baseline and options.figures == ("precision",):
        shares = [(each.prevalence, look.line["color"]) for each, look in zip(drawn, looks, strict=True)]
        artists.draw_baselines(ax, shares)
    artists.draw_iso_f(ax, options, label_iso_f)
    for each, label, look in zip(drawn, labels, looks, strict=True):
        if isinstance(each, Average):
            artists.draw_average(ax, each, label, options, look.line, len(drawn))
        else:
            artists.draw_curve(ax, each, label, options, look.line)
    if not before and not any(isinstance(each, Average) or each.drawn for each in drawn):
        artists.say(ax, "no positives" if any(curve.blocks.height for curve in curves) else "no rows")


def labels_of(
    ax: Axes, drawn: Sequence[DrawnCurve | Average], names: Sequence[str], keys: Sequence[str], options: PlotOptions
) -> tuple[list[str], str]:
    """The labels of curves in the legend of one axes, and its title: what all have in common stands there."""
    counts = [count_of([each]) for each in drawn]
    title = plain(", ".join(key for key in keys if key != FIGURE))
    shared = len(set(counts)) == 1 and len(drawn) > 1 and not artists.curves_in(ax)
    labels = [
        labelled(name, *figures_in_label(each, options), "" if shared else count)
        for each, name, count in zip(drawn, names, counts, strict=True)
    ]
    return labels, labelled(title, counts[0]) if shared else title


def explain_looks(
    ax: Axes, drawn: Sequence[DrawnCurve | Average], looks: Sequence[Look], keys: Sequence[str], options: PlotOptions
) -> None:
    """Two blocks of the legend: what colours tell, and what strokes tell, with the numbers of the group's curves."""
    colours = {look.hue: look.line["color"] for look in looks}
    strokes = {look.group: look.line.get("linestyle") for look in looks}
    for name, colour in colours.items():
        ax.plot([], [], color=colour, label=name)
    told = figures_in_label(drawn[0], options)[:1] if len(colours) <= _FEW else []
    names = plain(", ".join(key for key in keys if key not in ("system", FIGURE)))
    title = labelled(names, *(one.rpartition(" = ")[0] or one.split(" ")[0] for one in told))
    ax.plot([], [], linestyle="", label=title)[0].set_gid("block")
    for group, stroke in strokes.items():
        own = [each for each, look in zip(drawn, looks, strict=True) if look.group == group]
        values = [figures_in_label(each, options)[0].rpartition(" = ")[2] or "-" for each in own] if told else []
        label = labelled(f"{group}  {', '.join(values)}".rstrip(), count_of(own))
        ax.plot([], [], color=grey(ax, 0.4), linestyle=stroke, label=label)[0].set_gid("block")
