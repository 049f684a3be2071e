"""The options of plots of curves, validated before anything is computed, and the quantities of their axes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import polars as pl

from frame_pr.frames.arguments import flag, names_of, one_of, real, scalar, several, text, whole
from frame_pr.frames.messages import first_line, shown
from frame_pr.frames.words import advice
from frame_pr.functions.evaluation import key_names, refuse_no_keys
from frame_pr.metrics.cutoffs import Recall, Threshold
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.numbers import DECIMAL, each, f_of, number
from frame_pr.metrics.rates import NUMBERED_NAME, RATES, Counts, rate_hint, rate_of, ratio
from frame_pr.plotting.appearance import Appearance, ColourArguments, appearance_fields, check_label


class AxisQuantity(NamedTuple):
    """A quantity that an axis shows."""

    title: str
    unit_range: bool
    """Whether the axis goes from 0 to 1."""
    formula: Callable[[Counts], pl.Expr] | None
    """None: a column of `curve`."""
    references: Mapping[str, Callable[[float, Any], Any]] = MappingProxyType({})
    """The values of rankings without information, from the prevalence and the thresholds."""
    at: Callable[[Any, Any, Any, Any, Any], Any] | None = None
    """The formula of a quantity that depends on the threshold: of tp, fp, positives, rows and the threshold."""

    def of_counts(self, counts: Counts) -> pl.Expr:
        """Return the quantity at the thresholds of a curve."""
        if self.at is None:
            assert self.formula is not None
            return self.formula(counts)
        threshold = pl.col("threshold").cast(pl.Float64)
        value = self.at(counts.tp, counts.k - counts.tp, counts.positives, counts.rows, threshold)
        return pl.when(threshold < 1, counts.positives > 0).then(value)


X_ONLY: Mapping[str, AxisQuantity] = {
    "threshold": AxisQuantity("Threshold", False, None),
    "k": AxisQuantity("Rank k", False, None),
    "share": AxisQuantity(
        "Share of the rows",
        True,
        lambda counts: ratio(counts.k, counts.rows),
    ),
}
"""Quantities of the x axis in addition to rates."""
_NOTHING: dict[str, Callable[[float, Any], Any]] = {"treat none": lambda prevalence, t: 0 * t}
Y_ONLY: Mapping[str, AxisQuantity] = {
    "net_benefit": AxisQuantity(
        "Net benefit",
        False,
        None,
        {"treat all": lambda prevalence, t: prevalence - (1 - prevalence) * t / (1 - t), **_NOTHING},
        lambda tp, fp, positives, rows, t: (tp - fp * t / (1 - t)) / rows,
    ),
    "standardized_net_benefit": AxisQuantity(
        "Standardized net benefit",
        False,
        None,
        {"treat all": lambda prevalence, t: 1 - (1 / prevalence - 1) * t / (1 - t), **_NOTHING},
        lambda tp, fp, positives, rows, t: (tp - fp * t / (1 - t)) / positives,
    ),
}
"""Quantities of the y axis in addition to rates. The x axis is then the threshold."""
_RANDOM: dict[str, Callable[[float, Any], Any]] = {"random ranking": lambda prevalence, t: 1 + 0 * t}
_REFERENCES: Mapping[str, Callable[[str], Mapping[str, Callable[[float, Any], Any]]]] = {
    "lift": lambda _: _RANDOM,
    "cost": lambda missed: {
        "treat all": lambda prevalence, t: 1 - prevalence + 0 * t,
        "treat none": lambda prevalence, t: float(missed) * prevalence + 0 * t,
    },
}
"""The values of rankings without information, by the name of a rate, from the number at its end."""


def axis_quantity(name: str) -> AxisQuantity:
    """Look up a quantity by its name."""
    if name in X_ONLY:
        return X_ONLY[name]
    if name in Y_ONLY:
        return Y_ONLY[name]
    rate, family = rate_of(name), name.rstrip("0123456789.")
    references = _REFERENCES[family](name.removeprefix(family)) if family in _REFERENCES else {}
    return AxisQuantity(rate.title, rate.range == "0 to 1", rate.formula, references)


def check_axis(argument: str, value: object) -> str:
    """Check the name of a quantity for `x=` or `y=`."""
    name, along = text(argument, value), argument == "x"
    ranges = ("0 to 1",) if along else ("0 to 1", "0 up")
    names = [rate for rate, record in RATES.items() if record.range in ranges and not record.is_count]
    names += X_ONLY if along else Y_ONLY
    if name not in names and not re.fullmatch(NUMBERED_NAME, name):
        hint = rate_hint(name, names)
        if name in RATES:
            hint = "it is a count" if RATES[name].is_count else f"it is a rate from {RATES[name].range}"
        raise ValueError(f"{argument}: no axis shows {shown(name)}; {hint}")
    if name not in names:
        rate_of(name)
    return name


ISO_F = (0.2, 0.4, 0.6, 0.8)
"""Contours that `iso_f=True` draws."""
SPREADS = {
    "quartiles": ("lower_quartile", "upper_quartile", "middle half of the groups"),
    "interval": ("low", "high", "95 % interval of the mean"),
    "groups": ("", "", "single groups"),
}
"""What `spread=` draws around an average: two columns of `average_curve`, and its name in the legend."""
SCALES = ("linear", "log", "logit")
"""Scales of an axis."""


class CurveArguments(ColourArguments, total=False):
    """The options of `plot`."""

    x: str
    y: str | Sequence[str]
    facet: bool | str | Sequence[str]
    average: bool | str | Sequence[str]
    rectangles: bool
    interpolated: bool
    points: int | None
    k: int | None
    threshold: float | Sequence[float] | None
    recall: float | Sequence[float] | None
    mark: str | Sequence[str] | None
    iso_f: bool | Sequence[float]
    beta: float
    threshold_labels: int
    baseline: bool
    label: str | None
    spread: Literal["quartiles", "interval", "groups"] | None
    highlight: int | str | Sequence[Any] | None
    xscale: Literal["linear", "log", "logit"] | None
    yscale: Literal["linear", "log", "logit"] | None


@dataclass(frozen=True, eq=False, repr=False)
class PlotOptions(Appearance):
    """The options of a plot of curves."""

    x: str = "recall"
    ys: tuple[str, ...] = ("precision",)
    rectangles: bool = False
    interpolated: bool = False
    points: int | None = None
    k: int | None = None
    thresholds: tuple[float, ...] = ()
    recalls: tuple[Recall, ...] = ()
    best: tuple[str, ...] = ()
    """The metrics whose best points are marked."""
    scales: tuple[str | None, str | None] = (None, None)
    """The scales of x and y. None: the data decide."""
    iso_f: tuple[float, ...] = ()
    beta: str = "1"
    threshold_labels: int = 0
    baseline: bool = True
    spread: str | None = None
    highlight: int | tuple[str, ...] | None = None
    """Names of the highlighted curves, or how many of the best and of the worst."""
    positive: str | None = None
    score: str = ""
    """The name of the column of scores, if it is one column."""
    line: Mapping[str, Any] = field(default_factory=dict)
    facet: bool | Sequence[str] = False
    average: bool | Sequence[str] = False
    label: str | None = None

    @property
    def is_pr(self) -> bool:
        """Whether this is precision against recall."""
        return (self.x, self.ys) == ("recall", ("precision",))

    @property
    def is_roc(self) -> bool:
        """Whether this is the ROC curve."""
        return (self.x, self.ys) == ("fpr", ("recall",))

    @property
    def is_det(self) -> bool:
        """Whether this is the DET curve."""
        return (self.x, self.ys) == ("fpr", ("fnr",))

    @property
    def is_gain(self) -> bool:
        """Whether this is the gain curve: recall against the share of rows."""
        return (self.x, self.ys) == ("share", ("recall",))

    @property
    def is_square(self) -> bool:
        """Whether both axes go from 0 to 1."""
        return all(axis_quantity(name).unit_range for name in (self.x, self.ys[0]))

    @property
    def has_chance_line(self) -> bool:
        """Whether a random ranking has a line other than the prevalence."""
        return self.is_roc or self.is_gain or self.is_det

    @property
    def area_title(self) -> str:
        """The name of the area in the legend."""
        title = self.display(self.areas[0], "AUC" if self.is_roc else "AP") if self.areas else ""
        return title if self.k is None else f"{title}@{self.k}"

    @property
    def areas(self) -> list[str]:
        """The areas in the legend: under the curve and under its envelope. Other axes have none."""
        if self.is_roc:
            return ["roc_auc"]
        if not self.is_pr:
            return []
        areas = ["average_precision" if self.k is None else f"average_precision@{self.k}"]
        if self.interpolated:
            areas.append(f"interpolated_average_precision{'' if self.points is None else f'_{self.points}'}")
        return areas


def options_of(
    function: str, arguments: Mapping[str, Any], others: Sequence[str] = (), positive: object = None
) -> PlotOptions:
    """Validate the keyword arguments of `plot`. Those that are no options are properties of the lines.

    `others`: what else `function` takes.
    """
    names = list(CurveArguments.__annotations__)
    options = {name: value for name, value in arguments.items() if name in names}
    line = {name: value for name, value in arguments.items() if name not in names}
    get = options.get
    points, k = one_of("points", get("points"), (11, 101, None)), get("k")
    flags = {name: flag(name, get(name, False)) for name in ("rectangles", "interpolated")}
    if k is not None and (flags["interpolated"] or points):
        raise ValueError(
            "k= marks ranks of the curve without interpolation: leave out interpolated= and points=, or k="
        )
    iso_f, beta = _f_levels(get("iso_f")), f_of(get("beta", 1))[1:]
    if beta != "1" and not iso_f:
        raise ValueError("beta= is that of the contours: give iso_f=, too; mark='max_f2' marks the best F2")
    _check_line(function, line, [*names, *others])
    parsed = PlotOptions(
        x=check_axis("x", get("x", "recall")),
        ys=tuple(check_axis("y", name) for name in names_of("y", get("y", "precision"), "names of rates")),
        rectangles=flags["rectangles"],
        interpolated=bool(flags["interpolated"] or points),
        points=points,
        k=None if k is None else whole("k", k, least=1),
        thresholds=tuple(float(Threshold.of(t).threshold) for t in _listed("threshold", options)),
        recalls=tuple(Recall.of(r) for r in _listed("recall", options)),
        best=tuple(_best_point_name(name) for name in _listed("mark", options)),
        scales=(one_of("xscale", get("xscale"), (*SCALES, None)), one_of("yscale", get("yscale"), (*SCALES, None))),
        iso_f=iso_f,
        beta=beta,
        threshold_labels=whole("threshold_labels", get("threshold_labels", 0), least=0),
        baseline=flag("baseline", get("baseline", True)),
        spread=_spread(options),
        highlight=_highlight(get("highlight")),
        positive=None if positive is None else str(scalar(positive)),
        line=line,
        facet=_names_or_flag("facet", get("facet")),
        average=_names_or_flag("average", get("average")),
        label=None if get("label") is None else check_label("label", get("label")),
        **appearance_fields(options),
    )
    _refuse_conflicts(parsed, options)
    return parsed


def _refuse_conflicts(options: PlotOptions, arguments: Mapping[str, Any]) -> None:
    """Refuse options that exclude each other, and options without effect."""
    if options.facet and options.label is not None:
        raise ValueError("label= names one curve, and facet= draws several: leave it out")
    if options.facet and options.ax is not None:
        raise ValueError("facet= draws several axes: leave out ax=, or give figure=")
    if options.facet is True and options.average:
        raise ValueError(
            "facet=True draws every group and average= their mean: leave out one of the two, or name the keys of both"
        )
    for name in ("facet", "average"):
        if options.highlight is not None and getattr(options, name):
            raise ValueError(f"highlight= names some of many curves in one axes: leave it out, or {name}=")
    if arguments.get("spread") is not None and not options.average:
        raise ValueError("spread= is drawn around an average: give average=, too, or leave out spread=")
    of_pr = ("rectangles", "points", "interpolated", "k", "iso_f")
    for name in (*of_pr, *(["average"] if options.x != "k" else [])):
        if getattr(options, name) and not options.is_pr:
            raise ValueError(f"{name}= belongs to precision against recall: leave out x= and y=, or {name}=")
    for name in options.ys:
        if name in Y_ONLY and options.x != "threshold":
            raise ValueError(f"y={name!r} depends on the threshold: give x='threshold', too")
    point_options = {"threshold": options.thresholds, "recall": options.recalls, "mark": options.best}
    point_options |= {name: getattr(options, name) for name in ("rectangles", "points", "k", "threshold_labels")}
    for name, value in point_options.items():
        if value and options.average:
            raise ValueError(
                f"average= draws a mean of curves, which has no thresholds: leave out {name}=, or average="
            )


def keys_of(argument: str, value: bool | str | Sequence[str], keys: Sequence[str]) -> list[str]:
    """Return the key columns of `facet` or `average`. True: all but `system`."""
    if value is False or value is None:
        return []
    if value is True:
        names = [key for key in keys if key != "system"] or list(keys)
        if not names:
            raise ValueError(f"{argument}=True needs groups: name the grouping columns, by=...")
        return names
    names = [str(name) for name in each(argument, value)]  # names of pandas columns need not be text
    refuse_no_keys(argument, names, keys)
    return names


def _names_or_flag(argument: str, value: Any) -> bool | list[Any]:
    """Validate `facet` or `average`: True, False, or names of keys."""
    value = scalar(value)
    if value is None or isinstance(value, bool):
        return bool(value)
    return key_names(argument, value, "True, or names of columns of by")


def _listed(argument: str, options: Mapping[str, Any]) -> list[Any]:
    """Return the values of an option as a list; an empty list without it."""
    return [] if options.get(argument) is None else each(argument, options[argument])


def _best_point_name(name: Any) -> str:
    """Check the name of a best point."""
    match = re.fullmatch(f"max_f({DECIMAL})", name) if isinstance(name, str) else None
    if match is not None:
        return f"max_{f_of(float(match[1]))}"
    if not (isinstance(name, str) and re.fullmatch("(max|min)_.*", name) and is_metric(name)):
        raise ValueError(
            f"mark must be the name of a best point, such as 'max_f1', 'max_mcc' or 'min_cost10', got {shown(name)}"
        )
    return name


def _spread(options: Mapping[str, Any]) -> str | None:
    """Validate `spread`. Several quantities have none by default, because many bands cannot be told apart."""
    y = options.get("y")
    default = None if isinstance(y, (list, tuple)) and len(y) > 1 else "quartiles"
    return one_of("spread", options.get("spread", default), (*SPREADS, None))


def _highlight(value: Any) -> int | tuple[str, ...] | None:
    """Validate `highlight`: a number of curves, or names of curves."""
    if value is None:
        return None
    number_of_curves = scalar(value)
    if isinstance(number_of_curves, (int, float)):
        return whole("highlight", number_of_curves, least=1)
    names = several("highlight", value, "names of curves, or how many")
    for name in names:
        if not isinstance(scalar(name), (str, int, float)):
            raise TypeError(f"highlight takes names of curves, or how many; got {shown(name)}")
    return tuple(dict.fromkeys(str(scalar(name)) for name in names))


def _f_levels(iso_f: Any) -> tuple[float, ...]:
    """Validate `iso_f`, and return the values of F of the contours."""
    if isinstance(scalar(iso_f), bool):
        iso_f = scalar(iso_f)
    if iso_f is None or iso_f is False:
        return ()
    levels = ISO_F if iso_f is True else [float(number("iso_f", level)) for level in each("iso_f", iso_f)]
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"iso_f takes values of F between 0 and 1, got {level!r}")
    return tuple(levels)


def _check_line(function: str, line: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Validate the properties of lines now. matplotlib would raise after the curve is computed."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D

    for name, value in line.items():
        (setting,) = normalize_kwargs({name: value}, Line2D)
        if not hasattr(Line2D, f"set_{setting}"):
            hint = advice(name, arguments) or "further keywords are properties of matplotlib's Line2D"
            raise TypeError(f"{function} has no argument {shown(name)}; {hint}")
        try:
            Line2D([], [], **{setting: value})
            if setting == "color" and value is not None:
                to_rgba(value)
            if setting in ("zorder", "picker", "pickradius") and not isinstance(value, bool):
                real(name, value)
        except (AttributeError, TypeError, ValueError) as error:
            if setting == "color" and isinstance(value, (list, tuple)) and all(isinstance(c, str) for c in value):
                raise ValueError(
                    f"{name} is one colour for all curves; colors={{name: colour}} sets colours by name"
                ) from None
            sentence = f"{name}={shown(value)} is no value of this property of matplotlib's lines"
            raise type(error)(f"{sentence}: {first_line(error)}") from None
