"""Any number of named metrics per group, from one ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Unpack

import polars as pl

from frame_pr import ranking
from frame_pr.arguments import each
from frame_pr.callers import Engine, Frame
from frame_pr.checks import refuse_clash
from frame_pr.inputs import Column, Columns, Policies, Rows, Ties, rows_of
from frame_pr.metrics import TOTALS, TOTALS_UNRANKED, Metric, Sums
from frame_pr.names import metric
from frame_pr.totals import with_totals


def evaluate(
    frame: Frame,
    metrics: str | Sequence[str],
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    mean_over: str | Sequence[str] | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Any metrics by name, one column each, all from one ranking.

    The names are those of the table of metrics in the docs: `average_precision`, `precision@10`, `f1@threshold=0.5`,
    `k@recall=0.8`, `max_f2` and so on. The other functions of this package are these metrics asked one at a time.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    metrics : str or list of str
        Names of metrics.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier. Several give a key column `system` after `by`.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    mean_over : str or list of str, optional
        Columns of `by` to average over: the result has one row for each group of the others.
    positive : optional
        The label of `truth` that is the positive one.
    undefined : float, optional
        What to give instead of null where there is no value. Does not fill counts and thresholds.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then a column for each metric, named as it was asked for (Float64; counts Int64; thresholds of the
        dtype of the score). With `mean_over`: the keys that are left, `groups` (how many were averaged), `mean_...` of
        each metric over the groups that have a value, and `undefined_...`, how many had none, for each metric that may
        have none.

    Raises
    ------
    ValueError, TypeError
        A name is no metric's; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": [1, 1, 2, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
    >>> fp.evaluate(run, ["average_precision", "precision@1"], "relevant", "score", by="query").rows()
    [(1, 1.0, 1.0), (2, 0.5, 0.0)]
    >>> fp.evaluate(run, "average_precision", "relevant", "score", by="query", mean_over="query").rows()
    [(2, 0.75, 0)]
    """
    names = _distinct(metrics)
    if isinstance(frame, Engine):
        return frame.evaluate(
            names, truth, score, by=by, mean_over=mean_over, positive=positive, undefined=undefined, **policies
        )
    rows = rows_of(frame, truth, score, by=by, positive=positive, **policies)
    if mean_over is None:
        return rows.result(values(rows, names, undefined), names)
    return _mean(rows, names, each("mean_over", mean_over), undefined)


def with_metrics(
    frame: Frame,
    metrics: str | Sequence[str],
    truth: Column,
    score: Column,
    *,
    prefix: str = "",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """The caller's rows, in their order, each with the metrics of its group.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    metrics : str or list of str
        Names of metrics, as for `evaluate`.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression
        Higher ranks earlier.
    prefix : str
        Put before the names of the new columns.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one.
    undefined : float, optional
        What to give instead of null where there is no value.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The frame as it was, index and all, then a column for each metric.

    Raises
    ------
    ValueError, TypeError
        A new column has the name of an old one; a name is no metric's; a column is missing, given twice or wrong.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"query": [1, 2, 1, 2], "relevant": [1, 0, 0, 1], "score": [0.9, 0.8, 0.7, 0.6]})
    >>> fp.with_metrics(run, "average_precision", "relevant", "score", by="query")["average_precision"].to_list()
    [1.0, 0.5, 1.0, 0.5]
    """
    names = _distinct(metrics)
    if isinstance(frame, Engine):
        return frame.with_metrics(
            names, truth, score, prefix=prefix, by=by, positive=positive, undefined=undefined, **policies
        )
    rows = rows_of(frame, truth, score, by=by, positive=positive, carry=True, **policies)
    return rows.beside(values(rows, names, undefined), "group", names, prefix)


def values(rows: Rows[Frame], names: Sequence[str], undefined: float | None = None) -> pl.LazyFrame:
    """One row per group: `group` and the metrics of these names."""
    chosen = chosen_for(rows, names, undefined)
    return finished(summed(rows, chosen), ["group"], chosen, undefined)


def summed(rows: Rows[Frame], chosen: Mapping[str, Metric]) -> pl.LazyFrame:
    """One row per group, sorted: `group`, and the sums that the values of these metrics are computed from."""
    unranked = [m.unranked for m in chosen.values() if m.unranked is not None]
    if len(unranked) == len(chosen) and not rows.weighted and rows.starts is None:
        sums = _summed(rows.frame, _union([TOTALS_UNRANKED, *unranked]), rows.groups, in_order=False)
        return with_totals(sums.sort("group"), rows.totals)
    hits_may_lack = rows.unretrieved or rows.totals or rows.starts is not None
    first = any(m.first or (hits_may_lack and m.first_without_hits) for m in chosen.values())
    k_at = {name: threshold for m in chosen.values() for name, threshold in m.k_at.items()}
    blocks = ranking.curve(rows, steps=True, first=first, k_at=k_at)
    sums = _summed(blocks, sums_of(chosen, rows.ties), rows.groups, in_order=True)
    # A group without rows has no block for its totals to stand in.
    return sums if rows.groups is None else with_totals(sums, rows.totals)


def sums_of(chosen: Mapping[str, Metric], ties: Ties) -> Sums:
    """What is summed over the blocks of a group."""
    return _union([TOTALS, *((m.expected if ties == "expected" else m.sums) or {} for m in chosen.values())])


def finished(
    sums: pl.LazyFrame, keys: Sequence[str], chosen: Mapping[str, Metric], undefined: float | None
) -> pl.LazyFrame:
    """The values of these metrics, from their sums."""
    values = {name: m.value.fill_null(undefined) if _fills(m, undefined) else m.value for name, m in chosen.items()}
    return sums.select(*keys, **values)


def chosen_for(rows: Rows[Frame], names: Sequence[str], undefined: float | None) -> dict[str, Metric]:
    """The metrics of these names, which must have a meaning for these rows."""
    if undefined is not None and not isinstance(undefined, (int, float)):
        raise TypeError(f"undefined must be a number, or None for null, got {undefined!r}")
    chosen = {name: metric(name, rows.score_dtype) for name in names}
    for name, m in chosen.items():
        if rows.weighted and m.ranked:
            raise ValueError(
                f"{name} cuts at a rank, and weighted rows have none: cut at a threshold or a recall instead"
            )
        if rows.ties == "expected" and m.expected is None:
            raise ValueError(
                f"{name} has no closed form in expectation: ties='optimistic' and 'pessimistic' bound it, "
                "ties='threshold' takes equal scores together"
            )
        if rows.ties in ("optimistic", "pessimistic") and not m.bounded:
            raise ValueError(f"{name} is not largest with positives first: ties={rows.ties!r} would be no bound of it")
    return chosen


def _summed(table: pl.LazyFrame, sums: Sums, groups: int | None, *, in_order: bool) -> pl.LazyFrame:
    # Columns first: polars shares what several of them have in common, and aggregates plain columns fastest.
    columns = {name: one.over.fill_null(0) if one.how == "sum" else one.over for name, one in sums.items()}
    return per_group(table.select("group", **columns), sums, groups, in_order=in_order)


def per_group(
    table: pl.LazyFrame, sums: Sums, groups: int | None, prefix: str = "", *, in_order: bool = False
) -> pl.LazyFrame:
    """One row per group, sorted if the table is: `group` and these sums, of columns with a prefix.

    `groups`: how many there are even when they have no rows. `in_order`: whether the table is sorted.
    """
    parts = {name: one.of(prefix + name, in_order=in_order) for name, one in sums.items()}
    found = table.group_by("group", maintain_order=True).agg(**parts)
    if groups is None:
        return found
    every = pl.LazyFrame({"group": range(groups)}, schema={"group": pl.Int64})
    zero = pl.col([name for name, one in sums.items() if one.how == "sum" or name in TOTALS]).fill_null(0)
    return every.join(found, on="group", how="left", maintain_order="left").with_columns(zero)


def _union(parts: Iterable[Sums]) -> Sums:
    return {name: one for part in parts for name, one in part.items()}


def means(groups: pl.LazyFrame, keys: Sequence[str], names: Sequence[str], undefinable: Sequence[str]) -> pl.LazyFrame:
    """Metrics of groups, averaged over the groups that share these keys, and how many of them had no value."""
    totals = {"groups": pl.len().cast(pl.Int64)}
    totals |= {f"mean_{name}": pl.col(name).mean() for name in names}
    totals |= {f"undefined_{name}": pl.col(name).null_count().cast(pl.Int64) for name in undefinable}
    refuse_clash(keys, totals)
    return groups.group_by(keys).agg(**totals) if keys else groups.select(**totals)


def _mean(rows: Rows[Frame], names: Sequence[str], over: Sequence[str], undefined: float | None) -> Frame:
    for name in over:
        if name not in rows.keys:
            raise ValueError(
                f"mean_over names {name!r}, which is not one of the keys: {', '.join(rows.keys) or 'none'}; "
                "name it in by=, too"
            )
    keys = [key for key in rows.keys if key not in over]
    refuse_clash(rows.keys, names)
    chosen = chosen_for(rows, names, undefined)
    undefinable = [name for name, m in chosen.items() if not m.defined and not _fills(m, undefined)]
    averaged = means(rows.restore(values(rows, names, undefined)), keys, names, undefinable)
    if not keys:
        return rows.give(averaged, keys)
    order = [
        pl.col(key).cast(pl.Enum(rows.systems)) if rows.systems and key == "system" else pl.col(key) for key in keys
    ]
    return rows.give(averaged.sort(order), keys)


def _fills(m: Metric, undefined: float | None) -> bool:
    return m.fillable and undefined is not None


def _distinct(metrics: str | Sequence[str]) -> list[str]:
    names = each("metrics", metrics)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"metric {name!r} is asked for twice")
        metric(name, pl.Float64())  # a wrong name is told before columns are looked for: the two are easily swapped
    return names
