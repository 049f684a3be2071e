"""Evaluate any number of named metrics per group, from one ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_text, filling, names_of, public, scalar
from frame_pr.frames.columns import (
    by_name,
    column_names,
    listed,
    refuse_clash,
    refuse_missing,
)
from frame_pr.frames.dispatch import backend_of, find_kind
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.functions.slices import on_slices
from frame_pr.inputs.options import Column, Columns, Options
from frame_pr.inputs.request import Request, request_of
from frame_pr.inputs.results import OutputFrame, on_rows
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics.aggregation import plan_for, values
from frame_pr.metrics.means import Means, Statistic, means_of, validate_statistics
from frame_pr.metrics.names import (
    example_names,
    is_metric,
    meant_names,
    metric,
    metric_hint,
    request_for,
)

_MOST_HINTS = 4  # Hints in one message.
Metrics: TypeAlias = str | Sequence[str] | Mapping[str, str]
"""Names of metrics, or a dict of new names and metrics."""


@public(options=Options)
def evaluate(
    frame: Frame,
    metrics: Metrics,
    truth: Column,
    score: Columns,
    *,
    by: Columns | None = None,
    mean_over: bool | str | Sequence[str] | None = None,
    statistics: Statistic | str | Sequence[Statistic | str] = "mean",
    slices: Sequence[Column | Sequence[Column]] | None = None,
    difference: Literal["all"] | None = None,
    names: Literal["exact", "snake"] = "exact",
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[Options],
) -> Frame:
    """Compute metrics by name, one column each, for all groups in one call.

    Names are, for example, `average_precision`, `precision@10`, `f1@threshold=0.5`, `k@recall=0.8`
    and `max_f2`. The list of metrics in the docs has all of them, with formulas. The rows are
    sorted once for all metrics. The functions of single metrics, such as `precision_at_k`, compute
    the same values.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics, such as ``"precision@10"``. The list of metrics in the docs has all names.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns.
        True: all columns but `system`.
    statistics : str or list of str
        Statistics over the groups that `mean_over` names: "mean", "median", "std" (of a sample),
        "min", "max", quantiles such as "q25", "range" (max - min), "ratio" (min / max), means
        weighted by the positives of the group ("weighted"), by its rows ("by_rows") or by its pairs
        of a positive and a negative ("by_pairs"), and "defined" (the number of groups that have a
        value).
    slices : list of columns, or of lists of columns; optional
        Columns whose values are slices of the rows: the result has all rows first, then each value
        of each slice. A list of columns is one slice, of their combinations.
    difference : "all", optional
        "all" adds a column `difference_...` for each metric: its value in the slice minus that of
        all rows. Only with `slices`.
    names : "exact" or "snake"
        "exact", the default: a column has the name of its metric. "snake": names for SQL and Spark,
        such as `precision_at_10` and `f1_at_threshold_0_5`.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`. Which
        of them goes with which metric: the page of the docs on options.

    Returns
    -------
    Frame of the same kind
        The keys, then a column for each metric, named as it was asked for, or by the dict (Float64;
        counts are Int64, except `tp@10` and the like, because tied rows may share a cutoff; for
        weights see `Options`; thresholds have the dtype of the score, for several scores their
        common dtype). On pandas, integers are Int64 if one of them is missing. With `mean_over`:
        the keys that are left, `groups` (how many there are), `undefined` (in how many of them any
        metric has no value; left out if all metrics have one in every group), and `mean_...` of
        each metric over the groups that have a value, or what `statistics` names (Float64;
        `defined` Int64). With a dict, the column of the mean has the name given in the dict,
        without `mean_`. With `slices`: the keys, `slice` (the names of its columns, "all" for all
        rows), `value` (its keys as text, " | " between two), `rows` and `positives` (not with
        `mean_over`), then the metrics.

    Raises
    ------
    ValueError, TypeError
        A metric name is unknown; a column is missing, given twice, of the wrong type, or has
        missing values.

    See Also
    --------
    with_metrics, report, intervals, compare, Options

    References
    ----------
    Järvelin and Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS
    20(4), 422-446. https://doi.org/10.1145/582415.582418

    Moffat and Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM
    TOIS 27(1), 2:1-27. https://doi.org/10.1145/1416950.1416952

    Buckley and Voorhees (2004). Retrieval evaluation with incomplete information. SIGIR, 25-32.
    https://doi.org/10.1145/1008992.1009000

    McClish (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9(3), 190-195.
    https://doi.org/10.1177/0272989X8900900307

    Youden (1950). Index for rating diagnostic tests. Cancer 3(1), 32-35.
    https://doi.org/10.1002/1097-0142%281950%293:1%3C32::AID-CNCR2820030106%3E3.0.CO;2-3

    Vickers and Elkin (2006). Decision curve analysis. Medical Decision Making 26(6), 565-574.
    https://doi.org/10.1177/0272989X06295361

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> metrics = ["average_precision", "precision@1", "roc_auc"]
    >>> fp.evaluate(run, metrics, "relevant", "score", by="query")
    shape: (2, 4)
    ┌───────┬───────────────────┬─────────────┬─────────┐
    │ query ┆ average_precision ┆ precision@1 ┆ roc_auc │
    │ ---   ┆ ---               ┆ ---         ┆ ---     │
    │ str   ┆ f64               ┆ f64         ┆ f64     │
    ╞═══════╪═══════════════════╪═════════════╪═════════╡
    │ ink   ┆ 0.833333          ┆ 1.0         ┆ 0.5     │
    │ tea   ┆ 0.583333          ┆ 0.0         ┆ 0.0     │
    └───────┴───────────────────┴─────────────┴─────────┘
    >>> call = {"by": "query", "mean_over": "query", "statistics": ["mean", "min"]}
    >>> fp.evaluate(run, {"MAP": "average_precision"}, "relevant", "score", **call)
    shape: (1, 4)
    ┌────────┬───────────┬──────────┬──────────┐
    │ groups ┆ undefined ┆ MAP      ┆ min_MAP  │
    │ ---    ┆ ---       ┆ ---      ┆ ---      │
    │ i64    ┆ i64       ┆ f64      ┆ f64      │
    ╞════════╪═══════════╪══════════╪══════════╡
    │ 2      ┆ 0         ┆ 0.708333 ┆ 0.583333 │
    └────────┴───────────┴──────────┴──────────┘
    """
    means = means_for(mean_over, statistics, named=isinstance(metrics, Mapping))
    named = metrics_named(metrics, truth, score)
    if check_choice("names", names, ("exact", "snake")) == "snake":
        named = {snake_case(name): metric for name, metric in named.items()}
    if check_choice("difference", difference, ("all", None)) is not None and slices is None:
        raise ValueError("difference='all' compares slices with all rows: give slices=[...]")
    if slices is not None and means is None:
        named = {"rows": "rows", "positives": "positives", **named}
    keys = keys_of_means(by, mean_over, frame)
    request = request_of(truth, score, keys, positive, options)
    value = filling(undefined)

    metrics_read = [*named.values()]
    if means is not None:
        # Weighted means read the totals of groups.
        means = means.of(named)
        metrics_read += means.totals.values()
    request = request_for(metrics_read, request, averages=means is not None)
    compute = partial(evaluate_request, named=named, means=means, undefined=value)
    backend = backend_of(frame)
    if backend and slices is not None:
        raise TypeError(
            f"slices: a {backend.name} takes no slices; evaluate(..., by=...) computes one slice"
        )
    if backend:
        return backend.evaluate(request, named, means, value)
    if slices is None:
        return on_rows(frame, request, compute)
    return on_slices(frame, request, slices, compute, differences=difference is not None)


@public(options=Options)
def with_metrics(
    frame: Frame,
    metrics: Metrics,
    truth: Column,
    score: Column,
    *,
    prefix: str = "",
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **options: Unpack[Options],
) -> Frame:
    """Add the metrics of its group to each row, as columns.

    Use it to filter or join rows by the metrics of their group. The rows keep their order.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    metrics : str or list of str, or dict of new name and metric
        Names of metrics, such as ``"precision@10"``. The list of metrics in the docs has all names.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression
        Higher scores rank first, unless `ascending`.
    prefix : str
        Prefix of the names of the new columns.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`. Which
        of them goes with which metric: the page of the docs on options.

    Returns
    -------
    Frame of the same kind
        The rows as they were, on pandas with their index, then a column for each metric. Of a
        pandas frame, `attrs` and the name of the columns are not kept.

    Raises
    ------
    ValueError, TypeError
        A new column has the name of an old one; a metric name is unknown; a column is missing,
        given twice or wrong.

    See Also
    --------
    evaluate, with_curve

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.with_metrics(run, "average_precision", "relevant", "score", by="query")
    shape: (6, 4)
    ┌───────┬──────────┬───────┬───────────────────┐
    │ query ┆ relevant ┆ score ┆ average_precision │
    │ ---   ┆ ---      ┆ ---   ┆ ---               │
    │ str   ┆ i64      ┆ i64   ┆ f64               │
    ╞═══════╪══════════╪═══════╪═══════════════════╡
    │ ink   ┆ 1        ┆ 6     ┆ 0.833333          │
    │ ink   ┆ 0        ┆ 5     ┆ 0.833333          │
    │ ink   ┆ 1        ┆ 4     ┆ 0.833333          │
    │ tea   ┆ 0        ┆ 3     ┆ 0.583333          │
    │ tea   ┆ 1        ┆ 2     ┆ 0.583333          │
    │ tea   ┆ 1        ┆ 1     ┆ 0.583333          │
    └───────┴──────────┴───────┴───────────────────┘
    """
    named = metrics_named(metrics, truth, score)
    new_prefix = check_text("prefix", prefix)
    value = filling(undefined)
    request = request_for(named.values(), request_of(truth, score, by, positive, options))
    if backend := backend_of(frame):
        return backend.with_metrics(request, named, new_prefix, value)
    append = partial(append_metrics, named=named, prefix=new_prefix, undefined=value)
    return on_rows(frame, request, append, all_rows=True)


def evaluate_request(
    frame: Frame,
    request: Request,
    named: Mapping[str, str],
    means: Means | None,
    undefined: float | None,
    *,
    all_groups: bool = True,
) -> Frame:
    """Compute what `evaluate` returns.

    `all_groups`: also for groups that only frames of known totals have.
    """
    rows, output = rows_of(frame, request, all_groups=all_groups)
    if means is None:
        return output.result(values(rows, named, undefined), list(named))
    undefinable = bool(plan_for(rows, list(named.values()), undefined).undefinable())
    table = values(rows, {**named, **means.totals}, undefined)
    return averaged(output, table, list(named), means, undefinable=undefinable)


def averaged(
    output: OutputFrame[Frame],
    table: pl.LazyFrame,
    columns: Sequence[str],
    means: Means,
    *,
    undefinable: bool,
    more_keys: Sequence[str] = (),
) -> Frame:
    """Compute statistics over the groups of a table with a `group`; see `means_of`."""
    refuse_missing(means.over or (), output.keys, "by columns", "mean_over")
    if means.over is None and not output.keys:
        raise ValueError("mean_over=True averages over all columns of by=, and there are none")
    keys = means.left(output.keys)
    refuse_clash(output.keys, [*more_keys, *columns, *means.totals])
    keys += more_keys
    result = means_of(output.restore(table), keys, columns, means, undefinable=undefinable)
    if keys:
        result = result.sort(sorted_by(keys, output.systems))
    return output.give(result, keys)


def append_metrics(
    frame: Frame, request: Request, named: Mapping[str, str], prefix: str, undefined: float | None
) -> Frame:
    """Compute what `with_metrics` returns."""
    rows, output = rows_of(frame, request, all_rows=True)
    table = values(rows, named, undefined)
    if rows.valued_groups is not None:
        table = table.filter(pl.col("group").is_in(rows.valued_groups.implode()))
    return output.append_columns(table, list(named), prefix)


def means_for(mean_over: Any, statistics: Any, *, named: bool = False) -> Means | None:
    """Validate `mean_over` and `statistics`. `named`: whether the caller gave names to means."""
    summaries = validate_statistics(statistics)
    keys = scalar(mean_over)
    if mean_over is None:
        if summaries != ["mean"]:
            raise ValueError(
                "statistics are over the groups that mean_over= names, and it names none"
            )
        return None
    over = None if keys is True else list(map(str, column_names("mean_over", mean_over)))
    return Means(over, summaries, "" if named else "mean_")


def keys_of_means(by: Columns | None, mean_over: Any, frame: Any = None) -> Columns | None:
    """Return the keys of a call: the columns of `by`, and those that only `mean_over` names.

    `frame`: the frame that must have the columns of `mean_over`.
    """
    names = scalar(mean_over)
    if names is None or isinstance(names, bool):
        return by
    keys = [] if by is None else listed("by", by)
    existing = [
        key.meta.output_name(raise_if_undetermined=False) if isinstance(key, pl.Expr) else str(key)
        for key in keys
    ]
    if None in existing:
        # One of the expressions is several columns.
        return by
    # With several scores, "system" is a key that no column holds.
    existing.append("system")
    more = [name for name in column_names("mean_over", names) if str(name) not in existing]
    kind = find_kind(frame)
    if kind is not None:
        kind.refuse_missing(more, "mean_over")
    return [*keys, *more]


def snake_case(name: str) -> str:
    """Return the name of a metric with letters, digits and underscores only."""
    for part, word in {"@": "_at_", "=-": "_minus_", "%": "_percent", "/": "_over_"}.items():
        name = name.replace(part, word)
    return re.sub("[^0-9a-zA-Z]+", "_", name)


def sorted_by(keys: Sequence[str], systems: Sequence[str]) -> list[pl.Expr]:
    """Return the columns to sort results by: keys, and systems in the caller's order."""
    return [
        by_name(key).cast(pl.Enum(systems)) if key == "system" and systems else by_name(key)
        for key in keys
    ]


def metrics_named(metrics: Metrics, *columns: Any) -> dict[str, str]:
    """Return new names with their metrics; without a dict, a metric keeps its name.

    `columns`: the arguments that follow.
    """
    if isinstance(metrics, Mapping):
        named = dict(metrics)
        for name, of in named.items():
            pair = f"{shown(name)}: {shown(of)}"
            if not (isinstance(name, str) and name and isinstance(of, str)):
                raise TypeError(f"metrics takes a dict of new name and metric; got {pair}")
            if is_metric(name) and not is_metric(of):
                raise ValueError(f"metrics: the new name comes first, then the metric; got {pair}")
            if name == "group":
                raise ValueError(f"metrics: frame_pr uses the name 'group'; give {of} another one")
    else:
        named = {name: name for name in names_of("metrics", metrics, "names of metrics")}
    try:
        for of in named.values():
            metric(of)
    except ValueError:
        _refuse_unknown([*named.values()], columns)
        raise
    if not named:
        raise ValueError("metrics is an empty dict: give at least one")
    return named


def _refuse_unknown(metrics: Sequence[str], columns: Sequence[Any]) -> None:
    """Raise if several metrics are unknown, or if metrics and columns were swapped."""
    unknown = [name for name in metrics if not is_metric(name)]
    other_arguments = [
        name for column in columns for name in (column if isinstance(column, list) else [column])
    ]
    if unknown and any(map(is_metric, other_arguments)):
        raise ValueError(
            f"the metrics come first, then truth and score; got metrics={shown(unknown[0])}"
        )
    if len(unknown) > 1:
        names = ", ".join(map(shown, unknown))
        raise ValueError(f"no metrics are named {names}; {_hints(metrics, unknown)}")


def _hints(metrics: Sequence[str], unknown: Sequence[str]) -> str:
    """Return the whole list in our spelling, or what to write instead of each unknown name."""
    ours: list[str] = []
    hints: list[str] = []
    for name in metrics:
        if name not in unknown:
            ours.append(name)
            continue
        for meant in meant_names(name)[:1]:
            ours.append(example_names(meant)[0])
        if hint := metric_hint(name):
            hints.append(f"{shown(name)}: {hint}")
    if len(ours) == len(metrics):
        return f"did you mean {ours}?"
    return "; ".join(hints[:_MOST_HINTS]) or "frame_pr.metrics() lists all names"
