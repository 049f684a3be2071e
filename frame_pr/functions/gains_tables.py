"""`gains_table`: capture rate, lift and threshold by share of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Unpack

import polars as pl

from frame_pr.frames.arguments import is_whole, public
from frame_pr.frames.columns import stacked
from frame_pr.frames.kinds import Frame
from frame_pr.frames.messages import shown
from frame_pr.inputs.policies import REFUSED, Column, Columns, Policies
from frame_pr.inputs.request import request_of
from frame_pr.inputs.rows import rows_of
from frame_pr.metrics.aggregation import values
from frame_pr.metrics.names import request_for
from frame_pr.metrics.rates import ratio

_BINS = (2, 4, 5, 8, 10, 20, 25, 40, 50, 100)
"""Numbers of bins that end at a whole or a short decimal percentage."""
_CUMULATIVE = ("k", "threshold", "tp", "precision", "recall", "lift")


@public(REFUSED["gains_table"])
def gains_table(
    frame: Frame,
    truth: Column,
    score: Columns,
    *,
    bins: int = 10,
    by: Columns | None = None,
    positive: object = None,
    **policies: Unpack[Policies],
) -> Frame:
    """Compute a gains and lift table: what the best 10 %, 20 %, ... of the rows capture, for each group.

    For the first k rows of N, with tp of the P positives, precision is `tp / k`, recall (the capture rate) `tp / P` and
    lift `(tp / k) / (P / N)`. Rows of equal score share their positives evenly if a bin ends among them.

    Parameters
    ----------
    frame : polars DataFrame or LazyFrame, pandas DataFrame
        Scored rows, one row per item. The frame is not changed.
    truth : str or polars expression
        Ground-truth label of each row: Boolean, 0/1, or any labels together with `positive`.
    score : str or polars expression, or several
        Score of each row. Higher scores rank first, unless `ascending`. Several scores add a key column `system` after
        `by`.
    bins : int
        Number of bins: 2, 4, 5, 8, 10, 20, 25, 40, 50 or 100. Default 10, which gives deciles.
    by : str, polars expression or selector, or several; optional
        Columns whose values form the groups. Without `by`, the frame is one group.
    positive : optional
        The positive label of `truth`. For Enum and Categorical columns, it may be a declared category that does not
        occur.
    **policies
        Options for ties, weights, missing values and known totals: see `frame_pr.Policies`. Refused: `weight=`,
        `ties="expected"`, `ties="optimistic"`, `ties="pessimistic"` and `prevalence=`.

    Returns
    -------
    Frame of the same kind
        The keys, then one row for each bin: `share` (of the rows, up to the end of the bin; Float64), `k` (rows up to
        there, rounded up, Int64), `threshold` (the lowest one that selects at most k rows; null if more rows share the
        highest score), cumulative `tp, precision, recall, lift`, and `bin_precision, bin_recall, bin_lift` of the bin
        alone (Float64; null without rows in the bin, or, for recall and lift, without positives).

    Raises
    ------
    ValueError, TypeError
        `bins` is another number; a column is missing, given twice, of the wrong type, or has missing values.

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
    cuts = [f"{100 * i / bins:g}%" for i in range(1, bins + 1)]
    names = ["prevalence", *(f"{metric}@{cut}" for cut in cuts for metric in _CUMULATIVE)]
    rows, output = rows_of(frame, request_for(names, request_of(truth, score, by, positive, policies)), all_groups=True)
    ends = [{metric: pl.col(f"{metric}@{cut}") for metric in _CUMULATIVE} for cut in cuts]
    begin = dict.fromkeys(_CUMULATIVE, pl.lit(0))
    lines = [
        {"share": pl.lit(i / bins), **end, **_of_bin(start, end)}
        for i, (start, end) in enumerate(pairwise([begin, *ends]), 1)
    ]
    table = values(rows, {name: name for name in names})
    return output.result(stacked(table, [pl.col("group")], lines), list(lines[0]))


def _of_bin(start: Mapping[str, pl.Expr], end: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Compute the metrics of a single bin from the cumulative metrics at its two ends."""
    precision = ratio(end["tp"] - start["tp"], end["k"] - start["k"])
    return {
        "bin_precision": precision,
        "bin_recall": end["recall"] - start["recall"],
        "bin_lift": ratio(precision, pl.col("prevalence")),
    }
