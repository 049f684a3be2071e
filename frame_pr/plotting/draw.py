"""The style that all plots share: their common arguments, figures and panels, colours, legends and texts."""

from __future__ import annotations

import datetime as dt
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from frame_pr.frames.arguments import check_flag
from frame_pr.frames.messages import kind_of_value, shown
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import is_rate, rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Near the colours of Okabe and Ito. Each has a contrast of at least 3 with its background, and any
# two of them differ by 20 in CIE Lab, also with protanopia and deuteranopia. The seventh colour is
# that of text.
LIGHT = ("#19669B", "#C98602", "#1C926A", "#B34102", "#C57CA8", "#0D9DDD", "black")
DARK = ("#4A9BD4", "#E8B04A", "#2FAE82", "#E2682F", "#D9A3C5", "#9BDCFA", "white")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (2, 2)))
"""Line styles of groups if colours show systems, and of the curves after the seventh."""
CURVE, SHARED = "curve", "shared"
"""The `gid` of lines with a colour of their own, and of legend entries about the whole plot, which come last."""
MOST_PANELS = 100
IN_A_ROW = 4
"""The most panels in a row."""
INSIDE = 6
"""The most entries of a legend inside the axes."""
LETTERS = 40
"""The most letters of a name in a plot, and of a line of a legend."""
_BRIGHT = 0.18
"""The luminance above which black text is easier to read than white text."""
_ACRONYMS = {"roc": "ROC", "auc": "AUC", "dcg": "DCG", "ndcg": "nDCG", "npv": "NPV", "mcc": "MCC"}


class StyleArguments(TypedDict, total=False):
    """The arguments of every plot."""

    colors: Mapping[Any, Any] | None
    labels: Mapping[Any, str] | None
    legend: bool
    ax: Any


@dataclass(frozen=True, eq=False, repr=False)
class Style:
    """The values of these arguments. Names of `colors` and `labels` are texts."""

    colors: Mapping[str, Any]
    labels: Mapping[str, str]
    legend: bool
    axes: Sequence[Axes]
    """The caller's axes. Empty: a new figure."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any], *, panels: bool = False) -> Style:
        """Validate the arguments before anything is computed. `panels`: whether the plot has several axes."""
        need_matplotlib()
        import numpy as np
        from matplotlib.axes import Axes
        from matplotlib.colors import is_color_like

        names: dict[str, dict[str, Any]] = {}
        for argument, example in (("colors", "{'old': '0.5'}"), ("labels", "{'s1': 'Baseline'}")):
            value = arguments.get(argument)
            if not (value is None or isinstance(value, Mapping)):
                raise TypeError(f"{argument} takes a dict such as {example}; got {shown(value)}")
            names[argument] = {value_text(name): entry for name, entry in (value or {}).items()}
        for name, colour in names["colors"].items():
            if not is_color_like(colour):
                raise ValueError(
                    f"colors: {shown(colour)}, for {shown(name)}, is no colour of matplotlib"
                )
        ax = arguments.get("ax")
        axes: list[Any] = list(np.ravel(np.array(ax, dtype=object))) if panels else [ax]
        if ax is not None and not (axes and all(isinstance(each, Axes) for each in axes)):
            raise TypeError(f"ax must be a matplotlib Axes, got {kind_of_value(ax)}")
        legend = check_flag("legend", arguments.get("legend", True))
        return cls(names["colors"], names["labels"], legend, [] if ax is None else axes)

    def label(self, name: Any, default: str | None = None) -> str:
        """Return the label of a name or value, as matplotlib draws it."""
        text = value_text(name)
        text = str(self.labels.get(text, text if default is None else default))
        # Dollars would start mathematics, and matplotlib leaves labels with an underscore out of
        # legends.
        text = shorten(text).replace("$", r"\$")
        return f"\u200b{text}" if text.startswith("_") else text

    def join(self, values: Iterable[Any]) -> str:
        """Return the label of a group: the labels of the values of its keys."""
        return ", ".join(map(self.label, values))

    def title(self, metric: str) -> str:
        """Return the label of a metric or rate as the title of an axis."""
        return self.label(metric, metric_title(value_text(metric)))

    def color_of(self, names: Iterable[Any], ax: Axes, number: int) -> Any:
        """Return the caller's colour for the first of these names that has one; else the colour of this number."""
        colours = palette(ax)
        default = colours[number % len(colours)]
        return next(
            (self.colors[text] for text in map(value_text, names) if text in self.colors), default
        )

    def check_colors(self, names: Iterable[Any]) -> None:
        """Refuse `colors` if it has none of the names of the plot."""
        texts = list(dict.fromkeys(map(value_text, names)))
        if self.colors and texts and not set(texts) & set(self.colors):
            raise ValueError(f"colors has no name of this plot, which has {', '.join(texts[:5])}")


def need_matplotlib() -> None:
    """Raise an error that says how to install matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "frame_pr[plot]"') from error


@contextmanager
def new_figure(
    size: tuple[float, float], layout: Literal["constrained", "compressed"]
) -> Iterator[Figure]:
    """Yield a new figure of pyplot. An error closes it."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size, layout=layout)
    try:
        yield figure
    except BaseException:
        plt.close(figure)
        raise


@contextmanager
def axes_of(style: Style, size: tuple[float, float], *, square: bool = False) -> Iterator[Axes]:
    """Yield the caller's axes, or the axes of a new figure. `square`: whether these are as wide as high."""
    if style.axes:
        yield style.axes[0]
        return
    with new_figure(size, "compressed" if square else "constrained") as figure:
        ax = figure.subplots()
        ax.set_box_aspect(1 if square else None)
        ax.spines[["top", "right"]].set_visible(False)
        yield ax


@contextmanager
def panels_of(
    style: Style,
    n: int,
    size: tuple[float, float],
    columns: int | None = None,
    *,
    shared: str = "xy",
) -> Iterator[list[Axes]]:
    """Yield axes for panels: the caller's, or those of a new figure. `size`: of a panel, in inches.

    The panels of a new figure get equal limits of the axes in `shared`. Axes that matplotlib shares
    would take twice as long for 80 panels, because each of them asks all others.
    """
    if style.axes:
        if len(style.axes) < n:
            raise ValueError(
                f"ax: {n} panels need as many axes, and there are {len(style.axes)}; leave out ax="
            )
        yield list(style.axes[:n])
        return
    if n > MOST_PANELS:
        raise ValueError(f"{n} panels are more than {MOST_PANELS}: filter the groups")
    rows = math.ceil(n / IN_A_ROW)
    columns = columns or math.ceil(n / rows)
    rows = math.ceil(n / columns)
    with new_figure((columns * size[0] + 0.5, rows * size[1] + 0.4), "constrained") as figure:
        axes = [figure.add_subplot(rows, columns, place + 1) for place in range(n)]
        yield axes
        limits = {
            name: [limit for ax in axes for limit in getattr(ax, f"get_{name}lim")()]
            for name in shared
        }
        for place, ax in enumerate(axes):
            ax.spines[["top", "right"]].set_visible(False)
            for name, values in limits.items():
                ax.set(
                    **{
                        f"{name}lim": sorted(
                            (min(values), max(values)), reverse=bool(values[0] > values[1])
                        )
                    }
                )
            ax.tick_params(labelbottom="x" not in shared or place >= n - columns)
            ax.tick_params(labelleft="y" not in shared or place % columns == 0)


def figure_width() -> float:
    """Return the width of a new figure, 6.4 inches unless the caller has set it."""
    from matplotlib import rcParams

    return float(rcParams["figure.figsize"][0])


def draw_legend(ax: Axes, style: Style, title: str = "", *, most_inside: int = INSIDE) -> None:
    """Draw the legend where it covers least, or to the right of the axes if it has many entries.

    A new figure becomes wider for a legend at the right.
    """
    entries = legend_entries([ax])
    if not entries or not style.legend:
        return
    place: dict[str, Any] = {"loc": "best"}
    if outside := len(entries) > most_inside and ax.figure.get_layout_engine() is not None:
        place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0}
    legend = ax.legend(
        entries.values(), map(wrap, entries), title=wrap(title) or None, **LEGEND, **place
    )
    if outside and not style.axes:
        figure: Any = ax.figure
        figure.set_figwidth(
            figure.get_figwidth() + legend.get_window_extent().width / figure.dpi + 0.2
        )


def draw_legend_above(ax: Axes, style: Style) -> None:
    """Draw the legend above the axes, for plots that fill them."""
    entries = legend_entries([ax])
    if entries and style.legend:
        # Names next to the axes may take a third of their width.
        labels = [wrap(label, max(14, int(0.7 * letters_along(ax)) - 6)) for label in entries]
        ax.legend(
            entries.values(),
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            frameon=False,
            **LEGEND,
        )


LEGEND: dict[str, Any] = {
    "fontsize": "small",
    "title_fontsize": "small",
    "alignment": "left",
    "handlelength": 2.2,
}


def draw_figure_legend(axes: Sequence[Axes], style: Style, title: str = "") -> None:
    """Draw one legend for all panels: to the right of a new figure, or in the first of the caller's axes."""
    entries = legend_entries(axes)
    if not entries or not style.legend:
        return
    labels = list(map(wrap, entries))
    if not style.axes:
        figure = axes[0].figure
        figure.legend(
            list(entries.values()), labels, title=title or None, loc="outside right upper", **LEGEND
        )
    else:
        axes[0].legend(entries.values(), labels, title=title or None, **LEGEND)


def title_figure(axes: Sequence[Axes], style: Style, x: str, y: str) -> None:
    """Write the titles that all panels of a new figure share."""
    if not style.axes:
        figure: Any = axes[0].figure
        figure.supxlabel(x, fontsize="medium")
        figure.supylabel(y, fontsize="medium")


def add_entry(ax: Axes, label: str, **properties: Any) -> None:
    """Add an entry about the whole plot to the legend."""
    ax.plot([], [], label=label, gid=SHARED, **properties)


def write_reason(ax: Axes, sentence: str) -> None:
    """Write the reason into the middle of axes without data."""
    ax.text(
        0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=grey(ax, 0.35)
    )


def legend_entries(axes: Iterable[Axes]) -> dict[str, Any]:
    """Return the handles of a legend by label, each label once, and what concerns the whole plot last."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    # The bars of a chart are a container, which has no gid.
    is_shared = {
        label: getattr(entry, "get_gid", lambda: None)() == SHARED
        for label, entry in entries.items()
    }
    return dict(sorted(entries.items(), key=lambda entry: is_shared[entry[0]]))


def curves_in(ax: Axes) -> int:
    """Return how many coloured curves the axes have, so that the next call goes on with the next colour."""
    return len({line.get_label() for line in ax.get_lines() if line.get_gid() == CURVE})


def palette(ax: Axes) -> Sequence[Any]:
    """Return the colours of the style sheet if it has its own, or those for the background of the axes."""
    import matplotlib

    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle != matplotlib.rcParamsDefault["axes.prop_cycle"] and "color" in cycle.keys:
        colours: Sequence[Any] = cycle.by_key()["color"]
        return colours
    return DARK if is_dark(ax) else LIGHT


def is_dark(ax: Axes) -> bool:
    """Return whether the background of the axes is dark."""
    from matplotlib.colors import to_rgba

    for ground in (ax.get_facecolor(), ax.figure.get_facecolor()):
        if to_rgba(ground)[3] > 0:
            return luminance(ground) < _BRIGHT
    return False


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, as the WCAG guidelines define it."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def text_on(colour: Any) -> str:
    """Return the colour of text on this colour."""
    return "black" if luminance(colour) > _BRIGHT else "white"


def grey(ax: Axes, level: float) -> str:
    """Return a grey. `level` is the distance from black, or from white on a dark background."""
    return str(round(1 - level, 3) if is_dark(ax) else level)


def shorten(name: str, length: int = LETTERS) -> str:
    """Replace the middle of a long name by an ellipsis."""
    tail = (length - 1) // 2
    return name if len(name) <= length else f"{name[: length - 1 - tail]}…{name[-tail:]}"


def wrap(text: str, width: int = LETTERS) -> str:
    """Break a long text into lines, but not around an equals sign or before a percent sign."""
    whole = text.replace(" = ", "\0").replace(" %", "\1")
    return (
        textwrap.fill(whole, width, break_on_hyphens=False).replace("\0", " = ").replace("\1", " %")
    )


def letters_along(ax: Axes, *, vertical: bool = False) -> int:
    """Return how many letters, or lines of text, fit along the axes at their present size."""
    from matplotlib.font_manager import FontProperties

    box = ax.get_window_extent()
    letter = FontProperties(size="medium").get_size_in_points() * ax.figure.dpi / 72
    return int(box.height / (1.4 * letter) if vertical else box.width / (0.6 * letter))


def metric_title(name: str) -> str:
    """Return the title of a metric, such as `F1 at threshold 0.5`. Other columns keep their names."""
    if not is_rate(name) and not is_metric(name.removeprefix("mean_")):
        return name
    head, at, cutoff = name.partition("@")
    if is_rate(head):
        title = rate_of(head).title
    else:
        words = [
            w.upper() if re.fullmatch(r"f[0-9.]+", w) else _ACRONYMS.get(w, w)
            for w in head.split("_")
        ]
        title = " ".join(words)
        title = title if words[0] in _ACRONYMS.values() else title[:1].upper() + title[1:]
    if at and cutoff[:1].isdigit():
        return f"{title}@{cutoff}"
    return f"{title} at {cutoff.replace('_', ' ').replace('=', ' ')}" if at else title


def value_text(value: Any) -> str:
    """Format the value of a key: midnight as its date, and floats with at most ten digits."""
    if value is None:
        return "(null)"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())
    return str(value)


def number_text(value: float, digits: int = 2) -> str:
    """Format a metric with so many decimals, or with as many significant digits if it is small or close to 1."""
    if value == 0 or abs(value) >= 1:
        return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    least = 10.0**-digits
    if abs(value) < 10 * least:
        return (
            f"{value:.{digits}g}"
            if abs(value) < 1e-4
            else f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}"
        )
    if value > 1 - least / 2:
        return (
            f"{value:.{min(12, math.ceil(-math.log10(1 - value)))}f}"
            if value < 1 - 1e-12
            else f"{1:.{digits}f}"
        )
    return f"{value:.{digits}f}"


def threshold_text(value: float) -> str:
    """Format a threshold with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 and float(value).is_integer() else f"{value:.3g}"


def share_text(share: float | None) -> str:
    """Format a share in percent. Only the shares 0 and 1 are written as 0% and 100%."""
    if share is None:
        return ""
    text = f"{share:.0%}"
    if share in (0, 1) or text not in ("0%", "100%"):
        return text
    return "<1%" if share < 0.5 else ">99%"


def count_text(count: float) -> str:
    """Format a count, which may be a sum of weights."""
    return (
        f"{count:,.0f}"
        if float(count).is_integer()
        else f"{count:,.1f}"
        if count >= 1
        else f"{count:.2g}"
    )
