"""Rates and counts of a confusion table: each formula once, and one record of all that other modules ask about it.

The formulas are expressions of (tp, k, positives, rows); a zero denominator gives null. To add a rate, write a formula
and a record in `RATES`: no other module compares the name of a rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from frame_pr.frames.messages import shown
from frame_pr.metrics.numbers import DECIMAL, read_beta, read_decimal, refuse_long
from frame_pr.metrics.synonyms import rate_hint


class Counts(NamedTuple):
    """The confusion table of `rows` rows: `k` are predicted positive, and `tp` of these are positive."""

    tp: pl.Expr
    k: pl.Expr
    positives: pl.Expr
    rows: pl.Expr
    whole: bool = True
    """Whether the counts are whole numbers; otherwise they are floats."""


Formula: TypeAlias = Callable[[Counts], pl.Expr]
CutoffKind: TypeAlias = Literal["rank", "threshold", "recall", "limit", "npv"]


class RowShare(NamedTuple):
    """A rate at a threshold as a share of rows: `part` of `whole`, summed over rows with label t and prediction p."""

    part: Callable[[pl.Expr, pl.Expr], pl.Expr]
    whole: Callable[[pl.Expr, pl.Expr], pl.Expr]
    n: Callable[[Counts], pl.Expr]
    """The number of rows in `whole`."""
    of_jaccard: bool = False
    """Whether the rate is 2 J / (1 + J), where J is that share."""


class Rate(NamedTuple):
    """A rate or a count of a confusion table. Fields have no defaults, so an incomplete record fails at import."""

    formula: Formula
    range: Literal["0 to 1", "-1 to 1", "0 up"]
    needs: tuple[str, ...]
    """The counts that must be above 0 for a value: "k" (rows predicted positive), "positives", "negatives", "rows"."""
    bounded_at: tuple[CutoffKind, ...]
    """The cutoffs at which ranking positives first (last) among equal scores gives the best (worst) value."""
    row_share: RowShare | None
    """The closed form of its standard error if rows are sampled. None: `intervals` refuses single rows."""
    smallest_is_best: bool
    is_count: bool
    in_confusion: bool
    """Whether it is a column of `confusion`, and of `report` at a threshold."""
    of_group: bool
    """Whether it is a number of the group that no cutoff changes."""
    group_rows: bool
    """Whether N is the size of the group, also if a rank exceeds it; otherwise misses fill up the group."""
    best_by: Formula | None
    """A score that is largest where the rate is best, equal where it is equal, and at least 0 there. None: no `max_` of
    it.
    """
    title: str
    """The label of an axis."""
    synonyms: tuple[str, ...]
    """Names in other libraries and textbooks, in lower case."""


_DIGITS = 10**15
"""The largest cost of a missed positive, and the largest denominator of a cost."""


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """Divide as Float64; null if the denominator is 0."""
    return pl.when(denominator != 0).then(numerator.cast(pl.Float64) / denominator.cast(pl.Float64))


def k(c: Counts) -> pl.Expr:
    """`k`: rows predicted positive."""
    return c.k


def tp(c: Counts) -> pl.Expr:
    """`tp`: true positives, predicted and positive."""
    return c.tp


def fp(c: Counts) -> pl.Expr:
    """`k - tp`: false positives, predicted and not positive."""
    return c.k - c.tp


def fn(c: Counts) -> pl.Expr:
    """`positives - tp`: false negatives, positive and not predicted."""
    return c.positives - c.tp


def tn(c: Counts) -> pl.Expr:
    """`rows - positives - fp`: true negatives, neither positive nor predicted."""
    return c.rows - c.positives - fp(c)


def precision(c: Counts) -> pl.Expr:
    """`tp / k`: of the rows predicted positive, the share that is positive (positive predictive value)."""
    return ratio(c.tp, c.k)


def recall(c: Counts) -> pl.Expr:
    """`tp / positives`: of the positives, the share predicted (sensitivity, true positive rate)."""
    return ratio(c.tp, c.positives)


def specificity(c: Counts) -> pl.Expr:
    """`tn / negatives`: of the negatives, the share not predicted (true negative rate)."""
    return ratio(tn(c), c.rows - c.positives)


def npv(c: Counts) -> pl.Expr:
    """`tn / (rows - k)`: of the rows not predicted, the share that is negative (negative predictive value)."""
    return ratio(tn(c), c.rows - c.k)


def fpr(c: Counts) -> pl.Expr:
    """`fp / negatives`: of the negatives, the share predicted (fall-out)."""
    return ratio(fp(c), c.rows - c.positives)


def fnr(c: Counts) -> pl.Expr:
    """`fn / positives`: of the positives, the share not predicted (miss rate)."""
    return ratio(fn(c), c.positives)


def fdr(c: Counts) -> pl.Expr:
    """`fp / k`: of the rows predicted positive, the share that is negative (false discovery rate)."""
    return ratio(fp(c), c.k)


def accuracy(c: Counts) -> pl.Expr:
    """`(tp + tn) / rows`: the share of rows that are predicted correctly."""
    return ratio(c.tp + tn(c), c.rows)


def balanced_accuracy(c: Counts) -> pl.Expr:
    """`(recall + specificity) / 2`: accuracy with equal weight for positives and negatives."""
    # Compute it from whole numbers, so that equal values are equal floats.
    unit, negatives = pl.lit(1, dtype=pl.Int128), c.rows - c.positives
    return ratio(unit * c.tp * negatives + unit * tn(c) * c.positives, 2 * _product(c.positives, negatives))


def cost(ratio_of_costs: str) -> Formula:
    """`(fp + R fn) / rows`: the mean cost of a row, if a missed positive costs as much as R false alarms."""
    value = read_decimal(ratio_of_costs)
    if not isinstance(value, Fraction) or not 1 / _DIGITS <= value <= _DIGITS:
        raise ValueError(
            f"the cost of a missed positive must lie between 1e-15 and 1e15 false ones, got {ratio_of_costs}"
        )
    missed, false = value.limit_denominator(_DIGITS).as_integer_ratio()

    def of(c: Counts) -> pl.Expr:
        unit = pl.lit(1, dtype=pl.Int128)
        return ratio(unit * fp(c) * false + unit * fn(c) * missed, unit * c.rows * false)

    of.__doc__ = cost.__doc__
    return of


def f_beta(beta: float) -> Formula:
    """`(1 + beta^2) tp / (beta^2 positives + k)`: recall counts beta times as much as precision; `f1` has beta 1."""
    whole, parts = (Fraction(str(beta)) ** 2).as_integer_ratio()
    # Beyond these limits F equals recall or precision in all its digits, and the products would overflow or become 0.
    square = min(max(float(beta), 1e-50), 1e50) ** 2

    def f(c: Counts) -> pl.Expr:
        # Compute it from whole numbers if they fit, so that an F that two thresholds share is the same float.
        if whole + parts < 2**70:
            # A rank k may be 2^62, of a group that misses fill up.
            both, of_positives, of_k = (pl.lit(number, dtype=pl.Int128) for number in (whole + parts, whole, parts))
            return ratio(both * c.tp, of_positives * c.positives + of_k * c.k)
        return ratio((1 + square) * c.tp, square * c.positives + c.k)

    f.__doc__ = f_beta.__doc__
    return f


def _association(c: Counts) -> pl.Expr:
    """Return `tp tn - fp fn`."""
    # At a rank within a tie, `tp` is a float.
    unit = pl.lit(1, dtype=pl.Int128)
    return (unit * c.tp * tn(c) - unit * fp(c) * fn(c)).cast(pl.Float64)


def _product(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a.cast(pl.Float64) * b.cast(pl.Float64)


def mcc(c: Counts) -> pl.Expr:
    """`(tp tn - fp fn) / sqrt(k positives (rows - k) negatives)`: Matthews correlation of prediction and label."""
    spread = _product(c.k, c.positives).sqrt() * _product(c.rows - c.k, c.rows - c.positives).sqrt()
    return ratio(_association(c), spread)


def _square_of_mcc(c: Counts) -> pl.Expr:
    """Divide the root of a product, exactly as long as the products are.

    Two quotients of roots may differ in the last bit.
    """
    association = _association(c)
    margins = _product(c.k, c.positives) * _product(c.rows - c.k, c.rows - c.positives)
    return pl.when(association >= 0).then(ratio(association * association, margins))


def informedness(c: Counts) -> pl.Expr:
    """`recall + specificity - 1`: Youden's J."""
    return ratio(_association(c), _product(c.positives, c.rows - c.positives))


def markedness(c: Counts) -> pl.Expr:
    """`precision + npv - 1`: informedness with label and prediction swapped."""
    return ratio(_association(c), _product(c.k, c.rows - c.k))


def kappa(c: Counts) -> pl.Expr:
    """`(accuracy - e) / (1 - e)`: Cohen's kappa, agreement beyond e, that of independent predictions."""
    return ratio(2 * _association(c), _product(c.k, c.rows - c.positives) + _product(c.positives, c.rows - c.k))


def prevalence(c: Counts) -> pl.Expr:
    """`positives / rows`: the share of positives, and the precision of a random ranking."""
    return ratio(c.positives, c.rows)


def lift(c: Counts) -> pl.Expr:
    """`precision / prevalence`: how many times more positives than among as many random rows."""
    return ratio(_product(c.tp, c.rows), _product(c.k, c.positives))


_SIGNED: Literal["-1 to 1"] = "-1 to 1"
_ALWAYS: tuple[CutoffKind, ...] = ("rank", "threshold", "recall", "limit")
# Within a limit of another rate, only the largest recall is of interest.
_NOT_AT_LIMITS = _ALWAYS[:3]
# At a recall with positives last, these may be undefined where other orders have a value.
_NOT_AT_RECALLS = _ALWAYS[:2]


def _count(formula: Formula, bounded_at: tuple[CutoffKind, ...], title: str, *synonyms: str) -> Rate:
    return Rate(formula, "0 up", (), bounded_at, None, False, True, True, False, False, None, title, synonyms)


def _share(
    formula: Formula,
    needs: tuple[str, ...],
    bounded_at: tuple[CutoffKind, ...],
    row_share: RowShare | None,
    title: str,
    *synonyms: str,
) -> Rate:
    """Make the record of a rate between 0 and 1 that depends on the cutoff and is a column of `confusion`."""
    return _count(formula, bounded_at, title, *synonyms)._replace(
        range="0 to 1", needs=needs, row_share=row_share, is_count=False
    )


def _f(beta: float, row_share: RowShare | None, *synonyms: str) -> Rate:
    return _share(f_beta(beta), ("positives",), _NOT_AT_LIMITS, row_share, f"F{beta:g}", *synonyms)


def _cost(text: str) -> Rate:
    title = f"Cost, a missed positive costs {text}"
    record = _share(cost(text), ("rows",), _NOT_AT_LIMITS, None, title)
    return record._replace(range="0 up", in_confusion=False, smallest_is_best=True)


RATES: Mapping[str, Rate] = {
    "k": _count(k, _NOT_AT_LIMITS, "Rank k", "predicted_positives"),
    "tp": _count(tp, _ALWAYS, "True positives", "true_positives"),
    "fp": _count(fp, _NOT_AT_LIMITS, "False positives", "false_positives", "false_alarms"),
    "fn": _count(fn, _ALWAYS, "False negatives", "false_negatives", "misses"),
    "tn": _count(tn, _NOT_AT_LIMITS, "True negatives", "true_negatives"),
    "precision": _share(
        precision,
        ("k",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: t & p, lambda t, p: p, lambda c: c.k),
        "Precision",
        *("p", "prec", "ppv", "positive_predictive_value", "precision_score"),
    )._replace(best_by=lambda c: pl.when(c.tp > 0).then(precision(c))),
    "recall": _share(
        recall,
        ("positives",),
        _ALWAYS,
        RowShare(lambda t, p: t & p, lambda t, p: t, lambda c: c.positives),
        "Recall",
        *("r", "rec", "sensitivity", "tpr", "true_positive_rate", "recall_score", "probability_of_detection"),
        *("sens", "detection_rate", "true_accept_rate", "tar"),
        *("capped_recall", "recall_cap"),
    ),
    "specificity": _share(
        specificity,
        ("negatives",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: ~t & ~p, lambda t, p: ~t, lambda c: c.rows - c.positives),
        "Specificity",
        *("tnr", "true_negative_rate", "selectivity", "spec"),
    ),
    "npv": _share(
        npv,
        ("rows - k",),
        _NOT_AT_RECALLS,
        RowShare(lambda t, p: ~t & ~p, lambda t, p: ~p, lambda c: c.rows - c.k),
        "NPV",
        "negative_predictive_value",
    ),
    "fpr": _share(
        fpr,
        ("negatives",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: ~t & p, lambda t, p: ~t, lambda c: c.rows - c.positives),
        "False positive rate",
        *("false_positive_rate", "fallout", "fall_out", "false_alarm_rate", "fp_rate", "far"),
    )._replace(smallest_is_best=True),
    "fnr": _share(
        fnr,
        ("positives",),
        _ALWAYS,
        RowShare(lambda t, p: t & ~p, lambda t, p: t, lambda c: c.positives),
        "False negative rate",
        *("false_negative_rate", "miss_rate", "fn_rate"),
    )._replace(smallest_is_best=True),
    "fdr": _share(
        fdr,
        ("k",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: ~t & p, lambda t, p: p, lambda c: c.k),
        "False discovery rate",
        "false_discovery_rate",
    )._replace(smallest_is_best=True),
    "accuracy": _share(
        accuracy,
        ("rows",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: t == p, lambda t, p: t == t, lambda c: c.rows),
        "Accuracy",
        *("acc", "accuracy_score", "fraction_correct"),
    )._replace(best_by=accuracy),
    "balanced_accuracy": _share(
        balanced_accuracy,
        ("positives", "negatives"),
        _NOT_AT_LIMITS,
        None,
        "Balanced accuracy",
        *("balanced_accuracy_score", "bacc", "bac"),
    )._replace(best_by=balanced_accuracy),
    "f1": _f(
        1,
        RowShare(
            lambda t, p: 2 * (t & p).cast(pl.Int64),
            lambda t, p: t.cast(pl.Int64) + p.cast(pl.Int64),
            lambda c: c.positives + c.k - c.tp,
            of_jaccard=True,
        ),
        *("f", "f1_score", "f_score", "f_measure", "f1_measure", "f_beta", "fbeta", "dice", "sorensen_dice"),
    ),
    "mcc": _share(
        mcc,
        ("positives", "negatives", "k", "rows - k"),
        _NOT_AT_RECALLS,
        None,
        "MCC",
        *("matthews", "matthews_corrcoef", "matthews_correlation", "phi", "phi_coefficient"),
    )._replace(range=_SIGNED, best_by=_square_of_mcc),
    "informedness": _share(
        informedness,
        ("positives", "negatives"),
        _NOT_AT_LIMITS,
        None,
        "Informedness",
        *("bookmaker_informedness", "youden_j", "youdens_j", "tss", "true_skill_statistic"),
    )._replace(range=_SIGNED, best_by=informedness),
    "markedness": _share(markedness, ("k", "rows - k"), _NOT_AT_RECALLS, None, "Markedness")._replace(
        range=_SIGNED, best_by=markedness
    ),
    "kappa": _share(
        kappa,
        ("positives", "negatives"),
        _NOT_AT_LIMITS,
        None,
        "Kappa",
        *("cohen_kappa", "cohens_kappa", "cohen_kappa_score"),
    )._replace(range=_SIGNED, best_by=kappa),
    "prevalence": _share(
        prevalence,
        ("rows",),
        _NOT_AT_LIMITS,
        RowShare(lambda t, p: t, lambda t, p: t == t, lambda c: c.rows),
        "Prevalence",
        *("base_rate", "positive_rate", "incidence"),
    )._replace(of_group=True, group_rows=True),
    "lift": _share(lift, ("k", "positives"), _NOT_AT_LIMITS, None, "Lift", "enrichment", "enrichment_factor")._replace(
        range="0 up", in_confusion=False, group_rows=True, best_by=lambda c: pl.when(c.tp > 0).then(precision(c))
    ),
}
"""The rates by name, in the order of the columns of `confusion`."""

NUMBERED: Mapping[str, Callable[[str], Rate]] = {"f": lambda beta: _f(read_beta(beta), None), "cost": _cost}
"""Rates with a number at the end of their name."""
NUMBERED_NAME = rf"(?:{'|'.join(NUMBERED)}){DECIMAL}"
"""How such a name is written."""
SYNONYMS = {name: rate.synonyms for name, rate in RATES.items()}
CONFUSION = tuple(name for name, rate in RATES.items() if rate.in_confusion)
"""The columns of `confusion`."""
CONFUSION_AT_CUTOFF = tuple(name for name in CONFUSION if not RATES[name].of_group)
"""The rates that depend on the cutoff."""
COUNTS = tuple(name for name, rate in RATES.items() if rate.is_count)
"""The rates that are counts, or sums of weights."""


def rate_of(name: str) -> Rate:
    """Return the record of a rate by its name; `f` may have any beta, and `cost` any ratio of costs."""
    if not isinstance(name, str):
        raise TypeError(f"a rate is asked for by its name, got {shown(name)}")
    if name in RATES:
        return RATES[name]
    refuse_long("rate", name)
    if match := re.fullmatch(rf"({'|'.join(NUMBERED)})({DECIMAL})", name):
        return NUMBERED[match[1]](match[2])
    raise ValueError(f"no rate is named {shown(name)}; {rate_hint(name, SYNONYMS)}")
