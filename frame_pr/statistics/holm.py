"""Holm's correction (1979) of many p-values."""

from __future__ import annotations

import polars as pl


def with_holm(table: pl.LazyFrame) -> pl.LazyFrame:
    """The table by `p_value`, with `p_adjusted`: the largest of (m - i + 1) p_i up to its own, of the m there are."""
    p, tests = pl.col("p_value"), pl.col("p_value").count()
    left = tests.cast(pl.Int64) - pl.int_range(pl.len(), dtype=pl.Int64)
    adjusted = (p * left).cum_max().clip(upper_bound=1.0)
    return table.sort(p, nulls_last=True).with_columns(p_adjusted=pl.when(p.is_not_null()).then(adjusted))
