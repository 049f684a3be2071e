"""The arguments that all plots share: names, order, decimals, colours, legend, limits, and where to draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from frame_pr.frames.arguments import flag, scalar, several, text, whole
from frame_pr.frames.messages import examples, kind_of_value, shown
from frame_pr.inputs.policies import Policies
from frame_pr.plotting.styles import check_axes, check_mathematics, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PANELS = 48
"""Most panels of a figure, unless the caller says more."""
_MOST_DECIMALS = 20
_ORDERS = ("frame", "value")


class CommonArguments(TypedDict, total=False):
    """The arguments of every plot."""

    labels: Mapping[Any, str] | None
    order: Literal["frame", "value"] | Sequence[Any] | None
    decimals: int | None
    max_groups: int | None
    ax: Axes | None


class AxesArguments(CommonArguments, total=False):
    """The arguments of plots with colours and a legend."""

    colors: Mapping[Any, Any] | None
    legend: bool


class PanelArguments(AxesArguments, total=False):
    """The arguments of plots that also draw panels."""

    figure: Figure | SubFigure | None


class MatrixArguments(CommonArguments, total=False):
    """The arguments of plots of panels without a legend."""

    figure: Figure | SubFigure | None


@dataclass(frozen=True)
class Appearance:
    """The values of these arguments."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """What to write in place of the names of systems, groups, key columns and metrics."""
    order: str | tuple[str, ...] | None = None
    """Names that come first, or "value"."""
    decimals: int = 2
    max_groups: int | None = None
    ax: Axes | None = None
    colors: Mapping[str, Any] = field(default_factory=dict)
    """Colours by the name of a system, or of a group."""
    legend: bool = True
    figure: Figure | SubFigure | None = None

    def display(self, name: str, default: str | None = None) -> str:
        """The name that the plot shows."""
        return self.labels.get(name, name if default is None else default)

    def check_names(self, names: Iterable[Any], coloured: Iterable[Any] | None = None) -> None:
        """Refuse `order` and `colors` that have no name of the plot; they may have names of other plots, too."""
        names_there = {value_text(name) for name in names}
        with_colours = names_there if coloured is None else {value_text(name) for name in coloured}
        for argument, wanted, there in (("order", self.order, names_there), ("colors", self.colors, with_colours)):
            if wanted and not isinstance(wanted, str) and names_there and not there.intersection(wanted):
                raise ValueError(
                    f"{argument} has no name of this plot: it has {examples(sorted(there)) or 'one colour for all'}"
                )

    def check_number(self, number: int, what: str, most: int | None) -> None:
        """Refuse more rows, groups or systems than `max_groups`, which is `most` by default."""
        limit = self.max_groups or most
        if limit is not None and number > limit:
            raise ValueError(f"{number} {what} are more than max_groups={limit}: filter them, or raise max_groups=")

    def places(self, keys: Sequence[Mapping[str, Any]]) -> list[int]:
        """The numbers of these groups in the order of the caller's names; groups without such a name come last."""
        if not isinstance(self.order, tuple):
            return list(range(len(keys)))
        names = [[value_text(value) for value in key.values()] for key in keys]
        rank = {name: place for place, name in enumerate(self.order)}
        return sorted(range(len(keys)), key=lambda i: [rank.get(name, len(rank)) for name in names[i]])


def split_policies(options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The arguments of a plot, and those that say how rows are ranked."""
    policies = {name: value for name, value in options.items() if name in Policies.__annotations__}
    return {name: value for name, value in options.items() if name not in policies}, policies


def appearance_of(arguments: Mapping[str, Any], decimals: int = 2, *, has_values: bool = True) -> dict[str, Any]:
    """Validate these arguments; `decimals`: the default; `has_values`: whether an order by value has a meaning."""
    get = arguments.get
    check_axes(get("ax"))
    _check_figure(get("figure"))
    if get("order") == "value" and not has_values:
        raise ValueError("order='value': these panels have no value; give a list of names")
    if get("ax") is not None and get("figure") is not None:
        raise ValueError("figure= is where panels are drawn, and ax= one axes: give one of the two")
    return {
        "labels": _labels(get("labels")),
        "order": _order(get("order")),
        "decimals": decimals if get("decimals") is None else whole("decimals", get("decimals"), 0, _MOST_DECIMALS),
        "max_groups": None if get("max_groups") is None else whole("max_groups", get("max_groups"), least=1),
        "ax": get("ax"),
        "colors": _colors(get("colors")),
        "legend": flag("legend", get("legend", True)),
        "figure": get("figure"),
    }


def _order(value: Any) -> str | tuple[str, ...] | None:
    if value is None or (isinstance(value, str) and value in _ORDERS):
        return value
    if isinstance(value, str):
        raise ValueError(f"order takes 'frame', 'value' or a list of names, got {shown(value)}")
    return tuple(dict.fromkeys(value_text(scalar(name)) for name in several("order", value, "names in their order")))


def _labels(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"labels takes a dict of name and label, such as {{'s1': 'Baseline'}}; got {shown(value)}")
    for label in value.values():
        check_mathematics("labels", text("labels", label))
    return {value_text(name): label for name, label in value.items()}


def _check_figure(figure: Any) -> None:
    from matplotlib.figure import Figure, SubFigure

    if figure is not None and not isinstance(figure, (Figure, SubFigure)):
        raise TypeError(f"figure must be a matplotlib Figure or SubFigure, got {kind_of_value(figure)}")


def _colors(value: Any) -> dict[str, Any]:
    """Validate colours by name; a name need not be in this plot."""
    from matplotlib.colors import is_color_like

    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"colors takes a dict of name and colour, such as {{'old': '0.5'}}; got {shown(value)}")
    for name, colour in value.items():
        if not is_color_like(colour):
            raise ValueError(f"colors: {shown(colour)}, of {shown(name)}, is no colour that matplotlib knows")
    return {value_text(name): colour for name, colour in value.items()}
