"""The curve itself: a row per threshold, or its figures beside the caller's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import polars as pl

from frame_pr import ranking, rates
from frame_pr.callers import Frame
from frame_pr.inputs import Column, Columns, Policies, Rows, rows_of
from frame_pr.names import figure_of
from frame_pr.rates import Counts

_COLUMNS = ("threshold", "k", "tp", "fp", "fn", "tn", "precision", "recall", "recall_step", "interpolated_precision")


def curve(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    figures: str | Sequence[str] = (),
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """The precision-recall curve: one row per distinct score, thresholds descending.

    At threshold t the k rows with score >= t are predicted positive. `recall_step` is the recall that it adds, so that
    `(precision * recall_step).sum()` is the average precision; `interpolated_precision` is the max precision at
    this or any later threshold. No point (recall 0, precision 1) is invented.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression, or several
        Higher ranks earlier. Several give a key column `system` after `by`.
    figures : str or list of str
        More columns: any figure of the confusion table, such as "fpr", "f1", "f0.5", "mcc".
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The keys, then `threshold` (of the score's dtype), `k, tp, fp, fn, tn` (Int64), `precision, recall, recall_step,
        interpolated_precision` (Float64) and the `figures`. Recall is null in a group without positives.

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
    rows = rows_of(frame, truth, score, by=by, positive=positive, **policies)
    columns = [*_COLUMNS, *_others(figures)]
    return rows.result(_figures(rows, columns), columns)


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
    """The caller's rows, in their order, with the figures of the curve at each row's own score.

    Rows of equal score share a threshold and get the same figures.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows; never changed.
    truth : str or polars expression
        Whether a row is positive: boolean, 0/1, or any labels with `positive`.
    score : str or polars expression
        Higher ranks earlier.
    figures : str or list of str
        More columns: any figure of the confusion table, such as "fpr", "f1", "f0.5", "mcc".
    prefix : str
        Put before the names of the new columns.
    by : str, polars expression or selector, or several; optional
        The groups. Without it, the frame is one group.
    positive : optional
        The label of `truth` that is the positive one.
    **policies
        Ties, weights, missing values and known totals: see `frame_pr.Policies`.

    Returns
    -------
    Frame of the same kind
        The frame as it was, index and all, then the columns of `curve` but for `threshold`.

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
    ties = policies.get("ties", "threshold")
    if ties != "threshold" or policies.get("tie_break") is not None:
        raise ValueError(
            "with_curve gives rows the figures at their own score: it takes equal scores together, without ties="
        )
    rows = rows_of(frame, truth, score, by=by, positive=positive, carry=True, **policies)
    rows = replace(rows, carried=rows.carried.with_columns(block=ranking.block_of(rows.score_dtype)))
    columns = [*_COLUMNS[1:], *_others(figures)]
    return rows.beside(_figures(rows, columns), "block", columns, prefix)


def _others(figures: str | Sequence[str]) -> list[str]:
    return [figure for figure in ([figures] if isinstance(figures, str) else figures) if figure not in _COLUMNS]


def _figures(rows: Rows[Frame], columns: Sequence[str]) -> pl.LazyFrame:
    if rows.ties == "expected":
        raise ValueError(
            "a curve has no expectation over orders: a threshold takes equal scores together, without ties="
        )
    counts = Counts(pl.col("tp"), pl.col("k"), pl.col("positives"), pl.col("rows"))
    made = {"recall_step": rates.ratio(pl.col("hits"), pl.col("positives"))}
    ready = ("threshold", "k", "tp", "interpolated_precision")
    made |= {name: figure_of(name)(counts) for name in columns if name not in (*ready, *made)}
    return ranking.curve(rows).filter("retrieved").with_columns(**made)
