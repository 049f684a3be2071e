"""Aggregate rows with equal keys to one row for each label, if a sample shows that few keys are distinct."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

_SAMPLES = 2**12, 2**16
"""The numbers of rows in the samples, of which the first one mostly decides."""


def is_few(rows: pl.DataFrame, key: pl.Expr) -> bool:
    """Return whether there are so few distinct keys that it pays to aggregate equal rows before a sort."""
    if len(rows) <= 2 * _SAMPLES[-1]:
        return False
    for size in _SAMPLES:
        distinct = rows.sample(size, with_replacement=True, seed=0).select(key.n_unique()).item()
        if distinct < 0.6 * size:
            return True
        if distinct > 0.98 * size:  # Of the larger sample, more than 0.6 are expected to be distinct, too.
            return False
    return False


def aggregate_equal_rows(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    summed: Collection[str] = (),
    constant: Sequence[str] = (),
    *,
    weighted: bool = False,
) -> pl.DataFrame:
    """Return the distinct keys with each `truth`, the sums of their `summed` columns and, if none is, their `count`.

    `constant`: columns with one value for equal keys. `weighted`: no `count` is needed, and only rows that do not count
    have `weight` 0.
    """
    sums = {name: (pl.col(name).sum(), (pl.col(name) * pl.col("truth")).sum()) for name in summed}
    size = "weight" if weighted else "rows"
    if not weighted:
        sums["rows"] = pl.len().cast(pl.Int64), pl.col("truth").sum().cast(pl.Int64)
    both = [total.alias(name) for name, (total, _) in sums.items()]
    hits_alone = [total.alias(f"{name} of hits") for name, (_, total) in sums.items()]
    # This has half as many groups, and one key column less, as with the label among the keys.
    totals = rows.group_by(keys).agg(*both, *hits_alone, pl.col(constant).first()).collect(engine="streaming")
    named = {name: name for name in summed} | ({} if "count" in summed or weighted else {"count": "rows"})
    hits = {name: pl.col(f"{of} of hits") for name, of in named.items()}
    misses = {name: pl.col(of) - pl.col(f"{of} of hits") for name, of in named.items()}
    of_both, of_hits = pl.col(size), pl.col(f"{size} of hits")
    return pl.concat(
        [
            totals.filter(of_hits > 0).select(*keys, *constant, truth=True, **hits),
            totals.filter((of_both > of_hits) | (of_both == 0)).select(*keys, *constant, truth=False, **misses),
        ]
    )
