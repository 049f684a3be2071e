"""Curves and gains tables: a row per threshold or bin, or the curve as extra columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Unpack

import polars as pl
import polars.selectors as cs

from frame_pr.frames.arguments import check_text, check_whole, is_whole, public
from frame_pr.frames.columns import has_keys, refuse_clash, refuse_existing, root_names, stacked
from frame_pr.frames.kinds import Frame, collected
from frame_pr.frames.messages import shown
from frame_pr.functions.evaluation import Metrics, append_metrics, metrics_named
from frame_pr.inputs.options import (
    REFUSED,
    Column,
    Columns,
    LabelOptions,
    RankOptions,
    RowCurveOptions,
)
from frame_pr.inputs.request import TOTALS, Request, Use, request_of
from frame_pr.inputs.results import on_rows
from frame_pr.inputs.rows import Rows, rows_of
from frame_pr.inputs.totals import with_totals
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.average_precisions import levels_reached
from frame_pr.metrics.metric import ratio
from frame_pr.metrics.names import BLOCKS, FLOAT_BLOCKS, request_for
from frame_pr.metrics.rates import CONFUSION_AT_CUTOFF, COUNTS, columns_of_rates, rate_of
from frame_pr.ranking.blocks import blocks_of, ends, running_columns, starts
from frame_pr.ranking.sort import PackedRows, numbered_rows

CURVE_COLUMNS = ("threshold", "k", "tp", "precision", "recall")
"""The columns of a curve."""
ALL_COLUMNS = tuple(
    dict.fromkeys((*CURVE_COLUMNS, "recall_step", "interpolated_precision", *CONFUSION_AT_CUTOFF))
)
"""Those of a curve with `rates="all"`."""
_OTHER_COLUMNS: Mapping[str, pl.Expr] = {
    "recall_step": ratio(pl.col("hits"), pl.col("positives")),
    **{
        name: pl.col(name) for name in ("threshold", "interpolated_precision", "retrieved", *TOTALS)
    },
}
"""The formulas of columns that are no rates."""


@public(REFUSED["curve"], options=LabelOptions)
def curve(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    rates: str | Sequence[str] = (),
    metrics: Metrics = (),
    points: int | None = None,
    by: Columns | None = None,
    positive: object = None,
    **options: Unpack[LabelOptions],
) -> Frame:
    """Compute the precision-recall curve: one row per distinct score, best score first.

    The rows with at least the score of a threshold are predicted positive; with `ascending`, the
    rows with at most this score. The curve has no invented point (recall 0, precision 1). With
    `rates="all"` it also has `recall_step`, the recall that a threshold adds, so `(precision *
    recall_step).sum()` is the average precision, and `interpolated_precision`, the maximum
    precision at this or a later threshold. If `ties` or `tie_break` rank equal scores, each scored
    row has a row of its own.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    rates : str or list of str
        More columns: rates such as "fpr", "f1" or "mcc", counts such as "fp", `recall_step` and
        `interpolated_precision`. "all": all of them.
    metrics : str or list of str, or dict of new name and metric
        Metrics of the group to add as columns, such as "average_precision".
    points : int, optional
        Fewer rows of the same curve: the first, the last, and the highest threshold at which each
        of so many levels of recall, from 0 to 1, is reached. `recall_step` stays that of the whole
        curve.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `threshold` (of the dtype of the score, of several scores their common one),
        `k, tp` (Int64; with weights see `Options`), `precision, recall` (Float64), the `rates` and
        the `metrics`. Recall is null in a group without positives.

    Raises
    ------
    ValueError, TypeError
        A rate is unknown; a column is missing, given twice, of the wrong type, or has missing
        values.

    See Also
    --------
    with_curve, plot, average_curve, average_precision

    References
    ----------
    Davis and Goadrich (2006). The relationship between precision-recall and ROC curves. ICML,
    233-240. https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.curve(run, "relevant", "score", by="query")
    shape: (6, 6)
    ┌───────┬───────────┬─────┬─────┬───────────┬────────┐
    │ query ┆ threshold ┆ k   ┆ tp  ┆ precision ┆ recall │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ ---       ┆ ---    │
    │ str   ┆ i64       ┆ i64 ┆ i64 ┆ f64       ┆ f64    │
    ╞═══════╪═══════════╪═════╪═════╪═══════════╪════════╡
    │ ink   ┆ 6         ┆ 1   ┆ 1   ┆ 1.0       ┆ 0.5    │
    │ ink   ┆ 5         ┆ 2   ┆ 1   ┆ 0.5       ┆ 0.5    │
    │ ink   ┆ 4         ┆ 3   ┆ 2   ┆ 0.666667  ┆ 1.0    │
    │ tea   ┆ 3         ┆ 1   ┆ 0   ┆ 0.0       ┆ 0.0    │
    │ tea   ┆ 2         ┆ 2   ┆ 1   ┆ 0.5       ┆ 0.5    │
    │ tea   ┆ 1         ┆ 3   ┆ 2   ┆ 0.666667  ┆ 1.0    │
    └───────┴───────────┴─────┴─────┴───────────┴────────┘
    """
    columns = columns_of_rates(rates, CURVE_COLUMNS, ALL_COLUMNS)
    named = _metrics(metrics, truth, score, columns)
    levels = None if points is None else check_whole("points", points, least=2)
    request = request_of(truth, score, by, positive, options).used_as(Use(ranks=True))
    return on_rows(frame, request, partial(_curve, columns=columns, levels=levels, named=named))


def _curve(
    frame: Frame,
    request: Request,
    columns: Sequence[str],
    levels: int | None,
    named: Mapping[str, str],
) -> Frame:
    rows, output = rows_of(frame, request)
    table = curve_table(rows, columns, levels)
    if named:
        table = table.join(values(rows, named), on="group", how="left", maintain_order="left")
    return output.result(table, [*columns, *named])


def _metrics(
    metrics: Metrics, truth: Column, score: Columns, columns: Sequence[str]
) -> dict[str, str]:
    """Return the metrics of the group that a curve has as further columns."""
    if not has_keys(metrics):
        return {}
    named = metrics_named(metrics, truth, score)
    problem = "metrics: {} is a column of the curve already: give the metric another name"
    refuse_clash(named, columns, problem)
    return named


@public(REFUSED["with_curve"], options=RowCurveOptions)
def with_curve(
    frame: Frame,
    truth: Column,
    score: Column,
    *,
    rates: str | Sequence[str] = (),
    metrics: Metrics = (),
    prefix: str = "",
    by: Columns | None = None,
    positive: object = None,
    **options: Unpack[RowCurveOptions],
) -> Frame:
    """Add precision, recall and counts at the threshold of each row's own score as columns.

    Rows with equal scores share a threshold and get the same values.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression
        Higher scores rank first, unless `ascending`.
    rates : str or list of str
        More columns: rates such as "fpr", "f1" or "mcc", counts such as "fp", `recall_step` and
        `interpolated_precision`. "all": all of them.
    metrics : str or list of str, or dict of new name and metric
        Metrics of the group to add as columns, such as "average_precision".
    prefix : str
        Prefix of the names of the new columns.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `tie_break=`, `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`,
        `ties="pessimistic"` and `ties="order"`.

    Returns
    -------
    Frame of the same kind
        The rows as they were, on pandas with their index, then the columns of `curve` but for
        `threshold`. Of a pandas frame, `attrs` and the name of the columns are not kept.

    Raises
    ------
    ValueError, TypeError
        A new column has the name of an old one; a column is missing, given twice or of the wrong
        type.

    See Also
    --------
    curve, with_metrics, plot

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> query, relevant = ["ink"] * 3 + ["tea"] * 3, [1, 0, 1, 0, 1, 1]
    >>> run = pl.DataFrame({"query": query, "relevant": relevant, "score": range(6, 0, -1)})
    >>> fp.with_curve(run, "relevant", "score", by="query")
    shape: (6, 7)
    ┌───────┬──────────┬───────┬─────┬─────┬───────────┬────────┐
    │ query ┆ relevant ┆ score ┆ k   ┆ tp  ┆ precision ┆ recall │
    │ ---   ┆ ---      ┆ ---   ┆ --- ┆ --- ┆ ---       ┆ ---    │
    │ str   ┆ i64      ┆ i64   ┆ i64 ┆ i64 ┆ f64       ┆ f64    │
    ╞═══════╪══════════╪═══════╪═════╪═════╪═══════════╪════════╡
    │ ink   ┆ 1        ┆ 6     ┆ 1   ┆ 1   ┆ 1.0       ┆ 0.5    │
    │ ink   ┆ 0        ┆ 5     ┆ 2   ┆ 1   ┆ 0.5       ┆ 0.5    │
    │ ink   ┆ 1        ┆ 4     ┆ 3   ┆ 2   ┆ 0.666667  ┆ 1.0    │
    │ tea   ┆ 0        ┆ 3     ┆ 1   ┆ 0   ┆ 0.0       ┆ 0.0    │
    │ tea   ┆ 1        ┆ 2     ┆ 2   ┆ 1   ┆ 0.5       ┆ 0.5    │
    │ tea   ┆ 1        ┆ 1     ┆ 3   ┆ 2   ┆ 0.666667  ┆ 1.0    │
    └───────┴──────────┴───────┴─────┴─────┴───────────┴────────┘
    """
    columns = columns_of_rates(rates, CURVE_COLUMNS, ALL_COLUMNS)
    columns.remove("threshold")
    new_prefix = check_text("prefix", prefix)
    named = _metrics(metrics, truth, score, columns)
    request = request_of(truth, score, by, positive, options)
    append = partial(_with_curve, columns=columns, named=named, prefix=new_prefix)
    return on_rows(frame, request, append, all_rows=True)


def _with_curve(
    frame: Frame, request: Request, columns: Sequence[str], named: Mapping[str, str], prefix: str
) -> Frame:
    rows, output = rows_of(frame, request, all_rows=True)
    refuse_existing((prefix + name for name in (*columns, *named)), output.kind.columns)

    table, formulas = _columns_of_rows(rows, columns)
    new = {prefix + name: formula for name, formula in formulas.items()}
    result = output.kind.append_columns(table.select(**new), list(new))
    if not named:
        return result
    return append_metrics(result, request, named, prefix, None)


def _columns_of_rows(
    rows: Rows, columns: Sequence[str]
) -> tuple[pl.LazyFrame, Mapping[str, pl.Expr]]:
    """Return columns of the block of each row, and formulas for these columns of the curve."""
    ranked, numbers = numbered_rows(rows)
    blocks, formulas = _blocks_and_formulas(rows, columns, ranked)
    del ranked  # The keys take more memory than the blocks.
    values = _collected_blocks(rows, blocks, formulas)
    if rows.weights.fractional:
        formulas = {name: pl.col(name) for name in formulas}
    # Column by column, so that none stays in memory after it was read.
    gathered = [_gathered(values.drop_in_place(name), numbers) for name in values.columns]
    return pl.LazyFrame(gathered).cast({cs.integer(): pl.Int64}), formulas


def _collected_blocks(
    rows: Rows, blocks: pl.LazyFrame, formulas: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Collect the columns that formulas read; of float weights their values, which are narrower."""
    if rows.weights.fractional:
        return collected(blocks.select(**formulas), rows.height)
    # The maximum from the end takes as much memory as all other columns, so it waits until these
    # are collected.
    last = "interpolated_precision"
    read = root_names(formulas.values())
    first = blocks.select("group", *(name for name in read if name != last))
    counts = collected(first, rows.height)
    if last in read:
        largest = running_columns()[last].alias(last)
        counts.hstack(collected(counts.lazy().select(largest), rows.height), in_place=True)
    return counts.drop("group")


def _gathered(column: pl.Series, block_numbers: pl.Series) -> pl.Series:
    """Return the value of the block of each row."""
    # Gathering takes most of the time, and less for narrow columns.
    if column.dtype.is_integer():
        column = column.shrink_dtype()
    return column.rechunk().gather(block_numbers)


def _reaches_a_level(levels: int, *, fractional: bool) -> pl.Expr:
    """Return whether a block is first or last in its group, or first at a level of recall."""
    hits, positives, tp = (pl.col(name).cast(pl.Int128) for name in ("hits", "positives", "tp"))
    after, before = (
        levels_reached(number, positives, levels - 1, fractional=fractional)
        for number in (tp, tp - hits)
    )
    group = pl.col("group")
    return starts(group) | ends(group) | (after > before)


def curve_table(
    rows: Rows, columns: Sequence[str], levels: int | None = None, *, unretrieved: bool = False
) -> pl.LazyFrame:
    """Return `group` and these columns of its curve, by group and from the best score on.

    `unretrieved`: keep the blocks of rows that are not `retrieved`, so that each group has at least
    one block.
    """
    table, formulas = _blocks_and_formulas(rows, columns, unretrieved=unretrieved)
    if levels is not None:
        table = table.filter(_reaches_a_level(levels, fractional=rows.weights.fractional))
    return table.with_columns(**formulas)


def _blocks_and_formulas(
    rows: Rows,
    columns: Sequence[str],
    ranked: PackedRows | None = None,
    *,
    unretrieved: bool = False,
) -> tuple[pl.LazyFrame, dict[str, pl.Expr]]:
    """Return the blocks, and the formulas of their columns that give these columns of the curve.

    `ranked`: see `blocks_of`.
    """
    blocks = FLOAT_BLOCKS if rows.weights.fractional else BLOCKS
    formulas = {}
    for name in columns:
        formula = _OTHER_COLUMNS.get(name)
        if formula is None:
            formula = rate_of(name).value(blocks)
        if name in (*COUNTS, *TOTALS):
            formula = rows.weights.from_units(formula)
        formulas[name] = formula
    needed = {"hits", "tp", "positives", "rows", "retrieved", *root_names(formulas.values())}
    table = blocks_of(rows, needed, each_row=True, ranked=ranked)
    table = with_totals(table, rows.totals, rows.weights)
    if rows.has_unranked and not unretrieved:
        table = table.filter("retrieved")
    return table, formulas


_BINS = (2, 4, 5, 8, 10, 20, 25, 40, 50, 100)
"""Numbers of bins that end at a whole or a short decimal percentage."""
_AT_ENDS = ("k", "threshold", "tp", "precision", "recall", "lift", "mean_score")
"""The metrics up to the end of a bin. The mean score in the table is that of the bin."""
_OF_BINS = ("bin_precision", "mean_score", "bin_recall", "bin_lift")


@public(REFUSED["gains_table"], options=RankOptions)
def gains_table(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    bins: int = 10,
    by: Columns | None = None,
    positive: object = None,
    **options: Unpack[RankOptions],
) -> Frame:
    """Compute a gains and lift table: what the best 10 %, 20 %, ... of the rows capture.

    For the first k rows of N, with tp of the P positives, precision is `tp / k`, recall (the
    capture rate) `tp / P` and lift `(tp / k) / (P / N)`. Rows of equal score share their positives
    evenly if a bin ends among them.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key
        column `system` after `by`.
    bins : int
        Number of bins: 2, 4, 5, 8, 10, 20, 25, 40, 50 or 100. Default 10, which gives deciles.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared
        category that does not occur.
    **options
        Options for ties, weights, missing values and known totals: see `frame_pr.Options`.
        Not accepted: `weight=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and
        `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then one row for each bin: `share` (of the rows, up to the end of the bin;
        Float64), `k` (rows up to there, rounded up, Int64), `threshold` (the lowest one that
        selects at most k rows; null if more rows share the highest score), cumulative `tp,
        precision, recall, lift`, and `bin_precision, mean_score, bin_recall, bin_lift` of the bin
        alone (Float64; recall and lift are null without positives; in a bin without rows,
        `bin_recall` is 0 and the others are null). If scores are probabilities, `mean_score` next
        to `bin_precision` shows their calibration; it is null with `unscored="unretrieved"`.

    Raises
    ------
    ValueError, TypeError
        `bins` is another number; a column is missing, given twice, of the wrong type, or has
        missing values.

    See Also
    --------
    curve, confusion, evaluate

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"country": ["at", "be"] * 4, "fraud": [1, 1, 0, 1, 1, 0, 0, 0]})
    >>> run = run.with_columns(score=pl.Series(range(8, 0, -1)))
    >>> table = fp.gains_table(run, "fraud", "score", bins=2, by="country")
    >>> table.select("country", "share", "k", "threshold", "recall", "lift", "bin_lift")
    shape: (4, 7)
    ┌─────────┬───────┬─────┬───────────┬────────┬──────┬──────────┐
    │ country ┆ share ┆ k   ┆ threshold ┆ recall ┆ lift ┆ bin_lift │
    │ ---     ┆ ---   ┆ --- ┆ ---       ┆ ---    ┆ ---  ┆ ---      │
    │ str     ┆ f64   ┆ i64 ┆ i64       ┆ f64    ┆ f64  ┆ f64      │
    ╞═════════╪═══════╪═════╪═══════════╪════════╪══════╪══════════╡
    │ at      ┆ 0.5   ┆ 2   ┆ 6         ┆ 0.5    ┆ 1.0  ┆ 1.0      │
    │ at      ┆ 1.0   ┆ 4   ┆ 2         ┆ 1.0    ┆ 1.0  ┆ 1.0      │
    │ be      ┆ 0.5   ┆ 2   ┆ 5         ┆ 1.0    ┆ 2.0  ┆ 2.0      │
    │ be      ┆ 1.0   ┆ 4   ┆ 1         ┆ 1.0    ┆ 1.0  ┆ 0.0      │
    └─────────┴───────┴─────┴───────────┴────────┴──────┴──────────┘
    """
    if not is_whole(bins) or bins not in _BINS:
        raise ValueError(f"bins must be one of {', '.join(map(str, _BINS))}; got {shown(bins)}")
    lines = []
    for i in range(1, bins + 1):
        line = {name: pl.col(f"{name}@{100 * i / bins:g}%") for name in _AT_ENDS}
        lines.append({"share": pl.lit(i / bins), **line})
    names = [*root_names(*(line.values() for line in lines)), "prevalence"]
    request = request_for(names, request_of(truth, score, by, positive, options))
    return on_rows(frame, request, partial(_gains, names=names, lines=lines))


def _gains(
    frame: Frame,
    request: Request,
    names: Sequence[str],
    lines: Sequence[Mapping[str, pl.Expr]],
) -> Frame:
    """Compute what `gains_table` returns. `lines`: share and metrics at the end of each bin."""
    rows, output = rows_of(frame, request, all_groups=True)
    table = values(rows, {name: name for name in names})
    table = stacked(table, [pl.col("group", "prevalence")], lines)

    k, tp, recall = map(pl.col, ("k", "tp", "recall"))
    is_first = starts(pl.col("group"))
    in_bin, hits, bin_recall, scores = (
        pl.when(is_first).then(upto).otherwise(upto.diff())
        for upto in (k, tp, recall, pl.col("mean_score") * k)
    )
    precision = ratio(hits, in_bin)
    mean_score = ratio(scores, in_bin)
    if request.keeps_unscored:
        # Of rows without a score, it is not known here how many are in the bin.
        mean_score = pl.lit(None, dtype=pl.Float64)
    table = table.with_columns(
        bin_precision=precision,
        mean_score=mean_score.fill_nan(None),
        bin_recall=bin_recall,
        bin_lift=ratio(precision, pl.col("prevalence")),
    )
    return output.result(table, ["share", *_AT_ENDS[:-1], *_OF_BINS])
