"""Rates and counts of a confusion table: a formula and a record each.

The formulas are expressions of (tp, k, positives, rows); a zero denominator gives null. To add a
rate, write a formula and a record in `RATES`: no other module compares the name of a rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, log2
from typing import Literal, NamedTuple

import polars as pl

from frame_pr.frames.arguments import names_of
from frame_pr.frames.columns import has_keys
from frame_pr.frames.messages import did_you_mean, nearest, shown
from frame_pr.frames.words import METRICS, meant
from frame_pr.metrics.metric import Counts, CutoffKind, Formula, ratio
from frame_pr.metrics.numbers import DECIMAL, read_beta, read_decimal, refuse_long


class RowShare(NamedTuple):
    """A rate at a threshold as a share: `part` of `whole`, sums over rows.

    Both are functions of the label t and the prediction p of a row.
    """

    part: Callable[[pl.Expr, pl.Expr], pl.Expr]
    whole: Callable[[pl.Expr, pl.Expr], pl.Expr]
    harmonic: bool = False
    """Whether the rate is 2 J / (1 + J) for this share J, the harmonic mean of J and 1."""


class Rate(NamedTuple):
    """A rate or a count of a confusion table."""

    formula: Formula
    title: str
    """The label of an axis."""
    range: Literal["0 to 1", "-1 to 1", "0 up"] = "0 to 1"
    needs: tuple[str, ...] = ()
    """The counts that must be above 0: "k", "rows - k", "positives", "negatives", "rows"."""
    bounded_at: tuple[CutoffKind, ...] = ("rank", "threshold", "recall")
    """The cutoffs at which positives first in a tie give the best value, and last the worst.

    Within a limit of another rate, only the largest recall is of interest.
    """
    row_share: RowShare | None = None
    """The closed form of its standard error if rows are sampled. None: there is none."""
    best: Literal["largest", "smallest", "none"] = "largest"
    """Which value is best; "none" for the number of selected rows and for the prevalence."""
    is_count: bool = False
    in_confusion: bool = True
    """Whether `confusion` has it with `rates="all"`."""
    of_group: bool = False
    """Whether it is a number of the group that no cutoff changes."""
    group_rows: bool = False
    """Whether N is the size of the group also if a rank exceeds it; else misses fill it up."""
    best_by: Formula | None = None
    """A number from -1 to 1 that is larger where the rate is larger, and equal where it is equal.

    None: there is no `max_` of the rate.
    """
    best_is_biased: bool = True
    """Whether the best value of a small sample is too good by more than replicates vary."""
    by_class: bool = False
    """Whether it counts within each class, so that the share of positives does not change it."""

    def value(self, c: Counts) -> pl.Expr:
        """Return the formula in its range, which float weights may leave by a last bit."""
        value = self.formula(c)
        if not c.fractional or self.range == "0 up":
            return value
        return value.clip(-1.0 if self.range == "-1 to 1" else 0.0, 1.0)


_DIGITS = 10**15
"""The largest cost of a missed positive, and the largest denominator of a cost."""


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
    return c.negatives - fp(c)


def precision(c: Counts) -> pl.Expr:
    """`tp / k`: the share of positives among the rows predicted positive (PPV)."""
    return ratio(c.tp, c.k)


def recall(c: Counts) -> pl.Expr:
    """`tp / positives`: of the positives, the share predicted (sensitivity, true positive rate)."""
    return ratio(c.tp, c.positives)


def specificity(c: Counts) -> pl.Expr:
    """`tn / negatives`: of the negatives, the share not predicted (true negative rate)."""
    return ratio(tn(c), c.negatives)


def npv(c: Counts) -> pl.Expr:
    """`tn / (rows - k)`: the share of negatives among the rows predicted negative."""
    return ratio(tn(c), c.unselected)


def fpr(c: Counts) -> pl.Expr:
    """`fp / negatives`: of the negatives, the share predicted (fall-out)."""
    return ratio(fp(c), c.negatives)


def fnr(c: Counts) -> pl.Expr:
    """`fn / positives`: of the positives, the share not predicted (miss rate)."""
    return ratio(fn(c), c.positives)


def fdr(c: Counts) -> pl.Expr:
    """`fp / k`: the share of negatives among the rows predicted positive."""
    return ratio(fp(c), c.k)


def accuracy(c: Counts) -> pl.Expr:
    """`(tp + tn) / rows`: the share of rows that are predicted correctly."""
    return ratio(c.tp + tn(c), c.rows)


def balanced_accuracy(c: Counts) -> pl.Expr:
    """`(recall + specificity) / 2`: accuracy with equal weight for positives and negatives."""
    # Compute it from whole numbers, so that equal values are equal floats.
    both = c.one * c.tp * c.negatives + c.one * tn(c) * c.positives
    return ratio(both, 2 * _product(c.positives, c.negatives))


def cost(ratio_of_costs: str) -> Formula:
    """`(fp + R fn) / rows`: the mean cost of a row, if a miss costs as much as R false alarms."""
    value = read_decimal(ratio_of_costs)
    if not isinstance(value, Fraction) or not 1 / _DIGITS <= value <= _DIGITS:
        raise ValueError(
            "the cost of a missed positive must lie between 1e-15 and 1e15 false ones, got "
            f"{ratio_of_costs}"
        )
    missed, false = value.limit_denominator(_DIGITS).as_integer_ratio()

    def of(c: Counts) -> pl.Expr:
        return ratio(c.one * fp(c) * false + c.one * fn(c) * missed, c.one * c.rows * false)

    of.__doc__ = cost.__doc__
    return of


def f_beta(beta: float) -> Formula:
    """`(1 + beta^2) tp / (beta^2 positives + k)`: recall counts beta times as much."""
    # Compute it from whole numbers, so that equal values of two thresholds are equal floats. Beyond
    # these limits, F equals recall or precision to 1e-12. A rank k may be 2^62, of a group that
    # misses fill up, and its products have to fit.
    most = 2**62
    square = min(Fraction(str(beta)) ** 2, Fraction(most))
    largest_denominator = most // max(1, ceil(square))
    whole, parts = square.limit_denominator(largest_denominator).as_integer_ratio()

    def f(c: Counts) -> pl.Expr:
        hits = c.one * (whole + parts) * c.tp
        return ratio(hits, c.one * whole * c.positives + c.one * parts * c.k)

    f.__doc__ = f_beta.__doc__
    return f


def _association(c: Counts) -> pl.Expr:
    """Return `tp tn - fp fn`."""
    # At a rank within a tie, `tp` is a float.
    return (c.one * c.tp * tn(c) - c.one * fp(c) * fn(c)).cast(pl.Float64)


def _product(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a.cast(pl.Float64) * b.cast(pl.Float64)


def mcc(c: Counts) -> pl.Expr:
    """`(tp tn - fp fn) / sqrt(k positives (rows - k) negatives)`: Matthews correlation."""
    spread = _product(c.k, c.positives).sqrt() * _product(c.unselected, c.negatives).sqrt()
    return ratio(_association(c), spread)


def _square_of_mcc(c: Counts) -> pl.Expr:
    """Return the square of the correlation, with its sign.

    It is exact as long as the products are, while two quotients of roots may differ in the last
    bit.
    """
    association = _association(c)
    margins = _product(c.k, c.positives) * _product(c.unselected, c.negatives)
    return ratio(association * association.abs(), margins)


def informedness(c: Counts) -> pl.Expr:
    """`recall + specificity - 1`: Youden's J."""
    return ratio(_association(c), _product(c.positives, c.negatives))


def markedness(c: Counts) -> pl.Expr:
    """`precision + npv - 1`: informedness with label and prediction swapped."""
    return ratio(_association(c), _product(c.k, c.unselected))


def kappa(c: Counts) -> pl.Expr:
    """`(accuracy - e) / (1 - e)`: Cohen's kappa, where e is the agreement by chance."""
    return ratio(
        2 * _association(c),
        _product(c.k, c.negatives) + _product(c.positives, c.unselected),
    )


def prevalence(c: Counts) -> pl.Expr:
    """`positives / rows`: the share of positives, and the precision of a random ranking."""
    return ratio(c.positives, c.rows)


def net_benefit(tp: pl.Expr, fp: pl.Expr, odds: pl.Expr | float, total: pl.Expr) -> pl.Expr:
    """`(tp - fp t / (1 - t)) / total`, where t is the threshold and `odds` is t / (1 - t)."""
    return ratio(tp.cast(pl.Float64) - fp.cast(pl.Float64) * odds, total)


def selection_rate(c: Counts) -> pl.Expr:
    """`k / rows`: the share of rows predicted positive (alert rate, positive rate)."""
    return ratio(c.k, c.rows)


def lift(c: Counts) -> pl.Expr:
    """`precision / prevalence`: 2 means twice as many positives as in a random sample."""
    return ratio(_product(c.tp, c.rows), _product(c.k, c.positives))


def _precision_of_some(c: Counts) -> pl.Expr:
    return pl.when(c.tp > 0).then(precision(c))


def _every_row(t: pl.Expr, p: pl.Expr) -> pl.Expr:
    return t == t


def _f(beta: float, row_share: RowShare | None = None) -> Rate:
    formula = f_beta(beta)
    title = f"F{beta:g}"
    return Rate(
        formula,
        title,
        needs=("positives",),
        row_share=row_share,
        best_by=formula,
        best_is_biased=False,
    )


def _cost(text: str) -> Rate:
    title = f"Cost, a missed positive costs {text}"
    formula = cost(text)
    # A division by a power of 2 brings the largest cost below 1, and changes no digit.
    scale = 2.0 ** max(0, ceil(log2(Fraction(text))) + 1)

    def saving(c: Counts) -> pl.Expr:
        return -formula(c) / scale

    return Rate(
        formula,
        title,
        range="0 up",
        needs=("rows",),
        in_confusion=False,
        best="smallest",
        best_by=saving,
    )


_ALSO_AT_LIMITS: tuple[CutoffKind, ...] = ("rank", "threshold", "recall", "limit")
# At a recall with positives last, these may be undefined where other orders have a value.
_NOT_AT_RECALLS: tuple[CutoffKind, ...] = ("rank", "threshold")
_count = partial(Rate, range="0 up", is_count=True)
_signed = partial(Rate, range="-1 to 1")
RATES: Mapping[str, Rate] = {
    "k": _count(k, "Rank k", best="none"),
    "tp": _count(tp, "True positives", bounded_at=_ALSO_AT_LIMITS),
    "fp": _count(fp, "False positives", best="smallest"),
    "fn": _count(fn, "False negatives", bounded_at=_ALSO_AT_LIMITS, best="smallest"),
    "tn": _count(tn, "True negatives"),
    "precision": Rate(
        precision,
        "Precision",
        needs=("k",),
        row_share=RowShare(lambda t, p: t & p, lambda t, p: p),
        best_by=_precision_of_some,
    ),
    "recall": Rate(
        recall,
        "Recall",
        needs=("positives",),
        bounded_at=_ALSO_AT_LIMITS,
        row_share=RowShare(lambda t, p: t & p, lambda t, p: t),
        by_class=True,
    ),
    "specificity": Rate(
        specificity,
        "Specificity",
        needs=("negatives",),
        row_share=RowShare(lambda t, p: ~t & ~p, lambda t, p: ~t),
        by_class=True,
    ),
    "npv": Rate(
        npv,
        "NPV",
        needs=("rows - k",),
        bounded_at=_NOT_AT_RECALLS,
        row_share=RowShare(lambda t, p: ~t & ~p, lambda t, p: ~p),
    ),
    "fpr": Rate(
        fpr,
        "False positive rate",
        needs=("negatives",),
        row_share=RowShare(lambda t, p: ~t & p, lambda t, p: ~t),
        best="smallest",
        by_class=True,
    ),
    "fnr": Rate(
        fnr,
        "False negative rate",
        needs=("positives",),
        bounded_at=_ALSO_AT_LIMITS,
        row_share=RowShare(lambda t, p: t & ~p, lambda t, p: t),
        best="smallest",
        by_class=True,
    ),
    "fdr": Rate(
        fdr,
        "False discovery rate",
        needs=("k",),
        row_share=RowShare(lambda t, p: ~t & p, lambda t, p: p),
        best="smallest",
    ),
    "accuracy": Rate(
        accuracy,
        "Accuracy",
        needs=("rows",),
        row_share=RowShare(lambda t, p: t == p, _every_row),
        best_by=accuracy,
    ),
    "balanced_accuracy": Rate(
        balanced_accuracy,
        "Balanced accuracy",
        needs=("positives", "negatives"),
        best_by=balanced_accuracy,
        by_class=True,
    ),
    "f1": _f(
        1,
        RowShare(
            lambda t, p: 2 * (t & p).cast(pl.Int64),
            lambda t, p: t.cast(pl.Int64) + p.cast(pl.Int64),
            harmonic=True,
        ),
    ),
    "mcc": _signed(
        mcc,
        "MCC",
        needs=("positives", "negatives", "k", "rows - k"),
        bounded_at=_NOT_AT_RECALLS,
        best_by=_square_of_mcc,
    ),
    "informedness": _signed(
        informedness,
        "Informedness",
        needs=("positives", "negatives"),
        best_by=informedness,
        by_class=True,
    ),
    "markedness": _signed(
        markedness,
        "Markedness",
        needs=("k", "rows - k"),
        bounded_at=_NOT_AT_RECALLS,
        best_by=markedness,
    ),
    "kappa": _signed(kappa, "Kappa", needs=("positives", "negatives"), best_by=kappa),
    "selection_rate": Rate(
        selection_rate,
        "Selection rate",
        needs=("rows",),
        row_share=RowShare(lambda t, p: p, _every_row),
        best="none",
    ),
    "prevalence": Rate(
        prevalence,
        "Prevalence",
        needs=("rows",),
        row_share=RowShare(lambda t, p: t, _every_row),
        best="none",
        of_group=True,
        group_rows=True,
    ),
    "lift": Rate(
        lift,
        "Lift",
        range="0 up",
        needs=("k", "positives"),
        in_confusion=False,
        group_rows=True,
        best_by=_precision_of_some,
    ),
}
"""The rates by name, in the order of the columns of `confusion`."""

NUMBERED: Mapping[str, Callable[[str], Rate]] = {
    "f": lambda beta: _f(read_beta(beta)),
    "cost": _cost,
}
"""Rates with a number at the end of their name."""
NUMBERED_NAME = rf"(?:{'|'.join(NUMBERED)}){DECIMAL}"
"""How such a name is written."""
CONFUSION = tuple(name for name, rate in RATES.items() if rate.in_confusion)
"""The rates that `confusion` has with `rates="all"`."""
CONFUSION_AT_CUTOFF = tuple(name for name in CONFUSION if not RATES[name].of_group)
"""The rates that depend on the cutoff."""
COUNTS = tuple(name for name, rate in RATES.items() if rate.is_count)
"""The rates that are counts, or sums of weights."""


def is_rate(name: str) -> bool:
    """Return whether a text is the name of a rate."""
    return name in RATES or re.fullmatch(NUMBERED_NAME, name) is not None


def rate_of(name: str) -> Rate:
    """Return the record of a rate by its name; `f` and `cost` may have any number."""
    if name in RATES:
        return RATES[name]
    refuse_long("rate", name)
    if match := re.fullmatch(rf"({'|'.join(NUMBERED)})({DECIMAL})", name):
        return NUMBERED[match[1]](match[2])
    raise ValueError(f"no rate is named {shown(name)}; {_hint(name)}")


def columns_of_rates(
    rates: str | Sequence[str], default: Sequence[str], every: Sequence[str]
) -> list[str]:
    """Return the columns of a result: the default ones, then the rates that a caller names."""
    if isinstance(rates, str) and rates == "all":
        return list(dict.fromkeys([*default, *every]))
    names = names_of("rates", rates, "names of rates") if has_keys(rates) else []
    for name in names:
        if name not in every:
            try:
                rate_of(name)
            except ValueError as error:
                raise ValueError(f"rates: {error}") from None
    return list(dict.fromkeys([*default, *names]))


def _hint(name: str) -> str:
    """Return what to write instead of an unknown rate."""
    head = name.lower().replace("-", "_").partition("@")[0]
    synonyms = meant(METRICS, head)
    same = [rate for rate in (head, *synonyms) if rate in RATES]
    if synonyms and not same:
        return (
            "it is a metric of a whole ranking, not a rate at a threshold: evaluate() computes it"
        )
    near = same or nearest(head, RATES, cutoff=0.7)
    if near:
        return did_you_mean(near[:2])
    return f"there are {', '.join(RATES)}, and f with any beta"
