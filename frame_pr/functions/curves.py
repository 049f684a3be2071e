"""Curves: a row per threshold, or the metrics of the curve as extra columns of the caller's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from frame_pr.frames.arguments import names_of, public, text, whole
from frame_pr.frames.kinds import Frame
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import Use, request_of
from frame_pr.inputs.rows import Rows, rows_of
from frame_pr.inputs.weights import UNIT, with_totals
from frame_pr.metrics import rates
from frame_pr.metrics.names import COLUMNS, FIXED_POINT_COLUMNS
from frame_pr.metrics.rates import rate_of
from frame_pr.ranking.blocks import blocks_of, ends, place_of_block, starts

CURVE_COLUMNS = (
    "threshold",
    "k",
    "tp",
    "fp",
    "fn",
    "tn",
    "precision",
    "recall",
    "recall_step",
    "interpolated_precision",
)

MOST_EXACT_LEVELS = 101
"""An Int128 holds this many sums of fixed-point weights."""
_READY = ("threshold", "k", "tp", "recall_step", "interpolated_precision")


@public(REFUSED["curve"])
def curve(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    figures: str | Sequence[str] = (),
    points: int | None = None,
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute the precision-recall curve: one row per distinct score, best score first.

    At threshold t the k rows with score >= t, with `ascending` <= t, are predicted positive. `recall_step` is the
    recall that it adds, so that `(precision * recall_step).sum()` is the average precision; `interpolated_precision` is
    the max precision at this or any later threshold. No point (recall 0, precision 1) is invented. Where `ties` or
    `tie_break` rank equal scores, there is a row for each row that has a score.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier, unless `ascending`. Several give a key column `system` after `by`.
    figures : str or list of str
        More columns: any figure of the confusion table, such as "fpr", "f1", "f0.5", "mcc".
    points : int, optional
        Fewer rows of the same curve: the first, the last, and the highest threshold at which each of so many levels of
        recall, from 0 to 1, is reached. `recall_step` stays that of the whole curve.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `ties="expected"`.

    Returns
    -------
    Frame of the same kind
        The keys, then `threshold` (of the dtype of the score, of several scores their common one), `k, tp, fp, fn, tn`
        (Int64; with weights see `Policies`), `precision, recall, recall_step, interpolated_precision` (Float64) and the
        `figures`. Recall is null in a group without positives.

    Raises
    ------
    ValueError, TypeError
        A figure is unknown; a column is missing, given twice, of the wrong type, or has missing values.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.curve(run, "relevant", "score").select("threshold", "k", "tp", "precision").rows()[:2]
    [(0.9, 1, 1, 1.0), (0.8, 2, 2, 1.0)]
    """
    columns = [*CURVE_COLUMNS, *_others(figures)]
    levels = None if points is None else whole("points", points, least=2)
    request = request_of(truth, score, by, positive, policies).used_as(Use(ranks=True))
    rows, output = rows_of(frame, request)
    return output.result(curve_table(rows, columns, levels), columns)


@public(REFUSED["with_curve"])
def with_curve(
    frame: Frame,
    truth: Column,
    score: Column,
    *,
    figures: str | Sequence[str] = (),
    prefix: str = "",
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Add the metrics of the curve at each row's own score as columns of the rows.

    Rows of equal score share a threshold and get the same figures.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression
        Higher ranks earlier, unless `ascending`.
    figures : str or list of str
        More columns: any figure of the confusion table, such as "fpr", "f1", "f0.5", "mcc".
    prefix : str
        Put before the names of the new columns.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one. It need not occur where its type declares it.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `tie_break=`,
        `tie_break_descending=`, `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and `ties="order"`.

    Returns
    -------
    Frame of the same kind
        The rows as they were, on pandas with their index, then the columns of `curve` but for `threshold`. Of a pandas
        frame, `attrs` and the name of the columns are not kept.

    Raises
    ------
    ValueError, TypeError
        A new column has the name of an old one; a column is missing, given twice or of the wrong type.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_pr as fp
    >>> run = pl.DataFrame({"relevant": [1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5]})
    >>> fp.with_curve(run, "relevant", "score")["precision"].round(2).to_list()
    [1.0, 1.0, 0.67, 0.75, 0.6]
    """
    columns, put = [*CURVE_COLUMNS[1:], *_others(figures)], text("prefix", prefix)
    request = request_of(truth, score, by, positive, policies)
    rows, output = rows_of(frame, request, carry=True, placed=True)
    return output.append_columns(curve_table(rows, columns), columns, put, place=place_of_block(rows))


def _others(figures: str | Sequence[str]) -> list[str]:
    if isinstance(figures, (tuple, list)) and not figures:
        return []
    names = names_of("figures", figures, "names of figures")
    for name in names:
        if name not in CURVE_COLUMNS:
            try:
                rate_of(name)
            except ValueError as error:
                raise ValueError(f"figures: {error}") from None
    return [name for name in names if name not in CURVE_COLUMNS]


def _reaches_a_level(levels: int) -> pl.Expr:
    """Return whether a block is the first or last of its group, or the first to reach one of the recall levels."""
    hits, positives = pl.col("hits").cast(pl.Int128), pl.col("positives").cast(pl.Int128)
    tp = pl.col("tp").cast(pl.Int128)
    # Count the levels that are reached in whole numbers.
    after, before = (number * (levels - 1) // positives for number in (tp, tp - hits))
    return starts(pl.col("group")) | ends(pl.col("group")) | ((positives > 0) & (after > before))


def curve_table(
    rows: Rows, columns: Sequence[str], levels: int | None = None, *, unretrieved: bool = False
) -> pl.LazyFrame:
    """Return `group` and these columns of its curve, by group and from the best score on.

    `unretrieved`: keep the blocks of rows that are not `retrieved`, so that each group has at least one block.
    """
    fractional = rows.weights.fractional
    blocks = FIXED_POINT_COLUMNS if fractional else COLUMNS
    figures = {name: rate_of(name).formula(blocks.counts) for name in columns if name not in _READY}
    if fractional:
        figures |= {name: rate_of(name).formula(blocks.counts) / UNIT for name in columns if name in rates.COUNTS}
    formulas = (*figures.values(), *map(pl.col, columns))
    read = {name for formula in formulas for name in formula.meta.root_names()}
    ranked = blocks_of(rows, read | {"hits", "tp", "positives", "rows", "retrieved"}, each_row=True)
    table = with_totals(ranked, rows.totals, in_units=fractional)
    if not unretrieved:
        table = table.filter("retrieved")
    if levels is not None:
        if fractional and levels > MOST_EXACT_LEVELS:
            raise ValueError(
                f"points must be at most {MOST_EXACT_LEVELS} where weight= is a column of floats, got {levels}"
            )
        table = table.filter(_reaches_a_level(levels))
    return table.with_columns(recall_step=rates.ratio(pl.col("hits"), pl.col("positives")), **figures)
