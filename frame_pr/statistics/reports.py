"""The usual metrics of a ranking or a classifier in one frame; any result as a table in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, Unpack

import polars as pl

from frame_pr.frames.arguments import check_choice, check_flag, check_whole, public, public_result
from frame_pr.frames.columns import by_name, refuse_clash, refuse_missing, stacked
from frame_pr.frames.dispatch import find_kind, kind_of
from frame_pr.frames.kinds import Frame, lazily
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import evaluate
from frame_pr.inputs.options import REFUSED, Column, Columns, ReportOptions
from frame_pr.metrics import rates
from frame_pr.metrics.cutoffs import Rank, Threshold
from frame_pr.metrics.names import is_metric, metric
from frame_pr.metrics.numbers import each
from frame_pr.statistics.influences import row_metric
from frame_pr.statistics.intervals import intervals

Direction: TypeAlias = Literal["largest", "smallest"]


@public(REFUSED["report"], options=ReportOptions)
@lazily
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
    **options: Unpack[ReportOptions],
) -> Frame:
    """Summarise a ranking in the usual metrics, one row per group and metric.

    The metrics are average precision, ROC AUC, nDCG, precision and recall at k, the best F1 and its
    threshold, and the numbers of positives and rows. `evaluate` computes any other choice of
    metrics.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    k : int or list of int
        Cutoffs of nDCG, precision and recall.
    threshold : float or list of float, optional
        Adds the metrics of the confusion matrix at this threshold, or at each of these.
    confidence : float, optional
        Adds the columns `low` and `high`, the bounds of `intervals` at this confidence level. With
        `mean_over`, all metrics have bounds, and otherwise those with a closed form for rows.
    wide : bool
        Whether each metric is a column, in one row per group.
    mean_over : True, str or list of str, optional
        Columns of `by` to average over. The result has one row per group of the other columns.
        True: all columns but `system`.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    undefined : float, optional
        Value that replaces null where a metric is undefined. Counts and thresholds stay null.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Refused: `weight=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, `metric` (its name) and `value` (Float64), with `confidence` also `low` and
        `high`. With `wide`, the keys and a column for each metric, as `evaluate` returns them;
        `confidence` needs the long report. A frame of a distributed engine, such as Spark, has a
        wide report, without `confidence`.

    Raises
    ------
    ValueError, TypeError
        k or threshold is no such number; a column is missing, given twice, of the wrong type, or
        has missing values.

    See Also
    --------
    evaluate, intervals, compare

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> relevant = [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": ["ink"] * 3 + ["tea"] * 3, "relevant": relevant})
    >>> run = run.with_columns(score=pl.Series([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]))
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
    │ threshold@max_f1  ┆ 0.4      │
    │ positives         ┆ 4.0      │
    │ rows              ┆ 6.0      │
    └───────────────────┴──────────┘
    >>> wide = fp.report(run, "relevant", "score", k=2, by="query", wide=True)
    >>> wide.select("query", "average_precision", "roc_auc", "precision@2").rows()
    [('ink', 0.8333333333333333, 0.5, 0.5), ('tea', 0.5833333333333333, 0.0, 0.5)]
    """
    cutoffs = (
        [] if threshold is None else [Threshold.of(value) for value in each("threshold", threshold)]
    )
    ranks = [Rank.of(rank) for rank in each("k", k)]
    names = ["average_precision", "roc_auc"]
    names += [f"{name}@{rank}" for name in ("ndcg", "precision", "recall") for rank in ranks]
    names += ["max_f1", "threshold@max_f1"]
    names += [f"{rate}@{cutoff}" for cutoff in cutoffs for rate in rates.CONFUSION_AT_CUTOFF]
    names += ["positives", "rows"]
    averaged, prefix = mean_over is not None, "" if mean_over is None else "mean_"
    if check_flag("wide", wide) and confidence is not None:
        raise ValueError(
            "confidence= adds columns to a long report: leave out wide=, or confidence="
        )
    bounds = None
    if confidence is not None:
        bounded = names if averaged else [name for name in names if row_metric(name)]
        of_rows = intervals(
            frame,
            bounded,
            truth,
            score,
            by=by,
            mean_over=mean_over,
            confidence=confidence,
            **options,
        )
        bounds = kind_of(of_rows)
    result = evaluate(frame, names, truth, score, by=by, mean_over=mean_over, **options)
    if wide or find_kind(result) is None:
        return result
    kind = kind_of(result)
    key_names = kind.columns[: kind.columns.index("groups" if averaged else names[0])]
    keys = [str(key) for key in key_names]
    refuse_clash(keys, ("metric", "value", "low", "high"))
    lines = [
        {"metric": pl.lit(name), "value": by_name(prefix + name).cast(pl.Float64)} for name in names
    ]
    kind, others = kind.with_keys(key_names, [] if bounds is None else [bounds])
    table = stacked(kind.read(kind.columns), list(map(by_name, keys)), lines)
    for bounds in others:
        of_metrics = bounds.read(bounds.columns).select(
            *map(by_name, keys), "metric", "low", "high"
        )
        table = table.join(
            of_metrics, on=[*keys, "metric"], how="left", nulls_equal=True, maintain_order="left"
        )
    return kind.give(table, keys)


_P_VALUES = ("p_value", "p_adjusted")
"""Columns in which a number that rounds to 0 is written as smaller than the last digit."""
_BOUNDS = ("low", "high")
_BOUNDED = ("value", "difference", "precision")
"""The columns that have bounds, of intervals, comparisons and averaged curves."""


@public_result()
def format_table(
    frame: Frame,
    *,
    decimals: int = 3,
    best: bool | Mapping[str, Direction] | None = None,
) -> str:
    """Write any result as a table in Markdown, for an issue, a paper or a page.

    The bounds `low` and `high` are in the cell of their `value`, `difference` or `precision`, as
    `0.54 [0.44, 0.65]`. For HTML and LaTeX, see great_tables or the Styler of pandas.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        What a function returned, or any small frame; never changed. A LazyFrame is collected.
    decimals : int
        How many decimals a number has that is not whole. A p-value that rounds to 0 is written as
        `<0.001`.
    best : bool or dict, optional
        The columns whose best value is bold. True: all columns that are named after a metric, and
        `value` next to a column `metric`. The name of a metric says whether the largest or the
        smallest value is best. For other columns, or for some of them only, give a dict such as
        `{"cost": "smallest"}`. Rows are compared that differ in `system` alone, or all rows if
        there is no column `system`. All values that look the same as the best are bold. Default:
        True if there is a column `system`.

    Returns
    -------
    str
        The table, with a row for each row of the frame, and a line break at its end.

    Raises
    ------
    TypeError
        A column holds lists, structs, bytes or objects.
    ValueError
        The frame has no columns; `best` names a column that is missing or holds no numbers;
        `decimals` is above 15.

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
    places, kind = check_whole("decimals", decimals, least=0, most=15), kind_of(frame)
    # polars reads a period of pandas as an extension type, which it cannot write.
    has_no_text = [
        name for name in kind.columns if kind.type_of(str(name)).startswith(("interval", "period"))
    ]
    kind, _ = kind.with_keys(has_no_text)
    table = kind.read(kind.columns).collect()
    if not table.width:
        raise ValueError("frame: it has no columns; a table needs at least one")
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise TypeError(
                f"frame: column {shown(name)} is {str(dtype)[:100]}, which no cell can hold; leave it out"
            )
    signs, numbers = (
        _signs(table, best),
        {name for name, dtype in table.schema.items() if dtype.is_numeric()},
    )
    bounded = next((name for name in _BOUNDED if {name, *_BOUNDS} <= numbers), None)
    # The level is the same in all rows of intervals: the caption of a table names it.
    names = [name for name in table.columns if bounded is None or name not in (*_BOUNDS, "level")]
    cells = {}
    for name in names:
        dtype = table.schema[name]
        if name not in numbers:
            text = (
                by_name(name).dt.to_string("polars")
                if dtype == pl.Duration
                else by_name(name).cast(pl.String)
            )
            cells[name] = text.str.replace_many({"|": r"\|", "\n": " "})
            continue
        cell = number = _number(name, dtype, places)
        if name in signs:
            is_best = _is_best(number, name, signs[name], table.columns)
            cell = pl.when(is_best).then(pl.format("**{}**", number)).otherwise(number)
        if name == bounded:
            low, high = (_number(bound, table.schema[bound], places) for bound in _BOUNDS)
            cell = pl.coalesce(pl.format("{} [{}, {}]", cell, low, high), cell)
        cells[name] = cell
    texts = table.select(cell.fill_null("-").alias(name) for name, cell in cells.items())
    titles = [name.replace("|", r"\|").replace("\n", " ") for name in names]
    rules = ["--:" if name in numbers else ":--" for name in names]
    return "".join(f"| {' | '.join(line)} |\n" for line in [titles, rules, *texts.rows()])


def _number(name: str, dtype: pl.DataType, decimals: int) -> pl.Expr:
    """Format a number as text; null if the number is missing."""
    if dtype.is_integer():
        return by_name(name).cast(pl.String)
    value = by_name(name).cast(pl.Float64).fill_nan(None)
    text = pl.coalesce(
        value.cast(pl.Decimal(38, decimals), strict=False).cast(pl.String), value.cast(pl.String)
    )
    if name in _P_VALUES:
        is_small = (value > 0) & (text.cast(pl.Float64) == 0)
        text = pl.when(is_small).then(pl.lit(f"<{10.0**-decimals:.{decimals}f}")).otherwise(text)
    return text


_SIGNS = {"largest": -1.0, "smallest": 1.0, "none": 0.0}


def _sign(name: str) -> float | None:
    """Return -1 if the largest value of a metric is best, 1 if the smallest is, else 0; None if it is no metric."""
    names = (name, name.removeprefix("mean_").removeprefix("median_"))
    record = next((metric(bare) for bare in names if is_metric(bare)), None)
    return record and (0.0 if record.kind == "threshold" else _SIGNS[record.best])


def _signs(table: pl.DataFrame, best: bool | Mapping[str, Direction] | None) -> dict[str, pl.Expr]:
    """Return the columns whose best value is bold: 1 if their smallest value is best, -1 the largest, 0 neither."""
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    if isinstance(best, Mapping):
        refuse_missing([*best], numbers, "numbers of the frame", "best")
        ways = {
            name: check_choice(f"best[{name!r}]", way, ("largest", "smallest"))
            for name, way in best.items()
        }
        return {name: pl.lit(_SIGNS[way]) for name, way in ways.items()}
    if not ("system" in table.columns if best is None else check_flag("best", best)):
        return {}
    signs = {name: pl.lit(sign) for name in numbers if (sign := _sign(name)) is not None}
    if "value" in numbers and "metric" in table.columns:
        of_metrics = {
            name: _sign(name) for name in table["metric"].cast(pl.String).unique().drop_nulls()
        }
        metric_name = pl.col("metric").cast(pl.String)
        signs["value"] = metric_name.replace_strict(
            of_metrics, default=None, return_dtype=pl.Float64
        )
    return signs


def _is_best(text: pl.Expr, name: str, sign: pl.Expr, columns: Sequence[str]) -> pl.Expr:
    """Return whether a number looks like the best one of several rows that differ only in `system`."""
    value = by_name(name).cast(pl.Float64).fill_nan(None) * sign
    best, rows = text.sort_by(value, nulls_last=True).first(), pl.len()
    place = columns.index("system") if "system" in columns else 0
    if keys := [by_name(key) for key in columns if key in columns[:place] or key == "metric"]:
        best, rows = best.over(keys), rows.over(keys)
    return (text == best) & (rows > 1) & (sign != 0)
