"""Read the frames that public functions return, as tables for plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.arguments import check_text, names_of
from frame_pr.frames.columns import by_name
from frame_pr.frames.dispatch import find_kind, kind_of, path_advice
from frame_pr.frames.messages import did_you_mean, kind_of_value, nearest, shown
from frame_pr.inputs.values import type_of
from frame_pr.metrics.names import is_metric

Keys: TypeAlias = Mapping[str, str]
"""The names of key columns, and their columns in a table."""
_LABELS = ("metric", "truth", "prediction", "baseline", "system")
"""Columns of labels; all others hold numbers."""
_UNIT_COUNTS = ("units", "groups", "n", "positives")
"""Columns with the number of units behind a value."""


class Result(NamedTuple):
    """A frame that a function of this package returned."""

    keys: Keys
    """The names of its key columns, and their columns in `table`: `key 0`, `key 1` and so on."""
    table: pl.DataFrame

    @property
    def key_columns(self) -> list[str]:
        """Return the names of the key columns in the table."""
        return list(self.keys.values())

    def groups(self) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
        """Return the values of the keys and the rows of each group, in the order of the table."""
        if not self.keys:
            return [((), self.table)]
        return list(
            self.table.partition_by(self.key_columns, maintain_order=True, as_dict=True).items()
        )


def columns_of(frame: Any) -> list[str]:
    """Return the names of the columns of a frame; none for what is no frame."""
    kind = find_kind(frame)
    return [] if kind is None else list(map(str, kind.columns))


def read_result(
    frame: Any,
    columns: Mapping[str, str],
    expectation: str,
    first: Sequence[str] = (),
) -> Result:
    """Read these columns of a result, and its keys, which are the columns before them.

    `columns`: their names, each with the advice if the frame lacks it; an empty advice makes it
    optional. `expectation`: the start of the error.
    """
    if find_kind(frame) is None:
        raise TypeError(f"{expectation}, got {kind_of_value(frame)}{path_advice(frame)}")
    kind = kind_of(frame)
    names = list(map(str, kind.columns))
    for name, advice in columns.items():
        if advice and name not in names:
            raise ValueError(f"{expectation}, and this one has no column {name!r}; {advice}")
    available = [name for name in columns if name in names]
    end = min(names.index(name) for name in (*available, *first) if name in names)
    kind, _ = kind.with_keys(kind.columns[:end])
    if {"truth", "prediction"} <= {*names}:
        kind = kind.with_labels(["truth", "prediction"])
    # The streaming engine would copy the columns.
    keys = names[:end]
    table = kind.read(kind.columns).collect(engine="in-memory")
    if table.height:
        check_dtypes(table.select(*keys, *available), keys, expectation)
    key_of = {name: f"key {i}" for i, name in enumerate(keys)}
    key_columns = [table[name].alias(column) for name, column in key_of.items()]
    return Result(
        key_of,
        pl.DataFrame([*key_columns, *(table[name] for name in available)]),
    )


def check_dtypes(
    table: pl.DataFrame,
    keys: Sequence[str],
    expectation: str,
) -> None:
    """Refuse columns that no plot can draw."""
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype == pl.Object:
            raise TypeError(
                f"column {name!r} is {type_of(dtype)}, and a plot needs one value per row; take "
                "one of it"
            )
        is_number = dtype.is_numeric() or dtype == pl.Null
        if not is_number and name not in (*keys, *_LABELS):
            raise TypeError(
                f"{expectation}, and column {name!r} of this one is {type_of(dtype)}; cast it to "
                "numbers"
            )


def read_metrics(
    frame: Any,
    metric: Any,
    expectation: str,
) -> tuple[Keys, dict[str, pl.DataFrame]]:
    """Return the keys of a result of `intervals` or `evaluate`, and a table for each metric.

    The tables have the columns of the keys, then `value, low, high, level` (Float64) and `n`, the
    units behind. `expectation`: the start of an error.
    """
    names = columns_of(frame)
    listed = [] if metric is None else names_of("metric", metric, "names of metrics")
    if "metric" in names:
        optional = dict.fromkeys(("low", "high", "level", *_UNIT_COUNTS), "")
        result = read_result(frame, {"metric": "name", "value": "name"} | optional, expectation)
        tables = tables_by_metric(result.table)
    else:
        # Slices have their sizes before the metrics.
        sizes = ("rows", "positives") if "slice" in names else ()
        values = {name for name in names if is_metric(name)}.difference(sizes).union(listed)
        metrics = [name for name in names if name in values] or ["metric"]
        columns = dict.fromkeys(_UNIT_COUNTS, "") | dict.fromkeys(metrics, "give such a frame")
        result = read_result(frame, columns, expectation, first=sizes)
        tables = {name: result.table.with_columns(value=by_name(name)) for name in metrics}
    if not result.keys:
        raise ValueError(
            "frame: no key columns, so no groups to draw; give by= and no mean_over= to the call"
        )
    for name in listed:
        _check_metric(name, list(tables))
    drawn = listed or tables
    return result.keys, {name: _values(name, tables[name], result) for name in drawn}


def tables_by_metric(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows of each metric."""
    return {rows["metric"][0]: rows for rows in table.partition_by("metric", maintain_order=True)}


def only_metric(metric: Any, tables: Mapping[str, pl.DataFrame]) -> tuple[str, pl.DataFrame]:
    """Return the metric of a plot of one, and its table: the caller's, or the only one."""
    name = next(iter(tables))
    if metric is not None:
        name = check_text("metric", metric)
        _check_metric(name, list(tables))
    elif len(tables) > 1:
        raise ValueError(f"the frame has {len(tables)} metrics: name one, metric={name!r}")
    return name, tables[name]


def _check_metric(name: str, metrics: Sequence[str]) -> None:
    """Refuse a metric that the frame does not have."""
    if name not in metrics:
        near = nearest(name, metrics)
        hint = did_you_mean(near) if near else f"it has {', '.join(metrics)}"
        raise ValueError(f"metric: {shown(name)} is not in the frame; {hint}")


def _values(
    metric: str,
    table: pl.DataFrame,
    result: Result,
) -> pl.DataFrame:
    """Return the values of a metric, with nulls for what the frame does not have."""
    missing = pl.lit(None, pl.Float64)
    numbers = {
        name: by_name(name).cast(pl.Float64).fill_nan(None) if name in table.columns else missing
        for name in ("value", "low", "high", "level")
    }
    count = next(
        (by_name(name) for name in _UNIT_COUNTS if name in table.columns and name != metric),
        missing,
    )
    return table.select(
        *result.key_columns,
        **numbers,
        n=count.cast(pl.Float64),
    )
