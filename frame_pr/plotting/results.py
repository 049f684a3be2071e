"""Read the results of other functions as tables for plots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.arguments import text
from frame_pr.frames.columns import by_name
from frame_pr.frames.kinds import FrameKind, kind_of
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.metrics.names import is_metric
from frame_pr.plotting.appearance import Appearance
from frame_pr.statistics.unit_values import COLUMNS

_CELLS = ("truth", "prediction", "rows", "of_truth")
_COUNTS = ("tp", "fp", "fn", "tn")


class Values(NamedTuple):
    """The values of a metric that a plot draws."""

    table: pl.DataFrame
    """The keys, and `value, low, high, units`."""
    keys: list[str]
    title: str
    """The metric, as a title of an axis."""
    unit: str
    """The word for the numbers in `units`."""


def read_result(
    kind: FrameKind[Any], first: str, columns: Sequence[str], expectation: str, advice: str = ""
) -> tuple[pl.DataFrame, list[str]]:
    """Read these columns of a result, and its keys, the columns before `first`; return the names of the keys, too.

    `expectation` and `advice` are the ends of the error if a column is missing.
    """
    if missing := [name for name in columns if name not in kind.columns]:
        raise ValueError(f"{expectation}, and this one has no column {missing[0]!r}{advice}")
    keys = kind.columns[: kind.columns.index(first)]
    names = list(map(str, keys))
    table = kind.read([*keys, *columns]).select(map(by_name, [*names, *map(str, columns)])).collect()
    # polars sorts an Enum by the order of its categories, as pandas does, and a Categorical by text.
    categories = {name: kind.categories(name) for name in names if table.schema[name] == pl.Categorical}
    return table.cast({name: pl.Enum(labels) for name, labels in categories.items() if labels}), names


def number_rows(table: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """Return the distinct values of these columns, and the number of the value of each row."""
    if not columns:
        return pl.DataFrame(height=1), pl.repeat(0, table.height, dtype=pl.Int64, eager=True)
    names = [by_name(column) for column in columns]
    values = table.select(names).unique(maintain_order=True)
    key = pl.struct(names).alias("key")
    numbers = values.select(key).with_row_index("number")
    joined = table.select(key).join(numbers, on="key", how="left", nulls_equal=True, maintain_order="left")
    return values, joined["number"].cast(pl.Int64)


def split_groups(table: pl.DataFrame, names: Sequence[str]) -> tuple[list[dict[str, Any]], list[pl.DataFrame]]:
    """Return the keys and the rows of each group."""
    groups, number = number_rows(table, names)
    return groups.rows(named=True), [table.filter(number == place) for place in range(groups.height)]


def metrics_of(frame: Any) -> list[str]:
    """Return the metrics of a result of `intervals` or `evaluate`."""
    kind = kind_of(frame)
    columns = list(map(str, kind.columns))
    if "metric" not in columns:
        return [name for name in columns if is_metric(name)]
    table = kind.read(["metric"]).select(by_name("metric")).collect()
    return list(map(str, table.to_series().unique(maintain_order=True)))


def time_key(frame: Any) -> str | None:
    """Return the key column of dates or times of a result, if it has one."""
    kind = kind_of(frame)
    columns = list(map(str, kind.columns))
    first = next((i for i, name in enumerate(columns) if name == "metric" or is_metric(name)), 0)
    schema = kind.read(kind.columns[:first]).collect_schema() if first else {}
    return next((name for name in columns[:first] if schema[name].is_temporal()), None)


def read_values(frame: Any, metric: str | None, appearance: Appearance) -> Values:
    """Read the rows of a metric from a frame of `intervals` or of metrics."""
    kind, metric = kind_of(frame), None if metric is None else text("metric", metric)
    if metric is not None and "metric" not in kind.columns and metric in kind.columns:
        return _read_metrics(kind, metric, appearance)
    table, keys = read_result(
        kind,
        "metric",
        COLUMNS,
        "this plot draws a frame that intervals gave",
        "; if evaluate gave it, name the metric to draw, metric=...",
    )
    if not keys:
        raise ValueError("frame: no key columns, so no groups to draw; call intervals with by= and without mean_over")
    selected = _one_metric(table, metric)
    return Values(table.filter(pl.col("metric") == selected), keys, appearance.title_of(selected), "n")


def _read_metrics(kind: Any, metric: str, appearance: Appearance) -> Values:
    """Read a frame of metrics. The columns before the first metric are keys, and there are no bounds."""
    names = list(map(str, kind.columns))
    first = next(name for name in names if name == metric or is_metric(name))
    if first == names[0]:
        raise ValueError("frame: no key columns, so no groups to draw; call evaluate with by= and without mean_over")
    units = ["positives"] if "positives" in names else []
    table, keys = read_result(kind, first, [metric, *units], "metric")
    if not table[metric].dtype.is_numeric():
        raise TypeError(f"metric={shown(metric)} is a column of {table[metric].dtype}: metrics are numbers")
    none = pl.lit(None, pl.Float64)
    number = by_name(units[0]) if units else pl.lit(None, pl.Int64)
    value = by_name(metric).cast(pl.Float64).fill_nan(None)
    table = table.select(*map(by_name, keys), value=value, low=none, high=none, units=number)
    return Values(table, keys, appearance.title_of(metric), "positives")


def _one_metric(table: pl.DataFrame, metric: str | None) -> str:
    """Return the metric to draw: the one that the caller names, or the only one of the frame."""
    metrics = table["metric"].unique(maintain_order=True).to_list()
    if metric is None and len(metrics) > 1:
        raise ValueError(f"the frame has {len(metrics)} metrics: name one, metric={metrics[0]!r}")
    if metric is not None and metric not in metrics:
        near = nearest(metric, metrics)
        hint = did_you_mean(near) if near else f"it has {', '.join(metrics)}"
        raise ValueError(f"metric={shown(metric)} is not in the frame; {hint}")
    return metric or next(iter(metrics), "")


def read_differences(frame: Any, metric: str | None, appearance: Appearance) -> tuple[pl.DataFrame, list[str], str]:
    """Return the rows of a metric (names and `difference, low, high`), the columns of names, and the title."""
    kind, metric = kind_of(frame), None if metric is None else text("metric", metric)
    other = "group" if "group" in kind.columns and "baseline" in kind.columns else "system"
    table, keys = read_result(
        kind,
        "metric",
        ["metric", "baseline", other, "difference", "low", "high"],
        "plot_comparison draws a frame that compare gave",
        "; for metrics of groups, call plot_intervals",
    )
    names = [*keys, other]
    selected = _one_metric(table, metric)
    table = table.filter(pl.col("metric") == selected)
    title = appearance.title_of(selected)
    baselines = table["baseline"].unique(maintain_order=True).to_list()
    if len(baselines) == 1:
        name = "the rest" if baselines[0] is None else appearance.label_of(baselines[0])
        return table, names, f"{title}: difference from {name}"
    return table, [*names, "baseline"], f"{title}: first minus second"


def pairs_of(table: pl.LazyFrame, groups: Sequence[str], value: str, systems: Sequence[Any]) -> pl.DataFrame:
    """Return the keys of the groups in which both systems have a value, and these values: `old` and `new`."""
    keys = {f"key {i}": by_name(key) for i, key in enumerate(groups)}
    old, new = (
        table.filter(pl.col("system") == system).select(**keys, **{side: by_name(value)})
        for side, system in zip(("old", "new"), systems, strict=True)
    )
    pairs = old.join(new, on=list(keys), nulls_equal=True, maintain_order="left")
    return pairs.drop_nulls(["old", "new"]).collect()


def read_cells(frame: Any) -> tuple[pl.DataFrame, list[str]]:
    """Return a row for each pair of classes, with the key columns and `_CELLS`, and the names of the keys."""
    kind = kind_of(frame)
    columns = kind.columns
    expectation = "plot_confusion draws a frame that confusion_matrix or confusion gave"
    if any(name not in columns for name in _COUNTS) or all(name in columns for name in _CELLS):
        advice = (
            " (of confusion_matrix), nor all of tp, fp, fn and tn (of confusion); give a matrix as rows, before a pivot"
        )
        return read_result(kind, "truth", _CELLS, expectation, advice)
    first = min((name for name in (*_COUNTS, "k", "threshold") if name in columns), key=columns.index)
    counts, names = read_result(kind, first, _COUNTS, expectation)
    if counts.select(pl.struct(map(by_name, names)).n_unique() if names else pl.len()).item() != counts.height:
        raise ValueError("plot_confusion draws one cutoff of each group, and there are several; filter the frame")
    if not names and counts.height != 1:
        raise ValueError(f"plot_confusion draws one row of confusion, and there are {counts.height}: filter them")
    cells = product(("positive", "negative"), repeat=2)
    rows = [
        counts.select(map(by_name, names), truth=pl.lit(truth), prediction=pl.lit(prediction), rows=pl.col(count))
        for count, (truth, prediction) in zip(("tp", "fn", "fp", "tn"), cells, strict=True)
    ]
    table = pl.concat(rows, how="vertical_relaxed")
    of_truth = pl.col("rows").sum().over([*map(by_name, names), "truth"])
    return table.with_columns(of_truth=pl.when(of_truth > 0).then(pl.col("rows") / of_truth)), names
