"""The data of a plot of curves: the options that choose it, the frames of `curve`, and numbers of `evaluate`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import check_flag, check_whole, names_of, scalar, several
from frame_pr.frames.columns import column_names, has_keys, listed
from frame_pr.frames.messages import shown
from frame_pr.functions.curves import CURVE_COLUMNS, curve
from frame_pr.functions.evaluation import evaluate, refuse_no_keys
from frame_pr.metrics.metric import Counts, ratio
from frame_pr.metrics.names import is_metric
from frame_pr.metrics.rates import net_benefit, rate_of
from frame_pr.plotting import draw
from frame_pr.plotting.results import Result, read_result
from frame_pr.statistics.average_curves import average_curve
from frame_pr.statistics.intervals import intervals

Y_KEY = "\0y"
"""The key of the quantity on the y axis, if there are several."""
_TITLES = {
    "threshold": "Threshold",
    "share": "Share of the rows",
    "net_benefit": "Net benefit",
    "standardized_net_benefit": "Standardized net benefit",
}
"""Quantities of an axis that are no rates."""
_RANKS = 30
"""The most ranks after the tenth at which curves are averaged, evenly spaced on a logarithmic axis."""
BENEFITS = ("net_benefit", "standardized_net_benefit")
_EXPECTATION = "plot without truth and score draws a frame that curve gave"


@dataclass(frozen=True, eq=False, repr=False)
class CurveOptions:
    """The options of `plot` that choose what it draws."""

    x: str
    ys: tuple[str, ...]
    facet: bool | tuple[str, ...]
    average: bool | tuple[str, ...]
    interpolated: bool
    rectangles: bool
    marks: tuple[str, ...]
    """Cutoffs and best values, as after `threshold@`."""
    highlight: int | tuple[str, ...] | None
    baseline: bool
    score: str
    """The name of the scores, if it is one column."""

    @property
    def axes(self) -> tuple[str, tuple[str, ...]]:
        """Return the quantities of both axes."""
        return self.x, self.ys

    @property
    def is_pr(self) -> bool:
        """Return whether this is precision against recall."""
        return self.axes == ("recall", ("precision",))

    @property
    def is_roc(self) -> bool:
        """Return whether this is the ROC curve."""
        return self.axes == ("fpr", ("recall",))

    @property
    def area(self) -> str | None:
        """Return the metric that is the area under the curve."""
        return "average_precision" if self.is_pr else "roc_auc" if self.is_roc else None


def curve_options(arguments: Mapping[str, Any], score: Any) -> CurveOptions:
    """Validate the options of `plot` before anything is computed."""
    name = (
        score.meta.output_name(raise_if_undetermined=False) if isinstance(score, pl.Expr) else score
    )
    ys = names_of("y", arguments["y"], "names of rates")
    options = CurveOptions(
        x=_quantity("x", arguments["x"]),
        ys=tuple(_quantity("y", name) for name in ys),
        facet=_keys("facet", arguments["facet"]),
        average=_keys("average", arguments["average"]),
        interpolated=check_flag("interpolated", arguments["interpolated"]),
        rectangles=check_flag("rectangles", arguments["rectangles"]),
        marks=tuple(
            map(
                _mark,
                [] if arguments["mark"] is None else several("mark", arguments["mark"], "marks"),
            )
        ),
        highlight=_highlight(arguments["highlight"]),
        baseline=check_flag("baseline", arguments["baseline"]),
        score=name if isinstance(name, str) else "",
    )
    for name in ("rectangles", "interpolated", *(["average"] if options.x != "k" else [])):
        if getattr(options, name) and not options.is_pr:
            raise ValueError(
                f"{name}= belongs to precision against recall: leave out x= and y=, or {name}="
            )
    if options.average and (options.rectangles or options.marks):
        raise ValueError(
            "average= draws a mean of curves, which has no thresholds: leave out rectangles= and mark="
        )
    if options.highlight is not None and (options.facet or options.average):
        raise ValueError(
            "highlight= names some of many curves in one axes: leave out facet= and average="
        )
    if set(BENEFITS) & set(ys) and options.x != "threshold":
        raise ValueError("y: net benefit depends on the threshold; give x='threshold'")
    return options


def quantity_title(name: str) -> str:
    """Return the title of an axis."""
    return _TITLES.get(name) or rate_of(name).title


def has_unit_range(name: str) -> bool:
    """Return whether an axis goes from 0 to 1."""
    return name == "share" or (name not in _TITLES and rate_of(name).range == "0 to 1")


def benefit(name: str, counts: Counts, threshold: pl.Expr) -> pl.Expr:
    """Return the net benefit or the standardized net benefit at a threshold."""
    total = counts.rows if name == "net_benefit" else counts.positives
    return net_benefit(counts.tp, counts.k - counts.tp, threshold / (1 - threshold), total)


def _quantity(argument: str, name: Any) -> str:
    """Check the name of the quantity of an axis."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} takes the name of a rate, got {shown(name)}")
    if name not in _TITLES:
        try:
            rate_of(name)
        except ValueError as error:
            raise ValueError(f"{argument}: {error}") from None
    return name


def _keys(argument: str, value: Any) -> bool | tuple[str, ...]:
    """Validate `facet` or `average`: True, False, or names of keys."""
    value = scalar(value)
    if value is None or isinstance(value, bool):
        return bool(value)
    return tuple(map(str, column_names(argument, value)))


def _highlight(value: Any) -> int | tuple[str, ...] | None:
    """Validate `highlight`: how many of the best and of the worst curves, or names of curves."""
    number = scalar(value)
    if isinstance(number, (int, float)):
        return check_whole("highlight", number, least=1)
    return (
        None
        if value is None
        else tuple(map(str, several("highlight", value, "names of curves, or how many")))
    )


def _mark(value: Any) -> str:
    """Validate a mark: a threshold, a cutoff such as "recall=0.8" or "k=10", or a best value such as "max_f1"."""
    number = scalar(value)
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return f"threshold={number:g}"
    name = re.sub("^(threshold@|k=)", "", value) if isinstance(value, str) else ""
    if name.startswith("threshold="):
        name = name if is_metric(f"recall@{name}") else ""
    elif not is_metric(f"threshold@{name}"):
        name = ""
    if not name:
        raise ValueError(
            f"mark takes a threshold, a cutoff such as 'recall=0.8' or 'k=10', or a best value such as 'max_f1'; "
            f"got {shown(value)}"
        )
    return name


class Mark(NamedTuple):
    """A marked point of a curve."""

    number: int
    """The place of the mark in the call."""
    text: str
    x: float
    y: float


class Curve(NamedTuple):
    """The curve of a group, or the mean of the curves of many groups."""

    key: dict[str, Any]
    """The values of its keys by name, and the quantity of its y axis as `Y_KEY` if there are several."""
    points: pl.DataFrame
    """The points in the order of the ranking: `x, y`, and `envelope`, `low` and `high` if the plot draws them."""
    area: float | None = None
    """The area under the curve, if it has a name."""
    envelope_area: float | None = None
    positives: float | None = None
    rows: float | None = None
    """The sizes of the group; None if the frame does not have them, or of a mean curve."""
    marks: tuple[Mark, ...] = ()
    groups: int | None = None
    """How many curves were averaged."""

    @property
    def size_text(self) -> str:
        """Return how many positives, or averaged groups, the curve has."""
        if self.groups is not None:
            return f"{self.groups:,} groups"
        return "" if self.positives is None else f"P = {draw.count_text(self.positives)}"


class Curves(NamedTuple):
    """The curves of a plot."""

    keys: list[str]
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
    row_options: Mapping[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """Return the keyword arguments that all functions share."""
        return {"by": self.by, "positive": self.positive, **self.row_options}

    def numbers(
        self, names: Sequence[str], **options: Any
    ) -> dict[tuple[Any, ...], dict[str, Any]]:
        """Return metrics by the keys of the groups."""
        if not names:
            return {}
        frame = evaluate(self.frame, names, self.truth, self.score, **self.options, **options)
        columns = [*(f"mean_{name}" for name in names), "groups"] if options else names
        result = read_result(frame, dict.fromkeys(columns, "such metrics"), "plot draws metrics")
        return {key: table.select(columns).row(0, named=True) for key, table in result.groups()}


def curves_of_rows(rows: ScoredRows, options: CurveOptions) -> Curves:
    """Compute the curves of all groups."""
    quantities = dict.fromkeys([options.x, *options.ys, "fn", "tn"])
    rates = [name for name in quantities if name not in (*CURVE_COLUMNS, *_TITLES)]
    frame = curve(rows.frame, rows.truth, rows.score, rates=rates, **rows.options)
    return _curves(_read_curve(frame, options), rows, options)


def curves_of_result(frame: Any, options: CurveOptions) -> Curves:
    """Return the curves of a frame that `curve` gave."""
    result = _read_curve(frame, options)
    needs_rows = options.is_roc or options.marks
    return _curves(result, _tally(result) if needs_rows else None, options)


def _read_curve(frame: Any, options: CurveOptions) -> Result:
    """Read a result of `curve`, and add the quantities that are no rates. Rows may be in any order."""
    advice = "for scored rows, give truth and score"
    columns = dict.fromkeys(CURVE_COLUMNS, advice) | {"fn": "", "tn": ""}
    for name in (options.x, *options.ys):
        if name not in (*columns, *_TITLES):
            columns[name] = f"curve(..., rates=[{name!r}]) adds it"
        elif name in ("share", *BENEFITS):
            columns |= dict.fromkeys(("fn", "tn"), "curve(..., rates=['fn', 'tn']) adds it")
    result = read_result(frame, columns, _EXPECTATION)
    table = result.table
    if table["k"].null_count():
        raise ValueError(f"{_EXPECTATION}, and column 'k' of this one is no rank")
    if not {"fn", "tn"} <= {*table.columns}:
        return Result(result.keys, table)
    counts = Counts(
        pl.col("tp"),
        pl.col("k"),
        pl.col("tp") + pl.col("fn"),
        pl.col("k") + pl.col("fn") + pl.col("tn"),
    )
    extra = {"share": ratio(counts.k, counts.rows)} if "share" in (options.x, *options.ys) else {}
    if needs := set(BENEFITS) & set(options.ys):
        t = pl.col("threshold").cast(pl.Float64)
        if table.select(((t < 0) | (t > 1)).any()).item():
            raise ValueError("y: net benefit needs scores that are probabilities between 0 and 1")
        extra |= {name: pl.when(t < 1).then(benefit(name, counts, t)) for name in needs}
    return Result(result.keys, table.with_columns(**extra) if extra else table)


def _tally(result: Result) -> ScoredRows:
    """Return the rows behind a curve as counts, so that `evaluate` computes the metrics of its groups."""
    if "fn" not in result.table.columns:
        raise ValueError(
            "the curve has no columns 'fn' and 'tn'; curve(..., rates=['fn', 'tn']) adds them"
        )
    ascending = any(_is_ascending(table) for _, table in result.groups())
    keys, table, tables = result.key_columns, result.table.sort("k", maintain_order=True), []
    last = table.group_by(keys).last() if keys else table[-1:]
    for label, count, rest in (
        (True, pl.col("tp"), "fn"),
        (False, pl.col("k") - pl.col("tp"), "tn"),
    ):
        step = count - count.shift(1, fill_value=0)
        tables.append(
            table.select(*keys, "threshold", truth=label, n=step.over(keys) if keys else step)
        )
        tables.append(last.select(*keys, threshold=pl.lit(None), truth=label, n=rest))
    frame = pl.concat(tables, how="vertical_relaxed").filter(pl.col("n") > 0)
    row_options: dict[str, Any] = {"unscored": "unretrieved", "ascending": ascending}
    row_options["count" if frame["n"].dtype.is_integer() else "weight"] = "n"
    return ScoredRows(frame, "truth", "threshold", result.key_columns or None, None, row_options)


def _is_ascending(table: pl.DataFrame) -> bool:
    """Return whether lower scores rank first."""
    ends = table.select(
        first=pl.col("threshold").sort_by("k").first(), last=pl.col("threshold").sort_by("k").last()
    )
    first, last = ends.row(0)
    return first is not None and first < last


def _curves(result: Result, rows: ScoredRows | None, options: CurveOptions) -> Curves:
    """Return a curve for each group and each quantity of the y axis."""
    best = [name for name in options.marks if name.startswith(("max_", "min_"))]
    thresholds = [
        f"threshold@{name}" for name in options.marks if not name.startswith("threshold=")
    ]
    metrics = [*(["roc_auc"] if options.is_roc else []), *best, *thresholds]
    numbers = rows.numbers(list(dict.fromkeys(metrics))) if rows else {}
    curves, without = [], []
    for key, table in result.groups():
        table = table if table["k"].is_sorted() else table.sort("k", maintain_order=True)
        if not table.height or table["recall"].null_count() == table.height:
            without.append(key)
            continue
        last = table.row(-1, named=True)
        from_recall = round(last["tp"] / last["recall"], 6) if last["tp"] else None
        positives = last["tp"] + last["fn"] if "fn" in last else from_recall
        total = None if "tn" not in last else last["k"] + last["fn"] + last["tn"]
        envelope = (
            table["precision"].reverse().cum_max().reverse() if options.interpolated else None
        )
        group = numbers.get(key, {})
        area = (
            group.get("roc_auc")
            if options.is_roc
            else _area(table, table["precision"])
            if options.is_pr
            else None
        )
        envelope_area = None if envelope is None else _area(table, envelope)
        for y in options.ys:
            columns = {"x": table[options.x], "y": table[y]} | (
                {} if envelope is None else {"envelope": envelope}
            )
            points = pl.DataFrame(columns)
            names = dict(zip(result.keys, key, strict=True)) | (
                {Y_KEY: y} if len(options.ys) > 1 else {}
            )
            marks = _marks(table, points, group, options)
            curves.append(Curve(names, points, area, envelope_area, positives, total, marks))
    return Curves([*result.keys], curves, without)


def _area(table: pl.DataFrame, height: pl.Series) -> float:
    """Return the area under the steps of a curve: precision times the recall that each threshold adds."""
    recall = table["recall"]
    return float((height * (recall - recall.shift(1, fill_value=0.0))).sum())


def _marks(
    table: pl.DataFrame, points: pl.DataFrame, numbers: Mapping[str, Any], options: CurveOptions
) -> tuple[Mark, ...]:
    """Return the marked points: the last thresholds that reach those of `evaluate`."""
    marks = []
    for number, name in enumerate(options.marks):
        kind, _, value = name.partition("=")
        threshold = float(value) if kind == "threshold" else numbers.get(f"threshold@{name}")
        if threshold is None:
            continue
        ascending = _is_ascending(table)
        reached = int(
            (
                (table["threshold"] <= threshold)
                if ascending
                else (table["threshold"] >= threshold)
            ).sum()
        )
        if not reached or None in (point := points.row(reached - 1)):
            continue
        text, place = (
            f"threshold {draw.threshold_text(threshold)}",
            f" at {draw.threshold_text(threshold)}",
        )
        if name in numbers:
            title = draw.metric_title(name)
            text = f"{title[0].lower()}{title[1:]} = {draw.number_text(numbers[name])}{place}"
        elif kind != "threshold":
            text = (
                f"{draw.metric_title(kind).lower()} {value}" if value else f"rank {name}"
            ) + place
        marks.append(Mark(number, text, *map(float, point[:2])))
    return tuple(marks)


def mean_curves(rows: ScoredRows, options: CurveOptions) -> Curves:
    """Average the curves of the groups: the precision at each recall, or metrics at ranks."""
    over = None if options.average is True else list(options.average or ())
    keys = listed("by", rows.by) if has_keys(rows.by) else []
    if not keys:
        raise ValueError(
            "average: there are no groups whose curves can be averaged; name the grouping columns, by=..."
        )
    if over and all(isinstance(key, str) for key in keys):
        refuse_no_keys("average", over, keys if isinstance(rows.score, str) else [*keys, "system"])
    if options.x == "k":
        return _means_at_ranks(rows, options)
    frame = average_curve(
        rows.frame,
        rows.truth,
        rows.score,
        mean_over=True if over is None else over,
        interpolated=options.interpolated,
        **rows.options,
    )
    columns = dict.fromkeys(("recall", "precision", "low", "high", "groups"), "a mean curve")
    result = read_result(frame, columns, "plot draws mean curves")
    name = "interpolated_average_precision" if options.interpolated else "average_precision"
    numbers = rows.numbers([name], mean_over=True if over is None else over)
    curves = []
    for key, table in result.groups():
        points = table.select("low", "high", x="recall", y="precision")
        area = numbers.get(key, {}).get(f"mean_{name}")
        names = dict(zip(result.keys, key, strict=True))
        curves.append(Curve(names, points, area, groups=table["groups"][0]))
    return Curves([*result.keys], curves, [])


def _means_at_ranks(rows: ScoredRows, options: CurveOptions) -> Curves:
    """Return the means of metrics at ranks, and their confidence intervals."""
    last = max((numbers["rows"] for numbers in rows.numbers(["rows"]).values()), default=0)
    ranks = sorted(
        {
            *range(1, min(last, 10) + 1),
            *(round(last ** (i / _RANKS)) for i in range(_RANKS + 1) if last),
        }
    )
    over = True if options.average is True else list(options.average or ())
    names = {f"{y}@{k}": k for y in options.ys for k in ranks}
    frame = intervals(
        rows.frame, list(names), rows.truth, rows.score, mean_over=over, **rows.options
    )
    columns = dict.fromkeys(("metric", "value", "low", "high", "units"), "means")
    result = read_result(frame, columns, "plot draws means")
    curves = []
    for key, table in result.groups():
        for y in options.ys:
            of_y = table.filter(pl.col("metric").str.starts_with(f"{y}@"))
            k = [names[name] for name in of_y["metric"]]
            key_of = dict(zip(result.keys, key, strict=True)) | (
                {Y_KEY: y} if len(options.ys) > 1 else {}
            )
            points = of_y.select("low", "high", y="value").with_columns(x=pl.Series(k))
            curves.append(Curve(key_of, points, groups=of_y["units"][0]))
    return Curves([*result.keys], curves, [])
