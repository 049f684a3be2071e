"""Warn about data that look like a mistake, although the result may be what was meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any

import polars as pl

from frame_pr.frames.messages import pluralize, shown, warn
from frame_pr.inputs.groups import judged_groups
from frame_pr.inputs.request import Request
from frame_pr.inputs.validate import Selection

_DELIBERATE = 1e6  # A threshold this many times as large as all scores selects no row on purpose.
_SHOWN = 5  # Thresholds in a message.
_FIRST = 1000  # Rows that are looked at first.
_CLASSES = ((0, 1), (-1, 1))  # Predicted classes, of most classifiers and of outlier detectors.
_SIGNIFICANT = 2  # Standard errors by which positives must have smaller ranks than other rows.
_SHORT_GROUP = 4  # Rows of a group that may be in any order by coincidence.
_SAMPLED_GROUPS = 64  # Groups, at most, that show whether a column holds ranks or classes.


def warn_of_values(selection: Selection[Any], request: Request, is_positive: pl.Expr) -> None:
    """Warn about values that look like a mistake in the way in which the call uses them."""
    use = request.use
    data = selection.data
    if use is None or request.predicted or not data.height:
        return
    if use.ranks:
        _warn_of_whole_scores(selection, request, is_positive)
    if use.thresholds:
        for column, name in selection.scores.items():
            _warn_of_scale(data[column], name, use.thresholds)
    if use.averages and request.unjudged == "negative" and selection.keys:
        _warn_of_unjudged_groups(selection)


def _warn_of_whole_scores(
    selection: Selection[Any], request: Request, is_positive: pl.Expr
) -> None:
    """Warn of scores that look like predicted classes or like ranks, by their values."""
    data = selection.data
    warnings: dict[str, Callable[[pl.DataFrame, Sequence[str], str], None]] = {}
    for column in selection.scores:
        score = data[column]
        ends: Any = (score.min(), score.max())
        if ends in _CLASSES and not request.says_ties:
            if _hold(score, pl.col("score").is_in([*map(float, ends)])):
                warnings[column] = _warn_of_classes
        elif ends[0] == 1 < ends[1] and not request.ascending:
            warnings[column] = _warn_of_ranks
    # If one system has other scores, a rule is compared with a model. Tied ranks may be halves.
    is_whole = pl.col("score") * 2 % 1 == 0
    others = [data[name] for name in selection.scores if warnings.get(name) != _warn_of_classes]
    if not warnings or not all(x.dtype.is_integer() or _hold(x, is_whole) for x in others):
        return
    keys = list(selection.keys)
    for column, warn_of in warnings.items():
        number = pl.col(column).cast(pl.Float64).fill_nan(None)
        rows = data.select(*keys, hit=is_positive.fill_null(False), score=number)
        warn_of(rows.filter(pl.col("score").is_not_null()), keys, selection.scores[column])


def _hold(scores: pl.Series, condition: pl.Expr) -> bool:
    """Return whether a condition on `score` holds for all scores."""
    # The first scores of most frames tell, and take no time.
    for part in (scores.head(_FIRST), scores):
        table = part.cast(pl.Float64).fill_nan(None).to_frame("score")
        if not table.select(condition.all()).item():
            return False
    return True


def _rows_of_few_groups(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the rows of groups from all over the frame.

    To look at all rows took up to seven times as long as the average precision of 3 million rows.
    """
    if not keys or rows.height <= _FIRST:
        return rows
    few_keys = rows.select(keys).gather_every(rows.height // _SAMPLED_GROUPS).unique()
    return rows.join(few_keys, on=keys, how="semi", nulls_equal=True)


def _warn_of_classes(rows: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    # If no rows of a group are tied, these scores rank them.
    sample = _rows_of_few_groups(rows, keys).drop("hit").head(_FIRST)
    if sample.is_duplicated().any():
        low: Any = rows["score"].min()
        warn(
            f"score: column {shown(name)} holds only the whole numbers {int(low)} and 1, which "
            f"look like predicted "
            "classes and hardly rank the rows; give probabilities or scores, use confusion(truth, "
            "prediction=...), or "
            "give ties= to say that equal scores are meant"
        )


def _warn_of_ranks(rows: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    rank = pl.col("score")
    # Tied rows have the smallest of their ranks, the largest, or the mean.
    is_ranked = rank.is_between(rank.rank("min"), rank.rank("max")).all()
    n = pl.len().cast(pl.Float64)
    hits = pl.col("hit").sum().cast(pl.Float64)
    # The sum of the ranks of the positives if labels do not depend on ranks (Wilcoxon 1945).
    expected = hits * (n + 1) / 2
    variance = hits * (n - hits) * (n + 1) / 12
    below = expected - rank.filter("hit").sum()
    groups = (
        _rows_of_few_groups(rows, keys)
        .group_by(keys or pl.lit(0))
        .agg(n=n, is_ranked=is_ranked, below=below, variance=variance)
    )
    are_small = groups["below"].sum() > _SIGNIFICANT * sqrt(groups["variance"].sum())
    if are_small and groups["is_ranked"].all() and (groups["n"] > _SHORT_GROUP).any():
        warn(
            f"score: column {shown(name)} holds the ranks 1 to n of each group, and positives have "
            f"small ones; "
            "ascending=True ranks lower scores first"
        )


def _warn_of_scale(score: pl.Series, name: str, thresholds: Sequence[float]) -> None:
    ends: Any = (score.min(), score.max())
    if None in ends:
        return
    low, high = map(float, ends)
    if not all(map(isfinite, (low, high, *thresholds))) or low >= high:
        return

    # A negative threshold below all scores and one that is far larger are deliberate: they select
    # all rows, or none.
    above = 2 * high - low
    below = 2 * low - high
    most = max(abs(low), abs(high)) * _DELIBERATE
    possible = 1 if low >= 0 and high <= 1 else 0
    if all((above < t < most or 0 < t < below) and t > possible for t in thresholds):
        values = ", ".join(f"{t:g}" for t in thresholds[:_SHOWN])
        more = ", ..." if len(thresholds) > _SHOWN else ""
        warn(
            f"threshold: {values}{more}, far from all scores of column {shown(name)}, "
            f"which lie between {low:g} and {high:g}; give thresholds on the scale of the scores"
        )


def _warn_of_unjudged_groups(selection: Selection[Any]) -> None:
    groups_of_rows = judged_groups(selection.data, list(selection.keys))
    is_judged = groups_of_rows.get_column("is_judged")
    groups = is_judged.len()
    judged = int(is_judged.sum())
    if judged < groups:
        warn(
            f"unjudged: {pluralize(groups - judged, 'group has', 'groups have')} no label in "
            f"column {shown(selection.others['truth'])}, of "
            f"{groups}, and unjudged='negative' makes their rows negatives; unjudged='trec_eval' "
            f"leaves such "
            f"groups out; if they are known to be negative, fill them"
        )
