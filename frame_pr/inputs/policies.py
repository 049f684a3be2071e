"""Policies: what to do where rows are tied, weighted, unscored, unjudged, or not all there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import polars as pl

Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column]
Ties: TypeAlias = Literal["threshold", "expected", "optimistic", "pessimistic", "order"]


class Policies(TypedDict, total=False):
    """What to do where rows are tied, weighted, unscored, unjudged, or not all there.

    Each function takes those that have a meaning there, and says which it refuses; the docs have them all in one table.
    With `weight`, `ties` is "threshold", and there are no figures at ranks, as a weighted row stands for several.

    Parameters
    ----------
    ties : "threshold", "expected", "optimistic", "pessimistic" or "order"
        What equal scores mean. "threshold", the default: they are taken together, as a threshold takes them, and a rank
        cut-off among them takes its expected share. "expected": the expectation over all their orders (McSherry and
        Najork 2008). "optimistic", "pessimistic": positives first, last; no order is better, or worse. A count or rate
        of mistakes, such as `fp` and `fpr`, and `k` at a recall are smallest in the best. "order": they stand in the
        order of the rows.
    tie_break : str or polars expression
        A column that ranks rows of equal score, with no other `ties` than "threshold".
    tie_break_descending : bool
        Whether the largest `tie_break` comes first; the default, and what trec_eval does with document names.
    ascending : bool
        Whether a small score is best, as of ranks, distances and losses. A threshold then takes the rows that score at
        most as much, and the lowest threshold is what is called the highest elsewhere.
    weight : str or polars expression
        Weights of rows: a row of weight 2 counts as two rows, one of weight 0 not at all. All counts but `ties` are
        sums of weights then, Int64 where the weights are integers, and else Float64.
    count : str or polars expression
        How many rows a row stands for, as `tally` counts them: a whole number, 0 for none, up to 2**56 in all. All
        figures are those of so many rows, to the last bit, and ranks count each of them; `weight` and `gain` are what
        each of them has. Not with `tie_break` and `ties="order"`, as they have no places of their own.
    gain : str or polars expression
        What a row is worth to `dcg` and `ndcg`, 0 or more, such as a grade of relevance, or `2 ** grade - 1`. Without
        it, a positive is worth 1. It may be missing where the truth is.
    unscored : "raise", "unretrieved" or "drop"
        Rows whose score is null or NaN. "raise", the default: an error says how many. "unretrieved": they count among
        the rows and positives of their group and are ranked nowhere. "drop": they are left out.
    unjudged : "raise", "negative" or "drop"
        Rows whose truth is null or NaN. "raise", the default: an error says how many. "negative": they count as
        negatives. "drop": they are left out.
    positives : str, polars expression or frame
        The known number of positives in the group, a whole number, where the frame holds only the top of a ranking: a
        column that is constant in each group, or a frame of the `by` columns and one more. With `weight`, the sum of
        their weights. A group that only such a frame has is one of which nothing was retrieved, and counts in a mean;
        it has no curve, and no rows for `with_metrics`, and is left out beside a column of the other total. A group of
        none is one with a total of 0.
    rows : str, polars expression or frame
        Likewise, the known number of rows.
    """

    ties: Ties
    tie_break: Column
    tie_break_descending: bool
    ascending: bool
    weight: Column
    count: Column
    gain: Column
    unscored: Literal["raise", "unretrieved", "drop"]
    unjudged: Literal["raise", "negative", "drop"]
    positives: Column | Any
    rows: Column | Any
