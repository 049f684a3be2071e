"""The style of all plots: arguments, figures, panels, colours, legends and texts.

The unit of all sizes is the font size, see `em`. The layout engine of matplotlib gives texts their
room; a text that is too wide is measured and broken into lines, see `fit`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import textwrap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from frame_pr.frames.arguments import check_flag
from frame_pr.frames.messages import kind_of_value, shown, warn
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import is_rate, rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Near the colours of Okabe and Ito. Each has a contrast of at least 3 with white, and any two of
# them differ by 20 in CIE Lab, also with protanopia and deuteranopia. The seventh colour is that of
# text. Their greys are alike, so three curves and more have dashes, too.
COLOURS = ("#19669B", "#C98602", "#1C926A", "#B34102", "#C57CA8", "#0D9DDD")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (2.2, 1.2)),
    (0, (8, 1.5, 1.5, 1.5)),
    (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)),
)
Properties: TypeAlias = dict[str, Any]
"""Properties of an artist of matplotlib by name."""
CURVE = "curve"
SHARED = "shared"
"""The `gid` of lines with a colour of their own, and of legend entries about the whole plot, which
come last.
"""
GREY = "0.5"
"""A grey that contrasts with light and with dark backgrounds."""
REFERENCE: Properties = {"color": GREY, "linestyle": ":", "linewidth": 1}
"""The line of what the data are compared with, such as a random ranking."""
MOST_PANELS = 100
IN_A_ROW = 4
"""The most panels in a row."""
INSIDE = 6
"""The most entries of a legend inside the axes."""
LETTERS = 40
"""The most letters of a name in a plot, and of a line of a legend."""
LEGEND: Properties = {
    "fontsize": "small",
    "title_fontsize": "small",
    "alignment": "left",
    "handlelength": 2.6,
}
_MOST_OF_AXES = 0.33
"""The share of the height of axes that a legend inside may take."""
_NARROW = 25
"""The width in em of the caller's axes that have room for a legend inside."""
_BRIGHT = 0.18
"""The luminance above which black text is easier to read than white text."""


def import_matplotlib() -> None:
    """Import matplotlib, or raise an error with the command that installs it."""
    try:
        import_module("matplotlib.colors")
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "frame_pr[plot]"') from error


class Style(NamedTuple):
    """The values of the arguments of all plots. Names of `colors` and `labels` are texts."""

    colors: Mapping[str, Any]
    labels: Mapping[str, str]
    legend: bool
    axes: Sequence[Axes]
    """The caller's axes. Empty: a new figure."""

    @classmethod
    def of(
        cls,
        arguments: Mapping[str, Any],
        *,
        panels: bool = False,
    ) -> Style:
        """Validate the arguments before anything is computed.

        `panels`: whether the plot has several axes.
        """
        import_matplotlib()
        from matplotlib.colors import is_color_like

        colors = _by_text("colors", arguments.get("colors"), "{'old': '0.5'}")
        for name, colour in colors.items():
            if not is_color_like(colour):
                raise ValueError(
                    f"colors: {shown(colour)}, for {shown(name)}, is no colour of matplotlib"
                )
        return cls(
            colors=colors,
            labels=_by_text("labels", arguments.get("labels"), "{'s1': 'Baseline'}"),
            legend=check_flag("legend", arguments.get("legend", True)),
            axes=_axes(arguments.get("ax"), panels=panels),
        )

    def label(
        self,
        name: Any,
        default: str | None = None,
    ) -> str:
        """Return the label of a name or value, as matplotlib draws it."""
        text = value_text(name)
        if default is None:
            default = text
        return as_drawn(shorten(str(self.labels.get(text, default))))

    def join(self, values: Iterable[Any]) -> str:
        """Return the label of a group: the labels of the values of its keys."""
        return ", ".join(map(self.label, values))

    def title(self, metric: str) -> str:
        """Return the label of a metric or rate as the title of an axis."""
        return self.label(metric, metric_title(value_text(metric)))

    def color_of(
        self,
        names: Iterable[Any],
        number: int,
    ) -> Any:
        """Return the caller's colour for the first name that has one, or that of the number."""
        from matplotlib.colors import to_hex

        for text in map(value_text, names):
            if text in self.colors:
                return self.colors[text]
        # A colour of the caller belongs to one name.
        taken = set(map(to_hex, self.colors.values()))
        colours = [each for each in palette() if to_hex(each) not in taken] or palette()
        return colours[number % len(colours)]

    def check_colors(self, names: Iterable[Any]) -> None:
        """Refuse `colors` if it has none of the names of the plot."""
        texts = list(dict.fromkeys(map(value_text, names)))
        if self.colors and texts and not set(texts) & set(self.colors):
            raise ValueError(f"colors has no name of this plot, which has {', '.join(texts[:5])}")


def _by_text(
    argument: str,
    value: Any,
    example: str,
) -> Properties:
    """Validate a dict by names, and return it by their texts."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} takes a dict such as {example}; got {shown(value)}")
    return {value_text(name): entry for name, entry in value.items()}


def _axes(ax: Any, *, panels: bool) -> list[Any]:
    """Validate `ax`, which may be an array of axes for panels."""
    import numpy as np
    from matplotlib.axes import Axes

    if ax is None:
        return []
    axes = list(np.ravel(np.array(ax, dtype=object))) if panels else [ax]
    if not axes or not all(isinstance(each, Axes) for each in axes):
        raise TypeError(f"ax must be a matplotlib Axes, got {kind_of_value(ax)}")
    return axes


# Sizes, figures and panels


def em() -> float:
    """Return the size of the caller's font in inches."""
    from matplotlib import rcParams

    return float(rcParams["font.size"]) / 72


def least_size() -> float:
    """Return the size of the smallest letters in points."""
    return max(5.5, 0.6 * 72 * em())


def line_size(figure: Any, room: float) -> tuple[float, int]:
    """Return the size of texts in lines of so many pixels, and how many lines one of them takes."""
    points = room / figure.dpi * 72 / 1.1
    size = max(least_size(), min(0.83 * 72 * em(), points))
    return size, max(1, math.ceil(size / points - 0.1))


def lasting_sizes(axes: Sequence[Axes], style: Style) -> list[tuple[float, float]]:
    """Return the sides of axes in pixels, less what other plots of the caller may take.

    Each figure is laid out once: `plot_confusion` of 24 groups takes 1 s, and would take 16 s with
    a layout for each panel.
    """
    for figure in dict.fromkeys(map(figure_of, axes)):
        figure.draw_without_rendering()
    sizes = []
    for ax in axes:
        share = 0.8 if style.axes and len(figure_of(ax).axes) > 1 else 1.0
        box: Any = ax.get_window_extent()
        sizes.append((share * box.width, share * box.height))
    return sizes


def figure_of(ax: Axes) -> Any:
    """Return the whole figure of axes, which may lie in a part of it."""
    figure: Any = ax.figure
    return figure.figure


def _check_panels(n: int, available: int) -> None:
    """Refuse panels without axes of the caller, and too many panels of a new figure."""
    if 0 < available < n:
        raise ValueError(
            f"ax: {n} panels need as many axes, and there are {available}; leave out ax="
        )
    if n > MOST_PANELS and not available:
        raise ValueError(f"{n} panels are more than {MOST_PANELS}: filter the groups")


@contextmanager
def axes_of(
    style: Style,
    n: int = 1,
    size: tuple[float, float] = (11, 7),
    *,
    square: bool = False,
    ratio: float = 0.0,
    columns: int = IN_A_ROW,
    shared: str = "xy",
    linked: str = "",
) -> Generator[list[Axes]]:
    """Yield the caller's axes, or those of a new figure of the caller's width.

    One axes have the caller's height. `size`: the least width of a panel, if one fits, and its
    height, in em; the height grows by the width times `ratio`. `square`: whether axes are as wide
    as high. Of the axes in `shared`, only the outer ones have numbers; those in `linked` have
    common limits. An error closes the figure.
    """
    import matplotlib.pyplot as plt

    _check_panels(n, len(style.axes))
    if style.axes:
        axes = list(style.axes[:n])
        yield axes
        _fit_titles(axes, style)
        return
    width, height = plt.rcParams["figure.figsize"]
    least_width, panel_height = (ems * em() for ems in size)
    fitting = max(1, min(columns, int(width / least_width)))
    # Rows of equal length, if possible.
    columns = math.ceil(n / math.ceil(n / fitting))
    rows = math.ceil(n / columns)
    if n > 1:
        height = rows * (panel_height + ratio * width / columns) + 3 * em()
    elif square:
        width = min(width, 1.02 * height)
    layout: Any = "compressed" if square and n == 1 else "constrained"
    figure = plt.figure(figsize=(width, height), layout=layout)
    try:
        axes = []
        for place in range(n):
            links: Properties = {f"share{name}": axes[0] for name in linked if axes}
            ax = figure.add_subplot(rows, columns, place + 1, **links)
            ax.set_box_aspect(1 if square else None)
            ax.spines[["top", "right"]].set_visible(False)
            axes.append(ax)
            if n > 1:
                is_last = place >= n - columns or "x" not in shared
                is_first = place % columns == 0 or "y" not in shared
                _set_ticks(ax, below=is_last, left=is_first)
        yield axes
    except BaseException:
        plt.close(figure)
        raise


def _fit_titles(axes: Sequence[Axes], style: Style) -> None:
    """Write titles of the caller's axes in smaller letters, or break them, where the axes end."""
    from matplotlib.ticker import MaxNLocator

    for ax in axes:
        # The title of the axes before has changed the layout.
        (sides,) = lasting_sizes([ax], style)
        # A legend below has left less room for numbers.
        is_full = ax.yaxis.get_tick_space() < len(ax.get_yticks()) - 1
        if is_full and type(ax.yaxis.get_major_locator()) is MaxNLocator:
            fewer_ticks(ax.yaxis, 6)
        for axis, room in zip((ax.xaxis, ax.yaxis), sides, strict=True):
            title: Any = axis.label
            share = 0.9 * room / max(1.0, text_width(ax, title.get_text(), title.get_fontsize()))
            if share < 1:
                title.set_fontsize(max(least_size(), share * title.get_fontsize()))
                if title.get_fontsize() == least_size():
                    title.set_text(fit(ax, title.get_text(), room, least_size()))


def _set_ticks(
    ax: Axes,
    *,
    below: bool,
    left: bool,
) -> None:
    """Set the size of the numbers of a panel, and on which sides they are."""
    ax.tick_params(labelsize="small", pad=0.35 * em() * 72, labelbottom=below, labelleft=left)
    # The layout of many panels takes most of its time for ticks.
    ax.spines[:].set_in_layout(False)
    ax.xaxis.set_in_layout(below)
    ax.yaxis.set_in_layout(left)


def one_or_all(axes: Sequence[Axes], *, several: bool = False) -> Any:
    """Return the only axes, or panels as an array.

    `several`: whether the caller asked for panels.
    """
    import numpy as np

    if len(axes) == 1 and not several:
        return axes[0]
    return np.array(axes, dtype=object)


def title_panels(
    axes: Sequence[Axes],
    style: Style,
    x: str,
    y: str,
) -> None:
    """Write the titles of all panels: once, or at the last row and the first column."""
    if len(axes) == 1:
        axes[0].set(xlabel=x, ylabel=y)
        return
    if not style.axes:
        figure: Any = axes[0].figure
        figure.supxlabel(x, fontsize="medium")
        figure.supylabel(y, fontsize="medium")
        return
    for ax in axes:
        place = ax.get_subplotspec()
        if place is None or place.is_last_row():
            ax.set_xlabel(x)
        if place is None or place.is_first_col():
            ax.set_ylabel(y)


# Legends


def draw_legend(
    axes: Sequence[Axes],
    style: Style,
    title: str = "",
    names: Mapping[str, str] = MappingProxyType({}),
    *,
    most_inside: int = INSIDE,
    most_below: float = 0.45,
) -> None:
    """Draw the legend inside of large axes, else below them, or above panels.

    A new figure becomes higher for it. In the caller's panels the first one has it. `names`: short
    labels, for axes without room. `most_below`: the share of their height that it may take.
    """
    axes = axes[:1] if style.axes else axes
    entries = legend_entries(axes)
    if not entries or not style.legend:
        return
    figure = figure_of(axes[0])
    pixels = em() * figure.dpi
    lines = len(entries) + bool(title)
    box: Any = axes[0].get_window_extent()
    is_small = 1.2 * lines * pixels > _MOST_OF_AXES * box.height
    # The text of a legend is wide, and would cover most of narrow axes.
    is_small |= bool(style.axes) and box.width < _NARROW * pixels
    if len(axes) == 1 and len(entries) <= most_inside and not is_small:
        labels = map(wrap, entries)
        axes[0].legend(entries.values(), labels, title=wrap(title) or None, **LEGEND)
    elif style.axes:
        _legend_below(axes[0], style, entries, title, names, most_below)
    else:
        side = "lower" if len(axes) == 1 else "upper"
        room = figure.bbox.width - 2 * pixels
        legend = _in_columns(figure, entries, title, room, loc=f"outside {side} left")
        height = legend.get_window_extent().height / figure.dpi
        figure.set_figheight(figure.get_figheight() + height)


def _legend_below(
    ax: Axes,
    style: Style,
    entries: Mapping[str, Any],
    title: str,
    names: Mapping[str, str],
    most: float,
) -> None:
    """Draw the legend into the place of the caller's axes, which become smaller by its height.

    A legend that is too high gets small letters, then short names, and then no numbers. A figure
    without a layout engine gets a tight layout.
    """
    ((room, _),) = lasting_sizes([ax], style)
    height: float = ax.get_window_extent().height
    least = least_size()
    small = max(least, 0.69 * 72 * em())
    for size, letters, numbered in (
        (small, LETTERS, True),
        (least, LETTERS, True),
        (least, 14, True),
        (least, 15, False),
        (least, 11, False),
    ):
        labels: Properties = {}
        for label, handle in entries.items():
            name = names.get(label) or label
            if not _is_shared(handle):
                short = shorten(name, letters)
                labels[label.replace(name, short) if numbered else short] = handle
            else:
                labels[label if numbered else label.partition(" (")[0]] = handle
        legend = _in_columns(
            ax,
            labels,
            title * numbered,
            room,
            loc="lower left",
            fontsize=size,
            title_fontsize=size,
            handlelength=2,
            borderaxespad=0,
            columnspacing=1,
            borderpad=0.2,
            labelspacing=0.4,
        )
        is_low = legend.get_window_extent().height <= most * height
        if is_low and len(labels) == len(entries):
            locator = ax.get_axes_locator()
            if isinstance(locator, _AboveLegend):
                locator = locator.locator
            above: Any = _AboveLegend(ax, legend, locator)
            ax.set_axes_locator(above)
            figure = figure_of(ax)
            if figure.get_layout_engine() is None and ax.get_subplotspec() is not None:
                figure.set_layout_engine("tight")
            return
        legend.remove()
    width, height = ax.get_window_extent().size / figure_of(ax).dpi
    warn(
        f"ax: a legend of {len(entries)} entries has no room in axes of {width:.1f} x {height:.1f} "
        "inches; make the figure larger, or draw one legend for all axes: "
        "figure.legend(*ax.get_legend_handles_labels(), loc='outside right upper')"
    )


class _AboveLegend(NamedTuple):
    """The place of axes whose legend is below them, in a part of their place."""

    axes: Any
    legend: Any
    locator: Any
    """What locates the axes without a legend; None: their figure."""

    def __call__(self, ax: Any, renderer: Any) -> Any:
        """Return the place of the axes in the figure, and put the legend below."""
        from matplotlib.transforms import Bbox

        place = ax.get_position(original=True)
        if self.locator is not None:
            place = self.locator(ax, renderer)
        if self.axes.get_legend() is not self.legend:
            # The caller has removed or replaced it.
            return place
        figure = self.axes.figure
        for other in figure.axes:
            # Axes on the same place are twins, and have another scale of the same axis.
            is_twin = other.get_position(original=True).bounds == place.bounds
            if is_twin and other.get_axes_locator() is None:
                other.set_axes_locator(self)
        texts = self.axes.xaxis.get_tightbbox(renderer)
        pixels = 0 if texts is None else max(0.0, self.axes.bbox.y0 - texts.y0)
        self.legend.set_bbox_to_anchor(
            (place.x0, place.y0 - pixels / figure.bbox.height), figure.transSubfigure
        )
        height = self.legend.get_window_extent(renderer).height / figure.bbox.height
        return Bbox.from_extents(place.x0, place.y0 + height, place.x1, place.y1)

    def get_subplotspec(self) -> Any:
        """Return the place of the axes in a grid, for the tight layout."""
        return self.axes.get_subplotspec()


def _in_columns(
    owner: Any,
    entries: Mapping[str, Any],
    title: str,
    room: float,
    **place: Any,
) -> Any:
    """Draw a legend in columns that fit into so many pixels."""
    handles = list(entries.values())
    labels = list(entries)
    options = {"title": title or None, "frameon": False, **LEGEND, **place}
    legend = owner.legend(handles, labels, **options)
    width = legend.get_window_extent().width
    # One column of many entries would be too high.
    fitting = 0.95 * room / width
    columns = min(len(labels), max(1 + (len(labels) > INSIDE), int(fitting)))
    share = fitting / columns
    if share < 1:
        letters = share * max(map(len, labels)) - 3
        labels = [wrap(label, max(12, int(letters))) for label in labels]
        options["title"] = wrap(title, max(10, int(columns * letters))) or None
    legend.remove()
    return owner.legend(handles, labels, ncols=columns, **options)


def add_entry(ax: Axes, label: str, **properties: Any) -> None:
    """Add an entry about the whole plot to the legend."""
    ax.plot(
        [],
        [],
        label=label,
        gid=SHARED,
        **properties,
    )


def legend_entries(axes: Iterable[Axes]) -> Properties:
    """Return the handles of a legend by label, those about the whole plot last."""
    entries: Properties = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)

    return {
        label: entries[label] for label in sorted(entries, key=lambda x: _is_shared(entries[x]))
    }


def _is_shared(handle: Any) -> bool:
    """Return whether an entry of a legend is about the whole plot."""
    # The bars of a chart are a container, which has no gid.
    return bool(getattr(handle, "get_gid", lambda: None)() == SHARED)


def curves_in(ax: Axes) -> int:
    """Return how many curves the axes have: the next call goes on with the next colour."""
    return len({line.get_label() for line in ax.get_lines() if line.get_gid() == CURVE})


def write_reason(ax: Axes, sentence: str) -> None:
    """Write the reason into the middle of axes without data."""
    ax.text(0.5, 0.5, sentence, color=GREY, transform=ax.transAxes, ha="center", va="center")


# Colours


def palette() -> Sequence[Any]:
    """Return the colours of the style sheet if it has its own, else ours and that of text."""
    from matplotlib import rcParams, rcParamsDefault

    cycle = rcParams["axes.prop_cycle"]
    if cycle != rcParamsDefault["axes.prop_cycle"] and "color" in cycle.keys:
        colours: Sequence[Any] = cycle.by_key()["color"]
        return colours
    return *COLOURS, rcParams["text.color"]


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, as the WCAG guidelines define it."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def text_on(colour: Any) -> str:
    """Return the colour of text on this colour."""
    return "black" if luminance(colour) > _BRIGHT else "white"


# Texts


def as_drawn(text: str) -> str:
    """Return a text that matplotlib draws as it is.

    Dollars would start mathematics, and matplotlib leaves labels with an underscore out of legends.
    """
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def shorten(name: str, length: int = LETTERS) -> str:
    """Replace the middle of a long name by an ellipsis."""
    tail = (length - 1) // 2
    return name if len(name) <= length else f"{name[: length - 1 - tail]}…{name[-tail:]}"


def wrap(text: str, width: int = LETTERS) -> str:
    """Break a long text into lines, but not around an equals sign or before a percent sign."""
    whole = text.replace(" = ", "\0").replace(" %", "\1")
    lines = textwrap.fill(whole, width, break_on_hyphens=False)
    return lines.replace("\0", " = ").replace("\1", " %")


def text_width(
    ax: Axes,
    text: str,
    size: Any = "medium",
) -> float:
    """Return how many pixels wide a text is."""
    from matplotlib.text import Text

    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(figure_of(ax))
    return float(probe.get_window_extent().width)


def fit(
    ax: Axes,
    text: str,
    room: float,
    size: Any = "small",
) -> str:
    """Break each line of a text that is wider than so many pixels."""
    lines = [wrap(line, _letters(ax, line, room, size)) for line in text.split("\n")]
    return "\n".join(lines)


def shorten_to(
    ax: Axes,
    text: str,
    room: float,
    size: Any,
) -> str:
    """Shorten a text that is wider than so many pixels."""
    return shorten(text, _letters(ax, text, room, size))


def _letters(
    ax: Axes,
    text: str,
    room: float,
    size: Any,
) -> int:
    """Return how many letters of a text have room."""
    return max(6, int(len(text) * room / max(1.0, text_width(ax, text, size))))


def panel_width(ax: Axes, style: Style) -> float:
    """Return how many pixels wide a panel is."""
    place: Any = ax.get_subplotspec()
    if style.axes or place is None:
        return float(ax.get_window_extent().width)
    # Besides the panels there are the titles and numbers of the y axis.
    pixels = em() * ax.figure.dpi
    return (float(ax.figure.bbox.width) - 5 * pixels) / int(place.get_gridspec().ncols) - pixels / 2


def title_panel(ax: Axes, style: Style, *lines: str) -> None:
    """Write the title of a panel, each line broken where the panel ends."""
    title = fit(ax, "\n".join(filter(None, lines)), panel_width(ax, style))
    # At a place of its own, which matplotlib need not search.
    ax.set_title(title, fontsize="small", y=1.0)


def fewer_ticks(
    axis: Any,
    most: int,
    *,
    integer: bool = False,
) -> None:
    """Leave room between the numbers of an axis."""
    from matplotlib.ticker import MaxNLocator

    most = max(2, min(most, axis.get_tick_space()))
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10], integer=integer))


def metric_title(name: str) -> str:
    """Return the title of a metric, such as `F1 at threshold 0.5`.

    Other columns keep their names.
    """
    if not is_rate(name) and not is_metric(name.removeprefix("mean_")):
        return name
    head, at, cutoff = name.partition("@")
    if is_rate(head):
        title = rate_of(head).title
    else:
        words = head.replace("_", " ")
        title = re.sub(r"\b(roc|auc|dcg|npv|mcc|f[0-9.]+)\b", lambda word: word[0].upper(), words)
        title = title[:1].upper() + title[1:]
    if not at:
        return title
    if cutoff[:1].isdigit():
        return f"{title}@{cutoff}"
    return f"{title} at {cutoff.replace('_', ' ').replace('=', ' ')}"


def value_text(value: Any) -> str:
    """Format the value of a key, so that one sees blanks, too."""
    if value is None:
        return "(null)"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())
    text = str(value)
    if not text:
        return "(empty)"
    return text if text.strip() else repr(text)


def number_text(value: float, digits: int = 2) -> str:
    """Format a metric with so many decimals, or with more if it is near 0 or 1."""
    size = abs(value)
    if size >= 1e6:
        return f"{value:.3g}"
    if size >= 1 or value == 0:
        return f"{value:.{digits}f}"
    least = 10.0**-digits
    if size < 10 * least:
        return f"{value:#.{digits}g}"
    if 1 - least / 2 < value < 1 - 1e-12:
        return f"{value:.{min(12, math.ceil(-math.log10(1 - value)))}f}"
    return f"{value:.{digits}f}"


def threshold_text(value: float) -> str:
    """Format a threshold with three significant digits."""
    if abs(value) >= 1000 and float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3g}"


def share_text(share: float | None) -> str:
    """Format a share in percent. Only the shares 0 and 1 are written as 0 % and 100 %."""
    if share is None:
        return ""
    text = f"{100 * share:.0f} %"
    if share in (0, 1) or text not in ("0 %", "100 %"):
        return text
    return "<1 %" if share < 0.5 else ">99 %"


def count_text(count: float) -> str:
    """Format a count, which may be a sum of weights."""
    if float(count).is_integer():
        return f"{count:,.0f}"
    return f"{count:,.1f}" if count >= 1 else f"{count:.2g}"
