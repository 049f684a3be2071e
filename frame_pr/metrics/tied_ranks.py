"""Expressions that Python computes in steps, and sums over the ranks of tied rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from frame_pr.frames.kinds import collected

LONGEST = 2**24
"""The longest list of ranks. A row that stands for `count` rows may make a tie longer."""
_ZERO = pl.Series([0.0])


def in_steps(steps: Sequence[Mapping[str, pl.Expr]], **numbers: pl.Expr) -> pl.Expr:
    """Compute columns of numbers step by step; the value is the column `value` of the last step.

    polars plans a part of an expression anew each time that it is named, which takes milliseconds.
    """

    def value(columns: Sequence[pl.Series]) -> pl.Series:
        return compute_in_steps(pl.DataFrame(dict(zip(numbers, columns, strict=True))), steps)

    # Not elementwise: the streaming engine would call this for each of many small pieces of the
    # table, some of one row.
    return pl.map_batches(list(numbers.values()), value, return_dtype=pl.Float64)


def compute_in_steps(table: pl.DataFrame, steps: Sequence[Mapping[str, pl.Expr]]) -> pl.Series:
    """Add the columns of each step to a table, and return the column `value`."""
    plan = table.lazy()
    for step in steps:
        plan = plan.with_columns(**step)
    return collected(plan.select("value")).to_series()


def discounts_of_ties(condition: pl.Expr, before: pl.Expr, upto: pl.Expr, metric: str) -> pl.Expr:
    """Sum 1 / log2(rank + 1) over the ranks after `before` up to `upto`; 0 unless it is a tie."""
    sums = partial(_discounts_of_ties, metric=metric)
    return value_where(condition, sums, before=before, upto=upto)


def value_where(
    condition: pl.Expr, value: Callable[[pl.DataFrame], pl.Series], **numbers: pl.Expr
) -> pl.Expr:
    """Compute a value from these numbers for the rows where the condition is true, else 0.

    Most blocks have one row, so lists of ranks are built only for the other blocks.
    """

    def values(column: pl.Series) -> pl.Series:
        # The streaming engine calls this for every few thousand rows. Methods of a Series that run
        # a query, such as `struct.field`, would take longer than everything else.
        table = column.struct.unnest()
        zeros = _ZERO.new_from_index(0, len(table))
        is_wanted = table.get_column("condition")
        if not is_wanted.any():
            return zeros
        rows = is_wanted.arg_true()
        return zeros.scatter(rows, value(table[rows]))

    # The value is null if there is no rank, and no rank is no tie.
    columns = {"condition": condition.fill_null(False), **numbers}
    packed = pl.struct(column.alias(name) for name, column in columns.items())
    return packed.map_batches(values, return_dtype=pl.Float64, is_elementwise=True)


def refuse_long_ties(ranks: pl.Series, metric: str) -> None:
    """Raise if a list of ranks would be too long for a metric."""
    longest: Any = ranks.max()
    if longest is not None and longest > LONGEST:
        raise ValueError(
            f"{metric}: {longest} rows share a score, and a metric of ranks takes at most "
            f"{LONGEST}; evaluate a "
            "metric that needs no ranks within a tie, such as average_precision"
        )


def _discounts_of_ties(runs: pl.DataFrame, metric: str) -> pl.Series:
    refuse_long_ties(runs.get_column("upto") - runs.get_column("before"), metric)
    places = pl.int_ranges(pl.col("before") + 2, pl.col("upto") + 2)
    return runs.select(places.list.eval(1 / pl.element().log(2)).list.sum()).to_series()
