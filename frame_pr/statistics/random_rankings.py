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
    with_one_positive = (
        pl.when(pl.col("average_precision") > 0).then(1 / (_N * pl.col("average_precision"))).otherwise(1.0)
    )
    for i, null in enumerate(nulls):
        constant = (pl.col("largest") >= pl.col("rows")) | (pl.col("positives") >= pl.col("rows"))
        value, mean = pl.col(null.metric), pl.col(f"mean {i}")
        deviation = pl.when(constant).then(0.0).otherwise(null.variance.clip(lower_bound=0.0).sqrt())
        result = result.with_columns(null.mean.alias(f"mean {i}"), deviation.alias(f"deviation {i}"))
        result = result.with_columns(z=null.normal(value, mean, pl.col(f"deviation {i}")))
        result = _with_shares(result.with_columns(tails=normal_p_value(pl.col("z"))), outcomes, null)
        tail = pl.when(pl.col("z") > 0).then(pl.col("tails") / 2).otherwise(1 - pl.col("tails") / 2).fill_null(1.0)
        close = pl.when(constant).then(1.0).when(pl.col("positives") == 1).then(with_one_positive).otherwise(tail)
        result = result.with_columns(
            pl.when("enumerated").then("share").otherwise(close).alias(f"p {i}"),
            (pl.col("enumerated") | constant | (pl.col("positives") == 1)).alias(f"exact {i}"),
        )
    return result.select("group", *metrics, *test_columns(len(nulls)))


def _with_moments(patterns: pl.DataFrame) -> pl.DataFrame:
    """Add the first two moments of P * AP (`sum`, `square`), and `least`, `cubes` and `largest`.

    `least` is the lowest value of AP, `cubes` is the tie correction of Mann and Whitney, and `largest` is the number of
    rows of the largest block. P is the number of positives, and N the number of rows.

    AP = (1/P) sum_i x_i T_i / k_i. Here x_i is 1 if row i is positive and 0 otherwise, k_i is the rank at which the
    block of row i ends, and T_i is the number of positives up to this rank. The expectation of a product of m distinct
    x is e_m = P (P-1) ... (P-m+1) / (N (N-1) ... (N-m+1)). So the moments are sums over pairs of blocks. For rows
    without ties, these sums are harmonic numbers.
    """
    e: list[pl.Expr] = [pl.lit(1.0)]
    for m in range(4):
        e.append(pl.when(m < _N).then(e[-1] * (_P - m).clip(lower_bound=0.0) / (_N - m)).otherwise(0.0))
    _, e1, e2, e3, e4 = e
    # A segment is a run of n rows without ties after row a, and a tied block of g rows that ends at k. The last one has
    # no tied block.
    table = patterns.lazy().select(
        "pattern",
        "rows",
        "positives",
        g=pl.concat_list("sizes", pl.lit(0, dtype=pl.Int64)),
        k=pl.concat_list("ends", pl.col("ranked").cast(pl.Int64)),
        unranked=pl.col("rows") - pl.col("ranked"),
        e1=e1,
        e2=e2,
        e3=e3,
        e4=e4,
    )
    table = table.explode("g", "k", empty_as_null=False).with_columns(pl.col("g", "k").cast(pl.Float64))
    follows = pl.col("pattern") == pl.col("pattern").shift(1)
    table = table.with_columns(a=pl.when(follows).then(pl.col("k").shift(1)).otherwise(0.0))
    table = table.with_columns(n=pl.col("k") - pl.col("g") - pl.col("a"))
    g, k, a, n, e1, e2, e3, e4 = (pl.col(name) for name in ("g", "k", "a", "n", "e1", "e2", "e3", "e4"))
    table = table.with_columns(h=_harmonic(1, a, n), h2=_harmonic(2, a, n))
    h, h2, part = pl.col("h"), pl.col("h2"), pl.when(g > 0).then(g / k).otherwise(0.0)
    # The sums of g / k and of g (k - 1) / k over the blocks of the segments above.
    sums = {"s": h + part, "t": n - h + part * (k - 1)}
    table = table.with_columns((sum_.cum_sum() - sum_).over("pattern").alias(name) for name, sum_ in sums.items())

    def with_above(s: pl.Expr, t: pl.Expr, inverse: pl.Expr, count: pl.Expr) -> pl.Expr:
        """Return the sum over pairs of a block of a run (or a tied block) and a block above, given the sums above."""
        return (s * (2 * e2 - 2 * e3) + t * (3 * e3 - 3 * e4)) * inverse + (s * e3 + t * e4) * count

    pairs = with_above(pl.col("s"), pl.col("t"), h, n) + with_above(pl.col("s") + h, pl.col("t") + n - h, part, g)
    halves, above = (h**2 - h2) / 2, (a + n) * h - n
    pairs += (2 * e2 - 2 * e3) * halves + e3 * above
    pairs += (3 * e3 - 3 * e4) * (n - (1 + a) * h - halves) + e4 * (n * (n - 1) / 2 - above)
    alone = e1 * h2 + 3 * e2 * (h - h2) + e3 * (n - 3 * h + 2 * h2)
    tied = part / k * (e1 + 3 * (k - 1) * e2 + (k - 1) * (k - 2) * e3)
    tied += part * (g - 1) / k * (4 * e2 + 5 * (k - 2) * e3 + (k - 2) * (k - 3) * e4)
    tied = pl.when(g > 0).then(tied).otherwise(0.0)
    first, second = e1 * h + e2 * (n - h) + part * (e1 + (k - 1) * e2), 2 * pairs + alone + tied
    # Expressions over all rows first: inside `agg` polars takes longer for them.
    table = table.with_columns(first=first, second=second, cubes=g**3 - g)
    # polars sums one group in another order than many. A running sum has one order.
    moments = table.group_by("pattern").agg(
        sum=pl.col("first").cum_sum().last(),
        square=pl.col("second").cum_sum().last(),
        cubes=pl.col("cubes").sum(),
        largest=pl.max_horizontal(g.max(), pl.col("unranked").first()),
        unranked=pl.col("unranked").first().cast(pl.Float64),
    )
    cubes = pl.col("cubes") + pl.col("unranked") ** 3 - pl.col("unranked")
    # The worst ranking without ties has its ranked positives at the end.
    last = (_P - (_N - pl.col("ranked"))).clip(lower_bound=0.0)
    before = pl.col("ranked") - last
    least = (last - before * harmonic_difference(before, last)) / _P
    moments = moments.with_columns(cubes=cubes).drop("unranked")
    return patterns.join(moments.collect(engine="in-memory"), on="pattern", how="left").with_columns(least=least)


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
    """Enumerate all orders: `pattern`, `positives`, `rows`, `precisions`, `negatives_above`, `ways`."""
    part = pl.col("orders").cum_sum() // _AT_ONCE
    parts = patterns.with_columns(part=part).partition_by("part", maintain_order=True) if len(patterns) else [patterns]
    return pl.concat([_outcomes_of(part_of_patterns) for part_of_patterns in parts])


def _outcomes_of(patterns: pl.DataFrame) -> pl.DataFrame:
    """Enumerate all orders of patterns that fit in memory together."""
    facts = patterns.select("pattern", "positives", "rows")
    blocks = _blocks_of(patterns)
    ways = _choices().rename({"positives": "h", "rows": "g", "orders": "choices"})
    zero = {"block": -1, "tp": 0, "precisions": 0.0, "negatives_above": 0, "ways": 1}
    state = facts.with_columns(**{name: pl.lit(value) for name, value in zero.items()})
    state = state.with_columns(pl.col("block", "tp", "negatives_above", "ways").cast(pl.Int64))
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
    wanted = groups.with_row_index("row").select("row", "pattern", "orders", least=pl.col(null.metric) - _SAME)
    wanted = wanted.drop_nulls().sort("least")
    shares = wanted.join_asof(
        table, left_on="least", right_on="value", by="pattern", strategy="forward", check_sortedness=False
    )
    # Divide here, by a column: polars before 2 multiplies by the reciprocal of what `over` gives for a single pattern.
    shares = shares.select("row", share=pl.col("at_least") / pl.col("orders"))
    return (
        groups.drop("share", strict=False)
        .with_row_index("row")
        .join(shares, on="row", how="left", maintain_order="left")
        .drop("row")
    )
