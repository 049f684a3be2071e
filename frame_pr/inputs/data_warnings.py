"""Warn about data that look like a mistake, although the result may be what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import polars as pl

from frame_pr.frames.kinds import collected
from frame_pr.frames.messages import pluralize, shown, warn
from frame_pr.inputs.groups import Groups, judged_groups
from frame_pr.inputs.request import Request
from frame_pr.inputs.validate import Selection

_DELIBERATE = 1e6  # A threshold this many times as large as all scores selects no row on purpose.
_SHOWN = 5  # Thresholds in a message.
_FIRST = 1000  # Rows that are looked at first.
_CLASSES = ((0, 1), (-1, 1))  # Predicted classes, of most classifiers and of outlier detectors.
_SIGNIFICANT = 2  # Standard errors by which positives must have smaller ranks than other rows.
_SHORT_GROUP = 4  # Rows of a group that may be in any order by coincidence.
_NUMBER = pl.col("score").cast(pl.Float64).fill_nan(None)
_IS_WHOLE = _NUMBER * 2 % 1 == 0  # Tied ranks may be halves.
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


def warn_of_unjudged_groups(selection: Selection[Any], request: Request, groups: Groups) -> None:
    """Warn about groups without any label, whose rows become negatives."""
    use = request.use
    if use is None or not use.averages or request.predicted or request.unjudged != "negative":
        return
    height = selection.data.height
    if not selection.keys or not height:
        return
    judged, count = judged_groups(groups, height)
    unjudged = count - judged.len()
    if unjudged:
        warn(
            f"unjudged: {pluralize(unjudged, 'group has', 'groups have')} no label in "
            f"column {shown(selection.others['truth'])}, of "
            f"{count}, and unjudged='negative' makes their rows negatives; unjudged='trec_eval' "
            f"leaves such "
            f"groups out; if they are known to be negative, fill them"
        )


def _warn_of_whole_scores(
    selection: Selection[Any], request: Request, is_positive: pl.Expr
) -> None:
    """Warn of scores that look like predicted classes or like ranks, by their values."""
    data = selection.data
    keys = list(selection.keys)
    classes: dict[str, Any] = {}
    ranks: list[str] = []
    for column in selection.scores:
        score = data[column]
        low: Any = score.min()
        high: Any = score.max()
        if (low, high) in _CLASSES and not request.says_ties:
            if not score.is_between(low, high, closed="none").any():
                classes[column] = low
        elif low == 1 < high <= data.height and not request.ascending:
            ranks.append(column)
    # If one system has other scores, a rule is compared with a model.
    others = [data[column] for column in selection.scores if column not in classes]
    if not (classes or ranks) or not all(
        score.dtype.is_integer() or _hold(score, _IS_WHOLE) for score in others
    ):
        return
    for column, low in classes.items():
        are_tied = _has_ties(data, keys, column)
        _warn_of_classes(low, selection.scores[column], are_tied=are_tied)
    for column in ranks:
        rows = _rows_of_few_groups(data, keys).with_columns(hit=is_positive)
        _warn_of_ranks(rows.rename({column: "score"}).collect(), keys, selection.scores[column])


def _hold(scores: pl.Series, condition: pl.Expr) -> bool:
    """Return whether a condition on `score` holds for all scores."""
    # The first scores of most frames tell, and take no time.
    if len(scores) > _FIRST and not _hold(scores.head(_FIRST), condition):
        return False
    return bool(scores.to_frame("score").select(condition.all()).item())


def _rows_of_few_groups(rows: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the rows of groups from all over the frame.

    To look at all rows took up to seven times as long as the average precision of 3 million rows.
    """
    if not keys or rows.height <= _FIRST:
        return rows.lazy()
    few_keys = rows.select(keys).gather_every(rows.height // _SAMPLED_GROUPS).unique()
    return rows.lazy().join(few_keys.lazy(), on=keys, how="semi", nulls_equal=True)


def _has_ties(rows: pl.DataFrame, keys: Sequence[str], column: str) -> bool:
    """Return whether scores are equal within a group."""
    # The first rows of most frames tell, and take no time.
    if rows.height > _FIRST and _has_ties(rows.head(_FIRST), keys, column):
        return True
    few = _rows_of_few_groups(rows, keys).rename({column: "score"})
    first = few.select(*keys, _NUMBER).drop_nulls("score").head(_FIRST)
    return collected(first).is_duplicated().any()


def _warn_of_classes(low: Any, name: str, *, are_tied: bool) -> None:
    # If no rows of a group are tied, these scores rank them.
    if are_tied:
        warn(
            f"score: column {shown(name)} holds only the whole numbers {int(low)} and 1, which "
            "look like predicted classes and hardly rank the rows; give probabilities or scores, "
            "use confusion(truth, prediction=...), or give ties= to say that equal scores are meant"
        )


def _warn_of_ranks(rows: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    rank = _NUMBER
    groups = rows.group_by(keys or pl.lit(0))
    rank_of_hit = rank.filter(pl.col("hit"))
    sums = groups.agg(n=rank.count(), hits=rank_of_hit.count(), sum_of_ranks=rank_of_hit.sum())
    n = sums["n"].cast(pl.Float64)
    hits = sums["hits"]
    # The sum of the ranks of the positives if labels do not depend on ranks (Wilcoxon 1945).
    below = hits * (n + 1) / 2 - sums["sum_of_ranks"]
    variance = hits * (n - hits) * (n + 1) / 12
    if below.sum() <= _SIGNIFICANT * sqrt(variance.sum()) or (n <= _SHORT_GROUP).all():
        return
    # Tied rows have the smallest of their ranks, the largest, or the mean.
    is_ranked = rank.is_between(rank.rank("min"), rank.rank("max")).all()
    if groups.agg(is_ranked=is_ranked)["is_ranked"].all():
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
