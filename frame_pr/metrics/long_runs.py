"""Sums over long runs of ranks, in series whose time and memory do not depend on the length of the run.

A row may stand for `count` rows, so a run of tied ranks may have up to 2**56 of them. Short runs are summed rank by
rank. A long run is a sum over its first ranks, plus an integral with Euler-Maclaurin corrections over the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import cos, fsum, log, log2, pi

import polars as pl

DISCOUNTS = 64
"""The longest run whose discounts are summed one by one."""
FIRST_HITS = 512
"""The number of places of a first hit that are summed one by one."""
_TABLE = 1024
_PANELS = 16
_SLICE = 1024
_ZERO = pl.Series([0.0])
_SHIFT = 16
"""The shift after which Stirling's series has converged to 1e-14."""
_NEGLIGIBLE = 45.0
"""Beyond this exponent, the probability of no positive so far is below e**-45."""


def discounts_of_ties(before: pl.Expr, upto: pl.Expr) -> pl.Expr:
    """Return the sum of 1 / log2(rank + 1) over the ranks after `before`, up to `upto`; 0 for fewer than two ranks."""
    return value_where(upto - before > 1, _discounts_of_ties, before=before, upto=upto)


def later_first_hits(size: pl.Expr, hits: pl.Expr, before: pl.Expr, places: pl.Expr) -> pl.Expr:
    """Return the part of a tied block's expected reciprocal rank for first positives after place `FIRST_HITS`.

    `before`: the rows above the block. `places`: the number of its places that a first positive may have.
    """
    long = (places > FIRST_HITS) & (hits > 0)
    return _where_long(long, _later_first_hits, size=size, hits=hits, before=before, places=places)


def chance_of_a_hit(size: pl.Expr, hits: pl.Expr, selected: pl.Expr) -> pl.Expr:
    """Return the probability that a retrieved row of a block is positive; 0 for up to `FIRST_HITS` retrieved rows."""
    long = (selected > FIRST_HITS) & (hits > 0) & (selected <= size - hits)
    return _where_long(long, _chance_of_a_hit, size=size, hits=hits, selected=selected)


def value_where(condition: pl.Expr, value: Callable[[pl.DataFrame], pl.Series], **numbers: pl.Expr) -> pl.Expr:
    """Compute a value from these numbers for the rows where the condition is true; it is 0 for all other rows.

    Most blocks have one row, so lists of ranks are built only for the other blocks.
    """

    def values(column: pl.Series) -> pl.Series:
        # The streaming engine calls this for every few thousand rows. Methods of a Series that run a query, such as
        # `struct.field`, would take longer than everything else.
        table = column.struct.unnest()
        zeros, rows = _ZERO.new_from_index(0, len(table)), table.get_column("condition").arg_true()
        return zeros.scatter(rows, value(table[rows])) if len(rows) else zeros

    # The value is null if there is no rank, and no rank is no tie.
    columns = {"condition": condition.fill_null(False), **numbers}
    packed = pl.struct(column.alias(name) for name, column in columns.items())
    return packed.map_batches(values, return_dtype=pl.Float64, is_elementwise=True)


def _where_long(long: pl.Expr, value: Callable[[pl.DataFrame], pl.Series], **numbers: pl.Expr) -> pl.Expr:
    """Compute a value for the rows whose run is long, and 0 for all other rows."""
    return value_where(long, lambda runs: _in_slices(value, runs), **numbers)


def _in_slices(value: Callable[[pl.DataFrame], pl.Series], runs: pl.DataFrame) -> pl.Series:
    """Compute a value slice by slice, because each run needs some hundred numbers at a time."""
    return pl.concat(map(value, runs.iter_slices(_SLICE)))


def _discounts_of_ties(runs: pl.DataFrame) -> pl.Series:
    """Sum short runs rank by rank, and long runs in closed form."""
    sums = runs.select(_sum_of_short_runs()).to_series()
    long = (runs.get_column("upto") - runs.get_column("before") > DISCOUNTS).arg_true()
    return sums.scatter(long, _in_slices(_discounts, runs[long])) if len(long) else sums


@cache
def _sum_of_short_runs() -> pl.Expr:
    ranks = pl.col("upto") - pl.col("before")
    listed = ranks * (ranks <= DISCOUNTS)
    places = pl.int_ranges(pl.col("before") + 2, pl.col("before") + 2 + listed)
    return places.list.eval(1 / pl.element().log(2)).list.sum()


def _discounts(runs: pl.DataFrame) -> pl.Series:
    """Sum the first terms from a table, and the others as an integral between midpoints; x is the rank + 1."""
    sums, before, upto = pl.lit(pl.Series(_sums_of_discounts())), pl.col("before"), pl.col("upto")
    in_table = sums.gather(upto.clip(upper_bound=_TABLE)) - sums.gather(before.clip(upper_bound=_TABLE))
    # Subtract whole numbers, which may exceed the precision of a float.
    start = before.clip(lower_bound=_TABLE)
    table = runs.select(in_table=in_table, low=start + 1.5, length=(upto - start).clip(lower_bound=0))
    low, length, logarithm, width = map(pl.col, ("low", "length", "logarithm", "width"))
    # As columns: polars plans a repeated subexpression each time that it is named.
    table = table.with_columns(width=(length / low).log1p(), logarithm=low.log(), high=low + length)
    # With x = low e^t, the integrand is smooth over all ranks.
    integral = low * width * sum(w * (width * t).exp() / (logarithm + width * t) for t, w in _nodes(24))
    slopes = 1 / (low * logarithm**2) - 1 / (pl.col("high") * pl.col("high").log() ** 2)
    return table.select(pl.col("in_table") + log(2) * (integral - slopes * (1 / 24))).to_series()


@cache
def _sums_of_discounts() -> list[float]:
    """Return the sums over the first 0, 1, 2, ... ranks, each rounded once."""
    discounts = [1 / log2(rank + 1) for rank in range(1, _TABLE + 1)]
    return [fsum(discounts[:rank]) for rank in range(_TABLE + 1)]


def _later_first_hits(runs: pl.DataFrame) -> pl.Series:
    """Sum r/g q(i) / (before + 1 + i) over the places i.

    q(i) is the probability of no positive in i of the other rows.
    """
    low, last = FIRST_HITS - 0.5, pl.col("places") - 0.5
    runs = runs.select(
        share=pl.col("hits") / pl.col("size"),
        size=pl.col("size") - 1.0,
        hits=pl.col("hits") - 1.0,
        start=pl.col("before") + 1.0 + low,
        places=pl.col("places").cast(pl.Float64),
    )
    far = low + _NEGLIGIBLE * pl.col("size") / pl.col("hits").clip(lower_bound=1e-9)
    runs = runs.with_columns(width=((pl.min_horizontal(last, far) - low) / pl.col("start")).log1p())

    def chance(table: pl.DataFrame, place: pl.Expr) -> pl.Series:
        table = table.with_columns(selected=place)
        return table["share"] * _log_chance_of_none(table).exp()

    def term(place: pl.Expr) -> pl.Series:
        return chance(runs, place) / runs.select(pl.col("start") + (place - low)).to_series()

    # With before + 1 + i = start e^t, the integrand is the probability alone.
    nodes = [((panel + t) / _PANELS, w / _PANELS) for panel in range(_PANELS) for t, w in _nodes(16)]
    at_nodes = runs.join(pl.DataFrame(nodes, schema=["t", "w"], orient="row"), how="cross", maintain_order="left_right")
    place = low + pl.col("start") * _expm1(pl.col("width") * pl.col("t"))
    parts = at_nodes["w"] * at_nodes["width"] * chance(at_nodes, place)
    first = term(pl.lit(float(FIRST_HITS))) - term(pl.lit(FIRST_HITS - 1.0))
    end = term(pl.col("places")) - term(pl.col("places") - 1)
    return parts.reshape((-1, len(nodes))).arr.sum() + (first - end) * (1 / 24)


def _chance_of_a_hit(runs: pl.DataFrame) -> pl.Series:
    none = _log_chance_of_none(runs.select(pl.all().cast(pl.Float64)))
    return none.to_frame("none").select(-_expm1(pl.col("none"))).to_series()


def _log_chance_of_none(runs: pl.DataFrame) -> pl.Series:
    """Return the logarithm of the probability that no retrieved row is positive.

    It is the sum of ln(1 - M / y) over m values of y: m is the smaller of the numbers of positives and retrieved rows,
    M is the larger, and y decreases from the number of all rows. The sum is an integral if the remaining rows are many
    compared with m; otherwise Stirling's series gives it.
    """
    few, many, left = pl.col("few"), pl.col("many"), pl.col("left")
    # Build columns step by step: polars would compute a repeated subexpression each time.
    table = runs.select("size", few=pl.min_horizontal("hits", "selected"), many=pl.max_horizontal("hits", "selected"))
    table = table.with_columns(left=(pl.col("size") - few - many + 1).clip(lower_bound=0.0))
    low, high = left - 0.5, left + few - 0.5
    integral = few * sum(w * (-many / (low + many + few * t)).log1p() for t, w in _nodes(5))
    slopes = many / (high * (high + many)) - many / (low * (low + many))
    near = sum(
        (((left + few + i) * (left + many + i)) / ((left + i) * (left + many + few + i))).log() for i in range(_SHIFT)
    )
    a, b = pl.col("a"), pl.col("b")
    table = table.with_columns(
        a=left + _SHIFT, b=left + many + _SHIFT, near=near, by_integral=integral - slopes * (1 / 24)
    )
    by_stirling = (a - 0.5) * (few / a).log1p() - (b - 0.5) * (few / b).log1p() - few * (many / (a + few)).log1p()
    by_stirling += _rest(a + few) - _rest(a) - _rest(b + few) + _rest(b) - pl.col("near")
    value = pl.when((left >= 20 * few) & (left >= 1e4)).then("by_integral").otherwise(by_stirling)
    return table.select(pl.when(few > 0).then(value).otherwise(0.0)).to_series()


def _expm1(x: pl.Expr) -> pl.Expr:
    """Return e^x - 1, to the last bits also for small x."""
    half = x.clip(lower_bound=-100.0) / 2  # Below, the value is -1, and the product would be 0 times infinity.
    return 2 * half.sinh() * half.exp()


def _rest(x: pl.Expr) -> pl.Expr:
    """Return the terms after the leading ones in Stirling's series of the log-gamma function."""
    square = 1 / (x * x)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680)))) / x


@cache
def _nodes(n: int) -> Sequence[tuple[float, float]]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    nodes = []
    for i in range(n):
        x = cos(pi * (i + 0.75) / (n + 0.5))
        for _ in range(10):
            polynomials = [1.0, x]
            for k in range(2, n + 1):
                polynomials.append(((2 * k - 1) * x * polynomials[-1] - (k - 1) * polynomials[-2]) / k)
            slope = n * (x * polynomials[-1] - polynomials[-2]) / (x * x - 1)
            x -= polynomials[-1] / slope
        nodes.append(((1 + x) / 2, 1 / ((1 - x * x) * slope**2)))
    return nodes
