"""The appearance of all plots: shared arguments, new figures, names, colours and line styles."""

from __future__ import annotations

import datetime as dt
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import polars as pl

from frame_pr.frames.arguments import flag, scalar, several, text, whole
from frame_pr.frames.messages import examples, kind_of_value, shown
from frame_pr.inputs.policies import Policies
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import NUMBERED_NAME, RATES, rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LABEL_LENGTH = 48
"""The most characters of a name in a plot. The middle of a longer name is left out."""

# Near the colours of Okabe and Ito, without yellow. Their contrast with white and with a dark background is 3 and more.
# Any two of them, and black and white, differ by 20 in CIE Lab, also with protanopia and deuteranopia. In grey, seven
# colours cannot: six gaps of 20 exceed the 100 between black and white. The seventh colour is the colour of text.
COLOURS = ("#19669B", "#C98602", "#1C926A", "#B34102", "#C57CA8", "#0D9DDD")
STROKES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
"""Line styles of groups if colours show systems, and of the curves after the seventh."""
DASHED = STROKES[1]
_ACRONYMS = {"roc": "ROC", "auc": "AUC", "dcg": "DCG", "ndcg": "nDCG", "npv": "NPV", "mcc": "MCC"}
MIDDLE = 0.18
"""The luminance above which black text is easier to read than white text."""
PANELS = 48
"""The most panels of a figure, unless `max_groups` allows more."""
_MOST_DECIMALS = 20
_ORDERS = ("frame", "value")


class CommonArguments(TypedDict, total=False):
    """The arguments of every plot."""

    labels: Mapping[Any, str] | None
    order: Literal["frame", "value"] | Sequence[Any] | None
    decimals: int | None
    max_groups: int | None
    ax: Axes | None
    figure: Figure | SubFigure | None


class ColourArguments(CommonArguments, total=False):
    """The arguments of plots with colours and a legend."""

    colors: Mapping[Any, Any] | None
    legend: bool


@dataclass(frozen=True, eq=False, repr=False)
class Appearance:
    """The values of these arguments."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels by the name of a system, group, key column or metric."""
    order: str | tuple[str, ...] | None = None
    """Names that come first, or "value"."""
    decimals: int = 2
    max_groups: int | None = None
    ax: Axes | None = None
    figure: Figure | SubFigure | None = None
    colors: Mapping[str, Any] = field(default_factory=dict)
    """Colours by the name of a system, or of a group."""
    legend: bool = True

    @property
    def in_new_figure(self) -> bool:
        """Whether the plot makes its figure, and may set the size."""
        return self.ax is None and self.figure is None

    def display(self, name: str, default: str | None = None) -> str:
        """Return the label of a name."""
        return self.labels.get(name, name if default is None else default)

    def label_of(self, value: Any, length: int = LABEL_LENGTH) -> str:
        """Return the label of a value, as matplotlib draws it."""
        return escape(shorten(self.display(value_text(value)), length))

    def title_of(self, metric: str) -> str:
        """Return the label of a metric, as the title of an axis."""
        return escape(self.display(metric, metric_title(metric)))

    def names_of(self, keys: pl.DataFrame) -> list[str]:
        """Return the labels of groups, from the values of their keys."""
        return [", ".join(self.display(value_text(value)) for value in key) for key in keys.rows()]

    def check_names(self, names: Iterable[Any], coloured: Iterable[Any] | None = None) -> None:
        """Refuse `order` and `colors` if the plot has none of their names."""
        texts = {value_text(name) for name in names}
        coloured_texts = texts if coloured is None else {value_text(name) for name in coloured}
        for argument, wanted, available in (("order", self.order, texts), ("colors", self.colors, coloured_texts)):
            if wanted and not isinstance(wanted, str) and texts and not available.intersection(wanted):
                some_names = examples(sorted(available)) or "one colour for all"
                raise ValueError(f"{argument} has no name of this plot: it has {some_names}")

    def check_number(self, number: int, noun: str, most: int | None) -> None:
        """Refuse more rows, groups or systems than `max_groups`. `most` is the default."""
        limit = self.max_groups or most
        if limit is not None and number > limit:
            raise ValueError(f"{number} {noun} are more than max_groups={limit}: filter them, or raise max_groups=")

    def places(self, keys: Sequence[Mapping[str, Any]]) -> list[int]:
        """Return the positions of these groups in the order of `order`. Groups without a name there come last."""
        if not isinstance(self.order, tuple):
            return list(range(len(keys)))
        names = [[value_text(value) for value in key.values()] for key in keys]
        rank = {name: place for place, name in enumerate(self.order)}
        return sorted(range(len(keys)), key=lambda i: [rank.get(name, len(rank)) for name in names[i]])

    def in_order(self, names: Sequence[Any]) -> list[Any]:
        """Return names in the order of `order`."""
        return [names[place] for place in self.places([{"name": name} for name in names])]


def appearance_of(arguments: Mapping[str, Any], decimals: int = 2, *, has_values: bool = True) -> Appearance:
    """Validate the shared arguments. `has_values`: whether the plot can be ordered by value."""
    need_matplotlib()
    if arguments.get("order") == "value" and not has_values:
        raise ValueError("order='value': these panels have no value; give a list of names")
    return Appearance(**appearance_fields(arguments, decimals))


def appearance_fields(arguments: Mapping[str, Any], decimals: int = 2) -> dict[str, Any]:
    """Validate the shared arguments, and return the fields of `Appearance`."""
    from matplotlib.axes import Axes
    from matplotlib.colors import is_color_like
    from matplotlib.figure import Figure, SubFigure

    get = arguments.get
    for target, kinds, name in (("ax", Axes, "Axes"), ("figure", (Figure, SubFigure), "Figure or SubFigure")):
        if get(target) is not None and not isinstance(get(target), kinds):
            raise TypeError(f"{target} must be a matplotlib {name}, got {kind_of_value(get(target))}")
    if get("ax") is not None and get("figure") is not None:
        raise ValueError("ax= and figure= both say where to draw: give one of the two")
    labels = _mapping("labels", get("labels"), "label, such as {'s1': 'Baseline'}")
    for label in labels.values():
        check_label("labels", label)
    colours = _mapping("colors", get("colors"), "colour, such as {'old': '0.5'}")
    for name, colour in colours.items():
        if not is_color_like(colour):
            raise ValueError(f"colors: {shown(colour)}, of {shown(name)}, is no colour that matplotlib knows")
    return {
        "labels": {value_text(name): label for name, label in labels.items()},
        "order": _order(get("order")),
        "decimals": decimals if get("decimals") is None else whole("decimals", get("decimals"), 0, _MOST_DECIMALS),
        "max_groups": None if get("max_groups") is None else whole("max_groups", get("max_groups"), least=1),
        "ax": get("ax"),
        "colors": {value_text(name): colour for name, colour in colours.items()},
        "legend": flag("legend", get("legend", True)),
        "figure": get("figure"),
    }


def _order(value: Any) -> str | tuple[str, ...] | None:
    """Validate `order`: a word, or names as texts."""
    if value is None or (isinstance(value, str) and value in _ORDERS):
        return value
    if isinstance(value, str):
        raise ValueError(f"order takes 'frame', 'value' or a list of names, got {shown(value)}")
    return tuple(dict.fromkeys(value_text(scalar(name)) for name in several("order", value, "names in their order")))


def _mapping(argument: str, value: Any, example: str) -> Mapping[Any, Any]:
    """Check that the value of `labels` or `colors` is a dict, or None."""
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{argument} takes a dict of name and {example}; got {shown(value)}")
    return value or {}


def check_label(argument: str, value: Any) -> str:
    """Check that a label is text, and that matplotlib can draw its mathematics."""
    from matplotlib.cbook import is_math_text
    from matplotlib.mathtext import MathTextParser

    label = text(argument, value)
    if is_math_text(label):
        try:
            MathTextParser("path").parse(label)
        except ValueError:
            raise ValueError(
                f"{argument} is no mathematics that matplotlib can draw: {shown(label)}; a dollar is \\$"
            ) from None
    return label


def split_policies(options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Split keyword arguments into those of a plot and the options of the ranking."""
    policies = {name: value for name, value in options.items() if name in Policies.__annotations__}
    return {name: value for name, value in options.items() if name not in policies}, policies


def need_matplotlib() -> None:
    """Raise an error that says how to install matplotlib, before anything is computed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "frame-pr[plot]"') from error


@contextmanager
def canvas(appearance: Appearance, **figure_options: Any) -> Iterator[Axes]:
    """Yield the caller's axes, or axes in a figure; an error leaves no artist and no open figure behind."""
    ax = appearance.ax
    if ax is None:
        with open_figure(appearance.figure, **figure_options) as figure:
            axes = figure.subplots()
            axes.spines[["top", "right"]].set_visible(False)
            yield axes
        return
    before, legend = set(ax.get_children()), ax.get_legend()
    try:
        yield ax
    except BaseException:
        for artist in set(ax.get_children()) - before:
            artist.remove()
        if legend is not None and ax.get_legend() is not legend:
            ax.add_artist(legend)
        raise


@contextmanager
def open_figure(figure: Figure | SubFigure | None, **figure_options: Any) -> Iterator[Any]:
    """Yield the caller's figure, or a new figure of pyplot; an error leaves no panel and no open figure behind."""
    import matplotlib.pyplot as plt

    before = [] if figure is None else [*figure.axes, *figure.legends]
    target: Any = plt.figure(**figure_options) if figure is None else figure
    try:
        yield target
    except BaseException:
        if figure is None:
            plt.close(target)
        else:
            for artist in [*figure.axes, *figure.legends]:
                if artist not in before:
                    artist.remove()
        raise


def escape(name: str) -> str:
    """Escape dollars, between which matplotlib would typeset mathematics."""
    return name.replace("$", r"\$")


def in_legend(name: str) -> str:
    """Put a zero-width space before an underscore: matplotlib leaves such labels out of legends."""
    return f"\u200b{name}" if name.startswith("_") else name


def unescape(name: str) -> str:
    """Restore a name from its text in the legend."""
    return name.removeprefix("\u200b").replace(r"\$", "$")


def shorten(name: str, length: int = LABEL_LENGTH) -> str:
    """Replace the middle of a long name by an ellipsis."""
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[-tail:]}"


def letter_scale() -> float:
    """Return the size of letters, as a share of the default size."""
    from matplotlib import rcParams

    return float(rcParams["font.size"] / 10)


def letters_along(ax: Axes, pixels: float) -> int:
    """Return how many letters of medium size fit into this number of pixels."""
    from matplotlib.font_manager import FontProperties

    return int(pixels / (0.6 * FontProperties(size="medium").get_size_in_points() * ax.figure.dpi / 72))


def set_titles(ax: Axes, x: str, y: str) -> None:
    """Write the titles of both axes. A line is at most as long as its axis."""
    box = ax.get_window_extent()
    letters = (max(8, letters_along(ax, length)) for length in (box.width, box.height))
    x, y = (textwrap.fill(title, width) for title, width in zip((x, y), letters, strict=True))
    ax.set(xlabel=x, ylabel=y)


def metric_title(name: str) -> str:
    """Return the title of a metric, such as `F1 at threshold 0.5`. Other columns keep their names."""
    if not is_metric(name.removeprefix("mean_")):
        return name
    head, at, cutoff = name.partition("@")
    if head in RATES or re.fullmatch(NUMBERED_NAME, head):
        title = rate_of(head).title
    else:
        words = [
            word.upper() if re.fullmatch(r"f[0-9.]+", word) else _ACRONYMS.get(word, word) for word in head.split("_")
        ]
        title = " ".join(words)
        title = title if words[0] in _ACRONYMS.values() else title[:1].upper() + title[1:]
    if at and cutoff[:1].isdigit():
        return f"{title}@{cutoff}"
    return f"{title} at {cutoff.replace('_', ' ').replace('=', ' ')}" if at else title


def share_text(share: float | None, decimals: int = 0) -> str:
    """Format a share in percent. Only the shares 0 and 1 are written as 0% and 100%."""
    if share is None:
        return ""
    for digits in (decimals, decimals + 1):
        text = f"{share:.{digits}%}"
        if share in (0, 1) or float(text[:-1]) not in (0, 100):
            return text
    least = 10.0 ** -(decimals + 1)
    return f"<{least:g}%" if share < 0.5 else f">{100 - least:g}%"


def value_text(value: Any) -> str:
    """Format the value of a key: midnight as its date, and floats with at most ten digits."""
    if value is None:
        return "(null)"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())
    return str(value)


def text_colour(ax: Axes) -> str:
    """Return the colour of text: black, or white on a dark background."""
    return "black" if _is_light(ax) else "white"


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, as the WCAG guidelines for contrast define it."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def grey(ax: Axes, level: float) -> str:
    """Return a grey. `level` is the distance from black, or from white on a dark background."""
    return str(level if _is_light(ax) else round(1 - level, 3))


def palette(ax: Axes) -> list[str]:
    """Return the default colours, which hold unless a style sheet sets others."""
    return [*COLOURS, text_colour(ax)]


def line_properties(
    ax: Axes, number: int, stroke: int | None, colour: Any = None, line: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the line properties of curve `number`: the style sheet's, replaced by `colour` and `line` of the caller.

    `stroke` is the number of the group, if colours tell systems apart.
    """
    import matplotlib
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle == matplotlib.rcParamsDefault["axes.prop_cycle"]:
        colours = palette(ax)
        more, place = divmod(number, len(colours))
        properties: dict[str, Any] = {"color": colours[place], "linestyle": STROKES[more % len(STROKES)]}
    else:
        entries = list(cycle)
        properties = {"color": f"C{number}", **entries[number % len(entries)]}
    if stroke is not None:
        properties["linestyle"] = STROKES[stroke % len(STROKES)]
    if colour is not None:
        properties["color"] = colour
    return {**properties, **normalize_kwargs(dict(line or {}), Line2D)}


_NUMBERS: dict[str, int] = {}
"""Number of the colour of each system of earlier plots, so that a system keeps its colour."""


def system_numbers(names: Sequence[str], first: int = 0) -> list[int]:
    """Return the number of the colour of each system: as in earlier plots, or the next free one from `first` on."""
    numbers: dict[str, int] = {}
    for is_known in (True, False):
        for name in names:
            if name in numbers or (name in _NUMBERS) != is_known:
                continue
            number = _NUMBERS.get(name, first)
            while number < first or number in numbers.values():
                number = max(first, number + 1)
            numbers[name] = number
    if not first:
        _NUMBERS.update(numbers)
    return [numbers[name] for name in names]


def numbers_in_order(values: Sequence[Any]) -> list[int]:
    """Number the distinct values in the order in which they appear."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _is_light(ax: Axes) -> bool:
    """Return whether the background of the axes is light."""
    from matplotlib.colors import to_rgba

    for ground in (ax.get_facecolor(), ax.figure.get_facecolor()):
        if to_rgba(ground)[3] > 0:
            return luminance(ground) > MIDDLE
    return True
