"""What a plot shows, taken from the frame that `curve` gave: its groups, cut-offs, marked points and averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.pandas_frames import from_pandas, is_pandas
from frame_pr.rates import Counts, f_beta, ratio

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("threshold", "k", "tp", "fp", "fn", "tn", "precision", "recall", "recall_step", "interpolated_precision")

AVERAGE_COLUMNS = 100
"""Strips of recall within which the curves of all groups are averaged."""

_TP, _K = pl.col("tp"), pl.col("k")
_POSITIVES = _TP + pl.col("fn")
_ROWS = _K + pl.col("fn") + pl.col("tn")


@dataclass(frozen=True)
class Group:
    """The thresholds of one group, descending."""

    key: dict[str, Any]
    blocks: pl.DataFrame

    @property
    def positives(self) -> float:
        """P."""
        return self._first(_POSITIVES) or 0

    @property
    def prevalence(self) -> float | None:
        """P/N, where there are rows."""
        share: float | None = self._first(ratio(_POSITIVES, _ROWS))
        return share

    def _first(self, figure: pl.Expr) -> Any:
        return self.blocks.head(1).select(figure).item() if self.blocks.height else None


@dataclass(frozen=True)
class Point:
    """A threshold that is marked."""

    threshold: float
    recall: float
    precision: float


def table_of(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The frame that `curve` gave as polars data, and its keys: the columns before `threshold`."""
    names: list[Any]
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        names = frame.collect_schema().names()
    elif is_pandas(frame):
        names = list(frame.columns)
    else:
        raise TypeError(f"plot_curve draws a polars or pandas frame that curve gave, got a {type(frame).__name__}")
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(
            f"plot_curve draws a frame that curve gave, and this one has no column {missing[0]!r}: "
            "for scored rows, call plot(frame, truth, score)"
        )
    keys = names[: names.index("threshold")]
    if isinstance(frame, pl.LazyFrame):
        return frame.select(*keys, *COLUMNS).collect(), keys
    if isinstance(frame, pl.DataFrame):
        return pl.DataFrame([frame[name] for name in (*keys, *COLUMNS)]), keys  # select would copy
    return from_pandas(frame, [*keys, *COLUMNS]), [str(key) for key in keys]


def groups_of(table: pl.DataFrame, keys: Sequence[str]) -> list[Group]:
    """Its groups, in the order of the table."""
    if not keys:
        return [Group({}, _descending(table))]
    parts = table.partition_by(keys, maintain_order=True, as_dict=True)
    return [Group(dict(zip(keys, key, strict=True)), _descending(part)) for key, part in parts.items()]


def _descending(blocks: pl.DataFrame) -> pl.DataFrame:
    # A caller may have reordered the frame; a line through its rows needs them in order.
    return blocks if blocks["k"].is_sorted() else blocks.sort("k")


def area(blocks: pl.DataFrame, height: str = "precision") -> float:
    """Average precision; of the envelope, interpolated average precision."""
    return float((blocks[height] * blocks["recall_step"]).sum())


def first_k(group: Group, k: int) -> pl.DataFrame:
    """Thresholds up to rank k. A block that the cut falls in has no order: it ends there, with a share of its hits."""
    blocks = group.blocks
    reached = int((blocks["k"] <= k).sum())
    head = blocks.head(reached)
    before_k, before_tp = (head["k"][-1], head["tp"][-1]) if reached else (0, 0)
    if reached == blocks.height or before_k == k:
        return head
    block = blocks.row(reached, named=True)
    hits = (block["tp"] - before_tp) * (k - before_k) / (block["k"] - before_k)
    tp, positives = before_tp + hits, group.positives
    end = pl.DataFrame({"recall": [tp / positives], "precision": [tp / k], "recall_step": [hits / positives]})
    columns = end.columns
    return pl.concat([head.select(columns), end])


def average_precision_at_k(group: Group, head: pl.DataFrame, k: int) -> float:
    """The area left of the cut-off, by the positives that could have been found there."""
    return area(head) * group.positives / min(group.positives, k)


def sampled(group: Group, points: int) -> tuple[list[float], list[float]]:
    """Recall levels, and the max precision at that recall or more."""
    # In whole numbers: 3/10 is not the float .3.
    wanted = [i * group.positives for i in range(points)]
    found = (group.blocks["tp"] * (points - 1)).search_sorted(pl.Series(wanted), side="left")
    envelope = [*group.blocks["interpolated_precision"].gather(found.filter(found < group.blocks.height))]
    envelope += [0.0] * (points - len(envelope))
    return [i / (points - 1) for i in range(points)], envelope


def at_threshold(group: Group, threshold: float) -> Point | None:
    """The lowest threshold of the curve that is not below this one."""
    reached = int((group.blocks["threshold"] >= threshold).sum())
    return _point(group, reached - 1) if reached else None


def at_recall(group: Group, recall: Fraction) -> Point | None:
    """The highest threshold whose recall is at least this."""
    exact = pl.Int128 if group.blocks["tp"].dtype.is_integer() else pl.Float64
    reaches = _TP.cast(exact) * recall.denominator >= _POSITIVES.cast(exact) * recall.numerator
    found = group.blocks.select(reaches).to_series()
    return _point(group, found.arg_max()) if found.any() else None


def at_max_f(group: Group, beta: str) -> tuple[Point, float]:
    """The highest threshold of those with the best F, and this F."""
    f = group.blocks.select(f_beta(float(beta))(Counts(_TP, _K, _POSITIVES, _ROWS))).to_series()
    best = f.arg_max() or 0
    return _point(group, best), f[best]


def spaced(group: Group, n: int) -> list[Point]:
    """At most n steps, evenly spaced in recall."""
    steps = group.blocks.filter(pl.col("recall_step") > 0)
    wanted = pl.Series([(i + 0.5) / n for i in range(n)])
    places = steps["recall"].search_sorted(wanted, side="left").clip(0, steps.height - 1).unique(maintain_order=True)
    return [_point(Group(group.key, steps), place) for place in places]


def _point(group: Group, place: int | None) -> Point:
    row = group.blocks.row(place or 0, named=True)
    return Point(row["threshold"], row["recall"], row["precision"])


@dataclass(frozen=True)
class Average:
    """The mean of the curves of many groups."""

    key: dict[str, Any]
    strips: pl.DataFrame
    """`recall` at the right edge of each strip; `mean`, `low` and `high`, the quartiles, of the groups' precision."""
    groups: int
    without_positives: int
    mean: float | None
    prevalence: float | None


def averages_of(table: pl.DataFrame, keys: Sequence[str], over: Sequence[str], height: str) -> list[Average]:
    """Average vertically: at each recall, over the groups. The area under the mean is the mean of the areas."""
    left = [key for key in keys if key not in over]
    per_group = (
        table.lazy()
        .group_by(keys, maintain_order=True)
        .agg(
            undefined=pl.col("recall").null_count() > 0,
            area=(pl.col(height) * pl.col("recall_step")).sum(),
            end=pl.col("recall").max(),
            prevalence=ratio(_POSITIVES, _ROWS).first(),
        )
        .collect()
    )
    defined = pl.col("undefined").not_()
    totals = (
        per_group.with_columns(_one=pl.lit(0))
        .group_by("_one", *left, maintain_order=True)
        .agg(
            groups=defined.sum(),
            without=pl.col("undefined").sum(),
            mean=pl.col("area").filter(defined).mean(),
            prevalence=pl.col("prevalence").filter(defined).mean(),
        )
    )
    strips = _strips(table, per_group.filter(defined), keys, left, height)
    result = []
    for row in totals.iter_rows(named=True):
        key = {name: row[name] for name in left}
        mine = strips.filter(*(pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items()))
        result.append(Average(key, mine, row["groups"], row["without"], row["mean"], row["prevalence"]))
    return result


def _strips(
    table: pl.DataFrame, groups: pl.DataFrame, keys: Sequence[str], left: Sequence[str], height: str
) -> pl.DataFrame:
    n = AVERAGE_COLUMNS
    start, end = pl.col("recall") - pl.col("recall_step"), pl.col("recall")
    # Where a group's recall ends below 1, its precision is 0 from there on.
    rest = groups.lazy().select(*keys, start="end", end=pl.lit(1.0), height=pl.lit(0.0)).filter(pl.col("start") < 1)
    steps = pl.concat(
        [
            table.lazy().filter(pl.col("recall_step") > 0).select(*keys, start=start, end=end, height=height),
            rest,
        ]
    )
    first = (pl.col("start") * n).floor().cast(pl.Int64).clip(0, n - 1)
    last = (pl.col("end") * n).ceil().cast(pl.Int64).clip(first + 1, n)
    strip = pl.col("strip")
    overlap = pl.min_horizontal("end", (strip + 1) / n) - pl.max_horizontal("start", strip / n)
    return (
        steps.with_columns(strip=pl.int_ranges(first, last))
        .explode("strip")
        .group_by(*keys, "strip")
        .agg(precision=(pl.col("height") * overlap).sum() * n)
        .group_by(*left, "strip")
        .agg(
            mean=pl.col("precision").mean(),
            low=pl.col("precision").quantile(0.25, "linear"),
            high=pl.col("precision").quantile(0.75, "linear"),
        )
        .sort(*left, "strip")
        .with_columns(recall=(strip + 1) / n)
        .collect()
    )
