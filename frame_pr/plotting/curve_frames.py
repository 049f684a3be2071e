"""What a plot shows, taken from the frame that `curve` gave: its curves, their numbers, marked points and averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import find_kind, kind_of
from frame_pr.frames.wording import kind_of_value
from frame_pr.functions.curves import CURVE_COLUMNS
from frame_pr.inputs.masses import MASSES, exponent, unit_of
from frame_pr.inputs.sort_keys import SortKey
from frame_pr.inputs.values import type_of
from frame_pr.metrics.aggregates import hits_among
from frame_pr.metrics.aggregation import aggregate_blocks, finalize, plan
from frame_pr.metrics.names import COLUMNS, FIXED_POINT_COLUMNS
from frame_pr.metrics.rates import Counts, rate_of, ratio
from frame_pr.ranking.running import difference, ends, from_last, from_start, starts
from frame_pr.statistics.average_curves import averages, heights_of

if TYPE_CHECKING:
    pass

STRIPS = 100
"""Strips of recall within which the curves of all groups are averaged."""
CONFIDENCE = 0.95
FIGURE = "\0figure"
"""The key of curves that show several figures of a group."""
AXES: dict[str, Any] = {
    "share": lambda counts: ratio(counts.k, counts.rows),
}
"""What no column is, but an axis may be."""


class Curves(NamedTuple):
    """The frame that `curve` gave."""

    keys: pl.DataFrame
    """A row per group, in the order in which they appear."""
    table: pl.DataFrame
    """`group`, a row number of `keys`; the columns of `curve`; `x` and `y`, the figures of the axes, and `y1` and so
    on, where there are several up. By group, and from the strictest threshold on."""
    ascending: bool
    """Whether a small score is best; told by a curve of two thresholds."""
    totals: pl.DataFrame | None = None
    """`positives` and `rows` of each row of `keys`, if groups that retrieved nothing are among them."""


TOTALS = {"\1positives": "positives", "\1rows": "rows"}
"""The metrics that tell of groups that retrieved nothing, of which a curve has no row, by names that no key has."""


@dataclass(frozen=True)
class DrawnCurve:
    """The curve of one group, and what is written of it."""

    key: dict[str, Any]
    blocks: pl.DataFrame
    """Its thresholds, from the strictest on."""
    ascending: bool
    numbers: Mapping[str, Any]
    """What `numbers_of` found."""

    @property
    def positives(self) -> Any:
        """P: a whole number, or a sum of weights."""
        return self.numbers["positives"]

    @property
    def prevalence(self) -> float | None:
        """P/N, where there are rows."""
        share: float | None = self.numbers["prevalence"]
        return share

    @property
    def drawn(self) -> bool:
        """Whether it has a curve: of some figures, not without positives or negatives."""
        return bool(self.blocks["x"].is_not_null().any() and self.blocks["y"].is_not_null().any())

    def point(self, threshold: str) -> Point | None:
        """Where the metric of this name puts it."""
        place = self.numbers[threshold]
        return None if place is None else _point(self.blocks, -place)


@dataclass(frozen=True)
class Point:
    """A threshold that is marked."""

    threshold: float
    x: float
    y: float

    @property
    def drawn(self) -> bool:
        """Whether both figures have a value there."""
        return self.x is not None and self.y is not None


def curves_of(frame: Any, x: str = "recall", figures: Sequence[str] = ("precision",)) -> Curves:
    """Read the frame that `curve` gave, in whatever order; the columns before `threshold` are its keys."""
    kind = find_kind(frame)
    if kind is None:
        raise TypeError(f"plot_curve draws a polars or pandas frame that curve gave, got {kind_of_value(frame)}")
    missing = [name for name in CURVE_COLUMNS if name not in kind.columns]
    if missing:
        raise ValueError(
            f"plot_curve draws a frame that curve gave, and this one has no column {missing[0]!r}: "
            "for scored rows, call plot(frame, truth, score)"
        )
    keys = kind.columns[: kind.columns.index("threshold")]
    columns = [by_name(str(column)) for column in (*keys, *CURVE_COLUMNS)]
    read = kind.read([*keys, *CURVE_COLUMNS]).select(columns).collect()
    for column in CURVE_COLUMNS:
        if not read[column].dtype.is_numeric() and read[column].dtype != pl.Null:
            raise TypeError(
                f"column {column!r} is {type_of(read[column].dtype)}: plot_curve draws a frame as curve gave it"
            )
    for column in ("threshold", "k", "tp", "fp", "fn", "tn"):
        if nulls := read[column].null_count():
            raise ValueError(f"column {column!r} has {nulls} missing: plot_curve draws a frame as curve gave it")
    groups, group = numbered(read, [str(key) for key in keys])
    positives, negatives = pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn")
    counts = Counts(pl.col("tp"), pl.col("k"), positives, positives + negatives)
    # The columns that are there stay as they are.
    axes = {
        axis: pl.col(name) if name in CURVE_COLUMNS else (AXES.get(name) or rate_of(name).formula)(counts)
        for axis, name in {"x": x, **{f"y{i or ''}": name for i, name in enumerate(figures)}}.items()
    }
    table = read.select(group.alias("group"), *CURVE_COLUMNS, **axes).sort("group", "k")
    # Average precisions in the legend are of all steps.
    step = pl.col("tp") - pl.when(~starts(pl.col("group"))).then(pl.col("tp").shift(1)).otherwise(0)
    lacks = (step - pl.col("recall_step") * positives).abs() > 1e-6 * positives
    if table.select(lacks.any()).item():
        raise ValueError("rows of the curve are missing: plot_curve draws all that curve gave, without points=")
    rises = (pl.col("threshold") > pl.col("threshold").shift(1)) & (pl.col("group") == pl.col("group").shift(1))
    return Curves(groups, table, bool(table.select(rises.any()).item()))


def with_unretrieved(curves: Curves, frame: Any) -> Curves:
    """The same with the groups that retrieved nothing; `frame`: what `evaluate` gives of all groups for `TOTALS`."""
    kind = kind_of(frame)
    groups = kind.read(kind.columns).collect()
    keys = [by_name(key) for key in curves.keys.columns]
    unretrieved = groups.select(keys).join(curves.keys, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    every = pl.concat([curves.keys, unretrieved])
    totals = every.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return curves._replace(keys=every, totals=totals.select(by_name(name).alias(of) for name, of in TOTALS.items()))


def numbered(table: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """The different values of these columns, in the order in which they appear, and the number of each row's value."""
    if not columns:
        return pl.DataFrame(height=1), pl.repeat(0, table.height, dtype=pl.Int64, eager=True)
    literal = [by_name(column) for column in columns]
    values, key = table.select(literal).unique(maintain_order=True), pl.struct(literal).alias("key")
    numbers = values.select(key).with_row_index("number")
    found = table.select(key).join(numbers, on="key", how="left", nulls_equal=True, maintain_order="left")
    return values, found["number"].cast(pl.Int64)


def numbers_of(curves: Curves, names: Sequence[str]) -> pl.DataFrame:
    """Metrics of all groups: `group` and these names. In place of a threshold stands its row in the group, negative.

    So it descends with the rank key of thresholds, and tells apart those that are equal, where a rule orders the rows
    of equal score.
    """
    row, whole = pl.int_range(pl.len()), curves.table["tp"].dtype.is_integer()
    blocks = (
        curves.table.lazy()
        .with_columns(first=starts(pl.col("group")), last=ends(pl.col("group")), rank_key=from_start(row) - row)
        .with_columns(
            # The last one's: in floats, `tp` and what is left of the positives may add up to another last bit.
            positives=from_last(pl.col("tp") + pl.col("fn")),
            rows=from_last(pl.col("k") + pl.col("fn") + pl.col("tn")),
        )
    )
    if not whole:
        # Back in fixed point, as metrics want sums of weights. As floats they lost bits, by which three tenths of the
        # positives may fall short of a recall of .3: hence a little less to reach.
        blocks = blocks.with_columns(pl.col("positives") * (1 - 1e-14))
        blocks = blocks.with_columns(unit=unit_of(exponent(pl.col("rows"))))
        blocks = blocks.with_columns((pl.col("tp", "k", "positives", "rows") * pl.col("unit")).cast(pl.Int128))
    blocks = blocks.with_columns(retrieved_k=from_last(pl.col("k")))
    own = [pl.when("first").then(m.upto).otherwise(difference(m.upto)).alias(m.own) for m in MASSES]
    # Steps, and the first block, are all that a metric reads.
    blocks = blocks.with_columns(own).filter((pl.col("hits") > 0) | pl.col("first"))
    key = SortKey(pl.Int64(), ascending=False, places=False, hits_first=False, drops=False)
    metrics = plan(names, key, blocks=COLUMNS if whole else FIXED_POINT_COLUMNS)
    return finalize(aggregate_blocks(blocks, metrics.over_groups, curves.keys.height), ["group"], metrics).collect()


def drawn_curves(curves: Curves, names: Sequence[str], figures: Sequence[str] = ("precision",)) -> list[DrawnCurve]:
    """Those of all groups, with the metrics of these names; of several figures, a curve each."""
    numbers = numbers_of(curves, names).rows(named=True)
    bounds = curves.table["group"].search_sorted(pl.Series(range(len(numbers) + 1)))
    drawn = [
        DrawnCurve(key, curves.table[start:end], curves.ascending, own)
        for key, own, (start, end) in zip(curves.keys.rows(named=True), numbers, pairwise(bounds), strict=True)
    ]
    if len(figures) == 1:
        return drawn
    return [
        replace(one, key=one.key | {FIGURE: name}, blocks=one.blocks.with_columns(y=pl.col(f"y{i or ''}")))
        for one in drawn
        for i, name in enumerate(figures)
    ]


def first_k(curve: DrawnCurve, k: int) -> pl.DataFrame:
    """Thresholds up to rank k. A block that the cut falls in has no order: it ends there, with a share of its hits."""
    blocks = curve.blocks.with_columns(difference(mass.upto).alias(mass.own) for mass in MASSES)
    tp, positives = COLUMNS.tp - COLUMNS.hits + hits_among(COLUMNS, k).over, COLUMNS.tp + pl.col("fn")
    return blocks.filter(COLUMNS.k - COLUMNS.size < k).select(
        recall=tp / positives, precision=tp / COLUMNS.k.clip(upper_bound=k)
    )


def recall_levels(curve: DrawnCurve, points: int) -> tuple[list[float], list[float]]:
    """Levels of recall, and the max precision at that recall or more."""
    # In whole numbers: 3/10 is not the float .3. And by a search: a metric per level would go through all blocks.
    wanted = pl.Series([i * curve.positives for i in range(points)])
    found = (curve.blocks["tp"] * (points - 1)).search_sorted(wanted, side="left")
    envelope = [*curve.blocks["interpolated_precision"].gather(found.filter(found < curve.blocks.height))]
    return [i / (points - 1) for i in range(points)], envelope + [0.0] * (points - len(envelope))


def at_threshold(curve: DrawnCurve, threshold: float) -> Point | None:
    """The last threshold of the curve that reaches this one."""
    thresholds = curve.blocks["threshold"]
    reached = int((thresholds <= threshold if curve.ascending else thresholds >= threshold).sum())
    return _point(curve.blocks, reached - 1) if reached else None


def spaced(curve: DrawnCurve, n: int) -> list[Point]:
    """At most n steps, evenly spaced in recall."""
    steps = curve.blocks.filter(pl.col("recall_step") > 0)
    wanted = pl.Series([(i + 0.5) / n for i in range(n)])
    places = steps["recall"].search_sorted(wanted, side="left").clip(0, steps.height - 1).unique(maintain_order=True)
    return [_point(steps, place) for place in places]


def _point(blocks: pl.DataFrame, place: int) -> Point:
    return Point(*blocks.select("threshold", "x", "y").row(place))


@dataclass(frozen=True)
class Average:
    """The mean of the curves of many groups."""

    key: dict[str, Any]
    strips: pl.DataFrame
    """What `average_curve` gives: the `recall` at the right edge of each strip, the mean and the quartiles there."""
    groups: int
    without_positives: int
    mean: float | None
    prevalence: float | None
    members: pl.DataFrame
    """`height`, of all levels of all groups in turn."""


def averages_of(curves: Curves, over: Sequence[str], height: str) -> list[Average]:
    """Average vertically: at each recall, over the groups. The area under the mean is the mean of the areas."""
    lines, line = numbered(curves.keys, [key for key in curves.keys.columns if key not in over])
    area = "average_precision" if height == "precision" else "interpolated_average_precision"
    groups = numbers_of(curves, [area, "prevalence"]).with_columns(line=line)
    if curves.totals is not None:
        positives = pl.col("positives")
        groups = groups.hstack(curves.totals).with_columns(
            pl.when(positives > 0).then(pl.col(area).fill_null(0.0)), prevalence=ratio(positives, pl.col("rows"))
        )
    defined = groups.filter(pl.col(area).is_not_null())
    table = curves.table.lazy().with_columns(precision=pl.col(height), positives=pl.col("tp") + pl.col("fn"))
    members = heights_of(table, defined.lazy().select("group", "line"), STRIPS + 1, interpolated=False).collect()
    strips = averages(members.lazy(), ["line"], STRIPS + 1, CONFIDENCE).sort("line", "recall").collect()
    result = []
    for number, key in enumerate(lines.rows(named=True)):
        mine, of_line = defined.filter(line=number), int((line == number).sum())
        if of_line:
            mean, share = mine.select(pl.col(area, "prevalence").mean()).row(0)
            own = members.filter(line=number).select("height")
            result.append(
                Average(key, strips.filter(line=number), mine.height, of_line - mine.height, mean, share, own)
            )
    return result
