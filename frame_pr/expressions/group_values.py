"""Values of metrics for the groups of an expression: the core ranks the lists of all groups."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from frame_pr.frames.columns import by_name, refuse_several
from frame_pr.frames.messages import pluralize, shown
from frame_pr.inputs.options import Column
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.inputs.values import label_of, refuse_score_type, type_of
from frame_pr.metrics.aggregation import values

_PLAN = "\n\nThis error occurred"
_DEEPEST = 40
"""The most calls within each other.

While a query on a thread of polars waits for others, that thread begins the next call: 400
expressions over 250,000 rows would reach Python's limit of 1,000 frames, at 63 calls.
"""


_depth = threading.local()


class ExpressionError(ValueError):
    """A `ValueError` without the plan that polars writes after the message of an error."""

    # Tracebacks show the class under the name of its base.
    __module__ = "builtins"
    __qualname__ = "ValueError"

    def __init__(self, message: str) -> None:
        super().__init__(message.partition(_PLAN)[0])

    def __reduce__(self) -> tuple[type[ValueError], tuple[str]]:
        return ValueError, (str(self),)


class GroupValues(NamedTuple):
    """The function from the lists of scores and labels of the groups to the values of metrics."""

    metrics: tuple[str, ...]
    score: str
    """The name of the scores; empty if they are several columns."""
    truth: str
    positive: object
    ascending: bool

    def of_lists(self, columns: Sequence[pl.Series]) -> pl.Series:
        """Return a struct of the metrics for each group; one metric as it is."""
        calls = getattr(_depth, "calls", 0)
        if calls >= _DEEPEST:
            raise ExpressionError(
                "too many metrics in one query: give metric() a list of names, which ranks the "
                "rows once, or call evaluate() on the frame"
            )
        _depth.calls = calls + 1
        try:
            table = self._values(columns)
        except (TypeError, ValueError) as error:
            raise ExpressionError(str(error)) from None
        finally:
            _depth.calls = calls
        return table.to_series() if table.width == 1 else table.to_struct()

    def _values(self, columns: Sequence[pl.Series]) -> pl.DataFrame:
        groups = max(map(len, columns))
        # polars hands on a literal, or one list for all groups, as a single value.
        full = [
            column.new_from_index(0, groups) if len(column) == 1 else column for column in columns
        ]
        rows = self._rows(pl.DataFrame(dict(zip(("score", "truth"), full, strict=True))))
        table = values_of(rows, self.metrics, ascending=self.ascending, by="group")
        if table.height == groups:
            return table.drop("group")
        # Some groups have no rows.
        nothing = values_of(rows.clear(), self.metrics, ascending=self.ascending)
        every = pl.DataFrame({"group": pl.int_range(groups, dtype=pl.UInt32, eager=True)})
        absent = every.join(table, on="group", how="anti").join(nothing, how="cross")
        return pl.concat([table, absent]).sort("group").drop("group")

    def _rows(self, lists: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of all groups; raise if scores or labels are invalid."""
        dtypes: list[Any] = [
            dtype.inner for dtype in lists.schema.values() if isinstance(dtype, pl.List)
        ]
        for argument, name, dtype in zip(
            ("score", "truth"), (self.score, self.truth), dtypes, strict=True
        ):
            if isinstance(dtype, pl.Struct) and not name:
                raise ValueError(
                    f"{argument} gives several columns: an expression takes one, evaluate takes a "
                    "list of scores"
                )
        refuse_score_type(self.score, dtypes[0])
        rows = lists["score"].list.len()
        labels = lists["truth"].list.len()
        place = (rows != labels).arg_max() or 0
        if len(rows) and rows[place] != labels[place]:
            raise ValueError(
                f"score {shown(self.score)} gives {rows[place]} and truth {shown(self.truth)} "
                f"{labels[place]} values: each must give one for every row, without an "
                "aggregation, and with the same filter"
            )

        table = lists.with_row_index("group").explode("score", "truth", empty_as_null=False)
        table = table.with_columns(truth=_is_positive(self.truth, dtypes[1], self.positive))
        no_score = pl.col("score").is_null()
        if dtypes[0].is_float():
            no_score = no_score | pl.col("score").is_nan()
        score = f"score {shown(self.score)}"
        _refuse_missing(score, "missing (null or NaN)", table.filter(no_score), rows)
        no_label = "missing (null or NaN)"
        if self.positive is None:
            no_label += ", or neither true, false, 0 nor 1"
        unlabelled = table.filter(pl.col("truth").is_null())
        _refuse_missing(f"truth {shown(self.truth)}", no_label, unlabelled, rows)
        return table


def _refuse_missing(column: str, what: str, missing: pl.DataFrame, rows: pl.Series) -> None:
    """Raise if values are missing, with their number in the first such group.

    Other groups may be computed by another call.
    """
    if missing.height:
        group = missing["group"][0]
        number = (missing["group"] == group).sum()
        of_group = " of a group" if len(rows) > 1 else ""
        raise ValueError(
            f"{column} has {number} of {pluralize(rows[group], 'value', 'values')}{of_group} "
            f"{what}: drop these rows, or fill them, before the call"
        )


def values_of(
    rows: pl.DataFrame, metrics: Sequence[str], *, ascending: bool, by: str | None = None
) -> pl.DataFrame:
    """Evaluate metrics of the columns `truth` and `score`."""
    ranked, output = rows_of(rows, request_of("truth", "score", by, None, {"ascending": ascending}))
    return output.result(values(ranked, dict(zip(metrics, metrics, strict=True))), list(metrics))


@cache
def dtype_of(name: str) -> pl.DataType:
    """Return the dtype of a metric that is no threshold."""
    no_rows = pl.DataFrame(schema={"truth": pl.Boolean, "score": pl.Float64})
    return values_of(no_rows, [name], ascending=False).schema[name]


def expression_of(argument: str, column: Column) -> pl.Expr:
    """Return the column of a name, or the expression; of several columns a struct."""
    refuse_several(argument, column)
    if isinstance(column, str):
        return by_name(column)
    if not isinstance(column, pl.Expr):
        raise TypeError(
            f"{argument} takes the name of one column, or a polars expression; got {shown(column)}"
        )
    if not column.meta.has_multiple_outputs():
        return column
    return pl.struct(column).map_batches(_single_field, is_elementwise=True)


def _single_field(columns: pl.Series) -> pl.Series:
    """Return the only field of a struct; a struct of several fields is refused later."""
    fields = columns.struct.unnest()
    return columns if fields.width > 1 else fields.to_series()


def _is_positive(name: str, dtype: pl.DataType, positive: object) -> pl.Expr:
    """Return whether a label is positive; null if it is missing or neither of two values."""
    label = pl.col("truth")
    if dtype.is_float():
        label = label.fill_nan(None)
    if positive is not None:
        return label == label_of(name, dtype, positive)
    if dtype == pl.Boolean:
        return label
    if not dtype.is_numeric():
        advice = "name its positive label, positive=..."
        if dtype.is_nested():
            advice = "it must have one label in a row"
        raise ValueError(
            f"truth {shown(name)} is {type_of(dtype)}, neither boolean nor 0/1: {advice}"
        )
    return pl.when(label == 1).then(True).when(label == 0).then(False)
