"""Compute the data of a plot of curves: their numbers, points and steps, and averages over groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, in_category_order
from frame_pr.frames.kinds import find_kind, path_advice
from frame_pr.frames.messages import kind_of_value
from frame_pr.functions.curves import CURVE_COLUMNS, curve_table
from frame_pr.inputs.request import Request, Use
from frame_pr.inputs.rows import rows_of
from frame_pr.inputs.values import type_of
from frame_pr.metrics.rates import Counts, rate_of, ratio
from frame_pr.plotting.options import PlotOptions, axis_quantity
from frame_pr.plotting.results import number_rows, read_result
from frame_pr.ranking.sorting import starts
from frame_pr.statistics.average_curves import averages, heights_of

COLUMNS = ("threshold", "k", "tp", "positives", "rows", "precision", "recall", "recall_step")
"""Columns of the table of curves."""
STRIPS = 100
"""Strips of recall within which the curves of all groups are averaged."""
CONFIDENCE = 0.95
Y_KEY = "\0y"
"""Key column of the quantity of a curve, if the y axis has several."""
_RANKS = 200
"""The most ranks at which curves are averaged, evenly spaced on a logarithmic axis."""
ROUNDING = 1e-12
"""Relative rounding error that sums of float weights may have when they reach a recall."""


class Curves(NamedTuple):
    """The curves of all groups."""

    keys: pl.DataFrame
    """A row per group."""
    numbers: pl.DataFrame
    """A row per group: `positives`, `rows`, `prevalence`, and the areas of `PlotOptions.areas`."""
    table: pl.DataFrame
    """`group` (the row of `keys`), `COLUMNS`, `x`, and `y0`, `y1` and so on; sorted by group and rank.

    It has `interpolated_precision` if the options need it.
    """
    ascending: bool
    """Whether lower scores rank first."""


@dataclass(frozen=True, eq=False, repr=False)
class DrawnCurve:
    """The curve of one group, or the mean of the curves of many groups."""

    key: dict[str, Any]
    blocks: pl.DataFrame
    """Its thresholds in the order of the ranking, with `x` and `y`."""
    numbers: dict[str, Any]
    """`positives`, `prevalence`, and the areas of `PlotOptions.areas`."""
    ascending: bool = False

    @property
    def has_points(self) -> bool:
        """Whether a point has both an x and a y."""
        return bool(self.blocks["x"].is_not_null().any() and self.blocks["y"].is_not_null().any())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Average(DrawnCurve):
    """The mean of the curves of many groups.

    `blocks` has the columns of `average_curve`: `recall` is the right edge of a strip, or a rank.
    """

    groups: int
    without_positives: int
    members: pl.DataFrame
    """`height` at all levels, group by group."""


def rank_curves(frame: Any, request: Request, options: PlotOptions) -> Curves:
    """Rank the rows of a frame once, and return the curves of all groups with their numbers.

    A group has a curve without thresholds if nothing of it was retrieved.
    """
    rows, output = rows_of(frame, request.used_as(Use(ranks=True)), all_groups=True)
    columns = [*COLUMNS, *["interpolated_precision"] * options.interpolated, "retrieved"]
    group = pl.col("group")
    ranked = curve_table(rows, columns, unretrieved=True).select(group, *columns, **_axes(options, COLUMNS))
    table = ranked.collect()
    keys = output.restore(table.lazy().select(group.unique(maintain_order=True))).collect()
    keys = keys.select(map(by_name, output.keys)) if output.keys else pl.DataFrame(height=1)
    table = table.with_columns(group=group.rle_id().cast(pl.Int64) if keys.height > 1 else pl.lit(0, pl.Int64))
    keys, table = _in_category_order(keys, table, {name: output.kind.categories(name) for name in output.keys})
    _check_probabilities(table["threshold"], request.ascending, options)
    numbers = _areas(table, keys.height, options)
    return Curves(keys, numbers, table.filter("retrieved") if rows.has_unranked else table, request.ascending)


def _in_category_order(
    keys: pl.DataFrame, table: pl.DataFrame, categories: Mapping[str, Sequence[Any]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sort groups by the order of pandas categories, which polars does not know."""
    if not any(categories.values()):
        return keys, table
    places = [in_category_order(by_name(name), labels) for name, labels in categories.items()]
    order = keys.select(pl.arg_sort_by(places, maintain_order=True)).to_series()
    number = order.arg_sort().cast(pl.Int64)
    return keys[order], table.with_columns(group=number.gather(table["group"])).sort("group", maintain_order=True)


def read_curves(frame: Any, options: PlotOptions) -> Curves:
    """Read the result of `curve`, in any order of rows. The columns before `threshold` are its keys."""
    kind = find_kind(frame)
    if kind is None:
        got = f"{kind_of_value(frame)}{path_advice(frame)}"
        raise TypeError(f"plot draws a polars or pandas frame that curve gave, got {got}")
    advice = ": for scored rows, call plot(frame, truth, score)"
    read, names = read_result(kind, "threshold", CURVE_COLUMNS, "plot draws a frame that curve gave", advice)
    for column in CURVE_COLUMNS:
        dtype, nulls = read[column].dtype, read[column].null_count()
        if not dtype.is_numeric() and dtype != pl.Null:
            raise TypeError(f"column {column!r} is {type_of(dtype)}: plot draws a frame as curve gave it")
        if nulls and column in ("threshold", "k", "tp", "fp", "fn", "tn"):
            raise ValueError(f"column {column!r} has {nulls} missing: plot draws a frame as curve gave it")
    keys, group = number_rows(read, names)
    totals = {"positives": pl.col("tp") + pl.col("fn"), "rows": pl.sum_horizontal("tp", "fp", "fn", "tn")}
    table = (
        read.with_columns(group.alias("group"), **totals)
        .select("group", *COLUMNS, "interpolated_precision", **_axes(options, CURVE_COLUMNS))
        .sort("group", "k", maintain_order=True)
    )
    positives = pl.col("positives")
    previous_tp = pl.when(~starts(pl.col("group"))).then(pl.col("tp").shift(1)).otherwise(0)
    lost_hits = (pl.col("tp") - previous_tp - pl.col("recall_step") * positives).abs() > 1e-6 * positives
    if table.select(lost_hits.any()).item():
        raise ValueError("rows of the curve are missing: plot draws all that curve gave, without points=")
    rises = (pl.col("threshold") > pl.col("threshold").shift(1)) & (pl.col("group") == pl.col("group").shift(1))
    ascending = bool(table.select(rises.any()).item())
    _check_probabilities(table["threshold"], ascending, options)
    return Curves(keys, _areas(table, keys.height, options), table, ascending)


def _axes(options: PlotOptions, columns: Collection[str]) -> dict[str, pl.Expr]:
    """Return expressions of `x`, `y0`, `y1` and so on. The table has `columns` already."""
    counts = Counts(pl.col("tp"), pl.col("k"), pl.col("positives"), pl.col("rows"))
    axes = {"x": options.x, **{f"y{i}": name for i, name in enumerate(options.ys)}}
    return {
        axis: pl.col(name) if name in columns else axis_quantity(name).of_counts(counts) for axis, name in axes.items()
    }


def _check_probabilities(thresholds: pl.Series, ascending: bool, options: PlotOptions) -> None:
    """Check that scores are probabilities, if a quantity such as the net benefit needs them."""
    needs = [name for name in options.ys if axis_quantity(name).at is not None]
    if not needs:
        return
    numbers = thresholds.cast(pl.Float64)
    least, most = numbers.min(), numbers.max()
    if isinstance(least, (int, float)) and isinstance(most, (int, float)) and (ascending or least < 0 or most > 1):
        raise ValueError(
            f"y={needs[0]!r} needs scores that are probabilities of the positive label; these go from {least:g} to "
            f"{most:g}{', the lowest first' * ascending}"
        )


def _areas(table: pl.DataFrame, groups: int, options: PlotOptions) -> pl.DataFrame:
    """Compute positives, prevalence and areas of each group, as sums over the rows of its curve."""
    positives, rows, step = pl.col("positives").last(), pl.col("rows").last(), pl.col("recall_step")
    sums: dict[str, pl.Expr] = {
        "average_precision": (pl.col("precision") * step).sum(),
        "interpolated_average_precision": (pl.col("interpolated_precision") * step).sum(),
    }
    if options.points is not None:
        levels = level_heights(options.points)
        sums[f"interpolated_average_precision_{options.points}"] = pl.mean_horizontal(levels)
    if options.k is not None:
        hits, hits_before = _hits_at(options.k)
        precision = hits / pl.col("k").clip(upper_bound=options.k)
        total = (precision * (hits - hits_before)).sum()
        sums[f"average_precision@{options.k}"] = total / pl.min_horizontal(positives, pl.lit(options.k))
    if options.is_roc:
        fpr, recall = pl.col("x"), pl.col("recall")
        before = (recall + recall.shift(1, fill_value=0)) / 2 * (fpr - fpr.shift(1, fill_value=0))
        last_fpr, last_recall = (rate.max().fill_null(0.0) for rate in (fpr, recall))
        sums["roc_auc"] = before.sum() + pl.when(rows > positives).then((1 - last_fpr) * (1 + last_recall) / 2)
    expressions = {"positives": positives, "rows": rows, "prevalence": ratio(positives, rows)}
    expressions |= {name: pl.when(positives > 0).then(sums[name]) for name in options.areas}
    if groups == 1 and table.height:
        return table.select(**expressions)
    areas = table.group_by("group").agg(**expressions)
    # A frame without rows and without keys is one group.
    every = pl.DataFrame({"group": range(groups)}, schema={"group": pl.Int64})
    areas = every.join(areas, on="group", how="left", maintain_order="left").drop("group")
    return areas.with_columns(pl.col("positives").fill_null(0))


def drawn_curves(curves: Curves, options: PlotOptions) -> list[DrawnCurve]:
    """Return the curve of each group and of each quantity on the y axis."""
    bounds = curves.table["group"].search_sorted(pl.Series(range(curves.keys.height + 1)))
    groups = zip(curves.keys.rows(named=True), curves.numbers.rows(named=True), pairwise(bounds), strict=True)
    return [
        DrawnCurve(key | y_key, curves.table[start:end].with_columns(y=f"y{i}"), numbers, curves.ascending)
        for key, numbers, (start, end) in groups
        for i, y_key in enumerate(_y_keys(options))
    ]


def _y_keys(options: PlotOptions) -> list[dict[str, str]]:
    """Return what the quantities of the y axis add to the key of a curve, if there are several."""
    return [{Y_KEY: name} for name in options.ys] if len(options.ys) > 1 else [{}]


def _hits_at(k: int) -> tuple[pl.Expr, pl.Expr]:
    """Return the hits up to rank k and the hits before each block. The block of rank k has its expected hits."""
    tp, ranks = pl.col("tp"), pl.col("k")
    tp_before, before = tp.shift(1, fill_value=0), ranks.shift(1, fill_value=0)
    share = ((k - before) / (ranks - before)).clip(0, 1)
    return tp_before + (tp - tp_before) * share, tp_before


def first_k(blocks: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return `recall` and `precision` of the thresholds up to rank k."""
    hits, _ = _hits_at(k)
    ranks = pl.col("k")
    within = blocks.filter(ranks.shift(1, fill_value=0) < k)
    return within.select(recall=hits / pl.col("positives"), precision=hits / ranks.clip(upper_bound=k))


def steps_of(blocks: pl.DataFrame, *heights: str, most: int) -> pl.DataFrame:
    """Return `recall`, the right end of each step, and its heights. Of more than `most` steps, narrow ones are merged.

    Steps narrower than 1/`most` that begin in the same strip of that width become one step of the same area.
    """
    width = pl.col("recall") - pl.col("recall").shift(1, fill_value=0.0)
    steps = blocks.select("recall", *heights, width=width).filter(pl.col("width") > 0)
    if steps.height > most:
        wide, strip = pl.col("width") * most >= 1, ((pl.col("recall") - pl.col("width")) * most).floor()
        begins = (wide | wide.shift(1) | (strip != strip.shift(1))).fill_null(True)
        mean = (pl.col(*heights) * pl.col("width")).sum() / pl.col("width").sum()
        steps = steps.group_by(begins.cum_sum().alias("step"), maintain_order=True).agg(pl.col("recall").last(), mean)
    return steps.select("recall", *heights)


def level_heights(points: int) -> list[pl.Expr]:
    """Return the max precision at or after each level of recall, which is 0 where no threshold reaches the level."""
    # Whole numbers, because 3/10 is not the float 0.3.
    reached, wanted = pl.col("tp") * (points - 1), pl.col("positives").last()
    slack = 1 - ROUNDING
    return [
        pl.col("interpolated_precision").filter(reached >= i * wanted * slack).first().fill_null(0.0)
        for i in range(points)
    ]


def recall_levels(curve: DrawnCurve, points: int) -> tuple[list[float], list[float]]:
    """Return levels of recall, and the max precision at or after each level."""
    heights = curve.blocks.select(pl.concat_list(level_heights(points))).item().to_list()
    return [i / (points - 1) for i in range(points)], heights


def averages_of(curves: Curves, over: Sequence[str], options: PlotOptions) -> list[Average]:
    """Average the curves over these keys, within strips of recall, or at ranks."""
    lines, line = number_rows(curves.keys, [key for key in curves.keys.columns if key not in over])
    groups = curves.numbers.with_columns(line=line, group=pl.int_range(pl.len()))
    at_ranks = options.x == "k"
    # The area under the mean is the mean of the areas. A group of which nothing was retrieved has precision 0.
    defined = groups if at_ranks else groups.drop_nulls(options.areas[-1])
    result = []
    for name, y_key in zip(options.ys, _y_keys(options), strict=True):
        heights = _heights_at_ranks(curves, name) if at_ranks else _heights_in_strips(curves, defined, options)
        heights = heights.join(groups.select("group", "line"), on="group", how="left", maintain_order="left")
        points, shares = 2 if at_ranks else STRIPS + 1, axis_quantity(name).unit_range
        strips = averages(heights.lazy().drop_nulls("height"), ["line"], points, CONFIDENCE, shares=shares)
        blocks = strips.sort("line", "recall").with_columns(x="recall", y="precision").collect()
        for number, key in enumerate(lines.rows(named=True)):
            members = defined.filter(line=number)
            total = groups.filter(line=number).height
            if not total:
                continue
            numbers = {"prevalence": members["prevalence"].mean(), "positives": members["positives"].sum()}
            average = Average(
                key=key | y_key,
                blocks=blocks.filter(line=number),
                numbers=numbers | ({} if at_ranks else {options.areas[0]: members[options.areas[-1]].mean()}),
                groups=members.height,
                without_positives=total - members.height,
                members=heights.filter(line=number).select("height"),
            )
            result.append(average)
    return result


def _heights_in_strips(curves: Curves, groups: pl.DataFrame, options: PlotOptions) -> pl.DataFrame:
    """Return `group`, `level` and `height`, the mean precision of a group in each strip of recall."""
    height = pl.col("interpolated_precision" if options.interpolated else "precision")
    table = curves.table.lazy().with_columns(precision=height)
    heights = heights_of(table, groups.lazy().select("group"), STRIPS + 1, interpolated=False)
    return heights.sort("group", "level").collect()


def _heights_at_ranks(curves: Curves, name: str) -> pl.DataFrame:
    """Return `group`, `level` (a rank) and `height`, the quantity of the first k rows. Missing rows are misses."""
    table = curves.table
    if not table["k"].dtype.is_integer():
        raise ValueError("x='k' averages at ranks, and the rows of this curve are weighted and have none: leave it out")
    last: Any = table["k"].max() or 0
    ranks = list(range(1, last + 1))
    if last > _RANKS:
        ranks = sorted({round(last ** (step / _RANKS)) for step in range(_RANKS + 1)})
    totals = curves.numbers.select("positives", "rows", group=pl.int_range(pl.len()))
    blocks = table.select("group", "tp", rank=pl.col("k").cast(pl.Int64)).with_columns(
        *(
            (pl.col(column) - pl.when(starts(pl.col("group"))).then(0).otherwise(pl.col(column).shift(1))).alias(step)
            for column, step in (("tp", "hits"), ("rank", "size"))
        ),
        end="rank",
    )
    last_tp = blocks.group_by("group").agg(last_tp=pl.col("tp").last())
    every = totals.join(last_tp, on="group", how="left", maintain_order="left").join(
        pl.DataFrame({"rank": ranks}, schema={"rank": pl.Int64}), how="cross", maintain_order="left_right"
    )
    at_rank = every.join_asof(blocks, on="rank", by="group", strategy="forward", check_sortedness=False)
    # A block that contains the rank counts with its expected hits. After the last block there are only misses.
    within = pl.col("tp") - pl.col("hits") * (pl.col("end") - pl.col("rank")) / pl.col("size")
    counts = Counts(pl.col("tp"), pl.col("rank"), pl.col("positives"), pl.col("rows"))
    return at_rank.with_columns(tp=within.fill_null(pl.col("last_tp")).fill_null(0)).select(
        "group", level="rank", height=axis_quantity(name).of_counts(counts)
    )


class Point(NamedTuple):
    """A point of a curve."""

    row: int
    threshold: Any
    x: float
    y: float


def point_at_threshold(curve: DrawnCurve, threshold: float) -> Point | None:
    """Return the last point of the curve at or above this threshold."""
    thresholds = curve.blocks["threshold"]
    reached = int((thresholds <= threshold if curve.ascending else thresholds >= threshold).sum())
    return _point(curve.blocks, reached - 1) if reached else None


def point_at_recall(curve: DrawnCurve, recall: float) -> Point | None:
    """Return the first point of the curve with at least this recall."""
    if not curve.blocks["tp"].dtype.is_integer():
        recall *= 1 - ROUNDING
    reached = (curve.blocks["recall"] >= recall).arg_max()
    if reached is None or not curve.blocks["recall"][reached] >= recall:
        return None
    return _point(curve.blocks, reached)


def best_point(curve: DrawnCurve, name: str) -> tuple[Point, float] | None:
    """Return the first point at which a metric such as `max_f1` is best, and its value."""
    side, _, rate = name.partition("_")
    positives, rows = pl.col("positives"), pl.col("rows")
    counts = Counts(pl.col("tp"), pl.col("k"), positives, rows)
    nothing = Counts(positives * 0, positives * 0, positives, rows)
    record = rate_of(rate)
    values, order, of_nothing = (
        curve.blocks.select(pl.when(positives > 0).then(expression)).to_series()
        for expression in (
            record.formula(counts),
            (record.best_by or record.formula)(counts),
            (record.best_by or record.formula)(nothing),
        )
    )
    row = order.arg_max() if side == "max" else order.arg_min()
    # If predicting nothing is best, no threshold is.
    if row is None or (order[row] < (of_nothing[row] or 0) if side == "max" else order[row] >= of_nothing[row]):
        return None
    return _point(curve.blocks, row), values[row]


def spaced_points(curve: DrawnCurve, n: int) -> list[Point]:
    """Return at most n steps, evenly spaced in recall."""
    steps = curve.blocks.with_row_index("row").filter(pl.col("recall_step") > 0)
    wanted = pl.Series([(i + 0.5) / n for i in range(n)])
    places = steps["recall"].search_sorted(wanted, side="left").clip(0, steps.height - 1).unique(maintain_order=True)
    return [_point(curve.blocks, steps["row"][place]) for place in places]


def _point(blocks: pl.DataFrame, row: int) -> Point:
    """Return the point of a row of the blocks."""
    return Point(row, *blocks.select("threshold", "x", "y").row(row))


def threshold_text(curve: DrawnCurve, point: Point) -> str:
    """Return the shortest number of at least three digits that selects the same rows as a threshold."""
    thresholds = curve.blocks["threshold"]
    later = thresholds[point.row :].filter(thresholds[point.row :] != point.threshold)
    sign = -1 if curve.ascending else 1
    exact = point.threshold if isinstance(point.threshold, Decimal) else Decimal(repr(point.threshold))
    read: Any = Decimal if isinstance(point.threshold, Decimal) else float
    if thresholds.dtype == pl.Float32:
        import numpy as np

        read = np.float32  # a threshold is rounded to the type of the scores
    for digits in range(3, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR):
            # Round towards the rows that follow, so that the row of this threshold is selected.
            number = Context(digits, rounding).plus(sign * exact) * sign
            text = f"{number:.{digits}g}"
            typed = read(text)
            reaches = sign * typed <= sign * point.threshold
            if reaches and (not len(later) or sign * typed > sign * later[0]):
                return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return str(point.threshold)
