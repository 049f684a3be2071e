"""The named metrics: how each is summed over the blocks of a group, and finished per group; and how it is named.

A metric is a few expressions in two rooms. Its `sums` run over the curve of a group (`ranking.curve`, cut down to the
steps); its `value` is a formula of these sums and of the group's `positives` and `rows`. Metrics that need the same sum
name it alike and share it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

import polars as pl

from frame_pr import rates
from frame_pr.harmonic import harmonic_difference
from frame_pr.ranking import SCORES, score_of
from frame_pr.rates import Counts, Figure, ratio


class Sum(NamedTuple):
    """A number per group: of an expression over its blocks the sum, the largest, the smallest or the only value."""

    over: pl.Expr
    how: Literal["sum", "max", "min", "first"] = "sum"

    def of(self, name: str, *, in_order: bool) -> pl.Expr:
        """The number, of a column of that name that holds the expression, or parts of the number.

        `in_order`: the rows of a group follow each other.
        """
        column = pl.col(name)
        # Of such rows a list is made for nothing, and lists without nulls are summed in a fraction of the time.
        in_lists = in_order and self.how in ("sum", "max")
        number: pl.Expr = getattr(column.implode().list if in_lists else column, self.how)()
        return number


Sums = dict[str, Sum]
_TRUTH, _SCORE = pl.col("truth"), pl.col("score")
_HITS, _SIZE, _K, _TP = pl.col("hits"), pl.col("size"), pl.col("k"), pl.col("tp")
_POSITIVES, _ROWS = pl.col("positives"), pl.col("rows")
_REACH, _ENVELOPE = pl.col("reach"), pl.col("interpolated_precision")
TOTALS: Sums = {"positives": Sum(_POSITIVES, "first"), "rows": Sum(_ROWS, "first")}
TOTALS_UNRANKED: Sums = {"positives": Sum(_TRUTH.cast(pl.Int64)), "rows": Sum(pl.lit(1, dtype=pl.Int64))}


@dataclass(frozen=True)
class Metric:
    """One metric, by its parts."""

    value: pl.Expr
    sums: Sums = field(default_factory=dict)
    first: bool = False
    """Whether it needs the first block of every group, beside the steps and the last blocks."""
    first_without_hits: bool = False
    """Whether it does where a group may have positives and no hit."""
    k_at: Mapping[str, float] = field(default_factory=dict)
    """Columns of the k at a threshold, among all blocks, steps or not."""
    unranked: Sums | None = None
    """The same sums over plain rows, where that needs no ranking."""
    fillable: bool = True
    """Whether `undefined=` fills its nulls: a count or a threshold is not a share."""
    defined: bool = False
    """Whether every group has a value."""
    ranked: bool = False
    """Whether it cuts at a rank: rows of weight have none."""
    bounded: bool = True
    """Whether positives first, or last, among equal scores make it largest, or smallest."""
    expected: Sums | None = None
    """The sums whose value is the expectation over all orders of tied rows, where a closed form exists."""


class Cut(NamedTuple):
    """Where the ranking is cut: the counts there, and how they are summed."""

    counts: Counts
    sums: Sums
    first: bool = False
    k_at: Mapping[str, float] = {}
    unranked: Sums | None = None


def _share(k: int | pl.Expr) -> pl.Expr:
    """Rows of a block among the first k: a block that the cut falls in has no order, so hits are shared out evenly."""
    return (k - _K + _SIZE).clip(0, _SIZE)


def _tp_at(k: int | pl.Expr) -> Sum:
    return Sum(_HITS * _share(k) / _SIZE)


def at_k(k: int) -> Cut:
    """The first k rows. A group with fewer is filled up with misses."""
    tp = f"tp@{k}"
    # So many rows at least: the k, and the positives that are not among them.
    rows = pl.max_horizontal(_ROWS, k + _POSITIVES - pl.col(tp))
    return Cut(Counts(pl.col(tp), pl.lit(k, dtype=pl.Int64), _POSITIVES, rows), {tp: _tp_at(k)})


def at_threshold(threshold: float) -> Cut:
    """The rows that score at least `threshold`."""
    tp, k = f"tp@threshold={threshold!r}", f"k@threshold={threshold!r}"
    # Running totals, and no sums: those of floats depend on their order. A block is reached if it is among the k.
    sums = {tp: Sum(pl.when(pl.col(k) >= _K).then(_TP).otherwise(0), "max"), k: Sum(pl.col(k), "max")}
    unranked = {tp: Sum((_TRUTH & (threshold <= _SCORE)).cast(pl.Int64)), k: Sum((threshold <= _SCORE).cast(pl.Int64))}
    counts = Counts(pl.col(tp).fill_null(0), pl.col(k).fill_null(0), _POSITIVES, _ROWS)
    return Cut(counts, sums, k_at={k: threshold}, unranked=unranked)


def at_recall(recall: Fraction) -> Cut:
    """The rows at the highest threshold whose recall is at least this."""
    tp, k = f"tp@recall={recall}", f"k@recall={recall}"
    reached = _reaches(recall)
    sums = {tp: Sum(pl.when(reached).then(_TP), "min"), k: Sum(pl.when(reached).then(_K), "min")}
    return Cut(Counts(pl.col(tp), pl.col(k), _POSITIVES, _ROWS), sums, first=_reached_by_first(recall))


def _reaches(recall: Fraction) -> pl.Expr:
    share, whole = (pl.lit(n, dtype=pl.Int128) for n in recall.as_integer_ratio())
    return (_POSITIVES > 0) & (_REACH * whole >= _POSITIVES * share)


def _reached_by_first(recall: Fraction) -> bool:
    # Recall 0 is, be there a hit in the block or not; any other recall is reached by a hit.
    return recall == 0


def _ap(k: int | None = None) -> Sum:
    """Sum over the positives of the precision at their threshold; up to rank k, a block cut off there ends there."""
    if k is None:
        # A product of whole weights may be more than an Int64 holds.
        return Sum(_HITS.cast(pl.Float64) * _TP / _K)
    hits = _HITS * _share(k) / _SIZE
    return Sum(hits * (_TP - _HITS + hits) / _K.clip(upper_bound=k))


def _expected_ap(k: int | None = None) -> Sum:
    """The same in expectation over all orders of the rows of a block.

    The j-th of its g rows is a hit with probability r/g, and then the precision there counts it, the tp0 before the
    block and (j-1)(r-1)/(g-1) of the other hits: (tp0 + 1 + (j-1) slope) / (n0 + j), that is
    slope plus a multiple of 1/(n0 + j).
    """
    before, taken = _K - _SIZE, _SIZE if k is None else _share(k)
    slope = (_HITS - 1) / (_SIZE - 1)
    harmonic = (_TP - _HITS + 1 - slope * (before + 1)) * harmonic_difference(before, taken)
    tied = _HITS / _SIZE * (harmonic + slope * taken)
    # An untied row has one order: no slope, no need for logarithms, and no last bit lost by them.
    return Sum(pl.when(_SIZE > 1).then(tied).otherwise(_HITS * taken * _TP / _K))


def _average_precision(_: re.Match[str], __: pl.DataType) -> Metric:
    return Metric(ratio(pl.col("ap"), _POSITIVES), {"ap": _ap()}, expected={"ap": _expected_ap()})


def _lift(_: re.Match[str], __: pl.DataType) -> Metric:
    return Metric(
        ratio(pl.col("ap") * _ROWS, _POSITIVES.cast(pl.Float64) ** 2), {"ap": _ap()}, expected={"ap": _expected_ap()}
    )


def _average_precision_at_k(name: re.Match[str], _: pl.DataType) -> Metric:
    k = _rank(name["k"])
    ap, tp = f"ap@{k}", f"tp@{k}"
    if name["divisor"] == "hits":
        mean = pl.when(pl.col(tp) > 0).then(pl.col(ap) / pl.col(tp)).otherwise(0.0)
        return Metric(pl.when(_POSITIVES > 0).then(mean), {ap: _ap(k), tp: _tp_at(k)}, ranked=True, bounded=False)
    over = _POSITIVES if name["divisor"] == "positives" else pl.min_horizontal(_POSITIVES, k)
    return Metric(ratio(pl.col(ap), over), {ap: _ap(k)}, ranked=True, expected={ap: _expected_ap(k)})


def _interpolated_average_precision(name: re.Match[str], _: pl.DataType) -> Metric:
    if name["points"] is None:
        return Metric(ratio(pl.col("iap"), _POSITIVES), {"iap": Sum(_HITS * _ENVELOPE)})
    points = int(name["points"])
    # Every recall level i/10 takes the envelope at the first block that reaches it: count the levels of each block, in
    # whole numbers, as 3/10 is not the float .3. Level 0 is reached at the first hit.
    levels = (points - 1) * _REACH // _POSITIVES - (points - 1) * (_REACH - _HITS) // _POSITIVES + (_TP == _HITS)
    total = f"iap_{points}"
    sums = {total: Sum(pl.when(_HITS > 0).then(_ENVELOPE * levels).otherwise(0))}
    return Metric(pl.when(_POSITIVES > 0).then(pl.col(total) / points), sums)


def _r_precision(_: re.Match[str], __: pl.DataType) -> Metric:
    sums = {"tp@positives": _tp_at(_POSITIVES)}
    return Metric(ratio(pl.col("tp@positives"), _POSITIVES), sums, ranked=True, expected=sums)


def _max_f(name: re.Match[str], dtype: pl.DataType) -> Metric:
    beta = read_beta(name["beta"])
    best = f"max_f{beta}"
    # The bits of F order as F does; the score below them decides between equals, and comes out again at the end.
    bits = rates.f_beta(beta)(Counts(_TP, _K, _POSITIVES, _ROWS)).reinterpret(dtype=pl.Int64).cast(pl.Int128)
    sums = {best: Sum(bits * SCORES + pl.col("order"), "max")}
    bits_of_best = (pl.col(best) + SCORES // 2) // SCORES
    if name["threshold"] is not None:
        # Where no threshold has a hit, all are equally good.
        threshold = score_of(pl.col(best) - bits_of_best * SCORES, dtype)
        return Metric(pl.when(_POSITIVES > 0).then(threshold), sums, first_without_hits=True, fillable=False)
    # Nothing retrieved is no threshold, and an F of 0 where there are positives.
    largest = bits_of_best.cast(pl.Int64).reinterpret(dtype=pl.Float64).fill_null(0.0)
    return Metric(pl.when(_POSITIVES > 0).then(largest), sums)


def _figure_at(name: re.Match[str], _: pl.DataType) -> Metric:
    kind, figure = name["cut"], name["figure"]
    if kind == "":
        cut = at_k(_rank(name["number"]))
    elif kind == "threshold=":
        cut = at_threshold(_number(name["number"]))
    else:
        cut = at_recall(_recall(name["number"]))
    # A group filled up with misses to k rows has the prevalence that it had.
    counts = cut.counts._replace(rows=_ROWS) if figure == "prevalence" else cut.counts
    is_count = figure in rates.COUNTS
    always = is_count or figure in ("accuracy", "prevalence") or (kind == "" and figure in ("precision", "fdr"))
    return Metric(
        _figure(figure)(counts),
        cut.sums,
        first=cut.first,
        k_at=cut.k_at,
        unranked=cut.unranked,
        fillable=not is_count,
        defined=kind != "recall=" and always,
        ranked=kind == "",
        expected=None if kind == "recall=" else cut.sums,
    )


def _threshold_at_recall(name: re.Match[str], _: pl.DataType) -> Metric:
    recall = _recall(name["number"])
    threshold = f"threshold@recall={recall}"
    sums = {threshold: Sum(pl.when(_reaches(recall)).then("threshold"), "max")}
    return Metric(pl.col(threshold), sums, first=_reached_by_first(recall), fillable=False)


def _interpolated_precision_at_recall(name: re.Match[str], _: pl.DataType) -> Metric:
    recall = _recall(name["number"])
    best = f"interpolated_precision@recall={recall}"
    return Metric(pl.col(best), {best: Sum(pl.when(_reaches(recall)).then(_TP / _K), "max")})


def _total(name: re.Match[str], _: pl.DataType) -> Metric:
    total = _POSITIVES if name[0] == "positives" else _ROWS
    return Metric(total, unranked={}, fillable=False, defined=True, expected={})


def _prevalence(_: re.Match[str], __: pl.DataType) -> Metric:
    return Metric(ratio(_POSITIVES, _ROWS), unranked={}, defined=True, expected={})


def _ties(_: re.Match[str], __: pl.DataType) -> Metric:
    sums = {"ties": Sum(pl.col("ties"))}
    return Metric(pl.col("ties"), sums, fillable=False, defined=True, expected=sums)


class Family(NamedTuple):
    """Metrics whose names follow one pattern."""

    name: str
    """The pattern as people write it."""
    value: str
    """What the docs' table of metrics says of it."""
    pattern: str
    build: Callable[[re.Match[str], pl.DataType], Metric]


DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_NUMBER = rf"(?P<number>[-+]?(?:inf|{DECIMAL}(?:e[-+]?[0-9]+)?))"
_FIGURE = rf"(?P<figure>{'|'.join(rates.FIGURES)}|f{DECIMAL})"

FAMILIES = (
    Family(
        "average_precision",
        "sum over steps of (d/P) (tp/k): the mean of precision over the positives",
        "average_precision",
        _average_precision,
    ),
    Family(
        "average_precision@K, .../positives, .../hits",
        "sum of precision over the hits among the first K rows, over min(K, P); over P; over the number of these hits",
        r"average_precision@(?P<k>[0-9]+)(?:/(?P<divisor>positives|hits))?",
        _average_precision_at_k,
    ),
    Family(
        "interpolated_average_precision, ..._11, ..._101",
        "sum over steps of (d/P) times the max precision at this or any later threshold; its mean at 11 or 101 recalls",
        "interpolated_average_precision(?:_(?P<points>11|101))?",
        _interpolated_average_precision,
    ),
    Family("r_precision", "precision at k = P, where precision equals recall", "r_precision", _r_precision),
    Family(
        "max_fB, threshold@max_fB",
        "the best F over all thresholds, and the highest threshold that gives it",
        rf"(?P<threshold>threshold@)?max_f(?P<beta>{DECIMAL})",
        _max_f,
    ),
    Family(
        "FIGURE@K, FIGURE@threshold=T, FIGURE@recall=R",
        "any figure of the confusion table, of the first K rows; of the rows that score T or more; of the rows at the "
        "highest threshold whose recall is at least R",
        rf"{_FIGURE}@(?P<cut>|threshold=|recall=){_NUMBER}",
        _figure_at,
    ),
    Family(
        "threshold@recall=R",
        "the highest threshold whose recall is at least R",
        rf"threshold@recall={_NUMBER}",
        _threshold_at_recall,
    ),
    Family(
        "interpolated_precision@recall=R",
        "the max precision over the thresholds whose recall is at least R",
        rf"interpolated_precision@recall={_NUMBER}",
        _interpolated_precision_at_recall,
    ),
    Family("rows, positives", "N and P, the totals of the group", "rows|positives", _total),
    Family("prevalence", "P/N, the precision of a random ranking", "prevalence", _prevalence),
    Family("ties", "rows that share their score with another row of the group", "ties", _ties),
    Family("lift", "average_precision / prevalence", "lift", _lift),
)


def _figure(name: str) -> Figure:
    return rates.FIGURES[name] if name in rates.FIGURES else rates.f_beta(read_beta(name[1:]))


def _rank(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {text}")
    if int(text) >= 2**62:
        raise ValueError(f"k must be below 2**62, got {text}")
    return int(text)


def _number(text: str) -> float:
    whole = re.fullmatch("[-+]?[0-9]{1,18}|[0-9]{19}", text)
    return int(text) if whole else float(text)


def _recall(text: str) -> Fraction:
    recall = Fraction(text) if "inf" not in text else Fraction(2)
    if not 0 <= recall <= 1:
        raise ValueError(f"recall must lie between 0 and 1, got {text}")
    return recall


def read_beta(text: str) -> float:
    """The beta of an F."""
    beta = _number(text)
    if not 0 < beta < float("inf"):
        raise ValueError(f"beta must be a positive number, got {text}")
    return beta
