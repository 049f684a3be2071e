"""The data of a plot of curves, and the options that choose it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import (
    check_float,
    check_whole,
    names_of,
    scalar,
    several,
)
from frame_pr.frames.columns import column_names
from frame_pr.frames.dispatch import read_stream
from frame_pr.frames.kinds import collected, projected
from frame_pr.frames.messages import shown
from frame_pr.functions.curves import CURVE_COLUMNS, curve_table
from frame_pr.functions.evaluation import evaluate, keys_of_means
from frame_pr.inputs.request import Request, Use, request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.metric import Counts
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import net_benefit, rate_of
from frame_pr.plotting import draw
from frame_pr.plotting.draw import Style
from frame_pr.plotting.results import Result, check_dtypes, read_result
from frame_pr.statistics.average_curves import average_curve
from frame_pr.statistics.intervals import intervals
from frame_pr.statistics.units import Evaluation

Y_KEY = "\0y"
"""The key of the quantity on the y axis, if there are several."""
_TITLES = {
    "threshold": "Threshold",
    "share": "Share of the rows",
    "net_benefit": "Net benefit",
    "standardized_net_benefit": "Standardized net benefit",
}
"""Quantities of an axis that are no rates."""
_ALIASES = {"tpr": "recall"}
"""Other names of quantities that are part of the name of a plot."""
_RATES = {"share": "selection_rate"}
"""The rates of quantities with a title of their own."""
BENEFITS = ("net_benefit", "standardized_net_benefit")
_RANKS = 30
"""The most ranks after the tenth at which curves are averaged, evenly spaced on a logarithmic axis.
"""
_EXPLAINED = 12
"""The most rectangles whose heights are written as fractions."""
_MEMBERS = 10
"""Of fewer groups, their own curves are drawn behind the mean: a confidence interval would say
little.
"""
_GRID = 4096
_MOST_THRESHOLDS = 2**14
"""The thresholds of a decision curve, and the most scores next to which it has more."""
_LONG = 2**14
_CELLS = 2**12
"""Points from which a line is drawn without the points that no pixel shows, and the cells that keep
some.
"""
Numbers: TypeAlias = dict[str, Any]
"""Values by name: of metrics, or of the keys of a group."""
TextKey: TypeAlias = tuple[str, ...]
"""The values of the keys of a group as texts."""
Ends: TypeAlias = Sequence[tuple[float, float]]
_EXPECTATION = "plot without truth and score draws a frame that curve gave"


class Kind(NamedTuple):
    """What is special about a plot of two quantities."""

    title: str = ""
    """The title of the y axis, if it is not that of the quantity."""

    area: str = ""
    """The short name of the area under the curve, if it has a meaning."""
    metric: str = ""
    """The metric that is this area."""
    start: Ends = ()
    end: Ends = ()
    """The points without any and with all rows predicted positive, if all curves have them. A
    random ranking is the line between them.
    """


_PR = Kind(area="AP", metric="average_precision")
_ROC = Kind("True positive rate", "AUC", "roc_auc", [(0, 0)], [(1, 1)])
_GAIN = Kind(start=[(0, 0)], end=[(1, 1)])
_DET = Kind(start=[(0, 1)], end=[(1, 0)])
_OTHER = Kind()
_KINDS: Mapping[tuple[str, ...], Kind] = {
    ("recall", "precision"): _PR,
    ("fpr", "recall"): _ROC,
    ("share", "recall"): _GAIN,
    ("fpr", "fnr"): _DET,
}
"""The kinds of plots, by the quantities of x and y."""


class Goal(NamedTuple):
    """A point that `mark` names."""

    text: str
    threshold: float | None = None
    """The threshold that the caller gave."""
    metrics: tuple[str, ...] = ()
    """The metrics that find it: the threshold, and what is best there."""
    before: str = " at "
    """What stands before the threshold."""


class Chart(NamedTuple):
    """What `plot` draws and how: its arguments, validated before anything is computed."""

    x: str
    ys: Sequence[str]
    """The quantities of the axes."""
    facet: bool | list[str]
    mean_over: bool | list[str]
    highlight: int | list[str] | None
    marks: Sequence[Goal]
    score: Any
    """The name of the score, if there is only one."""
    style: Style
    interval: bool
    interpolated: bool
    rectangles: bool
    baseline: bool
    line: Mapping[str, Any]
    """The caller's properties of lines."""
    positive: str
    """The positive label, if the caller gave it."""
    noun: str
    """What the positives of a group are: rows, or a sum of weights; "" if their number means
    nothing.
    """

    def refuse_combinations(self) -> None:
        """Refuse options that mean nothing together."""
        for name in ("rectangles", "interpolated"):
            if getattr(self, name) and not self.is_pr:
                raise ValueError(
                    f"{name}= belongs to precision against recall: leave out x= and y=, or {name}="
                )
        averages = self.mean_over and self.x != "k"
        for name, value in {"interval": self.interval, "mean_over": averages}.items():
            if value and not self.kind.area:
                raise ValueError(
                    f"{name}= is about precision by recall and ROC curves: leave out x= and y=, "
                    f"or {name}="
                )
        if self.mean_over and any((self.rectangles, self.marks, self.interval)):
            raise ValueError(
                "mean_over= draws a mean of curves, which has no thresholds and its own interval: "
                "leave out rectangles=, mark= and interval="
            )
        if self.highlight is not None and any((self.facet, self.mean_over)):
            raise ValueError(
                "highlight= names some of many curves in one axes: leave out facet= and mean_over="
            )
        if set(BENEFITS) & set(self.ys) and self.x != "threshold":
            raise ValueError("y: net benefit depends on the threshold; give x='threshold'")

    @property
    def kind(self) -> Kind:
        """Return what is special about a plot of these quantities."""
        return _KINDS.get((self.x, *self.ys), _OTHER)

    @property
    def envelope(self) -> bool:
        """Return whether curves have an envelope. The mean of interpolated curves has none."""
        return self.interpolated and not self.mean_over

    @property
    def is_pr(self) -> bool:
        """Return whether this is precision against recall."""
        return self.kind is _PR

    @property
    def is_roc(self) -> bool:
        """Return whether this is the ROC curve."""
        return self.kind is _ROC

    @property
    def is_det(self) -> bool:
        """Return whether this is the detection error tradeoff."""
        return self.kind is _DET

    @property
    def is_square(self) -> bool:
        """Return whether both axes go from 0 to 1."""
        return has_unit_range(self.x) and has_unit_range(self.ys[0])


def quantity_title(name: str) -> str:
    """Return the title of an axis."""
    return _TITLES.get(name) or rate_of(name).title


def has_unit_range(name: str) -> bool:
    """Return whether an axis goes from 0 to 1."""
    return name == "share" or (name not in _TITLES and rate_of(name).range == "0 to 1")


def read_quantity(argument: str, name: Any) -> str:
    """Validate the name of the quantity of an axis."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} takes the name of a rate, got {shown(name)}")
    quantity = _ALIASES.get(name, name)
    if quantity not in _TITLES:
        try:
            rate_of(quantity)
        except ValueError as error:
            raise ValueError(f"{argument}: {error}") from None
    return quantity


def read_quantities(argument: str, names: Any) -> list[str]:
    """Validate the names of the quantities of an axis."""
    return [read_quantity(argument, name) for name in names_of(argument, names, "names of rates")]


def read_keys(argument: str, value: Any) -> bool | list[str]:
    """Validate `facet` or `mean_over`: True, False, or names of keys."""
    value = scalar(value)
    if value is None or isinstance(value, bool):
        return bool(value)
    return list(map(str, column_names(argument, value)))


def read_highlight(value: Any) -> int | list[str] | None:
    """Validate `highlight`: how many of the best and of the worst curves, or names of curves."""
    number = scalar(value)
    if number is None:
        return None
    if isinstance(number, (int, float)):
        return check_whole("highlight", number, least=1)
    names = several("highlight", value, "names of curves, or how many")
    return list(map(draw.value_text, names))


def read_marks(value: Any) -> list[Goal]:
    """Validate `mark`: one mark or several."""
    return [] if value is None else list(map(_mark, several("mark", value, "marks")))


def _mark(value: Any) -> Goal:
    """Validate a mark: a threshold, a cutoff, or a best value."""
    number = scalar(value)
    name = ""
    if isinstance(number, str):
        name = re.sub("^(threshold@|k=)", "", number)
        if name.startswith("threshold=") and is_metric(f"k@{name}"):
            number = float(name.removeprefix("threshold="))
    if not isinstance(number, (str, bool)) and hasattr(number, "__float__"):
        if not isinstance(number, int) or abs(number) >= 2**62:
            number = check_float("mark", number)
        return Goal("threshold", number, before=" ")
    metric = f"threshold@{name}"
    if not is_metric(metric):
        raise ValueError(
            "mark takes a threshold, a cutoff such as 'recall=0.8' or 'k=10', or a best value such "
            f"as 'max_f1'; got {shown(value)}"
        )
    if name.startswith(("max_", "min_")):
        title = draw.metric_title(name)
        return Goal(title[0].lower() + title[1:], metrics=(metric, name))
    head, is_rate, cutoff = name.partition("=")
    text = f"rank {name}"
    if is_rate:
        text = f"{draw.metric_title(head).lower()} {cutoff}"
    return Goal(text, metrics=(metric,))


def score_name(score: Any) -> Any:
    """Return the name of a score, and several scores as they are."""
    if isinstance(score, pl.Expr):
        return score.meta.output_name(raise_if_undetermined=False)
    return score


class Mark(NamedTuple):
    """A marked point of a curve."""

    number: int
    """The place of the mark in the call."""
    text: str
    """What the mark is, such as `max F1`, without numbers."""
    value: str
    """Its numbers, such as ` = 0.8 at 0.31`."""
    threshold: str
    x: float
    y: float


class Curve(NamedTuple):
    """The curve of a group, or the mean of the curves of many groups."""

    key: Numbers
    """The values of its keys by name, and the quantity of its y axis as `Y_KEY` if there are
    several.
    """
    points: pl.DataFrame
    """The points in the order of the ranking: `x, y`, and `envelope` if the plot draws it."""
    area: float | None = None
    """The area under the curve, if it has a name."""
    envelope_area: float | None = None
    positives: float | None = None
    rows: float | None = None
    """The sizes of the group; None if the frame does not have them, or of a mean curve."""
    marks: Sequence[Mark] = ()
    groups: int | None = None
    """How many curves were averaged."""
    spread: float | None = None
    """The standard deviation of the areas of the averaged curves, if there are few."""
    band: pl.DataFrame | None = None
    """The pointwise confidence interval of the curve: `x, low, high`."""
    members: Sequence[Curve] = ()
    """The averaged curves, if they are few."""
    steps: Sequence[tuple[int, int, int]] = ()
    """Of few steps: how many positives each adds, and tp and k after it."""


class Curves(NamedTuple):
    """The curves of a plot."""

    keys: Sequence[str]
    curves: list[Curve]
    without_positives: list[tuple[Any, ...]]
    """The keys of groups that have no curve."""


class ScoredRows(NamedTuple):
    """The arguments of `evaluate` but for the metrics."""

    frame: Any
    truth: Any
    score: Any
    by: Any
    positive: Any
    options: Any

    @property
    def keywords(self) -> Numbers:
        """Return the keyword arguments that all functions share."""
        return {"by": self.by, "positive": self.positive, **self.options}

    @property
    def request(self) -> Request:
        """Return the validated arguments."""
        return request_of(self.truth, self.score, self.by, self.positive, self.options)

    def in_memory(self) -> ScoredRows:
        """Read a stream or a LazyFrame, which the calls that follow would read again."""
        frame = read_stream(self.frame)
        if isinstance(frame, pl.LazyFrame):
            frame = projected(frame, self.request.columns).collect()
        return self._replace(frame=frame)

    def table(self, names: Sequence[str]) -> Result:
        """Return metrics of the groups."""
        frame = evaluate(
            self.frame,
            names,
            self.truth,
            self.score,
            **self.keywords,
        )
        return read_result(frame, dict.fromkeys(names, "such metrics"), "plot draws metrics")


def _as_text(key: Sequence[Any]) -> TextKey:
    """Return a key that is the same in other frames, also if it is NaN."""
    return tuple(map(draw.value_text, key))


class Group(NamedTuple):
    """A group of rows and its thresholds, from the best score on."""

    key: tuple[Any, ...]
    """The values of its keys."""
    table: pl.DataFrame
    """The columns `k` and `tp`, and `threshold` if the plot needs it. A frame of `curve` has rates,
    too.
    """
    numbers: Numbers
    """Its `positives` and `rows`, as far as they are known, and the metrics that find marks."""
    is_whole: bool = False
    """Whether it has all thresholds."""
    band: pl.DataFrame | None = None
    """The confidence interval of its curve: `x, low, high`."""

    def points(self, x: str, y: str) -> pl.DataFrame:
        """Return the quantities `x` and `y`: columns of the table, or rates of its counts.

        Here, the rates of 10^6 thresholds take half of the time that `curve` takes for them.
        """
        # polars multiplies by the reciprocal of a constant, which changes last digits.
        zero = pl.col("k") * 0
        counts = Counts(
            pl.col("tp"),
            pl.col("k"),
            zero + self.numbers.get("positives"),
            zero + self.numbers.get("rows"),
            fractional=self.table["tp"].dtype.is_float(),
        )
        axes = {}
        for axis, name in {"x": x, "y": y}.items():
            quantity = pl.col(name)
            if name not in self.table.columns:
                quantity = rate_of(_RATES.get(name, name)).value(counts)
            axes[axis] = quantity.cast(pl.Float64)
        query = self.table.lazy().select(**axes)
        return collected(query, self.table.height).rechunk()

    @property
    def is_ascending(self) -> bool:
        """Return whether lower scores rank first."""
        scores = self.table["threshold"].drop_nulls()
        return len(scores) > 0 and bool(scores[0] < scores[-1])


def curves_of_rows(rows: ScoredRows, chart: Chart) -> Curves:
    """Compute the curves of all groups from the counts at their thresholds.

    All columns of `curve` and a second call for the sizes would take longer than the drawing: a
    plot of 10^6 rows took 1.6 times the CPU time of `curve`, and takes 1.2 times (median of calls
    that alternate in one process, without saving).
    """
    rows = rows.in_memory()
    canonical, output = rows_of(rows.frame, rows.request.used_as(Use(ranks=True)))
    of_marks = [name for goal in chart.marks for name in goal.metrics]
    metrics = {name: name for name in ("positives", "rows", *of_marks)}
    of_groups = values(canonical, metrics).with_columns(code="group")
    columns = ["group", "k", "tp"]
    if chart.marks or chart.x == "threshold":
        columns.append("threshold")
    of_thresholds = curve_table(canonical, columns[1:]).select(columns)
    sizes, table = pl.collect_all([output.restored(of_groups), of_thresholds])
    key_columns = {name: pl.col(column) for name, column in output.key_columns.items()}
    check_dtypes(sizes.select(**key_columns), output.keys, "plot draws groups")
    bands = {}
    if chart.interval:
        bands = {
            _as_text(key): _band(band, chart.x) for key, band in _average(rows, chart).groups()
        }
    groups = []
    for numbers in sizes.iter_rows(named=True):
        start, end = (
            table["group"].search_sorted(numbers["code"], side) for side in ("left", "right")
        )
        key = tuple(numbers[column] for column in output.key_columns.values())
        group = Group(
            key,
            table[start:end].drop("group"),
            numbers,
            is_whole=True,
            band=bands.get(_as_text(key)),
        )
        groups.append(group)
    return _curves(output.keys, groups, chart)


def curves_of_result(frame: Any, chart: Chart) -> Curves:
    """Return the curves of a frame that `curve` gave.

    It may lack thresholds, so no area is known.
    """
    arguments = {"mark": chart.marks, "interval": chart.interval, "rectangles": chart.rectangles}
    for argument, value in arguments.items():
        if value:
            raise ValueError(
                f"{argument}= needs all scores, and a frame of curve may lack some: give the "
                "scored rows with truth and score"
            )
    columns = {"fn": "", "tn": ""} | _columns(chart)
    result = read_result(frame, columns, _EXPECTATION)
    if result.table["k"].null_count():
        raise ValueError(f"{_EXPECTATION}, and column 'k' of this one is no rank")
    groups = [_group_of_result(key, table) for key, table in result.groups()]
    return _curves(list(result.keys), groups, chart)


def _columns(chart: Chart) -> dict[str, str]:
    """Return the columns of `curve` that a plot needs, each with the advice if one lacks it."""
    columns = dict.fromkeys(CURVE_COLUMNS, "for scored rows, give truth and score")
    for name in (chart.x, *chart.ys):
        if name in ("share", *BENEFITS):
            columns |= dict.fromkeys(("fn", "tn"), "curve(..., rates=['fn', 'tn']) adds it")
        elif name not in columns:
            columns[name] = f"curve(..., rates=[{name!r}]) adds it"
    return columns


def _group_of_result(key: tuple[Any, ...], table: pl.DataFrame) -> Group:
    """Return a group of a frame of `curve`, with its size as far as the columns have it."""
    table = table.sort("k", maintain_order=True)
    last = table.row(-1, named=True)
    sizes = {}
    if "fn" in last and "tn" in last:
        sizes["positives"] = last["tp"] + last["fn"]
        sizes["rows"] = last["k"] + last["fn"] + last["tn"]
    elif last["recall"] is None:
        sizes["positives"] = 0
    elif last["tp"]:
        sizes["positives"] = round(last["tp"] / last["recall"], 6)
    return Group(key, table, sizes)


def _curves(
    keys: Sequence[str],
    groups: Sequence[Group],
    chart: Chart,
) -> Curves:
    """Return a curve for each group and each quantity of the y axis."""
    curves = []
    without = []
    for group in groups:
        if group.numbers.get("positives") == 0:
            without.append(group.key)
        elif group.table.height:
            curves += [_curve(group, y, keys, chart) for y in chart.ys]
    return Curves(keys, curves, without)


def _curve(
    group: Group,
    y: str,
    keys: Sequence[str],
    chart: Chart,
) -> Curve:
    """Return the curve of a group."""
    points = _points(group, y, chart)
    areas = _areas(points, chart) if group.is_whole else {}
    return Curve(
        _key(keys, group.key, y, chart),
        _visible(points),
        positives=group.numbers.get("positives"),
        rows=group.numbers.get("rows"),
        marks=_marked(group, y, chart),
        band=group.band,
        steps=_steps(group.table) if chart.rectangles else [],
        **areas,
    )


def _points(
    group: Group,
    y: str,
    chart: Chart,
) -> pl.DataFrame:
    """Return the points of a curve."""
    if y in BENEFITS:
        return _benefits(group, y)
    points = group.points(chart.x, y).drop_nulls()
    if chart.x == "threshold":
        # No axis has a place for infinite scores.
        points = points.filter(pl.col("x").is_finite())
    if chart.interpolated:
        points = points.with_columns(envelope=pl.col("y").cum_max(reverse=True))
    if chart.is_pr and points["x"][-1] > 0:
        # Misses above the first hit add no recall.
        points = points.slice(int((points["x"] == 0).sum()))
    return points


def _visible(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points of a line, of a long one four in each of 4096 cells.

    They are the first, the lowest, the highest and the last, and a cell is narrower than a pixel.
    """
    import numpy as np

    x = points["x"]
    if len(x) <= _LONG or not (x.is_sorted() or x.is_sorted(descending=True)):
        return points
    starts = cell_starts(x)
    heights = points["y"].to_numpy()
    first = points[starts]
    lowest = first.with_columns(y=np.minimum.reduceat(heights, starts))
    highest = first.with_columns(y=np.maximum.reduceat(heights, starts))
    last = points[np.append(starts[1:], len(x)) - 1]
    four = pl.concat([first, lowest, highest, last])
    thinned: pl.DataFrame = four[np.arange(four.height).reshape(4, -1).T.ravel()]
    return thinned


def cell_starts(x: pl.Series, n: int = _CELLS) -> Any:
    """Return the places in sorted numbers where cells of the axis begin.

    Cells also end at logarithmically spaced places, so that a reader may change the scale.
    """
    import numpy as np

    values = x.to_numpy()
    if values[0] > values[-1]:
        values = -values
    even = np.searchsorted(values, np.linspace(values[0], values[-1], n), side="right")
    growing = np.geomspace(1, len(x), n).astype(np.int64)
    starts = np.unique(np.concatenate([[0], even, growing]))
    return starts[starts < len(x)]


def _benefits(
    group: Group,
    y: str,
    at: float | None = None,
) -> pl.DataFrame:
    """Return net benefits at thresholds, which fall between two scores, too.

    Without `at`, the thresholds are a grid, and on both sides of each score the nearest floats.
    """
    import numpy as np

    scores = group.table["threshold"].cast(pl.Float64).to_numpy()
    if ((scores < 0) | (scores > 1)).any():
        raise ValueError("y: net benefit needs scores that are probabilities between 0 and 1")
    thresholds = np.array([at])
    if at is None:
        near = scores[: _MOST_THRESHOLDS * (len(scores) <= _MOST_THRESHOLDS)]
        grid = np.linspace(0.0, 0.99, _GRID)
        thresholds = np.unique(np.concatenate([grid, near, np.nextafter(near, 2.0)]))
        thresholds = thresholds[thresholds < 1]
    # Rows with a score of at least the threshold are predicted positive.
    order = 1 if group.is_ascending else -1
    selected = np.searchsorted(order * scores, order * thresholds, side="right")
    tp, k = (np.append(0.0, group.table[name])[selected] for name in ("tp", "k"))
    points = pl.DataFrame({"x": thresholds, "tp": tp, "fp": k - tp})
    odds = pl.col("x") / (1 - pl.col("x"))
    total = group.numbers["rows" if y == "net_benefit" else "positives"]
    benefits = net_benefit(pl.col("tp"), pl.col("fp"), odds, pl.lit(total))
    return points.select("x", y=benefits)


def _steps(table: pl.DataFrame) -> list[tuple[int, int, int]]:
    """Return how many positives each step adds, and tp and k after it, if they are few counts."""
    tp = table["tp"]
    if not tp.dtype.is_integer() or tp.n_unique() > _EXPLAINED + 1:
        return []
    added = pl.col("tp").diff().fill_null(pl.col("tp"))
    return table.select(added.alias("added"), "tp", "k").filter(pl.col("added") > 0).rows()


def _areas(points: pl.DataFrame, chart: Chart) -> Numbers:
    """Return the area under a curve: the sum over its steps, or of ROC its trapezoids."""
    if not (chart.kind.area and points.height):
        return {}
    x = pl.col("x")
    y = pl.col("y")
    width = x - x.shift(1, fill_value=0.0)
    area = (width * y).sum()
    if chart.is_roc:
        # Also before the first threshold and after the last.
        heights = (y + y.shift(1, fill_value=0.0)) / 2
        area = (width * heights).sum() + (1 - x.last()) * (1 + y.last()) / 2
    areas = {"area": area}
    if chart.interpolated:
        areas["envelope_area"] = (width * pl.col("envelope")).sum()
    query = points.lazy().select(**areas)
    return collected(query, points.height).row(0, named=True)


def _marked(
    group: Group,
    y: str,
    chart: Chart,
) -> list[Mark]:
    """Return the marked points. A threshold is at its own place on an axis of thresholds."""
    marks = []
    for number, goal in enumerate(chart.marks):
        threshold = goal.threshold
        if goal.metrics:
            threshold = group.numbers[goal.metrics[0]]
        if threshold is None:
            continue
        point = _point_at(group, y, threshold, chart)
        if None not in point:
            text = draw.threshold_text(threshold)
            best = [f" = {draw.number_text(group.numbers[name])}" for name in goal.metrics[1:]]
            value = "".join([*best, goal.before, text])
            mark = Mark(
                number,
                goal.text,
                value,
                text,
                *map(float, point),
            )
            marks.append(mark)
    return marks


def _point_at(
    group: Group,
    y: str,
    threshold: float,
    chart: Chart,
) -> tuple[Any, ...]:
    """Return the point of a curve at a threshold, with None where it has none."""
    if y in BENEFITS:
        return _benefits(group, y, float(threshold)).row(0)
    scores = group.table["threshold"]
    reached = scores <= threshold if group.is_ascending else scores >= threshold
    n = int(reached.sum())
    if n == 0:
        return (None,)
    last = group._replace(table=group.table.slice(n - 1, 1))
    x, value = last.points(chart.x, y).row(0)
    return (threshold if chart.x == "threshold" else x), value


def _average(rows: ScoredRows, chart: Chart, **arguments: Any) -> Result:
    """Return mean curves, or the bounds of the curves of groups."""
    arguments |= {"x": chart.x, **rows.keywords}
    frame = average_curve(rows.frame, rows.truth, rows.score, **arguments)
    columns = dict.fromkeys((chart.x, *chart.ys, "low", "high", "groups"), "a mean curve")
    return read_result(frame, columns, "plot draws mean curves")


def _band(table: pl.DataFrame, x: str) -> pl.DataFrame | None:
    """Return the bounds of a curve at each place of an axis, if it has some."""
    band = table.select(pl.col(x).alias("x"), "low", "high").drop_nulls()
    return band if band.height else None


def mean_curves(rows: ScoredRows, chart: Chart) -> Curves:
    """Average the curves of the groups, or metrics of the groups at ranks."""
    over = chart.mean_over
    of_groups = rows._replace(by=keys_of_means(rows.by, over)).in_memory()
    if of_groups.by is None:
        raise ValueError("mean_over=True averages the groups of by=: name them, mean_over=...")
    if chart.x == "k":
        return _means_at_ranks(of_groups, chart)
    areas = _mean_areas(of_groups, chart)
    is_few = max((area["n"] for area in areas.values()), default=0) < _MEMBERS
    band = {"band": None} if is_few else {}
    result = _average(
        of_groups,
        chart,
        mean_over=over,
        interpolated=chart.interpolated,
        **band,
    )
    members: list[Curve] = []
    if is_few:
        members = curves_of_rows(of_groups, chart).curves
    curves = []
    for key, table in result.groups():
        if table.height:
            names = _key(list(result.keys), key, chart.ys[0], chart)
            area = areas[_as_text(key)]
            mean = Curve(
                names,
                table.select(x=chart.x, y=chart.ys[0]),
                area["area"],
                groups=table["groups"][0],
                spread=area["spread"],
                band=_band(table, chart.x),
                members=[each for each in members if names.items() <= each.key.items()],
            )
            curves.append(mean)
    return Curves(list(result.keys), curves, [])


def _mean_areas(rows: ScoredRows, chart: Chart) -> dict[TextKey, Numbers]:
    """Return the mean `area` of the groups, the standard deviation `spread`, and the number `n`."""
    name = "interpolated_" * chart.interpolated + chart.kind.metric
    areas = rows.table([name])
    over = chart.mean_over
    what = Evaluation(name, rows.truth, rows.score, rows.by, over, None, None, rows.options)
    keys = [areas.keys[key] for key in what.keys_left(list(areas.keys))]
    # A constant stands for the key that is left if there is none.
    groups = areas.table.group_by(keys or pl.lit(0), maintain_order=True)
    value = pl.col(name)
    means = groups.agg(n=value.count(), area=value.mean(), spread=value.std())
    by_key = {}
    for row in means.iter_rows(named=True):
        key = [row[column] for column in keys]
        by_key[_as_text(key)] = row
    return by_key


def _means_at_ranks(rows: ScoredRows, chart: Chart) -> Curves:
    """Return the means of metrics at ranks, and their confidence intervals."""
    last: Any = rows.table(["rows"]).table["rows"].max() or 1
    ranks = {*range(1, min(last, 10) + 1)}
    ranks |= {round(last ** (i / _RANKS)) for i in range(_RANKS + 1)}
    names = [f"{y}@{k}" for y in chart.ys for k in sorted(ranks)]
    keywords: dict[str, Any] = {**rows.keywords, "mean_over": chart.mean_over}
    frame = intervals(
        rows.frame,
        names,
        rows.truth,
        rows.score,
        **keywords,
    )
    columns = dict.fromkeys(("metric", "value", "low", "high"), "means") | {"n": "", "units": ""}
    result = read_result(frame, columns, "plot draws means")
    quantity, rank = (pl.col("metric").str.split("@").list.get(i) for i in (0, 1))
    table = result.table.with_columns(quantity=quantity, x=rank.cast(pl.Int64), y="value")
    keys = {**result.keys, Y_KEY: "quantity"}
    curves = []
    for (*key, y), points in Result(keys, table).groups():
        curve_of_mean = Curve(
            _key(list(result.keys), key, y, chart),
            points.select("x", "y"),
            groups=points["n" if "n" in points.columns else "units"][0],
            band=_band(points, "x"),
        )
        curves.append(curve_of_mean)
    return Curves(list(result.keys), curves, [])


def _key(
    names: Sequence[str],
    key: Sequence[Any],
    y: str,
    chart: Chart,
) -> Numbers:
    """Return the key of a curve: that of its group, and its quantity if there are several."""
    key_by_name = dict(zip(names, key, strict=True))
    return {**key_by_name, Y_KEY: y} if len(chart.ys) > 1 else key_by_name
