"""Sums over the places of a tied block, however long it is, to 1e-13.

The first places are added one by one. Behind them a sum is an integral with the corrections of Euler and Maclaurin.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import factorial, fsum, log, log2, log10

import numpy as np

SHORT = 1000
BERNOULLI = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798)]
NODES = [*zip(*(side.tolist() for side in np.polynomial.legendre.leggauss(16)), strict=True)]


@cache
def harmonic(start, count):
    """1 / (start + 1) + ... + 1 / (start + count)."""
    with localcontext(prec=50):
        short = min(count, SHORT)
        total = sum((1 / Decimal(start + i) for i in range(1, short + 1)), Decimal(0))
        if count > short:
            low, high = Decimal(start + short), Decimal(start + count)
            total += (high / low).ln() + (1 / high - 1 / low) / 2
            for k, (over, under) in enumerate(BERNOULLI, start=1):
                total -= Decimal(over) / (under * 2 * k) * (high ** (-2 * k) - low ** (-2 * k))
        return Fraction(total)


@cache
def geometric(ratio, start, count):
    """ratio^start + ... + ratio^(start + count - 1), for a ratio below 1."""
    if start * -log10(ratio) > 10**3:
        return Fraction(0)
    with localcontext(prec=50):
        share = Decimal(ratio.numerator) / ratio.denominator
        return Fraction(share**start * (1 - share**count) / (1 - share))


@cache
def discounts(before, upto):
    """The sum of 1 / log2(rank + 1) over the ranks from `before` + 1 to `upto`."""
    near = min(upto, before + SHORT)
    first = fsum(1 / log2(rank + 1) for rank in range(before + 1, near + 1))
    return first + _sum_of_long(lambda x: log(2) / log(x + 1), near, upto, lambda x: x)


@cache
def first_hit(size, hits, above, taken, *, reciprocal):
    """Of the first `taken` places of a tie, the chance that the first hit is there; summed, or divided by its rank."""
    misses, places = size - hits, min(size - hits + 1, taken)
    if not reciprocal and hits > SHORT < places:
        if places > misses:
            return Fraction(1)
        with localcontext(prec=50):
            return 1 - Fraction(_no_hit(size, hits, Decimal(places)).exp())
    with localcontext(prec=50):
        chance, total = Decimal(hits) / size, Decimal(0)
        for place in range(min(places, SHORT)):
            total += chance / (above + place + 1 if reciprocal else 1)
            chance = chance * (misses - place) / max(1, size - 1 - place)
    if places <= SHORT:
        return Fraction(total)
    others = size - np.arange(1, min(hits, SHORT + 1), dtype=np.float64)

    def at(rank):
        place = rank - 1
        if hits > SHORT:
            if place > misses:
                return 0.0
            with localcontext(prec=50):
                # Of the rows that are left, if no hit was before.
                chance = float(_no_hit(size, hits, Decimal(place)).exp()) * hits / (size - place)
        else:
            chance = hits / size * float(np.prod(1 - place / others))
        return chance / (above + rank if reciprocal else 1)

    def width(rank):
        return min(above + rank, 2 * (size - rank + 1) / hits + 10)

    return Fraction(total) + Fraction(_sum_of_long(at, SHORT, places, width))


def _sum_of_long(function, before, upto, width):
    """The sum of a smooth function over `before` + 1 to `upto`, in pieces on which it is nearly a polynomial."""
    if upto <= before:
        return 0.0
    low, end = before + 0.5, upto + 0.5
    slopes = [function(x + 0.5) - function(x - 0.5) for x in (low, end)]
    parts = [(slopes[0] - slopes[1]) / 24]
    while low < end:
        high = min(low + width(low), end)
        middle, half = (low + high) / 2, (high - low) / 2
        part = half * fsum(weight * function(middle + half * node) for node, weight in NODES)
        parts.append(part)
        if abs(part) <= 1e-25 * abs(function(before + 0.5)):
            break
        low = high
    return fsum(parts)


def _no_hit(size, hits, place):
    """The logarithm of the chance that none of the first places has a hit."""
    misses = size - hits
    return (
        _ln_gamma(size - place + 1)
        + _ln_gamma(Decimal(misses + 1))
        - _ln_gamma(misses - place + 1)
        - _ln_gamma(Decimal(size + 1))
    )


def _ln_gamma(x):
    if x < 200:
        if x == int(x):
            return Decimal(factorial(int(x) - 1)).ln()
        return _ln_gamma(x + 1) - x.ln()
    total = (x - Decimal("0.5")) * x.ln() - x + Decimal("0.91893853320467274178032973640561763986139747363778")
    for k, (over, under) in enumerate(BERNOULLI, start=1):
        total += Decimal(over) / (under * 2 * k * (2 * k - 1)) / x ** (2 * k - 1)
    return total
