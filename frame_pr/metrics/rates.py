"""The figures of a confusion table, each formula once: expressions of (tp, k, positives, rows).

Curve, cut-off, report and metric column all call these. A zero denominator gives null.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import polars as pl

from frame_pr.frames.wording import shown
from frame_pr.metrics.numbers import DECIMAL, read_beta, refuse_long


class Counts(NamedTuple):
    """From which every figure follows: of `rows` rows `k` are predicted positive, and `tp` of these are."""

    tp: pl.Expr
    k: pl.Expr
    positives: pl.Expr
    rows: pl.Expr
    whole: bool = True
    """Whether they are whole numbers, and not in fixed point."""


Figure = Callable[[Counts], pl.Expr]

SMALL = 2**7
"""Masses in fixed point, and counts of an Int64, may be multiplied by any number below this."""
_LIMB = 2**60


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """Quotient as Float64, null where the denominator is 0."""
    return pl.when(denominator != 0).then(numerator.cast(pl.Float64) / denominator.cast(pl.Float64))


def exact_ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """The same of masses in fixed point, correctly rounded: so equal quotients are equal floats."""
    n, d = numerator.cast(pl.Int128), denominator.cast(pl.Int128)
    about = ratio(n, d)
    # What is left of n if the bits of that float, a whole number of 1 / parts, are taken times d: a few d, and so it
    # is right although the products wrap around.
    bits = about.reinterpret(dtype=pl.Int64)
    parts = ((2098 - bits // 2**52) * 2**52).reinterpret(dtype=pl.Float64)
    left = n * parts.cast(pl.Int128, strict=False) - d * (bits % 2**52 + 2**52).cast(pl.Int128)
    return pl.when(n > 0).then(about + ratio(left, d) / parts).fill_null(about)


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
    """`tp / k`: of the rows predicted positive, the share that is (positive predictive value)."""
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
    """`fp / k`: of the rows predicted positive, the share that is not (false discovery rate)."""
    return ratio(fp(c), c.k)


def accuracy(c: Counts) -> pl.Expr:
    """`(tp + tn) / rows`: the share of rows predicted rightly."""
    return ratio(c.tp + tn(c), c.rows)


def f_beta(beta: float) -> Figure:
    """`(1 + beta^2) tp / (beta^2 positives + k)`: recall counts beta times as much as precision."""
    whole, parts = (Fraction(str(beta)) ** 2).as_integer_ratio()
    # Beyond these the F is the recall, or the precision, in all its digits, and the products would be infinite, or 0.
    square = min(max(float(beta), 1e-50), 1e50) ** 2

    def f(c: Counts) -> pl.Expr:
        # Of whole numbers, where they fit: so an F that two thresholds share is the same float.
        if whole + parts < (2**70 if c.whole else SMALL):
            one = pl.lit(1, dtype=pl.Int64 if whole + parts < SMALL else pl.Int128)
            quotient = ratio if c.whole else exact_ratio
            return quotient(one * (whole + parts) * c.tp, one * whole * c.positives + one * parts * c.k)
        return ratio((1 + square) * c.tp, square * c.positives + c.k)

    f.__doc__ = f_beta.__doc__
    return f


def _association(c: Counts) -> pl.Expr:
    """`tp tn - fp fn`, without its cancellation: `tp rows - positives k`, of whole numbers."""
    one = pl.lit(1, dtype=pl.Int128)
    if c.whole:
        return (one * c.tp * c.rows - one * c.positives * c.k).cast(pl.Float64)
    # In fixed point the products are too long, and so they are made of halves, as by hand.
    (tp, t), (rows, n), (positives, p), (k, r) = (
        (m // _LIMB, m & (_LIMB - 1)) for m in (c.tp, c.rows, c.positives, c.k)
    )
    carry, low = _carried(t * n - p * r)
    carry, middle = _carried(tp * n + t * rows - positives * r - p * k + carry)
    high = tp * rows - positives * k + carry
    return (high.cast(pl.Float64) * _LIMB + middle.cast(pl.Float64)) * _LIMB + low.cast(pl.Float64)


def _carried(digit: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """What is carried to the next digit, and what is left, of either sign."""
    carry = (digit + _LIMB // 2) // _LIMB
    return carry, digit - carry * _LIMB


def _product(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a.cast(pl.Float64) * b.cast(pl.Float64)


def mcc(c: Counts) -> pl.Expr:
    """`(tp tn - fp fn) / sqrt(k positives (rows - k) negatives)`: Matthews correlation of prediction and truth."""
    spread = _product(c.k, c.positives).sqrt() * _product(c.rows - c.k, c.rows - c.positives).sqrt()
    return ratio(_association(c), spread)


def informedness(c: Counts) -> pl.Expr:
    """`recall + specificity - 1`: Youden's J."""
    return ratio(_association(c), _product(c.positives, c.rows - c.positives))


def markedness(c: Counts) -> pl.Expr:
    """`precision + npv - 1`: informedness with truth and prediction swapped."""
    return ratio(_association(c), _product(c.k, c.rows - c.k))


def kappa(c: Counts) -> pl.Expr:
    """`(accuracy - chance) / (1 - chance)`: Cohen's kappa, agreement beyond chance."""
    return ratio(2 * _association(c), _product(c.k, c.rows - c.positives) + _product(c.positives, c.rows - c.k))


def prevalence(c: Counts) -> pl.Expr:
    """`positives / rows`: the share of positives, and the precision of a random ranking."""
    return ratio(c.positives, c.rows)


COUNTS: dict[str, Figure] = {"k": lambda c: c.k, "tp": lambda c: c.tp, "fp": fp, "fn": fn, "tn": tn}

RATES: dict[str, Figure] = {
    "precision": precision,
    "recall": recall,
    "specificity": specificity,
    "npv": npv,
    "fpr": fpr,
    "fnr": fnr,
    "fdr": fdr,
    "accuracy": accuracy,
    "f1": f_beta(1),
    "mcc": mcc,
    "informedness": informedness,
    "markedness": markedness,
    "kappa": kappa,
    "prevalence": prevalence,
}

FIGURES: dict[str, Figure] = COUNTS | RATES
SIGNED = ("mcc", "informedness", "markedness", "kappa")
"""The rates that may lie below 0."""


def figure_of(name: str) -> Figure:
    """Formula of a figure of the confusion table, by its name."""
    if not isinstance(name, str):
        raise TypeError(f"a figure is asked for by its name, got {shown(name)}")
    if name in FIGURES:
        return FIGURES[name]
    refuse_long("figure", name)
    if re.fullmatch(f"f{DECIMAL}", name):
        return f_beta(read_beta(name[1:]))
    near = difflib.get_close_matches(name.lower(), FIGURES, n=3, cutoff=0)
    raise ValueError(f"no figure is named {name!r}; the nearest are {', '.join(near)}")
