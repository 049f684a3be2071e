"""Warn about data that look like a mistake, although the result may be what was meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_pr.frames.kinds import engine_for
from frame_pr.frames.messages import pluralize, shown, warn
from frame_pr.inputs.request import Request

if TYPE_CHECKING:
    from polars._typing import RankMethod

_DELIBERATE = 1e6  # A threshold this many times as large as all scores selects no row on purpose.
_SHOWN = 5  # Thresholds in a message.
_FIRST = 1000  # Rows that are looked at first.
_CLASSES = ((0, 1), (-1, 1))  # Predicted classes, of most classifiers and of outlier detectors.
_SIGNIFICANT = 2  # Standard errors by which positives must have smaller ranks than other rows.
_SHORT_GROUP = 4  # Rows of a group that may be in any order by coincidence.
_SAMPLED_GROUPS = 64  # Groups, at most, that show whether a column holds ranks or classes.


def warn_of_values(
    data: pl.DataFrame,
    request: Request,
    is_positive: pl.Expr,
    truth: str,
    scores: dict[str, str],
    keys: dict[str, str],
) -> None:
    """Warn about values that look like a mistake in the way in which the call uses them."""
    use = request.use
    if use is None or not data.height:
        return
    if use.ranks:
        _warn_of_whole_scores(data, request, is_positive, scores, list(keys))
    if use.thresholds:
        for column, name in scores.items():
            _warn_of_scale(data[column], name, use.thresholds)
    if use.averages and request.unjudged == "negative" and keys:
        _warn_of_unjudged_groups(data, truth, keys)


def _are_whole(scores: pl.Series) -> bool:
    """Return whether all scores are whole, of any dtype, or halves, as tied ranks are."""
    if scores.dtype.is_integer():
        return True
    # The first scores of most frames tell, and take no time.
    for part in (scores.head(_FIRST), scores):
        doubled = part.cast(pl.Float64).drop_nans() * 2
        if (doubled % 1 != 0).any():
            return False
    return True


def _are_only(scores: pl.Series, classes: Sequence[Any]) -> bool:
    """Return whether all scores are one of two predicted classes."""
    # The first scores of most frames tell, and take no time.
    if scores.head(_FIRST).drop_nulls().n_unique() > 3:  # With NaN.
        return False
    return scores.cast(pl.Float64).drop_nans().is_in([*map(float, classes)]).all()


def _warn_of_whole_scores(
    data: pl.DataFrame,
    request: Request,
    is_positive: pl.Expr,
    scores: Mapping[str, str],
    keys: Sequence[str],
) -> None:
    """Warn of scores that look like predicted classes or like ranks, by their values."""
    are_classes = []
    are_ranks = []
    for column in scores:
        score = data[column]
        ends: Any = (score.min(), score.max())
        if ends in _CLASSES and not request.says_ties:
            if _are_only(score, ends):
                are_classes.append(column)
        elif ends[0] == 1 < ends[1] and not request.ascending:
            are_ranks.append(column)
    # If one system has other scores, a rule is compared with a model.
    others = [column for column in scores if column not in are_classes]
    if not (are_classes or are_ranks) or not all(_are_whole(data[column]) for column in others):
        return
    for column in (*are_classes, *are_ranks):
        number = pl.col(column).cast(pl.Float64).fill_nan(None)
        rows = data.select(*keys, is_positive.alias("hit"), score=number)
        rows = rows.filter(pl.col("score").is_not_null())
        warn_of = _warn_of_classes if column in are_classes else _warn_of_ranks
        warn_of(rows, keys, scores[column])


def _rows_of_few_groups(data: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the rows of groups from all over the frame.

    To look at all rows took up to seven times as long as the average precision of 3 million rows.
    """
    if not keys or data.height <= _FIRST:
        return data
    step = data.height // _SAMPLED_GROUPS
    few_keys = data.select(keys).gather_every(step).unique()
    return data.join(few_keys, on=keys, how="semi", nulls_equal=True)


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
    hit = pl.col("hit").fill_null(False)
    methods: Sequence[RankMethod] = ("average", "min", "max")
    is_ranked = pl.any_horizontal((rank == rank.rank(method)).all() for method in methods)
    rows = _rows_of_few_groups(rows, keys)
    groups = rows.group_by(keys or pl.lit(0)).agg(
        n=pl.len(), hits=hit.sum(), sum_of_ranks=rank.rank().filter(hit).sum(), is_ranked=is_ranked
    )
    n = pl.col("n").cast(pl.Float64)
    hits = pl.col("hits")
    # The sum of the ranks of the positives if labels do not depend on ranks (Wilcoxon 1945).
    expected = hits * (n + 1) / 2
    variance = hits * (n - hits) * (n + 1) / 12
    below = (expected - pl.col("sum_of_ranks")).sum()
    are_small = groups.select(below > _SIGNIFICANT * variance.sum().sqrt()).item()
    if are_small and groups["is_ranked"].all() and (groups["n"] > _SHORT_GROUP).any():
        warn(
            f"score: column {shown(name)} holds the ranks 1 to n of each group, and positives have "
            f"small ones; "
            "ascending=True ranks lower scores first"
        )


def _warn_of_scale(score: pl.Series, name: str, thresholds: Sequence[float]) -> None:
    bounds: Any = (score.min(), score.max())
    if None in bounds:
        return
    low, high = map(float, bounds)
    are_finite = all(map(isfinite, (low, high, *thresholds)))
    if not are_finite or low >= high:
        return

    # A negative threshold below all scores and one that is far larger are deliberate: they select
    # all rows, or none.
    above = 2 * high - low
    below = 2 * low - high
    most = max(abs(low), abs(high)) * _DELIBERATE
    possible = 1 if low >= 0 and high <= 1 else 0
    if all((above < t < most or 0 < t < below) and t > possible for t in thresholds):
        values = ", ".join(f"{t:g}" for t in thresholds[:_SHOWN])
        if len(thresholds) > _SHOWN:
            values += ", ..."
        verb = "is" if len(thresholds) == 1 else "are"
        warn(
            f"threshold: {values} {verb} far from all scores of "
            f"column {shown(name)}, which lie between {low:g} and {high:g}; give thresholds on the "
            f"scale of the scores"
        )


def _warn_of_unjudged_groups(data: pl.DataFrame, truth: str, keys: dict[str, str]) -> None:
    label = pl.col("truth")
    if data.schema["truth"].is_float():
        label = label.fill_nan(None)
    of_groups = data.lazy().group_by(*keys).agg(is_judged=label.is_not_null().any())
    counts = of_groups.select(pl.len(), pl.col("is_judged").sum())
    groups, judged = counts.collect(engine=engine_for(data.height)).row(0)
    if judged < groups:
        warn(
            f"unjudged: {pluralize(groups - judged, 'group has', 'groups have')} no label in "
            f"column {shown(truth)}, of "
            f"{groups}, and unjudged='negative' makes their rows negatives; unjudged='trec_eval' "
            f"leaves such "
            f"groups out; if they are known to be negative, fill them"
        )
