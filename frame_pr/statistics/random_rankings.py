"""Compute the distribution of average precision and ROC AUC over random rankings: moments, tails and enumeration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb
from typing import NamedTuple

import polars as pl

from frame_pr.metrics.average_precisions import harmonic_difference, square_harmonic_difference
from frame_pr.statistics.distributions import normal_p_value

_ORDERS, _ORDERS_WITH_TIES = 20_000, 1_000
"""Maximum number of orders that are enumerated. With ties the maximum is lower, because few groups share a pattern."""
_DEEPEST = 64
"""Maximum number of positives whose orders are enumerated, because each positive needs a step."""
_AT_ONCE = 2_000_000
"""Maximum number of orders that are in memory at the same time."""
_TABLE = 2**14
"""Number of harmonic numbers in the lookup table."""
_SAME = 1e-13
"""Tolerance for equal values. The metric and the enumeration add the same terms in different orders."""
PATTERN = ("positives", "rows", "ranked", "ends", "sizes")
"""Columns that determine the distribution: totals, ranked rows, and the ends and sizes of the tied blocks."""


class Null(NamedTuple):
    """The distribution of a metric over random rankings, as expressions on a table of patterns."""

    metric: str
    mean: pl.Expr
    variance: pl.Expr
    normal: Callable[[pl.Expr, pl.Expr, pl.Expr], pl.Expr]
    """Function of the value, the mean and the standard deviation; the result is approximately standard normal."""
    method: str
    """The name of the distribution."""
    outcome: pl.Expr
    """The value of the metric for an enumerated order."""


_P, _N = pl.col("positives").cast(pl.Float64), pl.col("rows").cast(pl.Float64)
_PAIRS = _P * (_N - _P)


def _standardized(value: pl.Expr, mean: pl.Expr, deviation: pl.Expr) -> pl.Expr:
    """Standardize a value, with a continuity correction of half a pair."""
    return (value - mean - 0.5 / _PAIRS) / deviation


def _lognormal(value: pl.Expr, mean: pl.Expr, deviation: pl.Expr) -> pl.Expr:
    """Standardize a value by a lognormal distribution that starts at the worst ranking without ties."""
    least = pl.col("least")
    spread = ((deviation / (mean - least)) ** 2).log1p()
    z = ((value - least) / (mean - least)).log() / spread.sqrt() + spread.sqrt() / 2
    return pl.when(value > least).then(z)


NULLS: Mapping[str, Null] = {
    null.metric: null
    for null in (
        Null(
            "average_precision",
            pl.col("sum") / _P,
            (pl.col("square") - pl.col("sum") ** 2) / _P**2,
            _lognormal,
            "lognormal",
            pl.col("precisions") / _P,
        ),
        Null(
            "roc_auc",
            pl.lit(0.5),
            (_N + 1 - pl.col("cubes") / (_N * (_N - 1))) / (12 * _PAIRS),
            _standardized,
            "normal",
            1 - pl.col("negatives_above") / (2 * _PAIRS),
        ),
    )
}
"""The metrics that have a test against random rankings, by name."""


def test_columns(metrics: int) -> dict[str, pl.DataType]:
    """Return the names and dtypes of the columns that `with_tests` adds."""
    columns = {"mean": pl.Float64(), "deviation": pl.Float64(), "p": pl.Float64(), "exact": pl.Boolean()}
    return {f"{part} {i}": dtype for i in range(metrics) for part, dtype in columns.items()}


def with_tests(groups: pl.DataFrame, nulls: Sequence[Null]) -> pl.DataFrame:
    """Add `mean 0`, `deviation 0`, `p 0`, `exact 0`, ...: the distribution is computed once per distinct pattern."""
    metrics = [name for name in groups.columns if name in NULLS]
    patterns = groups.filter(pl.col("positives") > 0).select(PATTERN).unique(maintain_order=True)
    patterns = _with_moments(patterns.with_row_index("pattern").with_columns(pl.col("pattern").cast(pl.Int64)))
    patterns = patterns.join(_choices(), on=["positives", "rows"], how="left", maintain_order="left")
    most = pl.when(pl.col("ends").list.len() == 0).then(_ORDERS).otherwise(_ORDERS_WITH_TIES)
    enumerated = pl.col("largest") < pl.col("rows")
    enumerated &= (pl.col("orders") <= most) & (pl.col("positives") > 1)
    patterns = patterns.with_columns(enumerated=enumerated.fill_null(False))
    facts = ("pattern", "orders", "enumerated", "sum", "square", "cubes", "largest", "least")
    result = groups.join(patterns.select(*PATTERN, *facts), on=PATTERN, how="left", maintain_order="left")
    outcomes = _outcomes(patterns.filter("enumerated"))
    # A single positive in the block that ends at k has an average precision of 1 / k, and k of N places are as good.
    precision, is_single = pl.col("average_precision"), pl.col("positives") == 1
    with_one_positive = pl.when(precision > 0).then(1 / (_N * precision)).otherwise(1.0)
    constant = (pl.col("largest") >= pl.col("rows")) | (pl.col("positives") >= pl.col("rows"))
    for i, null in enumerate(nulls):
        value, mean = pl.col(null.metric), pl.col(f"mean {i}")
        deviation = pl.when(constant).then(0.0).otherwise(null.variance.clip(lower_bound=0.0).sqrt())
        result = result.with_columns(null.mean.alias(f"mean {i}"), deviation.alias(f"deviation {i}"))
        result = result.with_columns(z=null.normal(value, mean, pl.col(f"deviation {i}")))
        result = _with_shares(result.with_columns(tails=normal_p_value(pl.col("z"))), outcomes, null)
        tail = pl.when(pl.col("z") > 0).then(pl.col("tails") / 2).otherwise(1 - pl.col("tails") / 2).fill_null(1.0)
        close = pl.when(constant).then(1.0).when(is_single).then(with_one_positive).otherwise(tail)
        result = result.with_columns(
            pl.when("enumerated").then("share").otherwise(close).alias(f"p {i}"),
            (pl.col("enumerated") | constant | is_single).alias(f"exact {i}"),
        )
    return result.select("group", *metrics, *test_columns(len(nulls)))


def _with_moments(patterns: pl.DataFrame) -> pl.DataFrame:
    """Add the first two moments of P * AP (`sum`, `square`), and `least`, `cubes` and `largest`.

    `least` is the lowest value of AP, `cubes` is the tie correction of Mann and Whitney, and `largest` is the number of
    rows of the largest block. P is the number of positives, and N the number of rows.

    AP = (1/P) sum_i x_i T_i / k_i over the R ranked rows. Here x_i is 1 if row i is positive and 0 otherwise, k_i is
    the rank at which the block of row i ends, and T_i is the number of positives up to this rank. The expectation of a
    product of m distinct x is e_m = P (P-1) ... (P-m+1) / (N (N-1) ... (N-m+1)). Let g_i be the number of rows of the
    block, S = sum_i 1/k_i, B = sum_i 1/k_i^2, X = sum_i (g_i - 1)/k_i^2 and Y = sum_i (g_i - 1)/k_i. Summing over the
    rows up to the end of each block, and over the pairs of blocks, gives

    E[P AP] = e_1 S + e_2 (R - S) and
    E[(P AP)^2] = e_1 B + e_2 (2 S^2 + 3 S - 5 B + 2 X) + e_3 (2 R S - 5 S^2 + 5 R - 9 S + 7 B - 5 X - Y)
    + e_4 (R^2 - 2 R S + 3 S^2 - 5 R + 6 S - 3 B + 3 X + Y).

    Without ties, S and B are harmonic numbers. A tied block changes them by a difference.
    """
    e: list[pl.Expr] = [pl.lit(1.0)]
    for m in range(4):
        e.append(pl.when(m < _N).then(e[-1] * (_P - m).clip(lower_bound=0.0) / (_N - m)).otherwise(0.0))
    _, e1, e2, e3, e4 = e
    tied = patterns.lazy().select("pattern", g="sizes", k="ends").explode("g", "k", empty_as_null=False)
    g, k = (pl.col(name).cast(pl.Float64) for name in ("g", "k"))
    of_block = {
        "s": g / k - _harmonic(1, k - g, g),
        "b": g / k**2 - _harmonic(2, k - g, g),
        "x": (g - 1) * g / k**2,
        "y": (g - 1) * g / k,
        "cubes": g**3 - g,
    }
    # Expressions over all rows first: inside `agg` polars takes longer for them. A list has one order of summation.
    tied = tied.select(pl.col("pattern").set_sorted(), largest=g, **of_block)
    sums = [pl.col(name).implode().list.sum() for name in of_block]
    groups = tied.group_by("pattern", maintain_order=True).agg(*sums, pl.col("largest").implode().list.max())
    moments = groups.collect(engine="in-memory")
    table = patterns.join(moments, on="pattern", how="left", maintain_order="left")
    table = table.with_columns(pl.col(*of_block, "largest").fill_null(0.0), r=pl.col("ranked").cast(pl.Float64))
    r, zero = pl.col("r"), pl.col("r") * 0
    table = table.with_columns(s=pl.col("s") + _harmonic(1, zero, r), b=pl.col("b") + _harmonic(2, zero, r))
    s, b, x, y = map(pl.col, ("s", "b", "x", "y"))
    second = e1 * b + e2 * (2 * s**2 + 3 * s - 5 * b + 2 * x)
    second += e3 * (2 * r * s - 5 * s**2 + 5 * r - 9 * s + 7 * b - 5 * x - y)
    second += e4 * (r**2 - 2 * r * s + 3 * s**2 - 5 * r + 6 * s - 3 * b + 3 * x + y)
    unranked = _N - r
    # The worst ranking without ties has its ranked positives at the end.
    last = (_P - (_N - pl.col("ranked"))).clip(lower_bound=0.0)
    before = pl.col("ranked") - last
    least = (last - before * harmonic_difference(before, last)) / _P
    return table.select(
        *patterns.columns,
        sum=e1 * s + e2 * (r - s),
        square=second,
        cubes=pl.col("cubes") + unranked**3 - unranked,
        largest=pl.max_horizontal("largest", unranked),
        least=least,
    )


@cache
def _harmonic_numbers(power: int) -> pl.Series:
    """Return 1 + 1/2^p + ... + 1/n^p for n = 0, 1, 2, ..., where p is `power`."""
    inverse = pl.int_range(1, _TABLE, eager=True).cast(pl.Float64) ** -power
    return pl.concat([pl.Series([0.0]), inverse.cum_sum()])


def _harmonic(power: int, start: pl.Expr, count: pl.Expr) -> pl.Expr:
    """Return 1/(start+1)^p + ... + 1/(start+count)^p, from a table; for large numbers, from a series."""
    series = harmonic_difference if power == 1 else square_harmonic_difference

    def sums(columns: Sequence[pl.Series]) -> pl.Series:
        a, b = (column.cast(pl.Int64) for column in (columns[0], columns[0] + columns[1]))
        table = _harmonic_numbers(power)
        near = table.gather(b.clip(upper_bound=_TABLE - 1)) - table.gather(a.clip(upper_bound=_TABLE - 1))
        if not (b >= _TABLE).any():
            return near
        far = pl.DataFrame({"a": columns[0], "n": columns[1]}).select(series(pl.col("a"), pl.col("n"))).to_series()
        return near.zip_with(b < _TABLE, far)

    return pl.map_batches([start, count], sums, return_dtype=pl.Float64, is_elementwise=True)


# Enumeration ---------------------------------------------------------------------------------------------------------


@cache
def _choices() -> pl.DataFrame:
    """Return the number of `orders` of `positives` among `rows`, as far as they can be enumerated."""
    rows = [
        (p, n, orders)
        for n in range(1, 201)
        for p in range(1, min(n, _DEEPEST) + 1)
        if (orders := comb(n, p)) <= _ORDERS
    ]
    return pl.DataFrame(rows, {"positives": pl.Int64, "rows": pl.Int64, "orders": pl.Int64}, orient="row")


def _outcomes(patterns: pl.DataFrame) -> pl.DataFrame:
    """Enumerate all orders; return `pattern`, `positives`, `rows`, `precisions`, `negatives_above` and `ways`."""
    part = pl.col("orders").cum_sum() // _AT_ONCE
    parts = patterns.with_columns(part=part).partition_by("part", maintain_order=True) if len(patterns) else [patterns]
    return pl.concat([_outcomes_of(part_of_patterns) for part_of_patterns in parts])


def _outcomes_of(patterns: pl.DataFrame) -> pl.DataFrame:
    """Return the same table for patterns whose orders fit in memory together."""
    blocks = _blocks_of(patterns)
    ways = _choices().rename({"positives": "h", "rows": "g", "orders": "choices"})
    integers = {"block": -1, "tp": 0, "negatives_above": 0, "ways": 1}
    state = patterns.select("pattern", "positives", "rows", precisions=pl.lit(0.0))
    state = state.with_columns(pl.lit(value, dtype=pl.Int64).alias(name) for name, value in integers.items())
    missing, g, k, h, tp = pl.col("positives") - pl.col("tp"), pl.col("g"), pl.col("k"), pl.col("h"), pl.col("tp")
    above = k - g - tp
    precision = pl.when("ranked").then(h * (tp + h) / k).otherwise(0.0)
    finished = []
    # Each step fills the next block that holds positives.
    while len(state):
        step = state.lazy().join(blocks.lazy(), on="pattern").filter(pl.col("next") > pl.col("block"))
        hits = pl.int_ranges(1, pl.min_horizontal(g, missing) + 1)
        step = step.with_columns(h=hits).explode("h", empty_as_null=False).filter(missing - h <= pl.col("rows") - k)
        step = step.join(ways.lazy(), on=["g", "h"]).with_columns(
            precisions=pl.col("precisions") + precision,
            negatives_above=pl.col("negatives_above") + h * (2 * above + g - h),
            ways=pl.col("ways") * pl.col("choices"),
            tp=tp + h,
            block="next",
        )
        state = step.select(state.columns).collect()
        done = pl.col("tp") == pl.col("positives")
        finished.append(state.filter(done))
        state = state.filter(~done)
    return pl.concat(finished or [state]).drop("block", "tp")


def _blocks_of(patterns: pl.DataFrame) -> pl.DataFrame:
    """Return one row per block: `pattern`, `next` (its number), `g` (its rows), `k` (its end) and `ranked`."""
    unranked = pl.col("rows") - pl.col("ranked")
    tied = patterns.select("pattern", k="ends", g="sizes").explode("k", "g", empty_as_null=False)
    all_rows = patterns.select("pattern", k=pl.int_ranges(1, pl.col("ranked") + 1)).explode("k", empty_as_null=False)
    blocks = all_rows.join(tied, on=["pattern", "k"], how="left", maintain_order="left")
    start = (pl.col("k") - pl.col("g") + 1).fill_null(strategy="backward").over("pattern")
    inside = pl.col("g").is_null() & (pl.col("k") >= start).fill_null(False)
    blocks = blocks.filter(~inside).with_columns(pl.col("g").fill_null(1), ranked=pl.lit(True))
    last = patterns.filter(unranked > 0).select("pattern", k="rows", g=unranked, ranked=pl.lit(False))
    blocks = pl.concat([blocks, last.select(blocks.columns)]).sort("pattern", "k")
    return blocks.with_columns(next=pl.int_range(pl.len()).over("pattern"))


def _with_shares(groups: pl.DataFrame, outcomes: pl.DataFrame, null: Null) -> pl.DataFrame:
    """Add `share`: the share of all orders of the pattern that are at least as good as the value of the group."""
    table = outcomes.select("pattern", "ways", value=null.outcome).sort("pattern", "value")
    ways = pl.col("ways")
    at_least = (ways.sum() - ways.cum_sum()).over("pattern") + ways
    table = table.select("pattern", "value", at_least=at_least).sort("value")
    # Of equal outcomes, the first one has the count of all of them.
    values = groups.with_row_index("row").select("row", "pattern", "orders", least=pl.col(null.metric) - _SAME)
    values = values.drop_nulls().sort("least")
    shares = values.join_asof(
        table, left_on="least", right_on="value", by="pattern", strategy="forward", check_sortedness=False
    )
    # Divide here, by a column: polars before 2 multiplies by the reciprocal of what `over` gives for a single pattern.
    shares = shares.select("row", share=pl.col("at_least") / pl.col("orders"))
    groups = groups.drop("share", strict=False).with_row_index("row")
    return groups.join(shares, on="row", how="left", maintain_order="left").drop("row")
