"""The usual metrics of a ranking or a classifier in one frame; any result as a table in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import filling, flag, names_of, one_of, public, whole
from frame_pr.frames.columns import by_name, refuse_clash, refuse_missing, stacked
from frame_pr.frames.kinds import Frame, backend_class, find_kind, kind_of, lazily
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import means_for, metrics_of, sorted_by
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics import rates
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.names import is_metric, metric, request_for
from frame_pr.metrics.numbers import each
from frame_pr.statistics.intervals import bounded_means, validate_confidence
from frame_pr.statistics.sampled_rows import SampledRows, refuse_policies
from frame_pr.statistics.unit_values import UnitValues, keys_left, refuse_engine, unit_values_of

Direction: TypeAlias = Literal["largest", "smallest"]


@lazily
@public(REFUSED["report"])
def report(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    k: int | Sequence[int] = 10,
    threshold: float | Sequence[float] | None = None,
    confidence: float | None = None,
    wide: bool = False,
    mean_over: bool | str | Sequence[str] | None = None,
    by: Columns | None = None,
    positive: object = None,
    undefined: float | None = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Summarise a ranking in the usual metrics, one row per group and metric.

    The metrics are average precision, ROC AUC, nDCG, precision and recall at k, the best F1 and its threshold, and the
    numbers of positives and rows. `evaluate` computes any other choice of metrics.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    k : int or list of int
        Cutoffs of nDCG, precision and recall.
    threshold : float or list of float, optional
        Adds the metrics of the confusion matrix at this threshold, or at each of these.
    confidence : float, optional
        Adds the columns `low` and `high`, the bounds of `intervals` at this confidence level. With `mean_over`, all
        metrics have bounds, and otherwise those with a closed form for rows.
    wide : bool
        Whether each metric is a column, in one row per group.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns. True: all columns but
        `system`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, `metric` (its name) and `value` (Float64), with `confidence` also `low` and `high`. With `wide`, the
        keys and a column for each metric, as `evaluate` returns them, with `confidence` also `low_...` and `high_...`.
        A frame of a distributed engine, such as Spark, has a wide report.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or has missing values.

    See Also
    --------
    evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.report(run, "relevant", "score", k=2)
    shape: (9, 2)
    ┌───────────────────┬──────────┐
    │ metric            ┆ value    │
    │ ---               ┆ ---      │
    │ str               ┆ f64      │
    ╞═══════════════════╪══════════╡
    │ average_precision ┆ 0.733333 │
    │ roc_auc           ┆ 0.375    │
    │ ndcg@2            ┆ 0.613147 │
    │ precision@2       ┆ 0.5      │
    │ recall@2          ┆ 0.25     │
    │ max_f1            ┆ 0.8      │
    │ threshold@max_f1  ┆ 1.0      │
    │ positives         ┆ 4.0      │
    │ rows              ┆ 6.0      │
    └───────────────────┴──────────┘
    >>> wide = fp.report(run, "relevant", "score", k=2, by="query", wide=True)
    >>> wide.select("query", "average_precision", "roc_auc", "precision@2").rows()
    [('ink', 0.8333333333333333, 0.5, 0.5), ('tea', 0.5833333333333333, 0.0, 0.5)]
    """
    ranks = [Rank.of(rank) for rank in each("k", k)]
    names = ["average_precision", "roc_auc"]
    names += [f"{name}@{rank}" for name in ("ndcg", "precision", "recall") for rank in ranks]
    names += ["max_f1", "threshold@max_f1"]
    if threshold is not None:
        cutoffs = [Threshold.of(value) for value in each("threshold", threshold)]
        names += [f"{rate}@{cutoff}" for cutoff in cutoffs for rate in rates.CONFUSION_AT_CUTOFF]
    names += ["positives", "rows"]
    means = means_for(mean_over, "mean")
    wide = flag("wide", wide)
    if confidence is None and (wide or backend_class(frame)):
        result = metrics_of(frame, names, truth, score, policies, by, positive, undefined, means)
        return result if wide or find_kind(result) is None else _long(result, names, "mean_" * (means is not None))
    refuse_engine(frame)
    level = None if confidence is None else validate_confidence(confidence)
    scored = (frame, names, truth, score, by, positive, filling("undefined", undefined), policies)
    parts = _of_groups(*scored, level) if means is None else _of_means(unit_values_of(*scored), mean_over, level)
    return (
        _wide_table(parts, names, averaged=means is not None) if wide else _long_table(parts, names, level is not None)
    )


class _Report(NamedTuple, Generic[Frame]):
    """A row per key and metric: `key0`, ..., `m` (the place of the metric), `value` and perhaps `low` and `high`."""

    table: pl.LazyFrame
    keys: Sequence[str]
    systems: Sequence[str]
    give: Callable[[pl.LazyFrame, Sequence[str]], Frame]

    @property
    def key_columns(self) -> list[str]:
        """Return the columns of the keys."""
        return [f"key{i}" for i in range(len(self.keys))]

    @property
    def named_keys(self) -> list[pl.Expr]:
        """Return the keys under their own names."""
        return [pl.col(column).alias(key) for key, column in zip(self.keys, self.key_columns, strict=True)]

    def in_order(self) -> pl.LazyFrame:
        """Return the table, sorted."""
        return self.table.sort(*sorted_by(self.keys, self.systems, self.key_columns), "m")


def _of_groups(
    frame: Frame,
    names: Sequence[str],
    truth: Column,
    score: Columns,
    by: Columns | None,
    positive: object,
    undefined: float | None,
    policies: Policies,
    confidence: float | None,
) -> _Report[Frame]:
    """Return the metrics of each group, with the bounds of those that have a closed form for rows."""
    request = request_for(names, request_of(truth, score, by, positive, policies))
    rows, output = rows_of(frame, request, all_groups=True)
    aliases = {str(i): name for i, name in enumerate(names)}
    lines = [{"m": pl.lit(int(i), dtype=pl.Int32), "value": pl.col(i).cast(pl.Float64)} for i in aliases]
    keys = list(output.key_columns.values())
    table = stacked(output.restored(values(rows, aliases, undefined)), list(map(pl.col, keys)), lines)
    if confidence is not None:
        sampled = SampledRows.of_groups(rows, output, names, undefined)
        refuse_policies(request, sampled.labels, clusters=False)
        places = pl.lit(pl.Series([names.index(label) for label in sampled.labels], dtype=pl.Int32))
        bounds = sampled.bounded(confidence).select(*keys, "low", "high", m=places.gather("m"))
        table = table.join(bounds, on=[*keys, "m"], how="left", nulls_equal=True)
    return _Report(table, output.keys, output.systems, output.give)


def _of_means(unit_values: UnitValues[Frame], mean_over: Any, confidence: float | None) -> _Report[Frame]:
    """Return the means over the groups that share the keys, with their bounds."""
    keys = keys_left(unit_values.keys, mean_over)
    return _Report(bounded_means(unit_values, keys, confidence), keys, unit_values.systems, unit_values.give)


def _long_table(report: _Report[Frame], names: Sequence[str], has_bounds: bool) -> Frame:
    """Return a row per key and metric."""
    columns = ["value", "low", "high"] if has_bounds else ["value"]
    refuse_clash(report.keys, ["metric", *columns])
    metrics = pl.lit(pl.Series(names)).gather("m").alias("metric")
    return report.give(report.in_order().select(*report.named_keys, metrics, *columns), list(report.keys))


def _wide_table(report: _Report[Frame], names: Sequence[str], *, averaged: bool) -> Frame:
    """Return a row per key, with the bounds of a share after its value."""
    columns: dict[str, pl.Expr] = {}
    for i, name in enumerate(names):
        sides = {"mean_" if averaged else "": "value"}
        sides |= {"low_": "low", "high_": "high"} if metric(name).kind == "share" else {}
        columns |= {f"{side}{name}": pl.col(column).filter(pl.col("m") == i).first() for side, column in sides.items()}
    refuse_clash(report.keys, columns)
    table = report.in_order()
    table = (
        table.group_by(report.key_columns, maintain_order=True).agg(**columns)
        if report.keys
        else table.select(**columns)
    )
    return report.give(table.select(*report.named_keys, *map(by_name, columns)), list(report.keys))


def _long(result: Any, names: Sequence[str], prefix: str) -> Any:
    """Return a row per key and metric from the frame that `evaluate` gave for partitions."""
    kind = kind_of(result)
    keys = [str(key) for key in kind.columns if str(key) not in {"groups", *(prefix + name for name in names)}]
    keys = [key for key in keys if not key.startswith("undefined_")]
    lines = [{"metric": pl.lit(name), "value": by_name(prefix + name).cast(pl.Float64)} for name in names]
    return kind.give(stacked(kind.read(kind.columns), list(map(by_name, keys)), lines), keys)


_WITH_BOUNDS = ("value", "difference")
"""Columns whose bounds are `low` and `high`."""
_P_VALUES = ("p_value", "p_adjusted")
"""Columns in which a number that rounds to 0 is written as smaller than the last digit."""
_MOST_DECIMALS = 15


@public()
def format_table(
    frame: Frame,
    *,
    decimals: int = 3,
    best: bool | str | Sequence[str] | Mapping[str, Direction] | None = None,
) -> str:
    """Write any result as a table in Markdown, for an issue, a paper or a page.

    Bounds are in the cell of their value: the columns `low_X` and `high_X` join `X` or `mean_X`, and `low` and `high`
    join `value` or `difference`, as `0.54 [0.44, 0.65]`. For HTML and LaTeX, see great_tables or the Styler of pandas.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What a function returned, or any small frame; never changed. A LazyFrame is collected.
    decimals : int
        How many decimals a number has that is not whole. A p-value that rounds to 0 is written as `<0.001`.
    best : bool, str, list of str or dict, optional
        The columns whose best value is bold. True: all columns that are named after a metric, and `value` next to a
        column `metric`. The name of a metric says whether the largest or the smallest value is best; for any other
        column, give a dict such as `{"cost": "smallest"}`. Rows are compared that differ in `system` alone, or all
        rows if there is no column `system`. All values that look the same as the best are bold. Default: True if there
        is a column `system`.

    Returns
    -------
    str
        The table, with a row for each row of the frame, and a line break at its end.

    Raises
    ------
    TypeError
        A column holds lists, structs, bytes or objects.
    ValueError
        The frame has no columns; `best` names a column that is missing, holds no numbers, or is no metric; `decimals`
        is above 15.

    See Also
    --------
    report, evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame(
    ...     {"relevant": [0, 1, 0, 1], "old": [0.9, 0.8, 0.7, 0.6], "new": [0.6, 0.9, 0.8, 0.7]}
    ... )
    >>> values = run.pr.evaluate(["average_precision", "fpr@2"], "relevant", ["old", "new"])
    >>> print(values.pr.format_table(decimals=2))
    | system | average_precision | fpr@2 |
    | :-- | --: | --: |
    | old | 0.50 | **0.50** |
    | new | **0.83** | **0.50** |
    <BLANKLINE>
    """
    places, kind = whole("decimals", decimals, least=0, most=_MOST_DECIMALS), kind_of(frame)
    table = kind.read(kind.columns).collect()
    if not table.width:
        raise ValueError("frame: it has no columns; a table needs at least one")
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise TypeError(f"frame: column {shown(name)} is {str(dtype)[:100]}, which no cell can hold; leave it out")
    bounds, directions = _bounds_in(table.columns), _directions(table, best)
    inside = {bound for pair in bounds.values() for bound in pair}
    names = [name for name in table.columns if name not in inside]
    cells = {}
    for name in names:
        dtype = table.schema[name]
        if not dtype.is_numeric():
            text = by_name(name).dt.to_string("polars") if dtype == pl.Duration else by_name(name).cast(pl.String)
            cells[name] = text.str.replace_many({"|": r"\|", "\n": " "})
            continue
        cell = number = _number(name, dtype, places)
        if name in directions:
            is_best = _is_best(number, name, directions[name], table.columns)
            cell = pl.when(is_best).then(pl.format("**{}**", number)).otherwise(number)
        if name in bounds:
            low, high = (_number(bound, table.schema[bound], places) for bound in bounds[name])
            cell = pl.coalesce(pl.format("{} [{}, {}]", cell, low, high), cell)
        cells[name] = cell
    texts = table.select(cell.fill_null("-").alias(name) for name, cell in cells.items())
    titles = [name.replace("|", r"\|").replace("\n", " ") for name in names]
    rules = ["--:" if table.schema[name].is_numeric() else ":--" for name in names]
    lines = [titles, rules, *texts.rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _number(name: str, dtype: pl.DataType, decimals: int) -> pl.Expr:
    """Format a number as text; null if the number is missing."""
    if dtype.is_integer():
        return by_name(name).cast(pl.String)
    value = by_name(name).cast(pl.Float64).fill_nan(None)
    text = pl.coalesce(value.cast(pl.Decimal(38, decimals), strict=False).cast(pl.String), value.cast(pl.String))
    if name in _P_VALUES:
        least = 10.0**-decimals
        text = pl.when((value > 0) & (value < least / 2)).then(pl.lit(f"<{least:.{decimals}f}")).otherwise(text)
    return text


def _bounds_in(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns that have bounds, with the names of their bounds."""
    bounded = {name: (f"low_{base}", f"high_{base}") for name in columns for base in (name, name.removeprefix("mean_"))}
    bounded |= {name: ("low", "high") for name in _WITH_BOUNDS if name in columns}
    return {name: pair for name, pair in bounded.items() if {*pair} <= {*columns}}


def _best_of(name: str) -> str | None:
    """Return which value of a metric is best: "largest", "smallest" or "none"; None if no metric has this name."""
    names = (name, name.removeprefix("mean_").removeprefix("median_"))
    record = next((metric(each_name) for each_name in names if is_metric(each_name)), None)
    if record is None:
        return None
    # A threshold, and the number of rows, are neither good nor bad.
    return record.best if record.kind == "share" or name.partition("@")[0] in ("tp", "fp", "fn", "tn") else "none"


def _directions(
    table: pl.DataFrame, best: bool | str | Sequence[str] | Mapping[str, Direction] | None
) -> dict[str, pl.Expr]:
    """Return the columns whose best value is bold, and whether their smallest value is best, null if none is."""
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    directions: dict[str, str | None] = {name: _best_of(name) for name in numbers}
    wanted = [name for name, direction in directions.items() if direction is not None]
    of_rows = {"metric", "value"} <= {*table.columns} and table.schema["metric"] == pl.String
    wanted += ["value"] if of_rows and "value" in numbers else []
    if isinstance(best, Mapping):
        wanted = list(best)
        directions |= {name: one_of(f"best[{name!r}]", best[name], ("largest", "smallest")) for name in best}
    elif best is not None and not isinstance(best, bool):
        wanted = names_of("best", best, "True, False, names of columns, or a dict of them")
    elif not (best or (best is None and "system" in table.columns)):
        wanted = []
    refuse_missing(wanted, table.columns, "frame", "best")
    smallest = {}
    for name in wanted:
        if name not in numbers:
            raise ValueError(f"best: column {shown(name)} holds no numbers; name columns of numbers")
        if name == "value" and of_rows and directions[name] is None:
            names = table["metric"].unique().drop_nulls().to_list()
            by_metric = {each_name: _best_of(each_name) for each_name in names}
            known = {
                each_name: way == "smallest" for each_name, way in by_metric.items() if way in ("largest", "smallest")
            }
            smallest[name] = pl.col("metric").replace_strict(
                known or {"": False}, default=None, return_dtype=pl.Boolean
            )
        elif directions[name] is None:
            raise ValueError(
                f"best: {shown(name)} is no name of a metric, so say which value is best: {{{name!r}: 'largest'}}, or "
                "'smallest'"
            )
        elif directions[name] != "none":
            smallest[name] = pl.lit(directions[name] == "smallest")
    return smallest


def _is_best(text: pl.Expr, name: str, smallest: pl.Expr, columns: Sequence[str]) -> pl.Expr:
    """Return whether a number looks like the best one of several rows that differ only in `system`."""
    value = by_name(name).cast(pl.Float64).fill_nan(None)
    best, rows = text.sort_by(pl.when(smallest).then(value).otherwise(-value), nulls_last=True).first(), pl.len()
    place = columns.index("system") if "system" in columns else 0
    if keys := [by_name(key) for key in columns if key in columns[:place] or key == "metric"]:
        best, rows = best.over(keys), rows.over(keys)
    return (text == best) & (rows > 1) & smallest.is_not_null()
