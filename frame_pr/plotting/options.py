"""How a plot shall look, checked before anything is computed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frame_pr.frames.arguments import advice, flag, names_of, one_of, real, scalar, several, text, whole
from frame_pr.frames.wording import first_line, shown
from frame_pr.functions.evaluation import key_names, refuse_no_keys
from frame_pr.metrics.cutoffs import Rank, Recall, Threshold
from frame_pr.metrics.numbers import DECIMAL, each, f_of, number
from frame_pr.metrics.rates import RATES, rate_of
from frame_pr.metrics.synonyms import rate_hint

ISO_F = (0.2, 0.4, 0.6, 0.8)
"""Levels of F that `iso_f=True` draws."""
SPREADS = {
    "quartiles": ("lower_quartile", "upper_quartile", "middle half of the groups"),
    "interval": ("low", "high", "95 % interval of the mean"),
    "groups": ("", "", "single groups"),
}
"""What may be drawn around an average: two columns of `average_curve`, and what the legend calls it."""
X_ONLY = ("threshold", "k", "share")
"""What the axis along may be, in addition to rates: the score, the rank, k/N."""
AXIS_SYNONYMS = {
    "threshold": ("score", "scores", "cutoff"),
    "k": ("rank", "n"),
    "share": ("percent", "population", "fraction", "depth"),
}
_MOST_DECIMALS = 20
_ELSEWHERE = {
    "figsize": "it belongs to the figure: give ax= of yours, with facet= figure=",
    "title": "it is a method: plot(...).set_title(...), of facets suptitle",
    "xlim": "it is a method: plot(...).set_xlim(...)",
    "ylim": "it is a method: plot(...).set_ylim(...)",
    **dict.fromkeys(("palette", "cmap", "colours", "color_discrete_map"), "colors={name: colour} chooses by name"),
}


@dataclass(frozen=True)
class PlotOptions:
    """What is drawn of each group, and how."""

    x: str = "recall"
    figures: tuple[str, ...] = ("precision",)
    """Along the axis, and up."""
    rectangles: bool = False
    interpolated: bool = False
    points: int | None = None
    k: int | None = None
    thresholds: tuple[float, ...] = ()
    recalls: tuple[Recall, ...] = ()
    max_f: tuple[str, ...] = ()
    """The betas, as they are written in the name of the metric."""
    iso_f: tuple[float, ...] = ()
    beta: str = "1"
    threshold_labels: int = 0
    baseline: bool = True
    decimals: int = 2
    counts: bool = True
    """Whether the legend has the number of positives."""
    spread: str | None = "quartiles"
    """Around an average."""
    highlight: int | tuple[str, ...] | None = None
    """The names of the curves that have colours, or how many of the best and of the worst."""
    positive: str | None = None
    """The label that the caller said is positive."""
    legend: bool = True
    colors: Mapping[str, Any] = field(default_factory=dict)
    """Those that are chosen, by the name of the system, or of the group."""
    line: Mapping[str, Any] = field(default_factory=dict)

    @property
    def y(self) -> str:
        """The figure up; of several, the first."""
        return self.figures[0]

    @property
    def x_limits(self) -> tuple[float | None, float | None]:
        """Of the axis along, with room for a line along the edges."""
        return (None, None) if self.x in ("threshold", "k") else (-0.02, 1.02)

    @property
    def y_limits(self) -> tuple[float | None, float | None]:
        """Of the axis up."""
        return (-0.02, 1.02) if rate_of(self.y).range == "0 to 1" else (None, None)

    @property
    def is_pr(self) -> bool:
        """Whether it is the precision-recall curve, in steps, whose area is an average precision."""
        return (self.x, self.figures) == ("recall", ("precision",))

    @property
    def is_square(self) -> bool:
        """Whether both axes go from 0 to 1, and a figure of its own has them as long."""
        return None not in (*self.x_limits, *self.y_limits)

    @property
    def is_roc(self) -> bool:
        """Whether it is the ROC curve, in straight lines, under which is the area of that name."""
        return (self.x, self.figures) == ("fpr", ("recall",))

    @property
    def is_gain(self) -> bool:
        """Whether it is the gain: how many positives are among so many rows."""
        return (self.x, self.figures) == ("share", ("recall",))

    @property
    def has_chance(self) -> bool:
        """Whether a random ranking has a line of its own, and not its prevalence."""
        return self.is_roc or self.is_gain or self.is_unbounded

    @property
    def is_unbounded(self) -> bool:
        """Whether the axis up has no upper end, as that of lift, which is 1 for a random ranking."""
        return len(self.figures) == 1 and rate_of(self.y).range == "0 up"

    @property
    def area(self) -> tuple[str, str] | None:
        """What the legend calls the area under the curve, and its metric; of other figures, no area means anything."""
        if self.is_pr:
            return ("AP" if self.k is None else f"AP@{self.k}"), self.average_precision
        return ("AUC", "roc_auc") if self.is_roc else None

    @property
    def height(self) -> str:
        """The column whose area is drawn."""
        return "interpolated_precision" if self.interpolated else "precision"

    @property
    def average_precision(self) -> str:
        """The metric of the curve in the legend."""
        return "average_precision" if self.k is None else f"average_precision@{self.k}"

    @property
    def interpolated_average_precision(self) -> str:
        """The metric of the envelope in the legend."""
        return f"interpolated_average_precision{'' if self.points is None else f'_{self.points}'}"

    @property
    def metrics(self) -> list[str]:
        """All that are written or marked."""
        envelope = [self.interpolated_average_precision] if self.interpolated else []
        marks = [f"threshold@{recall}" for recall in self.recalls]
        marks += [f"{mark}max_f{beta}" for beta in self.max_f for mark in ("", "threshold@")]
        areas = [] if self.area is None else [self.area[1]]
        return ["positives", "prevalence", *areas, *envelope, *marks]


def options_of(given: Mapping[str, Any], line: Mapping[str, Any]) -> PlotOptions:
    """Check what the caller of `plot` or `plot_curve` asked for, by the names of their arguments."""
    points, k = one_of("points", given["points"], (11, 101, None)), given["k"]
    rectangles, interpolated, baseline = (
        flag(name, given[name]) for name in ("rectangles", "interpolated", "baseline")
    )
    if k is not None and (interpolated or points):
        raise ValueError("k= cuts the curve as it is: leave out interpolated= and points=, or k=")
    iso_f, beta = _levels(given["iso_f"]), f_of(given["beta"])[1:]
    if beta != "1" and not iso_f:
        raise ValueError("beta= is that of the contours: give iso_f=, too; mark='max_f2' marks the best F2")
    _check_line(line, [name for name in given if name not in ("frame", "line", "options")])
    return PlotOptions(
        x=_axis("x", given["x"], X_ONLY, ("0 to 1",)),
        figures=tuple(
            _axis("y", name, (), ("0 to 1", "0 up")) for name in names_of("y", given["y"], "names of figures")
        ),
        rectangles=rectangles,
        interpolated=bool(interpolated or points),
        points=points,
        k=None if k is None else int(Rank.of(k).k),
        thresholds=tuple(float(Threshold.of(t).threshold) for t in _all("threshold", given)),
        recalls=tuple(Recall.of(r) for r in _all("recall", given)),
        max_f=tuple(_beta_of(name) for name in _all("mark", given)),
        iso_f=iso_f,
        beta=beta,
        threshold_labels=whole("threshold_labels", given["threshold_labels"], least=0),
        baseline=baseline,
        decimals=_decimals(given["decimals"]),
        spread=one_of("spread", given["spread"], (*SPREADS, None)),
        highlight=_highlight(given["highlight"]),
        positive=None if given.get("positive") is None else str(scalar(given["positive"])),
        legend=flag("legend", given["legend"]),
        colors=_colors(given["colors"]),
        line=dict(line),
    )


def refuse_with_average(options: PlotOptions) -> None:
    """An averaged curve has no thresholds."""
    asked = {
        "rectangles": options.rectangles,
        "points": options.points,
        "k": options.k,
        "threshold": options.thresholds,
        "recall": options.recalls,
        "mark": options.max_f,
        "threshold_labels": options.threshold_labels,
    }
    for name, value in asked.items():
        if value:
            raise ValueError(
                f"average= draws a mean of curves, which has no thresholds: leave out {name}=, or average="
            )


def refuse_with_axes(options: PlotOptions, average: bool) -> None:
    """What is the area under precision against recall is drawn there only."""
    asked = {
        "rectangles": options.rectangles,
        "points": options.points,
        "interpolated": options.interpolated,
        "k": options.k,
        "iso_f": options.iso_f,
        "average": average and options.x != "k",
    }
    for name, value in asked.items():
        if value and not options.is_pr:
            raise ValueError(f"{name}= belongs to precision against recall: leave out x= and y=, or {name}=")


def keys_of(argument: str, value: bool | str | Sequence[str], keys: Sequence[str]) -> list[str]:
    """The key columns that `facet` or `average` means; True: all but `system`, so that systems stay side by side."""
    if value is False or value is None:
        return []
    if value is True:
        chosen = [key for key in keys if key != "system"] or list(keys)
        if not chosen:
            raise ValueError(f"{argument}=True needs groups: name the grouping columns, by=...")
        return chosen
    chosen = [str(name) for name in each(argument, value)]  # as all names here: on pandas they need not be texts
    refuse_no_keys(argument, chosen, keys)
    return chosen


def yes_or_key_names(argument: str, value: Any) -> bool | list[Any]:
    """What `facet` or `average` may be: yes, no, or names."""
    plain = scalar(value)
    if plain is None or isinstance(plain, bool):
        return bool(plain)
    return key_names(argument, value, "True, or names of columns of by")


def _axis(argument: str, name: Any, more: Sequence[str], ranges: Sequence[str]) -> str:
    figure = text(argument, name)
    if figure in more or re.fullmatch(f"f{DECIMAL}", figure):
        return figure if figure in more else _read_rate(figure)
    rates = {one: rate.synonyms for one, rate in RATES.items() if rate.range in ranges and not rate.is_count}
    if figure not in rates:
        axes = {**rates, **{one: AXIS_SYNONYMS[one] for one in more}}
        outside = rate_hint(figure, axes)
        if figure in RATES:
            outside = "it is a count" if RATES[figure].is_count else f"it is a rate from {RATES[figure].range}"
        kinds = " or ".join([", ".join(["a rate between 0 and 1", *more[:-1]]), *more[-1:]])
        raise ValueError(f"{argument} must be {kinds}, got {shown(figure)}; {outside}")
    return figure


def _read_rate(name: str) -> str:
    rate_of(name)
    return name


def _all(argument: str, given: Mapping[str, Any]) -> list[Any]:
    return [] if given[argument] is None else each(argument, given[argument])


def _beta_of(name: Any) -> str:
    match = re.fullmatch(f"max_f({DECIMAL})", name) if isinstance(name, str) else None
    if match is None:
        raise ValueError(f"mark must be the name of a best point, such as 'max_f1' or 'max_f0.5', got {shown(name)}")
    return f_of(float(match[1]))[1:]


def _highlight(value: Any) -> int | tuple[str, ...] | None:
    """A number of curves, or names, which on pandas and of numbers need not be texts."""
    if value is None:
        return None
    plain = scalar(value)
    if isinstance(plain, (int, float)):
        return whole("highlight", plain, least=1)
    names = several("highlight", value, "names of curves, or how many")
    for name in names:
        if not isinstance(scalar(name), (str, int, float)):
            raise TypeError(f"highlight takes names of curves, or how many; got {shown(name)}")
    return tuple(dict.fromkeys(str(scalar(name)) for name in names))


def _levels(iso_f: Any) -> tuple[float, ...]:
    if isinstance(scalar(iso_f), bool):
        iso_f = scalar(iso_f)
    if iso_f is None or iso_f is False:
        return ()
    levels = ISO_F if iso_f is True else [float(number("iso_f", level)) for level in each("iso_f", iso_f)]
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"iso_f takes values of F between 0 and 1, got {level!r}")
    return tuple(levels)


def _decimals(value: Any) -> int:
    decimals = whole("decimals", value, least=0)
    if decimals > _MOST_DECIMALS:
        raise ValueError(f"decimals must be at most {_MOST_DECIMALS}, got {decimals}")
    return decimals


def _colors(value: Any) -> dict[str, Any]:
    """Colours by the name of what has them, which need not be in this picture."""
    from matplotlib.colors import is_color_like

    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"colors takes a dict of name and colour, such as {{'old': '0.5'}}; got {shown(value)}")
    for name, colour in value.items():
        if not is_color_like(colour):
            raise ValueError(f"colors: {shown(colour)}, of {shown(name)}, is no colour that matplotlib knows")
    return {str(name): colour for name, colour in value.items()}


def _check_line(line: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Matplotlib would notice a wrong keyword only after the curve is computed, or when it draws."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D

    for name, value in line.items():
        (known,) = normalize_kwargs({name: value}, Line2D)
        if not hasattr(Line2D, f"set_{known}"):
            hint = (
                _ELSEWHERE.get(name)
                or advice(name, arguments)
                or "further keywords are properties of matplotlib's Line2D"
            )
            raise TypeError(f"plot has no argument {shown(name)}; {hint}")
        try:
            Line2D([], [], **{known: value})
            if known == "color" and value is not None:
                to_rgba(value)
            if known in ("zorder", "picker", "pickradius") and not isinstance(value, bool):
                real(name, value)
        except (AttributeError, TypeError, ValueError) as error:
            if known == "color" and isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
                raise ValueError(
                    f"{name} is one colour for all curves; colors={{name: colour}} chooses by name"
                ) from None
            found = f"{name}={shown(value)} is no value of this property of matplotlib's lines"
            raise type(error)(f"{found}: {first_line(error)}") from None
